//! The trees in which queues wait for turns, and their places there.

use super::queue::{IDLE, QueueId, TREES, Tree};
use super::{CfqEl6, Tick};
use crate::pool::{Pool, Rq};

/// Queues of the idle class stand this far behind the last queue (CFQ_IDLE_DELAY, HZ / 5).
const IDLE_CLASS_DELAY: Tick = 200;
/// A queue that preempts stands this far before the first one (HZ).
const PREEMPTING: Tick = 1000;

/// The queues that wait for turns or have one, by tree and place.
#[derive(Debug, Default)]
pub struct Trees {
    places: [Vec<QueueId>; TREES],
}

impl Trees {
    pub fn first(&self, tree: Tree) -> Option<QueueId> {
        self.places[tree].first().copied()
    }

    pub fn last(&self, tree: Tree) -> Option<QueueId> {
        self.places[tree].last().copied()
    }

    pub fn count(&self, tree: Tree) -> u64 {
        self.places[tree].len() as u64
    }

    /// Queues of the class whose trees begin here.
    pub fn count_of_class(&self, first: Tree) -> u64 {
        if first == IDLE { self.count(IDLE) } else { (first..first + 3).map(|tree| self.count(tree)).sum() }
    }

    /// All queues.
    pub fn all(&self) -> u64 {
        self.places.iter().map(|tree| tree.len() as u64).sum()
    }

    fn remove(&mut self, tree: Tree, id: QueueId) {
        self.places[tree].retain(|&other| other != id);
    }

    fn insert(&mut self, tree: Tree, id: QueueId, is_before: impl Fn(QueueId) -> bool) {
        let at = self.places[tree].iter().position(|&other| is_before(other));
        self.places[tree].insert(at.unwrap_or(self.places[tree].len()), id);
    }
}

impl CfqEl6 {
    /// Gives a queue its place in the tree to which it belongs now (cfq_service_tree_add). `is_preempting`: before the first one.
    pub(super) fn place(&mut self, id: QueueId, is_preempting: bool, now: Tick) {
        let queue = &self.queues[id];
        let tree = match queue.trees() {
            IDLE => IDLE,
            class => class + queue.kind(),
        };
        let key = if tree == IDLE {
            let last = self.trees.last(tree).filter(|&last| last != id);
            IDLE_CLASS_DELAY + last.map_or(now, |last| self.queues[last].key)
        } else if is_preempting {
            self.trees.first(tree).map_or(now, |first| self.queues[first].key) - PREEMPTING
        } else {
            let others = self.trees.all() as Tick - 1;
            let shorter = self.rules.slice(true, 0) - self.rules.slice(queue.is_sync, queue.level);
            now + others * shorter - std::mem::take(&mut self.queues[id].left_over)
        };
        let queue = &mut self.queues[id];
        if (queue.tree, queue.key) == (Some(tree), key) {
            return;
        }
        if let Some(before) = queue.tree.replace(tree) {
            self.trees.remove(before, id);
        }
        queue.key = key;
        let queues = &self.queues;
        self.trees.insert(tree, id, |other| queues[other].key > key);
    }

    /// A queue leaves its tree, and gets no turn until it is placed again (cfq_del_cfqq_rr).
    pub(super) fn unplace(&mut self, id: QueueId) {
        self.queues[id].can_be_found = false;
        if let Some(tree) = self.queues[id].tree.take() {
            self.trees.remove(tree, id);
        }
        if self.trees.all() == 0 {
            self.work.saved = None;
        }
    }

    /// The next request of a queue is another one: other queues find it, unless one of them has it at the same sector
    /// (cfq_prio_tree_add).
    pub(super) fn can_be_found(&mut self, id: QueueId, pool: &Pool) {
        self.queues[id].can_be_found = false;
        let queue = &self.queues[id];
        let Some(next) = queue.next.filter(|_| !queue.is_idle_class()) else { return };
        let hides =
            |(other, rq): (QueueId, &Rq)| self.queues[other].level == queue.level && rq.first == pool[next].first;
        let is_hidden = self.findable(pool).any(hides);
        self.queues[id].can_be_found = !is_hidden;
    }

    /// The queues whose next requests can be found, with these.
    fn findable<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = (QueueId, &'a Rq)> {
        let placed = self.trees.places.iter().flatten();
        placed.filter_map(|&id| Some((id, &pool[self.queues[id].next.filter(|_| self.queues[id].can_be_found)?])))
    }

    /// Whether a request lies where the next one of a queue is expected (cfq_rq_close).
    pub(super) fn is_close(&self, id: QueueId, rq: &Rq) -> bool {
        self.position.abs_diff(rq.first) <= self.queues[id].distances.close_sectors()
    }

    /// A queue that is waited for and whose next request lies where the next one of this queue is expected
    /// (cfq_close_cooperator). Only queues of one level work together.
    pub(super) fn cooperator(&self, id: QueueId, pool: &Pool) -> Option<QueueId> {
        let own = &self.queues[id];
        if own.is_idle_class() || !own.is_sync || own.distances.are_seeky() || self.trees.all() == 1 {
            return None;
        }
        let of_level = self.findable(pool).filter(|&(other, _)| self.queues[other].level == own.level);
        let (other, next) = of_level.min_by_key(|(_, next)| self.position.abs_diff(next.first))?;
        let queue = &self.queues[other];
        let is_alike = queue.is_sync && !queue.distances.are_seeky() && queue.is_realtime() == own.is_realtime();
        (is_alike && self.is_close(id, next)).then_some(other)
    }
}
