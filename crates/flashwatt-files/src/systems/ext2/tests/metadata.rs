//! Which blocks of metadata operations read and change, and what fsync sends.
//!
//! On 1 GiB: descriptors at 1, bitmaps at 65 and 66, inode table of group 0 from 67, root directory at 579. Inodes of files begin with
//! number 11, in the table's first block, which has 16.

use super::Rig;
use crate::operation::{DirId, FileId};
use crate::system::{FileSystem, Owner, PageKey, Stop, Sync};
use flashwatt_core::connector::RequestKind::{self, Flush, Read, Write};

const DESCRIPTORS: u32 = 1;
const BLOCK_BITMAP: u32 = 65;
const INODE_BITMAP: u32 = 66;
const INODES: u32 = 67;
const ROOT: u32 = 579;
const FIRST: u32 = 585;
const SECOND_NS: u64 = 1_000_000_000;

impl Rig {
    fn sent(&mut self) -> Vec<(RequestKind, u32, u32)> {
        std::mem::take(&mut self.sent)
    }

    /// Blocks that were read.
    fn read(&mut self) -> Vec<u32> {
        let reads = self.sent().into_iter().filter(|&(kind, ..)| kind == Read);
        reads.map(|(_, block, _)| block).collect()
    }

    fn dirty(&self) -> Vec<u32> {
        self.cache.dirty_pages(Owner::META).iter().map(|key| key.index).collect()
    }

    /// Writes pages as an application does.
    fn store(&mut self, file: u32, pages: std::ops::Range<u32>) {
        let runs = self.runs(file);
        let bytes = 4096 * u64::from(pages.end.max(runs.iter().map(|&(_, pages)| pages).sum()));
        self.run(|system, cx| system.prepare_write(FileId(file), pages.clone(), cx)).expect("room");
        let (now, owner) = (self.now, Owner::of(FileId(file)));
        pages.for_each(|page| self.cache.dirty(PageKey::new(owner, page), now));
        self.run(|system, cx| system.written(FileId(file), bytes, cx)).expect("nothing waits");
    }

    fn fsync(&mut self, file: u32) -> Vec<(RequestKind, u32, u32)> {
        self.make_durable(file, Sync::ALL)
    }

    fn make_durable(&mut self, file: u32, sync: Sync) -> Vec<(RequestKind, u32, u32)> {
        let mut stage = 0;
        self.sent.clear();
        self.run(|system, cx| system.fsync(FileId(file), sync, &mut stage, cx)).expect("it exists");
        self.sent()
    }

    /// Writes all dirty metadata, as the flusher does.
    fn write_back(&mut self) {
        let pages = self.cache.dirty_pages(Owner::META);
        self.run(|system, cx| system.write_out(&pages, cx)).expect("room");
    }

    fn make(&mut self, file: u32) {
        self.run(|system, cx| system.create(FileId(file), DirId::ROOT, cx)).expect("room");
    }
}

#[test]
fn a_file_that_is_made_changes_bitmap_inode_and_directory() {
    let mut rig = Rig::new(1024, &[]);
    rig.make(0);
    assert_eq!(rig.read(), [INODE_BITMAP, INODES, ROOT]);
    assert_eq!(rig.dirty(), [DESCRIPTORS, INODE_BITMAP, INODES, ROOT]);
    rig.make(1);
    assert!(rig.read().is_empty(), "all of it is in memory");
}

#[test]
fn a_page_that_gets_a_block_changes_its_bitmap() {
    let mut rig = Rig::new(1024, &[]);
    rig.make(0);
    rig.write_back();
    rig.sent.clear();
    rig.store(0, 0..1);
    assert_eq!(rig.read(), [BLOCK_BITMAP]);
    assert_eq!(rig.dirty(), [DESCRIPTORS, BLOCK_BITMAP, INODES]);
    rig.store(0, 1..13);
    assert_eq!(rig.dirty(), [DESCRIPTORS, BLOCK_BITMAP, INODES, FIRST + 12], "and the indirect block");
    rig.write_back();
    rig.store(0, 0..13);
    assert!(rig.dirty().is_empty(), "written over in the same second");
    rig.store(0, 13..14);
    assert_eq!(rig.dirty(), [DESCRIPTORS, BLOCK_BITMAP, INODES, FIRST + 12], "its address");
}

