//! `kyber` of Linux 6.1: orders worked out from block/kyber-iosched.c by hand.

use std::fmt::Write;

use crate::host::desk::{MS, Played, order, play, play_on};

/// Keys of `[host]`: the scheduler, 64 requests in the queue, and its parameters, separated by spaces.
fn keys(parameters: &str) -> Vec<String> {
    let own = parameters.split_whitespace().map(|set| format!("scheduler.kyber.{set}"));
    ["scheduler=kyber".to_string(), "nr_requests=64".into()].into_iter().chain(own).collect()
}

fn kyber(parameters: &str, script: &str) -> String {
    order(&keys(parameters).iter().map(String::as_str).collect::<Vec<_>>(), script)
}

fn kyber_on(depth: u32, parameters: &str, script: &str) -> Played {
    play_on(depth, MS, &keys(parameters).iter().map(String::as_str).collect::<Vec<_>>(), script)
}

/// The times in ms at which the device got requests of a kind.
fn times_ms(played: &Played, letter: char) -> Vec<u64> {
    played.times.iter().filter(|(_, text)| text.starts_with(letter)).map(|(at, _)| at / MS).collect()
}

/// A burst of `count` requests that touch nothing.
fn burst(letter: char, first: u64, count: u64) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        write!(text, " {letter}{}", first + 100 * at).expect("text");
        text
    })
}

/// A domain has no order but that of arrival.
#[test]
fn a_domain_is_served_in_the_order_of_arrival() {
    assert_eq!(kyber("", "0 R500; 0.5 R900 R100 R700 R300"), "R500 R900 R100 R700 R300");
}

/// Domains take turns: reads, writes, trims. R0 began the batch of reads.
#[test]
fn domains_take_turns_with_batches() {
    let sets = "read_batch=2 write_batch=2";
    let script = "0 R0; 0.5 T10 T20 W100 W200 W300 R400 R500 R600 R700";
    assert_eq!(kyber(sets, script), "R0 R400 W100 W200 T10 R500 R600 W300 T20 R700");
}

/// kyber_batch_size: 16 reads, 8 writes, 1 trim.
#[test]
fn a_batch_has_sixteen_reads_eight_writes_or_one_trim() {
    let script = format!("0 W90000; 0.5{}{}{}", burst('R', 0, 20), burst('W', 10_000, 20), burst('T', 50_000, 3));
    let found = kyber("", &script);
    let mut batches: Vec<(char, u32)> = Vec::new();
    for letter in found.split(' ').filter_map(|request| request.chars().next()) {
        match batches.last_mut() {
            Some((last, count)) if *last == letter => *count += 1,
            _ => batches.push((letter, 1)),
        }
    }
    let expected = [('W', 8), ('T', 1), ('R', 16), ('W', 8), ('T', 1), ('R', 4), ('W', 5), ('T', 1)];
    assert_eq!(batches, expected);
}

/// A batch without further requests ends: the next domain goes, and the counting begins anew.
#[test]
fn a_batch_ends_with_the_last_request_of_its_domain() {
    assert_eq!(
        kyber("read_batch=4", "0 R0; 0.5 W100; 1.5 R200 R300 R400 R500 R600"),
        "R0 W100 R200 R300 R400 R500 R600"
    );
    let played = kyber_on(1, "read_batch=4", "0 R0; 0.5 W100; 1.5 R200 R300 R400 R500 R600");
    assert_eq!(played.figures.counters.batches, 4, "R0, W100, four reads, one read");
}

/// Two reads hold both tokens; W100 goes past R40 and R60, which follow as the first two reads end.
#[test]
fn a_domain_without_a_token_waits_and_others_go_on() {
    let played = kyber_on(4, "read_depth=2", "0 R0 R20; 0.5 R40 R60 W100");
    assert_eq!(times_ms(&played, 'R'), [0, 0, 1, 1]);
    assert_eq!(played.times[2], (MS / 2, "W100".to_string()));
}

