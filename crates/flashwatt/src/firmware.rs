//! The deciding half of the drive: translation layer, block state, random numbers, and the plan they fill.

use crate::blocks::BlockTable;
use crate::connector::{Extent, Upcoming};
use crate::device::spare::Found;
use crate::device::{Array, Geometry, WearView};
use crate::error::{Error, Fault};
use crate::ftl::{self, Context, Ftl, Plan, PlanNumber, Setup};
use crate::rng::Rng;
use crate::units::{BlockId, DieId, OpId, Ppn};

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
    /// Blocks kept for the content of the write buffer at a power cut, sorted by die; none in runs without cuts.
    pub dump_blocks: Vec<BlockId>,
    /// Blocks kept for the recovery log, sorted by die; none for a drive without one.
    pub log_blocks: Vec<BlockId>,
    /// Blocks kept for backups of pages that share cells with others, sorted by die; none for a drive without them.
    pub backup_blocks: Vec<BlockId>,
    /// Blocks kept for the journal of the write buffer, sorted by die; none for a drive without one.
    pub journal_blocks: Vec<BlockId>,
}

impl Firmware {
    /// The deciding half of an empty drive.
    pub fn new(settings: &ftl::Settings, setup: &Setup, seed: u64, geometry: &Geometry) -> Self {
        Firmware {
            ftl: ftl::build(settings, setup, geometry),
            blocks: BlockTable::new(geometry.clone()),
            rng: Rng::new(seed ^ STREAM),
            plan: Plan::default(),
            dump_blocks: Vec::new(),
            log_blocks: Vec::new(),
            backup_blocks: Vec::new(),
            journal_blocks: Vec::new(),
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

    /// Takes the erased blocks of each die that are kept for the recovery from a power cut.
    ///
    /// # Errors
    /// The die that lacks such a block, if one does.
    pub fn keep_recovery_blocks(&mut self) -> Result<(), DieId> {
        self.take_blocks(self.blocks.geometry().recovery_blocks).map(drop)
    }

    /// Keeps blocks of each die for the recovery from a power cut, and for the content of the write buffer at one. The translation
    /// layer never sees the latter.
    ///
    /// # Errors
    /// If the start state has left a die without such a block.
    pub fn keep_blocks_for_cuts(&mut self) -> Result<(), Error> {
        self.keep_recovery_blocks().map_err(|die| lacks("device", "the recovery from a power cut", die))?;
        let dump_blocks = self.keep_blocks(self.blocks.geometry().dump_blocks);
        self.dump_blocks =
            dump_blocks.map_err(|die| lacks("write_buffer.protection", "the content of the write buffer", die))?;
        Ok(())
    }

    /// Keeps blocks of each die for the recovery log, for backups and for the journal. The translation layer never sees them.
    ///
    /// # Errors
    /// If the start state has left a die without such a block.
    pub fn keep_own_blocks(&mut self) -> Result<(), Error> {
        let &Geometry { log_blocks, backup_blocks, journal_blocks, .. } = self.blocks.geometry();
        self.log_blocks = self.keep_blocks(log_blocks).map_err(|die| lacks("recovery", "the recovery log", die))?;
        self.backup_blocks =
            self.keep_blocks(backup_blocks).map_err(|die| lacks("device.nand.paired_pages", "backups", die))?;
        self.journal_blocks =
            self.keep_blocks(journal_blocks).map_err(|die| lacks("write_buffer.protection", "the journal", die))?;
        Ok(())
    }

    /// Takes erased blocks of each die from the translation layer for good. Returns the die that lacks them, if one does.
    fn keep_blocks(&mut self, of_die: u32) -> Result<Vec<BlockId>, DieId> {
        let kept = self.take_blocks(of_die)?;
        kept.iter().for_each(|&block| self.blocks.condemn(block));
        Ok(kept)
    }

    /// Takes erased blocks of each die. Returns the die that lacks them, if one does.
    fn take_blocks(&mut self, of_die: u32) -> Result<Vec<BlockId>, DieId> {
        let each = (0..self.blocks.geometry().dies).flat_map(|die| (0..of_die).map(move |_| DieId(die)));
        each.map(|die| self.blocks.take_free(die, None).ok_or(die)).collect()
    }

    /// A block's erase has ended. The plan then lists the dies that may have background work.
    pub fn erased(&mut self, block: BlockId, array: &Array) {
        self.plan.clear();
        let kept = [&self.dump_blocks, &self.log_blocks, &self.backup_blocks, &self.journal_blocks];
        if kept.iter().any(|kept| kept.contains(&block)) {
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
fn lacks(key: &str, what: &str, die: DieId) -> Error {
    let fault = Fault::key(key, format!("the start state leaves no erased block for {what}"));
    fault.found(format!("die {die}")).help("raise device.op_ratio or device.spare_fraction").into()
}
