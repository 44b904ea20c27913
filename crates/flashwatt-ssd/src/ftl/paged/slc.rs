//! The cache of blocks in SLC mode: blocks whose cells hold one bit, which are programmed much faster and hold a share of the data.
//!
//! The host's next block of a die is opened in SLC mode while the cache has room, and natively after that. A *fold* moves what is valid
//! in an SLC block to native blocks and erases it: collection with another choice of the victim, first in, first out, and with a cause of
//! its own. `docs/slc-cache.md` has the rules and where the cliff lies.
//!
//! A static part is a number of blocks of each die that native data never takes. Which blocks these are changes: the first SLC blocks of
//! a die in use count as static. Blocks of the dynamic part are taken from the free ones above the low watermark. When none is left, the
//! die is *full*, and remains so until idle folds have given back more free blocks than one: else each block that a fold frees would
//! become an SLC block again, and no host's write would go to a native block.

use std::collections::VecDeque;

use super::frontier::Frontier;
use crate::blocks::{BlockState, BlockTable};
use crate::drive::settings::{AfterFull, FoldWhen, SlcCache};
use crate::ftl::{Claims, RestoredDrive};
use crate::nand::Array;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId};

/// Free blocks above the low watermark beyond which a die that was full opens blocks in SLC mode again, if writes to a full cache go to
/// native blocks. Choice: more than a fold gives, and few beside the blocks of a die.
const ROOM_AGAIN: u32 = 3;

/// The cache of a drive.
pub(super) struct SlcBlocks {
    rules: SlcCache,
    low_watermark: u32,
    dies: FlatTable<DieSlc>,
}

/// The cache of a die.
#[derive(Clone, Default)]
pub(super) struct DieSlc {
    /// Where the host's next page goes in SLC mode.
    pub frontier: Frontier,
    /// Blocks in SLC mode, in the order in which they were opened. The last one is open if the frontier has room.
    pub blocks: VecDeque<BlockId>,
    /// Whether the dynamic part has run out of free blocks since it last had some to spare.
    pub is_full: bool,
    /// Whether a write of the host waits for room in the cache.
    pub is_awaited: bool,
}

impl SlcBlocks {
    /// An empty cache.
    pub fn new(rules: &SlcCache, low_watermark: u32, dies: u32) -> Self {
        SlcBlocks { rules: rules.clone(), low_watermark, dies: vec![DieSlc::default(); dies as usize].into() }
    }

    /// The rules of the cache.
    pub fn rules(&self) -> &SlcCache {
        &self.rules
    }

    /// The cache of a die.
    pub fn of(&self, die: DieId) -> &DieSlc {
        &self.dies[die.idx()]
    }

    /// The same, to change it.
    pub fn of_mut(&mut self, die: DieId) -> &mut DieSlc {
        &mut self.dies[die.idx()]
    }

    /// Blocks of a die that native data must leave to the static part.
    #[inline]
    pub fn kept(&self, die: DieId) -> u32 {
        self.rules.static_blocks.saturating_sub(self.dies[die.idx()].blocks.len() as u32)
    }

    /// Whether a die has more blocks in SLC mode than the static part: a fold then gives native data a block.
    pub fn has_dynamic(&self, die: DieId) -> bool {
        self.dies[die.idx()].blocks.len() as u32 > self.rules.static_blocks
    }

    /// Whether a die with this number of free blocks, those that are kept left out, may open a block in SLC mode now.
    pub fn may_open(&self, die: DieId, free: u32) -> bool {
        let of = &self.dies[die.idx()];
        let in_use = of.blocks.len() as u32;
        if in_use < self.rules.static_blocks {
            return true;
        }
        let bound = self.rules.dynamic_blocks.unwrap_or(u32::MAX);
        let least = self.low_watermark + if of.is_full && !self.goes_through() { ROOM_AGAIN } else { 0 };
        self.rules.dynamic && in_use - self.rules.static_blocks < bound && free > least
    }

    /// Whether folds take a block of a die although no write waits for that.
    pub fn folds_ahead(&self, die: DieId, free: u32) -> bool {
        match self.rules.fold {
            FoldWhen::Eager => true,
            FoldWhen::Full => !self.may_open(die, free),
            FoldWhen::Idle => false,
        }
    }

    /// Whether writes of the host wait for a die whose cache is full. If a die has no block in SLC mode, no fold would help them.
    pub fn waits_for_room(&self, die: DieId) -> bool {
        self.goes_through() && !self.dies[die.idx()].blocks.is_empty()
    }

