//! Tencent's cloud block storage traces (Zhang et al.: *OSCA*, ATC 2020). Their times are whole seconds: replayed with
//! them, requests come in bursts of a second's worth, so that a closed loop often makes more sense.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::header::{Column, Header};
use super::super::read::text::{
    Bad, Commas, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, operation, range,
};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "tencent",
    aliases: &[],
    doc: "Tencent block storage traces",
    columns: "time (s), offset (512-B sectors), size (sectors), operation (0 = read, 1 = write), volume",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: false,
    units: Some(Tencent::UNITS),
    example: b"1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n",
    detect: |sample| looks_like(Tencent, sample),
    decode: |input, reading| Text::boxed(input, Tencent, reading.given),
};

const ZERO_IS_READ: &Operations = &[(b"0", RequestKind::Read), (b"1", RequestKind::Write)];

#[derive(Default)]
struct Tencent;

impl LineFormat for Tencent {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::S);
    const HEADER: Option<&'static Header> = Some(&Header {
        columns: &[
            Column::Time(&["timestamp", "time"]),
            Column::Offset(&["offset"]),
            Column::Size(&["size", "length"]),
            Column::Plain(&["iotype", "io_type", "op", "operation"]),
            Column::Plain(&["volumeid", "volume_id", "volume"]),
        ],
        optional: 0,
        expected: "`Timestamp,Offset,Size,IOType,VolumeID` in this order, or no line of names",
    });

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let time_ns = columns.time("time (s)", units.time)?;
        let sector = columns.number("offset")?;
        let sectors = columns.number("size")?;
        let kind = operation(columns.field("operation")?, ZERO_IS_READ, "0 (read) or 1 (write)")?;
        let device = columns.number("volume")?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("offset", sector), ("size", sectors), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "size")
    }
}
