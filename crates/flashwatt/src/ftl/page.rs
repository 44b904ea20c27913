//! Page mapping: any logical page on any physical page, the whole map in DRAM.
//!
//! Writes go round robin over the dies, channels first (SPEC A2), or to the die that the address gives (`static`). Each
//! die has a block that the host writes to and one that collection writes to, or one for both. A die collects when its
//! free blocks run low; it copies within the die. The last free blocks are kept for collection, so that it can always
//! finish. Source: Ban 1995; Agrawal et al. 2008 for the organisation by dies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::BlockTable;
use super::plan::{Cause, Chosen, OpKind, Plan, PlanIndex};
use super::{Context, Extent, Ftl, Room, Scheme, Size, steady};
use crate::config::{Allocation, Checker, Config, field};
use crate::device::{Array, Geometry};
use crate::gc::VictimPolicy;
use crate::mem::{Table, prefetch, zeroed};
use crate::rng::Rng;
use crate::units::{BlockId, DieId, Lpn, Ppn};
use crate::wear::WearPolicy;

/// Bytes of a map entry in the drive's DRAM.
const ENTRY_BYTES: u64 = 4;
const UNITS_PER_PAGE_MAX: u32 = 32;

/// `[ftl.page]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Which die a page is written to: `dynamic` (round robin, channels first) or `static` (logical page modulo dies).
    pub allocation: Option<Allocation>,
    /// Write frontiers in a die: `separate` for the host and garbage collection, or `shared`.
    pub frontiers: Option<Frontiers>,
    /// Bytes that one map entry covers: the page, or a power-of-two part of it (sub-page mapping).
    pub map_unit_bytes: Option<u32>,
}

/// Write frontiers in a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frontiers {
    /// The host and garbage collection write to blocks of their own.
    Separate,
    /// They fill the same block.
    Shared,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Which die a page is written to.
    pub allocation: Allocation,
    /// Do the host and garbage collection write to blocks of their own?
    pub separate_frontiers: bool,
    /// Bytes that one map entry covers: `page_bytes` divided by a power of two, ≥ 512.
    pub map_unit_bytes: u32,
}

impl Scheme for PageFtl {
    const DOC: &'static str = "page mapping, the whole map in DRAM";
    const COLLECTS: bool = true;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.page";
        Settings {
            allocation: c.choice(field!(TABLE, options.allocation), Allocation::Dynamic),
            separate_frontiers: c.choice(field!(TABLE, options.frontiers), Frontiers::Separate) == Frontiers::Separate,
            map_unit_bytes: options.map_unit_bytes.map_or(page_bytes, |unit| map_unit(c, unit, page_bytes)),
        }
    }

    fn map_unit_bytes(settings: &Settings, _page_bytes: u32) -> u32 {
        settings.map_unit_bytes
    }

    /// Under sub-page mapping a block can lose nearly a page in units that hold nothing, and still not be worth collecting:
    /// one page more for each block.
    fn room(_settings: &Settings, size: &Size) -> Room {
        let spare_blocks = size.dies * spare_blocks_per_die(size.low_watermark_blocks, size.reserved_blocks);
        let scattered = if size.units_per_page > 1 { size.dies * size.die_blocks } else { 0 };
        Room {
            pages: size.logical_pages + spare_blocks * size.pages_per_block + scattered,
            what: format!("in each of {} dies the low watermark and one more", size.dies),
        }
    }

    fn new(settings: &Settings, config: &Config, geometry: &Geometry) -> Self {
        PageFtl {
            map: zeroed(geometry.logical_units as usize).into(),
            dies: vec![Die::default(); geometry.dies as usize].into(),
            next_die: 0,
            allocation: settings.allocation,
            separate_frontiers: settings.separate_frontiers,
            copyback: config.device.nand.copyback,
            low_watermark: config.gc.low_watermark_blocks,
            reserved: config.gc.reserved_blocks,
            policy: crate::gc::build(&config.gc.policy),
            policy_is_greedy: config.gc.policy.name == "greedy",
            wear: crate::wear::build(&config.wear),
            geometry: geometry.clone(),
        }
    }
}

/// Blocks that must be spare in a die for garbage collection always to have somewhere to go: the low watermark (or, if that
/// is more, one block above what is reserved for collection), and one block in part filled.
pub fn spare_blocks_per_die(low_watermark_blocks: u32, reserved_blocks: u32) -> u128 {
    u128::from(low_watermark_blocks.max(reserved_blocks.saturating_add(1))) + 1
}

