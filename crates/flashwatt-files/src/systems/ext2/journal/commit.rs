//! A commit (jbd2_journal_commit_transaction): ordered data and the log's blocks, all waited for; a flush; the commit block; a flush.
//!
//! The commit block goes with `REQ_PREFLUSH` and `REQ_FUA`. A drive without the latter gets a flush after it (block/blk-flush.c), as those behind
//! libata and virtio do.

use std::ops::Range;

use super::checkpoint::Old;
use super::{Ext2, Journal, Running, Tid};
use crate::check::Note;
use crate::disk::WriteCause;
use crate::operation::FileId;
use crate::system::{Block, Cx, FileSystem, Owner, Run, Ticket, Tried};

/// Blocks that a descriptor lists: 12 bytes of header, 8 for each of them, 16 more for the first (journal_block_tag_t without 64 bits and
/// checksums), and as many left over at the end.
const TAGS: usize = 506;
/// Blocks that a revoke block lists: 16 bytes of header, 4 for each of them.
const REVOKES: usize = 1020;

/// Blocks of the log for a transaction with this number of blocks and revoked ones: revoke blocks, descriptors, copies, commit block.
pub fn log_blocks(blocks: usize, revokes: usize) -> u32 {
    (revokes.div_ceil(REVOKES) + blocks.div_ceil(TAGS) + blocks + 1) as u32
}

/// How far a commit has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    /// A flush, when data and log are at the drive.
    Flush,
    Record,
    AfterRecord,
    End,
}

/// A transaction that is being committed.
#[derive(Debug)]
pub struct Commit {
    tid: Tid,
    stage: Stage,
    /// Its blocks, and their versions in the second account.
    copies: Vec<(Block, u64)>,
    revokes: Vec<Block>,
    ordered: Vec<(FileId, Range<u32>)>,
    freed: Vec<Range<Block>>,
    /// Where it begins in the log.
    start: u32,
    /// What it waits for.
    requests: Vec<Ticket>,
    /// The place of the commit block.
    record: Option<Run>,
    /// Whether the tail has moved far enough to be written down.
    moves_tail: Option<(Tid, u32)>,
}

impl Commit {
    pub fn tid(&self) -> Tid {
        self.tid
    }

    /// Where it begins in the log.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Whether what reaches the drive now becomes durable with it (jbd2_trans_will_send_data_barrier).
    fn will_flush(&self) -> bool {
        self.stage <= Stage::Flush
    }
}

impl Journal {
    /// Whether an fsync that needs this transaction has to flush by itself when that is committed: no flush of a commit follows on its data.
    pub fn needs_flush(&self, tid: Tid) -> bool {
        if !self.settings.has_barriers {
            return false;
        }
        match &self.committing {
            Some(commit) if commit.tid == tid => !commit.will_flush(),
            _ => tid <= self.committed,
        }
    }

    fn send_superblock(&mut self, begins: Option<Tid>, cx: &mut Cx) -> Ticket {
        let block = self.log.superblock();
        cx.write_journal_superblock(block, begins)
    }

    pub(super) fn write_tail(&mut self, begins: Option<Tid>, cx: &mut Cx) -> Ticket {
        cx.on_own_account(WriteCause::Commit, |cx| self.send_superblock(begins, cx))
    }

    /// Sends revoke blocks, descriptors and copies.
    fn write_log(&mut self, commit: &mut Commit, cx: &mut Cx) {
        let mut content: Vec<Option<(u32, u64)>> = vec![None; commit.revokes.len().div_ceil(REVOKES)];
        for copies in commit.copies.chunks(TAGS) {
            content.push(None);
            content.extend(copies.iter().map(|&copy| Some(copy)));
        }
        commit.start = self.log.head;
        let mut rest = &content[..];
        for run in self.log.take(content.len() as u32, cx.longest_blocks()) {
            let (now, later) = rest.split_at(run.pages as usize);
            commit.requests.push(cx.write_journal(commit.tid, run.block, now));
            rest = later;
        }
        commit.record = self.log.take(1, 1).pop();
    }

    /// The next step of a commit, all requests of which have ended.
    fn step(&self, commit: &mut Commit, cx: &mut Cx) {
        let has_barriers = self.settings.has_barriers;
        commit.stage = match commit.stage {
            Stage::Flush => {
                commit.requests.extend(has_barriers.then(|| cx.request_flush()));
                Stage::Record
            }
            Stage::Record => {
                if let Some(run) = commit.record {
                    commit.requests.push(cx.write_journal(commit.tid, run.block, &[None]));
                    cx.note(Note::Ends(commit.tid));
                }
                Stage::AfterRecord
            }
            Stage::AfterRecord | Stage::End => {
                commit.requests.extend(has_barriers.then(|| cx.request_flush()));
                Stage::End
            }
        };
    }
}

