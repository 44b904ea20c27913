//! The host's memory, where the cached part of the map may lie (the Host Memory Buffer of NVMe).
//!
//! A request that needs an entry of the map before its flash operations can begin, a read or a write of a part of a page, looks it up
//! there before it is planned. Its lines cross the host link inward, behind what is on its way already, and the round trip takes a time
//! that is the same for all look-ups, for any number of them at once. So look-ups end in the order in which they begin.
//!
//! All other lines are *posted*: entries that change or are fetched, and those that are read for a write of their translation page. They
//! cross the link, and nobody waits for them.

use std::collections::VecDeque;

use super::service::Service;
use super::settings::Settings;
use super::{NO_SEAT, Ssd};
use crate::controller::EndedOp;
use crate::firmware::Firmware;
use crate::nand::Geometry;
use crate::nand::settings;
use crate::observe::probe::Probe;
use flashwatt_base::units::{Lpn, Nanos, RequestId};
use flashwatt_core::connector::{Cx, Extent, RequestKind};

/// The cached part of the map in the host's memory.
pub(super) struct HostMemory {
    settings: settings::HostMemory,
    /// Entries of a line; 0 if lines take no time and are not counted.
    entries_per_line: u32,
    /// The requests that look entries up: when each of them is planned, and its lines.
    looking_up: VecDeque<(Nanos, RequestId, u32)>,
    /// Lines of requests that are planned in this instant: they have crossed the link already.
    crossed: u32,
    seat: u32,
}

impl HostMemory {
    /// Entries of a line.
    pub fn entries_per_line(&self) -> u32 {
        self.entries_per_line
    }

    /// Lines that hold the entries of an extent.
    fn lines(&self, extent: &Extent) -> u32 {
        let line = |lpn: Lpn| lpn.0.checked_div(self.entries_per_line);
        let last = Lpn(extent.first.0 + extent.pages - 1);
        line(last).zip(line(extent.first)).map_or(0, |(last, first)| last - first + 1)
    }
}

impl Service for HostMemory {
    const REQUEST: RequestId = RequestId::HOST_MEMORY;

    fn of_drive(settings: &Settings, firmware: &Firmware, geometry: &Geometry) -> Option<Self> {
        let (own, map) = settings.device.host_memory.clone().zip(firmware.ftl.map_on_flash())?;
        let in_line = u64::from(own.line_bytes) * u64::from(map.entries_per_page) / u64::from(geometry.page_bytes());
        let entries_per_line = if own.line_bytes > 0 { in_line.max(1) as u32 } else { 0 };
        Some(HostMemory { settings: own, entries_per_line, looking_up: VecDeque::new(), crossed: 0, seat: NO_SEAT })
    }

    fn seat(&mut self) -> Option<&mut u32> {
        Some(&mut self.seat)
    }

    /// The oldest look-up has ended.
    fn event<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        let Some((_, id, lines)) = self.looking_up.pop_front() else { return };
        if let Some(&(at, ..)) = self.looking_up.front() {
            cx.agenda.reset(self.seat, at);
        }
        self.crossed += lines;
        drive.plan_now(id, cx);
    }

    fn op_ended<P: Probe>(&mut self, _ended: EndedOp, _drive: &mut Ssd<P>, _cx: &mut Cx) {}

    /// Posted lines go onto the link.
    fn settle<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        let [read, written] = drive.flash.accounts.take_moved_lines();
        let posted = read.saturating_sub(u64::from(std::mem::take(&mut self.crossed)));
        let bytes = u64::from(self.settings.line_bytes);
        drive.link.carry_in(cx.now(), posted * bytes);
        drive.link.carry_out(cx.now(), written * bytes);
    }
}

impl<P: Probe> Ssd<P> {
    /// Begins the look-up that a request needs before it can be planned. Returns false if it needs none.
    #[inline(never)]
    pub(super) fn look_up(&mut self, id: RequestId, kind: RequestKind, cx: &mut Cx) -> bool {
        let extent = self.requests[id.idx()].extent(&self.geometry);
        let needs_entries = match kind {
            RequestKind::Read => !self.is_buffered(id, &extent),
            RequestKind::Write => self.buffered.is_none() && (extent.head_partial || extent.tail_partial),
            RequestKind::Trim | RequestKind::Flush => false,
        };
        let Some(memory) = self.services.host_memory.as_mut().filter(|_| needs_entries && extent.pages > 0) else {
            return false;
        };
        let lines = memory.lines(&extent);
        let there = self.link.carry_in(cx.now(), u64::from(lines) * u64::from(memory.settings.line_bytes));
        let at = there.saturating_add(memory.settings.read_ns);
        memory.looking_up.push_back((at, id, lines));
        if memory.looking_up.len() == 1 {
            cx.agenda.reset(memory.seat, at);
        }
        true
    }

    /// Whether the write buffer holds all that a read asks for.
    fn is_buffered(&self, id: RequestId, extent: &Extent) -> bool {
        let Some(buffered) = &self.buffered else { return false };
        let request = &self.requests[id.idx()].request;
        let is_held = |lpn| buffered.buffer.holding(lpn, &self.geometry.bytes_in(request, lpn)).is_some();
        extent.lpns().all(is_held)
    }
}
