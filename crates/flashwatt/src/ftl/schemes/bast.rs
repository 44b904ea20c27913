//! BAST, block-associative sector translation: log blocks, each of them for one data block.
//!
//! Data blocks are mapped block by block. Each die has a few log blocks, which are mapped page by page; each takes the
//! overwrites of one logical block until it is full or another one needs it. How pages are placed and log blocks cleaned is
//! said in [`crate::ftl::blocked::pairs`]. Source: Kim et al. 2002; SPEC A5, A6, E12, E13.
//!
//! *Replacement*: a logical block needs a log block and the quota of its die is exhausted. The log block written to least
//! recently is merged, erased, and a fresh one allocated. It is counted as a `replacement` beside the merge that it takes.
//!
//! Deviations: reads do not make a log block recently used (the paper does not say); a log block without any valid page is
//! erased without a merge; log blocks lie on the die of their data block, so that a merge can copy within it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::Geometry;
use crate::ftl::blocked::log_size::LOG_FRACTION;
use crate::ftl::blocked::pairs::{self, Pairs, Rules};
use crate::ftl::{Room, Scheme, Setup, Size};
use crate::settings::{Checker, field};

/// `[ftl.bast]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Share of all blocks that are log blocks, as a quota of each die: at most what is spare there, and one at least.
    pub log_fraction: Option<f64>,
    /// Can a log block with the first pages in order become the data block once the others are copied to it? If not (as in
    /// EnergySim), only one that holds them all can.
    pub partial_merges: Option<bool>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Share of all blocks that are log blocks.
    pub log_fraction: f64,
    /// Can a log block that is not full become the data block?
    pub partial_merges: bool,
}

/// BAST, as it is registered.
pub struct Bast;

/// The translation layer.
pub type BastFtl = Pairs<Bast>;

/// Checks the options, which stand in this table.
pub(super) fn resolve(table: &str, options: Options, c: &mut Checker) -> Settings {
    Settings {
        log_fraction: c.number(field!(table, options.log_fraction), LOG_FRACTION, 0.0..=0.5),
        partial_merges: c.choice(field!(table, options.partial_merges), true),
    }
}

/// What BAST does by these settings, with replacement or without.
pub(super) fn rules(settings: &Settings, replaces: bool) -> Rules {
    let Settings { log_fraction, partial_merges } = *settings;
    Rules { log_fraction, partial_merges, replaces, scans: false }
}

impl Scheme for BastFtl {
    const DOC: &'static str = "log blocks, each for one data block (BAST: Kim et al. 2002)";
    const COLLECTS: bool = false;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        resolve("ftl.bast", options, c)
    }

    fn room(_settings: &Settings, size: &Size) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        Pairs::with(rules(settings, true), setup, geometry)
    }
}
