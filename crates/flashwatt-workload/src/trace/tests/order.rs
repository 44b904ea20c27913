//! Times that go back, and the option that puts records in order.

use super::*;

/// Times that step back from 500 to 100 and from 600 to 400. The times 100, 200 and 400 are earlier than the latest
/// before them.
const BACK: &str = "300 0 0 8 0\n500 0 8 8 0\n100 0 16 8 0\n200 0 24 8 0\n600 0 32 8 0\n400 0 40 8 0\n";

fn sorted(file: &Temporary) -> settings::Trace {
    settings::Trace { sort: true, ..file.cfg() }
}

#[test]
fn info_says_how_far_times_go_back() {
    let file = ssdsim(BACK);
    let found = |cfg: &settings::Trace| {
        let info = info(cfg, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        (info.time_steps_back, info.requests_back, info.largest_step_back_ns, info.start_ns, info.duration_ns)
    };
    assert_eq!(found(&file.cfg()), (2, 3, 400, 300, 300));
    assert_eq!(found(&sorted(&file)), (0, 0, 0, 100, 500));
}

#[test]
fn records_are_put_in_the_order_of_their_times() {
    let (requests, warnings) = replay(&sorted(&ssdsim(BACK)), DRIVE).expect("a good trace");
    let expected = [(0, 4096 * 2), (100, 4096 * 3), (200, 0), (300, 4096 * 5), (400, 4096), (500, 4096 * 4)];
    assert_eq!(requests.iter().map(|r| (r.arrival_ns, r.offset_bytes)).collect::<Vec<_>>(), expected);
    assert_eq!(warnings, ["3 records put in the order of their times: 2 steps back, the largest 400 ns"]);
    let (_, warnings) = replay(&ssdsim(BACK).cfg(), DRIVE).expect("a good trace");
    let what = "3 records whose time goes back: each arrives with the record before it (2 steps back, the largest 400 ns; \
                --sort puts them in order)";
    assert_eq!(warnings, [what]);
}

/// Records with equal times keep the order of the file, sorted files can be merged, and faults name the record's line.
#[test]
fn sorting_keeps_the_rest_as_it_is() {
    let equal = ssdsim("5 0 0 8 0\n9 0 8 8 0\n5 0 16 8 0\n5 0 24 8 0\n");
    let (requests, _) = replay(&sorted(&equal), DRIVE).expect("a good trace");
    assert_eq!(requests.iter().map(|r| r.offset_bytes / 4096).collect::<Vec<_>>(), [0, 2, 3, 1]);
    let (a, b) = (ssdsim("30 0 0 8 0\n10 0 8 8 0\n"), ssdsim("40 0 16 8 0\n20 0 24 8 0\n"));
    let both = settings::Trace { paths: vec![a.0.clone(), b.0.clone()], share_devices: true, ..sorted(&a) };
    let (requests, warnings) = replay(&both, DRIVE).expect("good traces");
    assert_eq!(requests.iter().map(|r| r.offset_bytes / 4096).collect::<Vec<_>>(), [1, 3, 0, 2]);
    assert_eq!(warnings, ["2 records put in the order of their times: 2 steps back, the largest 20 ns"]);
    let aligned = settings::Trace { align_starts: true, ..both };
    let (requests, _) = replay(&aligned, DRIVE).expect("good traces");
    assert_eq!(requests.iter().map(|r| r.arrival_ns).collect::<Vec<_>>(), [0, 0, 20, 20]);
    let beyond = ssdsim("9 0 0 8 0\n5 0 4096 8 0\n");
    assert!(message(replay(&sorted(&beyond), 1 << 20)).starts_with("t.ssdsim:2: offset: requests reach beyond"));
}

#[test]
fn as_many_records_leave_as_came() {
    let mut content = String::new();
    let mut rng = flashwatt_base::rng::Rng::new(11);
    for _ in 0..3000 {
        content += &format!("{} 0 {} 8 1\n", rng.below(1 << 30), 8 * rng.below(10_000));
    }
    let file = ssdsim(&content);
    let all = |cfg: &settings::Trace| {
        let mut traces = Traces::open(cfg).expect("a good trace");
        std::iter::from_fn(|| traces.next_record().expect("a good record")).collect::<Vec<_>>()
    };
    let mut expected = all(&file.cfg());
    expected.sort_by_key(|record| record.time_ns);
    assert_eq!(all(&sorted(&file)), expected);
}
