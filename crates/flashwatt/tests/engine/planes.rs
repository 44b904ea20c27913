//! Reads of several planes at once, and reads of the array beside data that moves out. Numbers are of hand arithmetic.

use super::rows::{COMMAND, READS, SHAPES, TRANSFER, X, die};
use crate::common::{Log, play, read, run_own};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;
use flashwatt_ssd::ftl::{Cause, OpKind};

const FILLED: &str = "run.precondition=\"filled\"";
const SAME_ROW: &str = "device.bus.joint_reads=\"same_row\"";
const ANY: &str = "device.bus.joint_reads=\"any\"";
const CACHE: &str = "device.bus.cache_read=true";

fn ends(log: &Log) -> Vec<Nanos> {
    log.requests.iter().map(|request| request.end_ns).collect()
}

/// Pages of one type of one row, on all planes: a command for each, one tR, and the data one after the other (L3).
#[test]
fn l3_a_joint_read() {
    for (planes, bits) in SHAPES.into_iter().filter(|&(planes, _)| planes > 1) {
        for kind in 0..bits {
            let first = u64::from(kind * planes);
            let requests: Vec<Request> = (0..u64::from(planes)).map(|plane| read(0, first + plane, 1)).collect();
            let (_, log) = play(&die(planes, bits, &[FILLED, SAME_ROW]), &requests);
            let ready = u64::from(planes) * COMMAND + READS[kind as usize];
            let expected: Vec<Nanos> = (1..=u64::from(planes)).map(|n| ready + n * TRANSFER).collect();
            assert_eq!(ends(&log), expected, "{planes} planes, type {kind} of {bits}");
        }
    }
}

/// Without the rule they are read one after the other.
#[test]
fn reads_that_do_not_join() {
    let four: Vec<Request> = (0..4).map(|page| read(0, page, 1)).collect();
    let (_, log) = play(&die(4, 3, &[FILLED]), &four);
    let each = COMMAND + READS[0] + TRANSFER;
    assert_eq!(ends(&log), [each, 2 * each, 3 * each, 4 * each]);
}

/// Pages of different rows and types join by the rule `any` alone; two of one plane do not.
#[test]
fn which_reads_join() {
    let elsewhere = [read(0, 0, 1), read(0, 12 + 5, 1)]; // plane 0, lower; plane 1 of the next row, second type
    let apart = [COMMAND + READS[0] + TRANSFER, 2 * (COMMAND + TRANSFER) + READS[0] + READS[1]];
    let (_, log) = play(&die(4, 3, &[FILLED, SAME_ROW]), &elsewhere);
    assert_eq!(ends(&log), apart);
    let (_, log) = play(&die(4, 3, &[FILLED, ANY]), &elsewhere);
    assert_eq!(ends(&log), [2 * COMMAND + READS[1] + TRANSFER, 2 * COMMAND + READS[1] + 2 * TRANSFER]);
    let one_plane = [read(0, 0, 1), read(0, 4, 1)];
    let (_, log) = play(&die(4, 3, &[FILLED, ANY]), &one_plane);
    assert_eq!(ends(&log), apart);
}

/// A stream of sequential reads: P pages in tR + P·x, with cache reads in the longer of tR and P·x (L3).
#[test]
fn l3_rates_of_sequential_reads() {
    for planes in [2, 4, 6] {
        let row = u64::from(planes);
        let all: Vec<Request> = (0..20 * row).map(|page| read(0, page, 1)).collect();
        let (_, log) = play(&die(planes, 1, &[FILLED, SAME_ROW]), &all);
        let last = *ends(&log).last().expect("requests");
        assert_eq!(last, 20 * (READS[0] + row * X), "{planes} planes");
        let (_, log) = play(&die(planes, 1, &[FILLED, SAME_ROW, CACHE]), &all);
        let last = *ends(&log).last().expect("requests");
        let cycle = (row * X).max(READS[0] + row * COMMAND);
        let first = row * COMMAND + READS[0] + row * TRANSFER;
        assert!(last <= first + 19 * cycle + 20, "{planes} planes: {last} ns");
        assert!(last >= first + 19 * cycle - row * X, "{planes} planes: {last} ns");
    }
}

/// The array reads beside data that moves out, and the rest of the drive counts and reads the same pages.
#[test]
fn cache_reads_read_the_same() {
    let sets = [
        FILLED,
        "workload.uniform.requests=400",
        "workload.uniform.request_bytes=16384",
        "workload.uniform.read_fraction=0.7",
    ];
    let reads = |more: &[&str]| {
        let (report, log) = run_own(&die(4, 3, &[&sets[..], more].concat()));
        (report.ssd().flash.reads.host, log.all(OpKind::Read, Cause::Host).len())
    };
    let plain = reads(&[]);
    assert_eq!(reads(&[CACHE, ANY]).1 as u64, plain.0, "{plain:?}");
}
