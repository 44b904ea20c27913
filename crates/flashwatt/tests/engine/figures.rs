//! Figures that a report states, by hand: write amplification and its factors, currents of parts at different voltages, what
//! the window covers.

use crate::common::delays::P;
use crate::common::{
    self, PAGE, PRESETS, assert_close, assert_within, half_write, load, mixed, play, preset, read, run_own, run_plain,
    write,
};
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::{self, Config};
use flashwatt::report::ssd::Flash;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;

fn drive(sets: &[&str]) -> Config {
    load(common::PROBE_DRIVE, sets)
}

/// One sector of a page.
fn sector(at: Nanos, page: u64, sector: u64) -> Request {
    Request { offset_bytes: page * PAGE + sector * 512, bytes: 512, ..write(at, page, 1) }
}

/// Write amplification, and its factors: read-modify-write, write buffer, collection.
fn amplification(flash: &Flash) -> (Option<f64>, [Option<f64>; 3]) {
    (flash.write_amplification, [flash.rmw_factor, flash.buffer_factor, flash.gc_factor])
}

// ---------------------------------------------------------------- write amplification

/// A sector of 512 bytes costs a page of 4 KiB: 8, and no collection has a part in it.
#[test]
fn a_sector_costs_a_page() {
    let (report, _) = play(&drive(&[]), &[sector(0, 3, 0), sector(10_000_000, 5, 7), sector(20_000_000, 9, 4)]);
    assert_eq!(amplification(&report.ssd().flash), (Some(8.0), [Some(8.0), None, Some(1.0)]));
    let (report, _) = play(&drive(&[]), &[write(0, 3, 2), half_write(10_000_000, 9)]);
    assert_eq!(amplification(&report.ssd().flash), (Some(3.0 / 2.5), [Some(3.0 / 2.5), None, Some(1.0)]));
}

/// Map units of 1 KiB: a sector touches one of them, and a page is programmed for it, of which three quarters stay empty.
#[test]
fn smaller_map_units_are_touched_in_whole() {
    let config = drive(&["ftl.page.map_unit_bytes=1024"]);
    let (report, _) = play(&config, &[sector(0, 3, 0), sector(10_000_000, 5, 7)]);
    assert_eq!(amplification(&report.ssd().flash), (Some(8.0), [Some(2.0), None, Some(4.0)]));
    assert_eq!(report.ssd().ftl.map_unit_bytes, 1024);
    let (report, _) = play(&config, &[half_write(0, 3)]);
    assert_eq!(amplification(&report.ssd().flash), (Some(2.0), [Some(1.0), None, Some(2.0)]));
}

/// Two parts of a page enter the buffer, and a page leaves it; sectors of one page coalesce.
#[test]
fn a_buffer_takes_back_what_parts_cost() {
    let buffer = |script: &[Request]| {
        let config = drive(&["write_buffer.bytes=32768", "run.count_drain=true"]);
        amplification(&play(&config, script).0.ssd().flash)
    };
    let part = |at, from: u64, sectors: u64| Request { bytes: sectors * 512, ..sector(at, 5, from) };
    assert_eq!(buffer(&[part(0, 0, 3), part(10, 3, 5)]), (Some(1.0), [Some(2.0), Some(0.5), Some(1.0)]));
    let sectors: Vec<Request> = (0..4).map(|i| sector(i, 5, i)).collect();
    assert_eq!(buffer(&sectors), (Some(2.0), [Some(8.0), Some(0.25), Some(1.0)]));
}

/// Nothing is amplified if nothing is written. What is in the buffer at the end has not been given to the translation layer.
#[test]
fn what_is_not_there_has_no_factor() {
    let (report, _) = play(&drive(&[]), &[read(0, 3, 1)]);
    assert_eq!(amplification(&report.ssd().flash), (None, [None; 3]));
    let (report, _) = play(&drive(&["write_buffer.bytes=32768"]), &[write(0, 3, 1)]);
    assert_eq!(amplification(&report.ssd().flash), (Some(0.0), [Some(1.0), Some(0.0), None]));
}

