//! CFQ: each process in turn has the device for a slice of time (Linux 2.6.32, block/cfq-iosched.c).
//!
//! The requests of a process that somebody waits for are a queue; those that nobody waits for are queues by priority. The
//! queues take turns, and realtime ones go before all others, idle ones after all others. Within a class a queue is served when
//! its place comes: a place is a time, later for lower levels of priority and for queues that have had too much. A turn lasts
//! for a slice, which begins with the first request that ends in it and depends on the level. In its turn a queue goes to the
//! nearest request, and first to the oldest if that has expired. A queue that has none left keeps the device idle for some ms, if
//! its process usually asks for more soon: the next request is likely to lie near. A request that somebody waits for ends a turn of
//! requests that nobody waits for ([`turn`]). Processes that read one region in turns share a queue ([`sharing`]).
//!
//! Source: the file as of 2.6.32.71; earlier ones of the series were not compared. It has no trees by kind of work, no groups of
//! processes, and no slices that shrink with the number of queues: those belong to later kernels.
//!
//! Deviations, each with where it shows:
//! - Times are in ns, where the kernel has jiffies (HZ = 1000). Think times below 1 ms count as they are.
//! - A process does not end, and so the device may be kept idle for one that has sent its last request.
//! - A write that somebody waits for is taken for a direct one. After one of fsync (REQ_NOIDLE) the kernel does not idle.
//! - While a flush drains the queue the device may be kept idle. The kernel takes all requests out of the queues then.
//! - Of two close queues the nearer one is taken, where the kernel takes the one that its tree comes upon first.
//! - Requests for file systems' own data have no precedence. Forced writes and trims go through the scheduler; trims are not
//!   merged.

mod queue;
mod sharing;
mod turn;

use queue::{CfqQueue, QueueId, Time};
pub use queue::{LEVELS, level_of};
pub use turn::PAGE_SECTORS;
use turn::Turn;

use super::fading::FadingMean;
use super::seek::Seek;
use super::{
    Choice, Cx, Decides, Generation, Given, Merging, Parameters, Recipe, Registered, Scheduler, Setup, count, switch,
    time_ms,
};
use crate::pool::merging::Side;
use crate::pool::{Pool, Rq, RqId};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::registry::Param;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Priority;

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "cfq",
    doc: "turns of processes with slices of time by priority, and idling (Linux 2.6.32)",
    params: &[
        count("quantum", "requests of a process in the device while others wait (cfq_quantum)", 4.0, 1.0),
        time_ms("fifo_expire_sync_ms", "a request that somebody waits for goes first at this age (HZ / 8)", 125.0),
        time_ms("fifo_expire_async_ms", "a request that nobody waits for goes first at this age (HZ / 4)", 250.0),
        count_to("back_seek_max_kib", "how far a queue goes back to a request (cfq_back_max)", 16_384.0, 0.0),
        count_to("back_seek_penalty", "how many times a way back counts (cfq_back_penalty)", 2.0, 1.0),
        slice("slice_sync_ms", "a turn at level 4 of requests that somebody waits for (HZ / 10)", 100.0),
        slice("slice_async_ms", "a turn at level 4 of requests that nobody waits for (HZ / 25)", 40.0),
        count("slice_async_rq", "scales the requests of such a turn (cfq_slice_async_rq)", 2.0, 1.0),
        time_ms("slice_idle_ms", "how long the device is kept idle for a queue (HZ / 125); 0: never", 8.0),
        switch("low_latency", "hold back requests that nobody waits for, idle for seeky queues? (0 or 1)", 1.0),
    ],
    build: Recipe {
        generation: Generation::Single,
        async_share: 1.0,
        queues: true,
        tells_disks: true,
        tick_ns: 1,
        decides: Decides::Order,
        make,
    },
};

/// A level of priority above or below level 4 is worth this part of a slice (CFQ_SLICE_SCALE).
pub const SLICE_SCALE: Time = 5;

const ASYNC: usize = 0;
const SYNC: usize = 1;

pub const fn count_to(name: &'static str, doc: &'static str, default: f64, min: f64) -> Param {
    Param { name, doc, default, min, max: 1e9, integer: true }
}

const fn slice(name: &'static str, doc: &'static str, default: f64) -> Param {
    Param { min: 1.0, ..time_ms(name, doc, default) }
}

