//! ext2: files in place, their blocks near one another and near their inode (Linux 6.1, fs/ext2; laid down as mke2fs does it).
//!
//! The disk is groups of 32,768 blocks, each with bitmaps of its blocks and inodes and with a part of the inode table ([`geometry`]).
//! A file's inode goes to the group of its directory, a directory to where there is room ([`dirs`]). A page gets its block when it
//! is written, not when it goes to the disk: the one after the page before it, from a window that the file has for itself while it
//! is open ([`windows`]). Behind the first 12 pages, indirect blocks lead to the pages ([`inode`]).
//!
//! What is dirtied: bitmaps, group descriptors, inode tables, directories and indirect blocks, all as blocks of the disk that the
//! flusher writes back in ascending order. fsync writes the file's data, then its indirect blocks and the block of its inode, then
//! sends a flush, also where nothing was dirty; the rest of the metadata waits for the flusher. Times are whole seconds: a file that
//! is overwritten changes its inode once in a second.
//!
//! Deviations: names have eight letters, and one block of a directory is read for a look-up, the one with the entry. Times of
//! access are not kept (`noatime`). The superblock is written at the end of a run only. An inode that has changed is a dirty block
//! at once ([`crate::files`]).

mod bitmap;
mod dirs;
mod geometry;
mod inode;
#[cfg(test)]
mod tests;
mod windows;

use std::ops::Range;

use bitmap::Bitmap;
use dirs::{Dir, Spread};
use geometry::{FIRST_INODES, Geometry};
use inode::{Inode, PAGES_MAX, path};
use windows::Windows;

use super::{Recipe, Registered};
use crate::error::Fault;
use crate::files::context::Cx;
use crate::files::operation::{DirId, FileId, OpError};
use crate::files::system::{Block, FileSystem, PageKey, Run, Stop, Sync, Tried, Usage};
use crate::registry::{Param, Parameters};

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "ext2",
    doc: "files in place, in groups of blocks with bitmaps and inode tables (Linux 6.1, mke2fs)",
    params: &[
        whole(
            "bytes_per_inode",
            "bytes of the disk for each inode; 0: as mke2fs, 16384 for most disks",
            0.0,
            67_108_864.0,
        ),
        Param {
            name: "reserved_percent",
            doc: "per cent of the blocks that applications do not get",
            default: 5.0,
            min: 0.0,
            max: 50.0,
            integer: false,
        },
        whole("reservation_blocks", "blocks of the first window of a file that is written; 0: no windows", 8.0, 1027.0),
        whole("discard", "tell the drive of blocks that are freed? (0 or 1)", 0.0, 1.0),
    ],
    build: Recipe { make },
};

const fn whole(name: &'static str, doc: &'static str, default: f64, max: f64) -> Param {
    Param { name, doc, default, min: 0.0, max, integer: true }
}

/// The least disk in bytes.
const DISK_BYTES_MIN: u64 = 4 << 20;

fn make(parameters: &Parameters, disk_bytes: u64) -> Result<Box<dyn FileSystem>, Box<Fault>> {
    let per_inode = Some(parameters.count("bytes_per_inode")).filter(|&bytes| bytes > 0).map(|bytes| bytes.max(1024));
    let geometry = Geometry::new(disk_bytes, per_inode).filter(|_| disk_bytes >= DISK_BYTES_MIN);
    let geometry = geometry.ok_or_else(|| {
        let fault = Fault::key("workload.files.system", "the drive does not take this file system");
        let expected = format!("{DISK_BYTES_MIN} bytes, more with many inodes, to 16 TiB");
        Box::new(fault.found(format!("ext2 on {disk_bytes} bytes")).expected(expected))
    })?;
    Ok(Box::new(Ext2::new(geometry, parameters)))
}

/// The file system.
struct Ext2 {
    geometry: Geometry,
    blocks: Bitmap,
    inodes: Bitmap,
    spread: Spread,
    windows: Windows,
    /// Directories by number, and the inodes of directories and of files.
    dirs: Vec<Option<Dir>>,
    dir_inodes: Vec<Inode>,
    files: Vec<Option<Inode>>,
    reserved: u64,
    window_blocks: u32,
    discards: bool,
}

/// The inode of the root, from 0.
const ROOT_INODE: u32 = 1;

/// Blocks between the places where processes begin files: a sixteenth of a group (ext2_find_near).
const COLOURS: u32 = 16;

