//! Processes of workloads: clones of fio jobs, loops and shares of models.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flashwatt::RunOptions;
use flashwatt::config::{Config, load};
use flashwatt::run;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request};
use flashwatt_workload as workload;
use serde_json::Value;

fn config(sets: &[&str]) -> Config {
    let all: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load("", "test", &all).unwrap_or_else(|error| panic!("{error}"))
}

/// The requests of a workload, each of which ends after as many others as `delay` gives for its process.
fn drawn(config: &Config, delay: impl Fn(u16) -> u64) -> Vec<Request> {
    let mut workload = workload::open(&config.workload, config.partition_bytes(), 3).expect("a workload");
    let (mut all, mut now): (Vec<Request>, Nanos) = (Vec::new(), 0);
    let mut under_way: VecDeque<(u64, Completion)> = VecDeque::new();
    loop {
        match workload.next(now).expect("a good workload") {
            Next::Request(tag, request) => {
                all.push(request);
                under_way.push_back((all.len() as u64 + delay(request.process), Completion::done(tag)));
            }
            Next::WaitUntil(at) => now = at,
            Next::WaitForCompletion => {
                let first = (0..under_way.len()).min_by_key(|&at| under_way[at].0).expect("a request is under way");
                let (_, done) = under_way.remove(first).expect("that request");
                workload.completed(&done, now);
            }
            Next::Measure => {}
            Next::End => return all,
        }
    }
}

fn by_process(requests: &[Request]) -> BTreeMap<u16, Vec<Request>> {
    let mut of: BTreeMap<u16, Vec<Request>> = BTreeMap::new();
    requests.iter().for_each(|request| of.entry(request.process).or_default().push(*request));
    of
}

/// The report as JSON, but for the times of the machine.
fn report(sets: &[&str]) -> Value {
    let report = run(&config(sets), &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "complete");
    let mut report = serde_json::to_value(&report).expect("a report is JSON");
    report.as_object_mut().expect("a table").remove("engine");
    report
}

/// Law 11: to the byte, the configuration's hash included.
#[test]
fn one_process_changes_nothing() {
    for (model, more) in [("uniform", "queue_depth=4"), ("sequential", "streams=3"), ("zipf", "rate_per_s=5000")] {
        let requests = format!("workload.{model}.requests=300");
        let more = format!("workload.{model}.{more}");
        let base = ["device.scale=1/64", &requests, &more];
        let one = format!("workload.{model}.processes=1");
        let (without, with) = (report(&base), report(&[&base[..], &[&one]].concat()));
        assert_eq!(without.to_string(), with.to_string(), "{model}");
    }
    let base = ["device.preset=tlc-nvme-1t", "device.scale=1/64", "workload.standin.name=gimp"];
    let base = [&base[..], &["workload.standin.scale=0.01", "workload.standin.requests=300"]].concat();
    let with = report(&[&base[..], &["workload.standin.processes=1"]].concat());
    assert_eq!(report(&base).to_string(), with.to_string());
}

/// Each of three loops has two requests under way, and one that is served sooner sends more.
#[test]
fn closed_loops_have_a_depth_each() {
    let sets = ["workload.uniform.processes=3", "workload.uniform.queue_depth=2", "workload.uniform.requests=600"];
    let requests = drawn(&config(&sets), |_| 0);
    let first: Vec<u16> = requests[..6].iter().map(|request| request.process).collect();
    assert_eq!(first, [0, 1, 2, 0, 1, 2]);
    assert!(requests.iter().all(|request| request.origin.0 == request.process));
    let slow = by_process(&drawn(&config(&sets), |process| if process == 2 { 50 } else { 0 }));
    assert_eq!(slow.values().map(Vec::len).sum::<usize>(), 600);
    assert!(slow[&2].len() * 5 < slow[&0].len(), "{:?}", slow.values().map(Vec::len).collect::<Vec<_>>());
}

/// Processes of `sequential` have a part of the range each, and go through it from its beginning.
#[test]
fn each_closed_loop_has_sequential_streams_of_its_own() {
    let sets = [
        "workload.sequential.processes=4",
        "workload.sequential.queue_depth=1",
        "workload.sequential.range_bytes=64MiB",
        "workload.sequential.requests=400",
    ];
    for (process, requests) in by_process(&drawn(&config(&sets), |process| u64::from(process) * 3)) {
        let begin = u64::from(process) * (16 << 20);
        for (at, request) in requests.iter().enumerate() {
            assert_eq!(request.offset_bytes, begin + at as u64 * 4096, "{process}");
        }
    }
}

/// An open loop has the same requests at the same times with any number of processes; a run stays with its process.
#[test]
fn open_loops_are_dealt() {
    let sets = [
        "workload.sequential.rate_per_s=1000",
        "workload.sequential.streams=3",
        "workload.sequential.run_requests=8",
        "workload.sequential.requests=600",
    ];
    let (one, dealt) = (
        drawn(&config(&sets), |_| 0),
        drawn(&config(&[&sets[..], &["workload.sequential.processes=3"]].concat()), |_| 0),
    );
    let plain = |request: &Request| (request.arrival_ns, request.kind, request.offset_bytes, request.bytes);
    assert_eq!(one.iter().map(plain).collect::<Vec<_>>(), dealt.iter().map(plain).collect::<Vec<_>>());
    for (process, requests) in by_process(&dealt) {
        let breaks = requests.windows(2).filter(|two| two[0].offset_bytes + two[0].bytes != two[1].offset_bytes);
        assert_eq!(breaks.count(), 0, "process {process} keeps its stream");
    }
    assert_eq!(by_process(&dealt).len(), 3);
}

