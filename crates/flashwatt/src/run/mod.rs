//! One run, from a configuration to a report.

use std::io::BufWriter;
use std::path::PathBuf;

use crate::config::{Config, Drive, Precondition, Span};
use crate::precision::{Half, PrecisionReport, Rule, Settling, Shared};
use crate::report::audit::audit;
use crate::report::{Recorded, Report, ReportInput, Reported};
use crate::run::request_log::{Logged, RequestLog};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::output::Aside;
use flashwatt_base::progress::Progress;
use flashwatt_core::connector::{Device, Request, RequestSink, Workload};
use flashwatt_core::kernel::stop::Stop;
use flashwatt_core::kernel::{End, Outcome, Sim};
use flashwatt_files::Image;
use flashwatt_host::BlockLayer;
use flashwatt_ssd::observe::probe::OpLog;
pub use flashwatt_ssd::observe::probe::Recording;
use flashwatt_workload as workload;
use flashwatt_workload::trace::{LogPoint, TraceLog};

mod against;
pub(crate) mod age;
mod drives;
pub(crate) mod footprint;
pub(crate) mod inspect;
mod limits;
mod logs;
mod options;
pub mod power;
mod request_log;
pub(crate) mod shared_start;
mod start;

pub use against::{Partner, run_against};
pub(crate) use drives::{Needs, laid_down};
use logs::{CAPTURE, DISPATCH_LOG, OP_LOG, REQUEST_LOG, aside, finish, keep, written};
pub use options::RunOptions;
use options::missed;
pub(crate) use options::{is_not_cut, needs_a_clock, needs_an_ssd};
pub(crate) use start::Start;
pub use start::StartState;

/// As [`crate::run()`], of a configuration without power cuts.
///
/// # Errors
/// As there.
pub(crate) fn run_uncut(
    config: &Config,
    options: &RunOptions,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let (bytes, seed) = (config.partition_bytes(), config.run.seed);
    let mut workload = workload::open_watched(&config.workload, bytes, seed, progress)?;
    run_with(config, options, workload.as_mut(), progress)
}

/// As [`crate::run()`], with requests from `workload` instead of the configuration's own.
///
/// # Errors
/// As [`crate::run()`].
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
    finish(&mut report, "capture", capture, captured.map(|log| Box::new(log).close()));
    finish(&mut report, "request log", requests, logged.map(RequestLog::close));
    Ok(report)
}

/// As [`run_with`], of an array; without a capture and a request log. Also returns the requests that each member got, in order: the
/// `arrival_ns` of each is the time at which the drive got it.
///
/// # Errors
/// As [`crate::run()`]; a configuration without `[array]`.
pub fn run_array(
    config: &Config,
    options: &RunOptions,
    workload: &mut dyn Workload,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Report, Vec<Vec<Request>>), Error> {
    let Some(table) = config.drive.array() else {
        let fault = Fault::key("array", "only an array has members").found("a configuration without [array]");
        return Err(fault.expected("[array]").into());
    };
    options.check(config)?;
    let requests = config.run.requests(workload.len_hint());
    let (raid, start) = drives::array(config, table, Needs { record: &|| options.series(), requests }, progress)?;
    let (report, raid) = simulate(config, options, raid.recording(), workload, start, progress)?;
    Ok((report, raid.into_received()))
}

/// As [`run_with`], on the drive that the configuration describes.
fn run_workload(
    config: &Config,
    options: &RunOptions,
    workload: &mut dyn Workload,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    match &config.drive {
        Drive::Ssd(_) => run_ssd(config, options, workload, progress),
        Drive::Hdd(tables) => {
            let disk = drives::disk(config, &tables.hdd, options.series())?;
            begins(config, workload, progress);
            Ok(simulate(config, options, disk, workload, Start::default(), progress)?.0)
        }
        Drive::Array(table) => {
            let requests = config.run.requests(workload.len_hint());
            if options.series().is_none() && table.array.places().flatten().all(|drive| drive.ssd().is_some()) {
                let (raid, start) = drives::array_of_ssds(config, &table.array, requests, progress)?;
                begins(config, workload, progress);
                return Ok(simulate(config, options, raid, workload, start, progress)?.0);
            }
            let needs = Needs { record: &|| options.series(), requests };
            let (raid, start) = drives::array(config, &table.array, needs, progress)?;
            begins(config, workload, progress);
            Ok(simulate(config, options, raid, workload, start, progress)?.0)
        }
    }
}

/// As [`run_workload`], on an SSD, with or without an operation log.
fn run_ssd(
    config: &Config,
    options: &RunOptions,
    workload: &mut dyn Workload,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let log = options.op_log.as_deref().map(|path| aside(path, config, options.force, OP_LOG)).transpose()?;
    footprint::check(config, options.check)?;
    let image = (config.run.precondition == Precondition::Image).then(|| Image::of(workload)).flatten();
    let drive = match &options.start_state {
        Some(saved) => StartState::saved_or_holding(config, saved, image, progress)?,
        None => StartState::holding(config, image, progress)?,
    };
    begins(config, workload, progress);
    if log.is_some() || options.check {
        watched(drive, config, options, workload, log, progress)
    } else if options.series().is_some() {
        drive.run(config, options, workload, Recording, progress).map(|(report, _)| report)
    } else {
        drive.run(config, options, workload, (), progress).map(|(report, ())| report)
    }
}

/// Reports the start of the simulation; an interrupt is then noticed soon.
fn begins(config: &Config, workload: &dyn Workload, progress: &mut dyn FnMut(&Progress) -> bool) {
    let requests_total = config.run.requests(workload.len_hint());
    progress(&Progress { preparing: None, requests_done: 0, requests_total, now_ns: 0 });
}

