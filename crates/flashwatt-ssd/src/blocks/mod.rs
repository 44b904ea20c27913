//! The state of blocks that follows from the map: valid pages, free blocks, candidates for collection.

mod by_age;
mod persist;
mod rebuild;
mod start_pages;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::nand::{Geometry, WearView};
use by_age::ByAge;
use flashwatt_base::mem::{FlatTable, advise_huge, prefetch, set_first_bits, sparse, zeroed};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};
use start_pages::ScatteredPages;
pub(crate) use start_pages::{Scatter, StartPages};

mod view;

pub use view::{BlockView, Choice};

/// The state of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum BlockState {
    /// Erased, in its die's free list.
    #[default]
    Free,
    /// Open for writes; its pages may still be programmed.
    Open,
    /// Fully programmed: it can be collected.
    Closed,
    /// Under collection or erase.
    Victim,
}

impl BlockState {
    /// The name for users.
    pub const fn name(self) -> &'static str {
        match self {
            BlockState::Free => "free",
            BlockState::Open => "open",
            BlockState::Closed => "closed",
            BlockState::Victim => "victim",
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Info {
    /// Valid map units of a closed block. Of other blocks they are counted when they are asked for: copies between them touch this
    /// record less.
    valid: u16,
    state: BlockState,
    /// Whether its owner collects it, without a policy of `[gc]`.
    apart: bool,
    /// The closing clock when this block was last closed.
    closed_at: u32,
}

impl Info {
    /// Whether the block is fully programmed and collected by policies, not by its owner.
    #[inline(always)]
    fn is_closed(&self) -> bool {
        self.state == BlockState::Closed && !self.apart
    }
}

/// The entry of an address that was not written to since its last erase. No logical page is that large.
const ERASED: u32 = u32::MAX;

/// A copy to come: the map unit of the victim, and the logical page whose data it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextCopy {
    /// The number of the map unit in its block.
    pub unit: u32,
    /// The logical page.
    pub lpn: Lpn,
}

/// Validity, free lists and candidates of all blocks.
pub struct BlockTable {
    geometry: Geometry,
    info: FlatTable<Info>,
    /// One bit per map unit: whether it holds the current data of a logical page.
    valid: FlatTable<u64>,
    words_per_block: usize,
    /// The logical page (+ 1) whose data was last written to each physical address; 0 for what it starts with; [`ERASED`].
    lpns: FlatTable<u32>,
    /// What addresses start with.
    starts: StartPages,
    dies: FlatTable<DieBlocks>,
    /// Counts closed blocks: a block's age is the number of blocks closed after it.
    closings: u32,
    /// Free blocks of each die that must not be taken: see [`Self::withhold`].
    withheld: u32,
}

struct DieBlocks {
    free: VecDeque<BlockId>,
    /// Number of valid map units.
    valid: u32,
    /// Number of candidates for policies.
    candidates: u32,
    fewest: RefCell<FewestValid>,
    by_age: RefCell<ByAge>,
}

impl BlockTable {
    /// Bytes of memory of the tables of a drive.
    pub fn memory_bytes(geometry: &Geometry) -> u64 {
        const STACKS_BYTES: usize = 8; // free lists and stacks of candidates
        let words = (geometry.units_per_block as usize).div_ceil(64) * size_of::<u64>();
        let block = size_of::<Info>() + words + 2 * size_of::<BlockId>() + STACKS_BYTES;
        let unit = size_of::<u32>() as u64;
        u64::from(geometry.blocks) * block as u64 + u64::from(geometry.physical_units()) * unit
    }

    /// A table with all blocks free, in address order.
    pub fn new(geometry: Geometry) -> Self {
        let words_per_block = (geometry.units_per_block as usize).div_ceil(64);
        BlockTable {
            info: vec![Info::default(); geometry.blocks as usize].into(),
            valid: zeroed(geometry.blocks as usize * words_per_block).into(),
            words_per_block,
            lpns: sparse(geometry.physical_units() as usize).into(),
            starts: StartPages::Nowhere,
            dies: (0..geometry.dies)
                .map(|die| DieBlocks {
                    free: geometry.blocks_of(DieId(die)).collect(),
                    valid: 0,
                    candidates: 0,
                    fewest: RefCell::new(FewestValid::default()),
                    by_age: RefCell::new(ByAge::default()),
                })
                .collect(),
            closings: 0,
            withheld: 0,
            geometry,
        }
    }

