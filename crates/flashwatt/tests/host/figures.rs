//! The report's section `host`, each figure worked out by hand once. The device takes 1 ms for each request, one at a time;
//! requests are of one sector of 512 bytes.

use serde_json::{Value, json};

use crate::host::desk::{MS, report};

fn at<'a>(report: &'a Value, path: &str) -> &'a Value {
    report.pointer(path).unwrap_or_else(|| panic!("{path}: {report}"))
}

fn number(report: &Value, path: &str) -> f64 {
    at(report, path).as_f64().unwrap_or_else(|| panic!("{path}: {report}"))
}

/// Count, mean and greatest of a part of the latency, in ms.
fn latency(report: &Value, path: &str) -> (u64, f64, f64) {
    let of = |key: &str| number(report, &format!("/latency_ns/{path}/{key}"));
    (of("count") as u64, of("mean") / MS as f64, of("max") / MS as f64)
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

/// `noop`, all at once: W0 goes to the device. R20 waits, R19 joins it at its front; W8 waits, W9 joins it at its end. The device
/// gets W0 at 0 ms, R19+2 at 1 ms and W8+2 at 2 ms, and is done at 3 ms.
fn merged() -> Value {
    report(&["scheduler=noop"], "0 W0+1 R20+1/2 R19+1/2 W8+1/1 W9+1/1")
}

#[test]
fn requests_before_and_after_merging() {
    let report = merged();
    assert_eq!(at(&report, "/merges"), &json!({ "back": 1, "front": 1, "joined": 0 }));
    let kind = |submitted: u32, dispatched: u32, mean: f64| {
        json!({
            "submitted": submitted, "submitted_bytes_mean": 512.0,
            "dispatched": dispatched, "dispatched_bytes_mean": mean,
        })
    };
    assert_eq!(at(&report, "/read"), &kind(2, 1, 1024.0));
    assert_eq!(at(&report, "/write"), &kind(3, 2, 768.0), "(1 + 2) / 2 sectors");
    let nothing = json!({
        "submitted": 0, "submitted_bytes_mean": null, "dispatched": 0, "dispatched_bytes_mean": null,
    });
    assert_eq!(at(&report, "/other"), &nothing);
}

/// clat = queue + device. Writes: 1 = 0 + 1, and twice 3 = 2 + 1. Reads: twice 2 = 1 + 1.
#[test]
fn latencies_are_split_as_fio_does() {
    let report = merged();
    assert_eq!(latency(&report, "slat/write"), (3, 0.0, 0.0));
    let (count, mean, max) = latency(&report, "clat/write");
    near(mean, 7.0 / 3.0);
    assert_eq!((count, max), (3, 3.0));
    let (_, mean, max) = latency(&report, "queue/write");
    near(mean, 4.0 / 3.0);
    assert_eq!(max, 2.0);
    assert_eq!(latency(&report, "device/write"), (3, 1.0, 1.0));
    assert_eq!(latency(&report, "clat/read"), (2, 2.0, 2.0));
    assert_eq!(latency(&report, "queue/read"), (2, 1.0, 1.0));
    assert_eq!(latency(&report, "device/read"), (2, 1.0, 1.0));
}

/// One place in the queue: the second write waits for it while the first is in the device.
#[test]
fn slat_is_the_wait_for_a_place() {
    let report = report(&["scheduler=noop", "nr_requests=1"], "0 W0+1 W100+1/1");
    assert_eq!(latency(&report, "slat/write"), (2, 0.5, 1.0));
    assert_eq!(latency(&report, "clat/write"), (2, 1.0, 1.0));
    assert_eq!(latency(&report, "queue/write"), (2, 0.0, 0.0));
    assert_eq!(number(&report, "/depth/blocked"), 1.0);
}

/// Queued: two requests for 1 ms, one for 1 ms, none for 1 ms. In the device: one all the time.
#[test]
fn depths_are_means_over_time() {
    let report = merged();
    near(number(&report, "/depth/queued_mean"), 1.0);
    near(number(&report, "/depth/in_device_mean"), 1.0);
    assert_eq!(number(&report, "/depth/queued_max"), 2.0);
    assert_eq!((number(&report, "/depth/blocked"), number(&report, "/depth/withheld_s")), (0.0, 0.0));
}

/// A write that nobody waits for is plugged for 3 ms, with the device idle, and then served in 1 ms.
#[test]
fn a_plug_withholds_requests() {
    let report = report(&["scheduler=deadline", "plug_requests=4"], "0 w0+1");
    near(number(&report, "/depth/withheld_s"), 0.003);
    near(number(&report, "/depth/queued_mean"), 0.75);
    near(number(&report, "/depth/in_device_mean"), 0.25);
    assert_eq!(latency(&report, "queue/write"), (1, 3.0, 3.0));
    assert_eq!(latency(&report, "clat/write"), (1, 4.0, 4.0));
}

/// From 1 to 19, and from 21 to 8: 18 and 13 sectors.
#[test]
fn seeks_count_from_the_end_of_one_request_to_the_beginning_of_the_next() {
    assert_eq!(at(&merged(), "/seeks"), &json!({ "count": 2, "bytes_mean": 15.5 * 512.0 }));
}

/// By direction it is the greatest wait in the queue, above; by process 1 and 2 wait 2 and 1 ms.
#[test]
fn the_longest_wait_of_each_process() {
    let longest = json!([{ "process": 1, "ns": 2 * MS }, { "process": 2, "ns": MS }]);
    assert_eq!(at(&merged(), "/longest_wait"), &longest);
}

/// Jain's index of 1, 2 and 2 sectors: 5² / (3 × (1 + 4 + 4)).
#[test]
fn fairness_is_that_of_processes() {
    near(number(&merged(), "/fairness"), 25.0 / 27.0);
    assert_eq!(at(&report(&["scheduler=noop"], "0 W0+1/3 W8+1/3"), "/fairness"), &Value::Null, "one process");
    near(number(&report(&["scheduler=none"], "0 W0+1 R8+1/1"), "/fairness"), 1.0);
    near(number(&report(&["scheduler=none"], "0 W0+1 T8+1/1"), "/fairness"), 0.5);
}

/// The write is a batch, and so is the read after it. It has waited for one jiffy: with a limit of none it has expired.
#[test]
fn batches_and_expired_requests() {
    let decisions = |expire: &str| report(&["scheduler=deadline", expire], "0 W0+1 R100+1/1")["decisions"].clone();
    let expected = |expired: u32| {
        json!({
            "batches": 2, "expired": expired, "idle_waits": 0, "idle_hits": 0, "idle_wait_s": 0.0, "preemptions": 0,
        })
    };
    assert_eq!(decisions("scheduler.deadline.read_expire_ms=0"), expected(1));
    assert_eq!(decisions("scheduler.deadline.read_expire_ms=2"), expected(0));
}
