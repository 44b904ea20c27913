//! Random operations against a second account of every page and block.

use super::bench::{Bench, system};
use crate::operation::OpError;
use crate::system::{FileSystem, Owner};
use crate::systems::lfs::Style;
use flashwatt_base::rng::Rng;

const FILES: u64 = 300;
const DISK: u64 = 64 << 20;

/// Anything to any of 300 files, on a disk that they fill again and again.
fn any(bench: &mut Bench, lengths: &mut [Option<u32>], rng: &mut Rng) {
    let file = rng.below(FILES) as u32;
    let length = &mut lengths[file as usize];
    match (rng.below(100), *length) {
        (0..70, None) => {
            if bench.create(file).is_ok() {
                *length = Some(0);
            }
        }
        (0..6, Some(pages)) => {
            bench.remove(file, pages);
            *length = None;
        }
        (6..60, Some(pages)) => {
            let first = rng.below(u64::from(pages) + 1) as u32;
            let longest = if rng.below(20) == 0 { 60 } else { 4 };
            let end = first + 1 + rng.below(longest) as u32;
            match bench.write(file, first..end) {
                Ok(()) => *length = Some(pages.max(end)),
                Err(error) => assert_eq!(error, OpError::NoSpace),
            }
        }
        (60..80, Some(_)) => bench.fsync(file),
        (80..90, Some(_)) => bench.write_back(&bench.cache.dirty_pages(Owner(file))),
        (90..92, _) => bench.write_back(&bench.cache.dirty_pages(Owner::META)),
        (92..95, _) => bench.complete(),
        (95, _) => bench.now += rng.below(40_000_000_000),
        _ => drop(bench.until(|fs, cx| fs.work(cx))),
    }
}

/// 10^5 operations in the end; every page lies where the log says, in its last version.
#[test]
fn random_operations_keep_every_page() {
    for (style, cost_benefit, whole, trim) in
        [(Style::Sprite, 1.0, 1.0, 0.0), (Style::Sprite, 0.0, 0.0, 1.0), (Style::Nilfs2, 1.0, 0.0, 0.0)]
    {
        let set =
            [("segment_bytes", 262_144.0), ("cost_benefit", cost_benefit), ("clean_whole", whole), ("trim", trim)];
        let mut bench = Bench::new(system(style, DISK, &set), 4096);
        let (mut rng, mut lengths) = (Rng::new(7), vec![None; FILES as usize]);
        for at in 1..=35_000 {
            any(&mut bench, &mut lengths, &mut rng);
            if at % 500 == 0 {
                bench.check();
            }
        }
        bench.sync();
        bench.check();
        assert!(bench.figures.cleaning_reads > 0, "the cleaner had something to do");
    }
}

/// A log that is full says so before it promises anything; what it has promised it keeps; and a removal makes room again.
#[test]
fn a_full_log_fails_before_it_promises() {
    for style in [Style::Sprite, Style::Nilfs2] {
        let mut bench = Bench::new(system(style, DISK, &[("segment_bytes", 262_144.0)]), 4096);
        let free = bench.fs.usage().free_blocks;
        let mut files = 0;
        let failed = loop {
            let written = bench.create(files).and_then(|()| bench.write(files, 0..50));
            files += 1;
            if let Err(error) = written {
                break error;
            }
            if files.is_multiple_of(20) {
                bench.sync();
            }
        };
        assert_eq!(failed, OpError::NoSpace);
        assert!(bench.fs.usage().free_blocks < 60);
        assert!(u64::from(files) * 50 > free * 9 / 10, "{files} files of {free} blocks");
        bench.sync();
        bench.check();
        // Overwriting needs no room, however often.
        let mut rng = Rng::new(1);
        for _ in 0..2_000 {
            let file = rng.below(u64::from(files) - 1) as u32;
            bench.write(file, 10..14).expect("the pages have room");
            bench.fsync(file);
        }
        bench.check();
        (0..files - 1).for_each(|file| bench.remove(file, 50));
        assert!(bench.fs.usage().free_blocks > free - 20);
        bench.sync();
        bench.check();
    }
}
