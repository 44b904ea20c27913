//! NFTL: a primary block and at most one replacement block for each logical block (EnergySim's "block").
//!
//! A page is written to the primary block first, at its offset; an overwrite goes to the next free page of the replacement
//! block. When that is full, or another logical block needs one and the quota of the die is exhausted (then the least recently
//! written one is taken, which is counted as a `replacement`), the newest versions of all pages are *folded* into a fresh block;
//! a replacement block with all pages in order becomes the primary block instead (a switch merge). How that is done is said in
//! [`crate::ftl::blocked::pairs`], where replacement blocks are called log blocks. Source: Ban 1999; Kuo et al. 2008;
//! SPEC A5, E11.
//!
//! Only blocks are mapped in memory. Which page a page of a replacement block holds is in its spare area, so that a read takes
//! *probes* (`probe = "scan"`): spare areas are read from the newest page of the replacement block backwards, one after the
//! other, until all pages of the request in this logical block have been found; if one has not, all were read, and it is in
//! the primary block. A fold begins with the spare areas of all pages written. A probe waits for its page's program.
//!
//! Deviations: how far each block is written is known in memory (4 bytes for it and the block), so that writes of whole pages
//! need no probes; so is what has been trimmed. One scan serves all pages of a request in a logical block. The primary and the
//! replacement block lie on one die (SPEC E31).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::Geometry;
use crate::ftl::blocked::log_size::LOG_FRACTION;
use crate::ftl::blocked::pairs::{self, Pairs, Rules};
use crate::ftl::{Room, Scheme, Setup, Size};
use crate::settings::{Checker, field};

/// `[ftl.nftl]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Share of all blocks that are replacement blocks, as a quota of each die: at most what is spare there, and one at least.
    pub replacement_fraction: Option<f64>,
    /// How a page is found in a replacement block: `scan` (in the spare areas of its pages) or `none` (in a map in memory).
    pub probe: Option<Probe>,
}

/// How a page is found in a replacement block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// The spare areas of its pages are read, newest first.
    Scan,
    /// Its pages are mapped in memory.
    None,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Share of all blocks that are replacement blocks.
    pub replacement_fraction: f64,
    /// How a page is found in a replacement block.
    pub probe: Probe,
}

/// NFTL, as it is registered.
pub struct Nftl;

/// The translation layer.
pub type NftlFtl = Pairs<Nftl>;

impl Scheme for NftlFtl {
    const DOC: &'static str =
        "a primary and a replacement block each, found by spare areas (NFTL: Ban 1999, EnergySim 4)";
    const COLLECTS: bool = false;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.nftl";
        Settings {
            replacement_fraction: c.number(field!(TABLE, options.replacement_fraction), LOG_FRACTION, 0.0..=0.5),
            probe: c.choice(field!(TABLE, options.probe), Probe::Scan),
        }
    }

    fn room(_settings: &Settings, size: &Size) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let (log_fraction, scans) = (settings.replacement_fraction, settings.probe == Probe::Scan);
        let rules = Rules { log_fraction, partial_merges: false, replaces: true, scans };
        Pairs::with(rules, setup, geometry)
    }
}
