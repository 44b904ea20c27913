//! Power cuts of a drive behind the host's block layer: its queue is gone, and what processes were promised is there.

use std::collections::BTreeSet;

use super::BUFFER;
use crate::common::delays::P;
use crate::common::{self, PROBE_DRIVE, Script, load, small_drive, tier, write};
use flashwatt::RunOptions;
use flashwatt::config::{Config, Cuts, PowerCuts};
use flashwatt::crash::{Bug, InHost, Powered, Recovered, Witness, come_back, crash};
use flashwatt::run;
use flashwatt_base::error::Error;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Workload};
use flashwatt_host::BlockLayer;
use flashwatt_host::sched::REGISTRY;
use flashwatt_ssd::drive::Ssd;

type Hosted<W> = Powered<W, BlockLayer<Ssd<Witness>>>;

/// A script whose requests are counted.
struct Counted {
    script: Script,
    sent: u32,
    completed: u32,
}

impl Workload for Counted {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        let next = self.script.next(now)?;
        self.sent += u32::from(matches!(next, Next::Request(..)));
        Ok(next)
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        assert_eq!(done.tag, Tag::default(), "the workload's own tag comes back");
        self.completed += 1;
        self.script.completed(done, now);
    }

    fn name(&self) -> &str {
        "counted"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}

/// Requests of three processes to few pages, many of them at one time, so that queues grow and requests merge.
fn requests(rng: &mut Rng, number: usize, pages: u64) -> Vec<Request> {
    let mut now = 0;
    let draw = |_| {
        now += if rng.below(4) == 0 { rng.below(2_000_000) } else { 0 };
        let (first, length) = (rng.below(pages - 8), 1 + rng.below(4));
        let kind = match rng.below(16) {
            0 => RequestKind::Flush,
            1 => RequestKind::Trim,
            2..5 => RequestKind::Read,
            _ => RequestKind::Write,
        };
        let of_kind = if kind == RequestKind::Flush { (0, 0) } else { (first, length) };
        let fua = kind == RequestKind::Write && rng.below(8) == 0;
        let (process, is_sync) = (rng.below(3) as u16, kind == RequestKind::Read || rng.below(2) == 0);
        Request { fua, process, is_sync, ..common::request(now, kind, of_kind.0, of_kind.1) }
    };
    (0..number).map(draw).collect()
}

/// Cuts the power after every instant. Returns the units that processes have lost, and the most requests that a block layer held.
fn cut_everywhere(config: &Config, seed: u64, bug: Bug) -> (u32, u32) {
    let list = requests(&mut Rng::new(seed), 80, 64);
    let workload = Counted { script: Script::new(&list), sent: 0, completed: 0 };
    let mut powered = Hosted::whole(config, workload, bug, &mut |_| true).expect("its power can be cut");
    let (mut lost, mut held) = (0, 0);
    while powered.step().expect("it goes on") {
        let Counted { sent, completed, .. } = *powered.workload();
        assert_eq!(powered.requests_inside() + completed, sent, "law 14");
        let (host, recovered) = cut(&powered);
        assert_eq!(recovered.lost, 0, "{recovered:?}");
        lost += host.host_lost_units;
        held = host.host_requests_lost.max(held);
    }
    (lost, held)
}

fn cut<W: Workload>(powered: &Hosted<W>) -> (InHost, Recovered) {
    let remains = powered.cut();
    let (_, back) = come_back(&remains).expect("it comes back");
    let versions = remains.versions(back.drive());
    let host = powered.in_host(&remains, &versions).expect("it has a block layer");
    (host, remains.compare(back.drive()))
}

/// The small drive behind a scheduler, with a queue of few places.
fn config_of(scheduler: &str, more: &[&str]) -> Config {
    let scheduler = format!("host.scheduler={scheduler}");
    small_drive(&[&[scheduler.as_str(), "host.queue_depth=4", "host.partition_offset_sectors=8"], more].concat())
}

#[test]
fn every_instant_behind_every_scheduler() {
    for (seed, entry) in (1..).zip(REGISTRY) {
        for buffer in [&[][..], &BUFFER] {
            for round in 0..tier::size(1, 1) as u64 {
                let (lost, held) =
                    cut_everywhere(&config_of(entry.name, buffer), tier::seed() + seed + 100 * round, Bug::None);
                assert_eq!(lost, 0, "{} {round}", entry.name);
                assert!(held > 4, "{} held {held} requests", entry.name);
            }
        }
    }
}

