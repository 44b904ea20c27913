//! Allocations that were worked out by hand from the rules of fs/ext2.
//!
//! On 1 GiB the first block for files of group 0 is 585, and that of group 1 is 32768 + 579 = 33347.

use std::collections::BTreeSet;

use super::super::bitmap::Bitmap;
use super::super::dirs::group_of_file;
use super::super::geometry::{GROUP_BLOCKS, Geometry};
use super::{MIB, Rig};
use crate::operation::{FileId, OpError};
use crate::system::FileSystem;

const FIRST: u32 = 585;
const SECOND: u32 = GROUP_BLOCKS + 579;
/// Pages below the single indirect block end here, and those below the double one.
const LEAF: u32 = 12 + 1024;
const TRIPLE: u32 = LEAF + 1024 * 1024;

fn rig(files: u32) -> Rig {
    Rig::new(1024, &[]).with_files(0..files)
}

/// Windows of 8 and 16 blocks follow one another; the indirect block goes before page 12.
#[test]
fn a_file_lies_in_one_piece_but_for_its_indirect_block() {
    let mut rig = rig(1);
    rig.write(0, 0..20).expect("room");
    assert_eq!(rig.runs(0), [(FIRST, 12), (FIRST + 13, 8)]);
    assert_eq!(rig.nodes(0), [FIRST + 12]);
    assert!(rig.system.blocks.windows().eq(std::iter::once(FIRST + 8..FIRST + 24)));
}

/// Page by page: file 0 has 585 to 592 for itself, file 1 the next 8. Each has used its window up and gets one of 16 behind all others.
#[test]
fn files_that_grow_together_have_windows() {
    let mut rig = rig(2);
    for page in 0..10 {
        rig.write(0, page..page + 1).expect("room");
        rig.write(1, page..page + 1).expect("room");
    }
    assert_eq!(rig.runs(0), [(FIRST, 8), (FIRST + 16, 2)]);
    assert_eq!(rig.runs(1), [(FIRST + 8, 8), (FIRST + 32, 2)]);
    let windows: Vec<_> = rig.system.blocks.windows().collect();
    assert_eq!(windows, [FIRST + 16..FIRST + 32, FIRST + 32..FIRST + 48]);
}

#[test]
fn without_windows_their_pages_alternate() {
    let mut rig = Rig::new(1024, &[("reservation_blocks", 0.0)]).with_files(0..2);
    for page in 0..4 {
        rig.write(0, page..page + 1).expect("room");
        rig.write(1, page..page + 1).expect("room");
    }
    assert_eq!(rig.runs(0), [0, 2, 4, 6].map(|at| (FIRST + at, 1)));
    assert_eq!(rig.runs(1), [1, 3, 5, 7].map(|at| (FIRST + at, 1)));
}

/// Windows double up to 1027 blocks as long as they are used.
#[test]
fn a_window_that_is_used_well_is_followed_by_a_longer_one() {
    let mut rig = rig(1);
    let mut lengths = BTreeSet::new();
    for page in 0..4000 {
        rig.write(0, page..page + 1).expect("room");
        lengths.extend(rig.system.blocks.windows().map(|window| window.end - window.start));
    }
    assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [8, 16, 32, 64, 128, 256, 512, 1024, 1027]);
}

/// Pages of a new file of another process fall into the first window's place once its file is closed.
#[test]
fn a_file_that_is_closed_gives_its_window_up() {
    let mut rig = rig(2);
    rig.write(0, 0..1).expect("room");
    rig.system.closed(FileId(0));
    assert_eq!(rig.system.blocks.windows().count(), 0);
    rig.write(1, 0..1).expect("room");
    assert_eq!(rig.runs(1), [(FIRST + 1, 1)]);
    // Opened again, file 0 would go on at 586, but 586 to 593 are file 1's.
    rig.write(0, 1..2).expect("room");
    assert_eq!(rig.runs(0), [(FIRST, 1), (FIRST + 9, 1)]);
}

#[test]
fn processes_begin_their_files_in_different_places() {
    let mut rig = rig(3);
    for (file, process) in [(0, 1), (1, 2), (2, 17)] {
        rig.process = process;
        rig.write(file, 0..1).expect("room");
    }
    assert_eq!([0, 1, 2].map(|file| rig.runs(file)[0].0), [2048, 4096, 2048 + 8]);
}

/// A file that is written at its end, at its beginning, and in between.
#[test]
fn pages_go_near_their_neighbours() {
    let mut rig = rig(1);
    rig.write(0, 9..10).expect("room");
    rig.write(0, 3..4).expect("room");
    rig.write(0, 5..6).expect("room");
    // Page 9: the group; page 3: nothing before it, the group again, from the window; page 5: page 3's block, taken, the next one.
    assert_eq!(rig.runs(0), [(FIRST + 1, 1), (FIRST + 2, 1), (FIRST, 1)]);
}

