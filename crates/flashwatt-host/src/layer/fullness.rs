//! The places of the queue, and the processes that wait for one.

use std::collections::VecDeque;

use super::settings::Host;
use crate::pool::{Pool, RqId};
use crate::sched::Generation;

/// How many requests there may be, and how many there are.
#[derive(Debug)]
pub(super) struct Places {
    /// Of both classes together.
    most: u32,
    /// Of requests that nobody waits for, and of those that somebody waits for.
    most_of: [u32; 2],
    taken: [u32; 2],
}

impl Places {
    pub fn new(settings: &Host) -> Self {
        let recipe = &settings.scheduler.entry.build;
        let requests = settings.nr_requests;
        match recipe.generation {
            Generation::Single => Places { most: u32::MAX, most_of: [requests, requests], taken: [0, 0] },
            Generation::Multi => {
                let asynchronous = ((f64::from(requests) * recipe.async_share) as u32).max(1);
                Places { most: requests, most_of: [asynchronous, requests], taken: [0, 0] }
            }
        }
    }

    /// Whether fewer requests than these, of whatever class, can leave a further one without a place.
    pub fn bind_within(&self, requests: u32) -> bool {
        requests > self.most.min(self.most_of[0]).min(self.most_of[1])
    }

    /// Whether a request of this class finds a place.
    #[inline(always)]
    pub fn any_for(&self, is_sync: bool) -> bool {
        self.taken[0] + self.taken[1] < self.most
            && self.taken[usize::from(is_sync)] < self.most_of[usize::from(is_sync)]
    }

    #[inline(always)]
    pub fn take(&mut self, is_sync: bool) {
        self.taken[usize::from(is_sync)] += 1;
    }

    #[inline(always)]
    pub fn free(&mut self, is_sync: bool) {
        self.taken[usize::from(is_sync)] -= 1;
    }
}

/// Processes that wait for a place. Each waits with one piece; the pieces that it would send after that wait behind it.
///
/// Places go to processes in the order in which these began to wait. A process whose class has no place lets later ones of
/// the other class go first.
///
/// - Today (6.1): all wait for tags in one order (`blk_mq_get_tag`, block/blk-mq-tag.c; `sbq_wake_up`, lib/sbitmap.c).
/// - 2.6.32: each class has its own places and its own line (`get_request_wait` sleeps in `rl->wait[is_sync]`, and
///   `freed_request` wakes that of its class; block/blk-core.c). No process waits for a place that the other class took, so
///   that one order of both is the order of each.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    /// By class: those that wait, in the order in which they began to, with a number that grows from one to the next of
    /// either class.
    order: [VecDeque<(u64, u16)>; 2],
    /// The number of the next one that begins to wait.
    began: u64,
    /// The pieces of each process, by its number.
    pieces: Vec<VecDeque<RqId>>,
}

impl Waiters {
    /// Whether nobody waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.order.iter().all(VecDeque::is_empty)
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
