//! Free space, and the clean segments that writers leave to the cleaner.

use super::Lfs;
use super::log::summaries;
use super::segments::Frontier;
use crate::operation::OpError;
use crate::system::{Cx, Stop, Tried};

impl Lfs {
    /// Blocks that new pages of files may use.
    pub(super) fn free(&self) -> u64 {
        self.layout.capacity().saturating_sub(self.tree.data + 2 * self.tree.metas)
    }

    /// The same of a file system without files: with the tables, the root directory and its inode.
    pub(super) fn empty_free(&self) -> u64 {
        self.layout.capacity().saturating_sub(2 * (u64::from(self.layout.tables()) + 2))
    }

    /// There is room for pages of files and of metadata.
    pub(super) fn check_room(&self, pages: u64, metas: u64) -> Tried<()> {
        if pages + 2 * metas > self.free() { Err(Stop::Failed(OpError::NoSpace)) } else { Ok(()) }
    }

    /// Clean segments for all metadata.
    pub(super) fn for_metadata(&self) -> u32 {
        self.tree.metas.div_ceil(u64::from(self.layout.payload())) as u32
    }

    /// Clean segments that writers leave: those for metadata, and half of the reserved ones. The cleaner makes the other half, so that it
    /// never has to pack the last block of a full disk.
    pub(super) fn kept(&self) -> u32 {
        self.layout.reserved() / 2 + self.for_metadata()
    }

    /// Makes sure that there are clean segments for this number of pages with their summaries. The caller cleans if there are not, or
    /// waits for the cleaner.
    pub(super) fn find_segments(&mut self, pages: usize, cx: &mut Cx) -> Tried<()> {
        // Worst case: a summary for each page in the segment that is open.
        let blocks = pages as u32 + summaries(pages as u32) + 1;
        loop {
            let behind = blocks.saturating_sub(self.segments.left(Frontier::Writer));
            if self.segments.clean() >= self.kept() + behind.div_ceil(self.layout.payload()) || !self.clean(cx)? {
                return Ok(());
            }
        }
    }
}
