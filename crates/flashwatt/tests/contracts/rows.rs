//! The contracts over drives whose pages are programmed row by row, of every layer that has rows.

use super::schemes::{
    SUSPENSION, Scheme, draw_request, for_each_scheme, in_turn, load_sets, schemes, tiny, tiny_sets, with_host_memory,
    with_passes, with_passes_and_slc, with_rows, with_slc, with_suspension,
};
use super::{GROUP, REQUESTS, build, check_pages};
use crate::common::shadow::{Oracle, Shadow};
use crate::common::{Done, Log, PAGE, Script, tier};
use flashwatt::RunOptions;
use flashwatt::config::{Config, Precondition};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::Request;
use flashwatt_core::kernel::{End, Sim};
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::firmware::clockless::Clockless;
use flashwatt_ssd::ftl::{Cause, OpKind};
use flashwatt_ssd::nand::Array;

/// Requests of a scheme without a clock in `make test`.
const LEAST_REQUESTS: usize = 1_000;

/// Every layer with rows and each of its options. What does not change the way of rows takes turns.
fn some_schemes() -> Vec<Scheme> {
    with_rows(&in_turn(schemes()))
}

/// Every layer with rows and each of its options, with caches of blocks in SLC mode.
fn caches() -> Vec<Scheme> {
    let mut all = with_slc(&in_turn(schemes()));
    all.retain(|scheme| !scheme.iter().any(|set| set.starts_with("gc.policy=")));
    all
}

/// The layer with rows of two passes and its options, with and without a cache of blocks in SLC mode: in `make test` every fifth.
fn two_passes() -> Vec<Scheme> {
    let all = [with_passes(&in_turn(schemes())), with_passes_and_slc(&in_turn(schemes()))].concat();
    all.into_iter().step_by(if tier::soak().is_some() { 1 } else { 5 }).collect()
}

/// The same with the default policy of collection.
fn layers() -> Vec<Scheme> {
    let mut all = some_schemes();
    all.retain(|scheme| !scheme.iter().any(|set| set.starts_with("gc.policy=")));
    all
}

/// Everything that the engine of a drive with rows can be told besides the scheme.
fn draw_timing(rng: &mut Rng, buffer_pages: u64) -> Vec<String> {
    let mut pick = |key: &str, from: &[&str]| format!("{key}={}", from[rng.below(from.len() as u64) as usize]);
    let mut sets = vec![
        pick("gc.preemptible", &["false", "true"]),
        pick("device.host_link.queue_depth", &["1", "2", "8", "32"]),
        pick("device.timing.page_transfer_ns", &["1", "3413", "82000"]),
        pick("device.timing.command_ns", &["0", "400"]),
        pick("device.cells.stripe", &["\"page\"", "\"row\""]),
        pick("device.cells.pad_after_ns", &["0", "1", "100003", "3000017"]),
        pick("device.bus.joint_reads", &["\"none\"", "\"same_row\"", "\"any\""]),
        pick("controller.bus_order", &["\"data_first\"", "\"command_first\""]),
    ];
    if rng.below(3) > 0 {
        let fraction = [0.0, 0.5, 1.0][rng.below(3) as usize];
        sets.push(format!("write_buffer.bytes={}", (buffer_pages + rng.below(20)) * PAGE));
        sets.push(format!("write_buffer.destage_fraction={fraction}"));
        sets.push(format!("write_buffer.idle_ns={}", 1 + rng.below(2_000_000)));
    }
    if rng.below(2) == 0 {
        sets.push("device.bus.partial_pages=true".to_string());
    }
    if rng.below(3) == 0 {
        sets.push("device.bus.cache_read=false".to_string());
        sets.push("device.bus.cache_program=false".to_string());
    } else {
        sets.push("device.bus.cache_busy_ns=3001".to_string());
    }
    if rng.below(2) == 0 {
        sets.extend(SUSPENSION.map(String::from));
        sets.extend(draw_suspension(rng));
    }
    if rng.below(4) == 0 {
        sets.push("controller.power_budget_ma=685".to_string()); // two dies of the preset `limit`
    }
    sets
}

