//! Batches in the order of sectors, with deadlines (Linux 2.6.32, block/deadline-iosched.c).
//!
//! A batch goes on in one direction, upwards, for `fifo_batch` requests. A new batch reads, unless writes have been passed
//! over `writes_starved` times. It begins with the oldest request if that has expired, or if no request lies above the last
//! one; else it goes on from there.
//!
//! Deviations: times in ns, where the kernel has jiffies (HZ = 1000). A request that expires at this instant has expired;
//! the kernel waits for the next jiffy. A request that begins where a queued one of its direction begins is queued, too; the
//! kernel gives the older one to the device at once (`deadline_add_rq_rb`). A piece that touches two requests joins the lower
//! one first; the kernel first tries the one that was added or grew last (`elv_merge`). That shows only where both together are
//! too long for one request.

use super::lists::Lists;
use super::{
    Choice, Cx, Decides, Front, Generation, Merging, Parameters, Recipe, Registered, Scheduler, Setup, count, switch,
    time_ms,
};
use crate::pool::{Pool, Rq, RqId};
use flashwatt_base::units::Nanos;

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
        decides: Decides::Order,
        make,
    },
};

fn make(parameters: &Parameters, _: &Setup) -> Box<dyn Scheduler> {
    Box::new(Deadline {
        expire_ns: [parameters.ms("read_expire_ms"), parameters.ms("write_expire_ms")],
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
    /// Of reads and of writes.
    expire_ns: [Nanos; 2],
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
        let expired = lists.expired(cx.now, cx.pool);
        cx.counters.batches += 1;
        cx.counters.expired += u64::from(expired.is_some());
        let above = self.next.filter(|&next| self::direction(&cx.pool[next]) == direction);
        expired.or(above).or(lists.fifo.first())
    }

    fn take(&mut self, id: RqId, pool: &mut Pool) {
        let lists = &mut self.lists[direction(&pool[id])];
        self.next = lists.sorted.after(pool[id].first, id);
        lists.remove(id, pool);
    }
}

impl Scheduler for Deadline {
    fn merging(&self) -> Merging {
        let front = if self.front_merges { Front::Any } else { Front::Last };
        Merging::Ends { front, joins_neighbours: true }
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        let direction = direction(&cx.pool[id]);
        cx.pool[id].expires_ns = cx.now + self.expire_ns[direction];
        self.lists[direction].add(id, cx.pool);
    }

    fn grown(&mut self, id: RqId, first: u64, cx: &mut Cx) {
        self.lists[direction(&cx.pool[id])].moved(id, first, cx.pool);
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
