//! Schemes that map whole blocks and give each at most one log block: block, BAST, BAST*, NFTL. Copies, erases and merges of
//! scripted writes against values worked by hand.

use crate::common::shadow::Shadow;
use crate::common::{
    Done, Log, PAGE, assert_within, half_write, play, preset, read, request, run_own, run_plain, write,
};
use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{BlockId, Nanos};
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{Cause, Merges, OpKind};
use flashwatt_ssd::nand::{Array, Geometry};

/// Pages of a block.
const BLOCK: u64 = 8;
/// Between two requests: each completes before the next one comes.
const GAP: Nanos = 1_000_000_000;

/// A full drive of one die with `logical_blocks` blocks of eight pages and four more than it needs for `logs` log
/// blocks.
fn drive(ftl: &str, logical_blocks: u64, logs: u64, more: &[&str]) -> Config {
    let blocks = logical_blocks + logs + 4;
    let key = if ftl == "nftl" { "replacement_fraction" } else { "log_fraction" };
    let mut sets = vec![
        format!("ftl=\"{ftl}\""),
        "device.channels=1".to_string(),
        "device.ways=1".to_string(),
        format!("device.pages_per_block={BLOCK}"),
        format!("device.blocks_per_plane={blocks}"),
        format!("device.logical_bytes={}", logical_blocks * BLOCK * PAGE),
        "run.precondition=\"filled\"".to_string(),
    ];
    if ftl != "block" {
        sets[0] = format!("ftl.{ftl}.{key}={}", (logs as f64 + 0.5) / blocks as f64);
    }
    if ftl == "bast_star" {
        sets.push("ftl.bast_star.log_limit=1".to_string());
    }
    preset("limit", &sets.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>())
}

/// The drive of Park et al. with 64 logical blocks of 64 pages.
fn park(ftl: &str) -> Config {
    let ftl = format!("ftl=\"{ftl}\"");
    preset("park-1g", &[&ftl, "device.logical_bytes=8388608", "run.precondition=\"filled\""])
}

/// Writes of single pages, one after the other.
fn single(pages: impl IntoIterator<Item = u64>) -> Vec<Request> {
    (0..).zip(pages).map(|(i, page)| write(i * GAP, page, 1)).collect()
}

fn merges(report: &Report) -> Merges {
    report.ssd().ftl.merges.expect("the scheme merges")
}

/// Copies and erases that merges came to.
fn costs(report: &Report) -> (u64, u64) {
    assert_eq!(report.ssd().flash.reads.merge, report.ssd().flash.programs.merge, "a copy is a read and a program");
    (report.ssd().flash.programs.merge, report.ssd().flash.erases.merge)
}

// ---------------------------------------------------------------- merges by kind

/// A log block with all pages in order: no copy, one erase.
#[test]
fn f36_switch_merge() {
    for ftl in ["bast", "bast_star", "nftl"] {
        // The ninth overwrite finds the log block full.
        let (report, _) = play(&drive(ftl, 4, 1, &[]), &single((0..8).chain([3])));
        assert_eq!(merges(&report), Merges { switch: 1, ..Merges::default() }, "{ftl}");
        assert_eq!((costs(&report), report.ssd().flash.programs.host), ((0, 1), 9), "{ftl}");
    }
}

/// A log block with the first pages in order: the other n are copied, one erase. Without partial merges: full.
#[test]
fn f37_partial_merge() {
    for written in 1..BLOCK {
        // Page 8 is of another logical block, and there is one log block.
        let requests = single((0..written).chain([8]));
        let (report, _) = play(&drive("bast", 4, 1, &[]), &requests);
        assert_eq!(merges(&report), Merges { partial: 1, replacement: 1, ..Merges::default() });
        assert_eq!(costs(&report), (BLOCK - written, 1));
        let (report, _) = play(&drive("bast", 4, 1, &["ftl.bast.partial_merges=false"]), &requests);
        assert_eq!(merges(&report), Merges { full: 1, replacement: 1, ..Merges::default() });
        assert_eq!(costs(&report), (BLOCK, 2));
    }
}

