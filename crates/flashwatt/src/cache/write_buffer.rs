//! The drive's write buffer: what the host has written and flash does not hold yet.
//!
//! An entry holds one map unit, wholly or in part. It is *dirty* until it is picked to be written to flash, *under way*
//! until the program ends, and then gone. A write of a unit whose newest entry is dirty goes into that entry; one of a unit
//! that is under way makes a new entry, which starts with the older one's data. Only the newest entry of a unit is found by
//! reads; an older one takes up room until its program ends.
//!
//! Dirty entries wait in *lines*: one for each die where the translation layer leaves no choice of the die, else a single one.
//! In a line they stand in the order in which they came; those that a forced write (FUA) waits for go first. The buffer knows
//! no clock and no flash: its owner says which entries leave, and when their programs have ended.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::list::{Links, List};
use crate::mem::FlatTable;
use crate::units::{EntryId, Lpn, RequestId};

/// A range of bytes within a map unit.
pub type Bytes = std::ops::Range<u32>;

/// Number of parts of a unit that an entry tells apart.
const PARTS: u32 = 64;

/// The buffer.
pub struct WriteBuffer {
    /// Most entries that there can be.
    capacity: u32,
    entries: FlatTable<BufferEntry>,
    links: Vec<Links>,
    free: Vec<EntryId>,
    /// The newest entry of each logical unit that has one. As large as the buffer, not as the drive.
    newest: HashMap<Lpn, EntryId, BuildHasherDefault<UnitHasher>>,
    logical_units: u32,
    lines: Vec<DirtyList>,
    /// Dirty entries that no request waits for, and those that one does, in all lines.
    dirty: [u32; 2],
    waiters: Waiters,
    /// Entries made so far: an entry's age tells which are older.
    made: u64,
    parts: UnitParts,
}

/// Dirty entries, oldest first.
#[derive(Clone, Copy, Default)]
struct DirtyList {
    /// No request waits for their program.
    dirty: List,
    /// A request waits for their program.
    urgent: List,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EntryState {
    Free,
    Dirty,
    Urgent,
    UnderWay,
}

#[derive(Clone, Copy)]
struct BufferEntry {
    lpn: Lpn,
    state: EntryState,
    line: u32,
    /// A bit for each part of the unit that it holds.
    held: u64,
    age: u64,
    /// Map units of the request that made it: some translation layers ask for that.
    request_pages: u32,
    /// First of the list of requests that wait for its program.
    waiters: u32,
}

/// Where a write went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Put {
    /// The entry.
    pub entry: EntryId,
    /// Did it go into an entry that was there?
    pub coalesced: bool,
}

/// The entry of a line that is next to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextEntry {
    /// How many entries were made before it.
    pub age: u64,
    /// Does a request wait for its program?
    pub urgent: bool,
}

/// What an entry has to say when it is written to flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Content {
    /// Its unit.
    pub lpn: Lpn,
    /// Does it hold the whole unit? If not, the rest has to be read.
    pub complete: bool,
    /// Map units of the request that made it.
    pub request_pages: u32,
}

impl WriteBuffer {
    /// Bytes of memory that a full buffer of `capacity` units takes. Vectors and hash tables may be twice as large as their
    /// content.
    pub fn memory_bytes(capacity: u64) -> u64 {
        let hashed = size_of::<(Lpn, EntryId)>() + 1;
        let entry = size_of::<BufferEntry>() + size_of::<Links>() + size_of::<EntryId>() + hashed;
        capacity * 2 * entry as u64
    }

    /// An empty buffer for `capacity` units of `unit_bytes` each, of a drive with `logical_units`, whose entries wait in
    /// `lines`.
    pub fn new(capacity: u32, unit_bytes: u32, logical_units: u32, lines: u32) -> Self {
        WriteBuffer {
            capacity,
            entries: Vec::new().into(),
            links: Vec::new(),
            free: Vec::new(),
            newest: HashMap::default(),
            logical_units,
            lines: vec![DirtyList::default(); lines as usize],
            dirty: [0; 2],
            waiters: Waiters::default(),
            made: 0,
            parts: UnitParts::of(unit_bytes),
        }
    }

