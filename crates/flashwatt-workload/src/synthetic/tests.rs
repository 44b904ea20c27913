use std::collections::BTreeMap;

use super::settings::{Arrivals, Gap, Group, Law, OpenLoop, Phases, Size, Sizes};
use super::*;

/// A completion. These workloads do not look at its tag.
const DONE: Completion = Completion::done(Tag(0));

const RANGE: u64 = 4096 * 1000;

fn cfg(name: &str, parameters: &[(&str, f64)]) -> settings::Synthetic {
    settings::Synthetic {
        model: model(name).expect("a registered model"),
        parameters: parameters.iter().map(|(name, value)| (name.to_string(), *value)).collect(),
        requests: 200_000,
        range_bytes: RANGE,
        arrivals: Arrivals::Closed { queue_depth: 32 },
        ..settings::Synthetic::writes()
    }
}

/// Runs a workload to its end. A request completes only when the workload waits for a completion.
fn drain(cfg: &settings::Synthetic, seed: u64) -> Vec<Request> {
    let mut workload = open(cfg, seed);
    let (mut now, mut open, mut requests) = (0, 0, Vec::new());
    loop {
        match workload.next(now).expect("a synthetic workload has no errors") {
            Next::Request(_, request) => {
                assert!(request.arrival_ns <= now);
                open += 1;
                requests.push(request);
            }
            Next::WaitUntil(at) => {
                assert!(at > now);
                now = at;
            }
            Next::WaitForCompletion => {
                assert!(open > 0);
                now += 1000;
                open -= 1;
                workload.completed(&DONE, now);
            }
            Next::Measure => panic!("a model prepares nothing"),
            Next::End => return requests,
        }
    }
}

/// Number of requests at each place of the range.
fn counts(cfg: &settings::Synthetic, seed: u64) -> Vec<u64> {
    let mut counts = vec![0; (RANGE / 4096) as usize];
    drain(cfg, seed).iter().for_each(|r| counts[(r.offset_bytes / 4096) as usize] += 1);
    counts
}

/// Pearson's chi-squared statistic per degree of freedom: about 1 if the counts were drawn with these weights.
fn chi_squared(counts: &[u64], weights: impl Fn(usize) -> f64) -> f64 {
    let (all, total): (f64, u64) = ((0..counts.len()).map(&weights).sum(), counts.iter().sum());
    let term = |(at, &count): (usize, &u64)| {
        let expected = weights(at) / all * total as f64;
        (count as f64 - expected).powi(2) / expected
    };
    counts.iter().enumerate().map(term).sum::<f64>() / (counts.len() - 1) as f64
}

// ---------------------------------------------------------------- every model

/// Contract of every registered model: requests lie within the range and start at places, the same seed gives the same
/// requests, and every announced request is issued.
#[test]
fn every_model_keeps_the_contract() {
    for model in MODELS {
        let sizes = vec![Size { bytes: 4096, share: 1.0 }, Size { bytes: 20_480, share: 1.0 }];
        let cfg = settings::Synthetic {
            requests: 20_000,
            read_fraction: 0.5,
            trim_fraction: 0.25,
            start_bytes: 8192,
            sizes: Sizes { read: sizes, ..Sizes::all(8192) },
            ..cfg(model.name, &[])
        };
        let requests = drain(&cfg, 2);
        assert_eq!(requests.len(), 20_000, "{}", model.name);
        for r in &requests {
            let end = r.offset_bytes + r.bytes;
            assert!(
                r.offset_bytes >= 8192 && end <= 8192 + RANGE && r.offset_bytes % 4096 == 0,
                "{} {r:?}",
                model.name
            );
        }
        assert_eq!(drain(&cfg, 2), requests, "{}", model.name);
        assert_ne!(drain(&cfg, 3), requests, "{}", model.name);
        let mut workload = open(&cfg, 2);
        assert_eq!(workload.upcoming().map(|u| u.far_bytes), Some(requests[AHEAD - 1].offset_bytes), "{}", model.name);
        assert!(matches!(workload.next(0), Ok(Next::Request(_, r)) if r == requests[0]), "{}", model.name);
        assert_eq!(workload.upcoming().map(|u| u.near_bytes), Some(requests[AHEAD / 2].offset_bytes), "{}", model.name);
    }
}

