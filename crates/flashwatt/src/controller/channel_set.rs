//! A set of channels, from which the lowest is taken.

use std::hint::cold_path;

use super::queues::ways;
use crate::units::ChannelId;

const BITS: u32 = u64::BITS;

/// A set of channels. Up to 64 of them are the bits of one word; more are bits of several words, and the bits of the first
/// say which of those are not 0. The most that fit are 64 x 64.
#[derive(Clone, Debug)]
pub(super) struct ChannelSet {
    first: u64,
    /// Empty for up to 64 channels.
    words: Vec<u64>,
}

impl ChannelSet {
    /// An empty set that has room for this number of channels.
    pub fn new(channels: u32) -> Self {
        assert!(channels <= BITS * BITS, "a set holds 4,096 channels");
        let words = if channels <= BITS { 0 } else { channels.div_ceil(BITS) };
        ChannelSet { first: 0, words: vec![0; words as usize] }
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }

    #[inline(always)]
    pub fn has(&self, channel: ChannelId) -> bool {
        match self.words.get((channel.0 / BITS) as usize) {
            None => self.first >> channel.0 & 1 != 0,
            Some(word) => word >> (channel.0 % BITS) & 1 != 0,
        }
    }

    /// Adds a channel if `really`, without a branch on that: a processor cannot predict it.
    #[inline(always)]
    pub fn add_if(&mut self, really: bool, channel: ChannelId) {
        if !self.words.is_empty() {
            cold_path();
            return self.add_to_words(really, channel);
        }
        self.first |= u64::from(really) << channel.0;
    }

    /// Adds a channel, or takes it out.
    #[inline(always)]
    pub fn put(&mut self, channel: ChannelId, is_in: bool) {
        let (word, bit) = (channel.0 / BITS, channel.0 % BITS);
        let set = |bits: u64, bit: u32, is_in: bool| bits & !(1 << bit) | u64::from(is_in) << bit;
        match self.words.get_mut(word as usize) {
            None => self.first = set(self.first, bit, is_in),
            Some(bits) => {
                *bits = set(*bits, bit, is_in);
                self.first = set(self.first, word, *bits != 0);
            }
        }
    }

    /// Number of words of [`Self::of_word`].
    #[inline(always)]
    pub fn words(&self) -> usize {
        self.words.len().max(1)
    }

    /// The channels of one of the words, in ascending order, as they are now.
    #[inline(always)]
    pub fn of_word(&self, word: usize) -> impl Iterator<Item = ChannelId> + use<> {
        let bits = self.words.get(word).copied().unwrap_or(self.first);
        ways(bits).map(move |bit| ChannelId(BITS * word as u32 + bit))
    }

    /// Takes the lowest channel.
    #[inline(always)]
    pub fn take_lowest(&mut self) -> Option<ChannelId> {
        if self.first == 0 {
            return None;
        }
        let lowest = self.first.trailing_zeros();
        if let Some(word) = self.words.get_mut(lowest as usize) {
            cold_path();
            let channel = ChannelId(lowest * BITS + word.trailing_zeros());
            *word &= *word - 1;
            self.first &= !(u64::from(*word == 0) << lowest);
            return Some(channel);
        }
        self.first &= self.first - 1;
        Some(ChannelId(lowest))
    }

    #[inline(never)]
    fn add_to_words(&mut self, really: bool, channel: ChannelId) {
        let word = channel.0 / BITS;
        self.words[word as usize] |= u64::from(really) << (channel.0 % BITS);
        self.first |= u64::from(really) << word;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gives_what_an_ordered_set_gives(
            channels in prop_oneof![1..=64u32, 65..=4096u32],
            steps in prop::collection::vec((0..4096u32, any::<bool>(), 0..4u8), 1..300),
        ) {
            let mut set = ChannelSet::new(channels);
            let mut expected = BTreeSet::new();
            for (number, really, what) in steps {
                let number = number % channels;
                match what {
                    0 => prop_assert_eq!(set.take_lowest().map(|channel| channel.0), expected.pop_first()),
                    1 => set.put(ChannelId(number), really),
                    _ => set.add_if(really, ChannelId(number)),
                }
                if what > 0 && really {
                    expected.insert(number);
                } else if what == 1 {
                    expected.remove(&number);
                }
                let all: Vec<u32> = (0..set.words()).flat_map(|word| set.of_word(word)).map(|one| one.0).collect();
                prop_assert!(all.iter().eq(&expected), "{all:?} {expected:?}");
                prop_assert_eq!(set.is_empty(), expected.is_empty());
                prop_assert_eq!(set.has(ChannelId(number)), expected.contains(&number));
            }
        }
    }
}
