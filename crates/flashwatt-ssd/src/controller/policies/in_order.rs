//! As planned: one queue for everything.

use super::{Policy, QueueOrder};
use crate::controller::op::OpQueue;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "in_order",
    doc: "as planned, first in first out on each die; background work when nothing else is planned for it",
    params: &[],
    build: QueueOrder { queue_of: |_, _| ALL, in_order: Some(ALL), inherits: false },
};

/// The queue of all operations of a die.
const ALL: OpQueue = OpQueue::HostRead;
