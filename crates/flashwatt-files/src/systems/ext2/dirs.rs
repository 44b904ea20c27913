//! Directories: which group a new one goes to (the Orlov rule), and which block has an entry (Linux 6.1, fs/ext2/ialloc.c, dir.c).

use super::bitmap::Bitmap;
use super::geometry::{GROUP_BLOCKS, Geometry};
use super::inode::Inode;

/// Bytes of an entry with a name of eight letters: a head of 8, and the name in steps of 4.
const ENTRY_BYTES: u16 = 16;
/// Entries of a block. The first one also has those of `.` and `..`, of 12 bytes each, and that of the root `lost+found`, of 20.
const ENTRIES: u16 = 4096 / ENTRY_BYTES;
const FIRST_ENTRIES: u16 = (4096 - 24) / ENTRY_BYTES;
const ROOT_ENTRIES: u16 = (4096 - 24 - 20) / ENTRY_BYTES;
/// What a directory weighs in blocks, and in inodes, in the balance between directories and files (BLOCK_COST, INODE_COST).
const BLOCK_COST: u64 = 256;
const INODE_COST: u64 = 64;

/// A directory.
#[derive(Debug, Default)]
pub struct Dir {
    pub inode: Inode,
    /// Free entries of its blocks.
    free: Vec<u16>,
    /// No block before this one has a free entry.
    first_free: u32,
    /// The block in which an entry was found last: the next search begins there.
    pub found: u32,
}

impl Dir {
    /// A directory with one block.
    pub fn new(inode: Inode) -> Self {
        Dir { inode, free: vec![FIRST_ENTRIES], ..Dir::default() }
    }

    /// The root directory.
    pub fn root(inode: Inode) -> Self {
        Dir { inode, free: vec![ROOT_ENTRIES], ..Dir::default() }
    }

    /// The block that takes the next entry; none if it needs another one.
    pub fn place(&mut self) -> Option<u32> {
        while self.free.get(self.first_free as usize) == Some(&0) {
            self.first_free += 1;
        }
        (self.first_free < self.blocks()).then_some(self.first_free)
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
    /// How many more new directories than files each group had of late (s_debts).
    debts: Vec<u8>,
    all: u32,
}

impl Spread {
    /// The root and `lost+found` are in group 0.
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

    /// The group of a new directory (find_group_orlov); none if there is no free inode.
    pub fn group(&self, geometry: &Geometry, place: Place, blocks: &Bitmap, inodes: &Bitmap) -> Option<u32> {
        let groups = geometry.groups;
        let (mean_inodes, mean_blocks) = (inodes.mean_free(), blocks.mean_free());
        let first = match place {
            Place::BelowRoot(draw) => draw % groups,
            Place::Near(group) => group,
        };
        let near = move || (0..groups).map(move |at| (first + at) % groups).filter(|&group| inodes.free_in(group) > 0);
        let best = match place {
            Place::BelowRoot(_) => near()
                .filter(|&group| inodes.free_in(group) >= mean_inodes && blocks.free_in(group) >= mean_blocks)
                .min_by_key(|&group| self.dirs[group as usize])
                .filter(|&group| self.dirs[group as usize] < geometry.inodes_per_group),
            Place::Near(_) => {
                let least = self.least(geometry, mean_inodes, mean_blocks, blocks);
                near().find(|&group| {
                    self.debts[group as usize] < least.debt
                        && self.dirs[group as usize] < least.dirs
                        && inodes.free_in(group) >= least.inodes
                        && blocks.free_in(group) >= least.blocks
                })
            }
        };
        best.or_else(|| near().find(|&group| inodes.free_in(group) >= mean_inodes)).or_else(|| near().next())
    }

    fn least(&self, geometry: &Geometry, mean_inodes: u32, mean_blocks: u32, blocks: &Bitmap) -> Limits {
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

/// Where a new directory is made.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Below the root: far from others. The number, where the kernel draws one, says where the search begins.
    BelowRoot(u32),
    /// Below a directory of this group: there, as long as there is room for its files.
    Near(u32),
}

/// Fewer directories than this and a smaller debt a group must have, and free inodes and blocks, to get another directory.
struct Limits {
    dirs: u32,
    inodes: u32,
    blocks: u32,
    debt: u8,
}

/// The group of a new file (find_group_other): that of its directory; else groups at distances that double, from one that is the
/// same for all files of the directory; else the next one with a free inode. None if there is none.
pub fn group_of_file(geometry: &Geometry, dir_inode: u32, blocks: &Bitmap, inodes: &Bitmap) -> Option<u32> {
    let (own, groups) = (geometry.group_of_inode(dir_inode), geometry.groups);
    let fits = |group: u32| inodes.free_in(group) > 0 && blocks.free_in(group) > 0;
    if fits(own) {
        return Some(own);
    }
    // The kernel counts inodes from 1.
    let mut group = (own + dir_inode + 1) % groups;
    let mut step = 1;
    while step < groups {
        group = (group + step) % groups;
        if fits(group) {
            return Some(group);
        }
        step *= 2;
    }
    (1..=groups).map(|at| (own + at) % groups).find(|&group| inodes.free_in(group) > 0)
}
