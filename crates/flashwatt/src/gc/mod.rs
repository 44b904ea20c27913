//! Victim choice: which block of a die is collected next. Merging belongs to the scheme that merges, not here.

mod greedy;

use crate::registry::Entry;

/// Chooses the block that is collected next.
pub trait VictimPolicy {}

/// Every victim policy that a configuration can name.
pub const REGISTRY: &[Entry<dyn VictimPolicy>] = &[greedy::ENTRY];
