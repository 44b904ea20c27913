//! The way of a request through the disk, up to the medium.

use super::geometry::Lba;
use super::queue::WaitingRequest;
use super::{COMMAND, Flush, Hdd};
use flashwatt_core::connector::{Cx, RequestKind, Tag};

impl Hdd {
    /// The electronics have handled a command.
    pub(super) fn command_handled(&mut self, cx: &mut Cx) {
        let Some(tag) = self.commands.pop_front() else { unreachable!("a command was under way") };
        if !self.commands.is_empty() {
            cx.agenda.set_free(self.seat + COMMAND, cx.now() + self.settings.interface.command_ns);
        }
        match self.inside(tag).kind {
            RequestKind::Read => self.read(tag, cx),
            RequestKind::Write => self.transfer_all(tag, cx),
            RequestKind::Trim => {
                self.counts.trims += 1;
                self.complete(tag, cx);
            }
            RequestKind::Flush => {
                self.flushes.push(Flush { tag, before: self.cache.next_number() });
                self.end_flushes(cx);
            }
        }
    }

    /// Moves the data of a request.
    fn transfer_all(&mut self, tag: Tag, cx: &mut Cx) {
        let request = self.inside(tag);
        let ns = self.link.time(&self.settings.interface, request.end - request.first);
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
            self.read_on(request.end);
            return self.transfer_all(tag, cx);
        }
        if missing > request.first {
            let ns = self.link.time(&self.settings.interface, missing - request.first);
            self.transfer(None, ns, cx);
        }
        let comes = self.comes_with_read_ahead(tag, missing, request.end, cx);
        if missing > request.first || comes {
            self.counts.partial_read_hits += 1;
        } else {
            self.counts.read_misses += 1;
        }
        if !comes {
            self.wait(tag, missing, request.end, false, cx);
        }
    }

    /// A request waits for the medium.
    fn wait(&mut self, tag: Tag, first: Lba, end: Lba, writes: bool, cx: &mut Cx) {
        let place = self.mechanism.geometry().place(first);
        self.queue.push(WaitingRequest { tag, first, end, writes, since: cx.now(), place, seen: self.arrivals() });
    }

    /// A count of what came into the buffer or the cache: while it stays the same, no sector is there that was not.
    fn arrivals(&self) -> u64 {
        self.buffer.arrivals() + self.cache.next_number()
    }

    /// Whether a read that waited for the medium finds all its sectors in the buffer by now. It then moves on to the interface.
    pub(super) fn came_meanwhile(&mut self, read: &WaitingRequest, cx: &mut Cx) -> bool {
        let all_came = read.seen != self.arrivals() && self.first_missing(read.first, read.end) == read.end;
        if all_came {
            let ns = self.link.time(&self.settings.interface, read.end - read.first);
            self.transfer(Some(read.tag), ns, cx);
        }
        all_came
    }

    /// The data of a write is in the disk.
    pub(super) fn data_arrived(&mut self, tag: Tag, cx: &mut Cx) {
        let request = self.inside(tag);
        self.forget_read(request.first, request.end, cx);
        if self.settings.write_cache.bytes == 0 || request.fua {
            let void = self.cache.forget(request.first, request.end, self.mechanism.geometry());
            self.counts.overwritten_sectors += void;
            self.wait(tag, request.first, request.end, true, cx);
            self.enter(cx);
            return self.end_flushes(cx);
        }
        self.entering.push_back(tag);
        let waits = self.entering.len() > 1 || !self.enter(cx);
        self.counts.writes_that_waited += u64::from(waits);
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
            self.complete(tag, cx);
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
