//! A load on a real target, and the times of its requests.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::load::{Engine, Load, Measured, Operation};
use crate::offsets::Offsets;
use crate::target::Target;
use crate::{ring, threads};

/// Runs a load. `go_on` is called every few milliseconds with the number of requests that have ended; `false` stops the load,
/// once the requests under way have ended.
///
/// # Errors
/// If the load does not fit the target, or a request fails.
pub fn measure(target: &Target, load: &Load, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Measured, Error> {
    let offsets = check(target, load)?;
    let clock = Clock { began: Instant::now(), limit_ns: load.time_limit_ns };
    let began_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let (mut requests, stopped) = match target.engine() {
        Engine::IoUring => ring::run(target, load, offsets, &clock, go_on)?,
        Engine::Threads => threads::run(target, load, offsets, &clock, go_on)?,
    };
    requests.sort_unstable();
    Ok(Measured { began_unix_ns, requests, stopped })
}

/// The clock of a load.
pub(crate) struct Clock {
    began: Instant,
    limit_ns: u64,
}

impl Clock {
    pub(crate) fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Whether a request may still be sent at this time.
    pub(crate) fn is_open(&self, now_ns: u64) -> bool {
        now_ns <= self.limit_ns
    }
}

/// Refuses a load that could reach beyond the target, or write to one that is open for reading.
fn check(target: &Target, load: &Load) -> Result<Offsets, Error> {
    let sector = target.sector_bytes();
    if load.operation == Operation::Write && !target.access().write {
        return Err(target.refused("a write to a target that is open for reading; expected access for writing"));
    }
    if load.queue_depth == 0 {
        return Err(target.refused("a queue depth of 0; expected 1 or more"));
    }
    if !load.request_bytes.is_multiple_of(sector) || !load.span.align_bytes.is_multiple_of(sector) {
        let found = format!("{} bytes at multiples of {}", load.request_bytes, load.span.align_bytes);
        return Err(
            target.refused(format!("requests off its sectors; found {found}; expected multiples of {sector} bytes"))
        );
    }
    if load.span.bytes > target.size_bytes() {
        let found = format!("a span of {} bytes; expected {} at most", load.span.bytes, target.size_bytes());
        return Err(target.refused(found));
    }
    Offsets::new(load.order, load.span, load.request_bytes).ok_or_else(|| {
        let found = format!("requests of {} bytes in a span of {}", load.request_bytes, load.span.bytes);
        target.refused(format!("no request fits; found {found}; expected at least one that fits"))
    })
}
