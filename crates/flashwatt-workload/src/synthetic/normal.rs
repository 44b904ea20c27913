//! Places normally distributed around the middle of the range.

use super::{Model, Places, Region, Synthetic};
use flashwatt_base::registry::Param;
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const ENTRY: Model = Model {
    name: "normal",
    doc: "normally distributed around the middle of the range",
    params: &[Param {
        name: "deviation",
        doc: "standard deviation, as a share of the range",
        default: 0.1,
        min: 1e-6,
        max: 1.0,
        integer: false,
    }],
    build: |cfg, seed| Synthetic::open(cfg, Normal::new(cfg.region(), cfg.parameter("deviation")), seed),
};

/// A normal distribution, cut at the ends of the range: a draw outside is repeated.
#[derive(Clone, Debug)]
pub struct Normal {
    region: Region,
    slots: u64,
    deviation: f64,
}

impl Normal {
    /// Places in this region; `deviation` is the standard deviation as a share of the range.
    pub fn new(region: Region, deviation: f64) -> Self {
        Normal { region, slots: region.slots(), deviation }
    }
}

impl Places for Normal {
    fn place(&mut self, _kind: RequestKind, _bytes: u64, rng: &mut Rng) -> u64 {
        loop {
            let at = 0.5 + self.deviation * standard(rng);
            if (0.0..1.0).contains(&at) {
                return self.region.byte(((at * self.slots as f64) as u64).min(self.slots - 1));
            }
        }
    }
}

/// Draws from the standard normal distribution by the transform of Box and Muller (*A Note on the Generation of Random
/// Normal Deviates*, Ann. Math. Stat. 29, 1958).
fn standard(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.f64()));
    radius * libm::cos(2.0 * std::f64::consts::PI * rng.f64())
}
