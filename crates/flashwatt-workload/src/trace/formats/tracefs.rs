//! Block events as Linux's tracefs prints them (`/sys/kernel/tracing/trace`, `trace-cmd report` and the like).
//!
//! A request is one `block_rq_issue` event unless another event is chosen; everything else in the log is passed over.

use memchr::memmem;

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{Bad, Blanks, LineColumns, LineFormat, Text, TextLine, decimal, looks_like, number};
use super::super::{Format, LogPoint, Process};
use super::linux::{device, request, rwbs, sectors_of};

/// The registry line.
pub const FORMAT: Format = Format {
    name: "tracefs",
    aliases: &["ftrace"],
    doc: "tracefs block events (Linux)",
    columns: "process-pid, [CPU], flags, time (s):, event:, device (major,minor), RWBS, bytes (block_rq_issue only), \
              (command), first sector (512 B), +, sectors, ...",
    events: EVENTS,
    logged: &[LogPoint::Dispatch, LogPoint::Submission, LogPoint::Dispatch],
    tried: true,
    units: Some(Tracefs::UNITS),
    example: b"# tracer: nop\n    fio-5670    [000] .....  1575.923874: block_bio_queue: 7,0 RM 4632 + 8 [fio]\n    \
               fio-5670    [000] .N...  1575.926981: block_rq_issue: 7,0 RM 4096 () 4632 + 8 be,0,4 [fio]\n    \
               kworker/0:1H-44      [000] .....  1576.172179: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [kworker/0:1H]\n    \
               fio-5670    [000] .N...  1576.926981: block_rq_issue: 7,0 WS 8192 () 16 + 16 be,0,4 [fio]\n    \
               ksoftirqd/1-22      [001] ..s..  1576.928832: block_rq_complete: 7,0 RM () 4632 + 8 be,0,4 [0]\n",
    detect: |sample| {
        memmem::find(sample, b": block_").is_some()
            && (0..EVENTS.len()).any(|event| looks_like(Tracefs::new(event), sample))
    },
    decode: |input, reading| Text::boxed(input, Tracefs::new(reading.event), reading.given),
};

/// Issued to the driver, queued, completed.
const EVENTS: &[&str] = &["block_rq_issue", "block_bio_queue", "block_rq_complete"];

struct Tracefs {
    /// `: name: `, as it stands between the time and the event's own columns.
    marker: Vec<u8>,
    has_bytes: bool,
}

impl Tracefs {
    fn new(event: usize) -> Self {
        let event = EVENTS.get(event).unwrap_or(&"block_rq_issue");
        Tracefs { marker: format!(": {event}: ").into_bytes(), has_bytes: *event == "block_rq_issue" }
    }
}

impl LineFormat for Tracefs {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::S);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let Some(at) = memmem::find(line, &self.marker) else {
            return other_event(line);
        };
        // The process's name, which comes first, may hold blanks: the time is found from its end.
        let before = &line[..at];
        let time = before.iter().rposition(|&c| c == b' ' || c == b'\t').map_or(before, |blank| &before[blank + 1..]);
        let time_ns = decimal(time, units.time, "time (s)")?;
        let mut columns = Blanks::of(&line[at + self.marker.len()..]);
        let device = device(columns.field("device")?)?;
        let flags = rwbs(columns.field("RWBS")?)?;
        let bytes = if self.has_bytes { Some(columns.number("bytes")?) } else { None };
        pass_command(&mut columns)?;
        let sector = columns.number("sector")?;
        match columns.field("+")? {
            b"+" => {}
            other => return Err(Bad::field("+", "not a range", other, "sector + sectors")),
        }
        let sectors = columns.number("sectors")?;
        // A packet command has bytes only; a request has sectors as well.
        if sectors == 0 && bytes.is_some_and(|bytes| sectors_of(bytes) > 0) {
            return Ok(TextLine::Other);
        }
        request(time_ns, (device, process(before)), flags, (sector, sectors), units)
    }
}

/// The process before an event's time: `name-pid [CPU] flags`, with `(group)` before the CPU on request. The name may hold
/// blanks and brackets. Other forms name no process.
fn process(before: &[u8]) -> Process {
    let Some(cpu) = memmem::rfind(before, b" [") else { return Process::NONE };
    let mut name = before[..cpu].trim_ascii_end();
    if name.ends_with(b")") {
        let group = name.iter().rposition(|&c| c == b'(').unwrap_or_default();
        name = name[..group].trim_ascii_end();
    }
    let dash = name.iter().rposition(|&c| c == b'-').map_or(name.len(), |at| at + 1);
    number(&name[dash..], "process id").ok().and_then(Process::new).unwrap_or(Process::NONE)
}

/// Every event has a name between colons; what has none is a note of the tracer (lost events) or damage.
fn other_event(line: &[u8]) -> Result<TextLine, Box<Bad>> {
    if memmem::find(line, b": ").is_some() || memmem::find(line, b"LOST").is_some() {
        return Ok(TextLine::Other);
    }
    Err(Bad::field("event", "not an event", line, "process-pid [CPU] flags time: event: ..."))
}

/// The command in parentheses, empty or not, if there is one.
fn pass_command(columns: &mut Blanks<'_>) -> Result<(), Box<Bad>> {
    if !columns.rest().trim_ascii_start().starts_with(b"(") {
        return Ok(());
    }
    loop {
        if columns.field("command")?.ends_with(b")") {
            return Ok(());
        }
    }
}
