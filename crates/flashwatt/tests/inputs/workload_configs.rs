//! Workloads by configuration: accepted and refused settings, messages, and a run of each workload.

use std::io::Write;

use crate::common::load;
use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt::config::{self, LengthUnit, TimeUnit, Workload};
use flashwatt::run;
use flashwatt_base::registry::Named;
use flashwatt_core::connector::SourceKind;
use flashwatt_workload::registry;

/// A drive that is small enough to run every workload on it.
const SMALL: &str = "[device]\npreset = \"limit\"\nchannels = 2\nways = 2\nblocks_per_plane = 64\nop_ratio = 0.3\n";

fn refused(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    match config::load(text, "my.toml", &sets) {
        Err(Error::Config(faults)) => faults.iter().map(|fault| format!("{fault}\n")).collect(),
        other => panic!("{text} {sets:?}: {other:?}"),
    }
}

/// Broken configurations, and the parts of one line of the message.
const BROKEN: &[(&str, &[&str])] = &[
    ("[workload.zipf]\ntheta = \"steep\"\n", &["my.toml:2:1: workload.zipf.theta", "\"steep\"", "a number"]),
    ("[workload.zipf]\nthetta = 1\n", &["my.toml:2:1: workload.zipf.thetta", "did you mean `theta`?"]),
    ("[workload.zipf]\ntheta = 9\n", &["my.toml:2:1: workload.zipf.theta", "0.0 to 5.0"]),
    ("[workload.zipf]\nskew = 0.2\n", &["my.toml:2:1: workload.zipf.skew", "unknown key", "`theta`"]),
    ("[workload.zipf]\nscattered = 0.5\n", &["my.toml:2:1: workload.zipf.scattered", "a whole number"]),
    ("[workload.zipff]\n", &["my.toml:1:11: workload.zipff", "did you mean `zipf`?"]),
    ("[workload.hot_cold]\nhot_fraction = 1.5\n", &["my.toml:2:1: workload.hot_cold.hot_fraction"]),
    (
        "[workload.zipf]\nsequential = true\n",
        &["my.toml:2:1: workload.zipf.sequential", "uniform", "workload.sequential"],
    ),
    ("[workload.uniform]\nrequest_bytes = []\n", &["my.toml:2:1: workload.uniform.request_bytes", "[[4096, 0.7]"]),
    ("[workload.uniform]\nrequest_bytes = [[4096]]\n", &["my.toml:2:18: workload.uniform.request_bytes", "a pair"]),
    ("[workload.uniform]\nrequest_bytes = [[4096, 1, 2]]\n", &["my.toml:2:18", "a pair [bytes, share]"]),
    ("[workload.uniform]\nrequest_bytes = [[-1, 1]]\n", &["my.toml:2:", "workload.uniform.request_bytes", "-1"]),
    ("[workload.uniform]\nread_bytes = [[100, 1]]\n", &["my.toml:2:1: workload.uniform.read_bytes", "512"]),
    ("[workload.uniform]\nwrite_bytes = [[512, -1]]\n", &["my.toml:2:1: workload.uniform.write_bytes", "above 0"]),
    (
        "[workload.uniform]\nwrite_bytes = \"four\"\n",
        &["my.toml:2:1: workload.uniform.write_bytes", "a list [[bytes, share]"],
    ),
    ("[workload.uniform]\nread_bytes = 1_000_000_000_000\n", &["my.toml:2:1", "longer than the range"]),
    ("[workload.zipf]\nburst_mean = 4\n", &["my.toml:2:1: workload.zipf.burst_mean", "rate_per_s"]),
    ("[workload.zipf]\nrate_per_s = 10\nburst_mean = 0.5\n", &["my.toml:3:1: workload.zipf.burst_mean", "1.0 to"]),
    (
        "[workload.zipf]\nrate_per_s = 10\ngaps = \"even\"\n",
        &["my.toml:3:1: workload.zipf.gaps", "`even`", "`constant`"],
    ),
    ("[workload.zipf]\nrate_per_s = 10\non_ns = 1e9\n", &["my.toml:3:1: workload.zipf.on_ns", "off_ns"]),
    (
        "[workload.zipf]\nrate_per_s = 1\non_ns = 100\noff_ns = 100\n",
        &["my.toml:3:1: workload.zipf.on_ns", "too short", "at least 100000"],
    ),
    ("[workload.zipf]\nrate_per_s = 10\nqueue_depth = 4\n", &["not determined", "queue_depth and rate_per_s"]),
    (
        "[workload.sequential]\nstreams = 60_000\nrange_bytes = 4_096_000\n",
        &["my.toml:2:1: workload.sequential.streams", "too small", "4096 bytes"],
    ),
    ("[workload.standin]\n", &["workload.standin.name", "missing", "financial1"]),
    ("[workload.standin]\nname = \"financial3\"\n", &["my.toml:2:1: workload.standin.name", "did you mean `financial"]),
    ("[workload.standin]\nname = \"gimp\"\nscale = 2\n", &["my.toml:3:1: workload.standin.scale", "1.0"]),
    (
        "[device]\npreset = \"energysim\"\n[workload.standin]\nname = \"msnfs\"\n",
        &["my.toml:4:1: workload.standin.name", "a larger drive", "scale = 0.015625"],
    ),
    ("workload = \"fio\"\n", &["workload.fio.path", "missing"]),
    ("[workload.fio]\nfile = \"a\"\n", &["my.toml:2:1: workload.fio.file", "unknown key", "`path`"]),
    ("[run.precondition.zipf]\ntheta = 9\n", &["my.toml:2:1: run.precondition.zipf.theta"]),
    ("[run.precondition.zip]\n", &["my.toml:1:19: run.precondition.zip", "`filled`", "did you mean `zipf`?"]),
    ("[workload.zipf]\n[workload.uniform]\n", &["workload", "several names"]),
    ("workload = 3\n", &["my.toml:1:1: workload", "found 3", "`zipf`"]),
    ("[workload]\nzipf = 3\n", &["my.toml:2:1: workload.zipf", "found 3", "a table"]),
];

