//! Requests in the queue and in the device over time, in bins.

use serde::Serialize;

use flashwatt_base::units::Nanos;

/// Bins being filled.
#[derive(Clone, Debug)]
pub struct Depths {
    interval_ns: Nanos,
    /// Adjacent bins become one whenever there are this many.
    merge_at: Option<usize>,
    start_ns: Nanos,
    /// Of each bin, in request-nanoseconds: requests queued, requests in the device.
    bins: Vec<[u64; 2]>,
}

/// Mean numbers of requests in bins of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DepthSeries {
    /// Length of a bin in ns. The last one may be shorter.
    pub interval_ns: Nanos,
    /// Simulated time in ns at which the first bin begins.
    pub start_ns: Nanos,
    /// Mean number of queued requests in each bin.
    pub queued: Vec<f64>,
    /// Mean number of requests in the device in each bin.
    pub in_device: Vec<f64>,
}

impl Depths {
    /// Bins of `interval_ns` > 0. With `merge_at` this is the first length: a run of any length ends with `merge_at` / 2 to
    /// `merge_at` bins.
    pub fn new(interval_ns: Nanos, merge_at: Option<usize>) -> Self {
        Depths { interval_ns, merge_at, start_ns: 0, bins: Vec::new() }
    }

    /// Forgets everything and begins at `now`.
    pub(crate) fn restart(&mut self, now: Nanos) {
        self.start_ns = now;
        self.bins.clear();
    }

    /// Books a time with constant numbers of requests.
    pub(crate) fn pass(&mut self, mut from: Nanos, until: Nanos, counts: [u32; 2]) {
        while from < until {
            let mut bin = ((from - self.start_ns) / self.interval_ns) as usize;
            if self.merge_at.is_some_and(|at| bin >= at) {
                self.merge();
                bin /= 2;
            }
            if bin >= self.bins.len() {
                self.bins.resize(bin + 1, [0, 0]);
            }
            let end = self.start_ns.saturating_add((bin as u64 + 1).saturating_mul(self.interval_ns)).min(until);
            for (sum, count) in self.bins[bin].iter_mut().zip(counts) {
                *sum += (end - from) * u64::from(count);
            }
            from = end;
        }
    }

    fn merge(&mut self) {
        self.interval_ns *= 2;
        let sum = |pair: &[[u64; 2]]| pair.iter().fold([0, 0], |sum, bin| [sum[0] + bin[0], sum[1] + bin[1]]);
        self.bins = self.bins.chunks(2).map(sum).collect();
    }

    /// The series until `now`.
    pub(crate) fn series(&self, now: Nanos) -> DepthSeries {
        let length = |bin: usize| {
            let start = self.start_ns + bin as u64 * self.interval_ns;
            (start.saturating_add(self.interval_ns).min(now) - start).max(1) as f64
        };
        let column =
            |at: usize| self.bins.iter().enumerate().map(|(bin, sums)| sums[at] as f64 / length(bin)).collect();
        DepthSeries { interval_ns: self.interval_ns, start_ns: self.start_ns, queued: column(0), in_device: column(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two requests for 15 ns, then one for 10 ns, in bins of 10 ns: 2, then (5 × 2 + 5 × 1) / 10, then 1 over the last 5 ns.
    #[test]
    fn a_bin_has_the_mean_over_its_own_length() {
        let mut depths = Depths::new(10, None);
        depths.restart(100);
        depths.pass(100, 115, [2, 4]);
        depths.pass(115, 125, [1, 0]);
        let series = depths.series(125);
        assert_eq!((series.start_ns, series.interval_ns), (100, 10));
        assert_eq!((series.queued, series.in_device), (vec![2.0, 1.5, 1.0], vec![4.0, 2.0, 0.0]));
    }

    #[test]
    fn bins_merge_when_there_are_too_many() {
        let mut depths = Depths::new(10, Some(4));
        depths.pass(0, 100, [3, 1]);
        let series = depths.series(100);
        assert_eq!((series.interval_ns, series.queued), (40, vec![3.0, 3.0, 3.0]));
    }
}
