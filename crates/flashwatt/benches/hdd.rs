//! Requests per second of the processor through a hard disk (preset `laptop-7200`), beside the goal.
//!
//! `cargo bench --bench hdd -- [CASE] [REQUESTS]` prints a line for each case. Opening the workload is not timed.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt::config;
use flashwatt::run;

/// Requests per second of the processor: of issue 18.
const GOAL: f64 = 2e6;
const REQUESTS: u64 = 2_000_000;

/// Name and keys. The goal holds for each of them.
const CASES: [(&str, &[&str]); 6] = [
    ("random reads, one at a time", &["uniform.read_fraction=1", "uniform.queue_depth=1"]),
    ("random reads, 32 in the queue", &["uniform.read_fraction=1", "uniform.queue_depth=32"]),
    ("random writes", &["uniform.read_fraction=0", "uniform.queue_depth=1"]),
    ("half reads, half writes, 8 in the queue", &["uniform.read_fraction=0.5", "uniform.queue_depth=8"]),
    ("sequential reads", &["sequential.read_fraction=1", "sequential.queue_depth=1"]),
    ("sequential writes", &["sequential.read_fraction=0", "sequential.queue_depth=1"]),
];

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let requests = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    for (name, keys) in CASES.iter().filter(|(name, _)| args.first().is_none_or(|part| name.contains(part.as_str()))) {
        let per_s = requests as f64 / seconds(keys, requests)?;
        let verdict = if per_s >= GOAL { "met" } else { "MISSED" };
        println!("{name:<42} {:6.2} M requests/s   goal {:4.2} M  {verdict}", per_s * 1e-6, GOAL * 1e-6);
    }
    Ok(())
}

/// Seconds of the processor for this number of requests of 4 KiB: the least of three runs.
fn seconds(keys: &[&str], requests: u64) -> Result<f64, Error> {
    let model = keys.first().and_then(|key| key.split('.').next()).unwrap_or("uniform");
    let mut sets = vec!["device.preset=laptop-7200".to_string(), format!("workload.{model}.requests={requests}")];
    sets.extend(keys.iter().map(|key| format!("workload.{key}")));
    let config = config::load("", "bench", &sets)?;
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let start = cpu_ns();
        let report = run(&config, &RunOptions::default(), &mut |_| true)?;
        assert_eq!(report.status, "complete");
        least = least.min((cpu_ns() - start) as f64 * 1e-9);
    }
    Ok(least)
}
