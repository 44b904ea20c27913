//! Data pages anywhere on flash: the core of page mapping and of the demand-paged layers.
//!
//! Writes go round robin over the dies, channels first, or to the die that the address gives (`static`). Each die has a block
//! for writes of the host and one for copies, or one for both. A die collects when it is low on free blocks; it copies within
//! the die. The last free blocks are reserved for collection, so that it can always finish. The map belongs to the [`Owner`],
//! which learns of every move.

mod folds;
mod persist;
mod rebuild;

use std::hint::cold_path;

use super::frontier::{CopyUnits, Frontier};
use super::phases::PhaseRules;
use super::slc::SlcBlocks;
use crate::blocks::{BlockTable, BlockView, Choice, NextCopy};
use crate::ftl::plan::{ChosenVictim, Plan};
use crate::ftl::{Allocation, Context, Setup, Steady};
use crate::gc::VictimPolicy;
use crate::nand::settings::RowStripe;
use crate::nand::{Array, DieSet, Geometry, Pace};
use crate::operation::{Cause, OpKind};
use crate::wear::WearPolicy;
use flashwatt_base::error::Error;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::progress::Watch;
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};

/// Spare blocks of a die that garbage collection needs to proceed in every case: the low watermark (or one block more than
/// the blocks reserved for collection, if that is larger), and one partly filled block.
pub fn spare_blocks_per_die(low_watermark_blocks: u32, reserved_blocks: u32) -> u128 {
    u128::from(low_watermark_blocks.max(reserved_blocks.saturating_add(1))) + 1
}

/// The owner of the pages: it keeps the map.
pub(in crate::ftl) trait Owner {
    /// Free blocks of a die that are reserved for other data than these pages.
    #[inline(always)]
    fn claimed(&self, _die: DieId) -> u32 {
        0
    }

    /// The data of `lpn` moves from one address to another on the same die, by this plan.
    fn moved(&mut self, lpn: Lpn, from: Ppn, to: Ppn, plan: &mut Plan);

    /// Prefetches the data that a move of `lpn` touches into the machine's caches.
    fn prefetch(&self, lpn: Lpn);
}

/// The role of a block that has been laid down.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::ftl) enum BlockRole {
    /// Fully programmed.
    Closed,
    /// The host writes to it (and copies too, if they share one).
    Host,
    /// Copies are written to it.
    Gc,
    /// It is being collected.
    Victim,
}

/// Write frontiers and running collections of all dies.
pub(in crate::ftl) struct Pages {
    geometry: Geometry,
    dies: FlatTable<DieWrites>,
    /// The die that takes the next page.
    next_die: u32,
    /// Dies that may have room for a page of the host. The others had none when they were asked; each was woken then, and collects
    /// until a block is erased.
    roomy: DieSet,
    allocation: Allocation,
    row_stripe: RowStripe,
    separate_frontiers: bool,
    /// How collections copy pages, and folds.
    copy_kind: OpKind,
    fold_kind: OpKind,
    low_watermark: u32,
    reserved: u32,
    policy: Box<dyn VictimPolicy>,
    wear: Box<dyn WearPolicy>,
    /// The cache of blocks in SLC mode, if there is one.
    slc: Option<Box<SlcBlocks>>,
}

/// A die's write frontiers and its running collection.
#[derive(Clone, Default)]
struct DieWrites {
    host: Frontier,
    gc: Frontier,
    /// The rest of the block that a move of cold data filled; collection writes there next.
    leftover: Frontier,
    job: Option<GcJob>,
    /// After a power cut the collection of the die may have been cut where it had room for the rest of that victim only. Until it
    /// has freed a block, it takes the block with the fewest valid pages.
    is_short: bool,
}

