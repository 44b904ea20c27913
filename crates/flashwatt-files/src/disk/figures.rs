//! The figures of the page cache and of the blocks that go to and from the disk, in a window.

use flashwatt_base::units::Nanos;

/// Why pages are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WriteCause {
    /// A thread called fsync, or wrote with `O_DSYNC`.
    Sync,
    /// A thread wrote with `O_DIRECT`.
    Direct,
    /// Too many pages were dirty.
    Background,
    /// They had been dirty for too long.
    Expired,
    /// The file system made room for itself.
    Cleaning,
    /// The file system is unmounted at the end of the run.
    Unmount,
    /// A journal commits a transaction.
    Commit,
}

impl WriteCause {
    /// Every cause, in the order of reports.
    pub const ALL: [WriteCause; 7] = [
        WriteCause::Sync,
        WriteCause::Direct,
        WriteCause::Background,
        WriteCause::Expired,
        WriteCause::Cleaning,
        WriteCause::Unmount,
        WriteCause::Commit,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            WriteCause::Sync => "sync",
            WriteCause::Direct => "direct",
            WriteCause::Background => "background",
            WriteCause::Expired => "expired",
            WriteCause::Cleaning => "cleaning",
            WriteCause::Unmount => "unmount",
            WriteCause::Commit => "commit",
        }
    }

    /// Whether somebody waits for the write.
    pub fn is_waited_for(self) -> bool {
        matches!(self, WriteCause::Sync | WriteCause::Direct | WriteCause::Commit)
    }
}

/// Blocks that went between the page cache and the disk, and looks into the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoFigures {
    /// Pages that threads read, and those of them that were in memory or on their way there.
    pub looked: u64,
    /// Of those, the ones that did not wait.
    pub hits: u64,
    /// Pages of files that were read from the disk, those read ahead included.
    pub data_reads: u64,
    /// Blocks of metadata that were read from the disk.
    pub meta_reads: u64,
    /// Blocks that the file system read to make room for itself.
    pub cleaning_reads: u64,
    /// Blocks written, by cause: of data, and of metadata.
    pub written: [[u64; 2]; WriteCause::ALL.len()],
    /// Flushes that were sent.
    pub flushes: u64,
    /// Time in ns that threads waited because too much was dirty.
    pub throttled_ns: Nanos,
}

impl IoFigures {
    /// A page was sent to the disk.
    #[inline(always)]
    pub fn wrote(&mut self, cause: WriteCause, is_meta: bool) {
        self.written[cause as usize][usize::from(is_meta)] += 1;
    }
}
