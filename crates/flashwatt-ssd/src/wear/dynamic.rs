//! Dynamic wear levelling: the free block with the fewest erases is taken first.

use super::{Policy, WearPolicy};

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "dynamic",
    doc: "the least worn free block is taken first",
    params: &[],
    build: |_| Box::new(Dynamic),
};

struct Dynamic;

impl WearPolicy for Dynamic {
    fn least_worn_first(&self) -> bool {
        true
    }
}
