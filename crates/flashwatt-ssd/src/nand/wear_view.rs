//! The wear of the flash, read-only.

use super::Array;
use flashwatt_base::units::{BlockId, DieId};

/// What decisions may know of the flash array: how worn its blocks are, and how full its dies.
#[derive(Clone, Copy)]
pub struct WearView<'a>(&'a Array);

impl<'a> WearView<'a> {
    /// The view of an array.
    #[inline]
    pub fn new(array: &'a Array) -> Self {
        WearView(array)
    }

    /// How often a block has been erased.
    #[inline]
    pub fn erases(self, block: BlockId) -> u32 {
        self.0.erases(block)
    }

    /// Mean of [`Self::erases`] over all blocks.
    pub fn mean_erases(self) -> f64 {
        self.0.mean_erases()
    }

    /// How many erases of any block ago this block was last erased.
    pub fn since_erase(self, block: BlockId) -> u32 {
        self.0.since_erase(block)
    }

    /// Programmed pages of a die.
    pub fn programmed_pages(self, die: DieId) -> u32 {
        self.0.programmed_pages(die)
    }
}
