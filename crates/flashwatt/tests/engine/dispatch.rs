//! Which operation starts next: how often others may go ahead of it, and what a bus carries first.

use crate::common::delays::{COMMAND, R, TRANSFER};
use crate::common::{self, Log, load, play, preset, read, run_own, run_plain, write};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::RequestKind;
use flashwatt_ssd::ftl::{Cause, OpKind};

/// Channels of the drive, of one way each.
const CHANNELS: u64 = 4;
/// Reads that may go ahead of a write that came before them.
const BYPASS_MAX: usize = 64;

/// On every die a write comes while a read runs, and 100 reads after it.
fn writes_behind_reads(sets: &[&str]) -> Log {
    let all =
        [&["device.channels=4", "device.blocks_per_plane=16", "device.host_link.queue_depth=1000"], sets].concat();
    let first = (0..CHANNELS).map(|page| read(0, page, 1));
    let writes = (0..CHANNELS).map(|page| write(10_000, page, 1));
    let reads = (0..100 * CHANNELS).map(|page| read(10_001, CHANNELS + page % (20 * CHANNELS), 1));
    let script: Vec<_> = first.chain(writes).chain(reads).collect();
    play(&load(common::PROBE_DRIVE, &all), &script).1
}

/// Reads that started on a write's die while it waited, for each write.
fn reads_ahead(log: &Log) -> Vec<usize> {
    let reads = log.all(OpKind::Read, Cause::Host);
    let ahead = |program: &common::Done| {
        let passes = |read: &&common::Done| {
            read.op.at.die == program.op.at.die && read.op.seq > program.op.seq && read.t.start < program.t.start
        };
        reads.iter().filter(passes).count()
    };
    log.all(OpKind::Program, Cause::Host).iter().map(ahead).collect()
}

/// A write is passed over 64 times, and no looking at its channel counts: under a budget that cannot bind, and with a delay
/// between starts, it waits for as many reads as without.
#[test]
fn a_write_is_passed_over_a_fixed_number_of_times() {
    let budget = "controller.power_budget_ma=100000";
    for sets in [&[][..], &[budget], &["device.timing.channel_switch_ns=1"], &["device.timing.channel_switch_ns=1000"]]
    {
        assert_eq!(reads_ahead(&writes_behind_reads(sets)), [BYPASS_MAX; CHANNELS as usize], "{sets:?}");
    }
}

/// A budget for one die less than there are makes operations wait, and still no write waits for more than 64 reads.
#[test]
fn a_budget_that_binds_keeps_the_bound() {
    let log = writes_behind_reads(&["controller.power_budget_ma=611"]);
    assert_eq!(log.concurrency(|done| Some((done.t.start, done.t.end))).len(), 3 + 1, "three dies work");
    // The read before the writes on the fourth die has to wait for power: it is one of the 64 that go ahead.
    assert_eq!(reads_ahead(&log), [BYPASS_MAX, BYPASS_MAX, BYPASS_MAX, BYPASS_MAX - 1]);
}

// ---------------------------------------------------------------- commands and data

/// Two dies of a channel, two reads for the first and one for the second.
fn three_reads(order: &str) -> Vec<(Nanos, Nanos)> {
    let sets = ["device.ways=2", &format!("controller.bus_order=\"{order}\"")];
    let (_, log) = play(&load(common::PROBE_DRIVE, &sets), &[read(0, 0, 1), read(0, 1, 1), read(0, 2, 1)]);
    log.ops.iter().map(|done| (done.t.start, done.t.end)).collect()
}

/// The first die is done with its data when that of the second waits and the first has another read to do.
#[test]
fn a_bus_carries_data_or_commands_first() {
    let data_first = [(0, R), (COMMAND, R + TRANSFER), (R + TRANSFER, 2 * R + TRANSFER)];
    assert_eq!(three_reads("data_first"), data_first);
    let command_first = [(0, R), (COMMAND, R + COMMAND + TRANSFER), (R, 2 * R)];
    assert_eq!(three_reads("command_first"), command_first);
}

