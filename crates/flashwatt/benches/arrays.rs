//! The cost of an array of four drives beyond that of its members: the array's time of the processor for each request that a member
//! gets, beside that of the members, each alone on exactly the requests that the array gives it.
//!
//! The array runs once with a closed loop, and the requests of the host and of each member are written down with their times. Then
//! the array runs on the host's list, and each member alone on its own, in turns. All lists are in memory and read in the same way.
//! At the end, each member has done alone what it did in the array.
//!
//! `cargo bench --bench arrays -- [CASE] [REQUESTS]` prints a line for each case: the median of the ratios of paired runs.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::config::{self, Config};
use flashwatt::connector::{Completion, Next, Request, SourceKind, Tag, Upcoming, Workload};
use flashwatt::run::{run_array, run_with};
use flashwatt::units::Nanos;
use flashwatt::{Error, Progress, Report, RunOptions, workload};

/// An array may take a tenth more than its members.
const GOAL: f64 = 1.1;
const PAIRS: usize = 7;
const REQUESTS: u64 = 400_000;
const MEMBERS: usize = 4;

/// Name, level, share of reads.
const CASES: [(&str, &str, &str); 5] = [
    ("raid0, random reads", "raid0", "1"),
    ("raid0, random writes", "raid0", "0"),
    ("raid10, random reads", "raid10", "1"),
    ("raid10, random writes", "raid10", "0"),
    ("raid5, small writes", "raid5", "0"),
];

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let requests = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    for (name, level, reads) in CASES.iter().filter(|(name, ..)| args.first().is_none_or(|part| name.contains(part))) {
        beside(name, level, reads, requests)?;
    }
    Ok(())
}

fn beside(name: &str, level: &str, reads: &str, requests: u64) -> Result<(), Error> {
    let one = [
        "device.preset=limit".to_string(),
        format!("device.logical_bytes={}", 1_u64 << 30),
        format!("workload.uniform.read_fraction={reads}"),
        format!("workload.uniform.queue_depth={}", 32 * MEMBERS),
        format!("workload.uniform.requests={requests}"),
        // Collection goes on behind the last request, which comes earlier to some members than to others.
        "run.count_drain=true".to_string(),
    ];
    let array = [&one[..], &[format!("array.members={MEMBERS}"), format!("array.level={level}")]].concat();
    let (one, array) = (config::load("", "bench", &one)?, config::load("", "bench", &array)?);
    let (report, hosts, members) = recorded(&array)?;
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        // Either goes first in turn, so that a machine that gets slower favours none.
        let first = (pair % 2 == 0).then(|| time(&array, &hosts)).transpose()?;
        let alone = members.iter().map(|list| time(&one, list)).collect::<Result<Vec<_>, _>>()?;
        let (ns, in_array) = first.map_or_else(|| time(&array, &hosts), Ok)?;
        assert_eq!(in_array.throughput.simulated_s, report.throughput.simulated_s, "the array did the same again");
        check(&in_array, alone.iter().map(|(_, report)| report));
        pairs.push((alone.iter().map(|(ns, _)| ns).sum::<f64>(), ns));
    }
    pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (alone, together) = pairs[PAIRS / 2];
    let orders: usize = members.iter().map(Vec::len).sum();
    let (ratio, of_one) = (together / alone, |ns: f64| ns / orders as f64);
    let verdict = if ratio <= GOAL { "met" } else { "MISSED" };
    let (together, alone) = (of_one(together), of_one(alone));
    println!("{name:<24} {together:4.0} ns, members alone {alone:4.0} ns {ratio:5.2} x   goal {GOAL:4.2}  {verdict}");
    Ok(())
}

/// Runs the array's closed loop. Returns the host's requests and those of each member, with their times.
fn recorded(config: &Config) -> Result<(Report, Vec<Request>, Vec<Vec<Request>>), Error> {
    let inner = workload::open(&config.workload, config.logical_bytes(), config.run.seed)?;
    let mut recorder = Recorder { inner, requests: Vec::new() };
    let (report, members) = run_array(config, &RunOptions::default(), &mut recorder, &mut |_| true)?;
    assert_eq!(report.status, "complete");
    Ok((report, recorder.requests, members))
}

/// Nanoseconds of the processor for a list of requests, from the end of the preparation on; and the report.
fn time(config: &Config, requests: &[Request]) -> Result<(f64, Report), Error> {
    let mut start = None;
    let mut begins = |progress: &Progress| {
        if progress.preparing.is_none() {
            start.get_or_insert_with(cpu_ns);
        }
        true
    };
    let report = run_with(config, &RunOptions::default(), &mut List { requests, at: 0 }, &mut begins)?;
    let end = cpu_ns();
    assert_eq!(report.status, "complete");
    Ok(((end - start.expect("the run began")) as f64, report))
}

/// Each member has programmed and read as many pages alone as in the array.
fn check<'a>(array: &Report, alone: impl Iterator<Item = &'a Report>) {
    let json = |report: &Report| serde_json::to_value(report).expect("JSON");
    let array = json(array);
    for (place, alone) in alone.map(json).enumerate() {
        for operations in ["reads", "programs", "erases"] {
            let of = |report: &serde_json::Value| report["flash"][operations]["total"].clone();
            assert_eq!(of(&array["members"][place]), of(&alone), "{operations} of member {place}");
        }
    }
}

/// A workload whose requests are written down.
struct Recorder {
    inner: Box<dyn Workload>,
    requests: Vec<Request>,
}

impl Workload for Recorder {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        let next = self.inner.next(now)?;
        if let Next::Request(_, request) = next {
            self.requests.push(request);
        }
        Ok(next)
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        self.inner.completed(done, now);
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kind(&self) -> SourceKind {
        self.inner.kind()
    }
}

/// Requests as far ahead are announced as of the synthetic workloads of the engine.
const FAR: usize = 32;

/// Given requests, each at its time.
struct List<'a> {
    requests: &'a [Request],
    at: usize,
}

impl Workload for List<'_> {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        Ok(match self.requests.get(self.at) {
            None => Next::End,
            Some(request) if request.arrival_ns > now => Next::WaitUntil(request.arrival_ns),
            Some(request) => {
                self.at += 1;
                Next::Request(Tag(0), *request)
            }
        })
    }

    fn upcoming(&self) -> Option<Upcoming> {
        let after = |requests: usize| self.requests.get(self.at + requests).map(|request| request.offset_bytes);
        Some(Upcoming { far_bytes: after(FAR - 1)?, near_bytes: after(FAR / 2 - 1)? })
    }

    fn completed(&mut self, _done: &Completion, _now: Nanos) {}

    fn name(&self) -> &str {
        "list"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.requests.len() as u64)
    }
}
