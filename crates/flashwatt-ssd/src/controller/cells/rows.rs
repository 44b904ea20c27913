//! Rows: pages that are programmed at once, those of one row of cells on all planes that a block spans.
//!
//! The program of a page is a *member* of its row from its planning on. When a member's data is there, the page moves into the registers
//! of its die, in the order of pages and one transfer at a time, so that other dies can use the bus between two pages. The die is free
//! between two transfers. When the last page is in, the array programs the row, and at the end of that all members end.
//!
//! The registers hold pages of one row. A row of which all pages are there takes them from one of which some are still to come: the pages
//! of that one move in again later. With `device.bus.cache_program` there are registers for one more row, and the pages of the next row
//! move in while the array programs.
//!
//! A row that waits for pages is *padded* when nothing has happened to it for a time while its die had no other row to program, or when
//! someone waits for it: the translation layer skips the rest of the row.
//! Until a row is on flash, reads of its pages are served from the controller's memory.
//!
//! With `device.cells.passes = 2` a row moves in and is programmed twice: see [`super::passes`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::cold_path;
use std::ops::{Index, IndexMut};

use super::dies::{ArrayWork, Shared};
use super::{Cells, Moving};
use crate::controller::op::{NewOp, OpQueue, Role, Until};
use crate::controller::queues::ways;
use crate::controller::{Controller, EndOfOp, MeteredFlash, UnderWay};
use crate::energy::die_state::OpStates;
use crate::energy::ledger::OpTimes;
use crate::firmware::Firmware;
use crate::nand::{Array, FlashAddress, Geometry};
use crate::observe::probe::Probe;
use crate::operation::{Cause, CellMode, OpClass, OpKind};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{BlockId, ChannelId, DieId, Nanos, OpId};
use flashwatt_core::connector::Agenda;

/// The largest number of pages of a row.
pub(crate) const ROW_PAGES_MAX: usize = 32;

/// The shortest time after which a row between two passes is looked at again, if it could not be padded. Choice: short beside the collection
/// that such a row waits for.
const PASS_AGAIN_NS: Nanos = 100_000;

/// A time that does not come.
pub(super) const NEVER: Nanos = Nanos::MAX;

/// The number of a row under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowId(u32);

impl RowId {
    pub const NONE: RowId = RowId(u32::MAX);

    pub(super) fn is_some(self) -> bool {
        self != Self::NONE
    }
}

/// A row whose program has not ended.
#[derive(Clone, Copy)]
pub(in crate::controller) struct Row {
    /// The operation that stands for it in the queues of its die.
    pub op: OpId,
    /// Its first page.
    pub(super) at: FlashAddress,
    /// Its pages, and the mode of its block.
    pub size: u32,
    pub mode: CellMode,
    /// By page: the operation, and whether its data is there.
    members: [OpId; ROW_PAGES_MAX],
    planned: u32,
    ready: u32,
    /// Pages in the registers.
    pub(super) loaded: u32,
    /// By page: when it began to move in, and when it was there.
    pub(super) moved: [(Nanos, Nanos); ROW_PAGES_MAX],
    /// Whether the array programs it.
    pub(super) programs: bool,
    /// Whether its first pass has ended and a second one is to come.
    pub(super) is_between: bool,
    /// Of rows in two passes, whether the first pass of each row behind it that comes before its second one has begun.
    pub(super) is_followed: bool,
    /// Whether it is the last one of its block.
    pub(super) is_last: bool,
    /// The row before it in its block, if that is not being programmed yet, and the row after it.
    before: RowId,
    after: RowId,
    /// Whether `op` is in its queue.
    is_linked: bool,
    /// When its last page was planned, or the last row of its die was programmed if that was later.
    pub(super) since: Nanos,
    /// When it is looked at again, if it waits for pages; [`NEVER`] while its die has other rows to program.
    pub(super) deadline: Nanos,
}

