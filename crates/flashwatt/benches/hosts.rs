//! The cost of the host's block layer: random reads (W2 of the speed prototype, preset `limit`) through each registered
//! scheduler, beside the same run without a host. The drive takes as many requests as the workload has under way, so the
//! queue is mostly empty: this is what every request pays.
//!
//! `cargo bench --bench hosts -- [NAME] [REQUESTS]` prints a line for each scheduler: the median of the ratios of paired runs. Each pair
//! runs in a process of its own, from a fresh copy of the program: where the system puts the pages of a program moves the time of a
//! request by up to 20 ns, for as long as the file is cached.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use std::process::Command;

use common::cpu_ns;
use flashwatt::RunOptions;
use flashwatt::config;
use flashwatt::list;
use flashwatt::run::StartState;
use flashwatt_workload as workload;

type Failed = Box<dyn std::error::Error>;

/// Pairs of runs of each scheduler, and requests of a run.
const PAIRS: usize = 9;
const REQUESTS: u64 = 1_000_000;
/// The first argument of a copy that runs a pair.
const PAIR: &str = "pair";

fn main() -> Result<(), Failed> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let (is_copy, args) =
        if args.first().is_some_and(|arg| arg == PAIR) { (true, &args[1..]) } else { (false, &args[..]) };
    let requests = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    for (name, _) in list("schedulers").unwrap_or_default() {
        match args.first() {
            Some(only) if *only != name => {}
            _ if is_copy => println!("{} {}", ns(None, requests)?, ns(Some(&name), requests)?),
            _ => beside(&name, requests)?,
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

fn beside(name: &str, requests: u64) -> Result<(), Failed> {
    let mut pairs = (0..PAIRS).map(|_| pair(name, requests)).collect::<Result<Vec<_>, _>>()?;
    pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (without, with) = pairs[PAIRS / 2];
    let (ratio, goal) = (with / without, goal(name));
    let said = format!("w2 through {name}, {with:.0} ns, without a host {without:.0} ns");
    let [least, most] = [pairs[0], pairs[PAIRS - 1]].map(|pair| pair.1 / pair.0);
    let verdict = if ratio <= goal { "met" } else { "MISSED" };
    println!("{said:<56} {ratio:5.2} x ({least:.2} to {most:.2})   goal {goal:4.2}  {verdict}");
    Ok(())
}

/// Nanoseconds per request without a host and through a scheduler, measured by a copy of this program.
fn pair(name: &str, requests: u64) -> Result<(f64, f64), Failed> {
    let copy = std::env::temp_dir().join(format!("flashwatt-hosts-{}", std::process::id()));
    std::fs::copy(std::env::current_exe()?, &copy)?;
    let done = Command::new(&copy).args([PAIR, name, &requests.to_string()]).output();
    std::fs::remove_file(&copy)?;
    let said = String::from_utf8(done?.stdout)?;
    let (without, with) = said.trim().split_once(' ').ok_or("the copy printed no pair")?;
    Ok((without.parse()?, with.parse()?))
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
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed)?;
    let start = cpu_ns();
    drive.run(&config, &RunOptions::default(), workload.as_mut(), (), &mut |_| true)?;
    Ok((cpu_ns() - start) as f64 / requests as f64)
}
