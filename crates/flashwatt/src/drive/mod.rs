//! A drive under the control of another program, which sends requests and takes completions in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::any::AnyDrive;
use crate::config::{Config, Measure, Span};
use crate::crash::{Bug, Cut, Witness, cut_in_place, cuttable, losses, summed_up};
use crate::report::hdd::SupplyEnergies;
use crate::report::{Report, Reported};
use crate::run::{Needs, RunOptions, Start, conclude, is_not_cut, laid_down, needs_a_clock, needs_an_ssd};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::progress::Progress;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    Completion, Device, Next, Request, RequestKind, SourceKind, Status, Tag, Upcoming, Workload,
};
use flashwatt_core::kernel::{End, Sim};
use flashwatt_ssd::drive::{BlockContent, Ssd};

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
/// The caller sets the time: `advance` simulates up to a time and returns the requests that ended until then. Requests
/// beyond the `device.host_link.queue_depth` places of the drive wait outside; latency counts from `at_ns`. The
/// workload, the lengths of warm-up and run, and the operation budget of the configuration are not used; the caller
/// decides on warm-up and measurement.
pub struct Drive {
    config: Config,
    sim: Live,
    start: Start,
    /// The power cuts so far.
    cuts: Vec<Cut>,
    /// Why the simulation ended; none while it goes on.
    end: Option<End>,
}

/// The simulation.
enum Live {
    Plain(Box<Sim<Inbox, AnyDrive>>),
    /// Of a drive whose power can be cut.
    Cuttable(Box<Sim<Inbox, Ssd<Witness>>>),
}

/// Calls a method of the simulation, whatever its drive.
macro_rules! each {
    ($live:expr, $sim:ident => $call:expr) => {
        match $live {
            Live::Plain($sim) => $call,
            Live::Cuttable($sim) => $call,
        }
    };
}

/// Instants between two calls of `stop`: some milliseconds of work.
const INSTANTS_UNWATCHED: u32 = 1 << 14;

/// A request that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The tag that [`Drive::submit`] returned. A later request may get the same tag.
    pub tag: Tag,
    /// Time at which the request was sent, in ns.
    pub submitted_ns: Nanos,
    /// Time at which the request ended, in ns.
    pub end_ns: Nanos,
}

/// A power cut, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerCut {
    /// The requests that had been sent by then and had not ended, in the order of their arrivals. They will not end otherwise: their
    /// status is [`Status::PowerLost`].
    pub lost: Vec<Done>,
    /// What the cut left, and what the recovery takes from then on, if no other cut comes and no request is sent before its end.
    pub cut: Cut,
}

impl Done {
    /// Time from sending to end, in ns.
    pub fn latency_ns(&self) -> Nanos {
        self.end_ns - self.submitted_ns
    }
}

