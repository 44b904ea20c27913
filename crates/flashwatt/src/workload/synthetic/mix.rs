//! What a request is: its kind and its length.

use crate::connector::RequestKind;
use crate::rng::Rng;
use crate::workload::settings::{Size, Sizes};

/// Draws kinds and lengths: a read with one probability, a trim with another, else a write; a length of that kind's table.
#[derive(Clone, Debug)]
pub(crate) struct Mix {
    /// Chance thresholds: a draw below the first is a read, below the second a trim.
    read_below: u64,
    trim_below: u64,
    /// By kind.
    lengths: [Table; 3],
}

impl Mix {
    /// Shares of requests, by count, and the lengths of each kind.
    pub fn new(read_fraction: f64, trim_fraction: f64, sizes: &Sizes) -> Self {
        let mut lengths = [const { Table::One(0) }; 3];
        lengths[RequestKind::Read as usize] = Table::new(&sizes.read);
        lengths[RequestKind::Write as usize] = Table::new(&sizes.write);
        lengths[RequestKind::Trim as usize] = Table::new(&sizes.trim);
        Mix {
            read_below: Rng::threshold(read_fraction),
            trim_below: Rng::threshold((read_fraction + trim_fraction).min(1.0)),
            lengths,
        }
    }

    /// The next request's kind and length in bytes.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> (RequestKind, u64) {
        let draw = rng.bits() >> 11;
        // Chosen without a branch, which no processor could foresee; so is the table.
        let kind = if draw < self.read_below {
            RequestKind::Read
        } else if draw < self.trim_below {
            RequestKind::Trim
        } else {
            RequestKind::Write
        };
        (kind, self.lengths[kind as usize].draw(rng))
    }
}

/// Lengths and how often they come.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    /// One length: nothing is drawn.
    One(u64),
    /// Several.
    Many {
        /// Ascending chance thresholds, of all but the last.
        below: Vec<u64>,
        /// The length of draws below each, and the last.
        bytes: Vec<u64>,
    },
}

impl Table {
    /// Shares need not add up to 1.
    pub fn new(sizes: &[Size]) -> Self {
        if let [size] = sizes {
            return Table::One(size.bytes);
        }
        let all: f64 = sizes.iter().map(|size| size.share).sum();
        let sum_to = |sum: &mut f64, size: &Size| {
            *sum += size.share / all;
            Some(Rng::threshold(sum.min(1.0)))
        };
        let mut below: Vec<u64> = sizes.iter().scan(0.0, sum_to).collect();
        below.pop(); // whatever the sum was rounded to
        Table::Many { below, bytes: sizes.iter().map(|size| size.bytes).collect() }
    }

    /// One of them.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Table::One(bytes) => *bytes,
            Table::Many { below, bytes } => {
                let draw = rng.bits() >> 11;
                bytes[below.partition_point(|&below| below <= draw)]
            }
        }
    }
}
