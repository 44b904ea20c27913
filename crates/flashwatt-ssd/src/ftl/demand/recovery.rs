//! The recovery of a demand-paged layer from a power cut.
//!
//! After a scan of all spare areas the address of every page is known, so the map on flash is not needed: its blocks are erased, and
//! all its pages are written anew, each with its replicas. A scan that began with a checkpoint needs the map on flash, and so does the
//! next one. Then it is kept, and the pages that have changed are written anew. While pages of the map are collected for that, they
//! have the blocks that the drive keeps for its recovery. What registers of dies have kept of the map is programmed before all that.
//!
//! The table of cached entries is empty then, but for the portion of the map that the drive loads. If the power is cut again meanwhile, the next scan finds the same data.

use super::Demand;
use super::cmt::EvictionOrder;
use crate::blocks::BlockTable;
use crate::ftl::Context;
use crate::ftl::plan::Plan;
use crate::nand::Array;
use crate::recovery::registers::CopyInRegister;
use crate::recovery::scan::Found;
use flashwatt_base::units::{BlockId, DieId, Ppn};

/// Translation pages of a piece of work. Of a drive that programs rows of pages at once it is a row of each die: what a piece has begun of
/// a row is padded before the next piece.
const PAGES_AT_ONCE: u32 = 32;

/// What is left to do.
pub(super) enum MapRecovery {
    /// Erase the blocks of the map.
    EraseMap,
    /// Program these copies of translation pages, which registers have kept, and write those that are wanted.
    ProgramHeld(Vec<CopyInRegister>, Vec<bool>),
    /// Write those of the translation pages that are wanted, from this one on.
    WriteMap(u32, Vec<bool>),
    /// Collect translation pages until each die has room for them.
    MakeRoom,
}

impl<O: EvictionOrder, K> Demand<O, K> {
    /// Rebuilds the map on flash. Returns what is to be done.
    pub(super) fn rebuild_map(&mut self, found: &Found, blocks: &mut BlockTable, array: &mut Array) -> MapRecovery {
        if !found.has_map() {
            self.map.tps.rebuild(found, blocks);
            return MapRecovery::EraseMap;
        }
        self.map.tps.keep(found, blocks, array);
        let is_changed = |page| match found.map_page(page) {
            Some(kept) => !kept.is_newest || !kept.content.iter().copied().eq(self.entries(page)),
            None => self.has_entries(page),
        };
        let wanted = (0..self.map.tps.share().pages).map(is_changed).collect();
        MapRecovery::ProgramHeld(found.map_in_registers().to_vec(), wanted)
    }

    /// Plans the next piece.
    pub(super) fn recover_map(&mut self, cx: &mut Context, plan: &mut Plan) {
        while plan.ops().is_empty()
            && let Some(step) = self.recovery.take()
        {
            self.recovery = match step {
                MapRecovery::EraseMap => {
                    self.map.tps.erase_all(cx, plan);
                    let wanted = (0..self.map.tps.share().pages).map(|page| self.has_entries(page)).collect();
                    Some(MapRecovery::WriteMap(0, wanted))
                }
                MapRecovery::ProgramHeld(held, wanted) => {
                    let wanted = self.program_held(&held, wanted, cx, plan);
                    Some(self.write_map(0, wanted, cx, plan))
                }
                MapRecovery::WriteMap(first, wanted) => Some(self.write_map(first, wanted, cx, plan)),
                MapRecovery::MakeRoom => self.make_room(cx, plan).then_some(MapRecovery::MakeRoom),
            };
        }
    }

    /// Programs what registers have kept of translation pages. A page that is wanted in any case is written anew at once: no block is
    /// erased before that has ended, so that the version before is there if the power goes again. Returns what is wanted then.
    fn program_held(
        &mut self,
        held: &[CopyInRegister],
        mut wanted: Vec<bool>,
        cx: &mut Context,
        plan: &mut Plan,
    ) -> Vec<bool> {
        for of_page in held.chunk_by(|one, next| one.page == next.page) {
            let page = of_page[0].page;
            if wanted[page as usize] && self.map.tps.has_room(page) {
                self.map.write(page, None, BlockId::NONE, cx, plan);
                wanted[page as usize] = false;
            } else {
                of_page.iter().for_each(|held| self.map.tps.program_held(held, cx, plan));
            }
        }
        wanted
    }

    /// Writes the translation pages that are wanted, from `first` on, as far as there is room. If there is none, makes some.
    fn write_map(&mut self, first: u32, wanted: Vec<bool>, cx: &mut Context, plan: &mut Plan) -> MapRecovery {
        let all = self.map.tps.share().pages;
        let geometry = &self.map.geometry;
        let at_once = if geometry.row_pages == 1 { PAGES_AT_ONCE } else { geometry.dies * geometry.row_pages };
        let end = all.min(first + at_once);
        for page in (first..end).filter(|&page| wanted[page as usize]) {
            if !self.map.tps.has_room(page) {
                let is_stuck = plan.ops().is_empty() && !self.make_room(cx, plan);
                assert!(!is_stuck, "no room for page {page} of the map; this is a fault of the simulator");
                return MapRecovery::WriteMap(page, wanted);
            }
            self.map.write(page, None, BlockId::NONE, cx, plan);
        }
        if end < all { MapRecovery::WriteMap(end, wanted) } else { MapRecovery::MakeRoom }
    }

    /// Plans a step of the collection of translation pages on each die that lacks room. Returns whether there is one.
    fn make_room(&mut self, cx: &mut Context, plan: &mut Plan) -> bool {
        for die in (0..self.map.geometry.dies).map(DieId) {
            self.map.tps.background(die, cx, plan);
        }
        if plan.ops().is_empty() {
            self.map.tps.end_recovery();
            self.pages.ask_all_again(); // the map claims fewer blocks
        }
        !plan.ops().is_empty()
    }

    fn has_entries(&self, page: u32) -> bool {
        self.entries(page).any(|ppn| ppn.is_some())
    }

    fn entries(&self, page: u32) -> impl Iterator<Item = Option<Ppn>> {
        self.map.cmt.entries_of(page).map(|lpn| self.map.get(lpn))
    }
}