impl Row {
    /// Its members.
    pub fn members(&self) -> impl Iterator<Item = OpId> + Clone + '_ {
        self.members[..self.size as usize].iter().copied().filter(|id| id.is_some())
    }

    /// The member whose page moves in next.
    pub fn next_member(&self) -> OpId {
        self.members[self.loaded as usize % ROW_PAGES_MAX]
    }

    /// Whether the data of all pages is there.
    pub(super) fn is_whole(&self) -> bool {
        self.ready.count_ones() == self.size
    }

    /// Pages of it that are planned.
    pub(super) fn planned_pages(&self) -> u32 {
        self.planned.count_ones()
    }

    /// Whether it waits for pages of its own that nobody has planned.
    pub(super) fn is_open(&self) -> bool {
        self.planned_pages() < self.size
    }

    /// Whether all its pages are in the registers, and the array has not begun.
    fn waits_for_array(&self) -> bool {
        self.loaded == self.size && !self.programs
    }
}

/// The rows whose programs have not ended.
#[derive(Clone)]
pub(in crate::controller) struct Rows {
    rows: Vec<Row>,
    free: Vec<u32>,
    pub(super) of_die: FlatTable<Vec<RowId>>,
    /// Rows behind a native row whose first pass comes before its second one; 0 if there is one pass.
    pub(super) pass_distance: u32,
    /// Whether rows are looked at again that were not before: the drive has not heard of it.
    pub(super) are_new_deadlines: bool,
    /// The present time, as of the last plan.
    pub now: Nanos,
    /// Rows by the times at which they may have waited for long enough. One that is not the row's [`Row::deadline`] is void.
    deadlines: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// When pages moved in for nothing, as another row took the registers.
    earlier_moves: Vec<(OpId, (Nanos, Nanos))>,
}

impl Index<RowId> for Rows {
    type Output = Row;

    fn index(&self, row: RowId) -> &Row {
        &self.rows[row.0 as usize]
    }
}

impl IndexMut<RowId> for Rows {
    fn index_mut(&mut self, row: RowId) -> &mut Row {
        &mut self.rows[row.0 as usize]
    }
}

impl Rows {
    /// No rows.
    pub fn new(geometry: &Geometry) -> Self {
        Rows {
            pass_distance: geometry.pass_distance,
            are_new_deadlines: false,
            rows: Vec::new(),
            free: Vec::new(),
            of_die: vec![Vec::new(); geometry.dies as usize].into(),
            now: 0,
            deadlines: BinaryHeap::new(),
            earlier_moves: Vec::new(),
        }
    }

    /// The row of a page, if it is under way.
    fn find(&self, at: FlashAddress) -> Option<RowId> {
        let holds = |row: &&RowId| {
            let row = &self[**row];
            row.at.block == at.block && (row.at.page..row.at.page + row.size).contains(&at.page)
        };
        self.of_die[at.die.idx()].iter().rev().find(holds).copied() // most often the one that was opened last
    }

    /// The last row of a block that is not being programmed yet.
    fn last_of_block(&self, at: FlashAddress) -> RowId {
        let of_block = |row: &&RowId| self[**row].at.block == at.block && !self[**row].programs;
        self.of_die[at.die.idx()].iter().rev().find(of_block).copied().unwrap_or(RowId::NONE)
    }

    fn add(&mut self, row: Row) -> RowId {
        let die = row.at.die;
        let id = match self.free.pop() {
            Some(at) => {
                self.rows[at as usize] = row;
                RowId(at)
            }
            None => {
                self.rows.push(row);
                RowId(self.rows.len() as u32 - 1)
            }
        };
        self.of_die[die.idx()].push(id);
        id
    }

    /// Whether the passes of the rows before it in its block, and of those behind it that come first, have not all begun.
    fn waits_for_rows(&self, row: &Row) -> bool {
        if self.has_two_passes(row) {
            cold_path();
            return self.waits_for_passes(row);
        }
        row.before.is_some()
    }

    /// Whether nothing but its die and the bus is between it and the end of its program, or of its next pass.
    fn can_end(&self, row: &Row) -> bool {
        row.is_whole() && !self.waits_for_rows(row)
    }

    /// Whether a row waits for pages that nobody has planned.
    pub(super) fn waits_for_pages(&self, row: RowId) -> bool {
        if self.pass_distance > 0 {
            cold_path();
            return self.end_of_wait(&self[row]) > self.planned_end(&self[row]);
        }
        self[row].is_open()
    }

    fn remove(&mut self, id: RowId) {
        let die = self[id].at.die;
        self.of_die[die.idx()].retain(|&row| row != id);
        self[id].size = 0; // it waits for nothing
        self.free.push(id.0);
    }

