//! Rows that are programmed in two passes (`device.cells.passes = 2`).
//!
//! The first pass of a row brings its cells near their levels, the second one to them. A row beside it in its block disturbs a row less
//! after a first pass than after a second one: so the second pass of a row comes when `pass_distance` rows behind it have had
//! their first one. With a distance of 1 the order of a block is: first pass of row 0, of row 1, second pass of row 0, first pass of row 2,
//! second pass of row 1, and so on; behind the first pass of its last row come the second passes that are left, in order. All pages
//! of a row move in for each pass.
//!
//! Between its passes nothing can be read of a row: memory has its data, and its members have not ended. A row that holds no data has
//! one pass. A row that waits for its second pass waits for pages of the rows behind it, and may be padded as one that waits for its
//! own pages. A step of background work has ended, however, when its copies have had their first pass: the next step brings the
//! rows behind them. So rows of copies are not padded unless an erase waits for them, or the run comes to its end.

use super::Cells;
use super::dies::Shared;
use super::rows::{NEVER, Row, RowId, Rows};
use crate::controller::op::OpTable;
use crate::controller::{Controller, MeteredFlash};
use crate::energy::ledger::OpTimes;
use crate::nand::FlashAddress;
use crate::observe::probe::{OpRecord, Probe};
use crate::operation::{Cause, CellMode};
use flashwatt_base::units::{DieId, Nanos, OpId, RequestId};

impl Row {
    /// The number of the row in its block.
    fn number(&self) -> u32 {
        self.at.page / self.size
    }

    /// Whether it holds data, and not padding alone.
    pub fn holds_data(&self, ops: &OpTable) -> bool {
        self.members().any(|id| ops[id].cause != Cause::Pad)
    }

    /// Whether its first pass has begun.
    fn has_begun_first(&self) -> bool {
        self.is_between || self.programs
    }

    /// Whether its second pass has begun.
    fn has_begun_second(&self) -> bool {
        self.is_between && self.programs
    }
}

impl Rows {
    /// Whether a row is one of two passes, if it holds data.
    pub fn has_two_passes(&self, row: &Row) -> bool {
        self.pass_distance > 0 && row.mode == CellMode::Native
    }

    /// The rows of the block of this one that are under way.
    fn of_block(&self, like: &Row) -> impl Iterator<Item = &Row> {
        let (die, block) = (like.at.die, like.at.block);
        self.of_die[die.idx()].iter().map(|&row| &self[row]).filter(move |row| row.at.block == block)
    }

    /// Whether passes of other rows come before the next pass of a row.
    pub fn waits_for_passes(&self, row: &Row) -> bool {
        // A row without data has ended with its one pass: a row before it may still wait for its second one.
        let is_due = |below| self.of_block(row).any(|other| other.number() < below && !other.has_begun_second());
        if row.is_between {
            return !row.is_followed || is_due(row.number());
        }
        is_due(row.number().saturating_sub(self.pass_distance))
            || self.of_block(row).any(|other| other.number() + 1 == row.number() && !other.has_begun_first())
    }

    /// The first pass of a row begins: with it those rows are followed that have waited for it.
    pub fn note_first_pass(&mut self, begun: &Row) {
        let (number, distance) = (begun.number(), self.pass_distance);
        for at in 0..self.of_die[begun.at.die.idx()].len() {
            let id = self.of_die[begun.at.die.idx()][at];
            let row = &mut self[id];
            let is_last_needed = row.number() + distance <= number || begun.is_last;
            row.is_followed |= row.at.block == begun.at.block && is_last_needed;
        }
    }

    /// The page of its block up to which pages must be planned so that a row can end.
    pub fn end_of_wait(&self, row: &Row) -> u32 {
        let rows = if self.has_two_passes(row) && !row.is_last { self.pass_distance } else { 0 };
        row.at.page + (1 + rows) * row.size
    }

    /// The page of its block up to which pages are planned.
    pub fn planned_end(&self, like: &Row) -> u32 {
        self.of_block(like).map(|row| row.at.page + row.planned_pages()).max().unwrap_or(0)
    }

    /// A page of a block is planned: rows of the block that wait for pages wait anew.
    pub fn note_page_planned(&mut self, at: FlashAddress) {
        let now = self.now;
        for place in 0..self.of_die[at.die.idx()].len() {
            let id = self.of_die[at.die.idx()][place];
            if self[id].at.block == at.block {
                self[id].since = now;
            }
        }
    }

    /// The members of a die's rows that are between two passes.
    pub fn between_passes(&self, die: DieId) -> impl Iterator<Item = OpId> + '_ {
        let rows = self.of_die[die.idx()].iter().map(|&row| &self[row]);
        rows.filter(|row| row.is_between && !row.programs).flat_map(Row::members)
    }
}

impl Controller {
    /// Someone waits for the rows of a die, of copies too: those that wait for pages are looked at again.
    pub(in crate::controller) fn look_at_rows_again(&mut self, die: DieId) {
        let Some(Cells { rules, rows, .. }) = self.cells.as_deref_mut().filter(|cells| cells.rows.pass_distance > 0)
        else {
            return;
        };
        for at in 0..rows.of_die[die.idx()].len() {
            let row = rows.of_die[die.idx()][at];
            if rows.waits_for_pages(row) && rows[row].deadline == NEVER {
                rows.look_again(row, rows[row].since.saturating_add(rules.pad_after_ns));
                rows.are_new_deadlines = true;
            }
        }
    }

    /// Whether a row that the array has programmed is to have a second pass.
    pub(super) fn has_second_pass(&self, row: &Row) -> bool {
        self.cells().rows.has_two_passes(row) && !row.is_between && row.holds_data(&self.ops)
    }

    /// The first of two passes of a row has ended.
    pub(super) fn first_pass_has_ended<P: Probe>(&mut self, row: RowId, now: Nanos, flash: &mut MeteredFlash<P>) {
        let of = self.cells().rows[row];
        let die = of.at.die;
        flash.array.end_first_pass(of.at);
        let (array_start, suspensions) = self.cells_mut().dies[die.idx()].end_of_work();
        for (page, id) in of.members().enumerate() {
            let (start, in_end) = of.moved[page];
            let times = &OpTimes { start, array_start, array_end: now, out_start: now, end: now };
            let earlier_moves = &self.cells_mut().rows.take_earlier_moves(id)[..];
            let (op, planes) = (self.ops[id].facts(), self.geometry.planes);
            let shared = Shared { in_end, pages: of.size, planes, suspensions: &suspensions, earlier_moves };
            let cells = Some(shared.facts(flash.array.class(op.at, op.kind)));
            flash.accounts.probe.first_pass_ended(&OpRecord { op, times, cells });
            if let Some(of_step) = self.ops[id].request.as_background() {
                self.ops[id].request = RequestId::PAD; // its step has ended
                self.background_ended(of_step);
            }
        }
        let of = &mut self.cells_mut().rows[row];
        (of.is_between, of.programs, of.loaded) = (true, false, 0);
    }
}
