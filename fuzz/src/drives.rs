//! Runs drives of today that are drawn at random, under the second account of their content (`--check`).
//!
//! `drives COUNT [SEED]` runs COUNT configurations; those that are refused in words are drawn again. Each must end complete, with the
//! energy of the meter and that of the ledger alike. A panic, an error, or a run of more than a minute ends the program, which prints the
//! configuration. At the end it prints in how many runs each table and each key was. Of 5,000 and more, each table must be in 40 % and
//! each key in 200: else it fails, too.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::exit;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use flashwatt::RunOptions;
use flashwatt::config::{self, Precondition};
use flashwatt_base::rng::Rng;

const HANG: Duration = Duration::from_secs(60);
/// The tables, each of which must be in 40 % of the runs; and more beginnings of keys that must be in [`RUNS_OF_KEY`].
const TABLES: [&str; 6] =
    ["device.cells", "device.bus", "device.suspend", "device.firmware", "slc_cache", "device.plane_blocks"];
const KEYS: [&str; 4] = ["energy.nand.extra_plane", "energy.nand.slc", "device.host_memory", "energy.host_memory"];
/// The count from which on shares are asserted, and the least number of runs with a key.
const ASSERTED_FROM: u64 = 5_000;
const RUNS_OF_KEY: u64 = 200;

fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = |default| args.next().map_or(default, |arg| arg.parse().unwrap_or_else(|_| usage(&arg)));
    let (count, seed) = (number(5_000), number(1));
    let (sender, moves) = channel::<Vec<String>>();
    let runs = std::thread::spawn(move || run_all(count, seed, &|sets| drop(sender.send(sets.to_vec()))));
    let mut last = Vec::new();
    loop {
        match moves.recv_timeout(HANG) {
            Ok(sets) => last = sets,
            Err(RecvTimeoutError::Timeout) => fail(&last, "takes longer than a minute"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match runs.join() {
        Ok(true) => {}
        _ => exit(1),
    }
}

fn usage(found: &str) -> ! {
    eprintln!("drives: found `{found}`; expected COUNT [SEED]");
    exit(2);
}

fn fail(sets: &[String], what: &str) -> ! {
    eprintln!("drives: a drive {what}:\n{}", sets.join("\n"));
    exit(1);
}

/// Runs them, and prints what they had. Whether tables and keys were in as many as they must be.
fn run_all(count: u64, seed: u64, show: &dyn Fn(&[String])) -> bool {
    let (mut rng, mut refusals, mut keys) = (Rng::new(seed), 0, BTreeMap::<String, u64>::new());
    let mut runs = 0;
    while runs < count {
        let sets = draw(&mut rng);
        show(&sets);
        match catch_unwind(AssertUnwindSafe(|| run(&sets))) {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => {
                refusals += 1;
                continue;
            }
            Ok(Err(what)) => fail(&sets, &what),
            Err(_) => fail(&sets, "breaks an assertion"),
        }
        runs += 1;
        sets.iter().for_each(|set| *keys.entry(key_of(set).to_string()).or_default() += 1);
        TABLES.iter().filter(|table| sets.iter().any(|set| set.starts_with(**table))).for_each(|table| {
            *keys.entry(format!("[{table}]")).or_default() += 1;
        });
    }
    println!("drives       {runs} runs, {refusals} more drawn and refused; runs by table and key:");
    keys.iter().for_each(|(key, runs)| println!("{runs:>8}  {key}"));
    let is_of_today = |key: &str| TABLES.iter().chain(&KEYS).any(|table| key.starts_with(table));
    let too_few = |(key, runs): (&String, &u64)| match key.starts_with('[') {
        true => 10 * runs < 4 * count,
        false => is_of_today(key) && *runs < RUNS_OF_KEY,
    };
    let missing: Vec<&String> = keys.iter().filter(|&entry| too_few(entry)).map(|(key, _)| key).collect();
    if count >= ASSERTED_FROM && !missing.is_empty() {
        eprintln!("drives: in too few runs: {missing:?}");
        return false;
    }
    true
}

fn key_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default()
}

/// Whether the drive is one. If so, it has run without a fault.
fn run(sets: &[String]) -> Result<bool, String> {
    let Ok(config) = config::load("", "drives.toml", sets) else { return Ok(false) };
    let options = RunOptions { check: true, ..RunOptions::default() };
    let report = flashwatt::run(&config, &options, &mut |_| true).map_err(|error| format!("ends with `{error}`"))?;
    // An empty drive may be given more than it has room for: its size is checked for a full one only.
    if config.run.precondition == Precondition::Empty && report.status.contains("the drive has no room") {
        return Ok(false);
    }
    if report.status != "complete" {
        return Err(format!("has the status {}", report.status));
    }
    let (integral, total) = (report.energy_integral_j, report.ssd().energy_j.total);
    if (integral - total).abs() > 1e-9 * total {
        return Err(format!("has {integral} J by the meter and {total} J by the ledger"));
    }
    Ok(true)
}

/// Draws sets, key by key.
struct Draw<'a> {
    rng: &'a mut Rng,
    sets: Vec<String>,
}

