//! Page mapping: any logical page on any physical page, with the whole map in DRAM. [`crate::ftl::paged::pages`] has frontiers
//! and collection. Source: Ban 1995; Agrawal et al. 2008 for the organisation by dies.

use std::hint::cold_path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::{BlockTable, StartPages};
use crate::ftl::flat_map::FlatMap;
pub use crate::ftl::paged::pages::spare_blocks_per_die;
use crate::ftl::paged::pages::{Owner, Pages};
use crate::ftl::paged::steady;
use crate::ftl::plan::{Plan, PlanIndex};
use crate::ftl::{Allocation, Context, DriveSize, Frontiers, Ftl, Room, Scheme, Setup, Steady};
use crate::ftl::{Claims, IdlePace, RestoredDrive};
use crate::models::mapping_memory::Tables;
use crate::nand::{Array, Geometry, Pace};
use crate::operation::Cause;
use crate::recovery::scan::Found;
use flashwatt_base::error::Error;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::progress::Watch;
use flashwatt_base::rng::Rng;
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};
use flashwatt_core::connector::Extent;

/// Bytes of a map entry in the drive's DRAM.
const ENTRY_BYTES: u64 = 4;
const UNITS_PER_PAGE_MAX: u32 = 32;
/// Logical pages from which on a steady start state is kept as a formula. To fill the tables takes about 50 ns a page; a first
/// look-up by the formula takes about 200 ns more than one in the table.
const FORMULA_UNITS: u32 = 1 << 25;

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

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The die that a page is written to.
    pub allocation: Allocation,
    /// Whether the host and garbage collection write to separate blocks.
    pub separate_frontiers: bool,
    /// Bytes that one map entry covers: `page_bytes` divided by a power of two, ≥ 512.
    pub map_unit_bytes: u32,
}

impl Scheme for PageFtl {
    const DOC: &'static str = "page mapping, the whole map in DRAM";
    const COLLECTS: bool = true;
    const HAS_ROWS: bool = true;
    const STARTS_MAPPED: bool = true;
    const BEFORE_BLOCKS: u32 = 1;
    const HAS_CHECKPOINTS: bool = true;
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.page);
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

    /// With sub-page mapping a block can hold almost a page of unused map units and still not be worth collecting. So each
    /// block needs one page more. The rest of a row may be pages without data as well ([`DriveSize::padded_pages`]).
    fn room(settings: &Settings, size: &DriveSize) -> Room {
        let spare_blocks = size.dies * spare_blocks_per_die(size.low_watermark_blocks, size.reserved_blocks);
        let scattered = if size.units_per_page > 1 { size.dies * size.die_blocks } else { 0 };
        Room {
            pages: size.logical_pages + spare_blocks * size.pages_per_block + scattered + size.padded_pages(),
            idle_pages: size.watermark_pages(settings.separate_frontiers),
            what: format!("in each of {} dies the low watermark and one more", size.dies),
        }
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        PageFtl {
            map: FlatMap::new(geometry),
            pages: Pages::new(settings.allocation, settings.separate_frontiers, setup, geometry),
            geometry: geometry.clone(),
        }
    }
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
    map: FlatMap,
    pages: Pages,
}

impl Owner for FlatMap {
    #[inline(always)]
    fn moved(&mut self, lpn: Lpn, from: Ppn, to: Ppn, _plan: &mut Plan) {
        debug_assert_eq!(self.get(lpn), Some(from));
        self.set(lpn, to);
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        FlatMap::prefetch(self, lpn);
    }
}

impl PageFtl {
    /// Maps a logical page to a new address, as part of operation `op`.
    #[inline(always)]
    fn remap(&mut self, lpn: Lpn, ppn: Ppn, op: PlanIndex, cx: &mut Context, plan: &mut Plan) {
        if let Some(old) = self.map.get(lpn) {
            let block = cx.blocks.set_invalid(old);
            plan.replaces(op, block);
        }
        self.map.set(lpn, ppn);
        cx.blocks.set_valid(ppn, lpn);
    }

