//! Progress of long work: a run, or the reading of a trace before it.

use crate::error::Error;
use crate::units::Nanos;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The preparation before the simulation, if one is under way. The requests are then those of the preparation (one
    /// for each page where a drive is filled), and simulated time stands still. `None` from the first simulated
    /// nanosecond on.
    pub preparing: Option<Preparation>,
    /// Requests completed, with those of the warm-up.
    pub requests_done: u64,
    /// Number of requests of the run, if known.
    pub requests_total: Option<u64>,
    /// Simulated time in ns.
    pub now_ns: Nanos,
}

/// Work before a simulation, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// A trace is read to its end: every record is checked, and every device measured, before the first is replayed.
    ReadingTrace,
    /// The drive is brought into its start state without a clock.
    StartState,
    /// After a run its power is cut (`[run.power_cuts]`): a second run, whose cuts are counted in place of requests.
    PowerCuts,
}

impl Preparation {
    /// The preparation in words, for messages: "reading the trace".
    pub fn name(self) -> &'static str {
        match self {
            Preparation::ReadingTrace => "reading the trace",
            Preparation::StartState => "laying down the start state",
            Preparation::PowerCuts => "cutting the power",
        }
    }
}

/// Steps of work between two reports of progress while a start state is laid down: filled pages or flash
/// operations without a clock. A step takes less than a microsecond, so an interrupt takes effect without delay.
const STEPS_PER_LOOK: u64 = 1 << 15;

/// Reports the progress of laying down a start state, and stops it on request.
pub struct Watch<'a> {
    tell: &'a mut dyn FnMut(&Progress) -> bool,
    done: u64,
    total: Option<u64>,
    /// Steps since the last report of progress.
    steps: u64,
}

impl<'a> Watch<'a> {
    /// `tell` receives the progress. If it returns `false`, the work ends.
    pub fn new(tell: &'a mut dyn FnMut(&Progress) -> bool) -> Self {
        Watch { tell, done: 0, total: None, steps: 0 }
    }

    /// Announces `more` requests besides those that are done; `None` if their number is unknown.
    pub fn expect(&mut self, more: Option<u64>) {
        self.total = more.map(|more| self.done + more);
    }

    /// Counts `requests` as done.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the user stopped it.
    pub fn done(&mut self, requests: u64) -> Result<(), Error> {
        self.done += requests;
        self.step(requests)
    }

    /// Counts one step of work without a completed request.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the user stopped it.
    pub fn step(&mut self, steps: u64) -> Result<(), Error> {
        self.steps += steps;
        if self.steps < STEPS_PER_LOOK {
            return Ok(());
        }
        self.steps = 0;
        let (done, total) = (self.done, self.total);
        let preparing = Some(Preparation::StartState);
        let told = Progress { preparing, requests_done: done, requests_total: total, now_ns: 0 };
        if (self.tell)(&told) { Ok(()) } else { Err(Error::Interrupted { done, total }) }
    }

    /// The callback itself, for work that reports its own progress.
    pub fn teller(&mut self) -> &mut dyn FnMut(&Progress) -> bool {
        self.tell
    }
}
