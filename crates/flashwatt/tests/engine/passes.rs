//! Rows that are programmed in two passes. All numbers are of hand arithmetic: with x = command + page, P planes and B bits, each pass of a
//! row takes P·B·x on the bus, and the array t1 or t2. A block has its passes in one order, whatever comes in which order.

use super::rows::{COMMAND, READS, ROW, SHAPES, TRANSFER, X, die};
use crate::common::{Log, assert_close, play, read, write};
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};

/// The array time of a first pass. That of a second one is [`ROW`].
const FIRST: Nanos = 200_017;
const PAD_LATE: &str = "device.cells.pad_after_ns=1000000000";
const AT_ONCE: &str = "device.cells.pad_after_ns=0";

/// A drive of one die whose rows are programmed in two passes.
fn twice(planes: u32, bits: u32, distance: u32, sets: &[&str]) -> Config {
    let passes = [
        "device.cells.passes=2".to_string(),
        format!("device.cells.first_pass_ns={FIRST}"),
        format!("device.cells.pass_distance={distance}"),
    ];
    let sets: Vec<&str> = passes.iter().map(String::as_str).chain(sets.iter().copied()).collect();
    die(planes, bits, &sets)
}

/// Shapes whose cells hold more than one bit.
fn shapes() -> impl Iterator<Item = (u32, u32)> {
    SHAPES.into_iter().filter(|&(_, bits)| bits > 1)
}

/// The passes of a block with `rows` rows, in their order: the row, and whether it is the second pass.
fn order(rows: u32, distance: u32) -> Vec<(u32, bool)> {
    let mut passes = Vec::new();
    for row in 0..rows {
        passes.push((row, false));
        passes.extend(row.checked_sub(distance).map(|behind| (behind, true)));
    }
    passes.extend((rows - distance.min(rows)..rows).map(|row| (row, true)));
    passes
}

/// When passes end that begin at 0 and follow each other. `beside`: whether pages move in while the array programs.
fn ends(passes: &[(u32, bool)], row: u64, beside: bool) -> Vec<Nanos> {
    let (load, mut in_end, mut array_end, mut array_start) = (row * X, 0, 0, 0);
    let time = |&(_, is_second): &(u32, bool)| {
        in_end = if beside { in_end.max(array_start) } else { array_end } + load;
        array_start = in_end.max(array_end);
        array_end = array_start + if is_second { ROW } else { FIRST };
        array_end
    };
    passes.iter().map(time).collect()
}

/// When the rows of a block end: with their second passes.
fn row_ends(passes: &[(u32, bool)], row: u64, beside: bool) -> Vec<Nanos> {
    let ends = ends(passes, row, beside);
    passes.iter().zip(ends).filter(|((_, is_second), _)| *is_second).map(|(_, end)| end).collect()
}

/// The ends of the rows with data in a run, each once.
fn found(log: &Log) -> Vec<Nanos> {
    let mut ends: Vec<Nanos> = log.all(OpKind::Program, Cause::Host).iter().map(|done| done.t.end).collect();
    ends.dedup();
    ends
}

/// A block that is written from its first page to its last: each row ends with its second pass, and nothing is padded. A die programs
/// P·B pages in 2·P·B·x + t1 + t2.
#[test]
fn a_block_has_its_passes_in_order() {
    for (planes, bits) in shapes() {
        let (row, rows) = (u64::from(planes * bits), 24 / bits);
        for distance in [1, 2] {
            let all = [write(0, 0, u64::from(rows) * row)];
            let passes = order(rows, distance);
            let (report, log) = play(&twice(planes, bits, distance, &[]), &all);
            assert_eq!(found(&log), row_ends(&passes, row, false), "{planes} planes, {bits} bits, {distance} rows");
            assert_eq!(report.ssd().flash.programs.total, u64::from(rows) * row);
            assert_eq!(*found(&log).last().expect("rows"), u64::from(rows) * (2 * row * X + FIRST + ROW));
            let cached = twice(planes, bits, distance, &["device.bus.cache_program=true"]);
            let (_, log) = play(&cached, &all);
            assert_eq!(
                found(&log),
                row_ends(&passes, row, true),
                "{planes} planes, {bits} bits, {distance} rows, cached"
            );
        }
    }
}

/// What is written of a block ends when rows behind it are padded that hold nothing. These have one pass.
#[test]
fn the_last_rows_need_rows_behind_them() {
    for (planes, bits) in shapes() {
        let row = u64::from(planes * bits);
        for distance in [1, 2, 4] {
            let (report, log) = play(&twice(planes, bits, distance, &[AT_ONCE]), &[write(0, 0, 2 * row)]);
            let passes: Vec<(u32, bool)> = order(8, distance)
                .into_iter()
                .filter(|&(row, second)| row < 2 || !second && row < 2 + distance)
                .collect();
            assert_eq!(found(&log), row_ends(&passes, row, false), "{planes} planes, {bits} bits, {distance} rows");
            assert_eq!(report.ssd().flash.programs.pad, u64::from(distance) * row);
            let watts = 0.030 * 3.3;
            let array_ns = 2 * (FIRST + ROW) + u64::from(distance) * FIRST;
            assert_close(report.ssd().energy_j.nand.program, watts * array_ns as f64 * 1e-9, "programming");
        }
    }
}

/// Each page of a row is acknowledged at the end of its second pass, and not before.
#[test]
fn a_write_waits_for_its_second_pass() {
    let (row, config) = (16, twice(4, 4, 1, &[PAD_LATE]));
    let requests: Vec<Request> =
        (0..2 * row).map(|page| write(0, page, 1)).chain([write(1_000_000_000, 32, 1)]).collect();
    let (_, log) = play(&config, &requests);
    let second = 2 * (row * X + FIRST) + row * X + ROW;
    assert!(log.requests[..row as usize].iter().all(|request| request.end_ns == second));
    assert!(log.requests[row as usize].end_ns > second);
    let moved = |page: u64| log.ops.iter().find(|done| u64::from(done.op.at.page) == page).map(|done| done.t.start);
    assert_eq!(moved(0), Some(2 * (row * X + FIRST)), "it moves in again for its second pass");
}

