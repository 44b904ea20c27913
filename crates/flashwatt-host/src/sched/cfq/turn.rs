//! Turns: which queue is served, for how long, and when the device is kept idle for it.

use super::queue::{CfqQueue, MIN_THINK_NS, QueueId, Time};
use super::{ASYNC, Cfq, SYNC};
use crate::pool::{Rq, RqId};
use crate::sched::fading::HALF;
use crate::sched::sharing::plan_sharing;
use crate::sched::{Choice, Cx};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::PriorityClass;

/// Queues of the idle class stand this far behind the last queue (CFQ_IDLE_DELAY, HZ / 5).
const IDLE_CLASS_DELAY_NS: Time = 200_000_000;
/// A queue that preempts stands this far before the first one (HZ).
const PREEMPTING_NS: Time = 1_000_000_000;
/// An awaited request that is longer goes at once (PAGE_CACHE_SIZE).
pub const PAGE_SECTORS: u64 = 8;
/// How many times the quantum may be in the device while no other queue waits (cfq_may_dispatch).
const ALONE: u64 = 4;

/// A turn of a queue.
#[derive(Debug)]
pub struct Turn {
    pub queue: QueueId,
    /// When the slice is over; none until a request ends.
    slice_end: Option<Time>,
    /// Requests that went to the device.
    dispatched: u64,
    /// The oldest request has been looked at.
    looked_at_oldest: bool,
    /// The process that sent its first request.
    process: Option<u16>,
    /// The next request of that process is waited for (CFQ_CFQQ_FLAG_wait_request), and has come (must_dispatch).
    awaits: bool,
    has_come: bool,
    /// It has come, and the queue is being run for it.
    is_run: bool,
    /// A process that was waited for has sent a request: no other one is let into a full queue.
    has_let_in: bool,
    /// When the wait ends, if it has not; and since when the device is kept idle.
    timer: Option<Time>,
    idle_since: Option<Time>,
}

impl Turn {
    fn new(queue: QueueId) -> Self {
        Turn {
            queue,
            slice_end: None,
            dispatched: 0,
            looked_at_oldest: false,
            process: None,
            awaits: false,
            has_come: false,
            is_run: false,
            has_let_in: false,
            timer: None,
            idle_since: None,
        }
    }

    /// Whether the slice is over.
    fn is_over(&self, now: Time) -> bool {
        self.slice_end.is_some_and(|end| end <= now)
    }

    /// Whether the process that is waited for gets a place in a full queue.
    pub fn lets_in(&self) -> bool {
        self.awaits && !self.has_let_in
    }

    /// When the wait ends, if it has not.
    pub fn timer_ns(&self) -> Option<Nanos> {
        self.timer.map(|at| at as Nanos)
    }

    /// The queue has been run for a request that was waited for. The kernel notes only now that it has come, though it may have gone
    /// (cfq_rq_enqueued).
    pub fn has_run(&mut self) {
        self.has_come |= std::mem::take(&mut self.is_run);
    }

    /// The device is not kept idle any more.
    fn stop_idling(&mut self, now: Time, cx: &mut Cx) {
        if let Some(since) = self.idle_since.take() {
            cx.counters.idle_wait_ns += (now - since) as Nanos;
        }
    }
}

impl Cfq {
    /// Gives a queue its place in the order of turns (cfq_service_tree_add).
    pub(super) fn place(&mut self, id: QueueId, now: Time) {
        let queue = &self.queues[id];
        if queue.is_idle_class() {
            let last = self.order.last().filter(|&&last| last != id);
            let behind = last.map_or(now, |&last| self.queues[last].key);
            return self.put(id, behind + IDLE_CLASS_DELAY_NS);
        }
        let others = self.order.iter().filter(|&&other| other != id).count() as Time;
        let shorter = self.rules.slice(true, 0) - self.rules.slice(queue.is_sync, queue.level);
        let key = now + others * shorter - queue.left_over;
        self.queues[id].left_over = 0;
        self.put(id, key);
    }

    /// Gives a queue the place before the first one.
    fn place_first(&mut self, id: QueueId, now: Time) {
        if self.queues[id].is_idle_class() {
            return self.place(id, now);
        }
        let first = self.order.first().map_or(now, |&first| self.queues[first].key);
        self.put(id, first - PREEMPTING_NS);
    }

    fn put(&mut self, id: QueueId, key: Time) {
        if let Some(at) = self.order.iter().position(|&other| other == id) {
            if self.queues[id].key == key {
                return;
            }
            self.order.remove(at);
        }
        self.queues[id].key = key;
        let rank = self.queues[id].rank();
        let before = self.order.iter().rposition(|&other| self.queues[other].rank() <= rank);
        self.order.insert(before.map_or(0, |before| before + 1), id);
    }

