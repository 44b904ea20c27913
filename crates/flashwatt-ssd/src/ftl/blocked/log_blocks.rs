//! Log blocks that all logical blocks share: the core of FAST and LAST.
//!
//! Each logical block has a data block ([`DataBlocks`]). A page that its data block cannot take any more goes to the *log
//! area*, which is small and mapped by pages:
//!
//! - A *sequential log block* belongs to one logical block and holds its first pages in order, from offset 0 on, so that it
//!   can become the data block. A write at offset 0 opens one; a write of the next page is appended. When the limit of open ones
//!   is reached, the least recently used one is merged: by a switch merge if it is complete, by a partial merge if its pages
//!   are still the newest, else by a full merge. One without valid pages is only erased.
//! - All other pages go to *random log blocks*, pages of all logical blocks together, round the dies, channels first. When a die
//!   has used its share, one of its random log blocks is reclaimed: every logical block with a valid page in it gets a fresh data
//!   block (one full merge each, or the merge of its sequential log block if it has one). Then the log block is erased.
//!
//! The schemes differ by their [`LogPolicy`]: which requests count as sequential, which of a die's open random log blocks
//! takes a page, and which full one is reclaimed. Source: Lee et al. 2007 (FAST) and 2008 (LAST).
//!
//! Freedom from deadlock: each die has room for all data blocks, its share of the log, and one more block. So while no
//! erase of a die is running, the die has an erased block for a merge, and one for every log block that it lacks. A write that
//! finds no block returns how many pages it placed. The reclaiming of a random log block continues where it stopped, because
//! merged pages are no longer valid there.

use super::data_blocks::{DataBlocks, ENTRY_BYTES, Lbn, OnDataBlocks};
use super::log_size::{LogSize, Quota};
use crate::blocks::BlockTable;
use crate::ftl::plan::Plan;
use crate::ftl::{Claims, RestoredDrive};
use crate::ftl::{Context, Setup};
use crate::nand::Geometry;
use crate::operation::Cause;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};
use flashwatt_core::connector::Extent;

/// The decisions of a scheme.
pub trait LogPolicy: 'static {
    /// Open random log blocks on each die.
    const FRONTIERS: usize;

    /// Smallest number of log blocks on each die that the scheme can work with: a sequential one and the open random ones.
    const LEAST_PER_DIE: u32 = 1 + Self::FRONTIERS as u32;

    /// Whether pages of a request of this number of pages may go to sequential log blocks.
    fn is_sequential(&self, request_pages: u32) -> bool;

    /// Whether the sequential log block of a logical block is merged before a page of this block goes to the random log.
    fn merges_out_of_order(&self) -> bool {
        false
    }

    /// The open random log block that a page goes to, below [`Self::FRONTIERS`]. `old` is the page's address until now.
    fn frontier(&self, _old: Option<Ppn>) -> usize {
        0
    }

    /// A random log block has been opened for a frontier.
    fn opened(&mut self, _block: BlockId, _frontier: usize) {}

    /// A page was written to a random log block.
    fn logged(&mut self, _at: Ppn) {}

    /// A random log block is going to be erased.
    fn reclaimed(&mut self, _block: BlockId) {}

    /// Writes the scheme's state of a random log block to a snapshot.
    fn save_block(&self, _block: BlockId, _out: &mut StateWriter) {}

    /// Restores the scheme's state of a random log block, which was opened before on a fresh drive.
    ///
    /// # Errors
    /// If the file does not hold such a state.
    fn restore_block(&mut self, _block: BlockId, _from: &mut StateReader) -> Result<(), Flaw> {
        Ok(())
    }

    /// The random log block to reclaim next, of a die's full ones: the oldest first, one at least.
    fn victim(&mut self, full: impl Iterator<Item = BlockId> + Clone, blocks: &BlockTable) -> Option<BlockId>;
}

/// A sequential log block.
#[derive(Clone, Copy)]
struct SequentialLog {
    of: Lbn,
    block: BlockId,
}

/// A die's random log blocks.
#[derive(Clone, Default)]
struct DieLog {
    /// The oldest first.
    blocks: Vec<BlockId>,
    /// The open block of each frontier. A frontier with a full block or none needs another one.
    open: Vec<Option<BlockId>>,
    /// The block that is being reclaimed.
    victim: Option<BlockId>,
}

