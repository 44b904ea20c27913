//! What the journal of ext3 writes, worked out by hand. The journal of 1 GiB has 8,192 blocks behind the root directory: its superblock is block
//! 585, and the log begins with 586; block 597 is indirect.

use super::Rig;
use crate::operation::{DirId, FileId};
use crate::system::{AccessTimes, Cx, FileSystem, MountOptions, Owner, PageKey, Sync, Work};
use crate::systems::ext2::geometry::GROUP_BLOCKS;
use flashwatt_core::connector::RequestKind::{self, Flush, Write};

const DESCRIPTORS: u32 = 1;
const BLOCK_BITMAP: u32 = 65;
const INODE_BITMAP: u32 = 66;
const INODES: u32 = 67;
const ROOT: u32 = 579;
const JOURNAL: u32 = 585;
/// The first block behind the journal.
const FIRST: u32 = 585 + 8192 + 9;
const SECOND_NS: u64 = 1_000_000_000;

type Sent = (RequestKind, u32, u32);

impl Rig {
    fn written(&mut self) -> Vec<Sent> {
        let sent = std::mem::take(&mut self.sent);
        sent.into_iter().filter(|&(kind, ..)| kind != RequestKind::Read).collect()
    }

    /// Writes pages as an application does.
    fn store_journaled(&mut self, file: u32, pages: std::ops::Range<u32>) {
        self.run(|system, cx| system.prepare_write(FileId(file), pages.clone(), cx)).expect("room");
        let (now, owner) = (self.now, Owner::of(FileId(file)));
        pages.clone().for_each(|page| self.cache.dirty(PageKey::new(owner, page), now));
        let bytes = 4096 * u64::from(pages.end);
        self.run(|system, cx| system.written(FileId(file), bytes, cx)).expect("room");
        self.sent.clear();
    }

    fn sync_file(&mut self, file: u32, data_only: bool) -> Vec<Sent> {
        let mut stage = 0;
        self.sent.clear();
        let sync = Sync { data_only, ..Sync::ALL };
        self.run(|system, cx| system.fsync(FileId(file), sync, &mut stage, cx)).expect("it exists");
        self.written()
    }

    fn make_journaled(&mut self, file: u32) {
        self.run(|system, cx| system.create(FileId(file), DirId::ROOT, cx)).expect("room");
        self.sent.clear();
    }

    fn dirty_meta(&self) -> Vec<u32> {
        self.cache.dirty_pages(Owner::META).iter().map(|key| key.index).collect()
    }

    fn work(&mut self) -> Work {
        self.run(|system, cx| system.work(cx)).expect("room")
    }
}

fn journaled(given: &[(&str, f64)]) -> Rig {
    Rig::journaled(1024, given)
}

/// A file with two pages: seven blocks of metadata have changed. The log takes a descriptor, their copies and the commit block; the
/// superblock said that it was empty.
#[test]
fn an_fsync_commits_what_its_file_has_changed() {
    let mut rig = journaled(&[]);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..2);
    assert!(rig.dirty_meta().is_empty(), "the flusher does not see them");
    let data = (Write, FIRST, 2);
    let log = [(Write, JOURNAL, 1), (Write, JOURNAL + 1, 6)];
    let record = [(Flush, 0, 0), (Write, JOURNAL + 7, 1), (Flush, 0, 0)];
    assert_eq!(rig.sync_file(0, false), [&[data][..], &log, &record].concat());
    assert_eq!(rig.dirty_meta(), [DESCRIPTORS, BLOCK_BITMAP, INODE_BITMAP, INODES, ROOT]);
    assert_eq!(rig.sync_file(0, false), [(Flush, 0, 0)], "nothing has changed since");
}

/// The second commit follows on the first in the log, and takes up the blocks that are dirty for its sake.
#[test]
fn a_block_that_changes_again_waits_for_the_next_commit() {
    let mut rig = journaled(&[]);
    rig.make_journaled(0);
    rig.sync_file(0, false);
    rig.store_journaled(0, 0..1);
    assert_eq!(rig.dirty_meta(), [INODE_BITMAP, ROOT]);
    // Inode bitmap, descriptor, inode, directory: blocks 586 to 591. Then bitmap, descriptor, inode.
    let log = (Write, JOURNAL + 7, 4);
    let record = [(Flush, 0, 0), (Write, JOURNAL + 11, 1), (Flush, 0, 0)];
    assert_eq!(rig.sync_file(0, false), [&[(Write, FIRST, 1), log][..], &record].concat());
}

#[test]
fn times_change_the_inode_by_the_step_and_fdatasync_leaves_them_out() {
    let mut rig = journaled(&[]);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..1);
    rig.sync_file(0, false);
    rig.store_journaled(0, 0..1);
    assert_eq!(rig.sync_file(0, false), [(Write, FIRST, 1), (Flush, 0, 0)], "the same 4 ms");
    rig.now = 4_000_000;
    rig.store_journaled(0, 0..1);
    assert_eq!(rig.sync_file(0, true), [(Write, FIRST, 1), (Flush, 0, 0)], "a time alone");
    let sent = rig.sync_file(0, false);
    assert_eq!((sent[0].2, sent.len()), (2, 4), "{sent:?}: descriptor and inode, flush, commit block, flush");
}

