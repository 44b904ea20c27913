//! Plans: the operations that a translation layer asks for, with their causes and the data they wait for.

use std::hint::cold_path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nand::Geometry;
use crate::operation::{Cause, OpKind};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn, SECTOR_BYTES};

/// A planned operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedOp {
    /// Its kind.
    pub kind: OpKind,
    /// Its cause.
    pub cause: Cause,
    /// Its page: any address in the page for a read; the first of the page for a program; the first of the block for an
    /// erase; the first of the destination page for a copy or copyback.
    pub ppn: Ppn,
    /// The source of a copy or copyback; of a program from a register the page that stands for it ([`Plan::program_held`]).
    pub source: Ppn,
    /// The operation of the same plan that this one waits for: it needs its data.
    pub after: Option<PlanIndex>,
    /// The block with the data that this program makes obsolete; further ones are in [`Plan::more_replaced`].
    pub replaces: BlockId,
    /// Whether this is a read of an erased page ([`Plan::read_blank`]).
    pub is_blank: bool,
    /// Of a read, the sectors of its page that cross the bus; 0 for the whole page ([`PartialReads`]).
    pub sectors: u8,
}

/// Reads of parts of pages, as the plans of a drive have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartialReads {
    /// Sectors of a page, at most [`Self::PAGE_SECTORS_MAX`]; 0 if every read moves its whole page.
    page_sectors: u32,
    /// Sectors of a map unit.
    unit_sectors: u32,
}

impl PartialReads {
    /// A number of sectors of which each proper part of a page has a number of one byte.
    pub const PAGE_SECTORS_MAX: u32 = 256;

    /// Of a drive whose reads move what is wanted of a page.
    pub fn of(geometry: &Geometry) -> Self {
        let sectors = |bytes: u32| bytes / SECTOR_BYTES as u32;
        debug_assert!(sectors(geometry.page_bytes()) <= Self::PAGE_SECTORS_MAX);
        PartialReads { page_sectors: sectors(geometry.page_bytes()), unit_sectors: sectors(geometry.unit_bytes) }
    }

    /// Whether there are any.
    pub fn is_on(self) -> bool {
        self.page_sectors > 0
    }

    /// Sectors of a page; 0 if every read moves its whole page.
    pub fn page_sectors(self) -> u32 {
        self.page_sectors
    }
}

/// An operation's position in its plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlanIndex(pub u32);

/// An operation's number among all operations ever planned, by which a later plan refers to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlanNumber(pub u64);

/// Merges of blocks, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Merges {
    /// Switch merges: a log block with all pages of a logical block in order replaced the data block, without copies.
    pub switch: u64,
    /// Partial merges: a log block with the first pages in order replaced the data block after the others were copied to it.
    pub partial: u64,
    /// Full merges: the valid pages of a data block and of log blocks were copied to a fresh block.
    pub full: u64,
    /// Log blocks taken from one logical block for another; the merge that this needs is counted as well. With
    /// `ftl.bast.replacement = "compact"`, log blocks that were compacted instead.
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

/// The choice among replicas of a page (RFTL).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplicaChoice {
    /// The original if its die is idle, else the first replica whose die is idle. If no die is idle, the read waits at all of
    /// them, and the first die that becomes free serves it.
    #[default]
    Idle,
    /// The same, but if no die is idle, the read waits for the original, as in Algorithm 1 of the RFTL paper.
    IdleOrOriginal,
    /// The replica on whose die the fewest operations are queued or running when the read is planned; among equals the first.
    ShortestQueue,
}

/// When a copy of a page counts as busy (RFTL).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusyBy {
    /// While its die works or has an operation that is ready.
    #[default]
    Die,
    /// While that is so of any die of its channel, or the channel's bus is taken, as in Algorithm 1 of the RFTL paper.
    Channel,
}

