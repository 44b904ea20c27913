//! A program as it runs: names are indices, variables are numbers.

use std::ops::Range;

use super::draw::Quantity;
use super::script::Quit;
use crate::operation::{Flow, Mode};

/// "None": no file set, no index.
pub(super) const NONE: u32 = u32::MAX;

/// What a flow operation does.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Create,
    Open,
    Close,
    Delete,
    Stat,
    Read,
    Write,
    AioWrite,
    ReadWhole,
    /// The size is that of the file of this descriptor, or of the file itself.
    WriteWhole {
        source: u32,
    },
    Append,
    /// An append of a random length below `size`.
    AppendRandom,
    AioWait,
    Fsync,
    FsyncSet,
    /// Sleeps for `value` times as many ns.
    Pause {
        ns: u64,
    },
    EventLimit,
    /// Takes an event for each unit since the last time. The number is the limit's among those of its thread.
    Limit {
        unit: Unit,
        limit: u32,
    },
    /// Ends the run once so much has been done.
    Finish {
        unit: Unit,
        value: u64,
    },
    /// `first` is its semaphore in the first thread; each has room for `highwater` posts at first.
    SemBlock {
        first: u32,
        highwater: u64,
    },
    /// Posts to the semaphores of all threads.
    SemPost {
        targets: Range<u32>,
        blocking: bool,
    },
    Block,
    /// Wakes the threads that are at this flow operation.
    Wakeup {
        target: u32,
    },
}

/// What a limit counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Operations,
    ReadsAndWrites,
    Bytes,
}

/// A flow operation of a kind of thread.
#[derive(Clone, Debug)]
pub(super) struct Flowop {
    /// Its number in reports.
    pub flow: u16,
    pub action: Action,
    /// How often it is done before the next one.
    pub iters: Quantity,
    /// The file set, or [`NONE`].
    pub set: u32,
    /// The descriptor, of those of its thread.
    pub fd: u32,
    /// If it goes round the descriptors from `fd` on, one for each file of the set: its rotor of those of its thread, else
    /// [`NONE`].
    pub rotor: u32,
    /// How it opens a file.
    pub mode: Mode,
    /// Bytes of a call; of an append of random length its greatest length.
    pub size: Quantity,
    pub random: bool,
    /// Bytes from the beginning of the file in which random places lie; 0: the size of the file.
    pub working: u64,
    /// Picks a file by its place in the set: the value times half the number of entries.
    pub index: Option<Quantity>,
    pub value: Quantity,
    /// The flow operation of the same thread whose work a limit counts, by its counter; [`NONE`]: the work of all threads.
    pub target: u32,
    /// Its own counter, if a limit counts it.
    pub counter: u32,
}

impl Flowop {
    /// Whether it goes round descriptors (`opennext`).
    pub fn rotates(&self) -> bool {
        self.rotor != NONE
    }

    /// Whether filebench counts it as a read or a write.
    pub fn is_read_or_write(&self) -> bool {
        self.is_write() || matches!(self.action, Action::Read | Action::ReadWhole)
    }

    /// Whether it writes data.
    pub fn is_write(&self) -> bool {
        use Action::{AioWrite, Append, AppendRandom, Write, WriteWhole};
        matches!(self.action, Write | AioWrite | WriteWhole { .. } | Append | AppendRandom)
    }

    /// Whether filebench counts it as an operation: whatever concerns files.
    pub fn is_operation(&self) -> bool {
        use Action::{AioWait, Close, Create, Delete, Fsync, FsyncSet, Open, Stat};
        let others = matches!(self.action, AioWait | Close | Create | Delete | Fsync | FsyncSet | Open | Stat);
        others || self.is_read_or_write()
    }
}

/// Threads that do the same.
#[derive(Clone, Debug)]
pub(super) struct ThreadKind {
    /// Its flow operations.
    pub flowops: Range<u32>,
    /// The processes to which its threads belong.
    pub group: u32,
    /// How often each goes through them before it ends; 0: again and again.
    pub rounds: u64,
    /// What each thread has of its own: descriptors, rotors, limits, counters, helpers for asynchronous writes.
    pub fds: u32,
    pub rotors: u32,
    pub limits: u32,
    pub counters: u32,
    pub helpers: u32,
}

/// The processes of one `define process`.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub name: String,
    /// The threads' numbers.
    pub threads: Range<u32>,
    /// They start when all threads of this group have ended.
    pub after: Option<u32>,
}

/// What does not change during a run.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub flowops: Vec<Flowop>,
    pub kinds: Vec<ThreadKind>,
    pub groups: Vec<Group>,
    /// The names of the processes.
    pub processes: Vec<String>,
    /// The names that reports and warnings show.
    pub flows: Vec<Flow>,
    /// Events per second; 0: no limit by events is in force.
    pub events_per_s: u64,
    pub quit: Quit,
}
