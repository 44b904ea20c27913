//! Intervals of means of correlated batches, and tests for a mean that drifts.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A figure and its confidence interval, in the unit of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Estimate {
    pub value: f64,
    pub lower: f64,
    pub upper: f64,
}

impl Estimate {
    /// Half of the interval as a share of a value.
    pub(super) fn relative_to(&self, value: f64) -> f64 {
        let half = (self.upper - self.value).max(self.value - self.lower);
        if half == 0.0 { 0.0 } else { half / value.abs() }
    }
}

/// Highest order of the autoregression.
const ORDER_MAX: usize = 8;
/// Batches that become one for the second variance: 128 to 255 batches become 16 to 31 groups.
const GROUPED: usize = 8;
/// Each test refuses a steady mean this often.
const LEVEL: f64 = 0.01;
/// The upper 1 % of the Cramér–von Mises statistic of a Brownian bridge (Anderson and Darling 1952, table 1).
const BRIDGE_MAX: f64 = 0.743;

/// The half width of the confidence interval of the mean of these batches.
///
/// It is the greater of two. The first has the variance of an autoregression, so it has the correlation of neighbours (Fishman 1978, with
/// his degrees of freedom). The second has the variance of the means of groups, so it has slow waves that a short autoregression misses
/// (Schmeiser 1982: 16 to 31 groups).
pub(super) fn half_width(batches: &[f64], confidence: f64) -> f64 {
    let model = Autoregression::fitted(batches);
    let by_model =
        quantile(model.freedom(batches.len()), confidence) * (model.variance() / batches.len() as f64).sqrt();
    by_model.max(by_groups(batches, confidence))
}

fn by_groups(batches: &[f64], confidence: f64) -> f64 {
    let groups = Sample::of(&groups(batches));
    if groups.count < 2.0 {
        return f64::INFINITY;
    }
    quantile(groups.count - 1.0, confidence) * (groups.variance / groups.count).sqrt()
}

/// The means of groups of batches. The first batches are left out if they do not fill a group.
fn groups(batches: &[f64]) -> Vec<f64> {
    let whole = batches.len() / GROUPED * GROUPED;
    batches[batches.len() - whole..].chunks_exact(GROUPED).map(mean).collect()
}

/// Number, mean and variance of values.
struct Sample {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Sample {
    fn of(values: &[f64]) -> Self {
        let (count, mean) = (values.len() as f64, mean(values));
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Sample { count, mean, variance: squares / (count - 1.0).max(1.0) }
    }
}

/// Half of what Student's distribution leaves out is above this.
fn quantile(freedom: f64, confidence: f64) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("one degree of freedom or more");
    student.inverse_cdf(0.5 + confidence / 2.0)
}

/// Whether the mean of these batches drifts, by two tests of the means of groups. One compares the first quarter with the second half
/// (Geweke 1992), one the path of the sum with a Brownian bridge (Heidelberger and Welch 1983). Both take the variance of the second
/// half, which has less of a transient. A window whose quarters all lie nearer to its mean than `negligible` does not drift: a long
/// window shows differences that do not matter.
pub(super) fn drifts(batches: &[f64], negligible: f64) -> bool {
    let groups = groups(batches);
    let whole = mean(&groups);
    if groups.chunks(groups.len().div_ceil(4)).all(|quarter| (mean(quarter) - whole).abs() < negligible) {
        return false;
    }
    let last = Sample::of(&groups[groups.len() / 2..]);
    differs(&groups[..groups.len() / 4], &last) || bridge(&groups, last.variance) > BRIDGE_MAX
}

fn differs(first: &[f64], last: &Sample) -> bool {
    let error = (last.variance * (1.0 / first.len() as f64 + 1.0 / last.count)).sqrt();
    (mean(first) - last.mean).abs() > quantile(last.count - 1.0, 1.0 - LEVEL) * error
}

