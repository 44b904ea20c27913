//! `deadline` of Linux 2.6.32: orders worked out from block/deadline-iosched.c by hand.

use crate::host::desk::{MS, order, play};

const DEADLINE: &[&str] = &["scheduler=deadline"];

fn with(set: &str, script: &str) -> String {
    order(&["scheduler=deadline", set], script)
}

/// A batch goes upwards from its first request; what lies below begins the next batch, which takes the oldest.
#[test]
fn a_batch_goes_upwards_and_the_next_one_begins_with_the_oldest() {
    assert_eq!(order(DEADLINE, "0 R500; 0.5 R900 R100 R700 R300"), "R500 R900 R100 R300 R700");
}

#[test]
fn a_batch_is_over_after_fifo_batch_requests() {
    assert_eq!(with("scheduler.deadline.fifo_batch=2", "0 R0; 0.5 R100 R200 R300 W50"), "R0 R100 R200 R300 W50");
    assert_eq!(with("scheduler.deadline.fifo_batch=1", "0 R0; 0.5 R900 R100"), "R0 R900 R100");
}

#[test]
fn reads_go_before_writes() {
    assert_eq!(order(DEADLINE, "0 R0; 0.5 W100 R200"), "R0 R200 W100");
}

/// Reads are chosen twice while writes wait; the third batch writes.
#[test]
fn writes_wait_for_two_batches_of_reads() {
    let script = "0 R0; 0.5 W500 R100 R90; 1.5 R80; 2.5 R70; 3.5 R60";
    assert_eq!(with("scheduler.deadline.fifo_batch=1", script), "R0 R100 R90 W500 R80 R70 R60");
}

#[test]
fn writes_starved_is_counted_only_while_writes_wait() {
    let script = "0 R100 R90 R80 R70; 2.5 W500; 3.5 R60 R50 R40";
    assert_eq!(with("scheduler.deadline.fifo_batch=1", script), "R100 R90 R80 R70 R60 W500 R50 R40");
}

/// R600 and R700 are a batch, which R100 does not cut short. The next batch begins at 3 ms: with R100 if that has expired, else
/// with R800, above the last request. R100 came in jiffy 0; with 2 jiffies it has expired in jiffy 3, with 3 in jiffy 4.
#[test]
fn an_expired_request_begins_the_next_batch() {
    let script = "0 R500; 0.5 R600 R100 R700 R800 R900";
    let sets = |expire: &'static str| ["scheduler=deadline", "scheduler.deadline.fifo_batch=2", expire];
    let expired = play(&sets("scheduler.deadline.read_expire_ms=2"), script);
    assert_eq!((expired.order.as_str(), expired.figures.counters.expired), ("R500 R600 R700 R100 R800 R900", 2));
    let not_yet = play(&sets("scheduler.deadline.read_expire_ms=3"), script);
    assert_eq!((not_yet.order.as_str(), not_yet.figures.counters.expired), ("R500 R600 R700 R800 R900 R100", 1));
}

/// R100 grows at its front by 20 sectors, and then comes before R90.
#[test]
fn a_front_merge_moves_a_request_down() {
    let script = "0 R0; 0.5 R50 R100 R90+1 R80+20";
    assert_eq!(order(DEADLINE, script), "R0 R50 R80+28 R90+1");
    assert_eq!(with("scheduler.deadline.front_merges=0", script), "R0 R50 R80+20 R90+1 R100");
}

/// The request that was to come next takes in its neighbour, and is still the next.
#[test]
fn a_request_joined_into_the_next_one_leaves_the_batch_whole() {
    assert_eq!(order(DEADLINE, "0 R0; 0.5 R100 R200; 1.5 R208; 1.6 R216+16 R300"), "R0 R100 R200+32 R300");
}

/// Of two requests that become one, the earlier deadline and its place by age stay: R116 came before R90, R100 after it. Deadlines of
/// one jiffy are equal: then the request keeps its place that takes in the other one.
#[test]
fn a_joined_request_has_the_earlier_deadline() {
    let first = "0 R500 R510 R520 R530";
    assert_eq!(
        order(DEADLINE, &format!("{first}; 0.1 R116; 1.2 R90; 2.3 R100; 2.4 R108")),
        "R500 R510 R520 R530 R100+24 R90"
    );
    assert_eq!(
        order(DEADLINE, &format!("{first}; 2.1 R116; 2.2 R90; 2.3 R100; 2.4 R108")),
        "R500 R510 R520 R530 R90 R100+24"
    );
}

