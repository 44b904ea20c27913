//! BAST, block-associative sector translation: log blocks, each for one data block.
//!
//! Data blocks are mapped by blocks. Each die has a few log blocks, which are mapped by pages. A log block takes the overwrites
//! of one logical block until it is full or another logical block needs it. [`crate::ftl::blocked::pairs`] places pages and
//! cleans log blocks. Source: Kim et al. 2002.
//!
//! If a logical block needs a log block and the quota of its die is exhausted, the least recently written log block is merged
//! and erased, and a fresh one allocated. What the report counts as a `replacement` depends on the option:
//!
//! - `replacement = "steal"`: such a log block, taken from another logical block;
//! - `replacement = "compact"` (EnergySim): a full log block whose data block still has pages that can be programmed. Its valid
//!   pages are copied to a fresh log block, and it is erased: "an operation that erases victim log block and allocates a new free
//!   block" (Cho et al. 2015, section 4; the rule in full is that of the code that the authors released). There a log block is
//!   merged for another logical block once 90 % of the log blocks are in use (`log_limit = 0.9`).
//!
//! Deviations: reads do not make a log block recently used (the paper leaves this open). A log block without valid pages is
//! erased without a merge. Log blocks lie on the die of their data block, so that a merge can copy within the die.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocked::log_size::LOG_FRACTION;
use crate::ftl::blocked::pairs::{self, LogSearch, PairRules, Pairs, Replacement};
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, field};

/// `[ftl.bast]`
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
    /// What a replacement is: `steal` (a log block is taken from another logical block) or `compact` (the valid pages of a full
    /// log block move to a fresh one, while the data block has pages that can be programmed; EnergySim 4).
    pub replacement: Option<Replacement>,
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
    /// What a replacement is.
    pub replacement: Replacement,
}

/// BAST, registered.
pub struct Bast;

/// The translation layer.
pub type BastFtl = Pairs<Bast>;

impl Scheme for BastFtl {
    const DOC: &'static str = "log blocks, each for one data block (BAST: Kim et al. 2002)";
    const COLLECTS: bool = false;
    const HAS_CHECKPOINTS: bool = true;
    const STARTS_MAPPED: bool = true;
    const STRIPES_PAGES: bool = true;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.bast";
        Settings {
            log_fraction: c.number(field!(TABLE, options.log_fraction), LOG_FRACTION, 0.0..=0.5),
            log_limit: c.number(field!(TABLE, options.log_limit), 1.0, 0.0..=1.0),
            partial_merges: c.choice(field!(TABLE, options.partial_merges), true),
            replacement: c.choice(field!(TABLE, options.replacement), Replacement::Steal),
        }
    }

    fn room(_settings: &Settings, size: &DriveSize) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let Settings { log_fraction, log_limit, partial_merges, replacement } = *settings;
        let rules = PairRules {
            log_fraction,
            log_limit,
            partial_merges,
            replacement: Some(replacement),
            reads_spare: false,
            probe: LogSearch::None,
        };
        Pairs::with(rules, setup, geometry)
    }
}
