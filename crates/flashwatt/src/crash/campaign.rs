//! Many cuts of one run: `flashwatt crash`.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::array::{ArrayCut, FollowedArray, InArray, OfArray, ScansOfMembers, Scrub};
use super::bugs::Bug;
use super::capacitors::sizing;
use super::cuttable::{Cuttable, PoweredDevice};
use super::dump::Sizing;
use super::outcome::{CutOutcome, comes_back_by, outcome};
use super::remains::Remains;
use super::scans::{Scans, come_back_by};
use super::trial::{InFiles, InHost, Powered};
use super::witness::Witness;
use crate::config::{Config, Cuts, PowerCuts};
use crate::run::footprint;
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Workload;
use flashwatt_host::BlockLayer;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::drive::settings::Settings;
use flashwatt_workload::{self as workload, settings};

/// Separates the draws of the times of cuts from those of the run.
const STREAM: u64 = 0xc075;

/// Instants between two looks at `progress`: some milliseconds of work.
const INSTANTS_PER_LOOK: u64 = 1 << 14;

/// A campaign of cuts. Each cut is one of the whole run: the next one is made as if there had been none before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crash {
    /// `complete`, or `interrupted`: then the cuts so far are kept.
    pub status: &'static str,
    /// The translation layer.
    pub ftl: String,
    /// The scheduler of the block layer, if there is one before the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<&'static str>,
    /// The file system of the workload, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<&'static str>,
    /// The array, if it is one. The figures of cuts are then sums over its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<OfArray>,
    /// A scrub of the whole array, after the cut that left the most rows that do not match; the first of equals. None without redundancy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrub: Option<Scrub>,
    /// Whether the drive has a volatile write buffer. Then a write that has completed is durable after a flush only.
    pub has_volatile_buffer: bool,
    /// The capacitors that keep the write buffer's content, if there are any.
    pub capacitors: Option<Sizing>,
    /// Whether the drive has a write buffer with a journal on flash.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_journal: bool,
    /// Whether the drive loads a portion of its map into its cached table after a cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loads_map: bool,
    /// Whether pages share cells with others, which torn pages spoil.
    pub has_paired_pages: bool,
    /// Map units that the host can address.
    pub logical_units: u32,
    /// Bytes of a map unit.
    pub unit_bytes: u32,
    /// Length of the run without a cut in ns; of cuts at given places, the time of the last one.
    pub run_ns: Nanos,
    /// Flash operations of the run, in the same way.
    pub operations: u64,
    /// Cuts at which no flash operation was under way.
    pub idle_cuts: u64,
    /// The cuts in the order of their times.
    pub cuts: Vec<Cut>,
}

/// A power cut, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cut {
    /// Time of the cut in ns.
    pub at_ns: Nanos,
    /// Flash operations that had ended by then.
    pub operations: u64,
    /// Flash operations that were under way: on a die, or on its bus.
    pub operations_under_way: u32,
    /// Requests that had been sent and had not completed. They never complete.
    pub requests_lost: u32,
    /// What the block layer had of them, if there is one.
    #[serde(flatten)]
    pub host: Option<InHost>,
    /// What a mount of the workload's file system finds, if it has one.
    #[serde(flatten)]
    pub files: Option<InFiles>,
    /// What does not match in an array.
    #[serde(flatten)]
    pub array: Option<InArray>,
    /// What was cut, and what came back.
    #[serde(flatten)]
    pub outcome: CutOutcome,
    /// The same of a second cut, during the recovery from the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
}

/// The JSON schema (draft 7) of a cut: each figure with its meaning. Figures that only some cuts have are not required.
pub fn cut_schema() -> Value {
    let settings = SchemaSettings::draft07().for_serialize().with(|settings| settings.inline_subschemas = true);
    Value::from(settings.into_generator().into_root_schema_for::<Cut>())
}

/// A second cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Again {
    /// Time from the first power on to the cut, in ns.
    pub after_ns: Nanos,
    /// What was cut, and what came back.
    #[serde(flatten)]
    pub outcome: CutOutcome,
}