    /// Another row takes the registers of the die: the pages of this one move in again later.
    fn moves_again(&mut self, row: RowId) {
        let of = &mut self.rows[row.0 as usize];
        let loaded = std::mem::take(&mut of.loaded) as usize;
        self.earlier_moves.extend(of.members[..loaded].iter().copied().zip(of.moved[..loaded].iter().copied()));
    }

    /// When the page of a program moved in for nothing.
    pub(super) fn take_earlier_moves(&mut self, program: OpId) -> Vec<(Nanos, Nanos)> {
        if self.earlier_moves.is_empty() {
            return Vec::new();
        }
        self.earlier_moves.extract_if(.., |(id, _)| *id == program).map(|(_, stretch)| stretch).collect()
    }

    /// Has a row that waits for pages looked at again.
    pub(super) fn look_again(&mut self, row: RowId, at: Nanos) {
        self[row].deadline = at;
        self.deadlines.push(Reverse((at, row.0)));
    }

    /// The next time at which a row may have waited for long enough.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.deadlines.peek().map(|&Reverse((at, _))| at)
    }
}

impl Controller {
    /// Whether programs of pages are gathered to rows.
    #[inline(always)]
    pub(in crate::controller) fn has_rows(&self) -> bool {
        self.cells.is_some()
    }

    /// Notes the present time, before operations are planned.
    pub(in crate::controller) fn note_time(&mut self, now: Nanos) {
        if let Some(cells) = &mut self.cells {
            cells.rows.now = now;
        }
    }

    /// The planned program of a page joins its row; of a copy the second half.
    pub(in crate::controller) fn join_row(&mut self, id: OpId, at: FlashAddress, array: &Array) {
        let rows = &self.cells().rows;
        let (found, now) = (rows.find(at), rows.now);
        let row = found.unwrap_or_else(|| self.open_row(id, at, array));
        let pad_after_ns = self.cells().rules.pad_after_ns;
        let rows = &mut self.cells_mut().rows;
        let of = &mut rows[row];
        let page = at.page - of.at.page;
        (of.members[page as usize], of.since) = (id, now);
        of.planned |= 1 << page;
        if rows.pass_distance > 0 {
            cold_path();
            rows.note_page_planned(at);
        }
        if found.is_none() && rows.waits_for_pages(row) {
            rows.look_again(row, now.saturating_add(pad_after_ns));
        }
        self.raise_row(row, id);
    }

    /// A row goes by the best of its members' classes.
    fn raise_row(&mut self, row: RowId, member: OpId) {
        let (op, is_linked) = (self.cells().rows[row].op, self.cells().rows[row].is_linked);
        let queue = self.ops[member].queue;
        if self.ops[op].queue <= queue {
            return;
        }
        if is_linked {
            self.unlink(op);
        }
        self.ops[op].queue = queue;
        if is_linked {
            self.link(op);
            self.mark_changed(self.geometry.channel_of(self.ops[op].at.die));
        }
    }

    /// The row of a page that nothing was planned for before.
    fn open_row(&mut self, id: OpId, at: FlashAddress, array: &Array) -> RowId {
        let size = array.row_pages(at.block);
        let first = FlashAddress { page: at.page - at.page % size, ..at };
        let of = self.ops[id];
        let op = self.ops.insert(NewOp {
            seq: of.seq,
            kind: OpKind::Program,
            cause: of.cause,
            queue: of.queue,
            at: first,
            other: FlashAddress::NONE,
            request: of.request,
            replaces: BlockId::NONE,
            is_blank: false,
        });
        self.ops[op].role = Role::Row;
        let rows = &mut self.cells_mut().rows;
        let before = if array.has_two_passes(at.block) { RowId::NONE } else { rows.last_of_block(at) };
        let row = rows.add(Row {
            op,
            at: first,
            size,
            mode: if array.is_slc(at.block) { CellMode::Slc } else { CellMode::Native },
            members: [OpId::NONE; ROW_PAGES_MAX],
            planned: 0,
            ready: 0,
            loaded: 0,
            moved: [(0, 0); ROW_PAGES_MAX],
            programs: false,
            is_between: false,
            is_followed: false,
            is_last: first.page + size == array.pages_of(at.block),
            before,
            after: RowId::NONE,
            is_linked: false,
            since: 0,
            deadline: NEVER,
        });
        if before.is_some() {
            rows[before].after = row;
        }
        self.ops[op].other.page = row.0;
        row
    }

