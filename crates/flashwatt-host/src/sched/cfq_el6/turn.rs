//! Turns: which queue is served, for how long, and when the device is kept idle for it.

use super::queue::{IDLE, QueueId};
use super::{ASYNC, CfqEl6, NCQ_REQUESTS, NCQ_SAMPLES, SYNC, Tick, queue_of, tick};
use crate::pool::{Rq, RqId};
use crate::sched::cfq::PAGE_SECTORS;
use crate::sched::fading::HALF;
use crate::sched::sharing::plan_sharing;
use crate::sched::{Choice, Cx, JIFFY_NS};
use flashwatt_base::units::Nanos;

/// A turn of a queue.
#[derive(Debug, Default)]
pub struct Turn {
    pub queue: QueueId,
    /// When the slice is over; none until a request ends.
    slice_end: Option<Tick>,
    /// Requests that left the scheduler.
    dispatched: u64,
    /// The oldest request has been looked at.
    looked_at_oldest: bool,
    /// The process that sent its first request.
    process: Option<u16>,
    /// The next request of that process is waited for (wait_request), and has come (must_dispatch).
    awaits: bool,
    has_come: bool,
    /// A process that was waited for has sent a request: no other one is let into a full queue.
    has_let_in: bool,
    /// The only queue is waited for, beyond its slice (wait_busy): with its next request the turn ends.
    outlasts: bool,
    /// When the wait ends, if it has not; and since when, in ns, the device is kept idle.
    timer: Option<Tick>,
    idle_since_ns: Option<Nanos>,
}

impl Turn {
    /// Whether the slice is over.
    fn is_over(&self, now: Tick) -> bool {
        self.slice_end.is_some_and(|end| end <= now)
    }

    /// Whether the process that is waited for gets a place in a full queue.
    pub fn lets_in(&self) -> bool {
        self.awaits && !self.has_let_in
    }

    /// When the wait ends, if it has not.
    pub fn timer_ns(&self) -> Option<Nanos> {
        self.timer.map(|at| at as Nanos * JIFFY_NS)
    }

    /// The device is not kept idle any more.
    fn stop_idling(&mut self, now_ns: Nanos, cx: &mut Cx) {
        if let Some(since) = self.idle_since_ns.take() {
            cx.counters.idle_wait_ns += now_ns - since;
        }
    }
}

/// How a turn goes on.
enum Step {
    Serve,
    Wait,
    End,
    GiveTo(QueueId),
}

impl CfqEl6 {
    /// The queue whose request goes to the driver, if it may (cfq_select_queue). There is a queued request.
    pub(super) fn select(&mut self, now: Tick, cx: &mut Cx) -> Option<QueueId> {
        let mut other = None;
        if let Some(turn) = &self.turn {
            let id = turn.queue;
            match self.step(turn, now, cx) {
                Step::Serve => return Some(id),
                Step::Wait => return None,
                Step::End => {}
                Step::GiveTo(queue) => {
                    plan_sharing(&mut self.queues, id, queue);
                    other = Some(queue);
                }
            }
            self.expire(false, now, cx);
        }
        if other.is_none() {
            self.choose_work(now);
        }
        let queue = other.or_else(|| self.trees.first(self.work.tree()))?;
        self.turn = Some(Turn { queue, ..Turn::default() });
        cx.counters.batches += 1;
        Some(queue)
    }

    fn step(&self, turn: &Turn, now: Tick, cx: &Cx) -> Step {
        let queue = &self.queues[turn.queue];
        if turn.outlasts && !queue.is_empty() {
            return Step::End;
        }
        let waits_for_end = queue.in_flight > 0 && self.should_idle(turn.queue);
        if turn.is_over(now) && !turn.has_come {
            let is_alone = self.trees.all() == 1 && queue.is_empty();
            return if is_alone && waits_for_end { Step::Wait } else { Step::End };
        }
        if !queue.is_empty() {
            return Step::Serve;
        }
        match self.cooperator(turn.queue, cx.pool) {
            Some(other) => Step::GiveTo(other),
            None if turn.timer.is_some() || waits_for_end => Step::Wait,
            None => Step::End,
        }
    }

