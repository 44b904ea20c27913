//! The shadow check (law 4, `--check`): a second account of the content of every page. It follows the operations, not
//! the drive's tables, and is compared with the tables throughout the run.
//!
//! Every logical unit has a *version*, which each write and each trim of the host raises. Programs carry units and
//! versions to addresses; a program without a write of the host carries the data that its plan has read. The shadow
//! thus knows the version at each address, and checks that
//!
//! - a read finds, when it ends, the version that was current when it was planned: read your writes;
//! - a read of a part of a page moves at least a sector of each unit that the host reads, and each unit that is copied;
//! - a copy is made of the valid data, of which there is one address for each logical unit, and goes where the map says;
//! - a write of a part of a unit reads the rest first, and a read from the write buffer finds what was written last;
//! - no erase destroys a version that the map points to, or the newest one that is on flash while its successor is not;
//! - an entry leaves the write buffer only when what it holds is on flash;
//! - at the end the map equals the shadow, and every address that is valid holds the host's last version.
//!
//! A breach stops the program, as a breach of the NAND rules does: it is a fault of the simulator, never of its input.
//! Translation pages, whose owners lie beyond the last logical unit, are not checked.

use std::collections::BTreeMap;

use crate::cache::write_buffer::Bytes;
use crate::firmware::Firmware;
use crate::ftl::PlannedOp;
use crate::nand::{Array, Geometry};
use crate::observe::probe::{BufferEvent, OpFacts, OpRecord, Probe, Purpose};
use crate::operation::{Cause, OpKind};
use flashwatt_base::units::{BlockId, EntryId, Lpn, Nanos, Ppn, SECTOR_BYTES};
use flashwatt_core::connector::Extent;
use flashwatt_core::energy::Series;

/// The shadow of a drive.
pub struct Shadow {
    geometry: Geometry,
    units: Vec<CheckedUnit>,
    /// Content of each physical address.
    flash: Vec<Option<Version>>,
    /// Operations that have not ended, by plan number.
    pending: BTreeMap<u64, Pending>,
    next_seq: u64,
    entries: BTreeMap<EntryId, ShadowEntry>,
    /// The newest entry of each unit in the write buffer.
    newest: BTreeMap<Lpn, EntryId>,
}

/// A logical unit.
#[derive(Clone, Copy, Debug, Default)]
struct CheckedUnit {
    /// How often the host has written or trimmed it.
    version: u32,
    /// The version at the last trim: older versions have no meaning any more.
    trimmed: u32,
    /// Whether the unit holds data.
    written: bool,
    /// The address that the map points to, and the version there once everything planned is done.
    mapped: Option<(Ppn, u32)>,
    /// The address of the newest version on flash.
    durable: Option<Ppn>,
}

/// A version of a logical unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Version {
    lpn: Lpn,
    version: u32,
}

/// The version that an operation must find, and the one it leaves.
#[derive(Clone, Debug, Default)]
struct Pending {
    reads: Vec<(Ppn, Version)>,
    writes: Vec<(Ppn, Version)>,
}

/// An entry of the write buffer.
#[derive(Clone, Debug)]
struct ShadowEntry {
    data: Version,
    under_way: bool,
    /// By sector: whether the entry holds it.
    held: Vec<bool>,
}

/// The content of a plan from the host: versions, and whether each covers the whole unit.
type HostData = BTreeMap<Lpn, (u32, bool)>;

impl Shadow {
    /// Bytes of memory that the shadow of a drive takes.
    pub fn memory_bytes(geometry: &Geometry) -> u64 {
        let flash = u64::from(geometry.physical_units()) * size_of::<Option<Version>>() as u64;
        flash + u64::from(geometry.logical_units) * size_of::<CheckedUnit>() as u64
    }

    /// The shadow of a drive in its start state.
    pub fn new(geometry: &Geometry, firmware: &Firmware) -> Self {
        let mut flash = vec![None; geometry.physical_units() as usize];
        let units = (0..geometry.logical_units).map(Lpn).map(|lpn| {
            let place = firmware.ftl.lookup(lpn);
            if let Some(ppn) = place {
                let there = flash[ppn.idx()].replace(Version { lpn, version: 0 });
                require(there.is_none(), || format!("two logical units start at address {ppn}"));
            }
            CheckedUnit {
                written: place.is_some(),
                mapped: place.map(|ppn| (ppn, 0)),
                durable: place,
                ..CheckedUnit::default()
            }
        });
        Shadow {
            units: units.collect(),
            flash,
            pending: BTreeMap::new(),
            next_seq: firmware.plan.next().0,
            entries: BTreeMap::new(),
            newest: BTreeMap::new(),
            geometry: geometry.clone(),
        }
    }

