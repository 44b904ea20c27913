//! The controller: when planned operations run, on which bus and die, and in which order.
//!
//! Resources are channels (buses) and dies. A read takes the bus for its command, the die for tR, and the bus again for its
//! data; a program takes the bus for command and data, then the die; an erase the bus for its command, then the die. At
//! one instant all completions are handled first, then [`Controller::dispatch`] starts what can start.

mod admission;
mod cells;
mod channel_set;
mod competing;
mod completion;
mod copies;
mod dispatch;
mod guards;
mod holds;
mod many_ways;
mod map_ops;
mod old_map;
pub mod op;
pub mod policies;
mod queues;
pub mod settings;

use std::hint::cold_path;

use crate::energy::ledger::OpTimes;
use crate::firmware::Firmware;
use crate::ftl::PlanNumber;
use crate::nand::phases::Courses;
use crate::nand::settings::Timing;
use crate::nand::{Array, FlashAddress, Geometry};
use crate::observe::accounts::SsdAccounts;
use crate::observe::probe::Probe;
use crate::operation::{Cause, OpClass, OpKind};
use admission::Promotion;
use cells::Cells;
pub use cells::rows::PadWhich;
use channel_set::ChannelSet;
use competing::Competition;
use copies::Waiting;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{ChannelId, DieId, Nanos, OpId, RequestId};
use flashwatt_core::connector::Seats;
pub use guards::Upper;
use holds::Holds;
use many_ways::ManyWays;
use map_ops::MapOps;
use old_map::OldMap;
use op::{OpQueue, OpTable};
use policies::QueueOrder;
use queues::{Channel, DieQueue};
use settings::BusOrder;

/// The controller.
#[derive(Clone)]
pub struct Controller {
    geometry: Geometry,
    timing: Timing,
    courses: Courses,
    order: QueueOrder,
    bus_order: BusOrder,
    /// Dies that do more than one thing at a time, if the drive has such.
    cells: Option<Box<Cells>>,
    /// The places of dies among those of a channel that has many.
    many_ways: Option<ManyWays>,
    /// What channels that compete for starts share, if they do.
    competition: Option<Box<Competition>>,
    /// The queue of an operation, by kind and cause.
    queues: [[OpQueue; Cause::ALL.len()]; OpKind::ALL.len()],
    preemptible: bool,
    /// Whether no background work begins: the drive recovers from a power cut.
    rests: bool,
    ops: OpTable,
    next_seq: u64,
    dies: FlatTable<DieQueue>,
    channels: FlatTable<Channel>,
    /// The channels on which something changed, so that an operation may start.
    changed: ChannelSet,
    /// Whether an operation has ended in this instant, so that a request may follow.
    any_ended: bool,
    /// Whether channels compete for starts. Known also while `competition` is taken out for a dispatch.
    competes: bool,
    /// Whether the end of an operation lets others start on any channel, since a power budget binds them.
    end_frees_power: bool,
    /// Whether no two reads of a channel leave the array at the same instant, since no two of them start at the same instant.
    reads_end_apart: bool,
    /// Operation ids of the plan under admission.
    ids: Vec<OpId>,
    /// Reads and writes of the map that have not ended.
    map_ops: MapOps,
    /// Reads that wait in the queues of several dies.
    waiting: Vec<Waiting>,
    /// Whether programs of upper pages wait until the lower pages of the same cells are safe.
    guards_pairs: bool,
    /// Those of them that nobody has looked at.
    uppers: Vec<Upper>,
    /// What is held back until upper pages are programmed, if the drive holds acknowledgements.
    holds: Option<Box<Holds>>,
    /// What the drive keeps of the map on flash, if a recovery needs that.
    old_map: Option<Box<OldMap>>,
    /// The remaining steps of a promotion. Kept to reuse its memory.
    promotion: Vec<Promotion>,
    /// The seat of die 0; those of the other dies, the channels and the slot follow.
    first_seat: u32,
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedOp {
    /// Its request, if any.
    pub request: RequestId,
    /// Its kind.
    pub kind: OpKind,
    /// Its plan number.
    pub number: PlanNumber,
}

/// An operation under way.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay {
    /// Its kind.
    pub kind: OpKind,
    /// Its plan number.
    pub number: u64,
    /// Its page, or the first page of its block.
    pub at: FlashAddress,
    /// The time in ns at which it began.
    pub since: Nanos,
    /// When the array will have ended it.
    pub end: EndOfOp,
}

/// When the array will have ended an operation under way, if no read comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfOp {
    /// When its class takes: it has not been suspended.
    AsPlanned,
    /// At this time in ns: it has been suspended, or winds down.
    At(Nanos),
    /// It is suspended, and takes this time in ns from when it goes on.
    AfterResumption(Nanos),
}

impl Controller {
    /// A controller with all dies idle. `preemptible`: host operations may run between the steps of a collection.
    pub fn new(settings: &settings::Controller, timing: &Timing, preemptible: bool, geometry: &Geometry) -> Self {
        let courses = Courses::new(timing, settings.read_transfer);
        let competition = Competition::new(settings, timing, geometry).map(Box::new);
        Controller {
            courses,
            timing: timing.clone(),
            order: settings.policy.build,
            bus_order: settings.bus_order,
            cells: None,
            many_ways: ManyWays::new(geometry),
            queues: queues::queues_of(&settings.policy.build),
            preemptible,
            rests: false,
            ops: OpTable::default(),
            next_seq: 0,
            dies: (0..geometry.dies)
                .map(DieId)
                .map(|die| DieQueue {
                    channel: geometry.channel_of(die),
                    way: geometry.way_of(die),
                    bit: 1 << geometry.way_of(die),
                    ..DieQueue::default()
                })
                .collect(),
            channels: vec![Channel::new(geometry.ways); geometry.channels as usize].into(),
            changed: ChannelSet::new(geometry.channels),
            any_ended: false,
            competes: competition.is_some(),
            end_frees_power: competition.as_ref().is_some_and(|competition| competition.has_budget()),
            reads_end_apart: timing.command_ns > 0 || timing.channel_switch_ns > 0,
            competition,
            ids: Vec::new(),
            map_ops: MapOps::default(),
            waiting: Vec::new(),
            guards_pairs: false,
            uppers: Vec::new(),
            holds: None,
            old_map: None,
            promotion: Vec::new(),
            first_seat: 0,
            geometry: geometry.clone(),
        }
    }

