//! The map of the demand-paged schemes: its true content, the part in the drive's memory, and the part on flash.

use std::hint::cold_path;

use super::cmt::{Cmt, EvictionOrder};
use super::options::{DIRECTORY_ENTRY_BYTES, Settings};
use super::translation::{MapShare, TranslationPages};
use crate::ftl::flat_map::FlatMap;
use crate::ftl::paged::pages::Owner;
use crate::ftl::plan::{MapEntry, MapNotes, MapWrite, Plan, PlanIndex, PlanNumber};
use crate::ftl::scheme::flat_map_bytes;
use crate::ftl::{Claims, RestoredDrive};
use crate::ftl::{Context, Setup};
use crate::nand::Geometry;
use crate::operation::Cause;
use crate::recovery::checkpoint::LISTED_ENTRY_BYTES;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};

/// The map, in memory and on flash.
pub(in crate::ftl) struct DemandMap<O> {
    pub geometry: Geometry,
    /// The true content. The drive reads it from `cmt` or flash.
    pub truth: FlatMap,
    pub cmt: Cmt,
    order: O,
    pub(super) tps: TranslationPages,
    /// For each die, the translation pages that still have the old addresses of the victim's pages.
    pub moved: FlatTable<Vec<u32>>,
    /// Whether a translation page holds entries of trimmed pages.
    pub is_trimmed: FlatTable<bool>,
    /// The last translation pages read in a plan, by purpose: for an evicted entry, for a fetched one.
    last_read: [Option<(u32, PlanNumber)>; 2],
    evict_page: bool,
    pub fetch_on_write: bool,
    entry_bytes: u32,
}

/// The purpose of a read of a translation page.
#[derive(Clone, Copy)]
enum For {
    Leaving,
    Coming,
}

impl<O: EvictionOrder> Owner for DemandMap<O> {
    #[inline(always)]
    fn claimed(&self, die: DieId) -> u32 {
        self.tps.free(die)
    }

    #[inline(always)]
    fn moved(&mut self, lpn: Lpn, from: Ppn, to: Ppn, plan: &mut Plan) {
        debug_assert_eq!(self.get(lpn), Some(from));
        self.truth.set(lpn, to);
        if self.cmt.soil(lpn) {
            plan.writes_entry(lpn);
            return;
        }
        let page = self.cmt.page_of(lpn);
        let stale = &mut self.moved[self.geometry.die_of(to).idx()];
        if !stale.contains(&page) {
            stale.push(page);
        }
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.truth.prefetch(lpn);
        self.cmt.prefetch(lpn);
    }
}

impl<O: EvictionOrder> DemandMap<O> {
    /// Prefetches the data of a look-up into the machine's caches, if its index has arrived there.
    #[inline(always)]
    pub fn prefetch_near(&self, lpn: Lpn) -> Option<Ppn> {
        if let Some(slot) = self.cmt.prefetch_entry(lpn) {
            self.order.prefetch(slot);
        }
        self.truth.find(lpn)
    }

    /// Bytes of memory of the map and its order of eviction.
    pub fn memory_bytes(settings: &Settings, replicas: u32, geometry: &Geometry) -> u64 {
        let logical = geometry.logical_units;
        let share = MapShare::new(settings.entries_per_page, replicas + 1, settings.map_reserved_blocks, geometry);
        let directory = size_of::<u32>() as u64 * u64::from(share.pages) * u64::from(share.copies);
        let (entries, in_page) = (settings.cmt_entries, settings.entries_per_page);
        flat_map_bytes(geometry)
            + Cmt::memory_bytes(entries, logical, in_page, settings.evict_page)
            + directory
            + u64::from(share.pages)
    }

    /// A map without entries.
    pub fn new(settings: &Settings, replicas: u32, order: O, setup: &Setup, geometry: &Geometry) -> Self {
        let share = MapShare::new(settings.entries_per_page, replicas + 1, settings.map_reserved_blocks, geometry);
        DemandMap {
            truth: FlatMap::new(geometry),
            cmt: Cmt::new(settings.cmt_entries, geometry.logical_units, settings.entries_per_page, settings.evict_page),
            order,
            tps: TranslationPages::new(share, setup, geometry),
            moved: vec![Vec::new(); geometry.dies as usize].into(),
            is_trimmed: vec![false; share.pages as usize].into(),
            last_read: [None; 2],
            evict_page: settings.evict_page,
            fetch_on_write: settings.fetch_on_write,
            entry_bytes: settings.entry_bytes,
            geometry: geometry.clone(),
        }
    }

