//! The write-back cache: runs of consecutive sectors (extents) that wait to be written to the medium.
//!
//! Extents never overlap and never touch: a write that overlaps one, or continues it on either side, becomes part of it. They
//! are kept in the order of their addresses. An access takes sectors from the beginning of an extent, those of one track at most, and they
//! keep their room until they are written.

use super::geometry::{Geometry, Lba, SectorPlace};
use super::mechanism::{Mechanism, Target};
use super::settings;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};

/// Extents on each side of the heads that are candidates for the next access. More would hardly be nearer: they are farther away
/// by address.
const CANDIDATES: usize = 32;

/// A run of sectors that are to be written.
#[derive(Clone, Copy, Debug)]
pub struct CachedExtent {
    /// The first sector.
    pub first: Lba,
    /// The sector after the last one.
    pub end: Lba,
    /// When its oldest sector came.
    pub since: Nanos,
    /// Number of the oldest write in it.
    pub number: u64,
    /// Where its first sector lies.
    pub place: SectorPlace,
}

/// The oldest extent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Oldest {
    /// Number of the oldest write in it.
    number: u64,
    /// Its first sector.
    pub first: Lba,
    /// When its oldest sector came.
    pub since: Nanos,
}

impl Oldest {
    fn of(extent: &CachedExtent) -> Self {
        Oldest { number: extent.number, first: extent.first, since: extent.since }
    }

    fn is(&self, extent: &CachedExtent) -> bool {
        (self.number, self.first) == (extent.number, extent.first)
    }
}

/// Sectors that are being written.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    first: Lba,
    end: Lba,
    number: u64,
}

/// An extent's place in the order of addresses: what a search looks at, and little to move for an insertion.
#[derive(Clone, Copy, Debug)]
struct ExtentEntry {
    first: Lba,
    cylinder: u32,
    /// Where the extent is kept.
    slot: u32,
}

impl ExtentEntry {
    fn new(extent: &CachedExtent, slot: u32) -> Self {
        ExtentEntry { first: extent.first, cylinder: extent.place.cylinder, slot }
    }
}

/// A write-back cache.
pub struct WriteCache {
    /// In the order of their addresses.
    order: Vec<ExtentEntry>,
    /// The extents by their slots; of no meaning in a slot that is free.
    slots: Vec<CachedExtent>,
    free_slots: Vec<u32>,
    oldest: Option<Oldest>,
    under_way: Option<UnderWay>,
    /// Sectors that are free.
    free: u64,
    extents_max: usize,
    /// Writes so far.
    writes: u64,
}

impl WriteCache {
    /// An empty cache.
    pub fn new(settings: &settings::WriteCache) -> Self {
        WriteCache {
            order: Vec::new(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            oldest: None,
            under_way: None,
            free: settings.bytes / SECTOR_BYTES,
            extents_max: settings.extents as usize,
            writes: 0,
        }
    }

    /// Whether no sector waits, nor is being written.
    pub fn is_clean(&self) -> bool {
        self.order.is_empty() && self.under_way.is_none()
    }

    /// Whether sectors wait for an access.
    pub fn has_extents(&self) -> bool {
        !self.order.is_empty()
    }

    /// The extents in the order of their addresses.
    fn extents(&self) -> impl Iterator<Item = &CachedExtent> {
        self.order.iter().map(|entry| &self.slots[entry.slot as usize])
    }

    /// The extent at this place in the order of addresses.
    #[inline]
    fn extent(&self, at: usize) -> &CachedExtent {
        &self.slots[self.order[at].slot as usize]
    }

    /// Sectors that wait.
    pub fn sectors(&self) -> u64 {
        self.extents().map(|extent| extent.end - extent.first).sum()
    }

    /// The number of the next write.
    pub fn next_number(&self) -> u64 {
        self.writes
    }

    /// Whether all writes before this number are on the medium.
    pub fn is_written_before(&self, number: u64) -> bool {
        let oldest = self.oldest.map_or(u64::MAX, |oldest| oldest.number);
        oldest.min(self.under_way.map_or(u64::MAX, |under_way| under_way.number)) >= number
    }

    /// The place among the extents of the first one that begins at this sector or after it.
    #[inline]
    pub fn from(&self, lba: Lba) -> usize {
        self.order.partition_point(|entry| entry.first < lba)
    }

    /// The end of the run of sectors in the cache that begins with this one; none if this sector is not there.
    pub fn end_of(&self, lba: Lba) -> Option<Lba> {
        let under_way = self.under_way.filter(|run| (run.first..run.end).contains(&lba)).map(|run| run.end);
        let before = self.from(lba + 1).checked_sub(1).map(|at| self.extent(at));
        before.map(|extent| extent.end).filter(|&end| end > lba).or(under_way)
    }

    /// How many sectors of a write fit now, from its first one on.
    pub fn room(&self, first: Lba, end: Lba) -> u64 {
        if self.order.len() >= self.extents_max && self.touching(first, end).is_none() {
            return 0;
        }
        self.free.min(end - first)
    }

    /// The place of the last extent that overlaps these sectors or continues them on either side.
    fn touching(&self, first: Lba, end: Lba) -> Option<usize> {
        let at = self.from(end + 1).checked_sub(1)?;
        (self.extent(at).end >= first).then_some(at)
    }

    /// Takes sectors for which there is room. Returns how many of them were in an extent already.
    pub fn write(&mut self, first: Lba, end: Lba, now: Nanos, geometry: &Geometry) -> u64 {
        let number = self.writes;
        self.writes += 1;
        let mut extent = CachedExtent { first, end, since: now, number, place: SectorPlace::default() };
        let (mut twice, mut place) = (0, None);
        let mut at = self.from(end + 1);
        while let Some(before) = at.checked_sub(1).filter(|&before| self.extent(before).end >= extent.first) {
            at = before;
            let other = self.remove(at);
            twice += (other.end.min(end)).saturating_sub(other.first.max(first));
            if other.first <= extent.first {
                place = Some(other.place);
            }
            extent.first = extent.first.min(other.first);
            extent.end = extent.end.max(other.end);
            extent.since = extent.since.min(other.since);
            extent.number = extent.number.min(other.number);
        }
        self.free -= end - first - twice;
        extent.place = place.unwrap_or_else(|| geometry.place(extent.first));
        self.insert(at, extent);
        twice
    }

    /// Inserts an extent at its place.
    fn insert(&mut self, at: usize, extent: CachedExtent) {
        if self.oldest.is_none_or(|oldest| extent.number < oldest.number) {
            self.oldest = Some(Oldest::of(&extent));
        }
        let slot = self.free_slots.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(free) => *free = extent,
            None => self.slots.push(extent),
        }
        self.order.insert(at, ExtentEntry::new(&extent, slot));
    }

