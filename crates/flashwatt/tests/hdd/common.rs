//! What the tests share: a disk of round numbers, and workloads that are lists of requests.

use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt::config::{Config, load};
use flashwatt::report::{HddReport, Report, Sections};
use flashwatt::run::run_device;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Workload};
use flashwatt_devices::hdd::Hdd;
use flashwatt_devices::hdd::settings::{self, *};
use flashwatt_workload as workload;

pub const SECTOR: u64 = 512;
pub const MS: Nanos = 1_000_000;

fn w(v5_w: f64) -> Rails {
    Rails { v5_w, v12_w: 0.0 }
}

/// 6000 rpm (10 ms a revolution), 2 heads, one zone of 1000 cylinders with 400 sectors of 25 µs on a track; without buffer, cache
/// and queue. Commands take no time, and the interface 1 µs for a sector.
pub fn plain() -> settings::Hdd {
    let zones = Zone::row([(1_000, 400)]);
    settings::Hdd {
        bytes: 1_000 * 2 * 400 * SECTOR,
        rpm: 6_000,
        heads: 2,
        zones,
        layout: Layout::default(),
        track_skew_ns: MS,
        cylinder_skew_ns: MS,
        seek: Seek {
            single_cylinder_ns: MS,
            mean_ns: 5 * MS,
            full_stroke_ns: 10 * MS,
            joint_fraction: 0.2,
            points: Vec::new(),
            write_settle_ns: 0,
            read_less_ns: 0,
            head_switch_ns: MS,
        },
        interface: Interface { rate_mb_s: 512.0, queue_depth: 1, ..Interface::default() },
        scheduling: Scheduling { order: Order::Fifo, age_max_ns: 500 * MS },
        buffer: Buffer::default(),
        write_cache: WriteCache::default(),
        standby: Standby { after_ns: None, spin_down_ns: 0, spin_up_ns: 2_000 * MS },
        energy: Energy {
            spindle: SpindlePower { standby: w(0.0), spin_up: w(3.0), rotating: w(0.5) },
            arm: ArmPower { standby: w(0.0), tracking: w(0.1), seeking: w(1.1) },
            electronics: ElectronicsPower {
                standby: w(0.1),
                idle: w(0.2),
                active: w(0.4),
                read: w(0.7),
                write: w(0.8),
            },
            interface: InterfacePower { standby: w(0.01), idle: w(0.02), transfer: w(0.12) },
        },
    }
}

/// As [`plain`], with all that a disk has: a queue, 8 segments of 128 KiB, of which a half is read ahead into, a cache of 1 MiB.
pub fn full() -> settings::Hdd {
    let mut disk = plain();
    disk.interface = Interface { rate_mb_s: 150.0, command_ns: 100_000, ..Interface::default() };
    disk.scheduling.order = Order::Positioning;
    disk.seek.write_settle_ns = 200_000;
    let size = 128 << 10;
    disk.buffer = Buffer { segments: 8, segment_bytes: size, read_ahead_bytes: size / 2, ..Buffer::default() };
    disk.write_cache.bytes = 1 << 20;
    disk
}

/// A request of `sectors` from `first` on.
pub fn request(at: Nanos, kind: RequestKind, first: u64, sectors: u64) -> Request {
    Request::new(at, kind, first * SECTOR, sectors * SECTOR)
}

/// Sends a list of requests at their times, and notes when each ended.
pub struct Script {
    requests: Vec<Request>,
    sent: usize,
    pub ends: Vec<Option<Nanos>>,
}

impl Script {
    pub fn new(requests: Vec<Request>) -> Self {
        Script { sent: 0, ends: vec![None; requests.len()], requests }
    }

    /// From arrival to end of each.
    pub fn latencies(&self) -> Vec<Nanos> {
        let ended = |end: &Option<Nanos>| end.expect("it has ended");
        self.ends.iter().zip(&self.requests).map(|(end, request)| ended(end) - request.arrival_ns).collect()
    }
}

impl Workload for Script {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        let Some(request) = self.requests.get(self.sent) else { return Ok(Next::End) };
        if request.arrival_ns > now {
            return Ok(Next::WaitUntil(request.arrival_ns));
        }
        self.sent += 1;
        Ok(Next::Request(Tag(self.sent as u32 - 1), *request))
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        assert_eq!(self.ends[done.tag.0 as usize].replace(now), None, "it ends once");
    }

    fn name(&self) -> &str {
        "script"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}

/// A configuration whose workload and run these keys set.
pub fn config(sets: &[&str]) -> Config {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load("", "test", &sets).expect("a valid configuration")
}

/// Runs a disk under a workload of the configuration.
pub fn run(disk: settings::Hdd, sets: &[&str]) -> Report {
    run_with(disk, sets, &RunOptions::default())
}

pub fn run_with(disk: settings::Hdd, sets: &[&str], options: &RunOptions) -> Report {
    // The workload's addresses lie on the configuration's drive, an SSD of the disk's size.
    let bytes = format!("device.logical_bytes={}", disk.bytes);
    let of_that_size = [bytes.as_str(), "device.op_ratio=1", "device.pages_per_block=32"];
    let config = config(&[&of_that_size, sets].concat());
    let mut workload = workload::open(&config.workload, disk.bytes, config.run.seed).expect("a workload");
    let report = run_device(&config, options, Hdd::new(disk, options.series()), workload.as_mut(), &mut |_| true);
    complete(report.expect("it runs"))
}

/// Runs a disk under a list of requests; returns the report and the latency of each.
pub fn run_script(disk: settings::Hdd, requests: Vec<Request>) -> (Report, Vec<Nanos>) {
    let mut script = Script::new(requests);
    let (config, options) = (config(&["run.count_drain=true"]), RunOptions::default());
    let report = run_device(&config, &options, Hdd::new(disk, None), &mut script, &mut |_| true).expect("it runs");
    (complete(report), script.latencies())
}

fn complete(report: Report) -> Report {
    assert_eq!(report.status, "complete", "{:?}", report.warnings);
    report
}

/// The sections of a disk.
pub fn sections(report: &Report) -> &HddReport {
    match &report.device {
        Sections::Hdd(disk) => disk,
        _ => panic!("the report of a disk"),
    }
}

/// Seconds in a state.
pub fn state_s(report: &Report, state: &str) -> f64 {
    let times = &sections(report).hdd.state_s.0;
    times.iter().find(|(name, _)| *name == state).expect("a state").1
}

pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} instead of {expected}");
}
