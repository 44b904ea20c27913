//! The text that `blkparse` makes of Linux's block traces, in its default form.
//!
//! A request is one `D` (issued to the driver) event unless another event is chosen. The summary that `blkparse` appends
//! is not read.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, looks_like, number};
use super::super::{Format, LogPoint};
use super::linux::{device, process, request, rwbs};

/// The registry line.
pub const FORMAT: Format = Format {
    name: "blkparse",
    aliases: &[],
    doc: "blkparse text (Linux block traces)",
    columns: "device (major,minor), CPU, sequence, time (s), process id, event, RWBS, first sector (512 B), +, sectors, [process]",
    events: EVENTS,
    logged: &[LogPoint::Dispatch, LogPoint::Submission, LogPoint::Dispatch],
    tried: true,
    units: Some(Blkparse::UNITS),
    example: b"  8,16   3        4     0.000011950  3645  I   R 4938888 + 256 [java]\n  \
               8,16   3        5     0.000026421  3645  D   R 4938888 + 256 [java]\n  \
               8,16   3        6     0.000030000  3645  D  FN [kworker/3:1H]\n  \
               8,16   3        7     0.000031000  3645  D FWS 8 + 8 [jbd2/sdb1 8]\n  \
               8,16   3        8     0.000032000  3645  U   N [java] 1\n  \
               8,16   3        9     0.001795683  3557  C   R 4938888 + 256 [0]\n\
               CPU0 (8,16):\n Reads Queued:           0,        0KiB\n",
    detect: |sample| (0..EVENTS.len()).any(|event| looks_like(Blkparse::new(event, false), sample)),
    decode: |input, reading| Text::boxed(input, Blkparse::new(reading.event, reading.cuts_gaps), reading.given),
};

/// Issued to the driver, queued, completed.
const EVENTS: &[&str] = &["D", "Q", "C"];

/// Times count from the trace's start. One that jumps ahead by more than this is not from this clock: `blktrace` leaves
/// a CPU's first events with the time of day when it missed that CPU's start.
const CLOCK_JUMP_NS_MAX: u64 = 1_000_000 * Tick::S.ns;

struct Blkparse {
    event: &'static [u8],
    /// Time of the last good request; `None` before the first.
    last_ns: Option<u64>,
    /// Whether a jump of the clock is cut later on.
    cuts_gaps: bool,
}

impl Blkparse {
    fn new(event: usize, cuts_gaps: bool) -> Self {
        Blkparse { event: EVENTS.get(event).unwrap_or(&"D").as_bytes(), last_ns: None, cuts_gaps }
    }

    fn check_clock(&mut self, time: &[u8], time_ns: u64) -> Result<(), Box<Bad>> {
        let last_ns = *self.last_ns.get_or_insert(time_ns);
        if time_ns.saturating_sub(last_ns) > CLOCK_JUMP_NS_MAX && !self.cuts_gaps {
            let expected = "at most 10^6 s after the request before (--max-gap 10 cuts the gap if the clock was set)";
            return Err(Bad::field("time (s)", "a jump of the clock", time, expected));
        }
        self.last_ns = Some(last_ns.max(time_ns));
        Ok(())
    }
}

impl LineFormat for Blkparse {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::S);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        if is_summary(line) {
            return Ok(TextLine::End);
        }
        let mut columns = Blanks::of(line);
        let device = device(columns.field("device")?)?;
        columns.number("CPU")?;
        columns.number("sequence")?;
        let time = columns.field("time (s)")?;
        let time_ns = super::super::read::text::decimal(time, units.time, "time (s)")?;
        let process = process(columns.number("process id")?)?;
        let event = columns.field("event")?;
        if !is_event(event) {
            return Err(Bad::field("event", "unknown event", event, "one or two letters"));
        }
        if event != self.event {
            return Ok(TextLine::Other);
        }
        let flags = rwbs(columns.field("RWBS")?)?;
        let Some((sector, sectors)) = range(&mut columns)? else {
            return Ok(TextLine::Other);
        };
        self.check_clock(time, time_ns)?;
        request(time_ns, (device, process), flags, (sector, sectors), units)
    }
}

fn is_event(field: &[u8]) -> bool {
    matches!(field.len(), 1 | 2) && field.iter().all(u8::is_ascii_alphabetic)
}

/// What stands behind the events: `CPU0 (8,16):` or `Total (8,16):`; with `-s` a table of each program before that, which begins with
/// its name and process, `kworker/0:1H (179)`; with `-q` only the names of the files, `Input file sda.blktrace.0 added`.
fn is_summary(line: &[u8]) -> bool {
    if line.first().is_none_or(|&c| c == b' ' || c.is_ascii_digit()) && !line.ends_with(b")") {
        return false;
    }
    let file = line.starts_with(b"Input file ") && line.ends_with(b" added");
    let device = line.ends_with(b"):") && (line.starts_with(b"CPU") || line.starts_with(b"Total ("));
    file || device || is_program(line)
}

/// `name (pid)`, where no request ends so: the process of an event stands in brackets.
fn is_program(line: &[u8]) -> bool {
    let Some(inside) = line.strip_suffix(b")") else { return false };
    let pid = inside.iter().rev().take_while(|c| c.is_ascii_digit()).count();
    let before = &inside[..inside.len() - pid];
    // An event begins with a device: digits, a comma, digits.
    let is_event = Blanks::of(line).next().is_some_and(|first| device(first).is_ok());
    pid > 0 && before.ends_with(b" (") && !is_event
}

/// First sector and sectors: `8 + 16 [process]`. Events without data leave them out; `None` for a packet command, whose
/// bytes stand in their place: `36 (12 00 ..) [process]`.
fn range<'a>(columns: &mut Blanks<'a>) -> Result<Option<(u64, u64)>, Box<Bad>> {
    let first = columns.field("sector")?;
    // With -t the time since the event before stands in parentheses: `(15027837473061124057) [process]`, or `(  382780)`.
    if first.starts_with(b"[") || first.starts_with(b"(") {
        return Ok(Some((0, 0)));
    }
    let first = number(first, "sector")?;
    match columns.field("+")? {
        b"+" => Ok(Some((first, columns.number("sectors")?))),
        [b'[', ..] => Ok(Some((first, 0))),
        field @ [b'(', ..] if is_time(field, columns) => Ok(Some((first, 0))),
        [b'(', ..] => Ok(None),
        other => Err(Bad::field("+", "not a range", other, "sector + sectors")),
    }
}

/// Whether a field that begins with a parenthesis is a time, `(382780)` or `(  382780)`, before the process; the bytes of a packet
/// command are pairs of hexadecimal digits, more than one of them.
fn is_time(field: &[u8], columns: &Blanks<'_>) -> bool {
    let text = [&field[1..], columns.rest()].concat();
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
    digits > 2 && text[digits..].starts_with(b")")
}
