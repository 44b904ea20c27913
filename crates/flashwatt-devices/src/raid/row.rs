//! What a request does to one row of an array: which members are read first, and which are written then.
//!
//! A write to a part of a row of RAID 5 must renew its parity, in one of two ways:
//!
//! - *read, modify, write*: read the old data and the old parity, write the new data and the new parity;
//! - *reconstruct*: read what the row's other chunks hold, write the new data and the new parity.
//!
//! The way with fewer reads is taken; of equals the first, because it leaves the other members alone. (Linux's md driver
//! compares the same counts, and takes the second of equals.) Parity is renewed only over the bytes that the write covers. To
//! compute parity takes no time: a processor does several GB/s.

use super::layout::{ChunkPart, Piece};
use super::settings::Layout;
use flashwatt_core::connector::RequestKind;

/// The device requests of one row: all reads end before the first write starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowPlan {
    /// What is read.
    pub reads: Vec<Piece>,
    /// What is written.
    pub writes: Vec<Piece>,
}

impl RowPlan {
    /// What is read, or what is written.
    pub fn list(&mut self, kind: RequestKind) -> &mut Vec<Piece> {
        if kind == RequestKind::Read { &mut self.reads } else { &mut self.writes }
    }

    /// Nothing is read or written.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
    }
}

/// A range of bytes within the chunks of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Within {
    from: u64,
    until: u64,
}

/// One row of an array with parity.
pub struct Row<'a> {
    layout: &'a Layout,
    row: u64,
    /// The member that holds nothing of this row, because it has failed.
    missing: Option<u32>,
}

impl<'a> Row<'a> {
    /// A row, without the member that has failed.
    pub fn new(layout: &'a Layout, row: u64, missing: Option<u32>) -> Self {
        Row { layout, row, missing }
    }

    /// The read of a part of a chunk that is missing: the same bytes of all other members.
    pub fn reconstruct(&self, part: ChunkPart) -> RowPlan {
        let within = Within { from: part.from, until: part.until };
        let others = (0..self.layout.members).filter(|&member| self.holds(member) && member != part.member);
        RowPlan { reads: others.map(|member| self.piece(member, within)).collect(), writes: Vec::new() }
    }

    /// The write of parts of the row, into an empty plan.
    pub fn write(&self, parts: &[ChunkPart], plan: &mut RowPlan) {
        match (parts, self.missing) {
            ([part], None) => self.write_part(*part, plan),
            _ => *plan = self.write_parts(parts),
        }
    }

    /// The write of a part of one chunk, with all members there: what [`Self::write_parts`] gives for it, at less cost.
    fn write_part(&self, part: ChunkPart, plan: &mut RowPlan) {
        let parity = self.layout.parity_member(self.row);
        let within = Within { from: part.from, until: part.until };
        let both = [self.layout.piece(part), self.piece(parity, within)];
        match self.layout.members {
            // The one other chunk of data gives the parity, with one read.
            3 => plan.reads.push(self.piece(3 - parity - part.member, within)),
            _ => plan.reads.extend(both),
        }
        plan.writes.extend(both);
    }

    fn write_parts(&self, parts: &[ChunkPart]) -> RowPlan {
        let mut plan = RowPlan::default();
        let data = parts.iter().filter(|part| self.holds(part.member)).map(|&part| self.layout.piece(part));
        plan.writes.extend(data);
        let parity = self.layout.parity_member(self.row);
        if self.holds(parity) {
            for within in unions(parts) {
                plan.reads.extend(self.reads_for_parity(within, parts, parity));
                plan.writes.push(self.piece(parity, within));
            }
        }
        plan
    }

    /// A whole chunk of the member that has failed, from the others to the spare in its place.
    pub fn rebuild(&self, member: u32, sources: impl Iterator<Item = u32>) -> RowPlan {
        let whole = Within { from: 0, until: self.layout.chunk_bytes };
        let reads = sources.filter(|&source| source != member).map(|source| self.piece(source, whole)).collect();
        RowPlan { reads, writes: vec![self.piece(member, whole)] }
    }

    fn holds(&self, member: u32) -> bool {
        self.missing != Some(member)
    }

    fn piece(&self, member: u32, within: Within) -> Piece {
        let Within { from, until } = within;
        self.layout.piece(ChunkPart { row: self.row, member, from, until })
    }

    /// The reads that give the new parity of these bytes.
    fn reads_for_parity(&self, within: Within, parts: &[ChunkPart], parity: u32) -> Vec<Piece> {
        let written: Vec<_> = parts.iter().filter_map(|part| overlap(part, within)).collect();
        let writes_missing = written.iter().find(|part| !self.holds(part.member));
        let others = self.reads_of_others(within, &written, parity);
        match (self.missing, writes_missing) {
            // What is missing must be known: its new bytes are given, or its old ones follow from all others.
            (Some(_), Some(part)) if part.from == within.from && part.until == within.until => others,
            (Some(_), Some(_)) => {
                let members = (0..self.layout.members).filter(|&member| self.holds(member));
                members.map(|member| self.piece(member, within)).collect()
            }
            (Some(_), None) => self.reads_of_old(within, &written, parity),
            (None, _) if others.len() < written.len() + 1 => others,
            (None, _) => self.reads_of_old(within, &written, parity),
        }
    }

