//! Registration of translation layers.
//!
//! A scheme is one file with its options, its checked settings, the flash that it needs, and the [`Ftl`] that it builds. One
//! line in the list of [`super::schemes`] registers it with configurations, the command line, the reference, the contract tests
//! and the benchmarks.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Ftl;
use crate::drive::settings::SlcCache;
use crate::gc::Gc;
use crate::models::mapping_memory::Tables;
use crate::nand::Geometry;
use crate::nand::settings::{BlockStripe, Nand, RowStripe};
use crate::wear::Wear;
use flashwatt_base::settings::Checker;

/// A registered translation layer.
pub trait Scheme: Ftl + Sized + 'static {
    /// One line for the user: what the layer does, and its source.
    const DOC: &'static str;

    /// Whether it collects blocks chosen by a policy of `[gc]`. If not, a configuration with such a policy is refused.
    const COLLECTS: bool;

    /// Whether its logical blocks can hold pages from all over the dies ([`BlockStripe::Page`]).
    const STRIPES_PAGES: bool = false;

    /// Whether a drive can start with a place for every page and nothing written ([`Ftl::fill_mapped`]).
    const STARTS_MAPPED: bool = false;

    /// Whether it writes row by row ([`Ftl::pad`]): a layer that maps pages does.
    const HAS_ROWS: bool = false;

    /// Blocks of each die for that: a layer that gives a page its place with the write reads other pages there.
    const BEFORE_BLOCKS: u32 = 0;

    /// Whether a recovery can begin with a checkpoint of its tables.
    const HAS_CHECKPOINTS: bool = false;

    /// The scheme's figure in the model of Park et al. 2011: bytes of its tables. Most schemes have none.
    const MODEL: Option<fn(&Tables) -> u64> = None;

    /// The table `[ftl.NAME]` as the user writes it. Doc comments become the reference.
    type Options: Clone + Debug + Default + DeserializeOwned + JsonSchema;

    /// The options with every default filled in, as in the report.
    type Settings: Clone + Debug + PartialEq + Serialize;

    /// Checks the options. `page_bytes` is the size of the drive's pages, or 0 if that is invalid.
    fn resolve(options: Self::Options, c: &mut Checker, page_bytes: u32) -> Self::Settings;

    /// Checks that depend on the number of channels.
    fn check(_settings: &Self::Settings, _channels: u32, _c: &mut Checker) {}

    /// Sizes the table of map entries of a layer that has one, if it is given as a share of the map.
    fn fit_table(_settings: &mut Self::Settings, _logical_pages: u64) {}

    /// Entries that the table of a layer with its map on flash holds; the map may have fewer.
    fn table_entries(_settings: &Self::Settings) -> Option<u32> {
        None
    }

    /// Bytes of the map in a checkpoint, at most, of a layer that has its map on flash: what memory alone has of it, and where its
    /// pages are.
    fn checkpoint_bytes_max(_settings: &Self::Settings, _logical_pages: u128) -> Option<u128> {
        None
    }

    /// Bytes that one map entry covers.
    fn map_unit_bytes(_settings: &Self::Settings, page_bytes: u32) -> u32 {
        page_bytes
    }

    /// The flash that the scheme needs to hold `size` in steady operation.
    fn room(settings: &Self::Settings, size: &DriveSize) -> Room;

    /// Bytes of this program's memory for the scheme's tables in use. A drive that the machine's memory cannot hold is refused.
    /// The default is one word for each logical unit and a few words for each block; a scheme with more overrides it.
    fn memory_bytes(_settings: &Self::Settings, geometry: &Geometry) -> u64 {
        flat_map_bytes(geometry)
    }

    /// The layer of a fresh drive.
    fn new(settings: &Self::Settings, setup: &Setup, geometry: &Geometry) -> Self;
}

/// Bytes of one word for each logical unit, and a few words for each block.
pub(super) fn flat_map_bytes(geometry: &Geometry) -> u64 {
    const BLOCK_BYTES: u64 = 24;
    4 * u64::from(geometry.logical_units) + BLOCK_BYTES * u64::from(geometry.blocks)
}

