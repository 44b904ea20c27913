//! Write frontiers after a power cut.

use super::Pages;
use crate::blocks::{BlockState, BlockTable};
use crate::ftl::paged::frontier::Frontier;
use crate::nand::Array;
use flashwatt_base::units::{BlockId, DieId};

impl Pages {
    /// Puts the frontiers of a fresh drive behind what is in the open blocks of each die: that with the most room for copies, which
    /// may have no erased block, the next one for the host (or the first, if both share one), a third one for what a move of cold data left. Further open blocks are closed as they are. Collections
    /// that were cut begin anew, by a new choice of a victim.
    pub fn rebuild(&mut self, blocks: &mut BlockTable, array: &mut Array) {
        for die in (0..self.geometry.dies).map(DieId) {
            if let Some(slc) = &mut self.slc {
                slc.rebuild(die, blocks, array);
            }
            let mut open = self.open_blocks(die, blocks, array).into_iter();
            let mut next = || {
                let geometry = &self.geometry;
                open.next()
                    .map(|block| Frontier::behind(geometry, block, array.planned_pages(block)))
                    .unwrap_or_default()
            };
            let gc = if self.separate_frontiers { next() } else { Frontier::default() };
            let host = next();
            let leftover = next();
            let writes = &mut self.dies[die.idx()];
            (writes.host, writes.gc, writes.leftover, writes.is_short) = (host, gc, leftover, true);
            open.for_each(|block| blocks.close(block));
        }
    }

    /// The open blocks of a die that hold data, those with the most room first. Gaps that a cut left are given up.
    fn open_blocks(&self, die: DieId, blocks: &mut BlockTable, array: &mut Array) -> Vec<BlockId> {
        let is_open =
            |block: &BlockId, blocks: &BlockTable| blocks.state(*block) == BlockState::Open && !blocks.is_apart(*block);
        let mut open: Vec<BlockId> = self.geometry.blocks_of(die).filter(|block| is_open(block, blocks)).collect();
        for &block in &open {
            array.give_up_gaps(block);
            if array.is_full(block) {
                blocks.close(block);
            }
        }
        open.retain(|block| is_open(block, blocks));
        open.sort_by_key(|&block| array.planned_pages(block));
        open
    }
}
