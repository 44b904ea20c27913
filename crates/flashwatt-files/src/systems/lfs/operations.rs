//! What the log does for operations on files.

use std::ops::Range;

use super::meta::Meta;
use super::segments::Frontier;
use super::tree::{NOWHERE, is_block};
use super::write::touch_translation;
use super::{Lfs, Style};
use crate::disk::WriteCause;
use crate::operation::{DirId, FileId, OpError};
use crate::system::{Block, Cx, FileSystem, Mounts, Owner, PageKey, Run, Stop, Sync, Tried, Usage, Work};

/// Pages that are written in one go. More are written in several, so that each finds clean segments.
const BATCH_PAGES: usize = 1024;

impl Lfs {
    /// A thread calls.
    fn called(&mut self, cx: &Cx) {
        self.called_ns = cx.now;
    }

    /// Metadata has changed. While a disk is laid down, what is new gets its place at once.
    fn changed(&mut self, metas: &[Meta], cx: &mut Cx) {
        metas.iter().for_each(|meta| cx.dirty_meta(meta.index()));
        if cx.is_instant() {
            let new = metas.iter().map(|meta| meta.key()).filter(|&key| self.tree.place(key) == NOWHERE);
            self.lay_down(&new.collect::<Vec<_>>());
        }
    }

    /// There is an inode, and a name in a directory, for one more file or directory; what that changes is in memory.
    fn check_new(&mut self, dir: DirId, cx: &mut Cx) -> Tried<()> {
        if self.layout.inodes == Some(self.tree.inodes_used) {
            return Err(Stop::Failed(OpError::NoSpace));
        }
        let (inode_block, is_new) = self.tree.next_inode_block();
        let name_block = self.tree.next_name_block(dir);
        self.check_room(0, u64::from(is_new) + u64::from(name_block.is_none()))?;
        self.ask_all([inode_block, self.tree.dir_inode_block(dir)].into_iter().chain(name_block), cx)
    }

    /// An fsync of Sprite LFS: the file's dirty pages, and of the metadata on the way to them what is dirty.
    fn sync_file(&mut self, file: FileId, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            let mut data = cx.dirty_pages(Owner::of(file));
            while data.len() > BATCH_PAGES {
                let rest = data.split_off(BATCH_PAGES);
                self.write_out(&data, cx)?;
                data = rest;
            }
            self.change_parents(&data, cx);
            let nodes: Vec<_> = self.tree.all_nodes(file).map(Meta::key).filter(|&key| cx.is_dirty(key)).collect();
            self.change_parents(&nodes, cx);
            let [inode, _, dir] = self.tree.name_blocks(file).map(Meta::key);
            let inodes =
                [Some(inode), (dir != inode).then_some(dir)].into_iter().flatten().filter(|&key| cx.is_dirty(key));
            data.extend(nodes.into_iter().chain(inodes));
            self.write_batch(&data, cx)?;
            *stage = self.log.last();
        }
        self.log.reach_durable(*stage, cx)
    }

    /// An fsync of NILFS2: a checkpoint with all that is dirty. Those who wait for the last one share the next. A file that has not
    /// changed since it was in one makes none, and does not wait.
    fn sync_all(&mut self, file: FileId, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        while *stage == 0 {
            let (number, files) = &self.syncing;
            let waits = self.checkpoints.current() == Some(*number) && files.contains(&file);
            let is_changed = self.changed_files.contains(&file);
            if let Some(current) = self.checkpoints.current().filter(|_| is_changed || waits) {
                self.reach_checkpoint(current, cx)?;
            }
            if !self.changed_files.contains(&file) {
                return Ok(());
            }
            let mut data = cx.all_dirty_pages();
            data.truncate(data.partition_point(|key| key.owner != Owner::META));
            let is_last = data.len() <= BATCH_PAGES;
            data.truncate(BATCH_PAGES);
            self.find_segments(data.len(), cx)?;
            if !is_last {
                self.write_out(&data, cx)?;
            } else if self.checkpoints.current().is_none() {
                let number = self.checkpoints.next();
                self.begin_checkpoint(&data, cx)?;
                self.syncing = (number, std::mem::take(&mut self.changed_files));
                *stage = number;
            }
        }
        self.reach_checkpoint(*stage, cx)
    }

    /// A file has changed: its next fsync has something to do.
    fn note_change(&mut self, file: FileId, cx: &Cx) {
        if self.style == Style::Nilfs2 && !cx.is_instant() {
            self.changed_files.insert(file);
        }
    }

    /// Appends dirty pages, when none of them is on its way and there is room.
    fn write_batch(&mut self, pages: &[PageKey], cx: &mut Cx) -> Tried<()> {
        self.find_segments(pages.len(), cx)?;
        // Afterwards, as cleaning may have sent some of them.
        Self::wait_at_rest(pages.iter().copied(), cx)?;
        self.append(pages, Frontier::Writer, cx.now, cx);
        Ok(())
    }
}

impl FileSystem for Lfs {
    fn usage(&self) -> Usage {
        let blocks = u64::from(self.layout.blocks);
        Usage {
            blocks,
            free_blocks: self.free(),
            overhead_blocks: blocks - self.empty_free(),
            inodes: self.layout.inodes,
            free_inodes: self.layout.inodes.map(|inodes| inodes - self.tree.inodes_used),
        }
    }

    fn make_dir(&mut self, dir: DirId, parent: DirId, cx: &mut Cx) -> Tried<()> {
        self.called(cx);
        self.check_new(parent, cx)?;
        self.check_room(0, 3)?; // the block of its names is new as well
        self.tree.add_dir(dir);
        let name = self.tree.name_dir(parent);
        let own = self.tree.first_name_block(dir);
        self.changed(&[own, name, self.tree.dir_inode_block(dir), self.tree.dir_inode_block(parent)], cx);
        Ok(())
    }

