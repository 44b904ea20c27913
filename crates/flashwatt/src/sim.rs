//! The simulation: requests come in, events happen, requests complete.
//!
//! Read this file first. One loop takes the next event, lets whoever it concerns handle it, and once everything of an
//! instant has completed asks the host for more and starts what can start.

use std::collections::VecDeque;

use crate::books::{Books, Window};
use crate::brain::Brain;
use crate::config::{Config, Span};
use crate::controller::{Controller, Hardware};
use crate::device::{Array, Geometry};
use crate::energy::Series;
use crate::ftl;
use crate::host::link::Link;
use crate::mem::Table;
use crate::probe::Probe;
use crate::progress::Progress;
use crate::units::{DieId, Nanos, RequestId};
use crate::workload::Workload;

mod batches;
mod budget;
mod buffered;
mod host_link;
mod outcome;
mod requests;
mod stages;

use batches::Buffered;
use budget::Budget;
pub use buffered::BufferCounts;
use host_link::Shares;
pub use outcome::{Completed, End, Outcome};
use requests::Active;
use stages::Stage;

/// A simulation.
pub struct Sim<'w, P: Probe> {
    geometry: Geometry,
    /// Of what the figures cover, once that has ended.
    series: Option<Box<Series>>,
    pub(crate) brain: Brain,
    pub(crate) hw: Hardware<P>,
    controller: Controller,
    workload: &'w mut dyn Workload,
    link: Link,
    shares: Shares,
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
    /// Requests that entered the drive, and those of them that have completed.
    requests_taken: u64,
    requests_done: u64,
    requests_total: Option<u64>,
    measure: Span,
    /// Does the drain belong to what is measured?
    count_drain: bool,
    budget: Budget,
    events: MoreEvents,
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

impl<'w, P: Probe> Sim<'w, P> {
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
            for _ in 0..self.instants_in_budget()? {
                self.settle()?;
                let Some((now, mut event)) = self.controller.events.next_event() else {
                    return self.nothing_more();
                };
                self.now = now;
                self.hw.books.pass_time(now);
                loop {
                    self.handle(event);
                    match self.controller.events.next_now() {
                        Some(next) => event = next,
                        None => break,
                    }
                }
            }
            if !progress(&self.progress()) || self.hw.books.series_overflowed() {
                return Err(End::Interrupted); // whoever asked for the series finds out that it is full
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
        let mut controller = Controller::new(config, &geometry, MORE_EVENTS);
        controller.begin(brain.plan.next());
        let first = controller.events_end();
        let queue_depth = config.device.host_link.queue_depth;
        let buffered = Buffered::new(&config.write_buffer, &geometry, brain.ftl.as_ref(), queue_depth);
        let mut books = Books::new(config, geometry.dies, series, probe);
        books.free_blocks = brain.blocks.all_free_blocks();
        Sim {
            hw: Hardware { array, books },
            brain,
            controller,
            requests_total: config.run.requests(workload.len_hint()),
            workload,
            link: Link::new(&config.device.host_link),
            shares: Shares::new(queue_depth),
            now: 0,
            requests: vec![Active::none(); queue_depth as usize].into(),
            free: (0..queue_depth).rev().map(RequestId).collect(),
            stalled: VecDeque::new(),
            buffered: buffered.map(Box::new),
            ask_host: true,
            host_ended: false,
            stage: Stage::Warmup,
            completed: Completed::default(),
            left_in_stage: u64::MAX,
            ended_stages: Vec::new(),
            requests_taken: 0,
            requests_done: 0,
            measure: config.run.measure,
            count_drain: config.run.count_drain,
            budget: Budget::new(config.run.max_flash_ops, geometry.dies),
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

    fn progress(&self) -> Progress {
        let (requests_done, requests_total) = (self.requests_done, self.requests_total);
        Progress { preparing: None, requests_done, requests_total, now_ns: self.now }
    }
}
