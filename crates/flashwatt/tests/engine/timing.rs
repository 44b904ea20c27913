//! When operations start: the published issue times, concurrency and latencies to the nanosecond, and a probe of every
//! constraint: *not ready at t − 1, ready at t*. Numbers are published ones (EnergySim) or of hand arithmetic, never of
//! the engine.

use crate::common::delays::{COMMAND, ERASE, P, PROGRAM, R, READ, TRANSFER};
use crate::common::{self, Done, Log, PAGE, PROBE_DRIVE, US, half_write, load, play, preset, read, run_own, write};
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};

/// The four layouts of 16 dies.
const LAYOUTS: [(u32, u32); 4] = [(2, 8), (4, 4), (8, 2), (16, 1)];

/// EnergySim's drive with other channels, ways and overrides.
fn energysim(channels: u32, ways: u32, more: &[&str]) -> Config {
    let layout = [format!("device.channels={channels}"), format!("device.ways={ways}")];
    let mut sets = vec![&*layout[0], &*layout[1], "device.blocks_per_plane=64"];
    sets.extend(more);
    preset("energysim", &sets)
}

/// Starts of the programs of one write of `pages` pages, in µs.
fn issue_times(config: &Config, pages: u64) -> Vec<u64> {
    let (_, log) = play(config, &[write(0, 0, pages)]);
    let starts = log.program_starts();
    assert!(starts.iter().all(|ns| ns % US == 0), "whole microseconds in, whole microseconds out");
    starts.iter().map(|ns| ns / US).collect()
}

fn every(step: u64, n: u64) -> Vec<u64> {
    (0..n).map(|i| i * step).collect()
}

// ---------------------------------------------------------------- issue times of a burst of writes

/// A 32 KB write, on an empty and on a filled drive.
#[test]
fn d1_issue_times_of_32_kb() {
    for start in ["empty", "filled"] {
        let start = format!("run.precondition=\"{start}\"");
        assert_eq!(issue_times(&energysim(2, 8, &[&start]), 8), [0, 30, 82, 112, 164, 194, 246, 276], "2x8");
        for (channels, ways) in [(4, 4), (8, 2), (16, 1)] {
            assert_eq!(issue_times(&energysim(channels, ways, &[&start]), 8), every(30, 8), "{channels}x{ways}");
        }
    }
}

/// 64 KB; the last page of 2×8 goes at 604 µs, of the others at 450.
#[test]
fn d1_issue_times_of_64_kb() {
    let two_by_eight = [0, 30, 82, 112, 164, 194, 246, 276, 328, 358, 410, 440, 492, 522, 574, 604];
    assert_eq!(issue_times(&energysim(2, 8, &[]), 16), two_by_eight);
    for (channels, ways) in [(4, 4), (8, 2), (16, 1)] {
        assert_eq!(issue_times(&energysim(channels, ways, &[]), 16), every(30, 16), "{channels}x{ways}");
    }
}

/// In 4×4 pages 1 and 5, which share a channel, start 120 µs apart.
#[test]
fn f16_pages_on_one_channel() {
    let starts = issue_times(&energysim(4, 4, &[]), 16);
    assert_eq!(starts[4] - starts[0], 120);
}

/// The 17th page of 4×4 starts when the first has ended (82 + 900 µs), not before.
#[test]
fn f17_the_17th_page_waits_for_the_first() {
    assert_eq!(issue_times(&energysim(4, 4, &[]), 17)[16], 982);
    assert_eq!(issue_times(&energysim(4, 4, &["device.timing.program_ns=900001"]), 16)[15], 450);
    let (_, log) = play(&energysim(4, 4, &["device.timing.program_ns=900001"]), &[write(0, 0, 17)]);
    assert_eq!(log.program_starts()[16], 982_001, "one more nanosecond, one nanosecond later");
}

/// ⌈82 / 30⌉ = 3 channels hide the way switch, 2 do not.
#[test]
fn f18_three_channels_hide_the_way_switch() {
    assert_eq!(issue_times(&energysim(3, 6, &[]), 18), every(30, 18));
    assert_eq!(issue_times(&energysim(2, 9, &[]), 18)[17], 8 * 82 + 30);
}

