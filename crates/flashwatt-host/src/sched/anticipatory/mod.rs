//! Anticipation: after a read the device is kept idle for a moment, since the same process may read nearby (Linux 2.6.32,
//! block/as-iosched.c; Iyer and Druschel, SOSP 2001).
//!
//! Two classes of requests, those that somebody waits for and those that nobody waits for, take turns with batches. A batch
//! ends by its time, a batch of the second class by its count, too, and either without further requests of its class if the
//! other one has some. A new batch waits until the last one has left the device. It begins with its oldest request and goes on
//! with the cheapest one by sector: backwards counts twice, and is allowed for 2^20 sectors. Once per expiry time of its class
//! the oldest request goes first if it has expired. The count of a write batch follows the time that the last one took.
//!
//! In a read batch the scheduler waits for the process of the last request before it gives one of another process. It does not
//! wait if that process has requests in the queue, or thinks longer than `antic_expire_ms` on average; and not if the next
//! request is close: within 8192 sectors, which double with each jiffy of the wait, or nearer than the process seeks on
//! average. The wait begins when the last request ends, and ends after `antic_expire_ms`, with the next request of the process,
//! or with a close one of another process. There is no exemption for flash.
//!
//! All times are in jiffies of 1 ms (HZ = 1000), as in the kernel. That has consequences that one would not expect: the first
//! think time of a process counts 4 ms more, the second one 2 ms (the kernel adds 128 to a sum of weight 32, then 60); the queue
//! begins in a write batch without writes, so that the first read, if it ends within 416 ms, doubles the count of writes;
//! and where the device holds several requests, the write batch's time is overwritten before it is measured, and counts as 0.
//!
//! Writing `write_batch_expire` does not change the count of writes, which is 12 at first. Of two requests of a class that begin at one
//! sector the older goes to the driver at once, as soon as that asks. The wait's timer is set once, by the first end of the
//! process that is waited for; a later end of a request of that process moves only what counts as close and as late.
//!
//! Deviations: no process exits, so that the kernel's statistics of exits would decide nothing, and are left out. A draining flush
//! does not end a wait.

use std::cmp::Reverse;

use super::lists::Lists;
use super::{
    Choice, Cx, Decides, Generation, Given, JIFFY_NS, Merging, Parameters, Recipe, Registered, Scheduler, Setup,
    jiffies,
};
use crate::pool::merging::Side;
use crate::pool::{Pool, Rq, RqId};
use flashwatt_base::units::Nanos;
use history::{Newcomers, Process};

