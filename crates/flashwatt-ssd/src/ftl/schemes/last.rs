//! LAST, locality-aware sector translation: a log divided by the locality of writes.
//!
//! A locality detector tells sequential from random writes by the size of the request, and frequently from rarely overwritten
//! pages by the age of their last version. Several sequential log blocks serve several streams, each of which ends in switch
//! merges. Frequently overwritten pages share random log blocks, which become *dead* (without valid pages) and then need only an
//! erase. Of the other random log blocks the cheapest is merged. [`crate::ftl::blocked::log_blocks`] has the mechanism that LAST
//! shares with FAST. Source: S. Lee, D. Shin, Y.-J. Kim, J. Kim: "LAST: locality-aware sector translation for NAND flash
//! memory-based storage systems", ACM SIGOPS OSR 42(6), 2008.
//!
//! Choices where the paper is silent, and deviations:
//!
//! - A request is sequential if it touches `sequential_threshold_bytes` or more, in whole pages. Its pages open a sequential log
//!   block at offset 0 of a logical block and continue in order, because only this allows a switch merge. Pages before the first
//!   such offset, and pages that do not continue one, go to the random log. Smaller requests never enter a sequential log block.
//! - Before another sequential log block is opened, the least recently used one is merged: of the drive, or of a die that has
//!   used its share.
//! - A page is hot if its last version lies in the random log and fewer than `hot_window_pages` pages were written there since.
//!   All others are cold. The original adapts the sizes of the two parts. Here hot and cold pages have one open block each on
//!   every die, and share the die's full ones.
//! - When a die has used its random log blocks, a dead one is erased if there is one. Otherwise the cold block with the fewest
//!   *associated* logical blocks is merged, the oldest among equals. Associated are the logical blocks with valid pages in it;
//!   each needs a merge. A hot block is merged only if no full block is cold.
//! - As in FAST, `merges.full` counts logical blocks, and a logical block that owns a sequential log block is merged with that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::BlockTable;
use crate::ftl::blocked::log_blocks::{LogFtl, LogPolicy};
use crate::ftl::blocked::log_size::{LogSize, Quota};
use crate::ftl::scheme::flat_map_bytes;
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::models::mapping_memory::Tables;
use crate::nand::Geometry;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{BlockId, Ppn};

/// Default threshold, in bytes, from which a request is sequential (Lee et al. 2008: 8 KiB).
const SEQUENTIAL_THRESHOLD_BYTES: u32 = 8192;
/// Default number of streams with a log block of their own; the original leaves it to the size of its log.
const SEQUENTIAL_LOG_BLOCKS: u32 = 8;
/// Sequential log blocks are searched one by one, hence the limit.
const SEQUENTIAL_LOG_BLOCKS_MAX: u32 = 64;

/// The open random log block for cold pages.
const COLD: usize = 0;
const HOT: usize = 1;

/// `[ftl.last]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Fraction of all blocks for log blocks, including the sequential ones. It is limited by the spare blocks beside the
    /// host's data and one merge block per die, and is at least three blocks per die.
    pub log_fraction: Option<f64>,
    /// Number of log blocks, instead of a fraction: each die gets its part, rounded down, and at least three.
    pub log_blocks: Option<u32>,
    /// Writes that touch at least this many bytes, in whole pages, are sequential.
    pub sequential_threshold_bytes: Option<u32>,
    /// Largest number of sequential log blocks in the drive. A die has two of them, or its part if that is more, but at most a
    /// third of its log blocks.
    pub sequential_log_blocks: Option<u32>,
    /// A page is hot if fewer pages than this were written to the random log since its last version was written there; with 0
    /// no page is hot. The default is half of the pages of the random log.
    pub hot_window_pages: Option<u32>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The size of the log area.
    #[serde(flatten)]
    pub log: LogSize,
    /// Requests that touch this many bytes are sequential.
    pub sequential_threshold_bytes: u32,
    /// Largest number of sequential log blocks.
    pub sequential_log_blocks: u32,
    /// Pages in the window of hot pages; `None` for half of the pages of the random log.
    pub hot_window_pages: Option<u32>,
}

