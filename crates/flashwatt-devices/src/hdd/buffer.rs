//! The track buffer: segments, each with a run of sectors that were read.

use std::hint::select_unpredictable;

use super::geometry::Lba;
use super::settings;
use flashwatt_base::units::SECTOR_BYTES;

/// The segments of a track buffer. Of a segment that is full the oldest sectors give way to new ones.
///
/// Each holds one run of sectors. There is a list of each property, because every read looks through all segments.
pub struct Buffer {
    /// The first sector of each.
    firsts: Box<[Lba]>,
    /// The runs in 32 bits, in blocks that are searched at once. The rest of the last block has no sectors.
    blocks: Box<[SegmentBlock]>,
    /// Their numbers, from the one that was not used for the longest time on.
    by_use: Box<[u8]>,
    /// Sectors that fit into a segment.
    size: u64,
    /// How many times sectors came into a segment.
    arrivals: u64,
}

/// The runs of some segments: a processor compares them faster than it would predict where a search one by one ends.
#[derive(Clone, Copy, Default)]
struct SegmentBlock {
    /// The lower half of each run's first sector.
    firsts: [u32; BLOCK],
    /// Sectors in each; 0 if it is empty.
    lengths: [u32; BLOCK],
}

/// Segments that are searched at once.
const BLOCK: usize = 8;

impl Buffer {
    /// Empty segments.
    pub fn new(settings: &settings::Buffer) -> Self {
        let segments = settings.segments as usize;
        Buffer {
            firsts: vec![0; segments.next_multiple_of(BLOCK)].into(),
            blocks: vec![SegmentBlock::default(); segments.div_ceil(BLOCK)].into(),
            by_use: (0..settings.segments).map(|segment| segment as u8).collect(), // 256 at most
            size: settings.segment_bytes / SECTOR_BYTES, // below 2^32: the settings were checked
            arrivals: 0,
        }
    }

    /// The first segment for whose run `is_it` is true. `may_be` sees the lower half of its first sector and its length; it is true
    /// of every run for which `is_it` is, and of hardly another.
    #[inline(always)]
    fn find(&self, may_be: impl Fn(u32, u32) -> bool, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        for (block, SegmentBlock { firsts, lengths }) in self.blocks.iter().enumerate() {
            let may_be = |at: usize| may_be(firsts[at], lengths[at]);
            if !(0..BLOCK).fold(false, |any, at| any | may_be(at)) {
                continue; // most blocks have none: to know that takes a few comparisons of all segments at once
            }
            let mut found = (0..BLOCK).fold(0, |found, at| found | u32::from(may_be(at)) << at);
            while found != 0 {
                let at = block * BLOCK + found.trailing_zeros() as usize;
                if is_it(at) {
                    return Some(at);
                }
                found &= found - 1;
            }
        }
        None
    }

    #[inline(always)]
    fn first(&self, at: usize) -> Lba {
        self.firsts[at]
    }

    #[inline(always)]
    fn length(&self, at: usize) -> u64 {
        self.blocks[at / BLOCK].lengths[at % BLOCK].into()
    }

    #[inline(always)]
    fn end(&self, at: usize) -> Lba {
        self.first(at) + self.length(at)
    }

    #[inline(always)]
    fn set(&mut self, at: usize, first: Lba, end: Lba) {
        self.firsts[at] = first;
        let block = &mut self.blocks[at / BLOCK];
        (block.firsts[at % BLOCK], block.lengths[at % BLOCK]) = (first as u32, (end - first) as u32);
    }

    /// A segment is used: it is the last one to give way.
    #[inline]
    fn use_now(&mut self, at: usize) {
        if self.by_use.last().is_some_and(|&last| usize::from(last) != at) {
            let place = self.by_use.iter().position(|&one| usize::from(one) == at);
            self.use_last(place.unwrap_or(0));
        }
    }

    /// Moves the segment at this place of the order of uses to the end.
    #[inline]
    fn use_last(&mut self, place: usize) {
        let (segment, last) = (self.by_use[place], self.by_use.len() - 1);
        self.by_use.copy_within(place + 1.., place);
        self.by_use[last] = segment;
    }

    /// How many times sectors came into a segment.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// The end of the run of sectors that begins with this one; none if this sector is not in the buffer.
    #[inline]
    pub fn end_of(&mut self, lba: Lba) -> Option<Lba> {
        let (at, end) = self.holder(lba)?;
        self.use_now(at);
        Some(end)
    }

