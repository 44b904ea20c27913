//! The journal of the write buffer on flash: where its pages lie, what they hold, and what a recovery takes from them.
//!
//! The journal has rows of blocks that the translation layer never sees, one block of each die in a row. What the host writes is
//! appended as records, one for each map unit that a write touches. Whole units lie side by side in a page, and the page's spare area
//! names them as it does in every page. A page with a part of a unit begins with sectors that describe all of its records: the unit
//! (4 bytes), the version (8), the sectors that there are (8), and the size of the request (4).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::dump::DumpedUnit;
use crate::nand::{Geometry, Reserve};
use flashwatt_base::units::{BlockId, Lpn, Ppn, SECTOR_BYTES};

/// Bytes that describe a record in a page with parts of units.
const RECORD_BYTES: u32 = 24;

/// What a write brings to a map unit, as the drive gives it to the journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalRecord {
    /// Records are numbered in the order in which units are written into the buffer.
    pub number: u64,
    /// The logical unit.
    pub owner: Lpn,
    /// The parts of the unit that it holds ([`crate::cache::write_buffer::NewestEntry`]).
    pub held: u64,
    /// Map units of the request.
    pub request_pages: u32,
}

/// A record as it is on flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Journaled {
    /// What it brings.
    pub record: JournalRecord,
    /// The version of the unit with it.
    pub version: u64,
}

/// The pages of a journal that can be read.
pub type JournalPages = BTreeMap<Ppn, Arc<[Journaled]>>;

/// How records fill a page.
#[derive(Clone, Copy, Debug)]
pub struct PageLayout {
    page_sectors: u32,
    unit_sectors: u32,
}

/// What a page holds so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageContent {
    records: u32,
    sectors: u32,
    has_parts: bool,
}

impl PageLayout {
    /// Of pages with these map units.
    pub fn new(page_bytes: u32, unit_bytes: u32) -> Self {
        let sector = SECTOR_BYTES as u32;
        PageLayout { page_sectors: page_bytes / sector, unit_sectors: unit_bytes / sector }
    }

    /// The page with one more record of this number of sectors, if it has room for that.
    pub fn with(&self, page: PageContent, sectors: u32) -> Option<PageContent> {
        let with = PageContent {
            records: page.records + 1,
            sectors: page.sectors + sectors,
            has_parts: page.has_parts || sectors < self.unit_sectors,
        };
        let head = if with.has_parts { (with.records * RECORD_BYTES).div_ceil(SECTOR_BYTES as u32) } else { 0 };
        (head + with.sectors <= self.page_sectors).then_some(with)
    }

    /// Whether the page has no room for the smallest record.
    pub fn is_full(&self, page: PageContent) -> bool {
        self.with(page, 1).is_none()
    }
}

/// Blocks of each die for the journal of a buffer of this number of pages. Choice: rows that hold a full buffer in whole units, so that
/// data may stay in the buffer, and one more, which is erased meanwhile. `used_pages`: pages of a block that it uses.
pub fn blocks_per_die(buffer_pages: u128, used_pages: u32, dies: u128) -> u128 {
    buffer_pages.div_ceil(dies * u128::from(used_pages)) + 1
}

/// The rows of a journal: of each its blocks, and its pages in the order in which they are programmed.
pub fn rows(kept: &[BlockId], geometry: &Geometry, is_paired: bool) -> Vec<(Vec<BlockId>, Vec<Ppn>)> {
    let of_die = geometry.reserves[Reserve::Journal] as usize;
    let in_block = (0..geometry.pages_per_block).step_by(if is_paired { 2 } else { 1 });
    let row = |at: usize| {
        let blocks: Vec<BlockId> = kept.chunks(of_die).map(|of_die| of_die[at]).collect();
        let of_turn = |page: u32| {
            let address = move |&block: &BlockId| Ppn(geometry.first_ppn(block).0 + page * geometry.units_per_page);
            blocks.iter().map(address)
        };
        let pages = in_block.clone().flat_map(of_turn).collect();
        (blocks, pages)
    };
    (0..of_die).map(row).collect()
}

