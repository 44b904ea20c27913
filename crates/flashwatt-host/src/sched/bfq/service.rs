//! Turns: which queue is served, for how long, and when the device is kept idle for it.

use super::queue::{BfqQueue, LARGE_SECTORS};
use super::raising::SOFT_NS;
use super::rate::RATE_SHIFT;
use super::{Bfq, Cx, Dispatch, IDLE, Idling, Nanos, QueueId, Queueing, RqId, Time, Why, is_far};

/// A queue whose weight is raised is waited for at least so long (bfq_arm_slice_timer).
const RAISED_IDLE_NS: Nanos = 20_000_000;
/// So many requests of others in the device may delay those of a raised queue (idling_needed_for_service_guarantees).
const OTHERS_IN_DEVICE: u32 = 4;
/// A shorter turn says nothing about a process's speed, and one this long does (bfq_bfqq_is_slow).
const SHORT_TURN_NS: Time = 1_000_000;
const LONG_TURN_NS: Time = 20_000_000;
/// A short turn is charged as this many ms: on a disk a seek (bfq_slice_idle), on flash BFQ_MIN_TT.
const SHORT_TURN_MS: [u64; 2] = [8, 2];
/// The time in ms that the longest budget stands for (bfq_bfqq_charge_time: bfq_timeout, HZ / 8).
const TIMEOUT_MS: u64 = 125;

impl Bfq {
    /// Whether to keep the device idle for a queue once it has no requests (bfq_better_to_idle).
    pub(super) fn is_worth_idling(&self, id: QueueId) -> bool {
        if self.is_strict {
            return true;
        }
        if self.slice_idle_ns == 0 || !self.queues[id].is_sync || self.fair[id].class == IDLE {
            return false;
        }
        self.idling_pays(id) || self.share_needs_idling(id)
    }

    /// Idling makes the device faster (idling_boosts_thr_without_issues): a disk that serves one request at a time always, a
    /// disk or a device that serves one at a time if the requests are in order and keep coming.
    fn idling_pays(&self, id: QueueId) -> bool {
        let one_at_a_time = self.queueing.is_absent();
        let pays = (self.rotational && one_at_a_time)
            || ((self.rotational || one_at_a_time) && self.queues[id].is_sequential_and_io_bound());
        pays && self.fair.raised_busy == 0
    }

    /// The queue would lose some of its share (idling_needed_for_service_guarantees).
    fn share_needs_idling(&self, id: QueueId) -> bool {
        let (entity, busy) = (&self.fair[id], self.fair.busy());
        let is_delayed = self.in_device >= entity.in_device + OTHERS_IN_DEVICE;
        (entity.raise > 1 && (self.fair.raised_busy < busy || is_delayed)) || self.fair.is_asymmetric(id) || busy == 1
    }

    fn must_idle(&self, id: QueueId) -> bool {
        self.queues[id].is_empty() && self.is_worth_idling(id)
    }

    /// The time of the turn is over, and that may end it now.
    fn is_timed_out(&self, id: QueueId, now: Time) -> bool {
        let much_left = self.fair.left(id) >= (self.fair[id].budget / 3) as i64;
        (self.idle.is_none() || much_left) && self.queues[id].timeout <= now
    }

    /// The queue whose request goes to the device (bfq_select_queue).
    pub(super) fn select(&mut self, cx: &mut Cx) -> Option<QueueId> {
        let now = cx.now as Time;
        let mut id = match self.served {
            Some(id) if self.is_timed_out(id, now) && !self.must_idle(id) => {
                self.expire(id, Why::Timeout, now, now, cx);
                self.serve_next(cx)?
            }
            Some(id) => id,
            None => self.serve_next(cx)?,
        };
        loop {
            let why = if self.queues[id].next.is_some() {
                if self.next_charge(id, cx) as i64 <= self.fair.left(id) {
                    self.stop_idling(now, cx);
                    return Some(id);
                }
                Why::Exhausted
            } else if self.idle.is_some() || (self.fair[id].in_device > 0 && self.is_worth_idling(id)) {
                return self.injected(id, cx);
            } else {
                Why::NoMore
            };
            self.expire(id, why, now, now, cx);
            id = self.serve_next(cx)?;
        }
    }

