//! A running job: its next request, and when it is issued.

use super::places::{InOrder, InRows};
use super::resolve::{JobSpec, Rate};
use crate::connector::{Next, Origin, Priority, Request, RequestKind, Tag};
use crate::rng::Rng;
use crate::units::Nanos;
use crate::workload::settings::{Gap, Law};
use crate::workload::synthetic::{Gaps, Mix, Places};

/// A job, or one of its clones.
pub(super) struct Job {
    tag: Tag,
    origin: Origin,
    /// The number of its process among those of all jobs.
    process: u16,
    priority: Priority,
    rng: Rng,
    mix: Mix,
    places: Box<dyn Places>,
    depth: u64,
    fua: bool,
    /// Time from the start of the stage to that of the job.
    start_delay_ns: Nanos,
    /// Greatest time from the job's start to its last request.
    runtime_ns: Option<Nanos>,
    started_ns: Option<Nanos>,
    /// Bytes and requests that the job may still issue.
    bytes_left: u64,
    requests_left: u64,
    outstanding: u64,
    limits: [RateLimit; 3],
    think: Option<Think>,
    flush: Option<Flush>,
    /// A request that was drawn but is not due yet.
    drawn: Option<Request>,
}

impl Job {
    /// Clone number `clone` of a job, counted from 0. Its requests carry `tag`, `origin` and `process`.
    pub fn new(spec: &JobSpec, clone: u64, seed: u64, tag: Tag, (origin, process): (Origin, u16)) -> Self {
        let region = spec.region(clone);
        let places: Box<dyn Places> = match &spec.distribution {
            Some(distribution) if spec.row_requests > 1 => {
                Box::new(InRows::new(distribution.places(region, seed), spec.row_requests))
            }
            Some(distribution) => distribution.places(region, seed),
            None => Box::new(InOrder::new(region)),
        };
        Job {
            tag,
            origin,
            process,
            priority: spec.priority,
            rng: Rng::new(seed),
            mix: Mix::new(spec.read_fraction, spec.trim_fraction, &spec.sizes),
            places,
            depth: spec.depth,
            fua: spec.fua,
            start_delay_ns: spec.start_delay_ns,
            runtime_ns: spec.runtime_ns,
            started_ns: None,
            bytes_left: spec.bytes,
            requests_left: spec.requests,
            outstanding: 0,
            limits: std::array::from_fn(|at| RateLimit::new(spec.rates[at])),
            think: (spec.think_ns > 0).then(|| Think::new(spec.think_ns, spec.think_requests)),
            flush: (spec.flush_after > 0).then_some(Flush { every: spec.flush_after, writes: 0 }),
            drawn: None,
        }
    }

    /// The next request, or the job's reason to wait; [`Next::End`] if the job has no further request.
    pub fn next(&mut self, now: Nanos) -> Next {
        let started = *self.started_ns.get_or_insert(now.saturating_add(self.start_delay_ns));
        if started > now {
            return Next::WaitUntil(started);
        }
        if self.is_over(now - started) {
            return Next::End;
        }
        if self.outstanding >= self.depth {
            return Next::WaitForCompletion;
        }
        if let Some(wait) = self.think.as_mut().and_then(|think| think.wait(now, self.outstanding)) {
            return wait;
        }
        if let Some(flush) = self.flush.as_mut().filter(|flush| flush.writes == flush.every) {
            flush.writes = 0;
            self.outstanding += 1;
            return self.request_at(now, FLUSH);
        }
        self.ask(now, started)
    }

    fn is_over(&self, ran_ns: Nanos) -> bool {
        let timed_out = self.runtime_ns.is_some_and(|runtime| ran_ns >= runtime);
        let owes_flush = self.flush.as_ref().is_some_and(|flush| flush.writes == flush.every);
        timed_out || ((self.bytes_left == 0 || self.requests_left == 0) && !owes_flush)
    }

