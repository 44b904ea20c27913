//! `pardispatcher`: orders worked out from the paper's rules by hand (SPEC A15, E22 to E25).

use crate::desk::{order, play};

/// Regions of 1000 sectors.
fn par(sets: &[&'static str], script: &str) -> String {
    order(&regions(sets), script)
}

fn regions(sets: &[&'static str]) -> Vec<&'static str> {
    let mut all = vec!["scheduler=pardispatcher", "scheduler.pardispatcher.region_bytes=512000"];
    all.extend(sets);
    all
}

/// F83: regions take turns; those without requests are passed over.
#[test]
fn regions_take_turns() {
    let script = "0 R0; 0.5 R100 R200 R3000 R3100 R5000";
    assert_eq!(par(&["scheduler.pardispatcher.read_batch=1"], script), "R0 R3000 R5000 R100 R3100 R200");
}

/// F86: a turn goes upwards, in one direction.
#[test]
fn a_turn_goes_upwards_in_one_direction() {
    assert_eq!(par(&[], "0 R3000; 0.5 R900 W100 R100 W50 R500"), "R3000 R100 R500 R900 W50 W100");
}

/// F84: the direction alternates from turn to turn of a region; the other one if there is no request.
#[test]
fn the_direction_alternates_with_every_turn_of_a_region() {
    let sets = &["scheduler.pardispatcher.read_batch=1", "scheduler.pardispatcher.write_batch=1"];
    assert_eq!(par(sets, "0 R3000; 0.5 R100 R200 R300 W400 W500"), "R3000 R100 W400 R200 W500 R300");
    assert_eq!(par(sets, "0 R3000; 0.5 R100 R200 W400"), "R3000 R100 W400 R200");
}

/// F85: at most 16 reads, at most 8 writes.
#[test]
fn a_turn_has_at_most_sixteen_reads_or_eight_writes() {
    let reads: String = (0..20).map(|at| format!(" R{}", 20 * at)).collect();
    let writes: String = (0..20).map(|at| format!(" W{}", 400 + 20 * at)).collect();
    let found = par(&[], &format!("0 R3000; 0.5{reads}{writes}"));
    let mut turns = vec![(String::new(), 0)];
    for request in found.split(' ').skip(1) {
        match turns.last_mut() {
            Some((kind, count)) if kind == &request[..1] => *count += 1,
            _ => turns.push((request[..1].to_string(), 1)),
        }
    }
    let turns: Vec<_> = turns.iter().skip(1).map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(turns, [("R", 16), ("W", 8), ("R", 4), ("W", 12)]);
}

/// F88: requests of one region are merged, those of two regions are not.
#[test]
fn merging_stays_within_a_region() {
    assert_eq!(par(&[], "0 R5000; 0.5 R100 R108 R92"), "R5000 R92+24");
    assert_eq!(par(&[], "0 R5000; 0.5 R992 R1000"), "R5000 R992 R1000");
}

/// E22: a request that lies across an edge belongs to the region where it begins.
#[test]
fn a_request_belongs_to_the_region_where_it_begins() {
    assert_eq!(par(&[], "0 R5000; 0.5 R1500 R996 R900"), "R5000 R900 R996 R1500");
}

/// F82: 60 GB in regions of 4 GB are 15; the last one may be shorter.
#[test]
fn the_last_region_may_be_shorter() {
    for (sectors, regions) in [(60_000_000_000 / 512, 14), (60 << 21, 15), ((60 << 21) + 1, 16)] {
        assert_eq!(u64::div_ceil(sectors, 4 << 21), regions);
    }
    let config = crate::desk::config(1, &regions(&[]));
    let last = config.device.logical_bytes / 512 - 8;
    assert_eq!(par(&[], &format!("0 R5000; 0.5 R{last} R100")), format!("R5000 R{last} R100"));
}

/// E22: a turn begins above the region's last request and ends at its highest one.
#[test]
fn a_turn_begins_above_the_last_request() {
    assert_eq!(
        par(&["scheduler.pardispatcher.read_batch=2"], "0 R500; 0.5 R100 R600 R200 R700"),
        "R500 R600 R700 R100 R200"
    );
    assert_eq!(par(&[], "0 R500 R3000; 1.5 R100 R600 R200 R3100"), "R500 R3000 R3100 R600 R100 R200");
    assert_eq!(par(&["scheduler.pardispatcher.wrap=1"], "0 R500; 0.5 R100 R600 R200"), "R500 R600 R100 R200");
}

/// E22: an expired request begins its region's turn.
#[test]
fn an_expired_request_begins_its_regions_turn() {
    let sets = &["scheduler.pardispatcher.read_batch=1", "scheduler.pardispatcher.read_expire_ms=2"];
    assert_eq!(par(sets, "0 R500; 0.5 R100 R600 R700 R800"), "R500 R600 R700 R100 R800");
}

/// F87: every request's wait is bounded by its deadline and the turns of the other regions.
#[test]
fn no_request_starves() {
    let mut script = "0 R500 W100 R3500 W3100".to_string();
    for at in 1..400 {
        script += &format!("; {at} R{}", 600 + at % 300);
    }
    let sets = regions(&["scheduler.pardispatcher.write_expire_ms=50", "scheduler.pardispatcher.read_expire_ms=20"]);
    let played = play(&sets, &script);
    assert!(played.figures.kinds[1].queue.summary().max.is_some_and(|ns| ns < 60_000_000));
}
