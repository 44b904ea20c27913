//! Counts of flash operations, and the spread of a count over blocks.

use serde::Serialize;

/// Counts of flash operations: pages read, pages programmed, blocks erased. A copyback is a read and a program.
#[derive(Clone, Debug, Serialize)]
pub struct Flash {
    /// Pages read.
    pub reads: Counts,
    /// Pages programmed.
    pub programs: Counts,
    /// Blocks erased.
    pub erases: Counts,
    /// Logical pages read that were never written.
    pub unwritten_reads: u64,
    /// Bytes programmed per byte that the host wrote: the product of the factors. None if it wrote nothing.
    pub write_amplification: Option<f64>,
    /// Bytes of the map units that the host's writes touch, per byte that it wrote: the cost of writing parts of units.
    pub rmw_factor: Option<f64>,
    /// Bytes that leave the write buffer, per byte of the map units written into it: the effect of coalescing. None
    /// without a write buffer.
    pub buffer_factor: Option<f64>,
    /// Bytes that the translation layer is given to write, in whole map units, and those of pages programmed to complete rows, per byte
    /// that it is given. None without such pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pad_factor: Option<f64>,
    /// These bytes, and those of pages folded from the single-level cache, per byte of them. None if none was folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold_factor: Option<f64>,
    /// Bytes programmed per byte that the translation layer is given to write, that completes rows or that is folded: the additional
    /// writes of garbage collection, merges, the map, wear levelling and partly filled pages. None if it is given
    /// nothing.
    pub gc_factor: Option<f64>,
}

/// Counts by cause.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub host: u64,
    pub gc: u64,
    pub merge: u64,
    pub map: u64,
    pub wear: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub backup: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub journal: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub pad: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub fold: u64,
    pub total: u64,
}

/// Distribution of values.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Spread {
    pub min: u32,
    pub max: u32,
    pub mean: f64,
    pub stddev: f64,
}

/// Whether a cause is none of this run's.
fn is_none(count: &u64) -> bool {
    *count == 0
}
