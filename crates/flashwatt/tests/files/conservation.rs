//! What applications wrote is what the drive holds, whatever file system, cache, flusher and cleaner did on the way.

use std::collections::BTreeMap;

use flashwatt::Progress;
use flashwatt_base::registry::Parameters;
use flashwatt_core::connector::Workload;
use flashwatt_files::settings::{PageCacheSettings, ProcessorSettings};
use flashwatt_files::systems::{REGISTRY, Registered};
use flashwatt_files::{Aged, Disk, End, FileWorkload, History, NoRoom, OpError};

use super::drive::{Sent, run};
use super::random::Random;
use crate::common::tier;

/// Operations on each file system. In `make test` they write the disk of 512 MiB three times, so that the log is cleaned.
fn operations() -> u64 {
    tier::size(100_000, 1_000_000) as u64
}

fn parameters(entry: &Registered) -> BTreeMap<String, f64> {
    entry.params.iter().map(|param| (param.name.to_string(), param.default)).collect()
}

/// A random workload on a small disk with a small cache, under the second account.
fn workload(entry: &Registered, files: u32, longest: u64, operations: u64, seed: u64) -> FileWorkload {
    on_disk(entry, None, Random::new(files, longest, seed), operations)
}

fn on_disk(entry: &Registered, aged: Option<Aged>, source: Random, operations: u64) -> FileWorkload {
    let cache = PageCacheSettings { memory_bytes: 16 << 20, ..PageCacheSettings::default() };
    behind(cache, entry, aged, source, operations)
}

/// The same with another cache.
fn behind(
    settings: PageCacheSettings,
    entry: &Registered,
    aged: Option<Aged>,
    source: Random,
    operations: u64,
) -> FileWorkload {
    let system = (entry.build.make)(&Parameters(&parameters(entry)), 512 << 20).expect("a disk of 512 MiB");
    let end = End { operations: Some(operations), lasts_ns: None };
    let source = Box::new(source);
    let mut progress = |_: &Progress| true;
    let history = aged.map(|aged| History { aged, seed: 7, progress: &mut progress });
    let mut workload = FileWorkload::new(
        "random".into(),
        source,
        Disk { name: entry.name, system, history },
        settings,
        ProcessorSettings::default(),
        end,
    )
    .expect("room for the files");
    workload.check();
    workload
}

fn sent(entry: &Registered, files: u32, longest: u64, operations: u64, seed: u64) -> Sent {
    sent_by(entry, workload(entry, files, longest, operations, seed), operations)
}

fn sent_by(entry: &Registered, mut workload: FileWorkload, operations: u64) -> Sent {
    let sent = run(&mut workload).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    let figures = workload.figures();
    assert_eq!(figures.operations(), operations, "{}", entry.name);
    let blocks: u64 = figures.io.written.iter().flatten().sum();
    assert_eq!(blocks * 4096, sent.written_bytes, "{}: every block that is counted is sent", entry.name);
    sent
}

/// Every page that is read, and every page in its place after the unmount, holds what was written last.
#[test]
fn operations_leave_every_page_where_it_belongs() {
    for entry in REGISTRY {
        sent(entry, 2_000, 60_000, operations(), 1 + tier::seed());
    }
}

/// Files of megabytes, with indirect blocks, that fill most of the disk.
#[test]
fn long_files_and_a_full_disk_lose_nothing() {
    for entry in REGISTRY {
        let operations = tier::size(6_000, 20_000) as u64;
        sent(entry, 60, 12 << 20, operations, 2);
        sent(entry, 400, 3 << 20, operations, 3);
    }
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    for entry in REGISTRY {
        let of = |seed| sent(entry, 200, 100_000, 20_000, seed);
        assert_eq!(of(4), of(4), "{}", entry.name);
        assert_ne!(of(4).digest, of(5).digest, "{}", entry.name);
    }
}

/// After all files are removed the disk is as free as at first.
#[test]
fn files_that_are_removed_give_everything_back() {
    use super::random::Emptied;
    for entry in REGISTRY {
        let system = (entry.build.make)(&Parameters(&parameters(entry)), 512 << 20).expect("a disk of 512 MiB");
        let free = system.usage().free_blocks;
        let end = End::default();
        let source = Box::new(Emptied::new(300));
        let settings = PageCacheSettings::default();
        let mut workload = FileWorkload::new(
            "emptied".into(),
            source,
            Disk { name: entry.name, system, history: None },
            settings,
            ProcessorSettings::default(),
            end,
        )
        .expect("room");
        assert!(workload.system().usage().free_blocks < free);
        run(&mut workload).expect("a whole run");
        let left = free - workload.system().usage().free_blocks;
        // Directories keep their blocks.
        assert!(left <= 20, "{}: {left} blocks are lost", entry.name);
    }
}

/// A disk of which others fill a part, and replaced what they have.
fn aged(fill_fraction: f64, churn: f64) -> Option<Aged> {
    Some(Aged { fill_fraction, churn, mean_file_bytes: 60_000 })
}

