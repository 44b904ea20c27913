//! The page cache: pages of files and of metadata in memory, clean or dirty.
//!
//! Pages leave in the order of two lists, as in Linux (mm/swap.c, mm/vmscan.c), the newest first. Dirty pages, and pages on their way to or from the disk, stay.

mod dirty;
pub mod read_ahead;

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use dirty::Dirty;

use crate::check::{Kept, Shadow};
use crate::disk::{IoId, Owner, PageId, PageKey};
use flashwatt_base::list::{Links, List};
use flashwatt_base::units::Nanos;

/// A page in memory.
#[derive(Clone, Copy, Debug)]
struct Page {
    key: PageKey,
    state: State,
    /// Used a first time since it came or was put back: the second time it becomes active.
    is_referenced: bool,
    is_active: bool,
    /// The owner was removed while it was on its way: it goes when it arrives.
    is_forgotten: bool,
    /// Reading it starts reading ahead.
    is_marked: bool,
    /// The last transaction of a journal that has changed it and has not ended: it stays in memory, and is not written back; 0: none.
    holder: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Resting,
    /// A request reads it.
    Reading(IoId),
    /// A request writes it ([`PageCache::writing`] says which).
    Writing,
}

/// The page cache.
#[derive(Debug)]
pub struct PageCache {
    pages: Vec<Page>,
    /// Their neighbours in the lists.
    links: Vec<Links>,
    free: Vec<u32>,
    by_key: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    inactive: List,
    active: List,
    dirty: Dirty,
    /// Pages that it holds at most; more while none can leave.
    capacity: usize,
    /// Numbers of the pages on their way to the disk, and the requests that take them there.
    writing: BTreeMap<u64, IoId>,
    /// A second account of the content of pages, if one is kept.
    pub shadow: Option<Box<Shadow>>,
}

/// Spreads the bits of a key: it is a number already. No result depends on the order of a map.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    #[inline(always)]
    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// A key as a number, in the order of keys.
#[inline(always)]
fn number(key: PageKey) -> u64 {
    u64::from(key.owner.0) << 32 | u64::from(key.index)
}

impl PageCache {
    /// An empty cache for this number of pages.
    pub fn new(capacity: usize) -> Self {
        PageCache {
            pages: Vec::new(),
            links: Vec::new(),
            free: Vec::new(),
            by_key: HashMap::default(),
            inactive: List::default(),
            active: List::default(),
            dirty: Dirty::default(),
            capacity,
            writing: BTreeMap::new(),
            shadow: None,
        }
    }

    /// Tells the account of what a mount finds, if one is kept.
    pub fn keep(&mut self, tell: impl FnOnce(&mut Kept)) {
        if let Some(kept) = self.shadow.as_mut().and_then(|shadow| shadow.kept.as_mut()) {
            tell(kept);
        }
    }

    /// Pages in memory.
    fn held(&self) -> usize {
        (self.inactive.len() + self.active.len()) as usize
    }

    /// Pages that are dirty, or on their way to the disk.
    pub fn unwritten(&self) -> usize {
        self.dirty.len() + self.writing.len()
    }

    /// Dirty pages.
    pub fn dirty_len(&self) -> usize {
        self.dirty.len()
    }

    /// The page of a key, if it is in memory. It has been used now.
    #[inline]
    pub fn touch(&mut self, key: PageKey) -> Option<PageId> {
        let &page = self.by_key.get(&number(key))?;
        self.used(page);
        Some(PageId(page))
    }

    /// The page of a key, if it is in memory or on its way there.
    pub fn find(&self, key: PageKey) -> Option<PageId> {
        self.by_key.get(&number(key)).map(|&page| PageId(page))
    }

    /// Whether a page is in memory, or on its way there.
    pub fn holds(&self, key: PageKey) -> bool {
        self.by_key.contains_key(&number(key))
    }

    /// A page is used: the second time it becomes active (mark_page_accessed).
    #[inline]
    fn used(&mut self, page: u32) {
        let entry = &mut self.pages[page as usize];
        if entry.is_active || !std::mem::replace(&mut entry.is_referenced, true) {
            entry.is_referenced = true;
            return;
        }
        entry.is_referenced = false;
        entry.is_active = true;
        self.inactive.remove(&mut self.links, page);
        self.active.push_first(&mut self.links, page);
    }

