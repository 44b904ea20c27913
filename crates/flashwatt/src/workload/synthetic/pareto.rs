//! A share h of the requests goes to all but a share h of the places, at every scale.

use super::{Model, Permutation, Places, Region, Synthetic};
use crate::connector::RequestKind;
use crate::registry::Param;
use crate::rng::Rng;

pub(super) const MODEL: Model = Model {
    name: "pareto",
    doc: "self-similar: a share `skew` of the space gets 1 - `skew` of the requests, at every scale (0.2: the 80/20 rule)",
    params: &[
        Param {
            name: "skew",
            doc: "share of the places that gets the rest of the requests; 0.5 is uniform",
            default: 0.2,
            min: 0.001,
            max: 0.5,
            integer: false,
        },
        super::SCATTERED,
    ],
    open: |cfg, seed| {
        let scatter = cfg.parameter("scattered") != 0.0;
        let pareto = Pareto::new(cfg.region(), cfg.parameter("skew"), scatter.then_some(seed));
        Box::new(Synthetic::new(cfg, pareto, seed))
    },
};

/// The self-similar law of Gray et al., *Quickly Generating Billion-Record Synthetic Databases*, SIGMOD 1994: place
/// n·u^(ln h / ln (1 − h)) for an even u.
#[derive(Clone, Debug)]
pub(crate) struct Pareto {
    region: Region,
    slots: u64,
    exponent: f64,
    scatter: Option<Permutation>,
}

impl Pareto {
    /// Popular places lie first, or anywhere if a seed for that is given.
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
        let rank = rank.min(self.slots - 1); // rounding, beyond 2^53 places
        self.region.byte(self.scatter.as_ref().map_or(rank, |scatter| scatter.of(rank)))
    }
}
