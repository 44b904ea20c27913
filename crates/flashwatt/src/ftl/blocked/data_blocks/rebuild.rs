//! Data blocks after a power cut.
//!
//! A logical block whose pages all lie in one block of its home die, each at its offset, keeps it as its data block. All others
//! (those with pages in log blocks, and those whose merge was cut) are merged: their pages are copied to a fresh block, one
//! logical block after the other on each die. Then every block without valid pages is erased. Recovery may need a block more
//! than the layer: a cut merge has taken one, and a torn page in it cannot be programmed again.

use super::{DataBlocks, Lbn};
use crate::blocks::BlockTable;
use crate::device::Array;
use crate::device::spare::Found;
use crate::ftl::Context;
use crate::ftl::plan::Plan;
use crate::operation::Cause;
use crate::units::{BlockId, Lpn};

/// What is left to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// Logical blocks to merge, the next one last.
    to_merge: Vec<Lbn>,
    /// Blocks that are no data blocks: erased when nothing in them is valid.
    others: Vec<BlockId>,
}

impl DataBlocks {
    /// Finds the data blocks of a fresh drive, and what must be merged.
    pub(super) fn rebuild(&mut self, found: &Found, blocks: &BlockTable, array: &Array) {
        for lpn in (0..self.geometry.logical_units).map(Lpn) {
            self.map[lpn.idx()] = found.newest(lpn).map_or(0, |ppn| ppn.0 + 1);
        }
        for block in (0..self.geometry.blocks).map(BlockId) {
            self.frontier[block.idx()] = array.planned_pages(block) as u16;
        }
        let mut to_merge: Vec<Lbn> = (0..self.logical_blocks()).map(Lbn).collect();
        to_merge.retain(|&of| self.is_to_merge(of, blocks));
        let mut is_other: Vec<bool> = (0..self.geometry.blocks).map(|block| blocks.is_in_use(BlockId(block))).collect();
        self.data.iter().filter_map(|data| data.checked_sub(1)).for_each(|data| is_other[data as usize] = false);
        let others = (0..self.geometry.blocks).filter(|&block| is_other[block as usize]).map(BlockId).collect();
        to_merge.reverse();
        self.recovery = Recovery { to_merge, others };
    }

    /// Whether a logical block must be merged. If not, and it holds pages, their block becomes its data block.
    fn is_to_merge(&mut self, of: Lbn, blocks: &BlockTable) -> bool {
        let mut places = self.pages(of).filter_map(|lpn| self.get(lpn).map(|ppn| (lpn, ppn))).peekable();
        let Some(&(_, first)) = places.peek() else { return false };
        let block = self.geometry.block_of(first);
        let mut pages = 0;
        let in_place = places.all(|(lpn, ppn)| {
            pages += 1;
            ppn == self.address(block, self.offset(lpn))
        });
        let is_data =
            in_place && self.geometry.die_of_block(block) == self.home(of) && blocks.valid_units(block) == pages;
        if is_data {
            self.data[of.idx()] = block.0 + 1;
        }
        !is_data
    }

    /// Plans merges, as many as there are erased blocks, and the erases of what is then void.
    pub(super) fn recover(&mut self, cx: &mut Context, plan: &mut Plan) {
        let mut waiting = std::mem::take(&mut self.recovery.to_merge);
        waiting.retain(|&of| match self.take_block(self.home(of), cx) {
            Some(fresh) => {
                self.copy_rest(of, fresh, cx, plan);
                self.data[of.idx()] = fresh.0 + 1;
                false
            }
            None => true,
        });
        self.recovery.to_merge = waiting;
        let mut others = std::mem::take(&mut self.recovery.others);
        others.retain(|&block| {
            let is_void = cx.blocks.valid_units(block) == 0;
            if is_void {
                cx.blocks.condemn(block);
                plan.erase(self.geometry.first_ppn(block), Cause::Merge);
            }
            !is_void
        });
        self.recovery.others = others;
        let is_done = self.recovery.to_merge.is_empty() || !plan.ops().is_empty();
        assert!(is_done, "no block for a merge after a power cut; this is a fault of the simulator");
    }

    /// Gives a logical block an erased data block if it has none.
    pub fn open_missing(&mut self, of: Lbn, cx: &mut Context) {
        if self.data_block(of).is_none() {
            let Some(block) = self.take_block(self.home(of), cx) else {
                unreachable!("each die has room for its data blocks")
            };
            self.data[of.idx()] = block.0 + 1;
        }
    }
}