/// At the instant at which a read's data comes, a read on the other channel ends, and so lets a third one in, to another die of the
/// channel with the data. What the bus carries first does not depend on which of the two events comes first.
#[test]
fn a_command_of_the_same_instant_goes_before_data() {
    let reads = |order: &str| -> Vec<(Nanos, Nanos)> {
        let order = format!("controller.bus_order=\"{order}\"");
        let sets = ["device.channels=2", "device.ways=2", "device.host_link.queue_depth=2", &order];
        let script = [read(0, 1, 1), read(TRANSFER, 2, 1), read(TRANSFER + 1, 0, 1)];
        let (_, log) = play(&load(common::PROBE_DRIVE, &sets), &script);
        log.ops.iter().map(|done| (done.t.start, done.t.end)).collect()
    };
    let data_first = [(0, R), (TRANSFER, R + TRANSFER), (R + TRANSFER, 2 * R + TRANSFER)];
    assert_eq!(reads("data_first"), data_first);
    let command_first = [(0, R), (TRANSFER, R + COMMAND + TRANSFER), (R, 2 * R)];
    assert_eq!(reads("command_first"), command_first);
}

/// A program takes the bus for a page: it waits until all data has moved out, in either order.
#[test]
fn data_goes_before_programs() {
    for order in ["data_first", "command_first"] {
        let sets = ["device.ways=2", &format!("controller.bus_order=\"{order}\"")];
        let (_, log) = play(&load(common::PROBE_DRIVE, &sets), &[read(0, 0, 1), read(0, 1, 1), write(0, 0, 1)]);
        assert_eq!(log.program_starts(), [R + TRANSFER], "{order}");
    }
}

/// Saturated reads: with commands first they come within 3 % of the limit of dies and buses, at any bus speed. Nothing is collected:
/// the drive was filled in order.
#[test]
fn saturated_reads_reach_the_bounds() {
    let (channels, ways, command_ns, read_ns) = (8.0f64, 4.0, 300.0, 50_000.0);
    for transfer_ns in [4_096.0f64, 20_480.0, 102_400.0] {
        let iops = |order: &str| {
            let sets = [
                format!("device.timing.page_transfer_ns={transfer_ns}"),
                format!("controller.bus_order=\"{order}\""),
                "device.timing.command_ns=300".to_string(),
                "device.timing.read_ns=50000".to_string(),
                "device.host_link.queue_depth=1024".to_string(),
                "workload.uniform.queue_depth=1024".to_string(),
                "workload.uniform.read_fraction=1".to_string(),
                "workload.uniform.requests=30000".to_string(),
                "run.precondition=filled".to_string(),
                "run.warmup.requests=3000".to_string(),
                "run.measure.requests=20000".to_string(),
            ];
            run_plain(&preset("limit", &sets.each_ref().map(String::as_str))).throughput.iops
        };
        let dies = channels * ways / (command_ns + read_ns + transfer_ns) * 1e9;
        let buses = channels / (command_ns + transfer_ns) * 1e9;
        let (bound, found) = (dies.min(buses), iops("command_first"));
        assert!(found <= bound * 1.001 && found >= bound * 0.97, "{transfer_ns} ns: {found} of {bound}");
        assert!(iops("data_first") < 0.9 * found, "{transfer_ns} ns");
    }
}

// ---------------------------------------------------------------- copies

