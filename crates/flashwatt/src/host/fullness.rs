//! The places of the queue, and the processes that wait for one.

use std::collections::{HashMap, VecDeque};

use super::pool::Rq;
use super::sched::Generation;
use super::settings::Host;

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
    pieces: HashMap<u16, VecDeque<Rq>>,
}

impl Waiters {
    /// Whether nobody waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.order.iter().all(VecDeque::is_empty)
    }

    /// Whether a process waits.
    pub fn has(&self, process: u16) -> bool {
        self.pieces.contains_key(&process)
    }

    /// A process waits with a piece, or has another one behind that which it waits with.
    pub fn add(&mut self, piece: Rq) {
        let (process, is_sync) = (piece.process, piece.is_sync);
        let pieces = self.pieces.entry(process).or_default();
        pieces.push_back(piece);
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
    pub fn take(&mut self, places: &Places) -> Option<Rq> {
        let with_place = self.order.iter_mut().zip([false, true]).filter(|&(_, is_sync)| places.any_for(is_sync));
        let (line, _) =
            with_place.filter(|(line, _)| !line.is_empty()).min_by_key(|(line, _)| line.front().copied())?;
        let (_, process) = line.pop_front()?;
        self.take_of(process)
    }

    /// The next piece of a process that is in no line.
    pub fn next_of(&self, process: u16) -> Option<&Rq> {
        self.pieces.get(&process)?.front()
    }

    /// Takes the next piece of a process that is in no line.
    pub fn take_of(&mut self, process: u16) -> Option<Rq> {
        self.pieces.get_mut(&process)?.pop_front()
    }

    /// A process that is in no line waits again, behind the others, if it has pieces left.
    pub fn put_back(&mut self, process: u16) {
        match self.next_of(process).map(|piece| piece.is_sync) {
            Some(is_sync) => self.line_up(process, is_sync),
            None => drop(self.pieces.remove(&process)),
        }
    }
}
