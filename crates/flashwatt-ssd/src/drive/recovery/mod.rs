//! The recovery of a drive from a power cut.
//!
//! First the spare areas of all pages are read, on all dies at once. Then blocks in which nothing can be read are erased, and the
//! translation layer does what it must ([`crate::ftl::Ftl::recover`]). The layer's tables are rebuilt before: what the scan finds
//! does not depend on its time. The pages of the recovery log are read then, too, and with a checkpoint those of a map on flash. A drive
//! with its map on flash may load a portion of it into its cached table when its layer is done (`recovery.map_load_fraction`). What
//! a torn upper page has spoilt is read from its backup and written anew (`backups.rs`). If capacitors had brought a write buffer to
//! flash, or a journal holds it, it is read back and goes its usual way, and the blocks that held it are erased (`dump.rs`). No request
//! is served until the end.

use crate::controller::Controller;
use crate::drive::Ssd;
use crate::ftl::{Plan, PlanNumber};
use crate::observe::accounts::ReadAccounts;
use crate::observe::probe::{Probe, Purpose};
use crate::operation::Cause;
use crate::recovery::backups::BackedUp;
use crate::recovery::dump::DumpedUnit;
use crate::recovery::log::LogFound;
use crate::recovery::reads::Reads;
use flashwatt_base::units::{BlockId, DieId, Nanos, Ppn, RequestId};
use flashwatt_core::connector::Cx;

pub(in crate::drive) mod backups;
mod dump;
pub(in crate::drive) mod journal;
pub(in crate::drive) mod log;

/// Pages of each die that are scanned in one piece of work. Between pieces all dies wait for the last one.
const PAGES_AT_ONCE: usize = 256;

/// What is left to do.
pub(in crate::drive) struct RecoveryWork {
    step: RecoveryStep,
    /// Operations of the piece under way that have not ended.
    remaining: u32,
    /// Requests that wait for the end.
    waiting: Vec<RequestId>,
    /// Whether background work may begin: a request has come since the end, or the write buffer needs it.
    serves: bool,
    /// The content of the write buffer that capacitors brought to flash, or that the journal holds.
    dumped: Vec<DumpedUnit>,
    /// The pages of the journal that can be read.
    journaled: Vec<Ppn>,
    /// What comes back from backups of lower pages.
    backed_up: Vec<BackedUp>,
    /// Whether the drive waits when all spare areas have been read.
    waits_after_scan: bool,
    /// The portion of a map on flash that is loaded, if one is.
    map_load: Option<MapLoad>,
}

/// A portion of a map on flash that a drive loads into its cached table after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapLoad {
    /// Units whose entries are loaded: the first ones.
    pub units: u32,
    /// Pages of the map that are read for that. A page that is not on flash is not.
    pub reads: u64,
    /// The time in ns at which the first of these reads was planned; none before.
    pub began_ns: Option<Nanos>,
    /// The time in ns at which the last of them ended; none before.
    pub ended_ns: Option<Nanos>,
}

impl MapLoad {
    /// A load that has not begun of the first `units` units.
    pub fn of(units: u32) -> Self {
        MapLoad { units, reads: 0, began_ns: None, ended_ns: None }
    }
}

/// What a scan of all spare areas leaves of a drive's time, energy and queues. That does not depend on what the pages hold: it is
/// the same after each power cut of a drive.
pub struct Scanned<P: Probe> {
    controller: Controller,
    accounts: ReadAccounts<P>,
}

/// What has been found on flash after a power cut, beside the tables of the translation layer.
pub struct Afterwards {
    /// Blocks in which nothing can be read, and which are not erased.
    pub unreadable: Vec<BlockId>,
    /// What capacitors brought to flash, or the journal holds, newer than what the layer has there.
    pub dumped: Vec<DumpedUnit>,
    /// The pages of the journal that can be read.
    pub journaled: Vec<Ppn>,
    /// What backups hold, newer than both.
    pub backed_up: Vec<BackedUp>,
    /// What is left of the recovery log.
    pub log: LogFound,
    /// With a checkpoint, the pages that are scanned; without one all are.
    pub reads: Option<Reads>,
    /// The portion of a map on flash that is loaded, if one is.
    pub map_load: Option<MapLoad>,
}