/// A full merge: as many copies as a block has pages, two erases.
#[test]
fn f38_full_merge() {
    for ftl in ["bast", "bast_star", "nftl"] {
        // All pages backwards, and a ninth overwrite.
        let (report, _) = play(&drive(ftl, 4, 1, &[]), &single((0..8).rev().chain([3])));
        assert_eq!(merges(&report), Merges { full: 1, ..Merges::default() }, "{ftl}");
        assert_eq!((costs(&report), report.ssd().flash.programs.host), ((8, 2), 9), "{ftl}");
    }
}

/// Energies by the prices of Park et al.: switch 527.68 µJ, partial 42.76·n + 527.68, full 3,792.
#[test]
fn f38_energies_of_merges() {
    let after = |first: &[u64]| {
        // Three log blocks (5 % of 68), so that the fourth logical block takes the first one's.
        let (report, _) = play(&park("bast"), &park_writes(&[first, &[64, 128, 192]].concat()));
        let Merges { switch, partial, full, .. } = merges(&report);
        assert_eq!(merges(&report).replacement, 1);
        ((switch, partial, full), costs(&report), report.ssd().energy_by_cause_j.merge * 1e6)
    };
    let all: Vec<u64> = (0..64).collect();
    let (kind, counts, energy_uj) = after(&all);
    assert_eq!((kind, counts), ((1, 0, 0), (0, 1)));
    assert_within(energy_uj, 527.68, 2e-6, "switch");
    for written in [1, 20, 63] {
        let (kind, counts, energy_uj) = after(&all[..written]);
        let copies = 64 - written as u64;
        assert_eq!((kind, counts), ((0, 1, 0), (copies, 1)));
        assert_within(energy_uj, 42.76 * copies as f64 + 527.68, 2e-6, "partial");
    }
    let (kind, counts, energy_uj) = after(&[5]);
    assert_eq!((kind, counts), ((0, 0, 1), (64, 2)));
    assert_within(energy_uj, 3792.0, 2e-6, "full");
}

/// Single pages of 2 KB, one after the other.
fn park_writes(pages: &[u64]) -> Vec<Request> {
    let page = |(i, &page): (u64, &u64)| Request { offset_bytes: page * 2048, bytes: 2048, ..write(i * GAP, 0, 1) };
    (0..).zip(pages).map(page).collect()
}

/// One page of a full block overwritten under block mapping: all the others are copied, one erase.
#[test]
fn f47_block_mapping() {
    for page in [0, 5, 63, 64 * 63 + 9] {
        let (report, _) = play(&park("block"), &park_writes(&[page]));
        assert_eq!(costs(&report), (63, 1));
        assert_eq!((report.ssd().flash.programs.host, merges(&report).full), (1, 1));
    }
    let (report, _) = play(&park("block"), &[Request { offset_bytes: 0, bytes: 64 * 2048, ..write(0, 0, 1) }]);
    assert_eq!(costs(&report), (0, 1), "a whole block has nothing to be copied");
}

/// Small writes in sequence keep one die at work under block mapping, and all under page mapping.
#[test]
fn f48_parallelism_of_sequential_writes() {
    let at_work = |ftl: &str| {
        let sets = ["device.channels=4", "device.ways=1", "device.pages_per_block=8", "device.blocks_per_plane=16"];
        let more = ["device.logical_bytes=1048576", "run.precondition=\"empty\"", ftl];
        let requests: Vec<Request> = (0..BLOCK).map(|page| write(0, page, 1)).collect();
        let (report, log) = play(&preset("limit", &[&sets[..], &more].concat()), &requests);
        assert_eq!((report.ssd().flash.programs.total, report.ssd().flash.erases.total), (8, 0));
        log.programming().len() - 1
    };
    for ftl in ["block", "bast", "bast_star", "nftl"] {
        assert_eq!(at_work(&format!("ftl=\"{ftl}\"")), 1, "{ftl}");
    }
    assert_eq!(at_work("ftl=\"page\""), 4);
}

