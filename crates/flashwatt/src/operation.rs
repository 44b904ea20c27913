//! Flash operations and their causes.

use serde::Serialize;

/// The cause of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Cause {
    /// The host asked for it.
    Host,
    /// Garbage collection.
    Gc,
    /// A merge of blocks in a block-mapped or hybrid scheme.
    Merge,
    /// Access to a translation page.
    Map,
    /// Wear levelling.
    Wear,
    /// A backup of a page that shares cells with one to be programmed.
    Backup,
    /// The journal of the write buffer.
    Journal,
}

impl Cause {
    /// All of them, in the order of their numbers.
    pub const ALL: [Cause; 7] =
        [Cause::Host, Cause::Gc, Cause::Merge, Cause::Map, Cause::Wear, Cause::Backup, Cause::Journal];

    /// The name in reports and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Host => "host",
            Cause::Gc => "gc",
            Cause::Merge => "merge",
            Cause::Map => "map",
            Cause::Wear => "wear",
            Cause::Backup => "backup",
            Cause::Journal => "journal",
        }
    }
}

/// The kind of a flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// Read a page and move its data out over the bus.
    Read,
    /// Move data in over the bus and program a page.
    Program,
    /// Erase a block.
    Erase,
    /// Read a page and program another page of the same die, without the bus.
    Copyback,
    /// Read the spare area of a page, where a scheme without a page table keeps its mapping. The die is busy as for a
    /// read; the transfer of its few bytes takes no bus time.
    SpareRead,
    /// Read a page, move its data out over the bus, and program another page. It runs and counts as a [`Self::Read`]
    /// followed by a [`Self::Program`]; between the two the die is free for other operations.
    Copy,
}

impl OpKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [OpKind; 6] =
        [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Copyback, OpKind::SpareRead, OpKind::Copy];

    /// The kinds that the ledger counts: a copy counts as a read and a program.
    pub const BOOKED: [OpKind; 5] = [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Copyback, OpKind::SpareRead];

    /// The kind that copies a page within a die: with or without the bus.
    pub const fn of_copies(copyback: bool) -> OpKind {
        if copyback { OpKind::Copyback } else { OpKind::Copy }
    }

    /// The name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Program => "program",
            OpKind::Erase => "erase",
            OpKind::Copyback => "copyback",
            OpKind::SpareRead => "spare_read",
            OpKind::Copy => "copy",
        }
    }
}
