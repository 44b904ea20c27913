//! A pseudo-random permutation of any length that needs no table.

/// A pseudo-random permutation of `0..n`: a Feistel network over the smallest power of two ≥ n and ≥ 4 (Luby and
/// Rackoff, *How to Construct Pseudorandom Permutations*, SIAM J. Comput. 17, 1988), applied again until the result is
/// below n (cycle walking: Black and Rogaway, *Ciphers with Arbitrary Finite Domains*, CT-RSA 2002).
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    low_bits: u32,
    high_bits: u32,
    keys: [u64; 2 * ROUNDS],
}

/// A round here changes both halves, so two of them are the four rounds of Luby and Rackoff.
const ROUNDS: usize = 2;

impl Permutation {
    /// The permutation of `0..n` with this seed.
    pub fn new(n: u64, seed: u64) -> Self {
        let bits = (64 - n.saturating_sub(1).leading_zeros()).max(2);
        let mut rng = flashwatt_base::rng::Rng::new(seed);
        let keys = std::array::from_fn(|_| rng.bits());
        Permutation { n, low_bits: bits / 2, high_bits: bits - bits / 2, keys }
    }

    /// The image of `x`, which must be below n.
    #[inline]
    pub fn of(&self, x: u64) -> u64 {
        debug_assert!(x < self.n);
        let mut x = self.step(x);
        while x >= self.n {
            x = self.step(x); // fewer than two steps on average for n > 2
        }
        x
    }

    #[inline]
    fn step(&self, x: u64) -> u64 {
        let (mut high, mut low) = (x >> self.low_bits, x & ((1 << self.low_bits) - 1));
        for keys in self.keys.chunks_exact(2) {
            high ^= mix(low, keys[0]) >> (64 - self.high_bits);
            low ^= mix(high, keys[1]) >> (64 - self.low_bits);
        }
        high << self.low_bits | low
    }
}

/// The round function: spreads the bits of `half` over 64 bits by folding a 128-bit product, as in wyhash.
#[inline]
fn mix(half: u64, key: u64) -> u64 {
    let product = u128::from(half ^ key) * u128::from(key | 1);
    ((product >> 64) as u64 ^ product as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for n in [1, 2, 3, 5, 64, 1000, 4097] {
            let shuffle = Permutation::new(n, 7);
            let mut seen = vec![false; n as usize];
            (0..n).for_each(|x| assert!(!std::mem::replace(&mut seen[shuffle.of(x) as usize], true), "{n}: {x}"));
        }
    }

    #[test]
    fn neighbours_go_far_apart_and_everywhere() {
        let n = 100_000;
        let shuffle = Permutation::new(n, 1);
        let near = (1..n).filter(|&x| shuffle.of(x).abs_diff(shuffle.of(x - 1)) < n / 100).count();
        assert!((1700..2300).contains(&near), "2 % of {n} expected, {near} found");
        let low = (0..n / 10).filter(|&x| shuffle.of(x) < n / 10).count();
        assert!((850..1150).contains(&low), "{low}");
        assert_ne!(shuffle.of(5), Permutation::new(n, 2).of(5));
    }
}
