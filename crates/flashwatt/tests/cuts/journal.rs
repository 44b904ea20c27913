//! The journal of the write buffer.

use super::{BUFFER, CHECKPOINTS, JOURNAL, TRIMS, cut_at, first_of_layer, in_order};
use super::{nothing_is_lost_at_any_instant, nothing_is_lost_at_random, run_that_loses, some_schemes};
use crate::common::delays::{COMMAND, ERASE, P, PROGRAM, R, READ, TRANSFER};
use crate::common::{Log, PAGE, PROBE_DRIVE, figures, load, play, request, write};
use flashwatt::config::Config;
use flashwatt::crash::Bug;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};

/// A page of the journal waits for no other write.
const AT_ONCE: &str = "write_buffer.journal_max_ns=0";

/// These keys beside a journal.
fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&JOURNAL[..], more].concat()
}

#[test]
fn every_instant_with_a_journal() {
    nothing_is_lost_at_any_instant(&some_schemes(), &with(&[]));
}

#[test]
fn every_instant_with_a_journal_whose_pages_do_not_wait() {
    nothing_is_lost_at_any_instant(&some_schemes(), &with(&[AT_ONCE]));
}

#[test]
fn every_instant_with_a_journal_and_recorded_trims() {
    nothing_is_lost_at_any_instant(&some_schemes(), &with(&[TRIMS]));
}

#[test]
fn every_instant_with_a_journal_and_protected_pairs() {
    for pairs in ["device.nand.paired_pages=\"backup\"", "device.nand.paired_pages=\"hold_ack\""] {
        nothing_is_lost_at_any_instant(&in_order(), &with(&[pairs]));
    }
}

#[test]
fn every_instant_with_a_journal_and_other_policies() {
    for policy in ["controller.policy=\"in_order\"", "controller.policy=\"reads_first\""] {
        nothing_is_lost_at_any_instant(&some_schemes(), &with(&[policy]));
    }
}

#[test]
fn random_cuts_with_a_journal_and_during_recovery() {
    nothing_is_lost_at_random(&some_schemes(), &with(&[]));
}

#[test]
fn random_cuts_with_a_journal_and_a_recovery_log() {
    nothing_is_lost_at_random(&some_schemes(), &with(&[TRIMS]));
    nothing_is_lost_at_random(&some_schemes(), &with(&[CHECKPOINTS, TRIMS]));
}

#[test]
fn random_cuts_with_a_journal_and_protected_pairs() {
    for pairs in ["device.nand.paired_pages=\"backup\"", "device.nand.paired_pages=\"hold_ack\""] {
        nothing_is_lost_at_random(&in_order(), &with(&[pairs, TRIMS]));
    }
}

/// Cuts at every instant of a drive with a fault find it.
#[test]
fn faults_of_journals_are_found() {
    for layer in ["page", "fast", "dftl"] {
        let scheme = first_of_layer(some_schemes(), layer);
        for bug in [Bug::JournalAckEarly, Bug::JournalErasedEarly, Bug::JournalOlder, Bug::JournalForgotten] {
            let lost = run_that_loses(bug, &scheme, &JOURNAL);
            assert!(lost.is_some(), "{bug:?} is not found with the layer {layer}");
        }
    }
}

// ---------------------------------------------------------------- by hand

/// Time between writes that do not meet.
const APART: Nanos = 20_000_000;

/// The time for which a page waits unless told otherwise.
const MAX: Nanos = 100_000;

/// The probe drive with a buffer of eight pages, from which nothing leaves before it is full. Its journal has two rows of a block of
/// eight pages.
fn drive(more: &[&str]) -> Config {
    let sets =
        ["write_buffer.bytes=32768", "write_buffer.destage_fraction=1", "write_buffer.idle_ns=1000000000", JOURNAL[3]];
    load(PROBE_DRIVE, &[&sets[..], more].concat())
}

/// A write of this number of sectors of a page from its first one on.
fn sectors(at: Nanos, page: u64, first: u64, number: u64) -> Request {
    Request::new(at, RequestKind::Write, page * PAGE + first * 512, number * 512)
}

fn ends(log: &Log) -> Vec<Nanos> {
    log.requests.iter().map(|request| request.end_ns).collect()
}

fn pages(log: &Log, cause: Cause) -> [usize; 2] {
    [OpKind::Program, OpKind::Erase].map(|kind| log.all(kind, cause).len())
}

/// A page takes a program of the journal before it is acknowledged, and one in its place when the run is over.
#[test]
fn a_lone_page_takes_a_program() {
    let (report, log) = play(&drive(&[]), &[write(0, 3, 1)]);
    assert_eq!((ends(&log), pages(&log, Cause::Journal), pages(&log, Cause::Host)), (vec![P], [1, 0], [1, 0]));
    let ssd = report.ssd();
    assert_eq!((ssd.flash.programs.journal, ssd.flash.programs.host, ssd.flash.programs.total), (1, 0, 1), "measured");
    let buffer = ssd.write_buffer.as_ref().expect("it has a buffer");
    assert_eq!((buffer.journal_records, buffer.journal_forced), (Some(1), Some(0)));
    // A die draws 30 mA while it programs, and 12 mA with commands and data on the bus, at 3.3 V.
    let energy_j = 3.3e-12 * (30.0 * PROGRAM as f64 + 12.0 * (COMMAND + TRANSFER) as f64);
    let found_j = ssd.energy_by_cause_j.journal;
    assert!((found_j / energy_j - 1.0).abs() < 1e-9, "{found_j} J, not {energy_j} J");
}

