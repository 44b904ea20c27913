//! Reading ahead: what follows a read goes into its segment of the buffer, while nothing else waits.

use super::geometry::{Lba, SectorPlace};
use super::job::Kind;
use super::overlap::Outgoing;
use super::parts::{SEEKING, TRACKING};
use super::settings::{ReadAheadTo, Returned};
use super::{Hdd, MEDIUM};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Cx, RequestKind, Tag};

/// What may be read ahead.
#[derive(Clone, Copy, Debug)]
pub struct ReadAhead {
    segment: usize,
    first: Lba,
    /// Where that lies, if it is known.
    pub(super) place: Option<SectorPlace>,
    /// Up to here in any case.
    least: Lba,
    /// Up to here while nothing else waits.
    most: Lba,
}

impl Hdd {
    /// What may be read after a read of sectors `from` to `first`, if anything may.
    pub(super) fn ahead_of(&self, from: Lba, first: Lba, segment: usize) -> Option<ReadAhead> {
        let settings = &self.settings.buffer;
        if settings.read_ahead_in_streams && self.buffer.start(segment) >= from {
            return None;
        }
        let last = self.settings.bytes / SECTOR_BYTES;
        let up_to = |bytes: u64| first.saturating_add(bytes / SECTOR_BYTES).min(last);
        let (least, mut most) = (up_to(settings.read_ahead_least_bytes), up_to(settings.read_ahead_bytes));
        if settings.read_ahead_to != ReadAheadTo::Bytes {
            most = most.min(self.end_of_stretch(first, segment));
        }
        if settings.returned == Returned::Kept {
            most = most.min(from + settings.segment_bytes / SECTOR_BYTES);
        }
        let most = most.max(least);
        (most > first).then_some(ReadAhead { segment, first, place: None, least, most })
    }

    /// Where reading ahead of a read that ended here ends, if no number of bytes ends it.
    fn end_of_stretch(&self, first: Lba, segment: usize) -> Lba {
        let geometry = self.mechanism.geometry();
        match self.settings.buffer.read_ahead_to {
            ReadAheadTo::Bytes | ReadAheadTo::Segment => Lba::MAX,
            ReadAheadTo::Track => geometry.track(first - 1).1,
            ReadAheadTo::Cylinder => geometry.end_of_cylinder(first - 1),
            ReadAheadTo::NextTrack if first >= self.settings.bytes / SECTOR_BYTES => first,
            ReadAheadTo::NextTrack => {
                let (start, end) = geometry.track(first);
                let streams = self.buffer.start(segment) < start && end < self.settings.bytes / SECTOR_BYTES;
                if streams { geometry.track(end).1 } else { end }
            }
        }
    }

    /// Whether some is read ahead before all else.
    pub(super) fn must_read_ahead(&self) -> bool {
        self.ahead.is_some_and(|ahead| ahead.least > ahead.first)
    }

    /// Reads ahead, if there is something. After the last request of the run only what is read in any case.
    pub(super) fn read_ahead(&mut self, cx: &mut Cx) {
        let Some(ahead) = self.ahead else { return };
        let end = if self.drains { ahead.least } else { ahead.most };
        if end > ahead.first {
            let place = ahead.place.unwrap_or_else(|| self.mechanism.geometry().place(ahead.first));
            self.start(Kind::Ahead(ahead.segment), ahead.first, place, end, cx);
            self.ahead = Some(ahead);
        } else {
            self.ahead = None;
        }
    }

    /// A read that ended here was in the buffer: the disk reads as far ahead of it as after one from the medium. If it has
    /// stopped, it goes on once half of that is used up: each time it must wait for the platters.
    pub(super) fn read_on(&mut self, first: Lba, end: Lba) {
        let Some((segment, held)) = self.buffer.holder(end - 1) else { return };
        let Some(mut ahead) = self.ahead_of(first, end, segment) else { return };
        let settings = &self.settings.buffer;
        let ahead_sectors = match settings.read_ahead_to {
            ReadAheadTo::Bytes => ahead.most.saturating_sub(held) * 2,
            _ if ahead.most > held => Lba::MAX,
            _ => 0,
        };
        let goes_on = settings.read_ahead_after_hits && ahead_sectors >= settings.read_ahead_bytes / SECTOR_BYTES;
        match &mut self.job {
            Some(job) if job.kind == Kind::Ahead(segment) && job.access.end > job.access.first => {
                job.end = job.end.max(ahead.most);
            }
            Some(_) => {}
            None if goes_on => {
                (ahead.first, ahead.least) = (held, held);
                self.ahead = Some(ahead);
            }
            None => {}
        }
    }

    /// What was read ahead up to now is in the buffer.
    pub(super) fn take_what_was_read_ahead(&mut self, now: Nanos) {
        if let Some(job) = &self.job
            && let Kind::Ahead(segment) = job.kind
        {
            let reached = self.mechanism.reached(&job.access, now);
            if reached > job.access.first {
                self.buffer.extend(segment, job.access.first, reached);
            }
        }
    }

