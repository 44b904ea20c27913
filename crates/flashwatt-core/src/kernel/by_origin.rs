//! Counts of completed requests by origin.

use super::Completed;
use crate::connector::Origin;

/// Origins with figures of their own. Further ones are counted together.
pub const ORIGINS_MAX: usize = 1024;

/// Counts of completed requests by origin. Empty while all requests are of origin 0.
#[derive(Clone, Debug, Default)]
pub struct ByOrigin {
    /// By the origin's number; `None` for an origin without requests, or one counted in `others`.
    own: Vec<Option<Box<Completed>>>,
    /// Number of origins with counts of their own.
    kept: usize,
    /// All origins that appeared after the first [`ORIGINS_MAX`].
    others: Option<Box<Completed>>,
}

impl ByOrigin {
    /// Whether a request had another origin than 0.
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.kept > 0
    }

    /// Origins with figures of their own, by number.
    pub fn own(&self) -> impl Iterator<Item = (Origin, &Completed)> {
        let numbered = (0..=u16::MAX).zip(&self.own);
        numbered.filter_map(|(number, completed)| Some((Origin(number), completed.as_deref()?)))
    }

    /// All further origins together, if there are any.
    pub fn others(&self) -> Option<&Completed> {
        self.others.as_deref()
    }

    /// Starts from counts of requests that were all of origin 0.
    pub(super) fn of_first(all: &Completed) -> Self {
        let mut by_origin = ByOrigin { kept: 1, ..ByOrigin::default() };
        by_origin.own.push(Some(Box::new(all.clone())));
        by_origin
    }

    /// The counts that a request of this origin belongs to.
    pub(super) fn completed(&mut self, origin: Origin) -> &mut Completed {
        let at = usize::from(origin.0);
        if self.own.len() <= at {
            self.own.resize_with(at + 1, || None);
        }
        let is_new = self.own[at].is_none();
        if is_new && self.kept >= ORIGINS_MAX {
            return self.others.get_or_insert_default();
        }
        self.kept += usize::from(is_new);
        self.own[at].get_or_insert_default()
    }

    /// The sum of the counts of two stages. A stage with empty counts had origin 0 only.
    pub(super) fn sum(a: &Completed, b: &Completed) -> Self {
        let (mut sum, other) = match (a.by_origin.is_kept(), b.by_origin.is_kept()) {
            (false, false) => return ByOrigin::default(),
            (true, true) => (a.by_origin.clone(), b.by_origin.clone()),
            (true, false) => (a.by_origin.clone(), ByOrigin::of_first(b)),
            (false, true) => (ByOrigin::of_first(a), b.by_origin.clone()),
        };
        for (origin, completed) in other.own() {
            let to = sum.completed(origin);
            *to = to.plus(completed);
        }
        if let Some(others) = other.others() {
            let to = sum.others.get_or_insert_default();
            **to = to.plus(others);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::RequestKind;
    use crate::kernel::outcome::TimeSpan;

    fn counts(by_origin: &ByOrigin) -> Vec<(u16, u64)> {
        by_origin.own().map(|(origin, completed)| (origin.0, completed.requests())).collect()
    }

    #[test]
    fn nothing_is_kept_of_one_origin_and_all_of_several() {
        let (mut all, mut one) = (Completed::default(), Completed::default());
        for (origin, latency) in [(0, 5), (0, 7), (3, 100), (0, 9)] {
            let span = TimeSpan { start: 10 * u64::from(origin), end: 10 * u64::from(origin) + latency };
            all.add(Origin(origin), RequestKind::Read, 512, span);
            one.add(Origin(0), RequestKind::Write, 512, span);
        }
        assert!(!one.by_origin.is_kept() && counts(&one.by_origin).is_empty());
        assert_eq!(counts(&all.by_origin), [(0, 3), (3, 1)]);
        let sum = one.plus(&all);
        assert_eq!(counts(&sum.by_origin), [(0, 7), (3, 1)]);
        assert_eq!(counts(&all.plus(&one).by_origin), [(0, 7), (3, 1)]);
        let bytes: u64 = sum.by_origin.own().map(|(_, completed)| completed.read_bytes + completed.write_bytes).sum();
        assert_eq!((bytes, sum.requests()), (8 * 512, 8));
        assert_eq!(
            all.by_origin.own().map(|(_, one)| one.reads.summary().mean).collect::<Vec<_>>(),
            [Some(7.0), Some(100.0)]
        );
        let spans: Vec<TimeSpan> = sum.by_origin.own().map(|(_, one)| one.span_ns).collect();
        assert_eq!(spans, [TimeSpan { start: 0, end: 130 }, TimeSpan { start: 30, end: 130 }]);
    }

    #[test]
    fn further_origins_are_counted_together() {
        let mut all = Completed::default();
        for origin in (0..ORIGINS_MAX as u16 + 3).chain([5]) {
            all.add(Origin(origin), RequestKind::Trim, 512, TimeSpan { start: 0, end: 1 });
        }
        let own: u64 = counts(&all.by_origin).iter().map(|(_, requests)| requests).sum();
        assert_eq!((all.by_origin.own().count(), own), (ORIGINS_MAX, ORIGINS_MAX as u64 + 1));
        assert_eq!(all.by_origin.others().map(Completed::requests), Some(3));
    }
}
