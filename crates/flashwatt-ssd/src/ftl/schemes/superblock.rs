//! Log units: BAST whose blocks are superblocks, and which merges while the drive is idle.
//!
//! A *unit* is one erase block of each die. Consecutive logical pages go round the dies, so that a unit holds consecutive pages
//! and a request keeps all dies at work. A unit's blocks serve the same logical pages and are replaced together. Each unit has
//! *data blocks*, in which every page has its place, and at most one *log*: a further block of each die, which takes the pages that
//! the data blocks cannot take, in the order in which they come. [`DataBlocks`] places the pages.
//!
//! A log is *merged* when one of its blocks is full and takes another page; when another unit needs a log and all are in use, the
//! least recently written one first; and, if the configuration asks for it, while the drive is idle. A merge moves the newest
//! version of all pages of the unit, row by row: a row is one page of each die. All dies copy at once. The controller has memory
//! for n rows (`rows_in_memory`): a row begins when the last page of the n-th row before it is on flash:
//!
//! - on a die whose log block has the first pages in order (or none), the others are copied to it, and it becomes the data block;
//! - on every other die all pages are copied to a fresh block.
//!
//! The report counts a merge as `switch` if nothing is copied, as `partial` if no die needs a fresh block, else as `full`. A log
//! without valid pages is erased without a merge.
//!
//! Merging while idle: after `idle_merge_start_ns` without a request in the drive the least recently written log is merged, then
//! `idle_merge_gap_ns` later the next one, until no log is in use or a request comes. The operations of one merge are planned
//! together. A request that comes meanwhile waits for those ahead of it: those of one merge at most.
//!
//! Sources: logs of one unit each, Kim et al. 2002 (BAST); one block of each die as the unit of erasing, Agrawal et al. 2008,
//! section 3.3; merging in idle time, Park et al. 2011, sections 3.1 and 4.2. The "superblock" of Kang et al. 2006 is another thing:
//! neighbouring blocks that share log blocks.
//!
//! Freedom from deadlock: each die has room for its data blocks, its logs, and one more block. Blocks are taken on all dies or on
//! none. So when a die has no free block, one of its blocks is being erased, or is reserved for a move of cold data, which ends with
//! an erase. A write that finds no block returns how many pages it placed, and merged logs stay merged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocked::data_blocks::{DataBlocks, ENTRY_BYTES, Lbn, OnDataBlocks};
use crate::ftl::blocked::log_size::{self, LOG_FRACTION};
use crate::ftl::blocked::own_logs::OwnLogs;
use crate::ftl::blocked::pairs;
use crate::ftl::plan::{Plan, PlanIndex};
use crate::ftl::{Claims, Context, DriveSize, IdlePace, RestoredDrive, Room, Scheme, Setup};
use crate::nand::Geometry;
use crate::nand::settings::BlockStripe;
use crate::operation::Cause;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{BlockId, DieId, Lpn, Nanos, Ppn};
use flashwatt_core::connector::Extent;

/// Largest number of logs that are merged together, and of rows in memory.
const COUNT_MAX: u32 = 1_000_000;
/// Longest time of a configuration in ns.
const NS_MAX: Nanos = 1_000_000_000_000;

/// `[ftl.superblock]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Fraction of all blocks for logs: at most the spare blocks, at least one block of each die.
    pub log_fraction: Option<f64>,
    /// Number of logs that are merged, one after the other, when a unit needs a log and all are in use.
    pub merges_at_once: Option<u32>,
    /// Rows of a merge, of one page of each die, that the controller has memory for; 1 unless given. With memory for n rows, a
    /// row begins when the n-th row before it is on flash.
    pub rows_in_memory: Option<u32>,
    /// Time without a request in the drive after which logs are merged. Without it none is merged for that.
    pub idle_merge_start_ns: Option<Nanos>,
    /// Time from the end of a merge in an idle drive to the start of the next one; 0 unless given.
    pub idle_merge_gap_ns: Option<Nanos>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Fraction of all blocks for logs.
    pub log_fraction: f64,
    /// Number of logs that are merged when one is needed and all are in use.
    pub merges_at_once: u32,
    /// Rows of a merge that the controller has memory for.
    pub rows_in_memory: u32,
    /// Time without a request after which logs are merged; none if they are not.
    pub idle_merge_start_ns: Option<Nanos>,
    /// Time from the end of such a merge to the start of the next one; none without such merges.
    pub idle_merge_gap_ns: Option<Nanos>,
}