    /// Whether the device has no seeks to be saved: it has no rotating parts and serves several requests at a time.
    fn has_no_seeks(&self) -> bool {
        !self.rules.rotational && !self.ncq.is_denied
    }

    /// Whether it pays to keep the device idle for a queue (cfq_should_idle): also for the last one of its tree.
    fn should_idle(&self, id: QueueId) -> bool {
        let queue = &self.queues[id];
        if queue.tree == Some(IDLE) || queue.is_idle_class() || self.rules.slice_idle == 0 {
            return false;
        }
        let is_last = queue.tree.is_some_and(|tree| self.trees.count(tree) == 1);
        (queue.may_idle && !self.has_no_seeks()) || (is_last && queue.is_sync)
    }

    /// Whether a queue may have one more request in the driver (cfq_may_dispatch).
    pub(super) fn may_dispatch(&self, id: QueueId, now: Tick) -> bool {
        let queue = &self.queues[id];
        let waits = match queue.is_sync {
            true => self.in_flight[ASYNC] > 0 && self.should_idle(id),
            false => self.in_flight[SYNC] > 0,
        };
        if waits {
            return false;
        }
        let few = if queue.is_idle_class() { 1 } else { (self.rules.quantum / 2).max(1) };
        let mut most = few;
        if queue.in_flight >= few {
            let is_alone = self.trees.all() == 1;
            if queue.is_idle_class() || (!is_alone && self.is_over_soon(id, now)) {
                return false;
            }
            most = if is_alone { u64::MAX } else { self.rules.quantum };
        }
        if !queue.is_sync && self.rules.low_latency {
            let depth = ((now - self.last_late) / self.rules.slice[SYNC]) as u64;
            most = most.min(if queue.in_flight == 0 { depth.max(1) } else { depth });
        }
        queue.in_flight < most
    }

    /// Whether the requests that a queue has in the driver are likely to last as long as its slice (cfq_slice_used_soon).
    fn is_over_soon(&self, id: QueueId, now: Tick) -> bool {
        let turn = self.turn.as_ref().filter(|turn| turn.queue == id);
        let lasts = self.rules.slice_idle * self.queues[id].in_flight as Tick;
        turn.and_then(|turn| turn.slice_end).is_none_or(|end| now + lasts > end)
    }

    /// What is waited for when no request may go.
    pub(super) fn wait(&self) -> Choice {
        let timer = self.turn.as_ref().and_then(Turn::timer_ns);
        timer.map_or(Choice::WaitForEnd, Choice::WaitUntil)
    }

