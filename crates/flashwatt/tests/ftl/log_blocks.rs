//! FAST and LAST against numbers worked out by hand, and on logs larger than the least that the contract tests run on.
//!
//! Unless a test says otherwise a drive has one die, blocks of 8 pages, starts filled, and serves one request after another.
//! B.p is page p of logical block B. Each page written "to the random log" takes the next page of a random log block.

use crate::common::shadow::Shadow;
use crate::common::{self, Done, Log, PAGE, assert_close, load, play, run_logged, run_own, write};
use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::BlockId;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{Cause, Merges, OpKind};
use flashwatt_ssd::nand::{Array, Geometry};

/// Pages of a block.
const B: u64 = 8;

/// A filled drive of a given number of logical blocks on one die, with just the room that its log takes.
fn drive(ftl: &str, logical_blocks: u64, log_blocks: u64, sets: &[&str]) -> Config {
    let sized = [
        format!("ftl.{ftl}.log_blocks={log_blocks}"),
        format!("device.blocks_per_plane={}", logical_blocks + log_blocks + 1),
        format!("device.logical_bytes={}", logical_blocks * B * PAGE),
        format!("device.pages_per_block={B}"),
    ];
    let fixed = ["device.channels=1", "device.ways=1", "device.host_link.queue_depth=1", "run.precondition=\"filled\""];
    let all: Vec<&str> = sized.iter().map(String::as_str).chain(fixed).chain(sets.iter().copied()).collect();
    load("device.preset = \"limit\"", &all)
}

/// Single-page writes.
fn singles(pages: impl IntoIterator<Item = u64>) -> Vec<Request> {
    pages.into_iter().map(|page| write(0, page, 1)).collect()
}

/// Two-page writes (8 KiB, which LAST takes for sequential) that together cover a run of blocks in order.
fn pairs(blocks: std::ops::Range<u64>) -> Vec<Request> {
    (blocks.start * B / 2..blocks.end * B / 2).map(|pair| write(0, 2 * pair, 2)).collect()
}

fn merges(report: &Report) -> Merges {
    report.ssd().ftl.merges.expect("it merges")
}

fn merged(switch: u64, partial: u64, full: u64) -> Merges {
    Merges { switch, partial, full, replacement: 0 }
}

/// Merges by kind, and the pages copied and blocks erased by them.
#[track_caller]
fn expect(report: &Report, kinds: Merges, copies: u64, erases: u64) {
    assert_eq!(merges(report), kinds);
    assert_eq!(report.ssd().flash.programs.merge, copies, "pages copied by merges");
    assert_eq!(report.ssd().flash.erases.merge, erases, "blocks erased by merges");
}

// ---------------------------------------------------------------- what merges are

/// Page mapping never merges, whatever is written.
#[test]
fn page_mapping_never_merges() {
    let sets = [
        "workload.uniform.requests=20000",
        "device.blocks_per_plane=40",
        "device.channels=2",
        "device.ways=1",
        "device.op_ratio=0.2",
        "run.precondition=\"filled\"",
    ];
    let (report, log) = run_own(&common::preset("limit", &sets));
    assert!(report.ssd().flash.erases.gc > 0, "it does collect");
    assert_eq!(report.ssd().ftl.merges, None);
    assert!(log.ops.iter().all(|done| done.op.cause != Cause::Merge));
}

/// The blocks that the host's pages were programmed to, and where in them, in the order of the plan.
fn host_pages(log: &Log) -> Vec<(BlockId, u32)> {
    log.all(OpKind::Program, Cause::Host).iter().map(|done: &Done| (done.op.at.block, done.op.at.page)).collect()
}

/// FAST has one sequential log block. A write goes there at offset 0 (it is opened) or if it is the page that comes
/// next, and nowhere else; opening another merges it: it holds 4 pages in order, the other 4 are copied, 1 erase.
#[test]
fn fast_has_one_sequential_log_block() {
    // Opened; random; next; not next, and random; next, and over what is in the random log; opened; random.
    let pages = [0, B + 3, 1, 3, 2 * B + 5, 2, 3, 3 * B, 4];
    let (report, log) = play(&drive("fast", 8, 4, &[]), &singles(pages));
    let at = host_pages(&log);
    let (first, random, second) = (at[0].0, at[1].0, at[7].0);
    assert!(first != random && second != random && second != first);
    let expected = [
        (first, 0),
        (random, 0),
        (first, 1),
        (random, 1),
        (random, 2),
        (first, 2),
        (first, 3),
        (second, 0),
        (random, 3),
    ];
    assert_eq!(at, expected);
    expect(&report, merged(0, 1, 0), 4, 1);
}