#[test]
fn every_fault_is_named() {
    for (text, parts) in BROKEN {
        let message = refused(text, &[]);
        let named = message.lines().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(named, "{text}: {parts:?} not in\n{message}");
    }
}

#[test]
fn overrides_reach_models_and_drop_rivals() {
    let text = format!("{SMALL}[workload.zipf]\nqueue_depth = 4\ntheta = 1.2\n");
    let Workload::Synthetic(zipf) = load(&text, &["workload.zipf.rate_per_s=10"]).workload else { panic!() };
    assert_eq!((zipf.model.name, zipf.parameter("theta")), ("zipf", 1.2));
    assert!(matches!(zipf.arrivals, config::Arrivals::Open(_)));
    let Workload::Synthetic(other) = load(&text, &["workload=hot_cold"]).workload else { panic!() };
    assert_eq!(other.model.name, "hot_cold", "another name replaces the table");
}

#[test]
fn sequential_is_a_model_that_uniform_can_stand_for() {
    let named = load(SMALL, &["workload.uniform.sequential=true", "workload.uniform.requests=9"]);
    let model = load(SMALL, &["workload.sequential.requests=9"]);
    let (Workload::Synthetic(named), Workload::Synthetic(model)) = (named.workload, model.workload) else { panic!() };
    assert_eq!((named.model.name, model.model.name), ("sequential", "sequential"));
    assert_eq!(named.region(), model.region());
}

/// The configuration in a report has the workload under its name, with all parameters.
#[test]
fn a_report_shows_the_workload_under_its_name() {
    let config = load(SMALL, &["workload.zipf.theta=1.5", "workload.zipf.requests=10"]);
    let json = serde_json::to_value(&config).expect("a configuration is JSON");
    assert_eq!(json["workload"]["zipf"]["theta"], 1.5);
    assert_eq!(json["workload"]["zipf"]["scattered"], 1.0, "the default too");
}

fn job_file(text: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("flashwatt-{}-{}.fio", std::process::id(), text.len()));
    let mut file = std::fs::File::create(&path).expect("a temporary file");
    file.write_all(text.as_bytes()).expect("it is written");
    path
}

