//! Processes and their queues. Processes that read one region in turns share a queue.

use super::queue::{Queue, QueueId};
use super::{CfqEl6, SYNC, Tick};
use crate::pool::{Rq, RqId};
use crate::sched::Cx;
use crate::sched::cfq::level_of;
use crate::sched::fading::FadingMean;
use flashwatt_core::connector::Priority;

/// A process and its queues.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    priority: Option<Priority>,
    /// Of requests that nobody waits for, and of those that somebody waits for.
    pub queues: [Option<QueueId>; 2],
    /// Times from its last end of a request to its next request.
    pub think: FadingMean,
    pub last_end: Tick,
}

impl CfqEl6 {
    /// The queue that a process has now.
    pub(super) fn queue_now(&self, process: u16, is_sync: bool) -> Option<QueueId> {
        self.processes.get(usize::from(process))?.queues[usize::from(is_sync)]
    }

    /// The queue of a new request (cfq_set_request).
    pub(super) fn queue_for(&mut self, rq: RqId, now: Tick, cx: &mut Cx) -> QueueId {
        let Rq { process: number, is_sync, priority, .. } = cx.pool[rq];
        let at = usize::from(number);
        if self.processes.len() <= at {
            self.processes.resize(at + 1, Process::default());
        }
        let process = &mut self.processes[at];
        let before = process.priority.replace(priority);
        if before.is_none() {
            process.last_end = now;
        }
        let has_changed = before.is_some_and(|before| before != priority);
        let [asynchronous, sync] = process.queues;
        if has_changed && let Some(id) = sync {
            self.queues[id].set_priority(priority);
        }
        let known = match is_sync {
            true => sync.and_then(|id| self.current(number, id, now, cx)),
            false => asynchronous.filter(|_| !has_changed).or(*self.async_queue(priority)),
        };
        let id = known.unwrap_or_else(|| self.create(is_sync, priority));
        self.processes[at].queues[usize::from(is_sync)] = Some(id);
        id
    }

    fn async_queue(&mut self, priority: Priority) -> &mut Option<QueueId> {
        &mut self.async_queues[priority.class() as usize][usize::from(level_of(priority))]
    }

    fn create(&mut self, is_sync: bool, priority: Priority) -> QueueId {
        let queue = Queue::new(is_sync, priority);
        let id = self.free.pop().unwrap_or(self.queues.len());
        if id == self.queues.len() {
            self.queues.push(queue);
        } else {
            self.queues[id] = queue;
        }
        if !is_sync {
            *self.async_queue(priority) = Some(id);
        }
        id
    }

    /// The queue that a process has with its next request; `None` if it gets a new one. A shared queue that has become seeky loses a
    /// process; a process moves if its queue becomes a part of another one.
    fn current(&mut self, process: u16, id: QueueId, now: Tick, cx: &mut Cx) -> Option<QueueId> {
        let queue = &mut self.queues[id];
        if queue.is_shared && queue.is_split {
            if queue.processes > 1 {
                self.leave(process, id, now, cx);
                return None;
            }
            (queue.is_shared, queue.is_split) = (false, false);
        }
        let Some(into) = queue.into else { return Some(id) };
        self.queues[into].is_shared = true;
        self.leave(process, id, now, cx);
        Some(into)
    }

    fn leave(&mut self, process: u16, id: QueueId, now: Tick, cx: &mut Cx) {
        self.processes[usize::from(process)].queues[SYNC] = None;
        self.queues[id].processes -= 1;
        self.release(id, now, cx);
    }

    /// A queue without processes and requests is not used any more (cfq_put_queue).
    pub(super) fn release(&mut self, id: QueueId, now: Tick, cx: &mut Cx) {
        let queue = &self.queues[id];
        if !queue.is_sync || queue.processes > 0 || !queue.is_empty() || queue.in_flight > 0 {
            return;
        }
        if self.turn.as_ref().is_some_and(|turn| turn.queue == id) {
            self.expire(false, now, cx);
            *cx.runs = true;
        }
        self.free.push(id);
    }
}