/// The operations of one request, or of one step of background work.
///
/// Operations stand in the order in which they start if nothing else decides. `after` refers only to earlier operations. The
/// caller clears the plan before it is filled.
#[derive(Debug, Default)]
pub struct Plan {
    ops: Vec<PlannedOp>,
    more_replaced: Vec<(PlanIndex, BlockId)>,
    behind: Vec<(PlanIndex, PlanNumber)>,
    alternatives: Vec<(PlanIndex, Ppn)>,
    /// Whether one of these three lists has something: one question in place of three, for each plan.
    has_conditions: bool,
    wake: Vec<DieId>,
    slc: Vec<BlockId>,
    map_writes: Vec<MapWrite>,
    /// The number of the plan's first operation.
    first: u64,
    /// All reads of the map with lower numbers have ended.
    settled: u64,
    /// The choice among replicas. A layer that plans such reads sets it once; clearing keeps it.
    pub choice: ReplicaChoice,
    /// When a replica is busy; as `choice`.
    pub busy_by: BusyBy,
    /// Programs, one after the other, that write the copies of one map page. Clearing keeps it.
    pub map_copies: u32,
    /// What the plan says of the pages of the map that it writes. Clearing keeps it.
    pub map_notes: MapNotes,
    /// Whether reads move parts of pages, and of how many sectors these are. Clearing keeps it.
    pub partial_reads: PartialReads,
    /// Entries of the map in a line of the host's memory, if the cached part of the map lies there and its lines are counted
    /// ([`HostLines`]); else 0. Clearing keeps it.
    pub entries_per_line: u32,
    /// Look-ups and updates of the map in DRAM.
    pub map_accesses: u32,
    /// Logical pages read that were never written.
    pub unwritten_reads: u32,
    /// Counts for the report, if there are any.
    pub notes: Option<Notes>,
}

/// What a plan says of the pages of the map that it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MapNotes {
    /// Nothing.
    #[default]
    None,
    /// How many entries change: for a drive that finds its map on flash again after a power cut.
    Changes,
    /// Their content, too: for the observer of such a drive.
    Content,
}

/// The write of a page of the map, with all its copies.
#[derive(Clone, Debug)]
pub struct MapWrite {
    /// The page.
    pub page: u32,
    /// Entries that change, or more.
    pub changes: u32,
    /// All entries, if the plan has them.
    pub content: Vec<MapEntry>,
}

/// An entry of a page of the map on flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapEntry {
    /// It says this.
    Says(Option<Ppn>),
    /// It says what it said before: what is newer is in memory alone.
    AsBefore,
}

/// Lines of the host's memory that a plan reads and writes. They hold the cached entries of the map, in the order of the logical pages.
/// Entries of one line that follow one another share a move of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostLines {
    /// Lines that the drive reads.
    pub read: Lines,
    /// Lines that the drive writes.
    pub written: Lines,
}

/// Lines that move one way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lines {
    /// Their number.
    pub count: u32,
    /// The line that moved last, plus 1; 0 for none.
    last: u32,
}

impl Lines {
    /// An entry of a line moves: the line does too, unless it was the last one to move.
    fn add(&mut self, line: u32) {
        self.count += u32::from(std::mem::replace(&mut self.last, line + 1) != line + 1);
    }
}

/// Counts for the report that come with a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Notes {
    /// Lines of the host's memory that are read and written for it.
    pub host_lines: HostLines,
    /// Look-ups in a cache of the map, and merges.
    pub mapping: Mapping,
    /// The victim chosen for collection, if one was.
    pub chosen: Option<ChosenVictim>,
}

/// Use of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Pages looked up in a cache of the map.
    pub lookups: u64,
    /// Pages whose entry was in the cache.
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

/// A victim chosen for collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenVictim {
    /// Candidates examined.
    pub searches: u32,
    /// Valid share of the programmed pages of the die (ρ in theory).
    pub die_valid_fraction: f64,
    /// Valid share of the victim's pages.
    pub victim_valid_fraction: f64,
}

