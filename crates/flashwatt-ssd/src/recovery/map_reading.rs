//! What a recovery with a checkpoint reads of the pages of a map on flash.

use std::sync::Arc;

use super::checkpoint::Checkpoint;
use super::map_pages::{KeptPage, MapContents, MapRead};
use super::registers::{CopyInRegister, InRegister};
use super::spare::SpareAreas;
use flashwatt_base::units::Ppn;

/// What an entry on flash says of a unit after a power cut.
enum EntryReading {
    /// The unit is there, or nowhere, or the scan has found it.
    Is(Option<Ppn>),
    /// Data that never came to flash, or has been erased.
    Dangling,
}

impl Checkpoint {
    /// Reads the map on flash: the checkpoint with all entries, and what was read. A checkpoint of a whole map is as it was. `contents`
    /// has what `registers` say, too.
    pub fn read_map(
        &self,
        areas: &SpareAreas,
        contents: &MapContents,
        registers: &[InRegister],
    ) -> (Checkpoint, Option<MapRead>) {
        let mut whole = self.clone();
        let (Some(part), Some(before)) = (&mut whole.map, &self.map) else { return (whole, None) };
        let layout = before.layout;
        let mut later = vec![None; layout.logical_units as usize];
        for (_, spare) in areas.all_readable().filter(|(ppn, spare)| self.is_later(*ppn, spare)) {
            later.get_mut(spare.owner.idx()).into_iter().for_each(|later| *later = Some(spare.version).max(*later));
        }
        part.places = vec![None; layout.logical_units as usize];
        let mut read = MapRead::default();
        let is_on_flash = |ppn: &Ppn| areas.readable(*ppn).is_some();
        for (page, mut of_page) in (0..).zip(layout.versions(areas, registers)) {
            let named = before.versions[page as usize];
            of_page.retain(|(version, _)| Some(*version) >= named);
            let mut last = 0;
            for (at, lpn) in layout.units_of(page).enumerate().filter(|(_, lpn)| !before.is_listed[lpn.idx()]) {
                let entry = |(version, places): &(u64, Vec<Ppn>)| {
                    self.entry(contents[&places[0]][at], *version, areas, later[lpn.idx()])
                };
                let mut entries = of_page.iter().map(entry).zip(0..);
                if let Some((EntryReading::Is(place), version)) =
                    entries.find(|(entry, _)| matches!(entry, EntryReading::Is(_)))
                {
                    last = last.max(version);
                    let spare = place.and_then(|ppn| areas.readable(ppn));
                    let own = spare.filter(|spare| spare.owner == lpn);
                    read.wrong += u32::from(place.is_some() && own.is_none());
                    part.places[lpn.idx()] = place.filter(|_| own.is_some());
                    whole.versions[lpn.idx()] = own.map(|spare| spare.version);
                } else {
                    last = last.max(of_page.len().saturating_sub(1));
                }
            }
            part.versions[page as usize] = of_page.get(last).map(|(version, _)| *version);
            // A version that is in registers in part is gone when they are cleared.
            let is_newest = of_page.iter().take(last).all(|(_, places)| !places.iter().all(is_on_flash));
            let kept =
                |(_, places): &(u64, Vec<Ppn>)| KeptPage { content: Arc::clone(&contents[&places[0]]), is_newest };
            read.kept.push(of_page.get(last).map(kept));
            if let (0, Some((_, places))) = (last, of_page.first()) {
                let in_register = (0..).zip(places).filter(|(_, ppn)| !is_on_flash(ppn));
                read.in_registers.extend(in_register.map(|(copy, &ppn)| CopyInRegister { page, copy, ppn }));
            }
            read.reads.extend(of_page.into_iter().take(last + 1).map(|(_, places)| {
                let on_flash: Vec<Ppn> = places.iter().copied().filter(is_on_flash).collect();
                if on_flash.is_empty() { places[..1].to_vec() } else { on_flash }
            }));
        }
        (whole, Some(read))
    }

