//! Where requests come from: models, fio jobs and traces, each a [`Workload`].

use crate::connector::Workload;
use crate::error::Error;
use crate::progress::Progress;

pub mod fio;
pub mod settings;
pub mod standin;
pub mod synthetic;
pub mod trace;

/// Names and one-line docs of every workload that a configuration can name: the models, and what is read from files.
pub const NAMES: [(&str, &str); synthetic::MODELS.len() + FILES.len()] = {
    let mut names = [("", ""); synthetic::MODELS.len() + FILES.len()];
    let (models, mut at) = (synthetic::MODELS, 0);
    while at < names.len() {
        names[at] = if at < models.len() { (models[at].name, models[at].doc) } else { FILES[at - models.len()] };
        at += 1;
    }
    names
};

const FILES: &[(&str, &str)] = &[("fio", fio::DOC), ("standin", standin::DOC), ("trace", trace::DOC)];

/// Opens the workload that a configuration names, for a drive of so many bytes. What draws at random draws from `seed`.
pub fn open(cfg: &settings::Workload, drive_bytes: u64, seed: u64) -> Result<Box<dyn Workload>, Error> {
    open_watched(cfg, drive_bytes, seed, &mut |_| true)
}

/// As [`open`]; where that takes long (a trace is read to its end before it is replayed) `progress` is told how far it is,
/// and ends it by answering `false`.
pub fn open_watched(
    cfg: &settings::Workload,
    drive_bytes: u64,
    seed: u64,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Box<dyn Workload>, Error> {
    match cfg {
        settings::Workload::Synthetic(cfg) => Ok(synthetic::open(cfg, seed)),
        settings::Workload::Fio(cfg) => Ok(Box::new(fio::FioWorkload::open(cfg, drive_bytes, seed)?)),
        settings::Workload::Standin(cfg) => Ok(standin::open(cfg, drive_bytes, seed)),
        settings::Workload::Trace(cfg) => Ok(Box::new(trace::TraceWorkload::open_watched(cfg, drive_bytes, progress)?)),
    }
}
