//! Units, random numbers, statistics.

pub mod halves;
pub mod rng;
pub mod stats;
pub mod units;
