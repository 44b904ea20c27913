//! The closed blocks of a die by age, for policies that need not look at all of them.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::{BlockState, Info};
use crate::units::BlockId;

/// The closed blocks of a die, the oldest first.
///
/// A block is added when it is closed. An entry is stale once its block has been condemned. Stale entries are dropped at the
/// front, and everywhere before the list grows. Nothing is kept until the first look.
#[derive(Default)]
pub(super) struct ByAge {
    is_kept: bool,
    /// Blocks, and the closing clock when each was closed.
    closed: VecDeque<(BlockId, u32)>,
}

impl ByAge {
    /// A block has been closed.
    pub fn add(&mut self, block: BlockId, info: &[Info]) {
        if self.is_kept {
            if self.closed.len() == self.closed.capacity() {
                self.closed.retain(|&entry| is_fresh(entry, info));
                self.closed.reserve(self.closed.len()); // so that the next clean-up is as many blocks away
            }
            self.closed.push_back((block, info[block.idx()].closed_at));
        }
    }

    /// Visits closed blocks, the oldest first, until `visit` breaks off. `closings` is the present closing clock, `all` are the
    /// blocks of the die.
    pub fn visit(
        &mut self,
        info: &[Info],
        closings: u32,
        all: impl Iterator<Item = BlockId>,
        mut visit: impl FnMut(BlockId) -> ControlFlow<()>,
    ) {
        if !std::mem::replace(&mut self.is_kept, true) {
            self.closed = all.map(|block| (block, info[block.idx()].closed_at)).collect();
            self.closed.retain(|&entry| is_fresh(entry, info));
            let age = |&(_, closed_at): &(BlockId, u32)| closings.wrapping_sub(closed_at);
            self.closed.make_contiguous().sort_by_key(|entry| std::cmp::Reverse(age(entry)));
        }
        while self.closed.front().is_some_and(|&entry| !is_fresh(entry, info)) {
            self.closed.pop_front();
        }
        let fresh = self.closed.iter().filter(|&&entry| is_fresh(entry, info));
        let _ = fresh.map(|&(block, _)| block).try_for_each(&mut visit);
    }
}

#[inline(always)]
fn is_fresh((block, closed_at): (BlockId, u32), info: &[Info]) -> bool {
    let info = &info[block.idx()];
    info.state == BlockState::Closed && info.closed_at == closed_at
}