    /// See [`crate::ftl::Ftl::on_huge_pages`].
    pub fn on_huge_pages(&self) {
        advise_huge(&self.lpns);
    }

    /// The drive's layout.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Free blocks of a die that may be taken.
    #[inline(always)]
    pub fn free_blocks(&self, die: DieId) -> u32 {
        self.erased_blocks(die).saturating_sub(self.withheld)
    }

    /// Free blocks of a die, with those that must not be taken.
    #[inline(always)]
    pub fn erased_blocks(&self, die: DieId) -> u32 {
        self.dies[die.idx()].free.len() as u32
    }

    /// Leaves this number of free blocks of each die for what the drive takes from its translation layer when its start state is
    /// there: a start state that used them would leave collection none.
    pub fn withhold(&mut self, blocks: u32) {
        self.withheld = blocks;
    }

    /// Number of erased blocks in the drive.
    pub fn all_free_blocks(&self) -> u64 {
        self.dies.iter().map(|die| die.free.len() as u64).sum()
    }

    /// Takes a free block: the one erased longest ago, or with `least_worn` the one with the fewest erases.
    pub fn take_free(&mut self, die: DieId, least_worn: Option<WearView>) -> Option<BlockId> {
        let free = &mut self.dies[die.idx()].free;
        let at = match least_worn {
            None => 0,
            Some(wear) => (0..free.len()).min_by_key(|&i| wear.erases(free[i]))?,
        };
        let block = free.remove(at)?;
        self.info[block.idx()].state = BlockState::Open;
        Some(block)
    }

    /// Marks a block that its owner collects by itself: until its erase it is no candidate for policies.
    pub fn set_apart(&mut self, block: BlockId) {
        self.uncount_candidate(block);
        self.info[block.idx()].apart = true;
    }

    /// Whether its owner collects this block by itself.
    #[inline]
    pub fn is_apart(&self, block: BlockId) -> bool {
        self.info[block.idx()].apart
    }

    /// Closes a fully programmed block: it becomes a candidate, unless its erase is planned already.
    pub fn close(&mut self, block: BlockId) {
        let info = &mut self.info[block.idx()];
        if info.state == BlockState::Victim {
            return;
        }
        debug_assert_eq!(info.state, BlockState::Open);
        self.closings = self.closings.wrapping_add(1);
        info.state = BlockState::Closed;
        info.closed_at = self.closings;
        let valid = self.count_valid(block) as u16;
        self.info[block.idx()].valid = valid;
        let is_candidate = self.is_candidate(block);
        let die = &mut self.dies[self.geometry.die_of_block(block).idx()];
        die.candidates += u32::from(is_candidate);
        die.fewest.get_mut().note(block, valid, &self.info);
        die.by_age.get_mut().note(block, &self.info, self.closings);
    }

    /// Marks a block as victim: it will be collected or erased, and is no candidate any more.
    pub fn condemn(&mut self, block: BlockId) {
        debug_assert!(matches!(self.state(block), BlockState::Open | BlockState::Closed));
        self.uncount_candidate(block);
        self.info[block.idx()].state = BlockState::Victim;
    }

    /// A block is about to be no candidate any more, if it is one.
    fn uncount_candidate(&mut self, block: BlockId) {
        let is_candidate = self.is_candidate(block);
        self.dies[self.geometry.die_of_block(block).idx()].candidates -= u32::from(is_candidate);
    }

    /// Whether a block is a candidate for policies: fully programmed, not collected by its owner, and with at least one page to
    /// gain.
    fn is_candidate(&self, block: BlockId) -> bool {
        let info = &self.info[block.idx()];
        info.is_closed() && self.gains(info.valid)
    }

