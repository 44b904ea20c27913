//! `cfq` of Linux 2.6.32: orders worked out from block/cfq-iosched.c by hand.
//!
//! Every request takes 1 ms. Requests further than 8192 sectors from each other are far; a process of which three requests are
//! known is judged. A slice begins with the first end of a request in it.

use std::fmt::Write;

use flashwatt_core::connector::{Priority, PriorityClass};

use crate::host::desk::{MS, Played, Script, config, letter, play_on, play_with_levels, process, run, runs, time_ms};

/// Keys of `[host]`: the scheduler on a disk (`flash`: on flash) with a large queue; `parameters` are separated by spaces, those of
/// the scheduler without its name.
fn keys(parameters: &str) -> Vec<String> {
    let given = parameters.split_whitespace().map(|set| match set {
        "flash" => "rotational=false".to_string(),
        _ => format!("scheduler.cfq.{set}"),
    });
    let fixed = ["scheduler=cfq", "rotational=true", "nr_requests=1024", "max_request_bytes=524288"].map(String::from);
    fixed.into_iter().chain(given).collect()
}

/// Plays a script in which processes have levels of the best-effort class.
fn with_levels(parameters: &str, script: &str, levels: &[u8]) -> Played {
    play_with_levels(&keys(parameters).iter().map(String::as_str).collect::<Vec<_>>(), script, levels)
}

fn cfq_on(depth: u32, parameters: &str, script: &str) -> Played {
    play_on(depth, MS, &keys(parameters).iter().map(String::as_str).collect::<Vec<_>>(), script)
}

fn cfq(parameters: &str, script: &str) -> Played {
    cfq_on(1, parameters, script)
}

fn order(parameters: &str, script: &str) -> String {
    cfq(parameters, script).order
}

/// The times in ms at which the device got the requests.
fn times_ms(played: &Played) -> Vec<f64> {
    played.times.iter().map(|&(at, _)| at as f64 / MS as f64).collect()
}

/// `count` requests of a process, 100 sectors between them, which is near.
fn burst(letter: char, first: u64, process: u16, count: u64) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        write!(text, " {letter}{}/{process}", first + 108 * at).expect("text");
        text
    })
}

/// Two reads of process 0 per ms for `ms` ms, and one request at a time in ms.
fn flood(ms: u64, at: f64, request: &str) -> String {
    (0..2 * ms).fold(String::new(), |mut text, step| {
        let now = step as f64 / 2.0;
        let other = if now == at { request } else { "" };
        write!(text, "; {now} R{} {other}", 16 * step).expect("text");
        text
    })
}

/// cfq_choose_req: R500 ends at 508. R700 is 192 sectors away, R900 392, R100 408 back, which counts 816.
#[test]
fn a_queue_goes_to_the_nearest_request() {
    assert_eq!(order("", "0 R500; 0.5 R900 R100 R700"), "R500 R700 R900 R100");
}

/// cfq_back_penalty and cfq_back_max: R400 lies 108 sectors (54 KiB) back, which counts 216, and R900 392 ahead.
#[test]
fn a_short_way_back_is_taken() {
    let script = "0 R500; 0.5 R900 R400";
    assert_eq!(order("", script), "R500 R400 R900");
    assert_eq!(order("back_seek_penalty=4", script), "R500 R900 R400");
    assert_eq!(order("back_seek_max_kib=54", script), "R500 R400 R900");
    assert_eq!(order("back_seek_max_kib=53", script), "R500 R900 R400");
}

/// cfq_dispatch_insert chooses the following request before cfq_activate_request moves the position: as R700 goes, the device is
/// still at 508. From there R400 counts 216 and R800 292; from 708 they would count 616 and 92.
#[test]
fn the_following_request_is_chosen_from_the_place_before() {
    assert_eq!(order("", "0 R500; 0.5 R700 R400 R800"), "R500 R700 R400 R800");
}

/// cfq_check_fifo: R150000 has expired as the turn of process 0 begins, and goes first. R110000 has expired, too, but the oldest
/// request is looked at once in a turn.
#[test]
fn an_expired_request_goes_first_in_a_turn() {
    let script = "0 R0/1; 0.1 R150000; 0.2 R110000; 0.3 R100000";
    let played = cfq("flash fifo_expire_sync_ms=0.5", script);
    assert_eq!((played.order.as_str(), played.figures.counters.expired), ("R0/1 R150000 R100000 R110000", 1));
    assert_eq!(order("flash", script), "R0/1 R100000 R110000 R150000");
}

