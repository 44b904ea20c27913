//! Queues of CFQ that become one, because their processes read one region in turns.

use flashwatt_base::mem::FlatTable;

/// Number of a queue.
pub type QueueId = usize;

/// A queue that may become a part of another one.
pub trait SharedQueue {
    /// Processes whose requests it holds.
    fn processes(&mut self) -> &mut u32;

    /// The queue into which its processes move with their next requests (new_cfqq).
    fn joins(&mut self) -> &mut Option<QueueId>;
}

/// Two queues become one: the processes of the one with fewer move with their next requests (cfq_setup_merge).
pub fn plan_sharing<Q: SharedQueue>(queues: &mut FlatTable<Q>, id: QueueId, mut other: QueueId) {
    if queues[id].joins().is_some() || *queues[other].processes() == 0 {
        return;
    }
    while let Some(next) = *queues[other].joins() {
        if next == id {
            return;
        }
        other = next;
    }
    let (own, others) = (*queues[id].processes(), *queues[other].processes());
    if own == 0 || others == 0 {
        return;
    }
    let (from, into, moving) = if others >= own { (id, other, own) } else { (other, id, others) };
    *queues[into].processes() += moving;
    *queues[from].joins() = Some(into);
}
