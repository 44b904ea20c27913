//! The recovery log: what the drive writes to flash so that it comes back after a power cut as the host was promised
//! ([`crate::recovery::log`] has its layout).
//!
//! A trim is noted in memory. A page of records is programmed when it is full, or when a flush waits for it; the flush completes when
//! the trims before it are on flash. One page is programmed at a time. A unit that has been trimmed stays noted until a snapshot finds
//! newer data of it on flash, so that no write has to tell the log anything.
//!
//! The block whose data a trim has voided is not erased before the trim is on flash. That data may be all that hides what was there
//! before an earlier trim, whose record is gone.

use std::cell::LazyCell;
use std::collections::{BTreeSet, VecDeque};

use crate::controller::EndedOp;
use crate::drive::Ssd;
use crate::drive::service::Service;
use crate::drive::settings::Settings;
use crate::firmware::Firmware;
use crate::nand::{Geometry, Reserve};
use crate::observe::probe::{Probe, Purpose};
use crate::operation::Cause;
use crate::recovery::checkpoint::{LISTED_ENTRY_BYTES, checkpoint_bytes};
use crate::recovery::log::{
    LogAreas, LogContent, LogFound, LogPage, bits_per_page, checkpoint_pages, records_per_page,
};
use flashwatt_base::units::{BlockId, Lpn, RequestId};
use flashwatt_core::connector::{Cx, Extent};

/// The log of a drive.
pub(in crate::drive) struct RecoveryLog {
    areas: LogAreas,
    /// The area that takes the next page, and the number of that page in it.
    area: usize,
    next: usize,
    records_per_page: usize,
    bits_per_page: usize,
    /// Whether trims are recorded.
    has_records: bool,
    /// Whether checkpoints are written, and bytes of the last one.
    has_checkpoints: bool,
    checkpoint_bytes: u128,
    page_bytes: u32,
    /// Pages programmed on the drive after which a checkpoint is due, and how many there had been at the last one, if there was one.
    interval_pages: u64,
    last_checkpoint: Option<u64>,
    /// Pages programmed on the drive in earlier windows of the run.
    programs_before: u64,
    /// Pages of snapshots that have been programmed, with the checkpoints in them, and how many there had been before the last one.
    own_programs: u64,
    own_at_checkpoint: u64,
    /// By unit: whether it was trimmed, and no snapshot has found since that newer data of it is on flash and no record is needed
    /// ([`Ssd::units_with_record`]).
    trimmed: Vec<bool>,
    /// Trims that no page has.
    pending: VecDeque<Trim>,
    /// Trims so far, and how many of them are on flash.
    noted: u64,
    recorded: u64,
    /// What is to be done one after another; the first of it is under way if `remaining` is not 0.
    todo: VecDeque<LogStep>,
    /// Operations under way.
    remaining: u32,
    /// Whether an erase waits for a trim that no page has.
    erase_waits: bool,
    /// Flushes, and the number of trims that each waits for.
    waiting: VecDeque<(RequestId, u64)>,
}

/// A trim that is not on flash.
struct Trim {
    first: u32,
    units: u32,
    /// The blocks that it keeps from being erased.
    held: Vec<BlockId>,
}

/// A piece of work.
enum LogStep {
    /// Program pages. Then trims up to this number are on flash, and these blocks may be erased.
    Program(Vec<LogPage>, u64, Vec<BlockId>),
    /// Erase the blocks of an area.
    Erase(usize),
}

impl RecoveryLog {
    /// Goes on behind what a scan has found after a power cut.
    pub fn resume(&mut self, found: &LogFound) {
        (self.area, self.next) = (found.area, found.next);
        self.last_checkpoint = found.checkpoint.as_ref().map(|_| 0);
        found.trims.keys().for_each(|lpn| self.trimmed[lpn.idx()] = true);
    }

    /// The host trims units.
    fn note(&mut self, trim: Trim) {
        self.trimmed[trim.first as usize..(trim.first + trim.units) as usize].fill(true);
        self.pending.push_back(trim);
        self.noted += 1;
    }

