//! What the host may rely on: the versions of each page, and which of them are durable.

use std::collections::{BTreeMap, BTreeSet};

use flashwatt_base::shared::Shared;
use flashwatt_base::units::{Lpn, Nanos, RequestId};

/// The versions that may come back after a power cut.
#[derive(Clone, Debug)]
pub struct Promises {
    units: Shared<PromisedUnit>,
    /// The units that are open: a flush looks at these alone.
    open: BTreeSet<Lpn>,
    /// The versions that a request under way has written, or up to which it has trimmed.
    by_request: BTreeMap<RequestId, Vec<(Lpn, u64)>>,
    /// Whether the drive records trims: then a trim is durable when a flush has completed that came after it had completed.
    has_durable_trims: bool,
    /// Whether a write is durable when it has completed.
    durable_at_end: bool,
}

/// A logical unit. Most are settled, and a power cut copies few of the others.
#[derive(Clone, Debug, PartialEq)]
enum PromisedUnit {
    /// This version is durable, and nothing else was written, or can come back; or nothing was ever promised.
    Settled(Option<u64>),
    /// More than that is known.
    Open(Box<History>),
}

/// The versions of a logical unit that may come back.
#[derive(Clone, Debug, Default, PartialEq)]
struct History {
    writes: Vec<Write>,
    /// The version counter at the last trim: versions up to it have no meaning any more.
    trimmed_at: u64,
    /// Trims that are not durable: the version counter at each, and the time in ns at which it had completed, if it has.
    trims: Vec<(u64, Option<Nanos>)>,
    /// The version counter at the last durable trim: versions up to it must not come back. What the start state has overwritten is
    /// version 0, so that no number stands for none.
    void: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Write {
    version: u64,
    /// The version counter when it was written: versions that had completed by then are older for sure.
    ended_at: Option<u64>,
    ended_ns: Nanos,
    is_durable: bool,
}

/// What a unit holds after a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Its last version.
    Kept,
    /// An older version, or nothing; nothing newer was durable.
    RolledBack,
    /// An older version than a durable one, nothing although something was durable, or what was there before a durable trim.
    Lost,
}

impl Promises {
    /// The promises of a drive in its start state: the first version of each page that holds data is durable.
    pub fn new(first: impl Iterator<Item = Option<u64>>, durable_at_end: bool) -> Self {
        let units = first.map(PromisedUnit::Settled).collect();
        let (open, by_request) = Default::default();
        Promises { units, open, by_request, has_durable_trims: false, durable_at_end }
    }

    /// No promises, of a drive of which nobody asks for them.
    pub fn none() -> Self {
        Promises::new(std::iter::empty(), true)
    }

    /// The same of a drive that records trims, if `is_true`.
    pub fn with_durable_trims(self, is_true: bool) -> Self {
        Promises { has_durable_trims: is_true, ..self }
    }

    /// What is known of a unit, to change it. [`Self::settle`] comes after that.
    fn open(&mut self, lpn: Lpn) -> &mut History {
        self.open.insert(lpn);
        let unit = self.units.change(lpn.idx());
        if let PromisedUnit::Settled(version) = *unit {
            *unit = PromisedUnit::Open(Box::new(History::holding(version, None)));
        }
        match unit {
            PromisedUnit::Open(history) => history,
            PromisedUnit::Settled(_) => unreachable!("it has just been opened"),
        }
    }

    /// Settles a unit of which one version is left, which is durable, and which was never trimmed.
    fn settle(&mut self, lpn: Lpn) {
        let PromisedUnit::Open(history) = &self.units[lpn.idx()] else { return };
        if let Some(version) = history.only_version() {
            *self.units.change(lpn.idx()) = PromisedUnit::Settled(Some(version));
            self.open.remove(&lpn);
        }
    }

    /// A request writes a version of a unit.
    pub fn written(&mut self, request: RequestId, lpn: Lpn, version: u64) {
        let write = Write { version, ended_at: None, ended_ns: 0, is_durable: false };
        self.open(lpn).writes.push(write);
        self.by_request.entry(request).or_default().push((lpn, version));
    }

    /// A trim voids what was promised of a unit. `version` is the last one that any write has got.
    pub fn trimmed(&mut self, request: RequestId, lpn: Lpn, version: u64) {
        let has_durable_trims = self.has_durable_trims;
        let history = self.open(lpn);
        history.writes.iter_mut().for_each(|write| write.is_durable = false);
        history.trimmed_at = version;
        if has_durable_trims {
            history.trims.push((version, None));
            self.by_request.entry(request).or_default().push((lpn, version));
        }
    }

