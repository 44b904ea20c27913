//! Weight raising: queues of processes that seem to be interactive or to need their requests in time have a higher weight.
//!
//! A process that sends its first request after 2 s without any is taken to be interactive, for as long as the largest of the
//! applications that were measured needs to start. One that sends little, after a pause, and nothing while its requests are
//! under way is taken to be soft real-time for 300 ms, which its next such request renews.

use super::fair::{Fair, QueueId};
use super::queue::{BfqQueue, LONG_AGO, Time};
use super::rate::Rate;

const MS: Time = 1_000_000;
/// The factor of interactive queues (bfq_wr_coeff), and how many times that soft real-time ones have
/// (BFQ_SOFTRT_WEIGHT_FACTOR).
const COEFFICIENT: u64 = 30;
const SOFT_FACTOR: u64 = 100;
/// How long a soft real-time period lasts (bfq_wr_rt_max_time).
pub const SOFT_NS: Time = 300 * MS;
/// A queue was idle for long after this time without requests (bfq_wr_min_idle_time).
const IDLE_NS: Time = 2_000 * MS;
/// A queue that was idle for this long is no part of a burst any more (bfq_bfqq_handle_idle_busy_switch).
const BURST_IDLE_NS: Time = 10_000 * MS;
/// A queue of requests that nobody waits for is raised if none has come for this long (bfq_wr_min_inter_arr_async).
const ASYNC_GAP_NS: Time = 500 * MS;
/// Sectors per s of a soft real-time process at most (bfq_wr_max_softrt_rate).
const SOFT_SECTORS_PER_S: u64 = 7_000;
/// A few jiffies more than the wait for a request, to tell greedy processes from soft real-time ones
/// (bfq_bfqq_softrt_next_start).
const SOFT_EXTRA_NS: Time = 4 * MS;
/// An interactive period ends with this service in sectors (max_service_from_wr).
const INTERACTIVE_SECTORS: u64 = 120_000;
/// The shortest and the longest interactive period (bfq_wr_duration).
const INTERACTIVE_NS: [Time; 2] = [3_000 * MS, 25_000 * MS];
/// Only queues of the weight that a process has without a priority of its own are raised (bfq_bfqq_handle_idle_busy_switch).
const DEFAULT_WEIGHT: u64 = 40;
/// So many queues that come into being within this time of each other are a large burst: one job, which wants throughput
/// (bfq_large_burst_thresh, bfq_burst_interval).
const LARGE_BURST: usize = 8;
const BURST_NS: Time = 180 * MS;

/// The rate (see [`Rate::peak`]) and the interactive period in ms of the devices that the period was measured with: a disk, and
/// flash (ref_rate, ref_wr_duration).
pub const REFERENCE: [(u64, u64); 2] = [(14_000, 7_000), (33_000, 2_500)];

/// What is the same for all queues.
#[derive(Debug)]
pub struct Rules {
    pub is_on: bool,
    pub rotational: bool,
    pub slice_idle_ns: Time,
}

/// A queue that gets its first request, as weight raising sees it.
pub struct Arrival {
    /// It begins or renews an interactive period.
    pub is_interactive: bool,
    is_soft: bool,
    is_idle_for_long: bool,
}

impl Rules {
    /// How long an interactive period lasts: the longer, the slower the device is.
    pub fn interactive_ns(&self, rate: &Rate) -> Time {
        let (reference, ms) = REFERENCE[usize::from(!self.rotational)];
        let lasts = (reference * ms / rate.peak) as Time * MS;
        lasts.clamp(INTERACTIVE_NS[0], INTERACTIVE_NS[1])
    }

    /// What the first request of a queue says.
    pub fn arrival(&self, id: QueueId, queue: &BfqQueue, fair: &Fair, now: Time) -> Arrival {
        let (raising, entity) = (&queue.raising, &fair[id]);
        let is_idle_for_long = entity.in_device == 0 && queue.timeout + IDLE_NS < now;
        let may = !raising.in_large_burst && entity.new_weight == DEFAULT_WEIGHT;
        let is_late = raising.soft_next < now && entity.in_device == 0;
        Arrival {
            is_interactive: may && is_idle_for_long,
            is_soft: may && is_late && !queue.is_totally_seeky(),
            is_idle_for_long,
        }
    }

