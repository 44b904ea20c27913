//! Merging, splitting, places in the queue, plugging and flushes, whatever the scheduler.

use crate::host::desk::{MS, order, play, play_on};

#[test]
fn everyone_merged_into_a_request_ends_with_it() {
    let played = play(&["scheduler=deadline"], "0 R0; 0.5 R100/1 R108/2 R92/3");
    assert_eq!(played.order, "R0 R92+24/1");
    let ends: Vec<_> = played.ends.iter().map(|(at, request)| (at / MS, request.as_str())).collect();
    assert_eq!(ends, [(1, "R0"), (2, "R100/1"), (2, "R108/2"), (2, "R92/3")]);
    assert_eq!((played.figures.back_merges, played.figures.front_merges), (1, 1));
}

#[test]
fn a_piece_that_fills_a_gap_joins_both_neighbours() {
    let played = play(&["scheduler=deadline"], "0 R0; 0.5 R100 R116 R108");
    assert_eq!((played.order.as_str(), played.figures.joined), ("R0 R100+24", 1));
}

#[test]
fn a_request_is_not_longer_than_the_device_may_get() {
    assert_eq!(order(&["scheduler=deadline", "max_request_bytes=8192"], "0 R0; 0.5 R100 R108 R116"), "R0 R100+16 R116");
    let played = play(&["scheduler=noop", "max_request_bytes=8192"], "0 W0+40");
    assert_eq!(played.order, "W0+16 W16+16 W32");
    assert_eq!(played.ends, [(3 * MS, "W0+40".to_string())]);
}

#[test]
fn reads_writes_trims_and_forced_writes_stay_apart() {
    assert_eq!(
        order(&["scheduler=noop"], "0 R0; 0.5 W100 R108 T116 T124 W200! W208"),
        "R0 W100 R108 T116 T124 W200! W208"
    );
}

/// `nr_requests` of Linux 2.6.32 bounds each class; a waiting process is let in as a place becomes free.
#[test]
fn a_process_waits_for_a_place_in_the_queue() {
    let played = play(&["scheduler=noop", "nr_requests=2"], "0 R0/1 R100/4 R200/5 R300/2 w400/3");
    assert_eq!(played.order, "R0/1 R100/4 w400/3 R200/5 R300/2");
    assert_eq!(played.figures.blocked, 2);
    let slat = played.figures.kinds[0].slat.bars();
    assert_eq!((slat.count, slat.upper_ns[0]), (vec![2, 1, 1], 0));
}

/// Four places, three of them for writes that nobody waits for (`kyber`). w3200 began to wait first, and there is no place for a
/// fourth write until w800 has ended at 2 ms; R4000 gets the place that R0 leaves at 1 ms.
#[test]
fn a_process_whose_class_has_no_place_is_passed_over() {
    let script = "0 R0/1 w800/2 w1600/3 w2400/4 w3200/5 R4000/6";
    let played = play(&["scheduler=kyber", "nr_requests=4"], script);
    let longest_ms = |kind: usize| played.figures.kinds[kind].slat.summary().max.map(|ns| ns / MS);
    assert_eq!((longest_ms(0), longest_ms(1)), (Some(1), Some(2)));
}

/// Linux 2.6.32: a request that nobody waits for plugs an empty queue, for 3 ms or until there are four.
#[test]
fn a_plug_ends_by_time_by_count_and_by_a_request_that_somebody_waits_for() {
    let plug = &["scheduler=deadline", "plug_requests=4", "plug_ns=3000000"];
    assert_eq!(play(plug, "0 w100").times, [(3 * MS, "w100".to_string())]);
    assert_eq!(play(plug, "0 w100; 1 w200; 2 w300 w400; 2.5 w8").times[0], (2 * MS, "w100".to_string()));
    assert_eq!(play(plug, "0 w100; 1 R200").times[0], (MS, "R200".to_string()));
}

/// A plug that ends by time while the device is full: its requests go out when there is room, and time goes on until then.
#[test]
fn a_plug_ends_while_the_device_is_full() {
    let plug = &["scheduler=deadline", "plug_requests=4", "plug_ns=3000000"];
    let times = play_on(1, 10 * MS, plug, "0 R0; 1 w100").times;
    assert_eq!(times, [(0, "R0".to_string()), (10 * MS, "w100".to_string())]);
}

/// Linux 2.6.32: a flush is a barrier.
#[test]
fn a_draining_flush_waits_for_all_before_it_and_all_behind_it_wait() {
    let played = play_on(4, MS, &["scheduler=deadline", "queue_depth=2"], "0 W300 W100 W200 F W50 W400");
    assert_eq!(played.order, "W300 W100 W200 F W50 W400");
    let at: Vec<_> = played.times.iter().map(|(at, _)| at / MS).collect();
    assert_eq!(at, [0, 0, 1, 2, 3, 3]);
}

/// Today: a flush goes to the device before all queued requests.
#[test]
fn a_passing_flush_goes_first() {
    assert_eq!(order(&["scheduler=mq_deadline", "nr_requests=64"], "0 W300 W100 W200 F W50"), "W300 F W100 W200 W50");
}

#[test]
fn a_partition_begins_behind_its_offset() {
    assert_eq!(order(&["scheduler=noop", "partition_offset_sectors=63"], "0 R0 W8"), "R63 W71");
}
