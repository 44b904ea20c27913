//! A set of channels, from which the lowest is taken.

use std::hint::cold_path;

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
            steps in prop::collection::vec((0..4096u32, any::<bool>(), any::<bool>()), 1..300),
        ) {
            let mut set = ChannelSet::new(channels);
            let mut expected = BTreeSet::new();
            for (number, really, takes) in steps {
                let number = number % channels;
                if takes {
                    prop_assert_eq!(set.take_lowest().map(|channel| channel.0), expected.pop_first());
                } else {
                    set.add_if(really, ChannelId(number));
                    if really {
                        expected.insert(number);
                    }
                }
                prop_assert_eq!(set.is_empty(), expected.is_empty());
                prop_assert_eq!(set.has(ChannelId(number)), expected.contains(&number));
            }
        }
    }
}
