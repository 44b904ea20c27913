//! `pardispatcher`: orders worked out from the paper's rules by hand (SPEC A15, E22 to E25).

use flashwatt_base::rng::Rng;

use crate::host::desk::{MS, Script, order, play, run};

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
fn f83_regions_take_turns() {
    let script = "0 R0; 0.5 R100 R200 R3000 R3100 R5000";
    assert_eq!(par(&["scheduler.pardispatcher.read_batch=1"], script), "R0 R3000 R5000 R100 R3100 R200");
}

/// F86: a turn goes upwards, in one direction.
#[test]
fn f86_a_turn_goes_upwards_in_one_direction() {
    assert_eq!(par(&[], "0 R3000; 0.5 R900 W100 R100 W50 R500"), "R3000 R100 R500 R900 W50 W100");
}

/// F84: the direction alternates from turn to turn of a region; the other one if there is no request.
#[test]
fn f84_the_direction_alternates_with_every_turn_of_a_region() {
    let sets = &["scheduler.pardispatcher.read_batch=1", "scheduler.pardispatcher.write_batch=1"];
    assert_eq!(par(sets, "0 R3000; 0.5 R100 R200 R300 W400 W500"), "R3000 R100 W400 R200 W500 R300");
    assert_eq!(par(sets, "0 R3000; 0.5 R100 R200 W400"), "R3000 R100 W400 R200");
}

