//! Runs at the limits of the simulator: very large blocks, the last instants of time, rates that carry nothing.

use crate::common::{PROBE_DRIVE, Script, load, preset, read, write};
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt::run;
use flashwatt::run::StartState;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;

/// Runs a script; how it ends is up to the caller.
fn ends(config: &Config, requests: &[Request]) -> Report {
    let drive = StartState::new(config).expect("a drive");
    let mut script = Script::new(requests);
    let report = drive.run(config, &RunOptions::default(), &mut script, (), &mut |_| true);
    report.expect("a report").0
}

/// A read of the last page of a block that is being rewritten moves every program before it to its own class. A thread that
/// embeds the engine may have a small stack.
#[test]
fn as_many_operations_as_a_block_has_pages_can_inherit_a_class() {
    let sets = [
        "ftl=block",
        "controller.policy=out_of_order",
        "device.channels=1",
        "device.ways=1",
        "device.planes=1",
        "device.pages_per_block=1000",
        "device.blocks_per_plane=5",
        "device.spare_fraction=0.4",
        "device.nand.program_order=ascending",
    ];
    let config = preset("limit", &sets);
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    let run = move || ends(&config, &[write(0, 0, 1), read(0, 999, 1)]);
    let report = thread.spawn(run).expect("a thread").join().expect("no panic");
    assert_eq!((&*report.status, report.workload.requests), ("complete", 2));
}

/// The greatest key of an event's instant and its resource, of which [`PROBE_DRIVE`] has eight.
const END_OF_TIME: Nanos = u64::MAX >> 3;

#[test]
fn no_run_goes_on_beyond_the_end_of_simulated_time() {
    let config = load(PROBE_DRIVE, &[]);
    for before_ns in [0, 2, 1_000, 3_000_000, 3_100_000] {
        let report = ends(&config, &[read(0, 1, 1), write(END_OF_TIME - before_ns, 0, 1)]);
        assert!(report.status.starts_with("failed: "), "{before_ns} ns before the end: {}", report.status);
        assert!(report.status.contains("beyond the end of simulated time"), "{}", report.status);
        assert_eq!(report.workload.writes, 0, "it was not done");
        assert!(report.latency_ns.all.max < Some(1_000_000), "{:?}", report.latency_ns.all);
    }
    let report = ends(&config, &[read(0, 1, 1), write(END_OF_TIME - 10_000_000, 0, 1)]);
    assert_eq!((&*report.status, report.workload.requests), ("complete", 2));
}

/// The link is not asked for what it can do: what is put on it may arrive after the end of time.
#[test]
fn a_link_that_is_never_done_ends_the_run() {
    let sets = ["device.host_link.command_ns=1_000_000_000_000", "device.host_link.queue_depth=3"];
    let config = load(PROBE_DRIVE, &sets);
    let at = END_OF_TIME - 2_500_000_000_000;
    let report = ends(&config, &[write(at, 0, 1), write(at, 1, 1), write(at, 2, 1)]);
    assert!(report.status.contains("beyond the end of simulated time"), "{}", report.status);
    assert_eq!(report.workload.requests, 2);
}

/// The energy table's rates carry no request's data: they only say how long a part works for it.
#[test]
fn rates_that_cannot_carry_what_was_moved_are_refused_when_the_run_ends() {
    for (key, low) in [("energy.host_interface.bandwidth_mb_s", 0.01), ("energy.dram.data_mb_s", 0.01)] {
        let config = preset(
            "energysim",
            &[
                "device.blocks_per_plane=32",
                "device.channels=2",
                "device.ways=2",
                "workload.uniform.requests=200",
                &format!("{key}={low}"),
            ],
        );
        let report = run(&config, &RunOptions::default(), &mut |_| true).expect("a report");
        assert!(report.status.starts_with("failed: ") && report.status.contains(key), "{}", report.status);
        assert!(report.status.contains("mean power lies above the peak"), "{}", report.status);
    }
}