    /// Whether a queue has a request for which its budget is enough.
    fn can_go(&self, id: QueueId, cx: &Cx) -> bool {
        self.queues[id].next.is_some() && self.next_charge(id, cx) as i64 <= self.fair.left(id)
    }

    /// The served queue has no requests and is waited for: a queue whose request may go meanwhile. One that nobody waits for of
    /// the same process, one of the waker, one of a queue that is woken, or of another one up to the limit.
    fn injected(&mut self, id: QueueId, cx: &Cx) -> Option<QueueId> {
        let own = self.queues[id].process.and_then(|process| {
            let other = self.processes[usize::from(process)].asynchronous?;
            let next = self.queues[other].next?;
            (cx.pool[next].process == process).then_some(other)
        });
        let injection = &self.queues[id].injection;
        let known = [own, injection.waker, injection.woken.first().copied()];
        if let Some(known) = known.into_iter().flatten().find(|&known| self.can_go(known, cx)) {
            return Some(known);
        }
        let is_urgent = self.fair[id].raise > 1 && self.queues[id].thinks_shortly;
        let waits_long = self.idle.is_some_and(|idle| idle.since + self.slice_idle_ns as Time <= cx.now as Time);
        let mut limit = if waits_long && injection.is_unknown() { 1 } else { injection.limit };
        if self.idling_pays(id) || (is_urgent && self.fair.raised_busy < 2) || self.in_device >= limit {
            return None;
        }
        let found = self.fair.waiting().into_iter().find(|&other| {
            let Some(next) = self.queues[other].next else { return false };
            if (is_urgent && self.fair[other].raise == 1) || !self.can_go(other, cx) {
                return false;
            }
            let is_large = !self.rotational && cx.pool[next].sectors >= LARGE_SECTORS;
            limit = if is_large { limit.min(1) } else { injection.limit };
            self.in_device < limit
        });
        self.measurement.has_injected |= found.is_some();
        found
    }

    /// The next turn begins.
    fn serve_next(&mut self, cx: &mut Cx) -> Option<QueueId> {
        let now = cx.now as Time;
        let id = self.fair.serve_next(now)?;
        self.turns = (7 * self.turns + 256) / 8;
        self.rules.served(id, &mut self.queues[id], &self.fair, now);
        let (entity, queue) = (&self.fair[id], &mut self.queues[id]);
        let is_soft = queue.raising.lasts_ns == SOFT_NS;
        let turns = if is_soft { 1 } else { entity.weight / entity.own_weight };
        queue.looked_at_oldest = false;
        queue.timeout = now + self.timeout_ns * turns as Time;
        self.turn_began = now;
        self.served = Some(id);
        cx.counters.batches += 1;
        Some(id)
    }

    /// Gives the next request of a queue.
    pub(super) fn dispatch(&mut self, id: QueueId, cx: &mut Cx) -> RqId {
        let now = cx.now as Time;
        let Some(rq) = self.queues[id].next else { unreachable!("the queue was selected for its request") };
        let charge = self.next_charge(id, cx);
        self.charge(id, charge);
        if self.served == Some(id) {
            self.measurement.dispatched(rq);
        }
        self.fair[id].in_device += 1;
        let (sectors, end) = (cx.pool[rq].sectors, cx.pool[rq].end());
        let is_seeky = is_far(self.position, &cx.pool[rq], self.rotational);
        if self.rate.dispatched(&Dispatch { now, sectors, in_device: self.in_device, is_seeky }) {
            self.tune_budget();
        }
        self.position = end;
        self.remove(id, rq, cx, now);
        if self.served == Some(id) {
            self.rules.update(id, &mut self.queues[id], &mut self.fair, &self.rate, now);
            if self.fair.busy() > 1 && self.fair[id].class == IDLE {
                self.expire(id, Why::Exhausted, now, now, cx);
            }
        }
        self.in_device += 1;
        rq
    }

