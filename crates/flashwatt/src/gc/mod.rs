//! Victim choice: which block of a die is collected next.
//!
//! A policy sees a read-only [`BlockView`] of one die and answers with a [`Choice`]; it never acts. How blocks are merged
//! belongs to the translation layer that merges them, not here. To add a policy: one file, one line in [`REGISTRY`].

use std::collections::BTreeMap;

use serde::Serialize;

pub use crate::blocks::{BlockView, Choice};
use crate::registry::{Entry, registry};
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

/// The victim policy of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GcPolicy {
    /// The registered policy; a report has its name.
    #[serde(rename = "name")]
    pub entry: &'static Policy,
    /// A valid value for each of its parameters.
    pub parameters: BTreeMap<String, f64>,
}

/// A victim policy as it is registered: how it is made of a valid value for each of its parameters.
pub type Policy = Entry<fn(parameters: &BTreeMap<String, f64>) -> Box<dyn VictimPolicy>>;

registry! {
    /// Every victim policy that a configuration can name: one file each, the default first.
    REGISTRY: Policy =
        greedy,
        cost_benefit,
        cost_age_times,
        random,
        d_choices,
        fifo,
        window,
}

/// The policy of a configuration.
pub fn build(policy: &GcPolicy) -> Box<dyn VictimPolicy> {
    (policy.entry.build)(&policy.parameters)
}

/// Chooses the block that is collected next.
///
/// Contract: the choice is one of the view's candidates, or `None` if the policy found no such block; the same view and
/// generator state give the same choice.
pub trait VictimPolicy: Send {
    /// The next victim of a die.
    fn choose(&self, view: &BlockView, rng: &mut Rng) -> Option<Choice>;
}