    /// A trim has completed at this time.
    pub fn trim_ended(&mut self, request: RequestId, now: Nanos) {
        for (lpn, trimmed) in self.by_request.remove(&request).unwrap_or_default() {
            let mut trims = self.open(lpn).trims.iter_mut();
            if let Some(trim) = trims.find(|(version, ended)| *version == trimmed && ended.is_none()) {
                trim.1 = Some(now);
            }
        }
    }

    /// A write has completed at this time; `version` is the last one that any write has got. `forced`: with FUA.
    pub fn write_ended(&mut self, request: RequestId, forced: bool, version: u64, now: Nanos) {
        for (lpn, written) in self.by_request.remove(&request).unwrap_or_default() {
            let is_durable = forced || self.durable_at_end;
            let history = self.open(lpn);
            if let Some(write) = history.writes.iter_mut().find(|write| write.version == written) {
                (write.ended_at, write.ended_ns) = (Some(version), now);
                if is_durable {
                    history.make_durable(written);
                }
            }
            self.settle(lpn);
        }
    }

    /// A flush that came at this time has completed.
    pub fn flushed(&mut self, came_ns: Nanos) {
        for lpn in self.open.clone() {
            self.open(lpn).flushed(came_ns);
            self.settle(lpn);
        }
    }

    /// Requests that were under way at a cut will not complete. Versions that did not come back never will.
    pub fn cut(&mut self, kept: impl Fn(Lpn) -> Option<u64>) {
        self.by_request.clear();
        self.open.clear();
        let after = |(lpn, unit): (Lpn, &PromisedUnit)| {
            let found = kept(lpn); // it is on flash
            // What a durable trim had voided, and is there again, is lost once: a second cut that finds it finds what was there.
            let void = match unit {
                PromisedUnit::Settled(_) => None,
                PromisedUnit::Open(history) => history.void.filter(|&void| found.is_none_or(|found| found > void)),
            };
            if void.is_none() {
                return PromisedUnit::Settled(found);
            }
            self.open.insert(lpn);
            PromisedUnit::Open(Box::new(History::holding(found, void)))
        };
        self.units = (0..).map(Lpn).zip(self.units.iter()).map(after).collect();
    }

    /// What has become of a unit that holds this version after a cut, or nothing.
    pub fn fate(&self, lpn: Lpn, found: Option<u64>) -> Fate {
        match &self.units[lpn.idx()] {
            PromisedUnit::Open(history) => history.fate(found),
            PromisedUnit::Settled(durable) if found == *durable && found != Some(0) => Fate::Kept, // version 0 is what a start state had overwritten
            PromisedUnit::Settled(durable) if durable.is_none() || found == *durable => Fate::RolledBack,
            PromisedUnit::Settled(_) => Fate::Lost,
        }
    }
}

impl Write {
    fn durable(version: u64) -> Self {
        Write { version, ended_at: Some(version), ended_ns: 0, is_durable: true }
    }
}

impl History {
    /// Of a unit with this version on flash, or nothing.
    fn holding(version: Option<u64>, void: Option<u64>) -> Self {
        History { writes: version.map(Write::durable).into_iter().collect(), void, ..History::default() }
    }

    /// The version that is left of a unit that was never trimmed, if it is durable.
    fn only_version(&self) -> Option<u64> {
        match self.writes.as_slice() {
            [only] if only.is_durable && self.trimmed_at == 0 && self.trims.is_empty() && self.void.is_none() => {
                Some(only.version)
            }
            _ => None,
        }
    }

    /// A version is durable: older ones, whose writes had completed before it was written, cannot come back. Not if the unit was
    /// trimmed after it was written.
    fn make_durable(&mut self, version: u64) {
        if version <= self.trimmed_at {
            return;
        }
        self.writes.retain(|write| write.version == version || write.ended_at.is_none_or(|ended| ended >= version));
        self.writes.iter_mut().filter(|write| write.version == version).for_each(|write| write.is_durable = true);
    }

    /// A flush that came at this time has completed.
    fn flushed(&mut self, came_ns: Nanos) {
        let ended = |write: &&Write| write.ended_at.is_some() && write.ended_ns < came_ns;
        if let Some(version) = self.writes.iter().filter(ended).map(|write| write.version).max() {
            self.make_durable(version);
        }
        self.trims.retain(|&(version, ended)| {
            let is_durable = ended.is_some_and(|ended| ended < came_ns);
            self.void = if is_durable { self.void.max(Some(version)) } else { self.void };
            !is_durable
        });
    }

