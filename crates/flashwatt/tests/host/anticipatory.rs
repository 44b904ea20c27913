//! `anticipatory` of Linux 2.6.32: orders worked out from block/as-iosched.c by hand.
//!
//! Every request takes 1 ms, and times are cut to whole ms, the jiffies of the kernel.

use std::fmt::Write;

use crate::host::desk::{MS, Played, letter, play, play_on, runs, time_ms};

fn on(depth: u32, parameters: &str, script: &str) -> Played {
    let own = parameters.split_whitespace().map(|set| format!("scheduler.anticipatory.{set}"));
    let sets: Vec<String> =
        ["scheduler=anticipatory".to_string(), "nr_requests=1024".into()].into_iter().chain(own).collect();
    play_on(depth, MS, &sets.iter().map(String::as_str).collect::<Vec<_>>(), script)
}

fn order(parameters: &str, script: &str) -> String {
    on(1, parameters, script).order
}

/// The time in ms at which the device, which takes one request at a time, got the last request of a script.
fn last_ms(parameters: &str, script: &str) -> f64 {
    on(1, parameters, script).times.last().map_or(0.0, |&(at, _)| at as f64 / MS as f64)
}

/// `count` requests of a process, 100 sectors apart, in a step of a script.
fn burst(letter: char, first: u64, count: u64, process: u16) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        write!(text, " {letter}{}/{process}", first + 100 * at).expect("text");
        text
    })
}

/// as_antic_waitnext: R0 ends at 1 ms, and R8 of its process comes in time. R8 ends at 2.2 ms, and nothing follows for 6 ms.
#[test]
fn the_device_is_kept_idle_for_the_next_read_of_a_process() {
    let played = on(1, "", "0 R0; 0.5 R50000/1; 1.2 R8");
    assert_eq!(played.order, "R0 R8 R50000/1");
    assert_eq!((time_ms(&played, "R8"), time_ms(&played, "R50000/1")), (1.2, 8.0));
    let counters = played.figures.counters;
    assert_eq!((counters.idle_waits, counters.idle_hits, counters.idle_wait_ns), (2, 1, 6 * MS));
}

/// as_antic_timeout: 6 jiffies after the end of the last request. With 0 there is no anticipation.
#[test]
fn a_wait_ends_with_its_timer() {
    assert_eq!(last_ms("", "0 R0; 0.5 R50000/1"), 7.0);
    assert_eq!(last_ms("antic_expire_ms=3", "0 R0; 0.5 R50000/1"), 4.0);
    assert_eq!(last_ms("antic_expire_ms=0", "0 R0; 0.5 R50000/1"), 1.0);
}

/// as_can_break_anticipation: a request of the awaited process ends the wait, however far it is; a write, too. The cheapest
/// request of the batch goes, which is that of process 1. Then process 1 is waited for, from 3 ms to 9 ms.
#[test]
fn a_far_request_of_the_process_ends_the_wait_for_all() {
    let played = on(1, "", "0 R0; 0.5 R50000/1; 2 R900000");
    assert_eq!(played.order, "R0 R50000/1 R900000");
    assert_eq!((time_ms(&played, "R50000/1"), time_ms(&played, "R900000")), (2.0, 9.0));
    assert_eq!(time_ms(&on(1, "", "0 R0; 0.5 R50000/1; 2 w90000"), "R50000/1"), 2.0);
}

/// as_update_thinktime: the first sample of a process weighs 32 of 256, and 128 / 32 = 4 is added to it. A think time of 2 ms counts
/// 6 ms, which pays; 3 ms count 7 ms.
#[test]
fn a_process_that_thinks_long_is_not_waited_for() {
    assert_eq!(last_ms("", "0 R0; 3 R8; 3.5 R50000/1"), 10.0);
    assert_eq!(last_ms("", "0 R0; 4 R8; 4.5 R50000/1"), 5.0);
}

