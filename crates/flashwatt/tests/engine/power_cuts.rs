//! `[run.power_cuts]`: the cuts of a run change nothing else in its report, and are those of `crash`.

use flashwatt::Error;
use flashwatt::Preparation;
use flashwatt::Progress;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::{Config, Cuts, PowerCuts, load};
use flashwatt::crash::crash;
use flashwatt::report::PowerCutsReport;
use flashwatt::reprice;
use flashwatt::run;
use serde_json::Value;

use crate::common::{Script, small_drive};

const CAPACITORS: [&str; 2] = ["write_buffer.bytes=65536", "write_buffer.protection=\"capacitors\""];

const JOURNAL: [&str; 2] = [CAPACITORS[0], "write_buffer.protection=\"journal\""];

fn config_of(sets: &[&str]) -> Config {
    small_drive(&[&["workload.uniform.requests=300"], sets].concat())
}

fn report(sets: &[&str]) -> Report {
    run(&config_of(sets), &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// The report without the power cuts, and without what names them.
fn without_cuts(report: &Report) -> String {
    let mut json = serde_json::to_value(report).expect("a report is JSON");
    let table = json.as_object_mut().expect("a table");
    ["config", "config_sha256", "power_cuts"].iter().for_each(|key| drop(table.shift_remove(*key)));
    json.to_string()
}

fn cuts(report: &Report) -> &PowerCutsReport {
    report.power_cuts.as_deref().expect("its power was cut")
}

#[test]
fn every_other_figure_is_that_of_the_run_without_cuts() {
    for ftl in ["ftl=page", "ftl=dftl", "ftl=fast", "ftl=bast"] {
        for buffer in [&[][..], &CAPACITORS[..1], &CAPACITORS[..], &JOURNAL[..]] {
            let sets = [&[ftl], buffer].concat();
            let plain = report(&sets);
            let cut = report(&[&sets[..], &["run.power_cuts.cuts=5", "run.power_cuts.twice=true"]].concat());
            assert_eq!((cut.status.as_str(), plain.power_cuts.is_none()), ("complete", true));
            assert_eq!(without_cuts(&cut), without_cuts(&plain), "{sets:?}");
            assert_eq!(cuts(&cut).cuts, 5);
        }
    }
}

#[test]
fn the_cuts_are_those_of_a_campaign() {
    let sets = ["ftl=fast", CAPACITORS[0], CAPACITORS[1], "run.power_cuts.cuts=7", "run.power_cuts.twice=true"];
    let (of_run, config) = (report(&sets), config_of(&sets));
    let options = PowerCuts { cuts: Cuts::Random(7), twice: true, ..PowerCuts::default() };
    let campaign = crash(&config, &options, &mut |_| true).expect("a campaign");
    let rows = serde_json::to_value(&campaign).expect("JSON");
    let rows = rows["cuts"].as_array().expect("a list");
    let section = serde_json::to_value(cuts(&of_run)).expect("JSON");
    let figures = |row: &Value| row.as_object().expect("a table").iter().filter(|(_, value)| value.is_number()).count();
    assert_eq!((figures(&rows[0]), figures(&rows[0]["again"])), (22, 15));
    for (rows, section) in
        [(rows.clone(), &section), (rows.iter().map(|row| row["again"].clone()).collect(), &section["second"])]
    {
        for (key, _) in rows[0].as_object().expect("a table").iter().filter(|(_, value)| value.is_number()) {
            let mut values: Vec<f64> = rows.iter().filter_map(|row| row[key].as_f64()).collect();
            values.sort_by(f64::total_cmp);
            let spread = ["min", "median", "p99", "max"].map(|name| section[key][name].as_f64());
            assert_eq!(spread, [0, 3, 6, 6].map(|rank: usize| Some(values[rank])), "{key} of 7 cuts");
        }
    }
}

#[test]
fn cuts_come_at_the_places_that_are_given() {
    let at = report(&["run.power_cuts.at_ns=[3000000, 1000000, \"2ms\"]"]);
    let times = serde_json::to_value(cuts(&at).figure("at_ns")).expect("JSON");
    assert_eq!(times.to_string(), r#"{"min":1000000,"median":2000000,"p99":3000000,"max":3000000}"#);
    let operations = report(&["run.power_cuts.at_operation=[10, 20]"]);
    let reached = serde_json::to_value(cuts(&operations).figure("operations")).expect("JSON");
    assert!(reached["min"].as_u64() >= Some(10) && reached["max"].as_u64() >= Some(20), "{reached}");
    let none = report(&["run.power_cuts.twice=false"]);
    assert_eq!((cuts(&none).cuts, cuts(&none).second.is_none()), (100, true));
}

#[test]
fn a_place_beyond_the_run_fails_it_and_keeps_its_figures() {
    let late = report(&["run.power_cuts.at_ns=[1000, 3600000000000]"]);
    assert!(
        late.status.starts_with("failed: run.power_cuts: crash: the run ends before the power is cut; found 36"),
        "{}",
        late.status
    );
    assert!(late.workload.requests == 300 && late.ssd().energy_j.total > 0.0 && late.power_cuts.is_none());
}

#[test]
fn cuts_that_are_stopped_are_kept() {
    let config = config_of(&["run.power_cuts.cuts=9"]);
    let mut seen = Vec::new();
    let mut stop = |told: &Progress| {
        seen.push(*told);
        told.preparing != Some(Preparation::PowerCuts) || told.requests_done < 4
    };
    let report = run(&config, &RunOptions::default(), &mut stop).expect("a run");
    assert_eq!((report.status.as_str(), cuts(&report).status, cuts(&report).cuts), ("interrupted", "interrupted", 4));
    assert_eq!(report.workload.requests, 300, "the run is whole");
    let last = seen.last().expect("progress was reported");
    assert_eq!((last.requests_done, last.requests_total), (4, Some(9)));
    let long = config_of(&["run.power_cuts.cuts=9", "workload.uniform.requests=40000"]);
    let stopped = run(&long, &RunOptions::default(), &mut |told| told.preparing.is_some()).expect("a run");
    assert_eq!((stopped.status.as_str(), stopped.power_cuts.is_none()), ("interrupted", true));
    assert!(stopped.warnings.iter().any(|warning| warning.contains("the power was not cut")), "{:?}", stopped.warnings);
}

#[test]
fn what_cuts_no_power_says_so() {
    let config = config_of(&["run.power_cuts.cuts=2"]);
    let refused = flashwatt::run::run_with(&config, &RunOptions::default(), &mut Script::new(&[]), &mut |_| true);
    let drive = flashwatt::Drive::new(&config).map(|_| ());
    for error in [refused.map(|_| ()), drive].map(|result| result.expect_err("it is refused").to_string()) {
        assert!(error.starts_with("run.power_cuts: its power is not cut; found a "), "{error}");
    }
}

#[test]
fn a_drive_that_cannot_be_cut_is_refused_with_the_line() {
    let faults = |text: &str| match load(text, "drive.toml", &[]) {
        Err(Error::Config(faults)) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        other => panic!("{other:?}"),
    };
    let cuts = "[run.power_cuts]\ncuts = 3\n";
    for (text, expected) in [
        (
            format!("{cuts}[device]\npreset = \"laptop-7200\"\n"),
            "drive.toml:1:6: run.power_cuts: a hard disk has nothing to recover: a sector stays where it is written",
        ),
        (
            format!("{cuts}[array]\nmembers = [\"x25m\", \"laptop-7200\"]\n"),
            "drive.toml:1:6: run.power_cuts: a hard disk has nothing to recover: a sector stays where it is written",
        ),
        (
            format!("{cuts}[array]\nmembers = 3\nlevel = \"raid5\"\nfailed_member = 1\nspare = \"x25m\"\n"),
            "drive.toml:7:1: array.spare: a cut of an array that fills a spare is not simulated",
        ),
        (
            format!("{cuts}[array]\nmembers = 2\n[host]\nscheduler = \"noop\"\n"),
            "drive.toml:5:2: host: a cut of an array behind a block layer is not simulated",
        ),
        (
            format!("{cuts}[array]\nmembers = 2\n[workload.files]\npersonality = \"varmail\"\n"),
            "drive.toml:5:11: workload.files: a cut of an array under files is not simulated",
        ),
        (
            format!("{cuts}twice = true\n[array]\nmembers = 2\n"),
            "drive.toml:3:1: run.power_cuts.twice: an array is not cut again during its recovery",
        ),
        (
            "[run.power_cuts]\nat_ns = [5]\nwhile_busy = true\n".to_string(),
            "drive.toml:3:1: run.power_cuts.while_busy: has no effect; found run.power_cuts.at_ns beside it",
        ),
        (format!("run.replay = \"flashsim\"\n{cuts}"), "drive.toml:1:5: run.replay: a power cut needs a clock"),
        (
            format!("run.max_flash_ops = 10\n{cuts}"),
            "drive.toml:1:5: run.max_flash_ops: a run that is cut goes to its end",
        ),
        (
            "[run.power_cuts]\ncuts = 3\nat_ns = [1]\n".to_string(),
            "drive.toml:3:1: run.power_cuts.at_ns: says when the power is cut, as another",
        ),
        ("[run.power_cuts]\nat_ns = []\n".to_string(), "drive.toml:2:1: run.power_cuts.at_ns: an empty list"),
        (
            "[run.power_cuts]\nat_operation = [5, 1, 5]\n".to_string(),
            "run.power_cuts.at_operation: a place is given twice; found 5",
        ),
        (
            "[run.power_cuts]\ncuts = 0\n".to_string(),
            "drive.toml:2:1: run.power_cuts.cuts: out of range; found 0; expected 1 to 4294967295",
        ),
        ("[run.power_cuts]\ncut = 1\n".to_string(), "did you mean `cuts`?"),
    ] {
        let found = faults(&text);
        assert!(found.contains(expected), "{text}\n{found}\nexpected {expected}");
    }
}

#[test]
fn repricing_takes_the_energies_of_cuts_away() {
    let json = serde_json::to_string(&report(&[
        CAPACITORS[0],
        CAPACITORS[1],
        "run.power_cuts.cuts=3",
        "run.power_cuts.twice=true",
    ]));
    let priced = reprice(&json.expect("JSON"), "energy.nand.read_ma = 99", "prices.toml").expect("it is repriced");
    let priced: Value = serde_json::from_str(&priced).expect("JSON");
    let gone = ["energy_j", "dump_energy_j", "capacitance_f"].map(|key| &priced["power_cuts"][key]);
    assert!(
        gone.iter().all(|value| value.is_null()) && priced["power_cuts"]["second"]["energy_j"].is_null(),
        "{gone:?}"
    );
    assert!(priced["power_cuts"]["recovery_ns"]["max"].as_u64() > Some(0));
    let nulls = priced["repriced"]["null"].to_string();
    assert!(nulls.contains("\"power_cuts.energy_j\"") && nulls.contains("\"power_cuts.second.energy_j\""), "{nulls}");
}