impl Settings {
    fn idle_pace(&self) -> Option<IdlePace> {
        let (start_ns, gap_ns) = (self.idle_merge_start_ns?, self.idle_merge_gap_ns?);
        Some(IdlePace { start_ns, gap_ns })
    }
}

/// The translation layer.
pub struct Superblock {
    data: DataBlocks,
    /// The logs: either all dies of a unit have a log block or none has. The order of use is that of the first die.
    logs: OwnLogs,
    merges_at_once: u32,
    rows_in_memory: usize,
    idle_pace: Option<IdlePace>,
    /// Logs that must still be merged before a unit takes one.
    to_merge: u32,
}

/// What a merge does on one die.
#[derive(Clone, Copy)]
struct DieMerge {
    of: Lbn,
    log: BlockId,
    /// The block that becomes the data block: the log block or a fresh one.
    to: BlockId,
}

impl Scheme for Superblock {
    const DOC: &'static str = "log units of one block of each die, merged as a whole and while the drive is idle";
    const COLLECTS: bool = false;
    const HAS_CHECKPOINTS: bool = true;
    const STARTS_MAPPED: bool = true;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.superblock";
        const GAP: &str = "ftl.superblock.idle_merge_gap_ns";
        let start_ns = c.optional(field!(TABLE, options.idle_merge_start_ns), 1..=NS_MAX);
        let gap_ns = c.optional(field!(TABLE, options.idle_merge_gap_ns), 0..=NS_MAX);
        if start_ns.is_none() && gap_ns.is_some() && c.clean(GAP) {
            let expected = "ftl.superblock.idle_merge_start_ns, which says when merging begins";
            c.has_no_effect(GAP, "a drive that does not merge while idle", expected);
        }
        Settings {
            log_fraction: c.number(field!(TABLE, options.log_fraction), LOG_FRACTION, 0.0..=0.5),
            merges_at_once: c.number(field!(TABLE, options.merges_at_once), 1, 1..=COUNT_MAX),
            rows_in_memory: c.number(field!(TABLE, options.rows_in_memory), 1, 1..=COUNT_MAX),
            idle_merge_start_ns: start_ns,
            idle_merge_gap_ns: start_ns.map(|_| gap_ns.unwrap_or(0)),
        }
    }

    fn room(_settings: &Settings, size: &DriveSize) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let data = DataBlocks::new(&Setup { block_stripe: BlockStripe::Page, ..*setup }, geometry);
        let quota = log_size::share(settings.log_fraction, geometry).max(1);
        Superblock {
            logs: OwnLogs::new(geometry, data.logical_blocks(), quota),
            data,
            merges_at_once: settings.merges_at_once,
            rows_in_memory: settings.rows_in_memory as usize,
            idle_pace: settings.idle_pace(),
            to_merge: 0,
        }
    }
}

impl Superblock {
    /// The first logical block of the unit of a logical block.
    fn first(&self, of: Lbn) -> Lbn {
        Lbn(of.0 - of.0 % self.data.geometry().dies)
    }

