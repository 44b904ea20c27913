//! Synthetic workloads: requests at random (or in sequence) over a range.

use super::{Next, SourceKind, Upcoming, Workload};
use crate::config::{self, Arrivals};
use crate::error::Error;
use crate::host::{Request, RequestKind};
use crate::rng::Rng;
use crate::units::Nanos;

/// What lists say about it.
pub const DOC: &str =
    "requests of one size at random (or in sequence) over a range: a closed loop, at a rate, or in bursts";

/// Requests of one size, spread evenly over a range of the drive: [`config::Uniform`] come alive.
///
/// Starts lie at multiples of `align_bytes` above `start_bytes`, as far as a whole request fits into the range. In
/// sequence, each request starts at the first such place past the end of the one before, and the range starts over when
/// the next one would not fit. A request is a read with probability `read_fraction`, a trim with `trim_fraction`, else
/// a write.
#[derive(Clone, Debug)]
pub struct Uniform {
    rng: Rng,
    requests: u64,
    /// Two counters that only grow: `next` need not wait for what `done` wrote, as it would for a number outstanding.
    issued: u64,
    completed: u64,
    bytes: u64,
    start: u64,
    align: u64,
    /// Places where a request may start.
    slots: u64,
    order: Order,
    /// Chance thresholds: a draw below the first is a read, below the second a trim.
    read_below: u64,
    trim_below: u64,
    clock: Clock,
    /// What the next requests will be: drawn early, so that others can prepare for them.
    ahead: [(RequestKind, u64); AHEAD],
}

/// How many requests are drawn early. The far half of them is announced for a first preparation, the near half for a
/// second one that builds on it.
const AHEAD: usize = 32;

/// Where the next request starts.
#[derive(Clone, Debug)]
enum Order {
    Random,
    Sequential { slot: u64, step: u64 },
}

/// When the next request comes.
#[derive(Clone, Debug)]
enum Clock {
    Closed { queue_depth: u64 },
    Poisson { mean_gap_ns: f64, at: Nanos },
    Bursts { requests: u64, gap_ns: Nanos, at: Nanos, left: u64 },
}

impl Uniform {
    /// A workload of this (valid) configuration. The same seed gives the same requests.
    pub fn new(cfg: &config::Uniform, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let align = cfg.align_bytes.max(1);
        let step = cfg.request_bytes.div_ceil(align).max(1);
        let clock = Clock::new(cfg.arrivals, &mut rng);
        let mut uniform = Uniform {
            rng,
            requests: cfg.requests,
            issued: 0,
            completed: 0,
            bytes: cfg.request_bytes,
            start: cfg.start_bytes,
            align,
            slots: cfg.range_bytes.saturating_sub(cfg.request_bytes) / align + 1,
            order: if cfg.sequential { Order::Sequential { slot: 0, step } } else { Order::Random },
            read_below: Rng::threshold(cfg.read_fraction),
            trim_below: Rng::threshold((cfg.read_fraction + cfg.trim_fraction).min(1.0)),
            clock,
            ahead: [(RequestKind::Read, 0); AHEAD],
        };
        uniform.ahead = std::array::from_fn(|_| uniform.draw());
        uniform
    }

    /// What the request after those drawn so far will be.
    #[inline]
    fn draw(&mut self) -> (RequestKind, u64) {
        let kind = self.kind_of_next();
        (kind, self.start + self.slot_of_next() * self.align)
    }

    #[inline]
    fn kind_of_next(&mut self) -> RequestKind {
        let draw = self.rng.bits() >> 11;
        if draw < self.read_below {
            RequestKind::Read
        } else if draw < self.trim_below {
            RequestKind::Trim
        } else {
            RequestKind::Write
        }
    }

    #[inline]
    fn slot_of_next(&mut self) -> u64 {
        match &mut self.order {
            Order::Random => self.rng.below(self.slots),
            Order::Sequential { slot, step } => {
                let this = if *slot < self.slots { *slot } else { 0 };
                *slot = this + *step;
                this
            }
        }
    }
}

