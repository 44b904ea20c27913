//! Prepares a drive and saves it: `flashwatt age`.

use std::path::Path;

use serde::Serialize;

use crate::config::Config;
use crate::error::{Error, Fault};
use crate::kernel::{End, Sim};
use crate::output::{Aside, Rules};
use crate::progress::Progress;
use crate::run::StartState;
use crate::snapshot;
use crate::ssd::Ssd;
use crate::workload;

/// What a preparation is asked for besides its configuration.
#[derive(Clone, Debug, Default)]
pub struct AgeOptions {
    /// Run the workload too, in simulated time: as the configuration measures it, with the warm-up before it and the drain
    /// behind it. Else the drive is saved in its start state.
    pub run: bool,
    /// Replace a file that is no snapshot.
    pub force: bool,
}

/// What was saved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aged {
    /// The base name of the file.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// The version of its format.
    pub format: u32,
    /// Blocks erased since the drive was new. Start states that are laid down without a clock are not counted.
    pub erases: u64,
    /// What there is to be said of the preparation.
    pub warnings: Vec<String>,
}

/// Prepares the drive of a configuration and saves it to `path`, from which runs begin by
/// `run.precondition = { snapshot = "FILE" }`. The file is there when it is whole; what it may replace, [`crate::output`]
/// says. `progress` is told how far it is, and ends it by answering `false`; then nothing is left behind.
///
/// # Errors
/// As [`crate::run()`]; a workload that does not come to its end is an error, too.
pub fn age(
    config: &Config,
    path: &Path,
    options: &AgeOptions,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Aged, Error> {
    let rules = Rules { inputs: config.inputs(), what: "a snapshot", ours: snapshot::is_one, force: options.force };
    let file = Aside::new(path, rules)?;
    let mut drive = StartState::watched(config, progress)?;
    if options.run {
        drive = worked(drive, config, progress)?;
    }
    let (state, warnings) = drive.state();
    let erases = state.array.erase_counts().map(u64::from).sum();
    let (sha256, bytes) = snapshot::save(config, state, &warnings, &file)?;
    file.commit()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Aged { file: name, bytes, sha256, format: snapshot::VERSION, erases, warnings })
}

/// The drive after its workload and the drain.
fn worked(
    drive: StartState,
    config: &Config,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<StartState, Error> {
    let (bytes, seed) = (config.device.logical_bytes, config.run.seed);
    let mut workload = workload::open_watched(&config.workload, bytes, seed, progress)?;
    let geometry = drive.geometry().clone();
    let (ssd, start) = drive.into_ssd(config, ());
    let (outcome, ssd): (_, Ssd<()>) = Sim::new(config, ssd, &mut *workload).run(config.run.warmup, progress);
    match outcome.end {
        End::Complete => workload.finish()?,
        End::Failed(error) => return Err(error),
        End::Interrupted => {
            let total = config.run.requests(workload.len_hint());
            return Err(Error::Interrupted { done: outcome.completed.requests(), total });
        }
        End::OutOfBudget(operations) => {
            let fault = Fault::key("run.max_flash_ops", "the workload did not come to its end");
            return Err(fault.found(format!("{operations} operations")).expected("more, or no such key").into());
        }
    }
    let (_, brain, array) = ssd.into_parts();
    Ok(StartState::from_parts(config, geometry, brain, array, start))
}
