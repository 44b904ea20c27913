//! Cases that are worked out by hand, from the disk's definition.

use flashwatt_core::connector::Request;
use flashwatt_core::connector::RequestKind::{Flush, Read, Trim, Write};
use flashwatt_devices::hdd::settings::Way;

use super::common::*;

/// Two reads. The first, at 0, of 8 sectors from sector 40 of the first track on: at time 0 that is sector 0's angle, so the
/// platters turn by 40 sectors of 25 µs (1 ms), then 8 sectors pass in 0.2 ms: 1.2 ms.
///
/// The second, at 5 ms, of 4 sectors from the start of the last cylinder on: a full stroke of 10 ms, to 15 ms. That cylinder's
/// start is skewed by 999 × 2 × 40 sectors (1 ms each) = 79,920 = 199 revolutions of 400 and 320 sectors: 8 ms. It comes by at 18 ms.
/// 4 sectors take 0.1 ms: the read ends at 18.1 ms, after 13.1 ms.
#[test]
fn two_reads() {
    let (report, latencies) = run_script(plain(), vec![request(0, Read, 40, 8), request(5 * MS, Read, 999 * 800, 4)]);
    assert_eq!(latencies, [1_200_000, 13_100_000]);

    // Spindle 0.5 W for 18.1 ms. Arm 0.1 W, and 1.0 W more for 10 ms. Electronics: active 0.4 W for 1.0 + 13.0 ms, read 0.7 W for
    // 0.2 + 0.1 ms, idle 0.2 W for 3.8 ms. Interface 0.02 W, and 0.1 W more for 12 sectors of 1 µs.
    let energy = &sections(&report).energy_j;
    let expected = [
        ("spindle_5v", 0.5 * 18.1e-3),
        ("arm_5v", 0.1 * 18.1e-3 + 1.0 * 10e-3),
        ("electronics_5v", 0.4 * 14e-3 + 0.7 * 0.3e-3 + 0.2 * 3.8e-3),
        ("interface_5v", 0.02 * 18.1e-3 + 0.1 * 12e-6),
    ];
    for ((name, found), (component, joules)) in energy.components.iter().zip(expected) {
        assert_eq!(*name, component);
        close(*found, joules, 1e-9);
    }
    close(report.energy_integral_j, expected.iter().map(|(_, joules)| joules).sum(), 1e-9);
    assert_eq!((report.current_ma.supply_v, sections(&report).hdd.energy_by_supply_j.v12), (5.0, 0.0));
    assert!(sections(&report).hdd.energy_by_supply_j.v12.is_sign_positive());

    let hdd = &sections(&report).hdd;
    assert_eq!((hdd.counts.seeks, hdd.counts.seek_cylinders, hdd.counts.rotational_waits), (1, 999, 2));
    assert_eq!((hdd.counts.accesses, hdd.counts.media_read_bytes), (2, 12 * SECTOR));
    assert_eq!((hdd.zones[0].bytes.read_bytes, hdd.zones[0].bytes.write_bytes), (12 * SECTOR, 0));
    close(state_s(&report, "arm_seeking"), 10e-3, 1e-12);
    close(state_s(&report, "electronics_read"), 0.3e-3, 1e-12);
    close(state_s(&report, "interface_transfer"), 12e-6, 1e-12);
}

/// A read of two tracks: the head switch takes 1 ms, and the second track is skewed by as much, so that a whole track takes one
/// revolution and the switch.
#[test]
fn a_read_goes_on_to_the_next_track() {
    let (report, latencies) = run_script(plain(), vec![request(0, Read, 0, 800)]);
    assert_eq!(latencies, [10 * MS + MS + 10 * MS]);
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.accesses, counts.head_switches, counts.seeks, counts.rotational_waits), (2, 1, 0, 0));
}

