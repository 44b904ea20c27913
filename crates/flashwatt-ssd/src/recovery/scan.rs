//! What a scan of the spare areas of all pages finds after a power cut.

use std::collections::BTreeMap;

use super::checkpoint::Checkpoint;
use super::map_pages::{KeptPage, MapRead};
use super::registers::CopyInRegister;
use super::spare::{Spare, SpareAreas, Ties, newest};
use crate::nand::{Array, Geometry};
use flashwatt_base::units::{BlockId, Lpn, Ppn};

/// What a scan of all spare areas finds: the address of the newest version of each page.
pub struct Found<'a> {
    /// The spare areas.
    pub areas: &'a SpareAreas,
    /// Blocks that are not erased, but in which nothing can be read: their erase was cut, or all their pages are torn.
    pub unreadable: Vec<BlockId>,
    /// Blocks that are no concern of the translation layer: those kept for the content of the write buffer, and the recovery log.
    pub kept_blocks: &'a [BlockId],
    /// The checkpoint that the scan began with, if there is one.
    checkpoint: Option<&'a Checkpoint>,
    /// What was read of a map on flash, if that is kept.
    map: Option<&'a MapRead>,
    /// By owner: the address (+ 1); 0 for none.
    newest: Vec<u32>,
}

/// What a scan has before it.
#[derive(Clone, Copy)]
pub struct ScannedFlash<'a> {
    /// Which pages are programmed.
    pub array: &'a Array,
    /// Their spare areas, but for those of `kept_blocks`.
    pub areas: &'a SpareAreas,
    /// Blocks whose erase was cut.
    pub half_erased: &'a [BlockId],
    /// Blocks kept for the content of the write buffer, and the recovery log.
    pub kept_blocks: &'a [BlockId],
    /// Of trimmed units: what has a version up to this one is void.
    pub trims: &'a BTreeMap<Lpn, u64>,
    /// The checkpoint that it begins with, if there is one.
    pub checkpoint: Option<&'a Checkpoint>,
    /// What was read of a map on flash, if the checkpoint leaves a part of the map to that.
    pub map: Option<&'a MapRead>,
}

impl<'a> Found<'a> {
    /// Scans the spare areas of a drive: with a checkpoint those that have been programmed since. Torn pages hold nothing.
    pub fn scan(flash: ScannedFlash<'a>, ties: Ties) -> Self {
        let ScannedFlash { array, areas, half_erased, kept_blocks, trims, checkpoint, map } = flash;
        let newest = newest(areas, ties, trims, |ppn, spare| is_shown(checkpoint, ppn, spare));
        let mut found = Found { areas, newest, kept_blocks, checkpoint, map, unreadable: Vec::new() };
        let is_unreadable = |block: &BlockId| {
            let holds_nothing = || array.planned_pages(*block) > 0 && !found.holds_anything(*block, array.geometry());
            !kept_blocks.contains(block) && (half_erased.contains(block) || holds_nothing())
        };
        found.unreadable = (0..array.geometry().blocks).map(BlockId).filter(is_unreadable).collect();
        found
    }

    fn holds_anything(&self, block: BlockId, geometry: &Geometry) -> bool {
        let first = geometry.first_ppn(block).0;
        (first..first + geometry.units_per_block).any(|ppn| self.areas.readable(Ppn(ppn)).is_some())
    }

    /// The address of the newest version of a page, if any of its versions can be read.
    pub fn newest(&self, owner: Lpn) -> Option<Ppn> {
        self.newest.get(owner.idx()).and_then(|place| place.checked_sub(1)).map(Ppn)
    }

    /// Takes the address (+ 1; 0 for none) of the newest version of each page, by owner. Nothing is found after that.
    pub fn take_newest(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.newest)
    }

    /// Whether the pages of the map on flash are kept.
    pub fn has_map(&self) -> bool {
        self.map.is_some()
    }

    /// What is kept of a page of the map on flash, if that is there.
    pub fn map_page(&self, page: u32) -> Option<&KeptPage> {
        self.map?.kept[page as usize].as_ref()
    }

    /// Copies of kept pages of the map that are in registers of dies alone.
    pub fn map_in_registers(&self) -> &[CopyInRegister] {
        self.map.map_or(&[], |map| &map.in_registers)
    }

    /// The owner of an address that holds the newest version of a page, be it there alone or not. An address that a checkpoint
    /// does not show holds nothing: the next recovery would not find it either.
    pub fn newest_version_at(&self, ppn: Ppn) -> Option<Lpn> {
        let spare = self.areas.readable(ppn).filter(|spare| is_shown(self.checkpoint, ppn, spare))?;
        let newest = self.areas.get(self.newest(spare.owner)?)?;
        (newest.version == spare.version).then_some(spare.owner)
    }

    /// The owner of an address that can be read, and whether it is the newest version.
    pub fn at(&self, ppn: Ppn) -> Option<(Lpn, bool)> {
        let spare = self.areas.readable(ppn)?;
        Some((spare.owner, self.newest(spare.owner) == Some(ppn)))
    }

    /// The number of the last program of a block; 0 if nothing in it can be read.
    pub fn last_program(&self, block: BlockId, array: &Array) -> u64 {
        let geometry = array.geometry();
        let first = geometry.first_ppn(block).0;
        let spares = (first..first + geometry.units_per_block).filter_map(|ppn| self.areas.get(Ppn(ppn)));
        spares.map(|spare| spare.program).max().unwrap_or(0)
    }
}

/// Whether a recovery with this checkpoint, if any, looks at what is at an address.
fn is_shown(checkpoint: Option<&Checkpoint>, ppn: Ppn, spare: &Spare) -> bool {
    checkpoint.is_none_or(|checkpoint| checkpoint.shows(ppn, spare))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_an_address_and_whether_it_is_the_newest() {
        let spare = |owner, version, program, is_torn| Spare { owner: Lpn(owner), version, program, is_torn };
        let written = [(0, spare(0, 2, 1, false)), (1, spare(0, 3, 2, false)), (2, spare(0, 9, 9, true))];
        let mut areas = SpareAreas::of(6);
        written.into_iter().for_each(|(ppn, spare)| areas.program(Ppn(ppn), spare));
        let found = Found {
            areas: &areas,
            newest: newest(&areas, Ties::Copy, &BTreeMap::new(), |_, _| true),
            kept_blocks: &[],
            checkpoint: None,
            map: None,
            unreadable: Vec::new(),
        };
        let expected = [Some((Lpn(0), false)), Some((Lpn(0), true)), None, None];
        assert_eq!([0, 1, 2, 5].map(|ppn| found.at(Ppn(ppn))), expected);
    }
}
