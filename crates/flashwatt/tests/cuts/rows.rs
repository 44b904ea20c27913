//! Power cuts of drives whose pages are programmed row by row: a cut during a row's program tears all its pages.

use super::{
    BUFFER, CAPACITORS, all_schemes, goes_on, in_turn, nothing_is_lost_at_any_instant, nothing_is_lost_at_random,
};
use crate::common::tier::soak;
use crate::common::{Script, load, read, write};
use crate::contracts::schemes::{
    ROWS, SUSPENSION, Scheme, schemes, with_host_memory, with_passes, with_passes_and_slc, with_rows, with_slc,
    with_suspension,
};
use flashwatt::config::{Cuts, PowerCuts};
use flashwatt::crash::{Powered, crash, recover};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;

/// A write buffer with room for a row of each die.
const ROOM: &str = "write_buffer.bytes=294912";
/// A write buffer with room for two rows, which are written one after the other.
const TWO_ROWS: [&str; 2] = ["write_buffer.bytes=98304", "device.cells.stripe=\"row\""];

/// A single die.
const ONE_DIE: [&str; 6] = [
    "device.channels=1",
    "device.ways=1",
    "device.blocks_per_plane=32",
    "device.op_ratio=1",
    "device.timing.page_transfer_ns=3000",
    "device.timing.command_ns=400",
];

/// Layers with rows and their options: in `make test` every fourth, from the `first` on, in the soak all of them.
fn row_schemes(first: usize) -> Vec<Scheme> {
    some_of(&all_schemes(), first)
}

fn some_of(schemes: &[Scheme], first: usize) -> Vec<Scheme> {
    let (skipped, step) = if soak().is_some() { (0, 1) } else { (first, 4) };
    with_rows(&in_turn(schemes)).into_iter().skip(skipped).step_by(step).collect()
}

/// The same with a cache of blocks in SLC mode.
fn cache_schemes() -> Vec<Scheme> {
    with_slc(&in_turn(&all_schemes()))
}

/// A fold that is cut anywhere loses nothing, and a scan finds the mode of each block.
#[test]
fn every_instant_with_a_cache_of_slc_blocks() {
    nothing_is_lost_at_any_instant(&cache_schemes(), &[]);
    let sets = [&BUFFER[..], &TWO_ROWS].concat();
    nothing_is_lost_at_any_instant(&cache_schemes(), &sets);
}

#[test]
fn random_cuts_with_a_cache_of_slc_blocks() {
    nothing_is_lost_at_random(&with_slc(&in_turn(schemes())), &[]);
    let sets = [&CAPACITORS[..], &TWO_ROWS].concat();
    nothing_is_lost_at_random(&cache_schemes(), &sets);
}

#[test]
fn every_instant_without_a_buffer() {
    nothing_is_lost_at_any_instant(&row_schemes(0), &[]);
}

#[test]
fn every_instant_with_a_volatile_buffer() {
    let sets = [&BUFFER[..], &[ROOM]].concat();
    nothing_is_lost_at_any_instant(&row_schemes(1), &sets);
    let sets = [&BUFFER[..], &TWO_ROWS].concat();
    nothing_is_lost_at_any_instant(&row_schemes(2), &sets);
}

#[test]
fn every_instant_with_capacitors() {
    let sets = [&CAPACITORS[..], &[ROOM]].concat();
    nothing_is_lost_at_any_instant(&row_schemes(3), &sets);
}

#[test]
fn random_cuts_without_a_buffer_and_during_recovery() {
    nothing_is_lost_at_random(&some_of(schemes(), 1), &[]);
}

#[test]
fn random_cuts_with_a_volatile_buffer_and_during_recovery() {
    let sets = [&BUFFER[..], &TWO_ROWS].concat();
    nothing_is_lost_at_random(&row_schemes(0), &sets);
}

#[test]
fn random_cuts_with_capacitors_and_during_recovery() {
    let sets = [&CAPACITORS[..], &TWO_ROWS].concat();
    nothing_is_lost_at_random(&row_schemes(1), &sets);
}

/// Schemes with rows of two passes, every seventh in `make test`.
fn pass_schemes(first: usize) -> Vec<Scheme> {
    let all = [with_passes(&in_turn(&all_schemes())), with_passes_and_slc(&in_turn(&all_schemes()))].concat();
    let (skipped, step) = if soak().is_some() { (0, 1) } else { (first, 7) };
    all.into_iter().skip(skipped).step_by(step).collect()
}

#[test]
fn every_instant_with_two_passes() {
    nothing_is_lost_at_any_instant(&pass_schemes(0), &[]);
    nothing_is_lost_at_any_instant(&pass_schemes(1), &[&BUFFER[..], &["write_buffer.bytes=589824"]].concat());
    nothing_is_lost_at_any_instant(&pass_schemes(2), &SUSPENSION);
}