    /// Adds a page that is not in memory. Others leave for it.
    pub fn insert(&mut self, key: PageKey) -> PageId {
        self.make_room();
        let entry = Page {
            key,
            state: State::Resting,
            is_referenced: false,
            is_active: false,
            is_forgotten: false,
            is_marked: false,
            holder: 0,
        };
        let page = match self.free.pop() {
            Some(page) => {
                self.pages[page as usize] = entry;
                page
            }
            None => {
                self.pages.push(entry);
                self.links.push(Links::NONE);
                self.pages.len() as u32 - 1
            }
        };
        self.by_key.insert(number(key), page);
        self.inactive.push_first(&mut self.links, page);
        PageId(page)
    }

    /// Pages that are looked at before an insertion gives up.
    const LOOKS: usize = 64;

    /// The oldest page that can leave does. Active pages become inactive while those are fewer.
    fn make_room(&mut self) {
        let mut looks = 0;
        while self.held() >= self.capacity && looks < Self::LOOKS {
            looks += 1;
            while self.inactive.len() < self.active.len() {
                self.deactivate();
            }
            let Some(page) = self.inactive.pop_last(&mut self.links) else { return };
            let &Page { key, state, holder, .. } = &self.pages[page as usize];
            if state != State::Resting || holder != 0 || self.dirty.holds(number(key)) {
                self.inactive.push_first(&mut self.links, page);
                continue;
            }
            self.by_key.remove(&number(key));
            self.free.push(page);
        }
    }

    fn deactivate(&mut self) {
        let Some(page) = self.active.pop_last(&mut self.links) else { return };
        let entry = &mut self.pages[page as usize];
        (entry.is_active, entry.is_referenced) = (false, false);
        self.inactive.push_first(&mut self.links, page);
    }

    /// A page is being read by a request.
    pub fn start_read(&mut self, page: PageId, io: IoId) {
        self.pages[page.0 as usize].state = State::Reading(io);
    }

    /// The request that reads a page.
    pub fn io_reading(&self, page: PageId) -> Option<IoId> {
        match self.pages[page.0 as usize].state {
            State::Reading(io) => Some(io),
            State::Resting | State::Writing => None,
        }
    }

    /// Reading this page starts reading ahead.
    pub fn mark(&mut self, page: PageId) {
        self.pages[page.0 as usize].is_marked = true;
    }

    /// Whether reading a page starts reading ahead: once.
    pub fn take_mark(&mut self, page: PageId) -> bool {
        std::mem::take(&mut self.pages[page.0 as usize].is_marked)
    }

    /// A page has changed. It need not be in memory before.
    pub fn dirty(&mut self, key: PageKey, now: Nanos) {
        if self.touch(key).is_none() {
            self.insert(key);
        }
        self.dirty.add(number(key), now);
        if let Some(shadow) = &mut self.shadow {
            shadow.changed(key);
        }
    }

    /// A page has changed in a transaction of a journal, of a number from 1. It need not be in memory before, and stays there until the
    /// transaction lets it go, or the next one that has changed it. Returns whether this is the first change in the transaction.
    #[inline]
    pub fn hold(&mut self, key: PageKey, transaction: u32) -> bool {
        let page = self.touch(key).unwrap_or_else(|| self.insert(key));
        if let Some(shadow) = &mut self.shadow {
            shadow.changed(key);
        }
        if std::mem::replace(&mut self.pages[page.0 as usize].holder, transaction) == transaction {
            return false;
        }
        self.dirty.remove(number(key));
        true
    }

    /// The transaction that holds a page; 0: none.
    pub fn holder(&self, key: PageKey) -> u32 {
        self.find(key).map_or(0, |page| self.pages[page.0 as usize].holder)
    }

    /// A transaction lets a page go: it is dirty from now on, unless a later transaction holds it or it is not used any more.
    pub fn let_go(&mut self, key: PageKey, transaction: u32, now: Nanos) {
        let Some(page) = self.find(key) else { return };
        let holder = &mut self.pages[page.0 as usize].holder;
        if *holder == transaction {
            *holder = 0;
            self.dirty.add(number(key), now);
        }
    }

