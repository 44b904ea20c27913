//! A trace that is replayed several times, and one whose addresses leave no gaps.

use super::*;
use crate::trace::dense::UNIT_BYTES;

const SECTOR: u64 = 512;

/// Arrivals and offsets of a replay.
fn replayed(cfg: &settings::Trace) -> Vec<(u64, u64)> {
    let (requests, _) = replay(cfg, DRIVE).unwrap_or_else(|e| panic!("{e}"));
    requests.iter().map(|r| (r.arrival_ns, r.offset_bytes)).collect()
}

#[test]
fn passes_follow_each_other_after_the_mean_time_between_arrivals() {
    let file = ssdsim("300 0 0 8 0\n400 0 8 8 0\n700 0 16 8 0\n");
    let cfg = settings::Trace { repeat: 3, ..file.cfg() };
    let offsets = [0, 8 * SECTOR, 16 * SECTOR];
    let pass = |start: u64| [0, 100, 400].map(|after| start + after).into_iter().zip(offsets);
    let expected: Vec<_> = pass(0).chain(pass(600)).chain(pass(1200)).collect();
    assert_eq!(replayed(&cfg), expected, "400 ns from the first to the last of 3: 200 ns apart");
    let (_, warnings) = replay(&cfg, DRIVE).expect("a good trace");
    assert_eq!(warnings, ["the trace is replayed 3 times, 200 ns from one pass to the next"]);

    let gap = settings::Trace { repeat_gap_ns: Some(1_000), repeat: 2, ..file.cfg() };
    assert_eq!(replayed(&gap), pass(0).chain(pass(1_400)).collect::<Vec<_>>());
    let first_two = settings::Trace { max_requests: Some(2), repeat: 2, ..file.cfg() };
    assert_eq!(replayed(&first_two).iter().map(|r| r.0).collect::<Vec<_>>(), [0, 100, 200, 300]);
    let workload = TraceWorkload::open(&cfg, DRIVE).expect("a good trace");
    assert_eq!(workload.len_hint(), Some(9));
}

#[test]
fn one_record_is_repeated_and_none_is_not() {
    let file = ssdsim("300 0 0 8 0\n");
    let cfg = settings::Trace { repeat: 4, repeat_gap_ns: Some(7), ..file.cfg() };
    assert_eq!(replayed(&cfg).iter().map(|r| r.0).collect::<Vec<_>>(), [0, 7, 14, 21]);
    let far = ssdsim("300 0 800000000 8 0\n");
    let clipped = settings::Trace { beyond: Beyond::Clip, repeat: 1_000_000, ..far.cfg() };
    let said = replay(&clipped, DRIVE).expect_err("nothing is left").to_string();
    assert!(said.contains("every request lies beyond the drive"), "{said}");
}

#[test]
fn a_trace_that_changes_between_passes_is_told() {
    let file = ssdsim("300 0 0 8 0\n400 0 8 8 0\n");
    let mut workload = TraceWorkload::open(&settings::Trace { repeat: 2, ..file.cfg() }, DRIVE).expect("a good trace");
    std::fs::write(&file.0, "300 0 0 8 0\n900 0 8 8 0\n").expect("writable");
    let mut now = 0;
    let said = loop {
        match workload.next(now) {
            Ok(Next::WaitUntil(t)) => now = t,
            Ok(Next::End) => break String::new(),
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(said.contains("changed"), "{said:?}");
}

#[test]
fn touched_addresses_are_moved_together() {
    let far = 900_000_000; // a sector 460 GB away
    let text = format!("1 0 {far} 8 0\n2 0 64 8 1\n3 1 0 40 0\n4 0 {} 8 0\n", far + 8);
    let file = ssdsim(&text);
    let said = replay(&file.cfg(), DRIVE).expect_err("too far").to_string();
    assert!(said.contains("workload.trace.dense = true"), "{said}");
    let dense = settings::Trace { dense: true, ..file.cfg() };
    let in_unit = |sector: u64| sector * SECTOR % UNIT_BYTES;
    let expected = [UNIT_BYTES + in_unit(far), in_unit(64), 2 * UNIT_BYTES, UNIT_BYTES + in_unit(far + 8)];
    assert_eq!(replayed(&dense).iter().map(|r| r.1).collect::<Vec<_>>(), expected);
    let (_, warnings) = replay(&dense, DRIVE).expect("it fits");
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("addresses without gaps: 65536 bytes in units of 16384, of a span of "));
    assert_eq!(replay(&dense, 4 * UNIT_BYTES).expect("four units").0.len(), 4);
    let said = replay(&dense, 4 * UNIT_BYTES - SECTOR).expect_err("too small").to_string();
    assert!(said.contains("what the trace touches does not fit the drive; found 65536 bytes"), "{said}");
    assert!(!said.contains("dense = true") && said.contains("--fold takes addresses modulo"), "{said}");
}