/// new_ttime_mean: processes that think 19 ms at least before their second read. The mean of three is 6 ms (2, 4 and 6 with each),
/// of four 7 ms: then a process without a think time of its own is not waited for.
#[test]
fn a_new_process_is_expected_to_think_as_others_did() {
    let script = |processes: u64| {
        let mut script = String::new();
        for round in [0, 8] {
            for process in 1..=processes {
                let at = 2 * process + 4 * round;
                write!(script, "{at} R{}/{process}; ", 100_000 * process + round).expect("text");
            }
        }
        script + "50 R10/8; 50.5 R900000/9"
    };
    assert_eq!(last_ms("", &script(3)), 57.0);
    assert_eq!(last_ms("", &script(4)), 51.0);
}

/// as_close_req: a request of another process ends the wait if it is within 8192 sectors, doubled with each jiffy since the last
/// end at 1 ms: 8008, 16392 and 32776 are the farthest ones at 1, 2 and 3 ms. Else it goes with the timer.
#[test]
fn a_close_request_of_another_process_ends_the_wait() {
    let at = |at: &str, sector: u64| {
        let request = format!("R{sector}/2");
        time_ms(&on(1, "", &format!("0 R0; 0.5 R500000/1; {at} {request}")), &request)
    };
    assert_eq!([at("1.5", 8_200), at("1.5", 8_201)], [1.5, 7.0]);
    assert_eq!([at("2", 16_392), at("2", 16_393)], [2.0, 7.0]);
    assert_eq!([at("3", 32_776), at("3", 32_777)], [3.0, 7.0]);
}

/// as_close_req: backwards half of that. R100000 ends at 100008, and 100008 - 4096 = 95912.
#[test]
fn closeness_is_half_as_wide_backwards() {
    let at = |sector: u64| {
        let request = format!("R{sector}/2");
        time_ms(&on(1, "", &format!("0 R100000; 0.5 R900000/1; 1.5 {request}")), &request)
    };
    assert_eq!([at(95_912), at(95_911)], [1.5, 7.0]);
}

/// as_close_req: a request is close if it is nearer than the process seeks on average. Process 0 seeks 99992 sectors. From 100008
/// it is 49992 sectors to R150000, and 149992 to R250000.
#[test]
fn a_request_nearer_than_the_seeks_of_the_process_is_close() {
    assert_eq!(last_ms("", "0 R0; 2 R100000; 2.5 R150000/1"), 3.0);
    assert_eq!(last_ms("", "0 R0; 2 R100000; 2.5 R250000/1"), 9.0);
}

/// as_update_seekdist: a seek of a new process counts at most 2^21 = 2097152 sectors. From 8000008 that is 5902856.
#[test]
fn a_long_seek_is_cut() {
    assert_eq!(last_ms("", "0 R0; 2 R8000000; 2.5 R5902857/1"), 3.0);
    assert_eq!(last_ms("", "0 R0; 2 R8000000; 2.5 R5902856/1"), 9.0);
}

/// as_can_break_anticipation: process 0 has R91000 in the queue, so that nobody waits for it at 1 ms, though R110000 is neither close
/// nor nearer than process 0 seeks. Process 1 has nothing.
#[test]
fn a_process_with_requests_in_the_queue_is_not_waited_for() {
    let played = on(1, "", "0 R100000; 0.5 R91000 R110000/1");
    assert_eq!(played.order, "R100000 R110000/1 R91000");
    assert_eq!((time_ms(&played, "R110000/1"), time_ms(&played, "R91000")), (1.0, 8.0));
}

/// as_antic_waitreq: the device has room, but the last read has not ended. R50000 waits for its end and then for the timer; R4000
/// is close, and goes at once.
#[test]
fn the_wait_begins_with_the_end_of_the_last_read() {
    assert_eq!(time_ms(&on(2, "", "0 R0; 0.25 R50000/1"), "R50000/1"), 7.0);
    assert_eq!(time_ms(&on(2, "", "0 R0; 0.25 R4000/1"), "R4000/1"), 0.25);
}