    fn page(&self, ppn: Ppn) -> u32 {
        self.geometry.page_of(ppn)
    }

    // ---------------------------------------------------------------- plans

    /// The host writes: new versions of the units.
    fn written(&mut self, extent: Extent) -> HostData {
        (0..extent.pages)
            .map(|i| {
                let lpn = Lpn(extent.first.0 + i);
                (lpn, (self.new_version(lpn), !extent.is_partial(i)))
            })
            .collect()
    }

    fn new_version(&mut self, lpn: Lpn) -> u32 {
        let unit = &mut self.units[lpn.idx()];
        (unit.version, unit.written) = (unit.version + 1, true);
        unit.version
    }

    fn trimmed(&mut self, extent: Extent) {
        for i in (0..extent.pages).filter(|&i| !extent.is_partial(i)) {
            let unit = &mut self.units[extent.first.idx() + i as usize];
            let version = unit.version + 1;
            *unit = CheckedUnit { version, trimmed: version, ..CheckedUnit::default() };
        }
    }

    /// Entries leave the write buffer.
    fn destaged(&mut self, ids: &[EntryId]) -> HostData {
        let mut fresh = HostData::new();
        for id in ids {
            let Some(entry) = self.entries.get_mut(id) else { breach(&format!("entry {id} is not there")) };
            require(!std::mem::replace(&mut entry.under_way, true), || format!("entry {id} leaves twice"));
            let there = fresh.insert(entry.data.lpn, (entry.data.version, entry.is_complete()));
            require(there.is_none(), || format!("unit {} leaves twice at once", entry.data.lpn));
        }
        fresh
    }

    /// A plan of reads: it must read each page that holds one of the units.
    fn expect_reads(&mut self, runs: &[Extent], ops: &[PlannedOp]) {
        let lpns = runs.iter().flat_map(|run| run.first.0..run.first.0 + run.pages).map(Lpn);
        let mut from = 0; // a page is read again where another one lies between two of its units
        for lpn in lpns {
            let unit = self.units[lpn.idx()];
            let in_buffer = self.newest.get(&lpn).map(|id| &self.entries[id]);
            require(in_buffer.is_none_or(|entry| !entry.is_complete()), || format!("unit {lpn} is in the buffer"));
            let Some((ppn, version)) = unit.mapped else {
                require(!unit.written || in_buffer.is_some(), || format!("unit {lpn} is lost"));
                from += usize::from(ops.get(from + 1).is_some_and(|op| op.is_blank)); // what was never written is read as well
                continue;
            };
            require(version == unit.version || in_buffer.is_some(), || {
                format!("a stale version of unit {lpn} is read")
            });
            let reads = |&at: &usize| ops[at].kind == OpKind::Read && self.page(ops[at].ppn) == self.page(ppn);
            let Some(at) = (from..ops.len()).chain(0..from).find(reads) else {
                breach(&format!("no operation reads unit {lpn} at address {ppn}"));
            };
            from = at;
            self.expect(at, ppn, Version { lpn, version });
        }
    }

    /// Notes the version that the `at`-th operation of the present plan must find.
    fn expect(&mut self, at: usize, ppn: Ppn, data: Version) {
        self.pending.entry(self.next_seq + at as u64).or_default().reads.push((ppn, data));
    }

    /// The programs of a plan: the versions that they carry, and the addresses that the map points to afterwards.
    fn follow_programs(&mut self, ops: &[PlannedOp], fresh: &HostData, firmware: &Firmware) {
        for at in 0..ops.len() {
            let op = &ops[at];
            if op.cause == Cause::Map || !matches!(op.kind, OpKind::Program | OpKind::Copy | OpKind::Copyback) {
                continue;
            }
            for ppn in self.geometry.units_of(op.ppn) {
                if let Some(lpn) = firmware.blocks.lpn_at(ppn).filter(|lpn| lpn.idx() < self.units.len()) {
                    let new = fresh.get(&lpn).filter(|_| op.cause == Cause::Host);
                    self.follow_unit(ops, at, lpn, ppn, new.copied());
                }
            }
        }
        self.check_map(ops, firmware);
    }