mod history;

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "anticipatory",
    doc: "deadlines and batches, and short waits for the next read of the same process (Linux 2.6.32)",
    params: &[
        jiffies("read_expire_ms", "a request that somebody waits for goes first when it is older (HZ / 8)", 125.0),
        jiffies("write_expire_ms", "a request that nobody waits for goes first when it is older (HZ / 4)", 250.0),
        jiffies("read_batch_expire_ms", "time of a batch that somebody waits for (HZ / 2)", 500.0),
        jiffies("write_batch_expire_ms", "time of a batch that nobody waits for (HZ / 8)", 125.0),
        jiffies("antic_expire_ms", "longest wait for a process's next request; 0: none (HZ / 150)", 6.0),
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

/// Requests of the first batch that nobody waits for: a tenth of the default of `write_batch_expire_ms`.
const FIRST_WRITES: u64 = 12;
/// Farthest seek backwards, in sectors (MAXBACK), and how often it counts (BACK_PENALTY).
const BACK_MAX: u64 = 1 << 20;
const BACK_PENALTY: u64 = 2;
/// Sectors within which a request is close. They double with each jiffy of a wait, up to 20 of them (as_close_req).
const CLOSE: u64 = 8192;
const CLOSE_JIFFIES: u64 = 20;

fn make(parameters: &Parameters, setup: &Setup) -> Box<dyn Scheduler> {
    let times = |of: [&str; 2]| of.map(|class| parameters.count(class));
    let batch_expire = times(["write_batch_expire_ms", "read_batch_expire_ms"]);
    Box::new(Anticipatory {
        fifo_expire: times(["write_expire_ms", "read_expire_ms"]),
        batch_expire,
        antic_expire: parameters.count("antic_expire_ms"),
        depth: setup.queue_depth + u32::from(setup.peeks),
        lists: Default::default(),
        next: [None; 2],
        position: [0; 2],
        processes: Vec::new(),
        newcomers: Newcomers::default(),
        batch: ASYNC,
        batch_ends: batch_expire[SYNC],
        is_changing: false,
        is_new: false,
        write_count: FIRST_WRITES,
        writes_left: 0,
        has_idled: false,
        checked: [0; 2],
        in_device: 0,
        wait: Wait::Off,
        awaited: None,
        has_ended: false,
        ended: 0,
    })
}

const ASYNC: usize = 0;
const SYNC: usize = 1;

/// Times are in jiffies.
struct Anticipatory {
    /// By class.
    fifo_expire: [u64; 2],
    /// By class.
    batch_expire: [u64; 2],
    antic_expire: u64,
    /// Requests that the device takes at a time, and the one that a driver has which asks early.
    depth: u32,
    /// By class.
    lists: [Lists; 2],
    /// By class: the cheapest request.
    next: [Option<RqId>; 2],
    /// By class: the sector behind the last request.
    position: [u64; 2],
    /// By number.
    processes: Vec<Process>,
    newcomers: Newcomers,
    /// The class of the present batch.
    batch: usize,
    batch_ends: u64,
    /// The batch waits until the last one has left the device.
    is_changing: bool,
    /// The first request of a batch of the class `SYNC` has not ended yet. The time of the batch begins with its end.
    is_new: bool,
    /// Requests of a batch of the class `ASYNC`.
    write_count: u64,
    /// How many of them are left.
    writes_left: u64,
    /// The last batch of the class `ASYNC` had no rival, so that its time says nothing.
    has_idled: bool,
    /// By class: when expiry was looked at.
    checked: [u64; 2],
    in_device: u32,
    wait: Wait,
    /// The process of the last request, if that was of the class `SYNC`.
    awaited: Option<u16>,
    /// Whether a request of this process has ended since, and when.
    has_ended: bool,
    ended: u64,
}

/// The state of anticipation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wait {
    Off,
    /// For the end of the last request.
    End,
    /// For the next request: since when, and until when, in ns.
    Next {
        since_ns: Nanos,
        until_ns: Nanos,
    },
    /// Over. The next request goes, whichever it is.
    Over,
}

/// How a batch goes on.
enum Step {
    Give(RqId),
    Wait,
    NewBatch,
}

fn jiffy(now: Nanos) -> u64 {
    now / JIFFY_NS
}

fn class(rq: &Rq) -> usize {
    if rq.is_sync { SYNC } else { ASYNC }
}

/// The order of preference of a request that begins at `first`, after one that ended at `last`.
fn cost(first: u64, last: u64) -> (bool, u64, Reverse<u64>) {
    let (is_far_back, cost) = match first.checked_sub(last) {
        Some(forward) => (false, forward),
        None if last - first <= BACK_MAX => (false, (last - first) * BACK_PENALTY),
        None => (true, first),
    };
    (is_far_back, cost, Reverse(first))
}

impl Anticipatory {
    /// The cheaper one of two requests of a class; the first if they are equal.
    fn cheaper(&self, class: usize, one: Option<RqId>, other: Option<RqId>, pool: &Pool) -> Option<RqId> {
        let key = |id: &RqId| cost(pool[*id].first, self.position[class]);
        one.into_iter().chain(other).min_by_key(key)
    }

    /// The cheapest request beside this one of the same class: the next one by sector, or the one before.
    fn beside(&self, id: RqId, pool: &Pool) -> Option<RqId> {
        let class = class(&pool[id]);
        let (sorted, first) = (&self.lists[class].sorted, pool[id].first);
        let next = sorted.after(first, id).or_else(|| sorted.first()).filter(|&next| next != id);
        self.cheaper(class, next, sorted.before(first, id), pool)
    }

