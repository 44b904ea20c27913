//! Plain CSV, the format to convert to when a trace comes in none of the others.

use super::text::{
    Bad, Columns, Commas, Entry, Headed, LineFormat, NS_PER_US, Operations, Text, bytes_range, looks_like, operation,
};
use super::{Format, Record, believed};
use crate::host::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "csv",
    aliases: &[],
    doc: "plain CSV, with or without a line of column names",
    columns: "time (µs, may have a fraction), device, operation (R, W, T = trim, F = flush), offset (B), bytes",
    events: &[],
    tried: true,
    example: b"time_us,device,op,offset,bytes\n0.000,0,W,155429888,4096\n52429.125,0,R,28465152,4096\n91750,1,F,0,0\n",
    detect: |sample| looks_like(Headed::<Csv>::default(), sample),
    decode: |input, _| Text::boxed(input, Headed::<Csv>::default()),
};

const LETTERS: &Operations = &[
    (b"R", RequestKind::Read),
    (b"W", RequestKind::Write),
    (b"T", RequestKind::Trim),
    (b"F", RequestKind::Flush),
    (b"r", RequestKind::Read),
    (b"w", RequestKind::Write),
    (b"t", RequestKind::Trim),
    (b"f", RequestKind::Flush),
];

#[derive(Default)]
struct Csv;

impl LineFormat for Csv {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Entry, Box<Bad>> {
        let mut columns = Commas::of(line);
        let time_ns = columns.time("time (µs)", NS_PER_US)?;
        let device = columns.number("device")?;
        let kind = operation(columns.field("operation")?, LETTERS, "R, W, T or F")?;
        let offset = columns.number("offset")?;
        let size = columns.number("bytes")?;
        columns.end()?;
        if kind == RequestKind::Flush {
            return Ok(Entry::Request(Record::flush(time_ns, device)));
        }
        let (offset_bytes, bytes) = bytes_range(("offset", offset), ("bytes", size))?;
        believed(Record { time_ns, device, offset_bytes, bytes, kind, fua: false }, "bytes")
    }
}
