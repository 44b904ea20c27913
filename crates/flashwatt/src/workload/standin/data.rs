//! The file of a stand-in: values with a tag and a source each.

use serde::Deserialize;

use crate::units::Nanos;
use crate::workload::settings::{Arrivals, Gap, Group, Law, OpenLoop, Size, Sizes};

/// A stand-in's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// One line about it.
    pub description: String,
    /// What was published, and is met.
    pub published: Published,
    /// What makes the requests.
    pub model: Model,
    /// What makes their times.
    pub arrivals: Times,
}

/// A value, what it is, and where it comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tagged<T> {
    /// The value.
    pub value: T,
    /// What it is.
    pub tag: Tag,
    /// Where it comes from: a paper's table, the computation, the reason, what it was fitted to.
    pub source: String,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    /// It stands in a paper.
    Published,
    /// It follows from what stands in a paper.
    Derived,
    /// Nothing is known; the source is the reason.
    Chosen,
    /// Tuned until something published came out; the source says what.
    Fitted,
}

/// Published statistics. Sizes in KiB, shares in percent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Share of reads by bytes (ES) …
    pub read_bytes_percent: Option<Tagged<f64>>,
    /// … or by requests (P11).
    pub read_percent: Option<Tagged<f64>>,
    /// Requests that start where the one before ended, whatever the device.
    pub sequential_percent: Tagged<f64>,
    /// Mean length of reads.
    pub read_kib: Tagged<f64>,
    /// Mean length of writes.
    pub write_kib: Tagged<f64>,
    /// Hit ratio of an LRU cache of 2^20 map entries of 4 KiB, cold, over the whole trace.
    pub hit_percent: Option<Tagged<f64>>,
    /// Busy dies while at least one is, with page mapping on 16 dies.
    pub active_dies: Option<Tagged<f64>>,
}

/// Lengths in bytes and their shares.
pub type Shares = Vec<(u64, f64)>;

/// Kinds, lengths, places.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Requests at full scale.
    pub requests: Tagged<u64>,
    /// Share of reads by count.
    pub read_fraction: Tagged<f64>,
    /// Lengths of reads.
    pub read_bytes: Tagged<Shares>,
    /// Lengths of writes.
    pub write_bytes: Tagged<Shares>,
    /// Where in a page fresh reads start.
    pub read_shift_bytes: Tagged<Shares>,
    /// Where in a page fresh writes start.
    pub write_shift_bytes: Tagged<Shares>,
    /// Probability that a request starts where the one before ended …
    pub continue_fraction: Tagged<f64>,
    /// … or at a page that was not touched yet; else it starts where a former one of the same length did.
    pub fresh_fraction: Tagged<f64>,
    /// How far back that may be, in requests of that length, at full scale.
    pub reuse_requests: Tagged<f64>,
    /// Fresh pages come from so many places at a time …
    pub open_chunks: Tagged<u32>,
    /// … each of which is used up in sequence and is so long.
    pub chunk_bytes: Tagged<u64>,
    /// Chunks lie anywhere in so many bytes, at full scale, or in the drive if that is smaller.
    pub span_bytes: Tagged<u64>,
}

impl Model {
    /// Lengths as the mix takes them.
    pub fn sizes(&self) -> Sizes {
        Sizes { read: list(&self.read_bytes), write: list(&self.write_bytes), trim: list(&self.write_bytes) }
    }

    /// Mean length of a request.
    pub fn mean_bytes(&self) -> f64 {
        let reads = self.read_fraction.value;
        reads * mean(&self.read_bytes.value) + (1.0 - reads) * mean(&self.write_bytes.value)
    }
}

pub(super) fn list(shares: &Tagged<Shares>) -> Vec<Size> {
    shares.value.iter().map(|&(bytes, share)| Size { bytes, share }).collect()
}

fn mean(shares: &Shares) -> f64 {
    shares.iter().map(|&(bytes, share)| bytes as f64 * share).sum::<f64>()
        / shares.iter().map(|(_, share)| share).sum::<f64>()
}

/// Arrivals: an open loop.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Mean rate.
    pub rate_per_s: Tagged<f64>,
    /// Requests that come together: a mean, geometrically distributed.
    pub burst_mean: Tagged<f64>,
    /// How times between them are distributed.
    pub gaps: Tagged<Law>,
    /// They come at multiples of this.
    pub tick_ns: Option<Tagged<Nanos>>,
}

impl Times {
    /// As a configuration.
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

/// A value as text, its tag and its source: one row of a stand-in's table.
pub type Row = (&'static str, String, Tag, String);

impl Data {
    /// Every value with its tag and source.
    pub fn rows(&self) -> Vec<Row> {
        fn row<T: std::fmt::Debug>(name: &'static str, tagged: &Tagged<T>) -> Row {
            (name, format!("{:?}", tagged.value), tagged.tag, tagged.source.clone())
        }
        let Data { published: p, model: m, arrivals: a, .. } = self;
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

    /// What keeps the file from being a model, if anything.
    pub fn check(&self) -> Result<(), String> {
        if let Some((name, ..)) = self.rows().iter().find(|(_, _, _, source)| source.is_empty()) {
            return Err(format!("{name} has no source"));
        }
        let model = &self.model;
        if model.continue_fraction.value + model.fresh_fraction.value > 1.0 {
            return Err("continue_fraction + fresh_fraction > 1".into());
        }
        let whole =
            |shares: &Tagged<Shares>| shares.value.iter().all(|(bytes, share)| bytes % 512 == 0 && *share > 0.0);
        let lists = [&model.read_bytes, &model.write_bytes, &model.read_shift_bytes, &model.write_shift_bytes];
        if !lists.into_iter().all(|list| !list.value.is_empty() && whole(list)) {
            return Err("a list of sizes that are no multiples of 512, or without shares".into());
        }
        if self.published.read_bytes_percent.is_some() == self.published.read_percent.is_some() {
            return Err("one of read_bytes_percent and read_percent".into());
        }
        Ok(())
    }
}