/// With `out_of_order = "merge"` a page that does not continue the sequential log block has it merged: it holds 2 pages in
/// order, the other 6 are copied, 1 erase. The page itself goes to the random log, and so does the next one: no sequential
/// log block is left that it could continue.
#[test]
fn fast_may_merge_a_sequential_log_block_that_is_left_out_of_order() {
    let pages = || singles([0, 1, 3, 2]);
    let (report, log) = play(&drive("fast", 8, 4, &["ftl.fast.out_of_order=\"merge\""]), &pages());
    let at = host_pages(&log);
    let (first, random) = (at[0].0, at[2].0);
    assert!(first != random);
    assert_eq!(at, [(first, 0), (first, 1), (random, 0), (random, 1)]);
    expect(&report, merged(0, 1, 0), 6, 1);
    let (report, _) = play(&drive("fast", 8, 4, &["ftl.fast.out_of_order=\"divert\""]), &pages());
    expect(&report, merged(0, 0, 0), 0, 0);
}

/// A page of the sequential log block that is newer elsewhere takes it out of order: a full merge of all 8 pages to
/// a fresh block, and 2 erases.
#[test]
fn a_sequential_log_block_out_of_order_is_merged_in_full() {
    let (report, _) = play(&drive("fast", 8, 4, &[]), &singles([0, 1, 1, B]));
    expect(&report, merged(0, 0, 1), B, 2);
}

/// No write that is neither at offset 0 nor next comes to the sequential log block, over many random ones.
#[test]
fn random_writes_keep_off_the_sequential_log_block() {
    let mut rng = Rng::new(40);
    let pages: Vec<u64> = (0..500).map(|_| rng.below(8) * B + 1 + rng.below(B - 1)).collect();
    let (report, log) = play(&drive("fast", 8, 4, &[]), &singles(pages));
    assert_eq!((merges(&report).switch, merges(&report).partial), (0, 0), "no sequential log block was ever opened");
    let mut last: Vec<Option<u32>> = vec![None; 32];
    for (block, page) in host_pages(&log) {
        let before = last[block.idx()].replace(page);
        assert_eq!(page, before.map_or(0, |page| (page + 1) % B as u32), "random log blocks are filled in order");
    }
}

// ---------------------------------------------------------------- merge counts by hand

/// Purely sequential writes, 8 blocks twice, in single pages. FAST opens a sequential log block 16 times; each but the
/// last is complete when the next is opened: 15 switch merges, without a copy, one erase each.
#[test]
fn fast_switches_on_sequential_writes() {
    let (report, _) = play(&drive("fast", 8, 4, &[]), &singles((0..2).flat_map(|_| 0..8 * B)));
    expect(&report, merged(15, 0, 0), 0, 15);
}

/// The same in requests of two pages on LAST. Of 6 log blocks a third, 2, are sequential; 16 are opened, and the last 2
/// stay: 14 switch merges. Requests of one page are random to it.
///
/// In single pages: all are cold, as none is in the log any more when it comes again. A random log block holds a whole logical
/// block each; from the 5th on, opening one merges the oldest: 16 − 4 = 12 full merges, of 8 copies and 2 erases.
#[test]
fn last_switches_on_sequential_writes() {
    let twice = || (0..2).flat_map(|_| pairs(0..8)).collect::<Vec<_>>();
    let (report, _) = play(&drive("last", 8, 6, &[]), &twice());
    expect(&report, merged(14, 0, 0), 0, 14);
    let (report, _) = play(&drive("last", 8, 6, &[]), &singles((0..2).flat_map(|_| 0..8 * B)));
    expect(&report, merged(0, 0, 12), 12 * B, 24);
}

/// Two sequential streams in turn, two pages each time: A over blocks 0–9, B over 10–19; 6 log blocks.
///
/// FAST: A opens block i; B opens 10 + i, which merges A's in order with 2 pages: 10 partial merges of 6 copies. A's other 6
/// pages go to the random log; B's continue its own: complete when A opens the next: 9 switch merges (the last one stays).
/// The random log has 5 blocks, 40 pages, of the 60 that A writes there, 6 for each block in turn. So random log blocks hold
/// 0·6 + 1·2 | 1·4 + 2·4 | 2·2 + 3·6 | 4·6 + 5·2 | 5·4 + 6·4 | 6·2 + 7·6 | 8·6 + 9·2 | 9·4 pages (block · pages). Opening the
/// 6th merges the 1st: blocks 0 and 1. The 7th: of the 2nd block 2 is left. The 8th: of the 3rd block 3 is left. 4 full merges
/// of 8 copies, 4 + 3 erases.
///
/// LAST: both streams have a log block: 20 are opened, 2 stay open, 18 switch merges, no copy at all.
#[test]
fn last_keeps_two_streams_apart_where_fast_merges_in_full() {
    let in_turn: Vec<Request> = pairs(0..10).into_iter().zip(pairs(10..20)).flat_map(|(a, b)| [a, b]).collect();
    let (report, _) = play(&drive("fast", 20, 6, &[]), &in_turn);
    expect(&report, merged(9, 10, 4), 10 * 6 + 4 * B, 9 + 10 + 4 + 3);
    let (report, _) = play(&drive("last", 20, 6, &[]), &in_turn);
    expect(&report, merged(18, 0, 0), 0, 18);
}