/// A range with room for one request is no special case.
#[test]
fn every_model_works_in_the_smallest_range() {
    for model in MODELS {
        let cfg = settings::Synthetic { range_bytes: 4096, requests: 100, ..cfg(model.name, &[]) };
        assert!(drain(&cfg, 1).iter().all(|r| r.offset_bytes == 0), "{}", model.name);
    }
}

/// The exact draws of the uniform model. A change in their order would change every published figure.
#[test]
fn the_uniform_stream_is_what_it_always_was() {
    let cfg = settings::Synthetic { read_fraction: 0.5, requests: 4, ..cfg("uniform", &[]) };
    let mut rng = Rng::new(9);
    let drawn: Vec<(RequestKind, u64)> = (0..4)
        .map(|_| {
            let read = rng.chance(Rng::threshold(0.5));
            (if read { RequestKind::Read } else { RequestKind::Write }, rng.below(1000) * 4096)
        })
        .collect();
    let requests: Vec<_> = drain(&cfg, 9).iter().map(|r| (r.kind, r.offset_bytes)).collect();
    assert_eq!(requests, drawn);
}

// ---------------------------------------------------------------- places

#[test]
fn uniform_places_are_even() {
    let chi = chi_squared(&counts(&cfg("uniform", &[]), 1), |_| 1.0);
    assert!((0.85..1.15).contains(&chi), "{chi}");
}

/// Zipf's law in order of rank, for exponents of 0, below 1, 1 and above 1.
#[test]
fn zipf_frequencies_are_those_of_the_law() {
    for theta in [0.0, 0.5, 0.99, 1.0, 1.2, 2.0] {
        let counts = counts(&cfg("zipf", &[("theta", theta), ("scattered", 0.0)]), 3);
        let likely = counts.iter().take_while(|&&count| count > 5).count().max(2);
        let chi = chi_squared(&counts[..likely.min(200)], |at| ((at + 1) as f64).powf(-theta));
        assert!((0.6..1.4).contains(&chi), "theta {theta}: {chi} over {likely} ranks");
    }
}

/// Buckets of several ranks: the frequencies of ranges of ranks among 2^30 places agree with the integral of the law.
#[test]
fn zipf_is_right_where_ranks_share_buckets() {
    let places: u64 = 1 << 30;
    let zipf = settings::Synthetic { range_bytes: places * 4096, ..cfg("zipf", &[("theta", 0.9), ("scattered", 0.0)]) };
    let requests = drain(&zipf, 4);
    let up_to = |rank: f64| (rank + 0.5).powf(0.1); // the integral of x^-0.9, up to a constant factor
    let share = |a: f64, b: f64| (up_to(b) - up_to(a)) / (up_to(places as f64) - up_to(1000.0));
    let ranks: Vec<f64> = requests.iter().map(|r| (r.offset_bytes / 4096 + 1) as f64).filter(|&r| r > 1000.0).collect();
    for edges in [1000.0, 1e4, 1e5, 1e6, 1e7, 1e8, places as f64].windows(2) {
        let expected = share(edges[0], edges[1]) * ranks.len() as f64;
        let found = ranks.iter().filter(|&&r| r > edges[0] && r <= edges[1]).count() as f64;
        assert!((found - expected).abs() < 4.0 * expected.sqrt(), "{edges:?}: {found} of {expected}");
    }
}

/// Scattered places have the same frequencies, but the popular ones do not lie at the beginning.
#[test]
fn scattering_moves_places_and_keeps_frequencies() {
    let mut scattered = counts(&cfg("zipf", &[]), 5);
    let first = scattered[0];
    scattered.sort_unstable_by(|a, b| b.cmp(a));
    let plain = counts(&cfg("zipf", &[("scattered", 0.0)]), 5);
    assert!(first < scattered[0]);
    assert!(scattered[0].abs_diff(plain[0]) < 5 * (plain[0] as f64).sqrt() as u64, "{} {}", scattered[0], plain[0]);
}

/// The self-similar distribution of Gray et al.: a fifth of the places gets four fifths of the requests, and a fifth of
/// that fifth gets four fifths of these requests.
#[test]
fn pareto_is_self_similar() {
    let counts = counts(&cfg("pareto", &[("scattered", 0.0)]), 6);
    let share = |places: usize| counts[..places].iter().sum::<u64>() as f64 / 200_000.0;
    assert!((share(200) - 0.8).abs() < 0.005, "{}", share(200));
    assert!((share(40) - 0.64).abs() < 0.005, "{}", share(40));
}

