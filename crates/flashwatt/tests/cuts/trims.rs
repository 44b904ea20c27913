//! Recorded trims, worked out by hand.

use super::cut_at;
use crate::common::delays::{COMMAND, ERASE, P, PROGRAM, TRANSFER};
use crate::common::{PROBE_DRIVE, load, play, request};
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};
use flashwatt_ssd::nand::Reserve;

/// The probe drive with one die and a recovery log. An area of the log takes four pages, so each is one block of eight.
fn drive(more: &[&str]) -> Config {
    load(PROBE_DRIVE, &[&["recovery.trim_records=\"page\""], more].concat())
}

fn trim(at: Nanos, first_page: u64, pages: u64) -> Request {
    request(at, RequestKind::Trim, first_page, pages)
}

fn flush(at: Nanos) -> Request {
    request(at, RequestKind::Flush, 0, 0)
}

/// A flush waits for a page of records, if there are trims before it.
#[test]
fn a_flush_takes_a_program() {
    let (_, log) = play(&drive(&[]), &[trim(0, 3, 2), flush(1_000), flush(2_000_000)]);
    let ends: Vec<Nanos> = log.requests.iter().map(|request| request.end_ns).collect();
    assert_eq!(ends, [0, 1_000 + P, 2_000_000]);
    let programs = log.all(OpKind::Program, Cause::Map);
    assert_eq!(programs.len(), 1);
    assert_eq!(programs[0].t.end - programs[0].t.start, COMMAND + TRANSFER + PROGRAM);
}

/// A page of 4,096 bytes has 16 for what it is, and 16 for each of 255 records: the 255th trim fills it.
#[test]
fn a_full_page_needs_no_flush() {
    let trims = |number: u64| (0..number).map(|at| trim(at * 1_000, at % 8, 1)).collect::<Vec<_>>();
    let pages = |number| play(&drive(&[]), &trims(number)).1.all(OpKind::Program, Cause::Map).len();
    assert_eq!([254, 255, 509, 510].map(pages), [0, 1, 1, 2]);
}

/// Without the option nothing is programmed, and a flush waits for nothing.
#[test]
fn trims_cost_nothing_unless_they_are_recorded() {
    let (_, log) = play(&load(PROBE_DRIVE, &[]), &[trim(0, 3, 2), flush(1_000)]);
    assert_eq!(log.ops.len(), 0);
    assert_eq!(log.requests[1].end_ns, 1_000);
}

/// Until the program of its record has ended a trim may be undone. Then the recovery reads one page more.
#[test]
fn a_trim_is_durable_when_its_record_is_on_flash() {
    let (config, list) = (drive(&[]), [trim(0, 3, 2), flush(1_000)]);
    let units = 64;
    for (now, rolled_back, reads) in [(500, 2, 0), (1_000 + P - 1, 2, 0), (1_000 + P, 0, 1)] {
        let (cost, recovered) = cut_at(&config, now, &list);
        assert_eq!((recovered.lost, recovered.rolled_back, cost.reads), (0, rolled_back, reads), "{now} ns");
        assert_eq!(recovered.kept, units - rolled_back);
    }
}

/// Eight flushes fill an area. The ninth begins the other one with a snapshot, and the first one is erased.
#[test]
fn a_full_area_makes_room() {
    let period = 10_000_000;
    let of_one = |at: u64| [trim(at * period, at, 1), flush(at * period + 1)];
    let list: Vec<Request> = (0..9).flat_map(of_one).collect();
    let (_, log) = play(&drive(&[]), &list);
    let pages = |kind| log.all(kind, Cause::Map);
    assert_eq!((pages(OpKind::Program).len(), pages(OpKind::Erase).len()), (9, 1));
    let last = log.requests.last().expect("a flush");
    assert_eq!(last.end_ns, 8 * period + 1 + P, "the flush does not wait for the erase");
    let erase = pages(OpKind::Erase)[0];
    assert_eq!(erase.t.end, 8 * period + 1 + P + COMMAND + ERASE);
    // All trims are durable before and after the erase. When the snapshot is on flash, it alone is read.
    for (now, reads) in [(8 * period + P, 8), (8 * period + 1 + P, 1), (9 * period, 1)] {
        let (cost, recovered) = cut_at(&drive(&[]), now, &list);
        assert_eq!((recovered.lost, cost.reads), (0, reads), "{now} ns");
    }
    assert_eq!(cut_at(&drive(&[]), 9 * period, &list).1.kept, 64);
}

/// The log takes four blocks of a die, more than the low watermark leaves free: the start state leaves these as well.
#[test]
fn a_drive_in_steady_state_has_room_for_the_log() {
    let sets = ["device.blocks_per_plane=64", "device.pages_per_block=2", "gc.low_watermark_blocks=2"];
    let config = drive(&[&sets[..], &["gc.reserved_blocks=1", "run.precondition=\"steady\""]].concat());
    assert_eq!(config.ssd().device.reserves[Reserve::Log], 4);
    let (_, log) = play(&config, &[trim(0, 3, 2), flush(1_000)]);
    assert_eq!(log.all(OpKind::Program, Cause::Map).len(), 1);
}
