//! `mq-deadline` of Linux 6.1: orders worked out from block/mq-deadline.c by hand.

use crate::host::desk::{order, play};

const MQ: &[&str] = &["scheduler=mq_deadline", "nr_requests=64"];

#[test]
fn a_batch_goes_upwards_and_reads_go_first() {
    assert_eq!(order(MQ, "0 R500; 0.5 W600 R900 R100 R700"), "R500 R900 R100 R700 W600");
}

/// As in today's kernel (`elv_rb_add`). At 2.5 ms the newer one takes the place in memory that `R10` has left, before that of the older one.
#[test]
fn of_requests_that_begin_at_one_sector_the_older_goes_first() {
    assert_eq!(order(MQ, "0 R0 R10 R20 R30 R100+16; 2.5 R100"), "R0 R10 R20 R30 R100+16 R100");
}

/// Each direction keeps its own place: writes go on above the last write, where `deadline` of old takes the oldest.
#[test]
fn each_direction_goes_on_from_its_own_place() {
    let script = "0 W500; 0.5 W100 W900 W600 R50 R800";
    let set = |scheduler: &str, key: &str| format!("scheduler.{scheduler}.{key}=1");
    let with = |scheduler: &str| {
        let sets = [set(scheduler, "fifo_batch"), set(scheduler, "writes_starved"), "nr_requests=64".into()];
        order(&sets.each_ref().map(String::as_str), script)
    };
    assert_eq!(with("mq_deadline"), "W500 R50 W100 R800 W600 W900");
    assert_eq!(with("deadline"), "W500 R50 W100 R800 W900 W600");
}

#[test]
fn a_better_class_goes_first() {
    assert_eq!(order(MQ, "0 R0; 0.5 R100:idle R200 R300:rt R250:rt"), "R0 R300 R250 R200 R100");
}

/// A class waits while a request of a better one is in the device.
#[test]
fn a_class_waits_until_better_ones_have_ended() {
    let played = crate::host::desk::play_on(2, crate::host::desk::MS, MQ, "0 R0:rt R100");
    assert_eq!(played.times[1], (crate::host::desk::MS, "R100".to_string()));
}

#[test]
fn an_aged_request_goes_before_better_classes() {
    let sets = &["scheduler=mq_deadline", "nr_requests=64", "scheduler.mq_deadline.prio_aging_expire_ms=2"];
    let played = play(sets, "0 R0:rt; 0.5 R100 R200:rt R300:rt R400:rt R500:rt");
    assert_eq!(played.order, "R0 R200 R300 R100 R400 R500");
}

/// Two places. `w0` has the second one, `w100` waits, and the others behind it. At 1 ms `w100` gets the read's place, at 2 ms
/// `w200` that of `w0`; the device is full, so that `w208` joins `w200`, and needs no place.
#[test]
fn a_process_that_is_let_in_goes_on_with_pieces_that_join() {
    let sets = &["scheduler=mq_deadline", "nr_requests=2"];
    assert_eq!(order(sets, "0 R800/2 w0/1 w100/1 w200/1 w208/1"), "R800/2 w0/1 w100/1 w200+16/1");
}

/// `async_depth` is `nr_requests`.
#[test]
fn writes_may_have_all_places() {
    let played = play(&["scheduler=mq_deadline", "nr_requests=4"], "0 w0 w100 w200 w300");
    assert_eq!(played.figures.blocked, 0);
}

/// At 0.5 ms `W600` is alone and leaves the scheduler, though the device is full. It goes before the reads that come after it.
/// At 1 ms and later the device takes one request, and the scheduler gives the next: the oldest read, then a new batch.
#[test]
fn without_a_budget_a_request_leaves_the_scheduler_ahead_of_its_time() {
    let ahead = &["scheduler=mq_deadline", "nr_requests=64", "dispatch_budget=false"];
    assert_eq!(order(ahead, "0 R500; 0.5 W600 R900 R100 R700"), "R500 W600 R900 R100 R700");
    assert_eq!(order(ahead, "0 R0; 0.5 W600 W608 W616"), "R0 W600 W608+16");
    assert_eq!(order(MQ, "0 R0; 0.5 W600 W608 W616"), "R0 W600+24");
}

/// `W600` stands between scheduler and device from 0.5 ms to 1 ms, and counts as queued.
#[test]
fn a_request_taken_ahead_is_queued() {
    let played = play(&["scheduler=mq_deadline", "nr_requests=64", "dispatch_budget=false"], "0 R0; 0.5 W600");
    assert_eq!(played.figures.queued_ns, u128::from(crate::host::desk::MS / 2));
    assert_eq!(played.figures.withheld_ns, 0);
    assert_eq!(played.times[1], (crate::host::desk::MS, "W600".to_string()));
}

