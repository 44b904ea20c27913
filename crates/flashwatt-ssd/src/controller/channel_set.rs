//! A set of channels, from which the lowest are taken.

use std::ops::Range;

use flashwatt_base::units::ChannelId;

/// A set of channels, as bits of one word. Up to 64 channels have a bit each. Of more, neighbours share a bit: the set has all
/// of them or none.
#[derive(Clone, Debug)]
pub(super) struct ChannelSet {
    bits: u64,
    channels: u32,
    /// 2^shift channels share a bit.
    shift: u32,
    /// That number of channels.
    width: u32,
}

impl ChannelSet {
    /// An empty set for this number of channels.
    pub fn new(channels: u32) -> Self {
        let width = channels.div_ceil(u64::BITS).next_power_of_two();
        ChannelSet { bits: 0, channels, shift: width.trailing_zeros(), width }
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }

    #[inline(always)]
    pub fn has(&self, channel: ChannelId) -> bool {
        self.bits >> (channel.0 >> self.shift) & 1 != 0
    }

    /// Adds a channel, and those that share its bit, if `really`; without a branch on that, because a processor cannot predict it.
    #[inline(always)]
    pub fn add_if(&mut self, really: bool, channel: ChannelId) {
        self.bits |= u64::from(really) << (channel.0 >> self.shift);
    }

    /// Adds the channels of another set for the same number of channels.
    #[inline(always)]
    pub fn add_all(&mut self, other: &ChannelSet) {
        self.bits |= other.bits;
    }

    /// Takes all channels.
    #[inline(always)]
    pub fn take(&mut self) -> ChannelSet {
        ChannelSet { bits: std::mem::take(&mut self.bits), ..*self }
    }

    /// The only channel in this set and `other` together, which are for the same number of channels. `None` if there are
    /// several, or none, or if channels share bits.
    #[inline(always)]
    pub fn only_one_with(&self, other: &ChannelSet) -> Option<ChannelId> {
        let bits = self.bits | other.bits;
        (bits.is_power_of_two() && self.width == 1).then_some(ChannelId(bits.trailing_zeros()))
    }

    /// Adds a channel and those that share its bit, or removes them.
    #[inline(always)]
    pub fn set(&mut self, is_in: bool, channel: ChannelId) {
        let bit = channel.0 >> self.shift;
        self.bits = self.bits & !(1 << bit) | u64::from(is_in) << bit;
    }

    /// The channels from the lowest of the set to the highest.
    #[inline(always)]
    pub fn span(&self) -> Range<u32> {
        if self.bits == 0 {
            return 0..0;
        }
        let end = (u64::BITS - self.bits.leading_zeros()) << self.shift;
        self.bits.trailing_zeros() << self.shift..self.channels.min(end)
    }

    /// Takes the lowest channels that share a bit.
    #[inline(always)]
    pub fn take_lowest(&mut self) -> Option<Range<u32>> {
        if self.bits == 0 {
            return None;
        }
        let first = self.bits.trailing_zeros() << self.shift;
        self.bits &= self.bits - 1;
        Some(first..self.channels.min(first + self.width))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gives_what_an_ordered_set_of_groups_gives(
            channels in prop_oneof![1..=64u32, 65..=1024u32],
            steps in prop::collection::vec((0..1024u32, any::<bool>(), 0..3u8), 1..300),
        ) {
            let mut set = ChannelSet::new(channels);
            let width = (1..).map(|n| 1 << (n - 1)).find(|width| 64 * width >= channels).expect("1,024 fit");
            let mut expected = BTreeSet::new();
            for (number, really, what) in steps {
                let number = number % channels;
                let group = number / width;
                match what {
                    0 => {
                        let lowest = expected.pop_first().map(|group: u32| group * width..channels.min((group + 1) * width));
                        prop_assert_eq!(set.take_lowest(), lowest);
                    }
                    1 => {
                        set.set(really, ChannelId(number));
                        expected.remove(&group);
                    }
                    _ => set.add_if(really, ChannelId(number)),
                }
                if what > 0 && really {
                    expected.insert(group);
                }
                let (first, last) = (expected.first().copied(), expected.last().copied());
                let span = first.zip(last).map_or(0..0, |(first, last)| first * width..channels.min((last + 1) * width));
                prop_assert_eq!(set.span(), span);
                prop_assert_eq!(set.is_empty(), expected.is_empty());
                for other in [0, number] {
                    let mut one = ChannelSet::new(channels);
                    one.set(true, ChannelId(other));
                    let together: BTreeSet<u32> = expected.iter().copied().chain([other / width]).collect();
                    let only = together.first().copied().filter(|_| together.len() == 1 && width == 1);
                    prop_assert_eq!(set.only_one_with(&one).map(|channel| channel.0), only);
                }
                prop_assert_eq!(set.has(ChannelId(number)), expected.contains(&group));
            }
        }
    }
}
