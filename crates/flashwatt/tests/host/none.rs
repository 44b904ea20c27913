//! `none`: requests go to the device as they come.

use crate::desk::{MS, order, play, play_on};

const NONE: &[&str] = &["scheduler=none"];

#[test]
fn requests_go_in_the_order_of_their_coming_and_are_not_merged() {
    assert_eq!(order(NONE, "0 R800 W8 W16 R400"), "R800 W8 W16 R400");
}

/// A process waits with one request at a time, so processes take turns.
#[test]
fn waiting_processes_take_turns() {
    assert_eq!(order(NONE, "0 R0/1 R8/1 R16/1 R24/1 R800/2 R808/2"), "R0/1 R8/1 R800/2 R16/1 R808/2 R24/1");
}

/// While the process is plugged, its newest request grows.
#[test]
fn plugged_writes_are_merged() {
    let played = play_on(2, MS, &["scheduler=none", "plug_requests=32"], "0 w0 w8 w16 w100");
    assert_eq!(played.order, "w0+24 w100");
    assert_eq!(played.figures.back_merges, 2);
    assert_eq!(play(&["scheduler=none", "plug_requests=32", "merges=none"], "0 w0 w8").order, "w0 w8");
}

/// The process waits with `w0` while the read is in the device. Let in, it goes on: `w8` and `w16` join `w0` and need no place.
/// `w100` needs one, and waits again. A read is not plugged: it has left before the next one comes.
#[test]
fn a_process_that_is_let_in_goes_on_with_pieces_that_join() {
    let sets = &["scheduler=none", "plug_requests=32"];
    assert_eq!(order(sets, "0 R800/2 w0/1 w8/1 w16/1 w100/1"), "R800/2 w0+24/1 w100/1");
    assert_eq!(order(sets, "0 R800/2 R0/1 R8/1"), "R800/2 R0/1 R8/1");
}