/// An interface of 51.2 MB/s takes 10 µs for a sector, the medium 25 µs: the data is there with the last sector. One of 5.12 MB/s
/// takes 100 µs: 100 sectors end 100 × 100 µs after their first one is under the head.
#[test]
fn data_crosses_the_interface_while_it_is_read() {
    for (rate_mb_s, expected) in [(51.2, 2_500_000), (5.12, 10_000_000)] {
        let mut disk = plain();
        disk.interface.rate_mb_s = rate_mb_s;
        let (report, latencies) = run_script(disk, vec![request(0, Read, 0, 100)]);
        assert_eq!(latencies, [expected]);
        close(state_s(&report, "interface_transfer"), 100.0 * 512.0 / (rate_mb_s * 1e6), 1e-9);
    }
}

/// A read from a segment takes the command (100 µs) and the interface (8 sectors of 512 / 150 µs each).
#[test]
fn a_hit_takes_the_interface_only() {
    let disk = full();
    let hit = disk.interface.command_ns + disk.interface.time(8 * SECTOR, Way::ToHost);
    let reads = vec![request(0, Read, 0, 8), request(50 * MS, Read, 0, 8), request(100 * MS, Read, 8, 8)];
    let (report, latencies) = run_script(disk, reads);
    assert!(latencies[0] > 200_000);
    assert_eq!(latencies[1..], [hit, hit], "the first once more, and what was read ahead");
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.read_hits, counts.read_misses, counts.accesses), (2, 1, 2));
    assert_eq!(counts.media_read_bytes, 8 * SECTOR);
    assert_eq!(counts.read_ahead_bytes, 64 << 10, "half a segment, though no more than that");
}

/// Reading ahead is 50 sectors along when a read of what follows comes: the sectors go on without a turn of the platters.
#[test]
fn a_read_joins_what_is_being_read_ahead() {
    let mut disk = full();
    disk.interface.command_ns = 0;
    // The first read ends at 0.2 ms. At 1.45 ms sectors up to 58 have passed; sectors 60 to 100 pass until 2.5 ms.
    let reads = vec![request(0, Read, 0, 8), request(1_450_000, Read, 60, 40)];
    let (report, latencies) = run_script(disk.clone(), reads);
    assert_eq!(latencies, [200_000, 2_500_000 - 1_450_000]);
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.partial_read_hits, counts.media_read_bytes), (1, (8 + 40) * SECTOR));

    // If half of it is there already, the end is the same.
    let reads = vec![request(0, Read, 0, 8), request(1_450_000, Read, 30, 70)];
    assert_eq!(run_script(disk, reads).1, [200_000, 2_500_000 - 1_450_000]);
}

/// A read elsewhere ends reading ahead at once; with a least amount, when that is there.
#[test]
fn reading_ahead_makes_way() {
    let mut disk = full();
    disk.interface.command_ns = 0;
    let reads = || vec![request(0, Read, 0, 8), request(1_450_000, Read, 200, 1)];
    // Sector 200 passes at 5.0 ms, without a turn in both cases; ahead are read sectors 8 to 57, or to 108.
    for (least, sectors) in [(0, 50), (100 * SECTOR, 100)] {
        disk.buffer.read_ahead_least_bytes = least;
        disk.buffer.read_ahead_bytes = 100 * SECTOR;
        let (report, latencies) = run_script(disk.clone(), reads());
        assert_eq!(latencies[1], 5_025_000 - 1_450_000);
        let after_second = if least > 0 { 100 } else { 0 };
        assert_eq!(sections(&report).hdd.counts.read_ahead_bytes, (sectors + after_second) * SECTOR, "{least}");
    }
}

/// A write ends when its data is in the cache, a forced one on the medium. A flush ends when all that was in the cache is there.
#[test]
fn writes_end_in_the_cache_and_flushes_on_the_medium() {
    let disk = full();
    let cached = disk.interface.command_ns + disk.interface.time(8 * SECTOR, Way::ToDisk);
    let forced = Request { fua: true, ..request(100 * MS, Write, 300, 8) };
    let (report, latencies) = run_script(
        disk.clone(),
        vec![request(0, Write, 100, 8), Request::new(0, Flush, 0, 0), forced, Request::new(200 * MS, Flush, 0, 0)],
    );
    assert_eq!(latencies[0], cached);
    // The write's access begins when it is in the cache, and sector 100 comes by at 2.5 ms.
    assert_eq!(latencies[1], 2_700_000);
    // 100 ms are ten revolutions: sector 300 comes by after 7.5 ms.
    assert_eq!(latencies[2], 7_700_000);
    assert_eq!(latencies[3], disk.interface.command_ns, "nothing is in the cache");
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.destages, counts.media_write_bytes), (1, 16 * SECTOR));
}

