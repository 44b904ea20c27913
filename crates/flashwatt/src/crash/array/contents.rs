//! What the members of an array hold, as symbols: one for each sector.
//!
//! A write of the host has a symbol for each member on which data lies. Parity is the exclusive or of the symbols of a row, as it is of
//! the bytes. So a row matches if its symbols give 0. Symbols are 64 bits of a hash: two different ones are equal by chance once in 2⁶⁴.
//!
//! Versions tell which write a unit holds after a cut: the observer of each member says which request brought which version.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use crate::crash::witness::Change;
use crate::crash::{Held, Witness};
use flashwatt_base::units::{Lpn, SECTOR_BYTES};
use flashwatt_core::connector::{Request, RequestKind, Tag};
use flashwatt_devices::raid::layout::ChunkPart;
use flashwatt_devices::raid::settings::{Layout, Level};
use flashwatt_devices::raid::watch::ArrayEvent;
use flashwatt_ssd::drive::Ssd;

/// The content of a sector. Nothing is 0.
pub(super) type Symbol = u64;

/// Sectors of a block: what is looked at together.
pub(super) const BLOCK_SECTORS: u64 = 8;

/// The content of a block.
type Block = [Symbol; BLOCK_SECTORS as usize];

/// Parity on its way: its first sector on the member, and its symbols.
type NewParity = (u64, Vec<Symbol>);

/// What the start state holds: the number of no request.
const AT_START: u64 = 0;

/// What the members hold and held.
pub(super) struct Contents {
    pub layout: Layout,
    /// The member that has failed.
    pub failed: Option<u32>,
    /// Whether the members hold data at the start.
    is_full: bool,
    pub members: Vec<Option<OfMember>>,
    /// With parity, what the host sent to a block of a member, one after the other; what it held at the start is not among them.
    sent: HashMap<(u32, u64), Vec<Block>>,
    /// Parity that members have yet to get, by the number of the host's request and the row.
    parity: HashMap<(u64, u64), Vec<NewParity>>,
    /// The number of the host's last request.
    number: u64,
}

/// What a member holds and held.
pub(super) struct OfMember {
    pub unit_sectors: u64,
    /// By unit, its versions in their order. A unit that was never changed is absent.
    pub units: BTreeMap<u32, Vec<Version>>,
    /// By tag of the member, the requests that it got and has not handled whole.
    inside: Vec<VecDeque<Inside>>,
}

/// A version of a unit.
pub(super) struct Version {
    /// Its number, and whether it is that of a trim, which comes after the write of the same number.
    number: (u64, bool),
    /// Its content.
    pub sectors: Box<[Symbol]>,
}

/// What a member got to change.
struct Inside {
    /// The first sector.
    from: u64,
    symbols: Vec<Symbol>,
    /// Units that it has yet to change.
    units_left: u64,
}

/// The content of a unit.
#[derive(Clone, Copy)]
pub(super) enum Content<'a> {
    /// These symbols.
    Of(&'a [Symbol]),
    /// What it held at the start.
    AtStart,
    /// The same symbol in all sectors.
    All(Symbol),
}

impl Contents {
    /// Of an array that has just started with members that hold data, or nothing.
    pub fn new(layout: &Layout, failed: Option<u32>, is_full: bool, unit_bytes: &[Option<u32>]) -> Self {
        let of_member = |bytes: &Option<u32>| {
            bytes.map(|bytes| OfMember {
                unit_sectors: u64::from(bytes) / SECTOR_BYTES,
                units: BTreeMap::new(),
                inside: Vec::new(),
            })
        };
        Contents {
            layout: layout.clone(),
            failed,
            is_full,
            members: unit_bytes.iter().map(of_member).collect(),
            sent: HashMap::new(),
            parity: HashMap::new(),
            number: AT_START,
        }
    }