/// A translation layer of data blocks and shared log blocks.
pub struct LogFtl<P> {
    data: DataBlocks,
    policy: P,
    quota: Quota,
    /// Sequential log blocks, the least recently used first.
    sequential: Vec<SequentialLog>,
    random: FlatTable<DieLog>,
    /// The die that takes the next page.
    next_die: u32,
}

impl<P: LogPolicy> LogFtl<P> {
    /// The layer of a fresh drive, with at most `sequential` sequential log blocks.
    pub fn with(
        setup: &Setup,
        geometry: &Geometry,
        size: &LogSize,
        sequential: u32,
        policy: impl FnOnce(Quota) -> P,
    ) -> Self {
        let quota = Quota::new(sequential, size.per_die(geometry, P::LEAST_PER_DIE), geometry.dies);
        let log = DieLog { open: vec![None; P::FRONTIERS], ..DieLog::default() };
        LogFtl {
            data: DataBlocks::new(setup, geometry),
            policy: policy(quota),
            quota,
            sequential: Vec::new(),
            random: vec![log; geometry.dies as usize].into(),
            next_die: 0,
        }
    }

    // ---------------------------------------------------------------- where a page goes

    /// The address for a page of the host, if there is one.
    fn destination(&mut self, lpn: Lpn, request_pages: u32, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        let (of, offset) = (self.data.logical_block(lpn), self.data.offset(lpn));
        let Some(data) = self.data.data_block(of) else { return self.open_data(of, offset, cx, plan) };
        if self.data.is_open(data, offset, cx) {
            return Some(self.data.address(data, offset));
        }
        if self.policy.is_sequential(request_pages) {
            if offset == 0 {
                return self.open_sequential(of, cx, plan);
            }
            if let Some(block) = self.continued(of, offset) {
                return Some(self.data.address(block, offset));
            }
            if self.policy.merges_out_of_order()
                && let Some(at) = self.sequential_of(of)
            {
                let has_merged = self.merge_sequential(at, cx, plan);
                return if has_merged { self.destination(lpn, request_pages, cx, plan) } else { None };
            }
        }
        let at = self.random_page(self.policy.frontier(self.data.get(lpn)), cx, plan)?;
        self.policy.logged(at);
        Some(at)
    }

    /// Opens the first data block of a logical block.
    fn open_data(&mut self, of: Lbn, offset: u32, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        let block = self.data.take_block(self.data.home(of), cx)?;
        self.data.set_data_block(of, block, cx, plan);
        Some(self.data.address(block, offset))
    }

    // ---------------------------------------------------------------- sequential log blocks

    /// The position of a logical block's sequential log block in the list.
    fn sequential_of(&self, of: Lbn) -> Option<usize> {
        self.sequential.iter().position(|log| log.of == of)
    }

    /// The sequential log block that a page continues. It becomes the most recently used one.
    fn continued(&mut self, of: Lbn, offset: u32) -> Option<BlockId> {
        let at = self.sequential_of(of)?;
        let log = self.sequential[at];
        if self.data.written(log.block) != offset {
            return None;
        }
        self.sequential[at..].rotate_left(1);
        Some(log.block)
    }

    /// Opens a sequential log block, after a merge if the limit is reached.
    fn open_sequential(&mut self, of: Lbn, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        let home = self.data.home(of);
        while let Some(at) = self.sequential_in_the_way(of, home) {
            if !self.merge_sequential(at, cx, plan) {
                return None;
            }
        }
        let block = self.data.take_block(home, cx)?;
        self.sequential.push(SequentialLog { of, block });
        Some(self.data.address(block, 0))
    }

    /// The sequential log block to merge before this logical block gets one: its own, or the least recently used one of the
    /// drive, or that of its die.
    fn sequential_in_the_way(&self, of: Lbn, home: DieId) -> Option<usize> {
        let is_there = |log: &SequentialLog| self.data.home(log.of) == home;
        let on_die = self.sequential.iter().filter(|log| is_there(log)).count() as u32;
        if let Some(own) = self.sequential_of(of) {
            Some(own)
        } else if on_die >= self.quota.sequential_per_die {
            self.sequential.iter().position(is_there)
        } else {
            (self.sequential.len() as u32 >= self.quota.sequential).then_some(0)
        }
    }