/// No step of a collection starts on a die for which a read waits, nor one that comes at the same instant. Delays are multiples of
/// one number, so that copies often end their reads just when a request ends and lets a read in.
#[test]
fn a_read_of_the_same_instant_goes_before_a_copy() {
    let sets = [
        "device.channels=4",
        "device.timing.command_ns=10000",
        "device.timing.page_transfer_ns=10000",
        "device.timing.read_ns=40000",
        "device.timing.program_ns=40000",
        "device.timing.erase_ns=80000",
        "device.host_link.queue_depth=3",
        "run.precondition=steady",
        "workload.uniform.queue_depth=3",
        "workload.uniform.read_fraction=0.5",
        "workload.uniform.requests=8000",
    ];
    let (_, log) = run_own(&load(common::PROBE_DRIVE, &sets));
    let mut admitted: Vec<Nanos> = log
        .requests
        .iter()
        .filter(|request| request.kind == RequestKind::Read)
        .map(|request| request.admitted_ns)
        .collect();
    admitted.sort_unstable();
    let reads = log.all(OpKind::Read, Cause::Host);
    assert_eq!(reads.len(), admitted.len(), "each reads one page");
    let steps: Vec<_> = log.ops.iter().filter(|done| done.op.cause == Cause::Gc).collect();
    let mut passed_over = Vec::new();
    for (read, &from) in reads.iter().zip(&admitted) {
        let writes_its_page =
            |done: &&common::Done| done.op.kind == OpKind::Program && done.op.at == read.op.at && done.t.end > from;
        if log.ops.iter().any(|done| writes_its_page(&done)) {
            continue; // it has to wait for that
        }
        let waits_at = |start: Nanos| from <= start && start < read.t.start;
        if steps.iter().any(|step| step.op.at.die == read.op.at.die && waits_at(step.t.start)) {
            passed_over.push(read.op.seq);
        }
    }
    assert_eq!(passed_over, [] as [u64; 0], "of {} reads, by {} steps", reads.len(), steps.len());
}

// ---------------------------------------------------------------- many channels, many ways

/// The order of operations on a channel does not depend on how the best of its dies is found: of 12 dies by numbers that are
/// kept, of 4 by a look at each. Reads for one channel, of one instant, begin in the order of their requests.
#[test]
fn reads_of_one_channel_begin_in_their_order() {
    for ways in [4, 12, 64] {
        let sets = [format!("device.ways={ways}"), "device.host_link.queue_depth=1000".to_string()];
        let reads: Vec<_> = (0..3 * ways).map(|page| read(0, page, 1)).collect();
        let (_, log) = play(&load(common::PROBE_DRIVE, &sets.each_ref().map(String::as_str)), &reads);
        let mut first: Vec<_> = log.ops.iter().filter(|done| done.op.seq < ways).collect();
        first.sort_by_key(|done| done.op.seq);
        let starts: Vec<Nanos> = first.iter().map(|done| done.t.start).collect();
        assert_eq!(starts, (0..ways).map(|n| n * COMMAND).collect::<Vec<_>>(), "{ways} ways");
        let mut ends: Vec<_> = log.ops.iter().map(|done| (done.t.end, done.op.seq)).collect();
        ends.sort_unstable();
        assert!(ends.is_sorted_by_key(|&(_, seq)| seq), "{ways} ways: data of older reads moves first");
    }
}

/// Channels of more than one word of bits, dies by kept numbers, a delay between starts and a budget, with collection and in both
/// orders of the bus. Tests assert at each choice that what is kept is what the queues say.
#[test]
fn what_is_kept_of_dies_and_channels_is_what_their_queues_say() {
    let shared = [&[][..], &["device.timing.channel_switch_ns=7000"], &["controller.power_budget_w=2.1"]];
    for (channels, ways) in [(70, 1), (3, 12), (2, 64)] {
        for order in ["data_first", "command_first"] {
            for policy in ["in_order", "reads_first", "out_of_order"] {
                for shared in shared {
                    let layout = [
                        format!("device.channels={channels}"),
                        format!("device.ways={ways}"),
                        format!("controller.bus_order={order}"),
                        format!("controller.policy={policy}"),
                        format!("workload.uniform.queue_depth={}", channels * ways),
                        format!("device.host_link.queue_depth={}", channels * ways),
                    ];
                    let rest = [
                        "device.planes=1",
                        "device.blocks_per_plane=12",
                        "device.pages_per_block=8",
                        "device.spare_fraction=0.5",
                        "workload.uniform.read_fraction=0.5",
                        "workload.uniform.requests=4000",
                    ];
                    let sets = [&layout.each_ref().map(String::as_str)[..], &rest, shared].concat();
                    let (report, log) = run_own(&preset("limit", &sets));
                    assert_eq!((&*report.status, report.workload.requests), ("complete", 4000), "{sets:?}");
                    assert!(!log.all(OpKind::Erase, Cause::Gc).is_empty(), "{sets:?}: it collects");
                }
            }
        }
    }
}
