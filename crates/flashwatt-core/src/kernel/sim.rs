//! The simulation: a workload, a device, and the loop that connects them.
//!
//! Read this file first. One loop takes the next event and passes it to its owner. After all events of an instant it
//! asks the workload for requests and lets the device start operations.

use std::hint::cold_path;

use super::budget::Budget;
use super::faults::{refused, unknown_tag, waits_for_nothing};
use super::outcome::{Completed, End, Outcome, TimeSpan};
use super::settings::{Span, Stages};
use super::stages::{EndedStage, Stage};
use super::stop::Stop;
use crate::connector::{
    Agenda, Completion, Cx, Device, Next, Origin, Request, RequestKind, Seats, Status, Tag, Window, Workload,
};
use crate::energy::Series;
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_base::units::Nanos;

/// A simulation.
pub struct Sim<W: Workload, D: Device> {
    pub(super) agenda: Agenda,
    pub(super) workload: W,
    pub(super) device: D,
    /// Requests that ended at this instant and are not handled yet.
    done: Vec<Completion>,
    /// Requests inside the device, indexed by the tag that the device knows; and free tags.
    pub(super) outstanding: Box<[Outstanding]>,
    pub(super) free: Vec<Tag>,
    /// Whether to ask the workload at the end of this instant.
    pub(super) ask: bool,
    pub(super) host_ended: bool,
    /// Whether outside code supplies requests between two steps. Then the workload may wait while nothing is outstanding.
    pub(super) is_fed: bool,
    /// A breach of contract by the workload or the device.
    pub(super) fault: Option<Error>,
    /// The current stage, the requests completed in it, and the number of requests until it ends.
    pub(super) stage: Stage,
    pub(super) completed: Completed,
    pub(super) left_in_stage: u64,
    /// Requests of the stage that are left after these: more than 0 only while `stop` looks before the stage's end.
    pub(super) left_after_look: u64,
    /// The time at which the measured window began.
    pub(super) window_ns: Nanos,
    /// The rule that may end the measured window before its bounds.
    pub(super) stop: Option<Box<dyn Stop>>,
    pub(super) ended_stages: Vec<EndedStage<D::Figures>>,
    /// The time series of the measured window, set when that ends.
    pub(super) series: Option<Box<Series>>,
    /// Requests that entered the device.
    pub(super) requests_taken: u64,
    /// Of these, requests that were in the device when the power was lost.
    pub(super) requests_lost: u64,
    /// The part of the present window before the last power cut, if there was one in it.
    pub(super) before_cut: Option<Window<D::Figures>>,
    requests_total: Option<u64>,
    /// Places in the device that a closed loop leaves free until it has sent all its requests, and the number of these; 0 of a
    /// workload that is asked as long as there is room.
    left_free: usize,
    offered: u64,
    pub(super) warmup: Span,
    pub(super) measure: Span,
    /// Whether the drain belongs to the measured window.
    pub(super) count_drain: bool,
    pub(super) budget: Budget,
    pub(super) seats: OwnSeats,
}

/// The seats that do not belong to the device.
#[derive(Clone, Copy)]
pub(super) struct OwnSeats {
    pub arrival: u32,
    pub stage_end: u32,
}

/// A request inside the device, with the data needed at its end. Kept to 32 bytes, because it is looked up for every
/// request.
#[derive(Clone, Copy)]
pub(super) struct Outstanding {
    pub(super) arrival_ns: Nanos,
    pub(super) offset_bytes: u64,
    pub(super) bytes: u64,
    /// The workload's tag of the request.
    pub(super) tag: Tag,
    pub(super) kind: RequestKind,
    origin: Origin,
}

