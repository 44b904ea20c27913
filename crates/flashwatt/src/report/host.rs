//! The section `host` of a report: what the block layer did.

use serde::Serialize;

use flashwatt_base::stats::Latency;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::energy::window::{Figures, Window};
use flashwatt_core::kernel::Outcome;
use flashwatt_host::sched::Decides;
use flashwatt_host::settings::Host;
use flashwatt_host::{DepthSeries, Hosted, KindFigures};

/// The block layer in the window of the figures.
#[derive(Clone, Debug, Serialize)]
pub struct HostReport {
    /// The scheduler's name.
    pub scheduler: &'static str,
    /// Reads: requests of processes and of the device.
    pub read: KindReport,
    /// Writes.
    pub write: KindReport,
    /// Trims and flushes.
    pub other: KindReport,
    /// Merges.
    pub merges: MergeReport,
    /// Parts of a request's latency.
    pub latency_ns: HostLatency,
    /// Requests in the queue and in the device.
    pub depth: DepthReport,
    /// Decisions of the scheduler.
    pub decisions: Decisions,
    /// Distances between dispatched requests.
    pub seeks: SeekReport,
    /// The longest wait in the queue, by process.
    pub longest_wait: Vec<LongestWait>,
    /// Requests in the queue and in the device over time, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<DepthSeries>,
    /// Jain's index of the bytes that each process read and wrote: (Σ b)² / (n Σ b²), 1 if all moved as many; none for fewer
    /// than two processes.
    pub fairness: Option<f64>,
}

/// Requests of one kind, before and after the block layer.
#[derive(Clone, Debug, Serialize)]
pub struct KindReport {
    /// Requests that processes sent.
    pub submitted: u64,
    /// Their mean length in bytes; none without requests.
    pub submitted_bytes_mean: Option<f64>,
    /// Requests that the device got.
    pub dispatched: u64,
    /// Their mean length in bytes; none without requests.
    pub dispatched_bytes_mean: Option<f64>,
}

/// Merges.
#[derive(Clone, Debug, Serialize)]
pub struct MergeReport {
    /// Requests, or pieces of split ones, that joined a queued request at its end.
    pub back: u64,
    /// Requests, or pieces of split ones, that joined a queued request at its beginning.
    pub front: u64,
    /// Queued requests that became one with another one.
    pub joined: u64,
}

/// Parts of the latency of requests. The time of a whole request, fio's `lat`, is `latency_ns` of the report. A request
/// that was split has the parts of its piece that ended last.
#[derive(Clone, Debug, Serialize)]
pub struct HostLatency {
    /// From the arrival until the request is in the queue: the wait for a place there.
    pub slat: ByKind,
    /// From there to the end.
    pub clat: ByKind,
    /// The part of `clat` in the queue.
    pub queue: ByKind,
    /// The part of `clat` in the device.
    pub device: ByKind,
}

/// Latencies of reads and writes in ns.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ByKind {
    pub read: Latency,
    pub write: Latency,
}

/// Requests in the queue and in the device, over time.
#[derive(Clone, Debug, Serialize)]
pub struct DepthReport {
    /// Mean number of queued requests.
    pub queued_mean: f64,
    /// Most queued requests.
    pub queued_max: u32,
    /// Mean number of requests in the device.
    pub in_device_mean: f64,
    /// Requests that waited for a place in the queue.
    pub blocked: u64,
    /// Time in s during which requests were queued and the device had room.
    pub withheld_s: f64,
}

/// Decisions of the scheduler.
#[derive(Clone, Debug, Serialize)]
pub struct Decisions {
    /// Batches, turns or slices that began.
    pub batches: u64,
    /// Batches, turns or slices that began with a request that had expired.
    pub expired: u64,
    /// Times that the device was left idle on purpose, to wait for a process's next request.
    pub idle_waits: u64,
    /// Of these, waits that the awaited request ended.
    pub idle_hits: u64,
    /// Time of these waits in s.
    pub idle_wait_s: f64,
    /// Turns that were cut short for a process that comes first.
    pub preemptions: u64,
}

/// Distances between one dispatched request's end and the next one's beginning.
#[derive(Clone, Debug, Serialize)]
pub struct SeekReport {
    /// Requests that do not begin where the last one ended.
    pub count: u64,
    /// Their mean distance in bytes; none without seeks.
    pub bytes_mean: Option<f64>,
}

