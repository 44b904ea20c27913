//! A request's way through the drive: admitted, planned, completed.

use std::hint::cold_path;
use std::slice;

use super::Ssd;
use crate::controller::EndedOp;
use crate::nand::Geometry;
use crate::observe::probe::{Probe, Purpose, RequestRecord};
use crate::operation::OpKind;
use flashwatt_base::units::{Lpn, Nanos, RequestId};
use flashwatt_core::connector::{Completion, Cx, Extent, Request, RequestKind, Tag};

/// A request inside the device.
#[derive(Clone, Copy)]
pub(super) struct Active {
    pub(super) request: Request,
    pub(super) admitted_ns: Nanos,
    /// Logical pages that it covers.
    pub(super) pages: u32,
    /// Of a write, the logical pages that are planned already.
    pub(super) planned: u32,
    /// Operations and link transfers that have still to end.
    pub(super) remaining: u32,
    pub(super) map_accesses: u32,
}

impl<P: Probe> Ssd<P> {
    /// Admits a request: it crosses the host link and passes the firmware, if these take time, and is planned then.
    #[inline(always)]
    pub(super) fn admit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        let id = RequestId(tag.0);
        let now = cx.now();
        let bytes = request.interface_bytes();
        self.flash.accounts.request_admitted(now, bytes);
        let extent = self.geometry.extent(request);
        self.requests[id.idx()] = Active {
            request: *request,
            admitted_ns: now,
            pages: extent.pages,
            planned: 0,
            remaining: 0,
            map_accesses: 0,
        };
        self.buffer_changed = self.buffered.is_some();
        self.services.request_came();
        if self.plans_at_once {
            self.plan(id, request.kind, &extent, cx);
        } else if self.link.is_instant() {
            cold_path();
            self.arrived(id, cx);
        } else {
            cold_path();
            let bytes_in = if request.kind == RequestKind::Write { bytes } else { 0 };
            let at = self.link.send_in(now, bytes_in, id);
            set_link(self.seats.link_in, at, cx);
        }
    }

    /// Plans a request that has arrived in the device.
    #[inline(always)]
    pub(super) fn plan(&mut self, id: RequestId, kind: RequestKind, extent: &Extent, cx: &mut Cx) {
        if P::CAN_BE_CUT && self.is_recovering(id) {
            return;
        }
        if self.buffered.is_some() {
            cold_path();
            return self.plan_buffered(id, cx);
        }
        match kind {
            RequestKind::Write if !self.stalled.is_empty() => {
                cold_path();
                self.stalled.push_back(id);
            }
            RequestKind::Flush => {
                cold_path();
                self.wait_for_services(id);
                self.complete_if_done(id, cx); // a write without a buffer is on flash when it completes
            }
            _ => self.plan_extent(id, kind, extent, cx),
        }
    }

    /// Plans a request, or the rest of a write. If only a part of a write finds room, its rest goes to the front of `stalled`, and
    /// later writes queue behind it.
    #[inline(always)]
    fn plan_extent(&mut self, id: RequestId, kind: RequestKind, extent: &Extent, cx: &mut Cx) {
        let mut written = 0;
        match kind {
            RequestKind::Read => {
                self.firmware.read(extent, &self.flash.array);
                if let Some(unit) = self.partial_unit {
                    cold_path();
                    self.want_parts(id, slice::from_ref(extent), unit);
                }
            }
            RequestKind::Write => written = self.firmware.write(extent, &self.flash.array),
            _ => {
                self.tell_services_of_trim(*extent);
                self.firmware.trim(extent, &self.flash.array);
            }
        }
        let purpose = match kind {
            RequestKind::Read => Purpose::Read(slice::from_ref(extent)),
            RequestKind::Write => {
                let tail_partial = extent.tail_partial && written == extent.pages;
                Purpose::Write(id, Extent { pages: written, tail_partial, ..*extent })
            }
            _ => Purpose::Trim(id, *extent),
        };
        let operations = self.take_plan(id, purpose, cx.now());
        if kind == RequestKind::Write {
            if self.requests[id.idx()].request.fua {
                cold_path();
                self.hurry_rows();
            }
            self.flash.accounts.written.host_units += u64::from(written);
            let active = &mut self.requests[id.idx()];
            active.planned += written;
            if written == active.pages {
                self.flash.accounts.written.host_bytes += active.request.bytes;
            } else {
                cold_path();
                self.planned_in_part(id, Extent { pages: written, ..*extent });
            }
        } else if operations == 0 || !self.link.is_instant() {
            // No operation will end it, or the link must send data that is there already.
            cold_path();
            if kind == RequestKind::Read && !self.link.is_instant() {
                self.begin_sending(id, slice::from_ref(extent), 0, cx);
            }
            self.complete_if_done(id, cx);
        }
    }

    /// Someone waits for data in rows that wait for pages.
    pub(super) fn hurry_rows(&mut self) {
        if let Some(rows) = &mut self.services.rows {
            rows.hurry();
        }
    }

    /// Accounts for the units of a write that were planned now. The rest, if any, stalls.
    fn planned_in_part(&mut self, id: RequestId, extent: Extent) {
        let active = &self.requests[id.idx()];
        self.flash.accounts.written.host_bytes += self.geometry.bytes_within(&active.request, extent);
        if active.planned < active.pages {
            self.stalled.push_front(id);
        }
    }

    /// Gives the plan of a request to the controller and the probe. Returns the number of its operations.
    #[inline(always)]
    pub(super) fn take_plan(&mut self, id: RequestId, purpose: Purpose, now: Nanos) -> u32 {
        self.flash.accounts.planned(now, purpose, &self.firmware);
        let operations = self.controller.admit(id, &self.firmware, &mut self.flash);
        let active = &mut self.requests[id.idx()];
        active.remaining += operations;
        active.map_accesses += self.firmware.plan.map_accesses;
        operations
    }

    /// Plans the rest of a write.
    #[inline(never)]
    fn plan_rest(&mut self, id: RequestId, cx: &mut Cx) {
        let rest = self.requests[id.idx()].rest(&self.geometry);
        self.plan_extent(id, RequestKind::Write, &rest, cx);
    }

    /// A block has been erased: writes that wait may find room.
    pub(super) fn erased(&mut self, cx: &mut Cx) {
        self.allow_destaging();
        self.services.erased();
        while let Some(id) = self.stalled.pop_front() {
            self.plan_rest(id, cx);
            if self.stalled.front() == Some(&id) {
                return; // it stalled again: there is no room
            }
        }
    }

    /// An operation has ended. If it was the last of its request, the request completes, or its data goes to the host link.
    #[inline(always)]
    pub(super) fn op_ended(&mut self, ended: EndedOp, cx: &mut Cx) {
        if ended.kind == OpKind::Erase {
            cold_path();
            self.flash.accounts.erased();
            self.erased(cx);
        }
        if ended.request.idx() >= self.requests.len() {
            return self.unowned_op_ended(ended, cx);
        }
        let active = &self.requests[ended.request.idx()];
        if !self.link.is_instant() && active.request.kind == RequestKind::Read {
            cold_path();
            if self.send_share(ended.request, ended.number, cx) {
                return; // the request waits for the data to cross the link
            }
        }
        let active = &mut self.requests[ended.request.idx()];
        active.remaining -= 1;
        if active.is_done() {
            self.complete(ended.request, cx);
        }
    }

    /// Completes a request if nothing is left to be done for it. Not for the hot path.
    #[inline(never)]
    pub(super) fn complete_if_done(&mut self, id: RequestId, cx: &mut Cx) {
        if self.requests[id.idx()].is_done() {
            self.complete(id, cx);
        }
    }

    #[inline(always)]
    fn complete(&mut self, id: RequestId, cx: &mut Cx) {
        let (now, active) = (cx.now(), &self.requests[id.idx()]);
        self.flash.accounts.request_left(now, &active.request);
        self.flash.accounts.probe.request_ended(&RequestRecord {
            id,
            fua: active.request.fua,
            kind: active.request.kind,
            admitted_ns: active.admitted_ns,
            end_ns: now,
            map_accesses: active.map_accesses,
            bytes: active.request.interface_bytes(),
        });
        cx.done.push(Completion::done(Tag(id.0)));
        if let Some(buffered) = &mut self.buffered {
            cold_path();
            buffered.requests_done += 1;
            self.buffer_changed = true;
        }
    }
}

/// Moves the event of one direction of the host link to `at`; `None` leaves it as it is.
pub(super) fn set_link(seat: u32, at: Option<Nanos>, cx: &mut Cx) {
    if let Some(at) = at {
        cx.agenda.reset(seat, at);
    }
}

impl Active {
    pub(super) fn none() -> Self {
        let request = Request::new(0, RequestKind::Flush, 0, 0);
        Active { request, admitted_ns: 0, pages: 0, planned: 0, remaining: 0, map_accesses: 0 }
    }

    #[inline(always)]
    pub(super) fn extent(&self, geometry: &Geometry) -> Extent {
        geometry.extent(&self.request)
    }

    /// Is nothing left to be done?
    #[inline(always)]
    fn is_done(&self) -> bool {
        self.remaining == 0 && (self.request.kind != RequestKind::Write || self.planned == self.pages)
    }

    /// The part that is not planned yet.
    fn rest(&self, geometry: &Geometry) -> Extent {
        let extent = self.extent(geometry);
        Extent {
            first: Lpn(extent.first.0 + self.planned),
            pages: extent.pages - self.planned,
            head_partial: extent.head_partial && self.planned == 0,
            ..extent
        }
    }
}
