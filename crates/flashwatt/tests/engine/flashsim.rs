//! A replay without a clock: FlashSim's arithmetic by hand, and the figures of the timed path where both are defined.

use crate::common::{Script, load};
use flashwatt::Error;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt::run::StartState;
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl;

/// One die with pages of 2 KiB in blocks of 64, as FlashSim has it.
const DRIVE: &str = r#"
[device]
preset = "pardispatcher-60g"
channels = 1
ways = 1
planes = 1
logical_bytes = "16MiB"
op_ratio = 0.2
"#;

fn drive(sets: &[&str]) -> Config {
    load(DRIVE, sets)
}

fn replayed(sets: &[&str], requests: &[Request]) -> Report {
    played(&drive(&[&["run.replay=flashsim"], sets].concat()), requests)
}

fn played(config: &Config, requests: &[Request]) -> Report {
    let ended = StartState::new(config).and_then(|drive| {
        drive.run(config, &RunOptions::default(), &mut Script::in_groups(requests, 1), (), &mut |_| true)
    });
    let (report, ()) = ended.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "complete");
    report
}

fn write(first_sector: u64, sectors: u64) -> Request {
    Request::new(0, RequestKind::Write, first_sector * SECTOR_BYTES, sectors * SECTOR_BYTES)
}

/// FlashSim's count of pages: (secno + scount − 1) / 4 − secno / 4 + 1.
fn pages_of(first_sector: u64, sectors: u64) -> u64 {
    (first_sector + sectors - 1) / 4 - first_sector / 4 + 1
}

#[test]
fn a_request_programs_every_page_that_it_touches() {
    const OFFSET_63: &[&str] = &["run.replay.flashsim.offset_sectors=63"];
    for (blocks, pages) in [(1, 3), (2, 5), (4, 9), (8, 17)] {
        let report = replayed(OFFSET_63, &[write(0, 8 * blocks)]);
        assert_eq!(report.ssd().flash.programs.host, pages, "{blocks} blocks of 4 KiB from sector 63 on");
        assert_eq!(pages_of(63, 8 * blocks), pages);
        let aligned = replayed(&[], &[write(0, 8 * blocks)]);
        assert_eq!(aligned.ssd().flash.programs.host, 2 * blocks);
    }
    for (first, sectors, pages) in [(0, 1, 1), (3, 1, 1), (3, 2, 2), (1, 4, 2), (4, 4, 1), (7, 5, 2)] {
        let report = replayed(&[], &[write(first, sectors)]);
        assert_eq!(report.ssd().flash.programs.host, pages, "{sectors} sectors from {first} on");
        assert_eq!(pages_of(first, sectors), pages);
    }
}

#[test]
fn rounding_outward_reads_nothing_and_the_other_rule_reads_each_partial_page() {
    let request = [write(3, 8)];
    let outward = replayed(&[], &request);
    assert_eq!((outward.ssd().flash.reads.total, outward.ssd().flash.programs.host), (0, 3));
    let modified = replayed(&["run.replay.flashsim.partial_pages=read_modify_write"], &request);
    assert_eq!((modified.ssd().flash.reads.total, modified.ssd().flash.programs.host), (2, 3));
}

/// Three writes of 4 KiB in a row at sector 63 share two pages: 9 programs one by one, 7 as one request.
#[test]
fn requests_that_continue_one_another_are_one_if_the_rules_say_so() {
    let requests = [write(63, 8), write(71, 8), write(79, 8), write(200, 8)];
    let apart = replayed(&[], &requests);
    assert_eq!((apart.workload.writes, apart.ssd().flash.programs.host), (4, 3 * 3 + 2));
    let joined = joined(&requests);
    assert_eq!((joined.workload.writes, joined.ssd().flash.programs.host), (2, 7 + 2));
    assert_eq!(joined.workload.write_bytes, apart.workload.write_bytes);
    let figures = joined.replay.as_ref().expect("a run without a clock");
    assert_eq!(figures.write_bytes_mean, Some(8192.0));
    assert_eq!(figures.pages_per_4_kib, Some(9.0 / 4.0));
    let read = Request { kind: RequestKind::Read, ..write(71, 8) };
    assert_eq!(self::joined(&[write(63, 8), read, write(79, 8)]).workload.requests, 3, "a read stands between them");
}

