//! Time per flash operation and per request on the device of the speed prototype (preset `limit`), referee, ledger,
//! histogram and running current on. Start states and reports are not timed.
//!
//! `cargo bench --bench speed -- [w1|w2|w2_command_first|mix|w1_push|w2_push|mix_push] [REQUESTS] [SERIES_NS]` prints one line of JSON per
//! workload. With SERIES_NS power over time is recorded in such bins (0: of a length found by itself).
//!
//! `push` as the first argument, as `make bench` runs it, prints the time of each case `*_push` beside that of its run, against a
//! goal. These cases send the same requests through a [`Drive`], in a loop of their own: the next request is sent when one has ended.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::Done;
use flashwatt::Drive;
use flashwatt::Progress;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::{self, Config};
use flashwatt::run::{Recording, StartState};
use flashwatt_core::connector::{Completion, Next};
use flashwatt_workload as workload;

struct Case {
    name: &'static str,
    read_fraction: f64,
    requests: u64,
    /// The preset moves data first, as the prototype does; the other order is measured beside it.
    bus_order: &'static str,
    feed: Feed,
}

/// Runs of each case beside another, and the most that a push may take of the time of a pull.
const PUSH_RUNS: u32 = 3;
const PUSH_GOAL: f64 = 1.25;

/// Who owns the loop.
#[derive(PartialEq)]
enum Feed {
    /// The engine: it asks the workload for requests.
    Pull,
    /// The bench: it sends requests to a [`Drive`].
    Push,
}

const CASES: [Case; 7] = [
    Case::pull("w1", 0.0, 1_000_000),
    Case::pull("w2", 1.0, 4_000_000),
    Case { bus_order: "command_first", ..Case::pull("w2_command_first", 1.0, 4_000_000) },
    Case::pull("mix", 0.7, 2_000_000),
    Case { feed: Feed::Push, ..Case::pull("w1_push", 0.0, 1_000_000) },
    Case { feed: Feed::Push, ..Case::pull("w2_push", 1.0, 4_000_000) },
    Case { feed: Feed::Push, ..Case::pull("mix_push", 0.7, 2_000_000) },
];

impl Case {
    const fn pull(name: &'static str, read_fraction: f64, requests: u64) -> Self {
        Case { name, read_fraction, requests, bus_order: "data_first", feed: Feed::Pull }
    }
}

fn main() -> Result<(), flashwatt::Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let requests = args.get(1).and_then(|n| n.parse().ok());
    let series_interval_ns = args.get(2).and_then(|ns| ns.parse().ok());
    if args.first().is_some_and(|name| name == "push") {
        return ["w1", "w2", "mix"].iter().try_for_each(|name| beside(name, requests));
    }
    for case in CASES.iter().filter(|case| args.first().is_none_or(|name| name == case.name)) {
        println!("{}", measure(case, requests.unwrap_or(case.requests), series_interval_ns)?.1);
    }
    Ok(())
}

/// A case that is pulled and the same pushed, in turn; the best run of each counts.
fn beside(name: &str, requests: Option<u64>) -> Result<(), flashwatt::Error> {
    let (mut pull_ns, mut push_ns) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..PUSH_RUNS {
        for case in CASES.iter().filter(|case| case.name.strip_suffix("_push").unwrap_or(case.name) == name) {
            let best = if case.feed == Feed::Push { &mut push_ns } else { &mut pull_ns };
            *best = best.min(measure(case, requests.unwrap_or(case.requests), None)?.0);
        }
    }
    let (ratio, said) = (push_ns / pull_ns, format!("{name} through a Drive, {push_ns:.0} ns, run {pull_ns:.0} ns"));
    let verdict = if ratio <= PUSH_GOAL { "met" } else { "MISSED" };
    println!("{said:<46} {ratio:5.2} x the run   goal {PUSH_GOAL:4.2}  {verdict}");
    Ok(())
}

/// Nanoseconds per request, and the line that says it.
fn measure(case: &Case, requests: u64, series_interval_ns: Option<u64>) -> Result<(f64, String), flashwatt::Error> {
    let warmup = requests / 2;
    let config = config(case, requests + warmup, warmup)?;
    let mut clock = Clock { warmup, ..Clock::default() };
    let report = match case.feed {
        Feed::Pull => pull(&config, series_interval_ns, &mut clock)?,
        Feed::Push => push(&config, &mut clock)?,
    };
    let per_request = (cpu_ns() - clock.start_ns) as f64 / (requests + warmup - clock.done_at_start) as f64;
    let flash = &report.ssd().flash;
    let operations = flash.reads.total + flash.programs.total + flash.erases.total;
    let operations = operations as f64 / report.workload.requests as f64;
    let line = format!(
        "{{\"case\":\"{}\",\"ns_per_request\":{per_request:.2},\"flash_ops_per_request\":{operations:.3},\
         \"ns_per_flash_op\":{:.2},\"waf\":{:.3},\"iops\":{:.0}}}",
        case.name,
        per_request / operations,
        flash.write_amplification.unwrap_or(0.0),
        report.throughput.iops,
    );
    Ok((per_request, line))
}

/// Some request ends sooner than in this time.
const LONG_NS: u64 = 10_000_000_000;

/// When the warm-up ended.
#[derive(Default)]
struct Clock {
    warmup: u64,
    start_ns: u64,
    done_at_start: u64,
}

impl Clock {
    #[inline]
    fn done(&mut self, requests: u64) {
        if self.start_ns == 0 && requests >= self.warmup {
            (self.start_ns, self.done_at_start) = (cpu_ns(), requests);
        }
    }
}

fn pull(config: &Config, series_interval_ns: Option<u64>, clock: &mut Clock) -> Result<Report, flashwatt::Error> {
    let drive = StartState::new(config)?;
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed)?;
    let progress = &mut |progress: &Progress| {
        clock.done(progress.requests_done);
        true
    };
    let options = RunOptions { series_interval_ns, ..RunOptions::default() };
    match series_interval_ns {
        None => drive.run(config, &options, workload.as_mut(), (), progress).map(|(report, ())| report),
        Some(_) => drive.run(config, &options, workload.as_mut(), Recording, progress).map(|(report, _)| report),
    }
}

fn push(config: &Config, clock: &mut Clock) -> Result<Report, flashwatt::Error> {
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed)?;
    let mut drive = Drive::new(config)?;
    let (mut sent, mut ended, mut done) = (0, 0, Vec::new());
    loop {
        let now = drive.now_ns();
        while let Next::Request(_, request) = workload.next(now)? {
            if let Some(upcoming) = workload.upcoming() {
                drive.expect(&upcoming);
            }
            drive.send(request)?;
            sent += 1;
        }
        if ended == sent {
            return Ok(drive.report());
        }
        drive.advance_to_done(now + LONG_NS, &mut done)?;
        for Done { tag, end_ns, .. } in done.drain(..) {
            workload.completed(&Completion::done(tag), end_ns);
            ended += 1;
        }
        clock.done(ended);
    }
}

fn config(case: &Case, requests: u64, warmup: u64) -> Result<Config, flashwatt::Error> {
    let sets = [
        "device.preset=limit".to_string(),
        format!("workload.uniform.requests={requests}"),
        format!("workload.uniform.read_fraction={}", case.read_fraction),
        format!("run.warmup.requests={warmup}"),
        format!("controller.bus_order={}", case.bus_order),
    ];
    config::load("", "bench", &sets)
}
