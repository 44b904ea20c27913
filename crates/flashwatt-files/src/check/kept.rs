//! What a file system has promised to find again after a power cut, and what it finds.
//!
//! A second account beside the [shadow](super::Shadow), which tells it of every page that changes or is sent. It knows nothing
//! of how a file system makes data durable. When a thread asks for an fsync, it notes the versions of the file's pages, and of the
//! metadata that leads to them. When the fsync has ended, these versions, or newer ones, must be found after any later cut.
//!
//! What a block holds after a cut follows from the version that the drive holds of it: a write has a later version than the drive's last
//! one when it was sent, and no block is written twice at one time. Where a page is looked for is the question of a mount
//! ([`Mounts`]).
//!
//! Not looked at: names in directories, and times.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::journaled::{EMPTY, Journaled, Note, Replay};
use crate::disk::{BLOCK_BYTES, Block, Owner, PageKey};
use crate::operation::FileId;
use flashwatt_core::connector::VersionClock;

/// The number of a log; 0 for what belongs to none.
type LogId = u32;

/// By page: a version of it.
type Versions = BTreeMap<PageKey, u64>;

/// How a mount after a power cut finds where pages lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mounts {
    /// A page lies where it was sent last.
    InPlace,
    /// From the newest checkpoint region that is whole, and from the logs behind it up to the first that is not.
    RollForward,
    /// From the newest super root before the first log that is not whole.
    SuperRoot,
    /// A page lies where it was sent last, and metadata is as the last transaction of a journal left it: those are replayed from the one that
    /// the journal's superblock names, up to the first without its commit block.
    Journal,
}

/// The version that a drive holds of a block: of several units the oldest; none if one of them holds nothing.
pub type HeldVersions<'a> = &'a dyn Fn(Block) -> Option<u64>;

/// What was sent to a block.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The drive's last version then: the block holds this if the drive has a later version.
    after: u64,
    /// The page, and its version; none for a block that is no page of the cache.
    page: Option<(PageKey, u64)>,
    log: LogId,
}

/// What is known of a file.
#[derive(Debug, Default)]
struct File {
    /// Tells it from a file that had its number before.
    born: u64,
    /// Changes of its pages, and of the metadata that leads to them, that no fsync has made durable.
    open: Versions,
    /// What must be found again.
    promised: Versions,
}

/// An fsync under way.
#[derive(Debug)]
struct Asked {
    file: FileId,
    born: u64,
    versions: Versions,
}

/// What a mount finds of all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilesFound {
    /// Files with fsynced data, and the bytes of that: whole pages.
    pub fsynced: u32,
    /// As `fsynced`.
    pub fsynced_bytes: u64,
    /// Files of which fsynced data is lost, and the bytes of that. Must be 0.
    pub lost: u32,
    /// As `lost`.
    pub lost_bytes: u64,
    /// Files with changes that no fsync had made durable and that are gone, and the bytes of that.
    pub rolled_back: u32,
    /// As `rolled_back`.
    pub rolled_back_bytes: u64,
    /// Blocks that committed metadata gives to a file, and that do not hold its data: what others had there could be read. Must be 0.
    pub exposed_blocks: u32,
}

/// The account.
#[derive(Debug)]
pub struct Kept {
    versions: VersionClock,
    mounts: Mounts,
    /// By block: what was sent there, in this order.
    sent: HashMap<Block, Vec<Sent>>,
    /// By page: the logs in which it was sent and its blocks there, in this order.
    places: HashMap<PageKey, Vec<(LogId, Block)>>,
    files: BTreeMap<FileId, File>,
    /// The file for which metadata changes now.
    acts_for: Option<FileId>,
    asked: BTreeMap<u32, Asked>,
    numbers: u64,
    /// The log that is being sent, and the blocks of each.
    log: LogId,
    logs: BTreeMap<LogId, Vec<Block>>,
    /// Checkpoint regions by the numbers of their own writes, and the last log that each covers.
    regions: BTreeMap<LogId, LogId>,
    /// Logs that end in a super root.
    roots: BTreeSet<LogId>,
    journal: Journaled,
}

impl Kept {
    /// The account of a file system that is mounted like this, on a drive with this clock.
    pub fn new(versions: VersionClock, mounts: Mounts) -> Self {
        Kept {
            versions,
            mounts,
            sent: HashMap::new(),
            places: HashMap::new(),
            files: BTreeMap::new(),
            acts_for: None,
            asked: BTreeMap::new(),
            numbers: 0,
            log: 0,
            logs: BTreeMap::new(),
            regions: BTreeMap::new(),
            roots: BTreeSet::new(),
            journal: Journaled::default(),
        }
    }

