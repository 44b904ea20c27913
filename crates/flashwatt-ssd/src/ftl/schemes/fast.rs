//! FAST, fully associative sector translation: all logical blocks share the log blocks.
//!
//! Shared log blocks fill up before they are merged. One log block is reserved for sequential writes, so that these end in switch
//! merges. All others take pages in order of arrival, and the oldest is merged when no room is left.
//! [`crate::ftl::blocked::log_blocks`] has the mechanism. Source: S.-W. Lee, D.-J. Park, T.-S. Chung, D.-H. Lee, S. Park,
//! H.-J. Song: "A log buffer-based flash translation layer using fully-associative sector translation", ACM TECS 6(3), 2007.
//!
//! Deviations, and choices where the paper is silent:
//!
//! - A write to the owner of the sequential log block that does not continue it goes to the random log (`out_of_order =
//!   "divert"`). The original merges the sequential log block first, and starts the next one with that page, at any offset. With
//!   `"merge"` it is merged, too, and the page goes to the random log: here a sequential log block begins at offset 0.
//! - The original has one chip. Here each die has its share of the random log and merges its own oldest block. Writes go round
//!   the dies in turn, so this is nearly the oldest block of all.
//! - If a logical block of a random victim owns the sequential log block, that log block is merged: by a partial or switch merge
//!   where possible.
//! - `merges.full` counts merged logical blocks: the merge of a victim counts once for each logical block with a valid page in
//!   it. A log block without valid pages is erased without a merge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::BlockTable;
use crate::ftl::blocked::log_blocks::{LogFtl, LogPolicy};
use crate::ftl::blocked::log_size::LogSize;
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::models::mapping_memory::Tables;
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::BlockId;

/// `[ftl.fast]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Fraction of all blocks for log blocks, including the sequential one. It is limited by the spare blocks beside the host's
    /// data and one merge block per die, and is at least two blocks per die: 0.5 takes all spare blocks (FlashSim).
    pub log_fraction: Option<f64>,
    /// Number of log blocks, instead of a fraction: each die gets its part, rounded down, and at least two.
    pub log_blocks: Option<u32>,
    /// What a write does to the sequential log block of its logical block if it does not continue it: `divert` (nothing: it goes
    /// to the random log) or `merge` (it is merged first; Lee et al. 2007).
    pub out_of_order: Option<OutOfOrder>,
}

/// What a write that does not continue the sequential log block of its logical block does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutOfOrder {
    /// Nothing: the page goes to the random log.
    Divert,
    /// The sequential log block is merged, and the page goes to the random log.
    Merge,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The size of the log area.
    #[serde(flatten)]
    pub log: LogSize,
    /// What a write that does not continue the sequential log block of its logical block does to it.
    pub out_of_order: OutOfOrder,
}

/// The translation layer.
pub type FastFtl = LogFtl<Fast>;

/// The policy of FAST: one sequential log block; the oldest random log block is merged.
pub struct Fast {
    out_of_order: OutOfOrder,
}

impl LogPolicy for Fast {
    const FRONTIERS: usize = 1;

    fn is_sequential(&self, _request_pages: u32) -> bool {
        true
    }

    fn merges_out_of_order(&self) -> bool {
        self.out_of_order == OutOfOrder::Merge
    }

    fn victim(&mut self, mut full: impl Iterator<Item = BlockId> + Clone, _blocks: &BlockTable) -> Option<BlockId> {
        full.next()
    }
}

impl Scheme for FastFtl {
    const DOC: &'static str = "FAST: log blocks shared by all, one of them for sequential writes (Lee et al. 2007)";
    const COLLECTS: bool = false;
    const HAS_CHECKPOINTS: bool = true;
    const STARTS_MAPPED: bool = true;
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.fast);
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.fast";
        Settings {
            log: LogSize::resolve(c, field!(TABLE, options.log_fraction), field!(TABLE, options.log_blocks)),
            out_of_order: c.choice(field!(TABLE, options.out_of_order), OutOfOrder::Divert),
        }
    }

    fn room(settings: &Settings, size: &DriveSize) -> Room {
        settings.log.room(size, Fast::LEAST_PER_DIE)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let out_of_order = settings.out_of_order;
        LogFtl::with(setup, geometry, &settings.log, 1, |_| Fast { out_of_order })
    }
}