// ---------------------------------------------------------------- BAST under patterns

/// Purely sequential: every log block becomes a data block. The first log blocks take no merge; each further one takes the
/// oldest one's place. 8 logical blocks twice with 2 log blocks: 16 − 2 switch merges of one erase each.
#[test]
fn bast_sequential() {
    for logs in [1, 2, 3] {
        let (report, _) = play(&drive("bast", 8, logs, &[]), &single((0..64).chain(0..64)));
        let opened = 16 - logs;
        assert_eq!(merges(&report), Merges { switch: opened, replacement: opened, ..Merges::default() });
        assert_eq!(costs(&report), (0, opened));
    }
}

/// Two sequential streams that take turns. With a log block for each they are as good as one. With one for both, each write
/// takes it from the other stream: 16 writes, 15 replacements; the first two logs hold page 0 alone (partial merges of 7
/// copies), all others a page that is not where it belongs (full merges of 8 copies and 2 erases).
#[test]
fn bast_two_sequential_streams() {
    let turns = |blocks: u64| -> Vec<Request> { single((0..8 * blocks).flat_map(|i| [i, 32 + i])) };
    let (report, _) = play(&drive("bast", 8, 2, &[]), &turns(3));
    assert_eq!(merges(&report), Merges { switch: 4, replacement: 4, ..Merges::default() });
    assert_eq!(costs(&report), (0, 4));
    let (report, _) = play(&drive("bast", 8, 1, &[]), &turns(1));
    assert_eq!(merges(&report), Merges { partial: 2, full: 13, replacement: 15, ..Merges::default() });
    assert_eq!(costs(&report), (2 * 7 + 13 * 8, 2 + 13 * 2));
}

/// Every write to another logical block than the last ones: each takes a log block away.
#[test]
fn bast_thrashes() {
    let pages = (0..40).map(|i| i % 8 * BLOCK + 3);
    let (report, _) = play(&drive("bast", 8, 2, &[]), &single(pages.clone()));
    assert_eq!(merges(&report), Merges { full: 38, replacement: 38, ..Merges::default() });
    assert_eq!(costs(&report), (38 * 8, 38 * 2));
    // BAST* merges them as well, and calls none a replacement.
    let (report, _) = play(&drive("bast_star", 8, 2, &[]), &single(pages));
    assert_eq!(merges(&report), Merges { full: 38, ..Merges::default() });
    assert_eq!(costs(&report), (38 * 8, 38 * 2));
}

/// An empty drive: page 0 in the data block, then overwrites of it. The ninth finds the log block full, with one valid page
/// of eight. BAST by EnergySim's rule copies that page to a fresh log block (1 erase), as often as the log is full again
/// (seven writes); BAST* and plain BAST merge the one page into a fresh data block (2 erases).
#[test]
fn f44_compaction() {
    let requests = single([0; 1 + 8 + 7 + 1]);
    let empty = "run.precondition=\"empty\"";
    let compact = drive("bast", 8, 2, &["ftl.bast.replacement=\"compact\"", empty]);
    let (report, _) = play(&compact, &requests);
    assert_eq!(merges(&report), Merges { replacement: 2, ..Merges::default() });
    assert_eq!(costs(&report), (2, 2));
    for ftl in ["bast", "bast_star"] {
        let (report, _) = play(&drive(ftl, 8, 2, &[empty]), &requests);
        assert_eq!(merges(&report), Merges { full: 1, ..Merges::default() }, "{ftl}");
        assert_eq!(costs(&report), (1, 2), "{ftl}");
    }
}