/// Each of these pages is the first one of a branch of its own: 0, 1, 2 and 3 indirect blocks, then the page.
#[test]
fn indirect_blocks_come_before_what_they_lead_to() {
    for (page, nodes) in [(11, 0), (12, 1), (LEAF, 2), (TRIPLE - 1, 2), (TRIPLE, 3)] {
        let mut rig = rig(1);
        rig.write(0, page..page + 1).expect("room");
        assert_eq!(rig.runs(0), [(FIRST + nodes, 1)], "page {page}");
        let mut found = rig.nodes(0);
        found.sort_unstable();
        assert_eq!(found, (FIRST..FIRST + nodes).collect::<Vec<_>>(), "page {page}");
    }
}

/// 1036 pages take one indirect block; the next one needs two more, the 1024th after it another one.
#[test]
fn a_long_file_is_interrupted_by_its_indirect_blocks() {
    let mut rig = rig(1);
    rig.write(0, 0..LEAF + 1025).expect("room");
    let leaf1 = FIRST + 12 + 1 + 1024;
    assert_eq!(rig.runs(0), [(FIRST, 12), (FIRST + 13, 1024), (leaf1 + 2, 1024), (leaf1 + 2 + 1024 + 1, 1)]);
    assert_eq!(rig.nodes(0), [FIRST + 12, leaf1 + 1, leaf1 + 2 + 1024, leaf1]);
}

/// Group 0 has 32,183 blocks for files. The last window there, of 1027 blocks from about 32,408 on, reaches to the first free block of
/// group 1.
#[test]
fn a_file_goes_on_in_the_next_group() {
    let mut rig = rig(1);
    rig.write(0, 0..40_000).expect("room");
    let mut blocks: Vec<u32> = rig.runs(0).iter().flat_map(|&(block, pages)| block..block + pages).collect();
    blocks.extend(rig.nodes(0));
    blocks.sort_unstable();
    let group0 = (GROUP_BLOCKS - FIRST) as usize;
    assert!(blocks[..group0].iter().copied().eq(FIRST..GROUP_BLOCKS));
    assert_eq!(blocks[group0], SECOND);
    assert!(blocks[group0..].windows(2).all(|pair| pair[1] == pair[0] + 1), "in one piece");
}

/// In another group than that of the goal, and without a window, a whole free byte of the bitmap comes before a free block, and up to 7
/// free blocks before it come first.
#[test]
fn a_search_without_a_goal_looks_for_a_free_byte() {
    for (window, expected) in [(8.0, 40_001), (0.0, 40_013)] {
        let mut rig = Rig::new(512, &[("reservation_blocks", window), ("reserved_percent", 0.0)]).with_files(0..1);
        let bitmap = &mut rig.system.blocks.bitmap;
        for block in 0..4 * GROUP_BLOCKS {
            let stays_free = block == 40_001 || (40_013..40_032).contains(&block);
            if !stays_free && !bitmap.is_taken(block) {
                bitmap.take(block..block + 1);
            }
        }
        rig.write(0, 0..1).expect("room");
        assert_eq!(rig.runs(0), [(expected, 1)]);
    }
}