/// Total (last issue + cs) of a 32 KB write for four pairs of switch delays.
#[test]
fn f19_switch_delays() {
    let table =
        [(15, 41, [153, 120, 120]), (30, 82, [306, 240, 240]), (30, 123, [429, 243, 240]), (30, 164, [552, 284, 240])];
    for (cs, ws, totals) in table {
        let delays =
            [format!("device.timing.channel_switch_ns={cs}000"), format!("device.timing.page_transfer_ns={ws}000")];
        for ((channels, ways), total) in LAYOUTS.into_iter().zip(totals) {
            let starts = issue_times(&energysim(channels, ways, &[&delays[0], &delays[1]]), 8);
            assert_eq!(starts[7] + cs, total, "cs {cs}, ws {ws}, {channels}x{ways}");
        }
    }
}

/// Latency of a 64 KB write with a program of 900 µs for the same pairs.
#[test]
fn d11_latency_of_64_kb() {
    let table =
        [((2, 8), [1243, 1586, 1914, 2242]), ((4, 4), [1166, 1432, 1482, 1646]), ((8, 2), [1166, 1432, 1473, 1514])];
    for ((channels, ways), latencies) in table {
        for ((cs, ws), latency) in [(15, 41), (30, 82), (30, 123), (30, 164)].into_iter().zip(latencies) {
            let delays =
                [format!("device.timing.channel_switch_ns={cs}000"), format!("device.timing.page_transfer_ns={ws}000")];
            let (report, _) = play(&energysim(channels, ways, &[&delays[0], &delays[1]]), &[write(0, 0, 16)]);
            assert_eq!(report.latency_ns.write.max, Some(latency * US), "cs {cs}, ws {ws}, {channels}x{ways}");
        }
    }
}

/// On the X25-M the 21st page of 84 KB goes to die 0 when the first page is done; page k starts at 30·(k − 1) µs.
#[test]
fn f20_x25m_page_21() {
    let config = preset("x25m", &["device.logical_bytes=2000000000"]);
    let starts = issue_times(&config, 21);
    assert_eq!(starts[..20], every(30, 20));
    assert_eq!(starts[20], 982);
}

// ---------------------------------------------------------------- concurrency

fn programming(config: &Config, pages: u64) -> Vec<Nanos> {
    play(config, &[write(0, 0, pages)]).1.programming()
}

fn program_us(us: u64) -> String {
    format!("device.timing.program_ns={us}000")
}

/// Time with all 16 dies programming during one 64 KB write.
#[test]
fn d2_time_at_peak_of_64_kb() {
    for ((channels, ways), at_500, at_900) in
        [((2, 8), 0, 296), ((4, 4), 50, 450), ((8, 2), 50, 450), ((16, 1), 50, 450)]
    {
        for (program, expected) in [(500, at_500), (900, at_900)] {
            let time = programming(&energysim(channels, ways, &[&program_us(program)]), 16);
            let at_16 = time.get(16).copied().unwrap_or(0);
            assert_eq!(at_16, expected * US, "{channels}x{ways}, {program} µs");
        }
    }
    let time = programming(&energysim(2, 8, &[&program_us(500)]), 16);
    assert_eq!(time.len() - 1, 13, "2x8 with 500 µs: at most 13 dies");
}

/// Share of the time with 16 dies programming in a saturated stream of 3,200 pages.
#[test]
fn d2_saturated_stream() {
    for ((channels, ways), at_500, at_900) in
        [((2, 8), 0.0, 0.301), ((4, 4), 0.086, 0.457), ((8, 2), 0.086, 0.457), ((16, 1), 0.086, 0.457)]
    {
        for (program, expected) in [(500, at_500), (900, at_900)] {
            let time = programming(&energysim(channels, ways, &[&program_us(program)]), 3200);
            let share = time.get(16).copied().unwrap_or(0) as f64 / time.iter().sum::<u64>() as f64;
            assert!((share - expected).abs() < 5e-4, "{channels}x{ways}, {program} µs: {share}, not {expected}");
        }
    }
}

/// The same stream at queue depth 32 in requests of 64 KB: all layouts with four channels or more alike, 2×8 slower;
/// bandwidth stays below the bounds of dies, dispatch and channels, and comes near the least of them.
#[test]
fn d2_bandwidth_of_a_stream() {
    for ((channels, ways), at_500, at_900) in
        LAYOUTS.into_iter().zip([99.6, 112.2, 112.2, 112.2]).map(|(l, b)| (l, b, 66.6))
    {
        for (program, expected) in [(500, at_500), (900, at_900)] {
            let workload = [
                "workload.uniform.requests=2000",
                "workload.uniform.request_bytes=65536",
                "workload.uniform.sequential=true",
            ];
            let program = program_us(program);
            let config = energysim(
                channels,
                ways,
                &[&program, workload[0], workload[1], workload[2], "run.precondition=\"empty\""],
            );
            let report = common::run_plain(&config);
            let mb_s = report.throughput.write_mb_s;
            assert!((mb_s / expected - 1.0).abs() < 0.01, "{channels}x{ways} {program}: {mb_s} MB/s, not {expected}");
        }
    }
}

