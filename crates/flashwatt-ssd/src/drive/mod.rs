//! The SSD behind the connector: host link, write buffer, translation layer, controller and flash.
//!
//! ```text
//! submit ── host link ── firmware's time ── look-ups in the host's memory ── write buffer ── Ftl::{read, write, trim} ── Plan ── Controller ── flash
//! done   ── host link ── (requests.rs: what a request still waits for) ──── an operation ends
//! ```

use std::collections::VecDeque;
use std::hint::cold_path;

use crate::controller::{Controller, MeteredFlash, UnderWay};
use crate::firmware::Firmware;
use crate::ftl::{MapNotes, PartialReads};
use crate::nand::settings::PartialUnit;
use crate::nand::{Array, Geometry};
use crate::observe::accounts::{SsdAccounts, SsdFigures};
use crate::observe::probe::{Probe, Purpose};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{DieId, Nanos, RequestId};
use flashwatt_core::connector::{Completion, Cx, Device, FlashCounts, Request, Seats, Status, Tag, Upcoming};
use flashwatt_core::energy::Series;
use flashwatt_core::energy::window::{AtEnd, Window};

mod batches;
mod destage;
mod firmware_time;
#[cfg(test)]
pub(crate) mod fixture;
mod host_link;
mod host_memory;
mod idle;
mod link;
mod partial;
mod recovery;
mod requests;
mod rows;
mod service;
mod services;
pub mod settings;
mod untimed;

use batches::Buffered;
use firmware_time::FirmwareQueue;
use host_link::LinkShares;
use link::Link;
use recovery::RecoveryWork;
pub use recovery::journal::JournalFault;
pub use recovery::{Afterwards, MapLoad, Scanned};
use requests::Active;
use services::Services;
use settings::Settings;
pub use untimed::Untimed;

/// An SSD.
pub struct Ssd<P: Probe> {
    geometry: Geometry,
    logical_bytes: u64,
    /// The deciding half.
    pub firmware: Firmware,
    /// The flash, with its accounts.
    pub flash: MeteredFlash<P>,
    controller: Controller,
    link: Link,
    shares: LinkShares,
    /// The time of the firmware, if it takes any.
    firmware_queue: Option<Box<FirmwareQueue>>,
    /// Is a request planned when it comes? Neither the link nor the firmware takes time then, and no look-up in the host's memory does.
    plans_at_once: bool,
    /// Requests inside the drive, by their tags.
    requests: FlatTable<Active>,
    /// Writes that wait for a block to be erased.
    stalled: VecDeque<RequestId>,
    /// The write buffer, if the drive has one.
    buffered: Option<Box<Buffered>>,
    /// Has the write buffer changed since it was last asked for something to destage? Never true without a write buffer.
    buffer_changed: bool,
    /// After a power cut, the work that the drive does before it serves requests.
    recovery: Option<Box<RecoveryWork>>,
    /// What works beside requests.
    services: Services,
    /// Has the host sent its last request?
    draining: bool,
    /// In which units reads move what was asked for of a page, if not whole pages.
    partial_unit: Option<PartialUnit>,
    /// The first of the drive's seats, that of die 0.
    first_seat: u32,
    seats: LinkSeats,
}

/// The seats behind the controller's.
#[derive(Clone, Copy, Default)]
struct LinkSeats {
    link_in: u32,
    link_out: u32,
    idle: u32,
    /// The first seat of the services, if one has events.
    services: u32,
    /// That of the firmware, behind those of the services; [`NO_SEAT`] if it takes no time.
    firmware: u32,
}

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockContent {
    /// The die's number.
    pub die: u32,
    /// The block's number in the drive.
    pub block: u32,
    /// `free`: erased. `open`: data is written to it. `closed`: it is full. `victim`: it is collected or erased.
    pub state: &'static str,
    /// Pages that are programmed, or will be by operations that are planned.
    pub planned_pages: u32,
    /// Map units of current data. A unit is a page unless `ftl.page.map_unit_bytes` is smaller.
    pub valid_units: u32,
    /// Times that it was erased.
    pub erases: u32,
}

/// No seat.
const NO_SEAT: u32 = u32::MAX;

