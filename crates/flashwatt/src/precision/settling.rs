//! What a window must have before it can be judged: a drive in its long-run state, and enough of the waves in which dies collect.

use super::figures::Figure;
use crate::config::{Config, Drive, Precondition, Synthetic, Workload};

/// Times that the range of the workload is written before the window begins, if the start state is not that of the workload. After one
/// the spare flash is used up; after two, nothing is left of the order in which the drive was filled.
pub(super) const TURNOVERS: u64 = 2;
/// Waves of a window of which means are judged: one for each group of batches.
const WAVES_OF_MEANS: u64 = 16;
/// The same for quantiles beyond 90 %, which lie in the waves' crests.
const WAVES_OF_TAILS: u64 = 50;
const TAIL: f64 = 0.9;
/// Writes that take less than this share of requests make no waves in figures other than write amplification.
const FEW_PROGRAMS: f64 = 0.1;

/// The least that a window must have, and what must be before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settling {
    /// Bytes to be written before the window begins; 0 if it may begin at once.
    pub turnover_bytes: u64,
    /// Programs of a wave: one block of each die. 0 of a drive without flash.
    pub wave_programs: u64,
    /// Bytes of a page; 0 of a drive without flash of its own.
    pub page_bytes: u64,
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
        let wave = |config: &Config| {
            let device = &config.ssd().device;
            u64::from(device.channels) * u64::from(device.ways) * u64::from(device.block_pages())
        };
        let turnover_bytes =
            if of_drives.is_empty() || is_settled(config) { 0 } else { TURNOVERS * range_bytes(config) };
        Settling {
            turnover_bytes,
            wave_programs: of_drives.iter().map(wave).sum(),
            page_bytes: config.drive.ssd().map_or(0, |ssd| u64::from(ssd.device.page_bytes)),
            least_requests,
        }
    }

    /// Whether a window with these programs and requests is long enough for a figure.
    pub(super) fn suffices(&self, figure: &Figure, programs: u64, requests: u64) -> bool {
        let of_amplification = figure.key == Figure::WRITE_AMPLIFICATION;
        if !of_amplification && (programs as f64) < FEW_PROGRAMS * requests as f64 {
            return true;
        }
        let waves = if figure.share().is_some_and(|share| share > TAIL) { WAVES_OF_TAILS } else { WAVES_OF_MEANS };
        programs >= waves * self.wave_programs
    }

    /// Whether the window may begin, with this many bytes written before it.
    pub(super) fn may_begin(&self, written_bytes: u64) -> bool {
        written_bytes >= self.turnover_bytes
    }
}

/// Whether the start state is that of the workload: nothing is written, the same requests have run before, a user has aged the drive, or
/// uniform random writes to the whole drive find the state that such writes lead to.
fn is_settled(config: &Config) -> bool {
    let Workload::Synthetic(synthetic) = &config.workload else {
        return matches!(config.run.precondition, Precondition::Snapshot(_));
    };
    if synthetic.read_fraction + synthetic.trim_fraction >= 1.0 {
        return true;
    }
    match &config.run.precondition {
        Precondition::Snapshot(_) => true,
        Precondition::Steady => {
            synthetic.model.name == "uniform"
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
