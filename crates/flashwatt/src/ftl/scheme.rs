//! What a translation layer tells the rest of the house about itself, and the list that enrols it.
//!
//! A scheme is one file with its options, the settings that they become, the flash that it takes, and the [`Ftl`] that it
//! builds; one line in the list of [`super`] makes it a name that a configuration, the command line, the reference, the
//! contract tests and the benchmarks know.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Ftl;
use crate::device::Geometry;
use crate::device::settings::Nand;
use crate::gc::Gc;
use crate::models::mapping_memory::Tables;
use crate::settings::Checker;
use crate::wear::Wear;

/// A translation layer as it is registered.
pub trait Scheme: Ftl + Sized + 'static {
    /// One line for the user: what it does and where it comes from.
    const DOC: &'static str;

    /// Does it collect blocks that a policy of `[gc]` chooses? If not, a configuration that speaks of them is refused.
    const COLLECTS: bool;

    /// Which figure of the model of Park et al. 2011 is this scheme's: bytes that its tables take. Most have none.
    const MODEL: Option<fn(&Tables) -> u64> = None;

    /// `[ftl.NAME]` as the user writes it: doc comments become the reference.
    type Options: Clone + Debug + Default + DeserializeOwned + JsonSchema;

    /// The same with every default filled in, as the report has it.
    type Settings: Clone + Debug + PartialEq + Serialize;

    /// Checks the options. `page_bytes` is the size of the drive's pages, or 0 if that is wrong itself.
    fn resolve(options: Self::Options, c: &mut Checker, page_bytes: u32) -> Self::Settings;

    /// Checks what depends on how many channels the drive has.
    fn check(_settings: &Self::Settings, _channels: u32, _c: &mut Checker) {}

    /// Bytes that one map entry covers.
    fn map_unit_bytes(_settings: &Self::Settings, page_bytes: u32) -> u32 {
        page_bytes
    }

    /// The flash that the scheme takes to hold so much data for ever.
    fn room(settings: &Self::Settings, size: &Size) -> Room;

    /// Bytes of memory that its tables take in this program once they are in use. A layer that keeps more than a place for
    /// each logical unit and a few words for each block says so: a drive that the machine cannot hold is refused.
    fn memory_bytes(_settings: &Self::Settings, geometry: &Geometry) -> u64 {
        flat_map_bytes(geometry)
    }

    /// The layer of a fresh drive.
    fn new(settings: &Self::Settings, setup: &Setup, geometry: &Geometry) -> Self;
}

/// Bytes of a place for each logical unit, and of a few words for each block.
pub(super) fn flat_map_bytes(geometry: &Geometry) -> u64 {
    const BLOCK_BYTES: u64 = 24;
    4 * u64::from(geometry.logical_units) + BLOCK_BYTES * u64::from(geometry.blocks)
}

/// The settings of a drive that a layer heeds besides its own.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Rules of the NAND.
    pub nand: &'a Nand,
    /// Garbage collection.
    pub gc: &'a Gc,
    /// Wear levelling.
    pub wear: &'a Wear,
}

/// How large a drive is. In wide integers, for sizes that are asked for and make no sense pass here too.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Dies.
    pub dies: u128,
    /// Erase blocks in a die.
    pub die_blocks: u128,
    /// Pages in a block.
    pub pages_per_block: u128,
    /// Map units in a page.
    pub units_per_page: u128,
    /// Pages that the host can address.
    pub logical_pages: u128,
    /// Collection starts below so many free blocks in a die.
    pub low_watermark_blocks: u32,
    /// The host may not take a die's last free blocks, so many.
    pub reserved_blocks: u32,
}

impl Size {
    /// Blocks that hold the host's data if each holds only pages of one run of addresses, evenly over the dies.
    pub fn data_blocks_per_die(&self) -> u128 {
        self.logical_pages.div_ceil(self.pages_per_block).div_ceil(self.dies)
    }
}

/// What a drive must have.
#[derive(Clone, Debug)]
pub struct Room {
    /// Physical pages, those of the host's data included.
    pub pages: u128,
    /// Of what that is made up, for the user: `in each of 4 dies the low watermark and one more`.
    pub what: String,
}

/// Declares the modules of schemes, each in a file of its own, and what the rest of the house knows of them.
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

        /// Names and one-line docs of every translation layer that a configuration can name.
        pub const NAMES: &[(&str, &str)] = &[$((stringify!($module), <$module::$scheme as Scheme>::DOC)),+];

        impl Options {
            /// Checks them.
            pub(crate) fn resolve(self, c: &mut Checker, page_bytes: u32) -> Settings {
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

            /// Does it collect blocks that a policy of `[gc]` chooses?
            pub fn collects(&self) -> bool {
                match self {
                    $(Settings::$variant(_) => <$module::$scheme as Scheme>::COLLECTS),+
                }
            }

            /// Checks what depends on how many channels the drive has.
            pub(crate) fn check(&self, channels: u32, c: &mut Checker) {
                match self {
                    $(Settings::$variant(settings) => <$module::$scheme as Scheme>::check(settings, channels, c)),+
                }
            }

            /// Bytes that its tables take by the model of Park et al. 2011, if that knows the scheme.
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

            /// The flash that the scheme takes.
            pub fn room(&self, size: &Size) -> Room {
                match self {
                    $(Settings::$variant(settings) => <$module::$scheme as Scheme>::room(settings, size)),+
                }
            }

            /// Bytes of memory that its tables take.
            pub(crate) fn memory_bytes(&self, geometry: &Geometry) -> u64 {
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
