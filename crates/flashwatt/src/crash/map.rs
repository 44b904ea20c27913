//! What the pages of a map on flash say: the part of the observer that follows them.

use std::collections::BTreeMap;

use crate::config::Config;
use flashwatt_base::units::{BlockId, Lpn, Ppn};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::plan::MapWrite;
use flashwatt_ssd::ftl::{MapEntry, PlannedOp};
use flashwatt_ssd::nand::Geometry;
use flashwatt_ssd::recovery::checkpoint::Checkpoint;
use flashwatt_ssd::recovery::map_pages::{MapContent, MapContents, MapLayout};
use flashwatt_ssd::recovery::spare::SpareAreas;

/// Follows the pages of a map on flash, if the drive has checkpoints that leave a part of the map to them.
#[derive(Default)]
pub(super) struct MapWitness {
    /// None if nothing is followed.
    pub layout: Option<MapLayout>,
    /// By address, planned ones included.
    pub contents: MapContents,
    /// By page: what it says as if all planned operations had ended.
    newest: BTreeMap<u32, MapContent>,
}

impl MapWitness {
    /// Follows the map of a drive. `contents`: of its pages on flash, if they are known; else the pages that count say what the drive
    /// says of them, and the others nothing.
    pub fn new(config: &Config, firmware: &Firmware, geometry: &Geometry, contents: Option<&MapContents>) -> Self {
        let has_checkpoints = config.ssd().recovery.checkpoint_interval_bytes.is_some();
        let Some(map) = firmware.ftl.map_on_flash().filter(|_| has_checkpoints) else { return MapWitness::default() };
        let layout = MapLayout {
            logical_units: geometry.logical_units,
            entries_per_page: map.entries_per_page,
            copies: map.copies,
        };
        let says = |lpn| match firmware.ftl.map_entry(lpn) {
            MapEntry::Says(ppn) => ppn,
            MapEntry::AsBefore => None,
        };
        let page_at = |ppn| layout.page_of(firmware.blocks.lpn_at(ppn)?).map(|(page, _)| page);
        let content = |ppn| {
            let units = layout.units_of(page_at(ppn)?);
            let is_valid = firmware.blocks.is_valid(ppn);
            Some((ppn, units.map(|lpn| says(lpn).filter(|_| is_valid)).collect()))
        };
        let all = || (0..geometry.physical_units()).map(Ppn).filter_map(content).collect();
        let contents: MapContents = contents.map_or_else(all, Clone::clone);
        let newest = firmware.ftl.map_pages().into_iter();
        let newest = newest.filter_map(|ppn| Some((page_at(ppn)?, contents.get(&ppn)?.clone()))).collect();
        MapWitness { layout: Some(layout), contents, newest }
    }

    /// A checkpoint that leaves to the pages of the map what they say.
    pub fn leave_to_flash(&self, checkpoint: Checkpoint, areas: &SpareAreas, firmware: &Firmware) -> Checkpoint {
        let Some(layout) = self.layout else { return checkpoint };
        let is_settled = |lpn: Lpn, place| {
            let (page, at) = (lpn.0 / layout.entries_per_page, lpn.0 % layout.entries_per_page);
            let newest = self.newest.get(&page).and_then(|content| content[at as usize]);
            newest == place && firmware.ftl.map_entry(lpn) == MapEntry::Says(place) // a collection may have moved it
        };
        checkpoint.beside_map(layout, areas, &self.contents, is_settled)
    }

    /// The programs of all copies of a page of the map are planned.
    pub fn written(&mut self, write: &MapWrite, copies: &[PlannedOp]) {
        let before = self.newest.get(&write.page);
        let says = |(entry, at): (&MapEntry, usize)| match *entry {
            MapEntry::Says(ppn) => ppn,
            MapEntry::AsBefore => before.and_then(|before| before[at]),
        };
        let content: MapContent = write.content.iter().zip(0..).map(says).collect();
        self.contents.extend(copies.iter().map(|op| (op.ppn, content.clone())));
        self.newest.insert(write.page, content);
    }

    /// The newest version of a page says this.
    pub fn set_newest(&mut self, page: u32, content: MapContent) {
        self.newest.insert(page, content);
    }

    /// A collection copies a page of the map.
    pub fn copied(&mut self, from: Ppn, to: Ppn, owner: Lpn) {
        if self.layout.is_some_and(|layout| layout.page_of(owner).is_some())
            && let Some(content) = self.contents.get(&from).cloned()
        {
            self.contents.insert(to, content);
        }
    }

    /// The erase of a block has ended.
    pub fn erased(&mut self, block: BlockId, geometry: &Geometry) {
        if !self.contents.is_empty() {
            let first = geometry.first_ppn(block).0;
            let in_block = Ppn(first)..Ppn(first + geometry.units_per_block);
            let there: Vec<Ppn> = self.contents.range(in_block).map(|(&ppn, _)| ppn).collect();
            there.iter().for_each(|ppn| _ = self.contents.remove(ppn));
        }
    }
}
