//! A device of another kind, written against the connector alone: each request takes a fixed time, one after the other, in
//! one part with two states. It runs every workload, and reports energy, series and JSON.

use std::collections::VecDeque;

use flashwatt::RunOptions;
use flashwatt::config::{Config, load};
use flashwatt::report::{DeviceReport, Report, Reported};
use flashwatt::run::run_device;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{AtEnd, Completion, Cx, Device, Request, Seats, Status, Tag, Window};
use flashwatt_core::energy::Draw;
use flashwatt_core::energy::parts::{PartTimes, Parts, PowerShare, StateId};
use flashwatt_core::energy::{Accounts, Series};
use flashwatt_core::kernel::Outcome;
use flashwatt_workload as workload;
use serde_json::Value;

use crate::common::workloads::every_workload;

const ROOM: u32 = 8;
const IDLE: StateId = StateId::new(0);
const BUSY: StateId = StateId::new(1);

struct FixedDelay {
    bytes: u64,
    delay_ns: Nanos,
    queue: VecDeque<Tag>,
    accounts: Accounts,
    seat: u32,
    /// Whether requests end after all events of an instant; and whether one ends at this instant.
    ends_late: bool,
    ends: bool,
}

impl FixedDelay {
    /// 1 W while it works, 0.25 W while it does not.
    fn new(bytes: u64, delay_ns: Nanos, series: Option<Box<Series>>) -> Self {
        let mut parts = Parts::new(&["idle", "busy"], 5_000);
        for (component, nw) in [(0, 250_000_000), (1, 1_000_000_000)] {
            parts.state(&[PowerShare { component, draw: Draw { nw } }]);
        }
        let accounts = Accounts::new(parts, &[(IDLE, 1)], series);
        FixedDelay { bytes, delay_ns, queue: VecDeque::new(), accounts, seat: 0, ends_late: false, ends: false }
    }

    fn start(&mut self, cx: &mut Cx) {
        cx.agenda.reset(self.seat, cx.now() + self.delay_ns);
    }

    fn end(&mut self, cx: &mut Cx) -> bool {
        cx.done.extend(self.queue.pop_front().map(Completion::done));
        match self.queue.is_empty() {
            true => self.accounts.change(BUSY, IDLE),
            false => self.start(cx),
        }
        true
    }
}

impl Device for FixedDelay {
    type Figures = PartTimes;

    fn enrol(&mut self, seats: &mut Seats) {
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        ROOM - self.queue.len() as u32
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if !request.is_within(self.bytes) {
            return cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
        self.queue.push_back(tag);
        if self.queue.len() == 1 {
            self.accounts.change(IDLE, BUSY);
            self.start(cx);
        }
    }

    fn pass_time(&mut self, now: Nanos) {
        self.accounts.pass_time(now);
    }

    fn event(&mut self, _seat: u32, cx: &mut Cx) -> bool {
        self.ends = self.ends_late;
        !self.ends_late && self.end(cx)
    }

    fn settle(&mut self, cx: &mut Cx) -> bool {
        std::mem::take(&mut self.ends) && self.end(cx)
    }

    fn end_window(&mut self, _now: Nanos, meter: AtEnd) -> (Window<PartTimes>, Option<Box<Series>>) {
        self.accounts.end_window(meter)
    }

    fn operations(&self) -> u64 {
        0
    }

    fn operations_at_once(&self) -> u64 {
        1
    }

    fn series_overflowed(&mut self) -> bool {
        self.accounts.series_overflowed()
    }

    fn so_far(&self) -> (f64, f64) {
        self.accounts.so_far()
    }
}

impl Reported for FixedDelay {
    fn parts(&self, _config: &Config) -> Parts {
        self.accounts.parts().clone()
    }

    fn energy_j(&self, _config: &Config, times: &PartTimes) -> f64 {
        self.accounts.energies(times).total
    }

