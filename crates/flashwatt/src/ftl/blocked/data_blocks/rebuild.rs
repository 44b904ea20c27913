//! Data blocks after a power cut.
//!
//! The data block of a logical block is the block of its home die in which all newest pages lie at their offsets; of several
//! such blocks, which a cut merge leaves, the one with the most of them. The scheme may take the others over as its own blocks, the
//! oldest first ([`OnDataBlocks::adopt`]). Logical blocks with pages in blocks that are neither are merged: their pages are copied
//! to a fresh block, one logical block after the other on each die. Then these blocks are erased. That may need a block more than
//! the layer has otherwise: a cut merge has taken one, and a torn page in it cannot be programmed again.

use super::{DataBlocks, Lbn, OnDataBlocks};
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
    /// Logical blocks to merge.
    to_merge: Vec<Lbn>,
    /// Blocks that are erased when nothing in them is valid.
    void: Vec<BlockId>,
}

/// Rebuilds a fresh scheme.
pub(super) fn rebuild<S: OnDataBlocks>(scheme: &mut S, found: &Found, blocks: &BlockTable, array: &Array) {
    let mut others = scheme.data_mut().find_data_blocks(found, blocks, array);
    others.sort_by_key(|&block| found.last_program(block, array));
    others.retain(|&block| blocks.valid_units(block) == 0 || !scheme.adopt(block, blocks));
    let to_merge = scheme.data().owners(&others, blocks);
    others.extend(to_merge.iter().filter_map(|&of| scheme.give_up(of)));
    scheme.data_mut().recovery = Recovery { to_merge, void: others };
}

impl DataBlocks {
    /// Finds the data blocks of a fresh drive. Returns all other blocks that are in use.
    fn find_data_blocks(&mut self, found: &Found, blocks: &BlockTable, array: &Array) -> Vec<BlockId> {
        for lpn in (0..self.geometry.logical_units).map(Lpn) {
            self.map[lpn.idx()] = found.newest(lpn).map_or(0, |ppn| ppn.0 + 1);
        }
        let mut others = Vec::new();
        for block in (0..self.geometry.blocks).map(BlockId) {
            self.frontier[block.idx()] = array.planned_pages(block) as u16;
            if blocks.is_in_use(block) {
                match self.owner_in_place(block, blocks) {
                    Some(of) => others.extend(self.prefer(of, block, blocks)),
                    None => others.push(block),
                }
            }
        }
        others
    }

    /// The logical block that a block can be the data block of: its valid pages lie at their offsets.
    fn owner_in_place(&self, block: BlockId, blocks: &BlockTable) -> Option<Lbn> {
        let of = self.logical_block(blocks.valid_lpns(block).next()?);
        let in_place = |lpn: Lpn| {
            self.logical_block(lpn) == of && self.get(lpn) == Some(self.address(block, self.offset(lpn)))
        };
        let is_home = self.geometry.die_of_block(block) == self.home(of);
        (is_home && blocks.valid_lpns(block).all(in_place)).then_some(of)
    }

    /// Makes a block the data block of a logical block if it holds more than the one so far. Returns the one that is none.
    fn prefer(&mut self, of: Lbn, block: BlockId, blocks: &BlockTable) -> Option<BlockId> {
        let Some(old) = self.data_block(of) else {
            self.data[of.idx()] = block.0 + 1;
            return None;
        };
        if blocks.valid_units(block) <= blocks.valid_units(old) {
            return Some(block);
        }
        self.data[of.idx()] = block.0 + 1;
        Some(old)
    }

    /// The logical blocks with valid pages in these blocks.
    fn owners(&self, of: &[BlockId], blocks: &BlockTable) -> Vec<Lbn> {
        let valid = of.iter().flat_map(|&block| blocks.valid_lpns(block));
        let mut owners: Vec<Lbn> = valid.map(|lpn| self.logical_block(lpn)).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// The rest of a block that is not full is not used any more.
    pub fn use_up(&mut self, block: BlockId) {
        self.frontier[block.idx()] = self.geometry.pages_per_block as u16;
    }

    /// Plans merges, as many as there are erased blocks, and the erases of what is then void.
    pub(super) fn recover(&mut self, cx: &mut Context, plan: &mut Plan) {
        let mut to_merge = std::mem::take(&mut self.recovery.to_merge);
        to_merge.retain(|&of| {
            let fresh = self.take_block(self.home(of), cx);
            if let Some(fresh) = fresh {
                self.copy_rest(of, fresh, cx, plan);
                self.set_data_block(of, fresh, cx, plan);
            }
            fresh.is_none()
        });
        let mut void = std::mem::take(&mut self.recovery.void);
        void.retain(|&block| {
            let is_void = cx.blocks.valid_units(block) == 0;
            if is_void {
                cx.blocks.condemn(block);
                plan.erase(self.geometry.first_ppn(block), Cause::Merge);
            }
            !is_void
        });
        let goes_on = to_merge.is_empty() || !plan.ops().is_empty();
        assert!(goes_on, "no block for a merge after a power cut; this is a fault of the simulator");
        self.recovery = Recovery { to_merge, void };
    }

    /// Gives a logical block an erased data block if it has none.
    pub fn open_missing(&mut self, of: Lbn, cx: &mut Context) {
        if self.data_block(of).is_none() {
            let block = self.take_block(self.home(of), cx);
            let Some(block) = block else { unreachable!("each die has room for its data blocks") };
            self.data[of.idx()] = block.0 + 1;
        }
    }
}
