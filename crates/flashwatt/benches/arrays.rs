//! The cost of an array beyond that of its members: the array's time of the processor for each request that a member
//! gets, beside that of the members, each alone on exactly the requests that the array gives it.
//!
//! The array runs once with a closed loop, and the requests of the host and of each member are written down with their times. Then
//! the array runs on the host's list, and each member alone on its own, in turns. All lists are in memory and read in the same way.
//! Each member does alone what it did in the array: the operations of its flash are the same within a thousandth.
//!
//! `cargo bench --bench arrays -- [CASE] [REQUESTS] [MIB] [array|members]` prints a line for each case: the median of the ratios of
//! paired runs, of members of MIB MiB. With a side given, only that side runs, once: for a profiler.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::Error;
use flashwatt::Progress;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::{self, Config};
use flashwatt::run::{run_array, run_with};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, SourceKind, Tag, Upcoming, Workload};
use flashwatt_workload as workload;

/// An array may take a tenth more than its members.
const GOAL: f64 = 1.1;
const PAIRS: usize = 7;
const REQUESTS: u64 = 400_000;
/// Size of a member in MiB.
const MIB: u64 = 1024;

/// An array and its load.
struct Load {
    name: &'static str,
    level: &'static str,
    members: u64,
    preset: &'static str,
    reads: &'static str,
    /// Requests under way, for each member.
    depth: u64,
}

const fn load(name: &'static str, level: &'static str, members: u64, reads: &'static str) -> Load {
    Load { name, level, members, preset: "limit", reads, depth: 32 }
}

const fn of_disks(name: &'static str, level: &'static str, members: u64, reads: &'static str) -> Load {
    Load { preset: "laptop-7200", depth: 8, ..load(name, level, members, reads) }
}

/// An array of one member uses the same memory as the member alone: what is beyond that is the array's own work. Of four members, the
/// machine's caches hold less.
const CASES: [Load; 13] = [
    load("one drive, random reads", "raid0", 1, "1"),
    load("one drive, random writes", "raid0", 1, "0"),
    load("raid0, random reads", "raid0", 4, "1"),
    load("raid0, random writes", "raid0", 4, "0"),
    load("raid1, random reads", "raid1", 4, "1"),
    load("raid1, random writes", "raid1", 4, "0"),
    load("raid10, random reads", "raid10", 4, "1"),
    load("raid10, random writes", "raid10", 4, "0"),
    load("raid5, small writes", "raid5", 4, "0"),
    of_disks("one disk, random reads", "raid0", 1, "1"),
    of_disks("disks, raid0, random reads", "raid0", 4, "1"),
    of_disks("disks, raid10, random writes", "raid10", 4, "0"),
    of_disks("disks, raid5, small writes", "raid5", 4, "0"),
];

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let number = |at: usize, otherwise| args.get(at).and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (requests, mib) = (number(1, REQUESTS), number(2, MIB));
    for load in CASES.iter().filter(|load| args.first().is_none_or(|part| load.name.contains(part))) {
        let case = Case::record(load, requests, mib)?;
        match args.get(3) {
            Some(side) => println!("{:<28} {side} {:4.0} ns", load.name, case.of_one(case.side(side)?)),
            None => case.compare(load.name)?,
        }
    }
    Ok(())
}

/// An array, a drive as each of its members, and the requests that they get.
struct Case {
    array: Config,
    one: Config,
    hosts: Vec<Request>,
    members: Vec<Vec<Request>>,
    /// Simulated seconds of the array's run.
    simulated_s: f64,
}

