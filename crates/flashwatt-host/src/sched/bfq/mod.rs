//! BFQ: each process in turn has the device for a budget of sectors (Linux 6.1, block/bfq-iosched.c and block/bfq-wf2q.c).
//!
//! The requests of a process that somebody waits for are a queue; those that nobody waits for are queues by priority. The
//! queues take turns. Which is next is decided by weights (B-WF2Q+, [`fair`]): over time each gets sectors in proportion to its
//! weight. A turn ends when the budget or the time is used up, or when no request comes any more. In its turn a queue goes to
//! the nearest request, and once to the oldest if that has expired. A queue that has none left may keep the device idle for
//! some ms, if that pays on this device or if its share depends on it; meanwhile requests of others go as far as they do it
//! no harm ([`injection`]). How a turn ends changes the next budget. Queues that use little of their budget in their time are
//! charged with the time. Queues that seem interactive have a higher weight for some seconds ([`raising`]).
//!
//! Deviations, each with where it shows:
//! - Queues are not merged: neither those of processes that read one region in turns (on disks, and on devices that serve one
//!   request at a time), nor those that come into being within 600 ms of each other (bfq_do_or_sched_stable_merge). The kernel
//!   takes the latter to be one job, and does not share the device fairly among them.
//! - A process does not end, and so the device may be kept idle for one that has sent its last request.
//! - Requests that nobody waits for hold at most half of the queue's places. The kernel also bounds writes that somebody waits for
//!   to three quarters, and both to less while a queue is raised.
//! - A queue whose class changes while it has requests is counted in its new class, which the kernel forgets.
//! - No groups of processes; requests for file systems' own data have no precedence; times in ns, where the kernel has jiffies.
//!   Forced writes go through the scheduler, and trims are not merged.

mod fair;
mod injection;
mod queue;
mod raising;
mod rate;
mod service;
mod time;

use fair::{Fair, IDLE, QueueId};
use injection::{First, Measurement};
use queue::{BfqQueue, Time, is_far};
use raising::{Bursts, REFERENCE, Rules};
use rate::{Dispatch, Queueing, Rate};

use super::seek::Seek;
use super::{
    Choice, Cx, Decides, Generation, Merging, Parameters, Recipe, Registered, Scheduler, Setup, switch, time_ms,
};
use crate::pool::{Rq, RqId};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::registry::Param;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Priority;

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "bfq",
    doc: "turns of processes with budgets in sectors, shared by weight, and idling (Linux 6.1)",
    params: &[
        time_ms("fifo_expire_sync_ms", "a request that somebody waits for goes first at this age (HZ / 8)", 125.0),
        time_ms("fifo_expire_async_ms", "a request that nobody waits for goes first at this age (HZ / 4)", 250.0),
        large("back_seek_max_kib", "how far a queue goes back to a request (bfq_back_max)", 16_384.0, 0.0),
        large("back_seek_penalty", "how many times a way back counts (bfq_back_penalty)", 2.0, 1.0),
        time_ms("slice_idle_ms", "how long the device is kept idle for a queue (bfq_slice_idle); 0: never", 8.0),
        large("max_budget", "sectors of a turn at most; 0: what the device moves in a turn", 0.0, 0.0),
        Param { min: 1.0, ..time_ms("timeout_sync_ms", "a turn lasts this long (bfq_timeout, HZ / 8)", 125.0) },
        switch("strict_guarantees", "one request in the device at a time, and always idle? (0 or 1)", 0.0),
        switch("low_latency", "raise the weights of queues that seem interactive? (0 or 1)", 1.0),
    ],
    build: Recipe {
        generation: Generation::Multi,
        async_share: ASYNC_SHARE,
        queues: true,
        tells_disks: true,
        tick_ns: 1,
        decides: Decides::Order,
        make,
    },
};

