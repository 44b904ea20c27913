//! The places of the queue, and the processes that wait for one.

use std::collections::VecDeque;

use super::settings::Host;
use crate::pool::{Pool, RqId};
use crate::sched::Generation;
use flashwatt_base::units::Nanos;

/// How many requests there may be, and how many there are.
#[derive(Debug)]
pub(super) struct Places {
    /// Of both classes together.
    most: u32,
    /// Of requests that nobody waits for, and of those that somebody waits for.
    most_of: [u32; 2],
    taken: [u32; 2],
    /// Linux 2.6.32: who goes on when a class is full.
    batches: Option<Batches>,
}

impl Places {
    pub fn new(settings: &Host) -> Self {
        let recipe = &settings.scheduler.entry.build;
        let requests = settings.nr_requests;
        match recipe.generation {
            Generation::Single => {
                let batches = Some(Batches::new(recipe.tick_ns));
                Places { most: u32::MAX, most_of: [requests, requests], taken: [0, 0], batches }
            }
            Generation::Multi => {
                let asynchronous = ((f64::from(requests) * recipe.async_share) as u32).max(1);
                Places { most: requests, most_of: [asynchronous, requests], taken: [0, 0], batches: None }
            }
        }
    }

    /// Whether fewer requests than these, of whatever class, can leave a further one without a place at once.
    pub fn bind_within(&self, requests: u32) -> bool {
        let least = self.most.min(self.most_of[0]).min(self.most_of[1]);
        requests > least - u32::from(self.batches.is_some())
    }

    /// Whether a request of this class finds a place. Linux 2.6.32: one that leaves a further place free.
    #[inline(always)]
    pub fn any_for(&self, is_sync: bool) -> bool {
        let class = usize::from(is_sync);
        self.taken[0] + self.taken[1] < self.most
            && self.taken[class] + u32::from(self.batches.is_some()) < self.most_of[class]
    }

    #[inline(always)]
    pub fn take(&mut self, is_sync: bool) {
        self.taken[usize::from(is_sync)] += 1;
    }

    /// Takes a place for a process, if it finds one. `let_in`: whether the scheduler lets it in.
    #[inline(always)]
    pub fn claim(&mut self, process: u16, is_sync: bool, now: Nanos, let_in: impl FnOnce() -> bool) -> bool {
        let finds = self.any_for(is_sync) || self.claim_last(process, usize::from(is_sync), now, let_in);
        self.taken[usize::from(is_sync)] += u32::from(finds);
        finds
    }

    /// The last place, and those beyond it (get_request).
    #[cold]
    fn claim_last(&mut self, process: u16, class: usize, now: Nanos, let_in: impl FnOnce() -> bool) -> bool {
        let Some(batches) = &mut self.batches else { return false };
        if !std::mem::replace(&mut batches.is_full[class], true) {
            batches.begin(process, now);
        } else if !let_in() && !batches.is_open(process, now) {
            return false;
        }
        let most = self.most_of[class];
        let finds = self.taken[class] < most + most / 2;
        if finds {
            batches.use_one(process, now);
        }
        finds
    }

    /// A process that has waited may take a batch of places (get_request_wait).
    pub fn has_waited(&mut self, process: u16, now: Nanos) {
        if let Some(batches) = &mut self.batches {
            batches.begin(process, now);
        }
    }

    /// A request leaves its place. Returns whether one that waits for a place of its class is woken for it, of Linux 2.6.32.
    #[inline(always)]
    pub fn free(&mut self, is_sync: bool) -> bool {
        let class = usize::from(is_sync);
        self.taken[class] -= 1;
        let Some(batches) = &mut self.batches else { return false };
        let is_free = self.taken[class] < self.most_of[class];
        batches.is_full[class] &= !is_free;
        is_free
    }
}

/// Places that a process may take of a full class (BLK_BATCH_REQ), and the ns in which it may; the first one also later
/// (BLK_BATCH_TIME).
const BATCH: u32 = 32;
const BATCH_NS: Nanos = 20_000_000;

/// Who may take places of a full class: a process that took the last one, and one that has waited, may go on for a while, to half
/// as much again as there are places (ioc_batching).
#[derive(Debug)]
struct Batches {
    tick_ns: Nanos,
    /// By class: no place has become free since the last one was taken.
    is_full: [bool; 2],
    /// By process: places that are left to it, and since which tick.
    of: Vec<(u32, u64)>,
}

impl Batches {
    fn new(tick_ns: Nanos) -> Self {
        Batches { tick_ns, is_full: [false; 2], of: Vec::new() }
    }

    fn is_open(&self, process: u16, now: Nanos) -> bool {
        let &(left, since) = self.of.get(usize::from(process)).unwrap_or(&(0, 0));
        left == BATCH || (left > 0 && now / self.tick_ns < since + BATCH_NS / self.tick_ns)
    }

    fn begin(&mut self, process: u16, now: Nanos) {
        if self.is_open(process, now) {
            return;
        }
        let at = usize::from(process);
        if at >= self.of.len() {
            self.of.resize(at + 1, (0, 0));
        }
        self.of[at] = (BATCH, now / self.tick_ns);
    }

