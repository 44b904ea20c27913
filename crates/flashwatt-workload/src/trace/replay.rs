//! A trace as a workload: its requests, at its times, on this drive.

use super::clock::{Times, TraceClock};
use super::dense::{Dense, UNIT_BYTES};
use super::fit::{BeyondDrive, FitCounts, Placement, check_fits, check_touched, too_far};
use super::kept::{self, Resolved};
use super::layout::{DeviceExtent, Layout, sectors};
use super::passes::Passes;
use super::read::input::base_name;
use super::read::meter::RecordCounter;
use super::read::traces::Traces;
use super::source::Source;
use super::{DeviceId, Process, Record, counted, trace_error};
use crate::settings;
use crate::settings::{Beyond, TraceOrigin};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{
    Completion, Next, Origin, OriginKind, OriginName, Request, RequestKind, SourceKind, Tag, Workload,
};

/// Replays a trace, or several merged.
///
/// The files are read three times: for their hash; when they are opened, for the extent of each device, the number of requests
/// and every error that the trace holds; and during the run, once for each pass. A trace that is kept ([`kept`]) is not read. The first request arrives at time 0.
pub struct TraceWorkload {
    source: Source,
    passes: Passes,
    layout: Layout,
    /// New addresses, if the trace's own are not taken.
    dense: Option<Dense>,
    place: Placement,
    clock: TraceClock,
    /// The next request, already decoded; its arrival time is the trace's.
    ahead: Option<Request>,
    /// The process of that request, and of the last one given.
    processes: [Process; 2],
    closed_loop: bool,
    /// Of gaps that count from the end of the request before; none if requests come at the trace's times.
    think: Option<ThinkTimes>,
    /// Whether the origin of a request is its process, not its device.
    by_process: bool,
    name: String,
    /// Base names of the files.
    files: Vec<String>,
    sha256: String,
    /// What no drive could have done, and what a scheduler should not be given.
    doubts: Vec<String>,
    issued: u64,
    /// Whether there was any request.
    found: bool,
}

/// When the next request comes whose gap counts from the end of the one before.
#[derive(Default)]
struct ThinkTimes {
    /// Whether a request is under way.
    is_served: bool,
    /// When the last one ended.
    ended_ns: Nanos,
    /// When it came by the trace's times.
    came_ns: Nanos,
}

impl TraceWorkload {
    /// Opens a trace for a drive of `drive_bytes`.
    pub fn open(cfg: &settings::Trace, drive_bytes: u64) -> Result<Self, Error> {
        Self::open_watched(cfg, drive_bytes, &mut |_| true)
    }

