//! How long a request waits under a hostile stream, for every registered scheduler. Where an algorithm has no bound of its own, its
//! entry shows that.
//!
//! The device takes one request at a time, 1 ms each. A hostile stream keeps it busy for ever: some requests at 0 ms, and as many
//! further ones as it serves.

use std::fmt::Write;

use flashwatt_host::sched::REGISTRY;

use crate::host::desk::{MS, Script, play};

/// A test for each registered scheduler.
const BOUNDS: &[(&str, fn())] = &[
    ("none", none),
    ("mq_deadline", mq_deadline),
    ("kyber", kyber),
    ("bfq", bfq),
    ("noop", noop),
    ("deadline", deadline),
    ("anticipatory", anticipatory),
    ("cfq", cfq),
    ("cfq_el6", cfq_el6),
    ("pardispatcher", pardispatcher),
];

#[test]
fn every_scheduler_bounds_waits_as_its_rules_say() {
    for entry in REGISTRY {
        let bound = BOUNDS.iter().find(|(name, _)| *name == entry.name);
        let (_, check) = bound.unwrap_or_else(|| panic!("{}: say how long a request waits, in BOUNDS", entry.name));
        check();
    }
}

/// A stream of requests of 8 sectors upwards from sector 100000, 100 sectors apart: `backlog` at 0 ms, then one each ms for `ms`.
/// `victim` comes half a ms after `victim_ms`.
fn stream_around(backlog: u64, ms: u64, word: fn(u64) -> String, victim_ms: u64, victim: &str) -> String {
    let mut script = String::new();
    for at in 0..ms.max(1) {
        let more = if at == 0 { 0..backlog } else { backlog + at - 1..backlog + at };
        write!(script, "{at}").expect("text");
        more.for_each(|number| write!(script, " {}", word(number)).expect("text"));
        script += "; ";
        if at == victim_ms {
            write!(script, "{at}.5 {victim}; ").expect("text");
        }
    }
    script
}

/// As [`stream_around`], with the victim at 0.5 ms.
fn stream(backlog: u64, ms: u64, word: fn(u64) -> String, victim: &str) -> String {
    stream_around(backlog, ms, word, 0, victim)
}

fn read(at: u64) -> String {
    format!("R{}", 100_000 + 100 * at)
}

/// The time in ms from the coming of `victim` to its dispatch.
fn wait_ms(scheduler: &str, sets: &[&str], script: &str, victim: &str) -> f64 {
    let name = format!("scheduler={scheduler}");
    let played = play(&[&[name.as_str()], sets].concat(), script);
    let came = Script::new(script).names().into_iter().find(|(_, text)| text == victim);
    let went = played.times.iter().find(|(_, text)| text == victim);
    let ((came, _), (went, _)) = came.zip(went).expect("the victim");
    (went - came) as f64 / MS as f64
}

fn assert_within(wait_ms: f64, least: f64, most: f64) {
    assert!((least..=most).contains(&wait_ms), "{wait_ms} ms are not within {least} and {most} ms");
}

/// A process waits for one place at a time, so that a flood of one process delays another one by two requests, however long it
/// is. There is no bound but the number of processes: each of those that wait goes first.
fn none() {
    for flood in [20, 2_000] {
        let script = stream(flood, 100, |at| format!("R{}/1", 100_000 + 100 * at), "R8/2");
        assert_eq!(wait_ms("none", &[], &script, "R8/2"), 1.5);
    }
    for processes in [20, 200] {
        let script = stream(processes, 1, |at| format!("R{}/{at}", 100_000 + 100 * at), "R8/900");
        assert_eq!(wait_ms("none", &[], &script, "R8/900"), processes as f64 - 0.5);
    }
}

/// What came before goes before, and nothing else: the bound is the length of the queue, at most `nr_requests` of each class.
fn noop() {
    for backlog in [20, 120] {
        let script = stream(backlog, 300, read, "W8");
        assert_eq!(wait_ms("noop", &[], &script, "W8"), backlog as f64 - 0.5);
    }
}

/// A write is passed over for `writes_starved` batches that begin while it waits, and the batch that runs. A read below the stream
/// waits until it expires, and for the end of a batch of 16.
fn deadline() {
    let write = wait_ms("deadline", &[], &stream(20, 1_000, read, "W8"), "W8");
    assert_within(write, 2.0 * 16.0, 3.0 * 16.0);
    let low = wait_ms("deadline", &[], &stream(20, 1_000, read, "R8"), "R8");
    assert_within(low, 500.0, 500.0 + 16.0);
}