impl<P: Probe> Ssd<P> {
    /// A drive in its start state.
    pub fn new(
        settings: &Settings,
        mut firmware: Firmware,
        array: Array,
        series: Option<Box<Series>>,
        probe: P,
    ) -> Self {
        let geometry = Geometry::new(&settings.device, settings.map_unit_bytes());
        let mut controller =
            Controller::new(&settings.controller, &settings.device.timing, settings.gc.preemptible, &geometry);
        controller.set_dies(&settings.device, settings.controller.read_transfer);
        controller.begin(firmware.plan.next());
        if settings.device.bus.partial_pages {
            firmware.plan.partial_reads = PartialReads::of(&geometry);
            controller.move_parts(firmware.plan.partial_reads.page_sectors());
        }
        let queue_depth = settings.device.host_link.queue_depth;
        let buffered = Buffered::new(&settings.write_buffer, &geometry, firmware.ftl.as_ref(), queue_depth);
        let mut accounts = SsdAccounts::new(&settings.energy, settings.device.page_bytes, geometry.dies, series, probe);
        accounts.free_blocks = firmware.blocks.all_free_blocks();
        let services = Services::new(settings, &firmware, &mut controller);
        if let (Some(memory), Some(own)) = (&services.host_memory, &settings.device.host_memory) {
            firmware.plan.entries_per_line = memory.entries_per_line();
            accounts.count_lines_of(own.line_bytes);
        }
        if settings.recovery.checkpoint_interval_bytes.is_some() && firmware.ftl.map_on_flash().is_some() {
            controller.keep_old_map();
            firmware.plan.map_notes = if P::CAN_BE_CUT { MapNotes::Content } else { MapNotes::Changes };
        }
        let link = Link::new(&settings.device.host_link);
        let firmware_queue = settings.device.firmware.as_ref().map(FirmwareQueue::new).map(Box::new);
        Ssd {
            logical_bytes: settings.device.logical_bytes,
            flash: MeteredFlash { array, accounts },
            firmware,
            controller,
            plans_at_once: link.is_instant() && firmware_queue.is_none() && services.host_memory.is_none(),
            link,
            firmware_queue,
            shares: LinkShares::new(queue_depth),
            requests: vec![Active::none(); queue_depth as usize].into(),
            stalled: VecDeque::new(),
            buffered: buffered.map(Box::new),
            buffer_changed: false,
            recovery: None,
            services,
            draining: false,
            partial_unit: settings.device.bus.partial_unit,
            first_seat: 0,
            seats: LinkSeats::default(),
            geometry,
        }
    }

    /// The drive goes on with the collections that its start state has begun.
    pub fn at_work(mut self) -> Self {
        for die in (0..self.geometry.dies).map(DieId) {
            self.controller.wake(die, &self.firmware);
        }
        self
    }

    /// The flash operations under way.
    pub fn under_way(&self) -> impl Iterator<Item = UnderWay> + '_ {
        self.controller.under_way()
    }

    /// Begins the planned operations on blocks that the drive keeps for itself. `urgent`: others wait for them. Returns their number.
    fn begin_own(&mut self, request: RequestId, purpose: Purpose, urgent: bool, now: Nanos) -> u32 {
        self.flash.accounts.planned(now, purpose, &self.firmware);
        self.controller.admit_own(request, urgent, &self.firmware, &mut self.flash)
    }

    /// Notes the present counts for the bin of a series that ends next.
    #[inline(never)]
    fn note_activity(&mut self) {
        let (controller, free_blocks) = (&self.controller, self.firmware.blocks.all_free_blocks());
        self.flash.accounts.note_activity(free_blocks, Some(&|class| controller.whole(class)));
    }

    /// Why a drive on which nothing happens has not done its work.
    pub fn stuck(&self) -> Error {
        let has_no_room = !self.stalled.is_empty() || self.buffered.as_ref().is_some_and(|b| b.has_no_room());
        assert!(has_no_room, "requests wait for nothing; this is a fault of the simulator");
        no_room()
    }

    /// What each block holds now, in the order of dies and of blocks in a die.
    pub fn block_contents(&self) -> Vec<BlockContent> {
        let (blocks, array, geometry) = (&self.firmware.blocks, &self.flash.array, &self.geometry);
        let dies = (0..geometry.dies).map(DieId);
        let all = dies.flat_map(|die| geometry.blocks_of(die).map(move |block| (die, block)));
        all.map(|(die, block)| BlockContent {
            die: die.0,
            block: block.0,
            state: blocks.state(block).name(),
            planned_pages: array.planned_pages(block),
            valid_units: blocks.valid_units(block),
            erases: array.erases(block),
        })
        .collect()
    }

    /// Takes the ends of operations that have not been told one by one: of rows, and of reads that memory serves. Returns whether requests
    /// have ended.
    #[inline(never)]
    pub(in crate::drive) fn tell_of_ended(&mut self, cx: &mut Cx) -> bool {
        while let Some(ended) = self.controller.take_ended(&mut self.firmware, &mut self.flash) {
            self.op_ended(ended, cx);
        }
        !cx.done.is_empty()
    }

    /// Takes the drive apart: its accounts, its firmware and its flash.
    pub fn into_parts(self) -> (SsdAccounts<P>, Firmware, Array) {
        (self.flash.accounts, self.firmware, self.flash.array)
    }
}

impl<P: Probe> Device for Ssd<P> {
    type Figures = SsdFigures;

