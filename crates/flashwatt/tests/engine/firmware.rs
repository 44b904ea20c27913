//! The time of the firmware: latencies by hand, and the throughput of its cores.

use crate::common::delays::{COMMAND, P, PROGRAM, R, TRANSFER};
use crate::common::{Log, PAGE, PROBE_DRIVE, assert_within, half_write, load, play, preset, read, run_plain, write};
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};

const COMMANDS: &str = "device.firmware.command_ns=2003";
const READS: &str = "device.firmware.read_ns=20011";
const WRITES: &str = "device.firmware.write_ns=5623";

fn probe(sets: &[&str]) -> Config {
    load(PROBE_DRIVE, sets)
}

/// When requests end, in the order of their admission.
fn ends(log: &Log) -> Vec<Nanos> {
    let mut ends: Vec<_> = log.requests.iter().map(|done| (done.admitted_ns, done.id.0, done.end_ns)).collect();
    ends.sort_unstable();
    ends.into_iter().map(|(.., end)| end).collect()
}

fn of_kind(at: Nanos, kind: RequestKind) -> Request {
    let bytes = if kind == RequestKind::Flush { 0 } else { PAGE };
    Request { bytes, ..Request::new(at, kind, 0, bytes) }
}

/// Alone in the drive: the core's time for each command, and that of reads and writes.
#[test]
fn one_request_takes_the_firmwares_time() {
    let config = probe(&[COMMANDS, READS, WRITES]);
    for (request, latency) in [
        (read(0, 3, 1), 2_003 + 20_011 + R),
        (write(0, 3, 1), 2_003 + 5_623 + P),
        (half_write(0, 3), 2_003 + 5_623 + R + P),
        (of_kind(0, RequestKind::Trim), 2_003),
        (of_kind(0, RequestKind::Flush), 2_003),
    ] {
        let (report, log) = play(&config, &[request]);
        assert_eq!(ends(&log), [latency], "{request:?}");
        assert_eq!(report.energy_integral_j, report.ssd().energy_j.total);
    }
}

/// The firmware gets a command when it has crossed the link, a write with its data; the data of a read crosses it after the read.
#[test]
fn the_firmware_is_behind_the_link() {
    let link = ["device.host_link.bandwidth_mb_s=1000", "device.host_link.command_ns=307"];
    let config = probe(&[&link[..], &[COMMANDS, READS, WRITES]].concat());
    assert_eq!(ends(&play(&config, &[read(0, 3, 1)]).1), [307 + 2_003 + 20_011 + R + 4_096]);
    assert_eq!(ends(&play(&config, &[write(0, 3, 1)]).1), [307 + 4_096 + 2_003 + 5_623 + P]);
}

/// With a write buffer a write is acknowledged when the firmware has put it there.
#[test]
fn the_firmware_is_before_the_write_buffer() {
    let config = probe(&[COMMANDS, READS, WRITES, "write_buffer.bytes=65536", "write_buffer.idle_ns=1000000000"]);
    let (_, log) = play(&config, &[write(0, 3, 1), read(1_000_000, 3, 1)]);
    assert_eq!(ends(&log), [2_003 + 5_623, 1_000_000 + 2_003 + 20_011], "the read finds it in the buffer");
}

/// A command waits for the core, and not a nanosecond longer; the times of kinds are nobody's to wait for.
#[test]
fn commands_wait_for_a_core() {
    let sets = ["device.ways=2", "device.channels=2", "device.timing.command_ns=0"];
    let starts = |more: &[&str], at: Nanos| {
        let (_, log) = play(&probe(&[&sets[..], more].concat()), &[read(0, 0, 1), read(at, 1, 1)]);
        log.ops.iter().map(|done| done.t.start).collect::<Vec<_>>()
    };
    assert_eq!(starts(&[COMMANDS], 0), [2_003, 4_006]);
    assert_eq!(starts(&[COMMANDS], 2_002), [2_003, 4_006]);
    assert_eq!(starts(&[COMMANDS], 2_003), [2_003, 4_006]);
    assert_eq!(starts(&[COMMANDS], 2_004), [2_003, 4_007]);
    assert_eq!(starts(&[COMMANDS, "device.firmware.cores=2"], 5), [2_003, 2_008]);
    assert_eq!(starts(&[READS], 5), [20_011, 20_016]);
}

