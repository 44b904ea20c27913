//! Size of the log area of a scheme of log blocks, and its division among kinds and dies.

use serde::Serialize;

use crate::ftl::{DriveSize, Room};
use crate::nand::Geometry;
use flashwatt_base::settings::{Checker, Field};

/// Default fraction of the blocks that the log has (Park et al. 2011: "approximately 5 %").
pub const LOG_FRACTION: f64 = 0.05;
/// Blocks beyond data and log that each die needs: the block that a merge writes to.
pub const MERGE_BLOCKS: u32 = 1;

/// Log blocks of each die: the given fraction of all its blocks, limited by the spare flash.
pub fn share(log_fraction: f64, geometry: &Geometry) -> u32 {
    let data = geometry.logical_units.div_ceil(geometry.pages_per_block).div_ceil(geometry.dies);
    let spare = geometry.blocks_per_die.saturating_sub(data + MERGE_BLOCKS + geometry.reserves.total());
    ((log_fraction * f64::from(geometry.blocks_per_die)) as u32).min(spare)
}

/// The size of the log area.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogSize {
    /// Largest fraction of all blocks for the log.
    pub log_fraction: f64,
    /// Number of blocks for the log, instead of a fraction.
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

    /// The flash that a scheme needs with at least `least` log blocks on each die.
    pub fn room(&self, size: &DriveSize, least: u32) -> Room {
        let log = self.log_blocks.map_or(0, |blocks| u128::from(blocks) / size.dies).max(u128::from(least));
        let more = log + u128::from(MERGE_BLOCKS);
        Room {
            pages: size.dies * (size.data_blocks_per_die() + more) * size.pages_per_block,
            idle_pages: size.rounding_pages() + size.dies * u128::from(MERGE_BLOCKS) * size.pages_per_block,
            what: format!(
                "in each of {} dies whole blocks for the host's data, {log} log blocks and one more",
                size.dies
            ),
        }
    }

    /// Log blocks of each die of a drive, at least `least`. (A drive that starts empty may have too few blocks for that.)
    pub fn per_die(&self, geometry: &Geometry, least: u32) -> u32 {
        let given = self.log_blocks.map(|blocks| (blocks / geometry.dies).min(geometry.blocks_per_die));
        given.unwrap_or_else(|| share(self.log_fraction, geometry)).max(least)
    }
}

/// Limits on the number of log blocks of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Sequential log blocks in the drive.
    pub sequential: u32,
    /// Sequential log blocks on a die.
    pub sequential_per_die: u32,
    /// Random log blocks on a die.
    pub random_per_die: u32,
}

impl Quota {
    /// The limits for dies with `per_die` log blocks each. A die has two sequential ones, so that two streams may meet on it,
    /// or its part of them if that is more, but never more than a third of its log.
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
