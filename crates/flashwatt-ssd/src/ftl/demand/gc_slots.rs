//! A limit on the number of channels that collect at the same time (RFTL: two, so that map reads find replicas elsewhere).
//!
//! A channel has a slot while one of its dies collects. A die that cannot proceed gives its slot up, so that the work it waits
//! for can be done. Dies without a slot get the next one in the order in which they asked.

use std::collections::VecDeque;

use crate::ftl::plan::Plan;
use crate::nand::Geometry;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::units::DieId;

/// The slots.
pub(super) struct GcSlots {
    geometry: Geometry,
    /// Channels that may collect at a time; 0 stands for all.
    limit: u32,
    taken: u32,
    /// For each channel, the number of its dies that collect.
    collecting: Vec<u32>,
    is_collecting: Vec<bool>,
    refused: VecDeque<DieId>,
}

impl GcSlots {
    /// Slots for `limit` channels; 0 for no limit.
    pub fn new(limit: u32, geometry: &Geometry) -> Self {
        GcSlots {
            limit,
            taken: 0,
            collecting: vec![0; geometry.channels as usize],
            is_collecting: vec![false; geometry.dies as usize],
            refused: VecDeque::new(),
            geometry: geometry.clone(),
        }
    }

    /// Whether all channels may collect at the same time.
    #[inline(always)]
    pub fn admits_all(&self) -> bool {
        self.limit == 0
    }

    /// Whether a die may collect now. If not, it is woken when it may.
    #[inline(always)]
    pub fn admits(&mut self, die: DieId) -> bool {
        self.admits_all() || self.is_collecting[die.idx()] || self.admits_new(die)
    }

    fn admits_new(&mut self, die: DieId) -> bool {
        let joins = self.collecting[self.geometry.channel_of(die).idx()] > 0;
        let is_free = self.refused.is_empty() && (joins || self.taken < self.limit);
        if is_free {
            self.take(die);
        } else if !self.refused.contains(&die) {
            self.refused.push_back(die);
        }
        is_free
    }

    fn take(&mut self, die: DieId) {
        let dies = &mut self.collecting[self.geometry.channel_of(die).idx()];
        self.taken += u32::from(*dies == 0);
        *dies += 1;
        self.is_collecting[die.idx()] = true;
    }

    /// Writes to a snapshot which dies collect, and which wait for a slot.
    pub fn save(&self, out: &mut StateWriter) {
        self.is_collecting.iter().for_each(|&collects| out.bool(collects));
        out.list(self.refused.iter().map(|die| die.0));
    }

    /// Reads the slots of a fresh drive from a snapshot.
    pub fn restore(&mut self, from: &mut StateReader) -> Result<(), Flaw> {
        for die in (0..self.geometry.dies).map(DieId) {
            if from.bool()? {
                require(self.limit > 0, "a slot for collection where none is needed")?;
                self.take(die);
            }
        }
        require(self.limit == 0 || self.taken <= self.limit, "more channels that collect than may")?;
        let dies = self.geometry.dies;
        self.refused = from.list(dies as usize, dies, "dies that wait to collect")?.into_iter().map(DieId).collect();
        Ok(())
    }

    /// A die has nothing to collect any more: it waits for no slot. Folds end without one.
    pub fn forget(&mut self, die: DieId) {
        self.refused.retain(|&other| other != die);
    }

    /// A die has ended its collection, or cannot proceed now.
    pub fn give_up(&mut self, die: DieId, plan: &mut Plan) {
        if !std::mem::take(&mut self.is_collecting[die.idx()]) {
            return;
        }
        let dies = &mut self.collecting[self.geometry.channel_of(die).idx()];
        *dies -= 1;
        self.taken -= u32::from(*dies == 0);
        while self.taken < self.limit
            && let Some(next) = self.refused.pop_front()
        {
            self.take(next);
            plan.wake(next);
        }
    }
}
