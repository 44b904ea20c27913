//! What the medium does: one access after the other.

use super::geometry::{Lba, SectorPlace};
use super::mechanism::{Access, Task};
use super::overlap::{Incoming, Outgoing};
use super::parts::{ACTIVE, READING, SEEKING, TRACKING, TRANSFER, WRITING};
use super::queue::{NextAccess, WaitingRequest};
use super::settings::Way;
use super::{Hdd, MEDIUM};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Cx, Tag};
use flashwatt_core::energy::parts::StateId;

/// Work of the medium.
pub struct MediumJob {
    pub(super) kind: Kind,
    pub(super) access: Access,
    /// The sector after the last one of the job. An access ends at the end of a track, a job may go on.
    pub(super) end: Lba,
    /// Of the present access: sectors from this one on are the host's, those before were read ahead.
    pub(super) host_from: Lba,
    /// Whether data of the present access crosses the interface until its end.
    pub(super) transfers: bool,
    /// The data of a read on its way out.
    pub(super) outgoing: Outgoing,
    /// The data of a write on its way in; none if it is all there.
    pub(super) incoming: Option<Incoming>,
}

impl MediumJob {
    /// A job whose data, if it has any, is in the disk or still to be read.
    pub(super) fn new(kind: Kind, access: Access, end: Lba) -> Self {
        let (outgoing, host_from) = (Outgoing::default(), access.first);
        MediumJob { kind, access, end, host_from, transfers: false, outgoing, incoming: None }
    }
}

/// The kinds of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Reads for a request, into a segment of the buffer.
    Read(Tag, Option<usize>),
    /// Reads ahead, into a segment of the buffer.
    Ahead(usize),
    /// Writes for a request, around the cache.
    Write(Tag),
    /// Writes sectors of the cache.
    Destage,
    /// Brings the spindle to speed.
    SpinUp,
}

impl Kind {
    /// The state of the electronics while sectors pass the head.
    fn state(self) -> StateId {
        match self {
            Kind::Read(..) | Kind::Ahead(_) => READING,
            Kind::Write(_) | Kind::Destage => WRITING,
            Kind::SpinUp => ACTIVE,
        }
    }

    fn writes(self) -> bool {
        matches!(self, Kind::Write(_) | Kind::Destage)
    }
}

impl Hdd {
    /// If the medium has nothing to do, or only reads ahead: starts what comes next.
    pub(super) fn start_access(&mut self, cx: &mut Cx) {
        self.make_way(cx);
        while self.job.is_none() {
            if self.must_read_ahead() || (self.queue.is_empty() && !self.cache.has_extents()) {
                if !self.must_sleep {
                    self.read_ahead(cx);
                }
                return;
            }
            if !self.is_ready {
                return self.spin_up(cx);
            }
            let (Self { queue, mechanism, cache, .. }, now) = (&*self, cx.now());
            let Some(chosen) = queue.choose(now, mechanism, cache, self.near, self.cache_is_awaited()) else { return };
            self.counts.overdue += u64::from(chosen.is_overdue);
            match chosen.choice {
                NextAccess::Request(tag) => self.serve(tag, cx),
                NextAccess::Extent(at) => {
                    let (first, place, end) = self.cache.take(at, self.mechanism.geometry());
                    self.start(Kind::Destage, first, place, end, cx);
                }
            }
        }
    }

    fn serve(&mut self, tag: Tag, cx: &mut Cx) {
        let request = *self.queue.take(tag);
        let WaitingRequest { first, end, writes, place, .. } = request;
        if writes {
            self.start_with(Kind::Write(tag), first, place, end, request.data, cx);
        } else if !self.came_meanwhile(&request, cx) {
            let segment = self.buffer.begin(first);
            self.start(Kind::Read(tag, segment), first, place, end, cx);
        }
    }

    /// Starts a job on sectors from `first` on, which lies at `place`, to `end`.
    pub(super) fn start(&mut self, kind: Kind, first: Lba, place: SectorPlace, end: Lba, cx: &mut Cx) {
        self.start_with(kind, first, place, end, None, cx);
    }

    /// As [`Self::start`], of a write whose data may still be on the way.
    fn start_with(
        &mut self,
        kind: Kind,
        first: Lba,
        place: SectorPlace,
        end: Lba,
        data: Option<Incoming>,
        cx: &mut Cx,
    ) {
        self.ahead = None;
        self.wake(cx);
        let task = self.task(kind, first, place, end, data.as_ref());
        let access = self.access(kind, &task, cx);
        let mut job = MediumJob::new(kind, access, end);
        job.incoming = data;
        if let Kind::Read(tag, _) = kind {
            let request = self.inside(tag);
            job.outgoing = Outgoing::new(self.sectors_to_fill(&request, first - request.first));
        }
        self.job = Some(job);
        self.transfer_with_access(cx);
    }

    /// What an access of a job from `first` on is to do.
    fn task(&self, kind: Kind, first: Lba, place: SectorPlace, end: Lba, data: Option<&Incoming>) -> Task {
        let on_track = end.min(first + u64::from(place.left_on_track));
        let ready_ns = match data {
            Some(_) => self.ready_ns(data, first, on_track, self.mechanism.sector_ns(&place)),
            None => 0,
        };
        let any_order_ns = match kind {
            Kind::Ahead(_) | Kind::SpinUp => Nanos::MAX,
            _ => data.map_or(0, Incoming::end_ns),
        };
        Task { first, place, end, writes: kind.writes(), ready_ns, any_order_ns }
    }

