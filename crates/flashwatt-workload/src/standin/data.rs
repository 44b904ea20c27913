//! The file of a stand-in: every value has a tag and a source.

use serde::{Deserialize, Serialize};

use super::ends::{ENDS, GAP_MAX_BYTES};
use crate::settings::{Arrivals, Gap, Group, Law, OpenLoop, Size, Sizes};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::RequestKind;

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
    /// It is a statistic of the trace that the stand-in was made of.
    Measured,
    /// Nothing was published about it; the source gives the reason for the choice.
    Chosen,
    /// Tuned until the requests reproduced a figure; the source names the figure.
    Fitted,
}

impl Provenance {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Provenance::Published => "published",
            Provenance::Derived => "derived",
            Provenance::Measured => "measured",
            Provenance::Chosen => "chosen",
            Provenance::Fitted => "fitted",
        }
    }
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

/// Least depths of classes and their shares.
pub type DepthShares = Vec<(u64, f64)>;

/// Least distances of classes in bytes, with signs, and their shares.
pub type GapShares = Vec<(i64, f64)>;

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
    /// Probability that a read starts where the request before ended.
    pub read_continue_fraction: Tagged<f64>,
    /// The same for a write.
    pub write_continue_fraction: Tagged<f64>,
    /// Probability that a read goes on from an earlier run of reads; 0 unless given.
    pub read_resume_fraction: Option<Tagged<f64>>,
    /// The same for a write.
    pub write_resume_fraction: Option<Tagged<f64>>,
    /// How many runs of reads have ended since, the one gone on from included: classes from a depth to twice that (exclusive), and their shares.
    pub read_resume_depths: Option<Tagged<DepthShares>>,
    /// The same for writes.
    pub write_resume_depths: Option<Tagged<DepthShares>>,
    /// Bytes from the end of the run to the start of the read: 0, or classes from a distance to twice that (exclusive), negative ones before the end;
    /// and their shares.
    pub read_resume_gaps: Option<Tagged<GapShares>>,
    /// The same for a write.
    pub write_resume_gaps: Option<Tagged<GapShares>>,
    /// Share of these reads that go on from a run into fresh pages; to a fresh page anywhere if no run ends before one.
    pub read_resume_fresh_fraction: Option<Tagged<f64>>,
    /// The same for a write.
    pub write_resume_fresh_fraction: Option<Tagged<f64>>,
    /// Share of these reads that go on from a run of more than one request, where there is one.
    pub read_resume_grown_fraction: Option<Tagged<f64>>,
    /// The same for a write.
    pub write_resume_grown_fraction: Option<Tagged<f64>>,
    /// Probability that a read starts in a fresh page, one that no request has touched.
    pub read_fresh_fraction: Tagged<f64>,
    /// The same for a write.
    pub write_fresh_fraction: Tagged<f64>,
    /// Probability that a read starts anywhere in the chunk in which an earlier request of its length started.
    pub read_revisit_fraction: Tagged<f64>,
    /// The same for a write. All other requests start where an earlier one of their length started.
    pub write_revisit_fraction: Tagged<f64>,
    /// Probability that this earlier request is of the other kind.
    pub crossing_fraction: Tagged<f64>,
    /// Probability, below 1, that it is one of the last `recent_starts` requests of its kind and length. If not, one of all
    /// starts of its kind and length is drawn by popularity.
    pub recent_fraction: Tagged<f64>,
    /// Number of latest requests of a kind and length that are repeated, ≥ 1.
    pub recent_starts: Tagged<u32>,
    /// Exponent s of Zipf–Mandelbrot's law: the k-th most popular start has a probability ~ (k + q)^−s.
    pub popularity_exponent: Tagged<f64>,
    /// Shift q ≥ 0 of that law. The larger it is, the more starts are about as popular as the first.
    pub popularity_shift: Tagged<f64>,
    /// Number of open chunks of each kind of request: fresh pages come from one of them at random.
    pub open_chunks: Tagged<u32>,
    /// Length of a chunk. The pages of a chunk are used in sequence.
    pub chunk_bytes: Tagged<u64>,
    /// Length of the span in which the chunks lie, at full scale; the drive's size if that is smaller.
    pub span_bytes: Tagged<u64>,
}

