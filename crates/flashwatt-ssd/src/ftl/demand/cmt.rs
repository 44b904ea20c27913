//! The cached mapping table (CMT) of the demand-paged schemes: the map entries in the drive's memory, which of them are
//! dirty (differ from flash), and which entry is evicted for another one.
//!
//! The table holds the entries; an [`EvictionOrder`] holds their order of eviction. Both are index lists over slots: no hashing, and
//! no allocation once the table is full.

use crate::ftl::plan::PlanNumber;
use flashwatt_base::list::{Links, List};
use flashwatt_base::mem::{FlatTable, advise_huge, prefetch, sparse, with_room};
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::Lpn;

/// The order of eviction.
pub trait EvictionOrder {
    /// A cached entry was used.
    fn used(&mut self, slot: u32, cmt: &Cmt);

    /// An entry was added.
    fn added(&mut self, slot: u32, cmt: &Cmt);

    /// An entry is about to be removed.
    fn removed(&mut self, slot: u32, cmt: &Cmt);

    /// The entry to evict next.
    fn victim(&self, cmt: &Cmt) -> Option<u32>;

    /// Prefetches the data that a use of the entry touches into the machine's caches.
    fn prefetch(&self, _slot: u32) {}

    /// Number of entries to prefetch with that of `lpn`, which is about to be fetched: those that follow it in the same
    /// translation page. The request covers `rest` pages behind `lpn`.
    fn ahead(&mut self, _lpn: Lpn, _rest: u32, _cmt: &Cmt) -> u32 {
        0
    }

    /// Writes the cached entries to a snapshot, in order.
    fn save(&self, cmt: &Cmt, out: &mut StateWriter);

    /// Reads them from a snapshot into an empty table.
    fn restore(&mut self, cmt: &mut Cmt, from: &mut StateReader) -> Result<(), Flaw>;
}

/// A cached entry.
#[derive(Clone, Copy)]
struct CachedEntry {
    lpn: Lpn,
    /// The read of the map that brings or brought it.
    brought_by: PlanNumber,
}

/// Stands for no read of the map.
const NOBODY: PlanNumber = PlanNumber(u64::MAX);
/// Flag in the index: the entry is dirty.
const DIRTY: u32 = 1 << 31;

/// The cached mapping table.
pub struct Cmt {
    /// For each logical page the slot of its entry plus 1, with the flag [`DIRTY`]; 0 for none. Most changes touch this alone.
    slot_of: FlatTable<u32>,
    entries: FlatTable<CachedEntry>,
    unused: Vec<u32>,
    capacity: u32,
    entries_per_page: u32,
    /// For each translation page its dirty entries, if they are ever needed together.
    dirty: Option<FlatTable<List>>,
    dirty_links: Vec<Links>,
}

impl Cmt {
    /// Bytes of memory of a table and the links of one order; parameters as for [`Self::new`].
    pub fn memory_bytes(capacity: u32, logical: u32, entries_per_page: u32, by_page: bool) -> u64 {
        let links = 2 * size_of::<Links>(); // a growing list may have twice the capacity of its content
        let entry = size_of::<CachedEntry>() + size_of::<u32>() + links + if by_page { links } else { 0 };
        let lists = if by_page { size_of::<List>() * logical.div_ceil(entries_per_page) as usize } else { 0 };
        let index = size_of::<u32>() as u64 * u64::from(logical);
        index + u64::from(capacity.min(logical)) * entry as u64 + lists as u64
    }

    /// A table of `capacity` entries, ≥ 1, for `logical` pages. With `by_page` it lists dirty entries by translation page.
    pub fn new(capacity: u32, logical: u32, entries_per_page: u32, by_page: bool) -> Self {
        let pages = logical.div_ceil(entries_per_page) as usize;
        let capacity = capacity.min(logical).min(DIRTY - 1);
        Cmt {
            slot_of: sparse(logical as usize).into(),
            entries: with_room(capacity as usize).into(),
            unused: Vec::new(),
            capacity,
            entries_per_page,
            dirty: by_page.then(|| vec![List::default(); pages].into()),
            dirty_links: Vec::new(),
        }
    }

