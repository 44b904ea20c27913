//! The shadow check stops a run whose translation layer does something wrong, and lets one pass that does not.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{PROBE_DRIVE, Script, half_write, load, read, request, write};
use flashwatt::RunOptions;
use flashwatt::Watch;
use flashwatt::config::Config;
use flashwatt_base::error::Error;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};
use flashwatt_core::connector::{Extent, Request, RequestKind};
use flashwatt_core::kernel::Sim;
use flashwatt_ssd::blocks::BlockTable;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{Context, Ftl, OpKind, Plan, PlannedOp, RestoredDrive};
use flashwatt_ssd::nand::{Array, Geometry};
use flashwatt_ssd::observe::check::Shadow;

/// What a translation layer does wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    None,
    /// Collection copies the neighbour of a valid page.
    WrongCopy,
    /// Collection erases a block of which it has not copied everything.
    EarlyErase,
    /// A read goes to the neighbour of the page.
    WrongRead,
    /// A write of a part of a page does not read the rest.
    NoMerge,
    /// A trim leaves the map as it was.
    NoTrim,
}

/// A good translation layer with a fault.
struct Faulty {
    inner: Box<dyn Ftl>,
    fault: Fault,
}

impl Faulty {
    /// A step of background work, with its fault.
    fn spoil(&self, op: &PlannedOp, geometry: &Geometry, plan: &mut Plan) {
        match (op.kind, self.fault) {
            (OpKind::Copy, Fault::EarlyErase) => {
                plan.erase(geometry.first_ppn(geometry.block_of(op.source)), op.cause);
            }
            (OpKind::Copy, Fault::WrongCopy) => {
                plan.copy(OpKind::Copy, Ppn(op.source.0 ^ 1), op.ppn, op.cause, op.replaces);
            }
            (OpKind::Copy, _) => {
                plan.copy(OpKind::Copy, op.source, op.ppn, op.cause, op.replaces);
            }
            (OpKind::Erase, _) => {
                plan.erase(op.ppn, op.cause);
            }
            other => unreachable!("{other:?} in a step of collection"),
        }
    }
}

impl Ftl for Faulty {
    fn read(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        let first = if self.fault == Fault::WrongRead { Lpn(extent.first.0 ^ 1) } else { extent.first };
        self.inner.read(&Extent { first, ..*extent }, cx, plan);
    }

    fn write(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) -> u32 {
        let whole = Extent { head_partial: false, tail_partial: false, ..*extent };
        self.inner.write(if self.fault == Fault::NoMerge { &whole } else { extent }, cx, plan)
    }

    fn trim(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        if self.fault != Fault::NoTrim {
            self.inner.trim(extent, cx, plan);
        }
    }

    fn wants_background(&self, die: DieId, blocks: &BlockTable) -> bool {
        self.inner.wants_background(die, blocks)
    }

    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        let mut good = Plan::default();
        self.inner.background(die, cx, &mut good);
        good.ops().iter().for_each(|op| self.spoil(op, cx.blocks.geometry(), plan));
        plan.notes = good.notes;
    }

    fn erased(&mut self, block: BlockId, cx: &mut Context, plan: &mut Plan) {
        self.inner.erased(block, cx, plan);
    }

    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error> {
        self.inner.fill(blocks, array, watch)
    }

    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.inner.lookup(lpn)
    }

    fn mapping_bytes(&self) -> u64 {
        self.inner.mapping_bytes()
    }

    fn save(&self, out: &mut StateWriter) {
        self.inner.save(out);
    }

    fn restore(&mut self, from: &mut StateReader, drive: &RestoredDrive) -> Result<(), Flaw> {
        self.inner.restore(from, drive)
    }
}

/// Runs requests on the probe drive with a faulty translation layer. Returns what stopped the run.
fn run(fault: Fault, requests: &[Request]) -> Option<String> {
    let config: Config = load(PROBE_DRIVE, &[]);
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let mut array = Array::new(geometry.clone(), config.ssd().device.nand.program_order);
    let mut firmware = Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry);
    crate::common::fill(&mut firmware, &mut array);
    let inner = std::mem::replace(
        &mut firmware.ftl,
        flashwatt_ssd::ftl::build(&config.ssd().ftl, &config.ssd().ftl_setup(), &geometry),
    );
    firmware.ftl = Box::new(Faulty { inner, fault });
    let shadow = Shadow::new(&geometry, &firmware);
    let mut script = Script::new(requests);
    let sim = Sim::new(&config.run.stages(), Ssd::new(config.ssd(), firmware, array, None, shadow), &mut script);
    let outcome = catch_unwind(AssertUnwindSafe(|| sim.run(&mut |_| true)));
    outcome.err().map(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

/// Enough overwrites of scattered pages that blocks with valid pages are collected, and everything else once.
fn script() -> Vec<Request> {
    let overwrites = (0..120).map(|i| write(i * 1_000_000, i * 5 % 64, 1));
    let more = [half_write(200_000_000, 3), request(201_000_000, RequestKind::Trim, 4, 2), read(202_000_000, 0, 8)];
    overwrites.chain(more).collect()
}

#[test]
fn a_good_run_passes() {
    assert_eq!(run(Fault::None, &script()), None);
}

#[test]
fn every_fault_is_noticed() {
    for (fault, message) in [
        (Fault::WrongCopy, "takes unit"),
        (Fault::EarlyErase, "an erase destroys unit"),
        (Fault::WrongRead, "no operation reads unit"),
        (Fault::NoMerge, "takes unit"),
        (Fault::NoTrim, "in the end the map has unit"),
    ] {
        let found = run(fault, &script());
        let found = found.unwrap_or_else(|| panic!("{fault:?} passes"));
        assert!(found.starts_with("the shadow check stops the run") && found.contains(message), "{fault:?}: {found}");
    }
}

/// The option changes no figure.
#[test]
fn the_check_changes_nothing() {
    let sets = ["workload.uniform.requests=500", "workload.uniform.read_fraction=0.3", "write_buffer.bytes=32768"];
    let config = load(PROBE_DRIVE, &sets);
    let report = |check: bool| {
        let options = RunOptions { check, ..RunOptions::default() };
        let report = flashwatt::run(&config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        serde_json::to_string(&report).unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!(report(true), report(false));
}