/// A flush of a page: its row is padded, and the rows behind it without whose first pass it has no second one.
#[test]
fn a_flush_pads_the_rows_behind() {
    for (planes, bits) in shapes() {
        let row = u64::from(planes * bits);
        for distance in [1, 2, 3] {
            let config =
                twice(planes, bits, distance, &["write_buffer.bytes=1048576", "run.count_drain=true", PAD_LATE]);
            let flush = Request::new(1_000, RequestKind::Flush, 0, 0);
            let later = write(900_000_000, 3, 1);
            let (report, log) = play(&config, &[write(0, 0, 1), flush, later]);
            let rows = u64::from(distance) + 1;
            let end =
                log.requests.iter().find(|request| request.kind == RequestKind::Flush).map(|request| request.end_ns);
            assert_eq!(end, Some(1_000 + rows * (row * X + FIRST) + row * X + ROW), "{planes} planes, {bits} bits");
            let flash = &report.ssd().flash;
            let pages = row * (2 * rows).min(24 / u64::from(bits)); // the end of the run does the same, or comes to the end of the block
            assert_eq!((flash.programs.host, flash.programs.pad), (2, pages - 2));
            assert_eq!(flash.write_amplification, Some(pages as f64 / 2.0));
        }
    }
}

/// Without anybody who waits for it but its host, a row is padded after a time in which nothing happens to it, with the rows behind it.
#[test]
fn rows_are_padded_after_a_time() {
    let (row, pad) = (16, 250_007);
    let requests = [write(0, 0, 1), write(50_000_000, 1, 1)];
    let (_, log) = play(&twice(4, 4, 1, &[]), &requests);
    assert_eq!(log.requests[0].end_ns, pad + (row - 1) * X + FIRST + row * X + FIRST + row * X + ROW);
    let (_, log) = play(&twice(4, 4, 1, &[]), &[write(0, 0, row), write(50_000_000, 16, 1)]);
    let first = row * X + FIRST; // then it waits for the next row
    assert_eq!(log.requests[0].end_ns, first + pad + row * X + FIRST + row * X + ROW);
}

/// Memory serves reads of a page until its second pass has ended, and flash after that.
#[test]
fn pages_between_passes_are_read_from_memory() {
    let end = 2 * (16 * X + FIRST) + 16 * X + ROW;
    let reads = [100, 16 * X + FIRST + 1, 2 * (16 * X + FIRST) + 1, end - 1, end + 1].map(|at| read(at, 0, 1));
    let requests: Vec<Request> =
        [write(0, 0, 32)].into_iter().chain(reads).chain([write(900_000_000, 40, 1)]).collect();
    let (_, log) = play(&twice(4, 4, 1, &[PAD_LATE, "device.bus.partial_pages=true"]), &requests);
    let of_reads = log.requests.iter().filter(|request| request.kind == RequestKind::Read);
    let took: Vec<Nanos> = of_reads.map(|request| request.end_ns - request.admitted_ns).collect();
    let (memory, flash) = took.split_at(4);
    assert_eq!(memory, [0; 4]);
    assert!(flash[0] >= COMMAND + READS[0] + TRANSFER, "{flash:?}");
}

/// Reads suspend either pass: each is longer by what the read takes, its wind-down and its resumption.
#[test]
fn both_passes_are_suspended() {
    let filled = ["run.precondition=\"filled\"", "device.suspend.program_ns=20011", "device.suspend.resume_ns=10007"];
    let config = twice(4, 4, 1, &filled);
    let row = 16 * X;
    let took = 20_011 + COMMAND + READS[2] + TRANSFER + 10_007;
    let second = 2 * (row + FIRST) + row;
    let requests = [write(0, 0, 48), read(row + 5, 200, 1), read(second + took + 7, 200, 1)];
    let (_, log) = play(&config, &requests);
    let programs = log.all(OpKind::Program, Cause::Host);
    let ended: Vec<Nanos> = programs.iter().take(16).map(|done| done.t.end).collect();
    assert_eq!(ended, [second + ROW + 2 * took; 16], "{:?}", log.requests);
}

/// Collection goes on although its copies wait for rows behind them, and fills these with copies.
#[test]
fn collections_fill_the_rows_behind() {
    let sets = [
        "device.blocks_per_plane=160",
        "device.spare_fraction=0.3",
        "gc.low_watermark_blocks=3",
        "gc.reserved_blocks=1",
        "device.host_link.queue_depth=128",
        "workload.uniform.requests=30000",
        "workload.uniform.request_bytes=4096",
        "workload.uniform.read_fraction=0",
        "run.precondition=\"steady\"",
    ];
    let of = |config: &Config| {
        let report = flashwatt::run(config, &RunOptions { check: true, ..RunOptions::default() }, &mut |_| true);
        report.unwrap_or_else(|error| panic!("{error}")).ssd().flash.clone()
    };
    let late = [&sets[..], &["device.cells.pad_after_ns=10000000"]].concat(); // longer than a collection takes to make room
    let [once, both] = [&of(&die(4, 3, &late)), &of(&twice(4, 3, 1, &late))];
    let [one, two] = [once, both].map(|flash| flash.write_amplification.expect("the host wrote"));
    assert!((two / one - 1.0).abs() < 0.02, "{two} in two passes, {one} in one");
    assert_eq!(both.programs.pad, 12, "one row, behind the last one of the run");
}