/// deadline_add_rq_rb: of two reads of sector 100 the older goes to the driver at once, before R50, which would be the next. R300 is above
/// it and goes on with its batch. The reads of one sector are not joined, and neither is what begins behind the first one.
#[test]
fn of_two_requests_with_one_first_sector_the_older_goes_at_once() {
    assert_eq!(order(DEADLINE, "0 R0; 0.5 R50 R100 R300; 0.6 R100+4"), "R0 R100 R300 R50 R100+4");
    assert_eq!(order(DEADLINE, "0 R0; 0.5 R100 R300; 0.6 R100 R108"), "R0 R100 R300 R100+16");
}

/// HZ / 2 and 5 HZ, 2, 16.
#[test]
fn the_constants_are_those_of_linux_2_6_32() {
    let config = crate::host::desk::config(1, DEADLINE);
    let values = &config.host.as_ref().expect("a host").scheduler.parameters;
    let expected = [
        ("fifo_batch", 16.0),
        ("front_merges", 1.0),
        ("read_expire_ms", 500.0),
        ("write_expire_ms", 5_000.0),
        ("writes_starved", 2.0),
    ];
    assert!(values.iter().map(|(name, &value)| (name.as_str(), value)).eq(expected), "{values:?}");
}

/// A write below a stream of reads that never ends is read past for two batches at a time, and no longer.
#[test]
fn a_stream_of_reads_does_not_starve_a_write() {
    let mut script = "0 R100000 W0".to_string();
    for at in 1..200 {
        script += &format!("; {at} R{}", 100_000 + at * 8);
    }
    let played = play(DEADLINE, &script);
    let write = played.times.iter().position(|(_, request)| request == "W0").expect("the write");
    assert!(write <= 2 * 16 + 16, "it is number {write}");
    assert!(played.figures.kinds[1].queue.summary().max <= Some(50 * MS));
}

/// The kernel knows two directions: a trim is a write.
#[test]
fn a_trim_goes_with_the_writes() {
    assert_eq!(order(DEADLINE, "0 R0; 0.5 T100 T108 R200 W50"), "R0 R200 T100 T108 W50");
}

/// deadline_move_request: the next request of a batch is chosen when the last one leaves. R200 comes after that.
#[test]
fn a_request_that_comes_late_is_not_the_next_of_its_batch() {
    assert_eq!(order(DEADLINE, "0 R50; 0.5 R100 R300; 1.5 R200"), "R50 R100 R300 R200");
    assert_eq!(order(DEADLINE, "0 R50; 0.5 R100 R300 R200"), "R50 R100 R200 R300");
}

/// R192 goes in front of the request that comes next, or in front of the first one of the next batch.
#[test]
fn a_front_merge_goes_into_the_next_request_and_into_the_next_batch() {
    assert_eq!(order(DEADLINE, "0 R0; 0.5 R100 R200; 1.5 R192"), "R0 R100 R192+16");
    assert_eq!(with("scheduler.deadline.fifo_batch=1", "0 R0; 0.5 R300 R200 R100; 1.5 R192"), "R0 R300 R192+16 R100");
}

/// Writes have deadlines, too. W100, of jiffy 0, has expired at 2 ms with 1 jiffy, and has not with 2.
#[test]
fn an_expired_write_begins_the_next_batch() {
    let sets = |expire: &'static str| ["scheduler=deadline", "scheduler.deadline.fifo_batch=1", expire];
    let script = "0 W400; 0.5 W500 W100 W600";
    assert_eq!(order(&sets("scheduler.deadline.write_expire_ms=1"), script), "W400 W500 W100 W600");
    assert_eq!(order(&sets("scheduler.deadline.write_expire_ms=2"), script), "W400 W500 W600 W100");
}

/// A write that has expired waits for its turn: reads are passed over after two batches, not before.
#[test]
fn an_expired_write_does_not_end_the_turn_of_the_reads() {
    let script = "0 R0; 0.5 W500 R100 R90 R80";
    let sets = ["scheduler=deadline", "scheduler.deadline.fifo_batch=1", "scheduler.deadline.write_expire_ms=0.1"];
    assert_eq!(order(&sets, script), "R0 R100 R90 W500 R80");
}