    /// The queue whose request goes to the device, if it may (cfq_select_queue).
    pub(super) fn select(&mut self, cx: &mut Cx) -> Option<QueueId> {
        let now = cx.now as Time;
        let mut cooperator = None;
        if let Some(turn) = &self.turn {
            let (id, queue) = (turn.queue, &self.queues[turn.queue]);
            if !turn.is_over(now) || turn.has_come {
                if !queue.is_empty() {
                    return Some(id);
                }
                cooperator = self.cooperator(id, cx.pool);
                if let Some(other) = cooperator {
                    plan_sharing(&mut self.queues, id, other);
                } else if turn.timer.is_some() || (queue.in_device > 0 && queue.may_idle) {
                    return None;
                }
            }
            self.expire(false, now, cx);
        }
        let id = cooperator.or(self.order.first().copied())?;
        self.turn = Some(Turn::new(id));
        cx.counters.batches += 1;
        Some(id)
    }

    /// Whether a queue may have one more request in the device (cfq_may_dispatch). If not, one of its requests or one that it
    /// has to wait for is there.
    pub(super) fn may_dispatch(&self, id: QueueId, now: Time) -> bool {
        let queue = &self.queues[id];
        let waits = match queue.is_sync {
            true => queue.may_idle && self.in_device[ASYNC] > 0,
            false => self.in_device[SYNC] + self.ready[SYNC] > 0,
        };
        if waits {
            return false;
        }
        let mut most = self.most_in_device(queue);
        if !queue.is_sync && self.rules.low_latency {
            let depth = ((now - self.sync_ended) / self.rules.slice_ns[SYNC]) as u64;
            most = most.min(if queue.in_device == 0 { depth.max(1) } else { depth });
        }
        queue.in_device < most
    }

    /// What is waited for when no request may go.
    pub(super) fn wait(&self) -> Choice {
        let timer = self.turn.as_ref().and_then(|turn| turn.timer);
        timer.map_or(Choice::WaitForEnd, |at| Choice::WaitUntil(at as Nanos))
    }

    /// Gives the next request of the queue whose turn it is (cfq_dispatch_request).
    pub(super) fn dispatch(&mut self, id: QueueId, cx: &mut Cx) -> RqId {
        let rq = self.chosen(id, cx);
        self.take(id, rq, cx.pool);
        self.enters_driver(rq, self.queues[id].is_sync, cx.pool);
        let Some(turn) = &mut self.turn else { return rq };
        turn.process.get_or_insert(cx.pool[rq].process);
        turn.dispatched += 1;
        turn.has_come = false;
        let queue = &self.queues[id];
        let is_full = !queue.is_sync && turn.dispatched >= self.rules.most_async(queue.level);
        if self.order.len() > 1 && (is_full || queue.is_idle_class()) {
            self.expire(false, cx.now as Time, cx);
        } else {
            let is_closed = !turn.is_over(cx.now as Time) && !queue.is_empty() && self.is_full(id);
            *cx.closed_ns = is_closed.then_some(cx.now);
        }
        rq
    }

    /// Whether a queue whose requests somebody waits for has as many in the device as it may.
    fn is_full(&self, id: QueueId) -> bool {
        let queue = &self.queues[id];
        queue.is_sync && !queue.is_idle_class() && queue.in_device >= self.most_in_device(queue)
    }

    /// How many requests a queue may have in the device: more while no other queue waits.
    fn most_in_device(&self, queue: &CfqQueue) -> u64 {
        if queue.is_idle_class() {
            1
        } else if self.order.len() > 1 {
            self.rules.quantum
        } else {
            ALONE * self.rules.quantum
        }
    }

    /// The oldest request of a queue if it has expired, once in a turn (cfq_check_fifo); else the next one.
    fn chosen(&mut self, id: QueueId, cx: &mut Cx) -> RqId {
        let queue = &self.queues[id];
        let looks = self.turn.as_mut().is_some_and(|turn| !std::mem::replace(&mut turn.looked_at_oldest, true));
        let expired = if looks { queue.lists.expired(cx.now, cx.pool) } else { None };
        cx.counters.expired += u64::from(expired.is_some());
        let Some(rq) = expired.or(queue.next) else { unreachable!("the queue was selected for its request") };
        rq
    }