/// The places for requests that nobody waits for (bfq_update_depths).
const ASYNC_SHARE: f64 = 0.5;
/// Sectors of a turn at most, until the device is known (bfq_default_max_budget).
const DEFAULT_BUDGET: u64 = 16 * 1024;
/// The device is known when a measure of the turns so far has grown to this (bfq_stats_min_budgets): after eleven.
const KNOWN_TURNS: u64 = 194;
/// A request that nobody waits for is charged as this many requests of its length (bfq_async_charge_factor).
const ASYNC_CHARGE: u64 = 3;
/// Weight of a level of priority below the last one (BFQ_WEIGHT_CONVERSION_COEFF).
const LEVEL_WEIGHT: u64 = 10;
const LEVELS: usize = 8;

const fn large(name: &'static str, doc: &'static str, default: f64, min: f64) -> Param {
    Param { name, doc, default, min, max: 1e9, integer: true }
}

fn make(parameters: &Parameters, setup: &Setup) -> Box<dyn Scheduler> {
    let is_strict = parameters.is_on("strict_guarantees");
    let given_ns = parameters.ms("slice_idle_ms");
    // bfq_strict_guarantees_store: no less than 8 ms.
    let slice_idle_ns = if is_strict { given_ns.max(8_000_000) } else { given_ns };
    let user_budget = parameters.count("max_budget");
    Box::new(Bfq {
        expire_ns: [parameters.ms("fifo_expire_async_ms"), parameters.ms("fifo_expire_sync_ms")],
        seek: Seek {
            back_max: 2 * parameters.count("back_seek_max_kib"),
            back_penalty: parameters.count("back_seek_penalty"),
        },
        slice_idle_ns,
        timeout_ns: parameters.ms("timeout_sync_ms") as Time,
        is_strict,
        rotational: setup.rotational,
        user_budget,
        max_budget: if user_budget > 0 { user_budget } else { DEFAULT_BUDGET },
        turns: 0,
        queues: FlatTable::default(),
        fair: Fair::default(),
        processes: Vec::new(),
        async_queues: Default::default(),
        served: None,
        turn_began: 0,
        idle: None,
        position: 0,
        queued: 0,
        in_device: 0,
        measurement: Measurement::default(),
        rate: Rate::new(REFERENCE[usize::from(!setup.rotational)].0 * 2 / 3),
        queueing: Queueing::default(),
        bursts: Bursts::default(),
        rules: Rules {
            is_on: parameters.is_on("low_latency"),
            rotational: setup.rotational,
            slice_idle_ns: slice_idle_ns as Time,
        },
    })
}

struct Bfq {
    /// Of requests that nobody waits for, and of those that somebody waits for.
    expire_ns: [Nanos; 2],
    seek: Seek,
    slice_idle_ns: Nanos,
    timeout_ns: Time,
    is_strict: bool,
    rotational: bool,
    /// Sectors of a turn at most as the user gives them, or 0; and those in force.
    user_budget: u64,
    max_budget: u64,
    /// Grows to 256 with the turns.
    turns: u64,
    queues: FlatTable<BfqQueue>,
    fair: Fair,
    processes: Vec<Process>,
    /// By class and level.
    async_queues: [[Option<QueueId>; LEVELS]; fair::CLASSES],
    served: Option<QueueId>,
    /// When the present turn began.
    turn_began: Time,
    /// The device is kept idle for the served queue.
    idle: Option<Idling>,
    /// Where the last dispatched request ended.
    position: u64,
    queued: u32,
    in_device: u32,
    measurement: Measurement,
    rate: Rate,
    queueing: Queueing,
    bursts: Bursts,
    rules: Rules,
}

/// The device is kept idle.
#[derive(Clone, Copy, Debug)]
struct Idling {
    since: Time,
    until: Time,
}

/// A process and its queues.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    priority: Option<Priority>,
    sync: Option<QueueId>,
    /// That of its last requests which nobody waits for.
    asynchronous: Option<QueueId>,
    /// Requests, queued or in the device.
    requests: u32,
}

