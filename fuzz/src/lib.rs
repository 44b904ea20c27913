//! Fuzzing of what reads the user's input: its targets, and the fates of a trace's records, which tests of the engine share.

#[path = "../../crates/flashwatt/tests/common/fates.rs"]
pub mod fates;
mod targets;

pub use targets::Target;
