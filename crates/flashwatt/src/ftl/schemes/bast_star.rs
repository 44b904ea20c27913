//! BAST*, EnergySim's BAST without replacement: log blocks are never taken from other logical blocks.
//!
//! As [`super::bast`], but a write that needs a log block when the quota of its die is exhausted copies its block to a fresh
//! one, as block mapping does (1 erase, counted as a full merge). Source: Cho et al. 2015 §4 (EnergySim); SPEC A5.
//!
//! Choice, for the paper does not say how log blocks come back: one is given up when it is full and is cleaned then, and by
//! nothing else; there is no rule for idle ones. It stays alive under random writes, for every log block that is written to
//! fills up, and the next logical block that needs one gets it. One whose logical block is never written to again stays.

use super::bast::{self, Options, Settings};
use crate::device::Geometry;
use crate::ftl::blocked::pairs::{self, Pairs};
use crate::ftl::{Room, Scheme, Setup, Size};
use crate::settings::Checker;

/// BAST*, as it is registered.
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

    fn room(_settings: &Settings, size: &Size) -> Room {
        pairs::room(size)
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        Pairs::with(bast::rules(settings, false), setup, geometry)
    }
}