    /// The oldest request of a class if it has expired. It is looked at once per expiry time.
    fn expired(&mut self, class: usize, jiffy: u64, cx: &mut Cx) -> Option<RqId> {
        if jiffy - self.checked[class] < self.fifo_expire[class] {
            return None;
        }
        self.checked[class] = jiffy;
        let oldest = self.lists[class].fifo.first()?;
        let has_expired = jiffy * JIFFY_NS > cx.pool[oldest].expires_ns;
        cx.counters.expired += u64::from(has_expired);
        has_expired.then_some(oldest)
    }

    fn batch_has_expired(&self, jiffy: u64) -> bool {
        let is_full = self.batch == ASYNC && self.writes_left == 0;
        !self.is_new && (jiffy > self.batch_ends || is_full)
    }

    /// Whether a request is close to the last one, or closer than the process seeks.
    fn is_close(&self, rq: &Rq, process: &Process, jiffy: u64) -> bool {
        let waited = if self.wait == Wait::Off || !self.has_ended { 0 } else { jiffy - self.ended };
        if waited > CLOSE_JIFFIES.min(self.antic_expire) {
            return true;
        }
        let (last, delta) = (self.position[self.batch], CLOSE << waited);
        let is_near = last <= rq.first + delta / 2 && rq.first <= last + delta;
        is_near || process.seek(&self.newcomers) > last.abs_diff(rq.first)
    }

    /// Whether it does not pay to wait for the process any longer, with this request as the next one.
    fn ends_wait(&mut self, process: u16, next: Option<RqId>, jiffy: u64, pool: &Pool) -> bool {
        let rq = next.map(|id| &pool[id]);
        let awaited = &self.processes[usize::from(process)];
        let is_own = rq.is_some_and(|rq| rq.process == process);
        let is_late = self.has_ended && jiffy - self.ended >= self.antic_expire;
        if is_own || is_late || awaited.queued > 0 {
            return true;
        }
        if let Some(rq) = rq.filter(|rq| rq.is_sync && self.is_close(rq, awaited, jiffy)) {
            let (first, end) = (rq.first, rq.end());
            self.processes[usize::from(process)].learn(&mut self.newcomers, first, end, jiffy);
            return true;
        }
        awaited.think(&self.newcomers) > self.antic_expire
    }

    /// Begins to wait for the process of the last request, if that pays. Says whether it does.
    fn anticipates(&mut self, next: Option<RqId>, jiffy: u64, cx: &mut Cx) -> bool {
        let Some(process) = self.awaited.filter(|_| self.wait != Wait::Over) else { return false };
        if self.ends_wait(process, next, jiffy, cx.pool) {
            return false;
        }
        self.wait = Wait::End;
        if self.has_ended {
            self.wait_for_next(cx);
        }
        true
    }

    fn wait_for_next(&mut self, cx: &mut Cx) {
        let until_ns = (self.ended + self.antic_expire) * JIFFY_NS;
        self.wait = Wait::Next { since_ns: cx.now, until_ns };
        cx.counters.idle_waits += 1;
    }

    /// Ends the wait.
    fn stop_waiting(&mut self, is_hit: bool, cx: &mut Cx) {
        if let Wait::Next { since_ns, .. } = self.wait {
            cx.counters.idle_hits += u64::from(is_hit);
            cx.counters.idle_wait_ns += cx.now - since_ns;
        }
        self.wait = Wait::Over;
    }

    /// Notes that a batch of the class `ASYNC` has no rival.
    fn note_idling(&mut self) {
        let [writes, reads] = &self.lists;
        if self.batch == ASYNC && reads.is_empty() && (self.writes_left == 0 || writes.is_empty()) {
            self.has_idled = true;
        }
    }

    /// The next request of the present batch.
    fn go_on(&mut self, jiffy: u64, cx: &mut Cx) -> Step {
        let [has_writes, has_reads] = self.lists.each_ref().map(|lists| !lists.is_empty());
        if has_reads && has_writes && self.batch_has_expired(jiffy) {
            return Step::NewBatch;
        }
        let next = self.next[self.batch];
        if self.batch == SYNC && self.antic_expire > 0 {
            if let Some(id) = self.expired(SYNC, jiffy, cx) {
                return Step::Give(id);
            }
            if self.anticipates(next, jiffy, cx) {
                return Step::Wait;
            }
        }
        let Some(next) = next else { return Step::NewBatch };
        if !has_writes {
            self.batch_ends = jiffy + self.batch_expire[SYNC];
        }
        Step::Give(self.expired(self.batch, jiffy, cx).unwrap_or(next))
    }

