//! The track buffer: segments, each with a run of sectors that were read.

use super::geometry::Lba;
use super::settings;
use crate::units::SECTOR_BYTES;

/// A run of sectors; empty if it ends where it begins.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    first: Lba,
    end: Lba,
    /// When it was used last, by a count of uses.
    used: u64,
}

/// The segments of a track buffer. Of a segment that is full the oldest sectors give way to new ones.
pub struct Buffer {
    segments: Box<[Segment]>,
    /// Sectors of a segment.
    size: u64,
    uses: u64,
}

impl Buffer {
    /// Empty segments.
    pub fn new(settings: &settings::Buffer) -> Self {
        let segments = vec![Segment::default(); settings.segments as usize].into();
        Buffer { segments, size: settings.segment_bytes / SECTOR_BYTES, uses: 0 }
    }

    /// The end of the run of sectors that begins with this one; none if this sector is not in the buffer.
    pub fn end_of(&mut self, lba: Lba) -> Option<Lba> {
        let segment = self.segments.iter_mut().find(|segment| (segment.first..segment.end).contains(&lba))?;
        self.uses += 1;
        segment.used = self.uses;
        Some(segment.end)
    }

    /// The segment with this sector, and its end.
    pub fn holder(&self, lba: Lba) -> Option<(usize, Lba)> {
        let at = self.segments.iter().position(|segment| (segment.first..segment.end).contains(&lba))?;
        Some((at, self.segments[at].end))
    }

    /// The segment that takes the sectors read from this one on: the one that ends there, else the one that was not used for the
    /// longest time. None if there are no segments.
    pub fn begin(&mut self, lba: Lba) -> Option<usize> {
        let continued = self.segments.iter().position(|segment| segment.end == lba && segment.first < lba);
        let oldest = || (0..self.segments.len()).min_by_key(|&at| self.segments[at].used);
        let at = continued.or_else(oldest)?;
        self.uses += 1;
        let segment = &mut self.segments[at];
        segment.used = self.uses;
        if continued.is_none() {
            (segment.first, segment.end) = (lba, lba);
        }
        Some(at)
    }

    /// Sectors from `first` on to `end` were read into a segment. If they do not continue it, because some that it had are void by
    /// now, it begins with them.
    pub fn extend(&mut self, at: usize, first: Lba, end: Lba) {
        let segment = &mut self.segments[at];
        if segment.end < first {
            (segment.first, segment.end) = (first, first);
        }
        segment.end = segment.end.max(end);
        segment.first = segment.first.max(segment.end.saturating_sub(self.size));
    }

    /// Sectors of this range were written: a segment that has some of them keeps what comes before.
    pub fn forget(&mut self, first: Lba, end: Lba) {
        for segment in &mut self.segments {
            if segment.first < end && first < segment.end {
                segment.end = first.max(segment.first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(segments: u32) -> Buffer {
        let (read_ahead_bytes, read_ahead_least_bytes) = (0, 0);
        Buffer::new(&settings::Buffer { segments, segment_bytes: 10 * 512, read_ahead_bytes, read_ahead_least_bytes })
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
