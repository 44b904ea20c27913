//! Reads of the host and of the map in one queue, everything else as planned in another.

use super::{Order, Policy};
use crate::controller::op::Queue;
use crate::operation::{Cause, OpKind};

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "reads_first",
    doc: "host and map reads before everything else, which goes as planned",
    params: &[],
    build: Order { queue_of, in_order: Some(REST), inherits: true },
};

/// The queue of all operations but the reads of the host and of the map.
const REST: Queue = Queue::HostWrite;

fn queue_of(kind: OpKind, cause: Cause) -> Queue {
    match (kind, cause) {
        (OpKind::Read, Cause::Host | Cause::Map) => Queue::HostRead,
        _ => REST,
    }
}
