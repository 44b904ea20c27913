//! What a drive does with its map on flash after a power cut: pages that registers of dies have kept, and the portion that it loads.

use super::checkpoints::drive_with_map_on_flash;
use super::{BUFFER, CHECKPOINTS, TRIMS, cut_at_random, nothing_is_lost_at_any_instant, nothing_is_lost_at_random};
use super::{comes_back, drive, goes_on, random_cuts, requests, with_map_on_flash};
use crate::common::delays::{COMMAND, ERASE, P, R, READ, TRANSFER};
use crate::common::{PROBE_DRIVE, Script, load, read, write};
use crate::contracts::schemes::for_each_scheme;
use flashwatt::config::Config;
use flashwatt::crash::{Cost, MapLoadCost, Powered, recover};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::{Request, RequestKind};

/// Registers keep a page of the map.
const KEPT: &str = "recovery.die_registers=\"kept\"";

/// A checkpoint when the run begins, and none after that.
const ONCE: &str = "recovery.checkpoint_interval_bytes=1048576";

/// A table with room for all 192 entries.
const WHOLE_TABLE: &str = "ftl.dftl.cmt_entries=192";

fn loading(fraction: &str, more: &[&str]) -> Config {
    let fraction = format!("recovery.map_load_fraction={fraction}");
    drive_with_map_on_flash(&[more, &[WHOLE_TABLE, fraction.as_str()]].concat())
}

fn cut_at_rest(config: &Config) -> Cost {
    super::cut_at(config, 100 * P, &[]).0
}

/// Of 24 pages of the map with 8 entries, one after the other on four dies of a channel each: a quarter of 192 entries is 6 pages, two of
/// them on each of two dies; the first entry more takes a further page, the third die's second.
#[test]
fn a_portion_of_the_map_is_read_on_all_dies_at_once() {
    let rebuilt_ns = 16 * 8 * (COMMAND + READ) + (COMMAND + ERASE) + 6 * P;
    let nothing = cut_at_rest(&loading("0", &[]));
    assert_eq!((nothing.recovery_ns, nothing.reads, nothing.map_load), (rebuilt_ns, 0, None));
    for (fraction, reads, of_die) in [("0.001", 1, 1), ("0.25", 6, 2), ("0.26", 7, 2), ("0.5", 12, 3), ("1", 24, 6)] {
        let cost = cut_at_rest(&loading(fraction, &[]));
        let load = cost.map_load.expect("a portion is loaded");
        assert_eq!((load.map_load_reads, load.map_load_ns), (reads, of_die * R), "{fraction}");
        assert_eq!((cost.reads, cost.recovery_ns), (reads, rebuilt_ns + of_die * R), "{fraction}");
        assert_eq!((cost.programs, cost.erases, cost.spare_reads), (nothing.programs, nothing.erases, 4 * 16 * 8));
        let more_j = cost.energy_j - nothing.energy_j;
        assert!((load.map_load_energy_j / more_j - 1.0).abs() < 1e-9, "{fraction}: {load:?}, {more_j}");
    }
}

/// With a checkpoint the recovery reads the map to find out what it says, and then the portion that it loads.
#[test]
fn a_portion_is_loaded_after_a_map_on_flash_was_read() {
    let (nothing, half) = (cut_at_rest(&loading("0", &[ONCE])), cut_at_rest(&loading("0.5", &[ONCE])));
    assert_eq!((nothing.reads, half.reads), (1 + 24, 1 + 24 + 12));
    assert_eq!(half.recovery_ns, nothing.recovery_ns + 3 * R);
    let MapLoadCost { map_load_ns, map_load_reads, .. } = half.map_load.expect("a portion is loaded");
    assert_eq!((map_load_ns, map_load_reads), (3 * R, 12));
}

/// Reads of pages from power on until the drive has served these reads of the host.
fn reads_with(config: &Config, list: &[Request]) -> u64 {
    let mut powered = Powered::new(config, Script::new(&[]), &mut |_| true).expect("its power can be cut");
    powered.advance(100 * P).expect("it goes on");
    let remains = powered.cut();
    let (cost, _) = recover(&remains).expect("it comes back");
    let mut again = Powered::again(&remains, Script::new(list));
    while again.step().expect("it goes on") {}
    again.operations() - cost.spare_reads - cost.programs - cost.erases
}

