//! A drive under a workload, whose power can be cut at any instant without ending the run; and a drive that comes back.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::bugs::Bug;
use super::cuttable::{Cuttable, PoweredDevice};
use super::remains::{Recovered, Remains};
use super::submitter::{Account, Submitter, Units};
use super::witness::{Use, Witness};
use crate::config::Config;
use crate::run::footprint;
use crate::run::{Start, StartState};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Device, Next, SourceKind, Workload};
use flashwatt_core::kernel::settings::Stages;
use flashwatt_core::kernel::{End, Sim};
use flashwatt_files::system::{BLOCK_BYTES, Block};
use flashwatt_files::{FileWorkload, FilesFound};
use flashwatt_ssd::drive::{MapLoad, Ssd};
use flashwatt_ssd::operation::OpKind;

/// A drive under a workload, perhaps behind the block layer.
pub struct Powered<W: Workload, D: Device = Ssd<Witness>> {
    pub(super) sim: Sim<Submitter<W>, D>,
}

impl<W: Workload> Powered<W> {
    /// The drive of a configuration without a block layer in its start state, at time 0, under a workload.
    ///
    /// # Errors
    /// As [`Self::whole`].
    pub fn new(config: &Config, workload: W, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Self, Error> {
        Powered::faulty(config, workload, Bug::None, progress)
    }

    /// As [`Self::new`], with a fault on purpose.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn faulty(
        config: &Config,
        workload: W,
        bug: Bug,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Self, Error> {
        Powered::whole(config, workload, bug, progress)
    }

    /// The drive that comes back from a cut, under a workload. Requests wait until its recovery has ended.
    pub fn again(remains: &Remains, workload: W) -> Self {
        let stages = remains.config.run.stages().without_end();
        Powered::of(stages, remains.power_on(Use::GoesOn), Submitter { inner: workload, account: None })
    }
}

impl<W: Workload, D: PoweredDevice> Powered<W, D> {
    pub(super) fn of(stages: Stages, device: D, workload: Submitter<W>) -> Self {
        let mut sim = Sim::new(&stages, device, workload);
        sim.begin();
        Powered { sim }
    }

    /// Simulates the next instant at which something happens. Returns false if nothing happens any more.
    ///
    /// # Errors
    /// If the drive or the workload cannot go on.
    pub fn step(&mut self) -> Result<bool, Error> {
        let Some(at) = self.next_event_ns()? else { return Ok(false) };
        self.advance(at)?;
        Ok(true)
    }

    /// Time of the next event in ns; none if nothing happens any more.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn next_event_ns(&mut self) -> Result<Option<Nanos>, Error> {
        self.sim.next_event_ns().map_err(fault)
    }

    /// Simulates up to a time.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn advance(&mut self, until_ns: Nanos) -> Result<(), Error> {
        self.sim.advance(until_ns, &mut |_| false).map_err(fault)
    }

    /// The time in ns.
    pub fn now_ns(&self) -> Nanos {
        self.sim.now_ns()
    }

    /// Flash operations that have ended.
    pub fn operations(&self) -> u64 {
        self.sim.device().ended()
    }

    /// Flash operations that are under way.
    pub fn under_way(&self) -> u32 {
        self.sim.device().under_way()
    }

    /// The workload.
    pub fn workload(&self) -> &W {
        &self.sim.peek_workload().inner
    }

    /// Requests of the workload that have been sent and have not completed.
    pub fn requests_inside(&self) -> u32 {
        self.sim.requests_inside()
    }

    /// Energy of the device so far in J.
    pub(super) fn energy_j(&self) -> f64 {
        self.sim.device().so_far().0
    }

    /// The workload's file system, if it has one.
    pub(super) fn files(&self) -> Option<&FileWorkload> {
        self.workload().known()?.downcast_ref()
    }
}