/// The collection of one block.
#[derive(Clone, Copy)]
struct GcJob {
    victim: BlockId,
    /// The map unit of the victim at which the search for valid units continues; past its end only the erase is left.
    cursor: u32,
    /// The copy that comes next, found when the one before was planned, since the tables were in the machine's first cache then. By the
    /// time it is planned a write of the host may have made it obsolete.
    next: Option<NextCopy>,
    /// The map unit of the victim from which on no map entry has been fetched into the machine's caches.
    fetched: u32,
    cause: Cause,
    /// Whether the erase is planned.
    erasing: bool,
    /// Whether it goes on only while the drive is idle, unless the die is low on free blocks.
    is_idle_work: bool,
    /// Whether a row that waits for pages cannot be padded before it has ended: it is not put off any longer.
    is_pressed: bool,
    /// The block whose data moves into the victim after its erase.
    then_move: BlockId,
    /// A frontier for the copies, instead of the die's own.
    into: Option<Frontier>,
    /// Rows that are to be planned behind that of the last copy before the erase, which waits for the second pass of that row.
    rows_behind: u32,
}

impl GcJob {
    /// How many copies ahead map entries are fetched. A drive without a clock plans a victim's copies one after the other, at most 100 ns
    /// each; an entry of a large map comes in several of them.
    const COPIES_AHEAD: u32 = 8;

    fn new(victim: BlockId, cause: Cause) -> Self {
        GcJob {
            victim,
            cursor: 0,
            next: None,
            fetched: 0,
            cause,
            erasing: false,
            is_idle_work: false,
            is_pressed: false,
            then_move: BlockId::NONE,
            into: None,
            rows_behind: 0,
        }
    }

    /// The next copy, if one is left.
    #[inline(always)]
    fn next_copy(&self, blocks: &BlockTable) -> Option<NextCopy> {
        match self.next {
            Some(next) if blocks.is_valid_in(self.victim, next.unit) => Some(next),
            _ => {
                cold_path();
                blocks.next_copy(self.victim, self.cursor)
            }
        }
    }

    /// Fetches the map entry of one more copy to come into the machine's caches.
    #[inline(always)]
    fn fetch<O: Owner>(&mut self, owner: &O, blocks: &BlockTable) {
        if let Some(NextCopy { unit, lpn }) = blocks.next_copy(self.victim, self.fetched.max(self.cursor)) {
            self.fetched = unit + 1;
            owner.prefetch(lpn);
        }
    }
}

impl Pages {
    /// Pages of a fresh drive.
    pub fn new(allocation: Allocation, separate_frontiers: bool, setup: &Setup, geometry: &Geometry) -> Self {
        Pages {
            dies: vec![DieWrites::default(); geometry.dies as usize].into(),
            next_die: 0,
            roomy: DieSet::all(geometry.dies),
            allocation,
            row_stripe: setup.row_stripe,
            separate_frontiers,
            copy_kind: OpKind::of_copies(setup.nand.copyback),
            fold_kind: OpKind::of_copies(setup.slc_cache.is_some_and(|rules| rules.on_die)),
            low_watermark: setup.gc.low_watermark_blocks,
            reserved: setup.gc.reserved_blocks,
            policy: crate::gc::build(&setup.gc.policy),
            wear: crate::wear::build(setup.wear),
            slc: setup
                .slc_cache
                .map(|rules| Box::new(SlcBlocks::new(rules, setup.gc.low_watermark_blocks, geometry.dies))),
            geometry: geometry.clone(),
        }
    }

    /// What theory gives of the steady state: of whole pages what the victim policy declares, of parts of pages nothing.
    pub fn steady(&self) -> Steady {
        match self.geometry.units_per_page {
            1 => self.policy.steady(),
            _ => Steady::Unknown,
        }
    }

    /// What the phases of the dies depend on in a long run at this pace: all but the victims.
    pub fn rules(&self, pace: Pace) -> PhaseRules {
        PhaseRules {
            dies: self.geometry.dies,
            pages_per_block: self.geometry.pages_per_block,
            row_pages: self.geometry.row_pages,
            static_blocks: self.slc.as_ref().map_or(0, |slc| slc.rules().static_blocks),
            low_watermark: self.low_watermark,
            reserved: self.reserved,
            separate_frontiers: self.separate_frontiers,
            allocation: self.allocation,
            valid: u64::from(self.geometry.logical_units),
            pace,
            victim_valid: 0.0,
            rise: 0.0,
        }
    }