/// What a recovery brings back from a journal: of each unit what is newer than the version that `elsewhere` gives. Parts of a unit by
/// several writes add up. In the order of addresses.
pub fn newer_than(pages: &JournalPages, elsewhere: impl Fn(Lpn) -> Option<u64>) -> Vec<DumpedUnit> {
    let mut units: BTreeMap<Lpn, DumpedUnit> = BTreeMap::new();
    for (&ppn, &Journaled { record, version }) in
        pages.iter().flat_map(|(ppn, page)| page.iter().map(move |one| (ppn, one)))
    {
        let JournalRecord { owner, held, request_pages, .. } = record;
        if elsewhere(owner).is_some_and(|other| other >= version) {
            continue;
        }
        let new = DumpedUnit { ppn, owner, version, held, request_pages };
        let unit = units.entry(owner).or_insert(new);
        if version > unit.version {
            (unit.ppn, unit.version) = (ppn, version);
        }
        unit.held |= held;
        unit.request_pages = unit.request_pages.max(request_pages);
    }
    units.into_values().collect()
}

/// The oldest record of each unit alone. For a fault on purpose.
pub fn oldest(pages: &JournalPages) -> JournalPages {
    let of_unit = |owner: Lpn| pages.values().flat_map(|page| page.iter()).filter(move |one| one.record.owner == owner);
    let is_oldest = |one: &&Journaled| of_unit(one.record.owner).all(|other| other.version >= one.version);
    pages.iter().map(|(&ppn, page)| (ppn, page.iter().filter(is_oldest).copied().collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of these numbers of sectors that one page takes, and whether it is full then.
    fn taken(page_bytes: u32, unit_bytes: u32, records: &[u32]) -> (usize, bool) {
        let layout = PageLayout::new(page_bytes, unit_bytes);
        let mut page = PageContent::default();
        let mut taken = 0;
        while let Some(with) = records.get(taken).and_then(|&sectors| layout.with(page, sectors)) {
            (page, taken) = (with, taken + 1);
        }
        (taken, layout.is_full(page))
    }

    /// A page of eight sectors takes a unit of eight, or a sector that describes parts and seven of data. One of 32 sectors takes four
    /// units; with a part among them it describes its records, so that three units fit and five sectors of parts more. Of single
    /// sectors 21 are described by one sector (24 bytes each), and two describe 30.
    #[test]
    fn pages_by_hand() {
        assert_eq!(taken(4096, 4096, &[8, 8]), (1, true));
        assert_eq!(taken(4096, 4096, &[1; 9]), (7, true));
        assert_eq!(taken(4096, 4096, &[7, 1]), (1, true));
        assert_eq!(taken(4096, 4096, &[3, 3, 3]), (2, false));
        assert_eq!(taken(4096, 4096, &[1, 8]), (1, false));
        assert_eq!(taken(16_384, 4096, &[8; 5]), (4, true));
        assert_eq!(taken(16_384, 4096, &[8, 8, 8]), (3, false));
        assert_eq!(taken(16_384, 4096, &[8, 8, 8, 7, 1]), (4, true));
        assert_eq!(taken(16_384, 4096, &[1; 32]), (30, true));
        assert_eq!(taken(512, 512, &[1, 1]), (1, true));
    }

    /// A buffer of twelve pages: on one die of blocks of four pages three rows and one more. A buffer that is less than a row takes one.
    #[test]
    fn sizes_by_hand() {
        assert_eq!(
            [(12, 4, 1), (13, 4, 1), (12, 4, 4), (12, 2, 1)]
                .map(|(pages, used, dies)| { blocks_per_die(pages, used, dies) }),
            [4, 5, 2, 7]
        );
    }

    /// Parts that are newer than what is elsewhere add up; the newest version counts.
    #[test]
    fn parts_add_up() {
        let one = |owner, version, held| Journaled {
            record: JournalRecord { number: 0, owner: Lpn(owner), held, request_pages: 1 },
            version,
        };
        let pages: JournalPages =
            [(Ppn(9), [one(0, 5, 0b100), one(1, 6, 0b1)].into()), (Ppn(3), [one(0, 2, 0b1), one(0, 3, 0b10)].into())]
                .into();
        let found = |elsewhere: Option<u64>| {
            let found = newer_than(&pages, |owner| elsewhere.filter(|_| owner == Lpn(0)));
            found.iter().map(|unit| (unit.owner.0, unit.ppn.0, unit.version, unit.held)).collect::<Vec<_>>()
        };
        let other = (1, 9, 6, 0b1);
        assert_eq!(found(None), [(0, 9, 5, 0b111), other]);
        assert_eq!(found(Some(2)), [(0, 9, 5, 0b110), other]);
        assert_eq!(found(Some(5)), [other]);
    }
}
