//! The binary records that Linux's `blktrace` writes, one file per CPU, little-endian: read one file, or merge them with
//! `blkparse` first and read its text.
//!
//! A request is one `D` (issued to the driver) event unless another event is chosen.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::records::{RecordFormat, Records, u16_at, u32_at, u64_at};
use super::super::read::text::{Bad, TextLine};
use super::super::{Format, LogPoint};
use super::linux::{Flags, process, request, sectors_of};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "blktrace",
    aliases: &[],
    doc: "blktrace (binary, Linux), one CPU's file",
    columns: "48 bytes: magic and version, sequence, time (ns), sector (512 B), bytes, action, process id, device, CPU, error, \
              bytes of a payload that follows",
    events: &["D", "Q", "C"],
    logged: &[LogPoint::Dispatch, LogPoint::Submission, LogPoint::Dispatch],
    tried: true,
    units: None,
    example: EXAMPLE,
    detect: |sample| sample.starts_with(MAGIC) && sample.len() >= BYTES,
    decode: |input, reading| {
        Records::boxed(input, Blktrace { event: *ACTIONS.get(reading.event).unwrap_or(&ACTION_ISSUE) })
    },
};

/// Version 7, the only one for as long as the kernel has had the tracer.
const MAGIC: &[u8] = b"\x07tae";
const BYTES: usize = 48;

/// The low half of an action is the event; these are `D`, `Q` and `C`, in the registry line's order.
const ACTIONS: [u16; 3] = [ACTION_ISSUE, 1, 8];
const ACTION_ISSUE: u16 = 7;

/// The high half is a set of these.
const WRITE: u16 = 1 << 1;
const FLUSH: u16 = 1 << 2;
const SYNC: u16 = 1 << 3;
const PACKET: u16 = 1 << 9;
const NOTIFY: u16 = 1 << 10;
const DISCARD: u16 = 1 << 13;
const FUA: u16 = 1 << 15;

struct Blktrace {
    event: u16,
}

impl RecordFormat for Blktrace {
    fn bytes(&self) -> usize {
        BYTES
    }

    fn record(&mut self, fixed: &[u8]) -> Result<(TextLine, usize), Box<Bad>> {
        if !fixed.starts_with(MAGIC) {
            return Err(Bad::field("magic", "not a blktrace record", &fixed[..MAGIC.len()], "magic 0x65617407"));
        }
        let payload = usize::from(u16_at(fixed, 46));
        let action = u32_at(fixed, 28);
        let (event, category) = (action as u16, (action >> 16) as u16);
        if event != self.event || category & (NOTIFY | PACKET) != 0 {
            return Ok((TextLine::Other, payload));
        }
        let (time_ns, sector, bytes) = (u64_at(fixed, 8), u64_at(fixed, 16), u64::from(u32_at(fixed, 24)));
        let flags = flags(category, bytes);
        let entry = request(
            time_ns,
            (u64::from(u32_at(fixed, 36)), process(u64::from(u32_at(fixed, 32)))?),
            flags,
            (sector, sectors_of(bytes)),
            &ColumnUnits::sectors(Tick::NS),
        )?;
        Ok((entry, payload))
    }

    fn magic(&self) -> Option<&'static [u8]> {
        Some(MAGIC)
    }
}

fn flags(category: u16, bytes: u64) -> Flags {
    let set = |bit| category & bit != 0;
    let kind = match () {
        () if bytes == 0 => None,
        () if set(DISCARD) => Some(RequestKind::Trim),
        () if set(WRITE) => Some(RequestKind::Write),
        () => Some(RequestKind::Read),
    };
    Flags { kind, preflush: set(FLUSH), fua: set(FUA), sync: set(SYNC) }
}

/// A process's name, then a read, a flush and a discard that are issued.
const EXAMPLE: &[u8] = b"\
    \x07tae\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\x09\0\0\0\0\0\xe0\x0f\0\0\0\0\0\0\x04\0fio\0\
    \x07tae\x01\0\0\0\x02\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\x07\0\x41\x01\x09\0\0\0\0\0\xe0\x0f\0\0\0\0\0\0\0\0\
    \x07tae\x02\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\x45\x01\x09\0\0\0\0\0\xe0\x0f\0\0\0\0\0\0\0\0\
    \x07tae\x03\0\0\0\x04\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\x20\0\0\x07\0\x4a\x21\x09\0\0\0\0\0\xe0\x0f\0\0\0\0\0\0\0\0";
