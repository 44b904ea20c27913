//! Saving and restoring of data blocks.

use super::{BLANK, DataBlocks, Lbn, Move};
use crate::blocks::BlockState;
use crate::ftl::{Claims, RestoredDrive};
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId, Lpn};

impl DataBlocks {
    /// Writes the data blocks and the pending moves of cold data to a snapshot.
    pub(super) fn save(&self, out: &mut StateWriter) {
        out.u32s(self.data.iter().copied());
        self.save_blanks(out);
        for wanted in self.moves.iter() {
            out.bool(wanted.is_some());
            if let Some(Move { worn, of, ready, .. }) = wanted {
                if !ready {
                    out.refuse("an erase that has not ended");
                }
                out.u32(worn.0);
                out.u32(of.0);
            }
        }
    }

    /// Reads them from a snapshot, on a fresh drive.
    pub(super) fn restore(
        &mut self,
        from: &mut StateReader,
        claims: &mut Claims,
        drive: &RestoredDrive,
    ) -> Result<(), Flaw> {
        let of_map = |_, _| Err(Flaw::damaged("a page of no logical one"));
        drive.blocks.restore_map(&mut self.map, drive.array, of_map)?;
        for block in (0..self.geometry.blocks).map(BlockId) {
            self.frontier[block.idx()] = drive.array.planned_pages(block) as u16;
        }
        from.fill_u32s(&mut self.data)?;
        for of in (0..self.logical_blocks()).map(Lbn) {
            if let Some(block) = self.data_block(of) {
                claims.claim(block, self.geometry.die_of_block(block), drive)?;
                self.check_data_block(of, block, drive)?;
            }
        }
        self.restore_blanks(from, drive)?;
        (0..self.geometry.dies).map(DieId).try_for_each(|die| self.restore_move(die, from, claims, drive))
    }

    /// Writes which pages have a place that was never written: a bit each, if there are any.
    fn save_blanks(&self, out: &mut StateWriter) {
        let has_any = self.map.contains(&BLANK);
        out.bool(has_any);
        if has_any {
            let word = |pages: &[u32]| pages.iter().rev().fold(0, |word, &at| word << 1 | u64::from(at == BLANK));
            out.u64s(&self.map.chunks(64).map(word).collect::<Vec<_>>());
        }
    }

    fn restore_blanks(&mut self, from: &mut StateReader, drive: &RestoredDrive) -> Result<(), Flaw> {
        if !from.bool()? {
            return Ok(());
        }
        let mut words = vec![0; self.map.len().div_ceil(64)];
        from.fill_u64s(&mut words)?;
        let is_blank = |lpn: &Lpn| words[lpn.idx() / 64] >> (lpn.idx() % 64) & 1 != 0;
        for lpn in (0..self.geometry.logical_units).map(Lpn).filter(is_blank) {
            let place = self.data_block(self.logical_block(lpn)).map(|block| self.address(block, self.offset(lpn)));
            let is_erased = |ppn| !drive.array.is_programmed(self.geometry.place(ppn));
            let is_free = self.get(lpn).is_none() && place.is_some_and(is_erased);
            require(is_free, "a place that was never written, with data")?;
            self.map[lpn.idx()] = BLANK;
        }
        Ok(())
    }

    /// Checks that a data block holds pages of its logical block only, each at its offset.
    fn check_data_block(&self, of: Lbn, block: BlockId, drive: &RestoredDrive) -> Result<(), Flaw> {
        let in_place = |lpn: Lpn| {
            self.logical_block(lpn) == of && self.get(lpn).is_none_or(|at| at == self.address(block, self.offset(lpn)))
        };
        let is_data = drive.blocks.is_in_use(block) && drive.blocks.valid_lpns(block).all(in_place);
        require(is_data, "a data block of something else")
    }

    fn restore_move(
        &mut self,
        die: DieId,
        from: &mut StateReader,
        claims: &mut Claims,
        drive: &RestoredDrive,
    ) -> Result<(), Flaw> {
        if !from.bool()? {
            return Ok(());
        }
        let (worn, of) = (BlockId(from.u32()?), Lbn(from.below(self.logical_blocks(), "logical block")?));
        claims.claim(worn, die, drive)?;
        let is_fresh = drive.blocks.state(worn) == BlockState::Open && self.written(worn) == 0;
        let cold = self.data_block(of).filter(|&cold| is_fresh && self.geometry.die_of_block(cold) == die);
        let cold = cold.ok_or_else(|| Flaw::damaged("a move of cold data that there is not"))?;
        self.moves[die.idx()] = Some(Move { worn, cold, of, ready: true });
        Ok(())
    }
}
