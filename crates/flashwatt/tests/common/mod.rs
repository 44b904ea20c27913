//! What the integration tests share: configurations, scripted requests, and a probe that keeps everything it sees.
#![allow(dead_code)] // every test binary uses a part of it

pub mod fates;
pub mod shadow;
pub mod tier;
pub mod traces;
pub mod workloads;

use std::collections::VecDeque;

use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::Watch;
use flashwatt::config::{self, Config};
use flashwatt::run::StartState;
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Workload};
use flashwatt_core::energy::Series;
use flashwatt_ssd::energy::ledger::OpTimes;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{Cause, OpKind};
use flashwatt_ssd::nand::Array;
use flashwatt_ssd::observe::probe::{OpFacts, OpRecord, Probe, RequestRecord};

/// Bytes of the pages of all drives here.
pub const PAGE: u64 = 4096;

/// A microsecond in nanoseconds.
pub const US: Nanos = 1_000;

/// A drive for timing probes: small, and no two of its delays, nor sums of few of them, are alike. One channel, one way,
/// out of order, and a host link that takes no time.
pub const PROBE_DRIVE: &str = r#"
[device]
preset = "limit"
channels = 1
ways = 1
planes = 1
blocks_per_plane = 16
pages_per_block = 8
spare_fraction = 0.5

[device.timing]
read_ns = 50_021
program_ns = 600_043
erase_ns = 3_000_017
command_ns = 409
page_transfer_ns = 3_413
channel_switch_ns = 0

[gc]
low_watermark_blocks = 3
reserved_blocks = 1

[run]
precondition = "filled"
"#;

/// A drive of two dies and 1,024 pages, whose power can be cut under every layer, and overrides.
pub fn small_drive(sets: &[&str]) -> Config {
    let small = [
        "device.preset=limit",
        "device.channels=2",
        "device.ways=1",
        "device.blocks_per_plane=32",
        "device.pages_per_block=16",
        "device.op_ratio=0.8",
    ];
    let all: Vec<String> = small.iter().chain(sets).map(ToString::to_string).collect();
    config::load("", "test.toml", &all).unwrap_or_else(|error| panic!("{error}"))
}

/// [`PROBE_DRIVE`] for a layer that collects no blocks, and overrides.
pub fn merging_drive(sets: &[&str]) -> Config {
    let (before, after) = PROBE_DRIVE.split_once("[gc]").expect("the drive says how it collects");
    let (_, after) = after.split_once("[run]").expect("it says how it runs");
    load(&format!("{before}[run]{after}"), sets)
}

/// The delays of [`PROBE_DRIVE`] in ns.
pub mod delays {
    use flashwatt_base::units::Nanos;

    pub const COMMAND: Nanos = 409;
    pub const READ: Nanos = 50_021;
    pub const PROGRAM: Nanos = 600_043;
    pub const ERASE: Nanos = 3_000_017;
    pub const TRANSFER: Nanos = 3_413;
    /// A whole read, and a whole program.
    pub const R: Nanos = COMMAND + READ + TRANSFER;
    pub const P: Nanos = COMMAND + TRANSFER + PROGRAM;
}

