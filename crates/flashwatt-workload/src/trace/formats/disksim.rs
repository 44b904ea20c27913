//! DiskSim's default ASCII format: `time device block blocks flags`.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, range};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "disksim",
    aliases: &[],
    doc: "DiskSim ASCII (MSNFS and other traces converted for it)",
    columns: "time (ms), device, first sector (512 B), sectors, flags (hexadecimal, bit 0 set = read)",
    events: &[],
    logged: &[LogPoint::Unknown],
    tried: true,
    units: Some(Disksim::UNITS),
    example: b"0.000 5 174224064 16 1\n0.221 5 162947904 16 0\n2.516000 5 176275232 640 1\n",
    // SSDsim's lines look the same but for their times, which are whole.
    detect: |sample| sample.contains(&b'.') && looks_like(Disksim, sample),
    decode: |input, reading| Text::boxed(input, Disksim, reading.given),
};

struct Disksim;

impl LineFormat for Disksim {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::MS);

    #[inline]
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Blanks::of(line);
        let time_ns = columns.time("time (ms)", units.time)?;
        let device = columns.number("device")?;
        let sector = columns.number("first sector")?;
        let sectors = columns.number("sectors")?;
        let kind = flags(columns.field("flags")?)?;
        columns.end()?;
        let (offset_bytes, bytes) = range(("first sector", sector), ("sectors", sectors), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "sectors")
    }
}

/// Only bit 0 is about the request; the others tell DiskSim's drivers how urgent it is.
#[inline(always)]
fn flags(field: &[u8]) -> Result<RequestKind, Box<Bad>> {
    match field {
        b"1" => Ok(RequestKind::Read),
        b"0" => Ok(RequestKind::Write),
        _ => more_flags(field),
    }
}

#[cold]
fn more_flags(field: &[u8]) -> Result<RequestKind, Box<Bad>> {
    let digits = std::str::from_utf8(field).ok().filter(|text| !text.starts_with('+'));
    match digits.and_then(|text| u32::from_str_radix(text, 16).ok()) {
        Some(flags) if flags & 1 == 1 => Ok(RequestKind::Read),
        Some(_) => Ok(RequestKind::Write),
        None => Err(Bad::field("flags", "unknown operation", field, "hexadecimal flags: 1 (read) or 0 (write)")),
    }
}
