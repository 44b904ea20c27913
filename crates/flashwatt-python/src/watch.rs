//! Runs the engine on a thread of its own, so that Python's thread can handle signals and call the progress callback
//! ten times a second. A second Ctrl-C takes effect even while the engine does not check for one (reading a long
//! trace).

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use flashwatt::{Preparation, Progress};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Long enough to cost nothing, short enough for a smooth progress bar and a prompt Ctrl-C.
const PERIOD: Duration = Duration::from_millis(100);
/// The usual stack size of a program's first thread.
const STACK_BYTES: usize = 8 << 20;

/// Shared state of the two threads.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    progress: Mutex<Option<Progress>>,
}

/// Runs `work` and returns its result. `work` receives the engine's progress callback: `false` asks it to stop and keep
/// its results so far.
///
/// The first Ctrl-C stops the work, whose result then still counts. A second Ctrl-C, or a second exception of any kind,
/// returns without waiting for the work. An exception of the callback stops the work and is raised after it has ended.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(&Progress) -> bool) -> T + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let theirs = Arc::clone(&shared);
    let (sender, results) = channel();
    let engine = thread::Builder::new().name("flashwatt".into()).stack_size(STACK_BYTES).spawn(move || {
        // After a second Ctrl-C the receiver is gone.
        let _ = sender.send(work(&mut |progress| theirs.tick(progress)));
    })?;
    py.detach(move || match wait(&results, &shared, callback.as_ref()) {
        Ok(Some(result)) => Ok(result),
        Ok(None) => match engine.join() {
            Err(panic) => resume_unwind(panic),
            Ok(()) => unreachable!("the engine's thread ends with a result or a panic"),
        },
        Err(error) => Err(error),
    })
}

/// `None`: the thread died without a result.
fn wait<T>(results: &Receiver<T>, shared: &Shared, callback: Option<&Py<PyAny>>) -> PyResult<Option<T>> {
    let mut raised = None;
    loop {
        match results.recv_timeout(PERIOD) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Ok(result) => return raised.filter(|error| !is_ctrl_c(error)).map_or(Ok(Some(result)), Err),
        }
        if let Err(error) = Python::attach(|py| look(py, shared, callback)) {
            shared.stop.store(true, Relaxed);
            if raised.replace(error).is_some() {
                return raised.map_or(Ok(None), Err);
            }
        }
    }
}

fn is_ctrl_c(error: &PyErr) -> bool {
    Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py))
}

fn look(py: Python<'_>, shared: &Shared, callback: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    let latest = shared.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (Some(callback), Some(progress)) = (callback, latest) else { return Ok(()) };
    let Progress { preparing, requests_done, requests_total, now_ns } = progress;
    let preparing = preparing.map(Preparation::name);
    let answer = callback.bind(py).call1((requests_done, requests_total, now_ns, preparing))?;
    if answer.is(pyo3::types::PyBool::new(py, false)) {
        shared.stop.store(true, Relaxed);
    }
    Ok(())
}

impl Shared {
    /// Called by the engine, many times a second.
    fn tick(&self, progress: &Progress) -> bool {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
        !self.stop.load(Relaxed)
    }
}