impl<W: Workload, D: Cuttable> Powered<W, D> {
    /// The device of a configuration in its start state, at time 0, under a workload; with a fault on purpose, if any.
    ///
    /// # Errors
    /// As [`crate::run()`] before it starts; if the power of this drive cannot be cut; and if the configuration describes another
    /// device.
    pub fn whole(
        config: &Config,
        mut workload: W,
        bug: Bug,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Self, Error> {
        let config = Arc::new(config.with_power_cuts()?);
        let (drive, _) = cuttable(&config, bug, progress)?;
        let versions = drive.flash.accounts.probe.versions.clone();
        workload.follow(&versions);
        let device = D::around(drive, &config, &workload.origins())?;
        let account = config.host.is_some().then(|| {
            let durable_at_end = !config.has_volatile_buffer();
            Account::new(versions, Units::of_partition(&config), durable_at_end, bug)
        });
        Ok(Powered::of(config.run.stages(), device, Submitter { inner: workload, account }))
    }

    /// What a cut at this instant leaves. The run goes on as if there were none.
    pub fn cut(&self) -> Remains {
        Witness::cut(self.drive(), self.now_ns())
    }

    /// The drive.
    pub fn drive(&self) -> &Ssd<Witness> {
        self.sim.device().drive()
    }

    /// What a cut at this instant takes from the block layer, and what of its promises is lost if the drive that comes back holds these
    /// versions ([`Remains::versions`]); none of a drive without a block layer.
    pub fn in_host(&self, remains: &Remains, held: &[Option<u64>]) -> Option<InHost> {
        let account = self.sim.peek_workload().account.as_ref()?;
        Some(InHost {
            host_requests_lost: self.sim.device().held_requests()?,
            host_lost_units: account.lost_units(held, &remains.spoilt_units),
        })
    }

    /// What a mount of the workload's file system finds on a drive that comes back and holds these versions; none of a workload without
    /// files.
    pub fn in_files(&self, remains: &Remains, held: &[Option<u64>]) -> Option<InFiles> {
        let units = Units::of_partition(&remains.config);
        let version_of = |block: Block| {
            let of_block = units.of(u64::from(block) * BLOCK_BYTES, BLOCK_BYTES);
            held[of_block.start as usize..of_block.end as usize].iter().copied().min().flatten()
        };
        let found = self.files()?.after_cut(&version_of)?;
        Some(InFiles::new(found, !remains.spoilt_units.is_empty()))
    }
}

impl<W: Workload> Powered<W> {
    /// Runs to the end of the workload and of all work. Every unit must then hold what was written last.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn finish(self) -> Result<Ssd<Witness>, Error> {
        let (outcome, _, drive) = self.sim.end();
        match outcome.end {
            End::Failed(error) => Err(error),
            End::Complete | End::Interrupted | End::OutOfBudget(_) => Ok(drive),
        }
    }
}

/// What a mount of the workload's file system finds after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InFiles {
    /// Files with data that an fsync has made durable: all of them are looked for.
    pub files_fsynced: u32,
    /// Bytes of data that fsyncs have made durable, in whole pages.
    pub files_fsynced_bytes: u64,
    /// Files of which data is lost that an fsync had made durable. Must be 0.
    pub files_lost: u32,
    /// Bytes of lost data that fsyncs had made durable, in whole pages. Must be 0.
    pub files_lost_bytes: u64,
    /// Files of which data is lost that an fsync had made durable, at a cut that spoilt durable units with torn pages.
    pub files_pair_lost: u32,
    /// Files with changes that no fsync had made durable, and that are gone.
    pub files_rolled_back: u32,
    /// Bytes of changes that no fsync had made durable, and that are gone, in whole pages.
    pub files_rolled_back_bytes: u64,
    /// Blocks that a journal's committed metadata gives to a file and that do not hold its data. Must be 0.
    pub files_exposed_blocks: u32,
}