#[test]
fn a_write_that_completes_in_the_queue_is_found() {
    for scheduler in ["none", "noop", "cfq"] {
        assert!(cut_everywhere(&config_of(scheduler, &[]), 1, Bug::CompletedInQueue).0 > 0, "{scheduler}");
    }
}

/// The drive gets one request at a time, and a page takes P. Of five writes at time 0 the last two follow on each other: they are one
/// request. So the drive has one at P/2, and the block layer three; at 3.5 P the drive has the merged one, of two pages.
#[test]
fn a_cut_by_hand() {
    let sets = ["host.scheduler=noop", "host.queue_depth=1", "host.plug_requests=0", "host.partition_offset_sectors=8"];
    let config = load(PROBE_DRIVE, &sets);
    let writes = [10, 20, 30, 40, 41].map(|page| write(0, page, 1));
    let mut powered = Hosted::whole(&config, Script::new(&writes), Bug::None, &mut |_| true).expect("it can be cut");
    for (now, inside, held, kept) in [(P / 2, 5, 3, 1), (P + P / 2, 4, 2, 1), (3 * P + P / 2, 2, 0, 2)] {
        powered.advance(now).expect("it goes on");
        let (host, recovered) = cut(&powered);
        assert_eq!((powered.requests_inside(), host.host_requests_lost, host.host_lost_units), (inside, held, 0));
        assert_eq!((recovered.lost, recovered.rolled_back), (0, kept), "what the drive has got of it");
    }
    powered.advance(6 * P).expect("it goes on");
    assert_eq!((powered.requests_inside(), cut(&powered).1.rolled_back), (0, 0));
    let held: BTreeSet<u64> =
        powered.cut().readable().filter(|(_, v)| *v > 1).map(|(lpn, _)| u64::from(lpn.0)).collect();
    assert_eq!(held, BTreeSet::from([11, 21, 31, 41, 42]), "behind the partition's offset of a page");
}

/// The campaign simulates the run itself: it ends at the same time, after as many operations.
#[test]
fn the_run_that_is_cut_is_that_behind_the_scheduler() {
    for entry in REGISTRY {
        let sets = [
            "workload.sequential.processes=3",
            "workload.sequential.queue_depth=6",
            "workload.sequential.read_fraction=0.3",
            "workload.sequential.requests=400",
            "run.count_drain=true",
        ];
        let config = config_of(entry.name, &[&sets[..], &["run.power_cuts.cuts=3"]].concat());
        let report = run(&config, &RunOptions::default(), &mut |_| true).expect("a run");
        let options = PowerCuts { cuts: Cuts::Random(3), twice: true, ..PowerCuts::default() };
        let found = crash(&config, &options, &mut |_| true).expect("a campaign");
        let json = serde_json::to_value(&report).expect("JSON");
        let flash = |kind: &str| json["flash"][kind]["total"].as_u64().expect("a count");
        assert_eq!(found.operations, flash("reads") + flash("programs") + flash("erases"), "{}", entry.name);
        let seconds = json["throughput"]["simulated_s"].as_f64().expect("a time");
        assert!((found.run_ns as f64 / 1e9 - seconds).abs() < 1e-9, "{}: {} ns, {seconds} s", entry.name, found.run_ns);
        assert!(found.cuts.iter().all(|cut| cut.host.is_some_and(|host| host.host_lost_units == 0)));
        let cuts = report.power_cuts.expect("its power was cut");
        assert_eq!(cuts.figure("host_lost_units").map(|spread| spread.max.to_string()).as_deref(), Some("0"));
        assert!(cuts.figure("host_requests_lost").is_some());
    }
}

#[test]
fn a_drive_alone_and_a_drive_behind_a_host_are_not_mixed_up() {
    let alone = Powered::new(&config_of("none", &[]), Script::new(&[]), &mut |_| true).map(|_| ());
    let error = alone.expect_err("it is refused").to_string();
    assert!(error.contains("host: a drive alone has no block layer before it"), "{error}");
    let hosted = Hosted::whole(&small_drive(&[]), Script::new(&[]), Bug::None, &mut |_| true).map(|_| ());
    assert!(hosted.expect_err("it is refused").to_string().contains("host: there is no block layer"));
}
