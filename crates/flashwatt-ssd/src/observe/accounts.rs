//! The accounts of a run: elapsed time by phase, the ledger, the meter, and the probe.

use std::hint::cold_path;

use crate::energy::activity::{Activity, Present};
use crate::energy::array_times::ArrayTimes;
use crate::energy::ledger::{Ledger, OpTimes, Phase};
use crate::energy::parts::{DRAM_WORKS, LINK_WORKS, REPLACES_NONE, drive_state, parts};
use crate::energy::settings::{ChargedData, DramRule, Energy};
use crate::energy::{DieState, ExtraState, PriceTable, price};
use crate::firmware::Firmware;
use crate::ftl::plan::{ChosenVictim, HostLines, Notes};
use crate::ftl::{Mapping, Plan};
use crate::nand::phases::{Course, part_ns};
use crate::observe::probe::{BufferEvent, Probe, Purpose};
use crate::operation::{Cause, OpClass};
use flashwatt_base::halves::Halves;
use flashwatt_base::stats::Histogram;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{FlashCounts, Request, RequestKind};
use flashwatt_core::energy::meter::SERVERS;
use flashwatt_core::energy::parts::StateId;
use flashwatt_core::energy::series::Recorder;
use flashwatt_core::energy::window::{Figures, Window};
use flashwatt_core::energy::{Meter, Series};

/// The accounts of a run.
pub struct SsdAccounts<P: Probe> {
    /// The ledger of the current window.
    pub ledger: Ledger,
    meter: Meter<P::Recorder>,
    /// The observer of the run.
    pub probe: P,
    /// Start of the window.
    window_start: Nanos,
    /// Work that DRAM and the host interface had left when the window began, in ns.
    carried_ns: [Nanos; SERVERS],
    phase: Phase,
    busy_dies: u32,
    array_times: ArrayTimes,
    /// Whether the accounting charges nothing for idling in [`Phase::Transfer`].
    meters_transfer: bool,
    /// The meter's states of the phases. Where all time with dies in operations is charged alike, it is one state.
    metered: [StateId; Phase::COUNT],
    outstanding: u32,
    map_access_ns: Nanos,
    page_data_ns: Nanos,
    page_bytes: u64,
    /// Nanoseconds per byte over the host interface, in units of 2⁻³²; 0 if it is not charged for the bytes of requests.
    interface_ns_per_byte: u64,
    /// Nanoseconds on the host interface that a page over a flash bus is charged for.
    bus_page_ns: Nanos,
    /// As `interface_ns_per_byte`, for a part of a page over a flash bus.
    bus_ns_per_byte: u64,
    /// The size of the last request in bytes, and its time on the host interface. Most requests have one size, so this
    /// saves a division.
    last_bytes: (u64, Nanos),
    /// Bytes of a line of the host's memory.
    line_bytes: u64,
    /// Lines that the drive has read from the host's memory and written to it since it was last asked.
    moved_lines: [u64; 2],
    /// Pages read that were never written.
    pub unwritten_reads: u64,
    /// Writes of the host.
    pub written: HostWrites,
    /// Counts of the write buffer.
    pub buffered: BufferCounts,
    /// Counts of garbage collection.
    pub collection: CollectionCounts,
    /// Counts of the translation layer.
    pub mapping: Mapping,
    /// Latencies of mapping operations; none if there were none.
    map_latency: Option<Box<MapLatency>>,
    /// Erased blocks in the whole drive when the window began.
    pub free_blocks: u64,
    settling: Halves,
}

/// The accounts of an idle drive that has only read.
pub struct ReadAccounts<P: Probe> {
    ledger: Ledger,
    meter: Meter<P::Recorder>,
    phase: Phase,
    array_times: ArrayTimes,
}

/// Latencies of mapping operations, from planning to end, in ns.
#[derive(Clone, Debug, Default)]
pub struct MapLatency {
    /// Reads.
    pub read: Histogram,
    /// Writes, to the end of the first copy on flash.
    pub write_first: Histogram,
    /// Writes, to the end of the last copy on flash.
    pub write_last: Histogram,
}

impl MapLatency {
    fn plus(&self, next: &MapLatency) -> MapLatency {
        MapLatency {
            read: self.read.plus(&next.read),
            write_first: self.write_first.plus(&next.write_first),
            write_last: self.write_last.plus(&next.write_last),
        }
    }
}

