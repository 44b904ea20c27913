//! Planned and running operations, and the conditions that they wait for.

use std::hint::cold_path;

use crate::nand::FlashAddress;
use crate::observe::probe::OpFacts;
use crate::operation::{Cause, OpKind};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{BlockId, OpId, RequestId};

/// The choices of a die for its next operation, in order of precedence: its queues of operations, and two places for a step of
/// background work that the controller has not asked for yet. The numbers are bits of a die's `ready` mask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum OpQueue {
    /// Operations of urgent steps of background work.
    Front,
    /// No queue: asks for a step of background work, whose operations precede all others.
    UrgentStep,
    /// Reads of the host.
    HostRead,
    /// Pages of the map.
    Map,
    /// Writes of the host.
    HostWrite,
    /// No queue: asks for a step of background work if no host operation is ready.
    Step,
    /// Merges, garbage collection, wear levelling.
    Background,
    /// Erases.
    Erase,
}

impl OpQueue {
    /// Number of choices.
    pub const COUNT: usize = 8;

    /// The bits of a `ready` mask that ask for background work.
    pub const OF_BACKGROUND: u32 = 1 << OpQueue::UrgentStep as u32 | 1 << OpQueue::Step as u32;
}

/// The role of an operation among reads of several copies of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Role {
    /// The operation has no stand-ins.
    Single,
    /// The operation has stand-ins: reads of other copies of its page in the queues of other dies. The first of all to start
    /// serves the read.
    Read,
    /// The operation is a stand-in of a read.
    StandIn,
    /// The operation is the first half of a copy within its die: its data does not move out.
    OnDie,
    /// The operation stands for a row in the queues of its die.
    Row,
    /// The operation is the program of a page, as a member of a row. It is in no queue.
    Member,
    /// The same, with data that is on the die.
    OnDieMember,
    /// The operation is a read of a page whose row is not on flash yet. It is in no queue.
    Memory,
}

impl Role {
    /// Whether an operation is in a queue when it is ready.
    #[inline(always)]
    pub fn is_queued(self) -> bool {
        (self as u8) < Role::Member as u8
    }
}

/// A planned or running operation, in a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Op {
    /// Its plan number; older operations have smaller numbers.
    pub seq: u64,
    /// Its kind.
    pub kind: OpKind,
    /// Its cause.
    pub cause: Cause,
    /// Its queue at its die.
    pub queue: OpQueue,
    /// Number of conditions that it waits for.
    pub blockers: u8,
    /// Whether it is running.
    pub started: bool,
    /// Its role among reads of several copies.
    pub role: Role,
    /// Whether it reads an erased page.
    pub is_blank: bool,
    /// Whether it waits for the data of more operations than `after`, see [`OpTable::awaited`].
    awaits_more: bool,
    /// Its page, or the first page of its block.
    pub at: FlashAddress,
    /// The source of a copyback, or the page to program with a read's data, see [`Self::turns_into_program`]. Of another read nowhere;
    /// its page is then what [`Self::sectors`] says.
    pub other: FlashAddress,
    /// The request that it belongs to, if any.
    pub request: RequestId,
    /// The block whose data its program makes obsolete.
    pub replaces: BlockId,
    /// The next operation in its queue.
    pub next: OpId,
    /// The first operation whose data it waits for.
    pub after: OpId,
    /// First of the list of operations that wait for it.
    dependents: u32,
    /// First of the list of further blocks with data that it makes obsolete.
    more_replaced: u32,
}

impl Op {
    /// The facts that probes see.
    #[inline(always)]
    pub fn facts(&self) -> OpFacts {
        let Op { seq, kind, cause, at, other, request, replaces, .. } = *self;
        OpFacts { seq, kind, cause, at, other, request, replaces }
    }

    /// Whether this is the first half of a copy. At its end it becomes the second half: the program of page `other`.
    #[inline(always)]
    pub fn turns_into_program(&self) -> bool {
        (self.kind == OpKind::Read) & self.other.block.is_some() // no branch: which reads are copies follows no pattern
    }

    /// Of a read, the sectors of its page that cross the bus; 0 for the whole page.
    #[inline(always)]
    pub fn sectors(&self) -> u32 {
        if self.kind == OpKind::Read && self.other.block.is_none() { self.other.page } else { 0 }
    }

    /// The page that it programs, now or as the second half of a copy.
    pub fn programs(&self) -> Option<FlashAddress> {
        match self.kind {
            OpKind::Program | OpKind::Copyback => Some(self.at),
            OpKind::Read if self.turns_into_program() => Some(self.other),
            _ => None,
        }
    }
}

/// The condition of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// The older operation has started.
    Start,
    /// The older operation has ended.
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
#[derive(Clone)]
pub struct OpTable {
    ops: FlatTable<Op>,
    /// The first free id; each free operation's `next` is the one after it.
    free: OpId,
    nodes: Vec<OpNode>,
    free_nodes: Vec<u32>,
    /// Operations that wait for the data of several others: pairs of the operation and one that it waits for beyond `after`.
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
    /// Adds an operation without conditions.
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
            is_blank: new.is_blank,
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

    /// Removes an operation that no other waits for.
    #[inline(always)]
    pub fn remove(&mut self, id: OpId) {
        debug_assert!(self.ops[id.idx()].dependents == NIL && self.ops[id.idx()].more_replaced == NIL);
        self.ops[id.idx()].next = std::mem::replace(&mut self.free, id);
    }

    /// Makes `younger` wait for `older`.
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

    /// The operations whose data an operation waits for.
    pub fn awaited(&self, id: OpId) -> impl Iterator<Item = OpId> + '_ {
        let op = &self.ops[id.idx()];
        let more: &[(OpId, OpId)] = if op.awaits_more { &self.more_awaited } else { &[] };
        let first = op.after.is_some().then_some(op.after);
        first.into_iter().chain(more.iter().filter(move |(younger, _)| *younger == id).map(|&(_, older)| older))
    }

    /// Removes the condition of `younger` on the data of `older`.
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

    /// Takes one of the operations that wait for this event of `id`, if there is one.
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

    /// Adds a block to release when the program ends.
    pub fn release_at_end(&mut self, id: OpId, block: BlockId) {
        if self.ops[id.idx()].replaces.is_none() {
            self.ops[id.idx()].replaces = block;
        } else {
            self.push_replaced(id, block);
        }
    }

    /// Adds a further block with data that the program makes obsolete.
    pub fn push_replaced(&mut self, id: OpId, block: BlockId) {
        let node = self.node(block.0, Until::End, self.ops[id.idx()].more_replaced);
        self.ops[id.idx()].more_replaced = node;
    }

    /// Takes one of those further blocks.
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

    /// The blocks with data that the program makes obsolete.
    pub fn replaced(&self, id: OpId) -> Vec<BlockId> {
        let op = &self.ops[id.idx()];
        let mut blocks: Vec<BlockId> = op.replaces.is_some().then_some(op.replaces).into_iter().collect();
        let mut at = op.more_replaced;
        while at != NIL {
            let node = self.nodes[at as usize];
            blocks.push(BlockId(node.value));
            at = node.next;
        }
        blocks
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

/// The facts of an operation at its planning.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct NewOp {
    pub seq: u64,
    pub kind: OpKind,
    pub cause: Cause,
    pub queue: OpQueue,
    pub at: FlashAddress,
    pub other: FlashAddress,
    pub request: RequestId,
    pub replaces: BlockId,
    pub is_blank: bool,
}
