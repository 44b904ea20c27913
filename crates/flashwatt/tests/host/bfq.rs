//! `bfq` of Linux 6.1: orders worked out from block/bfq-iosched.c and block/bfq-wf2q.c by hand.
//!
//! Every request takes 1 ms. Virtual times below are in sectors by weight: a process of level 4 has weight (8 - 4) x 10 = 40. A
//! queue begins with a budget of 2/3 x 16384 = 10922 sectors; a turn that uses it up quadruples it, to at most 16384.

use std::fmt::Write;

use flashwatt_core::connector::{Priority, PriorityClass};

use crate::host::desk::{MS, Played, Script, config, letter, play_on, play_with_levels, process, run, runs, time_ms};

/// Keys of `[host]`: the scheduler and a large queue; `parameters` are separated by spaces, those of the scheduler without its
/// name.
fn keys(parameters: &str) -> Vec<String> {
    let given = parameters.split_whitespace().map(|set| match set.starts_with("rotational") {
        true => set.to_string(),
        false => format!("scheduler.bfq.{set}"),
    });
    let fixed = ["scheduler=bfq", "nr_requests=1024", "max_request_bytes=524288"].map(String::from);
    fixed.into_iter().chain(given).collect()
}

/// Plays a script in which processes have levels of the best-effort class.
fn with_levels(parameters: &str, script: &str, levels: &[u8]) -> Played {
    play_with_levels(&keys(parameters).iter().map(String::as_str).collect::<Vec<_>>(), script, levels)
}

fn bfq_on(depth: u32, parameters: &str, script: &str) -> Played {
    play_on(depth, MS, &keys(parameters).iter().map(String::as_str).collect::<Vec<_>>(), script)
}

fn bfq(parameters: &str, script: &str) -> Played {
    bfq_on(1, parameters, script)
}

/// Plays a script without weight raising.
fn order(parameters: &str, script: &str) -> String {
    bfq(&format!("low_latency=0 {parameters}"), script).order
}

/// `count` requests of `sectors` sectors of a process, 100 sectors between them, which is near.
fn burst(letter: char, first: u64, sectors: u64, process: u16, count: u64) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        write!(text, " {letter}{}+{sectors}/{process}", first + (sectors + 100) * at).expect("text");
        text
    })
}

/// bfq_choose_req: a sector back counts as two. R500 ends at 508: R700 is 192 away, R900 392, R100 408 back, which counts 816.
#[test]
fn a_queue_goes_to_the_nearest_request() {
    assert_eq!(order("", "0 R500; 0.5 R900 R100 R700"), "R500 R700 R900 R100");
}

/// R400 lies 108 sectors back, which counts 216, and R900 392 ahead.
#[test]
fn a_short_way_back_is_taken() {
    let script = "0 R500; 0.5 R900 R400";
    assert_eq!(order("", script), "R500 R400 R900");
    assert_eq!(order("back_seek_penalty=4", script), "R500 R900 R400");
    assert_eq!(order("back_seek_max_kib=54", script), "R500 R400 R900");
    assert_eq!(order("back_seek_max_kib=53", script), "R500 R900 R400");
}

/// Of two equal ways the one ahead is taken: 100 ahead, 50 back.
#[test]
fn of_equal_ways_the_one_ahead_is_taken() {
    assert_eq!(order("", "0 R500; 0.5 R458 R608"), "R500 R608 R458");
}

/// bfq_check_fifo: the turn of process 0 begins at 1 ms with R1000, the nearest. R5000 is the oldest, and has expired at 0.6 ms.
/// From there R1200 is nearer than R1100. With 125 ms nothing expires.
#[test]
fn an_expired_request_goes_second_in_a_turn() {
    let script = "0 R0/1; 0.1 R5000; 0.2 R1000; 0.3 R1100; 0.4 R1200";
    let played = bfq("low_latency=0 fifo_expire_sync_ms=0.5", script);
    assert_eq!((played.order.as_str(), played.figures.counters.expired), ("R0/1 R1000 R5000 R1200 R1100", 1));
    assert_eq!(order("", script), "R0/1 R1000 R1100 R1200 R5000");
}

