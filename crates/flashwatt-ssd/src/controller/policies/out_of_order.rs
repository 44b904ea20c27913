//! By class: a queue for each.

use super::{Policy, QueueOrder, class_of};

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "out_of_order",
    doc: "by class (host read, map, host write, merge and gc, erase), then as planned",
    params: &[],
    build: QueueOrder { queue_of: class_of, in_order: None, inherits: true },
};
