//! A disk's history, worked out by hand.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::flat::Flat;
use super::harness::settings;
use crate::disk::Ios;
use crate::operation::{DirId, FileId};
use crate::settings::{Aged, PageCacheSettings};
use crate::system::{Block, Cx, FileSystem, PageKey, Run, Sync, Tried, Usage};
use crate::vfs::{History, Vfs, age};

/// Blocks that are free at first.
const BLOCKS: u64 = 512;
/// The pages of a file from this one on lie where a block says that has to be read.
const POINTED: u32 = 250;

/// A flat file system with a block of metadata, which leads to the later pages of every file.
struct Pointed {
    flat: Flat,
    used: u64,
    /// Pages that were asked a place for.
    asked: Arc<AtomicU32>,
}

impl FileSystem for Pointed {
    fn usage(&self) -> Usage {
        Usage { blocks: BLOCKS, free_blocks: BLOCKS - self.used, ..Usage::default() }
    }

    fn make_dir(&mut self, _: DirId, _: DirId, _: &mut Cx) -> Tried<()> {
        Ok(())
    }

    fn create(&mut self, file: FileId, dir: DirId, cx: &mut Cx) -> Tried<()> {
        self.flat.create(file, dir, cx)
    }

    fn lookup(&mut self, _: FileId, _: &mut Cx) -> Tried<()> {
        Ok(())
    }

    fn remove(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        self.flat.remove(file, cx)
    }

    fn prepare_write(&mut self, file: FileId, pages: Range<u32>, cx: &mut Cx) -> Tried<()> {
        self.asked.fetch_add(pages.end - pages.start, Ordering::Relaxed);
        if pages.end > POINTED {
            cx.read_meta(0, Block::MAX)?;
        }
        self.used = self.used.max(u64::from(pages.end));
        self.flat.prepare_write(file, pages, cx)
    }

    fn written(&mut self, _: FileId, _: u64, _: &mut Cx) {}

    fn map(&mut self, page: PageKey, longest: u32, cx: &mut Cx) -> Tried<Option<Run>> {
        self.flat.map(page, longest, cx)
    }

    fn write_out(&mut self, pages: &[PageKey], cx: &mut Cx) -> Tried<()> {
        self.flat.write_out(pages, cx)
    }

    fn fsync(&mut self, file: FileId, sync: Sync, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        self.flat.fsync(file, sync, stage, cx)
    }

    fn leads_to(&self, _: FileId) -> Vec<u32> {
        Vec::new()
    }

    fn used(&self) -> Vec<Range<Block>> {
        Vec::new()
    }

    fn extents(&self, _: FileId) -> Vec<Run> {
        Vec::new()
    }
}

/// The cache holds 1024 pages, of which 204 may be dirty (20 %) when a writer begins. The only file has 256 pages, half of the disk, and is
/// written by one call of 1 MiB. The call has dirtied 250 pages when it waits for the block: it may not begin again before the
/// flusher has written them. The second time it goes to its end: 251 + 256 pages are asked a place for.
#[test]
fn a_call_that_left_too_much_dirty_begins_again_after_the_flusher() {
    let asked = Arc::new(AtomicU32::new(0));
    let system = Pointed { flat: Flat::default(), used: 0, asked: asked.clone() };
    let cache = PageCacheSettings { memory_bytes: 4 << 20, ..settings() };
    let mut vfs = Vfs::new(Box::new(system), cache, Ios::new(256, vec![flashwatt_core::connector::Origin(0)]));
    let one_file = Aged { fill_fraction: 0.5, churn: 0.0, mean_file_bytes: 1 << 40 };
    age(&mut vfs, History { aged: one_file, seed: 1, progress: &mut |_| true }, DirId(1)).expect("room for the file");
    assert_eq!((vfs.system.usage().free_blocks, vfs.cache.unwritten()), (256, 0));
    assert_eq!(asked.load(Ordering::Relaxed), 251 + 256);
}