/// Two processes with 25 reads of 1000 sectors each. Process 0 has begun with one as process 1 comes, and gives way: nothing says
/// that the device should be kept for it. Both start at 1000 / 40 then and finish alike, so process 1, which was put into the
/// tree first, has its turn: 10 reads fit into 10922 sectors, 16 into 16384.
#[test]
fn equal_processes_take_turns_with_growing_budgets() {
    let script = format!("0{}{}", burst('R', 0, 1000, 0, 25), burst('R', 200_000, 1000, 1, 25));
    let played = bfq("low_latency=0", &script);
    assert_eq!(runs(&played, process), [('0', 1), ('1', 10), ('0', 10), ('1', 15), ('0', 14)]);
    assert_eq!((played.figures.counters.batches, played.figures.counters.preemptions), (5, 1));
}

/// max_budget = 5000 sectors: the first turns have 10922 all the same (the budget that a queue begins with), the later ones five
/// reads.
#[test]
fn a_given_budget_bounds_the_turns() {
    let script = format!("0{}{}", burst('R', 0, 1000, 0, 25), burst('R', 200_000, 1000, 1, 25));
    let played = bfq("low_latency=0 max_budget=5000", &script);
    let expected = [('0', 1), ('1', 10), ('0', 10), ('1', 5), ('0', 5), ('1', 5), ('0', 5), ('1', 5), ('0', 4)];
    assert_eq!(runs(&played, process), expected);
}

/// Reads of 8 sectors: budgets last for longer than the time of a turn, 10 ms here.
#[test]
fn a_turn_ends_with_its_time() {
    let script = format!("0{}{}", burst('R', 0, 8, 0, 30), burst('R', 200_000, 8, 1, 30));
    let played = bfq("low_latency=0 timeout_sync_ms=10", &script);
    let expected = [('0', 1), ('1', 10), ('0', 10), ('1', 10), ('0', 10), ('1', 10), ('0', 9)];
    assert_eq!(runs(&played, process), expected);
}

/// Weights 80 and 10. Process 1 starts at 1000 / 80 = 12.5. Process 0 uses 10000 sectors and starts anew at 125, while the time
/// is 12.5 + 9000 / 90 = 112.5: it must not start, and process 1 has its turn, to 223.6. Process 1 starts anew at 1012.5. A
/// turn of process 0 takes 200 of its own time and 177.8 of the common one: after five turns it would start at 1125, the time
/// is 1112.5, and process 1 goes again. Then eight turns, 128 reads, for the 16 of process 1: the weights.
#[test]
fn sectors_are_shared_by_weight() {
    let script = format!("0{}{}", burst('R', 0, 1000, 0, 218), burst('R', 500_000, 1000, 1, 42));
    let played = with_levels("low_latency=0", &script, &[0, 7]);
    let expected = [('0', 10), ('1', 10), ('0', 80), ('1', 16), ('0', 128), ('1', 16)];
    assert_eq!(runs(&played, process), expected);
}

/// bfq_bfqq_is_slow: reads of 8 sectors, 1000 sectors apart, for turns of 50 ms. 400 sectors are less than half of 16384, so a
/// turn is charged with its time, 16384 x 50 / 125 = 6553 sectors, and process 0 would start 163.8 later. A turn of process 1 has 16
/// reads, 16000 sectors, 400: process 0 has two turns of 50 reads for each. The first turn, which process 1 cut short, counts
/// as 2 ms, 262 sectors. By sectors alone process 0 would have 40 turns.
#[test]
fn a_slow_process_is_charged_with_its_time() {
    let far: String = (0..251).map(|at| format!(" R{}", 1000 * at)).collect();
    let script = format!("0{far}{}", burst('R', 500_000, 1000, 1, 42));
    let played = bfq("low_latency=0 timeout_sync_ms=50", &script);
    let expected = [('0', 1), ('1', 10), ('0', 100), ('1', 16), ('0', 100), ('1', 16), ('0', 50)];
    assert_eq!(runs(&played, process), expected);
}

