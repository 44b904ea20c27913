//! Bitmaps of blocks and of inodes: which are taken, group by group.

/// Bits in groups of one length, and how many of each group are free.
#[derive(Debug)]
pub struct Bitmap {
    words: Vec<u64>,
    /// Bits of a group.
    of_group: u32,
    free: Vec<u32>,
    free_in_all: u64,
}

impl Bitmap {
    /// No bit of these groups is taken. Each group but the last has `of_group` bits, a multiple of 16.
    pub fn new(bits: u32, of_group: u32) -> Self {
        let groups = bits.div_ceil(of_group);
        let length = |group: u32| (bits - group * of_group).min(of_group);
        Bitmap {
            words: vec![0; bits.div_ceil(64) as usize],
            of_group,
            free: (0..groups).map(length).collect(),
            free_in_all: u64::from(bits),
        }
    }

    /// Free bits of a group.
    pub fn free_in(&self, group: u32) -> u32 {
        self.free[group as usize]
    }

    /// Free bits.
    pub fn free(&self) -> u64 {
        self.free_in_all
    }

    /// Whether a bit is taken.
    pub fn is_taken(&self, bit: u32) -> bool {
        self.words[(bit / 64) as usize] >> (bit % 64) & 1 != 0
    }

    /// Takes a free bit.
    pub fn take(&mut self, bit: u32) {
        debug_assert!(!self.is_taken(bit), "bit {bit} is free");
        self.words[(bit / 64) as usize] |= 1 << (bit % 64);
        self.free[(bit / self.of_group) as usize] -= 1;
        self.free_in_all -= 1;
    }

    /// Gives a taken bit back.
    pub fn give(&mut self, bit: u32) {
        debug_assert!(self.is_taken(bit), "bit {bit} is taken");
        self.words[(bit / 64) as usize] &= !(1 << (bit % 64));
        self.free[(bit / self.of_group) as usize] += 1;
        self.free_in_all += 1;
    }

    /// The first free bit from `from` to before `until`.
    pub fn first_free(&self, from: u32, until: u32) -> Option<u32> {
        let mut bit = from;
        while bit < until {
            let rest = !self.words[(bit / 64) as usize] >> (bit % 64);
            if rest != 0 {
                let found = bit + rest.trailing_zeros();
                return (found < until).then_some(found);
            }
            bit = (bit / 64 + 1) * 64;
        }
        None
    }

    /// Runs of taken bits.
    pub fn taken_runs(&self, bits: u32) -> Vec<std::ops::Range<u32>> {
        let mut runs: Vec<std::ops::Range<u32>> = Vec::new();
        for bit in (0..bits).filter(|&bit| self.is_taken(bit)) {
            match runs.last_mut() {
                Some(run) if run.end == bit => run.end += 1,
                _ => runs.push(bit..bit + 1),
            }
        }
        runs
    }
}
