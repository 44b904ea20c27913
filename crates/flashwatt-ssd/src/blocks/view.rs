//! A read-only view of one die's blocks, from which policies decide.

use super::BlockTable;
use crate::nand::WearView;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{BlockId, DieId};

/// The decision of a policy, and its effort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The victim.
    pub block: BlockId,
    /// Candidates examined.
    pub searches: u32,
}

/// A read-only view of one die's blocks.
pub struct BlockView<'a> {
    blocks: &'a BlockTable,
    wear: WearView<'a>,
    die: DieId,
}

impl<'a> BlockView<'a> {
    pub(super) fn new(blocks: &'a BlockTable, wear: WearView<'a>, die: DieId) -> Self {
        BlockView { blocks, wear, die }
    }

    /// The candidates for collection: fully programmed blocks with at least one page to gain.
    pub fn candidates(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.blocks.geometry().blocks_of(self.die).filter(|&b| self.is_candidate(b))
    }

    /// Whether this block is a candidate.
    pub fn is_candidate(&self, block: BlockId) -> bool {
        self.blocks.is_candidate(block)
    }

    /// Whether this block is fully programmed and collected by policies, not by its owner.
    fn is_closed(&self, block: BlockId) -> bool {
        self.blocks.info[block.idx()].is_closed()
    }

    /// A random block of the die, candidate or not, all equally likely.
    pub fn any_block(&self, rng: &mut Rng) -> BlockId {
        let per_die = self.blocks.geometry().blocks_per_die;
        BlockId(self.die.0 * per_die + rng.below(u64::from(per_die)) as u32)
    }

    /// The candidate with the best score by `better(a, b)` ("a is better than b"), the first among equals. All candidates are
    /// examined, and each is scored once.
    pub fn best<S>(&self, score: impl Fn(BlockId) -> S, better: impl Fn(&S, &S) -> bool) -> Option<Choice> {
        let mut searches = 0;
        let scored = self.candidates().inspect(|_| searches += 1).map(|block| (score(block), block));
        let (_, block) = scored.reduce(|best, other| if better(&other.0, &best.0) { other } else { best })?;
        Some(Choice { block, searches })
    }

    /// As [`Self::best`], by a score of a block's age and number of valid map units that does not fall with the age. So of blocks with
    /// the same number the oldest one is looked at, and the others only if the score does not rise with the age there.
    /// `is_above(a, b)` says that a is better than b.
    pub fn best_by_age<S>(&self, score: impl Fn(u32, u32) -> S, is_above: impl Fn(&S, &S) -> bool) -> Option<Choice> {
        let mut best: Option<(S, BlockId)> = None;
        self.blocks.visit_oldest(self.die, |block| {
            let (age, valid) = (self.age(block), self.valid(block));
            if !self.is_candidate(block) {
                return false;
            }
            let new = score(age, valid);
            let others_equal = age > 0 && !is_above(&new, &score(age - 1, valid));
            let is_better = |(top, at): &(S, BlockId)| is_above(&new, top) || (block < *at && !is_above(top, &new));
            if best.as_ref().is_none_or(is_better) {
                best = Some((new, block));
            }
            others_equal
        });
        let choice = best.map(|(_, block)| Choice { block, searches: self.blocks.candidates(self.die) });
        debug_assert_eq!(choice, self.best(|block| score(self.age(block), self.valid(block)), &is_above));
        choice
    }

    /// Number of blocks of the die.
    pub fn blocks_in_die(&self) -> u32 {
        self.blocks.geometry().blocks_per_die
    }

    /// The candidate with the fewest valid map units, found without a search of all blocks.
    pub fn fewest_valid(&self) -> Option<BlockId> {
        self.blocks.fewest_valid(self.die).filter(|&b| self.is_candidate(b))
    }

    /// Number of valid map units in a block.
    pub fn valid(&self, block: BlockId) -> u32 {
        self.blocks.valid_units(block)
    }

    /// Number of map units in a block without valid data.
    pub fn invalid(&self, block: BlockId) -> u32 {
        self.units_per_block() - self.valid(block)
    }

    /// Number of map units in a block.
    pub fn units_per_block(&self) -> u32 {
        self.blocks.geometry().units_per_block
    }

    /// Age of a block's data: the number of blocks of the drive that were filled since this one was.
    pub fn age(&self, block: BlockId) -> u32 {
        self.blocks.age(block)
    }

    /// Number of erases of a block.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.wear.erases(block)
    }

    /// Mean number of erases over all blocks of the drive.
    pub fn mean_erases(&self) -> f64 {
        self.wear.mean_erases()
    }

    /// Number of erases of any block since this block was last erased.
    pub fn since_erase(&self, block: BlockId) -> u32 {
        self.wear.since_erase(block)
    }

    /// Fully programmed blocks of the die that policies collect, with space to gain or without.
    pub fn closed(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.blocks.geometry().blocks_of(self.die).filter(|&b| self.is_closed(b))
    }

    /// A random candidate, all equally likely.
    pub fn random_candidate(&self, rng: &mut Rng) -> Option<BlockId> {
        // Most blocks of a full drive are candidates, so rejection sampling needs one or two draws. If hardly any block
        // is a candidate, one pass over the die decides.
        const TRIES: u32 = 64;
        (0..TRIES).map(|_| self.any_block(rng)).find(|&b| self.is_candidate(b)).or_else(|| {
            let count = self.candidates().count() as u64;
            if count == 0 { None } else { self.candidates().nth(rng.below(count) as usize) }
        })
    }
}
