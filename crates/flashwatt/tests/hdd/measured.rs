//! What measured disks do, worked out by hand: overlap of interface and arm, times by class, layout, curve, buffer.
//!
//! The disk is [`plain`]: 10 ms a revolution, 400 sectors of 25 µs on a track, 2 heads, skews of 40 sectors.

use flashwatt_core::connector::RequestKind::{Read, Write};
use flashwatt_devices::hdd::settings::*;

use super::common::*;

/// A write of 100 sectors on an interface of 10 µs a sector, from sector 200 of the first track on, which comes by at 5.0 ms. Its data
/// is there after 1 ms, so that it is written from 5.0 to 7.5 ms in both ways. From sector 20 on, which comes by at 0.5 ms: with overlap
/// the first sector is there after 10 µs. Without overlap it has passed before the data is there, and comes again at 10.5 ms.
#[test]
fn a_write_to_the_medium_overlaps_interface_and_arm() {
    for (start, first, expected) in [
        (WriteStart::Transferred, 200, 7_500_000),
        (WriteStart::Overlapped, 200, 7_500_000),
        (WriteStart::Transferred, 20, 13_000_000),
        (WriteStart::Overlapped, 20, 3_000_000),
    ] {
        let mut disk = plain();
        (disk.interface.rate_mb_s, disk.interface.write_start) = (51.2, start);
        let (report, latencies) = run_script(disk, vec![request(0, Write, first, 100)]);
        assert_eq!(latencies, [expected], "{start:?} from {first}");
        close(state_s(&report, "interface_transfer"), 1e-3, 1e-9);
    }
}

/// An interface of 100 µs a sector is slower than the medium. 100 sectors take 10 ms. The last is there at 10.0 ms, and the one before it
/// at 9.9 ms: the first can be written from 10.0 - 99 × 0.025 = 7.525 ms on. Sector 301 comes by at 7.525 ms, sector 300 at 17.5 ms.
/// With a fifth of a millisecond of delay sector 301 is late as well. With all of it in the disk first, sector 0 comes by at 10 ms.
#[test]
fn sectors_are_written_once_data_comes_fast_enough() {
    let write = |first, change: fn(&mut Interface)| {
        let mut disk = plain();
        (disk.interface.rate_mb_s, disk.interface.write_start) = (5.12, WriteStart::Overlapped);
        change(&mut disk.interface);
        run_script(disk, vec![request(0, Write, first, 99)]).1[0]
    };
    // 99 sectors take 9.9 ms; the first can be written from 9.9 - 98 × 0.025 = 7.45 ms on, at sector 298.
    assert_eq!(write(298, |_| {}), 7_450_000 + 99 * 25_000);
    assert_eq!(write(297, |_| {}), 17_425_000 + 99 * 25_000);
    assert_eq!(write(298, |interface| interface.write_start_delay_ns = 200_000), 17_450_000 + 99 * 25_000);
    assert_eq!(write(0, |interface| interface.write_fill_fraction = 1.0), 10_000_000 + 99 * 25_000);
}

/// A read of two tracks of 400 sectors on an interface of 26 µs a sector: 400 sectors take 10.4 ms, so that the interface is 0.4 ms behind
/// at the end of the first track, and catches up during the head switch of 1 ms. The second track ends at 21 ms, its data 0.4 ms later.
#[test]
fn the_interface_catches_up_during_a_switch_of_heads() {
    let mut disk = plain();
    disk.interface.rate_mb_s = 512.0 / 26.0;
    let (report, latencies) = run_script(disk, vec![request(0, Read, 0, 800)]);
    assert_eq!(latencies, [21_400_000]);
    close(state_s(&report, "interface_transfer"), 800.0 * 26e-6, 1e-9);
}

/// Sectors move whole: the last one of 4, which has passed at 0.1 ms, takes 1 µs more. With three quarters in the buffer first, on an
/// interface of 100 µs a sector, data moves from 75 µs on for 400 µs.
#[test]
fn a_share_of_a_read_is_in_the_buffer_before_it_moves() {
    for (rate_mb_s, fill, expected) in [(512.0, 0.0, 101_000), (5.12, 0.0, 425_000), (5.12, 0.75, 475_000)] {
        let mut disk = plain();
        (disk.interface.rate_mb_s, disk.interface.read_fill_fraction) = (rate_mb_s, Some(fill));
        let (report, latencies) = run_script(disk, vec![request(0, Read, 0, 4)]);
        assert_eq!(latencies, [expected], "{rate_mb_s} {fill}");
        close(state_s(&report, "interface_transfer"), 4.0 * 512.0 / (rate_mb_s * 1e6), 1e-9);
    }
}

