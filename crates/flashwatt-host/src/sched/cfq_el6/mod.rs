//! CFQ of the kernel of RHEL and CentOS 6.0 (2.6.32-71.el6, block/cfq-iosched.c): that of Linux 2.6.35 but for some details, which the
//! distribution took back into its 2.6.32. ParDispatcher was measured on it. [`cfq`](super::cfq) is the one of the series itself.
//!
//! The queues are as there: one of each process for what somebody waits for, and those by priority for what nobody waits for. They
//! wait for turns in trees: of realtime queues, of best effort and of idle ones, and within the first two by kind of work: what nobody
//! waits for, queues that the device is not kept idle for (their requests lie far apart, or their process thinks long), and the
//! others ([`trees`]). One tree is served for a part of 300 ms, by the number of its queues, and what nobody waits for for two
//! fifths of that ([`workload`]). If the slices of all queues together would last longer than 300 ms, each queue gets a
//! shorter one. In its turn a queue goes to the nearest request, and first to the oldest if that has expired. A queue that has none
//! left is waited for if it is one of the third kind, or the last one of its tree that somebody waits for ([`turn`]). A deep queue, which once had
//! four requests waiting, is of the third kind though its requests lie far apart. Processes that read one region in turns share a
//! queue ([`sharing`]).
//!
//! All times are in jiffies of 1 ms (HZ = 1000), as in the kernel.
//!
//! Deviations, each with where it shows:
//! - There are no groups of processes (CONFIG_CFQ_GROUP_IOSCHED): all are in one.
//! - A process does not end, and so the device may be kept idle for one that has sent its last request.
//! - A write that somebody waits for is taken for a direct one. After one of fsync (REQ_NOIDLE) the kernel does not idle.
//! - While a flush drains the queue the device may be kept idle. The kernel takes all requests out of the queues then.
//! - Of two close queues the nearer one is taken, where the kernel takes the one that its tree comes upon first.
//! - Requests for file systems' own data have no precedence. Forced writes and trims go through the scheduler; trims are not
//!   merged.

mod queue;
mod sharing;
mod trees;
mod turn;
mod workload;

use queue::{Queue, QueueId};
use sharing::Process;
use trees::Trees;
use turn::Turn;
use workload::Work;

use super::cfq::{LEVELS, SLICE_SCALE, count_to};
use super::seek::Seek;
use super::{
    Choice, Cx, Decides, Generation, Given, JIFFY_NS, Merging, Parameters, Recipe, Registered, Scheduler, Setup, count,
    jiffies, switch,
};
use crate::pool::merging::Side;
use crate::pool::{Pool, Rq, RqId};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::registry::Param;
use flashwatt_base::units::Nanos;

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "cfq_el6",
    doc: "CFQ of the kernel of RHEL and CentOS 6.0 (2.6.32-71.el6): trees by kind of work, slices that shrink with the number of queues",
    params: &[
        count(
            "quantum",
            "requests of a process in the device; half of it late in a slice while others wait (cfq_quantum)",
            8.0,
            1.0,
        ),
        jiffies("fifo_expire_sync_ms", "a request that somebody waits for goes first at this age (HZ / 8)", 125.0),
        jiffies("fifo_expire_async_ms", "a request that nobody waits for goes first at this age (HZ / 4)", 250.0),
        count_to("back_seek_max_kib", "how far a queue goes back to a request (cfq_back_max)", 16_384.0, 0.0),
        count_to("back_seek_penalty", "how many times a way back counts (cfq_back_penalty)", 2.0, 1.0),
        slice("slice_sync_ms", "a turn at level 4 of requests that somebody waits for (HZ / 10)", 100.0),
        slice("slice_async_ms", "a turn at level 4 of requests that nobody waits for (HZ / 25)", 40.0),
        count("slice_async_rq", "scales the requests of such a turn (cfq_slice_async_rq)", 2.0, 1.0),
        jiffies("slice_idle_ms", "how long the device is kept idle for a queue (HZ / 125); 0: never", 8.0),
        switch("low_latency", "shorten slices, hold back requests that nobody waits for? (0 or 1)", 1.0),
    ],
    build: Recipe {
        generation: Generation::Single,
        async_share: 1.0,
        queues: true,
        tells_disks: true,
        tick_ns: JIFFY_NS,
        decides: Decides::Order,
        make,
    },
};

