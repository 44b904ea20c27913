//! Which blocks of a file were used, for random requests of several lengths.

/// One bit for each block, and one for each full word of them.
#[derive(Clone, Debug)]
pub(super) struct RandomMap {
    blocks: u64,
    words: Vec<u64>,
    full: Vec<u64>,
}

impl RandomMap {
    /// All blocks are free.
    pub fn new(blocks: u64) -> Self {
        let words = blocks.div_ceil(64) as usize;
        RandomMap { blocks, words: vec![0; words], full: vec![0; words.div_ceil(64)] }
    }

    /// Frees all blocks.
    pub fn reset(&mut self) {
        self.words.fill(0);
        self.full.fill(0);
    }

    fn is_free(&self, block: u64) -> bool {
        self.words.get((block / 64) as usize).is_none_or(|word| word >> (block % 64) & 1 == 0)
    }

    /// The first free block from `block` on, else from 0 on; none if all are used.
    pub fn free_from(&self, block: u64) -> Option<u64> {
        self.free_between(block, self.blocks).or_else(|| self.free_between(0, block.min(self.blocks)))
    }

    fn free_between(&self, first: u64, end: u64) -> Option<u64> {
        let mut block = first;
        while block < end {
            let word = (block / 64) as usize;
            let free = !self.words[word] >> (block % 64);
            if free != 0 {
                return Some(block + u64::from(free.trailing_zeros())).filter(|&found| found < end);
            }
            block = self.word_with_room(word + 1) * 64;
        }
        None
    }

    /// The first word from `word` on that is not full.
    fn word_with_room(&self, word: usize) -> u64 {
        let mut at = word;
        while let Some(full) = self.full.get(at / 64) {
            let room = !full >> (at % 64);
            if room != 0 {
                return at as u64 + u64::from(room.trailing_zeros());
            }
            at = (at / 64 + 1) * 64;
        }
        at as u64
    }

    /// Marks blocks from `first` on as used, `count` of them or up to the first used one; returns how many.
    pub fn mark(&mut self, first: u64, count: u64) -> u64 {
        let run = (first..first + count).take_while(|&block| self.is_free(block)).count() as u64;
        for block in first..(first + run).min(self.blocks) {
            let word = (block / 64) as usize;
            self.words[word] |= 1 << (block % 64);
            if self.words[word] == u64::MAX {
                self.full[word / 64] |= 1 << (word % 64);
            }
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_list_finds() {
        let mut rng = flashwatt_base::rng::Rng::new(3);
        for blocks in [1, 63, 64, 65, 5000] {
            let (mut map, mut used) = (RandomMap::new(blocks), vec![false; blocks as usize]);
            for _ in 0..3 * blocks {
                let from = rng.below(blocks);
                let free = |mut range: std::ops::Range<u64>| range.find(|&at| !used[at as usize]);
                let expected = free(from..blocks).or_else(|| free(0..from));
                assert_eq!(map.free_from(from), expected);
                let Some(first) = expected else { break };
                let run = (first..(first + 3).min(blocks)).take_while(|&at| !used[at as usize]).count() as u64;
                assert_eq!(map.mark(first, run.max(1)), run);
                (first..first + run).for_each(|at| used[at as usize] = true);
            }
            map.reset();
            assert_eq!(map.free_from(blocks - 1), Some(blocks - 1));
        }
    }
}
