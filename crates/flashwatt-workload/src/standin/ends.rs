//! Ends of the latest runs of requests, from which a later request may go on.
//!
//! A run is a request and all later ones of its kind that go on from it, whatever comes between them. Programs that read or write several
//! files in turn make such runs.

use std::collections::BTreeMap;

use super::character::PAGE_BYTES;

/// Number of the latest run ends of a kind of request that a request can go on from.
pub(super) const ENDS: usize = 256;

/// A request that goes on from a run starts less than this from its end, in bytes: a page. With 256 ends, requests anywhere in some MiB
/// would often start within a longer distance of one by chance.
pub(super) const GAP_MAX_BYTES: u64 = PAGE_BYTES;

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunEnd<T> {
    /// The first byte after the run's last request.
    pub byte: u64,
    /// Whether the run has more than one request.
    pub is_grown: bool,
    /// What the user of the list keeps of the run.
    pub of_run: T,
}

/// Where a request goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resumed {
    /// 1 for the end of the latest run, 2 for the one before, and so on. Without a gap the run of the last request of any kind does not count:
    /// a request that goes on from it does not resume anything.
    pub depth: usize,
    /// Whether that run had more than one request before.
    pub is_grown: bool,
    /// Bytes from the run's end to the start of the request.
    pub gap_bytes: i64,
}

/// The ends of the latest [`ENDS`] runs of one kind, each end once.
#[derive(Clone, Debug)]
pub(super) struct RunEnds<T> {
    /// By their numbers, which ascend.
    ends: BTreeMap<u64, RunEnd<T>>,
    /// The number of the end at a byte.
    numbers: BTreeMap<u64, u64>,
    next: u64,
}

impl<T> Default for RunEnds<T> {
    fn default() -> Self {
        RunEnds { ends: BTreeMap::new(), numbers: BTreeMap::new(), next: 0 }
    }
}

impl<T: Copy> RunEnds<T> {
    /// Notes a request from `start` to `end` (exclusive) after one of any kind that ended at `last`. Gives where it goes on from, if that is
    /// an earlier run: one that ends at `start`, or else the latest one that ends less than [`GAP_MAX_BYTES`] from there. Only a request whose
    /// start `is_new` goes on: any other one goes where an earlier one went, and popular pages that lie side by side are no run.
    pub fn note(&mut self, start: u64, end: u64, last: Option<u64>, is_new: bool, of_run: T) -> Option<Resumed> {
        let resumed = if last == Some(start) || !is_new {
            None
        } else if let Some(&number) = self.numbers.get(&start) {
            Some(self.resumed(number, start, self.skipped(last)))
        } else {
            let near = self.numbers.range(start.saturating_sub(GAP_MAX_BYTES - 1)..start.saturating_add(GAP_MAX_BYTES));
            near.map(|(_, number)| *number).max().map(|number| self.resumed(number, start, 0))
        };
        let from = resumed.map_or(start, |resumed| start.wrapping_add_signed(-resumed.gap_bytes));
        self.go_on(from, end, of_run);
        resumed
    }

    fn resumed(&self, number: u64, start: u64, skipped: usize) -> Resumed {
        let RunEnd { byte, is_grown, .. } = self.ends[&number];
        let depth = self.ends.range(number..).count() - skipped;
        Resumed { depth, is_grown, gap_bytes: start as i64 - byte as i64 }
    }

    /// Notes that the run that ended at `from` now ends at `end`; a new run if none ended there.
    pub fn go_on(&mut self, from: u64, end: u64, of_run: T) {
        let is_grown = self.remove(from);
        self.remove(end);
        if self.ends.len() == ENDS
            && let Some((_, oldest)) = self.ends.pop_first()
        {
            self.numbers.remove(&oldest.byte);
        }
        self.ends.insert(self.next, RunEnd { byte: end, is_grown, of_run });
        self.numbers.insert(end, self.next);
        self.next += 1;
    }

    /// Removes the end at a byte. Gives whether there was one.
    fn remove(&mut self, byte: u64) -> bool {
        self.numbers.remove(&byte).and_then(|number| self.ends.remove(&number)).is_some()
    }

    /// The run end that `fits` nearest to this depth, 1 or more, of two the older one. A depth beyond the last end is that of the last end. The
    /// latest end does not count if it is at `but`. None if no end fits.
    pub fn near(&self, depth: usize, fits: impl Fn(&RunEnd<T>) -> bool, but: Option<u64>) -> Option<RunEnd<T>> {
        let skipped = self.skipped(but);
        let depth = depth.min(self.ends.len() - skipped);
        let mut nearest = None;
        for (here, run) in (1..).zip(self.ends.values().rev().skip(skipped)) {
            let away = depth.abs_diff(here);
            if nearest.is_some_and(|(least, _)| here > depth && away > least) {
                break;
            }
            if nearest.is_none_or(|(least, _)| away <= least) && fits(run) {
                nearest = Some((away, *run));
            }
        }
        nearest.map(|(_, run)| run)
    }

