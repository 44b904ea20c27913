//! The journal of the write buffer (`write_buffer.protection = "journal"`): what the host writes is appended to flash, and the write is
//! acknowledged when it is there ([`crate::recovery::journal`] has the layout).
//!
//! A unit that a write brings into the buffer is a *record*. Records fill a page in their order. The page is programmed when it is
//! full, when its first record has waited for its time, or when a flush or a forced write asks for it. So a write waits for the pages
//! with its records, or until an entry with its data is in its place on flash, if that comes first.
//!
//! A record *counts* until data as new as it is on flash elsewhere: in its place, or in later records of its unit that hold all of its
//! parts. A row of blocks without a record that counts is erased. When the last erased row is begun, the entries with records in the
//! oldest row leave the buffer, so that this row will be erased. While no page is free, records wait in the buffer. Entries leave the
//! buffer whether their records are on flash or not, so that the buffer never waits for the journal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::cache::write_buffer::WrittenParts;
use crate::controller::EndedOp;
use crate::drive::service::Service;
use crate::drive::settings::Settings;
use crate::drive::{NO_SEAT, Ssd};
use crate::firmware::Firmware;
use crate::ftl::{PlanIndex, PlanNumber};
use crate::nand::{Geometry, Reserve};
use crate::observe::probe::{Probe, Purpose};
use crate::operation::Cause;
use crate::recovery::journal::{JournalRecord, PageContent, PageLayout, rows};
use flashwatt_base::units::{BlockId, EntryId, Lpn, Nanos, Ppn, RequestId};
use flashwatt_core::connector::Cx;

/// The journal of a drive.
pub(in crate::drive) struct BufferJournal {
    layout: PageLayout,
    /// Longest time in ns for which a page waits for more records.
    max_ns: Nanos,
    rows: Vec<JournalRow>,
    /// The row that takes pages, and the number of the next one in it; none if no row has begun.
    open: Option<(usize, usize)>,
    /// The row that begins next if it is erased: they take turns, and so wear evenly.
    next: usize,
    /// Rows whose pages are all taken, oldest first.
    full: VecDeque<usize>,
    /// Records that no page has.
    pending: VecDeque<Record>,
    /// What is under way, by plan number.
    under_way: BTreeMap<PlanNumber, JournalWork>,
    /// The numbers of records whose writes wait for them.
    awaited: BTreeSet<u64>,
    /// Of each entry of the buffer its records that count, oldest first.
    counting: BTreeMap<EntryId, Vec<Counting>>,
    /// Records so far.
    made: u64,
    /// Records before this one must be programmed at once.
    forced_before: u64,
    /// Flushes, each with the number of records that had been made when it came.
    flushes: VecDeque<(RequestId, u64)>,
    /// A fault on purpose.
    fault: JournalFault,
    /// The end of the time for which a page waits for more records.
    seat: u32,
}

/// A fault on purpose in a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JournalFault {
    /// No fault.
    #[default]
    None,
    /// Writes are acknowledged when the program of their page is planned.
    AcknowledgedEarly,
    /// Rows are erased although records in them count.
    ErasedEarly,
}

/// A row of blocks.
struct JournalRow {
    blocks: Vec<BlockId>,
    pages: Vec<Ppn>,
    is_clean: bool,
    /// Units of which it has records, whether these count or not.
    owners: Vec<Lpn>,
    /// Records in it that count.
    counting: usize,
    /// Programs and erases that have not ended.
    under_way: usize,
    /// Whether the entries with records in it have been told to leave.
    is_left: bool,
}

/// A record that is not on flash.
struct Record {
    content: JournalRecord,
    entry: EntryId,
    request: RequestId,
    sectors: u32,
    since: Nanos,
}

/// A record that counts.
struct Counting {
    number: u64,
    /// The row with its page, if it has one.
    row: Option<usize>,
    parts: WrittenParts,
    is_on_flash: bool,
}

/// An operation under way.
enum JournalWork {
    /// The program of a page with these records in this row.
    Program(usize, Vec<Record>),
    /// The erase of a block of this row.
    Erase(usize),
}

impl BufferJournal {
    /// Puts a fault into it on purpose.
    pub fn with_fault(&mut self, fault: JournalFault) {
        self.fault = fault;
    }

