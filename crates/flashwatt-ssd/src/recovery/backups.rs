//! Backups of lower pages: copies in blocks kept for that, from which a recovery from a power cut brings back what a torn upper page has
//! spoilt.
//!
//! Of these blocks the lower pages alone are programmed, so that no torn page among them spoils another one.

use crate::nand::Geometry;
use flashwatt_base::units::{BlockId, Lpn, Ppn};

/// A unit that a recovery brings back from a backup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BackedUp {
    /// The first address of the page of the backup.
    pub page: Ppn,
    /// The logical unit.
    pub owner: Lpn,
    /// The version of its data.
    pub version: u64,
}

/// The addresses of the pages of a block that take backups, in the order in which they are programmed.
pub fn pages(block: BlockId, geometry: &Geometry) -> impl Iterator<Item = Ppn> + use<> {
    geometry.pages_of(block).step_by(2)
}
