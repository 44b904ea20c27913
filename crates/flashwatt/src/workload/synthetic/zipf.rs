//! A few places take most requests: Zipf's law.

use super::{Model, Permutation, Places, Region, Synthetic};
use crate::connector::RequestKind;
use crate::registry::Param;
use crate::rng::Rng;

pub(super) const MODEL: Model = Model {
    name: "zipf",
    doc: "the k-th most popular place has probability ~ 1/k^theta (Zipf)",
    params: &[
        Param { name: "theta", doc: "exponent; 0 is uniform", default: 0.99, min: 0.0, max: 5.0, integer: false },
        super::SCATTERED,
    ],
    open: |cfg, seed| {
        let scatter = cfg.parameter("scattered") != 0.0;
        let zipf = Zipf::new(cfg.region(), cfg.parameter("theta"), scatter.then_some(seed));
        Box::new(Synthetic::new(cfg, zipf, seed))
    },
};

/// Places by popularity.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    region: Region,
    ranks: Ranks,
    scatter: Option<Permutation>,
}

impl Zipf {
    /// Popular places lie first, or anywhere if a seed for that is given.
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

/// Draws ranks `1..=n` with probability ~ rank^-theta, exactly, from a table of some thousand entries however great n is.
///
/// Ranks lie in buckets: one each up to [`SINGLES`], then ranges whose ends differ by a factor of 1 + 1/[`STEPS`]. A bucket
/// is chosen as if each of its ranks were as likely as its first (Walker's alias method), a rank in it evenly, and it is
/// kept with the probability that corrects this (rejection, von Neumann): 97 % are at once, without a power.
#[derive(Clone, Debug)]
struct Ranks {
    theta: f64,
    buckets: Vec<Bucket>,
}

#[derive(Clone, Debug)]
struct Bucket {
    first: u64,
    ranks: u64,
    /// Chance threshold that even the last rank reaches.
    sure_below: u64,
    /// Of 2^64 draws of this column so many are the column's own, the others the alias's.
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

/// How likely a rank is, as a share of another.
fn relative(to: u64, rank: u64, theta: f64) -> f64 {
    libm::pow(rank as f64 / to as f64, -theta)
}

/// Walker's alias table, filled in Vose's way (*A Linear Algorithm for Generating Random Numbers with a Given
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