/// fifo_expire_async: the same for requests that nobody waits for, with a time of their own.
#[test]
fn requests_that_nobody_waits_for_expire_later() {
    let script = "0 R0/1; 0.1 w150000; 0.2 w100000";
    assert_eq!(order("flash fifo_expire_sync_ms=0.5", script), "R0/1 w100000 w150000");
    assert_eq!(order("flash fifo_expire_async_ms=0.5", script), "R0/1 w150000 w100000");
}

/// cfq_may_dispatch: four requests of a process are in the device while another one waits. Of process 1 four go until 0.5 ms, one
/// as the first ends, and two as the next three end.
#[test]
fn a_process_has_a_quantum_in_the_device() {
    let script = format!("0 R1000000/1{}; 0.5{}", burst('R', 0, 0, 1), burst('R', 1_000_500, 1, 6));
    let played = cfq_on(8, "", &script);
    let of_1 = played.times.iter().filter(|(_, text)| process(text) == '1').map(|(at, _)| *at as f64 / MS as f64);
    assert_eq!(of_1.collect::<Vec<_>>(), [0.0, 0.5, 0.5, 0.5, 1.0, 1.5, 1.5]);
}

/// Alone it may have four times the quantum there.
#[test]
fn a_process_that_is_alone_has_four_quanta_in_the_device() {
    let at = |parameters: &str| times_ms(&cfq_on(32, parameters, &format!("0{}", burst('R', 0, 0, 20))));
    assert_eq!(at(""), [vec![0.0; 16], vec![1.0; 4]].concat());
    assert_eq!(at("quantum=2"), [vec![0.0; 8], vec![1.0; 8], vec![2.0; 4]].concat());
}

/// cfq_completed_request: the slice of 3 ms begins at 1 ms, so a turn has four requests. At 10 ms process 0 has none left: on a disk
/// it is waited for until 18 ms, although its slice ends at 12 ms.
#[test]
fn a_turn_ends_with_its_slice() {
    let script = format!("0{}{}", burst('R', 0, 0, 6), burst('R', 1_000_000, 1, 6));
    let [disk, flash] = ["slice_sync_ms=3", "slice_sync_ms=3 flash"].map(|parameters| cfq(parameters, &script));
    for played in [&disk, &flash] {
        assert_eq!(runs(played, process), [('0', 4), ('1', 4), ('0', 2), ('1', 2)]);
        assert_eq!(played.figures.counters.batches, 4);
    }
    assert_eq!([times_ms(&disk)[10], times_ms(&flash)[10]], [18.0, 10.0]);
}

/// cfq_prio_slice: 5 + 5 / 5 x (4 - level) ms are 9 ms at level 0 and 2 ms at level 7; one request ends before each slice begins.
#[test]
fn the_level_scales_the_slice() {
    let script = format!("0{}{}", burst('R', 0, 0, 20), burst('R', 1_000_000, 1, 6));
    let played = with_levels("slice_sync_ms=5 flash", &script, &[0, 7]);
    assert_eq!(runs(&played, process), [('0', 10), ('1', 3), ('0', 10), ('1', 3)]);
}

/// cfq_arm_slice_timer: process 0 is waited for from 1 ms on, and comes at 1.5 ms; then nothing comes for 8 ms.
#[test]
fn the_device_is_kept_idle_for_the_next_request_of_a_process() {
    let script = "0 R0 R500000/1; 1.5 R8";
    let played = cfq("", script);
    assert_eq!((played.order.as_str(), times_ms(&played)), ("R0 R8 R500000/1", vec![0.0, 1.5, 10.5]));
    let counters = played.figures.counters;
    assert_eq!((counters.idle_waits, counters.idle_hits), (3, 1));
    assert_eq!(order("slice_idle_ms=0", script), "R0 R500000/1 R8");
}

/// cfq_idle_slice_timer: at 9 ms the wait is over, and R8 comes too late. At 10 ms process 1 is waited for in its turn.
#[test]
fn a_wait_ends_after_slice_idle() {
    let played = cfq("", "0 R0 R500000/1; 9.5 R8");
    assert_eq!((played.order.as_str(), times_ms(&played)), ("R0 R500000/1 R8", vec![0.0, 9.0, 18.0]));
    assert_eq!(played.figures.counters.idle_hits, 0);
}

/// The same script on a drive without seeks that has NCQ, which CFQ takes for granted at first.
#[test]
fn f89_cfq_does_not_idle_on_flash_with_ncq() {
    let played = cfq("flash", "0 R0 R500000/1; 1.5 R8");
    assert_eq!(played.order, "R0 R500000/1 R8");
    assert_eq!(played.figures.counters.idle_waits, 0);
}

