//! Allocation of blocks: near a goal, in a window of the file, else in the next group with room (Linux 6.1, ext2_new_blocks in
//! fs/ext2/balloc.c).

use std::ops::Range;

use super::bitmap::Bitmap;
use super::geometry::{FIRST_BLOCKS, GROUP_BLOCKS, Geometry};
use super::windows::{Reservation, Windows};
use crate::system::{Block, Tried};

/// A free block is given away with up to this number of free ones before it.
const BACK: u32 = 7;

/// The blocks of the disk.
#[derive(Debug)]
pub struct Blocks {
    pub bitmap: Bitmap,
    windows: Windows,
    groups: u32,
    count: u32,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// Where it should be.
    pub goal: Block,
    /// Consecutive blocks at most, > 0.
    pub count: u32,
    /// The reservation of the file that asks. Directories have none.
    pub own: Reservation,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Free blocks, as many as were wanted or fewer.
    pub blocks: Range<Block>,
    /// The reservation as it is when they are taken.
    pub own: Reservation,
}

impl Blocks {
    /// Those of an empty file system.
    pub fn new(geometry: &Geometry) -> Self {
        let mut bitmap = Bitmap::new(geometry.blocks, GROUP_BLOCKS);
        for group in 0..geometry.groups {
            let start = geometry.group_start(group);
            bitmap.take(start..start + geometry.overhead(group));
        }
        let first = geometry.overhead(0);
        bitmap.take(first..first + FIRST_BLOCKS);
        Blocks { bitmap, windows: Windows::default(), groups: geometry.groups, count: geometry.blocks }
    }

    /// The blocks of a group.
    fn group(&self, group: u32) -> Range<Block> {
        let start = group * GROUP_BLOCKS;
        start..self.count.min(start.saturating_add(GROUP_BLOCKS))
    }

    /// Looks for free blocks, in groups whose bitmaps `read` brings to memory. Changes nothing. None if the disk is full.
    pub fn find(&self, want: Want, mut read: impl FnMut(u32) -> Tried<()>) -> Tried<Option<Found>> {
        let goal = if want.goal < self.count { want.goal } else { 0 };
        let first = goal / GROUP_BLOCKS;
        let mut search = Search { blocks: self, own: want.own, mine: want.own, count: want.count };
        let window_blocks = want.own.blocks;
        let has_room = self.bitmap.free_in(first) >= window_blocks;
        if window_blocks > 0
            && (has_room || want.own.is_open() || self.bitmap.free_in(first) == 0)
            && let Some(blocks) = search.near(goal, window_blocks / 2, true, &mut read)?
        {
            return Ok(Some(Found { blocks, own: search.own }));
        }
        let found = search.near(goal, 0, false, &mut read)?;
        Ok(found.map(|blocks| Found { blocks, own: search.own }))
    }

    /// Takes what was found. `before` is the reservation of the file up to now.
    pub fn take(&mut self, before: &Reservation, found: &Found) {
        self.bitmap.take(found.blocks.clone());
        self.windows.replace(before, &found.own);
    }

    /// Takes up to `most` free blocks from one on, in the file's window: what single searches, each with the goal behind the block
    /// before, would find. Returns how many.
    pub fn take_following(&mut self, own: &mut Reservation, first: Block, most: u32) -> u32 {
        let end = own.window().end.min(self.count).min(first.saturating_add(most));
        if !own.window().contains(&first) || first >= end {
            return 0;
        }
        let blocks = first..self.bitmap.free_until(first..end);
        let count = blocks.end - blocks.start;
        if count > 0 {
            own.hit(count);
            self.bitmap.take(blocks);
        }
        count
    }

    /// Gives blocks back that were taken just now, and a reservation that has changed with them.
    pub fn give(&mut self, blocks: &[Block], own: &Reservation, before: &Reservation) {
        blocks.iter().for_each(|&block| self.bitmap.give(block..block + 1));
        self.windows.replace(own, before);
    }

    /// A file that is not written any more gives its window up.
    pub fn close(&mut self, own: &mut Reservation) {
        let before = *own;
        own.close();
        self.windows.replace(&before, own);
    }