    /// Writes the cached entries and the pending writes of translation pages to a snapshot.
    pub fn save(&self, out: &mut StateWriter) {
        self.is_trimmed.iter().for_each(|&is_trimmed| out.bool(is_trimmed));
        self.moved.iter().for_each(|pages| out.list(pages.iter().copied()));
        self.order.save(&self.cmt, out);
        self.tps.save(out);
    }

    /// Reads the map of a fresh drive from a snapshot.
    pub fn restore(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        let (truth, tps) = (self.truth.entries(), &mut self.tps);
        drive.blocks.restore_map(truth, drive.array, |ppn, lpn| tps.restore_page(ppn, lpn))?;
        for is_trimmed in self.is_trimmed.iter_mut() {
            *is_trimmed = from.bool()?;
        }
        let (pages, units) = (self.tps.share().pages, self.geometry.units_per_block);
        for moved in self.moved.iter_mut() {
            *moved = from.list(pages.min(units + self.geometry.row_pages) as usize, pages, "pages of the map")?;
        }
        self.order.restore(&mut self.cmt, from)?;
        self.tps.restore(from, claims, drive)
    }

    /// Bytes of the drive's memory for directory and table. The simulator's own tables do not count.
    pub fn bytes(&self) -> u64 {
        self.directory_bytes() + u64::from(self.entry_bytes) * u64::from(self.cmt.capacity())
    }