impl Drive {
    /// The drive of a configuration in its start state, at time 0.
    ///
    /// # Errors
    /// As [`crate::run()`] before it starts.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Self::watched(config, &mut |_| true)
    }

    /// As [`Self::new`]. `progress` is called while the start state is laid down, and ends that if it returns `false`.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::Interrupted`] if `progress` returned `false`.
    pub fn watched(config: &Config, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Self, Error> {
        check(config)?;
        let (device, start) = laid_down(config, Needs { record: &|| None, requests: None }, progress)?;
        let config = unbounded(config);
        let sim = Live::Plain(Box::new(begun(&config, device)));
        Ok(Drive { config, sim, start, cuts: Vec::new(), end: None })
    }

    /// As [`Self::watched`], of an SSD whose power can be cut ([`Self::cut`]). It keeps what it needs to come back: layers that
    /// merge blocks an erased block of each die, and capacitors blocks for the content of the write buffer.
    ///
    /// # Errors
    /// As [`Self::watched`]; and if the power of this drive cannot be cut.
    pub fn cuttable(config: &Config, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Self, Error> {
        check(config)?;
        config.check_seal()?;
        let prepared = Arc::new(config.with_power_cuts()?);
        if prepared.drive.array().is_some() {
            let fault = Fault::key("cuttable", "the power of a live array is not cut").found("an array of drives");
            return Err(fault.expected("one SSD; a campaign of cuts (`crash`) takes an array").into());
        }
        let (ssd, start) = cuttable(&prepared, Bug::None, progress)?;
        let config = unbounded(&prepared);
        let sim = Live::Cuttable(Box::new(begun(&config, ssd)));
        Ok(Drive { config, sim, start, cuts: Vec::new(), end: None })
    }

    /// Cuts the power at the drive's time. It returns at once, and the drive recovers in simulated time: it serves the requests that
    /// are sent from now on when that has ended. Time and energy of the recovery are the drive's.
    ///
    /// All requests that have been sent by now and have not ended are lost; those that are to come later will come. What a recovery
    /// takes is found out with a copy of the drive: a cut takes as long to simulate as two recoveries. Capacitors do their work in no
    /// time of this drive, and their energy is not among its own.
    ///
    /// # Errors
    /// If the drive was not made by [`Self::cuttable`], or if it cannot go on.
    pub fn cut(&mut self) -> Result<PowerCut, Error> {
        let Live::Cuttable(sim) = &mut self.sim else {
            let fault = Fault::key("cut", "the power of this drive cannot be cut").found("a drive as `new` makes it");
            return Err(fault.expected("one that is made cuttable").into());
        };
        let cut = cut_in_place(sim);
        let now = sim.now_ns();
        let lost = sim.workload().take_lost(now);
        let cut = self.went_on(cut)?;
        self.cuts.push(cut.clone());
        Ok(PowerCut { lost, cut })
    }

    /// Sends a request at the time `at_ns`, which must not lie before the drive's time. Requests may be sent in any
    /// order of their times; those of the same time are handled in the order of sending.
    ///
    /// # Errors
    /// If the time lies in the past, or the request does not lie on the drive on whole sectors. The drive's state is
    /// then unchanged.
    pub fn submit(&mut self, kind: RequestKind, offset_bytes: u64, bytes: u64, at_ns: Nanos) -> Result<Tag, Error> {
        self.send(Request::new(at_ns, kind, offset_bytes, bytes))
    }

    /// As [`Self::submit`], with forced unit access and an origin.
    ///
    /// # Errors
    /// As [`Self::submit`].
    #[inline]
    pub fn send(&mut self, request: Request) -> Result<Tag, Error> {
        self.is_to_come("at_ns", request.arrival_ns)?;
        each!(&mut self.sim, sim => {
            let inbox = sim.workload();
            let is_at_nothing = request.kind != RequestKind::Flush || request.offset_bytes == 0;
            if !(is_at_nothing && request.is_within(inbox.drive_bytes)) {
                return Err(is_outside(&request, inbox.drive_bytes));
            }
            let tag = inbox.put(request);
            sim.wake();
            Ok(tag)
        })
    }

    /// Checks that a time is not over, and not beyond the end of simulated time.
    #[inline]
    fn is_to_come(&self, key: &str, at: Nanos) -> Result<(), Error> {
        let (now, end) = each!(&self.sim, sim => (sim.now_ns(), sim.horizon_ns()));
        if (now..=end).contains(&at) { Ok(()) } else { Err(not_to_come(key, at, now, end)) }
    }

    /// Simulates up to a time. Returns the requests that have ended since the last call, in the order of their ends.
    ///
    /// # Errors
    /// If the time lies in the past, or beyond the end of simulated time: the drive's state is then unchanged. If the drive cannot go
    /// on: no room on flash, or an event beyond the end of simulated time. [`Self::report`] still reports the work done.
    pub fn advance(&mut self, until_ns: Nanos) -> Result<Vec<Done>, Error> {
        let mut done = Vec::new();
        self.advance_into(until_ns, &mut done)?;
        Ok(done)
    }

    /// As [`Self::advance`], but appends the requests that have ended to `done`, so that one buffer serves many calls.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_into(&mut self, until_ns: Nanos, done: &mut Vec<Done>) -> Result<(), Error> {
        self.is_to_come("until_ns", until_ns)?;
        let went_on = each!(&mut self.sim, sim => sim.advance(until_ns, &mut |_| false));
        self.take_done(went_on, done)
    }

    /// As [`Self::advance_into`], and calls `stop` from time to time. If that returns `true`, the drive stops at the
    /// time [`Self::now_ns`]; another call continues.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_unless(
        &mut self,
        until_ns: Nanos,
        done: &mut Vec<Done>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        self.is_to_come("until_ns", until_ns)?;
        let mut instants = 0_u32;
        let mut stops = || {
            instants = instants.wrapping_add(1);
            instants.is_multiple_of(INSTANTS_UNWATCHED) && stop()
        };
        let went_on = each!(&mut self.sim, sim => sim.advance(until_ns, &mut |_| stops()));
        self.take_done(went_on, done)
    }

    /// As [`Self::advance_into`], but stops at the first instant at which requests end. [`Self::now_ns`] is that
    /// instant, or `until_ns` if no request ends until then. A closed loop sends its next requests there.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_to_done(&mut self, until_ns: Nanos, done: &mut Vec<Done>) -> Result<(), Error> {
        self.is_to_come("until_ns", until_ns)?;
        let went_on = each!(&mut self.sim, sim => sim.advance(until_ns, &mut |inbox| !inbox.done.is_empty()));
        self.take_done(went_on, done)
    }

    /// Sends the command to sleep, now and behind the requests that were submitted. A disk writes its cache, then parks its arm and
    /// stops its spindle, and the next request that needs the medium brings it to speed again. Returns whether the drive, or a member of
    /// an array, has such a state: SSDs ignore the command.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn sleep(&mut self) -> Result<bool, Error> {
        let sleeps = each!(&mut self.sim, sim => sim.sleep());
        self.went_on(sleeps)
    }

    /// Time of the next event in ns; none if nothing happens without another request. [`Self::advance`] to it is the
    /// shortest step.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn next_event_ns(&mut self) -> Result<Option<Nanos>, Error> {
        let next = each!(&mut self.sim, sim => sim.next_event_ns());
        self.went_on(next)
    }

    /// Announces a request that will be sent soon. The hint only warms the machine's caches, which helps on large
    /// drives; it changes no result.
    #[inline]
    pub fn expect(&self, upcoming: &Upcoming) {
        each!(&self.sim, sim => sim.device().prefetch(upcoming));
    }

    /// The drive's time in ns.
    pub fn now_ns(&self) -> Nanos {
        each!(&self.sim, sim => sim.now_ns())
    }

    /// Bytes that the host sees.
    pub fn logical_bytes(&self) -> u64 {
        self.config.logical_bytes()
    }

    /// Energy in J up to now. Work of DRAM or the host interface that is under way counts in proportion.
    pub fn energy_j(&self) -> f64 {
        each!(&self.sim, sim => sim.energy_j())
    }

    /// As [`Self::energy_j`], by the supply that it comes from: +5 V or +12 V. All of an SSD's counts as drawn from +5 V.
    pub fn energy_by_supply_j(&self) -> SupplyEnergies {
        let v12 = match &self.sim {
            Live::Plain(sim) => sim.device().energy_from_12v_j(),
            Live::Cuttable(_) => 0.0,
        };
        SupplyEnergies { v5: self.energy_j() - v12, v12 }
    }

    /// The drive's power in W now.
    pub fn power_w(&self) -> f64 {
        each!(&self.sim, sim => sim.device().so_far().1)
    }

    /// What each block of an SSD holds now.
    ///
    /// # Errors
    /// If the drive is a disk or an array.
    pub fn blocks(&self) -> Result<Vec<BlockContent>, Error> {
        match &self.sim {
            Live::Cuttable(sim) => Ok(sim.device().block_contents()),
            Live::Plain(sim) => match sim.device() {
                AnyDrive::Ssd(ssd) => Ok(ssd.block_contents()),
                AnyDrive::Hdd(_) | AnyDrive::Array(_) => Err(needs_an_ssd("blocks", &self.config)),
            },
        }
    }

    /// Completes all work that is under way, and reports the run.
    pub fn report(self) -> Report {
        self.report_as(&RunOptions::default())
    }

    /// As [`Self::report`], with the histogram of latencies.
    pub fn report_with_histogram(self) -> Report {
        self.report_as(&RunOptions { latency_histogram: true, ..RunOptions::default() })
    }

    fn report_as(self, options: &RunOptions) -> Report {
        let Drive { config, sim, start, cuts, end } = self;
        let mut report = match sim {
            Live::Plain(sim) => ended(*sim, &config, options, start, end),
            Live::Cuttable(sim) => ended(*sim, &config, options, start, end),
        };
        if !cuts.is_empty() {
            report.warnings.extend(losses(&cuts));
            report.power_cuts = Some(Box::new(summed_up(&config, "complete", &cuts)));
        }
        report
    }

    #[inline]
    fn take_done(&mut self, went_on: Result<(), End>, done: &mut Vec<Done>) -> Result<(), Error> {
        self.went_on(went_on)?;
        done.append(each!(&mut self.sim, sim => &mut sim.workload().done));
        Ok(())
    }

    #[inline]
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