impl StandinModel {
    /// Share x of the requests in fresh pages, those that go on from such a request included: x = fresh + continued · x.
    pub fn fresh_fraction(&self) -> f64 {
        let reads = self.read_fraction.value;
        let mean =
            |of_reads: &Tagged<f64>, of_writes: &Tagged<f64>| reads * of_reads.value + (1.0 - reads) * of_writes.value;
        let fresh = mean(&self.read_fresh_fraction, &self.write_fresh_fraction);
        let resumed =
            reads * self.resume_fraction(RequestKind::Read) + (1.0 - reads) * self.resume_fraction(RequestKind::Write);
        let continued = mean(&self.read_continue_fraction, &self.write_continue_fraction) + resumed;
        if continued < 1.0 { (fresh / (1.0 - continued)).min(1.0) } else { 1.0 }
    }

    /// Probability that a request of this kind goes on from an earlier run.
    pub(super) fn resume_fraction(&self, kind: RequestKind) -> f64 {
        let reads = kind == RequestKind::Read;
        let fraction = if reads { &self.read_resume_fraction } else { &self.write_resume_fraction };
        fraction.as_ref().map_or(0.0, |fraction| fraction.value)
    }

    /// How requests of this kind go on from earlier runs; none if the file does not say.
    pub(super) fn resumes(&self, kind: RequestKind) -> Option<Resumes<'_>> {
        let (depths, gaps) = if kind == RequestKind::Read {
            (&self.read_resume_depths, &self.read_resume_gaps)
        } else {
            (&self.write_resume_depths, &self.write_resume_gaps)
        };
        let (fresh, grown) = if kind == RequestKind::Read {
            (&self.read_resume_fresh_fraction, &self.read_resume_grown_fraction)
        } else {
            (&self.write_resume_fresh_fraction, &self.write_resume_grown_fraction)
        };
        Some(Resumes {
            depths: &depths.as_ref()?.value,
            gaps: &gaps.as_ref()?.value,
            fresh_fraction: fresh.as_ref()?.value,
            grown_fraction: grown.as_ref()?.value,
        })
    }

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

/// How requests of a kind go on from earlier runs: see the keys of these names.
pub(super) struct Resumes<'a> {
    pub depths: &'a DepthShares,
    pub gaps: &'a GapShares,
    pub fresh_fraction: f64,
    pub grown_fraction: f64,
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

