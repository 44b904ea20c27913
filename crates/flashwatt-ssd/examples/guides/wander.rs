//! Block mapping whose blocks wander: as `block`, but an overwritten block moves to the die that has the most erased blocks.
//!
//! An example, made for this page; it has no source. A move to another die goes over the bus twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::blocked::data_blocks::{DataBlocks, ENTRY_BYTES, OnDataBlocks};
use crate::ftl::plan::Plan;
use crate::ftl::{Context, DriveSize, Room, Scheme, Setup};
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{BlockId, DieId, Lpn};
use flashwatt_core::connector::Extent;

/// `[ftl.wander]`: what the user writes. The doc comments become the reference.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Blocks that the whole drive has beyond those of the host's data: the number of overwrites that can be under way.
    pub spare_blocks: Option<u32>,
}

/// The same, checked and complete: what the report shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// ≥ 1.
    pub spare_blocks: u32,
}

/// The layer.
pub struct Wander {
    data: DataBlocks,
}

impl Scheme for Wander {
    const DOC: &'static str = "block mapping: an overwrite copies the block to the die with the most erased ones";
    const COLLECTS: bool = false; // no victims are chosen: [gc] has nothing to say
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        Settings { spare_blocks: c.number(field!("ftl.wander", options.spare_blocks), 1, 1..=1_000_000) }
    }

    fn room(settings: &Settings, size: &DriveSize) -> Room {
        let blocks = size.dies * size.data_blocks_per_die() + u128::from(settings.spare_blocks);
        let what = format!("whole blocks for the host's data and {} more", settings.spare_blocks);
        let idle_pages = size.rounding_pages() + u128::from(settings.spare_blocks) * size.pages_per_block;
        Room { pages: blocks * size.pages_per_block, idle_pages, what }
    }

    fn new(_settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        Wander { data: DataBlocks::new(setup, geometry) }
    }
}

impl Wander {
    /// An erased block of the die that has the most. None: all are being erased.
    fn fresh_block(&self, cx: &mut Context) -> Option<BlockId> {
        let dies = (0..self.data.geometry().dies).map(DieId);
        let die = dies.max_by_key(|&die| cx.blocks.free_blocks(die))?;
        self.data.take_block(die, cx)
    }
}

/// What sets it apart from other schemes of whole blocks; reads, trims, start states and wear levelling are those of all.
impl OnDataBlocks for Wander {
    fn data(&self) -> &DataBlocks {
        &self.data
    }

    fn data_mut(&mut self) -> &mut DataBlocks {
        &mut self.data
    }

    /// Writes the `i`-th page of an extent and those behind it that are of the same block. Returns how many there are, or 0 if
    /// there is no room.
    fn write_some(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> u32 {
        let (first, pages) = (Lpn(extent.first.0 + i), self.data.run(extent, i));
        // In place, where the pages have not been programmed since the block was erased.
        if let Some(block) = self.data.open_for(first, pages, cx) {
            self.data.write_in_place(extent, i, pages, block, cx, plan);
            return pages;
        }
        // Else they and copies of the block's other pages go to a fresh block, and the old one is erased.
        let Some(fresh) = self.fresh_block(cx) else { return 0 };
        self.data.rewrite(extent, i, pages, fresh, cx, plan);
        pages
    }

    fn mapping_bytes(&self) -> u64 {
        u64::from(self.data.logical_blocks()) * ENTRY_BYTES
    }
}
