//! Greedy: the block with the fewest valid pages.

use super::VictimPolicy;
use crate::registry::Entry;

/// The registry line.
pub const ENTRY: Entry<dyn VictimPolicy> = Entry {
    name: "greedy",
    doc: "the block with the fewest valid pages",
    params: &[],
    build: |_| Box::new(Greedy),
};

struct Greedy;

impl VictimPolicy for Greedy {}
