//! The whole map in one table.

use crate::blocks::StartPages;
use crate::nand::Geometry;
use crate::recovery::scan::Found;
use flashwatt_base::mem::{FlatTable, advise_huge, prefetch, sparse};
use flashwatt_base::units::{Lpn, Ppn};

/// The physical address of each logical page.
///
/// A start state with a formula ([`StartPages`]) is not written into the table: an entry that has never changed is zero, and
/// memory that is never written to costs neither time nor room. That is most of a large drive.
pub(in crate::ftl) struct FlatMap {
    geometry: Geometry,
    /// Physical address + 1; 0 for what the page starts with; [`NOTHING`].
    entries: FlatTable<u32>,
    /// Where pages start.
    starts: StartPages,
}

/// An entry of a page that holds nothing, whatever it started with. No address is that large.
const NOTHING: u32 = u32::MAX;

impl FlatMap {
    /// A map of pages that hold nothing.
    pub fn new(geometry: &Geometry) -> Self {
        let entries = sparse(geometry.logical_units as usize).into();
        FlatMap { geometry: geometry.clone(), entries, starts: StartPages::Nowhere }
    }

    /// Gives each page of a new map the address that it has in a start state.
    pub fn start(&mut self, starts: StartPages) {
        self.starts = starts;
    }

    /// The address of a page.
    #[inline(always)]
    pub fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.address(lpn, self.entries[lpn.idx()])
    }

    /// As [`Self::get`]; `None` for a page that there is not.
    #[inline(always)]
    pub fn find(&self, lpn: Lpn) -> Option<Ppn> {
        self.address(lpn, *self.entries.get(lpn.idx())?)
    }

    #[inline(always)]
    fn address(&self, lpn: Lpn, entry: u32) -> Option<Ppn> {
        let address = entry.wrapping_sub(1);
        if address < NOTHING - 1 { Some(Ppn(address)) } else { self.at_start(lpn, entry) }
    }

    #[inline]
    fn at_start(&self, lpn: Lpn, entry: u32) -> Option<Ppn> {
        if entry == NOTHING { None } else { self.starts.ppn_of(lpn, &self.geometry) }
    }

    /// Sets the address of a page.
    #[inline(always)]
    pub fn set(&mut self, lpn: Lpn, ppn: Ppn) {
        self.entries[lpn.idx()] = ppn.0 + 1;
    }

    /// The page holds nothing from now on.
    pub fn remove(&mut self, lpn: Lpn) {
        self.entries[lpn.idx()] = NOTHING;
    }

    /// Gives each page of a new map the address at which a scan found its newest version.
    pub fn rebuild(&mut self, found: &Found) {
        for lpn in (0..self.geometry.logical_units).map(Lpn) {
            if let Some(ppn) = found.newest(lpn) {
                self.set(lpn, ppn);
            }
        }
    }

    /// Prefetches an entry into the machine's caches.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.entries, lpn.idx());
    }

    /// See [`crate::ftl::Ftl::on_huge_pages`].
    pub fn on_huge_pages(&self) {
        advise_huge(&self.entries);
    }

    /// The table of a new map, for start states without a formula: physical address + 1 of each page, 0 for none.
    pub fn entries(&mut self) -> &mut [u32] {
        debug_assert!(matches!(self.starts, StartPages::Nowhere), "a new map");
        &mut self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fixture::{Shape, geometry};

    /// A map of a drive of 2 dies and 24 pages for the host.
    fn map() -> FlatMap {
        FlatMap::new(&geometry(Shape { channels: 2, ways: 1, blocks: 16, pages_per_block: 4, logical_bytes: 98304 }))
    }

    #[test]
    fn a_page_starts_with_nothing_or_where_the_filled_drive_has_it() {
        let mut map = map();
        assert_eq!(map.get(Lpn(5)), None);
        map.start(StartPages::InOrder);
        // Page 5 is the third one on the second die, whose first address is 16 blocks of 4 pages.
        assert_eq!(map.get(Lpn(5)), Some(Ppn(64 + 2)));
        assert_eq!(map.get(Lpn(0)), Some(Ppn(0)));
        assert_eq!((map.find(Lpn(23)), map.find(Lpn(24))), (Some(Ppn(64 + 11)), None));
    }

    #[test]
    fn a_page_that_was_removed_holds_nothing_until_it_is_set() {
        let mut map = map();
        map.start(StartPages::InOrder);
        map.remove(Lpn(5));
        assert_eq!((map.get(Lpn(5)), map.find(Lpn(5))), (None, None));
        map.set(Lpn(5), Ppn(0));
        assert_eq!((map.get(Lpn(5)), map.get(Lpn(4))), (Some(Ppn(0)), Some(Ppn(2))));
    }
}