impl Workload for Uniform {
    #[inline]
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        if self.issued == self.requests {
            return Ok(Next::End);
        }
        let arrival_ns = match self.clock.take(now, self.issued - self.completed, &mut self.rng) {
            Ok(at) => at,
            Err(wait) => return Ok(wait),
        };
        let place = self.issued as usize % AHEAD;
        self.issued += 1;
        let later = self.draw();
        let (kind, offset_bytes) = std::mem::replace(&mut self.ahead[place], later);
        Ok(Next::Request(Request { arrival_ns, kind, offset_bytes, bytes: self.bytes, fua: false }))
    }

    #[inline]
    fn upcoming(&self) -> Option<Upcoming> {
        let after = |requests: u64| self.ahead[(self.issued + requests) as usize % AHEAD].1;
        Some(Upcoming { far_bytes: after(AHEAD as u64 - 1), near_bytes: after(AHEAD as u64 / 2 - 1) })
    }

    #[inline]
    fn done(&mut self, _now: Nanos) {
        debug_assert!(self.completed < self.issued, "a completion without a request");
        self.completed += 1;
    }

    fn name(&self) -> &str {
        "uniform"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.requests)
    }
}

impl Clock {
    fn new(arrivals: Arrivals, rng: &mut Rng) -> Self {
        match arrivals {
            Arrivals::Closed { queue_depth } => Clock::Closed { queue_depth: u64::from(queue_depth.max(1)) },
            Arrivals::Poisson { rate_per_s } => {
                let mean_gap_ns = 1e9 / rate_per_s;
                Clock::Poisson { mean_gap_ns, at: exponential_ns(mean_gap_ns, rng) }
            }
            Arrivals::Bursts { requests, gap_ns } => {
                let requests = requests.max(1);
                Clock::Bursts { requests, gap_ns, at: 0, left: requests }
            }
        }
    }

    /// The arrival time of the request that is due, or what to wait for.
    #[inline]
    fn take(&mut self, now: Nanos, outstanding: u64, rng: &mut Rng) -> Result<Nanos, Next> {
        match self {
            Clock::Closed { queue_depth } if outstanding >= *queue_depth => Err(Next::WaitForCompletion),
            Clock::Closed { .. } => Ok(now),
            Clock::Poisson { mean_gap_ns, at } => {
                let due = due(*at, now)?;
                *at = due.saturating_add(exponential_ns(*mean_gap_ns, rng));
                Ok(due)
            }
            Clock::Bursts { requests, gap_ns, at, left } => {
                let due = due(*at, now)?;
                *left -= 1;
                if *left == 0 {
                    *left = *requests;
                    *at = due.saturating_add(*gap_ns);
                }
                Ok(due)
            }
        }
    }
}

#[inline]
fn due(at: Nanos, now: Nanos) -> Result<Nanos, Next> {
    if at > now { Err(Next::WaitUntil(at)) } else { Ok(at) }
}