/// bfq_update_peak_rate: the device moves 1000 sectors per ms. The observation ends at 1 s: 1001 dispatches, 1000 of them in order,
/// and a rate of 1.001 sectors per us, 65601 / 65536. It has the weight 8, so it counts half: (22000 + 65601) / 2 is 43800, and
/// the longest budget 43800 x 125000 / 65536 = 83541 sectors. Budgets grow to 65536 and then to that: turns of 65 and 83 reads.
#[test]
fn the_longest_budget_follows_the_rate_of_the_device() {
    let reads = |first: u64, process: u16| -> String {
        (0..850).map(|at| format!(" R{}+1000/{process}", first + 1000 * at)).collect()
    };
    let script = format!("0{}{}", reads(0, 0), reads(900_000, 1));
    let lengths = |parameters: &str| {
        let sets = [keys(parameters), vec!["nr_requests=4096".into()]].concat();
        let sets: Vec<&str> = sets.iter().map(String::as_str).filter(|set| *set != "nr_requests=1024").collect();
        let mut lengths: Vec<u32> =
            runs(&play_on(1, MS, &sets, &script), process).iter().map(|&(_, count)| count).collect();
        lengths.dedup();
        lengths
    };
    assert_eq!(lengths("low_latency=0")[..5], [1, 10, 16, 65, 83]);
    assert!(lengths("low_latency=0 max_budget=16384").iter().all(|&length| length <= 16));
}

/// bfq_async_charge_factor: writes that nobody waits for are charged three times. 5 of them, 15000 of 16384 sectors, for 16 reads.
/// A queue of such writes has the longest budget after its first turn.
#[test]
fn requests_that_nobody_waits_for_get_a_third() {
    let script = format!("0{}{}", burst('w', 0, 1000, 0, 21), burst('R', 200_000, 1000, 1, 42));
    let expected = [('w', 1), ('R', 10), ('w', 5), ('R', 16), ('w', 5), ('R', 16), ('w', 10)];
    assert_eq!(runs(&bfq("low_latency=0", &script), letter), expected);
}

/// Real-time goes before best effort, and that before idle. Each sync queue but that of the idle class keeps the device idle
/// for 8 ms, since others of worse classes wait.
#[test]
fn classes_go_in_order_and_are_waited_for() {
    let script = "0 R0; 0.5 R100/1:idle R200/2 R300/3:rt";
    let played = bfq("low_latency=0 slice_idle_ms=0", script);
    assert_eq!(played.order, "R0 R300/3 R200/2 R100/1");
    assert_eq!(time_ms(&played, "R100/1"), 3.0);
    let played = bfq("low_latency=0", script);
    assert_eq!(["R300/3", "R200/2", "R100/1"].map(|request| time_ms(&played, request)), [1.0, 10.0, 19.0]);
}

/// BFQ_CL_IDLE_TIMEOUT: at the end of the turn at 250 ms the idle class has not been looked at for more than 200 ms.
#[test]
fn the_idle_class_does_not_starve() {
    let script = format!("0{}; 0.5 R900000/1:idle", burst('R', 0, 8, 0, 500));
    assert_eq!(time_ms(&bfq("low_latency=0", &script), "R900000/1"), 250.0);
}

/// On a disk the device is kept idle for a process that reads in order: R8 comes within 8 ms, and R50000 waits from 2.2 ms to
/// 10.2 ms. A read that comes too late goes before further ones of others, as if the turn had not ended.
#[test]
fn a_disk_is_kept_idle_for_a_process_that_reads_in_order() {
    let disk = "low_latency=0 rotational=true";
    let played = bfq(disk, "0 R0; 0.5 R50000/1; 1.2 R8");
    assert_eq!((time_ms(&played, "R8"), time_ms(&played, "R50000/1")), (1.2, 10.2));
    let counters = played.figures.counters;
    assert_eq!((counters.idle_waits, counters.idle_hits, counters.idle_wait_ns), (3, 1, 82 * MS / 10));
    let late = bfq(disk, "0 R0; 0.5 R50000/1 R60000/1; 9.1 R8");
    assert_eq!(late.order, "R0 R50000/1 R8 R60000/1");
    assert_eq!(time_ms(&late, "R50000/1"), 9.0);
    assert_eq!(late.figures.counters.preemptions, 1);
}

