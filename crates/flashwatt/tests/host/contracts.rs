//! Contracts over every registered scheduler. A new scheduler is enrolled by being registered.

use std::collections::BTreeMap;

use flashwatt::RunOptions;
use flashwatt::config::load;
use flashwatt::run;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Priority, PriorityClass, Request, RequestKind};
use flashwatt_host::sched::{Generation, REGISTRY, Registered};
use serde_json::Value;

use crate::host::desk::{MS, Played, Script, config, request, run as play_script};

/// Runs `check` for each scheduler on a device of depth 1 and one of depth 8, on flash; on a disk, if the scheduler tells it
/// from flash; and where requests may leave the scheduler ahead of their time, so too.
fn for_each_scheduler(mut check: impl FnMut(&'static Registered, &[&str], u32)) {
    for entry in REGISTRY {
        let scheduler = format!("scheduler={}", entry.name);
        for depth in [1, 8] {
            check(entry, &[&scheduler, "plug_requests=4"], depth);
            if entry.build.tells_disks {
                check(entry, &[&scheduler, "rotational=true", "plug_requests=4"], depth);
            }
            if entry.build.generation == Generation::Multi && entry.build.queues {
                check(entry, &[&scheduler, "dispatch_budget=false", "plug_requests=4"], depth);
            }
        }
    }
}

/// Requests of five processes, of all kinds and classes, in bursts.
fn draw(seed: u64, requests: u64, with_flushes: bool) -> Script {
    let mut rng = Rng::new(seed);
    let mut script = Script::new("");
    let mut at: Nanos = 0;
    let mut next: [u64; 5] = [0, 20_000, 40_000, 60_000, 80_000];
    for _ in 0..requests {
        if rng.below(4) == 0 {
            at += rng.below(40) * MS / 8;
        }
        let process = rng.below(5) as usize;
        let sectors = 8 * (1 + rng.below(4));
        let first = if rng.below(2) == 0 { next[process] } else { 8 * rng.below(20_000) };
        next[process] = first + sectors;
        let kind = match rng.below(20) {
            0..=9 => RequestKind::Read,
            10..=17 => RequestKind::Write,
            18 => RequestKind::Trim,
            _ if with_flushes => RequestKind::Flush,
            _ => RequestKind::Read,
        };
        let class =
            [PriorityClass::Realtime, PriorityClass::BestEffort, PriorityClass::Idle][rng.below(40).min(2) as usize];
        let class = if process == 4 {
            PriorityClass::Idle
        } else if class == PriorityClass::Idle {
            PriorityClass::BestEffort
        } else {
            class
        };
        let level = if class == PriorityClass::Idle { 7 } else { rng.below(8) as u8 };
        let new = match kind {
            RequestKind::Flush => request(at, "F"),
            _ => Request::new(at, kind, first * 512, sectors * 512),
        };
        script.steps.push(Request {
            process: if kind == RequestKind::Flush { 0 } else { process as u16 },
            is_sync: kind != RequestKind::Write || rng.below(2) == 0,
            fua: kind == RequestKind::Write && rng.below(16) == 0,
            priority: Priority::new(class, level),
            ..new
        });
    }
    script
}

fn played(sets: &[&str], depth: u32, script: &Script) -> Played {
    play_script(&config(depth, sets), depth, MS / 4, &mut script.again())
}

/// The kind, and every sector of a request in the desk's notation.
fn sectors(text: &str) -> Option<(char, std::ops::Range<u64>)> {
    let letter = text.chars().next().filter(|&letter| letter != 'F')?;
    let text = text[1..].trim_end_matches('!').split('/').next()?;
    let (first, length) = text.split_once('+').unwrap_or((text, "8"));
    let (first, length): (u64, u64) = (first.parse().ok()?, length.parse().ok()?);
    Some((letter.to_ascii_uppercase(), first..first + length))
}

/// How often each sector is read, written and trimmed.
fn work<'a>(requests: impl Iterator<Item = &'a str>) -> BTreeMap<(char, u64), u32> {
    let mut work = BTreeMap::new();
    for (letter, range) in requests.filter_map(sectors) {
        range.for_each(|sector| *work.entry((letter, sector)).or_default() += 1);
    }
    work
}

/// In = completed + merged, sector by sector; and everyone is woken.
#[test]
fn requests_are_conserved() {
    for_each_scheduler(|entry, sets, depth| {
        for seed in 0..4 {
            let script = draw(seed, 400, true);
            let played = played(sets, depth, &script);
            assert_eq!(played.ends.len(), 400, "{} {sets:?} {depth} {seed}", entry.name);
            let came = work(played.ends.iter().map(|(_, text)| text.as_str()));
            let went = work(played.times.iter().map(|(_, text)| text.as_str()));
            assert!(came == went, "{} {sets:?} {depth} {seed}", entry.name);
            let figures = &played.figures;
            let sum = |of: fn(&flashwatt_host::KindFigures) -> u64| figures.kinds.iter().map(of).sum::<u64>();
            let merged = figures.back_merges + figures.front_merges + figures.joined;
            assert_eq!(sum(|kind| kind.dispatched) + merged, sum(|kind| kind.pieces));
        }
    });
}

