//! A disk's history, worked out by hand.

use std::sync::atomic::Ordering;

use super::harness::settings;
use super::pointed::Pointed;
use crate::disk::Ios;
use crate::operation::DirId;
use crate::settings::{Aged, PageCacheSettings};
use crate::vfs::{History, Vfs, age};

/// The cache holds 1024 pages, of which 204 may be dirty (20 %) when a writer begins. The only file has 256 pages, half of the free blocks, and is
/// written by one call of 1 MiB. The call has dirtied 250 pages when it waits for the block: it may not begin again before the
/// flusher has written them. The second time it goes to its end: 251 + 256 pages are asked a place for.
#[test]
fn a_call_that_left_too_much_dirty_begins_again_after_the_flusher() {
    let system = Pointed::new(250);
    let asked = system.asked.clone();
    let cache = PageCacheSettings { memory_bytes: 4 << 20, ..settings() };
    let mut vfs = Vfs::new(Box::new(system), cache, Ios::new(256, vec![flashwatt_core::connector::Origin(0)]));
    let one_file = Aged { fill_fraction: 0.5, churn: 0.0, mean_file_bytes: 1 << 40 };
    age(&mut vfs, History { aged: one_file, seed: 1, progress: &mut |_| true }, DirId(1)).expect("room for the file");
    assert_eq!((vfs.system.usage().free_blocks, vfs.cache.unwritten()), (256, 0));
    assert_eq!(asked.load(Ordering::Relaxed), 251 + 256);
}
