//! What comes of a power cut of one drive.

use schemars::JsonSchema;
use serde::Serialize;

use super::dump::Dump;
use super::remains::Remains;
use super::scans::{Scans, come_back_by};
use super::trial::{Cost, Powered, Silence};
use flashwatt_base::error::Error;

/// What a cut leaves, and what comes back from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CutOutcome {
    /// Pages whose program was cut.
    pub torn_pages: u32,
    /// Whole pages that torn pages of the same cells have spoilt.
    pub spoilt_pages: u32,
    /// Blocks whose erase was cut.
    pub half_erased_blocks: u32,
    /// Units with the version that was written last.
    pub kept_units: u32,
    /// Units with an older version, or nothing, of which nothing newer was durable.
    pub rolled_back_units: u32,
    /// Units of which a durable version is lost with a spoilt page.
    pub pair_lost_units: u32,
    /// Units of which a durable version is lost in another way. Must be 0.
    pub lost_units: u32,
    /// What the recovery took.
    #[serde(flatten)]
    pub cost: Cost,
    /// What capacitors did at the cut, if the drive has any. At a cut during a recovery they are not charged yet.
    #[serde(flatten)]
    pub dump: Option<Dump>,
}

/// What comes back from a cut.
pub(super) fn comes_back(remains: &Remains) -> Result<CutOutcome, Error> {
    comes_back_by(remains, &mut Scans::default())
}

/// What comes back from one of many cuts of a drive.
pub(super) fn comes_back_by(remains: &Remains, scans: &mut Scans) -> Result<CutOutcome, Error> {
    let (cost, back) = come_back_by(remains, scans)?;
    outcome(remains, cost, &back)
}

/// What has been cut, and what has come back.
pub(super) fn outcome(remains: &Remains, cost: Cost, back: &Powered<Silence>) -> Result<CutOutcome, Error> {
    let recovered = remains.compare(back.drive());
    Ok(CutOutcome {
        torn_pages: remains.torn.len() as u32,
        spoilt_pages: remains.spoilt.len() as u32,
        half_erased_blocks: remains.half_erased.len() as u32,
        kept_units: recovered.kept,
        rolled_back_units: recovered.rolled_back,
        pair_lost_units: recovered.lost_by_pairs,
        lost_units: recovered.lost,
        cost,
        dump: remains.dump()?,
    })
}
