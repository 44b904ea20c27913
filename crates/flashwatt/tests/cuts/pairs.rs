//! Pages that share cells, and what protects them.

use super::{BUFFER, CAPACITORS, CHECKPOINTS, TRIMS, first_of_layer, in_order, in_order_with_map_in_memory};
use super::{nothing_is_lost_at_any_instant, nothing_is_lost_at_random, run_that_loses};
use crate::common::delays::{COMMAND, ERASE, P, PROGRAM, R, READ, TRANSFER};
use crate::common::{Log, PROBE_DRIVE, load, play, tier, write};
use flashwatt::config::Config;
use flashwatt::crash::{Bug, Cost, Recovered};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;
use flashwatt_ssd::ftl::{Cause, OpKind};

/// Lower pages are copied before.
const BACKUP: &str = "device.nand.paired_pages=\"backup\"";

/// Acknowledgements wait for upper pages.
const HOLD_ACK: &str = "device.nand.paired_pages=\"hold_ack\"";

#[test]
fn every_instant_with_backups() {
    nothing_is_lost_at_any_instant(&in_order(), &[BACKUP]);
}

#[test]
fn every_instant_with_backups_and_a_volatile_buffer() {
    nothing_is_lost_at_any_instant(&in_order(), &[&BUFFER[..], &[BACKUP]].concat());
}

#[test]
fn every_instant_with_backups_and_capacitors() {
    nothing_is_lost_at_any_instant(&in_order(), &[&CAPACITORS[..], &[BACKUP]].concat());
}

#[test]
fn every_instant_with_held_acknowledgements() {
    nothing_is_lost_at_any_instant(&in_order(), &[HOLD_ACK]);
}

#[test]
fn every_instant_with_held_acknowledgements_and_a_volatile_buffer() {
    nothing_is_lost_at_any_instant(&in_order(), &[&BUFFER[..], &[HOLD_ACK]].concat());
}

#[test]
fn every_instant_with_held_acknowledgements_and_capacitors() {
    nothing_is_lost_at_any_instant(&in_order(), &[&CAPACITORS[..], &[HOLD_ACK]].concat());
}

/// With orders of operations that work a queue off as planned: a program that waits for its backup must not be before it.
#[test]
fn every_instant_with_backups_and_other_policies() {
    let policies = ["controller.policy=\"in_order\"", "controller.policy=\"reads_first\""];
    for (at, policy) in policies.into_iter().enumerate() {
        let pairs = [BACKUP, HOLD_ACK].into_iter().cycle().skip(at).take(if tier::soak().is_some() { 2 } else { 1 });
        pairs.for_each(|pair| nothing_is_lost_at_any_instant(&in_order(), &[pair, policy]));
    }
}

#[test]
fn random_cuts_with_backups_and_during_recovery() {
    nothing_is_lost_at_random(&in_order(), &[BACKUP]);
}

#[test]
fn random_cuts_with_held_acknowledgements_and_during_recovery() {
    nothing_is_lost_at_random(&in_order(), &[HOLD_ACK]);
}

#[test]
fn random_cuts_with_held_acknowledgements_buffers_and_a_recovery_log() {
    for more in [&BUFFER[..], &CAPACITORS[..]] {
        let sets = [more, &[HOLD_ACK, TRIMS]].concat();
        nothing_is_lost_at_random(&in_order(), &sets);
    }
}

#[test]
fn random_cuts_with_backups_buffers_and_a_recovery_log() {
    for more in [&BUFFER[..], &CAPACITORS[..]] {
        let sets = [more, &[BACKUP, TRIMS]].concat();
        nothing_is_lost_at_random(&in_order(), &sets);
    }
    let sets = [BACKUP, CHECKPOINTS, TRIMS];
    nothing_is_lost_at_random(&in_order_with_map_in_memory(), &sets);
}

/// Cuts at every instant of a drive with a fault find it.
#[test]
fn faults_of_backups_are_found() {
    for layer in ["page", "fast", "dftl"] {
        let scheme = first_of_layer(in_order(), layer);
        let bugs = [(Bug::BackupLate, BACKUP), (Bug::BackupForgotten, BACKUP), (Bug::AckNotHeld, HOLD_ACK)];
        for (bug, protection) in bugs {
            let lost = run_that_loses(bug, &scheme, &[protection]);
            assert!(lost.is_some(), "{bug:?} is not found with the layer {layer}");
        }
    }
}

