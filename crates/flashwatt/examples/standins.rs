//! What the stand-ins come to, beside what was published: `cargo run --release --example standins -- [NAME …] [--values]`.
//!
//! At full length and at 1/64 of it, with drive and cache in proportion; then, at 1/64, the busy dies of a run on the preset
//! `energysim`. `--values` prints every value of the files with its tag and source instead. The exit status is 0 if all are
//! within their tolerances.
#![allow(clippy::print_stdout)]

use flashwatt::workload::standin::{Measure, STANDINS, Standin, measures};
use flashwatt::{Error, RunOptions, config, run};

const SCALES: [(&str, f64); 2] = [("full", 1.0), ("1/64", 1.0 / 64.0)];
const SEED: u64 = 1;

fn main() -> Result<std::process::ExitCode, Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let asked = |standin: &&Standin| args.iter().all(|arg| arg.starts_with("--") || *arg == standin.name);
    let mut good = true;
    for standin in STANDINS.iter().filter(asked) {
        println!("\n{}: {}", standin.name, standin.data.description);
        if args.iter().any(|arg| arg == "--values") {
            values(standin);
        } else {
            good &= compare(standin)?;
        }
    }
    Ok(if good { 0 } else { 1 }.into())
}

fn values(standin: &Standin) {
    for (name, value, tag, source) in standin.data.rows() {
        let tag = format!("{tag:?}").to_lowercase();
        println!("  {name} | {value} | {tag} | {source}");
    }
}

fn compare(standin: &Standin) -> Result<bool, Error> {
    let mut good = true;
    println!("  {:24} {:>9} {:>9} {:>9}  within", "", "scale", "published", "generated");
    for (name, scale) in SCALES {
        let (statistics, rows) = measures(standin, scale, SEED)?;
        for row in &rows {
            good &= row.holds();
            show(row, name);
        }
        let density = statistics.written_density_percent();
        println!("  {:24} {name:>9} {:>9} {density:9.2} of blocks of 512 KiB", "density of writes, %", "");
        let seconds = statistics.duration_ns as f64 / 1e9;
        println!("  {:24} {name:>9} {:>9} {:9} in {seconds:.0} s", "requests", "", statistics.requests());
    }
    if let Some(published) = &standin.data.published.active_dies {
        let generated = active_dies(standin)?;
        let row = Measure { name: "busy dies", published: published.value, generated, tolerance: 0.7 };
        good &= row.holds();
        show(&row, "1/64");
    }
    Ok(good)
}

fn show(row: &Measure, scale: &str) {
    let verdict = if row.holds() { "" } else { "  MISSED" };
    let Measure { name, published, generated, tolerance } = row;
    println!("  {name:24} {scale:>9} {published:9.2} {generated:9.2}  {tolerance:.2}{verdict}");
}

/// Mean number of busy dies while one is, on the case-study drive of EnergySim.
fn active_dies(standin: &Standin) -> Result<f64, Error> {
    let sets = [
        "device.preset=energysim".to_string(),
        format!("workload.standin.name={}", standin.name),
        format!("workload.standin.scale={}", 1.0 / 64.0),
    ];
    let report = run(&config::load("", "standins", &sets)?, &RunOptions::default(), &mut |_| true)?;
    Ok(report.ssd().parallelism.mean_active_dies)
}