    /// Plans the program of `units` logical pages from `lpn` on to one physical page. Partly written pages are read first.
    #[inline(always)]
    fn write_page(&mut self, extent: &Extent, i: u32, units: u32, ppn: Ppn, cx: &mut Context, plan: &mut Plan) {
        let lpn = Lpn(extent.first.0 + i);
        let mut read = None;
        if extent.head_partial || extent.tail_partial {
            cold_path();
            for j in (0..units).filter(|j| extent.is_partial(i + j)) {
                self.read_old(Lpn(lpn.0 + j), &mut read, plan);
            }
        }
        let op = plan.program(ppn, Cause::Host, read.map(|(op, _)| op));
        for j in 0..units {
            self.remap(Lpn(lpn.0 + j), Ppn(ppn.0 + j), op, cx, plan);
        }
    }

    /// Plans the read of the old content of a logical page, after the previous such read. No second read is planned for the
    /// same physical page; the first one then moves both units.
    fn read_old(&self, lpn: Lpn, last: &mut Option<(PlanIndex, u32)>, plan: &mut Plan) {
        let (old, is_blank) = match self.map.get(lpn) {
            Some(old) => (old, false),
            None => match self.map.unwritten(lpn) {
                Some(place) => (place, true),
                None => return,
            },
        };
        let page = self.geometry.page_of(old);
        let op = match *last {
            Some((op, read)) if read == page => op,
            before => plan.read_or_blank(old, is_blank, before.map(|(op, _)| op)),
        };
        plan.wants_units(op, 1);
        *last = Some((op, page));
    }

    /// Plans the read of a page that was never written, if it is on flash, and counts it otherwise. Returns the page that was read last.
    #[inline(never)]
    fn read_unwritten(&self, lpn: Lpn, last_page: u32, plan: &mut Plan) -> u32 {
        let Some(place) = self.map.unwritten(lpn) else {
            plan.unwritten_reads += 1;
            return last_page;
        };
        let page = self.geometry.page_of(place);
        if page != last_page {
            plan.read_blank(place, Cause::Host, None);
        }
        page
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
}

impl Ftl for PageFtl {
    fn read(&mut self, extent: &Extent, _cx: &mut Context, plan: &mut Plan) {
        plan.map_accesses += extent.pages;
        let (mut lpn, end, mut last_page) = (extent.first, extent.first.0 + extent.pages, u32::MAX);
        loop {
            if let Some(ppn) = self.map.get(lpn) {
                let page = self.geometry.page_of(ppn);
                if page != last_page {
                    plan.read(ppn, Cause::Host, None);
                    last_page = page;
                }
            } else {
                cold_path();
                last_page = self.read_unwritten(lpn, last_page, plan);
            }
            lpn.0 += 1;
            if lpn.0 == end {
                return;
            }
        }
    }

    fn write(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) -> u32 {
        let per_page = self.geometry.units_per_page;
        let mut done = 0;
        while done < extent.pages {
            let units = per_page.min(extent.pages - done);
            let Some(ppn) = self.pages.host_page(Lpn(extent.first.0 + done), &self.map, cx, plan) else { break };
            self.write_page(extent, done, units, ppn, cx, plan);
            done += units;
        }
        plan.map_accesses += done;
        done
    }

    fn home(&self, lpn: Lpn) -> Option<DieId> {
        self.pages.home(lpn)
    }

    fn pad(&mut self, block: BlockId, end: u32, cx: &mut Context, plan: &mut Plan) {
        self.pages.pad(block, end, &self.map, cx.blocks, plan);
    }

    /// All units go to one physical page.
    fn write_together(&mut self, units: &[Extent], cx: &mut Context, plan: &mut Plan) -> u32 {
        debug_assert!(units.len() <= self.geometry.units_per_page as usize);
        let Some(first) = units.first() else { return 0 };
        let Some(ppn) = self.pages.host_page(first.first, &self.map, cx, plan) else { return 0 };
        self.program_together(units, ppn, cx, plan);
        units.len() as u32
    }

