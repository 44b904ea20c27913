//! What the journal of the write buffer holds on flash: the part of the observer that follows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use flashwatt_base::units::{BlockId, Ppn};
use flashwatt_ssd::nand::Geometry;
use flashwatt_ssd::recovery::journal::{JournalPages, JournalRecord, Journaled};

/// Follows the journal.
#[derive(Clone, Default)]
pub(super) struct JournalWitness {
    /// Its pages on flash.
    pub pages: JournalPages,
    /// By plan number: what programs that have not ended will write.
    pending: BTreeMap<u64, (Ppn, Arc<[Journaled]>)>,
    /// Units that have been written into the buffer: the number of the next record.
    made: u64,
    /// The versions of records that no page has, by their numbers.
    versions: BTreeMap<u64, u64>,
}

impl JournalWitness {
    /// Follows a journal after a power cut.
    pub fn resumed(pages: &JournalPages) -> Self {
        JournalWitness { pages: pages.clone(), ..JournalWitness::default() }
    }

    /// A unit is written into the buffer, and has this version.
    pub fn written(&mut self, version: u64) {
        self.versions.insert(self.made, version);
        self.made += 1;
    }

    /// The program of a page with these records is planned.
    pub fn planned(&mut self, records: &[JournalRecord], ppn: Ppn, number: u64) {
        let with_version = |&record: &JournalRecord| Journaled { record, version: self.versions[&record.number] };
        self.pending.insert(number, (ppn, records.iter().map(with_version).collect()));
        if let Some(last) = records.last() {
            self.versions = self.versions.split_off(&(last.number + 1)); // pages take records in their order
        }
    }

    /// A program has ended.
    pub fn program_ended(&mut self, number: u64) {
        self.pages.extend(self.pending.remove(&number));
    }

    /// The erase of a block has ended.
    pub fn erased(&mut self, block: BlockId, geometry: &Geometry) {
        if !self.pages.is_empty() {
            self.pages.retain(|&ppn, _| geometry.block_of(ppn) != block);
        }
    }
}