impl InFiles {
    /// What a mount finds. Data that is lost at a cut that spoilt durable units counts as lost with them.
    fn new(found: FilesFound, has_spoilt: bool) -> Self {
        let (files_lost, files_lost_bytes) = if has_spoilt { (0, 0) } else { (found.lost, found.lost_bytes) };
        InFiles {
            files_fsynced: found.fsynced,
            files_fsynced_bytes: found.fsynced_bytes,
            files_lost,
            files_lost_bytes,
            files_pair_lost: found.lost - files_lost,
            files_rolled_back: found.rolled_back,
            files_rolled_back_bytes: found.rolled_back_bytes,
            files_exposed_blocks: if has_spoilt { 0 } else { found.exposed_blocks },
        }
    }
}

/// What a power cut takes from the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InHost {
    /// Requests in the block layer that the drive had not got: queued ones, merged ones counted once, and those that waited for a place.
    pub host_requests_lost: u32,
    /// Units of which data is lost that was durable for the process that had written it. Must be 0.
    pub host_lost_units: u32,
}

fn fault(end: End) -> Error {
    match end {
        End::Failed(error) => error,
        End::Complete | End::Interrupted | End::OutOfBudget(_) => unreachable!("nothing ends it but a fault"),
    }
}

/// The drive of a configuration that is prepared for power cuts, in its start state; and warnings about that.
///
/// # Errors
/// As [`crate::run()`] before it starts; and if its layer cannot be rebuilt.
pub(crate) fn cuttable(
    config: &Arc<Config>,
    bug: Bug,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Ssd<Witness>, Start), Error> {
    footprint::check_cuts(config, false)?;
    let is_durable_late = config.has_volatile_buffer() && bug != Bug::AcknowledgedEarly;
    let start = StartState::watched(config, progress)?;
    if !start.survives_cuts() {
        let fault = Fault::key("ftl", "this translation layer cannot be rebuilt after a power cut");
        return Err(fault.found(config.ssd().ftl.name()).expected("one with Ftl::rebuild").into());
    }
    let (mut drive, start) = start.into_cuttable(config, |firmware, array| {
        Witness::new(Arc::clone(config), firmware, array, is_durable_late).with_bug(bug)
    })?;
    if bug == Bug::AckNotHeld {
        drive.hold_nothing();
    }
    drive.break_journal(bug.in_journal());
    if bug == Bug::OldMapErased {
        drive.forget_old_map();
    }
    Ok((drive, start))
}

/// Bytes of memory that a scan needs for each logical page.
const SCAN_ENTRY_BYTES: u64 = 12;

/// What coming back took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// Time from power on until the drive serves requests, in ns.
    pub recovery_ns: Nanos,
    /// Energy in that time, in J.
    pub energy_j: f64,
    /// Reads of spare areas.
    pub spare_reads: u64,
    /// Reads of pages.
    pub reads: u64,
    /// Programs.
    pub programs: u64,
    /// Erases.
    pub erases: u64,
    /// Memory that the scan needs in bytes: for each logical page an address (4 bytes) and a version (8 bytes).
    pub scan_memory_bytes: u64,
    /// What of that the load of a portion of the map took, if the drive loads one.
    #[serde(flatten)]
    pub map_load: Option<MapLoadCost>,
}

/// What it took to load a portion of the map into the cached table, when all else of the recovery was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MapLoadCost {
    /// Time of the recovery for it, in ns.
    pub map_load_ns: Nanos,
    /// Energy of the drive in that time, in J.
    pub map_load_energy_j: f64,
    /// Reads of pages of the map for it.
    pub map_load_reads: u64,
}

impl Powered<Silence> {
    /// The drive that comes back from a cut, and is left alone.
    pub fn recovering(remains: &Remains) -> Self {
        Powered::alone(remains.config.run.stages(), remains.power_on(Use::GoesOn))
    }

    /// A drive that is left alone.
    pub(super) fn alone(stages: Stages, drive: Ssd<Witness>) -> Self {
        let silence = Submitter { inner: Silence, account: None };
        let mut powered = Powered::of(stages.without_end(), drive, silence);
        powered.sim.wake();
        powered
    }