    fn goes_through(&self) -> bool {
        self.rules.after == AfterFull::Through
    }

    /// The SLC block of a die that is folded next: the one that was opened first, if all its pages are on flash.
    pub fn oldest(&self, die: DieId, blocks: &BlockTable) -> Option<BlockId> {
        self.nth(die, 0, blocks)
    }

    /// The SLC block of a die that is folded after that.
    pub fn after_oldest(&self, die: DieId, blocks: &BlockTable) -> Option<BlockId> {
        self.nth(die, 1, blocks)
    }

    fn nth(&self, die: DieId, at: usize, blocks: &BlockTable) -> Option<BlockId> {
        let found = self.dies[die.idx()].blocks.get(at).copied();
        found.filter(|&block| blocks.state(block) == BlockState::Closed)
    }

    /// A block has been erased, which may be one of the cache.
    pub fn erased(&mut self, die: DieId, block: BlockId) {
        let of = &mut self.dies[die.idx()];
        let before = of.blocks.len();
        of.blocks.retain(|&other| other != block);
        of.is_awaited &= of.blocks.len() == before;
    }
}

impl SlcBlocks {
    /// Writes the cache to a snapshot.
    pub fn save(&self, out: &mut StateWriter) {
        for of in self.dies.iter() {
            of.frontier.save(out);
            out.list(of.blocks.iter().map(|block| block.0));
            out.bool(of.is_full);
            out.bool(of.is_awaited);
        }
    }

    /// Takes over the blocks in SLC mode that a power cut has left on a die, the oldest first. One that is not written to its end is gone
    /// on with.
    pub fn rebuild(&mut self, die: DieId, blocks: &mut BlockTable, array: &mut Array) {
        let geometry = array.geometry().clone();
        let mut used: Vec<BlockId> =
            geometry.blocks_of(die).filter(|&block| array.is_slc(block) && blocks.is_in_use(block)).collect();
        for &block in &used {
            blocks.set_apart(block);
            array.give_up_gaps(block);
            if blocks.state(block) == BlockState::Open && array.is_full(block) {
                blocks.close(block);
            }
        }
        used.sort_by_key(|&block| match blocks.state(block) {
            BlockState::Open => (1, array.planned_pages(block)),
            _ => (0, u32::MAX - blocks.age(block)),
        });
        let of = &mut self.dies[die.idx()];
        *of = DieSlc { blocks: used.into(), ..DieSlc::default() };
        let open = |block: &&BlockId| blocks.state(**block) == BlockState::Open;
        let Some(&last) = of.blocks.back().filter(open) else { return };
        of.frontier = Frontier::behind_slc(&geometry, last, array.planned_pages(last));
        let others: Vec<BlockId> = of.blocks.iter().filter(open).copied().filter(|&block| block != last).collect();
        others.into_iter().for_each(|block| blocks.close(block));
    }

    /// Restores the cache of a fresh drive. It has every block in SLC mode, each once, and they are set apart.
    pub fn restore(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        let geometry = drive.blocks.geometry();
        for die in (0..geometry.dies).map(DieId) {
            let frontier = Frontier::restore_owner(from, die, claims, drive)?;
            let listed = from.list(geometry.blocks_per_die as usize, geometry.blocks, "blocks in SLC mode")?;
            let blocks: VecDeque<BlockId> = listed.into_iter().map(BlockId).collect();
            let is_one = |block: &BlockId| {
                drive.array.is_slc(*block) && drive.blocks.is_apart(*block) && geometry.die_of_block(*block) == die
            };
            let is_listed = |block: &BlockId| drive.array.is_slc(*block) && !blocks.contains(block);
            let (all_are, none_is_missing) =
                (blocks.iter().all(is_one), !geometry.blocks_of(die).any(|b| is_listed(&b)));
            require(all_are && none_is_missing, "a list of blocks in SLC mode that contradicts their modes")?;
            let open = blocks.iter().filter(|&&block| drive.blocks.state(block) == BlockState::Open).count();
            let is_last = frontier.block(geometry).is_none_or(|block| blocks.back() == Some(&block));
            require(
                is_last && open == usize::from(!frontier.is_full()),
                "an open block in SLC mode that is not the last one",
            )?;
            self.dies[die.idx()] = DieSlc { frontier, blocks, is_full: from.bool()?, is_awaited: from.bool()? };
        }
        Ok(())
    }
}