    /// The data of a member is there: its page may move in, and reads of it are served.
    pub(super) fn member_is_ready(&mut self, id: OpId) {
        while let Some(waiting) = self.ops.pop_dependent(id, Until::Start) {
            self.unblock(waiting);
        }
        let at = self.ops[id].at;
        let Some(row) = self.cells().rows.find(at) else { unreachable!("a member without its row") };
        let Cells { rows, dies, .. } = self.cells_mut();
        let of = &mut rows[row];
        of.ready |= 1 << (at.page - of.at.page);
        if of.is_whole() && dies[at.die.idx()].latched == row {
            return self.refresh_rows(at.die); // others do not take its registers any more
        }
        self.refresh_row(at.die, row);
    }

    /// The first half of a copy has ended: its page joins those whose data is there.
    pub(super) fn half_is_done(&mut self, id: OpId) {
        let op = &mut self.ops[id];
        (op.kind, op.started) = (OpKind::Program, false);
        op.at = std::mem::replace(&mut op.other, FlashAddress::NONE);
        op.role = if op.role == Role::OnDie { Role::OnDieMember } else { Role::Member };
        self.enqueue_new(id);
    }

    /// Whether the data of the planned program of a page is in memory.
    fn is_in_memory(&self, program: OpId) -> bool {
        let op = &self.ops[program];
        op.kind == OpKind::Program && op.blockers == 0
    }

    /// A read is planned of a page whose program has not ended: memory serves it.
    pub(in crate::controller) fn serve_from_memory(&mut self, id: OpId, program: OpId, array: &Array) {
        self.ops[id].role = Role::Memory;
        if !self.is_in_memory(program) {
            self.wait(id, program, Until::Start, array);
        }
    }

    /// Whether a page belongs to a row whose program has not ended.
    pub(super) fn is_in_row(&self, at: FlashAddress) -> bool {
        self.cells().rows.find(at).is_some()
    }

    /// Finds out which rows of a die may go on, and puts them into its queues.
    pub(super) fn refresh_rows(&mut self, die: DieId) {
        for at in 0..self.cells().rows.of_die[die.idx()].len() {
            let row = self.cells().rows.of_die[die.idx()][at];
            self.refresh_row(die, row);
        }
    }

    /// As [`Self::refresh_rows`], of one row: nothing has changed for the others.
    fn refresh_row(&mut self, die: DieId, row: RowId) {
        let goes_on = self.may_go_on(row);
        let of = &mut self.cells_mut().rows[row];
        let op = of.op;
        if std::mem::replace(&mut of.is_linked, goes_on) == goes_on {
            return;
        }
        if goes_on {
            self.link(op);
        } else {
            self.unlink(op);
        }
        self.mark_changed(self.geometry.channel_of(die));
    }

    /// Whether the next page of a row may move in, or its program begin.
    fn may_go_on(&self, row: RowId) -> bool {
        let (cells, of) = (self.cells(), &self.cells().rows[row]);
        let die = &cells.dies[of.at.die.idx()];
        if of.programs || cells.rows.waits_for_rows(of) || self.moves_in(row) {
            return false;
        }
        if of.waits_for_array() {
            return die.has_free_array();
        }
        let has_registers =
            die.latched == RowId::NONE || die.latched == row || of.is_whole() && !cells.rows[die.latched].is_whole();
        has_registers && of.ready >> of.loaded & 1 != 0
    }

    /// Whether a page of a row moves in now.
    fn moves_in(&self, row: RowId) -> bool {
        matches!(self.moving_of(self.cells().rows[row].at.die), Some(Moving::In(_, moving)) if moving == row)
    }