    fn charge(&mut self, id: QueueId, sectors: u64) {
        let raising = &mut self.queues[id].raising;
        raising.service += if self.fair[id].raise > 1 { sectors } else { 0 };
        raising.busy_service += sectors;
        self.fair.charge(id, sectors);
    }

    /// The longest budget is what the device moves in a turn at its peak rate (bfq_calc_max_budget).
    fn tune_budget(&mut self) {
        if self.user_budget == 0 {
            let timeout_us = self.timeout_ns as u64 / 1_000_000 * 1_000;
            self.max_budget = (self.rate.peak * timeout_us) >> RATE_SHIFT;
        }
    }

    /// A request has ended (bfq_completed_request).
    pub(super) fn completed(&mut self, id: QueueId, rq: RqId, cx: &mut Cx) {
        let now = cx.now as Time;
        let (injection, most) = (&mut self.queues[id].injection, self.queueing.most());
        injection.ended(rq, self.in_device, most, now, &mut self.measurement);
        let held_back = self.served.is_some_and(|served| {
            let requests = self.fair[served].in_device + self.queues[served].queued;
            self.queues[served].thinks_shortly && Queueing::are_few(requests)
        });
        self.queueing.sample(self.in_device, self.queued, held_back);
        self.in_device -= 1;
        self.fair[id].in_device -= 1;
        if self.fair[id].in_device == 0 && !self.fair[id].is_busy {
            self.queues[id].timeout = now;
            self.fair.forget_weight(id);
        }
        self.queues[id].last_end = now;
        self.measurement.note_end(id, now);
        if self.rate.ended(now) {
            self.tune_budget();
        }
        self.rules.ended(id, &mut self.queues[id], &self.fair, now);
        if self.served != Some(id) {
            return;
        }
        if self.must_idle(id) {
            if self.fair[id].in_device == 0 {
                self.start_idling(id, now, cx);
            }
        } else if self.is_timed_out(id, now) {
            self.expire(id, Why::Timeout, now, now, cx);
        } else if self.queues[id].is_empty() && (self.fair[id].in_device == 0 || !self.is_worth_idling(id)) {
            self.expire(id, Why::NoMore, now, now, cx);
        }
    }

    fn start_idling(&mut self, id: QueueId, now: Time, cx: &mut Cx) {
        let entity = &self.fair[id];
        let lasts_ns = if self.queues[id].is_seeky() && entity.raise == 1 && !self.fair.is_asymmetric(id) {
            BfqQueue::short_wait_ns(self.slice_idle_ns)
        } else if entity.raise > 1 {
            self.slice_idle_ns.max(RAISED_IDLE_NS)
        } else {
            self.slice_idle_ns
        };
        cx.counters.idle_waits += 1;
        self.idle = Some(Idling { since: now, until: now + lasts_ns as Time });
    }

    fn stop_idling(&mut self, now: Time, cx: &mut Cx) {
        if let Some(idle) = self.idle.take() {
            cx.counters.idle_wait_ns += (now - idle.since) as u64;
        }
    }

    /// Ends the idling if its time is over (bfq_idle_slice_timer_body). Nothing else has happened to the scheduler since then.
    pub(super) fn end_idling_in_time(&mut self, cx: &mut Cx) {
        let Some(idle) = self.idle.filter(|idle| idle.until <= cx.now as Time) else { return };
        let now = idle.until;
        self.stop_idling(now, cx);
        let Some(id) = self.served else { return };
        if self.queues[id].timeout <= now {
            self.expire(id, Why::Timeout, idle.since, now, cx);
        } else if self.queues[id].is_empty() {
            self.expire(id, Why::TooIdle, idle.since, now, cx);
        }
    }

