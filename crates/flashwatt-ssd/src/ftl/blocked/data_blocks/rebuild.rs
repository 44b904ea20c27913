//! Data blocks after a power cut.
//!
//! The data block of a logical block is the block of its home die in which the newest versions lie at their offsets; of several
//! such blocks, which a cut merge leaves, the one with which the fewest others are needed. The scheme may take the others over as its own blocks, the
//! oldest first ([`OnDataBlocks::adopt`]). Logical blocks with pages in blocks that are neither are merged: their pages are copied
//! to a fresh block, one logical block after the other on each die. Then these blocks are erased. That may need a block more than
//! the layer has otherwise: a cut merge has taken one, and a torn page in it cannot be programmed again. A merge of the recovery that is
//! cut needs no further one: nothing is erased while it runs, so that its target is void.
//!
//! Logical blocks with a data block are merged first: their merge releases it, so that one erased block is enough for all of them.
//! The merge of a logical block without a data block keeps a block, and releases none until nothing in the log block is valid.

use std::collections::BTreeSet;

use super::{DataBlocks, Lbn, OnDataBlocks};
use crate::blocks::BlockTable;
use crate::ftl::Context;
use crate::ftl::plan::Plan;
use crate::nand::Array;
use crate::operation::Cause;
use crate::recovery::scan::Found;
use flashwatt_base::units::{BlockId, Lpn, Ppn};

/// What is left to do.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockRecovery {
    /// Logical blocks to merge.
    to_merge: Vec<Lbn>,
    /// Blocks that are erased when nothing in them is valid.
    void: Vec<BlockId>,
}

/// Rebuilds a fresh scheme.
pub(super) fn rebuild<S: OnDataBlocks>(scheme: &mut S, found: &Found, blocks: &mut BlockTable, array: &Array) {
    let mut others = scheme.data_mut().find_data_blocks(found, blocks, array);
    others.sort_by_key(|&block| found.last_program(block, array));
    others.retain(|&block| blocks.valid_units(block) == 0 || !scheme.adopt(block, blocks));
    let mut to_merge = scheme.data().owners(&others, blocks);
    to_merge.sort_by_key(|&of| scheme.data().data_block(of).is_none());
    others.extend(to_merge.iter().filter_map(|&of| scheme.give_up(of)));
    scheme.data_mut().recovery = BlockRecovery { to_merge, void: others };
}

impl DataBlocks {
    /// Finds the data blocks of a fresh drive. Returns all other blocks that are in use.
    fn find_data_blocks(&mut self, found: &Found, blocks: &mut BlockTable, array: &Array) -> Vec<BlockId> {
        for lpn in (0..self.geometry.logical_units).map(Lpn) {
            self.map[lpn.idx()] = found.newest(lpn).map_or(0, |ppn| ppn.0 + 1);
        }
        let (mut candidates, mut others) = (Vec::new(), Vec::new());
        for block in (0..self.geometry.blocks).map(BlockId) {
            self.frontier[block.idx()] = array.planned_pages(block) as u16;
            if blocks.is_in_use(block) {
                match self.owner_in_place(block, found) {
                    Some(of) => candidates.push((of, block)),
                    None => others.push(block),
                }
            }
        }
        let elsewhere = self.places_in(&others, found);
        candidates.sort_unstable();
        for of_one in candidates.chunk_by(|a, b| a.0 == b.0) {
            let blocks_of_one: Vec<BlockId> = of_one.iter().map(|&(_, block)| block).collect();
            others.extend(self.choose(of_one[0].0, &blocks_of_one, &elsewhere, found, blocks));
        }
        others
    }

    /// For each page an address (+ 1) of its newest version in these blocks; 0 for none.
    fn places_in(&self, of: &[BlockId], found: &Found) -> Vec<u32> {
        let mut places = vec![0; self.geometry.logical_units as usize];
        for &block in of {
            for ppn in (0..self.geometry.pages_per_block).map(|page| self.address(block, page)) {
                if let Some(lpn) = found.newest_version_at(ppn).filter(|lpn| lpn.idx() < places.len()) {
                    places[lpn.idx()] = ppn.0 + 1;
                }
            }
        }
        places
    }

