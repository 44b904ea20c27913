//! The drive's write buffer: data that the host has written and that is not on flash yet.
//!
//! An entry holds one map unit, wholly or in part. It is *dirty* until it is picked for destaging, then *under way*
//! until its program ends, and then free. A write of a unit whose newest entry is dirty goes into that entry (is
//! coalesced). If the newest entry is under way, the write makes a new entry, which starts with the data of the older
//! one. Reads find only the newest entry of a unit. An older one occupies its place until its program ends.
//!
//! Dirty entries wait in *lines*. There is one line for each die if the logical page determines the die, else a single
//! line. A line is in the order of arrival, but *urgent* entries, which a FUA write waits for, leave first. The buffer
//! has no clock and no flash: the caller decides when entries leave, and reports the ends of their programs.

use super::newest::Newest;
use flashwatt_base::list::{Links, List};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{EntryId, Lpn, RequestId};

/// A range of bytes within a map unit.
pub type Bytes = std::ops::Range<u32>;

/// Greatest number of parts of a unit: an entry has a bit for each part.
const PARTS: u32 = 64;

/// The write buffer.
pub struct WriteBuffer {
    /// Greatest number of entries.
    capacity: u32,
    entries: FlatTable<BufferEntry>,
    links: Vec<Links>,
    free: Vec<EntryId>,
    newest: Newest,
    logical_units: u32,
    lines: Vec<DirtyList>,
    /// Number of dirty entries in all lines: those that are not urgent, and those that are.
    dirty: [u32; 2],
    waiters: Waiters,
    /// Number of entries made so far. The next entry gets it as its age.
    made: u64,
    parts: UnitParts,
}

/// Dirty entries, oldest first.
#[derive(Clone, Copy, Default)]
struct DirtyList {
    /// Entries that are not urgent.
    dirty: List,
    /// Entries that leave first.
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
    /// One bit per part of the unit: whether the entry holds it.
    held: u64,
    /// Number of entries made before it.
    age: u64,
    /// Map units of the largest request that wrote to it. LAST decides by it whether a write is sequential.
    request_pages: u32,
    /// First node of the list of requests that wait for its program.
    waiters: u32,
    /// Whether it has been made urgent.
    is_hurried: bool,
}

/// The entry that a write went into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Put {
    /// The entry.
    pub entry: EntryId,
    /// Whether the entry existed before the write.
    pub coalesced: bool,
}

/// The entry of a line that leaves next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextEntry {
    /// Number of entries made before it.
    pub age: u64,
    /// Whether it is urgent: it leaves before entries that are not.
    pub urgent: bool,
}

/// The content of an entry when it is destaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DestagedEntry {
    /// The map unit.
    pub lpn: Lpn,
    /// Whether the entry holds the whole unit. If not, the rest must be read from flash.
    pub complete: bool,
    /// Map units of the largest request that wrote to the entry.
    pub request_pages: u32,
}

/// What a write brings to a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrittenParts {
    /// One bit per part of the unit that it brings wholly.
    pub held: u64,
    /// One bit per part of which it brings anything.
    pub touched: u64,
}

/// The newest content of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewestEntry {
    /// Its entry.
    pub entry: EntryId,
    /// The map unit.
    pub lpn: Lpn,
    /// One bit per part of the unit: whether the entry holds it.
    pub held: u64,
    /// Map units of the largest request that wrote to the entry.
    pub request_pages: u32,
}

impl WriteBuffer {
    /// Memory of a full buffer of `capacity` units, in bytes. Tables count twice, because they may be
    /// twice as large as their content.
    pub fn memory_bytes(capacity: u64) -> u64 {
        let entry = size_of::<BufferEntry>() + size_of::<Links>() + size_of::<EntryId>() + Newest::ENTRY_BYTES;
        capacity * 2 * entry as u64
    }

    /// An empty buffer for `capacity` units of `unit_bytes` each, with `lines` lines, in a drive with `logical_units`
    /// units.
    pub fn new(capacity: u32, unit_bytes: u32, logical_units: u32, lines: u32) -> Self {
        WriteBuffer {
            capacity,
            entries: Vec::new().into(),
            links: Vec::new(),
            free: Vec::new(),
            newest: Newest::new(),
            logical_units,
            lines: vec![DirtyList::default(); lines as usize],
            dirty: [0; 2],
            waiters: Waiters::default(),
            made: 0,
            parts: UnitParts::of(unit_bytes),
        }
    }

