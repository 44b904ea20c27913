//! Reads that move a part of their page: what each of them takes on the bus, worked by hand, and that whole pages are what they were.

use crate::common::delays::{COMMAND, P, R, READ, TRANSFER};
use crate::common::{
    self, Done, PAGE, PROBE_DRIVE, assert_close, figures, half_write, load, play, preset, read, run_own, run_plain,
    write,
};
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};

const PARTS: &str = "device.bus.partial_pages=true";
const SECTORS: &str = "device.bus.partial_unit=\"sector\"";
/// Units of a page of the drive here.
const UNITS: u64 = 4;

/// The probe drive with pages of 16 KiB and map units of 4 KiB: a [`PAGE`] of the requests is a unit.
fn large_pages(sets: &[&str]) -> Config {
    load(PROBE_DRIVE, &[&["device.page_bytes=16384", "ftl.page.map_unit_bytes=4096"], sets].concat())
}

/// A read of these bytes.
fn read_bytes(at: Nanos, offset_bytes: u64, bytes: u64) -> Request {
    Request::new(at, RequestKind::Read, offset_bytes, bytes)
}

/// How long `units` map units hold the bus.
fn of_units(units: u64) -> Nanos {
    (TRANSFER * units).div_ceil(UNITS)
}

/// How long these sectors hold the bus.
fn of_sectors(sectors: u64) -> Nanos {
    (TRANSFER * sectors).div_ceil(32)
}

fn latency(config: &Config, request: Request) -> Nanos {
    let (report, log) = play(config, &[request]);
    assert_eq!(report.energy_integral_j, report.ssd().energy_j.total);
    let [done] = &log.requests[..] else { panic!("one request") };
    done.end_ns - done.admitted_ns
}

/// How long the data of each read of a cause held the bus, and the bytes that the log says.
fn moved(ops: &[Done], cause: Cause) -> Vec<(Nanos, Option<u64>)> {
    let reads = ops.iter().filter(|done| done.op.kind == OpKind::Read && done.op.cause == cause);
    reads.map(|done| (done.t.end - done.t.out_start, done.op.part_bytes())).collect()
}

/// One read of an idle drive: the command, tR, and the share of the transfer that was asked for, rounded up.
#[test]
fn a_read_moves_what_it_asks_for() {
    let (whole, units, sectors) = (large_pages(&[]), large_pages(&[PARTS]), large_pages(&[PARTS, SECTORS]));
    let unit = PAGE;
    for (offset, bytes, of_whole, of_units, of_sectors) in [
        (5 * unit, unit, TRANSFER, of_units(1), of_sectors(8)),
        (5 * unit, 512, TRANSFER, of_units(1), of_sectors(1)),
        (5 * unit + 512, 3 * 512, TRANSFER, of_units(1), of_sectors(3)),
        (4 * unit, 2 * unit, TRANSFER, of_units(2), of_sectors(16)),
        (5 * unit - 512, unit + 512, TRANSFER, of_units(2), of_sectors(9)),
        (4 * unit, 4 * unit, TRANSFER, TRANSFER, TRANSFER),
        (4 * unit + 512, 4 * unit - 1024, TRANSFER, TRANSFER, of_sectors(30)),
    ] {
        let request = read_bytes(0, offset, bytes);
        for (config, out) in [(&whole, of_whole), (&units, of_units), (&sectors, of_sectors)] {
            assert_eq!(latency(config, request), COMMAND + READ + out, "{offset} {bytes}");
        }
    }
    assert_eq!((of_units(1), of_units(2), of_sectors(1)), (854, 1707, 107));
}

/// A read over a bound of pages is a read of each, with its own part; here of two dies, whose data shares a bus.
#[test]
fn each_page_of_a_request_has_its_own_part() {
    let (_, log) = play(&large_pages(&[PARTS, "device.ways=2"]), &[read(0, 2, 3)]);
    let [first, second] = &log.ops[..] else { panic!("two pages") };
    assert_eq!(first.t.end, COMMAND + READ + of_units(2));
    assert_eq!((second.t.out_start, second.t.end), (first.t.end.max(2 * COMMAND + READ), first.t.end + of_units(1)));
}