fn map_unit(c: &mut Checker, unit: u32, page_bytes: u32) -> u32 {
    let least = (page_bytes / UNITS_PER_PAGE_MAX).max(512);
    if (least..=page_bytes).contains(&unit) && unit.is_power_of_two() {
        return unit;
    }
    if c.clean("device.page_bytes") {
        let fault = c.fault("ftl.page.map_unit_bytes", "does not divide the page").found(unit);
        c.push(fault.expected(format!("a power of two from {least} to the page's {page_bytes} bytes")));
    }
    page_bytes
}

/// The translation layer.
pub struct PageFtl {
    geometry: Geometry,
    /// Physical address (+ 1) of each logical page; 0 for none.
    map: Table<u32>,
    dies: Table<Die>,
    /// Whose turn it is among the dies.
    next_die: u32,
    allocation: Allocation,
    separate_frontiers: bool,
    copyback: bool,
    low_watermark: u32,
    reserved: u32,
    policy: Box<dyn VictimPolicy>,
    policy_is_greedy: bool,
    wear: Box<dyn WearPolicy>,
}

/// Where a die is written to, and what is being collected there.
#[derive(Clone, Default)]
struct Die {
    host: Frontier,
    gc: Frontier,
    /// What a move of cold data left over of the block that it filled; collection writes there next.
    leftover: Frontier,
    job: Option<Job>,
}

/// The next address to be written in an open block, up to the block's end.
#[derive(Clone, Copy, Default)]
struct Frontier {
    next: u32,
    end: u32,
}

impl Frontier {
    fn at(geometry: &Geometry, block: BlockId) -> Self {
        let first = geometry.first_ppn(block).0;
        Frontier { next: first, end: first + geometry.units_per_block }
    }

    #[inline(always)]
    fn is_full(self) -> bool {
        self.next == self.end
    }

    #[inline(always)]
    fn take(&mut self, units: u32) -> Ppn {
        let ppn = Ppn(self.next);
        self.next += units;
        ppn
    }
}

/// The collection of one block.
#[derive(Clone, Copy)]
struct Job {
    victim: BlockId,
    /// The map unit of the victim at which the search for valid ones goes on; past its end only the erase is left.
    cursor: u32,
    cause: Cause,
    /// Is the erase planned?
    erasing: bool,
    /// The block whose data moves into the victim once it is erased.
    then_move: BlockId,
    /// Where copies go instead of the die's own frontier.
    into: Option<Frontier>,
}

