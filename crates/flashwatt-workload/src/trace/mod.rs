//! Recorded traces: one file per format, read as a stream, replayed as a [`Workload`](flashwatt_core::connector::Workload).
//!
//! ```text
//! file -> Input (plain, gzip, zstd) -> Decode (one per format) -> Reader (skip, filter, count, sort) --.
//! file -> ...                                                                                        --+-> Traces (merge, window, scale)
//!                                                replay (TraceWorkload) | info | profile | convert  <-'
//! ```
//!
//! What every format has in common:
//!
//! - Empty lines and lines that start with `#` are no records. LF and CR LF both end a line; the last one may lack it.
//! - Numbers are whole and not negative; times are read as integers, exactly, and cut below a nanosecond.
//! - A record with a missing or an extra column, an unknown operation, a number too large or a length of zero is an
//!   error that names line and column, or is left out and counted (`skip_bad`).
//! - Its columns have the units of its definition, or those that the user gives (text formats only).
//! - Records are replayed in the file's order, unless sorting is asked for. Where time goes back, a request arrives together
//!   with the one before it, and that is counted.
//! - Every reading of a file is compared with the first one: a file that changes meanwhile is an error.
//! - Nothing is kept of a record that has been replayed, unless a program asks for it ([`keep`]): memory does not depend on the trace's length. What it touches is
//!   kept as ranges of addresses, if these are made dense.

use std::borrow::Cow;
use std::io;

use flashwatt_base::error::{Error, Fault, Place, nearest};
use flashwatt_base::registry::{Entry, Named};
use flashwatt_core::connector::RequestKind;
use read::{input, text};

mod clock;
mod convert;
mod dense;
mod fit;
mod foreign;
mod formats;
mod kept;
mod layout;
mod log;
mod log_point;
mod logged;
mod pack;
mod passes;
mod read;
mod replay;
mod source;
mod study;
#[cfg(test)]
mod tests;

pub use convert::{Converted, Renumbered, TARGETS, Target, convert};
pub use formats::FORMATS;
pub use formats::binary::Writer as BinaryWriter;
pub use kept::{keep, readings};
pub use log::{TraceLog, is_trace_log};
pub use log_point::LogPoint;
pub use read::column_units::{ColumnUnits, GivenUnits, Tick};
pub use read::input::Input;
pub use read::reader::Step;
pub use read::text::Bad;
pub use read::traces::{Position, Traces};
pub use replay::TraceWorkload;
pub use study::info::{DeviceInfo, TraceInfo, info};
pub use study::profile::{OverTime, PlaceProfile, Profile, Reused, SizeClass, profile};
pub use study::reuse::Curve;
pub(super) use study::reuse::Reuse;

/// What lists say about replaying a trace.
pub(super) const ENTRY: Entry<()> = Entry {
    name: "trace",
    doc: "a recorded trace of any of the formats, at its own times or as fast as the device accepts",
    params: &[],
    build: (),
};

/// One record of a trace, in the units of the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The trace's own time, in nanoseconds.
    pub time_ns: u64,
    /// The trace's own device number.
    pub device: u64,
    /// First byte on that device; 0 for a flush.
    pub offset_bytes: u64,
    /// Length; 0 for a flush only.
    pub bytes: u64,
    /// What is asked.
    pub kind: RequestKind,
    /// Forced unit access.
    pub fua: bool,
    /// Whether somebody waits for it: false for writes of a page cache, where the format tells them apart.
    pub is_sync: bool,
    /// The process that sent the request.
    pub process: Process,
}

/// The number of a process in a trace, or none: not all traces name processes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Process(u32);

impl Process {
    /// No process is named.
    pub const NONE: Process = Process(u32::MAX);

    /// The process with this number; `None` if the number is 2³² − 1 or larger.
    pub fn new(number: u64) -> Option<Self> {
        u32::try_from(number).ok().map(Process).filter(|process| *process != Process::NONE)
    }

    /// Its number, if one is named.
    pub fn number(self) -> Option<u32> {
        (self != Process::NONE).then_some(self.0)
    }
}

impl Record {
    /// A request that somebody waits for, without forced unit access and without a named process.
    #[inline(always)]
    pub fn new(time_ns: u64, device: u64, offset_bytes: u64, bytes: u64, kind: RequestKind) -> Self {
        Record { time_ns, device, offset_bytes, bytes, kind, fua: false, is_sync: true, process: Process::NONE }
    }

    /// A flush of the same time, device and process.
    pub(in crate::trace) fn flush_before(&self) -> Self {
        Record { process: self.process, ..Record::flush(self.time_ns, self.device) }
    }

    /// A flush.
    pub fn flush(time_ns: u64, device: u64) -> Self {
        Record::new(time_ns, device, 0, 0, RequestKind::Flush)
    }
}

/// A device of one of the traces that are read together: ordered by trace, then by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DeviceId {
    /// The trace, counted from 0.
    pub trace: u32,
    /// The trace's number for it.
    pub device: u64,
}

