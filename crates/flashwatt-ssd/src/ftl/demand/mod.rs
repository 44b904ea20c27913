//! The core of the demand-paged schemes: data pages anywhere, the whole map in translation pages on flash, and the entries
//! in use in a cached mapping table.
//!
//! A look-up that misses reads the entry's translation page. If the table is full, an entry is evicted first; if that entry is
//! dirty, its translation page is read and rewritten (lazy write-back). The worst case is 2 reads and 1 program. Entries of the
//! same translation page share one read, within an eviction and its fetch as well as within one request. The read of the data
//! waits for the read of the map; so does a hit on an entry that is still on its way (law 6d). A write of a whole page needs no
//! entry and does not wait; a write of a part of a page waits.
//!
//! Collection moves data pages. A moved page's entry is changed in the table if it is there. The translation pages of the other
//! entries are rewritten before the victim is erased, each once. A trim changes cached entries in the same way; the translation
//! pages of the others are rewritten in the background. Translation pages are collected apart (see [`translation`]).
//!
//! Two simplifications: if the write-back for a read's miss finds no room on flash, the read does not wait for collection but
//! proceeds without a place in the table. Translation pages that were never written (on a drive that starts empty) are not
//! read.

pub(super) mod cmt;
mod gc_slots;
pub(super) mod mapping;
pub(super) mod options;
mod recovery;
mod translation;

use std::collections::VecDeque;
use std::marker::PhantomData;

use super::paged::pages::{Owner, Pages};
use super::plan::{BusyBy, MapEntry, Plan, ReplicaChoice};
use super::{Context, Ftl, Grain, IdlePace, MapOnFlash};
use crate::blocks::{BlockTable, StartPages};
use crate::ftl::Setup;
use crate::ftl::{Claims, RestoredDrive};
use crate::nand::{Array, Geometry};
use crate::operation::Cause;
use crate::recovery::scan::Found;
use cmt::EvictionOrder;
use flashwatt_base::error::Error;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::progress::Watch;
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};
use flashwatt_core::connector::Extent;
use gc_slots::GcSlots;
use mapping::{DemandMap, behind, read_behind, read_blank_behind};
use options::Settings;
use recovery::MapRecovery;

/// Bound on the places of each translation page in the queues for trimmed entries. A page may have several places if it
/// was rewritten in between.
const TRIMMED_PLACES: usize = 16;

/// A demand-paged translation layer. `O` is the order of eviction; `K` marks the scheme.
pub struct Demand<O, K> {
    pages: Pages,
    map: DemandMap<O>,
    slots: GcSlots,
    /// Dies whose collection waits for room for translation pages.
    blocked: Vec<DieId>,
    /// For each die, the translation pages that hold entries of trimmed pages.
    trimmed: FlatTable<VecDeque<u32>>,
    /// After a power cut, what is left to do before the layer serves requests.
    recovery: Option<MapRecovery>,
    choice: ReplicaChoice,
    busy_by: BusyBy,
    scheme: PhantomData<K>,
}

impl<O: EvictionOrder, K> Demand<O, K> {
    /// The layer of a fresh drive. `order` has room for `settings.cmt_entries`, or for all pages if these are fewer.
    pub(super) fn build(
        settings: &Settings,
        replicas: u32,
        order: O,
        setup: &Setup,
        geometry: &Geometry,
    ) -> Demand<O, K> {
        Demand {
            pages: Pages::new(settings.allocation, settings.separate_frontiers, setup, geometry),
            map: DemandMap::new(settings, replicas, order, setup, geometry),
            slots: GcSlots::new(settings.gc_channels, geometry),
            blocked: Vec::new(),
            trimmed: vec![VecDeque::new(); geometry.dies as usize].into(),
            recovery: None,
            choice: ReplicaChoice::default(),
            busy_by: BusyBy::default(),
            scheme: PhantomData,
        }
    }

    /// Sets the choice among replicas, and when one is busy.
    pub(super) fn choosing(mut self, choice: ReplicaChoice, busy_by: BusyBy) -> Self {
        (self.choice, self.busy_by) = (choice, busy_by);
        self
    }

    /// Sets the plan's fields for copies of translation pages.
    #[inline(always)]
    fn says_how(&self, plan: &mut Plan) {
        (plan.choice, plan.busy_by) = (self.choice, self.busy_by);
        plan.map_copies = self.map.tps.share().copies;
    }

