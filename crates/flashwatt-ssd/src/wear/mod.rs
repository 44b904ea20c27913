//! Wear levelling: which free block is taken next, and when cold data moves into a worn block.

use serde::Serialize;

use crate::blocks::BlockView;
use flashwatt_base::registry::{Entry, registry};
use flashwatt_base::units::BlockId;

/// Settings of wear levelling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wear {
    /// The registered policy. A report contains its name.
    pub policy: &'static Policy,
    /// For `static_swap`: a victim is swapped only if its erases exceed this many times the drive's mean, ≥ 1.
    pub ratio: f64,
    /// For `static_swap`: a victim is swapped only if its erases exceed the drive's mean by at least this many.
    pub min_gap: u32,
}

/// A wear levelling policy. It decides and changes nothing.
pub trait WearPolicy: Send {
    /// Whether the free block with the fewest erases is taken first, instead of the one erased longest ago.
    fn least_worn_first(&self) -> bool;

    /// The block whose data moves into `victim` once `victim` has been erased, or `None` for no move. A worn block that
    /// holds data that seldom changes is not erased for a long time. Called when garbage collection has chosen
    /// `victim`.
    fn swap(&self, _victim: BlockId, _view: &BlockView) -> Option<BlockId> {
        None
    }
}

/// The registration of a wear levelling policy. Its `build` makes the policy from the settings.
pub type Policy = Entry<fn(&Wear) -> Box<dyn WearPolicy>>;

registry! {
    /// Every wear levelling policy that a configuration can name: one file each, the default first.
    REGISTRY: Policy =
        none,
        dynamic,
        static_swap,
}

/// Builds the wear levelling policy of a configuration.
pub fn build(settings: &Wear) -> Box<dyn WearPolicy> {
    (settings.policy.build)(settings)
}
