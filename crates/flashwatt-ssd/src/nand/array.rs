//! The flash array as it physically is at the present instant, and the referee of the rules of NAND.
//!
//! The map says what *will* be where once everything planned is done; the array says what *is* where. Every operation
//! passes here when it starts and when it ends, and a breach of a rule stops the program: it is a fault of the simulator,
//! never of its input.
//!
//! The rules: a page is programmed only while erased, and in the order that the chip asks for; a page is read only when
//! programmed; a block is erased only when no planned operation still needs what is in it.

use std::hint::cold_path;

use super::settings::ProgramOrder;
use super::{FlashAddress, Geometry};
use crate::operation::{CellMode, OpClass, OpKind, PageType};
use flashwatt_base::mem::{FlatTable, prefetch, set_first_bits, zeroed};
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId, OpId, Ppn};

/// Erases of a block that a snapshot can speak of, so that no run comes to the end of the count.
const ERASES_MAX: u32 = 1 << 31;

/// What a block has been through and what is planned for it. Aligned, so that none lies in two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Block {
    erases: u32,
    /// The drive's count of erases when this block was last erased.
    erased_at: u32,
    /// Operations that still need this block's contents: planned reads of it, and programs that replace one of its pages.
    holds: u32,
    /// Index + 1 of this block's row in `pending`; 0 if it has none.
    row: u32,
    /// The operation that programs, or has programmed, the last page whose program is planned; none if that was before the run.
    last: OpId,
    /// Pages whose program has ended since the last erase.
    programmed: u16,
    /// Pages from the first one on that are all programmed.
    prefix: u16,
    /// Pages up to the last one whose program has started.
    frontier: u16,
    /// Pages up to the last one whose program is planned.
    planned: u16,
    /// Whether its cells hold one bit.
    is_slc: bool,
}

impl Block {
    const ERASED: Block = Block {
        erases: 0,
        erased_at: 0,
        holds: 0,
        row: 0,
        last: OpId::NONE,
        programmed: 0,
        prefix: 0,
        frontier: 0,
        planned: 0,
        is_slc: false,
    };

    /// Whether two blocks for which nothing is under way hold the same, after the same erases.
    fn holds_same(&self, other: &Block) -> bool {
        let facts =
            |of: &Block| (of.erases, of.erased_at, of.programmed, of.prefix, of.frontier, of.planned, of.is_slc);
        facts(self) == facts(other)
    }

    /// Whether a page is programmed behind an erased one.
    #[inline(always)]
    fn has_gaps(&self) -> bool {
        self.programmed != self.prefix
    }
}

/// How far a row is that is programmed in two passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pass {
    /// Its first pass is under way.
    First,
    /// Its first pass has ended: what its pages hold cannot be read.
    Between,
    /// Its second pass is under way.
    Second,
}

/// The array.
#[derive(Clone)]
pub struct Array {
    geometry: Geometry,
    order: ProgramOrder,
    /// A bit per page: programmed behind an erased one. Most blocks are programmed from front to back and have no such page: their
    /// bits are not touched.
    behind_gaps: FlatTable<u64>,
    words_per_block: usize,
    blocks: FlatTable<Block>,
    /// For each block in which a program was planned while another had not ended, the operation of each page before the last planned
    /// one, if it had not ended then. Most blocks have one program after the other and no such row: its memory is not touched.
    pending: Vec<OpId>,
    free_rows: Vec<u32>,
    /// The erase that waits for a block's holds to go. Few at a time.
    waiting_erases: Vec<(BlockId, OpId)>,
    /// What suspended operations work on: the first page and the number of pages. One a die at most.
    suspended: Vec<(FlashAddress, u32)>,
    /// Rows that are programmed in two passes, from the start of the first one to the end of the second, by their first pages.
    passes: Vec<(FlashAddress, Pass)>,
    total_erases: u64,
    /// Erases before the start of the run, as the snapshot that it began from counts them.
    erases_before: u64,
    /// Programmed pages of each die.
    programmed_pages: FlatTable<u32>,
}

impl Array {
    /// Bytes of memory that the array of a drive takes, without programs that are planned.
    pub fn memory_bytes(geometry: &Geometry) -> u64 {
        let words = (geometry.pages_per_block as usize).div_ceil(64) * size_of::<u64>();
        u64::from(geometry.blocks) * (size_of::<Block>() + words) as u64
    }

