//! Files for results. A file is written under a temporary name in the same directory, and renamed when it is complete:
//! if the writing stops for any reason, the previous file remains unchanged.
//!
//! The temporary name is `.flashwatt-PROCESS-NUMBER.part`, and its writer holds a lock on it. A killed process leaves
//! its file behind; the next process that writes into the directory removes every such file without a lock. The Python
//! package (`flashwatt.outputs`) uses the same names and locks.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::error::{Error, Fault, Place};

const PREFIX: &str = ".flashwatt-";
const SUFFIX: &str = ".part";

/// Rules for the files that may be replaced.
#[derive(Clone, Debug)]
pub struct Replace {
    /// Input files: never replaced.
    pub inputs: Vec<PathBuf>,
    /// The content in words, for messages: "a trace".
    pub what: &'static str,
    /// Recognizes by its content a file that this program wrote.
    pub ours: fn(&Path) -> bool,
    /// Also replace a file that this program did not write, or a symbolic link (the link itself, not its target).
    pub force: bool,
}

impl Replace {
    /// Refuses a target that must not be replaced: an input, a directory, a device, a FIFO; without `force` also a
    /// symbolic link and a file that this program did not write. A target that is not there, or is empty, is fine.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        if path.as_os_str().is_empty() {
            return Err(refused(path, "an empty name", "the name of a file", ""));
        }
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io_error(path)(error)),
        };
        let behind = fs::metadata(path).ok();
        if behind.as_ref().is_some_and(|behind| !behind.is_file()) {
            let kind = if behind.is_some_and(|behind| behind.is_dir()) { "a directory" } else { "a device or a FIFO" };
            return Err(refused(path, kind, "the name of a file", ""));
        }
        if self.inputs.iter().any(|input| same(input, path)) {
            return Err(refused(path, "a file that is read", "another name", ""));
        }
        if self.force {
            return Ok(());
        }
        if metadata.is_symlink() {
            let help = "--force replaces the link and leaves what it points to";
            return Err(refused(path, "a symbolic link", "the name of a file", help));
        }
        if metadata.len() == 0 || (self.ours)(path) {
            return Ok(());
        }
        let found = format!("a file that is not {} written by flashwatt", self.what);
        Err(refused(path, &found, "another name", "--force replaces it"))
    }
}

fn refused(path: &Path, found: &str, expected: &str, help: &str) -> Error {
    let place = Place { file: Some(path.display().to_string()), ..Place::default() };
    let fault = Fault::at(place, "cannot be written").found(found).expected(expected);
    Error::Output(Box::new(if help.is_empty() { fault } else { fault.help(help) }))
}

fn same(a: &Path, b: &Path) -> bool {
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// Turns an error of the system into one that names this file.
pub fn io_error(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::Io { path: path.clone(), source }
}

/// A file being written. Dropping it removes the temporary file; [`Aside::commit`] renames it to the target.
#[derive(Debug)]
pub struct Aside {
    target: PathBuf,
    rules: Replace,
    part: PathBuf,
    /// Open while the temporary file exists: its lock shows that a writer is at work.
    file: File,
}

impl Aside {
    /// Begins a file that will replace `target`, if the rules allow it.
    pub fn new(target: &Path, rules: Replace) -> Result<Self, Error> {
        rules.check(target)?;
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        remove_leftovers(directory);
        // The replacement of a private file must stay private.
        let private = target.metadata().is_ok();
        let (part, file) = create(directory, private).map_err(io_error(target))?;
        Ok(Aside { target: target.to_path_buf(), rules, part, file })
    }

    /// The file to write into.
    pub fn file(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(io_error(&self.target))
    }

    /// The error of a write, with the name of the target.
    pub fn error(&self, source: io::Error) -> Error {
        io_error(&self.target)(source)
    }

    /// The path of the temporary file.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Flushes the file to disk and replaces the target; the target's mode and owner remain.
    pub fn commit(self) -> Result<(), Error> {
        self.rules.check(&self.target)?;
        let io = io_error(&self.target);
        if let Ok(before) = fs::metadata(&self.target) {
            keep_owner(&self.file, &before);
            self.file.set_permissions(before.permissions()).map_err(&io)?;
        }
        self.file.sync_all().map_err(&io)?;
        fs::rename(&self.part, &self.target).map_err(&io)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // After a commit the temporary file no longer exists.
        let _ = fs::remove_file(&self.part);
    }
}

#[cfg(unix)]
fn keep_owner(file: &File, before: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only the administrator may change the owner; otherwise the file belongs to the writer.
    let _ = fchown(file, Some(before.uid()), Some(before.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _before: &fs::Metadata) {}

#[cfg(unix)]
fn options(private: bool) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(if private { 0o600 } else { 0o666 });
    options
}

#[cfg(not(unix))]
fn options(_private: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    options
}

/// Creates a file under an unused name, and locks it.
fn create(directory: &Path, private: bool) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNT.fetch_add(1, Relaxed);
        let part = directory.join(format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id()));
        let file = match options(private).open(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        // Another process may have removed it as a leftover before it was locked.
        let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if !taken && part.exists() {
            return Ok((part, file));
        }
    }
}

/// Removes the files of killed processes. Failures are ignored: a leftover does no harm.
fn remove_leftovers(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !ours {
            continue;
        }
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_symlink() {
            continue;
        }
        // The lock is held until the file is gone, so a new owner that waits for the lock sees the removal.
        let Some(_lock) = claim(&path) else { continue };
        if kind.is_dir() {
            // The Python package keeps the log that it converts to Parquet in a directory.
            drop(fs::remove_dir_all(&path));
        } else if kind.is_file() {
            drop(fs::remove_file(&path));
        }
    }
}

/// The lock of a file that no process holds; none on a file system without locks.
fn claim(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests;
