//! File operations in a second of processor time: each personality on each registered file system, on the drive of the speed
//! prototype (preset `limit`).
//!
//! `cargo bench --bench files -- [SYSTEM] [OPERATIONS]` prints a line for each pair: the median of three runs.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::RunOptions;
use flashwatt::config;
use flashwatt::list;
use flashwatt::run::StartState;
use flashwatt_workload as workload;

const RUNS: usize = 3;
const OPERATIONS: u64 = 300_000;
/// Operations that a second of processor time must allow, for varmail on ext2.
const GOAL: f64 = 200_000.0;
const PERSONALITIES: [&str; 4] = ["varmail", "fileserver", "webserver", "oltp"];

fn main() -> Result<(), flashwatt::Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let operations = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(OPERATIONS);
    for (system, _) in list("filesystems").unwrap_or_default() {
        if args.first().is_none_or(|only| *only == system) {
            for personality in PERSONALITIES {
                line(&system, personality, operations)?;
            }
        }
    }
    Ok(())
}

fn line(system: &str, personality: &str, operations: u64) -> Result<(), flashwatt::Error> {
    let mut rates = Vec::new();
    for _ in 0..RUNS {
        rates.push(per_s(system, personality, operations)?);
    }
    rates.sort_by(f64::total_cmp);
    let rate = rates[RUNS / 2];
    let said = format!("{personality} on {system}, {:.0} operations per CPU-second", rate);
    match (system, personality) {
        ("ext2", "varmail") => {
            println!("{said:<60} goal {GOAL:.0}  {}", if rate >= GOAL { "met" } else { "MISSED" });
        }
        _ => println!("{said}"),
    }
    Ok(())
}

fn per_s(system: &str, personality: &str, operations: u64) -> Result<f64, flashwatt::Error> {
    let sets = [
        "device.preset=limit".to_string(),
        format!("workload.files.personality={personality}"),
        format!("workload.files.system={system}"),
        format!("workload.files.operations={operations}"),
    ];
    let config = config::load("", "bench", &sets)?;
    let drive = StartState::new(&config)?;
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed)?;
    let start = cpu_ns();
    let (report, ()) = drive.run(&config, &RunOptions::default(), workload.as_mut(), (), &mut |_| true)?;
    let seconds = (cpu_ns() - start) as f64 / 1e9;
    let ended = report.files.map_or(0, |files| files.operations.count);
    Ok(ended as f64 / seconds)
}