    /// Metadata that changes from now on leads to the data of this file, or of none in particular.
    pub fn act_for(&mut self, file: Option<FileId>) {
        self.acts_for = file;
    }

    /// A page has changed.
    pub fn changed(&mut self, key: PageKey, version: u64) {
        if let Some(file) = key.owner.file().or(self.acts_for) {
            self.file(file).open.insert(key, version);
        }
    }

    fn file(&mut self, file: FileId) -> &mut File {
        let numbers = &mut self.numbers;
        self.files.entry(file).or_insert_with(|| {
            *numbers += 1;
            File { born: *numbers, ..File::default() }
        })
    }

    /// A page is not used any more.
    pub fn removed(&mut self, key: PageKey) {
        self.places.remove(&key);
    }

    /// A file is removed: nothing of it is promised any more.
    pub fn file_removed(&mut self, file: FileId) {
        self.files.remove(&file);
    }

    /// A page, or something else, is sent to a block.
    pub fn sent(&mut self, block: Block, page: Option<(PageKey, u64)>) {
        let (after, log) = (self.versions.now(), self.log);
        self.sent.entry(block).or_default().push(Sent { after, page, log });
        if matches!(self.mounts, Mounts::RollForward | Mounts::SuperRoot) {
            self.logs.entry(log).or_default().push(block);
        }
        let Some((key, _)) = page else { return };
        let places = self.places.entry(key).or_default();
        if matches!(self.mounts, Mounts::InPlace | Mounts::Journal) {
            places.clear();
        }
        places.push((log, block));
    }

    /// A block of a transaction is sent to a journal: a copy of a page of metadata, or another one.
    pub fn sent_to_journal(&mut self, block: Block, transaction: LogId, copy: Option<(PageKey, u64)>) {
        let after = self.versions.now();
        self.sent.entry(block).or_default().push(Sent { after, page: copy, log: transaction });
        self.journal.sent(transaction, block, copy.map(|(key, _)| key.index));
    }

    /// Takes a note of a journal.
    pub fn note(&mut self, note: Note) {
        self.journal.note(note);
    }

    /// The superblock of the journal is sent: a mount begins with this transaction, or replays none.
    pub fn sent_superblock(&mut self, block: Block, begins: Option<LogId>) {
        let (after, log) = (self.versions.now(), begins.unwrap_or(EMPTY));
        self.sent.entry(block).or_default().push(Sent { after, page: None, log });
        self.journal.superblock = Some(block);
    }

    /// What a mount replays.
    fn replay(&self, found: HeldVersions) -> Replay {
        if self.mounts != Mounts::Journal {
            return Replay::default();
        }
        let superblock = self.journal.superblock.and_then(|block| self.holds(block, found));
        // Before the first write of the superblock it says that the journal is empty.
        let begins = superblock.map_or(EMPTY, |sent| sent.log);
        let is_held = |block, transaction| self.holds(block, found).is_some_and(|sent| sent.log == transaction);
        if begins == EMPTY { Replay::default() } else { self.journal.replay(begins, is_held) }
    }

    /// Blocks that replayed metadata gives to a page whose data they do not hold.
    fn exposed(&self, replay: &Replay, found: HeldVersions) -> u32 {
        let is_other = |&(page, block): &(PageKey, Block)| {
            let held = self.holds(block, found).and_then(|sent| sent.page);
            replay.copies.contains_key(&block) || held.is_none_or(|(key, _)| key != page)
        };
        self.journal.pointed(replay.last).filter(is_other).count() as u32
    }

    /// Blocks are not used any more: what they hold is no hole in a log.
    pub fn trimmed(&mut self, blocks: &Range<Block>) {
        for block in blocks.clone() {
            let log = self.sent.get(&block).and_then(|sent| sent.last()).map_or(0, |sent| sent.log);
            if let Some(of_log) = self.logs.get_mut(&log) {
                of_log.retain(|&other| other != block);
            }
        }
    }

    /// What is sent from now on belongs to this log.
    pub fn log_begins(&mut self, log: LogId) {
        self.log = log;
    }

    /// What is being sent is a checkpoint region: with it a mount need not read logs up to this one.
    pub fn covers(&mut self, log: LogId) {
        self.regions.insert(self.log, log);
    }