/// Five reads of single pages, of units 0, 40, 47, 48 and 191. With a quarter of the map the first three need no read of the map: their
/// entries are among the first 48. The table is empty without.
#[test]
fn reads_of_the_map_vanish_for_the_portion_that_is_loaded() {
    let list = [0, 40, 47, 48, 191].map(|unit| read(1_000_000_000 + 20 * P * unit, unit, 1));
    let (of_data, of_map) = (5, 5);
    assert_eq!(reads_with(&loading("0", &[]), &list), of_data + of_map);
    assert_eq!(reads_with(&loading("0.25", &[]), &list), 6 + of_data + of_map - 3);
    assert_eq!(reads_with(&loading("1", &[]), &list), 24 + of_data);
}

/// Three writes under RFTL with a replica, on four dies of a channel each. The third one, of a unit on die 1, evicts the first entry from a
/// table of two: page 0 of the map is read on die 0, and written there and on die 1, which has the data first.
const WRITTEN_BACK: [u64; 3] = [3, 13, 25];

/// A cut at this time after the third write: pages in registers, and what the recovery takes.
fn cut_after_third(after_ns: u64, more: &[&str]) -> (usize, Cost) {
    let text = PROBE_DRIVE.replace("spare_fraction = 0.5", "logical_bytes = 655_360");
    let of_layer = ["entry_bytes=512", "cmt_entries=2", "allocation=\"static\""].map(|set| format!("ftl.rftl.{set}"));
    let sets: Vec<&str> = of_layer.iter().map(String::as_str).chain(["device.channels=4", ONCE]).collect();
    let config = load(&text, &[&sets, more].concat());
    let list = WRITTEN_BACK.map(|unit| write((20 + unit) * P, unit, 1));
    let mut powered = Powered::new(&config, Script::new(&list), &mut |_| true).expect("its power can be cut");
    powered.advance((20 + 25) * P + after_ns).expect("it goes on");
    let remains = powered.cut();
    let (cost, recovered) = recover(&remains).expect("it comes back");
    assert_eq!(recovered.lost, 0, "{recovered:?}");
    (remains.in_registers(), cost)
}

/// A register has the page from the moment at which its data is on the die until it is on flash: on die 0 from R + 3.8 µs after the write on,
/// and on die 1, which programs the data first, from P + 3.8 µs on. The version counts when both copies are in registers or on flash. Then
/// what is not on flash is programmed from registers. Pages 1 and 3, whose entries memory alone had, are written anew, twice each; page 3
/// once its data is on flash.
#[test]
fn a_version_counts_when_its_copies_are_in_registers_or_on_flash() {
    let moved = COMMAND + TRANSFER;
    let cuts = [
        (R + moved - 1, 0, 4), // the page crosses the bus of die 0; pages 0 and 1 are written anew
        (R + moved, 1, 4),     // it is in the register; the copy is not
        (P + moved - 1, 1, 6), // the copy crosses the bus of die 1, and the data is on flash: page 3 is written anew, too
        (P + moved, 2, 2 + 4), // it is in the register
        (R + P - 1, 2, 2 + 4), // both are
        (R + P, 1, 1 + 4),     // the original is on flash: the copy alone is programmed
        (2 * P - 1, 1, 1 + 4), // as long as it is under way
        (2 * P, 0, 4),         // all is on flash
    ];
    for (after_ns, held, programs) in cuts {
        let (none, lost) = cut_after_third(after_ns, &[]);
        let (in_registers, kept) = cut_after_third(after_ns, &[KEPT]);
        let anew = if (P..2 * P).contains(&after_ns) { 6 } else { 4 };
        assert_eq!((none, lost.programs), (0, anew), "after {after_ns} ns");
        assert_eq!((in_registers, kept.programs), (held, programs), "after {after_ns} ns");
        assert_eq!(kept.spare_reads, lost.spare_reads);
    }
}