/// The settings of a drive that a layer uses besides its own.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Rules of the NAND.
    pub nand: &'a Nand,
    /// How layers that map blocks lay logical pages out over the dies.
    pub block_stripe: BlockStripe,
    /// How pages of the host are dealt out to the dies.
    pub row_stripe: RowStripe,
    /// The cache of blocks in SLC mode, if there is one.
    pub slc_cache: Option<&'a SlcCache>,
    /// Garbage collection.
    pub gc: &'a Gc,
    /// Wear levelling.
    pub wear: &'a Wear,
}

/// The size of a drive, in wide integers: sizes under check may be absurd.
#[derive(Clone, Copy, Debug)]
pub struct DriveSize {
    /// Dies.
    pub dies: u128,
    /// Erase blocks in a die.
    pub die_blocks: u128,
    /// Pages in a block.
    pub pages_per_block: u128,
    /// Pages that are programmed at once.
    pub row_pages: u128,
    /// Rows of a block whose first pass comes before the second pass of a row; 0 with one pass.
    pub pass_distance: u128,
    /// Map units in a page.
    pub units_per_page: u128,
    /// Pages that the host can address.
    pub logical_pages: u128,
    /// Collection starts when a die has fewer free blocks than this.
    pub low_watermark_blocks: u32,
    /// The last free blocks of a die, which the host may not take.
    pub reserved_blocks: u32,
}

impl DriveSize {
    /// Pages that padded rows may take: at most one row less a page in each block, and the rows behind it that its second pass needs.
    /// Collection copies whole rows, and gains nothing until this number of pages hold no data. With two passes a power cut tears the row that
    /// is being programmed and those between their passes, in each block that is written to. One more block of each die replaces them.
    pub fn padded_pages(&self) -> u128 {
        let torn = if self.pass_distance > 0 { self.pages_per_block } else { 0 };
        self.dies * (self.die_blocks * (self.row_pages * (1 + self.pass_distance) - 1) + torn)
    }

    /// Pages without data when collection chooses a victim and keeps up with the host: with a low watermark of n blocks a die has
    /// n - 1 erased blocks and the one that the host has just opened. If collection fills a block of its own, half of that is free
    /// on average.
    pub fn watermark_pages(&self, separate_frontiers: bool) -> u128 {
        let halves = 2 * u128::from(self.low_watermark_blocks) + u128::from(separate_frontiers);
        self.dies * halves * self.pages_per_block / 2
    }

    /// Pages that blocks for one range of addresses have beyond the host's.
    pub fn rounding_pages(&self) -> u128 {
        (self.dies * self.data_blocks_per_die() * self.pages_per_block).saturating_sub(self.logical_pages)
    }

    /// Blocks for the host's data, evenly over the dies, if each block holds pages of one range of addresses only.
    pub fn data_blocks_per_die(&self) -> u128 {
        self.logical_pages.div_ceil(self.pages_per_block).div_ceil(self.dies)
    }
}

/// The flash that a drive must have.
#[derive(Clone, Debug)]
pub struct Room {
    /// Physical pages, including those for the host's data.
    pub pages: u128,
    /// Pages that hold no data of the host in steady operation, nor data that became obsolete: those of blocks that collection or
    /// merges keep erased, of the map, and of blocks that a page range of the host fills in part.
    pub idle_pages: u128,
    /// Its parts, for messages: `in each of 4 dies the low watermark and one more`.
    pub what: String,
}

