//! What the engine says to its user: errors and progress.

pub mod error;
pub mod progress;