impl Draw<'_> {
    fn chance(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    fn number(&mut self, least: u64, most: u64) -> u64 {
        least + self.rng.below(most - least + 1)
    }

    fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        self.sets.push(format!("{key}={value}"));
    }

    /// Sets a key to a number, with a chance of `percent`.
    fn maybe(&mut self, percent: u64, key: &str, least: u64, most: u64) {
        if self.chance(percent) {
            let value = self.number(least, most);
            self.set(key, value);
        }
    }

    /// Sets a key to one of these values, with a chance of `percent`.
    fn one_of(&mut self, percent: u64, key: &str, values: &[&str]) {
        if self.chance(percent) {
            let at = self.rng.below(values.len() as u64) as usize;
            self.set(key, values[at]);
        }
    }
}

const BOOLS: [&str; 2] = ["false", "true"];

/// A drive with a workload. It may be refused.
fn draw(rng: &mut Rng) -> Vec<String> {
    let mut d = Draw { rng, sets: vec!["device.preset=\"limit\"".to_string()] };
    let has_cells = d.chance(90);
    let has_planes = d.chance(80);
    let is_page = d.chance(85);
    let bits = if has_cells { d.number(1, 4) } else { 1 };
    let planes = d.number(1, 4);
    shape(&mut d, planes, has_planes, bits);
    if has_cells {
        cells(&mut d, bits);
    }
    if d.chance(70) {
        bus(&mut d, has_planes);
    }
    if d.chance(70) {
        suspension(&mut d, is_page);
    }
    if d.chance(70) {
        firmware(&mut d);
    }
    if bits > 1 && d.chance(95) {
        cache(&mut d);
    }
    if has_planes && planes > 1 {
        for key in ["extra_plane_read_ma", "extra_plane_program_ma", "extra_plane_erase_ma"] {
            d.maybe(40, &format!("energy.nand.{key}"), 0, 9);
        }
    }
    if !is_page && d.chance(80) {
        host_memory(&mut d);
    }
    layer(&mut d, is_page);
    buffer(&mut d);
    workload(&mut d);
    // Energy is no reason for a refusal: neither the link nor DRAM has more work than the time of a short run.
    d.set("energy.host_interface.bandwidth_mb_s", 1_000_000);
    d.set("energy.dram.data_mb_s", 1_000_000);
    d.set("energy.dram.map_access_ns", 1);
    d.sets
}