#[test]
fn a_budget_is_a_matter_of_schedulers_that_hold_requests() {
    let sets = ["device.preset=limit", "host.scheduler=none", "host.dispatch_budget=false"].map(String::from);
    let error = flashwatt::config::load("", "test", &sets).expect_err("an error").to_string();
    assert!(error.contains("host.dispatch_budget: has no effect"), "{error}");
}

fn with(sets: &[&'static str], script: &str) -> String {
    order(&[MQ, sets].concat(), script)
}

/// Reads are chosen twice while writes wait; the third batch writes.
#[test]
fn writes_wait_for_two_batches_of_reads() {
    let script = "0 R0; 0.5 W500 R100 R90; 1.5 R80; 2.5 R70";
    assert_eq!(with(&["scheduler.mq_deadline.fifo_batch=1"], script), "R0 R100 R90 W500 R80 R70");
}

/// R600 and R700 are a batch, which R100 does not cut short. At 3 ms R100 has expired, or has not.
#[test]
fn an_expired_request_begins_the_next_batch() {
    let script = "0 R500; 0.5 R600 R100 R700 R800 R900";
    let sets = |expire| ["scheduler.mq_deadline.fifo_batch=2", expire];
    let expired = with(&sets("scheduler.mq_deadline.read_expire_ms=2.5"), script);
    assert_eq!(expired, "R500 R600 R700 R100 R800 R900");
    let not_yet = with(&sets("scheduler.mq_deadline.read_expire_ms=2.6"), script);
    assert_eq!(not_yet, "R500 R600 R700 R800 R900 R100");
}

/// R100 grows at its front by 20 sectors, and then comes before R90.
#[test]
fn a_front_merge_moves_a_request_down() {
    let script = "0 R0; 0.5 R50 R100 R90+1 R80+20";
    assert_eq!(with(&[], script), "R0 R50 R80+28 R90+1");
    assert_eq!(with(&["scheduler.mq_deadline.front_merges=0"], script), "R0 R50 R80+20 R90+1 R100");
}

/// R192 goes in front of the first request of the next batch.
#[test]
fn a_front_merge_goes_into_the_next_batch() {
    let script = "0 R0; 0.5 R300 R200 R100; 1.5 R192";
    assert_eq!(with(&["scheduler.mq_deadline.fifo_batch=1"], script), "R0 R300 R192+16 R100");
}

/// dd_merged_requests: the request that takes in its neighbour takes over the earlier deadline and place.
#[test]
fn a_joined_request_has_the_earlier_deadline() {
    assert_eq!(with(&[], "0 R500; 0.1 R116; 0.2 R600; 0.3 R100; 0.4 R108"), "R500 R100+24 R600");
}

#[test]
fn trims_are_writes_and_are_not_merged() {
    assert_eq!(with(&[], "0 R0; 0.5 T100 T108 R200"), "R0 R200 T100 T108");
}

/// Requests of two classes are not merged.
#[test]
fn merging_stays_within_a_class() {
    assert_eq!(with(&[], "0 R0; 0.5 R100 R108:rt R116"), "R0 R108 R100 R116");
}

/// Requests that go up from the last one of their direction go on, though another batch came between.
#[test]
fn a_batch_of_the_other_direction_keeps_the_place() {
    let sets = &["scheduler.mq_deadline.fifo_batch=2", "scheduler.mq_deadline.writes_starved=1"];
    let script = "0 R100; 0.5 R200 R50 R300 R400 W900 W800 W950";
    assert_eq!(with(sets, script), "R100 R200 R300 W900 W950 R400 W800 R50");
}

/// The worst class waits for the end of the last request of the middle one.
#[test]
fn the_idle_class_waits_for_all_others() {
    let played = crate::host::desk::play_on(2, crate::host::desk::MS, MQ, "0 R0 R100:idle");
    assert_eq!(played.times[1], (crate::host::desk::MS, "R100".to_string()));
}

/// elv_merge: the first request that came since the last one left is tried at both ends, also with front_merges = 0; no later one is. A
/// piece that was too long for a request ends its growth: no later piece joins it at either end. The read that ends at 108 hides the write.
#[test]
fn a_piece_looks_for_a_request_as_elv_merge_does() {
    let no_front = "scheduler.mq_deadline.front_merges=0";
    assert_eq!(with(&[no_front], "0 R0; 0.5 R100 R900 R92"), "R0 R92+16 R900");
    assert_eq!(with(&[no_front], "0 R0; 0.5 R900 R100 R92"), "R0 R900 R100 R92");
    assert_eq!(with(&["max_request_bytes=12288"], "0 R0; 0.5 R100+16 R116+16 R92"), "R0 R100+16 R116+16 R92");
    assert_eq!(with(&[], "0 R0; 0.5 R900 W100 R100 W108"), "R0 R900 R100 W100 W108");
}