impl<W: Workload, D: Device> Sim<W, D> {
    /// A device in its start state and a workload.
    pub fn new(stages: &Stages, mut device: D, workload: W) -> Self {
        let mut seats = Seats::default();
        device.enrol(&mut seats);
        let first = seats.take(2, 0);
        let room = device.room();
        let offered = workload.len_hint().unwrap_or(0);
        let depth = workload.depth().filter(|_| offered > 0).and_then(|depth| usize::try_from(depth).ok());
        let none = Outstanding::new(Tag(0), &Request::new(0, RequestKind::Flush, 0, 0));
        Sim {
            agenda: Agenda::new(&seats),
            requests_total: stages.requests(workload.len_hint()),
            left_free: depth.map_or(0, |depth| (room as usize).saturating_sub(depth)),
            offered,
            workload,
            done: Vec::new(),
            outstanding: vec![none; room as usize].into(),
            free: (0..room).rev().map(Tag).collect(),
            ask: true,
            host_ended: false,
            is_fed: false,
            fault: None,
            stage: Stage::Warmup,
            completed: Completed::default(),
            left_in_stage: u64::MAX,
            left_after_look: 0,
            window_ns: 0,
            stop: None,
            ended_stages: Vec::new(),
            series: None,
            requests_taken: 0,
            requests_lost: 0,
            before_cut: None,
            warmup: stages.warmup,
            measure: stages.measure,
            count_drain: stages.count_drain,
            budget: Budget::new(stages.max_flash_ops, device.operations_at_once()),
            seats: OwnSeats { arrival: first, stage_end: first + 1 },
            device,
        }
    }