/// No compaction where it wins nothing: the log block's pages are all valid, or the data block takes no page any more.
#[test]
fn no_compaction_without_gain() {
    let compact = ["ftl.bast.replacement=\"compact\"", "run.precondition=\"empty\""];
    // Page 6 of the data block, so that page 7 is open and the pages before it go to the log; eight, all valid.
    let (report, _) = play(&drive("bast", 8, 2, &compact), &single([6, 0, 1, 2, 3, 4, 5, 6, 0, 0]));
    assert_eq!(merges(&report).replacement, 1, "one page of eight is invalid");
    let (report, _) = play(&drive("bast", 8, 2, &compact[..1]), &single([3; 9]));
    assert_eq!(merges(&report), Merges { full: 1, ..Merges::default() }, "a filled drive's data blocks are full");
}

/// Nine tenths of the log blocks in use are the limit: of ten log blocks the tenth logical block finds one taken from it.
#[test]
fn a_limit_of_log_blocks() {
    let pages: Vec<u64> = (0..10).map(|block| block * BLOCK + 3).collect();
    for (limit, replacements) in [("1", 0), ("0.9", 1), ("0.5", 5)] {
        let limit = format!("ftl.bast.log_limit={limit}");
        let (report, _) = play(&drive("bast", 16, 10, &[&limit]), &single(pages.clone()));
        assert_eq!(merges(&report).replacement, replacements, "{limit}");
    }
}

/// BAST* by the released code reads a spare area before each write to a log block that is not empty: of the three writes to page 3
/// the second and the third, not the first of either log block. By the paper it reads none.
#[test]
fn bast_star_reads_spare_areas() {
    let requests = single([3, 3, 11, 3]);
    for (reads_spare, reads) in [("true", 2), ("false", 0)] {
        let sets = [format!("ftl.bast_star.reads_spare={reads_spare}")];
        let (report, _) = play(&drive("bast_star", 8, 2, &[&sets[0]]), &requests);
        assert_eq!((report.ssd().flash.reads.map, report.ssd().flash.programs.host), (reads, 4), "{reads_spare}");
    }
    let (report, _) = play(&drive("bast_star", 8, 2, &[]), &requests);
    assert_eq!(report.ssd().flash.reads.total, 0, "as in the published energies, unless asked for");
    let (report, _) = play(&drive("bast", 8, 2, &[]), &requests);
    assert_eq!(report.ssd().flash.reads.map, 0);
}

/// NFTL with a list in the newest spare area: one read for each search and each fold.
#[test]
fn nftl_probes_once() {
    let mut requests = single([3, 4, 5]);
    requests.push(read(3 * GAP, 3, 1)); // in the third newest page
    requests.push(read(4 * GAP, 6, 1)); // in the primary block
    for (probe, reads) in [("scan", 3 + 3), ("one", 2), ("none", 0)] {
        let probe = format!("ftl.nftl.probe=\"{probe}\"");
        let (report, _) = play(&drive("nftl", 8, 2, &[&probe]), &requests);
        assert_eq!(report.ssd().flash.reads.map, reads, "{probe}");
    }
}

/// Stripes of pages: page p of the drive lies on die p mod 4, and its logical block holds every fourth page.
#[test]
fn stripes_of_pages() {
    let layout = ["device.channels=2", "device.ways=2", "device.block_stripe=\"page\"", "device.blocks_per_plane=20"];
    for ftl in ["bast", "bast_star", "nftl"] {
        let (_, log) = play(&drive(ftl, 8, 1, &layout), &single(0..5));
        let programs = log.all(OpKind::Program, Cause::Host);
        let dies: Vec<u32> = programs.iter().map(|done| done.op.at.die.0).collect();
        assert_eq!(dies, [0, 1, 2, 3, 0], "{ftl}");
        assert_eq!(programs[0].op.at.block, programs[4].op.at.block, "pages 0 and 4 are of one logical block");
    }
}

/// Layers whose blocks hold consecutive pages only refuse stripes of pages.
#[test]
fn only_some_layers_stripe_pages() {
    for ftl in ["page", "dftl", "block", "fast", "last"] {
        let sets = [format!("ftl=\"{ftl}\""), "device.block_stripe=\"page\"".to_string()];
        let error = flashwatt::config::load("", "test.toml", &sets).expect_err("no stripes").to_string();
        assert!(error.contains("device.block_stripe: has no effect"), "{error}");
    }
}

