//! The victim window (Park et al. 2011, Fig. 6): a share w of the candidates is searched for the block with the fewest
//! valid pages. The search begins at a random candidate. w = 0 takes that one ("Const." in the paper), w = 1 searches
//! all.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::registry::Param;
use flashwatt_base::rng::Rng;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "window",
    doc: "the block with the fewest valid pages among a share w of the candidates, from a random one on (Park 2011)",
    params: &[Param {
        name: "w",
        doc: "share of the candidates that is searched; 0: one at random",
        default: 1.0,
        min: 0.0,
        max: 1.0,
        integer: false,
    }],
    build: |parameters| Box::new(OldestWindow { share: parameters["w"] }),
};

struct OldestWindow {
    share: f64,
}

impl VictimPolicy for OldestWindow {
    fn choose(&self, view: &BlockView, rng: &mut Rng) -> Option<Choice> {
        let count = view.candidates().count();
        if count == 0 {
            return None;
        }
        let searched = ((count as f64 * self.share).ceil() as usize).clamp(1, count);
        let start = rng.below(count as u64) as usize;
        let window = view.candidates().chain(view.candidates()).skip(start).take(searched);
        window.min_by_key(|&block| view.valid(block)).map(|block| Choice { block, searches: searched as u32 })
    }
}