    /// Windows that are open.
    #[cfg(test)]
    pub fn windows(&self) -> impl Iterator<Item = Range<Block>> {
        self.windows.all()
    }
}

/// A search under way.
struct Search<'a> {
    blocks: &'a Blocks,
    /// The reservation as the search has changed it, and as it was.
    own: Reservation,
    mine: Reservation,
    count: u32,
}

impl Search<'_> {
    /// Free blocks in the group of the goal, or in the first group behind it that has more than `least` of them.
    fn near(
        &mut self,
        goal: Block,
        least: u32,
        in_window: bool,
        read: &mut impl FnMut(u32) -> Tried<()>,
    ) -> Tried<Option<Range<Block>>> {
        let (first, groups) = (goal / GROUP_BLOCKS, self.blocks.groups);
        for at in 0..=groups {
            let group = (first + at) % groups;
            let goal = (at == 0).then_some(goal);
            let least = if at == 0 { 0 } else { least };
            if self.blocks.bitmap.free_in(group) <= least {
                continue;
            }
            read(group)?;
            let found = if in_window { self.in_window(group, goal) } else { self.in_group(group, goal) };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Free blocks of the file's window, or of a new one in the group.
    fn in_window(&mut self, group: u32, goal: Option<Block>) -> Option<Range<Block>> {
        let of_group = self.blocks.group(group);
        let (bitmap, windows) = (&self.blocks.bitmap, &self.blocks.windows);
        let mut goal = goal;
        let mut is_used_up = false;
        loop {
            if is_used_up || !self.own.is_open() || !self.own.serves(goal, &of_group) {
                self.own.blocks = self.own.blocks.max(self.count);
                if !windows.open(&mut self.own, &self.mine, goal, &of_group, bitmap) {
                    return None;
                }
                goal = goal.filter(|_| self.own.serves(goal, &of_group));
            } else if let Some(goal) = goal {
                let missing = self.count.saturating_sub(self.own.window().end - goal);
                windows.extend(&mut self.own, missing);
            }
            let window = self.own.window();
            let window = window.start.max(of_group.start)..window.end.min(of_group.end);
            goal = goal.filter(|goal| window.contains(goal));
            let first = match goal {
                Some(goal) => bitmap.first_free(goal..window.end),
                None => first_usable(bitmap, &window, &of_group),
            };
            if let Some(first) = first {
                let found = self.run(first, window.end);
                self.own.hit(found.end - found.start);
                return Some(found);
            }
            is_used_up = true;
        }
    }

    /// Free blocks of a group, whosever windows they are in.
    fn in_group(&self, group: u32, goal: Option<Block>) -> Option<Range<Block>> {
        let (bitmap, of_group) = (&self.blocks.bitmap, self.blocks.group(group));
        let first = match goal {
            Some(goal) => bitmap.first_free(goal..of_group.end)?,
            None => {
                let usable = first_usable(bitmap, &of_group, &of_group)?;
                let back = (1..=BACK.min(usable - of_group.start)).take_while(|&at| !bitmap.is_taken(usable - at));
                usable - back.last().unwrap_or(0)
            }
        };
        Some(self.run(first, of_group.end))
    }

    /// The free blocks from a free one on, before `end`.
    fn run(&self, first: Block, end: Block) -> Range<Block> {
        let most = end.min(first.saturating_add(self.count));
        first..self.blocks.bitmap.free_until(first..most)
    }
}

/// The first block of a range where one may begin (find_next_usable_block): a free one before the next multiple of 64, else the first
/// free byte of the bitmap, else any free one.
fn first_usable(bitmap: &Bitmap, range: &Range<Block>, group: &Range<Block>) -> Option<Block> {
    let near = if range.start > group.start { range.start.next_multiple_of(64).min(range.end) } else { range.start };
    let found = bitmap.first_free(range.start..near);
    found.or_else(|| bitmap.first_free_byte(range.clone())).or_else(|| bitmap.first_free(range.clone()))
}
