//! `none`: requests go to the device as they come.

use crate::host::desk::{MS, order, play, play_on};

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

/// Processes wait for tags in one line (blk_mq_get_tag): a write that nobody waits for has its turn before a read that came
/// later, and process 2, let in with w0, waits with w8 behind process 3.
#[test]
fn places_of_both_classes_go_in_the_order_of_waiting() {
    assert_eq!(order(NONE, "0 R800/1 w0/2 R8/3"), "R800/1 w0/2 R8/3");
    assert_eq!(order(NONE, "0 R800/1 w0/2 w8/2 R8/3 R16/3 w400/4"), "R800/1 w0/2 R8/3 w400/4 w8/2 R16/3");
    assert_eq!(order(NONE, "0 R800/1 w0/2 R8/3; 0.5 w400/4 R400/5"), "R800/1 w0/2 R8/3 w400/4 R400/5");
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

/// Requests to a device that takes four at a time.
fn four(plug: &'static str, more: &[&'static str], script: &str) -> String {
    play_on(4, MS, &[&["scheduler=none", plug], more].concat(), script).order
}

/// The device takes two requests, and the third waits for the end of the first.
#[test]
fn as_many_requests_go_at_once_as_the_device_takes() {
    let played = play_on(2, MS, NONE, "0 R0 R8/1; 0.5 R16/2 R24/3");
    let at: Vec<_> = played.times.iter().map(|(at, text)| (at / MS, text.as_str())).collect();
    assert_eq!(at, [(0, "R0"), (0, "R8/1"), (1, "R16/2"), (1, "R24/3")]);
}

/// A piece that waits for a place is no request yet, and is not joined.
#[test]
fn pieces_that_wait_for_a_place_are_not_merged() {
    assert_eq!(order(NONE, "0 R800/1 R0/2 R8/3 R16/3"), "R800/1 R0/2 R8/3 R16/3");
}

/// The pieces of a long request wait one by one: the other process comes between the second and the third.
#[test]
fn the_pieces_of_a_long_request_wait_one_by_one() {
    let sets = &["scheduler=none", "max_request_bytes=8192"];
    assert_eq!(order(sets, "0 R0+40/1 R800/2"), "R0+16/1 R16+16/1 R800/2 R32/1");
}

/// blk_attempt_plug_merge: the newest plugged request grows at both ends; an older one does not grow.
#[test]
fn only_the_newest_plugged_request_grows() {
    assert_eq!(four("plug_requests=32", &[], "0 w100 w92"), "w92+16");
    assert_eq!(four("plug_requests=32", &[], "0 w100 w200 w108"), "w100 w200 w108");
}

/// A plug belongs to a process.
#[test]
fn plugged_requests_of_two_processes_stay_apart() {
    assert_eq!(four("plug_requests=32", &[], "0 w100/1 w108/2"), "w100/1 w108/2");
}

/// With a plug of two the second request sends both off, and w108 finds nothing to join.
#[test]
fn a_plug_ends_by_its_count() {
    assert_eq!(four("plug_requests=2", &[], "0 w0 w100 w108"), "w0 w100 w108");
    assert_eq!(four("plug_requests=3", &[], "0 w0 w100 w108"), "w0 w100+16");
}

/// A process that waits for a request sends off what it has plugged.
#[test]
fn a_plug_ends_with_a_request_that_somebody_waits_for() {
    assert_eq!(four("plug_requests=32", &[], "0 w0 R500 w8"), "w0 R500 w8");
    assert_eq!(four("plug_requests=32", &[], "0 w0 w8 R500"), "w0+16 R500");
}

#[test]
fn a_plugged_request_is_not_longer_than_the_device_may_get() {
    assert_eq!(four("plug_requests=32", &["max_request_bytes=8192"], "0 w0 w8 w16"), "w0+16 w16");
}

/// Forced writes, trims, and writes of two priorities are not merged.
#[test]
fn some_plugged_requests_stay_apart() {
    assert_eq!(four("plug_requests=32", &[], "0 w0! w8!"), "w0! w8!");
    assert_eq!(four("plug_requests=32", &[], "0 w0:rt w8"), "w0 w8");
    assert_eq!(four("plug_requests=32", &[], "0 w0 T8 T16"), "w0 T8 T16");
}

/// A flush passes whatever is queued. With `none` that is nothing: it waits for a place as others do.
#[test]
fn a_flush_waits_for_a_place() {
    assert_eq!(order(NONE, "0 W0/1 W8/2 F W16/3"), "W0/1 W8/2 F W16/3");
}
