//! A checkpoint of the map on flash: where the newest version of each unit was on flash when it was begun, and which pages of each
//! block were programmed.

use std::collections::BTreeMap;

use super::map_pages::{MapContents, MapLayout, MapPart};
use super::spare::{Spare, SpareAreas, Ties, newest};
use flashwatt_base::units::{Lpn, Ppn};

/// Bytes of an entry of a map on flash in a checkpoint: a logical page and its address.
pub const LISTED_ENTRY_BYTES: u64 = 8;

/// Bytes of a checkpoint: the tables of the translation layer, and for each block how far it is programmed (2 bytes) and its valid
/// units (2 bytes).
pub fn checkpoint_bytes(tables_bytes: u128, blocks: u128) -> u128 {
    tables_bytes + 4 * blocks
}

/// What a checkpoint holds.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Programs that have been planned since have numbers from this one on.
    next: u64,
    /// By address: whether it was programmed.
    pub(super) programmed: Vec<bool>,
    /// By owner: the version that it had; none if it had nothing. A drive notes an address in its place. Where a collection or a merge
    /// was under way, it notes source and target: both hold this version.
    pub(super) versions: Vec<Option<u64>>,
    /// What of the map the checkpoint leaves to the pages of a map on flash, if the layer has one.
    pub(super) map: Option<MapPart>,
}

impl Checkpoint {
    /// The checkpoint of a drive with these spare areas, whose map gives these addresses to the logical units. A program that is
    /// planned and has not ended is not in it: the unit is where it was before. `trims`: of trimmed units what has a version up to
    /// this one is void. `next`: the number of the next planned operation.
    pub fn new(
        areas: &SpareAreas,
        map: impl Iterator<Item = Option<Ppn>>,
        trims: &BTreeMap<Lpn, u64>,
        next: u64,
    ) -> Self {
        let version_at =
            |place: u32| place.checked_sub(1).and_then(|ppn| areas.get(Ppn(ppn))).map(|spare| spare.version);
        let mut versions: Vec<_> = newest(areas, Ties::Copy, trims, |_, _| true).into_iter().map(version_at).collect();
        for (version, (lpn, mapped)) in versions.iter_mut().zip((0..).map(Lpn).zip(map)) {
            let there = mapped.and_then(|ppn| areas.readable(ppn)).filter(|spare| spare.owner == lpn);
            match there {
                _ if mapped.is_none() => *version = None,
                Some(spare) => *version = Some(spare.version),
                None => {}
            }
        }
        let next = next.max(1); // what a start state laid down has the number 0
        Checkpoint { next, programmed: areas.programmed(), versions, map: None }
    }

    /// The same of a layer that has its map on flash: the checkpoint holds what the pages of the map do not say. `is_settled` as for
    /// [`MapPart::new`].
    pub fn beside_map(
        mut self,
        layout: MapLayout,
        areas: &SpareAreas,
        contents: &MapContents,
        is_settled: impl Fn(Lpn, Option<Ppn>) -> bool,
    ) -> Self {
        self.versions.resize(layout.logical_units as usize, None);
        self.map = Some(MapPart::new(layout, areas, contents, is_settled, &mut self.versions));
        self
    }

    /// Bytes that it takes at least: of a map on flash the entries that it holds, and for each block how far it is programmed.
    pub fn least_bytes(&self, blocks: u32) -> u128 {
        let listed = self.map.as_ref().map_or(0, |map| map.listed(&self.versions));
        checkpoint_bytes((LISTED_ENTRY_BYTES * listed).into(), blocks.into())
    }

    /// The same without these entries. For faults on purpose.
    pub fn without_listed(mut self) -> Self {
        self.map.iter_mut().for_each(MapPart::forget_listed);
        self
    }

    /// The same with the map of an older one. For faults on purpose.
    pub fn with_map_of(self, older: &Checkpoint) -> Self {
        Checkpoint { versions: older.versions.clone(), map: older.map.clone(), ..self }
    }

    /// Whether a recovery looks at what is at an address: it was the newest version then, or has been programmed since.
    pub fn shows(&self, ppn: Ppn, spare: &Spare) -> bool {
        if let Some(is_shown) = self.map.as_ref().and_then(|map| map.shows(spare.owner, spare.version)) {
            return is_shown;
        }
        let was_newest = || self.versions.get(spare.owner.idx()) == Some(&Some(spare.version));
        let is_elsewhere = || self.map.as_ref().is_some_and(|map| map.is_elsewhere(spare.owner, ppn));
        self.is_later(ppn, spare) || (was_newest() && !is_elsewhere())
    }

    /// Whether what is at an address has been programmed since.
    pub(super) fn is_later(&self, ppn: Ppn, spare: &Spare) -> bool {
        !self.programmed[ppn.idx()] || spare.program >= self.next
    }
}