impl PageFtl {
    #[inline(always)]
    fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.map[lpn.idx()].checked_sub(1).map(Ppn)
    }

    /// The physical page for a host write that begins at `lpn`, if any die that it may go to has one.
    #[inline(always)]
    fn host_page(&mut self, lpn: Lpn, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        match self.allocation {
            Allocation::Static => {
                let die = DieId(lpn.0 / self.geometry.units_per_page % self.geometry.dies);
                self.host_page_on(die, cx, plan)
            }
            Allocation::Dynamic => {
                for _ in 0..self.geometry.dies {
                    let die = DieId(self.next_die);
                    self.next_die = if die.0 + 1 == self.geometry.dies { 0 } else { die.0 + 1 };
                    if let Some(ppn) = self.host_page_on(die, cx, plan) {
                        return Some(ppn);
                    }
                }
                None
            }
        }
    }

    #[inline(always)]
    fn host_page_on(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) -> Option<Ppn> {
        if self.dies[die.idx()].host.is_full() && !self.open_host_block(die, cx, plan) {
            return None;
        }
        if !self.separate_frontiers && cx.blocks.free_blocks(die) < self.reserved {
            // Collection has taken the reserve: what is left of the shared block is for its copies.
            plan.wake(die);
            return None;
        }
        Some(self.dies[die.idx()].host.take(self.geometry.units_per_page))
    }

    fn open_host_block(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) -> bool {
        let free = cx.blocks.free_blocks(die);
        if free <= self.low_watermark {
            plan.wake(die);
        }
        if free <= self.reserved {
            // What a move left over is the last that the host gets; collection may have nothing else to gain.
            let die = &mut self.dies[die.idx()];
            die.host = std::mem::take(&mut die.leftover);
            return !die.host.is_full();
        }
        match self.take_block(die, cx) {
            Some(block) => {
                self.dies[die.idx()].host = Frontier::at(&self.geometry, block);
                true
            }
            None => false,
        }
    }

    fn take_block(&self, die: DieId, cx: &mut Context) -> Option<BlockId> {
        cx.blocks.take_free(die, self.wear.least_worn_first().then_some(cx.array))
    }

    /// The page that a copy on this die goes to.
    fn copy_page(&mut self, die: DieId, cx: &mut Context) -> Option<Ppn> {
        let units = self.geometry.units_per_page;
        if let Some(Job { into: Some(into), .. }) = &mut self.dies[die.idx()].job {
            return Some(into.take(units));
        }
        if self.copy_frontier(die).is_full() {
            let leftover = std::mem::take(&mut self.dies[die.idx()].leftover);
            *self.copy_frontier(die) =
                if leftover.is_full() { Frontier::at(&self.geometry, self.take_block(die, cx)?) } else { leftover };
        }
        Some(self.copy_frontier(die).take(units))
    }

    fn copy_frontier(&mut self, die: DieId) -> &mut Frontier {
        let separate = self.separate_frontiers;
        let die = &mut self.dies[die.idx()];
        if separate { &mut die.gc } else { &mut die.host }
    }

    /// Directs the logical page to a new address as part of operation `op`.
    #[inline(always)]
    fn remap(&mut self, lpn: Lpn, ppn: Ppn, op: PlanIndex, cx: &mut Context, plan: &mut Plan) {
        if let Some(old) = self.get(lpn) {
            let block = cx.blocks.set_invalid(old);
            plan.replaces(op, block);
        }
        self.map[lpn.idx()] = ppn.0 + 1;
        cx.blocks.set_valid(ppn, lpn);
    }

    /// Plans the program of `units` logical pages from `lpn` on to one physical page. Those of which only a part is written
    /// are read first.
    #[inline(always)]
    fn write_page(&mut self, extent: &Extent, i: u32, units: u32, ppn: Ppn, cx: &mut Context, plan: &mut Plan) {
        let lpn = Lpn(extent.first.0 + i);
        let mut read = None;
        if extent.head_partial || extent.tail_partial {
            for j in (0..units).filter(|j| extent.is_partial(i + j)) {
                self.read_old(Lpn(lpn.0 + j), &mut read, plan);
            }
        }
        let op = plan.program(ppn, Cause::Host, read.map(|(op, _)| op));
        for j in 0..units {
            self.remap(Lpn(lpn.0 + j), Ppn(ppn.0 + j), op, cx, plan);
        }
    }

    /// Plans the read of what a logical page holds until now, after the last of its kind, which it need not repeat if that
    /// was of the same physical page.
    fn read_old(&self, lpn: Lpn, last: &mut Option<(PlanIndex, u32)>, plan: &mut Plan) {
        let Some(old) = self.get(lpn) else { return };
        let page = self.geometry.page_of(old);
        if last.is_none_or(|(_, read)| read != page) {
            *last = Some((plan.read(old, Cause::Host, last.map(|(op, _)| op)), page));
        }
    }

    /// Plans the program of single logical pages from anywhere to one physical page.
    fn program_together(&mut self, pages: &[Extent], ppn: Ppn, cx: &mut Context, plan: &mut Plan) {
        let mut read = None;
        for page in pages.iter().filter(|page| page.is_partial(0)) {
            self.read_old(page.first, &mut read, plan);
        }
        let op = plan.program(ppn, Cause::Host, read.map(|(op, _)| op));
        for (page, unit) in pages.iter().zip(0..) {
            self.remap(page.first, Ppn(ppn.0 + unit), op, cx, plan);
        }
        plan.map_accesses += pages.len() as u32;
    }

    /// How many of these pages, from the first on, may share a physical page: with static allocation those of one die.
    fn may_share(&self, pages: &[Extent]) -> usize {
        let die = |page: &Extent| page.first.0 / self.geometry.units_per_page % self.geometry.dies;
        match self.allocation {
            Allocation::Dynamic => pages.len(),
            Allocation::Static => pages.iter().take_while(|page| die(page) == die(&pages[0])).count(),
        }
    }

    /// Starts the collection of a block, if the die is low on free ones and a block has something to gain.
    fn start_job(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        if cx.blocks.free_blocks(die) >= self.low_watermark {
            return;
        }
        let view = cx.blocks.view(die, cx.array);
        let Some(choice) = self.policy.choose(&view, cx.rng) else { return };
        let can_move = self.dies[die.idx()].leftover.is_full();
        let then_move = can_move.then(|| self.wear.swap(choice.block, &view)).flatten().unwrap_or(BlockId::NONE);
        let units = f64::from(self.geometry.units_per_block);
        plan.notes().chosen = Some(Chosen {
            searches: choice.searches,
            die_valid_fraction: cx.blocks.valid_fraction(die, cx.array),
            victim_valid_fraction: f64::from(cx.blocks.valid_units(choice.block)) / units,
        });
        cx.blocks.condemn(choice.block);
        if then_move.is_some() {
            cx.blocks.condemn(then_move);
        }
        self.dies[die.idx()].job =
            Some(Job { victim: choice.block, cursor: 0, cause: Cause::Gc, erasing: false, then_move, into: None });
        for lpn in cx.blocks.valid_lpns(choice.block) {
            prefetch(&self.map, lpn.idx());
        }
    }

    /// Plans the copy of the next valid pages of the victim, or its erase once there are none.
    #[inline(always)]
    fn step(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        let Some(job) = &mut self.dies[die.idx()].job else { return };
        let (victim, cause) = (job.victim, job.cause);
        let Some(unit) = cx.blocks.next_valid(victim, job.cursor) else {
            job.erasing = true;
            plan.erase(self.geometry.first_ppn(victim), cause);
            return;
        };
        let Some(to) = self.copy_page(die, cx) else { return };
        let cursor = self.copy(victim, unit, to, cause, cx, plan);
        if let Some(job) = &mut self.dies[die.idx()].job {
            job.cursor = cursor;
        }
    }

    /// Plans the copy of as many valid map units of a block as fit one page, from `unit` on. Returns where to go on.
    #[inline(always)]
    fn copy(&mut self, block: BlockId, unit: u32, to: Ppn, cause: Cause, cx: &mut Context, plan: &mut Plan) -> u32 {
        if self.geometry.units_per_page > 1 {
            return self.copy_units(block, unit, to, cause, cx, plan);
        }
        let from = Ppn(self.geometry.first_ppn(block).0 + unit);
        let lpn = cx.blocks.move_from_victim(block, from, to);
        debug_assert_eq!(self.get(lpn), Some(from));
        self.map[lpn.idx()] = to.0 + 1;
        plan.map_accesses += 1;
        let kind = if self.copyback { OpKind::Copyback } else { OpKind::Copy };
        plan.copy(kind, from, to, cause, block);
        unit + 1
    }

    #[inline(never)]
    fn copy_units(
        &mut self,
        block: BlockId,
        unit: u32,
        to: Ppn,
        cause: Cause,
        cx: &mut Context,
        plan: &mut Plan,
    ) -> u32 {
        let (sources, rest) = self.gather(block, unit, cx);
        let mut read = None;
        for (i, &source) in sources.iter().enumerate() {
            if i == 0 || self.geometry.page_of(source) != self.geometry.page_of(sources[i - 1]) {
                read = Some(plan.read(source, cause, read));
            }
        }
        let op = plan.program(to, cause, read);
        for (i, &source) in sources.iter().enumerate() {
            let lpn = cx.blocks.move_from_victim(block, source, Ppn(to.0 + i as u32));
            debug_assert_eq!(self.get(lpn), Some(source));
            self.map[lpn.idx()] = to.0 + i as u32 + 1;
        }
        plan.map_accesses += sources.len() as u32;
        plan.replaces(op, block);
        rest
    }

    fn gather(&self, block: BlockId, from: u32, cx: &Context) -> (Units, u32) {
        let mut sources = Units::default();
        let mut next = from;
        while sources.len() < self.geometry.units_per_page as usize {
            let Some(unit) = cx.blocks.next_valid(block, next) else { break };
            sources.push(Ppn(self.geometry.first_ppn(block).0 + unit));
            next = unit + 1;
        }
        (sources, next)
    }

    /// A worn victim has been erased: the coldest block's data moves into it.
    fn start_move(&mut self, die: DieId, worn: BlockId, cold: BlockId) {
        self.dies[die.idx()].job = Some(Job {
            victim: cold,
            cursor: 0,
            cause: Cause::Wear,
            erasing: false,
            then_move: BlockId::NONE,
            into: Some(Frontier::at(&self.geometry, worn)),
        });
    }
}