    /// Takes over a block of a start state, the first `pages` pages of which are programmed.
    pub fn take_over(&mut self, die: DieId, block: BlockId, pages: u32, role: BlockRole, blocks: &mut BlockTable) {
        let frontier = Frontier::behind(&self.geometry, block, pages);
        let writes = &mut self.dies[die.idx()];
        match role {
            BlockRole::Closed => {}
            BlockRole::Host => writes.host = frontier,
            BlockRole::Gc => writes.gc = frontier,
            BlockRole::Victim => {
                blocks.condemn(block);
                writes.job = Some(GcJob::new(block, Cause::Gc));
            }
        }
    }

    /// Begins with this die.
    pub fn begin_with(&mut self, die: DieId) {
        self.next_die = die.0;
    }

    /// Which die a page is written to.
    pub fn allocation(&self) -> Allocation {
        self.allocation
    }

    /// The physical page for a host write that begins at `lpn`, if a permitted die has one.
    #[inline(always)]
    pub fn host_page<O: Owner>(&mut self, lpn: Lpn, owner: &O, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        match self.home(lpn) {
            Some(die) => self.host_page_on(die, owner, cx, plan),
            None => self.host_page_anywhere(owner, cx, plan),
        }
    }

    /// The next page for a host write, on the next die that has room.
    #[inline(always)]
    fn host_page_anywhere<O: Owner>(&mut self, owner: &O, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        debug_assert!(
            (0..self.geometry.dies).map(DieId).all(|die| self.roomy.has(die) || !self.has_room(die, owner, cx.blocks)),
            "a die that gains room is asked again"
        );
        loop {
            let die = self.roomy.first_from(self.next_die).or_else(|| self.roomy.first_from(0))?;
            if let Some(ppn) = self.host_page_on(die, owner, cx, plan) {
                if self.row_stripe == RowStripe::Row && self.is_within_row(die, ppn) {
                    cold_path();
                    self.next_die = die.0;
                    return Some(ppn);
                }
                self.next_die = if die.0 + 1 == self.geometry.dies { 0 } else { die.0 + 1 };
                return Some(ppn);
            }
            self.roomy.remove(die);
        }
    }

    /// Whether the row of a page that a die has just given has more pages.
    fn is_within_row(&self, die: DieId, ppn: Ppn) -> bool {
        let is_slc =
            self.slc.as_ref().is_some_and(|slc| slc.of(die).blocks.back() == Some(&self.geometry.block_of(ppn)));
        let row = if is_slc { self.geometry.planes } else { self.geometry.row_pages };
        !(self.geometry.place(ppn).page + 1).is_multiple_of(row)
    }

    /// Whether a die has room for a page of the host.
    fn has_room<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> bool {
        let (writes, free) = (&self.dies[die.idx()], self.free(die, owner, blocks));
        if let Some(slc) = &self.slc {
            let takes = !slc.of(die).frontier.is_full() || slc.may_open(die, free);
            if takes || slc.waits_for_room(die) {
                return takes;
            }
        }
        match writes.host.is_full() {
            true => free > self.reserved + self.claim_of_fold(die) || !writes.leftover.is_full(),
            false => self.separate_frontiers || free >= self.reserved + self.claim_of_fold(die),
        }
    }

    /// Lets the host ask a die again that had no room.
    #[inline(always)]
    fn ask_again(&mut self, die: DieId) {
        self.roomy.add(die);
    }

    /// To be called after each step of a die's background work, whatever planned it. A die without operations does not collect until
    /// it is woken, and a host that finds no room on it wakes it: so it must be asked again.
    #[inline(always)]
    pub fn after_step(&mut self, die: DieId, plan: &Plan) {
        if plan.ops().is_empty() {
            cold_path();
            self.ask_again(die);
        }
    }

