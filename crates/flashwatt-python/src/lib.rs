//! `flashwatt._core`: the Python interface of the engine. Conversion only: text in, JSON text out, errors as one
//! exception.

use std::path::PathBuf;

use flashwatt::Error;
use flashwatt::config::{self, Cuts, PowerCuts, Workload, load};
use flashwatt::workload::{standin, trace};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

mod drive;
mod live;
mod models;
mod watch;

use watch::watched;

pyo3::create_exception!(
    flashwatt,
    FlashwattError,
    PyValueError,
    "What the user wrote cannot be run: the message names the place, what was found and what was expected."
);

pyo3::create_exception!(
    flashwatt,
    RunInterruptedError,
    FlashwattError,
    "It was ended before there was anything to report: while a trace was read, or the drive's start state laid down."
);

fn python_error(error: impl std::fmt::Display) -> PyErr {
    FlashwattError::new_err(error.to_string())
}

fn run_error(error: Error) -> PyErr {
    match error {
        Error::Interrupted { .. } | Error::InterruptedReading { .. } => RunInterruptedError::new_err(error.to_string()),
        other => python_error(other),
    }
}

/// Runs a configuration and returns the report as JSON. Ctrl-C, or a `progress` that returns `False`, ends the run
/// early: the report then covers the simulated part and has the status "interrupted". `against` is a configuration that runs beside this one
/// and that its figures are compared with. `started` is called on the
/// engine's thread when the start state is complete and the simulation begins, and again when it has ended and power cuts follow.
/// `start_state` is a file with the start state of this configuration, which [`shared_start`] says who shares.
#[pyfunction]
#[pyo3(signature = (config_text, file_name, sets, op_log=None, series_interval_ns=None, progress=None, check=false, latency_histogram=false, edges_ns=None, started=None, force=false, request_log=None, dispatch_log=None, capture=None, against=None, start_state=None))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
fn run(
    py: Python<'_>,
    config_text: String,
    file_name: String,
    sets: Vec<String>,
    op_log: Option<PathBuf>,
    series_interval_ns: Option<u64>,
    progress: Option<Py<PyAny>>,
    check: bool,
    latency_histogram: bool,
    edges_ns: Option<(u64, u64)>,
    started: Option<Py<PyAny>>,
    force: bool,
    request_log: Option<PathBuf>,
    dispatch_log: Option<PathBuf>,
    capture: Option<PathBuf>,
    against: Option<(String, String, Vec<String>)>,
    start_state: Option<PathBuf>,
) -> PyResult<String> {
    let options = flashwatt::RunOptions {
        op_log,
        request_log,
        dispatch_log,
        capture,
        start_state,
        force,
        series_interval_ns,
        edges_ns,
        latency_histogram,
        check,
        partner: None,
    };
    let report = watched(py, progress, move |progress| {
        let config = load(&config_text, &file_name, &sets)?;
        let mut halves = [None, Some(flashwatt::Preparation::PowerCuts)].into_iter().peekable();
        let baseline = against.map(|(text, name, sets)| load(&text, &name, &sets)).transpose()?;
        let mut told = |told: &flashwatt::Progress| {
            if halves.next_if_eq(&told.preparing).is_some() {
                started.iter().for_each(call);
            }
            progress(told)
        };
        match &baseline {
            Some(baseline) => flashwatt::run_against(&config, baseline, &options, &mut told),
            None => flashwatt::run(&config, &options, &mut told),
        }
    })?;
    json(&report.map_err(run_error)?)
}

/// Memory in bytes that a run of a configuration takes at most.
#[pyfunction]
fn memory_bytes(config_text: &str, file_name: &str, sets: Vec<String>) -> PyResult<u64> {
    Ok(flashwatt::memory_bytes(&load(config_text, file_name, &sets).map_err(run_error)?))
}

/// Prepares a drive, saves it to the file `to`, and returns a JSON description of the file. `progress` is called as by
/// [`run`]. `room` is called on the engine's thread with the length of the file before that is written; `False` is an error.
#[pyfunction]
#[pyo3(signature = (config_text, file_name, sets, to, run=false, progress=None, force=false, room=None))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
fn age(
    py: Python<'_>,
    config_text: String,
    file_name: String,
    sets: Vec<String>,
    to: PathBuf,
    run: bool,
    progress: Option<Py<PyAny>>,
    force: bool,
    room: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = flashwatt::AgeOptions { run, force };
    let aged = watched(py, progress, move |progress| {
        let config = load(&config_text, &file_name, &sets)?;
        let mut is_room = |bytes| room.as_ref().is_none_or(|room| agrees(room, bytes));
        flashwatt::age_within(&config, &to, &options, &mut is_room, progress)
    })?;
    json(&aged.map_err(run_error)?)
}

