//! An observer that follows the spare areas of all pages, and what the host was promised.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backups::BackupWitness;
use super::bugs::Bug;
use super::current::Current;
use super::dump::Work;
use super::journal::JournalWitness;
use super::log::LogWitness;
use super::map::MapWitness;
use super::promises::Promises;
use super::registers::RegisterWitness;
use super::remains::Remains;
use crate::config::Config;
use flashwatt_base::units::{BlockId, EntryId, Lpn, Nanos, Ppn, RequestId};
use flashwatt_core::connector::{Extent, RequestKind, VersionClock};
use flashwatt_core::energy::Series;
use flashwatt_ssd::controller::UnderWay;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::PlannedOp;
use flashwatt_ssd::nand::{Array, Geometry, Reserve};
use flashwatt_ssd::observe::probe::{BufferEvent, OpRecord, Probe, Purpose, RequestRecord};
use flashwatt_ssd::operation::{Cause, OpKind};
use flashwatt_ssd::recovery::backups::BackedUp;
use flashwatt_ssd::recovery::checkpoint::Checkpoint;
use flashwatt_ssd::recovery::dump::DumpedUnit;
use flashwatt_ssd::recovery::log::{LogContent, LogPage};
use flashwatt_ssd::recovery::registers::InRegister;
use flashwatt_ssd::recovery::spare::{Spare, SpareAreas};

/// The observer of a drive whose power can be cut.
pub struct Witness {
    /// The configuration of the drive.
    pub(super) config: Arc<Config>,
    geometry: Geometry,
    pub(super) areas: SpareAreas,
    current: Current,
    /// By plan number: what programs that have not ended will write.
    pending: BTreeMap<u64, Vec<(Ppn, Spare)>>,
    next_program: u64,
    /// Flash operations that have ended.
    pub(super) ended: u64,
    /// The last version that any write has got.
    version: u64,
    /// The same, for those who keep account of durable data before the drive.
    pub(super) versions: VersionClock,
    /// The content of the write buffer.
    entries: BTreeMap<EntryId, (Lpn, u64)>,
    pub(super) promises: Promises,
    pub(super) log: LogWitness,
    backups: BackupWitness,
    /// Only kept of a drive with a journal.
    journal: Option<Box<JournalWitness>>,
    map: MapWitness,
    registers: RegisterWitness,
    /// Blocks whose erase is planned. Only kept for [`Bug::ErasedBeforeCopied`].
    to_erase: BTreeMap<u64, BlockId>,
    /// The new versions of units, if somebody follows what they hold.
    changes: Option<Vec<Change>>,
    bug: Bug,
}

/// A unit gets a new version, or is trimmed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The request of the host.
    pub request: RequestId,
    /// The unit.
    pub lpn: Lpn,
    /// Its new version; of a trim the last one that any write had got.
    pub version: u64,
    /// Whether it is trimmed.
    pub is_trim: bool,
}

impl Witness {
    /// The observer of a drive in its start state. `has_buffer`: the drive has a volatile write buffer.
    pub(super) fn new(config: Arc<Config>, firmware: &Firmware, array: &Array, has_buffer: bool) -> Self {
        let geometry = array.geometry();
        let mut areas = SpareAreas::new(geometry);
        let mut current = Vec::new();
        for ppn in (0..geometry.physical_units()).map(Ppn).filter(|&ppn| array.is_programmed(geometry.place(ppn))) {
            if let Some(owner) = firmware.blocks.lpn_at(ppn) {
                let version = u64::from(firmware.blocks.is_valid(ppn));
                areas.program(ppn, Spare { owner, version, program: 0, is_torn: false });
                note(&mut current, owner, |at| at.max(version));
            }
        }
        let first = (0..geometry.logical_units).map(Lpn).map(|lpn| firmware.ftl.lookup(lpn).map(|_| 1));
        let records_trims = config.ssd().recovery.records_trims();
        let promises = Promises::new(first, !has_buffer).with_durable_trims(records_trims);
        let map = MapWitness::new(&config, firmware, geometry, None);
        let registers = RegisterWitness::new(&config, &[], |ppn| geometry.die_of(ppn));
        let current = Current::table(current);
        Witness {
            map,
            registers,
            ..Witness::with(config, geometry, areas, current, promises, firmware.plan.next().0, 1)
        }
    }

