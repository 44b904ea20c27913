//! Figures that a run can be asked for at a precision: their names, values, and what each batch does to them.

use serde::{Serialize, Serializer};

use super::batches::{Batches, Totals};
use super::estimate::{self, Estimate};
use flashwatt_base::stats::Histogram;
use flashwatt_core::kernel::Completed;

/// A figure of a report, under its key there.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its key in a report.
    pub key: &'static str,
    pub(super) of: FigureOf,
}

/// What a figure is.
#[derive(Clone, Copy, Debug)]
pub(super) enum FigureOf {
    /// The sum of one total divided by the sum of another one, times a factor.
    Ratio {
        /// The total above.
        over: fn(&Totals) -> f64,
        /// The total below.
        under: fn(&Totals) -> f64,
        /// The factor that gives the unit of the report.
        factor: f64,
    },
    /// This quantile of the latencies of a kind of request, in ns.
    Quantile(Kind, f64),
}

/// Requests by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// All, trims and flushes among them.
    All,
}

impl Kind {
    /// The latencies of these requests.
    pub(super) fn latencies(self, completed: &Completed) -> Histogram {
        match self {
            Kind::Read => completed.reads.clone(),
            Kind::Write => completed.writes.clone(),
            Kind::All => completed.all(),
        }
    }
}

impl PartialEq for Figure {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}

const fn ratio(key: &'static str, over: fn(&Totals) -> f64, under: fn(&Totals) -> f64, factor: f64) -> Figure {
    Figure { key, of: FigureOf::Ratio { over, under, factor } }
}

const fn quantile(key: &'static str, kind: Kind, share: f64) -> Figure {
    Figure { key, of: FigureOf::Quantile(kind, share) }
}

impl Figure {
    /// Every figure that can be asked for.
    pub const ALL: [Figure; 22] = [
        ratio("throughput.iops", |t| t.requests, |t| t.ns, 1e9),
        ratio("throughput.read_mb_s", |t| t.read_bytes, |t| t.ns, 1e3),
        ratio("throughput.write_mb_s", |t| t.write_bytes, |t| t.ns, 1e3),
        ratio("latency_ns.all.mean", |t| t.latency_ns, |t| t.requests, 1.0),
        ratio("latency_ns.read.mean", |t| t.read_latency_ns, |t| t.reads, 1.0),
        ratio("latency_ns.write.mean", |t| t.write_latency_ns, |t| t.writes, 1.0),
        quantile("latency_ns.all.p50", Kind::All, 0.5),
        quantile("latency_ns.all.p95", Kind::All, 0.95),
        quantile("latency_ns.all.p99", Kind::All, 0.99),
        quantile("latency_ns.all.p99_9", Kind::All, 0.999),
        quantile("latency_ns.read.p50", Kind::Read, 0.5),
        quantile("latency_ns.read.p95", Kind::Read, 0.95),
        quantile("latency_ns.read.p99", Kind::Read, 0.99),
        quantile("latency_ns.read.p99_9", Kind::Read, 0.999),
        quantile("latency_ns.write.p50", Kind::Write, 0.5),
        quantile("latency_ns.write.p95", Kind::Write, 0.95),
        quantile("latency_ns.write.p99", Kind::Write, 0.99),
        quantile("latency_ns.write.p99_9", Kind::Write, 0.999),
        ratio(Figure::WRITE_AMPLIFICATION, |t| t.programmed_bytes, |t| t.host_bytes, 1.0),
        ratio("efficiency.j_per_gb", |t| t.energy_j, |t| t.read_bytes + t.write_bytes, 1e9),
        ratio("efficiency.iops_per_w", |t| t.requests, |t| t.energy_j, 1.0),
        ratio("power_w.mean", |t| t.energy_j, |t| t.ns, 1e9),
    ];

    /// The key of write amplification, which only one SSD has.
    pub const WRITE_AMPLIFICATION: &'static str = "flash.write_amplification";

    /// The figure of a key.
    pub fn of_key(key: &str) -> Option<Figure> {
        Self::ALL.into_iter().find(|figure| figure.key == key)
    }

