//! The core of the schemes that map whole blocks: a data block for each logical block, and the merges of blocks.
//!
//! A *logical block* is as many logical pages as a block has: consecutive ones, or, with stripes of pages, every n-th of n dies.
//! Its pages lie in its *data block* in order: page i at offset i. All data blocks of a logical block lie on one die, its home.
//! Homes go round the dies, channels first. A scheme's
//! further blocks (log blocks, replacement blocks) hold newer versions of some pages until they are merged:
//!
//! - [`DataBlocks::full_merge`]: the newest version of every page is copied to a fresh block, which becomes the data block;
//! - [`DataBlocks::take_over`]: a block that holds the first pages in order becomes the data block after the other pages have
//!   been copied to it (a partial merge; a switch merge if there are none).
//!
//! The old data block is erased. The scheme erases its own blocks that have become empty. Source: Kim et al. 2002.
//!
//! The simulator keeps the addresses of all pages in one table. The drive's own tables are those that the scheme declares.

mod persist;
mod rebuild;

use crate::blocks::BlockTable;
use crate::ftl::plan::{Plan, PlanIndex};
use crate::ftl::{Claims, RestoredDrive};
use crate::ftl::{Context, Ftl, Grain, IdlePace, Setup};
use crate::nand::settings::{BlockStripe, ProgramOrder};
use crate::nand::{Array, Geometry};
use crate::operation::{Cause, OpKind};
use crate::recovery::scan::Found;
use crate::recovery::spare::Ties;
use crate::wear::WearPolicy;
use flashwatt_base::error::Error;
use flashwatt_base::mem::{FlatTable, advise_huge, sparse};
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::progress::Watch;
use flashwatt_base::units::{BlockId, DieId, Lpn, Ppn};
use flashwatt_core::connector::Extent;
use rebuild::BlockRecovery;

/// The number of a logical block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lbn(pub u32);

impl Lbn {
    /// As an index.
    #[inline]
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A scheme of data blocks: its own part. The rest of [`Ftl`] is the same for all such schemes.
pub trait OnDataBlocks: Send {
    /// The scheme's data blocks.
    fn data(&self) -> &DataBlocks;

    /// The scheme's data blocks, to be changed.
    fn data_mut(&mut self) -> &mut DataBlocks;

    /// Plans a read.
    fn read(&mut self, extent: &Extent, _cx: &mut Context, plan: &mut Plan) {
        self.data().read(extent, plan);
    }

    /// Plans the write of pages of an extent from the `i`-th on. Returns how many pages it planned; 0 if there is no room.
    fn write_some(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> u32;

    /// The die that a logical page is written to, if its address alone decides that. It is the home of the logical block
    /// if no other blocks than its own data blocks and log blocks take its writes.
    fn home(&self, lpn: Lpn) -> Option<DieId> {
        let data = self.data();
        Some(data.home(data.logical_block(lpn)))
    }

    /// The pace of the scheme's work in an idle drive; none if it has no such work.
    fn idle_pace(&self) -> Option<IdlePace> {
        None
    }

    /// Whether there is work for an idle drive now.
    fn has_idle_work(&self) -> bool {
        false
    }

    /// Plans the next piece of the work for an idle drive.
    fn idle_work(&mut self, _cx: &mut Context, _plan: &mut Plan) {}

    /// Bytes of the drive's tables.
    fn mapping_bytes(&self) -> u64;

    /// After a power cut: takes over a block with valid pages that is no data block as one of the scheme's own, if it can be one.
    fn adopt(&mut self, _block: BlockId, _blocks: &BlockTable) -> bool {
        false
    }

    /// After a power cut: gives back the block that was adopted for a logical block alone, which must be merged.
    fn give_up(&mut self, _of: Lbn) -> Option<BlockId> {
        None
    }

    /// The recovery from a power cut has merged what had to be merged; what the scheme needs beside is put right.
    fn recovered(&mut self, _cx: &mut Context) {}

    /// Writes the scheme's state to a snapshot, without its data blocks.
    fn save_own(&self, _out: &mut StateWriter) {}

    /// Restores that state after the data blocks. At the end every block that the scheme uses has an owner.
    ///
    /// # Errors
    /// As [`Ftl::restore`].
    fn restore_own(
        &mut self,
        _from: &mut StateReader,
        _claims: &mut Claims,
        _drive: &RestoredDrive,
    ) -> Result<(), Flaw> {
        Ok(())
    }
}

impl<S: OnDataBlocks> Ftl for S {
    fn read(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        OnDataBlocks::read(self, extent, cx, plan);
    }