    /// Whether there is something to do, when this number of pages has been programmed on the drive.
    fn has_work(&self, programs: u64) -> bool {
        !self.todo.is_empty() || self.wants_page() || self.wants_checkpoint(programs)
    }

    /// Finds what is to be done next. `checkpoint_bytes`: of a checkpoint that is begun now. `newer`: what there is of a unit that was
    /// written after its last trim.
    fn find_work(&mut self, programs: u64, checkpoint_bytes: impl Fn() -> u128, newer: impl Fn(Lpn) -> Newer) {
        if !self.todo.is_empty() {
            return;
        }
        if self.wants_checkpoint(programs) || (self.wants_page() && self.next >= self.areas.pages[self.area].len()) {
            self.checkpoint_bytes = if self.has_checkpoints { checkpoint_bytes() } else { 0 };
            self.begin_area(programs, newer);
        } else if self.wants_page() {
            let page = self.page_of_records();
            self.todo.push_back(page);
        }
    }

    /// Whether a page of records is to be programmed: there is one, or a flush or an erase waits for it.
    fn wants_page(&self) -> bool {
        let is_awaited = !self.waiting.is_empty() || self.erase_waits;
        self.pending.len() >= self.records_per_page || (is_awaited && !self.pending.is_empty())
    }

    /// Whether a checkpoint is due. Its own pages alone bring no other one: a checkpoint that is larger than the interval would never
    /// be the last.
    fn wants_checkpoint(&self, programs: u64) -> bool {
        let own = self.own_programs - self.own_at_checkpoint;
        let is_due = |last: u64| programs >= last + self.interval_pages && programs - last > own;
        self.has_checkpoints && self.last_checkpoint.is_none_or(is_due)
    }

    fn page_of_records(&mut self) -> LogStep {
        let records: Vec<Trim> = self.pending.drain(..self.pending.len().min(self.records_per_page)).collect();
        let trims = records.iter().flat_map(|trim| trim.first..trim.first + trim.units).map(Lpn).collect();
        let recorded = self.noted - self.pending.len() as u64;
        let held = records.into_iter().flat_map(|trim| trim.held).collect();
        LogStep::Program(vec![LogPage { part: LogContent::Records, trims }], recorded, held)
    }

    /// Begins the other area with a snapshot, which holds all trims so far. Does nothing while it has no room for the
    /// records of trimmed units, or entries of a map on flash, that are on their way to flash again.
    fn begin_area(&mut self, programs: u64, newer: impl Fn(Lpn) -> Newer) {
        let checkpoint_pages = checkpoint_pages(self.checkpoint_bytes, self.page_bytes) as usize;
        let (mut with_bit, mut with_record) = (Vec::new(), Vec::new());
        for lpn in (0..self.trimmed.len() as u32).map(Lpn).filter(|lpn| self.trimmed[lpn.idx()]).collect::<Vec<_>>() {
            match newer(lpn) {
                Newer::Nothing => with_bit.push(lpn),
                Newer::OnItsWay => with_record.push(lpn),
                Newer::OnFlash => self.trimmed[lpn.idx()] = false,
            }
        }
        let bits = if self.has_records { self.trimmed.len().div_ceil(self.bits_per_page) } else { 0 };
        let of = checkpoint_pages + bits + with_record.len().div_ceil(self.records_per_page);
        if of > self.areas.pages[1 - self.area].len() {
            return;
        }
        let mut trims = vec![Vec::new(); checkpoint_pages + bits];
        for lpn in with_bit {
            trims[checkpoint_pages + lpn.idx() / self.bits_per_page].push(lpn);
        }
        trims.extend(with_record.chunks(self.records_per_page).map(<[Lpn]>::to_vec));
        let part = |at| LogContent::Snapshot { at, of: of as u32 };
        let pages: Vec<LogPage> =
            trims.into_iter().zip(0..).map(|(trims, at)| LogPage { part: part(at), trims }).collect();
        let at_once = pages.chunks(self.areas.blocks[0].len());
        self.todo.extend(at_once.map(|pages| LogStep::Program(pages.to_vec(), self.recorded, Vec::new())));
        if let Some(LogStep::Program(_, recorded, held)) = self.todo.back_mut() {
            *recorded = self.noted;
            held.extend(self.pending.drain(..).flat_map(|trim| trim.held));
        }
        if self.next > 0 {
            self.todo.push_back(LogStep::Erase(self.area));
        }
        (self.last_checkpoint, self.own_at_checkpoint) = (Some(programs), self.own_programs);
        (self.area, self.next) = (1 - self.area, 0);
    }