/// The Cramér–von Mises statistic of the path of the sum, less its straight line.
fn bridge(groups: &[f64], variance: f64) -> f64 {
    if variance <= 0.0 {
        return 0.0;
    }
    let (count, mean) = (groups.len() as f64, mean(groups));
    let mut sum = 0.0;
    let squares = groups.iter().map(|group| {
        sum += group - mean;
        sum * sum
    });
    squares.sum::<f64>() / (count * count * variance)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// x_t = a_1 x_(t−1) + … + a_p x_(t−p) + noise, of values less their mean.
struct Autoregression {
    coefficients: Vec<f64>,
    /// Of the noise.
    noise_variance: f64,
}

impl Autoregression {
    /// Burg's method (1967), with the order of the least AICc (Hurvich and Tsai 1989).
    fn fitted(values: &[f64]) -> Self {
        let (count, mean) = (values.len(), mean(values));
        let centred: Vec<_> = values.iter().map(|value| value - mean).collect();
        let (mut forward, mut backward) = (centred.clone(), centred.clone());
        let mut model = Autoregression {
            coefficients: Vec::new(),
            noise_variance: centred.iter().map(|value| value * value).sum::<f64>() / count as f64,
        };
        let (mut best, mut least) = (model.clone(), model.criterion(count));
        for order in 1..=ORDER_MAX.min(count / 8) {
            let pairs = || forward[order..].iter().zip(&backward[order - 1..count - 1]);
            let (product, squares) =
                pairs().fold((0.0, 0.0), |(product, squares), (f, b)| (product + f * b, squares + f * f + b * b));
            if squares <= 0.0 {
                break;
            }
            let reflection = 2.0 * product / squares;
            model.extend(reflection);
            for place in (order..count).rev() {
                let (f, b) = (forward[place], backward[place - 1]);
                forward[place] = f - reflection * b;
                backward[place] = b - reflection * f;
            }
            let criterion = model.criterion(count);
            if criterion < least {
                (best, least) = (model.clone(), criterion);
            }
        }
        best
    }

    /// The model of the next order (Levinson 1946).
    fn extend(&mut self, reflection: f64) {
        let turned: Vec<_> = self.coefficients.iter().rev().copied().collect();
        for (own, other) in self.coefficients.iter_mut().zip(turned) {
            *own -= reflection * other;
        }
        self.coefficients.push(reflection);
        self.noise_variance *= 1.0 - reflection * reflection;
    }

    fn criterion(&self, count: usize) -> f64 {
        let (count, order) = (count as f64, self.coefficients.len() as f64);
        count * self.noise_variance.max(f64::MIN_POSITIVE).ln() + 2.0 * (order + 1.0) * count / (count - order - 2.0)
    }

    /// The variance of the sum of many values, for each of them.
    fn variance(&self) -> f64 {
        if self.noise_variance <= 0.0 {
            return 0.0;
        }
        self.noise_variance / (1.0 - self.coefficients.iter().sum::<f64>()).powi(2)
    }

    /// Degrees of freedom of the variance of the mean of this many values (Fishman 1978, equation 5.51 and on).
    fn freedom(&self, count: usize) -> f64 {
        let order = self.coefficients.len() as f64;
        let rest = 1.0 - self.coefficients.iter().sum::<f64>();
        let below: f64 = self.coefficients.iter().zip(1u32..).map(|(a, lag)| -a * (order - 2.0 * f64::from(lag))).sum();
        let below = 2.0 * (order + below);
        let most = count as f64 - 1.0;
        if below > 0.0 { (count as f64 * rest / below).clamp(1.0, most) } else { most }
    }
}

impl Clone for Autoregression {
    fn clone(&self) -> Self {
        Autoregression { coefficients: self.coefficients.clone(), noise_variance: self.noise_variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashwatt_base::rng::Rng;

    /// Uniform noise of variance 1 through x_t = a x_(t−1) + noise, from its stationary state on.
    fn series(seed: u64, a: f64, count: usize) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        let mut noise = || (rng.below(1 << 32) as f64 / (1u64 << 31) as f64 - 1.0) * 3f64.sqrt();
        let mut x = 0.0;
        let mut next = || {
            x = a * x + noise();
            x
        };
        (0..200).for_each(|_| _ = next());
        (0..count).map(|_| next()).collect()
    }

    fn share(of: impl Fn(u64) -> bool) -> f64 {
        (0..400).filter(|&seed| of(seed)).count() as f64 / 400.0
    }

    #[test]
    fn intervals_hold_the_mean_as_often_as_they_say() {
        for a in [-0.5, 0.0, 0.5, 0.8] {
            let held = share(|seed| mean(&series(seed, a, 160)).abs() <= half_width(&series(seed, a, 160), 0.95));
            assert!((0.92..=0.995).contains(&held), "{a}: {held}");
        }
    }

    #[test]
    fn a_variance_without_correlation_is_far_too_small() {
        let blind = share(|seed| {
            let values = series(seed, 0.8, 160);
            let variance = values.iter().map(|value| value * value).sum::<f64>() / 160.0;
            mean(&values).abs() <= 1.96 * (variance / 160.0).sqrt()
        });
        assert!(blind < 0.7, "{blind}: what the intervals above are compared with");
    }

    #[test]
    fn the_variance_of_a_known_model_is_found() {
        let model = Autoregression::fitted(&series(1, 0.5, 100_000));
        assert!((model.variance() / 4.0 - 1.0).abs() < 0.05, "1 / (1 − 0.5)² = 4, found {}", model.variance());
        let freedom = Autoregression { coefficients: vec![0.5], noise_variance: 1.0 }.freedom(120);
        assert!(
            (freedom - 120.0 * 0.5 / (2.0 * 1.5)).abs() < 1e-9,
            "n (1 − a) / (2 (1 + a)) of order 1, found {freedom}"
        );
    }

    #[test]
    fn a_drift_is_found_and_noise_is_none() {
        let still = share(|seed| drifts(&series(seed, 0.5, 160), 0.0));
        assert!(still < 0.06, "{still}");
        let drifting = share(|seed| {
            let mut values = series(seed, 0.5, 160);
            values.iter_mut().zip(0..).for_each(|(value, t)| *value += 3.0 * (-f64::from(t) / 60.0).exp());
            drifts(&values, 0.0)
        });
        assert!(drifting > 0.9, "{drifting}");
    }

    #[test]
    fn a_constant_has_no_width_and_no_drift() {
        assert_eq!(half_width(&[0.0; 128], 0.95), 0.0);
        assert!(!drifts(&[0.0; 128], 1e-9));
    }
}
