//! Closed forms of the papers, for comparison with simulations: pure functions.

pub mod mapping_memory;
pub mod rftl;
