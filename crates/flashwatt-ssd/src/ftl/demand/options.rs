//! The options that the demand-paged schemes share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::translation::MapShare;
use crate::ftl::paged::pages::spare_blocks_per_die;
use crate::ftl::{Allocation, DriveSize, Frontiers, Room};
use crate::recovery::checkpoint::LISTED_ENTRY_BYTES;
use flashwatt_base::settings::{Checker, Field, field};

/// Bytes of an entry of the global translation directory: one flash address.
pub(super) const DIRECTORY_ENTRY_BYTES: u64 = 4;
/// Entries of operations under way that a checkpoint has room for, beside those of the cached table. With more of them it waits.
const ENTRIES_UNDER_WAY: u128 = 4096;
/// Default size of the cached mapping table (EnergySim's 8 MiB).
const CMT_BYTES: u64 = 8 << 20;
/// Default size of an entry: 512 entries in a page of 4 KiB (RFTL, section 3).
const ENTRY_BYTES: u32 = 8;

/// The order of eviction of the cached mapping table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// The least recently used entry is evicted.
    Lru,
    /// The least recently used of the entries that were used once is evicted; entries used again are protected.
    SegmentedLru,
}

/// The shared options as the user writes them.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub(in crate::ftl) struct Common {
    pub cmt_bytes: Option<u64>,
    pub cmt_entries: Option<u32>,
    pub cmt_fraction: Option<f64>,
    pub entry_bytes: Option<u32>,
    pub fetch_on_write: Option<bool>,
    pub allocation: Option<Allocation>,
    pub frontiers: Option<Frontiers>,
    pub map_reserved_blocks: Option<u32>,
    pub gc_channels: Option<u32>,
}