pub(in crate::drive) enum RecoveryStep {
    /// Program these pages with the content of the write buffer: what capacitors do at a cut.
    Dump(Vec<Ppn>),
    /// Scan these pages of each die from this place on.
    Scan(usize, Scan),
    /// Read the pages of the recovery log. Then scan what came after its checkpoint, if it has one, and read a map on flash.
    ReadLog(Scan),
    /// Bring the backups of each die that are needed onto one block.
    Gather,
    /// Erase the blocks that they have left. The pages were copied.
    EraseGathered { pages: Vec<Ppn>, left: Vec<BlockId> },
    /// Whatever the translation layer needs.
    Layer,
    /// Load a portion of the map on flash, from this page on.
    LoadMap(u32),
    /// Read what comes back from backups.
    ReadBackups,
    /// Write it anew, from this unit on.
    Restore(usize),
    /// Erase the blocks that held it.
    EraseBackups,
    /// Read the content of the write buffer from flash.
    ReadDumped,
    /// Put it into the buffer, from this unit on.
    TakeBack(usize),
    /// Wait until it is on flash in its place. The next unit of it is this one.
    Destage(usize),
    /// Erase the blocks that held it.
    EraseDumped,
    /// All operations have ended.
    End,
    /// Done, at this time in ns.
    Done(Nanos),
}

/// What a scan reads, and what comes after it.
pub(in crate::drive) struct Scan {
    /// The pages of each die; none for all.
    pages: Option<Vec<Vec<Ppn>>>,
    /// Pages of each die that are scanned when the log has been read, if that has not been done yet.
    tail: Option<Vec<Vec<Ppn>>>,
    /// Pages of a map on flash that are read after that, each with its copies.
    map: Vec<Vec<Ppn>>,
    /// The pages of the recovery log.
    log: Vec<Ppn>,
    /// Blocks to erase, in which there is nothing to read.
    void: Vec<BlockId>,
}

impl RecoveryWork {
    /// Work that begins with this step, with nothing found on flash.
    fn begun(step: RecoveryStep) -> Self {
        RecoveryWork {
            step,
            remaining: 0,
            waiting: Vec::new(),
            serves: false,
            dumped: Vec::new(),
            journaled: Vec::new(),
            backed_up: Vec::new(),
            waits_after_scan: false,
            map_load: None,
        }
    }
}

impl<P: Probe> Ssd<P> {
    /// Lets a drive whose tables have been rebuilt begin with its recovery.
    pub fn begin_recovery(&mut self, found: Afterwards) {
        let Afterwards { unreadable, dumped, journaled, backed_up, log, reads, map_load } = found;
        if let Some(of_drive) = &mut self.services.recovery_log {
            of_drive.resume(&log);
        }
        let (pages, tail, map) = match reads {
            Some(Reads { first, tail, map }) => (Some(first), Some(tail), map),
            None => (None, None, Vec::new()),
        };
        let array = &self.flash.array;
        let of_backups =
            self.services.backups.as_mut().map(|of_drive| of_drive.resume(&backed_up, array)).unwrap_or_default();
        let scan = Scan { pages, tail, map, log: log.read, void: [unreadable, log.void, of_backups].concat() };
        let work = RecoveryWork::begun(RecoveryStep::Scan(0, scan));
        self.begin(RecoveryWork { dumped, journaled, backed_up, map_load, ..work });
    }

    /// Lets a drive do one thing before it serves requests.
    pub(in crate::drive) fn begin_step(&mut self, step: RecoveryStep) {
        self.begin(RecoveryWork::begun(step));
    }

    fn begin(&mut self, recovery: RecoveryWork) {
        self.controller.allow_background(false);
        self.recovery = Some(Box::new(recovery));
    }

    /// Whether the drive, whose recovery has not begun, will read the spare areas of all pages; and whether it waits after that.
    pub fn wait_after_scan(&mut self) -> bool {
        let Some(recovery) = &mut self.recovery else { return false };
        recovery.waits_after_scan = matches!(&recovery.step, RecoveryStep::Scan(0, Scan { pages: None, .. }));
        recovery.waits_after_scan
    }

    /// What the scan has left, when the drive waits after it. The drive goes on with the next instant.
    pub fn go_on_after_scan(&mut self) -> Option<Scanned<P>>
    where
        P::Recorder: Clone,
    {
        let recovery = self.recovery.as_mut().filter(|recovery| matches!(recovery.step, RecoveryStep::ReadLog(_)))?;
        recovery.waits_after_scan = false;
        Some(Scanned { controller: self.controller.clone(), accounts: self.flash.accounts.of_reads() })
    }