fn shape(d: &mut Draw, planes: u64, has_planes: bool, bits: u64) {
    let values = [("device.channels", d.number(1, 4)), ("device.ways", d.number(1, 3)), ("device.planes", planes)];
    values.into_iter().for_each(|(key, value)| d.set(key, value));
    let row = bits * if has_planes { planes } else { 1 };
    let block_pages = row * d.number(2, 6).max(12_u64.div_ceil(row));
    let of_plane = if has_planes { block_pages / planes } else { block_pages };
    let (blocks, op) = (d.number(20, 48), d.number(50, 180));
    d.set("device.pages_per_block", of_plane);
    d.set("device.blocks_per_plane", blocks);
    d.set("device.op_ratio", op as f64 / 100.0);
    if has_planes {
        d.set("device.plane_blocks", true);
    }
    d.maybe(50, "device.timing.command_ns", 0, 900);
    d.maybe(50, "device.timing.page_transfer_ns", 1, 90_000);
    d.maybe(50, "device.timing.erase_ns", 1, 4_000_000);
}

fn cells(d: &mut Draw, bits: u64) {
    let read_ns: Vec<String> = (0..bits).map(|_| d.number(1_000, 90_000).to_string()).collect();
    let program_ns = d.number(1, 2_000_000);
    d.set("device.cells.bits", bits);
    d.set("device.cells.read_ns", format!("[{}]", read_ns.join(",")));
    d.set("device.cells.program_ns", program_ns);
    if bits > 1 && d.chance(42) {
        // most are refused, for their layer or their copies
        d.set("device.cells.passes", 2);
        d.maybe(100, "device.cells.first_pass_ns", 1, 900_000);
        d.maybe(80, "device.cells.pass_distance", 1, 2);
    }
    d.maybe(60, "device.cells.pad_after_ns", 0, 3_000_000);
    d.one_of(50, "device.cells.stripe", &["\"page\"", "\"row\""]);
}

fn bus(d: &mut Draw, has_planes: bool) {
    if d.chance(60) {
        d.set("device.bus.partial_pages", true);
        d.one_of(60, "device.bus.partial_unit", &["\"map_unit\"", "\"sector\""]);
    }
    let (reads, programs) = (d.chance(60), d.chance(60));
    d.set("device.bus.cache_read", reads);
    d.set("device.bus.cache_program", programs);
    if reads || programs {
        d.maybe(60, "device.bus.cache_busy_ns", 0, 9_000);
    }
    if has_planes {
        d.one_of(70, "device.bus.joint_reads", &["\"none\"", "\"same_row\"", "\"any\""]);
    }
}

fn suspension(d: &mut Draw, is_page: bool) {
    let (programs, erases) = match d.number(0, 3) {
        0 => (true, false),
        1 => (false, true),
        _ => (true, true),
    };
    if programs {
        d.maybe(100, "device.suspend.program_ns", 0, 90_000);
    }
    if erases {
        d.maybe(100, "device.suspend.erase_ns", 0, 400_000);
        d.one_of(60, "device.suspend.resume", &["\"continue\"", "\"restart\""]);
    }
    d.maybe(60, "device.suspend.resume_ns", 0, 30_000);
    d.maybe(60, "device.suspend.max", 0, 9);
    d.maybe(60, "device.suspend.min_run_ns", 0, 300_000);
    if !is_page {
        d.one_of(70, "device.suspend.reads", &["\"host\"", "\"map_and_host\""]);
    }
}

fn firmware(d: &mut Draw) {
    d.maybe(100, "device.firmware.command_ns", 1, 9_000);
    d.maybe(60, "device.firmware.cores", 1, 5);
    d.maybe(60, "device.firmware.read_ns", 0, 40_000);
    d.maybe(60, "device.firmware.write_ns", 0, 40_000);
}

fn host_memory(d: &mut Draw) {
    d.maybe(90, "device.host_memory.read_ns", 0, 3_000);
    d.maybe(80, "device.host_memory.line_bytes", 1, 512);
    if d.sets.iter().any(|set| set.starts_with("device.host_memory.line_bytes")) {
        d.maybe(80, "energy.host_memory.pj_per_bit", 0, 70);
    }
}

