//! Arrays of drives: against one drive, by hand, and by conservation.

use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt::run;
use flashwatt::run::{run_array, run_with};
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_workload as workload;
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{Script, load, tier};

/// Four dies without a host link, and no collection in so few requests.
const DRIVE: &str = r#"
[device]
preset = "limit"
channels = 2
ways = 2
planes = 1
blocks_per_plane = 64
pages_per_block = 16
spare_fraction = 0.25
"#;

const CHUNK: u64 = 16_384;

fn config(sets: &[&str]) -> Config {
    load(DRIVE, sets)
}

fn report(sets: &[&str]) -> (Report, Value) {
    report_of(&config(sets))
}

fn report_of(config: &Config) -> (Report, Value) {
    let report = run(config, &RunOptions::default(), &mut |_| true).expect("it runs");
    assert_eq!(report.status, "complete", "{:?}", report.warnings);
    let json = serde_json::to_value(&report).expect("JSON");
    (report, json)
}

fn number(json: &Value, key: &str) -> f64 {
    json.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key} in {json:#}"))
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} instead of {expected}");
}

/// An array of one drive without redundancy is that drive: to the last digit, whatever the chunk.
#[test]
fn an_array_of_one_drive_is_that_drive() {
    for workload in ["uniform", "sequential", "zipf"] {
        let sets = [
            format!("workload.{workload}.requests=3000"),
            format!("workload.{workload}.request_bytes=65536"),
            format!("workload.{workload}.read_fraction=0.4"),
            format!("workload.{workload}.queue_depth=8"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let (alone, _) = report(&sets);
        for chunk in [4_096, CHUNK, 65_536] {
            let chunk = format!("array.chunk_bytes={chunk}");
            let (array, json) = report(&[&sets[..], &["array.members=1", &chunk]].concat());
            assert_eq!(array.latency_ns.all.max, alone.latency_ns.all.max, "{workload}");
            assert_eq!(array.latency_ns.all.mean, alone.latency_ns.all.mean, "{workload}");
            assert_eq!(array.throughput.simulated_s, alone.throughput.simulated_s, "{workload}");
            close(array.power_w.max_1s.expect("a second"), alone.power_w.max_1s.expect("a second"), 1e-12);
            assert_eq!(number(&json, "/energy_j/total"), alone.ssd().energy_j.total, "{workload}");
            assert_eq!(number(&json, "/members/0/flash/programs/total"), alone.ssd().flash.programs.total as f64);
            close(array.energy_integral_j, alone.energy_integral_j, 1e-12);
        }
    }
}

/// Each member that only reads does, alone on the requests that the array gave it, exactly what it did in the array. To record them
/// changes nothing. No member collects: a copy and a read of one instant may go in another order there.
#[test]
fn a_member_alone_does_what_it_did_in_the_array() {
    for level in ["raid0", "raid1", "raid5", "raid10"] {
        let level_key = format!("array.level={level}");
        let load = [
            "workload.uniform.read_fraction=1",
            "workload.uniform.requests=3000",
            "workload.uniform.queue_depth=8",
            "run.precondition=filled",
        ];
        let array = config(&[&load[..], &["array.members=4", &level_key]].concat());
        let mut host = workload::open(&array.workload, array.logical_bytes(), array.run.seed).expect("a workload");
        let (report, received) =
            run_array(&array, &RunOptions::default(), host.as_mut(), &mut |_| true).expect("it runs");
        let (_, plain) = report_of(&array);
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!((&json["latency_ns"], &json["members"]), (&plain["latency_ns"], &plain["members"]));
        assert!(received.iter().all(|requests| requests.len() > 500), "{level}");
        for (place, requests) in received.iter().enumerate() {
            let alone = run_with(&config(&load), &RunOptions::default(), &mut Script::new(requests), &mut |_| true);
            let alone = serde_json::to_value(alone.expect("it runs")).expect("JSON");
            let in_array = &json["members"][place];
            assert_eq!(number(in_array, "/latency_ns/read/count"), requests.len() as f64);
            assert_eq!(
                in_array["latency_ns"],
                serde_json::json!({
                    "read": alone["latency_ns"]["read"], "write": alone["latency_ns"]["write"],
                }),
                "{level}: member {place}"
            );
        }
    }
}

#[test]
fn only_an_array_has_members() {
    let one = config(&["workload.uniform.requests=10"]);
    let error = run_array(&one, &RunOptions::default(), &mut Script::new(&[]), &mut |_| true).expect_err("no array");
    assert!(error.to_string().contains("only an array has members; found a configuration without [array]"), "{error}");
}

/// Random reads of one page, with the same load on each member: n times as many as one drive gives, for n from 2 to 8.
#[test]
fn stripes_give_n_times_the_random_reads_of_one() {
    let sets = |members: u32| {
        [
            format!("array.members={members}"),
            format!("workload.uniform.requests={}", 20_000 * members),
            format!("workload.uniform.queue_depth={}", 32 * members),
            "workload.uniform.read_fraction=1".into(),
        ]
    };
    let iops = |members: u32| {
        let sets = sets(members);
        report(&sets.each_ref().map(String::as_str)).0.throughput.iops
    };
    let one = iops(1);
    for members in [2, 4, 8] {
        close(iops(members), f64::from(members) * one, 0.03);
    }
}

/// The energy of an array is that of its members, by both accounts.
#[test]
fn energy_is_the_sum_of_the_members() {
    for sets in [
        vec!["array.members=3"],
        vec!["array.members=4", "array.level=raid5"],
        vec![
            "array.members=4",
            "array.level=raid10",
            "array.failed_member=1",
            "array.spare=limit",
            "run.count_drain=true",
        ],
    ] {
        let load = ["workload.uniform.requests=3000", "workload.uniform.read_fraction=0.3", "run.warmup.requests=500"];
        let (whole, json) = report(&[&sets[..], &load].concat());
        let members = json["members"].as_array().expect("members");
        let sum: f64 = members.iter().map(|member| number(member, "/energy_j/total")).sum();
        close(number(&json, "/energy_j/total"), sum, 1e-12);
        close(whole.energy_integral_j, sum, 1e-9);
        for (place, member) in members.iter().enumerate() {
            let own = number(&json, &format!("/energy_j/member_{place}"));
            assert_eq!(own, number(member, "/energy_j/total"));
        }
        assert_eq!(json["power_w"]["peak"], Value::Null, "changes of several meters have no common order");
    }
}

/// A small write to RAID 5: old data, old parity, new data, new parity.
#[test]
fn a_small_write_with_parity_is_four_requests() {
    for members in [4, 5, 8] {
        let members = format!("array.members={members}");
        let load = ["workload.uniform.requests=2000", "workload.uniform.request_bytes=4096", "array.level=raid5"];
        let (_, json) = report(&[&load[..], &[&members]].concat());
        let orders = number(&json, "/array/member_reads") + number(&json, "/array/member_writes");
        assert_eq!(orders, 4.0 * 2000.0, "{members}");
        assert_eq!(number(&json, "/array/rows_read_first"), 2000.0);
    }
}

/// Four members, chunks of four pages: a sequential write of whole rows writes four chunks for three.
#[test]
fn whole_rows_are_written_without_a_read() {
    let sets = [
        "array.members=4",
        "array.level=raid5",
        "array.chunk_bytes=16384",
        "workload.sequential.requests=100",
        "workload.sequential.request_bytes=49152",
    ];
    let (_, json) = report(&sets);
    assert_eq!(number(&json, "/array/member_reads"), 0.0);
    assert_eq!(number(&json, "/array/member_writes"), 400.0);
    assert_eq!(number(&json, "/array/rows_written_whole"), 100.0);
}

/// Mirrors: a write goes to each, a read to one; both members share the reads.
#[test]
fn mirrors_take_every_write_and_share_the_reads() {
    let load = ["array.members=2", "array.level=raid1", "workload.uniform.requests=4000"];
    let (_, json) = report(&[&load[..], &["workload.uniform.read_fraction=0"]].concat());
    assert_eq!(number(&json, "/array/member_writes"), 8000.0);
    let (_, json) = report(&[&load[..], &["workload.uniform.read_fraction=1"]].concat());
    assert_eq!(number(&json, "/array/member_reads"), 4000.0);
    let reads = |place: u32| number(&json, &format!("/members/{place}/flash/reads/host"));
    close(reads(0), 2000.0, 0.05);
    close(reads(1), 2000.0, 0.05);
}

/// Three members, one of which has failed: a read of its chunk reads both others, and of another chunk that chunk alone. Two
/// thirds of the rows have data on the failed member, so of all chunks of data a third are missing.
#[test]
fn a_missing_chunk_is_read_from_the_others() {
    let sets = [
        "array.members=3",
        "array.level=raid5",
        "array.failed_member=2",
        "workload.uniform.requests=6000",
        "workload.uniform.read_fraction=1",
    ];
    let (_, json) = report(&sets);
    let reconstructed = number(&json, "/array/reconstructed");
    close(reconstructed, 2000.0, 0.06);
    assert_eq!(number(&json, "/array/member_reads"), 6000.0 + reconstructed);
    assert_eq!(json["members"][2], Value::Null);
}

/// A rebuild without load takes its bytes at the given rate, and writes the whole member once.
#[test]
fn a_rebuild_goes_at_its_rate() {
    for (level, members) in [("raid1", 2), ("raid5", 3), ("raid10", 4)] {
        let sets = [
            format!("array.members={members}"),
            format!("array.level={level}"),
            "array.failed_member=1".into(),
            "array.spare=limit".into(),
            "array.rebuild_mb_s=2".into(),
            "array.finish_rebuild=true".into(),
            "workload.uniform.requests=10".into(),
            "workload.uniform.read_fraction=1".into(),
            "run.count_drain=true".into(),
        ];
        let (_, json) = report(&sets.each_ref().map(String::as_str));
        let bytes = number(&json, "/array/rebuild/rebuilt_bytes");
        assert_eq!(number(&json, "/array/rebuild/rebuilt_fraction"), 1.0, "{level}");
        let member_bytes = 4.0 * 64.0 * 16.0 * 4096.0 * 0.75;
        close(bytes, member_bytes, 0.02);
        close(number(&json, "/array/rebuild/ended_s"), bytes / 2e6, 0.02);
        let programs = number(&json, "/members/1/flash/programs/host");
        assert_eq!(programs, bytes / 4096.0, "{level}: the spare is written once");
    }
}

/// A rebuild under writes: the host's writes reach the spare too, and the rebuild still ends.
#[test]
fn a_rebuild_ends_under_writes() {
    for (level, members) in [("raid1", 2), ("raid5", 4), ("raid10", 4)] {
        let sets = [
            format!("array.members={members}"),
            format!("array.level={level}"),
            "array.failed_member=0".into(),
            "array.spare=limit".into(),
            "array.finish_rebuild=true".into(),
            "workload.uniform.requests=20000".into(),
            "workload.uniform.read_fraction=0.5".into(),
        ];
        let (_, json) = report(&sets.each_ref().map(String::as_str));
        assert_eq!(number(&json, "/array/rebuild/rebuilt_fraction"), 1.0, "{level}");
    }
}

/// Members of several presets: the smallest decides.
#[test]
fn members_may_be_of_several_presets() {
    let config = load("", &["array.members=[\"limit\", \"park-1g\", \"park-1g\"]", "array.level=raid5"]);
    assert_eq!(config.logical_bytes(), 2 << 30);
}

/// The record of an array's configuration gives the same configuration again: with presets in the list of members,
/// with the preset of a spare, and with one preset for all.
#[test]
fn a_recorded_configuration_is_the_same_again() {
    let cases: [&[&str]; 4] = [
        &["array.members=[\"x25m\", \"limit\", \"laptop-7200\"]", "array.level=raid5"],
        &["array.members=[\"x25m\", \"limit\"]", "gc.policy=fifo", "energy.terminal_v=4.9"],
        &["array.members=4", "array.level=raid5", "array.failed_member=1", "array.spare=limit"],
        &["device.preset=laptop-7200", "array.members=2", "hdd.write_cache.bytes=0"],
    ];
    for sets in cases {
        let config = load("", sets);
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let record = flashwatt::config::merged("", "test", &sets).expect("a record");
        assert_eq!(load(&record, &[]), config, "{sets:?}:\n{record}");
    }
}

/// Each drive of an array bears the name of its own preset.
#[test]
fn members_bear_the_names_of_their_presets() {
    let config = load("", &["array.members=[\"laptop-7200\", \"limit\"]"]);
    let config = serde_json::to_value(&config).expect("JSON");
    let preset = |at: usize| config["array"]["drives"][at]["device"]["preset"].clone();
    assert_eq!((preset(0), preset(1)), ("laptop-7200".into(), "limit".into()));
}

/// Disks that no request reaches go to standby all the same.
#[test]
fn idle_members_go_to_standby() {
    let sets = ["device.preset=raptor-x", "array.members=2", "hdd.standby.after_ns=1s", "workload.uniform.requests=1"];
    let (_, json) = report_of(&load("", &[&sets[..], &["workload.uniform.rate_per_s=0.01"]].concat()));
    for member in 0..2 {
        assert_eq!(number(&json, &format!("/members/{member}/hdd/spin_downs")), 1.0);
    }
}

#[test]
fn two_runs_are_equal_to_the_byte() {
    let sets = ["array.members=4", "array.level=raid5", "workload.uniform.requests=2000", "host.scheduler=mq_deadline"];
    let once = || serde_json::to_string(&report(&sets).1).expect("JSON");
    let strip = |text: String| text.split("\"engine\"").next().map(str::to_string);
    assert_eq!(strip(once()), strip(once()));
}

/// Power over time: a column for each member, whose sum is the energy.
#[test]
fn power_over_time_is_by_member() {
    let options = RunOptions { series_interval_ns: Some(1_000_000), ..RunOptions::default() };
    let sets = ["array.members=3", "workload.uniform.requests=3000"];
    let report = run(&config(&sets), &options, &mut |_| true).expect("it runs");
    let json = serde_json::to_value(&report).expect("JSON");
    let columns = json["series"]["power_w"].as_object().expect("columns");
    assert_eq!(columns.keys().collect::<Vec<_>>(), ["member_0", "member_1", "member_2"]);
    let seconds = report.throughput.simulated_s;
    let bins = columns["member_0"].as_array().expect("bins").len();
    assert_eq!(bins, (seconds * 1e3).ceil() as usize);
    let last_s = seconds - 1e-3 * (bins - 1) as f64;
    let joules: f64 = columns
        .values()
        .flat_map(|column| column.as_array().expect("bins").iter().enumerate())
        .map(|(bin, w)| w.as_f64().expect("a power") * if bin + 1 == bins { last_s } else { 1e-3 })
        .sum();
    close(joules, report.energy_integral_j, 1e-9);
}

fn any_request() -> impl Strategy<Value = (RequestKind, u64, u64)> {
    let kind = prop_oneof![
        4 => Just(RequestKind::Read),
        4 => Just(RequestKind::Write),
        1 => Just(RequestKind::Trim),
        1 => Just(RequestKind::Flush)
    ];
    (kind, 0..2_000u64, 1..200u64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tier::size(20, 60) as u32))]
    /// Every request ends exactly once, not before its arrival, on every level, whole or not, with a spare or without.
    #[test]
    fn every_request_ends_once(level in 0..4usize, failed in 0..3u32, requests in prop::collection::vec(any_request(), 1..150)) {
        let level = ["raid0", "raid1", "raid5", "raid10"][level];
        let level_key = format!("array.level={level}");
        let mut sets = vec!["array.members=4", &level_key, "array.chunk_bytes=8192"];
        if failed > 0 && level != "raid0" {
            sets.push("array.failed_member=2");
        }
        if failed > 1 && level != "raid0" {
            sets.extend(["array.spare=limit", "array.rebuild_mb_s=5"]);
        }
        let config = config(&sets);
        let script: Vec<Request> = requests
            .iter()
            .map(|&(kind, sector, sectors)| match kind {
                RequestKind::Flush => Request::new(0, kind, 0, 0),
                _ => Request::new(0, kind, sector * 512, sectors * 512),
            })
            .collect();
        let mut script_of_groups = Script::in_groups(&script, 7);
        let report = run_with(&config, &RunOptions::default(), &mut script_of_groups, &mut |_| true).expect("it runs");
        prop_assert_eq!(report.status.as_str(), "complete");
        prop_assert_eq!(report.workload.requests, script.len() as u64);
    }
}
