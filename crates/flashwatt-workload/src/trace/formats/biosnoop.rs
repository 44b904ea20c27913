//! What `biosnoop` of bcc prints: a line for each request that completed, in columns under a line of names.
//!
//! The tool of bpftrace with this name prints neither sectors nor bytes: there is nothing to replay in it.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, number, range};
use super::super::{Format, LogPoint, Process, Record, believed};
use super::linux::rwbs;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "biosnoop",
    aliases: &[],
    doc: "biosnoop of bcc (Linux)",
    columns: "time (s), process name, process id, disk, operation (R, W or RWBS), first sector (512 B), bytes, [time in queue (ms)], latency (ms)",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: true,
    units: Some(Biosnoop::UNITS),
    example: b"TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n\
               0.000004    supervise      1950   xvda1   W 13092560   4096       0.74\n\
               0.000178    a shell        1951   xvdb    R 13092432   8192       0.61\n",
    detect: |sample| looks_like(Biosnoop::default(), sample),
    decode: |input, reading| Text::boxed(input, Biosnoop::default(), reading.given),
};

/// A log of more disks than this is damaged.
const DISKS_MAX: usize = 4096;

#[derive(Default)]
struct Biosnoop {
    disks: Vec<Vec<u8>>,
    /// Columns behind the bytes: `LAT(ms)`, or `QUE(ms)` and `LAT(ms)`.
    behind: Option<usize>,
}

impl LineFormat for Biosnoop {
    const UNITS: ColumnUnits = ColumnUnits::sectors_and_bytes(Tick::S);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        if line.starts_with(b"TIME") {
            return self.header(line);
        }
        let Some(behind) = self.behind else {
            return Err(Bad::field(
                "header",
                "no line of names before the first record",
                line,
                "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
            ));
        };
        let mut columns = Blanks::of(line);
        let time_ns = columns.time("time (s)", units.time)?;
        // The name of a process may have blanks in it: the other columns are counted from the end.
        let rest = std::iter::from_fn(|| columns.next()).collect::<Vec<_>>();
        let Some([pid, disk, letters, sector, bytes, ..]) = rest.len().checked_sub(5 + behind).map(|at| &rest[at..])
        else {
            return Err(Bad::field("columns", "missing column", line, "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)"));
        };
        let process = Process::new(number(pid, "process id")?).unwrap_or(Process::NONE);
        let flags = rwbs(letters)?;
        let (sector, size) = (number(sector, "first sector")?, number(bytes, "bytes")?);
        let device = self.disk(disk)?;
        let Some(kind) = flags.kind.filter(|_| size > 0) else { return Ok(TextLine::Other) };
        let (offset_bytes, bytes) = range(("first sector", sector), ("bytes", size), units)?;
        believed(Record { process, fua: flags.fua, ..Record::new(time_ns, device, offset_bytes, bytes, kind) }, "bytes")
    }
}

impl Biosnoop {
    fn header(&mut self, line: &[u8]) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        let names = std::iter::from_fn(|| columns.next()).collect::<Vec<_>>();
        let bytes = names.iter().position(|name| *name == b"BYTES");
        let known = names.first() == Some(&&b"TIME(s)"[..])
            && names.get(1..6) == Some(&[&b"COMM"[..], b"PID", b"DISK", b"T", b"SECTOR"]);
        match bytes.filter(|&at| known && at == 6) {
            Some(at) => {
                self.behind = Some(names.len() - at - 1);
                Ok(TextLine::Header)
            }
            None => Err(Bad::field(
                "header",
                "other column names than this format's",
                line,
                "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
            )),
        }
    }

    /// Disks are numbered in the order in which they are met.
    fn disk(&mut self, name: &[u8]) -> Result<u64, Box<Bad>> {
        if let Some(at) = self.disks.iter().position(|known| known == name) {
            return Ok(at as u64);
        }
        if self.disks.len() == DISKS_MAX {
            return Err(Bad::field("disk", "too many disks in one log", name, "at most 4096"));
        }
        self.disks.push(name.to_vec());
        Ok(self.disks.len() as u64 - 1)
    }
}
