//! Victim choice: which block of a die is collected next.
//!
//! A policy sees a read-only [`BlockView`] of one die and returns a [`Choice`]; it changes nothing. Merges belong to
//! the translation layers that do them (law 7). To add a policy, write a file and a line in [`REGISTRY`].

use std::collections::BTreeMap;

use serde::Serialize;

pub use crate::blocks::{BlockView, Choice};
use flashwatt_base::registry::{Entry, registry};
use flashwatt_base::rng::Rng;

/// Settings of garbage collection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gc {
    /// The registered policy and its parameters.
    pub policy: GcPolicy,
    /// Collection starts when a die has fewer free blocks than this, ≥ 2 and > `reserved_blocks`.
    pub low_watermark_blocks: u32,
    /// Free blocks of a die that only garbage collection may take, ≥ 1.
    pub reserved_blocks: u32,
    /// Whether host operations may run between the steps of a collection.
    pub preemptible: bool,
}

/// The victim policy of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GcPolicy {
    /// The registered policy. A report contains its name.
    #[serde(rename = "name")]
    pub entry: &'static Policy,
    /// A valid value for each of the policy's parameters.
    pub parameters: BTreeMap<String, f64>,
}

/// The registration of a victim policy. Its `build` needs a valid value for each of the policy's parameters.
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

/// Builds the victim policy of a configuration.
pub fn build(policy: &GcPolicy) -> Box<dyn VictimPolicy> {
    (policy.entry.build)(&policy.parameters)
}

/// Chooses the victim of a collection.
///
/// Contract: the choice is one of the view's candidates, or `None` if the policy found none. The same view and the same state
/// of the random generator give the same choice.
pub trait VictimPolicy: Send {
    /// The next victim of the view's die.
    fn choose(&self, view: &BlockView, rng: &mut Rng) -> Option<Choice>;

    /// What theory gives of the policy's steady state: where the start state `steady` of page mapping comes from. A policy that
    /// answers [`Steady::Known`] promises that its victims always have the fewest valid pages of all candidates. Most policies
    /// keep the answer that is given here.
    fn steady(&self) -> Steady {
        Steady::Near
    }
}

/// What theory gives of the steady state of uniform random writes of whole pages. The theory is that of greedy collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Steady {
    /// The state.
    Known,
    /// A state that the drive leaves for its own within few writes: that of greedy collection.
    Near,
    /// Nothing. The state must be reached by writes to a drive that was filled in address order.
    Unknown,
}

/// The example of `docs/add-a-victim-policy.md`, compiled from that page.
#[cfg(test)]
#[path = "../../examples/guides/patient.rs"]
mod documented_example;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_a_valid_entry() {
        let entry = &documented_example::ENTRY;
        assert_eq!((entry.name, entry.params[0].name), ("patient", "young_percent"));
        let parameters = entry.params.iter().map(|param| (param.name.to_owned(), param.default)).collect();
        let _: Box<dyn VictimPolicy> = (entry.build)(&parameters);
    }
}
