//! Alibaba's block traces (Li et al.: *An In-Depth Analysis of Cloud Block Storage Workloads*, IISWC 2020).

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::header::{Column, Header};
use super::super::read::text::{Bad, Commas, LineColumns, LineFormat, Text, TextLine, looks_like, operation, range};
use super::super::{Format, LogPoint, Record, believed};
use super::nbd::Nbd;
use super::spc::R_OR_W;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "alibaba",
    aliases: &[],
    doc: "Alibaba block traces",
    columns: "device, operation (R or W), offset (B), bytes, time (µs)",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: true,
    units: Some(Alibaba::UNITS),
    example: b"419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
    // The columns of an nbd log are of the same kinds, but its last one is 0 or 1: no time of these years.
    detect: |sample| looks_like(Alibaba, sample) && !looks_like(Nbd, sample),
    decode: |input, reading| Text::boxed(input, Alibaba, reading.given),
};

#[derive(Default)]
struct Alibaba;

impl LineFormat for Alibaba {
    const UNITS: ColumnUnits = ColumnUnits::bytes(Tick::US);
    const HEADER: Option<&'static Header> = Some(&Header {
        columns: &[
            Column::Plain(&["device_id", "device", "volume", "volume_id"]),
            Column::Plain(&["opcode", "op", "operation"]),
            Column::Offset(&["offset"]),
            Column::Size(&["length", "size"]),
            Column::Time(&["timestamp", "time"]),
        ],
        optional: 0,
        expected: "`device_id,opcode,offset,length,timestamp` in this order, or no line of names",
    });

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let device = columns.number("device")?;
        let kind = operation(columns.field("operation")?, R_OR_W, "R or W")?;
        let offset = columns.number("offset")?;
        let size = columns.number("bytes")?;
        let time_ns = columns.time("time (µs)", units.time)?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("offset", offset), ("bytes", size), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "bytes")
    }
}
