//! Reservation windows: blocks that a file that is being written has for itself (Linux 6.1, fs/ext2/balloc.c).

use std::collections::BTreeMap;
use std::ops::Range;

use super::bitmap::Bitmap;
use crate::system::Block;

/// No window is made longer than this for being used well (EXT2_MAX_RESERVE_BLOCKS).
const BLOCKS_MAX: u32 = 1027;

/// A file's window, and how long the next one is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    start: Block,
    /// The first block behind the window; 0: there is none.
    end: Block,
    /// Blocks that the file has taken from it.
    hits: u32,
    /// The length of the next window; 0: no file has asked for one.
    pub blocks: u32,
}

impl Reservation {
    /// Whether there is a window.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.end != 0
    }

    /// The blocks of the window.
    #[inline(always)]
    pub fn window(&self) -> Range<Block> {
        self.start..self.end
    }

    /// Whether blocks of a group may be taken from it: it has the goal, or without one some block of the group.
    #[inline]
    pub fn serves(&self, goal: Option<Block>, group: &Range<Block>) -> bool {
        let meets = self.start < group.end && self.end > group.start;
        meets && goal.is_none_or(|goal| self.window().contains(&goal))
    }

    /// Blocks have been taken from it.
    pub fn hit(&mut self, blocks: u32) {
        self.hits += blocks;
    }

    /// There is no window any more. The next one is as long as it would have been.
    pub fn close(&mut self) {
        *self = Reservation { blocks: self.blocks, ..Reservation::default() };
    }

    /// The length of the next window: twice that of this one if more than half of this one was used.
    fn next_blocks(&self) -> u32 {
        let is_used = self.is_open() && self.hits > (self.end - self.start) / 2;
        if is_used { (2 * self.blocks).min(BLOCKS_MAX.max(self.blocks)) } else { self.blocks }
    }
}

/// All windows. None overlaps another one.
#[derive(Debug, Default)]
pub struct Windows {
    /// Ends by starts.
    ends: BTreeMap<Block, Block>,
}

impl Windows {
    /// A file's window is another one now.
    pub fn replace(&mut self, before: &Reservation, now: &Reservation) {
        if before.is_open() && (!now.is_open() || before.start != now.start) {
            self.ends.remove(&before.start);
        }
        if now.is_open() && before.window() != now.window() {
            self.ends.insert(now.start, now.end);
        }
    }

    /// Makes a window longer by this number of blocks, or up to the next one.
    pub fn extend(&self, own: &mut Reservation, blocks: u32) {
        let next = self.ends.range(own.end..).next().map_or(u32::MAX, |(&start, _)| start);
        own.end = own.end.saturating_add(blocks).min(next);
    }

    /// The next window of a file, of which `own` is the present one and `mine` that among all windows: from the goal on, with a
    /// free block of the group in it. None if there is no place: then the present one is closed, unless it goes on in the next group.
    pub fn open(
        &self,
        own: &mut Reservation,
        mine: &Reservation,
        goal: Option<Block>,
        group: &Range<Block>,
        bitmap: &Bitmap,
    ) -> bool {
        let mut from = goal.unwrap_or(group.start);
        if own.is_open() && own.start < group.end && own.end > group.end && from >= own.start {
            return false; // its rest is in the next group
        }
        let blocks = own.next_blocks();
        own.blocks = blocks;
        // The present window is in the way at first only: from the second place on it is given up.
        let mut given_up = None;
        while from < group.end {
            let start = self.behind_others(from, blocks, given_up);
            let Some(free) = bitmap.first_free(start.min(group.end)..group.end) else { break };
            if free < start.saturating_add(blocks) {
                *own = Reservation { start, end: start.saturating_add(blocks), hits: 0, blocks };
                return true;
            }
            from = free;
            given_up = mine.is_open().then_some(mine.start);
        }
        own.close();
        false
    }

    /// The first place from `from` on with this number of blocks that no window has, but for the one at `except`.
    fn behind_others(&self, mut from: Block, blocks: u32, except: Option<Block>) -> Block {
        let counts = |start: &Block| Some(*start) != except;
        let mut below = self.ends.range(..=from).rev().filter(|(start, _)| counts(start));
        if let Some((_, &end)) = below.next() {
            from = from.max(end);
        }
        for (&start, &end) in self.ends.range(from..).filter(|(start, _)| counts(start)) {
            if start >= from.saturating_add(blocks) {
                break;
            }
            from = from.max(end);
        }
        from
    }

    /// Windows that are open.
    #[cfg(test)]
    pub fn all(&self) -> impl Iterator<Item = Range<Block>> {
        self.ends.iter().map(|(&start, &end)| start..end)
    }
}
