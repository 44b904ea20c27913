//! What is done to flash, and why.

use serde::Serialize;

/// Why an operation is done.
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
    /// A page of the map itself.
    Map,
    /// Wear levelling.
    Wear,
}

impl Cause {
    /// All of them, in the order of their numbers.
    pub const ALL: [Cause; 5] = [Cause::Host, Cause::Gc, Cause::Merge, Cause::Map, Cause::Wear];

    /// As it is called in reports and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Host => "host",
            Cause::Gc => "gc",
            Cause::Merge => "merge",
            Cause::Map => "map",
            Cause::Wear => "wear",
        }
    }
}

/// What is done to the flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// A page is read and its data moved out over the bus.
    Read,
    /// Data is moved in over the bus and programmed to a page.
    Program,
    /// A block is erased.
    Erase,
    /// A page is read and programmed to another page of the same die, without the bus.
    Copyback,
    /// The spare area of a page is read, where a scheme without a table of pages keeps what it must know: the die is busy as
    /// for a read, and hardly any data moves over the bus (none is reckoned).
    SpareRead,
    /// A page is read, moved out over the bus, and programmed to another page. On the flash it is a [`Self::Read`] and then a
    /// [`Self::Program`], and so it is booked; between the two the die is free for others.
    Copy,
}

impl OpKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [OpKind; 6] =
        [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Copyback, OpKind::SpareRead, OpKind::Copy];

    /// Those that are booked: a copy is booked as the read and the program that it comes down to.
    pub const BOOKED: [OpKind; 5] = [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Copyback, OpKind::SpareRead];

    /// What copies a page within a die, which may do so without the bus or not.
    pub const fn of_copies(copyback: bool) -> OpKind {
        if copyback { OpKind::Copyback } else { OpKind::Copy }
    }

    /// As it is called in logs.
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