    /// The observer of a drive that only programs what its write buffer held: it follows nothing.
    pub(super) fn blind(config: Arc<Config>, geometry: &Geometry) -> Self {
        let promises = Promises::none();
        Witness::with(config, geometry, SpareAreas::none(), Current::table(Vec::new()), promises, 0, 0)
    }

    /// The observer of a drive that comes back from a power cut.
    pub(super) fn resumed(remains: &Remains, firmware: &Firmware, restored: Restored) -> Self {
        let (areas, geometry) = (remains.areas.clone(), remains.array.geometry());
        let promises = match restored.use_after {
            Use::LookedAt => Promises::none(),
            Use::GoesOn => restored.promises(remains, firmware),
        };
        let current = match restored.newest {
            Some(newest) => Current::of_scan(newest, areas.clone()),
            None => Current::table(current_versions(remains, firmware)),
        };
        let (config, log) = (Arc::clone(&remains.config), LogWitness::resumed(&remains.logged, restored.trims));
        let witness = Witness::with(config, geometry, areas, current, promises, remains.next_program, remains.version);
        let journal = witness.journal.is_some().then(|| Box::new(JournalWitness::resumed(&remains.journaled)));
        let map = MapWitness::new(&witness.config, firmware, &witness.geometry, Some(&remains.map));
        let registers = RegisterWitness::new(&witness.config, &restored.registers, |ppn| geometry.die_of(ppn));
        Witness { log, map, registers, backups: BackupWitness::resumed(&remains.backups), journal, ..witness }
    }

    fn with(
        config: Arc<Config>,
        geometry: &Geometry,
        areas: SpareAreas,
        current: Current,
        promises: Promises,
        next_program: u64,
        version: u64,
    ) -> Self {
        let versions = VersionClock::default();
        versions.set(version);
        let journal = config.ssd().write_buffer.journal.map(|_| Box::default());
        Witness {
            config,
            geometry: geometry.clone(),
            areas,
            current,
            pending: BTreeMap::new(),
            next_program,
            ended: 0,
            version,
            versions,
            entries: BTreeMap::new(),
            log: LogWitness::default(),
            backups: BackupWitness::default(),
            journal,
            map: MapWitness::default(),
            registers: RegisterWitness::default(),
            promises,
            to_erase: BTreeMap::new(),
            changes: None,
            bug: Bug::None,
        }
    }

    /// From now on the new versions of units are kept until they are taken.
    pub(super) fn follow_changes(&mut self) {
        self.changes = Some(Vec::new());
    }

    /// The new versions since the last call.
    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note_change(&mut self, request: RequestId, lpn: Lpn, version: u64, is_trim: bool) {
        if let Some(changes) = &mut self.changes {
            changes.push(Change { request, lpn, version, is_trim });
        }
    }

    /// The same with a fault on purpose.
    pub(super) fn with_bug(mut self, bug: Bug) -> Self {
        self.bug = bug;
        self
    }

