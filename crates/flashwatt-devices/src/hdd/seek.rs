//! The time of a seek by its distance.
//!
//! A short seek accelerates the arm half the way and brakes it the other half: a + b √d. A long one travels at full speed
//! in between: c + e d (Ruemmler and Wilkes, *An Introduction to Disk Drive Modeling*, IEEE Computer 27(3), 1994). The four
//! constants follow from a data sheet's times of the seek by one cylinder, of the mean seek and of the full stroke, and from
//! the curve being continuous where its parts meet.

use std::hint::select_unpredictable;

use flashwatt_base::units::Nanos;

/// A seek curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Distance in cylinders up to which a seek is short.
    joint: f64,
    /// Short seeks, in ns: `short[0]` + `short[1]` √d.
    short: [f64; 2],
    /// Long seeks, in ns: `long[0]` + `long[1]` d.
    long: [f64; 2],
    /// Points instead of these, if there are any.
    points: Box<[Point]>,
}

/// A point of a curve that is given by points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    distance: u32,
    ns: f64,
    /// Time for each further cylinder, up to the next point.
    rate: f64,
    /// No seek of at least this distance takes less.
    least: f64,
}

/// What a data sheet says about seeks, in ns.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From a cylinder to the next.
    pub single: Nanos,
    /// The mean over all pairs of different cylinders.
    pub mean: Nanos,
    /// From the outermost cylinder to the innermost.
    pub full: Nanos,
}

impl Curve {
    /// The curve of a disk with this number of cylinders and the joint at this share of the full stroke. Its mean over all pairs of
    /// different cylinders is that of the data sheet.
    ///
    /// The mean is linear in the time at the joint, so that time follows from two curves. It must lie between those of a seek
    /// by one cylinder and of the full stroke, so that no seek takes longer than a farther one: else there is no curve, and the
    /// error is the range of means that have one.
    pub fn fit(cylinders: u32, times: Times, joint_fraction: f64) -> Result<Self, [f64; 2]> {
        let stroke = cylinders.saturating_sub(1).max(1);
        if stroke < 3 {
            return Ok(Curve {
                joint: 0.0,
                short: [0.0; 2],
                long: line(1.0, times.single, stroke, times.full),
                points: Box::default(),
            });
        }
        let joint = (joint_fraction * f64::from(stroke)).round().clamp(2.0, f64::from(stroke - 1));
        let [single, full] = [times.single as f64, times.full as f64];
        let [least, greatest] =
            [single, full].map(|at_joint| Curve::through(stroke, times, joint, at_joint).mean(stroke));
        let share = (times.mean as f64 - least) / (greatest - least);
        if !(0.0..=1.0).contains(&share) {
            return Err([least, greatest]);
        }
        Ok(Curve::through(stroke, times, joint, single + share * (full - single)))
    }

    /// The curve with the time `at_joint` at the joint.
    fn through(stroke: u32, times: Times, joint: f64, at_joint: f64) -> Self {
        let single = times.single as f64;
        let slope = (at_joint - single) / (joint.sqrt() - 1.0);
        let rate = (times.full as f64 - at_joint) / (f64::from(stroke) - joint);
        Curve { joint, short: [single - slope, slope], long: [at_joint - rate * joint, rate], points: Box::default() }
    }

    /// The curve through points on a disk with this number of cylinders. The first part and the last one go on beyond the points.
    pub fn through_points(cylinders: u32, points: &[(u32, Nanos)]) -> Self {
        let stroke = cylinders.saturating_sub(1).max(1);
        let at = |(distance, ns): (u32, Nanos)| Point { distance, ns: ns as f64, rate: 0.0, least: ns as f64 };
        let mut points: Vec<Point> = points.iter().copied().map(at).collect();
        for i in 1..points.len() {
            let (before, here) = (points[i - 1], points[i]);
            points[i - 1].rate = (here.ns - before.ns) / f64::from((here.distance - before.distance).max(1));
        }
        if let [.., before, last] = &mut points[..] {
            last.rate = before.rate;
        }
        let farthest = points.last().map_or(0.0, |last| last.at(stroke.max(last.distance)));
        points.iter_mut().rev().fold(farthest, |least, point| {
            point.least = least.min(point.ns);
            point.least
        });
        Curve { joint: 0.0, short: [0.0; 2], long: [0.0; 2], points: points.into() }
    }

    /// A time that no seek over at least this number of cylinders falls below by more than the rounding of 1 ns.
    #[inline(always)]
    pub fn least(&self, distance: u32) -> Nanos {
        if self.points.is_empty() {
            return self.time(distance);
        }
        let next = self.points.partition_point(|point| point.distance < distance);
        let beyond = self.points.get(next).map_or(f64::MAX, |point| point.least);
        let last = self.points.last().map_or(0.0, |last| last.least);
        let least = if next == self.points.len() { last } else { beyond };
        self.exact(f64::from(distance)).min(least).max(0.0) as Nanos
    }

    #[inline(never)]
    fn on_points(&self, distance: u32) -> f64 {
        let at = self.points.partition_point(|point| point.distance <= distance).saturating_sub(1);
        self.points[at].at(distance).max(0.0)
    }