// ---------------------------------------------------------------- by hand

/// Time between writes that do not meet.
const APART: Nanos = 20_000_000;

/// The probe drive with one die, which takes writes of pages on a block of eight. Its backups are on blocks of their own, four each.
fn drive(more: &[&str]) -> Config {
    load(PROBE_DRIVE, &[&[BACKUP], more].concat())
}

/// Writes of single pages, one after the other.
fn writes(pages: &[u64]) -> Vec<Request> {
    (0..).zip(pages).map(|(at, &page)| write(at * APART, page, 1)).collect()
}

fn ends(log: &Log) -> Vec<Nanos> {
    log.requests.iter().map(|request| request.end_ns).collect()
}

/// The second write programs an upper page. Before that its lower page, which is on flash, is read and programmed elsewhere.
#[test]
fn a_backup_of_a_page_on_flash_is_a_read_and_a_program() {
    let (report, log) = play(&drive(&[]), &writes(&[3, 4]));
    assert_eq!(ends(&log), [P, APART + R + P + P]);
    assert_eq!([OpKind::Read, OpKind::Program].map(|kind| log.all(kind, Cause::Backup).len()), [1, 1]);
    // A die draws 25 mA while it reads, 30 mA while it programs, and 12 mA with commands and data on the bus, at 3.3 V.
    let bus_ns = 2 * (COMMAND + TRANSFER);
    let energy_j = 3.3e-12 * (25.0 * READ as f64 + 30.0 * PROGRAM as f64 + 12.0 * bus_ns as f64);
    let found_j = report.ssd().energy_by_cause_j.backup;
    assert!((found_j / energy_j - 1.0).abs() < 1e-9, "{found_j} J, not {energy_j} J");
    let programs = &report.ssd().flash.programs;
    assert_eq!((programs.host, programs.backup, programs.total), (2, 1, 3));
}

/// Of a write of two pages the data of the lower one is still in memory: its backup takes a program.
#[test]
fn a_backup_of_a_page_on_its_way_is_a_program() {
    let (_, log) = play(&drive(&[]), &[write(0, 3, 2)]);
    assert_eq!(ends(&log), [3 * P]);
    assert_eq!([OpKind::Read, OpKind::Program].map(|kind| log.all(kind, Cause::Backup).len()), [0, 1]);
}

/// On two dies that take writes in turn: the third write programs an upper page whose lower page holds what the second one has
/// written anew on the other die. The fourth one meets the page of the second.
#[test]
fn what_is_on_flash_anew_needs_no_backup() {
    let (_, log) = play(&drive(&["device.channels=2"]), &writes(&[3, 3, 5, 6]));
    assert_eq!(ends(&log), [P, APART + P, 2 * APART + P, 3 * APART + R + P + P]);
}

