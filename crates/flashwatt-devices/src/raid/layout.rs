//! Where data lies in an array: pure arithmetic.
//!
//! A row is one chunk of each member, at the same offset of all. RAID 5 has the left-symmetric layout, the default of Linux's md
//! driver: the parity of row r lies on member n − 1 − r mod n, and data follows it round, so that logical chunk k lies on
//! member k mod n. A sequential read then uses all members in turn.

use super::settings::{Layout, Level};

/// A contiguous range on one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The member's number.
    pub member: u32,
    /// First byte on the member.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// A part of a logical range that lies in one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPart {
    /// The row.
    pub row: u64,
    /// The member; of mirrors, the first of them.
    pub member: u32,
    /// The first byte within the chunk.
    pub from: u64,
    /// The byte within the chunk after the last.
    pub until: u64,
}

impl Layout {
    /// Bytes that the host sees.
    pub fn logical_bytes(&self) -> u64 {
        self.member_bytes * u64::from(self.data_chunks())
    }

    /// Chunks of data in a row.
    pub fn data_chunks(&self) -> u32 {
        match self.level {
            Level::Raid0 => self.members,
            Level::Raid1 => 1,
            Level::Raid5 => self.members - 1,
            Level::Raid10 => self.members / 2,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.member_bytes / self.chunk_bytes
    }

    /// The members that hold the same data as `member`, which is the first of them.
    pub fn mirrors(&self, member: u32) -> std::ops::Range<u32> {
        match self.level {
            Level::Raid0 | Level::Raid5 => member..member + 1,
            Level::Raid1 => 0..self.members,
            Level::Raid10 => member..member + 2,
        }
    }

    /// The first of the mirrors that `member` belongs to.
    pub fn first_mirror(&self, member: u32) -> u32 {
        match self.level {
            Level::Raid0 | Level::Raid5 => member,
            Level::Raid1 => 0,
            Level::Raid10 => member & !1,
        }
    }

    /// The member that holds the parity of a row of RAID 5.
    pub fn parity_member(&self, row: u64) -> u32 {
        self.members - 1 - (row % u64::from(self.members)) as u32
    }

    /// The part that begins at `offset_bytes` and ends before `end_bytes`, or with its chunk.
    fn part(&self, offset_bytes: u64, end_bytes: u64) -> ChunkPart {
        let (chunk, from) = (offset_bytes / self.chunk_bytes, offset_bytes % self.chunk_bytes);
        let columns = u64::from(self.data_chunks());
        let (row, column) = (chunk / columns, (chunk % columns) as u32);
        let member = match self.level {
            Level::Raid0 => column,
            Level::Raid1 => 0,
            Level::Raid5 => (self.parity_member(row) + 1 + column) % self.members,
            Level::Raid10 => 2 * column,
        };
        ChunkPart { row, member, from, until: self.chunk_bytes.min(from + end_bytes - offset_bytes) }
    }

    /// The parts of a logical range, in the order of addresses.
    pub fn parts(&self, offset_bytes: u64, bytes: u64) -> impl Iterator<Item = ChunkPart> {
        let (mut at, end) = (offset_bytes, offset_bytes + bytes);
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let part = self.part(at, end);
                at += part.until - part.from;
                part
            })
        })
    }

    /// Where a part lies.
    pub fn piece(&self, part: ChunkPart) -> Piece {
        let ChunkPart { row, member, from, until } = part;
        Piece { member, offset_bytes: row * self.chunk_bytes + from, bytes: until - from }
    }

    /// Where a logical range lies; what is contiguous on a member is one piece. Of mirrors, only the first is named.
    pub fn pieces(&self, offset_bytes: u64, bytes: u64, pieces: &mut Vec<Piece>) {
        pieces.clear();
        for part in self.parts(offset_bytes, bytes) {
            let piece = self.piece(part);
            let mut latest = pieces.iter_mut().rev().take(self.members as usize);
            match latest.find(|before| before.member == piece.member) {
                Some(before) if before.offset_bytes + before.bytes == piece.offset_bytes => before.bytes += piece.bytes,
                _ => pieces.push(piece),
            }
        }
    }
}

/// Finds the place of a request that lies in one chunk, as most do: what the layout gives for it, with fewer divisions.
pub struct Stripes {
    level: Level,
    chunk: Divisor,
    columns: Divisor,
    members: Divisor,
}

impl Stripes {
    /// Of a layout.
    pub fn new(layout: &Layout) -> Self {
        Stripes {
            level: layout.level,
            chunk: Divisor::new(layout.chunk_bytes),
            columns: Divisor::new(layout.data_chunks().into()),
            members: Divisor::new(layout.members.into()),
        }
    }

    /// The part of its chunk that a logical range is; none if it lies in several chunks. Of mirrors, only the first is named.
    #[inline(always)]
    pub fn only_part(&self, offset_bytes: u64, bytes: u64) -> Option<ChunkPart> {
        let (chunk, from) = self.chunk.divide(offset_bytes);
        if from + bytes > self.chunk.by {
            return None;
        }
        let (row, column) = self.columns.divide(chunk);
        let member = match self.level {
            Level::Raid0 | Level::Raid1 => column,
            Level::Raid5 => {
                // The first chunk follows the parity, which is on the last member in the first row, and goes backwards.
                let member = self.members.by - self.members.divide(row).1 + column;
                if member < self.members.by { member } else { member - self.members.by }
            }
            Level::Raid10 => 2 * column,
        };
        Some(ChunkPart { row, member: member as u32, from, until: from + bytes })
    }

