//! What a host asks of a device, and what comes back.

use std::hint::cold_path;

use crate::units::Nanos;

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
    /// Make every write that was acknowledged before durable.
    Flush,
}

/// One request of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When the host issues it, in simulated time. A closed-loop workload says "now".
    pub arrival_ns: Nanos,
    /// What it asks.
    pub kind: RequestKind,
    /// First byte, on the drive's linear address space; a multiple of 512.
    pub offset_bytes: u64,
    /// Length; a positive multiple of 512 (0 for a flush).
    pub bytes: u64,
    /// Forced unit access: done only when on flash, even with a write buffer.
    pub fua: bool,
    /// Who sent it.
    pub origin: Origin,
}

/// The sender's name for a request. The device gives it back with the completion and reads nothing into it; it need not be
/// unique.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Tag(pub u32);

/// Who sent a request: a number that the workload gave to a process, a job, a queue or a stream. A workload that knows none
/// says 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin(pub u16);

/// The end of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The sender's name for it.
    pub tag: Tag,
    /// How it ended.
    pub status: Status,
}

impl Completion {
    /// Of a request that was done.
    pub const fn done(tag: Tag) -> Self {
        Completion { tag, status: Status::Done }
    }
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// As asked for.
    Done,
    /// Not at all: it does not lie on the device, or not on sectors.
    OutOfRange,
}

impl Request {
    /// A request of a host that has one origin, without forced unit access.
    pub const fn new(arrival_ns: Nanos, kind: RequestKind, offset_bytes: u64, bytes: u64) -> Self {
        Request { arrival_ns, kind, offset_bytes, bytes, fua: false, origin: Origin(0) }
    }

    /// Does it lie on a device of this size, on whole sectors? A flush has neither place nor length.
    #[inline(always)]
    pub fn is_within(&self, device_bytes: u64) -> bool {
        const SECTOR: u64 = crate::units::SECTOR_BYTES;
        if self.kind == RequestKind::Flush {
            cold_path();
            return self.bytes == 0;
        }
        let is_aligned = (self.offset_bytes | self.bytes).is_multiple_of(SECTOR);
        let end = self.offset_bytes.wrapping_add(self.bytes);
        is_aligned && self.offset_bytes < end && end <= device_bytes // a length of 0 or a sum that wraps ends before it starts
    }

    /// Bytes of data that cross the host interface for it.
    pub fn interface_bytes(&self) -> u64 {
        match self.kind {
            RequestKind::Read | RequestKind::Write => self.bytes,
            RequestKind::Trim | RequestKind::Flush => 0,
        }
    }
}