    /// A queue gets its first request (bfq_update_bfqq_wr_on_rq_arrival). Returns true if that raises it.
    pub fn begin(
        &self,
        arrival: &Arrival,
        id: QueueId,
        queue: &mut BfqQueue,
        fair: &mut Fair,
        rate: &Rate,
        now: Time,
    ) -> bool {
        if !queue.is_new && arrival.is_idle_for_long && queue.timeout + BURST_IDLE_NS < now {
            queue.raising.in_large_burst = false;
        }
        if !self.is_on {
            return false;
        }
        let is_raised = fair[id].raise > 1;
        let deserves = queue.is_sync && (arrival.is_interactive || arrival.is_soft);
        let raising = &mut queue.raising;
        if !is_raised && !deserves {
            return false;
        }
        if arrival.is_interactive {
            raising.service = if is_raised { raising.service } else { 0 };
            raising.lasts_ns = self.interactive_ns(rate);
            fair.set_raise(id, COEFFICIENT);
        } else if !is_raised {
            raising.interactive_began = LONG_AGO;
            raising.lasts_ns = SOFT_NS;
            fair.set_raise(id, COEFFICIENT * SOFT_FACTOR);
        } else if raising.in_large_burst {
            fair.set_raise(id, 1);
        } else if arrival.is_soft {
            if raising.lasts_ns != SOFT_NS {
                raising.interactive_began = raising.began;
                raising.lasts_ns = SOFT_NS;
                fair.set_raise(id, COEFFICIENT * SOFT_FACTOR);
            }
            raising.began = now;
        }
        !is_raised
    }

    /// A queue of requests that nobody waits for, which has some, gets another one after a pause.
    pub fn begin_async(&self, id: QueueId, queue: &mut BfqQueue, fair: &mut Fair, rate: &Rate, now: Time) {
        if self.is_on && fair[id].raise == 1 && queue.raising.began + ASYNC_GAP_NS < now {
            queue.raising.lasts_ns = self.interactive_ns(rate);
            fair.set_raise(id, COEFFICIENT);
        }
    }

    /// A request has come: the time of the last one matters to a queue that is not raised. `old`: the factor before.
    pub fn note_arrival(
        &self,
        old: u64,
        is_interactive: bool,
        id: QueueId,
        queue: &mut BfqQueue,
        fair: &Fair,
        now: Time,
    ) {
        if self.is_on && (old == 1 || fair[id].raise == 1 || is_interactive) {
            queue.raising.began = now;
        }
    }

    /// After a dispatch: ends a period whose time or service is over (bfq_update_wr_data).
    pub fn update(&self, id: QueueId, queue: &mut BfqQueue, fair: &mut Fair, rate: &Rate, now: Time) {
        if fair[id].raise > 1 {
            let raising = &queue.raising;
            if raising.in_large_burst {
                self.end(id, queue, fair, now);
            } else if raising.began + raising.lasts_ns < now {
                self.end_or_switch_back(id, queue, fair, rate, now);
            }
            let raising = &queue.raising;
            if fair[id].raise > 1 && raising.lasts_ns != SOFT_NS && raising.service > INTERACTIVE_SECTORS {
                self.end(id, queue, fair, now);
            }
        }
        let entity = &fair[id];
        if (entity.weight > entity.own_weight) != (entity.raise > 1) {
            fair.update_weight(id, false);
        }
    }

    /// A queue whose requests are all far from each other is not soft real-time (bfq_update_io_seektime).
    pub fn check_seeks(&self, id: QueueId, queue: &mut BfqQueue, fair: &mut Fair, rate: &Rate, now: Time) {
        if fair[id].raise > 1 && queue.raising.lasts_ns == SOFT_NS && queue.is_totally_seeky() {
            self.end_or_switch_back(id, queue, fair, rate, now);
        }
    }