    /// Chooses the class of a new batch. There is a request.
    fn begin_batch(&mut self, jiffy: u64, cx: &mut Cx) {
        let [has_writes, has_reads] = self.lists.each_ref().map(|lists| !lists.is_empty());
        let class = if has_reads && !(has_writes && self.batch == SYNC) { SYNC } else { ASYNC };
        self.is_changing = class != self.batch;
        if class == ASYNC {
            self.is_new &= !self.is_changing;
            self.writes_left = self.write_count;
            self.has_idled = false;
        }
        self.batch = class;
        self.checked[class] = jiffy;
        cx.counters.batches += 1;
    }

    /// Adapts the count of writes to the time that their batch took.
    fn measure_batch(&mut self, jiffy: u64) {
        let target = self.batch_expire[ASYNC];
        let took = (jiffy + target).saturating_sub(self.batch_ends);
        if took > target && !self.has_idled {
            self.write_count = if took > 3 * target { self.write_count / 2 } else { self.write_count - 1 };
        } else if took < target && self.writes_left == 0 {
            self.write_count =
                if target > 3 * took { self.write_count.saturating_mul(2) } else { self.write_count + 1 };
        }
        self.write_count = self.write_count.max(1);
    }

    /// The request of a class that begins at this sector goes to the driver at once, since another one is going to begin there.
    fn make_way(&mut self, class: usize, first: u64, cx: &mut Cx) {
        let Some(older) = self.lists[class].sorted.beginning_at(first) else { return };
        if self.is_waiting() {
            self.stop_waiting(false, cx);
            *cx.runs = true;
        }
        self.take(older, cx);
        cx.give_at_once(older, Given::BySector);
    }

    fn is_waiting(&self) -> bool {
        matches!(self.wait, Wait::End | Wait::Next { .. })
    }

    fn give(&mut self, id: RqId, cx: &mut Cx) {
        self.take(id, cx);
        self.processes[usize::from(cx.pool[id].process)].queued -= 1;
        if self.in_device < self.depth {
            self.note_idling();
        }
    }

    /// Takes a request out of its lists for the driver (as_move_to_dispatch).
    fn take(&mut self, id: RqId, cx: &mut Cx) {
        let (class, end, process) = (class(&cx.pool[id]), cx.pool[id].end(), cx.pool[id].process);
        self.wait = Wait::Off;
        self.position[class] = end;
        self.awaited = (class == SYNC).then_some(process);
        self.has_ended = false;
        if class == ASYNC {
            self.writes_left = self.writes_left.saturating_sub(1);
        }
        self.next[class] = self.beside(id, cx.pool);
        self.lists[class].remove(id, cx.pool);
        self.in_device += 1;
    }
}

impl Scheduler for Anticipatory {
    fn merging(&self) -> Merging {
        Merging::Asked
    }

    /// The kernel looks for a front in the list of the wrong class: it finds writes that somebody waits for, and no reads.
    fn front(&self, piece: &Rq, _pool: &Pool) -> Option<RqId> {
        self.lists[if piece.is_read() { ASYNC } else { SYNC }].sorted.beginning_at(piece.end())
    }

    fn neighbour(&self, id: RqId, side: Side, pool: &Pool) -> Option<RqId> {
        self.lists[class(&pool[id])].beside(id, side, pool)
    }

