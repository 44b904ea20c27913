//! What a window must have before it can be judged: a drive in its long-run state, and enough of the waves in which dies collect.

use super::figures::Figure;
use crate::config::{Arrivals, Config, Drive, Precondition, Synthetic, Workload};

/// Times that the range of the workload is written before the window begins, if the start state is not that of the workload. After one
/// the spare flash is used up; after two, nothing is left of the order in which the drive was filled.
pub(super) const TURNOVERS: u64 = 2;
/// The same in waves, if it is. The start state `steady` has the phases of dies that are all at work; at a lower load they take longer to
/// come into those of the workload.
const WAVES_BEFORE: u64 = 4;
const WAVES_BEFORE_LOW_LOAD: u64 = 16;
/// A load with fewer requests under way than this share of the dies is low.
const FULL_LOAD: f64 = 0.5;
/// Times that a cached map may be filled by look-ups before the window begins.
const CACHE_FILLS: u64 = 2;
/// Waves of a window of which means are judged: one for each group of batches.
const WAVES_OF_MEANS: u64 = 16;
/// The same for quantiles beyond 90 %, which lie in the waves' crests.
const WAVES_OF_TAILS: u64 = 50;
const TAIL: f64 = 0.9;
/// Fewer writes than this share of requests, in pages, make no waves in figures other than write amplification.
const FEW_WRITES: f64 = 0.1;

/// Bytes of a page at least, where there is none.
const FLASH_PAGE_BYTES: u64 = 4096;

/// The least that a window must have, and what must be before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settling {
    /// Bytes to be written, and requests to complete, before the window begins.
    pub turnover_bytes: u64,
    pub turnover_requests: u64,
    /// Bytes that the host writes in a wave: a block of each die. 0 of a drive without flash.
    pub wave_bytes: u64,
    /// Bytes of a page; 0 of a drive without flash of its own.
    pub page_bytes: u64,
    /// Whether the workload only reads. As long as such a drive programs, it has work left from its start state.
    pub only_reads: bool,
    /// Requests after which a run may end at the earliest.
    pub least_requests: u64,
}

impl Settling {
    /// Of a run.
    pub(crate) fn new(config: &Config, least_requests: u64) -> Self {
        let of_drives = match &config.drive {
            Drive::Ssd(_) => Some(config.clone()).into_iter().collect(),
            Drive::Hdd(_) => Vec::new(),
            Drive::Array(table) => {
                let ssds = table.array.places().flatten().filter(|drive| drive.ssd().is_some());
                ssds.map(|drive| config.of_drive(drive)).collect::<Vec<_>>()
            }
        };
        let dies = |config: &Config| u64::from(config.ssd().device.channels) * u64::from(config.ssd().device.ways);
        let wave = |config: &Config| {
            let device = &config.ssd().device;
            let block_bytes = u64::from(device.block_pages()) * u64::from(device.page_bytes);
            dies(config) * block_bytes
        };
        let dies = of_drives.iter().map(dies).sum();
        let wave_bytes = of_drives.iter().map(wave).sum();
        let turnover_bytes = match (of_drives.is_empty() || only_reads(config), is_settled(config)) {
            (true, _) => 0,
            (false, true) if is_full_load(config, dies) => WAVES_BEFORE * wave_bytes,
            (false, true) => WAVES_BEFORE_LOW_LOAD * wave_bytes,
            (false, false) => TURNOVERS * range_bytes(config),
        };
        let fills_cache = !matches!(config.run.precondition, Precondition::Steady | Precondition::Snapshot(_));
        let entries =
            of_drives.iter().filter(|_| fills_cache).filter_map(|drive| cached_entries(drive, range_bytes(config)));
        Settling {
            turnover_bytes,
            turnover_requests: CACHE_FILLS * entries.max().unwrap_or(0),
            wave_bytes,
            only_reads: only_reads(config),
            page_bytes: config.drive.ssd().map_or(0, |ssd| u64::from(ssd.device.page_bytes)),
            least_requests,
        }
    }

