//! `cfq_el6` of Linux 2.6.32-71.el6: what it does otherwise than `cfq`, worked out from its block/cfq-iosched.c by hand.
//!
//! Every request takes 1 ms.

use std::fmt::Write;

use crate::host::desk::{Played, config, letter, play, process, runs};

/// Plays a script on a disk with a large queue.
fn on_disk(scheduler: &str, script: &str) -> Played {
    play(&[&format!("scheduler={scheduler}"), "rotational=true", "nr_requests=4096"], script)
}

/// `count` requests of each of some processes, 16 sectors apart, each process in a region of its own.
fn readers(processes: u64, count: u64) -> String {
    let mut script = "0".to_string();
    for at in 0..processes * count {
        let (process, step) = (at % processes, at / processes);
        write!(script, " R{}/{process}", process * 1_000_000 + 16 * step).expect("text");
    }
    script
}

/// cfq_set_prio_slice: the mean number of queues goes (3 x 4 + 0 + 2) / 4 = 3, then (3 x 4 + 3 + 2) / 4 = 4. With three of them a
/// slice has 100 ms, with four 100 x 300 / 400. One request ends before each slice begins.
#[test]
fn slices_shrink_with_the_number_of_queues() {
    let script = readers(4, 200);
    let of = |scheduler: &str| runs(&on_disk(scheduler, &script), process)[..4].to_vec();
    assert_eq!(of("cfq_el6"), [('0', 101), ('1', 76), ('2', 76), ('3', 76)]);
    assert_eq!(of("cfq"), [('0', 101), ('1', 101), ('2', 101), ('3', 101)]);
}

/// choose_service_tree: the tree of the readers is chosen with the first request, and is served for 300 ms, three turns of 101
/// requests. Then that of the writes is, for 300 x 1 / 3 x 40 / 100 ms. Its only queue gives the drive back after 16 of them (cfq_prio_to_maxrq), and gets it again while the time of the
/// tree is not over: behind 16 and 32, not behind 48.
#[test]
fn what_nobody_waits_for_has_a_tree_of_its_own() {
    let mut script = readers(2, 300);
    for at in 0..100 {
        write!(script, " w{}/9", 3_000_000 + 1_000 * at).expect("text");
    }
    assert_eq!(runs(&on_disk("cfq_el6", &script), letter)[..2], [('R', 303), ('w', 48)]);
}

/// cfq_should_idle: a process reads far and wide, beside one that goes on from where it was. Once it is known for that, the device is not kept idle for it
/// beside another one of its kind, but as the last of its tree it is waited for, for 8 ms. `cfq` waits for 2 ms.
#[test]
fn a_seeky_queue_is_waited_for_if_it_is_the_last_of_its_tree() {
    let far = |at: u64| at * 7 % 40 * 100_000;
    let script = |processes: u64| {
        (0..40u64).fold(String::new(), |mut text, at| {
            write!(text, "; {}", at * 20).expect("text");
            (0..processes).for_each(|process| write!(text, " R{}/{process}", far(at + 3 * process)).expect("text"));
            text
        })
    };
    let idle_ms = |scheduler: &str| on_disk(scheduler, &script(1)).figures.counters.idle_wait_ns as f64 / 1e6 / 40.0;
    assert!((7.0..=8.0).contains(&idle_ms("cfq_el6")), "{}", idle_ms("cfq_el6"));
    assert!(idle_ms("cfq") < 4.0, "{}", idle_ms("cfq"));
}

/// The values of the source at HZ = 1000.
#[test]
fn the_constants_are_those_of_2_6_32_71_el6() {
    let config = config(1, &["scheduler=cfq_el6"]);
    let host = config.host.as_ref().expect("a host");
    let expected = [
        ("back_seek_max_kib", 16_384.0),
        ("back_seek_penalty", 2.0),
        ("fifo_expire_async_ms", 250.0),
        ("fifo_expire_sync_ms", 125.0),
        ("low_latency", 1.0),
        ("quantum", 8.0),
        ("slice_async_ms", 40.0),
        ("slice_async_rq", 2.0),
        ("slice_idle_ms", 8.0),
        ("slice_sync_ms", 100.0),
    ];
    let values = &host.scheduler.parameters;
    assert!(values.iter().map(|(name, &value)| (name.as_str(), value)).eq(expected), "{values:?}");
    assert_eq!((host.nr_requests, host.max_request_bytes), (128, 512 << 10));
}
