//! A run of logical pages.

use flashwatt_base::units::Lpn;

/// A contiguous range of logical pages of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The first page.
    pub first: Lpn,
    /// Number of pages, ≥ 1.
    pub pages: u32,
    /// Number of pages of the whole request, of which this may be the rest.
    pub request_pages: u32,
    /// Whether the request covers only a part of the first page.
    pub head_partial: bool,
    /// Whether the request covers only a part of the last page.
    pub tail_partial: bool,
}

impl Extent {
    /// The pages of the extent.
    pub fn lpns(&self) -> impl Iterator<Item = Lpn> + use<> {
        (self.first.0..self.first.0 + self.pages).map(Lpn)
    }

    /// Whether the request covers only a part of the `i`-th page.
    #[inline(always)]
    pub fn is_partial(&self, i: u32) -> bool {
        (self.head_partial && i == 0) || (self.tail_partial && i == self.pages - 1)
    }
}
