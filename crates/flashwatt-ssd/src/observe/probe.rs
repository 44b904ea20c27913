//! Observers of a run. The engine is compiled once for each type of observer, so an observer that does nothing costs
//! nothing.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use crate::cache::write_buffer::Bytes;
use crate::energy::ledger::OpTimes;
use crate::firmware::Firmware;
use crate::nand::{Array, FlashAddress};
use crate::operation::{Cause, CellMode, OpKind, PageType};
use crate::recovery::journal::JournalRecord;
use crate::recovery::log::LogPage;
use flashwatt_base::units::{BlockId, EntryId, Lpn, Nanos, Ppn, RequestId, SECTOR_BYTES};
use flashwatt_core::connector::{Extent, RequestKind};
use flashwatt_core::energy::Series;
use flashwatt_core::energy::series::Recorder;

/// A flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpFacts {
    /// Its plan number: numbers rise in the order of planning.
    pub seq: u64,
    /// Its kind.
    pub kind: OpKind,
    /// Its cause.
    pub cause: Cause,
    /// The page; for an erase, the first page of the block.
    pub at: FlashAddress,
    /// The source page of a copyback; for the read of a copy, the page that its data will be programmed to. Of another read nowhere; its
    /// page is then the number of sectors that [`Self::part_bytes`] tells.
    pub other: FlashAddress,
    /// The request it belongs to; none for background work.
    pub request: RequestId,
    /// The block whose data the program makes obsolete.
    pub replaces: BlockId,
}

impl OpFacts {
    /// Is this the first half of a copy? The second half is a program of page `other`, under the same number.
    pub fn turns_into_program(&self) -> bool {
        self.kind == OpKind::Read && self.other.block.is_some()
    }

    /// Of a read, the bytes of its page that crossed the bus; none if that was the whole page.
    pub fn part_bytes(&self) -> Option<u64> {
        let is_part = self.kind == OpKind::Read && self.other.block.is_none() && self.other.page > 0;
        is_part.then(|| u64::from(self.other.page) * SECTOR_BYTES)
    }
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
pub struct OpRecord<'a> {
    /// The operation.
    pub op: OpFacts,
    /// The times of its phases.
    pub times: &'a OpTimes,
    /// What only a drive with rows and cells knows of it; none of other drives.
    pub cells: Option<CellFacts<'a>>,
}

/// A flash operation on a drive with rows and cells. A row of pages that are programmed together, and pages that are read together, have a
/// record for each page: [`OpRecord::times`] has the array's times of all of them, and the bus's times of this page.
#[derive(Clone, Copy, Debug)]
pub struct CellFacts<'a> {
    /// The bus has taken the command, and the page's data for a program. The array may begin later.
    pub in_end: Nanos,
    /// Pages of the row, or of the joint read; 1 of an operation alone.
    pub row_pages: u32,
    /// Planes at work.
    pub planes: u32,
    /// The type of the page.
    pub page: PageType,
    /// The mode of its block.
    pub mode: CellMode,
    /// The stretches of array time in which the operation was suspended and the array did not work for it: start and end.
    pub suspensions: &'a [(Nanos, Nanos)],
    /// When the page of a program moved in before, if another row took the registers of its die: start and end.
    pub earlier_moves: &'a [(Nanos, Nanos)],
}

/// A request that has completed.
#[derive(Clone, Copy, Debug)]
pub struct RequestRecord {
    /// Its id in the drive, which a later request may get.
    pub id: RequestId,
    /// What it asks for.
    pub kind: RequestKind,
    /// Whether it is a write that asked for completion on flash (FUA).
    pub fua: bool,
    /// Time at which it entered the device, in ns.
    pub admitted_ns: Nanos,
    /// Time at which it completed, in ns.
    pub end_ns: Nanos,
    /// Map look-ups and updates for it.
    pub map_accesses: u32,
    /// Bytes over the host interface.
    pub bytes: u64,
}