/// An SSD's figures of a window of the run.
#[derive(Clone, Debug, Default)]
pub struct SsdFigures {
    /// Residencies and counts. Of the work of DRAM and the host interface it holds what was done in the window.
    pub ledger: Ledger,
    /// Work that DRAM and the host interface were given in the window, in ns.
    pub given_ns: [Nanos; SERVERS],
    /// Pages read that were never written.
    pub unwritten_reads: u64,
    /// Writes of the host.
    pub written: HostWrites,
    /// Counts of the write buffer.
    pub buffered: BufferCounts,
    /// Counts of garbage collection.
    pub collection: CollectionCounts,
    /// Counts of the translation layer.
    pub mapping: Mapping,
    /// Latencies of mapping operations; none if none ended.
    pub map_latency: Option<Box<MapLatency>>,
    /// Erased blocks in the whole drive when the window began.
    pub free_blocks_start: u64,
    /// Erased blocks in the whole drive when the window ended.
    pub free_blocks_end: u64,
    /// Bytes that the host wrote, and pages programmed, at the ends of erases.
    pub settling: Halves,
}

/// The host's writes on their way to flash: the basis of write amplification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostWrites {
    /// Bytes of the host's writes that the drive has accepted: planned, or in the write buffer.
    pub host_bytes: u64,
    /// Map units that these writes touch; a unit counts each time.
    pub host_units: u64,
    /// Map units that left the write buffer for the translation layer.
    pub destaged_units: u64,
}

impl HostWrites {
    fn plus(&self, next: &HostWrites) -> HostWrites {
        HostWrites {
            host_bytes: self.host_bytes + next.host_bytes,
            host_units: self.host_units + next.host_units,
            destaged_units: self.destaged_units + next.destaged_units,
        }
    }
}

/// Counts of the write buffer in a window of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Map units written into it.
    pub written: u64,
    /// Map units written into an entry that existed already.
    pub coalesced: u64,
    /// Map units read from the buffer.
    pub read_hits: u64,
    /// Entries trimmed before they were written to flash.
    pub trimmed: u64,
    /// Entries whose program has ended.
    pub destaged: u64,
    /// Writes that had to wait for room.
    pub delayed: u64,
    /// Entries lost at a power cut, or taken back after it: then they count as written anew.
    pub lost: u64,
    /// Map units of writes that pages of the journal have taken.
    pub journal_records: u64,
    /// Entries that had to leave so that a part of the journal could be erased.
    pub journal_forced: u64,
}

impl BufferCounts {
    /// The sum of these counts and those of the next window.
    #[must_use]
    pub fn plus(&self, next: &BufferCounts) -> BufferCounts {
        BufferCounts {
            written: self.written + next.written,
            coalesced: self.coalesced + next.coalesced,
            read_hits: self.read_hits + next.read_hits,
            trimmed: self.trimmed + next.trimmed,
            destaged: self.destaged + next.destaged,
            delayed: self.delayed + next.delayed,
            lost: self.lost + next.lost,
            journal_records: self.journal_records + next.journal_records,
            journal_forced: self.journal_forced + next.journal_forced,
        }
    }
}

/// Counts of garbage collection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CollectionCounts {
    /// Victims chosen.
    pub victims: u64,
    /// Candidates examined to choose them.
    pub searches: u64,
    /// Sum over victims of the valid share of the programmed pages of the victim's die when it was chosen.
    pub valid_fraction_sum: f64,
    /// Sum over victims of the victim's own valid share.
    pub victim_valid_fraction_sum: f64,
}

impl CollectionCounts {
    fn add(&mut self, chosen: &ChosenVictim) {
        self.victims += 1;
        self.searches += u64::from(chosen.searches);
        self.valid_fraction_sum += chosen.die_valid_fraction;
        self.victim_valid_fraction_sum += chosen.victim_valid_fraction;
    }

    fn plus(&self, next: &CollectionCounts) -> CollectionCounts {
        CollectionCounts {
            victims: self.victims + next.victims,
            searches: self.searches + next.searches,
            valid_fraction_sum: self.valid_fraction_sum + next.valid_fraction_sum,
            victim_valid_fraction_sum: self.victim_valid_fraction_sum + next.victim_valid_fraction_sum,
        }
    }
}

impl SsdFigures {
    /// Counts what a plan says about itself, without the time of its accesses to the map.
    pub fn planned(&mut self, plan: &Plan) {
        self.unwritten_reads += u64::from(plan.unwritten_reads);
        if let Some(notes) = &plan.notes {
            note(notes, &mut self.mapping, &mut self.collection);
        }
    }
}

