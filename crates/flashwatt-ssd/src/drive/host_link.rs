//! Data of reads on its way out to the host, over a link that takes time.
//!
//! Only the data that the host asked for crosses the link, from flash or buffer: the requested part of each page, when the flash
//! operation that reads the page has ended; what the write buffer holds, and zeros for units that hold nothing, as soon as
//! the request is planned. Zeros wait for the plan's first read of the map if there is one: before it the drive does not know
//! that the unit holds nothing.

use super::Ssd;
use super::requests::set_link;
use crate::firmware::Firmware;
use crate::ftl::{PlanIndex, PlanNumber, PlannedOp};
use crate::nand::Geometry;
use crate::observe::probe::Probe;
use crate::operation::{Cause, OpKind};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{Ppn, RequestId};
use flashwatt_core::connector::{Cx, Extent, Request};

/// For each request inside the device: bytes that cross the link when one of its flash operations ends.
pub(super) struct LinkShares(FlatTable<LinkShare>);

/// The bytes of one request, by operation of its plan.
#[derive(Clone)]
struct LinkShare {
    first: PlanNumber,
    bytes: Vec<u32>,
}

impl LinkShares {
    /// For this number of requests.
    pub fn new(requests: u32) -> Self {
        LinkShares(vec![LinkShare { first: PlanNumber(0), bytes: Vec::new() }; requests as usize].into())
    }

    /// Divides a read that has just been planned among the plan's operations. `runs` are the units that do not come from the
    /// write buffer. Returns the bytes that can leave at once.
    fn divide(
        &mut self,
        id: RequestId,
        request: &Request,
        runs: &[Extent],
        firmware: &Firmware,
        geometry: &Geometry,
    ) -> u64 {
        let ops = firmware.plan.ops();
        let share = &mut self.0[id.idx()];
        share.first = firmware.plan.number(PlanIndex(0));
        share.bytes.clear();
        share.bytes.resize(ops.len(), 0);
        let (mut zeros, mut at) = (0, 0);
        for lpn in runs.iter().flat_map(Extent::lpns) {
            let part = geometry.bytes_in(request, lpn).len() as u32;
            match firmware.ftl.lookup(lpn).and_then(|ppn| reader(ops, at, ppn, geometry)) {
                Some(op) => (at, share.bytes[op]) = (op, share.bytes[op] + part),
                None => zeros += part,
            }
        }
        match ops.iter().position(|op| op.kind == OpKind::Read && op.cause == Cause::Map) {
            Some(map_read) => share.bytes[map_read] += zeros,
            None => return u64::from(zeros),
        }
        0
    }

    /// The bytes that an operation of a request brings.
    fn of(&self, id: RequestId, operation: PlanNumber) -> u64 {
        let share = &self.0[id.idx()];
        u64::from(share.bytes[(operation.0 - share.first.0) as usize])
    }
}

/// The operation that reads the physical page of an address for the host: the one at `from`, most often, or the next.
pub(super) fn reader(ops: &[PlannedOp], from: usize, ppn: Ppn, geometry: &Geometry) -> Option<usize> {
    let page = geometry.page_of(ppn);
    let reads = |&at: &usize| {
        ops[at].kind == OpKind::Read && ops[at].cause == Cause::Host && geometry.page_of(ops[at].ppn) == page
    };
    (from..ops.len()).chain(0..from).find(reads)
}

impl<P: Probe> Ssd<P> {
    /// A read has been planned: sends what can leave at once. `buffered_bytes` come from the write buffer, `runs` from flash.
    #[inline(never)]
    pub(super) fn begin_sending(&mut self, id: RequestId, runs: &[Extent], buffered_bytes: u64, cx: &mut Cx) {
        let request = self.requests[id.idx()].request;
        let zeros = self.shares.divide(id, &request, runs, &self.firmware, &self.geometry);
        if buffered_bytes + zeros > 0 {
            self.requests[id.idx()].remaining += 1;
            self.send(id, buffered_bytes + zeros, cx);
        }
    }

    /// An operation of a read has ended. Returns whether it brought data, which is on its way now.
    #[inline(never)]
    pub(super) fn send_share(&mut self, id: RequestId, operation: PlanNumber, cx: &mut Cx) -> bool {
        let bytes = self.shares.of(id, operation);
        if bytes > 0 {
            self.send(id, bytes, cx);
        }
        bytes > 0
    }

    fn send(&mut self, id: RequestId, bytes: u64, cx: &mut Cx) {
        let at = self.link.send_out(cx.now(), bytes, id);
        set_link(self.seats.link_out, at, cx);
    }

    pub(super) fn link_event(&mut self, seat: u32, cx: &mut Cx) {
        if seat == self.seats.link_in {
            let (id, next) = self.link.arrived_in();
            set_link(seat, next, cx);
            self.arrived(id, cx);
        } else {
            let (id, next) = self.link.arrived_out();
            set_link(seat, next, cx);
            self.requests[id.idx()].remaining -= 1;
            self.complete_if_done(id, cx);
        }
    }
}