    /// Merges a sequential log block. Returns false if there is no free block for that.
    fn merge_sequential(&mut self, at: usize, cx: &mut Context, plan: &mut Plan) -> bool {
        let SequentialLog { of, block } = self.sequential[at];
        if cx.blocks.valid_units(block) == 0 {
            self.data.erase(block, Cause::Merge, cx, plan);
        } else if self.data.is_in_order(block, of, cx) {
            self.data.take_over(of, block, cx, plan);
        } else {
            let Some(fresh) = self.data.take_block(self.data.home(of), cx) else { return false };
            self.data.full_merge(of, fresh, cx, plan);
            self.data.erase(block, Cause::Merge, cx, plan);
        }
        self.sequential.remove(at);
        true
    }

    // ---------------------------------------------------------------- random log blocks

    /// The next page for a frontier, on the die whose turn it is or the first one after it with a page.
    #[inline]
    fn random_page(&mut self, frontier: usize, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        for _ in 0..self.data.geometry().dies {
            let die = DieId(self.next_die);
            self.next_die = if die.0 + 1 == self.data.geometry().dies { 0 } else { die.0 + 1 };
            if let Some(at) = self.random_page_on(die, frontier, cx, plan) {
                return Some(at);
            }
        }
        None
    }

    #[inline]
    fn random_page_on(&mut self, die: DieId, frontier: usize, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        let open = self.random[die.idx()].open[frontier].filter(|&block| !self.is_full(block));
        let block = match open {
            Some(block) => block,
            None => self.open_random(die, frontier, cx, plan)?,
        };
        Some(self.data.address(block, self.data.written(block)))
    }

    #[inline]
    fn is_full(&self, block: BlockId) -> bool {
        self.data.written(block) == self.data.geometry().pages_per_block
    }

    /// Opens a random log block on a die, after another one is reclaimed if the limit is reached.
    fn open_random(&mut self, die: DieId, frontier: usize, cx: &mut Context, plan: &mut Plan) -> Option<BlockId> {
        let used = self.random[die.idx()].blocks.len() as u32;
        if used >= self.quota.random_per_die && !self.reclaim(die, cx, plan) {
            return None;
        }
        let block = self.data.take_block(die, cx)?;
        let log = &mut self.random[die.idx()];
        log.blocks.push(block);
        log.open[frontier] = Some(block);
        self.policy.opened(block, frontier);
        Some(block)
    }

    /// Merges the valid pages of one of a die's random log blocks and erases it. Returns false if it had to stop before the end.
    fn reclaim(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) -> bool {
        let Some(victim) = self.victim(die, cx) else { return false };
        while let Some(lpn) = first_valid(victim, cx) {
            if !self.merge(self.data.logical_block(lpn), cx, plan) {
                return false;
            }
        }
        let log = &mut self.random[die.idx()];
        log.victim = None;
        log.blocks.retain(|&block| block != victim);
        log.open.iter_mut().for_each(|open| *open = open.filter(|&block| block != victim));
        self.policy.reclaimed(victim);
        self.data.erase(victim, Cause::Merge, cx, plan);
        true
    }

    /// The random log block of a die that is being merged.
    fn victim(&mut self, die: DieId, cx: &Context) -> Option<BlockId> {
        let (data, log) = (&self.data, &mut self.random[die.idx()]);
        let pages = data.geometry().pages_per_block;
        let full = log.blocks.iter().copied().filter(|&block| data.written(block) == pages);
        log.victim = log.victim.or_else(|| self.policy.victim(full, cx.blocks));
        log.victim
    }

    /// Copies the newest version of every page of a logical block into a data block. Returns false if there is no free block.
    fn merge(&mut self, of: Lbn, cx: &mut Context, plan: &mut Plan) -> bool {
        if let Some(at) = self.sequential_of(of) {
            return self.merge_sequential(at, cx, plan);
        }
        let Some(fresh) = self.data.take_block(self.data.home(of), cx) else { return false };
        self.data.full_merge(of, fresh, cx, plan);
        true
    }
}

/// The first valid page of a block.
fn first_valid(block: BlockId, cx: &Context) -> Option<Lpn> {
    cx.blocks.valid_lpns(block).next()
}

impl<P: LogPolicy + Send> OnDataBlocks for LogFtl<P> {
    fn data(&self) -> &DataBlocks {
        &self.data
    }

    fn data_mut(&mut self) -> &mut DataBlocks {
        &mut self.data
    }

