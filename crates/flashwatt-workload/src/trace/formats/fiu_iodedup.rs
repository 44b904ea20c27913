//! The FIU traces (Koller, Rangaswami: *I/O Deduplication*, FAST 2010) as their authors give them out.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, operation, range};
use super::super::{Format, LogPoint, Record, believed};
use super::linux::{device_number, process};
use super::spc::R_OR_W;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "fiu-iodedup",
    aliases: &["fiu-original"],
    doc: "FIU traces, the authors' own format",
    columns: "time (ns), process id, process, first sector (512 B), sectors, operation (R or W), major, minor, content hash",
    events: &[],
    logged: &[LogPoint::Submission],
    tried: false,
    units: Some(FiuIodedup::UNITS),
    example: b"89967404415337 4892 syslogd 904265560 8 W 6 0 531e779039be\n89967404480000 4892 cron 283193184 8 R 6 0 56f11b71\n",
    detect: |sample| looks_like(FiuIodedup, sample),
    decode: |input, reading| Text::boxed(input, FiuIodedup, reading.given),
};

struct FiuIodedup;

impl LineFormat for FiuIodedup {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::NS);

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        let time_ns = columns.whole_time("time (ns)", units.time)?;
        let process = process(columns.number("process id")?)?;
        columns.field("process")?;
        let sector = columns.number("first sector")?;
        let sectors = columns.number("sectors")?;
        let kind = operation(columns.field("operation")?, R_OR_W, "R or W")?;
        let device = device_number(columns.field("major")?, columns.field("minor")?)?;
        columns.field("content hash")?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("first sector", sector), ("sectors", sectors), units)?;
        believed(Record { process, ..Record::new(time_ns, device, offset_bytes, bytes, kind) }, "sectors")
    }
}
