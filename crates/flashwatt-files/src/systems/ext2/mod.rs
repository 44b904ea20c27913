//! ext2: files in place, their blocks near one another and near their inode (Linux 6.1, fs/ext2; laid down as mke2fs does it).
//!
//! The disk is groups of 32,768 blocks, each with bitmaps of its blocks and inodes and with a part of the inode table ([`geometry`]).
//! A file's inode goes to the group of its directory, a directory to where there is room ([`dirs`]). A page gets its block when it
//! is written, not when it goes to the disk: the one after the page before it ([`inode`]), from a window that the file has for itself
//! until it is closed ([`windows`], [`blocks`]). Behind the first 12 pages, indirect blocks lead to the pages; they are allocated just
//! before the first page that needs them.
//!
//! What is dirtied: bitmaps, group descriptors, inode tables, directories and indirect blocks, all as blocks of the disk that the
//! flusher writes back in ascending order. fsync writes the file's data, then its indirect blocks, then the block of its inode, waits
//! for each, and sends a flush, also where nothing was dirty; the rest of the metadata waits for the flusher. Times are whole seconds: a
//! file that is overwritten changes its inode once in a second.
//!
//! Deviations: names have eight letters. A name is looked up in its directory each time (there is no cache of names, and none of
//! inodes beside the page cache), but not before it is made. Times of access are not kept (`noatime`). The superblock is written at the
//! end of a run only. An inode that has changed is a dirty block at once, and its block is read when it is made, not ahead of its
//! write. Where a search for the group of a directory begins is drawn from the directory's number. A range that is written gets all
//! of its blocks or none.

mod bitmap;
mod blocks;
mod changes;
mod dirs;
mod few;
mod geometry;
mod inode;
mod operations;
mod pages;
#[cfg(test)]
mod tests;
mod windows;

use std::ops::Range;

use bitmap::Bitmap;
use blocks::Blocks;
use changes::Changes;
use dirs::{Dir, Spread};
use geometry::{FIRST_INODES, Geometry};
use inode::Inode;

use super::{Recipe, Registered};
use crate::operation::{DirId, FileId, OpError};
use crate::system::{BLOCK_BYTES, Block, Cx, FileSystem, PageKey, Stop, Tried};
use flashwatt_base::error::Fault;
use flashwatt_base::registry::{Param, Parameters};

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "ext2",
    doc: "files in place, in groups of blocks with bitmaps and inode tables (Linux 6.1, mke2fs)",
    params: &[
        whole("bytes_per_inode", PER_INODE, 0.0, 67_108_864.0),
        Param { name: "reserved_percent", doc: RESERVED, default: 5.0, min: 0.0, max: 50.0, integer: false },
        whole("reservation_blocks", WINDOW, 8.0, 1027.0),
        whole("discard", "tell the drive of blocks that are freed? (0 or 1)", 0.0, 1.0),
    ],
    build: Recipe { make },
};

const PER_INODE: &str = "bytes of the disk for each inode, from 4096; 0: as mke2fs, 16384 for most disks";
const RESERVED: &str = "per cent of the blocks that applications do not get";
const WINDOW: &str = "blocks of the first window of a file that is written; 0: no windows";

const fn whole(name: &'static str, doc: &'static str, default: f64, max: f64) -> Param {
    Param { name, doc, default, min: 0.0, max, integer: true }
}

/// Least bytes for an inode: a group has as many inodes as blocks. For more of them mke2fs makes groups smaller.
const BYTES_PER_INODE_MIN: u64 = BLOCK_BYTES;

fn make(parameters: &Parameters, disk_bytes: u64) -> Result<Box<dyn FileSystem>, Box<Fault>> {
    let per_inode = Some(parameters.count("bytes_per_inode")).filter(|&bytes| bytes > 0);
    if let Some(bytes) = per_inode.filter(|&bytes| bytes < BYTES_PER_INODE_MIN) {
        let fault = Fault::key("workload.files.system.ext2.bytes_per_inode", "too few bytes for an inode");
        return Err(Box::new(fault.found(bytes).expected("0, or 4096 to 67108864")));
    }
    let geometry = Geometry::new(disk_bytes, per_inode).ok_or_else(|| {
        let fault = Fault::key("workload.files.system", "the drive does not take this file system");
        let expected = "room for the inode tables and some blocks, and at most 16 TiB";
        Box::new(fault.found(format!("ext2 on {disk_bytes} bytes")).expected(expected))
    })?;
    Ok(Box::new(Ext2::new(geometry, parameters)))
}

/// The inode of the root, from 0.
const ROOT_INODE: u32 = 1;

/// The file system.
struct Ext2 {
    geometry: Geometry,
    blocks: Blocks,
    inodes: Bitmap,
    spread: Spread,
    dirs: Vec<Dir>,
    files: Vec<Option<Inode>>,
    changes: Changes,
    reserved: u64,
    window_blocks: u32,
    discards: bool,
    /// Space for lists that a method makes.
    places: Vec<(PageKey, Block)>,
    ranges: Vec<Range<Block>>,
}

/// Whose inode it is.
#[derive(Clone, Copy, Debug)]
enum Who {
    File(FileId),
    Dir(DirId),
}

