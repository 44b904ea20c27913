//! The figures of a run without a clock.

use serde::Serialize;

use super::Sections;
use crate::config::{Config, Replay};
use flashwatt_core::kernel::Completed;

/// The unit of `pages_per_4_kib`.
const BLOCK_BYTES: f64 = 4096.0;

/// Figures of the measured window of a run without a clock (`run.replay`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayReport {
    /// The rules, by their name.
    pub rules: &'static str,
    /// Mean length of a write in bytes; none without writes.
    pub write_bytes_mean: Option<f64>,
    /// Pages that the host's writes programmed per 4 KiB of them; none without writes.
    pub pages_per_4_kib: Option<f64>,
    /// Pages programmed to move data: by collection, merges and wear levelling.
    pub copies: u64,
}

impl ReplayReport {
    pub(super) fn new(config: &Config, done: &Completed, sections: &Sections) -> Option<Self> {
        let (Replay::Flashsim(_), Sections::Ssd(ssd)) = (&config.run.replay, sections) else { return None };
        let (writes, bytes, programs) = (done.writes.count(), done.write_bytes as f64, &ssd.flash.programs);
        let of_writes = |figure: f64| (writes > 0).then_some(figure);
        Some(ReplayReport {
            rules: "flashsim",
            write_bytes_mean: of_writes(bytes / writes as f64),
            pages_per_4_kib: of_writes(programs.host as f64 / (bytes / BLOCK_BYTES)),
            copies: programs.gc + programs.merge + programs.wear,
        })
    }

    /// Why figures are missing.
    pub(super) fn reason(&self) -> String {
        format!(
            "run.replay = \"{}\" has no clock: figures of time, rate, power and energy are null, and figures by origin are left \
             out",
            self.rules
        )
    }
}
