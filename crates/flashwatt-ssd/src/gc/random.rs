//! Random: a candidate drawn at random, all equally likely.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::rng::Rng;

/// The registry line.
pub const ENTRY: Policy =
    Policy { name: "random", doc: "any block with space to gain", params: &[], build: |_| Box::new(Random) };

struct Random;

impl VictimPolicy for Random {
    fn choose(&self, view: &BlockView, rng: &mut Rng) -> Option<Choice> {
        view.random_candidate(rng).map(|block| Choice { block, searches: 1 })
    }
}
