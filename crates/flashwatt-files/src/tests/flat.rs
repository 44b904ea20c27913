//! A file system without metadata: file n has 1024 blocks from block 1024 · n on.

use std::ops::Range;

use crate::operation::{DirId, FileId};
use crate::system::{Block, Cx, FileSystem, PageKey, Run, Sync, Tried, Usage};

pub const FILE_BLOCKS: u32 = 1024;

/// The file system. Reads of pages behind those that were written find holes.
#[derive(Default)]
pub struct Flat {
    /// Pages of each file that have a place.
    pages: Vec<u32>,
}

impl Flat {
    fn pages(&mut self, file: FileId) -> &mut u32 {
        if self.pages.len() <= file.idx() {
            self.pages.resize(file.idx() + 1, 0);
        }
        &mut self.pages[file.idx()]
    }
}

impl FileSystem for Flat {
    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn make_dir(&mut self, _: DirId, _: DirId, _: &mut Cx) -> Tried<()> {
        Ok(())
    }

    fn create(&mut self, file: FileId, _: DirId, _: &mut Cx) -> Tried<()> {
        *self.pages(file) = 0;
        Ok(())
    }

    fn lookup(&mut self, _: FileId, _: &mut Cx) -> Tried<()> {
        Ok(())
    }

    fn remove(&mut self, file: FileId, _: &mut Cx) -> Tried<()> {
        *self.pages(file) = 0;
        Ok(())
    }

    fn prepare_write(&mut self, file: FileId, pages: Range<u32>, _: &mut Cx) -> Tried<()> {
        let known = self.pages(file);
        *known = pages.end.max(*known);
        Ok(())
    }

    fn written(&mut self, _: FileId, _: u64, _: &mut Cx) -> Tried<()> {
        Ok(())
    }

    fn map(&mut self, page: PageKey, longest: u32, _: &mut Cx) -> Tried<Option<Run>> {
        let PageKey { owner, index } = page;
        let pages = owner.file().map_or(0, |file| *self.pages(file));
        let run = Run { block: owner.0 * FILE_BLOCKS + index, pages: longest.min(pages.saturating_sub(index)) };
        Ok((run.pages > 0).then_some(run))
    }

    fn write_out(&mut self, pages: &[PageKey], cx: &mut Cx) -> Tried<()> {
        let places: Vec<_> = pages.iter().map(|&key| (key, key.owner.0 * FILE_BLOCKS + key.index)).collect();
        cx.write_in_place(&places);
        Ok(())
    }

    fn fsync(&mut self, file: FileId, sync: Sync, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            cx.write_file(self, file, sync)?;
            *stage = 1;
            cx.wait()?;
        }
        if *stage == 1 {
            *stage = 2;
            cx.flush();
        }
        cx.wait()
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