impl Ext2 {
    fn new(geometry: Geometry, parameters: &Parameters) -> Self {
        let mut blocks = Bitmap::new(geometry.blocks, geometry::GROUP_BLOCKS);
        for group in 0..geometry.groups {
            let start = geometry.group_start(group);
            let first = if group == 0 { geometry.first_blocks() } else { 0 };
            (start..start + geometry.overhead(group) + first).for_each(|block| blocks.take(block));
        }
        let mut inodes = Bitmap::new(geometry.inodes(), geometry.inodes_per_group);
        (0..FIRST_INODES).for_each(|inode| inodes.take(inode));
        let mut root = Inode::new(ROOT_INODE, 0, 0);
        root.add(0, geometry.overhead(0));
        Ext2 {
            reserved: (u64::from(geometry.blocks) as f64 * parameters.number("reserved_percent") / 100.0) as u64,
            window_blocks: parameters.count("reservation_blocks") as u32,
            discards: parameters.is_on("discard"),
            spread: Spread::new(&geometry),
            geometry,
            blocks,
            inodes,
            windows: Windows::default(),
            dirs: vec![Some(Dir::new())],
            dir_inodes: vec![root],
            files: Vec::new(),
        }
    }

    fn inode(&self, file: FileId) -> Tried<&Inode> {
        self.files.get(file.idx()).and_then(Option::as_ref).ok_or(Stop::Failed(OpError::NoFile))
    }

    fn group_of(&self, inode: u32) -> u32 {
        inode / self.geometry.inodes_per_group
    }

    /// A block of metadata is in memory.
    fn read(block: Block, cx: &mut Cx) -> Tried<()> {
        cx.read_meta(block, block)
    }

    fn read_inode(&self, inode: u32, cx: &mut Cx) -> Tried<()> {
        Self::read(self.geometry.inode_block(inode), cx)
    }

    fn dirty_inode(&self, inode: u32, cx: &mut Cx) {
        cx.dirty_meta(self.geometry.inode_block(inode));
    }

    /// Free blocks that an application may have.
    fn available(&self) -> u64 {
        self.blocks.free().saturating_sub(self.reserved)
    }

    /// The block of the disk that is a block of a directory.
    fn dir_block(&self, dir: u32, at: u32) -> Block {
        self.dir_inodes[dir as usize].run(at).map_or(0, |run| run.block)
    }

    // Allocation of inodes.

    /// The group of a new file (find_group_other): that of its directory, else by steps that double, else the next one with room.
    fn group_of_file(&self, dir: u32) -> Option<u32> {
        let (parent, groups) = (self.dir_inodes[dir as usize].number, self.geometry.groups);
        let own = self.group_of(parent);
        let fits = |group: u32| self.inodes.free_in(group) > 0 && self.blocks.free_in(group) > 0;
        if fits(own) {
            return Some(own);
        }
        let mut group = (own + parent) % groups;
        let mut step = 1;
        while step < groups {
            group = (group + step) % groups;
            if fits(group) {
                return Some(group);
            }
            step *= 2;
        }
        (0..groups).map(|at| (own + at) % groups).find(|&group| self.inodes.free_in(group) > 0)
    }

    fn free_inode(&self, group: u32) -> Tried<u32> {
        let start = group * self.geometry.inodes_per_group;
        let found = self.inodes.first_free(start, start + self.geometry.inodes_per_group);
        found.ok_or(Stop::Failed(OpError::NoSpace))
    }

    /// Takes an inode, and the block of metadata that says so.
    fn take_inode(&mut self, inode: u32, cx: &mut Cx) {
        let group = self.group_of(inode);
        self.inodes.take(inode);
        cx.dirty_meta(self.geometry.inode_bitmap(group));
        cx.dirty_meta(self.geometry.descriptor(group));
        self.dirty_inode(inode, cx);
    }

    /// An entry in a directory: the block that takes it, which is read or made.
    fn entry(&mut self, dir: u32, cx: &mut Cx) -> Tried<u32> {
        let Some(entries) = self.dirs.get_mut(dir as usize).and_then(Option::as_mut) else {
            return Err(Stop::Failed(OpError::NoFile));
        };
        let place = entries.place();
        let at = match place {
            Some(at) => {
                Self::read(self.dir_block(dir, at), cx)?;
                at
            }
            None => self.grow_dir(dir, cx)?,
        };
        Ok(at)
    }

    /// A directory gets another block.
    fn grow_dir(&mut self, dir: u32, cx: &mut Cx) -> Tried<u32> {
        let at = self.dirs[dir as usize].as_ref().map_or(0, Dir::blocks);
        let mut inode = std::mem::take(&mut self.dir_inodes[dir as usize]);
        let grown = self.allocate(None, &mut inode, at, cx);
        self.dir_inodes[dir as usize] = inode;
        grown?;
        if let Some(entries) = &mut self.dirs[dir as usize] {
            entries.grow();
        }
        Ok(at)
    }

