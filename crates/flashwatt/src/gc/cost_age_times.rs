//! Cost-age-times (Chiang, Lee & Chang 1999): the block with the least u / (1 − u) × 1 / age × erases, u its share of
//! valid pages. Like cost-benefit it prefers old blocks; it also prefers blocks with few erases.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use crate::rng::Rng;
use crate::units::BlockId;

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
        view.best(|a, b| better(view, a, b))
    }
}

/// Whether a's score is below b's. Compares cost_a · gain_b with cost_b · gain_a in whole numbers. Ages and erases
/// count from 1, so that an age or an erase count of 0 does not decide alone.
fn better(view: &BlockView, a: BlockId, b: BlockId) -> bool {
    let cost = |block| u128::from(view.valid(block)) * (u128::from(view.erases(block)) + 1);
    let gain = |block| u128::from(view.invalid(block)) * (u128::from(view.age(block)) + 1);
    cost(a) * gain(b) < cost(b) * gain(a)
}
