//! What a recovery with a checkpoint reads, worked out by hand.

use crate::common::delays::{COMMAND, P, R, READ};
use crate::common::{PAGE, PROBE_DRIVE, Script, load, merging_drive, play, write};
use flashwatt::config::Config;
use flashwatt::connector::Request;
use flashwatt::crash::{Cost, Powered, recover};
use flashwatt::ftl::{Cause, OpKind};
use flashwatt::units::Nanos;

/// Four dies of 16 blocks of 8 pages, half of them filled. The map has 248 units of 4 bytes, and 64 blocks of 4 bytes each: one page.
fn drive(interval_bytes: u64, more: &[&str]) -> Config {
    let interval = format!("recovery.checkpoint_interval_bytes={interval_bytes}");
    load(PROBE_DRIVE, &[&["device.channels=2", "device.ways=2", interval.as_str()], more].concat())
}

/// The recovery from a cut at this time.
fn cut_at(config: &Config, now: Nanos, list: &[Request]) -> Cost {
    let last = write(1_000_000_000, 0, 1); // the run is not over before
    let script = Script::new(&[list, &[last]].concat());
    let mut powered = Powered::new(config, script, &mut |_| true).expect("its power can be cut");
    powered.advance(now).expect("it goes on");
    let (cost, recovered) = recover(&powered.cut()).expect("it comes back");
    assert_eq!(recovered.lost, 0, "{recovered:?}");
    cost
}

/// Nothing was written: the recovery reads the first page of each block and the checkpoint, which begins with the run. Until that is on
/// flash all pages are scanned.
#[test]
fn a_drive_at_rest_reads_one_page_of_each_block() {
    let config = drive(1 << 20, &[]);
    let before = cut_at(&config, P - 1, &[write(0, 3, 1)]);
    assert_eq!((before.spare_reads, before.reads), (4 * 16 * 8, 0));
    let list = [write(0, 3, 1)];
    let cost = cut_at(&config, 100 * P, &[]);
    assert_eq!((cost.spare_reads, cost.reads, cost.programs, cost.erases), (4 * 16, 1, 0, 0));
    // The dies give their commands over a bus for two, and then the one page is read.
    assert_eq!(cost.recovery_ns, 16 * (COMMAND + READ) + COMMAND + R);
    // A page that was written since: the first of its block, whose second one is read, too, and found erased.
    assert_eq!(cut_at(&config, 100 * P, &list).spare_reads, 4 * 16 + 1);
}

/// Of three pages of one die since the checkpoint two are read besides the first one of their block, and the erased one behind them.
#[test]
fn what_was_programmed_since_is_scanned() {
    let config = drive(1 << 20, &["ftl.page.allocation=\"static\""]);
    let of_die_0 = |at: u64| write(at * 10 * P, 4 * at, 1);
    let list: Vec<Request> = (1..=3).map(of_die_0).collect();
    let cost = cut_at(&config, 100 * P, &list);
    assert_eq!((cost.spare_reads, cost.reads), (4 * 16 + 3, 1));
    assert_eq!(cost.recovery_ns, 16 * (COMMAND + READ) + COMMAND + R + 3 * (COMMAND + READ));
}

/// A layer that merges blocks reads one page of each data block and of each block of the log, and all pages of the other blocks,
/// as any of them may be programmed: those of the log block that takes a write as before.
#[test]
fn a_drive_of_data_blocks_reads_all_pages_of_its_spare_blocks() {
    let sets = ["device.channels=2", "device.ways=2", "recovery.checkpoint_interval_bytes=1048576"];
    let config = merging_drive(&[&sets[..], &["ftl=\"fast\""]].concat());
    let (blocks, log, data) = (4 * 16, 4, config.logical_bytes() / PAGE / 8);
    let reads = data + log + 8 * (blocks - log - data);
    for list in [&[][..], &[write(0, 3, 1)]] {
        let cost = cut_at(&config, 100 * P, list);
        assert_eq!((cost.spare_reads, cost.reads, cost.programs, cost.erases), (reads, 1, 0, 0));
    }
}

/// With an interval of four pages, and writes that are far apart, a checkpoint begins after each fourth page: its own page is one of
/// them. The area of the one before it is erased.
#[test]
fn a_checkpoint_is_due_after_its_interval() {
    let list: Vec<Request> = (1..=9).map(|at| write(at * 20 * P, at, 1)).collect();
    let (_, log) = play(&drive(4 * 4096, &[]), &list);
    let of_log = |kind| log.all(kind, Cause::Map).len();
    assert_eq!((of_log(OpKind::Program), of_log(OpKind::Erase)), (4, 3));
}

/// Without the option nothing is programmed beside the host's data.
#[test]
fn checkpoints_cost_nothing_unless_they_are_asked_for() {
    let (_, log) = play(&load(PROBE_DRIVE, &[]), &[write(0, 3, 1)]);
    assert_eq!(log.ops.len(), 1);
}