/// The translation layer.
pub type LastFtl = LogFtl<Last>;

impl Scheme for LastFtl {
    const DOC: &'static str = "LAST: sequential streams and hot pages apart in the shared log (Lee et al. 2008)";
    const COLLECTS: bool = false;
    const HAS_CHECKPOINTS: bool = true;
    const STARTS_MAPPED: bool = true;
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.last);
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.last";
        let (threshold, blocks) =
            (field!(TABLE, options.sequential_threshold_bytes), field!(TABLE, options.sequential_log_blocks));
        Settings {
            log: LogSize::resolve(c, field!(TABLE, options.log_fraction), field!(TABLE, options.log_blocks)),
            sequential_threshold_bytes: c.number(threshold, SEQUENTIAL_THRESHOLD_BYTES, 1..=1 << 30),
            sequential_log_blocks: c.number(blocks, SEQUENTIAL_LOG_BLOCKS, 1..=SEQUENTIAL_LOG_BLOCKS_MAX),
            hot_window_pages: c.optional(field!(TABLE, options.hot_window_pages), 0..=u32::MAX / 2),
        }
    }

    fn room(settings: &Settings, size: &DriveSize) -> Room {
        settings.log.room(size, Last::LEAST_PER_DIE)
    }

    fn memory_bytes(settings: &Settings, geometry: &Geometry) -> u64 {
        let log_blocks = settings.log.per_die(geometry, Last::LEAST_PER_DIE) * geometry.dies;
        let block = u64::from(geometry.pages_per_block) * size_of::<u32>() as u64 + size_of::<RandomLog>() as u64;
        flat_map_bytes(geometry) + u64::from(log_blocks) * block
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let policy = |quota| Last::new(settings, geometry, quota);
        LogFtl::with(setup, geometry, &settings.log, settings.sequential_log_blocks, policy)
    }
}

/// The policy of LAST: detects locality, and merges the cheapest victim.
pub struct Last {
    geometry: Geometry,
    /// Requests of this many pages are sequential.
    sequential_pages: u32,
    /// Pages in the window of hot pages.
    hot_window: u32,
    /// Number of pages written to the random log.
    clock: u32,
    /// Slot (+ 1) of each random log block; 0 for other blocks.
    slot_of: FlatTable<u32>,
    slots: Vec<RandomLog>,
    free_slots: Vec<u32>,
    /// For each page of each slot, the clock when it was written.
    written_at: FlatTable<u32>,
    /// For each logical block, the last count of associated blocks that it was part of; and the number of that count.
    seen: FlatTable<u32>,
    counts: u32,
}

/// State of a random log block.
#[derive(Clone, Copy)]
struct RandomLog {
    is_hot: bool,
    /// Associated logical blocks, with the number of valid pages at the time. The count holds while that number is the same.
    associated: Option<(u32, u32)>,
}

impl Last {
    fn new(settings: &Settings, geometry: &Geometry, quota: Quota) -> Self {
        let slots = quota.random_per_die * geometry.dies;
        let log_pages = slots * geometry.pages_per_block;
        Last {
            sequential_pages: settings.sequential_threshold_bytes.div_ceil(geometry.page_bytes()),
            hot_window: settings.hot_window_pages.unwrap_or(log_pages / 2),
            clock: 0,
            slot_of: vec![0; geometry.blocks as usize].into(),
            slots: vec![RandomLog { is_hot: false, associated: None }; slots as usize],
            free_slots: (0..slots).rev().collect(),
            written_at: vec![0; log_pages as usize].into(),
            seen: vec![0; geometry.logical_units.div_ceil(geometry.pages_per_block) as usize].into(),
            counts: 0,
            geometry: geometry.clone(),
        }
    }

    /// The slot of a block.
    #[inline]
    fn slot(&self, block: BlockId) -> Option<usize> {
        self.slot_of[block.idx()].checked_sub(1).map(|slot| slot as usize)
    }

    /// The index of a page of the random log in `written_at`.
    #[inline]
    fn page(&self, at: Ppn) -> Option<usize> {
        let slot = self.slot(self.geometry.block_of(at))?;
        Some(slot * self.geometry.pages_per_block as usize + self.geometry.unit_in_block(at) as usize)
    }