    /// A row was chosen: its next page moves in, or its program begins.
    pub(super) fn go_on_with_row<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        op: OpId,
        flash: &mut MeteredFlash<P>,
    ) {
        let row = RowId(self.ops[op].other.page);
        self.cells_mut().rows[row].is_linked = false;
        if self.cells().rows[row].waits_for_array() {
            self.begin_row(agenda, row, 0, flash);
        } else {
            self.load_page(agenda, channel, row, flash);
        }
    }

    /// The next page of a row begins to move in.
    fn load_page<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        row: RowId,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        let cells = self.cells_mut();
        let die = cells.rows[row].at.die;
        let latched = std::mem::replace(&mut cells.dies[die.idx()].latched, row);
        if latched.is_some() && latched != row {
            cells.rows.moves_again(latched);
        }
        let of = &mut cells.rows[row];
        of.moved[of.loaded as usize].0 = now;
        let (member, command_ns, page_ns) = (of.next_member(), cells.rules.command_ns, cells.rules.page_ns);
        let is_on_die = self.ops[member].role == Role::OnDieMember;
        flash.accounts.page_moves(now, self.ops[member].cause, !is_on_die, 0);
        let ns = command_ns + if is_on_die { 0 } else { page_ns };
        if ns == 0 {
            self.page_is_in(agenda, row, flash); // data of the die itself, and a command that takes no time: the bus stays free
        } else {
            self.begin_transfer(agenda, channel, ns, Moving::In(die, row));
        }
        if latched != row {
            self.refresh_rows(die); // the registers are another row's now
        }
    }

    /// A page of a row has moved in.
    pub(super) fn page_is_in<P: Probe>(&mut self, agenda: &mut Agenda, row: RowId, flash: &mut MeteredFlash<P>) {
        let of = &mut self.cells_mut().rows[row];
        of.moved[of.loaded as usize].1 = agenda.now();
        of.loaded += 1;
        let (die, waits) = (of.at.die, of.waits_for_array());
        if waits && self.cells().dies[die.idx()].has_free_array() {
            return self.begin_row(agenda, row, 0, flash);
        }
        self.refresh_row(die, row);
    }

    /// The array time of a row, or of its next pass. A row of one page may be one of an upper page.
    fn program_ns(&self, row: &Row) -> Nanos {
        let Cells { rules, rows, .. } = self.cells();
        if rows.has_two_passes(row) && !row.is_between {
            return rules.first_pass_ns;
        }
        let is_upper = self.geometry.row_pages == 1 && row.at.is_upper();
        rules.program_ns[row.mode as usize] + rules.upper_ns * Nanos::from(is_upper)
    }

    /// The array begins to program a row, or with the next pass of it.
    fn begin_row<P: Probe>(&mut self, agenda: &mut Agenda, row: RowId, busy_ns: Nanos, flash: &mut MeteredFlash<P>) {
        let now = agenda.now();
        let of = self.cells().rows[row];
        flash.array.start_alone(of.at);
        if of.is_between {
            flash.array.start_second_pass(of.at, of.size);
        } else {
            flash.array.start_row(of.at, of.size);
            for id in of.members() {
                self.ops[id].started = true;
                flash.array.start_program(self.ops[id].at);
            }
        }
        let array_ns = busy_ns + self.program_ns(&of);
        let planes = self.geometry.planes;
        let cells = self.cells_mut();
        let die = &mut cells.dies[of.at.die.idx()];
        (die.work, die.started) = (ArrayWork::Row(row), now + busy_ns);
        (die.array_start, die.latched) = (now, RowId::NONE);
        cells.rows[row].programs = true;
        if cells.rows.has_two_passes(&of) && !of.is_between {
            cold_path();
            cells.rows.note_first_pass(&of);
        }
        if of.after.is_some() {
            cells.rows[of.after].before = RowId::NONE;
        }
        let states = OpStates::of(OpClass { mode: of.mode, ..OpClass::plain(OpKind::Program) });
        self.set_course(of.at.die, now, planes, states, now, flash);
        self.set_array_end(agenda, of.at.die, now, array_ns);
        self.refresh_rows(of.at.die);
    }

    /// The program of a row has ended, or a pass of it: with the last one so have its members.
    pub(super) fn row_has_ended<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        row: RowId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let (now, of) = (agenda.now(), self.cells().rows[row]);
        let die = of.at.die;
        if self.has_second_pass(&of) {
            self.first_pass_has_ended(row, now, flash);
        } else {
            self.last_pass_has_ended(row, now, firmware, flash);
        }
        self.rows_wait_anew(die, now);
        self.refresh_rows(die);
        self.begin_next_row(agenda, die, flash);
    }

    /// The only pass of a row has ended, or the second one: its members have ended.
    fn last_pass_has_ended<P: Probe>(
        &mut self,
        row: RowId,
        now: Nanos,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while let Some(id) = self.cells_mut().in_memory.pop() {
            self.read_in_memory(id, firmware, flash); // of this instant, and perhaps of this row
        }
        let of = self.cells().rows[row];
        flash.array.end_row(of.at, of.holds_data(&self.ops));
        let (array_start, suspensions) = self.cells_mut().dies[of.at.die.idx()].end_of_work();
        for (page, id) in of.members().enumerate() {
            let (start, moved_in) = of.moved[page];
            let times = OpTimes { start, array_start, array_end: now, out_start: now, end: now };
            let planes = self.geometry.planes;
            let moves = self.cells_mut().rows.take_earlier_moves(id);
            let pages = of.size;
            let shared = Shared { in_end: moved_in, pages, planes, suspensions: &suspensions, earlier_moves: &moves };
            self.finish(id, &times, shared, firmware, flash);
        }
        self.ops.remove(of.op);
        self.cells_mut().rows.remove(row);
    }

    /// A die has programmed a row: the time begins anew after which its rows have waited for long enough.
    fn rows_wait_anew(&mut self, die: DieId, now: Nanos) {
        let Cells { rules, rows, .. } = self.cells_mut();
        for at in 0..rows.of_die[die.idx()].len() {
            let other = rows.of_die[die.idx()][at];
            rows[other].since = now;
            if rows.waits_for_pages(other) && rows[other].deadline == NEVER {
                rows.look_again(other, now.saturating_add(rules.pad_after_ns));
            }
        }
    }

    /// Begins with the row that is in the registers already, unless the die has something better to do.
    fn begin_next_row<P: Probe>(&mut self, agenda: &mut Agenda, die: DieId, flash: &mut MeteredFlash<P>) {
        let latched = self.cells().dies[die.idx()].latched;
        if self.competes || latched == RowId::NONE || !self.cells().rows[latched].is_linked {
            return;
        }
        let of = &self.cells().rows[latched];
        let (op, waits) = (of.op, of.waits_for_array());
        let is_next = self.best_queue(die).is_some_and(|queue| self.dies[die.idx()].queues[queue].head == op);
        if waits && is_next {
            self.unlink(op);
            self.cells_mut().rows[latched].is_linked = false;
            let busy_ns = self.cells().rules.bus.cache_busy_ns;
            self.begin_row(agenda, latched, busy_ns, flash);
        }
    }

    /// Moves in the next page of a row on a channel's dies whose arrays program, the oldest row first. Returns whether there was one.
    pub(super) fn begin_load_beside<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) -> bool {
        if !self.cells().rules.bus.cache_program {
            return false;
        }
        let bus = &self.channels[channel.idx()];
        let dies = ways(bus.beside & bus.ready).map(|way| self.geometry.die_at(channel, way));
        let programs = |die: &DieId| matches!(self.cells().dies[die.idx()].work, ArrayWork::Row(_));
        let rows = dies.filter(programs).flat_map(|die| self.cells().rows.of_die[die.idx()].iter().copied());
        let linked = rows.filter(|&row| self.cells().rows[row].is_linked);
        let Some(row) = linked.min_by_key(|&row| self.ops[self.cells().rows[row].op].seq) else { return false };
        let of = &self.cells().rows[row];
        let (op, die) = (of.op, of.at.die);
        self.unlink(op);
        self.book_transfer(die, agenda.now(), None, flash);
        self.go_on_with_row(agenda, channel, op, flash);
        self.restate(die, agenda.now(), flash);
        true
    }

    /// The blocks whose rows are to be padded now, and up to which page: those with a row that has waited for long enough, and those that
    /// `which` adds.
    pub fn rows_to_pad(&mut self, now: Nanos, which: PadWhich, array: &Array, into: &mut Vec<(BlockId, u32)>) {
        let Some(cells) = &mut self.cells else { return };
        cells.rows.are_new_deadlines = false;
        let (rows, pad_after_ns, ends) = (&mut cells.rows, cells.rules.pad_after_ns, cells.leaves_lazy);
        let dies = &self.dies;
        let goes_on = |die: DieId| {
            let die = &dies[die.idx()];
            die.background > 0 || die.ready & OpQueue::OF_BACKGROUND != 0
        };
        let holds_data = |row: &Row| row.holds_data(&self.ops);
        let has_erase = |die| array.waiting_erases().any(|block| self.geometry.die_of_block(block) == die);
        let is_of_host = |row: &Row| row.members().any(|id| self.ops[id].cause == Cause::Host);
        while let Some(&Reverse((at, row))) = rows.deadlines.peek() {
            let row = RowId(row);
            let is_void = rows[row].deadline != at || !rows.waits_for_pages(row);
            if !is_void && at > now {
                break;
            }
            rows.deadlines.pop();
            if is_void {
                continue;
            }
            let of = &mut rows[row];
            of.deadline = NEVER;
            let (until, die) = (of.since.saturating_add(pad_after_ns), of.at.die);
            if until > now {
                rows.look_again(row, until);
            } else if !rows.of_die[die.idx()].iter().any(|&other| rows.can_end(&rows[other])) {
                let of = &rows[row];
                if of.is_open() || is_of_host(of) || holds_data(of) && (has_erase(die) || ends && !goes_on(die)) {
                    into.push((of.at.block, rows.end_of_wait(of)));
                } else if ends && holds_data(of) {
                    rows.look_again(row, now.saturating_add(pad_after_ns.max(PASS_AGAIN_NS))); // a collection brings the rows behind
                } // else nobody waits for the second pass of copies
            } // else its time begins when its die has programmed the other row
        }
        if which == PadWhich::Late {
            return;
        }
        let open = rows.of_die.iter().flatten().filter(|&&row| rows.waits_for_pages(row)).map(|&row| &rows[row]);
        let is_wanted = |row: &&Row| row.is_open() || holds_data(row);
        let open = open.filter(|row| which == PadWhich::All && is_wanted(row) || is_of_host(row));
        into.extend(open.map(|row| (row.at.block, rows.end_of_wait(row))));
        into.sort_unstable_by_key(|&(block, end)| (block, Reverse(end)));
        into.dedup_by_key(|(block, _)| *block);
    }

    /// The row that waits for pages in a block was not padded: it goes on waiting.
    pub fn pad_later(&mut self, block: BlockId, now: Nanos) {
        let die = self.geometry.die_of_block(block);
        let Cells { rules, rows, .. } = self.cells_mut();
        let least_ns = if rows.pass_distance > 0 { PASS_AGAIN_NS } else { 1 };
        let again = now.saturating_add(rules.pad_after_ns.max(least_ns));
        let waits = |row: &RowId| rows[*row].at.block == block && rows.waits_for_pages(*row);
        let row = rows.of_die[die.idx()].iter().copied().find(waits);
        if let Some(row) = row.filter(|&row| rows[row].deadline == NEVER) {
            rows.look_again(row, again);
        }
    }

    /// The next time at which a row may have waited for long enough.
    pub fn next_pad_at(&self) -> Option<Nanos> {
        self.cells.as_ref().and_then(|cells| cells.rows.next_deadline())
    }
}

