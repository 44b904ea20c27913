//! Cuts of one drive share the scan of its spare areas: what comes back, and what that takes, is as if each cut simulated its own.

use flashwatt::crash::{Scans, come_back_by};

use super::*;

/// Comes back from a cut in both ways. Returns what is lost.
fn compare(remains: &Remains, scans: &mut Scans) -> u32 {
    let (alone, of_alone) = come_back(remains).expect("it comes back");
    let (shared, of_shared) = come_back_by(remains, scans).expect("it comes back");
    assert_eq!(alone, shared);
    assert_eq!(remains.held(of_alone.drive()), remains.held(of_shared.drive()));
    let recovered = remains.compare(of_shared.drive());
    assert_eq!(remains.compare(of_alone.drive()), recovered);
    recovered.lost + recovered.lost_by_pairs
}

/// Compares cuts at some of the first instants. Returns the units that are lost, over all of them.
fn compare_some(config: &Config, list: &[Request], bug: Bug, every: usize) -> u32 {
    let mut powered = Powered::faulty(config, Script::new(list), bug, &mut |_| true).expect("its power can be cut");
    let (mut scans, mut lost) = (Scans::default(), 0);
    for instant in 0.. {
        if powered.operations() >= 150 || !powered.step().expect("it goes on") {
            break;
        }
        if instant % every == 0 {
            lost += compare(&powered.cut(), &mut scans);
        }
    }
    lost
}

#[test]
fn a_shared_scan_changes_nothing() {
    let budget = ["controller.policy=in_order", "device.timing.channel_switch_ns=20000"];
    for more in [&[][..], &BUFFER, &CAPACITORS, &JOURNAL, &[TRIMS], &[CHECKPOINTS], &budget] {
        for_each_scheme(&some_schemes(), 1, |scheme, seed| {
            let mut rng = Rng::new(seed);
            let config = drive(scheme, &mut rng, more);
            let list = requests(&mut rng, 200, config.logical_bytes(), more);
            compare_some(&config, &list, Bug::None, 61);
        });
    }
}

/// Faults on purpose are seen as well through a shared scan.
#[test]
fn faults_on_purpose_are_found_by_a_shared_scan() {
    let of_the_journal: [(Bug, &[&str]); 2] = [(Bug::JournalOlder, &JOURNAL), (Bug::JournalForgotten, &JOURNAL)];
    let scheme = first_of_layer(some_schemes(), "page");
    for (bug, more) in FAULTS.into_iter().chain(of_the_journal) {
        let loses = |seed| {
            let mut rng = Rng::new(seed);
            let config = drive(&scheme, &mut rng, more);
            let list = requests(&mut rng, 400, config.logical_bytes(), more);
            compare_some(&config, &list, bug, 3) > 0
        };
        assert!((0..64).any(loses), "{bug:?} is not found");
    }
}