    /// Plans the next step, and gives it to the controller. Returns the number of its operations.
    fn begin_step<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) -> u32 {
        let Firmware { plan, .. } = &mut drive.firmware;
        plan.clear();
        let of_map = std::mem::replace(&mut plan.map_copies, 1);
        let purpose = match self.todo.front() {
            None => return 0,
            Some(LogStep::Program(pages, _, held)) => {
                for &ppn in &self.areas.pages[self.area][self.next..self.next + pages.len()] {
                    let op = plan.program(ppn, Cause::Map, None);
                    held.iter().for_each(|&block| plan.replaces(op, block));
                }
                self.next += pages.len();
                self.own_programs +=
                    pages.iter().filter(|page| matches!(page.part, LogContent::Snapshot { .. })).count() as u64;
                Purpose::Log(pages, self.checkpoint_bytes)
            }
            Some(LogStep::Erase(area)) => {
                let used = |block: &&BlockId| drive.flash.array.planned_pages(**block) > 0;
                for &block in self.areas.blocks[*area].iter().filter(used) {
                    plan.erase(drive.geometry.first_ppn(block), Cause::Map);
                }
                Purpose::Background
            }
        };
        let operations = drive.begin_own(RequestId::RECOVERY_LOG, purpose, false, cx.now());
        drive.firmware.plan.map_copies = of_map;
        if let Some(LogStep::Program(_, _, held)) = self.todo.front_mut() {
            for block in held.drain(..) {
                let erase = drive.flash.array.release(block);
                debug_assert!(erase.is_none(), "the programs hold the block now");
            }
        }
        operations
    }

    /// A step has ended. Returns the flushes that need not wait any longer.
    fn step_ended(&mut self) -> Vec<RequestId> {
        if let Some(LogStep::Program(_, recorded, _)) = self.todo.pop_front() {
            self.recorded = recorded;
        }
        let done = self.waiting.iter().take_while(|(_, trims)| *trims <= self.recorded).count();
        self.waiting.drain(..done).map(|(flush, _)| flush).collect()
    }
}

/// What there is of a unit that was written after its last trim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Newer {
    /// Nothing.
    Nothing,
    /// Data in the write buffer, or a program that has not ended; or the journal has records of the unit.
    OnItsWay,
    /// Data on flash.
    OnFlash,
}

impl Service for RecoveryLog {
    const REQUEST: RequestId = RequestId::RECOVERY_LOG;
    const SETTLES_AGAIN: bool = true;

    /// An empty log, if there are blocks for it.
    fn of_drive(settings: &Settings, firmware: &Firmware, geometry: &Geometry) -> Option<Self> {
        let kept = &firmware.reserved[Reserve::Log];
        if kept.is_empty() {
            return None;
        }
        let (page_bytes, recovery) = (geometry.page_bytes(), &settings.recovery);
        Some(RecoveryLog {
            areas: LogAreas::new(kept, geometry, settings.device.nand.paired_pages.is_some()),
            area: 0,
            next: 0,
            records_per_page: records_per_page(page_bytes) as usize,
            bits_per_page: bits_per_page(page_bytes) as usize,
            has_records: recovery.records_trims(),
            has_checkpoints: recovery.checkpoint_interval_bytes.is_some(),
            checkpoint_bytes: 0,
            page_bytes,
            interval_pages: recovery.checkpoint_interval_bytes.unwrap_or(0).div_ceil(u64::from(page_bytes)),
            last_checkpoint: None,
            programs_before: 0,
            own_programs: 0,
            own_at_checkpoint: 0,
            trimmed: vec![false; geometry.logical_units as usize],
            pending: VecDeque::new(),
            noted: 0,
            recorded: 0,
            todo: VecDeque::new(),
            remaining: 0,
            erase_waits: false,
            waiting: VecDeque::new(),
        })
    }

