//! Queues of processes that work closely together: they follow one another without idling, and become one.

use super::queue::{CfqQueue, QueueId, Time};
use super::{Cfq, SYNC};
use crate::pool::{Pool, Rq};
use crate::sched::Cx;

/// A shared queue that is seeky for longer is split (CFQQ_COOP_TOUT, HZ).
const SEEKY_NS: Time = 1_000_000_000;

impl Cfq {
    /// Whether a request lies where the next one of a queue is expected (cfq_rq_close).
    pub(super) fn is_close(&self, queue: &CfqQueue, rq: &Rq) -> bool {
        self.position.abs_diff(rq.first) <= queue.distances.close_sectors()
    }

    /// A queue that is waited for and whose next request lies where the next one of this queue is expected
    /// (cfq_close_cooperator). Only queues of one level work together.
    pub(super) fn cooperator(&self, id: QueueId, pool: &Pool) -> Option<QueueId> {
        let own = &self.queues[id];
        if self.order.is_empty() || !own.is_sync || own.distances.are_seeky() {
            return None;
        }
        let others = self.order.iter().filter_map(|&other| {
            let queue = &self.queues[other];
            let next = &pool[queue.next?];
            (queue.level == own.level && !queue.is_idle_class()).then_some((other, next))
        });
        let (other, next) = others.min_by_key(|(_, next)| self.position.abs_diff(next.first))?;
        let queue = &self.queues[other];
        (self.is_close(own, next) && queue.is_sync && !queue.distances.are_seeky()).then_some(other)
    }

    /// The queue that a process has now; `None` if it gets a new one. A shared queue that has become seeky loses a process; a
    /// process moves if its queue becomes a part of another one.
    pub(super) fn current(&mut self, process: u16, id: QueueId, cx: &mut Cx) -> Option<QueueId> {
        let now = cx.now as Time;
        let queue = &mut self.queues[id];
        if queue.is_shared && queue.seeky_since.is_some_and(|since| now > since + SEEKY_NS) {
            if queue.processes > 1 {
                let into = queue.into;
                self.leave(process, id, cx);
                if let Some(into) = into {
                    self.leave(process, into, cx);
                }
                return None;
            }
            (queue.is_shared, queue.seeky_since) = (false, None);
        }
        let Some(into) = self.queues[id].into else { return Some(id) };
        self.queues[into].is_shared = true;
        self.leave(process, id, cx);
        Some(into)
    }

    fn leave(&mut self, process: u16, id: QueueId, cx: &mut Cx) {
        self.processes[usize::from(process)].queues[SYNC] = None;
        self.queues[id].processes -= 1;
        self.release(id, cx);
    }

    /// A queue without processes and requests is not used any more (cfq_put_queue).
    pub(super) fn release(&mut self, id: QueueId, cx: &mut Cx) {
        let queue = &self.queues[id];
        if !queue.is_sync || queue.processes > 0 || !queue.is_empty() || queue.in_device > 0 {
            return;
        }
        if self.turn.as_ref().is_some_and(|turn| turn.queue == id) {
            self.expire(false, cx.now as Time, cx);
            *cx.runs = true;
        }
        self.free.push(id);
    }
}