// ---------------------------------------------------------------- random reads

/// The probe drive with overrides.
fn drive(sets: &[&str]) -> Config {
    load(PROBE_DRIVE, sets)
}

/// Random reads one at a time: each takes command + tR + transfer, to the nanosecond.
#[test]
fn a_read_alone_takes_the_closed_form() {
    for layout in [["device.channels=1", "device.ways=1"], ["device.channels=4", "device.ways=2"]] {
        let workload =
            ["workload.uniform.read_fraction=1", "workload.uniform.queue_depth=1", "workload.uniform.requests=5000"];
        let (report, log) = run_own(&drive(&[layout[0], layout[1], workload[0], workload[1], workload[2]]));
        assert_eq!(log.requests.len(), 5000);
        assert!(log.requests.iter().all(|r| r.end_ns - r.admitted_ns == R));
        assert_eq!((report.latency_ns.read.min, report.latency_ns.read.max), (Some(R), Some(R)));
        assert!(log.ops.iter().all(|done| done.t.array_start - done.t.start == COMMAND
            && done.t.array_end - done.t.array_start == READ
            && done.t.out_start == done.t.array_end
            && done.t.end - done.t.out_start == TRANSFER));
        assert_eq!(report.throughput.simulated_s, 5000.0 * R as f64 * 1e-9);
    }
}

/// Random reads, 32 at a time: IOPS × mean latency = 32, and no more reads per second than buses and dies allow; with one
/// die to a channel the bus or the die is busy nearly all the time.
#[test]
fn reads_at_depth_32_obey_littles_law_and_the_bounds() {
    for (channels, ways) in [(8, 4), (2, 16), (1, 1), (1, 32)] {
        let layout = [format!("device.channels={channels}"), format!("device.ways={ways}")];
        let config = drive(&[
            &layout[0],
            &layout[1],
            "workload.uniform.read_fraction=1",
            "workload.uniform.requests=200000",
            "run.warmup.requests=2000",
        ]);
        let report = common::run_plain(&config);
        let iops = report.throughput.iops;
        let mean_s = report.latency_ns.read.mean.expect("there are reads") * 1e-9;
        let outstanding = iops * mean_s;
        assert!((outstanding / 32.0 - 1.0).abs() < 1e-3, "{channels}x{ways}: {outstanding} outstanding");
        let bus = f64::from(channels) * 1e9 / (COMMAND + TRANSFER) as f64;
        let dies = f64::from(channels * ways) * 1e9 / R as f64;
        assert!(iops <= bus * (1.0 + 1e-4) && iops <= dies * (1.0 + 1e-4), "{channels}x{ways}: {iops}");
        if (channels, ways) == (1, 1) {
            assert!(iops > 0.999 * dies, "one die never rests: {iops} of {dies}");
        }
    }
}

// ---------------------------------------------------------------- probes

/// Plays `first` and then, around `expiry`, one more request, whose operation must start at `expiry` if it comes a
/// nanosecond earlier, and when it comes otherwise.
#[track_caller]
fn probe(config: &Config, first: &[Request], then: impl Fn(Nanos) -> Request, expiry: Nanos) {
    for arrival in [expiry - 1, expiry, expiry + 1] {
        let mut requests = first.to_vec();
        requests.push(then(arrival));
        let (_, log) = play(config, &requests);
        let last = log.ops.iter().max_by_key(|done| done.op.seq).expect("there are operations");
        assert_eq!(last.t.start, arrival.max(expiry), "a request at {arrival}");
    }
}

/// As [`probe`] with `key` as given and one nanosecond longer, which is to move the expiry by `moves`.
#[track_caller]
fn probe_key(
    sets: &[&str],
    (key, ns, moves): (&str, Nanos, Nanos),
    first: &[Request],
    then: impl Fn(Nanos) -> Request,
    expiry: Nanos,
) {
    for more in [0, 1] {
        let key = format!("device.timing.{key}={}", ns + more);
        let mut sets = sets.to_vec();
        sets.push(&key);
        probe(&drive(&sets), first, &then, expiry + more * moves);
    }
}

