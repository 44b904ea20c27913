//! Where a trace's devices lie on the drive: one after another, each as long as its furthest request needs.

use super::reader::Reader;
use super::{Record, trace_error};
use crate::error::{Error, Fault};
use crate::host::RequestKind;
use crate::units::SECTOR_BYTES;

/// A device's share of the drive is a multiple of this, so that alignment within a device is alignment on the drive.
const EXTENT_BYTES: u64 = 1 << 20;
/// A trace of more devices than this is a damaged one.
const DEVICES_MAX: usize = 1 << 16;

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The trace's number for it.
    pub device: u64,
    /// Its first byte on the drive.
    pub base: u64,
    /// The end of its furthest request, in its own addresses.
    pub end: u64,
    /// Where in the trace that request stands.
    pub furthest: u64,
    /// Requests to it.
    pub requests: u64,
}

/// The devices of a trace, by number, as they lie on the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    extents: Vec<Extent>,
    /// The extent that was used last; most records follow one to the same device.
    last: usize,
}

impl Layout {
    /// Reads a trace to its end and lays out the devices that it met, by ascending number.
    pub fn of(reader: &mut Reader) -> Result<Self, Error> {
        Layout::of_each(reader, |_| {})
    }

    /// The same; `each` sees every record on the way.
    pub fn of_each(reader: &mut Reader, mut each: impl FnMut(&Record)) -> Result<Self, Error> {
        let mut layout = Layout::default();
        while let Some(record) = reader.next()? {
            each(&record);
            if !layout.add(&record, reader.position()) {
                let fault =
                    Fault::at(reader.place("device"), "too many devices in one trace").expected("at most 65536");
                return Err(trace_error(fault));
            }
        }
        reader.check_devices(|device| layout.find(device).is_some())?;
        if !layout.place() {
            let fault = Fault::at(reader.file(), "the devices do not fit into 64-bit addresses one after another");
            return Err(trace_error(fault.help("choose some with --devices")));
        }
        Ok(layout)
    }

    /// Takes note of a record; false if there are too many devices.
    pub fn add(&mut self, record: &Record, position: u64) -> bool {
        let Some(extent) = self.extent(record.device) else {
            return false;
        };
        extent.requests += 1;
        if record.kind == RequestKind::Flush {
            return true;
        }
        let (_, end) = sectors(record);
        if end > extent.end {
            extent.end = end;
            extent.furthest = position;
        }
        true
    }

    fn extent(&mut self, device: u64) -> Option<&mut Extent> {
        if self.extents.get(self.last).is_none_or(|extent| extent.device != device) {
            self.last = match self.extents.binary_search_by_key(&device, |extent| extent.device) {
                Ok(index) => index,
                Err(_) if self.extents.len() == DEVICES_MAX => return None,
                Err(index) => {
                    self.extents.insert(index, Extent { device, base: 0, end: 0, furthest: 0, requests: 0 });
                    index
                }
            };
        }
        self.extents.get_mut(self.last)
    }

    /// Gives each device its place; false if the addresses run out.
    fn place(&mut self) -> bool {
        let mut base = 0u64;
        for extent in &mut self.extents {
            extent.base = base;
            let Some(end) = extent.end.checked_next_multiple_of(EXTENT_BYTES).and_then(|end| base.checked_add(end))
            else {
                return false;
            };
            base = end;
        }
        true
    }

    fn find(&self, device: u64) -> Option<usize> {
        self.extents.binary_search_by_key(&device, |extent| extent.device).ok()
    }

    /// Where a device begins on the drive.
    #[inline]
    pub fn base(&mut self, device: u64) -> Option<u64> {
        if self.extents.get(self.last).is_none_or(|extent| extent.device != device) {
            self.last = self.find(device)?;
        }
        self.extents.get(self.last).map(|extent| extent.base)
    }

    /// The devices, by ascending number.
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// Requests to all devices.
    pub fn requests(&self) -> u64 {
        self.extents.iter().map(|extent| extent.requests).sum()
    }

    /// Bytes that a drive needs to hold all of it.
    pub fn span(&self) -> u64 {
        self.extents.iter().map(|extent| extent.base + extent.end).max().unwrap_or(0)
    }
}

/// A record's range widened to whole sectors: first byte and end.
#[inline(always)]
pub fn sectors(record: &Record) -> (u64, u64) {
    let start = record.offset_bytes & !(SECTOR_BYTES - 1);
    let end = (record.offset_bytes + record.bytes + SECTOR_BYTES - 1) & !(SECTOR_BYTES - 1);
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(device: u64, offset_bytes: u64, bytes: u64) -> Record {
        Record { time_ns: 0, device, offset_bytes, bytes, kind: RequestKind::Read, fua: false }
    }

    #[test]
    fn devices_lie_one_after_another_by_number() {
        let mut layout = Layout::default();
        for (position, r) in [record(7, 4096, 512), record(2, 1 << 20, 1), record(7, 0, 512)].iter().enumerate() {
            assert!(layout.add(r, position as u64 + 1));
        }
        assert!(layout.place());
        let placed: Vec<_> =
            layout.extents().iter().map(|e| (e.device, e.base, e.end, e.furthest, e.requests)).collect();
        assert_eq!(placed, [(2, 0, (1 << 20) + 512, 2, 1), (7, 2 << 20, 4608, 1, 2)]);
        assert_eq!((layout.base(7), layout.base(3)), (Some(2 << 20), None));
        assert_eq!((layout.requests(), layout.span()), (3, (2 << 20) + 4608));
    }

    #[test]
    fn odd_bytes_are_widened_to_sectors() {
        assert_eq!(sectors(&record(0, 513, 1)), (512, 1024));
        assert_eq!(sectors(&record(0, 511, 2)), (0, 1024));
        assert_eq!(sectors(&record(0, 1024, 512)), (1024, 1536));
    }
}
