//! A queue: the requests of a process that somebody waits for, or those of a priority that nobody waits for.

use super::{Rules, Tick};
use crate::pool::RqId;
use crate::sched::cfq::level_of;
use crate::sched::distances::Distances;
use crate::sched::fading::{FadingMean, HALF};
use crate::sched::lists::Lists;
pub use crate::sched::sharing::QueueId;
use crate::sched::sharing::SharedQueue;
use flashwatt_core::connector::{Priority, PriorityClass};

/// A queue with this many requests waiting is deep: it may be waited for though its requests lie far apart.
const DEEP: u64 = 4;

/// A tree of queues that wait for turns. There are three of the realtime class, three of best effort, and one of idle queues.
pub type Tree = usize;

/// The trees of a class: queues that nobody waits for, those that the device is not kept idle for, and those that it is.
pub const ASYNC_TREE: Tree = 0;
pub const NO_IDLE_TREE: Tree = 1;
pub const SYNC_TREE: Tree = 2;

/// The trees of best effort, of realtime, and of idle queues begin here.
pub const BEST_EFFORT: Tree = 0;
pub const REALTIME: Tree = 3;
pub const IDLE: Tree = 6;
pub const TREES: usize = 7;

/// The queue of a process, of several that share it, or of requests that nobody waits for (cfq_queue).
#[derive(Debug)]
pub struct Queue {
    pub is_sync: bool,
    pub class: PriorityClass,
    pub level: u8,
    pub lists: Lists,
    /// Its queued requests.
    pub queued: u64,
    /// The request that goes next.
    pub next: Option<RqId>,
    /// Requests that have left it and not ended.
    pub in_flight: u64,
    /// The tree in which it waits, also in its turn, and its place there.
    pub tree: Option<Tree>,
    pub key: Tick,
    /// Whether other queues can find its next request.
    pub can_be_found: bool,
    /// What was left of its last turn; below 0 if that lasted too long (slice_resid).
    pub left_over: Tick,
    /// Whether the device may be kept idle for it (idle_window).
    pub may_idle: bool,
    pub is_deep: bool,
    pub distances: Distances,
    /// Processes whose queue it is or is going to be; 0 for one that nobody waits for.
    pub processes: u32,
    /// The queue into which its processes move with their next requests (new_cfqq).
    pub into: Option<QueueId>,
    /// Processes have moved into it (coop), and it has become seeky since: they get queues of their own (split_coop).
    pub is_shared: bool,
    pub is_split: bool,
}

impl SharedQueue for Queue {
    fn processes(&mut self) -> &mut u32 {
        &mut self.processes
    }

    fn joins(&mut self) -> &mut Option<QueueId> {
        &mut self.into
    }
}

impl Queue {
    /// A queue without requests.
    pub fn new(is_sync: bool, priority: Priority) -> Self {
        let mut queue = Queue {
            is_sync,
            class: PriorityClass::BestEffort,
            level: 0,
            lists: Lists::default(),
            queued: 0,
            next: None,
            in_flight: 0,
            tree: None,
            key: 0,
            can_be_found: false,
            left_over: 0,
            may_idle: is_sync,
            is_deep: false,
            distances: Distances::default(),
            processes: u32::from(is_sync),
            into: None,
            is_shared: false,
            is_split: false,
        };
        queue.set_priority(priority);
        queue
    }

    /// Gives it a priority. It keeps its place.
    pub fn set_priority(&mut self, priority: Priority) {
        (self.class, self.level) = (priority.class(), level_of(priority));
        self.may_idle &= !self.is_idle_class();
    }

    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    pub fn is_idle_class(&self) -> bool {
        self.class == PriorityClass::Idle
    }

    pub fn is_realtime(&self) -> bool {
        self.class == PriorityClass::Realtime
    }

    /// The first tree of its class.
    pub fn trees(&self) -> Tree {
        match self.class {
            PriorityClass::Realtime => REALTIME,
            PriorityClass::BestEffort => BEST_EFFORT,
            PriorityClass::Idle => IDLE,
        }
    }

    /// The tree among those of its class to which it belongs.
    pub fn kind(&self) -> Tree {
        match (self.is_sync, self.may_idle) {
            (false, _) => ASYNC_TREE,
            (true, false) => NO_IDLE_TREE,
            (true, true) => SYNC_TREE,
        }
    }

    /// Finds out whether it pays to keep the device idle for it (cfq_update_idle_window).
    pub fn judge(&mut self, think: &FadingMean, rules: &Rules) {
        if !self.is_sync || self.is_idle_class() {
            return;
        }
        self.is_deep |= self.queued >= DEEP;
        if rules.slice_idle == 0 || (!self.is_deep && self.distances.are_surely_seeky()) {
            self.may_idle = false;
        } else if think.is_valid() {
            self.may_idle = think.mean(HALF) <= rules.slice_idle as u64;
        }
    }
}
