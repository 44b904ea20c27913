//! Which tree of queues is served, and for how long; and the slices of queues.

use super::queue::{ASYNC_TREE, BEST_EFFORT, IDLE, NO_IDLE_TREE, QueueId, REALTIME, SYNC_TREE, Tree};
use super::{ASYNC, CfqEl6, SYNC, Tick};

/// All queues are to have a turn within this time (cfq_target_latency, HZ * 3 / 10).
const TARGET_LATENCY: u64 = 300;
/// The shortest time of a tree (CFQ_MIN_TT).
const SHORTEST: u64 = 2;
/// The mean number of queues follows a larger number quickly and a smaller one slowly: by a quarter of the way
/// (cfq_hist_divisor).
const SLOWNESS: u64 = 4;

/// The tree that is served.
#[derive(Debug)]
pub struct Work {
    /// The first tree of its class, and which of these it is.
    class: Tree,
    kind: Tree,
    /// When another one is chosen.
    ends: Tick,
    /// What was left of its time when the last turn ended (saved_workload_slice).
    pub saved: Option<Tick>,
    /// The mean number of queues that wait, of best effort and realtime.
    mean_queues: [u64; 2],
}

impl Default for Work {
    fn default() -> Self {
        Work { class: BEST_EFFORT, kind: ASYNC_TREE, ends: 0, saved: None, mean_queues: [0; 2] }
    }
}

impl Work {
    /// The tree that is served.
    pub fn tree(&self) -> Tree {
        if self.class == IDLE { IDLE } else { self.class + self.kind }
    }

    /// Whether queues are served that the device is not kept idle for.
    pub fn is_without_idling(&self) -> bool {
        self.kind == NO_IDLE_TREE
    }

    /// A turn ends (cfq_group_served).
    pub fn save(&mut self, now: Tick) {
        self.saved = (self.ends > now).then(|| self.ends - now);
    }
}

impl CfqEl6 {
    /// Chooses the tree from which the next turn is taken (cfq_choose_cfqg, choose_service_tree).
    pub(super) fn choose_work(&mut self, now: Tick) {
        self.work.ends = self.work.saved.map_or(now - 1, |left| now + left);
        let has = |class: Tree| self.trees.count_of_class(class) > 0;
        self.work.class = [REALTIME, BEST_EFFORT].into_iter().find(|&class| has(class)).unwrap_or(IDLE);
        if self.work.class == IDLE {
            self.work.ends = now + 1;
            return;
        }
        if self.trees.count(self.work.tree()) > 0 && now <= self.work.ends {
            return;
        }
        self.work.kind = self.first_kind(self.work.class);
        self.work.ends = now + self.time_of_tree() as Tick;
    }

    /// Of the trees of a class the one whose first queue comes first (cfq_choose_wl).
    fn first_kind(&self, class: Tree) -> Tree {
        let key = |kind: Tree| self.trees.first(class + kind).map(|first| self.queues[first].key);
        let kinds = [ASYNC_TREE, NO_IDLE_TREE, SYNC_TREE].into_iter();
        kinds.filter_map(|kind| Some((key(kind)?, kind))).min().map_or(NO_IDLE_TREE, |(_, kind)| kind)
    }

    /// How long the tree is served: its part of the target latency, by the number of its queues.
    fn time_of_tree(&self) -> u64 {
        let (class, kind) = (self.work.class, self.work.kind);
        let mean = self.work.mean_queues[usize::from(class == REALTIME)];
        let among = mean.max(self.trees.count_of_class(class));
        let part = TARGET_LATENCY * self.trees.count(class + kind) / among;
        let time = if kind == ASYNC_TREE {
            let asynchronous = self.trees.count(REALTIME + ASYNC_TREE) + self.trees.count(BEST_EFFORT + ASYNC_TREE);
            let part = part.min(TARGET_LATENCY * asynchronous / self.trees.all());
            part * self.rules.slice[ASYNC] as u64 / self.rules.slice[SYNC] as u64
        } else {
            part.max(2 * self.rules.slice_idle as u64)
        };
        time.max(SHORTEST)
    }

    /// The length of a turn: shorter if all queues could not have theirs within the target latency (cfq_set_prio_slice).
    pub(super) fn slice_of(&mut self, id: QueueId) -> Tick {
        let queue = &self.queues[id];
        let slice = self.rules.slice(queue.is_sync, queue.level) as u64;
        if !self.rules.low_latency {
            return slice as Tick;
        }
        let (at, class) = if queue.is_realtime() { (1, REALTIME) } else { (0, BEST_EFFORT) };
        let (mean, now) = (self.work.mean_queues[at], self.trees.count_of_class(class));
        let sum = (SLOWNESS - 1) * mean.max(now) + mean.min(now) + SLOWNESS / 2;
        self.work.mean_queues[at] = sum / SLOWNESS;
        let sync = self.rules.slice[SYNC] as u64;
        let expected = sync * self.work.mean_queues[at];
        if expected <= TARGET_LATENCY {
            return slice as Tick;
        }
        let least = slice.min(2 * self.rules.slice_idle as u64 * slice / sync);
        (slice * TARGET_LATENCY / expected).max(least) as Tick
    }
}
