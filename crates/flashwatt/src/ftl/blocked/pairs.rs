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
//! Each die has a quota of log blocks. If it is exhausted and another logical block needs a log block, either the least
//! recently written log block of the die is cleaned (`replaces`), or the logical block is copied to a fresh block, as in block
//! mapping.
//!
//! Freedom from deadlock: each die has room for its data blocks, its quota of log blocks, and one more block. Hence, when no
//! block of a die is free, one is being erased, or reserved for a move of cold data, which ends with an erase. A write that finds
//! no block returns how many pages it placed, and cleaned log blocks stay clean.

use std::marker::PhantomData;

use super::data_blocks::{DataBlocks, ENTRY_BYTES, Lbn, OnDataBlocks};
use super::log_size::{self, MERGE_BLOCKS};
use super::own_logs::OwnLogs;
use crate::connector::Extent;
use crate::device::Geometry;
use crate::ftl::plan::{Plan, PlanIndex};
use crate::ftl::{Claims, RestoredDrive};
use crate::ftl::{Context, DriveSize, Room, Setup};
use crate::operation::Cause;
use crate::persist::{Flaw, StateReader, StateWriter};
use crate::units::{BlockId, Lpn, Ppn};

/// The differences between schemes of this kind.
#[derive(Clone, Copy, Debug)]
pub struct PairRules {
    /// Largest fraction of all blocks for log blocks.
    pub log_fraction: f64,
    /// Whether a log block that is not full can become the data block.
    pub partial_merges: bool,
    /// Whether a log block is taken from another logical block if the quota is exhausted.
    pub replaces: bool,
    /// Whether the content of a log block is known from the spare areas of its pages only.
    pub scans: bool,
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
    At(Ppn),
    /// A fresh block, with the rest of its logical block.
    Copy,
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
        what: format!("in each of {} dies whole blocks for the host's data, a log block and one more", size.dies),
    }
}

impl<S> Pairs<S> {
    /// The layer of a fresh drive.
    pub fn with(rules: PairRules, setup: &Setup, geometry: &Geometry) -> Self {
        let data = DataBlocks::new(setup, geometry);
        Pairs {
            logs: OwnLogs::new(geometry, data.logical_blocks(), log_size::share(rules.log_fraction, geometry).max(1)),
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
            return PagePlace::At(self.data.address(data, offset));
        }
        match self.logs.get(of) {
            None => self.open_log(of, cx, plan),
            Some(log) if self.data.written(log) < self.pages_per_block() => {
                self.logs.touch(of);
                PagePlace::At(self.data.address(log, self.data.written(log)))
            }
            Some(_) if self.clean(of, cx, plan) => self.place(lpn, cx, plan),
            Some(_) => PagePlace::NoRoom,
        }
    }

    /// Whether a version of this page in the log block would count as the newest after a write to the data block.
    fn hides(&self, of: Lbn, lpn: Lpn, cx: &Context) -> bool {
        let holds =
            |log| (0..self.data.written(log)).any(|at| cx.blocks.lpn_at(self.data.address(log, at)) == Some(lpn));
        self.rules.scans && self.logs.get(of).is_some_and(holds)
    }

    /// Opens a log block for a logical block that has none; returns its first page.
    fn open_log(&mut self, of: Lbn, cx: &mut Context, plan: &mut Plan) -> PagePlace {
        let die = self.data.home(of);
        if !self.logs.has_room(die) {
            if !self.rules.replaces {
                return PagePlace::Copy;
            }
            let Some(victim) = self.logs.oldest(die) else { unreachable!("a die has a log block at least") };
            if !self.clean(victim, cx, plan) {
                return PagePlace::NoRoom;
            }
            plan.notes().mapping.merges.replacement += 1;
        }
        let Some(log) = self.data.take_block(die, cx) else { return PagePlace::NoRoom };
        self.logs.attach(of, log);
        PagePlace::At(self.data.address(log, 0))
    }

    // ---------------------------------------------------------------- cleaning