/// Purely random writes of single pages: a write finds a log block with chance h = logs / logical blocks (least recently used
/// first, all alike). A log block is written to k times with chance (1 − h)·h^(k−1) before it is taken; it is in order with
/// chance b^−k. So per write 1 − h replacements, of which a share (1 − h)/(b − h) are partial and the others full.
#[test]
fn bast_random() {
    let writes = 40_000;
    let requests = format!("workload.uniform.requests={writes}");
    let report = run_plain(&drive("bast", 32, 4, &[&requests, "workload.uniform.request_bytes=4096"]));
    let (h, b) = (4.0 / 32.0, BLOCK as f64);
    let Merges { partial, full, replacement, switch } = merges(&report);
    assert_within(replacement as f64 / writes as f64, 1.0 - h, 0.006, "replacements: 3 σ");
    assert_within(partial as f64 / replacement as f64, (1.0 - h) / (b - h), 0.05, "partial merges: 3 σ");
    assert_eq!((switch, partial + full), (0, replacement));
    assert_eq!(report.ssd().flash.erases.total, partial + 2 * full);
}

/// The log block taken is the one written to least recently; reads count for nothing.
#[test]
fn bast_takes_the_least_recently_written() {
    let (a, b, c) = (3, 11, 19);
    let mut requests = single([a, b, a + 1]);
    requests.extend([read(3 * GAP, b, 1), write(4 * GAP, c, 1), write(5 * GAP, a + 2, 1)]);
    let (report, log) = play(&drive("bast", 8, 2, &[]), &requests);
    assert_eq!(merges(&report).replacement, 1, "the first logical block still has its log block");
    // The drive was filled in the order of blocks: the second data block is block 1.
    assert_eq!(log.all(OpKind::Erase, Cause::Merge)[0].op.at.block, BlockId(1));
}

/// BAST counts replacements under random writes, BAST* never does; and BAST erases no less.
#[test]
fn f44_f45_bast_star() {
    for logs in [1, 4, 12] {
        let [bast, star] = ["bast", "bast_star"].map(|ftl| {
            let sets = ["workload.uniform.requests=5000", "workload.uniform.request_bytes=4096"];
            let report = run_plain(&drive(ftl, 32, logs, &sets));
            (merges(&report), report.ssd().flash.erases.total)
        });
        assert!(bast.0.replacement > 0, "{bast:?}");
        assert_eq!(star.0.replacement, 0);
        assert!(bast.1 >= star.1, "erases with {logs} log blocks: {} and {}", bast.1, star.1);
    }
}

/// BAST* by the released code under random writes: as BAST, with a read of a spare area before each write but the first of a log block.
#[test]
fn bast_star_random() {
    let sets = ["workload.uniform.requests=20000", "workload.uniform.request_bytes=4096"];
    let star = run_plain(&drive("bast_star", 32, 4, &[&sets[..], &["ftl.bast_star.reads_spare=true"]].concat()));
    let bast = run_plain(&drive("bast", 32, 4, &sets));
    let (counts, of_bast) = (merges(&star), merges(&bast));
    assert_eq!((counts.partial, counts.full, counts.replacement), (of_bast.partial, of_bast.full, 0));
    assert_eq!(costs(&star), costs(&bast));
    let cleaned = counts.partial + counts.full;
    assert_eq!(star.ssd().flash.reads.map, 20_000 - cleaned - 4, "four log blocks are in use at the end");
}

// ---------------------------------------------------------------- wear

/// When each block's erases ended.
fn erases_by(log: &Log, at: Nanos) -> Vec<BlockId> {
    log.ops.iter().filter(|d| d.op.kind == OpKind::Erase && d.t.end <= at).map(|d| d.op.at.block).collect()
}

