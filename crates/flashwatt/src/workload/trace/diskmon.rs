//! What Sysinternals' DiskMon saves.

use super::msr::READ_OR_WRITE;
use super::text::{Bad, Blanks, Columns, Entry, LineFormat, NS_PER_S, Text, looks_like, operation, sectors_range};
use super::{Format, Record, believed};

/// The registry line.
pub const FORMAT: Format = Format {
    name: "diskmon",
    aliases: &[],
    doc: "DiskMon (Windows)",
    columns: "number, time (s), duration (s), disk, Read or Write, first sector (512 B), sectors",
    events: &[],
    tried: true,
    example: b"0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8\n1\t0.016375\t0.00012398\t0\tRead\t108745397\t8\n",
    detect: |sample| looks_like(Diskmon, sample),
    decode: |input, _| Text::boxed(input, Diskmon),
};

struct Diskmon;

impl LineFormat for Diskmon {
    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Entry, Box<Bad>> {
        let mut columns = Blanks::of(line);
        columns.number("number")?;
        let time_ns = columns.time("time (s)", NS_PER_S)?;
        columns.field("duration")?;
        let device = columns.number("disk")?;
        let kind = operation(columns.field("operation")?, READ_OR_WRITE, "Read or Write")?;
        let sector = columns.number("first sector")?;
        let sectors = columns.number("sectors")?;
        columns.end()?;
        let (offset_bytes, bytes) = sectors_range(("first sector", sector), ("sectors", sectors))?;
        believed(Record { time_ns, device, offset_bytes, bytes, kind, fua: false }, "sectors")
    }
}