/// Purely random single pages: page 1 of blocks 0–7, then page 2 of all, … page 6; 3 log blocks, of which 2 are random.
///
/// Each random log block takes one round. Opening the 3rd merges the 1st: all 8 blocks, which takes what is in the 2nd
/// as well. That is dead when the 4th is opened, and only erased. So again for the 5th and 6th: 2 · 8 full merges of 8 copies,
/// 16 + 4 erases. On LAST no page is hot, and of two blocks with 8 associated ones the older is merged: the same.
#[test]
fn random_writes_by_hand() {
    let pages: Vec<u64> = (1..=6).flat_map(|page| (0..8).map(move |block| block * B + page)).collect();
    for ftl in ["fast", "last"] {
        let (report, _) = play(&drive(ftl, 8, 3, &[]), &singles(pages.clone()));
        expect(&report, merged(0, 0, 16), 16 * B, 20);
    }
}

/// LAST merges the random log block with the fewest associated logical blocks. Page 1 of blocks 0–7, then pages 2–7 of block 3
/// and 2, 3 of block 4; another page opens the 3rd random log block. FAST merges the oldest: 8 full merges, 8 + 1 erases; LAST
/// the second: blocks 3 and 4, 2 + 1 erases.
#[test]
fn last_merges_the_cheapest() {
    let pages = (0..8).map(|block| block * B + 1).chain((2..8).map(|page| 3 * B + page)).chain([
        4 * B + 2,
        4 * B + 3,
        5 * B + 2,
    ]);
    let requests = singles(pages);
    let (report, _) = play(&drive("fast", 8, 3, &[]), &requests);
    expect(&report, merged(0, 0, 8), 8 * B, 9);
    let (report, _) = play(&drive("last", 8, 3, &[]), &requests);
    expect(&report, merged(0, 0, 2), 2 * B, 3);
}

/// Skewed writes. 15 rounds of page 1 of blocks 0–3 (hot) and one page of each of blocks 4–7, another in each round for
/// 7 rounds (cold); 4 log blocks, 3 of them random: 24 pages, a window of 12.
///
/// FAST fills a block a round. Round 4 merges the first: its hot pages are obsolete, blocks 4–7 are merged in full, which
/// takes the cold pages of the second and third too: those are dead in rounds 5 and 6. So in rounds 4, 7, 10, 13: 16 full
/// merges, and a log block erased in each of rounds 4 to 15.
///
/// LAST: in the first round all is cold; from then on a hot page was written 8 writes ago, inside the window. C1 has round 1;
/// H1 the hot pages of rounds 2 and 3, C2 the cold ones. Round 4, all full: C1 and C2 have 4 associated blocks, the older is
/// merged (4 full), which leaves C2 dead; H2 is opened, which leaves H1 dead: it makes room for C3. Round 6: C2, then H2 make
/// room for H3 and C4. Round 8 is as round 4 was: C3 is merged. So in rounds 4, 8, 12: 12 full merges; 2 log blocks are erased
/// in every second round from 4 to 14, of which 1 in 4 had anything valid.
#[test]
fn last_has_dead_blocks_and_fewer_full_merges_on_skewed_writes() {
    let round =
        |round: u64| (0..4).map(|block| block * B + 1).chain((4..8).map(move |block| block * B + 1 + round % 7));
    let requests = singles((0..15).flat_map(round));
    let (report, _) = play(&drive("fast", 8, 4, &[]), &requests);
    expect(&report, merged(0, 0, 16), 16 * B, 16 + 12);
    let (report, _) = play(&drive("last", 8, 4, &[]), &requests);
    expect(&report, merged(0, 0, 12), 12 * B, 12 + 12);
    let (report, _) = play(&drive("last", 8, 4, &["ftl.last.hot_window_pages=0"]), &requests);
    assert_eq!(merges(&report).full, 16, "without a window it is FAST here");
}

