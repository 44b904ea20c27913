//! What a translation layer emits: operations to be done, with their causes and the data they wait for.

use serde::Serialize;

use crate::units::{BlockId, DieId, Ppn};

/// Why an operation is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Cause {
    /// The host asked for it.
    Host,
    /// Garbage collection.
    Gc,
    /// A merge of blocks in a block-mapped or hybrid scheme.
    Merge,
    /// A page of the map itself.
    Map,
    /// Wear levelling.
    Wear,
}

impl Cause {
    /// All of them, in the order of their numbers.
    pub const ALL: [Cause; 5] = [Cause::Host, Cause::Gc, Cause::Merge, Cause::Map, Cause::Wear];

    /// As it is called in reports and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Host => "host",
            Cause::Gc => "gc",
            Cause::Merge => "merge",
            Cause::Map => "map",
            Cause::Wear => "wear",
        }
    }
}

/// What is done to the flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// A page is read and its data moved out over the bus.
    Read,
    /// Data is moved in over the bus and programmed to a page.
    Program,
    /// A block is erased.
    Erase,
    /// A page is read and programmed to another page of the same die, without the bus.
    Copyback,
    /// A page is read, moved out over the bus, and programmed to another page. On the flash it is a [`Self::Read`] and then a
    /// [`Self::Program`], and so it is booked; between the two the die is free for others.
    Copy,
}

impl OpKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [OpKind; 5] = [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Copyback, OpKind::Copy];

    /// As it is called in logs.
    pub const fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Program => "program",
            OpKind::Erase => "erase",
            OpKind::Copyback => "copyback",
            OpKind::Copy => "copy",
        }
    }
}

/// One operation, as it was planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedOp {
    /// What is done.
    pub kind: OpKind,
    /// Why.
    pub cause: Cause,
    /// To which page: any address in it for a read; its first for a program; the block's first for an erase; the
    /// destination's first for a copy or copyback.
    pub ppn: Ppn,
    /// A copy's or copyback's source.
    pub source: Ppn,
    /// The operation of the same plan whose data this one needs.
    pub after: Option<PlanIndex>,
    /// The block that holds what this program makes obsolete; further ones are in [`Plan::more_replaced`].
    pub replaces: BlockId,
}

/// An operation's position in its plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlanIndex(pub u32);

/// What a request, or one step of background work, comes down to.
///
/// Operations are emitted in the order in which they are to be done where nothing else decides; `after` points only to
/// older ones. The caller clears the plan before it is filled.
#[derive(Debug, Default)]
pub struct Plan {
    ops: Vec<PlannedOp>,
    more_replaced: Vec<(PlanIndex, BlockId)>,
    wake: Vec<DieId>,
    /// Map look-ups and updates in DRAM.
    pub map_accesses: u32,
    /// Logical pages read that were never written.
    pub unwritten_reads: u32,
    /// The victim that was chosen, if one was.
    pub chosen: Option<Chosen>,
}

/// A victim that has been chosen for collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// Candidates examined.
    pub searches: u32,
    /// Valid share of the programmed pages of the die: the ρ of theory.
    pub die_valid_fraction: f64,
    /// Valid share of the victim's pages.
    pub victim_valid_fraction: f64,
}

impl Plan {
    /// Starts over.
    pub fn clear(&mut self) {
        self.ops.clear();
        self.more_replaced.clear();
        self.wake.clear();
        (self.map_accesses, self.unwritten_reads, self.chosen) = (0, 0, None);
    }

    /// The page at `ppn` is read.
    #[inline]
    pub fn read(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        self.push(PlannedOp { kind: OpKind::Read, cause, ppn, source: Ppn::NONE, after, replaces: BlockId::NONE })
    }

    /// The page at `ppn` is programmed, once the data that `after` brings is there.
    #[inline]
    pub fn program(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        self.push(PlannedOp { kind: OpKind::Program, cause, ppn, source: Ppn::NONE, after, replaces: BlockId::NONE })
    }

    /// The page at `source` is copied to `ppn` of the same die, over the bus (`kind` [`OpKind::Copy`]) or within the die
    /// ([`OpKind::Copyback`]): what is in its block `replaces` becomes obsolete.
    #[inline]
    pub fn copy(&mut self, kind: OpKind, source: Ppn, ppn: Ppn, cause: Cause, replaces: BlockId) -> PlanIndex {
        debug_assert!(matches!(kind, OpKind::Copy | OpKind::Copyback));
        self.push(PlannedOp { kind, cause, ppn, source, after: None, replaces })
    }

    /// If the operation at `at` only reads, for the host, the page that the one before it reads too, one read does for both.
    pub fn join_reads(&mut self, at: usize, same_page: impl Fn(Ppn, Ppn) -> bool) {
        let reads = |op: &PlannedOp| op.kind == OpKind::Read && op.cause == Cause::Host && op.after.is_none();
        let Some(second) = self.ops.get(at).filter(|op| at > 0 && reads(op)) else { return };
        if !reads(&self.ops[at - 1]) || !same_page(self.ops[at - 1].ppn, second.ppn) {
            return;
        }
        self.ops.remove(at);
        let earlier = |index: PlanIndex| PlanIndex(index.0 - u32::from(index.0 as usize >= at));
        self.ops.iter_mut().for_each(|op| op.after = op.after.map(earlier));
        self.more_replaced.iter_mut().for_each(|(index, _)| *index = earlier(*index));
    }

    /// The block that begins at `first` is erased, as soon as nothing needs it any more.
    pub fn erase(&mut self, first: Ppn, cause: Cause) -> PlanIndex {
        self.push(PlannedOp {
            kind: OpKind::Erase,
            cause,
            ppn: first,
            source: Ppn::NONE,
            after: None,
            replaces: BlockId::NONE,
        })
    }

    /// The program `op` makes data in `block` obsolete: the block is not erased before the program has ended.
    #[inline]
    pub fn replaces(&mut self, op: PlanIndex, block: BlockId) {
        let planned = &mut self.ops[op.0 as usize];
        if planned.replaces.is_none() {
            planned.replaces = block;
        } else {
            self.more_replaced.push((op, block));
        }
    }

    /// A die may have background work to do.
    pub fn wake(&mut self, die: DieId) {
        self.wake.push(die);
    }

    /// The operations, in order.
    #[inline]
    pub fn ops(&self) -> &[PlannedOp] {
        &self.ops
    }

    /// The only operation, if there is one and no more to be said of it.
    #[inline]
    pub fn only_op(&self) -> Option<&PlannedOp> {
        match self.ops.as_slice() {
            [op] if self.more_replaced.is_empty() => Some(op),
            _ => None,
        }
    }

    /// Blocks beyond the first that programs make obsolete data in.
    pub fn more_replaced(&self) -> &[(PlanIndex, BlockId)] {
        &self.more_replaced
    }

    /// The dies that were woken.
    pub fn woken(&self) -> &[DieId] {
        &self.wake
    }

    #[inline]
    fn push(&mut self, op: PlannedOp) -> PlanIndex {
        debug_assert!(op.after.is_none_or(|after| (after.0 as usize) < self.ops.len()));
        self.ops.push(op);
        PlanIndex(self.ops.len() as u32 - 1)
    }
}