    /// The segment with this sector, and its end.
    #[inline]
    pub fn holder(&self, lba: Lba) -> Option<(usize, Lba)> {
        let low = lba as u32;
        // A sector before the first one wraps.
        let at = self.find(
            |first, length| low.wrapping_sub(first) < length,
            |at| lba.wrapping_sub(self.first(at)) < self.length(at),
        )?;
        Some((at, self.end(at)))
    }

    /// The segment that takes the sectors read from this one on: the one that ends there, else the one that was not used for the
    /// longest time. None if there are no segments.
    #[inline]
    pub fn begin(&mut self, lba: Lba) -> Option<usize> {
        let low = lba as u32;
        let ends_there = |first: u32, length: u32| (first.wrapping_add(length) == low) & (length > 0);
        if let Some(at) = self.find(ends_there, |at| self.end(at) == lba) {
            self.use_now(at);
            return Some(at);
        }
        let at = usize::from(*self.by_use.first()?);
        self.use_last(0);
        self.set(at, lba, lba);
        Some(at)
    }

    /// Sectors from `first` on to `end` were read into a segment. If they do not continue it, because some that it had are void by
    /// now, it begins with them.
    pub fn extend(&mut self, at: usize, first: Lba, end: Lba) {
        let (mut from, mut until) = (self.first(at), self.end(at));
        if until < first {
            (from, until) = (first, first);
        }
        self.arrivals += u64::from(end > until);
        until = until.max(end);
        self.set(at, from.max(until.saturating_sub(self.size)), until);
    }

    /// As [`Self::extend`]; `passed` sectors before the first one were read as well. They are kept if the segment begins with this read
    /// and has room.
    pub fn extend_with(&mut self, at: usize, passed: u64, first: Lba, end: Lba) {
        let is_new = self.length(at) == 0;
        let passed = if is_new { passed.min(self.size.saturating_sub(end - first)) } else { 0 };
        if passed > 0 {
            self.set(at, first - passed, first);
        }
        self.extend(at, first, end);
    }

    /// Sectors of this range were written, and stay in a segment.
    pub fn hold(&mut self, first: Lba, end: Lba) {
        if let Some(at) = self.begin(first) {
            self.extend(at, first, end);
        }
    }

    /// The first sector of a segment.
    pub fn start(&self, at: usize) -> Lba {
        self.first(at)
    }

    /// The host has read these sectors: a segment that has the last one begins after it.
    pub fn give_up(&mut self, first: Lba, end: Lba) {
        if let Some((at, held)) = (end > first).then(|| self.holder(end - 1)).flatten() {
            self.set(at, end, held);
        }
    }

    /// Sectors of this range were written: a segment that has some of them keeps what comes before.
    pub fn forget(&mut self, first: Lba, end: Lba) {
        if self.arrivals == 0 {
            return; // there has been no read
        }
        for (firsts, block) in self.firsts.chunks_exact(BLOCK).zip(&mut self.blocks) {
            for (from, length) in firsts.iter().zip(&mut block.lengths) {
                let has_some = (*from < end) & (first < *from + u64::from(*length));
                *length = select_unpredictable(has_some, first.saturating_sub(*from) as u32, *length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(segments: u32) -> Buffer {
        Buffer::new(&settings::Buffer { segments, segment_bytes: 10 * 512, ..settings::Buffer::default() })
    }

    #[test]
    fn a_segment_keeps_the_last_sectors_that_were_read() {
        let mut buffer = buffer(1);
        let at = buffer.begin(100).expect("a segment");
        buffer.extend(at, 100, 108);
        assert_eq!((buffer.end_of(100), buffer.end_of(107), buffer.end_of(108)), (Some(108), Some(108), None));
        assert_eq!(buffer.begin(108), Some(at), "it is continued");
        buffer.extend(at, 108, 113);
        assert_eq!((buffer.end_of(102), buffer.end_of(103)), (None, Some(113)), "10 sectors fit");
        buffer.forget(110, 111);
        assert_eq!((buffer.end_of(109), buffer.end_of(110), buffer.end_of(112)), (Some(110), None, None));
        buffer.extend(at, 113, 115);
        assert_eq!((buffer.end_of(109), buffer.end_of(113)), (None, Some(115)), "there is a gap");
    }

    #[test]
    fn the_segment_that_was_not_used_gives_way() {
        let mut buffer = buffer(2);
        for first in [100, 200] {
            let at = buffer.begin(first).expect("a segment");
            buffer.extend(at, first, first + 5);
        }
        assert!(buffer.end_of(100).is_some());
        let at = buffer.begin(300).expect("a segment");
        buffer.extend(at, 300, 301);
        assert_eq!((buffer.end_of(100), buffer.end_of(200), buffer.end_of(300)), (Some(105), None, Some(301)));
        assert_eq!(super::tests::buffer(0).begin(1), None);
    }
}