    fn trim(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        plan.map_accesses += extent.pages;
        for i in (0..extent.pages).filter(|&i| !extent.is_partial(i)) {
            let lpn = Lpn(extent.first.0 + i);
            if let Some(old) = self.map.get(lpn) {
                self.map.remove(lpn);
                let block = cx.blocks.set_invalid(old);
                plan.wake(self.geometry.die_of_block(block));
            } else if self.map.unwritten(lpn).is_some() {
                self.map.remove(lpn);
            }
        }
    }

    fn wants_background(&self, die: DieId, blocks: &BlockTable) -> bool {
        self.pages.wants_background(die, &self.map, blocks)
    }

    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        self.pages.background(die, &mut self.map, cx, plan);
        self.pages.after_step(die, plan);
    }

    fn erased(&mut self, block: BlockId, cx: &mut Context, _plan: &mut Plan) {
        self.pages.erased(block, cx);
    }

    fn idle_pace(&self) -> Option<IdlePace> {
        self.pages.idle_pace()
    }

    fn has_idle_work(&self, blocks: &BlockTable) -> bool {
        self.pages.has_folds(&self.map, blocks)
    }

    fn idle_work(&mut self, cx: &mut Context, plan: &mut Plan) {
        for die in (0..self.geometry.dies).map(DieId) {
            if self.pages.begin_idle_fold(die, &self.map, cx) {
                self.pages.background(die, &mut self.map, cx, plan);
            }
        }
    }

    fn is_lazy(&self, die: DieId, blocks: &BlockTable) -> bool {
        self.pages.is_lazy(die, &self.map, blocks)
    }

    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error> {
        self.map.start(StartPages::InOrder);
        self.pages.fill(blocks, array, watch)
    }

    fn fill_mapped(&mut self, _blocks: &mut BlockTable, _array: &mut Array, before: &[BlockId]) -> bool {
        self.map.start_unwritten(before);
        true
    }

    fn fill_steady(
        &mut self,
        blocks: &mut BlockTable,
        array: &mut Array,
        rng: &mut Rng,
        pace: Pace,
        watch: &mut Watch,
    ) -> Result<Steady, Error> {
        let steady = self.pages.steady();
        if steady != Steady::Unknown {
            let by_formula = steady == Steady::Known && self.geometry.logical_units >= FORMULA_UNITS;
            if !by_formula {
                self.map.on_huge_pages();
                blocks.on_huge_pages();
            }
            let drive = steady::FreshDrive { map: &mut self.map, blocks, array, rng };
            steady::lay_down(&self.geometry, &mut self.pages, drive, pace, by_formula, watch)?;
        }
        Ok(steady)
    }

    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.get(lpn)
    }

    fn blank_place(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.unwritten(lpn)
    }

    #[inline]
    fn prefetch(&self, far: Lpn, near: Lpn, blocks: &BlockTable, array: &Array) {
        self.map.prefetch(far);
        if let Some(ppn) = self.map.find(near) {
            blocks.prefetch(ppn);
            array.prefetch(ppn);
        }
    }

    fn on_huge_pages(&self) {
        self.map.on_huge_pages();
    }

    fn mapping_bytes(&self) -> u64 {
        u64::from(self.geometry.logical_units) * ENTRY_BYTES
    }

    fn survives_cuts(&self) -> bool {
        true
    }

    fn rebuild(&mut self, found: &Found, blocks: &mut BlockTable, array: &mut Array) {
        self.map.rebuild(found);
        self.pages.rebuild(blocks, array);
    }

    fn save(&self, out: &mut StateWriter) {
        self.map.check_save(out);
        self.pages.save(out);
    }

    fn restore(&mut self, from: &mut StateReader, drive: &RestoredDrive) -> Result<(), Flaw> {
        let of_map = |_, _| Err(Flaw::damaged("a page of no logical one"));
        drive.blocks.restore_map(self.map.entries(), drive.array, of_map)?;
        let mut claims = Claims::new(drive);
        self.pages.restore(from, &mut claims, drive)?;
        claims.has_every_victim(drive)
    }
}
