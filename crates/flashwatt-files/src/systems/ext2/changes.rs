//! Inodes that have changed in memory: which of them an fsync, or the flusher, writes.

use super::geometry::INODES_PER_BLOCK;

/// Changes by block of the inode tables, a bit for each of its inodes.
#[derive(Debug)]
pub struct Changes {
    /// Those with any change, and those whose length or blocks have changed.
    any: Vec<u16>,
    data: Vec<u16>,
}

fn place(inode: u32) -> (usize, u16) {
    ((inode / INODES_PER_BLOCK) as usize, 1 << (inode % INODES_PER_BLOCK))
}

impl Changes {
    /// No inode has changed.
    pub fn new(inodes: u32) -> Self {
        let blocks = (inodes / INODES_PER_BLOCK) as usize;
        Changes { any: vec![0; blocks], data: vec![0; blocks] }
    }

    /// An inode has changed; whether that is needed to find its data.
    pub fn add(&mut self, inode: u32, is_data: bool) {
        let (block, bit) = place(inode);
        self.any[block] |= bit;
        self.data[block] |= if is_data { bit } else { 0 };
    }

    /// Whether an inode has changed. `data_only`: in what is needed to find its data.
    pub fn has(&self, inode: u32, data_only: bool) -> bool {
        let (block, bit) = place(inode);
        let changes = if data_only { &self.data } else { &self.any };
        changes[block] & bit != 0
    }

    /// What an inode has changed to is in its block.
    pub fn written(&mut self, inode: u32) {
        let (block, bit) = place(inode);
        self.any[block] &= !bit;
        self.data[block] &= !bit;
    }

    /// What all inodes of a block have changed to is there. `first` is the first of them.
    pub fn block_written(&mut self, first: u32) {
        let (block, _) = place(first);
        (self.any[block], self.data[block]) = (0, 0);
    }
}
