//! A device of your own: a card that serves one request after the other, each in the same time, and draws one power while it works and
//! another while it does not. `docs/add-a-device.md` goes through it.
#![allow(clippy::print_stdout)]

use std::collections::VecDeque;

use flashwatt::config::{Config, load};
use flashwatt::connector::{AtEnd, Completion, Cx, Device, Request, Seats, Status, Tag, Window};
use flashwatt::energy::parts::{PartTimes, Parts, PowerShare, StateId};
use flashwatt::energy::{Accounts, Draw, Series};
use flashwatt::kernel::Outcome;
use flashwatt::report::{DeviceReport, Reported};
use flashwatt::run::run_device;
use flashwatt::units::Nanos;
use flashwatt::{RunOptions, workload};

const IDLE: StateId = StateId::new(0);
const BUSY: StateId = StateId::new(1);

struct Card {
    bytes: u64,
    request_ns: Nanos,
    waiting: VecDeque<Tag>,
    accounts: Accounts,
    /// Its event in the agenda: a request ends.
    seat: u32,
}

impl Card {
    fn new(bytes: u64, request_ns: Nanos) -> Self {
        let mut parts = Parts::new(&["idle", "busy"], 5_000); // components; mV at which currents are stated
        for (component, nw) in [(0, 250_000_000), (1, 1_000_000_000)] {
            parts.state(&[PowerShare { component, draw: Draw { nw } }]);
        }
        Card {
            bytes,
            request_ns,
            waiting: VecDeque::new(),
            accounts: Accounts::new(parts, &[(IDLE, 1)], None),
            seat: 0,
        }
    }

    fn start(&mut self, cx: &mut Cx) {
        cx.agenda.reset(self.seat, cx.now() + self.request_ns);
    }
}

impl Device for Card {
    type Figures = PartTimes;

    fn enrol(&mut self, seats: &mut Seats) {
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        8 - self.waiting.len() as u32
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if !request.is_within(self.bytes) {
            return cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
        self.waiting.push_back(tag);
        if self.waiting.len() == 1 {
            self.accounts.change(IDLE, BUSY);
            self.start(cx);
        }
    }

    fn pass_time(&mut self, now: Nanos) {
        self.accounts.pass_time(now);
    }

    fn event(&mut self, _seat: u32, cx: &mut Cx) -> bool {
        cx.done.extend(self.waiting.pop_front().map(Completion::done));
        if self.waiting.is_empty() {
            self.accounts.change(BUSY, IDLE);
        } else {
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

impl Reported for Card {
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

fn main() -> Result<(), flashwatt::Error> {
    let config = load("workload.uniform = { requests = 1000, queue_depth = 4 }", "device.rs", &[])?;
    let card = Card::new(config.logical_bytes(), 100_000);
    let mut workload = workload::open(&config.workload, config.logical_bytes(), config.run.seed)?;
    let report = run_device(&config, &RunOptions::default(), card, workload.as_mut(), &mut |_progress| true)?;
    // One request after the other, each in 100 µs, and three more always wait: 1,000 × 100 µs at 1 W.
    assert_eq!((report.status.as_str(), report.throughput.simulated_s), ("complete", 0.1));
    assert_eq!(report.latency_ns.all.max, Some(400_000));
    assert!((report.power_w.mean - 1.0).abs() < 1e-12);
    println!(
        "{} requests in {} s at {} W",
        report.workload.requests, report.throughput.simulated_s, report.power_w.mean
    );
    Ok(())
}
