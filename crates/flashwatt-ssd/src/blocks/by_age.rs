//! The closed blocks of a die by valid units and age, for policies that need not look at all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Info, is_candidate};
use flashwatt_base::units::BlockId;

/// For each count of valid units the closed blocks of a die that have it, the oldest first.
///
/// A block is added when it is closed, and each time that its count falls. An entry is stale once the block's count has changed, or
/// the block has been condemned. Stale entries are dropped at the front, and everywhere before there are too many. Nothing is kept
/// until the first look.
#[derive(Default)]
pub(super) struct ByAge {
    /// By count.
    blocks: Vec<BinaryHeap<Reverse<ClosedBlock>>>,
    entries: usize,
    /// The number of entries at which stale ones are dropped everywhere.
    clean_at: usize,
    /// The closing clock, which [`Info`] has in 32 bits, and 2^32 more.
    clock: u64,
}

/// When a block was closed, and the block.
type ClosedBlock = (u64, BlockId);

impl ByAge {
    /// A closed block has a new count. `closings` is the present closing clock.
    #[inline(always)]
    pub fn note(&mut self, block: BlockId, info: &[Info], closings: u32) {
        if !self.blocks.is_empty() {
            self.push(block, info, closings);
        }
    }

    #[inline(never)]
    fn push(&mut self, block: BlockId, info: &[Info], closings: u32) {
        if self.entries >= self.clean_at {
            self.clean(info);
        }
        let of_block = &info[block.idx()];
        self.clock += u64::from(closings.wrapping_sub(self.clock as u32));
        let closed = self.clock - u64::from(closings.wrapping_sub(of_block.closed_at));
        self.blocks[usize::from(of_block.valid)].push(Reverse((closed, block)));
        self.entries += 1;
    }

    /// Visits of each count the oldest block that has it, and the others with it if `visit` says so. `all` are the blocks of the die,
    /// `units` are those of a block.
    pub fn visit(
        &mut self,
        info: &[Info],
        closings: u32,
        all: impl Iterator<Item = BlockId>,
        units: u32,
        mut visit: impl FnMut(BlockId) -> bool,
    ) {
        if self.blocks.is_empty() {
            self.begin(info, closings, all, units);
        }
        for (valid, blocks) in self.blocks.iter_mut().enumerate() {
            let is_fresh = |Reverse(entry): &Reverse<ClosedBlock>| is_fresh(*entry, info, valid);
            while blocks.peek().is_some_and(|entry| !is_fresh(entry)) {
                blocks.pop();
                self.entries -= 1;
            }
            let Some(&Reverse((_, oldest))) = blocks.peek() else { continue };
            if visit(oldest) {
                blocks.iter().filter(|entry| is_fresh(entry)).for_each(|Reverse((_, block))| _ = visit(*block));
            }
        }
    }

    fn begin(&mut self, info: &[Info], closings: u32, all: impl Iterator<Item = BlockId>, units: u32) {
        self.blocks.resize_with(units as usize + 1, BinaryHeap::new);
        (self.clean_at, self.clock) = (usize::MAX, 1 << 32);
        for block in all.filter(|block| info[block.idx()].is_closed()) {
            self.push(block, info, closings);
        }
        self.limit();
    }

    /// Drops all stale entries.
    fn clean(&mut self, info: &[Info]) {
        for (valid, blocks) in self.blocks.iter_mut().enumerate() {
            blocks.retain(|Reverse(entry)| is_fresh(*entry, info, valid));
        }
        self.entries = self.blocks.iter().map(BinaryHeap::len).sum();
        self.limit();
    }

    fn limit(&mut self) {
        const LEAST: usize = 1024;
        self.clean_at = LEAST.max(4 * self.entries);
    }
}

#[inline(always)]
fn is_fresh((closed, block): ClosedBlock, info: &[Info], valid: usize) -> bool {
    is_candidate(info, block, valid) && info[block.idx()].closed_at == closed as u32
}