    fn write_some(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> u32 {
        let lpn = Lpn(extent.first.0 + i);
        let Some(to) = self.destination(lpn, extent.request_pages, cx, plan) else { return 0 };
        self.data.program(lpn, extent.is_partial(i), to, cx, plan);
        1
    }

    /// Any block can be a random log block, while its die may have another one. One that is not full stays open.
    fn adopt(&mut self, block: BlockId, _blocks: &BlockTable) -> bool {
        let is_full = self.is_full(block);
        let log = &mut self.random[self.data.geometry().die_of_block(block).idx()];
        if log.blocks.len() as u32 >= self.quota.random_per_die {
            return false;
        }
        log.blocks.push(block);
        let frontier = log.open.iter().position(Option::is_none).filter(|_| !is_full);
        match frontier {
            Some(frontier) => log.open[frontier] = Some(block),
            None => self.data.use_up(block),
        }
        self.policy.opened(block, frontier.unwrap_or(0));
        true
    }

    /// Random log blocks take pages of all addresses, on all dies in turn.
    fn home(&self, _lpn: Lpn) -> Option<DieId> {
        None
    }

    /// A table of data blocks, and one of the pages of the log area.
    fn mapping_bytes(&self) -> u64 {
        let geometry = self.data.geometry();
        let log_blocks = self.quota.random_per_die * geometry.dies + self.quota.sequential;
        let log_pages = u64::from(log_blocks) * u64::from(geometry.pages_per_block);
        (u64::from(self.data.logical_blocks()) + log_pages) * ENTRY_BYTES
    }

    fn save_own(&self, out: &mut StateWriter) {
        out.u32(self.next_die);
        out.u32(self.sequential.len() as u32);
        for log in &self.sequential {
            out.u32(log.of.0);
            out.u32(log.block.0);
        }
        for log in self.random.iter() {
            out.u32(log.blocks.len() as u32);
            for &block in &log.blocks {
                out.u32(block.0);
                self.policy.save_block(block, out);
            }
            log.open.iter().chain([&log.victim]).for_each(|block| out.u32(block.unwrap_or(BlockId::NONE).0));
        }
    }

    fn restore_own(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        let dies = self.data.geometry().dies;
        self.next_die = from.below(dies, "die")?;
        for _ in 0..from.len(self.quota.sequential as usize, "sequential log blocks")? {
            self.restore_sequential(from, claims, drive)?;
        }
        (0..dies).map(DieId).try_for_each(|die| self.restore_random(die, from, claims, drive))
    }
}

impl<P: LogPolicy> LogFtl<P> {
    fn restore_sequential(
        &mut self,
        from: &mut StateReader,
        claims: &mut Claims,
        drive: &RestoredDrive,
    ) -> Result<(), Flaw> {
        let of = Lbn(from.below(self.data.logical_blocks(), "logical block")?);
        let (block, home) = (BlockId(from.u32()?), self.data.home(of));
        claims.claim(block, home, drive)?;
        let on_die = self.sequential.iter().filter(|log| self.data.home(log.of) == home).count() as u32;
        let has_room = self.sequential_of(of).is_none() && on_die < self.quota.sequential_per_die;
        let is_own = |lpn: Lpn| self.data.logical_block(lpn) == of;
        let is_log = drive.blocks.is_in_use(block) && drive.blocks.valid_lpns(block).all(is_own);
        require(has_room && is_log, "a sequential log block of something else, or one too many")?;
        self.sequential.push(SequentialLog { of, block });
        Ok(())
    }

    fn restore_random(
        &mut self,
        die: DieId,
        from: &mut StateReader,
        claims: &mut Claims,
        drive: &RestoredDrive,
    ) -> Result<(), Flaw> {
        let mut log = DieLog::default();
        for _ in 0..from.len(self.quota.random_per_die as usize, "random log blocks of a die")? {
            let block = BlockId(from.u32()?);
            claims.claim(block, die, drive)?;
            require(drive.blocks.is_in_use(block), "a log block that is not in use")?;
            self.policy.opened(block, 0);
            self.policy.restore_block(block, from)?;
            log.blocks.push(block);
        }
        let mut one = || match BlockId(from.u32()?) {
            BlockId::NONE => Ok(None),
            block if log.blocks.contains(&block) => Ok(Some(block)),
            _ => Err(Flaw::damaged("an open log block that is none")),
        };
        log.open = (0..P::FRONTIERS).map(|_| one()).collect::<Result<_, _>>()?;
        log.victim = one()?;
        let is_full = |block| drive.array.is_full(block);
        require(log.victim.is_none_or(is_full), "a merge of a log block that is not full")?;
        self.random[die.idx()] = log;
        Ok(())
    }
}
