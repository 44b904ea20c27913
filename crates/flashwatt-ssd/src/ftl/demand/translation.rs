//! Translation pages: the map on flash, in blocks of its own.
//!
//! A translation page holds the entries of a fixed number of consecutive logical pages. Each copy of it has a fixed home: the
//! original of page t lies on die t mod dies (channel c), its k-th replica on the die at the same position of channel
//! (c + k) mod channels. This keeps replicas on distinct channels, as RFTL requires. The global translation directory holds
//! the address on that die. Each die has a share of blocks for translation pages that data never takes. It collects them apart,
//! the block with the fewest valid pages first, so that the map can always be written. One partly filled block takes both new
//! pages and copies; the last free block of the share is reserved for copies (law 6g).

use crate::blocks::{BlockState, BlockTable};
use crate::ftl::paged::frontier::Frontier;
use crate::ftl::plan::{Plan, PlanIndex};
use crate::ftl::{Claims, RestoredDrive};
use crate::ftl::{Context, DriveSize, Setup};
use crate::nand::{Array, Geometry, Reserve};
use crate::operation::{Cause, OpKind};
use crate::recovery::registers::CopyInRegister;
use crate::recovery::scan::Found;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};

/// Largest number of copies: the original and replicas.
pub(super) const COPIES_MAX: usize = 4;
/// Collection starts when a die's share has fewer free blocks than this.
const LOW_WATERMARK: u32 = 2;
/// Free blocks of a die's share that are reserved for copies.
const RESERVED: u32 = 1;

/// The part of the drive that the map takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MapShare {
    /// Translation pages, without replicas.
    pub pages: u32,
    /// Copies of each page: the original and replicas.
    pub copies: u32,
    /// Blocks in each die.
    pub blocks_per_die: u32,
}

/// Blocks of each die that the map takes: those that its pages fill, and `reserved` more (by default the same number
/// again, and at least 3). Of each block `row_pages` - 1 pages are left for a row that is padded.
pub(super) fn blocks_per_die(
    pages: u128,
    copies: u32,
    reserved: Option<u32>,
    dies: u128,
    pages_per_block: u128,
    row_pages: u128,
) -> u128 {
    let at_least = (pages_per_block + 1).saturating_sub(row_pages).max(1);
    let full = (pages.div_ceil(dies) * u128::from(copies)).div_ceil(at_least);
    full + reserved.map_or(full.max(3), u128::from)
}

impl MapShare {
    /// The share of a drive with `entries_per_page` entries in a translation page.
    pub fn new(entries_per_page: u32, copies: u32, reserved: Option<u32>, geometry: &Geometry) -> Self {
        let pages = geometry.logical_units.div_ceil(entries_per_page);
        let [pages_u128, dies, in_block, in_row] =
            [pages, geometry.dies, geometry.pages_per_block, geometry.row_pages].map(u128::from);
        let blocks = blocks_per_die(pages_u128, copies, reserved, dies, in_block, in_row);
        MapShare { pages, copies, blocks_per_die: u32::try_from(blocks).unwrap_or(u32::MAX) }
    }

    /// The share in physical pages, for sizes under check.
    pub fn room(entries_per_page: u32, copies: u32, reserved: Option<u32>, size: &DriveSize) -> u128 {
        let pages = size.logical_pages.div_ceil(u128::from(entries_per_page));
        let blocks = blocks_per_die(pages, copies, reserved, size.dies, size.pages_per_block, size.row_pages);
        size.dies * size.pages_per_block * blocks
    }
}

/// The translation pages of a drive.
pub(super) struct TranslationPages {
    geometry: Geometry,
    share: MapShare,
    /// The global translation directory: physical address (+ 1) of each copy of each page, copy by copy; 0 for none.
    directory: FlatTable<u32>,
    dies: FlatTable<DieGc>,
    copy_kind: OpKind,
    least_worn_first: bool,
    /// Blocks of each die beyond the share, while the drive recovers from a power cut.
    more_blocks: u32,
}

#[derive(Clone, Default)]
struct DieGc {
    frontier: Frontier,
    /// The blocks of the share that are in use.
    blocks: Vec<BlockId>,
    job: Option<MapGcJob>,
}

/// The collection of one block.
#[derive(Clone, Copy)]
struct MapGcJob {
    victim: BlockId,
    cursor: u32,
    erasing: bool,
}