    fn is_cold(&self, block: BlockId) -> bool {
        self.slot(block).is_some_and(|slot| !self.slots[slot].is_hot)
    }

    /// The first of the blocks with the fewest associated logical blocks.
    fn cheapest(&mut self, of: impl Iterator<Item = BlockId>, blocks: &BlockTable) -> Option<BlockId> {
        of.min_by_key(|&block| self.associated(block, blocks))
    }

    /// Number of logical blocks with valid pages in a random log block.
    fn associated(&mut self, block: BlockId, blocks: &BlockTable) -> u32 {
        let valid = blocks.valid_units(block);
        let Some(slot) = self.slot(block) else { return valid };
        if let Some((then, count)) = self.slots[slot].associated
            && then == valid
        {
            return count;
        }
        let count = self.count_associated(block, blocks);
        self.slots[slot].associated = Some((valid, count));
        count
    }

    fn count_associated(&mut self, block: BlockId, blocks: &BlockTable) -> u32 {
        self.counts = self.counts.wrapping_add(1);
        let mut count = 0;
        for lpn in blocks.valid_lpns(block) {
            let seen = &mut self.seen[(lpn.0 / self.geometry.pages_per_block) as usize];
            count += u32::from(*seen != self.counts);
            *seen = self.counts;
        }
        count
    }
}

impl LogPolicy for Last {
    const FRONTIERS: usize = 2;

    fn is_sequential(&self, request_pages: u32) -> bool {
        request_pages >= self.sequential_pages
    }

    #[inline]
    fn frontier(&self, old: Option<Ppn>) -> usize {
        let age = |page: usize| self.clock.wrapping_sub(self.written_at[page]);
        match old.and_then(|old| self.page(old)) {
            Some(page) if age(page) < self.hot_window => HOT,
            _ => COLD,
        }
    }

    fn opened(&mut self, block: BlockId, frontier: usize) {
        let Some(slot) = self.free_slots.pop() else { unreachable!("as many slots as random log blocks") };
        self.slot_of[block.idx()] = slot + 1;
        self.slots[slot as usize] = RandomLog { is_hot: frontier == HOT, associated: None };
    }

    #[inline]
    fn logged(&mut self, at: Ppn) {
        self.clock = self.clock.wrapping_add(1);
        if let Some(page) = self.page(at) {
            self.written_at[page] = self.clock;
        }
    }

    fn reclaimed(&mut self, block: BlockId) {
        let slot = std::mem::take(&mut self.slot_of[block.idx()]);
        self.free_slots.push(slot - 1);
    }

    /// Writes the age of each page, for which alone the clock exists.
    fn save_block(&self, block: BlockId, out: &mut StateWriter) {
        let Some(slot) = self.slot(block) else { return out.refuse("a log block without a place") };
        let pages = self.geometry.pages_per_block as usize;
        out.bool(self.slots[slot].is_hot);
        out.u32s(self.written_at[slot * pages..(slot + 1) * pages].iter().map(|&at| self.clock.wrapping_sub(at)));
    }

    fn restore_block(&mut self, block: BlockId, from: &mut StateReader) -> Result<(), Flaw> {
        let slot = self.slot(block).ok_or_else(|| Flaw::damaged("a log block without a place"))?;
        self.slots[slot].is_hot = from.bool()?;
        let pages = self.geometry.pages_per_block as usize;
        let (first, clock, written_at) = (slot * pages, self.clock, &mut self.written_at);
        from.u32s(pages, |page, age| written_at[first + page] = clock.wrapping_sub(age))
    }

    fn victim(&mut self, full: impl Iterator<Item = BlockId> + Clone, blocks: &BlockTable) -> Option<BlockId> {
        if let Some(dead) = full.clone().find(|&block| blocks.valid_units(block) == 0) {
            return Some(dead);
        }
        let cold: Vec<BlockId> = full.clone().filter(|&block| self.is_cold(block)).collect();
        self.cheapest(cold.into_iter(), blocks).or_else(|| self.cheapest(full, blocks))
    }
}
