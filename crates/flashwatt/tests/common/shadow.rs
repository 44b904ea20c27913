//! A drive that knows what every physical page holds: which version of which logical page. It carries out plans as
//! [`flashwatt_ssd::firmware::clockless::Clockless`] does, and checks that every page that is written anywhere holds what it should: read
//! your writes, through any number of copies.

use std::collections::BTreeSet;

use flashwatt_base::units::{BlockId, DieId, Lpn, OpId, Ppn};
use flashwatt_core::connector::{Extent, Request, RequestKind};
use flashwatt_ssd::blocks::BlockState;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{Cause, OpKind, PlannedOp};
use flashwatt_ssd::nand::{Array, Geometry};

/// What the host knows of a drive: which logical pages it has written, and which version of each it wrote last.
#[derive(Clone)]
pub struct Oracle {
    geometry: Geometry,
    /// 0: holds nothing.
    pub version: Vec<u32>,
    next_version: u32,
    /// Pages that were written and trimmed at the same time: they hold something, or nothing.
    either: Vec<bool>,
    /// Pages with a place that was never written: a read of them is a read of flash.
    blank: Vec<bool>,
}

impl Oracle {
    /// Of a drive on which every page is written, or none.
    pub fn new(geometry: &Geometry, filled: bool) -> Self {
        let units = geometry.logical_units as usize;
        Oracle {
            geometry: geometry.clone(),
            version: vec![u32::from(filled); units],
            next_version: 2,
            either: vec![false; units],
            blank: vec![false; units],
        }
    }

    /// The same of a drive on which every page has a place, and none is written.
    pub fn mapped(geometry: &Geometry) -> Self {
        Oracle { blank: vec![true; geometry.logical_units as usize], ..Oracle::new(geometry, false) }
    }

    /// The pages that a request changes, and whether they hold something then: a write all that it touches, a trim those that
    /// it covers.
    fn changes(&self, request: &Request) -> impl Iterator<Item = (usize, bool)> + use<> {
        let (extent, kind) = (self.geometry.extent(request), request.kind);
        let covered = move |i: u32| kind == RequestKind::Trim && !extent.is_partial(i);
        let changed = (0..extent.pages).filter(move |&i| kind == RequestKind::Write || covered(i));
        changed.map(move |i| (extent.first.idx() + i as usize, kind == RequestKind::Write))
    }

    /// Requests of which none needs wait for another: what is both written and trimmed by them is either.
    pub fn apply_together(&mut self, requests: &[Request]) {
        let mut seen = vec![None; self.version.len()];
        for request in requests {
            for (lpn, holds) in self.changes(request) {
                self.either[lpn] =
                    seen[lpn].is_some_and(|before| before != holds) || (seen[lpn].is_some() && self.either[lpn]);
                seen[lpn] = Some(holds);
            }
            self.apply(request);
        }
    }

    /// A request, after all before it.
    pub fn apply(&mut self, request: &Request) {
        for (lpn, holds) in self.changes(request) {
            self.version[lpn] = if holds { self.next_version } else { 0 };
            self.blank[lpn] = false;
        }
        self.next_version += 1;
    }

    /// A part of a write.
    fn write(&mut self, first: Lpn, pages: u32) {
        self.version[first.idx()..first.idx() + pages as usize].fill(self.next_version);
        self.blank[first.idx()..first.idx() + pages as usize].fill(false);
        self.next_version += 1;
    }