/// Two operations on different channels start no closer than the channel switch delay.
#[test]
fn probe_channel_switch_delay() {
    let sets = ["device.channels=3"];
    probe_key(&sets, ("channel_switch_ns", 5_003, 1), &[write(0, 0, 1)], |t| write(t, 1, 1), 5_003);
    probe_key(&sets, ("channel_switch_ns", 5_003, 2), &[write(0, 0, 2)], |t| write(t, 2, 1), 10_006);
    probe_key(&sets, ("channel_switch_ns", 5_003, 1), &[read(0, 0, 1)], |t| read(t, 1, 1), 5_003);
}

/// On one channel a program holds the bus for command and data: the way switch delay *is* the transfer.
#[test]
fn probe_bus_of_a_program() {
    let sets = ["device.ways=2"];
    probe_key(&sets, ("page_transfer_ns", TRANSFER, 1), &[write(0, 0, 1)], |t| write(t, 1, 1), COMMAND + TRANSFER);
    probe_key(&sets, ("command_ns", COMMAND, 1), &[write(0, 0, 1)], |t| write(t, 1, 1), COMMAND + TRANSFER);
}

/// A read's command holds the bus for the command alone, its data for a transfer.
#[test]
fn probe_bus_of_a_read() {
    let sets = ["device.ways=2"];
    probe_key(&sets, ("command_ns", COMMAND, 1), &[read(0, 0, 1)], |t| read(t, 1, 1), COMMAND);
    // While the data of page 0 moves out, a write to … the other die waits for the bus: die 1 is next after one write.
    let first = [write(0, 2, 1), read(10 * P, 0, 1)];
    for (key, ns) in [("page_transfer_ns", TRANSFER), ("read_ns", READ), ("command_ns", COMMAND)] {
        for more in [0, 1] {
            let expiry = 10 * P + R + more;
            let key = format!("device.timing.{key}={}", ns + more);
            let log = play(&drive(&["device.ways=2", &key]), &[first[0], first[1], write(expiry - 1, 4, 1)]).1;
            assert_eq!(log.program_starts()[1], expiry);
            let log = play(&drive(&["device.ways=2", &key]), &[first[0], first[1], write(expiry, 4, 1)]).1;
            assert_eq!(log.program_starts()[1], expiry);
        }
    }
}

/// A read whose data is ready while the bus is taken waits (`data_wait`); the oldest goes first.
#[test]
fn probe_data_waits_for_the_bus() {
    for more in [0, 1] {
        let transfer = format!("device.timing.page_transfer_ns={}", TRANSFER + more);
        let (_, log) = play(&drive(&["device.ways=3", &transfer]), &[read(0, 0, 3)]);
        let reads = log.all(OpKind::Read, Cause::Host);
        for (i, done) in (0..).zip(&reads) {
            assert_eq!(done.t.start, i * COMMAND);
            assert_eq!(done.t.array_end, (i + 1) * COMMAND + READ);
            assert_eq!(done.t.out_start, COMMAND + READ + i * (TRANSFER + more), "read {i} waits for the bus");
            assert_eq!(done.t.end, done.t.out_start + TRANSFER + more);
        }
    }
}

/// One operation at a time on a die: after a program, after a read, whose data must have left (after an erase: see
/// [`probe_preemption`]).
#[test]
fn probe_busy_die() {
    for (key, ns) in [("program_ns", PROGRAM), ("page_transfer_ns", TRANSFER), ("command_ns", COMMAND)] {
        probe_key(&[], (key, ns, 1), &[write(0, 0, 1)], |t| write(t, 1, 1), P);
        probe_key(&[], (key, ns, 1), &[write(0, 0, 1)], |t| read(t, 1, 1), P);
    }
    for (key, ns) in [("read_ns", READ), ("page_transfer_ns", TRANSFER), ("command_ns", COMMAND)] {
        probe_key(&[], (key, ns, 1), &[read(0, 0, 1)], |t| write(t, 1, 1), R);
        probe_key(&[], (key, ns, 1), &[read(0, 0, 1)], |t| read(t, 1, 1), R);
    }
}

