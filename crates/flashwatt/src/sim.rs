//! The simulation: requests come in, events happen, requests complete.
//!
//! Read this file first. One loop takes the next event, lets whoever it concerns handle it, and once everything of an
//! instant has completed asks the host for more and starts what can start.

use std::collections::VecDeque;

use crate::books::{Books, Window};
use crate::brain::Brain;
use crate::config::{Config, Span};
use crate::controller::{Controller, Ended, Hardware};
use crate::device::{Array, Geometry};
use crate::energy::Series;
use crate::error::{Error, Fault};
use crate::ftl::{self, Extent, OpKind};
use crate::host::link::Link;
use crate::host::{Request, RequestKind};
use crate::mem::Table;
use crate::probe::{Probe, Purpose, RequestRecord};
use crate::stats::Histogram;
use crate::units::{DieId, Lpn, Nanos, RequestId};
use crate::workload::{Next, Workload};

mod buffered;

pub use buffered::BufferCounts;
use buffered::Buffered;

/// How often progress is told: every so many instants at which something happens.
const INSTANTS_PER_PROGRESS: u64 = 1 << 16;

/// A simulation.
pub struct Sim<'w, P: Probe> {
    geometry: Geometry,
    /// Of the measured window, once that has ended.
    series: Option<Box<Series>>,
    pub(crate) brain: Brain,
    pub(crate) hw: Hardware<P>,
    controller: Controller,
    workload: &'w mut dyn Workload,
    link: Link,
    now: Nanos,
    requests: Table<Active>,
    free: Vec<RequestId>,
    /// Writes that wait for a block to be erased.
    stalled: VecDeque<RequestId>,
    /// The write buffer, if the drive has one.
    buffered: Option<Box<Buffered>>,
    /// May the host have something new?
    ask_host: bool,
    host_ended: bool,
    /// The current stage, what has completed in it, and how many requests it still lasts.
    stage: Stage,
    completed: Completed,
    left_in_stage: u64,
    ended_stages: Vec<(Stage, Completed, Window)>,
    requests_done: u64,
    requests_total: Option<u64>,
    measure: Span,
    events: MoreEvents,
}

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Warmup,
    Measured,
    Drain,
}

/// Numbers of the events that are not the controller's.
#[derive(Clone, Copy)]
struct MoreEvents {
    link_in: u32,
    link_out: u32,
    arrival: u32,
    stage_end: u32,
    idle: u32,
}

const MORE_EVENTS: u32 = 5;

/// A request inside the device.
#[derive(Clone, Copy)]
struct Active {
    request: Request,
    admitted_ns: Nanos,
    /// Logical pages that it covers …
    pages: u32,
    /// … and those of them that are planned, if it is a write.
    planned: u32,
    /// Operations, or transfers over the host link, that it waits for.
    remaining: u32,
    map_accesses: u32,
}

/// What has completed in a stage of the run.
#[derive(Clone, Debug, Default)]
pub struct Completed {
    /// Latencies of reads.
    pub reads: Histogram,
    /// Latencies of writes.
    pub writes: Histogram,
    /// Latencies of trims and flushes.
    pub others: Histogram,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes of reads.
    pub read_bytes: u64,
    /// Bytes of writes.
    pub write_bytes: u64,
    /// What the write buffer did.
    pub buffer: BufferCounts,
}

impl Completed {
    /// Latencies of all requests.
    pub fn all(&self) -> Histogram {
        self.reads.plus(&self.writes).plus(&self.others)
    }

    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.reads.count() + self.writes.count() + self.others.count()
    }
}