    /// Fails unless map and block table are those of this drive after all planned operations: every written page at an address of
    /// its own, which is valid and programmed and says so; counts and states of all blocks right.
    pub fn check(&self, firmware: &Firmware, array: &Array) {
        let geometry = &self.geometry;
        let mut valid = 0;
        for lpn in (0..geometry.logical_units).map(Lpn) {
            let found = firmware.ftl.lookup(lpn);
            let expected = self.version[lpn.idx()] > 0;
            assert!(found.is_some() == expected || self.either[lpn.idx()], "is page {lpn} mapped? {expected} expected");
            let Some(ppn) = found else { continue };
            valid += 1;
            assert!(firmware.blocks.is_valid(ppn), "page {lpn} lies at {ppn}, which is not valid");
            assert_eq!(firmware.blocks.lpn_at(ppn), Some(lpn), "the page at {ppn} does not know its owner");
            assert!(array.is_programmed(geometry.place(ppn)), "page {lpn} lies at {ppn}, which is not programmed");
        }
        for ppn in firmware.ftl.map_pages() {
            valid += 1;
            assert!(firmware.blocks.is_valid(ppn), "a page of the map lies at {ppn}, which is not valid");
            assert!(array.is_programmed(geometry.place(ppn)), "a page of the map at {ppn} is not programmed");
        }
        for die in (0..geometry.dies).map(DieId) {
            valid -= self.check_die(die, firmware, array);
        }
        assert_eq!(valid, 0, "as many valid addresses as written pages");
    }

    fn check_die(&self, die: DieId, firmware: &Firmware, array: &Array) -> u32 {
        let geometry = &self.geometry;
        let (mut free, mut valid, mut programmed) = (0, 0, 0);
        for block in geometry.blocks_of(die) {
            let first = geometry.first_ppn(block).0;
            let units = || (first..first + geometry.units_per_block).map(Ppn);
            let count = units().filter(|&ppn| firmware.blocks.is_valid(ppn)).count() as u32;
            let pages = units()
                .step_by(geometry.units_per_page as usize)
                .filter(|&ppn| array.is_programmed(geometry.place(ppn)))
                .count();
            assert_eq!(firmware.blocks.valid_units(block), count, "valid pages of block {block}");
            match firmware.blocks.state(block) {
                BlockState::Free => {
                    assert_eq!((count, pages), (0, 0), "block {block} is free");
                    free += 1;
                }
                BlockState::Closed => assert!(array.is_full(block), "block {block} is closed"),
                BlockState::Open | BlockState::Victim => {}
            }
            assert_eq!(array.holds(block), 0, "nothing is planned for block {block}");
            valid += count;
            programmed += pages as u32;
        }
        assert_eq!(firmware.blocks.free_blocks(die), free, "free blocks of die {die}");
        assert_eq!(array.programmed_pages(die), programmed, "programmed pages of die {die}");
        valid
    }
}

/// A drive without a clock whose pages have contents.
pub struct Shadow<'a> {
    geometry: Geometry,
    /// What decides.
    pub firmware: &'a mut Firmware,
    /// The flash.
    pub array: &'a mut Array,
    /// What the host knows.
    pub oracle: Oracle,
    /// Of each physical address: the logical page, and its version.
    contents: Vec<Option<(Lpn, u32)>>,
}

impl<'a> Shadow<'a> {
    /// A drive in its start state.
    pub fn new(geometry: &Geometry, firmware: &'a mut Firmware, array: &'a mut Array, filled: bool) -> Self {
        let mut contents = vec![None; geometry.physical_units() as usize];
        for lpn in (0..geometry.logical_units).map(Lpn) {
            if let Some(ppn) = firmware.ftl.lookup(lpn) {
                contents[ppn.idx()] = Some((lpn, 1));
            }
        }
        Shadow { geometry: geometry.clone(), firmware, array, oracle: Oracle::new(geometry, filled), contents }
    }

    /// The same drive if every page has a place from the start.
    pub fn mapped(mut self, mapped: bool) -> Self {
        if mapped {
            self.oracle = Oracle::mapped(&self.geometry);
        }
        self
    }