/// Four backups fill a block. It is erased when the last of the upper pages is on flash, and the next backup goes to another one.
#[test]
fn a_full_block_of_backups_is_erased() {
    let (_, log) = play(&drive(&["device.op_ratio=2"]), &writes(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    let (programs, erases) = (log.all(OpKind::Program, Cause::Backup), log.all(OpKind::Erase, Cause::Backup));
    assert_eq!((programs.len(), erases.len()), (5, 1));
    assert_eq!(erases[0].t.end, 7 * APART + R + P + P + COMMAND + ERASE);
    let pages: Vec<u32> = programs.iter().map(|program| program.op.at.page).collect();
    assert_eq!(pages, [0, 2, 4, 6, 0], "lower pages alone");
    assert_eq!(programs[3].op.at.block, erases[0].op.at.block);
    assert_ne!(programs[4].op.at.block, erases[0].op.at.block);
}

/// What comes back after a cut at this time of four writes.
fn cut_at(protection: &str, now: Nanos) -> (Cost, Recovered) {
    let config = load(PROBE_DRIVE, &[&format!("device.nand.paired_pages=\"{protection}\"")]);
    super::cut_at(&config, now, &writes(&[3, 4, 5, 6]))
}

/// A cut during the program of the fourth page spoils the third one, whose write had completed. The recovery scans 128 pages, reads
/// the backup, programs the page anew behind the others, and erases the block of the backup.
#[test]
fn a_spoilt_page_comes_back_from_its_backup() {
    let scan = 128 * (COMMAND + READ);
    let (cost, recovered) = cut_at("unprotected", 3 * APART + P / 2);
    assert_eq!((recovered.lost_by_pairs, cost.recovery_ns), (1, scan));
    let (cost, recovered) = cut_at("backup", 3 * APART + R + P + P / 2);
    assert_eq!((recovered.lost, recovered.lost_by_pairs, recovered.rolled_back), (0, 0, 1), "{recovered:?}");
    assert_eq!((cost.spare_reads, cost.reads, cost.programs, cost.erases), (128, 1, 1, 1));
    assert_eq!(cost.recovery_ns, scan + R + P + COMMAND + ERASE);
}

/// While the backup is programmed nothing is spoilt. Its block is erased.
#[test]
fn a_backup_that_nobody_needs_is_erased() {
    let (cost, recovered) = cut_at("backup", 3 * APART + R + P - 1);
    assert_eq!((recovered.lost, recovered.lost_by_pairs, recovered.kept), (0, 0, 63), "{recovered:?}");
    assert_eq!((cost.reads, cost.programs, cost.erases), (0, 0, 1));
}

// ---------------------------------------------------------------- held acknowledgements by hand

/// The longest time for which an acknowledgement is held.
const HELD: Nanos = 2_000_000;

fn holding_drive(more: &[&str]) -> Config {
    load(PROBE_DRIVE, &[&[HOLD_ACK], more].concat())
}

/// A write of two pages takes their two programs, and no backup. Of two writes that come together the first one ends with the second.
#[test]
fn a_lower_page_is_acknowledged_with_its_upper_page() {
    for list in [vec![write(0, 3, 2)], vec![write(0, 3, 1), write(0, 4, 1)]] {
        let (report, log) = play(&holding_drive(&[]), &list);
        assert!(ends(&log).iter().all(|&end| end == 2 * P), "{:?}", ends(&log));
        assert_eq!(report.ssd().flash.programs.total, 2);
        assert_eq!(report.ssd().energy_by_cause_j.backup, 0.0);
    }
}

/// A write alone is acknowledged after the longest time. Then its page is copied before the next one programs the upper page.
#[test]
fn a_write_alone_is_held_for_a_time() {
    let (_, log) = play(&holding_drive(&[]), &writes(&[3, 4]));
    assert_eq!(ends(&log), [P + HELD, APART + R + P + P]);
    let (_, log) = play(&holding_drive(&["device.nand.hold_ack_max_ns=1"]), &writes(&[3, 4]));
    assert_eq!(ends(&log), [P + 1, APART + R + P + P]);
}

/// A write that comes within that time ends the wait, and needs no backup.
#[test]
fn the_next_write_ends_the_wait() {
    let next = P + HELD / 2;
    let (_, log) = play(&holding_drive(&[]), &[write(0, 3, 1), write(next, 4, 1)]);
    assert_eq!(ends(&log), [next + P, next + P]);
    assert!(log.ops.iter().all(|done| done.op.cause == Cause::Host));
}

/// While the acknowledgement is held, a cut during the program of the upper page takes back both writes. After it the copy is read.
#[test]
fn a_held_write_may_be_taken_back() {
    let config = holding_drive(&[]);
    let cut_at = |second: Nanos, now: Nanos| {
        let (cost, recovered) = super::cut_at(&config, now, &[write(0, 3, 1), write(second, 4, 1)]);
        assert_eq!((recovered.lost, recovered.lost_by_pairs), (0, 0), "{recovered:?}");
        (recovered.rolled_back, cost.reads)
    };
    let second = P + HELD / 2;
    assert_eq!(cut_at(second, second + P / 2), (2, 0));
    let second = P + HELD + 1;
    assert_eq!(cut_at(second, second + R + P + P / 2), (1, 1));
}

/// A drive that starts in the steady state of its layer leaves the blocks for backups erased.
#[test]
fn a_drive_in_steady_state_has_room_for_backups() {
    for protection in [BACKUP, HOLD_ACK] {
        let sets = [protection, "device.channels=2", "device.blocks_per_plane=32", "run.precondition=\"steady\""];
        let pages: Vec<u64> = (0..100).map(|at| at * 7 % 60).collect();
        let (report, _) = play(&load(PROBE_DRIVE, &sets), &writes(&pages));
        assert!(report.ssd().flash.programs.backup > 0);
    }
}
