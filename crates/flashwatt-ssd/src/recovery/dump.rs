//! Blocks kept for the content of the write buffer, which capacitors bring to flash at a power cut.

use crate::nand::Geometry;
use flashwatt_base::units::{BlockId, Lpn, Ppn};

/// A unit of the write buffer on flash, as the spare area of its page describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DumpedUnit {
    /// Its address.
    pub ppn: Ppn,
    /// The logical unit.
    pub owner: Lpn,
    /// The version of its data.
    pub version: u64,
    /// The parts of the unit that it holds ([`crate::cache::write_buffer::NewestEntry`]).
    pub held: u64,
    /// Map units of the largest request that wrote to it.
    pub request_pages: u32,
}

/// The addresses of the first pages of erased blocks of all dies, in the order in which a dump takes them: one page of each die
/// after the other. `blocks` are sorted by die, with the same number of each.
pub fn pages<'a>(blocks: &'a [BlockId], geometry: &'a Geometry) -> impl Iterator<Item = Ppn> + 'a {
    let of_die = blocks.len() / geometry.dies as usize;
    let in_block = geometry.pages_per_block as usize;
    (0..of_die * in_block).flat_map(move |page| {
        let block_of = move |die: usize| blocks[die * of_die + page / in_block];
        let address =
            move |block| Ppn(geometry.first_ppn(block).0 + (page % in_block) as u32 * geometry.units_per_page);
        (0..geometry.dies as usize).map(move |die| address(block_of(die)))
    })
}