/// Which rows are padded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PadWhich {
    /// Those that have waited for long enough.
    Late,
    /// And all with data that the host has written.
    OfHost,
    /// And all others.
    All,
}

impl Controller {
    /// The operations under way of dies that do more than one thing at a time. A row is under way page by page.
    pub(in crate::controller) fn under_way_on_cells(&self) -> impl Iterator<Item = UnderWay> + '_ {
        let dies = self.cells.iter().flat_map(|cells| (0..).map(DieId).zip(cells.dies.iter()));
        dies.flat_map(move |(number, die)| {
            let ids = |work: ArrayWork| match work {
                ArrayWork::None => Vec::new(),
                ArrayWork::Reads => self.listed(die.reads).collect(),
                ArrayWork::Row(row) => self.cells().rows[row].members().collect(),
                ArrayWork::Erase(id) => vec![id],
            };
            let moving_out = self.listed(die.out).chain(self.listed(die.behind));
            let all: Vec<OpId> = ids(die.work).into_iter().chain(moving_out).collect();
            let between = self.cells().rows.between_passes(number).map(|id| (id, die.started));
            let suspended = ids(die.pause.held).into_iter().map(|id| (id, die.pause.started));
            let of_die = all.into_iter().map(|id| (id, die.started)).chain(suspended).chain(between);
            let end = self.end_of_paused(die);
            of_die.map(move |(id, since)| {
                let op = &self.ops[id];
                let may_pause = matches!(op.kind, OpKind::Program | OpKind::Erase);
                let end = if may_pause { end } else { EndOfOp::AsPlanned };
                UnderWay { kind: op.kind, number: op.seq, at: op.at, since, end }
            })
        })
    }
}
