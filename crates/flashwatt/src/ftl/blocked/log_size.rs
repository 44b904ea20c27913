//! How large the log area of a scheme of log blocks is, and how shared log blocks are shared out.

use serde::Serialize;

use crate::device::Geometry;
use crate::ftl::{Room, Size};
use crate::settings::{Checker, Field};

/// Share of the blocks that the log has unless the user says otherwise (Park et al. 2011: "approximately 5 %"; SPEC E12).
pub const LOG_FRACTION: f64 = 0.05;
/// Blocks beside data and log that each die needs: the one that a merge writes to.
pub const MERGE_BLOCKS: u32 = 1;

/// Log blocks of each die: the share of all that was asked for, as far as there is spare flash for it.
pub fn share(log_fraction: f64, geometry: &Geometry) -> u32 {
    let data = geometry.logical_units.div_ceil(geometry.pages_per_block).div_ceil(geometry.dies);
    let spare = geometry.blocks_per_die.saturating_sub(data + MERGE_BLOCKS);
    ((log_fraction * f64::from(geometry.blocks_per_die)) as u32).min(spare)
}

/// How large the log area is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogSize {
    /// Share of all blocks that it has at most.
    pub log_fraction: f64,
    /// Blocks that it has, whatever the share.
    pub log_blocks: Option<u32>,
}

impl LogSize {
    /// Checks the two options, of which at most one may be given.
    pub fn resolve(c: &mut Checker, fraction: Field<f64>, blocks: Field<u32>) -> Self {
        if let (Some(share), Some(number)) = (fraction.value, blocks.value) {
            let fault = c.fault(&blocks.key, "the size of the log is given twice");
            let found = format!("log_fraction = {share:?} and log_blocks = {number:?}");
            c.push(fault.found(found).expected("log_fraction or log_blocks"));
        }
        LogSize {
            log_fraction: c.number(fraction, LOG_FRACTION, 0.0..=0.5),
            log_blocks: c.optional(blocks, 1..=u32::MAX),
        }
    }

    /// The flash that a scheme takes which needs `least` log blocks on each die.
    pub fn room(&self, size: &Size, least: u32) -> Room {
        let log = self.log_blocks.map_or(0, |blocks| u128::from(blocks) / size.dies).max(u128::from(least));
        let more = log + u128::from(MERGE_BLOCKS);
        Room {
            pages: size.dies * (size.data_blocks_per_die() + more) * size.pages_per_block,
            what: format!(
                "in each of {} dies whole blocks for the host's data, {log} log blocks and one more",
                size.dies
            ),
        }
    }

    /// Log blocks of each die of a drive, `least` or more. (A drive that starts empty may have too few blocks for what is given.)
    pub fn per_die(&self, geometry: &Geometry, least: u32) -> u32 {
        let given = self.log_blocks.map(|blocks| (blocks / geometry.dies).min(geometry.blocks_per_die));
        given.unwrap_or_else(|| share(self.log_fraction, geometry)).max(least)
    }
}

/// How many log blocks of each kind there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Sequential ones in the drive.
    pub sequential: u32,
    /// Sequential ones on a die.
    pub sequential_per_die: u32,
    /// Random ones on a die.
    pub random_per_die: u32,
}

impl Quota {
    /// Of a drive whose dies have `per_die` log blocks each. So that two streams do not meet on a die that has room for one
    /// only, each die has two of the sequential ones, or its part of them if that is more, but never over a third of its log.
    pub fn new(sequential: u32, per_die: u32, dies: u32) -> Self {
        let part = sequential.div_ceil(dies).max(2).min(sequential);
        let sequential_per_die = part.min(per_die / 3).max(1);
        Quota {
            sequential: sequential.min(sequential_per_die * dies),
            sequential_per_die,
            random_per_die: per_die - sequential_per_die,
        }
    }
}
