//! Runs that end when their figures are known.

use serde_json::Value;

use flashwatt::config::{self, Config};
use flashwatt::precision::EndedBy;
use flashwatt::{Report, RunOptions, run, run_against};

/// A drive of 4 dies and 64 MB, and what is asked for.
const DRIVE: &[&str] = &[
    "device.preset=limit",
    "device.channels=2",
    "device.ways=2",
    "device.blocks_per_plane=64",
    "device.pages_per_block=64",
    "workload.uniform.requests=4000000",
    "workload.uniform.queue_depth=8",
];

fn drive(sets: &[&str]) -> Config {
    let sets: Vec<String> = DRIVE.iter().chain(sets).map(ToString::to_string).collect();
    config::load("", "test.toml", &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn ran(config: &Config) -> Report {
    run(config, &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn asked(figures: &str, sets: &[&str]) -> Config {
    let figures = format!("run.measure.precision.figures=[{figures}]");
    drive(&[&[figures.as_str()], sets].concat())
}

fn json(report: &Report) -> Value {
    serde_json::to_value(report).expect("every report is JSON")
}

/// The figure of a dotted key.
fn figure(report: &Value, key: &str) -> f64 {
    key.split('.').fold(report, |of, name| &of[name]).as_f64().unwrap_or_else(|| panic!("{key}"))
}

const WRITES: &[&str] = &["workload.uniform.read_fraction=0", "run.precondition=steady"];
const READS: &[&str] = &["workload.uniform.read_fraction=1"];

#[test]
fn a_run_ends_when_its_figures_are_known() {
    let keys = ["throughput.iops", "flash.write_amplification", "latency_ns.write.mean", "efficiency.j_per_gb"];
    let keys = [&keys[..], &["power_w.mean", "latency_ns.write.p50", "efficiency.iops_per_w", "throughput.write_mb_s"]]
        .concat();
    let list: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
    let report = ran(&asked(&list.join(","), WRITES));
    let precision = report.precision.as_ref().expect("it was asked for");
    assert_eq!((report.status.as_str(), precision.ended_by), ("complete", EndedBy::Precision));
    assert!(report.window.measured < 400_000, "{} requests", report.window.measured);
    let (figures, report) = (precision.figures.as_ref().expect("the window is long"), json(&report));
    assert_eq!(figures.iter().map(|figure| figure.key).collect::<Vec<_>>(), keys);
    for of in figures {
        let whole = figure(&report, of.key);
        assert!((whole / of.value - 1.0).abs() < 1e-9, "{}: {whole} in the report, {} judged", of.key, of.value);
        let (lower, upper) = (of.lower.expect("known"), of.upper.expect("known"));
        assert!(lower < of.value && of.value < upper, "{of:?}");
        assert!((0.0099..=0.02).contains(&of.relative_error.expect("known")), "{of:?}");
    }
}

/// What a rule looks at changes nothing: the same window, given as numbers of requests, has the same figures.
#[test]
fn looking_changes_nothing() {
    let cases: [(&[&str], &str); 4] = [
        (WRITES, "\"flash.write_amplification\""),
        (READS, "\"latency_ns.read.p99\",\"power_w.mean\""),
        (&["workload.uniform.read_fraction=0", "run.precondition=filled"], "\"throughput.iops\""),
        (
            &["workload.uniform.read_fraction=0.5", "run.precondition=steady", "host.scheduler=mq_deadline"],
            "\"throughput.iops\"",
        ),
    ];
    for (sets, figures) in cases {
        let by_rule = ran(&asked(figures, sets));
        let window = &by_rule.window;
        let bounds =
            [format!("run.warmup.requests={}", window.warmup), format!("run.measure.requests={}", window.measured)];
        let by_number = ran(&drive(&[sets, &[&bounds[0], &bounds[1]]].concat()));
        let (mut a, mut b) = (json(&by_rule), json(&by_number));
        for report in [&mut a, &mut b] {
            let table = report.as_object_mut().expect("a report is a table");
            for key in ["config", "config_sha256", "precision", "warnings", "not_steady"] {
                table.remove(key);
            }
        }
        assert_eq!(a, b, "{sets:?}");
    }
}

#[test]
fn a_bound_that_comes_first_is_said() {
    let report = ran(&asked("\"throughput.iops\"", &[WRITES, &["run.measure.requests=6000"]].concat()));
    assert_eq!(report.precision.as_ref().map(|precision| precision.ended_by), Some(EndedBy::Bound));
    assert_eq!(report.window.warmup + report.window.measured, 6_000);
    let said = report.warnings.iter().find(|warning| warning.contains("known")).expect("a warning");
    assert!(
        said.starts_with("the run ended before its figures were known to 2.00 %: known is throughput.iops to"),
        "{said}"
    );
    let short = ran(&asked("\"throughput.iops\"", &[WRITES, &["run.measure.requests=60"]].concat()));
    let said = short.warnings.iter().find(|warning| warning.contains("known")).expect("a warning");
    assert!(said.contains("it has no interval"), "{said}");
    assert!(short.precision.expect("asked for").figures.is_none());
    let seconds = ran(&asked("\"throughput.iops\"", &[WRITES, &["run.measure.seconds=0.5"]].concat()));
    assert_eq!(seconds.precision.as_ref().map(|precision| precision.ended_by), Some(EndedBy::Bound));
    assert!((seconds.throughput.simulated_s - 0.5).abs() < 1e-9, "{}", seconds.throughput.simulated_s);
}

/// The bounds count from the end of the warm-up that the configuration asks for: what is found to be warm-up is part of them.
#[test]
fn the_start_state_is_worn_off_first() {
    let sets = ["workload.uniform.read_fraction=0", "run.precondition=filled"];
    let config = asked("\"throughput.iops\"", &sets);
    let report = ran(&config);
    let found = report.precision.as_ref().expect("asked for").found_warmup;
    let pages = config.logical_bytes() / 4096;
    assert!(
        (2 * pages..2 * pages + 1024).contains(&found.turnover_requests),
        "twice the drive's {pages} pages: {found:?}"
    );
    assert!(found.requests >= found.turnover_requests);
    assert_eq!(report.window.warmup, found.requests);
    let waves = 4 * 4 * 64; // four waves of a block of 64 pages on each of four dies
    for (settled, requests) in [(WRITES, waves), (READS, 0)] {
        let found = ran(&asked("\"throughput.iops\"", settled)).precision.expect("asked for").found_warmup;
        assert_eq!(found.turnover_requests, requests, "{settled:?}");
    }
    let half = format!("run.warmup.requests={pages}");
    let after = ran(&asked("\"throughput.iops\"", &[&sets[..], &[&half]].concat()));
    let found = after.precision.as_ref().expect("asked for").found_warmup;
    assert!(found.turnover_requests < pages + 1024, "half of it was the warm-up: {found:?}");
    let bound = format!("run.measure.requests={}", 2 * pages + 512);
    let bounded = ran(&asked("\"throughput.iops\"", &[&sets[..], &[&bound]].concat()));
    assert_eq!(bounded.window.warmup + bounded.window.measured, 2 * pages + 512);
}

#[test]
fn at_least_these_requests_are_measured() {
    let free = ran(&asked("\"throughput.iops\"", READS)).window.measured;
    let least = format!("run.measure.precision.least_requests={}", 3 * free);
    let bound = ran(&asked("\"throughput.iops\"", &[READS, &[&least]].concat())).window.measured;
    assert!(free < 100_000 && bound >= 3 * free, "{free}, {bound}");
}

#[test]
fn narrower_intervals_take_longer() {
    let requests = |error: &str| {
        let error = format!("run.measure.precision.relative_error={error}");
        ran(&asked("\"flash.write_amplification\"", &[WRITES, &[&error]].concat())).window.measured
    };
    let [wide, narrow] = ["\"5%\"", "0.005"].map(requests);
    assert!(narrow > 4 * wide, "{wide} requests to 5 %, {narrow} to 0.5 %");
}

#[test]
fn a_run_is_compared_with_another_one() {
    let figures = "\"throughput.iops\",\"flash.write_amplification\",\"latency_ns.write.p50\"";
    let run_of = |sets: &[&str]| asked(figures, &[WRITES, sets].concat());
    let compared = |run: &Config, with: &Config| {
        let report = run_against(run, with, &RunOptions::default(), &mut |_| true);
        report.unwrap_or_else(|error| panic!("{error}"))
    };
    let (greedy, fifo) = (run_of(&[]), run_of(&["gc.policy=fifo"]));
    let report = compared(&fifo, &greedy);
    let precision = report.precision.as_ref().expect("asked for");
    let against = precision.against.as_ref().expect("compared");
    assert_eq!((precision.ended_by, &against.config_sha256), (EndedBy::Precision, &ran_as(&greedy, &fifo)));
    let differences = against.differences.as_ref().expect("known");
    let [iops, amplification, p50] = &differences[..] else { panic!("{differences:?}") };
    assert!(iops.value < 0.0 && amplification.value > 0.0, "{differences:?}");
    assert!([iops, amplification, p50].iter().all(|one| one.relative_error <= 0.02 && one.lower < one.upper));
    let whole = json(&report);
    assert!((figure(&whole, "throughput.iops") - (iops.baseline + iops.value)).abs() < 1e-6 * iops.baseline);
    assert_eq!(json(&compared(&fifo, &greedy)), whole, "the same bytes again");

    let itself = compared(&greedy, &greedy);
    let of = itself.precision.expect("asked for").against.expect("compared").differences.expect("known");
    assert!(of.iter().all(|one| one.value == 0.0), "{of:?}");
    assert!(itself.window.measured < ran(&greedy).window.measured, "the difference of equal runs is known at once");
}

/// The hash of a configuration that is judged by the precision of another one, which is the same here.
fn ran_as(config: &Config, _: &Config) -> String {
    config.sha256()
}

#[test]
fn runs_that_cannot_be_compared_are_refused() {
    let run = asked("\"flash.write_amplification\"", WRITES);
    let refused = |run: &Config, with: &Config| {
        run_against(run, with, &RunOptions::default(), &mut |_| true).expect_err("refused").to_string()
    };
    assert!(
        refused(&run, &asked("\"throughput.iops\"", &["run.seed=2"]))
            .contains("run.seed: runs that are compared draw alike")
    );
    assert!(refused(&drive(&[]), &run).contains("run.measure.precision: a difference is measured to a precision"));
    let disk =
        config::load("device.preset = \"laptop-7200\"", "disk.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(refused(&run, &disk).contains("only the report of one SSD has this figure"));
}

/// The other run ends with its workload: there is no difference beyond that.
#[test]
fn the_shorter_run_ends_both() {
    let fifo = |sets: &[&str]| asked("\"throughput.iops\"", &[WRITES, &["gc.policy=fifo"], sets].concat());
    let exact = "run.measure.precision.relative_error=0.0001";
    let run = asked("\"throughput.iops\"", &[WRITES, &[exact]].concat());
    for (run, with) in [
        (run, fifo(&["workload.uniform.requests=20000"])),
        (fifo(&["run.measure.requests=20000", exact]), asked("\"throughput.iops\"", WRITES)),
    ] {
        let report = run_against(&run, &with, &RunOptions::default(), &mut |_| true);
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        let precision = report.precision.as_ref().expect("asked for");
        assert_eq!(precision.ended_by, EndedBy::Bound);
        assert!(report.window.measured <= 20_200, "{}", report.window.measured);
        assert!(precision.against.as_ref().is_some_and(|against| against.differences.is_some()));
        assert!(report.warnings.iter().any(|warning| warning.contains("the run ended before its figures were known")));
    }
}

#[test]
fn a_run_that_is_stopped_stops_both() {
    let run = asked("\"throughput.iops\"", &[WRITES, &["run.measure.precision.relative_error=0.0001"]].concat());
    let mut calls = 0;
    let report = run_against(&run, &run, &RunOptions::default(), &mut |told| {
        calls += u32::from(told.requests_done > 0 && told.preparing.is_none());
        calls < 2
    });
    assert_eq!(report.unwrap_or_else(|error| panic!("{error}")).status, "interrupted");
}

#[test]
fn a_disk_and_an_array_end_by_their_figures() {
    let precision = "run.measure.precision.figures=[\"latency_ns.read.mean\",\"power_w.mean\"]";
    let reads = ["workload.uniform.read_fraction=1", "workload.uniform.requests=1000000"].map(String::from);
    let of = |text: &str| {
        let sets = [&reads[..], &[precision.to_string()]].concat();
        ran(&config::load(text, "other.toml", &sets).unwrap_or_else(|error| panic!("{error}")))
    };
    let array = "[device]\npreset = \"limit\"\n[array]\nlevel = \"raid0\"\nmembers = 2";
    for text in ["device.preset = \"laptop-7200\"", array] {
        let report = of(text);
        assert_eq!(report.precision.as_ref().map(|precision| precision.ended_by), Some(EndedBy::Precision), "{text}");
        let whole = json(&report);
        for of in report.precision.iter().flat_map(|precision| precision.figures.iter().flatten()) {
            assert!((figure(&whole, of.key) / of.value - 1.0).abs() < 1e-9, "{text}: {of:?}");
        }
    }
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = DRIVE.iter().chain(sets).map(ToString::to_string).collect();
        config::load("", "test.toml", &sets).expect_err("refused").to_string()
    };
    let figures = |list: &str| refused(&[&format!("run.measure.precision.figures=[{list}]")]);
    assert!(
        figures("\"throughput.iop\"").contains("did you mean `throughput.iops`"),
        "{}",
        figures("\"throughput.iop\"")
    );
    assert!(figures("").contains("an empty list"));
    assert!(figures("\"power_w.mean\",\"power_w.mean\"").contains("a figure is given twice"));
    assert!(refused(&["run.measure.precision.relative_error=0"]).contains("out of range"));
    assert!(refused(&["run.measure.precision.confidence=\"100%\""]).contains("out of range"));
    assert!(refused(&["run.warmup.precision.relative_error=0.01"]).contains("unknown key"));
    let drain = refused(&["run.measure.precision.relative_error=0.01", "run.count_drain=true"]);
    assert!(drain.contains("run.measure.precision: a run cannot have both; found run.count_drain"), "{drain}");
    let cuts = refused(&["run.measure.precision.relative_error=0.01", "run.power_cuts.cuts=3"]);
    assert!(cuts.contains("found run.power_cuts"), "{cuts}");
}
