//! Means in which older samples fade, as CFQ and BFQ keep them.

/// A sample adds an eighth of this to the count, and an eighth of this times its value to the total.
const WHOLE: u64 = 256;
/// The mean counts with more samples than these (sample_valid).
const ENOUGH: u64 = 80;
/// What is added to the total of think times for rounding.
pub const HALF: u64 = WHOLE / 2;

/// A mean of samples of which the older ones fade.
#[derive(Clone, Copy, Debug, Default)]
pub struct FadingMean {
    samples: u64,
    total: u64,
}

impl FadingMean {
    /// Adds a sample.
    pub fn add(&mut self, value: u64) {
        self.samples = (7 * self.samples + WHOLE) / 8;
        self.total = (7 * self.total + WHOLE * value) / 8;
    }

    /// Whether there are enough samples.
    pub fn is_valid(&self) -> bool {
        self.samples > ENOUGH
    }

    /// The weight of the samples so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Whether [`Self::mean`] is at most this, without the division.
    pub fn mean_is_at_most(&self, rounding: u64, most: u64) -> bool {
        self.samples == 0 || self.total + rounding < (most + 1) * self.samples
    }

    /// The mean of the total and `rounding`; 0 without samples.
    pub fn mean(&self, rounding: u64) -> u64 {
        (self.total + rounding).checked_div(self.samples).unwrap_or(0)
    }
}
