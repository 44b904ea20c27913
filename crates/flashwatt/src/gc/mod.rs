//! Victim choice: which block of a die is collected next.
//!
//! A policy sees a read-only [`BlockView`] of one die and answers with a [`Choice`]; it never acts. How blocks are merged
//! belongs to the translation layer that merges them, not here. To add a policy: one file, one line in [`REGISTRY`].

use std::collections::BTreeMap;

use serde::Serialize;

pub use crate::blocks::{BlockView, Choice};
use crate::registry::{Entry, find, registry};
use crate::rng::Rng;

/// Garbage collection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gc {
    /// The registered policy and its parameters.
    pub policy: GcPolicy,
    /// Collection starts when a die has fewer free blocks than this, ≥ 2 and > `reserved_blocks`.
    pub low_watermark_blocks: u32,
    /// Free blocks of a die that only garbage collection may take, ≥ 1.
    pub reserved_blocks: u32,
    /// Host operations may go between the steps of a collection.
    pub preemptible: bool,
}

/// A registered victim policy by name, with its numeric parameters in the order of the registry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GcPolicy {
    /// The registered name.
    pub name: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, f64>,
}

registry! {
    /// Every victim policy that a configuration can name: one file each.
    REGISTRY: Entry<dyn VictimPolicy> =
        greedy,
        cost_benefit,
        cost_age_times,
        random,
        d_choices,
        fifo,
        window,
}

/// The policy of a configuration, which has checked the name and the parameters.
pub fn build(policy: &GcPolicy) -> Box<dyn VictimPolicy> {
    match find(REGISTRY, &policy.name) {
        Ok(entry) => (entry.build)(&policy.parameters),
        Err(_) => unreachable!("a configuration names registered policies only"),
    }
}

/// Chooses the block that is collected next.
///
/// Contract: the choice is one of the view's candidates, or `None` if the policy found no such block; the same view and
/// generator state give the same choice.
pub trait VictimPolicy: Send {
    /// The next victim of a die.
    fn choose(&self, view: &BlockView, rng: &mut Rng) -> Option<Choice>;
}
