//! What a translation layer restores itself from: the blocks and the flash of a snapshot, and who owns which block.

use crate::blocks::{BlockState, BlockTable};
use crate::device::Array;
use crate::persist::{Flaw, require};
use crate::units::{BlockId, DieId};

/// What a translation layer restores itself from, beside the file: the blocks and the flash, which are there already.
pub struct RestoredDrive<'a> {
    /// What the blocks hold.
    pub blocks: &'a BlockTable,
    /// What is programmed.
    pub array: &'a Array,
}

/// Blocks that something of the drive is the only owner of.
pub struct Claims(Vec<bool>);

impl Claims {
    /// None is claimed.
    pub fn new(drive: &RestoredDrive) -> Self {
        Claims(vec![false; drive.blocks.geometry().blocks as usize])
    }

    /// A block of a die gets its owner.
    ///
    /// # Errors
    /// If it lies elsewhere, or has an owner.
    pub fn claim(&mut self, block: BlockId, die: DieId, drive: &RestoredDrive) -> Result<(), Flaw> {
        let geometry = drive.blocks.geometry();
        let is_there = block.0 < geometry.blocks && geometry.die_of_block(block) == die;
        require(is_there, "a block that is not on its die")?;
        require(!std::mem::replace(&mut self.0[block.idx()], true), "a block with two owners")
    }

    /// Refuses a drive with blocks in a state of which no owner has claimed one.
    fn has_every(&self, drive: &RestoredDrive, is_owned: impl Fn(BlockState) -> bool) -> Result<(), Flaw> {
        let mut blocks = (0..drive.blocks.geometry().blocks).map(BlockId);
        let is_lost = |block: BlockId| is_owned(drive.blocks.state(block)) && !self.0[block.idx()];
        require(!blocks.any(is_lost), "a block in use that nothing owns")
    }

    /// Refuses a drive with a block that is being collected by nobody.
    ///
    /// # Errors
    /// If there is one.
    pub fn has_every_victim(&self, drive: &RestoredDrive) -> Result<(), Flaw> {
        self.has_every(drive, |state| state == BlockState::Victim)
    }

    /// Refuses a drive with a block that is not free and that nobody owns.
    ///
    /// # Errors
    /// If there is one.
    pub fn has_every_used(&self, drive: &RestoredDrive) -> Result<(), Flaw> {
        self.has_every(drive, |state| state != BlockState::Free)
    }
}