/// An exponential gap, rounded to whole nanoseconds. `libm`'s logarithm gives the same bits everywhere.
fn exponential_ns(mean_ns: f64, rng: &mut Rng) -> Nanos {
    // 1 - u lies in (0, 1], so that the logarithm is finite.
    (-libm::log(1.0 - rng.f64()) * mean_ns + 0.5) as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cfg(arrivals: Arrivals) -> config::Uniform {
        config::Uniform {
            requests: 10_000,
            request_bytes: 4096,
            read_fraction: 0.5,
            trim_fraction: 0.25,
            align_bytes: 4096,
            start_bytes: 8192,
            range_bytes: 1 << 20,
            sequential: false,
            arrivals,
        }
    }

    /// Runs a workload to its end; requests complete only when it asks to wait for that.
    fn drain(workload: &mut Uniform) -> Vec<Request> {
        let (mut now, mut open, mut requests) = (0, 0, Vec::new());
        loop {
            match workload.next(now).expect("a synthetic workload has no errors") {
                Next::Request(r) => {
                    assert!(r.arrival_ns <= now);
                    open += 1;
                    requests.push(r);
                }
                Next::WaitUntil(t) => {
                    assert!(t > now);
                    now = t;
                }
                Next::WaitForCompletion => {
                    assert!(open > 0);
                    now += 1000;
                    open -= 1;
                    workload.done(now);
                }
                Next::End => return requests,
            }
        }
    }

    #[test]
    fn closed_loop_keeps_its_queue_depth() {
        let mut w = Uniform::new(&cfg(Arrivals::Closed { queue_depth: 4 }), 1);
        for _ in 0..4 {
            assert!(matches!(w.next(5), Ok(Next::Request(Request { arrival_ns: 5, .. }))));
        }
        assert!(matches!(w.next(5), Ok(Next::WaitForCompletion)));
        w.done(9);
        assert!(matches!(w.next(9), Ok(Next::Request(_))));
        assert!(matches!(w.next(9), Ok(Next::WaitForCompletion)));
    }

    #[test]
    fn requests_stay_in_range_and_mix_as_asked() {
        let requests = drain(&mut Uniform::new(&cfg(Arrivals::Closed { queue_depth: 32 }), 2));
        assert_eq!(requests.len(), 10_000);
        let count = |kind| requests.iter().filter(|r| r.kind == kind).count();
        assert!(count(RequestKind::Read).abs_diff(5000) < 200);
        assert!(count(RequestKind::Trim).abs_diff(2500) < 200);
        assert_eq!(count(RequestKind::Flush), 0);
        for r in &requests {
            assert!(r.offset_bytes >= 8192 && r.offset_bytes + r.bytes <= 8192 + (1 << 20));
            assert_eq!(r.offset_bytes % 4096, 0);
        }
        let last = 8192 + (1 << 20) - 4096;
        assert!(requests.iter().any(|r| r.offset_bytes == 8192));
        assert!(requests.iter().any(|r| r.offset_bytes == last));
    }

    #[test]
    fn sequence_starts_over_where_a_request_no_longer_fits() {
        let cfg = config::Uniform {
            sequential: true,
            requests: 6,
            request_bytes: 1536,
            align_bytes: 1024,
            start_bytes: 0,
            range_bytes: 4096,
            ..cfg(Arrivals::Closed { queue_depth: 1 })
        };
        let starts: Vec<u64> = drain(&mut Uniform::new(&cfg, 3)).iter().map(|r| r.offset_bytes).collect();
        assert_eq!(starts, [0, 2048, 0, 2048, 0, 2048]);
    }

    #[test]
    fn poisson_arrivals_have_mean_and_spread() {
        let requests = drain(&mut Uniform::new(&cfg(Arrivals::Poisson { rate_per_s: 1000.0 }), 4));
        let gaps: Vec<f64> = requests.windows(2).map(|w| (w[1].arrival_ns - w[0].arrival_ns) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let sd = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < 0.04, "{mean}");
        assert!((sd / mean - 1.0).abs() < 0.06, "{sd}");
    }

    #[test]
    fn bursts_come_at_regular_times() {
        let cfg = config::Uniform { requests: 7, ..cfg(Arrivals::Bursts { requests: 3, gap_ns: 500 }) };
        let times: Vec<Nanos> = drain(&mut Uniform::new(&cfg, 5)).iter().map(|r| r.arrival_ns).collect();
        assert_eq!(times, [0, 0, 0, 500, 500, 500, 1000]);
    }

    #[test]
    fn one_seed_is_one_sequence() {
        let cfg = cfg(Arrivals::Poisson { rate_per_s: 1e5 });
        let of = |seed| drain(&mut Uniform::new(&cfg, seed));
        assert_eq!(of(6), of(6));
        assert_ne!(of(6), of(7));
    }
}