    /// Greatest number of entries.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Number of entries in use, dirty or under way.
    pub fn occupied(&self) -> u32 {
        self.entries.len() as u32 - self.free.len() as u32
    }

    /// Number of dirty entries: those that are not urgent, and those that are.
    pub fn dirty(&self) -> [u32; 2] {
        self.dirty
    }

    /// Number of entries made so far.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Age of the oldest dirty entry that is not urgent: the number of entries made before it.
    pub fn oldest_dirty(&self) -> Option<u64> {
        self.lines.iter().filter_map(|line| self.age(line.dirty.first())).min()
    }

    /// The entry of a line that leaves next.
    pub fn next(&self, line: u32) -> Option<NextEntry> {
        let line = &self.lines[line as usize];
        let urgent = self.age(line.urgent.first()).map(|age| NextEntry { age, urgent: true });
        urgent.or_else(|| self.age(line.dirty.first()).map(|age| NextEntry { age, urgent: false }))
    }

    fn age(&self, entry: Option<u32>) -> Option<u64> {
        entry.map(|entry| self.entries[entry as usize].age)
    }

    /// Writes `bytes` of a unit, whose entries wait in `line`, for a request of `request_pages` map units. Returns
    /// `None`, and changes nothing, if the write needs a new entry and the buffer is full.
    #[inline]
    pub fn put(&mut self, lpn: Lpn, bytes: &Bytes, request_pages: u32, line: u32) -> Option<Put> {
        let mut held = self.parts.within(bytes);
        if let Some(entry) = self.newest.get(lpn) {
            let there = &mut self.entries[entry.idx()];
            if there.state != EntryState::UnderWay {
                there.held |= held;
                there.request_pages = there.request_pages.max(request_pages);
                return Some(Put { entry, coalesced: true });
            }
            held |= there.held;
            if self.occupied() == self.capacity {
                return None;
            }
            self.newest.remove(entry);
        }
        let entry = self.add(lpn, held, request_pages, line)?;
        Some(Put { entry, coalesced: false })
    }

    /// The newest content of each unit that has any, in the order of addresses.
    pub fn kept(&self) -> Vec<NewestEntry> {
        let of = |(lpn, entry): (Lpn, EntryId)| {
            let BufferEntry { held, request_pages, .. } = self.entries[entry.idx()];
            NewestEntry { entry, lpn, held, request_pages }
        };
        let mut kept: Vec<NewestEntry> = self.newest.iter().map(of).collect();
        kept.sort_unstable_by_key(|kept| kept.lpn.0);
        kept
    }

    /// Takes back content of a unit that has none, with these parts of it. It waits in `line`. Returns its entry.
    pub fn take_back(&mut self, lpn: Lpn, held: u64, request_pages: u32, line: u32) -> EntryId {
        match self.add(lpn, held, request_pages, line) {
            Some(entry) => entry,
            None => unreachable!("the buffer held all of this before"),
        }
    }

    /// The parts of a unit that these bytes bring.
    pub fn parts(&self, bytes: &Bytes) -> WrittenParts {
        WrittenParts { held: self.parts.within(bytes), touched: self.parts.touched(bytes) }
    }

    /// The newest entry of a unit if it holds all of `bytes`.
    pub fn holding(&self, lpn: Lpn, bytes: &Bytes) -> Option<EntryId> {
        let wanted = self.parts.touched(bytes);
        self.newest.get(lpn).filter(|entry| self.entries[entry.idx()].held & wanted == wanted)
    }

    /// Makes a request wait for the program of an entry.
    pub fn wait(&mut self, entry: EntryId, request: RequestId) {
        let first = &mut self.entries[entry.idx()].waiters;
        *first = self.waiters.push(request, *first);
    }

    /// Makes a dirty entry urgent: it leaves before all entries of its line that are not. Returns whether it was not urgent before.
    pub fn hurry(&mut self, entry: EntryId) -> bool {
        if self.entries[entry.idx()].state != EntryState::Dirty {
            return false;
        }
        self.leave_line(entry);
        let hurried = &mut self.entries[entry.idx()];
        (hurried.state, hurried.is_hurried) = (EntryState::Urgent, true);
        let line = &mut self.lines[hurried.line as usize];
        line.urgent.push_last(&mut self.links, entry.0);
        self.dirty[1] += 1;
        true
    }

