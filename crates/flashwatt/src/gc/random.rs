//! Random: any block with something to gain.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use crate::rng::Rng;

/// The registry line.
pub const ENTRY: Policy =
    Policy { name: "random", doc: "any block with something to gain", params: &[], build: |_| Box::new(Random) };

struct Random;

impl VictimPolicy for Random {
    fn choose(&self, view: &BlockView, rng: &mut Rng) -> Option<Choice> {
        view.random_candidate(rng).map(|block| Choice { block, searches: 1 })
    }
}
