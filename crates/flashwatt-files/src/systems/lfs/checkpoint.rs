//! Checkpoints: all metadata in the log, and what says where it begins.
//!
//! One is under way at a time. Each task that needs one does its next step, until the step has to wait for a request. When the
//! checkpoint is durable, the segments that had no live block when it began are clean: before, a crash would bring their content back.
//!
//! In `lfs` a mount reads the logs behind the checkpoint as well, and finds there what was moved or removed since. So a segment that no
//! such log lies in is clean as soon as the logs are durable that emptied it; one that holds such a log waits for the next checkpoint.

use super::log::LogId;
use super::meta::Meta;
use super::segments::Frontier;
use super::write::touch_translation;
use super::{Lfs, Style};
use crate::system::{Cx, Owner, PageKey, Tried};
use flashwatt_base::units::Nanos;

/// Time in ns between writes of a superblock of NILFS2 (NILFS_SB_FREQ).
const SUPERBLOCK_NS: Nanos = 10_000_000_000;

/// The checkpoints.
#[derive(Debug)]
pub struct Checkpoints {
    /// Number of those that have ended.
    ended: u32,
    /// The last log that the last one covers.
    covered: LogId,
    current: Option<Current>,
    /// When the next one is due, and its number once it was asked for.
    next_ns: Nanos,
    due: Option<u32>,
    /// Which of the two regions is next, and when it is written at the earliest.
    region: usize,
    region_ns: Nanos,
}

/// The one that is under way.
#[derive(Debug)]
struct Current {
    /// The log with its metadata.
    metadata: LogId,
    /// What has to be durable next.
    log: LogId,
    /// Whether the region has been sent, or is not written.
    is_last: bool,
    released: Vec<u32>,
}

impl Checkpoints {
    pub fn new(interval_ns: Nanos) -> Self {
        Checkpoints {
            ended: 0,
            covered: 0,
            current: None,
            next_ns: interval_ns,
            due: None,
            region: 0,
            region_ns: SUPERBLOCK_NS,
        }
    }

    /// The number of the first checkpoint that begins from now on.
    pub fn next(&self) -> u32 {
        self.ended + 1 + u32::from(self.current.is_some())
    }

    /// The last log that a mount need not read.
    pub fn covered(&self) -> LogId {
        self.covered
    }

    /// The one that is under way.
    pub fn current(&self) -> Option<u32> {
        self.current.as_ref().map(|_| self.ended + 1)
    }

    /// When the next one is due.
    pub fn next_ns(&self) -> Nanos {
        self.next_ns
    }
}

impl Lfs {
    /// Waits until the checkpoint of this number has ended. Begins it and those before it, if they have not.
    pub(super) fn reach_checkpoint(&mut self, number: u32, cx: &mut Cx) -> Tried<()> {
        while self.checkpoints.ended < number {
            if self.checkpoints.current.is_none() {
                self.begin_checkpoint(&[], cx)?;
            }
            self.go_on_with_checkpoint(cx)?;
        }
        Ok(())
    }

    /// Appends pages of files, all metadata that is dirty, and, in `nilfs2`, a super root. No checkpoint is under way.
    pub(super) fn begin_checkpoint(&mut self, data: &[PageKey], cx: &mut Cx) -> Tried<()> {
        self.change_parents(data, cx);
        self.change_parents(&cx.dirty_pages(Owner::META), cx);
        if self.style == Style::Nilfs2 {
            self.change_tables(data, cx);
        }
        let pages = [data, &cx.dirty_pages(Owner::META)].concat();
        Self::wait_at_rest(pages.iter().copied(), cx)?;
        // What is emptied by this log itself is not released by it: its old blocks are what the last checkpoint points to.
        let released = self.segments.take_emptied(LogId::MAX);
        self.append(&pages, Frontier::Writer, cx.now, cx);
        let is_last = self.style == Style::Nilfs2 && cx.now < self.checkpoints.region_ns;
        let log = self.log.last();
        if self.style == Style::Nilfs2 {
            cx.ends_in_root(log);
        }
        self.checkpoints.current = Some(Current { metadata: log, log, is_last, released });
        Ok(())
    }

    /// The tables that a log with these pages changes: translations of old places, and of new ones, which follow on the present end of
    /// the log; the checkpoint's own, and the super root.
    fn change_tables(&mut self, data: &[PageKey], cx: &mut Cx) {
        let metas = cx.dirty_pages(Owner::META);
        let moves = data.iter().chain(metas.iter().filter(|key| !matches!(Meta::of(key.index), Meta::Table(_))));
        let mut block = self.segments.next_block(Frontier::Writer);
        for &key in moves {
            block += 1;
            touch_translation(&mut self.touched, self.tree.place(key));
            touch_translation(&mut self.touched, block.min(self.layout.blocks - 1));
        }
        let own = self.layout.checkpoint_tables();
        self.touched.extend(own);
        self.touched.drain(..).for_each(|table| cx.dirty_meta(Meta::Table(table).index()));
    }

    fn go_on_with_checkpoint(&mut self, cx: &mut Cx) -> Tried<()> {
        while let Some(current) = &self.checkpoints.current {
            let is_last = current.is_last;
            self.log.reach_durable(current.log, cx)?;
            if is_last { self.end_checkpoint(cx) } else { self.send_region(cx) }
        }
        Ok(())
    }

    fn send_region(&mut self, cx: &mut Cx) {
        let blocks = self.layout.region(self.style, self.tree.inode_blocks());
        let log = self.log.begin();
        cx.log_begins(log);
        cx.region_covers(self.log_covered());
        self.log.add(cx.write_blocks(self.layout.regions[self.checkpoints.region], blocks));
        self.checkpoints.region = 1 - self.checkpoints.region;
        self.checkpoints.region_ns = cx.now + SUPERBLOCK_NS;
        if let Some(current) = &mut self.checkpoints.current {
            (current.log, current.is_last) = (log, true);
        }
    }

    /// The last log that the checkpoint under way covers.
    fn log_covered(&self) -> LogId {
        self.checkpoints.current.as_ref().map_or(0, |current| current.metadata)
    }

    fn end_checkpoint(&mut self, cx: &mut Cx) {
        let Some(current) = self.checkpoints.current.take() else { return };
        self.checkpoints.ended += 1;
        self.checkpoints.covered = current.metadata;
        self.release(current.released, cx);
    }

    /// Segments are clean.
    pub(super) fn release(&mut self, segments: Vec<u32>, cx: &mut Cx) {
        for segment in segments {
            if self.settings.trims {
                cx.trim(self.segments.begin(segment), self.segments.used_blocks(segment));
            }
            self.segments.release(segment);
            self.cleaner.forget(segment);
            cx.dirty_meta(Meta::Table(self.layout.usage_of(segment)).index());
        }
    }

    /// The checkpoint that is due at an interval, if anything has changed.
    pub(super) fn checkpoint_when_due(&mut self, cx: &mut Cx) -> Tried<()> {
        if self.checkpoints.due.is_none() {
            if cx.now < self.checkpoints.next_ns {
                return Ok(());
            }
            self.checkpoints.next_ns = cx.now + self.settings.checkpoint_ns;
            let is_changed = !self.log.is_durable() || !cx.dirty_pages(Owner::META).is_empty();
            self.checkpoints.due = is_changed.then(|| self.checkpoints.next());
        }
        if let Some(number) = self.checkpoints.due {
            self.reach_checkpoint(number, cx)?;
            self.checkpoints.due = None;
        }
        Ok(())
    }
}