    /// All entries in use. Their order has no meaning.
    pub fn occupants(&self) -> impl Iterator<Item = EntryId> + use<> {
        let used: Vec<EntryId> = (0..self.entries.len() as u32)
            .map(EntryId)
            .filter(|entry| self.entries[entry.idx()].state != EntryState::Free)
            .collect();
        used.into_iter()
    }

    /// Picks the entries of a line that leave next until `picked` has `most`. They are then under way.
    pub fn pick_oldest(&mut self, line: u32, most: u32, picked: &mut Vec<EntryId>) {
        while (picked.len() as u32) < most {
            let DirtyList { dirty, urgent } = self.lines[line as usize];
            let Some(entry) = urgent.first().or_else(|| dirty.first()) else { return };
            self.pick(EntryId(entry), picked);
        }
    }

    /// Picks all dirty entries of one group of units, in the order of their addresses: the group of the entry of `line`
    /// that leaves next. A group is `pages` consecutive units from a multiple of `pages` on; its entries must be in one
    /// line.
    pub fn pick_neighbours(&mut self, line: u32, pages: u32, picked: &mut Vec<EntryId>) {
        let DirtyList { dirty, urgent } = self.lines[line as usize];
        let Some(first) = urgent.first().or_else(|| dirty.first()) else { return };
        let from = self.entries[first as usize].lpn.0 / pages * pages;
        for lpn in (from..self.logical_units.min(from + pages)).map(Lpn) {
            let is_dirty = |entry: &EntryId| self.entries[entry.idx()].state != EntryState::UnderWay;
            if let Some(entry) = self.newest.get(lpn).filter(is_dirty) {
                self.pick(entry, picked);
            }
        }
    }