impl MapGcJob {
    fn restore(from: &mut StateReader, blocks: &[BlockId], drive: &RestoredDrive) -> Result<Self, Flaw> {
        let (victim, cursor) = (BlockId(from.u32()?), from.u32()?);
        let is_victim = blocks.contains(&victim) && drive.blocks.state(victim) == BlockState::Victim;
        require(is_victim, "a collection of a block that is not being collected")?;
        require(cursor <= drive.blocks.geometry().units_per_block, "a place beyond a victim")?;
        let is_behind = drive.blocks.next_valid(victim, 0).is_none_or(|unit| unit >= cursor);
        require(is_behind, "valid pages that collection has passed")?;
        Ok(MapGcJob { victim, cursor, erasing: false })
    }
}

impl TranslationPages {
    /// Translation pages of which none is on flash yet.
    pub fn new(share: MapShare, setup: &Setup, geometry: &Geometry) -> Self {
        TranslationPages {
            directory: vec![0; (share.pages * share.copies) as usize].into(),
            dies: vec![DieGc::default(); geometry.dies as usize].into(),
            copy_kind: OpKind::of_copies(setup.nand.copyback),
            least_worn_first: crate::wear::build(setup.wear).least_worn_first(),
            more_blocks: 0,
            share,
            geometry: geometry.clone(),
        }
    }

    /// The part of the drive that they take.
    pub fn share(&self) -> &MapShare {
        &self.share
    }

    /// The die of a copy of a page.
    fn home(&self, page: u32, copy: u32) -> DieId {
        let die = DieId(page % self.geometry.dies);
        let channel = (self.geometry.channel_of(die).0 + copy) % self.geometry.channels;
        self.geometry.die_at(flashwatt_base::units::ChannelId(channel), self.geometry.way_of(die))
    }

