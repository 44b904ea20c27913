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
//! [`journal`] makes ext3 of it.
//!
//! Deviations: names have eight letters. A name is looked up in its directory each time (there is no cache of names, and none of
//! inodes beside the page cache), but not before it is made. Times of access are kept if the mount says so ([`MountOptions`]). The superblock is written at the
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
mod journal;
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
use journal::{BLOCKS_MAX, BLOCKS_MIN, Journal, JournalSettings, lay_down, usual_blocks};

use super::{Recipe, Registered};
use crate::operation::{DirId, FileId, OpError};
use crate::system::{BLOCK_BYTES, Block, Cx, MountOptions, PageKey, Stop, Tried};
use flashwatt_base::error::Fault;
use flashwatt_base::registry::{Param, Parameters};
use flashwatt_base::units::Nanos;

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "ext2",
    doc: "files in place, in groups of blocks with bitmaps and inode tables (Linux 6.1, mke2fs)",
    params: &[OF_LAYOUT[0], OF_LAYOUT[1], OF_LAYOUT[2], OF_LAYOUT[3]],
    build: Recipe {
        make: |parameters, disk_bytes| Ok(Box::new(new("ext2", parameters, disk_bytes)?)),
        has_options: true,
    },
};

/// The registry line of the same with a journal.
pub const EXT3: Registered = Registered {
    name: "ext3",
    doc: "ext2 with a journal of its metadata, data before it (ordered mode; Linux 6.1, mke2fs -j)",
    params: &[
        OF_LAYOUT[0],
        OF_LAYOUT[1],
        OF_LAYOUT[2],
        OF_LAYOUT[3],
        whole("journal_bytes", JOURNAL, 0.0, BLOCKS_MAX as f64 * BLOCK_BYTES as f64),
        Param { name: "commit_interval_s", doc: INTERVAL, default: 5.0, min: 0.001, max: 1e5, integer: false },
        whole("barrier", "flush before and after a commit block? (0 or 1)", 1.0, 1.0),
        whole("order_overwrites", OVERWRITES, 0.0, 1.0),
        Param { name: "time_step_ms", doc: STEP, default: 4.0, min: 1.0, max: 1000.0, integer: false },
    ],
    build: Recipe {
        make: |parameters, disk_bytes| Ok(Box::new(with_journal(parameters, disk_bytes)?)),
        has_options: true,
    },
};

/// The parameters of both.
const OF_LAYOUT: [Param; 4] = [
    whole("bytes_per_inode", PER_INODE, 0.0, 67_108_864.0),
    Param { name: "reserved_percent", doc: RESERVED, default: 5.0, min: 0.0, max: 50.0, integer: false },
    whole("reservation_blocks", WINDOW, 8.0, 1027.0),
    whole("discard", "tell the drive of blocks that are freed? (0 or 1)", 0.0, 1.0),
];

const JOURNAL: &str = "bytes of the journal, from 4194304; a multiple of 4096; 0: as mke2fs, by the size of the disk";
const INTERVAL: &str = "time in s after its first change at which a transaction is committed";
const OVERWRITES: &str =
    "does data that is written over go before the commit (1, Linux 2.6), or new data alone (0, Linux 6.1)?";
const STEP: &str =
    "ms in which times of files count: 4 with 250 ticks a second (Linux 6.1), 1000 for whole seconds (Linux 2.6)";

const PER_INODE: &str = "bytes of the disk for each inode, from 4096; 0: as mke2fs, 16384 for most disks";
const RESERVED: &str = "per cent of the blocks that applications do not get";
const WINDOW: &str = "blocks of the first window of a file that is written; 0: no windows";

const fn whole(name: &'static str, doc: &'static str, default: f64, max: f64) -> Param {
    Param { name, doc, default, min: 0.0, max, integer: true }
}

/// Least bytes for an inode: a group has as many inodes as blocks. For more of them mke2fs makes groups smaller.
const BYTES_PER_INODE_MIN: u64 = BLOCK_BYTES;