/// bfq_update_io_intensity: a process is waited for if it has had requests for four fifths of the time. Until R8 comes at 1.2 ms
/// it has had none for 0.2 ms; until 1.3 ms for 0.3 ms, more than a fifth.
#[test]
fn a_disk_is_kept_idle_for_a_busy_process_only() {
    let other =
        |at: &str| time_ms(&bfq("low_latency=0 rotational=true", &format!("0 R0; 0.5 R50000/1; {at} R8")), "R50000/1");
    assert_eq!((other("1.2"), other("1.3")), (10.2, 2.3));
}

/// On flash that may serve several requests at a time it does not pay.
#[test]
fn flash_is_not_kept_idle_while_others_wait() {
    let played = bfq("low_latency=0 rotational=false", "0 R0; 0.5 R50000/1; 1.5 R8");
    assert_eq!(played.order, "R0 R50000/1 R8");
    assert_eq!(time_ms(&played, "R50000/1"), 1.0);
}

/// bfq_update_hw_tag: after 33 ends of requests, while at least four were queued or under way, the device is known to serve one
/// at a time, and then idling pays on flash. With eight at a time it does not.
#[test]
fn flash_that_serves_one_request_at_a_time_is_kept_idle() {
    let script = |at: &str| format!("0{}; {at} R900000/1", burst('R', 0, 8, 0, 45));
    let flash = "low_latency=0 rotational=false";
    assert_eq!(time_ms(&bfq(flash, &script("44.5")), "R900000/1"), 53.0);
    assert_eq!(time_ms(&bfq_on(8, flash, &script("5.5")), "R900000/1"), 5.5);
}

/// BFQQ_SEEKY: more than 19 of the last 32 requests far from each other; the first one counts as far, its follower does not.
#[test]
fn a_disk_is_not_kept_idle_for_a_seeky_process() {
    let other = |count: u64| {
        let mut script = String::new();
        for at in 0..count {
            write!(script, "{at} R{}; ", 10_000 * (at + 1)).expect("text");
        }
        write!(script, "{}.5 R900000/1", count - 1).expect("text");
        time_ms(&bfq("low_latency=0 rotational=true", &script), "R900000/1")
    };
    assert_eq!([other(19), other(20)], [27.0, 20.0]);
}

/// While the disk is kept idle for a process, its own writes that nobody waits for go, and those of others do not.
#[test]
fn own_writes_go_while_the_device_is_kept_idle() {
    let disk = "low_latency=0 rotational=true";
    assert_eq!(time_ms(&bfq(disk, "0 R0; 0.5 w5000"), "w5000"), 1.0);
    assert_eq!(time_ms(&bfq(disk, "0 R0; 0.5 w5000/1"), "w5000/1"), 9.0);
}

/// The times in ms at which process 1, with a backlog since 0.5 ms, gets requests through, while the device is kept idle for
/// process 0 of twice its weight, which reads each 3 ms, at `last` for the last time.
fn injected(last: &str) -> Vec<u64> {
    let script = format!("0 R0; 0.5{}; 3 R16; 6 R32; 9 R48; 12 R64; {last} R80", burst('R', 500_000, 8, 1, 15));
    let played = with_levels("low_latency=0", &script, &[0, 4]);
    played.times.iter().filter(|(_, text)| process(text) == '1').map(|(at, _)| at / MS).collect()
}

/// bfq_update_inject_limit: the read at 12 ms, 10 ms after the queue came into being, takes 1 ms from its arrival to its end. From
/// then on one request of others may be in the device: at 13, 14 and 15 ms. It delays the last read to 16 ms. If that came at
/// 15.5 ms it took 1.5 ms, half as long again: the limit is 0, and process 1 waits until the idling ends at 25 ms. If it came
/// at 15.7 ms it took 1.3 ms, and requests go through as before.
#[test]
fn requests_of_others_go_through_as_long_as_they_do_no_harm() {
    assert_eq!(injected("15.5")[..5], [13, 14, 15, 25, 26]);
    assert_eq!(injected("15.7")[..5], [13, 14, 15, 17, 18]);
}