/// A second read waits for the data of the first one only as long as that takes, to the nanosecond.
#[test]
fn the_bus_is_free_after_the_part() {
    let ends = |sets: &[&str]| {
        let (_, log) = play(&large_pages(&[&["device.ways=2"], sets].concat()), &[read(0, 0, 1), read(0, 4, 1)]);
        log.ops.iter().map(|done| (done.t.out_start, done.t.end)).collect::<Vec<_>>()
    };
    let end = COMMAND + READ + of_units(1);
    assert_eq!(ends(&[PARTS]), [(COMMAND + READ, end), (end, end + of_units(1))]);
    assert_eq!(ends(&[]), [(COMMAND + READ, R), (R, R + TRANSFER)]);
}

/// Units of a page between those that are wanted are not moved: one is in the write buffer, and the two runs beside it are one read.
#[test]
fn gaps_are_not_moved() {
    let config = large_pages(&[PARTS, "write_buffer.bytes=65536", "write_buffer.idle_ns=1000000000"]);
    let (_, log) = play(&config, &[write(0, 5, 1), read(1000, 4, 3)]);
    assert_eq!(moved(&log.ops, Cause::Host), [(of_units(2), Some(2 * PAGE))]);
}

/// A write of a part of a unit reads that unit; where both ends of a write are parts of units of one page, both.
#[test]
fn a_read_modify_write_moves_the_units_that_it_completes() {
    for sets in [&[PARTS][..], &[PARTS, SECTORS]] {
        let (_, log) = play(&large_pages(sets), &[half_write(0, 5)]);
        assert_eq!(moved(&log.ops, Cause::Host), [(of_units(1), Some(PAGE))]);
        assert_eq!(log.ops[1].t.end, COMMAND + READ + of_units(1) + P);
        let ends = Request { offset_bytes: 4 * PAGE + 512, bytes: 3 * PAGE - 1024, ..write(0, 4, 3) };
        let (_, log) = play(&large_pages(sets), &[ends]);
        assert_eq!(moved(&log.ops, Cause::Host), [(of_units(2), Some(2 * PAGE))]);
    }
}

/// A collection moves the units of a page that count, and no more.
#[test]
fn a_collection_moves_what_counts() {
    let sets = [
        "device.spare_fraction=0.4",
        "gc.policy=\"fifo\"",
        "workload.uniform.requests=4000",
        "workload.uniform.request_bytes=4096",
        "run.count_drain=true",
    ];
    let (report, log) = run_own(&large_pages(&[&sets[..], &[PARTS]].concat()));
    let reads = moved(&log.ops, Cause::Gc);
    let of = |units: u64| reads.iter().filter(|&&(ns, _)| ns == of_units(units)).count();
    for &(ns, bytes) in &reads {
        assert_eq!(ns, of_units(bytes.map_or(UNITS, |bytes| bytes / PAGE)));
    }
    let counts: Vec<usize> = (1..=UNITS).map(of).collect();
    assert!(counts.iter().all(|&count| count > 0) && counts.iter().sum::<usize>() == reads.len(), "{counts:?}");
    let units: u64 = reads.iter().map(|(_, bytes)| bytes.map_or(UNITS, |bytes| bytes / PAGE)).sum();
    let programs = report.ssd().flash.programs.gc;
    assert!(
        units > programs * (UNITS - 1) && units <= programs * UNITS,
        "each unit is moved once: {units}, {programs}"
    );
    let ledger = &report.ssd().ledger.die_ns["read_transfer"];
    let (out, commands): (Nanos, _) = (reads.iter().map(|(ns, _)| ns).sum(), reads.len() as u64 * COMMAND);
    assert_eq!(ledger["gc"], out + commands, "what the ledger has booked");
}

