//! FAST, fully associative sector translation: all logical blocks share the log blocks.
//!
//! Shared log blocks fill up before they are merged. One log block is reserved for sequential writes, so that these end in switch
//! merges. All others take pages in order of arrival, and the oldest is merged when no room is left.
//! [`crate::ftl::blocked::log_blocks`] has the mechanism. Source: S.-W. Lee, D.-J. Park, T.-S. Chung, D.-H. Lee, S. Park,
//! H.-J. Song: "A log buffer-based flash translation layer using fully-associative sector translation", ACM TECS 6(3), 2007.
//!
//! Deviations, and choices where the paper is silent:
//!
//! - A write to the owner of the sequential log block that does not continue it goes to the random log. The original merges the
//!   sequential log block and starts the next one with that page, at any offset.
//! - The original has one chip. Here each die has its share of the random log and merges its own oldest block. Writes go round
//!   the dies in turn, so this is nearly the oldest block of all.
//! - If a logical block of a random victim owns the sequential log block, that log block is merged: by a partial or switch merge
//!   where possible.
//! - `merges.full` counts merged logical blocks: the merge of a victim counts once for each logical block with a valid page in
//!   it. A log block without valid pages is erased without a merge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::BlockTable;
use crate::device::Geometry;
use crate::ftl::blocked::log_blocks::{LogFtl, LogPolicy};
use crate::ftl::blocked::log_size::LogSize;
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::models::mapping_memory::Tables;
use crate::settings::{Checker, field};
use crate::units::BlockId;

/// `[ftl.fast]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Fraction of all blocks for log blocks, including the sequential one. It is limited by the spare blocks beside the host's
    /// data and one merge block per die, and is at least two blocks per die.
    pub log_fraction: Option<f64>,
    /// Number of log blocks, instead of a fraction: each die gets its part, rounded down, and at least two.
    pub log_blocks: Option<u32>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The size of the log area.
    #[serde(flatten)]
    pub log: LogSize,
}

/// The translation layer.
pub type FastFtl = LogFtl<Fast>;

/// The policy of FAST: one sequential log block; the oldest random log block is merged.
pub struct Fast;

impl LogPolicy for Fast {
    const FRONTIERS: usize = 1;

    fn is_sequential(&self, _request_pages: u32) -> bool {
        true
    }

    fn victim(&mut self, mut full: impl Iterator<Item = BlockId> + Clone, _blocks: &BlockTable) -> Option<BlockId> {
        full.next()
    }
}

impl Scheme for FastFtl {
    const DOC: &'static str = "FAST: log blocks shared by all, one of them for sequential writes (Lee et al. 2007)";
    const COLLECTS: bool = false;
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.fast);
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.fast";
        Settings { log: LogSize::resolve(c, field!(TABLE, options.log_fraction), field!(TABLE, options.log_blocks)) }
    }

    fn room(settings: &Settings, size: &DriveSize) -> Room {
        settings.log.room(size, Fast::LEAST_PER_DIE)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        LogFtl::with(setup, geometry, &settings.log, 1, |_| Fast)
    }
}