    /// The `at`-th operation brings a unit to an address: a new version, or the one that its plan has read.
    fn follow_unit(&mut self, ops: &[PlannedOp], at: usize, lpn: Lpn, ppn: Ppn, new: Option<(u32, bool)>) {
        let old = self.units[lpn.idx()].mapped;
        let needs_old = new.is_none_or(|(_, complete)| !complete);
        if let Some((place, version)) = old.filter(|_| needs_old) {
            let Some(read) = self.source(ops, at, place) else {
                breach(&format!(
                    "operation {} takes unit {lpn} from elsewhere than {place}",
                    self.next_seq + at as u64
                ));
            };
            self.expect(read, place, Version { lpn, version });
        }
        let version = match (new, old) {
            (Some((version, _)), _) | (None, Some((_, version))) => version,
            (None, None) => breach(&format!("a copy of unit {lpn}, which holds nothing")),
        };
        self.units[lpn.idx()].mapped = Some((ppn, version));
        let op = self.pending.entry(self.next_seq + at as u64).or_default();
        op.writes.push((ppn, Version { lpn, version }));
    }

    /// The operation that supplies the `at`-th one with the data of this address: itself, or one that it waits for.
    fn source(&self, ops: &[PlannedOp], at: usize, place: Ppn) -> Option<usize> {
        let op = &ops[at];
        match op.kind {
            OpKind::Copy | OpKind::Copyback => (self.page(op.source) == self.page(place)).then_some(at),
            OpKind::Read if self.page(op.ppn) == self.page(place) => Some(at),
            _ => self.source(ops, op.after?.0 as usize, place),
        }
    }

    /// Compares the changes of a plan: the map must agree, and exactly these addresses must be valid.
    fn check_map(&self, ops: &[PlannedOp], firmware: &Firmware) {
        for seq in self.next_seq..self.next_seq + ops.len() as u64 {
            let writes = self.pending.get(&seq).map_or(&[][..], |op| &op.writes);
            for &(ppn, Version { lpn, .. }) in writes {
                let mapped = self.units[lpn.idx()].mapped.map(|(place, _)| place);
                require(firmware.ftl.lookup(lpn) == mapped, || {
                    format!("the map has unit {lpn} elsewhere than {mapped:?}")
                });
                require(firmware.blocks.is_valid(ppn) == (mapped == Some(ppn)), || format!("is address {ppn} valid?"));
            }
        }
    }

    // ---------------------------------------------------------------- operations

    fn read_ended(&self, op: &OpFacts, expected: &[(Ppn, Version)]) {
        let at = if op.kind == OpKind::Copyback { op.other } else { op.at };
        let unit_bytes = if op.cause == Cause::Host { SECTOR_BYTES } else { u64::from(self.geometry.unit_bytes) };
        let moves_enough = op.part_bytes().is_none_or(|bytes| bytes >= expected.len() as u64 * unit_bytes);
        require(moves_enough, || format!("operation {} moves a part of what its plan needs of the page", op.seq));
        for &(ppn, data) in expected {
            require(self.geometry.place(ppn) == at, || format!("operation {} reads another page than planned", op.seq));
            let found = self.flash[ppn.idx()];
            require(found == Some(data), || format!("operation {} reads {found:?} at {ppn}, not {data:?}", op.seq));
        }
    }

    fn program_ended(&mut self, writes: &[(Ppn, Version)]) {
        for &(ppn, data) in writes {
            self.flash[ppn.idx()] = Some(data);
            let unit = self.units[data.lpn.idx()];
            let newest = unit.durable.and_then(|ppn| self.flash[ppn.idx()]).map(|data| data.version);
            if data.version >= unit.trimmed && newest.is_none_or(|newest| newest <= data.version) {
                self.units[data.lpn.idx()].durable = Some(ppn);
            }
        }
    }

