//! Plain CSV, the format to convert to when a trace comes in none of the others.

use std::io::{self, Write};

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::header::{Column, Header, looks_like_names};
use super::super::read::text::{
    Bad, Commas, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, number, operation, range,
};
use super::super::{Format, LogPoint, Process, Record, believed};
use super::linux::process;
use super::nbd::{Nbd, flag};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "csv",
    aliases: &[],
    doc: "plain CSV, with or without a line of column names",
    columns: "time (µs, may have a fraction), device, operation (R, W, T = trim, F = flush, or the words), offset (B), bytes [, FUA (0 or 1) [, process [, sync (0 or 1)]]]",
    events: &[],
    logged: &[LogPoint::Unknown],
    tried: true,
    units: Some(Csv::UNITS),
    example: b"time_us,device,op,offset,bytes\n0.000,0,W,155429888,4096\n52429.125,0,R,28465152,4096\n91750,1,F,0,0\n",
    detect,
    decode: |input, reading| Text::boxed(input, Csv::default(), reading.given),
};

/// The line of column names that is written, for records that name no process.
pub const HEADER: &str = "time_us,device,op,offset,bytes,fua";
/// The line of column names that is written, for records of which some name a process. `sync`: does somebody wait for it?
pub const HEADER_WITH_PROCESS: &str = "time_us,device,op,offset,bytes,fua,process,sync";

/// Recognition, for formats with columns of the same kinds: by the records, or by the column names. Records of this format
/// under other column names are recognised too: the error then says which names are expected.
pub fn detect(sample: &[u8]) -> bool {
    let (first, others) = first_line(sample);
    let records = if looks_like_names(first) { others } else { sample };
    let mut format = Csv::default();
    let is_own = format.header_of(first).is_some_and(|header| header.read(first).is_ok());
    is_own || looks_like(Csv::default(), records)
}

/// Why the first line of a file, if it has column names, has not this format's.
pub fn wrong_names(sample: &[u8]) -> Option<String> {
    let (first, _) = first_line(sample);
    let has_names = first.contains(&b',') && looks_like_names(first);
    let what = Csv::default().header_of(first).filter(|_| has_names)?.read(first).err()?;
    Some(format!("its column names are not those of csv: {what}"))
}

/// The first line that is no comment, and what follows it.
fn first_line(sample: &[u8]) -> (&[u8], &[u8]) {
    let comments = sample.split_inclusive(|&c| c == b'\n').take_while(|line| line.starts_with(b"#"));
    let lines = &sample[comments.map(<[u8]>::len).sum()..];
    let (first, others) = lines.split_at(lines.iter().position(|&c| c == b'\n').unwrap_or(lines.len()));
    (first.trim_ascii_end(), others)
}

/// Writes a record as a line of this format. With the columns of processes nothing is lost.
pub fn write(record: &Record, with_process: bool, to: &mut impl Write) -> io::Result<()> {
    let Record { time_ns, device, offset_bytes, bytes, kind, fua, is_sync, process } = *record;
    let letter = match kind {
        RequestKind::Read => 'R',
        RequestKind::Write => 'W',
        RequestKind::Trim => 'T',
        RequestKind::Flush => 'F',
    };
    let (us, ns) = (time_ns / Tick::US.ns, time_ns % Tick::US.ns);
    write!(to, "{us}.{ns:03},{device},{letter},{offset_bytes},{bytes},{}", u8::from(fua))?;
    let sync = u8::from(is_sync);
    match process.number() {
        _ if !with_process => writeln!(to),
        Some(process) => writeln!(to, ",{process},{sync}"),
        None => writeln!(to, ",,{sync}"),
    }
}

/// Whether a file that begins so has the column names and the spelling of [`write()`].
pub fn is_converted(sample: &[u8]) -> bool {
    let whole = sample.len() - sample.iter().rev().take_while(|&&c| c != b'\n').count();
    let mut lines = sample[..whole].split_inclusive(|&c| c == b'\n');
    let header = lines.next().unwrap_or_default().trim_ascii_end();
    let with_process = header == HEADER_WITH_PROCESS.as_bytes();
    (with_process || header == HEADER.as_bytes()) && lines.all(|line| is_as_written(line, with_process))
}

