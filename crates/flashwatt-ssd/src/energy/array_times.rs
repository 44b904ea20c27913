//! The times at which at least one die executes an array operation.
//!
//! The array work of an operation is known when the operation starts, and most of it lies ahead: first the bus brings
//! command and data. No operation begins its array work before it starts, so the union of all work is final up to the
//! present time. It is kept as stretches that do not touch. Mostly one stretch grows at its end; a second one is needed
//! only for work that begins after all other work has ended.
//!
//! Work that can be suspended has no end that is known ahead. A drive with such work tells the begin of each piece of it
//! ([`ArrayTimes::begin_open`]), and the end when it comes ([`ArrayTimes::end_open`]). It does so for all of its work:
//! while a piece is open there is a stretch without an end, and nothing else needs to be known.

use std::collections::VecDeque;
use std::hint::cold_path;

use flashwatt_base::units::Nanos;

/// The union of the array work of all dies, from the present time on.
#[derive(Clone)]
pub struct ArrayTimes {
    /// Whether a die's array works, up to the next turn.
    works: bool,
    /// End of the present stretch if an array works, else start of the next one.
    turn_at: Nanos,
    /// End of the next stretch while no array works.
    next_until: Nanos,
    /// Work that begins before the present stretch ends and ends before this only prolongs that stretch: start of the
    /// next one, 0 while no array works.
    limit: Nanos,
    /// The stretches after these, in order.
    later: Vec<Stretch>,
    /// Work without an end that is known.
    open: OpenWork,
}

/// Pieces of array work that have no end yet.
#[derive(Clone, Default)]
struct OpenWork {
    /// Pieces that have begun.
    begun: u32,
    /// The begins of other pieces, in order. Some of them may be in the past.
    begins: VecDeque<Nanos>,
}

/// A stretch of time with array work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stretch {
    from: Nanos,
    until: Nanos,
}

/// The time of something that does not come.
const NEVER: Nanos = Nanos::MAX;

impl Default for ArrayTimes {
    /// No array works, now or ahead.
    fn default() -> Self {
        let (later, open) = (Vec::new(), OpenWork::default());
        ArrayTimes { works: false, turn_at: NEVER, next_until: NEVER, limit: 0, later, open }
    }
}

impl ArrayTimes {
    /// Adds the work of a die from a time, which is not in the past, until another.
    #[inline(always)]
    pub fn add(&mut self, from: Nanos, until: Nanos) {
        if from <= self.turn_at && until < self.limit {
            self.turn_at = self.turn_at.max(until);
        } else if self.turn_at == NEVER {
            cold_path();
            (self.turn_at, self.next_until) = (from, until);
        } else {
            cold_path();
            self.insert(Stretch { from, until });
        }
    }

    #[inline(never)]
    fn insert(&mut self, new: Stretch) {
        let (works, first) = (self.works, Stretch { from: self.turn_at, until: self.next_until });
        self.later.insert(0, if works { Stretch { from: 0, until: self.turn_at } } else { first });
        let start = self.later.partition_point(|stretch| stretch.until < new.from);
        let end = self.later.partition_point(|stretch| stretch.from <= new.until);
        let joined = self.later[start..end].iter().fold(new, |sum, stretch| Stretch {
            from: sum.from.min(stretch.from),
            until: sum.until.max(stretch.until),
        });
        self.later.splice(start..end, [joined]);
        self.take_next();
        if works {
            self.begin();
        }
    }

    /// The first of the later stretches becomes the next one.
    #[inline(never)]
    fn take_next(&mut self) {
        let next = self.later.remove(0);
        (self.turn_at, self.next_until) = (next.from, next.until);
    }

    /// The next stretch becomes the present one.
    #[inline(always)]
    fn begin(&mut self) {
        self.turn_at = self.next_until;
        self.limit = self.later.first().map_or(NEVER, |stretch| stretch.from);
    }

    /// A die's array begins to work at a time, which is not in the past. It is not known for how long: until [`Self::end_open`].
    pub fn begin_open(&mut self, at: Nanos) {
        debug_assert!(self.next_until == NEVER && self.later.is_empty(), "all work is open, or none is");
        let begins = &mut self.open.begins;
        let place = begins.iter().rposition(|&begin| begin <= at).map_or(0, |before| before + 1);
        begins.insert(place, at);
        if !self.works && at < self.turn_at {
            self.turn_at = at;
        }
    }

    /// A die's array, which has begun to work, ends at the present time. Returns whether it is the last one at work. All turns up to the
    /// present must have been passed.
    pub fn end_open(&mut self, now: Nanos) -> bool {
        while self.open.begins.front().is_some_and(|&begin| begin <= now) {
            self.open.begins.pop_front();
            self.open.begun += 1;
        }
        debug_assert!(self.open.begun > 0, "an array ends that has not begun");
        self.open.begun -= 1;
        if self.open.begun > 0 {
            return false;
        }
        self.turn_at = self.open.begins.front().copied().unwrap_or(NEVER);
        self.limit = 0;
        std::mem::replace(&mut self.works, false)
    }

    /// Whether a die's array works, up to [`Self::turn_at`].
    #[inline(always)]
    pub fn works(&self) -> bool {
        self.works
    }

    /// The next time at which the first array begins to work or the last one ends, as known so far.
    #[inline(always)]
    pub fn turn_at(&self) -> Nanos {
        self.turn_at
    }