    /// Plans the program of one page.
    #[inline(always)]
    fn write_page(&mut self, extent: &Extent, i: u32, ppn: Ppn, cx: &mut Context, plan: &mut Plan) {
        let lpn = Lpn(extent.first.0 + i);
        let is_partial = extent.is_partial(i);
        let fetches = is_partial || self.map.fetch_on_write;
        if is_partial {
            plan.reads_entry(lpn);
        }
        let map_read = self.map.look_up(lpn, extent.pages - i - 1, fetches, cx, plan).filter(|_| is_partial);
        let old = self.map.get(lpn);
        let op = match old {
            Some(old) if is_partial => {
                let read = read_behind(old, map_read, plan);
                plan.program(ppn, Cause::Host, Some(read))
            }
            None if is_partial && self.map.truth.unwritten(lpn).is_some() => {
                let read = self.map.truth.unwritten(lpn).map(|place| read_blank_behind(place, map_read, plan));
                plan.program(ppn, Cause::Host, read)
            }
            // Whether there is old data to read is known only from the map.
            _ => behind(map_read, plan, |plan, after| plan.program(ppn, Cause::Host, after)),
        };
        if let Some(old) = old {
            let block = cx.blocks.set_invalid(old);
            plan.replaces(op, block);
        }
        self.map.change(lpn, ppn, plan);
        cx.blocks.set_valid(ppn, lpn);
    }

    /// Queues the translation page of a trimmed page without a cached entry: it must be rewritten at some time.
    fn trim_on_flash(&mut self, page: u32, plan: &mut Plan) {
        let Some(home) = self.map.tps.places(page).next().map(|ppn| self.map.geometry.die_of(ppn)) else { return };
        if !std::mem::replace(&mut self.map.is_trimmed[page as usize], true) {
            self.trimmed[home.idx()].push_back(page);
            plan.wake(home);
        }
    }

    /// Plans the next step of a die's collection.
    fn collect(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        self.map.tps.background(die, cx, plan);
        if plan.ops().is_empty() {
            self.collect_data(die, cx, plan);
        }
    }

    /// The same of a collection or fold of data.
    fn collect_data(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        let victim = self.pages.copied(die, cx.blocks).filter(|_| !self.map.moved[die.idx()].is_empty());
        match victim {
            Some(victim) => self.rewrite_moved(die, victim, cx, plan),
            None => self.pages.background(die, &mut self.map, cx, plan),
        }
    }

    /// Plans the next rewrites of translation pages whose entries a collection has moved: one, or on a drive with rows as many as fill one.
    fn rewrite_moved(&mut self, die: DieId, victim: BlockId, cx: &mut Context, plan: &mut Plan) {
        for _ in 0..self.map.geometry.row_pages {
            let Some(&page) = self.map.moved[die.idx()].last() else { return };
            if !self.has_room(page, die) {
                return;
            }
            self.map.moved[die.idx()].pop();
            self.map.rewrite(page, victim, cx, plan);
        }
    }

    /// Whether background work of a die can write a translation page now. If not, the die is woken after the next erase; a
    /// die that lacks room collects by itself.
    fn has_room(&mut self, page: u32, die: DieId) -> bool {
        let has_room = self.map.tps.has_room(page);
        if !has_room && !self.blocked.contains(&die) {
            self.blocked.push(die);
        }
        has_room
    }

    /// Plans the next rewrite of a translation page with trimmed entries.
    fn rewrite_trimmed(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        while let Some(&page) = self.trimmed[die.idx()].front() {
            if self.map.is_trimmed[page as usize] {
                if !self.has_room(page, die) {
                    return;
                }
                self.map.rewrite(page, BlockId::NONE, cx, plan);
            }
            self.trimmed[die.idx()].pop_front();
            if !plan.ops().is_empty() {
                return;
            }
        }
    }

    fn wants_collection(&self, die: DieId, blocks: &BlockTable) -> bool {
        self.map.tps.wants_background(die) || self.pages.wants_background(die, &self.map, blocks)
    }

    /// Whether a block is one of the map. Blocks in SLC mode are set apart as well.
    fn is_of_map(&self, block: BlockId, blocks: &BlockTable) -> bool {
        blocks.is_apart(block) && !self.pages.is_slc(block)
    }