/// The configuration of a text and overrides.
pub fn load(text: &str, sets: &[&str]) -> Config {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    config::load(text, "test.toml", &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// The configuration of a preset and overrides.
pub fn preset(name: &str, sets: &[&str]) -> Config {
    load(&format!("device.preset = \"{name}\""), sets)
}

/// Every preset.
pub const PRESETS: [&str; 17] = [
    "energysim",
    "x25m",
    "limit",
    "x25m-calibrated",
    "park-1g",
    "rftl-4g",
    "pardispatcher-60g",
    "tlc-nvme-1t",
    "old-slc",
    "slc-4way",
    "mlc-4way",
    "tgn",
    "tlc-client-1t",
    "tlc-dc-2t",
    "tlc-96l-1t",
    "tlc-hmb-1t",
    "qlc-client-2t",
];

/// Runs with everything in them: reads, writes, trims, collection, idle gaps (unless `sets` says how requests arrive), a
/// warm-up, a bounded window, and a drain that is counted or not.
pub fn mixed(preset_name: &str, sets: &[&str]) -> Config {
    let size: &[&str] = match preset_name {
        "limit" | "park-1g" => &["device.blocks_per_plane=40", "device.channels=4", "device.op_ratio=0.2"],
        "x25m" | "x25m-calibrated" | "pardispatcher-60g" => {
            &["device.blocks_per_plane=24", "device.channels=4", "device.op_ratio=0.2"]
        }
        "tlc-nvme-1t" => {
            &["device.blocks_per_plane=4", "device.channels=1", "device.op_ratio=0.6", "write_buffer.bytes=65536"]
        }
        "tlc-client-1t" | "tlc-dc-2t" | "tlc-96l-1t" | "tlc-hmb-1t" => return today(preset_name, sets),
        "qlc-client-2t" => {
            return today(preset_name, &[&["device.pages_per_block=16", "device.op_ratio=4"], sets].concat());
        }
        "slc-4way" => &["device.blocks_per_plane=24", "device.channels=4", "device.ways=2", "device.op_ratio=0.3"],
        // One unit: a merge takes so long that more of them would fill the gaps between bursts.
        "mlc-4way" | "tgn" => &[
            "device.blocks_per_plane=24",
            "device.channels=4",
            "device.ways=2",
            "device.op_ratio=0.3",
            "workload.uniform.range_bytes=1048576",
        ],
        "old-slc" => &[
            "device.blocks_per_plane=24",
            "device.channels=4",
            "device.ways=2",
            "device.op_ratio=0.3",
            "workload.uniform.range_bytes=524288",
        ],
        _ => &["device.blocks_per_plane=24", "device.channels=4", "device.ways=2"],
    };
    mixed_on(preset_name, &[size, &["device.pages_per_block=32"]].concat(), sets)
}

/// [`mixed`] on a drive of today: a few blocks of four rows.
fn today(preset_name: &str, sets: &[&str]) -> Config {
    const SIZE: [&str; 7] = [
        "workload.uniform.request_bytes=26624",
        "device.channels=2",
        "device.ways=1",
        "device.pages_per_block=12",
        "device.logical_bytes=8388608",
        "device.op_ratio=1.5",
        "write_buffer.bytes=1048576",
    ];
    let cache: &[&str] = match preset_name {
        "tlc-client-1t" | "qlc-client-2t" => &["slc_cache.static_bytes=200000", "slc_cache.dynamic_bytes=1000000"],
        "tlc-hmb-1t" => &["slc_cache.dynamic_bytes=1000000"],
        _ => &[],
    };
    mixed_on(preset_name, &[&SIZE[..], cache].concat(), sets)
}

fn mixed_on(preset_name: &str, size: &[&str], sets: &[&str]) -> Config {
    let workload = [
        "workload.uniform.requests=1500",
        "workload.uniform.request_bytes=6144",
        "workload.uniform.align_bytes=2048",
        "workload.uniform.read_fraction=0.4",
        "workload.uniform.trim_fraction=0.05",
        "run.warmup.requests=300",
        "run.measure.requests=1050",
    ];
    let bursts: &[&str] = &["workload.uniform.burst_requests=200", "workload.uniform.burst_gap_ns=200000000"];
    let arrivals = ["workload.uniform.queue_depth", "workload.uniform.rate_per_s"];
    let given = sets.iter().any(|set| arrivals.iter().any(|key| set.starts_with(key)));
    preset(preset_name, &[&workload[..], size, if given { &[] } else { bursts }, sets].concat())
}

/// [`mixed`] with a window of fewer requests, in which there is still everything. The soak runs the longer one.
pub fn briefly_mixed(preset_name: &str, sets: &[&str]) -> Config {
    let window: &[&str] = match tier::soak() {
        None => &["workload.uniform.requests=700", "run.measure.requests=350"],
        Some(_) => &[],
    };
    mixed(preset_name, &[window, sets].concat())
}

/// A request for whole pages.
pub fn request(at: Nanos, kind: RequestKind, first_page: u64, pages: u64) -> Request {
    Request::new(at, kind, first_page * PAGE, pages * PAGE)
}

/// A write of whole pages.
pub fn write(at: Nanos, first_page: u64, pages: u64) -> Request {
    request(at, RequestKind::Write, first_page, pages)
}

/// A read of whole pages.
pub fn read(at: Nanos, first_page: u64, pages: u64) -> Request {
    request(at, RequestKind::Read, first_page, pages)
}

/// A write of the first half of a page.
pub fn half_write(at: Nanos, page: u64) -> Request {
    Request { bytes: PAGE / 2, ..write(at, page, 1) }
}

/// Given requests, each at its time.
pub struct Script {
    requests: VecDeque<Request>,
    /// After this number of requests all of them complete before the next one is issued.
    group: Option<usize>,
    issued: usize,
    outstanding: usize,
}

impl Script {
    /// Of requests in the order of their times.
    pub fn new(requests: &[Request]) -> Self {
        assert!(requests.is_sorted_by_key(|request| request.arrival_ns), "a script goes forward in time");
        Script { requests: requests.iter().copied().collect(), group: None, issued: 0, outstanding: 0 }
    }

    /// In groups of this size, one after the other.
    pub fn in_groups(requests: &[Request], group: usize) -> Self {
        Script { group: Some(group), ..Script::new(requests) }
    }
}

impl Workload for Script {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        let waits = self.outstanding > 0 && self.group.is_some_and(|group| self.issued.is_multiple_of(group));
        match self.requests.front() {
            None => return Ok(Next::End),
            Some(_) if waits => return Ok(Next::WaitForCompletion),
            Some(request) if request.arrival_ns > now => return Ok(Next::WaitUntil(request.arrival_ns)),
            Some(_) => {}
        }
        self.issued += 1;
        self.outstanding += 1;
        Ok(self.requests.pop_front().map_or(Next::End, |request| Next::Request(Tag::default(), request)))
    }

    fn completed(&mut self, _done: &Completion, _now: Nanos) {
        self.outstanding -= 1;
    }

    fn name(&self) -> &str {
        "script"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// What it was.
    pub op: OpFacts,
    /// When its phases were.
    pub t: OpTimes,
}

/// Everything that a run did.
#[derive(Default)]
pub struct Log {
    /// Operations, in the order of their plan numbers once the run is over.
    pub ops: Vec<Done>,
    /// Requests, in the order of their completion.
    pub requests: Vec<RequestRecord>,
    /// When the measured window began and ended.
    pub window: [Nanos; 2],
}

impl Log {
    /// The operations of a kind and cause, in the order of their plan numbers.
    pub fn all(&self, kind: OpKind, cause: Cause) -> Vec<Done> {
        self.ops.iter().copied().filter(|done| done.op.kind == kind && done.op.cause == cause).collect()
    }

    /// The starts of the programs of host data, in the order of their plan numbers.
    pub fn program_starts(&self) -> Vec<Nanos> {
        self.all(OpKind::Program, Cause::Host).iter().map(|done| done.t.start).collect()
    }

    /// The time during which n operations were at work at once, by n: `phase` gives the beginning and the end of the
    /// part of each that counts, if one does.
    pub fn concurrency(&self, phase: impl Fn(&Done) -> Option<(Nanos, Nanos)>) -> Vec<Nanos> {
        let mut edges: Vec<(Nanos, i32)> =
            self.ops.iter().filter_map(phase).flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
        edges.sort_unstable(); // at one instant ends come before starts
        let mut time = vec![0; self.ops.len() + 1];
        let (mut count, mut since) = (0, 0);
        for (at, change) in edges {
            time[count as usize] += at - since;
            (count, since) = (count + change, at);
        }
        time[0] = 0; // before the first one
        time.truncate(time.iter().rposition(|&ns| ns > 0).map_or(0, |last| last + 1));
        time
    }

    /// As [`Self::concurrency`], of programs in the array alone.
    pub fn programming(&self) -> Vec<Nanos> {
        self.concurrency(|done| (done.op.kind == OpKind::Program).then_some((done.t.array_start, done.t.end)))
    }
}

impl Probe for Log {
    type Recorder = Option<Box<Series>>;

    fn op_ended(&mut self, record: &OpRecord) {
        self.ops.push(Done { op: record.op, t: *record.times });
    }

    fn request_ended(&mut self, record: &RequestRecord) {
        self.requests.push(*record);
    }

    fn restarted(&mut self, now: Nanos) {
        self.window[0] = now;
    }

    fn drains(&mut self, now: Nanos) {
        self.window[1] = now;
    }

    fn finish(&mut self, _now: Nanos) {
        self.ops.sort_by_key(|done| done.op.seq);
    }
}

/// Drives up to this size are run under the shadow check.
const CHECKED_BYTES_MAX: u64 = 256 << 20;

/// Writes every page of a fresh drive once, without a clock.
pub fn fill(firmware: &mut Firmware, array: &mut Array) {
    let filled = firmware.ftl.fill(&mut firmware.blocks, array, &mut Watch::new(&mut |_| true));
    filled.unwrap_or_else(|error| panic!("{error}"));
}

/// Runs any workload and keeps everything that it does.
pub fn run_logged(config: &Config, workload: &mut dyn Workload) -> (Report, Log) {
    let options = RunOptions { check: config.logical_bytes() <= CHECKED_BYTES_MAX, ..RunOptions::default() };
    let (report, log) = StartState::new(config)
        .and_then(|drive| drive.run_checked(config, &options, workload, Log::default(), &mut |_| true))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "complete");
    (report, log)
}

/// Runs a script and keeps everything that it does.
pub fn play(config: &Config, requests: &[Request]) -> (Report, Log) {
    let (report, log) = run_logged(config, &mut Script::new(requests));
    assert_eq!(log.requests.len(), requests.len(), "every request completes");
    (report, log)
}

/// Runs the configuration's own workload and keeps everything that it does.
pub fn run_own(config: &Config) -> (Report, Log) {
    let mut workload = flashwatt_workload::open(&config.workload, config.logical_bytes(), config.run.seed)
        .unwrap_or_else(|error| panic!("{error}"));
    run_logged(config, workload.as_mut())
}

/// Keys of a report that say which run it was, and not what came of it.
const IDENTITY: [&str; 3] = ["version", "config", "config_sha256"];

/// What came of a run: its report without what says which run it was. Two runs that differ in an option that changes nothing
/// agree in it to the byte.
pub fn figures(report: &Report) -> serde_json::Value {
    let mut report = serde_json::to_value(report).expect("a report is JSON");
    let keys = report.as_object_mut().expect("a report is an object");
    for key in IDENTITY {
        assert!(keys.remove(key).is_some(), "a report says `{key}`");
    }
    keys["workload"].as_object_mut().expect("the workload is an object").remove("inputs");
    report
}

/// Runs a configuration as a user would.
pub fn run_plain(config: &Config) -> Report {
    let report =
        flashwatt::run(config, &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "complete");
    report
}

/// Fails unless two numbers agree to a relative 1e-9 (or both are less than 1e-15).
#[track_caller]
pub fn assert_close(found: f64, expected: f64, what: &str) {
    assert_within(found, expected, 1e-9, what);
}

/// Fails unless two numbers agree to a relative tolerance.
#[track_caller]
pub fn assert_within(found: f64, expected: f64, tolerance: f64, what: &str) {
    let bound = tolerance * found.abs().max(expected.abs()) + 1e-15;
    assert!((found - expected).abs() <= bound, "{what}: {found} instead of {expected}");
}