/// A block worn beyond 1.15 × the mean takes over the data of the coldest one: here, as long as there are such, one
/// that was never erased.
#[test]
fn f46_wear_swap() {
    for ftl in ["block", "bast", "nftl"] {
        let config = drive(ftl, 24, 1, &["wear.policy=\"static_swap\"", "wear.min_gap=2"]);
        let blocks = f64::from(config.ssd().device.blocks_per_plane);
        let hot = (0..120).map(|i| i * 5 % 8);
        let (_, log) = play(&config, &single(hot));
        let mut targets: Vec<&Done> =
            log.ops.iter().filter(|d| d.op.kind == OpKind::Program && d.op.cause == Cause::Wear).collect();
        let copies = targets.len();
        targets.dedup_by_key(|d| d.op.at.block);
        assert!((3..24).contains(&targets.len()), "{ftl}: {} moves", targets.len());
        assert_eq!(copies, 8 * targets.len(), "whole blocks move");
        let vacated = log.all(OpKind::Erase, Cause::Wear);
        for (first, vacated) in targets.iter().zip(&vacated) {
            let worn = first.op.at.block;
            let erase = log
                .ops
                .iter()
                .rfind(|d| d.op.at.block == worn && d.op.kind == OpKind::Erase && d.t.end <= first.t.start);
            let chosen_at = erase.map(|d| d.t.start / GAP * GAP).expect("the worn block has been erased for it");
            let before = erases_by(&log, chosen_at);
            let (count, mean) = (before.iter().filter(|b| **b == worn).count() as f64, before.len() as f64 / blocks);
            assert!(count > 1.15 * mean && count >= mean + 2.0, "{ftl}: {count} erases, {mean} on the mean");
            let cold = vacated.op.at.block;
            assert!(!erases_by(&log, first.t.start).contains(&cold), "{ftl}: block {cold} was not the coldest");
        }
    }
}

/// Hot writes wear a few blocks without it, and many with it.
#[test]
fn wear_levelling_levels() {
    for ftl in ["block", "bast", "bast_star", "nftl"] {
        let worst = |policy: &str| {
            let config = drive(ftl, 24, 1, &[&format!("wear.policy=\"{policy}\""), "wear.min_gap=2"]);
            let (report, _) = play(&config, &single((0..2000).map(|i| i * 5 % 8)));
            f64::from(report.ssd().wear.erase_count.max) / report.ssd().wear.erase_count.mean
        };
        let (without, with) = (worst("none"), worst("static_swap"));
        assert!(with < 0.6 * without, "{ftl}: most erases over mean: {without} without, {with} with");
    }
}

// ---------------------------------------------------------------- NFTL

/// Spare areas read, and that they were read one after the other, newest first, before the data.
fn probes(log: &Log, from: Nanos) -> usize {
    let probes: Vec<Done> = log.all(OpKind::SpareRead, Cause::Map).into_iter().filter(|d| d.t.start >= from).collect();
    for pair in probes.windows(2) {
        assert!(pair[1].t.start >= pair[0].t.end && pair[1].op.at.page + 1 == pair[0].op.at.page, "{pair:?}");
    }
    probes.len()
}

/// Probes of reads. The replacement block holds pages 3, 5, 3 and 1, oldest first.
#[test]
fn nftl_probes() {
    let written = [3, 5, 3, 1];
    // First page and number of pages read, probes. Page 9 is of a logical block without a replacement block.
    let cases =
        [(1, 1, 1), (3, 1, 2), (5, 1, 3), (0, 1, 4), (7, 1, 4), (9, 1, 0), (0, 8, 4), (3, 3, 4), (5, 4, 4), (8, 4, 0)];
    for (first, pages, expected) in cases {
        for probe in ["scan", "none"] {
            let mut requests = single(written);
            requests.push(read(4 * GAP, first, pages));
            let (report, log) = play(&drive("nftl", 4, 1, &[&format!("ftl.nftl.probe=\"{probe}\"")]), &requests);
            let found = probes(&log, 4 * GAP);
            assert_eq!(found, if probe == "scan" { expected } else { 0 }, "pages {first}, {pages} more: {probe}");
            assert_eq!((report.ssd().flash.reads.host, costs(&report)), (pages, (0, 0)));
            let last = log.all(OpKind::SpareRead, Cause::Map).iter().map(|d| d.t.end).max().unwrap_or(0);
            if pages == 1 {
                assert!(log.all(OpKind::Read, Cause::Host)[0].t.start >= last, "data comes after all probes");
            }
        }
    }
}

