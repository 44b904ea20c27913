//! How data leaves the write buffer for layers that map blocks: a logical block's entries together, and batches by die.

use crate::common::{self, PAGE, load, merging_drive, play, preset, run_plain, write};
use flashwatt::Report;
use flashwatt::ftl::{Cause, OpKind};
use flashwatt::host::Request;

/// Every layer that maps blocks.
const BLOCK_MAPPED: [&str; 6] = ["block", "nftl", "bast", "bast_star", "fast", "last"];

/// Sequential writes of 64 KiB, over and over, with a write buffer of a size or without one.
fn sequential(ftl: &str, buffer_bytes: u64) -> Report {
    let sets = [
        format!("ftl=\"{ftl}\""),
        format!("write_buffer.bytes={buffer_bytes}"),
        "device.logical_bytes=33554432".to_string(),
        "device.blocks_per_plane=24".to_string(),
        "device.channels=4".to_string(),
        "device.ways=2".to_string(),
        "workload.sequential.requests=700".to_string(),
        "workload.sequential.request_bytes=65536".to_string(),
        "workload.sequential.queue_depth=8".to_string(),
        "run.count_drain=true".to_string(),
    ];
    run_plain(&preset("limit", &sets.each_ref().map(String::as_str)))
}

fn programmed(report: &Report) -> u64 {
    report.flash.programs.total
}

/// A buffer never makes sequential writes dearer or slower: what is written together reaches the layer together.
#[test]
fn a_buffer_keeps_sequential_writes_together() {
    for ftl in BLOCK_MAPPED {
        let (without, with) = (sequential(ftl, 0), sequential(ftl, 1 << 20));
        let (before, after) = (programmed(&without), programmed(&with));
        assert!(after <= before, "{ftl}: {after} pages programmed with a buffer, {before} without");
        let energy = [&without, &with].map(|report| report.energy_j.total);
        assert!(energy[1] <= 1.05 * energy[0], "{ftl}: {energy:?} J");
        let mb_s = [&without, &with].map(|report| report.throughput.write_mb_s);
        assert!(mb_s[1] >= 0.95 * mb_s[0], "{ftl}: {mb_s:?} MB/s");
    }
}

/// A whole logical block that the buffer holds is written without a copy, in whatever order its pages came.
#[test]
fn a_block_in_the_buffer_leaves_whole() {
    let sets = ["ftl=\"block\"", "write_buffer.bytes=32768", "write_buffer.destage_fraction=1", "run.count_drain=true"];
    let config = merging_drive(&sets);
    let order = [3, 7, 1, 0, 2, 6, 4, 5];
    let script: Vec<Request> = order.iter().zip(0..).map(|(&page, at)| write(at, page, 1)).collect();
    let (report, log) = play(&config, &script);
    assert_eq!((report.flash.programs.host, report.flash.programs.merge), (8, 0));
    assert_eq!(report.flash.reads.total, 0);
    let pages: Vec<u32> = log.all(OpKind::Program, Cause::Host).iter().map(|done| done.op.at.page).collect();
    assert_eq!(pages, [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Pages of one logical block do not hold up those of others: each die has its own batches.
#[test]
fn dies_are_served_side_by_side() {
    let sets = [
        "ftl=\"block\"",
        "device.channels=4",
        "device.blocks_per_plane=16",
        "write_buffer.bytes=65536",
        "write_buffer.destage_fraction=0",
        "run.count_drain=true",
    ];
    // Page by page: eight of the first logical block, then one of each of the three others.
    let script: Vec<Request> = (0..8).chain([8, 16, 24]).zip(0..).map(|(page, at)| write(at, page, 1)).collect();
    let (_, log) = play(&merging_drive(&sets), &script);
    let first_start = |die: u32| log.ops.iter().filter(|done| done.op.at.die.0 == die).map(|done| done.t.start).min();
    let ends = log.ops.iter().filter(|done| done.op.at.die.0 == 0).map(|done| done.t.end).max();
    assert!((1..4).all(|die| first_start(die).is_some() && first_start(die) < ends), "three dies wait for the first");
}

/// With static allocation a page has a home die, too: one hot die does not take the whole pool of batches.
#[test]
fn static_allocation_counts_batches_by_die() {
    let sets = [
        "device.channels=4",
        "device.blocks_per_plane=16",
        "ftl.page.allocation=\"static\"",
        "write_buffer.bytes=131072",
        "write_buffer.destage_fraction=0",
    ];
    // Sixteen pages of die 0, then one of each other die.
    let script: Vec<Request> =
        (0..16).map(|i| 4 * i).chain([1, 2, 3]).zip(0..).map(|(page, at)| write(at, page, 1)).collect();
    let (_, log) = play(&load(common::PROBE_DRIVE, &sets), &script);
    let start = |die: u32| log.ops.iter().find(|done| done.op.at.die.0 == die).map(|done| done.t.start);
    assert!((1..4).all(|die| start(die).is_some_and(|at| at < common::delays::P)), "the other dies start at once");
}

/// Only the first and the last unit of a run may be partial: others begin a new one.
#[test]
fn partial_entries_split_runs() {
    let sets = ["ftl=\"bast\"", "write_buffer.bytes=32768", "write_buffer.destage_fraction=1", "run.count_drain=true"];
    let half = |page: u64| Request { bytes: PAGE / 2, ..write(page, page, 1) };
    let script = [half(0), half(1), write(2, 2, 1), half(3)];
    let (report, _) = play(&merging_drive(&sets), &script); // under the shadow check
    assert_eq!(report.flash.programs.host, 4);
    assert_eq!(report.flash.reads.host, 3, "the other halves");
}
