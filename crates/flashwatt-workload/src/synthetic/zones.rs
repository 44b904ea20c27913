//! Places in zones: parts of the range, each with its share of the requests.

use super::{Places, Region};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// Zones of the range, one after the other, with uniform places within each zone.
#[derive(Clone, Debug)]
pub(crate) struct Zones {
    region: Region,
    zones: Vec<Zone>,
}

#[derive(Clone, Debug)]
struct Zone {
    /// Chance threshold: the requests of this zone and all zones before it.
    below: u64,
    first: u64,
    slots: u64,
}

impl Zones {
    /// Zones by their shares of the requests and of the places, `(requests, places)`. Each zone has at least one place;
    /// the last one takes the remaining requests and places.
    pub fn new(region: Region, shares: &[(f64, f64)]) -> Self {
        let (slots, mut requests, mut places, mut first) = (region.slots(), 0.0, 0.0, 0);
        let mut zones = Vec::new();
        for &(of_requests, of_places) in shares {
            requests += of_requests;
            places += of_places;
            let end = ((places * slots as f64).round() as u64).clamp(first.min(slots - 1) + 1, slots);
            let first_of_this = first.min(end - 1);
            zones.push(Zone {
                below: Rng::threshold(requests.min(1.0)),
                first: first_of_this,
                slots: end - first_of_this,
            });
            first = end;
        }
        if let Some(last) = zones.last_mut() {
            (last.below, last.slots) = (u64::MAX, slots - last.first);
        }
        Zones { region, zones }
    }
}

impl Places for Zones {
    #[inline]
    fn place(&mut self, _kind: RequestKind, _bytes: u64, rng: &mut Rng) -> u64 {
        let draw = rng.bits() >> 11;
        let zone = self.zones.iter().find(|zone| draw < zone.below);
        let slot = zone.map_or(0, |zone| zone.first + rng.below(zone.slots));
        self.region.byte(slot)
    }
}
