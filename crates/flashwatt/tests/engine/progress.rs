//! What a long run tells on its way, and how it ends when it is asked to.

use flashwatt::Error;
use flashwatt::Progress;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::{Config, load};
use flashwatt::run;

/// Theory gives the steady state for greedy collection only: under another policy writes follow.
const BY_FORCE: &str = "gc.policy=fifo";

fn config(sets: &[&str]) -> Config {
    let small = ["device.blocks_per_plane=64", "workload.uniform.requests=200000", "workload.uniform.read_fraction=1"];
    let sets: Vec<String> = small.iter().chain(sets).map(ToString::to_string).collect();
    load("", "test.toml", &sets).expect("a valid configuration")
}

fn told(config: &Config) -> Vec<Progress> {
    let mut told = Vec::new();
    let report = run(config, &RunOptions::default(), &mut |progress| {
        told.push(*progress);
        true
    });
    assert_eq!(report.expect("a run").status, "complete");
    told
}

#[test]
fn the_total_is_what_the_run_will_take() {
    let total = |sets: &[&str]| config(sets).run.requests(Some(200_000));
    assert_eq!(total(&[]), Some(200_000));
    assert_eq!(total(&["run.measure.requests=70000"]), Some(70_000));
    assert_eq!(total(&["run.measure.requests=70000", "run.warmup.requests=1000"]), Some(71_000));
    assert_eq!(total(&["run.measure.requests=199000", "run.warmup.requests=2000"]), Some(200_000));
    assert_eq!(total(&["run.warmup.requests=1000"]), Some(200_000), "all the rest is measured");
    assert_eq!(total(&["run.warmup.seconds=1"]), Some(200_000));
    assert_eq!(total(&["run.measure.seconds=1"]), None, "only the run will tell");
    assert_eq!(total(&["run.measure.requests=9", "run.warmup.seconds=1"]), None);
    assert_eq!(config(&["run.measure.requests=9"]).run.requests(None), Some(9));
    assert_eq!(config(&[]).run.requests(None), None);
}

#[test]
fn progress_grows_towards_the_total() {
    let told = told(&config(&["run.measure.requests=150000", "run.warmup.requests=10000"]));
    let told: Vec<_> = told.into_iter().filter(|progress| progress.preparing.is_none()).collect();
    assert!(told.len() > 1);
    assert!(told.iter().all(|progress| progress.preparing.is_none() && progress.requests_total == Some(160_000)));
    assert!(told.is_sorted_by_key(|progress| (progress.requests_done, progress.now_ns)));
    assert!(told.iter().all(|progress| progress.requests_done <= 160_000));
}

#[test]
fn a_start_state_laid_down_by_running_tells_how_far_it_is() {
    let told = told(&config(&[BY_FORCE, "run.precondition=steady"]));
    let first_of_run =
        told.iter().position(|progress| progress.preparing.is_none()).expect("the run itself tells as well");
    let (start, run) = told.split_at(first_of_run);
    assert!(start.len() > 10, "{}", start.len());
    assert!(start.is_sorted_by_key(|progress| progress.requests_done));
    assert!(
        start.iter().all(|progress| progress.requests_total > Some(progress.requests_done) && progress.now_ns == 0)
    );
    assert!(run.iter().all(|progress| progress.preparing.is_none() && progress.requests_total == Some(200_000)));
}

#[test]
fn a_start_state_can_be_interrupted() {
    let workload = ["run.precondition.uniform.requests=100000000"];
    for sets in [&[BY_FORCE, "run.precondition=steady"] as &[&str], &workload] {
        let mut asked = 0;
        let result = run(&config(sets), &RunOptions::default(), &mut |_| {
            asked += 1;
            asked < 3
        });
        let Err(error @ Error::Interrupted { done, total: Some(total) }) = result else { panic!("not interrupted") };
        assert!(asked == 3 && done < total, "{asked} {done} {total}");
        assert!(error.to_string().contains("start state was laid down"), "{error}");
    }
}

/// Pages that are filled, by theory and by a layer of whole blocks too, and flash operations without a clock: each is heard of.
#[test]
fn progress_is_called_throughout_the_preparation_of_a_start_state() {
    let filled: &[&str] = &["run.precondition=filled"];
    let starts = [filled, &["run.precondition=steady"], &["run.precondition=filled", "ftl=block"], &["ftl=dftl"]];
    for sets in starts {
        let mut asked = 0;
        let result =
            run(&config(&[sets, &["device.blocks_per_plane=256"]].concat()), &RunOptions::default(), &mut |_| {
                asked += 1;
                false
            });
        let Err(Error::Interrupted { done, total: Some(total) }) = result else { panic!("{sets:?}: not interrupted") };
        assert!(asked == 1 && done < total, "{sets:?}: {asked} {done} {total}");
    }
}

