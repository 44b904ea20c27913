//! The text that `btrecord --verbose` of Linux's blktrace tools writes beside the file for `btreplay`: requests in bunches, each
//! bunch with one time.
//!
//! Source: `btreplay/btrecord.c` of blktrace, functions `bunch_output_hdr` and `bunch_output_pkts`: between two lines of
//! dashes the time since the first request (seconds, nine digits) and the number of requests; then, for each of these, 0 for a
//! write or 1 for a read (`btrecord.h`), the first sector and the sectors.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, operation, range};
use super::super::{Format, LogPoint, Record, believed};
use super::ssdsim::ONE_IS_READ;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "btrecord",
    aliases: &["btreplay"],
    doc: "btrecord text (Linux block traces), one CPU's file",
    columns: "bunch: time (s), requests; request: operation (1 = read, 0 = write), first sector (512 B), sectors",
    events: &[],
    logged: &[LogPoint::Submission],
    tried: true,
    units: Some(Btrecord::UNITS),
    example:
        b"------------------\n   0.000000000   1\n------------------\n\t1 4938888\t       256\n------------------\n   \
               0.004500120   2\n------------------\n\t0     2048\t         8\n\t0     2056\t        16\n",
    detect: |sample| sample.starts_with(b"---") && looks_like(Btrecord::default(), sample),
    decode: |input, reading| Text::boxed(input, Btrecord::default(), reading.given),
};

#[derive(Default)]
struct Btrecord {
    /// The time of the bunch; `None` before the first.
    time_ns: Option<u64>,
}

impl LineFormat for Btrecord {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::S);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        if line.iter().all(|&c| c == b'-') {
            return Ok(TextLine::Header);
        }
        if Blanks::of(line).next().is_some_and(|first| first.contains(&b'.')) {
            return self.bunch(line, units);
        }
        let mut columns = Blanks::of(line);
        let kind = operation(columns.field("operation")?, ONE_IS_READ, "1 (read) or 0 (write)")?;
        let sector = columns.number("first sector")?;
        let sectors = columns.number("sectors")?;
        columns.end()?;
        let Some(time_ns) = self.time_ns else {
            return Err(Bad::field(
                "operation",
                "a request before the time of its bunch",
                line,
                "a time and a count first",
            ));
        };
        let (offset_bytes, bytes) = range(("first sector", sector), ("sectors", sectors), units)?;
        believed(Record::new(time_ns, 0, offset_bytes, bytes, kind), "sectors")
    }
}

impl Btrecord {
    fn bunch(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        let time_ns = columns.time("time (s)", units.time)?;
        columns.number("requests")?;
        columns.end()?;
        self.time_ns = Some(time_ns);
        Ok(TextLine::Header)
    }
}