    fn create(&mut self, file: FileId, dir: DirId, cx: &mut Cx) -> Tried<()> {
        self.called(cx);
        self.check_new(dir, cx)?;
        self.tree.add_file(file, dir);
        let [inode, name, dir] = self.tree.name_blocks(file);
        self.changed(&[name, inode, dir], cx);
        self.note_change(file, cx);
        Ok(())
    }

    fn lookup(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        self.called(cx);
        let [inode, name, dir] = self.tree.name_blocks(file);
        self.ask_all([dir, name, inode].into_iter(), cx)
    }

    fn remove(&mut self, file: FileId, cx: &mut Cx) -> Tried<()> {
        self.called(cx);
        let blocks @ [inode, name, dir] = self.tree.name_blocks(file);
        self.ask_all(self.tree.own_nodes(file).chain(blocks), cx)?;
        let last = self.tree.is_last_inode(file).then_some(inode);
        Self::wait_at_rest(self.tree.own_nodes(file).chain(last).map(Meta::key), cx)?;
        let (segments, touched, style) = (&mut self.segments, &mut self.touched, self.style);
        let kill = |block: Block| {
            segments.kill(block);
            if style == Style::Nilfs2 {
                touch_translation(touched, block);
            }
        };
        self.changed_files.remove(&file);
        self.tree.remove(file, kill, |meta| cx.forget_meta(meta.index()));
        self.touched.drain(..).for_each(|table| cx.dirty_meta(Meta::Table(table).index()));
        self.changed(&[name, dir], cx);
        if last.is_none() {
            cx.dirty_meta(inode.index());
        }
        Ok(())
    }

    fn prepare_write(&mut self, file: FileId, pages: Range<u32>, cx: &mut Cx) -> Tried<()> {
        self.called(cx);
        if pages.end > self.layout.blocks {
            return Err(Stop::Failed(OpError::TooLong));
        }
        let inode = self.tree.inode_block(file);
        self.ask_all(self.tree.nodes_of(file, pages.clone()).chain([inode]), cx)?;
        let [new_nodes, new_pages] = self.tree.lacking(file, pages.clone());
        self.check_room(new_pages, new_nodes)?;
        self.tree.reserve(file, pages.clone());
        if cx.is_instant() {
            let data = pages.clone().map(|page| PageKey::new(Owner::of(file), page));
            let nodes = self.tree.nodes_of(file, pages.clone()).map(Meta::key);
            let new = data.chain(nodes).filter(|&key| !is_block(self.tree.place(key)));
            self.lay_down(&new.collect::<Vec<_>>());
        }
        self.tree.nodes_of(file, pages).for_each(|node| cx.dirty_meta(node.index()));
        Ok(())
    }

    fn written(&mut self, file: FileId, _bytes: u64, cx: &mut Cx) -> Tried<()> {
        cx.dirty_meta(self.tree.inode_block(file).index());
        self.note_change(file, cx);
        Ok(())
    }

    fn map(&mut self, page: PageKey, longest: u32, cx: &mut Cx) -> Tried<Option<Run>> {
        if let Some(file) = page.owner.file() {
            self.called(cx);
            let inode = self.tree.inode_block(file);
            self.ask_all(self.tree.nodes_of(file, page.index..page.index + 1).chain([inode]), cx)?;
        }
        let block = self.tree.place(page);
        Ok(is_block(block).then(|| Run { block, pages: self.tree.run(page, longest) }))
    }

    fn write_out(&mut self, pages: &[PageKey], cx: &mut Cx) -> Tried<()> {
        self.change_parents(pages, cx);
        self.write_batch(pages, cx)
    }

    /// Whatever is asked for, the whole file becomes durable: its pages lie together in the log.
    fn fsync(&mut self, file: FileId, _sync: Sync, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        self.called(cx);
        match self.style {
            Style::Sprite => self.sync_file(file, stage, cx),
            Style::Nilfs2 => self.sync_all(file, stage, cx),
        }
    }

    fn sync(&mut self, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            *stage = self.checkpoints.next();
        }
        self.reach_checkpoint(*stage, cx)
    }

    fn work(&mut self, cx: &mut Cx) -> Tried<Work> {
        cx.cause = WriteCause::Expired;
        self.checkpoint_when_due(cx)?;
        if self.clean_in_background(cx)? {
            return Ok(Work::More);
        }
        let idle_at = self.idle_at().map(|at| if at > cx.now { at } else { cx.now + self.settings.clean_idle_ns });
        let next_ns = self.checkpoints.next_ns();
        Ok(Work::At(idle_at.map_or(next_ns, |at| at.min(next_ns))))
    }

    fn mounts(&self) -> Mounts {
        match self.style {
            Style::Sprite => Mounts::RollForward,
            Style::Nilfs2 => Mounts::SuperRoot,
        }
    }

    fn leads_to(&self, file: FileId) -> Vec<u32> {
        self.tree.own_nodes(file).chain([self.tree.inode_block(file)]).map(Meta::index).collect()
    }

    fn used(&self) -> Vec<Range<Block>> {
        let [first, second] = self.layout.regions;
        let region = self.layout.region(self.style, self.tree.inode_blocks());
        let mut used = vec![0..1, first..first + region, second..second + region];
        used.dedup();
        used.extend(self.segments.written());
        used.sort_unstable_by_key(|blocks| blocks.start);
        used
    }

    fn extents(&self, file: FileId) -> Vec<Run> {
        let placed = |pages: &[Block]| is_block(pages[0]).then_some(Run { block: pages[0], pages: pages.len() as u32 });
        let places = self.tree.places(file);
        places.chunk_by(|a, b| is_block(*a) && *b == a + 1).filter_map(placed).collect()
    }
}
