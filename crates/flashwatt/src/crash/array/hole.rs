//! The write hole: which rows of an array do not match after a cut, and what that does to data if a member is lost.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::contents::{BLOCK_SECTORS, Content, Contents, Symbol};
use crate::crash::Held;
use flashwatt_base::units::{Lpn, SECTOR_BYTES};
use flashwatt_devices::raid::layout::Piece;
use flashwatt_devices::raid::settings::Level;

/// What a power cut does to the redundancy of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InArray {
    /// Rows whose parity does not match their data, or whose copies differ. Rows without redundancy, as a member has failed, are not among
    /// them.
    pub inconsistent_rows: u64,
    /// Bytes of parity and of copies that a scrub must write anew for that.
    pub inconsistent_bytes: u64,
    /// Bytes of a member's data that the others would give wrongly if it failed before the scrub, for the member with the most: neither
    /// what was written there last, nor anything older.
    pub hole_bytes: u64,
    /// Bytes of the failed member's data that the others give wrongly now. Such data is lost.
    pub hole_lost_bytes: u64,
}

/// What an array holds after a cut.
pub(super) struct After<'a> {
    contents: &'a Contents,
    /// By member and unit what it holds; none of a member that has failed.
    held: &'a [Option<Vec<Held>>],
}

impl<'a> After<'a> {
    pub fn new(contents: &'a Contents, held: &'a [Option<Vec<Held>>]) -> Self {
        After { contents, held }
    }

    /// What is inconsistent, and what a scrub writes anew.
    pub fn check(&self) -> (InArray, Vec<Piece>) {
        let mut found = InArray::default();
        let (mut rows, mut repairs) = (BTreeSet::new(), Vec::new());
        let mut wrong: BTreeMap<u32, u64> = BTreeMap::new();
        let sectors_of_row = self.contents.layout.chunk_bytes / SECTOR_BYTES;
        for (group, block) in self.blocks() {
            for sector in block * BLOCK_SECTORS..(block + 1) * BLOCK_SECTORS {
                let to_write = self.mismatch(group, sector);
                if !to_write.is_empty() {
                    rows.insert(sector / sectors_of_row);
                    self.wrong_members(sector).for_each(|member| *wrong.entry(member).or_default() += SECTOR_BYTES);
                }
                to_write.into_iter().for_each(|member| add(&mut repairs, member, sector, sectors_of_row));
                found.hole_lost_bytes += if self.is_lost(sector) { SECTOR_BYTES } else { 0 };
            }
        }
        found.inconsistent_rows = rows.len() as u64;
        found.inconsistent_bytes = repairs.iter().map(|piece| piece.bytes).sum();
        found.hole_bytes = wrong.into_values().max().unwrap_or(0);
        (found, repairs)
    }

    /// The blocks to look at, each with the first mirror of those that hold it: where anything was written, and where a unit does not hold
    /// what it held at the start.
    fn blocks(&self) -> BTreeSet<(u32, u64)> {
        let contents = self.contents;
        let mut blocks = BTreeSet::new();
        let end = contents.layout.member_bytes / SECTOR_BYTES;
        for (member, (of_member, held)) in (0..).zip(contents.members.iter().zip(self.held)) {
            let (Some(of_member), Some(held)) = (of_member, held) else { continue };
            let is_changed =
                |&(lpn, held): &(u32, &Held)| !contents.is_at_start(*held) || of_member.units.contains_key(&lpn);
            for (lpn, _) in (0..).zip(held).filter(is_changed) {
                let first = u64::from(lpn) * of_member.unit_sectors;
                let last = (first + of_member.unit_sectors).min(end);
                let group =
                    if contents.layout.level == Level::Raid5 { 0 } else { contents.layout.first_mirror(member) };
                blocks.extend((first / BLOCK_SECTORS..last.div_ceil(BLOCK_SECTORS)).map(|block| (group, block)));
            }
        }
        blocks
    }

    /// The members whose part of a sector must be written anew: none if it matches, or has no redundancy.
    fn mismatch(&self, group: u32, sector: u64) -> Vec<u32> {
        let layout = &self.contents.layout;
        if sector >= layout.member_bytes / SECTOR_BYTES {
            return Vec::new();
        }
        let members = layout.mirrors(group).filter(|&member| self.contents.failed != Some(member));
        match layout.level {
            Level::Raid0 => Vec::new(),
            Level::Raid5 if self.contents.failed.is_some() || self.others(None, sector) == 0 => Vec::new(),
            Level::Raid5 => vec![layout.parity_member(self.row(sector))],
            Level::Raid1 | Level::Raid10 => {
                let mut copies = members.map(|member| (member, self.symbol(member, sector)));
                let Some((_, source)) = copies.next() else { return Vec::new() };
                copies.filter(|&(_, copy)| copy != source).map(|(member, _)| member).collect()
            }
        }
    }

    fn row(&self, sector: u64) -> u64 {
        sector * SECTOR_BYTES / self.contents.layout.chunk_bytes
    }

    /// What the other members of RAID 5 give for a sector of this one; of none, 0 if all of it matches.
    fn others(&self, member: Option<u32>, sector: u64) -> Symbol {
        let others = (0..self.contents.layout.members).filter(|&other| Some(other) != member);
        others.fold(0, |sum, other| sum ^ self.symbol(other, sector))
    }

    fn symbol(&self, member: u32, sector: u64) -> Symbol {
        let (Some(of_member), Some(held)) = (&self.contents.members[member as usize], &self.held[member as usize])
        else {
            return 0;
        };
        let lpn = Lpn((sector / of_member.unit_sectors) as u32);
        match self.contents.content(member, lpn, held[lpn.idx()]) {
            Content::Of(symbols) => symbols[(sector % of_member.unit_sectors) as usize],
            Content::AtStart => self.contents.at_start(member, sector),
            Content::All(symbol) => symbol,
        }
    }

    /// The members with data in a row that does not match, of which the others give what was never there.
    fn wrong_members(&self, sector: u64) -> impl Iterator<Item = u32> {
        let layout = &self.contents.layout;
        let parity = layout.parity_member(self.row(sector));
        let data = (0..layout.members).filter(move |&member| layout.level == Level::Raid5 && member != parity);
        data.filter(move |&member| !self.contents.was_sent(member, sector, self.others(Some(member), sector)))
    }

    /// Whether what the failed member held in a sector is lost.
    fn is_lost(&self, sector: u64) -> bool {
        let contents = self.contents;
        let Some(failed) = contents.failed.filter(|_| contents.layout.level == Level::Raid5) else { return false };
        if sector >= contents.layout.member_bytes / SECTOR_BYTES
            || contents.layout.parity_member(self.row(sector)) == failed
        {
            return false;
        }
        !contents.was_sent(failed, sector, self.others(Some(failed), sector))
    }
}

/// Adds a sector of a member to what is written anew.
fn add(repairs: &mut Vec<Piece>, member: u32, sector: u64, sectors_of_row: u64) {
    let offset_bytes = sector * SECTOR_BYTES;
    let is_next = |piece: &&mut Piece| {
        piece.member == member
            && piece.offset_bytes + piece.bytes == offset_bytes
            && !sector.is_multiple_of(sectors_of_row)
    };
    match repairs.iter_mut().rev().take(32).find(is_next) {
        Some(piece) => piece.bytes += SECTOR_BYTES,
        None => repairs.push(Piece { member, offset_bytes, bytes: SECTOR_BYTES }),
    }
}
