//! What a stream of requests is like: sizes, runs, arrivals, and which pages requests start in again. The figures of a
//! trace and of its stand-in are laid side by side.
//!
//! Reuse is counted by requests: a request counts for the page that it starts in. So it does not depend on the lengths of
//! the requests, which an excerpt of a trace may have in other shares than the whole.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::trace::Reuse;
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, Workload};

/// Page size of the figures.
pub const PAGE_BYTES: u64 = 4096;
/// Numbers of most popular pages whose share of the requests is given.
pub const TOPS: [usize; 4] = [1, 10, 100, 1000];
/// Sizes in pages of the LRU caches whose hit ratios are given.
pub const CACHES: [u64; 4] = [4, 64, 1024, 16_384];
/// The quantiles of sizes.
pub const SIZE_QUANTILES: [f64; 3] = [0.1, 0.5, 0.9];
/// The quantiles of times between arrivals.
pub const GAP_QUANTILES: [f64; 4] = [0.1, 0.5, 0.9, 0.99];

/// The figures of a stream of reads and writes. Trims and flushes do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Character {
    /// Number of requests.
    pub requests: u64,
    /// The reads.
    pub reads: OfKind,
    /// The writes.
    pub writes: OfKind,
    /// Share of requests that start where the request before ended, in percent.
    pub sequential_percent: f64,
    /// Mean number of requests in a run: a request and all that follow it, each of which starts where the one before
    /// ended.
    pub run_requests: f64,
    /// [`GAP_QUANTILES`] of the times between arrivals, in ns.
    pub gap_ns: [Nanos; 4],
}

/// The figures of one kind of request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OfKind {
    /// Number of requests.
    pub requests: u64,
    /// Mean size in KiB.
    pub mean_kib: f64,
    /// [`SIZE_QUANTILES`] of the sizes in bytes.
    pub bytes: [u64; 3],
    /// Share of the requests that start in the [`TOPS`] most popular pages, in percent.
    pub top_percent: [f64; 4],
    /// Share of the requests that start in a page in which none of this kind did before, in percent.
    pub new_percent: f64,
    /// Hit ratios of LRU caches of [`CACHES`] pages that hold the pages requests start in, empty at first, in percent.
    pub hit_percent: [f64; 4],
}

/// Computes a [`Character`] request by request. Memory grows with the number of pages, not of requests.
#[derive(Default)]
pub struct Sketch {
    kinds: [KindSketch; 2],
    sequential: u64,
    end: Option<u64>,
    /// Times between arrivals, by their value.
    gaps: BTreeMap<Nanos, u64>,
    last_ns: Option<Nanos>,
}

#[derive(Default)]
struct KindSketch {
    requests: u64,
    total_bytes: u64,
    sizes: BTreeMap<u64, u64>,
    /// Number of requests that start in each page.
    pages: BTreeMap<u64, u64>,
    reuse: Reuse,
}

impl Sketch {
    /// Adds a request.
    pub fn add(&mut self, request: &Request) {
        let kind = match request.kind {
            RequestKind::Read => &mut self.kinds[0],
            RequestKind::Write => &mut self.kinds[1],
            _ => return,
        };
        kind.add(request);
        self.sequential += u64::from(self.end == Some(request.offset_bytes));
        self.end = Some(request.offset_bytes + request.bytes);
        if let Some(last) = self.last_ns.replace(request.arrival_ns) {
            *self.gaps.entry(request.arrival_ns.saturating_sub(last)).or_default() += 1;
        }
    }

    /// The figures so far.
    pub fn character(&self) -> Character {
        let [reads, writes] = &self.kinds;
        let requests = reads.requests + writes.requests;
        Character {
            requests,
            reads: reads.figures(),
            writes: writes.figures(),
            sequential_percent: percent(self.sequential, requests),
            run_requests: requests as f64 / requests.saturating_sub(self.sequential).max(1) as f64,
            gap_ns: GAP_QUANTILES.map(|share| quantile(&self.gaps, share)),
        }
    }

    /// Counts of sizes by bytes, of the reads and of the writes.
    pub fn sizes(&self) -> [&BTreeMap<u64, u64>; 2] {
        self.kinds.each_ref().map(|kind| &kind.sizes)
    }

    /// Counts of times between arrivals by ns.
    pub fn gaps(&self) -> &BTreeMap<Nanos, u64> {
        &self.gaps
    }
}