fn make(parameters: &Parameters, setup: &Setup) -> Box<dyn Scheduler> {
    Box::new(Cfq {
        rules: Rules {
            quantum: parameters.count("quantum"),
            expire_ns: [parameters.ms("fifo_expire_async_ms"), parameters.ms("fifo_expire_sync_ms")],
            seek: Seek {
                back_max: 2 * parameters.count("back_seek_max_kib"),
                back_penalty: parameters.count("back_seek_penalty"),
            },
            slice_ns: [parameters.ms("slice_async_ms") as Time, parameters.ms("slice_sync_ms") as Time],
            slice_async_rq: parameters.count("slice_async_rq"),
            slice_idle_ns: parameters.ms("slice_idle_ms"),
            low_latency: parameters.is_on("low_latency"),
            rotational: setup.rotational,
        },
        queues: FlatTable::default(),
        free: Vec::new(),
        order: Vec::new(),
        processes: Vec::new(),
        async_queues: Default::default(),
        turn: None,
        position: 0,
        queued: 0,
        in_device: [0; 2],
        ready: [0; 2],
        sync_ended: 0,
        ncq: Ncq { is_there: true, samples: 0, peak: 0 },
    })
}

/// What the user has set.
#[derive(Debug)]
struct Rules {
    quantum: u64,
    /// Of requests that nobody waits for, and of those that somebody waits for.
    expire_ns: [Nanos; 2],
    seek: Seek,
    /// As `expire_ns`.
    slice_ns: [Time; 2],
    slice_async_rq: u64,
    slice_idle_ns: Nanos,
    low_latency: bool,
    rotational: bool,
}

impl Rules {
    /// The length of a turn (cfq_prio_slice).
    fn slice(&self, is_sync: bool, level: u8) -> Time {
        let base = self.slice_ns[usize::from(is_sync)];
        base + base / SLICE_SCALE * (4 - Time::from(level))
    }

    /// Requests of a turn that nobody waits for, while others wait (cfq_prio_to_maxrq).
    fn most_async(&self, level: u8) -> u64 {
        2 * self.slice_async_rq * (LEVELS as u64 - u64::from(level))
    }
}

struct Cfq {
    rules: Rules,
    queues: FlatTable<CfqQueue>,
    /// Numbers of queues that are not used.
    free: Vec<QueueId>,
    /// The queues with requests in the order of their turns.
    order: Vec<QueueId>,
    processes: Vec<Process>,
    /// By class and level.
    async_queues: [[Option<QueueId>; LEVELS]; 3],
    turn: Option<Turn>,
    /// Where the last dispatched request ended.
    position: u64,
    queued: u32,
    /// Requests in the device that nobody waits for, and those that somebody waits for.
    in_device: [u32; 2],
    /// Requests that were given at once and have not gone to the driver, as `in_device`.
    ready: [u32; 2],
    /// The last end of a request that somebody waits for.
    sync_ended: Time,
    ncq: Ncq,
}

/// A process and its queues.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    priority: Option<Priority>,
    /// Of requests that nobody waits for, and of those that somebody waits for.
    queues: [Option<QueueId>; 2],
    /// Times from its last end of a request to its next request.
    think: FadingMean,
    last_end: Time,
}

/// Whether the device serves several requests at a time (cfq_update_hw_tag).
#[derive(Debug)]
struct Ncq {
    is_there: bool,
    samples: u32,
    /// The most requests in the device since the last answer.
    peak: u32,
}

/// This number of requests in the device at a time shows that it has NCQ (CFQ_HW_QUEUE_MIN). A look counts only if more than this
/// are queued or in the device.
const NCQ_REQUESTS: u32 = 5;
/// Ends of requests until the next answer.
const NCQ_SAMPLES: u32 = 50;

impl Ncq {
    /// A request ends.
    fn sample(&mut self, in_device: u32, queued: u32) {
        self.peak = self.peak.max(in_device);
        if queued <= NCQ_REQUESTS && in_device <= NCQ_REQUESTS {
            return;
        }
        if self.samples < NCQ_SAMPLES {
            self.samples += 1;
            return;
        }
        *self = Ncq { is_there: self.peak >= NCQ_REQUESTS, samples: 0, peak: 0 };
    }
}

/// The queue of a queued request.
fn queue_of(rq: &Rq) -> QueueId {
    rq.group as QueueId - 1
}

