//! Injection: requests of other queues go to the device while it is kept idle for one, as long as that does it no harm.
//!
//! The harm is measured: the time from the arrival of the queue's first request after it had none to that request's end, with
//! and without injected requests. While a queue has none, others may go as long as fewer than its limit are in the device. A
//! queue whose process takes long to think begins with a limit of 1, any other with 0.
//!
//! A queue may get its requests only once those of another one have ended, its waker: three times in a row it gets one right
//! after such an end. Requests of the waker go without a limit, and so do those of a queue that is waited for by another one
//! which is its waker.

use super::fair::QueueId;
use super::time::Time;
use crate::pool::RqId;

const MS: Time = 1_000_000;
/// A limit is forgotten after this time (bfq_add_request).
const RESET_NS: Time = 1_000 * MS;
/// From the last decrease to the next measurement (bfq_add_request).
const MEASURE_NS: Time = 10 * MS;
/// From the last decrease to a reset for a think time that has become short (bfq_update_has_short_ttime).
const CHANGE_NS: Time = 100 * MS;
/// A queue counts as the waker of another one if a request of it has ended less than `WAKE_NS` before the other's request came,
/// `WAKES` times in a row, within `WAKES_SLICES` times slice_idle (bfq_check_waker).
const WAKE_NS: Time = 4 * MS;
const WAKES: u32 = 3;
const WAKES_SLICES: Time = 128;

/// What injection knows of a queue.
#[derive(Debug, Default)]
pub struct Injection {
    /// Requests in the device up to which others may go.
    pub limit: u32,
    /// The time of a first request without injection; 0: unknown (last_serv_time_ns).
    base_ns: Time,
    /// When the limit was last lowered or reset (decrease_time_jif).
    lowered: Time,
    pub waker: Option<QueueId>,
    /// Queues whose waker this is, the last one to get requests first.
    pub woken: Vec<QueueId>,
    candidate: Option<QueueId>,
    wakes: u32,
    wakes_since: Time,
}

/// The measurement that is going on, and the last end of a request.
#[derive(Debug, Default)]
pub struct Measurement {
    /// The served queue's next dispatch is measured (wait_dispatch).
    awaits_dispatch: bool,
    /// The request whose end is awaited (waited_rq), and when it came.
    request: Option<RqId>,
    came: Time,
    /// A request of another queue has gone (rqs_injected).
    pub has_injected: bool,
    last_end: Option<(QueueId, Time)>,
}

impl Injection {
    /// That of a new queue.
    pub fn new(now: Time) -> Self {
        Injection { lowered: now, ..Injection::default() }
    }

    /// Nothing has been measured, and nothing is let through.
    pub fn is_unknown(&self) -> bool {
        self.limit == 0 && self.base_ns == 0
    }

    fn reset(&mut self, thinks_shortly: bool, now: Time, measurement: &mut Measurement) {
        measurement.request = None;
        (self.base_ns, self.limit, self.lowered) = (0, u32::from(!thinks_shortly), now);
    }

    /// The think time of the process has become short, or long.
    pub fn think_time_changed(&mut self, thinks_shortly: bool, now: Time, measurement: &mut Measurement) {
        if self.base_ns == 0 && (self.lowered + CHANGE_NS <= now || !thinks_shortly) {
            self.reset(thinks_shortly, now, measurement);
        }
    }

    /// A process without requests sends one. `in_device`: requests there.
    pub fn first_request(&mut self, first: &First, now: Time, measurement: &mut Measurement) {
        if self.lowered + RESET_NS <= now {
            self.reset(first.thinks_shortly, now, measurement);
        }
        let can_compare = self.base_ns > 0 && measurement.has_injected;
        if first.is_served && (first.in_device == 0 || can_compare) && self.lowered + MEASURE_NS <= now {
            (measurement.came, measurement.awaits_dispatch) = (now, true);
            measurement.has_injected &= first.in_device > 0;
        }
    }

    /// The queue that woke this one by the end of its last request, if it has become the waker just now.
    pub fn woken_by(&mut self, own: QueueId, first: &First, now: Time, measurement: &Measurement) -> Option<QueueId> {
        let (other, end) = measurement.last_end?;
        if other == own || first.thinks_shortly || now - end >= WAKE_NS {
            return None;
        }
        if self.candidate != Some(other) || now > self.wakes_since + WAKES_SLICES * first.slice_idle_ns {
            (self.candidate, self.wakes, self.wakes_since) = (Some(other), 1, now);
        } else {
            self.wakes += 1;
        }
        (self.wakes == WAKES).then(|| {
            self.candidate = None;
            other
        })
    }

    /// A request has ended, maybe the measured one (bfq_update_inject_limit). `in_device`: requests there with it; `most`: at
    /// most at a time.
    pub fn ended(&mut self, request: RqId, in_device: u32, most: u32, now: Time, measurement: &mut Measurement) {
        if measurement.request != Some(request) {
            return;
        }
        let took_ns = now - measurement.came;
        let old = self.limit;
        if self.base_ns > 0 && measurement.has_injected {
            let is_long = took_ns >= (self.base_ns * 3) >> 1;
            if is_long && old > 0 {
                (self.limit, self.lowered) = (old - 1, now);
            } else if !is_long && old <= most {
                self.limit += 1;
            }
        }
        let is_alone = in_device == 1;
        if (self.base_ns == 0 && is_alone) || took_ns < self.base_ns {
            if self.base_ns == 0 {
                self.limit = old.max(1);
            }
            self.base_ns = took_ns;
        } else if !measurement.has_injected && is_alone {
            self.base_ns = took_ns;
        }
        (measurement.request, measurement.has_injected) = (None, false);
    }
}

/// A request of a process that has no other one.
pub struct First {
    pub thinks_shortly: bool,
    pub is_served: bool,
    pub in_device: u32,
    pub slice_idle_ns: Time,
}

impl Measurement {
    /// The served queue's request goes to the device.
    pub fn dispatched(&mut self, request: RqId) {
        if std::mem::take(&mut self.awaits_dispatch) {
            self.request = Some(request);
        }
    }

    /// The turn of the served queue ends.
    pub fn stop(&mut self) {
        (self.has_injected, self.awaits_dispatch, self.request) = (false, false, None);
    }

    /// A request of a queue has ended.
    pub fn note_end(&mut self, queue: QueueId, now: Time) {
        self.last_end = Some((queue, now));
    }
}