    fn enrol(&mut self, seats: &mut Seats) {
        self.first_seat = self.controller.enrol(seats);
        let has_firmware = self.firmware_queue.is_some();
        let first = seats.take(3 + self.services.seats() + u32::from(has_firmware), 0);
        let (link_in, link_out, idle, services) = (first, first + 1, first + 2, first + 3);
        self.services.enrol(services);
        let firmware = if has_firmware { services + self.services.seats() } else { NO_SEAT };
        self.seats = LinkSeats { link_in, link_out, idle, services, firmware };
    }

    #[inline(always)]
    fn room(&self) -> u32 {
        self.requests.len() as u32 - self.flash.accounts.outstanding()
    }

    #[inline(always)]
    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if request.is_within(self.logical_bytes) {
            self.admit(tag, request, cx);
        } else {
            cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
    }

    #[inline(always)]
    fn pass_time(&mut self, now: Nanos) {
        if self.flash.accounts.bin_ends_by(now) {
            self.note_activity();
        }
        self.flash.accounts.pass_time(now);
    }

    #[inline(always)]
    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        let event = seat - self.first_seat;
        if self.controller.is_of_die(event) {
            match self.controller.die_event(cx.agenda, DieId(event), &mut self.firmware, &mut self.flash) {
                Some(ended) => self.op_ended(ended, cx),
                None => return false, // ends of rows, and of reads from memory, are handled in `settle`
            }
        } else if seat < self.seats.link_in {
            self.controller.bus_event(cx.agenda, event, &mut self.firmware, &mut self.flash);
            return false;
        } else if seat == self.seats.idle {
            self.idle();
        } else if seat == self.seats.firmware {
            self.firmware_event(cx);
        } else if seat >= self.seats.services {
            self.service_event(seat, cx);
        } else {
            self.link_event(seat, cx);
        }
        !cx.done.is_empty()
    }

    #[inline(always)]
    fn settle(&mut self, cx: &mut Cx) -> bool {
        if P::CAN_BE_CUT {
            self.settle_recovery(cx);
        }
        if self.buffer_changed | self.services.is_any() {
            cold_path();
            return self.settle_beside_requests(cx);
        }
        self.controller.dispatch(cx.agenda, &mut self.firmware, &mut self.flash);
        P::CAN_BE_CUT && !cx.done.is_empty() // requests that waited for the recovery
    }

    fn drain(&mut self, now: Nanos) {
        self.flash.accounts.probe.drains(now);
        self.draining = true;
        self.controller.leave_lazy_work();
        self.drain_buffer();
    }

    fn rest(&mut self) -> Result<(), Error> {
        let buffer_is_empty = self.buffered.as_ref().is_none_or(|buffered| buffered.is_empty());
        if self.flash.accounts.outstanding() > 0 || !buffer_is_empty {
            return Err(self.stuck());
        }
        self.flash.accounts.probe.at_rest(&self.firmware, &self.flash.array);
        Ok(())
    }

    #[inline(always)]
    fn prefetch(&self, upcoming: &Upcoming) {
        self.firmware.prefetch(upcoming, &self.flash.array);
    }

    fn end_window(&mut self, now: Nanos, meter: AtEnd) -> (Window<SsdFigures>, Option<Box<Series>>) {
        let reads_on = meter == AtEnd::ReadOn;
        self.controller.cut(now, &mut self.flash);
        self.flash.accounts.note_activity(self.firmware.blocks.all_free_blocks(), None);
        let window = self.flash.accounts.close(now, self.firmware.blocks.all_free_blocks(), reads_on);
        self.window_ends();
        let series = if meter == AtEnd::Deliver { self.flash.accounts.take_series() } else { None };
        self.flash.accounts.restart(now, reads_on);
        (window, series)
    }

    fn measured(&mut self, now: Nanos) {
        self.flash.accounts.probe.restarted(now);
    }

    fn finish(&mut self, now: Nanos) {
        self.flash.accounts.probe.finish(now);
    }

    fn operations(&self) -> u64 {
        self.flash.accounts.ledger.flash_operations()
    }

    fn flash_counts(&self) -> FlashCounts {
        self.flash.accounts.flash_counts()
    }

    /// Of each die a read and a program, if it copies by itself.
    fn operations_at_once(&self) -> u64 {
        2 * u64::from(self.geometry.dies)
    }

    fn series_overflowed(&mut self) -> bool {
        self.flash.accounts.series_overflowed()
    }

    fn so_far(&self) -> (f64, f64) {
        self.flash.accounts.so_far()
    }
}

/// Only a drive that starts empty, or comes back from a power cut, can come to this: for the others the configuration asks for enough
/// spare flash.
fn no_room() -> Error {
    let fault = Fault::key("device", "the drive has no room for what is written to it, and collection can make none");
    Error::from(fault.help("raise device.op_ratio or device.spare_fraction"))
}
