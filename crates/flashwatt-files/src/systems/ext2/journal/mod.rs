//! The journal that makes ext3 of ext2 (Linux 6.1, fs/jbd2, and fs/ext4 as it drives a file system without extents; ordered data).
//!
//! What operations change in metadata belongs to the *running* transaction: its blocks stay in memory, and the flusher does not see them. A
//! *commit* writes it to the log ([`commit`]). Its blocks are dirty from then on, and go home when the flusher comes to them, or when the log
//! has no room left ([`checkpoint`]). Blocks that a file gives back are free when the transaction that says so is committed.
//!
//! An operation that finds the running transaction full, or the log, waits for a commit or for room before it changes anything
//! ([`super::Ext2::admit`]). An operation that waits for a commit makes its next step. The order of the steps does not depend on which
//! operation makes them, and their requests are those of the file system's own process (kjournald).

mod checkpoint;
mod commit;
mod log;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use checkpoint::{Old, TailWrite};
use commit::Commit;
use log::Log;
pub use log::{BLOCKS_MAX, BLOCKS_MIN, lay_down, usual_blocks};

use crate::check::Note;
use crate::operation::FileId;
use crate::system::{Block, Cx, Owner, PageKey, Run, Tried, Work};
use flashwatt_base::units::Nanos;

use super::Ext2;
use super::geometry::GROUP_BLOCKS;
use super::pages::Touched;

/// The number of a transaction, from 1; 0 is before the first one.
type Tid = u32;

/// Blocks that an operation, or a part of one, may change at most: ten of them allocated each in a group of its own, with bitmap and
/// descriptor, and the blocks that lead to them.
pub const CREDITS: u32 = 40;
/// Blocks of the log that stay free (jbd2_log_space_left).
const HEADROOM: u32 = 32;

/// What a user sets.
#[derive(Clone, Copy, Debug)]
pub struct JournalSettings {
    pub commit_ns: Nanos,
    /// Whether flushes make the order of writes hold.
    pub has_barriers: bool,
    /// Whether data that is written over goes before the commit as well.
    pub orders_overwrites: bool,
}

/// What is known of a file.
#[derive(Clone, Debug, Default)]
struct OfFile {
    /// The last transactions that have changed its inode, and what is needed to find its data (i_sync_tid, i_datasync_tid).
    changed: Tid,
    changed_data: Tid,
    /// The last transaction before whose commit these pages are written.
    ordered_in: Tid,
    ordered: Range<u32>,
}

/// The transaction that operations change.
#[derive(Debug, Default)]
struct Running {
    tid: Tid,
    /// When it began; none for one without changes.
    began_ns: Option<Nanos>,
    /// The blocks that it has changed, in this order.
    blocks: Vec<Block>,
    /// Blocks of metadata that it has freed.
    revokes: Vec<Block>,
    /// Files with data that is written first.
    ordered: Vec<FileId>,
    /// Blocks that are free when it is committed.
    freed: Vec<Range<Block>>,
}

/// The journal.
#[derive(Debug)]
pub struct Journal {
    settings: JournalSettings,
    log: Log,
    /// The indirect blocks of its file.
    nodes: Vec<Block>,
    /// Blocks of the log that a transaction may take: a quarter of them.
    most: u32,
    running: Running,
    committing: Option<Box<Commit>>,
    /// All up to this one are committed.
    committed: Tid,
    /// Committed ones that have blocks to be written home, the oldest first, and by block the last of them that has it.
    old: VecDeque<Old>,
    home_of: HashMap<Block, Tid>,
    /// The oldest transaction that a mount has to replay, and where in the log it begins.
    tail: (Tid, u32),
    /// The write of the superblock that moves the tail.
    moves_tail: Option<TailWrite>,
    /// Whether the superblock on the disk says that the log is empty.
    is_flushed: bool,
    files: Vec<OfFile>,
    freed_blocks: u64,
    /// Blocks of files without a name that are not free yet.
    orphans: Vec<Range<Block>>,
}

impl Journal {
    /// An empty one, in a file with these runs and indirect blocks.
    pub fn new(file: &[Run], nodes: Vec<Block>, settings: JournalSettings) -> Self {
        let log = Log::new(file);
        Journal {
            settings,
            most: log.blocks() / 4,
            tail: (1, log.head),
            log,
            nodes,
            running: Running { tid: 1, ..Running::default() },
            committing: None,
            committed: 0,
            old: VecDeque::new(),
            home_of: HashMap::new(),
            moves_tail: None,
            is_flushed: true,
            files: Vec::new(),
            freed_blocks: 0,
            orphans: Vec::new(),
        }
    }