    /// Gives the next request of the queue whose turn it is (cfq_dispatch_requests).
    pub(super) fn dispatch(&mut self, id: QueueId, now: Tick, cx: &mut Cx) -> RqId {
        let rq = self.chosen(id, cx);
        self.take(id, rq, cx.pool);
        self.enters_driver(rq, cx.pool);
        let Some(turn) = &mut self.turn else { return rq };
        turn.process.get_or_insert(cx.pool[rq].process);
        turn.dispatched += 1;
        turn.has_come = false;
        let queue = &self.queues[id];
        let is_full = !queue.is_sync && turn.dispatched >= self.rules.most_async(queue.level);
        if self.trees.all() > 1 && (is_full || queue.is_idle_class()) {
            self.expire(false, now, cx);
        }
        rq
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

    /// Learns whether the device has NCQ, when a request ends (cfq_update_hw_tag).
    fn sample_ncq(&mut self) {
        self.ncq.peak = self.ncq.peak.max(self.in_driver);
        let is_idle = self.queued <= NCQ_REQUESTS && self.in_driver <= NCQ_REQUESTS;
        if self.ncq.is_proven || is_idle {
            return;
        }
        if let Some(turn) = &self.turn {
            let queue = &self.queues[turn.queue];
            let has_few = queue.in_flight + queue.queued < u64::from(NCQ_REQUESTS);
            if queue.may_idle && has_few && self.in_driver < NCQ_REQUESTS {
                return;
            }
        }
        self.ncq.samples += 1;
        if self.ncq.samples > NCQ_SAMPLES {
            self.ncq.is_proven = self.ncq.peak >= NCQ_REQUESTS;
            self.ncq.is_denied = !self.ncq.is_proven;
        }
    }

    /// A request has ended (cfq_completed_request).
    pub(super) fn completed(&mut self, rq: RqId, now: Tick, cx: &mut Cx) {
        let Rq { is_sync, process, expires_ns, .. } = cx.pool[rq];
        let id = queue_of(&cx.pool[rq]);
        self.sample_ncq();
        self.in_driver -= 1;
        let queue = &mut self.queues[id];
        queue.in_flight -= 1;
        self.in_flight[usize::from(queue.is_sync)] -= 1;
        if is_sync {
            self.processes[usize::from(process)].last_end = now;
            if tick(expires_ns) <= now {
                self.last_late = now;
            }
        }
        if self.turn.as_ref().is_some_and(|turn| turn.queue == id) {
            self.goes_on(id, is_sync, now, cx);
        }
        self.release(id, now, cx);
    }

    /// A request of the queue has ended whose turn it is.
    fn goes_on(&mut self, id: QueueId, is_sync: bool, now: Tick, cx: &mut Cx) {
        let has_slice = self.turn.as_ref().is_some_and(|turn| turn.slice_end.is_some());
        let slice = if has_slice { 0 } else { self.slice_of(id) };
        let (thinks, is_alone, idle) = (self.mean_think(), self.trees.all() == 1, self.rules.slice_idle);
        let Some(turn) = &mut self.turn else { return };
        let end = turn.slice_end.get_or_insert(now + slice);
        let is_short = *end <= now || *end == now + 1 || thinks.is_some_and(|think| *end - now < think);
        if is_alone && is_short {
            *end = now + idle;
            turn.outlasts = true;
        }
        let left = *end - now;
        let queue = &self.queues[id];
        if left <= 0 || queue.is_idle_class() {
            self.expire(true, now, cx);
        } else if is_sync && queue.is_empty() && self.cooperator(id, cx.pool).is_none() {
            self.start_idling(id, left, now, cx);
        }
    }

    /// The mean think time of the process whose turn it is, if it is known.
    fn mean_think(&self) -> Option<Tick> {
        let think = &self.processes[usize::from(self.turn.as_ref()?.process?)].think;
        think.is_valid().then(|| think.mean(HALF) as Tick)
    }

    /// Keeps the device idle for a queue, of whose slice some time is left, if that pays (cfq_arm_slice_timer).
    fn start_idling(&mut self, id: QueueId, left: Tick, now: Tick, cx: &mut Cx) {
        if self.has_no_seeks() || !self.should_idle(id) || self.queues[id].in_flight > 0 {
            return;
        }
        if self.mean_think().is_some_and(|think| left < think) {
            return;
        }
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.process.is_some()) else { return };
        turn.awaits = true;
        turn.timer = Some(now + self.rules.slice_idle);
        turn.idle_since_ns = Some(cx.now);
        cx.counters.idle_waits += 1;
    }

    /// The wait for a request ends if its time is over (cfq_idle_slice_timer). Nothing else has happened to the scheduler since
    /// then.
    #[inline(always)]
    pub(super) fn fire_timer(&mut self, cx: &mut Cx) {
        if let Some(turn) = &mut self.turn
            && let Some(at) = turn.timer.take_if(|at| *at as Nanos * JIFFY_NS <= cx.now)
        {
            self.timer_fired(at, cx);
        }
    }