    /// [`Self::ask_again`] of all dies.
    pub fn ask_all_again(&mut self) {
        self.roomy = DieSet::all(self.geometry.dies);
    }

    /// The die that a page is written to, if its address alone decides that.
    #[inline]
    pub fn home(&self, lpn: Lpn) -> Option<DieId> {
        match self.allocation {
            Allocation::Static => Some(DieId(lpn.0 / self.geometry.units_per_page % self.geometry.dies)),
            Allocation::Dynamic => None,
        }
    }

    #[inline(always)]
    fn host_page_on<O: Owner>(&mut self, die: DieId, owner: &O, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        if self.slc.is_some() {
            cold_path();
            if let Some(page) = self.slc_page_on(die, owner, cx, plan) {
                return page;
            }
        }
        if self.dies[die.idx()].host.is_full() && !self.open_host_block(die, owner, cx, plan) {
            return None;
        }
        if !self.separate_frontiers && self.free(die, owner, cx.blocks) < self.reserved + self.claim_of_fold(die) {
            // Collection has used its reserve: the rest of the shared block is for its copies.
            plan.wake(die);
            return None;
        }
        Some(self.dies[die.idx()].host.take(self.geometry.units_per_page))
    }

    fn open_host_block<O: Owner>(&mut self, die: DieId, owner: &O, cx: &mut Context, plan: &mut Plan) -> bool {
        let free = self.free(die, owner, cx.blocks);
        if free <= self.low_watermark {
            plan.wake(die);
        }
        if free <= self.reserved + self.claim_of_fold(die) {
            // The host takes the leftover of a move last, because collection may have no other block.
            let die = &mut self.dies[die.idx()];
            die.host = std::mem::take(&mut die.leftover);
            return !die.host.is_full();
        }
        match self.take_block(die, owner, cx) {
            Some(block) => {
                self.dies[die.idx()].host = Frontier::at(&self.geometry, block);
                true
            }
            None => false,
        }
    }

    /// Free blocks that these pages may take.
    #[inline(always)]
    fn free<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> u32 {
        let (free, claimed) = (blocks.free_blocks(die), owner.claimed(die));
        debug_assert!(blocks.erased_blocks(die) >= claimed, "what is claimed is there");
        let kept = self.slc.as_ref().map_or(0, |slc| slc.kept(die));
        free.saturating_sub(claimed + kept)
    }

    fn take_block<O: Owner>(&self, die: DieId, owner: &O, cx: &mut Context) -> Option<BlockId> {
        if self.free(die, owner, cx.blocks) == 0 {
            return None;
        }
        self.take_free(die, cx)
    }

    /// Takes the free block of a die that the wear-levelling policy prefers.
    pub fn take_free(&self, die: DieId, cx: &mut Context) -> Option<BlockId> {
        cx.blocks.take_free(die, self.wear.least_worn_first().then_some(cx.wear))
    }

    /// Skips the pages up to page `end` of an open block, with pages that hold nothing; nothing if the running collection of its die needs
    /// these pages.
    pub fn pad<O: Owner>(&mut self, block: BlockId, end: u32, owner: &O, blocks: &BlockTable, plan: &mut Plan) {
        let die = self.geometry.die_of_block(block);
        let spare = self.room_beside_copies(die, owner, blocks);
        let (geometry, is_shared) = (&self.geometry, !self.separate_frontiers);
        let DieWrites { host, gc, leftover, job, .. } = &mut self.dies[die.idx()];
        let into = job.as_mut().and_then(|job| job.into.as_mut());
        let is_own = into.is_none(); // the copies take what the die has, and no block of their own
        let frontiers = [(host, is_own && is_shared), (gc, is_own), (leftover, is_own)];
        let mut frontiers = frontiers.into_iter().chain(into.map(|into| (into, true)));
        let found = frontiers.find(|(frontier, _)| frontier.block(geometry) == Some(block));
        let is_padded = found.map(|(frontier, takes_copies)| {
            let fits = !takes_copies || frontier.units_to(geometry, end) <= spare;
            if fits {
                frontier.pad_to(geometry, end, plan);
            }
            fits
        });
        drop(frontiers);
        if is_padded == Some(false)
            && let Some(job) = &mut self.dies[die.idx()].job
        {
            job.is_pressed = job.cause == Cause::Fold;
        }
        if is_padded.is_some() {
            return;
        }
        let Some(slc) = &mut self.slc else { return };
        let frontier = &mut slc.of_mut(die).frontier;
        if frontier.block(geometry) == Some(block) {
            frontier.pad_to(geometry, end, plan);
        }
    }