impl KindSketch {
    fn add(&mut self, request: &Request) {
        self.requests += 1;
        self.total_bytes += request.bytes;
        *self.sizes.entry(request.bytes).or_default() += 1;
        let page = request.offset_bytes / PAGE_BYTES;
        *self.pages.entry(page).or_default() += 1;
        self.reuse.access(page);
    }

    fn figures(&self) -> OfKind {
        let mut counts: Vec<u64> = self.pages.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let curve = self.reuse.curve();
        OfKind {
            requests: self.requests,
            mean_kib: self.total_bytes as f64 / self.requests.max(1) as f64 / 1024.0,
            bytes: SIZE_QUANTILES.map(|share| quantile(&self.sizes, share)),
            top_percent: TOPS.map(|top| percent(counts.iter().take(top).sum(), self.requests)),
            new_percent: percent(counts.len() as u64, self.requests),
            hit_percent: CACHES.map(|pages| 100.0 * curve.hit_ratio(pages)),
        }
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// The least value that at least this share of the counted values does not exceed; 0 without values.
fn quantile(counts: &BTreeMap<u64, u64>, share: f64) -> u64 {
    let least = (share * counts.values().sum::<u64>() as f64).ceil().max(1.0) as u64;
    let mut sum = 0;
    let found = counts.iter().find(|&(_, count)| {
        sum += count;
        sum >= least
    });
    found.map_or(0, |(value, _)| *value)
}

/// The requests of a workload that are looked at: all after the first `skip`, up to the one that completes the number of
/// writes, or to the end of the workload.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Number of requests that are left out.
    pub skip: u64,
    /// Number of writes; the maximum for all.
    pub writes: u64,
}

impl Window {
    /// The whole workload.
    pub const WHOLE: Window = Window { skip: 0, writes: u64::MAX };
}

/// Runs a workload without a drive, every request completing at once, and sketches a window of it.
///
/// # Errors
/// Any error of the workload.
pub fn sketch(workload: &mut dyn Workload, window: Window) -> Result<Sketch, Error> {
    let (mut sketch, mut now, mut left_out) = (Sketch::default(), 0, 0);
    while sketch.kinds[1].requests < window.writes {
        match workload.next(now)? {
            Next::Request(tag, request) => {
                workload.completed(&Completion::done(tag), now);
                if left_out < window.skip {
                    left_out += 1;
                } else {
                    sketch.add(&request);
                }
            }
            Next::WaitUntil(at) => now = at,
            Next::Measure => {}
            Next::WaitForCompletion => unreachable!("every request has completed"),
            Next::End => break,
        }
    }
    Ok(sketch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven requests worked out by hand. The five writes start in pages 0, 0, 1, 2, 0. The third one to page 0 finds two
    /// other pages since the second, so a cache of 4 pages hits twice.
    #[test]
    fn figures_by_hand() {
        let (read, write) = (RequestKind::Read, RequestKind::Write);
        let requests = [
            (0, write, 0, 4096),
            (10, write, 512, 512),
            (20, write, 4096, 8192),
            (20, read, 12_288, 4096), // starts where the write ended
            (40, write, 8192, 4096),
            (40, write, 0, 4096),
            (90, read, 4096, 4096), // starts where the write ended
        ];
        let mut sketch = Sketch::default();
        for (at, kind, offset_bytes, bytes) in requests {
            sketch.add(&Request::new(at, kind, offset_bytes, bytes));
        }
        let character = sketch.character();
        let expected = OfKind {
            requests: 5,
            mean_kib: (4096.0 + 512.0 + 8192.0 + 4096.0 + 4096.0) / 5.0 / 1024.0,
            bytes: [512, 4096, 8192],
            top_percent: [60.0, 100.0, 100.0, 100.0],
            new_percent: 60.0,
            hit_percent: [40.0; 4],
        };
        assert_eq!(character.writes, expected);
        assert_eq!((character.requests, character.reads.requests, character.reads.new_percent), (7, 2, 100.0));
        assert!((character.sequential_percent - 100.0 * 2.0 / 7.0).abs() < 1e-12);
        assert!((character.run_requests - 7.0 / 5.0).abs() < 1e-12);
        assert_eq!(character.gap_ns, [0, 10, 50, 50]);
    }
}
