//! Runs a drive without a clock: every plan is carried out at once, and background work as soon as it is due.
//!
//! It lays down start states, replays requests for [`crate::ssd::Untimed`], and property tests drive translation layers
//! with it. The NAND referee checks its operations too.

use crate::connector::{Extent, Request, RequestKind};
use crate::device::{Array, Geometry};
use crate::firmware::Firmware;
use crate::ftl::{Plan, PlannedOp};
use crate::operation::OpKind;
use crate::units::{DieId, Lpn, OpId};

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
    /// Flash operations carried out so far.
    operations: u64,
    tally: T,
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
        Clockless { geometry: geometry.clone(), firmware, array, ops: Vec::new(), operations: 0, tally }
    }

    /// Flash operations carried out so far.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Carries out a request.
    pub fn request(&mut self, request: &Request) -> Result<(), Full> {
        self.request_of(request.kind, self.geometry.extent(request))
    }

    /// Carries out a request for these pages.
    pub fn request_of(&mut self, kind: RequestKind, extent: Extent) -> Result<(), Full> {
        match kind {
            RequestKind::Read => {
                self.firmware.read(extent, self.array);
                self.carry_out();
            }
            RequestKind::Write => self.write(extent)?,
            RequestKind::Trim => {
                self.firmware.trim(extent, self.array);
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
            let found = self.firmware.write(rest, self.array);
            done += found;
            let erases = self.firmware.plan.ops().iter().any(|op| op.kind == OpKind::Erase);
            self.carry_out();
            if done < extent.pages && !self.background() && found == 0 && !erases {
                return Err(Full);
            }
        }
        Ok(())
    }

    /// Does all background work that is due. Returns whether there was any.
    fn background(&mut self) -> bool {
        let mut any = false;
        for die in (0..self.geometry.dies).map(DieId) {
            while self.firmware.ftl.wants_background(die, &self.firmware.blocks) {
                self.firmware.background(die, self.array);
                if self.firmware.plan.ops().is_empty() {
                    break;
                }
                self.carry_out();
                any = true;
            }
        }
        any
    }

    fn carry_out(&mut self) {
        self.ops.clear();
        self.ops.extend_from_slice(self.firmware.plan.ops());
        self.tally.planned(&self.firmware.plan);
        self.operations += self.ops.len() as u64;
        for at in 0..self.ops.len() {
            let op = self.ops[at];
            match op.kind {
                OpKind::Read if op.is_blank => self.array.plan_blank_read(self.geometry.place(op.ppn)),
                OpKind::Read | OpKind::SpareRead => self.array.start_read(self.geometry.place(op.ppn)),
                OpKind::Program => self.program(&op),
                OpKind::Copy | OpKind::Copyback => {
                    self.array.start_read(self.geometry.place(op.source));
                    self.program(&op);
                }
                OpKind::Erase => self.erase(&op),
            }
            self.tally.ended(&op);
        }
    }

    fn program(&mut self, op: &PlannedOp) {
        let at = self.geometry.place(op.ppn);
        self.array.plan_program(at, OpId(0));
        self.array.start_program(at);
        if self.array.end_program(at) {
            self.firmware.blocks.close(at.block);
        }
    }

    fn erase(&mut self, op: &PlannedOp) {
        let block = self.geometry.block_of(op.ppn);
        self.array.start_erase(block);
        self.array.end_erase(block);
        self.firmware.erased(block, self.array);
    }
}