    /// As [`Self::open`]; during the first reading `progress` receives the progress (with an estimated total), and ends the
    /// reading by returning `false`.
    pub fn open_watched(
        cfg: &settings::Trace,
        drive_bytes: u64,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Self, Error> {
        let drive_bytes = drive_bytes - drive_bytes % SECTOR_BYTES;
        if drive_bytes == 0 {
            return Err(Fault::key("device", "the drive holds no sector").into());
        }
        let mut meter = RecordCounter::new(progress);
        let first = kept::resolved(cfg, &mut meter)?;
        let Resolved { sha256, seals, mut layout, dense, times, mut doubts, of_log_point, file, records } = first;
        match &dense {
            _ if cfg.beyond != Beyond::Error => {}
            Some(dense) => check_touched(dense, drive_bytes, &file)?,
            None => check_fits(&mut layout, drive_bytes, cfg, &mut meter)?,
        }
        let by_process = by_process(cfg, &layout)?;
        doubts.extend(of_log_point);
        doubts.extend(without_times(cfg, &times));
        let (passes, source) = Passes::begin(cfg, seals, records, &times)?;
        let mut workload = TraceWorkload {
            doubts,
            source,
            passes,
            layout,
            dense,
            place: Placement { drive_bytes, beyond: cfg.beyond, counts: FitCounts::default() },
            clock: TraceClock::default(),
            ahead: None,
            processes: [Process::NONE; 2],
            by_process,
            closed_loop: !cfg.think_times && cfg.closed_loop.unwrap_or(times.are_missing()),
            think: cfg.think_times.then(ThinkTimes::default),
            name: names(cfg),
            files: cfg.paths.iter().map(|path| base_name(path)).collect(),
            sha256,
            issued: 0,
            found: false,
        };
        workload.advance()?;
        Ok(workload)
    }

    /// The process of the last request that [`Workload::next`] returned.
    pub fn process(&self) -> Process {
        self.processes[1]
    }

    /// Decodes the next request into `ahead`: of this pass, or of the next one. A pass without any is the last.
    fn advance(&mut self) -> Result<(), Error> {
        self.ahead = None;
        while !self.advance_in_pass()? {
            if !self.found || !self.passes.next(&mut self.source, &mut self.clock)? {
                break;
            }
        }
        Ok(())
    }

    /// Decodes the next request of this pass; false at its end.
    fn advance_in_pass(&mut self) -> Result<bool, Error> {
        while let Some(record) = self.source.next_record()? {
            let arrival_ns = self.clock.arrival(record.time_ns);
            let id = self.source.device(&record);
            let (Some((device, _)), Some(start)) = (self.layout.place_of(id), self.start(&record, id)) else {
                // Only a file that was changed since it was opened has a device or an address that is not laid out.
                let fault = Fault::at(self.source.place("device"), "the trace changed while it was replayed");
                return Err(trace_error(fault));
            };
            let Some((offset_bytes, bytes)) = self.range(&record, start)? else { continue };
            let request = Request::new(arrival_ns, record.kind, offset_bytes, bytes);
            let process = self.layout.position_of(record.process);
            let origin = if self.by_process { process } else { device };
            self.processes[0] = record.process;
            let (origin, process) = (Origin(origin as u16), process as u16);
            self.ahead = Some(Request { fua: record.fua, is_sync: record.is_sync, origin, process, ..request });
            self.found = true;
            return Ok(true);
        }
        Ok(false)
    }

    /// Where a record begins on the drive, in whole sectors, before anything is done to make it fit; 0 for a flush.
    #[inline]
    fn start(&mut self, record: &Record, id: DeviceId) -> Option<u64> {
        if record.kind == RequestKind::Flush {
            return Some(0);
        }
        let (start, _) = sectors(record);
        match &mut self.dense {
            Some(dense) => dense.address(id, start),
            None => self.layout.base(id).map(|base| base.saturating_add(start)),
        }
    }

    /// Bytes that a drive needs to hold all of it.
    fn span(&self) -> u64 {
        self.dense.as_ref().map_or_else(|| self.layout.span(), Dense::bytes)
    }

    /// Where a record that begins at `place` lies on the drive; `None` if it is to be left out.
    #[inline]
    fn range(&mut self, record: &Record, place: u64) -> Result<Option<(u64, u64)>, Error> {
        if record.kind == RequestKind::Flush {
            return Ok(Some((0, 0)));
        }
        let (start, end) = sectors(record);
        self.place.counts.widened += u64::from(end - start != record.bytes);
        match self.place.range(place, end - start) {
            Ok(range) => Ok(range),
            Err(BeyondDrive) => {
                // Only in a file that was changed since it was opened.
                let fault = Fault::at(self.source.place("offset"), "a request reaches beyond the drive");
                let fault = fault.found(format!("byte {}", place.saturating_add(end - start)));
                Err(too_far(fault, self.place.drive_bytes, self.layout.extents().len(), self.dense.is_some()))
            }
        }
    }
}

impl Workload for TraceWorkload {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        let Some(mut request) = self.ahead else {
            self.source.verify()?;
            return if self.issued == 0 { Err(self.none_left()) } else { Ok(Next::End) };
        };
        if let Some(think) = &mut self.think {
            if think.is_served {
                return Ok(Next::WaitForCompletion);
            }
            let came_ns = request.arrival_ns;
            request.arrival_ns = think.ended_ns.saturating_add(came_ns - think.came_ns);
            if request.arrival_ns > now {
                return Ok(Next::WaitUntil(request.arrival_ns));
            }
            (think.is_served, think.came_ns) = (true, came_ns);
        } else if self.closed_loop {
            request.arrival_ns = now;
        } else if request.arrival_ns > now {
            return Ok(Next::WaitUntil(request.arrival_ns));
        }
        self.processes[1] = self.processes[0];
        self.advance()?;
        self.issued += 1;
        Ok(Next::Request(Tag::default(), request))
    }

