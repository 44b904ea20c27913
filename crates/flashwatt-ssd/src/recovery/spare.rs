//! The spare areas of flash pages: what remains on flash beside the data.
//!
//! Each map unit of a programmed page has an entry: its owner, the version of the owner's data, and the number of the
//! program. Only runs that can be cut keep these entries, 16 bytes for each map unit.

use std::collections::BTreeMap;

use crate::nand::Geometry;
use flashwatt_base::shared::Shared;
use flashwatt_base::units::{BlockId, Lpn, Ppn};

/// The entry of a map unit in the spare area of its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spare {
    /// The logical page, or a page of the map: those follow the logical pages of the host.
    pub owner: Lpn,
    /// The version of the owner's data: versions rise with each write of the host. A copy keeps the version of its source.
    pub version: u64,
    /// The plan number of the program, by which a copy differs from its source.
    pub program: u64,
    /// The power was cut during the program: the page cannot be read.
    pub is_torn: bool,
}

impl Spare {
    /// The greatest version: no run comes to it, as a write takes microseconds.
    pub const VERSION_MAX: u64 = (1 << 47) - 1;
}

/// Bytes of an owner, of a version, and of a program's number. Choice: an address of the map, and counters that no run exhausts.
pub const ENTRY_BYTES: [u32; 3] = [4, 8, 8];

/// Bytes that the entries of a page with this number of map units take on flash: its program's number is one for all.
pub fn bytes_of_page(units: u32) -> u32 {
    let [owner, version, program] = ENTRY_BYTES;
    units * (owner + version) + program
}

/// An entry in 16 bytes, of which a large drive has millions; or none. No run comes to 2⁴⁸ programs either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Packed {
    /// [`Packed::NOBODY`] stands for no entry.
    owner: u32,
    version: u32,
    program: u32,
    /// The next 15 bits of the version, and whether the page is torn.
    more_version: u16,
    /// The next 16 bits of the program's number.
    more_program: u16,
}

impl Packed {
    const NOBODY: u32 = u32::MAX;
    const NONE: Packed = Packed { owner: Packed::NOBODY, version: 0, program: 0, more_version: 0, more_program: 0 };
    const TORN: u16 = 1 << 15;

    fn new(spare: Spare) -> Self {
        let Spare { owner, version, program, is_torn } = spare;
        debug_assert!(owner.0 != Self::NOBODY && version <= Spare::VERSION_MAX && program >> 48 == 0, "{spare:?}");
        Packed {
            owner: owner.0,
            version: version as u32,
            program: program as u32,
            more_version: (version >> 32) as u16 | if is_torn { Self::TORN } else { 0 },
            more_program: (program >> 32) as u16,
        }
    }

    fn entry(self) -> Option<Spare> {
        (self.owner != Self::NOBODY).then(|| Spare {
            owner: Lpn(self.owner),
            version: u64::from(self.more_version & !Self::TORN) << 32 | u64::from(self.version),
            program: u64::from(self.more_program) << 32 | u64::from(self.program),
            is_torn: self.more_version & Self::TORN != 0,
        })
    }
}

/// The spare areas of a drive. A copy, such as each power cut takes, shares what has not changed since.
#[derive(Clone, Debug, PartialEq)]
pub struct SpareAreas(Shared<Packed>);

impl SpareAreas {
    /// The spare areas of an erased drive.
    pub fn new(geometry: &Geometry) -> Self {
        SpareAreas::of(geometry.physical_units() as usize)
    }

    /// No spare areas at all.
    pub fn none() -> Self {
        SpareAreas::of(0)
    }

    /// The spare areas of this number of erased map units.
    pub(super) fn of(units: usize) -> Self {
        SpareAreas(Shared::filled(units, Packed::NONE))
    }

    /// The entry of an address.
    pub fn get(&self, ppn: Ppn) -> Option<Spare> {
        self.0[ppn.idx()].entry()
    }

    /// The entry of an address that can be read: of no torn page.
    pub fn readable(&self, ppn: Ppn) -> Option<Spare> {
        self.get(ppn).filter(|spare| !spare.is_torn)
    }

    /// All entries that can be read, in the order of their addresses.
    pub fn all_readable(&self) -> impl Iterator<Item = (Ppn, Spare)> {
        let readable = |packed: &Packed| packed.entry().filter(|spare| !spare.is_torn);
        (0..).map(Ppn).zip(self.0.iter()).filter_map(move |(ppn, packed)| Some((ppn, readable(packed)?)))
    }

