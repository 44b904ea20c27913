//! Runs a drive without a clock: every plan is carried out at once, and background work as soon as it is due.
//!
//! It lays down start states, replays requests for [`crate::drive::Untimed`], and property tests drive translation layers
//! with it. The NAND referee checks its operations too.

use crate::firmware::Firmware;
use crate::ftl::{Plan, PlannedOp};
use crate::nand::{Array, DieSet, Geometry};
use crate::operation::OpKind;
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};
use flashwatt_core::connector::{Extent, Request, RequestKind, Upcoming};

/// An observer of the plans and operations of a drive without a clock.
pub trait Tally {
    /// A plan was made, and is about to be carried out.
    fn planned(&mut self, _plan: &Plan) {}

    /// An operation was carried out.
    fn ended(&mut self, _op: &PlannedOp) {}
}

/// Counts nothing.
impl Tally for () {}

impl<T: Tally> Tally for &mut T {
    fn planned(&mut self, plan: &Plan) {
        (**self).planned(plan);
    }

    fn ended(&mut self, op: &PlannedOp) {
        (**self).ended(op);
    }
}

/// A drive without a clock.
pub struct Clockless<'a, T: Tally = ()> {
    geometry: Geometry,
    /// The deciding half of the drive.
    pub firmware: &'a mut Firmware,
    /// The flash.
    pub array: &'a mut Array,
    ops: Vec<PlannedOp>,
    /// The dies that may have background work.
    due: DieSet,
    /// Flash operations carried out so far.
    operations: u64,
    tally: T,
}

/// What an operation does. A plan was written a moment ago, field by field: these few are read in the same way, because a
/// processor that copies all of it at once waits until the writes have ended.
struct Task {
    kind: OpKind,
    is_blank: bool,
    ppn: Ppn,
    source: Ppn,
}

impl Task {
    #[inline(always)]
    fn of(op: &PlannedOp) -> Self {
        Task { kind: op.kind, is_blank: op.is_blank, ppn: op.ppn, source: op.source }
    }
}

/// A write found no room although no background work is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl<'a> Clockless<'a> {
    /// A drive made of two halves, in their present state.
    pub fn new(geometry: &Geometry, firmware: &'a mut Firmware, array: &'a mut Array) -> Self {
        Clockless::observed(geometry, firmware, array, ())
    }
}

impl<'a, T: Tally> Clockless<'a, T> {
    /// As [`Clockless::new`], with an observer.
    pub fn observed(geometry: &Geometry, firmware: &'a mut Firmware, array: &'a mut Array, tally: T) -> Self {
        let due = DieSet::all(geometry.dies);
        Clockless { geometry: geometry.clone(), firmware, array, ops: Vec::new(), due, operations: 0, tally }
    }

    /// Flash operations carried out so far.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Fetches what requests to come will touch into the machine's caches.
    pub fn prefetch(&self, upcoming: &Upcoming) {
        self.firmware.prefetch(upcoming, self.array);
    }

    /// Carries out a request.
    pub fn request(&mut self, request: &Request) -> Result<(), Full> {
        self.request_of(request.kind, self.geometry.extent(request))
    }

    /// Carries out a request for these pages.
    pub fn request_of(&mut self, kind: RequestKind, extent: Extent) -> Result<(), Full> {
        match kind {
            RequestKind::Read => {
                self.firmware.read(&extent, self.array);
                self.carry_out();
            }
            RequestKind::Write => self.write(extent)?,
            RequestKind::Trim => {
                self.firmware.trim(&extent, self.array);
                self.carry_out();
            }
            RequestKind::Flush => {}
        }
        self.background();
        Ok(())
    }

    fn write(&mut self, extent: Extent) -> Result<(), Full> {
        let mut done = 0;
        while done < extent.pages {
            let rest = Extent {
                first: Lpn(extent.first.0 + done),
                pages: extent.pages - done,
                head_partial: extent.head_partial && done == 0,
                ..extent
            };
            let found = self.firmware.write(&rest, self.array);
            done += found;
            let erases = self.firmware.plan.ops().iter().any(|op| op.kind == OpKind::Erase);
            self.carry_out();
            if done < extent.pages && !self.background() && found == 0 && !erases {
                return Err(Full);
            }
        }
        Ok(())
    }

