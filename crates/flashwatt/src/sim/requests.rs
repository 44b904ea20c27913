//! A request's way: asked for, planned, completed.

use std::hint::cold_path;

use super::Sim;
use crate::controller::Ended;
use crate::device::Geometry;
use crate::error::Error;
use crate::ftl::{Extent, OpKind};
use crate::host::{Request, RequestKind};
use crate::probe::{Probe, Purpose, RequestRecord};
use crate::units::{Lpn, Nanos, RequestId};
use crate::workload::Next;

/// A request inside the device.
#[derive(Clone, Copy)]
pub(super) struct Active {
    pub(super) request: Request,
    pub(super) admitted_ns: Nanos,
    /// Logical pages that it covers …
    pub(super) pages: u32,
    /// … and those of them that are planned, if it is a write.
    pub(super) planned: u32,
    /// Operations, or transfers over the host link, that it waits for.
    pub(super) remaining: u32,
    pub(super) map_accesses: u32,
}

impl<P: Probe> Sim<'_, P> {
    /// Takes what the host has, while the device has room.
    #[inline(always)]
    pub(super) fn ask_host(&mut self) -> Result<(), Error> {
        self.ask_host = false;
        while !self.free.is_empty() && !self.host_ended {
            match self.workload.next(self.now) {
                Ok(Next::Request(ref request)) => {
                    self.prefetch();
                    self.admit(request);
                }
                Ok(Next::WaitUntil(at)) => {
                    self.set_arrival(at)?;
                    break;
                }
                Ok(Next::WaitForCompletion) => break,
                Err(error) => return Err(error),
                Ok(Next::End) => {
                    cold_path();
                    self.host_ended = true;
                    if self.free.len() == self.requests.len() {
                        self.request_ends_stage(); // the last request has completed before this was known
                    }
                }
            }
        }
        if self.buffered.is_some() {
            cold_path();
            self.tend_buffer();
        }
        Ok(())
    }

    /// Fetches what requests to come will touch.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        if let Some(upcoming) = self.workload.upcoming() {
            let far = self.geometry.lpn_of_byte(upcoming.far_bytes);
            let near = self.geometry.lpn_of_byte(upcoming.near_bytes);
            self.brain.ftl.prefetch(far, near, &self.brain.blocks, &self.hw.array);
        }
    }

    pub(super) fn set_arrival(&mut self, at: Nanos) -> Result<(), Error> {
        if at > self.controller.events.horizon() {
            return Err(self.beyond_time("workload", at));
        }
        self.controller.events.reset(self.events.arrival, at);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn admit(&mut self, request: &Request) {
        let Some(id) = self.free.pop() else { unreachable!("the host is asked only while there is room") };
        self.requests_taken += 1;
        let bytes = request.interface_bytes();
        self.hw.books.request_admitted(self.now, bytes);
        let extent = self.geometry.extent(request);
        self.requests[id.idx()] = Active {
            request: *request,
            admitted_ns: self.now,
            pages: extent.pages,
            planned: 0,
            remaining: 0,
            map_accesses: 0,
        };
        if self.link.is_instant() {
            self.plan(id, request.kind, extent);
        } else {
            cold_path();
            let bytes_in = if request.kind == RequestKind::Write { bytes } else { 0 };
            let at = self.link.send_in(self.now, bytes_in, id);
            self.set_link(self.events.link_in, at);
        }
    }

    /// Plans a request that has arrived in the device.
    #[inline(always)]
    pub(super) fn plan(&mut self, id: RequestId, kind: RequestKind, extent: Extent) {
        if self.buffered.is_some() {
            cold_path();
            return self.plan_buffered(id);
        }
        match kind {
            RequestKind::Write if !self.stalled.is_empty() => {
                cold_path();
                self.stalled.push_back(id);
            }
            RequestKind::Flush => {
                cold_path();
                self.complete_if_done(id); // a write without a buffer is on flash when it completes
            }
            _ => self.plan_extent(id, kind, extent),
        }
    }

    /// Plans a request, or what is left of a write. If not all of a write finds room the rest waits, and later writes behind it.
    #[inline(always)]
    fn plan_extent(&mut self, id: RequestId, kind: RequestKind, extent: Extent) {
        let mut written = 0;
        match kind {
            RequestKind::Read => self.brain.read(extent, &self.hw.array),
            RequestKind::Write => written = self.brain.write(extent, &self.hw.array),
            _ => self.brain.trim(extent, &self.hw.array),
        }
        let purpose = match kind {
            RequestKind::Read => Purpose::Read(&[extent]),
            RequestKind::Write => {
                let tail_partial = extent.tail_partial && written == extent.pages;
                Purpose::Write(Extent { pages: written, tail_partial, ..extent })
            }
            _ => Purpose::Trim(extent),
        };
        let operations = self.take_plan(id, purpose);
        if kind == RequestKind::Write {
            self.hw.books.written.host_units += u64::from(written);
            let active = &mut self.requests[id.idx()];
            active.planned += written;
            if written == active.pages {
                self.hw.books.written.host_bytes += active.request.bytes;
            } else {
                cold_path();
                self.planned_in_part(id, Extent { pages: written, ..extent });
            }
        } else if operations == 0 || !self.link.is_instant() {
            cold_path();
            if kind == RequestKind::Read && !self.link.is_instant() {
                self.begin_sending(id, &[extent], 0);
            }
            self.complete_if_done(id);
        }
    }

    /// Only these units of a write were planned: what is left of it, if anything is, waits.
    fn planned_in_part(&mut self, id: RequestId, extent: Extent) {
        let active = &self.requests[id.idx()];
        self.hw.books.written.host_bytes += self.geometry.bytes_within(&active.request, extent);
        if active.planned < active.pages {
            self.stalled.push_front(id);
        }
    }

    /// Tells the controller, and whoever watches, what has been planned for a request. Returns how many operations those are.
    #[inline(always)]
    pub(super) fn take_plan(&mut self, id: RequestId, purpose: Purpose) -> u32 {
        self.hw.books.planned(self.now, &self.brain.plan);
        self.hw.books.probe.planned(purpose, &self.brain);
        let operations = self.controller.admit(id, &self.brain, &mut self.hw);
        let active = &mut self.requests[id.idx()];
        active.remaining += operations;
        active.map_accesses += self.brain.plan.map_accesses;
        operations
    }

    /// Plans what is left of a write.
    #[inline(never)]
    fn plan_rest(&mut self, id: RequestId) {
        let rest = self.requests[id.idx()].rest(&self.geometry);
        self.plan_extent(id, RequestKind::Write, rest);
    }

    /// A block has been erased: writes that wait may find room.
    pub(super) fn erased(&mut self) {
        self.let_destage();
        while let Some(id) = self.stalled.pop_front() {
            self.plan_rest(id);
            if self.stalled.front() == Some(&id) {
                return;
            }
        }
    }

    #[inline(always)]
    pub(super) fn op_ended(&mut self, ended: Ended) {
        if ended.kind == OpKind::Erase {
            cold_path();
            self.erased();
        }
        if ended.request.idx() >= self.requests.len() {
            return self.destage_op_ended(ended); // or background work
        }
        let active = &self.requests[ended.request.idx()];
        if !self.link.is_instant() && active.request.kind == RequestKind::Read {
            cold_path();
            if self.send_share(ended.request, ended.number) {
                return; // the request waits for the data to cross the link
            }
        }
        let active = &mut self.requests[ended.request.idx()];
        active.remaining -= 1;
        if active.is_done() {
            self.complete(ended.request);
        }
    }

    /// Completes a request for which nothing is left to be done, where that is seldom so or does not matter much.
    #[inline(never)]
    pub(super) fn complete_if_done(&mut self, id: RequestId) {
        if self.requests[id.idx()].is_done() {
            self.complete(id);
        }
    }

    #[inline(always)]
    fn complete(&mut self, id: RequestId) {
        let active = &self.requests[id.idx()];
        self.hw.books.request_left(self.now);
        self.hw.books.probe.request_ended(&RequestRecord {
            kind: active.request.kind,
            admitted_ns: active.admitted_ns,
            end_ns: self.now,
            map_accesses: active.map_accesses,
            bytes: active.request.interface_bytes(),
        });
        self.completed.add(&active.request, self.now);
        self.requests_done += 1;
        self.free.push(id);
        self.ask_host = true;
        self.workload.completed(&self.requests[id.idx()].request, self.now);
        self.left_in_stage -= 1;
        if self.left_in_stage == 0 || (self.host_ended && self.free.len() == self.requests.len()) {
            cold_path();
            self.request_ends_stage();
        }
    }
}

impl Active {
    pub(super) fn none() -> Self {
        let request = Request { arrival_ns: 0, kind: RequestKind::Flush, offset_bytes: 0, bytes: 0, fua: false };
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

    /// What is not planned yet.
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
