//! The schedulers of Linux 2.6.32 beside the kernel's own code: the orders in which its elevators gave requests to a driver.
//!
//! `data/` has scenarios that were played with the unmodified sources of `block/`, compiled in user space behind stubs: what processes send,
//! and when the driver started which request. Of `noop`, `deadline` and `anticipatory` it is 2.6.32.71 with HZ = 1000. `cfq` counts in ns,
//! and stands beside 2.6.32.71 with jiffies of 1 us (`_hz1e6`); `cfq_el6` beside 2.6.32-71.el6 with HZ = 1000 (`_el6`).
//!
//! `FLASHWATT_ELEVATORS=FOLDER` has a folder of further scenarios played, too, and prints what differs there.

mod bench;
mod random;
mod scenario;

use std::path::{Path, PathBuf};

use bench::play;
use scenario::{Scenario, Started};

/// Two times are the same if they differ by at most this: the data has jiffies of 1 us where FlashWatt counts in ns.
const SAME_NS: u64 = 2_000;

/// What stands beside what: a scheduler of the scenarios, the suffix of the results, and FlashWatt's scheduler.
const BESIDE: [(&str, &str, &str); 5] = [
    ("noop", "", "noop"),
    ("deadline", "", "deadline"),
    ("anticipatory", "", "anticipatory"),
    ("cfq", "_hz1e6", "cfq"),
    ("cfq", "_el6", "cfq_el6"),
];

/// The first difference between two orders of dispatch.
fn difference(ours: &[Started], theirs: &[Started]) -> Option<String> {
    let differ = |(a, b): (&Started, &Started)| {
        (a.op, a.sector, a.sectors) != (b.op, b.sector, b.sectors) || a.at_ns.abs_diff(b.at_ns) > SAME_NS
    };
    let at = ours.iter().zip(theirs).position(differ);
    let at = at.or((ours.len() != theirs.len()).then_some(ours.len().min(theirs.len())))?;
    let of = |list: &[Started]| list.get(at).map_or_else(|| "none".into(), |one| format!("{one:?}"));
    Some(format!("request {at} of {}: {} instead of {}", theirs.len(), of(ours), of(theirs)))
}

/// Plays the scenarios of a folder for one line of [`BESIDE`]: how many there are, and what differs.
fn beside(folder: &Path, (of, suffix, scheduler): (&str, &str, &str)) -> (usize, Vec<String>) {
    let scenarios = Scenario::all(folder, suffix).into_iter().filter(|scenario| scenario.scheduler == of);
    let mut count = 0;
    let differ = |scenario: Scenario| {
        count += 1;
        let difference = difference(&play(&scenario, scheduler), &scenario.started(suffix))?;
        Some(format!("{} under {scheduler}: {difference}", scenario.name))
    };
    let differences = scenarios.filter_map(differ).collect();
    (count, differences)
}

#[test]
fn the_orders_are_those_of_the_kernel() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/elevators/data");
    for line in BESIDE {
        let (count, differences) = beside(&folder, line);
        assert!(count >= 7, "{line:?}: {count} scenarios");
        assert_eq!(differences, Vec::<String>::new());
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the figures of docs/host.md if a folder is named")]
fn the_orders_of_a_given_folder_are_those_of_the_kernel() {
    let Some(folder) = std::env::var_os("FLASHWATT_ELEVATORS").map(PathBuf::from) else { return };
    let mut all = Vec::new();
    for line in BESIDE {
        let (count, differences) = beside(&folder, line);
        println!("{}{}: {} of {count} scenarios are the same", line.2, line.1, count - differences.len());
        all.extend(differences);
    }
    assert_eq!(all, Vec::<String>::new());
}

/// Whatever comes, every sector of a request reaches the device, and every request ends: `play` fails where one is left behind. Scenario 98
/// leaves processes waiting for places if one is woken twice, 399 requests in the queue if a queue of `cfq` ends its turn when its process moves.
/// A soak draws others, and more of them.
#[test]
fn no_request_is_left_behind() {
    let tier = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<f64>().ok());
    let mut draw = random::Draw::new(tier("FLASHWATT_SEED").map_or(7, |seed| seed as u64));
    for _ in 0..tier("FLASHWATT_SOAK").map_or(420, |factor| (6_000.0 * factor) as u32) {
        let scenario = random::scenario(&mut draw);
        let sum = |op: char, sizes: &mut dyn Iterator<Item = (char, u64)>| -> u64 {
            sizes.filter(|&(of, _)| of == op).map(|(_, sectors)| sectors).sum()
        };
        for scheduler in ["noop", "deadline", "anticipatory", "cfq", "cfq_el6", "pardispatcher"] {
            let started = play(&scenario, scheduler);
            for op in ['R', 'W'] {
                let sent = sum(
                    op,
                    &mut scenario.requests.iter().map(|sent| (bench::op(&sent.request), sent.request.bytes / 512)),
                );
                let got = sum(op, &mut started.iter().map(|one| (one.op, one.sectors)));
                assert_eq!(got, sent, "{scheduler}");
            }
        }
    }
}
