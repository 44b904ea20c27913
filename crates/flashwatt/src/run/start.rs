//! An SSD in its start state, and its run.

use std::path::Path;

use super::footprint;
use super::options::needs_an_ssd;
use super::{RunOptions, simulate};
use crate::config::{self, Config, Flashsim, Precondition, Replay, Ssd as Settings};
use crate::precision::PrecisionReport;
use crate::report::Report;
use crate::snapshot::{self, Identity, Loaded};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::progress::{Progress, Watch};
use flashwatt_core::connector::{Completion, Next, Request, Workload};
use flashwatt_core::energy::Series;
use flashwatt_files::Image;
use flashwatt_ssd::drive::{Ssd, Untimed};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::firmware::clockless::Clockless;
use flashwatt_ssd::firmware::paced::Paced;
use flashwatt_ssd::ftl::Steady;
use flashwatt_ssd::nand::reserve::{Reserve, Runs};
use flashwatt_ssd::nand::{Array, Geometry, Pace};
use flashwatt_ssd::observe::check::Shadow;
use flashwatt_ssd::observe::probe::Probe;
use flashwatt_workload as workload;
use flashwatt_workload::Joined;

/// Number of times that the whole drive is overwritten to reach the steady state by brute force.
const STEADY_TURNOVERS: u64 = 4;
/// The same from the steady state of greedy collection. Until then every block has been erased several times, too: the drive
/// programs each page as often as the write amplification says.
const NEAR_TURNOVERS: u64 = 1;
/// Waves of writes at the drive's pace that end such a preparation: dies in step fall out of step in about 50. A wave fills one block of each die.
const PACED_WAVES: u64 = 100;
/// Separates the random draws of a start state from those of the run.
const STEADY_SEED: u64 = 0x5eed_57a7e;

/// A drive in its start state.
pub struct StartState {
    geometry: Geometry,
    firmware: Firmware,
    array: Array,
    start: Start,
    /// The settings that determine its tables.
    made_from: MadeFrom,
}

/// The start of a run, for its report.
#[derive(Default)]
pub(crate) struct Start {
    pub warnings: Vec<String>,
    /// The snapshot that the drive was restored from, if any.
    pub snapshot: Option<Identity>,
    /// How well the figures are known, once it has ended.
    pub precision: Option<PrecisionReport>,
}

/// The settings that determine a drive's tables.
#[derive(PartialEq)]
struct MadeFrom {
    device: config::DeviceTable,
    ftl: flashwatt_ssd::ftl::Settings,
    gc: config::Gc,
    wear: config::Wear,
}

impl MadeFrom {
    fn new(config: &Config) -> Self {
        let Settings { device, ftl, gc, wear, .. } = config.ssd();
        MadeFrom { device: device.clone(), ftl: ftl.clone(), gc: gc.clone(), wear: wear.clone() }
    }
}

