//! A drive that another program drives: it sends requests and takes completions, in simulated time.

use std::collections::BTreeMap;

use crate::config::{Config, Span};
use crate::connector::{Completion, Next, Request, RequestKind, SourceKind, Status, Tag, Workload};
use crate::error::{Error, Fault, Place};
use crate::footprint;
use crate::kernel::{End, Sim};
use crate::report::Report;
use crate::run::{RunOptions, StartState, conclude};
use crate::ssd::Ssd;
use crate::units::Nanos;

/// A drive for a simulator of something larger: a database, a computer, a storage system.
///
/// ```
/// use flashwatt::connector::RequestKind;
/// use flashwatt::{Drive, config};
///
/// let config = config::load("device.preset = \"x25m\"", "example.toml", &[])?;
/// let mut drive = Drive::new(&config)?;
/// let tag = drive.submit(RequestKind::Write, 0, 4096, 1_000)?;
/// let done = drive.advance(2_000_000)?;
/// assert_eq!((done[0].tag, done[0].latency_ns()), (tag, 982_000)); // 82 µs over the bus, 900 µs of programming
/// assert!(drive.energy_j() > 0.0);
/// let report = drive.report();
/// assert_eq!(report.status, "complete");
/// # Ok::<(), flashwatt::Error>(())
/// ```
///
/// Its times are the caller's: `advance` goes on to a time and gives what ended until then. What a request needs more than
/// `device.host_link.queue_depth` places for waits outside, and its latency counts from `at_ns`. The workload, the spans and the budget of the
/// configuration are not used; warm-up and measurement are the caller's, too.
pub struct Drive {
    config: Config,
    sim: Sim<Inbox, Ssd<()>>,
    warnings: Vec<String>,
    /// Why the simulation ended, if it did.
    end: Option<End>,
}

/// A request that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The name that [`Drive::submit`] gave it.
    pub tag: Tag,
    /// When it was sent.
    pub submitted_ns: Nanos,
    /// When it ended.
    pub end_ns: Nanos,
}

impl Done {
    /// From its sending to its end.
    pub fn latency_ns(&self) -> Nanos {
        self.end_ns - self.submitted_ns
    }
}

impl Drive {
    /// The drive of a configuration in its start state, at time 0.
    ///
    /// # Errors
    /// As [`crate::run`] before it starts.
    pub fn new(config: &Config) -> Result<Self, Error> {
        footprint::check(config, false)?;
        let (ssd, warnings) = StartState::new(config)?.into_ssd(config, ());
        let mut config = config.clone();
        (config.run.warmup, config.run.measure) = (Span::default(), Span::default());
        config.run.max_flash_ops = None;
        let inbox = Inbox { drive_bytes: config.device.logical_bytes, ..Inbox::default() };
        let mut sim = Sim::new(&config, ssd, inbox);
        sim.begin(Span::default());
        sim.wake();
        Ok(Drive { config, sim, warnings, end: None })
    }

    /// Sends a request at a time, which is not over. Requests may be sent in any order of their times; of one time the first
    /// sent goes first.
    ///
    /// # Errors
    /// If the time is over, or the request does not lie on the drive on whole sectors. The drive goes on as if it had not been
    /// sent.
    pub fn submit(&mut self, kind: RequestKind, offset_bytes: u64, bytes: u64, at_ns: Nanos) -> Result<Tag, Error> {
        self.send(Request::new(at_ns, kind, offset_bytes, bytes))
    }

    /// As [`Self::submit`], with forced unit access and an origin.
    ///
    /// # Errors
    /// As [`Self::submit`].
    pub fn send(&mut self, request: Request) -> Result<Tag, Error> {
        if request.arrival_ns < self.now_ns() {
            let found = format!("{} ns", request.arrival_ns);
            let fault = Fault::key("at_ns", "a time that is over").found(found);
            return Err(fault.expected(format!("{} ns or later", self.now_ns())).into());
        }
        let inbox = self.sim.workload();
        if !request.is_within(inbox.drive_bytes) {
            let Request { offset_bytes, bytes, .. } = request;
            let fault = Fault::key("request", "it does not lie on the drive");
            let fault = fault.found(format!("{bytes} bytes at byte {offset_bytes}"));
            return Err(fault
                .expected(format!("whole sectors of 512 bytes within {} bytes", inbox.drive_bytes))
                .into());
        }
        let tag = inbox.put(request);
        self.sim.wake();
        Ok(tag)
    }