    /// Takes the scan of all spare areas for done, as one of the same drive was simulated. Returns the number of pages.
    pub fn skip_scan(&mut self, scanned: &Scanned<P>) -> u64
    where
        P::Recorder: Clone,
    {
        let Some(recovery) = &mut self.recovery else { return 0 };
        recovery.waits_after_scan = false;
        recovery.step = match std::mem::replace(&mut recovery.step, RecoveryStep::End) {
            RecoveryStep::Scan(0, scan) => RecoveryStep::ReadLog(scan),
            step => step,
        };
        let pages = u64::from(self.geometry.blocks) * u64::from(self.geometry.pages_per_block);
        let next = PlanNumber(self.firmware.plan.next().0 + pages);
        self.firmware.plan.number_from(next);
        self.firmware.plan.settled(next);
        self.controller = scanned.controller.clone();
        self.controller.begin(next);
        self.flash.accounts.go_on_from(&scanned.accounts);
        pages
    }

    /// Until the recovery from a power cut has ended, the content of the write buffer that capacitors had brought to flash.
    pub fn recovers_dumped(&self) -> Option<&[DumpedUnit]> {
        let recovery = self.recovery.as_ref().filter(|recovery| !matches!(recovery.step, RecoveryStep::Done(_)));
        recovery.map(|recovery| recovery.dumped.as_slice())
    }

    /// Whether the drive recovers from a power cut.
    pub(in crate::drive) fn recovers(&self) -> bool {
        self.recovery.as_ref().is_some_and(|recovery| !matches!(recovery.step, RecoveryStep::Done(_)))
    }

    /// Whether the recovery from a power cut waits for operations: its writes fill no rows by themselves.
    pub(in crate::drive) fn waits_for_recovery(&self) -> bool {
        self.recovery.as_ref().is_some_and(|recovery| recovery.remaining > 0)
    }

    /// The time in ns at which the recovery ended, if it has.
    pub fn recovered_ns(&self) -> Option<Nanos> {
        match self.recovery.as_ref()?.step {
            RecoveryStep::Done(at) => Some(at),
            _ => None,
        }
    }

    /// The portion of a map on flash that the recovery loads, if it loads one.
    pub fn map_load(&self) -> Option<&MapLoad> {
        self.recovery.as_ref()?.map_load.as_ref()
    }

    /// Whether a request must wait for the end of the recovery. If so, it is planned then. With the first request after that,
    /// collections that were cut go on.
    pub(in crate::drive) fn is_recovering(&mut self, id: RequestId) -> bool {
        let Some(recovery) = &mut self.recovery else { return false };
        if !matches!(recovery.step, RecoveryStep::Done(_)) {
            recovery.waiting.push(id);
            return true;
        }
        if !std::mem::replace(&mut recovery.serves, true) {
            self.begin_background();
        }
        false
    }

    fn begin_background(&mut self) {
        self.controller.allow_background(true);
        for die in (0..self.geometry.dies).map(DieId) {
            self.controller.wake(die, &self.firmware);
        }
    }

    /// An operation of the recovery has ended.
    pub(in crate::drive) fn recovery_op_ended(&mut self) {
        if let Some(recovery) = &mut self.recovery {
            recovery.remaining -= 1;
        }
    }

    /// Called after all events of an instant: begins the next piece when the one before it has ended.
    #[inline(never)]
    pub(in crate::drive) fn settle_recovery(&mut self, cx: &mut Cx) {
        if self.recovery.is_some() && self.controller.has_more_ended() {
            self.tell_of_ended(cx); // rows, and reads that memory serves
        }
        let Some(mut recovery) = self.recovery.take() else { return };
        while recovery.remaining == 0 && self.goes_on(&recovery) {
            if let RecoveryStep::Restore(at) = recovery.step
                && let Some(unit) = recovery.backed_up.get(at)
            {
                let (has_room, operations) = self.restore(unit, cx.now());
                (recovery.remaining, recovery.step) = (operations, RecoveryStep::Restore(at + usize::from(has_room)));
                if has_room {
                    continue;
                }
                break; // until a block has been erased
            }
            self.begin_piece(&mut recovery, cx.now());
        }
        let waiting = match recovery.step {
            RecoveryStep::Done(_) => std::mem::take(&mut recovery.waiting),
            _ => Vec::new(),
        };
        self.recovery = Some(recovery);
        for id in waiting {
            let request = self.requests[id.idx()].request;
            self.plan(id, request.kind, &self.geometry.extent(&request), cx);
        }
    }

