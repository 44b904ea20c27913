//! The interface of a file system: where files lie on a disk, and which blocks an operation reads and dirties.
//!
//! A method may find that it needs a block that is not in memory. The context then starts reading it, and the method ends with
//! [`Stop::Wait`]; it is called again, from its beginning, when the block is there. So a method asks for every block that it
//! needs before it changes anything: what it changes, it changes at one instant, and nothing is planned with a state to come.

mod context;

use std::ops::Range;

pub use context::Cx;
use serde::Serialize;

pub use crate::check::Mounts;
pub use crate::disk::{BLOCK_BYTES, Block, Owner, PageKey, Run, Ticket};
use crate::operation::{DirId, FileId, OpError};

/// Why a method did not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It has to wait, and has said for what. Nothing has changed.
    Wait,
    /// It cannot be done. Nothing has changed.
    Failed(OpError),
}

/// The result of a method that may have to wait.
pub type Tried<T> = Result<T, Stop>;

/// What is made durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sync {
    /// The first page.
    pub first: u32,
    /// The first page behind them.
    pub end: u32,
    /// Not the metadata that is not needed to find them, such as times (`O_DSYNC`).
    pub data_only: bool,
}

impl Sync {
    /// A whole file and its metadata (fsync).
    pub const ALL: Sync = Sync { first: 0, end: u32::MAX, data_only: false };
}

/// When reading a file changes its inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessTimes {
    /// Never.
    #[default]
    Noatime,
    /// If it has been written since it was read last, or if that was a day ago.
    Relatime,
    /// With every read, as far as times can be told apart.
    Strictatime,
}

/// How a file system is mounted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MountOptions {
    /// When reads count.
    pub atime: AccessTimes,
    /// Whether an fsync ends with a flush of the drive where nothing else flushes it.
    pub fsync_flush: bool,
}

impl Default for MountOptions {
    fn default() -> Self {
        MountOptions { atime: AccessTimes::Noatime, fsync_flush: true }
    }
}

/// How full a file system is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Blocks of the file system, its metadata included.
    pub blocks: u64,
    /// Blocks that no file and no metadata uses.
    pub free_blocks: u64,
    /// Blocks of metadata that does not belong to one file: what a file system without files uses.
    pub overhead_blocks: u64,
    /// Files and directories that it can hold; none if only its blocks bound them.
    pub inodes: Option<u64>,
    /// Of those, how many more.
    pub free_inodes: Option<u64>,
}

/// A file system.
///
/// Contract: what a method needs, it asks for first ([`Cx::read_meta`]); no block belongs to two files; the same calls give the
/// same blocks. Methods that are called while a disk is laid down ([`Cx::is_instant`]) never wait.
pub trait FileSystem: Send {
    /// It is mounted like this. Called before anything else, for one that has such options ([`crate::systems::Recipe`]).
    fn set_options(&mut self, _options: MountOptions) {}

    /// How full it is.
    fn usage(&self) -> Usage;

    /// Makes an empty directory.
    fn make_dir(&mut self, dir: DirId, parent: DirId, cx: &mut Cx) -> Tried<()>;

    /// Makes an empty file.
    fn create(&mut self, file: FileId, dir: DirId, cx: &mut Cx) -> Tried<()>;

    /// Finds a file by its name and reads its inode.
    fn lookup(&mut self, file: FileId, cx: &mut Cx) -> Tried<()>;

    /// A thread has closed a file.
    fn closed(&mut self, _file: FileId) {}

    /// Removes a file, and frees its blocks. None of its pages is on its way to or from the disk.
    fn remove(&mut self, file: FileId, cx: &mut Cx) -> Tried<()>;

    /// These pages of a file are about to become dirty: finds room for those that have none.
    fn prepare_write(&mut self, file: FileId, pages: Range<u32>, cx: &mut Cx) -> Tried<()>;

    /// A file has been written: its length is this now, and its inode has changed.
    fn written(&mut self, file: FileId, bytes: u64, cx: &mut Cx) -> Tried<()>;

    /// Whether it wants to hear of reads ([`Self::accessed`]).
    fn keeps_access_times(&self) -> bool {
        false
    }

    /// A call has read a file.
    fn accessed(&mut self, _file: FileId, _cx: &mut Cx) -> Tried<()> {
        Ok(())
    }

    /// Where a page of a file or of the metadata lies, and at most `longest` pages from it on that follow on the disk; none
    /// for a page that is nowhere (a hole, or not written out yet).
    fn map(&mut self, page: PageKey, longest: u32, cx: &mut Cx) -> Tried<Option<Run>>;

    /// Sends dirty pages to the disk ([`Cx::write`]). They are sorted, by owner in the order in which owners became dirty, and
    /// by index. May wait for room on the disk before it sends any.
    fn write_out(&mut self, pages: &[PageKey], cx: &mut Cx) -> Tried<()>;

    /// Makes pages of a file durable, and the metadata that it takes to find them, in stages: each sends something, waits, and
    /// is followed by the next one. `stage` is 0 at first; the method counts it up.
    fn fsync(&mut self, file: FileId, sync: Sync, stage: &mut u32, cx: &mut Cx) -> Tried<()>;

    /// Everything has been written out: makes the whole file system durable, in stages as those of [`Self::fsync`].
    fn sync(&mut self, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            *stage = 1;
            cx.flush();
        }
        cx.wait()
    }

    /// The file system's own work in the background, such as cleaning. Called when it may have something to do; says what comes
    /// next.
    fn work(&mut self, _cx: &mut Cx) -> Tried<Work> {
        Ok(Work::None)
    }

    /// How a mount after a power cut finds where pages lie. A log says where logs and regions begin ([`Cx::log_begins`]).
    fn mounts(&self) -> Mounts {
        Mounts::InPlace
    }

    /// The pages of metadata, by index, that lead to the pages of a file.
    fn leads_to(&self, file: FileId) -> Vec<u32>;

    /// Where the blocks in use lie, in ascending order: an image of the disk.
    fn used(&self) -> Vec<Range<Block>>;

    /// Runs of a file on the disk in the order of its pages, for `flashwatt fs inspect`.
    fn extents(&self, file: FileId) -> Vec<Run>;
}

/// What a file system does in the background next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Nothing before blocks are written.
    None,
    /// The next step at once.
    More,
    /// A look at this time in ns.
    At(flashwatt_base::units::Nanos),
}