/// As `deadline` within a class. A request of a worse class waits until it is aged, and for one request. Without other requests
/// of better classes it would wait for none of that.
fn mq_deadline() {
    let places = "nr_requests=2000";
    let write = wait_ms("mq_deadline", &[places], &stream(20, 1_000, read, "W8"), "W8");
    assert_within(write, 2.0 * 16.0, 3.0 * 16.0);
    let low = wait_ms("mq_deadline", &[places], &stream(20, 1_000, read, "R8"), "R8");
    assert_within(low, 500.0, 500.0 + 16.0);
    let aging = [places, "scheduler.mq_deadline.prio_aging_expire_ms=300"];
    let idle = wait_ms("mq_deadline", &aging, &stream(20, 1_000, read, "R8:idle"), "R8");
    assert_within(idle, 300.0, 300.0 + 1.0);
}

/// A domain waits for a batch of each other domain. Within a domain there is no order but that of arrival: the bound of a
/// read is the number of reads before it, whatever comes later.
fn kyber() {
    let places = "nr_requests=2000";
    let trim = wait_ms("kyber", &[places], &stream(20, 1_000, read, "T8"), "T8");
    assert_within(trim, 1.0, 16.0);
    for backlog in [20, 500] {
        let script = stream(backlog, 1_000, read, "R8");
        assert_eq!(wait_ms("kyber", &[places], &script, "R8"), backlog as f64 - 0.5);
    }
}

/// Without weights a process waits for the turn of the other one: `timeout_sync_ms`, and the time that the device is kept idle. The
/// idle class is looked at after BFQ_CL_IDLE_TIMEOUT, 200 ms, at the end of a turn.
fn bfq() {
    let sets = ["nr_requests=2000", "scheduler.bfq.low_latency=0"];
    let other = wait_ms("bfq", &sets, &stream_around(20, 1_000, read, 150, "R8/1"), "R8/1");
    assert_within(other, 16.0, 125.0 + 8.0 + 1.0);
    let idle = wait_ms("bfq", &sets, &stream(20, 1_000, read, "R8/1:idle"), "R8/1");
    assert_within(idle, 200.0, 200.0 + 125.0 + 8.0 + 1.0);
}

/// A read of another process that is never the cheapest one waits until it expires, and until the next look for expired reads:
/// twice 125 ms. A write that nobody waits for waits for the end of the batch of reads, 500 ms after the end of its first one.
fn anticipatory() {
    let far = wait_ms("anticipatory", &[], &stream(20, 1_000, read, "R8000000/1"), "R8000000/1");
    assert_within(far, 125.0, 2.0 * 125.0 + 2.0);
    let write = wait_ms("anticipatory", &[], &stream(20, 1_000, read, "w8/1"), "w8/1");
    assert_within(write, 500.0, 500.0 + 2.0);
}

/// A reader of another process waits for one slice of 100 ms and the request in the device. Writes that nobody waits for have no
/// bound: see `what_others_preempt_starves` in `cfq.rs`.
fn cfq() {
    let other = wait_ms("cfq", &["nr_requests=2000"], &stream(20, 1_000, read, "R8/1"), "R8/1");
    assert_within(other, 98.0, 100.0 + 2.0);
}

/// The same. Beside one other queue a slice has its whole length.
fn cfq_el6() {
    let other = wait_ms("cfq_el6", &["nr_requests=2000"], &stream(20, 1_000, read, "R8/1"), "R8/1");
    assert_within(other, 98.0, 100.0 + 3.0);
}

/// Four regions, each with a stream. A read below that of its region waits until it expires, and for a turn of each region; a write for
/// two turns of its region.
fn pardispatcher() {
    let region = "scheduler.pardispatcher.region_bytes=1073741824";
    let word = |at| format!("R{}", (at % 4) * 2_097_152 + 100_000 + 100 * at);
    let read = wait_ms("pardispatcher", &[region], &stream(80, 1_000, word, "R8"), "R8");
    assert_within(read, 500.0, 500.0 + 4.0 * 16.0);
    let write = wait_ms("pardispatcher", &[region], &stream(80, 1_000, word, "W8"), "W8");
    assert_within(write, 16.0, 2.0 * 4.0 * 16.0);
}
