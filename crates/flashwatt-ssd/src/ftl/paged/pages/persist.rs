//! Saving and restoring of write frontiers and running collections.

use super::{DieWrites, GcJob, Pages};
use crate::blocks::BlockState;
use crate::ftl::paged::frontier::Frontier;
use crate::ftl::{Claims, RestoredDrive};
use crate::operation::Cause;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId};

impl Pages {
    /// Writes them to a snapshot.
    pub fn save(&self, out: &mut StateWriter) {
        out.u32(self.next_die);
        for die in self.dies.iter() {
            [die.host, die.gc, die.leftover].into_iter().for_each(|frontier| frontier.save(out));
            out.bool(die.job.is_some());
            if let Some(job) = &die.job {
                job.save(out);
                if self.slc.is_some() {
                    out.bool(job.cause == Cause::Fold);
                    out.bool(job.is_idle_work);
                }
            }
        }
        if let Some(slc) = &self.slc {
            slc.save(out);
        }
    }

    /// Restores them on a fresh drive.
    pub fn restore(&mut self, from: &mut StateReader, claims: &mut Claims, drive: &RestoredDrive) -> Result<(), Flaw> {
        self.next_die = from.below(self.geometry.dies, "die")?;
        for die in (0..self.geometry.dies).map(DieId) {
            let mut frontier = || Frontier::restore_owner(from, die, claims, drive);
            let (host, gc, leftover) = (frontier()?, frontier()?, frontier()?);
            let mut job = if from.bool()? { Some(GcJob::restore(from, die, claims, drive)?) } else { None };
            if let Some(job) = job.as_mut().filter(|_| self.slc.is_some()) {
                let folds = from.bool()?;
                job.cause = if folds { Cause::Fold } else { job.cause };
                job.is_idle_work = from.bool()?;
                require(
                    folds == drive.array.is_slc(job.victim),
                    "a fold of a native block, or a collection of one in SLC mode",
                )?;
            }
            let places = [host, gc, leftover].into_iter().chain(job.as_ref().and_then(|job| job.into));
            let is_apart = |place: Frontier| place.block(&self.geometry).is_some_and(|b| drive.blocks.is_apart(b));
            require(!places.into_iter().any(is_apart), "a place to write to in a block of the map")?;
            self.dies[die.idx()] = DieWrites { host, gc, leftover, job, is_short: false };
        }
        if let Some(slc) = &mut self.slc {
            slc.restore(from, claims, drive)?;
        }
        Ok(())
    }
}

impl GcJob {
    fn save(&self, out: &mut StateWriter) {
        if self.erasing {
            out.refuse("an erase that has not ended");
        }
        out.u32(self.victim.0);
        out.u32(self.cursor);
        out.bool(self.cause == Cause::Wear);
        out.u32(self.then_move.0);
        out.bool(self.into.is_some());
        if let Some(into) = self.into {
            into.save(out);
        }
    }

    fn restore(from: &mut StateReader, die: DieId, claims: &mut Claims, drive: &RestoredDrive) -> Result<Self, Flaw> {
        let geometry = drive.blocks.geometry();
        let victim = claimed_victim(BlockId(from.u32()?), die, claims, drive)?;
        let cursor = from.below(geometry.units_per_block + 1, "place in a victim")?;
        let is_behind = drive.blocks.next_valid(victim, 0).is_none_or(|unit| unit >= cursor);
        require(is_behind, "valid pages that collection has passed")?;
        let cause = if from.bool()? { Cause::Wear } else { Cause::Gc };
        let then_move = BlockId(from.u32()?);
        if then_move.is_some() {
            claimed_victim(then_move, die, claims, drive)?;
        }
        let into = if from.bool()? { Some(Frontier::restore_owner(from, die, claims, drive)?) } else { None };
        let fits = into.is_none_or(|into| drive.blocks.valid_units(victim) <= into.left());
        require(fits, "a move of more than fits")?;
        Ok(GcJob { cursor, then_move, into, ..GcJob::new(victim, cause) })
    }
}

/// Records the collection as the owner of its victim.
fn claimed_victim(block: BlockId, die: DieId, claims: &mut Claims, drive: &RestoredDrive) -> Result<BlockId, Flaw> {
    claims.claim(block, die, drive)?;
    let is_of_data = !drive.blocks.is_apart(block) || drive.array.is_slc(block);
    let is_victim = drive.blocks.state(block) == BlockState::Victim && is_of_data;
    require(is_victim, "a collection of a block that is not being collected")?;
    Ok(block)
}