/// Over a whole run the host's bytes are those of its writes, also where a write finds room for a part of itself only, and waits.
#[test]
fn writes_that_find_room_in_parts_are_counted_once() {
    let writes = [
        "workload.uniform.requests=300",
        "workload.uniform.request_bytes=83456", // 20 pages and 3 sectors: more than a die has erased pages
        "workload.uniform.align_bytes=512",
        "workload.uniform.queue_depth=4",
        "run.count_drain=true",
        "device.spare_fraction=0.4",
    ];
    for more in ["write_buffer.bytes=0", "write_buffer.bytes=16384", "ftl.page.map_unit_bytes=1024"] {
        let (report, _) = run_own(&drive(&[&writes[..], &[more]].concat()));
        let programmed = report.ssd().flash.programs.total * PAGE;
        let amplified = report.ssd().flash.write_amplification.expect("the host wrote");
        assert_close(amplified * report.workload.write_bytes as f64, programmed as f64, more);
    }
}

/// The factors multiply to the write amplification, for every preset, with a buffer and without, in any window.
#[test]
fn the_factors_multiply_to_the_write_amplification() {
    for name in PRESETS {
        // At least a page, and those of slc-4way have 128 KiB; of drives with rows, at least one for each die.
        let (none, buffer): (&[&str], _) = match name {
            "slc-4way" => (&["write_buffer.bytes=0"], "write_buffer.bytes=262144"),
            "tlc-client-1t" | "tlc-96l-1t" | "tlc-hmb-1t" => (&["write_buffer.bytes=0"], "write_buffer.bytes=786432"),
            "qlc-client-2t" => (&["write_buffer.bytes=0"], "write_buffer.bytes=1048576"),
            "tlc-dc-2t" => {
                (&["write_buffer.bytes=0", "write_buffer.protection=\"volatile\""], "write_buffer.bytes=786432")
            }
            _ => (&["write_buffer.bytes=0"], "write_buffer.bytes=65536"),
        };
        for sets in [none, &[buffer, "run.count_drain=true"]] {
            let report = run_plain(&mixed(name, sets));
            let (amplified, [rmw, buffer, gc]) = amplification(&report.ssd().flash);
            let Flash { pad_factor, fold_factor, .. } = report.ssd().flash;
            let of_cells = pad_factor.unwrap_or(1.0) * fold_factor.unwrap_or(1.0);
            let product = rmw.expect("written") * buffer.unwrap_or(1.0) * of_cells * gc.expect("destaged");
            assert_close(product, amplified.expect("written"), &format!("{name} {sets:?}"));
            assert!(rmw >= Some(1.0) && gc > Some(1.0), "{name}: parts of pages, and collection");
            assert_eq!(buffer.is_some(), sets != none, "{name}");
        }
    }
}

// ---------------------------------------------------------------- the window

fn recorded(config: &Config) -> Report {
    let options =
        RunOptions { series_interval_ns: Some(70_000), edges_ns: Some((0, Nanos::MAX)), ..RunOptions::default() };
    flashwatt::run(config, &options, &mut |_| true).expect("it runs")
}

/// Energy by the series, by the edges of the current, by mean power over the simulated time.
fn other_paths(report: &Report) -> [f64; 3] {
    let total_ns = (report.throughput.simulated_s * 1e9).round() as u64;
    let (series, edges) = (report.series.as_ref().expect("asked for"), report.edges.as_ref().expect("asked for"));
    let p = &series.power_w;
    let nand = [&p["nand_idle"], &p["nand_read"], &p["nand_program"], &p["nand_erase"], &p["nand_transfer"]];
    let parts = [&nand[..], &[&p["controller"], &p["dram"], &p["host_interface"]]].concat();
    let ns = |at: usize| series.interval_ns.min(total_ns - at as u64 * series.interval_ns) as f64;
    let by_series = parts.iter().flat_map(|bins| bins.iter().enumerate().map(|(at, w)| w * ns(at) * 1e-9)).sum();
    let ends = edges.time_ns[1..].iter().chain([&edges.until_ns]);
    let charge: f64 = edges.time_ns.iter().zip(ends).zip(&edges.total_ma).map(|((a, b), ma)| (b - a) as f64 * ma).sum();
    [by_series, charge * report.current_ma.supply_v * 1e-12, report.power_w.mean * report.throughput.simulated_s]
}

