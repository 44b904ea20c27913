//! By owner, the version that the map points to when everything planned is done: the part of the observer that follows it.

use std::collections::BTreeMap;

use flashwatt_base::shared::Shared;
use flashwatt_base::units::{Lpn, Ppn};
use flashwatt_ssd::recovery::spare::SpareAreas;

/// The version that each owner has when everything planned is done; 0 for none.
pub(super) struct Current {
    start: Start,
    /// What has changed since.
    changed: BTreeMap<Lpn, u64>,
}

/// Where the versions of the start come from.
enum Start {
    /// They stand in a table, and changes go there, too.
    Table(Shared<u64>),
    /// A recovery found the newest version of each owner at an address (+ 1; 0 for none). Few of them are asked for: a recovery copies
    /// little, and a drive that is cut only to see what comes back serves no request.
    Scan(Vec<u32>, SpareAreas),
}

impl Current {
    /// Versions by owner.
    pub fn table(versions: Vec<u64>) -> Self {
        Current { start: Start::Table(versions.into_iter().collect()), changed: BTreeMap::new() }
    }

    /// The versions at these addresses (+ 1; 0 for none), by owner.
    pub fn of_scan(newest: Vec<u32>, areas: SpareAreas) -> Self {
        Current { start: Start::Scan(newest, areas), changed: BTreeMap::new() }
    }

    /// The version of an owner.
    pub fn get(&self, owner: Lpn) -> u64 {
        let at_start = || match &self.start {
            Start::Table(table) => table.get(owner.idx()).copied(),
            Start::Scan(newest, areas) => {
                let place = newest.get(owner.idx()).and_then(|place| place.checked_sub(1));
                place.and_then(|ppn| areas.get(Ppn(ppn))).map(|spare| spare.version)
            }
        };
        self.changed.get(&owner).copied().or_else(at_start).unwrap_or(0)
    }

    /// The owner has this version from now on.
    pub fn note(&mut self, owner: Lpn, version: u64) {
        match &mut self.start {
            Start::Table(table) => {
                table.grow(owner.idx() + 1, 0);
                *table.change(owner.idx()) = version;
            }
            Start::Scan(..) => _ = self.changed.insert(owner, version),
        }
    }
}
