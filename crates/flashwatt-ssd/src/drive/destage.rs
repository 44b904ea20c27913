//! Requests of a drive with a write buffer.
//!
//! A write is acknowledged when all its units are in the buffer; while that is full, writes wait, first come, first served.
//! Entries leave in *batches*, of the translation layer's grain: one physical page's units, so that small writes share a
//! program, all that there is of a logical block, so that its pages share a merge, or a run of neighbours, so that they share
//! a read of the map. A batch has a request id of its own, above those of the host's requests. At most two batches for each
//! die are under way: one that the die works on, and one whose data goes over the bus meanwhile. Of runs, each page counts,
//! and one may begin while fewer than two pages for each die are under way. Where the layer chooses the die, that holds on
//! average. The oldest entry whose die can take a batch leaves, with what leaves beside it,
//!
//! - while dirty entries take the configured share of the buffer, and at least a whole page;
//! - while writes wait for room: whole pages, or any entries if nothing is under way;
//! - when a forced write (FUA) waits for an entry, which then goes first;
//! - when a flush (unless capacitors or a journal protect the buffer), an idle drive or the end of the run asks for everything that is there at that time.
//!
//! Entries that need not leave yet fill up a batch.

use std::hint::cold_path;

use super::Ssd;
use super::batches::{Batch, Buffered};
use super::recovery::journal::Appended;
use super::requests::Active;
use crate::cache::WriteBuffer;
use crate::cache::write_buffer::Bytes;
use crate::controller::EndedOp;
use crate::firmware::Firmware;
use crate::ftl::{PlanIndex, PlanNumber};
use crate::nand::Geometry;
use crate::observe::probe::{BufferEvent, Probe, Purpose};
use crate::operation::{Cause, OpKind};
use crate::recovery::journal::JournalRecord;
use flashwatt_base::units::{EntryId, Lpn, Nanos, RequestId, SECTOR_BYTES};
use flashwatt_core::connector::{Cx, Extent, Request, RequestKind};

const NO_BUFFER: &str = "only drives with a write buffer come here";

impl<P: Probe> Ssd<P> {
    #[inline(always)]
    fn buffered(&mut self) -> &mut Buffered {
        match &mut self.buffered {
            Some(buffered) => buffered,
            None => unreachable!("{NO_BUFFER}"),
        }
    }

    /// Plans a request that has arrived in the device.
    #[inline(never)]
    pub(super) fn plan_buffered(&mut self, id: RequestId, cx: &mut Cx) {
        match self.requests[id.idx()].request.kind {
            RequestKind::Read => self.read_buffered(id, cx),
            RequestKind::Write => self.write_buffered(id, cx),
            RequestKind::Trim => {
                let extent = self.requests[id.idx()].extent(&self.geometry);
                self.tell_services_of_trim(extent);
                self.firmware.trim(&extent, &self.flash.array);
                self.take_plan(id, Purpose::Trim(id, extent), cx.now());
                self.trim_buffered(id, cx);
                self.complete_if_done(id, cx);
            }
            RequestKind::Flush => self.flush_buffer(id, cx),
        }
    }

    // ---------------------------------------------------------------- reads

    /// Units that the buffer holds come from there, the others from flash.
    fn read_buffered(&mut self, id: RequestId, cx: &mut Cx) {
        let active = self.requests[id.idx()];
        let mut misses = std::mem::take(&mut self.buffered().extents);
        misses.clear();
        let mut hit_bytes = 0;
        let extent = active.extent(&self.geometry);
        for i in 0..extent.pages {
            let lpn = Lpn(extent.first.0 + i);
            let bytes = self.geometry.bytes_in(&active.request, lpn);
            match self.buffered().buffer.holding(lpn, &bytes) {
                Some(entry) => {
                    hit_bytes += bytes.len() as u64;
                    self.flash.accounts.buffered.read_hits += 1;
                    self.flash.accounts.buffer(cx.now(), &BufferEvent::Read(entry, lpn, bytes));
                }
                None => add_to_runs(&mut misses, extent, i),
            }
        }
        self.firmware.read_runs(&misses, &self.flash.array);
        if let Some(unit) = self.partial_unit {
            self.want_parts(id, &misses, unit);
        }
        self.take_plan(id, Purpose::Read(&misses), cx.now());
        if !self.link.is_instant() {
            self.begin_sending(id, &misses, hit_bytes, cx);
        }
        self.buffered().extents = misses;
        self.complete_if_done(id, cx);
    }

