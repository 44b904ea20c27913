//! What the recovery log holds on flash: the part of the observer that follows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bugs::Bug;
use flashwatt_base::units::{BlockId, Lpn, Ppn};
use flashwatt_ssd::nand::Geometry;
use flashwatt_ssd::recovery::checkpoint::Checkpoint;
use flashwatt_ssd::recovery::log::{LogPage, LogPageOnFlash};

/// The pages of the recovery log that can be read.
pub(super) type LoggedPages = BTreeMap<Ppn, Arc<LogPageOnFlash>>;

/// Follows the recovery log.
#[derive(Default)]
pub(super) struct LogWitness {
    /// Its pages on flash.
    pub pages: LoggedPages,
    /// By plan number: what programs that have not ended will write.
    pending: BTreeMap<u64, (Ppn, Arc<LogPageOnFlash>)>,
    /// Of trimmed units the version counter at the last trim.
    pub trims: BTreeMap<Lpn, u64>,
    /// The checkpoint of the page whose program is planned next, if it has one.
    begun: Option<Arc<Checkpoint>>,
    /// The last checkpoint. Only used for [`Bug::CheckpointOlder`].
    last: Option<Arc<Checkpoint>>,
}

impl LogWitness {
    /// Follows a log after a power cut, in which a scan has found these trims.
    pub fn resumed(pages: &LoggedPages, trims: BTreeMap<Lpn, u64>) -> Self {
        LogWitness { pages: pages.clone(), trims, ..LogWitness::default() }
    }

    /// The same without what is in memory.
    pub fn on_flash(&self) -> Self {
        LogWitness { pages: self.pages.clone(), pending: self.pending.clone(), ..LogWitness::default() }
    }

    /// A unit is trimmed.
    pub fn trimmed(&mut self, lpn: Lpn, version: u64) {
        self.trims.insert(lpn, version);
    }

    /// The program of a page is planned.
    pub fn planned(&mut self, page: &LogPage, ppn: Ppn, number: u64) {
        let version_of = |&lpn: &Lpn| (lpn, self.trims.get(&lpn).copied().unwrap_or(0));
        let trims = page.trims.iter().map(version_of).collect();
        let checkpoint = self.begun.take();
        self.pending.insert(number, (ppn, Arc::new(LogPageOnFlash { part: page.part, number, trims, checkpoint })));
    }

    /// A snapshot with this checkpoint begins with the next page.
    pub fn begins(&mut self, checkpoint: Checkpoint, bug: Bug) {
        let checkpoint = match &self.last {
            Some(last) if bug == Bug::CheckpointOlder => checkpoint.with_map_of(last),
            _ if bug == Bug::EntriesForgotten => checkpoint.without_listed(),
            _ => checkpoint,
        };
        self.begun = Some(Arc::new(checkpoint));
        self.last.clone_from(&self.begun);
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