    /// Ends a period. A soft real-time one gives way to the interactive one before it if that would still last.
    fn end_or_switch_back(&self, id: QueueId, queue: &mut BfqQueue, fair: &mut Fair, rate: &Rate, now: Time) {
        let lasts_ns = self.interactive_ns(rate);
        let raising = &mut queue.raising;
        if raising.lasts_ns != SOFT_NS || raising.interactive_began + lasts_ns < now {
            return self.end(id, queue, fair, now);
        }
        (raising.began, raising.lasts_ns) = (raising.interactive_began, lasts_ns);
        fair.set_raise(id, COEFFICIENT);
    }

    fn end(&self, id: QueueId, queue: &mut BfqQueue, fair: &mut Fair, now: Time) {
        fair.set_raise(id, 1);
        (queue.raising.lasts_ns, queue.raising.began) = (0, now);
    }

    /// The turn of a queue ends.
    pub fn expired(&self, id: QueueId, queue: &mut BfqQueue, fair: &Fair, now: Time) {
        if !self.is_on {
            return;
        }
        if fair[id].raise == 1 {
            queue.raising.began = now;
        }
        if queue.is_empty() {
            if fair[id].in_device == 0 {
                self.set_soft_next(queue, now);
            } else {
                queue.raising.soft_awaits_end = true;
            }
        }
    }

    /// A request of a queue has ended.
    pub fn ended(&self, id: QueueId, queue: &mut BfqQueue, fair: &Fair, now: Time) {
        let entity = &fair[id];
        if queue.raising.soft_awaits_end && entity.in_device == 0 && queue.is_empty() && entity.raise != COEFFICIENT {
            self.set_soft_next(queue, now);
        }
    }

    /// When a soft real-time process would send its next request at the earliest (bfq_bfqq_softrt_next_start).
    fn set_soft_next(&self, queue: &mut BfqQueue, now: Time) {
        let raising = &mut queue.raising;
        let needs_ns = (1_000 * raising.busy_service / SOFT_SECTORS_PER_S) as Time * MS;
        let by_rate = raising.busy_since + needs_ns;
        raising.soft_next = raising.soft_next.max(by_rate).max(now + self.slice_idle_ns + SOFT_EXTRA_NS);
    }

    /// A soft real-time queue is served: the time that it has waited does not count.
    pub fn served(&self, id: QueueId, queue: &mut BfqQueue, fair: &Fair, now: Time) {
        let (timeout, raising) = (queue.timeout, &mut queue.raising);
        let is_soft = fair[id].raise > 1 && raising.lasts_ns == SOFT_NS;
        if is_soft && raising.began < now && timeout < now {
            raising.began = if timeout > raising.began { raising.began + now - timeout } else { now };
        }
    }
}

/// Queues that have come into being shortly after each other (bfq_handle_burst).
#[derive(Debug, Default)]
pub struct Bursts {
    queues: Vec<QueueId>,
    size: usize,
    is_large: bool,
    last: Time,
}

impl Bursts {
    /// A queue comes into being. Returns the queues that belong to a large burst from now on.
    pub fn add(&mut self, id: QueueId, busy: u32, now: Time) -> Vec<QueueId> {
        if self.size == 0 && busy > 0 {
            return Vec::new();
        }
        let is_late = self.last + BURST_NS < now;
        self.last = now;
        if is_late {
            self.is_large = false;
            self.queues.clear();
            self.size = usize::from(busy == 0);
            self.queues.extend((busy == 0).then_some(id));
            return Vec::new();
        }
        if self.is_large {
            return vec![id];
        }
        self.size += 1;
        self.queues.push(id);
        self.is_large = self.size == LARGE_BURST;
        if self.is_large { std::mem::take(&mut self.queues) } else { Vec::new() }
    }
}