    /// A log ends in a super root.
    pub fn ends_in_root(&mut self, log: LogId) {
        self.roots.insert(log);
    }

    /// A thread asks for an fsync of some pages of a file, to which this metadata leads. Returns its number.
    pub fn asks(&mut self, file: FileId, pages: &Range<u32>, metadata: &[u32]) -> u32 {
        let counts = |key: &PageKey| match key.owner {
            Owner::META => metadata.contains(&key.index),
            _ => pages.contains(&key.index),
        };
        let of_file = self.file(file);
        let born = of_file.born;
        let versions = of_file.open.iter().filter(|(key, _)| counts(key)).map(|(&key, &version)| (key, version));
        let versions = versions.collect();
        self.numbers += 1;
        let number = self.numbers as u32;
        self.asked.insert(number, Asked { file, born, versions });
        number
    }

    /// An fsync has ended.
    pub fn has_synced(&mut self, number: u32) {
        let Some(Asked { file, born, versions }) = self.asked.remove(&number) else { return };
        let Some(file) = self.files.get_mut(&file).filter(|file| file.born == born) else { return };
        for (key, version) in versions {
            let promised = file.promised.entry(key).or_default();
            *promised = version.max(*promised);
            if file.open.get(&key) == Some(&version) {
                file.open.remove(&key);
            }
        }
    }

    /// What was sent last to a block of what it may hold.
    fn holds(&self, block: Block, found: HeldVersions) -> Option<&Sent> {
        let (sent, version) = (self.sent.get(&block)?, found(block)?);
        sent[..sent.partition_point(|sent| sent.after < version)].last()
    }

    /// Whether all blocks of a log, or of a region, hold it.
    fn is_whole(&self, log: LogId, found: HeldVersions) -> bool {
        let blocks = self.logs.get(&log).map_or(&[][..], Vec::as_slice);
        blocks.iter().all(|&block| self.holds(block, found).is_some_and(|sent| sent.log == log))
    }

    /// Whether a block of a log holds something older than it. Something newer is no hole: a checkpoint has made room for that.
    fn is_missing(&self, log: LogId, found: HeldVersions) -> bool {
        let is_older = |&block: &Block| self.holds(block, found).is_none_or(|sent| sent.log < log);
        self.logs.get(&log).is_some_and(|blocks| blocks.iter().any(is_older))
    }

    /// The last log that a mount finds.
    fn reached(&self, found: HeldVersions) -> LogId {
        match self.mounts {
            Mounts::InPlace | Mounts::Journal => 0,
            Mounts::SuperRoot => {
                let logs = self.logs.keys().copied().filter(|log| !self.regions.contains_key(log));
                let before_hole = logs.take_while(|&log| !self.is_missing(log, found));
                let whole = before_hole.filter(|&log| self.roots.contains(&log) && self.is_whole(log, found));
                whole.last().unwrap_or_default()
            }
            Mounts::RollForward => {
                let whole = self.regions.iter().rev().find(|&(&region, _)| self.is_whole(region, found));
                let covered = whole.map_or(0, |(_, &covered)| covered);
                let later = self.logs.range(covered + 1..).map(|(&log, _)| log);
                let found_ones = later.filter(|log| !self.regions.contains_key(log));
                found_ones.take_while(|&log| self.is_whole(log, found)).last().unwrap_or(covered)
            }
        }
    }

    /// The version of a page that a mount finds which has reached this log; 0 if it finds none, or one from before the run.
    fn version_of(&self, key: PageKey, reached: LogId, replay: &Replay, found: HeldVersions) -> u64 {
        if let Some(&(transaction, at)) = replay.copies.get(&key.index).filter(|_| key.owner == Owner::META) {
            let copy = self.holds(at, found).filter(|sent| sent.log == transaction);
            return copy.and_then(|sent| sent.page).map_or(0, |(_, version)| version);
        }
        let places = self.places.get(&key).map_or(&[][..], Vec::as_slice);
        let place = places[..places.partition_point(|&(log, _)| log <= reached)].last();
        let is_kept = |&&(_, block): &&(LogId, Block)| !replay.copies.contains_key(&block);
        let page = place.filter(is_kept).and_then(|&(_, block)| self.holds(block, found)?.page);
        page.map_or(0, |(held, version)| if held == key { version } else { 0 })
    }

