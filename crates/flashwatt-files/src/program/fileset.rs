//! The files of a program as they are now: which exist, which are in use, and which one is picked next.

use std::collections::VecDeque;

use super::bits::Bits;
use crate::operation::{FileId, ThreadId};

/// A file of a file set.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The size that was drawn for it: how much is written when it is written as a whole, and where random places lie.
    pub size: u64,
    /// Its length now.
    pub length: u64,
    pub file: FileId,
    /// How many descriptors and asynchronous writes hold it open, and whether an operation has picked it.
    users: u32,
}

/// The bit of [`Entry::users`] that says that the entry is busy.
const BUSY: u32 = 1 << 31;

impl Entry {
    /// An entry of this size that nobody uses.
    pub fn new(size: u64) -> Self {
        Entry { size, length: 0, file: FileId(0), users: 0 }
    }

    /// Number of descriptors and asynchronous writes that hold it open.
    pub fn open(&self) -> u32 {
        self.users & !BUSY
    }

    fn busy(&self) -> bool {
        self.users & BUSY != 0
    }
}

/// A file set. Its entries are numbered from 0, in the order in which they are picked.
#[derive(Clone, Debug)]
pub(super) struct FileSet {
    /// Index of its entry 0 among the entries of all sets.
    first: u32,
    pub entries: u32,
    exist: Bits,
    missing: Bits,
    /// Entries that no operation has picked.
    idle: u32,
    /// Where the search for an existing and for a missing entry goes on.
    rotor: u32,
    missing_rotor: u32,
    /// Threads that wait until an entry is idle.
    waiting: VecDeque<ThreadId>,
}

impl FileSet {
    pub fn new(first: u32, entries: u32) -> Self {
        let none = Bits::new(entries as usize);
        let exist = none.clone();
        let (idle, waiting) = (entries, VecDeque::new());
        FileSet { first, entries, exist, missing: none, idle, rotor: 0, missing_rotor: 0, waiting }
    }

    /// Says whether an entry exists, once for each.
    pub fn add(&mut self, entry: u32, exists: bool) {
        if exists { self.exist.insert(entry) } else { self.missing.insert(entry) }
    }
}

/// Which entry is wanted.
#[derive(Clone, Copy)]
pub(super) enum Want {
    /// The next one that exists.
    Existing,
    /// The next one that does not exist.
    Missing,
    /// The one that exists at this place, or the next one.
    At(u32),
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pick {
    /// An entry, by its index among the entries of all sets. It is busy now.
    Entry(u32),
    /// All entries of the set are busy: the thread waits.
    Wait,
    /// There is none.
    Empty,
}

/// All files of a program.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub entries: Vec<Entry>,
    pub sets: Vec<FileSet>,
    /// Threads that wait for one file.
    waiting: Vec<(u32, ThreadId)>,
}

impl Files {
    pub fn new(entries: Vec<Entry>, sets: Vec<FileSet>) -> Self {
        Files { entries, sets, waiting: Vec::new() }
    }

    /// Picks an entry for an operation of a thread. The search starts where the last one found something, or at the thread's own
    /// rotor; entries that are busy are passed over.
    pub fn pick(&mut self, set: u32, want: Want, own: Option<&mut u32>, thread: ThreadId) -> Pick {
        let set = &mut self.sets[set as usize];
        if set.idle == 0 {
            set.waiting.push_back(thread);
            return Pick::Wait;
        }
        let members = if matches!(want, Want::Missing) { &set.missing } else { &set.exist };
        let mut place = if let Want::At(at) = want { at } else { 0 };
        let rotor = match want {
            Want::At(_) => &mut place,
            Want::Missing => &mut set.missing_rotor,
            Want::Existing => own.unwrap_or(&mut set.rotor),
        };
        let Some(start) = members.next(*rotor) else { return Pick::Empty };
        *rotor = start + 1;
        let mut found = start;
        while self.entries[(set.first + found) as usize].busy() {
            found = members.next(found + 1).unwrap_or(start);
            if found == start {
                return Pick::Empty;
            }
        }
        set.idle -= 1;
        self.entries[(set.first + found) as usize].users |= BUSY;
        Pick::Entry(set.first + found)
    }

    /// Picks this entry; if it is busy, the thread waits for it.
    pub fn pick_entry(&mut self, set: u32, entry: u32, thread: ThreadId) -> Pick {
        let state = &mut self.entries[entry as usize];
        if state.busy() {
            self.waiting.push((entry, thread));
            return Pick::Wait;
        }
        state.users |= BUSY;
        self.sets[set as usize].idle -= 1;
        Pick::Entry(entry)
    }

    /// An entry is not busy any more. One of the threads that wait for any entry goes on, and all that wait for this one.
    pub fn release(&mut self, set: u32, entry: u32, woken: &mut VecDeque<ThreadId>) {
        debug_assert!(self.entries[entry as usize].busy());
        self.entries[entry as usize].users &= !BUSY;
        let set = &mut self.sets[set as usize];
        set.idle += 1;
        woken.extend(set.waiting.pop_front());
        if !self.waiting.is_empty() {
            woken.extend(self.waiting.extract_if(.., |(waits_for, _)| *waits_for == entry).map(|(_, thread)| thread));
        }
    }

    /// All threads that wait for an entry of a set go on: one of them gave up.
    pub fn release_all(&mut self, set: u32, woken: &mut VecDeque<ThreadId>) {
        woken.extend(self.sets[set as usize].waiting.drain(..));
    }

    /// Whether an entry exists.
    pub fn exists(&self, set: u32, entry: u32) -> bool {
        let set = &self.sets[set as usize];
        set.exist.contains(entry - set.first)
    }

    /// An entry was made.
    pub fn made(&mut self, set: u32, entry: u32) {
        let set = &mut self.sets[set as usize];
        set.missing.remove(entry - set.first);
        set.exist.insert(entry - set.first);
        self.entries[entry as usize].length = 0;
    }

    /// An entry was removed. Nothing holds it open.
    pub fn removed(&mut self, set: u32, entry: u32) {
        let set = &mut self.sets[set as usize];
        set.exist.remove(entry - set.first);
        set.missing.insert(entry - set.first);
        let state = &mut self.entries[entry as usize];
        (state.users, state.length) = (state.users & BUSY, 0);
    }

    /// Something holds an entry open.
    pub fn hold(&mut self, entry: u32) {
        self.entries[entry as usize].users += 1;
    }

    /// It holds it open no longer.
    pub fn let_go(&mut self, entry: u32) {
        debug_assert!(self.entries[entry as usize].open() > 0);
        self.entries[entry as usize].users -= 1;
    }
}
