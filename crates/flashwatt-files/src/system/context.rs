//! What a file system sees while it carries out an operation: the page cache, and the way to the disk.

use std::ops::Range;

use super::{Block, FileSystem, Owner, PageKey, Stop, Sync, Tried};
use crate::cache::PageCache;
use crate::check::Note;
use crate::disk::{IoFigures, IoId, Ios, Kind, PageId, Ticket, WriteCause};
use crate::operation::FileId;
use flashwatt_base::units::Nanos;

/// The context of a file system's methods.
pub struct Cx<'a> {
    /// The present time in ns.
    pub now: Nanos,
    pub(crate) cache: &'a mut PageCache,
    pub(crate) ios: &'a mut Ios,
    pub(crate) figures: &'a mut IoFigures,
    /// What the caller waits for.
    pub(crate) waits: &'a mut Vec<IoId>,
    /// The process for which requests are sent.
    pub(crate) process: u16,
    /// Why pages are written.
    pub(crate) cause: WriteCause,
    /// Whether the disk is being laid down, without a clock.
    pub(crate) is_instant: bool,
    /// Whether the file system asks for [`FileSystem::work`].
    pub(crate) wants_work: &'a mut bool,
}

impl Cx<'_> {
    /// Whether the disk is being laid down: everything is in memory, and nothing is written.
    pub fn is_instant(&self) -> bool {
        self.is_instant
    }

    /// A page of metadata, which lies at `block`, is in memory. If not, it is read, and the method waits.
    pub fn read_meta(&mut self, index: u32, block: Block) -> Tried<()> {
        if self.is_instant {
            return Ok(());
        }
        let key = PageKey::meta(index);
        match self.cache.touch(key) {
            Some(page) => self.arrived(page),
            None => {
                let page = self.cache.insert(key);
                self.figures.meta_reads += 1;
                let io = self.ios.send(Kind::Read, block, 1, self.process, true);
                self.take_along(io, page);
                self.wait_for(io)
            }
        }
    }

    /// A page of metadata has changed. It is in memory, or its whole content is new.
    pub fn dirty_meta(&mut self, index: u32) {
        if !self.is_instant {
            self.dirty(PageKey::meta(index));
        }
    }

    /// A page of metadata is not used any more.
    pub fn forget_meta(&mut self, index: u32) {
        if !self.is_instant {
            self.cache.remove(PageKey::meta(index));
        }
    }

    /// A page of metadata has changed in a transaction of a journal. As [`Self::dirty_meta`], but it is not written back until the
    /// transaction lets it go. Returns whether this is the first change in the transaction.
    #[inline]
    pub fn hold_meta(&mut self, index: u32, transaction: u32) -> bool {
        !self.is_instant && self.cache.hold(PageKey::meta(index), transaction)
    }

    /// The transaction that holds a page of metadata; 0: none.
    pub fn holder(&self, index: u32) -> u32 {
        self.cache.holder(PageKey::meta(index))
    }

    /// A transaction has ended: a page of metadata is dirty from now on, unless a later one holds it.
    pub fn let_go_meta(&mut self, index: u32, transaction: u32) {
        self.cache.let_go(PageKey::meta(index), transaction, self.now);
    }

    /// The version of a page of metadata in the second account; 0 without one.
    pub fn meta_version(&self, index: u32) -> u64 {
        self.cache.shadow.as_ref().map_or(0, |shadow| shadow.version(PageKey::meta(index)))
    }

    /// Whether a page of metadata is on the disk as it is in memory.
    pub fn is_at_rest(&self, index: u32) -> bool {
        let key = PageKey::meta(index);
        self.cache.holder(key) == 0 && !self.cache.is_dirty(key) && self.cache.io_writing(key).is_none()
    }

    /// Sends consecutive blocks of a journal: copies of pages of metadata with their versions, and others.
    pub fn write_journal(&mut self, transaction: u32, block: Block, copies: &[Option<(u32, u64)>]) -> Ticket {
        let blocks = copies.len() as u32;
        let io = self.ios.send(Kind::Write, block, blocks, self.process, self.cause.is_waited_for());
        if let Some(shadow) = &mut self.cache.shadow {
            shadow.sent_journal(transaction, block, copies);
        }
        (0..blocks).for_each(|_| self.figures.wrote(self.cause, true));
        self.ios.ticket(io)
    }

    /// Sends the superblock of a journal: a mount begins with this transaction, or replays none.
    pub fn write_journal_superblock(&mut self, block: Block, begins: Option<u32>) -> Ticket {
        let io = self.ios.send(Kind::Write, block, 1, self.process, self.cause.is_waited_for());
        if let Some(shadow) = &mut self.cache.shadow {
            shadow.sent_superblock(block, begins);
        }
        self.figures.wrote(self.cause, true);
        self.ios.ticket(io)
    }

    /// What the account of what a mount finds has to know of a journal.
    pub fn note(&mut self, note: Note) {
        self.cache.keep(|kept| kept.note(note));
    }

    /// Adds the requests that write pages of an owner.
    pub fn requests_writing(&mut self, owner: Owner, pages: &Range<u32>, requests: &mut Vec<Ticket>) {
        let mut ios = Vec::new();
        self.cache.ios_writing(owner, pages.start, pages.end, &mut ios);
        requests.extend(ios.into_iter().map(|io| self.ios.ticket(io)));
    }

    /// The dirty pages of an owner in a range that are not on their way to the disk already, in order.
    pub fn resting_dirty_pages(&self, owner: Owner, pages: &Range<u32>) -> Vec<PageKey> {
        let mut dirty = self.cache.dirty_pages_between(owner, pages.start, pages.end);
        dirty.retain(|&key| self.cache.io_writing(key).is_none());
        dirty
    }

    /// Calls with what is sent meanwhile sent by the file system's own process, for a cause.
    pub fn on_own_account<R>(&mut self, cause: WriteCause, call: impl FnOnce(&mut Self) -> R) -> R {
        let before = (self.process, self.cause);
        (self.process, self.cause) = (0, cause);
        let done = call(self);
        (self.process, self.cause) = before;
        done
    }

    /// Whether a page is dirty.
    pub fn is_dirty(&self, key: PageKey) -> bool {
        self.cache.is_dirty(key)
    }

    /// All dirty pages, in the order of owners and indices. Metadata comes last.
    pub fn all_dirty_pages(&self) -> Vec<PageKey> {
        self.cache.all_dirty_pages()
    }

    /// The dirty pages of an owner, in order.
    pub fn dirty_pages(&self, owner: Owner) -> Vec<PageKey> {
        self.cache.dirty_pages(owner)
    }

    /// A page has changed.
    pub(crate) fn dirty(&mut self, key: PageKey) {
        self.cache.dirty(key, self.now);
    }

    /// Sends pages to consecutive blocks, as one request. They are clean from now on.
    pub fn write(&mut self, pages: &[PageKey], block: Block) -> Ticket {
        let io = self.ios.send(Kind::Write, block, pages.len() as u32, self.process, self.cause.is_waited_for());
        if let Some(shadow) = &mut self.cache.shadow {
            shadow.sent(pages, block);
        }
        for &key in pages {
            let page = self.cache.start_write(key, io);
            self.ios.add_page(io, page);
            self.figures.wrote(self.cause, key.owner == Owner::META);
        }
        self.ios.ticket(io)
    }

    /// Sends pages to where they lie: pages on consecutive blocks are one request, up to the longest one. The pages are in the
    /// order in which they are sent.
    pub fn write_in_place(&mut self, pages: &[(PageKey, Block)]) {
        let mut rest = pages;
        let mut keys = Vec::new();
        while let Some(&(_, block)) = rest.first() {
            let follows = |(at, &(_, other)): (usize, &(PageKey, Block))| other == block + at as u32;
            let longest = self.ios.longest_blocks as usize;
            let count = rest.iter().enumerate().take(longest).take_while(|&page| follows(page)).count();
            let (now, later) = rest.split_at(count);
            keys.clear();
            keys.extend(now.iter().map(|&(key, _)| key));
            self.write(&keys, block);
            rest = later;
        }
    }

    /// Sends the dirty pages of a file that are made durable. Waits first for those that are on their way to the disk already, and
    /// afterwards, in [`Self::wait`], for all of them.
    pub fn write_file(&mut self, system: &mut dyn FileSystem, file: FileId, sync: Sync) -> Tried<()> {
        let pages = self.cache.dirty_pages_between(Owner::of(file), sync.first, sync.end);
        pages.iter().for_each(|&key| self.wait_page_written(key));
        self.wait()?;
        if !pages.is_empty() {
            system.write_out(&pages, self)?;
        }
        self.cache.ios_writing(Owner::of(file), sync.first, sync.end, self.waits);
        Ok(())
    }

    /// Sends those of some pages of metadata that are dirty: indices and blocks, in any order. As [`Self::write_file`].
    pub fn write_meta(&mut self, pages: impl IntoIterator<Item = (u32, Block)>) -> Tried<()> {
        let keyed = pages.into_iter().map(|(index, block)| (PageKey::meta(index), block));
        let mut pages: Vec<_> = keyed.collect();
        pages.sort_unstable_by_key(|&(_, block)| block);
        pages.iter().for_each(|&(key, _)| self.wait_page_written(key));
        self.wait()?;
        pages.retain(|&(key, _)| self.is_dirty(key));
        self.write_in_place(&pages);
        pages.iter().for_each(|&(key, _)| self.wait_page_written(key));
        Ok(())
    }

    /// Sends blocks that are in no page of the cache, such as a summary of a segment.
    pub fn write_blocks(&mut self, block: Block, blocks: u32) -> Ticket {
        let io = self.ios.send(Kind::Write, block, blocks, self.process, self.cause.is_waited_for());
        if let Some(shadow) = &mut self.cache.shadow {
            shadow.sent_other(block, blocks);
        }
        (0..blocks).for_each(|_| self.figures.wrote(self.cause, true));
        self.ios.ticket(io)
    }

    /// Reads consecutive blocks as one request. Pages that lie there and are not in memory come with it.
    pub fn read_blocks(&mut self, block: Block, blocks: u32, pages: &[(PageKey, Block)]) -> Ticket {
        let io = self.ios.send(Kind::Read, block, blocks, self.process, self.cause.is_waited_for());
        for &(key, at) in pages {
            if self.cache.holds(key) {
                continue;
            }
            if let Some(shadow) = &mut self.cache.shadow {
                shadow.lies_at(key, at);
            }
            let page = self.cache.insert(key);
            self.take_along(io, page);
        }
        self.figures.cleaning_reads += u64::from(blocks);
        self.ios.ticket(io)
    }

    /// What is sent from now on belongs to this log, or to the write of a checkpoint region. For the account of what a mount finds.
    pub fn log_begins(&mut self, log: u32) {
        self.cache.keep(|kept| kept.log_begins(log));
    }

    /// What is sent from now on is a checkpoint region, with which a mount need not read logs up to this one.
    pub fn region_covers(&mut self, log: u32) {
        self.cache.keep(|kept| kept.covers(log));
    }

    /// A log that was sent ends in a super root.
    pub fn ends_in_root(&mut self, log: u32) {
        self.cache.keep(|kept| kept.ends_in_root(log));
    }

    /// Longest request in blocks.
    pub fn longest_blocks(&self) -> u32 {
        self.ios.longest_blocks
    }

    /// Whether a request has not ended.
    pub fn is_under_way(&self, ticket: Ticket) -> bool {
        self.ios.is_under_way(ticket)
    }

    /// Waits for a request, if it has not ended.
    pub fn wait_until_ended(&mut self, ticket: Ticket) {
        if self.is_under_way(ticket) {
            self.waits.push(ticket.io);
        }
    }

    /// Waits for a page, if it is being read.
    pub fn wait_page_read(&mut self, key: PageKey) {
        let reading = self.cache.find(key).and_then(|page| self.cache.io_reading(page));
        self.waits.extend(reading);
    }

    /// Asks for [`FileSystem::work`] now, whatever time it gave for its next look.
    pub fn start_work(&mut self) {
        *self.wants_work = true;
    }

    /// Waits until no page of an owner is on its way to the disk.
    pub fn wait_written(&mut self, owner: Owner) {
        self.cache.ios_writing(owner, 0, u32::MAX, self.waits);
    }

    /// Waits for a page, if it is on its way to the disk.
    pub fn wait_page_written(&mut self, key: PageKey) {
        self.waits.extend(self.cache.io_writing(key));
    }

    /// Makes durable what has been written, and waits for that.
    pub fn flush(&mut self) -> Ticket {
        let flush = self.request_flush();
        self.waits.push(flush.io);
        flush
    }

    /// Makes durable what has been written.
    pub fn request_flush(&mut self) -> Ticket {
        let (io, is_new) = self.ios.flush(self.process);
        self.figures.flushes += u64::from(is_new);
        self.ios.ticket(io)
    }

    /// Tells the drive that blocks are not used any more.
    pub fn trim(&mut self, block: Block, blocks: u32) {
        if !self.is_instant {
            self.ios.send(Kind::Trim, block, blocks, self.process, false);
            self.cache.keep(|kept| kept.trimmed(&(block..block + blocks)));
        }
    }

    /// Ends the method here if it has something to wait for.
    pub fn wait(&self) -> Tried<()> {
        if self.waits.is_empty() { Ok(()) } else { Err(Stop::Wait) }
    }

    pub(crate) fn take_along(&mut self, io: IoId, page: PageId) {
        self.cache.start_read(page, io);
        self.ios.add_page(io, page);
    }

    /// Waits for a page that is being read.
    pub(crate) fn arrived(&mut self, page: PageId) -> Tried<()> {
        self.cache.io_reading(page).map_or(Ok(()), |io| self.wait_for(io))
    }

    pub(crate) fn wait_for(&mut self, io: IoId) -> Tried<()> {
        self.waits.push(io);
        Err(Stop::Wait)
    }
}
