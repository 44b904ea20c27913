//! Flash operations per second under every registered translation layer, and what a demand-paged map costs beside one in
//! memory: `cargo bench --bench ftls -- [NAME]…`. Layers are enrolled by being registered.
//!
//! Random writes of 4 KiB on the filled device of preset `limit`, one request in three a read; as many requests as make three
//! million flash operations. CPU time of the simulation alone.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use common::cpu_ns;
use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt::config;
use flashwatt::run::StartState;
use flashwatt_workload as workload;

const OPERATIONS: f64 = 3e6;
/// Million flash operations per second of CPU time that every layer is to reach.
const GOAL: f64 = 2.0;
/// DFTL's time for a flash operation beside the page map's, when nine in ten look-ups hit.
const DFTL_GOAL: f64 = 1.6;
const ROUNDS: usize = 5;

fn main() -> Result<(), Error> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    for (name, _) in flashwatt::list("ftls").unwrap_or_default().iter().filter(|(name, _)| is_wanted(name)) {
        let sets = [format!("ftl={name}")];
        let probe = run(&sets, 2_000)?;
        let requests = (2_000.0 * OPERATIONS / probe.operations) as u64;
        let speed = 1e3 / run(&sets, requests)?.ns_per_operation();
        let verdict = if speed >= GOAL { "met" } else { "MISSED" };
        println!("{:<34} {speed:7.2} M flash ops/s  goal {GOAL:4.1}  {verdict}", format!("ftl {name}"));
    }
    if is_wanted("dftl") && is_wanted("page") {
        compare_dftl()?;
    }
    Ok(())
}

/// Both in turn, so that what the machine does besides falls on both.
fn compare_dftl() -> Result<(), Error> {
    let entries =
        config::load("", "bench", &["device.preset=limit".into()])?.ssd().device.logical_bytes / 4096 * 9 / 10;
    let dftl = [format!("ftl.dftl.cmt_entries={entries}")];
    let (mut ratios, mut hits) = (Vec::new(), 0.0);
    for _ in 0..ROUNDS {
        let (page, dftl) = (run(&["ftl=page".into()], 1_500_000)?, run(&dftl, 1_500_000)?);
        ratios.push(dftl.ns_per_operation() / page.ns_per_operation());
        hits = dftl.hit_ratio.unwrap_or(0.0);
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ROUNDS / 2];
    let verdict = if ratio <= DFTL_GOAL { "met" } else { "MISSED" };
    println!(
        "dftl at {:4.1} % hits, a flash op       {ratio:7.2} x page         goal {DFTL_GOAL:4.1}  {verdict}",
        100.0 * hits
    );
    Ok(())
}

struct Measured {
    ns: f64,
    operations: f64,
    hit_ratio: Option<f64>,
}

impl Measured {
    fn ns_per_operation(&self) -> f64 {
        self.ns / self.operations
    }
}

/// A third of the requests is warm-up, which fills caches: theirs as well as the machine's.
fn run(sets: &[String], requests: u64) -> Result<Measured, Error> {
    let warmup = requests / 3;
    let own = [
        "device.preset=limit".to_string(),
        format!("workload.uniform.requests={requests}"),
        "workload.uniform.read_fraction=0.33".to_string(),
        format!("run.warmup.requests={warmup}"),
    ];
    let config = config::load("", "bench", &[&own, sets].concat())?;
    let drive = StartState::new(&config)?;
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed)?;
    let mut start_ns = 0;
    let progress = &mut |progress: &flashwatt::Progress| {
        if start_ns == 0 && progress.requests_done >= warmup {
            start_ns = cpu_ns();
        }
        true
    };
    let report = drive.run(&config, &RunOptions::default(), workload.as_mut(), (), progress)?.0;
    let ns = (cpu_ns() - start_ns) as f64;
    let flash = &report.ssd().flash;
    let operations = (flash.reads.total + flash.programs.total + flash.erases.total) as f64;
    Ok(Measured { ns, operations, hit_ratio: report.ssd().ftl.map_hit_ratio })
}
