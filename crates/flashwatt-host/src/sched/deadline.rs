//! Batches in the order of sectors, with deadlines (Linux 2.6.32, block/deadline-iosched.c).
//!
//! A batch goes on in one direction, upwards, for `fifo_batch` requests. A new batch reads, unless writes have been passed
//! over `writes_starved` times. It begins with the oldest request if that has expired, or if no request lies above the last
//! one; else it goes on from there.
//!
//! All times are in jiffies of 1 ms (HZ = 1000), as in the kernel: a request has expired in the jiffy after its last one. Of two
//! requests of a direction that begin at one sector the older goes to the driver at once, as soon as that asks.

use super::lists::Lists;
use super::{
    Choice, Cx, Decides, Generation, Given, JIFFY_NS, Merging, Parameters, Recipe, Registered, Scheduler, Setup, count,
    switch, time_ms,
};
use crate::pool::merging::Side;
use crate::pool::{Pool, Rq, RqId};

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "deadline",
    doc: "batches by direction and sector, deadlines against starving (Linux 2.6.32)",
    params: &[
        time_ms("read_expire_ms", "a read older than this goes first (HZ / 2)", 500.0),
        time_ms("write_expire_ms", "a write older than this goes first (5 HZ)", 5_000.0),
        count("writes_starved", "times that reads may go before waiting writes", 2.0, 0.0),
        count("fifo_batch", "requests of a batch", 16.0, 1.0),
        switch("front_merges", "may a piece go in front of a queued request? (0 or 1)", 1.0),
    ],
    build: Recipe {
        generation: Generation::Single,
        async_share: 1.0,
        queues: true,
        tells_disks: false,
        tick_ns: JIFFY_NS,
        decides: Decides::Order,
        make,
    },
};

fn make(parameters: &Parameters, _: &Setup) -> Box<dyn Scheduler> {
    Box::new(Deadline {
        expire: ["read_expire_ms", "write_expire_ms"].map(|name| parameters.ms(name).div_ceil(JIFFY_NS)),
        writes_starved: parameters.count("writes_starved"),
        fifo_batch: parameters.count("fifo_batch"),
        front_merges: parameters.is_on("front_merges"),
        lists: Default::default(),
        next: None,
        batched: 0,
        starved: 0,
    })
}

const READ: usize = 0;
const WRITE: usize = 1;

struct Deadline {
    /// Of reads and of writes, in jiffies.
    expire: [u64; 2],
    writes_starved: u64,
    fifo_batch: u64,
    front_merges: bool,
    /// Of reads and of writes.
    lists: [Lists; 2],
    /// The request above the last one, in the direction of the last one.
    next: Option<RqId>,
    /// Requests of the present batch.
    batched: u64,
    /// Times that reads went before waiting writes.
    starved: u64,
}

fn direction(rq: &Rq) -> usize {
    if rq.is_read() { READ } else { WRITE }
}

impl Deadline {
    /// The direction of a new batch.
    fn turn(&mut self) -> Option<usize> {
        let [reads, writes] = &self.lists;
        if reads.is_empty() && writes.is_empty() {
            return None;
        }
        let passed_over = !reads.is_empty() && !writes.is_empty() && self.starved >= self.writes_starved;
        if reads.is_empty() || passed_over {
            self.starved = 0;
            return Some(WRITE);
        }
        self.starved += u64::from(!writes.is_empty());
        Some(READ)
    }

    /// The first request of a new batch.
    fn begin(&self, direction: usize, cx: &mut Cx) -> Option<RqId> {
        let lists = &self.lists[direction];
        let last_jiffy_ns = (cx.now / JIFFY_NS * JIFFY_NS).checked_sub(1);
        let expired = last_jiffy_ns.and_then(|ns| lists.expired(ns, cx.pool));
        cx.counters.batches += 1;
        cx.counters.expired += u64::from(expired.is_some());
        let above = self.next.filter(|&next| self::direction(&cx.pool[next]) == direction);
        expired.or(above).or(lists.fifo.first())
    }

    /// The request that begins at this sector goes to the driver at once, since another one is going to begin there.
    fn make_way(&mut self, direction: usize, first: u64, cx: &mut Cx) {
        if let Some(older) = self.lists[direction].sorted.beginning_at(first) {
            self.take(older, cx.pool);
            cx.give_at_once(older, Given::Last);
        }
    }

    fn take(&mut self, id: RqId, pool: &mut Pool) {
        let lists = &mut self.lists[direction(&pool[id])];
        self.next = lists.sorted.after(pool[id].first, id);
        lists.remove(id, pool);
    }
}

impl Scheduler for Deadline {
    fn merging(&self) -> Merging {
        Merging::Asked
    }

    fn front(&self, piece: &Rq, _pool: &Pool) -> Option<RqId> {
        if self.front_merges { self.lists[direction(piece)].sorted.beginning_at(piece.end()) } else { None }
    }

    fn neighbour(&self, id: RqId, side: Side, pool: &Pool) -> Option<RqId> {
        self.lists[direction(&pool[id])].beside(id, side, pool)
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        let direction = direction(&cx.pool[id]);
        let jiffy = cx.now / JIFFY_NS;
        cx.pool[id].expires_ns = (jiffy + self.expire[direction]) * JIFFY_NS;
        if self.lists[direction].add(id, cx.pool).is_some() {
            self.lists[direction].remove(id, cx.pool);
            self.make_way(direction, cx.pool[id].first, cx);
            self.lists[direction].add(id, cx.pool);
        }
    }

    fn grown(&mut self, id: RqId, first: u64, cx: &mut Cx) {
        let direction = direction(&cx.pool[id]);
        self.make_way(direction, cx.pool[id].first, cx);
        self.lists[direction].moved(id, first, cx.pool);
    }

    fn absorbed(&mut self, id: RqId, into: RqId, cx: &mut Cx) {
        let lists = &mut self.lists[direction(&cx.pool[id])];
        if self.next == Some(id) {
            self.next = lists.sorted.after(cx.pool[id].first, id);
        }
        lists.absorb(id, into, cx.pool);
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        let going_on = self.next.filter(|_| self.batched < self.fifo_batch);
        let chosen = going_on.or_else(|| {
            let direction = self.turn()?;
            self.batched = 0;
            self.begin(direction, cx)
        });
        let Some(id) = chosen else { return Choice::Idle };
        self.batched += 1;
        self.take(id, cx.pool);
        Choice::Dispatch(id)
    }
}