    /// Removes an extent. Only if it was the oldest, all others are looked at for the next one.
    fn remove(&mut self, at: usize) -> CachedExtent {
        let slot = self.order.remove(at).slot;
        self.free_slots.push(slot);
        let extent = self.slots[slot as usize];
        if self.oldest.is_some_and(|oldest| oldest.is(&extent)) {
            self.oldest = self.extents().map(Oldest::of).min();
        }
        extent
    }

    /// These sectors are written around the cache: what it has of them is void. Returns how many they are.
    pub fn forget(&mut self, first: Lba, end: Lba, geometry: &Geometry) -> u64 {
        let mut void = 0;
        while let Some(at) = self.from(end).checked_sub(1).filter(|&at| self.extent(at).end > first) {
            let extent = self.remove(at);
            void += extent.end.min(end) - extent.first.max(first);
            if extent.first < first {
                self.insert(self.from(extent.first), CachedExtent { end: first, ..extent });
            }
            if end < extent.end {
                self.insert(self.from(end), CachedExtent { first: end, place: geometry.place(end), ..extent });
            }
        }
        self.free += void;
        void
    }

    /// The oldest extent.
    pub fn oldest(&self) -> Option<&Oldest> {
        self.oldest.as_ref()
    }

    /// The place of the extent that the heads reach first from `now` on, of a bounded number on each side of an address; none if none is
    /// reached in less than `limit`. Of equals it is the one with the least address.
    #[inline]
    pub fn nearest(&self, now: Nanos, mechanism: &Mechanism, near: Lba, limit: Nanos) -> Option<usize> {
        let all = self.order.len();
        let (first, end) = if all <= CANDIDATES {
            (0, all)
        } else {
            let at = self.from(near);
            (at.saturating_sub(CANDIDATES), all.min(at + CANDIDATES))
        };
        let place = |entry: &ExtentEntry| self.slots[entry.slot as usize].place;
        let target = |entry: &ExtentEntry| Target { rank: entry.first, place: place(entry), writes: true, ready_ns: 0 };
        let (at, _) = mechanism.nearest(now, &self.order[first..end], limit, |entry| entry.cylinder, target)?;
        Some(first + at)
    }

    /// Takes the sectors of the extent at this place that lie on its first track, for an access. Returns the first of them, where it
    /// lies, and their end.
    pub fn take(&mut self, at: usize, geometry: &Geometry) -> (Lba, SectorPlace, Lba) {
        let extent = *self.extent(at);
        let first = extent.first;
        let end = extent.end.min(first + u64::from(extent.place.left_on_track));
        if end < extent.end {
            let rest = CachedExtent { first: end, place: geometry.place(end), ..extent };
            let slot = self.order[at].slot;
            (self.order[at], self.slots[slot as usize]) = (ExtentEntry::new(&rest, slot), rest);
            if let Some(oldest) = self.oldest.as_mut().filter(|oldest| oldest.is(&extent)) {
                oldest.first = end;
            }
        } else {
            self.remove(at);
        }
        self.under_way = Some(UnderWay { first, end, number: extent.number });
        (first, extent.place, end)
    }