/// Runs the configuration's workload on the caller's own device instead of the configured SSD. Of the configured drive
/// only `device.logical_bytes` counts: the workload's addresses lie within it.
///
/// The device records over time only if the caller gave it the recording of [`RunOptions::series`].
///
/// # Errors
/// As [`crate::run()`].
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
    if config.run.power_cuts.is_some() {
        return Err(is_not_cut("a run with a workload or a device of a program"));
    }
    let Some(host) = &config.host else {
        let (outcome, device, precision) = run_sim(config, options, device, workload, progress);
        return Ok((conclude(config, options, outcome, &device, workload, Start { precision, ..start }), device));
    };
    let file =
        options.dispatch_log.as_deref().map(|path| aside(path, config, options.force, DISPATCH_LOG)).transpose()?;
    let log = written(&file)?.map(|out| Box::new(TraceLog::new(out, LogPoint::Dispatch)) as Box<dyn RequestSink>);
    let layer = BlockLayer::new(host, config.logical_bytes(), &workload.origins(), device)?;
    let layer = layer.recording(options.depths()).logged(log);
    let (outcome, mut layer, precision) = run_sim(config, options, layer, workload, progress);
    let log = layer.take_log();
    let mut report = conclude(config, options, outcome, &layer, workload, Start { precision, ..start });
    finish(&mut report, "dispatch log", file, log.map(RequestSink::close));
    Ok((report, layer.into_device()))
}

/// A simulation to its end. With a precision the run ends when its figures are known, and a rule tells what it found.
fn run_sim<D: Device>(
    config: &Config,
    options: &RunOptions,
    device: D,
    workload: &mut dyn Workload,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> (Outcome<D::Figures>, D, Option<PrecisionReport>) {
    let sim = Sim::new(&config.run.stages(), device, workload);
    let Some(asked) = &config.run.measure.precision else {
        let (outcome, device) = sim.run(progress);
        return (outcome, device, None);
    };
    let tied = options.partner.as_ref().and_then(Partner::take_place);
    let settling = Settling::new(config, asked.least_requests);
    let has_begun = tied.as_ref().map_or(settling.begins_at_once(), |(_, has_begun)| *has_begun);
    let rule = Shared::new(Rule::new(asked, settling, has_begun));
    let stop: Box<dyn Stop> = match tied {
        Some((place, _)) => Box::new(Half { rule: rule.clone(), place }),
        None => Box::new(rule.clone()),
    };
    let (outcome, device) = sim.stopped_by(stop).run(progress);
    let report = PrecisionReport::new(&rule.rule(), &outcome.end);
    if let (Some(partner), Some(rule)) = (&options.partner, rule.into_rule()) {
        partner.leave(rule);
    }
    (outcome, device, Some(report))
}

/// Whether the start state of a run is that of its workload.
fn starts_settled(config: &Config) -> bool {
    Settling::new(config, 0).begins_at_once()
}

/// Runs under the shadow check, with an operation log, or with both: one type of observer, since the engine is compiled for each. If the log cannot be written (for instance on a full disk), the report's status says so,
/// and the simulated part is kept.
fn watched(
    drive: StartState,
    config: &Config,
    options: &RunOptions,
    workload: &mut dyn Workload,
    file: Option<Aside>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let log = file.as_ref().map(|file| Ok::<_, Error>(op_log(config, BufWriter::new(file.file()?)))).transpose()?;
    let (mut report, mut log) = drive.run_checked(config, options, workload, log, progress)?;
    let fault = log.as_mut().and_then(OpLog::take_error);
    drop(log);
    if let Some(file) = file {
        let written = fault.map_or(Ok(()), |source| Err(file.error(source)));
        keep(&mut report, "operation log", written.and_then(|()| file.commit()));
    }
    Ok(report)
}

/// The operation log of a drive.
fn op_log<W: std::io::Write>(config: &Config, out: W) -> OpLog<W> {
    if config.ssd().device.has_cells() { OpLog::with_cells(out) } else { OpLog::new(out) }
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
    let Start { mut warnings, snapshot, precision } = start;
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
    let Recorded { series, edges } =
        recorded.as_ref().map(|series| device.recorded(config, series)).unwrap_or_default();
    if let Err(error) = audit(device, config, &outcome, series.as_ref())
        && !matches!(outcome.end, End::Failed(_))
    {
        outcome.end = End::Failed(error);
    }
    let measured = outcome.counted_ns(config.run.count_drain);
    if options.partner.is_none() {
        warnings.extend(precision.as_ref().and_then(PrecisionReport::warning));
    }
    warnings.extend(edges.as_ref().zip(options.edges_ns).and_then(|(edges, window)| missed(edges, window, measured)));
    let of_device = device.report(config, &outcome);
    let total_j = device.energy_j(config, &outcome.counted(config.run.count_drain).0.figures);
    let drain_j = outcome.drain.as_ref().map_or(0.0, |drain| device.energy_j(config, &drain.figures));
    let (outcome, latency_histogram) = (outcome.without_figures(), options.latency_histogram);
    Report::new(ReportInput {
        config,
        workload,
        outcome,
        of_device,
        total_j,
        drain_j,
        series,
        edges,
        latency_histogram,
        warnings,
        snapshot,
        precision,
    })
}

/// The run ended before a request had completed, or nothing was left to measure after the warm-up.
fn nothing_measured<F>(config: &Config, outcome: &Outcome<F>) -> Error {
    const WHAT: &str = "nothing was measured";
    let measured_ns = outcome.measured.end_ns.saturating_sub(outcome.measured.start_ns);
    let fault = match config.run.measure.span.ns {
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
