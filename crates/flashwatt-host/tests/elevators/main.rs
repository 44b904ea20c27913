//! The schedulers of Linux 2.6.32 beside the kernel's own code: the orders in which its elevators gave requests to a driver, in
//! scenarios that were played with the unmodified sources.

mod bench;
mod scenario;

use std::path::Path;

use bench::play;
use scenario::{Scenario, Started};

/// Two requests started at the same time differ by at most this.
const SAME_NS: u64 = 2_000;

/// The first difference between two orders of dispatch.
fn difference(ours: &[Started], theirs: &[Started]) -> Option<String> {
    let differ = |(a, b): (&Started, &Started)| {
        (a.op, a.sector, a.sectors) != (b.op, b.sector, b.sectors) || a.at_ns.abs_diff(b.at_ns) > SAME_NS
    };
    let at = ours.iter().zip(theirs).position(differ);
    let at = at.or((ours.len() != theirs.len()).then_some(ours.len().min(theirs.len())))?;
    let of = |list: &[Started]| list.get(at).map_or("nothing".into(), |one| format!("{}{}+{} at {}", one.op, one.sector, one.sectors, one.at_ns));
    Some(format!("request {at} of {}: {} instead of {}", theirs.len(), of(ours), of(theirs)))
}

#[test]
fn look() {
    let Ok(folder) = std::env::var("FLASHWATT_ELEVATORS") else { return };
    let suffix = std::env::var("SUFFIX").unwrap_or_default();
    let only = std::env::var("ONLY").unwrap_or_default();
    let cfq = std::env::var("CFQ").unwrap_or("cfq".into());
    let (mut same, mut all) = (0, 0);
    for scenario in Scenario::all(Path::new(&folder), &suffix) {
        if !scenario.name.contains(&only) { continue; }
        let scheduler = if scenario.scheduler == "cfq" { &cfq } else { &scenario.scheduler };
        let played = play(&scenario, scheduler);
        let theirs = scenario.started(&suffix);
        all += 1;
        match difference(&played.started, &theirs) {
            None => same += 1,
            Some(text) => println!("{:30} {text}", scenario.name),
        }
    }
    println!("{same} of {all}");
}