/// Of several pages each is read once it has been found: page 1 after one probe, page 3 after two, page 2 after all.
#[test]
fn nftl_reads_what_it_has_found() {
    let mut requests = single([3, 5, 3, 1]);
    requests.push(read(4 * GAP, 1, 3));
    let (_, log) = play(&drive("nftl", 4, 1, &[]), &requests);
    let (probes, reads) = (log.all(OpKind::SpareRead, Cause::Map), log.all(OpKind::Read, Cause::Host));
    assert_eq!((probes.len(), reads.len()), (4, 3));
    for (read, after) in reads.iter().zip([0, 3, 1]) {
        let found = probes[after].t.end;
        assert!(read.t.start >= found, "page {}: {:?}, {found}", read.op.at.page, read.t);
    }
}

/// A write of a part of a page needs the rest, and so probes; one of a whole page does not. A fold scans all pages written.
#[test]
fn nftl_writes_and_folds() {
    let mut requests = single([3, 5, 3, 1]);
    requests.push(half_write(4 * GAP, 5));
    let (report, log) = play(&drive("nftl", 4, 1, &[]), &requests);
    assert_eq!((probes(&log, 0), report.ssd().flash.reads.host), (3, 1), "pages 1, 3, and 5");
    let probed = log.all(OpKind::SpareRead, Cause::Map)[2].t.end;
    let rest = log.all(OpKind::Read, Cause::Host)[0];
    let program = log.all(OpKind::Program, Cause::Host)[4];
    assert!(rest.t.start >= probed && program.t.start >= rest.t.end);
    for (pages, switch) in [([7, 6, 5, 4, 3, 2, 1, 0, 3], 0), ([0, 1, 2, 3, 4, 5, 6, 7, 3], 1)] {
        let (report, log) = play(&drive("nftl", 4, 1, &[]), &single(pages));
        assert_eq!(merges(&report), Merges { switch, full: 1 - switch, ..Merges::default() });
        assert_eq!(probes(&log, 0), 8);
        let scanned = log.all(OpKind::SpareRead, Cause::Map)[7].t.end;
        assert!(
            log.all(OpKind::Read, Cause::Merge).iter().all(|copy| copy.t.start >= scanned),
            "copies after the scan"
        );
    }
    // Another logical block takes a replacement block of three pages.
    let (report, log) = play(&drive("nftl", 4, 1, &[]), &single([3, 5, 3, 9]));
    assert_eq!(merges(&report), Merges { full: 1, replacement: 1, ..Merges::default() });
    assert_eq!((probes(&log, 0), costs(&report)), (3, (8, 2)));
}

/// Until a page is overwritten it is written to the primary block.
#[test]
fn pages_go_to_their_place_first() {
    for ftl in ["bast", "bast_star", "nftl", "block"] {
        let config = drive(ftl, 4, 1, &["run.precondition=\"empty\"", "device.nand.program_order=\"any\""]);
        let (report, log) = play(&config, &single([5, 2, 7, 0]));
        let places: Vec<u32> = log.all(OpKind::Program, Cause::Host).iter().map(|d| d.op.at.page).collect();
        assert_eq!((places, costs(&report)), (vec![5, 2, 7, 0], (0, 0)), "{ftl}");
    }
    // In ascending order page 2 comes too late, and goes to the log block; page 7 does not.
    let (_, log) = play(&drive("bast", 4, 1, &["run.precondition=\"empty\""]), &single([5, 2, 7]));
    let places: Vec<u32> = log.all(OpKind::Program, Cause::Host).iter().map(|d| d.op.at.page).collect();
    assert_eq!(places, [5, 0, 7]);
}

