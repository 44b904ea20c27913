//! Stand-ins for published traces that are not available in full: synthetic workloads with locality, each fitted to the
//! published statistics of one trace.
//!
//! A stand-in is a file in `standins`. Every value has a tag (published, derived, chosen or fitted) and a
//! source. Some values were fitted to a figure of one translation layer (the hit ratio of a demand-paged map) or of one
//! drive (busy dies). That figure is then no evidence for this layer or drive; figures of all others are predictions.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use super::synthetic::{Clock, Mix, Source, Synthetic};
use crate::settings;
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::registry::{self, Entry, Named};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::{SourceKind, Workload};

pub mod character;
mod data;
mod ends;
pub mod fit;
mod limits;
mod locality;
mod of_trace;
mod popularity;
mod statistics;

pub use data::{Provenance, StandinData, Tagged};
use locality::Locality;
pub use of_trace::{OfTrace, of_trace};
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
    ("financial1", include_str!("../../standins/financial1.toml")),
    ("financial2", include_str!("../../standins/financial2.toml")),
    ("homes", include_str!("../../standins/homes.toml")),
    ("msnfs", include_str!("../../standins/msnfs.toml")),
    ("filezilla", include_str!("../../standins/filezilla.toml")),
    ("torrent", include_str!("../../standins/torrent.toml")),
    ("gimp", include_str!("../../standins/gimp.toml")),
    ("oltp", include_str!("../../standins/oltp.toml")),
    ("olap", include_str!("../../standins/olap.toml")),
];

/// A stand-in.
#[derive(Clone, Debug)]
pub struct Standin {
    /// The name in configurations, or the name of its file without the ending.
    pub name: Cow<'static, str>,
    /// The content of its file.
    pub data: StandinData,
    /// SHA-256 of its file, if that is not part of the program.
    pub sha256: Option<String>,
}

impl Named for Standin {
    fn name(&self) -> &str {
        &self.name
    }

    fn doc(&self) -> Cow<'_, str> {
        self.data.description.as_str().into()
    }
}

/// Every stand-in.
pub static STANDINS: LazyLock<Vec<Standin>> = LazyLock::new(|| {
    let parsed = |(name, text): &(&'static str, &str)| match toml::from_str(text) {
        Ok(data) => Standin { name: Cow::Borrowed(name), data, sha256: None },
        Err(error) => unreachable!("standins/{name}.toml is part of the program, and tested: {error}"),
    };
    FILES.iter().map(parsed).collect()
});

/// The stand-in with this name.
pub fn find(name: &str) -> Option<&'static Standin> {
    registry::find(&STANDINS, name)
}

/// The text of a stand-in's file.
fn text(path: &Path) -> io::Result<String> {
    // The check comes before the file is opened: opening a pipe blocks until another process writes to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("a directory, a pipe or a device"));
    }
    let mut text = String::new();
    std::fs::File::open(path)?.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Longest accepted file of a stand-in, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Makes the seed for the placement of chunks differ from the seed of the requests.
const PLACING_SEED: u64 = 0x57a_4d15;

/// The line of the value whose name a fault begins with.
fn line_of(text: &str, why: &str) -> Option<u64> {
    let (table, key) = why.split_once(':')?.0.split_once('.')?;
    let mut at = "";
    let place = text.lines().position(|line| {
        at = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(at);
        at == table && line.split('=').next().map(str::trim) == Some(key)
    })?;
    Some(place as u64 + 1)
}

impl Standin {
    /// Reads the file of a stand-in.
    ///
    /// # Errors
    /// Why it cannot be read, or the first place at which it is no stand-in.
    pub fn read(path: &Path) -> Result<Self, Box<Fault>> {
        const EXPECTED: &str = "the file of a stand-in, as `flashwatt standin fit` writes it";
        let file = path.display().to_string();
        let fault = |what: &str, line: Option<u64>, found: &str| {
            let place = Place { file: Some(file.clone()), line, ..Place::default() };
            Box::new(Fault::at(place, what).found(found).expected(EXPECTED))
        };
        let text = text(path).map_err(|error| fault("cannot be read", None, &error.to_string()))?;
        let data: StandinData = toml::from_str(&text).map_err(|error| {
            let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
            fault("no stand-in", Some(before.lines().count().max(1) as u64), error.message())
        })?;
        data.check().map_err(|why| fault("no stand-in", line_of(&text, &why), &why))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned().into();
        Ok(Standin { name, data, sha256: Some(format!("{:x}", Sha256::digest(&text))) })
    }

    /// Number of requests at this scale: the full number times `scale`, at least 1.
    pub fn requests(&self, scale: f64) -> u64 {
        ((self.data.model.requests.value as f64 * scale).round() as u64).max(1)
    }

    /// Estimate in bytes of the space that this number of requests touches: fresh requests and their continuations, each
    /// with a page more than its length.
    pub fn footprint_bytes(&self, requests: u64) -> u64 {
        let model = &self.data.model;
        (requests as f64 * model.fresh_fraction() * (model.mean_bytes() + 4096.0)) as u64
    }

    /// The longest request.
    pub fn largest_bytes(&self) -> u64 {
        self.data.model.sizes().largest()
    }

    /// Opens the workload at this scale, within the first `drive_bytes` bytes of a drive. The same seed gives the same
    /// requests.
    pub fn open(&self, scale: f64, requests: u64, drive_bytes: u64, seed: u64) -> Box<dyn Workload> {
        self.open_dealt(1, scale, requests, drive_bytes, seed)
    }

    /// As [`Self::open`], with the requests dealt to processes.
    fn open_dealt(&self, processes: u32, scale: f64, requests: u64, drive_bytes: u64, seed: u64) -> Box<dyn Workload> {
        let model = &self.data.model;
        let mut rng = Rng::new(seed);
        let clock = Clock::new(&self.data.arrivals.config(), &mut rng);
        let mix = Mix::new(model.read_fraction.value, 0.0, &model.sizes());
        let locality = Locality::new(model, scale, drive_bytes, seed ^ PLACING_SEED);
        let source = Source { name: self.name.clone(), kind: SourceKind::Standin, sha256: self.sha256.clone() };
        Synthetic::compose(source, requests, mix, locality, clock, rng).dealt(processes)
    }
}

/// Opens the workload of a valid configuration. The same seed gives the same requests.
///
/// # Errors
/// If the stand-in's file changed since the configuration was read, and is no stand-in now.
pub fn open(cfg: &settings::Standin, drive_bytes: u64, seed: u64) -> Result<Box<dyn Workload>, Error> {
    let open = |standin: &Standin| standin.open_dealt(cfg.processes, cfg.scale, cfg.requests, drive_bytes, seed);
    match (&cfg.path, find(&cfg.name)) {
        (Some(path), _) => Ok(open(&Standin::read(path).map_err(|fault| *fault)?)),
        (None, Some(standin)) => Ok(open(standin)),
        (None, None) => unreachable!("a valid configuration names a stand-in"),
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
