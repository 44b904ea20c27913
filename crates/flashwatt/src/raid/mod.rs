//! An array of drives behind one connector: RAID 0, 1, 5 and 10.
//!
//! ```text
//! submit ── layout: pieces on members ──────────────────────── member: its queue, the drive
//!        └─ jobs: a row to itself ── row: reads ── writes ──┘
//! done   ── all pieces and jobs of the request have ended
//! ```
//!
//! What is modelled: where data and parity lie ([`layout`]), reads before writes ([`row`]), one writer at a time in a row
//! ([`jobs`]), a failed member and its rebuild ([`rebuild`]), a queue before each member that has no room. What takes no time:
//! the controller's or host's own work, and parity itself. A read of mirrors goes to the one with the fewest requests; of
//! equals, to each in turn.

use std::collections::VecDeque;

use crate::connector::{AtEnd, Completion, Cx, Device, Request, RequestKind, Seats, Status, Tag, Window};
use crate::energy::Series;
use crate::energy::mean_window::MeanWindow;
use crate::energy::meter::{Reading, WINDOWS_NS};
use crate::error::{Error, Fault};
use crate::units::Nanos;

pub mod figures;
mod jobs;
pub mod layout;
mod member;
mod rebuild;
mod row;
mod rows;
pub mod settings;

use figures::{Counts, MemberFigures, RaidFigures};
use jobs::Jobs;
use layout::Piece;
use member::{Member, Order, Owner};
use rebuild::Rebuild;
use settings::{Failed, Layout};

/// The most requests that an array accepts at a time.
const ROOM_MAX: u32 = 65_536;

/// An array of drives.
pub struct Raid<D> {
    layout: Layout,
    /// The drives in order: in the place of one that has failed, its spare or none.
    members: Vec<Option<Member<D>>>,
    /// The member that has failed.
    failed: Option<u32>,
    rebuild: Option<Rebuild>,
    jobs: Jobs,
    /// Of each request of the host inside, by its tag: pieces and jobs that have not ended.
    left: Box<[u32]>,
    outstanding: u32,
    /// Requests that have ended in a member and are not handled yet: the member and its tag.
    ended: VecDeque<(u32, Tag)>,
    /// What a member's method returns. Kept to reuse its memory.
    returned: Vec<Completion>,
    /// Members in which something happened at this instant.
    touched: Vec<u32>,
    /// Kept to reuse its memory.
    pieces: Vec<Piece>,
    /// The mirror after that which was read last.
    turn: u32,
    /// The seat of the rebuild.
    seat: u32,
    is_draining: bool,
    are_drained: bool,
    /// Mean power over 1 s.
    second: MeanWindow,
    counts: Counts,
    window_start: Nanos,
}

impl<D: Device> Raid<D> {
    /// An array of these drives. In the place of a member that has failed stands its spare, or none.
    ///
    /// # Panics
    /// If the number of drives is not that of the layout, or another than the failed one is absent.
    pub fn new(layout: &Layout, failed: Option<&Failed>, devices: Vec<Option<D>>) -> Self {
        assert_eq!(devices.len(), layout.members as usize, "a drive for each place");
        let members: Vec<_> = devices.into_iter().map(|device| device.map(Member::new)).collect();
        let room = members.iter().flatten().map(|member| member.device.room()).sum::<u32>().min(ROOM_MAX);
        let rebuild = failed.and_then(|failed| {
            let settings = failed.rebuild.as_ref()?;
            Some(Rebuild::new(settings, layout.rows(), layout.chunk_bytes))
        });
        let failed = failed.map(|failed| failed.member);
        let touched = (0..members.len() as u32).collect(); // an idle drive sets its timers, too
        for (place, member) in members.iter().enumerate() {
            let is_absent = failed == Some(place as u32) && rebuild.is_none();
            assert_eq!(member.is_none(), is_absent, "member {place}");
        }
        Raid {
            layout: layout.clone(),
            members,
            failed,
            rebuild,
            jobs: Jobs::default(),
            left: vec![0; room as usize].into(),
            outstanding: 0,
            ended: VecDeque::new(),
            returned: Vec::new(),
            touched,
            pieces: Vec::new(),
            turn: 0,
            seat: 0,
            is_draining: false,
            are_drained: false,
            second: MeanWindow::new(WINDOWS_NS[1], 0),
            counts: Counts::default(),
            window_start: 0,
        }
    }

