//! The cleaner against theory, and its progress on a disk that is nearly full.
//!
//! Mean-field greedy, of segments with many blocks: a share ρ of the blocks in use is live and overwritten uniformly; then the live
//! share u of the segments that are cleaned solves (1 − u) / ln(1 / u) = ρ (Desnoyers 2012, Van Houdt 2013; the limit of the formula in
//! `ftl::paged::steady`). Blocks that are read and written for each new one are 2 / (1 − u) if segments are read whole: an identity.

use std::ops::Range;

use super::bench::{Bench, system};
use crate::system::{FileSystem, Owner, PageKey};
use crate::systems::lfs::Style;
use crate::systems::lfs::segments::Segments;
use flashwatt_base::rng::Rng;

const SEGMENTS: u64 = 384;

/// The u of the theory, by bisection.
fn theory(rho: f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1.0 - 1e-9);
    for _ in 0..100 {
        let u = 0.5 * (low + high);
        if (1.0 - u) / (1.0 / u).ln() < rho { low = u } else { high = u }
    }
    low
}

/// What a run at a utilisation of the disk shows: mean u of the cleaned segments, mean ρ when they were chosen.
fn measured(utilisation: f64) -> [f64; 2] {
    let set = [("cost_benefit", 0.0), ("clean_low", 0.0), ("clean_idle_ms", 0.0), ("clean_segments", 2.0)];
    let mut bench = Bench::new(system(Style::Sprite, SEGMENTS << 20, &set), 4096);
    let blocks = u64::from(bench.fs.segments.count()) * u64::from(bench.fs.layout.payload());
    let pages = (blocks as f64 * utilisation) as u32;
    bench.cache.shadow = None;
    bench.create(0).expect("room");
    let mut rng = Rng::new(3);
    let (mut sums, mut count, mut written) = ([0.0; 2], 0, 0);
    let batch = 254;
    for first in (0..pages).step_by(batch as usize) {
        let _ = write(&mut bench, (first..pages.min(first + batch)).collect());
    }
    while written < 6 * u64::from(pages) {
        let mut batch: Vec<_> = (0..batch).map(|_| rng.below(u64::from(pages)) as u32).collect();
        batch.sort_unstable();
        batch.dedup();
        written += batch.len() as u64;
        let victims = write(&mut bench, batch);
        if written > 3 * u64::from(pages) {
            for [u, rho] in victims {
                sums = [sums[0] + u, sums[1] + rho];
                count += 1;
            }
        }
    }
    sums.map(|sum| sum / f64::from(count))
}

/// Overwrites pages of file 0. Metadata leaves memory instead of being written: theory has none. Returns u and ρ of each segment that is
/// chosen on the way, in blocks behind the summaries.
fn write(bench: &mut Bench, pages: Vec<u32>) -> Vec<[f64; 2]> {
    let mut victims = Vec::new();
    for &page in &pages {
        bench.write(0, page..page + 1).expect("room");
    }
    let keys: Vec<_> = pages.into_iter().map(|page| PageKey::new(Owner(0), page)).collect();
    bench
        .until(|fs, cx| {
            let chosen = fs.cleaner.victim_now();
            let tried = fs.write_out(&keys, cx);
            cx.dirty_pages(Owner::META).iter().for_each(|key| cx.forget_meta(key.index));
            if let Some(segment) = fs.cleaner.victim_now().filter(|_| chosen != fs.cleaner.victim_now()) {
                victims.push([
                    share_of_pages(&fs.segments, segment..segment + 1),
                    share_of_pages(&fs.segments, 0..fs.segments.count()),
                ]);
            }
            tried
        })
        .expect("room");
    bench.complete();
    victims
}

/// Live pages of those that were written to some segments which are not empty. A whole segment has two blocks of summary.
fn share_of_pages(segments: &Segments, of: Range<u32>) -> f64 {
    let full = of.filter(|&segment| segments.utilisation(segment) > 0.0);
    let counts = full.map(|segment| {
        let live = segments.utilisation(segment) * f64::from(segments.blocks);
        [live, f64::from(segments.used_blocks(segment).saturating_sub(2))]
    });
    let [live, written] = counts.fold([0.0; 2], |sums, counts| [sums[0] + counts[0], sums[1] + counts[1]]);
    live / written
}

#[test]
fn cleaned_segments_are_as_full_as_mean_field_theory_says() {
    for utilisation in [0.9, 0.7, 0.5] {
        let [u, rho] = measured(utilisation);
        let [cost, expected] = [u, theory(rho)].map(|u| 2.0 / (1.0 - u));
        assert!(
            (cost / expected - 1.0).abs() < 0.05,
            "{utilisation}: ρ {rho:.3}, u {u:.3}, cost {cost:.2}, theory {expected:.2}"
        );
    }
}

/// Files fill nine tenths of the room. Overwriting them four times, with fsyncs, never finds the log stuck.
#[test]
fn the_cleaner_keeps_up_at_nine_tenths() {
    for (style, cost_benefit) in [(Style::Sprite, 0.0), (Style::Sprite, 1.0), (Style::Nilfs2, 1.0)] {
        let set = [("segment_bytes", 262_144.0), ("cost_benefit", cost_benefit)];
        let mut bench = Bench::new(system(style, 64 << 20, &set), 4096);
        let files = (bench.fs.usage().free_blocks * 9 / 10 / 20) as u32;
        for file in 0..files {
            bench.create(file).and_then(|()| bench.write(file, 0..19)).expect("room");
            bench.sync();
        }
        let mut rng = Rng::new(5);
        for _ in 0..files * 20 {
            let file = rng.below(u64::from(files)) as u32;
            let page = rng.below(16) as u32;
            bench.write(file, page..page + 4).expect("the pages have room");
            bench.fsync(file);
        }
        bench.check();
        assert!(bench.fs.segments.clean() > 0);
    }
}