    /// An array with every block erased, and never before.
    pub fn new(geometry: Geometry, order: ProgramOrder) -> Self {
        let words_per_block = (geometry.pages_per_block as usize).div_ceil(64);
        Array {
            behind_gaps: zeroed(geometry.blocks as usize * words_per_block).into(),
            words_per_block,
            blocks: vec![Block::ERASED; geometry.blocks as usize].into(),
            pending: Vec::new(),
            free_rows: Vec::new(),
            waiting_erases: Vec::new(),
            suspended: Vec::new(),
            passes: Vec::new(),
            total_erases: 0,
            erases_before: 0,
            programmed_pages: vec![0; geometry.dies as usize].into(),
            geometry,
            order,
        }
    }

    /// How often a block has been erased.
    #[inline]
    pub fn erases(&self, block: BlockId) -> u32 {
        self.blocks[block.idx()].erases
    }

    /// Mean of [`Self::erases`] over all blocks.
    pub fn mean_erases(&self) -> f64 {
        self.total_erases as f64 / f64::from(self.geometry.blocks)
    }

    /// Programmed pages of a die.
    pub fn programmed_pages(&self, die: DieId) -> u32 {
        self.programmed_pages[die.idx()]
    }

    /// How many erases of any block ago this block was last erased.
    pub fn since_erase(&self, block: BlockId) -> u32 {
        (self.total_erases as u32).wrapping_sub(self.blocks[block.idx()].erased_at)
    }

    /// Is this page programmed?
    #[inline(always)]
    pub fn is_programmed(&self, at: FlashAddress) -> bool {
        let info = &self.blocks[at.block.idx()];
        at.page < u32::from(info.prefix) || (info.has_gaps() && self.is_behind_gap(at))
    }

    #[cold]
    fn is_behind_gap(&self, at: FlashAddress) -> bool {
        let (word, bit) = self.bit(at);
        self.behind_gaps[word] >> bit & 1 != 0
    }

    /// Fetches what a read or an overwrite of this address will touch.
    #[inline(always)]
    pub fn prefetch(&self, ppn: Ppn) {
        prefetch(&self.blocks, self.geometry.block_of(ppn).idx());
    }

    /// Whether two arrays on which nothing is under way hold the same: the same pages are programmed, after the same erases.
    pub fn holds_same(&self, other: &Array) -> bool {
        self.behind_gaps.iter().eq(other.behind_gaps.iter())
            && self.blocks.len() == other.blocks.len()
            && self.blocks.iter().zip(other.blocks.iter()).all(|(block, other)| block.holds_same(other))
            && self.total_erases == other.total_erases
    }

    /// The operation that will program this page, if one is planned or under way.
    pub fn pending_program(&self, at: FlashAddress) -> Option<OpId> {
        Some(self.program_of(at)).filter(|op| op.is_some() && !self.is_programmed(at))
    }

    /// The operation whose program of this page is planned or under way; if there is none, any that has ended, or none.
    #[inline(always)]
    fn program_of(&self, at: FlashAddress) -> OpId {
        let info = &self.blocks[at.block.idx()];
        if at.page + 1 == u32::from(info.planned) {
            info.last
        } else if info.row == 0 {
            OpId::NONE
        } else {
            self.pending[self.cell(info.row, at.page)]
        }
    }

    /// A read of this block is planned, or a program that replaces one of its pages.
    #[inline(always)]
    pub fn hold(&mut self, block: BlockId) {
        self.blocks[block.idx()].holds += 1;
    }

    /// That operation has ended. Returns the erase that waited for the last hold to go, if one did.
    #[inline(always)]
    pub fn release(&mut self, block: BlockId) -> Option<OpId> {
        let holds = &mut self.blocks[block.idx()].holds;
        *holds -= 1;
        if *holds > 0 || self.waiting_erases.is_empty() {
            return None;
        }
        cold_path();
        self.take_waiting_erase(block)
    }

    /// How many planned operations still need this block.
    pub fn holds(&self, block: BlockId) -> u32 {
        self.blocks[block.idx()].holds
    }

    /// Has every page of this block been programmed, and no program is left that has not ended?
    pub fn is_full(&self, block: BlockId) -> bool {
        u32::from(self.blocks[block.idx()].programmed) == self.pages_of(block)
    }

