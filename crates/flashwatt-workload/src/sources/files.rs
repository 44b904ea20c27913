//! `[workload.files]`: a program of file operations on a file system.

use sha2::{Digest, Sha256};

use crate::fio::{FioOnFiles, from_environment, read};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_base::registry::{Entry, Parameters};
use flashwatt_base::units::Nanos;
use flashwatt_files::settings::{Files, Program};
use flashwatt_files::{Disk, End, FileWorkload, History, NoRoom, OpError, Source, program};

/// The registry entry of file operations.
pub(super) const ENTRY: Entry<()> = Entry {
    name: "files",
    doc: "threads that work on the files of a file system: a `personality`, or a program in filebench's language (`path`)",
    params: &[],
    build: (),
};

/// Separates the draws of a disk's history from those of the program.
const AGED_SEED: u64 = 0xa6ed;

/// A program on a file system that is laid down now.
///
/// # Errors
/// [`Error::Interrupted`] if `progress` returned `false`. [`Error::Io`] if the program cannot be read; [`Error::Config`] if it is wrong, or if its files do not fit on the disk.
pub fn open(cfg: &Files, seed: u64, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<FileWorkload, Error> {
    let Opened { name, source, seconds, input_sha256 } = opened(cfg, seed)?;
    let system = (cfg.system.entry.build.make)(&Parameters(&cfg.system.parameters), cfg.disk_bytes);
    let mut system = system.map_err(|fault| Error::Config(vec![*fault]))?;
    system.set_options(cfg.options);
    let history = cfg.aged.clone().map(|aged| History { aged, seed: seed ^ AGED_SEED, progress });
    let disk = Disk { name: cfg.system.entry.name, system, history };
    let seconds = cfg.seconds.or(seconds.filter(|_| cfg.operations.is_none()));
    let lasts_ns = seconds.map(|seconds| (seconds * 1e9).round() as Nanos);
    let end = End { operations: cfg.operations, lasts_ns };
    let asked: u64 = source.tree().files.iter().filter_map(|file| file.bytes).sum();
    let workload = FileWorkload::new(name, source, disk, cfg.cache.clone(), cfg.processor.clone(), end);
    Ok(workload.map_err(|no_room| refused(cfg, no_room, asked))?.with_input(input_sha256))
}

/// A program that can run.
struct Opened {
    name: String,
    source: Box<dyn Source>,
    /// The seconds that it runs by itself.
    seconds: Option<f64>,
    /// Of the file that it was read from, if any.
    input_sha256: Option<String>,
}

fn opened(cfg: &Files, seed: u64) -> Result<Opened, Error> {
    let (path, key) = match &cfg.program {
        Program::Personality(entry) => {
            let program = program::Program::built_in(entry, &cfg.set, seed, Some(cfg.disk_bytes))?;
            return Ok(of_program(entry.name.to_string(), program, None));
        }
        Program::File(path) => (path, ("workload.files.path", "a program")),
        Program::Fio(path) => (path, ("workload.files.fio", "a job file")),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = path.display().to_string();
    let text = read(path, key, &file)?.map_err(|source| Error::Io { path: file.clone(), source })?;
    if let Program::Fio(_) = cfg.program {
        let (text, values) = from_environment(&text, &file);
        let source = Box::new(FioOnFiles::parse(&text, &file, cfg.disk_bytes, seed)?.warned(values));
        return Ok(Opened { name, source, seconds: None, input_sha256: Some(format!("{:x}", Sha256::digest(&text))) });
    }
    let sha256 = Some(format!("{:x}", Sha256::digest(&text)));
    let program = program::Program::parse(&file, &text, &cfg.set, seed, Some(cfg.disk_bytes))?;
    Ok(of_program(name, program, sha256))
}

fn of_program(name: String, program: program::Program, input_sha256: Option<String>) -> Opened {
    let seconds = program.run_seconds().map(|seconds| seconds as f64);
    Opened { name, source: Box::new(program), seconds, input_sha256 }
}

/// The disk has no room for a program's files, or for its history.
fn refused(cfg: &Files, no_room: NoRoom, asked: u64) -> Error {
    let (file, error) = match no_room {
        NoRoom::Of(file, error) => (file, error),
        NoRoom::Stopped(error) => return *error,
        NoRoom::OfOthers(_) => {
            let fault = Fault::key("workload.files.aged.fill_fraction", "the file system has no room for that");
            let fraction = cfg.aged.as_ref().map_or(0.0, |aged| aged.fill_fraction);
            return fault
                .found(fraction)
                .expected("less, or longer files (mean_file_bytes): inodes may be used up")
                .into();
        }
    };
    let key = match &cfg.program {
        Program::Personality(_) => "workload.files.personality",
        Program::File(_) => "workload.files.path",
        Program::Fio(_) => "workload.files.fio",
    };
    let why = match (error, &cfg.aged) {
        (OpError::TooLong, _) => "a file is too long for the file system",
        (_, Some(_)) => "the files do not fit on what is left of the drive",
        (_, None) => "the files do not fit on the drive",
    };
    let found = format!("{asked} bytes of files, of which file {} finds no room", file.0);
    let mut expected =
        format!("fewer or shorter files ({key} with workload.files.set), or more than {} bytes", cfg.disk_bytes);
    if cfg.aged.is_some() {
        expected.push_str(", or a smaller workload.files.aged.fill_fraction");
    }
    Fault::key(key, why).found(found).expected(expected).into()
}