/// Refuses a configuration that a program cannot drive.
fn check(config: &Config) -> Result<(), Error> {
    if !config.run.replay.is_timed() {
        return Err(needs_a_clock("a drive under the control of a program"));
    }
    if config.host.is_some() {
        let fault = Fault::key("host", "a drive under the control of a program has no block layer before it");
        return Err(fault.found("[host]").expected("no such table: the program sends to the drive itself").into());
    }
    if config.run.power_cuts.is_some() {
        return Err(is_not_cut("a drive under the control of a program, which cuts its power itself"));
    }
    Ok(())
}

/// The configuration without the bounds of a run, which the program sets.
fn unbounded(config: &Config) -> Config {
    let mut config = config.clone();
    (config.run.warmup, config.run.measure) = (Span::default(), Measure::default());
    config.run.max_flash_ops = None;
    config
}

/// A simulation at time 0.
fn begun<D: Device>(config: &Config, device: D) -> Sim<Inbox, D> {
    let inbox = Inbox { drive_bytes: config.logical_bytes(), ..Inbox::default() };
    let mut sim = Sim::new(&config.run.stages(), device, inbox);
    sim.begin();
    sim.wake();
    sim
}

/// Completes all work that is under way, and reports the run.
fn ended<D: Reported>(
    mut sim: Sim<Inbox, D>,
    config: &Config,
    options: &RunOptions,
    start: Start,
    end: Option<End>,
) -> Report {
    sim.workload().ended = true;
    sim.wake();
    let (mut outcome, mut inbox, device) = sim.end();
    if let Some(end) = end {
        outcome.end = end;
    }
    conclude(config, options, outcome, &device, &mut inbox, start)
}