impl Ext2 {
    fn new(geometry: Geometry, parameters: &Parameters) -> Self {
        let mut inodes = Bitmap::new(geometry.inodes(), geometry.inodes_per_group);
        inodes.take(0..FIRST_INODES);
        let mut root = Inode::new(ROOT_INODE, 0, 0);
        root.add(0, geometry.overhead(0), 1);
        Ext2 {
            reserved: geometry.reserved_blocks(parameters.number("reserved_percent")),
            window_blocks: parameters.count("reservation_blocks") as u32,
            discards: parameters.is_on("discard"),
            blocks: Blocks::new(&geometry),
            spread: Spread::new(&geometry),
            changes: Changes::new(geometry.inodes()),
            geometry,
            inodes,
            dirs: vec![Dir::root(root)],
            files: Vec::new(),
            places: Vec::new(),
            ranges: Vec::new(),
        }
    }

    fn inode(&self, who: Who) -> Tried<&Inode> {
        let inode = match who {
            Who::File(file) => self.files.get(file.idx()).and_then(Option::as_ref),
            Who::Dir(dir) => self.dirs.get(dir.idx()).map(|dir| &dir.inode),
        };
        inode.ok_or(Stop::Failed(OpError::NoFile))
    }

    fn inode_mut(&mut self, who: Who) -> Tried<&mut Inode> {
        let inode = match who {
            Who::File(file) => self.files.get_mut(file.idx()).and_then(Option::as_mut),
            Who::Dir(dir) => self.dirs.get_mut(dir.idx()).map(|dir| &mut dir.inode),
        };
        inode.ok_or(Stop::Failed(OpError::NoFile))
    }

    // Inodes.

    /// A block of metadata is in memory.
    #[inline(always)]
    fn read(block: Block, cx: &mut Cx) -> Tried<()> {
        cx.read_meta(block, block)
    }

    fn read_inode(&self, inode: u32, cx: &mut Cx) -> Tried<()> {
        Self::read(self.geometry.inode_block(inode), cx)
    }

    /// An inode changes. Its block is in memory. `is_data`: the change is needed to find its data.
    fn change_inode(&mut self, inode: u32, is_data: bool, cx: &mut Cx) {
        if !cx.is_instant() {
            self.changes.add(inode, is_data);
            cx.dirty_meta(self.geometry.inode_block(inode));
        }
    }

    /// A free inode of a group, whose bitmap and inode table are read.
    fn free_inode(&self, group: u32, cx: &mut Cx) -> Tried<u32> {
        Self::read(self.geometry.inode_bitmap(group), cx)?;
        let start = group * self.geometry.inodes_per_group;
        let found = self.inodes.first_free(start..start + self.geometry.inodes_per_group);
        let found = found.ok_or(Stop::Failed(OpError::NoSpace))?;
        self.read_inode(found, cx)?;
        Ok(found)
    }

    fn take_inode(&mut self, inode: u32, cx: &mut Cx) {
        let group = self.geometry.group_of_inode(inode);
        self.inodes.take(inode..inode + 1);
        cx.dirty_meta(self.geometry.inode_bitmap(group));
        cx.dirty_meta(self.geometry.descriptor(group));
        self.change_inode(inode, true, cx);
    }

    // Directories.

    fn dir_mut(&mut self, dir: DirId) -> Tried<&mut Dir> {
        self.dirs.get_mut(dir.idx()).ok_or(Stop::Failed(OpError::NoFile))
    }

    /// The block of the disk that is a block of a directory.
    fn dir_block(&self, dir: DirId, at: u32) -> Block {
        self.dirs[dir.idx()].inode.run(at).map_or(0, |run| run.block)
    }

    /// Reads blocks of a directory, and the block of its inode.
    fn read_dir(&self, dir: DirId, blocks: impl Iterator<Item = u32>, cx: &mut Cx) -> Tried<()> {
        if cx.is_instant() {
            return Ok(());
        }
        for at in blocks {
            Self::read(self.dir_block(dir, at), cx)?;
        }
        self.read_inode(self.dirs[dir.idx()].inode.number, cx)
    }

    /// Looks for an entry: from the block where one was found last, around the end to the block that has it.
    fn find_entry(&mut self, dir: DirId, slot: u32, cx: &mut Cx) -> Tried<()> {
        let (found, blocks) = (self.dirs[dir.idx()].found, self.dirs[dir.idx()].blocks());
        let steps = if slot >= found { slot - found } else { slot + blocks - found };
        self.read_dir(dir, (0..=steps).map(|at| (found + at) % blocks), cx)?;
        self.dirs[dir.idx()].found = slot;
        Ok(())
    }

    /// The block of a directory that takes an entry. It and those before it are read, or it is made. The last thing that may wait.
    fn place_entry(&mut self, dir: DirId, cx: &mut Cx) -> Tried<u32> {
        let place = self.dir_mut(dir)?.place();
        let blocks = self.dirs[dir.idx()].blocks();
        self.read_dir(dir, 0..place.map_or(blocks, |place| place + 1), cx)?;
        let Some(place) = place else {
            self.allocate_all(Who::Dir(dir), blocks..blocks + 1, cx)?;
            self.dirs[dir.idx()].grow();
            return Ok(blocks);
        };
        Ok(place)
    }

    fn enter(&mut self, dir: DirId, slot: u32, cx: &mut Cx) {
        self.dirs[dir.idx()].add(slot);
        self.change_dir(dir, slot, cx);
    }

    fn change_dir(&mut self, dir: DirId, slot: u32, cx: &mut Cx) {
        cx.dirty_meta(self.dir_block(dir, slot));
        self.change_inode(self.dirs[dir.idx()].inode.number, false, cx);
    }
}