    /// Cleans the log block of a logical block. Returns false if there is no free block for that.
    fn clean(&mut self, of: Lbn, cx: &mut Context, plan: &mut Plan) -> bool {
        let Some(log) = self.logs.get(of) else { unreachable!("what has no log block is not cleaned") };
        let Some(cleaning) = self.cleaning(of, log, cx) else { return false };
        let scanned = if self.rules.scans { self.scan(log, None, cx, plan) } else { None };
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
    /// found, or of all its pages. Returns the last of these reads; [`Self::found`] has the read that found each page.
    fn scan(&mut self, log: BlockId, wanted: Option<(Lpn, u32)>, cx: &Context, plan: &mut Plan) -> Option<PlanIndex> {
        let (first, pages) = wanted.unwrap_or((Lpn(0), 0));
        self.found.clear();
        self.found.resize(pages as usize, None);
        let (mut last, mut missing) = (None, pages);
        for ppn in (0..self.data.written(log)).rev().map(|page| self.data.address(log, page)) {
            let op = plan.read_spare(ppn, Cause::Map, last);
            last = Some(op);
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

    /// Plans the read of the old content of a page, if it has any.
    fn read_old(&mut self, lpn: Lpn, cx: &Context, plan: &mut Plan) -> Option<PlanIndex> {
        let old = self.data.get(lpn)?;
        let log = self.logs.get(self.data.logical_block(lpn)).filter(|_| self.rules.scans);
        let after = log.and_then(|log| self.scan(log, Some((lpn, 1)), cx, plan));
        Some(plan.read(old, Cause::Host, after))
    }

    /// Plans the read of pages of one logical block after a scan of its log block.
    fn read_scanned(&mut self, first: Lpn, pages: u32, log: BlockId, cx: &Context, plan: &mut Plan) {
        let last = self.scan(log, Some((first, pages)), cx, plan);
        plan.map_accesses += pages;
        for nth in 0..pages {
            let found = self.found[nth as usize];
            match self.data.get(Lpn(first.0 + nth)) {
                Some(ppn) => {
                    debug_assert_eq!(self.data.geometry().block_of(ppn) == log, found.is_some());
                    plan.read(ppn, Cause::Host, found.or(last));
                }
                None => plan.unwritten_reads += 1,
            }
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

    fn read(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) {
        if !self.rules.scans {
            return self.data.read(extent, plan);
        }
        let mut done = 0;
        while done < extent.pages {
            let (first, pages) = (Lpn(extent.first.0 + done), self.data.run(&extent, done));
            match self.logs.get(self.data.logical_block(first)) {
                Some(log) => self.read_scanned(first, pages, log, cx, plan),
                None => self.data.read(Extent { first, pages, ..extent }, plan),
            }
            done += pages;
        }
    }

    /// Writes the `i`-th page of an extent, or more pages if a block is copied. Returns how many found room.
    fn write_some(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> u32 {
        let lpn = Lpn(extent.first.0 + i);
        match self.place(lpn, cx, plan) {
            PagePlace::At(to) => {
                let rest = if extent.is_partial(i) { self.read_old(lpn, cx, plan) } else { None };
                self.data.program_with(lpn, rest, to, cx, plan);
                1
            }
            PagePlace::Copy => {
                let home = self.data.home(self.data.logical_block(lpn));
                let Some(fresh) = self.data.take_block(home, cx) else { return 0 };
                let pages = self.data.run(extent, i);
                self.data.rewrite(extent, i, pages, fresh, cx, plan);
                pages
            }
            PagePlace::NoRoom => 0,
        }
    }

    /// An entry for each logical block and each log block; without scans also one for each page of a log block.
    fn mapping_bytes(&self) -> u64 {
        let pages = if self.rules.scans { 0 } else { self.pages_per_block() };
        let of_logs = u64::from(self.logs.most()) * u64::from(1 + pages);
        (u64::from(self.data.logical_blocks()) + of_logs) * ENTRY_BYTES
    }

    fn save_own(&self, out: &mut StateWriter) {
        self.logs.save(out);
    }

    fn restore_own(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        self.logs.restore(from, claims, drive)
    }
}