    /// Entries in use, dirty or under way.
    pub fn occupied(&self) -> u32 {
        self.entries.len() as u32 - self.free.len() as u32
    }

    /// Dirty entries that no request waits for, and those that one does.
    pub fn dirty(&self) -> [u32; 2] {
        self.dirty
    }

    /// Entries made so far.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// The age of the oldest dirty entry that no request waits for: how many were made before it.
    pub fn oldest_dirty(&self) -> Option<u64> {
        self.lines.iter().filter_map(|line| self.age(line.dirty.first())).min()
    }

    /// The entry of a line that is next to leave.
    pub fn next(&self, line: u32) -> Option<NextEntry> {
        let line = &self.lines[line as usize];
        let urgent = self.age(line.urgent.first()).map(|age| NextEntry { age, urgent: true });
        urgent.or_else(|| self.age(line.dirty.first()).map(|age| NextEntry { age, urgent: false }))
    }

    fn age(&self, entry: Option<u32>) -> Option<u64> {
        entry.map(|entry| self.entries[entry as usize].age)
    }

    /// The host writes `bytes` of a unit, whose entries wait in `line`. `None`: that needs a new entry, and there is no room.
    pub fn put(&mut self, lpn: Lpn, bytes: &Bytes, request_pages: u32, line: u32) -> Option<Put> {
        let held = self.parts.within(bytes);
        let mut inherited = 0;
        if let Some(entry) = self.newest(lpn) {
            let there = &mut self.entries[entry.idx()];
            if there.state != EntryState::UnderWay {
                there.held |= held;
                there.request_pages = there.request_pages.max(request_pages);
                return Some(Put { entry, coalesced: true });
            }
            inherited = there.held;
        }
        let entry = self.make(lpn, held | inherited, request_pages, line)?;
        self.newest.insert(lpn, entry);
        self.lines[line as usize].dirty.push_last(&mut self.links, entry.0);
        self.dirty[0] += 1;
        Some(Put { entry, coalesced: false })
    }

    /// The entry that holds these bytes of a unit, if one does.
    pub fn holding(&self, lpn: Lpn, bytes: &Bytes) -> Option<EntryId> {
        let wanted = self.parts.touched(bytes);
        self.newest(lpn).filter(|entry| self.entries[entry.idx()].held & wanted == wanted)
    }

    /// A request waits for the program of an entry.
    pub fn wait(&mut self, entry: EntryId, request: RequestId) {
        let first = &mut self.entries[entry.idx()].waiters;
        *first = self.waiters.push(request, *first);
    }

    /// A dirty entry is to leave before those that no request waits for.
    pub fn hurry(&mut self, entry: EntryId) {
        if self.entries[entry.idx()].state == EntryState::Dirty {
            self.leave_line(entry);
            self.entries[entry.idx()].state = EntryState::Urgent;
            let line = &mut self.lines[self.entries[entry.idx()].line as usize];
            line.urgent.push_last(&mut self.links, entry.0);
            self.dirty[1] += 1;
        }
    }

    /// All entries, in no order that means anything.
    pub fn occupants(&self) -> impl Iterator<Item = EntryId> + use<> {
        let used: Vec<EntryId> = (0..self.entries.len() as u32)
            .map(EntryId)
            .filter(|entry| self.entries[entry.idx()].state != EntryState::Free)
            .collect();
        used.into_iter()
    }

    /// Takes the entries of a line that are next to leave, at most `most`: they are under way from now on.
    pub fn pick_oldest(&mut self, line: u32, most: u32, picked: &mut Vec<EntryId>) {
        while (picked.len() as u32) < most {
            let DirtyList { dirty, urgent } = self.lines[line as usize];
            let Some(entry) = urgent.first().or_else(|| dirty.first()) else { return };
            self.pick(EntryId(entry), picked);
        }
    }

    /// Takes the dirty entries among `pages` consecutive units with the one that is next to leave, in the order of their
    /// addresses. Such groups begin at multiples of `pages`, and a group's entries are in one line.
    pub fn pick_neighbours(&mut self, line: u32, pages: u32, picked: &mut Vec<EntryId>) {
        let DirtyList { dirty, urgent } = self.lines[line as usize];
        let Some(first) = urgent.first().or_else(|| dirty.first()) else { return };
        let from = self.entries[first as usize].lpn.0 / pages * pages;
        for lpn in (from..self.logical_units.min(from + pages)).map(Lpn) {
            let is_dirty = |entry: &EntryId| self.entries[entry.idx()].state != EntryState::UnderWay;
            if let Some(entry) = self.newest(lpn).filter(is_dirty) {
                self.pick(entry, picked);
            }
        }
    }

