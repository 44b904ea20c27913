//! The disk against theory.

use super::common::*;
use flashwatt_devices::hdd::settings::{Hdd, Order, Zone};

/// The seek curve of [`plain`] from its definition: a + b √d up to a fifth of the stroke, c + e d beyond it, through the times of a
/// cylinder and of the full stroke, with the mean over all pairs of different cylinders found by bisection.
fn seek_curve(disk: &Hdd) -> impl Fn(f64) -> f64 {
    let stroke = f64::from(disk.cylinders() - 1);
    let joint = (disk.seek.joint_fraction * stroke).round();
    let [single, mean, full] =
        [disk.seek.single_cylinder_ns, disk.seek.mean_ns, disk.seek.full_stroke_ns].map(|ns| ns as f64);
    let time = move |at_joint: f64, d: f64| {
        if d < joint {
            single + (at_joint - single) * (d.sqrt() - 1.0) / (joint.sqrt() - 1.0)
        } else {
            at_joint + (full - at_joint) * (d - joint) / (stroke - joint)
        }
    };
    let mean_of = |at_joint: f64| {
        let pairs = (1..=stroke as u32).map(|d| (stroke + 1.0 - f64::from(d), time(at_joint, f64::from(d))));
        let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), (pairs, ns)| (sum + pairs * ns, count + pairs));
        sum / count
    };
    let (mut low, mut high) = (single, full);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if mean_of(middle) < mean { low = middle } else { high = middle }
    }
    move |d| time(low, d)
}

/// First and second moment in s of the time of a read of 8 sectors anywhere: seek and head switch over uniform pairs, a wait uniform
/// in a revolution, and the transfer. The three are independent.
fn moments(disk: &Hdd) -> (f64, f64) {
    let (cylinders, time) = (f64::from(disk.cylinders()), seek_curve(disk));
    let (mut seek, mut seek_squared) = (0.0, 0.0);
    let mut add = |probability: f64, ns: f64| {
        seek += probability * ns * 1e-9;
        seek_squared += probability * ns * ns * 1e-18;
    };
    add(1.0 / cylinders * 0.5, disk.seek.head_switch_ns as f64); // the same cylinder, the other one of two heads
    for d in 1..disk.cylinders() {
        add(2.0 * (cylinders - f64::from(d)) / (cylinders * cylinders), time(f64::from(d)).round());
    }
    let revolution = 60.0 / f64::from(disk.rpm);
    let transfer = 8.0 * revolution / f64::from(disk.zones[0].sectors_per_track);
    let mean = seek + revolution / 2.0 + transfer;
    let variance = (seek_squared - seek * seek) + revolution * revolution / 12.0;
    (mean, mean * mean + variance)
}

/// Reads of 4 KiB at random that arrive as a Poisson process and are served one after the other: by Pollaczek and Khinchine the
/// mean wait is λ E\[S²\] / (2 (1 − ρ)).
#[test]
fn waiting_time_is_that_of_an_m_g_1_queue() {
    let disk = plain();
    let (mean, second) = moments(&disk);
    for load in [0.3, 0.6] {
        let rate = load / mean;
        let sets = [
            format!("workload.uniform.rate_per_s={rate}"),
            "workload.uniform.requests=1000000".to_string(),
            "workload.uniform.request_bytes=4096".to_string(),
            "workload.uniform.read_fraction=1".to_string(),
        ];
        let report = run(disk.clone(), &sets.each_ref().map(String::as_str));
        let wait = report.latency_ns.read.mean.expect("reads") * 1e-9 - mean;
        let expected = rate * second / (2.0 * (1.0 - load));
        println!("load {load}: mean wait {:.4} ms, by theory {:.4} ms", wait * 1e3, expected * 1e3);
        close(wait, expected, 0.02);
        // The disk's own figures agree with the moments: mean seek, rotation and load.
        let counts = &sections(&report).hdd.counts;
        close(counts.rotational_wait_ns as f64 / counts.accesses as f64, 5e6, 0.005);
        close(state_s(&report, "electronics_idle") / report.throughput.simulated_s, 1.0 - load, 0.01);
    }
}

