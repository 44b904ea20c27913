//! What `mke2fs -t ext2 -b 4096` lays down (e2fsprogs 1.47: misc/mke2fs.c, lib/ext2fs/initialize.c, the types of mke2fs.conf).
//!
//! A group is 32,768 blocks: in some a copy of the superblock and of all group descriptors, with room for more descriptors; a bitmap of
//! its blocks, one of its inodes, its part of the inode table. Group 0 also has the root directory, `lost+found`, and the block that
//! leads to the room for descriptors.

use crate::system::{BLOCK_BYTES, Block};

/// Blocks of a group: the bits of a block.
pub const GROUP_BLOCKS: u32 = 8 * BLOCK_BYTES as u32;
const INODE_BYTES: u32 = 256;
/// Inodes of a block of an inode table.
pub const INODES_PER_BLOCK: u32 = BLOCK_BYTES as u32 / INODE_BYTES;
const DESCRIPTORS_PER_BLOCK: u32 = BLOCK_BYTES as u32 / 32;
const ADDRESSES_PER_BLOCK: u32 = BLOCK_BYTES as u32 / 4;
/// A last group with fewer blocks for files than this is left out.
const LAST_GROUP_BLOCKS: u32 = 50;
/// Inodes that are taken from the start: ten reserved ones, and that of `lost+found`.
pub const FIRST_INODES: u32 = 11;
/// Blocks behind the inode table of group 0 that are taken from the start: the root directory, `lost+found` (16 KiB), and the
/// double indirect block of the resize inode.
pub const FIRST_BLOCKS: u32 = 1 + 4 + 1;
const MIB: u64 = 1 << 20;

/// The layout of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks of the disk, and of the file system.
    disk_blocks: u32,
    pub blocks: u32,
    pub groups: u32,
    pub inodes_per_group: u32,
    /// Blocks of group descriptors, and blocks reserved for more of them.
    descriptor_blocks: u32,
    spare_descriptor_blocks: u32,
}

impl Geometry {
    /// On a disk of this size in bytes. `bytes_per_inode`: none as in mke2fs. None for a disk that is too small or too large.
    pub fn new(disk_bytes: u64, bytes_per_inode: Option<u64>) -> Option<Self> {
        let disk_blocks = u32::try_from(disk_bytes / BLOCK_BYTES).ok()?;
        let ratio = bytes_per_inode.unwrap_or_else(|| usual_ratio(disk_bytes));
        let inodes = u32::try_from(u64::from(disk_blocks) * BLOCK_BYTES / ratio).unwrap_or(u32::MAX);
        let mut geometry = Self::with_blocks(disk_blocks, inodes)?;
        let last = geometry.groups - 1;
        if geometry.group_blocks(last) < geometry.overhead(last) + LAST_GROUP_BLOCKS {
            geometry = Self::with_blocks(last * GROUP_BLOCKS, inodes)?;
        }
        let needed = geometry.overhead(0) + FIRST_BLOCKS;
        (needed < geometry.group_blocks(0)).then_some(Geometry { disk_blocks, ..geometry })
    }

    fn with_blocks(blocks: u32, inodes: u32) -> Option<Self> {
        let groups = blocks.div_ceil(GROUP_BLOCKS);
        let per_group = inodes.max(FIRST_INODES + 1).div_ceil((groups > 0).then_some(groups)?).min(GROUP_BLOCKS);
        let inodes_per_group = per_group.div_ceil(INODES_PER_BLOCK) * INODES_PER_BLOCK;
        let descriptor_blocks = groups.div_ceil(DESCRIPTORS_PER_BLOCK);
        // Room to grow to 1024 times the size (the resize inode).
        let most = if blocks < u32::MAX / 1024 { blocks * 1024 } else { u32::MAX };
        let most_descriptors = most.div_ceil(GROUP_BLOCKS).div_ceil(DESCRIPTORS_PER_BLOCK);
        let spare = most_descriptors.saturating_sub(descriptor_blocks).min(ADDRESSES_PER_BLOCK);
        let spare_descriptor_blocks = spare;
        Some(Geometry {
            blocks,
            groups,
            inodes_per_group,
            descriptor_blocks,
            spare_descriptor_blocks,
            ..Self::default()
        })
    }

