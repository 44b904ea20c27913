//! The Systor '17 traces of a virtual desktop infrastructure (Lee et al.: *Understanding Storage Traffic Characteristics
//! on Enterprise Virtual Desktop Infrastructure*, SYSTOR 2017).

use super::csv;
use super::spc::R_OR_W;
use super::text::{
    Bad, Columns, Commas, Entry, Headed, LineFormat, NS_PER_S, Text, bytes_range, looks_like, operation,
};
use super::{Format, Record, believed};

/// The registry line.
pub const FORMAT: Format = Format {
    name: "systor17",
    aliases: &["systor"],
    doc: "Systor '17 virtual desktop traces",
    columns: "time (s), response time (s), operation (R or W), LUN, offset (B), bytes",
    events: &[],
    tried: false,
    example: b"Timestamp,Response,IOType,LUN,Offset,Size\n1455592140.05907,0.000127,R,0,102400,4096\n\
               1455592140.06100,,W,1,204800,8192\n",
    // A CSV line with the FUA column has columns of the same kinds, but its last one is 0 or 1: no size of these traces.
    detect: |sample| looks_like(Headed::<Systor>::default(), sample) && !csv::detect(sample),
    decode: |input, _| Text::boxed(input, Headed::<Systor>::default()),
};

#[derive(Default)]
struct Systor;

impl LineFormat for Systor {
    const NAMES: &'static [&'static [&'static str]] =
        &[&["timestamp"], &["response", "response_time"], &["iotype"], &["lun"], &["offset"], &["size"]];
    const HEADER: &'static str = "`Timestamp,Response,IOType,LUN,Offset,Size`, or no line of names";

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Entry, Box<Bad>> {
        let mut columns = Commas::of(line);
        let time_ns = columns.time("time (s)", NS_PER_S)?;
        columns.field("response time")?;
        let kind = operation(columns.field("operation")?, R_OR_W, "R or W")?;
        let device = columns.number("LUN")?;
        let offset = columns.number("offset")?;
        let size = columns.number("bytes")?;
        columns.end()?;
        let (offset_bytes, bytes) = bytes_range(("offset", offset), ("bytes", size))?;
        believed(Record { time_ns, device, offset_bytes, bytes, kind, fua: false }, "bytes")
    }
}