    fn write(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) -> u32 {
        let mut done = 0;
        while done < extent.pages {
            match self.write_some(extent, done, cx, plan) {
                0 => break,
                pages => done += pages,
            }
        }
        done
    }

    fn grain(&self) -> Grain {
        self.data().grain()
    }

    fn home(&self, lpn: Lpn) -> Option<DieId> {
        OnDataBlocks::home(self, lpn)
    }

    fn trim(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        self.data_mut().trim(extent, cx, plan);
    }

    fn wants_background(&self, die: DieId, _blocks: &BlockTable) -> bool {
        self.data().wants_background(die)
    }

    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        self.data_mut().background(die, cx, plan);
    }

    fn idle_pace(&self) -> Option<IdlePace> {
        OnDataBlocks::idle_pace(self)
    }

    fn has_idle_work(&self, _blocks: &BlockTable) -> bool {
        OnDataBlocks::has_idle_work(self)
    }

    fn idle_work(&mut self, cx: &mut Context, plan: &mut Plan) {
        OnDataBlocks::idle_work(self, cx, plan);
    }

    fn erased(&mut self, block: BlockId, cx: &mut Context, _plan: &mut Plan) {
        self.data_mut().erased(block, cx);
    }

    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error> {
        self.data_mut().fill(blocks, array, watch)
    }

    fn fill_mapped(&mut self, blocks: &mut BlockTable, _array: &mut Array, _before: &[BlockId]) -> bool {
        self.data_mut().fill_mapped(blocks);
        true
    }

    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.data().get(lpn)
    }

    fn blank_place(&self, lpn: Lpn) -> Option<Ppn> {
        self.data().blank_place(lpn)
    }

    fn on_huge_pages(&self) {
        self.data().on_huge_pages();
    }

    fn mapping_bytes(&self) -> u64 {
        OnDataBlocks::mapping_bytes(self)
    }

    fn merges(&self) -> bool {
        true
    }

    fn survives_cuts(&self) -> bool {
        true
    }

    fn ties(&self) -> Ties {
        Ties::Source
    }

    fn rebuild(&mut self, found: &Found, blocks: &mut BlockTable, array: &mut Array) {
        rebuild::rebuild(self, found, blocks, array);
    }

    fn recover(&mut self, cx: &mut Context, plan: &mut Plan) {
        self.data_mut().recover(cx, plan);
        if plan.ops().is_empty() {
            self.recovered(cx);
        }
    }

    fn save(&self, out: &mut StateWriter) {
        self.data().save(out);
        self.save_own(out);
    }

    fn restore(&mut self, from: &mut StateReader, drive: &RestoredDrive) -> Result<(), Flaw> {
        let mut claims = Claims::new(drive);
        self.data_mut().restore(from, &mut claims, drive)?;
        self.restore_own(from, &mut claims, drive)?;
        claims.has_every_used(drive)
    }
}

/// Bytes of an entry of a drive's table, for blocks or pages.
pub const ENTRY_BYTES: u64 = 4;

/// The map entry of a page that has its place in a data block, but was never written (start state `mapped`).
const BLANK: u32 = u32::MAX;

/// The map and the data blocks.
pub struct DataBlocks {
    geometry: Geometry,
    /// Logical blocks that consecutive pages go round: 1, or with stripes of pages the number of dies.
    lanes: u32,
    any_order: bool,
    copy_kind: OpKind,
    wear: Box<dyn WearPolicy>,
    /// Physical address (+ 1) of each logical page; 0 for none, [`BLANK`] for a place that was never written.
    map: FlatTable<u32>,
    /// Data block (+ 1) of each logical block; 0 for none.
    data: FlatTable<u32>,
    /// For each physical block, the number of pages up to the last one planned to be programmed.
    frontier: FlatTable<u16>,
    /// For each die, the pending move of cold data.
    moves: FlatTable<Option<Move>>,
    /// After a power cut, the logical blocks that must be merged, and the blocks that are no data blocks.
    recovery: BlockRecovery,
}

/// A move of cold data into a worn block.
#[derive(Clone, Copy)]
struct Move {
    worn: BlockId,
    cold: BlockId,
    /// The logical block of the cold data block.
    of: Lbn,
    /// Whether the worn block is erased and reserved for the move.
    ready: bool,
}