    /// Simulates until the recovery has ended. Returns its time in ns, too.
    ///
    /// # Errors
    /// If it does not end before the end of simulated time, or the drive has no room for what comes back.
    pub(super) fn until_recovered(mut self) -> Result<(Self, Times), Error> {
        self.advance(self.now_ns())?; // after a scan that was skipped there may be nothing left to do
        let (mut load_begins_j, mut load_ends_j) = (None, None);
        loop {
            if let Some(load) = self.drive().map_load() {
                let (begins, ends) = (load.began_ns.is_some(), load.ended_ns.is_some());
                note_energy(&mut load_begins_j, begins, || self.energy_j());
                note_energy(&mut load_ends_j, ends, || self.energy_j());
            }
            if let Some(recovery_ns) = self.drive().recovered_ns() {
                let map_load_energy_j = load_begins_j.zip(load_ends_j).map(|(begins, ends)| ends - begins);
                return Ok((self, Times { recovery_ns, map_load_energy_j }));
            }
            if !self.step()? {
                return Err(self.drive().stuck());
            }
        }
    }
}

/// How long a recovery took, and the energy in J of its load of the map, if it had one.
pub(super) struct Times {
    pub recovery_ns: Nanos,
    map_load_energy_j: Option<f64>,
}

/// Notes the energy so far, once this has happened.
fn note_energy(noted: &mut Option<f64>, has_happened: bool, energy_j: impl FnOnce() -> f64) {
    if has_happened {
        noted.get_or_insert_with(energy_j);
    }
}

/// Lets a drive come back from a cut, and compares what it holds with what the host was promised.
///
/// # Errors
/// If the recovery does not end before the end of simulated time.
pub fn recover(remains: &Remains) -> Result<(Cost, Recovered), Error> {
    let (cost, drive) = come_back(remains)?;
    Ok((cost, remains.compare(drive.drive())))
}

/// Lets a drive come back from a cut.
///
/// # Errors
/// If the recovery does not end before the end of simulated time.
pub fn come_back(remains: &Remains) -> Result<(Cost, Powered<Silence>), Error> {
    until_recovered(Powered::recovering(remains))
}

/// Simulates until a recovery has ended. Returns what it took.
pub(super) fn until_recovered(powered: Powered<Silence>) -> Result<(Cost, Powered<Silence>), Error> {
    let (powered, times) = powered.until_recovered()?;
    Ok((cost(powered.drive(), &times), powered))
}

fn cost(drive: &Ssd<Witness>, times: &Times) -> Cost {
    let ledger = &drive.flash.accounts.ledger;
    let map_load = |load: &MapLoad| {
        let map_load_ns = load.ended_ns? - load.began_ns?;
        Some(MapLoadCost { map_load_ns, map_load_energy_j: times.map_load_energy_j?, map_load_reads: load.reads })
    };
    Cost {
        map_load: drive.map_load().and_then(map_load),
        recovery_ns: times.recovery_ns,
        energy_j: drive.so_far().0,
        spare_reads: ledger.operations_of(OpKind::SpareRead),
        reads: ledger.operations_of(OpKind::Read),
        programs: ledger.operations_of(OpKind::Program) + ledger.operations_of(OpKind::Copyback),
        erases: ledger.operations_of(OpKind::Erase),
        scan_memory_bytes: u64::from(drive.flash.array.geometry().logical_units) * SCAN_ENTRY_BYTES,
    }
}

/// A host that sends nothing.
pub struct Silence;

impl Workload for Silence {
    fn next(&mut self, _now: Nanos) -> Result<Next, Error> {
        Ok(Next::WaitForCompletion)
    }

    fn completed(&mut self, _done: &Completion, _now: Nanos) {}

    fn name(&self) -> &str {
        "none"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}
