//! The cached mapping table of the demand-paged schemes: which entries of the map are in the drive's memory, which of them
//! differ from what is on flash, and which goes when another one comes.
//!
//! The table knows what there is; an [`Order`] knows who has been used how lately. Both are index lists over slots: no
//! hashing, and no allocation once the table is full.

use super::plan::PlanNumber;
use crate::cache::list::{Links, List};
use crate::mem::{Table, prefetch, zeroed};
use crate::units::Lpn;

/// Decides which entry goes.
pub trait Order {
    /// An entry that is there has been used.
    fn used(&mut self, slot: u32, cmt: &Cmt);

    /// An entry has come.
    fn added(&mut self, slot: u32, cmt: &Cmt);

    /// An entry is about to go.
    fn removed(&mut self, slot: u32, cmt: &Cmt);

    /// The entry to go next.
    fn victim(&self, cmt: &Cmt) -> Option<u32>;

    /// How many entries behind that of `lpn`, which is going to be fetched, come along with it; the request goes on for
    /// `rest` pages behind it. They lie in the same translation page.
    fn ahead(&mut self, _lpn: Lpn, _rest: u32, _cmt: &Cmt) -> u32 {
        0
    }
}

/// An entry in memory.
#[derive(Clone, Copy)]
struct Entry {
    lpn: Lpn,
    dirty: bool,
    /// The read of the map that brought it, or is going to.
    brought_by: Option<PlanNumber>,
}

/// The table.
pub struct Cmt {
    /// Slot (+ 1) of the entry of each logical page; 0 for none.
    slot_of: Table<u32>,
    entries: Table<Entry>,
    unused: Vec<u32>,
    capacity: u32,
    entries_per_page: u32,
    /// Of each translation page, the entries that differ from it.
    dirty: Table<List>,
    dirty_links: Vec<Links>,
}

impl Cmt {
    /// Room for `capacity` entries, ≥ 1, of `logical` pages.
    pub fn new(capacity: u32, logical: u32, entries_per_page: u32) -> Self {
        Cmt {
            slot_of: zeroed(logical as usize).into(),
            entries: Vec::new().into(),
            unused: Vec::new(),
            capacity: capacity.min(logical),
            entries_per_page,
            dirty: vec![List::default(); logical.div_ceil(entries_per_page) as usize].into(),
            dirty_links: Vec::new(),
        }
    }

    /// How many entries there is room for.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Room for so many more entries is left.
    pub fn left(&self) -> u32 {
        self.capacity - (self.entries.len() - self.unused.len()) as u32
    }

    /// The translation page that holds an entry.
    #[inline(always)]
    pub fn page_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries_per_page
    }

    /// Entries of one translation page that follow on that of `lpn`.
    pub fn rest_of_page(&self, lpn: Lpn) -> u32 {
        let end = (self.page_of(lpn) + 1) * self.entries_per_page;
        end.min(self.slot_of.len() as u32) - lpn.0 - 1
    }

    /// The slot of a page's entry, if that is in memory.
    #[inline(always)]
    pub fn find(&self, lpn: Lpn) -> Option<u32> {
        self.slot_of[lpn.idx()].checked_sub(1)
    }

    /// Whose entry it is.
    #[inline(always)]
    pub fn lpn(&self, slot: u32) -> Lpn {
        self.entries[slot as usize].lpn
    }

    /// Does it differ from what is on flash?
    #[inline(always)]
    pub fn is_dirty(&self, slot: u32) -> bool {
        self.entries[slot as usize].dirty
    }

    /// The read that brings the entry, or brought it.
    #[inline(always)]
    pub fn brought_by(&self, slot: u32) -> Option<PlanNumber> {
        self.entries[slot as usize].brought_by
    }

    /// A page's entry comes, as it is on flash. There is room for it.
    pub fn insert(&mut self, lpn: Lpn, brought_by: Option<PlanNumber>) -> u32 {
        debug_assert!(self.find(lpn).is_none() && self.left() > 0);
        let entry = Entry { lpn, dirty: false, brought_by };
        let slot = self.unused.pop().unwrap_or(self.entries.len() as u32);
        if slot as usize == self.entries.len() {
            self.entries.push(entry);
            self.dirty_links.push(Links::NONE);
        } else {
            self.entries[slot as usize] = entry;
        }
        self.slot_of[lpn.idx()] = slot + 1;
        slot
    }

    /// A clean entry goes.
    pub fn remove(&mut self, slot: u32) {
        debug_assert!(!self.is_dirty(slot), "a change is lost");
        let lpn = self.lpn(slot);
        self.slot_of[lpn.idx()] = 0;
        self.unused.push(slot);
    }

    /// An entry changes: nobody needs to wait for what is on flash any more.
    #[inline(always)]
    pub fn soil(&mut self, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        entry.brought_by = None;
        if !std::mem::replace(&mut entry.dirty, true) {
            let page = entry.lpn.0 / self.entries_per_page;
            self.dirty[page as usize].push_last(&mut self.dirty_links, slot);
        }
    }

    /// A dirty entry is on flash as it is.
    pub fn clean(&mut self, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        debug_assert!(entry.dirty);
        entry.dirty = false;
        let page = entry.lpn.0 / self.entries_per_page;
        self.dirty[page as usize].remove(&mut self.dirty_links, slot);
    }

    /// All entries of a translation page are on flash as they are.
    pub fn clean_page(&mut self, page: u32) {
        while let Some(slot) = self.dirty[page as usize].first() {
            self.clean(slot);
        }
    }

    /// Fetches what a look-up will touch into the machine's caches.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.slot_of, lpn.idx());
    }
}

/// Least recently used, or segmented: an entry that is used again while it is on probation becomes protected; the
/// protected ones are at most so many, and the least recent of them goes back on probation. The least recent one on
/// probation goes first (Karedla, Love, Wherry 1994; RFTL's choice).
pub struct Recency {
    /// On probation, and protected: the least recent first.
    lists: [List; 2],
    links: Vec<Links>,
    is_protected: Vec<bool>,
    protected_max: u32,
}

impl Recency {
    /// `protected_max` 0: plain LRU.
    pub fn new(protected_max: u32) -> Self {
        Recency { lists: [List::default(); 2], links: Vec::new(), is_protected: Vec::new(), protected_max }
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

impl Order for Recency {
    #[inline(always)]
    fn used(&mut self, slot: u32, _cmt: &Cmt) {
        self.take(slot);
        self.put(slot, self.protected_max > 0);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses pages one after the other through a table of so many entries; returns those that are there in the end, the next
    /// to go first.
    fn left(capacity: u32, protected: u32, uses: &[u32]) -> Vec<u32> {
        let (mut cmt, mut order) = (Cmt::new(capacity, 100, 10), Recency::new(protected));
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

    /// F58: the order of a segmented LRU, worked by hand: 4 entries of which 2 may be protected.
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
        let mut cmt = Cmt::new(4, 100, 10);
        let slots = [5, 7, 15].map(|lpn| cmt.insert(Lpn(lpn), None));
        slots.iter().for_each(|&slot| cmt.soil(slot));
        cmt.clean_page(0);
        assert_eq!(slots.map(|slot| cmt.is_dirty(slot)), [false, false, true]);
        assert_eq!(cmt.rest_of_page(Lpn(5)), 4);
    }
}