    /// The old bytes that are written, and the old parity.
    fn reads_of_old(&self, within: Within, written: &[ChunkPart], parity: u32) -> Vec<Piece> {
        let data = written.iter().map(|&part| self.layout.piece(part));
        data.chain(std::iter::once(self.piece(parity, within))).collect()
    }

    /// The bytes of all chunks of data that are not written.
    fn reads_of_others(&self, within: Within, written: &[ChunkPart], parity: u32) -> Vec<Piece> {
        let data = (0..self.layout.members).filter(|&member| member != parity && self.holds(member));
        data.flat_map(|member| {
            let part = written.iter().find(|part| part.member == member);
            let Within { from, until } = within;
            let kept = match part {
                None => [within, Within { from: until, until }],
                Some(part) => [Within { from, until: part.from }, Within { from: part.until, until }],
            };
            kept.into_iter().filter(|kept| kept.from < kept.until).map(move |kept| (member, kept))
        })
        .map(|(member, kept)| self.piece(member, kept))
        .collect()
    }
}

/// The part of a part that lies within these bytes of its chunk.
fn overlap(part: &ChunkPart, within: Within) -> Option<ChunkPart> {
    let (from, until) = (part.from.max(within.from), part.until.min(within.until));
    (from < until).then_some(ChunkPart { from, until, ..*part })
}

