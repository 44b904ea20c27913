//! What a die does now.

use super::rows::RowId;
use super::suspend::{Pause, Stage};
use super::{Cells, Moving};
use crate::controller::Controller;
use crate::controller::MeteredFlash;
use crate::controller::op::OpQueue;
use crate::controller::queues::OpList;
use crate::energy::ledger::OpTimes;
use crate::energy::{DieState, ExtraState};
use crate::firmware::Firmware;
use crate::nand::Array;
use crate::observe::probe::{CellFacts, Probe};
use crate::operation::OpClass;
use flashwatt_base::units::{DieId, Nanos, OpId};

/// What the array of a die does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ArrayWork {
    /// Nothing.
    #[default]
    None,
    /// Reads, one or several at once: the list `reads` of the die.
    Reads,
    /// Programs a row.
    Row(RowId),
    /// Erases a block, on all planes that it spans.
    Erase(OpId),
}

/// A die.
#[derive(Clone)]
pub(super) struct CellDie {
    pub work: ArrayWork,
    /// When what the array does was started, and when the array began with it.
    pub started: Nanos,
    pub array_start: Nanos,
    /// The reads that the array does, linked by `next`, and their number.
    pub reads: OpList,
    pub planes: u32,
    /// Reads whose data moves out, or waits for the bus. They are linked by `next`.
    pub out: OpList,
    pub out_times: Times,
    /// Reads that the array has done, whose data waits until that of others has moved out.
    pub behind: OpList,
    pub behind_times: Times,
    /// The program or erase that reads may suspend.
    pub pause: Pause,
    /// Whether its background work waits for the host however long that takes.
    pub is_lazy: bool,
    /// The row of which pages are in the registers.
    pub latched: RowId,
    /// The state of the die in the books, since when, and the state that follows at a known time.
    pub state: DieState,
    pub since: Nanos,
    pub next: Option<(Nanos, DieState)>,
    /// In the books: what further planes of the array do, and what moves over the bus beside it, since when.
    pub extra: Option<ExtraState>,
    pub beside: Option<(ExtraState, Nanos)>,
}

/// When reads were started, when the array did them, and how many there were.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub start: Nanos,
    pub array_start: Nanos,
    pub array_end: Nanos,
    pub planes: u32,
}

/// What the log says of an operation that has ended, beside its times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    /// When its command, and the page of a program, had moved in.
    pub in_end: Nanos,
    /// Pages that the array read or programmed at once, and the planes that it did so on.
    pub pages: u32,
    pub planes: u32,
    /// When it was suspended.
    pub suspensions: &'a [(Nanos, Nanos)],
    /// When the page of a program moved in before.
    pub earlier_moves: &'a [(Nanos, Nanos)],
}

impl<'a> Shared<'a> {
    /// The same for the log, of an operation of this class.
    pub fn facts(self, class: OpClass) -> CellFacts<'a> {
        let Shared { in_end, pages, planes, suspensions, earlier_moves } = self;
        let (page, mode) = (class.page, class.mode);
        CellFacts { in_end, row_pages: pages, planes, page, mode, suspensions, earlier_moves }
    }
}

impl Times {
    /// The phases of a read whose data moves out from `out_start` to `end`.
    pub fn whole(self, out_start: Nanos, end: Nanos) -> OpTimes {
        OpTimes { start: self.start, array_start: self.array_start, array_end: self.array_end, out_start, end }
    }

    /// What such reads share.
    pub fn shared(self) -> Shared<'static> {
        let (pages, planes) = (self.planes, self.planes);
        Shared { in_end: self.array_start, pages, planes, suspensions: &[], earlier_moves: &[] }
    }
}

impl Default for CellDie {
    fn default() -> Self {
        CellDie {
            work: ArrayWork::None,
            started: 0,
            array_start: 0,
            reads: OpList::default(),
            planes: 1,
            out: OpList::default(),
            out_times: Times::default(),
            behind: OpList::default(),
            behind_times: Times::default(),
            pause: Pause::default(),
            is_lazy: false,
            latched: RowId::NONE,
            state: DieState::Idle,
            since: 0,
            next: None,
            extra: None,
            beside: None,
        }
    }
}

