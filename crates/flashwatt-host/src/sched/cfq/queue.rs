//! A queue of CFQ: the requests of a process that somebody waits for, or those of a priority that nobody waits for.

use super::Rules;
use crate::pool::{Pool, Rq, RqId};
use crate::sched::distances::Distances;
use crate::sched::fading::{FadingMean, HALF};
use crate::sched::lists::Lists;
pub use crate::sched::sharing::QueueId;
use crate::sched::sharing::SharedQueue;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Priority, PriorityClass};

/// A time in ns. Places in the order of turns may lie before the run.
pub type Time = i64;

/// Levels of a priority, of which the last one is that of the idle class (IOPRIO_BE_NR).
pub const LEVELS: usize = 8;
/// A think time below this is none, and a seeky queue is waited for no longer (CFQ_MIN_TT).
pub const MIN_THINK_NS: Nanos = 2_000_000;
/// The queue of a process, of several that share it, or of requests that nobody waits for (cfq_queue).
#[derive(Debug)]
pub struct CfqQueue {
    pub is_sync: bool,
    pub class: PriorityClass,
    pub level: u8,
    pub lists: Lists,
    /// The request that goes next.
    pub next: Option<RqId>,
    /// Requests in the device.
    pub in_device: u64,
    /// Its place in the order of turns, while it has requests.
    pub key: Time,
    /// What was left of its last turn; below 0 if that lasted too long (slice_resid).
    pub left_over: Time,
    /// Whether the device may be kept idle for it (CFQ_CFQQ_FLAG_idle_window).
    pub may_idle: bool,
    /// Distances between its requests.
    pub distances: Distances,
    /// Processes whose queue it is or is going to be; 0 for one that nobody waits for.
    pub processes: u32,
    /// The queue into which its processes move with their next requests (new_cfqq).
    pub into: Option<QueueId>,
    /// Processes have moved into it (CFQ_CFQQ_FLAG_coop); since when it is seeky then.
    pub is_shared: bool,
    pub seeky_since: Option<Time>,
}

impl SharedQueue for CfqQueue {
    fn processes(&mut self) -> &mut u32 {
        &mut self.processes
    }

    fn joins(&mut self) -> &mut Option<QueueId> {
        &mut self.into
    }
}

impl CfqQueue {
    /// A queue without requests.
    pub fn new(is_sync: bool, priority: Priority) -> Self {
        let mut queue = CfqQueue {
            is_sync,
            class: PriorityClass::BestEffort,
            level: 0,
            lists: Lists::default(),
            next: None,
            in_device: 0,
            key: 0,
            left_over: 0,
            may_idle: is_sync,
            distances: Distances::default(),
            processes: u32::from(is_sync),
            into: None,
            is_shared: false,
            seeky_since: None,
        };
        queue.set_priority(priority);
        queue
    }

    /// Gives it a priority (cfq_init_prio_data). It keeps its place in the order of turns.
    pub fn set_priority(&mut self, priority: Priority) {
        (self.class, self.level) = (priority.class(), level_of(priority));
        self.may_idle &= !self.is_idle_class();
    }

    /// Whether it has no queued request.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Whether it is served only while nobody else wants the device.
    pub fn is_idle_class(&self) -> bool {
        self.class == PriorityClass::Idle
    }

    /// Where it stands in the order of turns.
    pub fn rank(&self) -> (PriorityClass, Time) {
        (self.class, self.key)
    }

    /// A request comes: a sample of the distance from the last one.
    pub fn sample_distance(&mut self, rq: &Rq, now: Time) {
        self.distances.sample(rq);
        if self.is_shared {
            self.seeky_since = self.distances.are_seeky().then(|| self.seeky_since.unwrap_or(now));
        }
    }

    /// Finds out whether it pays to keep the device idle for it (cfq_update_idle_window).
    pub fn judge(&mut self, think: &FadingMean, has_ncq: bool, rules: &Rules) {
        if !self.is_sync || self.is_idle_class() {
            return;
        }
        if rules.slice_idle_ns == 0 || (!rules.low_latency && has_ncq && self.distances.are_seeky()) {
            self.may_idle = false;
        } else if think.is_valid() {
            let longest = if self.distances.are_surely_seeky() { MIN_THINK_NS } else { rules.slice_idle_ns };
            self.may_idle = think.mean_is_at_most(HALF, longest);
        }
    }

    /// The request that follows on `last`, which leaves the queue. The device is at `position`.
    pub fn following(&self, last: RqId, rules: &Rules, position: u64, pool: &Pool) -> Option<RqId> {
        rules.seek.neighbour(last, position, &self.lists.sorted, pool)
    }
}

/// The level of a priority: that of the idle class is the last one.
pub fn level_of(priority: Priority) -> u8 {
    match priority.class() {
        PriorityClass::Idle => LEVELS as u8 - 1,
        _ => priority.level(),
    }
}