/// Cuts the power of a drive that serves the workload of its configuration, lets it come back each time, and compares what it holds
/// with what the host was promised. `progress` counts the cuts; if it returns `false`, the campaign ends with the cuts so far.
///
/// # Errors
/// As [`crate::run()`] before it starts; if the power of this drive cannot be cut; if the run ends before the cut.
pub fn crash(
    config: &Config,
    options: &PowerCuts,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Crash, Error> {
    if let (Some(_), true) = (config.drive.array(), options.twice) {
        let fault = Fault::key("twice", "an array is not cut again during its recovery").found("an array of drives");
        return Err(fault.expected("one SSD").into());
    }
    let capacitors = sizing(config)?;
    footprint::check_cuts(config, options.twice)?;
    let (cuts, worst) = (Vec::new(), None);
    let mut campaign =
        Campaign { config, options, cuts, worst, scans: Scans::default(), of_members: ScansOfMembers::new(config) };
    let (run_ns, operations, is_complete) = match (&config.host, config.drive.array()) {
        (_, Some(_)) => campaign.run::<FollowedArray>(progress)?,
        (None, None) => campaign.run::<Ssd<Witness>>(progress)?,
        (Some(_), None) => campaign.run::<BlockLayer<Ssd<Witness>>>(progress)?,
    };
    let scrub = campaign.worst.as_ref().map(|(at_ns, cut)| cut.scrub(*at_ns, config.run.stages())).transpose()?;
    let (array, ssds) = (config.drive.array(), config.ssds());
    Ok(Crash {
        status: if is_complete { "complete" } else { "interrupted" },
        ftl: ssds.first().map_or_else(String::new, |ssd| ssd.ftl.name().to_string()),
        scheduler: config.host.as_ref().map(|host| host.scheduler.entry.name),
        file_system: match &config.workload {
            settings::Workload::Files(files) => Some(files.system.entry.name),
            _ => None,
        },
        array: array.map(OfArray::new),
        scrub: scrub.map(|(scrub, _)| scrub),
        has_volatile_buffer: config.has_volatile_buffer(),
        capacitors,
        has_journal: ssds.iter().any(|ssd| ssd.write_buffer.journal.is_some()),
        loads_map: ssds.iter().any(|ssd| ssd.recovery.map_load_fraction > 0.0),
        has_paired_pages: ssds.iter().any(|ssd| ssd.device.nand.paired_pages.is_some()),
        logical_units: logical_units(&ssds),
        unit_bytes: unit_bytes(&ssds),
        run_ns,
        operations,
        idle_cuts: idle(&campaign.cuts),
        cuts: campaign.cuts,
    })
}

/// The number of cuts at which no flash operation was under way.
pub(super) fn idle(cuts: &[Cut]) -> u64 {
    cuts.iter().filter(|cut| cut.operations_under_way == 0).count() as u64
}

/// Map units that can be addressed: of an array those of all members.
pub(super) fn logical_units(ssds: &[&Settings]) -> u32 {
    ssds.iter().map(|ssd| (ssd.device.logical_bytes / u64::from(ssd.map_unit_bytes())) as u32).sum()
}

/// Bytes of a map unit: of members that differ, the largest.
pub(super) fn unit_bytes(ssds: &[&Settings]) -> u32 {
    ssds.iter().map(|ssd| ssd.map_unit_bytes()).max().unwrap_or(0)
}

/// A device whose power a campaign cuts.
trait Subject: PoweredDevice {
    /// The device of a configuration in its start state, at time 0, under a workload.
    fn whole<W: Workload>(
        config: &Config,
        workload: W,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Powered<W, Self>, Error>;

    /// Cuts at this instant, and lets the device come back.
    fn cut<W: Workload>(campaign: &mut Campaign, powered: &Powered<W, Self>) -> Result<Cut, Error>;
}

impl<D: Cuttable> Subject for D {
    fn whole<W: Workload>(
        config: &Config,
        workload: W,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Powered<W, Self>, Error> {
        Powered::whole(config, workload, Bug::None, progress)
    }

    fn cut<W: Workload>(campaign: &mut Campaign, powered: &Powered<W, Self>) -> Result<Cut, Error> {
        campaign.cut_drive(powered)
    }
}

impl Subject for FollowedArray {
    fn whole<W: Workload>(
        config: &Config,
        workload: W,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Powered<W, Self>, Error> {
        Powered::array(config, workload, false, progress)
    }

    fn cut<W: Workload>(campaign: &mut Campaign, powered: &Powered<W, Self>) -> Result<Cut, Error> {
        campaign.cut_array(powered)
    }
}

struct Campaign<'a> {
    config: &'a Config,
    options: &'a PowerCuts,
    cuts: Vec<Cut>,
    /// Of an array with redundancy, the cut with the most rows that do not match, and its time in ns.
    worst: Option<(Nanos, ArrayCut)>,
    scans: Scans,
    of_members: ScansOfMembers,
}

impl Campaign<'_> {
    /// Makes all cuts. Returns the length of the run in ns and in operations, and whether all were made.
    fn run<D: Subject>(&mut self, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<(Nanos, u64, bool), Error> {
        match &self.options.cuts {
            &Cuts::Random(number) => self.cut_at_random::<D>(number, progress),
            Cuts::At(times) => self.cut_at::<D>(times.iter().map(|&at| Until::Time(at)).collect(), progress),
            Cuts::Operations(numbers) => {
                self.cut_at::<D>(numbers.iter().map(|&number| Until::Operation(number)).collect(), progress)
            }
        }
    }

    fn workload(&self, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Box<dyn Workload>, Error> {
        let config = self.config;
        workload::open_watched(&config.workload, config.partition_bytes(), config.run.seed, progress)
    }

    /// Runs the workload to its end for its length, and again to cut it at times uniform over that, or over the part of it in which a
    /// flash operation is under way.
    fn cut_at_random<D: Subject>(
        &mut self,
        number: u32,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Nanos, u64, bool), Error> {
        let mut workload = self.workload(progress)?;
        let mut powered = D::whole(self.config, &mut *workload, progress)?;
        let mut course = Course::default();
        let reached = course.go(&mut powered, Until::End, Done { cuts: 0, of: None }, progress)?;
        let (run_ns, operations) = (powered.now_ns(), powered.operations());
        drop(powered); // one drive at a time takes memory
        if reached == Reached::Interrupted {
            return Ok((run_ns, operations, false));
        }
        let places = match self.options.while_busy {
            false => self.draw(number, run_ns).map(Until::Time).collect(),
            true if course.busy_ns == 0 => return Err(is_never_busy()),
            true => self.draw(number, course.busy_ns).map(Until::Busy).collect(),
        };
        let (.., is_complete) = self.cut_at::<D>(places, progress)?;
        Ok((run_ns, operations, is_complete))
    }

    /// Draws numbers below a bound, in ascending order.
    fn draw(&self, number: u32, below: Nanos) -> impl Iterator<Item = Nanos> + use<> {
        let mut rng = Rng::new(self.config.run.seed ^ STREAM);
        let mut times: Vec<Nanos> = (0..number).map(|_| rng.below(below.max(1))).collect();
        times.sort_unstable();
        times.into_iter()
    }

    /// Cuts at each of these places, which stand in their order. Also returns the time in ns and the operations at the last one.
    fn cut_at<D: Subject>(
        &mut self,
        places: Vec<Until>,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Nanos, u64, bool), Error> {
        let mut workload = self.workload(progress)?;
        let mut powered = D::whole(self.config, &mut *workload, progress)?;
        let of = Some(places.len() as u64).filter(|&of| of > 1);
        let mut course = Course::default();
        for (cuts, place) in (0..).zip(places) {
            let done = Done { cuts, of };
            let goes_on = of.is_none() || progress(&done.at(&powered));
            match if goes_on { course.go(&mut powered, place, done, progress)? } else { Reached::Interrupted } {
                Reached::There => {
                    let cut = D::cut(self, &powered)?;
                    self.cuts.push(cut);
                }
                Reached::End => return Err(is_over(place, &powered)),
                Reached::Interrupted => return Ok((powered.now_ns(), powered.operations(), false)),
            }
        }
        Ok((powered.now_ns(), powered.operations(), true))
    }

    /// Cuts at this instant, and lets the drive come back.
    fn cut_drive<W: Workload, D: Cuttable>(&mut self, powered: &Powered<W, D>) -> Result<Cut, Error> {
        let remains = powered.cut();
        let (cost, back) = come_back_by(&remains, &mut self.scans)?;
        let outcome = outcome(&remains, cost, &back)?;
        let is_asked = self.config.host.is_some() || powered.files().is_some();
        let versions = if is_asked { remains.versions(back.drive()) } else { Vec::new() };
        let host = powered.in_host(&remains, &versions);
        let files = powered.in_files(&remains, &versions);
        let again = if self.options.twice {
            Some(self.cut_again(&remains, powered.now_ns(), outcome.cost.recovery_ns)?)
        } else {
            None
        };
        Ok(Cut { host, files, again, ..Cut::new(powered, outcome) })
    }

    /// Cuts at this instant, and lets the members come back.
    fn cut_array<W: Workload>(&mut self, powered: &Powered<W, FollowedArray>) -> Result<Cut, Error> {
        let cut = powered.cut_array(&mut self.of_members)?;
        let made = Cut { array: Some(cut.in_array), ..Cut::new(powered, cut.outcome) };
        let most = self.worst.as_ref().map(|(_, worst)| worst.in_array.inconsistent_rows);
        if cut.can_be_scrubbed() && most.is_none_or(|most| cut.in_array.inconsistent_rows > most) {
            self.worst = Some((made.at_ns, cut));
        }
        Ok(made)
    }

    /// Cuts the power during the recovery from the cut at `at_ns`, which takes `recovery_ns`. The time depends on the seed and the
    /// first cut alone, so that a second cut can be repeated with the first.
    fn cut_again(&mut self, remains: &Remains, at_ns: Nanos, recovery_ns: Nanos) -> Result<Again, Error> {
        let after_ns = Rng::new(self.config.run.seed ^ STREAM ^ at_ns).below(recovery_ns.max(1));
        let again = self.scans.cut_again(remains, after_ns)?;
        Ok(Again { after_ns, outcome: comes_back_by(&again, &mut self.scans)? })
    }
}

impl Cut {
    /// A cut at the present instant, of which this came.
    fn new<W: Workload, D: PoweredDevice>(powered: &Powered<W, D>, outcome: CutOutcome) -> Self {
        Cut {
            at_ns: powered.now_ns(),
            operations: powered.operations(),
            operations_under_way: powered.under_way(),
            requests_lost: powered.requests_inside(),
            host: None,
            files: None,
            array: None,
            outcome,
            again: None,
        }
    }
}

/// How far a run goes.
#[derive(Clone, Copy)]
enum Until {
    /// To its end.
    End,
    /// To a time in ns.
    Time(Nanos),
    /// To the instant before which flash operations were under way for this time in ns, and at which one is.
    Busy(Nanos),
    /// Until this number of flash operations has ended.
    Operation(u64),
}

/// How far it came.
#[derive(Clone, Copy, PartialEq)]
enum Reached {
    There,
    End,
    Interrupted,
}

/// Cuts that have been made, and how many will be, if there is more than one.
#[derive(Clone, Copy)]
struct Done {
    cuts: u64,
    of: Option<u64>,
}

impl Done {
    fn at<W: Workload, D: PoweredDevice>(self, powered: &Powered<W, D>) -> Progress {
        let Done { cuts: requests_done, of: requests_total } = self;
        Progress { preparing: None, requests_done, requests_total, now_ns: powered.now_ns() }
    }
}

/// The course of a run.
#[derive(Default)]
struct Course {
    /// The time in ns for which flash operations were under way.
    busy_ns: Nanos,
}

impl Course {
    /// Simulates a run, unless `progress`, which is called from time to time, says stop.
    fn go<W: Workload, D: PoweredDevice>(
        &mut self,
        powered: &mut Powered<W, D>,
        until: Until,
        done: Done,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Reached, Error> {
        for instant in 1_u64.. {
            let is_there = match until {
                Until::End | Until::Busy(_) => false,
                Until::Time(at) => powered.now_ns() >= at,
                Until::Operation(number) => powered.operations() >= number,
            };
            if is_there {
                return Ok(Reached::There);
            }
            let Some(next) = powered.next_event_ns()? else { break };
            let now = powered.now_ns();
            let is_busy = powered.under_way() > 0;
            let at = match until {
                Until::Time(at) => next.min(at),
                Until::Busy(at) if is_busy => next.min(now + (at - self.busy_ns)),
                Until::End | Until::Operation(_) | Until::Busy(_) => next,
            };
            powered.advance(at)?;
            self.busy_ns += if is_busy { at - now } else { 0 };
            if is_busy && at < next && matches!(until, Until::Busy(_)) {
                return Ok(Reached::There);
            }
            if instant.is_multiple_of(INSTANTS_PER_LOOK) && !progress(&done.at(powered)) {
                return Ok(Reached::Interrupted);
            }
        }
        Ok(Reached::End)
    }
}

#[cold]
fn is_never_busy() -> Error {
    let fault = Fault::key("crash", "no flash operation is ever under way").found("a run without a flash operation");
    fault.expected("one with some, or cuts at any time of the run").into()
}

#[cold]
fn is_over<W: Workload, D: PoweredDevice>(place: Until, powered: &Powered<W, D>) -> Error {
    let fault = Fault::key("crash", "the run ends before the power is cut");
    let fault = match place {
        Until::Time(at) => fault.found(format!("{at} ns")),
        Until::Operation(number) => fault.found(format!("operation {number}")),
        Until::Busy(_) | Until::End => fault,
    };
    let (now, operations) = (powered.now_ns(), powered.operations());
    fault.expected(format!("a time before {now} ns, or one of its {operations} operations")).into()
}