    /// The sectors taken last are on the medium.
    pub fn written(&mut self) {
        if let Some(run) = self.under_way.take() {
            self.free += run.end - run.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::settings::tests::small;
    use super::*;

    /// A step of a test: a write, a write around the cache, an access, or its end.
    #[derive(Clone, Debug)]
    enum Step {
        Write(Lba, u64),
        Around(Lba, u64),
        Take(usize),
        Written,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let run = || (0u64..300, 1u64..30);
        let step = prop_oneof![
            4 => run().prop_map(|(first, sectors)| Step::Write(first, sectors)),
            1 => run().prop_map(|(first, sectors)| Step::Around(first, sectors)),
            2 => any::<usize>().prop_map(Step::Take),
            2 => Just(Step::Written),
        ];
        prop::collection::vec(step, 1..80)
    }

    proptest! {
        /// Beside the cache: a set of all sectors that wait, and the run that is under way.
        #[test]
        fn holds_what_a_set_of_sectors_holds(steps in steps()) {
            let (settings, size) = (small(), 200);
            let geometry = Geometry::new(&settings);
            let write_cache = settings::WriteCache { bytes: size * 512, extents: 6, age_max_ns: 1, goes_first: false };
            let mut cache = WriteCache::new(&write_cache);
            let (mut waiting, mut under_way) = (BTreeSet::new(), 0..0);
            for (now, step) in (0..).zip(steps) {
                match step {
                    Step::Write(first, sectors) => {
                        let end = first + cache.room(first, first + sectors);
                        if end > first {
                            let twice = (first..end).filter(|lba| waiting.contains(lba)).count() as u64;
                            prop_assert_eq!(cache.write(first, end, now, &geometry), twice);
                            waiting.extend(first..end);
                        }
                    }
                    Step::Around(first, sectors) => {
                        let void = waiting.range(first..first + sectors).count() as u64;
                        prop_assert_eq!(cache.forget(first, first + sectors, &geometry), void);
                        waiting.retain(|lba| !(first..first + sectors).contains(lba));
                    }
                    Step::Take(which) if cache.has_extents() && under_way.is_empty() => {
                        let (first, _, end) = cache.take(which % cache.order.len(), &geometry);
                        under_way = first..end;
                        waiting.retain(|lba| !under_way.contains(lba));
                    }
                    Step::Take(_) => {}
                    Step::Written => {
                        cache.written();
                        under_way = 0..0;
                    }
                }
                prop_assert_eq!(cache.sectors(), waiting.len() as u64);
                prop_assert_eq!(cache.free + waiting.len() as u64 + (under_way.end - under_way.start), size);
                prop_assert_eq!(cache.is_clean(), waiting.is_empty() && under_way.is_empty());
                let oldest = cache.extents().map(|extent| (extent.number, extent.first)).min();
                prop_assert_eq!(cache.oldest.map(|oldest| oldest.number), oldest.map(|(number, _)| number));
                if let Some(oldest) = cache.oldest {
                    let since = cache.extents().find(|extent| extent.first == oldest.first).map(|extent| extent.since);
                    prop_assert_eq!(since, Some(oldest.since));
                }
                prop_assert!(cache.extents().is_sorted_by_key(|extent| extent.first));
                for (at, entry) in cache.order.iter().enumerate() {
                    let extent = cache.extent(at);
                    prop_assert_eq!((entry.first, entry.cylinder), (extent.first, extent.place.cylinder));
                }
                for lba in 0..330 {
                    let held = waiting.contains(&lba) || under_way.contains(&lba);
                    prop_assert_eq!(cache.end_of(lba).is_some(), held, "{}", lba);
                }
                for extent in cache.extents() {
                    prop_assert_eq!(extent.place, geometry.place(extent.first));
                    prop_assert!(!waiting.contains(&extent.end), "extents that touch are one");
                }
            }
        }
    }

    #[test]
    fn the_number_of_extents_is_bounded_and_a_continued_one_is_none_more() {
        let geometry = Geometry::new(&small());
        let mut cache =
            WriteCache::new(&settings::WriteCache { bytes: 100 * 512, extents: 2, age_max_ns: 1, goes_first: false });
        for first in [10, 30] {
            cache.write(first, first + 5, 0, &geometry);
        }
        assert_eq!((cache.room(50, 55), cache.room(35, 45), cache.room(5, 10)), (0, 10, 5));
        assert_eq!(cache.room(35, 300), 90, "what is free");
        assert!(!cache.is_written_before(1) && cache.is_written_before(0));
        cache.take(0, &geometry);
        assert!(!cache.is_written_before(1), "it is under way");
        cache.written();
        assert!(cache.is_written_before(1) && !cache.is_written_before(2));
        assert_eq!(cache.oldest().map(|extent| extent.first), Some(30));
    }
}