#[test]
fn fsync_sends_data_then_indirect_blocks_then_the_inode() {
    let mut rig = Rig::new(1024, &[]);
    rig.make(0);
    rig.store(0, 0..14);
    let sent = [(Write, FIRST, 12), (Write, FIRST + 13, 2), (Write, FIRST + 12, 1), (Write, INODES, 1), (Flush, 0, 0)];
    assert_eq!(rig.fsync(0), sent);
    assert_eq!(rig.fsync(0), [(Flush, 0, 0)], "nothing is dirty");
    rig.store(0, 3..4);
    assert_eq!(rig.fsync(0), [(Write, FIRST + 3, 1), (Flush, 0, 0)], "times are whole seconds");
    rig.now = SECOND_NS;
    rig.store(0, 3..4);
    assert_eq!(rig.fsync(0), [(Write, FIRST + 3, 1), (Write, INODES, 1), (Flush, 0, 0)]);
    assert_eq!(rig.dirty(), [DESCRIPTORS, BLOCK_BITMAP, INODE_BITMAP, ROOT], "the rest waits for the flusher");
}

/// Two inodes in one block: each fsync makes its own durable, whether the block is dirty or not.
#[test]
fn an_fsync_writes_what_its_own_inode_has_changed() {
    let mut rig = Rig::new(1024, &[]).with_files(0..3);
    rig.store(0, 0..1);
    rig.store(1, 0..1);
    let inode = (Write, INODES, 1);
    assert_eq!(rig.fsync(0)[1..], [inode, (Flush, 0, 0)]);
    assert_eq!(rig.fsync(1)[1..], [inode, (Flush, 0, 0)], "clean for file 0's sake");
    rig.store(0, 1..2);
    assert_eq!(rig.fsync(2), [(Flush, 0, 0)], "dirty for file 0's sake");
    rig.write_back();
    assert_eq!(rig.fsync(0)[1..], [(Flush, 0, 0)], "the flusher has written it");
}

/// The flusher has sent the block of the inode, and it has not arrived: the change is no longer to be written, but to be waited for.
#[test]
fn an_fsync_waits_for_an_inode_that_is_on_its_way() {
    let mut rig = Rig::new(1024, &[]).with_files(0..1);
    rig.store(0, 0..1);
    rig.make_durable(0, Sync { first: 0, end: 1, data_only: true });
    rig.store(0, 1..2);
    let data = rig.cache.dirty_pages(Owner::of(FileId(0)));
    rig.run(|system, cx| system.write_out(&data, cx)).expect("room");
    let (metadata, flushes) = (rig.cache.dirty_pages(Owner::META), rig.figures.flushes);
    rig.call(false, |system, cx| system.write_out(&metadata, cx)).expect("room");
    let mut stage = 0;
    let tried = rig.call(false, |system, cx| system.fsync(FileId(0), Sync::ALL, &mut stage, cx));
    assert_eq!((tried, rig.waits.len(), rig.figures.flushes), (Err(Stop::Wait), 1, flushes), "no flush yet");
    rig.sent.clear();
    rig.run(|system, cx| system.fsync(FileId(0), Sync::ALL, &mut stage, cx)).expect("it exists");
    assert_eq!(rig.sent().last(), Some(&(Flush, 0, 0)));
}

