//! The cache of blocks in SLC mode within the pages of a drive: where the host's pages go, and when folds begin.

use std::hint::cold_path;

use super::{DieWrites, GcJob, Owner, Pages};
use crate::blocks::BlockTable;
use crate::drive::settings::FoldWhen;
use crate::ftl::paged::frontier::Frontier;
use crate::ftl::plan::Plan;
use crate::ftl::{Context, IdlePace};
use crate::operation::Cause;
use flashwatt_base::units::{BlockId, DieId, Ppn};

impl Pages {
    /// Whether a block is one of the cache.
    pub fn is_slc(&self, block: BlockId) -> bool {
        let die = self.geometry.die_of_block(block);
        self.slc.as_ref().is_some_and(|slc| slc.of(die).blocks.contains(&block))
    }

    /// Free blocks that a running fold of the static part may need beside the reserve: its erase gives native data none back.
    #[inline(always)]
    pub(super) fn claim_of_fold(&self, die: DieId) -> u32 {
        let Some(slc) = &self.slc else { return 0 };
        let folds = self.dies[die.idx()].job.is_some_and(|job| job.cause == Cause::Fold);
        u32::from(folds && !slc.has_dynamic(die))
    }

    /// The page of a host's write in the cache. The inner `None`: the write waits for room in it. The outer one: it goes to a native
    /// block.
    pub(super) fn slc_page_on<O: Owner>(
        &mut self,
        die: DieId,
        owner: &O,
        cx: &mut Context,
        plan: &mut Plan,
    ) -> Option<Option<Ppn>> {
        let free = self.free(die, owner, cx.blocks);
        let units = self.geometry.units_per_page;
        let Some(slc) = &mut self.slc else { return None };
        if slc.of(die).frontier.is_full() {
            if !slc.may_open(die, free) {
                let waits = slc.waits_for_room(die);
                let of = slc.of_mut(die);
                (of.is_full, of.is_awaited) = (true, of.is_awaited | waits);
                plan.wake(die);
                return if waits { Some(None) } else { None };
            }
            let block = cx.blocks.take_free(die, self.wear.least_worn_first().then_some(cx.wear))?;
            cx.blocks.set_apart(block);
            plan.use_as_slc(block);
            plan.wake(die); // the cache may be full now
            let of = slc.of_mut(die);
            (of.frontier, of.is_full) = (Frontier::at_slc(&self.geometry, block), false);
            of.blocks.push_back(block);
        }
        Some(Some(slc.of_mut(die).frontier.take(units)))
    }

    /// Whether a host's write waits for a fold on a die.
    pub(super) fn is_awaited(&self, die: DieId) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.of(die).is_awaited)
    }

    /// Whether a die folds beside what it needs for free blocks.
    #[inline(always)]
    pub(super) fn wants_fold<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> bool {
        let Some(slc) = &self.slc else { return false };
        cold_path();
        let free = self.free(die, owner, blocks);
        let ahead = slc.folds_ahead(die, free) && self.folds_leave_watermark(die, free);
        slc.oldest(die, blocks).is_some() && (slc.of(die).is_awaited || ahead)
    }

    /// Whether folds that no write waits for leave a die with this number of free blocks the low watermark.
    fn folds_leave_watermark(&self, die: DieId, free: u32) -> bool {
        free >= self.low_watermark || self.slc.as_ref().is_some_and(|slc| slc.has_dynamic(die))
    }

    /// Whether a die has a block to fold, and room for that: folds of the static part take native room and give none, so they must leave
    /// the reserve. What the host overwrites may make room.
    pub(super) fn may_fold<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> bool {
        let Some(slc) = &self.slc else { return false };
        let Some(victim) = slc.oldest(die, blocks) else { return false };
        let kept = if slc.has_dynamic(die) { 0 } else { self.reserved };
        let free = self.free(die, owner, blocks).saturating_sub(kept);
        let DieWrites { host, gc, leftover, .. } = &self.dies[die.idx()];
        let frontier = if self.separate_frontiers { gc } else { host };
        let room = frontier.left() + leftover.left() + free * self.geometry.units_per_block;
        blocks.valid_units(victim) + self.geometry.units_to_end_a_row() <= room
    }

    /// The same of a fold that no write waits for.
    fn may_fold_ahead<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> bool {
        self.folds_leave_watermark(die, self.free(die, owner, blocks)) && self.may_fold(die, owner, blocks)
    }

    /// Whether the work of a die is one that writes of the host always go before: folds that no write waits for.
    pub fn is_lazy<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> bool {
        let is_fold = self.dies[die.idx()].job.as_ref().is_none_or(|job| job.cause == Cause::Fold && !job.is_pressed);
        let has_room = || self.free(die, owner, blocks) >= self.low_watermark + self.claim_of_fold(die);
        self.slc.is_some() && is_fold && !self.is_awaited(die) && has_room()
    }

    /// Whether an idle drive has something to fold.
    pub fn has_folds<O: Owner>(&self, owner: &O, blocks: &BlockTable) -> bool {
        let Some(slc) = &self.slc else { return false };
        let has_fold = |die: DieId| match &self.dies[die.idx()].job {
            Some(job) => job.is_idle_work && !job.erasing,
            None => self.may_fold_ahead(die, owner, blocks),
        };
        slc.rules().fold == FoldWhen::Idle && (0..self.geometry.dies).map(DieId).any(has_fold)
    }

    /// The pace of folds of an idle drive, if it has any.
    pub fn idle_pace(&self) -> Option<IdlePace> {
        let rules = self.slc.as_ref()?.rules();
        let pace = IdlePace { start_ns: rules.idle_start_ns, gap_ns: rules.idle_gap_ns };
        (rules.fold == FoldWhen::Idle).then_some(pace)
    }

    /// Begins with the fold of a die's oldest block in SLC mode, if the die collects nothing. Returns whether an idle drive has a step of a
    /// fold to do now: [`Self::background`] plans it.
    pub fn begin_idle_fold<O: Owner>(&mut self, die: DieId, owner: &O, cx: &mut Context) -> bool {
        if self.dies[die.idx()].job.is_none() && self.may_fold_ahead(die, owner, cx.blocks) {
            self.start_fold(die, owner, cx, true);
        }
        self.dies[die.idx()].job.is_some_and(|job| job.is_idle_work && !job.erasing)
    }

    /// Starts the fold of a die's oldest block in SLC mode, if [`Self::may_fold`].
    pub(super) fn start_fold<O: Owner>(&mut self, die: DieId, owner: &O, cx: &mut Context, is_idle_work: bool) {
        let Some(victim) = self.slc.as_ref().and_then(|slc| slc.oldest(die, cx.blocks)) else { return };
        cx.blocks.condemn(victim);
        let mut job = GcJob { is_idle_work, ..GcJob::new(victim, Cause::Fold) };
        (0..GcJob::COPIES_AHEAD).for_each(|_| job.fetch(owner, cx.blocks));
        self.dies[die.idx()].job = Some(job);
    }

    /// Whether a die begins with a fold: one that gives it a free block if it is low on them, or one that is wanted if it is not.
    #[inline(always)]
    pub(super) fn begins_with_fold<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> bool {
        let Some(slc) = &self.slc else { return false };
        cold_path();
        let is_low = self.free(die, owner, blocks) < self.low_watermark;
        let wants = if is_low { slc.has_dynamic(die) } else { self.wants_fold(die, owner, blocks) };
        wants && self.may_fold(die, owner, blocks)
    }
}