    /// See [`crate::ftl::Ftl::on_huge_pages`].
    pub fn on_huge_pages(&self) {
        advise_huge(&self.slot_of);
    }

    /// Number of entries that fit.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Number of entries that can still be added.
    pub fn left(&self) -> u32 {
        self.capacity - (self.entries.len() - self.unused.len()) as u32
    }

    /// Entries of a translation page.
    pub fn entries_per_page(&self) -> u32 {
        self.entries_per_page
    }

    /// The translation page of an entry.
    #[inline(always)]
    pub fn page_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries_per_page
    }

    /// The logical pages whose entries a translation page holds.
    pub fn entries_of(&self, page: u32) -> impl Iterator<Item = Lpn> + use<> {
        let first = page * self.entries_per_page;
        (first..(first + self.entries_per_page).min(self.slot_of.len() as u32)).map(Lpn)
    }

    /// Number of entries that follow that of `lpn` in its translation page.
    pub fn rest_of_page(&self, lpn: Lpn) -> u32 {
        let end = (self.page_of(lpn) + 1) * self.entries_per_page;
        end.min(self.slot_of.len() as u32) - lpn.0 - 1
    }

    /// The slot of a page's entry, if it is cached.
    #[inline(always)]
    pub fn find(&self, lpn: Lpn) -> Option<u32> {
        (self.slot_of[lpn.idx()] & !DIRTY).checked_sub(1)
    }

    /// The logical page of a slot's entry.
    #[inline(always)]
    pub fn lpn(&self, slot: u32) -> Lpn {
        self.entries[slot as usize].lpn
    }

    /// Whether the entry is dirty.
    #[inline(always)]
    pub fn is_dirty(&self, slot: u32) -> bool {
        self.slot_of[self.lpn(slot).idx()] & DIRTY != 0
    }

    /// The read that brings or brought the entry of `lpn`; none if the entry has changed since, because its value is known.
    #[inline(always)]
    pub fn brought_by(&self, lpn: Lpn, slot: u32) -> Option<PlanNumber> {
        let number = self.entries[slot as usize].brought_by;
        (number != NOBODY && self.slot_of[lpn.idx()] & DIRTY == 0).then_some(number)
    }

    /// Adds a page's entry, clean. There must be room for it.
    pub fn insert(&mut self, lpn: Lpn, brought_by: Option<PlanNumber>) -> u32 {
        debug_assert!(self.find(lpn).is_none() && self.left() > 0);
        let entry = CachedEntry { lpn, brought_by: brought_by.unwrap_or(NOBODY) };
        let slot = self.unused.pop().unwrap_or(self.entries.len() as u32);
        if slot as usize == self.entries.len() {
            self.entries.push(entry);
            if self.dirty.is_some() {
                self.dirty_links.push(Links::NONE);
            }
        } else {
            self.entries[slot as usize] = entry;
        }
        self.slot_of[lpn.idx()] = slot + 1;
        slot
    }

    /// Writes an entry to a snapshot: its page, and whether it is dirty. At rest all reads of the map have ended.
    pub fn save_entry(&self, slot: u32, out: &mut StateWriter) {
        out.u32(self.lpn(slot).0);
        out.bool(self.is_dirty(slot));
    }

    /// Reads an entry from a snapshot into the table. Returns its slot.
    pub fn restore_entry(&mut self, from: &mut StateReader) -> Result<u32, Flaw> {
        let lpn = Lpn(from.below(self.slot_of.len() as u32, "logical page")?);
        require(self.left() > 0 && self.find(lpn).is_none(), "a cached entry that has no place, or two")?;
        let slot = self.insert(lpn, None);
        if from.bool()? {
            self.soil(lpn);
        }
        Ok(slot)
    }

    /// Removes a clean entry.
    pub fn remove(&mut self, slot: u32) {
        debug_assert!(!self.is_dirty(slot), "a change is lost");
        let lpn = self.lpn(slot);
        self.slot_of[lpn.idx()] = 0;
        self.unused.push(slot);
    }

    /// Marks a page's entry as changed. Returns false if it is not cached.
    #[inline(always)]
    pub fn soil(&mut self, lpn: Lpn) -> bool {
        let entry = &mut self.slot_of[lpn.idx()];
        if *entry == 0 {
            return false;
        }
        if *entry & DIRTY == 0 {
            let slot = *entry - 1;
            *entry |= DIRTY;
            if let Some(dirty) = &mut self.dirty {
                dirty[(lpn.0 / self.entries_per_page) as usize].push_last(&mut self.dirty_links, slot);
            }
        }
        true
    }

    /// Marks a dirty entry as clean: flash has its value.
    pub fn clean(&mut self, slot: u32) {
        let lpn = self.lpn(slot);
        debug_assert!(self.is_dirty(slot));
        self.slot_of[lpn.idx()] &= !DIRTY;
        self.entries[slot as usize].brought_by = NOBODY;
        if let Some(dirty) = &mut self.dirty {
            dirty[(lpn.0 / self.entries_per_page) as usize].remove(&mut self.dirty_links, slot);
        }
    }

    /// Number of dirty entries.
    pub fn dirty_entries(&self) -> u32 {
        self.slot_of.iter().filter(|&&entry| entry & DIRTY != 0).count() as u32
    }

    /// Number of dirty entries of a translation page that become clean when it is written: all of them, or that of one eviction.
    pub fn dirty_entries_of(&self, page: u32) -> u32 {
        self.dirty.as_ref().map_or(1, |dirty| dirty[page as usize].len())
    }

    /// Marks all entries of a translation page as clean; tells the logical page of each.
    pub fn clean_page(&mut self, page: u32, mut cleaned: impl FnMut(Lpn)) {
        while let Some(slot) = self.dirty.as_ref().and_then(|dirty| dirty[page as usize].first()) {
            cleaned(self.lpn(slot));
            self.clean(slot);
        }
    }

    /// Prefetches the index entry of a page into the machine's caches.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.slot_of, lpn.idx());
    }

    /// The slot of a page's entry, if it is cached; prefetches it into the machine's caches.
    #[inline(always)]
    pub fn prefetch_entry(&self, lpn: Lpn) -> Option<u32> {
        let slot = (self.slot_of.get(lpn.idx())? & !DIRTY).checked_sub(1)?;
        prefetch(&self.entries, slot as usize);
        Some(slot)
    }
}