/// Counts a layer's notes on a plan.
fn note(notes: &Notes, mapping: &mut Mapping, collection: &mut CollectionCounts) {
    *mapping += notes.mapping;
    if let Some(chosen) = &notes.chosen {
        collection.add(chosen);
    }
}

impl Figures for SsdFigures {
    fn plus(&self, next: &SsdFigures) -> SsdFigures {
        let mut mapping = self.mapping;
        mapping += next.mapping;
        SsdFigures {
            ledger: self.ledger.plus(&next.ledger),
            given_ns: std::array::from_fn(|server| self.given_ns[server].saturating_add(next.given_ns[server])),
            unwritten_reads: self.unwritten_reads + next.unwritten_reads,
            written: self.written.plus(&next.written),
            buffered: self.buffered.plus(&next.buffered),
            collection: self.collection.plus(&next.collection),
            mapping,
            map_latency: match (&self.map_latency, &next.map_latency) {
                (Some(this), Some(next)) => Some(Box::new(this.plus(next))),
                (this, next) => this.clone().or(next.clone()),
            },
            free_blocks_start: self.free_blocks_start,
            free_blocks_end: next.free_blocks_end,
            settling: self.settling.clone(),
        }
    }

    fn operations(&self) -> u64 {
        self.ledger.flash_operations()
    }
}

/// Time of `bytes` in ns, rounded up, at nanoseconds per byte in units of 2⁻³².
fn interface_ns(ns_per_byte: u64, bytes: u64) -> Nanos {
    ((u128::from(bytes) * u128::from(ns_per_byte) + u128::from(u32::MAX)) >> 32) as Nanos
}

/// The servers of the meter.
const DRAM: usize = 0;
const LINK: usize = 1;

/// The meter of an idle drive.
fn meter<R: Recorder>(table: &PriceTable, dies: u32, series: Option<Box<Series>>) -> Meter<R> {
    let mut meter = Meter::new(&parts(table, dies), [DRAM_WORKS, LINK_WORKS], series);
    meter.change(StateId::NONE, drive_state(Phase::Quiet));
    meter
}

impl<P: Probe> SsdAccounts<P> {
    /// Empty accounts at time 0 of a drive with pages of `page_bytes` bytes.
    pub fn new(energy: &Energy, page_bytes: u32, dies: u32, series: Option<Box<Series>>, probe: P) -> Self {
        let per_op = energy.dram_rule == DramRule::PerOp;
        let table = PriceTable::new(energy);
        let meters_transfer = !price::charges_idle_dies(&table, Phase::Transfer);
        let mut meter = meter(&table, dies, series);
        meter.record(|| Activity::new(&table, page_bytes.into()));
        let page_data_ns = if per_op { energy.dram.page_data_ns } else { 0 };
        let ns_per_byte = (1e3 / energy.host_interface.bandwidth_mb_s * (1u64 << 32) as f64) as u64;
        let (interface_ns_per_byte, bus_ns_per_byte) = match energy.host_interface.charged_data {
            ChargedData::HostBytes => (ns_per_byte, 0),
            ChargedData::FlashPages => (0, ns_per_byte),
        };
        SsdAccounts {
            ledger: Ledger::new(dies),
            meter,
            probe,
            window_start: 0,
            carried_ns: [0; SERVERS],
            phase: Phase::Quiet,
            busy_dies: 0,
            array_times: ArrayTimes::default(),
            meters_transfer,
            metered: Phase::ALL.map(|phase| match phase {
                Phase::Transfer if !meters_transfer => drive_state(Phase::Array),
                _ => drive_state(phase),
            }),
            outstanding: 0,
            map_access_ns: if per_op { energy.dram.map_access_ns } else { 0 },
            page_data_ns,
            page_bytes: u64::from(page_bytes),
            interface_ns_per_byte,
            bus_page_ns: interface_ns(bus_ns_per_byte, page_bytes.into()),
            bus_ns_per_byte,
            last_bytes: (0, 0),
            line_bytes: 0,
            moved_lines: [0; 2],
            unwritten_reads: 0,
            written: HostWrites::default(),
            buffered: BufferCounts::default(),
            collection: CollectionCounts::default(),
            mapping: Mapping::default(),
            map_latency: None,
            free_blocks: 0,
            settling: Halves::default(),
        }
    }

