//! Rows of pages that are programmed at once, for blocks of 1 to 6 planes and cells of 1 to 4 bits. All numbers are of hand arithmetic:
//! with x = command + page, P planes and B bits, the pages of a row take P·B·x on the bus, and the array tWL for all of them.

use crate::common::{Done, Log, load, play, read, request, write};
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};

/// Command and page on the bus, and the program of a row.
pub const COMMAND: Nanos = 409;
pub const TRANSFER: Nanos = 3_413;
pub const X: Nanos = COMMAND + TRANSFER;
pub const ROW: Nanos = 600_043;
/// tR by type of page.
pub const READS: [Nanos; 4] = [30_011, 45_017, 40_013, 50_021];
/// A row that is not whole is padded after this time.
const PAD: Nanos = 250_007;

/// Every number of planes and bits that the laws are checked for.
pub const SHAPES: [(u32, u32); 16] = {
    let (planes, mut shapes, mut at) = ([1, 2, 4, 6], [(0, 0); 16], 0);
    while at < 16 {
        shapes[at] = (planes[at / 4], at as u32 % 4 + 1);
        at += 1;
    }
    shapes
};

/// A drive of one die, whose blocks span `planes` planes, with cells of `bits` bits.
pub fn die(planes: u32, bits: u32, sets: &[&str]) -> Config {
    let text = format!(
        r#"
[device]
preset = "limit"
channels = 1
ways = 1
planes = {planes}
plane_blocks = true
blocks_per_plane = 40
pages_per_block = 24
spare_fraction = 0.5

[device.timing]
erase_ns = 3_000_017
command_ns = {COMMAND}
page_transfer_ns = {TRANSFER}

[device.cells]
bits = {bits}
read_ns = {reads:?}
program_ns = {ROW}
pad_after_ns = {PAD}

[device.host_link]
queue_depth = 512

[gc]
low_watermark_blocks = 3
reserved_blocks = 1

[run]
precondition = "empty"
"#,
        reads = &READS[..bits as usize]
    );
    load(&text, sets)
}

/// The ends of the rows of a run, each once.
fn row_ends(log: &Log) -> Vec<Nanos> {
    let mut ends: Vec<Nanos> =
        log.ops.iter().filter(|done| done.op.kind == OpKind::Program).map(|done| done.t.end).collect();
    ends.dedup();
    ends
}

/// Six rows in one write, plain and with cache program (L1).
#[test]
fn l1_rows_follow_each_other() {
    for (planes, bits) in SHAPES {
        let row = u64::from(planes * bits);
        let six = [write(0, 0, 6 * row)];
        let (_, log) = play(&die(planes, bits, &[]), &six);
        let expected: Vec<Nanos> = (1..=6).map(|n| n * (row * X + ROW)).collect();
        assert_eq!(row_ends(&log), expected, "{planes} planes, {bits} bits");
        let (_, log) = play(&die(planes, bits, &["device.bus.cache_program=true"]), &six);
        let cycle = (row * X).max(ROW);
        let expected: Vec<Nanos> = (0..6).map(|n| row * X + ROW + n * cycle).collect();
        assert_eq!(row_ends(&log), expected, "{planes} planes, {bits} bits, cache program");
    }
}

/// The array starts a row of cache programs `cache_busy_ns` after the one before it.
#[test]
fn l1_the_array_is_busy_between_cache_programs() {
    let config = die(4, 3, &["device.bus.cache_program=true", "device.bus.cache_busy_ns=3001"]);
    let (_, log) = play(&config, &[write(0, 0, 36)]);
    assert_eq!(row_ends(&log), [12 * X + ROW, 12 * X + 2 * ROW + 3_001, 12 * X + 3 * ROW + 6_002]);
}