impl DataBlocks {
    /// Data blocks of an empty drive.
    pub fn new(setup: &Setup, geometry: &Geometry) -> Self {
        let lanes = match setup.block_stripe {
            BlockStripe::Block => 1,
            BlockStripe::Page => geometry.dies,
        };
        let logical_blocks = geometry.logical_units.div_ceil(lanes).div_ceil(geometry.pages_per_block) * lanes;
        DataBlocks {
            lanes,
            any_order: setup.nand.program_order == ProgramOrder::Any,
            copy_kind: OpKind::of_copies(setup.nand.copyback),
            wear: crate::wear::build(setup.wear),
            map: sparse(geometry.logical_units as usize).into(),
            data: vec![0; logical_blocks as usize].into(),
            frontier: vec![0; geometry.blocks as usize].into(),
            moves: vec![None; geometry.dies as usize].into(),
            recovery: BlockRecovery::default(),
            geometry: geometry.clone(),
        }
    }

    /// See [`crate::ftl::Ftl::on_huge_pages`].
    pub fn on_huge_pages(&self) {
        advise_huge(&self.map);
    }

    // ---------------------------------------------------------------- where things are

    /// The drive's layout.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Number of logical blocks.
    pub fn logical_blocks(&self) -> u32 {
        self.data.len() as u32
    }

    /// The logical block of a page.
    #[inline]
    pub fn logical_block(&self, lpn: Lpn) -> Lbn {
        Lbn(lpn.0 / self.lanes / self.geometry.pages_per_block * self.lanes + lpn.0 % self.lanes)
    }

    /// A page's offset in its logical block.
    #[inline]
    pub fn offset(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.lanes % self.geometry.pages_per_block
    }

    /// The page at an offset of a logical block, if the drive has it.
    #[inline]
    pub fn page(&self, of: Lbn, offset: u32) -> Option<Lpn> {
        let row = of.0 / self.lanes * self.geometry.pages_per_block + offset;
        let lpn = row * self.lanes + of.0 % self.lanes;
        (lpn < self.geometry.logical_units).then_some(Lpn(lpn))
    }

    /// The pages of a logical block in the order of their offsets, from offset 0 on.
    pub fn pages(&self, of: Lbn) -> impl Iterator<Item = Lpn> + use<> {
        let (pages_per_block, lanes) = (self.geometry.pages_per_block, self.lanes);
        let first = of.0 / lanes * pages_per_block * lanes + of.0 % lanes;
        (first..self.geometry.logical_units).step_by(lanes as usize).take(pages_per_block as usize).map(Lpn)
    }

    /// Number of consecutive pages of an extent, from the `i`-th on, that lie in the same logical block.
    pub fn run(&self, extent: &Extent, i: u32) -> u32 {
        if self.lanes > 1 {
            return 1;
        }
        let offset = self.offset(Lpn(extent.first.0 + i));
        (self.geometry.pages_per_block - offset).min(extent.pages - i)
    }

    /// The units in which data leaves the write buffer.
    fn grain(&self) -> Grain {
        if self.lanes > 1 { Grain::Run(self.lanes) } else { Grain::Block(self.geometry.pages_per_block) }
    }

    /// The die of a logical block's data blocks.
    #[inline]
    pub fn home(&self, of: Lbn) -> DieId {
        DieId(of.0 % self.geometry.dies)
    }

