//! The file of a stand-in: every value has a tag and a source.

use serde::Deserialize;

use crate::units::Nanos;
use crate::workload::settings::{Arrivals, Gap, Group, Law, OpenLoop, Size, Sizes};

/// A stand-in's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandinData {
    /// One line about the stand-in.
    pub description: String,
    /// Published statistics, which the requests of the stand-in reproduce.
    pub published: Published,
    /// Parameters of kinds, lengths and places.
    pub model: StandinModel,
    /// Parameters of arrival times.
    pub arrivals: Times,
}

/// A value with its tag and its source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tagged<T> {
    /// The value.
    pub value: T,
    /// How the value was obtained.
    pub tag: Provenance,
    /// Its source: a paper's table, a computation, a reason, or the figure that it was fitted to.
    pub source: String,
}

/// How a value was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// A paper states it.
    Published,
    /// It was computed from published figures.
    Derived,
    /// Nothing was published about it; the source gives the reason for the choice.
    Chosen,
    /// Tuned until the requests reproduced a published figure; the source names the figure.
    Fitted,
}

/// Published statistics. Sizes in KiB, shares in percent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Share of reads by bytes, as the EnergySim paper states it. Exactly one of this and `read_percent` is given.
    pub read_bytes_percent: Option<Tagged<f64>>,
    /// Share of reads by count, as Park et al. 2011 state it. Exactly one of this and `read_bytes_percent` is given.
    pub read_percent: Option<Tagged<f64>>,
    /// Share of requests that start where the request before ended, on any device.
    pub sequential_percent: Tagged<f64>,
    /// Mean length of reads.
    pub read_kib: Tagged<f64>,
    /// Mean length of writes.
    pub write_kib: Tagged<f64>,
    /// Hit ratio over the whole trace of an LRU cache of 2^20 mapping entries, each for a page of 4 KiB. The cache is
    /// empty at the start.
    pub hit_percent: Option<Tagged<f64>>,
    /// Mean number of busy dies while at least one is busy, with page mapping on 16 dies.
    pub active_dies: Option<Tagged<f64>>,
}

/// Lengths in bytes and their shares.
pub type LengthShares = Vec<(u64, f64)>;

/// Parameters of kinds, lengths and places.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandinModel {
    /// Requests at full scale.
    pub requests: Tagged<u64>,
    /// Share of reads by count.
    pub read_fraction: Tagged<f64>,
    /// Lengths of reads.
    pub read_bytes: Tagged<LengthShares>,
    /// Lengths of writes.
    pub write_bytes: Tagged<LengthShares>,
    /// Offsets in a page at which fresh reads start.
    pub read_shift_bytes: Tagged<LengthShares>,
    /// Offsets in a page at which fresh writes start.
    pub write_shift_bytes: Tagged<LengthShares>,
    /// Probability that a request starts where the one before ended.
    pub continue_fraction: Tagged<f64>,
    /// Probability that a request starts in a fresh page, one that no request has touched. All other requests start
    /// where an earlier one of the same length started.
    pub fresh_fraction: Tagged<f64>,
    /// How far back that earlier request may lie, in requests of that length, at full scale.
    pub reuse_requests: Tagged<f64>,
    /// Number of open chunks: fresh pages come from one of them at random.
    pub open_chunks: Tagged<u32>,
    /// Length of a chunk. The pages of a chunk are used in sequence.
    pub chunk_bytes: Tagged<u64>,
    /// Length of the span in which the chunks lie, at full scale; the drive's size if that is smaller.
    pub span_bytes: Tagged<u64>,
}

impl StandinModel {
    /// Lengths of each kind of request.
    pub fn sizes(&self) -> Sizes {
        Sizes { read: list(&self.read_bytes), write: list(&self.write_bytes), trim: list(&self.write_bytes) }
    }

    /// Mean length of a request in bytes.
    pub fn mean_bytes(&self) -> f64 {
        let reads = self.read_fraction.value;
        reads * mean(&self.read_bytes.value) + (1.0 - reads) * mean(&self.write_bytes.value)
    }
}

pub(super) fn list(shares: &Tagged<LengthShares>) -> Vec<Size> {
    shares.value.iter().map(|&(bytes, share)| Size { bytes, share }).collect()
}

