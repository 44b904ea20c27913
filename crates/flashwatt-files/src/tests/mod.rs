//! Tests of the page cache, the flusher and operations: by hand, on a file system that gives each file a fixed place.

mod by_hand;
mod flat;
pub(crate) mod harness;
