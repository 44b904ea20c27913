//! The Storage Performance Council's format (1999), in which the UMass repository keeps Financial and WebSearch.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{
    Bad, Commas, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, operation, range,
};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "spc",
    aliases: &[],
    doc: "SPC trace file (UMass Financial, WebSearch)",
    columns: "ASU (device), LBA (512 B), bytes, operation (r or w), time (s)",
    events: &[],
    logged: &[LogPoint::Unknown],
    tried: true,
    units: Some(Spc::UNITS),
    example: b"0,303,4096,w,0.000000\n1,240840,4096,R,0.026214\n0,311,8192,W,0.078643\n",
    detect: |sample| looks_like(Spc, sample),
    decode: |input, reading| Text::boxed(input, Spc, reading.given),
};

/// `r` or `w`, in either case.
pub const R_OR_W: &Operations =
    &[(b"r", RequestKind::Read), (b"w", RequestKind::Write), (b"R", RequestKind::Read), (b"W", RequestKind::Write)];

struct Spc;

impl LineFormat for Spc {
    const UNITS: ColumnUnits = ColumnUnits::sectors_and_bytes(Tick::S);

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let device = columns.number("ASU")?;
        let sector = columns.number("LBA")?;
        let size = columns.number("bytes")?;
        let kind = operation(columns.field("operation")?, R_OR_W, "r or w")?;
        let time_ns = columns.time("time (s)", units.time)?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("LBA", sector), ("bytes", size), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "bytes")
    }
}
