//! What a power cut leaves of a drive, and the drive that comes back from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backups::BackupPages;
use super::bugs::Bug;
use super::dump::{Dump, Work};
use super::log::LoggedPages;
use super::promises::{Fate, Promises};
use super::witness::{Restored, Use, Witness};
use crate::cache::write_buffer;
use crate::config::Config;
use crate::device::backups::BackedUp;
use crate::device::checkpoint::{Filling, Reads};
use crate::device::dump::DumpedUnit;
use crate::device::journal::{self, JournalPages};
use crate::device::map_pages::MapContents;
use crate::device::recovery_log::{LogAreas, LogFound};
use crate::device::settings::ProgramOrder;
use crate::device::spare::{Flash, Found, Spare, SpareAreas};
use crate::device::{Array, FlashAddress, Reserve, ReservedBlocks, dump};
use crate::error::Error;
use crate::firmware::Firmware;
use crate::ftl::PlanNumber;
use crate::ssd::{Afterwards, Ssd};
use crate::units::{BlockId, Lpn, Ppn};

/// What is on flash after a power cut, and what the host was promised. All memory is gone.
#[derive(Clone)]
pub struct Remains {
    /// The configuration of the drive.
    pub(super) config: Arc<Config>,
    pub(super) array: Array,
    pub(super) areas: SpareAreas,
    /// Pages whose program was cut.
    pub torn: Vec<FlashAddress>,
    /// Blocks whose erase was cut.
    pub half_erased: Vec<BlockId>,
    /// Pages that were whole, and which torn pages of the same cells have spoilt.
    pub spoilt: Vec<FlashAddress>,
    /// Units that are lost by that: what can still be read of them is older than what was durable.
    pub spoilt_units: BTreeSet<Lpn>,
    /// Blocks that the drive keeps for itself.
    pub(super) reserved: ReservedBlocks,
    /// The pages of the journal that can be read.
    pub(super) journaled: JournalPages,
    /// The backups that can be read.
    pub(super) backups: BackupPages,
    /// The pages of the recovery log that can be read.
    pub(super) logged: LoggedPages,
    /// What the pages of a map on flash say, if the drive keeps them.
    pub(super) map: MapContents,
    /// Content of the write buffer that capacitors brought to flash.
    pub(super) dumped: Vec<DumpedUnit>,
    /// What they did for that, and how; none if the drive has no capacitors, or they were not charged.
    pub(super) work: Option<Work>,
    pub(super) promises: Promises,
    pub(super) next_program: u64,
    pub(super) version: u64,
    pub(super) bug: Bug,
}

/// What a drive holds after it has come back: numbers of logical units by their fates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Units with their last version.
    pub kept: u32,
    /// Units with an older version, or nothing, of which nothing newer was durable.
    pub rolled_back: u32,
    /// Units of which a durable version is lost in another way, or which hold another unit's data.
    pub lost: u32,
    /// Units of which a durable version is lost with pages that torn pages of the same cells have spoilt.
    pub lost_by_pairs: u32,
}

/// What a drive that came back holds of a logical unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing.
    Nothing,
    /// This version of its data.
    Version(u64),
    /// A torn page, or another unit's data.
    NotItsOwn,
}

