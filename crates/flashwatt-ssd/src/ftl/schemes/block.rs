//! Block mapping: each logical block on one physical block, each page at its offset.
//!
//! A page that was not written since its block's erase is programmed in place. An overwrite moves the whole block: the new pages
//! and copies of the others go to a fresh block, and the old one is erased. The table has one entry per block and is the smallest
//! of all schemes; the price is a block of copies for each overwrite. Source: Park et al. 2011, section 3.1; Ban 1995. The copy
//! of a block counts as one full merge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocked::data_blocks::{DataBlocks, ENTRY_BYTES, OnDataBlocks};
use crate::ftl::plan::Plan;
use crate::ftl::{Context, DriveSize, Room, Scheme, Setup};
use crate::models::mapping_memory::Tables;
use crate::nand::Geometry;
use flashwatt_base::settings::Checker;
use flashwatt_base::units::Lpn;
use flashwatt_core::connector::Extent;

/// `[ftl.block]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {}

/// The translation layer.
pub struct BlockFtl {
    data: DataBlocks,
}

impl Scheme for BlockFtl {
    const DOC: &'static str = "block mapping: an overwrite copies the block (Park et al. 2011)";
    const COLLECTS: bool = false;
    const HAS_CHECKPOINTS: bool = true;
    const STARTS_MAPPED: bool = true;
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.block);
    type Options = Options;
    type Settings = Settings;

    fn resolve(_options: Options, _c: &mut Checker, _page_bytes: u32) -> Settings {
        Settings {}
    }

    fn room(_settings: &Settings, size: &DriveSize) -> Room {
        Room {
            pages: size.dies * (size.data_blocks_per_die() + 1) * size.pages_per_block,
            idle_pages: size.rounding_pages() + size.dies * size.pages_per_block,
            what: format!("in each of {} dies whole blocks for the host's data and one more", size.dies),
        }
    }

    fn new(_settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        BlockFtl { data: DataBlocks::new(setup, geometry) }
    }
}

impl OnDataBlocks for BlockFtl {
    fn data(&self) -> &DataBlocks {
        &self.data
    }

    fn data_mut(&mut self) -> &mut DataBlocks {
        &mut self.data
    }

    fn write_some(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> u32 {
        let (first, pages) = (Lpn(extent.first.0 + i), self.data.run(extent, i));
        if let Some(block) = self.data.open_for(first, pages, cx) {
            self.data.write_in_place(extent, i, pages, block, cx, plan);
            return pages;
        }
        let home = self.data.home(self.data.logical_block(first));
        let Some(fresh) = self.data.take_block(home, cx) else { return 0 };
        self.data.rewrite(extent, i, pages, fresh, cx, plan);
        pages
    }

    fn mapping_bytes(&self) -> u64 {
        u64::from(self.data.logical_blocks()) * ENTRY_BYTES
    }
}