/// The requests of a host that does not wait for their ends, joined.
fn joined(requests: &[Request]) -> Report {
    let config = drive(&["run.replay.flashsim.merge_requests=true"]);
    let ended = StartState::new(&config)
        .and_then(|drive| drive.run(&config, &RunOptions::default(), &mut Script::new(requests), (), &mut |_| true));
    let (report, ()) = ended.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "complete");
    report
}

/// Writes that fill the drive some times over, each long after the work of the one before has ended.
fn spread(config: &Config, writes: u64) -> Vec<Request> {
    let pages = config.logical_bytes() / 2048;
    let mut rng = flashwatt_base::rng::Rng::new(7);
    (0..writes)
        .map(|at| {
            let count = 1 + rng.below(4);
            let first = rng.below(pages - count);
            Request { arrival_ns: at * 20_000_000_000, ..write(4 * first, 4 * count) }
        })
        .collect()
}

/// Where the timed drive does one request after another, it does to the flash what the replay does, under every layer.
#[test]
fn a_replay_does_to_the_flash_what_the_timed_drive_does() {
    for entry in ftl::REGISTRY {
        let layer = match entry.name {
            "rftl" => "ftl.rftl.replicas=0".to_string(), // a copy needs a channel of its own
            name => format!("ftl=\"{name}\""),
        };
        let merges = !drive(&[&layer, "device.op_ratio=0.5"]).ssd().ftl.collects();
        let rest: &[&str] =
            if merges { &["device.op_ratio=0.5"] } else { &["device.op_ratio=0.5", "gc.low_watermark_blocks=4"] };
        let sets = [&[layer.as_str()], rest].concat();
        let timed_config = drive(&sets);
        let requests = spread(&timed_config, 6_000);
        let timed = played(&timed_config, &requests);
        let replayed = replayed(&sets, &requests);
        let counts = |report: &Report| serde_json::to_value((&report.ssd().flash, &report.ssd().wear)).expect("JSON");
        assert_eq!(counts(&replayed), counts(&timed), "{}", entry.name);
        assert!(timed.ssd().flash.erases.total > 50, "{}: {}", entry.name, timed.ssd().flash.erases.total);
    }
}

/// Blocks beside those that the host's data fill.
fn spare_blocks(config: &Config) -> u64 {
    u64::from(config.ssd().device.blocks_per_plane) - config.logical_bytes() / (64 * 2048)
}

/// What is programmed is what the host wrote and what was moved; erased blocks and free blocks agree with it.
#[test]
fn pages_are_conserved() {
    let config = drive(&[]);
    let requests = spread(&config, 4_000);
    let report = replayed(&["gc.low_watermark_blocks=4", "ftl.page.frontiers=shared"], &requests);
    let (flash, replay) = (&report.ssd().flash, report.replay.as_ref().expect("a run without a clock"));
    let pages: u64 = requests.iter().map(|request| request.bytes / 2048).sum();
    assert_eq!(flash.programs.host, pages);
    assert_eq!(flash.programs.total, pages + replay.copies);
    assert_eq!(flash.reads.gc, replay.copies);
    // Blocks: those taken for programs, less those erased, are the ones that are no longer free; 4 are free at the end.
    let spare = spare_blocks(&config);
    let taken = flash.programs.total.div_ceil(64);
    let owed = spare - 4;
    assert!(taken.abs_diff(flash.erases.total + owed) <= 1, "{taken} taken, {} erased", flash.erases.total);
}

/// FlashSim collects when it needs a block and three are free, until four are. With a watermark of four a die collects as soon
/// as three are left.
#[test]
fn collection_keeps_four_blocks_free() {
    let config = drive(&[]);
    let spare_blocks = spare_blocks(&config);
    let block = |at: u64| write(at * 256, 256);
    let sets = ["gc.low_watermark_blocks=4", "ftl.page.frontiers=shared"];
    let erases = |blocks: u64| {
        let requests: Vec<_> = (0..blocks).map(block).collect();
        replayed(&sets, &requests).ssd().flash.erases.total
    };
    assert_eq!(erases(spare_blocks - 4), 0, "four are left");
    assert_eq!(erases(spare_blocks - 3), 1, "three would be left");
    assert_eq!(erases(spare_blocks), 4);
}