    /// Pages that a block holds in its mode.
    #[inline(always)]
    pub fn pages_of(&self, block: BlockId) -> u32 {
        if self.blocks[block.idx()].is_slc {
            cold_path();
            return self.geometry.slc_pages();
        }
        self.geometry.pages_per_block
    }

    /// Whether the cells of a block hold one bit.
    #[inline]
    pub fn is_slc(&self, block: BlockId) -> bool {
        self.blocks[block.idx()].is_slc
    }

    /// Pages of a block that are programmed at once.
    #[inline]
    pub fn row_pages(&self, block: BlockId) -> u32 {
        if self.is_slc(block) { self.geometry.planes } else { self.geometry.row_pages }
    }

    /// The class of a kind of operation on a page.
    pub fn class(&self, at: FlashAddress, kind: OpKind) -> OpClass {
        let page = PageType::ALL[self.geometry.type_of(at.page) as usize];
        match kind {
            _ if self.is_slc(at.block) => OpClass { mode: CellMode::Slc, ..OpClass::plain(kind) },
            OpKind::Erase => OpClass::plain(kind),
            _ => OpClass { page, ..OpClass::plain(kind) },
        }
    }

    /// From now on, until its erase, the cells of an erased block hold one bit.
    pub fn use_as_slc(&mut self, block: BlockId) {
        let info = &mut self.blocks[block.idx()];
        if info.planned != 0 {
            violation("another mode for a block that is not erased", self.first(block));
        }
        info.is_slc = true;
    }

    /// An erase waits until the block's holds are gone.
    pub fn wait_for_release(&mut self, block: BlockId, erase: OpId) {
        self.waiting_erases.push((block, erase));
    }

    /// The blocks whose erases wait for the holds to go.
    pub fn waiting_erases(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.waiting_erases.iter().map(|&(block, _)| block)
    }

    fn take_waiting_erase(&mut self, block: BlockId) -> Option<OpId> {
        let at = self.waiting_erases.iter().position(|&(b, _)| b == block)?;
        Some(self.waiting_erases.swap_remove(at).1)
    }

    /// A program of this page is planned as operation `op`.
    #[inline(always)]
    pub fn plan_program(&mut self, at: FlashAddress, op: OpId) {
        let info = &self.blocks[at.block.idx()];
        let is_last = at.page >= u32::from(info.planned);
        if self.order == ProgramOrder::Ascending && !is_last {
            violation("a program planned behind a later page of its block", at);
        }
        if !is_last {
            cold_path();
            return self.keep_pending(at, op);
        }
        if info.programmed != info.planned {
            cold_path();
            self.keep_pending(FlashAddress { page: u32::from(info.planned) - 1, ..at }, info.last);
        }
        let info = &mut self.blocks[at.block.idx()];
        (info.planned, info.last) = (at.page as u16 + 1, op);
    }

    /// Keeps the operation of a page in its block's row.
    #[inline(never)]
    fn keep_pending(&mut self, at: FlashAddress, op: OpId) {
        let row = self.row(at.block);
        let cell = self.cell(row, at.page);
        self.pending[cell] = op;
    }

    /// The operations that have yet to program pages of this block, planned or under way.
    pub fn unfinished_programs(&self, block: BlockId) -> Vec<OpId> {
        let info = &self.blocks[block.idx()];
        if info.programmed == info.planned {
            return Vec::new();
        }
        let places = (0..u32::from(info.planned)).map(|page| FlashAddress { page, ..self.first(block) });
        places.filter_map(|at| self.pending_program(at)).collect()
    }

    /// The program that has to start before the planned one of this page may, if the chip asks for an order and there is
    /// one.
    #[inline]
    pub fn program_before(&self, at: FlashAddress) -> Option<OpId> {
        let info = &self.blocks[at.block.idx()];
        let started = u32::from(info.frontier);
        if self.order == ProgramOrder::Any || at.page <= started {
            return None;
        }
        (started..at.page).rev().map(|page| self.program_of(FlashAddress { page, ..at })).find(|op| op.is_some())
    }

    /// A program starts.
    #[inline(always)]
    pub fn start_program(&mut self, at: FlashAddress) {
        if self.is_programmed(at) {
            violation("a program of a page that is not erased", at);
        }
        let info = &mut self.blocks[at.block.idx()];
        if self.order == ProgramOrder::Ascending && at.page < u32::from(info.frontier) {
            violation("a program out of order", at);
        }
        info.frontier = info.frontier.max(at.page as u16 + 1);
    }

