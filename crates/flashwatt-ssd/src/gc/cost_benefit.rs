//! Cost-benefit (Kawaguchi, Nishioka & Motoda 1995): the block with the greatest age × (1 − u) / 2u, u its share of
//! valid pages. It prefers old blocks, because their remaining pages are unlikely to be overwritten soon.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::rng::Rng;

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
        let units = view.units_per_block();
        view.best_by_age(|age, valid| Score::of(age, units - valid, valid), Score::is_above)
    }
}

/// age · invalid / valid of a block, as a fraction. That of a block without valid pages is infinite.
struct Score {
    gain: u64,
    valid: u64,
}

impl Score {
    fn of(age: u32, invalid: u32, valid: u32) -> Self {
        Score { gain: (u64::from(age) + 1) * u64::from(invalid), valid: u64::from(valid) }
    }

    /// Whether this score is above another one. An age is below 2^32, and the invalid units of one block times the valid ones of
    /// another at most (2^16 − 1)²: a product fits 64 bits.
    fn is_above(&self, other: &Self) -> bool {
        self.gain * other.valid > other.gain * self.valid
    }
}
