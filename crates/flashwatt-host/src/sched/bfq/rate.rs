//! The rate at which the device serves requests at best (bfq_update_peak_rate), and whether it queues them (bfq_update_hw_tag).

use super::time::{MIN_THINK_NS, Time};

/// Precision of rates: sectors per us, times 2 to this power (BFQ_RATE_SHIFT).
pub const RATE_SHIFT: u32 = 16;
/// A rate needs this many dispatches (BFQ_RATE_MIN_SAMPLES) and this time (BFQ_RATE_MIN_INTERVAL).
const MIN_SAMPLES: u64 = 32;
const MIN_INTERVAL_NS: Time = 300_000_000;
/// A rate is worked out after this time (BFQ_RATE_REF_INTERVAL).
const INTERVAL_NS: Time = 1_000_000_000;
/// A device that has not been given requests for this long has been idle (bfq_update_peak_rate).
const DEVICE_IDLE_NS: Time = 100_000_000;
/// A rate above this many sectors per us is a mistake (bfq_update_rate_reset).
const MOST_SECTORS_PER_US: u64 = 20;
/// More requests at a time than this show that the device queues them (BFQ_HW_QUEUE_THRESHOLD).
const QUEUEING_THRESHOLD: u32 = 3;
/// Samples before the device is found not to queue (BFQ_HW_QUEUE_SAMPLES).
const QUEUEING_SAMPLES: u32 = 32;

/// The estimate of the peak rate.
#[derive(Debug)]
pub struct Rate {
    /// Sectors per us, times 2 to the power of [`RATE_SHIFT`].
    pub peak: u64,
    samples: u64,
    sequential: u64,
    sectors: u64,
    longest: u64,
    first_dispatch: Time,
    last_dispatch: Time,
    observed_ns: Time,
    last_end: Time,
}

/// A dispatch as the estimate sees it.
pub struct Dispatch {
    pub now: Time,
    pub sectors: u64,
    /// Requests in the device before it.
    pub in_device: u32,
    /// It lies far from the last one.
    pub is_seeky: bool,
}

impl Rate {
    /// An estimate that begins with this rate.
    pub fn new(peak: u64) -> Self {
        Rate {
            peak,
            samples: 0,
            sequential: 0,
            sectors: 0,
            longest: 0,
            first_dispatch: 0,
            last_dispatch: 0,
            observed_ns: 0,
            last_end: 0,
        }
    }

    /// A request goes to the device. Returns true if the peak rate has been worked out anew.
    pub fn dispatched(&mut self, dispatch: &Dispatch) -> bool {
        let now = dispatch.now;
        if self.samples == 0 {
            self.restart(Some(dispatch));
            return false;
        }
        let mut is_over = now - self.last_dispatch > DEVICE_IDLE_NS && dispatch.in_device == 0;
        if !is_over {
            self.samples += 1;
            let is_fed = dispatch.in_device > 0 || now - self.last_end < MIN_THINK_NS as Time;
            self.sequential += u64::from(is_fed && !dispatch.is_seeky);
            self.sectors += dispatch.sectors;
            let longest = if self.samples.is_multiple_of(32) { 0 } else { self.longest };
            self.longest = longest.max(dispatch.sectors);
            self.observed_ns = now - self.first_dispatch;
            is_over = self.observed_ns >= INTERVAL_NS;
        }
        let found = is_over && self.work_out(Some(dispatch));
        self.last_dispatch = now;
        found
    }

    /// A request has ended. Returns true if the peak rate has been worked out anew.
    pub fn ended(&mut self, now: Time) -> bool {
        let waited_us = ((now - self.last_end) / 1000) as u64;
        let was_slow =
            waited_us > MIN_THINK_NS / 1000 && (self.longest << RATE_SHIFT) / waited_us < 1 << (RATE_SHIFT - 10);
        let found = was_slow && self.work_out(None);
        self.last_end = now;
        found
    }

    fn restart(&mut self, dispatch: Option<&Dispatch>) {
        self.samples = 0;
        if let Some(dispatch) = dispatch {
            (self.last_dispatch, self.first_dispatch) = (dispatch.now, dispatch.now);
            (self.samples, self.sequential) = (1, 0);
            (self.sectors, self.longest) = (dispatch.sectors, dispatch.sectors);
        }
    }

    /// The end of an observation: a rate, if there are enough samples.
    fn work_out(&mut self, dispatch: Option<&Dispatch>) -> bool {
        let found = self.samples >= MIN_SAMPLES && self.observed_ns >= MIN_INTERVAL_NS && self.filter();
        self.restart(dispatch);
        found
    }

    /// Takes the observed rate into the peak rate: the more, the more sequential and the longer the observation was.
    fn filter(&mut self) -> bool {
        let observed_ns = self.observed_ns.max(self.last_end - self.first_dispatch) as u64;
        let rate = (self.sectors << RATE_SHIFT) / (observed_ns / 1000);
        let is_sequential = self.sequential >= (3 * self.samples) >> 2;
        if (!is_sequential && rate <= self.peak) || rate > MOST_SECTORS_PER_US << RATE_SHIFT {
            return false;
        }
        let sequential = 9 * self.sequential / self.samples;
        let weight = (sequential * observed_ns / INTERVAL_NS as u64).min(8);
        let divisor = 10 - weight;
        self.peak = (self.peak * (divisor - 1) / divisor + rate / divisor).max(1);
        true
    }
}

/// Whether the device serves several requests at a time.
#[derive(Debug, Default)]
pub struct Queueing {
    found: Option<bool>,
    samples: u32,
    most: u32,
}

impl Queueing {
    /// Whether the device is known to serve one request at a time.
    pub fn is_absent(&self) -> bool {
        self.found == Some(false)
    }

    /// A request ends, one of `in_device`, while `queued` are queued. `held_back`: the served queue may wait for requests and has
    /// too few of them to show anything.
    pub fn sample(&mut self, in_device: u32, queued: u32, held_back: bool) {
        self.most = self.most.max(in_device);
        if self.found == Some(true) || in_device + queued <= QUEUEING_THRESHOLD {
            return;
        }
        if held_back && in_device < QUEUEING_THRESHOLD {
            return;
        }
        self.samples += 1;
        if self.samples > QUEUEING_SAMPLES {
            self.found = Some(self.most > QUEUEING_THRESHOLD);
            (self.most, self.samples) = (0, 0);
        }
    }

    /// The most requests in the device at a time.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Few requests show nothing about queueing.
    pub fn are_few(requests: u32) -> bool {
        requests < QUEUEING_THRESHOLD
    }
}
