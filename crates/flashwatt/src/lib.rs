//! FlashWatt: an event-driven SSD simulator that accounts for every joule.

pub mod books;
pub mod brain;
pub mod config;
pub mod controller;
pub mod device;
pub mod energy;
pub mod error;
pub mod ftl;
pub mod gc;
pub mod host;
pub mod instant;
mod mem;
pub mod probe;
pub mod registry;
pub mod report;
mod reprice;
pub mod rng;
pub mod run;
pub mod sim;
pub mod stats;
pub mod units;
pub mod wear;
pub mod workload;

pub use error::{Error, Fault, Place};
pub use registry::list;
pub use report::Report;
pub use reprice::reprice;
pub use run::{RunOptions, run};
pub use sim::Progress;
