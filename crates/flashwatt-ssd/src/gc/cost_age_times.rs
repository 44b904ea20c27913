//! Cost-age-times (Chiang, Lee & Chang 1999): the block with the least u / (1 − u) × 1 / age × erases, u its share of
//! valid pages. Like cost-benefit it prefers old blocks; it also prefers blocks with few erases.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::BlockId;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "cost_age_times",
    doc: "the block with the least u / (1 - u) x 1 / age x erases, u its share of valid pages (Chiang 1999)",
    params: &[],
    build: |_| Box::new(CostAgeTimes),
};

struct CostAgeTimes;

impl VictimPolicy for CostAgeTimes {
    fn choose(&self, view: &BlockView, _rng: &mut Rng) -> Option<Choice> {
        view.best(|block| Score::of(block, view), Score::is_below)
    }
}

/// valid · erases / (invalid · age) of a block, as a fraction. Ages and erases count from 1, so that an age or an erase count
/// of 0 does not decide alone.
struct Score {
    cost: u64,
    gain: u64,
}

impl Score {
    fn of(block: BlockId, view: &BlockView) -> Self {
        Score {
            cost: u64::from(view.valid(block)) * (u64::from(view.erases(block)) + 1),
            gain: u64::from(view.invalid(block)) * (u64::from(view.age(block)) + 1),
        }
    }

    fn is_below(&self, other: &Self) -> bool {
        u128::from(self.cost) * u128::from(other.gain) < u128::from(other.cost) * u128::from(self.gain)
    }
}
