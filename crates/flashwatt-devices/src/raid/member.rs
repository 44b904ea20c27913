//! One drive of an array: its requests, and those that wait until it has room.

use std::collections::VecDeque;
use std::hint::cold_path;

use super::layout::Piece;
use flashwatt_base::stats::Histogram;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Cx, Device, Request, RequestKind, Tag};

/// On whose behalf a drive has a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOwner {
    /// A request of the host, by its tag.
    Host(Tag),
    /// The reads or the writes of a row, by the number of its job.
    Job(u32),
}

/// A request to one drive.
#[derive(Clone, Copy, Debug)]
pub struct MemberRequest {
    /// On whose behalf.
    pub owner: RequestOwner,
    /// When it was given to the drive or to its queue, in ns.
    pub since_ns: Nanos,
    /// What the drive receives.
    pub request: Request,
}

impl MemberRequest {
    /// The part of a host's request for one drive.
    pub fn new(owner: RequestOwner, now: Nanos, like: &Request, kind: RequestKind, piece: Piece) -> Self {
        let Piece { offset_bytes, bytes, .. } = piece;
        MemberRequest { owner, since_ns: now, request: Request { arrival_ns: now, kind, offset_bytes, bytes, ..*like } }
    }
}

/// What is kept of an order while the drive has its request.
#[derive(Clone, Copy)]
struct Inside {
    owner: RequestOwner,
    since_ns: Nanos,
    kind: RequestKind,
}

/// One drive.
pub struct Member<D> {
    /// The drive.
    pub device: D,
    /// Requests in the drive, by the tags that it knows.
    inside: Box<[Option<Inside>]>,
    free: Vec<Tag>,
    waiting: VecDeque<MemberRequest>,
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

    /// Requests in the drive, and those that wait for room in it.
    pub fn outstanding(&self) -> usize {
        self.inside.len() - self.free.len() + self.waiting.len()
    }

    /// Books the drive's time up to `now`: before anything changes in it at this instant.
    #[inline(always)]
    pub fn book(&mut self, now: Nanos) {
        if self.booked_ns < now {
            self.device.pass_time(now);
            self.booked_ns = now;
        }
    }

    /// Takes a tag for a request, if the drive has room for it.
    #[inline]
    pub fn take_free(&mut self) -> Option<Tag> {
        self.free.pop()
    }

    /// A tag has no request any more.
    #[inline]
    pub fn set_free(&mut self, tag: Tag) {
        self.free.push(tag);
    }

    /// Keeps an order until the drive has room for it.
    pub fn wait(&mut self, order: MemberRequest) {
        self.waiting.push_back(order);
    }

    /// The order that has waited for the longest time.
    #[inline]
    pub fn take_waiting(&mut self) -> Option<MemberRequest> {
        if self.waiting.is_empty() { None } else { self.waiting.pop_front() }
    }

    /// Gives the drive a request. Returns true if requests have ended.
    #[inline(never)] // it is called from several places, and holds the whole of what the drive does with a request
    pub fn submit(&mut self, tag: Tag, order: &MemberRequest, cx: &mut Cx) -> bool {
        self.book(cx.now());
        let &MemberRequest { owner, since_ns, ref request } = order;
        self.inside[tag.0 as usize] = Some(Inside { owner, since_ns, kind: request.kind });
        if let Some(received) = &mut self.received {
            cold_path();
            received.push(Request { arrival_ns: cx.now(), ..*request });
        }
        self.device.submit(tag, request, cx);
        !cx.done.is_empty()
    }

    /// Passes an event on to the drive. Returns true if requests have ended.
    #[inline(always)]
    pub fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        self.book(cx.now());
        self.device.event(seat, cx)
    }

    /// A request has ended in the drive. Returns on whose behalf the drive had it.
    #[inline]
    pub fn ended(&mut self, tag: Tag, now: Nanos) -> Option<RequestOwner> {
        let Inside { owner, since_ns, kind } = self.inside.get_mut(tag.0 as usize)?.take()?;
        let waited = now - since_ns;
        match kind {
            RequestKind::Read => self.latency[0].add(waited),
            RequestKind::Write => self.latency[1].add(waited),
            RequestKind::Trim | RequestKind::Flush => {}
        }
        Some(owner)
    }
}
