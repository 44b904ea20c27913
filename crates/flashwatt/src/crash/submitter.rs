//! What the processes before a block layer may rely on, judged where they send their requests.
//!
//! The drive's observer sees requests as the block layer gives them: merged, split, in another order. This account sees those of the
//! processes alone, and knows nothing of the block layer. It notes the drive's last version when a write is sent. The write's data has a
//! later version then. Once the write is durable, each of its units must come back with a later version than that.
//!
//! A write is durable when it has completed, or with a volatile buffer when a flush has completed that was sent after that, or by FUA.
//! Requests that are under way at the same time have no order: a write is promised nothing beside a trim of the same unit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use super::bugs::Bug;
use crate::config::Config;
use flashwatt_base::error::Error;
use flashwatt_base::units::{Lpn, Nanos};
use flashwatt_core::connector::{
    Completion, Next, Request, RequestKind, Tag, Upcoming, VersionClock, Workload, says_what_inner_says,
};

/// A workload, and what is promised to it if somebody keeps account of that.
pub struct Submitter<W> {
    pub(super) inner: W,
    pub(super) account: Option<Account>,
}

/// The units of a drive that a workload's requests go to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Bytes of the drive before the partition.
    pub start_bytes: u64,
    /// Bytes of a unit.
    pub unit_bytes: u64,
}

impl Units {
    /// Those of a configuration.
    pub fn of_partition(config: &Config) -> Self {
        let start_bytes = config.logical_bytes() - config.partition_bytes();
        Units { start_bytes, unit_bytes: u64::from(config.map_unit_bytes()) }
    }

    /// The units that bytes of the partition lie in, wholly or in part.
    pub fn of(self, offset_bytes: u64, bytes: u64) -> Range<u32> {
        let first = self.start_bytes + offset_bytes;
        (first / self.unit_bytes) as u32..(first + bytes).div_ceil(self.unit_bytes) as u32
    }
}

/// What is promised to a workload.
pub(super) struct Account {
    versions: VersionClock,
    units: Units,
    /// Whether a write is durable when it has completed.
    durable_at_end: bool,
    bug: Bug,
    /// Requests under way by the tag that the device knows, and free tags.
    under_way: Vec<Sent>,
    free: Vec<Tag>,
    /// Requests sent and completed so far, as a clock.
    events: u64,
    /// Writes that have completed and are not durable, in the order of their completions.
    ended: VecDeque<(u64, Sent)>,
    /// By unit: it must hold a version after this one.
    floors: BTreeMap<u32, u64>,
    /// By unit: the last event at which a trim of it was under way.
    trimmed: BTreeMap<u32, u64>,
}

/// A request under way.
#[derive(Clone, Copy)]
struct Sent {
    /// The workload's tag, which need not be unique.
    tag: Tag,
    request: Request,
    /// The event at which it was sent.
    at: u64,
    /// The drive's last version then.
    after: u64,
}

impl Account {
    pub fn new(versions: VersionClock, units: Units, durable_at_end: bool, bug: Bug) -> Self {
        Account {
            versions,
            units,
            durable_at_end,
            bug,
            under_way: Vec::new(),
            free: Vec::new(),
            events: 0,
            ended: VecDeque::new(),
            floors: BTreeMap::new(),
            trimmed: BTreeMap::new(),
        }
    }

    /// A request is sent. Returns its tag for the device.
    fn sent(&mut self, tag: Tag, request: Request) -> Tag {
        self.events += 1;
        let sent = Sent { tag, request, at: self.events, after: self.versions.now() };
        if request.kind == RequestKind::Trim {
            self.trim(&request);
        }
        if request.kind == RequestKind::Write && self.bug == Bug::CompletedInQueue {
            self.write_ended(sent);
        }
        let tag = self.free.pop().unwrap_or_else(|| {
            self.under_way.push(sent);
            Tag(self.under_way.len() as u32 - 1)
        });
        self.under_way[tag.0 as usize] = sent;
        tag
    }

    /// A request has completed. Returns the workload's tag.
    fn completed(&mut self, tag: Tag) -> Tag {
        self.events += 1;
        self.free.push(tag);
        let sent = self.under_way[tag.0 as usize];
        match sent.request.kind {
            RequestKind::Write => self.write_ended(sent),
            RequestKind::Flush => self.flushed(sent.at),
            RequestKind::Trim => self.trim(&sent.request),
            RequestKind::Read => {}
        }
        sent.tag
    }

    fn trim(&mut self, request: &Request) {
        for unit in self.units.of(request.offset_bytes, request.bytes) {
            self.trimmed.insert(unit, self.events);
            self.floors.remove(&unit);
        }
    }

    fn write_ended(&mut self, write: Sent) {
        if self.durable_at_end || write.request.fua {
            self.promise(&write);
        } else {
            self.ended.push_back((self.events, write));
        }
    }