    fn enter(&mut self, dir: u32, at: u32, cx: &mut Cx) {
        if let Some(entries) = &mut self.dirs[dir as usize] {
            entries.add(at);
        }
        cx.dirty_meta(self.dir_block(dir, at));
        self.dirty_inode(self.dir_inodes[dir as usize].number, cx);
    }

    // Allocation of blocks.

    /// A page without a block gets one, and so do the indirect blocks that lead to it, in the order of the disk.
    fn allocate(&mut self, file: Option<FileId>, inode: &mut Inode, page: u32, cx: &mut Cx) -> Tried<()> {
        for node in path(page) {
            if let Some(block) = inode.node(node) {
                Self::read(block, cx)?;
            }
        }
        for node in path(page) {
            if inode.node(node).is_none() {
                let block = self.take_block(file, inode, page, cx)?;
                inode.add_node(node, block);
                cx.dirty_meta(block);
                inode.last = Some((page.wrapping_sub(1), block)); // the next block of this file follows on this one
            }
        }
        let block = self.take_block(file, inode, page, cx)?;
        inode.add(page, block);
        (inode.is_changed, inode.is_longer) = (true, true);
        if let Some(leaf) = path(page).last().and_then(|node| inode.node(node)) {
            cx.dirty_meta(leaf);
        }
        self.dirty_inode(inode.number, cx);
        Ok(())
    }

    /// Takes a free block near where a page of the inode should be.
    fn take_block(&mut self, file: Option<FileId>, inode: &Inode, page: u32, cx: &mut Cx) -> Tried<Block> {
        let goal = self.goal(inode, page, cx.process);
        let (block, is_hit) = self.find(file, goal).ok_or(Stop::Failed(OpError::NoSpace))?;
        let group = block / geometry::GROUP_BLOCKS;
        Self::read(self.geometry.block_bitmap(group), cx)?;
        self.blocks.take(block);
        if let Some(file) = file.filter(|_| is_hit) {
            self.windows.hit(file);
        }
        cx.dirty_meta(self.geometry.block_bitmap(group));
        cx.dirty_meta(self.geometry.descriptor(group));
        Ok(block)
    }

    /// Where a page's block should be (ext2_find_goal): after that of the page before it, if that was written last; else at the
    /// nearest block of the file before it; else in the group of the inode, at a place by the process.
    fn goal(&self, inode: &Inode, page: u32, process: u16) -> Block {
        if let Some((last, block)) = inode.last
            && page == last.wrapping_add(1)
        {
            return block + 1;
        }
        inode.block_before(page).unwrap_or_else(|| {
            let group = self.group_of(inode.number);
            let step = geometry::GROUP_BLOCKS / COLOURS;
            self.geometry.group_start(group) + u32::from(process) % COLOURS * step
        })
    }

    /// A free block at or behind the goal, and whether it is of the file's window.
    fn find(&mut self, file: Option<FileId>, goal: Block) -> Option<(Block, bool)> {
        let goal = if goal < self.geometry.blocks { goal } else { 0 };
        let group = goal / geometry::GROUP_BLOCKS;
        if let Some(file) = file.filter(|_| self.window_blocks > 0) {
            let end = self.geometry.group_start(group) + self.geometry.group_blocks(group);
            let found = self.in_window(file, goal, end);
            let found = found.or_else(|| self.in_other_groups(file, group));
            if let Some(block) = found {
                return Some((block, true));
            }
            self.windows.drop(file);
        }
        let end = self.geometry.group_start(group) + self.geometry.group_blocks(group);
        let behind = self.blocks.first_free(goal, end).or_else(|| {
            let mut others = (0..self.geometry.groups).map(|at| (group + at) % self.geometry.groups);
            let with_room = others.find(|&group| self.blocks.free_in(group) > 0)?;
            let start = self.geometry.group_start(with_room);
            self.blocks.first_free(start, start + self.geometry.group_blocks(with_room))
        })?;
        Some((behind, false))
    }

    /// A free block of the file's window, or of a new one from the goal on in its group.
    fn in_window(&mut self, file: FileId, goal: Block, end: Block) -> Option<Block> {
        if let Some(window) = self.windows.of(file).filter(|window| (window.start..window.end).contains(&goal))
            && let Some(block) = self.blocks.first_free(goal, window.end.min(end))
        {
            return Some(block);
        }
        let window = self.windows.open(file, goal, end, self.window_blocks, &self.blocks)?;
        self.blocks.first_free(window.start, window.end.min(end))
    }

