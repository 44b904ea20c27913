//! Law 11: options that should change nothing change nothing. For every combination of registered parts the same requests are
//! run with and without each neutral option, and the figures are the same bytes.

use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::controller::policies;
use flashwatt_ssd::energy::PriceTable;
use serde_json::Value;

use super::schemes::{Scheme, draw_request, for_each_scheme, in_turn, load_sets, schemes, tiny_sets};
use crate::common::{Script, figures, read, run_logged, tier};

/// Requests of a run.
const REQUESTS: u64 = 150;
/// Requests of its warm-up.
const WARMUP: u64 = 40;

/// The overrides of a drive of a scheme.
fn drive(scheme: &Scheme, seed: u64) -> Vec<String> {
    let mut rng = Rng::new(seed ^ 0x11);
    let policy = policies::REGISTRY[rng.below(policies::REGISTRY.len() as u64) as usize].name;
    let sets = [
        format!("controller.policy=\"{policy}\""),
        format!("controller.bus_order=\"{}\"", ["data_first", "command_first"][rng.below(2) as usize]),
        format!("gc.preemptible={}", rng.below(2) == 0),
        format!("device.host_link.queue_depth={}", [2, 8, 32][rng.below(3) as usize]),
        format!("device.timing.command_ns={}", [0, 400][rng.below(2) as usize]),
        format!("run.warmup.requests={WARMUP}"),
        "workload.uniform.requests=1000".to_string(), // a script runs instead of them
    ];
    tiny_sets(scheme, &mut rng, &sets)
}

/// Requests in bursts, so that the drive is idle in between.
fn requests(config: &Config, seed: u64) -> Vec<Request> {
    let mut rng = Rng::new(seed);
    (0..REQUESTS)
        .map(|at| Request { arrival_ns: at / 30 * 20_000_000, ..draw_request(&mut rng, config.logical_bytes()) })
        .collect()
}

fn run(config: &Config, requests: &[Request]) -> Report {
    run_logged(config, &mut Script::new(requests)).0
}

/// Fails unless the figures of two runs are the same.
fn compare(found: &Value, expected: &Value, option: &str) {
    assert!(found == expected, "{option} changes something:\n{found}\n{expected}");
}

/// Options that change nothing on any drive.
fn neutral_options(base: &Report, config: &Config) -> Vec<Vec<String>> {
    let of = |sets: &[&str]| sets.iter().map(ToString::to_string).collect::<Vec<_>>();
    vec![
        of(&["controller.power_budget_ma=100000"]),
        vec![format!("controller.power_budget_w={}", budget_of_peak(base, config))],
        of(&["device.timing.channel_switch_ns=0"]),
        of(&["write_buffer.bytes=0", "write_buffer.destage_fraction=0.3", "write_buffer.idle_ns=7"]),
        of(&["device.host_link.bandwidth_mb_s=0", "device.host_link.command_ns=0"]),
        of(&["run.max_flash_ops=1000000000000"]),
        of(&["device.bus.partial_pages=false"]),
        of(&["device.planes=1", "device.plane_blocks=true"]),
        of(&["device.bus.cache_read=false", "device.bus.cache_program=false", "device.bus.joint_reads=\"none\""]),
        cells_of_one_bit(config),
        of(&["device.suspend.program_ns=5000", "device.suspend.erase_ns=7", "device.suspend.max=0"]),
        of(&["slc_cache.static_bytes=0", "slc_cache.dynamic=false"]),
        of(&["device.host_memory.read_ns=0", "device.host_memory.line_bytes=0"]),
        of(&["device.firmware.cores=1", "device.firmware.command_ns=0", "device.firmware.write_ns=0"]),
    ]
}

/// Cells of one bit, with the times of the drive.
fn cells_of_one_bit(config: &Config) -> Vec<String> {
    let timing = &config.ssd().device.timing;
    vec![
        "device.cells.bits=1".to_string(),
        format!("device.cells.read_ns=[{}]", timing.read_ns),
        format!("device.cells.program_ns={}", timing.program_ns),
        "device.cells.passes=1".to_string(),
        "device.cells.pad_after_ns=7".to_string(),
    ]
}

/// The budget in W that allows as many dies to work as did without one, and no more.
fn budget_of_peak(base: &Report, config: &Config) -> f64 {
    let table = PriceTable::new(&config.ssd().energy);
    let idle = table.die[0];
    let dies = base.ssd().ledger.dies;
    let base_nw = (table.controller[1] + table.dram[1] + table.host_interface + idle * dies).nw;
    let operation_nw = table.die.iter().map(|&draw| (draw - idle).nw).max().expect("dies have states");
    (base_nw + operation_nw * i64::from(base.ssd().parallelism.max_active_dies.max(1))) as f64 / 1e9
}

/// Every translation layer with every policy of collection; wear levelling takes turns. In a soak each with each, and with all that chips
/// can do.
fn layers_and_policies() -> Vec<Scheme> {
    let is_plain = |set: &String| !set.contains("program_order=\"any\"") && !set.contains("copyback=true");
    let all = schemes().iter().filter(|scheme| tier::soak().is_some() || scheme.iter().all(is_plain));
    in_turn(&all.cloned().collect::<Vec<_>>())
}

/// The matrix: options × translation layers × collection × wear levelling.
#[test]
fn neutral_options_change_nothing() {
    for_each_scheme(&layers_and_policies(), tier::size(1, 1).min(10), |scheme, seed| {
        let sets = drive(scheme, seed);
        let config = load_sets(&sets);
        let script = requests(&config, seed);
        let base = run(&config, &script);
        let expected = figures(&base);
        for option in neutral_options(&base, &config) {
            let with = load_sets(&[&sets[..], &option].concat());
            compare(&figures(&run(&with, &script)), &expected, &option.join(" "));
        }
    });
}

/// A warm-up of n requests is one of n - k and k requests that do nothing.
#[test]
fn requests_that_do_nothing_change_nothing() {
    const NOTHING: u64 = 17;
    for_each_scheme(&layers_and_policies(), tier::size(1, 1).min(10), |scheme, seed| {
        let sets = drive(scheme, seed);
        let config = load_sets(&sets);
        let script = requests(&config, seed);
        let flush = Request { kind: RequestKind::Flush, bytes: 0, ..read(0, 0, 1) };
        let longer: Vec<Request> = std::iter::repeat_n(flush, NOTHING as usize).chain(script.iter().copied()).collect();
        let warmup = format!("run.warmup.requests={}", WARMUP + NOTHING);
        let mut found = figures(&run(&load_sets(&[&sets[..], &[warmup]].concat()), &longer));
        found["window"]["warmup"] = (found["window"]["warmup"].as_u64().expect("a number") - NOTHING).into();
        compare(&found, &figures(&run(&config, &script)), "a longer warm-up");
    });
}