/// bfq_check_waker: process 1, with a long think time, gets a request 1 ms after the end of one of process 0, for the third time
/// at 82 ms. While the device is kept idle for it, three requests of process 0 go at once; those of process 2 go one at a time,
/// as the limit of a process that thinks long is 1.
#[test]
fn requests_of_the_waker_go_through_without_a_limit() {
    let times = |other: u16| {
        let mut script = String::new();
        for round in 0..6 {
            write!(script, "{} R{}; {} R{}/1; ", 20 * round, 16 * round, 20 * round + 2, 500_000 + 16 * round)
                .expect("text");
        }
        write!(script, "105{}", burst('R', 800_000, 8, other, 3)).expect("text");
        let mut script = Script::new(&script);
        for step in script.steps.iter_mut().filter(|step| step.process == 1) {
            step.priority = Priority::new(PriorityClass::BestEffort, 0);
        }
        let sets = keys("low_latency=0");
        let played = run(&config(4, &sets.iter().map(String::as_str).collect::<Vec<_>>()), 4, MS, &mut script);
        played.times.iter().map(|(at, _)| at / MS).filter(|&at| at >= 105).collect::<Vec<_>>()
    };
    assert_eq!(times(0), [105, 105, 105]);
    assert_eq!(times(2), [105, 106, 107]);
}

/// Process 0 reads 200 times 1000 sectors. Raised, a turn has 2 x 512 sectors, one read; after 121 reads it has had more than
/// 120000 sectors, and its weight is 40 again: turns of 4, 16, 16 ... reads. The read that ended the raising went by the raised
/// weight in the common time, and counts by 40 in its own: it is ahead by 1000 / 40 - 1000 / 1200 = 24.17. Process 1 comes at
/// 150.5 ms, is raised to 40 x 30 and goes first. Each of its reads takes 0.83: after 30 it would start at 25, process 0 may
/// start at 24.17, and has its turn of 16. That puts it off by 400; process 1 has the rest in a row, and then the device is
/// kept idle for it for 20 ms. Not raised, process 1 waits for the end of a turn, that of the reads 139 to 154: by then the device
/// is known to serve one request at a time, and process 0 would be waited for. Then they take turns.
#[test]
fn a_process_that_begins_is_raised_until_it_has_had_its_service() {
    let script = format!("0{}; 150.5{}", burst('R', 0, 1000, 0, 200), burst('R', 500_000, 1000, 1, 40));
    let raised = bfq("", &script);
    assert_eq!(runs(&raised, process), [('0', 151), ('1', 30), ('0', 16), ('1', 10), ('0', 33)]);
    let after = raised.times.iter().rposition(|(_, text)| process(text) == '1').expect("a read") + 1;
    assert_eq!(raised.times[after].0, 227 * MS);
    let expected = [('0', 154), ('1', 10), ('0', 16), ('1', 16), ('0', 16), ('1', 14), ('0', 14)];
    assert_eq!(runs(&bfq("low_latency=0", &script), process), expected);
}

/// How many reads found the device kept idle for them: 401 reads, 10 ms apart. A raised queue is waited for 20 ms, another 8 ms.
fn hits_of_reads_10_ms_apart(parameters: &str, level: u8) -> u64 {
    let mut script = String::new();
    for at in 0..401 {
        write!(script, "{} R{}; ", 10 * at, 16 * at).expect("text");
    }
    with_levels(parameters, &script, &[level]).figures.counters.idle_hits
}

/// An interactive period lasts for 2.5 s x 33000 / 22000 on flash, 3.75 s (ref_wr_duration, ref_rate, and two thirds of it as the
/// rate to begin with), on a disk for 7 s x 14000 / 9333: the read at 3760 ms is the last one that finds its process raised.
#[test]
fn an_interactive_period_ends_with_its_time() {
    assert_eq!(hits_of_reads_10_ms_apart("rotational=false", 4), 376);
    assert_eq!(hits_of_reads_10_ms_apart("rotational=true", 4), 400);
    assert_eq!(hits_of_reads_10_ms_apart("low_latency=0", 4), 0);
}

