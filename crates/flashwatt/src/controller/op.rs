//! Operations that are planned or under way, and what they wait for.

use std::hint::cold_path;

use crate::device::FlashAddress;
use crate::mem::FlatTable;
use crate::operation::{Cause, OpKind};
use crate::probe::OpFacts;
use crate::units::{BlockId, OpId, RequestId};

/// What a die can turn to next, in the order of precedence: its queues of operations, and two places at which background
/// work is asked for. The numbers are bits of a die's `ready` mask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Queue {
    /// Background work that must not be interrupted.
    Front,
    /// No queue: background work is to be asked for now.
    UrgentJob,
    /// Reads of the host.
    HostRead,
    /// Pages of the map.
    Map,
    /// Writes of the host.
    HostWrite,
    /// No queue: background work is to be asked for if the host wants nothing.
    Job,
    /// Merges, garbage collection, wear levelling.
    Background,
    /// Erases.
    Erase,
}

impl Queue {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// The bits of a `ready` mask that ask for background work.
    pub const OF_BACKGROUND: u32 = 1 << Queue::UrgentJob as u32 | 1 << Queue::Job as u32;
}

/// Does an operation stand for others, in the queues of other dies?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Role {
    /// It is the only one.
    Single,
    /// It has stand-ins: reads of other copies of its page, of which the first to start is done for all.
    Read,
    /// It is one of those.
    StandIn,
}

/// A planned operation. In a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Op {
    /// Its plan number: older ones are smaller.
    pub seq: u64,
    /// What.
    pub kind: OpKind,
    /// Why.
    pub cause: Cause,
    /// In which of its die's queues.
    pub queue: Queue,
    /// How many things it still waits for.
    pub blockers: u8,
    /// Is it under way?
    pub started: bool,
    /// Are there others for the same?
    pub role: Role,
    /// Does it wait for the data of more operations than `after`? See [`OpTable::awaited`].
    awaits_more: bool,
    /// Which page, or of which block the first.
    pub at: FlashAddress,
    /// A copyback's source, or where a read's data is to be programmed: see [`Self::turns_into_program`].
    pub other: FlashAddress,
    /// For which request, if for one.
    pub request: RequestId,
    /// The block whose data its program makes obsolete.
    pub replaces: BlockId,
    /// The next one in its queue.
    pub next: OpId,
    /// The first one whose data it waits for, while it does.
    pub after: OpId,
    /// First of the list of edges to those that wait for it.
    dependents: u32,
    /// First of the list of further blocks that it makes data obsolete in.
    more_replaced: u32,
}

impl Op {
    /// What observers see of it.
    #[inline(always)]
    pub fn facts(&self) -> OpFacts {
        let Op { seq, kind, cause, at, other, request, replaces, .. } = *self;
        OpFacts { seq, kind, cause, at, other, request, replaces }
    }

    /// Is this the first half of a copy? When it ends it becomes the second: the program of page `other`.
    #[inline(always)]
    pub fn turns_into_program(&self) -> bool {
        self.kind == OpKind::Read && self.other.block.is_some()
    }

    /// The page that it programs, at once or as the second half of a copy.
    pub fn programs(&self) -> Option<FlashAddress> {
        match self.kind {
            OpKind::Program | OpKind::Copyback => Some(self.at),
            OpKind::Read if self.turns_into_program() => Some(self.other),
            _ => None,
        }
    }
}

/// On what an edge waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// The older operation's start.
    Start,
    /// Its end.
    End,
}

#[derive(Clone, Copy)]
struct OpNode {
    value: u32,
    until: Until,
    next: u32,
}

const NIL: u32 = u32::MAX;

/// All operations, by id. Ids are reused after an operation's end.
pub struct OpTable {
    ops: FlatTable<Op>,
    /// The first free id; each free operation's `next` is the one after it.
    free: OpId,
    nodes: Vec<OpNode>,
    free_nodes: Vec<u32>,
    /// Operations that wait for the data of several others: who waits, and for which besides its `after`. Few at a time.
    more_awaited: Vec<(OpId, OpId)>,
}

impl Default for OpTable {
    fn default() -> Self {
        OpTable {
            ops: Vec::new().into(),
            free: OpId::NONE,
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            more_awaited: Vec::new(),
        }
    }
}

impl OpTable {
    /// Adds an operation that waits for nothing yet.
    #[inline(always)]
    pub fn insert(&mut self, new: NewOp) -> OpId {
        let op = Op {
            seq: new.seq,
            kind: new.kind,
            cause: new.cause,
            queue: new.queue,
            blockers: 0,
            started: false,
            role: Role::Single,
            awaits_more: false,
            at: new.at,
            other: new.other,
            request: new.request,
            replaces: new.replaces,
            next: OpId::NONE,
            after: OpId::NONE,
            dependents: NIL,
            more_replaced: NIL,
        };
        let id = self.free;
        if id.is_none() {
            cold_path();
            self.ops.push(op);
            return OpId(self.ops.len() as u32 - 1);
        }
        self.free = self.ops[id.idx()].next;
        self.ops[id.idx()] = op;
        id
    }