const fn slice(name: &'static str, doc: &'static str, default: f64) -> Param {
    Param { min: 1.0, ..jiffies(name, doc, default) }
}

/// A time in jiffies. Places in the order of turns may lie before the run.
type Tick = i64;

const ASYNC: usize = 0;
const SYNC: usize = 1;

/// No request that somebody waits for was late in the second before the run (HZ).
const FIRST_LATE: Tick = -1000;

fn make(parameters: &Parameters, setup: &Setup) -> Box<dyn Scheduler> {
    let ticks = |name| parameters.count(name) as Tick;
    Box::new(CfqEl6 {
        rules: Rules {
            quantum: parameters.count("quantum"),
            expire: [ticks("fifo_expire_async_ms"), ticks("fifo_expire_sync_ms")],
            seek: Seek {
                back_max: 2 * parameters.count("back_seek_max_kib"),
                back_penalty: parameters.count("back_seek_penalty"),
            },
            slice: [ticks("slice_async_ms"), ticks("slice_sync_ms")],
            slice_async_rq: parameters.count("slice_async_rq"),
            slice_idle: ticks("slice_idle_ms"),
            low_latency: parameters.is_on("low_latency"),
            rotational: setup.rotational,
        },
        queues: FlatTable::default(),
        free: Vec::new(),
        trees: Trees::default(),
        work: Work::default(),
        processes: Vec::new(),
        async_queues: Default::default(),
        turn: None,
        position: 0,
        queued: 0,
        in_flight: [0; 2],
        in_driver: 0,
        last_late: FIRST_LATE,
        ncq: Ncq { is_denied: false, is_proven: false, samples: 0, peak: 0 },
    })
}

/// What the user has set. Times are in jiffies.
#[derive(Debug)]
struct Rules {
    quantum: u64,
    /// Of requests that nobody waits for, and of those that somebody waits for.
    expire: [Tick; 2],
    seek: Seek,
    /// As `expire`.
    slice: [Tick; 2],
    slice_async_rq: u64,
    slice_idle: Tick,
    low_latency: bool,
    rotational: bool,
}

impl Rules {
    /// The length of a turn by the level (cfq_prio_slice).
    fn slice(&self, is_sync: bool, level: u8) -> Tick {
        let base = self.slice[usize::from(is_sync)];
        base + base / SLICE_SCALE * (4 - Tick::from(level))
    }

    /// Requests of a turn that nobody waits for, while others wait (cfq_prio_to_maxrq).
    fn most_async(&self, level: u8) -> u64 {
        2 * self.slice_async_rq * (LEVELS as u64 - u64::from(level))
    }
}

struct CfqEl6 {
    rules: Rules,
    queues: FlatTable<Queue>,
    /// Numbers of queues that are not used.
    free: Vec<QueueId>,
    trees: Trees,
    work: Work,
    processes: Vec<Process>,
    /// By class and level.
    async_queues: [[Option<QueueId>; LEVELS]; 3],
    turn: Option<Turn>,
    /// Where the last request ended that went to the driver.
    position: u64,
    queued: u32,
    /// Requests that have left and not ended, of queues that nobody waits for and of those that somebody waits for.
    in_flight: [u32; 2],
    /// Requests that the driver has.
    in_driver: u32,
    /// The last end of a request that somebody waited for longer than its time (last_delayed_sync).
    last_late: Tick,
    ncq: Ncq,
}

/// Whether the device serves several requests at a time. Before anything is known of it, it is taken for one that does.
#[derive(Debug)]
struct Ncq {
    is_denied: bool,
    is_proven: bool,
    samples: u32,
    /// The most requests in the driver.
    peak: u32,
}

/// This number of requests in the driver at a time shows that the device has NCQ (CFQ_HW_QUEUE_MIN). A look counts only if more than
/// this are queued or in the driver.
const NCQ_REQUESTS: u32 = 5;
/// Ends of requests until the first answer.
const NCQ_SAMPLES: u32 = 50;

/// The queue of a queued request.
fn queue_of(rq: &Rq) -> QueueId {
    rq.group as QueueId - 1
}

fn tick(now: Nanos) -> Tick {
    (now / JIFFY_NS) as Tick
}

impl CfqEl6 {
    /// The request of a queue that begins at this sector goes to the driver at once, since another one is going to begin there.
    fn make_way(&mut self, id: QueueId, first: u64, cx: &mut Cx) {
        if let Some(older) = self.queues[id].lists.sorted.beginning_at(first) {
            self.take(id, older, cx.pool);
            cx.give_at_once(older, Given::BySector);
        }
    }

