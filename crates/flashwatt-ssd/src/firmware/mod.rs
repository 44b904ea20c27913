//! The deciding half of the drive: translation layer, block state, random numbers, and the plan they fill.

pub mod clockless;
pub mod paced;

use crate::blocks::BlockTable;
use crate::ftl::{self, Context, Ftl, Plan, PlanNumber, Setup};
use crate::nand::reserve::{ReserveRow, Runs};
use crate::nand::{Array, Geometry, Reserve, ReservedBlocks, WearView};
use crate::recovery::scan::Found;
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{BlockId, DieId, OpId, Ppn};
use flashwatt_core::connector::{Extent, Upcoming};

/// Separates the drive's random draws from those of the workload, which use the same seed.
const STREAM: u64 = 0xd1ce;

/// The deciding half of the drive. It knows no time.
pub struct Firmware {
    /// The translation layer.
    pub ftl: Box<dyn Ftl>,
    /// Validity, free lists, candidates.
    pub blocks: BlockTable,
    /// The run's random numbers.
    pub rng: Rng,
    /// The plan of the last call.
    pub plan: Plan,
    /// Blocks that the drive keeps for itself.
    pub reserved: ReservedBlocks,
}

impl Firmware {
    /// The deciding half of an empty drive.
    pub fn new(settings: &ftl::Settings, setup: &Setup, seed: u64, geometry: &Geometry) -> Self {
        Firmware {
            ftl: ftl::build(settings, setup, geometry),
            blocks: BlockTable::new(geometry.clone()),
            rng: Rng::new(seed ^ STREAM),
            plan: Plan::default(),
            reserved: ReservedBlocks::default(),
        }
    }

    /// Asks the system for huge pages for the tables of a drive that will be used in most places. Changes no result.
    pub fn on_huge_pages(&self) {
        self.ftl.on_huge_pages();
        self.blocks.on_huge_pages();
    }

    /// Fetches what requests to come will touch into the machine's caches.
    #[inline(always)]
    pub fn prefetch(&self, upcoming: &Upcoming, array: &Array) {
        let geometry = self.blocks.geometry();
        let (far, near) = (geometry.lpn_of_byte(upcoming.far_bytes), geometry.lpn_of_byte(upcoming.near_bytes));
        self.ftl.prefetch(far, near, &self.blocks, array);
    }

    /// Plans a read.
    #[inline]
    pub fn read(&mut self, extent: &Extent, array: &Array) {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.read(extent, &mut cx, &mut self.plan);
    }

    /// Plans a read of several extents.
    pub fn read_runs(&mut self, runs: &[Extent], array: &Array) {
        self.plan.clear();
        for run in runs {
            let at = self.plan.ops().len();
            let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
            self.ftl.read(run, &mut cx, &mut self.plan);
            let geometry = self.blocks.geometry();
            self.plan.join_reads(at, |a, b| geometry.page_of(a) == geometry.page_of(b));
        }
    }

    /// Plans a write of extents that leave the write buffer together. Returns how many of their pages found room.
    pub fn write_together(&mut self, extents: &[Extent], array: &Array) -> u32 {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.write_together(extents, &mut cx, &mut self.plan)
    }

    /// Plans a write; returns how many of its pages found room.
    #[inline]
    pub fn write(&mut self, extent: &Extent, array: &Array) -> u32 {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.write(extent, &mut cx, &mut self.plan)
    }

    /// Plans a trim.
    pub fn trim(&mut self, extent: &Extent, array: &Array) {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.trim(extent, &mut cx, &mut self.plan);
    }

    /// Plans the next step of a die's background work.
    #[inline]
    pub fn background(&mut self, die: DieId, array: &Array) {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.background(die, &mut cx, &mut self.plan);
    }

    /// Plans pages without data up to page `end` of an open block, the end of a row.
    pub fn pad(&mut self, block: BlockId, end: u32, array: &Array) {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.pad(block, end, &mut cx, &mut self.plan);
    }

    /// Plans the next piece of the work for an idle drive.
    pub fn idle_work(&mut self, array: &Array) {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.idle_work(&mut cx, &mut self.plan);
    }

    /// The deciding half of a drive after a power cut, from what a scan of all spare areas found. Plan numbers go on from `next`.
    pub fn rebuilt(mut self, found: &Found, array: &mut Array, next: PlanNumber) -> Self {
        self.blocks = BlockTable::rebuilt(found, array);
        self.ftl.rebuild(found, &mut self.blocks, array);
        self.plan.number_from(next);
        self
    }

    /// Plans the next piece of the recovery from a power cut.
    pub fn recover(&mut self, array: &Array) {
        self.plan.clear();
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.recover(&mut cx, &mut self.plan);
    }

    /// Takes the erased blocks of each die that are kept for the recovery from a power cut. The translation layer goes on to see them.
    ///
    /// # Errors
    /// The die that lacks such a block, if one does.
    pub fn keep_recovery_blocks(&mut self) -> Result<(), DieId> {
        self.take_blocks(Reserve::Recovery).map(drop)
    }

    /// Keeps the blocks of each reserve that a drive has in these runs.
    ///
    /// # Errors
    /// If the start state has left a die without such a block.
    pub fn keep_blocks(&mut self, runs: Runs) -> Result<(), Error> {
        for row in Reserve::rows_of(runs) {
            let taken = self.take_blocks(row.reserve).map_err(|die| lacks(row, die))?;
            if !row.is_of_layer {
                taken.iter().for_each(|&block| self.blocks.condemn(block));
                self.reserved[row.reserve] = taken;
            }
        }
        Ok(())
    }

    /// Takes the erased blocks of each die that a reserve asks for. Returns the die that lacks them, if one does.
    fn take_blocks(&mut self, reserve: Reserve) -> Result<Vec<BlockId>, DieId> {
        let of_die = self.blocks.geometry().reserves[reserve];
        let each = (0..self.blocks.geometry().dies).flat_map(|die| (0..of_die).map(move |_| DieId(die)));
        each.map(|die| self.blocks.take_free(die, None).ok_or(die)).collect()
    }

    /// A block's erase has ended. The plan then lists the dies that may have background work.
    pub fn erased(&mut self, block: BlockId, array: &Array) {
        self.plan.clear();
        if self.reserved.contains(block) {
            self.blocks.erased(block);
            return self.blocks.keep_apart(block);
        }
        let mut cx = Context { blocks: &mut self.blocks, wear: WearView::new(array), rng: &mut self.rng };
        self.ftl.erased(block, &mut cx, &mut self.plan);
    }

    /// Programs a page as a whole, in a run that has no phases of operations. Returns its die if that fills the block: the die may
    /// have background work.
    #[inline]
    pub fn program_whole(&mut self, ppn: Ppn, array: &mut Array) -> Option<DieId> {
        let at = self.blocks.geometry().place(ppn);
        array.plan_program(at, OpId(0));
        array.start_program(at);
        array.end_program(at).then(|| {
            self.blocks.close(at.block);
            at.die
        })
    }

    /// Erases a block as a whole, as [`Self::program_whole`]. The plan then lists the dies that may have background work.
    pub fn erase_whole(&mut self, block: BlockId, array: &mut Array) {
        array.start_erase(block);
        array.end_erase(block);
        self.erased(block, array);
    }
}

/// The start state has left a die without a block for something.
fn lacks(row: &ReserveRow, die: DieId) -> Error {
    let fault = Fault::key(row.key, format!("the start state leaves no erased block for {}", row.purpose));
    fault.found(format!("die {die}")).help("raise device.op_ratio or device.spare_fraction").into()
}