/// As above, but data moves 0.2 ms after its share is there; a write's data moves 1 ms after the command, while the arm is on its way.
#[test]
fn a_disk_takes_time_to_get_hold_of_the_interface() {
    let mut disk = plain();
    (disk.interface.rate_mb_s, disk.interface.read_fill_fraction) = (5.12, Some(0.75));
    disk.interface.read_start_delay_ns = 200_000;
    assert_eq!(run_script(disk, vec![request(0, Read, 0, 4)]).1, [675_000]);
    for (delay_ns, expected) in [(0, 3_000_000), (1_000_000, 13_000_000)] {
        let mut disk = plain();
        (disk.interface.rate_mb_s, disk.interface.write_start) = (51.2, WriteStart::Overlapped);
        disk.interface.write_data_delay_ns = delay_ns;
        let (report, latencies) = run_script(disk, vec![request(0, Write, 20, 100)]);
        assert_eq!(latencies, [expected]);
        close(state_s(&report, "interface_transfer"), 1e-3, 1e-9);
    }
}

/// Commands of 0.1 to 0.8 ms by class; reads and writes move at 1 and 2 µs a sector, and end 5 and 7 µs later. Each request is of 8
/// sectors, and begins at a multiple of 100 ms, when sector 0 is under the head.
#[test]
fn commands_take_their_time_by_class() {
    let mut disk = full();
    disk.interface.commands = Some(CommandTimes {
        read_hit_ns: [100_000, 200_000],
        read_miss_ns: [300_000, 400_000],
        write_hit_ns: [500_000, 600_000],
        write_miss_ns: [700_000, 800_000],
    });
    (disk.interface.read_rate_mb_s, disk.interface.write_rate_mb_s) = (Some(512.0), Some(256.0));
    (disk.interface.read_completion_ns, disk.interface.write_completion_ns) = (5_000, 7_000);
    let forced = |at: u64| flashwatt_core::connector::Request { fua: true, ..request(at * 100 * MS, Write, 360, 8) };
    let requests = vec![
        request(0, Read, 200, 8),          // a miss, after nothing: 5.0 ms and 0.2 ms
        request(100 * MS, Read, 200, 8),   // a hit after a read: 0.1 ms and 8 µs
        request(200 * MS, Write, 200, 8),  // into the cache after a read: 0.5 ms and 16 µs
        request(300 * MS, Write, 200, 8),  // after a write
        request(400 * MS, Read, 2_000, 8), // a miss after a write
        forced(5),                         // to the medium after a read; sector 360 is there at 9.0 ms
    ];
    let (_, latencies) = run_script(disk, requests);
    assert_eq!(latencies[..4], [5_205_000, 113_000, 523_000, 623_000]);
    assert_eq!(latencies[5] % 10_000_000, 9_207_000);
    assert_eq!(latencies[4] % 25_000, 5_000, "at the end of a sector, and 5 µs");
}

/// Straight from point to point: 1 ms to the next cylinder, 2 ms over 5, so 1.25 ms over 2; 3 ms over 10, and on from there: 4 ms over 15.
#[test]
fn a_seek_follows_the_points() {
    let mut disk = plain();
    disk.seek.points = vec![(1, MS), (5, 2 * MS), (10, 3 * MS)];
    (disk.track_skew_ns, disk.cylinder_skew_ns) = (0, 0);
    let seek_ns = |cylinders: u64, kind, change: fn(&mut Seek)| {
        let mut disk = disk.clone();
        change(&mut disk.seek);
        let (report, _) = run_script(disk, vec![request(0, kind, cylinders * 800, 1)]);
        sections(&report).hdd.counts.seek_ns
    };
    let read = |cylinders| seek_ns(cylinders, Read, |_| {});
    assert_eq!([1, 2, 5, 10, 15].map(read), [1_000_000, 1_250_000, 2_000_000, 3_000_000, 4_000_000]);
    assert_eq!(seek_ns(5, Write, |seek| seek.write_settle_ns = 300_000), 2_300_000);
    assert_eq!(seek_ns(5, Write, |seek| seek.write_settle_ns = -300_000), 1_700_000);
    assert_eq!([Read, Write].map(|kind| seek_ns(5, kind, |seek| seek.read_less_ns = 300_000)), [1_700_000, 2_000_000]);
}

/// A read of 200 sectors comes when sector 100 of them is under the head: in order it waits 7.5 ms and takes 5 ms, on arrival it takes
/// one revolution.
#[test]
fn a_read_on_arrival_takes_a_revolution() {
    for (on_arrival, expected) in [(false, 12_500_000), (true, 10_000_000)] {
        let mut disk = plain();
        (disk.buffer.reads_on_arrival, disk.buffer.writes_on_arrival) = (on_arrival, on_arrival);
        disk.interface.rate_mb_s = 1e6;
        for kind in [Read, Write] {
            let (_, latencies) = run_script(disk.clone(), vec![request(2_500_000, kind, 0, 200)]);
            assert!(latencies[0].abs_diff(expected) <= 26_000, "{on_arrival} {kind:?}: {latencies:?}");
        }
    }
}