/// Skewed writes on a larger drive: 80 % of the writes go to 0.5 % of the pages, which are overwritten well inside the
/// window. Most of LAST's log is so for cold pages, of which more are then merged at a time. All merges are compared:
/// FAST's of offset 0 are partial.
#[test]
fn last_merges_less_than_fast_on_a_hot_spot() {
    let sets = [
        "workload.hot_cold.requests=60000",
        "workload.hot_cold.request_bytes=4096",
        "workload.hot_cold.hot_fraction=0.005",
        "workload.hot_cold.hot_share=0.8",
        "run.precondition=\"filled\"",
        "device.blocks_per_plane=300",
        "device.pages_per_block=32",
        "device.channels=2",
        "device.ways=1",
        "device.op_ratio=0.25",
    ];
    let run = |log: &str| run_own(&common::preset("limit", &[&sets[..], &[log]].concat())).0;
    let (fast, last) = (run("ftl.fast.log_fraction=0.15"), run("ftl.last.log_fraction=0.15"));
    let all = |report: &Report| merges(report).full + merges(report).partial;
    assert!(
        merges(&last).full < merges(&fast).full && all(&last) < all(&fast),
        "{:?}, {:?}",
        last.ssd().ftl,
        fast.ssd().ftl
    );
}

// ---------------------------------------------------------------- size and energy

/// A single page of Park's drive.
fn park_write(page: u64) -> Request {
    Request::new(0, RequestKind::Write, page * 2048, 2048)
}

/// The log of Park's drive is 50 MB in blocks of 128 KB: 400. The preset's flash has 8192 + 400 blocks; merges take one
/// of them, so that 399 are log blocks by default (5 % would be 429). With one more block there can be 400: 1 sequential and
/// 399 random, so that 399 · 64 random pages are written before anything is merged. The next one merges the oldest: 64
/// pages of as many logical blocks. The tables have an entry of 4 bytes for each data block and each log page.
#[test]
fn the_log_of_parks_drive_has_400_blocks() {
    let (blocks, pages) = (8192, 64);
    let random = |n: u64| park_write(n % blocks * pages + 1 + n / blocks);
    for ftl in ["fast", "last"] {
        let name = format!("ftl=\"{ftl}\"");
        let (report, _) = play(&common::preset("park-1g", &[&name]), &[random(0)]);
        assert_eq!(report.ssd().ftl.mapping_bytes, 4 * (blocks + 399 * pages), "{ftl}");
        let sets = [format!("ftl.{ftl}.log_blocks=400"), "device.op_ratio=0.049".to_string()];
        let (report, _) = play(&common::preset("park-1g", &sets.each_ref().map(String::as_str)), &[random(0)]);
        assert_eq!(report.ssd().ftl.mapping_bytes, 4 * (blocks + 400 * pages), "{ftl}");
    }
    let config = common::preset("park-1g", &["ftl.fast.log_blocks=400", "device.op_ratio=0.049"]);
    let fits: Vec<Request> = (0..399 * pages).map(random).collect();
    expect(&play(&config, &fits).0, merged(0, 0, 0), 0, 0);
    let one_more: Vec<Request> = (0..=399 * pages).map(random).collect();
    expect(&play(&config, &one_more).0, merged(0, 0, 64), 64 * pages, 64 + 1);
}

/// What goes on after the last measured request is counted if that is asked for, and left out if not: with FAST the
/// merges of writes that are still under way. With the drain the energy is that of all operations, by Park's table 1
/// exactly.
#[test]
fn energy_after_the_workload_is_counted_when_asked() {
    let run = |with_drain: bool| {
        let drain = format!("run.count_drain={with_drain}");
        let sets = [
            "ftl=\"fast\"",
            "device.blocks_per_plane=40",
            "device.op_ratio=0.2",
            "workload.uniform.requests=3000",
            "workload.uniform.request_bytes=2048",
            "workload.uniform.queue_depth=32",
            "run.measure.requests=2000",
            &drain,
        ];
        run_own(&common::preset("park-1g", &sets))
    };
    let ((with, log), (without, same)) = (run(true), run(false));
    assert_eq!(log.ops.len(), same.ops.len(), "the same run");
    assert!(
        with.ssd().flash.erases.merge > without.ssd().flash.erases.merge,
        "merges end after the last measured request"
    );
    assert!(with.ssd().energy_j.total > without.ssd().energy_j.total);
    let count = |kind| log.ops.iter().filter(|done| done.op.kind == kind).count() as f64;
    let expected = 4.72e-6 * count(OpKind::Read) + 38.04e-6 * count(OpKind::Program) + 527.68e-6 * count(OpKind::Erase);
    common::assert_within(with.ssd().energy_j.total, expected, 1e-6, "all operations by table 1");
    assert_close(with.ssd().energy_j.total, with.energy_integral_j, "the integral");
}