/// cfq_update_hw_tag: ends with more than 5 requests queued count. The 51st says that never 5 requests were in the device, so there
/// is no NCQ, and flash is waited for, too: of 60 requests 55 ends count, of 50 only 45.
#[test]
fn flash_that_serves_one_request_at_a_time_is_waited_for() {
    let other = |depth: u32, count: u64| {
        let script = format!("0{} R900000/1", burst('R', 0, 0, count));
        time_ms(&cfq_on(depth, "flash", &script), "R900000/1")
    };
    assert_eq!([other(1, 50), other(1, 60)], [50.0, 60.0 + 8.0]);
    // 8 requests go at once, and 4 in each ms while process 1 waits. The first answer finds the 8. The second one finds 4: the
    // quantum hides NCQ.
    assert_eq!([other(8, 60), other(8, 120)], [14.0, 29.0 + 8.0]);
}

/// CFQ_MIN_TT: a process whose requests lie far apart is waited for 2 ms. Without low_latency it is not waited for at all where there
/// is NCQ.
#[test]
fn a_seeky_process_is_waited_for_shortly() {
    let script = "0 R100000 R300000 R500000 R900000/1";
    assert_eq!(time_ms(&cfq("", script), "R900000/1"), 5.0);
    assert_eq!(time_ms(&cfq("low_latency=0", script), "R900000/1"), 3.0);
    assert_eq!(time_ms(&cfq("", "0 R100000 R100100 R100200 R900000/1"), "R900000/1"), 11.0);
}

/// cfq_update_idle_window: think times of 20 ms count 16 ms each, their mean with that of the first request is 11.4 ms, which is more
/// than 8 ms.
#[test]
fn a_process_that_thinks_long_is_not_waited_for() {
    assert_eq!(time_ms(&cfq("", "0 R0; 21 R8; 42 R16 R500000/1"), "R500000/1"), 43.0);
    assert_eq!(time_ms(&cfq("", "0 R0; 6 R8; 12 R16 R500000/1"), "R500000/1"), 21.0);
}

/// Think times of 5 ms have a mean of 3.57 ms. At 13 ms that is less than a slice to 17 ms has left, and more than one to 16 ms has.
/// In the latter case a short request that was awaited while nobody else waited leaves the timer running, to 15 ms (cfq_rq_enqueued).
#[test]
fn a_process_is_not_waited_for_longer_than_its_slice() {
    let other =
        |parameters: &str, last: &str| time_ms(&cfq(parameters, &format!("0 R0; 6 R8; 12 {last}")), "R500000/1");
    assert_eq!(other("slice_sync_ms=16", "R500000/1 R16"), 21.0);
    assert_eq!(other("slice_sync_ms=15", "R500000/1 R16"), 13.0);
    assert_eq!(other("slice_sync_ms=15", "R16 R500000/1"), 15.0);
}

/// The idle class goes after all others, one request at a time; its turn ends when others come.
#[test]
fn the_idle_class_goes_last_and_one_at_a_time() {
    assert_eq!(order("flash", "0 R0 R200000/1:idle R100; 0.5 R200 R300"), "R0 R100 R200 R300 R200000/1");
    assert_eq!(times_ms(&cfq_on(8, "flash", "0 R0:idle R100:idle R200:idle")), [0.0, 1.0, 2.0]);
    assert_eq!(order("flash", "0 R0:idle R100:idle; 0.5 R100000/1"), "R0 R100000/1 R100");
}

/// cfq_should_preempt: a realtime request ends the turn of another class, a best-effort one does not.
#[test]
fn realtime_preempts() {
    let played = cfq("flash", "0 R0 R100 R200; 0.5 R500000/1:rt");
    assert_eq!((played.order.as_str(), played.figures.counters.preemptions), ("R0 R500000/1 R100 R200", 1));
    let played = cfq("flash", "0 R0 R100 R200; 0.5 R500000/1");
    assert_eq!((played.order.as_str(), played.figures.counters.preemptions), ("R0 R100 R200 R500000/1", 0));
}

/// slice_resid: process 0 is preempted and keeps the rest of its slice, which ends at 101 ms. At 10.5 ms 90.5 ms are left, so its
/// place is 10.5 + 2 x 80 - 90.5 = 80 ms, before the 5 + 80 = 85 ms of process 1; at 100.5 ms its place is 260 ms.
#[test]
fn a_preempted_queue_keeps_the_rest_of_its_slice() {
    let script = |count, at| format!("0{}; 5 R500000/1; {at} R900000/2:rt", burst('R', 0, 0, count));
    assert_eq!(runs(&cfq("flash", &script(20, 10.5)), process), [('0', 11), ('2', 1), ('0', 9), ('1', 1)]);
    let late = runs(&cfq("flash", &script(120, 100.5)), process);
    assert_eq!(late, [('0', 101), ('2', 1), ('1', 1), ('0', 19)]);
}

