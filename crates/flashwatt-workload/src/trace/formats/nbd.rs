//! A log of the requests to a network block device.
//!
//! `Z` (write zeroes) is taken as a trim: like one it leaves the range reading as zeroes without moving data, and a drive
//! that supports either does both in its map. `X` (disconnect) is no request.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::header::{Column, Header};
use super::super::read::text::{
    Bad, Commas, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, operation, range,
};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "nbd",
    aliases: &["nbdlog"],
    doc: "log of a network block device",
    columns: "time (ns), operation (R, W, F = flush, T = trim, Z = write zeroes, X = disconnect), offset (B), bytes, FUA (0 or 1)",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: true,
    units: Some(Nbd::UNITS),
    example: b"3605361179,R,0,4096,0\n3608905867,W,4096,4096,1\n3700000000,F,0,0,0\n3800000000,T,8192,65536,0\n\
               3900000000,Z,0,65536,0\n4000000000,X,0,0,0\n",
    detect: |sample| looks_like(Nbd, sample),
    decode: |input, reading| Text::boxed(input, Nbd, reading.given),
};

const LETTERS: &Operations = &[
    (b"R", RequestKind::Read),
    (b"W", RequestKind::Write),
    (b"F", RequestKind::Flush),
    (b"T", RequestKind::Trim),
    (b"Z", RequestKind::Trim),
];

/// Recognition and decoding of the `nbd` format.
#[derive(Default)]
pub struct Nbd;

impl LineFormat for Nbd {
    const UNITS: ColumnUnits = ColumnUnits::bytes(Tick::NS);
    const HEADER: Option<&'static Header> = Some(&Header {
        columns: &[
            Column::Time(&["time", "timestamp"]),
            Column::Plain(&["op", "operation", "type"]),
            Column::Offset(&["offset"]),
            Column::Size(&["size", "length", "count"]),
            Column::Plain(&["fua"]),
        ],
        optional: 0,
        expected: "`time_ns,op,offset,bytes,fua` in this order, or no line of names",
    });

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let time_ns = columns.whole_time("time (ns)", units.time)?;
        let letter = columns.field("operation")?;
        let offset = columns.number("offset")?;
        let size = columns.number("bytes")?;
        let fua = flag("FUA", columns.field("FUA")?)?;
        columns.end()?;
        if letter == b"X" {
            return Ok(TextLine::Other);
        }
        let kind = operation(letter, LETTERS, "R, W, F, T, Z or X")?;
        if kind == RequestKind::Flush {
            return Ok(TextLine::Request(Record::flush(time_ns, 0)));
        }
        let (offset_bytes, bytes) = range(("offset", offset), ("bytes", size), units)?;
        believed(Record { fua, ..Record::new(time_ns, 0, offset_bytes, bytes, kind) }, "bytes")
    }
}

/// A column of 0 or 1.
pub fn flag(name: &'static str, field: &[u8]) -> Result<bool, Box<Bad>> {
    match field {
        b"0" => Ok(false),
        b"1" => Ok(true),
        other => Err(Bad::field(name, "neither 0 nor 1", other, "0 or 1")),
    }
}
