//! What the host asks of the drive.

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
}

impl Request {
    /// Bytes of data that cross the host interface for it.
    pub fn interface_bytes(&self) -> u64 {
        match self.kind {
            RequestKind::Read | RequestKind::Write => self.bytes,
            RequestKind::Trim | RequestKind::Flush => 0,
        }
    }
}