    /// Chooses the data block of a logical block among blocks that can be it: that with which the fewest of the others are needed.
    /// Of a merge that was cut it is the source, of one that was almost done the target. Returns the others. A page that the chosen
    /// block does not hold is taken from where the scan found it, though several blocks may hold its newest version.
    fn choose(
        &mut self,
        of: Lbn,
        candidates: &[BlockId],
        elsewhere: &[u32],
        found: &Found,
        blocks: &mut BlockTable,
    ) -> Vec<BlockId> {
        let holds =
            |block: BlockId, lpn: Lpn| found.newest_version_at(self.address(block, self.offset(lpn))) == Some(lpn);
        let cost = |&chosen: &BlockId| {
            let is_missing = |lpn: &Lpn| !holds(chosen, *lpn) && elsewhere[lpn.idx()] == 0;
            let found = self.pages(of).filter(is_missing).filter_map(|lpn| self.get(lpn));
            let needed: BTreeSet<BlockId> = found.map(|ppn| self.geometry.block_of(ppn)).collect();
            let held = self.pages(of).filter(|&lpn| holds(chosen, lpn)).count();
            (needed.len(), std::cmp::Reverse(held))
        };
        let Some(&chosen) = candidates.iter().min_by_key(|block| cost(block)) else { return Vec::new() };
        let place = |lpn: Lpn| match holds(chosen, lpn) {
            true => Some(self.address(chosen, self.offset(lpn))),
            false => elsewhere[lpn.idx()].checked_sub(1).map(Ppn),
        };
        let places: Vec<(Lpn, Ppn)> = self.pages(of).filter_map(|lpn| place(lpn).map(|ppn| (lpn, ppn))).collect();
        for (lpn, ppn) in places {
            if let Some(old) = self.get(lpn).filter(|&old| old != ppn) {
                blocks.set_invalid(old);
                blocks.set_valid_again(ppn, lpn);
                self.map[lpn.idx()] = ppn.0 + 1;
            }
        }
        self.data[of.idx()] = chosen.0 + 1;
        candidates.iter().copied().filter(|&other| other != chosen).collect()
    }

    /// The logical block that a block can be the data block of: the newest versions in the block lie at their offsets.
    fn owner_in_place(&self, block: BlockId, found: &Found) -> Option<Lbn> {
        let mut owner = None;
        for offset in 0..self.geometry.pages_per_block {
            let Some(lpn) = found.newest_version_at(self.address(block, offset)) else { continue };
            let of = self.logical_block(lpn);
            if self.offset(lpn) != offset || *owner.get_or_insert(of) != of {
                return None;
            }
        }
        owner.filter(|&of| self.geometry.die_of_block(block) == self.home(of))
    }

