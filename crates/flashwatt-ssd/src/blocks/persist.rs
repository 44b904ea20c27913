//! How the table of blocks is saved and restored.
//!
//! Free lists and stacks of candidates keep their order, because it decides which block is taken next. Counts of valid
//! map units are not saved: they are computed from the valid bits.

use super::{BlockState, BlockTable, DieBlocks, FewestValid, Stack};
use crate::nand::Array;
use flashwatt_base::mem::prefetch;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};

const STATES: [BlockState; 4] = [BlockState::Free, BlockState::Open, BlockState::Closed, BlockState::Victim];
/// Bit of a block's byte: its owner collects the block, not a policy.
const APART: u8 = 1 << 2;
/// A die has at most this many more stacks than a block has map units.
const STACKS_ABOVE: usize = 4;
/// Least length at which a stack is cleaned. Greater ones are this times a power of two.
const CLEAN_AT: usize = 64;

impl BlockTable {
    /// Writes the table.
    pub fn save(&self, out: &mut StateWriter) {
        out.u32(self.closings);
        for info in self.info.iter() {
            out.u8(info.state as u8 | if info.apart { APART } else { 0 });
        }
        out.u32s(self.info.iter().map(|info| info.closed_at));
        out.u64s(&self.valid);
        out.u32s((0..self.geometry.physical_units()).map(|ppn| self.lpn_at(Ppn(ppn)).map_or(0, |lpn| lpn.0 + 1)));
        for die in self.dies.iter() {
            out.list(die.free.iter().map(|block| block.0));
            die.fewest.borrow().save(out);
        }
    }

    /// Reads the saved table into this new one. `array` must be restored before.
    ///
    /// # Errors
    /// [`Flaw`] if the file is damaged or contradicts the array.
    pub fn restore(&mut self, from: &mut StateReader, array: &Array) -> Result<(), Flaw> {
        self.closings = from.u32()?;
        for at in 0..self.info.len() {
            let byte = from.u8()?;
            let state = STATES.get(usize::from(byte & !APART)).copied();
            let info = &mut self.info[at];
            info.state = state.ok_or_else(|| Flaw::damaged("a block in an unknown state"))?;
            info.apart = byte & APART != 0;
        }
        let (count, info) = (self.info.len(), &mut self.info);
        from.u32s(count, |at, closed_at| info[at].closed_at = closed_at)?;
        from.fill_u64s(&mut self.valid)?;
        from.fill_u32s(&mut self.lpns)?;
        (0..self.geometry.blocks).map(BlockId).try_for_each(|block| self.check_block(block, array))?;
        (0..self.geometry.dies).map(DieId).try_for_each(|die| self.restore_die(die, from))
    }

    /// Checks a block against the array, and counts its valid map units.
    fn check_block(&mut self, block: BlockId, array: &Array) -> Result<(), Flaw> {
        let (first, valid) = (block.idx() * self.words_per_block, self.count_valid(block));
        let words = &self.valid[first..first + self.words_per_block];
        let (units, written) = (self.geometry.units_per_block, array.planned_pages(block));
        let beyond = words.last().is_some_and(|last| units % 64 != 0 && last >> (units % 64) != 0);
        require(!beyond, "a valid page beyond its block")?;
        let agrees = match self.info[block.idx()].state {
            BlockState::Free => written == 0,
            BlockState::Open => !array.is_full(block),
            BlockState::Closed => array.is_full(block),
            BlockState::Victim => true,
        };
        require(agrees, "the state of a block contradicts its pages")?;
        self.check_units(block, array)?;
        self.info[block.idx()].valid = valid as u16;
        let is_candidate = self.is_candidate(block);
        let die = &mut self.dies[self.geometry.die_of_block(block).idx()];
        die.valid += valid;
        die.candidates += u32::from(is_candidate);
        Ok(())
    }

    /// Checks that only programmed pages of a block hold data. In a full block all pages are programmed.
    fn check_units(&self, block: BlockId, array: &Array) -> Result<(), Flaw> {
        if array.is_full(block) {
            return Ok(());
        }
        let first = self.geometry.first_ppn(block).0;
        let is_beyond = |ppn: Ppn| {
            let is_used = self.lpn_at(ppn).is_some() || self.is_valid(ppn);
            is_used && !array.is_programmed(self.geometry.place(ppn))
        };
        let mut units = (first..first + self.geometry.units_per_block).map(Ppn);
        require(!units.any(is_beyond), "data of a page that is not programmed")
    }