/// rq_is_sync: a write that somebody waits for is in the class of reads. The other write waits until that class is empty, and for
/// the next request of process 0, from 3 ms to 9 ms.
#[test]
fn writes_that_somebody_waits_for_go_with_the_reads() {
    let played = on(1, "", "0 R0; 0.5 w100/9 W200/9 R300");
    assert_eq!(played.order, "R0 W200/9 R300 w100/9");
    assert_eq!(time_ms(&played, "w100/9"), 9.0);
}

/// No process is waited for after a write that nobody waits for.
#[test]
fn a_write_that_nobody_waits_for_is_followed_at_once() {
    assert_eq!(last_ms("", "0 w0; 0.5 w50000/1"), 1.0);
    assert_eq!(last_ms("", "0 w0; 0.5 R50000/1"), 1.0);
}

/// as_batch_expired: the first read ends at 1 ms, and the batch is over behind 6 ms, so at 7 ms. The batch of writes is over with
/// the only write.
#[test]
fn a_batch_of_reads_ends_by_its_time() {
    let script = "0 R0; 0.5 w5000/9 R100 R200 R300 R400 R500 R600 R700 R800";
    assert_eq!(order("read_batch_expire_ms=5", script), "R0 R100 R200 R300 R400 R500 R600 w5000/9 R700 R800");
    assert_eq!(order("", script), "R0 R100 R200 R300 R400 R500 R600 R700 R800 w5000/9");
}

/// A batch of writes begins with the oldest one, and goes on with the cheapest one from there.
#[test]
fn a_batch_begins_with_its_oldest_request() {
    assert_eq!(order("", "0 R0; 0.5 w900/9 w100/9 w950/9"), "R0 w900/9 w950/9 w100/9");
}

/// A batch of reads of 5 ms, a batch of writes of 20 ms. It has 12 writes to begin with, whatever its time is: as_init_queue reckons
/// with the default. update_write_batch looks at the end of the first read of a batch. R0: 1 + 20 - 5 = 16 ms, one more: 13
/// writes from 7 ms on. The next read ends 14 ms after the batch of writes began, later ones 15 and 16 ms: one more each time.
#[test]
fn the_count_of_a_batch_of_writes_grows_with_spare_time() {
    let script = format!("0 R0; 0.5{}{}", burst('R', 100, 60, 0), burst('w', 50_000, 60, 9));
    let played = on(1, "read_batch_expire_ms=5 write_batch_expire_ms=20", &script);
    let expected = [('R', 7), ('w', 13), ('R', 7), ('w', 14), ('R', 7), ('w', 15), ('R', 7), ('w', 16)];
    assert_eq!(runs(&played, letter)[..8], expected);
}

/// As above with batches of reads of 1 ms and of writes of 3 ms: 12 writes, 1 + 3 - 1 ms after R0, and 4 of them until the time is over. The
/// next read ends 5 ms after the batch began: one less for each batch, so that the tenth has 3. They take 4 ms; the next one has 2,
/// which take 3 ms.
#[test]
fn the_count_of_a_batch_of_writes_shrinks_to_its_time() {
    let script = format!("0 R0; 0.5{}{}", burst('R', 100, 120, 0), burst('w', 50_000, 120, 9));
    let played = on(1, "read_batch_expire_ms=1 write_batch_expire_ms=3", &script);
    let runs = runs(&played, letter);
    let writes: Vec<u32> = runs.iter().filter(|(letter, _)| *letter == 'w').map(|&(_, count)| count).collect();
    assert_eq!(writes[..9], [4; 9]);
    assert_eq!(writes[9..12], [3, 2, 2]);
}