    /// Books the time up to `now` with every state as it was. Called once per instant with events, before they are
    /// handled.
    #[inline(always)]
    pub fn pass_time(&mut self, now: Nanos) {
        if self.array_times.turn_at() <= now {
            cold_path();
            self.turn_phases(now);
        }
        let ns = now - self.meter.now();
        self.ledger.busy_dies_ns[self.busy_dies as usize] += ns;
        self.ledger.passed(self.phase, self.busy_dies, ns);
        self.meter.advance(now);
    }

    /// Changes the phase at all times up to `now` at which the first array began to work or the last one ended. Time
    /// from the last event to `now` is about to be booked for the last of these phases: corrects that.
    #[inline(never)]
    fn turn_phases(&mut self, now: Nanos) {
        let since = self.meter.now();
        while self.array_times.turn_at() <= now {
            let at = self.array_times.turn_at();
            self.array_times.turn();
            let phase = self.phase_in_operations();
            self.ledger.passed(self.phase, self.busy_dies, at - since);
            self.ledger.passed(phase, self.busy_dies, (at - since).wrapping_neg());
            if self.meters_transfer {
                self.meter_turn(at, phase);
            }
            self.phase = phase;
        }
    }

    /// Time up to which elapsed time is booked.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.meter.now()
    }

    /// Requests inside the drive.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// The record of latencies of mapping operations.
    pub fn map_latency(&mut self) -> &mut MapLatency {
        self.map_latency.get_or_insert_default()
    }

    /// A plan has been made: books its accesses to the map, and lets the probe see it.
    #[inline(always)]
    pub fn planned(&mut self, now: Nanos, purpose: Purpose, firmware: &Firmware) {
        let plan = &firmware.plan;
        self.ledger.map_accesses += u64::from(plan.map_accesses);
        self.unwritten_reads += u64::from(plan.unwritten_reads);
        if let Some(notes) = &plan.notes {
            cold_path();
            note(notes, &mut self.mapping, &mut self.collection);
            if plan.entries_per_line > 0 {
                self.move_lines(now, notes.host_lines);
            }
        }
        self.dram(now, u64::from(plan.map_accesses) * self.map_access_ns);
        self.probe.mapped(now, plan.map_accesses);
        self.probe.planned(purpose, firmware);
    }

    /// Lines of the host's memory have this number of bytes.
    pub fn count_lines_of(&mut self, line_bytes: u32) {
        self.line_bytes = line_bytes.into();
    }

    /// Books lines of the host's memory that a plan moves.
    #[inline(never)]
    fn move_lines(&mut self, now: Nanos, lines: HostLines) {
        for (direction, lines) in [lines.read, lines.written].into_iter().map(|of| u64::from(of.count)).enumerate() {
            if lines == 0 {
                continue;
            }
            let bytes = lines * self.line_bytes;
            let ns = self.interface_ns(bytes);
            self.moved_lines[direction] += lines;
            self.ledger.host_memory_bytes[direction] += bytes;
            self.ledger.host_interface_ns += ns;
            if ns > 0 {
                self.meter.work(LINK, now, ns);
            }
            self.probe.host_memory(now, direction == 1, bytes);
        }
    }

    /// Lines that were read from the host's memory and written to it since the last call.
    pub fn take_moved_lines(&mut self) -> [u64; 2] {
        std::mem::take(&mut self.moved_lines)
    }

    /// An event of the write buffer. Data that enters or leaves it for the host passes DRAM.
    pub fn buffer(&mut self, now: Nanos, event: &BufferEvent) {
        if let BufferEvent::Write(_, _, _, bytes) | BufferEvent::Read(_, _, bytes) = event {
            self.dram(now, (bytes.len() as u64 * self.page_data_ns).div_ceil(self.page_bytes));
        }
        self.probe.buffer(now, event);
    }

    #[inline(always)]
    fn dram(&mut self, now: Nanos, ns: Nanos) {
        if ns > 0 {
            debug_assert_eq!(now, self.now());
            self.ledger.dram_op_ns += ns;
            self.meter.work(DRAM, now, ns);
        }
    }

    /// A request has entered the device; `bytes` will cross the host interface for it.
    #[inline(always)]
    pub fn request_admitted(&mut self, now: Nanos, bytes: u64) {
        debug_assert_eq!(now, self.now());
        self.outstanding += 1;
        if let Some(activity) = self.meter.rows::<Activity>() {
            activity.entered(now);
        }
        if self.busy_dies == 0 {
            self.enter_phase();
        }
        if bytes != self.last_bytes.0 {
            cold_path();
            self.last_bytes = (bytes, self.interface_ns(bytes));
        }
        self.ledger.host_interface_ns += self.last_bytes.1;
        if self.last_bytes.1 > 0 {
            self.meter.work(LINK, now, self.last_bytes.1);
        }
    }

    /// A request has left the device.
    #[inline(always)]
    pub fn request_left(&mut self, now: Nanos, request: &Request) {
        debug_assert_eq!(now, self.now());
        self.outstanding -= 1;
        if let Some(activity) = self.meter.rows::<Activity>() {
            let of = |kind| if request.kind == kind { request.bytes } else { 0 };
            activity.left(now, [of(RequestKind::Read), of(RequestKind::Write)]);
        }
        if self.busy_dies == 0 {
            self.enter_phase();
        }
    }

    /// Time of `bytes` on the host interface in ns, by the rate of the price table, rounded up.
    pub fn interface_ns(&self, bytes: u64) -> Nanos {
        interface_ns(self.interface_ns_per_byte, bytes)
    }

    /// A die starts an operation with these phases. Its array works until `array_end`.
    #[inline(always)]
    pub fn op_started(&mut self, now: Nanos, cause: Cause, course: &Course, array_end: Nanos) {
        debug_assert_eq!(now, self.now());
        self.busy_dies += 1;
        self.array_times.add(now + course.array_start_ns, array_end);
        if self.busy_dies == 1 {
            self.enter_phase();
        } else if self.meters_transfer && self.phase == Phase::Transfer {
            cold_path();
            self.replaces_none(now, 1, true);
        }
        if course.array_start_ns > 0 {
            self.meter.change(DieState::Idle.id(), course.bus.id());
            self.meter.change_ahead(now + course.array_start_ns, course.bus.id(), course.array.id());
        } else {
            self.meter.change(DieState::Idle.id(), course.array.id());
        }
        if matches!(cause, Cause::Host | Cause::Journal) && course.moves_data {
            self.dram(now, self.page_data_ns);
        }
        if self.bus_page_ns > 0 {
            cold_path();
            self.page_crosses(now, course.crosses_bus);
        }
    }

    /// Charges the host interface for the page of an operation that starts, if one crosses the flash bus.
    #[inline(never)]
    fn page_crosses(&mut self, now: Nanos, crosses_bus: bool) {
        if crosses_bus {
            self.charge_bus(now, self.bus_page_ns);
        }
    }

    fn charge_bus(&mut self, now: Nanos, ns: Nanos) {
        self.ledger.host_interface_ns += ns;
        self.meter.work(LINK, now, ns);
    }

    /// A die starts a read that moves this number of sectors of its page: charges DRAM and the host interface for these, as
    /// [`Self::op_started`] does for a page.
    #[cold]
    pub fn part_started(&mut self, now: Nanos, cause: Cause, sectors: u32) {
        if cause == Cause::Host {
            self.dram(now, part_ns(self.page_data_ns, sectors, (self.page_bytes / SECTOR_BYTES) as u32));
        }
        if self.bus_page_ns > 0 {
            self.charge_bus(now, interface_ns(self.bus_ns_per_byte, u64::from(sectors) * SECTOR_BYTES));
        }
    }

    /// A die that was idle begins an operation in this state. When the operation ends is not known yet. What its array does
    /// ([`Self::array_begins`]) and what it moves ([`Self::page_moves`]) have calls of their own.
    pub fn die_begins(&mut self, now: Nanos, to: DieState) {
        debug_assert_eq!(now, self.now());
        self.busy_dies += 1;
        if self.busy_dies == 1 {
            self.enter_phase();
        } else if self.meters_transfer && self.phase == Phase::Transfer {
            self.replaces_none(now, 1, true);
        }
        self.meter.change(DieState::Idle.id(), to.id());
    }

    /// A die in this state ends all its operations: it idles. Its array must have ended ([`Self::array_ended`]).
    pub fn die_ends(&mut self, now: Nanos, from: DieState) {
        debug_assert_eq!(now, self.now());
        self.meter.change(from.id(), DieState::Idle.id());
        self.busy_dies -= 1;
        if self.meters_transfer && self.phase == Phase::Transfer {
            self.replaces_none(now, 1, false);
        }
        if self.busy_dies == 0 {
            self.enter_phase();
        }
    }

    /// A die in an operation goes from one state to another, now or at a time ahead that nothing can change any more.
    pub fn die_at(&mut self, at: Nanos, from: DieState, to: DieState) {
        self.change_at(at, from.id(), to.id());
    }

    /// This number of parts of a die go from one state beside the die to another, from none or to none: now, or at a time ahead that
    /// nothing can change any more.
    pub fn extra(&mut self, at: Nanos, from: Option<ExtraState>, to: Option<ExtraState>, parts: u32) {
        let id = |state: Option<ExtraState>| state.map_or(StateId::NONE, ExtraState::id);
        for _ in 0..parts {
            self.change_at(at, id(from), id(to));
        }
    }

    /// The array of a die in an operation begins to work at a time, which is not in the past, until [`Self::array_ended`]. A drive tells
    /// all of its array work in this way, or none of it.
    pub fn array_begins(&mut self, at: Nanos) {
        debug_assert!(at >= self.now() && self.busy_dies > 0);
        self.array_times.begin_open(at);
    }

    /// The array of a die in an operation ends its work, or stops it for some time.
    pub fn array_ended(&mut self, now: Nanos) {
        debug_assert!(now == self.now() && self.busy_dies > 0);
        if !self.array_times.end_open(now) {
            return;
        }
        if self.meters_transfer {
            self.meter_turn(now, Phase::Transfer);
        }
        self.phase = Phase::Transfer;
    }

    /// The page of an operation begins its way, or `sectors` of it (0 for all): that of the host or of the journal passes DRAM,
    /// and what crosses the flash bus may be charged on the host interface.
    pub fn page_moves(&mut self, now: Nanos, cause: Cause, crosses_bus: bool, sectors: u32) {
        if sectors > 0 {
            return self.part_started(now, cause, sectors);
        }
        if matches!(cause, Cause::Host | Cause::Journal) {
            self.dram(now, self.page_data_ns);
        }
        if self.bus_page_ns > 0 {
            self.page_crosses(now, crosses_bus);
        }
    }

    /// A page, or `sectors` of it (0 for all), is read from the controller's memory. Returns how many bytes of it pass DRAM.
    pub fn page_from_memory(&mut self, now: Nanos, cause: Cause, sectors: u32) -> u64 {
        if cause != Cause::Host {
            return 0;
        }
        let page_sectors = (self.page_bytes / SECTOR_BYTES) as u32;
        let sectors = if sectors == 0 { page_sectors } else { sectors };
        self.dram(now, part_ns(self.page_data_ns, sectors, page_sectors));
        u64::from(sectors) * SECTOR_BYTES
    }

    /// The part of a time that lies in the current window, in ns. An operation's phase that ends is booked with it, and one that is under
    /// way when the window ends: then the next window books the rest.
    pub fn in_window_ns(&self, from: Nanos, until: Nanos) -> Nanos {
        until.saturating_sub(from.max(self.window_start))
    }

    /// Books die-nanoseconds in a state, of the current window.
    pub fn book(&mut self, state: DieState, cause: Cause, ns: Nanos) {
        self.ledger.book(state, cause, ns);
    }

    /// Books nanoseconds of a part of a die beside it, of the current window. Of several parts the sum of their times.
    pub fn book_extra(&mut self, state: ExtraState, cause: Cause, ns: Nanos) {
        self.ledger.book_extra(state, cause, ns);
    }

    /// Counts pages read or programmed, or blocks erased, whose times are booked apart ([`Self::book`]). The lengths that the window's end
    /// multiplies such counts by ([`Self::book_whole`]) must be 0.
    pub fn count(&mut self, class: OpClass, cause: Cause, pages: u64) {
        self.ledger.count(class, cause, pages);
    }

    /// The program of a copyback with these phases will follow its read at `at`.
    #[inline]
    pub fn turns_to_program(&mut self, at: Nanos, course: &Course) {
        self.meter.change_ahead(at, course.array.id(), course.last.id());
    }

    /// A die goes from one state to another.
    #[inline(always)]
    pub fn die(&mut self, now: Nanos, from: DieState, to: DieState) {
        debug_assert_eq!(now, self.now());
        self.meter.change(from.id(), to.id());
    }

    /// A die ends an operation. `last` is its last state, and `over_ns` its time in excess of other operations of its
    /// class.
    #[inline(always)]
    pub fn op_ended(&mut self, now: Nanos, class: OpClass, cause: Cause, last: DieState, over_ns: Nanos) {
        debug_assert_eq!(now, self.now());
        self.meter.change(last.id(), DieState::Idle.id());
        self.busy_dies -= 1;
        if self.meters_transfer && self.phase == Phase::Transfer {
            cold_path();
            self.replaces_none(now, 1, false);
        }
        if self.busy_dies == 0 {
            self.enter_phase();
        }
        self.ledger.ended(class, cause, over_ns);
    }

    /// The data of an operation that ends took `less_ns` less on the bus than a whole page.
    #[cold]
    pub fn moved_part(&mut self, class: OpClass, cause: Cause, less_ns: Nanos) {
        self.ledger.moved_part(class, cause, less_ns);
    }

    /// Whether an operation that began at `start` began before the window.
    #[inline(always)]
    pub fn began_before(&self, start: Nanos) -> bool {
        start < self.window_start
    }

    /// An operation that has ended began before the window.
    #[cold]
    pub fn op_began_before(&mut self, class: OpClass, cause: Cause, times: &OpTimes) {
        self.ledger.began_before(class, cause, times, self.window_start);
    }

    /// An operation is under way while the window ends.
    pub fn op_cut(&mut self, class: OpClass, cause: Cause, times: &OpTimes) {
        self.ledger.cut(class, cause, times, self.window_start);
    }

    /// Ends the window: books the phases of all operations that ended in it.
    pub fn book_whole(&mut self, whole: impl Fn(OpClass) -> OpTimes) {
        self.ledger.book_whole(whole);
    }

    #[inline(always)]
    fn enter_phase(&mut self) {
        cold_path();
        let phase = match (self.busy_dies, self.outstanding) {
            (1.., _) => self.phase_in_operations(),
            (0, 1..) => Phase::Outstanding,
            (0, 0) => Phase::Quiet,
        };
        if phase != self.phase {
            self.change_phase(phase);
        }
    }

    /// The phase while dies are in operations.
    #[inline(always)]
    fn phase_in_operations(&self) -> Phase {
        if self.array_times.works() { Phase::Array } else { Phase::Transfer }
    }

    /// The phase changes with an event. No die was in an operation before, or none is after it.
    #[inline(never)]
    fn change_phase(&mut self, phase: Phase) {
        self.meter.change(self.metered[self.phase as usize], self.metered[phase as usize]);
        self.phase = phase;
        if self.meters_transfer && phase == Phase::Transfer {
            self.replaces_none(self.now(), 1, true);
        }
    }

    /// Tells the meter that the first array begins to work, or that the last one has ended, now or later.
    #[inline(never)]
    fn meter_turn(&mut self, at: Nanos, phase: Phase) {
        self.change_at(at, self.metered[self.phase as usize], self.metered[phase as usize]);
        self.replaces_none(at, self.busy_dies, phase == Phase::Transfer);
    }

    /// Dies in operations begin, or end, to replace no idle die.
    #[inline(never)]
    fn replaces_none(&mut self, at: Nanos, dies: u32, begin: bool) {
        let (from, to) = if begin { (StateId::NONE, REPLACES_NONE) } else { (REPLACES_NONE, StateId::NONE) };
        for _ in 0..dies {
            self.change_at(at, from, to);
        }
    }

    #[inline(always)]
    fn change_at(&mut self, at: Nanos, from: StateId, to: StateId) {
        if at == self.now() {
            self.meter.change(from, to);
        } else {
            self.meter.change_ahead(at, from, to);
        }
    }

    /// The power is lost: what DRAM and the host interface have left to do is not done, and the write buffer holds nothing more.
    pub fn power_lost(&mut self, now: Nanos) {
        self.ledger.dram_op_ns -= self.meter.give_up(DRAM, now);
        self.ledger.host_interface_ns -= self.meter.give_up(LINK, now);
        let BufferCounts { written, coalesced, trimmed, destaged, .. } = self.buffered;
        self.buffered.lost = written - coalesced - trimmed - destaged;
    }

    /// Starts a new window: counters restart, and so does the meter unless it reads on.
    pub fn restart(&mut self, now: Nanos, meter_reads_on: bool) {
        debug_assert_eq!(now, self.now());
        if !meter_reads_on {
            self.meter.restart(now);
        } else if let Some(activity) = self.meter.rows::<Activity>() {
            activity.window_ended();
        }
        self.ledger = Ledger::new(self.ledger.dies);
        self.carried_ns = self.left_ns(now);
        [self.ledger.dram_op_ns, self.ledger.host_interface_ns] = self.carried_ns;
        (self.window_start, self.unwritten_reads, self.written) = (now, 0, HostWrites::default());
        self.buffered = BufferCounts::default();
        self.collection = CollectionCounts::default();
        self.mapping = Mapping::default();
        self.map_latency = None;
    }

    /// Ends the window after its running operations have been cut. `free_blocks` is the number of erased blocks in the
    /// drive. Reads the meter, unless it reads on into the next window.
    pub fn close(&mut self, now: Nanos, free_blocks: u64, meter_reads_on: bool) -> Window<SsdFigures> {
        debug_assert_eq!(now, self.now());
        let free_blocks_start = std::mem::replace(&mut self.free_blocks, free_blocks);
        let reading = (!meter_reads_on).then(|| self.meter.read(now));
        let (mut ledger, left) = (self.ledger.clone(), self.left_ns(now));
        let booked = [ledger.dram_op_ns, ledger.host_interface_ns];
        ledger.dram_op_ns -= left[DRAM];
        ledger.host_interface_ns -= left[LINK];
        let figures = SsdFigures {
            free_blocks_start,
            free_blocks_end: free_blocks,
            ledger,
            given_ns: std::array::from_fn(|server| booked[server].saturating_sub(self.carried_ns[server])),
            unwritten_reads: self.unwritten_reads,
            written: self.written,
            buffered: self.buffered,
            collection: self.collection,
            mapping: self.mapping,
            map_latency: self.map_latency.take(),
            settling: std::mem::take(&mut self.settling),
        };
        Window { start_ns: self.window_start, end_ns: now, reading, figures }
    }

    /// Work that DRAM and the host interface have left, in ns.
    fn left_ns(&self, now: Nanos) -> [Nanos; SERVERS] {
        [DRAM, LINK].map(|server| self.meter.left_ns(server, now))
    }

    /// A block has been erased. Rare enough to sample the counts that write amplification is made of.
    #[cold]
    pub fn erased(&mut self) {
        self.settling.take(self.written.host_bytes, self.ledger.programs());
    }

    /// What write amplification is made of, since the window began.
    pub fn flash_counts(&self) -> FlashCounts {
        FlashCounts { host_bytes: self.written.host_bytes, programs: self.ledger.programs() }
    }

    /// As [`Meter::so_far`]. The array of an operation that started at the present time may work from then on; the meter
    /// gets this change when time passes.
    pub fn so_far(&self) -> (f64, f64) {
        let (energy_j, power_w) = self.meter.so_far();
        if self.array_times.turn_at() > self.now() || !self.meters_transfer {
            return (energy_j, power_w);
        }
        let w = |state| self.meter.draw_w(state);
        let in_transfer = w(drive_state(Phase::Transfer)) + f64::from(self.busy_dies) * w(REPLACES_NONE);
        (energy_j, power_w + w(drive_state(Phase::Array)) - in_transfer)
    }

    /// The accounts of an idle drive that has only read, so that another drive can go on from there.
    pub fn of_reads(&self) -> ReadAccounts<P>
    where
        P::Recorder: Clone,
    {
        debug_assert!(self.busy_dies == 0 && self.outstanding == 0, "an idle drive");
        ReadAccounts {
            ledger: self.ledger.clone(),
            meter: self.meter.clone(),
            phase: self.phase,
            array_times: self.array_times.clone(),
        }
    }

    /// Goes on from there, with accounts that have just begun.
    pub fn go_on_from(&mut self, reads: &ReadAccounts<P>)
    where
        P::Recorder: Clone,
    {
        self.ledger.clone_from(&reads.ledger);
        self.meter.clone_from(&reads.meter);
        self.phase = reads.phase;
        self.array_times.clone_from(&reads.array_times);
    }

    /// Whether a bin of the series ends by `now`: the drive's counts are to be noted before time passes.
    #[inline(always)]
    pub fn bin_ends_by(&mut self, now: Nanos) -> bool {
        self.meter.bin_ends_by(now)
    }

    /// Notes the drive's counts for the bin that ends next. `whole` gives the lengths of operations, unless these are booked.
    #[cold]
    pub fn note_activity(&mut self, free_blocks: u64, whole: Option<&dyn Fn(OpClass) -> OpTimes>) {
        let present = Present { ledger: &self.ledger, accepted_bytes: self.written.host_bytes, free_blocks };
        if let Some(activity) = self.meter.rows::<Activity>() {
            activity.note(&present, whole);
        }
    }

    /// Whether a recording over time exceeded its storage.
    pub fn series_overflowed(&mut self) -> bool {
        self.meter.series_overflowed()
    }

    /// The recorded series.
    pub fn take_series(&mut self) -> Option<Box<Series>> {
        self.meter.take_series()
    }
}

#[cfg(test)]
mod tests;
