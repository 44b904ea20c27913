//! Pages of metadata: their kinds, and their numbers in the page cache.

use crate::system::PageKey;

/// What a page of metadata is. The kinds stand in the order in which a log holds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meta {
    /// Pointers to a file's blocks, or a block of a directory.
    Node(u32),
    /// 32 inodes: a block of the inode file.
    Inodes(u32),
    /// A block of the tables of the whole file system.
    Table(u32),
    /// A summary or a super root, by the block where it lies.
    Summary(u32),
}

/// Pages of metadata of one kind.
const KIND: u32 = 1 << 30;

impl Meta {
    pub const fn key(self) -> PageKey {
        PageKey::meta(self.index())
    }

    pub const fn index(self) -> u32 {
        match self {
            Meta::Node(at) => at,
            Meta::Inodes(at) => KIND + at,
            Meta::Table(at) => 2 * KIND + at,
            Meta::Summary(block) => 3 * KIND + block % KIND,
        }
    }

    pub const fn of(index: u32) -> Meta {
        let at = index % KIND;
        match index / KIND {
            0 => Meta::Node(at),
            1 => Meta::Inodes(at),
            2 => Meta::Table(at),
            _ => Meta::Summary(at),
        }
    }
}

/// Inodes of a block: of 128 bytes each (struct nilfs_inode, struct dinode of FFS).
pub const INODES_PER_BLOCK: u32 = 32;
/// Names in a block of a directory: entries of 24 bytes, for names of up to 16 (8 bytes, and the name in multiples of 8).
pub const NAMES_PER_BLOCK: u32 = 4096 / 24;
