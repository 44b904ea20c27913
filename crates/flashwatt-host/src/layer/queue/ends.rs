//! The ends of requests that went through the queue.

use super::Queue;
use crate::figures::kind;
use crate::pool::{Piece, RqId};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, RequestKind, Status};

/// A request that has ended in the device now.
struct Ended {
    status: Status,
    /// The index of its kind among the figures.
    kind: usize,
    dispatched_ns: Nanos,
    now: Nanos,
}

impl Queue {
    /// A request of the pool has ended in the device. Its completion, at this place, gives way to those of the processes'
    /// requests; returns the place behind them. The request keeps its place in the queue until then.
    #[inline(never)]
    pub fn queued_ended(&mut self, id: RqId, ends: &mut Vec<Completion>, mut at: usize, now: Nanos) -> usize {
        if self.barrier == Some(id) {
            self.barrier = None;
            self.waiting -= 1;
        } else if self.pool[id].kind != RequestKind::Flush {
            self.with(now, |scheduler, cx| scheduler.ended(id, cx));
        }
        let rq = &self.pool[id];
        let (piece, is_sync) = (rq.piece(rq.added_ns), rq.is_sync);
        let ended = Ended { status: ends[at].status, kind: kind(rq.kind), dispatched_ns: rq.dispatched_ns, now };
        match self.piece_ended(&piece, &ended) {
            Some(done) => {
                ends[at] = done;
                at += 1;
            }
            None => drop(ends.remove(at)),
        }
        if self.pool.has_joined(id) {
            at = self.joined_ended(id, &ended, ends, at);
        }
        self.free_place(is_sync);
        self.pool.remove(id);
        at
    }

    /// A request leaves its place, for a process that waits for one.
    #[inline(always)]
    pub(super) fn free_place(&mut self, is_sync: bool) {
        if self.places.free(is_sync) {
            self.waiters.wake(is_sync);
        }
    }

    #[inline(never)]
    fn joined_ended(&mut self, id: RqId, ended: &Ended, ends: &mut Vec<Completion>, mut at: usize) -> usize {
        while let Some(piece) = self.pool.take_joined(id) {
            if let Some(done) = self.piece_ended(&piece, ended) {
                ends.insert(at, done);
                at += 1;
            }
        }
        at
    }

    /// The completion of the process's request, if this was its last piece.
    #[inline(always)]
    fn piece_ended(&mut self, piece: &Piece, ended: &Ended) -> Option<Completion> {
        let io = &mut self.ios[piece.tag.0 as usize];
        io.left -= 1;
        io.is_refused |= ended.status != Status::Done;
        if io.left > 0 {
            return None;
        }
        let status = if io.is_refused { Status::OutOfRange } else { Status::Done };
        let (arrival_ns, sectors) = (io.arrival_ns, io.sectors);
        self.figures.moved(piece.process, if io.is_refused { 0 } else { sectors });
        self.count(piece, arrival_ns, ended);
        Some(Completion { tag: piece.tag, status })
    }

    #[inline(always)]
    fn count(&mut self, piece: &Piece, arrival_ns: Nanos, ended: &Ended) {
        let &Ended { kind, dispatched_ns, now, .. } = ended;
        let queued_ns = dispatched_ns - piece.added_ns;
        if dispatched_ns == arrival_ns {
            self.unqueued[kind].latency.add(now - arrival_ns);
        } else {
            let figures = &mut self.figures.kinds[kind];
            if piece.added_ns > arrival_ns {
                figures.slat.add(piece.added_ns - arrival_ns);
            }
            figures.clat.add(now - piece.added_ns);
            figures.queue.add(queued_ns);
            figures.device.add(now - dispatched_ns);
        }
        self.figures.waited(usize::from(piece.process), queued_ns);
    }
}
