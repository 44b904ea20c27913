//! The cost of the host's block layer: random reads (W2 of the speed prototype, preset `limit`) through each registered
//! scheduler, beside the same run without a host. The drive takes as many requests as the workload has under way, so the
//! queue is mostly empty: this is what every request pays.
//!
//! `cargo bench --bench hosts -- [NAME] [REQUESTS]` prints a line for each scheduler: the median of the ratios of paired runs.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::run::StartState;
use flashwatt::{RunOptions, config, list, workload};

/// Pairs of runs of each scheduler, and requests of a run.
const PAIRS: usize = 5;
const REQUESTS: u64 = 1_000_000;

fn main() -> Result<(), flashwatt::Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let requests = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    for (name, _) in list("schedulers").unwrap_or_default() {
        if args.first().is_none_or(|only| *only == name) {
            beside(&name, requests)?;
        }
    }
    Ok(())
}

/// The most that a request may take of the time without a host.
fn goal(name: &str) -> f64 {
    match name {
        "none" => 1.1,
        "noop" | "mq_deadline" => 1.3,
        _ => 2.0,
    }
}

fn beside(name: &str, requests: u64) -> Result<(), flashwatt::Error> {
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for _ in 0..PAIRS {
        pairs.push((ns(None, requests)?, ns(Some(name), requests)?));
    }
    pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (without, with) = pairs[PAIRS / 2];
    let (ratio, goal) = (with / without, goal(name));
    let said = format!("w2 through {name}, {with:.0} ns, without a host {without:.0} ns");
    println!("{said:<56} {ratio:5.2} x   goal {goal:4.2}  {}", if ratio <= goal { "met" } else { "MISSED" });
    Ok(())
}

/// Nanoseconds of processor time per request.
fn ns(scheduler: Option<&str>, requests: u64) -> Result<f64, flashwatt::Error> {
    let mut sets = vec![
        "device.preset=limit".to_string(),
        format!("workload.uniform.requests={requests}"),
        "workload.uniform.read_fraction=1".to_string(),
    ];
    sets.extend(scheduler.map(|name| format!("host.scheduler={name}")));
    let config = config::load("", "bench", &sets)?;
    let drive = StartState::new(&config)?;
    let mut workload = workload::open(&config.workload, config.device.logical_bytes, config.run.seed)?;
    let start = cpu_ns();
    drive.run(&config, &RunOptions::default(), workload.as_mut(), (), &mut |_| true)?;
    Ok((cpu_ns() - start) as f64 / requests as f64)
}
