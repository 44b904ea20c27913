//! A data block and at most one log block for each logical block: the core of BAST, BAST* and NFTL.
//!
//! A page that can still be programmed in its data block goes there. Any other page is appended to the log block of its
//! logical block, which lies on the same die and is mapped by pages. A full log block is *cleaned*:
//!
//! - a log block with all pages in order becomes the data block (a switch merge: 1 erase);
//! - a log block with the first pages in order gets copies of the others and becomes the data block, if the scheme allows that
//!   (a partial merge: 1 erase);
//! - a log block without valid pages is erased (no merge);
//! - in all other cases the newest version of every page is copied to a fresh block (a full merge: as many copies as pages,
//!   2 erases).
//!
//! With compaction a full log block whose data block still has pages that can be programmed is not cleaned: its valid pages are
//! copied to a fresh log block, and it is erased. If all its pages are valid, that would win nothing, and it is cleaned.
//!
//! Each die has a quota of log blocks. If it is exhausted and another logical block needs a log block, the least recently
//! written log block of the die is cleaned.
//!
//! Freedom from deadlock: each die has room for its data blocks, its quota of log blocks, and one more block. Hence, when no
//! block of a die is free, one is being erased, or reserved for a move of cold data, which ends with an erase. A write that finds
//! no block returns how many pages it placed, and cleaned log blocks stay clean.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data_blocks::{DataBlocks, ENTRY_BYTES, Lbn, OnDataBlocks};
use super::log_size::{self, MERGE_BLOCKS};
use super::own_logs::OwnLogs;
use crate::blocks::BlockTable;
use crate::ftl::plan::{Plan, PlanIndex};
use crate::ftl::{Claims, RestoredDrive};
use crate::ftl::{Context, DriveSize, Room, Setup};
use crate::nand::Geometry;
use crate::operation::Cause;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::units::{BlockId, Lpn, Ppn};
use flashwatt_core::connector::Extent;

/// The differences between schemes of this kind.
#[derive(Clone, Copy, Debug)]
pub struct PairRules {
    /// Largest fraction of all blocks for log blocks.
    pub log_fraction: f64,
    /// Fraction of these log blocks that may be in use.
    pub log_limit: f64,
    /// Whether a log block that is not full can become the data block.
    pub partial_merges: bool,
    /// What the report counts as a replacement; none if the scheme has none.
    pub replacement: Option<Replacement>,
    /// Whether a write to a log block first reads the spare area of the page that was written to it last.
    pub reads_spare: bool,
    /// Where the content of a log block is known from.
    pub probe: LogSearch,
}

/// What a replacement of a log block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// A log block is taken from another logical block.
    Steal,
    /// The valid pages of a full log block move to a fresh one, while the data block has pages that can be programmed.
    Compact,
}

/// Search for a page in a log block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogSearch {
    /// Reads the spare areas of its pages, the newest first.
    Scan,
    /// Reads the spare area of its newest page, which lists the pages before it.
    One,
    /// Uses a map in memory.
    None,
}

/// A scheme of this kind, which `S` registers.
pub struct Pairs<S> {
    data: DataBlocks,
    logs: OwnLogs,
    rules: PairRules,
    /// For a scan: the operation that found each page.
    found: Vec<Option<PlanIndex>>,
    scheme: PhantomData<S>,
}

/// The destination of a page.
enum PagePlace {
    Data(Ppn),
    Log(Ppn),
    NoRoom,
}

/// The way to clean a log block.
#[derive(Clone, Copy, PartialEq)]
enum Cleaning {
    EraseOnly,
    TakeOver,
    Full(BlockId),
}

/// The flash that a scheme of this kind needs.
pub fn room(size: &DriveSize) -> Room {
    Room {
        pages: size.dies * (size.data_blocks_per_die() + 1 + u128::from(MERGE_BLOCKS)) * size.pages_per_block,
        idle_pages: size.rounding_pages() + size.dies * u128::from(MERGE_BLOCKS) * size.pages_per_block,
        what: format!("in each of {} dies whole blocks for the host's data, a log block and one more", size.dies),
    }
}

/// Log blocks that each die may have in use, at least one.
fn quota(rules: &PairRules, geometry: &Geometry) -> u32 {
    let most = log_size::share(rules.log_fraction, geometry);
    ((rules.log_limit * f64::from(most)) as u32).max(1)
}

