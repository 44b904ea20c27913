//! Where a trace's devices lie on the drive: one after another, each as long as its furthest request needs.

use super::read::meter::RecordCounter;
use super::read::reader::Step;
use super::read::traces::{Position, Traces};
use super::{DeviceId, Process, Record, trace_error};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

/// A device's share of the drive is a multiple of this, so that alignment within a device is alignment on the drive.
const EXTENT_BYTES: u64 = 1 << 20;
/// A trace of more devices than this is a damaged one.
pub const DEVICES_MAX: usize = 1 << 16;

/// Limit on processes with an origin of their own: an origin is a 16-bit number, and one number stands for all others.
pub const PROCESSES_MAX: usize = DEVICES_MAX - 1;

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceExtent {
    /// Whose it is.
    pub id: DeviceId,
    /// Its first byte on the drive.
    pub base: u64,
    /// The end of its furthest request, in its own addresses.
    pub end: u64,
    /// Where that request stands.
    pub furthest: Position,
    /// Requests to it.
    pub requests: u64,
}

/// The devices of the traces, by trace and number, as they lie on the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    extents: Vec<DeviceExtent>,
    /// The extent that was used last; most records follow one to the same device.
    last: usize,
    /// The processes that the traces name, ascending; [`Process::NONE`] too if some records name none.
    processes: Vec<Process>,
    /// The position of the process of the last record.
    last_process: usize,
}

impl Layout {
    /// Reads traces to their end and lays out the devices that it met: trace by trace, by ascending number. `each` sees
    /// every record on the way.
    pub fn of(
        traces: &mut Traces,
        meter: &mut RecordCounter<'_>,
        mut each: impl FnMut(&Record, DeviceId),
    ) -> Result<Self, Error> {
        let mut layout = Layout::default();
        loop {
            match traces.step()? {
                Step::Record(record) => {
                    let id = traces.device(&record);
                    each(&record, id);
                    if !layout.add(&record, id, traces.position()) {
                        return Err(too_many(traces.place("device")));
                    }
                    meter.record(traces)?;
                }
                Step::LeftOut => meter.record(traces)?,
                Step::Pause => meter.look(None)?,
                Step::End => break,
            }
        }
        layout.finish(traces)?;
        Ok(layout)
    }

    fn finish(&mut self, traces: &Traces) -> Result<(), Error> {
        traces.check_devices(|device| self.extents.iter().any(|extent| extent.id.device == device))?;
        if !self.place() {
            let fault = Fault::at(traces.file(), "the devices do not fit into 64-bit addresses one after another");
            return Err(trace_error(fault.help("choose some with --devices")));
        }
        Ok(())
    }

    /// Takes note of a record; false if there are too many devices.
    pub fn add(&mut self, record: &Record, id: DeviceId, at: Position) -> bool {
        self.add_process(record.process);
        let Some(extent) = self.extent(id) else {
            return false;
        };
        extent.requests += 1;
        if record.kind == RequestKind::Flush {
            return true;
        }
        let (_, end) = sectors(record);
        if end > extent.end {
            extent.end = end;
            extent.furthest = at;
        }
        true
    }

    fn add_process(&mut self, process: Process) {
        if self.processes.get(self.last_process) == Some(&process) {
            return;
        }
        self.last_process = match self.processes.binary_search(&process) {
            Ok(at) => at,
            Err(at) if self.processes.len() < PROCESSES_MAX => {
                self.processes.insert(at, process);
                at
            }
            Err(_) => return,
        };
    }

    /// The processes that the traces name, ascending, and [`Process::NONE`] if some requests name none. After the first
    /// [`PROCESSES_MAX`] further ones are missing.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// Number of processes that the traces name.
    pub fn named_processes(&self) -> usize {
        self.processes.iter().filter(|process| process.number().is_some()).count()
    }

    /// The position of a process in [`Self::processes`]; the length of that list if it is not there.
    #[inline]
    pub fn position_of(&mut self, process: Process) -> usize {
        if self.processes.get(self.last_process) != Some(&process) {
            match self.processes.binary_search(&process) {
                Ok(at) => self.last_process = at,
                Err(_) => return self.processes.len(),
            }
        }
        self.last_process
    }

    fn extent(&mut self, id: DeviceId) -> Option<&mut DeviceExtent> {
        if self.extents.get(self.last).is_none_or(|extent| extent.id != id) {
            self.last = match self.extents.binary_search_by_key(&id, |extent| extent.id) {
                Ok(index) => index,
                Err(_) if self.extents.len() == DEVICES_MAX => return None,
                Err(index) => {
                    let furthest = Position::default();
                    self.extents.insert(index, DeviceExtent { id, base: 0, end: 0, furthest, requests: 0 });
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

    /// Where a device begins on the drive.
    #[inline]
    pub fn base(&mut self, id: DeviceId) -> Option<u64> {
        self.place_of(id).map(|(_, base)| base)
    }

    /// The number of a device among all, and where it begins on the drive.
    #[inline]
    pub fn place_of(&mut self, id: DeviceId) -> Option<(usize, u64)> {
        if self.extents.get(self.last).is_none_or(|extent| extent.id != id) {
            self.last = self.extents.binary_search_by_key(&id, |extent| extent.id).ok()?;
        }
        self.extents.get(self.last).map(|extent| (self.last, extent.base))
    }

    /// The devices, trace by trace, by ascending number.
    pub fn extents(&self) -> &[DeviceExtent] {
        &self.extents
    }

    /// Requests to all devices.
    pub fn requests(&self) -> u64 {
        self.extents.iter().map(|extent| extent.requests).sum()
    }

    /// The memory that its tables take.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&self.extents[..]) + size_of_val(&self.processes[..])
    }

    /// Bytes that a drive needs to hold all of it.
    pub fn span(&self) -> u64 {
        self.extents.iter().map(|extent| extent.base + extent.end).max().unwrap_or(0)
    }
}

fn too_many(place: Place) -> Error {
    trace_error(Fault::at(place, "too many devices in one trace").expected("at most 65536"))
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
        Record::new(0, device, offset_bytes, bytes, RequestKind::Read)
    }

    fn id(device: u64) -> DeviceId {
        DeviceId { trace: 0, device }
    }

    #[test]
    fn devices_lie_one_after_another_by_number() {
        let mut layout = Layout::default();
        for (position, r) in [record(7, 4096, 512), record(2, 1 << 20, 1), record(7, 0, 512)].iter().enumerate() {
            let at = Position { trace: 0, number: position as u64 + 1 };
            assert!(layout.add(r, id(r.device), at));
        }
        assert!(layout.place());
        let placed: Vec<_> =
            layout.extents().iter().map(|e| (e.id.device, e.base, e.end, e.furthest.number, e.requests)).collect();
        assert_eq!(placed, [(2, 0, (1 << 20) + 512, 2, 1), (7, 2 << 20, 4608, 1, 2)]);
        assert_eq!((layout.base(id(7)), layout.base(id(3))), (Some(2 << 20), None));
        assert_eq!((layout.requests(), layout.span()), (3, (2 << 20) + 4608));
    }

    #[test]
    fn odd_bytes_are_widened_to_sectors() {
        assert_eq!(sectors(&record(0, 513, 1)), (512, 1024));
        assert_eq!(sectors(&record(0, 511, 2)), (0, 1024));
        assert_eq!(sectors(&record(0, 1024, 512)), (1024, 1536));
    }
}
