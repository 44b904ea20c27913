//! The choice among the dies of a channel that has many.
//!
//! The best of a few dies is found by a look at each of them, at its queues and at the operation in front. Of many dies that would
//! be two cache lines each, for every operation. Here a die's place in the order is a number, which is found again only when the
//! die's choices have changed, and the numbers of a channel lie side by side.

use super::op::OpTable;
use super::queues::{DieQueue, Place, least, ways};
use crate::device::Geometry;
use crate::mem::FlatTable;
use crate::units::{ChannelId, DieId};

/// A channel with more dies than this has many. Choice: with 16 dies the numbers pay, with 4 they do not.
const FEW: u32 = 8;

/// The places of all dies.
pub(super) struct ManyWays {
    geometry: Geometry,
    /// By channel and way.
    places: Vec<Place>,
    /// By channel and way: the plan number of the read whose data waits for the bus.
    data: Vec<u64>,
}

impl ManyWays {
    /// Places of a drive whose channels have many dies; nothing for another one.
    pub fn new(geometry: &Geometry) -> Option<Self> {
        let dies = geometry.dies as usize;
        let has_many = geometry.ways > FEW;
        has_many.then(|| ManyWays {
            geometry: geometry.clone(),
            places: vec![Place::default(); dies],
            data: vec![0; dies],
        })
    }

    /// The best of the dies in `candidates`, and the queue that it would serve. The oldest operation is the best among those of one
    /// queue, and the lowest way among steps of background work. The places of dies in `stale` are found again.
    #[inline(never)]
    pub fn best(
        &mut self,
        channel: ChannelId,
        candidates: u64,
        stale: &mut u64,
        dies: &FlatTable<DieQueue>,
        ops: &OpTable,
    ) -> (u32, u8) {
        let first = self.first(channel);
        for way in ways(*stale & candidates) {
            self.places[first + way as usize] = self.die(channel, way, dies).place(ops);
        }
        *stale = 0; // a die that is no candidate becomes one by a change
        debug_assert!(
            ways(candidates).all(|way| self.places[first + way as usize] == self.die(channel, way, dies).place(ops)),
            "what can change a die's place makes it stale"
        );
        let (way, place) = least(candidates, |way| self.places[first + way as usize]);
        (way, place.queue())
    }

    fn die<'a>(&self, channel: ChannelId, way: u32, dies: &'a FlatTable<DieQueue>) -> &'a DieQueue {
        &dies[self.geometry.die_at(channel, way).idx()]
    }

    /// The data of a die's read, which has this plan number, waits for the bus.
    pub fn data_waits(&mut self, die: DieId, seq: u64) {
        let at = self.first(self.geometry.channel_of(die)) + self.geometry.way_of(die) as usize;
        self.data[at] = seq;
    }

    /// Of the dies in `waits` the one with the oldest read.
    #[inline(never)]
    pub fn oldest_data(&self, channel: ChannelId, waits: u64) -> u32 {
        let first = self.first(channel);
        least(waits, |way| self.data[first + way as usize]).0
    }

    #[inline(always)]
    fn first(&self, channel: ChannelId) -> usize {
        channel.idx() * self.geometry.ways as usize
    }
}
