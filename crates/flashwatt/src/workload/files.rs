//! `[workload.files]`: a program of file operations on a file system.

use crate::error::{Error, Fault};
use crate::files::settings::{Files, Program};
use crate::files::{End, FileId, FileWorkload, OpError, Source};
use crate::registry::{Entry, Parameters};
use crate::units::Nanos;

/// The registry entry of file operations.
pub(super) const ENTRY: Entry<()> = Entry {
    name: "files",
    doc: "threads that work on the files of a file system: a `personality`, or a program in filebench's language (`path`)",
    params: &[],
    build: (),
};

/// Operations after which threads stop that have no end of their own.
const OPERATIONS: u64 = 100_000;

/// A program on a file system that is laid down now.
///
/// # Errors
/// [`Error::Io`] if the program cannot be read; [`Error::Config`] if it is wrong, or if its files do not fit on the disk.
pub(crate) fn open(cfg: &Files, seed: u64) -> Result<FileWorkload, Error> {
    let program = cfg.program.open(&cfg.set, seed)?;
    let system = (cfg.system.entry.build.make)(&Parameters(&cfg.system.parameters), cfg.disk_bytes);
    let system = system.map_err(|fault| Error::Config(vec![*fault]))?;
    let at_ns = cfg.seconds.or(program.seconds()).map(|seconds| (seconds * 1e9) as Nanos);
    let endless = cfg.operations.is_none() && at_ns.is_none() && !program.ends();
    let end = End { operations: cfg.operations.or(endless.then_some(OPERATIONS)), at_ns };
    let name = program.name().to_string();
    let asked: u64 = program.tree().files.iter().filter_map(|file| file.bytes).sum();
    FileWorkload::new(name, Box::new(program), (cfg.system.entry.name, system), cfg.cache.clone(), end)
        .map_err(|(file, error)| no_room(cfg, file, error, asked))
}

/// The files of a program do not fit on the disk.
fn no_room(cfg: &Files, file: FileId, error: OpError, asked: u64) -> Error {
    let key = match &cfg.program {
        Program::Personality(_) => "workload.files.personality",
        Program::File(_) => "workload.files.path",
    };
    let why = if error == OpError::TooLong { "a file is too long for the file system" } else { "the files do not fit on the drive" };
    let found = format!("{asked} bytes of files, of which file {} finds no room", file.0);
    let fault = Fault::key(key, why).found(found);
    fault.expected(format!("fewer or shorter files ({key} with workload.files.set), or more than {} bytes", cfg.disk_bytes)).into()
}