    /// Map units that the running collection of a die has beyond what its copies take.
    fn room_beside_copies<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> u32 {
        let writes = &self.dies[die.idx()];
        let Some(job) = writes.job.as_ref().filter(|job| !job.erasing) else { return u32::MAX };
        let per_page = self.geometry.units_per_page;
        let copies = blocks.valid_units(job.victim).div_ceil(per_page) * per_page;
        let frontier = if self.separate_frontiers { writes.gc } else { writes.host };
        let free = self.free(die, owner, blocks) * self.geometry.units_per_block;
        let room = job.into.map_or(frontier.left() + writes.leftover.left() + free, Frontier::left);
        room.saturating_sub(copies)
    }

    /// The page for a copy on this die.
    fn copy_page<O: Owner>(&mut self, die: DieId, owner: &O, cx: &mut Context) -> Option<Ppn> {
        let units = self.geometry.units_per_page;
        if let Some(GcJob { into: Some(into), .. }) = &mut self.dies[die.idx()].job {
            return Some(into.take(units));
        }
        if self.copy_frontier(die).is_full() {
            let leftover = std::mem::take(&mut self.dies[die.idx()].leftover);
            *self.copy_frontier(die) = if leftover.is_full() {
                Frontier::at(&self.geometry, self.take_block(die, owner, cx)?)
            } else {
                leftover
            };
        }
        Some(self.copy_frontier(die).take(units))
    }

    fn copy_frontier(&mut self, die: DieId) -> &mut Frontier {
        let separate = self.separate_frontiers;
        let die = &mut self.dies[die.idx()];
        if separate { &mut die.gc } else { &mut die.host }
    }

    /// Whether a die has collection to do.
    pub fn wants_background<O: Owner>(&self, die: DieId, owner: &O, blocks: &BlockTable) -> bool {
        let is_low = || self.free(die, owner, blocks) < self.low_watermark + self.claim_of_fold(die);
        match &self.dies[die.idx()].job {
            Some(job) if job.is_idle_work && !job.is_pressed => !job.erasing && (is_low() || self.is_awaited(die)),
            Some(job) => !job.erasing,
            None => is_low() || self.wants_fold(die, owner, blocks),
        }
    }

    /// The victim of a die if all its pages are copied, and nothing has been planned since.
    pub fn copied(&self, die: DieId, blocks: &BlockTable) -> Option<BlockId> {
        let job = self.dies[die.idx()].job.as_ref().filter(|job| !job.erasing)?;
        blocks.next_valid(job.victim, job.cursor).is_none().then_some(job.victim)
    }

    /// Plans the next step of a die's collection: a copy or an erase. On a drive with rows it is the copies that fill a row.
    #[inline(always)]
    pub fn background<O: Owner>(&mut self, die: DieId, owner: &mut O, cx: &mut Context, plan: &mut Plan) {
        match &self.dies[die.idx()].job {
            Some(job) if job.erasing => return,
            Some(_) => {}
            None => {
                cold_path();
                self.start_job(die, owner, cx, plan);
            }
        }
        if self.geometry.row_pages > 1 {
            cold_path();
            return self.step_by_row(die, owner, cx, plan);
        }
        self.step(die, owner, cx, plan);
    }

