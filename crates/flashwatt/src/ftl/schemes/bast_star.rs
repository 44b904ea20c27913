//! BAST*, EnergySim's BAST without replacement: log blocks are never taken from other logical blocks.
//!
//! As [`super::bast`], with one difference. If a write needs a log block and the quota of its die is exhausted, its logical block
//! is copied to a fresh block, as in block mapping (1 erase, counted as a full merge). Source: Cho et al. 2015 (EnergySim),
//! section 4.
//!
//! The paper leaves open when a log block is given up. Choice: when it is full and has been cleaned, and only then. Under random
//! writes every log block that is written fills up, and the next logical block gets its place. The log block of a logical block
//! that is never written again stays.

use super::bast::{self, Options, Settings};
use crate::device::Geometry;
use crate::ftl::blocked::pairs::{self, Pairs};
use crate::ftl::{DriveSize, Room, Scheme, Setup};
use crate::settings::Checker;

/// BAST*, registered.
pub struct BastStar;

/// The translation layer.
pub type BastStarFtl = Pairs<BastStar>;

impl Scheme for BastStarFtl {
    const DOC: &'static str = "BAST without replacement: a write that gets no log block copies its block (EnergySim 4)";
    const COLLECTS: bool = false;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, _page_bytes: u32) -> Settings {
        bast::resolve("ftl.bast_star", options, c)
    }

    fn room(_settings: &Settings, size: &DriveSize) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        Pairs::with(bast::rules(settings, false), setup, geometry)
    }
}