impl Ext2 {
    /// Waits until a transaction is committed. Begins that, if it has not begun.
    pub(in super::super) fn reach_commit(&mut self, tid: Tid, cx: &mut Cx) -> Tried<()> {
        loop {
            self.go_on_with_commit(cx)?;
            let is_committed = self.journal.as_ref().is_none_or(|journal| journal.running.tid > tid);
            if is_committed || !self.begin_commit(cx) {
                return Ok(());
            }
        }
    }

    /// The running transaction is committed from now on, and the next one runs. None is being committed. Returns whether anything is in it.
    pub(in super::super) fn begin_commit(&mut self, cx: &mut Cx) -> bool {
        let Some(journal) = self.journal.as_mut().filter(|journal| journal.running.began_ns.is_some()) else {
            return false;
        };
        let next = Running { tid: journal.running.tid + 1, ..Running::default() };
        let Running { tid, blocks, revokes, ordered, freed, .. } = std::mem::replace(&mut journal.running, next);
        // One that was freed after its change is not held any more.
        let held = blocks.into_iter().filter(|&block| cx.holder(block) == tid);
        let copies = held.map(|block| (block, cx.meta_version(block))).collect();
        // The list of inodes has the last one first.
        let files = &journal.files;
        let ordered = ordered.iter().rev().map(|&file| (file, files[file.idx()].ordered.clone())).collect();
        let start = journal.log.head;
        let mut commit = Commit {
            tid,
            stage: Stage::Flush,
            copies,
            revokes,
            ordered,
            freed,
            start,
            requests: Vec::new(),
            record: None,
            moves_tail: None,
        };
        journal.let_old_go(cx);
        let oldest = journal.old.front().map_or((tid, start), |old| (old.tid, old.start));
        commit.moves_tail = Some(oldest).filter(|to| journal.log.between(journal.tail.1, to.1) >= journal.most);
        cx.on_own_account(WriteCause::Commit, |cx| self.send_commit(&mut commit, cx));
        if let Some(journal) = &mut self.journal {
            journal.committing = Some(Box::new(commit));
        }
        cx.start_work(); // somebody makes the next step, if nobody waits
        true
    }

    /// Sends what goes before the commit block: data, log, and the journal's superblock if it says that the log is empty.
    fn send_commit(&mut self, commit: &mut Commit, cx: &mut Cx) {
        self.write_ordered(commit, cx);
        let Some(journal) = &mut self.journal else { return };
        if std::mem::take(&mut journal.is_flushed) {
            journal.tail = (commit.tid, commit.start);
            commit.requests.push(journal.send_superblock(Some(commit.tid), cx));
        }
        journal.write_log(commit, cx);
    }

    /// Goes on with the commit under way, until it has ended.
    pub(in super::super) fn go_on_with_commit(&mut self, cx: &mut Cx) -> Tried<()> {
        let Some(mut commit) = self.journal.as_mut().and_then(|journal| journal.committing.take()) else {
            return Ok(());
        };
        loop {
            commit.requests.retain(|&request| cx.is_under_way(request));
            if !commit.requests.is_empty() {
                commit.requests.iter().for_each(|&request| cx.wait_until_ended(request));
                if let Some(journal) = &mut self.journal {
                    journal.committing = Some(commit);
                }
                return cx.wait();
            }
            if commit.stage == Stage::End {
                break;
            }
            if let Some(journal) = &mut self.journal {
                cx.on_own_account(WriteCause::Commit, |cx| journal.step(&mut commit, cx));
            }
        }
        self.end_commit(*commit, cx);
        Ok(())
    }

    /// Sends the data that has to be at the drive before the commit block is, and waits for what of it is on its way already.
    fn write_ordered(&mut self, commit: &mut Commit, cx: &mut Cx) {
        for (file, pages) in &commit.ordered {
            let owner = Owner::of(*file);
            let dirty = cx.resting_dirty_pages(owner, pages);
            // Nothing is left to be waited for: pages in place have their blocks.
            let sent = self.write_out(&dirty, cx);
            debug_assert!(sent.is_ok());
            cx.requests_writing(owner, pages, &mut commit.requests);
        }
    }

    /// A transaction is committed: its blocks are dirty, and what it has freed is free.
    fn end_commit(&mut self, commit: Commit, cx: &mut Cx) {
        let Some(journal) = &mut self.journal else { return };
        journal.committed = commit.tid;
        let mut blocks = std::collections::VecDeque::with_capacity(commit.copies.len());
        for (block, _) in commit.copies {
            cx.let_go_meta(block, commit.tid);
            journal.home_of.insert(block, commit.tid);
            blocks.push_back(block);
        }
        journal.old.push_back(Old { tid: commit.tid, start: commit.start, blocks });
        for blocks in commit.freed {
            journal.freed_blocks -= u64::from(blocks.end - blocks.start);
            self.blocks.bitmap.give(blocks.clone());
            if self.discards {
                cx.trim(blocks.start, blocks.end - blocks.start);
            }
        }
        if let Some(to) = commit.moves_tail {
            journal.begin_to_move_tail(to, true);
            cx.start_work();
        }
    }
}
