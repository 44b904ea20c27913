//! Every workload by its name, what opens one, and a workload made of another one.

use flashwatt_base::error::Error;
use flashwatt_base::progress::Progress;
use flashwatt_base::registry::{Entry, Named};
use flashwatt_core::connector::Workload;

use crate::{fio, settings, standin, synthetic, trace};

mod files;
mod joined;

pub use files::open as open_files;
pub use joined::Joined;

/// Workloads that are no model of their own: read from files, or fitted to published figures. [`open_watched`] makes them.
const OTHERS: &[Entry<()>] = &[files::ENTRY, fio::ENTRY, standin::ENTRY, trace::ENTRY];

/// Every workload that a configuration can name, the default first.
pub fn registry() -> impl Iterator<Item = &'static dyn Named> {
    let models = synthetic::MODELS.iter().map(|model| model as &dyn Named);
    models.chain(OTHERS.iter().map(|other| other as &dyn Named))
}

/// Opens the workload that a configuration names, for a drive of `drive_bytes` bytes. All its random draws depend on
/// `seed` alone.
///
/// # Errors
/// [`Error::Io`] if a file cannot be read; [`Error::Config`] or [`Error::Trace`] if a job file or a trace is wrong.
pub fn open(cfg: &settings::Workload, drive_bytes: u64, seed: u64) -> Result<Box<dyn Workload>, Error> {
    open_watched(cfg, drive_bytes, seed, &mut |_| true)
}

/// As [`open`], with reports of progress: a trace is read to its end before it is replayed, which can take long.
/// `progress` is called from time to time and ends the reading by returning `false`.
///
/// # Errors
/// As [`open`], and [`Error::InterruptedReading`] if `progress` returned `false`.
pub fn open_watched(
    cfg: &settings::Workload,
    drive_bytes: u64,
    seed: u64,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Box<dyn Workload>, Error> {
    match cfg {
        settings::Workload::Synthetic(cfg) => Ok(synthetic::open(cfg, seed)),
        settings::Workload::Fio(cfg) => Ok(Box::new(fio::FioWorkload::open(cfg, drive_bytes, seed)?)),
        settings::Workload::Files(cfg) => Ok(Box::new(files::open(cfg, seed, progress)?)),
        settings::Workload::Standin(cfg) => standin::open(cfg, drive_bytes, seed),
        settings::Workload::Trace(cfg) => Ok(Box::new(trace::TraceWorkload::open_watched(cfg, drive_bytes, progress)?)),
    }
}