    /// Blocks of its file, indirect ones included.
    pub fn blocks(&self) -> u64 {
        u64::from(self.log.blocks()) + self.nodes.len() as u64
    }

    /// Whether flushes make the order of writes hold.
    pub fn has_barriers(&self) -> bool {
        self.settings.has_barriers
    }

    /// Blocks that are free when a transaction is committed.
    pub fn freed_blocks(&self) -> u64 {
        self.freed_blocks
    }

    /// A block of metadata changes. It is in memory, or its whole content is new.
    #[inline]
    pub fn change(&mut self, block: Block, cx: &mut Cx) {
        if cx.hold_meta(block, self.running.tid) {
            self.running.blocks.push(block);
            self.begin(cx);
        }
    }

    #[inline]
    fn begin(&mut self, cx: &mut Cx) {
        if self.running.began_ns.is_none() {
            self.running.began_ns = Some(cx.now);
            cx.start_work();
        }
    }

    fn of_file(&mut self, file: FileId) -> &mut OfFile {
        if self.files.len() <= file.idx() {
            self.files.resize_with(file.idx() + 1, OfFile::default);
        }
        &mut self.files[file.idx()]
    }

    /// The inode of a file changes. `is_data`: in what is needed to find its data.
    #[inline]
    pub fn touch(&mut self, file: FileId, is_data: bool, cx: &Cx) {
        if cx.is_instant() {
            return;
        }
        let tid = self.running.tid;
        let of = self.of_file(file);
        of.changed = tid;
        if is_data {
            of.changed_data = tid;
        }
    }

    /// The transaction that an fsync of a file needs.
    pub fn needed_by(&self, file: FileId, data_only: bool) -> Tid {
        self.files.get(file.idx()).map_or(0, |of| if data_only { of.changed_data } else { of.changed })
    }

    /// Pages of a file have got these blocks: they are written before the commit.
    #[inline]
    pub fn allocated(&mut self, file: FileId, page: u32, blocks: Range<Block>, cx: &mut Cx) {
        let pages = page..page + (blocks.end - blocks.start);
        self.order(file, &pages, cx);
        if !cx.is_instant() {
            let tid = self.running.tid;
            cx.note(Note::Points(tid, PageKey::new(Owner::of(file), page), blocks));
        }
    }

    /// Pages are written over.
    #[inline]
    pub fn overwritten(&mut self, file: FileId, pages: &Range<u32>, cx: &mut Cx) {
        if self.settings.orders_overwrites {
            self.order(file, pages, cx);
        }
    }

    fn order(&mut self, file: FileId, pages: &Range<u32>, cx: &mut Cx) {
        if cx.is_instant() {
            return;
        }
        let tid = self.running.tid;
        let of = self.of_file(file);
        if std::mem::replace(&mut of.ordered_in, tid) == tid {
            of.ordered = of.ordered.start.min(pages.start)..of.ordered.end.max(pages.end);
        } else {
            of.ordered = pages.clone();
            self.running.ordered.push(file);
            self.begin(cx);
        }
    }

    /// Blocks are given back. They are free when the running transaction is committed.
    pub fn free(&mut self, blocks: Range<Block>, cx: &mut Cx) {
        self.freed_blocks += u64::from(blocks.end - blocks.start);
        let tid = self.running.tid;
        cx.note(Note::Frees(tid, blocks.clone()));
        self.running.freed.push(blocks);
    }

    /// A block of metadata is not used any more: no replay may bring back what it held.
    pub fn revoke(&mut self, block: Block, cx: &mut Cx) {
        cx.forget_meta(block);
        cx.note(Note::Revokes(self.running.tid, block));
        self.running.revokes.push(block);
    }

    /// Blocks of the log that the running transaction takes.
    fn running_blocks(&self) -> u32 {
        commit::log_blocks(self.running.blocks.len(), self.running.revokes.len())
    }

    /// Blocks that one piece of an operation may change at most: an operation that changes more has to be divided.
    pub fn most_at_once(&self) -> u32 {
        self.most / 2
    }