fn mean(shares: &LengthShares) -> f64 {
    shares.iter().map(|&(bytes, share)| bytes as f64 * share).sum::<f64>()
        / shares.iter().map(|(_, share)| share).sum::<f64>()
}

/// Parameters of an open loop of arrivals.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Mean rate in requests per second.
    pub rate_per_s: Tagged<f64>,
    /// Mean number of requests that arrive together; geometrically distributed.
    pub burst_mean: Tagged<f64>,
    /// Distribution of the times between groups.
    pub gaps: Tagged<Law>,
    /// Groups arrive at multiples of this time.
    pub tick_ns: Option<Tagged<Nanos>>,
}

impl Times {
    /// The same as settings of a workload.
    pub fn config(&self) -> Arrivals {
        let mean = self.burst_mean.value;
        Arrivals::Open(OpenLoop {
            gap: Gap { law: self.gaps.value, mean_ns: 1e9 * mean / self.rate_per_s.value },
            group: Group::Geometric { mean },
            phases: None,
            tick_ns: self.tick_ns.as_ref().map(|tick| tick.value),
        })
    }
}

/// One row of a stand-in's table: the value's name, the value as text, its tag and its source.
pub type Row = (&'static str, String, Provenance, String);

impl StandinData {
    /// One row for every value of the file.
    pub fn rows(&self) -> Vec<Row> {
        fn row<T: std::fmt::Debug>(name: &'static str, tagged: &Tagged<T>) -> Row {
            (name, format!("{:?}", tagged.value), tagged.tag, tagged.source.clone())
        }
        let StandinData { published: p, model: m, arrivals: a, .. } = self;
        let optional = [
            p.read_bytes_percent.as_ref().map(|value| row("published.read_bytes_percent", value)),
            p.read_percent.as_ref().map(|value| row("published.read_percent", value)),
            p.hit_percent.as_ref().map(|value| row("published.hit_percent", value)),
            p.active_dies.as_ref().map(|value| row("published.active_dies", value)),
            a.tick_ns.as_ref().map(|value| row("arrivals.tick_ns", value)),
        ];
        let given = [
            row("published.sequential_percent", &p.sequential_percent),
            row("published.read_kib", &p.read_kib),
            row("published.write_kib", &p.write_kib),
            row("model.requests", &m.requests),
            row("model.read_fraction", &m.read_fraction),
            row("model.read_bytes", &m.read_bytes),
            row("model.write_bytes", &m.write_bytes),
            row("model.read_shift_bytes", &m.read_shift_bytes),
            row("model.write_shift_bytes", &m.write_shift_bytes),
            row("model.continue_fraction", &m.continue_fraction),
            row("model.fresh_fraction", &m.fresh_fraction),
            row("model.reuse_requests", &m.reuse_requests),
            row("model.open_chunks", &m.open_chunks),
            row("model.chunk_bytes", &m.chunk_bytes),
            row("model.span_bytes", &m.span_bytes),
            row("arrivals.rate_per_s", &a.rate_per_s),
            row("arrivals.burst_mean", &a.burst_mean),
            row("arrivals.gaps", &a.gaps),
        ];
        optional.into_iter().flatten().chain(given).collect()
    }

    /// Checks that the file describes a model.
    ///
    /// # Errors
    /// The first fault as text: a value without a source, probabilities above 1 in sum, or a list that is not valid.
    pub fn check(&self) -> Result<(), String> {
        if let Some((name, ..)) = self.rows().iter().find(|(_, _, _, source)| source.is_empty()) {
            return Err(format!("{name} has no source"));
        }
        let model = &self.model;
        if model.continue_fraction.value + model.fresh_fraction.value > 1.0 {
            return Err("continue_fraction + fresh_fraction > 1".into());
        }
        let whole =
            |shares: &Tagged<LengthShares>| shares.value.iter().all(|(bytes, share)| bytes % 512 == 0 && *share > 0.0);
        let lists = [&model.read_bytes, &model.write_bytes, &model.read_shift_bytes, &model.write_shift_bytes];
        if !lists.into_iter().all(|list| !list.value.is_empty() && whole(list)) {
            return Err("every list needs sizes that are multiples of 512, with shares above 0".into());
        }
        if self.published.read_bytes_percent.is_some() == self.published.read_percent.is_some() {
            return Err("give exactly one of read_bytes_percent and read_percent".into());
        }
        Ok(())
    }
}
