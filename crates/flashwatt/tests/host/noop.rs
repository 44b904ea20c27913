//! `noop`: first come, first served. It has no rules but those of the queue that it stands on.

use crate::host::desk::{MS, order, play, play_on};

const NOOP: &[&str] = &["scheduler=noop"];

fn with(set: &str, script: &str) -> String {
    order(&["scheduler=noop", set], script)
}

#[test]
fn requests_go_in_the_order_of_their_coming() {
    assert_eq!(order(NOOP, "0 R800 W8 R400 T16 W200"), "R800 W8 R400 T16 W200");
}

/// The elevator's hash of ends: any queued request grows at its back.
#[test]
fn a_piece_joins_the_back_of_any_queued_request() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R900 R108"), "R0 R100+16 R900");
}

/// `last_merge`: only the newest request grows at its front.
#[test]
fn a_piece_joins_the_front_of_the_newest_request_only() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 R100 R92"), "R0 R900 R92+16");
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R900 R92"), "R0 R100 R900 R92");
}

/// A request that has grown is the newest: R84 joins its front. R900 came later, and does not grow at its front any more.
#[test]
fn a_request_that_has_grown_is_the_newest_one() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R900 R108 R92"), "R0 R92+24 R900");
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R900 R108 R892"), "R0 R100+16 R900 R892");
}

/// Touching requests stay apart, though R108 has filled the gap between them; each of them goes on growing.
#[test]
fn two_queued_requests_are_not_joined() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R116 R300 R108 R124"), "R0 R100+16 R116+16 R300");
}

/// R92 ends where the newest request begins, and begins where an older one ends: it joins the older one.
#[test]
fn a_piece_between_two_requests_joins_the_lower_one() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R84 R100 R92"), "R0 R84+16 R100");
    assert_eq!(order(NOOP, "0 R0; 0.5 R84 R900 R92 R892"), "R0 R84+16 R900 R892");
}

#[test]
fn a_request_in_the_device_does_not_grow() {
    assert_eq!(order(NOOP, "0 R100; 0.5 R108 R116"), "R100 R108+16");
}

#[test]
fn merging_stops_at_the_longest_request() {
    assert_eq!(with("max_request_bytes=8192", "0 R0; 0.5 R100 R108 R116"), "R0 R100+16 R116");
    assert_eq!(with("merges=none", "0 R0; 0.5 R100 R108"), "R0 R100 R108");
}

/// W0+40 is split after 24 sectors. W40 joins the rest.
#[test]
fn a_long_request_is_split_and_its_rest_grows() {
    assert_eq!(with("max_request_bytes=12288", "0 W0+40 W40 W200"), "W0+24 W24+24 W200");
    assert_eq!(with("max_request_bytes=8192", "0 W0+40 R800"), "W0+16 W16+16 W32 R800");
}

/// Two places for each class, that of the request in the device included. R200 and w500 wait: R200 for the end of R0, w500 for that of
/// w300.
#[test]
fn each_class_has_places_of_its_own() {
    let script = "0 R0/1 R100/1 R200/1 w300/2 w400/2 w500/2";
    assert_eq!(with("nr_requests=2", script), "R0/1 R100/1 w300/2 w400/2 R200/1 w500/2");
}

/// Process 1 waits with R200, and R300 behind it. Let in, it goes to the end of the line, behind process 2.
#[test]
fn waiting_processes_take_turns() {
    let script = "0 R0/1 R100/1 R200/1 R300/1 R400/2";
    assert_eq!(with("nr_requests=2", script), "R0/1 R100/1 R200/1 R400/2 R300/1");
}

/// A piece that joins needs no place, though the queue is full.
#[test]
fn a_piece_joins_in_a_full_queue() {
    let played = play(&["scheduler=noop", "nr_requests=2"], "0 R0/1 R100/1 R108/2 R300/3");
    assert_eq!((played.order.as_str(), played.figures.blocked), ("R0/1 R100+16/1 R300/3", 1));
}

/// Linux 2.6.32: a request that nobody waits for plugs an empty queue, for 3 ms, until there are four, or until one comes that
/// somebody waits for.
#[test]
fn a_plug_gathers_writes() {
    let plugged = |script: &str| play(&["scheduler=noop", "plug_requests=4", "plug_ns=3000000"], script);
    assert_eq!(plugged("0 w100; 1 w92").times, [(3 * MS, "w92+16".to_string())]);
    assert_eq!(plugged("0 w100; 1 w200; 2 w300 w400 w408").times[0], (2 * MS, "w100".to_string()));
    assert_eq!(plugged("0 w100; 1 w200; 2 w300 w400 w408").order, "w100 w200 w300 w400+16");
    let by_read = plugged("0 w100; 1 R500");
    assert_eq!(by_read.times, [(MS, "w100".to_string()), (2 * MS, "R500".to_string())]);
}

/// A barrier of Linux 2.6.32 waits for all before it, and all behind it wait for it; a flush of today goes before the queue.
#[test]
fn a_flush_drains_or_passes() {
    let script = "0 W300 W100 W200 F W50 W40";
    let drained = play_on(2, MS, NOOP, script);
    assert_eq!(drained.order, "W300 W100 W200 F W50 W40");
    assert_eq!(drained.times.iter().map(|(at, _)| at / MS).collect::<Vec<_>>(), [0, 0, 1, 2, 3, 3]);
    assert_eq!(with("flush=pass", script), "W300 F W100 W200 W50 W40");
}

/// A forced write and a trim keep their place, and are not merged.
#[test]
fn forced_writes_and_trims_are_requests_of_their_own() {
    assert_eq!(order(NOOP, "0 R0; 0.5 W100 W200! W108 W208"), "R0 W100+16 W200! W208");
    assert_eq!(order(NOOP, "0 R0; 0.5 T100 T108 W116 R124"), "R0 T100 T108 W116 R124");
}
