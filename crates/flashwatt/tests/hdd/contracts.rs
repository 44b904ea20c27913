//! What holds for every disk under every workload.

use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt_core::connector::Request;
use flashwatt_core::connector::RequestKind::{Flush, Read, Trim, Write};
use flashwatt_devices::hdd::settings::{
    Buffer, CommandTimes, Hdd, Layout, Order, ReadAheadTo, Returned, SpareRange, TrackOrder, Way, WriteStart, Zone,
    ZoneLayout,
};
use proptest::prelude::*;

use super::common::*;
use crate::common::tier;
use crate::common::workloads::every_workload;

/// A disk with some of what a disk has.
fn disks() -> impl Strategy<Value = Hdd> {
    let cache = (prop_oneof![Just(0), 1u64..200], 1u32..20, prop_oneof![Just(0), Just(10_000 * MS)]);
    let buffer = (0u32..4, 1u64..100, 0u64..=100, 0u64..=100);
    let interface = (1u32..20, 0u64..200_000, prop_oneof![Just(5.0), Just(150.0)]);
    (cache, buffer, interface, any::<bool>(), prop_oneof![Just(None), Just(Some(20 * MS))]).prop_map(
        |((sectors, extents, age), (segments, size, most, least), (depth, command_ns, rate), fifo, after_ns)| {
            let mut disk = full();
            (disk.write_cache.bytes, disk.write_cache.extents, disk.write_cache.age_max_ns) =
                (sectors * SECTOR, extents, age);
            let read_ahead = most.min(size);
            disk.buffer = Buffer {
                segments,
                segment_bytes: size * SECTOR,
                read_ahead_bytes: read_ahead * SECTOR,
                read_ahead_least_bytes: least.min(read_ahead) * SECTOR,
                ..Buffer::default()
            };
            (disk.interface.queue_depth, disk.interface.command_ns, disk.interface.rate_mb_s) =
                (depth, command_ns, rate);
            disk.scheduling.order = if fifo { Order::Fifo } else { Order::Positioning };
            (disk.standby.after_ns, disk.standby.spin_up_ns) = (after_ns, 50 * MS);
            disk
        },
    )
}

/// The same with policies of measured disks.
fn described_disks() -> impl Strategy<Value = Hdd> {
    let ahead = prop_oneof![
        Just(ReadAheadTo::Bytes),
        Just(ReadAheadTo::Track),
        Just(ReadAheadTo::NextTrack),
        Just(ReadAheadTo::Cylinder),
        Just(ReadAheadTo::Segment),
    ];
    let returned = prop_oneof![Just(Returned::Overwritten), Just(Returned::Kept), Just(Returned::Dropped)];
    let fill = prop_oneof![Just(None), (0.0..=1.0f64).prop_map(Some)];
    let interface = (any::<bool>(), fill, 0.0..=1.0f64, 0u64..300_000, prop_oneof![Just(0), Just(250_000u64)]);
    let times = (any::<bool>(), 0u64..500_000, 0i64..400_000);
    (disks(), ahead, returned, interface, times, any::<[bool; 9]>()).prop_map(
        |(mut disk, ahead, returned, (overlaps, read_fill, write_fill, delay_ns, completion_ns), times, flags)| {
            let [in_streams, after_hits, passing, holds, stop, reads, writes, first, exact] = flags;
            let Buffer { segments, segment_bytes, read_ahead_bytes, read_ahead_least_bytes, .. } = disk.buffer;
            disk.buffer = Buffer {
                segments,
                segment_bytes,
                read_ahead_bytes,
                read_ahead_least_bytes,
                read_ahead_to: ahead,
                read_ahead_in_streams: in_streams,
                read_ahead_after_hits: after_hits,
                returned,
                keeps_passing_sectors: passing,
                holds_writes: holds,
                writes_stop_read_ahead: stop,
                reads_on_arrival: reads,
                writes_on_arrival: writes,
            };
            disk.write_cache.goes_first = first;
            let interface = &mut disk.interface;
            interface.write_start = if overlaps { WriteStart::Overlapped } else { WriteStart::Transferred };
            (interface.write_fill_fraction, interface.write_start_delay_ns) = (write_fill, delay_ns);
            (interface.read_start_delay_ns, interface.write_data_delay_ns) = (delay_ns / 2, delay_ns / 3);
            (interface.read_fill_fraction, interface.read_completion_ns) = (read_fill, completion_ns);
            (interface.write_completion_ns, interface.write_rate_mb_s) = (completion_ns / 2, Some(20.0));
            let (by_class, hit_ns, settle_ns) = times;
            let least = [interface.command_ns, interface.command_ns + hit_ns];
            interface.commands = by_class.then_some(CommandTimes {
                read_hit_ns: least,
                read_miss_ns: least.map(|ns| ns + 70_000),
                write_hit_ns: least,
                write_miss_ns: least.map(|ns| ns + 30_000),
            });
            disk.seek.points = vec![(1, MS), (5, 900_000), (900, 8 * MS)];
            (disk.seek.write_settle_ns, disk.seek.read_less_ns) = (settle_ns - 200_000, settle_ns.unsigned_abs() / 2);
            if exact {
                lay_out(&mut disk);
            }
            disk
        },
    )
}

