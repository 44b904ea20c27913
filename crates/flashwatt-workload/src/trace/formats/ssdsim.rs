//! SSDsim's ASCII format, which MQSim reads as well: `time device sector sectors op`.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{
    Bad, Blanks, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, operation, range,
};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "ssdsim",
    aliases: &["mqsim"],
    doc: "SSDsim and MQSim ASCII",
    columns: "time (ns), device, first sector (512 B), sectors, operation (1 = read, 0 = write)",
    events: &[],
    logged: &[LogPoint::Unknown],
    tried: true,
    units: Some(Ssdsim::UNITS),
    example: b"0 0 303 8 0\n26214000 1 240840 8 1\n26214001 0 311 16 0\n",
    detect: |sample| looks_like(Ssdsim, sample),
    decode: |input, reading| Text::boxed(input, Ssdsim, reading.given),
};

/// SSDsim's, MQSim's and FIU's: 1 reads, 0 writes.
pub const ONE_IS_READ: &Operations = &[(b"1", RequestKind::Read), (b"0", RequestKind::Write)];

struct Ssdsim;

impl LineFormat for Ssdsim {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::NS);

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        let time_ns = columns.whole_time("time (ns)", units.time)?;
        let device = columns.number("device")?;
        let sector = columns.number("first sector")?;
        let sectors = columns.number("sectors")?;
        let kind = operation(columns.field("operation")?, ONE_IS_READ, "1 (read) or 0 (write)")?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("first sector", sector), ("sectors", sectors), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "sectors")
    }
}
