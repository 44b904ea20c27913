//! Runs a drive at its pace: as [`crate::firmware::clockless`], but each operation keeps its die busy for its time, the host has as many writes
//! under way as the drive takes, and collection goes on in the time that the writes leave. So the dies come into the phases of a long run, which a drive
//! that collects at once never has: there all dies take a page in turn, and stay in step for ever.
//!
//! Only dies take time. An operation is carried out when it is planned; an erase frees its block when its time has passed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::firmware::Firmware;
use crate::firmware::clockless::Full;
use crate::ftl::PlannedOp;
use crate::nand::{Array, DieSet, Geometry, Pace};
use crate::operation::OpKind;
use flashwatt_base::units::{BlockId, DieId, Nanos, Ppn};
use flashwatt_core::connector::{Extent, Upcoming};

/// A drive that runs at its pace.
pub struct Paced<'a> {
    geometry: Geometry,
    firmware: &'a mut Firmware,
    array: &'a mut Array,
    pace: Pace,
    now: Nanos,
    /// The end of the last operation of each die.
    free_at: Vec<Nanos>,
    /// The end of the last step of each die's background work: it may program pages of the map on other dies.
    stepped_at: Vec<Nanos>,
    /// The dies that may have background work.
    due: DieSet,
    events: BinaryHeap<Reverse<(Nanos, Event)>>,
    /// Writes under way.
    writes: u32,
    ops: Vec<PlannedOp>,
    operations: u64,
}

/// Something that ends. At one instant erases come first, since they make room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Erase(BlockId),
    Write,
    /// A die's operation, or the cause for it to look for background work.
    Die(DieId),
}

impl<'a> Paced<'a> {
    /// A drive made of two halves, in their present state.
    pub fn new(geometry: &Geometry, firmware: &'a mut Firmware, array: &'a mut Array, pace: Pace) -> Self {
        Paced {
            geometry: geometry.clone(),
            firmware,
            array,
            pace,
            now: 0,
            free_at: vec![0; geometry.dies as usize],
            stepped_at: vec![0; geometry.dies as usize],
            due: DieSet::all(geometry.dies),
            events: (0..geometry.dies).map(|die| Reverse((0, Event::Die(DieId(die))))).collect(),
            writes: 0,
            ops: Vec::new(),
            operations: 0,
        }
    }

    /// Flash operations carried out so far.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Fetches what requests to come will touch into the machine's caches.
    pub fn prefetch(&self, upcoming: &Upcoming) {
        self.firmware.prefetch(upcoming, self.array);
    }

    /// Plans a write of a whole map unit as soon as the drive takes it and has room.
    ///
    /// # Errors
    /// If there is no room, and nothing under way that makes some.
    pub fn write(&mut self, extent: &Extent) -> Result<(), Full> {
        while self.writes >= self.pace.requests {
            self.next_event().ok_or(Full)?;
        }
        loop {
            let found = self.firmware.write(extent, self.array);
            let end = self.carry_out();
            if found > 0 {
                self.writes += 1;
                self.events.push(Reverse((end, Event::Write)));
                return Ok(());
            }
            // What a merge has begun may go on as soon as something has ended; a write without room waits for an erased block.
            let waits_for_room = self.ops.is_empty();
            while self.next_event().ok_or(Full)? != Made::Room && waits_for_room {}
        }
    }

    /// Ends the erases under way. Collections remain where they are.
    pub fn stop(mut self) {
        let events = std::mem::take(&mut self.events).into_sorted_vec();
        for Reverse((_, event)) in events.into_iter().rev() {
            if let Event::Erase(block) = event {
                self.end_erase(block);
            }
        }
    }

    fn next_event(&mut self) -> Option<Made> {
        let Reverse((now, event)) = self.events.pop()?;
        self.now = now;
        match event {
            Event::Erase(block) => {
                self.end_erase(block);
                return Some(Made::Room);
            }
            Event::Write => self.writes -= 1,
            Event::Die(die) => self.step(die),
        }
        Some(Made::Progress)
    }

    /// The next step of the background work of a die that does nothing, if the last one has ended.
    fn step(&mut self, die: DieId) {
        if self.free_at[die.idx()].max(self.stepped_at[die.idx()]) > self.now || !self.due.has(die) {
            return;
        }
        if !self.firmware.ftl.wants_background(die, &self.firmware.blocks) {
            return self.due.remove(die);
        }
        self.firmware.background(die, self.array);
        if self.firmware.plan.ops().is_empty() {
            self.due.remove(die); // it waits for something, and is woken
        }
        let end = self.carry_out();
        self.stepped_at[die.idx()] = end;
        if end > self.free_at[die.idx()] {
            self.events.push(Reverse((end, Event::Die(die))));
        }
    }

    /// Carries out the plan. Returns the time at which its last operation ends.
    fn carry_out(&mut self) -> Nanos {
        self.note_woken();
        let mut ops = std::mem::take(&mut self.ops);
        ops.clear();
        self.firmware.plan.slc_blocks().iter().for_each(|&block| self.array.use_as_slc(block));
        ops.extend_from_slice(self.firmware.plan.ops());
        let mut end = self.now;
        for op in &ops {
            end = end.max(self.carry_out_op(op));
        }
        self.ops = ops;
        end
    }

    fn carry_out_op(&mut self, op: &PlannedOp) -> Nanos {
        self.operations += 1;
        let at = self.geometry.place(op.ppn);
        let end = self.free_at[at.die.idx()].max(self.now) + self.pace.of(op.kind);
        self.free_at[at.die.idx()] = end;
        self.events.push(Reverse((end, Event::Die(at.die))));
        match op.kind {
            OpKind::Read if op.is_blank => self.array.plan_blank_read(at),
            OpKind::Read | OpKind::SpareRead => self.array.start_read(at),
            OpKind::Program => self.program(op.ppn),
            OpKind::Copy | OpKind::Copyback => {
                self.array.start_read(self.geometry.place(op.source));
                self.program(op.ppn);
            }
            OpKind::Erase => self.events.push(Reverse((end, Event::Erase(at.block)))),
        }
        end
    }

    fn program(&mut self, ppn: Ppn) {
        if let Some(die) = self.firmware.program_whole(ppn, self.array) {
            self.wake(die);
        }
    }

    fn end_erase(&mut self, block: BlockId) {
        self.firmware.erase_whole(block, self.array);
        self.note_woken();
        self.wake(self.geometry.die_of_block(block));
    }

    /// Notes the dies that the last plan woke.
    fn note_woken(&mut self) {
        for at in 0..self.firmware.plan.woken().len() {
            self.wake(self.firmware.plan.woken()[at]);
        }
    }

    fn wake(&mut self, die: DieId) {
        if !self.due.has(die) {
            self.due.add(die);
            let at = self.free_at[die.idx()].max(self.stepped_at[die.idx()]).max(self.now);
            self.events.push(Reverse((at, Event::Die(die))));
        }
    }
}

/// What an event has led to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Progress,
    /// A block was erased.
    Room,
}