impl Remains {
    /// The drive when the power is back, with tables rebuilt from the spare areas; its recovery begins with its first event.
    pub(super) fn power_on(&self, use_after: Use) -> Ssd<Witness> {
        let ssd = self.config.ssd();
        let mut firmware = Firmware::new(&ssd.ftl, &ssd.ftl_setup(), self.config.run.seed, self.array.geometry());
        firmware.reserved = self.reserved.clone();
        let (seen, log) = (self.bug.seen(&self.areas), self.log());
        let trims = if self.bug == Bug::TrimForgotten { BTreeMap::new() } else { log.trims.clone() };
        let kept_blocks = self.reserved.all();
        let (array, half_erased) = (&self.array, &self.half_erased[..]);
        let (checkpoint, map) = log.checkpoint.as_ref().map(|found| found.read_map(&seen, &self.map)).unzip();
        let map = map.flatten();
        let wrong = map.as_ref().map_or(0, |map| map.wrong);
        assert!(
            wrong == 0 || self.bug != Bug::None,
            "entries of the map name other units; this is a fault of the simulator"
        );
        let flash = Flash {
            array,
            areas: &seen,
            half_erased,
            kept_blocks: &kept_blocks,
            trims: &trims,
            checkpoint: checkpoint.as_ref(),
            map: map.as_ref(),
        };
        let mut found = Found::scan(flash, firmware.ftl.ties());
        let is_filled_from_the_front =
            ssd.device.nand.program_order == ProgramOrder::Ascending && !firmware.ftl.merges();
        let filling = if is_filled_from_the_front { Filling::FromTheFront } else { Filling::Anywhere };
        let reads = flash.checkpoint.map(|checkpoint| checkpoint.reads(flash, filling, |block| self.step_of(block)));
        let reads_of_map = map.as_ref().map(|map| map.reads.clone()).unwrap_or_default();
        let reads = reads.map(|reads| Reads { map: reads_of_map, ..reads });
        let backups = self.newest_backups();
        let dumped = [self.newer_than(&found, &trims), self.journal_newer_than(&found, &trims, &backups)].concat();
        let backed_up = self.backed_up(&found, &trims, backups, &dumped);
        let mut array = self.array.clone();
        let firmware = firmware.rebuilt(&found, &mut array, PlanNumber(self.next_program));
        let is_plain = self.bug == Bug::None && trims.is_empty() && checkpoint.is_none();
        let newest = (is_plain && use_after == Use::LookedAt).then(|| found.take_newest());
        let (dumped_units, backups) = (&dumped[..], &backed_up[..]);
        let restored =
            Restored { use_after, dumped: dumped_units, backed_up: backups, trims: log.trims.clone(), newest };
        let witness = Witness::resumed(self, &firmware, restored);
        let mut drive = Ssd::new(ssd, firmware, array, None, witness);
        let journaled = self.journaled.keys().copied().collect();
        drive.begin_recovery(Afterwards { unreadable: found.unreadable, dumped, journaled, backed_up, log, reads });
        drive
    }

    /// Of a block that is kept for pages which are programmed one after another: the distance of two of them.
    fn step_of(&self, block: BlockId) -> Option<usize> {
        let is_paired = self.config.ssd().device.nand.paired_pages.is_some();
        match block {
            _ if self.reserved[Reserve::Backup].contains(&block) => Some(2),
            _ if self.reserved[Reserve::Journal].contains(&block) => Some(if is_paired { 2 } else { 1 }),
            _ => None,
        }
    }

    /// What is left of the recovery log.
    fn log(&self) -> LogFound {
        let is_paired = self.config.ssd().device.nand.paired_pages.is_some();
        let areas = LogAreas::new(&self.reserved[Reserve::Log], self.array.geometry(), is_paired);
        areas.find(&self.logged, &self.array, &self.half_erased)
    }

    /// The content of the write buffer that is newer than what a scan found elsewhere.
    fn newer_than(&self, found: &Found, trims: &BTreeMap<Lpn, u64>) -> Vec<DumpedUnit> {
        if self.bug == Bug::DumpForgotten {
            return Vec::new();
        }
        let is_newer =
            |unit: &&DumpedUnit| of_flash(found, trims, unit.owner).is_none_or(|version| version < unit.version);
        self.dumped.iter().filter(is_newer).copied().collect()
    }

    /// What the journal of the write buffer holds, and is newer than what a scan found elsewhere, and than backups.
    fn journal_newer_than(
        &self,
        found: &Found,
        trims: &BTreeMap<Lpn, u64>,
        backups: &BTreeMap<Lpn, BackedUp>,
    ) -> Vec<DumpedUnit> {
        let elsewhere = |owner| of_flash(found, trims, owner).max(backups.get(&owner).map(|unit| unit.version));
        match self.bug {
            Bug::JournalForgotten => Vec::new(),
            Bug::JournalOlder => journal::newer_than(&journal::oldest(&self.journaled), elsewhere),
            _ => journal::newer_than(&self.journaled, elsewhere),
        }
    }