    /// Starts the collection of a block if the die is low on free blocks and a block has invalid pages.
    fn start_job<O: Owner>(&mut self, die: DieId, owner: &O, cx: &mut Context, plan: &mut Plan) {
        if self.begins_with_fold(die, owner, cx.blocks) {
            return self.start_fold(die, owner, cx, false);
        }
        if self.free(die, owner, cx.blocks) >= self.low_watermark {
            return;
        }
        let is_short = self.dies[die.idx()].is_short;
        let view = cx.blocks.view(die, cx.wear);
        let chosen = if is_short {
            view.fewest_valid().map(|block| Choice { block, searches: 1 })
        } else {
            self.policy.choose(&view, cx.rng)
        };
        let Some(choice) = chosen.filter(|choice| self.gains_a_row(choice.block, &view)) else {
            if self.wants_fold(die, owner, cx.blocks) && self.may_fold(die, owner, cx.blocks) {
                self.start_fold(die, owner, cx, false);
            }
            return;
        };
        let can_move = !is_short && self.dies[die.idx()].leftover.is_full();
        let then_move = can_move.then(|| self.wear.swap(choice.block, &view)).flatten().unwrap_or(BlockId::NONE);
        let units = f64::from(self.geometry.units_per_block);
        plan.notes().chosen = Some(ChosenVictim {
            searches: choice.searches,
            die_valid_fraction: cx.blocks.valid_fraction(die, cx.wear),
            victim_valid_fraction: f64::from(cx.blocks.valid_units(choice.block)) / units,
        });
        cx.blocks.condemn(choice.block);
        if then_move.is_some() {
            cx.blocks.condemn(then_move);
        }
        let mut job = GcJob { then_move, ..GcJob::new(choice.block, Cause::Gc) };
        (0..GcJob::COPIES_AHEAD).for_each(|_| job.fetch(owner, cx.blocks));
        self.dies[die.idx()].job = Some(job);
    }

    /// Whether collections gain room, of which this one is the first. Copies fill whole rows, so it takes a row of pages without data,
    /// be they in the victim or in blocks that lend it pages.
    #[inline(always)]
    fn gains_a_row(&self, victim: BlockId, view: &BlockView) -> bool {
        let row_units = self.geometry.units_to_end_a_row();
        let gains = self.geometry.row_pages == 1 || view.invalid(victim) >= row_units;
        gains || {
            cold_path();
            view.candidates().map(|block| view.invalid(block)).sum::<u32>() >= row_units
        }
    }

    /// Plans the copy of the next valid pages of the victim, or its erase if none is left.
    #[inline(always)]
    fn step<O: Owner>(&mut self, die: DieId, owner: &mut O, cx: &mut Context, plan: &mut Plan) {
        let Some(job) = &mut self.dies[die.idx()].job else { return };
        let (victim, cause) = (job.victim, job.cause);
        let Some(next) = job.next_copy(cx.blocks) else {
            job.erasing = true;
            plan.erase(self.geometry.first_ppn(victim), cause);
            return;
        };
        let Some(to) = self.copy_page(die, owner, cx) else { return };
        let cursor = self.copy(victim, next, to, cause, owner, cx, plan);
        if let Some(job) = &mut self.dies[die.idx()].job {
            job.cursor = cursor;
            job.next = cx.blocks.next_copy(victim, cursor);
            job.fetch(owner, cx.blocks);
        }
    }

    /// Plans copies up to the end of a row, or the erase of a victim without valid pages. The row must not wait for pages, since the erase
    /// waits for it: if the victim has too few, it takes pages of another block, and then pages without data. So it does with the rows behind
    /// the last copies, without whose first passes there is no second one of these.
    #[inline(never)]
    fn step_by_row<O: Owner>(&mut self, die: DieId, owner: &mut O, cx: &mut Context, plan: &mut Plan) {
        let begun = plan.ops().len(); // steps of other dies, of an idle drive
        let fills = self.fills_row_behind(die, cx.blocks);
        loop {
            let planned = plan.ops().len();
            let Some(job) = self.dies[die.idx()].job else { return };
            if planned == begun && !fills || job.next_copy(cx.blocks).is_some() {
                self.step(die, owner, cx, plan);
            } else if job.into.is_some() || !self.borrow_page(die, job.cause, owner, cx, plan) {
                let geometry = self.geometry.clone();
                let frontier = self.frontier_of_job(die);
                if fills || !frontier.is_at_row(&geometry) {
                    frontier.pad_row(&geometry, plan);
                }
            }
            let is_stuck = plan.ops().len() == planned;
            let is_erased = self.dies[die.idx()].job.is_none_or(|job| job.erasing);
            if is_stuck || is_erased || self.frontier_of_job(die).is_at_row(&self.geometry) {
                return;
            }
        }
    }

