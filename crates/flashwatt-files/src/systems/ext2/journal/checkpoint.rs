//! Checkpoints: what is home need not be replayed, and its blocks of the log are free (fs/jbd2/checkpoint.c).

use std::collections::VecDeque;

use super::{Ext2, HEADROOM, Journal, Tid};
use crate::disk::WriteCause;
use crate::system::{Block, Cx, Owner, Ticket, Tried};

/// A committed transaction.
#[derive(Debug)]
pub struct Old {
    pub tid: Tid,
    /// Where it begins in the log.
    pub start: u32,
    /// Those of its blocks that may not be home.
    pub blocks: VecDeque<Block>,
}

/// The write of the superblock that says where the log begins.
#[derive(Debug)]
pub struct TailWrite {
    to: (Tid, u32),
    stage: TailStage,
    request: Option<Ticket>,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TailStage {
    /// A flush: what is home is durable.
    Flush,
    Superblock,
    /// A flush: so is the superblock, before the blocks are used again.
    Durable,
    End,
}

impl Journal {
    /// Blocks of the log that are free for transactions to come.
    fn space_left(&self) -> u32 {
        self.log.free.saturating_sub(HEADROOM)
    }

    /// Whether a transaction of any length can be committed.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.space_left() >= self.most
    }

    /// Forgets blocks that are home, and transactions without others, from the oldest on (__jbd2_journal_clean_checkpoint_list).
    pub fn let_old_go(&mut self, cx: &Cx) {
        while let Some(oldest) = self.old.front_mut() {
            while let Some(&block) = oldest.blocks.front() {
                let is_last = self.home_of.get(&block) == Some(&oldest.tid);
                if is_last && !cx.is_at_rest(block) {
                    return;
                }
                if is_last {
                    self.home_of.remove(&block);
                }
                oldest.blocks.pop_front();
            }
            self.old.pop_front();
        }
    }

    /// The oldest transaction that is not home, and where it begins.
    pub fn oldest(&self) -> (Tid, u32) {
        if let Some(old) = self.old.front() {
            return (old.tid, old.start);
        }
        match &self.committing {
            Some(commit) => (commit.tid(), commit.start()),
            None => (self.running.tid, self.log.head),
        }
    }

    /// The superblock is to say that the log begins here. `is_durable`: what is home is so already.
    pub fn begin_to_move_tail(&mut self, to: (Tid, u32), is_durable: bool) {
        let stage = if is_durable || !self.settings.has_barriers { TailStage::Superblock } else { TailStage::Flush };
        self.moves_tail.get_or_insert(TailWrite { to, stage, request: None });
    }

    /// Goes on with that, until the blocks are free.
    pub fn go_on_with_tail(&mut self, cx: &mut Cx) -> Tried<()> {
        while let Some(mut write) = self.moves_tail.take() {
            if let Some(request) = write.request.filter(|&request| cx.is_under_way(request)) {
                self.moves_tail = Some(write);
                cx.wait_until_ended(request);
                return cx.wait();
            }
            let has_barriers = self.settings.has_barriers;
            let flush = |cx: &mut Cx| cx.on_own_account(WriteCause::Commit, |cx| cx.request_flush());
            (write.stage, write.request) = match write.stage {
                TailStage::Flush => (TailStage::Superblock, Some(flush(cx))),
                TailStage::Superblock => (TailStage::Durable, Some(self.write_tail(Some(write.to.0), cx))),
                TailStage::Durable => (TailStage::End, has_barriers.then(|| flush(cx))),
                TailStage::End => {
                    self.log.free += self.log.between(self.tail.1, write.to.1);
                    self.tail = write.to;
                    return Ok(());
                }
            };
            self.moves_tail = Some(write);
        }
        Ok(())
    }
}

impl Ext2 {
    /// Makes room in the log, one transaction at a time (__jbd2_log_wait_for_space).
    pub(super) fn make_room_in_log(&mut self, cx: &mut Cx) -> Tried<()> {
        while let Some(journal) = &mut self.journal {
            journal.go_on_with_tail(cx)?;
            if journal.has_room() {
                break;
            }
            journal.let_old_go(cx);
            let new = journal.oldest();
            if new.1 != journal.tail.1 {
                journal.begin_to_move_tail(new, false);
            } else if journal.old.is_empty() {
                // All of the log is of the transaction that is being committed.
                self.go_on_with_commit(cx)?;
            } else {
                self.write_oldest_home(cx)?;
            }
        }
        Ok(())
    }

    /// Writes the blocks of the oldest transaction home, and waits for them (jbd2_log_do_checkpoint).
    fn write_oldest_home(&mut self, cx: &mut Cx) -> Tried<()> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let Some(oldest) = journal.old.front() else { return Ok(()) };
        let is_last = |block: &Block| journal.home_of.get(block) == Some(&oldest.tid);
        let blocks: Vec<Block> = oldest.blocks.iter().copied().filter(is_last).collect();
        // One that has changed since goes home with a later transaction.
        if let Some(holder) = blocks.iter().map(|&block| cx.holder(block)).filter(|&holder| holder != 0).max() {
            return self.reach_commit(holder, cx);
        }
        let blocks = blocks.into_iter().map(|block| (block, block));
        cx.on_own_account(WriteCause::Cleaning, |cx| cx.write_meta(blocks))?;
        cx.wait()
    }

    /// Makes everything durable at home, and the journal empty, in stages.
    pub(in super::super) fn empty_journal(&mut self, stage: &mut u32, cx: &mut Cx) -> Tried<()> {
        if *stage == 0 {
            while self.free_orphans(cx)? {}
            self.go_on_with_commit(cx)?;
            self.begin_commit(cx);
            self.go_on_with_commit(cx)?;
            if let Some(journal) = &mut self.journal {
                journal.go_on_with_tail(cx)?;
            }
            let dirty: Vec<_> = cx.dirty_pages(Owner::META).into_iter().map(|key| (key.index, key.index)).collect();
            cx.write_meta(dirty)?;
            cx.wait_written(Owner::META);
            *stage = 1;
            cx.wait()?;
        }
        let Some(journal) = &mut self.journal else { return Ok(()) };
        if *stage == 1 {
            *stage = 2;
            if journal.settings.has_barriers {
                cx.flush();
                cx.wait()?;
            }
        }
        if *stage == 2 {
            *stage = 3;
            let request = journal.write_tail(None, cx);
            journal.old.clear();
            journal.home_of.clear();
            journal.log.reset();
            journal.tail = (journal.running.tid, journal.log.head);
            journal.is_flushed = true;
            cx.wait_until_ended(request);
            cx.wait()?;
        }
        Ok(())
    }
}
