//! A stand-in of any trace: a file that holds the trace's statistics and none of its requests, to publish in its place.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Standin;
use super::character::{Character, OfKind, PAGE_BYTES, Sketch, Window, sketch};
use super::data::{
    DepthShares, GapShares, LengthShares, Provenance, Published, StandinData, StandinModel, Tagged, Times,
};
use super::ends::{ENDS, RunEnds};
use super::fit::{distance, fit_reuse, is_of_writes};
use crate::settings::{self, Law};
use crate::trace::{TraceWorkload, info};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, Workload};

/// Greatest number of lengths in a list; the rarest ones are merged by powers of two.
const LENGTHS_MAX: usize = 32;
/// Share of the arrivals that a tick must divide.
const TICK_SHARE: f64 = 0.95;
/// Ticks that clocks of traces have, in ns: 1 s, 100 ms, 1/64 s, 10 ms, 2^16 × 100 ns, 1 ms.
const TICKS_NS: [Nanos; 6] = [1_000_000_000, 100_000_000, 15_625_000, 10_000_000, 6_553_600, 1_000_000];
/// Greatest mean number of requests that arrive together.
const BURST_MAX: f64 = 1000.0;

/// A stand-in and the trace that it was fitted to.
#[derive(Clone, Debug, Serialize)]
pub struct OfTrace {
    /// The stand-in's file.
    pub toml: String,
    /// The figures of the trace.
    pub trace: Character,
    /// The figures of as many requests of the stand-in, with seed 1 at full scale.
    pub standin: Character,
    /// Whether reuse was fitted to the writes; with few writes it was fitted to the reads.
    pub of_writes: bool,
    /// [`distance`] of the two.
    pub distance: f64,
    /// Messages about records of the trace that were left out or changed.
    pub warnings: Vec<String>,
}