/// Where the bus takes longer than the array, it is taken all the time: with W dies a cycle is W·P·B·x.
#[test]
fn l1_many_dies_are_bound_by_the_bus() {
    let config = die(4, 3, &["device.ways=20", "device.cells.stripe=\"row\"", "device.blocks_per_plane=12"]);
    let (_, log) = play(&config, &[write(0, 0, 20 * 12 * 3)]);
    let ends = row_ends(&log);
    let expected: Vec<Nanos> = (1..=60).map(|row| row * 12 * X + ROW).collect();
    assert_eq!(ends, expected);
}

/// Pages that come `apart`: the first is acknowledged when the last has moved in and the row is programmed (L2).
#[test]
fn l2_a_write_waits_for_its_row() {
    for (planes, bits) in SHAPES {
        let row = u64::from(planes * bits);
        for apart in [0, X, 50_000] {
            let requests: Vec<Request> = (0..row).map(|page| write(page * apart, page, 1)).collect();
            let (_, log) = play(&die(planes, bits, &["device.cells.pad_after_ns=1000000"]), &requests);
            let last_in = if apart < X { row * X } else { (row - 1) * apart + X };
            for request in &log.requests {
                assert_eq!(request.end_ns, last_in + ROW, "{planes} planes, {bits} bits, {apart} ns apart");
            }
        }
    }
}

/// One page, for which nobody waits but its host: after a time the row is padded. All its pages are programmed.
#[test]
fn a_row_is_padded_after_a_time() {
    for (planes, bits) in SHAPES {
        let row = u64::from(planes * bits);
        let (report, log) = play(&die(planes, bits, &[]), &[write(0, 0, 1), write(10_000_000, 1, 1)]);
        let after = if row > 1 { PAD.max(X) + (row - 1) * X } else { X };
        assert_eq!(log.requests[0].end_ns, after + ROW, "{planes} planes, {bits} bits");
        assert_eq!(report.ssd().flash.programs.total, 2 * row);
        assert_eq!(report.ssd().flash.write_amplification, Some(row as f64));
        assert_eq!(log.all(OpKind::Program, Cause::Pad).len() as u64, 2 * (row - 1));
    }
}

/// A forced write pads its row at once.
#[test]
fn a_forced_write_pads_its_row_at_once() {
    let forced = Request { fua: true, ..write(0, 0, 1) };
    let (_, log) = play(&die(4, 3, &[]), &[forced]);
    assert_eq!(log.requests[0].end_ns, 12 * X + ROW);
}

/// A flush of a page in the write buffer pads its row.
#[test]
fn a_flush_pads_a_row() {
    let config = die(4, 3, &["write_buffer.bytes=1048576"]);
    let flush = Request::new(1_000, RequestKind::Flush, 0, 0);
    let (report, log) = play(&config, &[write(0, 0, 1), flush]);
    assert_eq!(log.requests[1].end_ns, 1_000 + 12 * X + ROW);
    assert_eq!(report.ssd().flash.programs.total, 12);
}

/// A page is read from memory until its row is on flash, and from flash after that.
#[test]
fn pages_of_an_open_row_are_read_from_memory() {
    let (_, log) = play(&die(4, 3, &[]), &[write(0, 0, 1), read(100, 0, 1), read(5_000_000, 0, 1)]);
    let ends: Vec<Nanos> = log.requests.iter().map(|request| request.end_ns).collect();
    assert_eq!(ends, [100, PAD + 11 * X + ROW, 5_000_000 + COMMAND + READS[0] + TRANSFER]);
    assert_eq!(log.all(OpKind::Read, Cause::Host).len(), 1, "one read of flash");
}

/// A write of a part of a page in an open row completes it from memory.
#[test]
fn a_part_of_a_page_in_an_open_row_is_completed_from_memory() {
    let half = Request { bytes: 2_048, ..request(0, RequestKind::Write, 0, 1) };
    let (_, log) = play(&die(4, 3, &[]), &[write(0, 0, 1), Request { arrival_ns: 50, ..half }]);
    assert_eq!(log.all(OpKind::Read, Cause::Host).len(), 0);
    assert!(log.requests.iter().all(|request| request.end_ns == 50 + PAD + 10 * X + ROW));
}