/// The purpose of a plan.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// The host reads these extents.
    Read(&'a [Extent]),
    /// A request of the host writes these pages, as far as they find room.
    Write(RequestId, Extent),
    /// These entries of the write buffer go to flash.
    Destage(&'a [EntryId]),
    /// A request of the host trims these pages.
    Trim(RequestId, Extent),
    /// These pages of the recovery log are programmed, one by each operation. The number: bytes of the checkpoint of their area.
    Log(&'a [LogPage], u128),
    /// These pages (their first addresses) are backed up, one by each operation.
    Backup(&'a [Ppn]),
    /// After a power cut, a unit with a version of it comes back from its backup.
    Restore(Lpn, u64),
    /// These records are programmed onto a page of the journal.
    Journal(&'a [JournalRecord]),
    /// Background work.
    Background,
}

/// An event of the write buffer.
#[derive(Clone, Debug)]
pub enum BufferEvent {
    /// A request of the host writes these bytes of a unit into an entry.
    Write(RequestId, EntryId, Lpn, Bytes),
    /// The host reads these bytes of a unit from an entry.
    Read(EntryId, Lpn, Bytes),
    /// The content of the buffer for this unit is void, unless its program is under way.
    Trim(Lpn),
    /// An entry is on flash, and leaves the buffer.
    Programmed(EntryId),
}

/// An observer of everything that ends.
pub trait Probe {
    /// Whether a run with this observer can record power over time.
    type Recorder: Recorder;

    /// Whether the power of a drive with this observer can be cut. Other drives are compiled without recovery.
    const CAN_BE_CUT: bool = false;

    /// A plan has been made. Its operations get the plan numbers after those of the previous plan.
    #[inline(always)]
    fn planned(&mut self, _purpose: Purpose, _brain: &Firmware) {}

    /// An event in the write buffer.
    #[inline(always)]
    fn buffer(&mut self, _now: Nanos, _event: &BufferEvent) {}

    /// After a power cut, an entry of the write buffer holds again what capacitors had brought to flash: this version of a unit.
    fn taken_back(&mut self, _entry: EntryId, _lpn: Lpn, _version: u64) {}

    /// All requested work is done, and the drive is at rest.
    fn at_rest(&mut self, _brain: &Firmware, _array: &Array) {}

    /// An operation has ended.
    #[inline(always)]
    fn op_ended(&mut self, _record: &OpRecord) {}

    /// The first of two passes of a page's program has ended.
    fn first_pass_ended(&mut self, _record: &OpRecord) {}

    /// A read has ended that the controller's memory has served: its page is in a row that is not on flash yet. `dram_bytes` of it pass
    /// DRAM.
    fn read_from_memory(&mut self, _now: Nanos, _op: &OpFacts, _dram_bytes: u64) {}

    /// A request has completed.
    #[inline(always)]
    fn request_ended(&mut self, _record: &RequestRecord) {}

    /// The map was looked up or changed this number of times, for a request or for background work.
    #[inline(always)]
    fn mapped(&mut self, _now: Nanos, _accesses: u32) {}

    /// The drive has read bytes of its map from the host's memory, or written them there.
    fn host_memory(&mut self, _now: Nanos, _is_write: bool, _bytes: u64) {}

    /// The counters have been restarted.
    fn restarted(&mut self, _now: Nanos) {}

    /// The measured window has ended; work under way continues.
    fn drains(&mut self, _now: Nanos) {}

    /// The run ends at this time.
    fn finish(&mut self, _now: Nanos) {}
}

/// Observes nothing.
impl Probe for () {
    type Recorder = ();
}

/// Observes nothing, but allows a recording over time.
#[derive(Clone, Copy, Debug)]
pub struct Recording;

impl Probe for Recording {
    type Recorder = Option<Box<Series>>;
}

/// Passes every event to the observer, if there is one.
impl<P: Probe> Probe for Option<P> {
    type Recorder = P::Recorder;

    const CAN_BE_CUT: bool = P::CAN_BE_CUT;

    #[inline(always)]
    fn planned(&mut self, purpose: Purpose, firmware: &Firmware) {
        if let Some(probe) = self {
            probe.planned(purpose, firmware);
        }
    }

    #[inline(always)]
    fn buffer(&mut self, now: Nanos, event: &BufferEvent) {
        if let Some(probe) = self {
            probe.buffer(now, event);
        }
    }

    fn taken_back(&mut self, entry: EntryId, lpn: Lpn, version: u64) {
        if let Some(probe) = self {
            probe.taken_back(entry, lpn, version);
        }
    }

    fn at_rest(&mut self, firmware: &Firmware, array: &Array) {
        if let Some(probe) = self {
            probe.at_rest(firmware, array);
        }
    }

    #[inline(always)]
    fn op_ended(&mut self, record: &OpRecord) {
        if let Some(probe) = self {
            probe.op_ended(record);
        }
    }

    fn first_pass_ended(&mut self, record: &OpRecord) {
        if let Some(probe) = self {
            probe.first_pass_ended(record);
        }
    }

    fn read_from_memory(&mut self, now: Nanos, op: &OpFacts, dram_bytes: u64) {
        if let Some(probe) = self {
            probe.read_from_memory(now, op, dram_bytes);
        }
    }

    #[inline(always)]
    fn request_ended(&mut self, record: &RequestRecord) {
        if let Some(probe) = self {
            probe.request_ended(record);
        }
    }

    #[inline(always)]
    fn mapped(&mut self, now: Nanos, accesses: u32) {
        if let Some(probe) = self {
            probe.mapped(now, accesses);
        }
    }

    fn host_memory(&mut self, now: Nanos, is_write: bool, bytes: u64) {
        if let Some(probe) = self {
            probe.host_memory(now, is_write, bytes);
        }
    }

    fn restarted(&mut self, now: Nanos) {
        if let Some(probe) = self {
            probe.restarted(now);
        }
    }

    fn drains(&mut self, now: Nanos) {
        if let Some(probe) = self {
            probe.drains(now);
        }
    }

    fn finish(&mut self, now: Nanos) {
        if let Some(probe) = self {
            probe.finish(now);
        }
    }
}

/// Passes every event to both observers.
impl<A: Probe, B: Probe> Probe for (A, B) {
    type Recorder = Option<Box<Series>>;

    const CAN_BE_CUT: bool = A::CAN_BE_CUT || B::CAN_BE_CUT;

    #[inline(always)]
    fn planned(&mut self, purpose: Purpose, firmware: &Firmware) {
        self.0.planned(purpose, firmware);
        self.1.planned(purpose, firmware);
    }

    #[inline(always)]
    fn buffer(&mut self, now: Nanos, event: &BufferEvent) {
        self.0.buffer(now, event);
        self.1.buffer(now, event);
    }

    fn taken_back(&mut self, entry: EntryId, lpn: Lpn, version: u64) {
        self.0.taken_back(entry, lpn, version);
        self.1.taken_back(entry, lpn, version);
    }

    fn at_rest(&mut self, firmware: &Firmware, array: &Array) {
        self.0.at_rest(firmware, array);
        self.1.at_rest(firmware, array);
    }

    #[inline(always)]
    fn op_ended(&mut self, record: &OpRecord) {
        self.0.op_ended(record);
        self.1.op_ended(record);
    }

    fn first_pass_ended(&mut self, record: &OpRecord) {
        self.0.first_pass_ended(record);
        self.1.first_pass_ended(record);
    }

    fn read_from_memory(&mut self, now: Nanos, op: &OpFacts, dram_bytes: u64) {
        self.0.read_from_memory(now, op, dram_bytes);
        self.1.read_from_memory(now, op, dram_bytes);
    }

    #[inline(always)]
    fn request_ended(&mut self, record: &RequestRecord) {
        self.0.request_ended(record);
        self.1.request_ended(record);
    }

    #[inline(always)]
    fn mapped(&mut self, now: Nanos, accesses: u32) {
        self.0.mapped(now, accesses);
        self.1.mapped(now, accesses);
    }

    fn host_memory(&mut self, now: Nanos, is_write: bool, bytes: u64) {
        self.0.host_memory(now, is_write, bytes);
        self.1.host_memory(now, is_write, bytes);
    }

    fn restarted(&mut self, now: Nanos) {
        self.0.restarted(now);
        self.1.restarted(now);
    }

    fn drains(&mut self, now: Nanos) {
        self.0.drains(now);
        self.1.drains(now);
    }

    fn finish(&mut self, now: Nanos) {
        self.0.finish(now);
        self.1.finish(now);
    }
}

/// Writes the operation log: one line of CSV for each flash operation and each request, in the order of their ends.
///
/// Columns: `record` (an operation's kind, or `request`), `cause` (or `read`, `write`, `trim`, `flush`), `die`, `block`,
/// `page` (in its block), `start_ns`, `array_start_ns`, `array_end_ns`, `out_start_ns`, `end_ns`, `map_accesses`, `bytes`.
/// An operation holds the bus from `start_ns` to `array_start_ns`, works in the array until `array_end_ns`, waits until
/// `out_start_ns`, and moves data out until `end_ns`; a copyback programs from `array_end_ns` on. `bytes` of a read are those that it
/// moved, if these are not its whole page. Columns that a record does not have are empty. Further lines have a `start_ns` only: `window`, where the counters begin anew; `drain`, where
/// the measured window ends; `end` (an `end_ns`); `map`, `map_accesses` of it for a request or for background work; `host_memory`, `bytes`
/// of the map that the drive reads from the host's memory (`cause` `read`) or writes to it (`write`), which cross the host interface; and
/// `buffer`, `bytes` of a write into the write buffer (`cause` `write`) or of a read from it, or of a page in a row that is not on flash yet
/// (`read`): they pass DRAM, whose
/// rule `per_op` asks for ⌈bytes · page_data_ns / page_bytes⌉ for each such line. The programs that take entries to flash are
/// operations like any other, and their data passes DRAM once more.
///
/// The log of a drive with rows and cells has seven more columns: `in_end_ns`, `row_pages`, `planes`, `page_type` (`first`, `second`, …),
/// `mode` (`native` or `slc`), `suspensions` and `earlier_moves`. There is a line for each page of a row that is programmed at once, and of pages that are
/// read together, with their number as `row_pages`; lines of one row follow one another. The bus moves command and data of a line from
/// `start_ns` to `in_end_ns`, and from `out_start_ns` to `end_ns` out; lines with one command for all have the same two times of it. The
/// array works for all of these pages from `array_start_ns` to `array_end_ns`, the same in each of their lines, on the planes that
/// `planes` counts. In the stretches `suspensions` of that time (`FROM-UNTIL` in ns, with `;` between them) it does not. In the stretches `earlier_moves` the page of a program moved in as well: another row
/// took the registers after that. A program is under
/// way from `start_ns` to `in_end_ns` and from `array_start_ns` to `end_ns`: between two pages of a row that move in, the die is idle, or
/// does something else. Any other line is under way from `start_ns` to `end_ns`. What the die does in that time and in none of the stretches
/// of bus and array is waiting. An operation alone has a `row_pages` of 1.
///
/// Of a program in two passes the line `program` is of the second one, and a line `first_pass` before it of the first one: the page moves in
/// and is programmed in both, and counts as one program.
pub struct OpLog<W: Write> {
    out: W,
    has_cells: bool,
    error: Option<std::io::Error>,
}

/// The line of column names.
const HEADER: &str =
    "record,cause,die,block,page,start_ns,array_start_ns,array_end_ns,out_start_ns,end_ns,map_accesses,bytes";

/// What follows it in the log of a drive with rows and cells.
const CELL_HEADER: &str = ",in_end_ns,row_pages,planes,page_type,mode,suspensions,earlier_moves";

/// Whether a file is an operation log, by its line of column names.
pub fn is_op_log(path: &Path) -> bool {
    let mut begin = String::new();
    let most = (HEADER.len() + CELL_HEADER.len() + 1) as u64;
    let read = File::open(path).and_then(|file| file.take(most).read_to_string(&mut begin));
    let line = begin.split_once('\n').and_then(|(line, _)| line.strip_prefix(HEADER));
    read.is_ok() && line.is_some_and(|more| more.is_empty() || more == CELL_HEADER)
}

impl<W: Write> OpLog<W> {
    /// A log written to `out`.
    pub fn new(out: W) -> Self {
        Self::begin(out, false)
    }

    /// The log of a drive with rows and cells, written to `out`.
    pub fn with_cells(out: W) -> Self {
        Self::begin(out, true)
    }

    fn begin(out: W, has_cells: bool) -> Self {
        let mut log = OpLog { out, has_cells, error: None };
        let more = if has_cells { CELL_HEADER } else { "" };
        log.write(format_args!("{HEADER}{more}\n"));
        log
    }

    /// The first write error, if any.
    pub fn take_error(&mut self) -> Option<std::io::Error> {
        self.error.take()
    }

    /// Writes the line of a record that is no operation.
    fn line(&mut self, line: std::fmt::Arguments) {
        self.write(format_args!("{line}{}\n", if self.has_cells { ",,,,,,," } else { "" }));
    }

    fn write(&mut self, text: std::fmt::Arguments) {
        if self.error.is_none()
            && let Err(error) = self.out.write_fmt(text)
        {
            self.error = Some(error);
        }
    }

    /// Writes the line of an operation, or of a pass of it.
    fn op_line(&mut self, name: &str, record: &OpRecord) {
        let (op, t) = (record.op, record.times);
        let (array_end, out_start) = match op.kind {
            OpKind::Read | OpKind::Copy => (t.array_end, t.out_start),
            OpKind::Copyback => (t.array_end, t.end),
            OpKind::Program | OpKind::Erase | OpKind::SpareRead => (t.end, t.end),
        };
        let bytes = op.part_bytes().map(|bytes| bytes.to_string()).unwrap_or_default();
        self.write(format_args!(
            "{name},{},{},{},{},{},{},{},{},{},,{bytes}",
            op.cause.name(),
            op.at.die,
            op.at.block,
            op.at.page,
            t.start,
            t.array_start,
            array_end,
            out_start,
            t.end
        ));
        self.end_op(record.cells);
    }

    /// Ends the line of an operation. A drive with rows and cells knows its facts of each.
    fn end_op(&mut self, cells: Option<CellFacts>) {
        if let Some(facts) = cells.filter(|_| self.has_cells) {
            let CellFacts { in_end, row_pages, planes, page, mode, suspensions, earlier_moves } = facts;
            self.write(format_args!(",{in_end},{row_pages},{planes},{},{}", page.name(), mode.name()));
            for stretches in [suspensions, earlier_moves] {
                self.write(format_args!(","));
                for (at, (from, until)) in stretches.iter().enumerate() {
                    self.write(format_args!("{}{from}-{until}", if at > 0 { ";" } else { "" }));
                }
            }
        } else if self.has_cells {
            self.write(format_args!(",,,,,,,"));
        }
        self.write(format_args!("\n"));
    }
}

impl<W: Write> Probe for OpLog<W> {
    type Recorder = Option<Box<Series>>;

    fn op_ended(&mut self, record: &OpRecord) {
        self.op_line(record.op.kind.name(), record);
    }

    fn first_pass_ended(&mut self, record: &OpRecord) {
        self.op_line("first_pass", record);
    }

    fn request_ended(&mut self, r: &RequestRecord) {
        let kind = r.kind.name();
        self.line(format_args!("request,{kind},,,,{},,,,{},{},{}", r.admitted_ns, r.end_ns, r.map_accesses, r.bytes));
    }

    fn mapped(&mut self, now: Nanos, accesses: u32) {
        if accesses > 0 {
            self.line(format_args!("map,,,,,{now},,,,,{accesses},"));
        }
    }

    fn buffer(&mut self, now: Nanos, event: &BufferEvent) {
        let (cause, bytes) = match event {
            BufferEvent::Write(_, _, _, bytes) => ("write", bytes),
            BufferEvent::Read(_, _, bytes) => ("read", bytes),
            BufferEvent::Trim(_) | BufferEvent::Programmed(_) => return,
        };
        self.line(format_args!("buffer,{cause},,,,{now},,,,,,{}", bytes.len()));
    }

    fn read_from_memory(&mut self, now: Nanos, _op: &OpFacts, dram_bytes: u64) {
        if dram_bytes > 0 {
            self.line(format_args!("buffer,read,,,,{now},,,,,,{dram_bytes}"));
        }
    }

    fn host_memory(&mut self, now: Nanos, is_write: bool, bytes: u64) {
        let cause = if is_write { "write" } else { "read" };
        self.line(format_args!("host_memory,{cause},,,,{now},,,,,,{bytes}"));
    }

    fn restarted(&mut self, now: Nanos) {
        self.line(format_args!("window,,,,,{now},,,,,,"));
    }

    fn drains(&mut self, now: Nanos) {
        self.line(format_args!("drain,,,,,{now},,,,,,"));
    }

    fn finish(&mut self, now: Nanos) {
        self.line(format_args!("end,,,,,,,,,{now},,"));
        if let Err(error) = self.out.flush() {
            self.error.get_or_insert(error);
        }
    }
}