    /// The logical blocks of a unit: one of each die; fewer at the end of the logical space.
    fn members(&self, first: Lbn) -> impl Iterator<Item = Lbn> + Clone + use<'_> {
        let dies = self.data.geometry().dies;
        (first.0..first.0 + dies).map(Lbn).take_while(|&of| self.data.page(of, 0).is_some())
    }

    /// Takes an erased block for each of these logical blocks, on its die; or none at all.
    fn take_blocks(&self, of: impl Iterator<Item = Lbn>, cx: &mut Context) -> Option<Vec<BlockId>> {
        let mut taken = Vec::new();
        for of in of {
            match self.data.take_block(self.data.home(of), cx) {
                Some(block) => taken.push(block),
                None => {
                    taken.into_iter().for_each(|block| cx.blocks.give_back(block));
                    return None;
                }
            }
        }
        Some(taken)
    }

    // ---------------------------------------------------------------- writes

    /// The address for a page of the host, if there is one.
    fn place(&mut self, lpn: Lpn, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        let (of, offset) = (self.data.logical_block(lpn), self.data.offset(lpn));
        let Some(data) = self.data.data_block(of) else { return self.open_data(of, offset, cx, plan) };
        if self.data.is_open(data, offset, cx) {
            return Some(self.data.address(data, offset));
        }
        let mut log = self.logs.get(of);
        if log.is_some_and(|log| self.data.written(log) == self.data.geometry().pages_per_block) {
            if !self.merge(self.first(of), cx, plan) {
                return None;
            }
            log = None;
        }
        let log = match log {
            Some(log) => log,
            None => self.open_log(of, cx, plan)?,
        };
        self.logs.touch(self.first(of));
        Some(self.data.address(log, self.data.written(log)))
    }

    /// Opens the first data blocks of a unit. Returns the place of the page at an offset of one of its logical blocks.
    fn open_data(&mut self, of: Lbn, offset: u32, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        let members: Vec<Lbn> = self.members(self.first(of)).collect();
        let blocks = self.take_blocks(members.iter().copied(), cx)?;
        for (&of, &block) in members.iter().zip(&blocks) {
            self.data.set_data_block(of, block, cx, plan);
        }
        self.data.data_block(of).map(|block| self.data.address(block, offset))
    }

    /// Opens a log for the unit of a logical block, after merges if all are in use. Returns the logical block's log block.
    fn open_log(&mut self, of: Lbn, cx: &mut Context, plan: &mut Plan) -> Option<BlockId> {
        let first = self.first(of);
        if self.to_merge == 0 && !self.logs.has_room(self.data.home(first)) {
            self.to_merge = self.merges_at_once;
        }
        while self.to_merge > 0 {
            match self.oldest() {
                Some(victim) if !self.merge(victim, cx, plan) => return None,
                Some(_) => {
                    plan.notes().mapping.merges.replacement += 1;
                    self.to_merge -= 1;
                }
                None => self.to_merge = 0,
            }
        }
        let members: Vec<Lbn> = self.members(first).collect();
        let blocks = self.take_blocks(members.iter().copied(), cx)?;
        members.iter().zip(blocks).for_each(|(&of, block)| self.logs.attach(of, block));
        self.logs.get(of)
    }

    // ---------------------------------------------------------------- merges

    /// The first logical block of the unit whose log is the least recently written one.
    fn oldest(&self) -> Option<Lbn> {
        self.logs.oldest(DieId(0))
    }

    /// Merges the log of a unit. Returns false if a die has no free block for that.
    fn merge(&mut self, first: Lbn, cx: &mut Context, plan: &mut Plan) -> bool {
        let part = |of| self.logs.get(of).map(|log| DieMerge { of, log, to: log });
        let mut parts: Vec<DieMerge> = self.members(first).filter_map(part).collect();
        if parts.iter().all(|part| cx.blocks.valid_units(part.log) == 0) {
            self.drop_log(&parts, cx, plan);
            return true;
        }
        let is_in_order = |part: &DieMerge| self.data.is_in_order(part.log, part.of, cx);
        let out_of_order: Vec<usize> = (0..parts.len()).filter(|&at| !is_in_order(&parts[at])).collect();
        let Some(fresh) = self.take_blocks(out_of_order.iter().map(|&at| parts[at].of), cx) else { return false };
        out_of_order.iter().zip(&fresh).for_each(|(&at, &block)| parts[at].to = block);
        let copies = self.copy_rows(&parts, cx, plan);
        for &DieMerge { of, log, to } in &parts {
            self.logs.detach(of);
            self.data.set_data_block(of, to, cx, plan);
            if to != log {
                self.data.erase(log, Cause::Merge, cx, plan);
            }
        }
        let merges = &mut plan.notes().mapping.merges;
        match (fresh.is_empty(), copies) {
            (true, 0) => merges.switch += 1,
            (true, _) => merges.partial += 1,
            (false, _) => merges.full += 1,
        }
        true
    }

    /// Frees the log blocks of a unit, which hold no valid page: by an erase, or at once what was never written.
    fn drop_log(&mut self, parts: &[DieMerge], cx: &mut Context, plan: &mut Plan) {
        for &DieMerge { of, log, .. } in parts {
            self.logs.detach(of);
            if self.data.written(log) > 0 {
                self.data.erase(log, Cause::Merge, cx, plan);
            } else {
                cx.blocks.give_back(log);
            }
        }
    }

    /// Copies the pages of a unit that lie elsewhere to their offsets in the target blocks, row by row. Returns their number.
    fn copy_rows(&mut self, parts: &[DieMerge], cx: &mut Context, plan: &mut Plan) -> usize {
        let before = plan.ops().len();
        let mut row_ends: Vec<PlanIndex> = Vec::new();
        for offset in 0..self.data.geometry().pages_per_block {
            let row = plan.ops().len();
            for &DieMerge { of, to, .. } in parts {
                let to = self.data.address(to, offset);
                let lpn = self.data.page(of, offset);
                if let Some(lpn) = lpn.filter(|&lpn| self.data.get(lpn).is_some_and(|at| at != to)) {
                    self.data.copy(lpn, to, Cause::Merge, cx, plan);
                }
            }
            if plan.ops().len() == row {
                continue;
            }
            if let Some(earlier) = row_ends.len().checked_sub(self.rows_in_memory) {
                plan.begin_after(row, row_ends[earlier]);
            }
            row_ends.push(PlanIndex(plan.ops().len() as u32 - 1));
        }
        plan.ops().len() - before
    }
}

