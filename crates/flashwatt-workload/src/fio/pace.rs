//! When a running job may issue its next request: rates and pauses.

use super::spec::{Rate, ThinkSpec};
use crate::settings::{Gap, Law};
use crate::synthetic::Gaps;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Next, RequestKind};

/// The rate limits of reads, writes and trims. A direction that fell behind its rate catches up, as in fio.
pub(super) struct Rates([RateLimit; 3]);

/// What rates say of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admitted {
    /// A request of this kind is due.
    Now(RequestKind),
    /// One of this kind is the first to be due, this time after the job's start.
    At(RequestKind, Nanos),
}

impl Rates {
    pub fn new(rates: &[Rate; 3]) -> Self {
        Rates(std::array::from_fn(|at| RateLimit::new(rates[at])))
    }

    /// The kind that is due, where `kind` was drawn and the job has run for `ran_ns`. In a mix, a rate goes before the share of
    /// reads: the other direction takes its turn where this one is not due yet.
    pub fn admit(&self, kind: RequestKind, other: Option<RequestKind>, ran_ns: Nanos) -> Admitted {
        let due = self.0[kind as usize].due_ns;
        if due <= ran_ns {
            return Admitted::Now(kind);
        }
        match other.map(|other| (other, self.0[other as usize].due_ns)) {
            Some((other, at)) if at <= ran_ns => Admitted::Now(other),
            Some((other, at)) if at < due => Admitted::At(other, at),
            _ => Admitted::At(kind, due),
        }
    }

    /// A request was issued.
    pub fn count(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) {
        self.0[kind as usize].count(bytes, rng);
    }

    /// The job paused for `pause_ns`, and need not catch up (fio's `rate_ignore_thinktime`).
    pub fn excuse(&mut self, kind: RequestKind, pause_ns: Nanos) {
        let limit = &mut self.0[kind as usize];
        let gap = if limit.gap_ns <= pause_ns { limit.gap_ns } else { 0 };
        limit.excused_ns += pause_ns - gap;
        limit.due_ns = limit.due_ns.saturating_add(pause_ns - gap);
    }
}

struct RateLimit {
    rate: Rate,
    /// Times between requests, for a limit on requests.
    gaps: Gaps,
    gap_ns: Nanos,
    excused_ns: Nanos,
    /// Bytes requested so far, for a limit on bytes.
    bytes: u128,
    /// Earliest time of the next request, counted from the job's start.
    due_ns: Nanos,
}

impl RateLimit {
    fn new(rate: Rate) -> Self {
        let law = if matches!(rate, Rate::Poisson(_)) { Law::Exponential } else { Law::Constant };
        let mean_ns = match rate {
            Rate::Requests(per_s) | Rate::Poisson(per_s) => 1e9 / per_s as f64,
            Rate::Bytes { per_s, least } => least as f64 * 1e9 / per_s as f64,
            Rate::None => 0.0,
        };
        let gaps = Gaps::new(Gap { law, mean_ns: if mean_ns > 0.0 { mean_ns } else { 1.0 } });
        RateLimit { rate, gaps, gap_ns: mean_ns as Nanos, excused_ns: 0, bytes: 0, due_ns: 0 }
    }

    fn count(&mut self, bytes: u64, rng: &mut Rng) {
        match self.rate {
            Rate::None => {}
            Rate::Bytes { per_s, .. } => {
                self.bytes += u128::from(bytes);
                let due = (self.bytes * 1_000_000_000 / u128::from(per_s)) as Nanos;
                self.due_ns = due.saturating_add(self.excused_ns);
            }
            Rate::Requests(_) | Rate::Poisson(_) => self.due_ns = self.due_ns.saturating_add(self.gaps.draw(rng)),
        }
    }
}

/// Pauses after some requests. A pause begins when all requests of the job have completed.
pub(super) struct Think {
    spec: ThinkSpec,
    /// Requests that were issued or have completed, and how many there were at the last pause.
    issued: u64,
    completed: u64,
    at_pause: u64,
    paused_ns: Nanos,
    /// Whether a request was issued since the last check, and its kind.
    unchecked: Option<RequestKind>,
    /// Waits for completions, or until this time.
    phase: Phase,
    /// Time of the last completion.
    done_ns: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Running,
    Draining(RequestKind),
    Pausing(Nanos, RequestKind),
}

impl Think {
    pub fn new(spec: ThinkSpec, now: Nanos) -> Self {
        let (phase, paused_ns) = (Phase::Running, now);
        Think { spec, issued: 0, completed: 0, at_pause: 0, paused_ns, unchecked: None, phase, done_ns: now }
    }

    pub fn issued(&mut self, kind: RequestKind) {
        self.issued += 1;
        self.unchecked = Some(kind);
    }

    /// A request that is no flush has completed.
    pub fn completed(&mut self, now: Nanos) {
        self.completed += 1;
        self.done_ns = now;
    }

    /// What the job waits for, if it thinks. A pause that ends tells `rates`.
    pub fn wait(&mut self, now: Nanos, outstanding: u64, rates: &mut Rates) -> Option<Next> {
        if let Some(kind) = self.unchecked.take()
            && self.is_due(now)
        {
            self.phase = Phase::Draining(kind);
        }
        if let Phase::Draining(kind) = self.phase {
            if outstanding > 0 {
                return Some(Next::WaitForCompletion);
            }
            self.phase = Phase::Pausing(self.done_ns.saturating_add(self.spec.pause_ns), kind);
        }
        if let Phase::Pausing(until, kind) = self.phase {
            if until > now {
                return Some(Next::WaitUntil(until));
            }
            self.phase = Phase::Running;
            if self.spec.rates_ignore {
                rates.excuse(kind, self.spec.pause_ns);
            }
        }
        None
    }

    fn is_due(&mut self, now: Nanos) -> bool {
        let count = if self.spec.counts_issued { self.issued } else { self.completed };
        let by_time =
            self.spec.run_ns.is_some_and(|run| now >= self.paused_ns.saturating_add(run + self.spec.pause_ns));
        let is_due = by_time || self.spec.every.is_some_and(|every| count >= self.at_pause + every);
        if is_due {
            (self.at_pause, self.paused_ns) = (count, now);
        }
        is_due
    }
}