impl Cfq {
    fn process(&mut self, number: u16, now: Time) -> &mut Process {
        let at = usize::from(number);
        if self.processes.len() <= at {
            self.processes.resize(at + 1, Process::default());
        }
        let process = &mut self.processes[at];
        if process.priority.is_none() {
            process.last_end = now;
        }
        process
    }

    /// The queue of a new request (cfq_set_request).
    fn queue_for(&mut self, rq: RqId, cx: &mut Cx) -> QueueId {
        let Rq { process: number, is_sync, priority, .. } = cx.pool[rq];
        let process = self.process(number, cx.now as Time);
        let changed = process.priority.replace(priority).is_some_and(|old| old != priority);
        let [asynchronous, sync] = process.queues;
        if changed && let Some(id) = sync {
            self.queues[id].set_priority(priority);
        }
        let known = if is_sync {
            sync.and_then(|id| self.current(number, id, cx))
        } else {
            asynchronous.filter(|_| !changed).or(*self.async_queue(priority))
        };
        let id = known.unwrap_or_else(|| self.create(is_sync, priority));
        self.processes[usize::from(number)].queues[usize::from(is_sync)] = Some(id);
        id
    }

    fn async_queue(&mut self, priority: Priority) -> &mut Option<QueueId> {
        &mut self.async_queues[priority.class() as usize][usize::from(level_of(priority))]
    }

    fn create(&mut self, is_sync: bool, priority: Priority) -> QueueId {
        let queue = CfqQueue::new(is_sync, priority);
        let id = match self.free.pop() {
            Some(id) => {
                self.queues[id] = queue;
                id
            }
            None => {
                self.queues.push(queue);
                self.queues.len() - 1
            }
        };
        if !is_sync {
            *self.async_queue(priority) = Some(id);
        }
        id
    }

    /// The queue that a process has now.
    fn queue_now(&self, process: u16, is_sync: bool) -> Option<QueueId> {
        self.processes.get(usize::from(process))?.queues[usize::from(is_sync)]
    }

    /// A request has come to a queue where an older one begins at its sector: that one goes. Returns whether it was the last one.
    #[cold]
    fn gives_way(&mut self, id: QueueId, rq: RqId, cx: &mut Cx) -> bool {
        self.queues[id].lists.remove(rq, cx.pool);
        self.make_way(id, cx.pool[rq].first, cx);
        let is_empty = self.queues[id].is_empty();
        self.queues[id].lists.add(rq, cx.pool);
        is_empty
    }

    /// The request of a queue that begins at this sector goes to the driver at once, since another one is going to begin there.
    fn make_way(&mut self, id: QueueId, first: u64, cx: &mut Cx) {
        if let Some(older) = self.queues[id].lists.sorted.beginning_at(first) {
            self.take(id, older, cx.pool);
            self.ready[usize::from(self.queues[id].is_sync)] += 1;
            *cx.closed_ns = None;
            cx.give_at_once(older, Given::BySector);
        }
    }

    /// Takes a request out of its queue for the driver (cfq_dispatch_insert).
    fn take(&mut self, id: QueueId, rq: RqId, pool: &mut Pool) {
        let queue = &mut self.queues[id];
        let around = queue.lists.remove(rq, pool);
        queue.next = self.rules.seek.neighbour_of_removed(around, self.position, &queue.lists.sorted, pool);
        queue.in_device += 1;
        self.left(id);
    }

    /// A request goes to the driver (cfq_activate_request).
    fn enters_driver(&mut self, rq: RqId, is_sync: bool, pool: &Pool) {
        self.in_device[usize::from(is_sync)] += 1;
        self.position = pool[rq].end();
    }

    /// A request leaves the queue's lists (cfq_remove_request).
    fn left(&mut self, id: QueueId) {
        self.queued -= 1;
        if self.queues[id].is_empty() {
            self.queues[id].next = None;
            self.order.retain(|&other| other != id);
        }
    }

    /// A request comes: what it says about its process and its queue, and whether it changes the turn (cfq_rq_enqueued).
    fn came(&mut self, id: QueueId, rq: RqId, cx: &mut Cx) {
        let now = cx.now as Time;
        let longest = 2 * self.rules.slice_idle_ns;
        let process = &mut self.processes[usize::from(cx.pool[rq].process)];
        process.think.add(((now - process.last_end) as Nanos).min(longest));
        let queue = &mut self.queues[id];
        queue.sample_distance(&cx.pool[rq], now);
        queue.judge(&process.think, self.ncq.is_there, &self.rules);
        if self.turn.as_ref().is_some_and(|turn| turn.queue == id) {
            self.awaited_came(cx.pool[rq].sectors, cx);
        } else if self.preempts(id, &cx.pool[rq], now) {
            self.preempt(id, cx);
        }
    }
}