    /// Passes the next turn.
    #[inline(always)]
    pub fn turn(&mut self) {
        self.works = !self.works;
        if self.works {
            return self.begin();
        }
        (self.turn_at, self.limit) = (NEVER, 0);
        if !self.later.is_empty() {
            self.take_next();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All turns before `now`, each with what it turns to.
    fn turns(times: &mut ArrayTimes, now: Nanos) -> Vec<(Nanos, bool)> {
        let mut turns = Vec::new();
        while times.turn_at() < now {
            let at = times.turn_at();
            times.turn();
            turns.push((at, times.works()));
        }
        turns
    }

    #[test]
    fn stretches_that_touch_are_one() {
        let mut times = ArrayTimes::default();
        times.add(100, 200);
        times.add(300, 400);
        times.add(50, 60);
        times.add(200, 300);
        assert_eq!(turns(&mut times, 1_000), [(50, true), (60, false), (100, true), (400, false)]);
        assert_eq!(times.turn_at(), Nanos::MAX, "nothing is left");
    }

    /// Work that begins at the instant at which other work ends leaves no gap, although it becomes known only then.
    #[test]
    fn work_that_follows_at_once_leaves_no_gap() {
        let mut times = ArrayTimes::default();
        times.add(10, 20);
        assert_eq!(turns(&mut times, 20), [(10, true)]);
        times.add(20, 30);
        assert_eq!(turns(&mut times, 40), [(30, false)]);
    }

    /// Work that begins at the instant at which other open work ends leaves no gap, if its begin is known by then.
    #[test]
    fn open_work_goes_on_until_the_last_end() {
        let mut times = ArrayTimes::default();
        times.begin_open(10);
        assert_eq!(turns(&mut times, 15), [(10, true)]);
        times.begin_open(20);
        assert!(!times.end_open(20), "the next one has begun");
        times.begin_open(40);
        assert_eq!(turns(&mut times, 30), []);
        assert!(times.end_open(30));
        assert_eq!((times.works(), times.turn_at()), (false, 40));
        assert_eq!(turns(&mut times, 50), [(40, true)]);
        times.begin_open(50);
        assert!(!times.end_open(50), "one that began now");
        assert!(times.end_open(50));
        assert_eq!(times.turn_at(), NEVER);
    }

    /// Work without any length is no work.
    #[test]
    fn open_work_that_ends_at_once_turns_nothing() {
        let mut times = ArrayTimes::default();
        times.begin_open(5);
        assert_eq!(turns(&mut times, 5), []);
        assert!(!times.end_open(5), "no array was at work before");
        assert_eq!((times.works(), times.turn_at()), (false, NEVER));
    }

    proptest! {
        /// Pieces become known before they begin, and end at a time that is told only then. The time with work is that of the union of
        /// all, and so is the time up to each event.
        #[test]
        fn open_work_takes_the_time_of_the_union(
            steps in prop::collection::vec((0..50u64, 0..100u64, 0..80u64), 1..60),
        ) {
            // (time, begin) of what happens: a piece is told (its begin), or ends (none).
            let (mut events, mut all, mut told) = (Vec::new(), Vec::new(), 0);
            for (passed, ahead, length) in steps {
                told += passed;
                events.push((told, Some(told + ahead)));
                events.push((told + ahead + length, None));
                all.push(told + ahead..told + ahead + length);
            }
            events.sort_by_key(|&(at, begin)| (at, begin.is_none()));
            let (mut times, mut since) = (ArrayTimes::default(), 0);
            let mut found = [false; 5_000];
            let mut pass = |times: &mut ArrayTimes, until: Nanos| {
                while times.turn_at() <= until {
                    let at = times.turn_at();
                    found[since as usize..at as usize].fill(times.works());
                    since = at;
                    times.turn();
                }
                found[since as usize..until as usize].fill(times.works());
                since = until;
            };
            for (at, begin) in events {
                pass(&mut times, at);
                match begin {
                    Some(begin) => times.begin_open(begin),
                    None => {
                        let worked = times.works();
                        let was_last = times.end_open(at);
                        prop_assert_eq!(was_last, worked && !times.works());
                    }
                }
            }
            pass(&mut times, 5_000);
            prop_assert_eq!(times.turn_at(), NEVER);
            for (at, &works) in (0..).zip(&found) {
                prop_assert_eq!(works, all.iter().any(|one| one.contains(&at)), "at {}", at);
            }
        }

        /// Operations become known in the order of their starts, and work some time after. The time with work is that
        /// of the union of all, and so is the time up to each start.
        #[test]
        fn work_takes_the_time_of_the_union(
            steps in prop::collection::vec((0..50u64, 0..100u64, 1..80u64), 1..60),
        ) {
            let (mut times, mut now, mut all) = (ArrayTimes::default(), 0, Vec::new());
            let mut found = [false; 20_000];
            let mut since = 0;
            let mut pass = |times: &mut ArrayTimes, until: Nanos| {
                while times.turn_at() < until {
                    let at = times.turn_at();
                    found[since as usize..at as usize].fill(times.works());
                    since = at;
                    times.turn();
                }
                found[since as usize..until as usize].fill(times.works());
                since = until;
            };
            for (passed, ahead, length) in steps {
                now += passed;
                pass(&mut times, now);
                times.add(now + ahead, now + ahead + length);
                all.push(now + ahead..now + ahead + length);
            }
            pass(&mut times, 20_000);
            for (at, &works) in (0..).zip(&found) {
                prop_assert_eq!(works, all.iter().any(|one| one.contains(&at)), "at {}", at);
            }
        }
    }
}