impl StartState {
    /// Lays down the start state that a configuration asks for.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Self::watched(config, &mut |_| true)
    }

    /// As [`Self::new`]. `progress` receives the progress, and ends the preparation if it returns `false`.
    pub fn watched(config: &Config, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Self, Error> {
        Self::holding(config, None, progress)
    }

    /// As [`Self::watched`], with the image of the workload's file system if it has been laid down already.
    pub(super) fn holding(
        config: &Config,
        image: Option<Image>,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Self, Error> {
        let mut drive = Self::new_drive(config)?;
        drive.precondition(config, image, &mut Watch::new(progress))?;
        drive.at_rest();
        if drive.start.snapshot.is_none() {
            drive.array.reset_wear();
        }
        Ok(drive)
    }

    /// As [`Self::holding`], from a file that holds this start state; it is laid down if the file cannot be read, or is of another
    /// drive.
    pub(super) fn saved_or_holding(
        config: &Config,
        saved: &Path,
        image: Option<Image>,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Self, Error> {
        let mut drive = Self::new_drive(config)?;
        drive.firmware.on_huge_pages();
        match drive.restore(saved, config, &mut Watch::new(progress)) {
            Ok(()) => {
                drive.start.snapshot = None;
                drive.at_rest();
                Ok(drive)
            }
            Err(Error::Snapshot(_) | Error::Io { .. }) => {
                drop(drive);
                Self::holding(config, image, progress)
            }
            Err(error) => Err(error),
        }
    }

    /// A drive on which nothing is written.
    fn new_drive(config: &Config) -> Result<Self, Error> {
        config.check_seal()?;
        if config.drive.ssd().is_none() {
            return Err(needs_an_ssd("a start state", config));
        }
        let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
        footprint::check(config, false)?;
        let firmware = Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry);
        let array = Array::new(geometry.clone(), config.ssd().device.nand.program_order);
        Ok(StartState { geometry, firmware, array, start: Start::default(), made_from: MadeFrom::new(config) })
    }

    /// Completes the rows of cells that the start state has begun.
    fn at_rest(&mut self) {
        self.firmware.blocks.withhold(self.geometry.reserves.total());
        Clockless::new(&self.geometry, &mut self.firmware, &mut self.array).end_rows();
        self.firmware.blocks.withhold(0);
    }

    fn precondition(&mut self, config: &Config, image: Option<Image>, watch: &mut Watch) -> Result<(), Error> {
        let start = &config.run.precondition;
        if matches!(start, Precondition::Image | Precondition::Snapshot(_) | Precondition::Workload(_)) {
            self.firmware.on_huge_pages();
        }
        match start {
            Precondition::Empty => Ok(()),
            Precondition::Filled => self.fill(Some(0), watch),
            Precondition::Mapped => {
                self.firmware.keep_blocks(Runs::Mapped)?;
                let Firmware { ftl, blocks, reserved, .. } = &mut self.firmware;
                let is_mapped = ftl.fill_mapped(blocks, &mut self.array, &reserved[Reserve::Before]);
                debug_assert!(is_mapped, "the configuration is checked");
                Ok(())
            }
            Precondition::Steady => self.steady(config, watch),
            Precondition::Image => self.write_image(config, image, watch),
            Precondition::Snapshot(path) => self.restore(path, config, watch),
            Precondition::Workload(workload) => {
                let (bytes, seed) = (config.logical_bytes(), config.run.seed ^ STEADY_SEED);
                let mut workload = workload::open_watched(workload, bytes, seed, watch.teller())?;
                self.fill(workload.len_hint(), watch)?;
                self.run_instantly(workload.as_mut(), u64::MAX, watch)
            }
        }
    }

    fn restore(&mut self, path: &Path, config: &Config, watch: &mut Watch) -> Result<(), Error> {
        let state = snapshot::DriveState { firmware: &mut self.firmware, array: &mut self.array };
        let Loaded { identity, warnings } = snapshot::restore(path, config, state, watch)?;
        self.start = Start { warnings, snapshot: Some(identity), precision: None };
        Ok(())
    }

    /// Writes every page once. `then` is the number of further requests of the start state, if known.
    fn fill(&mut self, then: Option<u64>, watch: &mut Watch) -> Result<(), Error> {
        watch.expect(then.map(|then| then + u64::from(self.geometry.logical_units)));
        self.firmware.ftl.fill(&mut self.firmware.blocks, &mut self.array, watch)
    }

    /// Lays down the steady state: from theory where there is one, else by running the translation layer until every
    /// block has been erased several times.
    fn steady(&mut self, config: &Config, watch: &mut Watch) -> Result<(), Error> {
        let (firmware, pages) = (&mut self.firmware, self.geometry.logical_units);
        watch.expect(Some(u64::from(pages)));
        let (device, controller) = (&config.ssd().device, &config.ssd().controller);
        let pace = Pace::new(device, controller.read_transfer);
        let known = firmware.ftl.fill_steady(&mut firmware.blocks, &mut self.array, &mut firmware.rng, pace, watch)?;
        let (turnovers, from) = match known {
            Steady::Known => return Ok(()),
            Steady::Near => (NEAR_TURNOVERS, "from that of greedy collection "),
            Steady::Unknown => (STEADY_TURNOVERS, ""),
        };
        let wave = u64::from(self.geometry.dies) * u64::from(self.geometry.pages_per_block);
        let writes = turnovers * u64::from(pages);
        let at_pace = writes.min(PACED_WAVES * wave) + self.firmware.rng.below(wave);
        let at_once = writes.saturating_sub(PACED_WAVES * wave);
        match known {
            Steady::Unknown => {
                self.firmware.on_huge_pages();
                self.fill(Some(at_once + at_pace), watch)?;
            }
            _ => watch.expect(Some(at_once + at_pace)),
        }
        let paced = if at_once == 0 { "all".to_string() } else { format!("the last {at_pace}") };
        self.start.warnings.push(format!(
            "precondition `steady` was reached {from}by {} uniform random writes, {paced} of them at the drive's pace: theory gives it \
             for page mapping in whole pages with greedy collection only",
            at_once + at_pace
        ));
        let unit_bytes = u64::from(self.geometry.unit_bytes);
        let mut workload = workload::synthetic::open(
            &config::Synthetic {
                requests: at_once + at_pace,
                sizes: config::Sizes::all(unit_bytes),
                align_bytes: unit_bytes,
                range_bytes: config.logical_bytes(),
                ..config::Synthetic::writes()
            },
            config.run.seed ^ STEADY_SEED,
        );
        self.run_instantly(workload.as_mut(), at_once, watch)?;
        self.withholding(|drive| drive.run_at_pace(workload.as_mut(), pace, watch))
    }

    /// Does this while the blocks that a start state must not use are withheld.
    fn withholding(&mut self, run: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.firmware.blocks.withhold(self.geometry.reserves.total());
        let done = run(self);
        self.firmware.blocks.withhold(0);
        done
    }

    /// Carries out the requests of a workload of writes at the drive's pace. So the dies come into the phases of a long run.
    fn run_at_pace(&mut self, workload: &mut dyn Workload, pace: Pace, watch: &mut Watch) -> Result<(), Error> {
        let mut paced = Paced::new(&self.geometry, &mut self.firmware, &mut self.array, pace);
        let mut operations = 0;
        while let Next::Request(tag, request) = workload.next(0)? {
            if let Some(upcoming) = workload.upcoming() {
                paced.prefetch(&upcoming);
            }
            paced.write(&self.geometry.extent(&request)).map_err(|_| no_room())?;
            workload.completed(&Completion::done(tag), 0);
            watch.done(1)?;
            watch.step(paced.operations() - operations)?;
            operations = paced.operations();
        }
        paced.stop();
        Ok(())
    }

    /// Writes what the file system of the workload holds before the run, in the order of addresses.
    fn write_image(&mut self, config: &Config, image: Option<Image>, watch: &mut Watch) -> Result<(), Error> {
        let image = match (image, &config.workload) {
            (None, config::Workload::Files(files)) => {
                Image::of(&workload::open_files(files, config.run.seed, watch.teller())?)
            }
            (image, _) => image,
        };
        let start_bytes = config.logical_bytes() - config.partition_bytes();
        image.map_or(Ok(()), |image| self.run_instantly(&mut image.from(start_bytes), u64::MAX, watch))
    }

    /// Carries out at most `most` requests of a workload without a clock.
    fn run_instantly(&mut self, workload: &mut dyn Workload, most: u64, watch: &mut Watch) -> Result<(), Error> {
        self.withholding(|drive| drive.run_clockless(workload, most, watch))
    }

    fn run_clockless(&mut self, workload: &mut dyn Workload, most: u64, watch: &mut Watch) -> Result<(), Error> {
        let mut clockless = Clockless::new(&self.geometry, &mut self.firmware, &mut self.array);
        let (mut now, mut operations, mut left) = (0, 0, most);
        while left > 0 {
            match workload.next(now)? {
                Next::Request(tag, request) => {
                    if let Some(upcoming) = workload.upcoming() {
                        clockless.prefetch(&upcoming);
                    }
                    let request = Request { arrival_ns: now, ..request };
                    clockless.request(&request).map_err(|_| no_room())?;
                    workload.completed(&Completion::done(tag), now);
                    watch.done(1)?;
                    watch.step(clockless.operations() - operations)?;
                    operations = clockless.operations();
                    left -= 1;
                }
                Next::WaitUntil(at) => now = at,
                Next::Measure => {}
                Next::WaitForCompletion => unreachable!("every request has completed"),
                Next::End => return Ok(()),
            }
        }
        Ok(())
    }

    /// As [`Self::run`], under the shadow check if the options ask for it.
    ///
    /// # Errors
    /// As [`crate::run()`].
    pub fn run_checked<P: Probe>(
        self,
        config: &Config,
        options: &RunOptions,
        workload: &mut dyn Workload,
        probe: P,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Report, P), Error> {
        let shadow = options.check.then(|| Shadow::new(&self.geometry, &self.firmware));
        let (report, (_, probe)) = self.run(config, options, workload, (shadow, probe), progress)?;
        Ok((report, probe))
    }

    /// Runs a workload on this drive. `probe` observes the run, and is returned.
    ///
    /// # Errors
    /// As [`crate::run()`]. A series with more bins than can be stored, or too many edges, ends the run; [`Report::status`] says
    /// so.
    ///
    /// # Panics
    /// If the options ask for a series and the probe is `()`, which records none; [`crate::run::Recording`] does.
    pub fn run<P: Probe>(
        mut self,
        config: &Config,
        options: &RunOptions,
        workload: &mut dyn Workload,
        probe: P,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Report, P), Error> {
        self.check_config(config)?;
        self.expect(config.run.requests(workload.len_hint()));
        if let Replay::Flashsim(rules) = &config.run.replay {
            return Ok((self.replay(rules, config, options, workload, progress)?, probe));
        }
        self.firmware.keep_blocks(Runs::All)?;
        let ssd = Ssd::new(config.ssd(), self.firmware, self.array, options.series(), probe).at_work();
        let (report, ssd) = simulate(config, options, ssd, workload, self.start, progress)?;
        Ok((report, ssd.into_parts().0.probe))
    }

    /// Prepares for a number of requests, if it is known.
    ///
    /// Huge pages make look-ups fast, and the system gives 512 times as much memory at once. But it clears all of that, and a
    /// short run on a large drive uses few places. The break-even lies where each small page of the map is used by a fraction of a
    /// request: 500,000 random writes to 1 TB take 0.7 s with huge pages and 2.1 s without.
    fn expect(&self, requests: Option<u64>) {
        const PAGES_PER_REQUEST: u64 = 512;
        let pages = u64::from(self.geometry.logical_units);
        if requests.is_none_or(|requests| requests.saturating_mul(PAGES_PER_REQUEST) > pages) {
            self.firmware.on_huge_pages();
        }
    }

    /// Replays a workload on this drive without a clock.
    fn replay(
        self,
        rules: &Flashsim,
        config: &Config,
        options: &RunOptions,
        workload: &mut dyn Workload,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Report, Error> {
        let device = Untimed::new(rules, config.logical_bytes(), self.geometry, self.firmware, self.array);
        let mut joined = rules.merge_requests.then(|| Joined::new(&mut *workload));
        match &mut joined {
            Some(joined) => Ok(simulate(config, options, device, joined, self.start, progress)?.0),
            None => Ok(simulate(config, options, device, workload, self.start, progress)?.0),
        }
    }

    /// A drive at rest, made from its parts.
    pub(crate) fn from_parts(
        config: &Config,
        geometry: Geometry,
        firmware: Firmware,
        array: Array,
        start: Start,
    ) -> Self {
        StartState { geometry, firmware, array, start, made_from: MadeFrom::new(config) }
    }

    /// The content of a snapshot, and the warnings of the preparation.
    pub(crate) fn state(&mut self) -> (snapshot::DriveState<'_>, Vec<String>) {
        (snapshot::DriveState { firmware: &mut self.firmware, array: &mut self.array }, self.start.warnings.clone())
    }

    /// The drive's layout.
    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Refuses a configuration for another drive.
    fn check_config(&self, config: &Config) -> Result<(), Error> {
        config.check_seal()?;
        if self.made_from == MadeFrom::new(config) {
            return Ok(());
        }
        let fault = Fault::at(Place::default(), "the start state was made for another drive");
        Err(Error::Config(vec![fault.expected("the [device], [ftl], [gc] and [wear] that it was made from")]))
    }

    /// Whether its translation layer can be rebuilt after a power cut.
    pub(crate) fn survives_cuts(&self) -> bool {
        self.firmware.ftl.survives_cuts()
    }

    /// The drive itself, at time 0, with a probe that is made of its parts.
    ///
    /// # Errors
    /// If there are no blocks for what it keeps blocks for.
    pub(crate) fn into_cuttable<P: Probe>(
        mut self,
        config: &Config,
        probe: impl FnOnce(&Firmware, &Array) -> P,
    ) -> Result<(Ssd<P>, Start), Error> {
        self.firmware.keep_blocks(Runs::All)?;
        self.firmware.keep_blocks(Runs::Cut)?;
        let probe = probe(&self.firmware, &self.array);
        Ok((Ssd::new(config.ssd(), self.firmware, self.array, None, probe).at_work(), self.start))
    }

    /// The drive itself, at time 0, with a recording over time if any, and prepared for a number of requests, if that is known.
    ///
    /// # Errors
    /// If there are no blocks for its recovery log or for backups.
    pub(crate) fn into_ssd<P: Probe>(
        mut self,
        config: &Config,
        series: Option<Box<Series>>,
        requests: Option<u64>,
        probe: P,
    ) -> Result<(Ssd<P>, Start), Error> {
        self.expect(requests);
        self.firmware.keep_blocks(Runs::All)?;
        Ok((Ssd::new(config.ssd(), self.firmware, self.array, series, probe).at_work(), self.start))
    }
}

fn no_room() -> Error {
    Error::from(
        Fault::key("device", "the drive has no room for the workload that preconditions it")
            .help("raise device.op_ratio or device.spare_fraction"),
    )
}
