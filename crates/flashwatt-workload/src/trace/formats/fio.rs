//! fio's I/O logs (`write_iolog`), versions 2 and 3: what fio did to its files. Each file is a device, numbered in the
//! order in which the log adds them. Version 3 has a time in each line. In version 2 a `wait` line names a time: fio (3.33, `iolog.c`,
//! `read_iolog_get`) waits until that number of milliseconds after its start, where its manual says microseconds after the last `wait`.
//!
//! fio opens the log for appending and writes the first line anew for each job (`iolog.c`, `init_iolog_write`), so a log of
//! several jobs has several: there the clock of version 2 starts again.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, number, range};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "fio",
    aliases: &["fio-iolog", "iolog"],
    doc: "fio I/O log, versions 2 and 3",
    columns: "[version 3: time (µs)], file, action (add, open, close, wait, read, write, trim, sync, datasync), offset (B; of a wait in version 2: time in ms from the start), bytes",
    events: &[],
    logged: &[LogPoint::Submission],
    tried: true,
    units: Some(Fio::UNITS),
    example: b"fio version 3 iolog\n2 /dev/sdb add\n872 /dev/sdb open\n878 /dev/sdb write 0 16384\n\
               900 /dev/sdb read 4096 4096\n950 /dev/sdb datasync 0 0\n990 /dev/sdb trim 8192 4096\n1000 /dev/sdb close\n",
    detect: |sample| sample.starts_with(b"fio version ") && looks_like(Fio::default(), sample),
    decode: |input, reading| {
        let wait = reading.given.time.map_or(Tick::MS, Tick::of);
        Text::boxed(input, Fio { wait, ..Fio::default() }, reading.given)
    },
};

/// A log of more files than this is damaged.
const FILES_MAX: usize = 4096;

struct Fio {
    version: Option<u8>,
    files: Vec<Vec<u8>>,
    now_ns: u64,
    /// What a `wait` of version 2 counts.
    wait: Tick,
}

impl Default for Fio {
    fn default() -> Self {
        Fio { version: None, files: Vec::new(), now_ns: 0, wait: Tick::MS }
    }
}

impl LineFormat for Fio {
    const UNITS: ColumnUnits = ColumnUnits::bytes(Tick::US);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let Some(version) = self.version.filter(|_| !line.starts_with(b"fio version ")) else {
            self.version = Some(header(line)?);
            self.now_ns = 0;
            return Ok(TextLine::Header);
        };
        let mut columns = Blanks::of(line);
        if version == 3 {
            self.now_ns = columns.time("time (µs)", units.time)?;
        }
        let file = columns.field("file")?;
        let action = columns.field("action")?;
        match action {
            b"add" => self.add(file)?,
            b"open" | b"close" => {}
            b"wait" => self.wait(&mut columns)?,
            _ => return self.request(file, action, &mut columns, units),
        }
        columns.end()?;
        Ok(TextLine::Other)
    }
}

impl Fio {
    fn add(&mut self, file: &[u8]) -> Result<(), Box<Bad>> {
        if self.files.len() == FILES_MAX {
            return Err(Bad::field("file", "too many files in one log", file, "at most 4096"));
        }
        if !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_vec());
        }
        Ok(())
    }

    /// `file wait time`, with a length of no meaning behind it in some versions of fio. A time that has passed is no wait.
    fn wait(&mut self, columns: &mut Blanks<'_>) -> Result<(), Box<Bad>> {
        let wait = columns.field("offset")?;
        let Some(until) = number(wait, "offset")?.checked_mul(self.wait.ns) else {
            return Err(Bad::field("offset", "time too large", wait, "a time below 2^64 ns (584 years)"));
        };
        if self.version == Some(2) {
            self.now_ns = self.now_ns.max(until);
        }
        if let Some(length) = columns.next() {
            number(length, "bytes")?;
        }
        Ok(())
    }

    fn request(
        &mut self,
        file: &[u8],
        action: &[u8],
        columns: &mut Blanks<'_>,
        units: &ColumnUnits,
    ) -> Result<TextLine, Box<Bad>> {
        let kind = match action {
            b"read" => RequestKind::Read,
            b"write" => RequestKind::Write,
            b"trim" => RequestKind::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => RequestKind::Flush,
            other => {
                return Err(Bad::field("action", "unknown operation", other, "read, write, trim, sync or datasync"));
            }
        };
        let Some(device) = self.files.iter().position(|known| known == file) else {
            return Err(Bad::field("file", "a file that was not added", file, "a file with an add line before"));
        };
        let (time_ns, device) = (self.now_ns, device as u64);
        if kind == RequestKind::Flush {
            // What stands behind a sync has no meaning, and is not always there.
            return Ok(TextLine::Request(Record::flush(time_ns, device)));
        }
        let (offset, size) = (columns.number("offset")?, columns.number("bytes")?);
        columns.end()?;
        let (offset_bytes, bytes) = range(("offset", offset), ("bytes", size), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "bytes")
    }
}

fn header(line: &[u8]) -> Result<u8, Box<Bad>> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => Ok(2),
        b"fio version 3 iolog" => Ok(3),
        other => Err(Bad::field(
            "header",
            "not a version that is known",
            other,
            "fio version 2 iolog or fio version 3 iolog",
        )),
    }
}
