//! Prints the host time per request of each model: `cargo test --release --features internals --test all
//! workload_speed -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use flashwatt::config::{Arrivals, Gap, Group, Law, OpenLoop, Size, Sizes, Synthetic};
use flashwatt_core::connector::{Completion, Next, Workload};
use flashwatt_workload::standin::STANDINS;
use flashwatt_workload::synthetic::{MODELS, open};

const REQUESTS: u64 = 100_000;

/// The least time per request in ns among many short runs: in some runs no other process disturbs the measurement.
fn best(mut make: impl FnMut() -> Box<dyn Workload>) -> f64 {
    (0..300).map(|_| drain(black_box(make()))).fold(f64::MAX, f64::min)
}

fn drain(mut workload: Box<dyn Workload>) -> f64 {
    let (mut now, mut sum, mut requests) = (0, 0, 0);
    let start = Instant::now();
    loop {
        match workload.next(now) {
            Ok(Next::Request(tag, request)) => {
                sum ^= request.offset_bytes;
                requests += 1;
                workload.completed(&Completion::done(tag), now);
            }
            Ok(Next::WaitUntil(at)) => now = at,
            _ => break,
        }
    }
    black_box(sum);
    start.elapsed().as_secs_f64() * 1e9 / requests as f64
}

#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "a measurement is for reading")]
fn models() {
    let base = Synthetic {
        requests: REQUESTS,
        read_fraction: 0.7,
        range_bytes: 1 << 40,
        arrivals: Arrivals::Closed { queue_depth: 32 },
        ..Synthetic::writes()
    };
    for model in MODELS {
        let cfg = Synthetic { model, ..base.clone() };
        println!("{:12} {:6.2} ns per request, next and done, 1 TiB", model.name, best(|| open(&cfg, 1)));
    }
    let gap = Gap { law: Law::Exponential, mean_ns: 1e5 };
    let arrivals = OpenLoop { gap, group: Group::Geometric { mean: 3.0 }, phases: None, tick_ns: None };
    let cfg = Synthetic { arrivals: Arrivals::Open(arrivals), ..base.clone() };
    println!(
        "{:12} {:6.2} ns per request: uniform in geometric bursts, exponential gaps",
        "bursts",
        best(|| open(&cfg, 1))
    );
    let list = |n: u64| (1..=n).map(|k| Size { bytes: k * 4096, share: 1.0 }).collect::<Vec<_>>();
    let cfg = Synthetic { sizes: Sizes { read: list(8), write: list(8), trim: list(1) }, ..base };
    println!("{:12} {:6.2} ns per request: uniform in eight sizes", "sizes", best(|| open(&cfg, 1)));
    for standin in STANDINS.iter() {
        println!("{:12} {:6.2} ns per request", standin.name, best(|| standin.open(1.0, REQUESTS, 460_000_000_000, 1)));
    }
}
