//! Blocks of the disk, and the pages that lie in them.

use crate::operation::FileId;

/// Bytes of a block and of a page in memory.
pub const BLOCK_BYTES: u64 = 4096;

/// A number of a block of the disk.
pub type Block = u32;

/// Whose page a page in memory is: a file's, or the file system's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Owner(pub u32);

impl Owner {
    /// The metadata of the file system. What the index of its page means is the file system's affair.
    pub const META: Owner = Owner(u32::MAX);

    /// The owner of a file's pages.
    pub const fn of(file: FileId) -> Owner {
        Owner(file.0)
    }

    /// The file; none for metadata.
    pub fn file(self) -> Option<FileId> {
        (self != Owner::META).then_some(FileId(self.0))
    }
}

/// A page: whose, and which of its pages, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PageKey {
    /// Whose page it is.
    pub owner: Owner,
    /// Which of the owner's pages.
    pub index: u32,
}

impl PageKey {
    /// A page of an owner.
    pub const fn new(owner: Owner, index: u32) -> Self {
        PageKey { owner, index }
    }

    /// A page of the metadata.
    pub const fn meta(index: u32) -> Self {
        PageKey { owner: Owner::META, index }
    }
}

/// Consecutive pages of a file on consecutive blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The block of the first page.
    pub block: Block,
    /// Number of pages, > 0.
    pub pages: u32,
}

/// The number of a page in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageId(pub u32);