/// With the drain in the measured window each byte is programmed twice.
#[test]
fn write_amplification_counts_the_journal() {
    let (report, _) = play(&drive(&["run.count_drain=true"]), &[write(0, 3, 2)]);
    let flash = &report.ssd().flash;
    assert_eq!((flash.programs.journal, flash.programs.host, flash.write_amplification), (2, 2, Some(2.0)));
}

/// A write that does not fill a page waits for others, unless it is forced, or a flush comes.
#[test]
fn a_small_write_waits_for_others() {
    let end = |sets: &[&str], list: &[Request]| ends(&play(&drive(sets), list).1);
    assert_eq!(end(&[], &[sectors(0, 3, 0, 1)]), [MAX + P]);
    assert_eq!(end(&[AT_ONCE], &[sectors(0, 3, 0, 1)]), [P]);
    assert_eq!(end(&["write_buffer.journal_max_ns=7"], &[sectors(0, 3, 0, 1)]), [7 + P]);
    assert_eq!(end(&[], &[Request { fua: true, ..sectors(0, 3, 0, 1) }]), [P]);
    let flush = |at| request(at, RequestKind::Flush, 0, 0);
    assert_eq!(end(&[], &[sectors(0, 3, 0, 1), flush(1_000)]), [1_000 + P; 2]);
    assert_eq!(end(&[], &[sectors(0, 3, 0, 1), flush(MAX + 5), flush(APART)]), [MAX + P, MAX + P, APART]);
}

/// A page has a sector that describes parts of units, and seven for their data. The eighth write takes a page of its own, which is
/// programmed when the die has done the first one.
#[test]
fn seven_sectors_share_a_page() {
    let list = |number: u64| (0..number).map(|at| sectors(at, at % 4, at / 4, 1)).collect::<Vec<_>>();
    let (_, log) = play(&drive(&[]), &list(7));
    assert_eq!((ends(&log), pages(&log, Cause::Journal)), (vec![6 + P; 7], [1, 0]));
    let (_, log) = play(&drive(&[]), &list(6));
    assert_eq!((ends(&log), pages(&log, Cause::Journal)), (vec![MAX + P; 6], [1, 0]));
    let (_, log) = play(&drive(&[]), &list(8));
    let all = [vec![6 + P; 7], vec![6 + 2 * P]].concat();
    assert_eq!((ends(&log), pages(&log, Cause::Journal)), (all, [2, 0]));
}

/// Four units of 1 KiB fill a page of whole units.
#[test]
fn whole_units_share_a_page() {
    let config = drive(&["ftl.page.map_unit_bytes=1024"]);
    let list: Vec<Request> = (0..4).map(|at| sectors(at, 0, 2 * at, 2)).collect();
    let (_, log) = play(&config, &list);
    assert_eq!((ends(&log), pages(&log, Cause::Journal)), (vec![3 + P; 4], [1, 0]));
}

/// Later records of a unit void the earlier ones: a page that is written again and again stays in the buffer, although the journal
/// is filled twice.
#[test]
fn a_page_that_is_written_again_stays_in_the_buffer() {
    let list: Vec<Request> = (0..20).map(|at| write(at * APART, 3, 1)).collect();
    let (report, log) = play(&drive(&[]), &list);
    assert!((0..20).zip(ends(&log)).all(|(at, end)| end == at * APART + P), "{:?}", ends(&log));
    assert_eq!((pages(&log, Cause::Journal), pages(&log, Cause::Host)), ([20, 2], [1, 0]));
    let erases = log.all(OpKind::Erase, Cause::Journal);
    assert_eq!(erases[0].t.end, 8 * APART + P + COMMAND + ERASE, "when the ninth record is on flash");
    assert_eq!(report.ssd().write_buffer.as_ref().and_then(|buffer| buffer.journal_forced), Some(0));
}

/// A page that was written once and lies in the oldest row goes to its place when the last erased row begins. Then the row is erased.
#[test]
fn the_oldest_row_is_left() {
    let list: Vec<Request> = (0..20).map(|at| write(at * APART, if at == 0 { 5 } else { 3 }, 1)).collect();
    let (report, log) = play(&drive(&[]), &list);
    assert!((0..20).zip(ends(&log)).all(|(at, end)| end == at * APART + P), "{:?}", ends(&log));
    assert_eq!(report.ssd().write_buffer.as_ref().and_then(|buffer| buffer.journal_forced), Some(1));
    let (programs, erases) = (log.all(OpKind::Program, Cause::Host), log.all(OpKind::Erase, Cause::Journal));
    assert_eq!(programs[0].t.end, 8 * APART + 2 * P, "behind the ninth record");
    assert_eq!(erases[0].t.end, 8 * APART + 2 * P + COMMAND + ERASE);
    assert_ne!(erases[0].op.at.block, erases[1].op.at.block, "rows take turns");
}