    /// What a cut at this instant, the time `now`, leaves of the drive that this observer belongs to.
    pub fn cut(drive: &Ssd<Witness>, now: Nanos) -> Remains {
        let witness = &drive.flash.accounts.probe;
        let has_capacitors = witness.config.ssd().write_buffer.capacitors.is_some();
        let is_held = has_capacitors && drive.recovers_dumped().is_none();
        let (mut areas, mut programs, mut erases) = (witness.areas.clone(), Vec::new(), Vec::new());
        let (mut log, mut backups) = (witness.log.on_flash(), witness.backups.clone());
        let mut journal = witness.journal.as_deref().map(|journal| JournalWitness::resumed(&journal.pages));
        for UnderWay { kind, number, at, .. } in drive.under_way() {
            match kind {
                OpKind::Program | OpKind::Copyback => {
                    programs.push(at);
                    if is_held {
                        log.program_ended(number);
                        backups.program_ended(number, witness.bug);
                    }
                    for &(ppn, spare) in witness.pending.get(&number).into_iter().flatten() {
                        areas.program(ppn, Spare { is_torn: !is_held, ..spare });
                    }
                }
                OpKind::Erase => {
                    erases.push(at.block);
                    areas.erase(at.block, &witness.geometry);
                    log.erased(at.block, &witness.geometry);
                    backups.erased(at.block, &witness.geometry);
                    if let Some(journal) = &mut journal {
                        journal.erased(at.block, &witness.geometry);
                    }
                }
                OpKind::Read | OpKind::SpareRead | OpKind::Copy => {}
            }
        }
        if witness.bug == Bug::ErasedBeforeCopied {
            witness.to_erase.values().for_each(|&block| areas.erase(block, &witness.geometry));
        }
        let mut remains = Remains {
            config: Arc::clone(&witness.config),
            bug: witness.bug,
            array: drive.flash.array.after_cut(&programs),
            areas,
            torn: programs,
            half_erased: erases,
            spoilt: Vec::new(),
            spoilt_units: BTreeSet::new(),
            reserved: drive.firmware.reserved.clone(),
            logged: log.pages,
            backups: backups.pages,
            journaled: journal.map(|journal| journal.pages).unwrap_or_default(),
            dumped: if has_capacitors { drive.recovers_dumped().unwrap_or_default().to_vec() } else { Vec::new() },
            map: witness.map.contents.clone(),
            registers: if is_held { Vec::new() } else { witness.in_registers(drive, now) },
            work: None,
            promises: witness.promises.clone(),
            next_program: witness.next_program,
            version: witness.version,
        };
        if is_held {
            witness.hold(drive, now, &mut remains);
        } else {
            remains.forget_erased_dumps();
            if witness.config.ssd().device.nand.paired_pages.is_some() {
                remains.spoil_pairs();
            }
        }
        remains
    }

    /// What the registers of dies keep of the map when the power goes at the time `now`.
    fn in_registers(&self, drive: &Ssd<Witness>, now: Nanos) -> Vec<InRegister> {
        let programs = drive.under_way().filter(|op| op.kind == OpKind::Program);
        let written = programs.filter_map(|op| Some((op, self.pending.get(&op.number)?)));
        let of_map = |spare: &Spare| spare.owner.0 >= self.geometry.logical_units;
        let of_map =
            written.flat_map(|(op, units)| units.iter().filter(|(_, spare)| of_map(spare)).map(move |unit| (op, unit)));
        self.registers.cut(now, of_map, &self.map)
    }

    /// Capacitors hold the drive: operations under way end, and the content of the write buffer goes to flash.
    fn hold(&self, drive: &Ssd<Witness>, now: Nanos, remains: &mut Remains) {
        remains.torn.clear();
        for block in std::mem::take(&mut remains.half_erased) {
            remains.array.end_erase(block);
        }
        let ends = || drive.under_way().filter(|op| Work::is_ended(op.kind));
        let written = ends().filter_map(|op| self.pending.get(&op.number)).flatten();
        let written: BTreeSet<(Lpn, u64)> = written.map(|(_, spare)| (spare.owner, spare.version)).collect();
        let units = drive.buffer_content().into_iter().filter_map(|kept| {
            let (owner, version) = *self.entries.get(&kept.entry)?;
            let of_unit =
                DumpedUnit { ppn: Ppn::NONE, owner, version, held: kept.held, request_pages: kept.request_pages };
            (!written.contains(&(owner, version))).then_some(of_unit)
        });
        let pages = remains.dump_onto_flash(units.collect());
        let mut rows = BTreeSet::new();
        let is_row_of_pages = self.config.ssd().device.has_cells();
        let is_first = |op: &UnderWay| !is_row_of_pages || rows.insert(op.at.die);
        let under_way = ends().filter(is_first).map(|op| Work::part(&op, now)).collect();
        remains.work = Some(Work { under_way, pages, blocks: remains.reserved[Reserve::Dump].clone() });
    }

    /// This number of reads has ended without being simulated.
    pub(super) fn skipped(&mut self, reads: u64) {
        (self.next_program, self.ended) = (self.next_program + reads, self.ended + reads);
    }

