//! The drive that comes back from a power cut, and what it holds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::bugs::Bug;
use super::remains::{Held, Recovered, Remains};
use super::witness::{Restored, Use, Witness};
use flashwatt_base::units::{BlockId, Lpn};
use flashwatt_ssd::cache::write_buffer;
use flashwatt_ssd::drive::{Afterwards, MapLoad, Ssd};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::PlanNumber;
use flashwatt_ssd::nand::Reserve;
use flashwatt_ssd::nand::settings::ProgramOrder;
use flashwatt_ssd::recovery::backups::BackedUp;
use flashwatt_ssd::recovery::checkpoint::Checkpoint;
use flashwatt_ssd::recovery::dump::DumpedUnit;
use flashwatt_ssd::recovery::journal;
use flashwatt_ssd::recovery::map_pages::MapContents;
use flashwatt_ssd::recovery::reads::{Filling, Reads};
use flashwatt_ssd::recovery::registers::InRegister;
use flashwatt_ssd::recovery::scan::{Found, ScannedFlash};
use flashwatt_ssd::recovery::spare::Spare;

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
        let contents = self.map_with_registers();
        let read_map = |found: &Arc<Checkpoint>| found.read_map(&seen, &contents, &self.registers);
        let (checkpoint, map) = log.checkpoint.as_ref().map(read_map).unzip();
        let map = map.flatten();
        let wrong = map.as_ref().map_or(0, |map| map.wrong);
        assert!(
            wrong == 0 || self.bug != Bug::None,
            "entries of the map name other units; this is a fault of the simulator"
        );
        let flash = ScannedFlash {
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
        let registers = self.registers_used(&found);
        let restored = Restored {
            use_after,
            dumped: dumped_units,
            backed_up: backups,
            trims: log.trims.clone(),
            newest,
            registers,
        };
        let witness = Witness::resumed(self, &firmware, restored);
        let mut drive = Ssd::new(ssd, firmware, array, None, witness);
        let journaled = self.journaled.keys().copied().collect();
        let loaded = ssd.recovery.loaded_units(self.array.geometry().logical_units.into());
        let map_load = (loaded > 0).then(|| MapLoad::of(loaded as u32));
        let unreadable = found.unreadable;
        drive.begin_recovery(Afterwards { unreadable, dumped, journaled, backed_up, log, reads, map_load });
        drive
    }

    /// What registers have kept, and the recovery programs. It clears the others.
    fn registers_used(&self, found: &Found) -> Vec<InRegister> {
        let is_used = |held: &&InRegister| found.map_in_registers().iter().any(|copy| copy.ppn == held.ppn);
        self.registers.iter().filter(is_used).cloned().collect()
    }

    /// What the pages of the map on flash say, and those that registers of dies have kept.
    fn map_with_registers(&self) -> Cow<'_, MapContents> {
        let mut contents = Cow::Borrowed(&self.map);
        for held in &self.registers {
            contents.to_mut().insert(held.ppn, held.content.clone());
        }
        contents
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
}

/// The version of a unit that a scan found on flash, or that of its last trim if that is later.
fn of_flash(found: &Found, trims: &BTreeMap<Lpn, u64>, owner: Lpn) -> Option<u64> {
    let version = found.newest(owner).and_then(|ppn| found.areas.get(ppn)).map(|spare| spare.version);
    version.max(trims.get(&owner).copied())
}

#[cfg(test)]
mod tests {
    use super::super::log::LoggedPages;
    use super::*;
    use crate::config::load;
    use crate::crash::Powered;
    use flashwatt_base::units::Ppn;
    use flashwatt_workload as workload;

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
