//! The journal's file: where mke2fs puts it, and the ring of its blocks.

use super::super::bitmap::Bitmap;
use super::super::inode::{Inode, path};
use crate::system::{Block, Run};

/// The inode of the journal, from 0.
const JOURNAL_INODE: u32 = 7;
/// The fewest blocks of a journal (JBD2_MIN_JOURNAL_BLOCKS).
pub const BLOCKS_MIN: u32 = 1024;
/// The most blocks, as mke2fs has it.
pub const BLOCKS_MAX: u32 = 10_240_000;
/// The first block of the log: block 0 of the file is the journal's superblock.
const FIRST: u32 = 1;

/// The blocks that mke2fs gives a journal by those of the file system (ext2fs_default_journal_size); none for one that is too small.
pub fn usual_blocks(blocks: u32) -> Option<u32> {
    match blocks {
        0..2048 => None,
        2048..32_768 => Some(1024),
        32_768..0x4_0000 => Some(4096),
        0x4_0000..0x8_0000 => Some(8192),
        0x8_0000..0x40_0000 => Some(16_384),
        0x40_0000..0x80_0000 => Some(32_768),
        0x80_0000..0x100_0000 => Some(65_536),
        0x100_0000..0x200_0000 => Some(131_072),
        _ => Some(262_144),
    }
}

/// Lays the file of the journal down: each block is the next free one, indirect blocks before what they lead to. Returns its runs, and
/// its indirect blocks. There is room.
pub fn lay_down(blocks: u32, all: u32, bitmap: &mut Bitmap) -> (Vec<Run>, Vec<Block>) {
    let mut inode = Inode::new(JOURNAL_INODE, 0, 0);
    let mut next = 0;
    let mut page = 0;
    while page < blocks {
        let missing: Vec<_> = path(page).filter(|&node| inode.node(node).is_none()).collect();
        for node in missing {
            next = bitmap.first_free(next..all).unwrap_or(all);
            bitmap.take(next..next + 1);
            inode.add_node(node, next);
        }
        next = bitmap.first_free(next..all).unwrap_or(all);
        let most = inode.missing_until(page, blocks) - page;
        // A run is taken within its group.
        let group_end = (next / super::super::geometry::GROUP_BLOCKS + 1) * super::super::geometry::GROUP_BLOCKS;
        let end = bitmap.free_until(next..all.min(group_end).min(next + most));
        bitmap.take(next..end);
        inode.add(page, next, end - next);
        page += end - next;
        next = end;
    }
    (inode.runs().collect(), inode.node_blocks().collect())
}

/// The ring of a journal's blocks.
#[derive(Debug)]
pub struct Log {
    /// The runs of the file, and the page that each begins with.
    runs: Vec<(u32, Run)>,
    blocks: u32,
    /// The next block that is written, and how many are free from it on.
    pub head: u32,
    pub free: u32,
}

impl Log {
    /// An empty one in a file with these runs.
    pub fn new(file: &[Run]) -> Self {
        let mut page = 0;
        let mut runs = Vec::with_capacity(file.len());
        for &run in file {
            runs.push((page, run));
            page += run.pages;
        }
        Log { runs, blocks: page, head: FIRST, free: page - FIRST }
    }

    /// The runs of the file.
    #[cfg(test)]
    pub fn runs(&self) -> Vec<Run> {
        self.runs.iter().map(|&(_, run)| run).collect()
    }

    /// Blocks of the file.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The block of the journal's superblock.
    pub fn superblock(&self) -> Block {
        self.runs[0].1.block
    }

    /// Takes blocks at the head: the pages and blocks of the file, as runs of at most `longest` blocks. As many are free.
    pub fn take(&mut self, mut count: u32, longest: u32) -> Vec<Run> {
        self.free -= count;
        let mut taken = Vec::new();
        while count > 0 {
            let at = self.runs.partition_point(|&(page, _)| page <= self.head) - 1;
            let (page, run) = self.runs[at];
            let skip = self.head - page;
            let pages = (run.pages - skip).min(count).min(longest);
            taken.push(Run { block: run.block + skip, pages });
            count -= pages;
            self.head += pages;
            if self.head == self.blocks {
                self.head = FIRST;
            }
        }
        taken
    }

    /// Blocks from one of the ring up to before another one.
    pub fn between(&self, from: u32, to: u32) -> u32 {
        if to >= from { to - from } else { to + (self.blocks - FIRST) - from }
    }

    /// Nothing is in it any more.
    pub fn reset(&mut self) {
        (self.head, self.free) = (FIRST, self.blocks - FIRST);
    }
}