#[test]
fn requests_that_take_many_operations_are_no_excuse() {
    let few = ["ftl=block", "run.precondition.uniform.requests=3000", "run.precondition.uniform.read_fraction=0"];
    let told = told(&config(&few));
    let preparing: Vec<_> = told.iter().filter(|progress| progress.preparing.is_some()).collect();
    let (_, overwriting) = preparing.split_at(preparing.len() / 2);
    assert!(overwriting.len() > 3, "{preparing:?}");
    assert!(preparing.is_sorted_by_key(|progress| progress.requests_done));
}

#[test]
fn a_drive_of_many_dies_is_asked_more_often() {
    let asked = |sets: &[&str]| told(&config(sets)).iter().filter(|progress| progress.preparing.is_none()).count();
    let reads = [
        "device.preset=limit",
        "device.blocks_per_plane=16",
        "device.pages_per_block=16",
        "device.op_ratio=0.6",
        "device.host_link.queue_depth=512",
        "workload.uniform.queue_depth=512",
        "workload.uniform.requests=50000",
    ];
    let few = asked(&[&reads[..], &["device.channels=2", "device.ways=2"]].concat());
    let many = asked(&[&reads[..], &["device.channels=32", "device.ways=32"]].concat());
    assert!(many > few, "{many} and {few}");
}

#[test]
fn a_run_that_is_interrupted_reports_what_it_did() {
    let stop = &mut |progress: &Progress| progress.preparing.is_some();
    let report = run(&config(&[]), &RunOptions::default(), stop).expect("a report");
    assert_eq!(report.status, "interrupted");
    assert!(report.workload.requests > 0);
}

/// Reads, programs and erases that a report counts.
fn flash_ops(report: &Report) -> u64 {
    report.ssd().flash.reads.total + report.ssd().flash.programs.total + report.ssd().flash.erases.total
}

/// A drive that collects, with copies on the die, and with a warm-up; and its reports.
fn budgeted(sets: &[&str]) -> Report {
    let drive = [
        "device.blocks_per_plane=64",
        "device.nand.copyback=true",
        "workload.uniform.requests=20000",
        "run.warmup.requests=500",
        "run.precondition=steady",
    ];
    let sets: Vec<String> = drive.iter().chain(sets).map(ToString::to_string).collect();
    let config = load("device.preset = \"limit\"", "test.toml", &sets).expect("a valid configuration");
    run(&config, &RunOptions::default(), &mut |_| true).expect("a run")
}

#[test]
fn a_budget_of_operations_ends_a_run_where_it_is_used_up() {
    let at_once = 2 * 32; // operations that its 32 dies can end at one instant, copies being two
    for budget in [3_000, 10_000, 20_001] {
        let report = budgeted(&[&format!("run.max_flash_ops={budget}"), "run.warmup.requests=0"]);
        assert_eq!(report.status, format!("stopped: operation budget of {budget} reached"));
        let taken = flash_ops(&report);
        assert!((budget + 1..=budget + at_once).contains(&taken), "{taken} of {budget}");
        assert!(report.workload.requests > 0 && report.ssd().energy_j.total > 0.0, "what was done is kept");
    }
}

#[test]
fn a_budget_that_is_not_exceeded_changes_nothing() {
    let free = budgeted(&["run.warmup.requests=0", "run.count_drain=true"]);
    let taken = flash_ops(&free);
    assert_eq!(free.status, "complete");
    let capped = |budget: u64| {
        budgeted(&["run.warmup.requests=0", "run.count_drain=true", &format!("run.max_flash_ops={budget}")])
    };
    let mut enough = capped(taken);
    assert_eq!(enough.status, "complete", "a budget of just what it takes");
    (enough.config, enough.config_sha256) = (free.config.clone(), free.config_sha256.clone());
    let json = |report: &Report| serde_json::to_string(report).expect("a report is JSON");
    assert_eq!(json(&enough), json(&free));
    assert_eq!(capped(taken - 1).status, format!("stopped: operation budget of {} reached", taken - 1));
}

#[test]
fn a_budget_counts_the_warm_up_and_ends_at_the_same_place_every_time() {
    let [once, again] = [0; 2].map(|_| budgeted(&["run.max_flash_ops=8000"]));
    assert_eq!(once.throughput.simulated_s, again.throughput.simulated_s);
    assert_eq!((once.window.warmup, flash_ops(&once)), (again.window.warmup, flash_ops(&again)));
    assert!(once.window.warmup == 500 && flash_ops(&once) < 8_000, "{}", flash_ops(&once));
    let in_warm_up = budgeted(&["run.max_flash_ops=100"]);
    assert_eq!(in_warm_up.status, "stopped: operation budget of 100 reached");
    assert_eq!(in_warm_up.workload.requests, 0, "nothing was measured");
}