/// A process with a priority of its own is not raised: its weight is not 40.
#[test]
fn only_the_default_weight_is_raised() {
    assert_eq!(hits_of_reads_10_ms_apart("", 3), 0);
    assert_eq!(hits_of_reads_10_ms_apart("", 5), 0);
}

/// Two reads each 100 ms, the second 10 ms after the first, for 6 s: if the process is raised, the second one finds the device
/// kept idle. Reads of 8 sectors are below 7000 sectors/s and come after pauses: soft real-time, each time anew. Reads of 1000
/// sectors are not; the interactive period ends with the read at 3800 ms.
#[test]
fn a_soft_real_time_process_stays_raised() {
    let hits = |sectors: u64| {
        let mut script = String::new();
        for at in 0..60 {
            let first = 2 * (sectors + 100) * at;
            let times = (100 * at, 100 * at + 10);
            write!(script, "{} R{first}+{sectors}; {} R{}+{sectors}; ", times.0, times.1, first + sectors + 100)
                .expect("text");
        }
        bfq("", &script).figures.counters.idle_hits
    };
    assert_eq!([hits(8), hits(1000)], [60, 38]);
}

/// bfq_handle_burst: the eighth of eight processes that begin within 180 ms of each other is not raised, so its second read, 10
/// ms after its first, comes too late.
#[test]
fn a_large_burst_is_not_raised() {
    let hits = |apart_ms: u64| {
        let mut script = String::new();
        for process in 0..8 {
            let (at, first) = (apart_ms * process, 10_000 * process);
            write!(script, "{at} R{first}/{process}; {} R{}/{process}; ", at + 10, first + 16).expect("text");
        }
        bfq("", &script).figures.counters.idle_hits
    };
    assert_eq!([hits(20), hits(200)], [7, 8]);
}

/// A piece goes behind a request of anyone, and in front of one of its own process.
#[test]
fn pieces_join_others_at_the_back_and_their_own_at_both_ends() {
    assert_eq!(order("", "0 R0; 0.5 R100/1 R108/2"), "R0 R100+16/1");
    assert_eq!(order("", "0 R0; 0.5 R108/1 R100/1"), "R0 R100+16/1");
    assert_eq!(order("", "0 R0; 0.5 R108/1 R100/2"), "R0 R108/1 R100/2");
}

#[test]
fn strict_guarantees_give_the_device_one_request_at_a_time() {
    let at = |parameters: &str| {
        bfq_on(4, parameters, "0 R0 R100 R200").times.iter().map(|(at, _)| at / MS).collect::<Vec<_>>()
    };
    assert_eq!((at("strict_guarantees=1"), at("")), (vec![0, 1, 2], vec![0, 0, 0]));
}

/// The values of the source: HZ / 8, HZ / 4, 16 MiB, 2, 8 ms, HZ / 8; half of the places for requests that nobody waits for.
#[test]
fn the_constants_are_those_of_linux_6_1() {
    let config = config(1, &["scheduler=bfq"]);
    let scheduler = &config.host.as_ref().expect("a host").scheduler;
    let expected = [
        ("back_seek_max_kib", 16_384.0),
        ("back_seek_penalty", 2.0),
        ("fifo_expire_async_ms", 250.0),
        ("fifo_expire_sync_ms", 125.0),
        ("low_latency", 1.0),
        ("max_budget", 0.0),
        ("slice_idle_ms", 8.0),
        ("strict_guarantees", 0.0),
        ("timeout_sync_ms", 125.0),
    ];
    let values = &scheduler.parameters;
    assert!(values.iter().map(|(name, &value)| (name.as_str(), value)).eq(expected), "{values:?}");
    assert_eq!(scheduler.entry.build.async_share, 0.5);
}

/// A process of the least weight against one of the greatest that floods the device with two reads per ms: the flood uses up its
/// right to start with its first turn, 125 ms.
#[test]
fn a_flood_does_not_starve_a_light_process() {
    let mut script = "0 R0".to_string();
    for at in 1..600 {
        write!(script, "; {} R{}", at as f64 / 2.0, 16 * at).expect("text");
        if at == 101 {
            script += " R900000/1";
        }
    }
    assert_eq!(time_ms(&with_levels("low_latency=0", &script, &[0, 7]), "R900000/1"), 125.0);
}