/// A new time alone is left out; it goes with the next fsync.
#[test]
fn a_synchronous_write_leaves_times_out() {
    let mut rig = Rig::new(1024, &[]).with_files(0..1);
    let page = |index| Sync { first: index, end: index + 1, data_only: true };
    rig.store(0, 0..2);
    assert_eq!(rig.make_durable(0, page(0)), [(Write, FIRST, 1), (Write, INODES, 1), (Flush, 0, 0)]);
    rig.now = SECOND_NS;
    rig.store(0, 0..1);
    assert_eq!(rig.make_durable(0, page(0)), [(Write, FIRST, 1), (Flush, 0, 0)]);
    assert_eq!(rig.fsync(0), [(Write, FIRST + 1, 1), (Write, INODES, 1), (Flush, 0, 0)]);
}

#[test]
fn a_file_that_is_removed_frees_and_forgets() {
    let mut rig = Rig::new(1024, &[("discard", 1.0)]);
    rig.make(0);
    rig.store(0, 0..14);
    rig.write_back();
    rig.fsync(0);
    rig.run(|system, cx| system.remove(FileId(0), cx)).expect("it exists");
    assert_eq!(rig.sent(), [(RequestKind::Trim, FIRST, 15)]);
    assert_eq!(rig.dirty(), [DESCRIPTORS, BLOCK_BITMAP, INODE_BITMAP, INODES, ROOT]);
    assert!(!rig.cache.holds(PageKey::meta(FIRST + 12)));
}

/// The cache has nothing: the indirect block is read before a page behind it is found, and before the file is removed.
#[test]
fn indirect_blocks_are_read_to_find_pages() {
    let mut rig = Rig::new(1024, &[]).with_files(0..1);
    rig.write(0, 0..2000).expect("room");
    let double = FIRST + 12 + 1 + 1024;
    let map = |rig: &mut Rig, page| {
        let key = PageKey::new(Owner::of(FileId(0)), page);
        let run = rig.run(|system, cx| system.map(key, 1000, cx)).expect("it exists");
        (run.map(|run| (run.block, run.pages)), rig.read())
    };
    assert_eq!(map(&mut rig, 3), (Some((FIRST + 3, 9)), vec![]));
    assert_eq!(map(&mut rig, 12), (Some((FIRST + 13, 1000)), vec![FIRST + 12]));
    assert_eq!(map(&mut rig, 1100), (Some((double + 2 + 64, 900)), vec![double, double + 1]));
    assert!(map(&mut rig, 1100).1.is_empty());
    assert_eq!(map(&mut rig, 3000), (None, vec![]), "a hole");
    rig.run(|system, cx| system.remove(FileId(0), cx)).expect("it exists");
    assert_eq!(rig.read(), [BLOCK_BITMAP, INODE_BITMAP, INODES, ROOT]);
}

/// 600 files: entries in three blocks. The search goes on from the block where the last entry was found.
#[test]
fn a_name_is_looked_up_from_block_to_block() {
    let mut rig = Rig::new(1024, &[]).with_files(0..600);
    let look_up = |rig: &mut Rig, file| {
        rig.run(|system, cx| system.lookup(FileId(file), cx)).expect("it exists");
        rig.read()
    };
    let dir_block = |rig: &Rig, at| rig.system.dir_block(DirId::ROOT, at);
    let blocks = [0, 1, 2].map(|at| dir_block(&rig, at));
    let inode_block = |file: u32| INODES + (file + 11) / 16;
    assert_eq!(look_up(&mut rig, 300), [blocks[0], blocks[1], INODES, inode_block(300)]);
    assert_eq!(look_up(&mut rig, 0), [blocks[2]]);
    assert_eq!(look_up(&mut rig, 599), [inode_block(599)]);
}

#[test]
fn the_superblock_is_written_in_the_end() {
    let mut rig = Rig::new(1024, &[]);
    let mut stage = 0;
    rig.run(|system, cx| system.sync(&mut stage, cx)).expect("room");
    assert_eq!(rig.sent(), [(Write, 0, 1), (Flush, 0, 0)]);
}