    /// The program of a row starts, or the first pass of it: `pages` pages from `first` on. All of them must be planned.
    pub fn start_row(&mut self, first: FlashAddress, pages: u32) {
        let of = &self.blocks[first.block.idx()];
        let is_beyond = first.page + pages > self.pages_of(first.block).min(of.planned.into());
        if is_beyond || !first.page.is_multiple_of(pages) {
            violation("a program of a part of a row", first);
        }
        if first.page < u32::from(of.frontier) {
            violation("a row out of order", first);
        }
        if self.has_two_passes(first.block) {
            self.passes.push((first, Pass::First));
        }
    }

    /// Whether the rows of a block are programmed in two passes.
    #[inline]
    pub fn has_two_passes(&self, block: BlockId) -> bool {
        self.geometry.pass_distance > 0 && !self.is_slc(block)
    }

    /// The first pass of a row has ended, and the row is to have a second one.
    pub fn end_first_pass(&mut self, first: FlashAddress) {
        self.next_pass(first, Pass::First, Pass::Between);
    }

    /// The second pass of a row starts: `pages` pages from `first` on. The first passes of the rows behind it that disturb it must have
    /// ended, and the second passes of those before it.
    pub fn start_second_pass(&mut self, first: FlashAddress, pages: u32) {
        let of = &self.blocks[first.block.idx()];
        let disturbs = first.page + (self.geometry.pass_distance + 1) * pages;
        if u32::from(of.frontier) < disturbs.min(self.pages_of(first.block)) || self.is_in_first_pass(first.block) {
            violation("a second pass before the first pass of a row beside it", first);
        }
        if u32::from(of.prefix) != first.page {
            violation("a second pass out of order", first);
        }
        self.next_pass(first, Pass::Between, Pass::Second);
    }

    /// The program of a row ends, with its last pass. A row without data, which nobody reads, may end with its first one.
    pub fn end_row(&mut self, first: FlashAddress, has_data: bool) {
        if !self.has_two_passes(first.block) {
            return;
        }
        let is_over = |pass: Pass| pass == Pass::Second || pass == Pass::First && !has_data;
        match self.passes.iter().position(|&(at, pass)| at == first && is_over(pass)) {
            Some(at) => drop(self.passes.swap_remove(at)),
            None => violation("the end of a row before its second pass", first),
        }
    }

    fn is_in_first_pass(&self, block: BlockId) -> bool {
        self.passes.iter().any(|&(at, pass)| at.block == block && pass == Pass::First)
    }

    fn next_pass(&mut self, first: FlashAddress, from: Pass, to: Pass) {
        match self.passes.iter_mut().find(|(at, pass)| *at == first && *pass == from) {
            Some((_, pass)) => *pass = to,
            None => violation("a pass of a row out of turn", first),
        }
    }

    /// A program ends. Returns true if the block is now fully programmed.
    #[inline(always)]
    pub fn end_program(&mut self, at: FlashAddress) -> bool {
        if self.is_programmed(at) {
            violation("a second program of a page without an erase", at);
        }
        let full = self.count_page(at) == self.pages_of(at.block);
        if full {
            cold_path();
            self.free_row(at.block);
        }
        full
    }

    /// Counts an erased page as programmed. Returns the programmed pages of its block.
    #[inline(always)]
    fn count_page(&mut self, at: FlashAddress) -> u32 {
        self.programmed_pages[at.die.idx()] += 1;
        let info = &mut self.blocks[at.block.idx()];
        info.programmed += 1;
        let programmed = u32::from(info.programmed);
        if at.page == u32::from(info.prefix) {
            info.prefix += 1;
        } else {
            cold_path();
            let (word, bit) = self.bit(at);
            self.behind_gaps[word] |= 1 << bit;
        }
        if self.blocks[at.block.idx()].has_gaps() {
            cold_path();
            self.close_gap(at.block);
        }
        programmed
    }

    /// The pages behind a gap that is closed belong to the prefix.
    #[inline(never)]
    fn close_gap(&mut self, block: BlockId) {
        while self.blocks[block.idx()].has_gaps() {
            let (word, bit) =
                self.bit(FlashAddress { page: u32::from(self.blocks[block.idx()].prefix), ..self.first(block) });
            if self.behind_gaps[word] >> bit & 1 == 0 {
                return;
            }
            self.behind_gaps[word] &= !(1 << bit);
            self.blocks[block.idx()].prefix += 1;
        }
    }