    /// Removes an operation that nothing waits for any more.
    #[inline(always)]
    pub fn remove(&mut self, id: OpId) {
        debug_assert!(self.ops[id.idx()].dependents == NIL && self.ops[id.idx()].more_replaced == NIL);
        self.ops[id.idx()].next = std::mem::replace(&mut self.free, id);
    }

    /// `younger` waits for `older`.
    pub fn wait(&mut self, younger: OpId, older: OpId, until: Until) {
        let node = self.node(younger.0, until, self.ops[older.idx()].dependents);
        self.ops[older.idx()].dependents = node;
        self.ops[younger.idx()].blockers += 1;
        if until == Until::End {
            let op = &mut self.ops[younger.idx()];
            if op.after.is_none() {
                op.after = older;
            } else {
                op.awaits_more = true;
                self.more_awaited.push((younger, older));
            }
        }
    }

    /// The operations whose data this one waits for.
    pub fn awaited(&self, id: OpId) -> impl Iterator<Item = OpId> + '_ {
        let op = &self.ops[id.idx()];
        let more: &[(OpId, OpId)] = if op.awaits_more { &self.more_awaited } else { &[] };
        let first = op.after.is_some().then_some(op.after);
        first.into_iter().chain(more.iter().filter(move |(younger, _)| *younger == id).map(|&(_, older)| older))
    }

    /// The data of `older`, which `younger` waited for, is there.
    pub fn stop_awaiting(&mut self, younger: OpId, older: OpId) {
        let op = &mut self.ops[younger.idx()];
        if op.after == older {
            op.after = OpId::NONE;
        } else {
            self.more_awaited.retain(|&edge| edge != (younger, older));
        }
        if op.awaits_more && op.blockers <= 1 {
            op.awaits_more = false; // this was the last
        }
    }

    /// Takes one of those that wait for this of `id`, if there is one.
    #[inline(always)]
    pub fn pop_dependent(&mut self, id: OpId, until: Until) -> Option<OpId> {
        let first = self.ops[id.idx()].dependents;
        if first == NIL {
            return None;
        }
        cold_path();
        self.unlink_dependent(id, until)
    }

    fn unlink_dependent(&mut self, id: OpId, until: Until) -> Option<OpId> {
        let mut before = NIL;
        let mut at = self.ops[id.idx()].dependents;
        while at != NIL {
            let node = self.nodes[at as usize];
            if node.until == until {
                match before {
                    NIL => self.ops[id.idx()].dependents = node.next,
                    _ => self.nodes[before as usize].next = node.next,
                }
                self.free_nodes.push(at);
                return Some(OpId(node.value));
            }
            (before, at) = (at, node.next);
        }
        None
    }

    /// A block that is to be released when the program ends.
    pub fn release_at_end(&mut self, id: OpId, block: BlockId) {
        if self.ops[id.idx()].replaces.is_none() {
            self.ops[id.idx()].replaces = block;
        } else {
            self.push_replaced(id, block);
        }
    }

    /// A further block that the program makes data obsolete in.
    pub fn push_replaced(&mut self, id: OpId, block: BlockId) {
        let node = self.node(block.0, Until::End, self.ops[id.idx()].more_replaced);
        self.ops[id.idx()].more_replaced = node;
    }

    /// Takes one of those blocks.
    #[inline(always)]
    pub fn pop_replaced(&mut self, id: OpId) -> Option<BlockId> {
        let first = self.ops[id.idx()].more_replaced;
        if first == NIL {
            return None;
        }
        cold_path();
        let node = self.nodes[first as usize];
        self.ops[id.idx()].more_replaced = node.next;
        self.free_nodes.push(first);
        Some(BlockId(node.value))
    }

    fn node(&mut self, value: u32, until: Until, next: u32) -> u32 {
        let node = OpNode { value, until, next };
        match self.free_nodes.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }
}

impl std::ops::Index<OpId> for OpTable {
    type Output = Op;

    #[inline(always)]
    fn index(&self, id: OpId) -> &Op {
        &self.ops[id.idx()]
    }
}

impl std::ops::IndexMut<OpId> for OpTable {
    #[inline(always)]
    fn index_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.ops[id.idx()]
    }
}

/// What is known of an operation when it is planned.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct NewOp {
    pub seq: u64,
    pub kind: OpKind,
    pub cause: Cause,
    pub queue: Queue,
    pub at: FlashAddress,
    pub other: FlashAddress,
    pub request: RequestId,
    pub replaces: BlockId,
}