// ---------------------------------------------------------------- tables, liveness

/// Four bytes for each logical block, each log block, and each page of a log block that is mapped.
#[test]
fn mapping_bytes() {
    let bytes = |ftl: &str, more: &[&str]| {
        run_plain(&drive(ftl, 10, 3, &[more, &["workload.uniform.requests=1"]].concat())).ssd().ftl.mapping_bytes
    };
    assert_eq!(bytes("block", &[]), 4 * 10);
    assert_eq!(bytes("bast", &[]), 4 * (10 + 3 * (1 + 8)));
    assert_eq!(bytes("bast_star", &[]), 4 * (10 + 3 * (1 + 8)));
    assert_eq!(bytes("nftl", &[]), 4 * (10 + 3));
    assert_eq!(bytes("nftl", &["ftl.nftl.probe=\"none\""]), 4 * (10 + 3 * (1 + 8)));
}

/// The share of log blocks is of all blocks, as far as they are spare, and one at least.
#[test]
fn the_quota_of_log_blocks() {
    for (fraction, blocks, logs) in
        [(0.05, 100, 5), (0.05, 119, 5), (0.0, 100, 1), (0.5, 100, 49), (0.5, 60, 9), (0.05, 52, 1)]
    {
        let sets = [format!("ftl.bast.log_fraction={fraction}"), format!("device.blocks_per_plane={blocks}")];
        let config = drive("bast", 50, 1, &["workload.uniform.requests=1", &sets[0], &sets[1]]);
        assert_eq!(run_plain(&config).ssd().ftl.mapping_bytes, 4 * (50 + logs * 9), "{fraction} of {blocks}");
    }
}

/// Any number of log blocks with nothing else to spare: requests of all kinds, with contents and with a clock.
#[test]
fn tight_drives_stay_alive() {
    for (ftl, seed) in ["bast", "bast_star", "nftl"].into_iter().zip(1..) {
        for wear in ["none", "dynamic", "static_swap"] {
            for logs in 1..5 {
                let size = [format!("device.blocks_per_plane={}", 6 + logs + 1), format!("wear.policy=\"{wear}\"")];
                let key = if ftl == "nftl" { "replacement_fraction" } else { "log_fraction" };
                let share = format!("ftl.{ftl}.{key}=0.5");
                let order = format!("device.nand.program_order=\"{}\"", ["any", "ascending"][logs as usize % 2]);
                let sets = [&*size[0], &size[1], &share, &order, "wear.min_gap=1"];
                contents(&drive(ftl, 6, 1, &sets), seed * 10 + logs);
                let more = [
                    "workload.uniform.requests=3000",
                    "workload.uniform.request_bytes=6144",
                    "workload.uniform.align_bytes=2048",
                    "workload.uniform.trim_fraction=0.05",
                    "workload.uniform.read_fraction=0.3",
                ];
                let (report, _) = run_own(&drive(ftl, 6, 1, &[&sets[..], &more].concat()));
                assert_eq!(report.workload.requests, 3000);
            }
        }
    }
}

fn contents(config: &Config, seed: u64) {
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let (mut firmware, mut array) = (
        Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry),
        Array::new(geometry.clone(), config.ssd().device.nand.program_order),
    );
    crate::common::fill(&mut firmware, &mut array);
    let mut shadow = Shadow::new(&geometry, &mut firmware, &mut array, true);
    let mut rng = Rng::new(seed);
    let pages = u64::from(geometry.logical_units);
    for _ in 0..2000 {
        let kind =
            [RequestKind::Write, RequestKind::Write, RequestKind::Read, RequestKind::Trim][rng.below(4) as usize];
        let most = if rng.below(8) == 0 { pages } else { 2 };
        let count = 1 + rng.below(most);
        shadow.request(&request(0, kind, rng.below(pages - count + 1), count));
    }
    shadow.check();
}