#[test]
fn a_stand_in_is_dealt() {
    let base = ["device.preset=tlc-nvme-1t", "workload.standin.name=financial1", "workload.standin.requests=2000"];
    let base = [&base[..], &["workload.standin.scale=0.01"]].concat();
    let one = drawn(&config(&base), |_| 0);
    let dealt = drawn(&config(&[&base[..], &["workload.standin.processes=8"]].concat()), |_| 0);
    let plain = |request: &Request| (request.arrival_ns, request.kind, request.offset_bytes, request.bytes);
    assert_eq!(one.iter().map(plain).collect::<Vec<_>>(), dealt.iter().map(plain).collect::<Vec<_>>());
    let processes = by_process(&dealt);
    assert_eq!(processes.keys().copied().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    assert!(processes.values().all(|requests| requests.len() > 150), "turns are even");
}

/// The report names processes, and a priority may name one of them.
#[test]
fn processes_of_a_model_are_origins() {
    let sets = [
        "device.scale=1/64",
        "host.scheduler=noop",
        "host.priorities.2=idle",
        "workload.uniform.processes=3",
        "workload.uniform.queue_depth=1",
        "workload.uniform.requests=300",
    ];
    let report = report(&sets);
    let names: Vec<_> = report["origins"].as_array().expect("origins").iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["0", "1", "2"]);
    let fairness = report["host"]["fairness"].as_f64().expect("of three processes");
    assert!((0.99..=1.0).contains(&fairness), "{fairness}");
}

/// A number beyond the named processes is as unknown as a wrong name.
#[test]
fn a_priority_of_a_process_that_there_is_not_is_an_error() {
    let sets = ["device.scale=1/64", "workload.uniform.processes=3", "workload.uniform.requests=300"];
    for process in ["3", "backup"] {
        let priority = format!("host.priorities.{process}=idle");
        let config = config(&[&sets[..], &[&priority]].concat());
        let error =
            run(&config, &RunOptions::default(), &mut |_| true).expect_err("there are three processes").to_string();
        for part in [&format!("host.priorities.{process}: unknown process"), "a number below 3, or one of 0, 1, 2"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

/// What sends requests without naming processes is known at the end.
#[test]
fn a_priority_of_a_process_that_sends_nothing_is_a_warning() {
    let sets =
        ["device.scale=1/64", "host.priorities.0=idle", "host.priorities.7=idle", "workload.uniform.requests=300"];
    let warnings = report(&sets)["warnings"].to_string();
    assert!(warnings.contains("host.priorities.7: has no effect: no request of this process has ended"), "{warnings}");
    assert!(!warnings.contains("host.priorities.0"), "{warnings}");
}

/// One request at a time leaves nothing to choose; more than the drive takes do. kyber has no part in it while its places suffice.
#[test]
fn a_scheduler_that_decides_nothing_is_a_warning() {
    let warnings = |scheduler: &str, sets: &[&str]| {
        let scheduler = format!("host.scheduler={scheduler}");
        let few = ["device.scale=1/64", "workload.uniform.requests=300", scheduler.as_str()];
        report(&[&few[..], sets].concat())["warnings"].to_string()
    };
    let (one, many) = (["workload.uniform.queue_depth=1"], ["workload.uniform.queue_depth=100"]);
    assert!(warnings("mq_deadline", &one).contains("mq_deadline had no choice"));
    for (scheduler, sets) in [("mq_deadline", &many), ("none", &one)] {
        assert!(!warnings(scheduler, sets).contains("had no choice"), "{scheduler}");
    }
    assert!(warnings("kyber", &many).contains("kyber held no request back"));
    let places =
        ["workload.uniform.queue_depth=100", "host.scheduler.kyber.read_depth=2", "host.scheduler.kyber.write_depth=2"];
    let few = [&["device.scale=1/64", "workload.uniform.requests=300"][..], &places].concat();
    assert!(!report(&few)["warnings"].to_string().contains("kyber"));
}

/// Each clone of a fio job is a process of its own, and a section is an origin.
#[test]
fn clones_of_a_job_are_processes() {
    let path = std::env::temp_dir().join(format!("flashwatt-numjobs-{}.fio", std::process::id()));
    let job = "[a]\nrw=randread\nbs=4k\nsize=1m\nio_size=64k\nnumjobs=3\n[b]\nrw=randwrite\nsize=64k\n";
    std::fs::write(&path, job).expect("a temporary file");
    let config = config(&[&format!("workload.fio.path={}", path.display())]);
    let requests = drawn(&config, |_| 0);
    std::fs::remove_file(&path).expect("the file");
    let senders: BTreeSet<_> = requests.iter().map(|request| (request.origin.0, request.process)).collect();
    assert_eq!(senders.into_iter().collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (1, 3)]);
    assert!(by_process(&requests).values().all(|requests| requests.len() == 16));
}
