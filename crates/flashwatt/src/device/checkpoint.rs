//! A checkpoint of the map on flash, and what a recovery scans with it.
//!
//! A checkpoint holds where the newest version of each unit was on flash when it was begun, and which pages of each block were
//! programmed. After a power cut the spare area of the first of these pages says whether the block has been erased since: then all of it
//! is scanned. Of the other blocks those pages are scanned that were not programmed when the checkpoint was begun.

use std::collections::BTreeMap;

use super::map_pages::{MapContents, MapLayout, MapPart};
use super::recovery_log::{LISTED_ENTRY_BYTES, checkpoint_bytes};
use super::spare::{Flash, Spare, SpareAreas, Ties, newest};
use crate::units::{BlockId, DieId, Lpn, Ppn};

/// What a checkpoint holds.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Programs that have been planned since have numbers from this one on.
    next: u64,
    /// By address: whether it was programmed.
    programmed: Vec<bool>,
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
        let mut versions: Vec<_> = newest(areas, Ties::Copy, trims, None).into_iter().map(version_at).collect();
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
    pub(crate) fn without_listed(mut self) -> Self {
        self.map.iter_mut().for_each(MapPart::forget_listed);
        self
    }

    /// The same with the map of an older one. For faults on purpose.
    pub(crate) fn with_map_of(self, older: &Checkpoint) -> Self {
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

    /// The pages whose spare areas a recovery reads: first one of each block, and when these are read the others.
    /// `step_of`: of kept blocks whose pages are programmed one after another the distance of two of them. Of these blocks they are
    /// read up to the first erased one.
    pub fn reads(&self, flash: Flash, filling: Filling, step_of: impl Fn(BlockId) -> Option<usize>) -> Reads {
        let geometry = flash.array.geometry();
        let of_dies = |of: &dyn Fn(BlockId) -> Vec<Ppn>| {
            (0..geometry.dies).map(|die| geometry.blocks_of(DieId(die)).flat_map(of).collect()).collect()
        };
        let tail = |block: BlockId| match flash.kept_blocks.contains(&block) {
            true => step_of(block).map(|step| tail_of_kept(block, step, flash)).unwrap_or_default(),
            false => self.tail_of(block, flash, filling),
        };
        let first = of_dies(&|block| self.probe(block, flash, filling).into_iter().collect());
        Reads { first, tail: of_dies(&tail), map: Vec::new() }
    }

    /// The page that says whether a block has been erased since: the first one that was programmed. A block of which none was
    /// needs no such page if it can be filled from anywhere: all its pages are scanned.
    fn probe(&self, block: BlockId, flash: Flash, filling: Filling) -> Option<Ppn> {
        let mut pages = flash.array.geometry().pages_of(block);
        match filling {
            Filling::FromTheFront => pages.next(),
            Filling::Anywhere if flash.kept_blocks.contains(&block) => pages.next(),
            Filling::Anywhere => pages.find(|ppn| self.programmed[ppn.idx()]),
        }
    }

    fn tail_of(&self, block: BlockId, flash: Flash, filling: Filling) -> Vec<Ppn> {
        let (used, is_half_erased) = (flash.array.planned_pages(block), flash.half_erased.contains(&block));
        let geometry = flash.array.geometry();
        let end = match filling {
            Filling::FromTheFront if used == 0 && !is_half_erased => return Vec::new(), // its first page is erased
            Filling::FromTheFront => geometry.pages_per_block.min(used + 1), // a block ends with its first erased page
            Filling::Anywhere => geometry.pages_per_block,
        };
        let probe = self.probe(block, flash, filling);
        let is_same = !is_half_erased
            && probe.is_some_and(|ppn| flash.areas.readable(ppn).is_some_and(|spare| !self.is_later(ppn, &spare)));
        let is_read = |ppn: &Ppn| Some(*ppn) == probe || (is_same && self.programmed[ppn.idx()]);
        geometry.pages_of(block).take(end as usize).filter(|ppn| !is_read(ppn)).collect()
    }
}

/// The pages of a kept block that are read, but for the first one.
fn tail_of_kept(block: BlockId, step: usize, flash: Flash) -> Vec<Ppn> {
    let used = (flash.array.planned_pages(block) as usize).div_ceil(step);
    let pages = flash.array.geometry().pages_of(block).step_by(step);
    pages.take(if used > 0 { used + 1 } else { 0 }).skip(1).collect()
}

/// How blocks are filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filling {
    /// Page by page.
    FromTheFront,
    /// From any page on, or with gaps.
    Anywhere,
}

/// Pages whose spare areas a recovery reads, of each die.
#[derive(Clone, Debug)]
pub struct Reads {
    /// Those that are read first.
    pub first: Vec<Vec<Ppn>>,
    /// Those that are read after the recovery log.
    pub tail: Vec<Vec<Ppn>>,
    /// Pages of a map on flash that are read after that as a whole, each with the addresses of its copies.
    pub map: Vec<Vec<Ppn>>,
}