    /// A request has ended (cfq_completed_request).
    pub(super) fn completed(&mut self, rq: RqId, cx: &mut Cx) {
        let now = cx.now as Time;
        let id = super::queue_of(&cx.pool[rq]);
        self.ncq.sample(self.in_device[ASYNC] + self.in_device[SYNC], self.queued);
        let queue = &mut self.queues[id];
        queue.in_device -= 1;
        self.in_device[usize::from(queue.is_sync)] -= 1;
        if queue.is_sync {
            self.processes[usize::from(cx.pool[rq].process)].last_end = now;
            self.sync_ended = now;
        }
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.queue == id) {
            let end = *turn.slice_end.get_or_insert_with(|| now + self.rules.slice(queue.is_sync, queue.level));
            if end <= now || queue.is_idle_class() {
                self.expire(true, now, cx);
            } else if queue.is_sync && queue.is_empty() && self.cooperator(id, cx.pool).is_none() {
                self.start_idling(id, end - now, cx);
            }
        }
        self.release(id, cx);
    }

    /// Keeps the device idle for a queue, of whose slice some time is left, if that pays (cfq_arm_slice_timer).
    fn start_idling(&mut self, id: QueueId, left: Time, cx: &mut Cx) {
        let has_no_seeks = !self.rules.rotational && self.ncq.is_there;
        let queue = &self.queues[id];
        if has_no_seeks || self.rules.slice_idle_ns == 0 || !queue.may_idle || self.in_device != [0; 2] {
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        let Some(process) = turn.process else { return };
        let think = &self.processes[usize::from(process)].think;
        if think.is_valid() && left < think.mean(HALF) as Time {
            return;
        }
        let slice_idle_ns = self.rules.slice_idle_ns;
        let lasts_ns = if queue.distances.are_surely_seeky() { slice_idle_ns.min(MIN_THINK_NS) } else { slice_idle_ns };
        turn.awaits = true;
        turn.timer = Some((cx.now + lasts_ns) as Time);
        turn.idle_since = Some(cx.now as Time);
        cx.counters.idle_waits += 1;
    }

    /// The wait for a request ends if its time is over (cfq_idle_slice_timer). Nothing else has happened to the scheduler since
    /// then. Without other requests the turn goes on.
    #[inline(always)]
    pub(super) fn fire_timer(&mut self, cx: &mut Cx) {
        if let Some(turn) = &mut self.turn
            && let Some(at) = turn.timer.take_if(|at| *at <= cx.now as Time)
        {
            self.timer_fired(at, cx);
        }
    }

    #[cold]
    fn timer_fired(&mut self, at: Time, cx: &mut Cx) {
        let Some(turn) = &mut self.turn else { return };
        turn.stop_idling(at, cx);
        let gives_way = !self.order.is_empty() && self.queues[turn.queue].is_empty();
        if !turn.has_come && (turn.is_over(at) || gives_way) {
            self.expire(false, at, cx);
        }
    }

    /// A request comes to the queue whose turn it is.
    pub(super) fn awaited_came(&mut self, sectors: u64, cx: &mut Cx) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.awaits) else { return };
        turn.has_let_in = true;
        if sectors > PAGE_SECTORS || self.order.len() > 1 {
            turn.timer = None;
            turn.is_run = true;
            *cx.runs = true;
        } else {
            turn.has_come = true;
        }
        cx.counters.idle_hits += u64::from(turn.idle_since.is_some());
        turn.stop_idling(cx.now as Time, cx);
    }

    /// Whether a new request of a queue, whose turn it is not, ends the turn (cfq_should_preempt).
    pub(super) fn preempts(&self, id: QueueId, rq: &Rq, now: Time) -> bool {
        let Some(turn) = &self.turn else { return false };
        let (new, old) = (&self.queues[id], &self.queues[turn.queue]);
        if turn.is_over(now) {
            return true;
        }
        if new.is_idle_class() {
            return false;
        }
        let is_waited_for = new.is_sync && !old.is_sync;
        if old.is_idle_class() || is_waited_for || is_realtime(new) && !is_realtime(old) {
            return true;
        }
        turn.awaits && turn.process.is_some() && self.is_close(old, rq)
    }

    /// A queue is served next (cfq_preempt_queue).
    pub(super) fn preempt(&mut self, id: QueueId, cx: &mut Cx) {
        let now = cx.now as Time;
        cx.counters.preemptions += u64::from(self.turn.as_ref().is_some_and(|turn| !turn.is_over(now)));
        self.expire(true, now, cx);
        self.place_first(id, now);
        *cx.runs = true;
    }

    /// Ends the turn. `keeps_rest`: what was left of the slice moves the queue's next place (cfq_slice_expired).
    pub(super) fn expire(&mut self, keeps_rest: bool, now: Time, cx: &mut Cx) {
        *cx.closed_ns = None;
        let Some(mut turn) = self.turn.take() else { return };
        turn.stop_idling(now, cx);
        let queue = &mut self.queues[turn.queue];
        if let Some(end) = turn.slice_end.filter(|_| keeps_rest) {
            queue.left_over = end - now;
        }
        if !queue.is_empty() {
            self.place(turn.queue, now);
        }
    }
}

fn is_realtime(queue: &CfqQueue) -> bool {
    queue.class == PriorityClass::Realtime
}
