//! Superblocks against numbers worked out by hand: what a merge copies and erases, how long it takes, and when an idle drive merges.
//!
//! A drive has two dies on two channels, blocks of 8 pages, and so units of 16 pages: page p lies on die p % 2. It starts filled.

use crate::common::delays::{COMMAND, ERASE, P, PROGRAM, R, READ};
use crate::common::{Log, merging_drive, play, read, write};
use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;
use flashwatt_ssd::ftl::{Cause, Merges, OpKind};

/// Pages of a unit.
const U: u64 = 16;
const E: Nanos = COMMAND + ERASE;
const SECOND: Nanos = 1_000_000_000;

/// A drive of 8 units with a number of logs.
fn drive(logs: u32, sets: &[&str]) -> Config {
    let fraction = format!("ftl.superblock.log_fraction={}", f64::from(logs) / 16.0);
    let fixed = [&fraction, "device.channels=2", "controller.policy=\"in_order\""];
    merging_drive(&[&fixed, sets].concat())
}

/// A drive that merges a second after the last request, and then every half a second.
fn idling(logs: u32, sets: &[&str]) -> Config {
    let idle = ["ftl.superblock.idle_merge_start_ns=1000000000", "ftl.superblock.idle_merge_gap_ns=500000000"];
    drive(logs, &[&idle, sets].concat())
}

/// Writes of single pages, a tenth of a second apart.
fn singles(pages: &[u64]) -> Vec<Request> {
    pages.iter().zip(0..).map(|(&page, at)| write(at * SECOND / 10, page, 1)).collect()
}

#[track_caller]
fn expect(report: &Report, merges: Merges, copies: u64, erases: u64) {
    assert_eq!(report.ssd().ftl.merges, Some(merges));
    assert_eq!(report.ssd().flash.programs.merge, copies, "pages copied by merges");
    assert_eq!(report.ssd().flash.erases.merge, erases, "blocks erased by merges");
}

fn merged(switch: u64, partial: u64, full: u64, replacement: u64) -> Merges {
    Merges { switch, partial, full, replacement }
}

/// When the copies of merges started.
fn copy_starts(log: &Log) -> Vec<Nanos> {
    log.ops
        .iter()
        .filter(|done| done.op.cause == Cause::Merge && done.op.kind != OpKind::Erase)
        .map(|d| d.t.start)
        .collect()
}

// ---------------------------------------------------------------- what a merge does

/// Page 3 is the second one of die 1, so that the log block there is out of order: all 8 pages of the die are copied to a fresh
/// block, and data and log block are erased. The log block of die 0 is empty: the die's 8 pages are copied to it, 1 erase.
#[test]
fn one_page_out_of_order_moves_the_whole_unit() {
    let (report, _) = play(&drive(1, &[]), &singles(&[3, U]));
    expect(&report, merged(0, 0, 1, 1), 16, 3);
}

/// Page 0 is the first one of die 0: its log block takes the 7 others, that of die 1 all 8, and no fresh block is needed.
#[test]
fn the_first_page_makes_a_partial_merge() {
    let (report, _) = play(&drive(1, &[]), &singles(&[0, U]));
    expect(&report, merged(0, 1, 0, 1), 15, 2);
}

/// A unit written in order, by any requests, is switched: 2 erases and no copy. Written in part, the rest is copied.
#[test]
fn a_unit_written_in_order_is_not_copied() {
    let whole = [write(0, 0, 5), write(SECOND, 5, U - 5), write(2 * SECOND, U, 1)];
    let (report, _) = play(&drive(1, &[]), &whole);
    expect(&report, merged(1, 0, 0, 1), 0, 2);
    let head = [write(0, 0, 5), write(SECOND, U, 1)];
    let (report, _) = play(&drive(1, &[]), &head);
    expect(&report, merged(0, 1, 0, 1), U - 5, 2);
}

/// A request across two units: the tail of the first one is merged in full on both dies (16 copies, 4 erases), the head of the
/// second one in part (16 - 6 copies, 2 erases).
#[test]
fn a_request_across_units_leaves_a_full_and_a_partial_merge() {
    let (report, _) = play(&drive(2, &[]), &[write(0, 10, 12), write(SECOND, 4 * U, 1), write(2 * SECOND, 6 * U, 1)]);
    expect(&report, merged(0, 1, 1, 2), 16 + 10, 4 + 2);
}

/// Eight writes of one page fill the log block of its die; the ninth merges the unit for itself, and takes no log from another.
#[test]
fn a_full_log_block_is_merged() {
    let (report, _) = play(&drive(1, &[]), &singles(&[2; 8]));
    expect(&report, merged(0, 0, 0, 0), 0, 0);
    let (report, _) = play(&drive(1, &[]), &singles(&[2; 9]));
    expect(&report, merged(0, 0, 1, 0), 16, 3);
}