/// What bounds suspensions.
fn draw_suspension(rng: &mut Rng) -> [String; 3] {
    [
        format!("device.suspend.resume=\"{}\"", ["continue", "restart"][rng.below(2) as usize]),
        format!("device.suspend.min_run_ns={}", [0, 1, 200_003][rng.below(3) as usize]),
        format!("device.suspend.max={}", [1, 3, 64][rng.below(3) as usize]),
    ]
}

/// What the engine of a drive can be told whose pages are programmed one by one and suspended.
fn draw_suspending(rng: &mut Rng) -> Vec<String> {
    let mut pick = |key: &str, from: &[&str]| format!("{key}={}", from[rng.below(from.len() as u64) as usize]);
    let mut sets = vec![
        pick("gc.preemptible", &["false", "true"]),
        pick("device.host_link.queue_depth", &["1", "2", "8", "32"]),
        pick("device.timing.page_transfer_ns", &["1", "3413", "82000"]),
        pick("device.timing.command_ns", &["0", "400"]),
        pick("device.bus.cache_read", &["false", "true"]),
        pick("device.bus.cache_program", &["false", "true"]),
        pick("controller.bus_order", &["\"data_first\"", "\"command_first\""]),
        pick("write_buffer.bytes", &["0", "49152"]),
    ];
    sets.extend(draw_suspension(rng));
    sets
}

/// The map holds the host's data without a clock, and the drive's rows can be ended at any time.
#[test]
fn maps_and_blocks_without_a_clock() {
    holds_data_without_a_clock(&some_schemes());
}

/// The same with a cache of blocks in SLC mode.
#[test]
fn maps_and_blocks_without_a_clock_with_a_cache() {
    holds_data_without_a_clock(&caches());
}

/// The same with rows of two passes.
#[test]
fn maps_and_blocks_without_a_clock_with_two_passes() {
    holds_data_without_a_clock(&two_passes());
}

fn holds_data_without_a_clock(schemes: &[Scheme]) {
    let each = tier::size(LEAST_REQUESTS, 4 * REQUESTS / schemes.len());
    for_each_scheme(schemes, 1, |scheme, seed| {
        let mut rng = Rng::new(seed);
        let config = tiny(scheme, &mut rng, &[]);
        let (geometry, mut firmware, mut array, filled) = build(&config);
        let mut oracle = Oracle::new(&geometry, filled);
        let mut clockless = Clockless::new(&geometry, &mut firmware, &mut array);
        for at in 0..each {
            let request = draw_request(&mut rng, config.logical_bytes());
            oracle.apply(&request);
            assert!(clockless.request(&request).is_ok(), "request {at} finds no room");
            if rng.below(16) == 0 {
                clockless.end_rows();
                has_whole_rows(clockless.array);
            }
            if at % 64 == 0 || at + 1 == each {
                oracle.check(clockless.firmware, clockless.array);
            }
        }
    });
}

/// No block ends within a row.
fn has_whole_rows(array: &Array) {
    let mut blocks = (0..array.geometry().blocks).map(flashwatt_base::units::BlockId);
    let is_whole = |block| array.planned_pages(block).is_multiple_of(array.row_pages(block));
    assert!(blocks.all(is_whole), "a block ends within a row");
}

#[test]
fn contents_without_a_clock() {
    for_each_scheme(&[layers(), caches(), two_passes()].concat(), 1, |scheme, seed| {
        let mut rng = Rng::new(!seed);
        let config = tiny(scheme, &mut rng, &[]);
        let (geometry, mut firmware, mut array, filled) = build(&config);
        let mut shadow = Shadow::new(&geometry, &mut firmware, &mut array, filled)
            .mapped(config.run.precondition == Precondition::Mapped);
        for _ in 0..400 {
            shadow.request(&draw_request(&mut rng, config.logical_bytes()));
        }
        shadow.check();
    });
}