impl Controller {
    /// Takes account of what a die does from now on: its state in the books, and whether it can start operations, or something beside
    /// what it does.
    pub(super) fn restate<P: Probe>(&mut self, die: DieId, now: Nanos, flash: &mut MeteredFlash<P>) {
        let (channel, way) = self.seat(die);
        let moving = self.cells().moving[channel.idx()].filter(|moving| moving.die() == die);
        let of = &self.cells().dies[die.idx()];
        let (works, has_out, is_suspended) = (of.work != ArrayWork::None, of.out.head.is_some(), of.is_suspended());
        let does_nothing = !works && !has_out && moving.is_none();
        if !works {
            let state = match moving {
                Some(Moving::Out(..)) => DieState::ReadBus,
                Some(Moving::In(..)) => DieState::ProgramBus,
                None if has_out => DieState::DataWait,
                None if is_suspended => DieState::Suspended,
                None => DieState::Idle,
            };
            self.set_state(die, now, state, flash);
        }
        let beside = moving.filter(|_| works).map(|moving| match moving {
            Moving::Out(..) => ExtraState::ReadBus,
            Moving::In(..) => ExtraState::ProgramBus,
        });
        self.set_beside(die, now, beside, flash);
        let Cells { rules, dies, watched, paused, .. } = self.cells_mut();
        let of = &dies[die.idx()];
        let reads_beside = rules.bus.cache_read && !works && has_out && !matches!(moving, Some(Moving::In(..)));
        let programs = matches!(of.work, ArrayWork::Row(_)) && of.pause.stage != Stage::WindsDown;
        let loads_beside = rules.bus.cache_program && programs && moving.is_none();
        let set = |of: &mut u64, is_set: bool| *of = *of & !(1 << way) | u64::from(is_set) << way;
        set(&mut watched[channel.idx()], rules.suspend.as_ref().is_some_and(|rules| of.is_watched(rules)));
        set(&mut paused[channel.idx()], is_suspended);
        let bus = &mut self.channels[channel.idx()];
        set(&mut bus.idle, does_nothing && !is_suspended);
        set(&mut bus.beside, reads_beside | loads_beside | (is_suspended && does_nothing));
        set(&mut bus.data_waits, has_out && moving.is_none());
        bus.stale |= 1 << way;
        self.mark_changed(channel);
    }

    /// Notes whether the background work of a die waits for the host.
    pub(in crate::controller) fn set_lazy(&mut self, die: DieId, firmware: &Firmware) {
        self.cells_mut().dies[die.idx()].is_lazy = firmware.ftl.is_lazy(die, &firmware.blocks);
    }

    /// From now on background work that waits for the host is not begun: the run comes to its end.
    pub fn leave_lazy_work(&mut self) {
        if let Some(cells) = &mut self.cells {
            cells.leaves_lazy = true;
            (0..self.geometry.dies).map(DieId).for_each(|die| self.look_at_rows_again(die));
        }
    }

    /// Plans the next step of a die's background work. Returns whether it did: work that waits for the host is not begun at the end of a run.
    #[inline(never)]
    pub(in crate::controller) fn plan_step_on_cells(
        &mut self,
        die: DieId,
        firmware: &mut Firmware,
        array: &Array,
    ) -> bool {
        if self.cells().leaves_lazy {
            self.set_lazy(die, firmware); // a write may have come to wait for it
            if self.is_lazy(die) {
                return false;
            }
        }
        firmware.background(die, array);
        self.set_lazy(die, firmware);
        true
    }

    /// Whether the background work of a die waits for the host however long that takes.
    pub(in crate::controller) fn is_lazy(&self, die: DieId) -> bool {
        self.cells.as_ref().is_some_and(|cells| cells.dies[die.idx()].is_lazy)
    }

    /// Whether all that waits on a die behind a queue is background work that waits for the host.
    pub(in crate::controller) fn waits_lazily(&self, die: DieId, queue: u8) -> bool {
        const LAZY: u32 = 1 << OpQueue::Step as u32 | 1 << OpQueue::Background as u32 | 1 << OpQueue::Erase as u32;
        self.is_lazy(die) && self.dies[die.idx()].ready >> (queue + 1) << (queue + 1) & !LAZY == 0
    }

    /// Adds an operation to the end of a list.
    pub(super) fn append(&mut self, list: OpList, id: OpId) -> OpList {
        self.ops[id].next = OpId::NONE;
        if list.head.is_none() {
            return OpList { head: id, tail: id };
        }
        self.ops[list.tail].next = id;
        OpList { head: list.head, tail: id }
    }

    /// The operations of a list.
    pub(super) fn listed(&self, list: OpList) -> impl Iterator<Item = OpId> + Clone + '_ {
        std::iter::successors(Some(list.head).filter(|id| id.is_some()), |&id| {
            Some(self.ops[id].next).filter(|next| next.is_some())
        })
    }
}