    /// The flash address of a page.
    #[inline(always)]
    pub fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.truth.get(lpn)
    }

    /// Whether the entry of `lpn` can be changed now. If not, asks for collection of translation pages.
    pub fn has_place(&self, lpn: Lpn, plan: &mut Plan) -> bool {
        if self.cmt.left() > 0 || self.cmt.find(lpn).is_some() {
            return true;
        }
        match self.order.victim(&self.cmt) {
            Some(slot) if self.cmt.is_dirty(slot) => self.has_room(self.cmt.page_of(self.cmt.lpn(slot)), plan),
            _ => true,
        }
    }

    /// Whether a translation page can be written now. If not, asks for collection.
    fn has_room(&self, page: u32, plan: &mut Plan) -> bool {
        let has_room = self.tps.has_room(page);
        if !has_room {
            self.tps.homes(page).for_each(|die| plan.wake(die));
        }
        has_room
    }

    /// Looks an entry up. With `fetches`, a missing entry is read from flash. Returns the read that brings the entry. `rest`
    /// is the number of the request's pages behind this one.
    #[inline(always)]
    pub fn look_up(
        &mut self,
        lpn: Lpn,
        rest: u32,
        fetches: bool,
        cx: &mut Context,
        plan: &mut Plan,
    ) -> Option<PlanNumber> {
        plan.map_accesses += 1;
        let slot = self.cmt.find(lpn);
        plan.looked_up(slot.is_some());
        match slot {
            Some(slot) => {
                self.order.used(slot, &self.cmt);
                self.cmt.brought_by(lpn, slot)
            }
            None => self.bring(lpn, rest, fetches, cx, plan),
        }
    }

    #[inline(never)]
    fn bring(&mut self, lpn: Lpn, rest: u32, fetches: bool, cx: &mut Context, plan: &mut Plan) -> Option<PlanNumber> {
        let ahead = self.order.ahead(lpn, rest, &self.cmt);
        let has_place = self.make_place(None, cx, plan);
        let read = if fetches { self.read_page(self.cmt.page_of(lpn), For::Coming, plan) } else { None };
        if has_place {
            self.insert(lpn, read, plan);
            if read.is_some() {
                self.bring_ahead(lpn, ahead, read, cx, plan);
            }
        }
        read
    }

    /// Adds the `ahead` entries behind that of `lpn`, which came with the same read, as far as there is room.
    fn bring_ahead(&mut self, lpn: Lpn, ahead: u32, read: Option<PlanNumber>, cx: &mut Context, plan: &mut Plan) {
        for next in (lpn.0 + 1..=lpn.0 + ahead).map(Lpn) {
            if self.cmt.find(next).is_some() {
                continue;
            }
            if !self.make_place(Some(lpn), cx, plan) {
                return;
            }
            self.insert(next, read, plan);
        }
    }

    /// Reads a translation page into the table, as far as there is room: the entries of the first `units` logical pages. A page that
    /// is not on flash is not read.
    pub fn load(&mut self, page: u32, units: u32, plan: &mut Plan) {
        let Some(read) = self.tps.read(page, plan) else { return };
        let number = plan.number(read);
        for lpn in self.cmt.entries_of(page).take_while(|lpn| lpn.0 < units) {
            if self.cmt.left() > 0 && self.cmt.find(lpn).is_none() {
                self.insert(lpn, Some(number), plan);
            }
        }
    }

    fn insert(&mut self, lpn: Lpn, read: Option<PlanNumber>, plan: &mut Plan) {
        let slot = self.cmt.insert(lpn, read);
        self.order.added(slot, &self.cmt);
        plan.writes_entry(lpn);
    }

    /// Evicts an entry, other than that of `but`, if the table is full. Returns false if its write-back finds no room.
    fn make_place(&mut self, but: Option<Lpn>, cx: &mut Context, plan: &mut Plan) -> bool {
        if self.cmt.left() > 0 {
            return true;
        }
        let Some(slot) = self.order.victim(&self.cmt) else { return false };
        if but == Some(self.cmt.lpn(slot)) {
            return false;
        }
        if self.cmt.is_dirty(slot) && !self.write_back(slot, cx, plan) {
            return false;
        }
        self.order.removed(slot, &self.cmt);
        self.cmt.remove(slot);
        true
    }

    /// Rewrites the translation page of a dirty entry.
    fn write_back(&mut self, slot: u32, cx: &mut Context, plan: &mut Plan) -> bool {
        let page = self.cmt.page_of(self.cmt.lpn(slot));
        if !self.has_room(page, plan) {
            return false;
        }
        if !self.evict_page {
            plan.reads_entry(self.cmt.lpn(slot));
            self.cmt.clean(slot);
        }
        self.rewrite(page, BlockId::NONE, cx, plan);
        true
    }

    /// Reads and rewrites a translation page. `frees` is the block, if any, that the page no longer refers to after that.
    pub fn rewrite(&mut self, page: u32, frees: BlockId, cx: &mut Context, plan: &mut Plan) {
        let read = self.read_page(page, For::Leaving, plan);
        self.write(page, read.and_then(|read| plan.index_of(read)), frees, cx, plan);
    }

    /// Writes a translation page, after `after` has ended. `frees` as for [`Self::rewrite`].
    pub fn write(&mut self, page: u32, after: Option<PlanIndex>, frees: BlockId, cx: &mut Context, plan: &mut Plan) {
        self.tps.write(page, after, frees, cx, plan);
        if plan.map_notes == MapNotes::None {
            return self.written(page, plan);
        }
        cold_path();
        let trimmed =
            if self.is_trimmed[page as usize] { self.trimmed_bytes(1).div_ceil(LISTED_ENTRY_BYTES) } else { 0 };
        let is_moved = frees.is_some() || self.moved.iter().any(|pages| pages.contains(&page));
        let moved = if is_moved { self.entries_per_page().min(self.geometry.units_per_block) } else { 0 };
        let changes = self.cmt.dirty_entries_of(page) + moved + trimmed as u32;
        self.written(page, plan);
        let content = match plan.map_notes {
            MapNotes::Content => self.cmt.entries_of(page).map(|lpn| self.entry_on_flash(lpn)).collect(),
            _ => Vec::new(),
        };
        plan.writes_map(MapWrite { page, changes, content });
    }

    /// A translation page is written by this plan.
    #[inline(always)]
    fn written(&mut self, page: u32, plan: &mut Plan) {
        self.is_trimmed[page as usize] = false;
        if self.evict_page {
            self.cmt.clean_page(page, |lpn| plan.reads_entry(lpn));
        }
    }

    /// What flash says of a page, as if all planned operations had ended.
    pub fn entry_on_flash(&self, lpn: Lpn) -> MapEntry {
        let is_dirty = self.cmt.find(lpn).is_some_and(|slot| self.cmt.is_dirty(slot));
        let is_trimmed = self.get(lpn).is_none() && self.is_trimmed[self.cmt.page_of(lpn) as usize];
        if is_dirty || is_trimmed { MapEntry::AsBefore } else { MapEntry::Says(self.get(lpn)) }
    }

    /// Bytes of what a checkpoint holds now: the directory, dirty entries, those that collections have moved, and what is trimmed of
    /// translation pages that hold trimmed entries.
    pub fn checkpoint_bytes(&self) -> u64 {
        let trimmed = self.is_trimmed.iter().filter(|&&is_trimmed| is_trimmed).count() as u64;
        let listed = u64::from(self.cmt.dirty_entries()) + self.moved_entries_max();
        self.directory_bytes() + LISTED_ENTRY_BYTES * listed + self.trimmed_bytes(trimmed)
    }

    /// Entries that collections have moved and whose translation pages still have the old addresses, at most: of each die those of
    /// one victim, and of pages that have filled up the last row of the one before.
    fn moved_entries_max(&self) -> u64 {
        let in_victim = u64::from(self.geometry.units_per_block + self.geometry.row_pages - 1);
        let of_die = |pages: &Vec<u32>| in_victim.min(pages.len() as u64 * u64::from(self.entries_per_page()));
        self.moved.iter().map(of_die).sum()
    }

    /// Bytes of a list of these translation pages with a bit for each of their entries.
    fn trimmed_bytes(&self, pages: u64) -> u64 {
        pages * (DIRECTORY_ENTRY_BYTES + u64::from(self.entries_per_page().div_ceil(8)))
    }

    /// Entries of a translation page.
    pub fn entries_per_page(&self) -> u32 {
        self.cmt.entries_per_page()
    }

    fn directory_bytes(&self) -> u64 {
        let share = self.tps.share();
        DIRECTORY_ENTRY_BYTES * u64::from(share.pages) * u64::from(share.copies)
    }

    /// The read of a translation page: one that the plan has already, or a new one.
    fn read_page(&mut self, page: u32, purpose: For, plan: &mut Plan) -> Option<PlanNumber> {
        let of_page = |read: &&(u32, PlanNumber)| read.0 == page && plan.index_of(read.1).is_some();
        let known = match purpose {
            For::Coming => self.last_read.iter().flatten().find(of_page),
            For::Leaving => None, // the page may have been rewritten since an earlier read
        };
        if let Some(&(_, number)) = known {
            return Some(number);
        }
        let number = self.tps.read(page, plan).map(|op| plan.number(op));
        self.last_read[purpose as usize] = number.map(|number| (page, number));
        number
    }

    /// Changes the entry of a page that has been looked up.
    #[inline(always)]
    pub fn change(&mut self, lpn: Lpn, to: Ppn, plan: &mut Plan) {
        self.truth.set(lpn, to);
        plan.writes_entry(lpn);
        let is_there = self.cmt.soil(lpn);
        debug_assert!(is_there, "it was asked whether there is a place");
    }
}

/// Plans an operation that needs a read of the map by this plan or an earlier one.
#[inline(always)]
pub(super) fn behind(
    map_read: Option<PlanNumber>,
    plan: &mut Plan,
    operation: impl FnOnce(&mut Plan, Option<PlanIndex>) -> PlanIndex,
) -> PlanIndex {
    let after = map_read.and_then(|number| plan.index_of(number));
    let op = operation(plan, after);
    if let (None, Some(number)) = (after, map_read) {
        plan.behind(op, number);
    }
    op
}

/// Plans a read of data that needs a read of the map.
#[inline(always)]
pub(super) fn read_behind(ppn: Ppn, map_read: Option<PlanNumber>, plan: &mut Plan) -> PlanIndex {
    behind(map_read, plan, |plan, after| plan.read(ppn, Cause::Host, after))
}

/// The same for data that was written before the run, of which nothing but its place is known.
pub(super) fn read_blank_behind(place: Ppn, map_read: Option<PlanNumber>, plan: &mut Plan) -> PlanIndex {
    behind(map_read, plan, |plan, after| plan.read_blank(place, Cause::Host, after))
}
