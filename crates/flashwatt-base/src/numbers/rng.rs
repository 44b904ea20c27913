//! The generator behind every random draw of a workload: wyrand, seeded through splitmix64.
//!
//! wyrand is Wang Yi's (wyhash, in the public domain): a counter and one 128-bit product. Consecutive draws do not
//! depend on each other, unlike those of a generator that shuffles its state; this dependence would dominate the cost
//! of a request. Splitmix64 is by Steele, Lea and Flood (*Fast Splittable Pseudorandom Number Generators*, OOPSLA
//! 2014). Only integer arithmetic is used, so the same seed gives the same numbers on every machine.

/// A stream of random numbers that depends on its seed only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

/// The counter's increment, and the constant mixed into one factor: wyhash's primes.
const STEP: u64 = 0xa076_1d64_78bd_642f;
const MIX: u64 = 0xe703_7ed1_a0b4_28db;

/// 2^53: the number of steps of [`Rng::f64`], all of them exact in an `f64`.
const UNIT_STEPS: f64 = 9_007_199_254_740_992.0;

impl Rng {
    /// The stream of this seed. Neighbouring seeds give unrelated streams (splitmix64 spreads them).
    pub fn new(seed: u64) -> Self {
        Rng { state: splitmix64(seed) }
    }

    /// The state of the stream.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// A stream that continues from a saved state.
    pub fn from_state(state: u64) -> Self {
        Rng { state }
    }

    /// 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let product = u128::from(self.state) * u128::from(self.state ^ MIX);
        (product >> 64) as u64 ^ product as u64
    }

    /// A number below `n` (0 for `n` = 0): the high half of a 128-bit product. No rejection: a value's probability is off
    /// by less than `n` / 2^64, which is beyond what any run can measure, and the stream advances by one always.
    #[inline(always)]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A number in [0, 1), a multiple of 2^-53.
    #[inline(always)]
    pub fn f64(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / UNIT_STEPS
    }

    /// True with the probability that `threshold` encodes, see [`Rng::threshold`].
    #[inline(always)]
    pub fn chance(&mut self, threshold: u64) -> bool {
        (self.bits() >> 11) < threshold
    }

    /// The threshold of [`Rng::chance`] for this probability (exact for 0 and 1).
    pub fn threshold(probability: f64) -> u64 {
        (probability * UNIT_STEPS) as u64
    }
}

/// The first number of splitmix64's stream for this seed.
pub fn splitmix64(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_number() {
        assert_eq!(splitmix64(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn wyrand_gives_the_numbers_of_its_definition() {
        // Computed from the definition with Python's integers.
        let mut rng = Rng { state: 42 };
        let got: [u64; 3] = std::array::from_fn(|_| rng.bits());
        assert_eq!(got, [12_558_987_674_375_533_620, 16_846_851_108_956_068_306, 14_652_274_819_296_609_082]);
    }

    #[test]
    fn below_is_even_and_in_range() {
        let mut rng = Rng::new(7);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| c.abs_diff(10_000) < 500), "{counts:?}");
        assert_eq!(rng.below(1), 0);
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn chances_of_zero_and_one_are_certain() {
        let mut rng = Rng::new(1);
        let (never, always) = (Rng::threshold(0.0), Rng::threshold(1.0));
        assert!((0..10_000).all(|_| !rng.chance(never) && rng.chance(always)));
    }

    #[test]
    fn unit_numbers_have_the_right_mean() {
        let mut rng = Rng::new(3);
        let mean = (0..100_000).map(|_| rng.f64()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