    /// Notes a trim.
    fn trim_comes<P: Probe>(&mut self, extent: Extent, drive: &mut Ssd<P>) {
        if !self.has_records {
            return;
        }
        let last = extent.pages - 1;
        let first = extent.first.0 + u32::from(extent.is_partial(0));
        let end = extent.first.0 + last + u32::from(!extent.is_partial(last));
        if first >= end {
            return;
        }
        let places = (first..end).filter_map(|unit| drive.firmware.ftl.lookup(Lpn(unit)));
        let held: BTreeSet<BlockId> = places.map(|ppn| drive.geometry.block_of(ppn)).collect();
        held.iter().for_each(|&block| drive.flash.array.hold(block));
        self.note(Trim { first, units: end - first, held: held.into_iter().collect() });
    }

    /// A flush waits for all trims so far, unless they are on flash.
    fn holds_back(&mut self, flush: RequestId) -> bool {
        let waits = self.recorded < self.noted;
        if waits {
            self.waiting.push_back((flush, self.noted));
        }
        waits
    }

    fn op_ended<P: Probe>(&mut self, _ended: EndedOp, drive: &mut Ssd<P>, cx: &mut Cx) {
        self.remaining -= 1;
        if self.remaining == 0 {
            self.step_ended().into_iter().for_each(|id| drive.released(id, cx));
        }
    }

    /// Begins the next step if the one before it has ended.
    fn settle<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        let programs = self.programs_before + drive.flash.accounts.ledger.programs();
        let is_held = |block| self.pending.iter().any(|trim| trim.held.contains(&block));
        self.erase_waits = drive.flash.array.waiting_erases().any(is_held);
        let is_recovering = drive.recovery.is_some() && drive.recovered_ns().is_none();
        if self.remaining > 0 || is_recovering || !self.has_work(programs) {
            return;
        }
        let has_checkpoints = self.has_checkpoints;
        let with_record = LazyCell::new(|| drive.units_with_record(has_checkpoints)); // a snapshot alone asks
        let newer = |lpn| match drive.firmware.ftl.lookup(lpn) {
            _ if with_record.contains(&lpn) => Newer::OnItsWay,
            Some(ppn) if drive.is_safe(ppn) => Newer::OnFlash,
            Some(_) => Newer::OnItsWay,
            None => Newer::Nothing,
        };
        self.find_work(programs, || drive.checkpoint_bytes(), newer);
        self.remaining = self.begin_step(drive, cx);
    }

    /// Operations that have been started may have brought an erase to wait.
    fn settle_again<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) -> bool {
        self.settle(drive, cx);
        false
    }

    fn window_ends<P: Probe>(&mut self, drive: &Ssd<P>) {
        self.programs_before += drive.flash.accounts.ledger.programs();
    }
}

impl<P: Probe> Ssd<P> {
    /// Bytes of a checkpoint that is begun now. Of a map on flash it also holds the entries that operations under way bring.
    fn checkpoint_bytes(&self) -> u128 {
        let under_way = LISTED_ENTRY_BYTES * self.controller.map_changes();
        checkpoint_bytes((self.firmware.ftl.checkpoint_bytes() + under_way).into(), self.geometry.blocks.into())
    }

    /// The units whose trims a snapshot keeps as records even if newer data is on flash: those in the write buffer; and on a drive that
    /// reads its map from flash those in the journal. A page of that map may say that a unit was trimmed before the record of that trim
    /// is on flash. Then the newer data does not come back, and the trim before must still void the journal's older records.
    fn units_with_record(&self, has_checkpoints: bool) -> BTreeSet<Lpn> {
        let Some(buffered) = &self.buffered else { return BTreeSet::new() };
        let mut units: BTreeSet<Lpn> =
            buffered.buffer.kept().iter().map(|kept| buffered.buffer.content(kept.entry).lpn).collect();
        if has_checkpoints && self.firmware.ftl.map_on_flash().is_some() {
            units.extend(self.services.journal.iter().flat_map(|journal| journal.owners()));
        }
        units
    }
}
