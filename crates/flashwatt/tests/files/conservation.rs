//! What applications wrote is what the drive holds, whatever file system, cache, flusher and cleaner did on the way.

use std::collections::BTreeMap;

use flashwatt::connector::Workload;
use flashwatt::files::settings::{PageCacheSettings, ProcessorSettings};
use flashwatt::files::systems::{REGISTRY, Registered};
use flashwatt::files::{End, FileWorkload};
use flashwatt::registry::Parameters;

use super::drive::{Sent, run};
use super::random::Random;

/// Operations on each file system; all of them together take some seconds.
const OPERATIONS: u64 = 1_000_000;

fn parameters(entry: &Registered) -> BTreeMap<String, f64> {
    entry.params.iter().map(|param| (param.name.to_string(), param.default)).collect()
}

/// A random workload on a small disk with a small cache, under the second account.
fn workload(entry: &Registered, files: u32, longest: u64, operations: u64, seed: u64) -> FileWorkload {
    let system = (entry.build.make)(&Parameters(&parameters(entry)), 512 << 20).expect("a disk of 512 MiB");
    let settings = PageCacheSettings { memory_bytes: 16 << 20, ..PageCacheSettings::default() };
    let end = End { operations: Some(operations), lasts_ns: None };
    let source = Box::new(Random::new(files, longest, seed));
    let mut workload =
        FileWorkload::new("random".into(), source, (entry.name, system), settings, ProcessorSettings::default(), end)
            .expect("room for the files");
    workload.check();
    workload
}

fn sent(entry: &Registered, files: u32, longest: u64, operations: u64, seed: u64) -> Sent {
    let mut workload = workload(entry, files, longest, operations, seed);
    let sent = run(&mut workload).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
    let figures = workload.figures();
    assert_eq!(figures.operations(), operations, "{}", entry.name);
    let blocks: u64 = figures.io.written.iter().flatten().sum();
    assert_eq!(blocks * 4096, sent.written_bytes, "{}: every block that is counted is sent", entry.name);
    sent
}

/// Every page that is read, and every page in its place after the unmount, holds what was written last.
#[test]
fn a_million_operations_leave_every_page_where_it_belongs() {
    for entry in REGISTRY {
        sent(entry, 2_000, 60_000, OPERATIONS, 1);
    }
}

/// Files of megabytes, with indirect blocks, that fill most of the disk.
#[test]
fn long_files_and_a_full_disk_lose_nothing() {
    for entry in REGISTRY {
        sent(entry, 60, 12 << 20, 20_000, 2);
        sent(entry, 400, 3 << 20, 20_000, 3);
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
            (entry.name, system),
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