/// F85: at most 16 reads, at most 8 writes.
#[test]
fn f85_a_turn_has_at_most_sixteen_reads_or_eight_writes() {
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
fn f88_merging_stays_within_a_region() {
    assert_eq!(par(&[], "0 R5000; 0.5 R100 R108 R92"), "R5000 R92+24");
    assert_eq!(par(&[], "0 R5000; 0.5 R992 R1000"), "R5000 R992 R1000");
}

/// E22: a request that lies across an edge belongs to the region where it begins.
#[test]
fn a_request_belongs_to_the_region_where_it_begins() {
    assert_eq!(par(&[], "0 R5000; 0.5 R1500 R996 R900"), "R5000 R900 R996 R1500");
}

/// The order in which a drive of this size, in regions of 4 GiB, gets a request at the beginning and one at the end of each
/// region, the last region first: as pairs of the region's number and the request's place in it.
fn turns_over(drive_bytes: u64) -> Vec<(u64, bool)> {
    const REGION: u64 = 4 << 21;
    let sets = [
        "device.preset=pardispatcher-60g".to_string(),
        format!("device.logical_bytes={drive_bytes}"),
        "device.host_link.queue_depth=1".into(),
        "host.plug_requests=0".into(),
        "host.scheduler=pardispatcher".into(),
    ];
    let config = flashwatt::config::load("", "test", &sets).unwrap_or_else(|error| panic!("{error}"));
    let sectors = config.logical_bytes() / 512;
    let mut script = "0 R100; 0.5".to_string();
    for region in (0..sectors.div_ceil(REGION)).rev() {
        let (first, end) = (region * REGION, sectors.min((region + 1) * REGION));
        script += &format!(" R{} R{first}", end - 8);
    }
    let played = run(&config, 1, MS, &mut Script::new(&script));
    let sector = |text: &String| text[1..].parse::<u64>().expect("a sector");
    played.times[1..].iter().map(|(_, text)| (sector(text) / REGION, sector(text) % REGION == 0)).collect()
}

/// F82: a drive of 60 GiB has 15 regions of 4 GiB. A request belongs to that of its first sector: 8 sectors before an edge, and
/// at the edge. Regions 1 to 14 have a turn each, upwards; region 0 goes on with its first turn, and R0, below R100, has another one.
/// On a drive of 58 GiB the last one is half as long.
#[test]
fn f82_a_drive_of_60_gib_has_15_regions() {
    for drive_gib in [60, 58] {
        let mut expected = vec![(0, false)];
        expected.extend((1..15).flat_map(|region| [(region, true), (region, false)]));
        expected.push((0, true));
        assert_eq!(turns_over(drive_gib << 30), expected, "{drive_gib} GiB");
    }
}

/// F82: the last region may be shorter than a request's distance from its beginning.
#[test]
fn f82_the_last_region_may_be_shorter() {
    let config = crate::host::desk::config(1, &regions(&[]));
    let last = config.logical_bytes() / 512 - 8;
    assert_eq!(par(&[], &format!("0 R5000; 0.5 R{last} R100")), format!("R5000 R{last} R100"));
}

/// F83: a region whose turn has passed waits for the next round, though it has got a request since. Regions 1 and 2 are empty.
#[test]
fn f83_a_region_that_was_passed_over_waits_for_the_next_round() {
    let sets = &["scheduler.pardispatcher.read_batch=1"];
    assert_eq!(par(sets, "0 R0; 0.5 R3000 R4000 R3500 R100; 1.5 R1000"), "R0 R3000 R4000 R100 R1000 R3500");
}

/// F84: a region remembers its own direction: region 0 reads first, and region 3, which had only a write to begin with, reads next.
#[test]
fn f84_each_region_has_a_direction_of_its_own() {
    let script = "0 R5000; 0.5 R100 W200 W3000; 3.5 W3200 R3100";
    assert_eq!(par(&[], script), "R5000 R100 W3000 W200 R3100 W3200");
}

/// F85: both lengths are parameters.
#[test]
fn f85_the_lengths_of_batches_are_parameters() {
    let sets = &["scheduler.pardispatcher.read_batch=3", "scheduler.pardispatcher.write_batch=2"];
    let script = "0 R5000; 0.5 R100 R200 R300 R400 W500 W600 W700";
    assert_eq!(par(sets, script), "R5000 R100 R200 R300 W500 W600 R400 W700");
}

/// F86: over a random stream, requests fall into as many runs of one region and direction upwards as there are turns, or fewer. A
/// turn that changed its direction or went down would count twice.
#[test]
fn f86_every_turn_of_a_random_stream_is_a_run() {
    for seed in 0..8 {
        let mut rng = Rng::new(seed);
        let mut script = String::new();
        for at in 0..300 {
            let letter = if rng.below(2) == 0 { 'R' } else { 'W' };
            script += &format!("{} {letter}{}; ", at as f64 * 0.9, 100 * rng.below(40));
        }
        let sets =
            regions(&["scheduler.pardispatcher.write_expire_ms=1e6", "scheduler.pardispatcher.read_expire_ms=1e6"]);
        let played = play(&sets, &script);
        let mut runs = 0;
        let mut last: Option<(char, u64)> = None;
        for (_, text) in &played.times {
            let letter = text.chars().next().expect("a letter");
            let sector: u64 = text[1..].split('+').next().and_then(|text| text.parse().ok()).expect("a sector");
            let goes_on =
                last.is_some_and(|(kind, before)| kind == letter && before / 1000 == sector / 1000 && before <= sector);
            runs += u64::from(!goes_on);
            last = Some((letter, sector));
        }
        let turns = played.figures.counters.batches;
        assert!(runs <= turns && turns < played.times.len() as u64, "seed {seed}: {runs} runs in {turns} turns");
    }
}

/// F88: two requests that come to touch at an edge stay two; a piece does not go in front of a request behind an edge.
#[test]
fn f88_nothing_is_merged_across_an_edge() {
    assert_eq!(par(&[], "0 R5000; 0.5 R984 R1000 R992"), "R5000 R984+16 R1000");
    assert_eq!(par(&[], "0 R5000; 0.5 R1000 R992"), "R5000 R992 R1000");
    assert_eq!(par(&[], "0 R5000; 0.5 R884 R900 R892"), "R5000 R884+24");
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
fn f87_no_request_starves() {
    let mut script = "0 R500 W100 R3500 W3100".to_string();
    for at in 1..400 {
        script += &format!("; {at} R{}", 600 + at % 300);
    }
    let sets = regions(&["scheduler.pardispatcher.write_expire_ms=50", "scheduler.pardispatcher.read_expire_ms=20"]);
    let played = play(&sets, &script);
    assert!(played.figures.kinds[1].queue.summary().max.is_some_and(|ns| ns < 60_000_000));
}
