//! Prepares a drive and saves it: `flashwatt age`.

use std::path::Path;

use serde::Serialize;

use crate::config::Config;
use crate::run::{StartState, is_not_cut, needs_a_clock};
use crate::snapshot::{self, Prepared};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::output::{Aside, Replace};
use flashwatt_base::progress::Progress;
use flashwatt_core::kernel::{End, Sim};
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::nand::Reserve;
use flashwatt_ssd::nand::reserve::{Refused, ReserveRow};
use flashwatt_workload as workload;

/// Options of a preparation besides its configuration.
#[derive(Clone, Debug, Default)]
pub struct AgeOptions {
    /// Also run the workload in simulated time, with its warm-up and drain, before the drive is saved. Otherwise the
    /// drive is saved in its start state.
    pub run: bool,
    /// Replace an existing file that is not a snapshot.
    pub force: bool,
}

/// Asked before a file is written, with its length in bytes; false if there is no room for it.
pub type Room<'a> = &'a mut dyn FnMut(u64) -> bool;

/// The saved snapshot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aged {
    /// The base name of the file.
    pub file: String,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// Version of the snapshot format.
    pub format: u32,
    /// Blocks erased since the drive was new. A start state that is laid down without a clock adds nothing.
    pub erases: u64,
    /// Warnings of the preparation.
    pub warnings: Vec<String>,
}

/// Prepares the drive of a configuration and saves it to `path`. Runs begin from the file with `run.precondition = {
/// snapshot = "FILE" }`. The file appears only when it is complete; [`flashwatt_base::output`] states which files it may
/// replace. `progress` receives the progress; if it returns `false`, the preparation ends and leaves no file.
///
/// # Errors
/// As [`crate::run()`]; also if the workload does not run to its end.
pub fn age(
    config: &Config,
    path: &Path,
    options: &AgeOptions,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Aged, Error> {
    age_within(config, path, options, &mut |_| true, progress)
}

/// As [`age`], of a file for which there may be no room.
///
/// # Errors
/// As [`age`]; also if `room` says that there is none.
pub fn age_within(
    config: &Config,
    path: &Path,
    options: &AgeOptions,
    room: Room<'_>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Aged, Error> {
    if options.run && !config.run.replay.is_timed() {
        return Err(needs_a_clock("the workload of a preparation"));
    }
    if options.run && config.run.power_cuts.is_some() {
        return Err(is_not_cut("the workload of a preparation"));
    }
    if let Some(ssd) = config.drive.ssd().filter(|_| options.run) {
        Reserve::rows().filter(|row| ssd.device.reserves[row.reserve] > 0).try_for_each(check_reserve)?;
    }
    let rules = Replace { inputs: config.inputs(), what: "a snapshot", ours: snapshot::is_one, force: options.force };
    let file = Aside::new(path, rules)?;
    let mut drive = StartState::watched(config, progress)?;
    if options.run {
        drive = worked(drive, config, progress)?;
    }
    let (state, warnings) = drive.state();
    let prepared = Prepared { ran: options.run, warnings: warnings.clone() };
    let bytes = snapshot::length(config, state, &prepared)?;
    if !room(bytes) {
        let fault = Fault::key("room", "there is no room for the snapshot").found(format!("{bytes} bytes"));
        return Err(fault.expected("fewer, or more room").into());
    }
    let (state, _) = drive.state();
    let erases = state.array.erase_counts().map(u64::from).sum();
    let (sha256, bytes) = snapshot::save(config, state, &prepared, &file)?;
    file.commit()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Aged { file: name, bytes, sha256, format: snapshot::VERSION, erases, warnings })
}

/// Refuses a run that fills a reserve whose content is in no snapshot.
fn check_reserve(row: &ReserveRow) -> Result<(), Error> {
    let Some(Refused { what, found, expected }) = &row.refused else { return Ok(()) };
    let fault = Fault::key(row.key, format!("a snapshot does not hold the {what} of a run"));
    Err(fault.found(found).expected(format!("{expected}, or --run left out")).into())
}

/// The drive after its workload and the drain.
fn worked(
    drive: StartState,
    config: &Config,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<StartState, Error> {
    let (bytes, seed) = (config.logical_bytes(), config.run.seed);
    let mut workload = workload::open_watched(&config.workload, bytes, seed, progress)?;
    let geometry = drive.geometry().clone();
    let (ssd, start) = drive.into_ssd(config, None, None, ())?;
    let (outcome, ssd): (_, Ssd<()>) = Sim::new(&config.run.stages(), ssd, &mut *workload).run(progress);
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
    let (_, firmware, array) = ssd.into_parts();
    Ok(StartState::from_parts(config, geometry, firmware, array, start))
}
