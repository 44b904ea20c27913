//! Reservation windows: blocks that a file that is being written has for itself (Linux 6.1, fs/ext2/balloc.c).

use std::collections::BTreeMap;

use super::bitmap::Bitmap;
use crate::files::operation::FileId;
use crate::files::system::Block;

/// A window never grows beyond this (EXT2_MAX_RESERVE_BLOCKS).
const BLOCKS_MAX: u32 = 1027;

/// A window of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start: Block,
    /// The first block behind it.
    pub end: Block,
    /// Blocks that the file has taken from it.
    hits: u32,
    /// The length of the next one.
    blocks: u32,
}

/// All windows. None overlaps another one.
#[derive(Debug, Default)]
pub struct Windows {
    by_file: BTreeMap<FileId, Window>,
    /// Ends of windows by their starts.
    ends: BTreeMap<Block, Block>,
}

impl Windows {
    /// The window of a file.
    pub fn of(&self, file: FileId) -> Option<Window> {
        self.by_file.get(&file).copied()
    }

    /// A file has taken a block of its window.
    pub fn hit(&mut self, file: FileId) {
        if let Some(window) = self.by_file.get_mut(&file) {
            window.hits += 1;
        }
    }

    /// A file has no window any more.
    pub fn drop(&mut self, file: FileId) {
        if let Some(window) = self.by_file.remove(&file) {
            self.ends.remove(&window.start);
        }
    }

    /// Gives a file a new window from `goal` to before `until` that begins with a free block; of `first` blocks if it is its first
    /// one. A window of which more than half was used is followed by one of twice the length. None if there is no place.
    pub fn open(&mut self, file: FileId, goal: Block, until: Block, first: u32, bitmap: &Bitmap) -> Option<Window> {
        let before = self.by_file.get(&file).copied();
        let blocks = before.map_or(first, |window| {
            let is_used = window.hits > (window.end - window.start).div_ceil(2);
            if is_used { (2 * window.blocks).min(BLOCKS_MAX) } else { window.blocks }
        });
        self.drop(file);
        let mut start = goal;
        while start < until {
            start = self.behind_others(start, blocks);
            let free = bitmap.first_free(start, until)?;
            if free < start + blocks {
                let window = Window { start, end: start + blocks, hits: 0, blocks };
                self.by_file.insert(file, window);
                self.ends.insert(window.start, window.end);
                return Some(window);
            }
            start = free;
        }
        None
    }

    /// The first place from `start` on with this number of blocks that no window has.
    fn behind_others(&self, mut start: Block, blocks: u32) -> Block {
        if let Some((_, &end)) = self.ends.range(..=start).next_back() {
            start = start.max(end);
        }
        for (&other, &end) in self.ends.range(start..) {
            if other >= start + blocks {
                break;
            }
            start = end;
        }
        start
    }
}