    /// A write brings this to an entry of the buffer; the request waits for it. `forced`: its page is not to wait for more.
    pub fn append(&mut self, appended: Appended, now: Nanos) {
        let Appended { entry, request, content, parts, sectors, forced } = appended;
        let content = JournalRecord { number: self.made, ..content };
        self.made += 1;
        self.awaited.insert(content.number);
        let counting = Counting { number: content.number, row: None, parts, is_on_flash: false };
        self.counting.entry(entry).or_default().push(counting);
        self.pending.push_back(Record { content, entry, request, sectors, since: now });
        if forced {
            self.forced_before = self.made;
        }
    }

    /// How many of the records that no page has fit the next page, and whether it has no room for more.
    fn first_page(&self) -> (usize, bool) {
        let mut page = PageContent::default();
        for (number, record) in self.pending.iter().enumerate() {
            match self.layout.with(page, record.sectors) {
                Some(with) => page = with,
                None => return (number, true),
            }
        }
        (self.pending.len(), self.layout.is_full(page))
    }

    /// Takes the records of the next page, if it is to be programmed and there is a place for it.
    fn take_page(&mut self, now: Nanos) -> Option<(usize, Ppn, Vec<Record>)> {
        let (records, is_full) = self.first_page();
        let first = self.pending.front()?;
        if !is_full && first.content.number >= self.forced_before && first.since.saturating_add(self.max_ns) > now {
            return None;
        }
        let (row, ppn) = self.take_place()?;
        let page: Vec<Record> = self.pending.drain(..records).collect();
        for record in &page {
            self.rows[row].owners.push(record.content.owner);
            let counting = self.counting.get_mut(&record.entry).into_iter().flatten();
            for of_entry in counting.filter(|counting| counting.number == record.content.number) {
                of_entry.row = Some(row);
                self.rows[row].counting += 1;
            }
        }
        Some((row, ppn, page))
    }

    /// Takes the next page: of the row that has begun, or of an erased one. Returns its row, too.
    fn take_place(&mut self) -> Option<(usize, Ppn)> {
        let (row, at) = match self.open {
            Some(open) => open,
            None => {
                let number = self.rows.len();
                let mut turns = (self.next..self.next + number).map(|turn| turn % number);
                let row = turns.find(|&row| self.rows[row].is_clean)?;
                self.next = row + 1;
                (self.rows[row].is_clean, self.rows[row].is_left) = (false, false);
                (row, 0)
            }
        };
        self.open = (at + 1 < self.rows[row].pages.len()).then_some((row, at + 1));
        if self.open.is_none() {
            self.full.push_back(row);
        }
        Some((row, self.rows[row].pages[at]))
    }

    /// The units of which it has records, whether these count or not.
    pub fn owners(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.rows.iter().flat_map(|row| &row.owners).copied()
    }

    /// Whether writes wait for a row.
    fn has_no_place(&self) -> bool {
        self.open.is_none() && !self.rows.iter().any(|row| row.is_clean)
    }

    /// Takes a full row in which no record counts, to be erased.
    fn take_void(&mut self) -> Option<usize> {
        let counts_nothing = |row: &JournalRow| row.counting == 0 || self.fault == JournalFault::ErasedEarly;
        let is_void = |row: &JournalRow| row.under_way == 0 && counts_nothing(row);
        let at = self.full.iter().position(|&row| is_void(&self.rows[row]))?;
        self.full.remove(at)
    }

    /// If no row is erased or will be soon, the entries with records in the oldest full one that will go on counting: they are to leave.
    /// Each row is left once.
    fn take_leaving(&mut self) -> Vec<EntryId> {
        let is_tight = self.full.len() + usize::from(self.open.is_some()) == self.rows.len();
        let Some(&oldest) = self.full.front().filter(|_| is_tight) else { return Vec::new() };
        if std::mem::replace(&mut self.rows[oldest].is_left, true) {
            return Vec::new();
        }
        let is_planned = |counting: &Counting| counting.row.is_some();
        let keeps_row = |records: &[Counting]| {
            (0..records.len()).any(|at| records[at].row == Some(oldest) && !is_covered(records, at, is_planned))
        };
        self.counting.iter().filter(|(_, records)| keeps_row(records)).map(|(&entry, _)| entry).collect()
    }

