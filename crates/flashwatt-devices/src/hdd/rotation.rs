//! The platters' rotation: their angle as a function of time.
//!
//! An angle is a whole number of 2^-64 of a revolution, so that sums of angles wrap where revolutions do. The angle turned
//! in a nanosecond is rounded to such a part; over a day the angle is off by less than 10^-5 of a revolution.

use flashwatt_base::units::Nanos;

/// An angle in 2^-64 of a revolution.
pub type Angle = u64;

/// 2^64.
const REVOLUTION: f64 = 18_446_744_073_709_551_616.0;
const NS_PER_MINUTE: f64 = 60e9;
/// A head that is late by less than this, in ns, is on time. All times are rounded up to whole nanoseconds, so that a head which
/// reads on from one sector to the next is up to 1 ns late.
const LATE_NS: u64 = 4;

/// The rotation of a disk.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// Angle that the platters turn in a nanosecond.
    per_ns: u64,
    /// Its inverse.
    ns: f64,
}

impl Rotation {
    /// Platters that turn this often in a minute.
    pub fn new(rpm: u32) -> Self {
        let per_ns = (REVOLUTION * f64::from(rpm) / NS_PER_MINUTE).round();
        Rotation { per_ns: per_ns as u64, ns: 1.0 / per_ns }
    }

    /// The angle at a time, which is 0 at time 0.
    #[inline(always)]
    pub fn angle(self, at: Nanos) -> Angle {
        at.wrapping_mul(self.per_ns)
    }

    /// Time from `at` until the platters are at this angle.
    #[inline(always)]
    pub fn wait(self, at: Nanos, angle: Angle) -> Nanos {
        let now = self.angle(at);
        if now.wrapping_sub(angle) < LATE_NS * self.per_ns {
            return 0;
        }
        self.time(angle.wrapping_sub(now))
    }

    /// As [`Self::wait`], within a few nanoseconds and without a division: to compare many.
    #[inline(always)]
    pub fn about(self, at: Nanos, angle: Angle) -> Nanos {
        let now = self.angle(at);
        if now.wrapping_sub(angle) < LATE_NS * self.per_ns {
            return 0;
        }
        (angle.wrapping_sub(now) as f64 * self.ns) as i64 as Nanos // signed, which the processor converts faster
    }

    /// Time from `at`, at which the platters have reached the angle `from` or are a little past it, until they have turned by
    /// `turn` from there.
    #[inline(always)]
    pub fn turn(self, at: Nanos, from: Angle, turn: Angle) -> Nanos {
        let past = self.angle(at).wrapping_sub(from);
        self.time(turn.saturating_sub(past))
    }

    /// Time of a turn, rounded up: `turn.div_ceil(per_ns)`, for which a processor takes long.
    ///
    /// The quotient is below 2^36 (a revolution of a minute), so that its estimate in 53 bits is right or off by one. What is left
    /// of the turn tells which.
    #[inline(always)]
    pub fn time(self, turn: Angle) -> Nanos {
        let about = ((turn >> 1) as i64 as f64 * (2.0 * self.ns)) as i64; // signed, which the processor converts faster
        let (left, per_ns) = (turn.wrapping_sub((about as u64).wrapping_mul(self.per_ns)) as i64, self.per_ns as i64);
        (about + i64::from(left > 0) + i64::from(left > per_ns) - i64::from(left <= -per_ns)) as Nanos
    }

    /// Angle that the platters turn in this time, below one revolution.
    #[inline(always)]
    pub fn turned(self, ns: Nanos) -> Angle {
        ns.wrapping_mul(self.per_ns)
    }

    /// The least whole number of these angles that takes a head at least so long to pass, by the same measure of being on time.
    pub fn steps(self, ns: Nanos, step: Angle) -> u64 {
        self.turned(ns).saturating_sub(LATE_NS * self.per_ns).div_ceil(step)
    }

    /// Time of a revolution.
    #[cfg(test)]
    fn revolution_ns(self) -> f64 {
        REVOLUTION / self.per_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashwatt_base::rng::Rng;

    #[test]
    fn a_revolution_takes_a_minute_by_its_number() {
        for rpm in [4_200, 5_400, 7_200, 10_000, 15_000] {
            let rotation = Rotation::new(rpm);
            let expected = 60e9 / f64::from(rpm);
            assert!((rotation.revolution_ns() - expected).abs() < 1e-11 * expected);
            // After 694 days the angle, which should be 0, is off by half a unit for each nanosecond at most.
            let minutes = 1_000_000;
            let angle = rotation.angle(minutes * 60_000_000_000) as f64 / REVOLUTION;
            assert!(angle.min(1.0 - angle) < 2e-3, "{rpm}: {angle}");
        }
    }

    #[test]
    fn the_time_of_a_turn_is_an_exact_division() {
        let mut rng = Rng::new(7);
        for rpm in [1, 60, 4_200, 5_400, 7_200, 10_000, 15_000, 100_000] {
            let rotation = Rotation::new(rpm);
            let per_ns = rotation.per_ns;
            for step in 0..20_000 {
                // Turns on both sides of whole nanoseconds, where the estimate is least certain, and any other.
                let whole = rng.below(u64::MAX / per_ns) * per_ns;
                let turn = if step % 4 == 3 { rng.below(u64::MAX) } else { (whole + step % 4).wrapping_sub(1) };
                for turn in [turn, turn >> rng.below(64), whole, 0, 1, per_ns, u64::MAX] {
                    assert_eq!(rotation.time(turn), turn.div_ceil(per_ns), "{rpm} rpm: {turn}");
                }
            }
        }
    }

    #[test]
    fn a_head_waits_for_its_sector_and_not_for_the_rounding_of_times() {
        let rotation = Rotation::new(6_000); // 10 ms a revolution
        let quarter = 1 << 62;
        assert_eq!(rotation.wait(0, quarter), 2_500_000);
        assert_eq!(rotation.wait(2_500_000, quarter), 0);
        for at in (0..10_000_000).step_by(997) {
            assert!(rotation.about(at, quarter).abs_diff(rotation.wait(at, quarter)) <= 2, "{at}");
        }
        assert_eq!(rotation.wait(2_500_001, quarter), 0, "a nanosecond late is on time");
        assert_eq!(rotation.wait(2_500_100, quarter), 9_999_900, "100 ns late is not");
        assert_eq!(rotation.turn(2_500_001, quarter, quarter), 2_499_999);
    }
}
