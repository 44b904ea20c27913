//! `flashwatt._core`: the engine as Python sees it. Conversion only: text in, JSON text out, errors as one exception.

use std::path::PathBuf;

use flashwatt::Error;
use flashwatt::config::{Precondition, Workload, load};
use flashwatt::workload::trace;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
    "The run was ended before there was anything to report: while the drive's start state was laid down."
);

fn python_error(error: impl std::fmt::Display) -> PyErr {
    FlashwattError::new_err(error.to_string())
}

fn run_error(error: Error) -> PyErr {
    match error {
        Error::Interrupted { .. } => RunInterruptedError::new_err(error.to_string()),
        other => python_error(other),
    }
}

/// Runs a configuration and returns the report as JSON. Ctrl-C, or a `progress` that returns `False`, ends the run early:
/// the report of what was done comes back with the status "interrupted".
#[pyfunction]
#[pyo3(signature = (config_text, file_name, sets, op_log=None, series_interval_ns=None, progress=None, check=false, latency_histogram=false))]
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
) -> PyResult<String> {
    let options = flashwatt::RunOptions { op_log, series_interval_ns, latency_histogram, check };
    let report = watched(py, progress, move |progress| {
        let config = load(&config_text, &file_name, &sets)?;
        flashwatt::run(&config, &options, progress)
    })?;
    json(&report.map_err(run_error)?)
}

/// The configuration as the engine understands it, as JSON.
#[pyfunction]
fn resolve(py: Python<'_>, config_text: &str, file_name: &str, sets: Vec<String>) -> PyResult<String> {
    let config = py.detach(|| load(config_text, file_name, &sets));
    json(&config.map_err(python_error)?)
}

/// The files that a run of the configuration would read, as the user named them.
#[pyfunction]
fn inputs(py: Python<'_>, config_text: &str, file_name: &str, sets: Vec<String>) -> PyResult<Vec<PathBuf>> {
    let config = py.detach(|| load(config_text, file_name, &sets)).map_err(python_error)?;
    let mut workloads = vec![&config.workload];
    if let Precondition::Workload(workload) = &config.run.precondition {
        workloads.push(workload);
    }
    let path = |workload: &Workload| match workload {
        Workload::Trace(trace) => Some(trace.path.clone()),
        Workload::Uniform(_) => None,
    };
    Ok(workloads.into_iter().filter_map(path).collect())
}

/// Prices a report with another table; both are text, and the names are what messages call them.
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

/// Statistics of a trace file, as JSON.
#[pyfunction]
#[pyo3(signature = (path, format=None, skip_bad=false))]
fn trace_info(py: Python<'_>, path: PathBuf, format: Option<&str>, skip_bad: bool) -> PyResult<String> {
    let info = py.detach(|| trace::info(&path, format, skip_bad));
    json(&info.map_err(python_error)?)
}

/// What is registered under a kind, as (name, one line about it); `None` for a kind that does not exist.
#[pyfunction]
fn list_names(kind: &str) -> Option<Vec<(String, String)>> {
    flashwatt::list(kind)
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(python_error)
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{FlashwattError, RunInterruptedError, inputs, list_names, reprice, resolve, run, trace_info};

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // a Python name
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const REPORT_SCHEMA: u32 = flashwatt::report::SCHEMA;
}