    /// Takes the dirty entry of a line that is next to leave and its dirty neighbours, in the order of their addresses: at most
    /// `most` units, or as many as the entry's request had, without a gap between them, all in lines that `may_leave`.
    pub fn pick_run(&mut self, line: u32, most: u32, may_leave: impl Fn(u32) -> bool, picked: &mut Vec<EntryId>) {
        let DirtyList { dirty, urgent } = self.lines[line as usize];
        let Some(first) = urgent.first().or_else(|| dirty.first()) else { return };
        let BufferEntry { lpn, request_pages, .. } = self.entries[first as usize];
        let most = most.max(request_pages);
        let leaves = |lpn: &Lpn| {
            let newest = self.newest(*lpn).map(|entry| &self.entries[entry.idx()]);
            newest.is_some_and(|entry| entry.state != EntryState::UnderWay && may_leave(entry.line))
        };
        let before = (0..lpn.0).rev().map(Lpn).take_while(leaves).take(most as usize - 1).count() as u32;
        let behind = (lpn.0 + 1..self.logical_units).map(Lpn).take_while(leaves);
        let behind = behind.take((most - 1 - before) as usize).count() as u32;
        for lpn in (lpn.0 - before..=lpn.0 + behind).map(Lpn) {
            if let Some(entry) = self.newest(lpn) {
                self.pick(entry, picked);
            }
        }
    }

    fn pick(&mut self, entry: EntryId, picked: &mut Vec<EntryId>) {
        self.leave_line(entry);
        self.entries[entry.idx()].state = EntryState::UnderWay;
        picked.push(entry);
    }

    /// Takes a dirty entry out of its line.
    fn leave_line(&mut self, entry: EntryId) {
        let BufferEntry { state, line, .. } = self.entries[entry.idx()];
        let is_urgent = state == EntryState::Urgent;
        let line = &mut self.lines[line as usize];
        let list = if is_urgent { &mut line.urgent } else { &mut line.dirty };
        list.remove(&mut self.links, entry.0);
        self.dirty[usize::from(is_urgent)] -= 1;
    }

    /// Entries that were just picked found no room on flash: they are dirty again, in the order of age.
    pub fn put_back(&mut self, picked: &[EntryId]) {
        let place = |entry: &EntryId| {
            let BufferEntry { waiters, line, age, .. } = self.entries[entry.idx()];
            (line, waiters != NIL, age)
        };
        let mut places: Vec<_> = picked.iter().map(|entry| (place(entry), *entry)).collect();
        places.sort_unstable_by_key(|&(place, _)| place);
        // Entries of one list go in by one walk along it.
        for same in places.chunk_by(|(a, _), (b, _)| (a.0, a.1) == (b.0, b.1)) {
            let (line, is_urgent, _) = same[0].0;
            let line = &mut self.lines[line as usize];
            let list = if is_urgent { &mut line.urgent } else { &mut line.dirty };
            let mut next = list.first();
            for &((.., age), entry) in same {
                while let Some(older) = next.filter(|&other| self.entries[other as usize].age < age) {
                    next = List::after(&self.links, older);
                }
                match next {
                    Some(next) => list.insert_before(&mut self.links, entry.0, next),
                    None => list.push_last(&mut self.links, entry.0),
                }
                self.entries[entry.idx()].state = if is_urgent { EntryState::Urgent } else { EntryState::Dirty };
            }
            self.dirty[usize::from(is_urgent)] += same.len() as u32;
        }
    }

    /// The line that an entry is in, or was.
    pub fn line(&self, entry: EntryId) -> u32 {
        self.entries[entry.idx()].line
    }

    /// What an entry holds.
    pub fn content(&self, entry: EntryId) -> Content {
        let entry = &self.entries[entry.idx()];
        let complete = entry.held == self.parts.all;
        Content { lpn: entry.lpn, complete, request_pages: entry.request_pages }
    }

