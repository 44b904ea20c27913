//! What a recovery with a checkpoint reads.
//!
//! After a power cut the spare area of the first page of a block that was programmed when the checkpoint was begun says whether the block
//! has been erased since: then all of it is scanned. Of the other blocks those pages are scanned that were not programmed then.

use super::checkpoint::Checkpoint;
use super::scan::ScannedFlash;
use flashwatt_base::units::{BlockId, DieId, Ppn};

impl Checkpoint {
    /// The pages whose spare areas a recovery reads: first one of each block, and when these are read the others.
    /// `step_of`: of kept blocks whose pages are programmed one after another the distance of two of them. Of these blocks they are
    /// read up to the first erased one.
    pub fn reads(&self, flash: ScannedFlash, filling: Filling, step_of: impl Fn(BlockId) -> Option<usize>) -> Reads {
        let geometry = flash.array.geometry();
        let of_dies = |of: &dyn Fn(BlockId) -> Vec<Ppn>| {
            (0..geometry.dies).map(|die| geometry.blocks_of(DieId(die)).flat_map(of).collect()).collect()
        };
        let tail = |block: BlockId| match flash.kept_blocks.contains(&block) {
            true => step_of(block).map(|step| tail_of_kept(block, step, flash)).unwrap_or_default(),
            false => self.tail_of(block, flash, filling),
        };
        let first = of_dies(&|block| self.probe(block, flash, filling).into_iter().collect());
        Reads { first, tail: of_dies(&tail), map: Vec::new() }
    }

    /// The page that says whether a block has been erased since: the first one that was programmed. A block of which none was
    /// needs no such page if it can be filled from anywhere: all its pages are scanned.
    fn probe(&self, block: BlockId, flash: ScannedFlash, filling: Filling) -> Option<Ppn> {
        let mut pages = flash.array.geometry().pages_of(block);
        match filling {
            Filling::FromTheFront => pages.next(),
            Filling::Anywhere if flash.kept_blocks.contains(&block) => pages.next(),
            Filling::Anywhere => pages.find(|ppn| self.programmed[ppn.idx()]),
        }
    }

    fn tail_of(&self, block: BlockId, flash: ScannedFlash, filling: Filling) -> Vec<Ppn> {
        let (used, is_half_erased) = (flash.array.planned_pages(block), flash.half_erased.contains(&block));
        let geometry = flash.array.geometry();
        let end = match filling {
            Filling::FromTheFront if used == 0 && !is_half_erased => return Vec::new(), // its first page is erased
            Filling::FromTheFront => geometry.pages_per_block.min(used + 1), // a block ends with its first erased page
            Filling::Anywhere => geometry.pages_per_block,
        };
        let probe = self.probe(block, flash, filling);
        let is_same = !is_half_erased
            && probe.is_some_and(|ppn| flash.areas.readable(ppn).is_some_and(|spare| !self.is_later(ppn, &spare)));
        let is_read = |ppn: &Ppn| Some(*ppn) == probe || (is_same && self.programmed[ppn.idx()]);
        geometry.pages_of(block).take(end as usize).filter(|ppn| !is_read(ppn)).collect()
    }
}

/// The pages of a kept block that are read, but for the first one.
fn tail_of_kept(block: BlockId, step: usize, flash: ScannedFlash) -> Vec<Ppn> {
    let used = (flash.array.planned_pages(block) as usize).div_ceil(step);
    let pages = flash.array.geometry().pages_of(block).step_by(step);
    pages.take(if used > 0 { used + 1 } else { 0 }).skip(1).collect()
}

/// How blocks are filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filling {
    /// Page by page.
    FromTheFront,
    /// From any page on, or with gaps.
    Anywhere,
}

/// Pages whose spare areas a recovery reads, of each die.
#[derive(Clone, Debug)]
pub struct Reads {
    /// Those that are read first.
    pub first: Vec<Vec<Ppn>>,
    /// Those that are read after the recovery log.
    pub tail: Vec<Vec<Ppn>>,
    /// Pages of a map on flash that are read after that as a whole, each with the addresses of its copies.
    pub map: Vec<Vec<Ppn>>,
}