    fn ask(&mut self, now: Nanos, started: Nanos) -> Next {
        let request = self.drawn.unwrap_or_else(|| self.draw());
        let due = started.saturating_add(self.limits[request.kind as usize].due_ns);
        if due > now {
            self.drawn = Some(request);
            return Next::WaitUntil(due);
        }
        self.drawn = None;
        self.limits[request.kind as usize].count(request.bytes, &mut self.rng);
        self.bytes_left -= request.bytes.min(self.bytes_left);
        self.requests_left -= 1;
        self.outstanding += 1;
        if let Some(think) = &mut self.think {
            think.left -= 1;
        }
        if let Some(flush) = self.flush.as_mut().filter(|_| request.kind == RequestKind::Write) {
            flush.writes += 1;
        }
        self.request_at(now, request)
    }

    fn request_at(&self, now: Nanos, request: Request) -> Next {
        Next::Request(
            self.tag,
            Request { arrival_ns: now, origin: self.origin, process: self.process, priority: self.priority, ..request },
        )
    }

    fn draw(&mut self) -> Request {
        let (kind, bytes) = self.mix.draw(&mut self.rng);
        let offset_bytes = self.places.place(kind, bytes, &mut self.rng);
        Request { fua: self.fua && kind == RequestKind::Write, ..Request::new(0, kind, offset_bytes, bytes) }
    }

    /// Whether one of its requests has not completed.
    pub fn is_under_way(&self) -> bool {
        self.outstanding > 0
    }

    /// Notes that one of the job's requests has completed.
    pub fn done(&mut self, now: Nanos) {
        self.outstanding -= 1;
        if let Some(think) = &mut self.think {
            think.done_ns = now;
        }
    }
}

const FLUSH: Request = Request::new(0, RequestKind::Flush, 0, 0);

/// The rate limit of a job in one direction. A job that fell behind its rate catches up, as in fio.
struct RateLimit {
    rate: Rate,
    /// Times between requests, for a limit on requests.
    gaps: Gaps,
    /// Bytes requested so far, for a limit on bytes.
    bytes: u128,
    /// Earliest time of the next request, counted from the job's start.
    due_ns: Nanos,
}

impl RateLimit {
    fn new(rate: Rate) -> Self {
        let law = if matches!(rate, Rate::Poisson(_)) { Law::Exponential } else { Law::Constant };
        let per_s = match rate {
            Rate::Requests(per_s) | Rate::Poisson(per_s) => per_s as f64,
            Rate::None | Rate::Bytes(_) => 1.0,
        };
        RateLimit { rate, gaps: Gaps::new(Gap { law, mean_ns: 1e9 / per_s }), bytes: 0, due_ns: 0 }
    }

    fn count(&mut self, bytes: u64, rng: &mut Rng) {
        match self.rate {
            Rate::None => {}
            Rate::Bytes(per_s) => {
                self.bytes += u128::from(bytes);
                self.due_ns = (self.bytes * 1_000_000_000 / u128::from(per_s)) as Nanos;
            }
            Rate::Requests(_) | Rate::Poisson(_) => self.due_ns = self.due_ns.saturating_add(self.gaps.draw(rng)),
        }
    }
}

/// A pause after every `every` requests. It begins when the last of them has completed.
struct Think {
    pause_ns: Nanos,
    every: u64,
    left: u64,
    /// Time of the last completion.
    done_ns: Nanos,
}

impl Think {
    fn new(pause_ns: Nanos, every: u64) -> Self {
        Think { pause_ns, every, left: every, done_ns: 0 }
    }

    fn wait(&mut self, now: Nanos, outstanding: u64) -> Option<Next> {
        if self.left > 0 {
            return None;
        }
        if outstanding > 0 {
            return Some(Next::WaitForCompletion);
        }
        let until = self.done_ns.saturating_add(self.pause_ns);
        if until > now {
            return Some(Next::WaitUntil(until));
        }
        self.left = self.every;
        None
    }
}

/// A flush after every `every` writes.
struct Flush {
    every: u64,
    writes: u64,
}