    /// The process that is waited for (as_may_queue).
    fn lets_in(&self, process: u16, _is_sync: bool) -> bool {
        self.is_waiting() && self.awaited == Some(process)
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        let (jiffy, rq) = (jiffy(cx.now), &mut cx.pool[id]);
        let class = class(rq);
        rq.expires_ns = (jiffy + self.fifo_expire[class]) * JIFFY_NS;
        let (at, first, end) = (usize::from(rq.process), rq.first, rq.end());
        if self.processes.len() <= at {
            self.processes.resize(at + 1, Process::default());
        }
        if class == SYNC {
            self.processes[at].learn(&mut self.newcomers, first, end, jiffy);
        }
        self.processes[at].queued += 1;
        if self.lists[class].add(id, cx.pool).is_some() {
            self.lists[class].remove(id, cx.pool);
            self.make_way(class, first, cx);
            self.lists[class].add(id, cx.pool);
        }
        self.next[class] = self.cheaper(class, Some(id), self.next[class], cx.pool);
        if self.is_waiting()
            && let Some(process) = self.awaited
            && self.ends_wait(process, Some(id), jiffy, cx.pool)
        {
            self.stop_waiting(true, cx);
            *cx.runs = true;
        }
    }

    fn grown(&mut self, id: RqId, first: u64, cx: &mut Cx) {
        let class = class(&cx.pool[id]);
        self.make_way(class, cx.pool[id].first, cx);
        self.lists[class].moved(id, first, cx.pool);
    }

    fn absorbed(&mut self, id: RqId, into: RqId, cx: &mut Cx) {
        let class = class(&cx.pool[id]);
        if self.next[class] == Some(id) {
            self.next[class] = self.beside(id, cx.pool);
        }
        let process = &mut self.processes[usize::from(cx.pool[id].process)];
        process.queued -= 1;
        if class == SYNC {
            process.woken(jiffy(cx.now));
        }
        self.lists[class].absorb(id, into, cx.pool);
    }

    fn activated(&mut self, id: RqId, cx: &mut Cx) {
        self.processes[usize::from(cx.pool[id].process)].queued -= 1;
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        let jiffy = jiffy(cx.now);
        if let Wait::Next { until_ns, .. } = self.wait
            && cx.now >= until_ns
        {
            self.stop_waiting(false, cx);
        }
        self.note_idling();
        if self.lists.iter().all(Lists::is_empty) {
            return Choice::Idle;
        }
        match self.wait {
            Wait::Next { until_ns, .. } => return Choice::WaitUntil(until_ns),
            Wait::End => return Choice::WaitForEnd,
            Wait::Off | Wait::Over if self.is_changing => return Choice::WaitForEnd,
            Wait::Off | Wait::Over => {}
        }
        let id = match self.go_on(jiffy, cx) {
            Step::Give(id) => id,
            Step::Wait => match self.wait {
                Wait::Next { until_ns, .. } => return Choice::WaitUntil(until_ns),
                _ => return Choice::WaitForEnd,
            },
            Step::NewBatch => {
                self.begin_batch(jiffy, cx);
                if self.is_changing && self.in_device > 0 {
                    return Choice::WaitForEnd;
                }
                if std::mem::take(&mut self.is_changing) {
                    match self.batch {
                        ASYNC => self.batch_ends = jiffy + self.batch_expire[ASYNC],
                        _ => self.is_new = true,
                    }
                }
                let oldest = self.lists[self.batch].fifo.first();
                oldest.unwrap_or_else(|| unreachable!("a batch begins with a request"))
            }
        };
        self.give(id, cx);
        Choice::Dispatch(id)
    }

    fn ended(&mut self, id: RqId, cx: &mut Cx) {
        let (jiffy, class, process) = (jiffy(cx.now), class(&cx.pool[id]), cx.pool[id].process);
        if self.is_changing && self.in_device == 1 {
            self.batch_ends = jiffy + self.batch_expire[self.batch];
            self.is_changing = false;
            self.is_new = self.batch == SYNC;
        }
        self.in_device -= 1;
        if self.is_new && self.batch == class {
            self.measure_batch(jiffy);
            self.batch_ends = jiffy + self.batch_expire[SYNC];
            self.is_new = false;
        }
        if self.awaited == Some(process) {
            (self.ended, self.has_ended) = (jiffy, true);
            if self.wait == Wait::End {
                self.wait_for_next(cx);
            }
        }
        if class == SYNC {
            self.processes[usize::from(process)].woken(jiffy);
        }
        if self.lists.iter().all(Lists::is_empty) {
            self.note_idling();
        }
    }
}