    fn report(&self, config: &Config, outcome: &Outcome<PartTimes>) -> DeviceReport {
        DeviceReport::of_accounts(&self.accounts, config, outcome)
    }
}

fn run(sets: &[&str], options: &RunOptions) -> Report {
    run_with(sets, options, |_| {})
}

fn run_with(sets: &[&str], options: &RunOptions, change: impl Fn(&mut FixedDelay)) -> Report {
    let sets: Vec<String> = [&["device.preset=x25m"], sets].concat().iter().map(ToString::to_string).collect();
    let config = load("", "test", &sets).expect("a valid configuration");
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed).expect("a workload");
    let mut device = FixedDelay::new(config.logical_bytes(), 100_000, options.series());
    change(&mut device);
    run_device(&config, options, device, workload.as_mut(), &mut |_| true).expect("it runs")
}

/// Two writes at 0 and 150 µs, of 100 µs each: busy for 200 of 250 µs.
#[test]
fn its_figures_are_those_of_the_definition() {
    let options = RunOptions { series_interval_ns: Some(50_000), ..RunOptions::default() };
    let path = std::env::temp_dir().join(format!("second-device-{}.spc", std::process::id()));
    std::fs::write(&path, "0,0,512,W,0.000000\n0,1,512,W,0.000150\n").expect("a file");
    let report = run(&[&format!("workload.trace.path={path:?}"), "workload.trace.format=spc"], &options);
    std::fs::remove_file(&path).expect("the file");
    let json: Value = serde_json::to_value(&report).expect("JSON");
    assert_eq!(json["status"], "complete", "{}", json["warnings"]);
    let close = |key: &str, expected: f64| {
        let found = json.pointer(key).and_then(Value::as_f64).expect(key);
        assert!((found - expected).abs() <= 1e-12 * expected, "{key}: {found} instead of {expected}");
    };
    close("/energy_j/busy", 200e-6);
    close("/energy_j/idle", 12.5e-6);
    close("/energy_j/total", 212.5e-6);
    close("/energy_integral_j", 212.5e-6);
    close("/power_w/mean", 0.85);
    close("/power_w/peak", 1.0);
    close("/current_ma/peak", 200.0);
    assert_eq!(json["latency_ns"]["all"]["max"], 100_000);
    assert_eq!(json["series"]["power_w"]["busy"], serde_json::json!([1.0, 1.0, 0.0, 1.0, 1.0]));
    assert_eq!(json["series"]["power_w"]["idle"], serde_json::json!([0.0, 0.0, 0.25, 0.0, 0.0]));
    assert_eq!(json.get("flash"), None, "it has none");
}

/// It runs every model and every stand-in that is registered, with warm-up, a counted drain, series and edges.
#[test]
fn it_runs_every_workload() {
    let options = RunOptions { series_interval_ns: Some(0), edges_ns: Some((0, 1_000_000)), ..RunOptions::default() };
    for sets in every_workload() {
        let report = run(&sets.each_ref().map(String::as_str), &options);
        assert_eq!(report.status, "complete", "{sets:?}");
        assert!(report.workload.requests >= 200 && report.energy_integral_j > 0.0, "{sets:?}");
    }
}

/// A device may end requests after all events of an instant. The workload is asked again at that instant, even if no event
/// is left.
#[test]
fn requests_that_end_late_in_an_instant_make_room_at_that_instant() {
    for depth in [1, 3, ROOM] {
        let sets = ["workload.uniform.requests=50".to_owned(), format!("workload.uniform.queue_depth={depth}")];
        let sets = [sets[0].as_str(), &sets[1]];
        let early = run(&sets, &RunOptions::default());
        let late = run_with(&sets, &RunOptions::default(), |device| device.ends_late = true);
        assert_eq!((early.status.as_str(), early.workload.requests), ("complete", 50));
        assert_eq!(early.throughput.simulated_s, 50.0 * 100e-6);
        assert_eq!(
            (late.throughput.simulated_s, late.latency_ns.all.max),
            (early.throughput.simulated_s, early.latency_ns.all.max)
        );
    }
}
