//! NFTL: a primary block and at most one replacement block for each logical block (EnergySim's "block").
//!
//! The first write of a page goes to the primary block, at its offset. An overwrite goes to the next free page of the replacement
//! block. When that block is full, the newest versions of all pages are *folded* into a fresh block; if the replacement block has
//! all pages in order, it becomes the primary block instead (a switch merge). If the quota of a die is exhausted and another
//! logical block needs a replacement block, the least recently written one is folded; this counts as a `replacement`.
//! [`crate::ftl::blocked::pairs`] has the mechanism; it calls replacement blocks log blocks. Source: Ban 1999; Kuo et al. 2008.
//!
//! Only blocks are mapped in memory. The logical page of a page in a replacement block stands in its spare area, so that a read
//! needs *probes* (`probe = "scan"`): spare areas are read one after the other, from the newest page of the replacement block
//! backwards, until all pages of the request in this logical block are found. A page that is not found lies in the primary block;
//! then all spare areas were read. A fold begins with the spare areas of all written pages. A probe waits for its page's program.
//! With `probe = "one"` the newest page's spare area lists all pages before it: each search and each fold reads one. The code
//! that the authors of EnergySim released has no probe at all (`none`).
//!
//! Deviations: the number of written pages of each block is kept in memory (in the 4 bytes of the block's entry), so that writes
//! of whole pages need no probes; so are trims. One scan serves all pages of a request in a logical block. The primary and the
//! replacement block lie on one die.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocked::log_size::LOG_FRACTION;
use crate::ftl::blocked::pairs::{self, LogSearch, PairRules, Pairs, Replacement};
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, field};

/// `[ftl.nftl]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Fraction of all blocks for replacement blocks, as a quota of each die: at most the die's spare blocks, at least one.
    pub replacement_fraction: Option<f64>,
    /// Search for a page in a replacement block: `scan` (reads spare areas, from the newest page backwards), `one` (reads the
    /// spare area of the newest page, which lists the pages before it) or `none` (uses a map in memory).
    pub probe: Option<LogSearch>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Fraction of all blocks for replacement blocks.
    pub replacement_fraction: f64,
    /// Search for a page in a replacement block.
    pub probe: LogSearch,
}

/// NFTL, registered.
pub struct Nftl;

/// The translation layer.
pub type NftlFtl = Pairs<Nftl>;

impl Scheme for NftlFtl {
    const DOC: &'static str =
        "a primary and a replacement block each, found by spare areas (NFTL: Ban 1999, EnergySim 4)";
    const COLLECTS: bool = false;
    const HAS_CHECKPOINTS: bool = true;
    const STARTS_MAPPED: bool = true;
    const STRIPES_PAGES: bool = true;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.nftl";
        Settings {
            replacement_fraction: c.number(field!(TABLE, options.replacement_fraction), LOG_FRACTION, 0.0..=0.5),
            probe: c.choice(field!(TABLE, options.probe), LogSearch::Scan),
        }
    }

    fn room(_settings: &Settings, size: &DriveSize) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let Settings { replacement_fraction: log_fraction, probe } = *settings;
        let rules = PairRules {
            log_fraction,
            log_limit: 1.0,
            partial_merges: false,
            replacement: Some(Replacement::Steal),
            reads_spare: false,
            probe,
        };
        Pairs::with(rules, setup, geometry)
    }
}