    /// Time in ns of a seek over this number of cylinders, without rounding.
    #[inline(always)]
    fn exact(&self, distance: f64) -> f64 {
        if !self.points.is_empty() {
            return self.on_points(distance as u32);
        }
        let short = self.short[0] + self.short[1] * distance.sqrt();
        let long = self.long[0] + self.long[1] * distance;
        select_unpredictable(distance < self.joint, short, long)
    }

    /// Time of a seek over this number of cylinders, at least 1.
    #[inline(always)]
    pub fn time(&self, distance: u32) -> Nanos {
        (self.exact(f64::from(distance)) + 0.5) as i64 as Nanos // signed, which the processor converts faster
    }

    /// The mean in ns over all pairs of different cylinders, with the full stroke given: of n + 1 cylinders, n + 1 − d pairs are
    /// d apart.
    pub fn mean(&self, stroke: u32) -> f64 {
        let pairs = |distance: u32| f64::from(stroke + 1 - distance);
        let (sum, count) = (1..=stroke).fold((0.0, 0.0), |(sum, count), distance| {
            (sum + pairs(distance) * self.exact(f64::from(distance)), count + pairs(distance))
        });
        sum / count
    }
}

impl Point {
    /// The time at a distance, on the line from this point on.
    fn at(&self, distance: u32) -> f64 {
        self.ns + self.rate * (f64::from(distance) - f64::from(self.distance))
    }
}

/// The line through the full stroke and a seek by one cylinder, for a disk of so few cylinders that it has no other seeks.
fn line(from: f64, single: Nanos, stroke: u32, full: Nanos) -> [f64; 2] {
    let (single, full, stroke) = (single as f64, full as f64, f64::from(stroke));
    let rate = if stroke > from { (full - single) / (stroke - from) } else { 0.0 };
    [single - rate * from, rate]
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashwatt_base::rng::Rng;

    const TIMES: Times = Times { single: 1_000_000, mean: 12_000_000, full: 20_000_000 };

    #[test]
    fn the_curve_has_the_times_of_the_data_sheet() {
        for cylinders in [100, 5_000, 90_000] {
            let curve = Curve::fit(cylinders, TIMES, 0.2).expect("a curve");
            assert_eq!((curve.time(1), curve.time(cylinders - 1)), (TIMES.single, TIMES.full));
            assert!((curve.mean(cylinders - 1) - 12e6).abs() < 1.0);
            assert!((1..cylinders - 1).all(|distance| curve.time(distance) <= curve.time(distance + 1)), "{cylinders}");
            let before = curve.short[0] + curve.short[1] * curve.joint.sqrt();
            assert!((before - curve.exact(curve.joint)).abs() < 1e-3, "continuous");
        }
    }

    /// ∫ 2 (1 − x) t(x D) dx over distances x D, in closed form: a + b √(x D) up to the joint at x = j, c + e x D beyond it.
    fn integral(curve: &Curve, stroke: f64) -> f64 {
        let j = curve.joint / stroke;
        let [a, b] = curve.short;
        let [c, e] = curve.long;
        let short = a * (2.0 * j - j * j) + b * stroke.sqrt() * (4.0 / 3.0 * j.powf(1.5) - 0.8 * j.powf(2.5));
        let long = c * (1.0 - j) * (1.0 - j) + e * stroke * (1.0 / 3.0 - j * j + 2.0 / 3.0 * j * j * j);
        short + long
    }

    #[test]
    fn the_mean_seek_over_uniform_pairs_is_the_integral_of_the_curve() {
        let (cylinders, mut rng) = (60_000u32, Rng::new(3));
        let curve = Curve::fit(cylinders, TIMES, 0.2).expect("a curve");
        let expected = integral(&curve, f64::from(cylinders - 1));
        assert!((expected - 12e6).abs() < 1e-4 * expected, "the fit's sum and the integral: {expected}");
        let pairs = 400_000;
        let mut draw = || rng.below(cylinders.into()) as u32;
        let seek = |distance: u32| if distance == 0 { 0 } else { curve.time(distance) };
        let sum: u64 = (0..pairs).map(|_| seek(draw().abs_diff(draw()))).sum();
        let mean = sum as f64 / f64::from(pairs);
        // The standard deviation of a seek is about 5 ms, that of this mean 8 µs.
        assert!((mean - expected).abs() < 30e3, "{mean} instead of {expected}");
    }

    #[test]
    fn a_mean_that_no_curve_has_is_refused_with_those_that_have_one() {
        let [least, greatest] = Curve::fit(60_000, Times { mean: 19_000_000, ..TIMES }, 0.2).expect_err("too slow");
        assert!(least > 1e6 && greatest < 19e6 && greatest > 12e6, "{least} to {greatest}");
        for mean in [least * 1.001, greatest * 0.999] {
            assert!(Curve::fit(60_000, Times { mean: mean as Nanos, ..TIMES }, 0.2).is_ok());
        }
    }

    #[test]
    fn a_disk_of_few_cylinders_has_a_line() {
        let curve = Curve::fit(3, Times { single: 10, mean: 12, full: 20 }, 0.2).expect("a line");
        assert_eq!((curve.time(1), curve.time(2)), (10, 20));
        assert_eq!(Curve::fit(1, TIMES, 0.2).expect("a line").time(1), TIMES.single);
    }
}
