//! What Sysinternals' DiskMon saves.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, operation, range};
use super::super::{Format, LogPoint, Record, believed};
use super::msr::READ_OR_WRITE;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "diskmon",
    aliases: &[],
    doc: "DiskMon (Windows)",
    columns: "number, time (s), duration (s), disk, Read or Write, first sector (512 B), sectors",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: true,
    units: Some(Diskmon::UNITS),
    example: b"0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\n1\t0.016375\t0.00012398\t0\tRead\t108745397\t8\n",
    detect: |sample| looks_like(Diskmon, sample),
    decode: |input, reading| Text::boxed(input, Diskmon, reading.given),
};

struct Diskmon;

impl LineFormat for Diskmon {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::S);

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        columns.number("number")?;
        let time_ns = columns.time("time (s)", units.time)?;
        columns.field("duration")?;
        let device = columns.number("disk")?;
        let kind = operation(columns.field("operation")?, READ_OR_WRITE, "Read or Write")?;
        let sector = columns.number("first sector")?;
        let sectors = columns.number("sectors")?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("first sector", sector), ("sectors", sectors), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "sectors")
    }
}
