//! Law 9: the same configuration and seed give the same bytes, run after run, with or without probes, in every build.
//!
//! The last is tested against hashes in `tests/golden/runs.sha256`, which every build profile must reproduce:
//! `cargo test --features internals --test all determinism`, and the same with `--release`. Who changes on purpose what a run comes to sets
//! `FLASHWATT_UPDATE_GOLDEN=1` once, and reads the difference before committing it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{self, PRESETS, mixed, tier};
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::Config;
use sha2::{Digest, Sha256};

/// Runs small enough for every test run, and different enough to reach most of the engine.
fn cases() -> Vec<(String, Config)> {
    let mut cases: Vec<_> = PRESETS.iter().map(|name| (name.to_string(), mixed(name, &[]))).collect();
    // Random writes until the steady state make it copy 200 pages for each one that the host writes: that would take most of the test's time.
    let superblock = [
        "ftl.superblock.log_fraction=0.1",
        "ftl.superblock.idle_merge_start_ns=50000000",
        "run.precondition=\"filled\"",
    ];
    let variants: [(&str, &[&str]); 21] = [
        ("cost-benefit", &["gc.policy=\"cost_benefit\"", "run.count_drain=true"]),
        ("random", &["gc.policy=\"random\"", "run.seed=7"]),
        ("d-choices", &["gc.policy.d_choices.d=3", "wear.policy=\"dynamic\""]),
        ("window", &["gc.policy.window.w=0.3", "ftl.page.frontiers=\"shared\""]),
        ("static-swap", &["wear.policy=\"static_swap\"", "wear.min_gap=1", "gc.policy=\"fifo\""]),
        ("sub-page", &["ftl.page.map_unit_bytes=1024", "controller.policy=\"reads_first\""]),
        ("copyback", &["device.nand.copyback=true", "controller.policy=\"in_order\"", "gc.preemptible=false"]),
        ("link", &["device.host_link.bandwidth_mb_s=123.456", "device.timing.channel_switch_ns=5000"]),
        ("poisson", &["workload.uniform.rate_per_s=3000.5", "ftl.page.allocation=\"static\""]),
        ("write-buffer", &["write_buffer.bytes=262144"]),
        ("steady", &["run.precondition=\"steady\"", "workload.uniform.queue_depth=7"]),
        ("fast", &["ftl=\"fast\""]),
        ("last", &["ftl=\"last\"", "wear.policy=\"static_swap\"", "wear.min_gap=1"]),
        ("dftl", &["device.op_ratio=0.3", "ftl.dftl.cmt_entries=500", "ftl.dftl.cache=\"segmented_lru\""]),
        ("rftl", &["device.op_ratio=0.3", "ftl.rftl.cmt_entries=500", "ftl.rftl.replicas=2"]),
        ("tpftl", &["device.op_ratio=0.3", "ftl.tpftl.cmt_bytes=4096"]),
        ("block", &["ftl=\"block\""]),
        ("nftl", &["ftl.nftl.replacement_fraction=0.1"]),
        ("bast", &["ftl.bast.log_fraction=0.1", "wear.policy=\"static_swap\"", "wear.min_gap=1"]),
        ("bast_star", &["ftl.bast_star.partial_merges=false", "device.nand.program_order=\"any\""]),
        ("superblock", &superblock),
    ];
    cases.extend(variants.iter().map(|(name, sets)| (name.to_string(), mixed("limit", sets))));
    cases
}