    /// Goes on to a time; gives the requests that have ended since the last call, in the order of their ends.
    ///
    /// # Errors
    /// What keeps the drive from going on: no room on flash, a time beyond the end of simulated time. [`Self::report`] still
    /// reports what was done.
    pub fn advance(&mut self, until_ns: Nanos) -> Result<Vec<Done>, Error> {
        let went_on = self.sim.advance(until_ns);
        self.went_on(went_on)?;
        Ok(std::mem::take(&mut self.sim.workload().done))
    }

    /// When something happens next, if anything will without another request. [`Self::advance`] to it is the shortest step.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn next_event_ns(&mut self) -> Result<Option<Nanos>, Error> {
        let next = self.sim.next_event_ns();
        self.went_on(next)
    }

    /// The time that the drive has gone on to.
    pub fn now_ns(&self) -> Nanos {
        self.sim.now_ns()
    }

    /// Energy in J up to now. Work that DRAM or the host interface has begun counts as far as it is done.
    pub fn energy_j(&self) -> f64 {
        self.sim.device().so_far().0
    }

    /// The drive's power in W now.
    pub fn power_w(&self) -> f64 {
        self.sim.device().so_far().1
    }

    /// Lets everything that is under way end, and reports the whole.
    pub fn report(mut self) -> Report {
        self.sim.workload().ended = true;
        self.sim.wake();
        let (mut outcome, mut inbox, ssd) = self.sim.end();
        if let Some(end) = self.end {
            outcome.end = end;
        }
        conclude(&self.config, &RunOptions::default(), outcome, &ssd, &mut inbox, self.warnings)
    }

    fn went_on<T>(&mut self, result: Result<T, End>) -> Result<T, Error> {
        result.map_err(|end| match end {
            End::Failed(error) => {
                let again = Fault::at(Place::default(), error.to_string());
                self.end.get_or_insert(End::Failed(again.into()));
                error
            }
            End::Complete | End::Interrupted | End::OutOfBudget(_) => unreachable!("nothing ends it but a fault"),
        })
    }
}

/// The requests that the caller has sent, and those that have ended.
#[derive(Default)]
struct Inbox {
    drive_bytes: u64,
    /// By arrival, those of one time in the order of sending.
    waiting: BTreeMap<(Nanos, u64), (Tag, Request)>,
    sent: u64,
    /// When each request that has not ended was sent.
    outstanding: BTreeMap<u32, Nanos>,
    done: Vec<Done>,
    ended: bool,
}

impl Inbox {
    fn put(&mut self, request: Request) -> Tag {
        let tag = Tag(self.sent as u32);
        self.waiting.insert((request.arrival_ns, self.sent), (tag, request));
        self.outstanding.insert(tag.0, request.arrival_ns);
        self.sent += 1;
        tag
    }
}

impl Workload for Inbox {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        match self.waiting.first_entry() {
            Some(first) if first.key().0 <= now => {
                let (tag, request) = first.remove();
                Ok(Next::Request(tag, request))
            }
            Some(first) => Ok(Next::WaitUntil(first.key().0)),
            None if self.ended => Ok(Next::End),
            None => Ok(Next::WaitForCompletion), // or for the caller
        }
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        debug_assert_eq!(done.status, Status::Done, "requests are checked when they are sent");
        let submitted_ns = self.outstanding.remove(&done.tag.0).unwrap_or(now);
        self.done.push(Done { tag: done.tag, submitted_ns, end_ns: now });
    }

    fn name(&self) -> &str {
        "drive"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}