    // ---------------------------------------------------------------- writes

    /// A write enters the buffer, behind those that wait for room.
    fn write_buffered(&mut self, id: RequestId, cx: &mut Cx) {
        self.buffer_changed = true;
        let is_first = self.buffered().waiting.is_empty();
        if !is_first || !self.enter(id, cx) {
            self.flash.accounts.buffered.delayed += 1;
            self.buffered().waiting.push_back(id);
        }
    }

    /// Puts as much of a write into the buffer as finds room, and completes it if that is all. Returns whether it is.
    fn enter(&mut self, id: RequestId, cx: &mut Cx) -> bool {
        let Active { request, planned, .. } = self.requests[id.idx()];
        let extent = self.geometry.extent(&request);
        for i in planned..extent.pages {
            if !self.enter_unit(id, &request, &extent, i, cx.now()) {
                return false;
            }
        }
        self.complete_if_done(id, cx);
        true
    }

    #[inline]
    fn enter_unit(&mut self, id: RequestId, request: &Request, extent: &Extent, i: u32, now: Nanos) -> bool {
        let fua = request.fua && !self.buffered().is_protected;
        let lpn = Lpn(extent.first.0 + i);
        let bytes = self.geometry.bytes_in(request, lpn);
        let line = self.firmware.ftl.home(lpn).map_or(0, |die| die.0);
        let buffer = &mut self.buffered().buffer;
        let Some(put) = buffer.put(lpn, &bytes, extent.request_pages, line) else { return false };
        if fua {
            buffer.wait(put.entry, id);
            buffer.hurry(put.entry);
            self.hurry_rows();
        }
        let active = &mut self.requests[id.idx()];
        active.planned += 1;
        active.remaining += u32::from(fua);
        self.flash.accounts.buffered.written += 1;
        self.flash.accounts.buffered.coalesced += u64::from(put.coalesced);
        self.flash.accounts.written.host_units += 1;
        self.flash.accounts.written.host_bytes += bytes.len() as u64;
        self.flash.accounts.buffer(now, &BufferEvent::Write(id, put.entry, lpn, bytes.clone()));
        if self.services.journal.is_some() {
            self.journal_unit(id, put.entry, lpn, &bytes, now);
        }
        true
    }

    /// Appends what a write brings to a unit to the journal. The write waits for it.
    fn journal_unit(&mut self, id: RequestId, entry: EntryId, owner: Lpn, bytes: &Bytes, now: Nanos) {
        let parts = self.buffered().buffer.parts(bytes);
        let active = &mut self.requests[id.idx()];
        active.remaining += 1;
        let (request_pages, forced) = (active.pages, active.request.fua);
        let content = JournalRecord { number: 0, owner, held: parts.held, request_pages };
        let sector = SECTOR_BYTES as u32;
        let sectors = bytes.end.div_ceil(sector) - bytes.start / sector;
        if let Some(journal) = &mut self.services.journal {
            journal.append(Appended { entry, request: id, content, parts, sectors, forced }, now);
        }
    }

    /// There is room again.
    fn enter_waiting(&mut self, cx: &mut Cx) {
        while let Some(&id) = self.buffered().waiting.front() {
            if !self.enter(id, cx) {
                return;
            }
            self.buffered().waiting.pop_front();
        }
    }

    // ---------------------------------------------------------------- trims, flushes

    /// Units that are trimmed wholly leave the buffer.
    fn trim_buffered(&mut self, id: RequestId, cx: &mut Cx) {
        let extent = self.requests[id.idx()].extent(&self.geometry);
        let mut released = std::mem::take(&mut self.buffered().released);
        for i in (0..extent.pages).filter(|&i| !extent.is_partial(i)) {
            let lpn = Lpn(extent.first.0 + i);
            let dropped = self.buffered().buffer.trim(lpn, &mut released);
            self.flash.accounts.buffered.trimmed += u64::from(dropped.is_some());
            if let (Some(entry), Some(journal)) = (dropped, &mut self.services.journal) {
                journal.entry_left(entry, &mut released);
            }
            self.flash.accounts.buffer(cx.now(), &BufferEvent::Trim(lpn));
        }
        self.entries_left(released, cx);
    }