/// Law 6c: a read of a page that is being programmed starts when the program ends.
#[test]
fn probe_read_of_a_page_in_flight() {
    for policy in ["in_order", "reads_first", "out_of_order"] {
        let policy = format!("controller.policy=\"{policy}\"");
        probe_key(&[&policy], ("program_ns", PROGRAM, 1), &[write(0, 5, 1)], |t| read(t, 5, 1), P);
    }
}

/// Law 6c, 6e: a read of a page whose program has not started yet makes that program go first, after those that the chip
/// asks for before it.
#[test]
fn probe_read_of_a_page_to_come() {
    let requests = [write(0, 5, 1), write(1, 6, 1), write(2, 7, 1), read(3, 7, 1)];
    for (order, policy, programs, reads) in [
        ("any", "out_of_order", [0, 2 * P + R, P], 2 * P),
        ("ascending", "out_of_order", [0, P, 2 * P], 3 * P),
        ("any", "reads_first", [0, P, 2 * P], 3 * P),
        ("any", "in_order", [0, P, 2 * P], 3 * P),
    ] {
        let sets = [format!("device.nand.program_order=\"{order}\""), format!("controller.policy=\"{policy}\"")];
        let (_, log) = play(&drive(&[&sets[0], &sets[1]]), &requests);
        assert_eq!(log.program_starts(), programs, "{order}, {policy}");
        assert_eq!(log.all(OpKind::Read, Cause::Host)[0].t.start, reads, "{order}, {policy}");
    }
}

/// What a die does first under each policy: a read that comes last goes first, or not.
#[test]
fn probe_policies() {
    for (policy, expected) in [("in_order", 2 * P), ("reads_first", P), ("out_of_order", P)] {
        let policy = format!("controller.policy=\"{policy}\"");
        let (_, log) = play(&drive(&[&policy]), &[write(0, 5, 1), write(1, 6, 1), read(2, 7, 1)]);
        assert_eq!(log.all(OpKind::Read, Cause::Host)[0].t.start, expected, "{policy}");
    }
}

/// Law 6d: a write of a part of a page reads the page first, and programs when the data is there.
#[test]
fn probe_read_modify_write() {
    for (key, ns) in [("read_ns", READ), ("page_transfer_ns", TRANSFER), ("command_ns", COMMAND)] {
        for more in [0, 1] {
            let key = format!("device.timing.{key}={}", ns + more);
            // Page 1 lies on die 1; the new one goes to die 0, which is idle all the time.
            let (_, log) = play(&drive(&["device.channels=2", &key]), &[half_write(0, 1)]);
            let read = log.all(OpKind::Read, Cause::Host)[0];
            let program = log.all(OpKind::Program, Cause::Host)[0];
            assert_eq!((read.op.at.die.0, program.op.at.die.0), (1, 0));
            assert_eq!((read.t.start, read.t.end, program.t.start), (0, R + more, R + more));
        }
    }
    let (_, log) = play(&drive(&["run.precondition=\"empty\""]), &[half_write(0, 1)]);
    assert_eq!(log.ops.len(), 1, "there is nothing to be read of a page that was never written");
    let (_, log) = play(&drive(&["device.channels=2"]), &[Request { bytes: 2 * PAGE, ..half_write(0, 1) }]);
    assert_eq!(log.ops.len(), 2, "whole pages are not read first");
    let shifted = Request { offset_bytes: PAGE / 2, bytes: 2 * PAGE, ..half_write(0, 0) };
    let (_, log) = play(&drive(&[]), &[shifted]);
    assert_eq!(log.all(OpKind::Read, Cause::Host).len(), 2, "both ends of a shifted write are");
    assert_eq!(log.program_starts().len(), 3);
    let within = Request { offset_bytes: 512, bytes: 1024, ..half_write(0, 0) };
    let (_, log) = play(&drive(&["ftl.page.map_unit_bytes=1024"]), &[within]);
    assert_eq!(log.all(OpKind::Read, Cause::Host).len(), 1, "both ends in one page are read at once");
}

/// Law 6c: programs of a block start in the order of its pages where the chip asks for it.
#[test]
fn probe_program_order() {
    // Die 0: a program that waits for a read on die 1, then one that could go at once.
    let requests = [half_write(0, 1), write(0, 3, 1), write(0, 5, 1)];
    for more in [0, 1] {
        let read_ns = format!("device.timing.read_ns={}", READ + more);
        for (order, starts) in [("ascending", [R + more, R + more, R + more + P]), ("any", [P, R + more, 0])] {
            let order = format!("device.nand.program_order=\"{order}\"");
            let (_, log) = play(&drive(&["device.channels=2", &read_ns, &order]), &requests);
            assert_eq!(log.program_starts(), starts, "{order}");
        }
    }
}

