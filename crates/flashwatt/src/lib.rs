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
//! This crate puts the parts together: what a user writes ([`config`]), a run ([`run`](mod@run)), a [`Drive`] that a program drives, and what comes
//! out ([`report`]). The parts are crates of their own, each with a page that says what is in it:
//!
//! | crate | what is in it |
//! |---|---|
//! | [`flashwatt_core`] | the loop ([`kernel::sim`], the file to read first), the connector, energy by states of parts |
//! | [`flashwatt_ssd`] | translation layers, policies, controller, flash and its referee |
//! | [`flashwatt_devices`] | disks and arrays |
//! | [`flashwatt_host`], [`flashwatt_files`], [`flashwatt_workload`] | what stands before a device |
//!
//! The engine is deterministic: one configuration and seed, one report, to the byte. It reads no clock, starts no thread and
//! prints nothing.
//!
//! # What is promised
//!
//! What this crate names: configurations, runs, [`Drive`], the connector, reports, traces. A device or a workload of your own implements
//! [`connector::Device`] or [`connector::Workload`], and runs by [`run::run_device`] or [`run::run_with`]. A victim policy is
//! [`flashwatt_ssd::gc::VictimPolicy`]; only those of its registry can be named in a configuration.
//!
//! The other crates promise nothing. They index their tables without checks in release builds, unless their default feature `checked` is on.
//! This crate goes without it, because it checks what enters. Its own feature `internals` opens the rest of it for the engine's tests,
//! and turns those checks on.

// Without the feature, only the engine's tests reach some public items of its modules.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unused_imports))]

/// The example of the README, compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod config;
pub mod precision;
pub mod report;
pub mod run;

pub use config::catalogue::{Registered, kinds, list, registered};
pub use crash::{Crash, Cut, crash, cut_schema, run};
pub use drive::{Done, Drive, PowerCut};
pub use flashwatt_base::error::{Error, Fault, Place};
pub use flashwatt_base::progress::{Preparation, Progress, Watch};
pub use flashwatt_base::{error, output, rng, stats, units};
pub use flashwatt_core::{connector, energy, kernel};
pub use flashwatt_ssd::drive::BlockContent;
pub use flashwatt_ssd::models;
pub use flashwatt_workload as workload;
pub use report::Report;
pub use report::reprice::reprice;
pub use run::RunOptions;
pub use run::age::{AgeOptions, Aged, age, age_within};
pub use run::footprint::{footprint_bytes, memory_bytes};
pub use run::inspect::{FileLayout, Inspection, inspect};
pub use run::power;
pub use run::run_against;
pub use run::shared_start::shared_start;

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
    any,
    crash,
    drive,
    snapshot,
}