/// Reads go between the pages of a row that move in, and the row goes on after them.
#[test]
fn a_read_goes_between_pages_that_move_in() {
    let config = die(4, 1, &["run.precondition=\"filled\""]);
    let (_, log) = play(&config, &[write(0, 0, 4), read(1, 100, 1)]);
    let of = |kind| log.ops.iter().filter(move |done: &&Done| done.op.kind == kind);
    let read = of(OpKind::Read).next().expect("a read");
    assert_eq!(read.t.start, X, "after the page that moves in when it comes");
    let programs: Vec<Nanos> = of(OpKind::Program).map(|done| done.t.start).collect();
    let after = X + COMMAND + READS[0] + TRANSFER;
    assert_eq!(programs, [0, after, after + X, after + 2 * X]);
}

/// Energy of programming by hand (L15): current · voltage · tWL for the bytes of a row.
#[test]
fn l15_energy_of_programming() {
    for (planes, bits) in SHAPES {
        let row = u64::from(planes * bits);
        let (report, _) = play(&die(planes, bits, &[]), &[write(0, 0, 4 * row)]);
        let watts = 0.030 * 3.3;
        crate::common::assert_close(report.ssd().energy_j.nand.program, 4.0 * watts * ROW as f64 * 1e-9, "programming");
    }
}

/// Collection neither pads nor copies more because pages are programmed in rows: a step fills its row, the last one of a victim with pages
/// of another block. The same blocks without rows have the same write amplification.
#[test]
fn collections_fill_their_rows() {
    let of = |config: &Config| {
        let report = flashwatt::run(config, &RunOptions { check: true, ..RunOptions::default() }, &mut |_| true);
        report.unwrap_or_else(|error| panic!("{error}")).ssd().flash.clone()
    };
    let shared = [
        "device.blocks_per_plane=160",
        "device.spare_fraction=0.2",
        "gc.low_watermark_blocks=3",
        "gc.reserved_blocks=1",
        "device.host_link.queue_depth=64",
        "workload.uniform.requests=30000",
        "workload.uniform.request_bytes=4096",
        "workload.uniform.read_fraction=0",
        "run.precondition=\"steady\"",
    ];
    let plain = of(&load("device = { preset = \"limit\", channels = 1, ways = 1, pages_per_block = 96 }", &shared));
    let rows = of(&die(4, 3, &[&shared[..], &["device.pages_per_block=24"]].concat()));
    let [plain, amplified] = [&plain, &rows].map(|flash| flash.write_amplification.expect("the host wrote"));
    assert!((amplified / plain - 1.0).abs() < 0.02, "{amplified} with rows, {plain} without");
    assert_eq!(rows.programs.pad, 0, "the host has 64 pages on their way, more than a row");
}

/// A few pages are written again and again. Full blocks have lost fewer pages than a row has, and to copy the rest would gain nothing: a
/// collection goes ahead of the host's writes, so that it would go on for ever. It waits until there is a row to gain.
#[test]
fn a_collection_begins_when_there_is_a_row_to_gain() {
    for (hot, preemptible) in [(7, false), (7, true), (31, false), (31, true)] {
        let preemptible = format!("gc.preemptible={preemptible}");
        let sets =
            ["run.precondition=\"filled\"", "device.blocks_per_plane=16", "device.spare_fraction=0.4", &preemptible];
        let requests: Vec<Request> = (0..400).map(|at| write(0, at % hot, 1)).collect();
        let (report, log) = play(&die(4, 3, &sets), &requests);
        assert_eq!((report.status.as_str(), log.requests.len()), ("complete", 400), "{hot} pages, {preemptible}");
        let erased = log.all(OpKind::Erase, Cause::Gc).len();
        let copied = log.all(OpKind::Program, Cause::Gc).len();
        assert!(erased > 0 || copied == 0, "{copied} copies, and nothing was erased");
    }
}