    /// Whether the valid map units of a block fit into fewer pages than it has. Collection of other blocks gains no page, and
    /// would never end.
    #[inline(always)]
    fn gains(&self, valid: u16) -> bool {
        u32::from(valid) + self.geometry.units_per_page <= self.geometry.units_per_block
    }

    /// Number of candidates of a die.
    fn candidates(&self, die: DieId) -> u32 {
        self.dies[die.idx()].candidates
    }

    /// Visits of each number of valid units the oldest closed block of a die that has it, and the others with it if `visit` says so.
    fn visit_oldest(&self, die: DieId, visit: impl FnMut(BlockId) -> bool) {
        let (blocks, units) = (self.geometry.blocks_of(die), self.geometry.units_per_block);
        self.dies[die.idx()].by_age.borrow_mut().visit(&self.info, self.closings, blocks, units, visit);
    }

    /// Adds an erased block to its die's free list.
    pub fn erased(&mut self, block: BlockId) {
        debug_assert_eq!(self.valid_units(block), 0, "an erase of valid data");
        let first = self.geometry.first_ppn(block).idx();
        self.lpns[first..first + self.geometry.units_per_block as usize].fill(ERASED);
        self.info[block.idx()].state = BlockState::Free;
        self.info[block.idx()].apart = false;
        self.dies[self.geometry.die_of_block(block).idx()].free.push_back(block);
    }

    /// Opens an erased block at once.
    pub fn erased_and_taken(&mut self, block: BlockId) {
        self.erased(block);
        self.dies[self.geometry.die_of_block(block).idx()].free.pop_back();
        self.info[block.idx()].state = BlockState::Open;
    }

    /// Frees a block that was opened and never written.
    pub fn give_back(&mut self, block: BlockId) {
        debug_assert_eq!(self.state(block), BlockState::Open);
        self.info[block.idx()].state = BlockState::Free;
        self.dies[self.geometry.die_of_block(block).idx()].free.push_back(block);
    }

    /// Whether this block is a victim.
    pub fn is_condemned(&self, block: BlockId) -> bool {
        self.state(block) == BlockState::Victim
    }

    /// The state of a block.
    #[inline]
    pub fn state(&self, block: BlockId) -> BlockState {
        self.info[block.idx()].state
    }

    /// Whether a block is open or closed: neither free nor a victim.
    pub fn is_in_use(&self, block: BlockId) -> bool {
        matches!(self.state(block), BlockState::Open | BlockState::Closed)
    }

    /// Number of valid map units in a block.
    #[inline]
    pub fn valid_units(&self, block: BlockId) -> u32 {
        let info = &self.info[block.idx()];
        if info.state == BlockState::Closed { u32::from(info.valid) } else { self.count_valid(block) }
    }

    fn count_valid(&self, block: BlockId) -> u32 {
        let first = block.idx() * self.words_per_block;
        self.valid[first..first + self.words_per_block].iter().map(|word| word.count_ones()).sum()
    }

    /// Fraction of a die's programmed map units that are valid.
    pub fn valid_fraction(&self, die: DieId, wear: WearView) -> f64 {
        let programmed = wear.programmed_pages(die) * self.geometry.units_per_page;
        f64::from(self.dies[die.idx()].valid) / f64::from(programmed.max(1))
    }

    /// Number of blocks closed after this one.
    #[inline]
    pub fn age(&self, block: BlockId) -> u32 {
        self.closings.wrapping_sub(self.info[block.idx()].closed_at)
    }

    /// Whether this address holds the current data of a logical page.
    #[inline(always)]
    pub fn is_valid(&self, ppn: Ppn) -> bool {
        let (word, bit) = self.bit(self.geometry.block_of(ppn), ppn);
        self.valid[word] >> bit & 1 != 0
    }

    /// The logical page whose data was last written to this address since its last erase.
    #[inline(always)]
    pub fn lpn_at(&self, ppn: Ppn) -> Option<Lpn> {
        let entry = self.lpns[ppn.idx()];
        let lpn = entry.wrapping_sub(1);
        if lpn < ERASED - 1 { Some(Lpn(lpn)) } else { self.lpn_at_start(ppn, entry) }
    }

