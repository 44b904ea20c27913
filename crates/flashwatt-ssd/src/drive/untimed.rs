//! A drive without a clock as a device: it carries out each request at once, and counts what that does to the flash.
//!
//! The loop, the stages of a run and the workloads are those of every run, and the layers are driven as a start state is laid
//! down ([`Clockless`]). Simulated time passes only where a workload waits for it, so no figure of time or energy exists.

use super::settings::{Flashsim, PartialPages};
use crate::energy::Ledger;
use crate::firmware::Firmware;
use crate::firmware::clockless::{Clockless, Tally};
use crate::ftl::{Plan, PlannedOp};
use crate::nand::{Array, Geometry};
use crate::observe::accounts::{HostWrites, SsdFigures};
use crate::operation::{OpClass, OpKind};
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    AtEnd, Completion, Cx, Device, Request, RequestKind, Seats, Status, Tag, Upcoming, Window,
};
use flashwatt_core::energy::Series;

/// The budget of operations is looked at after each request: collection may add any number of operations to one.
const OPERATIONS_AT_ONCE: u64 = 1 << 19;

/// A drive without a clock.
pub struct Untimed {
    rules: Flashsim,
    logical_bytes: u64,
    geometry: Geometry,
    firmware: Firmware,
    array: Array,
    counts: UntimedCounts,
    /// The seat of the event that ends a request, at the instant at which it came.
    seat: u32,
    /// The request inside the drive, and whether it was carried out. One that was not had no room.
    inside: Option<(Tag, bool)>,
    window_start: Nanos,
}

/// The figures of the current window.
struct UntimedCounts(SsdFigures);

impl Tally for UntimedCounts {
    fn planned(&mut self, plan: &Plan) {
        self.0.planned(plan);
    }

    fn ended(&mut self, op: &PlannedOp) {
        let ledger = &mut self.0.ledger;
        // There are no times and no prices by which classes of a kind would differ.
        let mut ended = |kind| ledger.ended(OpClass::plain(kind), op.cause, 0);
        match op.kind {
            OpKind::Copy => {
                ended(OpKind::Read);
                ended(OpKind::Program);
            }
            kind => ended(kind),
        }
        if op.kind == OpKind::Erase {
            self.0.settling.take(self.0.written.host_bytes, self.0.ledger.programs());
        }
    }
}

impl Untimed {
    /// A drive in its start state.
    pub fn new(rules: &Flashsim, logical_bytes: u64, geometry: Geometry, firmware: Firmware, array: Array) -> Self {
        let mut drive = Untimed {
            rules: rules.clone(),
            logical_bytes,
            geometry,
            firmware,
            array,
            counts: UntimedCounts(SsdFigures::default()),
            seat: 0,
            inside: None,
            window_start: 0,
        };
        drive.restart(0);
        drive
    }

    /// The deciding half of the drive.
    pub fn firmware(&self) -> &Firmware {
        &self.firmware
    }

    /// The flash.
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// Starts a new window.
    fn restart(&mut self, now: Nanos) {
        self.window_start = now;
        self.counts = UntimedCounts(SsdFigures {
            ledger: Ledger::new(self.geometry.dies),
            free_blocks_start: self.firmware.blocks.all_free_blocks(),
            ..SsdFigures::default()
        });
    }

    /// Carries out a request. Returns whether it found room.
    fn carry_out(&mut self, request: &Request) -> bool {
        let mut extent = self.geometry.extent(request);
        let is_write = request.kind == RequestKind::Write;
        if is_write && self.rules.partial_pages == PartialPages::Outward {
            (extent.head_partial, extent.tail_partial) = (false, false);
        }
        let mut drive = Clockless::observed(&self.geometry, &mut self.firmware, &mut self.array, &mut self.counts);
        if drive.request_of(request.kind, extent).is_err() {
            return false;
        }
        if is_write {
            let HostWrites { host_bytes, host_units, .. } = &mut self.counts.0.written;
            *host_bytes += request.bytes;
            *host_units += u64::from(extent.pages);
        }
        true
    }
}

impl Device for Untimed {
    type Figures = SsdFigures;

    fn enrol(&mut self, seats: &mut Seats) {
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        u32::from(self.inside.is_none())
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        let offset_bytes = request.offset_bytes + self.rules.offset_sectors * flashwatt_base::units::SECTOR_BYTES;
        let request = Request { offset_bytes, ..*request };
        if !request.is_within(self.logical_bytes) {
            return cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
        let found_room = self.carry_out(&request);
        self.inside = Some((tag, found_room));
        if found_room {
            let now = cx.now();
            cx.agenda.reset(self.seat, now); // an event for each request, so that the loop looks at progress and budget
        }
    }

    fn pass_time(&mut self, _now: Nanos) {}

    fn event(&mut self, _seat: u32, cx: &mut Cx) -> bool {
        let ended = self.inside.take();
        cx.done.extend(ended.map(|(tag, _)| Completion::done(tag)));
        ended.is_some()
    }

    fn rest(&mut self) -> Result<(), Error> {
        if self.inside.is_some() { Err(super::no_room()) } else { Ok(()) }
    }

    fn prefetch(&self, _upcoming: &Upcoming) {}

    fn end_window(&mut self, now: Nanos, _meter: AtEnd) -> (Window<SsdFigures>, Option<Box<Series>>) {
        let start_ns = self.window_start;
        let free_blocks_end = self.firmware.blocks.all_free_blocks();
        let figures = SsdFigures { free_blocks_end, ..std::mem::take(&mut self.counts.0) };
        self.restart(now);
        (Window { start_ns, end_ns: now, reading: None, figures }, None)
    }

    fn operations(&self) -> u64 {
        self.counts.0.ledger.flash_operations()
    }

    fn operations_at_once(&self) -> u64 {
        OPERATIONS_AT_ONCE
    }

    fn series_overflowed(&mut self) -> bool {
        false
    }

    fn so_far(&self) -> (f64, f64) {
        (0.0, 0.0)
    }
}