/// A request beyond the queue depth waits outside until another one leaves.
#[test]
fn probe_queue_depth() {
    let sets = ["device.channels=3", "device.host_link.queue_depth=2"];
    probe_key(&sets, ("read_ns", READ, 1), &[read(0, 0, 1), read(0, 1, 1)], |t| read(t, 2, 1), R);
    let (report, log) = play(&drive(&sets), &[read(0, 0, 1), read(0, 1, 1), read(0, 2, 1)]);
    assert_eq!(log.requests[2].admitted_ns, R);
    assert_eq!(report.latency_ns.read.max, Some(2 * R), "the wait outside is part of the latency");
    let (_, log) = play(&drive(&["device.channels=3"]), &[read(0, 0, 1), read(0, 1, 1), read(0, 2, 1)]);
    assert_eq!(log.ops[2].t.start, 0, "with room for three there is no wait");
}

/// The host link: commands and written data go in one after the other, read data out, each direction at its bandwidth.
#[test]
fn probe_host_link() {
    for (command, more) in [(1_009, 0), (1_009, 1)] {
        // 10^9 bytes/s: a nanosecond for each byte.
        let link = [
            "device.host_link.bandwidth_mb_s=1000".to_string(),
            format!("device.host_link.command_ns={}", command + more),
        ];
        let config = drive(&["device.channels=2", &link[0], &link[1]]);
        let into = command + more + PAGE;
        let (_, log) = play(&config, &[write(0, 0, 1), write(0, 1, 1)]);
        assert_eq!(log.program_starts(), [into, 2 * into], "written data follows its command, and the other write's");
        let (_, log) = play(&config, &[write(0, 0, 1), read(0, 1, 1)]);
        assert_eq!(log.ops[1].t.start, into + command + more, "a read's command waits behind written data");
        let (_, log) = play(&config, &[read(0, 0, 1), read(0, 1, 1)]);
        let starts: Vec<Nanos> = log.ops.iter().map(|done| done.t.start).collect();
        assert_eq!(starts, [command + more, 2 * (command + more)]);
        let first_out = command + more + R + PAGE;
        let ends: Vec<Nanos> = log.requests.iter().map(|r| r.end_ns).collect();
        assert_eq!(ends, [first_out, first_out + PAGE], "read data leaves one page after the other");
    }
    let half = drive(&["device.host_link.bandwidth_mb_s=500"]);
    assert_eq!(play(&half, &[write(0, 0, 1)]).1.program_starts(), [2 * PAGE], "half the bandwidth, twice the time");
}

/// A link of a nanosecond a byte, and commands that take no time.
const BYTE_LINK: [&str; 2] = ["device.host_link.bandwidth_mb_s=1000", "device.host_link.command_ns=0"];

/// When requests end, on a drive behind that link.
fn link_ends(sets: &[&str], script: &[Request]) -> Vec<Nanos> {
    let (_, log) = play(&drive(&[&BYTE_LINK, sets].concat()), script);
    let mut requests = log.requests;
    requests.sort_by_key(|request| request.admitted_ns);
    requests.iter().map(|request| request.end_ns).collect()
}

/// Only the data that the host asked for crosses the link: of a page its requested part.
#[test]
fn a_read_moves_the_bytes_that_it_asks_for() {
    let part = |bytes| Request { bytes, ..read(0, 0, 1) };
    assert_eq!(link_ends(&[], &[part(512)]), [R + 512]);
    assert_eq!(link_ends(&[], &[part(PAGE)]), [R + PAGE]);
    // The last sector of page 0 and the first three of page 1, on two channels: the first comes out first.
    let across = Request { offset_bytes: PAGE - 512, bytes: 4 * 512, ..read(0, 0, 1) };
    assert_eq!(link_ends(&["device.channels=2"], &[across]), [R + 4 * 512]);
    // Two of the four map units of a page.
    let unit = "ftl.page.map_unit_bytes=1024";
    assert_eq!(link_ends(&[unit], &[part(2048)]), [R + 2048]);
}