    /// Out of line, because it would take registers where a copy is planned.
    #[cold]
    #[inline(never)]
    fn lpn_at_start(&self, ppn: Ppn, entry: u32) -> Option<Lpn> {
        if entry == ERASED { None } else { self.starts.lpn_at(ppn, &self.geometry) }
    }

    /// Marks an address of a block that is not closed as the current data of `lpn`.
    #[inline(always)]
    pub fn set_valid(&mut self, ppn: Ppn, lpn: Lpn) {
        let block = self.geometry.block_of(ppn);
        debug_assert_ne!(self.state(block), BlockState::Closed, "its valid map units are counted");
        self.mark_valid(block, ppn, lpn);
        self.dies[self.geometry.die_of_block(block).idx()].valid += 1;
    }

    /// As [`Self::set_valid`], of a block in any state: a recovery takes another copy of a page for the current one.
    pub(crate) fn set_valid_again(&mut self, ppn: Ppn, lpn: Lpn) {
        let block = self.geometry.block_of(ppn);
        let info = &mut self.info[block.idx()];
        info.valid += u16::from(info.state == BlockState::Closed);
        self.mark_valid(block, ppn, lpn);
        self.dies[self.geometry.die_of_block(block).idx()].valid += 1;
    }

    /// Sets the bit and the logical page of an address. The counts are left to the caller.
    #[inline(always)]
    fn mark_valid(&mut self, block: BlockId, ppn: Ppn, lpn: Lpn) {
        let (word, bit) = self.bit(block, ppn);
        debug_assert!(self.valid[word] >> bit & 1 == 0);
        self.valid[word] |= 1 << bit;
        self.lpns[ppn.idx()] = lpn.0 + 1;
    }

    /// Marks the data at this address as obsolete. Returns its block.
    #[inline(always)]
    pub fn set_invalid(&mut self, ppn: Ppn) -> BlockId {
        let block = self.geometry.block_of(ppn);
        let (word, bit) = self.bit(block, ppn);
        debug_assert!(self.valid[word] >> bit & 1 != 0, "invalidated twice");
        self.valid[word] &= !(1 << bit);
        let info = &mut self.info[block.idx()];
        let die = &mut self.dies[self.geometry.die_of_block(block).idx()];
        die.valid -= 1;
        if info.state == BlockState::Closed {
            info.valid -= 1;
            let (valid, apart) = (info.valid, info.apart);
            let gains_first_page = u32::from(valid) + self.geometry.units_per_page == self.geometry.units_per_block;
            die.candidates += u32::from(gains_first_page & !apart);
            die.fewest.get_mut().note(block, valid, &self.info);
            die.by_age.get_mut().note(block, &self.info, self.closings);
        }
        block
    }

    /// Moves the data at an address of a victim or a closed block to another one on the same die. Returns its logical page.
    pub fn move_any(&mut self, from_block: BlockId, from: Ppn, to: Ppn) -> Lpn {
        let Some(lpn) = self.lpn_at(from) else { unreachable!("a valid page belongs to a logical one") };
        if self.state(from_block) == BlockState::Victim {
            self.move_from_victim(from_block, lpn, from, to);
        } else {
            self.set_invalid(from);
            self.set_valid(to, lpn);
        }
        lpn
    }

    /// Moves the data of a logical page on the victim `from_block` from `from` to `to` on the same die.
    #[inline(always)]
    pub fn move_from_victim(&mut self, from_block: BlockId, lpn: Lpn, from: Ppn, to: Ppn) {
        debug_assert_eq!(self.lpn_at(from), Some(lpn));
        let (word, bit) = self.bit(from_block, from);
        debug_assert!(self.valid[word] >> bit & 1 != 0, "invalidated twice");
        self.valid[word] &= !(1 << bit);
        debug_assert_eq!(self.state(from_block), BlockState::Victim);
        let to_block = self.geometry.block_of(to);
        debug_assert_eq!(self.geometry.die_of_block(to_block), self.geometry.die_of_block(from_block));
        debug_assert_ne!(self.state(to_block), BlockState::Closed);
        self.mark_valid(to_block, to, lpn);
    }