/// One row of a stand-in's table: the value's name, the value as JSON, its tag and its source.
pub type Row = (&'static str, String, Provenance, String);

impl StandinData {
    /// One row for every value of the file.
    pub fn rows(&self) -> Vec<Row> {
        fn row<T: Serialize>(name: &'static str, tagged: &Tagged<T>) -> Row {
            (name, serde_json::json!(tagged.value).to_string(), tagged.tag, tagged.source.clone())
        }
        let StandinData { published: p, model: m, arrivals: a, .. } = self;
        let optional = [
            p.read_bytes_percent.as_ref().map(|value| row("published.read_bytes_percent", value)),
            p.read_percent.as_ref().map(|value| row("published.read_percent", value)),
            p.hit_percent.as_ref().map(|value| row("published.hit_percent", value)),
            p.active_dies.as_ref().map(|value| row("published.active_dies", value)),
            m.read_resume_fraction.as_ref().map(|value| row("model.read_resume_fraction", value)),
            m.write_resume_fraction.as_ref().map(|value| row("model.write_resume_fraction", value)),
            m.read_resume_depths.as_ref().map(|value| row("model.read_resume_depths", value)),
            m.write_resume_depths.as_ref().map(|value| row("model.write_resume_depths", value)),
            m.read_resume_gaps.as_ref().map(|value| row("model.read_resume_gaps", value)),
            m.write_resume_gaps.as_ref().map(|value| row("model.write_resume_gaps", value)),
            m.read_resume_fresh_fraction.as_ref().map(|value| row("model.read_resume_fresh_fraction", value)),
            m.write_resume_fresh_fraction.as_ref().map(|value| row("model.write_resume_fresh_fraction", value)),
            m.read_resume_grown_fraction.as_ref().map(|value| row("model.read_resume_grown_fraction", value)),
            m.write_resume_grown_fraction.as_ref().map(|value| row("model.write_resume_grown_fraction", value)),
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
            row("model.read_continue_fraction", &m.read_continue_fraction),
            row("model.write_continue_fraction", &m.write_continue_fraction),
            row("model.read_fresh_fraction", &m.read_fresh_fraction),
            row("model.write_fresh_fraction", &m.write_fresh_fraction),
            row("model.read_revisit_fraction", &m.read_revisit_fraction),
            row("model.write_revisit_fraction", &m.write_revisit_fraction),
            row("model.crossing_fraction", &m.crossing_fraction),
            row("model.recent_fraction", &m.recent_fraction),
            row("model.recent_starts", &m.recent_starts),
            row("model.popularity_exponent", &m.popularity_exponent),
            row("model.popularity_shift", &m.popularity_shift),
            row("model.open_chunks", &m.open_chunks),
            row("model.chunk_bytes", &m.chunk_bytes),
            row("model.span_bytes", &m.span_bytes),
            row("arrivals.rate_per_s", &a.rate_per_s),
            row("arrivals.burst_mean", &a.burst_mean),
            row("arrivals.gaps", &a.gaps),
        ];
        optional.into_iter().flatten().chain(given).collect()
    }

    /// The text of the stand-in's file. (A number, a string or a list is the same in JSON and TOML.)
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| serde_json::json!(text).to_string();
        let mut text = format!("description = {}\n", quoted(&self.description));
        for table in ["published", "model", "arrivals"] {
            text += &format!("\n[{table}]\n");
            for (name, value, tag, source) in self.rows() {
                if let Some(key) = name.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')) {
                    let (tag, source) = (tag.name(), quoted(&source));
                    text += &format!("{key} = {{ value = {value}, tag = \"{tag}\", source = {source} }}\n");
                }
            }
        }
        text
    }

    pub(super) fn check_resume(&self) -> Result<(), String> {
        let m = &self.model;
        let of_reads = [&m.read_resume_fraction, &m.read_resume_fresh_fraction, &m.read_resume_grown_fraction];
        let of_writes = [&m.write_resume_fraction, &m.write_resume_fresh_fraction, &m.write_resume_grown_fraction];
        let kinds = [
            ("read_resume", of_reads, &m.read_resume_depths, &m.read_resume_gaps),
            ("write_resume", of_writes, &m.write_resume_depths, &m.write_resume_gaps),
        ];
        for (name, fractions, depths, gaps) in kinds {
            let given = fractions.iter().filter(|fraction| fraction.is_some()).count();
            let (3, Some(depths), Some(gaps)) = (given, depths, gaps) else {
                if given > 0 || depths.is_some() || gaps.is_some() {
                    let keys = ["fraction", "depths", "gaps", "fresh_fraction", "grown_fraction"];
                    let keys = keys.map(|key| format!("{name}_{key}"));
                    return Err(format!("give {} together, or none of them", keys.join(", ")));
                }
                continue;
            };
            if !fractions.into_iter().flatten().all(|share| (0.0..=1.0).contains(&share.value)) {
                return Err(format!(
                    "{name}_fraction, {name}_fresh_fraction and {name}_grown_fraction must lie from 0 to 1"
                ));
            }
            let is_depth =
                |&(depth, share): &(u64, f64)| (1..=ENDS as u64).contains(&depth) && share > 0.0 && share.is_finite();
            if depths.value.is_empty() || !depths.value.iter().all(is_depth) {
                return Err(format!("{name}_depths needs depths from 1 to {ENDS}, with shares above 0"));
            }
            let is_gap = |&(gap, share): &(i64, f64)| {
                gap.unsigned_abs().is_multiple_of(SECTOR_BYTES)
                    && gap.unsigned_abs() < GAP_MAX_BYTES
                    && share > 0.0
                    && share.is_finite()
            };
            if gaps.value.is_empty() || !gaps.value.iter().all(is_gap) {
                return Err(format!(
                    "{name}_gaps needs multiples of {SECTOR_BYTES} between -{GAP_MAX_BYTES} and {GAP_MAX_BYTES}, with shares above 0"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn check_reuse(&self) -> Result<(), String> {
        let model = &self.model;
        if model.recent_fraction.value >= 1.0 {
            return Err("model.recent_fraction: found 1; expected less than 1".into());
        }
        Ok(())
    }
}
