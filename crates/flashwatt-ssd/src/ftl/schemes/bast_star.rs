//! BAST*, EnergySim's BAST without replacement: a full log block is merged, never compacted.
//!
//! As [`super::bast`] with compaction, but a full log block is merged even if its data block still has unwritten pages. As there,
//! the least recently written log block is merged for another logical block once 90 % of the log blocks are in use. Source: Cho
//! et al. 2015 (EnergySim), section 4; the rules in full are those of the code that the authors released.
//!
//! That code also reads the spare area of the page that was written last before each write to a log block, for the time and the
//! energy of a read. The published energies do not hold these reads: by Table VII BAST* spends 2.9 % of its energy on reads and 56.8 %
//! on programs, 0.9 reads for each program, as page mapping does (3.3 and 65.8 %). So the reads are an option
//! ([`Options::reads_spare`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocked::log_size::LOG_FRACTION;
use crate::ftl::blocked::pairs::{self, LogSearch, PairRules, Pairs};
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, field};

/// Fraction of the log blocks in use at which the authors' code merges one for another logical block.
const LOG_LIMIT: f64 = 0.9;

/// `[ftl.bast_star]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Fraction of all blocks for log blocks, as a quota of each die: at most the die's spare blocks, at least one.
    pub log_fraction: Option<f64>,
    /// Fraction of a die's log blocks that may be in use. When another one is needed, the least recently written one is merged.
    pub log_limit: Option<f64>,
    /// Whether a log block with the first pages in order can become the data block after the others are copied to it. If
    /// not (as in EnergySim), only a log block with all pages in order can.
    pub partial_merges: Option<bool>,
    /// Whether each write to a log block first reads the spare area of the page that was written to it last, as the code that
    /// EnergySim's authors released does. Their published energies hold no such reads.
    pub reads_spare: Option<bool>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Fraction of all blocks for log blocks.
    pub log_fraction: f64,
    /// Fraction of a die's log blocks that may be in use.
    pub log_limit: f64,
    /// Whether a log block that is not full can become the data block.
    pub partial_merges: bool,
    /// Whether a write to a log block reads a spare area before.
    pub reads_spare: bool,
}

/// BAST*, registered.
pub struct BastStar;

/// The translation layer.
pub type BastStarFtl = Pairs<BastStar>;

impl Scheme for BastStarFtl {
    const DOC: &'static str = "BAST without replacement: a full log block is merged (EnergySim 4)";
    const COLLECTS: bool = false;
    const HAS_CHECKPOINTS: bool = true;
    const STARTS_MAPPED: bool = true;
    const STRIPES_PAGES: bool = true;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.bast_star";
        Settings {
            log_fraction: c.number(field!(TABLE, options.log_fraction), LOG_FRACTION, 0.0..=0.5),
            log_limit: c.number(field!(TABLE, options.log_limit), LOG_LIMIT, 0.0..=1.0),
            partial_merges: c.choice(field!(TABLE, options.partial_merges), true),
            reads_spare: c.choice(field!(TABLE, options.reads_spare), false),
        }
    }

    fn room(_settings: &Settings, size: &DriveSize) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let Settings { log_fraction, log_limit, partial_merges, reads_spare } = *settings;
        let rules = PairRules {
            log_fraction,
            log_limit,
            partial_merges,
            replacement: None,
            reads_spare,
            probe: LogSearch::None,
        };
        Pairs::with(rules, setup, geometry)
    }
}