    /// Whether a block's map unit of this number holds the current data of a logical page.
    #[inline(always)]
    pub fn is_valid_in(&self, block: BlockId, unit: u32) -> bool {
        let (word, bit) = self.bit_of_unit(block, unit);
        self.valid[word] >> bit & 1 != 0
    }

    /// The first valid map unit of a block, from its `from`-th on.
    #[inline(always)]
    pub fn next_valid(&self, block: BlockId, from: u32) -> Option<u32> {
        let first_word = block.idx() * self.words_per_block;
        let mut word = (from / 64) as usize;
        let mut ahead = u64::MAX << (from % 64);
        while word < self.words_per_block {
            let rest = self.valid[first_word + word] & ahead;
            if rest != 0 {
                return Some(64 * word as u32 + rest.trailing_zeros());
            }
            (word, ahead) = (word + 1, u64::MAX);
        }
        None
    }

    /// The copy of a block's first valid map unit from its `from`-th on, if there is one. Fetches the logical
    /// pages of the units behind it into the machine's caches.
    #[inline(always)]
    pub fn next_copy(&self, block: BlockId, from: u32) -> Option<NextCopy> {
        const IN_A_LINE: usize = 64 / size_of::<u32>();
        let unit = self.next_valid(block, from)?;
        let ppn = Ppn(self.geometry.first_ppn(block).0 + unit);
        prefetch(&self.lpns, ppn.idx() + IN_A_LINE);
        Some(NextCopy { unit, lpn: self.lpn_at(ppn)? })
    }

    /// The logical pages whose data is valid in a block.
    pub fn valid_lpns(&self, block: BlockId) -> impl Iterator<Item = Lpn> + '_ {
        let first = self.geometry.first_ppn(block).0;
        let mut from = 0;
        std::iter::from_fn(move || {
            let unit = self.next_valid(block, from)?;
            from = unit + 1;
            self.lpn_at(Ppn(first + unit))
        })
    }

    /// Prefetches the data that an overwrite of `ppn` touches into the machine's caches.
    #[inline(always)]
    pub fn prefetch(&self, ppn: Ppn) {
        let block = self.geometry.block_of(ppn);
        prefetch(&self.valid, self.bit(block, ppn).0);
        prefetch(&self.info, block.idx());
    }

    /// The closed block of a die with the fewest valid map units. Among equals it is the last one on their stack.
    pub(crate) fn fewest_valid(&self, die: DieId) -> Option<BlockId> {
        let mut fewest = self.dies[die.idx()].fewest.borrow_mut();
        fewest.peek(&self.info).or_else(|| {
            fewest.rebuild(&self.info, self.geometry.blocks_of(die));
            fewest.peek(&self.info)
        })
    }

    /// Puts the data of logical pages on the first `units` addresses of a free block without a clock, as
    /// [`crate::nand::Array::lay_down`] does on the array. The block is then open, or closed if it is full.
    pub fn lay_down(&mut self, block: BlockId, units: u32, mut lpn_of: impl FnMut(Ppn) -> Option<Lpn>) {
        let mut lpns = std::mem::take(&mut self.lpns);
        self.lay_down_valid(block, units, |ppn| match lpn_of(ppn) {
            Some(lpn) => {
                lpns[ppn.idx()] = lpn.0 + 1;
                true
            }
            None => false,
        });
        self.lpns = lpns;
    }

    /// As [`Self::lay_down`], with data that the table learns by [`Self::start_scattered`].
    pub(crate) fn lay_down_valid(&mut self, block: BlockId, units: u32, mut is_valid: impl FnMut(Ppn) -> bool) {
        self.open(block);
        let first = self.geometry.first_ppn(block).0;
        let row = block.idx() * self.words_per_block;
        let mut valid = 0;
        for (at, from) in (0..units).step_by(64).enumerate() {
            let word = (0..(units - from).min(64))
                .fold(0, |word, bit| word | u64::from(is_valid(Ppn(first + from + bit))) << bit);
            self.valid[row + at] |= word;
            valid += word.count_ones();
        }
        self.dies[self.geometry.die_of_block(block).idx()].valid += valid;
        if units == self.geometry.units_per_block {
            self.close(block);
        }
    }

