//! BAST, block-associative sector translation: log blocks, each for one data block.
//!
//! Data blocks are mapped by blocks. Each die has a few log blocks, which are mapped by pages. A log block takes the overwrites
//! of one logical block until it is full or another logical block needs it. [`crate::ftl::blocked::pairs`] places pages and
//! cleans log blocks. Source: Kim et al. 2002.
//!
//! *Replacement*: a logical block needs a log block, and the quota of its die is exhausted. Then the least recently written log
//! block is merged and erased, and a fresh one allocated. This counts as a `replacement` in addition to the merge.
//!
//! Deviations: reads do not make a log block recently used (the paper leaves this open). A log block without valid pages is
//! erased without a merge. Log blocks lie on the die of their data block, so that a merge can copy within the die.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::Geometry;
use crate::ftl::blocked::log_size::LOG_FRACTION;
use crate::ftl::blocked::pairs::{self, PairRules, Pairs};
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::settings::{Checker, field};

/// `[ftl.bast]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Fraction of all blocks for log blocks, as a quota of each die: at most the die's spare blocks, at least one.
    pub log_fraction: Option<f64>,
    /// Whether a log block with the first pages in order can become the data block after the others are copied to it. If
    /// not (as in EnergySim), only a log block with all pages in order can.
    pub partial_merges: Option<bool>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Fraction of all blocks for log blocks.
    pub log_fraction: f64,
    /// Whether a log block that is not full can become the data block.
    pub partial_merges: bool,
}

/// BAST, registered.
pub struct Bast;

/// The translation layer.
pub type BastFtl = Pairs<Bast>;

/// Checks the options of this table.
pub(super) fn resolve(table: &str, options: Options, c: &mut Checker) -> Settings {
    Settings {
        log_fraction: c.number(field!(table, options.log_fraction), LOG_FRACTION, 0.0..=0.5),
        partial_merges: c.choice(field!(table, options.partial_merges), true),
    }
}

/// The rules of BAST by these settings, with or without replacement.
pub(super) fn rules(settings: &Settings, replaces: bool) -> PairRules {
    let Settings { log_fraction, partial_merges } = *settings;
    PairRules { log_fraction, partial_merges, replaces, scans: false }
}

impl Scheme for BastFtl {
    const DOC: &'static str = "log blocks, each for one data block (BAST: Kim et al. 2002)";
    const COLLECTS: bool = false;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        resolve("ftl.bast", options, c)
    }

    fn room(_settings: &Settings, size: &DriveSize) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        Pairs::with(rules(settings, true), setup, geometry)
    }
}
