//! Tests of the page cache, the flusher, operations and ageing: by hand, on a file system that gives each file a fixed place.

mod aged;
mod by_hand;
mod flat;
pub(crate) mod harness;
mod pointed;
mod restarts;
