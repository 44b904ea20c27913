//! Wear levelling: which free block is taken, and when a worn block is given cold data.

use serde::Serialize;

use crate::blocks::BlockView;
use crate::registry::{Entry, registry};
use crate::units::BlockId;

/// Wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wear {
    /// The registered policy; a report has its name.
    pub policy: &'static Policy,
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

/// A policy as it is registered: how it is made of the settings.
pub type Policy = Entry<fn(&Wear) -> Box<dyn WearPolicy>>;

registry! {
    /// Every wear levelling policy that a configuration can name: one file each, the default first.
    REGISTRY: Policy =
        none,
        dynamic,
        static_swap,
}

/// The policy of a configuration.
pub fn build(settings: &Wear) -> Box<dyn WearPolicy> {
    (settings.policy.build)(settings)
}
