//! A set of small numbers that finds its next member in a few steps, however thin it is.

/// Numbers below a bound. Each level says which words of the level below have a member.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    levels: Vec<Vec<u64>>,
}

impl Bits {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        let mut levels = vec![vec![0; bound.div_ceil(64).max(1)]];
        while levels[levels.len() - 1].len() > 1 {
            let words = levels[levels.len() - 1].len().div_ceil(64);
            levels.push(vec![0; words]);
        }
        Bits { levels }
    }

    pub fn contains(&self, member: u32) -> bool {
        self.levels[0][member as usize / 64] >> (member % 64) & 1 == 1
    }

    pub fn insert(&mut self, member: u32) {
        debug_assert!(!self.contains(member));
        let mut at = member as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            if !was_empty {
                return;
            }
            at /= 64;
        }
    }

    pub fn remove(&mut self, member: u32) {
        debug_assert!(self.contains(member));
        let mut at = member as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The least member that is `from` or greater; if there is none, the least member of all.
    pub fn next(&self, from: u32) -> Option<u32> {
        self.at_least(from as usize).or_else(|| self.at_least(0))
    }

    fn at_least(&self, from: usize) -> Option<u32> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let found = level.get(at / 64).map_or(0, |word| word >> (at % 64));
            if found != 0 {
                return Some(self.descend(height, at + found.trailing_zeros() as usize));
            }
            at = at / 64 + 1;
        }
        None
    }

    /// The least member below a bit of a level.
    fn descend(&self, height: usize, bit: usize) -> u32 {
        let below = self.levels[..height].iter().rev();
        below.fold(bit, |bit, level| bit * 64 + level[bit].trailing_zeros() as usize) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashwatt_base::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_an_ordered_set() {
        for bound in [1, 64, 65, 5000, 300_000] {
            let (mut bits, mut set, mut rng) = (Bits::new(bound), BTreeSet::new(), Rng::new(bound as u64));
            for _ in 0..3000 {
                let member = rng.below(bound as u64) as u32;
                if set.insert(member) {
                    bits.insert(member);
                } else {
                    set.remove(&member);
                    bits.remove(member);
                }
                let from = rng.below(bound as u64 + 70) as u32;
                let next = set.range(from..).next().or(set.iter().next()).copied();
                assert_eq!(
                    (bits.next(from), bits.contains(member)),
                    (next, set.contains(&member)),
                    "{bound}: from {from}"
                );
            }
        }
    }
}