    /// The time at which the first page is programmed, if it waits for more records.
    fn next_time(&self, now: Nanos) -> Option<Nanos> {
        let at = self.pending.front()?.since.saturating_add(self.max_ns);
        (at > now).then_some(at)
    }

    /// An entry has left the buffer: no record of it counts any more. Appends the requests that waited for records without a page to
    /// `released`.
    pub fn entry_left(&mut self, entry: EntryId, released: &mut Vec<RequestId>) {
        let records = self.counting.remove(&entry).unwrap_or_default();
        for row in records.iter().filter_map(|counting| counting.row) {
            self.rows[row].counting -= 1;
        }
        if records.iter().any(|counting| counting.row.is_none()) {
            let (left, kept) = std::mem::take(&mut self.pending).into_iter().partition(|record| record.entry == entry);
            self.pending = kept;
            self.acknowledge(&Vec::from_iter(VecDeque::into_iter(left)), released);
        }
    }

    /// Appends the requests that wait for these records to `released`.
    fn acknowledge(&mut self, records: &[Record], released: &mut Vec<RequestId>) {
        for record in records {
            if self.awaited.remove(&record.content.number) {
                released.push(record.request);
            }
        }
        let first = self.awaited.first().copied().unwrap_or(u64::MAX);
        let done = self.flushes.iter().take_while(|(_, records)| *records <= first).count();
        released.extend(self.flushes.drain(..done).map(|(flush, _)| flush));
    }

    /// A program or an erase has ended. Appends the requests that waited for it to `released`.
    fn work_ended(&mut self, number: PlanNumber, released: &mut Vec<RequestId>) {
        match self.under_way.remove(&number) {
            Some(JournalWork::Program(row, records)) => {
                self.rows[row].under_way -= 1;
                records.iter().for_each(|record| self.on_flash(record));
                self.acknowledge(&records, released);
            }
            Some(JournalWork::Erase(row)) => {
                self.rows[row].under_way -= 1;
                if self.rows[row].under_way == 0 {
                    self.rows[row].is_clean = true;
                    self.rows[row].owners.clear();
                }
            }
            None => unreachable!("an operation of the journal is noted when it is planned"),
        }
    }

    /// A record is on flash. Older ones of its entry do not count any more if later ones on flash hold all of their parts.
    fn on_flash(&mut self, record: &Record) {
        let Some(records) = self.counting.get_mut(&record.entry) else { return };
        let number = record.content.number;
        records
            .iter_mut()
            .filter(|counting| counting.number == number)
            .for_each(|counting| counting.is_on_flash = true);
        for at in (0..records.len()).rev() {
            if let Some(row) = records[at].row.filter(|_| is_covered(records, at, |counting| counting.is_on_flash)) {
                self.rows[row].counting -= 1;
                records.remove(at);
            }
        }
    }
}

/// Whether later records of an entry, those that `count`, hold all parts of the record at this place.
fn is_covered(records: &[Counting], at: usize, count: impl Fn(&Counting) -> bool) -> bool {
    let later = records[at + 1..].iter().filter(|counting| count(counting));
    records[at].parts.touched & !later.fold(0, |held, counting| held | counting.parts.held) == 0
}

/// What a write appends to the journal.
pub(in crate::drive) struct Appended {
    /// The entry of the buffer that the write goes into.
    pub entry: EntryId,
    /// The write.
    pub request: RequestId,
    /// What it brings; the journal gives it its number.
    pub content: JournalRecord,
    /// The parts of the unit.
    pub parts: WrittenParts,
    /// Sectors of its data.
    pub sectors: u32,
    /// Whether its page is programmed at once.
    pub forced: bool,
}

impl Service for BufferJournal {
    const REQUEST: RequestId = RequestId::JOURNAL;
    const COMPLETES: bool = true;