/// A unit that holds nothing is zeros, which cross the link as data does; on flash there is nothing to be read.
#[test]
fn zeros_cross_the_link() {
    let trim = Request { kind: RequestKind::Trim, ..write(0, 0, 2) };
    assert_eq!(link_ends(&[], &[trim, read(5, 0, 1)])[1], 5 + PAGE);
    // Page 1 holds nothing and leaves at once, page 2 follows when it has been read.
    let ends = link_ends(&[], &[trim, read(5, 1, 2)]);
    assert_eq!(ends[1], 5 + R + PAGE);
    // With a cached map the drive knows it only when the page of the map has been read.
    let dftl = ["ftl.dftl.cmt_entries=4", "ftl.dftl.entry_bytes=512", "device.spare_fraction=0.6"];
    let trims = [trim, Request { kind: RequestKind::Trim, ..write(10 * P, 20, 4) }];
    let late = 100 * P;
    let ends = link_ends(&dftl, &[trims[0], trims[1], read(late, 0, 1)]);
    assert_eq!(ends[2], late + R + PAGE);
}

// ---------------------------------------------------------------- garbage collection

/// Two dies on their own channels; collection starts when a die has fewer than 7 free blocks, of the 8 that it begins with.
const GC_DRIVE: [&str; 2] = ["device.channels=2", "gc.low_watermark_blocks=7"];

/// When the requests of interest come: everything before is over.
const LATE: Nanos = 1_000_000_000;

/// Sixteen writes, one at a time, after which each die has one new block, full, and 7 free ones; block 0 of die 0, which
/// held the pages 0, 2, … 14, has `valid` of them left, the last ones, and no other block lost more than two. The next
/// write goes to die 0, opens its second new block, and so calls for the collection of block 0.
fn worn_out_block(valid: u64) -> Vec<Request> {
    let overwritten = (0..8 - valid).map(|i| 2 * i);
    let others = (0..8 + valid).map(|i| 16 * (i % 7 + 1) + 1 + 2 * (i / 7));
    (0..).zip(overwritten.chain(others)).map(|(i, page)| write(i * 2 * P, page, 1)).collect()
}

fn gc_ops(log: &Log, kind: OpKind) -> Vec<Done> {
    log.all(kind, Cause::Gc).into_iter().filter(|done| done.op.at.die.0 == 0).collect()
}

/// Law 6b, 6d: a copy programs when its read has ended, and the erase follows when the last copy has: on one die each
/// starts at the very instant.
#[test]
fn probe_copy_then_erase() {
    for (key, ns) in [("read_ns", READ), ("program_ns", PROGRAM)] {
        for more in [0, 1] {
            let (r, p) = (R + if key == "read_ns" { more } else { 0 }, P + if key == "program_ns" { more } else { 0 });
            let key = format!("device.timing.{key}={}", ns + more);
            let mut requests = worn_out_block(2);
            requests.push(write(LATE, 97, 1));
            let (_, log) = play(&drive(&[GC_DRIVE[0], GC_DRIVE[1], &key]), &requests);
            let starts = |kind| gc_ops(&log, kind).iter().map(|done| done.t.start - LATE).collect::<Vec<_>>();
            assert_eq!(starts(OpKind::Read), [p, p + r + p]);
            assert_eq!(starts(OpKind::Program), [p + r, p + r + p + r]);
            assert_eq!(starts(OpKind::Erase), [p + 2 * (r + p)]);
        }
    }
}

/// Copies within a die without the bus: command, tR, tPROG, and the bus free for others after the command.
#[test]
fn probe_copyback() {
    let mut requests = worn_out_block(2);
    requests.push(write(LATE, 97, 1));
    let (_, log) = play(&drive(&[GC_DRIVE[0], GC_DRIVE[1], "device.nand.copyback=true"]), &requests);
    let copies = gc_ops(&log, OpKind::Copyback);
    let copy = COMMAND + READ + PROGRAM;
    assert_eq!(copies.iter().map(|done| done.t.start - LATE).collect::<Vec<_>>(), [P, P + copy]);
    assert!(
        copies.iter().all(|done| done.t.end - done.t.start == copy && done.t.array_end - done.t.array_start == READ)
    );
    assert_eq!(gc_ops(&log, OpKind::Erase)[0].t.start - LATE, P + 2 * copy);
    assert!(gc_ops(&log, OpKind::Read).is_empty() && gc_ops(&log, OpKind::Program).is_empty());
}

