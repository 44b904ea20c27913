//! Reads of the host and of the map in one queue, everything else as planned in another.

use super::{Policy, QueueOrder};
use crate::controller::op::OpQueue;
use crate::operation::{Cause, OpKind};

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "reads_first",
    doc: "host and map reads before everything else, which goes as planned",
    params: &[],
    build: QueueOrder { queue_of, in_order: Some(REST), inherits: true },
};

/// The queue of all operations but the reads of the host and of the map.
const REST: OpQueue = OpQueue::HostWrite;

fn queue_of(kind: OpKind, cause: Cause) -> OpQueue {
    match (kind, cause) {
        (OpKind::Read, Cause::Host | Cause::Map) => OpQueue::HostRead,
        _ => REST,
    }
}
