//! BIOtracer's logs of a phone's eMMC (Zhou, Pan, Wang, Xie: *I/O Characteristics of Smartphone Applications and Their
//! Implications for eMMC Design*, IISWC 2015).
//!
//! Source: `READme_instruction_BIOTracer.txt`, which comes with the traces, names the columns. It says that the driver adds a
//! sector to some sizes, which are multiples of eight otherwise: what is over a multiple of eight sectors is left out here. It does
//! not name the unit of the times, which the kernel's `getnstimeofday` gives and which are written with a fraction: they are
//! taken as seconds, and `time_unit` says otherwise.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, range};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "biotracer",
    aliases: &["nexus"],
    doc: "BIOtracer (phones' eMMC)",
    columns: "first sector (512 B), sectors, bytes, type (bit 0 set = write, bit 2 set = did not wait), times (s) of the request: made, \
              fetched, given to the hardware, finished",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: false,
    units: Some(Biotracer::UNITS),
    example: b"5767168\t\t8\t\t4096\t\t5\t\t12.250417\t\t12.250431\t\t12.250460\t\t12.251873\n\
               1884176\t\t64\t\t32768\t\t0\t\t12.263020\t\t12.263035\t\t12.263049\t\t12.263998\n",
    detect: |sample| looks_like(Biotracer, sample),
    decode: |input, reading| Text::boxed(input, Biotracer, reading.given),
};

/// Sectors of a page, of which sizes are multiples.
const PAGE_SECTORS: u64 = 8;
/// The type has three bits.
const TYPE_MAX: u64 = 7;

struct Biotracer;

impl LineFormat for Biotracer {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::S);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        let sector = columns.number("first sector")?;
        let mut sectors = columns.number("sectors")?;
        columns.number("bytes")?;
        let flags = columns.field("type")?;
        let time_ns = columns.time("time (s)", units.time)?;
        for column in ["time of fetching", "time of submission", "time of the end"] {
            columns.time(column, units.time)?;
        }
        columns.end()?;
        let kind = match super::super::read::text::number(flags, "type")? {
            bits if bits > TYPE_MAX => return Err(Bad::field("type", "unknown operation", flags, "0 to 7")),
            bits if bits & 1 == 1 => RequestKind::Write,
            _ => RequestKind::Read,
        };
        if units.size_bytes == SECTOR_BYTES && sectors > PAGE_SECTORS {
            sectors -= sectors % PAGE_SECTORS;
        }
        let (offset_bytes, bytes) = range(("first sector", sector), ("sectors", sectors), units)?;
        believed(Record::new(time_ns, 0, offset_bytes, bytes, kind), "sectors")
    }
}
