//! Dies that do more than one thing at a time.
//!
//! Without this, an operation holds its die from its start to its end. Here a die has an array, which works for one operation or for
//! several at once (a row of pages that are programmed together, reads of several planes), and registers, in and out of which pages
//! move over the bus. A drive has such dies if a block spans planes, if cells hold several bits, or if a key of `[device.bus]` or
//! `[device.suspend]` says so.
//!
//! - [`rows`]: programs of pages are gathered to rows. A row is one operation of the array.
//! - [`passes`]: rows that are programmed in two passes.
//! - [`reads`]: reads of one die that are one operation of its array, and their data on its way out.
//! - [`suspend`]: programs and erases that are suspended for reads.
//! - [`books`]: what the meter and the ledger get.
//!
//! The seat of a die has the end of what its array does, the seat of a channel the end of a transfer.

mod books;
mod dies;
mod passes;
mod reads;
pub(super) mod rows;
mod suspend;

use std::collections::VecDeque;

use super::dispatch::OpStart;
use super::op::{OpQueue, Role};
use super::queues::least;
use super::{Controller, EndedOp, MeteredFlash};
use crate::firmware::Firmware;
use crate::nand::Geometry;
use crate::nand::phases::OpStage;
use crate::nand::settings::{Bus, DeviceTable, JointReads, ReadTransfer, Suspend};
use crate::observe::probe::Probe;
use crate::operation::{CellMode, OpKind};
use dies::{ArrayWork, CellDie};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{ChannelId, DieId, Nanos, OpId};
use flashwatt_core::connector::{Agenda, EventKind};
use rows::Rows;
use suspend::Stage;

/// What the controller of such a drive knows besides.
#[derive(Clone)]
pub(super) struct Cells {
    rules: Rules,
    dies: FlatTable<CellDie>,
    pub rows: Rows,
    /// By channel: what moves over its bus.
    moving: FlatTable<Option<Moving>>,
    /// By channel: dies with operations that reads may suspend, or have suspended.
    watched: FlatTable<u64>,
    /// By channel: dies that may have a host's read which is ready, and dies with a suspended operation.
    with_reads: FlatTable<u64>,
    paused: FlatTable<u64>,
    /// Reads whose pages are in the controller's memory, in rows that are not on flash yet.
    in_memory: Vec<OpId>,
    /// Ends of operations that the drive has not heard of.
    ended: VecDeque<EndedOp>,
    /// Whether work that waits for the host is left: the host's last request has ended.
    leaves_lazy: bool,
}

/// Times and rules of the dies.
#[derive(Clone)]
struct Rules {
    /// tR by type of page.
    read_ns: Vec<Nanos>,
    /// tR of the spare area of a page: that of the type which is read fastest.
    spare_read_ns: Nanos,
    /// Of a row, by mode. Of native rows in two passes, that of the second one.
    program_ns: [Nanos; CellMode::ALL.len()],
    /// The first pass of a native row; 0 if there is one pass.
    first_pass_ns: Nanos,
    /// What the program of an upper page takes longer, of a row of one page.
    upper_ns: Nanos,
    /// tR in SLC mode.
    slc_read_ns: Nanos,
    erase_ns: Nanos,
    command_ns: Nanos,
    /// A page over the bus.
    page_ns: Nanos,
    read_transfer: ReadTransfer,
    bus: Bus,
    planes: u32,
    pad_after_ns: Nanos,
    suspend: Option<Suspend>,
}

/// What moves over a bus.
#[derive(Clone, Copy)]
enum Moving {
    /// The data of a read of this die.
    Out(DieId, OpId),
    /// The next page of the row that this die takes in.
    In(DieId, rows::RowId),
}

impl Moving {
    fn die(self) -> DieId {
        match self {
            Moving::Out(die, _) | Moving::In(die, _) => die,
        }
    }
}

