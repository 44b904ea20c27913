//! `deadline` of today, by priority class (Linux 6.1, block/mq-deadline.c).
//!
//! Each class of priority has lists of its own. A class is served only while no better one has a request, queued or in the
//! device; a request that has waited for `prio_aging_expire_ms` is served before that rule.
//!
//! Deviations: times in ns, where the kernel has jiffies. Trims are writes, as there, and are not merged.

use super::lists::Lists;
use super::{
    Choice, Cx, Decides, Generation, Merging, Parameters, Passing, Recipe, Registered, Scheduler, Setup, count, switch,
    time_ms,
};
use crate::pool::{Pool, Rq, RqId};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{PriorityClass, Request, RequestKind};

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "mq_deadline",
    doc: "batches by direction and sector, deadlines, classes of priority (Linux 6.1)",
    params: &[
        time_ms("read_expire_ms", "a read older than this goes first (HZ / 2)", 500.0),
        time_ms("write_expire_ms", "a write older than this goes first (5 HZ)", 5_000.0),
        time_ms("prio_aging_expire_ms", "a request this old is served before better classes (10 HZ)", 10_000.0),
        count("writes_starved", "times that reads may go before waiting writes", 2.0, 0.0),
        count("fifo_batch", "requests of a batch", 16.0, 1.0),
        switch("front_merges", "may a piece go in front of a queued request? (0 or 1)", 1.0),
    ],
    // Linux reserves no place: async_depth is nr_requests (dd_init_sched since 6.11 and the stable 6.1 of today). Before that
    // it was 3/4 of it, but it bounded each word of the tags' bit map, and a word has at most a quarter of the places.
    build: Recipe {
        generation: Generation::Multi,
        async_share: 1.0,
        queues: true,
        tells_disks: false,
        tick_ns: 1,
        decides: Decides::Order,
        make,
    },
};

fn make(parameters: &Parameters, _: &Setup) -> Box<dyn Scheduler> {
    Box::new(MqDeadline {
        expire_ns: [parameters.ms("read_expire_ms"), parameters.ms("write_expire_ms")],
        aging_ns: parameters.ms("prio_aging_expire_ms"),
        writes_starved: parameters.count("writes_starved"),
        fifo_batch: parameters.count("fifo_batch"),
        front_merges: parameters.is_on("front_merges"),
        classes: Default::default(),
        last: READ,
        batched: 0,
    })
}

const READ: usize = 0;
const WRITE: usize = 1;

struct MqDeadline {
    /// Of reads and of writes.
    expire_ns: [Nanos; 2],
    aging_ns: Nanos,
    writes_starved: u64,
    fifo_batch: u64,
    front_merges: bool,
    classes: [Class; 3],
    /// The direction of the last request, of any class.
    last: usize,
    /// Requests of the present batch.
    batched: u64,
}

/// A class of priority.
#[derive(Default)]
struct Class {
    /// Of reads and of writes.
    lists: [Lists; 2],
    /// Of reads and of writes: the request above the last one.
    next: [Option<RqId>; 2],
    /// Times that reads went before waiting writes.
    starved: u64,
    /// Requests in the queue and in the device.
    inside: u32,
}

fn direction(rq: &Rq) -> usize {
    if rq.is_read() { READ } else { WRITE }
}

fn class(rq: &Rq) -> usize {
    rq.priority.class() as usize
}

impl Class {
    fn is_empty(&self) -> bool {
        self.lists.iter().all(Lists::is_empty)
    }

    /// The direction of a new batch.
    fn turn(&mut self, writes_starved: u64) -> Option<usize> {
        let [reads, writes] = &self.lists;
        let passed_over = !reads.is_empty() && !writes.is_empty() && self.starved >= writes_starved;
        match (reads.is_empty(), writes.is_empty()) {
            (true, true) => None,
            (true, false) => {
                self.starved = 0;
                Some(WRITE)
            }
            (false, _) if passed_over => {
                self.starved = 0;
                Some(WRITE)
            }
            (false, no_writes) => {
                self.starved += u64::from(!no_writes);
                Some(READ)
            }
        }
    }