/// Requests at random times.
fn requests(config: &Config, rng: &mut Rng) -> Vec<Request> {
    let mut at = 0;
    let next = |_| {
        at += [0, 0, 0, 50_000, 3_000_000][rng.below(5) as usize];
        Request { arrival_ns: at, ..draw_request(rng, config.logical_bytes()) }
    };
    (0..150).map(next).collect()
}

/// Runs requests under the referee and the shadow check: all of them end, the drive holds what the host wrote, and ends with whole rows.
/// Returns what was done.
fn run_and_check(config: &Config, requests: &[Request]) -> Vec<Done> {
    let (geometry, firmware, array, filled) = build(config);
    let mut oracle = Oracle::new(&geometry, filled);
    requests.chunks(GROUP).for_each(|group| oracle.apply_together(group));
    let mut script = Script::in_groups(requests, GROUP);
    let probe = (flashwatt_ssd::observe::check::Shadow::new(&geometry, &firmware), Log::default());
    let sim = Sim::new(&config.run.stages(), Ssd::new(config.ssd(), firmware, array, None, probe), &mut script);
    let mut told = 0;
    let (outcome, ssd) = sim.run(&mut |_| {
        told += 1;
        told < 400 // of at most 16,384 instants each
    });
    let (accounts, firmware, array) = ssd.into_parts();
    assert!(matches!(outcome.end, End::Complete), "the run ends otherwise: {:?}", outcome.end);
    assert_eq!(outcome.completed.requests(), requests.len() as u64, "every request completes, and in the window");
    oracle.check(&firmware, &array);
    has_whole_rows(&array);
    let ops = accounts.probe.1.ops;
    check_pages(config, &geometry, &ops);
    check_rows(config, &ops);
    ops
}

/// The pages of a row end together, after the time of its program.
fn check_rows(config: &Config, ops: &[Done]) {
    let device = &config.ssd().device;
    let slc = device.cells.as_ref().and_then(|cells| cells.slc.as_ref());
    let row_of = |done: &&Done| (done.t.end, done.op.at.block.0);
    let mut programs: Vec<&Done> = ops.iter().filter(|done| done.op.kind == OpKind::Program).collect();
    programs.sort_by_key(|done| (row_of(done), done.op.at.page));
    for row in programs.chunk_by(|one, other| row_of(one) == row_of(other)) {
        let (size, native) = (row.len() as u32, device.row_pages());
        let is_blank = row.iter().all(|done| done.op.cause == Cause::Pad);
        let least = match slc {
            Some(slc) if size == native / 3 => slc.program_ns,
            _ => match &device.cells {
                Some(cells) if cells.passes == 2 && is_blank => cells.first_pass_ns,
                Some(cells) => cells.program_ns,
                None => device.timing.program_ns,
            },
        };
        assert!(size == native || slc.is_some_and(|slc| slc.program_ns == least), "a part of a row: {:?}", row[0].op);
        assert!(row[0].op.at.page.is_multiple_of(size), "pages of two rows: {:?}", row[0].op);
        assert!(row.windows(2).all(|pages| pages[0].op.at.page + 1 == pages[1].op.at.page), "{:?}", row[0].op);
        let array_ns = row[0].t.array_end - row[0].t.array_start;
        let is_as_planned = [least, least + device.bus.cache_busy_ns].contains(&array_ns);
        assert!(is_as_planned || device.suspend.is_some() && array_ns > least, "{array_ns}");
    }
}

/// Runs requests, of some seeds twice.
fn run_twice(config: &Config, rng: &mut Rng, seed: u64) {
    let requests = requests(config, rng);
    let ops = run_and_check(config, &requests);
    if seed.is_multiple_of(8) {
        let times = |ops: &[Done]| ops.iter().map(|done| (done.op.seq, done.t.start, done.t.end)).collect::<Vec<_>>();
        assert_eq!(times(&ops), times(&run_and_check(config, &requests)), "another run");
    }
}