    /// Whether a page is dirty.
    pub fn is_dirty(&self, key: PageKey) -> bool {
        self.dirty.holds(number(key))
    }

    /// The dirty pages of an owner, in order.
    pub fn dirty_pages(&self, owner: Owner) -> Vec<PageKey> {
        self.dirty.of(owner).map(|index| PageKey { owner, index }).collect()
    }

    /// The dirty pages of an owner from one to before another one, in order.
    pub fn dirty_pages_between(&self, owner: Owner, first: u32, end: u32) -> Vec<PageKey> {
        let from_first = self.dirty.from(owner, first);
        from_first.take_while(|&index| index < end).map(|index| PageKey { owner, index }).collect()
    }

    /// All dirty pages, in the order of owners and indices.
    pub fn all_dirty_pages(&self) -> Vec<PageKey> {
        self.dirty.all().collect()
    }

    /// The owner whose pages have been dirty for longest, if that is since this time or before: its turn has come.
    pub fn take_oldest_dirty(&mut self, until: Nanos) -> Option<Owner> {
        self.dirty.take_oldest(until)
    }

    /// The turn of an owner is over. If it has pages that are still dirty, it is behind all others.
    pub fn requeue_dirty(&mut self, owner: Owner, now: Nanos) {
        self.dirty.requeue(owner, now);
    }

    /// A page goes to the disk, and is clean from now on.
    pub fn start_write(&mut self, key: PageKey, io: IoId) -> PageId {
        self.dirty.remove(number(key));
        let page = match self.by_key.get(&number(key)) {
            Some(&page) => PageId(page),
            None => self.insert(key),
        };
        let entry = &mut self.pages[page.0 as usize];
        debug_assert!(entry.state != State::Writing, "one write of a page at a time");
        entry.state = State::Writing;
        self.writing.insert(number(key), io);
        page
    }

    /// The request that writes a page.
    pub fn io_writing(&self, key: PageKey) -> Option<IoId> {
        self.writing.get(&number(key)).copied()
    }

    /// Adds the requests that write pages of an owner from one to before another one, each once.
    pub fn ios_writing(&self, owner: Owner, first: u32, end: u32, ios: &mut Vec<IoId>) {
        let pages = number(PageKey { owner, index: first })..number(PageKey { owner, index: end });
        for (_, &io) in self.writing.range(pages) {
            if ios.last() != Some(&io) {
                ios.push(io);
            }
        }
    }

    /// A request of a page has ended.
    pub fn arrived(&mut self, page: PageId) {
        let entry = &mut self.pages[page.0 as usize];
        if entry.state == State::Writing {
            self.writing.remove(&number(entry.key));
        }
        entry.state = State::Resting;
        if entry.is_forgotten {
            self.drop(page.0);
        }
    }

    /// A page is not used any more: it leaves, whether it is dirty or not.
    pub fn remove(&mut self, key: PageKey) {
        if let Some(shadow) = &mut self.shadow {
            shadow.removed(key);
        }
        self.leave(key);
    }

    /// Pages of an owner leave memory, but for those that are dirty or on their way.
    pub fn forget(&mut self, owner: Owner, pages: u32) {
        for key in (0..pages).map(|index| PageKey { owner, index }) {
            let rests = self.find(key).is_some_and(|page| self.pages[page.0 as usize].state == State::Resting);
            if rests && !self.is_dirty(key) {
                self.leave(key);
            }
        }
    }

    /// A page leaves memory, whether it is dirty or not.
    pub fn leave(&mut self, key: PageKey) {
        self.dirty.remove(number(key));
        let Some(page) = self.by_key.remove(&number(key)) else { return };
        let entry = &mut self.pages[page as usize];
        match entry.state {
            State::Resting => self.drop(page),
            State::Reading(_) | State::Writing => entry.is_forgotten = true,
        }
    }

    fn drop(&mut self, page: u32) {
        let list = if self.pages[page as usize].is_active { &mut self.active } else { &mut self.inactive };
        list.remove(&mut self.links, page);
        self.free.push(page);
    }
}
