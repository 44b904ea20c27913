//! A trace and a stand-in side by side: `cargo run --release --example likeness -- TRACE STANDIN SKIP [--fit]`.
//!
//! Compares the whole trace, which may be an excerpt, with a window of the stand-in that begins after SKIP requests and
//! has as many writes. Only the reuse of pages is comparable where the excerpt has another mix than the whole trace.
//! `--fit` searches the parameters of reuse with which the two differ least, and prints them first.
#![allow(clippy::print_stdout)]

use flashwatt::config::{Workload as Chosen, load};
use flashwatt::connector::Workload;
use flashwatt::workload::standin::character::{
    CACHES, Character, GAP_QUANTILES, OfKind, SIZE_QUANTILES, TOPS, Window, sketch,
};
use flashwatt::workload::standin::fit::{Reuse, distance, fit_reuse};
use flashwatt::workload::standin::{Standin, find};
use flashwatt::workload::trace::TraceWorkload;
use flashwatt::{Error, error::Fault};

/// The drive that traces and stand-ins are laid out on.
const DRIVE_BYTES: u64 = 460_000_000_000;

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let usage = || Error::from(Fault::key("likeness", "expected TRACE STANDIN SKIP [--fit]"));
    let [path, name, skip, rest @ ..] = &args[..] else { return Err(usage()) };
    let skip = skip.parse().map_err(|_| usage())?;
    let mut standin = find(name).ok_or_else(usage)?.clone();
    let trace = character(path)?;
    let window = Window { skip, writes: trace.writes.requests };
    if !rest.is_empty() {
        let (reuse, _) = fit_reuse(&standin, DRIVE_BYTES, window, &trace, &mut |_| true)?;
        reuse.set(&mut standin.data.model);
    }
    println!("{:?}", Reuse::of(&standin.data.model));
    let drawn = drawn(&standin, window)?;
    println!("distance {:.3}\n", distance(&drawn, &trace));
    show(&trace, &drawn);
    Ok(())
}

fn character(path: &str) -> Result<Character, Error> {
    let sets = [
        format!("workload.trace.path={path}"),
        "workload.trace.fold=true".into(),
        "workload.trace.skip_bad=true".into(),
    ];
    let Chosen::Trace(cfg) = load("", "likeness", &sets)?.workload else { unreachable!("a trace was named") };
    let mut trace: Box<dyn Workload> = Box::new(TraceWorkload::open(&cfg, DRIVE_BYTES)?);
    Ok(sketch(trace.as_mut(), Window::WHOLE)?.character())
}

fn drawn(standin: &Standin, window: Window) -> Result<Character, Error> {
    let mut workload = standin.open(1.0, standin.requests(1.0), DRIVE_BYTES, 1);
    Ok(sketch(workload.as_mut(), window)?.character())
}

fn show(trace: &Character, standin: &Character) {
    println!("| | trace | stand-in |\n|---|---|---|");
    let row =
        |name: String, of: &dyn Fn(&Character) -> f64| println!("| {name} | {:.1} | {:.1} |", of(trace), of(standin));
    row("requests".into(), &|c| c.requests as f64);
    row("reads, %".into(), &|c| 100.0 * c.reads.requests as f64 / c.requests.max(1) as f64);
    row("mean read, KiB".into(), &|c| c.reads.mean_kib);
    row("mean write, KiB".into(), &|c| c.writes.mean_kib);
    row("sequential, %".into(), &|c| c.sequential_percent);
    row("requests in a run".into(), &|c| c.run_requests);
    for (at, quantile) in GAP_QUANTILES.iter().enumerate() {
        let name = format!("time between arrivals, {:.0} % quantile, ms", 100.0 * quantile);
        row(name, &|c| c.gap_ns[at] as f64 / 1e6);
    }
    for (kind, of) in [("writes", (|c| &c.writes) as fn(&Character) -> &OfKind), ("reads", |c| &c.reads)] {
        row(format!("number of {kind}"), &|c| of(c).requests as f64);
        for (at, quantile) in SIZE_QUANTILES.iter().enumerate() {
            let name = format!("size of {kind}, {:.0} % quantile, KiB", 100.0 * quantile);
            row(name, &|c| of(c).bytes[at] as f64 / 1024.0);
        }
        for (at, top) in TOPS.iter().enumerate() {
            row(format!("{kind} to the {top} most popular pages, %"), &|c| of(c).top_percent[at]);
        }
        row(format!("{kind} to new pages, %"), &|c| of(c).new_percent);
        for (at, pages) in CACHES.iter().enumerate() {
            row(format!("LRU hits of {kind} with {pages} pages, %"), &|c| of(c).hit_percent[at]);
        }
    }
}
