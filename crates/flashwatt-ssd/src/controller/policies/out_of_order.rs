//! By class: a queue for each.

use super::{Order, Policy, class_of};

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "out_of_order",
    doc: "by class (host read, map, host write, merge and gc, erase), then as planned",
    params: &[],
    build: Order { queue_of: class_of, in_order: None, inherits: true },
};
