//! A running job: its next request, and when it is issued.

use std::collections::VecDeque;

use super::boost::Boost;
use super::floor::Floor;
use super::pace::{Admitted, Rates, Think};
use super::spec::{Ends, Flushes, JobSpec};
use super::stream::Stream;
use super::verify::{Backlog, Written};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Next, Origin, Priority, Request, RequestKind, Tag};

/// A job, or one of its clones.
pub(super) struct Job {
    tag: Tag,
    origin: Origin,
    /// The number of its process among those of all jobs.
    process: u16,
    priority: Priority,
    boost: Option<Boost>,
    stream: Stream,
    ends: Ends,
    depth: u64,
    refill_at: u64,
    fua: bool,
    flushes: Flushes,
    rates: Rates,
    rates_drain: bool,
    /// Time from the start of the stage to that of the job.
    start_delay_ns: Nanos,
    /// When the job started; since the end of its ramp, when that ended.
    started_ns: Option<Nanos>,
    is_ramping: bool,
    phase: Phase,
    /// The job was ended by another one, or by its runtime.
    is_terminated: bool,
    outstanding: u64,
    /// The queue was full, and is not empty enough yet.
    is_draining: bool,
    progress: Progress,
    think: Option<Think>,
    floor: Option<Floor>,
    is_too_slow: bool,
    written: Option<Written>,
    backlog: Option<Backlog>,
    /// A file and a kind that were drawn but are not due yet.
    drawn: Option<(usize, RequestKind)>,
    rebuild: Rebuild,
}

/// What the end of a ramp begins anew.
struct Rebuild {
    rates: [super::spec::Rate; 3],
    think: Option<super::spec::ThinkSpec>,
    floor: Option<super::floor::FloorSpec>,
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// A pass has ended: its requests complete.
    Ending,
    /// Flushes are left.
    Flushing(u64),
    /// What was written is read again.
    Verifying(VecDeque<(u64, u64)>),
    Over,
}

/// Counts of a job.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Bytes of this pass, and requests.
    pass_bytes: u64,
    pass_requests: u64,
    /// Bytes in all that count towards the end, bytes of all requests, and requests.
    counted_bytes: u64,
    bytes: u64,
    requests: u64,
    writes: u64,
    loops_begun: u64,
    has_flushed: bool,
}

/// What a phase gives: an answer, or the phase after it.
enum Step {
    Give(Next),
    Then(Phase),
}

impl Job {
    /// Clone number `clone` of a job, counted from 0. Its requests carry `tag`, `origin` and `process`.
    pub fn new(spec: &JobSpec, clone: u64, seed: u64, tag: Tag, (origin, process): (Origin, u16)) -> Self {
        let mut stream = Stream::new(&spec.shape, clone, seed);
        let (soonest, latest) = spec.start_delay_ns;
        let late = if latest > soonest { stream.rng().below(latest - soonest + 1) } else { 0 };
        Job {
            tag,
            origin,
            process,
            priority: spec.priority,
            boost: spec.boost.clone(),
            stream,
            ends: spec.ends,
            depth: spec.depth,
            refill_at: spec.refill_at,
            fua: spec.fua,
            flushes: spec.flushes,
            rates: Rates::new(&spec.rates),
            rates_drain: spec.rates_drain,
            start_delay_ns: soonest + late,
            started_ns: None,
            is_ramping: spec.ends.ramp_ns > 0,
            phase: Phase::Running,
            is_terminated: false,
            outstanding: 0,
            is_draining: false,
            progress: Progress { loops_begun: 1, ..Progress::default() },
            think: None,
            floor: spec.floor.map(Floor::new),
            is_too_slow: false,
            written: spec.verify.map(|verify| Written::new(verify.in_order)),
            backlog: spec.verify.and_then(|verify| verify.backlog).map(Backlog::new),
            drawn: None,
            rebuild: Rebuild { rates: spec.rates, think: spec.think, floor: spec.floor },
        }
    }