/// Mean distance of random seeks: a third of the stroke and a little, (n² − 1) / 3n of n cylinders over all pairs.
#[test]
fn random_reads_cross_a_third_of_the_cylinders() {
    let (disk, n) = (plain(), 1_000.0);
    let sets =
        ["workload.uniform.requests=200000", "workload.uniform.read_fraction=1", "workload.uniform.request_bytes=4096"];
    let report = run(disk.clone(), &sets);
    let counts = &sections(&report).hdd.counts;
    close(counts.seek_cylinders as f64 / counts.accesses as f64, (n * n - 1.0) / (3.0 * n), 0.01);
    close(counts.seek_ns as f64 / counts.seeks as f64, disk.seek.mean_ns as f64, 0.005);
}

/// Reading a zone from end to end takes a revolution for each track, and the skew between tracks.
#[test]
fn sequential_rate_of_a_zone_follows_from_its_tracks() {
    let mut disk = full();
    disk.zones = Zone::row([(400, 400), (300, 320), (300, 201)]);
    (disk.track_skew_ns, disk.cylinder_skew_ns) = (1_200_000, 1_700_000);
    disk.bytes = disk.capacity_bytes();
    let mut start = 0;
    for (number, zone) in disk.zones.iter().enumerate() {
        let bytes = zone.sectors(disk.heads) * SECTOR;
        let per_track = f64::from(zone.sectors_per_track);
        let skew = |ns: f64| (ns / 10e6 * per_track - 1e-6).ceil() / per_track * 10e-3; // whole sectors
        let cylinder_s = 2.0 * 10e-3 + skew(1.2e6) + skew(1.7e6);
        let expected_mb_s = 2.0 * per_track * 512.0 / cylinder_s * 1e-6;
        for (kind, read_fraction) in [("read", "1"), ("write", "0")] {
            let requests = bytes / 65_536;
            let sets = [
                format!("workload.sequential.start_bytes={}", u64::next_multiple_of(start, 4096)),
                format!("workload.sequential.range_bytes={}", bytes / 65_536 * 65_536 - 65_536),
                format!("workload.sequential.requests={}", requests - 1),
                format!("workload.sequential.read_fraction={read_fraction}"),
                "workload.sequential.request_bytes=65536".to_string(),
                "workload.sequential.queue_depth=1".to_string(),
                "run.count_drain=true".to_string(),
            ];
            let report = run(disk.clone(), &sets.each_ref().map(String::as_str));
            let found = if kind == "read" { report.throughput.read_mb_s } else { report.throughput.write_mb_s };
            println!("zone {number}, {kind}: {found:.3} MB/s, by theory {expected_mb_s:.3}");
            close(found, expected_mb_s, 0.01);
        }
        start += bytes;
    }
}

/// With the write-back cache a write takes less time of the medium than a read, since the disk chooses among those in the cache.
/// The more of them there are, the less: from n on the disk it chooses the nearest.
#[test]
fn random_writes_are_shorter_than_random_reads() {
    let mean_ms = |extents: u32, read_fraction: &str| {
        let mut disk = full();
        disk.interface.queue_depth = 1;
        disk.write_cache.extents = extents;
        let fraction = format!("workload.uniform.read_fraction={read_fraction}");
        let sets = ["workload.uniform.requests=20000", "workload.uniform.request_bytes=4096", &fraction];
        1e3 / run(disk, &sets).throughput.iops
    };
    let read = mean_ms(1, "1");
    let writes = [1, 4, 16, 64].map(|extents| mean_ms(extents, "0"));
    println!("random 4 KiB: read {read:.2} ms, write with 1, 4, 16, 64 extents {writes:.2?} ms");
    assert!(writes[1] < 0.9 * read && writes.is_sorted_by(|more, less| more > less), "{writes:?}");
}

/// Thirty-two reads in the queue, taken by least positioning time, end in less time than in the order in which they came.
#[test]
fn a_queue_shortens_the_way() {
    let iops = |order: Order| {
        let mut disk = full();
        disk.scheduling.order = order;
        let sets = [
            "workload.uniform.requests=20000",
            "workload.uniform.read_fraction=1",
            "workload.uniform.request_bytes=4096",
        ];
        run(disk, &sets).throughput.iops
    };
    let (fifo, positioning) = (iops(Order::Fifo), iops(Order::Positioning));
    println!("32 reads in the queue: {fifo:.0} a second in order, {positioning:.0} by positioning time");
    assert!(positioning > 1.8 * fifo);
}