/// What others have stays theirs, and moves with the cleaner.
#[test]
fn on_an_aged_disk_nothing_is_lost() {
    for entry in REGISTRY {
        sent_by(entry, on_disk(entry, aged(0.6, 2.0), Random::new(500, 60_000, 6), 100_000), 100_000);
    }
}

/// The disk is as full as asked. In place, churn breaks the free space into pieces, and so files of 8 MiB that are laid down one after another.
/// In a log they lie whole, in fewer clean segments: the others hold blocks that nobody uses any more.
#[test]
fn an_aged_disk_is_full_and_fragmented() {
    for entry in REGISTRY {
        let of = |aged: Option<Aged>| {
            let workload = on_disk(entry, aged, Random::on_whole(10, 8 << 20), 1);
            let (system, usage) = (workload.system(), workload.system().usage());
            let extents: usize = workload.files().map(|(file, _)| system.extents(file).len()).sum();
            let written: u64 = system.used().iter().map(|blocks| u64::from(blocks.end - blocks.start)).sum();
            (extents, (written + usage.free_blocks) as f64 - usage.blocks as f64, usage.free_blocks as f64)
        };
        let [(_, _, free_new), (extents, unused, free), (extents_old, unused_old, free_old)] =
            [None, aged(0.7, 0.0), aged(0.7, 3.0)].map(of);
        let room = free_new + of_program(entry);
        for free in [free, free_old] {
            let filled = (free_new - free) / room;
            assert!((filled - 0.7).abs() < 0.012, "{}: {filled} of the blocks", entry.name);
        }
        if ["ext2", "ext3"].contains(&entry.name) {
            assert!(extents_old > 2 * extents, "{extents_old} extents after churn, {extents} before");
            assert_eq!((unused, unused_old), (0.0, 0.0));
        } else {
            let more = unused_old - unused;
            assert!(more > 0.05 * room, "{}: {unused} unused blocks, {unused_old} after churn, of {room}", entry.name);
        }
    }
}

/// Others write the same files whatever the cache holds, and however few of its pages may be dirty: those are fewer than the pages of a call.
#[test]
fn a_small_cache_gives_the_same_files_of_others() {
    for entry in REGISTRY {
        let of = |memory_bytes: u64, [dirty_background_ratio, dirty_ratio]: [f64; 2]| {
            let cache =
                PageCacheSettings { memory_bytes, dirty_background_ratio, dirty_ratio, ..PageCacheSettings::default() };
            let aged = Some(Aged { fill_fraction: 0.4, churn: 0.5, mean_file_bytes: 2 << 20 });
            behind(cache, entry, aged, Random::on_whole(1, 4096), 1).system().usage()
        };
        let large = of(256 << 20, [10.0, 20.0]);
        for ratios in [[0.0, 0.01], [10.0, 20.0], [89.0, 90.0]] {
            assert_eq!(of(4 << 20, ratios), large, "{}: {ratios:?}", entry.name);
        }
    }
}

/// Blocks that the program's files take.
fn of_program(entry: &Registered) -> f64 {
    let empty = (entry.build.make)(&Parameters(&parameters(entry)), 512 << 20).expect("a disk of 512 MiB");
    let laid_down = on_disk(entry, None, Random::on_whole(10, 8 << 20), 1);
    (empty.usage().free_blocks - laid_down.system().usage().free_blocks) as f64
}

/// A few small files on a disk.
fn laid_down(disk: Disk) -> Result<FileWorkload, NoRoom> {
    let source = Box::new(Random::new(10, 4096, 1));
    let (cache, processor) = (PageCacheSettings::default(), ProcessorSettings::default());
    FileWorkload::new("few".into(), source, disk, cache, processor, End::default())
}

/// A history without room is refused.
#[test]
fn a_disk_without_inodes_does_not_become_full() {
    let entry = REGISTRY.iter().find(|entry| entry.name == "ext2").expect("ext2");
    let few = [("bytes_per_inode".to_string(), 65_536.0)];
    let parameters = parameters(entry).into_iter().chain(few).collect();
    let system = (entry.build.make)(&Parameters(&parameters), 64 << 20).expect("a disk of 64 MiB");
    let tiny = Aged { fill_fraction: 0.9, churn: 0.0, mean_file_bytes: 4096 };
    let disk =
        Disk { name: entry.name, system, history: Some(History { aged: tiny, seed: 1, progress: &mut |_| true }) };
    let made = laid_down(disk);
    assert!(matches!(made.err(), Some(NoRoom::OfOthers(OpError::NoSpace))));
}

/// A history can be stopped.
#[test]
fn the_user_stops_a_history() {
    let entry = &REGISTRY[0];
    let system = (entry.build.make)(&Parameters(&parameters(entry)), 512 << 20).expect("a disk of 512 MiB");
    let aged = Aged { fill_fraction: 0.9, churn: 1000.0, mean_file_bytes: 60_000 };
    let mut looks = 0;
    let mut progress = |_: &Progress| {
        looks += 1;
        looks < 3
    };
    let disk = Disk { name: entry.name, system, history: Some(History { aged, seed: 1, progress: &mut progress }) };
    let made = laid_down(disk);
    assert!(matches!(made.err(), Some(NoRoom::Stopped(_))));
    assert_eq!(looks, 3);
}
