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

use std::hint::cold_path;

use flashwatt_base::error::{Error, Fault};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    AtEnd, Completion, Cx, Device, FlashCounts, Request, RequestKind, Seats, Status, Tag, Upcoming, Window,
};
use flashwatt_core::energy::Series;
use flashwatt_core::energy::mean_window::MeanWindow;
use flashwatt_core::energy::meter::{Reading, WINDOWS_NS};

pub mod figures;
mod jobs;
pub mod layout;
mod member;
mod rebuild;
mod row;
mod rows;
mod scrub;
pub mod settings;
pub mod watch;

use figures::{MemberFigures, RaidCounts, RaidFigures};
use jobs::Jobs;
use layout::{Piece, Stripes};
use member::{Member, MemberRequest, RequestOwner};
use rebuild::Rebuild;
use scrub::Scrub;
use settings::{Failed, Layout, Level};
use watch::{ArrayEvent, ArrayWatch};

/// The most requests that an array accepts at a time.
const ROOM_MAX: u32 = 65_536;

/// An array of drives.
pub struct Raid<D> {
    layout: Layout,
    stripes: Stripes,
    /// The drives in order: in the place of one that has failed, its spare or none.
    members: Vec<Option<Member<D>>>,
    /// The member that has failed.
    failed: Option<u32>,
    /// Whether there is one place to read each byte from: no member has failed, and there are no mirrors.
    has_one_place: bool,
    rebuild: Option<Rebuild>,
    /// A check of all rows, if one has begun.
    scrub: Option<Box<Scrub>>,
    /// What is kept for those who follow what the members hold.
    watch: Option<Box<ArrayWatch>>,
    jobs: Jobs,
    /// Of each request of the host inside, by its tag: pieces and jobs that have not ended.
    left: Box<[u32]>,
    outstanding: u32,
    /// Requests that have ended in members, in their order: the member and its tag. Emptied once all are handled.
    ended: Vec<(u32, Tag)>,
    /// How many of them are handled.
    handled: usize,
    /// What a member's method returns. Kept to reuse its memory.
    returned: Vec<Completion>,
    /// Members in which something happened at this instant.
    touched: Vec<u32>,
    /// Kept to reuse its memory.
    pieces: Vec<Piece>,
    /// The mirror after that which was read last.
    turn: u32,
    /// The first of the members' seats.
    first_seat: u32,
    /// The member that each seat belongs to.
    places: FlatTable<u8>,
    /// The seat of the rebuild, behind those of the members.
    seat: u32,
    is_draining: bool,
    are_drained: bool,
    /// Mean power over 1 s.
    second: MeanWindow,
    counts: RaidCounts,
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
            stripes: Stripes::new(layout),
            members,
            failed,
            has_one_place: failed.is_none() && layout.mirrors(0).len() == 1,
            rebuild,
            scrub: None,
            watch: None,
            jobs: Jobs::default(),
            left: vec![0; room as usize].into(),
            outstanding: 0,
            ended: Vec::new(),
            handled: 0,
            returned: Vec::new(),
            touched,
            pieces: Vec::new(),
            turn: 0,
            first_seat: 0,
            places: FlatTable::default(),
            seat: 0,
            is_draining: false,
            are_drained: false,
            second: MeanWindow::new(WINDOWS_NS[1], 0),
            counts: RaidCounts::default(),
            window_start: 0,
        }
    }

    /// The same array, which records the requests that its members get.
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.members.iter_mut().flatten().for_each(|member| member.received = Some(Vec::new()));
        self
    }

    /// The requests of each member that have been recorded so far, as by [`Self::into_received`].
    pub fn received<'a>(&'a self) -> Vec<&'a [Request]> {
        let received = |member: &'a Option<Member<D>>| member.as_ref()?.received.as_deref();
        self.members.iter().map(|member| received(member).unwrap_or_default()).collect()
    }

    /// The recorded requests of each member in order, at the times at which it got them; none of a place without a drive.
    pub fn into_received(self) -> Vec<Vec<Request>> {
        let received = |member: Option<Member<D>>| member.and_then(|member| member.received).unwrap_or_default();
        self.members.into_iter().map(received).collect()
    }

    /// The same array, which says what its members get to change.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.watch = Some(Box::new(ArrayWatch::new(self.left.len())));
        self
    }

    /// What its members got to change since the last call, and the requests of the host that led to it.
    pub fn take_events(&mut self) -> Vec<ArrayEvent> {
        self.watch.as_mut().map(|watch| watch.take()).unwrap_or_default()
    }

    /// Begins to read all rows from all members, at a time, and to write these pieces anew, which do not match. Other requests may go on.
    pub fn begin_scrub(&mut self, settings: &settings::Rebuild, repairs: &[Piece], from_ns: Nanos) {
        self.scrub = Some(Box::new(Scrub::new(settings, &self.layout, repairs, from_ns)));
    }

    /// When the scrub ended, in ns from the start of the run.
    pub fn scrub_ended_ns(&self) -> Option<Nanos> {
        self.scrub.as_ref().and_then(|scrub| scrub.pace.ended_ns)
    }

    /// Its drives, in order, to be changed.
    pub fn devices_mut(&mut self) -> impl Iterator<Item = Option<&mut D>> {
        self.members.iter_mut().map(|member| member.as_mut().map(|member| &mut member.device))
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

    /// Does something in a member that changes its state, and takes what has ended in it if `what` returns true.
    #[inline(always)]
    fn within(&mut self, place: u32, cx: &mut Cx, what: impl FnOnce(&mut Member<D>, &mut Cx) -> bool) {
        let Some(member) = &mut self.members[place as usize] else { return };
        let ended = what(member, &mut Cx { agenda: cx.agenda, done: &mut self.returned });
        if !member.is_touched {
            member.is_touched = true;
            self.touched.push(place);
        }
        debug_assert!(ended || self.returned.is_empty(), "a member says whether requests have ended");
        if ended {
            self.note_ended(place);
        }
    }

    /// Notes the requests that a member has returned.
    #[inline]
    fn note_ended(&mut self, place: u32) {
        for done in &self.returned {
            self.ended.push((place, done.tag));
        }
        self.returned.clear();
    }

    /// Gives a member a request.
    #[inline(always)]
    fn order(&mut self, owner: RequestOwner, like: &Request, kind: RequestKind, piece: Piece, cx: &mut Cx) {
        match kind {
            RequestKind::Read => self.counts.reads += 1,
            RequestKind::Write => self.counts.writes += 1,
            RequestKind::Trim | RequestKind::Flush => {}
        }
        let order = MemberRequest::new(owner, cx.now(), like, kind, piece);
        let Some(member) = &mut self.members[piece.member as usize] else { return };
        match member.take_free() {
            Some(free) => {
                self.note_given(piece.member, free, &order);
                self.within(piece.member, cx, |member, cx| member.submit(free, &order, cx));
            }
            None => member.wait(order),
        }
    }

    /// Notes that a member gets a request, if somebody follows that.
    #[inline(always)]
    fn note_given(&mut self, place: u32, tag: Tag, order: &MemberRequest) {
        let Some(watch) = &mut self.watch else { return };
        cold_path();
        let host = match order.owner {
            RequestOwner::Host(host) => Some(host),
            RequestOwner::Job(id) => self.jobs.get(id).host,
        };
        if let Some(host) = host {
            watch.given(host, place, tag, &order.request);
        }
    }

    /// As [`Self::order`], as a piece of a request of the host.
    #[inline(always)]
    fn order_piece(&mut self, tag: Tag, like: &Request, kind: RequestKind, piece: Piece, cx: &mut Cx) {
        self.left[tag.0 as usize] += 1;
        self.order(RequestOwner::Host(tag), like, kind, piece, cx);
    }

    #[inline(always)]
    fn read(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if let Some(piece) = self.stripes.only_piece(request.offset_bytes, request.bytes) {
            return self.read_piece(tag, request, piece, cx);
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        self.layout.pieces(request.offset_bytes, request.bytes, &mut pieces);
        for &piece in &pieces {
            self.read_piece(tag, request, piece, cx);
        }
        self.pieces = pieces;
    }

    #[inline(always)]
    fn read_piece(&mut self, tag: Tag, request: &Request, piece: Piece, cx: &mut Cx) {
        let readable = if self.has_one_place { Some(piece) } else { self.readable(piece) };
        match readable {
            Some(piece) => self.order_piece(tag, request, RequestKind::Read, piece, cx),
            None => self.read_missing(tag, request, piece, cx),
        }
    }

    /// The piece on the member to read it from, if one holds all of it.
    #[inline(never)]
    fn readable(&mut self, piece: Piece) -> Option<Piece> {
        let mirrors = self.layout.mirrors(piece.member);
        if mirrors.len() == 1 {
            return self.holds(piece.member, piece).then_some(piece);
        }
        let turn = mirrors.start + if self.turn < mirrors.len() as u32 { self.turn } else { 0 };
        let outstanding = |place: u32| self.members[place as usize].as_ref().map(Member::outstanding);
        let in_turn = (turn..mirrors.end).chain(mirrors.start..turn);
        let least = in_turn.filter(|&place| self.holds(place, piece)).min_by_key(|&place| outstanding(place))?;
        self.turn = least - mirrors.start + 1;
        Some(Piece { member: least, ..piece })
    }

    /// Whether a member holds what lies at these bytes of it.
    #[inline]
    fn holds(&self, place: u32, piece: Piece) -> bool {
        self.failed != Some(place) || self.spare_holds(piece)
    }

    /// Whether the spare holds what lies at these bytes of it.
    #[cold]
    fn spare_holds(&self, piece: Piece) -> bool {
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
        if let Some(piece) = self.stripes.only_piece(request.offset_bytes, request.bytes) {
            return self.write_piece(tag, request, kind, piece, cx);
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        self.layout.pieces(request.offset_bytes, request.bytes, &mut pieces);
        for &piece in &pieces {
            self.write_piece(tag, request, kind, piece, cx);
        }
        self.pieces = pieces;
    }

    /// Writes a piece, or declares it unused, on all of its mirrors.
    #[inline]
    fn write_piece(&mut self, tag: Tag, request: &Request, kind: RequestKind, piece: Piece, cx: &mut Cx) {
        for member in self.layout.mirrors(piece.member) {
            if self.members[member as usize].is_some() {
                self.order_piece(tag, request, kind, Piece { member, ..piece }, cx);
            }
        }
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
    #[inline(always)]
    fn take_ended(&mut self, cx: &mut Cx) {
        if !self.ended.is_empty() {
            self.handle_ended(cx);
        }
    }

    #[inline(never)]
    fn handle_ended(&mut self, cx: &mut Cx) {
        while let Some(&(place, tag)) = self.ended.get(self.handled) {
            self.handled += 1;
            let Some(member) = &mut self.members[place as usize] else { continue };
            let owner = member.ended(tag, cx.now());
            if let Some(next) = member.take_waiting() {
                self.note_given(place, tag, &next);
                self.within(place, cx, |member, cx| member.submit(tag, &next, cx));
            } else {
                member.set_free(tag);
            }
            match owner {
                Some(RequestOwner::Host(tag)) => self.piece_ended(tag, cx),
                Some(RequestOwner::Job(id)) => self.step_ended(id, cx),
                None => debug_assert!(false, "a member returned a tag that it was not given"),
            }
        }
        self.ended.clear();
        self.handled = 0;
    }

    /// Prefetches what a request at this address will touch in the drives that hold it; of mirrors, in the first two.
    #[inline(always)]
    fn prefetch_at(&self, offset_bytes: u64, upcoming: impl Fn(u64) -> Upcoming) {
        let Some(piece) = self.stripes.only_piece(offset_bytes, 1) else { return };
        let prefetch = |place: u32| {
            if let Some(member) = &self.members[place as usize] {
                member.device.prefetch(&upcoming(piece.offset_bytes));
            }
        };
        prefetch(piece.member);
        match self.layout.level {
            Level::Raid0 => {}
            Level::Raid5 => prefetch(self.layout.parity_member(piece.offset_bytes / self.layout.chunk_bytes)),
            Level::Raid1 | Level::Raid10 => prefetch(piece.member + 1),
        }
    }

    /// Energy in J of all members since the window began.
    fn energy_j(&self) -> f64 {
        self.members.iter().flatten().map(|member| member.device.so_far().0).sum()
    }

    fn book_members(&mut self, now: Nanos) {
        self.members.iter_mut().flatten().for_each(|member| member.book(now));
    }

    /// Ends the stretches of a second up to `now`.
    #[cold]
    fn pass_seconds(&mut self, now: Nanos) {
        while self.second.end <= now {
            self.book_members(self.second.end);
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

/// An address that no drive has.
const NOWHERE: u64 = u64::MAX;

/// Energy in nW·ns, the unit of [`MeanWindow`].
fn nw_ns(energy_j: f64) -> u128 {
    (energy_j * 1e18) as u128
}

impl<D: Device> Device for Raid<D> {
    type Figures = RaidFigures<D::Figures>;

    fn enrol(&mut self, seats: &mut Seats) {
        self.first_seat = seats.take(0, 0);
        let mut places = Vec::new();
        for (place, member) in self.members.iter_mut().enumerate() {
            member.iter_mut().for_each(|member| member.device.enrol(seats));
            places.resize((seats.take(0, 0) - self.first_seat) as usize, place as u8); // 32 members at most
        }
        self.places = places.into();
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        self.left.len() as u32 - self.outstanding
    }

    #[inline(always)]
    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if !request.is_within(self.layout.logical_bytes()) {
            return cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
        self.outstanding += 1;
        self.left[tag.0 as usize] = 1; // until all pieces are given
        if let Some(watch) = &mut self.watch {
            cold_path();
            watch.sent(tag, request);
        }
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

    #[inline(always)]
    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        if seat == self.seat {
            cold_path();
            self.go_on_rebuilding(cx);
            self.go_on_scrubbing(cx);
        } else {
            let place = u32::from(self.places[(seat - self.first_seat) as usize]);
            self.within(place, cx, |member, cx| member.event(seat, cx));
        }
        self.take_ended(cx);
        !cx.done.is_empty()
    }

    #[inline(always)]
    fn settle(&mut self, cx: &mut Cx) -> bool {
        if self.rebuild.is_some() || self.scrub.is_some() {
            cold_path();
            self.go_on_rebuilding(cx);
            self.go_on_scrubbing(cx);
        }
        if self.is_draining && !self.are_drained {
            cold_path();
            self.drain_members(cx.now());
        }
        while let Some(place) = self.touched.pop() {
            let Some(member) = &mut self.members[place as usize] else { continue };
            let ended = member.device.settle(&mut Cx { agenda: cx.agenda, done: &mut self.returned });
            member.is_touched = false;
            debug_assert!(ended || self.returned.is_empty(), "a member says whether requests have ended");
            if ended {
                cold_path();
                self.note_ended(place);
            }
            self.take_ended(cx); // also what has ended as soon as a rebuild or a drain gave it to a member
        }
        !cx.done.is_empty()
    }

    #[inline(always)]
    fn prefetch(&self, upcoming: &Upcoming) {
        self.prefetch_at(upcoming.far_bytes, |far_bytes| Upcoming { far_bytes, near_bytes: NOWHERE });
        self.prefetch_at(upcoming.near_bytes, |near_bytes| Upcoming { far_bytes: NOWHERE, near_bytes });
    }

    fn drain(&mut self, now: Nanos) {
        self.is_draining = true;
        self.drain_members(now);
    }

    /// Every member gets the command. A later request of the array wakes those that it needs.
    fn sleep(&mut self, now: Nanos) -> bool {
        let mut sleeps = false;
        for (place, member) in self.members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            member.book(now);
            sleeps |= member.device.sleep(now);
            if !std::mem::replace(&mut member.is_touched, true) {
                self.touched.push(place as u32);
            }
        }
        sleeps
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
        self.book_members(now);
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
        let counts =
            RaidCounts { row_waits: std::mem::take(&mut self.jobs.waited), ..std::mem::take(&mut self.counts) };
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

    fn flash_counts(&self) -> FlashCounts {
        let each = self.members.iter().flatten().map(|member| member.device.flash_counts());
        each.fold(FlashCounts::default(), |sum, one| FlashCounts {
            host_bytes: sum.host_bytes + one.host_bytes,
            programs: sum.programs + one.programs,
        })
    }

    fn operations_at_once(&self) -> u64 {
        self.members.iter().flatten().map(|member| member.device.operations_at_once()).sum()
    }

    fn book(&mut self, now: Nanos) {
        self.book_members(now);
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