fn is_as_written(line: &[u8], with_process: bool) -> bool {
    let Ok(TextLine::Request(record)) = Csv::default().line(line.trim_ascii_end(), &Csv::UNITS) else { return false };
    let mut again = Vec::new();
    write(&record, with_process, &mut again).is_ok() && again == line
}

const LETTERS: &Operations = &[
    (b"R", RequestKind::Read),
    (b"W", RequestKind::Write),
    (b"T", RequestKind::Trim),
    (b"F", RequestKind::Flush),
    (b"r", RequestKind::Read),
    (b"w", RequestKind::Write),
    (b"t", RequestKind::Trim),
    (b"f", RequestKind::Flush),
    (b"read", RequestKind::Read),
    (b"write", RequestKind::Write),
    (b"trim", RequestKind::Trim),
    (b"flush", RequestKind::Flush),
    (b"Read", RequestKind::Read),
    (b"Write", RequestKind::Write),
    (b"Trim", RequestKind::Trim),
    (b"Flush", RequestKind::Flush),
    (b"READ", RequestKind::Read),
    (b"WRITE", RequestKind::Write),
];

#[derive(Default)]
struct Csv {
    /// Whether the column names leave out the device.
    one_device: bool,
}

/// Names of the columns but for the device.
const WITHOUT_DEVICE: Header =
    Header { columns: &[TIME, OPERATION, OFFSET, SIZE, FUA, PROCESS, SYNC], optional: 3, expected: EXPECTED };
const EXPECTED: &str = "`time_us,device,op,offset,bytes` (`device` may be missing; and `fua`, `process`, `sync`) in this order, with any units (`time_ns`, `offset_sectors`), or no line of names";
const TIME: Column = Column::Time(&["time", "timestamp", "ts", "arrival_time"]);
const OPERATION: Column = Column::Plain(&["op", "operation", "opcode", "type", "kind", "rw", "r/w"]);
const OFFSET: Column = Column::Offset(&["offset", "off", "address"]);
const SIZE: Column = Column::Size(&["size", "length", "len"]);
const FUA: Column = Column::Plain(&["fua"]);
const PROCESS: Column = Column::Plain(&["process", "pid", "process_id"]);
const SYNC: Column = Column::Plain(&["sync", "is_sync"]);

impl LineFormat for Csv {
    const UNITS: ColumnUnits = ColumnUnits::bytes(Tick::US);
    const HEADER: Option<&'static Header> = Some(&Header {
        columns: &[
            TIME,
            Column::Plain(&["device", "dev", "disk", "volume", "lun", "device_id"]),
            OPERATION,
            OFFSET,
            SIZE,
            FUA,
            PROCESS,
            SYNC,
        ],
        optional: 3,
        expected: EXPECTED,
    });

    /// Files of one device may have no column for it, if they have names.
    fn header_of(&mut self, names: &[u8]) -> Option<&'static Header> {
        let one_device = &WITHOUT_DEVICE;
        // The names of network block devices are the same with FUA; those are read by the format of that name.
        self.one_device =
            one_device.read(names).is_ok() && Nbd::HEADER.is_none_or(|header| header.read(names).is_err());
        if self.one_device { Some(&WITHOUT_DEVICE) } else { Self::HEADER }
    }

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let time_ns = columns.time("time (µs)", units.time)?;
        let device = if self.one_device { 0 } else { columns.number("device")? };
        let kind = operation(columns.field("operation")?, LETTERS, "R, W, T or F, or read, write, trim or flush")?;
        let offset = columns.number("offset")?;
        let size = columns.number("bytes")?;
        let fua = match columns.next() {
            Some(field) => flag("FUA", field)?,
            None => false,
        };
        let process = match columns.next() {
            Some(field) if !field.is_empty() => process(number(field, "process")?)?,
            _ => Process::NONE,
        };
        let is_sync = columns.next().map_or(Ok(true), |field| flag("sync", field))?;
        columns.end()?;
        if kind == RequestKind::Flush {
            return Ok(TextLine::Request(Record { process, ..Record::flush(time_ns, device) }));
        }
        let (offset_bytes, bytes) = range(("offset", offset), ("bytes", size), units)?;
        believed(Record { fua, is_sync, process, ..Record::new(time_ns, device, offset_bytes, bytes, kind) }, "bytes")
    }
}
