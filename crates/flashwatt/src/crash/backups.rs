//! What backups of lower pages hold on flash: the part of the observer that follows them.

use std::collections::BTreeMap;

use super::bugs::Bug;
use flashwatt_base::units::{BlockId, Ppn};
use flashwatt_ssd::nand::Geometry;
use flashwatt_ssd::recovery::spare::Spare;

/// The backups that can be read: by the first address of their page what it holds, and the number of its program.
pub(super) type BackupPages = BTreeMap<Ppn, (u64, Vec<Spare>)>;

/// Follows backups.
#[derive(Clone, Default)]
pub(super) struct BackupWitness {
    /// Those on flash.
    pub pages: BackupPages,
    /// By plan number: those whose program has not ended.
    pending: BTreeMap<u64, Backup>,
    /// Those whose program has ended, but which [`Bug::BackupLate`] keeps from flash until the program of the upper page has ended.
    late: Vec<Backup>,
}

#[derive(Clone)]
struct Backup {
    /// The page that is backed up.
    source: Ppn,
    page: Ppn,
    content: (u64, Vec<Spare>),
}

impl BackupWitness {
    /// Follows backups after a power cut.
    pub fn resumed(pages: &BackupPages) -> Self {
        BackupWitness { pages: pages.clone(), ..BackupWitness::default() }
    }

    /// A backup of the page at `source` is planned.
    pub fn planned(&mut self, number: u64, source: Ppn, page: Ppn, content: Vec<Spare>) {
        self.pending.insert(number, Backup { source, page, content: (number, content) });
    }

    /// A program has ended.
    pub fn program_ended(&mut self, number: u64, bug: Bug) {
        match self.pending.remove(&number) {
            Some(backup) if bug == Bug::BackupLate => self.late.push(backup),
            Some(Backup { page, content, .. }) => _ = self.pages.insert(page, content),
            None => {}
        }
    }

    /// The program of the upper page has ended whose lower page is at `lower`.
    pub fn upper_ended(&mut self, lower: Ppn) {
        let (ended, late) = std::mem::take(&mut self.late).into_iter().partition(|backup| backup.source == lower);
        self.late = late;
        self.pages.extend(Vec::into_iter(ended).map(|Backup { page, content, .. }| (page, content)));
    }

    /// The erase of a block has ended.
    pub fn erased(&mut self, block: BlockId, geometry: &Geometry) {
        if !self.pages.is_empty() {
            self.pages.retain(|&page, _| geometry.block_of(page) != block);
        }
    }
}
