//! One run, from a configuration to a report.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::audit::audit;
use crate::check::Shadow;
use crate::clockless::Clockless;
use crate::config::{self, Config, Flashsim, Precondition, Replay, Span};
use crate::connector::{Completion, Next, Request, Workload};
use crate::device::{Array, Geometry};
use crate::energy::Series;
use crate::energy::bins::{BINS_MAX, Bins};
use crate::energy::edges::{CurrentEdges, EDGES_MAX, Edges};
use crate::error::{Error, Fault, Place};
use crate::files::Image;
use crate::firmware::Firmware;
use crate::host::{BlockLayer, Depths};
use crate::kernel::{End, Outcome, Sim};
use crate::output::{Aside, Replace};
pub use crate::probe::Recording;
use crate::probe::{OpLog, Probe, is_op_log};
use crate::progress::{Progress, Watch};
use crate::report::{Report, ReportInput, Reported};
use crate::request_log::{Logged, RequestLog, is_request_log};
use crate::snapshot::{self, Identity, Loaded};
use crate::ssd::{Ssd, Untimed};
use crate::units::Nanos;
use crate::workload::Joined;
use crate::workload::trace::{LogPoint, TraceLog, is_trace_log};
use crate::{footprint, workload};

/// Options of a run besides its configuration. None of them changes a figure.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The file for the operation log, by the rules of [`crate::output`].
    pub op_log: Option<PathBuf>,
    /// The file for the log of the host's requests, by the same rules.
    pub request_log: Option<PathBuf>,
    /// The file for the requests as the workload sends them, as a trace of the format `csv`; by the same rules.
    pub capture: Option<PathBuf>,
    /// The file for the requests as the host's block layer gave them to the drive, as a trace of the format `csv`; by the same
    /// rules.
    pub dispatch_log: Option<PathBuf>,
    /// Let a log replace a file that is not such a log.
    pub force: bool,
    /// Record power over time in bins of this length in ns; 0: a length that gives 1,000 to 2,000 bins.
    pub series_interval_ns: Option<Nanos>,
    /// Record every edge of the drive's current in the measured window, from the first of these simulated times (in ns)
    /// to before the second.
    pub edges_ns: Option<(Nanos, Nanos)>,
    /// Report the histogram of latencies as well.
    pub latency_histogram: bool,
    /// Keep a second account of the content of every page, and stop at the first difference ([`crate::check`]). Slow.
    pub check: bool,
}

impl RunOptions {
    /// The recording over time that the options ask for, if any.
    pub fn series(&self) -> Option<Box<Series>> {
        let bins = self.series_interval_ns.map(|ns| match ns {
            0 => Bins::new(AUTOMATIC_START_NS, Some(AUTOMATIC_BINS)),
            ns => Bins::new(ns, None),
        });
        let edges = self.edges_ns.map(|(from, until)| Edges::new(from, until));
        (bins.is_some() || edges.is_some()).then(|| Box::new(Series::new(bins, edges)))
    }

    /// The recording of the host's queue over time that the options ask for, if any.
    fn depths(&self) -> Option<Depths> {
        self.series_interval_ns.map(|ns| match ns {
            0 => Depths::new(AUTOMATIC_START_NS, Some(AUTOMATIC_BINS)),
            ns => Depths::new(ns, None),
        })
    }