    /// The next request, or the job's reason to wait; [`Next::End`] if the job has no further request.
    pub fn next(&mut self, now: Nanos) -> Next {
        let started = self.start(now);
        if self.is_terminated && started > now && self.outstanding == 0 {
            self.phase = Phase::Over;
        }
        loop {
            let step = match &mut self.phase {
                Phase::Over => Step::Give(Next::End),
                _ if started > now => Step::Give(Next::WaitUntil(started)),
                Phase::Running => self.run(now),
                Phase::Ending if self.outstanding > 0 => Step::Give(Next::WaitForCompletion),
                Phase::Ending => Step::Then(Phase::Flushing(self.flushes_due())),
                Phase::Flushing(_) if self.outstanding > 0 => Step::Give(Next::WaitForCompletion),
                Phase::Flushing(0) => Step::Then(self.verify()),
                Phase::Flushing(left) => {
                    *left -= 1;
                    Step::Give(self.flush(now))
                }
                Phase::Verifying(_) => self.read_again(now),
            };
            match step {
                Step::Give(next) => return next,
                Step::Then(phase) => self.phase = phase,
            }
        }
    }

    /// When the job starts. The first call starts it.
    fn start(&mut self, now: Nanos) -> Nanos {
        if let Some(started) = self.started_ns {
            return started;
        }
        let started = now.saturating_add(self.start_delay_ns);
        self.started_ns = Some(started);
        self.think = self.rebuild.think.map(|spec| Think::new(spec, started));
        started
    }

    /// The end of the runtime, if there is one.
    fn deadline(&self) -> Option<Nanos> {
        let ramp = if self.is_ramping { self.ends.ramp_ns } else { 0 };
        Some(self.started_ns?.saturating_add(ramp).saturating_add(self.ends.runtime_ns?))
    }

    /// When the ramp of the job ends, if it has one and has started.
    pub fn ramp_ends(&self) -> Option<Nanos> {
        self.is_ramping.then(|| self.started_ns.map(|started| started.saturating_add(self.ends.ramp_ns)))?
    }

    /// Whether the ramp is over, or there is none.
    pub fn has_ramped(&self, now: Nanos) -> bool {
        !self.is_ramping || self.phase == Phase::Over || self.ramp_ends().is_some_and(|end| end <= now)
    }

    /// A wait that the end of the runtime or of the ramp cuts short.
    fn until(&self, at: Nanos, now: Nanos) -> Next {
        let at =
            [self.deadline(), self.ramp_ends()].into_iter().flatten().filter(|end| *end > now).fold(at, Nanos::min);
        Next::WaitUntil(at)
    }

    fn run(&mut self, now: Nanos) -> Step {
        if let Some(end) = self.ramp_ends().filter(|end| *end <= now) {
            self.end_ramp(end);
        }
        if self.deadline().is_some_and(|end| now >= end) {
            self.is_terminated = true;
        }
        if self.is_terminated || self.pass_is_over() {
            return Step::Then(Phase::Ending);
        }
        if self.is_full() {
            return Step::Give(Next::WaitForCompletion);
        }
        match self.think.as_mut().and_then(|think| think.wait(now, self.outstanding, &mut self.rates)) {
            Some(Next::WaitUntil(at)) => return Step::Give(self.until(at, now)),
            Some(wait) => return Step::Give(wait),
            None => {}
        }
        if let Some(next) = self.read_backlog(now) {
            return Step::Give(next);
        }
        if self.owes_flush() {
            return Step::Give(self.flush(now));
        }
        self.ask(now)
    }

    /// A read of what was written, within the pass. It waits for the requests that are outstanding.
    fn read_backlog(&mut self, now: Nanos) -> Option<Next> {
        let (backlog, written) = (self.backlog.as_mut()?, self.written.as_mut()?);
        if !backlog.is_due(written.len()) {
            return None;
        }
        if self.outstanding > 0 {
            return Some(Next::WaitForCompletion);
        }
        let (offset_bytes, bytes) = written.take_first()?;
        backlog.took();
        if self.stream.shape().mode.is_mixed {
            self.progress.counted_bytes = self.progress.counted_bytes.saturating_add(bytes);
        }
        self.progress.pass_bytes = self.progress.pass_bytes.saturating_add(bytes);
        Some(self.verifying_read(now, offset_bytes, bytes))
    }

    /// A read of what the job wrote.
    fn verifying_read(&mut self, now: Nanos, offset_bytes: u64, bytes: u64) -> Next {
        self.progress.bytes = self.progress.bytes.saturating_add(bytes);
        self.progress.requests += 1;
        self.progress.has_flushed = false;
        self.outstanding += 1;
        let priority = self.priority;
        if let Some(backlog) = &mut self.backlog {
            backlog.note(true);
        }
        self.request_at(now, Request { priority, ..Request::new(0, RequestKind::Read, offset_bytes, bytes) })
    }