    /// A request has come to a queue: the one for which the device was kept idle?
    pub(super) fn awaited_came(&mut self, id: QueueId, cx: &mut Cx, now: Time) {
        if self.served != Some(id) || self.idle.is_none() {
            return;
        }
        cx.counters.idle_hits += 1;
        self.stop_idling(now, cx);
        if self.queues[id].timeout <= now {
            self.expire(id, Why::Timeout, now, now, cx);
        }
    }

    /// Ends the turn of the served queue, which has used the device until `until` (bfq_bfqq_expire).
    pub(super) fn expire(&mut self, id: QueueId, why: Why, until: Time, now: Time, cx: &mut Cx) {
        let (is_slow, ms) = self.speed(id, until);
        let much_left = self.fair.left(id) >= (self.fair[id].budget / 3) as i64;
        if self.fair[id].raise == 1 && (is_slow || (why == Why::Timeout && much_left)) {
            self.charge_time(id, ms);
        }
        self.rules.expired(id, &mut self.queues[id], &self.fair, now);
        self.measurement.stop();
        self.recalculate_budget(id, why, cx);
        if self.queues[id].is_empty() && !(why == Why::Preempted && self.share_needs_idling(id)) {
            if self.fair[id].in_device == 0 {
                self.queues[id].timeout = now;
            }
            self.fair.remove_busy(id, true, now);
        } else {
            self.fair.requeue(id, true, now);
        }
        self.stop_idling(now, cx);
        self.served = None;
        self.fair.end_service();
        if !self.fair[id].is_busy && !matches!(why, Why::Timeout | Why::Exhausted) {
            self.queues[id].awaits = true;
        } else {
            self.fair[id].service = 0;
        }
    }

    /// Whether the served queue has used little in its turn, which ended at `end`; and how long that was, in ms
    /// (bfq_bfqq_is_slow).
    fn speed(&self, id: QueueId, end: Time) -> (bool, u64) {
        if !self.queues[id].is_sync {
            return (false, 0);
        }
        let lasted = end - self.turn_began;
        let is_seeky = self.queues[id].is_seeky();
        if lasted < SHORT_TURN_NS {
            return (is_seeky, SHORT_TURN_MS[usize::from(!self.rotational)]);
        }
        let is_slow = if lasted > LONG_TURN_NS { self.fair[id].service < self.max_budget / 2 } else { is_seeky };
        (is_slow, (lasted / 1_000_000) as u64)
    }

    /// Charges a queue with what the device could have moved in its turn (bfq_bfqq_charge_time).
    fn charge_time(&mut self, id: QueueId, ms: u64) {
        let entity = &self.fair[id];
        let by_time = if ms > 0 && ms < TIMEOUT_MS { self.max_budget * ms / TIMEOUT_MS } else { 0 };
        let total = by_time.max(entity.service);
        let more = total - entity.service;
        self.fair[id].budget = entity.budget.max(total);
        self.charge(id, more);
    }

    /// The next budget of a queue, after how its turn ended (__bfq_bfqq_recalc_budget).
    fn recalculate_budget(&mut self, id: QueueId, why: Why, cx: &Cx) {
        let least = self.least_budget();
        let (entity, old) = (&self.fair[id], self.queues[id].max_budget);
        let budget = match why {
            _ if !self.queues[id].is_sync => self.max_budget,
            _ if entity.raise > 1 => 2 * least,
            Why::TooIdle if entity.in_device > 0 => (2 * old).min(self.max_budget),
            Why::TooIdle if old > 5 * least => old - 4 * least,
            Why::TooIdle => least,
            Why::Timeout => (2 * old).min(self.max_budget),
            Why::Exhausted => (4 * old).min(self.max_budget),
            Why::NoMore => entity.service.max(least),
            Why::Preempted => return,
        };
        let is_tuned = self.turns >= super::KNOWN_TURNS && self.user_budget == 0;
        self.queues[id].max_budget = if is_tuned { budget.min(self.max_budget) } else { budget };
        if self.queues[id].next.is_some() {
            self.fair[id].budget = self.queues[id].max_budget.max(self.next_charge(id, cx));
        }
    }
}