#[test]
fn equal_scripts_have_equal_orders() {
    for_each_scheduler(|entry, sets, depth| {
        let script = draw(7, 300, true);
        assert_eq!(played(sets, depth, &script).times, played(sets, depth, &script).times, "{}", entry.name);
    });
}

/// No sector goes to the device more often than it has been asked for until then.
#[test]
fn no_request_goes_before_its_arrival() {
    for_each_scheduler(|entry, sets, depth| {
        let script = draw(11, 300, true);
        let names = script.names();
        let mut asked: BTreeMap<(char, u64), i64> = BTreeMap::new();
        let mut coming = names.iter().peekable();
        for (at, text) in played(sets, depth, &script).times {
            while let Some((_, came)) = coming.next_if(|(arrival, _)| *arrival <= at) {
                let (letter, range) = sectors(came).unwrap_or(('F', 0..0));
                range.for_each(|sector| *asked.entry((letter, sector)).or_default() += 1);
            }
            let (letter, range) = sectors(&text).unwrap_or(('F', 0..0));
            for sector in range {
                let left = asked.entry((letter, sector)).or_default();
                *left -= 1;
                assert!(*left >= 0, "{}: {text} at {at} ns", entry.name);
            }
        }
    });
}

/// Linux 2.6.32: a barrier goes after everything that came before it, and before everything that came later.
#[test]
fn a_draining_flush_orders_the_requests_around_it() {
    for_each_scheduler(|entry, sets, depth| {
        if entry.build.generation != Generation::Single {
            return;
        }
        let mut script = draw(13, 120, false);
        let at = script.steps[60].arrival_ns;
        script.steps.insert(60, request(at, "F"));
        let names = script.names();
        let (before, after) = (
            work(names[..60].iter().map(|(_, text)| text.as_str())),
            work(names[61..].iter().map(|(_, text)| text.as_str())),
        );
        let times = played(&[sets, &["nr_requests=1000"]].concat(), depth, &script).times;
        let flush = times.iter().position(|(_, text)| text == "F").expect("the flush");
        assert!(work(times[..flush].iter().map(|(_, text)| text.as_str())) == before, "{}", entry.name);
        assert!(work(times[flush + 1..].iter().map(|(_, text)| text.as_str())) == after, "{}", entry.name);
        let ended = times[flush].0 + MS / 4;
        assert!(times[flush + 1..].iter().all(|&(at, _)| at >= ended), "{}", entry.name);
    });
}

/// Linux since 2.6.37: a flush waits for nothing, and goes before what is queued.
#[test]
fn a_passing_flush_goes_before_queued_requests() {
    for_each_scheduler(|entry, sets, depth| {
        if entry.build.generation != Generation::Multi || !entry.build.queues || depth > 1 {
            return;
        }
        let mut script = Script::new("0 R0 R4000/1 W8000/2 F; 0.1 R64/3");
        let order = play_script(&config(1, &[sets, &["nr_requests=16"]].concat()), 1, MS, &mut script).order;
        assert!(order.starts_with("R0 F "), "{} {sets:?}: {order}", entry.name);
    });
}

/// A forced write goes to the device as it is, and as often as it came: nothing is merged with it.
#[test]
fn forced_writes_stay_alone() {
    for_each_scheduler(|entry, sets, depth| {
        let script = draw(17, 400, true);
        let played = played(sets, depth, &script);
        let forced = |requests: &[(Nanos, String)]| {
            let mut forced: Vec<_> =
                requests.iter().filter(|(_, text)| text.ends_with('!')).map(|(_, text)| text.clone()).collect();
            forced.sort();
            forced
        };
        let came = forced(&played.ends);
        assert!(came.len() > 5, "{came:?}");
        assert_eq!(forced(&played.times), came, "{} {sets:?} {depth}", entry.name);
    });
}

/// Trims and writes of the same sectors stay what they are, though they touch.
#[test]
fn trims_and_writes_are_not_merged_with_each_other() {
    for_each_scheduler(|entry, sets, _| {
        let script = Script::new("0 R9000 W0/1 T8/1 W16/1 T24/1 R32/1");
        let came = work(script.names().iter().map(|(_, text)| text.as_str()));
        let played = played(sets, 1, &script);
        assert_eq!(played.times.len(), 6, "{} {sets:?}: {}", entry.name, played.order);
        assert!(work(played.times.iter().map(|(_, text)| text.as_str())) == came, "{}", entry.name);
    });
}

