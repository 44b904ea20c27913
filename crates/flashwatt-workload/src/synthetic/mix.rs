//! The kind and the length of a request.

use super::settings::{Size, Sizes};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// Draws the kind of a request (read, trim or write), then a length from the table of that kind.
#[derive(Clone, Debug)]
pub struct Mix {
    /// Chance thresholds: a draw below the first is a read, below the second a trim.
    read_below: u64,
    trim_below: u64,
    /// Tables of lengths, by `RequestKind`.
    lengths: [Lengths; 3],
}

impl Mix {
    /// A mix with these shares of reads and trims by count, 0 to 1, and these lengths; the other requests are writes.
    pub fn new(read_fraction: f64, trim_fraction: f64, sizes: &Sizes) -> Self {
        let mut lengths = [const { Lengths::One(0) }; 3];
        lengths[RequestKind::Read as usize] = Lengths::new(&sizes.read);
        lengths[RequestKind::Write as usize] = Lengths::new(&sizes.write);
        lengths[RequestKind::Trim as usize] = Lengths::new(&sizes.trim);
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
        // The compiler selects kind and table without a branch: a branch on a random number is mispredicted often.
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

/// Lengths and their probabilities.
#[derive(Clone, Debug)]
pub enum Lengths {
    /// A single length, without a draw.
    One(u64),
    /// Several lengths.
    Many {
        /// Ascending chance thresholds of all lengths but the last.
        below: Vec<u64>,
        /// The length for draws below each threshold, then the last length.
        bytes: Vec<u64>,
    },
}

impl Lengths {
    /// A table of these lengths. Their shares need not add up to 1.
    pub fn new(sizes: &[Size]) -> Self {
        if let [size] = sizes {
            return Lengths::One(size.bytes);
        }
        let all: f64 = sizes.iter().map(|size| size.share).sum();
        let sum_to = |sum: &mut f64, size: &Size| {
            *sum += size.share / all;
            Some(Rng::threshold(sum.min(1.0)))
        };
        let mut below: Vec<u64> = sizes.iter().scan(0.0, sum_to).collect();
        below.pop(); // the last length takes all other draws, so rounding of the sum does not matter
        Lengths::Many { below, bytes: sizes.iter().map(|size| size.bytes).collect() }
    }

    /// Draws a length in bytes.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Lengths::One(bytes) => *bytes,
            Lengths::Many { below, bytes } => {
                let draw = rng.bits() >> 11;
                bytes[below.partition_point(|&below| below <= draw)]
            }
        }
    }
}