/// Data in the cache serves reads, and a write of what is there is no second one on the medium.
#[test]
fn the_cache_serves_reads_and_joins_writes() {
    let disk = full();
    // All four come before the first access has reached sector 100 of the track, at 2.5 ms.
    let requests = vec![
        request(0, Write, 100, 8),
        request(300_000, Write, 700, 8),
        request(600_000, Write, 704, 8),
        request(900_000, Read, 700, 12),
    ];
    let (report, latencies) = run_script(disk.clone(), requests);
    assert_eq!(latencies[3], disk.interface.command_ns + disk.interface.time(12 * SECTOR, Way::ToHost));
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.overwritten_sectors, counts.media_write_bytes), (4, 20 * SECTOR));
    assert_eq!((counts.read_hits, counts.destages), (1, 2));
}

/// A write larger than the cache enters it as it is written: it ends when no more than a cache is left.
#[test]
fn a_write_larger_than_the_cache_ends() {
    let mut disk = full();
    disk.write_cache.bytes = 100 * SECTOR;
    let (report, latencies) = run_script(disk, vec![request(0, Write, 0, 1_600)]);
    // Four tracks take 44 ms at least, and all but the last 100 sectors must be written before it ends.
    assert!(latencies[0] > 35 * MS && latencies[0] < 90 * MS * 10, "{latencies:?}");
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.media_write_bytes, counts.writes_that_waited), (1_600 * SECTOR, 1));
}

/// The spindle stops after 1 s of idling. The read at 5 s waits 2 s for it.
#[test]
fn standby_and_spin_up() {
    let mut disk = plain();
    disk.standby.after_ns = Some(1_000 * MS);
    let (report, latencies) = run_script(disk, vec![request(0, Read, 0, 4), request(5_000 * MS, Read, 4, 4)]);
    // 7 s are 700 revolutions: sector 4 comes by after 0.1 ms, and passes with the next three in 0.1 ms.
    assert_eq!(latencies, [100_000, 2_000_200_000]);
    let seconds = |state| state_s(&report, state);
    close(seconds("spindle_standby"), 5.0 - 1.0001, 1e-12);
    close(seconds("spindle_spin_up"), 2.0, 1e-12);
    close(seconds("arm_standby"), 7.0 - 1.0001, 1e-12);
    close(seconds("electronics_standby"), 5.0 - 1.0001, 1e-12);
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.spin_downs, counts.spin_ups), (1, 1));
    // Of the spindle: 3 W for 2 s, 0.5 W for 1.0001 s and 0.0002 s.
    close(sections(&report).energy_j.components[0].1, 6.0 + 0.5 * 1.0003, 1e-9);
}

/// The timer of standby runs from the start, before any request has come: the spindle stands from 1 s to the read at 5 s.
#[test]
fn standby_before_the_first_request() {
    let mut disk = plain();
    disk.standby.after_ns = Some(1_000 * MS);
    let (report, latencies) = run_script(disk, vec![request(5_000 * MS, Read, 0, 4)]);
    // As above, but that the heads are on the first track: its sectors begin to pass at 7 s and end at 7.0001 s.
    assert_eq!(latencies, [2_000_100_000]);
    close(state_s(&report, "spindle_standby"), 4.0, 1e-12);
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.spin_downs, counts.spin_ups), (1, 1));
    close(sections(&report).energy_j.components[0].1, 6.0 + 0.5 * 1.0001, 1e-9);
}

/// A trim takes its command, changes nothing, and the report says so.
#[test]
fn a_trim_changes_nothing() {
    let disk = full();
    let (report, latencies) = run_script(disk.clone(), vec![request(0, Trim, 0, 800)]);
    assert_eq!(latencies, [disk.interface.command_ns]);
    assert_eq!(sections(&report).hdd.counts.accesses, 0);
    assert!(report.warnings.iter().any(|warning| warning.contains("trims: 1")), "{:?}", report.warnings);
}
