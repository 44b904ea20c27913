//! SPEC F89: the constants of the schedulers of Linux 2.6.32, and what follows from them. (F82 to F88 stand with
//! `pardispatcher`.)

use std::fmt::Write;

use flashwatt_host::sched::REGISTRY;

use crate::host::desk::{MS, order, play};

/// The parameters of a scheduler with their defaults.
fn defaults(name: &str) -> Vec<(&'static str, f64)> {
    let entry = REGISTRY.iter().find(|entry| entry.name == name).expect("a registered scheduler");
    entry.params.iter().map(|param| (param.name, param.default)).collect()
}

/// SPEC A16: HZ / 2, 5 HZ, 2, 16, 1 of `deadline`; HZ / 8, HZ / 4, HZ / 2, HZ / 8, HZ / 150 of `anticipatory`, at HZ = 1000.
#[test]
fn f89_the_constants_are_those_of_linux_2_6_32() {
    assert_eq!(defaults("noop"), []);
    let deadline = [
        ("read_expire_ms", 500.0),
        ("write_expire_ms", 5_000.0),
        ("writes_starved", 2.0),
        ("fifo_batch", 16.0),
        ("front_merges", 1.0),
    ];
    assert_eq!(defaults("deadline"), deadline);
    let anticipatory = [
        ("read_expire_ms", 125.0),
        ("write_expire_ms", 250.0),
        ("read_batch_expire_ms", 500.0),
        ("write_batch_expire_ms", 125.0),
        ("antic_expire_ms", 6.0),
    ];
    assert_eq!(defaults("anticipatory"), anticipatory);
    for name in ["noop", "deadline", "anticipatory"] {
        let config = crate::host::desk::config(1, &[&format!("scheduler={name}")]);
        let host = config.host.expect("a host");
        assert_eq!((host.nr_requests, host.max_request_bytes), (128, 512 << 10), "{name}");
    }
}

/// `noop` is a FIFO that merges consecutive requests.
#[test]
fn f89_noop_is_a_fifo_with_merging() {
    assert_eq!(order(&["scheduler=noop"], "0 R0; 0.5 R900 R100 R500 R108 R300"), "R0 R900 R100+16 R500 R300");
}

/// `deadline`: 80 reads and a write at once. Three batches of 16 go before the write: that which runs already, and two that begin
/// while it waits.
#[test]
fn f89_deadline_writes_after_two_starved_batches() {
    let mut script = "0 R100000; 0.5".to_string();
    for at in 1..80 {
        write!(script, " R{}", 100_000 + 100 * at).expect("text");
    }
    let played = play(&["scheduler=deadline"], &format!("{script}; 1.5 W0"));
    let write = played.times.iter().position(|(_, text)| text == "W0").expect("the write");
    assert_eq!(write, 1 + 16 + 2 * 16);
}

/// `anticipatory`: 20 processes, each with one read far from the others. The device is kept idle for each, and never longer than
/// 6 ms.
#[test]
fn f89_anticipatory_waits_for_six_ms_at_most() {
    let mut script = "0".to_string();
    for process in 0..20 {
        write!(script, " R{}/{process}", 100_000 * process).expect("text");
    }
    let played = play(&["scheduler=anticipatory"], &script);
    let gaps: Vec<_> = played.times.windows(2).map(|pair| pair[1].0 - pair[0].0 - MS).collect();
    assert_eq!(gaps, [6 * MS; 19]);
}