    /// Whether the work of a die is a fold that no write waits for. What else it may have to do, collection of the map's pages or their
    /// rewriting after a trim, is not put off.
    fn puts_off(&self, die: DieId, blocks: &BlockTable) -> bool {
        self.pages.is_lazy(die, &self.map, blocks)
            && !self.map.tps.wants_background(die)
            && self.pages.wants_background(die, &self.map, blocks)
    }

    /// Whether a die may go on with its collection or fold. Folds that no write waits for need no slot: they go below all writes of the
    /// host, and a die that is low on free blocks would wait for them.
    #[inline(always)]
    fn may_collect(&mut self, die: DieId, blocks: &BlockTable) -> bool {
        self.slots.admits_all() || self.puts_off(die, blocks) || self.slots.admits(die)
    }
}

impl<O: EvictionOrder + Send, K: Send> Ftl for Demand<O, K> {
    fn read(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        self.says_how(plan);
        for i in 0..extent.pages {
            let lpn = Lpn(extent.first.0 + i);
            plan.reads_entry(lpn);
            let map_read = self.map.look_up(lpn, extent.pages - i - 1, true, cx, plan);
            match self.map.get(lpn) {
                Some(ppn) => {
                    read_behind(ppn, map_read, plan);
                }
                None => match self.map.truth.unwritten(lpn) {
                    Some(place) => {
                        read_blank_behind(place, map_read, plan);
                    }
                    None => plan.unwritten_reads += 1,
                },
            }
        }
    }

    fn write(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) -> u32 {
        self.says_how(plan);
        for i in 0..extent.pages {
            let lpn = Lpn(extent.first.0 + i);
            if !self.map.has_place(lpn, plan) {
                return i;
            }
            let Some(ppn) = self.pages.host_page(lpn, &self.map, cx, plan) else { return i };
            self.write_page(extent, i, ppn, cx, plan);
        }
        extent.pages
    }

    /// One page for each die, because a longer extent would queue.
    fn grain(&self) -> Grain {
        Grain::Run(self.map.geometry.dies)
    }

    fn pad(&mut self, block: BlockId, end: u32, cx: &mut Context, plan: &mut Plan) {
        if self.is_of_map(block, cx.blocks) {
            self.map.tps.pad(block, end, cx.blocks, plan);
        } else {
            self.pages.pad(block, end, &self.map, cx.blocks, plan);
        }
    }

    fn home(&self, lpn: Lpn) -> Option<DieId> {
        self.pages.home(lpn)
    }

    fn trim(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        plan.map_accesses += extent.pages;
        for i in (0..extent.pages).filter(|&i| !extent.is_partial(i)) {
            let lpn = Lpn(extent.first.0 + i);
            let Some(old) = self.map.get(lpn) else {
                if self.map.truth.unwritten(lpn).is_some() {
                    self.map.truth.remove(lpn);
                }
                continue;
            };
            self.map.truth.remove(lpn);
            let block = cx.blocks.set_invalid(old);
            plan.wake(self.map.geometry.die_of_block(block));
            if self.map.cmt.soil(lpn) {
                plan.writes_entry(lpn);
            } else {
                self.trim_on_flash(self.map.cmt.page_of(lpn), plan);
            }
        }
    }