/// Law 6c: an erase waits for a program on another die that replaces a page of its block.
#[test]
fn probe_erase_waits_for_a_replacing_program() {
    for (key, ns, moves) in [("read_ns", READ, 3), ("program_ns", PROGRAM, 1)] {
        for more in [0, 1] {
            let mut requests = worn_out_block(1);
            // Die 1 reads three pages; the last page of the victim is overwritten there after them.
            requests.extend((0..3).map(|i| read(LATE, 31 + 16 * i, 1)));
            requests.extend([write(LATE, 97, 1), write(LATE, 14, 1)]);
            let key = format!("device.timing.{key}={}", ns + more);
            let (_, log) = play(&drive(&[GC_DRIVE[0], GC_DRIVE[1], &key]), &requests);
            assert!(gc_ops(&log, OpKind::Read).is_empty(), "nothing of the victim is left to be copied");
            let replacing = log.all(OpKind::Program, Cause::Host)[17];
            assert_eq!((replacing.op.at.die.0, replacing.op.replaces.0), (1, 0));
            let erase = gc_ops(&log, OpKind::Erase)[0];
            assert_eq!(erase.t.start, replacing.t.end, "at the very instant");
            assert_eq!(erase.t.start, LATE + 3 * R + P + more * moves);
        }
    }
}

/// Law 6c: an erase waits for a read of its block that was planned before the page was copied.
#[test]
fn probe_erase_waits_for_a_read() {
    let sets = [GC_DRIVE[0], GC_DRIVE[1], "gc.preemptible=false"];
    let erase_start = |with_read: bool| {
        // Die 0 reads; meanwhile a write calls for collection, and page 14 of the victim is asked for.
        let mut requests = worn_out_block(1);
        requests.extend([read(LATE, 30, 1), write(LATE + 1, 97, 1)]);
        if with_read {
            requests.push(read(LATE + 2, 14, 1));
        }
        let (_, log) = play(&drive(&sets), &requests);
        let erase = gc_ops(&log, OpKind::Erase)[0];
        assert_eq!(erase.t.end - erase.t.start, COMMAND + ERASE);
        if with_read {
            let read = log.all(OpKind::Read, Cause::Host)[1];
            assert_eq!((read.op.at.block.0, read.op.at.page), (0, 7), "the page where it was before the copy");
            assert_eq!((read.t.start, read.t.end), (LATE + 2 * R + P, erase.t.start));
        }
        erase.t.start - LATE
    };
    assert_eq!(erase_start(false), R + R + P, "after the read, and one copy");
    assert_eq!(erase_start(true), R + R + P + R);
}

/// Law 6e, `gc.preemptible`: host operations go between the steps of a collection, or wait until it is over.
#[test]
fn probe_preemption() {
    let read_start = |preemptible: bool| {
        let mut requests = worn_out_block(2);
        requests.extend([write(LATE, 97, 1), read(LATE + P + 1, 112, 1)]);
        let preemptible = format!("gc.preemptible={preemptible}");
        let (_, log) = play(&drive(&[GC_DRIVE[0], GC_DRIVE[1], &preemptible]), &requests);
        log.all(OpKind::Read, Cause::Host)[0].t.start - LATE
    };
    assert_eq!(read_start(true), P + R, "after the write and the read of the first copy");
    assert_eq!(read_start(false), 2 * (R + P) + COMMAND + ERASE, "after two copies and the erase");
}

/// Law 6e: a host read of a page that is being copied makes the copy's program go before host writes, be the copy still to
/// begin, or half done.
#[test]
fn probe_copy_inherits_the_class_of_a_read() {
    let mut requests = worn_out_block(1);
    requests.push(write(LATE, 97, 1));
    // During the first half of the copy: one write to die 1, one to die 0.
    let arrival = LATE + P + 1;
    requests.extend([read(arrival, 14, 1), write(arrival + 1, 99, 1), write(arrival + 2, 101, 1)]);
    let (_, log) = play(&drive(&GC_DRIVE), &requests);
    let copied = gc_ops(&log, OpKind::Program)[0];
    let read = log.all(OpKind::Read, Cause::Host)[0];
    let last_write = log.program_starts()[18];
    assert_eq!(copied.t.start - LATE, P + R, "the copy goes on");
    assert_eq!(read.t.start, copied.t.end, "for the read waits for it");
    assert_eq!(last_write, read.t.end);
}
