//! The way of a request through the disk, up to the medium.

use super::geometry::Lba;
use super::overlap::Incoming;
use super::queue::WaitingRequest;
use super::settings::{CommandTimes, Way};
use super::{COMMAND, Flush, Hdd, Inside};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Cx, RequestKind, Tag};

impl Hdd {
    /// The electronics have handled a command.
    pub(super) fn command_handled(&mut self, cx: &mut Cx) {
        let Some(tag) = self.commands.pop_front() else { unreachable!("a command was under way") };
        let request = self.inside(tag);
        match request.kind {
            RequestKind::Read => self.read(tag, cx),
            RequestKind::Write if self.writes_while_data_comes(&request) => self.write_while_data_comes(tag, cx),
            RequestKind::Write => self.transfer_all(tag, Way::ToDisk, cx),
            RequestKind::Trim => {
                self.counts.trims += 1;
                self.complete(tag, cx);
            }
            RequestKind::Flush => {
                self.flushes.push(Flush { tag, before: self.cache.next_number() });
                self.end_flushes(cx);
            }
        }
        self.start_command(cx);
    }

    /// The electronics begin with the next command, if there is one.
    pub(super) fn start_command(&mut self, cx: &mut Cx) {
        let Some(&tag) = self.commands.front() else { return };
        let ns = match self.settings.interface.commands {
            Some(times) => self.command_ns(&times, tag, cx),
            None => self.settings.interface.command_ns,
        };
        cx.agenda.set_free(self.seat + COMMAND, cx.now() + ns);
    }

    /// Time that the electronics take for a command, by what will become of it as far as is known now.
    fn command_ns(&mut self, times: &CommandTimes, tag: Tag, cx: &Cx) -> Nanos {
        let request = self.inside(tag);
        let pair = match request.kind {
            RequestKind::Read if self.begins_in_memory(&request, cx.now()) => times.read_hit_ns,
            RequestKind::Read => times.read_miss_ns,
            RequestKind::Write if self.ends_on_medium(&request) => times.write_miss_ns,
            RequestKind::Write => times.write_hit_ns,
            RequestKind::Flush | RequestKind::Trim => return self.settings.interface.command_ns,
        };
        let after_write = std::mem::replace(&mut self.last_wrote, request.kind == RequestKind::Write);
        pair[usize::from(after_write)]
    }

    /// Whether a read is in cache and buffer, or begins there and its rest comes with what is being read ahead.
    fn begins_in_memory(&mut self, request: &Inside, now: Nanos) -> bool {
        self.take_what_was_read_ahead(now);
        let missing = self.first_missing(request.first, request.end);
        missing == request.end || (missing > request.first && self.is_being_read_ahead(missing, now))
    }

    /// Moves the data of a request.
    fn transfer_all(&mut self, tag: Tag, way: Way, cx: &mut Cx) {
        let request = self.inside(tag);
        let ns = self.link.time(&self.settings.interface, request.end - request.first, way);
        self.transfer(Some(tag), ns, cx);
    }

    /// The first sector of a range that is neither in the cache nor in the track buffer.
    fn first_missing(&mut self, first: Lba, end: Lba) -> Lba {
        let mut lba = first;
        while lba < end {
            let Some(run) = self.cache.end_of(lba).or_else(|| self.buffer.end_of(lba)) else { break };
            lba = run;
        }
        lba.min(end)
    }

    /// A read has come: from cache and buffer, as far as it is there; else from the medium.
    fn read(&mut self, tag: Tag, cx: &mut Cx) {
        self.take_what_was_read_ahead(cx.now());
        let request = self.inside(tag);
        let missing = self.first_missing(request.first, request.end);
        if missing == request.end {
            self.counts.read_hits += 1;
            self.read_on(request.first, request.end);
            return self.transfer_all(tag, Way::ToHost, cx);
        }
        if missing > request.first {
            let ns = self.link.time(&self.settings.interface, missing - request.first, Way::ToHost);
            self.transfer(None, ns, cx);
        }
        let comes = self.comes_with_read_ahead(tag, missing, request.end, cx);
        if missing > request.first || comes {
            self.counts.partial_read_hits += 1;
        } else {
            self.counts.read_misses += 1;
        }
        if !comes {
            self.wait(tag, missing, request.end, false, None, cx);
        }
    }

