//! The FIU traces (Koller, Rangaswami: *I/O Deduplication*, FAST 2010) as they go about for SSDsim: its five columns and
//! a sixth with the hashes of the content, which are not used.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, operation, range};
use super::super::{Format, LogPoint, Record, believed};
use super::ssdsim::ONE_IS_READ;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "fiu",
    aliases: &[],
    doc: "FIU traces, the variant for SSDsim",
    columns: "time (ns), device, first sector (512 B), sectors, operation (1 = read, 0 = write), content hashes",
    events: &[],
    logged: &[LogPoint::Submission],
    tried: true,
    units: Some(Fiu::UNITS),
    example: b"0 0 160806224 8 0 3f4fc2833a17\n1851 0 73397240 8 1 2e568877a8c6\n",
    detect: |sample| looks_like(Fiu, sample),
    decode: |input, reading| Text::boxed(input, Fiu, reading.given),
};

struct Fiu;

impl LineFormat for Fiu {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::NS);

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        let time_ns = columns.whole_time("time (ns)", units.time)?;
        let device = columns.number("device")?;
        let sector = columns.number("first sector")?;
        let sectors = columns.number("sectors")?;
        let kind = operation(columns.field("operation")?, ONE_IS_READ, "1 (read) or 0 (write)")?;
        columns.field("content hashes")?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("first sector", sector), ("sectors", sectors), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "sectors")
    }
}
