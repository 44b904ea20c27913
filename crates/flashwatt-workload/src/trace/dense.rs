//! The addresses of a trace without the gaps between them.
//!
//! What a trace touches is counted in units of [`UNIT_BYTES`], on each device from its first byte on. The units are numbered in
//! the order of devices and addresses, and the numbers are the new addresses. What is sequential stays so, and so does what is
//! aligned to a unit or a part of one. A trim touches what it covers.

use super::layout::sectors;
use super::{DeviceId, Record};
use flashwatt_core::connector::RequestKind;

/// A unit: as large as the largest page of a preset's flash.
pub const UNIT_BYTES: u64 = 16 << 10;

/// Ranges between two sorts, at least.
const PENDING_MIN: usize = 1 << 16;

/// Neighbouring units of one device that are touched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Range {
    id: DeviceId,
    first: u64,
    end: u64,
}

impl Range {
    /// Takes in another range that begins no earlier, if there is no gap between them.
    fn join(&mut self, other: Range) -> bool {
        let joins = self.id == other.id && (self.first..=self.end).contains(&other.first);
        if joins {
            self.end = self.end.max(other.end);
        }
        joins
    }
}

/// Collects what a trace touches.
#[derive(Default)]
pub struct Touched {
    ranges: Vec<Range>,
    /// Ranges at the last sorting: these are in order, and apart from each other.
    sorted: usize,
}

impl Touched {
    /// Adds the units of a record.
    pub fn add(&mut self, record: &Record, id: DeviceId) {
        if record.kind == RequestKind::Flush {
            return;
        }
        let (start, end) = sectors(record);
        let range = Range { id, first: start / UNIT_BYTES, end: end.div_ceil(UNIT_BYTES) };
        if self.ranges.last_mut().is_some_and(|last| last.join(range)) {
            return;
        }
        self.ranges.push(range);
        if self.ranges.len() > 2 * self.sorted + PENDING_MIN {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, before| before.join(*next));
        self.sorted = self.ranges.len();
    }

    /// The new addresses.
    pub fn numbered(mut self) -> Dense {
        self.sort();
        let mut units = 0;
        let bases = self.ranges.iter().map(|range| {
            let base = units;
            units += range.end - range.first;
            base
        });
        let bases = bases.collect();
        Dense { ranges: self.ranges, bases, units, last: 0 }
    }
}

/// New addresses for what a trace touches.
#[derive(Clone)]
pub struct Dense {
    ranges: Vec<Range>,
    /// The number of the first unit of each range.
    bases: Vec<u64>,
    units: u64,
    /// The range that was used last.
    last: usize,
}

impl Dense {
    /// Bytes of all units.
    pub fn bytes(&self) -> u64 {
        self.units * UNIT_BYTES
    }

    /// The memory that its tables take.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.ranges[..]) + size_of_val(&self.bases[..])
    }

    /// The new address of a byte of a device; none for one that is not touched.
    pub fn address(&mut self, id: DeviceId, byte: u64) -> Option<u64> {
        let unit = byte / UNIT_BYTES;
        let holds = |range: &Range| range.id == id && (range.first..range.end).contains(&unit);
        if !self.ranges.get(self.last).is_some_and(holds) {
            self.last = self.ranges.partition_point(|range| (range.id, range.first) <= (id, unit)).checked_sub(1)?;
        }
        let range = self.ranges.get(self.last).filter(|range| holds(range))?;
        Some((self.bases[self.last] + unit - range.first) * UNIT_BYTES + byte % UNIT_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(ranges: &[(u64, u64, u64)]) -> Dense {
        let mut touched = Touched::default();
        for &(device, offset, bytes) in ranges {
            touched.add(&Record::new(0, device, offset, bytes, RequestKind::Write), DeviceId { trace: 0, device });
        }
        touched.numbered()
    }

    #[test]
    fn units_follow_each_other_by_device_and_address() {
        const UNIT: u64 = UNIT_BYTES;
        let far = 1 << 40;
        let ranges = [(7, far, 4096), (2, far + 3 * UNIT + 512, UNIT), (2, 512, 512), (2, far + 2 * UNIT, 512)];
        let mut dense = touched(&ranges);
        let at = |dense: &mut Dense, device, byte| dense.address(DeviceId { trace: 0, device }, byte);
        assert_eq!(dense.bytes(), 5 * UNIT);
        assert_eq!(at(&mut dense, 2, 512), Some(512));
        assert_eq!(at(&mut dense, 2, far + 2 * UNIT), Some(UNIT));
        assert_eq!(at(&mut dense, 2, far + 3 * UNIT + 512), Some(2 * UNIT + 512), "neighbours stay neighbours");
        assert_eq!(at(&mut dense, 2, far + 4 * UNIT + 1), Some(3 * UNIT + 1));
        assert_eq!(at(&mut dense, 7, far + 4096), Some(4 * UNIT + 4096));
        assert_eq!([at(&mut dense, 2, far), at(&mut dense, 3, 0), at(&mut dense, 7, 0)], [None; 3]);
    }

    #[test]
    fn many_records_in_any_order_are_the_same_units() {
        let record = |n: u64| (0, (n * 7919 % 200_000) * 3 * UNIT_BYTES, 4096);
        let (mut forth, all): (Dense, Vec<_>) = (touched(&[]), (0..200_000).map(record).collect());
        assert_eq!(forth.address(DeviceId { trace: 0, device: 0 }, 0), None);
        forth = touched(&all);
        assert_eq!(forth.bytes(), 200_000 * UNIT_BYTES);
        let last = 199_999 * 3 * UNIT_BYTES;
        assert_eq!(forth.address(DeviceId { trace: 0, device: 0 }, last), Some(199_999 * UNIT_BYTES));
    }
}
