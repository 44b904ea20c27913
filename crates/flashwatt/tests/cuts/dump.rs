//! What capacitors do at a cut, worked out by hand.

use crate::common::delays::{ERASE, P};
use crate::common::{self, PROBE_DRIVE, Script, load, write};
use flashwatt::config::{Cuts, PowerCuts};
use flashwatt::crash::{Dump, Powered, crash, recover};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;

/// The probe drive with two dies, each on a channel of its own, and a buffer of eight pages.
const SETS: [&str; 4] = [
    "device.channels=2",
    "write_buffer.bytes=32768",
    "write_buffer.idle_ns=1000000000",
    "write_buffer.protection=\"capacitors\"",
];

/// A cut of that drive at this time, after which nothing is lost. The buffer is written to flash from this share of it on.
/// Returns what that took, and the programs of the recovery.
fn cut_at(now: Nanos, fraction: &str, writes: &[Request]) -> (Dump, u64) {
    let last = write(1_000_000_000, 0, 1); // the run is not over before
    let script = Script::new(&[writes, &[last]].concat());
    let fraction = format!("write_buffer.destage_fraction={fraction}");
    let config = load(PROBE_DRIVE, &[&SETS[..], &[&fraction]].concat());
    let mut powered = Powered::new(&config, script, &mut |_| true).expect("its power can be cut");
    powered.advance(now).expect("it goes on");
    let remains = powered.cut();
    assert!(remains.torn.is_empty() && remains.half_erased.is_empty());
    let (cost, recovered) = recover(&remains).expect("it comes back");
    assert_eq!((recovered.lost, recovered.rolled_back), (0, 0), "{recovered:?}");
    (remains.dump().expect("it ends").expect("it has capacitors"), cost.programs)
}

/// A single dirty page is programmed at once.
#[test]
fn a_page_of_the_buffer_is_programmed() {
    let (dump, programs) = cut_at(100, "0.5", &[write(0, 3, 1)]);
    assert_eq!((dump.dump_pages, dump.dump_ns, programs), (1, P, 1));
    assert_eq!(dump.capacitance_f, 2.0 * dump.dump_energy_j / (3.3 * 3.3 - 2.7 * 2.7));
}

/// Programs under way end first. What they bring to flash needs no dump; what waits behind them does.
#[test]
fn programs_under_way_end_first() {
    let writes = [write(0, 3, 2), write(100_000, 3, 1)];
    let (dump, programs) = cut_at(50_000, "0", &writes);
    assert_eq!((dump.dump_pages, dump.dump_ns, programs), (0, P - 50_000, 0));
    let (dump, programs) = cut_at(400_000, "0", &writes);
    assert_eq!((dump.dump_pages, dump.dump_ns, programs), (1, P - 400_000 + P, 1));
    let (dump, programs) = cut_at(P + 1, "0", &writes);
    assert_eq!((dump.dump_pages, dump.dump_ns, programs), (0, P - 1, 0), "the last one began when those had ended");
}

/// At rest capacitors have nothing to do.
#[test]
fn nothing_to_do_takes_nothing() {
    assert_eq!(cut_at(10, "0.5", &[]), (Dump::default(), 0));
}

/// Of a full buffer of eight pages each die programs four, when its erase has ended.
#[test]
fn a_full_buffer_by_hand() {
    let config = load(PROBE_DRIVE, &[&SETS[..], &["workload.uniform.requests=3"]].concat());
    let options = PowerCuts { cuts: Cuts::At(vec![0]), ..PowerCuts::default() };
    let found = crash(&config, &options, &mut |_| true).expect("its power can be cut");
    let full = found.capacitors.expect("it has capacitors").full;
    assert_eq!((full.dump_pages, full.dump_ns), (8, common::delays::COMMAND + ERASE + 4 * P));
}

/// A full buffer takes four blocks of a die, more than the low watermark leaves free: the start state leaves these as well.
#[test]
fn a_drive_in_steady_state_has_room_for_the_dump() {
    let sets =
        [SETS[0], SETS[3], "write_buffer.bytes=262144", "device.blocks_per_plane=64", "run.precondition=\"steady\""];
    let config = load(PROBE_DRIVE, &sets);
    let mut powered = Powered::new(&config, Script::new(&[write(0, 3, 1)]), &mut |_| true).expect("it has room");
    assert!(powered.step().expect("it goes on"));
    let (_, recovered) = recover(&powered.cut()).expect("it comes back");
    assert_eq!(recovered.lost, 0);
}
