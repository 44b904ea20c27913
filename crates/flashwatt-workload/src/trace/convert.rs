//! Any trace as another: read, merged, cut and scaled as for a replay, and written as CSV or in the binary form.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::formats::{binary, csv};
use super::layout::DEVICES_MAX;
use super::pack::{Packer, Packing};
use super::read::input::{Input, base_name};
use super::read::meter::RecordCounter;
use super::read::reader::Step;
use super::read::seal::sha256;
use super::read::traces::Traces;
use super::replay::{names, no_request};
use super::{BinaryWriter, DeviceId, Record, TraceWorkload, counted, trace_error};
use crate::settings;
use crate::settings::Beyond;
use flashwatt_base::error::{Error, Fault, Place, nearest};
use flashwatt_base::output::{Aside, Replace};
use flashwatt_base::progress::Progress;
use flashwatt_core::connector::{Next, Workload};

/// What a trace can be converted to: names, the ending of such a file's name, one line about each.
pub const TARGETS: &[(&str, &str, &str)] = &[
    ("csv", "csv", "plain CSV with a line of column names"),
    ("binary", "fwt", "FlashWatt's own compact, checked form"),
];

/// What was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    /// The base name of the file that was written.
    pub file: String,
    /// What was read: base names, with ` + ` between them.
    pub from: String,
    /// The format that was written.
    pub format: &'static str,
    /// How it is packed: `plain`, `gzip` or `zstd`.
    pub packing: &'static str,
    /// Requests written.
    pub requests: u64,
    /// The length of the file that was written.
    pub bytes: u64,
    /// SHA-256 of the file that was written.
    pub sha256: String,
    /// Devices that have another number than in their trace; none unless several traces with devices of their own were
    /// merged.
    pub devices: Vec<Renumbered>,
    /// What was left out or changed, in words.
    pub warnings: Vec<String>,
}

/// A device under its new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Renumbered {
    /// The file, counted from 0.
    pub trace: u32,
    /// Its number there.
    pub device: u64,
    /// Its number in what was written.
    pub written: u64,
}

/// Where to convert to.
#[derive(Clone, Debug)]
pub struct Target {
    /// The file, which is there when it is whole; what it may replace, [`flashwatt_base::output`] says.
    pub path: PathBuf,
    /// `csv` or `binary`; by the file's name unless given.
    pub format: Option<String>,
    /// Lay the devices out on a drive of this size in bytes, as a replay does, folded or clipped if the trace's configuration
    /// says so: what is written has one device and begins at time 0. Else devices and times stay as they are.
    pub drive_bytes: Option<u64>,
    /// Replace a file that was not converted by this program.
    pub force: bool,
}