/// The first batch of reads ends behind 501 ms, after 502 reads. A batch of 125 ms has 12 writes; the queue began in one without
/// writes, which took 1 + 125 - 500 ms, so 0: twice as many.
#[test]
fn the_first_read_doubles_the_count_of_writes() {
    let script = format!("0 R0; 0.5{}{}", burst('R', 100, 800, 0), burst('w', 500_000, 60, 9));
    assert_eq!(runs(&on(1, "", &script), letter)[..3], [('R', 502), ('w', 24), ('R', 299)]);
}

/// as_completed_request: if a batch of reads waits for the last write, the end of that write sets the time of the batch, from which
/// the time of the writes is reckoned afterwards. R0: 1 + 100 - 2 ms, one more: 13 writes. One
/// request at a time: they take 14 ms of 100, twice as many. Two at a time: the last write ends alone, the time becomes 2 ms after
/// that, and the first read ends 1 ms after it: 1 + 100 - 2 ms, one more.
#[test]
fn the_time_of_writes_is_lost_where_the_device_takes_several() {
    let script = format!("0 R0; 0.5{}{}", burst('R', 100, 60, 0), burst('w', 50_000, 60, 9));
    let counts =
        |depth| runs(&on(depth, "read_batch_expire_ms=2 write_batch_expire_ms=100", &script), letter)[..4].to_vec();
    assert_eq!(counts(1), [('R', 4), ('w', 13), ('R', 4), ('w', 26)]);
    assert_eq!(counts(2), [('R', 8), ('w', 13), ('R', 8), ('w', 14)]);
}

/// write_batch_idled: from 7 ms on 8 writes go without a rival, 4 more than the count. The read of 15 ms ends after 9 ms instead of
/// 3, but that says nothing: the next batch has 4 writes again.
#[test]
fn a_batch_of_writes_without_a_rival_is_not_measured() {
    let script = format!("0 R0; 2{}; 14.5{}", burst('w', 50_000, 20, 9), burst('R', 100, 20, 0));
    let played = on(1, "read_batch_expire_ms=5 write_batch_expire_ms=3", &script);
    assert_eq!(runs(&played, letter)[..4], [('R', 1), ('w', 8), ('R', 7), ('w', 4)]);
}

/// The device takes two requests at a time. A batch waits until the last one has left it; requests of one batch do not wait.
#[test]
fn a_new_batch_waits_until_the_device_is_empty() {
    assert_eq!(time_ms(&on(2, "antic_expire_ms=0", "0 R0; 0.5 w5000/9"), "w5000/9"), 1.0);
    assert_eq!(time_ms(&on(2, "", "0 w0/9; 0.5 R100"), "R100"), 1.0);
    assert_eq!(time_ms(&on(2, "", "0 w0/9; 0.5 w5000/9"), "w5000/9"), 0.5);
}

/// as_fifo_expired: the oldest request is looked at once per 3 ms, at 3 and at 6 ms. At 3 ms R100 is 3 jiffies old, which is not
/// too old yet.
#[test]
fn an_expired_request_goes_within_a_batch() {
    let script = "0 R5000; 0.5 R6000 R100 R7000 R8000 R9000 R9500 R9700 R9900";
    let played = on(1, "read_expire_ms=3", script);
    assert_eq!(played.order, "R5000 R6000 R7000 R8000 R9000 R9500 R100 R9700 R9900");
    assert_eq!(played.figures.counters.expired, 1);
    assert_eq!(order("", script), "R5000 R6000 R7000 R8000 R9000 R9500 R9700 R9900 R100");
}

/// As above for writes of 2 ms, looked at from the beginning of their batch at 7 ms: at 9 ms.
#[test]
fn an_expired_write_goes_within_a_batch() {
    let script = "0 R0; 0.5 w5000/9 w100/9 w6000/9 w7000/9";
    assert_eq!(order("write_expire_ms=2", script), "R0 w5000/9 w6000/9 w100/9 w7000/9");
    assert_eq!(order("", script), "R0 w5000/9 w6000/9 w7000/9 w100/9");
}