#[test]
fn normal_places_have_mean_and_deviation() {
    let at: Vec<f64> = drain(&cfg("normal", &[]), 7).iter().map(|r| r.offset_bytes as f64 / RANGE as f64).collect();
    let mean = at.iter().sum::<f64>() / at.len() as f64;
    let deviation = (at.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / at.len() as f64).sqrt();
    assert!((mean - 0.5).abs() < 0.002 && (deviation - 0.1).abs() < 0.001, "{mean} {deviation}");
}

#[test]
fn the_hot_part_gets_its_share_and_is_even() {
    let counts = counts(&cfg("hot_cold", &[("hot_fraction", 0.2), ("hot_share", 0.7)]), 8);
    let hot = counts[..200].iter().sum::<u64>() as f64 / 200_000.0;
    assert!((hot - 0.7).abs() < 0.004, "{hot}");
    for part in [&counts[..200], &counts[200..]] {
        let chi = chi_squared(part, |_| 1.0);
        assert!((0.75..1.25).contains(&chi), "{chi}");
    }
}

#[test]
fn a_sequence_starts_over_where_a_request_no_longer_fits() {
    let cfg = settings::Synthetic {
        requests: 6,
        sizes: Sizes::all(1536),
        align_bytes: 1024,
        range_bytes: 4096,
        ..cfg("sequential", &[])
    };
    let starts: Vec<u64> = drain(&cfg, 3).iter().map(|r| r.offset_bytes).collect();
    assert_eq!(starts, [0, 2048, 0, 2048, 0, 2048]);
}

#[test]
fn streams_are_sequential_each_in_its_part_and_take_turns() {
    let requests = drain(&cfg("sequential", &[("streams", 4.0), ("run_requests", 10.0)]), 9);
    let mut ends = [None; 4];
    let (mut turns, mut last) = (0_u64, 0);
    for r in &requests {
        let stream = (r.offset_bytes / (RANGE / 4)) as usize;
        let start_of_part = stream as u64 * (RANGE / 4);
        assert!(ends[stream].is_none_or(|end| end == r.offset_bytes) || r.offset_bytes == start_of_part, "{r:?}");
        ends[stream] = Some(r.offset_bytes + r.bytes);
        turns += u64::from(stream != last);
        last = stream;
    }
    // One request in ten draws a stream anew; three draws of four give another stream.
    assert!(turns.abs_diff(15_000) < 600, "{turns}");
}

// ---------------------------------------------------------------- kinds and sizes

#[test]
fn kinds_and_sizes_mix_as_asked() {
    let list = |sizes: &[(u64, f64)]| sizes.iter().map(|&(bytes, share)| Size { bytes, share }).collect::<Vec<_>>();
    let sizes = Sizes {
        read: list(&[(4096, 7.0), (65_536, 3.0)]),
        write: list(&[(512, 0.25), (8192, 0.75)]),
        trim: list(&[(1 << 20, 1.0)]),
    };
    let cfg =
        settings::Synthetic { sizes, read_fraction: 0.5, trim_fraction: 0.1, align_bytes: 512, ..cfg("uniform", &[]) };
    let mut found: BTreeMap<(RequestKindName, u64), f64> = BTreeMap::new();
    drain(&cfg, 10).iter().for_each(|r| *found.entry((name_of(r.kind), r.bytes)).or_default() += 1.0 / 200_000.0);
    let expected = [
        (("read", 4096), 0.35),
        (("read", 65_536), 0.15),
        (("trim", 1 << 20), 0.1),
        (("write", 512), 0.1),
        (("write", 8192), 0.3),
    ];
    assert_eq!(found.len(), expected.len());
    for (key, share) in expected {
        assert!((found[&key] - share).abs() < 0.005, "{key:?}: {} of {share}", found[&key]);
    }
}

type RequestKindName = &'static str;

fn name_of(kind: RequestKind) -> RequestKindName {
    match kind {
        RequestKind::Read => "read",
        RequestKind::Write => "write",
        RequestKind::Trim => "trim",
        RequestKind::Flush => "flush",
    }
}

// ---------------------------------------------------------------- arrivals