/// With one token each, one read and one write are in the device at a time.
#[test]
fn each_domain_has_tokens_of_its_own() {
    let played = kyber_on(8, "read_depth=1 write_depth=1", "0 R0 R20 R40 W100 W200 W300");
    assert_eq!((times_ms(&played, 'R'), times_ms(&played, 'W')), (vec![0, 1, 2], vec![0, 1, 2]));
}

/// The device is free, and only the domain without tokens has requests: they wait for an end.
#[test]
fn a_lone_domain_waits_for_its_tokens() {
    let played = kyber_on(8, "trim_depth=2", "0 T0 T20 T40 T60 T80");
    assert_eq!(times_ms(&played, 'T'), [0, 0, 1, 1, 2]);
}

/// KYBER_ASYNC_PERCENT: writes that nobody waits for hold at most 3 of 4 places. R500 of another process takes the fourth, and
/// goes after w100; w400 waits for the end of w100.
#[test]
fn a_quarter_of_the_places_is_for_requests_that_somebody_waits_for() {
    let sets = &["scheduler=kyber", "nr_requests=4", "scheduler.kyber.write_batch=1"];
    let played = play(sets, "0 w100 w200 w300 w400 R500/1");
    assert_eq!((played.order.as_str(), played.figures.blocked), ("w100 R500/1 w200 w300 w400", 1));
}

/// A piece joins requests of its own process, of its own kind.
#[test]
fn merging_stays_within_a_process() {
    assert_eq!(kyber("", "0 R0; 0.5 R100 R200 R108 R192"), "R0 R100+16 R192+16");
    assert_eq!(kyber("", "0 R0; 0.5 R100/1 R108/2"), "R0 R100/1 R108/2");
    assert_eq!(kyber("", "0 R0; 0.5 R100 W108"), "R0 R100 W108");
}

/// blk_bio_list_merge looks at the eight newest requests of the process.
#[test]
fn a_piece_finds_one_of_the_eight_newest_requests() {
    let others = |count| burst('R', 1000, count);
    let with = |count| kyber("", &format!("0 R0; 0.5 R100{} R108", others(count)));
    assert_eq!(with(7), format!("R0 R100+16{}", others(7)));
    assert_eq!(with(8), format!("R0 R100{} R108", others(8)));
}

/// A read takes a token at 1 ms, so the reads of all processes move into the domain's list; R108 does not find R100 there. With
/// no token for it, R100 stays where R108 finds it.
#[test]
fn requests_that_have_moved_to_the_domain_are_not_joined() {
    assert_eq!(kyber("", "0 R0; 0.5 R50 R100; 1.5 R108"), "R0 R50 R100 R108");
    let played = kyber_on(2, "read_depth=1", "0 R0; 0.5 R100; 0.6 R108");
    assert_eq!(played.order, "R0 R100+16");
}

/// Processes are taken in the order of their numbers, each with all of its requests.
#[test]
fn processes_move_to_the_domain_one_by_one() {
    assert_eq!(kyber("", "0 R0; 0.5 R500/3 R100/2 R600/3 R200/1"), "R0 R200/1 R100/2 R500/3 R600/3");
}

/// Since Linux 2.6.37 a flush passes the scheduler: no token, no turn.
#[test]
fn a_flush_needs_no_token() {
    let played = kyber_on(2, "write_depth=1", "0 W0; 0.25 W100; 0.5 F");
    assert_eq!(played.times[1], (MS / 2, "F".to_string()));
    assert_eq!(played.times[2], (MS, "W100".to_string()));
}

