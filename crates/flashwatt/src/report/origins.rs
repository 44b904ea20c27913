//! Figures by the origin of the requests.

use serde::{Serialize, Serializer};

use super::LatencyReport;
use flashwatt_core::connector::{Origin, OriginKind, OriginName};
use flashwatt_core::kernel::{Completed, ORIGINS_MAX, Outcome};
use flashwatt_host::settings::Host;

/// The requests of one origin, or of all origins without figures of their own.
#[derive(Clone, Debug, Serialize)]
pub struct OriginReport {
    /// Its name: that of a job, or of a device or file of a trace; or its number.
    pub name: String,
    /// The kind of sender; none for several origins that are counted together.
    #[serde(serialize_with = "kind")]
    pub kind: Option<OriginKind>,
    /// Its number in the request log; none for several origins.
    pub number: Option<u16>,
    /// Arrival of its first request, in ns from the start of the run.
    pub start_ns: u64,
    /// Completion of its last request, in ns from the start of the run.
    pub end_ns: u64,
    /// Requests of all kinds.
    pub requests: u64,
    #[allow(missing_docs)]
    pub reads: u64,
    #[allow(missing_docs)]
    pub writes: u64,
    #[allow(missing_docs)]
    pub trims: u64,
    #[allow(missing_docs)]
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Share of the bytes read and written by all origins; none if there were none.
    pub bytes_share: Option<f64>,
    /// Its requests over the whole window, which the origins share: their rates add up to those of all requests.
    #[serde(flatten)]
    pub rates: Rates,
    /// From a request's arrival to its completion.
    pub latency_ns: LatencyReport,
}

/// Requests over time; megabytes are 10^6 bytes.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Rates {
    pub iops: f64,
    pub read_mb_s: f64,
    pub write_mb_s: f64,
}

impl Rates {
    /// Those of a window of that length.
    pub(super) fn new(done: &Completed, window_s: f64) -> Self {
        let per_s = |x: f64| if window_s > 0.0 { x / window_s } else { 0.0 };
        Rates {
            iops: per_s(done.requests() as f64),
            read_mb_s: per_s(done.read_bytes as f64 * 1e-6),
            write_mb_s: per_s(done.write_bytes as f64 * 1e-6),
        }
    }
}

fn kind<S: Serializer>(kind: &Option<OriginKind>, to: S) -> Result<S::Ok, S::Error> {
    match kind {
        Some(kind) => kind.serialize(to),
        None => to.serialize_str("others"),
    }
}

/// What all origins have in common: the bytes of all of them, and the length of the window in s.
struct All {
    bytes: u64,
    window_s: f64,
}

/// Figures of each origin with a completed request, in the order of their numbers; `None` for fewer than two.
pub(super) fn report(names: &[OriginName], done: &Completed, window_s: f64) -> Option<Vec<OriginReport>> {
    let all = All { bytes: done.read_bytes + done.write_bytes, window_s };
    let own = done.by_origin.own().map(|(origin, completed)| {
        let number = usize::from(origin.0);
        let unnamed = || OriginName { name: number.to_string(), kind: OriginKind::Number };
        let OriginName { name, kind } = names.get(number).cloned().unwrap_or_else(unnamed);
        OriginReport::new(name, Some((kind, origin.0)), completed, &all)
    });
    let mut origins: Vec<OriginReport> = own.collect();
    origins.retain(|origin| origin.requests > 0);
    let others = done.by_origin.others();
    origins.extend(others.map(|others| OriginReport::new("others".into(), None, others, &all)));
    (origins.len() > 1).then_some(origins)
}

/// The warning about origins that are counted together.
pub(super) fn others(origins: &[OriginReport]) -> Option<String> {
    let others = origins.iter().find(|origin| origin.kind.is_none())?;
    let requests = others.requests;
    Some(format!(
        "origins: {requests} requests came from others than the first {ORIGINS_MAX}, and are reported together"
    ))
}

/// Warnings about priorities of origins of which no request has ended in the whole run.
pub(super) fn unused_priorities<F>(host: &Host, names: &[OriginName], outcome: &Outcome<F>) -> Vec<String> {
    let stages = || [&outcome.warmup, &outcome.completed, &outcome.drained].into_iter();
    let is_unused = |key: &&String| {
        let number = Host::origin(key, names).unwrap_or_default();
        stages().all(|stage| !stage.may_hold(Origin(number)))
    };
    let unused = host.priorities.keys().filter(is_unused);
    unused.map(|key| format!("host.priorities.{key}: has no effect: no request of this process has ended")).collect()
}

impl OriginReport {
    fn new(name: String, known: Option<(OriginKind, u16)>, done: &Completed, all: &All) -> Self {
        let bytes = done.read_bytes + done.write_bytes;
        OriginReport {
            name,
            kind: known.map(|(kind, _)| kind),
            number: known.map(|(_, number)| number),
            start_ns: done.span_ns.start,
            end_ns: done.span_ns.end,
            requests: done.requests(),
            reads: done.reads.count(),
            writes: done.writes.count(),
            trims: done.trims,
            flushes: done.flushes,
            read_bytes: done.read_bytes,
            write_bytes: done.write_bytes,
            bytes_share: (all.bytes > 0).then(|| bytes as f64 / all.bytes as f64),
            rates: Rates::new(done, all.window_s),
            latency_ns: LatencyReport::new(done),
        }
    }
}