impl Plan {
    /// Removes all operations and counts.
    #[inline]
    pub fn clear(&mut self) {
        self.first += self.ops.len() as u64;
        self.ops.clear();
        self.more_replaced.clear();
        self.behind.clear();
        self.alternatives.clear();
        self.has_conditions = false;
        self.wake.clear();
        self.slc.clear();
        self.map_writes.clear();
        (self.map_accesses, self.unwritten_reads, self.notes) = (0, 0, None);
    }

    /// The counts for the report.
    pub fn notes(&mut self) -> &mut Notes {
        self.notes.get_or_insert_default()
    }

    /// Counts a look-up in a cache of the map.
    pub fn looked_up(&mut self, hit: bool) {
        let mapping = &mut self.notes().mapping;
        mapping.lookups += 1;
        mapping.hits += u64::from(hit);
    }

    /// Counts that the drive reads the entry of a page from the table of cached entries, if that lies in the host's memory.
    #[inline(always)]
    pub fn reads_entry(&mut self, lpn: Lpn) {
        if let Some(line) = lpn.0.checked_div(self.entries_per_line) {
            cold_path();
            self.notes().host_lines.read.add(line);
        }
    }

    /// Counts that the drive writes the entry of a page to the table of cached entries, if that lies in the host's memory.
    #[inline(always)]
    pub fn writes_entry(&mut self, lpn: Lpn) {
        if let Some(line) = lpn.0.checked_div(self.entries_per_line) {
            cold_path();
            self.notes().host_lines.written.add(line);
        }
    }

    /// Adds a read of the page at `ppn`.
    #[inline]
    pub fn read(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        self.push_read(OpKind::Read, ppn, cause, after)
    }

    /// Adds a read of the page at `ppn`, which is erased: a logical page has its place there, but was never written. It
    /// takes what any read takes. The referee refuses it if the page is programmed or a program of it is planned.
    pub fn read_blank(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        let op = self.read(ppn, cause, after);
        self.ops[op.0 as usize].is_blank = true;
        op
    }

    /// Adds a host's read of the page at `ppn`, which is erased if `is_blank` says so.
    pub fn read_or_blank(&mut self, ppn: Ppn, is_blank: bool, after: Option<PlanIndex>) -> PlanIndex {
        if is_blank { self.read_blank(ppn, Cause::Host, after) } else { self.read(ppn, Cause::Host, after) }
    }

    /// Adds a read of the page at `ppn`, or of one of `alternatives`: replicas of the page on other dies, at most four.
    pub fn read_any(&mut self, ppn: Ppn, alternatives: &[Ppn], cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        debug_assert!(alternatives.len() <= 4);
        let op = self.read(ppn, cause, after);
        self.alternatives.extend(alternatives.iter().map(|&other| (op, other)));
        self.has_conditions |= !alternatives.is_empty();
        op
    }

    /// Adds to what a read moves: this number of map units of its page, which it did not move before. A read without such a call
    /// moves its whole page, as does every read of a drive that moves whole pages.
    pub fn wants_units(&mut self, read: PlanIndex, units: u32) {
        self.wants_sectors(read, units * self.partial_reads.unit_sectors);
    }

    /// As [`Self::wants_units`], in sectors.
    pub fn wants_sectors(&mut self, read: PlanIndex, sectors: u32) {
        let op = &mut self.ops[read.0 as usize];
        let wanted = u32::from(op.sectors) + sectors;
        op.sectors = if wanted < self.partial_reads.page_sectors { wanted as u8 } else { 0 };
    }

    /// Adds a read of the spare area of the page at `ppn`.
    pub fn read_spare(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        self.push_read(OpKind::SpareRead, ppn, cause, after)
    }

