//! Power cuts of drives whose pages are programmed row by row: a cut during a row's program tears all its pages.

use super::{
    BUFFER, CAPACITORS, all_schemes, goes_on, in_turn, nothing_is_lost_at_any_instant, nothing_is_lost_at_random,
};
use crate::common::{Script, load, write};
use crate::contracts::schemes::{ROWS, Scheme, schemes, with_rows};
use flashwatt::crash::{Powered, recover};
use flashwatt_base::rng::Rng;

/// A write buffer with room for a row of each die.
const ROOM: &str = "write_buffer.bytes=294912";
/// A write buffer with room for two rows, which are written one after the other.
const TWO_ROWS: [&str; 2] = ["write_buffer.bytes=98304", "device.cells.stripe=\"row\""];

/// Each layer with rows, with each of its options.
fn row_schemes() -> Vec<Scheme> {
    with_rows(&in_turn(&all_schemes()))
}

#[test]
fn every_instant_without_a_buffer() {
    nothing_is_lost_at_any_instant(&row_schemes(), &[]);
}

#[test]
fn every_instant_with_a_volatile_buffer() {
    let sets = [&BUFFER[..], &[ROOM]].concat();
    nothing_is_lost_at_any_instant(&row_schemes(), &sets);
    let sets = [&BUFFER[..], &TWO_ROWS].concat();
    nothing_is_lost_at_any_instant(&row_schemes(), &sets);
}

#[test]
fn every_instant_with_capacitors() {
    let sets = [&CAPACITORS[..], &[ROOM]].concat();
    nothing_is_lost_at_any_instant(&row_schemes(), &sets);
}

#[test]
fn random_cuts_without_a_buffer_and_during_recovery() {
    nothing_is_lost_at_random(&with_rows(&in_turn(schemes())), &[]);
}

#[test]
fn random_cuts_with_a_volatile_buffer_and_during_recovery() {
    let sets = [&BUFFER[..], &TWO_ROWS].concat();
    nothing_is_lost_at_random(&row_schemes(), &sets);
}

#[test]
fn random_cuts_with_capacitors_and_during_recovery() {
    let sets = [&CAPACITORS[..], &TWO_ROWS].concat();
    nothing_is_lost_at_random(&row_schemes(), &sets);
}

/// What has moved in is lost until the row is programmed, and then all of it is torn; after that all of it is there.
#[test]
fn a_row_is_torn_as_a_whole() {
    let sets = [&ROWS[..], &["device.channels=1", "device.ways=1", "device.blocks_per_plane=16", "device.op_ratio=1"]];
    let sets = [&sets.concat()[..], &["device.timing.page_transfer_ns=3000", "device.timing.command_ns=400"]].concat();
    let config = load("device.preset = \"limit\"\nrun.precondition = \"empty\"", &sets);
    let script = Script::new(&[write(0, 3, 5), write(100_000_000, 60, 1)]);
    let mut powered = Powered::new(&config, script, &mut |_| true).expect("its power can be cut");
    let padded = 400_009 + 7 * 3_400; // the pages of the host have moved in before
    for (at, torn, kept) in
        [(0, 0, 0), (padded - 1, 0, 0), (padded, 12, 0), (padded + 1_068_502, 12, 0), (padded + 1_068_503, 0, 5)]
    {
        powered.advance(at).expect("it goes on");
        let remains = powered.cut();
        let (_, recovered) = recover(&remains).expect("it comes back");
        let written = remains.readable().count();
        assert_eq!((recovered.lost, remains.torn.len(), written), (0, torn, kept), "{at}: {recovered:?}");
        goes_on(&config, &remains, &mut Rng::new(at));
    }
}