fn cache(d: &mut Draw) {
    d.maybe(100, "device.cells.slc.read_ns", 1_000, 40_000);
    d.maybe(100, "device.cells.slc.program_ns", 1, 400_000);
    let (is_static, is_dynamic) = match d.number(0, 2) {
        0 => (true, false),
        1 => (false, true),
        _ => (true, true),
    };
    if is_static {
        d.maybe(100, "slc_cache.static_bytes", 1, 900_000);
    }
    if is_dynamic {
        d.set("slc_cache.dynamic", true);
        d.maybe(40, "slc_cache.dynamic_bytes", 1, 3_000_000);
    }
    let fold = ["\"eager\"", "\"idle\"", "\"full\""][d.number(0, 2) as usize];
    d.set("slc_cache.fold", fold);
    if fold == "\"idle\"" {
        d.maybe(70, "slc_cache.idle_start_ns", 1, 3_000_000);
        d.maybe(70, "slc_cache.idle_gap_ns", 0, 900_000);
    }
    d.one_of(80, "slc_cache.after", &["\"native\"", "\"through\""]);
    d.one_of(60, "slc_cache.on_die", &BOOLS);
    d.maybe(40, "energy.nand.slc_program_ma", 10, 40);
    d.maybe(40, "energy.nand.slc_extra_plane_program_ma", 0, 9);
}

fn layer(d: &mut Draw, is_page: bool) {
    let name = if is_page { "page" } else { ["dftl", "tpftl", "rftl"][d.number(0, 2) as usize] };
    if is_page {
        d.one_of(30, "ftl.page.map_unit_bytes", &["1024", "2048", "4096"]);
    } else {
        d.maybe(100, &format!("ftl.{name}.cmt_entries"), 4, 400);
    }
    d.one_of(50, &format!("ftl.{name}.allocation"), &["\"static\"", "\"dynamic\""]);
    d.one_of(50, &format!("ftl.{name}.frontiers"), &["\"separate\"", "\"shared\""]);
    d.one_of(50, "gc.policy", &["\"greedy\"", "\"fifo\"", "\"random\"", "\"cost_benefit\"", "\"d_choices\""]);
    d.one_of(50, "gc.preemptible", &BOOLS);
    d.one_of(50, "wear.policy", &["\"none\"", "\"dynamic\"", "\"static_swap\""]);
    d.set("controller.policy", "\"out_of_order\"");
}

fn buffer(d: &mut Draw) {
    if d.chance(50) {
        d.maybe(100, "write_buffer.bytes", 65_536, 6_000_000);
        d.one_of(60, "write_buffer.protection", &["\"volatile\"", "\"capacitors\""]);
    }
}

fn workload(d: &mut Draw) {
    let (requests, bytes, depth) = (d.number(100, 1_500), 512 * d.number(1, 48), d.number(1, 40));
    d.set("workload.uniform.requests", requests);
    d.set("workload.uniform.request_bytes", bytes);
    d.one_of(60, "workload.uniform.align_bytes", &["512", "2048", "4096"]);
    let reads = d.number(0, 9) as f64 / 10.0;
    d.set("workload.uniform.read_fraction", reads);
    d.one_of(40, "workload.uniform.trim_fraction", &["0.05", "0.2"]);
    if d.chance(50) {
        let (burst, gap_ns) = (d.number(1, 90), d.number(1, 30_000_000));
        d.set("workload.uniform.burst_requests", burst);
        d.set("workload.uniform.burst_gap_ns", gap_ns);
    } else {
        d.set("workload.uniform.queue_depth", depth);
    }
    d.one_of(70, "run.precondition", &["\"empty\"", "\"filled\"", "\"steady\""]);
    d.one_of(40, "run.count_drain", &BOOLS);
    let seed = d.number(1, 1_000_000);
    d.set("run.seed", seed);
}