impl Ftl for PageFtl {
    fn read(&mut self, extent: Extent, _cx: &mut Context, plan: &mut Plan) {
        plan.map_accesses += extent.pages;
        let (mut lpn, end, mut last_page) = (extent.first, extent.first.0 + extent.pages, u32::MAX);
        loop {
            if let Some(ppn) = self.get(lpn) {
                let page = self.geometry.page_of(ppn);
                if page != last_page {
                    plan.read(ppn, Cause::Host, None);
                    last_page = page;
                }
            } else {
                plan.unwritten_reads += 1;
            }
            lpn.0 += 1;
            if lpn.0 == end {
                return;
            }
        }
    }

    fn write(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) -> u32 {
        let per_page = self.geometry.units_per_page;
        let mut done = 0;
        while done < extent.pages {
            let units = per_page.min(extent.pages - done);
            let Some(ppn) = self.host_page(Lpn(extent.first.0 + done), cx, plan) else { break };
            self.write_page(&extent, done, units, ppn, cx, plan);
            done += units;
        }
        plan.map_accesses += done;
        done
    }

    fn write_together(&mut self, pages: &[Extent], cx: &mut Context, plan: &mut Plan) -> u32 {
        let together = &pages[..self.may_share(pages).min(self.geometry.units_per_page as usize)];
        let Some(ppn) = together.first().and_then(|page| self.host_page(page.first, cx, plan)) else { return 0 };
        self.program_together(together, ppn, cx, plan);
        together.len() as u32
    }