    /// Adds a read of the spare area of the page at `ppn`, which is erased, as [`Self::read_blank`] of a page.
    pub fn read_blank_spare(&mut self, ppn: Ppn, cause: Cause) -> PlanIndex {
        let op = self.push_read(OpKind::SpareRead, ppn, cause, None);
        self.ops[op.0 as usize].is_blank = true;
        op
    }

    #[inline]
    fn push_read(&mut self, kind: OpKind, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        let (source, replaces) = (Ppn::NONE, BlockId::NONE);
        self.push(PlannedOp { kind, cause, ppn, source, after, replaces, is_blank: false, sectors: 0 })
    }

    /// Makes `op` wait for an operation of an earlier plan, a read of the map, if that has not ended. An operation waits
    /// for at most one other.
    pub fn behind(&mut self, op: PlanIndex, earlier: PlanNumber) {
        debug_assert!(self.ops[op.0 as usize].after.is_none() && earlier.0 < self.first);
        if earlier.0 >= self.settled {
            self.behind.push((op, earlier));
            self.has_conditions = true;
        }
    }

    /// All reads of the map before this number have ended; no operation waits for them.
    pub fn settled(&mut self, number: PlanNumber) {
        self.settled = number.0;
    }

    /// The position in this plan of the operation with this number.
    pub fn index_of(&self, number: PlanNumber) -> Option<PlanIndex> {
        number.0.checked_sub(self.first).map(|at| PlanIndex(at as u32))
    }

    /// Clears the plan. Its first operation will have this number.
    pub fn number_from(&mut self, next: PlanNumber) {
        self.clear();
        self.first = next.0;
    }

    /// The number of an operation of this plan, for later plans.
    pub fn number(&self, op: PlanIndex) -> PlanNumber {
        PlanNumber(self.first + u64::from(op.0))
    }

    /// The number of the next plan's first operation.
    pub fn next(&self) -> PlanNumber {
        PlanNumber(self.first + self.ops.len() as u64)
    }

    /// Adds a program of the page at `ppn`, which starts after `after` has ended.
    #[inline]
    pub fn program(&mut self, ppn: Ppn, cause: Cause, after: Option<PlanIndex>) -> PlanIndex {
        self.push(PlannedOp {
            kind: OpKind::Program,
            cause,
            ppn,
            source: Ppn::NONE,
            after,
            replaces: BlockId::NONE,
            is_blank: false,
            sectors: 0,
        })
    }

    /// Adds the program of a page of the map that the register of the die has kept through a power cut. `held`: the page whose program
    /// was cut. It takes what any program takes.
    pub fn program_held(&mut self, held: Ppn, ppn: Ppn) -> PlanIndex {
        let op = self.program(ppn, Cause::Map, None);
        self.ops[op.0 as usize].source = held;
        op
    }

    /// Adds a copy from `source` to `ppn` on the same die: over the bus ([`OpKind::Copy`]) or within the die
    /// ([`OpKind::Copyback`]). The data in block `replaces` becomes obsolete.
    #[inline]
    pub fn copy(&mut self, kind: OpKind, source: Ppn, ppn: Ppn, cause: Cause, replaces: BlockId) -> PlanIndex {
        debug_assert!(matches!(kind, OpKind::Copy | OpKind::Copyback));
        self.push(PlannedOp { kind, cause, ppn, source, after: None, replaces, is_blank: false, sectors: 0 })
    }

    /// Removes the operation at `at` if it reads, for the host, the same page as the operation before it.
    pub fn join_reads(&mut self, at: usize, same_page: impl Fn(Ppn, Ppn) -> bool) {
        let reads = |op: &PlannedOp| op.kind == OpKind::Read && op.cause == Cause::Host && op.after.is_none();
        let Some(second) = self.ops.get(at).filter(|op| at > 0 && reads(op)) else { return };
        if !reads(&self.ops[at - 1]) || !same_page(self.ops[at - 1].ppn, second.ppn) {
            return;
        }
        debug_assert!(self.behind.is_empty() && self.alternatives.is_empty()); // layers with sub-page mapping keep their whole map in memory
        self.ops.remove(at);
        let earlier = |index: PlanIndex| PlanIndex(index.0 - u32::from(index.0 as usize >= at));
        self.ops.iter_mut().for_each(|op| op.after = op.after.map(earlier));
        self.more_replaced.iter_mut().for_each(|(index, _)| *index = earlier(*index));
    }