    /// Whether a sector comes by with those that are being read ahead.
    pub(super) fn is_being_read_ahead(&self, missing: Lba, now: Nanos) -> bool {
        let Some(job) = self.job.as_ref().filter(|job| matches!(job.kind, Kind::Ahead(_))) else { return false };
        let reached = self.mechanism.reached(&job.access, now);
        (reached..=job.access.end).contains(&missing) && job.access.end > job.access.first
    }

    /// The sectors of a read that has ended, where they are given up at once.
    #[inline]
    pub(super) fn give_up_returned(&mut self, tag: Tag) {
        if self.settings.buffer.returned == Returned::Dropped {
            let request = self.inside(tag);
            if request.kind == RequestKind::Read {
                self.buffer.give_up(request.first, request.end);
            }
        }
    }

    /// Whether sectors from `missing` on come by with those that are being read ahead: on the track under the head, or right
    /// after it. The read then goes on as one for the request.
    pub(super) fn comes_with_read_ahead(&mut self, tag: Tag, missing: Lba, end: Lba, cx: &mut Cx) -> bool {
        if !self.is_being_read_ahead(missing, cx.now()) {
            return false;
        }
        let request = self.inside(tag);
        let short = self.sectors_to_fill(&request, missing - request.first);
        let Some(job) = &mut self.job else { return false };
        let Kind::Ahead(segment) = job.kind else { return false };
        job.kind = Kind::Read(tag, Some(segment));
        job.outgoing = Outgoing::new(short);
        (job.end, job.host_from) = (end, missing.min(job.access.end));
        if end < job.access.end {
            job.access.end = end;
            job.access.end_ns = self.mechanism.passed_ns(&job.access, end).max(cx.now());
            cx.agenda.reset(self.seat + MEDIUM, job.access.end_ns);
        }
        self.ahead = None;
        self.transfer_with_access(cx);
        true
    }

    /// Sectors are to be written: what the buffer has of them is void, and so is what an access under way reads of them.
    pub(super) fn forget_read(&mut self, first: Lba, end: Lba, cx: &mut Cx) {
        if let Some(job) = self.job.as_mut().filter(|job| job.access.first < end && first < job.access.end) {
            match job.kind {
                Kind::Ahead(_) if cx.now() >= job.access.on_track_ns => {
                    let reached = self.mechanism.reached(&job.access, cx.now());
                    self.stop_reading(reached, cx);
                }
                Kind::Read(tag, _) => job.kind = Kind::Read(tag, None),
                _ => {}
            }
        }
        self.buffer.forget(first, end);
        if self.job.is_none() && self.ahead.is_some_and(|ahead| ahead.first < end && first < ahead.most) {
            self.ahead = None;
        }
    }

    /// Ends reading ahead if something else waits, at the earliest after what is read in any case.
    pub(super) fn make_way(&mut self, cx: &mut Cx) {
        let writes_wait = self.cache.has_extents() && self.settings.buffer.writes_stop_read_ahead;
        let waits = !self.queue.is_empty() || writes_wait || self.must_sleep;
        if !waits || !self.job.as_ref().is_some_and(|job| matches!(job.kind, Kind::Ahead(_))) {
            return;
        }
        let least = self.ahead.map_or(0, |ahead| ahead.least);
        let now = cx.now();
        let Some(job) = &mut self.job else { return };
        let access = &mut job.access;
        let reached = self.mechanism.reached(access, now);
        if reached < least {
            self.read_least(least, cx);
            return;
        }
        if now < access.on_track_ns {
            // The arm cannot stop on its way: the access ends when it is there, with no sector.
            if access.end > access.first {
                (access.end, job.end) = (access.first, access.first);
                (access.start_ns, access.end_ns) = (access.on_track_ns, access.on_track_ns);
                self.accounts.forget_ahead();
                if access.way.cylinders > 0 {
                    self.accounts.change_at(access.on_track_ns, SEEKING, TRACKING);
                }
                cx.agenda.reset(self.seat + MEDIUM, access.on_track_ns);
            }
            return;
        }
        self.stop_reading(reached, cx);
    }

    /// Reading ahead ends when the least is there.
    fn read_least(&mut self, least: Lba, cx: &mut Cx) {
        let Some(job) = &mut self.job else { return };
        job.end = job.end.min(least);
        if job.access.end > least {
            job.access.end = least;
            job.access.end_ns = self.mechanism.passed_ns(&job.access, least).max(cx.now());
            cx.agenda.reset(self.seat + MEDIUM, job.access.end_ns);
        }
    }

    /// Reading ahead ends now, with the sector that it has reached.
    fn stop_reading(&mut self, reached: Lba, cx: &mut Cx) {
        let Some(job) = &self.job else { return };
        cx.agenda.cancel(self.seat + MEDIUM);
        if cx.now() < job.access.start_ns {
            // The platters have not come to the first sector: nothing was read, and no state has begun.
            self.accounts.forget_ahead();
            self.counts.accesses += 1;
        } else {
            self.book(reached);
        }
        (self.job, self.ahead) = (None, None);
    }
}
