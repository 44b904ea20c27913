//! A trace that is replayed several times.

use std::sync::Arc;

use super::clock::{Times, TraceClock};
use super::kept::Records;
use super::read::seal::Seal;
use super::source::Source;
use crate::settings;
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;

/// The passes of a trace.
pub struct Passes {
    cfg: settings::Trace,
    seals: Vec<Arc<Seal>>,
    /// The requests, if they are kept.
    records: Option<Arc<Records>>,
    /// Time between two passes.
    gap_ns: Nanos,
    /// Passes after this one.
    left: u32,
}

impl Passes {
    /// Begins the first pass.
    pub fn begin(
        cfg: &settings::Trace,
        seals: Vec<Arc<Seal>>,
        records: Option<Arc<Records>>,
        times: &Times,
    ) -> Result<(Self, Source), Error> {
        let source = Source::open(cfg, &seals, records.as_ref())?;
        Ok((Passes { gap_ns: times.gap_ns(cfg), left: cfg.repeat - 1, cfg: cfg.clone(), seals, records }, source))
    }

    /// Begins the next pass, if there is one: `source` is that of the pass that has ended.
    pub fn next(&mut self, source: &mut Source, clock: &mut TraceClock) -> Result<bool, Error> {
        if self.left == 0 {
            return Ok(false);
        }
        source.verify()?;
        *source = Source::open(&self.cfg, &self.seals, self.records.as_ref())?;
        self.left -= 1;
        clock.again(self.gap_ns);
        Ok(true)
    }

    /// All passes.
    pub fn count(&self) -> u32 {
        self.cfg.repeat
    }

    /// What is said of several passes.
    pub fn note(&self) -> Option<String> {
        let (passes, gap_ns) = (self.count(), self.gap_ns);
        let gap = if self.cfg.closed_loop == Some(true) {
            String::new()
        } else {
            format!(", {gap_ns} ns from one pass to the next")
        };
        (passes > 1).then(|| format!("the trace is replayed {passes} times{gap}"))
    }
}
