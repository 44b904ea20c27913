//! The Systor '17 traces of a virtual desktop infrastructure (Lee et al.: *Understanding Storage Traffic Characteristics
//! on Enterprise Virtual Desktop Infrastructure*, SYSTOR 2017).
//!
//! The README of the distribution says of the operation: "The blank indicates that there was no response message". Nobody
//! knows then whether it was a read or a write: such a line is no request.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::header::{Column, Header};
use super::super::read::text::{Bad, Commas, LineColumns, LineFormat, Text, TextLine, looks_like, operation, range};
use super::super::{Format, LogPoint, Record, believed};
use super::csv;
use super::spc::R_OR_W;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "systor17",
    aliases: &["systor"],
    doc: "Systor '17 virtual desktop traces",
    columns: "time (s), response time (s), operation (R, W or nothing), LUN, offset (B), bytes",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: false,
    units: Some(Systor::UNITS),
    example: b"Timestamp,Response,IOType,LUN,Offset,Size\n1455592140.05907,0.000127,R,0,102400,4096\n\
               1455592140.06100,,W,1,204800,8192\n",
    // A CSV line with the FUA column has columns of the same kinds, but its last one is 0 or 1: no size of these traces.
    detect: |sample| looks_like(Systor, sample) && !csv::detect(sample),
    decode: |input, reading| Text::boxed(input, Systor, reading.given),
};

#[derive(Default)]
struct Systor;

impl LineFormat for Systor {
    const UNITS: ColumnUnits = ColumnUnits::bytes(Tick::S);
    const HEADER: Option<&'static Header> = Some(&Header {
        columns: &[
            Column::Time(&["timestamp"]),
            Column::Plain(&["response", "response_time"]),
            Column::Plain(&["iotype"]),
            Column::Plain(&["lun"]),
            Column::Offset(&["offset"]),
            Column::Size(&["size"]),
        ],
        optional: 0,
        expected: "`Timestamp,Response,IOType,LUN,Offset,Size` in this order, or no line of names",
    });

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let time_ns = columns.time("time (s)", units.time)?;
        columns.field("response time")?;
        let letter = columns.field("operation")?;
        let kind = if letter.is_empty() { None } else { Some(operation(letter, R_OR_W, "R, W or nothing")?) };
        let device = columns.number("LUN")?;
        let offset = columns.number("offset")?;
        let size = columns.number("bytes")?;
        columns.end()?;
        let Some(kind) = kind else {
            return Ok(TextLine::Other);
        };
        let (offset_bytes, bytes) = range(("offset", offset), ("bytes", size), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "bytes")
    }
}
