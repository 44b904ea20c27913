//! What a power cut leaves of a drive, and the drive that comes back from it.

use std::sync::Arc;

use super::bugs::Bug;
use super::promises::{Fate, Promises};
use super::witness::Witness;
use crate::config::Config;
use crate::device::spare::{Found, SpareAreas};
use crate::device::{Array, FlashAddress};
use crate::firmware::Firmware;
use crate::ftl::PlanNumber;
use crate::ssd::Ssd;
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
    /// Units of which a durable version is lost, or which hold another unit's data.
    pub lost: u32,
}

impl Remains {
    /// The drive when the power is back, with tables rebuilt from the spare areas; its recovery begins with its first event.
    pub(super) fn power_on(&self) -> Ssd<Witness> {
        let ssd = self.config.ssd();
        let firmware = Firmware::new(&ssd.ftl, &ssd.ftl_setup(), self.config.run.seed, self.array.geometry());
        let seen = self.bug.seen(&self.areas);
        let found = Found::scan(&seen, &self.array, &self.half_erased, firmware.ftl.ties());
        let mut array = self.array.clone();
        let firmware = firmware.rebuilt(&found, &mut array, PlanNumber(self.next_program));
        let witness = Witness::resumed(self, &firmware);
        let mut drive = Ssd::new(ssd, firmware, array, None, witness);
        drive.begin_recovery(found.unreadable);
        drive
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

    /// Compares what a drive holds that came back with what the host was promised. `drive` may have recovered since, but not served
    /// a write.
    pub fn compare(&self, drive: &Ssd<Witness>) -> Recovered {
        let areas = &drive.flash.accounts.probe.areas;
        let mut recovered = Recovered::default();
        for lpn in (0..self.array.geometry().logical_units).map(Lpn) {
            let spare = drive.firmware.ftl.lookup(lpn).map(|ppn| areas.get(ppn));
            let is_own = spare.is_none_or(|spare| spare.is_some_and(|spare| spare.owner == lpn && !spare.is_torn));
            let fate = self.promises.fate(lpn, spare.flatten().map(|spare| spare.version));
            match fate {
                _ if !is_own => recovered.lost += 1,
                Fate::Kept => recovered.kept += 1,
                Fate::RolledBack => recovered.rolled_back += 1,
                Fate::Lost => recovered.lost += 1,
            }
        }
        recovered
    }
}