    /// Carries out a request.
    pub fn request(&mut self, request: &Request) {
        let extent = self.geometry.extent(request);
        match request.kind {
            RequestKind::Read => {
                self.firmware.read(&extent, self.array);
                self.check_read(&extent);
                self.carry_out(None);
            }
            RequestKind::Write => self.write(&extent),
            RequestKind::Trim => {
                self.firmware.trim(&extent, self.array);
                self.oracle.apply(request);
                self.carry_out(None);
            }
            RequestKind::Flush => {}
        }
        self.background();
    }

    fn write(&mut self, extent: &Extent) {
        let mut done = 0;
        while done < extent.pages {
            let head_partial = extent.head_partial && done == 0;
            let rest =
                Extent { first: Lpn(extent.first.0 + done), pages: extent.pages - done, head_partial, ..*extent };
            let found = self.firmware.write(&rest, self.array);
            let before = self.oracle.clone();
            self.oracle.write(rest.first, found);
            let erases = self.firmware.plan.ops().iter().any(|op| op.kind == OpKind::Erase);
            self.carry_out(Some((&rest, &before)));
            done += found;
            let worked = self.background() || erases;
            assert!(done == extent.pages || found > 0 || worked, "a write finds no room, and nothing makes some");
        }
    }

    fn background(&mut self) -> bool {
        let mut any = false;
        for die in (0..self.geometry.dies).map(DieId) {
            let mut steps = 0;
            while self.firmware.ftl.wants_background(die, &self.firmware.blocks) {
                self.firmware.background(die, self.array);
                if self.firmware.plan.ops().is_empty() {
                    break;
                }
                self.carry_out(None);
                any = true;
                steps += 1;
                assert!(steps < 100 * self.geometry.blocks * self.geometry.units_per_block, "collection never ends");
            }
        }
        any
    }

    /// Every logical page holds what was written last.
    pub fn check(&self) {
        self.oracle.check(self.firmware, self.array);
        for (lpn, &version) in self.oracle.version.iter().enumerate().filter(|(_, version)| **version > 0) {
            let lpn = Lpn(lpn as u32);
            let held = self.firmware.ftl.lookup(lpn).and_then(|ppn| self.contents[ppn.idx()]);
            assert_eq!(held, Some((lpn, version)), "page {lpn} holds something else");
        }
    }

    /// The plan of a read fetches the page of every written one, and counts the others.
    fn check_read(&self, extent: &Extent) {
        let plan = &self.firmware.plan;
        let per_page = self.geometry.units_per_page;
        let (mut unwritten, mut blank, mut blank_pages) = (0, 0, BTreeSet::new());
        for lpn in (extent.first.0..extent.first.0 + extent.pages).map(Lpn) {
            let version = self.oracle.version[lpn.idx()];
            let Some(ppn) = self.firmware.ftl.lookup(lpn) else {
                assert_eq!(version, 0, "page {lpn} is lost");
                let count = if self.oracle.blank[lpn.idx()] { &mut blank } else { &mut unwritten };
                *count += 1;
                if self.oracle.blank[lpn.idx()] {
                    blank_pages.insert(lpn.0 / per_page);
                }
                continue;
            };
            assert_eq!(self.contents[ppn.idx()], Some((lpn, version)), "page {lpn} at {ppn} holds something else");
            let page = self.geometry.page_of(ppn);
            assert!(plan.ops().iter().any(|op| self.geometry.page_of(op.ppn) == page), "page {lpn} is not read");
        }
        assert_eq!(plan.unwritten_reads, unwritten);
        // Units of one page are read together, unless others lie between them.
        let reads = plan.ops().iter().filter(|op| op.is_blank).count() as u32;
        assert!(
            (blank_pages.len() as u32..=blank).contains(&reads),
            "reads of places never written: {reads} of {blank}"
        );
    }