    /// A read starts.
    #[inline]
    pub fn start_read(&self, at: FlashAddress) {
        if !self.is_programmed(at) {
            violation("a read of a page that is not programmed", at);
        }
    }

    /// A read of an erased page is planned: of a place that was never written.
    pub fn plan_blank_read(&self, at: FlashAddress) {
        if self.is_programmed(at) || self.pending_program(at).is_some() {
            violation("a read that takes a page for erased", at);
        }
    }

    /// A read of an erased page starts. A program planned after it may have come before it, since both share the page.
    pub fn start_blank_read(&self, at: FlashAddress) {
        if self.holds(at.block) == 0 {
            violation("a read of a page whose block is not kept for it", at);
        }
    }

    /// The program of `pages` pages from `first` on, or the erase of its block, is suspended.
    pub fn suspend(&mut self, first: FlashAddress, pages: u32) {
        if self.suspended.iter().any(|(at, _)| at.die == first.die) {
            violation("a second suspended operation on a die", first);
        }
        self.suspended.push((first, pages));
    }

    /// The suspended operation of a die goes on.
    pub fn resume(&mut self, die: DieId) {
        self.suspended.retain(|(at, _)| at.die != die);
    }

    /// A read starts on a die that may have a suspended operation: not of the pages of that.
    pub fn start_beside_suspended(&self, at: FlashAddress) {
        let is_among = |&&(first, pages): &&(FlashAddress, u32)| {
            first.block == at.block && (first.page..first.page + pages).contains(&at.page)
        };
        if self.suspended.iter().any(|suspended| is_among(&suspended)) {
            violation("a read of a page whose program or erase is suspended", at);
        }
    }

    /// A program or an erase starts on a die that may have a suspended operation: not before that has ended.
    pub fn start_alone(&self, at: FlashAddress) {
        if self.suspended.iter().any(|(first, _)| first.die == at.die) {
            violation("a program or an erase on a die with a suspended one", at);
        }
    }

    /// An erase starts.
    pub fn start_erase(&mut self, block: BlockId) {
        let info = &self.blocks[block.idx()];
        if info.holds != 0 {
            violation("an erase of a block that planned operations still need", self.first(block));
        }
        if !self.unfinished_programs(block).is_empty() {
            violation("an erase of a block with programs under way", self.first(block));
        }
    }

    /// An erase ends.
    pub fn end_erase(&mut self, block: BlockId) {
        if self.blocks[block.idx()].has_gaps() {
            let start = block.idx() * self.words_per_block;
            self.behind_gaps[start..start + self.words_per_block].fill(0);
        }
        self.free_row(block);
        self.total_erases += 1;
        let info = &mut self.blocks[block.idx()];
        self.programmed_pages[self.geometry.die_of_block(block).idx()] -= u32::from(info.programmed);
        info.erases += 1;
        info.erased_at = self.total_erases as u32;
        (info.programmed, info.prefix, info.frontier, info.planned) = (0, 0, 0, 0);
        info.is_slc = false;
    }

    /// Puts data on the first `pages` pages of an erased block without a clock: how start states are laid down.
    pub fn lay_down(&mut self, block: BlockId, pages: u32) {
        let info = &mut self.blocks[block.idx()];
        assert_eq!(info.planned, 0, "a start state is laid down on erased blocks");
        self.programmed_pages[self.geometry.die_of_block(block).idx()] += pages;
        let pages = pages as u16;
        (info.planned, info.frontier, info.programmed, info.prefix) = (pages, pages, pages, pages);
    }

    /// Erases since the start of the run, by the counts of all blocks.
    pub fn erases_in_run(&self) -> u64 {
        self.erase_counts().map(u64::from).sum::<u64>() - self.erases_before
    }

    /// Takes this number of the last erases for ones before the run: those that capacitors end at a power cut are in no account.
    pub fn count_before(&mut self, erases: u64) {
        self.erases_before += erases;
    }

    /// Pages of a block up to the last one whose program is planned.
    pub fn planned_pages(&self, block: BlockId) -> u32 {
        u32::from(self.blocks[block.idx()].planned)
    }

