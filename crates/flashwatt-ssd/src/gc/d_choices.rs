//! d-choices (Van Houdt 2013): the block with the fewest valid pages of d candidates drawn at random. d = 1 is the
//! policy `random`; with d → ∞ it becomes `greedy`.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::registry::Param;
use flashwatt_base::rng::Rng;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "d_choices",
    doc: "of d blocks drawn at random the one with the fewest valid pages (Van Houdt 2013)",
    params: &[Param {
        name: "d",
        doc: "blocks drawn (with replacement)",
        default: 10.0,
        min: 1.0,
        max: 65_535.0,
        integer: true,
    }],
    build: |parameters| Box::new(DChoices { d: parameters["d"] as u32 }),
};

struct DChoices {
    d: u32,
}

impl VictimPolicy for DChoices {
    fn choose(&self, view: &BlockView, rng: &mut Rng) -> Option<Choice> {
        let drawn = (0..self.d).filter_map(|_| view.random_candidate(rng));
        drawn.min_by_key(|&block| view.valid(block)).map(|block| Choice { block, searches: self.d })
    }
}