    /// A request waits for the medium.
    fn wait(&mut self, tag: Tag, first: Lba, end: Lba, writes: bool, data: Option<Incoming>, cx: &mut Cx) {
        let place = self.mechanism.geometry().place(first);
        let on_track = end.min(first + u64::from(place.left_on_track));
        let ready_ns = match &data {
            Some(_) => self.ready_ns(data.as_ref(), first, on_track, self.mechanism.sector_ns(&place)),
            None => 0,
        };
        let (since, seen) = (cx.now(), self.arrivals());
        self.queue.push(WaitingRequest { tag, first, end, writes, since, place, seen, data, ready_ns });
    }

    /// A count of what came into the buffer or the cache: while it stays the same, no sector is there that was not.
    fn arrivals(&self) -> u64 {
        self.buffer.arrivals() + self.cache.next_number()
    }

    /// Whether a read that waited for the medium finds all its sectors in the buffer by now. It then moves on to the interface.
    pub(super) fn came_meanwhile(&mut self, read: &WaitingRequest, cx: &mut Cx) -> bool {
        let all_came = read.seen != self.arrivals() && self.first_missing(read.first, read.end) == read.end;
        if all_came {
            let ns = self.link.time(&self.settings.interface, read.end - read.first, Way::ToHost);
            self.transfer(Some(read.tag), ns, cx);
        }
        all_came
    }

    /// The data of a write is in the disk.
    pub(super) fn data_arrived(&mut self, tag: Tag, cx: &mut Cx) {
        let request = self.inside(tag);
        if self.ends_on_medium(&request) {
            return self.begin_write(tag, None, cx);
        }
        self.forget_read(request.first, request.end, cx);
        self.entering.push_back(tag);
        let waits = self.entering.len() > 1 || !self.enter(cx);
        self.counts.writes_that_waited += u64::from(waits);
    }

    /// A write goes to the medium, around the cache. Its data is in the disk, or comes meanwhile.
    pub(super) fn begin_write(&mut self, tag: Tag, data: Option<Incoming>, cx: &mut Cx) {
        let request = self.inside(tag);
        self.forget_read(request.first, request.end, cx);
        let void = self.cache.forget(request.first, request.end, self.mechanism.geometry());
        self.counts.overwritten_sectors += void;
        self.wait(tag, request.first, request.end, true, data, cx);
        self.enter(cx);
        self.end_flushes(cx);
    }

    /// Writes enter the cache in the order in which they came, as far as there is room. Returns whether all of them have.
    pub(super) fn enter(&mut self, cx: &mut Cx) -> bool {
        while let Some(&tag) = self.entering.front() {
            let Self { inside, cache, mechanism, .. } = self;
            let write = &mut inside[tag.0 as usize];
            let room = cache.room(write.first, write.end);
            if room > 0 {
                let end = write.first + room;
                self.counts.overwritten_sectors += cache.write(write.first, end, cx.now(), mechanism.geometry());
                write.first = end;
            }
            if write.first < write.end {
                return false;
            }
            self.entering.pop_front();
            self.end_request(tag, Way::ToDisk, cx);
        }
        true
    }

    /// Ends the flushes whose writes are on the medium.
    pub(super) fn end_flushes(&mut self, cx: &mut Cx) {
        while let Some(flush) = self.flushes.first().filter(|flush| self.cache.is_written_before(flush.before)) {
            let tag = flush.tag;
            self.flushes.remove(0);
            self.complete(tag, cx);
        }
    }
}