    /// As [`Self::lay_down`], with the data of the start state `filled` ([`Geometry::filled_lpn`]). Its logical pages are not
    /// written to the table, so that the memory of their entries is not touched.
    pub(crate) fn lay_down_filled(&mut self, block: BlockId, units: u32) {
        self.starts = StartPages::InOrder;
        self.open(block);
        let first = self.geometry.first_ppn(block).0;
        debug_assert!((first..first + units).all(|ppn| self.geometry.filled_lpn(Ppn(ppn)).is_some()), "data on each");
        let word = block.idx() * self.words_per_block;
        set_first_bits(&mut self.valid[word..word + self.words_per_block], units);
        self.dies[self.geometry.die_of_block(block).idx()].valid += units;
        if units == self.geometry.units_per_block {
            self.close(block);
        }
    }

    /// Scatters the logical pages over all valid addresses of a start state, without entries in the table: one scatter for the
    /// drive, or one for each die. Returns where they are.
    pub(crate) fn start_scattered(&mut self, scatters: Vec<Scatter>) -> StartPages {
        let pages = ScatteredPages::new(self.valid.to_vec(), self.words_per_block, scatters);
        self.starts = StartPages::Scattered(Arc::new(pages));
        self.starts.clone()
    }

    /// Takes a block out of its die's free list.
    fn open(&mut self, block: BlockId) {
        let at = self.dies[self.geometry.die_of_block(block).idx()].free.iter().position(|&b| b == block);
        if let Some(at) = at {
            self.dies[self.geometry.die_of_block(block).idx()].free.remove(at);
        }
        self.info[block.idx()].state = BlockState::Open;
    }

    /// The view of a die for policies.
    pub fn view<'a>(&'a self, die: DieId, wear: WearView<'a>) -> BlockView<'a> {
        BlockView::new(self, wear, die)
    }

    #[inline(always)]
    fn bit(&self, block: BlockId, ppn: Ppn) -> (usize, u32) {
        self.bit_of_unit(block, ppn.0 - block.0 * self.geometry.units_per_block)
    }

    #[inline(always)]
    fn bit_of_unit(&self, block: BlockId, unit: u32) -> (usize, u32) {
        (block.idx() * self.words_per_block + (unit >> 6) as usize, unit & 63)
    }
}

/// Finds the closed block with the fewest valid map units: a stack of blocks for each low count of valid units.
///
/// A block is pushed when it is closed, and each time that its count falls, if there is a stack for the count. An entry
/// is stale once the block's count has changed. When no fresh entry is left, the blocks of the die are scanned once,
/// and there are stacks for counts up to 2 above the least count found. The result is exact, and costs far less than
/// linked lists that change with every overwrite of a page.
#[derive(Default)]
struct FewestValid {
    stacks: Vec<Stack>,
    /// No entry has a count below this.
    lowest: usize,
}

/// Blocks that reached one count, the latest on top.
struct Stack {
    blocks: Vec<BlockId>,
    /// The stack is cleaned when it has this length. The length decides ties, so it does not depend on how a vector
    /// grows.
    clean_at: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Stack { blocks: Vec::new(), clean_at: 64 }
    }
}

impl FewestValid {
    /// A closed block now has `valid` valid units.
    #[inline(always)]
    fn note(&mut self, block: BlockId, valid: u16, info: &[Info]) {
        if usize::from(valid) < self.stacks.len() {
            self.push(block, usize::from(valid), info);
        }
    }