    /// Whether anything is in the running transaction.
    #[cfg(test)]
    pub fn is_running(&self) -> bool {
        self.running.began_ns.is_some()
    }

    /// The runs of its file, and its indirect blocks.
    #[cfg(test)]
    pub fn file(&self) -> (Vec<Run>, &[Block]) {
        (self.log.runs(), &self.nodes)
    }

    /// Whether no file without a name has blocks left.
    #[cfg(test)]
    pub fn is_without_orphans(&self) -> bool {
        self.orphans.is_empty()
    }

    /// Blocks of a file without a name, which are freed in pieces.
    pub fn add_orphan(&mut self, blocks: Range<Block>, cx: &mut Cx) {
        cx.note(Note::Frees(self.running.tid, blocks.clone()));
        self.freed_blocks += u64::from(blocks.end - blocks.start);
        self.orphans.push(blocks);
    }
}

impl Ext2 {
    /// There is room for what an operation, or a part of it, changes next: this number of blocks. The last thing that may wait, or
    /// asked again after what does.
    #[inline]
    pub(super) fn admit(&mut self, credits: u32, cx: &mut Cx) -> Tried<()> {
        let Some(journal) = &self.journal else { return Ok(()) };
        if cx.is_instant() || (journal.running_blocks() + credits <= journal.most && journal.has_room()) {
            return Ok(());
        }
        self.make_admissible(credits, cx)
    }

    #[cold]
    fn make_admissible(&mut self, credits: u32, cx: &mut Cx) -> Tried<()> {
        while let Some(journal) = &self.journal {
            if journal.running_blocks() + credits > journal.most {
                // Its successor begins when it is being committed.
                self.go_on_with_commit(cx)?;
                self.begin_commit(cx);
            } else if !journal.has_room() {
                self.make_room_in_log(cx)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Waits until freed blocks are free. Returns whether there were any.
    pub(super) fn wait_for_freed(&mut self, cx: &mut Cx) -> Tried<bool> {
        if self.journal.as_ref().is_none_or(|journal| journal.freed_blocks == 0) || cx.is_instant() {
            return Ok(false);
        }
        while self.free_orphans(cx)? {}
        let last = self.journal.as_ref().map_or(0, |journal| journal.running.tid);
        self.reach_commit(last, cx)?;
        Ok(true)
    }

    /// Frees a piece of what files without a name have left, as much as a transaction takes. Returns whether there was one.
    fn free_orphans(&mut self, cx: &mut Cx) -> Tried<bool> {
        let Some(journal) = self.journal.as_ref().filter(|journal| !journal.orphans.is_empty()) else {
            return Ok(false);
        };
        let groups = ((journal.most_at_once() - CREDITS) / 2) as usize;
        let all = &journal.orphans;
        let mut seen = 0;
        let mut last = None;
        // Those of one group lie together.
        let is_within = |blocks: &&Range<Block>| {
            let group = blocks.start / GROUP_BLOCKS;
            seen += usize::from(last.replace(group) != Some(group));
            seen <= groups
        };
        let piece: Vec<_> = all.iter().rev().take_while(is_within).cloned().collect();
        for blocks in &piece {
            Self::read(self.geometry.block_bitmap(blocks.start / GROUP_BLOCKS), cx)?;
        }
        self.admit(CREDITS + 2 * groups as u32, cx)?;
        let mut touched = Touched::default();
        for blocks in piece {
            if let Some(journal) = &mut self.journal {
                journal.orphans.pop();
                journal.freed_blocks -= u64::from(blocks.end - blocks.start);
            }
            self.free_range(blocks, &mut touched, cx);
        }
        Ok(true)
    }

    /// What the journal does by itself: it commits what was begun an interval ago, and frees what files without a name have left.
    pub(super) fn journal_work(&mut self, cx: &mut Cx) -> Tried<Work> {
        loop {
            self.go_on_with_commit(cx)?;
            if let Some(journal) = &mut self.journal {
                journal.go_on_with_tail(cx)?;
            }
            if self.free_orphans(cx)? {
                continue;
            }
            let Some(journal) = &self.journal else { return Ok(Work::None) };
            let Some(began_ns) = journal.running.began_ns else { return Ok(Work::None) };
            let due_ns = began_ns.saturating_add(journal.settings.commit_ns);
            if cx.now < due_ns {
                return Ok(Work::At(due_ns));
            }
            self.begin_commit(cx);
        }
    }
}