    /// As [`Self::only_part`], as a range on the member.
    #[inline(always)]
    pub fn only_piece(&self, offset_bytes: u64, bytes: u64) -> Option<Piece> {
        let ChunkPart { row, member, from, .. } = self.only_part(offset_bytes, bytes)?;
        Some(Piece { member, offset_bytes: row * self.chunk.by + from, bytes })
    }
}

/// A number to divide by. Chunks are powers of two, and many numbers of members, so that there is a faster way than a division.
struct Divisor {
    by: u64,
    /// Its logarithm to base 2, if it is a power of two.
    shift: Option<u32>,
}

impl Divisor {
    fn new(by: u64) -> Self {
        Divisor { by, shift: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    /// Quotient and remainder.
    #[inline(always)]
    fn divide(&self, what: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (what >> shift, what & (self.by - 1)),
            None => (what / self.by, what % self.by),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const CHUNK: u64 = 8;

    fn layout(level: Level, members: u32, rows: u64) -> Layout {
        Layout { level, members, chunk_bytes: CHUNK, member_bytes: rows * CHUNK }
    }

    fn pieces(layout: &Layout, offset: u64, bytes: u64) -> Vec<(u32, u64, u64)> {
        let mut found = Vec::new();
        layout.pieces(offset, bytes, &mut found);
        found.iter().map(|piece| (piece.member, piece.offset_bytes, piece.bytes)).collect()
    }

    /// The layout of md's documentation for five disks: data chunk k on disk k mod 5, parity from the last disk backwards.
    #[test]
    fn raid5_is_left_symmetric() {
        let five = layout(Level::Raid5, 5, 5);
        let parity: Vec<_> = (0..5).map(|row| five.parity_member(row)).collect();
        assert_eq!(parity, [4, 3, 2, 1, 0]);
        for chunk in 0..20 {
            let found = pieces(&five, chunk * CHUNK, CHUNK);
            assert_eq!(found, [((chunk % 5) as u32, chunk / 4 * CHUNK, CHUNK)], "chunk {chunk}");
        }
    }

    #[test]
    fn a_long_range_is_one_piece_for_each_member_of_stripes() {
        let three = layout(Level::Raid0, 3, 10);
        assert_eq!(pieces(&three, 4, 44), [(0, 4, 12), (1, 0, 16), (2, 0, 16)]);
        assert_eq!(pieces(&layout(Level::Raid10, 4, 10), 12, 8), [(2, 4, 4), (0, 8, 4)]);
        assert_eq!(pieces(&layout(Level::Raid1, 2, 10), 12, 20), [(0, 12, 20)]);
    }

    /// Member 0 of three has data in rows 0 and 1, and the parity of row 2.
    #[test]
    fn parity_divides_pieces() {
        let three = layout(Level::Raid5, 3, 6);
        assert_eq!(pieces(&three, 0, 6 * CHUNK), [(0, 0, 16), (1, 0, 8), (2, 8, 16), (1, 16, 8)]);
    }

    proptest! {
        /// Every logical byte has a place of its own, which is no parity; all places together are the members' bytes but parity
        /// and copies.
        #[test]
        fn every_byte_has_a_place_of_its_own(level in 0..4usize, extra in 0..5u32, rows in 1..12u64) {
            let level = [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid10][level];
            let members = level.least_members() + if level == Level::Raid10 { 2 * extra } else { extra };
            let layout = layout(level, members, rows);
            let mut places = BTreeSet::new();
            for byte in 0..layout.logical_bytes() {
                let [(member, offset, 1)] = pieces(&layout, byte, 1)[..] else { panic!("one piece") };
                prop_assert!(member < members && offset < layout.member_bytes);
                prop_assert!(level != Level::Raid5 || layout.parity_member(offset / CHUNK) != member);
                prop_assert_eq!(layout.first_mirror(member), member);
                prop_assert!(places.insert((member, offset)));
            }
            prop_assert_eq!(places.len() as u64, rows * CHUNK * u64::from(layout.data_chunks()));
        }

        /// A range in one chunk has the place that the layout gives it; others have several.
        #[test]
        fn stripes_find_what_the_layout_does(level in 0..4usize, extra in 0..5u32, chunk in 1..20u64, offset in 0..5_000u64, bytes in 1..40u64) {
            let level = [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid10][level];
            let members = level.least_members() + if level == Level::Raid10 { 2 * extra } else { extra };
            let layout = Layout { level, members, chunk_bytes: chunk, member_bytes: 10_000 * chunk };
            let mut parts = layout.parts(offset, bytes);
            let only = parts.next().filter(|_| parts.next().is_none());
            let stripes = Stripes::new(&layout);
            prop_assert_eq!(stripes.only_part(offset, bytes), only);
            prop_assert_eq!(stripes.only_piece(offset, bytes), only.map(|part| layout.piece(part)));
        }

        /// The pieces of a range are the places of its bytes.
        #[test]
        fn pieces_cover_a_range(level in 0..4usize, offset in 0..100u64, bytes in 1..100u64) {
            let level = [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid10][level];
            let layout = layout(level, 4, 60);
            let whole: BTreeSet<_> = pieces(&layout, offset, bytes)
                .into_iter()
                .flat_map(|(member, from, bytes)| (from..from + bytes).map(move |byte| (member, byte)))
                .collect();
            let single = (offset..offset + bytes).flat_map(|byte| pieces(&layout, byte, 1));
            prop_assert_eq!(whole, single.map(|(member, from, _)| (member, from)).collect());
        }
    }
}
