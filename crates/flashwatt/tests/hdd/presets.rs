//! The presets against what is published of their disks. "Calibrated" figures were put in; the others are predictions.

use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::load;
use flashwatt::run;

use super::common::*;

/// Runs a preset under requests of 4 KiB.
fn of(preset: &str, sets: &[&str]) -> Report {
    let preset = format!("device.preset={preset}");
    let all = [&[preset.as_str(), "run.count_drain=true"], sets].concat();
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    let config = load("", "test", &all).expect("a valid configuration");
    let report = run(&config, &RunOptions::default(), &mut |_| true).expect("it runs");
    assert_eq!(report.status, "complete");
    report
}

/// Joule of 10^6 bytes read and written.
fn j_per_mb(report: &Report) -> f64 {
    report.efficiency.j_per_gb.expect("bytes") * 1e-3
}

/// A pattern of the direct-I/O tool: one request of 4 KiB after the other, a second of warm-up.
fn pattern(preset: &str, model: &str, read_fraction: f64, requests: u32) -> Report {
    let key = |name: &str, value: String| format!("workload.{model}.{name}={value}");
    let sets = [
        key("requests", requests.to_string()),
        key("read_fraction", read_fraction.to_string()),
        key("queue_depth", "1".into()),
        "run.warmup.seconds=1".to_string(),
    ];
    of(preset, &sets.each_ref().map(String::as_str))
}

/// Mean power in W of a disk that has one request in ten minutes.
fn idle_w(preset: &str) -> f64 {
    let sets = ["workload.uniform.requests=2", "workload.uniform.rate_per_s=0.002", "workload.uniform.gaps=constant"];
    of(preset, &sets).power_w.mean
}

/// Park et al. 2011, Table 4, and the batteries of 4.2: calibrated.
#[test]
fn the_laptop_disk_has_the_published_anchors() {
    close(idle_w("laptop-7200"), 0.869, 0.005);
    let random = j_per_mb(&pattern("laptop-7200", "uniform", 0.0, 20_000));
    let sequential = j_per_mb(&pattern("laptop-7200", "sequential", 0.0, 200_000));
    println!(
        "J/MB of writes of 4 KiB: random {random:.3} (published 3.91), sequential {sequential:.4} (published 0.10)"
    );
    close(random, 3.91, 0.05);
    close(sequential, 0.10, 0.05);
}

/// Park et al. 2011, 4.2: random reads of a small size take more energy than random writes, since these are reordered; about 2 W in
/// operation; sequential access takes less than 1 J/MB: predicted.
#[test]
fn the_laptop_disk_has_the_published_orders() {
    let [write, read] = [0.0, 1.0].map(|reads| pattern("laptop-7200", "uniform", reads, 20_000));
    println!(
        "random 4 KiB: write {:.2} J/MB at {:.2} W, read {:.2} J/MB at {:.2} W",
        j_per_mb(&write),
        write.power_w.mean,
        j_per_mb(&read),
        read.power_w.mean
    );
    assert!(j_per_mb(&read) > 1.2 * j_per_mb(&write));
    for report in [write, read, pattern("laptop-7200", "sequential", 1.0, 100_000)] {
        assert!((1.6..2.4).contains(&report.power_w.mean), "{}", report.power_w.mean);
    }
    assert!(j_per_mb(&pattern("laptop-7200", "sequential", 1.0, 100_000)) < 1.0);
}

/// Sequential rate at the outer edge, in requests of 1 MiB, of which two are in the queue.
fn outer_mb_s(preset: &str, read_fraction: u32) -> f64 {
    let fraction = format!("workload.sequential.read_fraction={read_fraction}");
    let sets = ["workload.sequential.requests=1000", "workload.sequential.request_bytes=1048576", &*fraction];
    let report = of(preset, &sets);
    if read_fraction > 0 { report.throughput.read_mb_s } else { report.throughput.write_mb_s }
}

/// Rates: fitted from the sectors per track. Reads are as fast as writes, as published of the laptop disk.
#[test]
fn sequential_rates_are_those_of_the_outer_zone() {
    for (preset, mb_s) in [("laptop-7200", 100.0), ("raptor-x", 84.0)] {
        let [write, read] = [0, 1].map(|reads| outer_mb_s(preset, reads));
        println!("{preset}: {read:.1} MB/s read, {write:.1} written, {mb_s} given");
        close(read, mb_s, 0.05);
        close(write, mb_s, 0.05);
    }
}

/// Seo et al. 2008: the desktop disk idles above all others, and takes less energy for a small random write than for a read. Idle
/// power is calibrated.
#[test]
fn the_desktop_disk_idles_at_nine_watts() {
    let idle = idle_w("raptor-x");
    close(idle, 9.0, 0.01);
    let [write, read] = [0.0, 1.0].map(|reads| j_per_mb(&pattern("raptor-x", "uniform", reads, 20_000)));
    println!("Raptor X: idle {idle:.2} W; random 4 KiB: write {write:.2} J/MB, read {read:.2} J/MB");
    assert!(read > 1.2 * write);
}

/// EnergySim, Fig. 3: 690 mA from +5 V throughout a sequential write (calibrated).
#[test]
fn the_caviar_draws_690_ma_of_5_v_while_it_writes() {
    let report = of("caviar-80g", &["workload.sequential.requests=4000", "workload.sequential.request_bytes=1048576"]);
    let v5_a = sections(&report).hdd.energy_by_supply_j.v5 / report.throughput.simulated_s / 5.0;
    println!("Caviar: {:.0} mA of 5 V while it writes", v5_a * 1e3);
    close(v5_a, 0.690, 0.01);
    assert_eq!(report.current_ma.supply_v, 12.0);
}