/// Cuts the power of the configured drive under its workload, and lets it come back each time; a report as JSON. Exactly one of
/// `cuts` (a number of random times), `at_ns` and `at_operation` (ascending lists) is given. `progress` is called with the cuts made and their
/// number, as by [`run`].
#[pyfunction]
#[pyo3(signature = (config_text, file_name, sets, cuts=None, at_ns=None, at_operation=None, twice=false, while_busy=false, progress=None))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
fn crash(
    py: Python<'_>,
    config_text: String,
    file_name: String,
    sets: Vec<String>,
    cuts: Option<u32>,
    at_ns: Option<Vec<u64>>,
    at_operation: Option<Vec<u64>>,
    twice: bool,
    while_busy: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let cuts = match (cuts, at_ns, at_operation) {
        (Some(number), None, None) => Cuts::Random(number),
        (None, Some(times), None) => Cuts::At(times),
        (None, None, Some(numbers)) => Cuts::Operations(numbers),
        _ => return Err(PyValueError::new_err("give one of cuts, at_ns and at_operation")),
    };
    let crash = watched(py, progress, move |progress| {
        let options = PowerCuts { cuts, twice, while_busy };
        flashwatt::crash(&load(&config_text, &file_name, &sets)?, &options, progress)
    })?;
    json(&crash.map_err(run_error)?)
}

/// The JSON schema of a cut in what [`crash`] gives: each figure with its meaning.
#[pyfunction]
fn cut_schema() -> String {
    flashwatt::cut_schema().to_string()
}

/// Where the files of a configuration's workload lie, as JSON: as they are laid down, or after the run. `progress` is called as by
/// [`run`].
#[pyfunction]
#[pyo3(signature = (config_text, file_name, sets, after_run=false, progress=None))]
fn inspect(
    py: Python<'_>,
    config_text: String,
    file_name: String,
    sets: Vec<String>,
    after_run: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let inspection = watched(py, progress, move |progress| {
        flashwatt::inspect(&load(&config_text, &file_name, &sets)?, after_run, progress)
    })?;
    json(&inspection.map_err(run_error)?)
}

/// Calls a function of this package that raises no exception; if it did, Python would print the exception.
fn call(function: &Py<PyAny>) {
    Python::attach(|py| {
        if let Err(error) = function.call0(py) {
            error.write_unraisable(py, Some(function.bind(py)));
        }
    });
}

/// As [`call`], of a function of this package that takes a number and answers yes or no.
fn agrees(function: &Py<PyAny>, number: u64) -> bool {
    Python::attach(|py| {
        let answer = function.call1(py, (number,)).and_then(|answer| answer.is_truthy(py));
        answer.unwrap_or_else(|error| {
            error.write_unraisable(py, Some(function.bind(py)));
            false
        })
    })
}

/// What the start state of a configuration depends on besides its seed and the engine, as JSON; `None` for one that is not worth
/// saving, or that depends on files.
#[pyfunction]
fn shared_start(py: Python<'_>, config_text: &str, file_name: &str, sets: Vec<String>) -> PyResult<Option<String>> {
    let config = py.detach(|| load(config_text, file_name, &sets)).map_err(python_error)?;
    flashwatt::shared_start(&config).as_ref().map(json).transpose()
}

/// Keeps traces in memory from now on, up to this number of bytes: several runs then read each once. 0 keeps none.
#[pyfunction]
fn keep_traces(bytes_max: u64) {
    trace::keep(bytes_max);
}

/// How many times this process has read traces for their layout: once for each replay of one that was not kept.
#[pyfunction]
fn trace_readings() -> u64 {
    trace::readings()
}

/// The resolved configuration as JSON.
#[pyfunction]
fn resolve(py: Python<'_>, config_text: &str, file_name: &str, sets: Vec<String>) -> PyResult<String> {
    let config = py.detach(|| load(config_text, file_name, &sets));
    json(&config.map_err(python_error)?)
}

/// The inputs of a run of the configuration: its seed; everything else as JSON, equal for every seed; the number of
/// requests of its workload (0 if unknown); and the files that it reads, as the user named them.
#[pyfunction]
fn definition(
    py: Python<'_>,
    config_text: &str,
    file_name: &str,
    sets: Vec<String>,
) -> PyResult<(u64, String, u64, Vec<PathBuf>)> {
    let mut config = py.detach(|| load(config_text, file_name, &sets)).map_err(python_error)?;
    let seed = std::mem::take(&mut config.run.seed);
    let requests = config.workload.requests().unwrap_or(0);
    Ok((seed, json(&config)?, requests, config.inputs()))
}