    fn completed(&mut self, _done: &Completion, now: Nanos) {
        if let Some(think) = &mut self.think {
            (think.is_served, think.ended_ns) = (false, now);
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Trace
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.source.warnings();
        warnings.extend(self.passes.note());
        match &self.dense {
            Some(dense) => warnings.push(made_dense(dense, self.layout.span())),
            None => warnings.extend(devices_laid_out(&self.layout)),
        }
        warnings.extend(self.place.counts.warnings(self.place.drive_bytes));
        let disorder = self.clock.disorder;
        if disorder.records > 0 {
            let records = counted(disorder.records, "record");
            let what = format!("{records} whose time goes back: each arrives with the record before it");
            warnings.push(format!("{what} ({disorder}; --sort puts them in order)"));
        }
        warnings.extend(self.doubts.iter().cloned());
        warnings
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.source.verify()
    }

    fn input_sha256(&self) -> Option<String> {
        Some(self.sha256.clone())
    }

    /// Devices in the order of the layout, or processes by number. Neither are more than an origin has numbers.
    fn origins(&self) -> Vec<OriginName> {
        if self.by_process {
            return processes(self.layout.processes());
        }
        origins(self.layout.extents(), &self.files)
    }

    fn len_hint(&self) -> Option<u64> {
        // What clipping leaves out is known at the end only.
        let whole = self.place.beyond != Beyond::Clip || self.span() <= self.place.drive_bytes;
        whole.then(|| self.layout.requests().saturating_mul(self.passes.count().into()))
    }
}

/// What is said of a trace without times.
fn without_times(cfg: &settings::Trace, times: &Times) -> Option<String> {
    let requests = times.records();
    (times.are_missing() && cfg.closed_loop != Some(true) && !cfg.think_times).then(|| match cfg.closed_loop {
        None => format!(
            "no times in the trace: all {requests} requests have the same, and are replayed as a closed loop \
             (workload.trace.closed_loop = true says so in the configuration; false lets all of them arrive at once)"
        ),
        Some(_) => format!(
            "no times in the trace: all {requests} requests have the same, and arrive at once (workload.trace.closed_loop = true \
             replays them as a closed loop)"
        ),
    })
}

fn made_dense(dense: &Dense, span: u64) -> String {
    format!("addresses without gaps: {} bytes in units of {UNIT_BYTES}, of a span of {span}", dense.bytes())
}

/// Devices that a warning names one by one.
const DEVICES_NAMED_MAX: usize = 8;

fn devices_laid_out(layout: &Layout) -> Option<String> {
    let extents = layout.extents();
    if extents.len() < 2 {
        return None;
    }
    let several = extents.iter().any(|extent| extent.id.trace > 0);
    let name =
        |id: DeviceId| if several { format!("{} of file {}", id.device, id.trace + 1) } else { id.device.to_string() };
    let named = extents.iter().take(DEVICES_NAMED_MAX);
    let mut places: Vec<String> = named.map(|e| format!("{} at byte {}", name(e.id), e.base)).collect();
    if extents.len() > places.len() {
        places.push("…".to_string());
    }
    Some(format!("{} devices laid out one after another: {}", extents.len(), places.join(", ")))
}

/// Names of the devices. Where each of several files has one device, these are the files.
fn origins(devices: &[DeviceExtent], files: &[String]) -> Vec<OriginName> {
    let several = devices.iter().any(|one| one.id.trace > 0);
    let is_file = several && devices.windows(2).all(|two| two[0].id.trace != two[1].id.trace);
    let origin = |id: DeviceId| {
        let (file, device) = (&files[id.trace as usize], id.device);
        let (name, kind) = match (is_file, several) {
            (true, _) => (file.clone(), OriginKind::File),
            (false, true) => (format!("{device} of {file}"), OriginKind::Device),
            (false, false) => (device.to_string(), OriginKind::Device),
        };
        OriginName { name, kind }
    };
    devices.iter().map(|one| origin(one.id)).collect()
}

/// Names of the processes. The last name stands for all processes that are not told apart.
fn processes(processes: &[Process]) -> Vec<OriginName> {
    let name = |process: &Process| process.number().map_or_else(|| "none".to_string(), |number| number.to_string());
    let names = processes.iter().map(name).chain(["others".to_string()]);
    names.map(|name| OriginName { name, kind: OriginKind::Process }).collect()
}

/// Whether the origin of a request is its process: as configured; by default if the traces have one device and name
/// processes.
fn by_process(cfg: &settings::Trace, layout: &Layout) -> Result<bool, Error> {
    let is_named = layout.named_processes() > 0;
    match cfg.origin {
        None => Ok(is_named && layout.extents().len() == 1),
        Some(TraceOrigin::Device) => Ok(false),
        Some(TraceOrigin::Process) if is_named => Ok(true),
        Some(TraceOrigin::Process) => {
            let fault = Fault::key("workload.trace.origin", "the trace names no process").found("\"process\"");
            Err(fault.expected("\"device\", or a trace with a column of processes").into())
        }
    }
}

/// The files' base names, for reports.
pub fn names(cfg: &settings::Trace) -> String {
    cfg.paths.iter().map(|path| base_name(path)).collect::<Vec<_>>().join(" + ")
}

impl TraceWorkload {
    /// The trace has requests, or it would not have been opened: clipping took them all.
    fn none_left(&self) -> Error {
        let fault = Fault::at(self.source.file(), "every request lies beyond the drive");
        let fault = fault.found(format!("{} requests, all left out", self.layout.requests()));
        let fault = fault.expected(format!("some below byte {}, the drive's size", self.place.drive_bytes));
        trace_error(fault.help("--fold takes addresses modulo the drive's size; or take a larger drive"))
    }
}

/// Says why there is nothing to replay.
pub fn no_request(traces: &Traces) -> Error {
    let mut fault = Fault::at(traces.file(), format!("no valid request in this {} trace", traces.format_names()));
    let warnings = traces.warnings();
    if !warnings.is_empty() {
        fault = fault.found(warnings.join("; "));
    }
    if let Some((name, [usual, others @ ..])) = traces.formats().next().map(|format| (format.name, format.events)) {
        let others = others.iter().map(|event| format!("{name}:{event}")).collect::<Vec<_>>();
        fault = fault.help(format!("requests are {usual} events unless the format is {}", others.join(" or ")));
    }
    trace_error(fault)
}