/// A burst into a write buffer, and what it costs afterwards: one window, whichever way its energy is reckoned. Parts have
/// different voltages, and the buffer's data moves through DRAM when the last request completes.
#[test]
fn a_counted_drain_belongs_to_every_figure() {
    let burst = [
        "device.blocks_per_plane=64",
        "write_buffer.bytes=8388608",
        "run.count_drain=true",
        "device.host_link.bandwidth_mb_s=1000",
        "energy.dram_rule=\"per_op\"",
        "energy.host_interface.active_ma=0", // what DRAM and interface owe at the end is no edge
        "energy.dram.active_ma=20",
        "energy.dram.idle_ma=20",
        "workload.uniform.requests=64",
        "workload.uniform.request_bytes=65536",
    ];
    let report = recorded(&preset("limit", &burst));
    let total = report.ssd().energy_j.total;
    assert_close(report.energy_integral_j, total, "the meter's integral");
    for (path, joules) in ["the series", "the edges", "mean power"].iter().zip(other_paths(&report)) {
        assert_within(joules, total, 1e-9, path);
    }
    let (drain_s, drain_j) = report.window.drain_s.zip(report.window.drain_energy_j).expect("a clock");
    assert!(drain_j > 0.5 * total && drain_j < total);
    assert!(report.throughput.simulated_s > drain_s && drain_s > 0.001);
    let edges = report.edges.as_ref().expect("asked for");
    let highest = edges.total_ma.iter().copied().fold(0.0, f64::max);
    assert_eq!(Some(highest), report.current_ma.peak, "the peak is in the drain");
    assert_eq!(edges.until_ns, (report.throughput.simulated_s * 1e9).round() as Nanos);
    assert_close(report.throughput.iops * report.throughput.simulated_s, 64.0, "requests in the window");
    assert_eq!(report.ssd().flash.programs.host, 64 * 16);
}

/// Requests under way when as many have completed as were to be measured complete in the drain, and count with it.
#[test]
fn requests_of_a_counted_drain_count() {
    for (counted, buffer) in [(false, "0"), (true, "0"), (true, "65536")] {
        let sets = [format!("run.count_drain={counted}"), format!("write_buffer.bytes={buffer}")];
        let sets = [&sets[0], &sets[1], "workload.uniform.queue_depth=16"];
        let report = recorded(&mixed("limit", &sets));
        let (window, load) = (&report.window, &report.workload);
        assert!(window.measured == 1050 && window.drained > 0);
        assert_eq!(load.requests, 1050 + if counted { window.drained } else { 0 });
        assert_eq!(report.latency_ns.all.count, load.requests);
        assert_close(report.throughput.iops * report.throughput.simulated_s, load.requests as f64, "throughput");
        let elapsed = &report.ssd().ledger.elapsed_ns;
        let total_s = (elapsed.busy + elapsed.outstanding + elapsed.quiet) as f64 * 1e-9;
        assert_close(report.throughput.simulated_s, total_s, "the ledger's time");
        for (path, joules) in ["the series", "the edges", "mean power"].iter().zip(other_paths(&report)) {
            assert_within(joules, report.ssd().energy_j.total, 1e-9, path);
        }
    }
}