    /// The dies of a page's copies, the original's first.
    pub fn homes(&self, page: u32) -> impl Iterator<Item = DieId> + '_ {
        (0..self.share.copies).map(move |copy| self.home(page, copy))
    }

    /// The addresses of a page's copies, the original first.
    pub fn places(&self, page: u32) -> impl Iterator<Item = Ppn> + '_ {
        let entries = (0..self.share.copies).map(move |copy| self.directory[(copy * self.share.pages + page) as usize]);
        entries.filter_map(|entry| entry.checked_sub(1).map(Ppn))
    }

    /// The addresses of all copies of all pages.
    pub fn all_places(&self) -> Vec<Ppn> {
        self.directory.iter().filter_map(|entry| entry.checked_sub(1).map(Ppn)).collect()
    }

    /// Free blocks of a die's share.
    #[inline(always)]
    pub fn free(&self, die: DieId) -> u32 {
        self.share.blocks_per_die + self.more_blocks - self.dies[die.idx()].blocks.len() as u32
    }

    /// Whether a page can be written now.
    pub fn has_room(&self, page: u32) -> bool {
        self.homes(page).all(|die| {
            let free = self.free(die);
            free > RESERVED || (free == RESERVED && !self.dies[die.idx()].frontier.is_full())
        })
    }

    /// Plans the read of a page, of any of its copies. Returns `None` if the page is not on flash.
    pub fn read(&self, page: u32, plan: &mut Plan) -> Option<PlanIndex> {
        let mut places = [Ppn::NONE; COPIES_MAX];
        let mut copies = 0;
        for ppn in self.places(page) {
            places[copies] = ppn;
            copies += 1;
        }
        let (original, replicas) = places[..copies].split_first()?;
        Some(plan.read_any(*original, replicas, Cause::Map, None))
    }

    /// Plans the program of all copies of a page, after `after` has ended. Neither `frees` nor a block with an old copy is
    /// erased before all new copies are on flash.
    pub fn write(&mut self, page: u32, after: Option<PlanIndex>, frees: BlockId, cx: &mut Context, plan: &mut Plan) {
        let mut old = [BlockId::NONE; COPIES_MAX + 1];
        old[COPIES_MAX] = frees;
        for (copy, ppn) in self.places(page).enumerate() {
            old[copy] = cx.blocks.set_invalid(ppn);
        }
        for copy in 0..self.share.copies {
            let die = self.home(page, copy);
            let Some(ppn) = self.take(die, cx) else { unreachable!("it was asked whether there is room") };
            let op = plan.program(ppn, Cause::Map, after);
            old.iter().filter(|block| block.is_some()).for_each(|&block| plan.replaces(op, block));
            self.set(page, copy, ppn, cx.blocks);
            if self.free(die) <= RESERVED {
                plan.wake(die);
            }
        }
    }

    /// Plans the program of a copy that the register of its die has kept. There is room for it: the write that was cut had asked for
    /// more than its page.
    pub fn program_held(&mut self, held: &CopyInRegister, cx: &mut Context, plan: &mut Plan) {
        let die = self.home(held.page, held.copy);
        let Some(ppn) = self.take(die, cx) else {
            unreachable!("no room for what the register of die {die} has kept; this is a fault of the simulator")
        };
        plan.program_held(held.ppn, ppn);
        self.set(held.page, held.copy, ppn, cx.blocks);
    }

    fn set(&mut self, page: u32, copy: u32, ppn: Ppn, blocks: &mut BlockTable) {
        let at = copy * self.share.pages + page;
        self.directory[at as usize] = ppn.0 + 1;
        blocks.set_valid(ppn, Lpn(self.geometry.logical_units + at));
    }

    /// The next page to write on a die.
    fn take(&mut self, die: DieId, cx: &mut Context) -> Option<Ppn> {
        if self.dies[die.idx()].frontier.is_full() {
            if self.free(die) == 0 {
                return None;
            }
            let block = cx.blocks.take_free(die, self.least_worn_first.then_some(cx.wear))?;
            cx.blocks.set_apart(block);
            self.dies[die.idx()].blocks.push(block);
            self.dies[die.idx()].frontier = Frontier::at(&self.geometry, block);
        }
        Some(self.dies[die.idx()].frontier.take(1))
    }

    /// Skips the pages up to page `end` of an open block, with pages that hold nothing; nothing if the running collection of its die needs
    /// these pages.
    pub fn pad(&mut self, block: BlockId, end: u32, blocks: &BlockTable, plan: &mut Plan) {
        let die = self.geometry.die_of_block(block);
        let free = self.free(die);
        let DieGc { frontier, job, .. } = &mut self.dies[die.idx()];
        if frontier.block(&self.geometry) != Some(block) {
            return;
        }
        let copies = job.filter(|job| !job.erasing).map_or(0, |job| blocks.valid_units(job.victim));
        if frontier.units_to(&self.geometry, end) + copies <= frontier.left() + free * self.geometry.units_per_block {
            frontier.pad_to(&self.geometry, end, plan);
        }
    }

    /// Whether a die has collection to do.
    pub fn wants_background(&self, die: DieId) -> bool {
        match &self.dies[die.idx()].job {
            Some(job) => !job.erasing,
            None => self.free(die) < LOW_WATERMARK,
        }
    }

    /// Plans the next step of a die's collection: the copies that fill a row (one copy on a drive without rows), or an erase. The plan stays
    /// empty if no step is possible.
    pub fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        if self.dies[die.idx()].job.is_none() && self.free(die) < LOW_WATERMARK {
            self.start_job(die, cx);
        }
        let Some(job) = self.dies[die.idx()].job.filter(|job| !job.erasing) else { return };
        if cx.blocks.next_valid(job.victim, job.cursor).is_none() {
            plan.erase(self.geometry.first_ppn(job.victim), Cause::Map);
            self.dies[die.idx()].job = Some(MapGcJob { erasing: true, ..job });
            return;
        }
        let mut cursor = job.cursor;
        while let Some(unit) = cx.blocks.next_valid(job.victim, cursor)
            && self.copy(die, job.victim, unit, cx, plan)
        {
            cursor = unit + 1;
            if self.dies[die.idx()].frontier.is_at_row(&self.geometry) {
                break;
            }
        }
        self.dies[die.idx()].job = Some(MapGcJob { cursor, ..job });
        self.fill_row(die, cx, plan);
    }

    /// Plans the rest of a row, since the erase of a victim waits for the row of its last copies: pages of the block that would be collected
    /// next, then pages without data.
    fn fill_row(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        while !self.dies[die.idx()].frontier.is_at_row(&self.geometry) {
            let next = self.fewest_valid(die, cx.blocks);
            match next.and_then(|block| Some((block, cx.blocks.next_valid(block, 0)?))) {
                Some((block, unit)) if self.copy(die, block, unit, cx, plan) => {}
                _ => self.dies[die.idx()].frontier.pad_row(&self.geometry, plan),
            }
        }
    }

    /// The full blocks of a die's share.
    fn full_blocks(&self, die: DieId, blocks: &BlockTable) -> impl Iterator<Item = BlockId> {
        let all = self.dies[die.idx()].blocks.iter().copied();
        all.filter(|block| blocks.state(*block) == BlockState::Closed)
    }

    /// The block of a die's share that gains the most pages, if one gains any.
    fn fewest_valid(&self, die: DieId, blocks: &BlockTable) -> Option<BlockId> {
        let block = self.full_blocks(die, blocks).min_by_key(|block| blocks.valid_units(*block))?;
        (blocks.valid_units(block) < self.geometry.units_per_block).then_some(block)
    }

    /// Begins a collection if there is a row of pages to gain: copies fill whole rows.
    fn start_job(&mut self, die: DieId, cx: &mut Context) {
        let invalid = |block| self.geometry.units_per_block - cx.blocks.valid_units(block);
        let gains: u32 = self.full_blocks(die, cx.blocks).map(invalid).sum();
        if gains < self.geometry.row_pages {
            return;
        }
        if let Some(victim) = self.fewest_valid(die, cx.blocks) {
            cx.blocks.condemn(victim);
            self.dies[die.idx()].job = Some(MapGcJob { victim, cursor: 0, erasing: false });
        }
    }

    /// Plans the copy of a page. Returns false if there is no room for it.
    fn copy(&mut self, die: DieId, block: BlockId, unit: u32, cx: &mut Context, plan: &mut Plan) -> bool {
        let Some(to) = self.take(die, cx) else { return false };
        let from = Ppn(self.geometry.first_ppn(block).0 + unit);
        let lpn = cx.blocks.move_any(block, from, to);
        let entry = &mut self.directory[(lpn.0 - self.geometry.logical_units) as usize];
        debug_assert_eq!(*entry, from.0 + 1);
        *entry = to.0 + 1;
        plan.copy(self.copy_kind, from, to, Cause::Map, block);
        true
    }

    /// The erase of one of the blocks has ended.
    pub fn erased(&mut self, block: BlockId, cx: &mut Context) {
        let die = &mut self.dies[self.geometry.die_of_block(block).idx()];
        die.job = None;
        die.blocks.retain(|&b| b != block);
        cx.blocks.erased(block);
    }

    /// Writes frontiers, blocks and running collections to a snapshot.
    pub fn save(&self, out: &mut StateWriter) {
        for die in self.dies.iter() {
            die.frontier.save(out);
            out.list(die.blocks.iter().map(|block| block.0));
            out.bool(die.job.is_some());
            if let Some(MapGcJob { victim, cursor, erasing }) = die.job {
                if erasing {
                    out.refuse("an erase that has not ended");
                }
                out.u32(victim.0);
                out.u32(cursor);
            }
        }
    }

    /// Adds a copy of a page to the directory of a fresh drive: the data of logical page `lpn`, beyond those of the host.
    pub fn restore_page(&mut self, ppn: Ppn, lpn: Lpn) -> Result<(), Flaw> {
        let at = lpn.0 - self.geometry.logical_units;
        require(at < self.share.pages * self.share.copies, "a page of the map that there is not")?;
        let home = self.home(at % self.share.pages, at / self.share.pages);
        require(home == self.geometry.die_of(ppn), "a page of the map that is not on its die")?;
        let entry = &mut self.directory[at as usize];
        require(*entry == 0, "two valid copies of a page of the map")?;
        *entry = ppn.0 + 1;
        Ok(())
    }

    /// Restores the state written by [`Self::save`], on a fresh drive with its directory.
    pub fn restore(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        for die in (0..self.geometry.dies).map(DieId) {
            let frontier = Frontier::restore(from, die, drive)?;
            let most = self.share.blocks_per_die.min(self.geometry.blocks_per_die) as usize;
            let blocks = from.list(most, self.geometry.blocks, "blocks of the map")?;
            let blocks: Vec<BlockId> = blocks.into_iter().map(BlockId).collect();
            for &block in &blocks {
                claims.claim(block, die, drive)?;
                let is_own = drive.blocks.is_apart(block) && !drive.array.is_slc(block);
                require(is_own && drive.blocks.state(block) != BlockState::Free, "a block of the map that is not one")?;
            }
            let is_own = frontier.block(&self.geometry).is_none_or(|block| blocks.contains(&block));
            require(is_own, "a place for pages of the map outside their blocks")?;
            let job = if from.bool()? { Some(MapGcJob::restore(from, &blocks, drive)?) } else { None };
            self.dies[die.idx()] = DieGc { frontier, blocks, job };
            require(self.free(die) <= drive.blocks.free_blocks(die), "fewer free blocks than the map claims")?;
        }
        Ok(())
    }

    /// Takes over the blocks of the map after a power cut. Their pages are void: the map is written anew.
    pub fn rebuild(&mut self, found: &Found, blocks: &mut BlockTable) {
        for block in self.take_over(found, blocks) {
            let first = self.geometry.first_ppn(block).0;
            while let Some(unit) = blocks.next_valid(block, 0) {
                blocks.set_invalid(Ppn(first + unit));
            }
        }
    }

    /// Takes over the blocks of the map after a power cut, and the pages in them that the scan has found. Until
    /// [`Self::end_recovery`] there is more room.
    pub fn keep(&mut self, found: &Found, blocks: &mut BlockTable, array: &mut Array) {
        for (entry, owner) in self.directory.iter_mut().zip(self.geometry.logical_units..) {
            *entry = found.newest(Lpn(owner)).map_or(0, |ppn| ppn.0 + 1);
        }
        for block in self.take_over(found, blocks) {
            array.give_up_gaps(block);
            let frontier = Frontier::behind(&self.geometry, block, array.planned_pages(block));
            let of_die = &mut self.dies[self.geometry.die_of_block(block).idx()].frontier;
            let closed = if frontier.left() > of_die.left() {
                std::mem::replace(of_die, frontier).block(&self.geometry)
            } else {
                Some(block)
            };
            if let Some(block) = closed.filter(|&block| blocks.state(block) == BlockState::Open) {
                blocks.close(block);
            }
        }
        self.more_blocks = self.geometry.reserves[Reserve::Recovery];
    }

    /// Ends a recovery after [`Self::keep`].
    pub fn end_recovery(&mut self) {
        self.more_blocks = 0;
    }

    /// Takes over the blocks of the map after a power cut.
    fn take_over(&mut self, found: &Found, blocks: &mut BlockTable) -> Vec<BlockId> {
        let geometry = &self.geometry;
        let of_map = |ppn: Ppn| found.at(ppn).is_some_and(|(owner, _)| owner.0 >= geometry.logical_units);
        let units = |block| (geometry.first_ppn(block).0..).take(geometry.units_per_block as usize).map(Ppn);
        let is_own = |block: &BlockId| blocks.is_in_use(*block) && units(*block).any(of_map);
        let own: Vec<BlockId> = (0..geometry.blocks).map(BlockId).filter(is_own).collect();
        for &block in &own {
            blocks.set_apart(block);
            self.dies[self.geometry.die_of_block(block).idx()].blocks.push(block);
        }
        own
    }

    /// Plans the erase of all blocks of the map.
    pub fn erase_all(&mut self, cx: &mut Context, plan: &mut Plan) {
        for &block in self.dies.iter().flat_map(|die| &die.blocks) {
            cx.blocks.condemn(block);
            plan.erase(self.geometry.first_ppn(block), Cause::Map);
        }
    }

    /// Lays down all copies of all pages on a fresh drive, behind the data.
    pub fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array) {
        let geometry = self.geometry.clone();
        let mut pages = vec![Vec::new(); geometry.dies as usize];
        for copy in 0..self.share.copies {
            for page in 0..self.share.pages {
                pages[self.home(page, copy).idx()].push(copy * self.share.pages + page);
            }
        }
        for (die, pages) in (0..geometry.dies).map(DieId).zip(&pages) {
            let free = geometry.blocks_of(die).filter(|&block| blocks.state(block) == BlockState::Free);
            let free: Vec<BlockId> = free.take(self.share.blocks_per_die as usize).collect();
            for (&block, here) in free.iter().zip(pages.chunks(geometry.pages_per_block as usize)) {
                self.lay_down(die, block, here, blocks, array);
            }
        }
    }

    fn lay_down(&mut self, die: DieId, block: BlockId, pages: &[u32], blocks: &mut BlockTable, array: &mut Array) {
        let programmed = self.geometry.whole_rows(pages.len() as u32);
        let first = self.geometry.first_ppn(block).0;
        array.lay_down(block, programmed);
        blocks.set_apart(block);
        blocks.lay_down(block, pages.len() as u32, |ppn| {
            let page = pages[(ppn.0 - first) as usize];
            self.directory[page as usize] = ppn.0 + 1;
            Some(Lpn(self.geometry.logical_units + page))
        });
        if programmed == self.geometry.pages_per_block && pages.len() < programmed as usize {
            blocks.close(block); // the rest of its last row holds nothing
        }
        self.dies[die.idx()].blocks.push(block);
        self.dies[die.idx()].frontier = Frontier::behind(&self.geometry, block, programmed);
    }
}