    /// Counts of all blocks' erases.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().map(|block| block.erases)
    }

    /// Forgets past erases: start states are counted nowhere.
    pub fn reset_wear(&mut self) {
        for block in self.blocks.iter_mut() {
            (block.erases, block.erased_at) = (0, 0);
        }
        self.total_erases = 0;
    }

    /// The array after a power cut: nothing is planned or under way. The pages `torn` were being programmed; they count as
    /// programmed, although nothing can be read there.
    pub fn after_cut(&self, torn: &[FlashAddress]) -> Array {
        let mut array = Array {
            behind_gaps: self.behind_gaps.clone(),
            blocks: self.blocks.clone(),
            programmed_pages: self.programmed_pages.clone(),
            total_erases: self.total_erases,
            erases_before: self.erases_before,
            ..Array::new(self.geometry.clone(), self.order)
        };
        for block in array.blocks.iter_mut() {
            (block.holds, block.row, block.last, block.planned) = (0, 0, OpId::NONE, block.frontier);
        }
        torn.iter().for_each(|&at| array.give_up(at));
        array.blocks.iter_mut().for_each(|block| block.is_slc &= block.programmed > 0);
        array
    }

    /// Counts a page as programmed, although nothing can be read there.
    fn give_up(&mut self, at: FlashAddress) {
        if !self.is_programmed(at) {
            self.count_page(at);
        }
    }

    /// Gives up the erased pages before the last programmed one of a block, as if they were programmed: a layer that writes blocks
    /// from front to back does not come back to them.
    pub fn give_up_gaps(&mut self, block: BlockId) {
        for page in 0..self.planned_pages(block) {
            self.give_up(FlashAddress { page, ..self.first(block) });
        }
    }

    /// The drive's layout.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Writes the array of a drive at rest: which pages are programmed, and wear.
    pub fn save(&self, out: &mut StateWriter) {
        let is_busy = |block: &Block| block.holds > 0 || block.planned != block.frontier;
        if !self.waiting_erases.is_empty() || self.blocks.iter().any(is_busy) {
            out.refuse("operations that have not ended");
        }
        out.u32s(self.blocks.iter().map(|block| block.erases));
        out.u32s(self.blocks.iter().map(|block| block.erased_at));
        let mut words = vec![0; self.words_per_block];
        for (block, behind_gaps) in self.blocks.iter().zip(self.behind_gaps.chunks(self.words_per_block)) {
            set_first_bits(&mut words, u32::from(block.prefix));
            words.iter_mut().zip(behind_gaps).for_each(|(word, behind)| *word |= behind);
            out.u64s(&words);
        }
        if self.geometry.has_slc {
            self.blocks.iter().for_each(|block| out.bool(block.is_slc));
        }
    }

    /// Reads the array of a drive at rest into a new one.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn restore(&mut self, from: &mut StateReader) -> Result<(), Flaw> {
        let (count, blocks) = (self.blocks.len(), &mut self.blocks);
        from.u32s(count, |at, erases| blocks[at].erases = erases)?;
        from.u32s(count, |at, erased_at| blocks[at].erased_at = erased_at)?;
        from.fill_u64s(&mut self.behind_gaps)?;
        require(self.erase_counts().all(|erases| erases < ERASES_MAX), "a block with too many erases")?;
        self.total_erases = self.erase_counts().map(u64::from).sum();
        self.erases_before = self.total_erases;
        if self.geometry.has_slc {
            self.blocks.iter_mut().try_for_each(|block| from.bool().map(|is_slc| block.is_slc = is_slc))?;
        }
        (0..self.geometry.blocks).map(BlockId).try_for_each(|block| self.count_programmed(block))
    }

    /// Counts the programmed pages of a block that has been read from a file.
    fn count_programmed(&mut self, block: BlockId) -> Result<(), Flaw> {
        let first = block.idx() * self.words_per_block;
        let words = &mut self.behind_gaps[first..first + self.words_per_block];
        let programmed: u32 = words.iter().map(|word| word.count_ones()).sum();
        let last = words.iter().rposition(|&word| word != 0);
        let end = last.map_or(0, |at| 64 * (at as u32 + 1) - words[at].leading_zeros());
        let pages =
            if self.blocks[block.idx()].is_slc { self.geometry.slc_pages() } else { self.geometry.pages_per_block };
        require(end <= pages, "a programmed page beyond its block")?;
        require(end > 0 || !self.blocks[block.idx()].is_slc, "a mode of an erased block")?;
        let prefix = take_first_bits(words);
        self.programmed_pages[self.geometry.die_of_block(block).idx()] += programmed;
        let info = &mut self.blocks[block.idx()];
        (info.programmed, info.frontier, info.planned) = (programmed as u16, end as u16, end as u16);
        info.prefix = prefix as u16;
        Ok(())
    }

    fn first(&self, block: BlockId) -> FlashAddress {
        FlashAddress { die: self.geometry.die_of_block(block), block, page: 0 }
    }

    #[inline(always)]
    fn bit(&self, at: FlashAddress) -> (usize, u32) {
        (at.block.idx() * self.words_per_block + (at.page >> 6) as usize, at.page & 63)
    }

    #[inline(always)]
    fn cell(&self, row: u32, page: u32) -> usize {
        (row - 1) as usize * self.geometry.pages_per_block as usize + page as usize
    }

    /// This block's row of `pending`, made if need be.
    #[inline(always)]
    fn row(&mut self, block: BlockId) -> u32 {
        let row = self.blocks[block.idx()].row;
        if row != 0 {
            return row;
        }
        cold_path();
        self.new_row(block)
    }

    #[inline(never)]
    fn new_row(&mut self, block: BlockId) -> u32 {
        let pages = self.geometry.pages_per_block as usize;
        let row = self.free_rows.pop().unwrap_or_else(|| {
            self.pending.resize(self.pending.len() + pages, OpId::NONE);
            (self.pending.len() / pages) as u32
        });
        let first = self.cell(row, 0);
        self.pending[first..first + pages].fill(OpId::NONE);
        self.blocks[block.idx()].row = row;
        row
    }

    fn free_row(&mut self, block: BlockId) {
        let row = std::mem::take(&mut self.blocks[block.idx()].row);
        if row != 0 {
            self.free_rows.push(row);
        }
    }
}