/// Fits a stand-in to the requests of a trace. `max_requests` of the settings limits them. The trace is read twice, then
/// about 600 stand-ins of the same length are drawn. `progress` is called from time to time and ends the work by
/// returning `false`.
///
/// # Errors
/// Those of [`info`]; an error if the trace has no reads and writes.
pub fn of_trace(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<OfTrace, Error> {
    let info = info(cfg, progress)?;
    let mut trace = TraceWorkload::open_watched(cfg, info.span_bytes.next_multiple_of(SECTOR_BYTES), progress)?;
    let mut places = Sketched::default();
    while let Some(request) = next(&mut trace)? {
        places.add(&request);
    }
    trace.finish()?;
    let character = places.sketch.character();
    if character.requests == 0 {
        let fault = Fault::key("workload.trace", "the trace has no request to fit a stand-in to");
        return Err(fault.found("trims and flushes alone").expected("reads or writes").into());
    }
    let mut standin = Standin { name: "trace".into(), data: places.data(&info.file, &character), sha256: None };
    let drive_bytes = standin.data.model.span_bytes.value;
    let (all, mut shown) = (character.requests, 0);
    let mut watched = |share: f64| {
        shown = ((share * all as f64) as u64).max(shown);
        progress(&Progress { preparing: None, requests_done: shown, requests_total: Some(all), now_ns: 0 })
    };
    let (reuse, _) = fit_reuse(&standin, drive_bytes, Window::WHOLE, &character, &mut watched)?;
    reuse.set(&mut standin.data.model);
    let mut drawn = standin.open(1.0, standin.requests(1.0), drive_bytes, 1);
    let found = sketch(drawn.as_mut(), Window::WHOLE)?.character();
    Ok(OfTrace {
        toml: standin.data.to_toml(),
        distance: distance(&found, &character),
        of_writes: is_of_writes(&character),
        trace: character,
        standin: found,
        warnings: trace.warnings(),
    })
}

/// The next request of a trace, completed at once.
fn next(trace: &mut TraceWorkload) -> Result<Option<Request>, Error> {
    let mut now = 0;
    loop {
        match trace.next(now)? {
            Next::Request(tag, request) => {
                trace.completed(&Completion::done(tag), now);
                return Ok(Some(request));
            }
            Next::WaitUntil(at) => now = at,
            Next::Measure => {}
            Next::WaitForCompletion => unreachable!("every request has completed"),
            Next::End => return Ok(None),
        }
    }
}

/// What the values of a stand-in are computed from.
#[derive(Default)]
struct Sketched {
    sketch: Sketch,
    /// Counts of offsets in a page of fresh reads and fresh writes.
    shifts: [BTreeMap<u64, u64>; 2],
    /// By kind: requests that start where the one before ended.
    continued: [u64; 2],
    /// By kind: requests that go on from an earlier run.
    resumes: [Resumes; 2],
    /// Requests that do not go on from the last one and start in a page that was not touched before.
    fresh: u64,
    /// By kind: requests that go on from none, and whose start and length are new.
    new_starts: [u64; 2],
    /// By kind: accesses to pages, each page of each request.
    page_accesses: [u64; 2],
    /// By kind: pages that its requests touched first that go on from none.
    first_touched: [u64; 2],
    /// Starts and lengths of the requests so far, each with the kind of the last one.
    starts: BTreeMap<(u64, u64), usize>,
    /// Requests to earlier starts, and those of them after a request of the other kind.
    reused: u64,
    crossed: u64,
    /// Touched pages, each with the number of fresh requests before it was touched.
    touched: BTreeMap<u64, u64>,
    /// Fresh requests whose page follows a touched one, and the sum of the numbers of fresh requests since then.
    adjoining: u64,
    since: u64,
    end: Option<u64>,
    end_max: u64,
    longest: u64,
    first_ns: Option<Nanos>,
    last_ns: Nanos,
    /// Number of arrivals at a multiple of each of [`TICKS_NS`].
    at_ticks: [u64; TICKS_NS.len()],
}

/// The keys of a model about the requests of one kind that go on from earlier runs.
#[derive(Default)]
struct ResumeKeys {
    fraction: Option<Tagged<f64>>,
    depths: Option<Tagged<DepthShares>>,
    gaps: Option<Tagged<GapShares>>,
    fresh_fraction: Option<Tagged<f64>>,
    grown_fraction: Option<Tagged<f64>>,
}

/// Requests of one kind that go on from earlier runs of it.
#[derive(Default)]
struct Resumes {
    ends: RunEnds<()>,
    count: u64,
    /// Those that go on from a run of more than one request.
    grown: u64,
    /// Accesses of these requests to pages, and those of them that are the first.
    page_accesses: u64,
    first_touched: u64,
    /// Counts of depths, in classes from 2^k to 2^(k + 1) (exclusive).
    depths: [u64; ENDS.ilog2() as usize + 1],
    /// Counts of gaps by the least of their class.
    gaps: BTreeMap<i64, u64>,
}

impl Resumes {
    /// Notes a request of the kind, and whether its start and length are new. Gives whether it goes on from an earlier run.
    fn add(&mut self, start: u64, end: u64, last: Option<u64>, is_new: bool) -> bool {
        let resumed = self.ends.note(start, end, last, is_new, ());
        if let Some(resumed) = resumed {
            self.count += 1;
            self.grown += u64::from(resumed.is_grown);
            self.depths[resumed.depth.ilog2() as usize] += 1;
            let gap = resumed.gap_bytes;
            // Classes begin at powers of two. A file names multiples of sectors.
            let least = gap.unsigned_abs().checked_ilog2().map_or(0, |class| (1_i64 << class).max(SECTOR_BYTES as i64));
            *self.gaps.entry(least * gap.signum()).or_default() += 1;
        }
        resumed.is_some()
    }

    /// The keys for a kind with this number of requests; none if no request goes on from an earlier run.
    fn keys(&self, requests: u64) -> ResumeKeys {
        if self.count == 0 {
            return ResumeKeys::default();
        }
        let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        let what =
            "starts where no request did, and where an earlier run of the kind ended or less than a page from there";
        let depths = "classes of the number of runs that ended since that one, that one included";
        let grown = "share of these that go on from a run of more than one request";
        ResumeKeys {
            fraction: Some(measured(floor(share(self.count, requests)), what)),
            depths: Some(measured(self.depth_shares(), depths)),
            gaps: Some(measured(self.gap_shares(), "classes of the bytes from the run's end to the start")),
            fresh_fraction: Some(measured(
                short(share(self.first_touched, self.page_accesses)),
                "accesses of these to pages that are the first ones",
            )),
            grown_fraction: Some(measured(short(share(self.grown, self.count)), grown)),
        }
    }

    /// Least depths of the classes that occur, and their shares.
    fn depth_shares(&self) -> DepthShares {
        let classes = self.depths.iter().enumerate().filter(|(_, count)| **count > 0);
        classes.map(|(class, &count)| (1 << class, short(count as f64 / self.count as f64))).collect()
    }

    /// Least gaps of the classes that occur, and their shares.
    fn gap_shares(&self) -> GapShares {
        self.gaps.iter().map(|(&gap, &count)| (gap, short(count as f64 / self.count as f64))).collect()
    }
}

impl Sketched {
    fn add(&mut self, request: &Request) {
        let Request { kind, offset_bytes, bytes, arrival_ns, .. } = *request;
        if !matches!(kind, RequestKind::Read | RequestKind::Write) {
            return;
        }
        self.sketch.add(request);
        let page = offset_bytes / PAGE_BYTES;
        let kind = usize::from(kind == RequestKind::Write);
        let before = self.starts.insert((offset_bytes, bytes), kind);
        self.reused += u64::from(before.is_some());
        self.crossed += u64::from(before.is_some_and(|before| before != kind));
        let end = offset_bytes + bytes;
        let continued = self.end == Some(offset_bytes);
        self.continued[kind] += u64::from(continued);
        let resumed = self.resumes[kind].add(offset_bytes, end, self.end, before.is_none());
        let goes_on = resumed || continued;
        self.new_starts[kind] += u64::from(before.is_none() && !goes_on);
        if !continued && !self.touched.contains_key(&page) {
            // A run that is gone on from is an open chunk too.
            self.fresh += 1;
            if !resumed {
                *self.shifts[kind].entry(offset_bytes % PAGE_BYTES).or_default() += 1;
            }
            if let Some(before) = page.checked_sub(1).and_then(|page| self.touched.get(&page)) {
                self.adjoining += 1;
                self.since += self.fresh - before;
            }
        }
        for page in page..end.div_ceil(PAGE_BYTES) {
            let before = self.touched.len();
            self.touched.entry(page).or_insert(self.fresh);
            let first = (self.touched.len() - before) as u64;
            self.page_accesses[kind] += 1;
            if resumed {
                self.resumes[kind].page_accesses += 1;
                self.resumes[kind].first_touched += first;
            } else if !continued {
                self.first_touched[kind] += first;
            }
        }
        (self.end, self.end_max, self.longest) = (Some(end), self.end_max.max(end), self.longest.max(bytes));
        let first = *self.first_ns.get_or_insert(arrival_ns);
        self.last_ns = self.last_ns.max(arrival_ns);
        for (count, tick) in self.at_ticks.iter_mut().zip(TICKS_NS) {
            *count += u64::from(arrival_ns.saturating_sub(first).is_multiple_of(tick));
        }
    }

    fn data(&self, file: &str, character: &Character) -> StandinData {
        let Character { reads, writes, requests, sequential_percent, .. } = character;
        let percent = 100.0 * reads.requests as f64 / *requests as f64;
        let mean = |kind: &OfKind| measured(short(kind.mean_kib), "mean length");
        StandinData {
            description: format!("fitted to {requests} requests of {}", file.replace(['\n', '\r'], " ")),
            published: Published {
                read_bytes_percent: None,
                read_percent: Some(measured(short(percent), "share of reads")),
                sequential_percent: measured(short(*sequential_percent), "starts where the request before ended"),
                read_kib: mean(reads),
                write_kib: mean(writes),
                hit_percent: None,
                active_dies: None,
            },
            model: self.model(character),
            arrivals: self.times(*requests),
        }
    }

    fn model(&self, character: &Character) -> StandinModel {
        let (requests, [reads, writes]) = (character.requests, self.sketch.sizes());
        let share = |count: u64| short(count as f64 / requests as f64);
        let lengths = |sizes, kind| measured(lengths(sizes), kind);
        let shift = |counts: &BTreeMap<u64, u64>| {
            let counts = if counts.is_empty() { &BTreeMap::from([(0, 1)]) } else { counts };
            measured(lengths_of(counts), "first byte of fresh requests in their page")
        };
        let of_kind = [character.reads.requests, character.writes.requests];
        let share_of =
            |kind: usize, count: u64, what: &str| measured(floor(count as f64 / of_kind[kind].max(1) as f64), what);
        let continued = |kind: usize| share_of(kind, self.continued[kind], "starts where the request before ended");
        let fresh = |kind: usize| {
            let what = "first accesses to pages by requests that go on from none, over the kind's accesses, at most its share of new starts";
            share_of(kind, self.fresh_of(kind), what)
        };
        let revisits = |kind: usize| {
            let others = self.new_starts[kind] - self.fresh_of(kind);
            share_of(kind, others, "the other starts where no request of that length did")
        };
        let [read_resumes, write_resumes] = [0, 1].map(|kind| self.resumes[kind].keys(of_kind[kind]));
        let reuse = "so that shares of popular pages and hit ratios of LRU caches are those of the trace";
        let adjoining = self.adjoining.max(1);
        let longest = self.longest.next_multiple_of(PAGE_BYTES) + PAGE_BYTES;
        let chunk = (self.touched.len() as u64).div_ceil(self.extents().max(1)) * PAGE_BYTES;
        let span = self.end_max.max(2 * self.touched.len() as u64 * PAGE_BYTES).max(2 * longest);
        StandinModel {
            requests: measured(requests, "number of requests"),
            read_fraction: measured(share(character.reads.requests), "share of reads"),
            read_bytes: lengths(reads, "lengths of reads"),
            write_bytes: lengths(writes, "lengths of writes"),
            read_shift_bytes: shift(&self.shifts[0]),
            write_shift_bytes: shift(&self.shifts[1]),
            read_continue_fraction: continued(0),
            write_continue_fraction: continued(1),
            read_resume_fraction: read_resumes.fraction,
            write_resume_fraction: write_resumes.fraction,
            read_resume_depths: read_resumes.depths,
            write_resume_depths: write_resumes.depths,
            read_resume_gaps: read_resumes.gaps,
            write_resume_gaps: write_resumes.gaps,
            read_resume_fresh_fraction: read_resumes.fresh_fraction,
            write_resume_fresh_fraction: write_resumes.fresh_fraction,
            read_resume_grown_fraction: read_resumes.grown_fraction,
            write_resume_grown_fraction: write_resumes.grown_fraction,
            read_fresh_fraction: fresh(0),
            write_fresh_fraction: fresh(1),
            read_revisit_fraction: revisits(0),
            write_revisit_fraction: revisits(1),
            crossing_fraction: measured(
                short(self.crossed as f64 / self.reused.max(1) as f64),
                "earlier starts whose last request was of the other kind",
            ),
            recent_fraction: fitted(0.0, reuse),
            recent_starts: fitted(1, reuse),
            popularity_exponent: fitted(0.0, reuse),
            popularity_shift: fitted(0.0, reuse),
            open_chunks: measured(
                (self.since as f64 / adjoining as f64).round().clamp(1.0, 4096.0) as u32,
                "mean number of fresh requests since the page before was touched, where it was",
            ),
            chunk_bytes: measured(chunk.max(longest), "touched pages for each stretch of them without a gap"),
            span_bytes: measured(span, "end of the request that reaches furthest; at least twice what is touched"),
        }
    }

    /// Number of stretches of touched pages without a gap.
    fn extents(&self) -> u64 {
        let pages = self.touched.keys();
        let (count, _) =
            pages.fold((0, None), |(count, end), &page| (count + u64::from(end != Some(page)), Some(page + 1)));
        count
    }

    /// Number of requests of a kind in fresh pages with which a stand-in touches as many pages as the trace: there all
    /// pages of such a request are fresh.
    fn fresh_of(&self, kind: usize) -> u64 {
        let requests: u64 = self.sketch.sizes()[kind].values().sum();
        let fresh = self.first_touched[kind] * requests / self.page_accesses[kind].max(1);
        fresh.min(self.new_starts[kind])
    }

    fn times(&self, requests: u64) -> Times {
        let seconds = self.last_ns.saturating_sub(self.first_ns.unwrap_or(0)) as f64 * 1e-9;
        let rate = if seconds > 0.0 { requests as f64 / seconds } else { 1e6 };
        let divides = |tick: &usize| self.at_ticks[*tick] as f64 >= TICK_SHARE * requests as f64;
        let tick = (0..TICKS_NS.len()).find(divides).filter(|_| seconds > 0.0);
        Times {
            rate_per_s: measured(short(rate), "requests over the time from the first to the last"),
            burst_mean: measured(
                short(self.burst_mean()),
                "(1 + v) / 2 with the squared coefficient of variation v of the times between arrivals",
            ),
            gaps: Tagged { value: Law::Exponential, tag: Provenance::Chosen, source: "independent clients".into() },
            tick_ns: tick.map(|tick| measured(TICKS_NS[tick], "95 % of the arrivals are multiples of it")),
        }
    }

    /// Mean number of requests that arrive together, m. With geometric groups at exponential times the times between
    /// arrivals have the squared coefficient of variation 2 m − 1.
    fn burst_mean(&self) -> f64 {
        let gaps = self.sketch.gaps();
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (&gap, &times) in gaps {
            let (gap, times) = (gap as f64, times as f64);
            (count, sum, squares) = (count + times, sum + gap * times, squares + gap * gap * times);
        }
        if sum == 0.0 {
            return 1.0;
        }
        let mean = sum / count;
        (squares / count / (mean * mean) / 2.0).clamp(1.0, BURST_MAX)
    }
}

fn measured<T>(value: T, what: &str) -> Tagged<T> {
    Tagged { value, tag: Provenance::Measured, source: format!("the trace: {what}") }
}

fn fitted<T>(value: T, why: &str) -> Tagged<T> {
    Tagged { value, tag: Provenance::Fitted, source: why.into() }
}

/// A number with five significant digits.
fn short(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// A share rounded down to five digits, so that shares of one whole do not exceed it.
fn floor(share: f64) -> f64 {
    (share * 1e5).floor() / 1e5
}

/// Lengths and their shares; of a kind that the trace does not have, one page.
fn lengths(counts: &BTreeMap<u64, u64>) -> LengthShares {
    if counts.is_empty() {
        return vec![(PAGE_BYTES, 1.0)];
    }
    let sectors = |bytes: u64| bytes.max(1).next_multiple_of(SECTOR_BYTES);
    let mut whole = BTreeMap::new();
    counts.iter().for_each(|(&bytes, count)| *whole.entry(sectors(bytes)).or_default() += count);
    let mut by_count: Vec<(u64, u64)> = whole.into_iter().collect();
    by_count.sort_by_key(|&(bytes, count)| (std::cmp::Reverse(count), bytes));
    let rare = by_count.split_off(by_count.len().min(LENGTHS_MAX));
    let mut merged: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (bytes, count) in rare {
        let (sum, all) = merged.entry(bytes.ilog2()).or_default();
        (*sum, *all) = (*sum + bytes * count, *all + count);
    }
    let mut kept: BTreeMap<u64, u64> = by_count.into_iter().collect();
    for (sum, count) in merged.into_values() {
        *kept.entry(sectors(sum / count)).or_default() += count;
    }
    lengths_of(&kept)
}

fn lengths_of(counts: &BTreeMap<u64, u64>) -> LengthShares {
    let all = counts.values().sum::<u64>() as f64;
    counts.iter().map(|(&bytes, &count)| (bytes, short(count as f64 / all))).collect()
}