    /// Follows what has happened since the last call.
    pub fn follow<'a>(&mut self, events: &[ArrayEvent], drives: impl Iterator<Item = Option<&'a mut Ssd<Witness>>>) {
        for event in events {
            match *event {
                ArrayEvent::Sent(request) => self.sent(&request),
                ArrayEvent::Given { number, member, tag, request } => self.given(number, member, tag, &request),
            }
        }
        for (member, drive) in (0..).zip(drives) {
            let changes = drive.map(|drive| drive.flash.accounts.probe.take_changes()).unwrap_or_default();
            changes.iter().for_each(|change| self.changed(member, change));
        }
    }

    /// The host sends a request: with parity, what each row holds when it has been carried out.
    fn sent(&mut self, request: &Request) {
        self.number += 1;
        if self.layout.level != Level::Raid5 {
            return;
        }
        if request.kind == RequestKind::Trim {
            return self.sent_trim(request);
        }
        let parts: Vec<ChunkPart> = self.layout.parts(request.offset_bytes, request.bytes).collect();
        for parts in parts.chunk_by(|one, next| one.row == next.row) {
            for part in parts {
                let first = self.layout.piece(*part).offset_bytes / SECTOR_BYTES;
                let end = first + (part.until - part.from) / SECTOR_BYTES;
                self.send(part.member, first..end, symbol(self.number, part.member));
            }
            self.renew_parity(parts);
        }
    }

    /// Trims pass to whole rows alone.
    fn sent_trim(&mut self, request: &Request) {
        let row_bytes = self.layout.chunk_bytes * u64::from(self.layout.data_chunks());
        let first = request.offset_bytes.div_ceil(row_bytes);
        let end = (request.offset_bytes + request.bytes) / row_bytes;
        let of_row = self.layout.chunk_bytes / SECTOR_BYTES;
        for member in 0..self.layout.members {
            self.send(member, first * of_row..end.max(first) * of_row, 0);
        }
    }

    fn renew_parity(&mut self, parts: &[ChunkPart]) {
        let row = parts[0].row;
        let chunk = self.layout.chunk_bytes;
        let mut ranges: Vec<(u64, u64)> = parts.iter().map(|part| (part.from, part.until)).collect();
        ranges.sort_unstable();
        let mut apart: Vec<(u64, u64)> = Vec::new();
        for (from, until) in ranges {
            match apart.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(until),
                _ => apart.push((from, until)),
            }
        }
        let parity = self.layout.parity_member(row);
        let of_range = |&(from, until): &(u64, u64)| {
            let sectors = (row * chunk + from) / SECTOR_BYTES..(row * chunk + until) / SECTOR_BYTES;
            let data = |sector| (0..self.layout.members).filter(|&member| member != parity).map(move |m| (m, sector));
            let symbol = |sector| data(sector).fold(0, |sum, (member, sector)| sum ^ self.host(member, sector));
            (sectors.start, sectors.map(symbol).collect())
        };
        let renewed = apart.iter().map(of_range).collect();
        if self.failed != Some(parity) {
            self.parity.insert((self.number, row), renewed);
        }
    }

    /// What the host sent last to a sector of a member.
    fn host(&self, member: u32, sector: u64) -> Symbol {
        let last = self.sent.get(&(member, sector / BLOCK_SECTORS)).and_then(|sent| sent.last());
        last.map_or_else(|| self.at_start(member, sector), |block| block[(sector % BLOCK_SECTORS) as usize])
    }

    /// The host sends a symbol to these sectors of a member.
    fn send(&mut self, member: u32, sectors: Range<u64>, symbol: Symbol) {
        for block in sectors.start / BLOCK_SECTORS..sectors.end.div_ceil(BLOCK_SECTORS) {
            let first = block * BLOCK_SECTORS;
            let content = std::array::from_fn(|at| match first + at as u64 {
                sector if sectors.contains(&sector) => symbol,
                sector => self.host(member, sector),
            });
            self.sent.entry((member, block)).or_default().push(content);
        }
    }

    /// Whether a sector of a member ever held this, or was to hold it.
    pub fn was_sent(&self, member: u32, sector: u64, symbol: Symbol) -> bool {
        let sent = self.sent.get(&(member, sector / BLOCK_SECTORS)).into_iter().flatten();
        let mut sent = sent.map(|block| block[(sector % BLOCK_SECTORS) as usize]);
        symbol == self.at_start(member, sector) || sent.any(|one| one == symbol)
    }

    /// What a sector of a member holds at the start.
    pub fn at_start(&self, member: u32, sector: u64) -> Symbol {
        let row = sector * SECTOR_BYTES / self.layout.chunk_bytes;
        let parity = self.layout.parity_member(row);
        match self.layout.level {
            _ if !self.is_full => 0,
            Level::Raid5 if member == parity => (0..self.layout.members)
                .filter(|&data| data != parity)
                .fold(0, |sum, data| sum ^ symbol(AT_START, data)),
            _ => symbol(AT_START, self.layout.first_mirror(member)),
        }
    }

    /// A member gets something to change.
    fn given(&mut self, number: u64, member: u32, tag: Tag, request: &Request) {
        let (from, sectors) = (request.offset_bytes / SECTOR_BYTES, request.bytes / SECTOR_BYTES);
        let symbols = match request.kind {
            RequestKind::Trim => vec![0; sectors as usize],
            _ => self.symbols(number, member, from, sectors),
        };
        let Some(of_member) = &mut self.members[member as usize] else { return };
        let unit = of_member.unit_sectors;
        let units_left = match request.kind {
            RequestKind::Trim => ((from + sectors) / unit).saturating_sub(from.div_ceil(unit)),
            _ => (from + sectors).div_ceil(unit) - from / unit,
        };
        if of_member.inside.len() <= tag.0 as usize {
            of_member.inside.resize_with(tag.0 as usize + 1, VecDeque::new);
        }
        if units_left > 0 {
            of_member.inside[tag.0 as usize].push_back(Inside { from, symbols, units_left });
        }
    }

    /// What a member gets to write.
    fn symbols(&mut self, number: u64, member: u32, from: u64, sectors: u64) -> Vec<Symbol> {
        let row = from * SECTOR_BYTES / self.layout.chunk_bytes;
        if self.layout.level == Level::Raid5 && self.layout.parity_member(row) == member {
            let ranges = self.parity.get_mut(&(number, row));
            let found = ranges.and_then(|ranges| {
                let at = ranges.iter().position(|&(first, _)| first == from)?;
                Some((ranges.swap_remove(at).1, ranges.is_empty()))
            });
            if let Some((symbols, is_last)) = found {
                if is_last {
                    self.parity.remove(&(number, row));
                }
                return symbols;
            }
        }
        vec![symbol(number, self.layout.first_mirror(member)); sectors as usize]
    }

    /// A unit of a member gets a new version.
    fn changed(&mut self, member: u32, change: &Change) {
        let &Change { request, lpn, version, is_trim } = change;
        let before = self.now(member, lpn);
        let Some(of_member) = &mut self.members[member as usize] else { return };
        let unit = of_member.unit_sectors;
        let Some(inside) = of_member.inside.get_mut(request.idx()) else { return };
        let Some(first) = inside.front_mut() else { return };
        let mut sectors = before;
        for (sector, symbol) in (u64::from(lpn.0) * unit..).zip(&mut sectors) {
            if let Some(new) = sector.checked_sub(first.from).and_then(|at| first.symbols.get(at as usize)) {
                *symbol = *new;
            }
        }
        first.units_left -= 1;
        if first.units_left == 0 {
            inside.pop_front();
        }
        of_member.units.entry(lpn.0).or_default().push(Version { number: (version, is_trim), sectors });
    }

    /// The newest content of a unit of a member.
    fn now(&self, member: u32, lpn: Lpn) -> Box<[Symbol]> {
        let Some(of_member) = &self.members[member as usize] else { return Box::default() };
        let first = u64::from(lpn.0) * of_member.unit_sectors;
        match of_member.units.get(&lpn.0).and_then(|versions| versions.last()) {
            Some(last) => last.sectors.clone(),
            None => (first..first + of_member.unit_sectors).map(|sector| self.at_start(member, sector)).collect(),
        }
    }

    /// The content of a unit of a member that holds this after a cut.
    pub fn content(&self, member: u32, lpn: Lpn, held: Held) -> Content<'_> {
        let versions = self.members[member as usize].as_ref().and_then(|of_member| of_member.units.get(&lpn.0));
        let unknown = |version| Content::All(symbol(u64::MAX ^ version, member ^ lpn.0 << 5));
        match held {
            Held::Nothing => Content::All(0),
            Held::NotItsOwn => unknown(u64::MAX),
            Held::Version(version) => {
                let is_older = |one: &&Version| one.number <= (version, false);
                match versions.and_then(|versions| versions.iter().rev().find(is_older)) {
                    Some(found) => Content::Of(&found.sectors),
                    None if self.is_full && version > 0 => Content::AtStart,
                    None => unknown(version), // the start state had overwritten it
                }
            }
        }
    }

    /// Whether a unit that was never changed holds what it held at the start.
    pub fn is_at_start(&self, held: Held) -> bool {
        match held {
            Held::Nothing => !self.is_full,
            Held::Version(version) => self.is_full && version > 0,
            Held::NotItsOwn => false,
        }
    }
}

/// The symbol of a request of the host on a member: any number but 0 (the finalizer of splitmix64).
pub(super) fn symbol(number: u64, member: u32) -> Symbol {
    let mut mixed = (number << 8 ^ u64::from(member)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31).max(1)
}