    /// The address of a page.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> Option<Ppn> {
        let ppn = Ppn(self.map[lpn.idx()].wrapping_sub(1)); // of 0 and `BLANK` no addresses
        (ppn.0 < BLANK - 1).then_some(ppn)
    }

    /// Whether a page has an address, or a place where it was never written.
    pub fn has_place(&self, lpn: Lpn) -> bool {
        self.map[lpn.idx()] != 0
    }

    /// The place of a page that was never written, if it has one: its offset in the data block.
    fn blank_place(&self, lpn: Lpn) -> Option<Ppn> {
        if self.map[lpn.idx()] != BLANK {
            return None;
        }
        self.data_block(self.logical_block(lpn)).map(|block| self.address(block, self.offset(lpn)))
    }

    /// A logical block's data block.
    #[inline]
    pub fn data_block(&self, of: Lbn) -> Option<BlockId> {
        self.data[of.idx()].checked_sub(1).map(BlockId)
    }

    /// The address of a page of a physical block.
    #[inline]
    pub fn address(&self, block: BlockId, page: u32) -> Ppn {
        Ppn(self.geometry.first_ppn(block).0 + page)
    }

    /// The number of pages of a physical block up to the last one planned to be programmed.
    #[inline]
    pub fn written(&self, block: BlockId) -> u32 {
        u32::from(self.frontier[block.idx()])
    }

    /// Whether this page of a block can still be programmed.
    pub fn is_open(&self, block: BlockId, page: u32, cx: &Context) -> bool {
        let behind = page >= self.written(block);
        behind || (self.any_order && cx.blocks.lpn_at(self.address(block, page)).is_none())
    }

    /// Whether any page of a block can still be programmed.
    pub fn has_open_page(&self, block: BlockId, cx: &Context) -> bool {
        (0..self.geometry.pages_per_block).rev().any(|page| self.is_open(block, page, cx))
    }

    /// Whether a block holds only the first pages of a logical block, each at its offset and each the newest version. Then it
    /// can become the data block.
    pub fn is_in_order(&self, block: BlockId, of: Lbn, cx: &Context) -> bool {
        (0..self.written(block)).all(|offset| {
            let (lpn, ppn) = (self.page(of, offset), self.address(block, offset));
            lpn.is_some()
                && cx.blocks.lpn_at(ppn) == lpn
                && lpn.and_then(|lpn| self.get(lpn)).is_none_or(|at| at == ppn)
        })
    }

    // ---------------------------------------------------------------- requests

    /// Plans a read of all pages at their addresses.
    pub fn read(&self, extent: &Extent, plan: &mut Plan) {
        plan.map_accesses += extent.pages;
        for lpn in (extent.first.0..extent.first.0 + extent.pages).map(Lpn) {
            self.read_page(lpn, None, plan);
        }
    }

    /// Plans a read of a page at its address or, if it was never written, at its place. Counts a page that has neither.
    pub fn read_page(&self, lpn: Lpn, after: Option<PlanIndex>, plan: &mut Plan) {
        plan.unwritten_reads += u32::from(self.read_content(lpn, after, plan).is_none());
    }

    /// Plans a read of a page at its address or, if it was never written, at its place. The drive's tables say where a page
    /// lies, not whether it was written.
    pub fn read_content(&self, lpn: Lpn, after: Option<PlanIndex>, plan: &mut Plan) -> Option<PlanIndex> {
        match self.get(lpn) {
            Some(ppn) => Some(plan.read(ppn, Cause::Host, after)),
            None => self.blank_place(lpn).map(|ppn| plan.read_blank(ppn, Cause::Host, after)),
        }
    }

    /// Plans a trim.
    pub fn trim(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) {
        plan.map_accesses += extent.pages;
        for i in (0..extent.pages).filter(|&i| !extent.is_partial(i)) {
            let lpn = Lpn(extent.first.0 + i);
            if let Some(old) = self.get(lpn) {
                cx.blocks.set_invalid(old);
            }
            self.map[lpn.idx()] = 0;
        }
    }

    /// Plans the host's write of a page to an address. A write of a part of the page reads the rest first.
    pub fn program(&mut self, lpn: Lpn, partial: bool, to: Ppn, cx: &mut Context, plan: &mut Plan) {
        let rest = if partial { self.read_content(lpn, None, plan) } else { None };
        self.program_with(lpn, rest, to, cx, plan);
    }

    /// Plans the host's write of a part of a page; the operation `rest` reads the other part.
    pub fn program_with(&mut self, lpn: Lpn, rest: Option<PlanIndex>, to: Ppn, cx: &mut Context, plan: &mut Plan) {
        let op = plan.program(to, Cause::Host, rest);
        if let Some(old) = self.get(lpn) {
            let block = cx.blocks.set_invalid(old);
            plan.replaces(op, block);
        }
        self.put(lpn, to, cx);
        plan.map_accesses += 1;
    }

    /// Plans the copy of a mapped page to an address: in the drive's way of copying on one die, over the bus between dies.
    pub fn copy(&mut self, lpn: Lpn, to: Ppn, cause: Cause, cx: &mut Context, plan: &mut Plan) {
        let Some(from) = self.get(lpn) else { unreachable!("a page that is nowhere is not copied") };
        let block = cx.blocks.set_invalid(from);
        if self.geometry.die_of(from) == self.geometry.die_of(to) {
            plan.copy(self.copy_kind, from, to, cause, block);
        } else {
            let read = plan.read(from, cause, None);
            let op = plan.program(to, cause, Some(read));
            plan.replaces(op, block);
        }
        self.put(lpn, to, cx);
        plan.map_accesses += 1;
    }

    fn put(&mut self, lpn: Lpn, to: Ppn, cx: &mut Context) {
        self.map[lpn.idx()] = to.0 + 1;
        cx.blocks.set_valid(to, lpn);
        let frontier = &mut self.frontier[self.geometry.block_of(to).idx()];
        *frontier = (*frontier).max(self.geometry.unit_in_block(to) as u16 + 1);
    }

    // ---------------------------------------------------------------- blocks

    /// Takes an erased block of a die, if there is one.
    pub fn take_block(&self, die: DieId, cx: &mut Context) -> Option<BlockId> {
        cx.blocks.take_free(die, self.wear.least_worn_first().then_some(cx.wear))
    }

    /// Makes a block the data block of a logical block, and erases the old one.
    pub fn set_data_block(&mut self, of: Lbn, block: BlockId, cx: &mut Context, plan: &mut Plan) {
        let old = std::mem::replace(&mut self.data[of.idx()], block.0 + 1);
        if let Some(old) = old.checked_sub(1).map(BlockId) {
            self.erase(old, Cause::Merge, cx, plan);
        }
    }

    /// Plans the erase of a block without valid data.
    pub fn erase(&mut self, block: BlockId, cause: Cause, cx: &mut Context, plan: &mut Plan) {
        debug_assert_eq!(cx.blocks.valid_units(block), 0, "an erase of valid data");
        let die = self.geometry.die_of_block(block);
        self.call_off(die, block, cx);
        if self.moves[die.idx()].is_none()
            && let Some(cold) = self.wear.swap(block, &cx.blocks.view(die, cx.wear))
            && let Some(of) = self.owner(cold, cx)
        {
            self.moves[die.idx()] = Some(Move { worn: block, cold, of, ready: false });
        }
        cx.blocks.condemn(block);
        plan.erase(self.geometry.first_ppn(block), cause);
    }

    /// The data block of `pages` pages from `first` on, all of one logical block, if all can still be programmed in it.
    pub fn open_for(&self, first: Lpn, pages: u32, cx: &Context) -> Option<BlockId> {
        let offsets = self.offset(first)..self.offset(first) + pages;
        let can_take = |&block: &BlockId| offsets.clone().all(|at| self.is_open(block, at, cx));
        self.data_block(self.logical_block(first)).filter(can_take)
    }

    /// Writes `pages` pages of an extent from the `i`-th on, all of one logical block, in place in a block of it.
    pub fn write_in_place(
        &mut self,
        extent: &Extent,
        i: u32,
        pages: u32,
        block: BlockId,
        cx: &mut Context,
        plan: &mut Plan,
    ) {
        for i in i..i + pages {
            let lpn = Lpn(extent.first.0 + i);
            self.program(lpn, extent.is_partial(i), self.address(block, self.offset(lpn)), cx, plan);
        }
    }

    /// Writes `pages` pages of an extent from the `i`-th on, all of one logical block, to a fresh block together with copies of
    /// its other pages. The fresh block becomes the data block. Counts a full merge if there was a data block before.
    pub fn rewrite(&mut self, extent: &Extent, i: u32, pages: u32, fresh: BlockId, cx: &mut Context, plan: &mut Plan) {
        let first = Lpn(extent.first.0 + i);
        let of = self.logical_block(first);
        for lpn in self.pages(of) {
            let to = self.address(fresh, self.offset(lpn));
            if (first.0..first.0 + pages).contains(&lpn.0) {
                self.program(lpn, extent.is_partial(lpn.0 - extent.first.0), to, cx, plan);
            } else if self.get(lpn).is_some() {
                self.copy(lpn, to, Cause::Merge, cx, plan);
            }
        }
        plan.notes().mapping.merges.full += u64::from(self.data_block(of).is_some());
        self.set_data_block(of, fresh, cx, plan);
    }

    /// Copies the newest version of every page of a logical block, in order, to a fresh block, which becomes its data block.
    pub fn full_merge(&mut self, of: Lbn, fresh: BlockId, cx: &mut Context, plan: &mut Plan) {
        self.copy_rest(of, fresh, cx, plan);
        self.set_data_block(of, fresh, cx, plan);
        plan.notes().mapping.merges.full += 1;
    }

    /// Makes a block [in order](Self::is_in_order) the data block, after the missing pages have been copied to it.
    pub fn take_over(&mut self, of: Lbn, block: BlockId, cx: &mut Context, plan: &mut Plan) {
        let copies = self.copy_rest(of, block, cx, plan);
        self.set_data_block(of, block, cx, plan);
        let merges = &mut plan.notes().mapping.merges;
        *(if copies == 0 { &mut merges.switch } else { &mut merges.partial }) += 1;
    }

    /// Copies the pages of a logical block that lie elsewhere to their offsets in a block. Returns their number.
    fn copy_rest(&mut self, of: Lbn, to: BlockId, cx: &mut Context, plan: &mut Plan) -> u32 {
        let mut copies = 0;
        for (lpn, offset) in self.pages(of).zip(0..) {
            let to = self.address(to, offset);
            if self.get(lpn).is_some_and(|at| at != to) {
                self.copy(lpn, to, Cause::Merge, cx, plan);
                copies += 1;
            }
        }
        copies
    }

    /// The logical block of a data block.
    fn owner(&self, block: BlockId, cx: &Context) -> Option<Lbn> {
        let first = cx.blocks.valid_lpns(block).next()?;
        let of = self.logical_block(first);
        (self.data_block(of) == Some(block)).then_some(of)
    }

    // ---------------------------------------------------------------- wear

    /// Whether a move of cold data is pending on a die.
    pub fn wants_background(&self, die: DieId) -> bool {
        self.moves[die.idx()].is_some_and(|wanted| wanted.ready)
    }

    /// Plans the move of a cold data block into a worn block.
    pub fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        let Some(Move { worn, cold, of, .. }) = self.moves[die.idx()].take_if(|wanted| wanted.ready) else { return };
        debug_assert_eq!(self.data_block(of), Some(cold), "a move that is pointless has been called off");
        for lpn in self.pages(of) {
            let offset = self.offset(lpn);
            if self.get(lpn) == Some(self.address(cold, offset)) {
                self.copy(lpn, self.address(worn, offset), Cause::Wear, cx, plan);
            }
        }
        self.data[of.idx()] = worn.0 + 1;
        cx.blocks.condemn(cold);
        plan.erase(self.geometry.first_ppn(cold), Cause::Wear);
    }

    /// Cancels the move of a block that is going to be erased, and frees the worn block. Keeping it back could starve a write,
    /// because no later erase might wake that write.
    fn call_off(&mut self, die: DieId, cold: BlockId, cx: &mut Context) {
        if let Some(Move { worn, ready: true, .. }) = self.moves[die.idx()].take_if(|wanted| wanted.cold == cold) {
            cx.blocks.give_back(worn);
        }
    }

    /// The erase of a block has ended. The block is free, or reserved for a move of cold data.
    pub fn erased(&mut self, block: BlockId, cx: &mut Context) {
        self.frontier[block.idx()] = 0;
        let die = self.geometry.die_of_block(block);
        match &mut self.moves[die.idx()] {
            Some(wanted) if wanted.worn == block && !wanted.ready => {
                wanted.ready = true;
                cx.blocks.erased_and_taken(block);
            }
            _ => cx.blocks.erased(block),
        }
    }

    // ---------------------------------------------------------------- start states

    /// The data block of a logical block in a start state.
    fn first_data_block(&self, of: Lbn) -> BlockId {
        BlockId(self.home(of).0 * self.geometry.blocks_per_die + of.0 / self.geometry.dies)
    }

    /// Gives every logical block an erased data block, and every page its place there.
    pub fn fill_mapped(&mut self, blocks: &mut BlockTable) {
        for of in (0..self.logical_blocks()).map(Lbn) {
            if self.page(of, 0).is_none() {
                continue; // a stripe at the end of the logical space
            }
            let block = self.first_data_block(of);
            blocks.lay_down(block, 0, |_| None);
            self.data[of.idx()] = block.0 + 1;
        }
        self.map.iter_mut().for_each(|place| *place = BLANK);
    }

    /// Lays down the whole logical space in data blocks.
    pub fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error> {
        self.on_huge_pages();
        blocks.on_huge_pages();
        for of in (0..self.logical_blocks()).map(Lbn) {
            let block = self.first_data_block(of);
            let (first, pages) = (self.geometry.first_ppn(block).0, self.pages(of).count() as u32);
            if pages == 0 {
                continue; // a stripe at the end of the logical space
            }
            array.lay_down(block, pages);
            blocks.lay_down(block, pages, |ppn| self.page(of, ppn.0 - first));
            for lpn in self.pages(of) {
                self.map[lpn.idx()] = first + self.offset(lpn) + 1;
            }
            self.data[of.idx()] = block.0 + 1;
            self.frontier[block.idx()] = pages as u16;
            watch.done(u64::from(pages))?;
        }
        Ok(())
    }
}