impl Rules {
    fn new(device: &DeviceTable, read_transfer: ReadTransfer, geometry: &Geometry) -> Self {
        let timing = &device.timing;
        let read_ns = device.cells.as_ref().map_or(vec![timing.read_ns], |cells| cells.read_ns.clone());
        let slc = device.cells.as_ref().and_then(|cells| cells.slc.as_ref());
        let native_ns = device.cells.as_ref().map_or(timing.program_ns, |cells| cells.program_ns);
        Rules {
            spare_read_ns: read_ns.iter().copied().min().unwrap_or(timing.read_ns),
            read_ns,
            program_ns: [native_ns, slc.map_or(native_ns, |slc| slc.program_ns)],
            first_pass_ns: device.cells.as_ref().map_or(0, |cells| cells.first_pass_ns),
            upper_ns: timing.program_upper_ns.map_or(0, |upper_ns| upper_ns - timing.program_ns),
            slc_read_ns: slc.map_or(timing.read_ns, |slc| slc.read_ns),
            erase_ns: timing.erase_ns,
            command_ns: timing.command_ns,
            page_ns: timing.page_transfer_ns,
            read_transfer,
            bus: device.bus.clone(),
            planes: geometry.planes,
            pad_after_ns: device.cells.as_ref().map_or(0, |cells| cells.pad_after_ns),
            suspend: device.suspend.clone(),
        }
    }

    /// The longest time from anything that happens to an event that it sets.
    fn longest_ns(&self) -> Nanos {
        let programs_ns = self.program_ns[0].max(self.program_ns[1]) + self.upper_ns;
        let arrays = [programs_ns.max(self.first_pass_ns), self.erase_ns.max(self.slc_read_ns)];
        let array = self.read_ns.iter().copied().chain(arrays).max().unwrap_or(0);
        let commands = self.command_ns.saturating_mul(self.planes.into());
        let of_kind = |kind| self.suspend.as_ref().map_or(0, |suspend| suspend.longest_ns(kind));
        let array = array.saturating_add(of_kind(OpKind::Program).max(of_kind(OpKind::Erase)));
        array.saturating_add(commands).saturating_add(self.page_ns).saturating_add(self.bus.cache_busy_ns)
    }

    /// Whether reads of several planes are one operation of the array.
    fn joins(&self) -> bool {
        self.bus.joint_reads != JointReads::None && self.planes > 1
    }
}

impl Controller {
    /// Makes the dies those of this device, if they do more than one thing at a time.
    pub fn set_dies(&mut self, device: &DeviceTable, read_transfer: ReadTransfer) {
        if !device.has_cells() {
            return;
        }
        self.dies.iter_mut().for_each(|die| die.stage = OpStage::Apart);
        let geometry = &self.geometry;
        self.cells = Some(Box::new(Cells {
            rules: Rules::new(device, read_transfer, geometry),
            dies: vec![CellDie::default(); geometry.dies as usize].into(),
            rows: Rows::new(geometry),
            moving: vec![None; geometry.channels as usize].into(),
            watched: vec![0; geometry.channels as usize].into(),
            with_reads: vec![0; geometry.channels as usize].into(),
            paused: vec![0; geometry.channels as usize].into(),
            in_memory: Vec::new(),
            ended: VecDeque::new(),
            leaves_lazy: false,
        }));
    }

    /// The longest time from anything that happens in such dies to an event that it sets.
    pub(super) fn longest_of_cells_ns(&self) -> Nanos {
        self.cells.as_ref().map_or(0, |cells| cells.rules.longest_ns())
    }

    #[inline(always)]
    fn cells(&self) -> &Cells {
        match &self.cells {
            Some(cells) => cells,
            None => unreachable!("only drives whose dies do more than one thing at a time come here"),
        }
    }

    #[inline(always)]
    fn cells_mut(&mut self) -> &mut Cells {
        match &mut self.cells {
            Some(cells) => cells,
            None => unreachable!("only drives whose dies do more than one thing at a time come here"),
        }
    }

    /// Whether ends of operations are left that the drive has not heard of, or reads that memory serves.
    #[inline(always)]
    pub fn has_more_ended(&self) -> bool {
        self.cells.as_ref().is_some_and(|cells| !cells.ended.is_empty() || !cells.in_memory.is_empty())
    }

    /// Whether rows are looked at again that were not before, and the drive has not heard of it.
    pub fn has_new_deadlines(&self) -> bool {
        self.cells.as_ref().is_some_and(|cells| cells.rows.are_new_deadlines)
    }

    /// The next end of an operation that the drive has not heard of.
    #[inline(never)]
    pub fn take_ended<P: Probe>(&mut self, firmware: &mut Firmware, flash: &mut MeteredFlash<P>) -> Option<EndedOp> {
        loop {
            if let Some(ended) = self.cells_mut().ended.pop_front() {
                return Some(ended);
            }
            let id = self.cells_mut().in_memory.pop()?;
            self.read_in_memory(id, firmware, flash);
        }
    }