impl OnDataBlocks for Superblock {
    fn data(&self) -> &DataBlocks {
        &self.data
    }

    fn data_mut(&mut self) -> &mut DataBlocks {
        &mut self.data
    }

    fn write_some(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> u32 {
        let lpn = Lpn(extent.first.0 + i);
        let Some(to) = self.place(lpn, cx, plan) else { return 0 };
        self.data.program(lpn, extent.is_partial(i), to, cx, plan);
        1
    }

    fn idle_pace(&self) -> Option<IdlePace> {
        self.idle_pace
    }

    fn has_idle_work(&self) -> bool {
        self.oldest().is_some()
    }

    fn idle_work(&mut self, cx: &mut Context, plan: &mut Plan) {
        if let Some(oldest) = self.oldest() {
            self.merge(oldest, cx, plan);
        }
    }

    /// An entry for each unit and each log, and one for each page of a log.
    fn mapping_bytes(&self) -> u64 {
        let geometry = self.data.geometry();
        let units = u64::from(self.data.logical_blocks() / geometry.dies);
        let logs = u64::from(self.logs.most() / geometry.dies);
        let log_pages = u64::from(self.logs.most()) * u64::from(geometry.pages_per_block);
        (units + logs + log_pages) * ENTRY_BYTES
    }

    /// Either all dies of a unit have a data block or none has.
    fn recovered(&mut self, cx: &mut Context) {
        for first in (0..self.data.logical_blocks()).step_by(self.data.geometry().dies as usize).map(Lbn) {
            let members: Vec<Lbn> = self.members(first).collect();
            if members.iter().any(|&of| self.data.data_block(of).is_some()) {
                members.into_iter().for_each(|of| self.data.open_missing(of, cx));
            }
        }
    }

    fn save_own(&self, out: &mut StateWriter) {
        self.logs.save(out);
    }

    fn restore_own(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        let data = &self.data;
        self.logs.restore(from, claims, drive, |lpn| data.logical_block(lpn))?;
        let of_unit = |of: u32| self.logs.get(self.first(Lbn(of))).is_some() && data.page(Lbn(of), 0).is_some();
        let is_whole = (0..data.logical_blocks()).all(|of| self.logs.get(Lbn(of)).is_some() == of_unit(of));
        require(is_whole, "a log that is not on all dies of its unit")
    }
}
