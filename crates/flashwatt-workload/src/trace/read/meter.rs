//! Tells how far the reading of a trace is, and hears when it is to end.

use super::traces::Traces;
use flashwatt_base::error::Error;
use flashwatt_base::progress::{Preparation, Progress};

/// Records between two calls of the progress callback.
const RECORDS_PER_LOOK: u64 = 1 << 14;

/// Counts records and asks every now and then whether to go on.
pub struct RecordCounter<'a> {
    tell: &'a mut dyn FnMut(&Progress) -> bool,
    done: u64,
}

impl<'a> RecordCounter<'a> {
    /// `tell` receives the progress, with an estimate of the total of requests. It ends the reading by returning `false`.
    pub fn new(tell: &'a mut dyn FnMut(&Progress) -> bool) -> Self {
        RecordCounter { tell, done: 0 }
    }

    /// The files are read from their beginning once more.
    pub fn restart(&mut self) {
        self.done = 0;
    }

    /// One more record was read.
    #[inline]
    pub fn record(&mut self, traces: &Traces) -> Result<(), Error> {
        self.done += 1;
        if self.done.is_multiple_of(RECORDS_PER_LOOK) { self.look(traces.expected(self.done)) } else { Ok(()) }
    }

    /// Reports the progress; `expected` is the estimated total of requests.
    #[cold]
    pub fn look(&mut self, expected: Option<u64>) -> Result<(), Error> {
        let preparing = Some(Preparation::ReadingTrace);
        let told = Progress { preparing, requests_done: self.done, requests_total: expected, now_ns: 0 };
        if (self.tell)(&told) { Ok(()) } else { Err(Error::InterruptedReading { done: self.done }) }
    }
}