    /// A new operation, or one whose last condition is gone, joins its queue, its row, or the reads that memory serves.
    #[inline(never)]
    pub(super) fn enqueue_on_cells(&mut self, id: OpId) {
        let op = &self.ops[id];
        let (at, role) = (op.at, op.role);
        if op.blockers > 0 {
            return;
        }
        match role {
            Role::Member | Role::OnDieMember => return self.member_is_ready(id),
            Role::Memory if self.is_in_row(at) => return self.cells_mut().in_memory.push(id),
            Role::Memory => self.ops[id].role = Role::Single, // while it waited for something else, the page has come to flash
            Role::Single | Role::Read | Role::StandIn | Role::OnDie | Role::Row => {}
        }
        self.link(id);
        self.note_read(id);
        let (channel, way) = self.seat(at.die);
        let dies = self.channels[channel.idx()].beside | self.cells().watched[channel.idx()];
        self.changed.add_if(dies >> way & 1 != 0, channel);
    }

    /// Notes that an operation which is ready is among the reads of the host, if it is: it may suspend others.
    pub(super) fn note_read(&mut self, id: OpId) {
        let (die, queue) = (self.ops[id].at.die, self.ops[id].queue);
        let (channel, way) = self.seat(die);
        if let Some(cells) = &mut self.cells {
            cells.with_reads[channel.idx()] |= u64::from(queue == OpQueue::HostRead) << way;
        }
    }