    /// Carries out the plan; `written` is the host's data of it, with the content that it replaces.
    fn carry_out(&mut self, written: Option<(&Extent, &Oracle)>) {
        self.firmware.plan.slc_blocks().iter().for_each(|&block| self.array.use_as_slc(block));
        let ops = self.firmware.plan.ops().to_vec();
        for op in &ops {
            match op.kind {
                OpKind::Read if op.is_blank => self.array.plan_blank_read(self.geometry.place(op.ppn)),
                OpKind::Read | OpKind::SpareRead => self.array.start_read(self.geometry.place(op.ppn)),
                OpKind::Program => self.program(&ops, op, &self.data_of(&ops, op), written),
                OpKind::Copy | OpKind::Copyback => {
                    self.array.start_read(self.geometry.place(op.source));
                    self.program(&ops, op, &self.units_of_page(op.source), written);
                }
                OpKind::Erase => self.erase(self.geometry.block_of(op.ppn)),
            }
        }
    }

    /// What the reads that an operation waits for have brought.
    fn data_of(&self, ops: &[PlannedOp], op: &PlannedOp) -> Vec<(Lpn, u32)> {
        let mut data = Vec::new();
        let mut after = op.after;
        while let Some(read) = after.map(|index| &ops[index.0 as usize]) {
            after = read.after;
            match read.kind {
                OpKind::Read => data.extend(self.units_of_page(read.ppn)),
                OpKind::SpareRead => {} // where that data is
                other => panic!("programs wait for data that is read, not for a {}", other.name()),
            }
        }
        data
    }

    fn units_of_page(&self, ppn: Ppn) -> Vec<(Lpn, u32)> {
        let first = ppn.0 - ppn.0 % self.geometry.units_per_page;
        (first..first + self.geometry.units_per_page).filter_map(|unit| self.contents[unit as usize]).collect()
    }

    fn program(&mut self, ops: &[PlannedOp], op: &PlannedOp, data: &[(Lpn, u32)], written: Option<(&Extent, &Oracle)>) {
        for ppn in (op.ppn.0..op.ppn.0 + self.geometry.units_per_page).map(Ppn) {
            assert_eq!(self.contents[ppn.idx()], None, "{ppn} is written twice");
            let Some(lpn) = self.firmware.blocks.lpn_at(ppn).filter(|lpn| lpn.idx() < self.oracle.version.len()) else {
                continue; // nothing, or a page of the map
            };
            let version = match written {
                Some((extent, before)) if op.cause == Cause::Host => {
                    let old = before.version[lpn.idx()];
                    let is_partial = extent.is_partial(lpn.0 - extent.first.0);
                    let needs_old = old > 0 && is_partial;
                    let mut reads = std::iter::successors(op.after, |read| ops[read.0 as usize].after);
                    let reads_blank = reads.any(|read| ops[read.0 as usize].is_blank);
                    let needs_blank = before.blank[lpn.idx()] && is_partial;
                    // Another unit of the page may need it.
                    let is_right = reads_blank == needs_blank || (reads_blank && self.geometry.units_per_page > 1);
                    assert!(is_right, "the rest of page {lpn}");
                    assert!(!needs_old || data.contains(&(lpn, old)), "page {lpn} is written without its rest");
                    self.oracle.version[lpn.idx()]
                }
                _ => match data.iter().find(|(of, _)| *of == lpn) {
                    Some(&(_, version)) => version,
                    None => panic!("page {lpn} is written to {ppn} without its data"),
                },
            };
            self.contents[ppn.idx()] = Some((lpn, version));
        }
        self.array.plan_program(self.geometry.place(op.ppn), OpId(0));
        self.array.start_program(self.geometry.place(op.ppn));
        if self.array.end_program(self.geometry.place(op.ppn)) {
            self.firmware.blocks.close(self.geometry.block_of(op.ppn));
        }
    }

    fn erase(&mut self, block: BlockId) {
        self.array.start_erase(block);
        self.array.end_erase(block);
        let first = self.geometry.first_ppn(block).idx();
        self.contents[first..first + self.geometry.units_per_block as usize].fill(None);
        self.firmware.erased(block, self.array);
    }
}
