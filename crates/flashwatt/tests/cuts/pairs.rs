//! Pages that share cells, and what protects them.

use super::{BUFFER, CAPACITORS, CHECKPOINTS, Scheme, TRIMS, cut_at_random, cut_everywhere, in_order, random_cuts};
use super::{load_scheme, run_that_loses, some_schemes, with_checkpoints};
use crate::schemes::for_each_scheme;
use flashwatt::crash::Bug;

/// Lower pages are copied before.
const BACKUP: &str = "device.nand.paired_pages=\"backup\"";

fn nothing_is_lost_at_any_instant(schemes: &[Scheme], sets: &[&str]) {
    for_each_scheme(schemes, 1, |scheme, seed| assert_eq!(cut_everywhere(scheme, seed, sets), 0));
}

#[test]
fn every_instant_with_backups() {
    nothing_is_lost_at_any_instant(&in_order(), &[BACKUP]);
}

#[test]
fn every_instant_with_backups_and_a_volatile_buffer() {
    nothing_is_lost_at_any_instant(&in_order(), &[&BUFFER[..], &[BACKUP]].concat());
}

#[test]
fn every_instant_with_backups_and_capacitors() {
    nothing_is_lost_at_any_instant(&in_order(), &[&CAPACITORS[..], &[BACKUP]].concat());
}

/// With orders of operations that work a queue off as planned: a program that waits for its backup must not be before it.
#[test]
fn every_instant_with_backups_and_other_policies() {
    for policy in ["controller.policy=\"in_order\"", "controller.policy=\"reads_first\""] {
        let some: Vec<Scheme> = in_order().into_iter().step_by(3).collect();
        nothing_is_lost_at_any_instant(&some, &[BACKUP, policy]);
    }
}

#[test]
fn random_cuts_with_backups_and_during_recovery() {
    for_each_scheme(&in_order(), 1, |scheme, seed| cut_at_random(scheme, seed, random_cuts(), &[BACKUP]));
}

#[test]
fn random_cuts_with_backups_buffers_and_a_recovery_log() {
    let some: Vec<Scheme> = in_order().into_iter().step_by(2).collect();
    for more in [&BUFFER[..], &CAPACITORS[..]] {
        let sets = [more, &[BACKUP, TRIMS]].concat();
        for_each_scheme(&some, 1, |scheme, seed| cut_at_random(scheme, seed, random_cuts(), &sets));
    }
    let some: Vec<Scheme> = with_checkpoints().into_iter().filter(|scheme| in_order().contains(scheme)).collect();
    let sets = [BACKUP, CHECKPOINTS, TRIMS];
    for_each_scheme(&some, 1, |scheme, seed| cut_at_random(scheme, !seed, random_cuts(), &sets));
}

/// Cuts at every instant of a drive with a fault find it.
#[test]
fn faults_of_backups_are_found() {
    for layer in ["page", "fast", "dftl"] {
        let scheme = some_schemes().into_iter().find(|scheme| load_scheme(scheme).ssd().ftl.name() == layer);
        let scheme = scheme.expect("every layer has a scheme");
        for bug in [Bug::BackupLate, Bug::BackupForgotten] {
            let lost = run_that_loses(bug, &scheme, &[BACKUP]);
            assert!(lost.is_some(), "{bug:?} is not found with the layer {layer}");
        }
    }
}