/// How a run went, and what it came to.
pub struct Outcome {
    /// What completed before the counters started.
    pub warmup: Completed,
    /// The measured window …
    pub measured: Window,
    /// … and what completed in it.
    pub completed: Completed,
    /// What went on after it …
    pub drain: Window,
    /// … and what completed then: it was under way when the measured window ended.
    pub drained: Completed,
    /// Power over time in the measured window, if it was recorded.
    pub series: Option<Box<Series>>,
    /// How it ended.
    pub end: End,
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// As asked for.
    Complete,
    /// By the user, in the middle.
    Interrupted,
    /// The workload could not go on.
    Failed(Error),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// A start state is being laid down; the requests are those that do it, and no time is simulated.
    pub preparing: bool,
    /// Requests completed, warm-up and all.
    pub requests_done: u64,
    /// Requests that there will be, if that is known.
    pub requests_total: Option<u64>,
    /// Simulated time.
    pub now_ns: Nanos,
}

impl<'w, P: Probe> Sim<'w, P> {
    /// A drive in its start state and a workload.
    pub fn new(
        config: &Config,
        brain: Brain,
        array: Array,
        workload: &'w mut dyn Workload,
        series: Option<Box<Series>>,
        probe: P,
    ) -> Self {
        let geometry = Geometry::new(&config.device, ftl::map_unit_bytes(config));
        let controller = Controller::new(config, &geometry, MORE_EVENTS);
        let first = controller.events_end();
        let queue_depth = config.device.host_link.queue_depth;
        Sim {
            hw: Hardware { array, books: Books::new(config, geometry.dies, series, probe) },
            brain,
            controller,
            requests_total: config.run.requests(workload.len_hint()),
            workload,
            link: Link::new(&config.device.host_link),
            now: 0,
            requests: vec![Active::none(); queue_depth as usize].into(),
            free: (0..queue_depth).rev().map(RequestId).collect(),
            stalled: VecDeque::new(),
            buffered: Buffered::new(&config.write_buffer, &geometry, queue_depth).map(Box::new),
            ask_host: true,
            host_ended: false,
            stage: Stage::Warmup,
            completed: Completed::default(),
            left_in_stage: u64::MAX,
            ended_stages: Vec::new(),
            requests_done: 0,
            measure: config.run.measure,
            events: MoreEvents {
                link_in: first,
                link_out: first + 1,
                arrival: first + 2,
                stage_end: first + 3,
                idle: first + 4,
            },
            geometry,
            series: None,
        }
    }