/// Every registered workload runs on a small drive under the shadow check, both as the workload and as the start state.
/// Traces have tests of their own.
#[test]
fn every_workload_runs_under_the_shadow_check() {
    let job = job_file(
        "[mix]\nrw=randrw\nsize=1m\niodepth=8\nfsync=10\n[too]\nrw=read\nsize=64k\n[last]\nstonewall\nrw=randtrim\nsize=1m\n",
    );
    for name in registry().map(Named::name).filter(|name| *name != "trace") {
        let keys = |table: &str| match name {
            "fio" => vec![format!("{table}.fio.path={}", job.display())],
            "files" => vec![format!("{table}.files.operations=300"), format!("{table}.files.set.nfiles=200")],
            "standin" => vec![format!("{table}.standin.name=financial2"), format!("{table}.standin.requests=1500")],
            name => ["requests=1500", "read_fraction=0.4", "trim_fraction=0.1"]
                .map(|key| format!("{table}.{name}.{key}"))
                .to_vec(),
        };
        let sets = [keys("workload"), keys("run.precondition")].concat();
        let config = load(SMALL, &sets.iter().map(String::as_str).collect::<Vec<_>>());
        let options = RunOptions { check: true, ..RunOptions::default() };
        let report = run(&config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(report.status, "complete", "{name}");
        let kind = match name {
            "standin" => SourceKind::Standin,
            "files" => SourceKind::Filesystem,
            _ => SourceKind::Synthetic,
        };
        assert_eq!(report.workload.kind, kind, "{name}");
        if name == "fio" {
            // 256 requests of the mix and 16 reads, then 256 trims. As fio 3.33 does, a flush follows the tenth write
            // and each further request until the eleventh.
            let workload = &report.workload;
            assert_eq!((workload.reads + workload.writes, workload.trims), (272, 256));
            assert_eq!((workload.writes, workload.flushes), (118, 24));
            assert!(workload.input_sha256.is_some() && workload.name.ends_with(".fio"));
        } else if name == "files" {
            assert_eq!(report.files.map(|files| files.operations.count), Some(300));
        } else {
            assert_eq!(report.workload.requests, 1500, "{name}");
        }
    }
    drop(std::fs::remove_file(job));
}

/// A fault in a job file is reported with its line when the run starts.
#[test]
fn a_broken_job_file_is_named() {
    let job = job_file("[a]\nrw=sideways\n");
    let config = load(SMALL, &[&format!("workload.fio.path={}", job.display())]);
    let Err(error) = run(&config, &RunOptions::default(), &mut |_| true) else { panic!("it ran") };
    let message = error.to_string();
    drop(std::fs::remove_file(job));
    assert!(message.contains(".fio:2: rw") && message.contains("`sideways`"), "{message}");
    let config = load(SMALL, &["workload.fio.path=/nowhere/at/all.fio"]);
    let Err(error) = run(&config, &RunOptions::default(), &mut |_| true) else { panic!("it ran") };
    assert!(error.to_string().contains("/nowhere/at/all.fio"), "{error}");
}

#[test]
fn a_run_of_a_month_can_be_asked_for() {
    let month = ["run.measure.seconds=2_592_000".to_string()];
    let config = flashwatt::config::load("", "t", &month).expect("a month is less than a year");
    assert_eq!(config.run.measure.span.ns, Some(2_592_000_000_000_000));
    let error = flashwatt::config::load("", "t", &["run.measure.seconds=1e8".to_string()]).expect_err("three years");
    assert!(error.to_string().contains("run.measure.seconds: out of range; found 100000000"), "{error}");
}

#[test]
fn a_trace_has_the_units_that_a_configuration_names() {
    let text =
        "[workload.trace]\npath = \"a\"\ntime_unit = \"100ns\"\noffset_unit = \"sectors\"\nsize_unit = \"16kib\"";
    let config = config::load(text, "my.toml", &[]).expect("a configuration");
    let Workload::Trace(cfg) = config.workload else { panic!("a trace") };
    let given = (cfg.time_unit, cfg.offset_unit, cfg.size_unit);
    let expected = (TimeUnit::HundredNanoseconds, LengthUnit::Sectors, LengthUnit::SixteenKib);
    assert_eq!(given, (Some(expected.0), Some(expected.1), Some(expected.2)));
    let told = refused("[workload.trace]\npath = \"a\"\ntime_unit = \"min\"", &[]);
    assert!(told.starts_with("my.toml:3:") && told.contains("`min`") && told.contains("100ns"), "{told}");
    let told = refused("[workload.trace]\npath = \"a\"\nformat = \"vscsi\"\nsize_unit = \"bytes\"", &[]);
    assert!(told.starts_with("my.toml:4:") && told.contains("the format vscsi is binary"), "{told}");
}