    /// The logical blocks with valid pages in these blocks.
    fn owners(&self, of: &[BlockId], blocks: &BlockTable) -> Vec<Lbn> {
        let valid = of.iter().flat_map(|&block| blocks.valid_lpns(block));
        let mut owners: Vec<Lbn> = valid.map(|lpn| self.logical_block(lpn)).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// The rest of a block that is not full is not used any more.
    pub fn use_up(&mut self, block: BlockId) {
        self.frontier[block.idx()] = self.geometry.pages_per_block as u16;
    }

    /// Plans the erases of blocks in which nothing is valid; if there are none, as many merges as there are erased blocks. So the
    /// sources of a merge are there until its last page is on flash: when the power is cut before, its target is void.
    pub(super) fn recover(&mut self, cx: &mut Context, plan: &mut Plan) {
        let BlockRecovery { mut to_merge, mut void } = std::mem::take(&mut self.recovery);
        // Without wear levelling, which would keep one of the erased blocks for itself.
        void.retain(|&block| {
            let is_void = cx.blocks.valid_units(block) == 0;
            if is_void {
                cx.blocks.condemn(block);
                plan.erase(self.geometry.first_ppn(block), Cause::Merge);
            }
            !is_void
        });
        if plan.ops().is_empty() {
            to_merge.retain(|&of| {
                let fresh = self.take_block(self.home(of), cx);
                if let Some(fresh) = fresh {
                    self.copy_rest(of, fresh, cx, plan);
                    void.extend(self.data_block(of));
                    self.data[of.idx()] = fresh.0 + 1;
                }
                fresh.is_none()
            });
        }
        let goes_on = to_merge.is_empty() || !plan.ops().is_empty();
        assert!(goes_on, "no block for a merge after a power cut; this is a fault of the simulator");
        self.recovery = BlockRecovery { to_merge, void };
    }

    /// Gives a logical block an erased data block if it has none.
    pub fn open_missing(&mut self, of: Lbn, cx: &mut Context) {
        if self.data_block(of).is_none() {
            let block = self.take_block(self.home(of), cx);
            let Some(block) = block else { unreachable!("each die has room for its data blocks") };
            self.data[of.idx()] = block.0 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::drive::fixture::{Heeded, Shape, ftl, geometry};
    use crate::firmware::Firmware;
    use crate::ftl::PlanNumber;
    use crate::nand::settings::ProgramOrder;
    use crate::nand::{Array, Geometry};
    use crate::operation::OpKind;
    use crate::recovery::scan::{Found, ScannedFlash};
    use crate::recovery::spare::{Spare, SpareAreas, Ties};
    use flashwatt_base::units::{BlockId, Lpn, Ppn};

    /// A drive of one die of 16 blocks with 8 pages each, to be filled by hand.
    struct Fixture {
        geometry: Geometry,
        array: Array,
        areas: SpareAreas,
        programmed: u64,
    }

    impl Fixture {
        fn new() -> Self {
            let geometry =
                geometry(Shape { channels: 1, ways: 1, blocks: 16, pages_per_block: 8, logical_bytes: 64 * 4096 });
            let array = Array::new(geometry.clone(), ProgramOrder::Ascending);
            let areas = SpareAreas::new(&geometry);
            Fixture { geometry, array, areas, programmed: 0 }
        }

        /// Programs pages of a block: their offsets in ascending order, what they hold, and its version.
        fn fill(&mut self, block: u32, pages: &[(u32, u32, u64)]) {
            for &(offset, owner, version) in pages {
                let spare = Spare { owner: Lpn(owner), version, program: self.programmed, is_torn: false };
                self.areas.program(Ppn(8 * block + offset), spare);
                self.programmed += 1;
            }
            self.array.lay_down(BlockId(block), pages.last().map_or(0, |&(offset, ..)| offset + 1));
        }

        /// The firmware after a power cut.
        fn rebuilt(&mut self) -> Firmware {
            let flash = ScannedFlash {
                array: &self.array.clone(),
                areas: &self.areas,
                half_erased: &[],
                kept_blocks: &[],
                trims: &BTreeMap::new(),
                checkpoint: None,
                map: None,
            };
            let found = Found::scan(flash, Ties::Source);
            let firmware = Firmware::new(&ftl("block"), &Heeded::new().setup(), 1, &self.geometry);
            firmware.rebuilt(&found, &mut self.array, PlanNumber(self.programmed))
        }
    }

    /// A cut merge has copied pages of the source (block 0) and of a log of it (block 1) to its target (block 2), which lacks a page
    /// of each. Then the source is the data block, since the log is needed alone beside it; with the target both would be, although it
    /// holds the most pages.
    #[test]
    fn a_target_that_lacks_pages_of_both_sources_is_void() {
        let mut drive = Fixture::new();
        drive.fill(0, &(0..8).map(|offset| (offset, offset, 1)).collect::<Vec<_>>());
        drive.fill(1, &[(1, 1, 2), (2, 2, 2), (6, 6, 2)]);
        drive.fill(2, &[(0, 0, 1), (1, 1, 2), (2, 2, 2), (3, 3, 1), (4, 4, 1), (5, 5, 1)]);
        let firmware = drive.rebuilt();
        assert_eq!([0, 1, 2].map(|block| firmware.blocks.valid_units(BlockId(block))), [5, 3, 0]);
    }

    /// A log block (block 1) has a page of logical block 0, which has no data block, and one of logical block 1, whose data block is
    /// block 0. The merge of the latter is the first: it releases block 0.
    #[test]
    fn merges_that_release_a_block_are_the_first() {
        let mut drive = Fixture::new();
        drive.fill(0, &[(0, 8, 1), (1, 9, 1)]);
        drive.fill(1, &[(0, 5, 1), (1, 10, 2)]);
        let mut firmware = drive.rebuilt();
        firmware.recover(&drive.array);
        let copies = firmware.plan.ops().iter().filter(|op| op.kind != OpKind::Erase);
        assert_eq!(copies.map(|op| op.source).collect::<Vec<_>>(), [0, 1, 9, 8].map(Ppn));
    }
}
