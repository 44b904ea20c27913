//! FlashWatt: an event-driven SSD simulator that accounts for every joule.

pub mod config;
pub mod error;
pub mod gc;
pub mod host;
pub mod registry;
pub mod units;
pub mod wear;
pub mod workload;

pub use error::{Error, Fault, Place};
