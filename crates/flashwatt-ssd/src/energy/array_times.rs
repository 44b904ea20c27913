//! The times at which at least one die executes an array operation.
//!
//! The array work of an operation is known when the operation starts, and most of it lies ahead: first the bus brings
//! command and data. No operation begins its array work before it starts, so the union of all work is final up to the
//! present time. It is kept as stretches that do not touch. Mostly one stretch grows at its end; a second one is needed
//! only for work that begins after all other work has ended.

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
        ArrayTimes { works: false, turn_at: NEVER, next_until: NEVER, limit: 0, later: Vec::new() }
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

    proptest! {
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
