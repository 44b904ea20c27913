//! Cost-benefit (Kawaguchi, Nishioka & Motoda 1995): the block with the greatest age × (1 − u) / 2u, u its share of
//! valid pages. It prefers old blocks, because their remaining pages are unlikely to be overwritten soon.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use crate::rng::Rng;
use crate::units::BlockId;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "cost_benefit",
    doc: "the block with the greatest age x (1 - u) / 2u, u its share of valid pages (Kawaguchi 1995)",
    params: &[],
    build: |_| Box::new(CostBenefit),
};

struct CostBenefit;

impl VictimPolicy for CostBenefit {
    fn choose(&self, view: &BlockView, _rng: &mut Rng) -> Option<Choice> {
        view.best(|a, b| better(view, a, b))
    }
}

/// Whether a's score is above b's: age_a · invalid_a / valid_a > age_b · invalid_b / valid_b, in whole numbers. The
/// score of a block without valid pages is infinite.
fn better(view: &BlockView, a: BlockId, b: BlockId) -> bool {
    let gain = |block| (u128::from(view.age(block)) + 1) * u128::from(view.invalid(block));
    gain(a) * u128::from(view.valid(b)) > gain(b) * u128::from(view.valid(a))
}