/// Reads of 1 ms each with one read after the other on a device that takes eight at a time. Their time in the device is 1 ms, so
/// a target of `read_lat_ms` puts it into a bucket of its own. `count` reads end before the review at 101 ms (the first end is
/// at 1 ms); afterwards a burst of reads shows the depth.
fn depth_after(parameters: &str, count: u64, letter: char) -> usize {
    let mut script = String::new();
    for at in 0..count {
        write!(script, "{} {letter}{}; ", at / 8, 100 * at).expect("text");
    }
    write!(script, "200 {}", burst(letter, 1_000_000, 60)).expect("text");
    let played = kyber_on(64, parameters, &script);
    played.times.iter().filter(|(at, _)| *at == 200 * MS).count()
}

/// 600 reads of 1 ms, and the target is 0.8 ms: each lies in the bucket up to 5/4 of the target (1 ms = 5 x 0.2 ms). The 90th
/// percentile misses the target: congested; the 99th gives bucket 4, and the depth becomes 40 x 5 / 4, but at most 40.
#[test]
fn a_domain_that_misses_its_target_keeps_its_depth() {
    assert_eq!(depth_after("read_lat_ms=0.8 read_depth=40", 600, 'R'), 40);
}

/// 600 reads of 1 ms, and the target is 4 ms: all lie in bucket 0, nothing is congested, and the depth stays.
#[test]
fn without_congestion_good_latencies_change_nothing() {
    assert_eq!(depth_after("read_lat_ms=4 read_depth=40", 600, 'R'), 40);
}

/// As `depth_after`, with as many writes beside the reads.
fn depths_after(parameters: &str, count: u64) -> (usize, usize) {
    let mut script = String::new();
    for at in 0..count {
        write!(script, "{} R{} W{}; ", at / 8, 100 * at, 200_000 + 100 * at).expect("text");
    }
    write!(script, "200 {}{}", burst('R', 1_000_000, 60), burst('W', 2_000_000, 60)).expect("text");
    let sets = keys(parameters);
    let sets: Vec<&str> = sets.iter().map(String::as_str).filter(|set| !set.starts_with("nr_requests")).collect();
    let sets = [&sets[..], &["nr_requests=256"]].concat();
    let played = play_on(128, MS, &sets, &script);
    let of = |letter| played.times.iter().filter(|(at, text)| *at == 200 * MS && text.starts_with(letter)).count();
    (of('R'), of('W'))
}

/// Reads miss a target of 0.5 ms (1 ms lies in bucket 7, beyond 7/4), so the device is congested. Writes of 1 ms meet a target of
/// 4 ms, in bucket 0: their depth becomes 40 x 1 / 4. With a target of 1.4 ms they lie in bucket 2 (1 ms is between 0.70 and 1.05
/// ms): 40 x 3 / 4.
#[test]
fn congestion_takes_tokens_from_domains_that_meet_their_targets() {
    let sets = "read_lat_ms=0.5 read_depth=40 write_depth=40";
    assert_eq!(depths_after(&format!("{sets} write_lat_ms=4"), 600), (40, 10));
    assert_eq!(depths_after(&format!("{sets} write_lat_ms=1.4"), 600), (40, 30));
}

/// A percentile counts with 500 samples. 499 at the first review, 101 ms, are too few, and no later end makes another review
/// before 200 ms.
#[test]
fn a_percentile_needs_five_hundred_samples() {
    let sets = "read_lat_ms=0.5 write_lat_ms=4 read_depth=40 write_depth=40";
    assert_eq!(depths_after(sets, 500), (40, 10));
    assert_eq!(depths_after(sets, 499), (40, 40));
}

