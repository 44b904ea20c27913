//! What `mke2fs` lays down for ext2 with blocks of 4 KiB (e2fsprogs 1.47, misc/mke2fs.c and lib/ext2fs/initialize.c; the types of
//! its mke2fs.conf).

use crate::files::system::{BLOCK_BYTES, Block};

/// Blocks of a group: one block of bitmap.
pub const GROUP_BLOCKS: u32 = 8 * BLOCK_BYTES as u32;
const INODE_BYTES: u32 = 256;
/// Inodes of a block of an inode table.
pub const INODES_PER_BLOCK: u32 = BLOCK_BYTES as u32 / INODE_BYTES;
const DESCRIPTORS_PER_BLOCK: u32 = BLOCK_BYTES as u32 / 32;
const ADDRESSES_PER_BLOCK: u32 = BLOCK_BYTES as u32 / 4;
/// A last group with fewer blocks for files than this is left out.
const LAST_GROUP_BLOCKS: u32 = 50;
/// Inodes that are taken from the start: ten reserved ones, and that of lost+found.
pub const FIRST_INODES: u32 = 11;
/// Blocks of the root directory, of lost+found (16 KiB), and the double indirect block of the resize inode.
const FIRST_BLOCKS: u32 = 1 + 4 + 1;
const MIB: u64 = 1 << 20;

/// The layout of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub blocks: u32,
    pub groups: u32,
    pub inodes_per_group: u32,
    /// Blocks of group descriptors, and blocks reserved for more of them.
    descriptor_blocks: u32,
    spare_descriptor_blocks: u32,
}

impl Geometry {
    /// On a disk of this size in bytes. `bytes_per_inode`: none as in mke2fs. None for a disk that is too small.
    pub fn new(disk_bytes: u64, bytes_per_inode: Option<u64>) -> Option<Self> {
        let blocks = u32::try_from(disk_bytes / BLOCK_BYTES).ok()?;
        let ratio = bytes_per_inode.unwrap_or_else(|| usual_ratio(disk_bytes));
        let inodes = (u64::from(blocks) * BLOCK_BYTES / ratio).min(u64::from(u32::MAX)) as u32;
        let mut geometry = Geometry { blocks, ..Geometry::EMPTY };
        loop {
            geometry = geometry.with_groups(inodes)?;
            let last = geometry.groups - 1;
            let left = geometry.blocks - last * GROUP_BLOCKS;
            if left >= geometry.overhead(last) + LAST_GROUP_BLOCKS {
                break;
            }
            geometry.blocks = last * GROUP_BLOCKS;
        }
        (geometry.free_blocks() > 0).then_some(geometry)
    }

    const EMPTY: Geometry =
        Geometry { blocks: 0, groups: 0, inodes_per_group: 0, descriptor_blocks: 0, spare_descriptor_blocks: 0 };

    fn with_groups(self, inodes: u32) -> Option<Self> {
        let groups = self.blocks.div_ceil(GROUP_BLOCKS);
        let per_group = inodes.max(FIRST_INODES + 1).div_ceil((groups > 0).then_some(groups)?).min(GROUP_BLOCKS);
        let inodes_per_group = per_group.div_ceil(INODES_PER_BLOCK) * INODES_PER_BLOCK;
        let descriptor_blocks = groups.div_ceil(DESCRIPTORS_PER_BLOCK);
        // Room to grow to 1024 times the size (the resize inode).
        let most = if self.blocks < u32::MAX / 1024 { self.blocks * 1024 } else { u32::MAX };
        let most_descriptors = most.div_ceil(GROUP_BLOCKS).div_ceil(DESCRIPTORS_PER_BLOCK);
        let spare = most_descriptors.saturating_sub(descriptor_blocks).min(ADDRESSES_PER_BLOCK);
        Some(Geometry { groups, inodes_per_group, descriptor_blocks, spare_descriptor_blocks: spare, ..self })
    }

    /// The first block of a group.
    pub fn group_start(&self, group: u32) -> Block {
        group * GROUP_BLOCKS
    }

    /// Blocks of a group.
    pub fn group_blocks(&self, group: u32) -> u32 {
        (self.blocks - group * GROUP_BLOCKS).min(GROUP_BLOCKS)
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

    /// The block of the inode table that holds an inode. Inodes count from 0.
    pub fn inode_block(&self, inode: u32) -> Block {
        let (group, at) = (inode / self.inodes_per_group, inode % self.inodes_per_group);
        self.inode_bitmap(group) + 1 + at / INODES_PER_BLOCK
    }

    /// The block of the descriptor of a group.
    pub fn descriptor(&self, group: u32) -> Block {
        1 + group / DESCRIPTORS_PER_BLOCK
    }

    /// Blocks of a group that no file can have.
    pub fn overhead(&self, group: u32) -> u32 {
        self.copies(group) + 2 + self.inodes_per_group / INODES_PER_BLOCK
    }

    /// Blocks of group 0 behind its overhead that are taken from the start.
    pub fn first_blocks(&self) -> u32 {
        if self.spare_descriptor_blocks > 0 { FIRST_BLOCKS } else { FIRST_BLOCKS - 1 }
    }

    /// Free blocks of an empty file system.
    pub fn free_blocks(&self) -> u64 {
        let taken: u64 = (0..self.groups).map(|group| u64::from(self.overhead(group))).sum();
        u64::from(self.blocks).saturating_sub(taken + u64::from(self.first_blocks()))
    }

    /// All inodes.
    pub fn inodes(&self) -> u32 {
        self.groups * self.inodes_per_group
    }
}

/// Bytes for which mke2fs makes an inode: the types `floppy`, `small`, `default` and `big` of mke2fs.conf.
fn usual_ratio(disk_bytes: u64) -> u64 {
    match disk_bytes / MIB {
        0..3 => 8192,
        3..512 => 4096,
        512..4_194_304 => 16_384,
        _ => 32_768,
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