impl Scheduler for Cfq {
    fn merging(&self) -> Merging {
        Merging::Asked
    }

    /// A piece joins requests of its own queue only (cfq_allow_merge).
    fn may_join(&self, queued: &Rq, piece: &Rq) -> bool {
        piece.group == queued.group
            || (piece.group == 0 && self.queue_now(piece.process, piece.is_sync) == Some(queue_of(queued)))
    }

    fn front(&self, piece: &Rq, _pool: &Pool) -> Option<RqId> {
        let id = self.queue_now(piece.process, piece.is_sync)?;
        self.queues[id].lists.sorted.beginning_at(piece.end())
    }

    fn neighbour(&self, rq: RqId, side: Side, pool: &Pool) -> Option<RqId> {
        self.queues[queue_of(&pool[rq])].lists.beside(rq, side, pool)
    }

    /// A process that is waited for, with its first request of a turn (cfq_may_queue).
    fn lets_in(&self, process: u16, is_sync: bool) -> bool {
        let turn = self.turn.as_ref().filter(|turn| turn.lets_in());
        turn.is_some_and(|turn| self.queue_now(process, is_sync) == Some(turn.queue))
    }

    fn add(&mut self, rq: RqId, cx: &mut Cx) {
        self.fire_timer(cx);
        let id = self.queue_for(rq, cx);
        if self.turn.as_ref().is_none_or(|turn| turn.queue != id) {
            *cx.closed_ns = None;
        }
        let request = &mut cx.pool[rq];
        request.group = id as u32 + 1;
        request.expires_ns = cx.now + self.rules.expire_ns[usize::from(request.is_sync)];
        let was_empty = self.queues[id].is_empty();
        let is_doubled = self.queues[id].lists.add(rq, cx.pool).is_some();
        let left_empty = is_doubled && self.gives_way(id, rq, cx);
        self.queued += 1;
        if was_empty || left_empty {
            self.place(id, cx.now as Time);
        }
        let queue = &mut self.queues[id];
        queue.next = self.rules.seek.nearer(queue.next, Some(rq), self.position, cx.pool);
        self.came(id, rq, cx);
        *cx.wake_ns = self.turn.as_ref().and_then(Turn::timer_ns);
    }

    fn grown(&mut self, rq: RqId, first: u64, cx: &mut Cx) {
        let id = queue_of(&cx.pool[rq]);
        self.make_way(id, cx.pool[rq].first, cx);
        let queue = &mut self.queues[id];
        queue.lists.moved(rq, first, cx.pool);
        if queue.next != Some(rq) {
            queue.next = self.rules.seek.nearer(queue.next, Some(rq), self.position, cx.pool);
        }
    }

    fn absorbed(&mut self, rq: RqId, into: RqId, cx: &mut Cx) {
        let id = queue_of(&cx.pool[rq]);
        let queue = &mut self.queues[id];
        if queue.next == Some(rq) {
            queue.next = queue.following(rq, &self.rules, self.position, cx.pool);
        }
        queue.lists.absorb(rq, into, cx.pool);
        self.left(id);
        *cx.closed_ns = None;
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        self.fire_timer(cx);
        if self.queued == 0 {
            return Choice::Idle;
        }
        match self.select(cx).filter(|&id| self.may_dispatch(id, cx.now as Time)) {
            Some(id) => Choice::Dispatch(self.dispatch(id, cx)),
            None => self.wait(),
        }
    }

    fn activated(&mut self, rq: RqId, cx: &mut Cx) {
        let is_sync = self.queues[queue_of(&cx.pool[rq])].is_sync;
        self.ready[usize::from(is_sync)] -= 1;
        self.enters_driver(rq, is_sync, cx.pool);
    }

    fn has_run(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.has_run();
        }
    }

    fn ended(&mut self, rq: RqId, cx: &mut Cx) {
        *cx.closed_ns = None;
        self.fire_timer(cx);
        self.completed(rq, cx);
    }
}