    /// A flush waits for every entry that is there, unless they outlive a power cut.
    fn flush_buffer(&mut self, id: RequestId, cx: &mut Cx) {
        let buffered = self.buffered();
        if buffered.is_protected {
            self.wait_for_services(id);
            return self.complete_if_done(id, cx);
        }
        buffered.forced_before = buffered.forced_before.max(buffered.buffer.made());
        let mut entries = 0;
        for entry in buffered.buffer.occupants() {
            buffered.buffer.wait(entry, id);
            entries += 1;
        }
        self.requests[id.idx()].remaining = entries;
        self.wait_for_services(id);
        self.buffer_changed = true;
        self.complete_if_done(id, cx);
    }

    // ---------------------------------------------------------------- destaging

    /// Called after all events and requests of an instant: destages the entries that must leave, and sets the timer of an idle
    /// drive.
    #[inline(never)]
    pub(super) fn settle_buffer(&mut self, cx: &mut Cx) {
        self.buffer_changed = false;
        while let Some(batch) = self.buffered().next_batch() {
            self.destage(batch, cx.now());
        }
        self.set_idle_timer(cx);
    }

    /// Sets the timer of an idle drive if no request is in the drive and an entry waits in the buffer; cancels it otherwise.
    fn set_idle_timer(&mut self, cx: &mut Cx) {
        let is_quiet = self.flash.accounts.outstanding() == 0 && !self.draining;
        let (now, seat) = (cx.now(), self.seats.idle);
        let buffered = self.buffered();
        let done = buffered.requests_done;
        let has_work = || buffered.buffer.oldest_dirty().is_some_and(|age| age >= buffered.forced_before);
        let since = (is_quiet && has_work()).then_some(done);
        if since == std::mem::replace(&mut buffered.idle_since, since) {
            return;
        }
        let at = now.saturating_add(buffered.idle_ns);
        if since.is_some() && at <= cx.agenda.horizon() {
            cx.agenda.reset(seat, at);
        } else {
            cx.agenda.cancel(seat);
        }
    }

    /// The drive has been idle for long enough: everything in the buffer goes to flash.
    pub(super) fn idle(&mut self) {
        let buffered = self.buffered();
        buffered.idle_since = None;
        buffered.forced_before = buffered.forced_before.max(buffered.buffer.made());
        self.buffer_changed = true;
    }

    /// The measured window is over: from now on everything goes to flash at once.
    pub(super) fn drain_buffer(&mut self) {
        if let Some(buffered) = &mut self.buffered {
            buffered.forced_before = u64::MAX;
            self.buffer_changed = true;
        }
    }

    /// A block has been erased: there may be room on flash.
    #[inline(never)]
    pub(super) fn allow_destaging(&mut self) {
        if let Some(buffered) = &mut self.buffered
            && buffered.has_no_room()
        {
            buffered.lines.iter_mut().for_each(|line| line.no_space = false);
            self.buffer_changed = true;
        }
    }

    fn destage(&mut self, batch: u32, now: Nanos) {
        self.buffered().find_extents(batch);
        let extents = std::mem::take(&mut self.buffered().extents);
        let found = self.firmware.write_together(&extents, &self.flash.array);
        self.buffered().extents = extents;
        self.buffered().keep_back(batch, found);
        self.take_destage_plan(batch, now);
    }

    fn take_destage_plan(&mut self, batch: u32, now: Nanos) {
        let Some(buffered) = &mut self.buffered else { unreachable!("{NO_BUFFER}") };
        let (id, at) = (RequestId(buffered.first_id + batch), batch);
        let batch = &mut buffered.batches[at as usize];
        self.flash.accounts.written.destaged_units += batch.entries.len() as u64;
        self.flash.accounts.planned(now, Purpose::Destage(&batch.entries), &self.firmware);
        find_programs(batch, &buffered.buffer, &self.firmware, &self.geometry);
        batch.remaining = self.controller.admit(id, &self.firmware, &mut self.flash);
        if batch.remaining == 0 {
            debug_assert!(batch.entries.is_empty(), "entries that found room are programmed");
            buffered.free_batch(at);
        }
    }

