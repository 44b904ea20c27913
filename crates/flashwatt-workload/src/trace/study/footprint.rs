//! The footprint of a trace: sets of touched pages and sectors.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::super::layout::sectors;
use super::super::{DeviceId, Record};
use flashwatt_base::hash::NumberHasher;
use flashwatt_base::units::SECTOR_BYTES;

/// Page size of footprints and reuse.
pub const PAGE_BYTES: u64 = 4096;
const SECTORS_PER_PAGE: u64 = PAGE_BYTES / SECTOR_BYTES;
/// The bits of a page with all its sectors.
const WHOLE: u8 = u8::MAX;

/// A table by device and number. Only sums are taken over it, so that its order does not matter.
type ByPlace<T> = HashMap<(DeviceId, u64), T, BuildHasherDefault<NumberHasher>>;

/// A set of 4-KiB pages, stored as bit sets of 64 pages.
#[derive(Default)]
pub struct Pages {
    chunks: ByPlace<u64>,
    count: u64,
}

impl Pages {
    /// Adds the pages that a record touches.
    pub fn add(&mut self, record: &Record, id: DeviceId) {
        let end = (record.offset_bytes + record.bytes).div_ceil(PAGE_BYTES);
        self.add_pages(id, record.offset_bytes / PAGE_BYTES, end);
    }

    fn add_pages(&mut self, id: DeviceId, mut page: u64, end: u64) {
        while page < end {
            let chunk_end = end.min((page / 64 + 1) * 64);
            let mask = u64::MAX >> (64 - (chunk_end - page)) << (page % 64);
            let bits = self.chunks.entry((id, page / 64)).or_default();
            self.count += u64::from((mask & !*bits).count_ones());
            *bits |= mask;
            page = chunk_end;
        }
    }

    fn has(&self, id: DeviceId, page: u64) -> bool {
        self.chunks.get(&(id, page / 64)).is_some_and(|bits| bits >> (page % 64) & 1 == 1)
    }

    /// The size of the set in MiB.
    pub fn mib(&self) -> f64 {
        (self.count * PAGE_BYTES) as f64 / f64::from(1 << 20)
    }
}

/// A set of sectors of 512 bytes, stored as whole pages and as bit sets of the sectors of all other pages.
#[derive(Default)]
pub struct Sectors {
    whole: Pages,
    part: ByPlace<u8>,
}

impl Sectors {
    /// Adds the sectors that a record touches.
    pub fn add(&mut self, record: &Record, id: DeviceId) {
        let (start, end) = sectors(record);
        let (start, end) = (start / SECTOR_BYTES, end / SECTOR_BYTES);
        let (first, last) = (start.div_ceil(SECTORS_PER_PAGE), end / SECTORS_PER_PAGE);
        if first < last {
            self.whole.add_pages(id, first, last);
            self.join(id, first, last);
        }
        // The sectors before the first whole page and after the last one. If the record lies within one page, the first
        // of these two ranges covers it.
        self.add_part(id, start, end.min(first * SECTORS_PER_PAGE));
        if first <= last {
            self.add_part(id, last * SECTORS_PER_PAGE, end);
        }
    }

    /// Removes the bit sets of pages that are whole now.
    fn join(&mut self, id: DeviceId, first: u64, last: u64) {
        if last - first > self.part.len() as u64 {
            self.part.retain(|&(device, page), _| device != id || !(first..last).contains(&page));
            return;
        }
        for page in first..last {
            self.part.remove(&(id, page));
        }
    }

    /// Adds sectors of one page, from `start` until `end`.
    fn add_part(&mut self, id: DeviceId, start: u64, end: u64) {
        let page = start / SECTORS_PER_PAGE;
        if start >= end || self.whole.has(id, page) {
            return;
        }
        let length = end - start;
        let mask = WHOLE >> (SECTORS_PER_PAGE - length) << (start % SECTORS_PER_PAGE);
        let bits = self.part.entry((id, page)).or_default();
        *bits |= mask;
        if *bits == WHOLE {
            self.part.remove(&(id, page));
            self.whole.add_pages(id, page, page + 1);
        }
    }

    /// The size of the set in bytes.
    pub fn bytes(&self) -> u64 {
        let parts: u64 = self.part.values().map(|bits| u64::from(bits.count_ones())).sum();
        self.whole.count * PAGE_BYTES + parts * SECTOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use flashwatt_base::rng::Rng;
    use flashwatt_core::connector::RequestKind;

    fn write(device: u64, offset_bytes: u64, bytes: u64) -> Record {
        Record::new(0, device, offset_bytes, bytes, RequestKind::Write)
    }

    fn id(device: u64) -> DeviceId {
        DeviceId { trace: 0, device }
    }

    #[test]
    fn pages_count_once() {
        let mut pages = Pages::default();
        let mut add = |device, offset_bytes, bytes| {
            pages.add(&write(device, offset_bytes, bytes), id(device));
            pages.count
        };
        for (offset_bytes, bytes) in [(0, 1), (4095, 2), (63 * 4096, 2 * 4096), (0, 128 * 4096)] {
            add(0, offset_bytes, bytes);
        }
        assert_eq!(add(0, 0, 1), 128);
        assert_eq!(add(1, 0, 1), 129);
    }

    /// The set counts as many sectors as a plain set of sector numbers.
    #[test]
    fn sectors_count_once() {
        let (mut sectors, mut plain, mut rng) = (Sectors::default(), BTreeSet::new(), Rng::new(3));
        for _ in 0..5000 {
            let (device, offset, bytes) = (rng.below(2), rng.below(1 << 20), 1 + rng.below(20_000));
            sectors.add(&write(device, offset, bytes), id(device));
            plain.extend((offset / 512..(offset + bytes).div_ceil(512)).map(|sector| (device, sector)));
            assert_eq!(sectors.bytes(), plain.len() as u64 * 512, "{offset} {bytes}");
        }
    }
}