    /// The quantile's share, if it is one.
    pub(super) fn share(&self) -> Option<f64> {
        match self.of {
            FigureOf::Quantile(_, share) => Some(share),
            FigureOf::Ratio { .. } => None,
        }
    }
}

/// What the batches say of a figure.
#[derive(Clone)]
pub(super) struct Seen {
    /// The figure over the window, with its interval.
    pub estimate: Estimate,
    /// For each batch what it adds to the figure's error: their mean is the error, to first order, and 0 over the window. In the unit
    /// of the figure.
    pub influence: Vec<f64>,
}

impl Seen {
    /// A figure over these batches, at a confidence; none without what it is made of. `place` is that of the figure among those asked for.
    pub(super) fn of(figure: &Figure, place: usize, batches: &Batches, confidence: f64) -> Option<Seen> {
        match figure.of {
            FigureOf::Ratio { over, under, factor } => {
                let pairs: Vec<_> = batches.each().map(|batch| (over(&batch) * factor, under(&batch))).collect();
                Self::of_ratio(&pairs, confidence)
            }
            FigureOf::Quantile(_, share) => Self::of_quantile(share, place, batches, confidence),
        }
    }

    /// The ratio estimator: each batch adds (over − ratio · under) / mean under.
    fn of_ratio(pairs: &[(f64, f64)], confidence: f64) -> Option<Seen> {
        let (over, under) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        if under <= 0.0 {
            return None;
        }
        let (value, mean) = (over / under, under / pairs.len() as f64);
        let influence: Vec<_> = pairs.iter().map(|pair| (pair.0 - value * pair.1) / mean).collect();
        let half = estimate::half_width(&influence, confidence);
        Some(Seen { estimate: Estimate { value, lower: value - half, upper: value + half }, influence })
    }

    /// A quantile, and its interval by that of the share of latencies up to it (Woodruff 1952): the quantiles at both ends of the
    /// share's interval. Its influence is that of the share divided by the density of the latencies there, which is the width of the
    /// interval of the shares over that of the quantiles.
    fn of_quantile(share: f64, place: usize, batches: &Batches, confidence: f64) -> Option<Seen> {
        let all = batches.latencies(place)?;
        let value = all.quantile(share)? as f64;
        let up_to = batches.up_to(place, all.quantile(share)?);
        let of_share = Self::of_ratio(&up_to, confidence)?;
        let half = (of_share.estimate.upper - of_share.estimate.lower) / 2.0;
        let (low, high) = (share - half, share + half);
        let ends =
            (low > 0.0).then(|| all.quantile(low)).flatten().zip((high < 1.0).then(|| all.quantile(high)).flatten());
        let (lower, upper) = ends.map_or((0.0, f64::INFINITY), |(low, high)| (low as f64, high as f64));
        let per_share = if half > 0.0 { (upper - lower) / (2.0 * half) } else { 0.0 };
        let influence = of_share.influence.iter().map(|of_share| -of_share * per_share).collect();
        Some(Seen { estimate: Estimate { value, lower, upper }, influence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 3 + 5 over 1 + 3 is 2; the first batch has 3 − 2 · 1 = 1 too much, for a mean of 2 below, the second as much too little.
    #[test]
    fn a_batch_has_the_influence_that_its_error_has() {
        let seen = Seen::of_ratio(&[(3.0, 1.0), (5.0, 3.0)], 0.95).expect("there is something below");
        assert_eq!((seen.estimate.value, seen.influence), (2.0, vec![0.5, -0.5]));
        assert!(Seen::of_ratio(&[(3.0, 0.0)], 0.95).is_none());
    }

    #[test]
    fn every_figure_has_a_key_of_its_own() {
        for (place, figure) in Figure::ALL.iter().enumerate() {
            assert_eq!(Figure::ALL.iter().position(|other| other.key == figure.key), Some(place));
            assert_eq!(Figure::of_key(figure.key), Some(*figure));
        }
    }
}