#[test]
fn random_cuts_with_two_passes_and_during_recovery() {
    nothing_is_lost_at_random(&pass_schemes(3), &[]);
    let sets = [&BUFFER[..], &["write_buffer.bytes=589824"], &SUSPENSION].concat();
    nothing_is_lost_at_random(&pass_schemes(4), &sets);
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

/// Each layer with rows, on a drive whose pages are programmed one by one and suspended.
fn suspended_pages() -> Vec<Scheme> {
    with_suspension(&in_turn(&all_schemes()))
}

#[test]
fn every_instant_with_suspended_pages() {
    nothing_is_lost_at_any_instant(&suspended_pages(), &[]);
    nothing_is_lost_at_any_instant(&suspended_pages(), &CAPACITORS);
}

#[test]
fn random_cuts_with_suspended_pages_and_during_recovery() {
    nothing_is_lost_at_random(&suspended_pages(), &[]);
    nothing_is_lost_at_random(&suspended_pages(), &BUFFER);
}

/// Writes of parts of pages look their entries up before they are planned. What is cached in the host's memory is lost with the power.
#[test]
fn every_instant_with_a_map_in_the_hosts_memory() {
    let schemes = with_host_memory(&[in_turn(&all_schemes()), row_schemes(1)].concat());
    nothing_is_lost_at_any_instant(&schemes, &["device.host_memory.read_ns=90001"]);
}

#[test]
fn every_instant_with_suspension() {
    nothing_is_lost_at_any_instant(&row_schemes(2), &SUSPENSION);
}

#[test]
fn every_instant_with_suspension_and_capacitors() {
    let sets = [&CAPACITORS[..], &[ROOM], &SUSPENSION].concat();
    nothing_is_lost_at_any_instant(&row_schemes(3), &sets);
}

#[test]
fn random_cuts_with_suspension_and_during_recovery() {
    let sets = [&BUFFER[..], &TWO_ROWS, &SUSPENSION].concat();
    nothing_is_lost_at_random(&row_schemes(0), &sets);
}

/// A row whose program a read suspends, on one die: the read comes at 2,500,000 ns, the array has wound down 20,011 ns after that, and has
/// read the page and goes on 43,411 ns later. It ends at 3,182,732 ns. Cuts at these times: the torn pages, and what is left to do for
/// capacitors, if the drive has any.
fn cuts_of_a_suspended_row(more: &[&str]) -> Vec<(usize, Option<Nanos>)> {
    let sets = [&ROWS[..], &ONE_DIE, &SUSPENSION, more].concat();
    let config = load("device.preset = \"limit\"\nrun.precondition = \"empty\"", &sets);
    let requests = [write(0, 0, 12), write(2_000_000, 24, 12), read(2_500_000, 3, 1), write(100_000_000, 60, 1)];
    let mut powered = Powered::new(&config, Script::new(&requests), &mut |_| true).expect("its power can be cut");
    [2_510_000, 2_540_000, 2_570_000, 3_182_731, 3_182_732]
        .map(|at| {
            powered.advance(at).expect("it goes on");
            let remains = powered.cut();
            let (_, recovered) = recover(&remains).expect("it comes back");
            assert_eq!(recovered.lost, 0, "{at}: {recovered:?}");
            goes_on(&config, &remains, &mut Rng::new(at));
            (remains.torn.len(), remains.dump().expect("it ends").map(|dump| dump.dump_ns))
        })
        .to_vec()
}

/// A cut tears a row while it is suspended, as it does before and after.
#[test]
fn a_suspended_row_is_torn() {
    let torn: Vec<usize> = cuts_of_a_suspended_row(&[]).into_iter().map(|(torn, _)| torn).collect();
    assert_eq!(torn, [12, 12, 12, 12, 0]);
}

/// Capacitors end what is suspended: the array winds down, goes on, and takes the time that was left. The read is given up.
#[test]
fn capacitors_end_a_suspended_row() {
    let sets = [&CAPACITORS[..], &TWO_ROWS, &["write_buffer.destage_fraction=0"]].concat();
    let left = 10_007 + 2_040_800 + 1_068_503 - 2_500_000; // the array began at 2,040,800 ns
    let after: [Nanos; 5] = [10_011 + left, left, 3_182_732 - 2_570_000, 1, 0];
    assert_eq!(cuts_of_a_suspended_row(&sets), after.map(|ns| (0, Some(ns))));
}

/// What capacitors must be able to do: each die has just been told to wind down an erase for the last time that it may be, and none of the
/// resumptions before that has been done.
#[test]
fn capacitors_are_sized_for_suspended_erases() {
    let full_ns = |more: &[&str]| {
        let sets = [&ROWS[..], &ONE_DIE, &CAPACITORS, &TWO_ROWS, more].concat();
        let config = load("device.preset = \"limit\"\nworkload.uniform.requests = 3", &sets);
        let options = PowerCuts { cuts: Cuts::At(vec![0]), ..PowerCuts::default() };
        let found = crash(&config, &options, &mut |_| true).expect("its power can be cut");
        found.capacitors.expect("it has capacitors").full.dump_ns
    };
    let (plain, command) = (full_ns(&[]), 400);
    assert_eq!(full_ns(&SUSPENSION), plain - command + 50_021 + 64 * 10_007);
    let twice = [&SUSPENSION[..], &["device.suspend.max=2"]].concat();
    assert_eq!(full_ns(&twice), plain - command + 50_021 + 2 * 10_007);
}
