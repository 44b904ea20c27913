//! A file system with as little metadata as a call has to wait for.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::flat::Flat;
use crate::operation::{DirId, FileId};
use crate::system::{Block, Cx, FileSystem, PageKey, Run, Sync, Tried, Usage};

/// Blocks that are free at first.
const BLOCKS: u64 = 512;

/// A flat file system with a block of metadata for each file: the later pages lie where that says, which has to be read.
pub struct Pointed {
    flat: Flat,
    /// The first of those pages.
    first: u32,
    used: u64,
    /// Pages that were asked a place for.
    pub asked: Arc<AtomicU32>,
}

impl Pointed {
    pub fn new(first: u32) -> Self {
        Pointed { flat: Flat::default(), first, used: 0, asked: Arc::default() }
    }
}

impl FileSystem for Pointed {
    fn usage(&self) -> Usage {
        Usage { blocks: BLOCKS, free_blocks: BLOCKS.saturating_sub(self.used), ..Usage::default() }
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
        if pages.end > self.first {
            cx.read_meta(file.0, Block::MAX - file.0)?;
        }
        self.used = self.used.max(u64::from(pages.end));
        self.flat.prepare_write(file, pages, cx)
    }

    fn written(&mut self, _: FileId, _: u64, _: &mut Cx) -> Tried<()> {
        Ok(())
    }

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