#[cold]
fn is_outside(request: &Request, drive_bytes: u64) -> Error {
    let Request { offset_bytes, bytes, .. } = request;
    let fault = Fault::key("request", "it does not lie on the drive");
    let fault = fault.found(format!("{bytes} bytes at byte {offset_bytes}"));
    if request.kind == RequestKind::Flush {
        return fault.expected("0 bytes at byte 0: a flush has neither place nor length").into();
    }
    fault.expected(format!("whole sectors of 512 bytes within {drive_bytes} bytes")).into()
}

/// The requests that the caller has sent, and those that have ended.
#[derive(Default)]
struct Inbox {
    drive_bytes: u64,
    /// Requests that the drive has not taken yet, by arrival, then by order of sending.
    waiting: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    sent: u64,
    /// Requests that have not ended. The index of a request is its tag.
    outstanding: Vec<Request>,
    /// Free indices.
    free: Vec<u32>,
    done: Vec<Done>,
    /// Requests that were lost with the power.
    lost: Vec<Done>,
    ended: bool,
}

impl Inbox {
    fn put(&mut self, request: Request) -> Tag {
        let place = self.free.pop().unwrap_or(self.outstanding.len() as u32);
        match self.outstanding.get_mut(place as usize) {
            Some(free) => *free = request,
            None => self.outstanding.push(request),
        }
        self.waiting.push(Reverse((request.arrival_ns, self.sent, place)));
        self.sent += 1;
        Tag(place)
    }

    /// The requests that a power cut at this time has ended: those in the drive, and those that wait for room in it.
    fn take_lost(&mut self, now: Nanos) -> Vec<Done> {
        let mut lost = std::mem::take(&mut self.lost);
        while let Some(&Reverse((submitted_ns, _, place))) = self.waiting.peek().filter(|Reverse((at, ..))| *at <= now)
        {
            self.waiting.pop();
            self.free.push(place);
            lost.push(Done { tag: Tag(place), submitted_ns, end_ns: now });
        }
        lost
    }
}

impl Workload for Inbox {
    #[inline]
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        match self.waiting.peek() {
            Some(&Reverse((at, _, place))) if at <= now => {
                self.waiting.pop();
                Ok(Next::Request(Tag(place), self.outstanding[place as usize]))
            }
            Some(&Reverse((at, ..))) => Ok(Next::WaitUntil(at)),
            None if self.ended => Ok(Next::End),
            None => Ok(Next::WaitForCompletion), // or for the caller
        }
    }

    #[inline]
    fn completed(&mut self, done: &Completion, now: Nanos) {
        debug_assert_ne!(done.status, Status::OutOfRange, "requests are checked when they are sent");
        let submitted_ns = self.outstanding[done.tag.0 as usize].arrival_ns;
        self.free.push(done.tag.0);
        let of_status = if done.status == Status::PowerLost { &mut self.lost } else { &mut self.done };
        of_status.push(Done { tag: done.tag, submitted_ns, end_ns: now });
    }

    fn name(&self) -> &str {
        "drive"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}

#[cold]
fn not_to_come(key: &str, at: Nanos, now: Nanos, end: Nanos) -> Error {
    let (what, expected) = if at < now {
        ("a time that is over", format!("{now} ns or later"))
    } else {
        ("a time beyond the end of simulated time", format!("{end} ns or earlier on this device"))
    };
    Fault::key(key, what).found(format!("{at} ns")).expected(expected).into()
}