/// cfq_should_preempt: requests that somebody waits for end the turn of those that nobody waits for.
#[test]
fn who_waits_preempts_writes_that_nobody_waits_for() {
    let played = cfq("flash", "0 w0 w100 w200; 0.5 R500000");
    assert_eq!((played.order.as_str(), played.figures.counters.preemptions), ("w0 R500000 w100 w200", 1));
}

/// cfq_may_dispatch: a request that somebody waits for does not go beside one that nobody waits for, and the other way round.
#[test]
fn the_two_kinds_are_not_in_the_device_together() {
    assert_eq!(times_ms(&cfq_on(4, "flash", "0 w0 R100")), [0.0, 1.0]);
    assert_eq!(times_ms(&cfq_on(4, "flash", "0 R100 w0")), [0.0, 1.0]);
    assert_eq!(times_ms(&cfq_on(4, "flash", "0 R0 R100")), [0.0, 0.0]);
}

/// low_latency: until 100 ms after the last request that somebody waited for one write is in the device, from 200 ms on two are.
#[test]
fn writes_that_nobody_waits_for_begin_slowly() {
    let at = |parameters: &str, script: &str| times_ms(&cfq_on(8, parameters, script));
    assert_eq!(at("", "0 w0 w100 w200"), [0.0, 1.0, 2.0]);
    assert_eq!(at("", "250 w0 w100 w200"), [250.0, 250.0, 251.0]);
    assert_eq!(at("low_latency=0", "0 w0 w100 w200"), [0.0, 0.0, 0.0]);
}

/// cfq_prio_to_maxrq: at level 4 such a turn has 2 x 2 x (8 - 4) = 16 requests while others wait, or as many as 5 ms let through
/// after the first. Reads have 101 ms, and their place is 101 + 80 = 181 ms then; that of the writes is 140 ms (175 ms).
#[test]
fn a_turn_of_writes_is_bounded_by_requests_and_by_time() {
    let script = format!("0{}{}", burst('R', 0, 0, 120), burst('w', 1_000_000, 0, 30));
    let at = |parameters: &str| runs(&cfq(parameters, &script), letter);
    assert_eq!(at("flash"), [('R', 101), ('w', 16), ('R', 19), ('w', 14)]);
    assert_eq!(at("flash slice_async_rq=1"), [('R', 101), ('w', 8), ('R', 19), ('w', 22)]);
    assert_eq!(at("flash slice_async_ms=5"), [('R', 101), ('w', 6), ('R', 19), ('w', 24)]);
}

/// cfq_allow_merge: pieces join requests of their own queue. Writes that nobody waits for share one by level, which is known of a
/// process once it has sent one.
#[test]
fn pieces_join_requests_of_their_queue() {
    assert_eq!(order("flash", "0 R0; 0.5 R100/1 R108/1"), "R0 R100+16/1");
    assert_eq!(order("flash", "0 R0; 0.5 R108/1 R100/1"), "R0 R100+16/1");
    assert_eq!(order("flash", "0 R0; 0.5 R100/1 R108/2"), "R0 R100/1 R108/2");
    assert_eq!(order("flash", "0 w0/2; 0.5 w100/1 w108/2"), "w0/2 w100+16/1");
    assert_eq!(order("flash", "0 w0/1; 0.5 w100/1 w108/2"), "w0/1 w100/1 w108/2");
    assert_eq!(order("flash", "0 R0; 0.5 w100 W108"), "R0 W108 w100");
}

/// cfq_close_cooperator: instead of idling for process 0 the near request of process 2 goes, before that of process 1 which came
/// first. Processes of other levels do not work together.
#[test]
fn a_close_queue_goes_instead_of_idling() {
    let script = "0 R0 R500000/1 R1000/2";
    let played = with_levels("", script, &[4, 4, 4]);
    assert_eq!((played.order.as_str(), times_ms(&played)), ("R0 R1000/2 R500000/1", vec![0.0, 1.0, 10.0]));
    let played = with_levels("", script, &[4, 4, 3]);
    assert_eq!((played.order.as_str(), times_ms(&played)[1]), ("R0 R500000/1 R1000/2", 9.0));
}