    /// Takes seats for dies, channels and the slot of the channel switch delay, and returns the first of them. Events are
    /// numbered from there: that of a die has the die's number.
    pub fn enrol(&mut self, seats: &mut Seats) -> u32 {
        let longest_ns = self.courses.longest_ns().max(self.timing.channel_switch_ns).max(self.longest_of_cells_ns());
        self.first_seat = seats.take(self.slot_event() + 1, longest_ns);
        self.first_seat
    }

    fn slot_event(&self) -> u32 {
        self.geometry.dies + self.geometry.channels
    }

    /// Lets reads move parts of pages, with this number of sectors in a page.
    pub fn move_parts(&mut self, page_sectors: u32) {
        self.courses.move_parts(page_sectors);
    }

    /// How long the data of a read holds the bus, in ns.
    #[inline(always)]
    fn out_ns(&self, id: OpId) -> Nanos {
        if !self.courses.moves_parts() {
            return self.courses.out_ns(0);
        }
        cold_path();
        self.courses.out_ns(self.ops[id].sectors())
    }

    /// Starts plan numbers at `first`. Lower numbers were used without a clock.
    pub fn begin(&mut self, first: PlanNumber) {
        self.next_seq = first.0;
    }

    /// Lets dies begin with background work, or keeps them from it.
    pub fn allow_background(&mut self, may_begin: bool) {
        self.rests = !may_begin;
    }

    /// Notes that a die may have background work.
    #[inline]
    pub fn wake(&mut self, die: DieId, firmware: &Firmware) {
        if self.rests {
            cold_path();
            return;
        }
        if self.cells.is_some() {
            cold_path();
            self.set_lazy(die, firmware); // a write may wait for the fold of which a step is under way
        }
        if self.dies[die.idx()].background == 0 && firmware.ftl.wants_background(die, &firmware.blocks) {
            if self.dies[die.idx()].ready & OpQueue::OF_BACKGROUND == 0 {
                self.dies[die.idx()].background_since = self.next_seq;
            }
            self.set_ready(die, self.step_queue(die));
        }
    }

    /// How a die asks for its next step of background work.
    #[inline(always)]
    fn step_queue(&self, die: DieId) -> OpQueue {
        if self.preemptible || self.cells.is_some() && self.is_lazy(die) {
            return OpQueue::Step;
        }
        OpQueue::UrgentStep
    }

    /// Notes that the dies woken by the last plan may have background work.
    #[inline(always)]
    fn wake_woken(&mut self, firmware: &Firmware) {
        if !firmware.plan.woken().is_empty() {
            cold_path();
            self.wake_each(firmware); // few plans wake a die
        }
    }

    #[inline(never)]
    fn wake_each(&mut self, firmware: &Firmware) {
        for &die in firmware.plan.woken() {
            self.wake(die, firmware);
        }
    }

    /// Ends a window of the run. Running operations are counted as if they ended now; they go on.
    pub fn cut<P: Probe>(&mut self, now: Nanos, flash: &mut MeteredFlash<P>) {
        if self.cells.is_some() {
            return self.book_all(now, flash);
        }
        flash.accounts.book_whole(|class| self.courses.whole(class));
        for die in self.dies.iter().filter(|die| die.running.is_some()) {
            let op = &self.ops[die.running];
            let bus_free_at = self.channels[die.channel.idx()].bus_free_at;
            let class = op.at.class(op.kind);
            let times =
                self.courses.times_until(now, class, die.started, die.stage, bus_free_at, self.out_ns(die.running));
            flash.accounts.op_cut(class, op.cause, &times);
        }
    }

    /// The phases of an operation of this class that waits for nothing.
    pub fn whole(&self, class: OpClass) -> OpTimes {
        if self.cells.is_some() { OpTimes::default() } else { self.courses.whole(class) }
    }

    /// The operations under way.
    pub fn under_way(&self) -> impl Iterator<Item = UnderWay> + '_ {
        let of_cells = self.cells.is_some();
        let running = self.dies.iter().filter(move |die| !of_cells && die.running.is_some());
        let whole_dies = running.map(|die| {
            let op = &self.ops[die.running];
            UnderWay { kind: op.kind, number: op.seq, at: op.at, since: die.started, end: EndOfOp::AsPlanned }
        });
        whole_dies.chain(self.under_way_on_cells())
    }

    #[inline(always)]
    fn seat(&self, die: DieId) -> (ChannelId, u32) {
        let die = &self.dies[die.idx()];
        (die.channel, die.way)
    }

    #[inline(always)]
    fn mark_changed(&mut self, channel: ChannelId) {
        self.changed.add_if(true, channel);
    }
}

/// The flash array and the accounts of time and energy that go with it.
pub struct MeteredFlash<P: Probe> {
    /// The flash array.
    pub array: Array,
    /// Time and energy.
    pub accounts: SsdAccounts<P>,
}
