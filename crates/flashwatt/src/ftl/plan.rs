//! What a translation layer emits: operations to be done, with their causes and the data they wait for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{Cause, OpKind};
use crate::units::{BlockId, DieId, Ppn};

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

/// An operation's number among all that were ever planned: what a later plan names it by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlanNumber(pub u64);

/// How often blocks were merged, by kind (SPEC A6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Merges {
    /// A log block that holds a whole block in order took the data block's place: no copy.
    pub switch: u64,
    /// One that holds the first pages in order did, after the others had been copied to it.
    pub partial: u64,
    /// The valid pages of a data block and of log blocks were copied to a fresh block.
    pub full: u64,
    /// A log block was taken from a logical block because another one needed one: beside the merge that this took.
    pub replacement: u64,
}

impl std::ops::AddAssign for Merges {
    fn add_assign(&mut self, more: Merges) {
        self.switch += more.switch;
        self.partial += more.partial;
        self.full += more.full;
        self.replacement += more.replacement;
    }
}

/// Which of several pages that hold the same is read (SPEC E17).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplicaChoice {
    /// The original if its die is idle, else the first replica whose die is; if none is, the one whose die comes to it first:
    /// it waits in the queues of all.
    #[default]
    Idle,
    /// The one on whose die the fewest operations are queued or under way when the read is planned; among equals the first.
    ShortestQueue,
}

/// What a request, or one step of background work, comes down to.
///
/// Operations are emitted in the order in which they are to be done where nothing else decides; `after` points only to
/// older ones. The caller clears the plan before it is filled.
#[derive(Debug, Default)]
pub struct Plan {
    ops: Vec<PlannedOp>,
    more_replaced: Vec<(PlanIndex, BlockId)>,
    behind: Vec<(PlanIndex, PlanNumber)>,
    alternatives: Vec<(PlanIndex, Ppn)>,
    wake: Vec<DieId>,
    /// The number of the first operation.
    first: u64,
    /// All reads of the map with lower numbers have ended.
    settled: u64,
    /// How reads choose among alternatives. Whoever plans such reads says so; it stays until someone says otherwise.
    pub choice: ReplicaChoice,
    /// How many programs, one after the other, write the copies of one page of the map. This stays too.
    pub map_copies: u32,
    /// Map look-ups and updates in DRAM.
    pub map_accesses: u32,
    /// Logical pages read that were never written.
    pub unwritten_reads: u32,
    /// What there is to be said beside, if anything.
    pub notes: Option<Notes>,
}

/// What a plan says of how it came about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Notes {
    /// Look-ups and merges.
    pub mapping: Mapping,
    /// The victim that was chosen, if one was.
    pub chosen: Option<Chosen>,
}

/// How a map was used and kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Pages looked up in a cache of the map …
    pub lookups: u64,
    /// … and those of them whose entry was there.
    pub hits: u64,
    /// Merges of blocks.
    pub merges: Merges,
}

impl std::ops::AddAssign for Mapping {
    fn add_assign(&mut self, more: Mapping) {
        self.lookups += more.lookups;
        self.hits += more.hits;
        self.merges += more.merges;
    }
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
        self.first += self.ops.len() as u64;
        self.ops.clear();
        self.more_replaced.clear();
        self.behind.clear();
        self.alternatives.clear();
        self.wake.clear();
        (self.map_accesses, self.unwritten_reads, self.notes) = (0, 0, None);
    }

    /// What is to be said beside the operations.
    pub fn notes(&mut self) -> &mut Notes {
        self.notes.get_or_insert_default()
    }

    /// A page has been looked up in a cache of the map.
    pub fn looked_up(&mut self, hit: bool) {
        let mapping = &mut self.notes().mapping;
        mapping.lookups += 1;
        mapping.hits += u64::from(hit);
    }

    /// The page at `ppn` is read.
    #[inline]
    pub fn read(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        self.push(PlannedOp { kind: OpKind::Read, cause, ppn, source: Ppn::NONE, after, replaces: BlockId::NONE })
    }

    /// The page at `ppn` or, if its die is busy then, one of `alternatives` on other dies that hold the same is read: at most
    /// four.
    pub fn read_any(&mut self, ppn: Ppn, alternatives: &[Ppn], cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        debug_assert!(alternatives.len() <= 4);
        let op = self.read(ppn, cause, after);
        self.alternatives.extend(alternatives.iter().map(|&other| (op, other)));
        op
    }

    /// The spare area of the page at `ppn` is read.
    pub fn read_spare(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        self.push(PlannedOp { kind: OpKind::SpareRead, cause, ppn, source: Ppn::NONE, after, replaces: BlockId::NONE })
    }

    /// `op` needs the data of an operation that an earlier plan holds: of a read of the map, if that has not ended yet. An
    /// operation waits for one other at most.
    pub fn behind(&mut self, op: PlanIndex, earlier: PlanNumber) {
        debug_assert!(self.ops[op.0 as usize].after.is_none() && earlier.0 < self.first);
        if earlier.0 >= self.settled {
            self.behind.push((op, earlier));
        }
    }

    /// All reads of the map before this number have ended: nobody has to wait for them.
    pub fn settled(&mut self, number: PlanNumber) {
        self.settled = number.0;
    }

    /// The operation of this plan that has this number.
    pub fn index_of(&self, number: PlanNumber) -> Option<PlanIndex> {
        number.0.checked_sub(self.first).map(|at| PlanIndex(at as u32))
    }

    /// The plan is empty, and its first operation will have this number.
    pub(crate) fn number_from(&mut self, next: PlanNumber) {
        self.clear();
        self.first = next.0;
    }

    /// What a later plan names this operation by.
    pub fn number(&self, op: PlanIndex) -> PlanNumber {
        PlanNumber(self.first + u64::from(op.0))
    }

    /// The number of the next plan's first operation.
    pub fn next(&self) -> PlanNumber {
        PlanNumber(self.first + self.ops.len() as u64)
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
        debug_assert!(self.behind.is_empty() && self.alternatives.is_empty()); // maps with parts of pages are in memory
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

    /// The reads and copies from the `at`-th operation on that wait for no other wait for `op`.
    pub fn begin_after(&mut self, at: usize, op: PlanIndex) {
        let begins = |op: &&mut PlannedOp| {
            matches!(op.kind, OpKind::Read | OpKind::Copy | OpKind::Copyback) && op.after.is_none()
        };
        self.ops[at..].iter_mut().filter(begins).for_each(|begun| begun.after = Some(op));
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
            [op] if op.cause != Cause::Map && self.is_plain() => Some(op),
            _ => None,
        }
    }

    /// Is all said of the operations in themselves?
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.more_replaced.is_empty() && self.behind.is_empty() && self.alternatives.is_empty()
    }

    /// Operations that need the data of one of an earlier plan.
    pub fn behind_earlier(&self) -> &[(PlanIndex, PlanNumber)] {
        &self.behind
    }

    /// Pages that a read may be of instead of its own, in the order of preference.
    pub fn alternatives(&self, op: PlanIndex) -> impl Iterator<Item = Ppn> + '_ {
        self.alternatives.iter().filter(move |(of, _)| *of == op).map(|&(_, ppn)| ppn)
    }

    /// Has any read alternatives?
    pub fn has_alternatives(&self) -> bool {
        !self.alternatives.is_empty()
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
