//! The recovery log on flash: where its pages lie, and what they hold.
//!
//! The log has two areas of blocks that the translation layer never sees. Pages of records are appended to one of them. When it is
//! full, the other one begins with a snapshot of what still counts, and the full one is erased.
//!
//! A checkpoint of the map ([`super::checkpoint`]) is a part of a snapshot.
//!
//! A record of a trim holds the first unit, the number of units (4 bytes each) and the version of the trim (8 bytes). A snapshot is a
//! bitmap of all units: what is older than the snapshot is void of those with a bit. Units that were trimmed and have been written
//! again, but are not on flash yet, follow as records: their new data is not older in every case.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::checkpoint::Checkpoint;
use crate::nand::{Array, Geometry};
use flashwatt_base::units::{BlockId, Lpn, Ppn};

/// Bytes of a record.
const RECORD_BYTES: u32 = 16;
/// Bytes of a page for its kind, its number and the version of a snapshot.
const HEADER_BYTES: u32 = 16;

/// What a page of the log holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogContent {
    /// Records of trims.
    Records,
    /// A page of a snapshot.
    Snapshot {
        /// Its place, from 0 on.
        at: u32,
        /// All pages of the snapshot.
        of: u32,
    },
}

/// A page of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogPage {
    /// What it holds.
    pub part: LogContent,
    /// The trimmed units that it names.
    pub trims: Vec<Lpn>,
}

/// A page of the log as it is on flash.
#[derive(Clone, Debug)]
pub struct LogPageOnFlash {
    /// What it holds.
    pub part: LogContent,
    /// The plan number of its program.
    pub number: u64,
    /// The trimmed units that it names, each with the version of its trim: what has a version up to that one is void.
    pub trims: Vec<(Lpn, u64)>,
    /// Of the first page of a snapshot the checkpoint that begins there, if it has one.
    pub checkpoint: Option<Arc<Checkpoint>>,
}

/// What is left of a log after a power cut.
#[derive(Clone, Debug, Default)]
pub struct LogFound {
    /// The area that takes the next page.
    pub area: usize,
    /// The number of that page in the area.
    pub next: usize,
    /// Its pages that can be read.
    pub read: Vec<Ppn>,
    /// Of each unit that they name the version of its last trim.
    pub trims: BTreeMap<Lpn, u64>,
    /// The checkpoint that they hold.
    pub checkpoint: Option<Arc<Checkpoint>>,
    /// Blocks to erase: of an area that was being erased, or whose snapshot is not complete.
    pub void: Vec<BlockId>,
}

/// Records that a page holds.
pub fn records_per_page(page_bytes: u32) -> u32 {
    (page_bytes - HEADER_BYTES) / RECORD_BYTES
}

/// Units of which a page of a snapshot has a bit.
pub fn bits_per_page(page_bytes: u32) -> u32 {
    (page_bytes - HEADER_BYTES) * 8
}

/// What the size of a log depends on.
#[derive(Clone, Copy, Debug)]
pub struct LogShape {
    /// Units that the host can address.
    pub logical_units: u128,
    /// Units whose trims a snapshot may keep as records: of a full write buffer, and of a journal.
    pub recorded_units: u128,
    /// Whether trims are recorded.
    pub has_records: bool,
    /// Bytes of a checkpoint; 0 without.
    pub checkpoint_bytes: u128,
}

/// Pages that a checkpoint takes.
pub fn checkpoint_pages(bytes: u128, page_bytes: u32) -> u128 {
    bytes.div_ceil(u128::from(page_bytes - HEADER_BYTES))
}

impl LogShape {
    /// Pages of an area: a checkpoint, and twice what a snapshot of trims takes with these records and one page more
    /// of them, so that there is room for new records.
    pub fn area_pages(&self, page_bytes: u32) -> u128 {
        let bits = self.logical_units.div_ceil(u128::from(bits_per_page(page_bytes)));
        let of_trims = bits + self.recorded_units.div_ceil(u128::from(records_per_page(page_bytes))) + 1;
        checkpoint_pages(self.checkpoint_bytes, page_bytes) + if self.has_records { 2 * of_trims } else { 0 }
    }
}

/// Pages of a block that a log uses. Where pages share cells, these are the lower ones alone: no torn page spoils another one then.
pub fn used_pages(pages_per_block: u32, is_paired: bool) -> u32 {
    if is_paired { pages_per_block.div_ceil(2) } else { pages_per_block }
}

/// Blocks of each die that two areas of `area_pages` pages take.
pub fn blocks_per_die(area_pages: u128, used_pages: u32, dies: u128) -> u128 {
    (2 * area_pages.div_ceil(u128::from(used_pages))).div_ceil(dies)
}

