//! Other prices for a run that was made: what is priced anew is what a run with those prices gives, to the last bit.

use crate::common::briefly_mixed;
use flashwatt::RunOptions;
use flashwatt::config::{Config, PRESETS, load};
use flashwatt::reprice;
use flashwatt::run;
use serde_json::{Value, json};

const NULLS: [&str; 7] = [
    "/power_w/peak",
    "/power_w/max_100us",
    "/power_w/max_1s",
    "/current_ma/peak",
    "/current_ma/time_at_peak_ns",
    "/energy_integral_j",
    "/series",
];

/// A run with bursts and pauses, so that every accounting differs, whose work goes on after what is measured.
fn report(preset: &str, sets: &[&str]) -> String {
    // The largest drive is made small, or its steady state would take minutes to reach.
    let (blocks, op_ratio) = if preset == "tlc-nvme-1t" { (4, 0.6) } else { (64, 0.1) };
    let load_of = [
        format!("device.preset={preset}"),
        format!("device.blocks_per_plane={blocks}"),
        format!("device.op_ratio={op_ratio}"),
        "device.pages_per_block=32".into(),
        "run.precondition=steady".into(),
        "workload.uniform.requests=3000".into(),
        "workload.uniform.read_fraction=0.3".into(),
        "workload.uniform.burst_requests=300".into(),
        "workload.uniform.burst_gap_ns=400_000_000".into(),
        "run.warmup.requests=500".into(),
        "run.measure.requests=2000".into(),
    ];
    let sets: Vec<String> = load_of.into_iter().chain(sets.iter().map(ToString::to_string)).collect();
    report_of(&load("", "test.toml", &sets).expect("a valid configuration"))
}

/// A run of the small drive on which everything happens: bursts, pauses, trims, collection, a warm-up, a drain.
fn small_report(preset: &str, sets: &[&str]) -> String {
    report_of(&briefly_mixed(preset, sets))
}

fn report_of(config: &Config) -> String {
    let options = RunOptions { series_interval_ns: Some(0), ..RunOptions::default() };
    let report = run(config, &options, &mut |_| true).expect("a run");
    assert_eq!(report.status, "complete");
    serde_json::to_string(&report).expect("a report is JSON")
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON")
}

/// The report as repricing would leave it if it changed no figure.
fn without_overlaps(json: &str) -> Value {
    let mut report = value(json);
    for path in NULLS {
        *report.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = Value::Null;
    }
    report
}

fn repriced(json: &str, table: &str) -> Value {
    let mut report = value(&reprice(json, table, "prices.toml").unwrap_or_else(|error| panic!("{error}")));
    let note = report.as_object_mut().and_then(|report| report.shift_remove("repriced")).expect("a note");
    assert_eq!(note["table"], "prices.toml");
    assert!(note["reason"].as_str().is_some_and(|reason| reason.contains("happened at the same time")));
    assert!(note["null"].as_array().is_some_and(|nulls| nulls.len() >= NULLS.len()));
    report
}

/// The `[energy]` tables of a preset.
fn energy_of(preset: &str) -> String {
    let (_, text) = PRESETS.iter().find(|(name, _)| *name == preset).expect("a preset");
    let tables = text.split("\n[").filter(|table| table.starts_with("energy"));
    tables.map(|table| format!("[{table}\n")).collect()
}

/// The presets of SSDs.
fn ssds() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    PRESETS.iter().filter(|(_, text)| !text.contains("[hdd."))
}

#[test]
fn the_same_prices_give_the_same_figures_to_the_last_bit() {
    for (preset, _) in ssds() {
        let json = small_report(preset, &[]);
        let same = repriced(&json, &energy_of(preset));
        assert_eq!(same, without_overlaps(&json), "{preset}");
        assert_eq!(same.to_string(), without_overlaps(&json).to_string(), "{preset}: in the same order");
    }
}

#[test]
fn another_accounting_is_what_a_run_with_it_gives() {
    for (preset, _) in ssds() {
        let json = small_report(preset, &[]);
        for accounting in ["always_on", "flash_off", "busy_only", "busy_or_loading"] {
            let key = format!("energy.idle_accounting={accounting}");
            let fresh = small_report(preset, &[&key]);
            let table = format!("[energy]\nidle_accounting = \"{accounting}\"\n");
            assert_eq!(repriced(&json, &table), without_overlaps(&fresh), "{preset} {accounting}");
        }
    }
}

