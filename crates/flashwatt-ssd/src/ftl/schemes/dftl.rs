//! DFTL: page mapping with the map on flash and a cache of its entries.
//!
//! Source: Gupta, Kim, Urgaonkar, "DFTL: A flash translation layer employing demand-based selective caching of page-level
//! address mappings", ASPLOS 2009. [`crate::ftl::demand`] has the mechanism. As in the paper, the table is a segmented one
//! (`cache = "segmented_lru"`), and a dirty entry is written back when it is evicted, with all other dirty entries of its
//! translation page, which stay cached, clean (`evict_page = true`, batch update). Collection changes cached entries and rewrites
//! each translation page once.
//!
//! Deviations: data and translation blocks have separate shares of a die. Translation blocks are collected greedily, whatever the `[gc]` policy for
//! data. Every translation page stays on one die.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::demand::Demand;
use crate::ftl::demand::cmt::Recency;
use crate::ftl::demand::mapping::DemandMap;
use crate::ftl::demand::options::{self, Cache, Defaults};
use crate::ftl::{Allocation, DriveSize, Room, Scheme, Setup};
use crate::models::mapping_memory::Tables;
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, field};

options::options! {
    /// `[ftl.dftl]`
    {
        /// Order of eviction of the cached mapping table: `lru` or `segmented_lru`.
        cache: Option<Cache>,
        /// Fraction of the entries of a segmented table that may be protected; by default one half.
        protected_fraction: Option<f64>,
        /// Whether the write of a translation page includes all its dirty cached entries, which stay cached, clean.
        evict_page: Option<bool>,
    }
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The options shared by the demand-paged schemes.
    #[serde(flatten)]
    pub common: options::Settings,
    /// The order of eviction.
    pub cache: Cache,
    /// Fraction of entries that may be protected; 0 under LRU.
    pub protected_fraction: f64,
}

/// DFTL.
pub type Dftl = Demand<Recency, Plain>;

/// One copy of each translation page.
pub struct Plain;

/// The order of eviction for a drive of this size.
pub(super) fn recency(protected_fraction: f64, cmt_entries: u32, geometry: &Geometry) -> Recency {
    let capacity = cmt_entries.min(geometry.logical_units);
    Recency::new(capacity, (protected_fraction * f64::from(capacity)) as u32)
}

impl Scheme for Dftl {
    const DOC: &'static str = "page mapping, the map on flash and its entries cached on demand (Gupta et al. 2009)";
    const COLLECTS: bool = true;
    const HAS_ROWS: bool = true;
    const STARTS_MAPPED: bool = true;
    const BEFORE_BLOCKS: u32 = 1;
    const HAS_CHECKPOINTS: bool = true;
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.dftl);
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.dftl";
        let evict_page = c.choice(field!(TABLE, options.evict_page), true);
        let cache = c.choice(field!(TABLE, options.cache), Cache::SegmentedLru);
        let defaults = Defaults { table: TABLE, cached_entry_bytes: None, evict_page, gc_channels: 0 };
        Settings {
            common: options.common().resolve(&defaults, c, page_bytes),
            cache,
            protected_fraction: options::protected_fraction(c, TABLE, cache, options.protected_fraction),
        }
    }

    fn fit_table(settings: &mut Settings, logical_pages: u64) {
        settings.common.fit_table(logical_pages);
    }

    fn table_entries(settings: &Settings) -> Option<u32> {
        Some(settings.common.cmt_entries)
    }

    fn checkpoint_bytes_max(settings: &Settings, logical_pages: u128) -> Option<u128> {
        Some(options::checkpoint_bytes_max(&settings.common, 0, logical_pages))
    }

    fn room(settings: &Settings, size: &DriveSize) -> Room {
        options::room(&settings.common, 0, size)
    }

    fn memory_bytes(settings: &Settings, geometry: &Geometry) -> u64 {
        DemandMap::<Recency>::memory_bytes(&settings.common, 0, geometry)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let order = recency(settings.protected_fraction, settings.common.cmt_entries, geometry);
        Demand::build(&settings.common, 0, order, setup, geometry)
    }
}
