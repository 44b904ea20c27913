//! What a recovery with a checkpoint reads, worked out by hand.

use crate::common::delays::{COMMAND, ERASE, P, R, READ};
use crate::common::{PAGE, PROBE_DRIVE, load, merging_drive, play, write};
use flashwatt::config::Config;
use flashwatt::crash::Cost;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;
use flashwatt_ssd::ftl::{Cause, OpKind};

/// Four dies of 16 blocks of 8 pages, half of them filled. The map has 248 units of 4 bytes, and 64 blocks of 4 bytes each: one page.
fn drive(interval_bytes: u64, more: &[&str]) -> Config {
    let interval = format!("recovery.checkpoint_interval_bytes={interval_bytes}");
    load(PROBE_DRIVE, &[&["device.channels=2", "device.ways=2", interval.as_str()], more].concat())
}

/// The recovery from a cut at this time.
fn cut_at(config: &Config, now: Nanos, list: &[Request]) -> Cost {
    let (cost, recovered) = super::cut_at(config, now, list);
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

/// A drive with its map on flash: 192 units on four dies of a channel each, in 6 of 16 blocks of 8 pages. Of 24 pages of the map with 8
/// entries each die has 6.
pub fn drive_with_map_on_flash(more: &[&str]) -> Config {
    let text = PROBE_DRIVE.replace("spare_fraction = 0.5", "logical_bytes = 786_432");
    let sets = ["device.channels=4", "ftl.dftl.entry_bytes=512", "ftl.dftl.cmt_entries=2"];
    load(&text, &[&sets[..], more].concat())
}

/// A checkpoint when the run begins, and none after that.
const ONCE: &str = "recovery.checkpoint_interval_bytes=1048576";

/// The recovery reads the map on flash, and the erased page behind it on each die, as its block is open. Without a checkpoint, and before
/// it is on flash, it scans all pages, and writes the map anew; its torn page is erased first.
#[test]
fn a_map_on_flash_is_read() {
    let (config, first) = (drive_with_map_on_flash(&[ONCE]), 16 * (COMMAND + READ));
    for (erases, before) in [(1, cut_at(&drive_with_map_on_flash(&[]), P, &[])), (2, cut_at(&config, P - 1, &[]))] {
        let of_map = 4;
        assert_eq!((before.spare_reads, before.reads), (4 * 16 * 8, 0));
        assert_eq!((before.programs, before.erases), (24, of_map + erases - 1));
        assert_eq!(before.recovery_ns, 8 * first + erases * (COMMAND + ERASE) + 6 * P);
    }
    let cost = cut_at(&config, 100 * P, &[]);
    assert_eq!((cost.spare_reads, cost.reads, cost.programs, cost.erases), (4 * 16 + 4, 1 + 24, 0, 0));
    assert_eq!(cost.recovery_ns, first + R + (COMMAND + READ) + 6 * R);
}

/// A unit that has been written since is found by the scan: a new block has it in its first page, and the second one is erased. Its
/// entry was in memory alone, so that its page of the map is written anew.
#[test]
fn a_page_of_the_map_that_has_changed_is_written() {
    let cost = cut_at(&drive_with_map_on_flash(&[ONCE]), 100 * P, &[write(20 * P, 3, 1)]);
    assert_eq!((cost.spare_reads, cost.reads, cost.programs, cost.erases), (4 * 16 + 4 + 1, 1 + 24, 1, 0));
    assert_eq!(cost.recovery_ns, (16 + 2) * (COMMAND + READ) + (1 + 6) * R + P);
}

/// Two entries fit the table. The third write evicts the first one, whose page of the map is written; the entry is no longer in
/// memory alone then. The checkpoint holds where pages of the map are: the recovery finds the new one, and writes the two others.
#[test]
fn entries_that_were_written_back_are_found_on_flash() {
    let list = [3, 13, 23].map(|unit| write((20 + unit) * P, unit, 1));
    let cost = cut_at(&drive_with_map_on_flash(&[ONCE]), 100 * P, &list);
    assert_eq!((cost.reads, cost.programs), (1 + 24, 2));
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
