//! The table of blocks after a power cut, from what a scan of the spare areas found.

use super::{BlockState, BlockTable, ERASED};
use crate::nand::Array;
use crate::recovery::scan::Found;
use flashwatt_base::units::{BlockId, Lpn, Ppn};

/// Stands for the owner of a torn page, which is not erased, but holds no page's data. No logical page is that large.
const TORN: Lpn = Lpn(ERASED - 2);

impl BlockTable {
    /// The table of a drive whose memory is lost: a block is free if it is erased, closed if it is fully programmed, else open.
    /// Addresses with the newest version of a page are valid. Blocks in which nothing can be read are victims.
    pub fn rebuilt(found: &Found, array: &Array) -> Self {
        let mut table = BlockTable::new(array.geometry().clone());
        let mut used: Vec<BlockId> = (0..table.geometry.blocks).map(BlockId).collect();
        used.retain(|&block| array.planned_pages(block) > 0 && !found.kept_blocks.contains(&block));
        used.sort_by_key(|&block| found.last_program(block, array)); // the age of a block counts from when it was closed
        for block in used {
            table.open(block);
            table.note_units(block, found);
            if array.is_full(block) {
                table.close(block);
            }
        }
        found.unreadable.iter().for_each(|&block| table.condemn_unreadable(block));
        found.kept_blocks.iter().for_each(|&block| table.keep_apart(block));
        table
    }

    /// Keeps a free block from the translation layer: it is a victim that nobody erases.
    pub fn keep_apart(&mut self, block: BlockId) {
        self.open(block);
        self.condemn(block);
    }

    fn note_units(&mut self, block: BlockId, found: &Found) {
        let first = self.geometry.first_ppn(block).0;
        for ppn in (first..first + self.geometry.units_per_block).map(Ppn) {
            match found.at(ppn) {
                Some((owner, true)) => self.set_valid(ppn, owner),
                Some((owner, false)) => self.lpns[ppn.idx()] = owner.0 + 1,
                None if found.areas.get(ppn).is_some() => self.lpns[ppn.idx()] = TORN.0 + 1,
                None => {}
            }
        }
    }

    fn condemn_unreadable(&mut self, block: BlockId) {
        if self.state(block) == BlockState::Free {
            self.open(block); // the erase of a block in which nothing had been programmed
        }
        self.condemn(block);
    }
}