/// The configuration with its preset and overrides as one TOML text; for a file in the directory `beside`, if one is given.
#[pyfunction]
#[pyo3(signature = (config_text, file_name, sets, beside=None))]
fn merged(
    py: Python<'_>,
    config_text: &str,
    file_name: &str,
    sets: Vec<String>,
    beside: Option<PathBuf>,
) -> PyResult<String> {
    let merged = py.detach(|| match &beside {
        Some(beside) => config::merged_to(config_text, file_name, &sets, beside),
        None => config::merged(config_text, file_name, &sets),
    });
    merged.map_err(python_error)
}

/// The files that a run of the configuration would read, as the user named them.
#[pyfunction]
fn inputs(py: Python<'_>, config_text: &str, file_name: &str, sets: Vec<String>) -> PyResult<Vec<PathBuf>> {
    let config = py.detach(|| load(config_text, file_name, &sets)).map_err(python_error)?;
    Ok(config.inputs())
}

/// The power of a configuration's drive by what its parts do, with each of these numbers of dies at work, as JSON.
#[pyfunction]
fn power_levels(
    py: Python<'_>,
    config_text: &str,
    file_name: &str,
    sets: Vec<String>,
    dies: Vec<u32>,
) -> PyResult<String> {
    let levels = py.detach(|| flashwatt::power::power_levels(&load(config_text, file_name, &sets)?, &dies));
    json(&levels.map_err(python_error)?)
}

/// Prices a report with another table. Both are text; the names are for messages.
#[pyfunction]
fn reprice(
    py: Python<'_>,
    report_json: &str,
    report_name: &str,
    table_toml: &str,
    table_name: &str,
) -> PyResult<String> {
    py.detach(|| flashwatt::reprice(report_json, table_toml, table_name)).map_err(|error| match error {
        Error::Report(mut fault) => {
            fault.place.file = Some(report_name.to_string());
            python_error(fault)
        }
        other => python_error(other),
    })
}

/// Statistics of traces, as JSON: of the files that `path` names, with overrides of `workload.trace` in `sets`. `progress`
/// is called as by [`run`].
#[pyfunction]
#[pyo3(signature = (path, format=None, skip_bad=false, sets=None, progress=None))]
fn trace_info(
    py: Python<'_>,
    path: Paths,
    format: Option<String>,
    skip_bad: bool,
    sets: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let cfg = trace_config(path, format, skip_bad, &sets.unwrap_or_default())?;
    let info = watched(py, progress, move |progress| trace::info(&cfg, progress))?;
    json(&info.map_err(run_error)?)
}

/// The data for plots of traces, as JSON; parameters as for [`trace_info`].
#[pyfunction]
#[pyo3(signature = (path, format=None, skip_bad=false, sets=None, progress=None))]
fn trace_profile(
    py: Python<'_>,
    path: Paths,
    format: Option<String>,
    skip_bad: bool,
    sets: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let cfg = trace_config(path, format, skip_bad, &sets.unwrap_or_default())?;
    let profile = watched(py, progress, move |progress| trace::profile(&cfg, progress))?;
    json(&profile.map_err(run_error)?)
}

/// Fits a stand-in to traces, and returns it with the figures of both as JSON; parameters as for [`trace_info`].
#[pyfunction]
#[pyo3(signature = (path, format=None, skip_bad=false, sets=None, progress=None))]
fn standin_of_trace(
    py: Python<'_>,
    path: Paths,
    format: Option<String>,
    skip_bad: bool,
    sets: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let cfg = trace_config(path, format, skip_bad, &sets.unwrap_or_default())?;
    let fitted = watched(py, progress, move |progress| standin::of_trace(&cfg, progress))?;
    json(&fitted.map_err(run_error)?)
}

/// Converts traces to the file `to` and returns a JSON description of the file; the other parameters as for
/// [`trace_info`].
#[pyfunction]
#[pyo3(signature = (path, to, format=None, skip_bad=false, sets=None, to_format=None, drive_bytes=None, progress=None, force=false))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
fn trace_convert(
    py: Python<'_>,
    path: Paths,
    to: PathBuf,
    format: Option<String>,
    skip_bad: bool,
    sets: Option<Vec<String>>,
    to_format: Option<String>,
    drive_bytes: Option<u64>,
    progress: Option<Py<PyAny>>,
    force: bool,
) -> PyResult<String> {
    let cfg = trace_config(path, format, skip_bad, &sets.unwrap_or_default())?;
    let target = trace::Target { path: to, format: to_format, drive_bytes, force };
    let converted = watched(py, progress, move |progress| trace::convert(&cfg, &target, progress))?;
    json(&converted.map_err(run_error)?)
}