/// Class and weight of a priority.
fn share(priority: Priority) -> (usize, u64) {
    let class = priority.class() as usize;
    let level = if class == IDLE { LEVELS - 1 } else { usize::from(priority.level()) };
    (class, (LEVELS - level) as u64 * LEVEL_WEIGHT)
}

/// The queue of a queued request.
fn queue_of(rq: &Rq) -> QueueId {
    rq.group as usize - 1
}

impl Bfq {
    fn process(&mut self, number: u16) -> &mut Process {
        let at = usize::from(number);
        if self.processes.len() <= at {
            self.processes.resize(at + 1, Process::default());
        }
        &mut self.processes[at]
    }

    /// The queue of a new request.
    fn queue_for(&mut self, rq: &Rq, now: Time) -> QueueId {
        let (class, weight) = share(rq.priority);
        let process = self.process(rq.process);
        let changed = process.priority.replace(rq.priority).is_some_and(|old| old != rq.priority);
        let Process { sync, asynchronous, .. } = *process;
        if changed && let Some(id) = sync {
            self.fair.set_priority(id, class, weight);
        }
        if rq.is_sync {
            return sync.unwrap_or_else(|| {
                let id = self.create(Some(rq.process), class, weight, now);
                self.process(rq.process).sync = Some(id);
                for queue in self.bursts.add(id, self.fair.busy(), now) {
                    self.queues[queue].raising.in_large_burst = true;
                }
                id
            });
        }
        if let Some(id) = asynchronous.filter(|_| !changed) {
            return id;
        }
        let level = if class == IDLE { LEVELS - 1 } else { usize::from(rq.priority.level()) };
        let id = self.async_queues[class][level].unwrap_or_else(|| {
            let id = self.create(None, class, weight, now);
            self.async_queues[class][level] = Some(id);
            id
        });
        self.process(rq.process).asynchronous = Some(id);
        id
    }

    fn create(&mut self, process: Option<u16>, class: usize, weight: u64, now: Time) -> QueueId {
        self.queues.push(BfqQueue::new(process, 2 * self.most_budget() / 3, now));
        self.fair.create(class, weight)
    }

    /// Sectors of a turn at most, of which budgets are parts (bfq_max_budget).
    fn most_budget(&self) -> u64 {
        if self.turns < KNOWN_TURNS { DEFAULT_BUDGET } else { self.max_budget }
    }

    fn least_budget(&self) -> u64 {
        self.most_budget() / 32
    }

    /// What a queue is charged with for a request.
    fn charge_of(&self, id: QueueId, sectors: u64) -> u64 {
        let is_plain = self.queues[id].is_sync || self.fair[id].raise > 1 || self.fair.is_asymmetric(id);
        if is_plain { sectors } else { sectors * ASYNC_CHARGE }
    }

    /// What the queue is charged with for its next request; 0 without one.
    fn next_charge(&self, id: QueueId, cx: &Cx) -> u64 {
        self.queues[id].next.map_or(0, |next| self.charge_of(id, cx.pool[next].sectors))
    }

    /// The next request of a queue that waits for its turn has changed: its budget is enough for that one.
    fn update_budget(&mut self, id: QueueId, cx: &Cx, now: Time) {
        if self.queues[id].next.is_none() || self.served == Some(id) {
            return;
        }
        let entity = &self.fair[id];
        let budget = self.queues[id].max_budget.max(self.next_charge(id, cx)).max(entity.service);
        if entity.budget != budget {
            self.fair[id].budget = budget;
            self.fair.requeue(id, false, now);
        }
    }

