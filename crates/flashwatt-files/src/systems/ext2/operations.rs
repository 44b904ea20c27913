//! Operations: the blocks of metadata that each of them reads and changes.

use std::ops::Range;

use super::dirs::{Dir, Place, group_of_file};
use super::geometry::GROUP_BLOCKS;
use super::inode::{Inode, PAGES_MAX, path};
use super::journal::CREDITS;
use super::pages::Touched;
use super::{Ext2, ROOT_INODE, Who};
use crate::operation::{DirId, FileId, OpError};
use crate::system::{
    AccessTimes, Block, Cx, FileSystem, MountOptions, Mounts, Owner, PageKey, Run, Stop, Sync, Tried, Usage, Work,
};
use flashwatt_base::rng::splitmix64;
use flashwatt_base::units::Nanos;

/// With relatime a read counts a day after the last one that did.
const DAY_NS: Nanos = 86_400_000_000_000;
/// The block of the superblock.
const SUPERBLOCK: Block = 0;
/// The first stage in which an fsync waits for a commit: the others have the transaction's number, and whether a flush follows.
const COMMITS: u32 = 3;
/// Stages of an unmount: the journal has been emptied, and the superblock has been sent.
const JOURNAL_EMPTIED: u32 = 10;
const SUPERBLOCK_SENT: u32 = 11;

impl FileSystem for Ext2 {
    fn set_options(&mut self, options: MountOptions) {
        self.options = options;
    }

