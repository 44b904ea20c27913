//! Log blocks that belong to one logical block each: at most one for a logical block, with a quota on each die, in order of use.

use super::data_blocks::Lbn;
use crate::ftl::{Claims, RestoredDrive};
use crate::nand::Geometry;
use flashwatt_base::list::{Links, List};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::{BlockId, DieId, Lpn};

/// The log blocks of a drive. A logical block has its log block on its home die.
pub struct OwnLogs {
    dies_count: u32,
    /// Slot (+ 1) of each logical block; 0 for none.
    slot_of: FlatTable<u32>,
    /// The slots of all dies, one die after the other.
    slots: FlatTable<LogSlot>,
    links: Vec<Links>,
    dies: FlatTable<DieLogs>,
}

/// A log block and its logical block.
#[derive(Clone, Copy)]
struct LogSlot {
    of: Lbn,
    block: BlockId,
}

/// The slots of a die.
struct DieLogs {
    free: List,
    /// Slots in use, the least recently used first.
    used: List,
}

impl OwnLogs {
    /// Log blocks for `logical_blocks` logical blocks, at most `per_die` on each die.
    pub fn new(geometry: &Geometry, logical_blocks: u32, per_die: u32) -> Self {
        let slots = geometry.dies * per_die;
        let mut links = vec![Links::NONE; slots as usize];
        let mut free = |die: u32| {
            let mut free = List::default();
            (die * per_die..(die + 1) * per_die).for_each(|slot| free.push_last(&mut links, slot));
            free
        };
        OwnLogs {
            dies_count: geometry.dies,
            slot_of: vec![0; logical_blocks as usize].into(),
            slots: vec![LogSlot { of: Lbn(0), block: BlockId::NONE }; slots as usize].into(),
            dies: (0..geometry.dies).map(|die| DieLogs { free: free(die), used: List::default() }).collect(),
            links,
        }
    }

    /// Largest number of log blocks.
    pub fn most(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The log block of a logical block.
    #[inline]
    pub fn get(&self, of: Lbn) -> Option<BlockId> {
        self.slot(of).map(|slot| self.slots[slot as usize].block)
    }

    /// Whether a die may have another log block.
    pub fn has_room(&self, die: DieId) -> bool {
        !self.dies[die.idx()].free.is_empty()
    }

    /// The logical block whose log block is the least recently used one on a die.
    pub fn oldest(&self, die: DieId) -> Option<Lbn> {
        self.dies[die.idx()].used.first().map(|slot| self.slots[slot as usize].of)
    }

    /// Marks a logical block's log block as used.
    #[inline]
    pub fn touch(&mut self, of: Lbn) {
        if let Some(slot) = self.slot(of) {
            let used = &mut self.dies[(of.0 % self.dies_count) as usize].used;
            used.remove(&mut self.links, slot);
            used.push_last(&mut self.links, slot);
        }
    }

    /// Gives a log block to a logical block that has none; its die must have [room](Self::has_room).
    pub fn attach(&mut self, of: Lbn, block: BlockId) {
        let die = &mut self.dies[(of.0 % self.dies_count) as usize];
        let Some(slot) = die.free.pop_first(&mut self.links) else { unreachable!("there is room on the die") };
        die.used.push_last(&mut self.links, slot);
        self.slots[slot as usize] = LogSlot { of, block };
        self.slot_of[of.idx()] = slot + 1;
    }

    /// Takes the log block from a logical block.
    pub fn detach(&mut self, of: Lbn) {
        let Some(slot) = self.slot(of) else { return };
        let die = &mut self.dies[(of.0 % self.dies_count) as usize];
        die.used.remove(&mut self.links, slot);
        die.free.push_first(&mut self.links, slot);
        self.slot_of[of.idx()] = 0;
    }

    /// Writes the log blocks to a snapshot, those of each die in order of use.
    pub fn save(&self, out: &mut StateWriter) {
        for die in self.dies.iter() {
            out.u32(die.used.len());
            for slot in die.used.iter(&self.links) {
                let LogSlot { of, block } = self.slots[slot as usize];
                out.u32(of.0);
                out.u32(block.0);
            }
        }
    }

    /// Restores them on a fresh drive. `logical_block` gives the logical block of a page.
    pub fn restore(
        &mut self,
        from: &mut StateReader,
        claims: &mut Claims,
        drive: &RestoredDrive,
        logical_block: impl Fn(Lpn) -> Lbn,
    ) -> Result<(), Flaw> {
        let geometry = drive.blocks.geometry();
        for die in (0..geometry.dies).map(DieId) {
            for _ in 0..from.len(self.dies[die.idx()].free.len() as usize, "log blocks of a die")? {
                let of = Lbn(from.below(self.slot_of.len() as u32, "logical block")?);
                let block = BlockId(from.u32()?);
                claims.claim(block, die, drive)?;
                let is_own = |lpn: Lpn| logical_block(lpn) == of;
                let is_log = of.0 % geometry.dies == die.0 && self.slot(of).is_none();
                require(is_log && drive.blocks.valid_lpns(block).all(is_own), "a log block of something else")?;
                require(drive.blocks.is_in_use(block), "a log block that is not in use")?;
                self.attach(of, block);
            }
        }
        Ok(())
    }

    #[inline]
    fn slot(&self, of: Lbn) -> Option<u32> {
        self.slot_of[of.idx()].checked_sub(1)
    }
}