/// The bytes within chunks that any of the parts covers, as ranges apart. A request covers the end of its first chunk, whole
/// chunks, and the beginning of its last one: these are at most two ranges.
fn unions(parts: &[ChunkPart]) -> Vec<Within> {
    let mut ranges: Vec<_> = parts.iter().map(|part| Within { from: part.from, until: part.until }).collect();
    ranges.sort_by_key(|range| range.from);
    let mut apart: Vec<Within> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.from <= last.until => last.until = last.until.max(range.until),
            _ => apart.push(range),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::super::settings::Level;
    use super::*;
    use proptest::prelude::*;

    const CHUNK: u64 = 16;

    fn layout(members: u32) -> Layout {
        Layout { level: Level::Raid5, members, chunk_bytes: CHUNK, member_bytes: 64 * CHUNK }
    }

    /// Reads and writes of a range within the first row, as (member, first byte, bytes).
    type Listed = Vec<(u32, u64, u64)>;

    fn listed(pieces: &[Piece]) -> Listed {
        let mut list: Vec<_> = pieces.iter().map(|piece| (piece.member, piece.offset_bytes, piece.bytes)).collect();
        list.sort_unstable();
        list
    }

    fn planned(row: &Row, parts: &[ChunkPart]) -> RowPlan {
        let mut plan = RowPlan::default();
        row.write(parts, &mut plan);
        plan
    }

    fn write(members: u32, missing: Option<u32>, offset: u64, bytes: u64) -> (Listed, Listed) {
        let layout = layout(members);
        let parts: Vec<_> = layout.parts(offset, bytes).collect();
        let plan = planned(&Row::new(&layout, 0, missing), &parts);
        (listed(&plan.reads), listed(&plan.writes))
    }

    /// Five members, row 0: data on 0 to 3, parity on 4.
    #[test]
    fn a_small_write_reads_old_data_and_parity_and_writes_both() {
        assert_eq!(write(5, None, 18, 4), (vec![(1, 2, 4), (4, 2, 4)], vec![(1, 2, 4), (4, 2, 4)]));
        assert_eq!(write(4, None, 0, 4), (vec![(0, 0, 4), (3, 0, 4)], vec![(0, 0, 4), (3, 0, 4)]), "equal counts");
    }

    #[test]
    fn of_three_members_the_third_is_read() {
        assert_eq!(write(3, None, 0, 4), (vec![(1, 0, 4)], vec![(0, 0, 4), (2, 0, 4)]));
    }

    #[test]
    fn a_whole_row_is_written_without_a_read() {
        let writes = (0..5).map(|member| (member, 0, CHUNK)).collect();
        assert_eq!(write(5, None, 0, 4 * CHUNK), (vec![], writes));
    }

    /// Three chunks of four: one other is read, instead of three old ones and the parity.
    #[test]
    fn most_of_a_row_is_reconstructed() {
        let (reads, writes) = write(5, None, 0, 3 * CHUNK);
        assert_eq!(reads, [(3, 0, CHUNK)]);
        assert_eq!(writes.len(), 4);
    }

    /// The last 4 bytes of chunk 0 and the first 4 of chunk 1: two ranges of parity.
    #[test]
    fn parity_is_renewed_where_something_is_written() {
        let both = vec![(0, 12, 4), (1, 0, 4), (4, 0, 4), (4, 12, 4)];
        assert_eq!(write(5, None, 12, 8), (both.clone(), both));
    }

    #[test]
    fn without_the_parity_data_is_just_written() {
        assert_eq!(write(5, Some(4), 0, 4), (vec![], vec![(0, 0, 4)]));
    }

    #[test]
    fn without_the_chunk_that_is_written_the_parity_takes_it() {
        assert_eq!(write(5, Some(0), 0, 4), (vec![(1, 0, 4), (2, 0, 4), (3, 0, 4)], vec![(4, 0, 4)]));
        // Another chunk's bytes must not need the missing one.
        assert_eq!(write(5, Some(0), 16, 4), (vec![(1, 0, 4), (4, 0, 4)], vec![(1, 0, 4), (4, 0, 4)]));
    }

    /// Chunk 0 is missing, and its last 12 bytes and chunk 1 are written: the old first 4 bytes of it follow from the others.
    #[test]
    fn without_a_chunk_that_is_written_in_part_all_others_are_read() {
        let (reads, writes) = write(5, Some(0), 4, 28);
        assert_eq!(reads, (1..5).map(|member| (member, 0, CHUNK)).collect::<Vec<_>>());
        assert_eq!(writes, [(1, 0, CHUNK), (4, 0, CHUNK)]);
    }

    #[test]
    fn a_missing_chunk_is_read_from_all_others() {
        let layout = layout(5);
        let part = layout.parts(2, 4).next().expect("a part");
        let plan = Row::new(&layout, 0, Some(0)).reconstruct(part);
        assert_eq!(listed(&plan.reads), (1..5).map(|member| (member, 2, 4)).collect::<Vec<_>>());
        assert_eq!(plan.writes, []);
    }

    /// The bytes of a row, and what is known after the reads.
    fn apply(members: u32, missing: Option<u32>, offset: u64, bytes: u64) {
        let layout = layout(members);
        let parity = layout.parity_member(0);
        let old = |member: u32, byte: u64| u64::from(member) * 31 + byte * 7;
        let parity_of = |data: &dyn Fn(u32, u64) -> u64, byte: u64| {
            (0..members).filter(|&member| member != parity).fold(0, |sum, member| sum ^ data(member, byte))
        };
        let parts: Vec<_> = layout.parts(offset, bytes).collect();
        let plan = planned(&Row::new(&layout, 0, missing), &parts);
        let covers = |pieces: &[Piece], member: u32, byte: u64| {
            pieces.iter().any(|p| p.member == member && (p.offset_bytes..p.offset_bytes + p.bytes).contains(&byte))
        };
        let is_written = |member: u32, byte: u64| {
            parts.iter().any(|part| part.member == member && (part.from..part.until).contains(&byte))
        };
        let new = |member: u32, byte: u64| if is_written(member, byte) { 1_000_003 + byte } else { old(member, byte) };
        for byte in (0..CHUNK).filter(|&byte| covers(&plan.writes, parity, byte)) {
            let read = |member: u32| covers(&plan.reads, member, byte);
            let data = || (0..members).filter(|&member| member != parity);
            let reconstructs = data().all(|member| is_written(member, byte) || read(member));
            let modifies = read(parity) && data().all(|member| !is_written(member, byte) || read(member));
            // All others are read: the missing bytes follow from them, and then the parity.
            let all_others = (0..members).all(|member| Some(member) == missing || read(member));
            assert!(reconstructs || modifies || all_others, "byte {byte}: {plan:?}");
            let expected = parity_of(&new, byte);
            if modifies && !reconstructs {
                let old_parity = parity_of(&old, byte);
                let renewed = data()
                    .filter(|&member| is_written(member, byte))
                    .fold(old_parity, |sum, member| sum ^ old(member, byte) ^ new(member, byte));
                assert_eq!(renewed, expected);
            }
        }
        for part in &parts {
            for byte in part.from..part.until {
                let is_kept = covers(&plan.writes, part.member, byte) || covers(&plan.writes, parity, byte);
                assert!(is_kept, "byte {byte} of member {} is lost: {plan:?}", part.member);
                assert!(missing == Some(parity) || covers(&plan.writes, parity, byte), "its parity is stale");
            }
        }
        let touches_missing = plan.reads.iter().chain(&plan.writes).any(|piece| Some(piece.member) == missing);
        assert!(!touches_missing, "{plan:?}");
    }

    proptest! {
        /// A write of one part is planned as a write of several.
        #[test]
        fn one_part_is_planned_as_several(members in 3..9u32, row in 0..20u64, offset in 0..100u64, bytes in 1..16u64) {
            let layout = layout(members);
            let start = row * u64::from(members - 1) * CHUNK + offset % (u64::from(members - 1) * CHUNK);
            let part = layout.parts(start, bytes).next().expect("a part");
            let row = Row::new(&layout, row, None);
            prop_assert_eq!(planned(&row, &[part]), row.write_parts(&[part]));
        }

        /// After any write, with or without a failed member, the parity can be computed from what was read, and no byte is
        /// lost.
        #[test]
        fn parity_can_be_computed(members in 3..7u32, missing in 0..14u32, offset in 0..90u64, bytes in 1..90u64) {
            let row = u64::from(members - 1) * CHUNK;
            let offset = offset % row;
            let bytes = bytes.min(row - offset);
            apply(members, (missing < members).then_some(missing), offset, bytes);
        }
    }
}
