//! What an SSD did over time: counts from the start of the recording on, sampled at the end of each bin of a series.
//!
//! An operation counts in the bin in which it ends, with all of its energy. Requests count where they leave the drive. The sums over all
//! bins are the figures of the report.

use serde::Serialize;

use super::die_state::DieState;
use super::extra_state::ExtraState;
use super::ledger::{Ledger, OpTimes};
use super::table::PriceTable;
use crate::operation::{Cause, OpClass, OpKind};
use flashwatt_base::mem;
use flashwatt_base::units::Nanos;
use flashwatt_core::energy::bins::{Bins, NUMBER_BYTES};
use flashwatt_core::energy::device_rows::DeviceRows;

/// Numbers of a row of the report, for estimates of memory.
const COLUMNS: usize = 10 + Cause::ALL.len();

/// Counts since the start of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ActivityCounts {
    /// Requests that have left the drive, and their bytes.
    requests: u64,
    read_bytes: u64,
    write_bytes: u64,
    /// Time that requests have spent inside the drive, in ns.
    inside_ns: u64,
    /// What the drive has done.
    done: Done,
}

/// What the drive's own accounts say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Done {
    /// Bytes of the host's writes that the drive has accepted.
    accepted_bytes: u64,
    programs: u64,
    erases: u64,
    /// Energy of flash operations by cause, in nW·ns.
    cause_nw_ns: [i128; Cause::ALL.len()],
}

impl Done {
    fn plus(&self, more: &Done) -> Done {
        Done {
            accepted_bytes: self.accepted_bytes + more.accepted_bytes,
            programs: self.programs + more.programs,
            erases: self.erases + more.erases,
            cause_nw_ns: std::array::from_fn(|cause| self.cause_nw_ns[cause] + more.cause_nw_ns[cause]),
        }
    }
}

/// The end of a bin: the counts, and the erased blocks in the drive.
type CountsRow = (ActivityCounts, u64);

/// The recording.
#[derive(Clone)]
pub struct Activity {
    /// Draw of a die in each of its states, in nW.
    die_nw: [i128; DieState::COUNT],
    /// Draw of a part that works beside its die in each of its states, in nW.
    extra_nw: [i128; ExtraState::COUNT],
    page_bytes: u64,
    counts: ActivityCounts,
    /// What the accounts of windows that have ended hold: their counts begin anew with each window.
    ended: Done,
    free_blocks: u64,
    /// Requests inside the drive, and the time up to which these are counted.
    inside: u32,
    since: Nanos,
    rows: Vec<CountsRow>,
}

/// What a drive's accounts and controller say at the end of a bin.
pub struct Present<'a> {
    /// The ledger of the window.
    pub ledger: &'a Ledger,
    /// Bytes of the host's writes that the drive has accepted in the window.
    pub accepted_bytes: u64,
    /// Erased blocks in the drive.
    pub free_blocks: u64,
}

impl Activity {
    /// An empty recording of a drive at rest.
    pub fn new(table: &PriceTable, page_bytes: u64) -> Self {
        Activity {
            die_nw: table.die.map(|draw| i128::from(draw.nw)),
            extra_nw: table.extra.map(|draw| i128::from(draw.nw)),
            page_bytes,
            counts: ActivityCounts::default(),
            ended: Done::default(),
            free_blocks: 0,
            inside: 0,
            since: 0,
            rows: Vec::new(),
        }
    }

    /// A request enters the drive.
    pub fn entered(&mut self, now: Nanos) {
        self.pass(now);
        self.inside += 1;
    }

    /// A request leaves the drive. It has read and written this number of bytes.
    pub fn left(&mut self, now: Nanos, [read_bytes, write_bytes]: [u64; 2]) {
        self.pass(now);
        self.inside -= 1;
        self.counts.requests += 1;
        self.counts.read_bytes += read_bytes;
        self.counts.write_bytes += write_bytes;
    }

    fn pass(&mut self, now: Nanos) {
        self.counts.inside_ns += u64::from(self.inside) * (now - self.since);
        self.since = now;
    }

    /// Notes the present counts, at the end of a bin. `whole` gives the lengths of operations, unless the ledger has booked them.
    pub fn note(&mut self, present: &Present, whole: Option<&dyn Fn(OpClass) -> OpTimes>) {
        let ledger = present.ledger;
        let die_ns = whole.map_or(ledger.die_ns, |whole| ledger.with_whole(whole));
        let of_cause = |cause: usize| {
            let of_dies = die_ns.iter().zip(self.die_nw);
            of_dies.chain(ledger.extra_ns.iter().zip(self.extra_nw)).map(|(ns, nw)| i128::from(ns[cause]) * nw).sum()
        };
        let erases = Cause::ALL.iter().map(|&cause| ledger.pages(OpKind::Erase, cause)).sum();
        let cause_nw_ns = std::array::from_fn(of_cause);
        let done = Done { accepted_bytes: present.accepted_bytes, programs: ledger.programs(), erases, cause_nw_ns };
        self.counts.done = self.ended.plus(&done);
        self.free_blocks = present.free_blocks;
    }