fn times(arrivals: OpenLoop) -> Vec<Nanos> {
    let cfg = settings::Synthetic { arrivals: Arrivals::Open(arrivals), ..cfg("uniform", &[]) };
    drain(&cfg, 11).iter().map(|r| r.arrival_ns).collect()
}

fn open_loop(law: Law, mean_ns: f64) -> OpenLoop {
    OpenLoop { gap: Gap { law, mean_ns }, group: Group::Fixed(1), phases: None, tick_ns: None }
}

/// Mean and standard deviation of the times between successive requests.
fn gaps(times: &[Nanos]) -> (f64, f64) {
    let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    (mean, (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt())
}

#[test]
fn a_closed_loop_keeps_its_queue_depth() {
    let mut workload =
        open(&settings::Synthetic { arrivals: Arrivals::Closed { queue_depth: 4 }, ..cfg("zipf", &[]) }, 1);
    assert_eq!(workload.depth(), Some(4));
    for _ in 0..4 {
        assert!(matches!(workload.next(5), Ok(Next::Request(_, Request { arrival_ns: 5, .. }))));
    }
    assert!(matches!(workload.next(5), Ok(Next::WaitForCompletion)));
    workload.completed(&DONE, 9);
    assert!(matches!(workload.next(9), Ok(Next::Request(..))));
    assert!(matches!(workload.next(9), Ok(Next::WaitForCompletion)));
}

#[test]
fn exponential_gaps_have_mean_and_spread() {
    let (mean, deviation) = gaps(&times(open_loop(Law::Exponential, 1e6)));
    assert!((mean / 1e6 - 1.0).abs() < 0.01, "{mean}");
    assert!((deviation / mean - 1.0).abs() < 0.02, "{deviation}");
}

#[test]
fn constant_gaps_are_exact_in_the_long_run() {
    let times = times(open_loop(Law::Constant, 1e9 / 3.0));
    assert_eq!(&times[..4], [0, 333_333_333, 666_666_667, 1_000_000_000]);
    assert_eq!(times[30_000], 10_000_000_000_000);
}

#[test]
fn groups_of_a_fixed_size_come_at_regular_times() {
    let open = OpenLoop { group: Group::Fixed(3), ..open_loop(Law::Constant, 500.0) };
    assert_eq!(times(open)[..7], [0, 0, 0, 500, 500, 500, 1000]);
}

#[test]
fn geometric_groups_have_mean_and_spread() {
    let times = times(OpenLoop { group: Group::Geometric { mean: 4.0 }, ..open_loop(Law::Constant, 1e6) });
    let mut groups: BTreeMap<Nanos, f64> = BTreeMap::new();
    times.iter().for_each(|at| *groups.entry(*at).or_default() += 1.0);
    let sizes: Vec<f64> = groups.into_values().collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let ones = sizes.iter().filter(|&&size| size == 1.0).count() as f64 / sizes.len() as f64;
    assert!((mean - 4.0).abs() < 0.06 && (ones - 0.25).abs() < 0.008, "{mean} {ones}");
}

#[test]
fn ticks_are_kept_and_come_no_sooner() {
    let plain = times(open_loop(Law::Exponential, 1e6));
    let ticked = times(OpenLoop { tick_ns: Some(7_000_000), ..open_loop(Law::Exponential, 1e6) });
    assert!(ticked.iter().all(|at| at % 7_000_000 == 0));
    assert!(plain.iter().zip(&ticked).all(|(plain, ticked)| plain.next_multiple_of(7_000_000) == *ticked));
}

/// A source that is active a fifth of the time, with 1000 requests a second while active, has a mean rate of 200 a
/// second. Requests arrive in active phases only.
#[test]
fn an_on_off_source_pauses() {
    let gap = |law, mean_ns| Gap { law, mean_ns };
    for (law, tolerance) in [(Law::Constant, 0.002), (Law::Exponential, 0.03)] {
        let phases = Some(Phases { on: gap(law, 1e7), off: gap(law, 4e7) });
        let times = times(OpenLoop { phases, ..open_loop(law, 1e6) });
        let (mean, _) = gaps(&times);
        assert!((mean / 5e6 - 1.0).abs() < tolerance, "{law:?}: {mean}");
        if law == Law::Constant {
            assert!(times.iter().all(|at| at % 50_000_000 <= 10_000_000));
        }
    }
}