    /// By address: whether it has an entry.
    pub(super) fn programmed(&self) -> Vec<bool> {
        self.0.iter().map(|packed| packed.owner != Packed::NOBODY).collect()
    }

    /// A program writes an entry.
    pub fn program(&mut self, ppn: Ppn, entry: Spare) {
        *self.0.change(ppn.idx()) = Packed::new(entry);
    }

    /// Changes every entry. For faults on purpose.
    pub fn change(&mut self, mut change: impl FnMut(&mut Spare)) {
        for at in 0..self.0.len() {
            if let Some(mut entry) = self.0[at].entry() {
                change(&mut entry);
                *self.0.change(at) = Packed::new(entry);
            }
        }
    }

    /// An erase takes all entries of a block.
    pub fn erase(&mut self, block: BlockId, geometry: &Geometry) {
        let first = geometry.first_ppn(block).idx();
        for at in first..first + geometry.units_per_block as usize {
            if self.0[at] != Packed::NONE {
                *self.0.change(at) = Packed::NONE;
            }
        }
    }
}

/// Which of two addresses with the same version of a page a scan takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ties {
    /// That of the copy: a collection goes on where it was cut.
    Copy,
    /// That of the source: a merge begins anew.
    Source,
}

/// The address (+ 1) of the newest version of each page; 0 for none. Of trimmed units what has a version up to that of the trim is
/// void. Only what `is_shown` counts.
pub(super) fn newest(
    areas: &SpareAreas,
    ties: Ties,
    trims: &BTreeMap<Lpn, u64>,
    is_shown: impl Fn(Ppn, &Spare) -> bool,
) -> Vec<u32> {
    let mut newest: Vec<u32> = Vec::with_capacity(areas.0.len());
    for (ppn, new) in areas.all_readable().filter(|(ppn, spare)| is_shown(*ppn, spare)) {
        if newest.len() <= new.owner.idx() {
            newest.resize(new.owner.idx() + 1, 0);
        }
        let place = &mut newest[new.owner.idx()];
        let old = place.checked_sub(1).and_then(|old| areas.get(Ppn(old)));
        if old.is_none_or(|old| is_better(&new, &old, ties)) {
            *place = ppn.0 + 1;
        }
    }
    forget_trimmed(&mut newest, areas, trims);
    newest
}

/// Removes the addresses of what was trimmed after it had been written.
fn forget_trimmed(newest: &mut [u32], areas: &SpareAreas, trims: &BTreeMap<Lpn, u64>) {
    for (lpn, &trimmed) in trims {
        let Some(place) = newest.get_mut(lpn.idx()) else { continue };
        let version = place.checked_sub(1).and_then(|ppn| areas.get(Ppn(ppn))).map(|spare| spare.version);
        if version.is_some_and(|version| version <= trimmed) {
            *place = 0;
        }
    }
}

fn is_better(new: &Spare, old: &Spare, ties: Ties) -> bool {
    match ties {
        _ if new.version != old.version => new.version > old.version,
        Ties::Copy => new.program > old.program,
        Ties::Source => new.program < old.program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare(owner: u32, version: u64, program: u64) -> Option<Spare> {
        Some(Spare { owner: Lpn(owner), version, program, is_torn: false })
    }

    #[test]
    fn an_entry_takes_16_bytes_and_is_whole() {
        assert_eq!(size_of::<Packed>(), 16);
        for at in [0, 31, 32, 46] {
            for is_torn in [false, true] {
                let spare = Spare { owner: Lpn(u32::MAX - 1), version: 1 << at, program: 3 << at, is_torn };
                assert_eq!(Packed::new(spare).entry(), Some(spare));
            }
        }
        assert_eq!(Packed::NONE.entry(), None);
    }

    #[test]
    fn the_newest_version_wins_and_ties_go_as_asked() {
        let torn = spare(0, 9, 9).map(|spare| Spare { is_torn: true, ..spare });
        let all = [spare(0, 2, 1), spare(0, 3, 2), torn, spare(1, 1, 4), spare(1, 1, 3), None];
        let areas = SpareAreas(all.into_iter().map(|one| one.map_or(Packed::NONE, Packed::new)).collect());
        let none = BTreeMap::new();
        let newest = |ties| super::newest(&areas, ties, &none, |_, _| true);
        let newest_of = |ties| [0, 1, 2].map(|owner| newest(ties).get(owner).copied().unwrap_or(0));
        assert_eq!(newest_of(Ties::Copy), [2, 4, 0]);
        assert_eq!(newest_of(Ties::Source), [2, 5, 0]);
    }
}
