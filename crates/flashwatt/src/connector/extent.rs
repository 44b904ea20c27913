//! A run of logical pages.

use crate::units::Lpn;

/// A run of logical pages of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The first.
    pub first: Lpn,
    /// How many, ≥ 1.
    pub pages: u32,
    /// How many the whole request has, of which this may be the rest.
    pub request_pages: u32,
    /// The request covers only a part of the first page …
    pub head_partial: bool,
    /// … or of the last.
    pub tail_partial: bool,
}

impl Extent {
    /// Its pages.
    pub fn lpns(&self) -> impl Iterator<Item = Lpn> + use<> {
        (self.first.0..self.first.0 + self.pages).map(Lpn)
    }

    /// Does the request cover only a part of the `i`-th page?
    #[inline(always)]
    pub fn is_partial(&self, i: u32) -> bool {
        (self.head_partial && i == 0) || (self.tail_partial && i == self.pages - 1)
    }
}
