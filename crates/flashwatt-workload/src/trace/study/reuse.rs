//! The hit ratio of an LRU cache as a function of its size, from one reading of a trace in constant memory.
//!
//! It is computed from reuse distances: the numbers of distinct pages between two accesses to the same page. Distances
//! are measured for a sample of the pages, chosen by a hash of the address, so that all accesses to a page are followed
//! or none. This is SHARDS with a fixed number of pages, including its correction of the sample's error (Waldspurger,
//! Park, Garthwaite, Ahmad: *Efficient MRC Construction with SHARDS*, FAST 2015). If the trace touches no more than
//! [`PAGES_MAX`] pages, all are followed and the distances are exact.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use flashwatt_base::rng::splitmix64;

/// Greatest number of followed pages. In the SHARDS paper the error with 8 Ki pages is below 0.01 on its traces.
const PAGES_MAX: usize = 1 << 14;
/// Hashes are taken modulo this.
const HASHES: u64 = 1 << 24;
/// Number of slots for accesses in order; when all are used, the slots are renumbered.
const SLOTS: usize = 8 * PAGES_MAX;
/// Number of bins for each doubling of the distance.
const SUB_BINS: u64 = 8;

/// The hit ratio of an LRU cache as a function of its size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Number of accesses to pages.
    pub accesses: u64,
    /// Share of the pages that was followed; with 1 the curve is exact at its points.
    pub sampled: f64,
    /// Points `(size, ratio)`: the cache size in pages, and the share of accesses that hit, 0 to 1.
    pub points: Vec<(u64, f64)>,
}

impl Curve {
    /// The hit ratio of a cache of this number of pages; exact if that is a power of two.
    pub fn hit_ratio(&self, pages: u64) -> f64 {
        self.points.iter().rev().find(|(size, _)| *size <= pages).map_or(0.0, |(_, ratio)| *ratio)
    }
}

/// Computes the [`Curve`] of a sequence of accesses from a sample of its pages.
pub struct Reuse {
    /// The slot of the last access to each followed page.
    last: BTreeMap<u64, usize>,
    /// The followed pages in the order of their hashes, as `(hash, page)`.
    by_hash: BTreeSet<(u64, u64)>,
    /// Pages with a smaller hash are followed.
    threshold: u64,
    /// Marks the slots that hold the last access to a page.
    slots: Fenwick,
    next: usize,
    /// Number of accesses in each bin of distances, scaled to the present threshold.
    bins: Vec<f64>,
    /// Number of accesses to followed pages, first accesses included, scaled to the present threshold.
    followed: f64,
    accesses: u64,
}

impl Default for Reuse {
    fn default() -> Self {
        Self::new()
    }
}

impl Reuse {
    /// A state without accesses.
    pub fn new() -> Self {
        Reuse {
            last: BTreeMap::new(),
            by_hash: BTreeSet::new(),
            threshold: HASHES,
            slots: Fenwick::new(SLOTS),
            next: 0,
            bins: Vec::new(),
            followed: 0.0,
            accesses: 0,
        }
    }

    /// Adds an access to a page.
    pub fn access(&mut self, page: u64) {
        self.accesses += 1;
        let hash = splitmix64(page) % HASHES;
        if hash >= self.threshold {
            return;
        }
        self.followed += 1.0;
        if self.next == SLOTS {
            self.count_anew();
        }
        match self.last.insert(page, self.next) {
            Some(before) => {
                let distance = self.slots.sum() - self.slots.sum_to(before + 1);
                self.slots.add(before, false);
                self.note(distance * HASHES / self.threshold);
            }
            None => drop(self.by_hash.insert((hash, page))),
        }
        self.slots.add(self.next, true);
        self.next += 1;
        if self.last.len() > PAGES_MAX {
            self.follow_fewer();
        }
    }