    /// The same array, which records the requests that its members get.
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.members.iter_mut().flatten().for_each(|member| member.received = Some(Vec::new()));
        self
    }

    /// The recorded requests of each member in order, at the times at which it got them; none of a place without a drive.
    pub fn into_received(self) -> Vec<Vec<Request>> {
        let received = |member: Option<Member<D>>| member.and_then(|member| member.received).unwrap_or_default();
        self.members.into_iter().map(received).collect()
    }

    /// Its drives, in order.
    pub fn devices(&self) -> impl Iterator<Item = Option<&D>> {
        self.members.iter().map(|member| member.as_ref().map(|member| &member.device))
    }

    /// Rows that the spare holds, and rows in all; none without a rebuild.
    pub fn rebuilt(&self) -> Option<(u64, u64)> {
        self.rebuild.as_ref().map(|rebuild| (rebuild.done(), rebuild.rows()))
    }

    /// When the rebuild ended, in ns from the start of the run.
    pub fn rebuild_ended_ns(&self) -> Option<Nanos> {
        self.rebuild.as_ref().and_then(|rebuild| rebuild.ended_ns)
    }

    /// Does something in a member, and takes what has ended in it.
    #[inline]
    fn within(&mut self, place: u32, cx: &mut Cx, what: impl FnOnce(&mut Member<D>, &mut Cx)) {
        let Some(member) = &mut self.members[place as usize] else { return };
        let was_touched = member.is_touched;
        what(member, &mut Cx { agenda: cx.agenda, done: &mut self.returned });
        if member.is_touched && !was_touched {
            self.touched.push(place);
        }
        self.ended.extend(self.returned.drain(..).map(|done| (place, done.tag)));
    }

    /// Gives a member a request.
    #[inline]
    fn order(&mut self, owner: Owner, like: &Request, kind: RequestKind, piece: Piece, cx: &mut Cx) {
        match kind {
            RequestKind::Read => self.counts.reads += 1,
            RequestKind::Write => self.counts.writes += 1,
            RequestKind::Trim | RequestKind::Flush => {}
        }
        let order = Order::new(owner, cx.now(), like, kind, piece);
        self.within(piece.member, cx, |member, cx| member.order(order, cx));
    }

    /// As [`Self::order`], as a piece of a request of the host.
    #[inline]
    fn order_piece(&mut self, tag: Tag, like: &Request, kind: RequestKind, piece: Piece, cx: &mut Cx) {
        self.left[tag.0 as usize] += 1;
        self.order(Owner::Host(tag), like, kind, piece, cx);
    }

    fn read(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        let mut pieces = std::mem::take(&mut self.pieces);
        self.layout.pieces(request.offset_bytes, request.bytes, &mut pieces);
        for &piece in &pieces {
            match self.readable(piece) {
                Some(piece) => self.order_piece(tag, request, RequestKind::Read, piece, cx),
                None => self.read_missing(tag, request, piece, cx),
            }
        }
        self.pieces = pieces;
    }

    /// The piece on the member to read it from, if one holds all of it.
    fn readable(&mut self, piece: Piece) -> Option<Piece> {
        let mirrors = self.layout.mirrors(piece.member);
        if mirrors.len() == 1 {
            return self.holds(piece.member, piece).then_some(piece);
        }
        let (first, count, turn) = (mirrors.start, mirrors.len() as u32, self.turn);
        let in_turn = (0..count).map(|step| first + (turn + step) % count);
        let outstanding = |place: u32| self.members[place as usize].as_ref().map(Member::outstanding);
        let least = in_turn.filter(|&place| self.holds(place, piece)).min_by_key(|&place| outstanding(place))?;
        self.turn = least - first + 1;
        Some(Piece { member: least, ..piece })
    }

    /// Whether a member holds what lies at these bytes of it.
    fn holds(&self, place: u32, piece: Piece) -> bool {
        if self.failed != Some(place) {
            return true;
        }
        let chunk = self.layout.chunk_bytes;
        let mut rows = piece.offset_bytes / chunk..=(piece.offset_bytes + piece.bytes - 1) / chunk;
        rows.all(|row| !self.is_missing(row))
    }

    /// Whether the chunk of the failed member is not on its spare.
    fn is_missing(&self, row: u64) -> bool {
        self.failed.is_some() && self.rebuild.as_ref().is_none_or(|rebuild| !rebuild.has(row))
    }

    fn write(&mut self, tag: Tag, request: &Request, kind: RequestKind, cx: &mut Cx) {
        if self.needs_rows(kind) {
            return self.write_rows(tag, request, cx);
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        self.layout.pieces(request.offset_bytes, request.bytes, &mut pieces);
        for &piece in &pieces {
            for member in self.layout.mirrors(piece.member) {
                if self.members[member as usize].is_some() {
                    self.order_piece(tag, request, kind, Piece { member, ..piece }, cx);
                }
            }
        }
        self.pieces = pieces;
    }

    /// All members that hold what the host has written make it durable.
    fn flush(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        for member in 0..self.layout.members {
            if self.members[member as usize].is_some() {
                let piece = Piece { member, offset_bytes: 0, bytes: 0 };
                self.order_piece(tag, request, RequestKind::Flush, piece, cx);
            }
        }
    }

    /// A piece or a job of a request of the host has ended.
    #[inline]
    fn piece_ended(&mut self, tag: Tag, cx: &mut Cx) {
        let left = &mut self.left[tag.0 as usize];
        *left -= 1;
        if *left == 0 {
            self.outstanding -= 1;
            cx.done.push(Completion::done(tag));
        }
    }

    /// Handles what has ended in members, and what that brings about.
    #[inline]
    fn take_ended(&mut self, cx: &mut Cx) {
        while let Some((place, tag)) = self.ended.pop_front() {
            let mut order = None;
            self.within(place, cx, |member, cx| order = member.ended(tag, cx));
            match order.map(|order| order.owner) {
                Some(Owner::Host(tag)) => self.piece_ended(tag, cx),
                Some(Owner::Job(id)) => self.step_ended(id, cx),
                None => debug_assert!(false, "a member returned a tag that it was not given"),
            }
        }
    }

    /// Energy in J of all members since the window began.
    fn energy_j(&self) -> f64 {
        self.members.iter().flatten().map(|member| member.device.so_far().0).sum()
    }

    fn book(&mut self, now: Nanos) {
        self.members.iter_mut().flatten().for_each(|member| member.book(now));
    }

    /// Ends the stretches of a second up to `now`.
    #[cold]
    fn pass_seconds(&mut self, now: Nanos) {
        while self.second.end <= now {
            self.book(self.second.end);
            self.second.close(nw_ns(self.energy_j()));
        }
    }

    /// Once nothing is left to be written to members, they write their own buffers out.
    fn drain_members(&mut self, now: Nanos) {
        let goes_on = self.rebuild.as_ref().is_some_and(|rebuild| rebuild.finish && !rebuild.is_whole());
        if !self.is_draining || self.are_drained || goes_on || self.outstanding > 0 || !self.jobs.is_empty() {
            return;
        }
        self.are_drained = true;
        for (place, member) in self.members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            member.book(now);
            member.device.drain(now);
            if !std::mem::replace(&mut member.is_touched, true) {
                self.touched.push(place as u32);
            }
        }
    }
}