// ---------------------------------------------------------------- larger logs

/// Read your writes on drives with logs of many sizes (the contract tests run on the least), with every wear levelling,
/// both program orders, on one die and several.
#[test]
fn contents_on_larger_logs() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let config = larger_log(seed, &mut rng);
        let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
        let order = config.ssd().device.nand.program_order;
        let (mut firmware, mut array) = (
            Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry),
            Array::new(geometry.clone(), order),
        );
        crate::common::fill(&mut firmware, &mut array);
        let mut shadow = Shadow::new(&geometry, &mut firmware, &mut array, true);
        for _ in 0..600 {
            shadow.request(&draw(&mut rng, config.logical_bytes() / PAGE));
        }
        shadow.check();
        let mut script =
            common::Script::new(&(0..400).map(|_| draw(&mut rng, config.logical_bytes() / PAGE)).collect::<Vec<_>>());
        run_logged(&config, &mut script);
    }
}

fn larger_log(seed: u64, rng: &mut Rng) -> Config {
    let (ftl, dies) = (["fast", "last"][seed as usize % 2], 1 + rng.below(3));
    let (data, log) = (2 + rng.below(12), 3 + rng.below(12));
    let sets = [
        format!("ftl.{ftl}.log_blocks={}", log * dies),
        format!("device.channels={dies}"),
        "device.ways=1".to_string(),
        format!("device.pages_per_block={}", 4 + rng.below(9)),
        format!("device.blocks_per_plane={}", data + log + 1),
        format!("wear.policy=\"{}\"", ["none", "dynamic", "static_swap"][rng.below(3) as usize]),
        "wear.min_gap=2".to_string(),
        format!("device.nand.program_order=\"{}\"", ["ascending", "any"][rng.below(2) as usize]),
        "run.precondition=\"filled\"".to_string(),
    ];
    let pages = data * dies * sets[3].rsplit('=').next().and_then(|n| n.parse::<u64>().ok()).expect("a number");
    let size = format!("device.logical_bytes={}", pages * PAGE);
    let all: Vec<&str> = sets.iter().map(String::as_str).chain([size.as_str()]).collect();
    load("device.preset = \"limit\"", &all)
}

/// Single pages of a hot spot and anywhere, runs from the start of the drive on and from anywhere, and trims.
fn draw(rng: &mut Rng, pages: u64) -> Request {
    let long = (1 + rng.below(40)).min(pages);
    match rng.below(10) {
        0..3 => write(0, rng.below(pages.div_ceil(8)), 1),
        3..6 => write(0, rng.below(pages), 1),
        6 => write(0, 0, long),
        7..9 => write(0, rng.below(pages - long + 1), long),
        _ => Request { kind: RequestKind::Trim, ..write(0, rng.below(pages - long + 1), long) },
    }
}

// ---------------------------------------------------------------- options

/// What the options say, and what is wrong with them.
#[test]
fn options_that_make_no_sense_are_refused() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        flashwatt::config::load("device.preset = \"limit\"", "test.toml", &sets).expect_err("refused").to_string()
    };
    for (sets, parts) in [
        (&["ftl.fast.log_fraction=0.6"][..], &["ftl.fast.log_fraction", "0.6", "0.0 to 0.5"][..]),
        (&["ftl.last.log_blocks=0"], &["ftl.last.log_blocks", "out of range"]),
        (&["ftl.fast.log_blocks=9", "ftl.fast.log_fraction=0.1"], &["ftl.fast.log_blocks", "given twice", "0.1", "9"]),
        (&["ftl.last.sequential_log_blocks=65"], &["ftl.last.sequential_log_blocks", "65", "1 to 64"]),
        (&["ftl.last.sequential_threshold_bytes=0"], &["ftl.last.sequential_threshold_bytes", "out of range"]),
        (&["ftl.last.hot_windw_pages=5"], &["ftl.last.hot_windw_pages", "did you mean `hot_window_pages`?"]),
        (&["ftl.fast.log_blocks=4000"], &["too little spare flash", "125 log blocks and one more"]),
    ] {
        let found = refused(sets);
        for part in parts {
            assert!(found.contains(part), "{part} in: {found}");
        }
    }
}
