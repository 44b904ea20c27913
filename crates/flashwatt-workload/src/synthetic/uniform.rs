//! Uniform places: each is as likely as any other.

use super::{Model, Places, Region, Synthetic};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const ENTRY: Model = Model {
    name: "uniform",
    doc: "every place of the range as likely as any other",
    params: &[],
    build: |cfg, seed| Synthetic::open(cfg, Uniform::new(cfg.region()), seed),
};

/// Uniformly distributed places.
#[derive(Clone, Debug)]
pub struct Uniform {
    region: Region,
    slots: u64,
}

impl Uniform {
    /// Places anywhere in a region.
    pub fn new(region: Region) -> Self {
        Uniform { region, slots: region.slots() }
    }
}

impl Places for Uniform {
    #[inline]
    fn place(&mut self, _kind: RequestKind, _bytes: u64, rng: &mut Rng) -> u64 {
        self.region.byte(rng.below(self.slots))
    }
}