/// Energy in nW·ns, the unit of [`MeanWindow`].
fn nw_ns(energy_j: f64) -> u128 {
    (energy_j * 1e18) as u128
}

impl<D: Device> Device for Raid<D> {
    type Figures = RaidFigures<D::Figures>;

    fn enrol(&mut self, seats: &mut Seats) {
        self.members.iter_mut().flatten().for_each(|member| member.enrol(seats));
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        self.left.len() as u32 - self.outstanding
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if !request.is_within(self.layout.logical_bytes()) {
            return cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
        self.outstanding += 1;
        self.left[tag.0 as usize] = 1; // until all pieces are given
        match request.kind {
            RequestKind::Read => self.read(tag, request, cx),
            RequestKind::Write => self.write(tag, request, RequestKind::Write, cx),
            RequestKind::Trim => self.trim(tag, request, cx),
            RequestKind::Flush => self.flush(tag, request, cx),
        }
        self.piece_ended(tag, cx);
        self.take_ended(cx);
    }

    #[inline]
    fn pass_time(&mut self, now: Nanos) {
        if self.second.end <= now {
            self.pass_seconds(now);
        }
    }

    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        if seat == self.seat {
            self.go_on_rebuilding(cx);
        } else {
            let place = self.members.iter().position(|member| member.as_ref().is_some_and(|m| m.has_seat(seat)));
            let place = place.expect("every seat below the rebuild's belongs to a member") as u32;
            self.within(place, cx, |member, cx| member.event(seat, cx));
        }
        self.take_ended(cx);
        !cx.done.is_empty()
    }