#[test]
fn other_currents_voltages_and_modes_are_what_a_run_with_them_gives() {
    let json = report("energysim", &["run.count_drain=true"]);
    let cases: [&[&str]; 4] = [
        &["energy.nand.program_ma=31.7", "energy.nand.transfer_ma=operation"],
        &["energy.mode=terminal", "energy.terminal_v=12"],
        &["energy.dram.active_ma=77", "energy.dram.volts=1.5", "energy.controller.idle_ma=1"],
        &["energy.host_interface.active_ma=40", "energy.nand.idle_ma=0.25"],
    ];
    for sets in cases {
        let lines =
            sets.iter().map(|set| set.replace("=terminal", "=\"terminal\"").replace("=operation", "=\"operation\""));
        let table = lines.collect::<Vec<_>>().join("\n");
        let sets: Vec<&str> = sets.iter().copied().chain(["run.count_drain=true"]).collect();
        assert_eq!(repriced(&json, &table), without_overlaps(&report("energysim", &sets)), "{table}");
    }
}

/// What lies outside the figures is priced anew as well, and so is the share of it that a warning says.
#[test]
fn the_drain_is_priced_anew() {
    let warns = |report: &Value| {
        let warnings = report["warnings"].as_array().expect("a list");
        warnings.iter().any(|text| text.as_str().is_some_and(|text| text.contains("the figures leave out work")))
    };
    let buffer = ["write_buffer.bytes=4194304", "run.measure.requests=150", "run.precondition=filled"];
    let awake = ["energy.controller.idle_ma=0", "energy.dram.idle_ma=0", "energy.nand.idle_ma=0"];
    let (json, fresh) = (report("energysim", &buffer), report("energysim", &[&buffer[..], &awake].concat()));
    let shares = [&json, &fresh].map(|json| {
        let report = value(json);
        let [drain, window] =
            ["/window/drain_energy_j", "/energy_j/total"].map(|path| report.pointer(path).and_then(Value::as_f64));
        drain.zip(window).map(|(drain, window)| drain / (drain + window))
    });
    assert!(!warns(&value(&json)) && warns(&value(&fresh)), "the prices decide whether it is much: {shares:?}");
    assert!(value(&json)["window"]["drain_energy_j"].as_f64() > Some(0.0));
    assert_eq!(repriced(&json, &awake.join("\n")), without_overlaps(&fresh));
}

#[test]
fn twice_the_currents_are_twice_the_energies() {
    let json = report("energysim", &[]);
    let doubled = "[energy]\ncontroller = { active_ma = 60, idle_ma = 30 }\ndram = { active_ma = 200, idle_ma = 40 }\n\
                   nand = { read_ma = 40, program_ma = 40, erase_ma = 40, transfer_ma = 6, idle_ma = 6 }\n\
                   host_interface = { active_ma = 18 }\n";
    let (once, twice) = (value(&json), repriced(&json, doubled));
    let mut compared = 0;
    let mut compare = |path: &str| {
        let number = |report: &Value| report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
        let (once, twice) = (number(&once), number(&twice));
        assert!((twice - 2.0 * once).abs() <= 1e-12 * twice.abs(), "{path}: {once} {twice}");
        compared += usize::from(once > 0.0);
    };
    for part in ["controller/active", "controller/idle", "dram/active", "dram/idle", "host_interface", "total"] {
        compare(&format!("/energy_j/{part}"));
    }
    for state in ["read", "program", "erase", "transfer", "idle", "total"] {
        compare(&format!("/energy_j/nand/{state}"));
    }
    for path in ["/power_w/mean", "/current_ma/mean", "/efficiency/j_per_gb", "/energy_by_cause_j/gc"] {
        compare(path);
    }
    let accountings = ["always_on", "flash_off", "busy_only", "busy_or_loading"];
    accountings.iter().for_each(|name| compare(&format!("/energy_total_j/{name}")));
    assert!(compared > 15, "{compared} figures are not zero");
}

#[test]
fn a_repriced_report_can_be_priced_again() {
    let json = report("x25m", &[]);
    let other = reprice(&json, "energy.nand.program_ma = 40", "one.toml").expect("valid prices");
    let back = reprice(&other, "energy.nand.program_ma = 20", "prices.toml").expect("valid prices");
    assert_eq!(value(&back), value(&reprice(&json, &energy_of("x25m"), "prices.toml").expect("valid prices")));
}