impl<S> Pairs<S> {
    /// The layer of a fresh drive.
    pub fn with(rules: PairRules, setup: &Setup, geometry: &Geometry) -> Self {
        let data = DataBlocks::new(setup, geometry);
        Pairs {
            logs: OwnLogs::new(geometry, data.logical_blocks(), quota(&rules, geometry)),
            data,
            rules,
            found: Vec::new(),
            scheme: PhantomData,
        }
    }

    fn pages_per_block(&self) -> u32 {
        self.data.geometry().pages_per_block
    }

    // ---------------------------------------------------------------- writes

    /// Finds the destination of a page.
    fn place(&mut self, lpn: Lpn, cx: &mut Context, plan: &mut Plan) -> PagePlace {
        let (of, offset) = (self.data.logical_block(lpn), self.data.offset(lpn));
        let data = match self.data.data_block(of) {
            Some(data) => data,
            None => {
                let Some(fresh) = self.data.take_block(self.data.home(of), cx) else { return PagePlace::NoRoom };
                self.data.set_data_block(of, fresh, cx, plan);
                fresh
            }
        };
        if self.data.is_open(data, offset, cx) && !self.hides(of, lpn, cx) {
            return PagePlace::Data(self.data.address(data, offset));
        }
        match self.logs.get(of) {
            None => self.open_log(of, cx, plan),
            Some(log) if self.data.written(log) < self.pages_per_block() => {
                self.logs.touch(of);
                PagePlace::Log(self.data.address(log, self.data.written(log)))
            }
            Some(log) if self.makes_room(of, log, cx, plan) => self.place(lpn, cx, plan),
            Some(_) => PagePlace::NoRoom,
        }
    }

    /// Whether a version of this page in the log block would count as the newest after a write to the data block.
    fn hides(&self, of: Lbn, lpn: Lpn, cx: &Context) -> bool {
        let holds =
            |log| (0..self.data.written(log)).any(|at| cx.blocks.lpn_at(self.data.address(log, at)) == Some(lpn));
        self.rules.probe != LogSearch::None && self.logs.get(of).is_some_and(holds)
    }

    /// Opens a log block for a logical block that has none; returns its first page.
    fn open_log(&mut self, of: Lbn, cx: &mut Context, plan: &mut Plan) -> PagePlace {
        let die = self.data.home(of);
        if !self.logs.has_room(die) {
            let Some(victim) = self.logs.oldest(die) else { unreachable!("a die has a log block at least") };
            if !self.clean(victim, cx, plan) {
                return PagePlace::NoRoom;
            }
            plan.notes().mapping.merges.replacement += u64::from(self.rules.replacement == Some(Replacement::Steal));
        }
        let Some(log) = self.data.take_block(die, cx) else { return PagePlace::NoRoom };
        self.logs.attach(of, log);
        PagePlace::Log(self.data.address(log, 0))
    }

    /// Compacts or cleans the full log block of a logical block. Returns false if there is no free block for that.
    fn makes_room(&mut self, of: Lbn, log: BlockId, cx: &mut Context, plan: &mut Plan) -> bool {
        let is_open = || self.data.data_block(of).is_some_and(|data| self.data.has_open_page(data, cx));
        let wins = (1..self.pages_per_block()).contains(&cx.blocks.valid_units(log));
        if self.rules.replacement == Some(Replacement::Compact) && wins && is_open() {
            self.compact(of, log, cx, plan)
        } else {
            self.clean(of, cx, plan)
        }
    }

    /// Copies the valid pages of a log block to a fresh one, which takes its place. Returns false if there is no free block.
    fn compact(&mut self, of: Lbn, log: BlockId, cx: &mut Context, plan: &mut Plan) -> bool {
        let Some(fresh) = self.data.take_block(self.data.home(of), cx) else { return false };
        let valid: Vec<Lpn> = cx.blocks.valid_lpns(log).collect();
        for (lpn, page) in valid.into_iter().zip(0..) {
            self.data.copy(lpn, self.data.address(fresh, page), Cause::Merge, cx, plan);
        }
        self.data.erase(log, Cause::Merge, cx, plan);
        self.logs.detach(of);
        self.logs.attach(of, fresh);
        plan.notes().mapping.merges.replacement += 1;
        true
    }