    /// What a mount finds on a drive that holds these versions. `leads_to` gives the metadata that leads to a file's data.
    pub fn after_cut(&self, leads_to: &dyn Fn(FileId) -> Vec<u32>, found: HeldVersions) -> FilesFound {
        let (reached, replay) = (self.reached(found), self.replay(found));
        let lacks = |(&key, &version): (&PageKey, &u64)| self.version_of(key, reached, &replay, found) < version;
        let mut all = FilesFound { exposed_blocks: self.exposed(&replay, found), ..FilesFound::default() };
        for (&id, file) in &self.files {
            let metadata: BTreeSet<u32> = leads_to(id).into_iter().collect();
            let [of_promised, of_open] = [&file.promised, &file.open].map(|versions| {
                let counts = |key: &PageKey| key.owner != Owner::META || metadata.contains(&key.index);
                versions.iter().filter(|(key, _)| counts(key)).map(|one| (one.0.owner, lacks(one))).collect::<Vec<_>>()
            });
            let is_astray = |of: &[(Owner, bool)]| of.contains(&(Owner::META, true));
            // Without what leads to it no page is found.
            let (promised, open) = (is_astray(&of_promised), is_astray(&of_promised) || is_astray(&of_open));
            let gone = |of: &[(Owner, bool)], all_are: bool| {
                let pages = of.iter().filter(|&&(owner, lacks)| owner != Owner::META && (lacks || all_are)).count();
                (u32::from(pages > 0 || (all_are && !of.is_empty())), pages as u64 * BLOCK_BYTES)
            };
            let [fsynced, lost, back] = [gone(&of_promised, true), gone(&of_promised, promised), gone(&of_open, open)];
            (all.fsynced, all.fsynced_bytes) = (all.fsynced + fsynced.0, all.fsynced_bytes + fsynced.1);
            (all.lost, all.lost_bytes) = (all.lost + lost.0, all.lost_bytes + lost.1);
            (all.rolled_back, all.rolled_back_bytes) = (all.rolled_back + back.0, all.rolled_back_bytes + back.1);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId(7);
    const INODE: u32 = 3;

    fn page(index: u32) -> PageKey {
        PageKey::new(Owner::of(FILE), index)
    }

    /// What a mount finds if the drive holds these versions of these blocks.
    fn mount(kept: &Kept, versions: &[(Block, u64)]) -> FilesFound {
        let found = |block| versions.iter().find(|&&(at, _)| at == block).map(|&(_, version)| version);
        kept.after_cut(&|_| vec![INODE], &found)
    }

    fn found(fsynced: u64, lost: u64, rolled_back: u64) -> FilesFound {
        let files = |pages: u64| u32::from(pages > 0);
        FilesFound {
            fsynced: files(fsynced),
            fsynced_bytes: fsynced * BLOCK_BYTES,
            lost: files(lost),
            lost_bytes: lost * BLOCK_BYTES,
            rolled_back: files(rolled_back),
            rolled_back_bytes: rolled_back * BLOCK_BYTES,
            exposed_blocks: 0,
        }
    }

    fn sync(kept: &mut Kept) {
        let number = kept.asks(FILE, &(0..u32::MAX), &[INODE]);
        kept.has_synced(number);
    }

    /// A file of two pages at blocks 20 and 21, whose inode is block 3; the drive gives versions 2, 3 and 4 to their first writes.
    fn in_place() -> (Kept, VersionClock) {
        let versions = VersionClock::default();
        versions.set(1);
        let mut kept = Kept::new(versions.clone(), Mounts::InPlace);
        kept.act_for(Some(FILE));
        kept.changed(PageKey::meta(INODE), 11);
        kept.changed(PageKey::meta(9), 12); // a bitmap: no page is found by it
        kept.act_for(None);
        (0..2).for_each(|at| kept.changed(page(at), 13 + u64::from(at)));
        kept.sent(20, Some((page(0), 13)));
        kept.sent(21, Some((page(1), 14)));
        kept.sent(3, Some((PageKey::meta(INODE), 11)));
        versions.set(4);
        (kept, versions)
    }

    #[test]
    fn what_no_fsync_has_made_durable_may_go() {
        let (kept, _) = in_place();
        assert_eq!(mount(&kept, &[(20, 2), (21, 3), (3, 4)]), found(0, 0, 0));
        assert_eq!(mount(&kept, &[(20, 2), (21, 1), (3, 4)]), found(0, 0, 1), "block 21 holds what it held before");
        assert_eq!(mount(&kept, &[(20, 2), (21, 3), (3, 1)]), found(0, 0, 2), "no inode leads to the pages");
    }

    #[test]
    fn what_an_fsync_has_made_durable_must_be_found() {
        let (mut kept, versions) = in_place();
        sync(&mut kept);
        assert_eq!(mount(&kept, &[(20, 2), (21, 3), (3, 4)]), found(2, 0, 0));
        assert_eq!(mount(&kept, &[(20, 2), (21, 1), (3, 4)]), found(2, 1, 0));
        assert_eq!(mount(&kept, &[(20, 2), (21, 3)]), found(2, 2, 0), "the inode's block holds nothing");
        kept.changed(page(0), 15);
        kept.sent(20, Some((page(0), 15)));
        versions.set(5);
        assert_eq!(mount(&kept, &[(20, 2), (21, 3), (3, 4)]), found(2, 0, 1), "the older one was durable");
        kept.sent(20, Some((page(1), 14)));
        assert_eq!(mount(&kept, &[(20, 6), (21, 3), (3, 4)]), found(2, 1, 1), "another page's data");
        kept.file_removed(FILE);
        assert_eq!(mount(&kept, &[]), found(0, 0, 0));
    }

    #[test]
    fn an_fsync_covers_what_had_changed_when_it_was_asked_for() {
        let (mut kept, _) = in_place();
        let number = kept.asks(FILE, &(0..1), &[INODE]);
        kept.changed(page(0), 15);
        kept.has_synced(number);
        assert_eq!(
            mount(&kept, &[(20, 2), (3, 4)]),
            found(1, 0, 2),
            "page 0 at its first version, and nothing of page 1"
        );
        assert_eq!(mount(&kept, &[(21, 3), (3, 4)]), found(1, 1, 1));
    }

    /// A journal whose superblock is block 1. Transaction 1 (blocks 100 to 102) has the inode of a page in block 20; transaction 2 (103 to 105) the
    /// inode again, and revokes block 20; transaction 3 (106 to 108) gives block 21 to page 1.
    fn journal() -> (Kept, VersionClock) {
        let versions = VersionClock::default();
        let mut kept = Kept::new(versions.clone(), Mounts::Journal);
        let step = |kept: &mut Kept, send: &mut dyn FnMut(&mut Kept)| {
            send(kept);
            versions.set(versions.now() + 1);
        };
        let commit = |kept: &mut Kept, id: LogId, first: Block, inode: u64| {
            kept.act_for(Some(FILE));
            kept.changed(PageKey::meta(INODE), inode);
            kept.act_for(None);
            step(kept, &mut |kept| kept.sent_to_journal(first, id, None));
            step(kept, &mut |kept| kept.sent_to_journal(first + 1, id, Some((PageKey::meta(INODE), inode))));
            step(kept, &mut |kept| kept.sent_to_journal(first + 2, id, None));
            kept.note(Note::Ends(id));
        };
        kept.changed(page(0), 1);
        kept.sent(20, Some((page(0), 1)));
        versions.set(1);
        kept.sent_superblock(1, Some(1));
        versions.set(2);
        kept.note(Note::Points(1, page(0), 20..21));
        commit(&mut kept, 1, 100, 10); // versions 3 to 5
        sync(&mut kept);
        commit(&mut kept, 2, 103, 11); // 6 to 8
        kept.note(Note::Revokes(2, 20));
        kept.note(Note::Points(3, page(1), 21..22));
        commit(&mut kept, 3, 106, 12); // 9 to 11
        (kept, versions)
    }

    #[test]
    fn a_journal_is_replayed_up_to_the_first_transaction_without_its_end() {
        let (kept, _) = journal();
        let all: Vec<(Block, u64)> = [(20, 1), (1, 2)].into_iter().chain((100..109).zip(3..)).collect();
        let without = |block| all.iter().copied().filter(|&(at, _)| at != block).collect::<Vec<_>>();
        assert_eq!((mount(&kept, &all).lost, mount(&kept, &all).exposed_blocks), (0, 1), "nothing is in block 21");
        let third = mount(&kept, &without(108));
        assert_eq!((third.lost, third.exposed_blocks), (0, 0), "transaction 3 has no commit block");
        assert_eq!(mount(&kept, &without(103)).lost, 0, "transaction 1 has the promised inode");
        assert_eq!(mount(&kept, &without(102)).lost, 1, "no transaction is replayed");
        assert_eq!(mount(&kept, &without(1)).lost, 1, "the superblock says that the journal is empty");
        assert_eq!(mount(&kept, &without(101)).lost, 0, "transaction 2 has a newer copy");
        let first: Vec<_> = without(101).into_iter().filter(|&(at, _)| at < 103).collect();
        assert_eq!(mount(&kept, &first).lost, 1, "the only copy is not there");
    }

    #[test]
    fn a_block_that_is_not_revoked_comes_back() {
        let (mut kept, versions) = journal();
        // Block 20 was metadata in transaction 1, too.
        kept.sent_to_journal(200, 1, Some((PageKey::meta(20), 5)));
        versions.set(versions.now() + 1);
        let all: Vec<(Block, u64)> = [(20, 1), (1, 2), (200, 12)].into_iter().chain((100..109).zip(3..)).collect();
        assert_eq!(mount(&kept, &all).lost, 0, "transaction 2 revokes it");
        let first: Vec<_> = all.iter().copied().filter(|&(at, _)| !(103..109).contains(&at)).collect();
        assert_eq!((mount(&kept, &first).lost, mount(&kept, &first).exposed_blocks), (1, 1), "written over");
    }

    /// Log 1 at blocks 10 and 11, log 2 at block 12, then region 3 at block 5, which covers log 1, then log 4 at block 13.
    fn logs(mounts: Mounts) -> Kept {
        let versions = VersionClock::default();
        let mut kept = Kept::new(versions.clone(), mounts);
        let send = |kept: &mut Kept, log, block, key: Option<(PageKey, u64)>| {
            kept.log_begins(log);
            kept.sent(block, key);
            versions.set(versions.now() + 1);
        };
        kept.changed(page(0), 1);
        send(&mut kept, 1, 10, None);
        send(&mut kept, 1, 11, Some((page(0), 1)));
        sync(&mut kept);
        kept.changed(page(1), 2);
        send(&mut kept, 2, 12, Some((page(1), 2)));
        send(&mut kept, 3, 5, None);
        kept.covers(1);
        kept.changed(page(0), 3);
        send(&mut kept, 4, 13, Some((page(0), 3)));
        kept
    }

    #[test]
    fn logs_are_found_from_the_newest_whole_region_up_to_the_first_hole() {
        let kept = logs(Mounts::RollForward);
        let all = [(10, 1), (11, 2), (12, 3), (5, 4), (13, 5)];
        assert_eq!(mount(&kept, &all), found(1, 0, 0));
        assert_eq!(mount(&kept, &all[..4]), found(1, 0, 1), "page 0 is found where log 1 has it");
        assert_eq!(mount(&kept, &[all[0], all[1], all[3], all[4]]), found(1, 0, 2), "log 4 lies behind a hole");
        assert_eq!(mount(&kept, &[all[1], all[2], all[3]]), found(1, 0, 1), "what the region covers need not be whole");
        assert_eq!(mount(&kept, &[all[1], all[2]]), found(1, 1, 2), "without it log 1 is not found");
    }

    #[test]
    fn the_newest_whole_log_with_a_super_root_before_a_hole_counts() {
        let mut kept = logs(Mounts::SuperRoot);
        kept.ends_in_root(1);
        kept.ends_in_root(4);
        let all = [(10, 1), (11, 2), (12, 3), (13, 5)];
        assert_eq!(mount(&kept, &all), found(1, 0, 0));
        assert_eq!(mount(&kept, &all[..3]), found(1, 0, 2), "log 2 belongs to no checkpoint");
        assert_eq!(mount(&kept, &[(11, 2), (12, 3)]), found(1, 1, 2));
        assert_eq!(mount(&kept, &[all[0], all[1], all[3]]), found(1, 0, 2), "log 4 lies behind a hole");
        kept.log_begins(5);
        kept.sent(10, None);
        let over = [(10, 6), (11, 2), (12, 3), (13, 5)];
        assert_eq!(mount(&kept, &over), found(1, 0, 0), "log 1 has made room for log 5");
        assert_eq!(mount(&kept, &over[1..]), found(1, 1, 2));
        let mut kept = logs(Mounts::SuperRoot);
        kept.ends_in_root(4);
        kept.trimmed(&(10..11));
        assert_eq!(mount(&kept, &all[1..]), found(1, 0, 0), "a trimmed block is no hole");
    }
}
