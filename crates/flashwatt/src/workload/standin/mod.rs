//! Stand-ins for published traces that cannot be had whole: the models of [`super::synthetic`] with locality, each fitted to
//! the statistics that were published of one trace.
//!
//! A stand-in is a file in `presets/standins` whose every value says what it is — published, derived from what is,
//! chosen, or fitted — and where it comes from. What was fitted on one translation layer (the hit ratio of a demand-paged
//! map) or one drive (busy dies) is no evidence for that one; for all others it is a prediction.

use std::sync::LazyLock;

use super::synthetic::{Clock, Mix, Synthetic};
use crate::connector::{SourceKind, Workload};
use crate::rng::Rng;
use crate::workload::settings;

mod data;
mod locality;
mod statistics;

pub use data::{Data, Tag, Tagged};
use locality::Locality;
pub use statistics::{Measure, Statistics, measures, statistics};

/// What lists say about them.
pub const DOC: &str =
    "a model fitted to the published statistics of a trace: `name` is one of `flashwatt list standins`";

/// Name and text of every stand-in; adding one is adding a line here.
const FILES: &[(&str, &str)] = &[
    ("financial1", include_str!("../../../../../presets/standins/financial1.toml")),
    ("financial2", include_str!("../../../../../presets/standins/financial2.toml")),
    ("homes", include_str!("../../../../../presets/standins/homes.toml")),
    ("msnfs", include_str!("../../../../../presets/standins/msnfs.toml")),
    ("filezilla", include_str!("../../../../../presets/standins/filezilla.toml")),
    ("torrent", include_str!("../../../../../presets/standins/torrent.toml")),
    ("gimp", include_str!("../../../../../presets/standins/gimp.toml")),
    ("oltp", include_str!("../../../../../presets/standins/oltp.toml")),
    ("olap", include_str!("../../../../../presets/standins/olap.toml")),
];

/// A stand-in that a configuration can name.
#[derive(Debug)]
pub struct Standin {
    /// The name in configurations.
    pub name: &'static str,
    /// What its file says.
    pub data: Data,
}

/// Every stand-in.
pub static STANDINS: LazyLock<Vec<Standin>> = LazyLock::new(|| {
    let parsed = |(name, text): &(&'static str, &str)| match toml::from_str(text) {
        Ok(data) => Standin { name, data },
        Err(error) => unreachable!("presets/standins/{name}.toml is part of the program, and tested: {error}"),
    };
    FILES.iter().map(parsed).collect()
});

/// The stand-in of that name.
pub fn find(name: &str) -> Option<&'static Standin> {
    STANDINS.iter().find(|standin| standin.name == name)
}

/// Keeps the placing of chunks apart from the draws of requests.
const PLACING_SEED: u64 = 0x57a_4d15;

impl Standin {
    /// Requests at this scale: the full number times it, and one at least.
    pub fn requests(&self, scale: f64) -> u64 {
        ((self.data.model.requests.value as f64 * scale).round() as u64).max(1)
    }

    /// Bytes that so many requests touch at most, about: fresh chunks and what continues them.
    pub fn footprint_bytes(&self, requests: u64) -> u64 {
        let model = &self.data.model;
        let fresh = model.fresh_fraction.value + model.continue_fraction.value;
        (requests as f64 * fresh * (model.mean_bytes() + 4096.0)) as u64
    }

    /// The workload at this scale, within the first `drive_bytes` of a drive. The same seed gives the same requests.
    pub fn open(&'static self, scale: f64, requests: u64, drive_bytes: u64, seed: u64) -> Box<dyn Workload> {
        let model = &self.data.model;
        let mut rng = Rng::new(seed);
        let clock = Clock::new(&self.data.arrivals.config(), &mut rng);
        let mix = Mix::new(model.read_fraction.value, 0.0, &model.sizes());
        let locality = Locality::new(model, scale, drive_bytes, seed ^ PLACING_SEED);
        Box::new(Synthetic::compose(self.name, SourceKind::Standin, requests, mix, locality, clock, rng))
    }
}

/// The workload of a valid configuration.
pub fn open(cfg: &settings::Standin, drive_bytes: u64, seed: u64) -> Box<dyn Workload> {
    match find(&cfg.name) {
        Some(standin) => standin.open(cfg.scale, cfg.requests, drive_bytes, seed),
        None => unreachable!("a valid configuration names a stand-in"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_valid_and_every_value_has_a_source() {
        for standin in STANDINS.iter() {
            let data = &standin.data;
            assert!(!data.description.is_empty() && !data.description.contains('\n'), "{}", standin.name);
            assert_eq!(data.check(), Ok(()), "{}", standin.name);
        }
    }
}
