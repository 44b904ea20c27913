//! Dispatch policies: the order of operations on a die.
//!
//! A policy says which queue of its die an operation goes to, by kind and cause. Queues are served in the order of [`OpQueue`], each
//! by plan number. One file each, one line each in the list below.

use crate::controller::op::OpQueue;
use crate::operation::{Cause, OpKind};
use flashwatt_base::registry::{Entry, registry};

/// How operations are put into the queues of a die.
#[derive(Clone, Copy, Debug)]
pub struct QueueOrder {
    /// The queue of operations of this kind and cause.
    pub queue_of: fn(kind: OpKind, cause: Cause) -> OpQueue,
    /// The queue that is worked off strictly as planned: it holds operations that are not ready, too, and only its head starts.
    pub in_order: Option<OpQueue>,
    /// Does an operation that another one waits for move up to the queue of that one?
    pub inherits: bool,
}

/// A dispatch policy as it is registered.
pub type Policy = Entry<QueueOrder>;

registry! {
    /// Every dispatch policy that a configuration can name: one file each, the default first.
    REGISTRY: Policy =
        out_of_order,
        reads_first,
        in_order,
}

/// The class of an operation.
fn class_of(kind: OpKind, cause: Cause) -> OpQueue {
    match (kind, cause) {
        (OpKind::Erase, _) => OpQueue::Erase,
        (_, Cause::Map) => OpQueue::Map,
        (OpKind::Read, Cause::Host) => OpQueue::HostRead,
        (_, Cause::Host | Cause::Journal | Cause::Pad) => OpQueue::HostWrite,
        _ => OpQueue::Background,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that completes a row goes with those of the host that it is programmed with, and folding goes as collection does.
    #[test]
    fn padding_goes_as_a_write_and_folding_as_collection() {
        for policy in REGISTRY {
            let queue_of = policy.build.queue_of;
            assert_eq!(
                queue_of(OpKind::Program, Cause::Pad),
                queue_of(OpKind::Program, Cause::Host),
                "{}",
                policy.name
            );
            for kind in OpKind::ALL {
                assert_eq!(queue_of(kind, Cause::Fold), queue_of(kind, Cause::Gc), "{}: {}", policy.name, kind.name());
            }
        }
    }
}