    /// Whether a window with these requests, and this many bytes written, is long enough for a figure.
    pub(super) fn suffices(&self, figure: &Figure, written_bytes: u64, requests: u64) -> bool {
        let of_amplification = figure.key == Figure::WRITE_AMPLIFICATION;
        let page_bytes = self.page_bytes.max(FLASH_PAGE_BYTES);
        if !of_amplification && (written_bytes as f64) < FEW_WRITES * (requests * page_bytes) as f64 {
            return true;
        }
        let waves = if figure.share().is_some_and(|share| share > TAIL) { WAVES_OF_TAILS } else { WAVES_OF_MEANS };
        written_bytes >= waves * self.wave_bytes
    }

    /// Whether the window may begin, with this many bytes written and requests completed before it.
    pub(super) fn may_begin(&self, written_bytes: u64, requests: u64) -> bool {
        written_bytes >= self.turnover_bytes && requests >= self.turnover_requests
    }

    /// Whether there is nothing to wait for.
    pub(crate) fn begins_at_once(&self) -> bool {
        self.may_begin(0, 0)
    }
}

/// Whether the workload is a model that neither writes nor trims.
fn only_reads(config: &Config) -> bool {
    matches!(&config.workload, Workload::Synthetic(synthetic) if synthetic.read_fraction >= 1.0)
}

/// Entries of its cached map, or of as much of the map as the workload asks for; none of a drive with the whole map in memory.
fn cached_entries(config: &Config, range_bytes: u64) -> Option<u64> {
    let entries = config.ssd().ftl.table_entries()?;
    Some(u64::from(entries).min(range_bytes / u64::from(config.map_unit_bytes())))
}

/// Whether the workload keeps most of the dies at work. One that arrives at times of its own may not.
fn is_full_load(config: &Config, dies: u64) -> bool {
    let Workload::Synthetic(synthetic) = &config.workload else { return false };
    let Arrivals::Closed { queue_depth } = synthetic.arrivals else { return false };
    let under_way = u64::from(queue_depth) * u64::from(synthetic.processes);
    under_way as f64 >= FULL_LOAD * dies as f64
}

/// Whether the start state is that of the workload: the same requests have run before, a user has aged the drive, or uniform random
/// writes of a page to the whole drive find the state that such writes lead to.
fn is_settled(config: &Config) -> bool {
    let Workload::Synthetic(synthetic) = &config.workload else {
        return matches!(config.run.precondition, Precondition::Snapshot(_));
    };
    match &config.run.precondition {
        Precondition::Snapshot(_) => true,
        Precondition::Steady => {
            let unit_bytes = config.drive.ssd().map_or(0, |ssd| u64::from(ssd.map_unit_bytes()));
            synthetic.model.name == "uniform"
                && synthetic.sizes.write.iter().all(|size| size.bytes == unit_bytes || unit_bytes == 0)
                && synthetic.trim_fraction == 0.0
                && synthetic.range_bytes + synthetic.align_bytes > config.logical_bytes()
        }
        Precondition::Workload(before) => match before.as_ref() {
            Workload::Synthetic(before) => {
                before.model.name == synthetic.model.name
                    && before.parameters == synthetic.parameters
                    && (before.start_bytes, before.range_bytes) == (synthetic.start_bytes, synthetic.range_bytes)
                    && before.sizes == synthetic.sizes
                    && written_bytes(before) >= (TURNOVERS * before.range_bytes) as f64
            }
            _ => false,
        },
        _ => false,
    }
}

/// Bytes that a workload writes, on average over its draws.
fn written_bytes(synthetic: &Synthetic) -> f64 {
    let shares: f64 = synthetic.sizes.write.iter().map(|size| size.share).sum();
    let mean = synthetic.sizes.write.iter().map(|size| size.bytes as f64 * size.share).sum::<f64>() / shares;
    synthetic.requests as f64 * (1.0 - synthetic.read_fraction - synthetic.trim_fraction) * mean
}

/// The bytes that the workload writes to.
fn range_bytes(config: &Config) -> u64 {
    match &config.workload {
        Workload::Synthetic(synthetic) => synthetic.range_bytes.min(config.logical_bytes()),
        _ => config.logical_bytes(),
    }
}
