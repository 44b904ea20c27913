//! Dynamic wear levelling: the least worn free block is taken first.

use super::{Entry, WearPolicy};

/// The registry line.
pub const ENTRY: Entry =
    Entry { name: "dynamic", doc: "the least worn free block is taken first", build: |_| Box::new(Dynamic) };

struct Dynamic;

impl WearPolicy for Dynamic {
    fn least_worn_first(&self) -> bool {
        true
    }
}