    /// Adds an erase of the block that begins at `first`. It starts once no operation needs the block.
    pub fn erase(&mut self, first: Ppn, cause: Cause) -> PlanIndex {
        self.push(PlannedOp {
            kind: OpKind::Erase,
            cause,
            ppn: first,
            source: Ppn::NONE,
            after: None,
            replaces: BlockId::NONE,
            is_blank: false,
            sectors: 0,
        })
    }

    /// Makes `op` the predecessor of all reads and copies from the `at`-th operation on that have none.
    pub fn begin_after(&mut self, at: usize, op: PlanIndex) {
        let begins = |op: &&mut PlannedOp| {
            matches!(op.kind, OpKind::Read | OpKind::Copy | OpKind::Copyback) && op.after.is_none()
        };
        self.ops[at..].iter_mut().filter(begins).for_each(|begun| begun.after = Some(op));
    }

    /// Notes that the program `op` makes data in `block` obsolete. The block is not erased before the program has ended.
    #[inline]
    pub fn replaces(&mut self, op: PlanIndex, block: BlockId) {
        let planned = &mut self.ops[op.0 as usize];
        if planned.replaces.is_none() {
            planned.replaces = block;
        } else {
            self.more_replaced.push((op, block));
            self.has_conditions = true;
        }
    }

    /// Notes that an erased block is used in SLC mode from here on.
    pub fn use_as_slc(&mut self, block: BlockId) {
        self.slc.push(block);
    }

    /// The blocks that are used in SLC mode from here on.
    #[inline]
    pub fn slc_blocks(&self) -> &[BlockId] {
        &self.slc
    }

    /// Notes that a die may have background work.
    pub fn wake(&mut self, die: DieId) {
        self.wake.push(die);
    }

    /// The operations, in order.
    #[inline]
    pub fn ops(&self) -> &[PlannedOp] {
        &self.ops
    }

    /// The only operation, if the plan consists of one operation without further conditions.
    #[inline]
    pub fn only_op(&self) -> Option<&PlannedOp> {
        match self.ops.as_slice() {
            [op] if op.cause != Cause::Map && self.is_plain() => Some(op),
            _ => None,
        }
    }

    /// Whether the operations have no conditions beyond their own fields.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        !self.has_conditions
    }

    /// Operations that wait for an operation of an earlier plan.
    pub fn behind_earlier(&self) -> &[(PlanIndex, PlanNumber)] {
        &self.behind
    }

    /// The replicas that may be read instead of an operation's page, in the order of preference.
    pub fn alternatives(&self, op: PlanIndex) -> impl Iterator<Item = Ppn> + '_ {
        self.alternatives.iter().filter(move |(of, _)| *of == op).map(|&(_, ppn)| ppn)
    }

    /// Notes the write of a page of the map, whose programs are the last ones that were added.
    pub fn writes_map(&mut self, write: MapWrite) {
        self.map_writes.push(write);
    }

    /// The pages of the map that are written, as far as [`Self::map_notes`] asks for it.
    pub fn map_writes(&self) -> &[MapWrite] {
        &self.map_writes
    }

    /// Whether a read has alternatives.
    pub fn has_alternatives(&self) -> bool {
        !self.alternatives.is_empty()
    }

    /// Blocks, beyond the first of each program, with data that the program makes obsolete.
    pub fn more_replaced(&self) -> &[(PlanIndex, BlockId)] {
        &self.more_replaced
    }

    /// Dies that may have background work.
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