/// A run's report and operation log, as bytes.
fn run(config: &Config, tag: &str) -> (Vec<u8>, Vec<u8>) {
    static RUNS: AtomicU64 = AtomicU64::new(0); // tests run side by side
    let unique = RUNS.fetch_add(1, Ordering::Relaxed);
    let log = std::env::temp_dir().join(format!("flashwatt-determinism-{}-{unique}-{tag}.csv", std::process::id()));
    let options = RunOptions { op_log: Some(log.clone()), series_interval_ns: Some(0), ..RunOptions::default() };
    let report = flashwatt::run(config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{tag}: {error}"));
    assert_eq!(report.status, "complete", "{tag}");
    let bytes = std::fs::read(&log).expect("the log is there");
    drop(std::fs::remove_file(&log));
    (json(&report), bytes)
}

fn json(report: &Report) -> Vec<u8> {
    serde_json::to_vec(report).expect("a report is JSON")
}

/// Every case in the soak; in `make test` each fourth. There `runs_are_those_of_the_golden_file` compares each case with a run of
/// another process, and fails for whatever makes two runs differ.
fn some_cases() -> impl Iterator<Item = (String, Config)> {
    let every = if tier::soak().is_some() { 1 } else { 4 };
    cases().into_iter().step_by(every)
}

/// Law 9: two runs give the same bytes of report and operation log; another seed gives others.
#[test]
fn two_runs_are_alike_byte_for_byte() {
    for (name, config) in some_cases() {
        let (first, second) = (run(&config, &name), run(&config, &name));
        assert!(first == second, "{name}: two runs differ");
        let config = config.changed(|config| config.run.seed += 1);
        assert!(run(&config, &name).1 != first.1, "{name}: the seed matters");
    }
}

/// The report of a run with all observers at once, without what they record, is that of a run without any.
#[test]
fn observers_together_change_nothing() {
    for (name, config) in cases() {
        let logged = std::env::temp_dir().join(format!("flashwatt-together-{}-{name}.csv", std::process::id()));
        let options = RunOptions {
            op_log: Some(logged.clone()),
            series_interval_ns: Some(12_345),
            latency_histogram: true,
            check: true,
            ..RunOptions::default()
        };
        let mut watched = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
        drop(std::fs::remove_file(&logged));
        assert!(watched.series.take().is_some() && watched.latency_histogram.take().is_some());
        assert!(json(&watched) == json(&common::run_plain(&config)), "{name}: observers change the report");
    }
}

/// Each observer alone changes nothing: an operation log, a power series, the shadow check, a probe of one's own. What two of them
/// change together is found by `observers_together_change_nothing`, which tries every case in `make test`, too.
#[test]
fn observers_change_nothing() {
    for (name, config) in some_cases() {
        let plain = json(&common::run_plain(&config));
        let logged = std::env::temp_dir().join(format!("flashwatt-observers-{}-{name}.csv", std::process::id()));
        let options = RunOptions { op_log: Some(logged.clone()), ..RunOptions::default() };
        let with_log = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
        drop(std::fs::remove_file(&logged));
        assert!(json(&with_log) == plain, "{name}: an operation log changes the report");
        let options = RunOptions { series_interval_ns: Some(12_345), ..RunOptions::default() };
        let mut with_series = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
        with_series.series = None;
        assert!(json(&with_series) == plain, "{name}: a power series changes the report");
        let options = RunOptions { latency_histogram: true, ..RunOptions::default() };
        let mut with_histogram = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
        assert!(with_histogram.latency_histogram.take().is_some());
        assert!(json(&with_histogram) == plain, "{name}: a histogram changes the report");
        let checked = RunOptions { check: true, ..RunOptions::default() };
        let with_check = flashwatt::run(&config, &checked, &mut |_| true).expect("it runs");
        assert!(json(&with_check) == plain, "{name}: the shadow check changes the report");
        assert!(json(&common::run_own(&config).0) == plain, "{name}: a probe changes the report");
    }
}

fn golden_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/runs.sha256")
}

/// The hashes of a run: of the report without what changes with every version and every new key of the configuration, and
/// of the operation log.
fn hashes(name: &str, config: &Config) -> String {
    let (report, log) = run(config, name);
    let mut report: serde_json::Value = serde_json::from_slice(&report).expect("a report is JSON");
    let keys = report.as_object_mut().expect("a report is an object");
    for key in ["version", "config", "config_sha256"] {
        assert!(keys.remove(key).is_some(), "{key}");
    }
    let report = serde_json::to_vec(&report).expect("it was JSON");
    format!("{name} report {:x} log {:x}\n", Sha256::digest(report), Sha256::digest(log))
}

/// Law 9: every build, debug and release, on any machine, reproduces the committed hashes.
#[test]
fn runs_are_those_of_the_golden_file() {
    let found: String = cases().iter().map(|(name, config)| hashes(name, config)).collect();
    if std::env::var_os("FLASHWATT_UPDATE_GOLDEN").is_some() {
        std::fs::write(golden_file(), &found).expect("the golden file is written");
    }
    let golden = std::fs::read_to_string(golden_file()).expect("tests/golden/runs.sha256 is there");
    for (found, golden) in found.lines().zip(golden.lines()) {
        assert_eq!(
            found, golden,
            "if this is on purpose: FLASHWATT_UPDATE_GOLDEN=1 cargo test --features internals --test all determinism"
        );
    }
    assert_eq!(found.lines().count(), golden.lines().count());
}
