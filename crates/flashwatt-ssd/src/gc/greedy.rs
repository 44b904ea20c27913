//! Greedy: the block with the fewest valid pages. This is optimal for uniform random writes.

use super::{Policy, Steady, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::rng::Rng;

/// The registry line.
pub const ENTRY: Policy =
    Policy { name: "greedy", doc: "the block with the fewest valid pages", params: &[], build: |_| Box::new(Greedy) };

struct Greedy;

impl VictimPolicy for Greedy {
    fn choose(&self, view: &BlockView, _rng: &mut Rng) -> Option<Choice> {
        view.fewest_valid().map(|block| Choice { block, searches: view.blocks_in_die() })
    }

    fn steady(&self) -> Steady {
        Steady::Known
    }
}
