//! Greedy with patience: of the oldest candidates, the one with the fewest valid pages. Young blocks wait, because
//! their pages may soon be overwritten.

use std::cmp::Reverse;

use super::{Policy, VictimPolicy};
use crate::blocks::{BlockView, Choice};
use flashwatt_base::registry::Param;
use flashwatt_base::rng::Rng;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "patient",
    doc: "of the oldest candidates the one with the fewest valid pages",
    params: &[Param {
        name: "young_percent",
        doc: "share of the candidates, the youngest ones, that are passed over",
        default: 50.0,
        min: 0.0,
        max: 99.0,
        integer: true,
    }],
    build: |parameters| Box::new(Patient { young_percent: parameters["young_percent"] as usize }),
};

struct Patient {
    young_percent: usize,
}

impl VictimPolicy for Patient {
    fn choose(&self, view: &BlockView, _rng: &mut Rng) -> Option<Choice> {
        let mut candidates: Vec<_> = view.candidates().collect();
        let searches = candidates.len() as u32;
        candidates.sort_by_key(|&block| Reverse(view.age(block)));
        candidates.truncate(candidates.len() - candidates.len() * self.young_percent / 100);
        let block = candidates.into_iter().min_by_key(|&block| view.valid(block))?;
        Some(Choice { block, searches })
    }
}