    /// Starts all operations and transfers that can start now.
    #[inline(never)]
    pub(super) fn dispatch_all_on_cells<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while let Some(channels) = self.changed.take_lowest() {
            for channel in channels {
                self.dispatch_on_cells(agenda, ChannelId(channel), firmware, flash);
            }
        }
    }

    /// Starts all operations and transfers of a channel that can start now.
    #[inline(never)]
    pub(super) fn dispatch_on_cells<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        loop {
            self.begin_meanwhile(agenda, channel, flash);
            if self.is_taken_by_cells(agenda, channel) {
                return;
            }
            if self.data_goes_first(channel) {
                self.send_oldest_out(agenda, channel, flash);
                continue;
            }
            if self.begin_read_meanwhile(agenda, channel, flash) {
                continue;
            }
            match self.peek(channel) {
                Some(candidate) => {
                    if let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) {
                        self.start_chosen_on_cells(agenda, channel, chosen, flash);
                    }
                }
                None if self.begin_load_beside(agenda, channel, flash) => {}
                None => return,
            }
        }
    }

    /// Suspends operations and goes on with suspended ones, and starts reads beside data that moves out.
    fn begin_meanwhile<P: Probe>(&mut self, agenda: &mut Agenda, channel: ChannelId, flash: &mut MeteredFlash<P>) {
        self.suspend_and_resume(agenda, channel, flash);
        self.begin_reads_beside(agenda, channel, flash);
    }

    /// Whether the bus of a channel is taken. If so and work waits for it, be it beside what a die does, sets its event.
    pub(super) fn is_taken_by_cells(&mut self, agenda: &mut Agenda, channel: ChannelId) -> bool {
        let state = &mut self.channels[channel.idx()];
        if agenda.now() >= state.bus_free_at {
            return false;
        }
        if !state.scheduled && (state.has_work() || state.beside != 0) {
            state.scheduled = true;
            agenda.set(EventKind::Bus, self.first_seat + self.geometry.dies + channel.0, state.bus_free_at);
        }
        true
    }

    /// Begins what dies of a channel may do beside what they do, or while an operation is suspended: that starts no further die.
    #[inline(never)]
    pub(super) fn begin_beside<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        flash: &mut MeteredFlash<P>,
    ) {
        self.begin_meanwhile(agenda, channel, flash);
        while !self.is_taken_by_cells(agenda, channel) {
            if self.cells().watched[channel.idx()] != 0 && self.data_goes_first(channel) {
                self.send_oldest_out(agenda, channel, flash); // before commands of dies with suspended operations, as elsewhere
            } else if !self.begin_read_meanwhile(agenda, channel, flash)
                && !self.begin_load_beside(agenda, channel, flash)
            {
                return;
            }
        }
    }

    /// A transfer over a channel's bus begins. The channel's event is its end.
    fn begin_transfer(&mut self, agenda: &mut Agenda, channel: ChannelId, ns: Nanos, what: Moving) {
        let end = agenda.now() + ns;
        let state = &mut self.channels[channel.idx()];
        debug_assert!(!state.scheduled && agenda.now() >= state.bus_free_at);
        (state.bus_free_at, state.scheduled) = (end, true);
        debug_assert!(self.cells().moving[channel.idx()].is_none());
        self.cells_mut().moving[channel.idx()] = Some(what);
        agenda.set(EventKind::Transfer, self.first_seat + self.geometry.dies + channel.0, end);
    }

    /// The bus of a channel is free: a transfer has ended, or the command before it.
    #[inline(never)]
    pub(super) fn bus_of_cells_is_free<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let Some(moved) = self.cells_mut().moving[channel.idx()].take() else { return };
        let die = moved.die();
        self.book_transfer(die, agenda.now(), Some(moved), flash);
        match moved {
            Moving::Out(_, read) => self.data_is_out(die, read, agenda.now(), firmware, flash),
            Moving::In(_, row) => self.page_is_in(agenda, row, flash),
        }
        self.restate(die, agenda.now(), flash);
    }

    /// The array of a die has ended what it did.
    #[inline(never)]
    pub(super) fn array_has_ended<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        die: DieId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        match self.cells().dies[die.idx()].pause.stage {
            Stage::Waits => return self.may_be_suspended(agenda, die),
            Stage::WindsDown => {
                self.is_wound_down(die, now, flash);
                return self.restate(die, now, flash);
            }
            Stage::Bound | Stage::Works | Stage::Suspended => {}
        }
        self.book(die, now, self.moving_of(die), flash);
        let of = &mut self.cells_mut().dies[die.idx()];
        let (work, planes) = (std::mem::take(&mut of.work), std::mem::replace(&mut of.planes, 1));
        self.end_course(die, now, planes, flash);
        match work {
            ArrayWork::None => unreachable!("an event of an array that does nothing"),
            ArrayWork::Reads => self.reads_are_done(die, planes, now, firmware, flash),
            ArrayWork::Row(row) => self.row_has_ended(agenda, row, firmware, flash),
            ArrayWork::Erase(id) => self.erase_has_ended(id, now, firmware, flash),
        }
        self.refresh_rows(die); // one may wait for the array
        self.restate(die, now, flash);
    }

    /// What moves in or out of a die now.
    fn moving_of(&self, die: DieId) -> Option<Moving> {
        let channel = self.geometry.channel_of(die);
        self.cells().moving[channel.idx()].filter(|moving| moving.die() == die)
    }

    /// As [`Self::start_on_cells`], of what [`Self::commit`] has chosen.
    #[inline(never)]
    pub(super) fn start_chosen_on_cells<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        chosen: OpStart,
        flash: &mut MeteredFlash<P>,
    ) {
        let mut id = chosen.op;
        if chosen.is_queued {
            self.unlink(id);
            if matches!(self.ops[id].role, Role::Read | Role::StandIn) {
                id = self.start_waiting_read(id, flash);
            }
        }
        self.start_on_cells(agenda, channel, id, flash);
    }

    /// Starts a chosen operation: reads, an erase, or the next page of a row.
    #[inline(never)]
    pub(super) fn start_on_cells<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        id: OpId,
        flash: &mut MeteredFlash<P>,
    ) {
        let (kind, role, die) = (self.ops[id].kind, self.ops[id].role, self.ops[id].at.die);
        self.book(die, agenda.now(), None, flash);
        match kind {
            _ if role == Role::Row => self.go_on_with_row(agenda, channel, id, flash),
            OpKind::Read | OpKind::SpareRead | OpKind::Copy => self.start_reads(agenda, channel, id, flash),
            OpKind::Erase => self.start_erase(agenda, channel, id, flash),
            OpKind::Program | OpKind::Copyback => unreachable!("a program is a member of a row"),
        }
        self.restate(die, agenda.now(), flash);
    }

    /// Of the dies with data that waits for a bus, the one with the oldest read.
    pub(super) fn oldest_out(&self, channel: ChannelId, waits: u64) -> u32 {
        let seq = |way: u32| {
            let die = self.geometry.die_at(channel, way);
            self.ops[self.cells().dies[die.idx()].out.head].seq
        };
        least(waits, seq).0
    }

    /// The best queue of a die that is ready, if one is.
    fn best_queue(&self, die: DieId) -> Option<usize> {
        let ready = self.dies[die.idx()].ready;
        (ready != 0).then(|| ready.trailing_zeros() as usize).filter(|&queue| queue < OpQueue::COUNT)
    }
}
