//! Latency statistics: exact count, mean, minimum and maximum; quantiles from a histogram with logarithmic bins.

use std::hint::cold_path;

use serde::Serialize;

use crate::units::Nanos;

/// Base-2 logarithm of the bins per doubling: a quantile is at most 1/128 (0.8 %) above the true value.
const BITS: u32 = 7;

/// A histogram of times.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Empty until the first value comes: most histograms of a drive that comes back from a power cut never get one.
    bins: Vec<u64>,
    count: u64,
    sum: u128,
    min: Nanos,
    max: Nanos,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { bins: Vec::new(), count: 0, sum: 0, min: Nanos::MAX, max: 0 }
    }
}

/// The bin of a value: its exponent and its first `BITS` + 1 binary digits. Values below 2^(BITS + 1) have a bin each.
#[inline(always)]
fn bin(value: Nanos) -> usize {
    let exponent = u64::BITS - 1 - BITS - (value | 1 << BITS).leading_zeros();
    ((exponent as usize) << BITS) + (value >> exponent) as usize
}

/// The greatest value of a bin.
fn top(bin: usize) -> Nanos {
    let exponent = (bin >> BITS).saturating_sub(1) as u32;
    let digits = bin as u64 - (u64::from(exponent) << BITS);
    (((u128::from(digits) + 1) << exponent) - 1) as Nanos
}

impl Histogram {
    /// Adds a value.
    #[inline(always)]
    pub fn add(&mut self, value: Nanos) {
        match self.bins.get_mut(bin(value)) {
            Some(count) => *count += 1,
            None => self.add_first(value),
        }
        self.count += 1;
        self.sum += u128::from(value);
        if value < self.min {
            cold_path();
            self.min = value;
        }
        if value > self.max {
            cold_path();
            self.max = value;
        }
    }

    #[cold]
    fn add_first(&mut self, value: Nanos) {
        self.bins = vec![0; bin(Nanos::MAX) + 1];
        self.bins[bin(value)] = 1;
    }

    /// Adds a value `count` times.
    pub fn add_many(&mut self, value: Nanos, count: u64) {
        if count > 0 {
            self.add(value);
            self.bins[bin(value)] += count - 1;
            self.count += count - 1;
            self.sum += u128::from(value) * u128::from(count - 1);
        }
    }

    /// Values added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The sum of both histograms.
    #[must_use]
    pub fn plus(&self, other: &Histogram) -> Histogram {
        let bins = match (self.bins.as_slice(), other.bins.as_slice()) {
            ([], bins) | (bins, []) => bins.to_vec(),
            (bins, others) => bins.iter().zip(others).map(|(a, b)| a + b).collect(),
        };
        Histogram {
            bins,
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// What was added to an earlier state of this histogram. Its minimum and maximum are those of the bins.
    #[must_use]
    pub fn since(&self, before: &Histogram) -> Histogram {
        let earlier = before.bins.iter().chain(std::iter::repeat(&0));
        let bins: Vec<u64> = self.bins.iter().zip(earlier).map(|(now, before)| now - before).collect();
        let first = bins.iter().position(|&count| count > 0);
        let last = bins.iter().rposition(|&count| count > 0);
        Histogram {
            min: first.map_or(Nanos::MAX, |bin| bin.checked_sub(1).map_or(0, |below| top(below) + 1)),
            max: last.map_or(0, top),
            count: self.count - before.count,
            sum: self.sum - before.sum,
            bins,
        }
    }

    /// The least value that at least the share `q` of all values do not exceed, to the bin's precision.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let found = self.bins.iter().position(|&count| {
            seen += count;
            seen >= rank
        })?;
        (self.count > 0).then(|| top(found).clamp(self.min, self.max))
    }

    /// Number of values in the bins up to that of `value`.
    pub fn up_to(&self, value: Nanos) -> u64 {
        self.bins.iter().take(bin(value) + 1).sum()
    }

    /// The bins that are not empty, in ascending order.
    pub fn bars(&self) -> Bars {
        let held = self.bins.iter().enumerate().filter(|&(_, &count)| count > 0);
        let (upper_ns, count) = held.map(|(bin, &count)| (top(bin), count)).unzip();
        Bars { upper_ns, count }
    }

    /// The figures for a report.
    pub fn summary(&self) -> Latency {
        let some = self.count > 0;
        Latency {
            count: self.count,
            mean: some.then(|| self.sum as f64 / self.count as f64),
            min: some.then_some(self.min),
            max: some.then_some(self.max),
            p50: self.quantile(0.5),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
            p99_9: self.quantile(0.999),
        }
    }
}

/// A histogram in a report, without its empty bins. A bin below 256 ns is 1 ns wide; the width of every other is at
/// most 1/128 of its greatest value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bars {
    /// The greatest value of each bin, ascending.
    pub upper_ns: Vec<Nanos>,
    /// Values in it, ≥ 1.
    pub count: Vec<u64>,
}

/// Latency figures in nanoseconds; none without requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Latency {
    pub count: u64,
    pub mean: Option<f64>,
    pub min: Option<Nanos>,
    pub max: Option<Nanos>,
    pub p50: Option<Nanos>,
    pub p95: Option<Nanos>,
    pub p99: Option<Nanos>,
    pub p99_9: Option<Nanos>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bin_holds_its_values(value: u64) {
            let bin = bin(value);
            prop_assert!(value <= top(bin));
            prop_assert!(bin == 0 || value > top(bin - 1));
            prop_assert!((top(bin) - value) as f64 <= value as f64 / 128.0);
        }

        #[test]
        fn bars_hold_every_value_once(values in prop::collection::vec(any::<u64>(), 0..200)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&v| histogram.add(v));
            let bars = histogram.bars();
            prop_assert_eq!(bars.count.iter().sum::<u64>(), values.len() as u64);
            prop_assert!(bars.upper_ns.is_sorted() && bars.count.iter().all(|&count| count > 0));
            let at_most = |limit| values.iter().filter(|&&v| v <= limit).count() as u64;
            let mut seen = 0;
            for (&upper, &count) in bars.upper_ns.iter().zip(&bars.count) {
                seen += count;
                prop_assert_eq!(seen, at_most(upper));
            }
        }

        #[test]
        fn what_was_added_is_the_later_values(before in prop::collection::vec(0u64..1_000_000, 0..50), after in prop::collection::vec(0u64..1_000_000, 0..50)) {
            let of = |values: &[u64]| {
                let mut histogram = Histogram::default();
                values.iter().for_each(|&v| histogram.add(v));
                histogram
            };
            let (earlier, whole) = (of(&before), of(&[&before[..], &after[..]].concat()));
            let (added, alone) = (whole.since(&earlier), of(&after));
            prop_assert_eq!((added.count(), added.sum(), added.bars()), (alone.count(), alone.sum(), alone.bars()));
            for value in after {
                prop_assert_eq!(added.up_to(value), alone.up_to(value));
                prop_assert!(added.up_to(value) >= 1 && (value == 0 || added.quantile(1.0) >= alone.quantile(0.5)));
            }
        }

        #[test]
        fn quantiles_are_within_a_bin_of_the_exact_ones(mut values in prop::collection::vec(0u64..10_000_000, 1..500)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&v| histogram.add(v));
            values.sort_unstable();
            for q in [0.5, 0.95, 0.99, 0.999] {
                let exact = values[((q * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1];
                let found = histogram.quantile(q).unwrap_or(0);
                prop_assert!(found >= exact && (found - exact) as f64 <= exact as f64 / 128.0, "{q}: {found} for {exact}");
            }
        }
    }
}
