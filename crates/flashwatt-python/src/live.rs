//! `flashwatt._core.LiveTarget`, `Offsets` and `Meter`: real targets and power meters. Conversion only.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flashwatt::Progress;
use flashwatt_live::{Access, Load, Operation, Order, Span, Target, measure};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::python_error;
use crate::watch::watched;

/// Beginning in ns since 1970; start and end of each request after it, in ns, as 64-bit words; whether it was stopped.
type Measured<'py> = (u64, Bound<'py, PyBytes>, bool);

/// A real file or block device that is open.
#[pyclass(frozen, module = "flashwatt._core")]
pub(crate) struct LiveTarget(Arc<Target>);

#[pymethods]
impl LiveTarget {
    #[new]
    fn new(path: PathBuf, write: bool, buffered: bool, threads: bool) -> PyResult<Self> {
        let opened = Target::open(path, Access { write, buffered, threads });
        opened.map(|target| LiveTarget(Arc::new(target))).map_err(python_error)
    }

    #[getter]
    fn size_bytes(&self) -> u64 {
        self.0.size_bytes()
    }

    #[getter]
    fn sector_bytes(&self) -> u64 {
        self.0.sector_bytes()
    }

    #[getter]
    fn is_device(&self) -> bool {
        self.0.is_device()
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.0.engine().name()
    }

    /// Runs a load in a closed loop. `progress` is called as by `run`; `False` stops the load.
    #[pyo3(signature = (write, seed, span_bytes, align_bytes, request_bytes, requests, time_limit_ns, queue_depth, progress=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn measure<'py>(
        &self,
        py: Python<'py>,
        write: bool,
        seed: Option<u64>,
        span_bytes: u64,
        align_bytes: u64,
        request_bytes: u64,
        requests: u64,
        time_limit_ns: u64,
        queue_depth: u32,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Measured<'py>> {
        let operation = if write { Operation::Write } else { Operation::Read };
        let span = Span { bytes: span_bytes, align_bytes };
        let load = Load { operation, order: order(seed), span, request_bytes, requests, time_limit_ns, queue_depth };
        let target = Arc::clone(&self.0);
        let measured = watched(py, progress, move |progress| {
            measure(&target, &load, &mut |ended| {
                progress(&Progress { preparing: None, requests_done: ended, requests_total: Some(requests), now_ns: 0 })
            })
        })?;
        let measured = measured.map_err(python_error)?;
        let words = measured.requests.iter().flat_map(|one| [one.start_ns, one.end_ns]);
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        Ok((measured.began_unix_ns, PyBytes::new(py, &bytes), measured.stopped))
    }

    /// Waits until all that was written is on the medium.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.flush()).map_err(python_error)
    }
}

/// The offsets of a load, without end: sequential without a seed, else random.
#[pyclass(module = "flashwatt._core")]
pub(crate) struct Offsets(flashwatt_live::Offsets);

#[pymethods]
impl Offsets {
    #[new]
    #[pyo3(signature = (seed, span_bytes, align_bytes, request_bytes))]
    fn new(seed: Option<u64>, span_bytes: u64, align_bytes: u64, request_bytes: u64) -> PyResult<Self> {
        let span = Span { bytes: span_bytes, align_bytes };
        let offsets = flashwatt_live::Offsets::new(order(seed), span, request_bytes);
        offsets.map(Offsets).ok_or_else(|| {
            python_error(format!(
                "no request fits; found {request_bytes} bytes in a span of {span_bytes}; expected at least one that fits"
            ))
        })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self) -> Option<u64> {
        self.0.next()
    }
}

fn order(seed: Option<u64>) -> Order {
    seed.map_or(Order::Sequential, |seed| Order::Random { seed })
}

/// A thread that reads a number from a file at equal intervals until it is stopped.
#[pyclass(module = "flashwatt._core")]
pub(crate) struct Meter(Option<flashwatt_live::Meter>);

#[pymethods]
impl Meter {
    #[new]
    fn new(path: PathBuf, interval_ns: u64) -> PyResult<Self> {
        let meter = flashwatt_live::Meter::start(path, Duration::from_nanos(interval_ns));
        meter.map(|meter| Meter(Some(meter))).map_err(python_error)
    }

    /// Stops it; the readings as (ns since 1970, number). A second call has none.
    fn stop(&mut self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        let Some(meter) = self.0.take() else { return Ok(Vec::new()) };
        let readings = py.detach(|| meter.stop()).map_err(python_error)?;
        Ok(readings.iter().map(|one| (one.unix_ns, one.value)).collect())
    }
}