    // ---------------------------------------------------------------- cleaning

    /// Cleans the log block of a logical block. Returns false if there is no free block for that.
    fn clean(&mut self, of: Lbn, cx: &mut Context, plan: &mut Plan) -> bool {
        let Some(log) = self.logs.get(of) else { unreachable!("what has no log block is not cleaned") };
        let Some(cleaning) = self.cleaning(of, log, cx) else { return false };
        let scanned = if self.rules.probe == LogSearch::None { None } else { self.scan(log, None, cx, plan) };
        let copies = plan.ops().len();
        self.logs.detach(of);
        match cleaning {
            Cleaning::TakeOver => self.data.take_over(of, log, cx, plan),
            Cleaning::Full(fresh) => self.data.full_merge(of, fresh, cx, plan),
            Cleaning::EraseOnly => {}
        }
        if cleaning != Cleaning::TakeOver {
            self.data.erase(log, Cause::Merge, cx, plan);
        }
        if let Some(scanned) = scanned {
            plan.begin_after(copies, scanned);
        }
        true
    }

    /// The way to clean a log block, if the blocks for it are free.
    fn cleaning(&self, of: Lbn, log: BlockId, cx: &mut Context) -> Option<Cleaning> {
        if cx.blocks.valid_units(log) == 0 {
            return Some(Cleaning::EraseOnly);
        }
        let takes_over = self.data.is_in_order(log, of, cx) && (self.rules.partial_merges || self.is_complete(of, log));
        if takes_over {
            Some(Cleaning::TakeOver)
        } else {
            self.data.take_block(self.data.home(of), cx).map(Cleaning::Full)
        }
    }

    /// Whether all pages of a logical block lie in its log block.
    fn is_complete(&self, of: Lbn, log: BlockId) -> bool {
        let geometry = self.data.geometry();
        self.data.pages(of).all(|lpn| self.data.get(lpn).is_none_or(|at| geometry.block_of(at) == log))
    }

    // ---------------------------------------------------------------- spare areas

    /// Reads the spare areas of a log block's pages one after the other, from the newest backwards, until all pages `wanted` are
    /// found, or of all its pages; with [`LogSearch::One`] that of the newest page alone. Returns the last of these reads;
    /// [`Self::found`] has the read that found each page.
    fn scan(&mut self, log: BlockId, wanted: Option<(Lpn, u32)>, cx: &Context, plan: &mut Plan) -> Option<PlanIndex> {
        let (first, pages) = wanted.unwrap_or((Lpn(0), 0));
        self.found.clear();
        self.found.resize(pages as usize, None);
        let (mut last, mut missing) = (None, pages);
        for ppn in (0..self.data.written(log)).rev().map(|page| self.data.address(log, page)) {
            if last.is_none() || self.rules.probe == LogSearch::Scan {
                last = Some(plan.read_spare(ppn, Cause::Map, last));
            }
            let nth = cx.blocks.lpn_at(ppn).and_then(|lpn| lpn.0.checked_sub(first.0));
            if let Some(found @ None) = nth.and_then(|nth| self.found.get_mut(nth as usize)) {
                (*found, missing) = (last, missing - 1);
                if missing == 0 {
                    break;
                }
            }
        }
        last
    }

    /// Whether a search by spare areas finds the newest version of each page that was ever written to a block.
    fn is_searchable(&self, log: BlockId, blocks: &BlockTable) -> bool {
        let places: Vec<Ppn> = (0..self.data.written(log)).map(|page| self.data.address(log, page)).collect();
        places.iter().enumerate().all(|(at, &ppn)| {
            let lpn = blocks.lpn_at(ppn);
            blocks.is_valid(ppn) || places[at + 1..].iter().any(|&later| blocks.lpn_at(later) == lpn)
        })
    }

    /// Plans the read of the spare area of the page before `at` in its block.
    fn read_last_spare(&self, at: Ppn, plan: &mut Plan) -> Option<PlanIndex> {
        let last = self.data.geometry().unit_in_block(at).checked_sub(1)?;
        let block = self.data.geometry().block_of(at);
        Some(plan.read_spare(self.data.address(block, last), Cause::Map, None))
    }