/// Least recently used (LRU), or segmented LRU (Karedla, Love, Wherry 1994; RFTL's choice). In the segmented order an
/// entry on probation becomes protected when it is used again. The number of protected entries is limited; beyond it the
/// least recently used of them returns to probation. The least recently used entry on probation is evicted first.
pub struct Recency {
    /// Entries on probation, and protected ones; the least recently used first.
    lists: [List; 2],
    links: Vec<Links>,
    is_protected: Vec<bool>,
    protected_max: u32,
}

impl Recency {
    /// The order for a table of `capacity` entries. `protected_max` 0 gives plain LRU.
    pub fn new(capacity: u32, protected_max: u32) -> Self {
        Recency {
            lists: [List::default(); 2],
            links: with_room(capacity as usize),
            is_protected: Vec::new(),
            protected_max,
        }
    }

    fn put(&mut self, slot: u32, is_protected: bool) {
        self.is_protected[slot as usize] = is_protected;
        self.lists[usize::from(is_protected)].push_last(&mut self.links, slot);
    }

    #[inline(always)]
    fn take(&mut self, slot: u32) {
        let list = usize::from(self.is_protected[slot as usize]);
        self.lists[list].remove(&mut self.links, slot);
    }
}

impl EvictionOrder for Recency {
    #[inline(always)]
    fn used(&mut self, slot: u32, _cmt: &Cmt) {
        if self.protected_max == 0 {
            self.lists[0].remove(&mut self.links, slot);
            return self.lists[0].push_last(&mut self.links, slot);
        }
        self.take(slot);
        self.put(slot, true);
        if self.lists[1].len() > self.protected_max
            && let Some(oldest) = self.lists[1].pop_first(&mut self.links)
        {
            self.put(oldest, false);
        }
    }

