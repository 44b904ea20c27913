//! How data leaves the write buffer: a logical block's entries together for layers that map blocks, neighbours together for
//! layers that page their map, and batches by die.

use crate::common::{self, PAGE, load, merging_drive, play, preset, run_plain, write};
use flashwatt::Report;
use flashwatt_base::units::{Lpn, RequestId};
use flashwatt_core::connector::Request;
use flashwatt_ssd::cache::WriteBuffer;
use flashwatt_ssd::ftl::{Cause, OpKind};

/// Every layer that maps blocks.
const BLOCK_MAPPED: [&str; 7] = ["block", "nftl", "bast", "bast_star", "fast", "last", "superblock"];

/// Every layer that pages its map.
const DEMAND_PAGED: [&str; 3] = ["dftl", "rftl", "tpftl"];

/// Sequential writes of 64 KiB, over and over, with a write buffer of a size or without one.
fn sequential(ftl: &str, buffer_bytes: u64) -> Report {
    sequential_with(ftl, buffer_bytes, &[])
}

fn sequential_with(ftl: &str, buffer_bytes: u64, more: &[String]) -> Report {
    let mut sets = vec![
        format!("ftl=\"{ftl}\""),
        format!("write_buffer.bytes={buffer_bytes}"),
        "device.logical_bytes=16777216".to_string(),
        "device.blocks_per_plane=12".to_string(),
        "device.channels=4".to_string(),
        "device.ways=2".to_string(),
        "workload.sequential.requests=350".to_string(),
        "workload.sequential.request_bytes=65536".to_string(),
        "workload.sequential.queue_depth=8".to_string(),
        "run.count_drain=true".to_string(),
    ];
    sets.extend_from_slice(more);
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    run_plain(&preset("limit", &sets))
}

fn programmed(report: &Report) -> u64 {
    report.ssd().flash.programs.total
}

/// A buffer never makes sequential writes dearer or slower: what is written together reaches the layer together.
#[test]
fn a_buffer_keeps_sequential_writes_together() {
    for ftl in BLOCK_MAPPED {
        let (without, with) = (sequential(ftl, 0), sequential(ftl, 1 << 20));
        let (before, after) = (programmed(&without), programmed(&with));
        assert!(after <= before, "{ftl}: {after} pages programmed with a buffer, {before} without");
        let energy = [&without, &with].map(|report| report.ssd().energy_j.total);
        assert!(energy[1] <= 1.05 * energy[0], "{ftl}: {energy:?} J");
        let mb_s = [&without, &with].map(|report| report.throughput.write_mb_s);
        assert!(mb_s[1] >= 0.95 * mb_s[0], "{ftl}: {mb_s:?} MB/s");
    }
}

/// Nor does it make a layer read its map anew for each page: neighbours leave together, and share the read. With static
/// allocation a page of a die that has no room stays behind its neighbours, so there only time and energy are compared.
#[test]
fn a_buffer_keeps_what_shares_a_map_page_together() {
    for (ftl, allocation) in DEMAND_PAGED.into_iter().flat_map(|ftl| [(ftl, "dynamic"), (ftl, "static")]) {
        let sets = [format!("ftl.{ftl}.allocation=\"{allocation}\""), format!("ftl.{ftl}.cmt_bytes=4096")];
        let (without, with) = (sequential_with(ftl, 0, &sets), sequential_with(ftl, 1 << 20, &sets));
        let map_reads = [&without, &with].map(|report| report.ssd().flash.reads.map);
        assert!(map_reads[0] > 0, "{ftl}");
        assert!(allocation == "static" || map_reads[1] <= map_reads[0] * 21 / 20, "{ftl}: {map_reads:?} map reads");
        let mb_s = [&without, &with].map(|report| report.throughput.write_mb_s);
        assert!(mb_s[1] >= 0.95 * mb_s[0], "{ftl}, {allocation}: {mb_s:?} MB/s");
        let energy = [&without, &with].map(|report| report.ssd().energy_j.total);
        assert!(energy[1] <= 1.05 * energy[0], "{ftl}, {allocation}: {energy:?} J");
    }
}

/// Pages that found no room stay in the order in which they came, forced ones first, in whatever order they were picked.
#[test]
fn what_found_no_room_goes_back_to_its_place() {
    let mut buffer = WriteBuffer::new(16, 4096, 64, 1);
    let mut put = |lpn| buffer.put(Lpn(lpn), &(0..4096), 1, 0).map(|put| put.entry);
    let entries = [9, 3, 20, 2, 4, 40, 1].map(|lpn| put(lpn).unwrap_or_else(|| panic!("no room for {lpn}")));
    buffer.wait(entries[3], RequestId(7));
    buffer.hurry(entries[3]);
    let mut picked = Vec::new();
    buffer.pick_run(0, 8, |_| true, &mut picked);
    assert_eq!(picked, [6, 3, 1, 4].map(|at: usize| entries[at]), "1 to 4, from the forced 2 on");
    assert_eq!(buffer.dirty(), [3, 0]);
    buffer.put_back(&picked[1..]);
    assert_eq!(buffer.dirty(), [5, 1]);
    picked.clear();
    buffer.pick_oldest(0, 16, &mut picked);
    assert_eq!(picked, [3, 0, 1, 2, 4, 5].map(|at: usize| entries[at]));
}

/// A run ends where a unit is under way already, where a line has no room, and at the size that it may have.
#[test]
fn a_run_ends_at_its_bounds() {
    let mut buffer = WriteBuffer::new(16, 4096, 64, 2);
    for lpn in 0..8 {
        assert!(buffer.put(Lpn(lpn), &(0..4096), 1, u32::from(lpn == 5)).is_some());
    }
    let mut run = |most, may_leave: fn(u32) -> bool| {
        let mut picked = Vec::new();
        buffer.pick_run(0, most, may_leave, &mut picked);
        picked.iter().map(|&entry| buffer.content(entry).lpn.0).collect::<Vec<_>>()
    };
    assert_eq!(run(3, |_| true), [0, 1, 2]);
    assert_eq!(run(8, |line| line == 0), [3, 4]);
    assert_eq!(run(8, |_| true), [5, 6, 7]);
}

/// A whole logical block that the buffer holds is written without a copy, in whatever order its pages came.
#[test]
fn a_block_in_the_buffer_leaves_whole() {
    let sets = ["ftl=\"block\"", "write_buffer.bytes=32768", "write_buffer.destage_fraction=1", "run.count_drain=true"];
    let config = merging_drive(&sets);
    let order = [3, 7, 1, 0, 2, 6, 4, 5];
    let script: Vec<Request> = order.iter().zip(0..).map(|(&page, at)| write(at, page, 1)).collect();
    let (report, log) = play(&config, &script);
    assert_eq!((report.ssd().flash.programs.host, report.ssd().flash.programs.merge), (8, 0));
    assert_eq!(report.ssd().flash.reads.total, 0);
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
    assert_eq!(report.ssd().flash.programs.host, 4);
    assert_eq!(report.ssd().flash.reads.host, 3, "the other halves");
}
