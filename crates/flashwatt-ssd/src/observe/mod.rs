//! What watches an SSD from inside: its accounts, probes, the operation log, the full check.

pub mod accounts;
pub mod check;
pub mod probe;
