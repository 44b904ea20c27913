//! Operations: the blocks of metadata that each of them reads and changes.

use std::ops::Range;

use super::dirs::{Dir, Place, group_of_file};
use super::geometry::GROUP_BLOCKS;
use super::inode::{Inode, PAGES_MAX, path};
use super::pages::Touched;
use super::{Ext2, ROOT_INODE, Who};
use crate::operation::{DirId, FileId, OpError};
use crate::system::{Block, Cx, FileSystem, PageKey, Run, Stop, Sync, Tried, Usage};
use flashwatt_base::rng::splitmix64;

/// The block of the superblock.
const SUPERBLOCK: Block = 0;

impl FileSystem for Ext2 {
    fn usage(&self) -> Usage {
        let blocks = u64::from(self.geometry.blocks);
        Usage {
            blocks,
            free_blocks: self.blocks.bitmap.free(),
            overhead_blocks: blocks - self.geometry.free_blocks(),
            inodes: Some(u64::from(self.geometry.inodes())),
            free_inodes: Some(self.inodes.free()),
        }
    }

    fn make_dir(&mut self, dir: DirId, parent: DirId, cx: &mut Cx) -> Tried<()> {
        let parent_inode = self.dir_mut(parent)?.inode.number;
        let place = match parent_inode {
            ROOT_INODE => Place::BelowRoot(splitmix64(u64::from(dir.0)) as u32),
            _ => Place::Near(self.geometry.group_of_inode(parent_inode)),
        };
        let group = self.spread.group(&self.geometry, place, &self.blocks.bitmap, &self.inodes);
        let group = group.ok_or(Stop::Failed(OpError::NoSpace))?;
        let number = self.free_inode(group, cx)?;
        if self.available() == 0 {
            return Err(Stop::Failed(OpError::NoSpace));
        }
        let slot = self.place_entry(parent, cx)?;
        let places = self.dirs.len().max(dir.idx() + 1);
        self.dirs.resize_with(places, Dir::default);
        self.dirs[dir.idx()] = Dir::new(Inode::new(number, parent.0, slot));
        self.allocate_all(Who::Dir(dir), 0..1, cx)?;
        self.take_inode(number, cx);
        self.spread.dir_made(group);
        self.enter(parent, slot, cx);
        cx.dirty_meta(self.dir_block(dir, 0));
        Ok(())
    }

    fn create(&mut self, file: FileId, dir: DirId, cx: &mut Cx) -> Tried<()> {
        let dir_inode = self.dir_mut(dir)?.inode.number;
        let group = group_of_file(&self.geometry, dir_inode, &self.blocks.bitmap, &self.inodes);
        let group = group.ok_or(Stop::Failed(OpError::NoSpace))?;
        let number = self.free_inode(group, cx)?;
        let slot = self.place_entry(dir, cx)?;
        self.take_inode(number, cx);
        self.spread.file_made(group);
        self.enter(dir, slot, cx);
        if self.files.len() <= file.idx() {
            self.files.resize_with(file.idx() + 1, || None);
        }
        let mut inode = Inode::new(number, dir.0, slot);
        inode.own.blocks = self.window_blocks;
        self.files[file.idx()] = Some(inode);
        Ok(())
    }

    fn lookup(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        let &Inode { number, dir, slot, .. } = self.inode(Who::File(file))?;
        self.find_entry(DirId(dir), slot, cx)?;
        self.read_inode(number, cx)
    }

    fn closed(&mut self, file: FileId) {
        if let Some(inode) = self.files.get_mut(file.idx()).and_then(Option::as_mut) {
            self.blocks.close(&mut inode.own);
        }
    }

    fn remove(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        let inode = self.inode(Who::File(file))?;
        let (number, dir, slot) = (inode.number, DirId(inode.dir), inode.slot);
        let group = self.geometry.group_of_inode(number);
        self.read_to_free(inode, cx)?;
        Self::read(self.geometry.inode_bitmap(group), cx)?;
        self.read_inode(number, cx)?;
        self.find_entry(dir, slot, cx)?;
        let Some(mut inode) = self.files[file.idx()].take() else { return Ok(()) };
        self.blocks.close(&mut inode.own);
        self.free_blocks(&inode, cx);
        self.inodes.give(number..number + 1);
        cx.dirty_meta(self.geometry.inode_bitmap(group));
        cx.dirty_meta(self.geometry.descriptor(group));
        cx.dirty_meta(self.geometry.inode_block(number));
        self.changes.written(number);
        self.dirs[dir.idx()].remove(slot);
        self.change_dir(dir, slot, cx);
        Ok(())
    }

    fn prepare_write(&mut self, file: FileId, pages: Range<u32>, cx: &mut Cx) -> Tried<()> {
        let number = self.inode(Who::File(file))?.number;
        if u64::from(pages.end) > PAGES_MAX {
            return Err(Stop::Failed(OpError::TooLong));
        }
        self.read_inode(number, cx)?;
        self.allocate_all(Who::File(file), pages, cx)
    }

