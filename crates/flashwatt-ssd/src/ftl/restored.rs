//! The state from which a translation layer restores itself: blocks and flash of a snapshot, and the owners of blocks.

use crate::blocks::{BlockState, BlockTable};
use crate::nand::Array;
use flashwatt_base::persist::{Flaw, require};
use flashwatt_base::units::{BlockId, DieId};

/// The parts of a drive that are restored before its translation layer.
pub struct RestoredDrive<'a> {
    /// The content of the blocks.
    pub blocks: &'a BlockTable,
    /// The programmed pages.
    pub array: &'a Array,
}

/// Blocks by whether they have an owner in the translation layer. A block has at most one.
pub struct Claims(Vec<bool>);

impl Claims {
    /// Claims of a drive of which no block has an owner yet.
    pub fn new(drive: &RestoredDrive) -> Self {
        Claims(vec![false; drive.blocks.geometry().blocks as usize])
    }

    /// Records the owner of a block, which must lie on `die`.
    ///
    /// # Errors
    /// If the block lies elsewhere, or has an owner already.
    pub fn claim(&mut self, block: BlockId, die: DieId, drive: &RestoredDrive) -> Result<(), Flaw> {
        let geometry = drive.blocks.geometry();
        let is_there = block.0 < geometry.blocks && geometry.die_of_block(block) == die;
        require(is_there, "a block that is not on its die")?;
        require(!std::mem::replace(&mut self.0[block.idx()], true), "a block with two owners")
    }

    /// Refuses a drive if a block in one of the given states has no owner.
    fn has_every(&self, drive: &RestoredDrive, is_owned: impl Fn(BlockState) -> bool) -> Result<(), Flaw> {
        let mut blocks = (0..drive.blocks.geometry().blocks).map(BlockId);
        let is_lost = |block: BlockId| is_owned(drive.blocks.state(block)) && !self.0[block.idx()];
        require(!blocks.any(is_lost), "a block in use that nothing owns")
    }

    /// Refuses a drive if a block under collection has no owner.
    ///
    /// # Errors
    /// If there is such a block.
    pub fn has_every_victim(&self, drive: &RestoredDrive) -> Result<(), Flaw> {
        self.has_every(drive, |state| state == BlockState::Victim)
    }

    /// Refuses a drive if a block that is not free has no owner.
    ///
    /// # Errors
    /// If there is such a block.
    pub fn has_every_used(&self, drive: &RestoredDrive) -> Result<(), Flaw> {
        self.has_every(drive, |state| state != BlockState::Free)
    }
}