/// Declares the modules of schemes, one file each, and their registration.
macro_rules! schemes {
    ($($variant:ident($module:ident::$scheme:ident)),+ $(,)?) => {
        $(pub mod $module;)+

        /// A scheme's options as the user writes them, tagged by its name.
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[allow(missing_docs)]
        pub enum Options {
            $($variant(<$module::$scheme as Scheme>::Options)),+
        }

        /// A scheme's settings, tagged by its name.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[allow(missing_docs)]
        pub enum Settings {
            $($variant(<$module::$scheme as Scheme>::Settings)),+
        }

        /// Every translation layer that a configuration can name, the default first, and its options unless given.
        pub const REGISTRY: &[Entry<fn() -> Options>] = &[$(Entry {
            name: stringify!($module),
            doc: <$module::$scheme as Scheme>::DOC,
            params: &[],
            build: || Options::$variant(Default::default()),
        }),+];

        impl Default for Options {
            fn default() -> Self {
                (REGISTRY[0].build)()
            }
        }

        impl Options {
            /// Checks the options.
            pub fn resolve(self, c: &mut Checker, page_bytes: u32) -> Settings {
                match self {
                    $(Options::$variant(options) => {
                        Settings::$variant(<$module::$scheme as Scheme>::resolve(options, c, page_bytes))
                    })+
                }
            }
        }

        impl Settings {
            /// The scheme's registered name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Settings::$variant(_) => stringify!($module)),+
                }
            }

            /// Whether it collects blocks chosen by a policy of `[gc]`.
            pub fn collects(&self) -> bool {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::COLLECTS),+
                }
            }

            /// Whether a recovery can begin with a checkpoint of its tables.
            pub fn has_checkpoints(&self) -> bool {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::HAS_CHECKPOINTS),+
                }
            }

            /// Whether its logical blocks can hold pages from all over the dies.
            pub fn stripes_pages(&self) -> bool {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::STRIPES_PAGES),+
                }
            }

            /// Whether it writes row by row.
            pub fn has_rows(&self) -> bool {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::HAS_ROWS),+
                }
            }

            /// Whether its recovery from a power cut merges blocks, and needs an erased block of each die for that.
            pub fn merges_at_recovery(&self) -> bool {
                !self.collects()
            }

            /// Whether a drive can start with a place for every page and nothing written.
            pub fn starts_mapped(&self) -> bool {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::STARTS_MAPPED),+
                }
            }

            /// Blocks of each die that such a start takes from the layer.
            pub fn before_blocks(&self) -> u32 {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::BEFORE_BLOCKS),+
                }
            }

            /// Checks that depend on the number of channels.
            pub fn check(&self, channels: u32, c: &mut Checker) {
                match self {
                    $(Settings::$variant(settings) => <$module::$scheme as Scheme>::check(settings, channels, c)),+
                }
            }

            /// Sizes the table of map entries of a layer that has one, if it is given as a share of the map.
            pub fn fit_table(&mut self, logical_pages: u64) {
                match self {
                    $(Settings::$variant(settings) => {
                        <$module::$scheme as Scheme>::fit_table(settings, logical_pages)
                    })+
                }
            }

            /// Entries that the table of a layer with its map on flash holds; the map may have fewer.
            pub fn table_entries(&self) -> Option<u32> {
                match self {
                    $(Settings::$variant(settings) => <$module::$scheme as Scheme>::table_entries(settings)),+
                }
            }

            /// Bytes of the map in a checkpoint, at most, of a layer that has its map on flash.
            pub fn checkpoint_bytes_max(&self, logical_pages: u128) -> Option<u128> {
                match self {
                    $(Settings::$variant(settings) => {
                        <$module::$scheme as Scheme>::checkpoint_bytes_max(settings, logical_pages)
                    })+
                }
            }

            /// Whether its map is on flash.
            pub fn has_map_on_flash(&self) -> bool {
                self.checkpoint_bytes_max(0).is_some()
            }

            /// Bytes of its tables in the model of Park et al. 2011, if the model covers the scheme.
            pub fn model_bytes(&self, tables: &Tables) -> Option<u64> {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::MODEL.map(|of| of(tables))),+
                }
            }

            /// Bytes that one map entry covers.
            pub fn map_unit_bytes(&self, page_bytes: u32) -> u32 {
                match self {
                    $(Settings::$variant(settings) => {
                        <$module::$scheme as Scheme>::map_unit_bytes(settings, page_bytes)
                    })+
                }
            }

            /// The flash that the scheme needs.
            pub fn room(&self, size: &DriveSize) -> Room {
                match self {
                    $(Settings::$variant(settings) => <$module::$scheme as Scheme>::room(settings, size)),+
                }
            }

            /// Bytes of memory for its tables.
            pub fn memory_bytes(&self, geometry: &Geometry) -> u64 {
                match self {
                    $(Settings::$variant(settings) => {
                        <$module::$scheme as Scheme>::memory_bytes(settings, geometry)
                    })+
                }
            }

            /// The layer of a fresh drive.
            pub(super) fn build(&self, setup: &Setup, geometry: &Geometry) -> Box<dyn Ftl> {
                match self {
                    $(Settings::$variant(settings) => {
                        Box::new(<$module::$scheme as Scheme>::new(settings, setup, geometry))
                    })+
                }
            }
        }
    };
}
pub(super) use schemes;
