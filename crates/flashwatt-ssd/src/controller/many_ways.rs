//! The choice among the dies of a channel that has many.
//!
//! The best of a few dies is found by a look at each of them, at its queues and at the operation in front. Of many dies that would
//! be two cache lines each, for every operation. Here each die has a number, and the least number wins. It is found again only
//! for dies whose choices have changed. Of each eight numbers the least is kept: a change costs a look at eight numbers at the
//! most, and a choice a look at the least ones of the eights, which are eight at most.

use super::op::OpTable;
use super::queues::{DiePlace, DieQueue, WAY_BITS, ways};
use crate::nand::Geometry;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{ChannelId, DieId};

/// A channel with more dies than this has many. Choice: with 16 dies the numbers pay, with 4 they do not.
const FEW: u32 = 8;
/// Dies of a channel at the most.
const WAYS_MAX: u32 = 1 << WAY_BITS;

/// The numbers of all dies.
#[derive(Clone)]
pub(super) struct ManyWays {
    geometry: Geometry,
    /// Of dies that could start something: their places in the order of their channel, then the way.
    places: Leasts,
    /// Of dies whose data waits for the bus: the plan number of the read, then the way.
    data: Leasts,
}

impl ManyWays {
    /// The numbers of a drive whose channels have many dies; nothing for another one.
    pub fn new(geometry: &Geometry) -> Option<Self> {
        let has_many = geometry.ways > FEW;
        has_many.then(|| ManyWays {
            geometry: geometry.clone(),
            places: Leasts::new(geometry.channels),
            data: Leasts::new(geometry.channels),
        })
    }

    /// The best of the dies in `candidates`, and the queue that it would serve. The oldest operation is the best among those of one
    /// queue, and the lowest way among steps of background work. The numbers of dies in `stale` are found again.
    #[inline(never)]
    pub fn best(
        &mut self,
        channel: ChannelId,
        candidates: u64,
        stale: &mut u64,
        dies: &FlatTable<DieQueue>,
        ops: &OpTable,
    ) -> (u32, u8) {
        for way in ways(*stale) {
            self.places.set(channel, way, self.number(channel, way, candidates, dies, ops));
        }
        *stale = 0;
        debug_assert!(
            (0..self.geometry.ways)
                .all(|way| self.places.get(channel, way) == self.number(channel, way, candidates, dies, ops)),
            "what can change a die's place makes it stale"
        );
        let least = self.places.least(channel);
        (way_of(least), DiePlace::of_number(least).queue())
    }

    /// The number of a die; that of no die if it is no candidate.
    #[inline(always)]
    fn number(&self, channel: ChannelId, way: u32, candidates: u64, dies: &FlatTable<DieQueue>, ops: &OpTable) -> u64 {
        if candidates >> way & 1 == 0 {
            return Leasts::NONE;
        }
        dies[self.geometry.die_at(channel, way).idx()].place(ops).number(way)
    }

    /// The data of a die's read, which has this plan number, waits for the bus.
    pub fn data_waits(&mut self, die: DieId, seq: u64) {
        let (channel, way) = (self.geometry.channel_of(die), self.geometry.way_of(die));
        self.data.set(channel, way, seq << WAY_BITS | u64::from(way));
    }

    /// Takes the die with the oldest of the reads whose data waits on a channel. There must be one.
    #[inline(never)]
    pub fn take_oldest_data(&mut self, channel: ChannelId) -> u32 {
        let way = way_of(self.data.least(channel));
        self.data.set(channel, way, Leasts::NONE);
        way
    }
}

/// The way in a number's last bits.
#[inline(always)]
fn way_of(number: u64) -> u32 {
    number as u32 % WAYS_MAX
}

/// A number for each die of each channel, and the least of each channel.
#[derive(Clone)]
struct Leasts {
    /// By channel: the numbers of its dies, eight by eight.
    eights: FlatTable<[Eight; 8]>,
    /// By channel: the least of each eight.
    leasts: FlatTable<Eight>,
}

/// Eight numbers in a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Eight([u64; 8]);

impl Leasts {
    /// The number of a die that is not among those to choose from.
    const NONE: u64 = u64::MAX;

    fn new(channels: u32) -> Self {
        let none = Eight([Self::NONE; 8]);
        Leasts { eights: vec![[none; 8]; channels as usize].into(), leasts: vec![none; channels as usize].into() }
    }

    #[inline(always)]
    fn get(&self, channel: ChannelId, way: u32) -> u64 {
        self.eights[channel.idx()][way as usize / 8 % 8].0[way as usize % 8]
    }

    #[inline(always)]
    fn set(&mut self, channel: ChannelId, way: u32, number: u64) {
        let at = way as usize / 8 % 8;
        let eight = &mut self.eights[channel.idx()][at];
        let before = std::mem::replace(&mut eight.0[way as usize % 8], number);
        let least = &mut self.leasts[channel.idx()].0[at];
        if number <= *least {
            *least = number;
        } else if before == *least {
            *least = eight.least();
        }
    }

    #[inline(always)]
    fn least(&self, channel: ChannelId) -> u64 {
        self.leasts[channel.idx()].least()
    }
}

impl Eight {
    /// The least of them, without a branch: which it is follows no pattern.
    #[inline(always)]
    fn least(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashwatt_base::rng::Rng;

    #[test]
    fn the_least_of_any_numbers() {
        let mut rng = Rng::new(3);
        let mut leasts = Leasts::new(2);
        let mut plain = [[Leasts::NONE; WAYS_MAX as usize]; 2];
        for _ in 0..20_000 {
            let (channel, way) = (rng.below(2) as u32, rng.below(u64::from(WAYS_MAX)) as u32);
            let number = if rng.below(3) == 0 { Leasts::NONE } else { rng.below(100) << WAY_BITS | u64::from(way) };
            leasts.set(ChannelId(channel), way, number);
            plain[channel as usize][way as usize] = number;
            let least = *plain[channel as usize].iter().min().expect("numbers");
            assert_eq!(leasts.least(ChannelId(channel)), least);
            assert_eq!(leasts.get(ChannelId(channel), way), number);
            assert!(least == Leasts::NONE || plain[channel as usize][way_of(least) as usize] == least);
        }
    }
}