/// Without barriers nothing is flushed, and the order of the rest stays.
#[test]
fn without_barriers_nothing_is_flushed() {
    let mut rig = journaled(&[("barrier", 0.0)]);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..1);
    let all = [(Write, FIRST, 1), (Write, JOURNAL, 1), (Write, JOURNAL + 1, 6), (Write, JOURNAL + 7, 1)];
    assert_eq!(rig.sync_file(0, false), all);
    assert_eq!(rig.sync_file(0, false), []);
}

/// A transaction is committed 5 s after it began; the data that has got blocks in it goes first, what was written over does not.
#[test]
fn a_commit_is_due_after_its_interval_and_takes_new_data_along() {
    let mut rig = journaled(&[]);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..4);
    rig.sync_file(0, false);
    rig.now = SECOND_NS;
    rig.store_journaled(0, 2..4);
    rig.store_journaled(0, 4..6);
    assert_eq!(rig.work(), Work::At(6 * SECOND_NS));
    rig.now = 6 * SECOND_NS;
    assert_eq!(rig.work(), Work::None);
    let sent = rig.written();
    assert_eq!(sent[0], (Write, FIRST + 4, 2));
    assert_eq!(sent.len(), 5, "{sent:?}: data, log, flush, commit block, flush");
    assert_eq!(rig.cache.dirty_pages(Owner::of(FileId(0))).len(), 2, "what was written over waits for the flusher");
    let mut rig = journaled(&[("order_overwrites", 1.0)]);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..4);
    rig.sync_file(0, false);
    rig.now = SECOND_NS;
    rig.store_journaled(0, 2..4);
    rig.now = 6 * SECOND_NS;
    rig.work();
    assert_eq!(rig.written()[0], (Write, FIRST + 2, 2));
}

/// Blocks of a removed file are free when that is committed. Its indirect block is revoked: a revoke block goes before the descriptor.
#[test]
fn what_is_freed_is_free_after_the_commit() {
    let mut rig = journaled(&[("discard", 1.0)]);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..14);
    rig.sync_file(0, false);
    let free = rig.system.blocks.bitmap.free();
    let usage = rig.system.usage().free_blocks;
    rig.run(|system, cx| system.remove(FileId(0), cx)).expect("it exists");
    assert_eq!((rig.system.blocks.bitmap.free(), rig.system.usage().free_blocks), (free, usage + 15));
    rig.now = 6 * SECOND_NS;
    rig.sent.clear();
    rig.work();
    assert_eq!(rig.system.blocks.bitmap.free(), free + 15);
    let sent = rig.written();
    // Revoke block, descriptor; bitmap, descriptor of the group, inode bitmap, inode, superblock, directory.
    // The log goes around the indirect block 597.
    assert_eq!(sent[..2], [(Write, 594, 3), (Write, 598, 5)], "{sent:?}");
    assert_eq!(sent.last(), Some(&(RequestKind::Trim, FIRST, 15)));
}

/// A journal of 1,024 blocks: a transaction may have 256. Commits use the log up; then the oldest blocks go home, and the tail moves.
#[test]
fn a_log_that_is_full_is_emptied_from_its_tail() {
    let mut rig = journaled(&[("journal_bytes", 4_194_304.0)]);
    let mut all = Vec::new();
    for file in 0..400 {
        rig.run(|system, cx| system.create(FileId(file), DirId::ROOT, cx)).expect("room");
        let mut stage = 0;
        rig.run(|system, cx| system.fsync(FileId(file), Sync::ALL, &mut stage, cx)).expect("it exists");
        all.append(&mut rig.written());
    }
    let at: Vec<_> = (0..all.len()).filter(|&at| all[at].1 == JOURNAL && all[at].0 == Write).collect();
    assert!(at.len() > 10, "{at:?}");
    for &at in &at[1..] {
        assert_eq!([all[at - 1].0, all[at + 1].0], [Flush, Flush], "what is home is durable, and then the tail is");
    }
}

/// At the end all is home, and the superblock of the journal says that it is empty.
#[test]
fn an_unmount_leaves_the_journal_empty() {
    let mut rig = journaled(&[]);
    rig.make_journaled(0);
    rig.sync_file(0, false);
    rig.make_journaled(1);
    let mut stage = 0;
    rig.sent.clear();
    rig.run(|system, cx| system.sync(&mut stage, cx)).expect("room");
    let home = [(Write, DESCRIPTORS, 1), (Write, INODE_BITMAP, 2), (Write, ROOT, 1)];
    let log = [(Write, JOURNAL + 7, 5), (Flush, 0, 0), (Write, JOURNAL + 13, 1), (Flush, 0, 0)];
    let last = [(Flush, 0, 0), (Write, JOURNAL, 1), (Write, 0, 1), (Flush, 0, 0)];
    let sent = rig.written();
    assert_eq!(sent[sent.len() - 7..], [&home[..], &last].concat(), "{sent:?}");
    assert_eq!(sent.len(), 11, "{sent:?} {log:?}");
    assert!(rig.dirty_meta().is_empty());
}