    /// Whether the next step of a collection fills a row behind its last copies; takes account of it.
    fn fills_row_behind(&mut self, die: DieId, blocks: &BlockTable) -> bool {
        if self.geometry.pass_distance == 0 {
            return false;
        }
        cold_path();
        let is_at_end = self.frontier_of_job(die).is_full(); // all rows of that block have their second passes
        let Some(job) = &mut self.dies[die.idx()].job else { return false };
        if job.next_copy(blocks).is_some() {
            job.rows_behind = self.geometry.pass_distance;
            return false;
        }
        let fills = job.rows_behind > 0 && !is_at_end;
        job.rows_behind = if fills { job.rows_behind - 1 } else { 0 };
        fills
    }

    /// Where the running collection of a die writes its copies.
    fn frontier_of_job(&mut self, die: DieId) -> &mut Frontier {
        let separate = self.separate_frontiers;
        let DieWrites { host, gc, job, .. } = &mut self.dies[die.idx()];
        let own = if separate { gc } else { host };
        job.as_mut().and_then(|job| job.into.as_mut()).unwrap_or(own)
    }

    /// Plans the copy of a page of the closed block with the fewest valid ones: whatever the policy, what pages a collection gains come
    /// together in one block. Returns false if there is no such block or no valid page in it.
    fn borrow_page<O: Owner>(
        &mut self,
        die: DieId,
        cause: Cause,
        owner: &mut O,
        cx: &mut Context,
        plan: &mut Plan,
    ) -> bool {
        let next_fold =
            self.slc.as_ref().filter(|_| cause == Cause::Fold).and_then(|slc| slc.after_oldest(die, cx.blocks));
        let lender = next_fold.filter(|&block| cx.blocks.valid_units(block) > 0);
        let Some(lender) = lender.or_else(|| cx.blocks.view(die, cx.wear).fewest_valid()) else { return false };
        let Some(first) = cx.blocks.next_copy(lender, 0) else { return false };
        let Some(to) = self.copy_page(die, owner, cx) else { return false };
        if self.geometry.units_per_page > 1 {
            self.copy_units(lender, first.unit, to, cause, owner, cx, plan);
            return true;
        }
        let from = Ppn(self.geometry.first_ppn(lender).0 + first.unit);
        cx.blocks.move_any(lender, from, to);
        owner.moved(first.lpn, from, to, plan);
        plan.map_accesses += 1;
        plan.copy(self.copy_kind_of(cause), from, to, cause, lender);
        true
    }

