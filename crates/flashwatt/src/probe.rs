//! Observers of a run. They are compiled in, one engine for each: an observer that does nothing costs nothing.

use std::io::Write;

use crate::controller::op::Op;
use crate::energy::ledger::OpTimes;
use crate::ftl::OpKind;
use crate::host::RequestKind;
use crate::units::Nanos;

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
pub struct OpRecord<'a> {
    /// What it was.
    pub op: &'a Op,
    /// When its phases were.
    pub times: &'a OpTimes,
}

/// A request that has completed.
#[derive(Clone, Copy, Debug)]
pub struct RequestRecord {
    /// What it was.
    pub kind: RequestKind,
    /// When it entered the device.
    pub admitted_ns: Nanos,
    /// When it completed.
    pub end_ns: Nanos,
    /// Map look-ups and updates made for it.
    pub map_accesses: u32,
    /// Bytes over the host interface.
    pub bytes: u64,
}

/// Sees everything that ends.
pub trait Probe {
    /// An operation has ended.
    #[inline(always)]
    fn op_ended(&mut self, _record: &OpRecord) {}

    /// A request has completed.
    #[inline(always)]
    fn request_ended(&mut self, _record: &RequestRecord) {}

    /// The map has been looked at or changed so many times, for a request or for background work.
    #[inline(always)]
    fn mapped(&mut self, _now: Nanos, _accesses: u32) {}

    /// The counters have been restarted.
    fn restarted(&mut self, _now: Nanos) {}

    /// The measured window is over; what is under way goes on.
    fn drains(&mut self, _now: Nanos) {}

    /// The run is over at this time.
    fn finish(&mut self, _now: Nanos) {}
}

/// Sees nothing.
impl Probe for () {}

/// Writes the operation log: one line of CSV for each flash operation and each request, in the order of their ends.
///
/// Columns: `record` (an operation's kind, or `request`), `cause` (or `read`, `write`, `trim`, `flush`), `die`, `block`,
/// `page` (in its block), `start_ns`, `array_start_ns`, `array_end_ns`, `out_start_ns`, `end_ns`, `map_accesses`, `bytes`.
/// An operation holds the bus from `start_ns` to `array_start_ns`, works in the array until `array_end_ns`, waits until
/// `out_start_ns`, and moves data out until `end_ns`; a copyback programs from `array_end_ns` on. Columns that a record
/// does not have are empty. Further lines have a `start_ns` only: `window`, where the counters begin anew; `drain`, where
/// the measured window ends; `end` (an `end_ns`); and `map`, `map_accesses` of it for a request or for background work.
pub struct OpLog<W: Write> {
    out: W,
    error: Option<std::io::Error>,
}

impl<W: Write> OpLog<W> {
    /// A log that goes to `out`.
    pub fn new(out: W) -> Self {
        let mut log = OpLog { out, error: None };
        log.line(format_args!(
            "record,cause,die,block,page,start_ns,array_start_ns,array_end_ns,out_start_ns,end_ns,map_accesses,bytes"
        ));
        log
    }

    /// The first error that the file system gave, if one.
    pub fn take_error(&mut self) -> Option<std::io::Error> {
        self.error.take()
    }

    fn line(&mut self, line: std::fmt::Arguments) {
        if self.error.is_none()
            && let Err(error) = writeln!(self.out, "{line}")
        {
            self.error = Some(error);
        }
    }
}

impl<W: Write> Probe for OpLog<W> {
    fn op_ended(&mut self, record: &OpRecord) {
        let (op, t) = (record.op, record.times);
        let (array_end, out_start) = match op.kind {
            OpKind::Read | OpKind::Copy => (t.array_end, t.out_start),
            OpKind::Copyback => (t.array_end, t.end),
            OpKind::Program | OpKind::Erase => (t.end, t.end),
        };
        self.line(format_args!(
            "{},{},{},{},{},{},{},{},{},{},,",
            op.kind.name(),
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
    }

    fn request_ended(&mut self, r: &RequestRecord) {
        let kind = match r.kind {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Trim => "trim",
            RequestKind::Flush => "flush",
        };
        self.line(format_args!("request,{kind},,,,{},,,,{},{},{}", r.admitted_ns, r.end_ns, r.map_accesses, r.bytes));
    }

    fn mapped(&mut self, now: Nanos, accesses: u32) {
        if accesses > 0 {
            self.line(format_args!("map,,,,,{now},,,,,{accesses},"));
        }
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