    fn take(&mut self, id: RqId, pool: &mut Pool) {
        let direction = direction(&pool[id]);
        let lists = &mut self.lists[direction];
        self.next[direction] = lists.sorted.after(pool[id].first, id);
        lists.remove(id, pool);
    }
}

impl MqDeadline {
    /// The next request of a class that was added at `latest_ns` or before.
    fn next_of(&mut self, at: usize, latest_ns: Nanos, cx: &mut Cx) -> Option<RqId> {
        let class = &mut self.classes[at];
        let going_on = class.next[self.last].filter(|_| self.batched < self.fifo_batch);
        let (id, begins) = match going_on {
            Some(id) => (id, false),
            None => {
                let direction = class.turn(self.writes_starved)?;
                let lists = &class.lists[direction];
                let expired = lists.expired(cx.now, cx.pool);
                cx.counters.expired += u64::from(expired.is_some());
                self.last = direction;
                self.batched = 0;
                (expired.or(class.next[direction]).or(lists.fifo.first())?, true)
            }
        };
        if cx.pool[id].added_ns > latest_ns {
            return None;
        }
        cx.counters.batches += u64::from(begins);
        self.batched += 1;
        class.take(id, cx.pool);
        Some(id)
    }

    /// A request of a lower class that has waited for too long.
    fn aged(&mut self, cx: &mut Cx) -> Option<RqId> {
        let latest_ns = cx.now.checked_sub(self.aging_ns)?;
        if self.classes.iter().filter(|class| !class.is_empty()).count() < 2 {
            return None;
        }
        (1..self.classes.len()).find_map(|at| self.next_of(at, latest_ns, cx))
    }
}

impl Scheduler for MqDeadline {
    fn merging(&self) -> Merging {
        Merging::Ends { fronts: self.front_merges }
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        let direction = direction(&cx.pool[id]);
        cx.pool[id].expires_ns = cx.now + self.expire_ns[direction];
        let class = &mut self.classes[class(&cx.pool[id])];
        class.inside += 1;
        class.lists[direction].add(id, cx.pool);
    }

    fn grown(&mut self, id: RqId, first: u64, cx: &mut Cx) {
        let rq = &cx.pool[id];
        self.classes[class(rq)].lists[direction(rq)].moved(id, first, cx.pool);
    }

    fn absorbed(&mut self, id: RqId, into: RqId, cx: &mut Cx) {
        let direction = direction(&cx.pool[id]);
        let class = &mut self.classes[class(&cx.pool[id])];
        class.inside -= 1;
        if class.next[direction] == Some(id) {
            class.next[direction] = class.lists[direction].sorted.after(cx.pool[id].first, id);
        }
        class.lists[direction].absorb(id, into, cx.pool);
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        if let Some(id) = self.aged(cx) {
            return Choice::Dispatch(id);
        }
        for at in 0..self.classes.len() {
            if let Some(id) = self.next_of(at, cx.now, cx) {
                return Choice::Dispatch(id);
            }
            if self.classes[at].inside > 0 {
                return Choice::WaitForEnd;
            }
        }
        Choice::Idle
    }

    fn passing(&self) -> Passing {
        Passing::Asked
    }

    fn pass(&mut self, request: &Request) -> bool {
        let at = request.priority.class() as usize;
        if self.classes[..at].iter().any(|better| better.inside > 0) {
            return false;
        }
        let class = &mut self.classes[at];
        let direction = if request.kind == RequestKind::Read { READ } else { WRITE };
        if direction == WRITE {
            class.starved = 0;
        }
        class.inside += 1;
        class.next[direction] = None;
        (self.last, self.batched) = (direction, 1);
        true
    }

    fn passed_ended(&mut self, class: PriorityClass) {
        self.classes[class as usize].inside -= 1;
    }

    fn ended(&mut self, id: RqId, cx: &mut Cx) {
        self.classes[class(&cx.pool[id])].inside -= 1;
    }
}