    /// The newest backup of each unit. Of two with the same version the older one counts: a recovery that was cut had copied it.
    fn newest_backups(&self) -> BTreeMap<Lpn, BackedUp> {
        let mut newest: BTreeMap<Lpn, BackedUp> = BTreeMap::new();
        if self.bug == Bug::BackupForgotten {
            return newest;
        }
        let logical_units = self.array.geometry().logical_units;
        let mut backups: Vec<_> = self.backups.iter().collect();
        backups.sort_by_key(|(_, (number, _))| *number);
        for (&page, (_, content)) in backups {
            for &Spare { owner, version, .. } in content.iter().filter(|spare| spare.owner.0 < logical_units) {
                if newest.get(&owner).is_none_or(|other| other.version < version) {
                    newest.insert(owner, BackedUp { page, owner, version });
                }
            }
        }
        newest
    }

    /// What backups hold that is newer than what a scan found elsewhere, and than whole units that come back into the write buffer. Of a
    /// unit of which a part comes back there, the backup may hold the rest.
    fn backed_up(
        &self,
        found: &Found,
        trims: &BTreeMap<Lpn, u64>,
        backups: BTreeMap<Lpn, BackedUp>,
        dumped: &[DumpedUnit],
    ) -> Vec<BackedUp> {
        let unit_bytes = self.array.geometry().unit_bytes;
        let whole = dumped.iter().filter(|unit| write_buffer::is_whole(unit.held, unit_bytes));
        let of_dump: BTreeMap<Lpn, u64> = whole.map(|unit| (unit.owner, unit.version)).collect();
        let elsewhere = |owner| of_flash(found, trims, owner).max(of_dump.get(&owner).copied());
        let is_newer = |unit: &BackedUp| elsewhere(unit.owner).is_none_or(|version| version < unit.version);
        backups.into_values().filter(is_newer).collect()
    }

    /// What capacitors did at the cut; none if the drive has none, or they were not charged.
    ///
    /// # Errors
    /// If the simulated time comes to its end.
    pub fn dump(&self) -> Result<Option<Dump>, Error> {
        let capacitors = self.config.ssd().write_buffer.capacitors;
        let of = |(work, capacitors): (&Work, _)| work.cost(&self.config, &capacitors);
        self.work.as_ref().zip(capacitors).map(of).transpose()
    }

    /// Torn upper pages spoil the lower pages of the same cells. What is lost by that follows from the promises and from what can
    /// be read afterwards, without a recovery.
    pub(super) fn spoil_pairs(&mut self) {
        let mut owners = BTreeSet::new();
        for at in self.torn.iter().filter_map(|at| at.lower()) {
            let geometry = self.array.geometry();
            let units = geometry.units_of(geometry.ppn_at(at));
            let whole: Vec<(Ppn, Spare)> = units.filter_map(|ppn| Some((ppn, self.areas.readable(ppn)?))).collect();
            if !whole.is_empty() {
                self.spoilt.push(at);
            }
            for (ppn, spare) in whole {
                self.areas.program(ppn, Spare { is_torn: true, ..spare });
                owners.insert(spare.owner);
            }
        }
        owners.retain(|owner| owner.0 < self.array.geometry().logical_units);
        self.spoilt_units = self.lost_of(owners);
    }

    /// Of these units those of which nothing can be read that is new enough.
    fn lost_of(&self, mut owners: BTreeSet<Lpn>) -> BTreeSet<Lpn> {
        let mut newest: BTreeMap<Lpn, u64> = BTreeMap::new();
        let dumped = self.dumped.iter().map(|unit| (unit.owner, unit.version));
        let backed_up =
            self.backups.values().flat_map(|(_, content)| content).map(|spare| (spare.owner, spare.version));
        let journaled = self.journaled.values().flat_map(|page| page.iter().map(|one| (one.record.owner, one.version)));
        let LogFound { trims, checkpoint, .. } = self.log();
        let counts = |&(owner, version): &(Lpn, u64)| {
            owners.contains(&owner) && trims.get(&owner).is_none_or(|&trimmed| trimmed < version)
        };
        let is_shown = |(ppn, spare): &(Ppn, Spare)| checkpoint.as_ref().is_none_or(|known| known.shows(*ppn, spare));
        let shown = self.areas.all_readable().filter(is_shown).map(|(_, spare)| (spare.owner, spare.version));
        for (owner, version) in shown.chain(dumped).chain(backed_up).chain(journaled).filter(counts) {
            let last = newest.entry(owner).or_default();
            *last = version.max(*last);
        }
        owners.retain(|owner| self.promises.fate(*owner, newest.get(owner).copied()) == Fate::Lost);
        owners
    }

