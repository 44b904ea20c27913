//! Stand-ins for published traces that are not available in full: synthetic workloads with locality, each fitted to the
//! published statistics of one trace.
//!
//! A stand-in is a file in `presets/standins`. Every value has a tag (published, derived, chosen or fitted) and a
//! source. Some values were fitted to a figure of one translation layer (the hit ratio of a demand-paged map) or of one
//! drive (busy dies). That figure is then no evidence for this layer or drive; figures of all others are predictions.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::synthetic::{Clock, Mix, Synthetic};
use crate::connector::{SourceKind, Workload};
use crate::registry::{self, Entry, Named};
use crate::rng::Rng;
use crate::workload::settings;

mod data;
mod locality;
mod statistics;

pub use data::{Provenance, StandinData, Tagged};
use locality::Locality;
pub use statistics::{Measure, Statistics, measures, statistics};

/// The registry entry of the stand-ins.
pub(super) const ENTRY: Entry<()> = Entry {
    name: "standin",
    doc: "a model fitted to the published statistics of a trace: `name` is one of `flashwatt list standins`",
    params: &[],
    build: (),
};

/// Name and file text of every stand-in. To add a stand-in, add a line here.
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
    /// The content of its file.
    pub data: StandinData,
}

impl Named for Standin {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> Cow<'_, str> {
        self.data.description.as_str().into()
    }
}

/// Every stand-in.
pub static STANDINS: LazyLock<Vec<Standin>> = LazyLock::new(|| {
    let parsed = |(name, text): &(&'static str, &str)| match toml::from_str(text) {
        Ok(data) => Standin { name, data },
        Err(error) => unreachable!("presets/standins/{name}.toml is part of the program, and tested: {error}"),
    };
    FILES.iter().map(parsed).collect()
});

/// The stand-in with this name.
pub fn find(name: &str) -> Option<&'static Standin> {
    registry::find(&STANDINS, name)
}

/// Makes the seed for the placement of chunks differ from the seed of the requests.
const PLACING_SEED: u64 = 0x57a_4d15;

impl Standin {
    /// Number of requests at this scale: the full number times `scale`, at least 1.
    pub fn requests(&self, scale: f64) -> u64 {
        ((self.data.model.requests.value as f64 * scale).round() as u64).max(1)
    }

    /// Upper estimate in bytes of the space that this number of requests touches: fresh requests and their
    /// continuations.
    pub fn footprint_bytes(&self, requests: u64) -> u64 {
        let model = &self.data.model;
        let fresh = model.fresh_fraction.value + model.continue_fraction.value;
        (requests as f64 * fresh * (model.mean_bytes() + 4096.0)) as u64
    }

    /// Opens the workload at this scale, within the first `drive_bytes` bytes of a drive. The same seed gives the same
    /// requests.
    pub fn open(&'static self, scale: f64, requests: u64, drive_bytes: u64, seed: u64) -> Box<dyn Workload> {
        let model = &self.data.model;
        let mut rng = Rng::new(seed);
        let clock = Clock::new(&self.data.arrivals.config(), &mut rng);
        let mix = Mix::new(model.read_fraction.value, 0.0, &model.sizes());
        let locality = Locality::new(model, scale, drive_bytes, seed ^ PLACING_SEED);
        Box::new(Synthetic::compose(self.name, SourceKind::Standin, requests, mix, locality, clock, rng))
    }
}

/// Opens the workload of a valid configuration. The same seed gives the same requests.
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