/// as_choose_req: from 10008, R9000 lies 1008 sectors back, which counts 2016. R12024 is as far, and the higher one goes.
#[test]
fn a_seek_backwards_counts_twice() {
    assert_eq!(order("", "0 R10000; 0.5 R9000 R12000"), "R10000 R12000 R9000");
    assert_eq!(order("", "0 R10000; 0.5 R9000 R12024"), "R10000 R12024 R9000");
    assert_eq!(order("", "0 R10000; 0.5 R9000 R12025"), "R10000 R9000 R12025");
}

/// MAXBACK: 2^20 = 1048576 sectors back from 1100008 is 51432. What lies farther back goes last, the lowest first.
#[test]
fn a_seek_backwards_has_a_limit() {
    assert_eq!(order("", "0 R1100000; 0.5 R51432 R4000000"), "R1100000 R51432 R4000000");
    assert_eq!(order("", "0 R1100000; 0.5 R51431 R20000 R4000000"), "R1100000 R4000000 R20000 R51431");
}

/// as_merge looks for a front in the list of the other class: it finds writes that somebody waits for. last_merge is tried
/// whatever it is: the first request that came, here.
#[test]
fn a_piece_joins_the_front_of_the_first_request_or_of_a_write() {
    assert_eq!(order("", "0 R0; 0.5 R100 R900 R92"), "R0 R92+16 R900");
    assert_eq!(order("", "0 R0; 0.5 R900 R100 R92"), "R0 R92 R100 R900");
    assert_eq!(order("", "0 R0; 0.5 W900 W100 W92"), "R0 W92+16 W900");
    assert_eq!(order("", "0 R0; 0.5 w900/9 w100/9 w92/9"), "R0 w900/9 w100/9 w92/9");
}

/// as_merged_requests: R100+4 takes in R108, which is older than R5300, and its deadline. It is the oldest request at 4 ms, when expired
/// requests are looked at.
#[test]
fn a_joined_request_has_the_earlier_deadline() {
    let script = "0 R5000; 0.5 R5010 R5100 R5200 R108; 1.5 R5300 R100+4; 1.6 R104+4";
    let played = on(1, "read_expire_ms=2", script);
    assert_eq!(played.order, "R5000 R5010 R5100 R5200 R100+16 R5300");
    assert_eq!(order("", script), "R5000 R5010 R5100 R5200 R5300 R100+16");
}

/// The values of the source at HZ = 1000.
#[test]
fn the_constants_are_those_of_linux_2_6_32() {
    let config = crate::host::desk::config(1, &["scheduler=anticipatory"]);
    let values = &config.host.as_ref().expect("a host").scheduler.parameters;
    let expected = [
        ("antic_expire_ms", 6.0),
        ("read_batch_expire_ms", 500.0),
        ("read_expire_ms", 125.0),
        ("write_batch_expire_ms", 125.0),
        ("write_expire_ms", 250.0),
    ];
    assert!(values.iter().map(|(name, &value)| (name.as_str(), value)).eq(expected), "{values:?}");
    assert_eq!(config.host.as_ref().map(|host| host.nr_requests), Some(128));
}

/// Iyer and Druschel's case: two processes that each read in order, one request each 3 ms. `deadline` goes to and fro with every
/// request; with anticipation the device stays with one of them until a read of the other one has expired.
#[test]
fn two_streams_are_not_interleaved() {
    let mut script = String::new();
    for at in 0..100 {
        write!(script, "{} R{}; {} R{}/1; ", 3 * at, 16 * at, 3.0 * at as f64 + 0.7, 900_000 + 16 * at).expect("text");
    }
    let jumps = |scheduler: &str| {
        let sectors = play(&[&format!("scheduler={scheduler}")], &script).figures.seek_sectors;
        sectors / 890_000
    };
    assert!(jumps("deadline") > 190);
    assert!(jumps("anticipatory") < 20);
}
