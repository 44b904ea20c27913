//! A trace that is replayed several times.

use std::sync::Arc;

use super::clock::{Times, TraceClock};
use super::read::seal::Seal;
use super::read::traces::Traces;
use crate::settings;
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;

/// The passes of a trace.
pub struct Passes {
    cfg: settings::Trace,
    seals: Vec<Arc<Seal>>,
    /// Time between two passes.
    gap_ns: Nanos,
    /// Passes after this one.
    left: u32,
}

impl Passes {
    /// Begins the first pass.
    pub fn begin(cfg: &settings::Trace, seals: Vec<Arc<Seal>>, times: &Times) -> Result<(Self, Traces), Error> {
        let traces = Traces::open_sealed(cfg, &seals)?;
        Ok((Passes { gap_ns: times.gap_ns(cfg), left: cfg.repeat - 1, cfg: cfg.clone(), seals }, traces))
    }

    /// Begins the next pass, if there is one: `traces` are those of the pass that has ended.
    pub fn next(&mut self, traces: &mut Traces, clock: &mut TraceClock) -> Result<bool, Error> {
        if self.left == 0 {
            return Ok(false);
        }
        traces.verify()?;
        *traces = Traces::open_sealed(&self.cfg, &self.seals)?;
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
