//! MSR Cambridge's format (Narayanan, Donnelly, Rowstron: *Write Off-Loading*, FAST 2008), from Windows' event tracing.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::header::{Column, Header};
use super::super::read::text::{
    Bad, Commas, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, operation, range,
};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "msr",
    aliases: &["msr-cambridge"],
    doc: "MSR Cambridge CSV",
    columns: "time (FILETIME, 100 ns), host, disk, Read or Write, offset (B), bytes, response time (100 ns)",
    events: &[],
    logged: &[LogPoint::Unknown],
    tried: true,
    units: Some(Msr::UNITS),
    example:
        b"128166372003061629,web,0,Read,7014609920,24576,41286\n128166372016382155,web,0,Write,2517917696,4096,704\n",
    detect: |sample| looks_like(Msr::default(), sample),
    decode: |input, reading| Text::boxed(input, Msr::default(), reading.given),
};

/// Windows' words.
pub const READ_OR_WRITE: &Operations = &[(b"Read", RequestKind::Read), (b"Write", RequestKind::Write)];

/// More host names than this in one file are no host names.
const HOSTS_MAX: usize = 4096;

/// A device is a disk of a host: the hosts that were met so far, in order. A file of one host has device = disk number.
#[derive(Default)]
struct Msr {
    hosts: Vec<Vec<u8>>,
    last: usize,
}

impl LineFormat for Msr {
    const UNITS: ColumnUnits = ColumnUnits::bytes(Tick::FILETIME);
    const HEADER: Option<&'static Header> = Some(&Header {
        columns: &[
            Column::Time(&["timestamp", "time"]),
            Column::Plain(&["hostname", "host"]),
            Column::Plain(&["disknumber", "disk_number", "disk"]),
            Column::Plain(&["type", "op", "operation"]),
            Column::Offset(&["offset"]),
            Column::Size(&["size", "length"]),
            Column::Plain(&["responsetime", "response_time", "latency"]),
        ],
        optional: 0,
        expected: "`Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime` in this order, or no line of names",
    });

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        let time_ns = columns.time("time (FILETIME)", units.time)?;
        let host = columns.field("host")?;
        let disk = columns.number("disk")?;
        let kind = operation(columns.field("operation")?, READ_OR_WRITE, "Read or Write")?;
        let offset = columns.number("offset")?;
        let size = columns.number("bytes")?;
        columns.field("response time")?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("offset", offset), ("bytes", size), units)?;
        let device = self.device(host, disk)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "bytes")
    }
}

impl Msr {
    #[inline]
    fn device(&mut self, host: &[u8], disk: u64) -> Result<u64, Box<Bad>> {
        if disk > u64::from(u32::MAX) {
            return Err(Bad::field("disk", "number too large", disk.to_string().as_bytes(), "a number below 2^32"));
        }
        if self.hosts.get(self.last).is_none_or(|known| known != host) {
            self.last = self.host(host)?;
        }
        Ok((self.last as u64) << 32 | disk)
    }

    #[cold]
    fn host(&mut self, host: &[u8]) -> Result<usize, Box<Bad>> {
        if let Some(index) = self.hosts.iter().position(|known| known == host) {
            return Ok(index);
        }
        if self.hosts.len() == HOSTS_MAX {
            return Err(Bad::field("host", "too many hosts in one file", host, "at most 4096"));
        }
        self.hosts.push(host.to_vec());
        Ok(self.hosts.len() - 1)
    }
}
