//! Where pages are written to next, and where those of one copy come from.

use crate::device::Geometry;
use crate::units::{BlockId, Ppn};

/// The next address to be written in an open block, up to the block's end.
#[derive(Clone, Copy, Default)]
pub(in crate::ftl) struct Frontier {
    pub next: u32,
    end: u32,
}

impl Frontier {
    /// At the beginning of a block.
    pub fn at(geometry: &Geometry, block: BlockId) -> Self {
        let first = geometry.first_ppn(block).0;
        Frontier { next: first, end: first + geometry.units_per_block }
    }

    /// Nothing is left.
    #[inline(always)]
    pub fn is_full(self) -> bool {
        self.next == self.end
    }

    /// The next address; so many map units are written there.
    #[inline(always)]
    pub fn take(&mut self, units: u32) -> Ppn {
        let ppn = Ppn(self.next);
        self.next += units;
        ppn
    }
}

/// The sources of one copy: as many as a page has map units, at most 32.
#[derive(Default)]
pub(super) struct Units {
    ppns: [Ppn; 32],
    len: usize,
}

impl Units {
    /// One more.
    pub fn push(&mut self, ppn: Ppn) {
        self.ppns[self.len] = ppn;
        self.len += 1;
    }
}

impl std::ops::Deref for Units {
    type Target = [Ppn];

    fn deref(&self) -> &[Ppn] {
        &self.ppns[..self.len]
    }
}
