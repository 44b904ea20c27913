//! Looks after Python while the engine runs without its lock: signals and the progress callback, ten times a second.

use std::time::{Duration, Instant};

use flashwatt::Progress;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Long enough to cost nothing, short enough for a smooth bar and a prompt Ctrl-C.
const PERIOD: Duration = Duration::from_millis(100);

pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    next: Instant,
    raised: Option<PyErr>,
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Watch { callback, next: Instant::now() + PERIOD, raised: None }
    }

    /// Called by the engine as often as it likes. `false` asks it to stop and keep what there is.
    pub(crate) fn tick(&mut self, progress: &Progress) -> bool {
        let now = Instant::now();
        if now < self.next {
            return true;
        }
        self.next = now + PERIOD;
        Python::attach(|py| self.look(py, progress)).unwrap_or_else(|error| {
            self.raised = Some(error);
            false
        })
    }

    fn look(&self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        py.check_signals()?;
        let Some(callback) = &self.callback else { return Ok(true) };
        let arguments = (progress.requests_done, progress.requests_total, progress.now_ns);
        let answer = callback.bind(py).call1(arguments)?;
        Ok(!answer.is(pyo3::types::PyBool::new(py, false)))
    }

    /// An exception that has to go on. Ctrl-C does not: its answer is the report of an interrupted run.
    pub(crate) fn into_result(self) -> PyResult<()> {
        match self.raised {
            Some(error) if !Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) => Err(error),
            _ => Ok(()),
        }
    }
}
