//! Random operations against a second account of the disk.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Rig;
use crate::operation::{FileId, OpError};
use crate::system::{Block, FileSystem};
use flashwatt_base::rng::Rng;

const OPERATIONS: u64 = 100_000;
const FILES: u64 = 400;
const DIRS: u64 = 30;

/// Who has each block: a file or a directory, as a number.
#[derive(Default)]
struct Shadow {
    owners: BTreeMap<Block, u64>,
    /// Pages of each file that have blocks, and which.
    pages: BTreeMap<(u32, u32), Block>,
}

impl Shadow {
    /// The blocks of a file, with its indirect blocks.
    fn blocks_of(rig: &Rig, file: u32) -> Vec<Block> {
        let runs = rig.runs(file).into_iter().flat_map(|(block, pages)| block..block + pages);
        runs.chain(rig.nodes(file)).collect()
    }

    /// Those blocks of a file that nobody had before are its own now. None is lost.
    fn wrote(&mut self, rig: &Rig, file: u32, pages: Range<u32>) {
        for block in Self::blocks_of(rig, file) {
            let owner = *self.owners.entry(block).or_insert(u64::from(file));
            assert_eq!(owner, u64::from(file), "block {block} has two owners");
            assert!(rig.system.blocks.bitmap.is_taken(block));
        }
        let inode = rig.system.files[file as usize].as_ref().expect("it exists");
        for page in pages {
            let block = inode.run(page).expect("it was prepared").block;
            assert_eq!(*self.pages.entry((file, page)).or_insert(block), block, "page {page} of {file} has moved");
        }
    }

    fn removed(&mut self, rig: &Rig, file: u32) {
        self.owners.retain(|&block, owner| {
            let is_its_own = *owner == u64::from(file);
            assert!(!is_its_own || !rig.system.blocks.bitmap.is_taken(block), "block {block} is not free");
            !is_its_own
        });
        let gone: Vec<_> = self.pages.range((file, 0)..=(file, u32::MAX)).map(|(&key, _)| key).collect();
        for key in gone {
            self.pages.remove(&key);
        }
    }
}

/// Blocks that the bitmap has as taken, less those of the empty file system and of directories.
fn blocks_in_use(rig: &Rig, at_start: u64) -> u64 {
    let of_dirs: u64 =
        rig.system.dirs.iter().map(|dir| dir.inode.runs().map(|run| u64::from(run.pages)).sum::<u64>()).sum();
    at_start - rig.system.usage().free_blocks - (of_dirs - 1)
}

fn check(rig: &Rig, shadow: &Shadow, at_start: u64) {
    assert_eq!(blocks_in_use(rig, at_start), shadow.owners.len() as u64);
    let windows: Vec<_> = rig.system.blocks.windows().collect();
    assert!(windows.windows(2).all(|pair| pair[0].end <= pair[1].start), "{windows:?}");
    let used: u64 = rig.system.used().iter().map(|range| range.len() as u64).sum();
    assert_eq!(used + rig.system.usage().free_blocks, rig.system.usage().blocks);
    let by_groups: u64 =
        (0..rig.system.geometry.groups).map(|group| u64::from(rig.system.blocks.bitmap.free_in(group))).sum();
    assert_eq!(by_groups, rig.system.blocks.bitmap.free());
}

/// A number below a power of two below this one: small ones are as likely as large ones.
fn below_power(rng: &mut Rng, bits: u64) -> u32 {
    let bits = rng.below(bits);
    rng.below(1 << bits) as u32
}

/// A disk of two groups that is full most of the time, and files with holes, so that windows, groups and levels of indirect blocks
/// meet one another in all ways.
#[test]
fn no_block_has_two_owners_and_none_is_lost() {
    for (seed, window) in [(1, 8.0), (2, 0.0), (3, 1027.0)] {
        let mut rig = Rig::new(200, &[("reservation_blocks", window)]);
        let (mut rng, mut shadow) = (Rng::new(seed), Shadow::default());
        let at_start = rig.system.usage().free_blocks;
        (1..DIRS as u32).for_each(|dir| rig.make_dir(dir, dir / 4).expect("room"));
        let (mut exists, mut full) = (vec![false; FILES as usize], 0);
        for operation in 0..OPERATIONS / 3 {
            let file = rng.below(FILES) as u32;
            rig.process = rng.below(20) as u16;
            match (exists[file as usize], rng.below(100)) {
                (false, _) => {
                    rig.create(file, rng.below(DIRS) as u32).expect("an inode");
                    exists[file as usize] = true;
                }
                (true, 0..8) => {
                    rig.remove(file).expect("it exists");
                    exists[file as usize] = false;
                    shadow.removed(&rig, file);
                }
                (true, 8..20) => rig.system.closed(FileId(file)),
                (true, kind) => {
                    let end = rig.system.files[file as usize]
                        .as_ref()
                        .map_or(0, |inode| inode.runs().map(|run| run.pages).sum());
                    let first = if kind < 80 { end } else { below_power(&mut rng, 24) };
                    let pages = first..first + 1 + below_power(&mut rng, 9);
                    let before = rig.system.usage();
                    match rig.write(file, pages.clone()) {
                        Ok(()) => shadow.wrote(&rig, file, pages),
                        Err(error) => {
                            assert_eq!((error, rig.system.usage()), (OpError::NoSpace, before));
                            full += 1;
                        }
                    }
                }
            }
            if operation % 500 == 0 {
                check(&rig, &shadow, at_start);
            }
        }
        check(&rig, &shadow, at_start);
        assert!(full > 100, "{full} times full");
        for file in (0..FILES as u32).filter(|&file| exists[file as usize]) {
            rig.remove(file).expect("it exists");
            shadow.removed(&rig, file);
        }
        check(&rig, &shadow, at_start);
        assert!(shadow.owners.is_empty() && rig.system.blocks.windows().count() == 0);
    }
}
