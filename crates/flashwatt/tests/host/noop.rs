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

/// `last_merge`: the first request that came since that was empty grows at its front, and no other one. When it has left, the next
/// request that comes is tried: R600, and not R100, which was there before.
#[test]
fn a_piece_joins_the_front_of_the_first_request_only() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R900 R92"), "R0 R92+16 R900");
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 R100 R92"), "R0 R900 R100 R92");
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 R100; 1.5 R600 R700 R592 R92"), "R0 R900 R100 R592+16 R700 R92");
}

/// A request that has grown takes the place of the first one: R92 joins its front. R900 does not grow at its front any more.
#[test]
fn a_request_that_has_grown_is_tried_first() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 R100 R108 R92"), "R0 R900 R92+24");
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 R100 R108 R892"), "R0 R900 R100+16 R892");
}

/// R108 fills a gap. The two requests become one if they are neighbours in the list, in that order.
#[test]
fn neighbours_in_the_list_become_one() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R116 R300 R108 R124"), "R0 R100+32 R300");
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R300 R116 R108 R124"), "R0 R100+16 R300 R116+16");
    assert_eq!(order(NOOP, "0 R0; 0.5 R116 R100 R108"), "R0 R108+16 R100");
}

/// A piece that would make a request too long: that is not joined any more, at neither end (REQ_NOMERGE).
#[test]
fn a_request_for_which_a_piece_was_too_long_is_closed() {
    let most = "max_request_bytes=12288";
    assert_eq!(with(most, "0 R0; 0.5 R100+16 R116+16 R116+8 R92"), "R0 R100+16 R116+16 R116 R92");
    assert_eq!(with(most, "0 R0; 0.5 R100+16 R116+8"), "R0 R100+24");
}

/// elv_rqhash_find: of the requests that end at sector 108 the last one is taken, whatever its kind: the read hides the write.
#[test]
fn a_read_that_ends_at_a_sector_hides_a_write() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 W100 R100 W108"), "R0 R900 W100 R100 W108");
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 R100 W100 W108"), "R0 R900 R100 W100+16");
}

/// elv_rq_merge_ok: the priorities of two processes do not matter, and the request has the better one.
#[test]
fn priorities_do_not_hinder_a_merge() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R100/1:idle R108/2:rt"), "R0 R100+16/1");
}

/// __generic_unplug_device: a disk's queue that is neither empty nor plugged is not run for a request. It takes two at a time, and has room
/// for R200; R200 goes with the end of R0. Without rotating parts it goes at once. What comes to an empty queue goes at once, too.
#[test]
fn a_request_does_not_run_a_disk_s_queue_that_is_not_empty() {
    let at = |disk: &'static str, script: &str| {
        let sets = ["scheduler=anticipatory", "plug_requests=4", disk, "scheduler.anticipatory.antic_expire_ms=0"];
        play_on(2, MS, &sets, script).times.into_iter().map(|(at, _)| at as f64 / MS as f64).collect::<Vec<_>>()
    };
    let script = "0 R0; 0.1 w500; 0.2 R100 R200";
    assert_eq!(at("rotational=true", script)[..2], [0.0, 0.2]);
    assert_eq!(at("rotational=true", "0 w0 w500 w900 w1300; 0.5 R200")[..3], [0.0, 0.0, 1.0]);
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
    let script = "0 R0/1 R100/2 R200/3 w300/4 w400/5 w500/6";
    assert_eq!(with("nr_requests=2", script), "R0/1 R100/2 w300/4 w400/5 R200/3 w500/6");
}

/// get_request: process 1 fills the four places and takes two more, half as many again. It waits with R600, and process 2 with R700.
/// The first place of four becomes free with the third end: process 1 is woken first, fills the queue with R600, and goes on with R650.
#[test]
fn a_process_that_fills_the_queue_takes_a_batch_of_places() {
    let script = "0 R0/1 R100/1 R200/1 R300/1 R400/1 R500/1 R600/1 R700/2; 2.5 R650/1";
    assert_eq!(with("nr_requests=4", script), "R0/1 R100/1 R200/1 R300/1 R400/1 R500/1 R600/1 R650/1 R700/2");
}

/// A batch has 32 places, or ends after 20 ms (BLK_BATCH_REQ, BLK_BATCH_TIME). Process 1 fills the 100 places, the last one of which counts, and
/// takes 31 more. Process 2, which comes after that, is woken when fewer than 100 are there; process 1 began to wait first.
#[test]
fn a_batch_of_places_has_thirty_two() {
    let burst = |from: u64, count: u64, process: u32| {
        (from..from + count).map(|at| format!(" R{}/{process}", at * 100)).collect::<String>()
    };
    let script = format!("0{}{}", burst(0, 140, 1), burst(1_000, 1, 2));
    let played = play(&["scheduler=noop", "nr_requests=100"], &script);
    assert_eq!(played.figures.blocked, 9 + 1);
    assert_eq!(played.figures.queued_max, 130);
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