/// Clears the bits of a row of words before the first one that is not set. Returns their number.
fn take_first_bits(words: &mut [u64]) -> u32 {
    let mut count = 0;
    for word in words {
        let ones = word.trailing_ones();
        count += ones;
        if ones < u64::BITS {
            *word &= u64::MAX << ones;
            return count;
        }
        *word = 0;
    }
    count
}

#[inline(always)]
fn violation(what: &str, at: FlashAddress) -> ! {
    stop(what, at.die, at.block, at.page) // in parts: a place that is passed whole has to be in memory, in good runs too
}

#[cold]
#[inline(never)]
fn stop(what: &str, die: DieId, block: BlockId, page: u32) -> ! {
    panic!(
        "the NAND referee stops the run: {what} (die {die}, block {block}, page {page}); this is a fault of the simulator"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::drive::fixture::{Shape, geometry};
    use flashwatt_base::progress::{Progress, Watch};

    const PAGES: u32 = 130; // three words of bits, the last of them not full

    fn array() -> Array {
        let shape = Shape { channels: 1, ways: 1, blocks: 16, pages_per_block: 130, logical_bytes: 4 << 20 };
        Array::new(geometry(shape), ProgramOrder::Any)
    }

    fn place(block: u32, page: u32) -> FlashAddress {
        FlashAddress { die: DieId(0), block: BlockId(block), page }
    }

    /// An array on which the program of the row of pages 4 to 7 is suspended.
    fn suspended() -> Array {
        let mut array = array();
        array.suspend(place(3, 4), 4);
        array
    }

    #[test]
    fn reads_beside_a_suspended_row() {
        let mut array = suspended();
        [place(3, 3), place(3, 8), place(2, 4)].into_iter().for_each(|at| array.start_beside_suspended(at));
        array.resume(DieId(0));
        array.start_beside_suspended(place(3, 4));
        array.start_alone(place(3, 8));
    }

    #[test]
    #[should_panic(expected = "a read of a page whose program or erase is suspended")]
    fn no_read_of_a_suspended_row() {
        suspended().start_beside_suspended(place(3, 7));
    }

    #[test]
    #[should_panic(expected = "a second suspended operation on a die")]
    fn no_second_suspension() {
        suspended().suspend(place(5, 0), 4);
    }

    #[test]
    #[should_panic(expected = "a program or an erase on a die with a suspended one")]
    fn no_program_beside_a_suspended_one() {
        suspended().start_alone(place(5, 0));
    }

    proptest! {
        /// Programs of one block planned, started and ended in any order that its rules allow, with power cuts and erases between.
        #[test]
        fn knows_which_programs_have_not_ended(
            ascending in any::<bool>(),
            steps in prop::collection::vec((0..12u8, 0..PAGES, 0..8usize), 1..200),
        ) {
            let order = if ascending { ProgramOrder::Ascending } else { ProgramOrder::Any };
            let mut array = Array { order, ..array() };
            let (mut planned, mut started) = (Vec::<(u32, OpId)>::new(), Vec::<(u32, OpId)>::new());
            for (number, (step, page, which)) in (0..).zip(steps) {
                let is_free = array.pending_program(place(0, page)).is_none() && !array.is_programmed(place(0, page));
                match step {
                    0..4 if is_free && (!ascending || page >= array.planned_pages(BlockId(0))) => {
                        array.plan_program(place(0, page), OpId(number));
                        planned.push((page, OpId(number)));
                    }
                    4 if array.planned_pages(BlockId(0)) < PAGES => {
                        let page = array.planned_pages(BlockId(0));
                        array.plan_program(place(0, page), OpId(number));
                        planned.push((page, OpId(number)));
                    }
                    5..8 if !planned.is_empty() => {
                        let next = planned.remove(if ascending { 0 } else { which % planned.len() });
                        array.start_program(place(0, next.0));
                        started.push(next);
                    }
                    8..11 if !started.is_empty() => {
                        let ended = started.swap_remove(which % started.len());
                        array.end_program(place(0, ended.0));
                    }
                    11 if which == 0 => {
                        let torn: Vec<FlashAddress> = started.drain(..).map(|(page, _)| place(0, page)).collect();
                        array = array.after_cut(&torn);
                        planned.clear();
                    }
                    11 if planned.is_empty() && started.is_empty() => array.end_erase(BlockId(0)),
                    _ => {}
                }
                let mut unfinished = [&planned[..], &started].concat();
                unfinished.sort();
                for page in 0..PAGES {
                    let expected = unfinished.iter().find(|(of, _)| *of == page).map(|&(_, op)| op);
                    prop_assert_eq!(array.pending_program(place(0, page)), expected, "page {}", page);
                }
                let ops: Vec<OpId> = unfinished.iter().map(|&(_, op)| op).collect();
                prop_assert_eq!(array.unfinished_programs(BlockId(0)), ops);
                for (at, &(page, _)) in planned.iter().enumerate().filter(|_| ascending) {
                    let before = at.checked_sub(1).map(|before| planned[before].1);
                    prop_assert_eq!(array.program_before(place(0, page)), before);
                }
            }
        }

        /// Pages programmed in any order, or given up, with erases, power cuts and snapshots between.
        #[test]
        fn knows_which_pages_are_programmed(
            steps in prop::collection::vec((0..8u8, 0..2u32, 0..PAGES, 1..40u32), 1..60),
        ) {
            let (mut array, mut programmed) = (array(), [BTreeSet::new(), BTreeSet::new()]);
            for (step, block, first, count) in steps {
                let pages = &mut programmed[block as usize];
                match step {
                    0 => {
                        array.end_erase(BlockId(block));
                        pages.clear();
                    }
                    1 => array = array.after_cut(&[]),
                    2 => {
                        let mut file = Vec::new();
                        let mut out = StateWriter::new(&mut file, 7);
                        array.save(&mut out);
                        out.finish().expect("a drive at rest");
                        let mut restored = Array::new(array.geometry.clone(), ProgramOrder::Any);
                        let mut go_on = |_: &Progress| true;
                        let (mut file, mut watch) = (&file[..], Watch::new(&mut go_on));
                        restored.restore(&mut StateReader::new(&mut file, 7, &mut watch)).expect("whole and sound");
                        array = restored;
                    }
                    3 => {
                        let end = array.planned_pages(BlockId(block));
                        array.give_up_gaps(BlockId(block));
                        pages.extend(0..end);
                    }
                    _ => for page in first..PAGES.min(first + count) {
                        if pages.insert(page) {
                            array.plan_program(place(block, page), OpId(0));
                            array.start_program(place(block, page));
                            prop_assert_eq!(array.end_program(place(block, page)), pages.len() == PAGES as usize);
                        }
                    },
                }
                for (block, pages) in (0..).zip(&programmed) {
                    for page in 0..PAGES {
                        prop_assert_eq!(array.is_programmed(place(block, page)), pages.contains(&page));
                    }
                }
                prop_assert_eq!(array.programmed_pages(DieId(0)) as usize, programmed.iter().map(BTreeSet::len).sum::<usize>());
            }
        }
    }
}
