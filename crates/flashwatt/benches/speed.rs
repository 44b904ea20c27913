//! Time per flash operation and per request on the device of the speed prototype (preset `limit`), referee, ledger,
//! histogram and running current on. Start states and reports are not timed.
//!
//! `cargo bench --bench speed -- [w1|w2|w2_command_first|mix] [REQUESTS] [SERIES_NS]` prints one line of JSON per workload; `make bench` compares them with
//! the goals, and with the prototype where it is at hand. With SERIES_NS power over time is recorded in such bins (0: of a length
//! found by itself).
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::config::{self, Config};
use flashwatt::probe::Recording;
use flashwatt::run::StartState;
use flashwatt::{Progress, RunOptions, workload};

struct Case {
    name: &'static str,
    read_fraction: f64,
    requests: u64,
    /// The preset moves data first, as the prototype does; the other order is measured beside it.
    bus_order: &'static str,
}

const CASES: [Case; 4] = [
    Case { name: "w1", read_fraction: 0.0, requests: 1_000_000, bus_order: "data_first" },
    Case { name: "w2", read_fraction: 1.0, requests: 4_000_000, bus_order: "data_first" },
    Case { name: "w2_command_first", read_fraction: 1.0, requests: 4_000_000, bus_order: "command_first" },
    Case { name: "mix", read_fraction: 0.7, requests: 2_000_000, bus_order: "data_first" },
];

fn main() -> Result<(), flashwatt::Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let requests = args.get(1).and_then(|n| n.parse().ok());
    let series_interval_ns = args.get(2).and_then(|ns| ns.parse().ok());
    for case in CASES.iter().filter(|case| args.first().is_none_or(|name| name == case.name)) {
        measure(case, requests.unwrap_or(case.requests), series_interval_ns)?;
    }
    Ok(())
}

fn measure(case: &Case, requests: u64, series_interval_ns: Option<u64>) -> Result<(), flashwatt::Error> {
    let warmup = requests / 2;
    let config = config(case, requests + warmup, warmup)?;
    let drive = StartState::new(&config)?;
    let mut workload = workload::open(&config.workload, config.device.logical_bytes, config.run.seed)?;
    let (mut start_ns, mut done_at_start) = (0, 0);
    let progress = &mut |progress: &Progress| {
        if start_ns == 0 && progress.requests_done >= warmup {
            (start_ns, done_at_start) = (cpu_ns(), progress.requests_done);
        }
        true
    };
    let options = RunOptions { series_interval_ns, ..RunOptions::default() };
    let report = match series_interval_ns {
        None => drive.run(&config, &options, workload.as_mut(), (), progress)?.0,
        Some(_) => drive.run(&config, &options, workload.as_mut(), Recording, progress)?.0,
    };
    let per_request = (cpu_ns() - start_ns) as f64 / (requests + warmup - done_at_start) as f64;
    let flash = &report.ssd().flash;
    let operations = (flash.reads.total + flash.programs.total + flash.erases.total) as f64 / requests as f64;
    println!(
        "{{\"case\":\"{}\",\"ns_per_request\":{per_request:.2},\"flash_ops_per_request\":{operations:.3},\
         \"ns_per_flash_op\":{:.2},\"waf\":{:.3},\"iops\":{:.0}}}",
        case.name,
        per_request / operations,
        flash.write_amplification.unwrap_or(0.0),
        report.throughput.iops,
    );
    Ok(())
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