    /// Plans the next piece, and gives it to the controller.
    fn begin_piece(&mut self, recovery: &mut RecoveryWork, now: Nanos) {
        self.firmware.plan.clear();
        let step = std::mem::replace(&mut recovery.step, RecoveryStep::End);
        recovery.step = self.plan_recovery(step, recovery, now);
        if !self.firmware.plan.ops().is_empty() {
            let purpose = match &recovery.step {
                RecoveryStep::EraseGathered { pages, .. } => Purpose::Backup(pages),
                _ => Purpose::Background,
            };
            self.flash.accounts.planned(now, purpose, &self.firmware);
            recovery.remaining = self.controller.admit(RequestId::RECOVERY, &self.firmware, &mut self.flash);
        }
    }

    fn goes_on(&self, recovery: &RecoveryWork) -> bool {
        match recovery.step {
            RecoveryStep::Done(_) => false,
            RecoveryStep::ReadLog(_) => !recovery.waits_after_scan,
            RecoveryStep::Destage(_) => self.buffered.as_ref().is_none_or(|buffered| buffered.is_empty()),
            _ => true,
        }
    }

    /// Puts content of the write buffer back into it, as much as it has room for, and sends it to flash. Returns the number of units.
    fn take_back(&mut self, dumped: &[DumpedUnit]) -> usize {
        let taken = self.fill_buffer(dumped);
        if taken > 0 {
            self.begin_background();
        }
        taken
    }

    /// Plans a piece of work. Returns what is left after it.
    fn plan_recovery(&mut self, step: RecoveryStep, recovery: &mut RecoveryWork, now: Nanos) -> RecoveryStep {
        match step {
            RecoveryStep::Dump(pages) => {
                self.plan_dump(&pages);
                RecoveryStep::End
            }
            RecoveryStep::Scan(from, scan) => self.plan_scan(from, scan),
            RecoveryStep::ReadLog(scan) => self.plan_reads_of_log(scan),
            RecoveryStep::Layer => {
                self.firmware.recover(&self.flash.array);
                if !self.firmware.plan.ops().is_empty() {
                    return RecoveryStep::Layer;
                }
                if let Err(die) = self.firmware.keep_recovery_blocks() {
                    unreachable!("the recovery has left no erased block of die {die}");
                }
                RecoveryStep::LoadMap(0)
            }
            RecoveryStep::LoadMap(page) => match &mut recovery.map_load {
                Some(load) => self.plan_map_load(page, load, now),
                None => RecoveryStep::ReadBackups,
            },
            RecoveryStep::Gather => {
                let (pages, left) = self.plan_gathering(&mut recovery.backed_up);
                RecoveryStep::EraseGathered { pages, left }
            }
            RecoveryStep::EraseGathered { left, .. } => {
                self.plan_erases(&left, Cause::Backup);
                RecoveryStep::Layer
            }
            RecoveryStep::ReadBackups => {
                self.plan_reads_of_backups(&recovery.backed_up);
                if !recovery.backed_up.is_empty() {
                    recovery.serves = true;
                    self.begin_background(); // it may have to make room
                }
                RecoveryStep::Restore(0)
            }
            RecoveryStep::Restore(_) => RecoveryStep::EraseBackups,
            RecoveryStep::EraseBackups => {
                let blocks = self.unpinned_backups();
                self.plan_erases(&blocks, Cause::Backup);
                RecoveryStep::ReadDumped
            }
            RecoveryStep::ReadDumped => {
                match recovery.journaled.as_slice() {
                    [] => self.plan_reads_of(&recovery.dumped),
                    pages => pages.iter().for_each(|&page| _ = self.firmware.plan.read(page, Cause::Journal, None)),
                }
                RecoveryStep::TakeBack(0)
            }
            RecoveryStep::TakeBack(from) => {
                let taken = self.take_back(&recovery.dumped[from..]);
                recovery.serves |= taken > 0;
                RecoveryStep::Destage(from + taken)
            }
            RecoveryStep::Destage(next) if next < recovery.dumped.len() => RecoveryStep::TakeBack(next),
            RecoveryStep::Destage(_) => RecoveryStep::EraseDumped,
            RecoveryStep::EraseDumped => {
                self.plan_erases_of_dumped();
                RecoveryStep::End
            }
            RecoveryStep::End | RecoveryStep::Done(_) => RecoveryStep::Done(now),
        }
    }