/// A trace format: its registry line.
pub struct Format {
    /// The name in configurations.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line for the user.
    pub doc: &'static str,
    /// Columns with their units.
    pub columns: &'static str,
    /// For a log in which one request leaves several events: those that may stand for it, the usual one first. Another
    /// is chosen by `format:event`.
    pub events: &'static [&'static str],
    /// Where its records are taken: of each event; of the one that there is if there is no choice.
    pub logged: &'static [LogPoint],
    /// Was the decoder tried on a real file?
    pub tried: bool,
    /// What its columns count by its definition; `None` for a binary format.
    pub units: Option<ColumnUnits>,
    /// A few records, for tests and documentation.
    pub example: &'static [u8],
    /// Do these first bytes (whole lines, unless binary) look like this format?
    pub detect: fn(sample: &[u8]) -> bool,
    /// Makes a decoder.
    pub decode: fn(Input, ReadOptions) -> Box<dyn Decode>,
}

/// How a trace is to be read. By default as its format's definition says.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The number of the event that stands for a request; 0 where there is no choice.
    pub event: usize,
    /// What the user says that the columns count. Text formats only.
    pub given: GivenUnits,
    /// Whether longer gaps are cut, so that a jump of the clock is no fault.
    pub cuts_gaps: bool,
}

impl Named for Format {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> Cow<'_, str> {
        let untried = if self.tried { "" } else { " (not tried on a real file)" };
        format!("{}{untried}", self.doc).into()
    }
}

/// What a decoder says instead of a record.
pub enum Halt {
    /// This record is wrong; the next may be right.
    Bad(Box<Bad>),
    /// Nothing is wrong, but much was passed over: ask again.
    Pause,
    /// It cannot go on.
    Stop(Error),
}

/// Takes records from an [`Input`].
pub trait Decode: Send {
    /// The next record; `None` at the end. After [`Halt::Bad`] and [`Halt::Pause`] it can be called again.
    fn next(&mut self) -> Result<Option<Record>, Halt>;

    /// The number of the line (of a binary format: the record) that was read last, from 1.
    fn position(&self) -> u64;

    /// That position and a column of it, for a message.
    fn place(&self, position: u64, column: &str) -> Place;

    /// Records and lines so far that are no requests, such as events of other kinds.
    fn others(&self) -> u64;

    /// What the columns count, once the first record was read; `None` in a binary format.
    fn units(&self) -> Option<ColumnUnits> {
        None
    }

    /// Lines so far that the format begins with: column names, a version. Nobody needs to be told of them.
    fn headers(&self) -> u64 {
        0
    }
}

/// A request if it is believable, see [`text::believable`].
#[inline(always)]
fn believed(record: Record, size_column: &'static str) -> Result<text::TextLine, Box<Bad>> {
    text::believable(record.kind, record.bytes, size_column)?;
    Ok(text::TextLine::Request(record))
}

/// The format of that name (or alias) and, for `format:event`, the number of that event.
pub fn find(name: &str) -> Result<(&'static Format, usize), Box<Fault>> {
    let (name, event) = name.split_once(':').map_or((name, None), |(name, event)| (name, Some(event)));
    let known = |format: &&Format| format.name == name || format.aliases.contains(&name);
    let Some(format) = FORMATS.iter().find(known) else {
        let names = FORMATS.iter().flat_map(|format| std::iter::once(&format.name).chain(format.aliases).copied());
        let fault = Fault::key(KEY, "unknown trace format").found(format!("`{name}`"));
        return Err(Box::new(fault.expected(format!("one of {}", names_of(FORMATS))).nearest(nearest(name, names))));
    };
    let event = event.map_or(Ok(0), |event| find_event(format, event))?;
    Ok((format, event))
}

/// The configuration key of a trace's format.
const KEY: &str = "workload.trace.format";

fn find_event(format: &Format, event: &str) -> Result<usize, Box<Fault>> {
    let fault = match format.events.iter().position(|known| *known == event) {
        Some(index) => return Ok(index),
        None if format.events.is_empty() => Fault::key(KEY, format!("{} has no choice of events", format.name)),
        None => Fault::key(KEY, format!("unknown event of {}", format.name))
            .expected(format!("one of {}", format.events.join(", ")))
            // Any one letter is near any other.
            .nearest(nearest(event, format.events.iter().copied().filter(|event| event.len() > 1))),
    };
    Err(Box::new(fault.found(format!("`{event}`"))))
}