    /// Refuses recordings that are impossible in every run, or in this one.
    fn check(&self, config: &Config) -> Result<(), Error> {
        if !config.run.replay.is_timed() {
            self.check_untimed()?;
        }
        if self.dispatch_log.is_some() && config.host.is_none() {
            let fault =
                Fault::key("dispatch_log", "nothing dispatches requests").found("a configuration without [host]");
            return Err(fault.expected("a block layer, or --capture: the drive takes requests as they come").into());
        }
        if let Some((from, until)) = self.edges_ns
            && from >= until
        {
            let fault = Fault::key("edges", "an empty window").found(format!("from {from} ns until {until} ns"));
            return Err(Error::from(fault.expected("a window that ends after it begins")));
        }
        match (self.series_interval_ns, config.run.measure) {
            (Some(ns @ 1..), Span { requests: None, ns: Some(run_ns) }) if run_ns.div_ceil(ns) > BINS_MAX => {
                Err(too_many_bins(ns, &format!("{run_ns} ns")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses recordings of times in a run that has none.
    fn check_untimed(&self) -> Result<(), Error> {
        let asked = [
            ("series", self.series_interval_ns.is_some()),
            ("edges", self.edges_ns.is_some()),
            ("op_log", self.op_log.is_some()),
            ("request_log", self.request_log.is_some()),
            ("capture", self.capture.is_some()),
            ("check", self.check),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            None => Ok(()),
            Some((what, _)) => Err(needs_a_clock(what)),
        }
    }

    /// The error of a recording that exceeds its storage.
    fn overflow(&self, series: &Series) -> Error {
        match (&series.bins, self.edges_ns) {
            (Some(bins), _) if bins.overflowed() => {
                too_many_bins(bins.interval_ns(), &format!("more than {BINS_MAX} times that"))
            }
            (_, window) => {
                let (from, until) = window.unwrap_or_default();
                let fault = Fault::key("edges", "too many edges of the current")
                    .found(format!("more than {EDGES_MAX} {}", window_words(from, until)))
                    .expected(format!("at most {EDGES_MAX}"));
                Error::from(fault.help("record a shorter window, or bins of a series"))
            }
        }
    }
}

/// A window in words, for messages. `until` at its maximum means the end of the run.
fn window_words(from: Nanos, until: Nanos) -> String {
    match until {
        Nanos::MAX => format!("from {from} ns until the end of the run"),
        _ => format!("from {from} ns until {until} ns"),
    }
}

/// A window of edges without any measured time is an error: its times are wrong, or the run ended before it.
fn missed(edges: &CurrentEdges, (from, until): (Nanos, Nanos), measured: (Nanos, Nanos)) -> Option<String> {
    let window = window_words(from, until);
    let what = format!(
        "edges: none were recorded {window}: what was measured lasts from {} ns until {} ns",
        measured.0, measured.1
    );
    edges.time_ns.is_empty().then_some(what)
}

/// What cannot be had in a run without a clock.
pub(crate) fn needs_a_clock(what: &str) -> Error {
    let fault = Fault::key(what, "needs a clock").found("a run with run.replay = \"flashsim\", which has none");
    Error::from(fault.expected("run.replay = \"timed\", or a run without it"))
}

fn too_many_bins(interval_ns: Nanos, run: &str) -> Error {
    let fault = Fault::key("series", "too many bins")
        .found(format!("bins of {interval_ns} ns over {run}"))
        .expected(format!("at most {BINS_MAX} bins"));
    Error::from(fault.help("record longer bins, or leave their length to the run"))
}

/// Largest number of bins of an automatic series at the end of a run; the least is half of it.
const AUTOMATIC_BINS: usize = 2_000;
/// Length of an automatic series' bins at the start of a run, in ns.
const AUTOMATIC_START_NS: Nanos = 1_000;

/// Runs a configuration. `progress` is called from time to time with the progress; if it returns `false`, the run stops
/// and the report says `interrupted`.
///
/// # Errors
/// Any fault that prevents the start of the run. [`Error::Interrupted`] while a start state is laid down,
/// [`Error::InterruptedReading`] while a trace is read before its replay. A later fault (such as a trace that changed
/// meanwhile) ends the run; [`Report::status`] then names it, and the simulated part is kept.
pub fn run(
    config: &Config,
    options: &RunOptions,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let (bytes, seed) = (config.partition_bytes(), config.run.seed);
    let mut workload = workload::open_watched(&config.workload, bytes, seed, progress)?;
    run_with(config, options, workload.as_mut(), progress)
}

/// As [`run`], with requests from `workload` instead of the configuration's own.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    config: &Config,
    options: &RunOptions,
    workload: &mut dyn Workload,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    options.check(config)?;
    if options.check {
        workload.check();
    }
    let file =
        |path: &Option<PathBuf>, kind| path.as_deref().map(|path| aside(path, config, options.force, kind)).transpose();
    let (capture, requests) = (file(&options.capture, CAPTURE)?, file(&options.request_log, REQUEST_LOG)?);
    if capture.is_none() && requests.is_none() {
        return run_workload(config, options, workload, progress);
    }
    let mut workload = Logged::new(
        workload,
        written(&capture)?.map(|out| TraceLog::new(out, LogPoint::Submission)),
        written(&requests)?.map(RequestLog::new),
    );
    let mut report = run_workload(config, options, &mut workload, progress)?;
    let (captured, logged) = workload.into_logs();
    finish(&mut report, "capture", capture, captured.map(TraceLog::close));
    finish(&mut report, "request log", requests, logged.map(RequestLog::close));
    Ok(report)
}

/// As [`run_with`], with or without an operation log.
fn run_workload(
    config: &Config,
    options: &RunOptions,
    workload: &mut dyn Workload,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let log = options.op_log.as_deref().map(|path| aside(path, config, options.force, OP_LOG)).transpose()?;
    footprint::check(config, options.check)?;
    let image = (config.run.precondition == Precondition::Image).then(|| Image::of(workload)).flatten();
    let drive = StartState::holding(config, image, progress)?;
    let requests_total = config.run.requests(workload.len_hint());
    // Reports the start of the simulation; an interrupt is then noticed soon.
    progress(&Progress { preparing: None, requests_done: 0, requests_total, now_ns: 0 });
    let Some(log) = log else {
        if options.series().is_some() || options.check {
            return drive.run_checked(config, options, workload, Recording, progress).map(|(report, _)| report);
        }
        return drive.run(config, options, workload, (), progress).map(|(report, ())| report);
    };
    logged(drive, config, options, workload, log, progress)
}

/// Runs the configuration's workload on the caller's own device instead of the configured SSD. Of the configured drive
/// only `device.logical_bytes` counts: the workload's addresses lie within it.
///
/// The device records over time only if the caller gave it the recording of [`RunOptions::series`].
///
/// # Errors
/// As [`run`].
pub fn run_device<D: Reported>(
    config: &Config,
    options: &RunOptions,
    device: D,
    workload: &mut dyn Workload,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    options.check(config)?;
    Ok(simulate(config, options, device, workload, Start::default(), progress)?.0)
}

/// Runs a workload on a device, behind the host's block layer if the configuration has one.
fn simulate<D: Reported>(
    config: &Config,
    options: &RunOptions,
    device: D,
    workload: &mut dyn Workload,
    start: Start,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Report, D), Error> {
    let Some(host) = &config.host else {
        let (outcome, device) = Sim::new(&config.run, device, &mut *workload).run(config.run.warmup, progress);
        return Ok((conclude(config, options, outcome, &device, workload, start), device));
    };
    let file =
        options.dispatch_log.as_deref().map(|path| aside(path, config, options.force, DISPATCH_LOG)).transpose()?;
    let log = written(&file)?.map(|out| TraceLog::new(out, LogPoint::Dispatch));
    let layer = BlockLayer::new(host, config.device.logical_bytes, &workload.origins(), device)?;
    let layer = layer.recording(options.depths()).logged(log);
    let (outcome, mut layer) = Sim::new(&config.run, layer, &mut *workload).run(config.run.warmup, progress);
    let log = layer.take_log();
    let mut report = conclude(config, options, outcome, &layer, workload, start);
    finish(&mut report, "dispatch log", file, log.map(TraceLog::close));
    Ok((report, layer.into_device()))
}

/// A kind of log: its name in messages, and how a file of that kind is recognized.
type LogKind = (&'static str, fn(&Path) -> bool);
const OP_LOG: LogKind = ("an operation log", is_op_log);
const DISPATCH_LOG: LogKind = ("a dispatch log", |path| is_trace_log(path, LogPoint::Dispatch));
const CAPTURE: LogKind = ("a capture", |path| is_trace_log(path, LogPoint::Submission));
const REQUEST_LOG: LogKind = ("a request log", is_request_log);

/// The file of a log.
fn aside(path: &Path, config: &Config, force: bool, (what, ours): LogKind) -> Result<Aside, Error> {
    Aside::new(path, Replace { inputs: config.inputs(), what, ours, force })
}

/// What a log is written to.
fn written(file: &Option<Aside>) -> Result<Option<Box<dyn Write>>, Error> {
    file.as_ref().map(|file| Ok(Box::new(BufWriter::new(file.file()?)) as Box<dyn Write>)).transpose()
}

/// A log has ended: its file appears.
fn finish(report: &mut Report, log: &str, file: Option<Aside>, closed: Option<std::io::Result<()>>) {
    if let Some((file, closed)) = file.zip(closed) {
        let closed = closed.map_err(|source| file.error(source));
        keep(report, log, closed.and_then(|()| file.commit()));
    }
}

/// A log that was not kept makes a complete run a failed one; the figures stay.
fn keep(report: &mut Report, log: &str, kept: Result<(), Error>) {
    if let Err(error) = kept {
        report.fail(&format!("the {log} was not kept: {error}"));
    }
}

/// Runs with an operation log. If the log cannot be written (for instance on a full disk), the report's status says so,
/// and the simulated part is kept.
fn logged(
    drive: StartState,
    config: &Config,
    options: &RunOptions,
    workload: &mut dyn Workload,
    file: Aside,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let log = OpLog::new(BufWriter::new(file.file()?));
    let (mut report, mut log) = drive.run_checked(config, options, workload, log, progress)?;
    let written = log.take_error().map_or(Ok(()), |source| Err(file.error(source)));
    drop(log);
    keep(&mut report, "operation log", written.and_then(|()| file.commit()));
    Ok(report)
}

/// A drive in its start state.
pub struct StartState {
    geometry: Geometry,
    firmware: Firmware,
    array: Array,
    start: Start,
    /// The settings that determine its tables.
    made_from: MadeFrom,
}

/// The start of a run, for its report.
#[derive(Default)]
pub(crate) struct Start {
    pub warnings: Vec<String>,
    /// The snapshot that the drive was restored from, if any.
    pub snapshot: Option<Identity>,
}

/// The settings that determine a drive's tables.
#[derive(PartialEq)]
struct MadeFrom {
    device: config::Device,
    ftl: crate::ftl::Settings,
    gc: config::Gc,
    wear: config::Wear,
}

impl MadeFrom {
    fn new(config: &Config) -> Self {
        let Config { device, ftl, gc, wear, .. } = config;
        MadeFrom { device: device.clone(), ftl: ftl.clone(), gc: gc.clone(), wear: wear.clone() }
    }
}

impl StartState {
    /// Lays down the start state that a configuration asks for.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Self::watched(config, &mut |_| true)
    }

    /// As [`Self::new`]. `progress` receives the progress, and ends the preparation if it returns `false`.
    pub fn watched(config: &Config, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Self, Error> {
        Self::holding(config, None, progress)
    }

    /// As [`Self::watched`], with the image of the workload's file system if it has been laid down already.
    fn holding(
        config: &Config,
        image: Option<Image>,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Self, Error> {
        config.check_seal()?;
        let geometry = Geometry::new(&config.device, config.map_unit_bytes());
        footprint::check(config, false)?;
        let firmware = Firmware::new(&config.ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry);
        let array = Array::new(geometry.clone(), config.device.nand.program_order);
        let mut drive =
            StartState { geometry, firmware, array, start: Start::default(), made_from: MadeFrom::new(config) };
        drive.precondition(config, image, &mut Watch::new(progress))?;
        if drive.start.snapshot.is_none() {
            drive.array.reset_wear();
        }
        Ok(drive)
    }

    fn precondition(&mut self, config: &Config, image: Option<Image>, watch: &mut Watch) -> Result<(), Error> {
        let start = &config.run.precondition;
        if !matches!(start, Precondition::Empty | Precondition::Mapped | Precondition::Filled) {
            self.firmware.on_huge_pages();
        }
        match start {
            Precondition::Empty => Ok(()),
            Precondition::Filled => self.fill(Some(0), watch),
            Precondition::Mapped => {
                let is_mapped = self.firmware.ftl.fill_mapped(&mut self.firmware.blocks);
                debug_assert!(is_mapped, "the configuration is checked");
                Ok(())
            }
            Precondition::Steady => self.steady(config, watch),
            Precondition::Image => self.write_image(config, image, watch),
            Precondition::Snapshot(path) => self.restore(path, config, watch),
            Precondition::Workload(workload) => {
                let (bytes, seed) = (config.device.logical_bytes, config.run.seed ^ STEADY_SEED);
                let mut workload = workload::open_watched(workload, bytes, seed, watch.teller())?;
                self.fill(workload.len_hint(), watch)?;
                self.run_instantly(workload.as_mut(), watch)
            }
        }
    }

    fn restore(&mut self, path: &Path, config: &Config, watch: &mut Watch) -> Result<(), Error> {
        let state = snapshot::DriveState { firmware: &mut self.firmware, array: &mut self.array };
        let Loaded { identity, warnings } = snapshot::restore(path, config, state, watch)?;
        self.start = Start { warnings, snapshot: Some(identity) };
        Ok(())
    }

    /// Writes every page once. `then` is the number of further requests of the start state, if known.
    fn fill(&mut self, then: Option<u64>, watch: &mut Watch) -> Result<(), Error> {
        watch.expect(then.map(|then| then + u64::from(self.geometry.logical_units)));
        self.firmware.ftl.fill(&mut self.firmware.blocks, &mut self.array, watch)
    }

    /// Lays down the steady state: from theory where there is one, else by running the translation layer until every
    /// block has been erased several times.
    fn steady(&mut self, config: &Config, watch: &mut Watch) -> Result<(), Error> {
        let (firmware, pages) = (&mut self.firmware, self.geometry.logical_units);
        watch.expect(Some(u64::from(pages)));
        if firmware.ftl.fill_steady(&mut firmware.blocks, &mut self.array, &mut firmware.rng, watch)? {
            return Ok(());
        }
        self.fill(Some(STEADY_TURNOVERS * u64::from(pages)), watch)?;
        self.start.warnings.push(format!(
            "precondition `steady` was reached by {STEADY_TURNOVERS} x {pages} uniform random writes without a clock: \
             theory gives it for page mapping with greedy collection and dynamic allocation only"
        ));
        let unit_bytes = u64::from(self.geometry.unit_bytes);
        let mut workload = workload::synthetic::open(
            &config::Synthetic {
                requests: STEADY_TURNOVERS * u64::from(pages),
                sizes: config::Sizes::all(unit_bytes),
                align_bytes: unit_bytes,
                range_bytes: config.device.logical_bytes,
                ..config::Synthetic::writes()
            },
            config.run.seed ^ STEADY_SEED,
        );
        self.run_instantly(workload.as_mut(), watch)
    }

    /// Writes what the file system of the workload holds before the run, in the order of addresses.
    fn write_image(&mut self, config: &Config, image: Option<Image>, watch: &mut Watch) -> Result<(), Error> {
        let image = match (image, &config.workload) {
            (None, config::Workload::Files(files)) => {
                Image::of(&workload::open_files(files, config.run.seed, watch.teller())?)
            }
            (image, _) => image,
        };
        let start_bytes = config.device.logical_bytes - config.partition_bytes();
        image.map_or(Ok(()), |image| self.run_instantly(&mut image.from(start_bytes), watch))
    }

    fn run_instantly(&mut self, workload: &mut dyn Workload, watch: &mut Watch) -> Result<(), Error> {
        let mut clockless = Clockless::new(&self.geometry, &mut self.firmware, &mut self.array);
        let (mut now, mut operations) = (0, 0);
        loop {
            match workload.next(now)? {
                Next::Request(tag, request) => {
                    let request = Request { arrival_ns: now, ..request };
                    clockless.request(&request).map_err(|_| no_room())?;
                    workload.completed(&Completion::done(tag), now);
                    watch.done(1)?;
                    watch.step(clockless.operations() - operations)?;
                    operations = clockless.operations();
                }
                Next::WaitUntil(at) => now = at,
                Next::Measure => {}
                Next::WaitForCompletion => unreachable!("every request has completed"),
                Next::End => return Ok(()),
            }
        }
    }

    /// As [`Self::run`], under the shadow check if the options ask for it.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run_checked<P: Probe>(
        self,
        config: &Config,
        options: &RunOptions,
        workload: &mut dyn Workload,
        probe: P,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Report, P), Error> {
        if !options.check {
            return self.run(config, options, workload, probe, progress);
        }
        let shadow = Shadow::new(&self.geometry, &self.firmware);
        let (report, (_, probe)) = self.run(config, options, workload, (shadow, probe), progress)?;
        Ok((report, probe))
    }

    /// Runs a workload on this drive. `probe` observes the run, and is returned.
    ///
    /// # Errors
    /// As [`run`]. A series with more bins than can be stored, or too many edges, ends the run; [`Report::status`] says
    /// so.
    ///
    /// # Panics
    /// If the options ask for a series and the probe is `()`, which records none; [`Recording`] does.
    pub fn run<P: Probe>(
        self,
        config: &Config,
        options: &RunOptions,
        workload: &mut dyn Workload,
        probe: P,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Report, P), Error> {
        self.check_config(config)?;
        self.expect(config.run.requests(workload.len_hint()));
        if let Replay::Flashsim(rules) = &config.run.replay {
            return Ok((self.replay(rules, config, options, workload, progress)?, probe));
        }
        let ssd = Ssd::new(&config.ssd(), self.firmware, self.array, options.series(), probe);
        let (report, ssd) = simulate(config, options, ssd, workload, self.start, progress)?;
        Ok((report, ssd.into_parts().0.probe))
    }

    /// Prepares for a number of requests, if it is known.
    ///
    /// Huge pages make look-ups fast. But a short run on a large drive uses few places, and the system clears a whole huge page
    /// for each: of 500,000 requests to 512 GB that took as long as all the rest.
    fn expect(&self, requests: Option<u64>) {
        const PAGES_PER_REQUEST: u64 = 16;
        let pages = u64::from(self.geometry.logical_units);
        if requests.is_none_or(|requests| requests.saturating_mul(PAGES_PER_REQUEST) > pages) {
            self.firmware.on_huge_pages();
        }
    }

    /// Replays a workload on this drive without a clock.
    fn replay(
        self,
        rules: &Flashsim,
        config: &Config,
        options: &RunOptions,
        workload: &mut dyn Workload,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Report, Error> {
        let device = Untimed::new(rules, config.device.logical_bytes, self.geometry, self.firmware, self.array);
        let mut joined = rules.merge_requests.then(|| Joined::new(&mut *workload));
        match &mut joined {
            Some(joined) => Ok(simulate(config, options, device, joined, self.start, progress)?.0),
            None => Ok(simulate(config, options, device, workload, self.start, progress)?.0),
        }
    }

    /// A drive at rest, made from its parts.
    pub(crate) fn from_parts(
        config: &Config,
        geometry: Geometry,
        firmware: Firmware,
        array: Array,
        start: Start,
    ) -> Self {
        StartState { geometry, firmware, array, start, made_from: MadeFrom::new(config) }
    }

    /// The content of a snapshot, and the warnings of the preparation.
    pub(crate) fn state(&mut self) -> (snapshot::DriveState<'_>, Vec<String>) {
        (snapshot::DriveState { firmware: &mut self.firmware, array: &mut self.array }, self.start.warnings.clone())
    }

    /// The drive's layout.
    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Refuses a configuration for another drive.
    fn check_config(&self, config: &Config) -> Result<(), Error> {
        config.check_seal()?;
        if self.made_from == MadeFrom::new(config) {
            return Ok(());
        }
        let fault = Fault::at(Place::default(), "the start state was made for another drive");
        Err(Error::Config(vec![fault.expected("the [device], [ftl], [gc] and [wear] that it was made from")]))
    }

    /// The drive itself, at time 0.
    pub(crate) fn into_ssd<P: Probe>(self, config: &Config, probe: P) -> (Ssd<P>, Start) {
        self.expect(None);
        (Ssd::new(&config.ssd(), self.firmware, self.array, None, probe), self.start)
    }
}

/// The report of a run that has ended.
pub(crate) fn conclude<D: Reported>(
    config: &Config,
    options: &RunOptions,
    mut outcome: Outcome<D::Figures>,
    device: &D,
    workload: &mut dyn Workload,
    start: Start,
) -> Report {
    let Start { mut warnings, snapshot } = start;
    if outcome.completed.requests() == 0 && matches!(outcome.end, End::Complete) {
        outcome.end = End::Failed(nothing_measured(config, &outcome));
    }
    if matches!(outcome.end, End::Complete)
        && let Err(error) = workload.finish()
    {
        outcome.end = End::Failed(error);
    }
    let mut recorded = outcome.series.take();
    if let Some(full) = recorded.take_if(|series| series.overflowed()) {
        outcome.end = End::Failed(options.overflow(&full));
    }
    let parts = device.parts(config);
    let series = recorded.as_ref().and_then(|series| series.bins.as_ref()).map(|bins| bins.price(&parts));
    if let Err(error) = audit(device, config, &outcome, series.as_ref())
        && !matches!(outcome.end, End::Failed(_))
    {
        outcome.end = End::Failed(error);
    }
    let edges = recorded.as_ref().and_then(|series| series.edges.as_ref()).map(|edges| edges.price(&parts));
    let measured = outcome.counted_ns(config.run.count_drain);
    warnings.extend(edges.as_ref().zip(options.edges_ns).and_then(|(edges, window)| missed(edges, window, measured)));
    let latency_histogram = options.latency_histogram;
    Report::new(ReportInput { config, workload, outcome, device, series, edges, latency_histogram, warnings, snapshot })
}

/// Number of times that the whole drive is overwritten to reach the steady state by brute force.
const STEADY_TURNOVERS: u64 = 4;
/// Separates the random draws of a start state from those of the run.
const STEADY_SEED: u64 = 0x5eed_57a7e;

/// The run ended before a request had completed, or nothing was left to measure after the warm-up.
fn nothing_measured<F>(config: &Config, outcome: &Outcome<F>) -> Error {
    const WHAT: &str = "nothing was measured";
    let measured_ns = outcome.measured.end_ns.saturating_sub(outcome.measured.start_ns);
    let fault = match config.run.measure.ns {
        Some(ns) if measured_ns >= ns => {
            let found = format!("no request that completed within {} s", ns as f64 / 1e9);
            Fault::key("run.measure.seconds", WHAT).found(found).expected("a longer time")
        }
        _ if config.run.warmup == Span::default() => {
            Fault::key("workload", WHAT).found("a workload without a request").expected("one with some")
        }
        _ => {
            let requests = outcome.warmup.requests();
            let found = format!("a workload that ends in the warm-up, after {requests} requests");
            Fault::key("run.warmup", WHAT).found(found).expected("one that goes on after it")
        }
    };
    Error::from(fault)
}

fn no_room() -> Error {
    Error::from(
        Fault::key("device", "the drive has no room for the workload that preconditions it")
            .help("raise device.op_ratio or device.spare_fraction"),
    )
}