    /// Picks consecutive dirty entries, in the order of their addresses: the entry of `line` that leaves next, and its
    /// neighbours in lines that `may_leave`, first those before it. Their number is at most the larger of `most` and
    /// the entry's `request_pages`.
    pub fn pick_run(&mut self, line: u32, most: u32, may_leave: impl Fn(u32) -> bool, picked: &mut Vec<EntryId>) {
        let DirtyList { dirty, urgent } = self.lines[line as usize];
        let Some(first) = urgent.first().or_else(|| dirty.first()) else { return };
        let BufferEntry { lpn, request_pages, .. } = self.entries[first as usize];
        let most = most.max(request_pages);
        let leaves = |lpn: &Lpn| {
            let newest = self.newest.get(*lpn).map(|entry| &self.entries[entry.idx()]);
            newest.is_some_and(|entry| entry.state != EntryState::UnderWay && may_leave(entry.line))
        };
        let before = (0..lpn.0).rev().map(Lpn).take_while(leaves).take(most as usize - 1).count() as u32;
        let behind = (lpn.0 + 1..self.logical_units).map(Lpn).take_while(leaves);
        let behind = behind.take((most - 1 - before) as usize).count() as u32;
        for lpn in (lpn.0 - before..=lpn.0 + behind).map(Lpn) {
            if let Some(entry) = self.newest.get(lpn) {
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
    #[inline]
    fn leave_line(&mut self, entry: EntryId) {
        let BufferEntry { state, line, .. } = self.entries[entry.idx()];
        let is_urgent = state == EntryState::Urgent;
        let line = &mut self.lines[line as usize];
        let list = if is_urgent { &mut line.urgent } else { &mut line.dirty };
        list.remove(&mut self.links, entry.0);
        self.dirty[usize::from(is_urgent)] -= 1;
    }

    /// Returns picked entries that found no space on flash to their lines, in the order of age. They are dirty again,
    /// and urgent if a request waits for them, or if they were before.
    pub fn put_back(&mut self, picked: &[EntryId]) {
        let place = |entry: &EntryId| {
            let BufferEntry { waiters, is_hurried, line, age, .. } = self.entries[entry.idx()];
            (line, waiters != NIL || is_hurried, age)
        };
        let mut places: Vec<_> = picked.iter().map(|entry| (place(entry), *entry)).collect();
        places.sort_unstable_by_key(|&(place, _)| place);
        // One pass over a list inserts all of its entries.
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

    /// The line of an entry, also after the entry has left it.
    pub fn line(&self, entry: EntryId) -> u32 {
        self.entries[entry.idx()].line
    }

    /// The content of an entry.
    pub fn content(&self, entry: EntryId) -> DestagedEntry {
        let entry = &self.entries[entry.idx()];
        let complete = entry.held == self.parts.all;
        DestagedEntry { lpn: entry.lpn, complete, request_pages: entry.request_pages }
    }

    /// Frees an entry whose program has ended. The requests that waited for it are appended to `released`.
    pub fn programmed(&mut self, entry: EntryId, released: &mut Vec<RequestId>) {
        debug_assert_eq!(self.entries[entry.idx()].state, EntryState::UnderWay);
        self.remove(entry, released);
    }

    /// Trims a unit: reads do not find it here any more, and its dirty entry is dropped. The requests that waited for
    /// that entry are appended to `released`. Returns the dirty entry, if there was one.
    pub fn trim(&mut self, lpn: Lpn, released: &mut Vec<RequestId>) -> Option<EntryId> {
        let entry = self.newest.get(lpn)?;
        self.newest.remove(entry);
        match self.entries[entry.idx()].state {
            EntryState::Dirty | EntryState::Urgent => self.leave_line(entry),
            EntryState::UnderWay | EntryState::Free => return None,
        }
        self.remove(entry, released);
        Some(entry)
    }

    /// A new entry of a unit that has no newest one. It waits in `line`. None if the buffer is full.
    #[inline]
    fn add(&mut self, lpn: Lpn, held: u64, request_pages: u32, line: u32) -> Option<EntryId> {
        let entry = self.make(lpn, held, request_pages, line)?;
        self.newest.insert(lpn, entry);
        self.lines[line as usize].dirty.push_last(&mut self.links, entry.0);
        self.dirty[0] += 1;
        Some(entry)
    }

    #[inline]
    fn make(&mut self, lpn: Lpn, held: u64, request_pages: u32, line: u32) -> Option<EntryId> {
        let made = BufferEntry {
            lpn,
            state: EntryState::Dirty,
            line,
            held,
            age: self.made,
            request_pages,
            waiters: NIL,
            is_hurried: false,
        };
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

    #[inline]
    fn remove(&mut self, id: EntryId, released: &mut Vec<RequestId>) {
        let entry = &mut self.entries[id.idx()];
        entry.state = EntryState::Free;
        self.waiters.take(entry.waiters, released);
        self.newest.remove(id);
        self.free.push(id);
    }
}

/// The index that means "no node".
const NIL: u32 = u32::MAX;

/// Linked lists of the requests that wait for entries, in one table of nodes.
#[derive(Default)]
struct Waiters {
    nodes: Vec<(RequestId, u32)>,
    free: Vec<u32>,
}

impl Waiters {
    /// Adds a request to the list that begins at node `first`. Returns the list's new first node.
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

    /// Frees a list. Its requests are appended to `released`, in the order in which they were added.
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

/// The division of a unit into parts: sectors, or 64 equal parts if the unit is larger than 32 KiB.
///
/// Bytes that are written are rounded inwards to whole parts, bytes that are wanted outwards. So a part never counts as
/// held when some of its bytes are missing.
#[derive(Clone, Copy, Debug)]
struct UnitParts {
    /// Size of a part, as a power of two.
    shift: u32,
    /// The bits of all parts.
    all: u64,
}

impl UnitParts {
    fn of(unit_bytes: u32) -> Self {
        let bytes = (unit_bytes / PARTS).max(flashwatt_base::units::SECTOR_BYTES as u32);
        debug_assert!(bytes.is_power_of_two(), "as units and sectors are");
        UnitParts { shift: bytes.trailing_zeros(), all: ones(0, unit_bytes / bytes) }
    }

    /// The bits of the parts that lie wholly within `bytes`.
    #[inline]
    fn within(self, bytes: &Bytes) -> u64 {
        let (from, to) = (self.rounded_up(bytes.start), bytes.end >> self.shift);
        ones(from, to.max(from))
    }

    /// The bits of the parts that overlap `bytes`.
    fn touched(self, bytes: &Bytes) -> u64 {
        ones(bytes.start >> self.shift, self.rounded_up(bytes.end))
    }

    fn rounded_up(self, bytes: u32) -> u32 {
        (bytes + (1 << self.shift) - 1) >> self.shift
    }
}

/// Whether content with these parts is a whole unit of `unit_bytes`.
pub fn is_whole(held: u64, unit_bytes: u32) -> bool {
    held == UnitParts::of(unit_bytes).all
}

/// Bits `from` to `to`, without `to`.
fn ones(from: u32, to: u32) -> u64 {
    let below = |n: u32| if n >= u64::BITS { u64::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}