impl Case {
    /// Runs the array's closed loop, and keeps its requests.
    fn record(load: &Load, requests: u64, mib: u64) -> Result<Self, Error> {
        let Load { level, members, preset, reads, depth, .. } = load;
        let mut one = vec![
            format!("device.preset={preset}"),
            format!("workload.uniform.read_fraction={reads}"),
            format!("workload.uniform.queue_depth={}", depth * members),
            format!("workload.uniform.requests={requests}"),
            // Collection goes on behind the last request, which comes earlier to some members than to others.
            "run.count_drain=true".to_string(),
        ];
        if *preset == "limit" {
            one.push(format!("device.logical_bytes={}", mib << 20));
        }
        let array = [&one[..], &[format!("array.members={members}"), format!("array.level={level}")]].concat();
        let (one, array) = (config::load("", "bench", &one)?, config::load("", "bench", &array)?);
        let inner = workload::open(&array.workload, array.logical_bytes(), array.run.seed)?;
        let mut host = Recorder { inner, requests: Vec::new() };
        let (report, members) = run_array(&array, &RunOptions::default(), &mut host, &mut |_| true)?;
        assert_eq!(report.status, "complete");
        Ok(Case { array, one, hosts: host.requests, members, simulated_s: report.throughput.simulated_s })
    }

    /// The part of a time for each request of a member.
    fn of_one(&self, ns: f64) -> f64 {
        ns / self.members.iter().map(Vec::len).sum::<usize>() as f64
    }

    /// Time of one side alone.
    fn side(&self, side: &str) -> Result<f64, Error> {
        if side == "array" {
            return Ok(time(&self.array, &self.hosts)?.0);
        }
        self.members.iter().map(|list| Ok(time(&self.one, list)?.0)).sum()
    }

    /// Runs both sides in pairs, and prints the median of their ratios.
    fn compare(&self, name: &str) -> Result<(), Error> {
        let mut pairs = Vec::new();
        for pair in 0..PAIRS {
            // Either goes first in turn, so that a machine that gets slower favours none.
            let first = (pair % 2 == 0).then(|| time(&self.array, &self.hosts)).transpose()?;
            let alone = self.members.iter().map(|list| time(&self.one, list)).collect::<Result<Vec<_>, _>>()?;
            let (ns, array) = first.map_or_else(|| time(&self.array, &self.hosts), Ok)?;
            assert_eq!(array.throughput.simulated_s, self.simulated_s, "the array did the same again");
            check(&array, alone.iter().map(|(_, report)| report));
            pairs.push((alone.iter().map(|(ns, _)| ns).sum::<f64>(), ns));
        }
        pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
        let (alone, together) = pairs[PAIRS / 2];
        let ratio = together / alone;
        let verdict = if ratio <= GOAL { "met" } else { "MISSED" };
        let (together, alone) = (self.of_one(together), self.of_one(alone));
        println!(
            "{name:<28} {together:4.0} ns, members alone {alone:4.0} ns {ratio:5.2} x   goal {GOAL:4.2}  {verdict}"
        );
        Ok(())
    }
}

/// Nanoseconds of the processor for a list of requests, from the end of the preparation on; and the report. A profiler can count in
/// this function alone (`valgrind --tool=callgrind --toggle-collect='*arrays::time*'`).
#[inline(never)]
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

/// Figures of what a member did: an SSD's flash operations, a disk's accesses.
const DONE: [&str; 5] =
    ["/flash/reads/total", "/flash/programs/total", "/flash/erases/total", "/hdd/accesses", "/hdd/seek_cylinders"];

/// Each member has done as much alone as in the array, within a thousandth.
fn check<'a>(array: &Report, alone: impl Iterator<Item = &'a Report>) {
    let json = |report: &Report| serde_json::to_value(report).expect("JSON");
    let array = json(array);
    for (place, alone) in alone.map(json).enumerate() {
        let of = |report: &serde_json::Value| DONE.map(|figure| report.pointer(figure).and_then(|done| done.as_f64()));
        let (in_array, alone) = (of(&array["members"][place]), of(&alone));
        assert!(in_array.iter().flatten().count() >= 2, "member {place} is of a kind that has figures");
        for ((figure, in_array), alone) in DONE.iter().zip(in_array).zip(alone) {
            let (in_array, alone) = (in_array.unwrap_or(0.0), alone.unwrap_or(0.0));
            assert!(
                (in_array - alone).abs() <= 1e-3 * in_array,
                "{figure} of member {place}: {in_array}, alone {alone}"
            );
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