    /// Counts, rates and pauses begin anew.
    fn end_ramp(&mut self, end: Nanos) {
        (self.is_ramping, self.started_ns) = (false, Some(end));
        self.rates = Rates::new(&self.rebuild.rates);
        self.think = self.rebuild.think.map(|spec| Think::new(spec, end));
        self.floor = self.rebuild.floor.map(Floor::new);
        self.progress = Progress { bytes: 0, requests: 0, writes: 0, ..self.progress };
        self.stream.forget_counts();
    }

    fn limit(&self) -> u64 {
        self.ends.bytes.saturating_mul(self.ends.loops)
    }

    fn has_all_requests(&self) -> bool {
        self.ends.requests.is_some_and(|requests| self.progress.requests >= requests.saturating_mul(self.ends.loops))
    }

    fn pass_is_over(&self) -> bool {
        let ended = self.progress.counted_bytes >= self.limit() || self.has_all_requests();
        let is_used_up = self.progress.pass_bytes >= self.ends.pass_bytes;
        is_used_up || (ended && !self.stream.shape().is_time_based)
    }

    /// Whether the queue is full. A full queue takes requests again when it is as empty as `refill_at` says.
    fn is_full(&mut self) -> bool {
        self.is_draining |= self.outstanding >= self.depth;
        self.is_draining &= self.outstanding > self.refill_at;
        self.is_draining
    }

    fn owes_flush(&self) -> bool {
        let is_due = |every: &u64| *every > 0 && self.progress.writes.is_multiple_of(*every);
        // As in fio 3.33, pairs of trim and write have none between them.
        let has_none = self.stream.shape().mode.trims_first || self.progress.has_flushed;
        self.progress.writes > 0 && !has_none && self.flushes.every.iter().any(is_due)
    }

    fn flushes_due(&self) -> u64 {
        let writes = self.stream.shape().mode.has(RequestKind::Write);
        let is_due = self.flushes.at_end && writes && !self.progress.has_flushed;
        if is_due { self.stream.shape().files.bytes.len() as u64 } else { 0 }
    }

    fn flush(&mut self, now: Nanos) -> Next {
        self.progress.has_flushed = true;
        self.outstanding += 1;
        self.request_at(now, FLUSH)
    }

    fn ask(&mut self, now: Nanos) -> Step {
        let ran_ns = now - self.started_ns.unwrap_or(now);
        loop {
            let Some((file, kind)) = self.drawn.take().or_else(|| {
                let file = self.stream.file()?;
                Some((file, self.stream.kind()))
            }) else {
                return Step::Then(Phase::Ending);
            };
            let kind = match self.rates.admit(kind, self.other(kind), ran_ns) {
                Admitted::Now(kind) => kind,
                Admitted::At(kind, due) => {
                    self.drawn = Some((file, kind));
                    let drains = self.rates_drain && self.outstanding > 0;
                    let at = self.started_ns.unwrap_or(now).saturating_add(due);
                    return Step::Give(if drains { Next::WaitForCompletion } else { self.until(at, now) });
                }
            };
            if let Some((kind, offset_bytes, bytes)) = self.stream.request(file, kind) {
                return Step::Give(self.issue(now, kind, offset_bytes, bytes));
            }
        }
    }

    /// The other direction of a mix in which both have a share.
    fn other(&self, kind: RequestKind) -> Option<RequestKind> {
        let shape = self.stream.shape();
        let (other, share) = match kind {
            RequestKind::Read => (RequestKind::Write, 1.0 - shape.reads),
            _ => (RequestKind::Read, shape.reads),
        };
        (shape.mode.is_mixed && share > 0.0).then_some(other)
    }

    fn issue(&mut self, now: Nanos, kind: RequestKind, offset_bytes: u64, bytes: u64) -> Next {
        self.rates.count(kind, bytes, self.stream.rng());
        let of_pairs = self.stream.shape().mode.trims_first && kind == RequestKind::Trim;
        let progress = &mut self.progress;
        progress.pass_bytes = progress.pass_bytes.saturating_add(bytes);
        progress.bytes = progress.bytes.saturating_add(bytes);
        progress.counted_bytes = progress.counted_bytes.saturating_add(if of_pairs { 0 } else { bytes });
        progress.pass_requests += 1;
        progress.requests += 1;
        progress.writes += u64::from(kind == RequestKind::Write);
        progress.has_flushed = false;
        self.outstanding += 1;
        if let Some(think) = &mut self.think {
            think.issued(kind);
        }
        if let Some(floor) = &mut self.floor {
            floor.count(kind, bytes);
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.note(kind == RequestKind::Read);
        }
        if let Some(written) = self.written.as_mut().filter(|_| kind == RequestKind::Write) {
            written.add(offset_bytes, bytes);
        }
        let priority = self.priority_of(kind, bytes);
        let fua = self.fua && kind == RequestKind::Write;
        self.request_at(now, Request { fua, priority, ..Request::new(0, kind, offset_bytes, bytes) })
    }

