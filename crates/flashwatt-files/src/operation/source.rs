//! Sources of file operations: programs of threads.

use super::{DirId, FileId, FileOp, OpError, Step};
use flashwatt_base::units::Nanos;

/// A number of a thread of a source, from 0.
pub type ThreadId = u32;

/// Threads that carry out file operations, one at a time each.
///
/// Contract: [`Self::next`] is asked once for each operation of a thread, when the last one has ended; `now` never decreases. The
/// same calls give the same operations. An operation names a file of [`Self::tree`]: one that exists, except for a create.
pub trait Source {
    /// The directories and files as they are when the run begins.
    fn tree(&self) -> &Tree;

    /// The processes and their threads.
    fn threads(&self) -> &[ThreadSpec];

    /// The names of the processes 1, 2, ….
    fn processes(&self) -> &[String];

    /// The names of what threads do, by the number in [`Step::Op`].
    fn flows(&self) -> &[Flow];

    /// What a thread does now.
    fn next(&mut self, thread: ThreadId, now: Nanos) -> Step;

    /// An operation of a thread has ended. `bytes` have been read or written.
    fn done(&mut self, thread: ThreadId, op: &FileOp, result: Result<u64, OpError>, now: Nanos);

    /// A thread that waits and can go on now, each of them once.
    fn woken(&mut self) -> Option<ThreadId> {
        None
    }

    /// Whether the source has come to an end by itself, which ends all threads.
    fn has_ended(&self) -> bool {
        false
    }

    /// Whether what happens now is to be measured. Once it is, it is until the end.
    fn measured(&self) -> bool {
        true
    }

    /// Warnings for the report.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The directories and the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// Parents of the directories 1, 2, …, each of a lower number than its own. Directory 0 is the root.
    pub parents: Vec<DirId>,
    /// The files by number: their directories, and their sizes in bytes if they exist when the run begins.
    pub files: Vec<FileSpec>,
}

/// A file of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// The directory in which it is, or in which it is made.
    pub dir: DirId,
    /// Its size in bytes; none if it does not exist at the start.
    pub bytes: Option<u64>,
}

/// A thread of a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadSpec {
    /// The number of its process, from 1. Process 0 is the file system's own.
    pub process: u16,
}

/// What a report calls operations of one kind: a flow operation of a program, or a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its name.
    pub name: String,
}

impl Tree {
    /// Number of directories, the root included.
    pub fn dirs(&self) -> usize {
        self.parents.len() + 1
    }

    /// The file of a number.
    pub fn file(&self, file: FileId) -> FileSpec {
        self.files[file.idx()]
    }
}
