//! Running reads and writes of the map, by plan number: users of a cached entry wait for the read that brings it (law 6d),
//! and the report has the latency of each from its planning.

use std::collections::VecDeque;

use crate::ftl::PlanNumber;
use crate::observe::accounts::MapLatency;
use crate::operation::OpKind;
use flashwatt_base::units::{Nanos, OpId};

/// The lists, in the order of plan numbers. An entry is removed when it and all before it have ended.
#[derive(Clone, Default)]
pub(super) struct MapOps {
    reads: VecDeque<Read>,
    writes: VecDeque<MapWriteOps>,
}
#[derive(Clone)]

struct Read {
    seq: u64,
    /// The operation; [`OpId::NONE`] after its end.
    id: OpId,
    planned: Nanos,
}

/// The write of a map page with all its copies: operations with consecutive numbers.
#[derive(Clone)]
struct MapWriteOps {
    first: u64,
    copies: u32,
    /// Copies whose program has not ended.
    left: u32,
    planned: Nanos,
}

impl MapOps {
    /// Adds a planned read; its number is larger than those of all others.
    pub fn read_planned(&mut self, seq: u64, id: OpId, planned: Nanos) {
        debug_assert!(self.reads.back().is_none_or(|last| last.seq < seq));
        self.reads.push_back(Read { seq, id, planned });
    }

    /// Adds a planned program, one of `copies`; its number is larger than those of all others.
    pub fn write_planned(&mut self, seq: u64, copies: u32, planned: Nanos) {
        match self.writes.back_mut() {
            Some(last) if last.copies < copies && last.first + u64::from(last.copies) == seq => {
                (last.copies, last.left) = (last.copies + 1, last.left + 1);
            }
            _ => self.writes.push_back(MapWriteOps { first: seq, copies: 1, left: 1, planned }),
        }
    }

    /// The operation with this plan number, if it is a read of the map that has not ended.
    pub fn find(&self, number: PlanNumber) -> Option<OpId> {
        let at = self.position(number.0)?;
        self.reads.get(at).map(|read| read.id).filter(|id| id.is_some())
    }

    /// All reads of the map with numbers below the result have ended. `next` is the number of the next planned operation.
    pub fn settled(&self, next: u64) -> PlanNumber {
        PlanNumber(self.reads.front().map_or(next, |first| first.seq))
    }

    /// An operation with cause `map` has ended: a read or write of the map, or a copy by collection.
    pub fn ended(&mut self, kind: OpKind, seq: u64, now: Nanos, latency: &mut MapLatency) {
        if kind == OpKind::Program {
            return self.copy_ended(seq, now, latency);
        }
        if let Some(at) = self.position(seq) {
            self.reads[at].id = OpId::NONE;
            latency.read.add(now - self.reads[at].planned);
            while self.reads.front().is_some_and(|read| read.id.is_none()) {
                self.reads.pop_front();
            }
        }
    }

    fn copy_ended(&mut self, seq: u64, now: Nanos, latency: &mut MapLatency) {
        let behind = self.writes.partition_point(|write| write.first <= seq);
        let Some(write) = behind.checked_sub(1).map(|at| &mut self.writes[at]) else { return };
        if seq >= write.first + u64::from(write.copies) {
            return; // the copy of a page of the map by collection
        }
        if write.left == write.copies {
            latency.write_first.add(now - write.planned);
        }
        write.left -= 1;
        if write.left == 0 {
            latency.write_last.add(now - write.planned);
        }
        while self.writes.front().is_some_and(|write| write.left == 0) {
            self.writes.pop_front();
        }
    }

    fn position(&self, seq: u64) -> Option<usize> {
        self.reads.binary_search_by_key(&seq, |read| read.seq).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_found_until_they_end() {
        let (mut ops, mut latency) = (MapOps::default(), MapLatency::default());
        for seq in [3, 5, 8] {
            ops.read_planned(seq, OpId(seq as u32), 100 * seq);
        }
        ops.ended(OpKind::Read, 5, 1_000, &mut latency);
        ops.ended(OpKind::Read, 6, 1_000, &mut latency);
        assert_eq!([3, 5, 8, 9].map(|seq| ops.find(PlanNumber(seq))), [Some(OpId(3)), None, Some(OpId(8)), None]);
        assert_eq!(ops.settled(10), PlanNumber(3));
        ops.ended(OpKind::Read, 3, 2_000, &mut latency);
        assert_eq!(ops.reads.len(), 1, "what has ended at the front is gone");
        assert_eq!(ops.settled(10), PlanNumber(8));
        assert_eq!((latency.read.count(), latency.read.summary().mean), (2, Some((500.0 + 1_700.0) / 2.0)));
    }

    #[test]
    fn a_write_lasts_to_its_first_and_to_its_last_copy() {
        let (mut ops, mut latency) = (MapOps::default(), MapLatency::default());
        for (seq, planned) in [(4, 10), (5, 10), (6, 20), (7, 20)] {
            ops.write_planned(seq, 2, planned);
        }
        ops.ended(OpKind::Program, 6, 100, &mut latency);
        ops.ended(OpKind::Program, 5, 200, &mut latency);
        ops.ended(OpKind::Program, 9, 250, &mut latency); // something else
        assert_eq!((latency.write_first.count(), latency.write_last.count()), (2, 0));
        ops.ended(OpKind::Program, 4, 300, &mut latency);
        ops.ended(OpKind::Program, 7, 400, &mut latency);
        assert!(ops.writes.is_empty());
        let (first, last) = (latency.write_first.summary(), latency.write_last.summary());
        assert_eq!((first.min, first.max), (Some(80), Some(190)));
        assert_eq!((last.min, last.max), (Some(290), Some(380)));
    }
}
