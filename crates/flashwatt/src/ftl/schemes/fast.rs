//! FAST, fully associative sector translation: all logical blocks share the log blocks.
//!
//! The idea: if log blocks belong to no one, none of them is merged half empty. One log block is set apart for sequential
//! writes, so that those end in switch merges; all others take whatever comes, in order of arrival, and the oldest is merged
//! when there is no room left. [`crate::ftl::blocked::log_blocks`] has the mechanism. Source: S.-W. Lee, D.-J. Park,
//! T.-S. Chung, D.-H. Lee, S. Park, H.-J. Song: "A log buffer-based flash translation layer using fully-associative sector
//! translation", ACM TECS 6(3), 2007; SPEC A6.
//!
//! Where this departs from the original, or settles what that leaves open:
//!
//! - A write to the owner of the sequential log block that does not continue it goes to the random log (SPEC A6). The original
//!   merges the sequential log block then and starts the next one with that page, wherever in its block the page lies.
//! - The original has one chip. Here each die has its share of the random log and merges the oldest of its own; writes go
//!   round the dies in turn, so that this is the oldest of all but for what they run ahead of each other.
//! - A logical block of a random victim that owns the sequential log block is merged by merging that one, which is a partial
//!   or switch merge where possible.
//! - `merges.full` counts logical blocks merged, so that the victim's merge counts once for each one that has a valid page in
//!   it. A log block in which nothing is valid is erased without any merge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::BlockTable;
use crate::device::Geometry;
use crate::ftl::blocked::log_blocks::{LogFtl, LogPolicy};
use crate::ftl::blocked::log_size::LogSize;
use crate::ftl::{Room, Scheme, Setup, Size};
use crate::models::mapping_memory::Tables;
use crate::settings::{Checker, field};
use crate::units::BlockId;

/// `[ftl.fast]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Share of all blocks that are log blocks, the sequential one included; fewer if the drive has fewer to spare beside
    /// those for the host's data and one on each die for merges, and two on each die at least.
    pub log_fraction: Option<f64>,
    /// Log blocks instead of a share of all: each die gets its part, rounded down, and two at least.
    pub log_blocks: Option<u32>,
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// How large the log area is.
    #[serde(flatten)]
    pub log: LogSize,
}

/// The translation layer.
pub type FastFtl = LogFtl<Fast>;

/// What sets it apart: one sequential log block, and the oldest random one is merged.
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

    fn room(settings: &Settings, size: &Size) -> Room {
        settings.log.room(size, Fast::LEAST_PER_DIE)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        LogFtl::with(setup, geometry, &settings.log, 1, |_| Fast)
    }
}