/// The least recently written log goes first: with two logs, the third unit takes that of unit 1, because unit 0 was written again.
/// The next one takes that of unit 0, then nothing else is left but those of units 2 and 3.
#[test]
fn the_least_recently_written_log_is_merged_first() {
    let (report, log) = play(&drive(2, &[]), &singles(&[3, U + 3, 5, 2 * U + 3, 3 * U + 3]));
    expect(&report, merged(0, 0, 2, 2), 32, 6);
    // In the start state the data block of unit u is the u-th of its die; logs are blocks 8 and later.
    let erased = log.all(OpKind::Erase, Cause::Merge).into_iter().map(|done| done.op.at.block.0 % 16);
    assert_eq!(erased.filter(|&block| block < 8).collect::<Vec<_>>(), [1, 1, 0, 0]);
}

/// With `merges_at_once = 2` the unit that finds both logs in use merges both, and the next one finds a free log.
#[test]
fn logs_are_merged_in_groups() {
    let sets = ["ftl.superblock.merges_at_once=2"];
    let (report, _) = play(&drive(2, &sets), &singles(&[3, U + 3, 2 * U + 3]));
    expect(&report, merged(0, 0, 2, 2), 32, 6);
    let (report, _) = play(&drive(2, &sets), &singles(&[3, U + 3, 2 * U + 3, 3 * U + 3]));
    expect(&report, merged(0, 0, 2, 2), 32, 6);
    let (report, _) = play(&drive(2, &sets), &singles(&[3, U + 3, 2 * U + 3, 3 * U + 3, 4 * U + 3]));
    expect(&report, merged(0, 0, 4, 4), 64, 12);
}

/// Copying keeps both dies at work. Die 1 copies 8 pages, each a read and a program, erases two blocks, and programs the page
/// of the host; die 0 ends before that. So the write takes 8 (R + P) + 2 E + P, though 16 pages are copied.
#[test]
fn a_merge_copies_on_all_dies_at_once() {
    let (_, log) = play(&drive(1, &[]), &singles(&[3, U + 3]));
    let last = log.requests.last().expect("two requests");
    assert_eq!(last.end_ns - last.admitted_ns, 8 * (R + P) + 2 * E + P);
}

/// Two dies share a channel, on which a transfer of T takes longer than a read and a program. With memory for one row each row takes a
/// read, two transfers from the dies and two to them, and a program: 8 (READ + 4 T + PROGRAM). With memory for two and more the
/// channel has work all the time, 32 T, but where the dies begin and end one after the other: there it waits for three reads and two
/// programs at most. After that come two erases of die 1, and the transfer and program of the host's page. Each row has 4 commands.
#[test]
fn memory_for_more_rows_keeps_the_channel_at_work() {
    const T: Nanos = 1_000_000;
    let transfer = format!("device.timing.page_transfer_ns={T}");
    let took = |rows: u32| {
        let rows = format!("ftl.superblock.rows_in_memory={rows}");
        let sets = ["device.channels=1", "device.ways=2", &transfer, &rows];
        let (report, log) = play(&drive(1, &sets), &singles(&[3, U + 3]));
        expect(&report, merged(0, 0, 1, 1), 16, 3);
        let last = log.requests.last().expect("two requests");
        last.end_ns - last.admitted_ns
    };
    let (ends, commands) = (2 * ERASE + T + PROGRAM, 40 * COMMAND);
    let one_row = 8 * (READ + 4 * T + PROGRAM) + ends;
    assert!((one_row..one_row + commands).contains(&took(1)), "{} ns, not {one_row}", took(1));
    let busy = 32 * T + ends;
    for rows in [2, 8, 100] {
        let most = busy + 3 * READ + 2 * PROGRAM + commands;
        assert!((busy..most).contains(&took(rows)), "{rows} rows: {} ns, not {busy} to {most}", took(rows));
    }
}

/// Dies on channels of their own gain nothing by more memory: each copies its 8 pages without a pause.
#[test]
fn memory_for_more_rows_changes_nothing_where_dies_set_the_pace() {
    let [one, unit] = [1, 8].map(|rows| {
        let (_, log) = play(&drive(1, &[&format!("ftl.superblock.rows_in_memory={rows}")]), &singles(&[3, U + 3]));
        log.requests.last().expect("two requests").end_ns
    });
    assert_eq!(one, unit);
}

/// A log whose pages are trimmed is erased without a merge: one block, because that of die 0 was never written.
#[test]
fn a_log_without_valid_pages_is_erased() {
    let trim = Request { kind: flashwatt_core::connector::RequestKind::Trim, ..write(SECOND, 3, 1) };
    let (report, _) = play(&drive(1, &[]), &[write(0, 3, 1), trim, write(2 * SECOND, U + 3, 1)]);
    expect(&report, merged(0, 0, 0, 1), 0, 1);
}

// ---------------------------------------------------------------- merging while idle