    /// An operation has ended that belongs to no request of the host: one of a batch, or background work.
    #[inline(always)]
    pub(super) fn unowned_op_ended(&mut self, ended: EndedOp, cx: &mut Cx) {
        if ended.request.as_background().is_some() {
            return; // the most frequent case
        }
        if P::CAN_BE_CUT && ended.request == RequestId::RECOVERY {
            cold_path();
            self.recovery_op_ended();
        } else if !self.service_op_ended(ended, cx) {
            self.batch_op_ended(ended.request, ended.number, cx);
        }
    }

    /// Entries whose program has ended are on flash, even if the batch has other operations left; entries without a
    /// program of their own are on flash when the whole batch has ended.
    #[inline(never)]
    fn batch_op_ended(&mut self, id: RequestId, number: PlanNumber, cx: &mut Cx) {
        let buffered = self.buffered();
        let at = id.0 - buffered.first_id;
        let batch = &mut buffered.batches[at as usize];
        batch.remaining -= 1;
        let is_done = batch.remaining == 0;
        let (mut released, mut entries) = (std::mem::take(&mut buffered.released), std::mem::take(&mut batch.entries));
        let mut programs = std::mem::take(&mut batch.programs);
        let mut left = 0;
        for at in 0..entries.len() {
            let (entry, program) = (entries[at], programs[at]);
            if !is_done && program != number {
                (entries[left], programs[left]) = (entry, program);
                left += 1;
                continue;
            }
            self.buffered().entry_left(entry);
            self.buffered().buffer.programmed(entry, &mut released);
            if let Some(journal) = &mut self.services.journal {
                journal.entry_left(entry, &mut released);
            }
            self.flash.accounts.buffer(cx.now(), &BufferEvent::Programmed(entry));
            self.flash.accounts.buffered.destaged += 1;
        }
        entries.truncate(left);
        programs.truncate(left);
        let buffered = self.buffered();
        let batch = &mut buffered.batches[at as usize];
        (batch.entries, batch.programs) = (entries, programs);
        if is_done {
            buffered.free_batch(at);
        }
        self.entries_left(released, cx);
    }

    /// Entries have left the buffer: `released` waited for them, and there is room.
    fn entries_left(&mut self, mut released: Vec<RequestId>, cx: &mut Cx) {
        self.buffer_changed = true;
        for id in released.drain(..) {
            self.requests[id.idx()].remaining -= 1;
            self.complete_if_done(id, cx);
        }
        self.buffered().released = released;
        self.enter_waiting(cx);
    }
}

/// Finds the program of each entry of a batch that has just been planned. None for an entry that a later operation of the plan
/// moves on: it has the number of no operation, and waits for all of them.
fn find_programs(batch: &mut Batch, buffer: &WriteBuffer, firmware: &Firmware, geometry: &Geometry) {
    const NONE: PlanNumber = PlanNumber(u64::MAX);
    let ops = firmware.plan.ops();
    let mut at = 0;
    batch.programs.clear();
    for &entry in &batch.entries {
        let page = firmware.ftl.lookup(buffer.content(entry).lpn).map(|ppn| geometry.page_of(ppn));
        let programs = |&at: &usize| {
            ops[at].kind == OpKind::Program
                && ops[at].cause == Cause::Host
                && Some(geometry.page_of(ops[at].ppn)) == page
        };
        let found = (at..ops.len()).chain(0..at).find(programs);
        at = found.unwrap_or(at);
        batch.programs.push(found.map_or(NONE, |op| firmware.plan.number(PlanIndex(op as u32))));
    }
}

/// Adds the `i`-th page of an extent to the runs of its pages that are read from flash.
fn add_to_runs(runs: &mut Vec<Extent>, extent: Extent, i: u32) {
    let first = Lpn(extent.first.0 + i);
    let head_partial = extent.head_partial && i == 0;
    let tail_partial = extent.tail_partial && i + 1 == extent.pages;
    match runs.last_mut().filter(|run| run.first.0 + run.pages == first.0) {
        Some(run) => (run.pages, run.tail_partial) = (run.pages + 1, tail_partial),
        None => runs.push(Extent { first, pages: 1, head_partial, tail_partial, ..extent }),
    }
}
