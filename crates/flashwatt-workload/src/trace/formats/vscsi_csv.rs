//! What VMware's `vscsiStats` prints of a trace of SCSI commands: CSV, version 1.
//!
//! Source: such files begin with `Vscsi Cmd Trace. (Trace Format Version 1)` and `Serial Number,IO Data Length,Num SG
//! Entries,Command Type,LBN,Time Stamp (microseconds)`, with or without a `#` before each; the command is `read` or `write`. Shown
//! in super-user.org, *Plot vSCSI trace using conditional argument in gnuplot* (2011), and in the comments of the converter
//! from CSV to DataSeries of Stony Brook University's trace tools, which takes the block as 512 bytes.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{
    Bad, Commas, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, operation, range,
};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "vscsi-csv",
    aliases: &["vscsistats"],
    doc: "VMware vscsi as CSV, as vscsiStats prints it, version 1",
    columns: "serial number, length (B), segments, command (read or write), block (512 B), time (µs)",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: false,
    units: Some(VscsiCsv::UNITS),
    example:
        b"#Vscsi Cmd Trace. (Trace Format Version 1)\n#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,\
               Time Stamp (microseconds)\n2147483692,4096,1,write,6322464,2756778716647\n\
               2147483769,8192,2,read,6234880,2756783857269\n",
    detect: |sample| looks_like(VscsiCsv, sample),
    decode: |input, reading| Text::boxed(input, VscsiCsv, reading.given),
};

const READ_OR_WRITE: &Operations = &[(b"read", RequestKind::Read), (b"write", RequestKind::Write)];

struct VscsiCsv;

impl LineFormat for VscsiCsv {
    const UNITS: ColumnUnits = ColumnUnits::sectors_and_bytes(Tick::US);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        if line.first().is_some_and(u8::is_ascii_alphabetic) {
            return header(line);
        }
        let mut columns = Commas::of(line);
        columns.number("serial number")?;
        let size = columns.number("length")?;
        columns.number("segments")?;
        let kind = operation(columns.field("command")?, READ_OR_WRITE, "read or write")?;
        let block = columns.number("block")?;
        let time_ns = columns.time("time (µs)", units.time)?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("block", block), ("length", size), units)?;
        believed(Record::new(time_ns, 0, offset_bytes, bytes, kind), "length")
    }
}

/// The lines that a file begins with, where no `#` stands before them.
fn header(line: &[u8]) -> Result<TextLine, Box<Bad>> {
    let known =
        line.starts_with(b"Vscsi Cmd Trace. (Trace Format Version 1)") || line.starts_with(b"Serial Number,IO Data");
    if known {
        return Ok(TextLine::Header);
    }
    Err(Bad::field("header", "not a version that is known", line, "Vscsi Cmd Trace. (Trace Format Version 1)"))
}