    fn use_one(&mut self, process: u16, now: Nanos) {
        if self.is_open(process, now)
            && let Some((left, _)) = self.of.get_mut(usize::from(process))
        {
            *left -= 1;
        }
    }
}

/// Processes that wait for a place. Each waits with one piece; the pieces that it would send after that wait behind it.
///
/// Places go to processes in the order in which these began to wait. A process whose class has no place lets later ones of
/// the other class go first.
///
/// - Today (6.1): all wait for tags in one order (`blk_mq_get_tag`, block/blk-mq-tag.c; `sbq_wake_up`, lib/sbitmap.c).
/// - 2.6.32: each class has its own places and its own line (`get_request_wait` sleeps in `rl->wait[is_sync]`, and
///   `freed_request` wakes that of its class; block/blk-core.c). A process that was woken sends what it has, until it finds no
///   place; then it waits behind the others.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    /// By class: those that wait, in the order in which they began to, with a number that grows from one to the next of
    /// either class.
    order: [VecDeque<(u64, u16)>; 2],
    /// The number of the next one that begins to wait.
    began: u64,
    /// Processes that were woken and have pieces left, in that order; and whether the first one has sent a piece since.
    awake: VecDeque<u16>,
    goes_on: bool,
    /// The pieces of each process, by its number.
    pieces: Vec<VecDeque<RqId>>,
}

impl Waiters {
    /// Whether nobody waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.order.iter().all(VecDeque::is_empty) && self.awake.is_empty()
    }

    /// Whether a process was woken and has not waited again.
    #[inline(always)]
    pub fn any_awake(&self) -> bool {
        !self.awake.is_empty()
    }

    /// Wakes the process that has waited longest for a place of this class.
    pub fn wake(&mut self, is_sync: bool) {
        let first = self.order[usize::from(is_sync)].pop_front();
        self.awake.extend(first.map(|(_, process)| process));
    }

    /// The next piece of the process that was woken first, and whether it has sent one since.
    pub fn next_awake(&self) -> Option<(RqId, bool)> {
        let &process = self.awake.front()?;
        self.next_of(process).map(|id| (id, self.goes_on))
    }

    /// The process that was woken first has sent its next piece.
    pub fn sent(&mut self) {
        let Some(&process) = self.awake.front() else { return };
        self.take_of(process);
        self.goes_on = true;
        if self.next_of(process).is_none() {
            self.fall_asleep();
        }
    }

    /// The process that was woken first has nothing more to send, or waits again.
    fn fall_asleep(&mut self) {
        self.awake.pop_front();
        self.goes_on = false;
    }

    /// The process that was woken first has found no place for its next piece: it waits behind the others.
    pub fn wait_again(&mut self, pool: &Pool) {
        if let Some(&process) = self.awake.front() {
            self.put_back(process, pool);
        }
        self.fall_asleep();
    }

    /// Whether a process waits.
    pub fn has(&self, process: u16) -> bool {
        self.next_of(process).is_some()
    }

    /// A process waits with a piece, or has another one behind that which it waits with.
    pub fn add(&mut self, id: RqId, pool: &Pool) {
        let (process, is_sync) = (pool[id].process, pool[id].is_sync);
        let at = usize::from(process);
        if at >= self.pieces.len() {
            self.pieces.resize_with(at + 1, VecDeque::new);
        }
        let pieces = &mut self.pieces[at];
        pieces.push_back(id);
        if pieces.len() == 1 {
            self.line_up(process, is_sync);
        }
    }

    fn line_up(&mut self, process: u16, is_sync: bool) {
        self.order[usize::from(is_sync)].push_back((self.began, process));
        self.began += 1;
    }

    /// The piece of the process that has waited longest of those that now find a place. The process is in no line until it
    /// is put back.
    pub fn take(&mut self, places: &Places) -> Option<RqId> {
        let first = |class: usize| places.any_for(class == 1).then(|| self.order[class].front()).flatten();
        let class = match (first(0), first(1)) {
            (None, None) => return None,
            (Some(_), None) => 0,
            (None, Some(_)) => 1,
            (Some(a), Some(b)) => usize::from(b < a),
        };
        let (_, process) = self.order[class].pop_front()?;
        self.take_of(process)
    }

    /// The first piece of a process that waits, or is in no line.
    pub fn next_of(&self, process: u16) -> Option<RqId> {
        self.pieces.get(usize::from(process))?.front().copied()
    }

    /// Takes the next piece of a process that is in no line.
    pub fn take_of(&mut self, process: u16) -> Option<RqId> {
        self.pieces.get_mut(usize::from(process))?.pop_front()
    }

    /// A process that is in no line waits again, behind the others, if it has pieces left.
    pub fn put_back(&mut self, process: u16, pool: &Pool) {
        if let Some(next) = self.next_of(process) {
            self.line_up(process, pool[next].is_sync);
        }
    }
}
