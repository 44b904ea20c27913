//! The command to sleep.

use super::common::sections;
use crate::common::{assert_close, preset};
use flashwatt::Drive;
use flashwatt_core::connector::{Request, RequestKind};

/// A disk whose platters take 4 s to stand is woken 1 s after it was put to sleep: 3 s at the power of standby, then 2.5 s of spin-up.
/// Woken later, it waits for the spin-up alone.
#[test]
fn a_request_waits_until_the_platters_stand() {
    const SECOND: u64 = 1_000_000_000;
    for (at_ns, waits_ns) in [(SECOND, 5_500_000_000), (5 * SECOND, 2_500_000_000)] {
        let mut drive = Drive::new(&preset("laptop-7200", &["hdd.standby.spin_down_ns=4e9"])).expect("a drive");
        assert!(drive.sleep().expect("it goes on"), "a disk has a state to sleep in");
        drive.send(Request::new(at_ns, RequestKind::Read, 2 << 30, 4096)).expect("valid");
        let read = drive.advance(20 * SECOND).expect("it goes on");
        assert!((waits_ns..waits_ns + 40_000_000).contains(&(read[0].end_ns - at_ns)), "{read:?}");
        let report = drive.report();
        let times = &sections(&report).hdd.state_s.0;
        let spent = |state: &str| times.iter().find(|(name, _)| *name == state).expect("a state").1;
        let stands_s = (at_ns + waits_ns) as f64 / 1e9 - 2.5;
        assert!((spent("spindle_standby") - stands_s).abs() < 1e-3, "a command takes less than 1 ms: {times:?}");
        assert_close(spent("spindle_spin_up"), 2.5, "brought to speed once");
    }
}

/// The laptop disk turns for 1 s, writes what its cache holds, and sleeps. A read at 10 s waits 2.5 s for the spindle. What the
/// buffer holds is read without it.
#[test]
fn a_disk_sleeps_until_a_request_needs_it() {
    const SECOND: u64 = 1_000_000_000;
    let mut drive = Drive::new(&preset("laptop-7200", &[])).expect("a drive");
    let page = |kind, at, at_ns| Request::new(at_ns, kind, at, 4096);
    drive.send(page(RequestKind::Write, 1 << 30, 0)).expect("valid");
    let written = drive.advance(SECOND / 1000).expect("it goes on");
    assert_eq!(written.len(), 1, "the cache takes it");
    assert!(drive.sleep().expect("it goes on"), "a disk has a state to sleep in");
    drive.advance(SECOND).expect("it goes on");
    let before = drive.energy_j();
    drive.advance(10 * SECOND).expect("it goes on");
    assert_close(drive.energy_j() - before, 9.0 * 0.2, "asleep");
    drive.send(page(RequestKind::Read, 2 << 30, 10 * SECOND)).expect("valid");
    let read = drive.advance(13 * SECOND).expect("it goes on");
    assert!((2_500_000_000..2_540_000_000).contains(&(read[0].end_ns - 10 * SECOND)), "{read:?}");
    let report = drive.report();
    let counts = &sections(&report).hdd.counts;
    assert_eq!((counts.spin_downs, counts.spin_ups, counts.media_write_bytes), (1, 1, 4096));
}