    /// The same in the groups behind one, those that have room for a window.
    fn in_other_groups(&mut self, file: FileId, group: u32) -> Option<Block> {
        let groups = self.geometry.groups;
        for other in (1..=groups).map(|at| (group + at) % groups) {
            if self.blocks.free_in(other) > self.window_blocks / 2 {
                let start = self.geometry.group_start(other);
                let found = self.in_window(file, start, start + self.geometry.group_blocks(other));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// The blocks of a file and its indirect blocks, as ranges.
    fn blocks_of(inode: &Inode) -> impl Iterator<Item = Range<Block>> {
        let runs = inode.runs().map(|run| run.block..run.block + run.pages);
        runs.chain(inode.node_blocks().map(|block| block..block + 1))
    }
}

impl FileSystem for Ext2 {
    fn usage(&self) -> Usage {
        let first = u64::from(self.geometry.blocks) - self.geometry.free_blocks();
        Usage {
            blocks: u64::from(self.geometry.blocks),
            free_blocks: self.blocks.free(),
            overhead_blocks: first,
            inodes: Some(u64::from(self.geometry.inodes())),
            free_inodes: Some(self.inodes.free()),
        }
    }

    fn make_dir(&mut self, dir: DirId, parent: DirId, cx: &mut Cx) -> Tried<()> {
        let parent_group = (parent != DirId::ROOT).then(|| self.group_of(self.dir_inodes[parent.idx()].number));
        let draw = crate::rng::splitmix64(u64::from(dir.0)) as u32;
        let group = self.spread.group(&self.geometry, parent_group, draw, &self.blocks, &self.inodes);
        let number = self.free_inode(group)?;
        let at = self.entry(parent.0, cx)?;
        let mut inode = Inode::new(number, parent.0, at);
        Self::read(self.geometry.inode_bitmap(group), cx)?;
        self.allocate(None, &mut inode, 0, cx)?;
        self.take_inode(number, cx);
        self.enter(parent.0, at, cx);
        self.spread.dir_made(group);
        let places = self.dirs.len().max(dir.idx() + 1);
        self.dirs.resize_with(places, || None);
        self.dir_inodes.resize_with(places, Inode::default);
        (self.dirs[dir.idx()], self.dir_inodes[dir.idx()]) = (Some(Dir::new()), inode);
        cx.dirty_meta(self.dir_block(dir.0, 0));
        Ok(())
    }

    fn create(&mut self, file: FileId, dir: DirId, cx: &mut Cx) -> Tried<()> {
        let group = self.group_of_file(dir.0).ok_or(Stop::Failed(OpError::NoSpace))?;
        let number = self.free_inode(group)?;
        Self::read(self.geometry.inode_bitmap(group), cx)?;
        self.read_inode(number, cx)?;
        let slot = self.entry(dir.0, cx)?;
        self.take_inode(number, cx);
        self.enter(dir.0, slot, cx);
        self.spread.file_made(group);
        if self.files.len() <= file.idx() {
            self.files.resize_with(file.idx() + 1, || None);
        }
        self.files[file.idx()] = Some(Inode::new(number, dir.0, slot));
        Ok(())
    }

    fn lookup(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        let &Inode { number, dir, slot, .. } = self.inode(file)?;
        Self::read(self.dir_block(dir, slot), cx)?;
        self.read_inode(number, cx)
    }

    fn closed(&mut self, file: FileId) {
        self.windows.drop(file);
    }

    fn remove(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        let inode = self.inode(file)?;
        let (number, dir, slot) = (inode.number, inode.dir, inode.slot);
        Self::read(self.dir_block(dir, slot), cx)?;
        self.read_inode(number, cx)?;
        Self::read(self.geometry.inode_bitmap(self.group_of(number)), cx)?;
        for blocks in Self::blocks_of(self.inode(file)?) {
            Self::read(self.geometry.block_bitmap(blocks.start / geometry::GROUP_BLOCKS), cx)?;
        }
        let Some(inode) = self.files[file.idx()].take() else { return Ok(()) };
        self.windows.drop(file);
        for blocks in Self::blocks_of(&inode) {
            if self.discards {
                cx.trim(blocks.start, blocks.len() as u32);
            }
            let group = blocks.start / geometry::GROUP_BLOCKS;
            blocks.for_each(|block| self.blocks.give(block));
            cx.dirty_meta(self.geometry.block_bitmap(group));
            cx.dirty_meta(self.geometry.descriptor(group));
        }
        inode.node_blocks().for_each(|block| cx.forget_meta(block));
        self.inodes.give(number);
        cx.dirty_meta(self.geometry.inode_bitmap(self.group_of(number)));
        cx.dirty_meta(self.geometry.descriptor(self.group_of(number)));
        self.dirty_inode(number, cx);
        if let Some(entries) = &mut self.dirs[dir as usize] {
            entries.remove(slot);
        }
        cx.dirty_meta(self.dir_block(dir, slot));
        self.dirty_inode(self.dir_inodes[dir as usize].number, cx);
        Ok(())
    }

    fn prepare_write(&mut self, file: FileId, pages: Range<u32>, cx: &mut Cx) -> Tried<()> {
        let number = self.inode(file)?.number;
        if u64::from(pages.end) > PAGES_MAX {
            return Err(Stop::Failed(OpError::TooLong));
        }
        self.read_inode(number, cx)?;
        let inode = self.inode(file)?;
        let missing = pages.clone().filter(|&page| inode.run(page).is_none()).count() as u64;
        if missing == 0 {
            return Ok(());
        }
        // The indirect blocks of these pages: one for each 1024, and at most two above them.
        if missing + missing / 1024 + 3 > self.available() {
            return Err(Stop::Failed(OpError::NoSpace));
        }
        let Some(mut inode) = self.files[file.idx()].take() else { return Ok(()) };
        let mut done = Ok(());
        for page in pages {
            if inode.run(page).is_none() {
                done = self.allocate(Some(file), &mut inode, page, cx);
            }
            if done.is_err() {
                break; // what it has got it keeps: it goes on from there
            }
        }
        self.files[file.idx()] = Some(inode);
        done
    }

    fn written(&mut self, file: FileId, bytes: u64, cx: &mut Cx) {
        let Some(inode) = self.files.get_mut(file.idx()).and_then(Option::as_mut) else { return };
        if inode.written(bytes, cx.now) {
            let number = inode.number;
            self.dirty_inode(number, cx);
        }
    }

    fn map(&mut self, page: PageKey, longest: u32, cx: &mut Cx) -> Tried<Option<Run>> {
        let Some(file) = page.owner.file() else { return Ok(Some(Run { block: page.index, pages: 1 })) };
        let inode = self.inode(file)?;
        for node in path(page.index) {
            if let Some(block) = inode.node(node) {
                Self::read(block, cx)?;
            }
        }
        let run = inode.run(page.index).map(|run| Run { pages: run.pages.min(longest), ..run });
        Ok(run)
    }

    fn write_out(&mut self, pages: &[PageKey], cx: &mut Cx) -> Tried<()> {
        let place = |&key: &PageKey| {
            let block = match key.owner.file() {
                None => Some(key.index),
                Some(file) => self.inode(file).ok()?.run(key.index).map(|run| run.block),
            };
            debug_assert!(block.is_some(), "{key:?} was prepared");
            Some((key, block?))
        };
        let places: Vec<_> = pages.iter().filter_map(place).collect();
        cx.write_in_place(&places);
        Ok(())
    }

    fn fsync(&mut self, file: FileId, sync: Sync, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            cx.write_file(self, file, sync)?;
            *stage = 1;
            cx.wait()?;
        }
        if *stage == 1 {
            let inode = self.inode(file)?;
            // The block of an inode that has not changed may be dirty for another one's sake: it stays.
            let is_needed = if sync.data_only { inode.is_longer } else { inode.is_changed };
            let own = is_needed.then(|| self.geometry.inode_block(inode.number));
            own.into_iter().for_each(|block| cx.dirty_meta(block));
            cx.write_meta(inode.node_blocks().chain(own).map(|block| (block, block)))?;
            if let Some(inode) = self.files[file.idx()].as_mut().filter(|_| is_needed) {
                (inode.is_changed, inode.is_longer) = (false, false);
            }
            *stage = 2;
            cx.wait()?;
        }
        if *stage == 2 {
            *stage = 3;
            cx.flush();
        }
        cx.wait()
    }

    fn sync(&mut self, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            cx.dirty_meta(0);
            cx.write_meta([(0, 0)])?;
            *stage = 1;
            cx.wait()?;
        }
        if *stage == 1 {
            *stage = 2;
            cx.flush();
        }
        cx.wait()
    }

    fn used(&self) -> Vec<Range<Block>> {
        self.blocks.taken_runs(self.geometry.blocks)
    }

    fn extents(&self, file: FileId) -> Vec<Run> {
        self.inode(file).map(|inode| inode.runs().collect()).unwrap_or_default()
    }
}
