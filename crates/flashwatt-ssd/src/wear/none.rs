//! No wear levelling: free blocks are taken in the order in which they were erased.

use super::{Policy, WearPolicy};

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "none",
    doc: "free blocks are taken in the order in which they were erased",
    params: &[],
    build: |_| Box::new(NoLevelling),
};

struct NoLevelling;

impl WearPolicy for NoLevelling {
    fn least_worn_first(&self) -> bool {
        false
    }
}