/// Reads and writes of 1 ms until a congestion leaves the writes 20 tokens: with a target of 2 ms they lie in bucket 1, 40 x 2 / 4.
/// Then writes alone, ten bursts of 60: of each, 20 go at once, 20 after 1 ms and 20 after 2 ms. The time in the device is 1 ms,
/// which is not congested. The total time is 1, 2 or 3 ms, and its 99th percentile 3 ms, in bucket 5: 20 x 6 / 4 = 30. With 30
/// tokens the last writes of a burst take 2 ms, which meets the target: the depth stays.
#[test]
fn a_depth_grows_again_after_bad_latencies() {
    let grown = |rounds: u64| {
        let mut script = String::new();
        for at in 0..600 {
            write!(script, "{} R{} W{}; ", at / 8, 100 * at, 200_000 + 100 * at).expect("text");
        }
        for at in 0..10 * rounds {
            write!(script, "{} {}; ", 200 + 200 * (at / 10) + 8 * (at % 10), burst('W', 1_000_000, 60)).expect("text");
        }
        write!(script, "1000 {}", burst('W', 2_000_000, 60)).expect("text");
        let sets = ["scheduler=kyber", "nr_requests=256", "scheduler.kyber.read_lat_ms=0.5"];
        let writes = ["scheduler.kyber.write_lat_ms=2", "scheduler.kyber.write_depth=40"];
        let played = play_on(128, MS, &[&sets[..], &writes].concat(), &script);
        played.times.iter().filter(|(at, _)| *at == 1000 * MS).count()
    };
    assert_eq!([grown(0), grown(1), grown(2)], [20, 30, 30]);
}

/// A read and a write each 50 ms; reviews at 101, 201, ... ms. That at 101 ms finds the first samples, and so that at 1101 ms
/// counts few of the time in the device: the reads miss their target. The total time shares the deadline, which begins anew: it counts
/// at 2101 ms, and only if the time in the device has no sample then, which would come first again. So the writes lose tokens
/// (bucket 0: 40 x 1 / 4) at 2101 ms if no write has ended since 1101 ms.
#[test]
fn few_samples_count_after_a_second() {
    let tokens = |writes_end_ms: u64, burst_ms: u64| {
        let mut script = String::new();
        for at in (0..burst_ms).step_by(50) {
            let write = if at < writes_end_ms { format!(" W{}", 1_000_000 + 100 * at) } else { String::new() };
            write!(script, "{at} R{}{write}; ", 100 * at).expect("text");
        }
        write!(script, "{burst_ms} {}", burst('W', 2_000_000, 60)).expect("text");
        let sets = keys("read_lat_ms=0.5 write_lat_ms=4 write_depth=40");
        let played = play_on(128, MS, &sets.iter().map(String::as_str).collect::<Vec<_>>(), &script);
        played.times.iter().filter(|(at, text)| *at == burst_ms * MS && text.starts_with('W')).count()
    };
    assert_eq!([tokens(1_000, 1_175), tokens(1_000, 2_075), tokens(1_000, 2_175)], [40, 40, 10]);
    assert_eq!(tokens(3_000, 3_175), 40);
}

/// The values of the source.
#[test]
fn the_constants_are_those_of_linux_6_1() {
    let config = crate::host::desk::config(1, &["scheduler=kyber"]);
    let values = &config.host.as_ref().expect("a host").scheduler.parameters;
    let expected = [
        ("read_batch", 16.0),
        ("read_depth", 256.0),
        ("read_lat_ms", 2.0),
        ("trim_batch", 1.0),
        ("trim_depth", 64.0),
        ("trim_lat_ms", 5_000.0),
        ("write_batch", 8.0),
        ("write_depth", 128.0),
        ("write_lat_ms", 10.0),
    ];
    assert!(values.iter().map(|(name, &value)| (name.as_str(), value)).eq(expected), "{values:?}");
}

/// A trim below a stream of reads and writes that never ends waits for a batch of each.
#[test]
fn a_stream_of_reads_and_writes_does_not_starve_a_trim() {
    let mut script = format!("0{}{} T900000", burst('R', 0, 30), burst('W', 100_000, 30));
    for at in 1..200 {
        write!(script, "; {at} R{} W{}", 200_000 + 100 * at, 400_000 + 100 * at).expect("text");
    }
    let sets = ["scheduler=kyber", "nr_requests=1000"];
    let played = play(&sets, &script);
    let trim = played.times.iter().position(|(_, request)| request == "T900000").expect("the trim");
    assert_eq!(trim, 16 + 8);
}