    #[cold]
    fn timer_fired(&mut self, at: Tick, cx: &mut Cx) {
        let Some(turn) = &mut self.turn else { return };
        turn.stop_idling(at as Nanos * JIFFY_NS, cx);
        let (is_over, id) = (turn.is_over(at), turn.queue);
        if turn.has_come || (!is_over && !self.queues[id].is_empty()) {
            return;
        }
        self.queues[id].is_deep &= is_over;
        self.expire(false, at, cx);
    }

    /// A request comes: what it says about its process and its queue, and whether it changes the turn (cfq_rq_enqueued).
    pub(super) fn came(&mut self, id: QueueId, rq: RqId, now: Tick, cx: &mut Cx) {
        let longest = 2 * self.rules.slice_idle;
        let process = &mut self.processes[usize::from(cx.pool[rq].process)];
        process.think.add((now - process.last_end).min(longest) as u64);
        let queue = &mut self.queues[id];
        queue.distances.sample(&cx.pool[rq]);
        queue.judge(&process.think, &self.rules);
        if self.turn.as_ref().is_some_and(|turn| turn.queue == id) {
            self.awaited_came(cx.pool[rq].sectors, cx);
        } else if self.preempts(id, &cx.pool[rq], now) {
            self.preempt(id, now, cx);
        }
    }

    /// A request comes to the queue whose turn it is. If others wait, or it is long, it goes at once.
    fn awaited_came(&mut self, sectors: u64, cx: &mut Cx) {
        let others_wait = self.trees.all() > 1;
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.awaits) else { return };
        turn.has_let_in = true;
        if sectors > PAGE_SECTORS || others_wait {
            (turn.timer, turn.awaits) = (None, false);
            *cx.runs = true;
        } else {
            turn.has_come = true;
        }
        cx.counters.idle_hits += u64::from(turn.idle_since_ns.is_some());
        turn.stop_idling(cx.now, cx);
    }

    /// Whether a new request of a queue, whose turn it is not, ends the turn (cfq_should_preempt).
    fn preempts(&self, id: QueueId, rq: &Rq, now: Tick) -> bool {
        let Some(turn) = &self.turn else { return false };
        let (new, old) = (&self.queues[id], &self.queues[turn.queue]);
        if new.is_idle_class() || old.is_idle_class() {
            return !new.is_idle_class();
        }
        if (rq.is_sync && !old.is_sync) || turn.is_over(now) {
            return true;
        }
        let both_are_seeky = self.work.is_without_idling() && new.is_sync && !new.may_idle;
        let is_next = both_are_seeky && new.tree.is_some_and(|tree| self.trees.count(tree) == 2) && old.is_empty();
        if is_next || (new.is_realtime() && !old.is_realtime()) {
            return true;
        }
        turn.awaits && turn.process.is_some() && self.is_close(turn.queue, rq)
    }

    /// A queue is served next (cfq_preempt_queue).
    fn preempt(&mut self, id: QueueId, now: Tick, cx: &mut Cx) {
        cx.counters.preemptions += u64::from(self.turn.as_ref().is_some_and(|turn| !turn.is_over(now)));
        self.expire(true, now, cx);
        self.place(id, true, now);
        *cx.runs = true;
    }

    /// Ends the turn. `keeps_rest`: what was left of the slice moves the queue's next place (cfq_slice_expired).
    pub(super) fn expire(&mut self, keeps_rest: bool, now: Tick, cx: &mut Cx) {
        let Some(mut turn) = self.turn.take() else { return };
        turn.stop_idling(cx.now, cx);
        let queue = &mut self.queues[turn.queue];
        queue.is_split |= queue.is_shared && queue.distances.are_seeky();
        if let Some(end) = turn.slice_end.filter(|_| keeps_rest) {
            queue.left_over = end - now;
        }
        self.work.save(now);
        if queue.is_empty() {
            self.unplace(turn.queue);
        } else {
            self.place(turn.queue, false, now);
            self.can_be_found(turn.queue, cx.pool);
        }
    }
}