    /// Runs to the end. `progress` is told every now and then how far it is; when it answers `false` the run stops and
    /// keeps what it has.
    pub fn run(
        mut self,
        warmup: Span,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> (Outcome, Books<P>, Brain, Array) {
        self.start_stage(Stage::Warmup, warmup);
        if warmup == Span::default() {
            self.next_stage();
        }
        let end = self.event_loop(progress).err().unwrap_or(End::Complete);
        self.finish(end)
    }

    fn event_loop(&mut self, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<(), End> {
        loop {
            for _ in 0..INSTANTS_PER_PROGRESS {
                self.settle()?;
                let Some((now, event)) = self.controller.events.next() else { return Ok(()) };
                self.now = now;
                self.hw.books.pass_time(now);
                self.handle(event);
                while let Some(event) = self.controller.events.next_now() {
                    self.handle(event);
                }
            }
            if !progress(&self.progress()) {
                return Err(End::Interrupted);
            }
        }
    }

    /// All completions of this instant are handled: asks the host for more, and starts what can start.
    #[inline(always)]
    fn settle(&mut self) -> Result<(), End> {
        if self.ask_host {
            self.ask_host().map_err(End::Failed)?;
        }
        self.controller.dispatch(self.now, &mut self.brain, &mut self.hw);
        Ok(())
    }

    /// One event of this instant.
    #[inline(always)]
    fn handle(&mut self, event: u32) {
        if self.controller.is_of_die(event) {
            if let Some(ended) = self.controller.die_event(self.now, DieId(event), &mut self.brain, &mut self.hw) {
                self.op_ended(ended);
            }
        } else if event < self.events.link_in {
            self.controller.bus_event(event);
        } else if event == self.events.arrival {
            self.ask_host = true;
        } else if event == self.events.stage_end {
            self.next_stage();
        } else if event == self.events.idle {
            self.idle();
        } else {
            self.link_event(event);
        }
    }

    // ---------------------------------------------------------------- stages: warm-up, measured, drain

    fn start_stage(&mut self, stage: Stage, span: Span) {
        self.stage = stage;
        self.left_in_stage = span.requests.unwrap_or(u64::MAX);
        self.controller.events.cancel(self.events.stage_end);
        if let Some(ns) = span.ns {
            let at = self.now.saturating_add(ns).min(self.controller.events.horizon());
            self.controller.events.reset(self.events.stage_end, at);
        }
    }

    fn next_stage(&mut self) {
        self.end_stage();
        match self.stage {
            Stage::Warmup => {
                self.hw.books.probe.restarted(self.now);
                self.start_stage(Stage::Measured, self.measure);
            }
            Stage::Measured => {
                self.hw.books.probe.drains(self.now);
                self.host_ended = true;
                self.controller.events.cancel(self.events.arrival);
                self.start_stage(Stage::Drain, Span::default());
                self.drain_buffer();
            }
            Stage::Drain => {}
        }
    }

    /// Closes the books of the current stage.
    fn end_stage(&mut self) {
        self.controller.cut(self.now, &mut self.hw);
        let window = self.hw.books.close(self.now);
        if self.stage == Stage::Measured {
            self.series = self.hw.books.take_series();
        }
        self.hw.books.restart(self.now);
        self.ended_stages.push((self.stage, std::mem::take(&mut self.completed), window));
    }

    fn finish(mut self, mut end: End) -> (Outcome, Books<P>, Brain, Array) {
        if matches!(end, End::Complete) {
            end = self.rest();
        }
        self.end_stage();
        let (mut warmup, mut completed, mut drained) = Default::default();
        let (mut measured, mut drain) = Default::default();
        for (stage, counts, window) in self.ended_stages {
            match stage {
                Stage::Warmup => warmup = counts,
                Stage::Measured => (completed, measured) = (counts, window),
                Stage::Drain => (drained, drain) = (counts, window),
            }
        }
        self.hw.books.probe.finish(self.now);
        (
            Outcome { warmup, measured, completed, drain, drained, series: self.series, end },
            self.hw.books,
            self.brain,
            self.hw.array,
        )
    }

    /// Nothing is going to happen any more: is everything done?
    fn rest(&mut self) -> End {
        let buffer_is_empty = self.buffered.as_ref().is_none_or(|buffered| buffered.is_empty());
        if self.free.len() < self.requests.len() || !buffer_is_empty {
            let has_no_room = !self.stalled.is_empty() || self.buffered.as_ref().is_some_and(|b| b.has_no_room());
            assert!(has_no_room, "requests wait for nothing; this is a fault of the simulator");
            return End::Failed(no_room());
        }
        self.hw.books.probe.at_rest(&self.brain, &self.hw.array);
        End::Complete
    }

    fn progress(&self) -> Progress {
        let (requests_done, requests_total) = (self.requests_done, self.requests_total);
        Progress { preparing: false, requests_done, requests_total, now_ns: self.now }
    }

    // ---------------------------------------------------------------- requests

    /// Takes what the host has, while the device has room.
    #[inline(always)]
    fn ask_host(&mut self) -> Result<(), Error> {
        self.ask_host = false;
        while !self.free.is_empty() && !self.host_ended {
            match self.workload.next(self.now)? {
                Next::Request(request) => {
                    self.prefetch();
                    self.admit(request);
                }
                Next::WaitUntil(at) => {
                    self.set_arrival(at)?;
                    break;
                }
                Next::WaitForCompletion => break,
                Next::End => {
                    self.host_ended = true;
                    if self.free.len() == self.requests.len() {
                        self.request_ends_stage(); // the last request has completed before this was known
                    }
                }
            }
        }
        if self.buffered.is_some() {
            self.tend_buffer();
        }
        Ok(())
    }

    /// Fetches what requests to come will touch.
    #[inline(always)]
    fn prefetch(&self) {
        if let Some(upcoming) = self.workload.upcoming() {
            let far = self.geometry.lpn_of_byte(upcoming.far_bytes);
            let near = self.geometry.lpn_of_byte(upcoming.near_bytes);
            self.brain.ftl.prefetch(far, near, &self.brain.blocks, &self.hw.array);
        }
    }

    fn set_arrival(&mut self, at: Nanos) -> Result<(), Error> {
        if at > self.controller.events.horizon() {
            let fault = Fault::key("workload", "the workload reaches beyond the end of simulated time")
                .found(format!("a request at {at} ns"))
                .expected(format!("at most {} ns on a drive of this size", self.controller.events.horizon()));
            return Err(Error::from(fault));
        }
        self.controller.events.reset(self.events.arrival, at);
        Ok(())
    }

    #[inline(always)]
    fn admit(&mut self, request: Request) {
        let Some(id) = self.free.pop() else { unreachable!("the host is asked only while there is room") };
        let bytes = request.interface_bytes();
        self.hw.books.request_admitted(self.now, bytes);
        let extent = self.geometry.extent(&request);
        self.requests[id.idx()] = Active {
            request,
            admitted_ns: self.now,
            pages: extent.pages,
            planned: 0,
            remaining: 0,
            map_accesses: 0,
        };
        if self.link.is_instant() {
            self.plan(id, request.kind, extent);
        } else {
            let bytes_in = if request.kind == RequestKind::Write { bytes } else { 0 };
            let at = self.link.send_in(self.now, bytes_in, id);
            self.set_link(self.events.link_in, at);
        }
    }

    /// Plans a request that has arrived in the device.
    #[inline(always)]
    fn plan(&mut self, id: RequestId, kind: RequestKind, extent: Extent) {
        if self.buffered.is_some() {
            return self.plan_buffered(id);
        }
        match kind {
            RequestKind::Read => {
                self.brain.read(extent, &self.hw.array);
                self.take_plan(id, Purpose::Read(&[extent]));
                self.complete_if_done(id);
            }
            RequestKind::Write if self.stalled.is_empty() => self.plan_write(id),
            RequestKind::Write => self.stalled.push_back(id),
            RequestKind::Trim => {
                self.plan_trim(id);
                self.complete_if_done(id);
            }
            RequestKind::Flush => self.complete_if_done(id), // a write without a buffer is on flash when it completes
        }
    }

    /// Plans a write, or what is left of it. If not all of it finds room the rest waits, and later writes behind it.
    #[inline(always)]
    fn plan_write(&mut self, id: RequestId) {
        let rest = self.requests[id.idx()].rest(&self.geometry);
        let done = self.brain.write(rest, &self.hw.array);
        let tail_partial = rest.tail_partial && done == rest.pages;
        self.take_plan(id, Purpose::Write(Extent { pages: done, tail_partial, ..rest }));
        self.hw.books.host_units += u64::from(done);
        let active = &mut self.requests[id.idx()];
        active.planned += done;
        if active.planned < active.pages {
            self.stalled.push_front(id);
        }
    }

    fn plan_trim(&mut self, id: RequestId) {
        let extent = self.requests[id.idx()].extent(&self.geometry);
        self.brain.trim(extent, &self.hw.array);
        self.take_plan(id, Purpose::Trim(extent));
    }

    #[inline(always)]
    fn take_plan(&mut self, id: RequestId, purpose: Purpose) {
        self.hw.books.planned(self.now, &self.brain.plan);
        self.hw.books.probe.planned(purpose, &self.brain);
        let operations = self.controller.admit(id, &self.brain, &mut self.hw);
        let active = &mut self.requests[id.idx()];
        active.remaining += operations;
        active.map_accesses += self.brain.plan.map_accesses;
    }

    /// A block has been erased: writes that wait may find room.
    fn erased(&mut self) {
        self.let_destage();
        while let Some(id) = self.stalled.pop_front() {
            self.plan_write(id);
            if self.stalled.front() == Some(&id) {
                return;
            }
        }
    }

    #[inline(always)]
    fn op_ended(&mut self, ended: Ended) {
        if ended.kind == OpKind::Erase {
            self.erased();
        }
        if ended.request.idx() >= self.requests.len() {
            return self.destage_op_ended(ended.request); // or background work
        }
        let active = &mut self.requests[ended.request.idx()];
        if ended.kind == OpKind::Read && active.request.kind == RequestKind::Read && !self.link.is_instant() {
            let at = self.link.send_out(self.now, u64::from(self.geometry.page_bytes()), ended.request);
            self.set_link(self.events.link_out, at);
            return;
        }
        active.remaining -= 1;
        self.complete_if_done(ended.request);
    }

    fn link_event(&mut self, event: u32) {
        if event == self.events.link_in {
            let (id, next) = self.link.arrived_in();
            self.set_link(event, next);
            let request = self.requests[id.idx()].request;
            self.plan(id, request.kind, self.geometry.extent(&request));
        } else {
            let (id, next) = self.link.arrived_out();
            self.set_link(event, next);
            self.requests[id.idx()].remaining -= 1;
            self.complete_if_done(id);
        }
    }

    fn set_link(&mut self, event: u32, at: Option<Nanos>) {
        if let Some(at) = at {
            self.controller.events.reset(event, at);
        }
    }

    /// Completes a request for which nothing is left to be done.
    #[inline(always)]
    fn complete_if_done(&mut self, id: RequestId) {
        let active = &self.requests[id.idx()];
        if active.remaining > 0 || (active.request.kind == RequestKind::Write && active.planned < active.pages) {
            return;
        }
        self.hw.books.request_left(self.now);
        self.hw.books.probe.request_ended(&RequestRecord {
            kind: active.request.kind,
            admitted_ns: active.admitted_ns,
            end_ns: self.now,
            map_accesses: active.map_accesses,
            bytes: active.request.interface_bytes(),
        });
        self.completed.add(&active.request, self.now);
        self.requests_done += 1;
        self.free.push(id);
        self.ask_host = true;
        self.workload.done(self.now);
        self.left_in_stage -= 1;
        if self.left_in_stage == 0 || (self.host_ended && self.free.len() == self.requests.len()) {
            self.request_ends_stage();
        }
    }

    /// The last request that a stage waits for has completed.
    fn request_ends_stage(&mut self) {
        let drained = self.host_ended && self.free.len() == self.requests.len();
        while self.stage != Stage::Drain && (drained || self.left_in_stage == 0) {
            self.next_stage();
        }
    }
}

/// Only a drive that starts empty can come to this: for the others the configuration asks for enough spare flash.
fn no_room() -> Error {
    let fault = Fault::key("device", "the drive has no room for what is written to it, and collection can make none");
    Error::from(fault.help("raise device.op_ratio or device.spare_fraction"))
}

impl Active {
    fn none() -> Self {
        let request = Request { arrival_ns: 0, kind: RequestKind::Flush, offset_bytes: 0, bytes: 0, fua: false };
        Active { request, admitted_ns: 0, pages: 0, planned: 0, remaining: 0, map_accesses: 0 }
    }

    #[inline(always)]
    fn extent(&self, geometry: &Geometry) -> Extent {
        geometry.extent(&self.request)
    }

    /// What is not planned yet.
    #[inline(always)]
    fn rest(&self, geometry: &Geometry) -> Extent {
        let extent = self.extent(geometry);
        Extent {
            first: Lpn(extent.first.0 + self.planned),
            pages: extent.pages - self.planned,
            head_partial: extent.head_partial && self.planned == 0,
            ..extent
        }
    }
}

impl Completed {
    #[inline(always)]
    fn add(&mut self, request: &Request, now: Nanos) {
        let latency = now - request.arrival_ns;
        match request.kind {
            RequestKind::Read => {
                self.reads.add(latency);
                self.read_bytes += request.bytes;
            }
            RequestKind::Write => {
                self.writes.add(latency);
                self.write_bytes += request.bytes;
            }
            RequestKind::Trim => {
                self.others.add(latency);
                self.trims += 1;
            }
            RequestKind::Flush => {
                self.others.add(latency);
                self.flushes += 1;
            }
        }
    }
}