/// cfq_rq_close: while process 0 is waited for, a near request of another process is as good as its own.
#[test]
fn a_close_request_preempts_an_idling_queue() {
    let played = cfq("", "0 R0; 2 R100/1");
    assert_eq!((times_ms(&played)[1], played.figures.counters.preemptions), (2.0, 1));
    let played = cfq("", "0 R0; 2 R500000/1");
    assert_eq!((times_ms(&played)[1], played.figures.counters.preemptions), (9.0, 0));
}

/// cfq_setup_merge: processes that worked together share a queue, so that their pieces join. Those that did not do not share one.
#[test]
fn processes_that_work_together_share_a_queue() {
    assert_eq!(order("", "0 R0 R1000/2; 1.5 R1100 R1108/2"), "R0 R1000/2 R1100+16");
    assert_eq!(order("", "0 R0 R500000/2; 9.5 R500100 R500108/2"), "R0 R500000/2 R500108/2 R500100");
}

/// CFQQ_COOP_TOUT: a shared queue that has been seeky for more than 1 s is split.
#[test]
fn a_shared_queue_that_is_seeky_is_split() {
    let joined = |count: u64| {
        let mut script = "0 R0 R1000/2; 1.5 R1100 R1108/2".to_string();
        for at in 1..=count {
            write!(script, "; {} R{}", 20 * at, [100_000, 700_000][at as usize % 2] + 8 * at).expect("text");
        }
        write!(script, "; {} R3000000/2 R2000100 R2000108/2", 20 * count + 10).expect("text");
        cfq("", &script).order.contains("R2000100+16")
    };
    assert_eq!([joined(20), joined(60)], [true, false]);
}

/// SPEC A16: the values of the source with HZ = 1000; jiffies are ms.
#[test]
fn f89_cfq_constants_are_those_of_2_6_32() {
    let config = config(1, &["scheduler=cfq"]);
    let scheduler = &config.host.as_ref().expect("a host").scheduler;
    let expected = [
        ("back_seek_max_kib", 16_384.0),
        ("back_seek_penalty", 2.0),
        ("fifo_expire_async_ms", 250.0),
        ("fifo_expire_sync_ms", 125.0),
        ("low_latency", 1.0),
        ("quantum", 4.0),
        ("slice_async_ms", 40.0),
        ("slice_async_rq", 2.0),
        ("slice_idle_ms", 8.0),
        ("slice_sync_ms", 100.0),
    ];
    let values = &scheduler.parameters;
    assert!(values.iter().map(|(name, &value)| (name.as_str(), value)).eq(expected), "{values:?}");
}

/// A flood of reads has slices of 100 ms, and 180 ms at level 0. The place of another reader is 50 + 80 = 130 ms (at level 7 beside
/// level 0: 50 + 140 = 190 ms); it goes when the flood's place after a slice, 101 + 80 = 181 ms (181 ms, then 362 ms), lies behind
/// that.
#[test]
fn a_flood_of_reads_does_not_starve_a_reader() {
    let script = flood(400, 50.0, "R900000/1");
    assert_eq!(time_ms(&cfq("flash", &script), "R900000/1"), 101.0);
    assert_eq!(time_ms(&with_levels("flash", &script, &[0, 7]), "R900000/1"), 362.0);
}

/// The place of a write is 50 + 140 = 190 ms: it goes after the second slice, and its turn lasts to the next read.
#[test]
fn a_flood_of_reads_does_not_starve_a_write_on_a_device_that_serves_one_at_a_time() {
    assert_eq!(time_ms(&cfq("flash", &flood(400, 50.0, "w900000")), "w900000"), 202.0);
}

/// There is no bound for writes that nobody waits for behind reads that overlap: in their turn they wait for the reads in the device
/// to end, and the next read preempts them. Nor is there one for the idle class and beside realtime requests.
#[test]
fn what_others_preempt_starves() {
    let last = |depth: u32, script: &str| cfq_on(depth, "flash", script).times.pop().expect("a request").1;
    assert_eq!(last(4, &flood(600, 50.0, "w900000")), "w900000");
    assert_eq!(last(1, &flood(400, 50.0, "R900000/1:idle")), "R900000/1");
    let mut script = Script::new(&flood(400, 50.0, "R900000/1"));
    for step in script.steps.iter_mut().filter(|step| step.process == 0) {
        step.priority = Priority::new(PriorityClass::Realtime, 4);
    }
    let sets = keys("flash");
    let played = run(&config(1, &sets.iter().map(String::as_str).collect::<Vec<_>>()), 1, MS, &mut script);
    assert_eq!(played.times.last().expect("a request").1, "R900000/1");
}
