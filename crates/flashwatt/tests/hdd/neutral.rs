//! Options that change nothing change nothing.

use super::common::*;
use flashwatt_devices::hdd::settings::{Hdd, Order};
use serde_json::Value;

const MIXED: [&str; 4] = [
    "workload.uniform.requests=3000",
    "workload.uniform.request_bytes=[[4096, 0.5], [65536, 0.3], [512, 0.2]]",
    "workload.uniform.read_fraction=0.6",
    "workload.uniform.align_bytes=512",
];

/// The whole report of a disk, without the time that it took.
fn report(disk: Hdd, change: impl Fn(&mut Hdd)) -> Value {
    let mut disk = disk;
    change(&mut disk);
    serde_json::to_value(run(disk, &[&MIXED[..], &["run.count_drain=true"]].concat())).expect("JSON")
}

#[test]
fn a_timer_that_never_fires() {
    assert_eq!(report(full(), |_| {}), report(full(), |disk| disk.standby.after_ns = Some(1_000_000 * MS)));
}

#[test]
fn reordering_a_queue_of_one() {
    let alone = |disk: &mut Hdd| {
        disk.interface.queue_depth = 1;
        disk.write_cache.bytes = 0;
    };
    let fifo = |disk: &mut Hdd| {
        alone(disk);
        disk.scheduling.order = Order::Fifo;
    };
    assert_eq!(report(full(), alone), report(full(), fifo));
    assert_ne!(report(full(), |_| {}), report(full(), |disk| disk.scheduling.order = Order::Fifo), "of 32 it matters");
}

#[test]
fn the_age_of_requests_that_are_taken_in_order() {
    let fifo = |disk: &mut Hdd| disk.scheduling.order = Order::Fifo;
    let aged = |disk: &mut Hdd| {
        fifo(disk);
        disk.scheduling.age_max_ns = MS;
    };
    assert_eq!(report(full(), fifo), report(full(), aged));
}

#[test]
fn a_buffer_that_nothing_is_read_from_twice() {
    let none = |disk: &mut Hdd| disk.buffer.read_ahead_bytes = 0;
    let sets = [
        "workload.sequential.requests=500",
        "workload.sequential.read_fraction=1",
        "workload.sequential.request_bytes=8192",
    ];
    let with = |segments: u32| {
        let mut disk = full();
        none(&mut disk);
        disk.buffer.segments = segments;
        serde_json::to_value(run(disk, &sets)).expect("JSON")
    };
    assert_eq!(with(0), with(8));
}

#[test]
fn settling_of_writes_that_do_not_occur() {
    let reads = ["workload.uniform.requests=1000", "workload.uniform.read_fraction=1"];
    let with = |settle: i64| {
        let mut disk = full();
        disk.seek.write_settle_ns = settle;
        serde_json::to_value(run(disk, &reads)).expect("JSON")
    };
    assert_eq!(with(0), with(MS as i64));
}
