//! fio's job files: the options that concern a block device in simulated time.
//!
//! ```text
//! file -> sections (lines) -> options (names, values) -> Job (validated) -> FioWorkload (stages of jobs)
//! ```
//!
//! `docs/workloads.md` lists the options that are understood ([`UNDERSTOOD`]) and those that are accepted without
//! effect because they cannot change the requests ([`WITHOUT_EFFECT`]). Any other option is an error. All jobs work on
//! the one simulated drive, in closed loops as in fio; times are simulated.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::settings;
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::registry::Entry;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, OriginKind, OriginName, SourceKind, Workload};

mod boost;
mod checked;
mod engines;
mod file;
mod file_options;
mod floor;
mod job;
mod lengths;
mod modes;
mod on_files;
mod options;
mod pace;
mod places;
mod random_map;
mod ranges;
mod reader;
mod refused;
mod resolve;
mod sections;
mod shape;
mod sharing;
mod spec;
mod stages;
mod stream;
#[cfg(test)]
mod tests;
mod timing;
mod units;
mod values;
mod variables;
mod verify;
mod without_effect;

pub use on_files::FioOnFiles;
pub use options::{ON_FILES, UNDERSTOOD};
use stages::Stages;
pub use without_effect::WITHOUT_EFFECT;

/// The registry entry of fio jobs.
pub(super) const ENTRY: Entry<()> = Entry {
    name: "fio",
    doc: "the jobs of a fio job file (`path`), in simulated time; see docs/workloads.md for the options",
    params: &[],
    build: (),
};

/// Longest accepted job file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The jobs of a file.
pub struct FioWorkload {
    name: String,
    sha256: String,
    stages: Stages,
    len: Option<u64>,
    warnings: Vec<String>,
    /// Names of the jobs, by origin.
    jobs: Vec<String>,
}

impl FioWorkload {
    /// Reads a job file, for a drive of `drive_bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Config`] with every fault: line, option, expected value.
    pub fn open(cfg: &settings::Fio, drive_bytes: u64, seed: u64) -> Result<Self, Error> {
        let io = |source| Error::Io { path: cfg.path.display().to_string(), source };
        let file = cfg.path.display().to_string();
        let text = read(&cfg.path, ("workload.fio.path", "a job file"), &file)?.map_err(io)?;
        let (text, values) = from_environment(&text, &file);
        let mut workload = Self::parse(&text, &file, cfg.timed, drive_bytes, seed)?;
        workload.warnings.splice(0..0, values);
        workload.name = cfg.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(workload)
    }

    /// Parses the text of a job file, for a drive of `drive_bytes` bytes. Messages call the text `file`. Without
    /// `timed` no simulated time passes, so the option `runtime` is a fault.
    ///
    /// # Errors
    /// [`Error::Config`] with every fault: line, option, expected value.
    pub fn parse(text: &str, file: &str, timed: bool, drive_bytes: u64, seed: u64) -> Result<Self, Error> {
        let (mut faults, mut warnings) = (Vec::new(), Vec::new());
        // Some editors begin a file with a byte order mark.
        let text_only = text.strip_prefix('\u{feff}').unwrap_or(text);
        let sections = sections::sections(text_only, file, &[], &mut faults, &mut warnings);
        let jobs = resolve::jobs(&sections, file, drive_bytes, &mut faults);
        if !timed {
            faults.extend(sections.iter().filter_map(resolve::endless));
        }
        if faults.is_empty() && jobs.is_empty() {
            let found = if text_only.trim().is_empty() { "an empty file" } else { "no section but [global]" };
            let place = Place { file: Some(file.to_string()), ..Place::default() };
            let fault = Fault::at(place, "no job in the file").found(found);
            faults.push(fault.expected("a section [NAME] besides [global]"));
        }
        if !faults.is_empty() {
            faults.sort_by_key(|fault| fault.place.line);
            return Err(Error::Config(faults));
        }
        let len = jobs.iter().try_fold(0, |sum: u64, job| sum.checked_add(job.len()?.checked_mul(job.clones)?));
        for warning in jobs.iter().flat_map(|job| &job.warnings) {
            // An option of [global] is one of several jobs.
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        warnings.extend(sharing::shared(&sections, &jobs, file));
        Ok(FioWorkload {
            name: file.to_string(),
            sha256: format!("{:x}", Sha256::digest(text)),
            stages: Stages::new(&jobs, seed),
            len,
            warnings,
            jobs: sections.into_iter().map(|section| section.name).collect(),
        })
    }
}

/// The text of a job file with the values of its variables, and a warning for each.
pub(super) fn from_environment(text: &str, file: &str) -> (String, Vec<String>) {
    variables::expanded(text, file, |name| std::env::var(name).ok())
}

/// The text of the file that a key names: a job file, or `what` it is. Errors if `path` is not a regular file or is longer than
/// [`FILE_BYTES_MAX`]; the inner result is that of the operating system.
pub(super) fn read(path: &Path, (key, what): (&str, &str), file: &str) -> Result<io::Result<String>, Error> {
    // The check comes before the file is opened: opening a pipe blocks until another process writes to it.
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return Ok(Err(error)),
    };
    if !metadata.is_file() {
        let fault = Fault::key(key, format!("not {what}")).found(file);
        return Err(fault.expected("a file with an end: no directory, pipe or device").into());
    }
    if metadata.len() > FILE_BYTES_MAX {
        let fault = Fault::key(key, format!("too long for {what}")).found(file);
        return Err(fault.expected(format!("at most {FILE_BYTES_MAX} bytes")).into());
    }
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    Ok(read.map(|_| text))
}

/// The seed of a clone, which is the job `number` of the file.
fn clone_seed(job: &spec::JobSpec, seed: u64, number: u64) -> u64 {
    job.randseed.unwrap_or(seed) ^ u64::wrapping_mul(number, 0x9e37_79b9_7f4a_7c15)
}

impl Workload for FioWorkload {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        Ok(self.stages.next(now))
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        self.stages.completed(done.tag, now);
    }

    fn prepares(&self) -> bool {
        self.stages.ramps()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }

    fn warnings(&self) -> Vec<String> {
        let slow = self.stages.too_slow().iter().map(|&section| {
            let name = self.jobs.get(section).map_or("", String::as_str);
            format!("{}: job {name}: a clone ended because it was slower than rate_min or rate_iops_min", self.name)
        });
        self.warnings.iter().cloned().chain(slow).collect()
    }

    fn input_sha256(&self) -> Option<String> {
        Some(self.sha256.clone())
    }

    fn origins(&self) -> Vec<OriginName> {
        self.jobs.iter().map(|name| OriginName { name: name.clone(), kind: OriginKind::Job }).collect()
    }

    fn len_hint(&self) -> Option<u64> {
        self.len
    }
}