/// Every request completes, the state at the end is what the host wrote, and what was done obeys the rules of pages and rows; twice the
/// same.
#[test]
fn every_scheme_with_a_clock() {
    comes_to_its_end(&some_schemes());
}

/// The same with a cache of blocks in SLC mode.
#[test]
fn every_cache_with_a_clock() {
    comes_to_its_end(&caches());
}

/// The same with rows of two passes.
#[test]
fn every_scheme_with_two_passes() {
    comes_to_its_end(&two_passes());
}

fn comes_to_its_end(schemes: &[Scheme]) {
    for_each_scheme(schemes, tier::size(1, 20), |scheme, seed| {
        let mut rng = Rng::new(seed ^ 0xc10c);
        let has_two_passes = scheme.iter().any(|set| set == "device.cells.passes=2");
        let timing = draw_timing(&mut rng, if has_two_passes { 3 * 3 * 12 } else { 3 * 2 * 12 });
        run_twice(&tiny(scheme, &mut rng, &timing), &mut rng, seed);
    });
}

/// The same with the cached part of the map in the host's memory.
#[test]
fn every_scheme_with_rows_and_a_map_in_the_hosts_memory() {
    comes_to_its_end(&with_host_memory(&some_schemes()));
}

/// The same of pages that are programmed one by one and suspended.
#[test]
fn every_scheme_with_suspended_pages() {
    for_each_scheme(&with_suspension(&in_turn(schemes())), tier::size(4, 20), |scheme, seed| {
        let mut rng = Rng::new(seed ^ 0x505);
        let timing = draw_suspending(&mut rng);
        run_twice(&tiny(scheme, &mut rng, &timing), &mut rng, seed);
    });
}

/// The start states of a drive, those that are reached without a clock among them.
const STARTS: [&[&str]; 5] = [
    &["run.precondition=\"empty\""],
    &["run.precondition=\"filled\""],
    &["run.precondition=\"mapped\""],
    &["run.precondition=\"steady\""],
    &[
        "run.precondition.zipf.requests=303",
        "run.precondition.zipf.request_bytes=6144",
        "run.precondition.zipf.align_bytes=2048",
        "run.precondition.zipf.read_fraction=0.3",
        "run.precondition.zipf.trim_fraction=0.1",
    ],
];

/// A run from each start state comes to its end.
#[test]
fn every_start_state_ends_on_rows() {
    every_start_state_ends(&layers());
}

/// The same with a cache of blocks in SLC mode.
#[test]
fn every_start_state_with_a_cache_ends_on_rows() {
    every_start_state_ends(&caches());
}

/// The same with rows of two passes.
#[test]
fn every_start_state_with_two_passes_ends_on_rows() {
    every_start_state_ends(&two_passes());
}

fn every_start_state_ends(schemes: &[Scheme]) {
    for_each_scheme(schemes, 1, |scheme, seed| {
        for start in STARTS {
            let mut sets = tiny_sets(scheme, &mut Rng::new(seed), &[]);
            let replaced = ["run.precondition", "workload.", "device.logical_bytes"];
            sets.retain(|set| !replaced.iter().any(|key| set.starts_with(key)));
            sets.extend(start.iter().map(ToString::to_string));
            sets.extend(["workload.uniform.requests=200", "workload.uniform.read_fraction=0.4"].map(String::from));
            sets.extend(["device.blocks_per_plane=48", "device.op_ratio=4"].map(String::from)); // rows may be padded
            let config = load_sets(&sets);
            let options = RunOptions { check: true, ..RunOptions::default() };
            let report = flashwatt::run(&config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(report.status, "complete", "{start:?}");
        }
    });
}