/// A broken table, and parts that the message holds.
const TABLES: &[(&str, &[&str])] = &[
    ("", &["prices.toml", "no currents or voltages", "[energy]"]),
    ("[energy.nand]\nprogam_ma = 3\n", &["prices.toml:2:1: energy.nand.progam_ma", "did you mean `program_ma`?"]),
    ("[energi]\nx = 3\n", &["prices.toml:1:2: energi", "unknown key", "did you mean `energy`?"]),
    ("[energy.nand]\nread_ma = \"lots\"\n", &["prices.toml:2:1: energy.nand.read_ma", "\"lots\"", "expected a number"]),
    ("[energy.nand]\nread_ma = -1\n", &["prices.toml:2:1", "-1.0", "0.0 to 10000.0"]),
    ("[energy.nand]\nread_ma = 1\n", &["prices.toml:2:1", "less than the idle current", "idle_ma = 3.0"]),
    ("[energy]\nidle_accounting = \"busyonly\"\n", &["prices.toml:2:1", "did you mean `busy_only`?"]),
    ("[energy\n", &["prices.toml:1:", "the bracket is not closed"]),
    (
        "[device.timing]\nread_ns = 1\n",
        &["prices.toml:2:1: device.timing.read_ns", "fixed by the run", "run the configuration"],
    ),
    ("[device]\nchannels = 2\n", &["prices.toml:2:1: device.channels", "fixed by the run", "[energy]"]),
    (
        "energy.dram_rule = \"per_op\"\n",
        &["prices.toml:1:", "energy.dram_rule", "fixed by the run", "\"with_controller\""],
    ),
    (
        "energy.dram.map_access_ns = 51\n",
        &["energy.dram.map_access_ns", "fixed by the run", "51 ns", "50 ns, as in the run"],
    ),
    (
        "energy.dram.data_mb_s = 800\n",
        &["energy.dram.data_mb_s", "fixed by the run", "5120 ns a page", "2560 ns a page"],
    ),
    (
        "energy.host_interface.bandwidth_mb_s = 600\n",
        &["bandwidth_mb_s", "fixed by the run", "600.0", "300.0, as in the run"],
    ),
];

#[test]
fn what_is_wrong_with_a_table_is_named() {
    let json = report("x25m", &[]);
    for (table, parts) in TABLES {
        let message = reprice(&json, table, "prices.toml").expect_err(table).to_string();
        for part in *parts {
            assert!(message.contains(part), "{table:?}\n{message}\nlacks {part}");
        }
    }
}

/// Rules of the host have the word in their names, too.
#[test]
fn a_budget_of_requests_is_no_power_budget() {
    for sets in [&["host.scheduler=mq_deadline", "host.dispatch_budget=true"][..], &["host.scheduler=bfq"]] {
        let json = report("x25m", sets);
        let repriced = reprice(&json, "energy.nand.read_ma = 25", "prices.toml");
        assert!(repriced.is_ok(), "{sets:?}: {:?}", repriced.err());
    }
}

