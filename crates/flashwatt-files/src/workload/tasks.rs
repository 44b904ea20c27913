//! What runs in virtual time: threads and the file system's own tasks, each at its time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::disk::Task;
use flashwatt_base::units::Nanos;

/// Tasks by the time at which they go on. Those of one time go on in the order in which they were set.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Reverse<(Nanos, u64, Task)>>,
    set: u64,
}

impl Agenda {
    /// A task goes on at a time.
    pub fn set(&mut self, at: Nanos, task: Task) {
        self.heap.push(Reverse((at, self.set, task)));
        self.set += 1;
    }

    /// The next task, if its time has come.
    pub fn take(&mut self, now: Nanos) -> Option<Task> {
        let &Reverse((at, _, task)) = self.heap.peek()?;
        (at <= now).then(|| {
            self.heap.pop();
            task
        })
    }

    /// The time of the next task.
    pub fn next_at(&self) -> Option<Nanos> {
        self.heap.peek().map(|&Reverse((at, ..))| at)
    }
}

/// What tasks wait for: requests, each counted.
#[derive(Debug, Default)]
pub struct Waits {
    left: Vec<u32>,
}

impl Waits {
    /// For this number of tasks.
    pub fn new(tasks: usize) -> Self {
        Waits { left: vec![0; tasks] }
    }

    /// A task waits for one more request.
    pub fn add(&mut self, task: Task) {
        self.left[task as usize] += 1;
    }

    /// One of the requests has ended. Returns whether it was the last one.
    pub fn ended(&mut self, task: Task) -> bool {
        let left = &mut self.left[task as usize];
        *left -= 1;
        *left == 0
    }
}
