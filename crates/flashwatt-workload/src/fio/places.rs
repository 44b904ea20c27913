//! Random places of a job's requests in a file: numbers of slots.

use super::random_map::RandomMap;
use crate::synthetic::{Pareto, Permutation, Places, Region, Uniform, Zipf, Zones};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// fio's `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Distribution {
    /// Uniform.
    Random,
    /// The exponent; where the most popular place lies, as a share of the file.
    Zipf(f64, Option<f64>),
    /// The share of the places; where the most popular one lies, as a share of the file.
    Pareto(f64, Option<f64>),
    /// The deviation as a share of the file.
    Normal(f64),
    /// Zones of reads, writes and trims: their shares of the requests and of the places, `(requests, places)`.
    Zoned([Vec<(f64, f64)>; 3]),
}

/// What draws slots of a file.
pub(super) enum Slots {
    /// Each slot once before any comes again, where all requests have one length.
    Once(Once),
    /// The same where they have several.
    Map(RandomMap),
    /// Each drawn independently, for reads, writes and trims.
    Drawn([Box<dyn Places>; 3]),
    /// As [`Slots::Drawn`], with one law for all directions.
    Shared(Box<dyn Places>),
}

impl Slots {
    /// The next slot below `slots` of a request of this kind; none if each was used.
    pub fn next(&mut self, kind: RequestKind, slots: u64, rng: &mut Rng) -> Option<u64> {
        match self {
            Slots::Once(once) => once.next(),
            Slots::Map(map) => {
                let drawn = rng.below(slots);
                map.free_from(drawn)
            }
            Slots::Drawn(laws) => Some(laws[kind as usize].place(kind, 1, rng)),
            Slots::Shared(law) => Some(law.place(kind, 1, rng)),
        }
    }

    /// All slots are free again, to be used in the order of the beginning.
    pub fn restart(&mut self) {
        match self {
            Slots::Once(once) => *once = Once::new(once.slots, once.first_seed),
            _ => self.reset(),
        }
    }

    /// All slots are free again.
    pub fn reset(&mut self) {
        match self {
            Slots::Once(once) => once.again(),
            Slots::Map(map) => map.reset(),
            Slots::Drawn(_) | Slots::Shared(_) => {}
        }
    }
}

/// `slots` slots, numbered from 0.
fn numbers(slots: u64) -> Region {
    Region { start_bytes: 0, range_bytes: slots.max(1), align_bytes: 1, largest_bytes: 1 }
}

impl Distribution {
    /// What draws slots independently: of each direction it has `slots`; laws that are the same for all directions have `all`.
    /// `seed` determines where the popular places lie.
    pub fn slots(&self, slots: [u64; 3], all: u64, seed: u64) -> Slots {
        let moved = |law: Box<dyn Places>, center: Option<f64>| -> Box<dyn Places> {
            match center {
                None => law,
                Some(share) => Box::new(Moved::new(law, all, (share * all as f64) as u64, seed)),
            }
        };
        match self {
            Distribution::Random if slots.iter().all(|count| count == &slots[0]) => {
                Slots::Shared(Box::new(Uniform::new(numbers(slots[0]))))
            }
            Distribution::Random => {
                Slots::Drawn(slots.map(|slots| -> Box<dyn Places> { Box::new(Uniform::new(numbers(slots))) }))
            }
            Distribution::Zipf(theta, center) => {
                Slots::Shared(moved(Box::new(Zipf::new(numbers(all), *theta, Some(seed))), *center))
            }
            Distribution::Pareto(share, center) => {
                Slots::Shared(moved(Box::new(Pareto::new(numbers(all), *share, Some(seed))), *center))
            }
            Distribution::Normal(deviation) => Slots::Shared(Box::new(Scattered::new(all, *deviation, seed))),
            Distribution::Zoned(shares) => {
                let of = |at: usize| -> Box<dyn Places> { Box::new(Zones::new(numbers(slots[at]), &shares[at])) };
                Slots::Drawn([of(0), of(1), of(2)])
            }
        }
    }
}

/// Visits each slot once in random order, then again in another random order.
pub(super) struct Once {
    slots: u64,
    order: Permutation,
    first_seed: u64,
    seed: u64,
    next: u64,
}

impl Once {
    pub fn new(slots: u64, seed: u64) -> Self {
        Once { slots, order: Permutation::new(slots.max(1), seed), first_seed: seed, seed, next: 0 }
    }

    fn next(&mut self) -> Option<u64> {
        let at = self.next;
        self.next += 1;
        (at < self.slots).then(|| self.order.of(at))
    }

    fn again(&mut self) {
        if self.next > 0 {
            self.next = 0;
            self.seed = self.seed.wrapping_add(1);
            self.order = Permutation::new(self.slots.max(1), self.seed);
        }
    }
}

/// fio's `normal`: the mean of twelve uniform draws, and a uniform draw of the deviation's width. Popular slots lie anywhere, as fio
/// 3.33 hashes them.
struct Scattered {
    slots: u64,
    deviation: f64,
    order: Permutation,
}

impl Scattered {
    fn new(slots: u64, deviation: f64, seed: u64) -> Self {
        let slots = slots.max(1);
        Scattered { slots, deviation: deviation.min(0.5), order: Permutation::new(slots, seed) }
    }
}

impl Places for Scattered {
    fn place(&mut self, _kind: RequestKind, _bytes: u64, rng: &mut Rng) -> u64 {
        let mean = (0..12).map(|_| rng.f64()).sum::<f64>() / 12.0;
        let at = mean + self.deviation * (rng.f64() - 0.5);
        let slot = (at.clamp(0.0, 1.0) * self.slots as f64) as u64;
        self.order.of(slot.min(self.slots - 1))
    }
}

/// Slots of another law, moved so that its most popular one lies at `center`.
struct Moved {
    inner: Box<dyn Places>,
    slots: u64,
    shift: u64,
}

impl Moved {
    fn new(inner: Box<dyn Places>, slots: u64, center: u64, seed: u64) -> Self {
        let slots = slots.max(1);
        // The laws scatter by this permutation; the most popular slot is the image of 0.
        let most_popular = Permutation::new(slots, seed).of(0);
        Moved { inner, slots, shift: (center % slots + slots - most_popular) % slots }
    }
}

impl Places for Moved {
    fn place(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        (self.inner.place(kind, bytes, rng) + self.shift) % self.slots
    }
}