    fn added(&mut self, slot: u32, _cmt: &Cmt) {
        if slot as usize == self.links.len() {
            self.links.push(Links::NONE);
            self.is_protected.push(false);
        }
        self.put(slot, false);
    }

    fn removed(&mut self, slot: u32, _cmt: &Cmt) {
        self.take(slot);
    }

    fn victim(&self, _cmt: &Cmt) -> Option<u32> {
        self.lists[0].first().or(self.lists[1].first())
    }

    #[inline(always)]
    fn prefetch(&self, slot: u32) {
        prefetch(&self.links, slot as usize);
    }

    fn save(&self, cmt: &Cmt, out: &mut StateWriter) {
        for list in &self.lists {
            out.u32(list.len());
            list.iter(&self.links).for_each(|slot| cmt.save_entry(slot, out));
        }
    }

    fn restore(&mut self, cmt: &mut Cmt, from: &mut StateReader) -> Result<(), Flaw> {
        for (list, most) in [cmt.capacity(), self.protected_max].into_iter().enumerate() {
            for _ in 0..from.len(most as usize, "cached entries")? {
                let slot = cmt.restore_entry(from)?;
                self.links.push(Links::NONE);
                self.is_protected.push(false);
                self.put(slot, list == 1);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses pages one after the other in a table of `capacity` entries. Returns the cached pages in order of eviction.
    fn left(capacity: u32, protected: u32, uses: &[u32]) -> Vec<u32> {
        let (mut cmt, mut order) = (Cmt::new(capacity, 100, 10, false), Recency::new(capacity, protected));
        for &lpn in uses {
            match cmt.find(Lpn(lpn)) {
                Some(slot) => order.used(slot, &cmt),
                None => {
                    if cmt.left() == 0 {
                        go(&mut cmt, &mut order);
                    }
                    let slot = cmt.insert(Lpn(lpn), None);
                    order.added(slot, &cmt);
                }
            }
        }
        std::iter::from_fn(|| go(&mut cmt, &mut order)).collect()
    }

    fn go(cmt: &mut Cmt, order: &mut Recency) -> Option<u32> {
        let slot = order.victim(cmt)?;
        let lpn = cmt.lpn(slot);
        order.removed(slot, cmt);
        cmt.remove(slot);
        Some(lpn.0)
    }

    #[test]
    fn lru_drops_the_least_recent() {
        assert_eq!(left(3, 0, &[1, 2, 3, 1, 4]), [3, 1, 4]);
    }

    /// The order of a segmented LRU, worked by hand: 4 entries, of which 2 may be protected.
    #[test]
    fn f58_segmented_lru_protects_what_is_used_twice() {
        // 1 and 2 are used twice and protected; 3, 4, 5, 6 pass through the two places on probation.
        assert_eq!(left(4, 2, &[1, 1, 2, 2, 3, 4, 5, 6]), [5, 6, 1, 2]);
        // 3 becomes protected too, and the least recent of the protected, 1, goes back on probation, behind 4.
        assert_eq!(left(4, 2, &[1, 1, 2, 2, 3, 4, 3]), [4, 1, 2, 3]);
        // A use of a protected entry makes it the most recent of them: then 1 goes back, not 2.
        assert_eq!(left(4, 2, &[2, 2, 1, 1, 2, 3, 4, 3]), [4, 1, 2, 3]);
    }

    #[test]
    fn dirty_entries_are_known_by_translation_page() {
        let mut cmt = Cmt::new(4, 100, 10, true);
        let slots = [5, 7, 15].map(|lpn| cmt.insert(Lpn(lpn), None));
        assert!([5, 7, 15].iter().all(|&lpn| cmt.soil(Lpn(lpn))) && !cmt.soil(Lpn(6)));
        let mut cleaned = Vec::new();
        cmt.clean_page(0, |lpn| cleaned.push(lpn.0));
        assert_eq!(cleaned, [5, 7]);
        assert_eq!(slots.map(|slot| cmt.is_dirty(slot)), [false, false, true]);
        assert_eq!(cmt.rest_of_page(Lpn(5)), 4);
    }
}