/// A read that is sooner done with the firmware than a write before it overtakes it there. Commands of one kind keep their order.
#[test]
fn kinds_may_overtake_each_other() {
    let config = probe(&["device.firmware.read_ns=1000", "device.firmware.write_ns=9000"]);
    let (_, log) = play(&config, &[write(0, 3, 1), read(10, 3, 1), write(20, 4, 1), read(30, 4, 1)]);
    let starts: Vec<(Nanos, bool)> = log.ops.iter().map(|done| (done.op.seq, done.op.request.0 % 2 == 0)).collect();
    assert_eq!(log.ops.len(), 4, "{starts:?}");
    let kinds: Vec<&str> = log.ops.iter().map(|done| done.op.kind.name()).collect();
    assert_eq!(kinds, ["read", "read", "program", "program"], "in the order of planning");
    let pages: Vec<u64> = log.requests.iter().map(|done| done.admitted_ns).collect();
    assert_eq!(pages, [10, 30, 0, 20], "each kind in its order");
}

/// The M/D/c bound: so many cores of a time let no more commands through, and at depth they let that many.
#[test]
fn cores_bound_the_rate_at_depth() {
    for (cores, command_ns) in [(1, 2_000), (1, 1_000), (2, 2_000), (3, 2_500), (4, 10_000)] {
        let firmware = [format!("device.firmware.cores={cores}"), format!("device.firmware.command_ns={command_ns}")];
        let sets = [
            "device.blocks_per_plane=64",
            "device.channels=64",
            "device.ways=4",
            "device.host_link.queue_depth=512",
            "run.precondition=\"filled\"",
            "device.timing.page_transfer_ns=10",
            "workload.uniform.requests=60000",
            "workload.uniform.read_fraction=1",
            "workload.uniform.queue_depth=512",
            "run.warmup.requests=10000",
            "device.firmware.read_ns=20000",
            &firmware[0],
            &firmware[1],
        ];
        let report = run_plain(&preset("limit", &sets));
        let bound = f64::from(cores) * 1e9 / f64::from(command_ns);
        assert_within(report.throughput.iops, bound, 1e-3, &format!("{cores} cores of {command_ns} ns"));
    }
}

/// A fixed time lengthens each latency of a closed loop by itself, and nothing else: the mean of one request at a time says so.
#[test]
fn a_fixed_time_is_added_to_each_latency() {
    let run = |sets: &[&str]| {
        let work =
            ["workload.uniform.requests=100", "workload.uniform.queue_depth=1", "workload.uniform.read_fraction=0.7"];
        run_plain(&probe(&[&work[..], &["device.pages_per_block=64"], sets].concat()))
    };
    let (base, slow) = (run(&[]), run(&[READS, WRITES]));
    let means = |report: &flashwatt::Report| {
        [report.latency_ns.read.mean, report.latency_ns.write.mean].map(Option::unwrap_or_default)
    };
    let more: Vec<f64> = means(&slow).into_iter().zip(means(&base)).map(|(slow, base)| slow - base).collect();
    assert_eq!(base.ssd().flash.erases.total, 0, "nothing else goes on");
    assert_within(more[0], 20_011.0, 1e-9, "reads");
    assert_within(more[1], 5_623.0, 1e-9, "writes");
    let [slow, base] = [slow, base].map(|report| serde_json::to_value(&report.ssd().flash).expect("counts are JSON"));
    assert_eq!(slow, base, "the flash does the same");
}

/// Requests in the firmware are in the drive: its controller is active.
#[test]
fn requests_in_the_firmware_are_outstanding() {
    let (report, _) = play(&probe(&[COMMANDS, WRITES]), &[write(0, 3, 1)]);
    assert_eq!(report.ssd().ledger.elapsed_ns.busy, P);
    assert_eq!(report.ssd().ledger.elapsed_ns.outstanding, 2_003 + 5_623);
    assert_eq!((P, COMMAND), (COMMAND + TRANSFER + PROGRAM, 409));
}