    /// A flush that was sent at this event has completed.
    fn flushed(&mut self, sent_at: u64) {
        while let Some((_, write)) = self.ended.pop_front_if(|(ended, _)| *ended < sent_at) {
            self.promise(&write);
        }
    }

    /// A write is durable.
    fn promise(&mut self, write: &Sent) {
        for unit in self.units.of(write.request.offset_bytes, write.request.bytes) {
            if self.trimmed.get(&unit).is_none_or(|&trimmed| trimmed < write.at) {
                let floor = self.floors.entry(unit).or_default();
                *floor = write.after.max(*floor);
            }
        }
    }

    /// Units of which a durable write is lost, if the drive holds these versions. Those that torn pages have spoilt do not count.
    pub fn lost_units(&self, held: &[Option<u64>], spoilt: &BTreeSet<Lpn>) -> u32 {
        let is_lost = |&(&unit, &after): &(&u32, &u64)| {
            held[unit as usize].is_none_or(|version| version <= after) && !spoilt.contains(&Lpn(unit))
        };
        self.floors.iter().filter(is_lost).count() as u32
    }
}

impl<W: Workload> Workload for Submitter<W> {
    says_what_inner_says!();

    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        Ok(match (self.inner.next(now)?, &mut self.account) {
            (Next::Request(tag, request), Some(account)) => Next::Request(account.sent(tag, request), request),
            (next, _) => next,
        })
    }

    fn depth(&self) -> Option<u64> {
        self.inner.depth()
    }

    fn upcoming(&self) -> Option<Upcoming> {
        self.inner.upcoming()
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        let tag = self.account.as_mut().map_or(done.tag, |account| account.completed(done.tag));
        self.inner.completed(&Completion { tag, ..*done }, now);
    }

    fn check(&mut self) {
        self.inner.check();
    }

    fn follow(&mut self, versions: &VersionClock) {
        self.inner.follow(versions);
    }

    fn len_hint(&self) -> Option<u64> {
        self.inner.len_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fourth unit of 4 KiB is the partition's first one.
    fn account(durable_at_end: bool) -> (Account, VersionClock) {
        let versions = VersionClock::default();
        versions.set(1);
        let units = Units { start_bytes: 3 * 4096, unit_bytes: 4096 };
        (Account::new(versions.clone(), units, durable_at_end, Bug::None), versions)
    }

    fn of(kind: RequestKind) -> Request {
        Request::new(0, kind, 0, if kind == RequestKind::Flush { 0 } else { 6144 })
    }

    fn lost(account: &Account, third: Option<u64>, fourth: Option<u64>) -> u32 {
        account.lost_units(&[None, None, None, third, fourth], &BTreeSet::new())
    }

    #[test]
    fn all_units_of_a_write_come_back_with_later_versions() {
        let (mut account, versions) = account(true);
        versions.set(5);
        let tag = account.sent(Tag(9), of(RequestKind::Write));
        versions.set(7);
        assert_eq!(lost(&account, None, None), 0, "nothing is promised before its end");
        assert_eq!(account.completed(tag), Tag(9));
        assert_eq!([lost(&account, Some(6), Some(7)), lost(&account, Some(5), Some(7))], [0, 1]);
        assert_eq!([lost(&account, Some(6), None), lost(&account, Some(5), None)], [1, 2]);
        let spoilt = BTreeSet::from([Lpn(4)]);
        assert_eq!(account.lost_units(&[None; 5], &spoilt), 1);
    }

    #[test]
    fn a_flush_covers_what_had_ended_when_it_was_sent() {
        let (mut account, versions) = account(false);
        let [early, late] = [0, 1].map(|tag| {
            versions.set(versions.now() + 1);
            account.sent(Tag(tag), of(RequestKind::Write))
        });
        account.completed(early);
        let flush = account.sent(Tag(2), of(RequestKind::Flush));
        account.completed(late);
        account.completed(flush);
        assert_eq!([lost(&account, Some(3), Some(3)), lost(&account, Some(2), Some(3))], [0, 1], "after version 2");
        let again = account.sent(Tag(2), of(RequestKind::Flush));
        account.completed(again);
        assert_eq!(lost(&account, Some(3), Some(4)), 1, "after version 3");
    }

    #[test]
    fn beside_a_trim_a_write_is_promised_nothing() {
        let (mut account, _) = account(true);
        let write = account.sent(Tag(0), of(RequestKind::Write));
        let trim = account.sent(Tag(1), of(RequestKind::Trim));
        account.completed(write);
        assert_eq!(lost(&account, None, None), 0);
        let beside = account.sent(Tag(2), of(RequestKind::Write));
        account.completed(trim);
        account.completed(beside);
        assert_eq!(lost(&account, None, None), 0);
        let later = account.sent(Tag(3), of(RequestKind::Write));
        account.completed(later);
        assert_eq!(lost(&account, None, None), 2);
        account.sent(Tag(4), of(RequestKind::Trim));
        assert_eq!(lost(&account, None, None), 0);
    }
}
