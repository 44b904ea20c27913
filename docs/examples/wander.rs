//! Block mapping whose blocks wander: as `block`, but an overwritten block moves to the die that has the most erased blocks.
//!
//! An example, made for this page; it has no source. A move to another die goes over the bus twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::BlockTable;
use super::data_blocks::DataBlocks;
use super::plan::{Cause, Plan};
use super::{Context, Extent, Ftl, Room, Scheme, Size};
use crate::config::{Checker, Config, field};
use crate::device::{Array, Geometry};
use crate::units::{BlockId, DieId, Lpn, Ppn};

/// `[ftl.wander]`: what the user writes. The doc comments become the reference.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Blocks that the whole drive has beyond those of the host's data: so many overwrites can be under way.
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

    fn room(settings: &Settings, size: &Size) -> Room {
        let blocks = size.dies * size.data_blocks_per_die() + u128::from(settings.spare_blocks);
        let what = format!("whole blocks for the host's data and {} more", settings.spare_blocks);
        Room { pages: blocks * size.pages_per_block, what }
    }

    fn new(_settings: &Settings, config: &Config, geometry: &Geometry) -> Self {
        Wander { data: DataBlocks::new(config, geometry) }
    }
}

impl Wander {
    /// An erased block of the die that has the most. None: all are being erased.
    fn fresh_block(&self, cx: &mut Context) -> Option<BlockId> {
        let dies = (0..self.data.geometry().dies).map(DieId);
        let die = dies.max_by_key(|&die| cx.blocks.free_blocks(die))?;
        self.data.take_block(die, cx)
    }

    /// Writes the `i`-th page of an extent and those behind it that are of the same block. Returns how many there are, or
    /// `None` if there is no room.
    fn write_block(&mut self, extent: &Extent, i: u32, cx: &mut Context, plan: &mut Plan) -> Option<u32> {
        let first = Lpn(extent.first.0 + i);
        let (of, start) = (self.data.logical_block(first), self.data.offset(first));
        let pages = (self.data.geometry().pages_per_block - start).min(extent.pages - i);
        let written = start..start + pages;
        // In place, where the pages have not been programmed since the block was erased; else the block moves.
        let open = self.data.data_block(of).filter(|&block| written.clone().all(|at| self.data.is_open(block, at, cx)));
        let block = match open {
            Some(block) => block,
            None => self.fresh_block(cx)?,
        };
        for (lpn, offset) in self.data.pages(of).zip(0..) {
            let to = self.data.address(block, offset);
            if written.contains(&offset) {
                self.data.program(lpn, extent.is_partial(i + offset - start), to, cx, plan);
            } else if open.is_none() && self.data.get(lpn).is_some() {
                self.data.copy(lpn, to, Cause::Merge, cx, plan);
            }
        }
        if open.is_none() {
            self.data.set_data_block(of, block, cx, plan); // and the old one is erased
        }
        Some(pages)
    }
}

impl Ftl for Wander {
    fn read(&mut self, extent: Extent, _cx: &mut Context, plan: &mut Plan) {
        self.data.read(extent, plan);
    }

    fn write(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) -> u32 {
        let mut done = 0;
        while done < extent.pages {
            let Some(pages) = self.write_block(&extent, done, cx, plan) else { break };
            done += pages;
        }
        done
    }

    fn trim(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) {
        self.data.trim(extent, cx, plan);
    }

    // The only work in the background is wear levelling's, which all schemes of whole blocks share.

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
        4 * u64::from(self.data.logical_blocks())
    }
}
