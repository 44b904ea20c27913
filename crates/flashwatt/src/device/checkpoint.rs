//! A checkpoint of the map on flash, and what a recovery scans with it.
//!
//! A checkpoint holds where the newest version of each unit was on flash when it was begun, and how far each block was programmed. After
//! a power cut the spare area of the first page of each block says whether the block has been erased since: then all of it is
//! scanned. Of the other blocks those pages are scanned that were not programmed when the checkpoint was begun.

use std::collections::BTreeMap;

use super::backups;
use super::spare::{Flash, Spare, SpareAreas, Ties, newest};
use crate::units::{BlockId, DieId, Lpn, Ppn};

/// What a checkpoint holds.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Programs that have been planned since have numbers from this one on.
    next: u64,
    /// By address: whether it was programmed.
    programmed: Vec<bool>,
    /// By owner: the address (+ 1) of the newest version; 0 for none.
    newest: Vec<u32>,
}

impl Checkpoint {
    /// The checkpoint of a drive with these spare areas, whose map gives these addresses to the logical units. A program that is
    /// planned and has not ended is not in it: the unit is where it was before. `trims`: of trimmed units what has a version up to
    /// this one is void. `next`: the number of the next planned operation.
    pub fn new(
        areas: &SpareAreas,
        map: impl Iterator<Item = Option<Ppn>>,
        ties: Ties,
        trims: &BTreeMap<Lpn, u64>,
        next: u64,
    ) -> Self {
        let mut newest = newest(areas, ties, trims, None);
        for (place, (lpn, mapped)) in newest.iter_mut().zip((0..).map(Lpn).zip(map)) {
            let is_there = |ppn: &Ppn| areas.readable(*ppn).is_some_and(|spare| spare.owner == lpn);
            match mapped {
                None => *place = 0,
                Some(ppn) if is_there(&ppn) => *place = ppn.0 + 1,
                Some(_) => {}
            }
        }
        let next = next.max(1); // what a start state laid down has the number 0
        Checkpoint { next, programmed: areas.programmed(), newest }
    }

    /// The same with the map of an older one. For faults on purpose.
    pub(crate) fn with_map_of(self, older: &Checkpoint) -> Self {
        Checkpoint { newest: older.newest.clone(), ..self }
    }

    /// Whether a recovery looks at what is at an address: it was the newest version then, or has been programmed since.
    pub fn shows(&self, ppn: Ppn, spare: &Spare) -> bool {
        self.is_later(ppn, spare) || self.newest.get(spare.owner.idx()) == Some(&(ppn.0 + 1))
    }

    fn is_later(&self, ppn: Ppn, spare: &Spare) -> bool {
        !self.programmed[ppn.idx()] || spare.program >= self.next
    }

    /// The pages of each die whose spare areas a recovery reads, when it has read that of the first page of each block.
    /// `in_order`: the flash is programmed in ascending order, so that a block ends with its first erased page. `backup_blocks`: blocks
    /// kept for backups, of which the pages are read up to the first erased one that takes a backup.
    pub fn tail(&self, flash: Flash, in_order: bool, backup_blocks: &[BlockId]) -> Vec<Vec<Ppn>> {
        let geometry = flash.array.geometry();
        let of_die = |die| {
            let blocks = geometry.blocks_of(die).filter(|block| !flash.kept_blocks.contains(block));
            let of_die = |block: &&BlockId| geometry.die_of_block(**block) == die;
            let of_backups = backup_blocks.iter().filter(of_die).flat_map(|&block| tail_of_backups(block, flash));
            blocks.flat_map(|block| self.tail_of(block, flash, in_order)).chain(of_backups).collect()
        };
        (0..geometry.dies).map(DieId).map(of_die).collect()
    }

    fn tail_of(&self, block: BlockId, flash: Flash, in_order: bool) -> Vec<Ppn> {
        let geometry = flash.array.geometry();
        let page = |page: u32| Ppn(geometry.first_ppn(block).0 + page * geometry.units_per_page);
        let used = flash.array.planned_pages(block);
        let is_half_erased = flash.half_erased.contains(&block);
        if in_order && used == 0 && !is_half_erased {
            return Vec::new(); // its first page is erased
        }
        let end = if in_order { geometry.pages_per_block.min(used + 1) } else { geometry.pages_per_block };
        let is_same = flash.areas.readable(page(0)).is_some_and(|spare| !self.is_later(page(0), spare));
        let knows = |ppn: &Ppn| is_same && !is_half_erased && self.programmed[ppn.idx()];
        (1..end).map(page).filter(|ppn| !knows(ppn)).collect()
    }
}

/// The pages of a block with backups that are read, but for the first one.
fn tail_of_backups(block: BlockId, flash: Flash) -> impl Iterator<Item = Ppn> {
    let used = flash.array.planned_pages(block).div_ceil(2) as usize;
    backups::pages(block, flash.array.geometry()).take(if used > 0 { used + 1 } else { 0 }).skip(1)
}
