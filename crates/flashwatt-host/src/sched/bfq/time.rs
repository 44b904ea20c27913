//! Times of BFQ.

use flashwatt_base::units::Nanos;

/// A time in ns. Times before the run are below 0.
pub type Time = i64;

/// Long before the run (bfq_smallest_from_now).
pub const LONG_AGO: Time = Time::MIN / 4;

/// A think time up to this one is none (BFQ_MIN_TT).
pub const MIN_THINK_NS: Nanos = 2_000_000;