    /// What an entry of a page of this version says. `later`: the newest version of the unit's data that the scan has found among what was
    /// programmed since the checkpoint. It may be older than what the entry names: a copy, or a write, that another die had kept waiting.
    fn entry(&self, said: Option<Ppn>, of_page: u64, areas: &SpareAreas, later: Option<u64>) -> EntryReading {
        let Some(ppn) = said else { return EntryReading::Is(None) };
        match areas.get(ppn) {
            Some(spare) if !self.is_later(ppn, &spare) => {
                EntryReading::Is(Some(ppn).filter(|_| later < Some(spare.version)))
            }
            // Versions of pages of the map and of data are counted together: what the entry names is older than its page.
            _ if later > Some(of_page) => EntryReading::Is(None),
            Some(spare) if later == Some(spare.version) && areas.readable(ppn).is_some() => EntryReading::Is(None),
            _ => EntryReading::Dangling,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::map_pages::{MapContent, MapLayout};
    use super::*;
    use crate::drive::fixture::{Shape, geometry};
    use crate::recovery::spare::Spare;
    use flashwatt_base::units::Lpn;

    const LAYOUT: MapLayout = MapLayout { logical_units: 4, entries_per_page: 2, copies: 1 };
    /// The first page of the map, as an owner.
    const PAGE: u32 = LAYOUT.logical_units;

    /// A drive of which these pages are on flash: address, owner, version and number of the program.
    fn areas(pages: &[(u32, u32, u64, u64)]) -> SpareAreas {
        let shape = Shape { channels: 1, ways: 1, blocks: 16, pages_per_block: 8, logical_bytes: 64 * 4096 };
        let mut areas = SpareAreas::new(&geometry(shape));
        for &(ppn, owner, version, program) in pages {
            areas.program(Ppn(ppn), Spare { owner: Lpn(owner), version, program, is_torn: false });
        }
        areas
    }

    fn says(entries: [Option<u32>; 2]) -> MapContent {
        entries.map(|ppn| ppn.map(Ppn)).into()
    }

    /// Units 0 and 1 at addresses 0 and 1, and the page of the map that says so at 16. The checkpoint is begun before program 10.
    const BEFORE: [(u32, u32, u64, u64); 3] = [(0, 0, 1, 1), (1, 1, 2, 2), (16, PAGE, 3, 3)];

    fn checkpoint(dirty: Option<Lpn>, contents: &MapContents) -> Checkpoint {
        let (areas, map) = (areas(&BEFORE), [Some(Ppn(0)), Some(Ppn(1)), None, None].into_iter());
        Checkpoint::new(&areas, map, &BTreeMap::new(), 10)
            .beside_map(LAYOUT, &areas, contents, |lpn, _| Some(lpn) != dirty)
    }

    /// What is read of the map when these pages have been programmed since: the number of reads, the version that is kept, and the addresses
    /// of units 0 and 1 by the map alone.
    fn read(since: &[(u32, u32, u64, u64)], contents: &MapContents) -> (usize, Option<u64>, [Option<u32>; 2]) {
        let areas = areas(&[&BEFORE[..], since].concat());
        let (whole, read) = checkpoint(None, contents).read_map(&areas, contents, &[]);
        let (part, read) = (whole.map.expect("a map on flash"), read.expect("a map on flash"));
        assert_eq!(read.wrong, 0);
        let place = |unit: usize| part.places[unit].map(|ppn| ppn.0);
        (read.reads.len(), part.versions[0], [place(0), place(1)])
    }

    #[test]
    fn an_entry_of_data_that_never_came_to_flash_is_read_from_the_version_before() {
        let contents = MapContents::from([(Ppn(16), says([Some(0), Some(1)])), (Ppn(17), says([Some(2), Some(1)]))]);
        assert_eq!(read(&[], &contents), (1, Some(3), [Some(0), Some(1)]));
        // The new page of the map says that unit 0 is at address 2, which is erased: the page before counts.
        let new_page = (17, PAGE, 5, 12);
        assert_eq!(read(&[new_page], &contents), (2, Some(3), [Some(0), Some(1)]));
        // The scan finds the unit there, or a newer version elsewhere: the new page counts.
        for found in [(2, 0, 4, 11), (3, 0, 6, 13)] {
            assert_eq!(read(&[new_page, found], &contents), (1, Some(5), [None, Some(1)]));
        }
    }

    /// A write, or a copy, may wait on its die while a newer one is programmed on another.
    #[test]
    fn what_was_programmed_later_may_be_older() {
        let older = |page, version| (3, page, version, 13);
        let contents = MapContents::from([(Ppn(16), says([Some(0), Some(1)])), (Ppn(17), says([Some(2), Some(1)]))]);
        assert_eq!(read(&[older(1, 1)], &contents), (1, Some(3), [Some(0), Some(1)]), "version 2 of unit 1 is newer");
        assert_eq!(read(&[older(1, 2)], &contents), (1, Some(3), [Some(0), None]), "a copy of it");
        // A new page of the map says that unit 0 is at address 2, which is erased: the page before counts, too.
        let new_page = (17, PAGE, 5, 12);
        assert_eq!(read(&[new_page, older(0, 0)], &contents), (2, Some(3), [Some(0), Some(1)]));
        // Version 4 may be what was at address 2, or older: the page before is read, and its version is older.
        assert_eq!(read(&[new_page, older(0, 4)], &contents), (2, Some(3), [None, Some(1)]));
    }

    /// The new page of the map is in a register, for which address 17 stands. It counts if its entries do. Else the page before does, which
    /// then is the newest one.
    #[test]
    fn a_page_in_a_register_counts_if_its_entries_do() {
        let contents = MapContents::from([(Ppn(16), says([Some(0), Some(1)])), (Ppn(17), says([Some(2), Some(1)]))]);
        let held =
            |version| InRegister { ppn: Ppn(17), owner: Lpn(PAGE), version, content: contents[&Ppn(17)].clone() };
        let read = |since: &[(u32, u32, u64, u64)], held: &[InRegister]| {
            let areas = areas(&[&BEFORE[..], since].concat());
            let (whole, read) = checkpoint(None, &contents).read_map(&areas, &contents, held);
            let read = read.expect("a map on flash");
            let is_newest = read.kept[0].as_ref().expect("a page").is_newest;
            (whole.map.expect("a map on flash").versions[0], is_newest, read.reads, read.in_registers)
        };
        let [old, new] = [Ppn(16), Ppn(17)].map(|ppn| vec![ppn]);
        let in_register = CopyInRegister { page: 0, copy: 0, ppn: Ppn(17) };
        let data = (2, 0, 4, 11);
        assert_eq!(read(&[data], &[held(5)]), (Some(5), true, vec![new.clone()], vec![in_register]));
        assert_eq!(read(&[], &[held(5)]), (Some(3), true, vec![new, old.clone()], vec![]), "the data is not on flash");
        assert_eq!(read(&[data], &[]), (Some(3), true, vec![old.clone()], vec![]));
        assert_eq!(read(&[data], &[held(3)]), (Some(3), true, vec![old], vec![]), "that version is on flash");
    }

    #[test]
    fn an_entry_that_memory_alone_has_is_in_the_checkpoint() {
        let contents = MapContents::from([(Ppn(16), says([Some(0), Some(1)]))]);
        let versions = |dirty| checkpoint(dirty, &contents).versions;
        assert_eq!(versions(None), [None; 4]);
        assert_eq!(versions(Some(Lpn(1))), [None, Some(2), None, None]);
        let old = MapContents::from([(Ppn(16), says([Some(0), Some(7)]))]);
        assert_eq!(checkpoint(None, &old).versions, [None, Some(2), None, None], "flash says another address");
        let places = checkpoint(None, &old).read_map(&areas(&BEFORE), &old, &[]).0.map.expect("a map on flash").places;
        assert_eq!(places, [Some(Ppn(0)), None, None, None], "what flash says of that unit does not count");
    }
}