/// A run that ends before its window does has recorded what there was.
#[test]
fn a_run_that_ends_early_keeps_its_series() {
    for counted in [true, false] {
        let drain = format!("run.count_drain={counted}");
        let report = recorded(&mixed("limit", &[&drain, "run.max_flash_ops=1200", "run.warmup.requests=100"]));
        assert!(report.status.starts_with("stopped"), "{}", report.status);
        assert!(report.ssd().drain_ledger.is_none() && report.window.drain_energy_j == Some(0.0));
        assert_close(report.energy_integral_j, report.ssd().energy_j.total, "the meter's integral");
        assert_close(other_paths(&report)[0], report.ssd().energy_j.total, "the series");
    }
}

/// Flash operations of the whole run, whatever part of it is measured.
#[test]
fn operations_of_all_stages_are_counted() {
    for sets in [&["run.warmup.requests=0"][..], &["run.warmup.requests=700"], &["run.count_drain=true"]] {
        let (report, log) = run_own(&mixed("limit", sets));
        let operations: u64 =
            log.ops.iter().map(|done| 1 + u64::from(done.op.kind == flashwatt_ssd::ftl::OpKind::Copyback)).sum();
        assert_eq!(report.window.flash_ops, operations, "{sets:?}");
    }
}

fn leaves_out(report: &Report) -> Option<&String> {
    report.warnings.iter().find(|warning| warning.contains("the figures leave out work that went on after the window"))
}

/// Where more than 5 % of the energy of window and drain lies outside the figures, a warning says how much.
#[test]
fn energy_outside_the_window_is_told() {
    let burst = [write(0, 0, 4)];
    let buffer = "write_buffer.bytes=32768";
    let (report, _) = play(&drive(&[buffer]), &burst);
    let drain_j = report.window.drain_energy_j.expect("a clock");
    let share = drain_j / (drain_j + report.ssd().energy_j.total);
    assert_eq!(report.window.drain_s, Some(4.0 * P as f64 * 1e-9));
    let warning = leaves_out(&report).expect("it was all spent afterwards");
    assert!(share > 0.99 && warning.contains(&format!("{:.0} % of the energy", 100.0 * share)), "{warning}");
    assert_eq!(leaves_out(&play(&drive(&[buffer, "run.count_drain=true"]), &burst).0), None);
    // The last of two writes, after so long a window that the drain takes 2 %, or 30 %, of the time.
    let pause = |times: u64| [write(0, 0, 1), read(times * P, 0, 1), write(times * P + 1_000_000, 1, 1)];
    let all_the_same = ["energy.controller.idle_ma=350", "energy.dram.idle_ma=150", "energy.nand.program_ma=5"];
    let after = |times| {
        let sets = [&all_the_same[..], &[buffer, "energy.nand.idle_ma=5"]].concat();
        play(&drive(&sets), &pause(times)).0
    };
    assert_eq!(leaves_out(&after(50)), None);
    assert!(leaves_out(&after(5)).is_some());
}

// ---------------------------------------------------------------- currents of parts at different voltages

/// Controller and flash at 3.3 V, DRAM at 1.1 V, the interface idle: 30 + 60 mA of controller and program, and a third of
/// DRAM's 120 mA, for what it draws at 1.1 V takes a third of that at 3.3.
const RAILS: [&str; 12] = [
    "energy.mode=\"component\"",
    "energy.dram_rule=\"with_controller\"",
    "energy.controller={active_ma=30, idle_ma=10, volts=3.3}",
    "energy.dram.active_ma=120",
    "energy.dram.idle_ma=30",
    "energy.dram.volts=1.1",
    "energy.nand.read_ma=25",
    "energy.nand.program_ma=60",
    "energy.nand.transfer_ma=4",
    "energy.nand.idle_ma=2",
    "energy.nand.volts=3.3",
    "energy.host_interface.active_ma=0",
];

