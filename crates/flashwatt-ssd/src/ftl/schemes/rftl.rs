//! RFTL: DFTL with replicas of every translation page on other channels, so that a look-up need not wait for a busy channel.
//!
//! Source: the RFTL paper (2019). [`crate::ftl::demand`] has the mechanism. Original and replicas are always written together,
//! each to its own channel: (c + k) mod channels for the k-th replica. A read takes the original if its die is idle, else an idle
//! replica, else the first copy whose die becomes free; or, by the paper's Algorithm 1, the original (`choose`). The paper asks
//! whether a copy's channel is idle (`busy = "channel"`). At most two channels collect at a time (`gc_channels`). The cached
//! mapping table is segmented, and the write of a translation page includes all its dirty entries (`evict_page`). No old copy is
//! erased before all new ones are on flash, so that after a power cut all copies of the old or of the new version exist.
//!
//! Deviations: a page without a copy on flash is read from its original, not from the first copy there. With `shortest_queue` the
//! copy is chosen when the read is planned. The registers that keep a copy's data over a power cut (`recovery.die_registers = "kept"`)
//! complete a version whose other copies are on flash or in registers; copies that were in none are not made from the request that the
//! paper's registers keep, too: the version before counts then. With `replicas` = 0 the results equal those of DFTL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dftl::recency;
use crate::ftl::demand::Demand;
use crate::ftl::demand::cmt::Recency;
use crate::ftl::demand::mapping::DemandMap;
use crate::ftl::demand::options::{self, Cache, Defaults};
use crate::ftl::plan::{BusyBy, ReplicaChoice};
use crate::ftl::{Allocation, DriveSize, Room, Scheme, Setup};
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, field};

options::options! {
    /// `[ftl.rftl]`
    {
        /// Copies of every translation page beside the original: 0 to 3, and fewer than there are channels.
        replicas: Option<u32>,
        /// Choice of the copy that is read: `idle` (the first one whose die is idle or becomes so), `idle_or_original` (the first
        /// one whose die is idle, else the original, as in the paper's Algorithm 1) or `shortest_queue`.
        choose: Option<ReplicaChoice>,
        /// When a copy is busy: `die` (while its die works or has work) or `channel` (while any die of its channel does, or the
        /// bus is taken, as in the paper's Algorithm 1). Has no effect with `choose = "shortest_queue"`.
        busy: Option<BusyBy>,
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
    /// Copies beside the original.
    pub replicas: u32,
    /// The choice of the copy that is read.
    pub choose: ReplicaChoice,
    /// When a copy is busy.
    pub busy: BusyBy,
    /// The order of eviction.
    pub cache: Cache,
    /// Fraction of entries that may be protected; 0 under LRU.
    pub protected_fraction: f64,
}

/// RFTL.
pub type Rftl = Demand<Recency, Replicated>;

/// Replicas of each translation page.
pub struct Replicated;

const TABLE: &str = "ftl.rftl";

impl Scheme for Rftl {
    const DOC: &'static str = "DFTL with replicas of translation pages on other channels (RFTL 2019)";
    const COLLECTS: bool = true;
    const HAS_ROWS: bool = true;
    const STARTS_MAPPED: bool = true;
    const BEFORE_BLOCKS: u32 = 1;
    const HAS_CHECKPOINTS: bool = true;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, page_bytes: u32) -> Settings {
        let evict_page = c.choice(field!(TABLE, options.evict_page), true);
        let cache = c.choice(field!(TABLE, options.cache), Cache::SegmentedLru);
        let defaults = Defaults { table: TABLE, cached_entry_bytes: None, evict_page, gc_channels: 2 };
        let choose = c.choice(field!(TABLE, options.choose), ReplicaChoice::Idle);
        if choose == ReplicaChoice::ShortestQueue && options.busy.is_some() {
            let fault = c.fault("ftl.rftl.busy", "has no effect").found("choose = \"shortest_queue\"");
            c.push(fault.expected("choose = \"idle\" or \"idle_or_original\""));
        }
        Settings {
            busy: c.choice(field!(TABLE, options.busy), BusyBy::Die),
            common: options.common().resolve(&defaults, c, page_bytes),
            replicas: c.number(field!(TABLE, options.replicas), 1, 0..=3),
            choose,
            cache,
            protected_fraction: options::protected_fraction(c, TABLE, cache, options.protected_fraction),
        }
    }

    fn check(settings: &Settings, channels: u32, c: &mut Checker) {
        if c.clean("device") && c.clean("ftl") && settings.replicas >= channels {
            let fault = c.fault(c.culprit(&["ftl.rftl.replicas", "device.channels"]), "too many replicas");
            let found = format!("replicas = {}, channels = {channels}", settings.replicas);
            c.push(fault.found(found).expected("each copy of a translation page on a channel of its own"));
        }
    }

    fn fit_table(settings: &mut Settings, logical_pages: u64) {
        settings.common.fit_table(logical_pages);
    }

    fn table_entries(settings: &Settings) -> Option<u32> {
        Some(settings.common.cmt_entries)
    }

    fn checkpoint_bytes_max(settings: &Settings, logical_pages: u128) -> Option<u128> {
        Some(options::checkpoint_bytes_max(&settings.common, settings.replicas, logical_pages))
    }

    fn room(settings: &Settings, size: &DriveSize) -> Room {
        options::room(&settings.common, settings.replicas, size)
    }

    fn memory_bytes(settings: &Settings, geometry: &Geometry) -> u64 {
        DemandMap::<Recency>::memory_bytes(&settings.common, settings.replicas, geometry)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let order = recency(settings.protected_fraction, settings.common.cmt_entries, geometry);
        Demand::build(&settings.common, settings.replicas, order, setup, geometry)
            .choosing(settings.choose, settings.busy)
    }
}