    fn wants_background(&self, die: DieId, blocks: &BlockTable) -> bool {
        self.wants_collection(die, blocks) || !self.trimmed[die.idx()].is_empty()
    }

    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        self.says_how(plan);
        if self.wants_collection(die, cx.blocks) && self.may_collect(die, cx.blocks) {
            self.collect(die, cx, plan);
            if !plan.ops().is_empty() {
                return;
            }
            self.slots.give_up(die, plan);
        }
        self.rewrite_trimmed(die, cx, plan);
        self.pages.after_step(die, plan);
    }

    fn erased(&mut self, block: BlockId, cx: &mut Context, plan: &mut Plan) {
        if self.is_of_map(block, cx.blocks) {
            self.map.tps.erased(block, cx);
            self.blocked.drain(..).for_each(|die| plan.wake(die));
        } else {
            self.pages.erased(block, cx);
        }
        let die = self.map.geometry.die_of_block(block);
        if !self.slots.admits_all() && !self.wants_collection(die, cx.blocks) {
            self.slots.forget(die);
        }
        self.slots.give_up(die, plan);
    }

    fn is_lazy(&self, die: DieId, blocks: &BlockTable) -> bool {
        self.puts_off(die, blocks)
    }

    fn idle_pace(&self) -> Option<IdlePace> {
        self.pages.idle_pace()
    }

    fn has_idle_work(&self, blocks: &BlockTable) -> bool {
        self.pages.has_folds(&self.map, blocks)
    }

    /// A step of a fold of each die. Pages of the map are not collected with it: the erase of their block would not wait for programs
    /// of the same plan that replace its pages. Their collection goes on by itself.
    fn idle_work(&mut self, cx: &mut Context, plan: &mut Plan) {
        self.says_how(plan);
        for die in (0..self.map.geometry.dies).map(DieId) {
            if self.pages.begin_idle_fold(die, &self.map, cx) {
                self.collect_data(die, cx, plan);
            }
        }
    }

    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error> {
        self.map.truth.start(StartPages::InOrder);
        self.pages.fill(blocks, array, watch)?;
        self.map.tps.fill(blocks, array);
        Ok(())
    }

    /// The map on flash is complete: it was written before the run, as the pages were.
    fn fill_mapped(&mut self, blocks: &mut BlockTable, array: &mut Array, before: &[BlockId]) -> bool {
        self.map.truth.start_unwritten(before);
        self.map.tps.fill(blocks, array);
        true
    }

    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.get(lpn)
    }

    fn blank_place(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.truth.unwritten(lpn)
    }

    fn map_pages(&self) -> Vec<Ppn> {
        self.map.tps.all_places()
    }

    #[inline]
    fn prefetch(&self, far: Lpn, near: Lpn, blocks: &BlockTable, array: &Array) {
        self.map.prefetch(far);
        if let Some(ppn) = self.map.prefetch_near(near) {
            blocks.prefetch(ppn);
            array.prefetch(ppn);
        }
    }

    fn on_huge_pages(&self) {
        self.map.truth.on_huge_pages();
        self.map.cmt.on_huge_pages();
    }

    fn mapping_bytes(&self) -> u64 {
        self.map.bytes()
    }

    fn map_on_flash(&self) -> Option<MapOnFlash> {
        Some(MapOnFlash { entries_per_page: self.map.entries_per_page(), copies: self.map.tps.share().copies })
    }

    fn map_entry(&self, lpn: Lpn) -> MapEntry {
        self.map.entry_on_flash(lpn)
    }

    fn checkpoint_bytes(&self) -> u64 {
        self.map.checkpoint_bytes()
    }

    fn survives_cuts(&self) -> bool {
        true
    }

    fn rebuild(&mut self, found: &Found, blocks: &mut BlockTable, array: &mut Array) {
        self.map.truth.rebuild(found);
        self.recovery = Some(self.rebuild_map(found, blocks, array));
        self.pages.rebuild(blocks, array);
    }

    fn recover(&mut self, cx: &mut Context, plan: &mut Plan) {
        self.says_how(plan);
        self.recover_map(cx, plan);
    }

    fn load_map(&mut self, page: u32, units: u32, plan: &mut Plan) {
        self.says_how(plan);
        self.map.load(page, units, plan);
    }

    fn save(&self, out: &mut StateWriter) {
        self.map.truth.check_save(out);
        self.map.save(out);
        self.pages.save(out);
        self.slots.save(out);
        out.list(self.blocked.iter().map(|die| die.0));
        self.trimmed.iter().for_each(|pages| out.list(pages.iter().copied()));
    }

    fn restore(&mut self, from: &mut StateReader, drive: &RestoredDrive) -> Result<(), Flaw> {
        let mut claims = Claims::new(drive);
        self.map.restore(from, &mut claims, drive)?;
        self.pages.restore(from, &mut claims, drive)?;
        self.slots.restore(from)?;
        let (dies, pages) = (self.map.geometry.dies, self.map.tps.share().pages);
        self.blocked = from.list(dies as usize, dies, "dies without room")?.into_iter().map(DieId).collect();
        let mut left = TRIMMED_PLACES * pages as usize;
        for trimmed in self.trimmed.iter_mut() {
            *trimmed = from.list(left, pages, "pages of the map")?.into();
            left -= trimmed.len();
        }
        claims.has_every_victim(drive)
    }
}