    /// The same with a rule that may end the measured window before its bounds, or begin it anew. The bounds count from the end of the
    /// warm-up that the stages ask for, however often the window begins anew.
    #[must_use]
    pub fn stopped_by(mut self, stop: Box<dyn Stop>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Runs to the end, and returns the device. `progress` is called from time to time with the progress; if it returns
    /// `false`, the run stops and keeps its results so far.
    pub fn run(mut self, progress: &mut dyn FnMut(&Progress) -> bool) -> (Outcome<D::Figures>, D) {
        self.begin();
        let end = self.event_loop(progress).err().unwrap_or(End::Complete);
        let (outcome, _, device) = self.finish(end);
        (outcome, device)
    }

    pub(super) fn event_loop(&mut self, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<(), End> {
        loop {
            for _ in 0..self.instants_in_budget()? {
                self.settle()?;
                if !self.next_instant()? {
                    return Ok(());
                }
            }
            if !progress(&self.progress()) || self.device.series_overflowed() {
                return Err(End::Interrupted); // the series says that it is full: the caller turns that into an error
            }
        }
    }

    /// Advances to the next instant with events and handles them. Returns false if there is none.
    #[inline(always)]
    pub(super) fn next_instant(&mut self) -> Result<bool, End> {
        let Some((now, mut seat)) = self.agenda.next_event() else {
            return self.nothing_more().map(|()| false);
        };
        self.device.pass_time(now);
        loop {
            self.handle(seat);
            match self.agenda.next_now() {
                Some(next) => seat = next,
                None => return Ok(true),
            }
        }
    }

    /// Called after all events of this instant: asks the workload for requests, and lets the device start operations.
    #[inline(always)]
    pub(super) fn settle(&mut self) -> Result<(), End> {
        loop {
            if self.ask {
                self.ask_workload().map_err(End::Failed)?;
            }
            if !self.device.settle(&mut Cx { agenda: &mut self.agenda, done: &mut self.done }) {
                return Ok(());
            }
            self.take_completions(); // they leave room for requests of this instant
        }
    }

    /// Handles one event of this instant.
    #[inline(always)]
    fn handle(&mut self, seat: u32) {
        if seat < self.seats.arrival {
            if self.device.event(seat, &mut Cx { agenda: &mut self.agenda, done: &mut self.done }) {
                self.take_completions();
            }
        } else if seat == self.seats.arrival {
            self.ask = true;
        } else {
            self.next_stage();
        }
    }

    /// Takes requests from the workload while the device has room.
    #[inline(always)]
    fn ask_workload(&mut self) -> Result<(), Error> {
        self.ask = false;
        if let Some(fault) = self.fault.take() {
            cold_path();
            return Err(fault);
        }
        while self.free.len() > self.left_free && !self.host_ended {
            match self.workload.next(self.agenda.now()) {
                Ok(Next::Request(tag, ref request)) => self.submit(tag, request)?,
                Err(error) => return Err(error),
                Ok(Next::WaitUntil(at)) => {
                    self.set_arrival(at)?;
                    break;
                }
                Ok(Next::WaitForCompletion) => {
                    if self.is_quiet() && !self.is_fed {
                        return Err(waits_for_nothing());
                    }
                    break;
                }
                Ok(Next::Measure) => {
                    cold_path();
                    if self.stage == Stage::Warmup {
                        self.next_stage();
                    }
                }
                Ok(Next::End) => {
                    cold_path();
                    self.host_ended = true;
                    if self.is_quiet() {
                        self.request_ends_stage(); // the last request completed before the workload said that there are no more
                    }
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn submit(&mut self, tag: Tag, request: &Request) -> Result<(), Error> {
        if let Some(upcoming) = self.workload.upcoming() {
            self.device.prefetch(&upcoming);
        }
        if request.arrival_ns > self.agenda.now() {
            return Err(self.arrives_in_future(request));
        }
        let Some(slot) = self.free.pop() else { unreachable!("the workload is asked only while there is room") };
        self.requests_taken += 1;
        if self.requests_taken == self.offered {
            self.left_free = 0;
        }
        self.outstanding[slot.0 as usize] = Outstanding::new(tag, request);
        self.device.submit(slot, request, &mut Cx { agenda: &mut self.agenda, done: &mut self.done });
        self.take_completions();
        Ok(())
    }

    /// Handles the ended requests, in the order of their ends.
    #[inline(always)]
    fn take_completions(&mut self) {
        let mut at = 0;
        while let Some(&done) = self.done.get(at) {
            self.complete(done);
            at += 1;
        }
        self.done.clear();
    }

    #[inline(always)]
    fn complete(&mut self, done: Completion) {
        let Some(request) = self.outstanding.get(done.tag.0 as usize) else {
            cold_path();
            self.fault.get_or_insert_with(|| unknown_tag(done.tag));
            self.ask = true;
            return;
        };
        if done.status != Status::Done {
            cold_path();
            self.fault.get_or_insert_with(|| refused(request));
        }
        let (tag, now) = (request.tag, self.agenda.now());
        self.completed.add(
            request.origin,
            request.kind,
            request.bytes,
            TimeSpan { start: request.arrival_ns, end: now },
        );
        self.free.push(done.tag);
        self.ask = true;
        self.workload.completed(&Completion { tag, ..done }, now);
        self.left_in_stage -= 1;
        if self.left_in_stage == 0 || (self.host_ended && self.is_quiet()) {
            cold_path();
            self.request_ends_stage();
        }
    }

    /// Whether no request is inside the device.
    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        self.free.len() == self.outstanding.len()
    }

    fn set_arrival(&mut self, at: Nanos) -> Result<(), Error> {
        if at <= self.agenda.now() {
            let fault = Fault::key("workload", "it waits for a time that is over").found(format!("{at} ns"));
            return Err(fault.expected(format!("a time after {} ns", self.agenda.now())).into());
        }
        if at > self.agenda.horizon() {
            let help = "several traces whose clocks begin at different times are joined by align_starts = true";
            return Err(self.beyond_time("workload", at).help(help).into());
        }
        self.agenda.reset(self.seats.arrival, at);
        Ok(())
    }

    fn progress(&self) -> Progress {
        let inside = self.outstanding.len() - self.free.len();
        let requests_done = self.requests_taken - inside as u64;
        Progress { preparing: None, requests_done, requests_total: self.requests_total, now_ns: self.agenda.now() }
    }
}

impl Outstanding {
    #[inline(always)]
    fn new(tag: Tag, request: &Request) -> Self {
        let &Request { arrival_ns, kind, offset_bytes, bytes, origin, .. } = request;
        Outstanding { arrival_ns, offset_bytes, bytes, tag, kind, origin }
    }
}