    fn priority_of(&mut self, kind: RequestKind, bytes: u64) -> Priority {
        let Some(boost) = &self.boost else { return self.priority };
        let draw = self.stream.rng().below(100);
        boost.priority(kind, bytes, draw).unwrap_or(self.priority)
    }

    fn request_at(&self, now: Nanos, request: Request) -> Next {
        let priority = if request.kind == RequestKind::Flush { self.priority } else { request.priority };
        let (origin, process) = (self.origin, self.process);
        Next::Request(self.tag, Request { arrival_ns: now, origin, process, priority, ..request })
    }

    /// The phase after a pass and its flushes.
    fn verify(&mut self) -> Phase {
        let pieces = self.written.as_mut().filter(|_| !self.is_terminated).map(Written::take).unwrap_or_default();
        if pieces.is_empty() { self.turn() } else { Phase::Verifying(pieces) }
    }

    fn read_again(&mut self, now: Nanos) -> Step {
        if self.deadline().is_some_and(|end| now >= end) {
            self.is_terminated = true;
        }
        if self.is_full() {
            return Step::Give(Next::WaitForCompletion);
        }
        let piece = match &mut self.phase {
            Phase::Verifying(pieces) if !self.is_terminated => pieces.pop_front(),
            _ => None,
        };
        let Some((offset_bytes, bytes)) = piece else {
            let over = self.outstanding == 0;
            return if over { Step::Then(self.turn()) } else { Step::Give(Next::WaitForCompletion) };
        };
        Step::Give(self.verifying_read(now, offset_bytes, bytes))
    }

    /// The phase after a whole pass: another pass, or the end.
    fn turn(&mut self) -> Phase {
        if self.is_terminated || self.progress.pass_requests == 0 || !self.goes_on() {
            return Phase::Over;
        }
        let progress = &mut self.progress;
        (progress.pass_bytes, progress.pass_requests, progress.has_flushed) = (0, 0, false);
        (self.is_draining, self.drawn) = (false, None);
        self.stream.begin_pass();
        Phase::Running
    }

    fn goes_on(&mut self) -> bool {
        if self.stream.shape().is_time_based {
            return true;
        }
        if self.progress.loops_begun < self.ends.loops {
            self.progress.loops_begun += 1;
            return true;
        }
        let left = self.ends.bytes.saturating_sub(self.progress.bytes);
        // As in fio, the files are as new after they were read again.
        let is_renewed = self.ends.renews_files && (self.ends.has_io_size || self.written.is_some());
        let used_up = self.stream.is_used_up() && !is_renewed;
        !self.has_all_requests() && left > 0 && left >= self.stream.shape().most() && !used_up
    }

    /// Ends the job: no further request.
    pub fn terminate(&mut self) {
        self.is_terminated = true;
    }

    /// Whether another job or the runtime has ended it.
    pub fn is_terminated(&self) -> bool {
        self.is_terminated
    }

    /// Whether the job has no further request, and none is outstanding.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether one of its requests has not completed.
    pub fn is_under_way(&self) -> bool {
        self.outstanding > 0
    }

    /// Notes that one of the job's requests has completed.
    pub fn done(&mut self, now: Nanos, is_flush: bool) {
        self.outstanding -= 1;
        if let Some(think) = self.think.as_mut().filter(|_| !is_flush) {
            think.completed(now);
        }
        let ran_ns = now.saturating_sub(self.started_ns.unwrap_or(now));
        let is_checked = !is_flush && !self.is_ramping && self.phase == Phase::Running;
        if is_checked && self.floor.as_mut().is_some_and(|floor| floor.is_missed(ran_ns)) {
            (self.is_terminated, self.is_too_slow) = (true, true);
        }
    }

    /// Whether the job ended because it was slower than it must be.
    pub fn is_too_slow(&self) -> bool {
        self.is_too_slow
    }
}

const FLUSH: Request = Request::new(0, RequestKind::Flush, 0, 0);
