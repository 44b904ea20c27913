//! The pages of a map that a layer has on flash, and what a recovery with a checkpoint reads of them.
//!
//! Such a checkpoint holds what memory alone had of the map when it was begun: where the pages of the map were on flash, and the
//! entries that these pages did not have, since they had changed, or since the program that they name had not ended. Among them are
//! those of pages that a collection has copied and whose page of the map it has not written yet. All other entries a recovery reads
//! from the pages.
//!
//! Of each page of the map the newest version counts of which all copies can be read. An entry of it may name data that never came to
//! flash: a page that was programmed since, while the scan has found nothing newer of the unit. Then the entry of the version before
//! counts. The drive keeps that one until the data is on flash (`controller/old_map.rs`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::registers::{CopyInRegister, InRegister};
use super::spare::SpareAreas;
use flashwatt_base::units::{Lpn, Ppn};

/// The addresses that a page of the map says.
pub type MapContent = Arc<[Option<Ppn>]>;

/// The contents of all pages of the map on flash, by their addresses.
pub type MapContents = BTreeMap<Ppn, MapContent>;

/// How the map is spread over its pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapLayout {
    /// Units that the host can address. The pages of the map follow them as owners, all originals first, then all first
    /// replicas, and so on.
    pub logical_units: u32,
    /// Entries of a page of the map.
    pub entries_per_page: u32,
    /// Copies of each page.
    pub copies: u32,
}

impl MapLayout {
    /// Pages of the map, without replicas.
    pub fn pages(&self) -> u32 {
        self.logical_units.div_ceil(self.entries_per_page)
    }

    /// The page of the map that an owner stands for, and the number of the copy.
    pub fn page_of(&self, owner: Lpn) -> Option<(u32, u32)> {
        let at = owner.0.checked_sub(self.logical_units)?;
        Some((at % self.pages(), at / self.pages()))
    }

    /// The units whose entries a page holds.
    pub fn units_of(&self, page: u32) -> impl Iterator<Item = Lpn> + use<> {
        let first = page * self.entries_per_page;
        (first..self.logical_units.min(first + self.entries_per_page)).map(Lpn)
    }

    /// Of each page the versions of which all copies can be read, on flash or else in a register, the newest first, with the addresses
    /// of the copies.
    pub(super) fn versions(&self, areas: &SpareAreas, registers: &[InRegister]) -> Vec<Vec<(u64, Vec<Ppn>)>> {
        let mut all = vec![BTreeMap::<u64, Vec<Option<(u64, Ppn)>>>::new(); self.pages() as usize];
        for (ppn, spare) in areas.all_readable() {
            let Some((page, copy)) = self.page_of(spare.owner) else { continue };
            let copies = all[page as usize].entry(spare.version).or_insert_with(|| vec![None; self.copies as usize]);
            copies[copy as usize] = copies[copy as usize].max(Some((spare.program, ppn))); // a collection goes on
        }
        for held in registers {
            let Some((page, copy)) = self.page_of(held.owner) else { continue };
            let copies = all[page as usize].entry(held.version).or_insert_with(|| vec![None; self.copies as usize]);
            copies[copy as usize].get_or_insert((0, held.ppn));
        }
        let whole = |(version, copies): (u64, Vec<Option<(u64, Ppn)>>)| {
            let places: Option<Vec<Ppn>> = copies.into_iter().map(|copy| Some(copy?.1)).collect();
            Some((version, places?))
        };
        all.into_iter().map(|page| page.into_iter().rev().filter_map(whole).collect()).collect()
    }
}

/// The part of a checkpoint that says what of a map is on flash.
#[derive(Clone, Debug)]
pub(super) struct MapPart {
    pub(super) layout: MapLayout,
    /// By page of the map: the version that counts; none if none is on flash.
    pub(super) versions: Vec<Option<u64>>,
    /// By unit: whether the checkpoint holds its entry, or that it has none.
    pub(super) is_listed: Vec<bool>,
    /// By unit: the address that was read from the map on flash, after that.
    pub(super) places: Vec<Option<Ppn>>,
}

impl MapPart {
    /// The part of a checkpoint that is begun. `is_settled`: whether memory has nothing newer than this entry of a unit, and no page of
    /// the map that is under way says something else. `versions`: by unit the version that it has on flash; units whose entries
    /// are left to the pages of the map have none after that.
    pub fn new(
        layout: MapLayout,
        areas: &SpareAreas,
        contents: &MapContents,
        is_settled: impl Fn(Lpn, Option<Ppn>) -> bool,
        versions: &mut [Option<u64>],
    ) -> Self {
        let of_pages = layout.versions(areas, &[]);
        let mut part = MapPart {
            layout,
            versions: of_pages.iter().map(|versions| Some(versions.first()?.0)).collect(),
            is_listed: vec![false; layout.logical_units as usize],
            places: Vec::new(),
        };
        for (page, of_page) in (0..).zip(&of_pages) {
            let content = of_page.first().and_then(|(_, places)| contents.get(&places[0]));
            for (at, lpn) in layout.units_of(page).enumerate() {
                let version = &mut versions[lpn.idx()];
                let place = content.and_then(|content| content[at]);
                let there = place.and_then(|ppn| areas.readable(ppn)).filter(|spare| spare.owner == lpn);
                let is_right = there.map(|spare| spare.version) == *version && there.is_some() == place.is_some();
                part.is_listed[lpn.idx()] = !is_right || !is_settled(lpn, place);
                if !part.is_listed[lpn.idx()] {
                    *version = None;
                }
            }
        }
        part
    }

    /// The same without the entries that memory alone had. For faults on purpose.
    pub fn forget_listed(&mut self) {
        self.is_listed.fill(false);
    }

    /// Units whose entries, with an address, the checkpoint holds.
    pub fn listed(&self, versions: &[Option<u64>]) -> u64 {
        self.is_listed.iter().zip(versions).filter(|(is_listed, version)| **is_listed && version.is_some()).count()
            as u64
    }

    /// Whether a recovery looks at the page of the map with this owner and version; none if the owner is no page of the map.
    pub fn shows(&self, owner: Lpn, version: u64) -> Option<bool> {
        let (page, _) = self.layout.page_of(owner)?;
        Some(self.versions[page as usize] == Some(version))
    }

    /// Whether the entry of a unit was read from the map on flash, and says another address.
    pub fn is_elsewhere(&self, owner: Lpn, ppn: Ppn) -> bool {
        self.places.get(owner.idx()).is_some_and(|place| place.is_some_and(|place| place != ppn))
    }
}

/// What a recovery has read of the map on flash.
#[derive(Clone, Debug, Default)]
pub struct MapRead {
    /// The pages that it reads, each with the addresses of its copies on flash, or with that of a register if there is none.
    pub reads: Vec<Vec<Ppn>>,
    /// Copies of pages that are kept, and that are in registers alone.
    pub in_registers: Vec<CopyInRegister>,
    /// By page of the map: what is kept of it, if it is on flash.
    pub kept: Vec<Option<KeptPage>>,
    /// Entries that name another unit's data. There are none unless the drive has a fault.
    pub wrong: u32,
}

/// A page of the map that a recovery keeps.
#[derive(Clone, Debug)]
pub struct KeptPage {
    /// What it says.
    pub content: MapContent,
    /// Whether it is the newest version.
    pub is_newest: bool,
}
