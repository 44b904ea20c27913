//! Reads of the map that have not ended, by plan number: those behind which a cached entry's users wait (law 6d).

use std::collections::VecDeque;

use crate::ftl::PlanNumber;
use crate::units::OpId;

/// The list, in the order of plan numbers. An entry that has ended goes once all before it have.
#[derive(Default)]
pub(super) struct MapReads(VecDeque<(u64, OpId)>);

impl MapReads {
    /// A read has been planned, after all others.
    pub fn planned(&mut self, seq: u64, id: OpId) {
        debug_assert!(self.0.back().is_none_or(|&(last, _)| last < seq));
        self.0.push_back((seq, id));
    }

    /// The operation of that plan number, if it is one of these and has not ended.
    pub fn find(&self, number: PlanNumber) -> Option<OpId> {
        let at = self.position(number.0)?;
        self.0.get(at).map(|&(_, id)| id).filter(|id| id.is_some())
    }

    /// All reads with lower numbers have ended, if so many plans' operations have been taken over.
    pub fn settled(&self, next: u64) -> PlanNumber {
        PlanNumber(self.0.front().map_or(next, |&(first, _)| first))
    }

    /// An operation has ended: one of these, or another.
    pub fn ended(&mut self, seq: u64) {
        let Some(at) = self.position(seq) else { return };
        self.0[at].1 = OpId::NONE;
        while self.0.front().is_some_and(|(_, id)| id.is_none()) {
            self.0.pop_front();
        }
    }

    fn position(&self, seq: u64) -> Option<usize> {
        self.0.binary_search_by_key(&seq, |&(seq, _)| seq).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_found_until_they_end() {
        let mut reads = MapReads::default();
        for seq in [3, 5, 8] {
            reads.planned(seq, OpId(seq as u32));
        }
        reads.ended(5);
        reads.ended(6);
        assert_eq!([3, 5, 8, 9].map(|seq| reads.find(PlanNumber(seq))), [Some(OpId(3)), None, Some(OpId(8)), None]);
        reads.ended(3);
        assert_eq!(reads.0.len(), 1, "what has ended at the front is gone");
    }
}