/// The two areas of a log.
#[derive(Clone, Debug)]
pub struct LogAreas {
    /// Their blocks.
    pub blocks: [Vec<BlockId>; 2],
    /// The pages of each in the order in which they are programmed.
    pub pages: [Vec<Ppn>; 2],
}

impl LogAreas {
    /// The areas on the blocks that are kept for them: every other block is of the second one. Of the blocks of an area one page
    /// each is programmed in turn.
    pub fn new(kept: &[BlockId], geometry: &Geometry, is_paired: bool) -> Self {
        let blocks = [0, 1].map(|area| kept.chunks_exact(2).map(|pair| pair[area]).collect::<Vec<BlockId>>());
        let in_block = (0..geometry.pages_per_block).step_by(if is_paired { 2 } else { 1 });
        let pages = [0, 1].map(|area: usize| {
            let first = |&block: &BlockId| geometry.first_ppn(block).0;
            let of_turn =
                |page| blocks[area].iter().map(move |block| Ppn(first(block) + page * geometry.units_per_page));
            in_block.clone().flat_map(of_turn).collect()
        });
        LogAreas { blocks, pages }
    }

    /// What a scan finds of the log. `readable`: its pages that can be read.
    pub fn find(
        &self,
        readable: &BTreeMap<Ppn, Arc<LogPageOnFlash>>,
        array: &Array,
        half_erased: &[BlockId],
    ) -> LogFound {
        let begun = |&area: &usize| self.begun(area, readable);
        let newest = [0, 1].into_iter().filter(|area| begun(area).is_some()).max_by_key(begun);
        let is_programmed = |ppn: &Ppn| array.is_programmed(array.geometry().place(*ppn));
        let is_used = |block: &BlockId| array.planned_pages(*block) > 0 || half_erased.contains(block);
        let void = [0, 1].into_iter().filter(|&area| Some(area) != newest).flat_map(|area| &self.blocks[area]);
        let area = newest.unwrap_or(0);
        let last = newest.and_then(|area| self.pages[area].iter().rposition(is_programmed));
        let next = last.map_or(0, |last| last + 1);
        let read: Vec<Ppn> =
            self.pages[area][..next].iter().copied().filter(|ppn| readable.contains_key(ppn)).collect();
        let mut trims = BTreeMap::new();
        for &(lpn, version) in read.iter().filter_map(|ppn| readable.get(ppn)).flat_map(|page| &page.trims) {
            let last = trims.entry(lpn).or_default();
            *last = version.max(*last);
        }
        let checkpoint = read.first().and_then(|first| readable.get(first)).and_then(|page| page.checkpoint.clone());
        LogFound { area, next, read, trims, checkpoint, void: void.copied().filter(is_used).collect() }
    }

    /// The number of the first page of an area that begins as it should: with records, or with a complete snapshot.
    fn begun(&self, area: usize, readable: &BTreeMap<Ppn, Arc<LogPageOnFlash>>) -> Option<u64> {
        let pages = &self.pages[area];
        let first = readable.get(pages.first()?)?;
        let is_part = |(at, ppn): (u32, &Ppn), of| {
            readable.get(ppn).is_some_and(|page| page.part == LogContent::Snapshot { at, of })
        };
        let is_whole = match first.part {
            LogContent::Records => true,
            LogContent::Snapshot { of, .. } => (0..of).zip(pages).all(|at| is_part(at, of)),
        };
        is_whole.then_some(first.number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checkpoint::checkpoint_bytes;
    use super::*;

    /// 27,306 units of 4 KiB: one page has 4,080 × 8 bits. With a page of records that is 2 pages, and twice that an area.
    #[test]
    fn sizes_by_hand() {
        assert_eq!((records_per_page(4096), bits_per_page(4096)), (255, 32_640));
        let area_pages = |logical_units, recorded_units, checkpoint_bytes| {
            LogShape { logical_units, recorded_units, has_records: true, checkpoint_bytes }.area_pages(4096)
        };
        assert_eq!(
            [(27_306, 0), (32_641, 0), (27_306, 256)].map(|(all, recorded)| area_pages(all, recorded, 0)),
            [4, 6, 8]
        );
        // A map of 27,306 units of 4 bytes, and 4 bytes for each of 512 blocks: 111,272 bytes, or 28 pages of 4,080.
        assert_eq!(area_pages(27_306, 0, checkpoint_bytes(4 * 27_306, 512)), 4 + 28);
        // Two areas of a block each: on 4 dies one block of each, on one die two.
        assert_eq!([1, 2, 4].map(|dies| blocks_per_die(4, 64, dies)), [2, 1, 1]);
        // Blocks of 4 pages with paired cells: 2 pages of each are used, so that an area takes 2 blocks.
        assert_eq!(blocks_per_die(4, used_pages(4, true), 1), 4);
    }
}
