//! A queue of BFQ: the requests of a process that somebody waits for, or those of a priority that nobody waits for.

use super::injection::Injection;
use super::time::MIN_THINK_NS;
pub use super::time::{LONG_AGO, Time};
use crate::pool::{Pool, Rq, RqId};
use crate::sched::fading::{FadingMean, HALF};
use crate::sched::lists::Lists;
use crate::sched::seek::Seek;
use flashwatt_base::units::Nanos;

/// A request that begins further than this many sectors from the last one's end is far (BFQQ_SEEK_THR).
const SEEK_SECTORS: u64 = 8 * 100;
/// On flash, a request of at least this many sectors is not far (BFQQ_SECT_THR_NONROT).
pub const LARGE_SECTORS: u64 = 2 * 32;
/// A queue is seeky if more than this many of its last 32 requests were far (BFQQ_SEEKY).
const SEEKY_REQUESTS: u32 = 19;
/// How far the observation of a process's idle time goes back (bfq_update_io_intensity).
const INTENSITY_NS: Time = 200_000_000;

/// The queue of a process, or of requests that nobody waits for (bfq_queue). Its place among the others is in [`super::fair::Entity`].
#[derive(Debug)]
pub struct BfqQueue {
    pub is_sync: bool,
    /// The process whose requests these are, if somebody waits for them.
    pub process: Option<u16>,
    pub lists: Lists,
    /// Queued requests.
    pub queued: u32,
    /// The request that goes next.
    pub next: Option<RqId>,
    /// Sectors of a turn.
    pub max_budget: u64,
    /// The end of the turn; of a queue without requests, queued or in the device: since when.
    pub timeout: Time,
    /// The oldest request has been looked at in this turn (BFQQF_fifo_expire).
    pub looked_at_oldest: bool,
    /// No request has come yet.
    pub is_new: bool,
    /// Its turn ended for want of requests, so one that comes soon continues it (BFQQF_non_blocking_wait_rq).
    pub awaits: bool,
    /// Whether it asks for more soon after its requests have ended, and does so nearly all the time.
    pub thinks_shortly: bool,
    pub is_io_bound: bool,
    /// The end of its last request.
    pub last_end: Time,
    think: FadingMean,
    /// Of the last 32 requests, a bit for each that was far.
    far: u32,
    /// Where the last request that came ended.
    position: u64,
    /// Since when the process's idle time is observed, and that time.
    observed_since: Time,
    idle_ns: Time,
    pub raising: Raising,
    pub injection: Injection,
}

/// What weight raising knows of a queue.
#[derive(Debug)]
pub struct Raising {
    /// When it began, or the queue was last not raised (last_wr_start_finish).
    pub began: Time,
    /// How long it may last (wr_cur_max_time).
    pub lasts_ns: Time,
    /// When an interactive period began that a soft real-time one has followed (wr_start_at_switch_to_srt).
    pub interactive_began: Time,
    /// Sectors that it has been charged with while raised (service_from_wr).
    pub service: u64,
    /// Since the queue had requests again: when that was, and the sectors (last_idle_bklogged, service_from_backlogged).
    pub busy_since: Time,
    pub busy_service: u64,
    /// A request that comes later than this is as soft real-time ones are (soft_rt_next_start).
    pub soft_next: Time,
    /// This time is worked out when the last request in the device ends (BFQQF_softrt_update).
    pub soft_awaits_end: bool,
    pub in_large_burst: bool,
}

impl BfqQueue {
    /// A queue without requests.
    pub fn new(process: Option<u16>, max_budget: u64, now: Time) -> Self {
        let is_sync = process.is_some();
        BfqQueue {
            is_sync,
            process,
            lists: Lists::default(),
            queued: 0,
            next: None,
            max_budget,
            timeout: LONG_AGO,
            looked_at_oldest: false,
            is_new: is_sync,
            awaits: false,
            thinks_shortly: is_sync,
            is_io_bound: true,
            last_end: now,
            think: FadingMean::default(),
            // The first request is taken to be far.
            far: 1,
            position: 0,
            observed_since: now,
            idle_ns: 0,
            raising: Raising {
                began: now,
                lasts_ns: 0,
                interactive_began: LONG_AGO,
                service: 0,
                busy_since: 0,
                busy_service: 0,
                soft_next: now,
                soft_awaits_end: false,
                in_large_burst: false,
            },
            injection: Injection::new(now),
        }
    }

    /// Whether it has no queued request.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Whether most of its last requests were far from each other.
    pub fn is_seeky(&self) -> bool {
        self.far.count_ones() > SEEKY_REQUESTS
    }

    /// Whether all of its last 32 requests were far from each other.
    pub fn is_totally_seeky(&self) -> bool {
        self.far == u32::MAX
    }

    /// Whether waiting for its requests pays by itself.
    pub fn is_sequential_and_io_bound(&self) -> bool {
        !self.is_seeky() && self.is_io_bound && self.thinks_shortly
    }

    /// A request comes while none is queued or in the device: a sample of the time that the process takes until then.
    pub fn sample_think_time(&mut self, slice_idle_ns: Nanos, now: Time) {
        self.think.add(((now - self.last_end) as u64).min(2 * slice_idle_ns));
    }

    /// Finds out whether the process asks for more soon. Returns true if that has changed.
    pub fn judge_think_time(&mut self, slice_idle_ns: Nanos) -> bool {
        let is_long = self.think.is_valid() && self.think.mean(HALF) > slice_idle_ns / 2;
        std::mem::replace(&mut self.thinks_shortly, !is_long) == is_long
    }

    /// A request comes: is it far from the last one?
    pub fn sample_seek(&mut self, rq: &Rq, rotational: bool) {
        self.far = self.far << 1 | u32::from(is_far(self.position, rq, rotational));
        self.position = rq.end();
    }

    /// A request comes: is the process busy for most of the time? `is_idle`: it had none queued or in the device.
    pub fn sample_intensity(&mut self, is_idle: bool, now: Time) {
        let observed = now - self.observed_since;
        if is_idle {
            self.idle_ns += now - self.last_end;
        }
        if self.is_new {
            return;
        }
        self.is_io_bound = self.idle_ns * 5 <= observed;
        if observed > INTENSITY_NS {
            self.observed_since = now - (observed >> 1);
            self.idle_ns >>= 1;
        }
    }

    /// How long to wait for the next request of a queue for which waiting is not a duty.
    pub fn short_wait_ns(slice_idle_ns: Nanos) -> Nanos {
        slice_idle_ns.min(MIN_THINK_NS)
    }

    /// The request that follows on `last`, which goes to the device: the oldest if it has expired, once in a turn; else the one
    /// that is nearer (bfq_find_next_rq). The second value says that it had expired.
    pub fn following(&mut self, last: RqId, seek: &Seek, now: Nanos, pool: &Pool) -> (Option<RqId>, bool) {
        if !std::mem::replace(&mut self.looked_at_oldest, true) {
            let expired = self.lists.expired(now, pool).filter(|&oldest| oldest != last);
            if expired.is_some() {
                return (expired, true);
            }
        }
        (seek.neighbour(last, pool[last].first, &self.lists.sorted, pool), false)
    }
}

/// Whether a request lies far behind or before a position. Position 0 is none.
pub fn is_far(position: u64, rq: &Rq, rotational: bool) -> bool {
    position != 0 && rq.first.abs_diff(position) > SEEK_SECTORS && (rotational || rq.sectors < LARGE_SECTORS)
}