    /// What programs that have not ended will write.
    pub(super) fn planned_spares(&self) -> BTreeMap<Ppn, Spare> {
        self.pending.values().flatten().copied().collect()
    }

    fn new_version(&mut self) -> u64 {
        self.version += 1;
        self.versions.set(self.version);
        self.version
    }

    /// A request writes units: their new versions.
    fn written(&mut self, request: RequestId, extent: Extent) -> BTreeMap<Lpn, u64> {
        let lpns = (extent.first.0..extent.first.0 + extent.pages).map(Lpn);
        let versions: BTreeMap<Lpn, u64> = lpns.map(|lpn| (lpn, self.new_version())).collect();
        for (&lpn, &version) in &versions {
            self.promises.written(request, lpn, version);
            self.note_change(request, lpn, version, false);
        }
        versions
    }

    /// Programs of the recovery log are planned.
    fn log_planned(&mut self, pages: &[LogPage], checkpoint_bytes: u128, firmware: &Firmware) {
        let has_checkpoints = self.config.ssd().recovery.checkpoint_interval_bytes.is_some();
        if has_checkpoints && matches!(pages[0].part, LogContent::Snapshot { at: 0, .. }) {
            let map = (0..self.geometry.logical_units).map(|lpn| firmware.ftl.lookup(Lpn(lpn)));
            let checkpoint = Checkpoint::new(&self.areas, map, &self.log.trims, self.next_program);
            let checkpoint = self.map.leave_to_flash(checkpoint, &self.areas, firmware);
            let has_room = checkpoint.least_bytes(self.geometry.blocks) <= checkpoint_bytes;
            assert!(
                has_room || self.bug != Bug::None,
                "a checkpoint has no room for what it holds; this is a fault of the simulator"
            );
            self.log.begins(checkpoint, self.bug);
        }
        for ((page, op), number) in pages.iter().zip(firmware.plan.ops()).zip(self.next_program..) {
            self.log.planned(page, op.ppn, number);
        }
    }

    /// Pages are backed up.
    fn backups_planned(&mut self, sources: &[Ppn], firmware: &Firmware) {
        for ((&source, op), number) in sources.iter().zip(firmware.plan.ops()).zip(self.next_program..) {
            let units = self.geometry.units_of(source);
            let content = match self.backups.pages.get(&source) {
                Some((_, content)) => content.clone(),
                None => units.filter_map(|ppn| self.content(ppn)).collect(),
            };
            self.backups.planned(number, source, op.ppn, content);
        }
    }

    /// What is at an address, or will be when the program that is planned has ended.
    fn content(&self, ppn: Ppn) -> Option<Spare> {
        let planned = || self.pending.values().flatten().find(|(at, _)| *at == ppn).map(|&(_, spare)| spare);
        self.areas.get(ppn).or_else(planned)
    }

    fn follow_programs(&mut self, ops: &[PlannedOp], fresh: &BTreeMap<Lpn, u64>, firmware: &Firmware) {
        let (mut map_programs, mut map_writes) = (0, firmware.plan.map_writes().iter());
        for ((at, op), program) in ops.iter().enumerate().zip(self.next_program..) {
            if op.kind == OpKind::Erase && self.bug == Bug::ErasedBeforeCopied {
                self.to_erase.insert(program, self.geometry.block_of(op.ppn));
            }
            if !matches!(op.kind, OpKind::Program | OpKind::Copy | OpKind::Copyback) {
                continue;
            }
            for ppn in self.geometry.units_of(op.ppn) {
                let Some(owner) = firmware.blocks.lpn_at(ppn) else { continue };
                let held = (op.kind == OpKind::Program).then(|| self.registers.get(op.source)).flatten();
                if let Some(held) = held {
                    self.map.programmed_from(held, op.ppn);
                    self.current.note(owner, held.version);
                    let spare = Spare { owner, version: held.version, program, is_torn: false };
                    self.pending.entry(program).or_default().push((ppn, spare));
                    continue;
                }
                let is_copy_of_map = op.cause == Cause::Map && op.kind == OpKind::Program;
                let begins = is_copy_of_map && map_programs % firmware.plan.map_copies.max(1) == 0;
                map_programs += u32::from(is_copy_of_map);
                if !is_copy_of_map {
                    self.map.copied(op.source, op.ppn, owner);
                } else if begins && let Some(write) = map_writes.next() {
                    self.map.written(write, &ops[at..at + firmware.plan.map_copies as usize]);
                }
                if is_copy_of_map && !begins && self.bug == Bug::OneCopyOnly {
                    continue;
                }
                let version = self.carried(op, owner, begins, fresh);
                self.current.note(owner, version);
                let spare = Spare { owner, version, program, is_torn: false };
                self.pending.entry(program).or_default().push((ppn, spare));
            }
        }
    }

