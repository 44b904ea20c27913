//! The course of an operation: which states its die goes through, and how long each lasts.

use super::settings::{ReadTransfer, Timing};
use crate::energy::DieState;
use crate::energy::die_state::OpStates;
use crate::energy::ledger::OpTimes;
use crate::operation::{OpClass, OpKind};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::EventKind;

/// How far a die is with its operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OpStage {
    /// It has none.
    #[default]
    Idle,
    /// Command, data in, array.
    Array,
    /// The same for a read, whose data is to move out then.
    Reading,
    /// Data waits for the bus.
    DataWait,
    /// Data moves out.
    Out,
    /// The die does more than one thing at a time: what it does is known elsewhere.
    Apart,
}

/// The course of operations of one class.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// The die's state while the bus transfers command and data.
    pub bus: DieState,
    /// The die's state while the array works.
    pub array: DieState,
    /// The die's state just before the operation ends.
    pub last: DieState,
    /// Does data of the host pass DRAM, if it is the host's?
    pub moves_data: bool,
    /// Does a page cross the bus between the controller and the die?
    pub crosses_bus: bool,
    /// From the start until the array starts to work.
    pub array_start_ns: Nanos,
    /// From the start until the array is done; a copyback's with the read.
    pub array_end_ns: Nanos,
    /// From the start until the die has its next event: the data is there to be moved out, or the operation ends. The
    /// array works until then, and a program of an upper page `upper_ns` longer.
    pub event_ns: Nanos,
    /// From the start to the end, if it waits for nothing.
    pub whole_ns: Nanos,
    /// What a program of an upper page takes more.
    pub upper_ns: Nanos,
    /// The stage that begins at the start.
    pub stage: OpStage,
    /// The kind of the die's next event.
    pub event: EventKind,
}

impl Course {
    /// The course of a read of a part of its page, whose data is accounted for by itself.
    pub fn of_part(&self) -> Self {
        Course { moves_data: false, crosses_bus: false, ..*self }
    }
}

/// The courses of all kinds of operations, on dies that do one thing at a time.
#[derive(Clone, Debug)]
pub struct Courses {
    of: [Course; OpKind::ALL.len()],
    /// How long the data of a read of a whole page holds the bus.
    out_ns: Nanos,
    /// Sectors of a page; 0 if every read moves its whole page.
    page_sectors: u32,
}

impl Courses {
    /// As a device's timing and its controller have them.
    pub fn new(timing: &Timing, read_transfer: ReadTransfer) -> Self {
        let of = OpKind::ALL.map(|kind| course(OpClass::plain(kind), timing, read_transfer));
        Courses { of, out_ns: read_transfer.ns(timing), page_sectors: 0 }
    }

    /// Lets reads move parts of pages, with this number of sectors in a page.
    pub fn move_parts(&mut self, page_sectors: u32) {
        self.page_sectors = page_sectors;
    }

    /// Whether reads may move parts of pages.
    #[inline(always)]
    pub fn moves_parts(&self) -> bool {
        self.page_sectors > 0
    }

    /// How long the data of a read holds the bus, rounded up to a whole ns. `sectors`: those of its page that it moves, 0 for all.
    #[inline]
    pub fn out_ns(&self, sectors: u32) -> Nanos {
        match sectors {
            0 => self.out_ns,
            _ => part_ns(self.out_ns, sectors, self.page_sectors),
        }
    }

    /// The course of a class: of its kind, since such a drive has pages of one type and blocks in one mode.
    #[inline(always)]
    pub fn of(&self, class: OpClass) -> &Course {
        &self.of[class.kind as usize]
    }

    /// The longest time from anything that happens to an event that it sets.
    pub fn longest_ns(&self) -> Nanos {
        let longest = self.of.iter().map(|course| course.whole_ns.saturating_add(course.upper_ns)).max();
        longest.unwrap_or(0).max(self.out_ns)
    }

    /// The phases of an operation from its start to its end. `out_ns`: how long its data holds the bus, if it is a read.
    #[inline]
    pub fn times(&self, class: OpClass, start: Nanos, end: Nanos, out_ns: Nanos) -> OpTimes {
        let course = self.of(class);
        let (array_start, array_end) = (start + course.array_start_ns, start + course.array_end_ns);
        let out_start = if class.kind == OpKind::Read { end - out_ns } else { array_end };
        OpTimes { start, array_start, array_end, out_start, end }
    }

    /// The phases of an operation that waits for nothing, on a lower page.
    pub fn whole(&self, class: OpClass) -> OpTimes {
        self.times(class, 0, self.of(class).whole_ns, self.out_ns)
    }

    /// The phases up to `now` of an operation under way on a die at this stage, whose bus will be free at `bus_free_at`. `out_ns` as in
    /// [`Self::times`].
    pub(crate) fn times_until(
        &self,
        now: Nanos,
        class: OpClass,
        start: Nanos,
        stage: OpStage,
        bus_free_at: Nanos,
        out_ns: Nanos,
    ) -> OpTimes {
        let course = self.of(class);
        let (array_start, array_end) = (start + course.array_start_ns, start + course.array_end_ns);
        let out_start = match stage {
            OpStage::DataWait => now,
            OpStage::Out => bus_free_at - out_ns,
            OpStage::Idle | OpStage::Array | OpStage::Reading | OpStage::Apart => array_end,
        };
        let until_now = |t: Nanos| t.min(now);
        OpTimes {
            start,
            array_start: until_now(array_start),
            array_end: until_now(array_end),
            out_start: until_now(out_start),
            end: now,
        }
    }
}

/// What a part of a page takes of a time in ns that the whole page takes, rounded up.
pub fn part_ns(page_ns: Nanos, sectors: u32, page_sectors: u32) -> Nanos {
    (u128::from(page_ns) * u128::from(sectors)).div_ceil(page_sectors.into()) as Nanos
}

fn course(class: OpClass, t: &Timing, read_transfer: ReadTransfer) -> Course {
    let (kind, OpStates { bus, array, last }) = (class.kind, OpStates::of(class));
    let is_whole_read = kind == OpKind::Read && read_transfer == ReadTransfer::Free;
    let last = if is_whole_read { array } else { last };
    let in_ns = if kind == OpKind::Program { t.page_transfer_ns } else { 0 };
    let array_start_ns = t.command_ns + in_ns;
    let (event, array_ns, more_ns) = match kind {
        OpKind::Read | OpKind::Copy => (EventKind::Read, t.read_ns, read_transfer.ns(t)),
        OpKind::SpareRead => (EventKind::Read, t.read_ns, 0),
        OpKind::Program => (EventKind::Program, t.program_ns, 0),
        OpKind::Erase => (EventKind::Other, t.erase_ns, 0),
        OpKind::Copyback => (EventKind::Other, t.read_ns, t.program_ns),
    };
    let array_end_ns = array_start_ns + array_ns;
    let whole_ns = array_end_ns + more_ns;
    let reads = matches!(kind, OpKind::Read | OpKind::Copy) && !is_whole_read;
    let programs = matches!(kind, OpKind::Program | OpKind::Copyback);
    Course {
        bus,
        array,
        last,
        crosses_bus: matches!(kind, OpKind::Read | OpKind::Program | OpKind::Copy),
        moves_data: !matches!(kind, OpKind::Erase | OpKind::SpareRead),
        array_start_ns,
        array_end_ns,
        event_ns: if reads { array_end_ns } else { whole_ns },
        whole_ns,
        upper_ns: if programs { t.program_upper_ns.map_or(0, |ns| ns - t.program_ns) } else { 0 },
        stage: if reads { OpStage::Reading } else { OpStage::Array },
        event,
    }
}