    /// Plans the read of the old content of a page, if it has any.
    fn read_old(&mut self, lpn: Lpn, cx: &Context, plan: &mut Plan) -> Option<PlanIndex> {
        if !self.data.has_place(lpn) {
            return None;
        }
        let log = self.logs.get(self.data.logical_block(lpn)).filter(|_| self.rules.probe != LogSearch::None);
        let after = log.and_then(|log| self.scan(log, Some((lpn, 1)), cx, plan));
        self.data.read_content(lpn, after, plan)
    }

    /// Plans the read of pages of one logical block after a scan of its log block.
    fn read_scanned(&mut self, first: Lpn, pages: u32, log: BlockId, cx: &Context, plan: &mut Plan) {
        let last = self.scan(log, Some((first, pages)), cx, plan);
        plan.map_accesses += pages;
        for nth in 0..pages {
            let (lpn, found) = (Lpn(first.0 + nth), self.found[nth as usize]);
            let is_in_log = |ppn| self.data.geometry().block_of(ppn) == log;
            debug_assert!(self.data.get(lpn).is_none_or(|ppn| is_in_log(ppn) == found.is_some()));
            self.data.read_page(lpn, found.or(last), plan);
        }
    }
}

impl<S: Send> OnDataBlocks for Pairs<S> {
    fn data(&self) -> &DataBlocks {
        &self.data
    }

    fn data_mut(&mut self) -> &mut DataBlocks {
        &mut self.data
    }

    fn read(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        if self.rules.probe == LogSearch::None {
            return self.data.read(extent, plan);
        }
        let mut done = 0;
        while done < extent.pages {
            let (first, pages) = (Lpn(extent.first.0 + done), self.data.run(extent, done));
            match self.logs.get(self.data.logical_block(first)) {
                Some(log) => self.read_scanned(first, pages, log, cx, plan),
                None => self.data.read(&Extent { first, pages, ..*extent }, plan),
            }
            done += pages;
        }
    }

    /// A block can be the log block of the logical block whose pages alone are valid in it, if that has a data block and no other
    /// log block. Where pages are searched by spare areas, the last version of each page in it must be the newest one.
    fn adopt(&mut self, block: BlockId, blocks: &BlockTable) -> bool {
        let mut owners = blocks.valid_lpns(block).map(|lpn| self.data.logical_block(lpn));
        let Some(of) = owners.next().filter(|of| owners.all(|other| other == *of)) else { return false };
        let die = self.data.home(of);
        let has_place = self.data.geometry().die_of_block(block) == die
            && self.data.data_block(of).is_some()
            && self.logs.get(of).is_none()
            && self.logs.has_room(die);
        if !has_place || (self.rules.probe != LogSearch::None && !self.is_searchable(block, blocks)) {
            return false;
        }
        self.logs.attach(of, block);
        true
    }

    fn give_up(&mut self, of: Lbn) -> Option<BlockId> {
        let log = self.logs.get(of);
        self.logs.detach(of);
        log
    }

    /// Writes the `i`-th page of an extent. Returns 0 if it found no room.
    fn write_some(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> u32 {
        let lpn = Lpn(extent.first.0 + i);
        let (to, is_log) = match self.place(lpn, cx, plan) {
            PagePlace::Data(to) => (to, false),
            PagePlace::Log(to) => (to, true),
            PagePlace::NoRoom => return 0,
        };
        let spare = if is_log && self.rules.reads_spare { self.read_last_spare(to, plan) } else { None };
        let rest = if extent.is_partial(i) { self.read_old(lpn, cx, plan) } else { None };
        self.data.program_with(lpn, rest.or(spare), to, cx, plan);
        1
    }

    /// An entry for each logical block and each log block; without scans also one for each page of a log block.
    fn mapping_bytes(&self) -> u64 {
        let pages = if self.rules.probe == LogSearch::None { self.pages_per_block() } else { 0 };
        let of_logs = u64::from(self.logs.most()) * u64::from(1 + pages);
        (u64::from(self.data.logical_blocks()) + of_logs) * ENTRY_BYTES
    }

    fn save_own(&self, out: &mut StateWriter) {
        self.logs.save(out);
    }

    fn restore_own(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        let data = &self.data;
        self.logs.restore(from, claims, drive, |lpn| data.logical_block(lpn))
    }
}