#[test]
fn what_is_wrong_with_a_report_is_named() {
    let json = report("x25m", &[]);
    let changed = |path: &str, new: Value| {
        let mut report = value(&json);
        *report.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = new;
        report.to_string()
    };
    let row = |ns: u64| json!({ "host": ns, "gc": 0, "merge": 0, "map": 0, "wear": 0 });
    let beside = |rows: Value| {
        let mut report = value(&json);
        report["ledger"]["extra_ns"] = rows;
        report.to_string()
    };
    let mut budget = value(&json);
    budget["config"]["controller"]["power_budget_ma"] = json!(400);
    let cases: &[(String, &[&str])] = &[
        ("{".into(), &["1:1", "not JSON"]),
        ("[]".into(), &["not a report", "no JSON object"]),
        ("{}".into(), &["schema", "not a report"]),
        (changed("/schema", json!(1)), &["schema", "another schema", "found 1", "expected 3"]),
        (changed("/ledger", json!({})), &["not a whole report", "missing field"]),
        (changed("/ledger/die_ns", json!({})), &["ledger.die_ns", "not a whole ledger", "0 numbers of 35"]),
        (changed("/ledger/die_ns/read/gc", json!(-5)), &["not a whole report", "-5"]),
        (changed("/ledger/die_ns/read/gc", json!(u64::MAX)), &["ledger.die_ns", "busy for longer"]),
        (changed("/ledger/die_ns/read", json!({"host": 1, "lost": 2})), &["ledger.die_ns.read.lost"]),
        (beside(json!({ "extra_read": { "host": 1 } })), &["ledger.extra_ns", "not a whole ledger", "1 numbers of 5"]),
        (beside(json!({ "extra_reads": row(1) })), &["ledger.extra_ns.extra_reads", "no state"]),
        (
            beside(json!({ "read_transfer_beside": row(u64::MAX) })),
            &["ledger.extra_ns.read_transfer_beside", "more than"],
        ),
        (beside(json!({ "extra_slc_program": row(1) })), &["ledger.extra_ns.extra_slc_program", "more than"]),
        (changed("/ledger/elapsed_ns/quiet", json!(u64::MAX)), &["ledger.elapsed_ns", "out of range"]),
        (changed("/ledger/elapsed_ns/array", json!(u64::MAX)), &["ledger.elapsed_ns.array", "of `busy`"]),
        (changed("/ledger/transfer_die_ns", json!(u64::MAX)), &["ledger.transfer_die_ns", "out of range"]),
        (changed("/ledger/dies", json!(0)), &["ledger.dies", "out of range"]),
        (changed("/drain_ledger/dies", json!(0)), &["drain_ledger.dies", "out of range"]),
        (changed("/config/energy/nand/program_ua", json!(4_000_000_000u32)), &["report's own prices", "out of range"]),
        (budget.to_string(), &["config.controller.power_budget_ma", "power budget", "what happened when"]),
    ];
    for (report, parts) in cases {
        let message = reprice(report, "energy.nand.read_ma = 25", "prices.toml").expect_err("broken").to_string();
        for part in *parts {
            assert!(message.contains(part), "{message}\nlacks {part}");
        }
    }
}

/// Time in single-level mode, and of further planes, which a report has where it occurred. The programs of a run are taken for such.
#[test]
fn states_of_some_drives_are_priced() {
    let mut report = value(&report("x25m", &[]));
    let (program_ma, programs) = (20.0, report["ledger"]["die_ns"]["program"].clone());
    let none: Value = programs.as_object().expect("by cause").keys().map(|cause| (cause.clone(), json!(0))).collect();
    let program_j = |report: &Value, table: &str| {
        let repriced =
            value(&reprice(&report.to_string(), table, "prices.toml").unwrap_or_else(|error| panic!("{error}")));
        let (e, by_cause) = (&repriced["energy_j"], repriced["energy_by_cause_j"].as_object().expect("by cause"));
        let causes: f64 = by_cause.values().filter_map(Value::as_f64).sum();
        assert!((causes / e["total"].as_f64().expect("joules") - 1.0).abs() < 1e-9, "{table}: causes add up");
        e["nand"]["program"].as_f64().expect("joules")
    };
    let whole_j = program_j(&report, "energy.nand.read_ma = 25");
    let near =
        |found: f64, ma: f64| assert!((found / (whole_j * ma / program_ma) - 1.0).abs() < 1e-12, "{found}, {ma} mA");
    let refused = |report: &Value, table: &str| reprice(&report.to_string(), table, "").expect_err(table).to_string();
    assert!(refused(&report, "energy.nand.slc_program_ma = 10").contains("no effect on this drive"));
    report["ledger"]["die_ns"]["program"] = none;
    report["ledger"]["die_ns"]["slc_program"] = programs.clone();
    near(program_j(&report, "energy.nand.read_ma = 25"), program_ma);
    near(program_j(&report, "energy.nand.slc_program_ma = 10"), 10.0);
    assert!(refused(&report, "energy.nand.extra_plane_program_ma = 5").contains("planes of a die"));
    report["ledger"]["extra_ns"] = json!({ "extra_slc_program": programs });
    near(program_j(&report, "energy.nand.read_ma = 25"), program_ma);
    near(program_j(&report, "energy.nand.extra_plane_program_ma = 5"), program_ma + 5.0);
    let both = "[energy.nand]\nslc_program_ma = 10\nextra_plane_program_ma = 5\nslc_extra_plane_program_ma = 3\n";
    near(program_j(&report, both), 13.0);
}
