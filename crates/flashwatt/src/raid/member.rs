//! One drive of an array: its requests, and those that wait until it has room.

use std::collections::VecDeque;
use std::hint::cold_path;

use super::layout::Piece;
use crate::connector::{Cx, Device, Request, RequestKind, Seats, Tag};
use crate::stats::Histogram;
use crate::units::Nanos;

/// On whose behalf a drive has a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A request of the host, by its tag.
    Host(Tag),
    /// The reads or the writes of a row, by the number of its job.
    Job(u32),
}

/// A request to one drive.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// On whose behalf.
    pub owner: Owner,
    /// When it was given to the drive or to its queue, in ns.
    pub since_ns: Nanos,
    /// What the drive receives.
    pub request: Request,
}

impl Order {
    /// The part of a host's request for one drive.
    pub fn new(owner: Owner, now: Nanos, like: &Request, kind: RequestKind, piece: Piece) -> Self {
        let Piece { offset_bytes, bytes, .. } = piece;
        Order { owner, since_ns: now, request: Request { arrival_ns: now, kind, offset_bytes, bytes, ..*like } }
    }
}

/// One drive.
pub struct Member<D> {
    /// The drive.
    pub device: D,
    /// Its seats: from the first to before the second.
    seats: (u32, u32),
    /// Requests in the drive, by the tags that it knows.
    inside: Box<[Option<Order>]>,
    free: Vec<Tag>,
    waiting: VecDeque<Order>,
    /// Time up to which the drive's time is booked.
    booked_ns: Nanos,
    /// Whether the drive is to be settled: something happened in it at this instant, or nothing has been settled yet.
    pub is_touched: bool,
    /// Latencies of its reads and writes in this window, from the order to the end.
    pub latency: [Histogram; 2],
    /// The requests that the drive got, at the times at which it got them, if they are recorded.
    pub received: Option<Vec<Request>>,
}

impl<D: Device> Member<D> {
    /// A drive without requests.
    pub fn new(device: D) -> Self {
        let room = device.room();
        Member {
            seats: (0, 0),
            inside: vec![None; room as usize].into(),
            free: (0..room).rev().map(Tag).collect(),
            waiting: VecDeque::new(),
            booked_ns: 0,
            is_touched: true,
            latency: Default::default(),
            received: None,
            device,
        }
    }

    /// Takes the drive's seats.
    pub fn enrol(&mut self, seats: &mut Seats) {
        let first = seats.take(0, 0);
        self.device.enrol(seats);
        self.seats = (first, seats.take(0, 0));
    }

    /// Whether a seat belongs to the drive.
    pub fn has_seat(&self, seat: u32) -> bool {
        (self.seats.0..self.seats.1).contains(&seat)
    }

    /// Requests in the drive, and those that wait for room in it.
    pub fn outstanding(&self) -> usize {
        self.inside.len() - self.free.len() + self.waiting.len()
    }

    /// Books the drive's time up to `now`: before anything changes in it at this instant.
    #[inline]
    pub fn book(&mut self, now: Nanos) {
        if self.booked_ns < now {
            self.device.pass_time(now);
            self.booked_ns = now;
        }
    }

    /// Gives the drive a request, now or when it has room.
    #[inline]
    pub fn order(&mut self, order: Order, cx: &mut Cx) {
        match self.free.pop() {
            Some(tag) => self.submit(tag, order, cx),
            None => self.waiting.push_back(order),
        }
    }

    #[inline]
    fn submit(&mut self, tag: Tag, order: Order, cx: &mut Cx) {
        self.book(cx.now());
        self.is_touched = true;
        self.inside[tag.0 as usize] = Some(order);
        if let Some(received) = &mut self.received {
            cold_path();
            received.push(Request { arrival_ns: cx.now(), ..order.request });
        }
        self.device.submit(tag, &order.request, cx);
    }

    /// Passes an event on to the drive.
    #[inline]
    pub fn event(&mut self, seat: u32, cx: &mut Cx) {
        self.book(cx.now());
        self.is_touched = true;
        self.device.event(seat, cx);
    }

    /// The order of a request that has ended in the drive; the next one that waits takes its place.
    #[inline]
    pub fn ended(&mut self, tag: Tag, cx: &mut Cx) -> Option<Order> {
        let order = self.inside.get_mut(tag.0 as usize)?.take()?;
        let waited = cx.now() - order.since_ns;
        match order.request.kind {
            RequestKind::Read => self.latency[0].add(waited),
            RequestKind::Write => self.latency[1].add(waited),
            RequestKind::Trim | RequestKind::Flush => {}
        }
        match self.waiting.pop_front() {
            Some(next) => self.submit(tag, next, cx),
            None => self.free.push(tag),
        }
        Some(order)
    }
}
