//! Which parts of the devices were touched: sets of pages and of sectors.

use std::collections::BTreeMap;

use super::super::layout::sectors;
use super::super::{DeviceId, Record};
use crate::units::SECTOR_BYTES;

/// What footprints and reuse are counted in.
pub const PAGE_BYTES: u64 = 4096;
const SECTORS_PER_PAGE: u64 = PAGE_BYTES / SECTOR_BYTES;
/// A page of which every sector is there.
const WHOLE: u8 = u8::MAX;

/// A set of 4-KiB pages: 64 of them to a map entry.
#[derive(Default)]
pub struct Pages {
    chunks: BTreeMap<(DeviceId, u64), u64>,
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

    /// Their size.
    pub fn mib(&self) -> f64 {
        (self.count * PAGE_BYTES) as f64 / f64::from(1 << 20)
    }
}

/// A set of sectors of 512 bytes: pages that are wholly there, and the sectors of others.
#[derive(Default)]
pub struct Sectors {
    whole: Pages,
    part: BTreeMap<(DeviceId, u64), u8>,
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
        // What lies before the first whole page and behind the last one; within one page both are the same.
        self.add_part(id, start, end.min(first * SECTORS_PER_PAGE));
        if first <= last {
            self.add_part(id, last * SECTORS_PER_PAGE, end);
        }
    }

    /// Parts of pages that are whole now are no parts any longer.
    fn join(&mut self, id: DeviceId, first: u64, last: u64) {
        while let Some((&key, _)) = self.part.range((id, first)..(id, last)).next() {
            self.part.remove(&key);
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

    /// Their size.
    pub fn bytes(&self) -> u64 {
        let parts: u64 = self.part.values().map(|bits| u64::from(bits.count_ones())).sum();
        self.whole.count * PAGE_BYTES + parts * SECTOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::connector::RequestKind;
    use crate::rng::Rng;

    fn write(device: u64, offset_bytes: u64, bytes: u64) -> Record {
        Record { time_ns: 0, device, offset_bytes, bytes, kind: RequestKind::Write, fua: false }
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

    /// As many as in a plain set of sectors.
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
