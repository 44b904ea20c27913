//! `[hdd.seek]`: times of the arm.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::seek::{Curve, Times};
use super::super::settings::{Hdd, Seek};
use super::NS_MAX;
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::Nanos;

const TABLE: &str = "hdd.seek";
const POINTS: &str = "hdd.seek.points";
const POINTS_MAX: usize = 4_096;

/// `[hdd.seek]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeekOptions {
    /// Time of a seek to the next cylinder, for a read.
    pub single_cylinder_ns: Option<Nanos>,
    /// Mean time of a seek for a read, over all pairs of different cylinders.
    pub mean_ns: Option<Nanos>,
    /// Time of a seek from the outermost to the innermost cylinder, for a read.
    pub full_stroke_ns: Option<Nanos>,
    /// Share of the full stroke up to which the time of a seek is a + b √d, and c + e d beyond it. The default is that of the HP
    /// 97560, 383 of 1962 cylinders (Ruemmler and Wilkes, IEEE Computer 27(3), 1994).
    pub joint_fraction: Option<f64>,
    /// Measured times of seeks instead of these four, `[[cylinders, ns], …]` from the shortest distance on: straight from point to
    /// point, and on beyond the first and the last one.
    pub points: Option<Vec<[u64; 2]>>,
    /// With `points`: whether they were measured with reads or with writes.
    pub points_of: Option<PointsOf>,
    /// Time that a write takes more to settle on the track, after a seek or a head switch; negative if it takes less.
    pub write_settle_ns: Option<i64>,
    /// Time of a switch to another head of the same cylinder, for a read.
    pub head_switch_ns: Option<Nanos>,
}

/// What the points of a seek curve were measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PointsOf {
    /// With reads: a write takes `write_settle_ns` more.
    Reads,
    /// With writes: a read takes `write_settle_ns` less.
    Writes,
}

impl SeekOptions {
    pub(super) fn resolve(&self, c: &mut Checker) -> Seek {
        let seek = self;
        let limit = NS_MAX as i64;
        let settle_ns = c.number(field!(TABLE, seek.write_settle_ns), 0, -limit..=limit);
        let head_switch_ns = c.required(field!(TABLE, seek.head_switch_ns), 0..=NS_MAX);
        let of = c.choice(field!(TABLE, seek.points_of), PointsOf::Reads);
        let joint_fraction = c.number(field!(TABLE, seek.joint_fraction), 383.0 / 1962.0, 0.001..=0.999);
        let (write_settle_ns, read_less_ns) = match of {
            PointsOf::Reads => (settle_ns, 0),
            PointsOf::Writes => {
                let expected = "at least 0 with points_of = \"writes\"";
                c.rule("hdd.seek.write_settle_ns", settle_ns, settle_ns >= 0, expected);
                (0, settle_ns.unsigned_abs())
            }
        };
        let mut resolved = Seek {
            single_cylinder_ns: 0,
            mean_ns: 0,
            full_stroke_ns: 0,
            joint_fraction,
            points: self.points(c),
            write_settle_ns,
            read_less_ns,
            head_switch_ns,
        };
        if self.points.is_some() {
            self.refuse_times(c);
            return resolved;
        }
        if of == PointsOf::Writes {
            c.has_no_effect("hdd.seek.points_of", "no hdd.seek.points", "points, or no such key");
        }
        resolved.single_cylinder_ns = c.required(field!(TABLE, seek.single_cylinder_ns), 1..=NS_MAX);
        resolved.mean_ns = c.required(field!(TABLE, seek.mean_ns), 1..=NS_MAX);
        resolved.full_stroke_ns = c.required(field!(TABLE, seek.full_stroke_ns), 1..=NS_MAX);
        resolved
    }

    fn points(&self, c: &mut Checker) -> Vec<(u32, Nanos)> {
        let Some(points) = &self.points else { return Vec::new() };
        c.rule(POINTS, points.len(), (1..=POINTS_MAX).contains(&points.len()), "1 to 4096 points");
        let rises = points.is_sorted_by(|one, next| one[0] < next[0]) && points.first().is_none_or(|one| one[0] > 0);
        c.rule(POINTS, points.iter().map(|one| one[0]).collect::<Vec<_>>(), rises, "distances from 1 on that rise");
        let in_range = |&[distance, ns]: &[u64; 2]| {
            (c.within(POINTS, distance, 1..=10_000_000) as u32, c.within(POINTS, ns, 0..=NS_MAX))
        };
        points.iter().map(in_range).collect()
    }

    /// Times that points stand for.
    fn refuse_times(&self, c: &mut Checker) {
        let times = [
            ("single_cylinder_ns", self.single_cylinder_ns.is_some()),
            ("mean_ns", self.mean_ns.is_some()),
            ("full_stroke_ns", self.full_stroke_ns.is_some()),
            ("joint_fraction", self.joint_fraction.is_some()),
        ];
        for (name, _) in times.iter().filter(|(_, given)| *given) {
            let fault = c.fault(&format!("{TABLE}.{name}"), "given beside points of the curve");
            c.push(fault.found(POINTS).expected("one of the two"));
        }
    }
}

/// The times of a curve through points, where others need them: skews, and the mean for the record.
pub(super) fn times_of_points(hdd: &mut Hdd) {
    if hdd.seek.points.is_empty() {
        return;
    }
    let cylinders = hdd.cylinders();
    let curve = Curve::through_points(cylinders, &hdd.seek.points);
    let stroke = cylinders.saturating_sub(1).max(1);
    hdd.seek.single_cylinder_ns = curve.time(1);
    hdd.seek.full_stroke_ns = curve.time(stroke);
    hdd.seek.mean_ns = curve.mean(stroke).round() as Nanos;
}

/// The three times of the data sheet must have a curve on which no seek takes longer than a farther one.
pub(super) fn check_curve(c: &mut Checker, hdd: &Hdd) {
    let seek = &hdd.seek;
    if !c.clean("hdd.seek") || !c.clean("hdd.geometry") || !seek.points.is_empty() {
        return;
    }
    let (single, mean, full) = (seek.single_cylinder_ns, seek.mean_ns, seek.full_stroke_ns);
    let keys = ["hdd.seek.mean_ns", "hdd.seek.single_cylinder_ns", "hdd.seek.full_stroke_ns"];
    if single > mean || mean > full {
        let fault = c.fault(c.culprit(&keys), "times of seeks in no order");
        let found = format!("single_cylinder_ns = {single}, mean_ns = {mean}, full_stroke_ns = {full}");
        c.push(fault.found(found).expected("single_cylinder_ns ≤ mean_ns ≤ full_stroke_ns"));
    } else if let Err([least, greatest]) =
        Curve::fit(hdd.cylinders(), Times { single, mean, full }, seek.joint_fraction)
    {
        let fault = c.fault(c.culprit(&keys), "no seek curve has this mean");
        let expected = format!("{least:.0} to {greatest:.0} with these other times and this joint_fraction");
        c.push(fault.found(format!("mean_ns = {mean}")).expected(expected));
    }
}
