//! Requests of a host, and their completions.

use std::fmt;
use std::hint::cold_path;

use flashwatt_base::units::Nanos;

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum RequestKind {
    /// Read a range.
    Read,
    /// Write a range.
    Write,
    /// Declare a range unused (ATA TRIM, NVMe deallocate).
    Trim,
    /// Make all previously acknowledged writes durable.
    Flush,
}

impl RequestKind {
    /// The name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Trim => "trim",
            RequestKind::Flush => "flush",
        }
    }
}

/// One request of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Simulated time in ns at which the host issues it. A closed-loop workload gives the present time.
    pub arrival_ns: Nanos,
    /// The kind.
    pub kind: RequestKind,
    /// First byte in the drive's linear address space; a multiple of 512.
    pub offset_bytes: u64,
    /// Length in bytes; a positive multiple of 512 (0 for a flush).
    pub bytes: u64,
    /// Forced unit access: completes only when the data is on flash, even with a write buffer.
    pub fua: bool,
    /// The sender.
    pub origin: Origin,
    /// Whether somebody waits for the end of a write: true for direct and synchronous writes, false for those of a page
    /// cache that writes back. A read is always waited for. Only a host's scheduler reads it.
    pub is_sync: bool,
    /// The process that sends it, by number. A host's scheduler tells processes apart; figures are by origin, and an
    /// origin may have several processes, as a fio job has with `numjobs`.
    pub process: u16,
    /// The process's priority, which only a host's scheduler reads.
    pub priority: Priority,
}

/// The priority of a process for I/O, as `ionice` sets it: a class, and a level within two of the classes.
///
/// One byte, so that a request stays within 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Priority(u8);

impl Priority {
    /// A priority of a class, of a level from 0 (first) to 7 (last); the idle class has none.
    pub const fn new(class: PriorityClass, level: u8) -> Self {
        Priority((class as u8) << 3 | (level & 7))
    }

    /// The class.
    #[inline(always)]
    pub const fn class(self) -> PriorityClass {
        match self.0 >> 3 {
            0 => PriorityClass::Realtime,
            1 => PriorityClass::BestEffort,
            _ => PriorityClass::Idle,
        }
    }

    /// The level, from 0 (first) to 7 (last).
    #[inline(always)]
    pub const fn level(self) -> u8 {
        self.0 & 7
    }
}

/// The class of a priority, in the order in which the classes are served.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[repr(u8)]
pub enum PriorityClass {
    /// Before all others.
    Realtime,
    /// The class of a process that asked for none.
    BestEffort,
    /// Only while nobody else wants the device.
    Idle,
}

impl PriorityClass {
    /// The name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            PriorityClass::Realtime => "realtime",
            PriorityClass::BestEffort => "best-effort",
            PriorityClass::Idle => "idle",
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class() {
            class @ PriorityClass::Idle => f.write_str(class.name()),
            class => write!(f, "{}/{}", class.name(), self.level()),
        }
    }
}

impl Default for Priority {
    /// Best effort, level 4: what a process has that asked for nothing.
    fn default() -> Self {
        Priority::new(PriorityClass::BestEffort, 4)
    }
}

/// The sender's identifier of a request. The device returns it with the completion without interpreting it; it need not
/// be unique.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Tag(pub u32);

/// The sender of a request: a number that the workload assigns to a process, job, queue or stream. 0 if the workload
/// knows no senders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin(pub u16);

/// The completion of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The sender's tag of the request.
    pub tag: Tag,
    /// How it ended.
    pub status: Status,
}

impl Completion {
    /// The completion of a successful request.
    pub const fn done(tag: Tag) -> Self {
        Completion { tag, status: Status::Done }
    }
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Successfully.
    Done,
    /// Rejected: the range does not lie on the device, or not on sectors.
    OutOfRange,
    /// The power was lost while the request was in the device.
    PowerLost,
}

impl Request {
    /// A request with origin 0, of the default priority, that somebody waits for; without forced unit access.
    pub const fn new(arrival_ns: Nanos, kind: RequestKind, offset_bytes: u64, bytes: u64) -> Self {
        let priority = Priority::new(PriorityClass::BestEffort, 4);
        let origin = Origin(0);
        Request { arrival_ns, kind, offset_bytes, bytes, fua: false, origin, is_sync: true, process: 0, priority }
    }

    /// Whether the request lies on a device of this size, on whole sectors. A flush has no address and no length.
    #[inline(always)]
    pub fn is_within(&self, device_bytes: u64) -> bool {
        const SECTOR: u64 = flashwatt_base::units::SECTOR_BYTES;
        if self.kind == RequestKind::Flush {
            cold_path();
            return self.bytes == 0;
        }
        let is_aligned = (self.offset_bytes | self.bytes).is_multiple_of(SECTOR);
        let end = self.offset_bytes.wrapping_add(self.bytes);
        is_aligned && self.offset_bytes < end && end <= device_bytes // a length of 0 or a sum that wraps ends before it starts
    }

    /// Bytes of data that the request moves over the host interface.
    pub fn interface_bytes(&self) -> u64 {
        match self.kind {
            RequestKind::Read | RequestKind::Write => self.bytes,
            RequestKind::Trim | RequestKind::Flush => 0,
        }
    }
}