    /// The version that an operation brings to an address: a new one, or that of its source. All copies of a page of the map that
    /// are written together have the version of the first, with which they begin.
    fn carried(&mut self, op: &PlannedOp, owner: Lpn, begins: bool, fresh: &BTreeMap<Lpn, u64>) -> u64 {
        let is_map = owner.0 >= self.geometry.logical_units;
        match fresh.get(&owner).filter(|_| op.cause == Cause::Host) {
            Some(&version) => version,
            None if begins => self.new_version(),
            None if is_map && op.kind == OpKind::Program => self.version,
            None => self.current.get(owner),
        }
    }
}

/// What a power cut has left, as the observer of the drive that comes back needs it.
pub(super) struct Restored<'a> {
    /// What the drive is for.
    pub use_after: Use,
    /// Content of the write buffer that is on flash.
    pub dumped: &'a [DumpedUnit],
    /// What comes back from backups.
    pub backed_up: &'a [BackedUp],
    /// What the recovery log says of trims.
    pub trims: BTreeMap<Lpn, u64>,
    /// By owner the address (+ 1; 0 for none) of its newest version, if the versions there are all that the observer needs.
    pub newest: Option<Vec<u32>>,
    /// What registers of dies have kept of the map, and the recovery programs.
    pub registers: Vec<InRegister>,
}

/// What a drive that comes back from a power cut is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It recovers, and what it holds then is looked at. It gets no request, and its power is not cut.
    LookedAt,
    /// It serves requests, or its power is cut again.
    GoesOn,
}

impl Restored<'_> {
    /// What the host may rely on from now on: that what has come back stays.
    fn promises(&self, remains: &Remains, firmware: &Firmware) -> Promises {
        let mut kept: BTreeMap<Lpn, u64> = self.backed_up.iter().map(|unit| (unit.owner, unit.version)).collect();
        kept.extend(self.dumped.iter().map(|unit| (unit.owner, unit.version)));
        let on_flash = |lpn| remains.version_at(firmware.ftl.lookup(lpn)?);
        let mut promises = remains.promises.clone();
        promises.cut(|lpn| kept.get(&lpn).copied().or_else(|| on_flash(lpn)));
        promises
    }
}

/// By owner, the version that a drive which comes back has.
fn current_versions(remains: &Remains, firmware: &Firmware) -> Vec<u64> {
    let mut current = Vec::new();
    for (_, spare) in remains.areas.all_readable() {
        note(&mut current, spare.owner, |at| at.max(spare.version));
    }
    for lpn in (0..remains.array.geometry().logical_units).map(Lpn) {
        // A recovery with a checkpoint does not look at what was void then, be it newer.
        let version = firmware.ftl.lookup(lpn).and_then(|ppn| remains.version_at(ppn));
        version.inspect(|&version| note(&mut current, lpn, |_| version));
    }
    for ppn in firmware.ftl.map_pages() {
        let kept = remains.areas.get(ppn);
        kept.inspect(|kept| note(&mut current, kept.owner, |_| kept.version));
    }
    current
}

/// Changes the entry of an owner.
fn note(current: &mut Vec<u64>, owner: Lpn, change: impl FnOnce(u64) -> u64) {
    if current.len() <= owner.idx() {
        current.resize(owner.idx() + 1, 0);
    }
    current[owner.idx()] = change(current[owner.idx()]);
}

impl Probe for Witness {
    type Recorder = Option<Box<Series>>;

    const CAN_BE_CUT: bool = true;

