//! First in, first out: the block that was filled longest ago.

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::rng::Rng;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "fifo",
    doc: "of the blocks with space to gain the one that was filled longest ago",
    params: &[],
    build: |_| Box::new(Fifo),
};

struct Fifo;

impl VictimPolicy for Fifo {
    fn choose(&self, view: &BlockView, _rng: &mut Rng) -> Option<Choice> {
        view.candidates().max_by_key(|&block| view.age(block)).map(|block| Choice { block, searches: 1 })
    }
}