    fn push(&mut self, block: BlockId, valid: usize, info: &[Info]) {
        let stack = &mut self.stacks[valid];
        if stack.blocks.len() == stack.clean_at {
            // Stale entries must not pile up: drop them before the stack grows.
            stack.blocks.retain(|b| is_candidate(info, *b, valid));
            stack.blocks.sort_unstable();
            stack.blocks.dedup();
            if stack.blocks.len() == stack.clean_at {
                stack.clean_at *= 2;
            }
        }
        stack.blocks.push(block);
        self.lowest = self.lowest.min(valid);
    }

    fn peek(&mut self, info: &[Info]) -> Option<BlockId> {
        while let Some(stack) = self.stacks.get_mut(self.lowest) {
            while let Some(&block) = stack.blocks.last() {
                if is_candidate(info, block, self.lowest) {
                    return Some(block);
                }
                stack.blocks.pop();
            }
            self.lowest += 1;
        }
        None
    }

    fn rebuild(&mut self, info: &[Info], blocks: impl Iterator<Item = BlockId> + Clone) {
        let closed = blocks.filter(|b| info[b.idx()].is_closed());
        let Some(least) = closed.clone().map(|b| usize::from(info[b.idx()].valid)).min() else { return };
        const MARGIN: usize = 3;
        self.stacks.iter_mut().for_each(|stack| stack.blocks.clear());
        self.stacks.resize_with(least + MARGIN, Stack::default);
        self.lowest = least;
        for block in closed {
            self.note(block, info[block.idx()].valid, info);
        }
    }
}

#[inline(always)]
fn is_candidate(info: &[Info], block: BlockId, valid: usize) -> bool {
    let info = &info[block.idx()];
    info.is_closed() && usize::from(info.valid) == valid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fixture::{Shape, geometry};

    /// Pushes 90 blocks on one stack, 40 of them twice, so that the stack is cleaned. Returns the order in which the
    /// blocks are then taken.
    fn order_of_ties(room: usize) -> Vec<BlockId> {
        let mut info = vec![Info { state: BlockState::Closed, valid: 1, ..Info::default() }; 90];
        let mut fewest = FewestValid::default();
        fewest.stacks.resize_with(3, Stack::default);
        fewest.stacks[1].blocks.reserve(room);
        for block in (0..90).rev().chain((0..40).map(|i| i * 7 % 90)).map(BlockId) {
            fewest.note(block, 1, &info);
        }
        let mut order = Vec::new();
        while let Some(block) = fewest.peek(&info) {
            info[block.idx()].state = BlockState::Victim;
            order.push(block);
        }
        order
    }

    #[test]
    fn a_filled_block_knows_its_pages_until_its_erase() {
        let shape = Shape { channels: 2, ways: 1, blocks: 16, pages_per_block: 4, logical_bytes: 98304 };
        let mut blocks = BlockTable::new(geometry(shape));
        // The second block of the second die, which has the odd pages.
        let block = BlockId(17);
        blocks.lay_down_filled(block, 4);
        assert_eq!((blocks.state(block), blocks.valid_units(block)), (BlockState::Closed, 4));
        assert_eq!(blocks.valid_lpns(block).collect::<Vec<_>>(), [9, 11, 13, 15].map(Lpn));
        (69..72).map(Ppn).for_each(|ppn| assert_eq!(blocks.set_invalid(ppn), block));
        assert_eq!(
            (blocks.valid_units(block), blocks.lpn_at(Ppn(69))),
            (1, Some(Lpn(11))),
            "it was written there last"
        );
        blocks.condemn(block);
        assert_eq!(blocks.valid_units(block), 1, "a victim's count is that of its bits");
        blocks.set_invalid(Ppn(68));
        blocks.erased(block);
        assert_eq!(blocks.lpn_at(Ppn(68)), None);
        blocks.set_valid(Ppn(68), Lpn(3));
        assert_eq!(
            (blocks.lpn_at(Ppn(68)), blocks.lpn_at(Ppn(69)), blocks.valid_units(block)),
            (Some(Lpn(3)), None, 1)
        );
    }

    #[test]
    fn ties_do_not_depend_on_how_vectors_grow() {
        let order = order_of_ties(0);
        assert_eq!(order.len(), 90);
        assert_eq!(order, order_of_ties(1_000));
    }
}