    /// A queue gets its first request (bfq_bfqq_handle_idle_busy_switch). Returns whether it is interactive.
    fn becomes_busy(&mut self, id: QueueId, cx: &mut Cx, now: Time) -> bool {
        let arrival = self.rules.arrival(id, &self.queues[id], &self.fair, now);
        let comes_soon = now <= self.queues[id].last_end + 3 * self.slice_idle_ns as Time;
        let left = self.fair.left(id);
        let continues = self.queues[id].awaits && comes_soon && left > 0;
        let budget = self.queues[id].max_budget;
        self.fair[id].service = 0;
        self.fair[id].budget = if continues { budget.min(left as u64) } else { budget.max(self.next_charge(id, cx)) };
        let least = self.least_budget();
        let (queue, fair) = (&mut self.queues[id], &mut self.fair);
        if self.rules.begin(&arrival, id, queue, fair, &self.rate, now) {
            fair[id].budget = fair[id].budget.min(2 * least);
        }
        queue.is_new = false;
        queue.awaits = false;
        (queue.raising.busy_since, queue.raising.busy_service) = (now, 0);
        queue.raising.soft_awaits_end = false;
        fair.add_busy(id, continues, now);
        if let Some(waker) = queue.injection.waker {
            let woken = &mut self.queues[waker].injection.woken;
            woken.retain(|&other| other != id);
            woken.insert(0, id);
        }
        if let Some(served) = self.served
            && self.preempts(id, served, continues)
        {
            cx.counters.preemptions += 1;
            self.expire(served, Why::Preempted, now, now, cx);
        }
        arrival.is_interactive
    }

    /// A request comes: if its process has no other one, that says something about injection.
    fn came_first(&mut self, id: QueueId, process: u16, now: Time) {
        let process = &mut self.processes[usize::from(process)];
        process.requests += 1;
        let own = &mut self.queues[id];
        if !own.is_sync || process.requests > 1 {
            return;
        }
        let first = First {
            thinks_shortly: own.thinks_shortly,
            is_served: self.served == Some(id),
            in_device: self.in_device,
            slice_idle_ns: self.slice_idle_ns as Time,
        };
        let waker = own.injection.woken_by(id, &first, now, &self.measurement);
        own.injection.first_request(&first, now, &mut self.measurement);
        if let Some(waker) = waker {
            if let Some(old) = own.injection.waker.replace(waker) {
                self.queues[old].injection.woken.retain(|&other| other != id);
            }
            self.queues[waker].injection.woken.insert(0, id);
        }
    }

    /// Whether a queue that got its first request ends the turn of the served one.
    fn preempts(&self, id: QueueId, served: QueueId, continues: bool) -> bool {
        let (new, old) = (&self.fair[id], &self.fair[served]);
        let is_better = new.class < old.class || new.weight > old.weight;
        let recovers = continues && new.raise >= old.raise;
        (recovers || is_better || !self.is_worth_idling(served)) && self.fair.may_preempt()
    }

    /// A request leaves its queue, which takes up another one.
    fn remove(&mut self, id: QueueId, rq: RqId, cx: &mut Cx, now: Time) {
        if self.queues[id].next == Some(rq) {
            let (next, had_expired) = self.queues[id].following(rq, &self.seek, cx.now, cx.pool);
            cx.counters.expired += u64::from(had_expired);
            self.queues[id].next = next;
            self.update_budget(id, cx, now);
        }
        self.queues[id].lists.remove(rq, cx.pool);
        self.queues[id].queued -= 1;
        self.queued -= 1;
        if self.queues[id].is_empty() {
            self.queues[id].next = None;
            if self.fair[id].is_busy && self.served != Some(id) {
                self.fair.remove_busy(id, false, now);
                (self.fair[id].budget, self.fair[id].service) = (0, 0);
            }
        }
    }
}

/// Why a turn ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    /// The device was kept idle for it, and no request came.
    TooIdle,
    /// Its time is over.
    Timeout,
    /// Its budget is not enough for the next request.
    Exhausted,
    /// It has no more requests.
    NoMore,
    /// Another queue is served first.
    Preempted,
}

impl Scheduler for Bfq {
    fn merging(&self) -> Merging {
        Merging::Ends { fronts: true }
    }

