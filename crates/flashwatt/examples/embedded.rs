//! A drive inside a simulation of something larger, which owns the clock and the loop: `cargo run --release --example embedded`.
//!
//! Four threads of a host read a page, compute for a while, write the page back, and compute again. Host and drive each know
//! when their next event is; the loop goes on to the earlier one.
#![allow(clippy::print_stdout)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use flashwatt::connector::{RequestKind, Tag};
use flashwatt::rng::Rng;
use flashwatt::{Done, Drive, config};

const PAGE_BYTES: u64 = 4096;
const DATA_BYTES: u64 = 1 << 30;
const COMPUTE_NS: u64 = 400_000;
const RUN_NS: u64 = 2_000_000_000;

/// The host: when each thread that computes goes on, and the thread and kind of each request under way.
struct Host {
    rng: Rng,
    computing: BinaryHeap<Reverse<(u64, RequestOf)>>,
    waiting: HashMap<Tag, RequestOf>,
}

/// The next request of a thread, or the one that it waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RequestOf {
    thread: u32,
    is_write: bool,
    offset_bytes: u64,
}

impl Host {
    fn new(threads: u32) -> Self {
        let first = |thread| Reverse((u64::from(thread), RequestOf { thread, is_write: true, offset_bytes: 0 }));
        let mut host = Host { rng: Rng::new(1), computing: BinaryHeap::new(), waiting: HashMap::new() };
        host.computing.extend((0..threads).map(first));
        host
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.computing.peek().map(|&Reverse((at, _))| at)
    }

    /// Threads that have computed enough by now send their next request.
    fn go_on(&mut self, now_ns: u64, drive: &mut Drive) -> Result<(), flashwatt::Error> {
        while let Some(&Reverse((at, request))) = self.computing.peek().filter(|Reverse((at, _))| *at <= now_ns) {
            self.computing.pop();
            let kind = if request.is_write { RequestKind::Write } else { RequestKind::Read };
            let tag = drive.submit(kind, request.offset_bytes, PAGE_BYTES, at)?;
            self.waiting.insert(tag, request);
        }
        Ok(())
    }

    /// A request has ended: its thread computes. After a read it writes the same page; after a write it reads another one.
    fn ended(&mut self, done: &Done) {
        let Some(mut request) = self.waiting.remove(&done.tag) else { return };
        if request.is_write {
            request.offset_bytes = self.rng.below(DATA_BYTES / PAGE_BYTES) * PAGE_BYTES;
        }
        request.is_write = !request.is_write;
        self.computing.push(Reverse((done.end_ns + COMPUTE_NS, request)));
    }
}

/// What the example prints.
pub fn lines() -> Result<Vec<String>, flashwatt::Error> {
    let text = "device = { preset = \"x25m\", logical_bytes = 2_147_483_648 }\nrun.precondition = \"filled\"";
    let mut drive = Drive::new(&config::load(text, "embedded.toml", &[])?)?;
    let (mut host, mut done, mut lines) = (Host::new(4), Vec::new(), Vec::new());
    let mut shown_ns = 0;
    while let Some(at) = host.next_event_ns().into_iter().chain(drive.next_event_ns()?).min().filter(|&at| at <= RUN_NS)
    {
        drive.advance_into(at, &mut done)?;
        done.drain(..).for_each(|done| host.ended(&done));
        host.go_on(at, &mut drive)?;
        if at >= shown_ns {
            lines.push(format!(
                "{:6.1} ms  {:6.3} J  {:5.3} W now",
                at as f64 / 1e6,
                drive.energy_j(),
                drive.power_w()
            ));
            shown_ns += RUN_NS / 4;
        }
    }
    let report = drive.report();
    lines.push(format!("{} requests, {:.0} IOPS", report.workload.requests, report.throughput.iops));
    lines.push(format!(
        "reads {} ns, writes {} ns at the median",
        p50(&report.latency_ns.read),
        p50(&report.latency_ns.write)
    ));
    Ok(lines)
}

fn p50(latency: &flashwatt::stats::Latency) -> u64 {
    latency.p50.unwrap_or_default()
}

fn main() -> Result<(), flashwatt::Error> {
    lines()?.iter().for_each(|line| println!("{line}"));
    Ok(())
}