    fn note(&mut self, distance: u64) {
        let bin = bin(distance);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0.0);
        }
        self.bins[bin] += 1.0;
    }

    /// Renumbers the last accesses from slot 0, in the same order.
    fn count_anew(&mut self) {
        let mut pages: Vec<_> = self.last.iter().map(|(page, slot)| (*slot, *page)).collect();
        pages.sort_unstable();
        self.slots = Fenwick::new(SLOTS);
        for (slot, (_, page)) in pages.iter().enumerate() {
            self.last.insert(*page, slot);
            self.slots.add(slot, true);
        }
        self.next = pages.len();
    }

    /// Stops following the pages with the highest hash, and scales the counts to the smaller sample.
    fn follow_fewer(&mut self) {
        let Some(&(threshold, _)) = self.by_hash.last() else { return };
        while let Some(&(hash, page)) = self.by_hash.last()
            && hash >= threshold
        {
            self.by_hash.remove(&(hash, page));
            if let Some(slot) = self.last.remove(&page) {
                self.slots.add(slot, false);
            }
        }
        let share = threshold as f64 / self.threshold as f64;
        self.threshold = threshold;
        self.bins.iter_mut().for_each(|count| *count *= share);
        self.followed *= share;
    }

    /// The curve so far.
    pub fn curve(&self) -> Curve {
        let sampled = self.threshold as f64 / HASHES as f64;
        let expected = self.accesses as f64 * sampled;
        // Correction of SHARDS: the difference between expected and followed accesses is due to few pages that are
        // accessed often, that is at short distances. It is added to the first bin.
        let (mut hits, mut points) = (expected - self.followed, Vec::new());
        for (bin, count) in self.bins.iter().enumerate() {
            hits += count;
            if *count > 0.0 {
                points.push((bin_end(bin), (hits / expected).clamp(0.0, 1.0)));
            }
        }
        Curve { accesses: self.accesses, sampled, points }
    }
}

/// The bin of a distance. Each distance below [`SUB_BINS`] has its own bin; above, each doubling has [`SUB_BINS`] bins.
fn bin(distance: u64) -> usize {
    let octave = (distance | 1).ilog2().saturating_sub(SUB_BINS.ilog2());
    (u64::from(octave) * SUB_BINS + (distance >> octave)) as usize
}

/// The least cache size at which every distance of a bin is a hit: the greatest distance of the bin plus 1.
fn bin_end(bin: usize) -> u64 {
    let bin = bin as u64;
    let octave = (bin / SUB_BINS).saturating_sub(1);
    (bin - octave * SUB_BINS + 1) << octave
}

/// A Fenwick tree: a set of marked places that counts the marks before a place in logarithmic time.
struct Fenwick {
    /// Numbered from 1. Node n holds the number of marks in the n & −n places up to and including place n − 1.
    nodes: Vec<u32>,
    marks: u64,
}

impl Fenwick {
    fn new(places: usize) -> Self {
        Fenwick { nodes: vec![0; places + 1], marks: 0 }
    }

    /// Sets the mark at a place, or removes it.
    fn add(&mut self, place: usize, set: bool) {
        let mut node = place + 1;
        while let Some(count) = self.nodes.get_mut(node) {
            *count = if set { *count + 1 } else { *count - 1 };
            node += node & node.wrapping_neg();
        }
        self.marks = if set { self.marks + 1 } else { self.marks - 1 };
    }

    fn sum(&self) -> u64 {
        self.marks
    }

    /// The number of marks at places below `end`.
    fn sum_to(&self, end: usize) -> u64 {
        let (mut node, mut sum) = (end, 0);
        while node > 0 {
            sum += u64::from(self.nodes[node]);
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashwatt_base::rng::Rng;

    #[test]
    fn bins_hold_what_their_ends_say() {
        for distance in (0..5000).chain([1 << 30, (1 << 40) - 1, u64::MAX >> 8]) {
            let end = bin_end(bin(distance));
            assert!(end > distance && end - distance <= 1 + distance / SUB_BINS, "{distance} ends at {end}");
            assert!(distance == 0 || bin_end(bin(distance - 1)) >= distance);
        }
    }

    /// The hit ratio is that of an LRU cache implemented as a plain list.
    #[test]
    fn small_traces_are_exact() {
        let (mut rng, mut reuse, mut list) = (Rng::new(3), Reuse::new(), Vec::new());
        let (accesses, cache) = (200_000, 128);
        let mut hits = 0;
        for _ in 0..accesses {
            let range = 1 + rng.below(600);
            let page = rng.below(range);
            reuse.access(page);
            let at = list.iter().rposition(|known| *known == page);
            hits += u64::from(at.is_some_and(|at| list.len() - at <= cache));
            at.map(|at| list.remove(at));
            list.push(page);
        }
        let curve = reuse.curve();
        assert_eq!((curve.accesses, curve.sampled), (accesses, 1.0));
        assert!((curve.hit_ratio(cache as u64) - hits as f64 / accesses as f64).abs() < 1e-9);
    }

    #[test]
    fn a_sample_finds_where_a_cycle_fits() {
        let (mut reuse, pages) = (Reuse::new(), 200_000);
        for i in 0..4 * pages {
            reuse.access(i % pages);
        }
        let curve = reuse.curve();
        assert!(curve.sampled < 0.1, "{}", curve.sampled);
        assert!(
            curve.hit_ratio(pages * 9 / 10) < 0.02 && (curve.hit_ratio(pages * 5 / 4) - 0.75).abs() < 0.02,
            "{curve:?}"
        );
    }
}
