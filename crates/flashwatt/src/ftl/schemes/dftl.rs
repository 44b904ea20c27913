//! DFTL: page mapping whose map lies on flash and is cached entry by entry.
//!
//! Source: Gupta, Kim, Urgaonkar, "DFTL: A flash translation layer employing demand-based selective caching of page-level
//! address mappings", ASPLOS 2009, as SPEC A7 sums it up; the machinery is [`crate::ftl::demand`]'s. As there, entries are
//! written back when they leave, one at a time or (`evict_page`) with all other dirty ones of their translation page, which
//! stay, clean; collection changes entries in memory and writes each translation page anew once.
//!
//! Deviations: the least recently used entry leaves by default, not that of a segmented table (`cache` has both); data and
//! translation blocks have separate shares of a die, and translation blocks are collected greedily whatever `[gc]` says
//! of data; every translation page stays on one die.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::Geometry;
use crate::ftl::demand::Demand;
use crate::ftl::demand::cmt::Recency;
use crate::ftl::demand::mapping::Mapping;
use crate::ftl::demand::options::{self, Cache, Defaults};
use crate::ftl::{Allocation, Room, Scheme, Setup, Size};
use crate::models::mapping_memory::Tables;
use crate::settings::{Checker, field};

options::options! {
    /// `[ftl.dftl]`
    {
        /// Which entry leaves the cached mapping table: `lru` or `segmented_lru`.
        cache: Option<Cache>,
        /// Of a segmented table, the share of entries that may be protected; by default half of them.
        protected_fraction: Option<f64>,
        /// A translation page that is written takes all its dirty entries along; they stay in memory, clean.
        evict_page: Option<bool>,
    }
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// What the demand-paged schemes have in common.
    #[serde(flatten)]
    pub common: options::Settings,
    /// Which entry leaves.
    pub cache: Cache,
    /// The share of entries that may be protected; 0 under LRU.
    pub protected_fraction: f64,
}

/// DFTL.
pub type Dftl = Demand<Recency, Plain>;

/// One copy of each translation page.
pub struct Plain;

/// The cached mapping table's order for a drive of this size.
pub(super) fn recency(protected_fraction: f64, cmt_entries: u32, geometry: &Geometry) -> Recency {
    let capacity = cmt_entries.min(geometry.logical_units);
    Recency::new(capacity, (protected_fraction * f64::from(capacity)) as u32)
}

impl Scheme for Dftl {
    const DOC: &'static str = "page mapping, the map on flash and its entries cached on demand (Gupta et al. 2009)";
    const COLLECTS: bool = true;
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.dftl);
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.dftl";
        let evict_page = c.choice(field!(TABLE, options.evict_page), false);
        let cache = c.choice(field!(TABLE, options.cache), Cache::Lru);
        let defaults = Defaults { table: TABLE, cached_entry_bytes: None, evict_page, gc_channels: 0 };
        Settings {
            common: options.common().resolve(&defaults, c, page_bytes),
            cache,
            protected_fraction: options::protected_fraction(c, TABLE, cache, options.protected_fraction),
        }
    }

    fn room(settings: &Settings, size: &Size) -> Room {
        options::room(&settings.common, 0, size)
    }

    fn memory_bytes(settings: &Settings, geometry: &Geometry) -> u64 {
        Mapping::<Recency>::memory_bytes(&settings.common, 0, geometry)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let order = recency(settings.protected_fraction, settings.common.cmt_entries, geometry);
        Demand::build(&settings.common, 0, order, setup, geometry)
    }
}