/// The peak current is the peak power over the stated voltage, not a sum of currents at different ones (210 mA).
#[test]
fn currents_of_different_rails_do_not_add_up() {
    let (report, _) = play(&drive(&RAILS), &[write(0, 0, 1)]);
    let current = &report.current_ma;
    assert_eq!((current.supply_v, current.peak), (3.3, Some(30.0 + 60.0 + 120.0 / 3.0)));
    assert_close(report.power_w.peak.expect("a run has one"), 30e-3 * 3.3 + 60e-3 * 3.3 + 120e-3 * 1.1, "peak power");
    assert_eq!(current.time_at_peak_ns, Some(600_043));
    assert_close(current.mean * 3.3e-3, report.power_w.mean, "mean current");
    let edges = recorded(&drive(&[&RAILS[..], &["workload.uniform.requests=1"]].concat())).edges.expect("asked for");
    assert_eq!(edges.total_ma[..2], [30.0 + 40.0 + 4.0, 30.0 + 40.0 + 60.0]);
    assert!(edges.current_ma["dram"].iter().all(|&ma| ma == 40.0), "DRAM's current at 3.3 V");
    // A part that draws nothing has no say in the voltage; without any difference currents add up.
    let (report, _) = play(&drive(&[&RAILS[..], &["energy.host_interface.volts=12"]].concat()), &[write(0, 0, 1)]);
    assert_eq!(report.current_ma.supply_v, 3.3);
    let (report, _) = play(&drive(&[&RAILS[..], &["energy.dram.volts=3.3"]].concat()), &[write(0, 0, 1)]);
    assert_eq!(report.current_ma.peak, Some(30.0 + 60.0 + 120.0));
    let (report, _) =
        play(&drive(&[&RAILS[1..], &["energy.mode=\"terminal\"", "energy.terminal_v=5"]].concat()), &[write(0, 0, 1)]);
    assert_eq!((report.current_ma.supply_v, report.current_ma.peak), (5.0, Some(30.0 + 60.0 + 120.0)));
}

/// On four dies: a base of 30 + 40 + 8 mA at 3.3 V, and 58 for an operation. A budget for two of them, in mA or in W.
#[test]
fn a_budget_is_one_of_power() {
    let more = ["device.channels=4", "workload.uniform.requests=40", "controller.power_budget_ma=194"];
    let by_ma = run_plain(&drive(&[&RAILS[..], &more].concat()));
    assert_eq!(by_ma.ssd().parallelism.max_active_dies, 2);
    assert_eq!(by_ma.current_ma.peak, Some(194.0));
    let by_w = run_plain(&drive(&[&RAILS[..], &more[..2], &["controller.power_budget_w=0.6402"]].concat()));
    let json = |report: &Report| serde_json::to_string(report).expect("a report is JSON");
    assert_eq!(json(&by_w), json(&by_ma), "194 mA at 3.3 V");
    let one = run_plain(&drive(&[&RAILS[..], &more[..2], &["controller.power_budget_w=0.64019"]].concat()));
    assert_eq!(one.ssd().parallelism.max_active_dies, 1);
}

#[test]
fn wrong_budgets_are_named() {
    let message = |sets: &[&str]| {
        let sets: Vec<String> = [&RAILS[..], sets].concat().iter().map(ToString::to_string).collect();
        config::load(common::PROBE_DRIVE, "t.toml", &sets).expect_err("refused").to_string()
    };
    let both = message(&["controller.power_budget_ma=200", "controller.power_budget_w=1"]);
    for part in ["controller.power_budget_w", "exclude each other", "power_budget_ma = 200.0", "expected one of them"] {
        assert!(both.contains(part), "{part} in: {both}");
    }
    let small = message(&["controller.power_budget_w=0.25"]);
    for part in ["controller.power_budget_w", "0.25 W", "at least 0.429 W", "0.2376 W while", "0.1914 W for one"] {
        assert!(small.contains(part), "{part} in: {small}");
    }
    let small = message(&["controller.power_budget_ma=100"]);
    for part in ["controller.power_budget_ma", "at least 130.0 mA", "72.0 mA while", "58.0 mA for one"] {
        assert!(small.contains(part), "{part} in: {small}");
    }
}
