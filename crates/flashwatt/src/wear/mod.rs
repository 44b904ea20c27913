//! Wear levelling: which free block is taken, and when a worn block is given cold data.

use serde::Serialize;

use crate::blocks::BlockView;
use crate::registry::registry;
use crate::units::BlockId;

/// Wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wear {
    /// The registered policy.
    pub policy: String,
    /// `static_swap`: ratio over the mean.
    pub ratio: f64,
    /// `static_swap`: erases over the mean.
    pub min_gap: u32,
}

/// A wear levelling policy. Decides, and does not act.
pub trait WearPolicy: Send {
    /// Is the least worn free block taken first (instead of the one erased longest ago)?
    fn least_worn_first(&self) -> bool;

    /// `victim` has been chosen for collection. The block whose data should move into it once it is erased, if it is
    /// time for that: worn blocks rest under data that does not change.
    fn swap(&self, _victim: BlockId, _view: &BlockView) -> Option<BlockId> {
        None
    }
}

/// A policy as it is registered.
pub struct Entry {
    /// The name in configurations.
    pub name: &'static str,
    /// One line for the user.
    pub doc: &'static str,
    /// Makes one.
    pub build: fn(&Wear) -> Box<dyn WearPolicy>,
}

registry! {
    /// Every wear levelling policy that a configuration can name: one file each.
    REGISTRY: Entry =
        none,
        dynamic,
        static_swap,
}

/// The policy of a configuration, which has checked the name.
pub fn build(config: &Wear) -> Box<dyn WearPolicy> {
    match REGISTRY.iter().find(|entry| entry.name == config.policy) {
        Some(entry) => (entry.build)(config),
        None => unreachable!("a configuration names registered policies only"),
    }
}
