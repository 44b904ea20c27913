//! File operations: what an application asks of a file system, and the sources of what is asked.

mod source;

pub use source::{FileSpec, Flow, Source, ThreadId, ThreadSpec, Tree};

use flashwatt_base::units::Nanos;

/// A file, by the number that its [`Source`] gives it. A number may be used again after the file was removed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

impl FileId {
    /// As an array index.
    #[inline(always)]
    pub const fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A directory, by its number. Directory 0 is the root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DirId(pub u32);

impl DirId {
    /// The root directory.
    pub const ROOT: DirId = DirId(0);

    /// As an array index.
    #[inline(always)]
    pub const fn idx(self) -> usize {
        self.0 as usize
    }
}

/// An operation on a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileOp {
    /// What is done.
    pub kind: OpKind,
    /// The file.
    pub file: FileId,
    /// First byte of the file that is read or written. An append begins at the end of the file, whatever stands here.
    pub offset: u64,
    /// Bytes that are read or written. A read ends at the end of the file.
    pub bytes: u64,
    /// The length of each call by which they are read or written, > 0.
    pub call_bytes: u64,
    /// How a write or a read is done.
    pub mode: Mode,
}

impl FileOp {
    /// An operation that moves no bytes.
    pub const fn plain(kind: OpKind, file: FileId) -> Self {
        FileOp { kind, file, offset: 0, bytes: 0, call_bytes: 1, mode: Mode::Cached }
    }
}

/// The kinds of operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OpKind {
    /// Makes an empty file, and opens it.
    Create,
    /// Looks a file up, and opens it.
    Open,
    /// Closes a file.
    Close,
    /// Reads a range.
    Read,
    /// Reads a file from its first byte to its last one.
    ReadWhole,
    /// Writes a range. It may lie behind the end of the file.
    Write,
    /// Writes a file from its first byte on; `bytes` of them.
    WriteWhole,
    /// Writes behind the end of the file.
    Append,
    /// Makes a file's data and all metadata durable that it takes to find them.
    Fsync,
    /// Looks a file up and reads its attributes.
    Stat,
    /// Removes a file.
    Remove,
    /// Takes a file's pages out of memory, but for dirty ones (`POSIX_FADV_DONTNEED`).
    Forget,
}

impl OpKind {
    /// Every kind, in the order of reports.
    pub const ALL: [OpKind; 12] = [
        OpKind::Create,
        OpKind::Open,
        OpKind::Close,
        OpKind::Read,
        OpKind::ReadWhole,
        OpKind::Write,
        OpKind::WriteWhole,
        OpKind::Append,
        OpKind::Fsync,
        OpKind::Stat,
        OpKind::Remove,
        OpKind::Forget,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            OpKind::Create => "create",
            OpKind::Open => "open",
            OpKind::Close => "close",
            OpKind::Read => "read",
            OpKind::ReadWhole => "read_whole",
            OpKind::Write => "write",
            OpKind::WriteWhole => "write_whole",
            OpKind::Append => "append",
            OpKind::Fsync => "fsync",
            OpKind::Stat => "stat",
            OpKind::Remove => "remove",
            OpKind::Forget => "forget",
        }
    }
}

/// How data is read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Through the page cache. A write ends when its data is in memory.
    Cached,
    /// The same without reading ahead (`POSIX_FADV_RANDOM`).
    Random,
    /// A write ends when its data is on the drive, and what it takes to find it (`O_DSYNC`).
    Synchronous,
    /// Past the page cache, to and from the drive (`O_DIRECT`). Offsets and lengths are rounded outward to blocks.
    Direct,
}

/// Why an operation failed. It changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpError {
    /// No free block, or no free inode (`ENOSPC`).
    NoSpace,
    /// No such file (`ENOENT`).
    NoFile,
    /// The file is there already (`EEXIST`).
    Exists,
    /// The file would be longer than the file system allows (`EFBIG`).
    TooLong,
}

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// An operation. The first number says which of the source's [`Flow`]s it belongs to.
    Op(u16, FileOp),
    /// Nothing until this time in ns, which is later than now.
    Sleep(Nanos),
    /// Nothing until another thread's operation or time wakes it: the source names it in
    /// [`Source::woken`].
    Wait,
    /// Nothing any more.
    End,
}
