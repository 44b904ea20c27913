//! Runs a configuration and prints the report: `cargo run --release --example run_config -- FILE.toml [KEY=VALUE …]`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use flashwatt::{RunOptions, config, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: run_config FILE.toml [KEY=VALUE …]")?;
    let text = std::fs::read_to_string(&path)?;
    let config = config::load(&text, &path, &args.collect::<Vec<_>>())?;
    let report = run(&config, &RunOptions::default(), &mut |_| true)?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
