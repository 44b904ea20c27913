//! FlashWatt: an event-driven SSD simulator that accounts for every joule.
//!
//! # A request, down once and up once
//!
//! ```text
//! workload ── host link ── Ftl::{read, write, trim}(Extent, Context, &mut Plan)      decides; owns the map
//!    ^  ^                    └─ asks gc / wear: choose(&BlockView) -> Choice
//!    │  │        Plan ── Controller     when: channels, dies, delays, classes; asks for background work step by step
//!    │  │                  ├─ Array     the flash as it is now, and the referee of its rules
//!    │  │                  └─ SsdAccounts  ledger (integer ns), meter (current as it changes), series, probes
//!    │  └─ done ── request completes ── latency histogram
//!    └──────────── at the end: price(ledger, table) -> Report
//! ```
//!
//! # A worked run
//!
//! ```
//! use flashwatt::{RunOptions, config, run};
//!
//! // One 32 KiB write to an idle drive of 4 channels with 4 dies each: eight pages on eight dies.
//! let text = r#"
//!     [device]
//!     preset = "energysim"
//!     channels = 4
//!     ways = 4
//!     [workload.uniform]
//!     requests = 1
//!     request_bytes = 32768
//!     align_bytes = 4096
//! "#;
//! let config = config::load(text, "example.toml", &[])?;
//! let report = run(&config, &RunOptions::default(), &mut |_progress| true)?;
//!
//! // The pages start 30 µs apart (channel switch delay); the last one is moved in and programmed in 82 + 900 µs.
//! assert_eq!(report.latency_ns.write.max, Some((7 * 30 + 82 + 900) * 1_000));
//! // A program costs 20 mA × 3.3 V × 900 µs = 59.4 µJ.
//! assert!((report.ssd().energy_j.nand.program - 8.0 * 59.4e-6).abs() < 1e-12);
//! # Ok::<(), flashwatt::Error>(())
//! ```
//!
//! # Where to read on
//!
//! [`kernel::sim`] is the loop and the file to read first. [`controller`] says when things happen, [`ftl`] what happens, [`energy`]
//! and [`ssd_energy`] what it costs, [`device::array`] what is allowed. A new victim policy is one file in [`gc`] and one line in its
//! registry, a new translation layer one file in [`ftl`] and one line in its list.
//!
//! The engine is deterministic: one configuration and seed, one report, to the byte. It reads no clock, starts no thread and
//! prints nothing.
//!
//! # What other crates see
//!
//! Configurations, runs, [`Drive`], the connector, reports, traces. The engine's insides (translation layers, the array, the
//! controller) index their tables without checks in release builds, so other crates do not reach them.
//! The feature `internals` opens them for the engine's own tests. It turns the checks on.

// Without the feature, only the engine's tests reach some public items of its modules.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unused_imports))]

/// The example of the README, compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod age;
mod any;
mod audit;
mod catalogue;
pub mod config;
pub mod connector;
mod drive;
pub mod energy;
pub mod error;
mod footprint;
mod halves;
mod hash;
pub mod hdd;
mod inspect;
pub mod kernel;
mod lane;
mod limits;
mod list;
mod mem;
pub mod models;
pub mod output;
pub mod power;
mod progress;
pub mod report;
mod reported;
mod reprice;
mod request_log;
pub mod rng;
pub mod run;
mod settings;
mod shared;
pub mod ssd_energy;
pub mod stats;
pub mod units;
pub mod workload;

pub use age::{AgeOptions, Aged, age};
pub use catalogue::{Registered, kinds, list, registered};
pub use crash::{Crash, Cut, crash, cut_schema, run};
pub use drive::{Done, Drive, PowerCut};
pub use error::{Error, Fault, Place};
pub use footprint::footprint_bytes;
pub use inspect::{FileLayout, Inspection, inspect};
pub use progress::{Preparation, Progress, Watch};
pub use report::Report;
pub use reprice::reprice;
pub use run::RunOptions;
pub use ssd::BlockContent;

/// Modules that other crates see with the feature `internals` only.
macro_rules! internal {
    ($($module:ident),+ $(,)?) => {
        $(
            #[cfg(feature = "internals")]
            pub mod $module;
            #[cfg(not(feature = "internals"))]
            mod $module;
        )+
    };
}

internal! {
    blocks,
    accounts,
    firmware,
    cache,
    check,
    controller,
    crash,
    files,
    ftl,
    gc,
    host,
    nand,
    recovery,
    clockless,
    paced,
    operation,
    persist,
    probe,
    raid,
    registry,
    snapshot,
    ssd,
    wear,
}