/// Declares a scheme's options: the shared ones, and its own.
macro_rules! options {
    ($(#[$doc:meta])* { $($(#[$own_doc:meta])* $own:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct Options {
            /// Bytes of the cached mapping table. Excludes `cmt_entries` and `cmt_fraction`.
            pub cmt_bytes: Option<u64>,
            /// Entries of the cached mapping table. Excludes `cmt_bytes` and `cmt_fraction`.
            pub cmt_entries: Option<u32>,
            /// Entries of the cached mapping table as a share of the map's, above 0 to 1. Excludes `cmt_bytes` and `cmt_entries`.
            pub cmt_fraction: Option<f64>,
            /// Bytes of an entry of a translation page; a page holds as many as fit.
            pub entry_bytes: Option<u32>,
            /// Whether a write of a whole page fetches its entry from flash if that is not cached (Gupta et al. 2009); the write does
            /// not wait for it. If not, the entry is created without a read (EagleTree).
            pub fetch_on_write: Option<bool>,
            /// Die that a data page is written to: `dynamic` (round robin, channels first) or `static` (logical page modulo dies).
            pub allocation: Option<Allocation>,
            /// Write frontiers for data in a die: `separate` for the host and garbage collection, or `shared` (FlashSim).
            pub frontiers: Option<$crate::ftl::Frontiers>,
            /// Blocks of each die for translation pages, beyond those that these fill. The default is the same number again, at
            /// least 3.
            pub map_reserved_blocks: Option<u32>,
            /// Number of channels that may collect at a time; 0 for all.
            pub gc_channels: Option<u32>,
            $($(#[$own_doc])* pub $own: $type,)*
        }

        impl Options {
            fn common(&self) -> $crate::ftl::demand::options::Common {
                $crate::ftl::demand::options::Common {
                    cmt_bytes: self.cmt_bytes,
                    cmt_entries: self.cmt_entries,
                    cmt_fraction: self.cmt_fraction,
                    entry_bytes: self.entry_bytes,
                    fetch_on_write: self.fetch_on_write,
                    allocation: self.allocation,
                    frontiers: self.frontiers,
                    map_reserved_blocks: self.map_reserved_blocks,
                    gc_channels: self.gc_channels,
                }
            }
        }
    };
}
pub(in crate::ftl) use options;

/// The shared options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Entries of the cached mapping table, ≥ 1. More than the drive's logical pages stands for all of them.
    pub cmt_entries: u32,
    /// The same as a share of the map's entries, until the size of the drive is known.
    #[serde(skip)]
    pub cmt_fraction: Option<f64>,
    /// Bytes of an entry of a translation page.
    pub entry_bytes: u32,
    /// Entries of a translation page.
    pub entries_per_page: u32,
    /// Whether all dirty entries of a translation page become clean when it is written.
    pub evict_page: bool,
    /// Whether writes of whole pages fetch the entry.
    pub fetch_on_write: bool,
    /// Which die a page of data is written to.
    pub allocation: Allocation,
    /// Whether the host and garbage collection write data to separate blocks. Reports mention only the other choice.
    #[serde(skip_serializing_if = "is_separate")]
    pub separate_frontiers: bool,
    /// Blocks of each die for translation pages, beyond those that the pages fill; `None` doubles those, and adds 3 at least.
    pub map_reserved_blocks: Option<u32>,
    /// Channels that may collect at a time; 0 stands for all.
    pub gc_channels: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_separate(separate_frontiers: &bool) -> bool {
    *separate_frontiers
}

/// The differences between the schemes.
pub(in crate::ftl) struct Defaults {
    /// `ftl.NAME`.
    pub table: &'static str,
    /// Bytes of a cached entry, if not the same as on flash.
    pub cached_entry_bytes: Option<u32>,
    pub evict_page: bool,
    pub gc_channels: u32,
}

impl Common {
    pub fn resolve(self, of: &Defaults, c: &mut Checker, page_bytes: u32) -> Settings {
        let (table, options) = (of.table, self);
        let entry_bytes = c.number(field!(table, options.entry_bytes), ENTRY_BYTES, 1..=512);
        let cached = of.cached_entry_bytes.unwrap_or(entry_bytes);
        Settings {
            cmt_entries: cmt_entries(c, table, &options, cached),
            cmt_fraction: c.optional(field!(table, options.cmt_fraction), 1e-9..=1.0),
            entry_bytes,
            entries_per_page: (page_bytes / entry_bytes).max(1),
            evict_page: of.evict_page,
            fetch_on_write: c.choice(field!(table, options.fetch_on_write), true),
            allocation: c.choice(field!(table, options.allocation), Allocation::Dynamic),
            separate_frontiers: c.choice(field!(table, options.frontiers), Frontiers::Separate) == Frontiers::Separate,
            map_reserved_blocks: c.optional(field!(table, options.map_reserved_blocks), 2..=1_000_000),
            gc_channels: c.number(field!(table, options.gc_channels), of.gc_channels, 0..=1024),
        }
    }
}

impl Settings {
    /// Sizes a table that is given as a share of the map.
    pub fn fit_table(&mut self, logical_pages: u64) {
        if let Some(fraction) = self.cmt_fraction.take() {
            self.cmt_entries = ((fraction * logical_pages as f64).round() as u32).max(1);
        }
    }
}

fn cmt_entries(c: &mut Checker, table: &str, options: &Common, entry_bytes: u32) -> u32 {
    let given = [
        ("cmt_bytes", options.cmt_bytes.map(|bytes| bytes.to_string())),
        ("cmt_entries", options.cmt_entries.map(|entries| entries.to_string())),
        ("cmt_fraction", options.cmt_fraction.map(|fraction| format!("{fraction:?}"))),
    ];
    let given: Vec<_> = given.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).collect();
    if let [_, .., (last, _)] = given[..] {
        let fault = c.fault(&format!("{table}.{last}"), "the size of the cached mapping table is given twice");
        let found: Vec<_> = given.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        c.push(fault.found(found.join(" and ")).expected("one of them"));
    }
    let least = u64::from(entry_bytes);
    let bytes = c.number(field!(table, options.cmt_bytes), CMT_BYTES, least..=1 << 40);
    let entries = c.optional(field!(table, options.cmt_entries), 1..=u32::MAX);
    entries.unwrap_or(u32::try_from(bytes / least).unwrap_or(u32::MAX))
}

/// The fraction of entries that a segmented table may protect.
pub(in crate::ftl) fn protected_fraction(c: &mut Checker, table: &str, cache: Cache, fraction: Option<f64>) -> f64 {
    let field = Field { key: format!("{table}.protected_fraction"), value: fraction };
    if cache == Cache::SegmentedLru {
        return c.number(field, 0.5, 0.0..=1.0);
    }
    if fraction.is_some() {
        let fault = c.fault(&field.key, "has no effect").found("cache = \"lru\"");
        c.push(fault.expected("cache = \"segmented_lru\", or no such key"));
    }
    c.optional(field, 0.0..=1.0);
    0.0
}

/// The flash that a scheme with this number of replicas needs.
pub(in crate::ftl) fn room(settings: &Settings, replicas: u32, size: &DriveSize) -> Room {
    let spare_blocks = size.dies * spare_blocks_per_die(size.low_watermark_blocks, size.reserved_blocks);
    let map = MapShare::room(settings.entries_per_page, replicas + 1, settings.map_reserved_blocks, size);
    Room {
        pages: size.logical_pages + spare_blocks * size.pages_per_block + size.padded_pages() + map,
        idle_pages: size.watermark_pages(settings.separate_frontiers) + map,
        what: format!(
            "in each of {} dies the low watermark and one more, and {} for translation pages",
            size.dies,
            map / size.pages_per_block.max(1) / size.dies.max(1)
        ),
    }
}

/// Bytes of a checkpoint of a scheme with this number of replicas, at most: see [`super::mapping::DemandMap::checkpoint_bytes`].
pub(in crate::ftl) fn checkpoint_bytes_max(settings: &Settings, replicas: u32, logical: u128) -> u128 {
    let pages = logical.div_ceil(u128::from(settings.entries_per_page));
    let entry_bytes = u128::from(DIRECTORY_ENTRY_BYTES);
    let directory = entry_bytes * pages * u128::from(replicas + 1);
    let cached = if settings.cmt_fraction.is_some() { logical } else { u128::from(settings.cmt_entries) };
    let listed = u128::from(LISTED_ENTRY_BYTES) * logical.min(cached + ENTRIES_UNDER_WAY);
    let trimmed = pages * (entry_bytes + u128::from(settings.entries_per_page.div_ceil(8)));
    directory + listed + trimmed
}
