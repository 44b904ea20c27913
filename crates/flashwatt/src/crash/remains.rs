//! What a power cut leaves of a drive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backups::BackupPages;
use super::bugs::Bug;
use super::dump::Work;
use super::log::LoggedPages;
use super::promises::{Fate, Promises};
use crate::config::Config;
use flashwatt_base::units::{BlockId, Lpn, Ppn};
use flashwatt_ssd::nand::{Array, FlashAddress, Reserve, ReservedBlocks};
use flashwatt_ssd::recovery::dump::{self, DumpedUnit};
use flashwatt_ssd::recovery::journal::JournalPages;
use flashwatt_ssd::recovery::log::{LogAreas, LogFound};
use flashwatt_ssd::recovery::map_pages::MapContents;
use flashwatt_ssd::recovery::registers::InRegister;
use flashwatt_ssd::recovery::spare::{Spare, SpareAreas};

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
    /// What registers of dies have kept of it.
    pub(super) registers: Vec<InRegister>,
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
    /// What is left of the recovery log.
    pub(super) fn log(&self) -> LogFound {
        let is_paired = self.config.ssd().device.nand.paired_pages.is_some();
        let areas = LogAreas::new(&self.reserved[Reserve::Log], self.array.geometry(), is_paired);
        areas.find(&self.logged, &self.array, &self.half_erased)
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
        used.iter().for_each(|(&block, &pages)| self.array.lay_down(block, geometry.whole_rows(pages)));
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

    /// Pages of the map that registers of dies have kept.
    pub fn in_registers(&self) -> usize {
        self.registers.len()
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
            && self.registers == other.registers
            && logged(self) == logged(other)
    }

    /// Compares what a drive holds that came back with what the host was promised.
    pub fn judge(&self, held: &[Held]) -> Recovered {
        self.judge_each(held.iter().copied())
    }

    pub(super) fn judge_each(&self, held: impl Iterator<Item = Held>) -> Recovered {
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
