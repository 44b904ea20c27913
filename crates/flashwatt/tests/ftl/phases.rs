//! The phases of the dies in the start state `steady`: a short window has the figures of a long run, and differs from seed to seed as much
//! as they are uncertain.

use std::collections::BTreeSet;

use flashwatt::Report;

use crate::common::{assert_within, preset, run_plain, tier};

const PAGES_PER_BLOCK: u64 = 32;
const DIES: u64 = 16;
/// Pages of the host that fill one block of each die.
const WAVE: u64 = DIES * PAGES_PER_BLOCK;

fn window(requests: u64, warmup: u64, seed: u64, sets: &[&str]) -> Report {
    let own = [
        "device.channels=4".to_string(),
        "device.ways=4".to_string(),
        format!("device.pages_per_block={PAGES_PER_BLOCK}"),
        "device.blocks_per_plane=96".to_string(),
        "device.op_ratio=0.15".to_string(),
        "run.precondition=steady".to_string(),
        format!("workload.uniform.requests={}", requests + warmup + 64),
        format!("run.measure.requests={requests}"),
        format!("run.warmup.requests={warmup}"),
        format!("run.seed={seed}"),
    ];
    let all: Vec<&str> = own.iter().map(String::as_str).chain(sets.iter().copied()).collect();
    run_plain(&preset("limit", &all))
}

fn write_amplification(report: &Report) -> f64 {
    report.ssd().flash.write_amplification.expect("the host wrote")
}

fn warns_of_its_window(report: &Report) -> bool {
    let words = ["part of a wave", "fell behind", "has not settled"];
    words.iter().any(|words| report.warnings.iter().any(|warning| warning.contains(words)))
}

/// The mean over seeds of short windows, with and without a warm-up, beside one long window: for each way to the state.
#[test]
fn short_windows_have_the_figures_of_a_long_run() {
    let seeds = tier::size(8, 40) as u64;
    let long = tier::size(40_000, 2_000_000) as u64;
    for sets in [
        &["ftl=page"][..],
        &["ftl.page.frontiers=shared"],
        &["ftl.page.allocation=static"],
        &["gc.policy=cost_benefit"],
        &["gc.policy=random"],
        &["ftl=dftl", "ftl.dftl.cmt_fraction=0.05"],
    ] {
        let expected = write_amplification(&window(long, long / 5, 99, sets));
        for warmup in [0, 4 * WAVE] {
            let runs: Vec<Report> = (1..=seeds).map(|seed| window(4 * WAVE, warmup, seed, sets)).collect();
            let mean = runs.iter().map(write_amplification).sum::<f64>() / seeds as f64;
            assert_within(mean, expected, 0.05, &format!("{}, after {warmup}", sets.join(" ")));
        }
    }
}

/// Windows of a quarter of a wave begin in all parts of it: they differ from seed to seed, and so do the drives.
#[test]
fn seeds_begin_at_different_instants() {
    let first = |seed| window(WAVE / 4, 0, seed, &[]);
    let found: Vec<f64> = (1..=8).map(|seed| write_amplification(&first(seed))).collect();
    let different: BTreeSet<u64> = found.iter().map(|value| value.to_bits()).collect();
    assert_eq!(different.len(), 8, "{found:?}");
    let (least, most) = found.iter().fold((f64::MAX, 0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    assert!(least > 1.2 && most > 1.2 * least, "neither in step nor all alike: {found:?}");
}

/// The members of an array do not collect at the same time: in a quarter of a wave they copy different numbers of pages.
#[test]
fn members_of_an_array_begin_at_different_instants() {
    let report = window(WAVE, 0, 1, &["array.members=4"]);
    let json = serde_json::to_value(&report).expect("JSON");
    let members = json["members"].as_array().expect("its members");
    let copies: BTreeSet<u64> = members.iter().filter_map(|of| of["flash"]["programs"]["gc"].as_u64()).collect();
    assert_eq!(copies.len(), 4, "{copies:?}");
}

/// A drive that was filled in the order of addresses collects in step. A window with a part of a wave says so, one of many waves need not;
/// and a drive in the phases of a long run does not.
#[test]
fn a_part_of_a_wave_carries_a_warning() {
    let in_step = |requests| {
        let force = ["run.precondition.uniform.requests=200000", "run.precondition.uniform.request_bytes=4096"];
        window(requests, 0, 1, &force)
    };
    let part = in_step(WAVE - 8);
    let said = part.warnings.iter().any(|warning| {
        warning.contains("part of a wave") && warning.contains("16 dies x 32 pages per block = 512 pages")
    });
    assert!(said, "{:?}", part.warnings);
    let long = in_step(100 * WAVE);
    assert!(!warns_of_its_window(&long), "{:?}", long.warnings);
    let alarms = (1..=20).filter(|&seed| warns_of_its_window(&window(10 * WAVE, 0, seed, &[]))).count();
    assert!(alarms <= 1, "{alarms} of 20");
}