    fn settle(&mut self, cx: &mut Cx) -> bool {
        self.go_on_rebuilding(cx);
        self.drain_members(cx.now());
        while let Some(place) = self.touched.pop() {
            self.within(place, cx, |member, cx| {
                member.device.settle(cx);
                member.is_touched = false;
            });
            self.take_ended(cx);
        }
        !cx.done.is_empty()
    }

    fn drain(&mut self, now: Nanos) {
        self.is_draining = true;
        self.drain_members(now);
    }

    fn rest(&mut self) -> Result<(), Error> {
        self.members.iter_mut().flatten().try_for_each(|member| member.device.rest())?;
        if self.outstanding == 0 && self.jobs.is_empty() {
            return Ok(());
        }
        let fault = Fault::key("array", "requests of the array wait for nothing").found(self.outstanding);
        Err(Error::from(
            fault.expected("every request ends").help("this is a fault of the simulator: please report it"),
        ))
    }

    fn end_window(&mut self, now: Nanos, meter: AtEnd) -> (Window<Self::Figures>, Option<Box<Series>>) {
        self.book(now);
        let (mut members, mut recorded) = (Vec::new(), Vec::new());
        for member in &mut self.members {
            let of_member = member.as_mut().map(|member| {
                let (window, series) = member.device.end_window(now, meter);
                recorded.extend(series.map(|series| *series));
                MemberFigures { window, latency: std::mem::take(&mut member.latency) }
            });
            members.push(of_member);
        }
        let reading = (meter != AtEnd::ReadOn).then(|| self.reading(&members));
        if meter != AtEnd::ReadOn {
            self.second = MeanWindow::new(WINDOWS_NS[1], now);
        }
        let counts = Counts { row_waits: std::mem::take(&mut self.jobs.waited), ..std::mem::take(&mut self.counts) };
        let start_ns = std::mem::replace(&mut self.window_start, now);
        let figures = RaidFigures { counts, members };
        (Window { start_ns, end_ns: now, reading, figures }, Series::of_members(recorded))
    }

    fn measured(&mut self, now: Nanos) {
        self.members.iter_mut().flatten().for_each(|member| member.device.measured(now));
    }

    fn finish(&mut self, now: Nanos) {
        self.members.iter_mut().flatten().for_each(|member| member.device.finish(now));
    }

    fn operations(&self) -> u64 {
        self.members.iter().flatten().map(|member| member.device.operations()).sum()
    }

    fn operations_at_once(&self) -> u64 {
        self.members.iter().flatten().map(|member| member.device.operations_at_once()).sum()
    }

    fn series_overflowed(&mut self) -> bool {
        self.members.iter_mut().flatten().any(|member| member.device.series_overflowed())
    }

    fn so_far(&self) -> (f64, f64) {
        let each = self.members.iter().flatten().map(|member| member.device.so_far());
        each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

impl<D: Device> Raid<D> {
    /// The meters of all members as one. The peak of the sum would need every change of power of all of them in order.
    fn reading(&self, members: &[Option<MemberFigures<D::Figures>>]) -> Reading {
        let readings = || members.iter().flatten().filter_map(|member| member.window.reading.as_ref());
        Reading {
            energy_j: readings().map(|reading| reading.energy_j).sum(),
            owed_j: readings().map(|reading| reading.owed_j).sum(),
            peak: None,
            at_peak_ns: None,
            window_w: [None, self.second.greatest.map(|nw_ns| nw_ns as f64 * 1e-18)],
        }
    }
}