/// Priorities change orders only: with each process in another class every request still ends once.
#[test]
fn priorities_lose_no_request() {
    for_each_scheduler(|entry, sets, depth| {
        for priority in ["realtime/0", "best-effort/7", "idle"] {
            let own = format!("priorities.0={priority}");
            let sets = [sets, &[own.as_str()]].concat();
            let script = draw(19, 200, true);
            let played = played(&sets, depth, &script);
            assert_eq!(played.ends.len(), 200, "{} {sets:?} {depth}", entry.name);
            let came = work(played.ends.iter().map(|(_, text)| text.as_str()));
            assert!(came == work(played.times.iter().map(|(_, text)| text.as_str())), "{} {sets:?}", entry.name);
        }
    });
}

/// Law 9, and conservation in the report: what processes sent has ended, and the drive got what was left of it by merging.
#[test]
fn equal_runs_give_equal_reports() {
    for entry in REGISTRY {
        let sets = [
            "device.scale=1/64".to_string(),
            format!("host.scheduler={}", entry.name),
            "workload.sequential.processes=4".into(),
            "workload.sequential.queue_depth=8".into(),
            "workload.sequential.read_fraction=0.3".into(),
            "workload.sequential.trim_fraction=0.1".into(),
            "workload.sequential.requests=2000".into(),
        ];
        let config = load("", "test", &sets).unwrap_or_else(|error| panic!("{error}"));
        let report = || {
            let report = run(&config, &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
            let mut report = serde_json::to_value(&report).expect("a report is JSON");
            report.as_object_mut().expect("a table").remove("engine");
            report
        };
        let first = report();
        assert_eq!(first["status"], "complete");
        assert_eq!(first.to_string(), report().to_string(), "{}", entry.name);
        let host = &first["host"];
        let sum = |of: &str| {
            ["read", "write", "other"].map(|kind| host[kind][of].as_u64().expect("a count")).iter().sum::<u64>()
        };
        let merged: u64 =
            ["back", "front", "joined"].map(|how| host["merges"][how].as_u64().expect("a count")).iter().sum();
        assert_eq!((sum("submitted"), sum("dispatched") + merged), (2000, 2000), "{}", entry.name);
    }
}

/// The report of a run without what says which run it was.
fn figures(sets: &[String]) -> Value {
    let config = load("", "test", sets).unwrap_or_else(|error| panic!("{error}"));
    let report = run(&config, &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let mut report = serde_json::to_value(&report).expect("a report is JSON");
    assert_eq!(report["status"], "complete");
    let keys = report.as_object_mut().expect("a table");
    for key in ["config", "config_sha256", "host"] {
        keys.remove(key);
    }
    // That the scheduler had no choice.
    let warnings = keys.get_mut("warnings").and_then(serde_json::Value::as_array_mut).expect("a list");
    warnings.retain(|one| !one.as_str().is_some_and(|text| text.contains("had no choice")));
    report
}

/// A request may pass the scheduler when nothing is queued: that saves time, and changes nothing. A priority for a process that
/// sends nothing turns it off.
#[test]
fn requests_that_pass_change_nothing() {
    for_each_scheduler(|entry, sets, depth| {
        for seed in 20..24 {
            let script = draw(seed, 300, true);
            let never = [sets, &["priorities.65535=best-effort"]].concat();
            let (passing, queued) = (played(sets, depth, &script), played(&never, depth, &script));
            assert_eq!(passing.times, queued.times, "{} {sets:?} {depth} {seed}", entry.name);
            assert_eq!(passing.ends, queued.ends, "{} {sets:?} {depth} {seed}", entry.name);
            assert_eq!(passing.figures.counters, queued.figures.counters, "{} {sets:?} {depth} {seed}", entry.name);
            let figures = |played: &Played| format!("{:?}", played.figures);
            assert!(figures(&passing) == figures(&queued), "{} {sets:?} {depth} {seed}", entry.name);
        }
    });
}

/// Law 11: a scheduler that never has more than one request changes nothing.
#[test]
fn a_scheduler_with_one_request_changes_nothing() {
    for preset in ["x25m", "park-1g"] {
        for workload in ["workload.uniform.queue_depth=1", "workload.uniform.rate_per_s=20"] {
            let base = [
                format!("device.preset={preset}"),
                "device.scale=1/64".to_string(),
                workload.to_string(),
                "workload.uniform.read_fraction=0.5".into(),
                "workload.uniform.requests=400".into(),
            ];
            let expected = figures(&base);
            for entry in REGISTRY {
                let sets = [&base[..], &[format!("host.scheduler={}", entry.name)]].concat();
                assert!(figures(&sets) == expected, "{} on {preset} with {workload}", entry.name);
            }
        }
    }
}