/// Gives a disk slips, spares, a defect and serpentine tracks; it keeps its first zone's number of sectors.
fn lay_out(disk: &mut Hdd) {
    disk.layout =
        Layout { spare_range: SpareRange::Cylinder, track_order: TrackOrder::Serpentine, ..Layout::default() };
    let mut zone = Zone::plain(0, 1_010, 400);
    zone.layout = Some(Box::new(ZoneLayout {
        sectors: 1_000 * 800,
        offset_sectors: 17.5,
        track_skew_sectors: 40.0,
        cylinder_skew_sectors: 41.0,
        spares: 5,
        slips: vec![30, 31, 700, 805],
        defects: vec![[50, 798], [900, 1_596]],
        ..ZoneLayout::default()
    }));
    disk.zones = vec![zone];
}

/// Requests close to each other in time and place, so that they meet in queue, buffer and cache.
fn scripts() -> impl Strategy<Value = Vec<Request>> {
    let gap = prop_oneof![3 => Just(0u64), 3 => 0u64..2_000_000, 1 => 0u64..80_000_000];
    let place = prop_oneof![4 => 0u64..1_500, 1 => 0u64..800_000 - 400];
    let length = prop_oneof![4 => 1u64..40, 1 => 1u64..400];
    prop::collection::vec((gap, 0u8..12, place, length, any::<bool>()), 1..60).prop_map(|list| {
        let mut at = 0;
        list.into_iter()
            .map(|(gap, kind, first, sectors, fua)| {
                at += gap;
                match kind {
                    0 => Request::new(at, Flush, 0, 0),
                    1 => request(at, Trim, first, sectors),
                    2..=6 => request(at, Read, first, sectors),
                    _ => Request { fua: fua && kind == 7, ..request(at, Write, first, sectors) },
                }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tier::size(100, 600) as u32))]

    /// Every request ends once, none before its command and its data could have moved; what is written comes to the medium,
    /// unless it was written again before; the parts' times sum up to the time of the run; and the integral of the meter is the
    /// priced sum (the run's own audit).
    #[test]
    fn nothing_is_lost_and_nothing_ends_early(disk in prop_oneof![disks(), described_disks()], requests in scripts()) {
        let (report, latencies) = run_script(disk.clone(), requests.clone());
        for (request, latency) in requests.iter().zip(&latencies) {
            let moves = if request.kind == Write { disk.interface.time(request.bytes, Way::ToDisk) } else { 0 };
            prop_assert!(*latency >= disk.interface.command_ns + moves, "{:?} took {} ns", request, latency);
        }
        let counts = &sections(&report).hdd.counts;
        let of = |kind| requests.iter().filter(move |request| request.kind == kind);
        let written: u64 = of(Write).map(|request| request.bytes).sum();
        prop_assert_eq!(counts.media_write_bytes, written - counts.overwritten_sectors * SECTOR);
        prop_assert_eq!(counts.read_hits + counts.partial_read_hits + counts.read_misses, of(Read).count() as u64);
        prop_assert!(counts.media_read_bytes <= of(Read).map(|request| request.bytes).sum());
        let zones = &sections(&report).hdd.zones;
        let through = |of: fn(&flashwatt_devices::hdd::ZoneBytes) -> u64| zones.iter().map(|zone| of(&zone.bytes)).sum::<u64>();
        prop_assert_eq!(through(|bytes| bytes.write_bytes), counts.media_write_bytes);
        prop_assert_eq!(through(|bytes| bytes.read_bytes), counts.media_read_bytes + counts.read_ahead_bytes);
        for part in ["spindle", "arm", "electronics"] {
            let times = &sections(&report).hdd.state_s.0;
            let sum: f64 = times.iter().filter(|(name, _)| name.starts_with(part)).map(|(_, seconds)| seconds).sum();
            close(sum, report.throughput.simulated_s, 1e-9);
        }
        let again = run_script(disk, requests);
        prop_assert_eq!(&latencies, &again.1);
        prop_assert_eq!(serde_json::to_value(&report).expect("JSON"), serde_json::to_value(&again.0).expect("JSON"));
    }
}

/// Reading ahead waits for a sector behind slipped ones, and a request ends it meanwhile: nothing was read, and the run's own
/// accounts agree. The disk keeps sectors that pass the head, but reads ahead none before its first.
#[test]
fn reading_ahead_may_end_before_its_first_sector_comes() {
    let mut disk = full();
    lay_out(&mut disk);
    disk.buffer = Buffer {
        segments: 1,
        segment_bytes: 11 * SECTOR,
        read_ahead_bytes: 11 * SECTOR,
        read_ahead_least_bytes: SECTOR,
        returned: Returned::Dropped,
        keeps_passing_sectors: true,
        ..Buffer::default()
    };
    disk.interface.queue_depth = 2;
    for first in 640..700 {
        let (report, _) = run_script(disk.clone(), vec![request(0, Read, first, 17), request(0, Read, 1_023, 1)]);
        let spent = |state: &str| state_s(&report, state);
        let passing = spent("electronics_read");
        let counts = &sections(&report).hdd.counts;
        let read = (counts.media_read_bytes + counts.read_ahead_bytes) / SECTOR;
        close(passing, read as f64 * 25e-6, 0.05);
    }
}

/// Without buffer and cache no request ends before its sectors have passed the head.
#[test]
fn no_request_ends_before_its_sectors_have_passed() {
    let mut disk = plain();
    (disk.interface.queue_depth, disk.scheduling.order) = (16, Order::Positioning);
    let mut rng = flashwatt_base::rng::Rng::new(5);
    let requests: Vec<Request> = (0..500)
        .map(|i| {
            let (kind, sectors) = (if rng.below(2) == 0 { Read } else { Write }, 1 + rng.below(600));
            request(i * 3 * MS, kind, rng.below(799_000), sectors)
        })
        .collect();
    let (report, latencies) = run_script(disk, requests.clone());
    for (request, latency) in requests.iter().zip(&latencies) {
        assert!(*latency >= request.bytes / SECTOR * 25_000 - 1, "{request:?}: {latency}");
    }
    close(report.throughput.simulated_s, state_s(&report, "spindle_rotating"), 1e-12);
}

/// Requests near the heads come without end; one far away is served when its time has come, and long after that without a bound.
#[test]
fn no_request_starves() {
    let far_latency = |age_max_ns: u64| {
        let mut disk = full();
        disk.interface.command_ns = 0;
        (disk.buffer.segments, disk.buffer.read_ahead_bytes) = (0, 0);
        disk.scheduling.age_max_ns = age_max_ns;
        // Two sectors on each side of the outermost cylinder at a time: one passes every few milliseconds.
        let mut rng = flashwatt_base::rng::Rng::new(9);
        let mut requests: Vec<Request> = (0..8_000).map(|i| request(i * MS / 4, Read, rng.below(800), 1)).collect();
        requests.insert(100, request(100 * MS / 4, Read, 799_000, 1));
        let (report, latencies) = run_script(disk, requests);
        (latencies[100], sections(&report).hdd.counts.overdue)
    };
    let (bounded, overdue) = far_latency(300 * MS);
    assert!((300 * MS..330 * MS + 32 * 20 * MS).contains(&bounded) && overdue > 0, "{bounded}, {overdue}");
    let (unbounded, _) = far_latency(1_000_000 * MS);
    assert!(unbounded > 1_000 * MS, "{unbounded}");
}

/// An extent far away is written when its time has come, however many come nearer to the heads.
#[test]
fn no_extent_starves() {
    let mut disk = full();
    disk.write_cache.age_max_ns = 200 * MS;
    let mut requests = vec![request(0, Write, 0, 1), request(MS / 10, Write, 799_000, 1)];
    requests.extend((0..6_000).map(|i| request(MS + i * MS / 5, Write, (i * 37) % 800, 1)));
    requests.sort_by_key(|request| request.arrival_ns);
    let (report, _) = run_script(disk, requests);
    assert!(sections(&report).hdd.counts.overdue > 0);
}

/// A request beyond the disk is refused, as the connector asks for.
#[test]
fn a_request_beyond_the_disk_is_refused() {
    let disk = plain();
    let mut script = Script::new(vec![request(0, Read, disk.bytes / SECTOR - 1, 2)]);
    let (config, options) = (config(&[]), RunOptions::default());
    let device = flashwatt_devices::hdd::Hdd::new(disk, None);
    let report = flashwatt::run::run_device(&config, &options, device, &mut script, &mut |_| true).expect("it runs");
    assert!(report.status.starts_with("failed: ") && report.status.contains("all on the device"), "{}", report.status);
}

/// Windows cut states that are under way: the sum over windows is the whole.
#[test]
fn windows_cut_what_is_under_way() {
    let options = RunOptions { series_interval_ns: Some(0), ..RunOptions::default() };
    let sets =
        ["workload.uniform.requests=400", "workload.uniform.read_fraction=0.5", "workload.uniform.request_bytes=65536"];
    let bounds = ["run.warmup.seconds=0.1234567", "run.measure.seconds=1.000000001"];
    let report = run_with(full(), &[&sets[..], &bounds].concat(), &options);
    assert_eq!(report.throughput.simulated_s, 1.000000001);
    for part in ["spindle", "arm", "electronics"] {
        let times = &sections(&report).hdd.state_s.0;
        let sum: f64 = times.iter().filter(|(name, _)| name.starts_with(part)).map(|(_, seconds)| seconds).sum();
        close(sum, 1.000000001, 1e-12);
    }
    close(report.energy_integral_j, sections(&report).energy_j.total, 1e-9);
}

/// It runs every model and every stand-in that is registered, with warm-up, a counted drain, series and edges.
#[test]
fn it_runs_every_workload() {
    let mut disk = full();
    disk.zones[0].cylinders = 200_000;
    disk.bytes = disk.capacity_bytes();
    let options = RunOptions { series_interval_ns: Some(0), edges_ns: Some((0, 1_000_000)), ..RunOptions::default() };
    for sets in every_workload() {
        let report = run_with(disk.clone(), &sets.each_ref().map(String::as_str), &options);
        assert!(report.workload.requests >= 200 && report.energy_integral_j > 0.0, "{sets:?}");
    }
}

/// Behind a block layer it is a device as any other.
#[test]
fn it_runs_behind_a_block_layer() -> Result<(), Error> {
    for scheduler in ["noop", "deadline", "cfq", "mq_deadline"] {
        let host = format!("host.scheduler={scheduler}");
        let sets = ["workload.uniform.requests=500", "workload.uniform.request_bytes=4096", host.as_str()];
        let report = run(full(), &sets);
        assert_eq!(report.workload.requests, 500, "{scheduler}");
    }
    Ok(())
}

/// Wrong keys of `[hdd]` are named with what is expected.
#[test]
fn wrong_settings_are_refused_by_name() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> =
            [&["device.preset=laptop-7200"], sets].concat().iter().map(ToString::to_string).collect();
        flashwatt::config::load("", "test", &sets).expect_err("it is wrong").to_string()
    };
    let cases: [(&[&str], &str); 17] = [
        (&["hdd.seek.mean_ns=900_000"], "single_cylinder_ns ≤ mean_ns ≤ full_stroke_ns"),
        (&["hdd.seek.mean_ns=19_900_000"], "no seek curve has this mean"),
        (&["hdd.geometry.bytes=1000"], "a positive multiple of 512"),
        (&["hdd.geometry.rpm=0"], "expected 60 to 100000"),
        (&["hdd.geometry.inner_sectors_per_track=5000"], "inner_sectors_per_track ≤ outer_sectors_per_track"),
        (&["hdd.geometry.zones=[[100, 500]]"], "hdd.geometry.bytes: more than the zones hold"),
        (&["hdd.geometry.zones=[[100, 500]]", "hdd.geometry.zone_count=2"], "given beside a list of zones"),
        (&["hdd.buffer.read_ahead_bytes=1048576"], "at most hdd.buffer.segment_bytes"),
        (&["hdd.buffer.segments=0", "hdd.buffer.read_ahead_bytes=0"], "hdd.buffer.read_ahead_bytes: has no effect"),
        (&["hdd.write_cache.bytes=100"], "a multiple of 512"),
        (&["hdd.write_cache.bytes=0", "hdd.write_cache.extents=4"], "hdd.write_cache.extents: has no effect"),
        (&["hdd.scheduling.order=lifo"], "positioning"),
        (&["hdd.energy.interface.transfer.v5_w=0.01"], "less than the idle power"),
        (&["ftl=dftl"], "has no effect; found a hard disk"),
        (&["gc.policy=greedy"], "which has no garbage collection; expected this key for an SSD only"),
        (&["device.op_ratio=0.1"], "which has no flash (hdd.geometry holds its size)"),
        (&["run.precondition=steady"], "not for a hard disk"),
    ];
    for (sets, expected) in cases {
        let found = refused(sets);
        assert!(found.contains(expected), "{sets:?}: {found}");
    }
    assert!(refused(&["hdd.seek.maen_ns=1"]).contains("did you mean `mean_ns`?"));
}