    /// Plans the copy of valid map units of a block, from that of `first` on, as many as fit one page. Returns the unit to continue at.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn copy<O: Owner>(
        &mut self,
        block: BlockId,
        first: NextCopy,
        to: Ppn,
        cause: Cause,
        owner: &mut O,
        cx: &mut Context,
        plan: &mut Plan,
    ) -> u32 {
        let NextCopy { unit, lpn } = first;
        if self.geometry.units_per_page > 1 {
            cold_path();
            return self.copy_units(block, unit, to, cause, owner, cx, plan);
        }
        let from = Ppn(self.geometry.first_ppn(block).0 + unit);
        cx.blocks.move_from_victim(block, lpn, from, to);
        owner.moved(lpn, from, to, plan);
        plan.map_accesses += 1;
        plan.copy(self.copy_kind_of(cause), from, to, cause, block);
        unit + 1
    }

    /// How pages are copied for this cause.
    #[inline(always)]
    fn copy_kind_of(&self, cause: Cause) -> OpKind {
        if cause == Cause::Fold {
            cold_path();
            return self.fold_kind;
        }
        self.copy_kind
    }

    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn copy_units<O: Owner>(
        &mut self,
        block: BlockId,
        unit: u32,
        to: Ppn,
        cause: Cause,
        owner: &mut O,
        cx: &mut Context,
        plan: &mut Plan,
    ) -> u32 {
        let (sources, rest) = self.gather(block, unit, cx);
        let mut read = None;
        for (i, &source) in sources.iter().enumerate() {
            if i == 0 || self.geometry.page_of(source) != self.geometry.page_of(sources[i - 1]) {
                let op = plan.read(source, cause, read);
                if plan.partial_reads.is_on() {
                    cold_path();
                    let of_page = |&&next: &&Ppn| self.geometry.page_of(next) == self.geometry.page_of(source);
                    plan.wants_units(op, sources[i..].iter().take_while(of_page).count() as u32);
                }
                read = Some(op);
            }
        }
        let op = plan.program(to, cause, read);
        for (i, &source) in sources.iter().enumerate() {
            let to = Ppn(to.0 + i as u32);
            let lpn = cx.blocks.move_any(block, source, to);
            owner.moved(lpn, source, to, plan);
        }
        plan.map_accesses += sources.len() as u32;
        plan.replaces(op, block);
        rest
    }

    fn gather(&self, block: BlockId, from: u32, cx: &Context) -> (CopyUnits, u32) {
        let mut sources = CopyUnits::default();
        let mut next = from;
        while sources.len() < self.geometry.units_per_page as usize {
            let Some(unit) = cx.blocks.next_valid(block, next) else { break };
            sources.push(Ppn(self.geometry.first_ppn(block).0 + unit));
            next = unit + 1;
        }
        (sources, next)
    }

    /// A block's erase has ended.
    pub fn erased(&mut self, block: BlockId, cx: &mut Context) {
        let die = self.geometry.die_of_block(block);
        self.ask_again(die);
        if let Some(slc) = &mut self.slc {
            cold_path();
            slc.erased(die, block);
        }
        let job = self.dies[die.idx()].job.take();
        self.dies[die.idx()].is_short &= job.is_none();
        match job {
            Some(job) if job.then_move.is_some() => {
                cx.blocks.erased_and_taken(block);
                self.start_move(die, block, job.then_move);
            }
            job => {
                cx.blocks.erased(block);
                self.dies[die.idx()].leftover = job.and_then(|job| job.into).unwrap_or(self.dies[die.idx()].leftover);
            }
        }
    }

    /// A worn victim was erased: starts the move of the coldest block's data into it.
    fn start_move(&mut self, die: DieId, worn: BlockId, cold: BlockId) {
        let into = Some(Frontier::at(&self.geometry, worn));
        self.dies[die.idx()].job = Some(GcJob { into, ..GcJob::new(cold, Cause::Wear) });
    }

    /// Lays down the whole logical space in address order over the dies, each page at [`Geometry::filled_ppn`].
    pub fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error> {
        let geometry = self.geometry.clone();
        let stripe = geometry.units_per_page;
        let pages = geometry.logical_units.div_ceil(stripe);
        for die in (0..geometry.dies).map(DieId) {
            let mut left = (pages + geometry.dies - 1 - die.0) / geometry.dies;
            for block in geometry.blocks_of(die) {
                let here = left.min(geometry.pages_per_block);
                if here == 0 {
                    break;
                }
                left -= here;
                let programmed = geometry.whole_rows(here);
                array.lay_down(block, programmed);
                blocks.lay_down_filled(block, here * stripe);
                if programmed < geometry.pages_per_block {
                    self.dies[die.idx()].host = Frontier::behind(&geometry, block, programmed);
                } else if here < programmed {
                    blocks.close(block);
                }
                watch.done(u64::from(here * stripe))?;
            }
        }
        Ok(())
    }
}