    /// Puts content of the write buffer onto the blocks kept for it. Returns the number of pages that it takes.
    pub(super) fn dump_onto_flash(&mut self, mut units: Vec<DumpedUnit>) -> u32 {
        let geometry = self.array.geometry().clone();
        let mut used: BTreeMap<BlockId, u32> = BTreeMap::new();
        let in_page = units.chunks_mut(geometry.units_per_page as usize);
        for (of_page, page) in in_page.zip(dump::pages(&self.reserved[Reserve::Dump], &geometry)) {
            *used.entry(geometry.block_of(page)).or_default() += 1;
            of_page.iter_mut().zip(page.0..).for_each(|(unit, ppn)| unit.ppn = Ppn(ppn));
        }
        used.iter().for_each(|(&block, &pages)| self.array.lay_down(block, pages));
        self.dumped = units;
        used.values().sum()
    }

    /// Forgets content of the write buffer in blocks that have been erased since, or whose erase was cut.
    pub(super) fn forget_erased_dumps(&mut self) {
        let (array, half_erased) = (&self.array, &self.half_erased);
        let is_there = |block| array.planned_pages(block) > 0 && !half_erased.contains(&block);
        self.dumped.retain(|unit| is_there(array.geometry().block_of(unit.ppn)));
    }

    /// Owner and version of each address that can be read. The pages of the map follow the logical pages, all originals first, then
    /// all first replicas, and so on.
    pub fn readable(&self) -> impl Iterator<Item = (Lpn, u64)> + '_ {
        self.areas.all_readable().map(|(_, spare)| (spare.owner, spare.version))
    }

    /// The version of the data at an address.
    pub(super) fn version_at(&self, ppn: Ppn) -> Option<u64> {
        self.areas.get(ppn).map(|spare| spare.version)
    }

    /// Whether a drive that comes back from this cut holds the same as one that comes back from the other: that depends on what is on
    /// flash alone.
    pub fn is_same_flash(&self, other: &Remains) -> bool {
        let logged =
            |remains: &Remains| remains.logged.iter().map(|(&ppn, page)| (ppn, page.number)).collect::<Vec<_>>();
        self.array.holds_same(&other.array)
            && self.areas == other.areas
            && self.half_erased == other.half_erased
            && self.dumped == other.dumped
            && self.journaled == other.journaled
            && self.backups == other.backups
            && self.map == other.map
            && logged(self) == logged(other)
    }

    /// What a drive that came back holds of each logical unit. It may have recovered since, but not served a write.
    pub fn held(&self, drive: &Ssd<Witness>) -> Vec<Held> {
        self.each_held(drive).collect()
    }

    /// As [`Self::held`], one unit after the other.
    fn each_held<'a>(&self, drive: &'a Ssd<Witness>) -> impl Iterator<Item = Held> + use<'a> {
        let witness = &drive.flash.accounts.probe;
        let planned = witness.planned_spares(); // of collections that go on
        let held = move |lpn| {
            let Some(ppn) = drive.firmware.ftl.lookup(lpn) else { return Held::Nothing };
            match witness.areas.get(ppn).or_else(|| planned.get(&ppn).copied()) {
                Some(spare) if spare.owner == lpn && !spare.is_torn => Held::Version(spare.version),
                _ => Held::NotItsOwn,
            }
        };
        (0..self.array.geometry().logical_units).map(Lpn).map(held)
    }

    /// The version that a drive holds of each logical unit that came back; none where it holds nothing, or what is not the unit's own.
    pub fn versions(&self, drive: &Ssd<Witness>) -> Vec<Option<u64>> {
        let version = |held| if let Held::Version(version) = held { Some(version) } else { None };
        self.each_held(drive).map(version).collect()
    }

    /// Compares what a drive holds that came back with what the host was promised. `drive` may have recovered since, but not served
    /// a write.
    pub fn compare(&self, drive: &Ssd<Witness>) -> Recovered {
        self.judge_each(self.each_held(drive))
    }

    /// Compares what a drive holds that came back with what the host was promised.
    pub fn judge(&self, held: &[Held]) -> Recovered {
        self.judge_each(held.iter().copied())
    }

    fn judge_each(&self, held: impl Iterator<Item = Held>) -> Recovered {
        let mut recovered = Recovered::default();
        for (lpn, held) in (0..).map(Lpn).zip(held) {
            let fate = match held {
                Held::Nothing => self.promises.fate(lpn, None),
                Held::Version(version) => self.promises.fate(lpn, Some(version)),
                Held::NotItsOwn => {
                    recovered.lost += 1;
                    continue;
                }
            };
            match fate {
                Fate::Kept => recovered.kept += 1,
                Fate::RolledBack => recovered.rolled_back += 1,
                Fate::Lost if self.spoilt_units.contains(&lpn) => recovered.lost_by_pairs += 1,
                Fate::Lost => recovered.lost += 1,
            }
        }
        recovered
    }
}