fn new(name: &str, parameters: &Parameters, disk_bytes: u64) -> Result<Ext2, Box<Fault>> {
    let per_inode = Some(parameters.count("bytes_per_inode")).filter(|&bytes| bytes > 0);
    if let Some(bytes) = per_inode.filter(|&bytes| bytes < BYTES_PER_INODE_MIN) {
        let fault = Fault::key(format!("workload.files.system.{name}.bytes_per_inode"), "too few bytes for an inode");
        return Err(Box::new(fault.found(bytes).expected("0, or 4096 to 67108864")));
    }
    let geometry = Geometry::new(disk_bytes, per_inode).ok_or_else(|| {
        let fault = Fault::key("workload.files.system", "the drive does not take this file system");
        let expected = "room for the inode tables and some blocks, and at most 16 TiB";
        Box::new(fault.found(format!("{name} on {disk_bytes} bytes")).expected(expected))
    })?;
    Ok(Ext2::new(geometry, parameters))
}

/// A journal of a given length may have this part of the free blocks, as with mke2fs.
const JOURNAL_PART: u64 = 2;

fn with_journal(parameters: &Parameters, disk_bytes: u64) -> Result<Ext2, Box<Fault>> {
    let mut system = new("ext3", parameters, disk_bytes)?;
    let key = "workload.files.system.ext3.journal_bytes";
    let bytes = parameters.count("journal_bytes");
    let least = u64::from(BLOCKS_MIN) * BLOCK_BYTES;
    if bytes != 0 && (bytes < least || !bytes.is_multiple_of(BLOCK_BYTES)) {
        let fault = Fault::key(key, "no length of a journal");
        return Err(Box::new(fault.found(bytes).expected(format!("0, or a multiple of 4096 from {least} on"))));
    }
    let asked = (bytes / BLOCK_BYTES) as u32;
    let blocks = if asked > 0 { Some(asked) } else { usual_blocks(system.geometry.blocks) };
    let free = system.blocks.bitmap.free();
    let most = if asked > 0 { free / JOURNAL_PART } else { free };
    let Some(blocks) = blocks.filter(|&blocks| u64::from(blocks) <= most) else {
        let fault = Fault::key(key, "the disk has no room for the journal");
        let found = blocks.map_or("none".into(), |blocks| format!("{} bytes", u64::from(blocks) * BLOCK_BYTES));
        let expected = format!("at most half of the {free} free blocks of a disk, which has 2048 blocks or more");
        return Err(Box::new(fault.found(format!("{found} on {disk_bytes} bytes")).expected(expected)));
    };
    let settings = JournalSettings {
        commit_ns: (parameters.number("commit_interval_s") * 1e9) as Nanos,
        has_barriers: parameters.is_on("barrier"),
        orders_overwrites: parameters.is_on("order_overwrites"),
    };
    let (runs, nodes) = lay_down(blocks, system.geometry.blocks, &mut system.blocks.bitmap);
    system.journal = Some(Box::new(Journal::new(&runs, nodes, settings)));
    system.time_step_ns = parameters.ms("time_step_ms");
    Ok(system)
}

/// Times of ext2 are whole seconds.
const SECOND_NS: Nanos = 1_000_000_000;
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
    /// What makes ext3 of it.
    journal: Option<Box<Journal>>,
    /// Times of files are multiples of it in ns.
    time_step_ns: Nanos,
    options: MountOptions,
    /// By file: when it was read last, in steps of time. Empty if reads do not count.
    read_at: Vec<u32>,
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
            journal: None,
            time_step_ns: SECOND_NS,
            options: MountOptions::default(),
            read_at: Vec::new(),
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
        if cx.is_instant() {
            return;
        }
        if self.journal.is_none() {
            self.changes.add(inode, is_data);
        }
        self.dirty(self.geometry.inode_block(inode), cx);
    }

    /// A block of metadata changes. It is in memory, or its whole content is new.
    #[inline]
    fn dirty(&mut self, block: Block, cx: &mut Cx) {
        match &mut self.journal {
            None => cx.dirty_meta(block),
            Some(journal) => journal.change(block, cx),
        }
    }

    /// The inode of a file has changed: its next fsync has something to wait for.
    #[inline]
    fn touch(&mut self, who: Who, is_data: bool, cx: &Cx) {
        if let (Some(journal), Who::File(file)) = (&mut self.journal, who) {
            journal.touch(file, is_data, cx);
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
        self.dirty(self.geometry.inode_bitmap(group), cx);
        self.dirty(self.geometry.descriptor(group), cx);
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
        self.dirty(self.dir_block(dir, slot), cx);
        self.change_inode(self.dirs[dir.idx()].inode.number, false, cx);
    }
}