    /// Starts an access, and counts the way to it.
    fn access(&mut self, kind: Kind, task: &Task, cx: &mut Cx) -> Access {
        let mut access = self.mechanism.access(cx.now(), task);
        if matches!(kind, Kind::Ahead(_)) {
            access.passed = 0; // what passes before it was read just now, and nothing is read until its first sector comes
        }
        let counts = &mut self.counts;
        if access.way.cylinders > 0 {
            counts.seeks += 1;
            counts.seek_cylinders += u64::from(access.way.cylinders);
            counts.seek_ns += access.way.ns;
            self.accounts.change(TRACKING, SEEKING);
            self.accounts.change_at(access.on_track_ns, SEEKING, TRACKING);
        }
        counts.head_switches += u64::from(access.way.switches_head);
        if access.start_ns > access.on_track_ns {
            counts.rotational_waits += 1;
            counts.rotational_wait_ns += access.start_ns - access.on_track_ns;
        }
        let passing_ns = access.passed * self.sector_ns_if(access.passed > 0, &access.place);
        let start_ns = access.start_ns - passing_ns.min(access.start_ns - access.on_track_ns);
        if self.passed == Some(kind.state()) && start_ns == cx.now() {
            self.passed = None;
        } else {
            self.end_passed();
            self.accounts.change_at(start_ns, ACTIVE, kind.state());
        }
        cx.agenda.set_free(self.seat + MEDIUM, access.end_ns);
        access
    }

    /// Time that a sector takes to pass the head, if it is asked for: it takes a division.
    fn sector_ns_if(&self, wanted: bool, place: &SectorPlace) -> Nanos {
        if wanted { self.mechanism.sector_ns(place) } else { 0 }
    }

    /// The access under way has ended.
    pub(super) fn access_ended(&mut self, cx: &mut Cx) {
        let Some(job) = &self.job else { unreachable!("an access was under way") };
        let (kind, ended, end) = (job.kind, job.access.end, job.end);
        if kind == Kind::SpinUp {
            self.job = None;
            return self.spun_up();
        }
        self.book(ended);
        if ended < end {
            return self.go_on(cx);
        }
        let place = |job: &MediumJob| self.mechanism.after(&job.access);
        let place = matches!(kind, Kind::Read(_, Some(_))).then(|| self.job.as_ref().map(place)).flatten();
        let lag_ns = self.job.take().map_or(0, |job| job.lag_ns());
        match kind {
            Kind::Read(tag, segment) => {
                let first = self.inside(tag).first;
                self.ahead = segment.and_then(|segment| self.ahead_of(first, end, segment));
                if let Some(ahead) = &mut self.ahead {
                    ahead.place = place;
                }
                if lag_ns > 0 {
                    self.transfer(Some(tag), lag_ns, cx);
                } else {
                    self.end_request(tag, Way::ToHost, cx);
                }
            }
            Kind::Write(tag) => self.end_request(tag, Way::ToDisk, cx),
            Kind::Destage => {
                self.cache.written();
                self.enter(cx);
                self.end_flushes(cx);
            }
            Kind::Ahead(_) | Kind::SpinUp => self.ahead = None,
        }
    }

    /// The next access of the job, which goes on.
    fn go_on(&mut self, cx: &mut Cx) {
        let Some(job) = &self.job else { return };
        let (kind, first, end, data) = (job.kind, job.access.end, job.end, job.incoming);
        let place = self.mechanism.after(&job.access);
        let task = self.task(kind, first, place, end, data.as_ref());
        let access = self.access(kind, &task, cx);
        if let Some(job) = &mut self.job {
            job.next(access, first);
        }
        self.transfer_with_access(cx);
    }

    /// Ends the state of the access that has ended at this instant.
    #[inline]
    pub(super) fn end_passed(&mut self) {
        if let Some(state) = self.passed.take() {
            self.accounts.change(state, ACTIVE);
        }
    }

    /// Books the access under way, which has come up to `end`, and ends its states: that of the electronics at the end of this instant.
    pub(super) fn book(&mut self, end: Lba) {
        let Some(job) = &self.job else { return };
        let access = &job.access;
        if job.transfers {
            self.accounts.change(TRANSFER, StateId::NONE);
        }
        let ends = (access.end > access.first).then(|| job.kind.state());
        if let Some(before) = std::mem::replace(&mut self.passed, ends) {
            self.accounts.change(before, ACTIVE);
        }
        self.near = end;
        self.counts.accesses += 1;
        let bytes = (end - access.first) * SECTOR_BYTES;
        let zone = &mut self.zones[access.place.zone as usize];
        match job.kind {
            Kind::Read(_, segment) => {
                let host_bytes = (end - job.host_from) * SECTOR_BYTES;
                zone.read_bytes += bytes;
                self.counts.media_read_bytes += host_bytes;
                self.counts.read_ahead_bytes += bytes - host_bytes;
                zone.read_bytes += access.passed * SECTOR_BYTES;
                self.counts.read_ahead_bytes += access.passed * SECTOR_BYTES;
                if let Some(segment) = segment {
                    self.buffer.extend_with(segment, access.passed, access.first, end);
                }
            }
            Kind::Ahead(segment) => {
                zone.read_bytes += bytes;
                self.counts.read_ahead_bytes += bytes;
                self.buffer.extend(segment, access.first, end);
            }
            Kind::Write(_) | Kind::Destage => {
                zone.write_bytes += bytes;
                self.counts.media_write_bytes += bytes;
                self.counts.destages += u64::from(job.kind == Kind::Destage);
                if self.settings.buffer.holds_writes {
                    self.buffer.hold(access.first, end);
                }
            }
            Kind::SpinUp => {}
        }
    }
}
