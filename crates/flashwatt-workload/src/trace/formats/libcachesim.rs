//! The CSV of block traces that comes with libCacheSim and PyMimircache: `version,time,op,size,lbn`, made of vscsi records of version 1.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::header::{Column, Header};
use super::super::read::text::{Bad, Commas, LineColumns, LineFormat, Text, TextLine, looks_like, range};
use super::super::{Format, LogPoint, Record, believed};
use super::csv;
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "libcachesim",
    aliases: &["mimircache"],
    doc: "CSV of block traces of libCacheSim and PyMimircache",
    columns: "version, time (s), command (SCSI, hexadecimal), size (B), block (512 B)",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: true,
    units: Some(LibCacheSim::UNITS),
    example: b"version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33898,28,6656,40409911\n1,33899,2a,4096,6160447\n",
    detect: |sample| looks_like(LibCacheSim, sample) && !csv::detect(sample),
    decode: |input, reading| Text::boxed(input, LibCacheSim, reading.given),
};

struct LibCacheSim;

impl LineFormat for LibCacheSim {
    const UNITS: ColumnUnits = ColumnUnits::sectors_and_bytes(Tick::S);
    const HEADER: Option<&'static Header> = Some(&Header {
        columns: &[
            Column::Plain(&["version", "ver"]),
            Column::Time(&["time", "timestamp", "ts"]),
            Column::Plain(&["op", "cmd", "command"]),
            Column::Size(&["size", "len", "length"]),
            Column::Offset(&["lbn", "block"]),
        ],
        optional: 0,
        expected: "`version,time,op,size,lbn` in this order, or no line of names",
    });

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let version = columns.number("version")?;
        if version > 2 {
            return Err(Bad::field("version", "not a version that is known", line, "1 or 2"));
        }
        let time_ns = columns.time("time (s)", units.time)?;
        let kind = command(columns.field("command")?)?;
        let size = columns.number("size")?;
        let block = columns.number("block")?;
        columns.end()?;
        let Some(kind) = kind else { return Ok(TextLine::Other) };
        let (offset_bytes, bytes) = range(("block", block), ("size", size), units)?;
        believed(Record::new(time_ns, 0, offset_bytes, bytes, kind), "size")
    }
}

/// What a SCSI command in two hexadecimal digits moves: reads and writes of 6, 10, 12 and 16 bytes and writes that verify. Others are no
/// requests.
fn command(field: &[u8]) -> Result<Option<RequestKind>, Box<Bad>> {
    let is_code = field.len() == 2 && field.iter().all(u8::is_ascii_hexdigit);
    match field.to_ascii_lowercase().as_slice() {
        b"08" | b"28" | b"a8" | b"88" => Ok(Some(RequestKind::Read)),
        b"0a" | b"2a" | b"aa" | b"8a" | b"2e" | b"ae" | b"8e" => Ok(Some(RequestKind::Write)),
        _ if is_code => Ok(None),
        _ => Err(Bad::field("command", "unknown operation", field, "a SCSI command: 28 (read), 2a (write), …")),
    }
}