    fn usage(&self) -> Usage {
        let blocks = u64::from(self.geometry.blocks);
        Usage {
            blocks,
            free_blocks: self.blocks.bitmap.free() + self.journal.as_ref().map_or(0, |journal| journal.freed_blocks()),
            overhead_blocks: blocks - self.geometry.free_blocks()
                + self.journal.as_ref().map_or(0, |journal| journal.blocks()),
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
        self.admit(2 * CREDITS, cx)?;
        let slot = self.place_entry(parent, cx)?;
        let places = self.dirs.len().max(dir.idx() + 1);
        self.dirs.resize_with(places, Dir::default);
        self.dirs[dir.idx()] = Dir::new(Inode::new(number, parent.0, slot));
        self.allocate_all(Who::Dir(dir), 0..1, cx)?;
        self.take_inode(number, cx);
        self.spread.dir_made(group);
        self.enter(parent, slot, cx);
        self.dirty(self.dir_block(dir, 0), cx);
        Ok(())
    }

    fn create(&mut self, file: FileId, dir: DirId, cx: &mut Cx) -> Tried<()> {
        let dir_inode = self.dir_mut(dir)?.inode.number;
        let group = group_of_file(&self.geometry, dir_inode, &self.blocks.bitmap, &self.inodes);
        let group = group.ok_or(Stop::Failed(OpError::NoSpace))?;
        let number = self.free_inode(group, cx)?;
        let slot = self.place_entry(dir, cx)?;
        self.admit(CREDITS, cx)?;
        self.take_inode(number, cx);
        self.touch(Who::File(file), true, cx);
        self.spread.file_made(group);
        self.enter(dir, slot, cx);
        if self.files.len() <= file.idx() {
            self.files.resize_with(file.idx() + 1, || None);
        }
        let mut inode = Inode::new(number, dir.0, slot);
        inode.own.blocks = self.window_blocks;
        if let Some(read_at) = self.read_at.get_mut(file.idx()) {
            *read_at = 0; // not that of a file that had its number before
        }
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
        let to_free = self.read_to_free(inode, cx)?;
        Self::read(self.geometry.inode_bitmap(group), cx)?;
        self.read_inode(number, cx)?;
        self.find_entry(dir, slot, cx)?;
        let is_divided = self.admit_removal(to_free, cx)?;
        cx.wait_written(Owner::of(file)); // a commit that has begun just now may have sent some of it
        cx.wait()?;
        let Some(mut inode) = self.files[file.idx()].take() else { return Ok(()) };
        self.blocks.close(&mut inode.own);
        self.free_blocks(&inode, is_divided, cx);
        self.inodes.give(number..number + 1);
        self.dirty(self.geometry.inode_bitmap(group), cx);
        self.dirty(self.geometry.descriptor(group), cx);
        self.dirty(self.geometry.inode_block(number), cx);
        match &mut self.journal {
            None => self.changes.written(number),
            Some(journal) => journal.change(SUPERBLOCK, cx), // the list of orphans begins there
        }
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
        self.allocate_all(Who::File(file), pages.clone(), cx)?;
        if let Some(journal) = &mut self.journal {
            journal.overwritten(file, &pages, cx);
        }
        Ok(())
    }

    fn written(&mut self, file: FileId, bytes: u64, cx: &mut Cx) -> Tried<()> {
        self.admit(CREDITS, cx)?;
        let step = self.step(cx);
        let Ok(inode) = self.inode_mut(Who::File(file)) else { return Ok(()) };
        let (number, [is_longer, is_later]) = (inode.number, inode.written(bytes, step));
        if is_longer || is_later {
            self.change_inode(number, is_longer, cx);
            self.touch(Who::File(file), is_longer, cx);
        }
        Ok(())
    }

    fn keeps_access_times(&self) -> bool {
        self.options.atime != AccessTimes::Noatime
    }

    fn accessed(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        if !self.keeps_access_times() {
            return Ok(());
        }
        let (inode, step) = (self.inode(Who::File(file))?, self.step(cx));
        let (number, written_at) = (inode.number, inode.changed_at());
        let read_at = self.read_at.get(file.idx()).copied().unwrap_or_default();
        let day = (DAY_NS / self.time_step_ns) as u32;
        let is_old = self.options.atime == AccessTimes::Strictatime || written_at >= read_at || step - read_at >= day;
        if !is_old || step == read_at {
            return Ok(());
        }
        self.read_inode(number, cx)?;
        self.admit(CREDITS, cx)?;
        if self.read_at.len() <= file.idx() {
            self.read_at.resize(file.idx() + 1, 0);
        }
        self.read_at[file.idx()] = step;
        self.change_inode(number, false, cx);
        self.touch(Who::File(file), false, cx);
        Ok(())
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
        if self.journal.is_some() {
            return self.commit_file(file, sync, stage, cx);
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
            if self.options.fsync_flush {
                cx.flush();
            }
        }
        cx.wait()
    }

    fn sync(&mut self, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if self.journal.is_some() && *stage < JOURNAL_EMPTIED {
            self.empty_journal(stage, cx)?;
            *stage = JOURNAL_EMPTIED;
        }
        if *stage == 0 || *stage == JOURNAL_EMPTIED {
            cx.dirty_meta(SUPERBLOCK);
            cx.write_meta([(SUPERBLOCK, SUPERBLOCK)])?;
            *stage = SUPERBLOCK_SENT;
            cx.wait()?;
        }
        if *stage == SUPERBLOCK_SENT {
            *stage += 1;
            if self.journal.as_ref().is_none_or(|journal| journal.has_barriers()) {
                cx.flush();
            }
        }
        cx.wait()
    }

    fn work(&mut self, cx: &mut Cx) -> Tried<Work> {
        self.journal_work(cx)
    }

    fn mounts(&self) -> Mounts {
        if self.journal.is_some() { Mounts::Journal } else { Mounts::InPlace }
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
    /// The time in steps.
    fn step(&self, cx: &Cx) -> u32 {
        (cx.now / self.time_step_ns) as u32
    }

    /// Where a dirty page goes. What inodes have changed to goes with their block.
    fn place(&mut self, key: PageKey) -> Option<Block> {
        let Some(file) = key.owner.file() else {
            if self.journal.is_none()
                && let Some(inode) = self.geometry.first_inode(key.index)
            {
                self.changes.block_written(inode);
            }
            return Some(key.index);
        };
        let run = self.inode(Who::File(file)).ok()?.run(key.index);
        debug_assert!(run.is_some(), "{key:?} was prepared");
        Some(run?.block)
    }

    /// Reads the indirect blocks of a file, and the bitmaps of its groups. Returns how many they are at most.
    fn read_to_free(&self, inode: &Inode, cx: &mut Cx) -> Tried<[u32; 2]> {
        inode.node_blocks().try_for_each(|block| Self::read(block, cx))?;
        let mut last = None;
        let mut groups = 0;
        for block in inode.runs().map(|run| run.block).chain(inode.node_blocks()) {
            let group = block / GROUP_BLOCKS;
            if last.replace(group) != Some(group) {
                Self::read(self.geometry.block_bitmap(group), cx)?;
                groups += 1;
            }
        }
        Ok([groups, inode.node_blocks().count() as u32])
    }

    /// There is room for a removal that changes this number of blocks and frees blocks of metadata. Returns whether it is too large for one
    /// transaction: then its blocks are freed in pieces.
    fn admit_removal(&mut self, [groups, nodes]: [u32; 2], cx: &mut Cx) -> Tried<bool> {
        let Some(journal) = &self.journal else { return Ok(false) };
        let blocks = CREDITS + 2 * groups + nodes.div_ceil(1000);
        let is_divided = blocks > journal.most_at_once() && !cx.is_instant();
        self.admit(if is_divided { CREDITS } else { blocks }, cx)?;
        Ok(is_divided)
    }

    /// The stages of an fsync behind the data: the commit of what had changed then, or a flush where that has been committed.
    fn commit_file(&mut self, file: FileId, sync: Sync, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 1
            && let Some(journal) = &self.journal
        {
            let needed = journal.needed_by(file, sync.data_only);
            let flushes = self.options.fsync_flush && journal.needs_flush(needed);
            *stage = COMMITS + 2 * needed + u32::from(flushes);
        }
        if let Some(asked) = stage.checked_sub(COMMITS) {
            self.reach_commit(asked / 2, cx)?;
            *stage = 2;
            if asked % 2 == 1 {
                cx.flush();
            }
        }
        cx.wait()
    }

    /// Frees the blocks of a file, whose bitmaps are in memory.
    /// `is_divided`: in pieces, and not now.
    fn free_blocks(&mut self, inode: &Inode, is_divided: bool, cx: &mut Cx) {
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.extend(inode.runs().map(|run| run.block..run.block + run.pages));
        ranges.extend(inode.node_blocks().map(|block| block..block + 1));
        ranges.sort_unstable_by_key(|range| range.start);
        let mut touched = Touched::default();
        for blocks in ranges.chunk_by(|before, after| before.end == after.start) {
            let (start, end) = (blocks[0].start, blocks[blocks.len() - 1].end);
            if !is_divided {
                self.free_range(start..end, &mut touched, cx);
            } else if let Some(journal) = &mut self.journal {
                journal.add_orphan(start..end, cx);
                cx.start_work();
            }
        }
        ranges.clear();
        self.ranges = ranges;
        for block in inode.node_blocks() {
            match self.journal.as_mut().filter(|_| !cx.is_instant()) {
                None => cx.forget_meta(block),
                Some(journal) => journal.revoke(block, cx),
            }
        }
    }

    /// Frees blocks of a group, whose bitmap is in memory.
    pub(super) fn free_range(&mut self, blocks: Range<Block>, touched: &mut Touched, cx: &mut Cx) {
        self.change_group(blocks.start / GROUP_BLOCKS, touched, cx);
        if let Some(journal) = self.journal.as_mut().filter(|_| !cx.is_instant()) {
            journal.free(blocks, cx);
            return;
        }
        let (start, count) = (blocks.start, blocks.end - blocks.start);
        self.blocks.bitmap.give(blocks);
        if self.discards {
            cx.trim(start, count);
        }
    }
}