/// Three units are written, then nothing happens for 10 s. A second after the last write the first log is merged, half a
/// second after the end of each merge the next one; then there is nothing left to do. A write later finds a free log.
#[test]
fn an_idle_drive_merges_log_after_log() {
    let mut requests: Vec<Request> = [3, U + 3, 2 * U + 3].iter().map(|&page| write(0, page, 1)).collect();
    requests.push(write(10 * SECOND, 3 * U + 3, 1));
    let (report, log) = play(&idling(3, &[]), &requests);
    expect(&report, merged(0, 0, 3, 0), 48, 9);
    // Writes of die 1, one after the other.
    let written = 3 * P;
    let merge = 8 * (R + P) + 2 * E; // on die 1, as above
    let starts = copy_starts(&log);
    let begins: Vec<Nanos> = starts.chunks(32).map(|merge| *merge.iter().min().expect("32 operations")).collect();
    let nth = |n: Nanos| written + SECOND + n * (merge + SECOND / 2);
    assert_eq!(begins, [nth(0), nth(1), nth(2)]);
    let energy = &report.ssd().energy_by_cause_j;
    assert!(energy.merge > 0.0 && energy.host > 0.0, "{energy:?}");
}

/// A request puts merging off: it begins a second after the request has ended.
#[test]
fn a_request_puts_merging_off() {
    let requests = [write(0, 3, 1), read(SECOND * 9 / 10, 40, 1), write(5 * SECOND, U + 3, 1)];
    let (_, log) = play(&idling(2, &[]), &requests);
    assert_eq!(copy_starts(&log).iter().min(), Some(&(SECOND * 9 / 10 + R + SECOND)));
}

/// A drive without idle merging, and one that is never idle for long enough, merge nothing.
#[test]
fn without_a_pause_nothing_is_merged() {
    let pages = [3, U + 3, 2 * U + 3];
    for config in [drive(3, &[]), idling(3, &[])] {
        let (report, _) = play(&config, &singles(&pages));
        expect(&report, merged(0, 0, 0, 0), 0, 0);
    }
}

/// A read that comes in the middle of a merge waits for the operations ahead of it, those of one merge at most: of a page
/// that is not moved, of one that is, and of one whose place was free until then.
#[test]
fn a_request_waits_for_one_merge_at_most() {
    let merge = 8 * (R + P) + 2 * E;
    for (nth, page) in [(1, 5 * U), (1, 5 * U + 1), (3, 2), (5, 3), (7, 15)] {
        let at = P + SECOND + nth * merge / 10;
        let (_, log) = play(&idling(2, &[]), &[write(0, 3, 1), read(at, page, 1)]);
        let last = log.requests.last().expect("two requests");
        assert!(!copy_starts(&log).is_empty());
        let waited = last.end_ns - last.admitted_ns;
        assert!(waited <= merge - nth * merge / 10 + R, "page {page}: {waited} ns");
    }
}

/// A write in the middle of a merge: it needs a log, and all are in use but the one that is being merged.
#[test]
fn a_write_waits_for_one_merge_at_most() {
    let merge = 8 * (R + P) + 2 * E;
    let (report, log) = play(&idling(1, &[]), &[write(0, 3, 1), write(P + SECOND + merge / 2, U + 3, 1)]);
    expect(&report, merged(0, 0, 1, 0), 16, 3);
    let last = log.requests.last().expect("two requests");
    assert!(last.end_ns - last.admitted_ns <= merge - merge / 2 + P, "{last:?}");
}

/// What a write buffer holds goes to flash before the drive merges.
#[test]
fn a_write_buffer_is_emptied_first() {
    let sets = ["write_buffer.bytes=32768", "write_buffer.destage_fraction=1"];
    let (report, log) = play(&idling(2, &sets), &[write(0, 3, 1), read(5 * SECOND, 40, 1)]);
    expect(&report, merged(0, 0, 1, 0), 16, 3);
    assert!(log.program_starts()[0] < copy_starts(&log)[0]);
}

/// Merging goes on while another program drives the simulation.
#[test]
fn a_live_drive_merges_while_time_passes() {
    let config = idling(2, &[]);
    let mut drive = flashwatt::Drive::new(&config).expect("a drive");
    drive.send(write(0, 3, 1)).expect("it lies on the drive");
    assert_eq!(drive.advance(SECOND).expect("time passes").len(), 1);
    let before = drive.energy_j();
    drive.advance(3 * SECOND).expect("time passes");
    assert!(drive.energy_j() > 3.0 * before, "two seconds with a merge cost more than two without");
    expect(&drive.report(), merged(0, 0, 1, 0), 16, 3);
}

// ---------------------------------------------------------------- wrong options

#[test]
fn wrong_options_are_named() {
    let fault = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        flashwatt::config::load("device.preset = \"limit\"", "test.toml", &sets).expect_err("it is wrong").to_string()
    };
    for (set, named) in [
        ("ftl.superblock.idle_merge_gap_ns=5", "idle_merge_start_ns"),
        ("ftl.superblock.idle_merge_start_ns=0", "idle_merge_start_ns"),
        ("ftl.superblock.merges_at_once=0", "merges_at_once"),
        ("ftl.superblock.rows_in_memory=0", "rows_in_memory"),
        ("ftl.superblock.log_fraction=0.6", "log_fraction"),
        ("ftl.superblock.idle_merge_start=5", "idle_merge_start_ns"),
    ] {
        let message = fault(&[set]);
        assert!(message.contains(named), "{set}: {message}");
    }
    let message = fault(&["ftl=\"superblock\"", "device.block_stripe=\"page\""]);
    assert!(message.contains("block_stripe"), "{message}");
}
