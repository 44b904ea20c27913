//! Write frontiers, and the sources of a copy.

use crate::blocks::BlockState;
use crate::ftl::plan::Plan;
use crate::ftl::{Claims, RestoredDrive};
use crate::nand::Geometry;
use crate::operation::Cause;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId, Ppn};

/// The next address to write in an open block, up to the block's end.
#[derive(Clone, Copy, Default)]
pub(in crate::ftl) struct Frontier {
    pub next: u32,
    end: u32,
}

impl Frontier {
    /// A frontier at the beginning of a block.
    pub fn at(geometry: &Geometry, block: BlockId) -> Self {
        let first = geometry.first_ppn(block).0;
        Frontier { next: first, end: first + geometry.units_per_block }
    }

    /// A frontier at the beginning of a block in SLC mode.
    pub fn at_slc(geometry: &Geometry, block: BlockId) -> Self {
        let first = geometry.first_ppn(block).0;
        Frontier { next: first, end: first + geometry.slc_pages() * geometry.units_per_page }
    }

    /// A frontier behind the first `pages` pages of a block in SLC mode.
    pub fn behind_slc(geometry: &Geometry, block: BlockId, pages: u32) -> Self {
        let mut frontier = Frontier::at_slc(geometry, block);
        frontier.next += pages * geometry.units_per_page;
        frontier
    }

    /// A frontier behind the first `pages` pages of a block.
    pub fn behind(geometry: &Geometry, block: BlockId, pages: u32) -> Self {
        let mut frontier = Frontier::at(geometry, block);
        frontier.next += pages * geometry.units_per_page;
        frontier
    }

    /// Writes the frontier to a snapshot.
    pub fn save(self, out: &mut StateWriter) {
        out.u32(if self.is_full() { u32::MAX } else { self.next });
    }

    /// As [`Self::restore`]; the frontier also becomes the owner of its block.
    pub fn restore_owner(
        from: &mut StateReader,
        die: DieId,
        claims: &mut Claims,
        drive: &RestoredDrive,
    ) -> Result<Self, Flaw> {
        let frontier = Frontier::restore(from, die, drive)?;
        let block = frontier.block(drive.blocks.geometry());
        block.map_or(Ok(()), |block| claims.claim(block, die, drive))?;
        Ok(frontier)
    }

    /// Restores a frontier on a die. It stands behind the last programmed page of an open block.
    pub fn restore(from: &mut StateReader, die: DieId, drive: &RestoredDrive) -> Result<Self, Flaw> {
        let geometry = drive.blocks.geometry();
        let next = from.u32()?;
        if next == u32::MAX {
            return Ok(Frontier::default());
        }
        require(next < geometry.physical_units(), "a place to write to that is not on the drive")?;
        let block = geometry.block_of(Ppn(next));
        require(geometry.die_of_block(block) == die, "a place to write to on another die")?;
        let at = drive.array.planned_pages(block) * geometry.units_per_page;
        let is_next = geometry.unit_in_block(Ppn(next)) == at && drive.blocks.state(block) == BlockState::Open;
        require(is_next, "a place to write to that is not the end of an open block")?;
        let whole =
            if drive.array.is_slc(block) { Frontier::at_slc(geometry, block) } else { Frontier::at(geometry, block) };
        let frontier = Frontier { next, ..whole };
        let is_at_row = frontier.is_at_row_of(geometry, drive.array.row_pages(block));
        require(is_at_row, "a place to write to within a row")?;
        Ok(frontier)
    }

    /// The frontier's block, if it is not full.
    pub fn block(self, geometry: &Geometry) -> Option<BlockId> {
        (!self.is_full()).then(|| geometry.block_of(Ppn(self.next)))
    }

    /// Map units left.
    pub fn left(self) -> u32 {
        self.end - self.next
    }

    /// Whether no map unit is left.
    #[inline(always)]
    pub fn is_full(self) -> bool {
        self.next == self.end
    }

    /// Whether the next page is the first of a row.
    pub fn is_at_row(self, geometry: &Geometry) -> bool {
        self.is_at_row_of(geometry, geometry.row_pages)
    }

    /// Whether the next page is the first of a row of this number of pages.
    fn is_at_row_of(self, geometry: &Geometry, row_pages: u32) -> bool {
        self.is_full() || self.page(geometry).is_multiple_of(row_pages)
    }

    /// The number of the next page in its block.
    fn page(self, geometry: &Geometry) -> u32 {
        self.next / geometry.units_per_page % geometry.pages_per_block // blocks hold whole pages
    }

    /// Map units from the next one up to this page of the block.
    pub fn units_to(self, geometry: &Geometry, end: u32) -> u32 {
        let pages = if self.is_full() { 0 } else { end.saturating_sub(self.page(geometry)) };
        pages * geometry.units_per_page
    }

    /// Skips the pages before this one of the block, with pages that hold nothing.
    pub fn pad_to(&mut self, geometry: &Geometry, end: u32, plan: &mut Plan) {
        while self.units_to(geometry, end) > 0 {
            plan.program(self.take(geometry.units_per_page), Cause::Pad, None);
        }
    }

    /// Skips the rest of a row, or a whole one, with pages that hold nothing.
    pub fn pad_row(&mut self, geometry: &Geometry, plan: &mut Plan) {
        self.pad_to(geometry, geometry.whole_rows(self.page(geometry) + 1), plan);
    }

    /// The next address; advances by `units` map units.
    #[inline(always)]
    pub fn take(&mut self, units: u32) -> Ppn {
        let ppn = Ppn(self.next);
        self.next += units;
        ppn
    }
}

/// The sources of one copy: as many map units as a page has, at most 32.
#[derive(Default)]
pub(super) struct CopyUnits {
    ppns: [Ppn; 32],
    len: usize,
}

impl CopyUnits {
    /// Adds a source.
    pub fn push(&mut self, ppn: Ppn) {
        self.ppns[self.len] = ppn;
        self.len += 1;
    }
}

impl std::ops::Deref for CopyUnits {
    type Target = [Ppn];

    fn deref(&self) -> &[Ppn] {
        &self.ppns[..self.len]
    }
}