    fn planned(&mut self, purpose: Purpose, firmware: &Firmware) {
        let ops = firmware.plan.ops();
        let fresh = match purpose {
            Purpose::Write(request, extent) => self.written(request, extent),
            Purpose::Destage(entries) => entries.iter().filter_map(|entry| self.entries.get(entry).copied()).collect(),
            Purpose::Trim(request, extent) => {
                for lpn in (0..extent.pages).filter(|&i| !extent.is_partial(i)).map(|i| Lpn(extent.first.0 + i)) {
                    self.promises.trimmed(request, lpn, self.version);
                    self.note_change(request, lpn, self.version, true);
                    self.log.trimmed(lpn, self.version);
                }
                BTreeMap::new()
            }
            Purpose::Log(pages, checkpoint_bytes) => {
                self.log_planned(pages, checkpoint_bytes, firmware);
                BTreeMap::new()
            }
            Purpose::Backup(sources) => {
                self.backups_planned(sources, firmware);
                BTreeMap::new()
            }
            Purpose::Journal(records) => {
                if let (Some(journal), [program]) = (&mut self.journal, ops) {
                    journal.planned(records, program.ppn, self.next_program);
                }
                BTreeMap::new()
            }
            Purpose::Restore(owner, version) => BTreeMap::from([(owner, version)]),
            Purpose::Read(_) | Purpose::Background => BTreeMap::new(),
        };
        self.follow_programs(ops, &fresh, firmware);
        self.next_program += ops.len() as u64;
    }

    fn op_ended(&mut self, record: &OpRecord) {
        let op = record.op;
        self.ended += 1;
        match op.kind {
            OpKind::Erase => {
                self.to_erase.remove(&op.seq);
                self.log.erased(op.at.block, &self.geometry);
                self.map.erased(op.at.block, &self.geometry);
                self.backups.erased(op.at.block, &self.geometry);
                if let Some(journal) = &mut self.journal {
                    journal.erased(op.at.block, &self.geometry);
                }
                self.areas.erase(op.at.block, &self.geometry);
            }
            OpKind::Program | OpKind::Copyback => {
                self.log.program_ended(op.seq);
                self.backups.program_ended(op.seq, self.bug);
                if let Some(journal) = &mut self.journal {
                    journal.program_ended(op.seq);
                }
                if let Some(lower) = op.at.lower().filter(|_| self.bug == Bug::BackupLate) {
                    self.backups.upper_ended(self.geometry.ppn_at(lower));
                }
                for (ppn, mut spare) in self.pending.remove(&op.seq).unwrap_or_default() {
                    if spare.owner.0 >= self.geometry.logical_units {
                        self.registers.program_ended(op.at.die);
                    }
                    if self.bug == Bug::VersionOfCopy && op.cause != Cause::Host {
                        spare.version = self.new_version();
                    }
                    self.areas.program(ppn, spare);
                }
            }
            OpKind::Read | OpKind::SpareRead | OpKind::Copy => {}
        }
    }

    fn buffer(&mut self, _now: Nanos, event: &BufferEvent) {
        match event {
            BufferEvent::Write(request, entry, lpn, _) => {
                let version = self.new_version();
                self.entries.insert(*entry, (*lpn, version));
                self.promises.written(*request, *lpn, version);
                self.note_change(*request, *lpn, version, false);
                if let Some(journal) = &mut self.journal {
                    journal.written(version);
                }
            }
            BufferEvent::Programmed(entry) => {
                self.entries.remove(entry);
            }
            BufferEvent::Read(..) | BufferEvent::Trim(_) => {}
        }
    }

    fn taken_back(&mut self, entry: EntryId, lpn: Lpn, version: u64) {
        self.entries.insert(entry, (lpn, version));
    }

    fn request_ended(&mut self, record: &RequestRecord) {
        match record.kind {
            RequestKind::Write => self.promises.write_ended(record.id, record.fua, self.version, record.end_ns),
            RequestKind::Flush => self.promises.flushed(record.admitted_ns),
            RequestKind::Trim => self.promises.trim_ended(record.id, record.end_ns),
            RequestKind::Read => {}
        }
    }
}
