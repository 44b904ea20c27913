//! The cost of an array of four drives beyond that of its members: nanoseconds of the processor for each request that a member
//! gets, beside those of one drive that is as large as the four together, so that the tables take as much memory.
//!
//! `cargo bench --bench arrays -- [CASE] [REQUESTS]` prints a line for each case: the median of the ratios of paired runs.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::{Error, RunOptions, config, run};

/// An array may take a tenth more than its members.
const GOAL: f64 = 1.1;
const PAIRS: usize = 7;
const REQUESTS: u64 = 400_000;
const GIB: u64 = 1 << 30;

/// Name; keys of the array and of the load; requests of members for each request of the host.
const CASES: [(&str, &[&str], &[&str], f64); 4] = [
    ("raid0, random reads", &["array.level=raid0"], &["workload.uniform.read_fraction=1"], 1.0),
    ("raid0, random writes", &["array.level=raid0"], &["workload.uniform.read_fraction=0"], 1.0),
    ("raid10, random writes", &["array.level=raid10"], &["workload.uniform.read_fraction=0"], 2.0),
    ("raid5, small writes", &["array.level=raid5"], &["workload.uniform.read_fraction=0"], 4.0),
];

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let requests = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    let chosen = |name: &str| args.first().is_none_or(|part| name.contains(part.as_str()));
    for (name, array, load, orders) in CASES.iter().filter(|(name, ..)| chosen(name)) {
        beside(name, array, load, *orders, requests)?;
    }
    Ok(())
}

fn beside(name: &str, array: &[&str], load: &[&str], orders: f64, requests: u64) -> Result<(), Error> {
    // Half of the requests of members with parity are reads: the drive beside them gets such a load.
    let of_one = if orders == 4.0 { &["workload.uniform.read_fraction=0.5"][..] } else { load };
    let members = format!("device.logical_bytes={GIB}");
    let whole = format!("device.logical_bytes={}", 4 * GIB);
    let array = [array, load, &["array.members=4", "workload.uniform.queue_depth=128", &members]].concat();
    let one = [of_one, &["workload.uniform.queue_depth=32", &whole]].concat();
    let mut pairs = Vec::new();
    for _ in 0..PAIRS {
        pairs.push((ns(&one, requests)?, ns(&array, requests)? / orders));
    }
    pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (alone, together) = pairs[PAIRS / 2];
    let ratio = together / alone;
    let verdict = if ratio <= GOAL { "met" } else { "MISSED" };
    println!("{name:<24} {together:4.0} ns, one drive {alone:4.0} ns {ratio:5.2} x   goal {GOAL:4.2}  {verdict}");
    Ok(())
}

/// Nanoseconds of the processor for each request, without the preparation.
fn ns(keys: &[&str], requests: u64) -> Result<f64, Error> {
    let least = requests / 100;
    Ok((cpu(keys, requests)? - cpu(keys, least)?) / (requests - least) as f64)
}

fn cpu(keys: &[&str], requests: u64) -> Result<f64, Error> {
    let mut sets = vec!["device.preset=limit".to_string(), format!("workload.uniform.requests={requests}")];
    sets.extend(keys.iter().map(ToString::to_string));
    let config = config::load("", "bench", &sets)?;
    let start = cpu_ns();
    let report = run(&config, &RunOptions::default(), &mut |_| true)?;
    assert_eq!(report.status, "complete");
    Ok((cpu_ns() - start) as f64)
}
