//! RFTL: DFTL with replicas of every translation page on other channels, so that a look-up need not wait for a busy one.
//!
//! Source: the RFTL paper (2019) as SPEC A18 and E17–E20 sum it up; the machinery is [`crate::ftl::demand`]'s. Original and
//! replicas are always written together, each to its own channel, (c + k) mod channels for the k-th; a read takes the
//! original if its die is idle, else an idle replica, else the copy whose die comes to it first (`choose`); at most two
//! channels collect at a time (`gc_channels`). The cached mapping table is segmented, and a translation page that is
//! written takes all its dirty entries along (`evict_page`). No old copy is erased before all new ones are on flash, so
//! that after a power cut either all copies of the old version are there or all of the new.
//!
//! Deviations: a page that has no copy on flash yet is read from its original, not from the copy that is there first; with
//! `shortest_queue` the copy is chosen when the read is planned; the registers that keep a copy's data over a power cut
//! are not needed for the rule above, and not modelled. With `replicas` = 0 it is DFTL to the byte.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dftl::recency;
use crate::device::Geometry;
use crate::ftl::demand::Demand;
use crate::ftl::demand::cmt::Recency;
use crate::ftl::demand::mapping::Mapping;
use crate::ftl::demand::options::{self, Cache, Defaults};
use crate::ftl::plan::ReplicaChoice;
use crate::ftl::{Allocation, Room, Scheme, Setup, Size};
use crate::settings::{Checker, field};

options::options! {
    /// `[ftl.rftl]`
    {
        /// Copies of every translation page beside the original: 0 to 3, and fewer than there are channels.
        replicas: Option<u32>,
        /// Which copy of a translation page is read: `idle` or `shortest_queue`.
        choose: Option<ReplicaChoice>,
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
    /// Copies beside the original.
    pub replicas: u32,
    /// Which copy is read.
    pub choose: ReplicaChoice,
    /// Which entry leaves.
    pub cache: Cache,
    /// The share of entries that may be protected; 0 under LRU.
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
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, page_bytes: u32) -> Settings {
        let evict_page = c.choice(field!(TABLE, options.evict_page), true);
        let cache = c.choice(field!(TABLE, options.cache), Cache::SegmentedLru);
        let defaults = Defaults { table: TABLE, cached_entry_bytes: None, evict_page, gc_channels: 2 };
        Settings {
            common: options.common().resolve(&defaults, c, page_bytes),
            replicas: c.number(field!(TABLE, options.replicas), 1, 0..=3),
            choose: c.choice(field!(TABLE, options.choose), ReplicaChoice::Idle),
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

    fn room(settings: &Settings, size: &Size) -> Room {
        options::room(&settings.common, settings.replicas, size)
    }

    fn memory_bytes(settings: &Settings, geometry: &Geometry) -> u64 {
        Mapping::<Recency>::memory_bytes(&settings.common, settings.replicas, geometry)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let order = recency(settings.protected_fraction, settings.common.cmt_entries, geometry);
        Demand::build(&settings.common, settings.replicas, order, setup, geometry).choosing(settings.choose)
    }
}