/// One path or several.
#[derive(FromPyObject)]
enum Paths {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

/// The trace that a configuration with only these overrides names. Paths are set afterwards: they need not be UTF-8.
fn trace_config(path: Paths, format: Option<String>, skip_bad: bool, sets: &[String]) -> PyResult<config::Trace> {
    let mut all = vec!["workload.trace.path=x".to_string(), format!("workload.trace.skip_bad={skip_bad}")];
    all.extend(sets.iter().cloned());
    let Workload::Trace(mut cfg) = load("", "<trace>", &all).map_err(python_error)?.workload else {
        return Err(python_error("the overrides name another workload than a trace"));
    };
    cfg.paths = match path {
        Paths::One(path) => vec![path],
        Paths::Several(paths) => paths,
    };
    if format.is_some() {
        cfg.format = format;
    }
    if cfg.paths.is_empty() { Err(python_error("no trace was named")) } else { Ok(cfg) }
}

/// The kinds of things that a user can name.
#[pyfunction]
fn kinds() -> Vec<String> {
    flashwatt::kinds()
}

/// The entries registered under a kind, as (name, description of one line); `None` for a kind that does not exist.
#[pyfunction]
fn list_names(kind: &str) -> Option<Vec<(String, String)>> {
    flashwatt::list(kind)
}

/// The entries registered under a kind, with their options, as JSON; `None` for a kind that does not exist.
#[pyfunction]
fn registered(kind: &str) -> PyResult<Option<String>> {
    flashwatt::registered(kind).as_ref().map(json).transpose()
}

/// The JSON schema of configurations, as JSON.
#[pyfunction]
fn config_schema(py: Python<'_>) -> PyResult<String> {
    json(&py.detach(config::schema))
}

/// The reference of every configuration key, as JSON.
#[pyfunction]
fn config_reference(py: Python<'_>) -> PyResult<String> {
    json(&py.detach(config::reference))
}

/// The number, as JSON, that a text with a unit stands for as the value of a key; a key that no configuration has has the unit
/// that its name ends in.
#[pyfunction]
fn number(py: Python<'_>, key: &str, text: &str) -> PyResult<String> {
    json(&py.detach(|| config::number(key, text)).map_err(python_error)?)
}

/// The content of a preset as JSON: its head comment, and its keys with values and sources; `None` if there is no such
/// preset.
#[pyfunction]
fn preset_settings(name: &str) -> PyResult<Option<String>> {
    config::about(name).zip(config::settings(name)).as_ref().map(json).transpose()
}

/// Text that grows as long as there is memory.
struct Text(Vec<u8>);

impl std::io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.try_reserve(bytes.len()).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    let mut text = Text(Vec::new());
    match serde_json::to_writer(&mut text, value) {
        Ok(()) => String::from_utf8(text.0).map_err(python_error),
        Err(error) if error.is_io() => {
            let found = text.0.len().div_ceil(1_000_000);
            Err(python_error(format!(
                "the result needs more memory than there is; found {found} MB of text and no room for more; expected fewer bins of a \
                 longer interval (series), a shorter window (edges), or more memory"
            )))
        }
        Err(error) => Err(python_error(error)),
    }
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{
        FlashwattError, RunInterruptedError, age, config_reference, config_schema, crash, cut_schema, definition,
        inputs, inspect, keep_traces, kinds, list_names, memory_bytes, merged, number, power_levels, preset_settings,
        registered, reprice, resolve, run, shared_start, standin_of_trace, trace_convert, trace_info, trace_profile,
        trace_readings,
    };

    #[pymodule_export]
    use super::drive::Drive;

    #[pymodule_export]
    use super::live::{LiveTarget, Meter, Offsets};

    #[pymodule_export]
    use super::models::{mapping_memory, rftl_model};

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // a Python name
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// SHA-256 of the sources that the library is compiled from (build.rs). Builds of equal sources give equal results.
    #[pymodule_export]
    const BUILD_ID: &str = env!("FLASHWATT_BUILD_ID");

    #[pymodule_export]
    const REPORT_SCHEMA: u32 = flashwatt::report::SCHEMA;
}