    /// Skips the rest of each row that has begun: a drive whose rows are programmed at once begins with whole ones. Where a collection
    /// needs the pages of a row, it goes on until it does not.
    pub fn end_rows(&mut self) {
        if self.geometry.row_pages == 1 {
            return;
        }
        while let Some(block) = self.open_row() {
            let end = self.array.planned_pages(block).next_multiple_of(self.array.row_pages(block));
            self.firmware.pad(block, end, self.array);
            if self.firmware.plan.ops().is_empty() {
                self.firmware.background(self.geometry.die_of_block(block), self.array);
                assert!(
                    !self.firmware.plan.ops().is_empty(),
                    "a row that nothing ends; this is a fault of the simulator"
                );
            }
            self.carry_out();
        }
    }

    /// A block that ends within a row.
    fn open_row(&self) -> Option<BlockId> {
        let is_open = |&block: &BlockId| !self.array.planned_pages(block).is_multiple_of(self.array.row_pages(block));
        (0..self.geometry.blocks).map(BlockId).find(is_open)
    }

    /// Does the background work of all dies, in their order. Returns whether there was any.
    fn background(&mut self) -> bool {
        let mut any = false;
        let mut from = 0; // a die may wake others
        while let Some(die) = self.due.first_from(from) {
            from = die.0 + 1;
            any |= self.background_of(die);
        }
        debug_assert!((0..self.geometry.dies).map(DieId).all(|die| self.due.has(die) || !self.wants_background(die)));
        any
    }

    /// Does the background work of a die. Returns whether there was any.
    fn background_of(&mut self, die: DieId) -> bool {
        let mut any = false;
        while self.wants_background(die) {
            self.firmware.background(die, self.array);
            if self.firmware.plan.ops().is_empty() {
                self.note_woken();
                return any; // it waits for something
            }
            self.carry_out();
            any = true;
        }
        self.due.remove(die);
        any
    }

    fn wants_background(&self, die: DieId) -> bool {
        self.firmware.ftl.wants_background(die, &self.firmware.blocks)
    }

    /// Notes the dies that the last plan woke.
    #[inline(always)]
    fn note_woken(&mut self) {
        for at in 0..self.firmware.plan.woken().len() {
            self.due.add(self.firmware.plan.woken()[at]);
        }
    }

    fn carry_out(&mut self) {
        self.tally.planned(&self.firmware.plan);
        self.firmware.plan.slc_blocks().iter().for_each(|&block| self.array.use_as_slc(block));
        self.note_woken();
        if let [op] = self.firmware.plan.ops()
            && op.kind != OpKind::Erase
        {
            let task = Task::of(op);
            self.carry_out_task(task);
            return self.firmware.plan.ops().iter().for_each(|op| self.tally.ended(op));
        }
        let mut ops = std::mem::take(&mut self.ops);
        ops.clear();
        ops.extend_from_slice(self.firmware.plan.ops()); // the end of an erase makes another plan
        for op in &ops {
            self.carry_out_task(Task::of(op));
            self.tally.ended(op);
        }
        self.ops = ops;
    }

    #[inline(always)]
    fn carry_out_task(&mut self, Task { kind, is_blank, ppn, source }: Task) {
        self.operations += 1;
        match kind {
            OpKind::Read if is_blank => self.array.plan_blank_read(self.geometry.place(ppn)),
            OpKind::Read | OpKind::SpareRead => self.array.start_read(self.geometry.place(ppn)),
            OpKind::Program => self.program(ppn),
            OpKind::Copy | OpKind::Copyback => {
                self.array.start_read(self.geometry.place(source));
                self.program(ppn);
            }
            OpKind::Erase => self.erase(ppn),
        }
    }

    fn program(&mut self, ppn: Ppn) {
        if let Some(die) = self.firmware.program_whole(ppn, self.array) {
            self.due.add(die);
        }
    }

    fn erase(&mut self, ppn: Ppn) {
        let block = self.geometry.block_of(ppn);
        self.firmware.erase_whole(block, self.array);
        self.note_woken();
        self.due.add(self.geometry.die_of_block(block));
    }
}
