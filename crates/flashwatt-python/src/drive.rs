//! `flashwatt._core.Drive`: a drive that a Python program drives. Conversion only.

use std::sync::{Mutex, MutexGuard, TryLockError};

use flashwatt::config::load;
use flashwatt::connector::{Origin, Request, RequestKind};
use pyo3::prelude::*;

use crate::watch::watched;
use crate::{json, python_error, run_error};

/// A request that has ended: its tag, when it was sent and when it ended.
type Done = (u32, u64, u64);

/// A drive; `None` once it has been reported.
#[pyclass(frozen, module = "flashwatt._core")]
pub(crate) struct Drive(Mutex<Option<State>>);

struct State {
    drive: flashwatt::Drive,
    /// Requests that have ended and were not given to the caller yet.
    done: Vec<flashwatt::Done>,
}

#[pymethods]
impl Drive {
    #[new]
    fn new(py: Python<'_>, config_text: String, file_name: String, sets: Vec<String>) -> PyResult<Self> {
        let drive = watched(py, None, move |progress| {
            flashwatt::Drive::watched(&load(&config_text, &file_name, &sets)?, progress)
        })?;
        Ok(Drive(Mutex::new(Some(State { drive: drive.map_err(run_error)?, done: Vec::new() }))))
    }

    /// Sends a request, now if `at_ns` is `None`; gives its tag.
    fn submit(
        &self,
        kind: &str,
        offset_bytes: u64,
        bytes: u64,
        at_ns: Option<u64>,
        fua: bool,
        origin: u16,
    ) -> PyResult<u32> {
        let mut state = self.lock()?;
        let drive = &mut open(&mut state)?.drive;
        let at_ns = at_ns.unwrap_or_else(|| drive.now_ns());
        let request = Request::new(at_ns, kind_of(kind)?, offset_bytes, bytes);
        let request = Request { fua, origin: Origin(origin), ..request };
        drive.send(request).map(|tag| tag.0).map_err(python_error)
    }

    /// Goes on to a time; gives the requests that have ended. An exception of a signal handler stops the drive where it is;
    /// what has ended by then is given by the next call.
    fn advance(&self, py: Python<'_>, until_ns: u64) -> PyResult<Vec<Done>> {
        let mut state = self.lock()?;
        let State { drive, done } = open(&mut state)?;
        let mut raised = None;
        let mut stop = || Python::attach(|py| py.check_signals()).map_err(|error| raised = Some(error)).is_err();
        py.detach(|| drive.advance_unless(until_ns, done, &mut stop)).map_err(python_error)?;
        raised.map_or_else(|| Ok(given(done)), Err)
    }

    /// Goes on to the first instant at which requests end, if that is not later than a time; gives those.
    fn advance_to_done(&self, py: Python<'_>, until_ns: u64) -> PyResult<Vec<Done>> {
        let mut state = self.lock()?;
        let State { drive, done } = open(&mut state)?;
        if done.is_empty() {
            py.detach(|| drive.advance_to_done(until_ns, done)).map_err(python_error)?;
        }
        Ok(given(done))
    }

    /// When something happens next, if anything does without another request.
    fn next_event_ns(&self) -> PyResult<Option<u64>> {
        self.drive(|drive| drive.next_event_ns())?.map_err(python_error)
    }

    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.drive(|drive| drive.now_ns())
    }

    fn energy_j(&self) -> PyResult<f64> {
        self.drive(|drive| drive.energy_j())
    }

    fn power_w(&self) -> PyResult<f64> {
        self.drive(|drive| drive.power_w())
    }

    /// Lets everything end, ends the drive, and gives the report as JSON, with the histogram of latencies.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let State { drive, .. } = self.lock()?.take().ok_or_else(reported)?;
        json(&py.detach(|| drive.report_with_histogram()))
    }
}

impl Drive {
    fn drive<T>(&self, ask: impl FnOnce(&mut flashwatt::Drive) -> T) -> PyResult<T> {
        Ok(ask(&mut open(&mut *self.lock()?)?.drive))
    }

    /// Waits for nobody: a thread that waited here with Python's lock would keep the other one from going on.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<State>>> {
        self.0.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                python_error("drive: found a call while another one is under way; expected one at a time")
            }
            TryLockError::Poisoned(_) => {
                python_error("drive: an earlier call broke off in the middle; expected a new Drive")
            }
        })
    }
}

fn open(state: &mut Option<State>) -> PyResult<&mut State> {
    state.as_mut().ok_or_else(reported)
}

fn reported() -> PyErr {
    python_error("drive: found a call after `report`, which ends the drive; expected a new Drive")
}

fn given(done: &mut Vec<flashwatt::Done>) -> Vec<Done> {
    done.drain(..).map(|one| (one.tag.0, one.submitted_ns, one.end_ns)).collect()
}

fn kind_of(name: &str) -> PyResult<RequestKind> {
    match name {
        "read" => Ok(RequestKind::Read),
        "write" => Ok(RequestKind::Write),
        "trim" => Ok(RequestKind::Trim),
        "flush" => Ok(RequestKind::Flush),
        _ => Err(python_error(format!(
            "kind: unknown name; found `{name}`; expected one of `read`, `write`, `trim`, `flush`"
        ))),
    }
}
