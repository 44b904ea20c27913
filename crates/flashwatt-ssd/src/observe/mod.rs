//! What watches an SSD from inside: probes, the operation log, the full check.

pub mod check;
pub mod probe;