    fn trim(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) {
        plan.map_accesses += extent.pages;
        for i in (0..extent.pages).filter(|&i| !extent.is_partial(i)) {
            let lpn = Lpn(extent.first.0 + i);
            if let Some(old) = self.get(lpn) {
                self.map[lpn.idx()] = 0;
                let block = cx.blocks.set_invalid(old);
                plan.wake(self.geometry.die_of_block(block));
            }
        }
    }

    fn wants_background(&self, die: DieId, blocks: &BlockTable) -> bool {
        match &self.dies[die.idx()].job {
            Some(job) => !job.erasing,
            None => blocks.free_blocks(die) < self.low_watermark,
        }
    }

    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        match &self.dies[die.idx()].job {
            Some(job) if job.erasing => return,
            Some(_) => {}
            None => self.start_job(die, cx, plan),
        }
        self.step(die, cx, plan);
    }

    fn erased(&mut self, block: BlockId, cx: &mut Context, _plan: &mut Plan) {
        let die = self.geometry.die_of_block(block);
        match self.dies[die.idx()].job.take() {
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

    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array) {
        let geometry = self.geometry.clone();
        let stripe = geometry.units_per_page;
        let pages = geometry.logical_units.div_ceil(stripe);
        for lpn in (0..geometry.logical_units).map(Lpn) {
            self.map[lpn.idx()] = geometry.filled_ppn(lpn).0 + 1;
        }
        for die in (0..geometry.dies).map(DieId) {
            let mut left = (pages + geometry.dies - 1 - die.0) / geometry.dies;
            for block in geometry.blocks_of(die) {
                let here = left.min(geometry.pages_per_block);
                if here == 0 {
                    break;
                }
                left -= here;
                let page_in_die = (block.0 % geometry.blocks_per_die) * geometry.pages_per_block;
                let first = geometry.first_ppn(block).0;
                array.lay_down(block, here);
                blocks.lay_down(block, here * stripe, |ppn| {
                    let (page, unit) = (page_in_die + (ppn.0 - first) / stripe, (ppn.0 - first) % stripe);
                    let lpn = (page * geometry.dies + die.0) * stripe + unit;
                    (lpn < geometry.logical_units).then_some(Lpn(lpn))
                });
                if here < geometry.pages_per_block {
                    let mut frontier = Frontier::at(&geometry, block);
                    frontier.next += here * stripe;
                    self.dies[die.idx()].host = frontier;
                }
            }
        }
    }

    fn fill_steady(&mut self, blocks: &mut BlockTable, array: &mut Array, rng: &mut Rng) -> bool {
        if !self.policy_is_greedy || self.allocation != Allocation::Dynamic || self.geometry.units_per_page != 1 {
            return false;
        }
        steady::lay_down(&self.geometry, self.low_watermark, &mut self.map, blocks, array, rng);
        true
    }

    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.get(lpn)
    }

    #[inline]
    fn prefetch(&self, far: Lpn, near: Lpn, blocks: &BlockTable, array: &Array) {
        prefetch(&self.map, far.idx());
        if let Some(ppn) = self.map.get(near.idx()).and_then(|entry| entry.checked_sub(1)).map(Ppn) {
            blocks.prefetch(ppn);
            array.prefetch(ppn);
        }
    }

    fn mapping_bytes(&self) -> u64 {
        u64::from(self.geometry.logical_units) * ENTRY_BYTES
    }
}

/// The sources of one copy: as many as a page has map units, at most 32.
#[derive(Default)]
struct Units {
    ppns: [Ppn; 32],
    len: usize,
}

impl Units {
    fn push(&mut self, ppn: Ppn) {
        self.ppns[self.len] = ppn;
        self.len += 1;
    }
}

impl std::ops::Deref for Units {
    type Target = [Ppn];

    fn deref(&self) -> &[Ppn] {
        &self.ppns[..self.len]
    }
}