/// While both rows are taken, a write waits for the erase of the older one.
#[test]
fn writes_wait_for_a_row() {
    let list: Vec<Request> = (0..17).map(|at| write(at, 0, 1)).collect();
    let (_, log) = play(&drive(&["device.host_link.queue_depth=32"]), &list);
    // The first row is erased at once when the ninth program has ended, and then the seven programs of the second one follow.
    assert_eq!(ends(&log).last(), Some(&(17 * P + COMMAND + ERASE)));
    assert_eq!(pages(&log, Cause::Journal), [17, 2], "the second row is void then, too");
}

/// Where all writes are whole pages, no page waits.
#[test]
fn the_time_to_wait_changes_nothing_for_pages() {
    let list: Vec<Request> = (0..40).map(|at| write(at * 100_000, at * 7 % 60, 1)).collect();
    let of = |sets: &[&str]| figures(&play(&drive(sets), &list).0);
    let found = of(&[]);
    assert_eq!(found, of(&[AT_ONCE]));
    assert_eq!(found, of(&["write_buffer.journal_max_ns=1000000000"]));
}

/// Two sectors of a page share a page of the journal. The recovery scans 128 pages, reads that page, reads the rest of the unit,
/// programs it, and erases the block of the journal. Before the program has ended the write is gone, and the block is erased.
#[test]
fn a_journalled_write_comes_back() {
    let list = [sectors(0, 3, 0, 1), sectors(0, 3, 4, 2)];
    let scan = 128 * (COMMAND + READ);
    let (cost, recovered) = cut_at(&drive(&[AT_ONCE]), P, &list);
    assert_eq!((recovered.lost, recovered.rolled_back, recovered.kept), (0, 0, 64), "{recovered:?}");
    assert_eq!((cost.spare_reads, cost.reads, cost.programs, cost.erases), (128, 2, 1, 1));
    assert_eq!(cost.recovery_ns, scan + R + R + P + COMMAND + ERASE);
    let (cost, recovered) = cut_at(&drive(&[AT_ONCE]), P - 1, &list);
    assert_eq!((recovered.lost, recovered.rolled_back, recovered.kept), (0, 1, 63), "{recovered:?}");
    assert_eq!((cost.reads, cost.programs, cost.erases), (0, 0, 1));
    assert_eq!(cost.recovery_ns, scan + COMMAND + ERASE);
}

/// What is in its place already is not written again.
#[test]
fn what_is_in_its_place_does_not_come_back() {
    let config = drive(&["write_buffer.destage_fraction=0"]);
    let (cost, recovered) = cut_at(&config, 10 * P, &[write(0, 3, 1)]);
    assert_eq!((recovered.kept, cost.reads, cost.programs, cost.erases), (64, 1, 0, 1));
}

/// The journal holds sectors of four trimmed pages beside those of seven in the buffer, which has room for eight. Trims are not recorded, so
/// that eleven come back: as many as fit the buffer at a time. If they are recorded, and a flush came, those of the seven do.
#[test]
fn more_than_a_buffer_comes_back() {
    let writes = |at: Nanos, pages: std::ops::Range<u64>| -> Vec<Request> {
        pages.map(|page| sectors(at, page, 0, 1)).collect()
    };
    let (trim, flush) = (request(APART, RequestKind::Trim, 0, 4), request(APART + 1, RequestKind::Flush, 0, 0));
    let list = [&writes(0, 0..4)[..], &[trim, flush], &writes(2 * APART, 4..11)].concat();
    let (cost, recovered) = cut_at(&drive(&[]), 3 * APART, &list);
    assert_eq!((recovered.lost, recovered.rolled_back, recovered.kept), (0, 4, 60), "{recovered:?}");
    assert_eq!((cost.reads, cost.programs, cost.erases), (2 + 11, 11, 1), "two pages of the journal");
    let (cost, recovered) = cut_at(&drive(&[TRIMS]), 3 * APART, &list);
    assert_eq!((recovered.lost, recovered.rolled_back, recovered.kept), (0, 0, 64), "{recovered:?}");
    assert_eq!((cost.reads, cost.programs, cost.erases), (2 + 1 + 7, 7, 1), "and one of the recovery log");
}

/// A drive that starts in the steady state of its layer leaves the blocks of the journal erased.
#[test]
fn a_drive_in_steady_state_has_room_for_a_journal() {
    let sets = ["device.channels=2", "device.blocks_per_plane=32", "run.precondition=\"steady\"", BUFFER[1]];
    let list: Vec<Request> = (0..100).map(|at| write(at * APART, at * 7 % 60, 1)).collect();
    let (report, _) = play(&drive(&sets), &list);
    assert!(report.ssd().flash.programs.journal >= 100);
}
