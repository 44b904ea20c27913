//! Closed forms of the papers: pure functions, beside which simulations are put.

pub mod mapping_memory;
pub mod rftl;