fn names_of<'a>(formats: impl IntoIterator<Item = &'a Format>) -> String {
    formats.into_iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// Unpacked bytes that recognition looks at.
const SAMPLE_BYTES: usize = 64 << 10;

/// The one format that the input's first records look like, and the number of the event that stands for a request: the
/// first in the format's list that is there at all; for a scheduler rather one at submission.
pub fn recognise(input: &mut Input, for_scheduler: bool) -> Result<(&'static Format, usize), Error> {
    let place = input.place();
    let (sample, whole) = input.peek(SAMPLE_BYTES)?;
    if let Some(what) = other_kind(sample) {
        let fault = Fault::at(place, "not a trace that can be read as it is").found(what);
        let fault = fault.expected("a trace in UTF-8 or binary, plain or compressed by gzip or zstd");
        let is_tar = what == TAR_NAME;
        return Err(trace_error(if is_tar {
            fault.help("`tar xf FILE` unpacks it; give one of the files in it")
        } else {
            fault
        }));
    }
    if let Some(foreign) = foreign::known(sample).filter(|_| matching(sample).is_empty()) {
        let fault = Fault::at(place, "not a trace of requests").found(foreign.what);
        return Err(trace_error(fault.help(foreign.help)));
    }
    let candidates = matching(if whole { sample } else { whole_lines(sample) });
    match candidates[..] {
        [format] => Ok((format, first_event(format, sample, for_scheduler))),
        [] if sample.is_empty() => Err(trace_error(Fault::at(place, "the trace is empty"))),
        [] => {
            let sample = sample.strip_prefix(input::BYTE_ORDER_MARK).unwrap_or(sample);
            let first = sample.split(|&c| c == b'\n').next().unwrap_or_default();
            let fault = Fault::at(place, "the trace's format was not recognised")
                .found(format!("`{}`", first[..first.len().min(64)].trim_ascii_end().escape_ascii()))
                .expected(format!("one of {}", names_of(FORMATS)));
            let names = formats::csv::wrong_names(sample).map_or(String::new(), |what| format!("{what}; "));
            let help = if is_table_header(first) {
                "the name of a configuration ends in .toml; --fio runs the jobs of fio".to_string()
            } else {
                format!(
                    "{names}name its format with --format, or give it the columns of csv, time_us,device,op,offset,bytes"
                )
            };
            Err(trace_error(fault.help(help)))
        }
        _ => {
            let fault = Fault::at(place, "the trace could be of several formats")
                .found(names_of(candidates))
                .help("name one with --format");
            Err(trace_error(fault))
        }
    }
}

/// Kinds of files that are no trace before something has unpacked or converted them, with the bytes by which they begin.
const OTHER_KINDS: [(&[u8], &str); 7] = [
    (b"\xfd7zXZ\0", "a file compressed by xz"),
    (b"BZh", "a file compressed by bzip2"),
    (b"\x04\x22\x4d\x18", "a file compressed by lz4"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
];
/// A tar archive has its mark behind the name and the properties of the first file.
const TAR: (usize, &[u8]) = (257, b"ustar");
const TAR_NAME: &str = "a tar archive";

fn other_kind(sample: &[u8]) -> Option<&'static str> {
    let (at, mark) = TAR;
    if sample.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
        return Some(TAR_NAME);
    }
    OTHER_KINDS.iter().find(|(mark, _)| sample.starts_with(mark)).map(|&(_, what)| what)
}

/// Whether a line is the header of a table (`[device]`), as in configurations and fio's job files.
fn is_table_header(line: &[u8]) -> bool {
    let name = line.trim_ascii().strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    name.is_some_and(|name| !name.is_empty() && name.iter().all(|c| c.is_ascii_alphabetic() || b"._-".contains(c)))
}

/// The event that stands for a request in a file of a known format, as [`recognise`] chooses it.
pub fn choose_event(input: &mut Input, format: &Format, for_scheduler: bool) -> Result<usize, Error> {
    let (sample, _) = input.peek(SAMPLE_BYTES)?;
    Ok(first_event(format, sample, for_scheduler))
}

/// A log without the usual event (of completions only, or of a device that queues and does not issue) has another.
fn first_event(format: &Format, sample: &[u8], for_scheduler: bool) -> usize {
    let is_there = |event: &usize| {
        let Ok(input) = Input::new(Box::new(io::Cursor::new(sample.to_vec())), "") else { return false };
        let mut decoder = (format.decode)(input, ReadOptions { event: *event, ..ReadOptions::default() });
        loop {
            match decoder.next() {
                Ok(record) => return record.is_some(),
                Err(Halt::Stop(_)) => return false,
                Err(_) => {}
            }
        }
    };
    let at_submission = |event: &usize| for_scheduler && format.logged_at(*event) == LogPoint::Submission;
    let events = 0..format.events.len();
    events.clone().filter(at_submission).chain(events).find(is_there).unwrap_or(0)
}

fn matching(sample: &[u8]) -> Vec<&'static Format> {
    let sample = sample.strip_prefix(input::BYTE_ORDER_MARK).unwrap_or(sample);
    FORMATS.iter().filter(|format| (format.detect)(sample)).collect()
}

fn whole_lines(sample: &[u8]) -> &[u8] {
    let end = sample.iter().rposition(|&c| c == b'\n').map_or(sample.len(), |at| at + 1);
    &sample[..end]
}

/// "1 request", "2 requests": for nouns whose plural ends in s.
fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn trace_error(fault: Fault) -> Error {
    Error::Trace(Box::new(fault))
}