    /// The first block of a group.
    pub fn group_start(&self, group: u32) -> Block {
        group * GROUP_BLOCKS
    }

    /// Blocks of a group.
    pub fn group_blocks(&self, group: u32) -> u32 {
        (self.blocks - self.group_start(group)).min(GROUP_BLOCKS)
    }

    /// Blocks of superblock, descriptors and room for more of them; 0 for a group without a copy.
    fn copies(&self, group: u32) -> u32 {
        if has_copy(group) { 1 + self.descriptor_blocks + self.spare_descriptor_blocks } else { 0 }
    }

    /// The block of a group's block bitmap.
    pub fn block_bitmap(&self, group: u32) -> Block {
        self.group_start(group) + self.copies(group)
    }

    /// The block of a group's inode bitmap.
    pub fn inode_bitmap(&self, group: u32) -> Block {
        self.block_bitmap(group) + 1
    }

    /// The group of an inode. Inodes count from 0.
    pub fn group_of_inode(&self, inode: u32) -> u32 {
        inode / self.inodes_per_group
    }

    /// The block of the inode table that holds an inode.
    pub fn inode_block(&self, inode: u32) -> Block {
        let group = self.group_of_inode(inode);
        self.inode_bitmap(group) + 1 + inode % self.inodes_per_group / INODES_PER_BLOCK
    }

    /// The first inode of a block, if it is a block of an inode table.
    pub fn first_inode(&self, block: Block) -> Option<u32> {
        let group = block / GROUP_BLOCKS;
        let at = block.checked_sub(self.inode_bitmap(group) + 1)? * INODES_PER_BLOCK;
        (at < self.inodes_per_group).then_some(group * self.inodes_per_group + at)
    }

    /// The block of the descriptor of a group.
    pub fn descriptor(&self, group: u32) -> Block {
        1 + group / DESCRIPTORS_PER_BLOCK
    }

    /// Blocks of a group that no file can have.
    pub fn overhead(&self, group: u32) -> u32 {
        self.copies(group) + 2 + self.inodes_per_group / INODES_PER_BLOCK
    }

    /// Free blocks of an empty file system.
    pub fn free_blocks(&self) -> u64 {
        let taken: u64 = (0..self.groups).map(|group| u64::from(self.overhead(group))).sum();
        u64::from(self.blocks) - taken - u64::from(FIRST_BLOCKS)
    }

    /// Blocks that applications do not get: this per cent of those of the disk, and fewer if its end is left out.
    pub fn reserved_blocks(&self, percent: f64) -> u64 {
        let of_disk = (percent * f64::from(self.disk_blocks) / 100.0) as u64;
        of_disk * u64::from(self.blocks) / u64::from(self.disk_blocks)
    }

    /// All inodes.
    pub fn inodes(&self) -> u32 {
        self.groups * self.inodes_per_group
    }
}

/// Bytes for which mke2fs makes an inode: the types `floppy`, `small`, `default`, `big` and `huge` of mke2fs.conf.
fn usual_ratio(disk_bytes: u64) -> u64 {
    match disk_bytes / MIB {
        0..3 => 8192,
        3..512 => 4096,
        512..4_194_304 => 16_384,
        4_194_304..16_777_216 => 32_768,
        _ => 65_536,
    }
}

/// Whether a group has a copy of superblock and descriptors (sparse_super): 0, 1, and powers of 3, 5 and 7.
fn has_copy(group: u32) -> bool {
    let is_power_of = |base: u32| {
        let mut power = base;
        while power < group {
            power = power.saturating_mul(base);
        }
        power == group
    };
    group <= 1 || [3, 5, 7].into_iter().any(is_power_of)
}