/// The longest wait of a process's requests in the queue.
#[derive(Clone, Debug, Serialize)]
pub struct LongestWait {
    /// The process's number.
    pub process: u16,
    /// In ns.
    pub ns: Nanos,
}

impl HostReport {
    /// The warning about a scheduler that decided nothing: its figures are those of another one.
    pub(super) fn decided_nothing(&self, decides: Decides) -> Option<String> {
        let (name, depth) = (self.scheduler, &self.depth);
        let dispatched = self.read.dispatched + self.write.dispatched + self.other.dispatched;
        if decides == Decides::Nothing || dispatched < 2 || depth.withheld_s > 0.0 || self.decisions.idle_waits > 0 {
            return None;
        }
        if depth.queued_mean == 0.0 {
            return Some(format!(
                "{name} had no choice: the drive took each request at the instant at which it came, so that the figures are those of any \
                 scheduler (more requests under way than the drive takes make a queue: a larger queue depth of the workload, more \
                 processes, a smaller device.host_link.queue_depth)"
            ));
        }
        let Decides::Depth { remedy } = decides else { return None };
        Some(format!(
            "{name} held no request back: no kind of request used up its places in the drive, so that only its turns order the requests ({remedy})"
        ))
    }

    /// The section of a window.
    pub fn new<F: Figures>(settings: &Host, window: &Window<Hosted<F>>) -> Self {
        let blocks = &window.figures.host;
        let [read, write, other] = &blocks.kinds;
        let elapsed_ns = window.elapsed_ns().max(1) as f64;
        let by_kind = |of: fn(&KindFigures) -> Latency| ByKind { read: of(read), write: of(write) };
        let counters = &blocks.counters;
        HostReport {
            scheduler: settings.scheduler.entry.name,
            read: KindReport::new(read),
            write: KindReport::new(write),
            other: KindReport::new(other),
            merges: MergeReport { back: blocks.back_merges, front: blocks.front_merges, joined: blocks.joined },
            latency_ns: HostLatency {
                slat: by_kind(|kind| kind.slat.summary()),
                clat: by_kind(|kind| kind.clat.summary()),
                queue: by_kind(|kind| kind.queue.summary()),
                device: by_kind(|kind| kind.device.summary()),
            },
            depth: DepthReport {
                queued_mean: blocks.queued_ns as f64 / elapsed_ns,
                queued_max: blocks.queued_max,
                in_device_mean: blocks.in_device_ns as f64 / elapsed_ns,
                blocked: blocks.blocked,
                withheld_s: blocks.withheld_ns as f64 / 1e9,
            },
            decisions: Decisions {
                batches: counters.batches,
                expired: counters.expired,
                idle_waits: counters.idle_waits,
                idle_hits: counters.idle_hits,
                idle_wait_s: counters.idle_wait_ns as f64 / 1e9,
                preemptions: counters.preemptions,
            },
            seeks: SeekReport { count: blocks.seeks, bytes_mean: mean(blocks.seek_sectors as f64, blocks.seeks) },
            longest_wait: longest(&blocks.longest_ns),
            series: blocks.series.clone(),
            fairness: blocks.fairness(),
        }
    }
}

impl KindReport {
    fn new(kind: &KindFigures) -> Self {
        KindReport {
            submitted: kind.came,
            submitted_bytes_mean: mean(kind.came_sectors as f64, kind.came),
            dispatched: kind.dispatched,
            dispatched_bytes_mean: mean(kind.dispatched_sectors as f64, kind.dispatched),
        }
    }
}

/// The mean length in bytes.
fn mean(sectors: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sectors * SECTOR_BYTES as f64 / count as f64)
}

fn longest(by_process: &[Nanos]) -> Vec<LongestWait> {
    let numbered = (0..=u16::MAX).zip(by_process).filter(|&(_, &ns)| ns > 0);
    numbered.map(|(process, &ns)| LongestWait { process, ns }).collect()
}

/// The outcome as the device behind a block layer alone would have it.
pub(crate) fn of_device<F: Clone>(outcome: &Outcome<Hosted<F>>) -> Outcome<F> {
    outcome.with_figures(|figures| figures.device.clone())
}