    /// Plans the scan of the next pages of each die. Returns what is left after it.
    fn plan_scan(&mut self, from: usize, scan: Scan) -> RecoveryStep {
        let geometry = &self.geometry;
        let pages_per_block = geometry.pages_per_block as usize;
        let pages = match &scan.pages {
            Some(pages) => pages.iter().map(Vec::len).max().unwrap_or(0),
            None => geometry.blocks as usize / geometry.dies as usize * pages_per_block,
        };
        let page = |die: u32, at: usize| match &scan.pages {
            Some(pages) => pages[die as usize].get(at).copied(),
            None => {
                geometry.pages_of(geometry.blocks_of(DieId(die)).nth(at / pages_per_block)?).nth(at % pages_per_block)
            }
        };
        let end = pages.min(from + PAGES_AT_ONCE);
        for at in from..end {
            for ppn in (0..geometry.dies).filter_map(|die| page(die, at)) {
                read_spare(&mut self.firmware.plan, ppn, self.flash.array.is_programmed(geometry.place(ppn)));
            }
        }
        if from < end { RecoveryStep::Scan(end, scan) } else { RecoveryStep::ReadLog(scan) }
    }

    /// Plans reads of the pages of the recovery log; when what came later has been scanned, of the map on flash; and then the erases of
    /// what is void. Returns what is left then.
    fn plan_reads_of_log(&mut self, mut scan: Scan) -> RecoveryStep {
        scan.log.iter().for_each(|&page| _ = self.firmware.plan.read(page, Cause::Map, None));
        if let Some(pages) = scan.tail {
            return RecoveryStep::Scan(0, Scan { pages: Some(pages), tail: None, log: Vec::new(), ..scan });
        }
        if scan.map.is_empty() {
            self.plan_erases(&scan.void, Cause::Gc);
            return RecoveryStep::Gather;
        }
        let at_once = scan.map.len().min(PAGES_AT_ONCE * self.geometry.dies as usize);
        let later = scan.map.split_off(at_once);
        for copies in &scan.map {
            // A page that stands for a register may have been erased since its program was cut.
            let is_there = self.flash.array.is_programmed(self.geometry.place(copies[0]));
            _ = match is_there {
                true => self.firmware.plan.read_any(copies[0], &copies[1..], Cause::Map, None),
                false => self.firmware.plan.read_blank(copies[0], Cause::Map, None),
            };
        }
        RecoveryStep::ReadLog(Scan { map: later, log: Vec::new(), ..scan })
    }

    /// Plans the reads of the next pages of the map that are loaded. Returns what is left then.
    fn plan_map_load(&mut self, page: u32, load: &mut MapLoad, now: Nanos) -> RecoveryStep {
        let Some(map) = self.firmware.ftl.map_on_flash() else { return RecoveryStep::ReadBackups };
        load.began_ns.get_or_insert(now);
        let pages = load.units.div_ceil(map.entries_per_page);
        if page == pages {
            load.ended_ns = Some(now);
            return RecoveryStep::ReadBackups;
        }
        let end = pages.min(page + PAGES_AT_ONCE as u32 * self.geometry.dies);
        (page..end).for_each(|page| self.firmware.ftl.load_map(page, load.units, &mut self.firmware.plan));
        load.reads += self.firmware.plan.ops().len() as u64;
        RecoveryStep::LoadMap(end)
    }

    fn plan_erases(&mut self, blocks: &[BlockId], cause: Cause) {
        for &block in blocks {
            self.firmware.plan.erase(self.geometry.first_ppn(block), cause);
        }
    }
}

fn read_spare(plan: &mut Plan, ppn: Ppn, is_programmed: bool) {
    if is_programmed {
        plan.read_spare(ppn, Cause::Map, None);
    } else {
        plan.read_blank_spare(ppn, Cause::Map);
    }
}
