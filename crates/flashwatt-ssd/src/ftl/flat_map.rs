//! The whole map in one table.

use crate::blocks::StartPages;
use crate::nand::Geometry;
use crate::recovery::scan::Found;
use flashwatt_base::mem::{FlatTable, advise_huge, prefetch, sparse};
use flashwatt_base::persist::StateWriter;
use flashwatt_base::units::{BlockId, Lpn, Ppn};

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
    /// By die, the block in which pages are read that were never written; empty if they are nowhere.
    before: Vec<BlockId>,
}

/// An entry of a page that holds nothing, whatever it started with. No address is that large.
const NOTHING: u32 = u32::MAX;

impl FlatMap {
    /// A map of pages that hold nothing.
    pub fn new(geometry: &Geometry) -> Self {
        let entries = sparse(geometry.logical_units as usize).into();
        FlatMap { geometry: geometry.clone(), entries, starts: StartPages::Nowhere, before: Vec::new() }
    }

    /// Gives each page of a new map the address that it has in a start state.
    pub fn start(&mut self, starts: StartPages) {
        self.starts = starts;
    }

    /// Gives each page of a new map a place in the erased block of its die, and no address.
    pub fn start_unwritten(&mut self, before: &[BlockId]) {
        self.before = before.to_vec();
    }

    /// Where a page is read that has no address and was never written, if it is on flash: on the die on which a filled drive has it.
    pub fn unwritten(&self, lpn: Lpn) -> Option<Ppn> {
        if self.before.is_empty() || self.entries[lpn.idx()] != 0 {
            return None;
        }
        let filled = self.geometry.filled_ppn(lpn);
        let block = self.before[self.geometry.die_of(filled).idx()];
        Some(Ppn(self.geometry.first_ppn(block).0 + self.geometry.unit_in_block(filled)))
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

    /// Refuses a snapshot of a drive with places of unwritten pages: the file has none.
    pub fn check_save(&self, out: &mut StateWriter) {
        if !self.before.is_empty() {
            out.refuse("the place of pages that were never written (start state \"mapped\")");
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

    /// Page 5 lies third on the second die of a filled drive; block 7 is the last but eight of the first die, block 19 is on the second.
    #[test]
    fn a_page_that_was_never_written_is_read_in_the_block_of_its_die() {
        let mut map = map();
        assert_eq!(map.unwritten(Lpn(5)), None);
        map.start_unwritten(&[BlockId(7), BlockId(19)]);
        assert_eq!((map.unwritten(Lpn(5)), map.get(Lpn(5))), (Some(Ppn(19 * 4 + 2)), None));
        assert_eq!(map.unwritten(Lpn(8)), Some(Ppn(7 * 4)), "the fifth page of the die, on a block of four");
        map.set(Lpn(5), Ppn(3));
        map.remove(Lpn(8));
        assert_eq!((map.unwritten(Lpn(5)), map.unwritten(Lpn(8))), (None, None), "written, and trimmed");
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