    fn fate(&self, found: Option<u64>) -> Fate {
        let History { writes, trimmed_at, void, .. } = self;
        let is_older = |durable: &Write| match found {
            None => true,
            Some(found) => {
                let ended = writes.iter().find(|write| write.version == found).map(|write| write.ended_at);
                found != durable.version && ended.is_none_or(|ended| ended.is_some_and(|ended| ended < durable.version))
            }
        };
        let last = writes.iter().map(|write| write.version).filter(|version| version > trimmed_at).max();
        let was_trimmed = found.is_some() && found <= *void;
        if was_trimmed || writes.iter().any(|write| write.is_durable && is_older(write)) {
            Fate::Lost
        } else if found == last {
            Fate::Kept
        } else {
            Fate::RolledBack
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Lpn = Lpn(0);

    fn fates(promises: &Promises) -> [Fate; 3] {
        [None, Some(1), Some(2)].map(|found| promises.fate(ONE, found))
    }

    #[test]
    fn a_write_is_durable_when_it_has_completed_without_a_buffer() {
        let mut promises = Promises::new([Some(1)].into_iter(), true);
        assert_eq!(fates(&promises), [Fate::Lost, Fate::Kept, Fate::Lost]);
        promises.written(RequestId(0), ONE, 2);
        assert_eq!(fates(&promises), [Fate::Lost, Fate::RolledBack, Fate::Kept]);
        promises.write_ended(RequestId(0), false, 2, 10);
        assert_eq!(fates(&promises), [Fate::Lost, Fate::Lost, Fate::Kept]);
    }

    #[test]
    fn a_write_into_a_buffer_is_durable_after_a_later_flush_or_with_fua() {
        let mut promises = Promises::new([Some(1)].into_iter(), false);
        promises.written(RequestId(0), ONE, 2);
        promises.write_ended(RequestId(0), false, 2, 10);
        promises.flushed(10);
        assert_eq!(promises.fate(ONE, Some(1)), Fate::RolledBack, "the flush did not come later");
        promises.flushed(11);
        assert_eq!(promises.fate(ONE, Some(1)), Fate::Lost);
        promises.written(RequestId(1), ONE, 3);
        promises.write_ended(RequestId(1), true, 3, 12);
        assert_eq!(promises.fate(ONE, Some(2)), Fate::Lost);
    }

    #[test]
    fn of_two_writes_at_the_same_time_either_may_be_last() {
        let mut promises = Promises::new([None].into_iter(), true);
        promises.written(RequestId(0), ONE, 1);
        promises.written(RequestId(1), ONE, 2);
        promises.write_ended(RequestId(1), false, 2, 5);
        assert_eq!(fates(&promises), [Fate::Lost, Fate::RolledBack, Fate::Kept]);
    }

    #[test]
    fn after_a_trim_old_data_may_be_seen_until_the_page_is_written_again() {
        let mut promises = Promises::new([Some(1)].into_iter(), true);
        promises.trimmed(RequestId(9), ONE, 1);
        assert_eq!([None, Some(1)].map(|found| promises.fate(ONE, found)), [Fate::Kept, Fate::RolledBack]);
        assert_eq!(promises.fate(ONE, Some(0)), Fate::RolledBack, "what the start state had overwritten");
        promises.written(RequestId(0), ONE, 2);
        promises.write_ended(RequestId(0), false, 2, 5);
        assert_eq!(fates(&promises), [Fate::Lost, Fate::Lost, Fate::Kept]);
    }

    #[test]
    fn a_trim_is_durable_after_a_later_flush_if_it_is_recorded() {
        let mut promises = Promises::new([Some(1)].into_iter(), true).with_durable_trims(true);
        promises.trimmed(RequestId(0), ONE, 1);
        promises.flushed(20);
        assert_eq!(promises.fate(ONE, Some(1)), Fate::RolledBack, "the trim had not completed");
        promises.trim_ended(RequestId(0), 30);
        promises.flushed(30);
        assert_eq!(promises.fate(ONE, Some(1)), Fate::RolledBack, "the flush did not come later");
        promises.flushed(31);
        assert_eq!(fates(&promises), [Fate::Kept, Fate::Lost, Fate::RolledBack]);
        promises.cut(|_| None);
        assert_eq!(promises.fate(ONE, Some(1)), Fate::Lost, "nor after a second cut");
        promises.cut(|_| Some(1));
        assert_eq!(fates(&promises), [Fate::Lost, Fate::Kept, Fate::Lost], "a loss is counted once");
    }
}