/// A page without data that the drive reads at its place moves its part like any other, under every layer that starts so.
#[test]
fn unwritten_pages_move_their_part() {
    for ftl in ["page", "dftl", "bast", "superblock"] {
        let layer = format!("ftl=\"{ftl}\"");
        let sets = [PARTS, SECTORS, "run.precondition=\"mapped\"", "device.op_ratio=1.0", "device.blocks_per_plane=64"];
        let drive = common::merging_drive(&[&sets[..], &[&layer]].concat());
        let (_, log) = play(&drive, &[read_bytes(0, 5 * PAGE, 512)]);
        let last = log.ops.last().expect("a read");
        assert_eq!((last.t.end - last.t.out_start, last.op.part_bytes()), (TRANSFER.div_ceil(8), Some(512)), "{ftl}");
    }
}

/// With units of a page and requests of whole pages, and with `partial_pages = false`, everything is as without the key.
#[test]
fn whole_pages_are_what_they_were() {
    for name in ["limit", "energysim"] {
        let small = ["device.blocks_per_plane=24", "device.channels=2", "device.ways=2", "device.op_ratio=0.3"];
        let work = ["workload.uniform.requests=1500", "workload.uniform.read_fraction=0.5"];
        let bus = "controller.read_transfer=\"on_bus\"";
        let run = |sets: &[&str]| run_plain(&preset(name, &[&small[..], &work, &[bus], sets].concat()));
        let base = run(&[]);
        for sets in [&[PARTS][..], &[PARTS, SECTORS]] {
            assert_eq!(figures(&run(sets)), figures(&base), "{name} {sets:?}");
        }
        let neutral = run(&["device.bus.partial_pages=false"]);
        let [neutral, base] = [neutral, base].map(|report| serde_json::to_value(&report).expect("a report is JSON"));
        assert_eq!(neutral["config"]["device"], base["config"]["device"], "{name}");
    }
}

/// Sequential reads move what they moved: the whole of each page.
#[test]
fn sequential_reads_move_what_they_moved() {
    let requests: Vec<Request> = (0..40).map(|at| read(at * 100_000, at * 4 % 32, 4)).collect();
    let [whole, parts] = [&[][..], &[PARTS]].map(|sets| play(&large_pages(sets), &requests).0);
    assert_eq!(figures(&whole), figures(&parts));
}

/// What passes DRAM and the host interface's charge for pages over the bus are those of the part: 512 of 4,096 bytes.
#[test]
fn a_part_is_charged_for_its_bytes() {
    let sets = |more: &[&'static str]| {
        let small = [
            "device.blocks_per_plane=32",
            "run.count_drain=true",
            "energy.host_interface.charged_data=\"flash_pages\"",
        ];
        [&small[..], more].concat()
    };
    let energy = |more: &[&'static str]| {
        let config = preset("energysim", &sets(&[&["controller.read_transfer=\"on_bus\""], more].concat()));
        play(&config, &[read_bytes(0, 5 * PAGE, 512)]).0
    };
    let (whole, part) = (energy(&[]), energy(&[PARTS, SECTORS]));
    assert_close(whole.ssd().energy_j.host_interface, 13_654e-9 * 9e-3 * 3.3, "4,096 bytes at 300 MB/s");
    assert_close(part.ssd().energy_j.host_interface, 1_707e-9 * 9e-3 * 3.3, "512 bytes");
    let dram_ns = |report: &flashwatt::Report| report.ssd().ledger.dram_op_ns;
    assert_eq!((dram_ns(&whole), dram_ns(&part)), (50 + 2_560, 50 + 320));
    let transfer = |report: &flashwatt::Report| report.ssd().ledger.die_ns["read_transfer"].values().sum::<u64>();
    assert_eq!((transfer(&whole), transfer(&part)), (82_000, 82_000 / 8));
}