    /// Two queued requests become one within a queue. A new piece may also go behind a request of another queue
    /// (blk_mq_sched_try_insert_merge), but in front only of one of its own.
    fn may_join(&self, queued: &Rq, piece: &Rq) -> bool {
        if piece.group != 0 {
            return piece.group == queued.group;
        }
        let own = self.processes.get(usize::from(piece.process));
        let own = own.and_then(|process| if piece.is_sync { process.sync } else { process.asynchronous });
        queued.end() == piece.first || own == Some(queue_of(queued))
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        let now = cx.now as Time;
        self.end_idling_in_time(cx);
        let queue = self.queue_for(&cx.pool[id], now);
        let rq = &mut cx.pool[id];
        rq.group = queue as u32 + 1;
        rq.expires_ns = cx.now + self.expire_ns[usize::from(rq.is_sync)];
        let (is_busy, in_device) = (self.fair[queue].is_busy, self.fair[queue].in_device);
        let own = &mut self.queues[queue];
        if in_device == 0 && !is_busy {
            own.sample_think_time(self.slice_idle_ns, now);
        }
        if own.is_sync && self.fair[queue].class != IDLE && self.slice_idle_ns > 0 {
            let changed = own.judge_think_time(self.slice_idle_ns);
            if changed {
                own.injection.think_time_changed(own.thinks_shortly, now, &mut self.measurement);
            }
        }
        own.sample_seek(rq, self.rotational);
        self.rules.check_seeks(queue, own, &mut self.fair, &self.rate, now);
        if own.is_sync {
            own.sample_intensity(own.is_empty() && in_device == 0, now);
        }
        self.came_first(queue, cx.pool[id].process, now);
        let own = &mut self.queues[queue];
        self.queued += 1;
        own.queued += 1;
        own.lists.add(id, cx.pool);
        let before = own.next;
        own.next = self.seek.nearer(own.next, Some(id), self.position, cx.pool);
        let (changed, old_raise) = (own.next != before, self.fair[queue].raise);
        let mut is_interactive = false;
        if !is_busy {
            is_interactive = self.becomes_busy(queue, cx, now);
        } else {
            if !cx.pool[id].is_sync {
                self.rules.begin_async(queue, own, &mut self.fair, &self.rate, now);
            }
            if changed {
                self.update_budget(queue, cx, now);
            }
        }
        self.rules.note_arrival(old_raise, is_interactive, queue, &mut self.queues[queue], &self.fair, now);
        self.awaited_came(queue, cx, now);
    }

    fn grown(&mut self, id: RqId, first: u64, cx: &mut Cx) {
        let queue = queue_of(&cx.pool[id]);
        let own = &mut self.queues[queue];
        let lower = own.lists.sorted.before(first, id);
        let passes = lower.is_some_and(|lower| cx.pool[id].first < cx.pool[lower].first);
        own.lists.moved(id, first, cx.pool);
        if passes {
            let before = own.next;
            own.next = self.seek.nearer(own.next, Some(id), self.position, cx.pool);
            if own.next != before {
                self.update_budget(queue, cx, cx.now as Time);
            }
        }
    }

    fn absorbed(&mut self, id: RqId, into: RqId, cx: &mut Cx) {
        let own = &mut self.queues[queue_of(&cx.pool[id])];
        if own.next == Some(id) {
            own.next = Some(into);
        }
        own.lists.absorb(id, into, cx.pool);
        own.queued -= 1;
        self.queued -= 1;
        self.processes[usize::from(cx.pool[id].process)].requests -= 1;
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        self.end_idling_in_time(cx);
        if self.queued == 0 {
            return Choice::Idle;
        }
        if self.is_strict && self.in_device > 0 {
            return Choice::WaitForEnd;
        }
        match self.select(cx) {
            Some(queue) => Choice::Dispatch(self.dispatch(queue, cx)),
            None => self.idle.map_or(Choice::WaitForEnd, |idle| Choice::WaitUntil(idle.until as Nanos)),
        }
    }

    fn ended(&mut self, id: RqId, cx: &mut Cx) {
        self.end_idling_in_time(cx);
        self.completed(queue_of(&cx.pool[id]), id, cx);
        self.processes[usize::from(cx.pool[id].process)].requests -= 1;
    }
}
