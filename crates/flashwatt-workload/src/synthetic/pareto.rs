//! Self-similar places: a share h of the places gets 1 − h of the requests, at every scale.

use super::{Model, Permutation, Places, Region, Synthetic};
use flashwatt_base::registry::Param;
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const ENTRY: Model = Model {
    name: "pareto",
    doc: "self-similar: a share `skew` of the space gets 1 - `skew` of the requests, at every scale (0.2: the 80/20 rule)",
    params: &[
        Param {
            name: "skew",
            doc: "share of the places that gets 1 - `skew` of the requests; 0.5 is uniform",
            default: 0.2,
            min: 0.001,
            max: 0.5,
            integer: false,
        },
        super::SCATTERED,
    ],
    build: |cfg, seed| {
        let scatter = cfg.parameter("scattered") != 0.0;
        let pareto = Pareto::new(cfg.region(), cfg.parameter("skew"), scatter.then_some(seed));
        Synthetic::open(cfg, pareto, seed)
    },
};

/// The self-similar distribution of Gray et al., *Quickly Generating Billion-Record Synthetic Databases*, SIGMOD 1994:
/// the place is n·u^(ln h / ln (1 − h)), with u uniform in [0, 1).
#[derive(Clone, Debug)]
pub(crate) struct Pareto {
    region: Region,
    slots: u64,
    exponent: f64,
    scatter: Option<Permutation>,
}

impl Pareto {
    /// Places in this region. Without `scatter` the most popular places lie first; with it, a permutation with that
    /// seed scatters them over the region.
    pub fn new(region: Region, skew: f64, scatter: Option<u64>) -> Self {
        let slots = region.slots();
        let exponent = libm::log(skew) / libm::log(1.0 - skew);
        Pareto { region, slots, exponent, scatter: scatter.map(|seed| Permutation::new(slots, seed)) }
    }
}

impl Places for Pareto {
    #[inline]
    fn place(&mut self, _kind: RequestKind, _bytes: u64, rng: &mut Rng) -> u64 {
        let rank = (self.slots as f64 * libm::pow(rng.f64(), self.exponent)) as u64;
        let rank = rank.min(self.slots - 1); // with more than 2^53 places f64 may round up to `slots`
        self.region.byte(self.scatter.as_ref().map_or(rank, |scatter| scatter.of(rank)))
    }
}
