//! Places of a job's requests.

use crate::connector::RequestKind;
use crate::rng::Rng;
use crate::workload::synthetic::{Normal, Pareto, Permutation, Places, Region, Uniform, Zipf, Zones};

/// fio's `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Distribution {
    /// Each place comes once before any comes again.
    Map,
    /// Uniform places, each drawn independently.
    Random,
    Zipf(f64),
    Pareto(f64),
    Normal(f64),
    /// Zones: their shares of the requests and of the places, `(requests, places)`.
    Zoned(Vec<(f64, f64)>),
}

impl Distribution {
    /// Places of this distribution in `region`. `seed` determines where the popular places lie.
    pub fn places(&self, region: Region, seed: u64) -> Box<dyn Places> {
        match self {
            Distribution::Map => Box::new(Map::new(region, seed)),
            Distribution::Random => Box::new(Uniform::new(region)),
            Distribution::Zipf(theta) => Box::new(Zipf::new(region, *theta, Some(seed))),
            Distribution::Pareto(share) => Box::new(Pareto::new(region, *share, Some(seed))),
            Distribution::Normal(deviation) => Box::new(Normal::new(region, *deviation)),
            Distribution::Zoned(shares) => Box::new(Zones::new(region, shares)),
        }
    }
}

/// Visits each place once in random order, then again in another random order.
struct Map {
    region: Region,
    slots: u64,
    order: Permutation,
    seed: u64,
    next: u64,
}

impl Map {
    fn new(region: Region, seed: u64) -> Self {
        let slots = region.slots();
        Map { region, slots, order: Permutation::new(slots, seed), seed, next: 0 }
    }
}

impl Places for Map {
    fn place(&mut self, _kind: RequestKind, _bytes: u64, _rng: &mut Rng) -> u64 {
        if self.next == self.slots {
            self.next = 0;
            self.seed = self.seed.wrapping_add(1);
            self.order = Permutation::new(self.slots, self.seed);
        }
        self.next += 1;
        self.region.byte(self.order.of(self.next - 1))
    }
}

/// From each place of another law, this number of requests in a row (fio's `rw=randwrite:8`).
pub(super) struct InRows {
    inner: Box<dyn Places>,
    requests: u64,
    left: u64,
    next_byte: u64,
}

impl InRows {
    /// `inner` leaves room for a whole row behind each of its places.
    pub fn new(inner: Box<dyn Places>, requests: u64) -> Self {
        InRows { inner, requests, left: 0, next_byte: 0 }
    }
}

impl Places for InRows {
    fn place(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        if self.left == 0 {
            self.left = self.requests;
            self.next_byte = self.inner.place(kind, bytes, rng);
        }
        self.left -= 1;
        let place = self.next_byte;
        self.next_byte += bytes;
        place
    }
}

/// Sequential places. Reads, writes and trims each have a sequence of their own, as in a mix of fio; a sequence starts
/// over at the end of the region.
pub(super) struct InOrder {
    region: Region,
    /// Next byte of reads, writes and trims, counted from the region's first byte.
    next: [u64; 3],
}

impl InOrder {
    pub fn new(region: Region) -> Self {
        InOrder { region, next: [0; 3] }
    }
}

impl Places for InOrder {
    fn place(&mut self, kind: RequestKind, bytes: u64, _rng: &mut Rng) -> u64 {
        let next = &mut self.next[kind as usize];
        let start = if *next + bytes <= self.region.range_bytes { *next } else { 0 };
        *next = start + bytes;
        self.region.start_bytes + start
    }
}
