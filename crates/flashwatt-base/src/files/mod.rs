//! Files that appear when they are whole, and the state of a drive in them.

pub mod output;
pub mod persist;