    fn erase_ended(&mut self, block: BlockId) {
        let first = self.geometry.first_ppn(block).0;
        for ppn in (first..first + self.geometry.units_per_block).map(Ppn) {
            let Some(Version { lpn, .. }) = self.flash[ppn.idx()].take() else { continue };
            let unit = &self.units[lpn.idx()];
            let is_current = unit.mapped.is_some_and(|(place, _)| place == ppn);
            require(!is_current, || format!("an erase destroys unit {lpn} at {ppn}"));
            require(unit.durable != Some(ppn), || format!("an erase destroys all that is on flash of unit {lpn}"));
        }
    }

    // ---------------------------------------------------------------- the write buffer

    fn buffer_write(&mut self, id: EntryId, lpn: Lpn, bytes: &Bytes) {
        let data = Version { lpn, version: self.new_version(lpn) };
        let older = self.newest.insert(lpn, id);
        if let Some(entry) = self.entries.get_mut(&id) {
            let merges = older == Some(id) && entry.data.lpn == lpn && !entry.under_way;
            require(merges, || format!("a write of unit {lpn} into entry {id}, which is taken"));
            entry.data = data;
            entry.hold(bytes);
            return;
        }
        let older = older.map(|older| &self.entries[&older]);
        require(older.is_none_or(|older| older.under_way), || format!("unit {lpn} has two entries"));
        let sectors = (u64::from(self.geometry.unit_bytes) / SECTOR_BYTES) as usize;
        let held = older.map_or_else(|| vec![false; sectors], |older| older.held.clone());
        let mut entry = ShadowEntry { data, under_way: false, held };
        entry.hold(bytes);
        self.entries.insert(id, entry);
    }

    fn buffer_read(&self, id: EntryId, lpn: Lpn, bytes: &Bytes) {
        let Some(entry) = self.entries.get(&id) else { breach(&format!("a read from entry {id}, which is not there")) };
        let version = self.units[lpn.idx()].version;
        require(entry.data == Version { lpn, version }, || format!("a read of unit {lpn} finds {:?}", entry.data));
        require(entry.holds(bytes), || format!("entry {id} does not hold bytes {bytes:?} of unit {lpn}"));
    }

    fn buffer_trim(&mut self, lpn: Lpn) {
        if let Some(id) = self.newest.remove(&lpn)
            && !self.entries[&id].under_way
        {
            self.entries.remove(&id);
        }
    }

    fn buffer_programmed(&mut self, id: EntryId) {
        let Some(entry) = self.entries.remove(&id) else { breach(&format!("entry {id} is gone twice")) };
        let Version { lpn, version } = entry.data;
        let unit = &self.units[lpn.idx()];
        let on_flash = unit.durable.and_then(|ppn| self.flash[ppn.idx()]).map(|data| data.version);
        let is_safe = entry.under_way && (version < unit.trimmed || on_flash.is_some_and(|found| found >= version));
        require(is_safe, || format!("entry {id} is gone, and unit {lpn} is not on flash"));
        if self.newest.get(&lpn) == Some(&id) {
            self.newest.remove(&lpn);
        }
    }

    // ---------------------------------------------------------------- the end

    fn check_unit(&self, lpn: Lpn, firmware: &Firmware, array: &Array) {
        let unit = &self.units[lpn.idx()];
        let place = unit.mapped.map(|(ppn, _)| ppn);
        require(firmware.ftl.lookup(lpn) == place, || {
            format!("in the end the map has unit {lpn} elsewhere than {place:?}")
        });
        require(unit.written == place.is_some(), || format!("in the end unit {lpn} is lost, or there after a trim"));
        if let Some(ppn) = place {
            let data = Version { lpn, version: unit.version };
            let is_there = self.flash[ppn.idx()] == Some(data) && array.is_programmed(self.geometry.place(ppn));
            require(is_there && firmware.blocks.is_valid(ppn), || format!("in the end {data:?} is not at {ppn}"));
        }
    }
}

impl ShadowEntry {
    fn sectors(bytes: &Bytes) -> std::ops::Range<usize> {
        (u64::from(bytes.start) / SECTOR_BYTES) as usize..u64::from(bytes.end).div_ceil(SECTOR_BYTES) as usize
    }

    fn hold(&mut self, bytes: &Bytes) {
        self.held[Self::sectors(bytes)].fill(true);
    }