    /// The program of an entry has ended: it is gone. Those that waited for it are appended to `released`.
    pub fn programmed(&mut self, entry: EntryId, released: &mut Vec<RequestId>) {
        debug_assert_eq!(self.entries[entry.idx()].state, EntryState::UnderWay);
        self.remove(entry, released);
    }

    /// A unit is trimmed: reads find nothing of it here, and what is dirty of it will not be written. Returns whether there
    /// was such an entry.
    pub fn trim(&mut self, lpn: Lpn, released: &mut Vec<RequestId>) -> bool {
        let Some(entry) = self.newest.remove(&lpn) else { return false };
        match self.entries[entry.idx()].state {
            EntryState::Dirty | EntryState::Urgent => self.leave_line(entry),
            EntryState::UnderWay | EntryState::Free => return false,
        }
        self.remove(entry, released);
        true
    }

    fn newest(&self, lpn: Lpn) -> Option<EntryId> {
        self.newest.get(&lpn).copied()
    }

    fn make(&mut self, lpn: Lpn, held: u64, request_pages: u32, line: u32) -> Option<EntryId> {
        let made =
            BufferEntry { lpn, state: EntryState::Dirty, line, held, age: self.made, request_pages, waiters: NIL };
        let id = match self.free.pop() {
            Some(id) => id,
            None if (self.entries.len() as u32) < self.capacity => {
                self.entries.push(made);
                self.links.push(Links::NONE);
                EntryId(self.entries.len() as u32 - 1)
            }
            None => return None,
        };
        self.entries[id.idx()] = made;
        self.made += 1;
        Some(id)
    }

    fn remove(&mut self, id: EntryId, released: &mut Vec<RequestId>) {
        let entry = &mut self.entries[id.idx()];
        entry.state = EntryState::Free;
        let (lpn, waiters) = (entry.lpn, entry.waiters);
        self.waiters.take(waiters, released);
        if self.newest(lpn) == Some(id) {
            self.newest.remove(&lpn);
        }
        self.free.push(id);
    }
}

/// Hashes the numbers of units: always alike, so that a run is the same every time, and in one multiplication.
#[derive(Default)]
struct UnitHasher(u64);

impl Hasher for UnitHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, number: u32) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 / the golden ratio
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(ODD).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

const NIL: u32 = u32::MAX;

/// Lists of requests that wait for entries.
#[derive(Default)]
struct Waiters {
    nodes: Vec<(RequestId, u32)>,
    free: Vec<u32>,
}

impl Waiters {
    /// Adds a request to the list that begins at `first`. Returns where it begins then.
    fn push(&mut self, request: RequestId, first: u32) -> u32 {
        let node = (request, first);
        match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// Takes a list apart: its requests are appended to `released`, in the order in which they were added.
    fn take(&mut self, first: u32, released: &mut Vec<RequestId>) {
        let from = released.len();
        let mut at = first;
        while at != NIL {
            let (request, next) = self.nodes[at as usize];
            released.push(request);
            self.free.push(at);
            at = next;
        }
        released[from..].reverse();
    }
}

/// How a unit is divided into parts: sectors, or for units of more than 32 KiB 64 equal parts. What is held is rounded
/// inwards to whole parts and what is wanted outwards, so that nothing is taken to be there that is not.
#[derive(Clone, Copy, Debug)]
struct UnitParts {
    bytes: u32,
    all: u64,
}

impl UnitParts {
    fn of(unit_bytes: u32) -> Self {
        let bytes = (unit_bytes / PARTS).max(crate::units::SECTOR_BYTES as u32);
        UnitParts { bytes, all: ones(0, unit_bytes / bytes) }
    }

    fn within(self, bytes: &Bytes) -> u64 {
        let (from, to) = (bytes.start.div_ceil(self.bytes), bytes.end / self.bytes);
        ones(from, to.max(from))
    }

    fn touched(self, bytes: &Bytes) -> u64 {
        ones(bytes.start / self.bytes, bytes.end.div_ceil(self.bytes))
    }
}

/// Bits `from` to `to`, the last left out.
fn ones(from: u32, to: u32) -> u64 {
    let below = |n: u32| if n >= u64::BITS { u64::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}