    /// Reads the free list of a die, which must hold exactly the free blocks, and its stacks of candidates.
    fn restore_die(&mut self, die: DieId, from: &mut StateReader) -> Result<(), Flaw> {
        let per_die = self.geometry.blocks_per_die;
        let is_free = |block: &BlockId| self.info[block.idx()].state == BlockState::Free;
        let free = self.geometry.blocks_of(die).filter(is_free).count();
        let mut listed = vec![false; per_die as usize];
        let list = &mut self.dies[die.idx()].free;
        list.clear();
        let len = from.len(per_die as usize, "free blocks")?;
        require(len == free, "a free list that contradicts the states of the blocks")?;
        for _ in 0..len {
            let block = block_of(die, from, per_die)?;
            let is_new = !std::mem::replace(&mut listed[(block.0 % per_die) as usize], true);
            require(is_new && self.info[block.idx()].state == BlockState::Free, "a wrong block in a free list")?;
            list.push_back(block);
        }
        let DieBlocks { fewest, .. } = &mut self.dies[die.idx()];
        fewest.get_mut().restore(from, die, per_die, self.geometry.units_per_block)
    }

    /// Fills a map of zeros with the physical address (+ 1) of each logical page of the host. All other valid pages
    /// must lie in blocks that are set apart and not in SLC mode; `other` gets each of them with its address.
    ///
    /// # Errors
    /// [`Flaw`] if a page is in a block of the wrong kind, if a logical page has two valid copies, or if `other` fails.
    pub(crate) fn restore_map(
        &self,
        map: &mut [u32],
        array: &Array,
        mut other: impl FnMut(Ppn, Lpn) -> Result<(), Flaw>,
    ) -> Result<(), Flaw> {
        for block in (0..self.geometry.blocks).map(BlockId) {
            let (first, mut from) = (self.geometry.first_ppn(block).0, 0);
            while let Some(unit) = self.next_valid(block, from) {
                let ppn = Ppn(first + unit);
                self.prefetch_entry_behind(ppn, map);
                let lpn = self.lpn_at(ppn).ok_or_else(|| Flaw::damaged("a valid page without a logical page"))?;
                let entry = map.get_mut(lpn.idx());
                let agrees = (self.is_apart(block) && !array.is_slc(block)) == entry.is_none();
                require(agrees, "data among translation pages, or a translation page among data")?;
                match entry {
                    Some(entry @ 0) => *entry = ppn.0 + 1,
                    Some(_) => return Err(Flaw::damaged(format!("two valid copies of logical page {lpn}"))),
                    None => other(ppn, lpn)?,
                }
                from = unit + 1;
            }
        }
        Ok(())
    }

    /// Prefetches the map entry of the page some addresses after this one, because the entries of an aged drive are in
    /// no order.
    #[inline(always)]
    fn prefetch_entry_behind(&self, ppn: Ppn, map: &[u32]) {
        const AHEAD: usize = 16;
        if let Some(entry) = self.lpns.get(ppn.idx() + AHEAD) {
            prefetch(map, entry.wrapping_sub(1) as usize);
        }
    }
}

/// Reads a block of a die, which is saved as its number in the drive.
fn block_of(die: DieId, from: &mut StateReader, per_die: u32) -> Result<BlockId, Flaw> {
    let block = BlockId(from.u32()?);
    let first = die.0 * per_die;
    require((first..first + per_die).contains(&block.0), "a block that is not on its die")?;
    Ok(block)
}

impl FewestValid {
    fn save(&self, out: &mut StateWriter) {
        out.u32(self.lowest as u32);
        out.u32(self.stacks.len() as u32);
        for stack in &self.stacks {
            out.u32(stack.clean_at as u32);
            out.list(stack.blocks.iter().map(|block| block.0));
        }
    }

    fn restore(&mut self, from: &mut StateReader, die: DieId, per_die: u32, units: u32) -> Result<(), Flaw> {
        self.lowest = from.u32()? as usize;
        let stacks = from.len(units as usize + STACKS_ABOVE, "stacks of candidates")?;
        require(self.lowest <= stacks, "a missing stack of candidates")?;
        let longest = (2 * per_die as usize).next_power_of_two().max(CLEAN_AT);
        for _ in 0..stacks {
            let clean_at = from.u32()? as usize;
            let is_length = (CLEAN_AT..=longest).contains(&clean_at) && clean_at.is_power_of_two();
            require(is_length, "a stack of candidates of an impossible length")?;
            let len = from.len(clean_at, "candidates")?;
            let blocks: Result<_, Flaw> = (0..len).map(|_| block_of(die, from, per_die)).collect();
            self.stacks.push(Stack { blocks: blocks?, clean_at });
        }
        Ok(())
    }
}
