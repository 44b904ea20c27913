//! The content of the write buffer on its way to flash at a power cut, and back from there or from the journal when the power has
//! returned.

use super::RecoveryStep;
use crate::cache::write_buffer::NewestEntry;
use crate::drive::Ssd;
use crate::nand::Reserve;
use crate::observe::probe::Probe;
use crate::operation::Cause;
use crate::recovery::dump::DumpedUnit;
use flashwatt_base::units::{BlockId, Ppn};
use std::collections::BTreeMap;

impl<P: Probe> Ssd<P> {
    /// Lets a drive that is at rest program these pages, as its capacitors let it do at a power cut. It has recovered
    /// ([`Self::recovered_ns`]) when that is done.
    pub fn begin_dump(&mut self, pages: Vec<Ppn>) {
        self.begin_step(RecoveryStep::Dump(pages));
    }

    /// The newest content of each unit in the write buffer.
    pub fn buffer_content(&self) -> Vec<NewestEntry> {
        self.buffered.as_ref().map(|buffered| buffered.buffer.kept()).unwrap_or_default()
    }

    pub(in crate::drive) fn plan_dump(&mut self, pages: &[Ppn]) {
        let mut used: BTreeMap<BlockId, u32> = BTreeMap::new();
        for &page in pages {
            self.firmware.plan.program(page, Cause::Host, None);
            *used.entry(self.geometry.block_of(page)).or_default() += 1;
        }
        for (block, pages) in used {
            let all = self.geometry.pages_of(block).take(self.geometry.whole_rows(pages) as usize);
            all.skip(pages as usize).for_each(|page| _ = self.firmware.plan.program(page, Cause::Pad, None));
        }
    }

    /// Plans reads of the pages with the content of the write buffer.
    pub(in crate::drive) fn plan_reads_of(&mut self, dumped: &[DumpedUnit]) {
        let mut pages: Vec<Ppn> = dumped.iter().map(|unit| unit.ppn).collect();
        pages.dedup_by_key(|ppn| self.geometry.page_of(*ppn));
        for page in pages {
            self.firmware.plan.read(page, Cause::Host, None);
        }
    }

    /// Puts content into the empty write buffer, as much as it has room for. All of it is to leave. Returns the number of units.
    pub(in crate::drive) fn fill_buffer(&mut self, dumped: &[DumpedUnit]) -> usize {
        let Some(buffered) = &mut self.buffered else { return 0 };
        let taken = dumped.len().min(buffered.buffer.capacity() as usize);
        for unit in &dumped[..taken] {
            let line = self.firmware.ftl.home(unit.owner).map_or(0, |die| die.0);
            let entry = buffered.buffer.take_back(unit.owner, unit.held, unit.request_pages, line);
            self.flash.accounts.buffered.written += 1;
            self.flash.accounts.probe.taken_back(entry, unit.owner, unit.version);
        }
        buffered.forced_before = buffered.forced_before.max(buffered.buffer.made());
        self.buffer_changed = true;
        taken
    }

    /// Plans erases of the blocks that held the content of the write buffer.
    pub(in crate::drive) fn plan_erases_of_dumped(&mut self) {
        for &block in &self.firmware.reserved[Reserve::Dump] {
            if self.flash.array.planned_pages(block) > 0 {
                self.firmware.plan.erase(self.geometry.first_ppn(block), Cause::Host);
            }
        }
        for &block in &self.firmware.reserved[Reserve::Journal] {
            if self.flash.array.planned_pages(block) > 0 {
                self.firmware.plan.erase(self.geometry.first_ppn(block), Cause::Journal);
            }
        }
    }
}
