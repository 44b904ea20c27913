//! A device whose one part has as many states as a declaration can hold. What its accounts, its meter and its recordings say of its energy
//! is what the test sums from a record of its own.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use flashwatt::RunOptions;
use flashwatt::config::{Config, load};
use flashwatt::report::{DeviceReport, Report, Reported};
use flashwatt::run::run_device;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{AtEnd, Completion, Cx, Device, Request, Seats, Status, Tag, Window};
use flashwatt_core::energy::parts::{PartTimes, Parts, PowerShare, STATES_MAX, StateId};
use flashwatt_core::energy::{Accounts, Draw, Series};
use flashwatt_core::kernel::Outcome;
use flashwatt_workload as workload;
use serde_json::Value;

/// A component for each state.
const COMPONENTS: [&str; STATES_MAX] = [
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17",
    "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30",
];
const SUPPLY_MV: u32 = 5_000;
const ROOM: u32 = 4;

/// Power in nW by state; each differs from all others.
fn nw(state: usize) -> i64 {
    1_000_000 * (state as i64 * state as i64 + 3)
}

/// The time of each change, and the state from then on.
type Record = Rc<RefCell<Vec<(Nanos, usize)>>>;

/// Each request takes the part to a state, to another one half-way, and to a third one at its end.
struct Wanderer {
    bytes: u64,
    queue: VecDeque<Tag>,
    accounts: Accounts,
    seat: u32,
    rng: Rng,
    state: usize,
    record: Record,
}

impl Wanderer {
    fn new(bytes: u64, series: Option<Box<Series>>, record: Record) -> Self {
        let mut parts = Parts::new(&COMPONENTS, SUPPLY_MV);
        for component in 0..STATES_MAX {
            parts.state(&[PowerShare { component, draw: Draw { nw: nw(component) } }]);
        }
        let accounts = Accounts::new(parts, &[(StateId::new(0), 1)], series);
        record.borrow_mut().push((0, 0));
        Wanderer { bytes, queue: VecDeque::new(), accounts, seat: 0, rng: Rng::new(31), state: 0, record }
    }

    /// The part goes to any state at a time, which may lie ahead.
    fn go(&mut self, at: Nanos) {
        let to = self.rng.below(STATES_MAX as u64) as usize;
        self.accounts.change_at(at, StateId::new(self.state), StateId::new(to));
        self.state = to;
        self.record.borrow_mut().push((at, to));
    }

    fn start(&mut self, cx: &mut Cx) {
        let (now, half_ns) = (cx.now(), 1 + self.rng.below(40_000));
        self.go(now);
        self.go(now + half_ns);
        cx.agenda.reset(self.seat, now + 2 * half_ns);
    }
}

impl Device for Wanderer {
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
            self.start(cx);
        }
    }

    fn pass_time(&mut self, now: Nanos) {
        self.accounts.pass_time(now);
    }

    fn event(&mut self, _seat: u32, cx: &mut Cx) -> bool {
        self.go(cx.now());
        cx.done.extend(self.queue.pop_front().map(Completion::done));
        if !self.queue.is_empty() {
            self.start(cx);
        }
        true
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

impl Reported for Wanderer {
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

/// A run, and the record of its device.
fn run(options: &RunOptions) -> (Report, Vec<(Nanos, usize)>) {
    let sets = ["device.preset=x25m", "workload.uniform.requests=400", "workload.uniform.queue_depth=3"];
    let config = load("", "test", &sets.map(String::from)).expect("a valid configuration");
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed).expect("a workload");
    let record = Record::default();
    let device = Wanderer::new(config.logical_bytes(), options.series(), Rc::clone(&record));
    let report = run_device(&config, options, device, workload.as_mut(), &mut |_| true).expect("it runs");
    (report, record.take())
}

/// Time in ns in each state until `end_ns`.
fn times(record: &[(Nanos, usize)], end_ns: Nanos) -> [Nanos; STATES_MAX] {
    let mut ns = [0; STATES_MAX];
    let ends = record[1..].iter().map(|&(at, _)| at).chain([end_ns]);
    record.iter().zip(ends).for_each(|(&(from, state), until)| ns[state] += until - from);
    ns
}

#[test]
fn every_path_to_the_energy_of_31_states_agrees() {
    let options =
        RunOptions { series_interval_ns: Some(0), edges_ns: Some((0, 1_000_000_000)), ..RunOptions::default() };
    let (report, record) = run(&options);
    let (bins, edges) = (report.series.as_ref().expect("bins"), report.edges.as_ref().expect("edges"));
    let end_ns = edges.until_ns;
    let ns = times(&record, end_ns);
    assert!(ns.iter().all(|&ns| ns > 0), "the part was in every state: {ns:?}");
    let joules: [f64; STATES_MAX] = std::array::from_fn(|state| nw(state) as f64 * ns[state] as f64 * 1e-18);
    let expected: f64 = joules.iter().sum();
    let close = |what: &str, found: f64, expected: f64| {
        assert!((found - expected).abs() <= 1e-9 * expected, "{what}: {found} J instead of {expected} J");
    };
    let json: Value = serde_json::to_value(&report).expect("JSON");
    let priced = |component: &str| json["energy_j"][component].as_f64().expect("a component");
    close("priced accounts", priced("total"), expected);
    close("the meter's integral", report.energy_integral_j, expected);
    let lasts = edges.time_ns.iter().skip(1).chain([&end_ns]).zip(&edges.time_ns).map(|(until, from)| until - from);
    let of_edges = |ma: &[f64]| -> f64 {
        let w = |ma: f64| ma * f64::from(SUPPLY_MV) * 1e-6;
        ma.iter().zip(lasts.clone()).map(|(&ma, ns)| w(ma) * ns as f64 * 1e-9).sum()
    };
    close("the edges", of_edges(&edges.total_ma), expected);
    let bin_ns = |bin: usize| bins.interval_ns.min(end_ns - bin as u64 * bins.interval_ns);
    let of_bins = |w: &[f64]| -> f64 { (0..).zip(w).map(|(bin, w)| w * bin_ns(bin) as f64 * 1e-9).sum() };
    for (component, joules) in COMPONENTS.iter().zip(joules) {
        close(component, priced(component), joules);
        close(component, of_edges(&edges.current_ma[*component]), joules);
        close(component, of_bins(&bins.power_w[*component]), joules);
    }
    let highest = (0..STATES_MAX).map(nw).max().expect("states") as f64 * 1e-9;
    assert_eq!(json["power_w"]["peak"].as_f64(), Some(highest));
}