    /// 1 if the latest end is at this byte, else 0.
    fn skipped(&self, byte: Option<u64>) -> usize {
        usize::from(byte.is_some() && self.ends.last_key_value().map(|(_, run)| run.byte) == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    /// Six requests worked out by hand. The third one goes on from the first, past the run of the second, the last request. The fourth goes on
    /// from the third directly. The fifth starts 2 KiB behind the end of the second's run, which is second to the run of the other three then.
    /// The sixth is further away than a gap may be.
    #[test]
    fn runs_by_hand() {
        let mut ends = RunEnds::default();
        let mut last = None;
        let mut note = |start: u64, kib: u64| {
            let end = start * KIB + kib * KIB;
            let resumed = ends.note(start * KIB, end, last, true, ());
            last = Some(end);
            resumed
        };
        assert_eq!(note(0, 4), None);
        assert_eq!(note(1000, 4), None);
        assert_eq!(note(4, 8), Some(Resumed { depth: 1, is_grown: false, gap_bytes: 0 }));
        assert_eq!(note(12, 4), None, "it continues the last request");
        assert_eq!(note(1006, 4), Some(Resumed { depth: 2, is_grown: false, gap_bytes: 2048 }));
        assert_eq!(note(1010 + 4, 4), None, "a page behind");
        assert_eq!(note(14, 1), Some(Resumed { depth: 3, is_grown: true, gap_bytes: -2048 }));
        let ends: Vec<_> = ends.ends.values().map(|run| (run.byte / KIB, run.is_grown)).collect();
        assert_eq!(ends, [(1010, true), (1018, false), (15, true)]);
    }

    /// A request that starts where one did before lies near a run by its reuse, so it goes on from none.
    #[test]
    fn a_start_that_is_not_new_goes_on_from_none() {
        let note = |start: u64, is_new: bool| {
            let mut ends = RunEnds::default();
            ends.note(0, 4096, None, true, ());
            ends.note(1 << 20, (1 << 20) + 512, Some(4096), true, ());
            ends.note(start, start + 512, Some((1 << 20) + 512), is_new, ())
        };
        assert_eq!([note(2048, false), note(4096, false)], [None, None]);
        assert_eq!(note(4096, true), Some(Resumed { depth: 1, is_grown: false, gap_bytes: 0 }));
    }

    /// After 300 runs the first 44 are forgotten.
    #[test]
    fn the_oldest_ends_are_forgotten() {
        let with = |start: u64| {
            let mut ends = RunEnds::default();
            (0..300_u64).for_each(|run| ends.go_on(run << 20, (run << 20) + 512, ()));
            ends.note(start, start + 512, None, true, ())
        };
        assert_eq!(with((43 << 20) + 512), None);
        assert_eq!(with((44 << 20) + 512), Some(Resumed { depth: 256, is_grown: false, gap_bytes: 0 }));
    }

    /// Ends at 1, 2, 3 and 4, the latest one at 4. The runs that end at 1 and 2 are grown.
    #[test]
    fn the_nearest_fitting_end_by_hand() {
        let mut ends = RunEnds::default();
        [(100, 101), (200, 201), (101, 1), (201, 2), (300, 3), (400, 4)]
            .into_iter()
            .for_each(|(from, end)| ends.go_on(from, end, ()));
        let near = |depth, grown: bool, but| ends.near(depth, |run| run.is_grown == grown, but).map(|run| run.byte);
        assert_eq!([1, 2, 3, 4, 9].map(|depth| near(depth, true, None)), [2, 2, 2, 1, 1].map(Some));
        assert_eq!([1, 2, 3, 4, 9].map(|depth| near(depth, false, None)), [4, 3, 3, 3, 3].map(Some));
        assert_eq!([1, 2, 3].map(|depth| near(depth, false, Some(4))), [3, 3, 3].map(Some), "4 does not count");
        assert_eq!(
            ends.near(3, |run| [1, 3].contains(&run.byte), None).map(|run| run.byte),
            Some(1),
            "the older one of two"
        );
        assert_eq!(ends.near(1, |_| false, None), None);
        let mut fresh = RunEnds::default();
        assert_eq!(fresh.near(1, |_| true, None), None);
        fresh.go_on(0, 5, ());
        assert_eq!(
            (fresh.near(1, |_| true, Some(5)), fresh.near(1, |_| true, None).map(|run| run.byte)),
            (None, Some(5))
        );
    }
}