    /// A request is new in the list by sector (cfq_add_rq_rb).
    fn sorted(&mut self, id: QueueId, rq: RqId, now: Tick, cx: &mut Cx) {
        if self.queues[id].tree.is_none() {
            self.place(id, false, now);
            self.can_be_found(id, cx.pool);
        }
        let before = self.queues[id].next;
        let next = match before {
            Some(before) if before == rq => before,
            _ => self.rules.seek.nearer(before, Some(rq), self.position, cx.pool).unwrap_or(rq),
        };
        self.queues[id].next = Some(next);
        if before != Some(next) {
            self.can_be_found(id, cx.pool);
        }
    }

    /// Takes a request out of its queue for the driver (cfq_dispatch_insert). Of those around it the one follows that is nearer to
    /// where it begins.
    fn take(&mut self, id: QueueId, rq: RqId, pool: &mut Pool) {
        let first = pool[rq].first;
        let queue = &mut self.queues[id];
        let around = queue.lists.remove(rq, pool);
        queue.next = self.rules.seek.neighbour_of_removed(around, first, &queue.lists.sorted, pool);
        queue.in_flight += 1;
        self.in_flight[usize::from(queue.is_sync)] += 1;
        self.left(id);
    }

    /// A request has left the lists of its queue. The queue keeps its place, also without requests, until its turn ends.
    fn left(&mut self, id: QueueId) {
        self.queued -= 1;
        let queue = &mut self.queues[id];
        queue.queued -= 1;
        queue.can_be_found &= !queue.is_empty();
    }

    /// A request goes to the driver (cfq_activate_request).
    fn enters_driver(&mut self, rq: RqId, pool: &Pool) {
        self.in_driver += 1;
        self.position = pool[rq].end();
    }
}

impl Scheduler for CfqEl6 {
    fn merging(&self) -> Merging {
        Merging::Asked
    }

    /// A piece joins requests of its own queue only (cfq_allow_merge).
    fn may_join(&self, queued: &Rq, piece: &Rq) -> bool {
        let own = || self.queue_now(piece.process, piece.is_sync);
        piece.group == queued.group || (piece.group == 0 && own() == Some(queue_of(queued)))
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
        let now = tick(cx.now);
        let id = self.queue_for(rq, now, cx);
        let request = &mut cx.pool[rq];
        request.group = id as u32 + 1;
        request.expires_ns = (now + self.rules.expire[usize::from(request.is_sync)]) as u64 * JIFFY_NS;
        if self.queues[id].lists.add(rq, cx.pool).is_some() {
            self.queues[id].lists.remove(rq, cx.pool);
            self.make_way(id, cx.pool[rq].first, cx);
            self.queues[id].lists.add(rq, cx.pool);
        }
        self.queues[id].queued += 1;
        self.queued += 1;
        self.sorted(id, rq, now, cx);
        self.came(id, rq, now, cx);
        *cx.wake_ns = self.turn.as_ref().and_then(Turn::timer_ns);
    }

    fn grown(&mut self, rq: RqId, first: u64, cx: &mut Cx) {
        let id = queue_of(&cx.pool[rq]);
        self.make_way(id, cx.pool[rq].first, cx);
        self.queues[id].lists.moved(rq, first, cx.pool);
        self.sorted(id, rq, tick(cx.now), cx);
    }

    fn absorbed(&mut self, rq: RqId, into: RqId, cx: &mut Cx) {
        let id = queue_of(&cx.pool[rq]);
        let queue = &mut self.queues[id];
        if queue.next == Some(rq) {
            queue.next = Some(into);
        }
        queue.lists.absorb(rq, into, cx.pool);
        self.left(id);
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        self.fire_timer(cx);
        if self.queued == 0 {
            return Choice::Idle;
        }
        let now = tick(cx.now);
        match self.select(now, cx).filter(|&id| self.may_dispatch(id, now)) {
            Some(id) => Choice::Dispatch(self.dispatch(id, now, cx)),
            None => self.wait(),
        }
    }

    fn activated(&mut self, rq: RqId, cx: &mut Cx) {
        self.enters_driver(rq, cx.pool);
    }

    fn ended(&mut self, rq: RqId, cx: &mut Cx) {
        self.fire_timer(cx);
        self.completed(rq, tick(cx.now), cx);
    }
}