    fn written(&mut self, file: FileId, bytes: u64, cx: &mut Cx) {
        let now = cx.now;
        let Ok(inode) = self.inode_mut(Who::File(file)) else { return };
        let (number, [is_longer, is_later]) = (inode.number, inode.written(bytes, now));
        if is_longer || is_later {
            self.change_inode(number, is_longer, cx);
        }
    }

    fn map(&mut self, page: PageKey, longest: u32, cx: &mut Cx) -> Tried<Option<Run>> {
        let Some(file) = page.owner.file() else { return Ok(Some(Run { block: page.index, pages: 1 })) };
        let inode = self.inode(Who::File(file))?;
        path(page.index).filter_map(|node| inode.node(node)).try_for_each(|block| Self::read(block, cx))?;
        Ok(inode.run(page.index).map(|run| Run { pages: run.pages.min(longest), ..run }))
    }

    fn write_out(&mut self, pages: &[PageKey], cx: &mut Cx) -> Tried<()> {
        let mut places = std::mem::take(&mut self.places);
        places.extend(pages.iter().filter_map(|&key| Some((key, self.place(key)?))));
        cx.write_in_place(&places);
        places.clear();
        self.places = places;
        Ok(())
    }

    fn fsync(&mut self, file: FileId, sync: Sync, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            cx.write_file(self, file, sync)?;
            *stage = 1;
            cx.wait()?;
        }
        if *stage == 1 {
            cx.write_meta(self.inode(Who::File(file))?.node_blocks().map(|block| (block, block)))?;
            *stage = 2;
            cx.wait()?;
        }
        if *stage == 2 {
            let number = self.inode(Who::File(file))?.number;
            let block = self.geometry.inode_block(number);
            // The block may be clean, or dirty for another inode's sake: it is this one's change that counts.
            if self.changes.has(number, sync.data_only) {
                Self::read(block, cx)?;
                cx.dirty_meta(block);
                cx.write_meta([(block, block)])?;
                self.changes.written(number);
            } else {
                cx.wait_page_written(PageKey::meta(block)); // the flusher may have sent the change just now
            }
            *stage = 3;
            cx.wait()?;
        }
        if *stage == 3 {
            *stage = 4;
            cx.flush();
        }
        cx.wait()
    }

    fn sync(&mut self, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            cx.dirty_meta(SUPERBLOCK);
            cx.write_meta([(SUPERBLOCK, SUPERBLOCK)])?;
            *stage = 1;
            cx.wait()?;
        }
        if *stage == 1 {
            *stage = 2;
            cx.flush();
        }
        cx.wait()
    }

    fn leads_to(&self, file: FileId) -> Vec<u32> {
        let Ok(inode) = self.inode(Who::File(file)) else { return Vec::new() };
        inode.node_blocks().chain([self.geometry.inode_block(inode.number)]).collect()
    }

    fn used(&self) -> Vec<Range<Block>> {
        self.blocks.bitmap.taken_runs()
    }

    fn extents(&self, file: FileId) -> Vec<Run> {
        self.inode(Who::File(file)).map(|inode| inode.runs().collect()).unwrap_or_default()
    }
}

impl Ext2 {
    /// Where a dirty page goes. What inodes have changed to goes with their block.
    fn place(&mut self, key: PageKey) -> Option<Block> {
        let Some(file) = key.owner.file() else {
            if let Some(inode) = self.geometry.first_inode(key.index) {
                self.changes.block_written(inode);
            }
            return Some(key.index);
        };
        let run = self.inode(Who::File(file)).ok()?.run(key.index);
        debug_assert!(run.is_some(), "{key:?} was prepared");
        Some(run?.block)
    }

    /// Reads the indirect blocks of a file, and the bitmaps of its groups.
    fn read_to_free(&self, inode: &Inode, cx: &mut Cx) -> Tried<()> {
        inode.node_blocks().try_for_each(|block| Self::read(block, cx))?;
        let mut last = None;
        for block in inode.runs().map(|run| run.block).chain(inode.node_blocks()) {
            let group = block / GROUP_BLOCKS;
            if last.replace(group) != Some(group) {
                Self::read(self.geometry.block_bitmap(group), cx)?;
            }
        }
        Ok(())
    }

    /// Frees the blocks of a file, whose bitmaps are in memory.
    fn free_blocks(&mut self, inode: &Inode, cx: &mut Cx) {
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.extend(inode.runs().map(|run| run.block..run.block + run.pages));
        ranges.extend(inode.node_blocks().map(|block| block..block + 1));
        ranges.sort_unstable_by_key(|range| range.start);
        let mut touched = Touched::default();
        for blocks in ranges.chunk_by(|before, after| before.end == after.start) {
            let (start, end) = (blocks[0].start, blocks[blocks.len() - 1].end);
            self.blocks.bitmap.give(start..end);
            self.change_group(start / GROUP_BLOCKS, &mut touched, cx);
            if self.discards {
                cx.trim(start, end - start);
            }
        }
        ranges.clear();
        self.ranges = ranges;
        inode.node_blocks().for_each(|block| cx.forget_meta(block));
    }
}