/// Which reads of a disk hit: `change` sets its buffer, of 4 segments of 32 sectors. A read of sectors 380 to 387 of the first track (8 by
/// 8), then one of `second`.
fn hits(second: u64, change: impl Fn(&mut Hdd)) -> u64 {
    let mut disk = plain();
    disk.buffer =
        Buffer { segments: 4, segment_bytes: 32 * SECTOR, read_ahead_bytes: 1_000 * SECTOR, ..Buffer::default() };
    change(&mut disk);
    let requests = vec![request(0, Read, 372, 8), request(100 * MS, Read, 380, 8), request(200 * MS, Read, second, 4)];
    sections(&run_script(disk, requests).0).hdd.counts.read_hits
}

#[test]
fn reading_ahead_ends_where_it_is_told() {
    let to = |read_ahead_to, second| hits(second, |disk| disk.buffer.read_ahead_to = read_ahead_to);
    // To the end of the track: sectors up to 399 are there after the first read. The second one is a hit; what follows 399 is not there.
    assert_eq!([380, 392, 396, 400].map(|second| to(ReadAheadTo::Track, second)), [2, 2, 2, 1]);
    // Of a stream the next track is read as well; its end remains: sectors 768 to 799.
    assert_eq!([764, 768, 796, 800].map(|second| to(ReadAheadTo::NextTrack, second)), [1, 1, 1, 1]);
    // To the end of the cylinder, sector 799.
    assert_eq!([380, 764, 768, 796, 800].map(|second| to(ReadAheadTo::Cylinder, second)), [0, 0, 1, 1, 0]);
    let kept = |second| {
        hits(second, |disk| {
            (disk.buffer.read_ahead_to, disk.buffer.returned) = (ReadAheadTo::Segment, Returned::Kept);
        })
    };
    // The first read and 24 sectors fill the segment; the second one, a hit, reads on to 411.
    assert_eq!([380, 400, 408, 412].map(kept), [2, 2, 2, 1]);
    let dropped = |second| {
        hits(second, |disk| {
            (disk.buffer.returned, disk.buffer.read_ahead_bytes) = (Returned::Dropped, 16 * SECTOR);
        })
    };
    assert_eq!([380, 392].map(dropped), [1, 2]);
    let adaptive = |second| {
        hits(second, |disk| {
            (disk.buffer.read_ahead_in_streams, disk.buffer.read_ahead_bytes) = (true, 16 * SECTOR);
        })
    };
    // The first read starts nothing: the second is a miss, goes on where that ended, and starts reading ahead.
    assert_eq!([372, 388, 400, 404].map(adaptive), [1, 1, 1, 0]);
    let idle = |second| {
        hits(second, |disk| {
            (disk.buffer.read_ahead_after_hits, disk.buffer.read_ahead_bytes) = (false, 16 * SECTOR);
        })
    };
    assert_eq!([388, 392, 396].map(idle), [2, 2, 1]);
}

/// The head is on the track at once and waits for sector 200: what passes it meanwhile, sectors 168 to 199 of a segment of 40, is kept.
#[test]
fn passing_sectors_and_written_ones_are_found_again() {
    let again = |first: u64, kind, change: fn(&mut Buffer)| {
        let mut disk = plain();
        disk.buffer = Buffer { segments: 2, segment_bytes: 40 * SECTOR, ..Buffer::default() };
        change(&mut disk.buffer);
        let (report, latencies) = run_script(disk, vec![request(0, kind, 200, 8), request(100 * MS, Read, first, 4)]);
        assert_eq!(latencies[0], 5_200_000);
        sections(&report).hdd.counts.read_hits
    };
    let keeps = |buffer: &mut Buffer| buffer.keeps_passing_sectors = true;
    assert_eq!([168, 196, 164].map(|first| again(first, Read, keeps)), [1, 1, 0]);
    assert_eq!(again(196, Read, |_| {}), 0);
    assert_eq!([200, 204].map(|first| again(first, Write, |buffer| buffer.holds_writes = true)), [1, 1]);
    assert_eq!(again(200, Write, |_| {}), 0);
}

/// Slips part a track: 8 sectors with a slip among them take the time of 9.
#[test]
fn a_slip_takes_the_time_of_a_sector() {
    let mut disk = plain();
    let slips = vec![3];
    let sectors = 800_000 - 1;
    let layout =
        ZoneLayout { sectors, slips, track_skew_sectors: 40.0, cylinder_skew_sectors: 40.0, ..ZoneLayout::default() };
    disk.zones[0].layout = Some(Box::new(layout));
    disk.bytes = disk.capacity_bytes();
    let (report, latencies) = run_script(disk, vec![request(0, Read, 0, 8)]);
    assert_eq!(latencies, [9 * 25_000]);
    assert_eq!(sections(&report).hdd.counts.accesses, 2);
}
