//! Places by Zipf's law: few places get most requests.

use super::{Model, Permutation, Places, Region, Synthetic};
use flashwatt_base::registry::Param;
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const ENTRY: Model = Model {
    name: "zipf",
    doc: "the k-th most popular place has probability ~ 1/k^theta (Zipf)",
    params: &[
        Param { name: "theta", doc: "exponent; 0 is uniform", default: 0.99, min: 0.0, max: 5.0, integer: false },
        super::SCATTERED,
    ],
    build: |cfg, seed| {
        let scatter = cfg.parameter("scattered") != 0.0;
        let zipf = Zipf::new(cfg.region(), cfg.parameter("theta"), scatter.then_some(seed));
        Synthetic::open(cfg, zipf, seed)
    },
};

/// Places whose popularity follows Zipf's law.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    region: Region,
    ranks: Ranks,
    scatter: Option<Permutation>,
}

impl Zipf {
    /// Places in this region. Without `scatter` the most popular places lie first; with it, a permutation with that
    /// seed scatters them over the region.
    pub fn new(region: Region, theta: f64, scatter: Option<u64>) -> Self {
        let slots = region.slots();
        Zipf { region, ranks: Ranks::new(slots, theta), scatter: scatter.map(|seed| Permutation::new(slots, seed)) }
    }
}

impl Places for Zipf {
    #[inline]
    fn place(&mut self, _kind: RequestKind, _bytes: u64, rng: &mut Rng) -> u64 {
        let rank = self.ranks.draw(rng) - 1;
        self.region.byte(self.scatter.as_ref().map_or(rank, |scatter| scatter.of(rank)))
    }
}

/// Draws ranks `1..=n` with probability ~ rank^-theta, exactly, from a table of some thousand entries for any n.
///
/// Ranks lie in buckets: one rank each up to [`SINGLES`], then ranges whose ends differ by a factor of 1 + 1/[`STEPS`].
/// A draw chooses a bucket as if all its ranks were as likely as its first one (Walker's alias method), then a rank in
/// it uniformly. It keeps the rank with the probability that corrects the error (rejection, von Neumann) or starts
/// again. 97 % of the draws are kept at once, without computing a power.
#[derive(Clone, Debug)]
struct Ranks {
    theta: f64,
    buckets: Vec<Bucket>,
}

#[derive(Clone, Debug)]
struct Bucket {
    first: u64,
    ranks: u64,
    /// Chance threshold of the last rank, the least of the bucket: draws below it are kept for every rank.
    sure_below: u64,
    /// Of 2^64 draws of this column of the alias table, the number that choose this bucket; the others choose `alias`.
    own_below: u64,
    alias: u32,
}

const SINGLES: u64 = 1024;
const STEPS: u64 = 64;

impl Ranks {
    fn new(n: u64, theta: f64) -> Self {
        let (mut buckets, mut weights) = (Vec::new(), Vec::new());
        let mut first = 1;
        while first <= n {
            let ranks = if first <= SINGLES { 1 } else { (first / STEPS).min(n + 1 - first) };
            let sure = relative(first, first + ranks - 1, theta);
            buckets.push(Bucket { first, ranks, sure_below: Rng::threshold(sure), own_below: 0, alias: 0 });
            weights.push(ranks as f64 * libm::pow(first as f64, -theta));
            first += ranks;
        }
        alias(&mut buckets, &weights);
        Ranks { theta, buckets }
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let bucket = self.bucket(rng);
            if bucket.ranks == 1 {
                return bucket.first;
            }
            let rank = bucket.first + rng.below(bucket.ranks);
            let draw = rng.bits() >> 11;
            if draw < bucket.sure_below || draw < Rng::threshold(relative(bucket.first, rank, self.theta)) {
                return rank;
            }
        }
    }

    #[inline]
    fn bucket(&self, rng: &mut Rng) -> &Bucket {
        let product = u128::from(rng.bits()) * self.buckets.len() as u128;
        let at = (product >> 64) as usize;
        let column = &self.buckets[at];
        let alias = column.alias as usize;
        &self.buckets[if product as u64 <= column.own_below { at } else { alias }]
    }
}

/// The probability of `rank` relative to that of rank `to`.
fn relative(to: u64, rank: u64, theta: f64) -> f64 {
    libm::pow(rank as f64 / to as f64, -theta)
}

/// Fills Walker's alias table by the algorithm of Vose (*A Linear Algorithm for Generating Random Numbers with a Given
/// Distribution*, IEEE Trans. Softw. Eng. 17, 1991).
fn alias(buckets: &mut [Bucket], weights: &[f64]) {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..shares.len()).partition(|&at| shares[at] < 1.0);
    while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
        small.pop();
        buckets[less].own_below = (shares[less] * 18_446_744_073_709_551_616.0) as u64;
        buckets[less].alias = more as u32;
        shares[more] -= 1.0 - shares[less];
        if shares[more] < 1.0 {
            large.pop();
            small.push(more);
        }
    }
    small.into_iter().chain(large).for_each(|at| buckets[at].own_below = u64::MAX);
}