/// Converts the trace of `cfg`. `progress` receives the progress, and ends the conversion by returning `false`; then, and after an
/// error, nothing is left behind.
pub fn convert(
    cfg: &settings::Trace,
    target: &Target,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Converted, Error> {
    let (format, packing) = target.kind()?;
    if target.drive_bytes.is_none() && cfg.beyond != Beyond::Error {
        let fault = Fault::key("--fold, --clip", "fold and clip need a drive").found("no size of one");
        return Err(fault.expected("a drive to lay the trace out on (--drive SIZE)").into());
    }
    if target.drive_bytes.is_none() && (cfg.dense || cfg.repeat > 1) {
        let fault = Fault::key("workload.trace", "dense and repeat are of a replay").found("no size of a drive");
        return Err(fault.expected("a drive to lay the trace out on (--drive SIZE)").into());
    }
    let inputs = cfg.paths.clone();
    let aside = Aside::new(&target.path, Replace { inputs, what: "a trace", ours: is_converted, force: target.force })?;
    let converted = write(cfg, target, &aside, format, packing, progress)?;
    aside.commit()?;
    Ok(converted)
}

/// Whether a file looks as [`convert`] would have written it: the binary form, or CSV in exactly its spelling.
fn is_converted(path: &Path) -> bool {
    let Ok(mut input) = Input::open(path) else { return false };
    input.peek(SAMPLE_BYTES).is_ok_and(|(sample, _)| sample.starts_with(binary::MAGIC) || csv::is_converted(sample))
}

/// Bytes of a file that recognition reads.
const SAMPLE_BYTES: usize = 64 << 10;

impl Target {
    /// The format and the packing, by their names or by the file's.
    fn kind(&self) -> Result<(&'static str, Packing), Error> {
        let name = base_name(&self.path);
        let (packing, stem) = Packing::of_name(&name);
        let names = || TARGETS.iter().map(|(name, ..)| *name);
        let found = match &self.format {
            Some(format) => TARGETS.iter().find(|(name, ..)| name == format),
            None => TARGETS.iter().find(|(_, ending, _)| stem.rsplit_once('.').is_some_and(|(_, e)| e == *ending)),
        };
        match (found, &self.format) {
            (Some((format, ..)), _) => Ok((format, packing)),
            (None, Some(format)) => {
                let fault = Fault::key("--to", "cannot be converted to").found(format!("`{format}`"));
                let names = names().collect::<Vec<_>>();
                let fault = fault.expected(format!("one of {}", names.join(", ")));
                Err(fault.nearest(nearest(format, names)).into())
            }
            (None, None) => {
                let place = Place { file: Some(name), ..Place::default() };
                let fault = Fault::at(place, "the name does not say what to convert to");
                let expected = ".csv or .fwt at its end, then .gz or .zst if it is to be packed";
                Err(trace_error(fault.expected(expected).help("or name it with --to")))
            }
        }
    }
}

fn write(
    cfg: &settings::Trace,
    target: &Target,
    aside: &Aside,
    format: &'static str,
    packing: Packing,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Converted, Error> {
    let io = |source| aside.error(source);
    let with_process = format == "csv" && names_process(cfg, progress)?;
    let mut output =
        Output::new(format, with_process, Packer::new(packing, BufWriter::new(aside.file()?))).map_err(io)?;
    let mut not_waited_for = 0;
    let mut put = |record: &Record| {
        not_waited_for += u64::from(!record.is_sync);
        output.record(record).map_err(io)
    };
    let copied = match target.drive_bytes {
        Some(drive_bytes) => replayed(cfg, drive_bytes, progress, &mut put)?,
        None => copied(cfg, progress, &mut put)?,
    };
    let (requests, devices, mut warnings) = copied;
    if not_waited_for > 0 && !with_process {
        let writes = counted(not_waited_for, "write");
        warnings.push(format!("{writes} of a page cache, for which nobody waits: what is written does not say so"));
    }
    output.finish().map_err(io)?;
    Ok(Converted {
        file: base_name(&target.path),
        from: names(cfg),
        format,
        packing: packing.name(),
        requests,
        bytes: fs::metadata(aside.part()).map_err(io)?.len(),
        sha256: sha256(aside.part())?,
        devices,
        warnings,
    })
}

/// Whether a trace names a process. Reads as far as the first record that does: the column names of a CSV file come first.
fn names_process(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<bool, Error> {
    let (mut meter, mut traces) = (RecordCounter::new(progress), Traces::open(cfg)?);
    loop {
        match traces.step()? {
            Step::Record(record) if record.process.number().is_some() => return Ok(true),
            Step::Record(_) | Step::LeftOut => meter.record(&traces)?,
            Step::Pause => meter.look(None)?,
            Step::End => return Ok(false),
        }
    }
}

/// Requests, devices with another number, warnings.
type Copied = (u64, Vec<Renumbered>, Vec<String>);

/// Gives every record to `put`, with the trace's own devices and times.
fn copied(
    cfg: &settings::Trace,
    progress: &mut dyn FnMut(&Progress) -> bool,
    put: &mut dyn FnMut(&Record) -> Result<(), Error>,
) -> Result<Copied, Error> {
    let (mut meter, mut traces) = (RecordCounter::new(progress), Traces::open(cfg)?);
    let mut numbers = Numbers::new(cfg);
    let mut requests = 0;
    loop {
        match traces.step()? {
            Step::Record(record) => {
                let id = traces.device(&record);
                let device = numbers.of(id).ok_or_else(|| {
                    trace_error(Fault::at(traces.place("device"), "too many devices").expected("at most 65536"))
                })?;
                put(&Record { device, ..record })?;
                requests += 1;
                meter.record(&traces)?;
            }
            Step::LeftOut => meter.record(&traces)?,
            Step::Pause => meter.look(None)?,
            Step::End => break,
        }
    }
    traces.check_devices(|device| numbers.seen.keys().any(|id| id.device == device))?;
    if requests == 0 {
        return Err(no_request(&traces));
    }
    let mut warnings = traces.warnings();
    warnings.extend(traces.doubts());
    warnings.extend(numbers.warning());
    Ok((requests, numbers.changed(), warnings))
}

/// Gives every request to `put` as a replay on a drive of `drive_bytes` issues it.
fn replayed(
    cfg: &settings::Trace,
    drive_bytes: u64,
    progress: &mut dyn FnMut(&Progress) -> bool,
    put: &mut dyn FnMut(&Record) -> Result<(), Error>,
) -> Result<Copied, Error> {
    let cfg = settings::Trace { closed_loop: Some(false), ..cfg.clone() };
    let mut workload = TraceWorkload::open_watched(&cfg, drive_bytes, progress)?;
    let (total, mut requests) = (workload.len_hint(), 0u64);
    while let Next::Request(_, request) = workload.next(u64::MAX)? {
        let (time_ns, offset_bytes, bytes) = (request.arrival_ns, request.offset_bytes, request.bytes);
        let record = Record::new(time_ns, 0, offset_bytes, bytes, request.kind);
        put(&Record { fua: request.fua, is_sync: request.is_sync, process: workload.process(), ..record })?;
        requests += 1;
        let told = Progress { preparing: None, requests_done: requests, requests_total: total, now_ns: time_ns };
        if requests.is_multiple_of(REQUESTS_PER_LOOK) && !progress(&told) {
            return Err(Error::InterruptedReading { done: requests });
        }
    }
    Ok((requests, Vec::new(), workload.warnings()))
}

const REQUESTS_PER_LOOK: u64 = 1 << 14;

/// New numbers for the devices of several traces, in the order in which they are met; one trace keeps its own.
struct Numbers {
    renumber: bool,
    seen: BTreeMap<DeviceId, u64>,
    last: Option<(DeviceId, u64)>,
}

impl Numbers {
    fn new(cfg: &settings::Trace) -> Self {
        Numbers { renumber: cfg.paths.len() > 1 && !cfg.share_devices, seen: BTreeMap::new(), last: None }
    }

    #[inline]
    fn of(&mut self, id: DeviceId) -> Option<u64> {
        match self.last {
            Some((last, number)) if last == id => Some(number),
            _ => self.look_up(id),
        }
    }

    fn look_up(&mut self, id: DeviceId) -> Option<u64> {
        let next = if self.renumber { self.seen.len() as u64 } else { id.device };
        let number = *self.seen.entry(id).or_insert(next);
        self.last = Some((id, number));
        (self.seen.len() <= DEVICES_MAX).then_some(number)
    }

    fn changed(&self) -> Vec<Renumbered> {
        let renumbered = |(id, written): (&DeviceId, &u64)| {
            let DeviceId { trace, device } = *id;
            Renumbered { trace, device, written: *written }
        };
        if self.renumber { self.seen.iter().map(renumbered).collect() } else { Vec::new() }
    }

    fn warning(&self) -> Option<String> {
        let count = self.seen.len();
        self.renumber
            .then(|| format!("{count} devices of several traces numbered anew, in the order of their first requests"))
    }
}

/// A file in one of the formats.
enum Output<W: Write> {
    /// The flag says whether there is a column of processes.
    Csv(W, bool),
    Binary(BinaryWriter<W>),
}

impl<W: Write> Output<Packer<W>> {
    fn new(format: &str, with_process: bool, mut to: Packer<W>) -> io::Result<Self> {
        if format != "csv" {
            return Ok(Output::Binary(BinaryWriter::new(to)?));
        }
        writeln!(to, "{}", if with_process { csv::HEADER_WITH_PROCESS } else { csv::HEADER })?;
        Ok(Output::Csv(to, with_process))
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        match self {
            Output::Csv(to, with_process) => csv::write(record, *with_process, to),
            Output::Binary(to) => to.record(record),
        }
    }

    fn finish(self) -> io::Result<()> {
        let packer = match self {
            Output::Csv(to, _) => to,
            Output::Binary(to) => to.finish()?,
        };
        packer.finish()?.flush()
    }
}
