//! `[workload.files]`: a program of file operations on a file system.

use std::path::Path;

use super::fio::{FioOnFiles, read};
use crate::error::{Error, Fault};
use crate::files::settings::{Files, Program};
use crate::files::{End, FileId, FileWorkload, OpError, Source, program};
use crate::registry::{Entry, Parameters};
use crate::units::Nanos;

/// The registry entry of file operations.
pub(super) const ENTRY: Entry<()> = Entry {
    name: "files",
    doc: "threads that work on the files of a file system: a `personality`, or a program in filebench's language (`path`)",
    params: &[],
    build: (),
};

/// A program on a file system that is laid down now.
///
/// # Errors
/// [`Error::Io`] if the program cannot be read; [`Error::Config`] if it is wrong, or if its files do not fit on the disk.
pub(crate) fn open(cfg: &Files, seed: u64) -> Result<FileWorkload, Error> {
    let Opened { name, source, seconds } = opened(cfg, seed)?;
    let system = (cfg.system.entry.build.make)(&Parameters(&cfg.system.parameters), cfg.disk_bytes);
    let system = system.map_err(|fault| Error::Config(vec![*fault]))?;
    let seconds = cfg.seconds.or(seconds.filter(|_| cfg.operations.is_none()));
    let lasts_ns = seconds.map(|seconds| (seconds * 1e9).round() as Nanos);
    let end = End { operations: cfg.operations, lasts_ns };
    let asked: u64 = source.tree().files.iter().filter_map(|file| file.bytes).sum();
    FileWorkload::new(name, source, (cfg.system.entry.name, system), cfg.cache.clone(), cfg.processor.clone(), end)
        .map_err(|(file, error)| no_room(cfg, file, error, asked))
}

/// A program that can run.
struct Opened {
    name: String,
    source: Box<dyn Source>,
    /// The seconds that it runs by itself.
    seconds: Option<f64>,
}

fn opened(cfg: &Files, seed: u64) -> Result<Opened, Error> {
    let base_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (name, program) = match &cfg.program {
        Program::Fio(path) => {
            let source = Box::new(FioOnFiles::open(path, cfg.disk_bytes, seed)?);
            return Ok(Opened { name: base_name(path), source, seconds: None });
        }
        Program::Personality(entry) => {
            (entry.name.to_string(), program::Program::built_in(entry, &cfg.set, seed, Some(cfg.disk_bytes)))
        }
        Program::File(path) => {
            let file = path.display().to_string();
            let text = read(path, ("workload.files.path", "a program"), &file)?;
            let text = text.map_err(|source| Error::Io { path: file.clone(), source })?;
            (base_name(path), program::Program::parse(&file, &text, &cfg.set, seed, Some(cfg.disk_bytes)))
        }
    };
    let program = program?;
    let seconds = program.run_seconds().map(|seconds| seconds as f64);
    Ok(Opened { name, source: Box::new(program), seconds })
}

/// The files of a program do not fit on the disk.
fn no_room(cfg: &Files, file: FileId, error: OpError, asked: u64) -> Error {
    let key = match &cfg.program {
        Program::Personality(_) => "workload.files.personality",
        Program::File(_) => "workload.files.path",
        Program::Fio(_) => "workload.files.fio",
    };
    let why = if error == OpError::TooLong {
        "a file is too long for the file system"
    } else {
        "the files do not fit on the drive"
    };
    let found = format!("{asked} bytes of files, of which file {} finds no room", file.0);
    let fault = Fault::key(key, why).found(found);
    fault
        .expected(format!(
            "fewer or shorter files ({key} with workload.files.set), or more than {} bytes",
            cfg.disk_bytes
        ))
        .into()
}
