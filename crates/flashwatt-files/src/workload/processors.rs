//! Processors: how many threads run at a time, and for how long one runs while others wait (Linux, kernel/sched/fair.c).

use std::collections::VecDeque;

use crate::disk::Task;
use flashwatt_base::units::Nanos;

/// All that are ready run once in this time, and each for at least this (sysctl_sched_latency, sysctl_sched_min_granularity), for
/// one processor. More processors make both longer: by the logarithm of their number, of 8 at most.
const LATENCY_NS: Nanos = 6_000_000;
const LEAST_NS: Nanos = 750_000;

/// The processors, and the threads that are ready and have none, in the order in which they became so.
#[derive(Debug)]
pub struct Processors {
    cores: u32,
    free: u32,
    ready: VecDeque<Task>,
    /// By thread: since when it runs; none for one that does not.
    since: Vec<Option<Nanos>>,
}

impl Processors {
    /// This number of processors for this number of threads.
    pub fn new(cores: u32, threads: usize) -> Self {
        Processors { cores, free: cores, ready: VecDeque::new(), since: vec![None; threads] }
    }

    /// A thread goes on, if it has a processor, gets one, or may keep its own. Otherwise it is ready, and [`Self::leave`] names it
    /// later.
    pub fn enter(&mut self, task: Task, now: Nanos) -> bool {
        let Some(since) = self.since[task as usize] else {
            if self.free == 0 {
                self.ready.push_back(task);
                return false;
            }
            self.free -= 1;
            self.since[task as usize] = Some(now);
            return true;
        };
        self.ready.is_empty() || now - since < self.slice_ns()
    }

    /// A thread that runs has to give way to others: it is ready behind them. Returns the one that runs now.
    pub fn give_way(&mut self, task: Task, now: Nanos) -> Option<Task> {
        self.ready.push_back(task);
        self.leave(task, now)
    }

    /// A thread that runs waits for something. Returns the one that has its processor now.
    pub fn leave(&mut self, task: Task, now: Nanos) -> Option<Task> {
        self.since[task as usize] = None;
        let next = self.ready.pop_front();
        match next {
            Some(next) => self.since[next as usize] = Some(now),
            None => self.free += 1,
        }
        next
    }

    /// Whether a thread runs.
    pub fn runs(&self, task: Task) -> bool {
        self.since[task as usize].is_some()
    }

    fn slice_ns(&self) -> Nanos {
        let longer = 1 + Nanos::from(self.cores.min(8).ilog2());
        let on_each = (self.ready.len() as u64 + u64::from(self.cores)).div_ceil(u64::from(self.cores));
        (longer * LATENCY_NS / on_each).max(longer * LEAST_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One processor, two threads: each runs for 3 ms, half of the latency.
    #[test]
    fn threads_take_turns() {
        let mut processors = Processors::new(1, 2);
        assert!(processors.enter(0, 0) && !processors.enter(1, 0), "one runs, the other is ready");
        assert!(processors.enter(0, 2_999_999), "its time is not over");
        assert!(!processors.enter(0, 3_000_000));
        assert_eq!(processors.give_way(0, 3_000_000), Some(1));
        assert!(processors.runs(1) && !processors.runs(0));
        assert_eq!(processors.leave(1, 4_000_000), Some(0));
        assert!(processors.enter(0, 100_000_000), "nobody else is ready");
        assert_eq!(processors.leave(0, 100_000_000), None);
    }

    /// Eight threads on one processor: 0.75 ms each.
    #[test]
    fn many_threads_have_the_least_time() {
        let mut processors = Processors::new(1, 8);
        assert_eq!((0..8).filter(|&task| processors.enter(task, 0)).count(), 1);
        assert!(processors.enter(0, 749_999) && !processors.enter(0, 750_000));
    }
}
