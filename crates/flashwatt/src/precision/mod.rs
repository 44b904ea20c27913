//! Runs that stop when their figures are known as precisely as was asked for (`run.measure.precision`).
//!
//! ```text
//! kernel (Stop)  ->  rule: batches, warm-up, decision   ->  report: intervals and the reason of the end
//!                      |  batches: cumulative totals at the ends of batches of equal numbers of requests
//!                      |  figures: a figure's value and, for each batch, its influence on that value
//!                      |  estimate: interval and stationarity of a series of influences
//!                      |  settling: when the window may begin, and how long it must be
//!                    pair: two runs in step, for the difference of their figures
//! ```
//!
//! Every decision depends on simulated events only.

mod batches;
mod estimate;
mod figures;
mod pair;
mod report;
mod rule;
mod settling;

pub use figures::Figure;
pub(crate) use pair::{Compared, Half, Meeting, Place};
pub use report::{Against, Difference, EndedBy, FoundWarmup, PreciseFigure, PrecisionReport};
pub(crate) use rule::{Rule, Shared};
pub(crate) use settling::Settling;
