//! The recovery of a demand-paged layer from a power cut.
//!
//! The scan of all spare areas gives the address of every page, so the map on flash is not needed: its blocks are erased, and
//! all its pages are written anew, each with its replicas. The table of cached entries is empty then. If the power is cut again
//! meanwhile, the next scan finds the same data.

use super::Demand;
use super::cmt::EvictionOrder;
use crate::ftl::Context;
use crate::ftl::plan::Plan;
use crate::units::BlockId;

/// Translation pages of a piece of work.
const PAGES_AT_ONCE: u32 = 32;

/// What is left to do.
#[derive(Clone, Copy)]
pub(super) enum Recovery {
    /// Erase the blocks of the map.
    EraseMap,
    /// Write the translation pages from this one on.
    WriteMap(u32),
}

impl<O: EvictionOrder, K> Demand<O, K> {
    /// Plans the next piece.
    pub(super) fn recover_map(&mut self, cx: &mut Context, plan: &mut Plan) {
        while let Some(step) = self.recovery.filter(|_| plan.ops().is_empty()) {
            self.recovery = match step {
                Recovery::EraseMap => {
                    self.map.tps.erase_all(cx, plan);
                    Some(Recovery::WriteMap(0))
                }
                Recovery::WriteMap(first) => self.write_map(first, cx, plan),
            };
        }
    }

    /// Writes translation pages that have entries, from `first` on.
    fn write_map(&mut self, first: u32, cx: &mut Context, plan: &mut Plan) -> Option<Recovery> {
        let all = self.map.tps.share().pages;
        let end = all.min(first + PAGES_AT_ONCE);
        for page in (first..end).filter(|&page| self.has_entries(page)).collect::<Vec<_>>() {
            self.map.tps.write(page, None, BlockId::NONE, cx, plan);
        }
        (end < all).then_some(Recovery::WriteMap(end))
    }

    fn has_entries(&self, page: u32) -> bool {
        self.map.cmt.entries_of(page).any(|lpn| self.map.get(lpn).is_some())
    }
}