/// The version of a unit that a scan found on flash, or that of its last trim if that is later.
fn of_flash(found: &Found, trims: &BTreeMap<Lpn, u64>, owner: Lpn) -> Option<u64> {
    let version = found.newest(owner).and_then(|ppn| found.areas.get(ppn)).map(|spare| spare.version);
    version.max(trims.get(&owner).copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load;
    use crate::crash::Powered;
    use crate::workload;

    const DRIVE: &str = r#"
        [device]
        preset = "limit"
        channels = 3
        ways = 1
        blocks_per_plane = 26
        pages_per_block = 9
        logical_bytes = 1_433_600
        [recovery]
        checkpoint_interval_bytes = 65_536
        [workload.uniform]
        request_bytes = 4096
        read_fraction = 0
        requests = 3000
        queue_depth = 6
    "#;

    fn places(remains: &Remains) -> Vec<Option<Ppn>> {
        let drive = remains.power_on(Use::GoesOn);
        (0..drive.firmware.blocks.geometry().logical_units).map(|lpn| drive.firmware.ftl.lookup(Lpn(lpn))).collect()
    }

    /// Without trims a recovery finds each unit at the same place with a checkpoint and without: the copy of a collection that had
    /// ended when the checkpoint was begun, and nothing older that was programmed later.
    #[test]
    fn a_checkpoint_does_not_change_where_units_are_found() {
        for (seed, layer) in ["page", "dftl", "tpftl", "rftl"].iter().enumerate() {
            let mut sets = vec![format!("ftl=\"{layer}\""), format!("run.seed={seed}")];
            if *layer != "page" {
                let options = ["cmt_entries=3", "entry_bytes=512", "map_reserved_blocks=2", "allocation=\"static\""];
                sets.extend(options.map(|option| format!("ftl.{layer}.{option}")));
            }
            let config = load(DRIVE, "test", &sets).expect("a valid configuration");
            let mut workload = workload::open(&config.workload, config.logical_bytes(), 1).expect("a workload");
            let mut powered = Powered::new(&config, workload.as_mut(), &mut |_| true).expect("its power can be cut");
            let mut with_checkpoint = 0;
            for event in 0..40_000 {
                if !powered.step().expect("it goes on") {
                    break;
                }
                if event % 37 != 0 {
                    continue;
                }
                let remains = powered.cut();
                let without = Remains { logged: LoggedPages::default(), ..remains.clone() };
                with_checkpoint += u32::from(remains.log().checkpoint.is_some());
                assert_eq!(places(&remains), places(&without), "{layer}, at {} ns", powered.now_ns());
            }
            assert!(with_checkpoint > 100, "{layer}: {with_checkpoint}");
        }
    }
}
