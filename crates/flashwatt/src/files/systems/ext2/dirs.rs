//! Directories: where new ones go (the Orlov rule, fs/ext2/ialloc.c), and which block has an entry.

use super::bitmap::Bitmap;
use super::geometry::{GROUP_BLOCKS, Geometry};

/// Bytes of an entry with a name of eight letters: a head of 8, and the name in steps of 4.
const ENTRY_BYTES: u32 = 16;
/// Entries of a block. The first block also has those of `.` and `..`, of 12 bytes each.
const ENTRIES: u16 = 4096 / ENTRY_BYTES as u16;
const FIRST_ENTRIES: u16 = (4096 - 24) / ENTRY_BYTES as u16;
/// What a directory and an inode weigh in the balance between directories and files (BLOCK_COST, INODE_COST).
const BLOCK_COST: u64 = 256;
const INODE_COST: u64 = 64;

/// The entries of a directory.
#[derive(Debug)]
pub struct Dir {
    /// Free entries of its blocks.
    free: Vec<u16>,
    /// No block before this one has a free entry.
    first_free: u32,
}

impl Dir {
    /// A directory with one block.
    pub fn new() -> Self {
        Dir { free: vec![FIRST_ENTRIES], first_free: 0 }
    }

    /// The block that takes the next entry; none if it needs another one.
    pub fn place(&mut self) -> Option<u32> {
        while self.free.get(self.first_free as usize) == Some(&0) {
            self.first_free += 1;
        }
        ((self.first_free as usize) < self.free.len()).then_some(self.first_free)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// Adds an empty block.
    pub fn grow(&mut self) {
        self.free.push(ENTRIES);
    }

    /// An entry is made in a block.
    pub fn add(&mut self, block: u32) {
        self.free[block as usize] -= 1;
    }

    /// An entry of a block is removed.
    pub fn remove(&mut self, block: u32) {
        self.free[block as usize] += 1;
        self.first_free = self.first_free.min(block);
    }
}

/// Directories by group.
#[derive(Debug)]
pub struct Spread {
    dirs: Vec<u32>,
    /// How far each group has more new directories than files (s_debts).
    debts: Vec<u8>,
    all: u32,
}

impl Spread {
    /// The root and lost+found are in group 0.
    pub fn new(geometry: &Geometry) -> Self {
        let mut dirs = vec![0; geometry.groups as usize];
        dirs[0] = 2;
        Spread { debts: vec![0; dirs.len()], dirs, all: 2 }
    }

    /// A file is made in a group.
    pub fn file_made(&mut self, group: u32) {
        let debt = &mut self.debts[group as usize];
        *debt = debt.saturating_sub(1);
    }

    /// A directory is made in a group.
    pub fn dir_made(&mut self, group: u32) {
        self.dirs[group as usize] += 1;
        self.all += 1;
        let debt = &mut self.debts[group as usize];
        *debt = debt.saturating_add(1);
    }

    /// The group of a new directory (find_group_orlov): below the root, far from others; else near its parent, as long as there
    /// is room for its files. `draw` is a number that spreads those below the root.
    pub fn group(&self, geometry: &Geometry, parent: Option<u32>, draw: u32, blocks: &Bitmap, inodes: &Bitmap) -> u32 {
        let groups = geometry.groups;
        let mean_inodes = (inodes.free() / u64::from(groups)) as u32;
        let mean_blocks = (blocks.free() / u64::from(groups)) as u32;
        let near = |first: u32, fits: &dyn Fn(u32) -> bool| {
            (0..groups).map(|at| (first + at) % groups).find(|&group| inodes.free_in(group) > 0 && fits(group))
        };
        let Some(parent) = parent else {
            let first = draw % groups;
            let fits = |group: &u32| {
                inodes.free_in(*group) > 0
                    && inodes.free_in(*group) >= mean_inodes
                    && blocks.free_in(*group) >= mean_blocks
            };
            let best = (0..groups).map(|at| (first + at) % groups).filter(fits);
            let best = best.min_by_key(|&group| self.dirs[group as usize]);
            return best.or_else(|| near(first, &|_| true)).unwrap_or(0);
        };
        let limits = self.limits(geometry, mean_inodes, mean_blocks, blocks);
        let fits = |group: u32| {
            self.dirs[group as usize] < limits.dirs
                && inodes.free_in(group) >= limits.inodes
                && blocks.free_in(group) >= limits.blocks
                && self.debts[group as usize] < limits.debt
        };
        let found = near(parent, &fits);
        found
            .or_else(|| near(parent, &|group| inodes.free_in(group) >= mean_inodes))
            .or_else(|| near(parent, &|_| true))
            .unwrap_or(0)
    }

    fn limits(&self, geometry: &Geometry, mean_inodes: u32, mean_blocks: u32, blocks: &Bitmap) -> Limits {
        let per_group = geometry.inodes_per_group;
        let used = u64::from(geometry.blocks) - blocks.free();
        let of_dir = (used / u64::from(self.all)).max(BLOCK_COST);
        let debt = (u64::from(GROUP_BLOCKS) / of_dir).min(u64::from(per_group) / INODE_COST).clamp(1, 255);
        Limits {
            dirs: self.all / geometry.groups + per_group / 16,
            inodes: mean_inodes.saturating_sub(per_group / 4),
            blocks: mean_blocks.saturating_sub(GROUP_BLOCKS / 4),
            debt: debt as u8,
        }
    }
}

/// What a group must keep for a new directory.
struct Limits {
    dirs: u32,
    inodes: u32,
    blocks: u32,
    debt: u8,
}