    /// The journal of a drive, if there are blocks for it.
    fn of_drive(settings: &Settings, firmware: &Firmware, geometry: &Geometry) -> Option<Self> {
        let max_ns = settings.write_buffer.journal.as_ref()?.max_ns;
        let row = |(blocks, pages)| JournalRow {
            blocks,
            pages,
            is_clean: true,
            owners: Vec::new(),
            counting: 0,
            under_way: 0,
            is_left: false,
        };
        let rows = rows(&firmware.reserved[Reserve::Journal], geometry, settings.device.nand.paired_pages.is_some());
        if rows.is_empty() {
            return None;
        }
        Some(BufferJournal {
            layout: PageLayout::new(geometry.page_bytes(), geometry.unit_bytes),
            max_ns,
            rows: rows.into_iter().map(row).collect(),
            open: None,
            next: 0,
            full: VecDeque::new(),
            pending: VecDeque::new(),
            under_way: BTreeMap::new(),
            awaited: BTreeSet::new(),
            counting: BTreeMap::new(),
            made: 0,
            forced_before: 0,
            flushes: VecDeque::new(),
            fault: JournalFault::None,
            seat: NO_SEAT,
        })
    }

    fn seat(&mut self) -> Option<&mut u32> {
        Some(&mut self.seat)
    }

    /// A flush waits for all records so far, unless none is awaited.
    fn holds_back(&mut self, flush: RequestId) -> bool {
        let waits = !self.awaited.is_empty();
        if waits {
            self.forced_before = self.made;
            self.flushes.push_back((flush, self.made));
        }
        waits
    }

    #[cold]
    fn op_ended<P: Probe>(&mut self, ended: EndedOp, drive: &mut Ssd<P>, cx: &mut Cx) {
        let mut released = Vec::new();
        self.work_ended(ended.number, &mut released);
        released.into_iter().for_each(|id| drive.released(id, cx));
    }

    /// Erases rows, programs pages, and makes entries leave the buffer.
    fn settle<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        while let Some(row) = self.take_void() {
            drive.erase_row(self, row, cx.now());
        }
        let mut released = Vec::new();
        while let Some((row, ppn, records)) = self.take_page(cx.now()) {
            let number = drive.program_journal(ppn, &records, cx.now());
            if self.fault == JournalFault::AcknowledgedEarly {
                self.acknowledge(&records, &mut released);
            }
            self.rows[row].under_way += 1;
            self.under_way.insert(number, JournalWork::Program(row, records));
        }
        for entry in self.take_leaving() {
            if let Some(buffered) = &mut drive.buffered
                && buffered.buffer.hurry(entry)
            {
                drive.flash.accounts.buffered.journal_forced += 1;
                drive.buffer_changed = true;
            }
        }
        match self.next_time(cx.now()).filter(|&at| at <= cx.agenda.horizon()) {
            Some(at) => cx.agenda.reset(self.seat, at),
            None => cx.agenda.cancel(self.seat),
        }
        released.into_iter().for_each(|id| drive.released(id, cx));
    }
}

impl<P: Probe> Ssd<P> {
    /// Puts a fault into the journal on purpose.
    pub fn break_journal(&mut self, fault: JournalFault) {
        if let Some(journal) = &mut self.services.journal {
            journal.with_fault(fault);
        }
    }

    fn program_journal(&mut self, ppn: Ppn, records: &[Record], now: Nanos) -> PlanNumber {
        let content: Vec<JournalRecord> = records.iter().map(|record| record.content).collect();
        let plan = &mut self.firmware.plan;
        plan.clear();
        plan.program(ppn, Cause::Journal, None);
        let number = plan.number(PlanIndex(0));
        self.flash.accounts.planned(now, Purpose::Journal(&content), &self.firmware);
        self.flash.accounts.buffered.journal_records += records.len() as u64;
        self.controller.admit(RequestId::JOURNAL, &self.firmware, &mut self.flash);
        number
    }

    fn erase_row(&mut self, journal: &mut BufferJournal, row: usize, now: Nanos) {
        let plan = &mut self.firmware.plan;
        plan.clear();
        let erased = &mut journal.rows[row];
        for &block in &erased.blocks {
            let erase = plan.erase(self.geometry.first_ppn(block), Cause::Journal);
            journal.under_way.insert(plan.number(erase), JournalWork::Erase(row));
            erased.under_way += 1;
        }
        self.begin_own(RequestId::JOURNAL, Purpose::Background, journal.has_no_place(), now);
    }
}
