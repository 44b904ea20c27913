//! `flashwatt._core.Drive`: a drive under the control of a Python program. Conversion only.

use std::sync::{Mutex, MutexGuard, TryLockError};

use flashwatt::config::load;
use flashwatt::connector::{Origin, Request, RequestKind};
use pyo3::prelude::*;

use crate::watch::watched;
use crate::{json, python_error, run_error};

/// A request that has ended: its tag, and its start and end times in ns.
type Done = (u32, u64, u64);

/// What a block holds: die, number, state, planned pages, valid map units and erases.
type Block = (u32, u32, &'static str, u32, u32, u32);

/// A drive; `None` after its report.
#[pyclass(frozen, module = "flashwatt._core")]
pub(crate) struct Drive(Mutex<Option<State>>);

struct State {
    drive: flashwatt::Drive,
    /// Requests that have ended but were not returned to the caller yet.
    done: Vec<flashwatt::Done>,
}

#[pymethods]
impl Drive {
    #[new]
    fn new(
        py: Python<'_>,
        config_text: String,
        file_name: String,
        sets: Vec<String>,
        cuttable: bool,
    ) -> PyResult<Self> {
        let drive = watched(py, None, move |progress| {
            let config = load(&config_text, &file_name, &sets)?;
            match cuttable {
                true => flashwatt::Drive::cuttable(&config, progress),
                false => flashwatt::Drive::watched(&config, progress),
            }
        })?;
        Ok(Drive(Mutex::new(Some(State { drive: drive.map_err(run_error)?, done: Vec::new() }))))
    }

    /// Sends a request, now if `at_ns` is `None`. Returns its tag.
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
        let request = Request { fua, origin: Origin(origin), process: origin, ..request };
        drive.send(request).map(|tag| tag.0).map_err(python_error)
    }

    /// Simulates up to a time. Returns the requests that have ended. An exception of a signal handler stops the drive
    /// at the present time; the next call returns the requests that ended before.
    fn advance(&self, py: Python<'_>, until_ns: u64) -> PyResult<Vec<Done>> {
        let mut state = self.lock()?;
        let State { drive, done } = open(&mut state)?;
        let mut raised = None;
        let mut stop = || Python::attach(|py| py.check_signals()).map_err(|error| raised = Some(error)).is_err();
        py.detach(|| drive.advance_unless(until_ns, done, &mut stop)).map_err(python_error)?;
        raised.map_or_else(|| Ok(given(done)), Err)
    }

    /// Simulates up to the first instant at which requests end, or to the given time if that is earlier. Returns the
    /// ended requests.
    fn advance_to_done(&self, py: Python<'_>, until_ns: u64) -> PyResult<Vec<Done>> {
        let mut state = self.lock()?;
        let State { drive, done } = open(&mut state)?;
        if done.is_empty() {
            py.detach(|| drive.advance_to_done(until_ns, done)).map_err(python_error)?;
        }
        Ok(given(done))
    }

    /// Sends the command to sleep. Returns whether the drive has a state to sleep in.
    fn sleep(&self, py: Python<'_>) -> PyResult<bool> {
        let mut state = self.lock()?;
        let drive = &mut open(&mut state)?.drive;
        py.detach(|| drive.sleep()).map_err(python_error)
    }

    /// Cuts the power now. Returns the requests that are lost by that, and what came of the cut as JSON.
    fn cut(&self, py: Python<'_>) -> PyResult<(Vec<Done>, String)> {
        let mut state = self.lock()?;
        let drive = &mut open(&mut state)?.drive;
        let mut cut = py.detach(|| drive.cut()).map_err(python_error)?;
        Ok((given(&mut cut.lost), json(&cut.cut)?))
    }

    /// Time of the next event in ns; `None` if nothing happens without another request.
    fn next_event_ns(&self) -> PyResult<Option<u64>> {
        self.drive(|drive| drive.next_event_ns())?.map_err(python_error)
    }

    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.drive(|drive| drive.now_ns())
    }

    #[getter]
    fn logical_bytes(&self) -> PyResult<u64> {
        self.drive(|drive| drive.logical_bytes())
    }

    fn energy_j(&self) -> PyResult<f64> {
        self.drive(|drive| drive.energy_j())
    }

    /// Energy in J from +5 V and from +12 V.
    fn energy_by_supply_j(&self) -> PyResult<(f64, f64)> {
        let energies = self.drive(|drive| drive.energy_by_supply_j())?;
        Ok((energies.v5, energies.v12))
    }

    fn power_w(&self) -> PyResult<f64> {
        self.drive(|drive| drive.power_w())
    }

    fn blocks(&self) -> PyResult<Vec<Block>> {
        let blocks = self.drive(|drive| drive.blocks())?.map_err(python_error)?;
        let row = |one: flashwatt::BlockContent| {
            (one.die, one.block, one.state, one.planned_pages, one.valid_units, one.erases)
        };
        Ok(blocks.into_iter().map(row).collect())
    }

    /// Completes all work, ends the drive, and returns the report as JSON, with the histogram of latencies.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let State { drive, .. } = self.lock()?.take().ok_or_else(reported)?;
        json(&py.detach(|| drive.report_with_histogram()))
    }
}

impl Drive {
    fn drive<T>(&self, ask: impl FnOnce(&mut flashwatt::Drive) -> T) -> PyResult<T> {
        Ok(ask(&mut open(&mut *self.lock()?)?.drive))
    }

    /// Locks without waiting: a thread that waited here with Python's lock would block the thread that holds the drive.
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