    /// A window of the accounts has ended, the recording goes on.
    pub fn window_ended(&mut self) {
        self.ended = self.counts.done;
    }

    /// What an SSD did in each bin of a finished recording; none of another device.
    pub fn of(bins: &Bins) -> Option<ActivitySeries> {
        bins.rows::<Activity>().map(|activity| activity.figures(bins.interval_ns(), bins.last_ns()))
    }

    /// The figures of bins of this length; the last one may be shorter.
    fn figures(&self, interval_ns: Nanos, last_ns: Nanos) -> ActivitySeries {
        let mut series = ActivitySeries::default();
        let mut before = ActivityCounts::default();
        let mut left = self.rows.len();
        for (counts, free_blocks) in &self.rows {
            left -= 1;
            let ns = if left == 0 && last_ns > 0 { last_ns } else { interval_ns };
            series.push(&before, counts, ns, self.page_bytes);
            series.free_blocks.push(*free_blocks);
            before = *counts;
        }
        series.energy_by_cause_j.retain_used();
        series
    }
}

impl DeviceRows for Activity {
    fn restart(&mut self, now: Nanos) {
        (self.counts, self.ended, self.since) = (ActivityCounts::default(), Done::default(), now);
        self.rows.clear();
    }

    fn close(&mut self, at: Nanos) {
        let inside_ns = self.counts.inside_ns + u64::from(self.inside) * (at - self.since);
        self.rows.push((ActivityCounts { inside_ns, ..self.counts }, self.free_blocks));
    }

    fn merge(&mut self) {
        self.rows = self.rows.chunks_exact(2).map(|pair| pair[1]).collect();
    }

    fn finish(&mut self, now: Nanos, in_a_new_bin: bool) {
        if !in_a_new_bin && self.rows.pop().is_none() {
            return;
        }
        self.close(now);
    }

    fn grow(&mut self, bins: usize, more: usize) -> bool {
        let each = 2 * size_of::<CountsRow>() + COLUMNS * (size_of::<f64>() + NUMBER_BYTES);
        mem::is_there(((bins + more) * each) as u64) && self.rows.try_reserve_exact(more).is_ok()
    }

    fn copy(&self) -> Box<dyn DeviceRows> {
        Box::new(self.clone())
    }
}

/// What an SSD did in each bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ActivitySeries {
    /// Requests that left the drive in the bin, per second.
    pub iops: Vec<f64>,
    /// MB/s that they read.
    pub read_mb_s: Vec<f64>,
    /// MB/s that they wrote.
    pub write_mb_s: Vec<f64>,
    /// Mean number of requests inside the drive.
    pub queue_depth: Vec<f64>,
    /// Bytes programmed in the bin / `accepted_bytes`; none where the drive accepted none.
    pub write_amplification: Vec<Option<f64>>,
    /// Bytes of the host's writes that the drive accepted in the bin.
    pub accepted_bytes: Vec<u64>,
    /// Pages programmed.
    pub programmed_pages: Vec<u64>,
    /// Blocks erased.
    pub erased_blocks: Vec<u64>,
    /// Erased blocks in the drive at the end of the bin.
    pub free_blocks: Vec<u64>,
    /// Energy in J of the flash operations that ended in the bin, by cause.
    pub energy_by_cause_j: ByCauseSeries,
}

/// Energy over time by cause; causes without any are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByCauseSeries([Vec<f64>; Cause::ALL.len()]);

impl ByCauseSeries {
    /// Of a cause; empty if it has none.
    pub fn of(&self, cause: Cause) -> &[f64] {
        &self.0[cause as usize]
    }

    fn retain_used(&mut self) {
        for values in &mut self.0 {
            if values.iter().all(|&joules| joules == 0.0) {
                values.clear();
            }
        }
    }
}

impl Serialize for ByCauseSeries {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            Cause::ALL.iter().map(|cause| (cause.name(), self.of(*cause))).filter(|(_, of)| !of.is_empty()),
        )
    }
}

impl ActivitySeries {
    fn push(&mut self, before: &ActivityCounts, after: &ActivityCounts, ns: Nanos, page_bytes: u64) {
        let per_s = |count: u64| count as f64 * 1e9 / ns as f64;
        self.iops.push(per_s(after.requests - before.requests));
        self.read_mb_s.push(per_s(after.read_bytes - before.read_bytes) * 1e-6);
        self.write_mb_s.push(per_s(after.write_bytes - before.write_bytes) * 1e-6);
        self.queue_depth.push((after.inside_ns - before.inside_ns) as f64 / ns as f64);
        let (before, after) = (&before.done, &after.done);
        let programs = after.programs - before.programs;
        let accepted = after.accepted_bytes - before.accepted_bytes;
        self.write_amplification.push((accepted > 0).then(|| (programs * page_bytes) as f64 / accepted as f64));
        self.accepted_bytes.push(accepted);
        self.programmed_pages.push(programs);
        self.erased_blocks.push(after.erases - before.erases);
        for (cause, values) in self.energy_by_cause_j.0.iter_mut().enumerate() {
            values.push((after.cause_nw_ns[cause] - before.cause_nw_ns[cause]) as f64 * 1e-18);
        }
    }
}
