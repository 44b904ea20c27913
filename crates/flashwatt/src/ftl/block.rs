//! Block mapping: each logical block on one physical block, each page at its offset.
//!
//! A page that has not been written since its block was erased is programmed in place. To overwrite one, the whole block
//! moves: the new pages and copies of the others go to a fresh block, and the old one is erased. The table has one entry for
//! a block, so that it is the smallest of all; the price is a block of copies for each overwrite. Source: Park et al. 2011
//! §3.1 (SPEC A6); Ban 1995. One copy of a block is counted as one full merge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::BlockTable;
use super::data_blocks::DataBlocks;
use super::plan::Plan;
use super::{Context, Extent, Ftl, Room, Scheme, Size};
use crate::config::{Checker, Config};
use crate::device::{Array, Geometry};
use crate::models::mapping_memory::Tables;
use crate::units::{BlockId, DieId, Lpn, Ppn};

/// Bytes of a table entry.
const ENTRY_BYTES: u64 = 4;

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
    const MODEL: Option<fn(&Tables) -> u64> = Some(|tables| tables.block);
    type Options = Options;
    type Settings = Settings;

    fn resolve(_options: Options, _c: &mut Checker, _page_bytes: u32) -> Settings {
        Settings {}
    }

    fn room(_settings: &Settings, size: &Size) -> Room {
        Room {
            pages: size.dies * (size.data_blocks_per_die() + 1) * size.pages_per_block,
            what: format!("in each of {} dies whole blocks for the host's data and one more", size.dies),
        }
    }

    fn new(_settings: &Settings, config: &Config, geometry: &Geometry) -> Self {
        BlockFtl { data: DataBlocks::new(config, geometry) }
    }
}

impl BlockFtl {
    /// Writes the pages of an extent from the `i`-th on that are of one logical block. Returns whether they found room.
    fn write_block(&mut self, extent: &Extent, i: u32, pages: u32, cx: &mut Context, plan: &mut Plan) -> bool {
        let first = Lpn(extent.first.0 + i);
        let of = self.data.logical_block(first);
        let written = self.data.offset(first)..self.data.offset(first) + pages;
        let open = self.data.data_block(of).filter(|&block| written.clone().all(|at| self.data.is_open(block, at, cx)));
        let Some(block) = open.or_else(|| self.data.take_block(self.data.home(of), cx)) else { return false };
        if open.is_none() {
            self.data.rewrite(extent, i, pages, block, cx, plan);
            return true;
        }
        for j in i..i + pages {
            let to = self.data.address(block, written.start + j - i);
            self.data.program(Lpn(extent.first.0 + j), extent.is_partial(j), to, cx, plan);
        }
        true
    }
}

impl Ftl for BlockFtl {
    fn read(&mut self, extent: Extent, _cx: &mut Context, plan: &mut Plan) {
        self.data.read(extent, plan);
    }

    fn write(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) -> u32 {
        let mut done = 0;
        while done < extent.pages {
            let offset = self.data.offset(Lpn(extent.first.0 + done));
            let pages = (self.data.geometry().pages_per_block - offset).min(extent.pages - done);
            if !self.write_block(&extent, done, pages, cx, plan) {
                break;
            }
            done += pages;
        }
        done
    }

    fn trim(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) {
        self.data.trim(extent, cx, plan);
    }

    fn wants_background(&self, die: DieId, _blocks: &BlockTable) -> bool {
        self.data.wants_background(die)
    }

    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan) {
        self.data.background(die, cx, plan);
    }

    fn erased(&mut self, block: BlockId, cx: &mut Context, _plan: &mut Plan) {
        self.data.erased(block, cx);
    }

    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array) {
        self.data.fill(blocks, array);
    }

    fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.data.get(lpn)
    }

    fn mapping_bytes(&self) -> u64 {
        u64::from(self.data.logical_blocks()) * ENTRY_BYTES
    }

    fn merges(&self) -> bool {
        true
    }
}