/// A file whose group is full goes on in the next ones, and around to what is left of the first.
#[test]
fn a_disk_can_be_filled() {
    let mut rig = Rig::new(512, &[("reserved_percent", 0.0)]).with_files(0..2);
    let free = rig.available();
    rig.write(0, 0..60_000).expect("room");
    rig.write(1, 0..1).expect("room");
    let in_use: BTreeSet<u32> = rig.runs(0).iter().map(|&(block, _)| block / GROUP_BLOCKS).collect();
    assert_eq!(in_use.into_iter().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(rig.runs(1)[0].0 / GROUP_BLOCKS, 1, "group 0 is full");
    while rig.available() > 0 {
        let page = rig.system.files[1].as_ref().map_or(0, |inode| inode.runs().map(|run| run.pages).sum());
        if rig.write(1, page..page + 1).is_err() {
            break;
        }
    }
    assert!(rig.available() < 4, "{} of {free} blocks are left", rig.available());
}

#[test]
fn applications_leave_five_per_cent() {
    let mut rig = Rig::new(64, &[]).with_files(0..2);
    let reserved = 819; // as dumpe2fs says
    let available = 15_347 - reserved;
    assert_eq!(rig.available(), available);
    // 14,512 pages: 12, 1024 below one indirect block, 13,476 below 14 and the double one.
    assert_eq!(rig.write(0, 0..14_513), Err(OpError::NoSpace));
    assert_eq!(rig.available(), available, "nothing has changed");
    rig.write(0, 0..14_511).expect("room");
    assert_eq!((rig.available(), rig.nodes(0).len()), (1, 16));
    rig.write(1, 0..1).expect("room");
    assert_eq!(rig.write(1, 1..2), Err(OpError::NoSpace));
    assert_eq!(rig.system.usage().free_blocks, reserved);
    rig.remove(0).expect("it exists");
    rig.write(1, 1..2).expect("room again");
}

#[test]
fn what_is_removed_is_free_again() {
    let mut rig = Rig::new(1024, &[]);
    let before = rig.system.usage();
    for round in 0..3 {
        for file in 0..50 {
            rig.create(file, 0).expect("room");
            rig.write(file, 0..file * 40).expect("room");
            rig.write(file, 5_000 * round..5_000 * round + 1).expect("room");
        }
        assert_eq!(before.free_inodes.map(|free| free - 50), rig.system.usage().free_inodes);
        (0..50).for_each(|file| rig.remove(file).expect("it exists"));
        assert_eq!(rig.system.usage(), before);
        assert_eq!(rig.system.blocks.windows().count(), 0);
    }
    assert_eq!(rig.system.used()[0], 0..FIRST);
}

/// A group has 8192 inodes; the directory has 253 entries in its first block, 256 in each other one.
#[test]
fn inodes_and_blocks_of_a_directory_are_used_again() {
    let mut rig = rig(253);
    let free = rig.available();
    assert_eq!(rig.system.dirs[0].blocks(), 1);
    rig.create(253, 0).expect("room");
    assert_eq!((rig.system.dirs[0].blocks(), rig.available()), (2, free - 1));
    rig.remove(7).expect("it exists");
    rig.create(7, 0).expect("room");
    let inode = rig.system.files[7].as_ref().expect("it exists");
    assert_eq!((inode.number, inode.slot), (11 + 7, 0), "its old inode, and its old entry");
    (254..253 + 256).for_each(|file| rig.create(file, 0).expect("room"));
    assert_eq!(rig.system.dirs[0].blocks(), 2);
}

/// 128 groups, of which 11 have copies of the descriptors and therefore fewer free blocks than the mean. Directories below the root go
/// to the others, one each; their files stay with them.
#[test]
fn directories_below_the_root_are_spread() {
    let mut rig = Rig::new(16 << 10, &[]);
    (1..=117).for_each(|dir| rig.make_dir(dir, 0).expect("room"));
    let groups: BTreeSet<u32> = (1..=117).map(|dir| group_of_dir(&rig, dir)).collect();
    assert_eq!(groups.len(), 117, "one each");
    assert!([0, 1, 3, 5, 7, 9, 25, 27, 49, 81, 125].iter().all(|group| !groups.contains(group)));
    rig.create(0, 5).expect("room");
    rig.write(0, 0..1).expect("room");
    assert_eq!(rig.runs(0)[0].0 / GROUP_BLOCKS, group_of_dir(&rig, 5));
}

/// 351 directories below the root, three in each of 117 groups. With 353 of them there are fewer than 256 blocks in use for each, so that
/// a group may have 32768 / 256 = 128 more new directories than files: 125 more, when none of them gets a file. If each gets
/// one, it may have as many as are in a group on average, 353 + 515 in 128, and 8192 / 16 more: 518.
#[test]
fn directories_stay_with_their_parent_while_they_have_files() {
    let children_there = |files: u32| {
        let mut rig = Rig::new(16 << 10, &[]);
        (1..=351).for_each(|dir| rig.make_dir(dir, 0).expect("room"));
        let first_elsewhere = (352..).find(|&dir| {
            rig.make_dir(dir, 1).expect("room");
            (0..files).for_each(|at| rig.create(dir * files + at, dir).expect("room"));
            group_of_dir(&rig, dir) != group_of_dir(&rig, 1)
        });
        first_elsewhere.map(|dir| dir - 352)
    };
    assert_eq!(children_there(0), Some(125));
    assert_eq!(children_there(1), Some(515));
}

fn group_of_dir(rig: &Rig, dir: u32) -> u32 {
    rig.system.geometry.group_of_inode(rig.system.dirs[dir as usize].inode.number)
}

/// Of 32 groups, those of the directory (the root, inode 2 in the kernel's count, group 0) and of the first steps are full.
#[test]
fn a_file_whose_group_is_full_goes_to_one_by_its_directory() {
    let geometry = Geometry::new(4096 * MIB, None).expect("a disk for ext2");
    let mut blocks = Bitmap::new(geometry.blocks, GROUP_BLOCKS);
    let mut inodes = Bitmap::new(geometry.inodes(), geometry.inodes_per_group);
    // (0 + 2) + 1, + 2, + 4, + 8, + 16, modulo 32.
    for group in [0, 3, 5, 9, 17, 1] {
        assert_eq!(group_of_file(&geometry, 1, &blocks, &inodes), Some(group));
        blocks.take(group * GROUP_BLOCKS..(group + 1) * GROUP_BLOCKS);
    }
    // No step leads to a group with a free block: the next one with a free inode.
    assert_eq!(group_of_file(&geometry, 1, &blocks, &inodes), Some(1));
    inodes.take(8192..2 * 8192);
    assert_eq!(group_of_file(&geometry, 1, &blocks, &inodes), Some(2));
}
