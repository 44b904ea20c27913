//! FlashWatt: an event-driven SSD simulator that accounts for every joule.

pub mod config;
pub mod device;
pub mod error;
pub mod ftl;
pub mod gc;
pub mod host;
mod mem;
pub mod registry;
pub mod rng;
pub mod units;
pub mod wear;
pub mod workload;

pub use error::{Error, Fault, Place};