/// A drive whose registers keep pages of the map in lock-step with one whose registers do not: the runs are the same. What comes back is the
/// same, too, without trims; and no cut loses anything.
#[test]
fn what_comes_back_is_the_same_with_either_model() {
    let mut held = 0;
    for seed in 0..4 {
        let text = PROBE_DRIVE.replace("spare_fraction = 0.5", "logical_bytes = 655_360");
        let sets = ["device.channels=4", "ftl.rftl.entry_bytes=512", "ftl.rftl.cmt_entries=4", ONCE];
        let configs = [&sets[..], &[&sets[..], &[KEPT]].concat()].map(|sets| load(&text, sets));
        let mut rng = Rng::new(seed);
        let mut list = requests(&mut rng, 300, configs[0].logical_bytes(), &[]);
        list.retain(|request| request.kind != RequestKind::Trim);
        let mut both =
            configs.each_ref().map(|config| Powered::new(config, Script::new(&list), &mut |_| true).expect("a drive"));
        for _ in 0..4_000 {
            let goes_on = both.each_mut().map(|powered| powered.step().expect("it goes on"));
            assert_eq!(goes_on[0], goes_on[1]);
            if !goes_on[0] {
                break;
            }
            let remains = both.each_ref().map(|powered| powered.cut());
            assert_eq!(remains[0].in_registers(), 0);
            if remains[1].in_registers() > 0 {
                held += 1;
                let [lost, kept] = remains.each_ref().map(|remains| recover(remains).expect("it comes back").1);
                assert_eq!((lost, kept.lost), (kept, 0));
            }
        }
    }
    assert!(held > 10, "{held} cuts with a page in a register");
}

#[test]
fn every_instant_with_kept_registers() {
    nothing_is_lost_at_any_instant(&with_map_on_flash(), &[CHECKPOINTS, KEPT]);
}

#[test]
fn every_instant_with_kept_registers_recorded_trims_and_a_buffer() {
    let sets = [&BUFFER[..], &[CHECKPOINTS, KEPT, TRIMS]].concat();
    nothing_is_lost_at_any_instant(&with_map_on_flash(), &sets);
}

/// A table with an entry or two that are loaded.
const A_LITTLE: &str = "recovery.map_load_fraction=0.004";

#[test]
fn random_cuts_with_kept_registers_and_during_recovery() {
    nothing_is_lost_at_random(&with_map_on_flash(), &[CHECKPOINTS, KEPT, A_LITTLE]);
    let sets = [&BUFFER[..], &[CHECKPOINTS, KEPT, TRIMS]].concat();
    nothing_is_lost_at_random(&with_map_on_flash(), &sets);
    for policy in ["in_order", "reads_first"] {
        let policy = format!("controller.policy={policy}");
        for_each_scheme(&with_map_on_flash(), 1, |scheme, seed| {
            cut_at_random(scheme, seed, 10, &[CHECKPOINTS, KEPT, &policy])
        });
    }
}

#[test]
fn random_cuts_with_a_portion_of_the_map_loaded_and_during_recovery() {
    nothing_is_lost_at_random(&with_map_on_flash(), &[A_LITTLE]);
    nothing_is_lost_at_random(&with_map_on_flash(), &[CHECKPOINTS, A_LITTLE]);
}

/// The power goes again while a recovery programs what registers have kept, or writes the map: at each instant of it.
#[test]
fn cuts_at_each_instant_of_a_recovery_with_kept_registers() {
    let cuts = random_cuts(&with_map_on_flash());
    for_each_scheme(&with_map_on_flash(), 1, |scheme, seed| {
        let mut rng = Rng::new(seed);
        let config = drive(scheme, &mut rng, &[CHECKPOINTS, KEPT]);
        let script = Script::new(&requests(&mut rng, 400, config.logical_bytes(), &[]));
        let mut powered = Powered::new(&config, script, &mut |_| true).expect("its power can be cut");
        let mut left = cuts(scheme);
        while left > 0 && powered.step().expect("it goes on") {
            let remains = powered.cut();
            if remains.in_registers() == 0 || rng.below(4) > 0 {
                continue;
            }
            left -= 1;
            let mut again = Powered::recovering(&remains);
            let mut last = None;
            while again.step().expect("it goes on") {
                let remains = again.cut();
                if again.under_way() > 0 && remains.torn.is_empty() && remains.half_erased.is_empty() {
                    continue; // it reads
                }
                comes_back(&remains);
                last = Some(remains);
            }
            last.into_iter().for_each(|last| goes_on(&config, &last, &mut rng));
        }
    });
}