    fn holds(&self, bytes: &Bytes) -> bool {
        self.held[Self::sectors(bytes)].iter().all(|&held| held)
    }

    fn is_complete(&self) -> bool {
        self.held.iter().all(|&held| held)
    }
}

impl Probe for Shadow {
    type Recorder = Option<Box<Series>>;

    fn planned(&mut self, purpose: Purpose, firmware: &Firmware) {
        let ops = firmware.plan.ops();
        let fresh = match purpose {
            Purpose::Write(_, extent) => self.written(extent),
            Purpose::Destage(entries) => self.destaged(entries),
            Purpose::Read(_)
            | Purpose::Trim(..)
            | Purpose::Log(..)
            | Purpose::Backup(_)
            | Purpose::Restore(..)
            | Purpose::Journal(_)
            | Purpose::Background => HostData::new(),
        };
        match purpose {
            Purpose::Read(runs) => self.expect_reads(runs, ops),
            Purpose::Trim(_, extent) => self.trimmed(extent),
            Purpose::Write(..)
            | Purpose::Destage(_)
            | Purpose::Log(..)
            | Purpose::Backup(_)
            | Purpose::Restore(..)
            | Purpose::Journal(_)
            | Purpose::Background => {}
        }
        self.follow_programs(ops, &fresh, firmware);
        self.next_seq += ops.len() as u64;
        for (lpn, (version, _)) in fresh {
            let mapped = self.units[lpn.idx()].mapped.map(|(_, version)| version);
            require(mapped == Some(version), || format!("no operation programs the data written to unit {lpn}"));
        }
    }

    fn op_ended(&mut self, record: &OpRecord) {
        let op = record.op;
        if op.kind == OpKind::Erase {
            return self.erase_ended(op.at.block);
        }
        let Some(pending) = self.pending.remove(&op.seq) else { return };
        if op.kind != OpKind::Program {
            self.read_ended(&op, &pending.reads);
        }
        if op.turns_into_program() {
            self.pending.insert(op.seq, Pending { reads: Vec::new(), ..pending });
            return;
        }
        let is_there = pending.writes.iter().all(|&(ppn, _)| self.geometry.place(ppn) == op.at);
        require(is_there, || format!("operation {} programs another page than was planned", op.seq));
        self.program_ended(&pending.writes);
    }

    fn read_from_memory(&mut self, _now: Nanos, op: &OpFacts, _dram_bytes: u64) {
        let Some(pending) = self.pending.remove(&op.seq) else { return };
        for read in &pending.reads {
            let is_on_its_way = self.pending.values().any(|other| other.writes.contains(read));
            require(is_on_its_way, || format!("operation {} is served with what no row has", op.seq));
        }
    }

    fn buffer(&mut self, _now: Nanos, event: &BufferEvent) {
        match event {
            BufferEvent::Write(_, id, lpn, bytes) => self.buffer_write(*id, *lpn, bytes),
            BufferEvent::Read(id, lpn, bytes) => self.buffer_read(*id, *lpn, bytes),
            BufferEvent::Trim(lpn) => self.buffer_trim(*lpn),
            BufferEvent::Programmed(id) => self.buffer_programmed(*id),
        }
    }

    fn at_rest(&mut self, firmware: &Firmware, array: &Array) {
        require(self.pending.is_empty(), || format!("in the end {} operations have not ended", self.pending.len()));
        require(self.entries.is_empty(), || format!("in the end {} entries are in the buffer", self.entries.len()));
        (0..self.geometry.logical_units).for_each(|lpn| self.check_unit(Lpn(lpn), firmware, array));
        let valid = (0..self.geometry.physical_units()).filter(|&ppn| firmware.blocks.is_valid(Ppn(ppn))).count();
        let mapped = self.units.iter().filter(|unit| unit.mapped.is_some()).count();
        let of_map = firmware.ftl.map_pages().len();
        require(valid == mapped + of_map, || {
            format!("in the end {valid} addresses are valid for {mapped} units and {of_map} pages of the map")
        });
    }
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) {
    if !holds {
        breach(&otherwise());
    }
}

#[cold]
#[inline(never)]
fn breach(what: &str) -> ! {
    panic!("the shadow check stops the run: {what}; this is a fault of the simulator")
}