/// An application that asks for more blocks than are free waits for the commit that frees some.
#[test]
fn a_full_disk_waits_for_what_is_freed() {
    let mut rig = Rig::journaled(64, &[("reserved_percent", 0.0)]);
    rig.make_journaled(0);
    let half = (rig.available() as u32 / 2) + 100;
    rig.store_journaled(0, 0..half);
    rig.make_journaled(1);
    rig.run(|system, cx| system.remove(FileId(0), cx)).expect("it exists");
    rig.store_journaled(1, 0..half);
    assert!(rig.available() < u64::from(half));
}

/// A removal that changes bitmaps of many groups is divided: 20 groups of two changed blocks each do not fit into an eighth of the journal.
#[test]
fn a_removal_that_is_too_large_is_divided() {
    let mut rig = Rig::journaled(32 * 1024, &[("journal_bytes", 4_194_304.0), ("reserved_percent", 0.0)]);
    rig.make_journaled(0);
    let free = rig.available();
    let groups = rig.system.geometry.groups;
    // Little is left in each group, so that the file goes through all of them.
    for start in (0..groups).map(|group| group * GROUP_BLOCKS) {
        let bitmap = &mut rig.system.blocks.bitmap;
        let end = (start + GROUP_BLOCKS).min(rig.system.geometry.blocks);
        let first = bitmap.first_free(start + 64..end).expect("an empty disk");
        let free_end = bitmap.free_until(first..end);
        bitmap.take(first + 8..free_end);
    }
    let left = rig.available();
    assert!(left < free);
    rig.store_journaled(0, 0..(left - 400) as u32);
    let before = rig.system.usage().free_blocks;
    rig.run(|system, cx| system.remove(FileId(0), cx)).expect("it exists");
    let journal = rig.system.journal.as_ref().expect("a journal");
    assert!(!journal.is_without_orphans(), "it is divided");
    assert!(rig.system.usage().free_blocks > before);
    let mut stage = 0;
    rig.run(|system, cx: &mut Cx| system.sync(&mut stage, cx)).expect("room");
    assert_eq!(rig.available(), left);
}

fn read(rig: &mut Rig, file: u32) -> bool {
    let dirty = |rig: &Rig| (rig.dirty_meta(), rig.system.journal.as_ref().map(|journal| journal.is_running()));
    let mut stage = 0;
    rig.run(|system, cx| system.sync(&mut stage, cx)).expect("room");
    let pages = rig.cache.dirty_pages(Owner::META);
    rig.run(|system, cx| system.write_out(&pages, cx)).expect("room");
    let before = dirty(rig);
    rig.run(|system, cx| system.accessed(FileId(file), cx)).expect("it exists");
    dirty(rig) != before
}

/// Whether reads at these seconds change the inode of a file that is written in second 10.
fn changes(rig: &mut Rig, atime: AccessTimes, seconds: &[u64]) -> Vec<bool> {
    rig.system.set_options(MountOptions { atime, ..MountOptions::default() });
    rig.now = 10 * SECOND_NS;
    rig.make_journaled(0);
    rig.store_journaled(0, 0..1);
    let mut at = |second: &u64| {
        rig.now = second * SECOND_NS;
        read(rig, 0)
    };
    seconds.iter().map(&mut at).collect()
}

#[test]
fn reads_change_the_inode_as_the_mount_says() {
    let seconds = [11, 12, 12, 86_411, 86_412];
    for of in [|| Rig::new(1024, &[]), || journaled(&[])] {
        assert_eq!(changes(&mut of(), AccessTimes::Noatime, &seconds), [false; 5]);
        assert_eq!(changes(&mut of(), AccessTimes::Relatime, &seconds), [true, false, false, true, false]);
        assert_eq!(changes(&mut of(), AccessTimes::Strictatime, &seconds), [true, true, false, true, true]);
        let mut rig = of();
        changes(&mut rig, AccessTimes::Relatime, &[11]);
        rig.store_journaled(0, 0..1);
        rig.now = 13 * SECOND_NS;
        assert!(read(&mut rig, 0), "it has been written since");
    }
}

/// With the option of Linux 2.6 no fsync flushes for its own sake; a commit does.
#[test]
fn an_fsync_may_end_without_a_flush() {
    let options = MountOptions { fsync_flush: false, ..MountOptions::default() };
    let mut rig = Rig::new(1024, &[]);
    rig.system.set_options(options);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..1);
    assert_eq!(rig.sync_file(0, false), [(Write, JOURNAL, 1), (Write, INODES, 1)]);
    let mut rig = journaled(&[]);
    rig.system.set_options(options);
    rig.make_journaled(0);
    rig.store_journaled(0, 0..1);
    assert_eq!(rig.sync_file(0, false).iter().filter(|&&(kind, ..)| kind == Flush).count(), 2);
    assert_eq!(rig.sync_file(0, false), []);
}