#[test]
fn the_report_has_no_figure_of_time_or_energy() {
    let report = replayed(&[], &[write(0, 8)]);
    let json = serde_json::to_value(&report).expect("a report is JSON");
    let none = [
        "latency_ns",
        "throughput",
        "lifetime",
        "energy_j",
        "energy_by_cause_j",
        "energy_total_j",
        "efficiency",
        "power_w",
        "current_ma",
        "parallelism",
        "energy_integral_j",
        "ledger",
        "drain_ledger",
    ];
    for key in none {
        assert!(json.get(key).is_some_and(serde_json::Value::is_null), "{key}: {:?}", json.get(key));
    }
    for path in ["/window/drain_s", "/window/drain_energy_j", "/ftl/map_energy_j"] {
        assert!(json.pointer(path).is_some_and(serde_json::Value::is_null), "{path}");
    }
    assert!(report.warnings.iter().any(|warning| warning.contains("has no clock")), "{:?}", report.warnings);
    assert_eq!(json["replay"]["rules"], "flashsim");
}

/// Law 11: a replay of time, and rules that bind nothing, change nothing.
#[test]
fn neutral_rules_change_nothing() {
    let config = drive(&[]);
    let requests = spread(&config, 300);
    let of = |report: &Report| crate::common::figures(report);
    let timed = |sets: &[&str]| of(&played(&drive(sets), &requests));
    assert_eq!(timed(&["run.replay=timed"]), timed(&[]));
    assert_eq!(drive(&["run.replay=timed"]).sha256(), drive(&[]).sha256(), "the same run");
    let base = of(&replayed(&[], &requests));
    assert_eq!(of(&replayed(&["run.replay.flashsim.partial_pages=read_modify_write"], &requests)), base, "aligned");
    assert_eq!(of(&replayed(&["run.replay.flashsim.offset_sectors=0"], &requests)), base);
}

#[test]
fn what_needs_a_clock_is_refused() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = ["run.replay=flashsim"].iter().chain(sets).map(ToString::to_string).collect();
        let error = flashwatt::config::load(DRIVE, "test.toml", &sets).expect_err("it needs a clock");
        assert!(error.to_string().contains("needs a clock"), "{error}");
    };
    refused(&["host.scheduler=noop"]);
    refused(&["write_buffer.bytes=65536"]);
    refused(&["controller.power_budget_ma=100"]);
    refused(&["controller.power_budget_w=1"]);
    refused(&["run.warmup.seconds=1"]);
    refused(&["run.measure.seconds=1"]);
    let config = drive(&["run.replay=flashsim"]);
    let asked =
        |options: &RunOptions| flashwatt::run(&config, options, &mut |_| true).expect_err("no clock").to_string();
    let series = asked(&RunOptions { series_interval_ns: Some(0), ..RunOptions::default() });
    assert!(series.contains("series") && series.contains("needs a clock"), "{series}");
    let check = asked(&RunOptions { check: true, ..RunOptions::default() });
    assert!(check.contains("check"), "{check}");
    assert!(flashwatt::Drive::new(&config).err().is_some_and(|error| error.to_string().contains("needs a clock")));
    let beyond = drive_error(&["run.replay.flashsim.offset_sectors=32768"]);
    assert!(beyond.contains("begins beyond the drive") && beyond.contains("less than the drive's 32768"), "{beyond}");
}

fn drive_error(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    flashwatt::config::load(DRIVE, "test.toml", &sets).expect_err("it is wrong").to_string()
}

/// A run without a clock can be stopped, counts its operations against the budget, and says when the drive is full.
#[test]
fn a_replay_ends_early_as_any_run_does() {
    let endless =
        drive(&["run.replay=flashsim", "workload.uniform.requests=1000000", "workload.uniform.read_fraction=0"]);
    let mut asked = 0;
    let report = flashwatt::run(&endless, &RunOptions::default(), &mut |progress| {
        asked += u32::from(progress.preparing.is_none());
        asked < 100
    });
    let report = report.unwrap_or_else(|error: Error| panic!("{error}"));
    assert_eq!(report.status, "interrupted");
    assert!(report.workload.requests < 200, "{}", report.workload.requests);
    let few = endless.changed(|config| config.run.max_flash_ops = Some(500));
    let report = flashwatt::run(&few, &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "stopped: operation budget of 500 reached");
    assert!((500..600).contains(&report.window.flash_ops), "{}", report.window.flash_ops);
}
