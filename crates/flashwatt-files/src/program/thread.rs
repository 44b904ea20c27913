//! A thread of a running program: where it is, and what it has of its own.

use super::code::{Code, NONE, ThreadKind};
use super::draw::Quantity;
use super::waits::Limit;
use crate::operation::{FileOp, Mode};
use flashwatt_base::rng::Rng;

/// A descriptor of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fd {
    pub open: bool,
    /// The file that is open, or was open last; [`NONE`] if there was none.
    pub set: u32,
    pub entry: u32,
    pub mode: Mode,
    /// Where the next sequential read or write begins.
    pub position: u64,
}

impl Fd {
    /// Its file is gone.
    pub fn forget(&mut self) {
        *self = UNUSED;
    }
}

/// A descriptor that was never open.
const UNUSED: Fd = Fd { open: false, set: NONE, entry: NONE, mode: Mode::Cached, position: 0 };

/// Going round the descriptors of a file set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rotor {
    /// The next descriptor, from 0.
    pub next: u32,
    /// Where the search for a file goes on.
    pub place: u32,
}

/// An operation that a thread has out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Out {
    None,
    /// Nothing remains to be done when it ends.
    Plain,
    /// Opens a file: the flow operation may need it and go on behind it.
    Open {
        fd: u32,
        set: u32,
        entry: u32,
        goes_on: bool,
    },
    Create {
        fd: u32,
        set: u32,
        entry: u32,
    },
    Close {
        fd: u32,
    },
    Delete {
        set: u32,
        entry: u32,
    },
    /// Looks at a file that it picked.
    Stat {
        set: u32,
        entry: u32,
    },
    /// Reads or writes an open file; a sequential one moves the position.
    Transfer {
        fd: u32,
        sequential: bool,
    },
}

/// Work that is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counter {
    pub operations: u64,
    pub reads_and_writes: u64,
    pub bytes: u64,
}

/// A thread of the program.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub kind: u32,
    /// Its number among the threads of its kind.
    pub ordinal: u32,
    /// The flow operation it is at, and how often it is still to be done; 0 before it is known.
    pub at: u32,
    pub left: u64,
    /// How often it has come back to the first flow operation.
    pub rounds: u64,
    /// Whether the flow operation has begun; its descriptor; how far it has come with several things.
    pub begun: bool,
    pub fd: u32,
    pub cursor: u32,
    pub out: Out,
    pub rng: Rng,
    pub fds: Vec<Fd>,
    pub rotors: Vec<Rotor>,
    pub limits: Vec<Limit>,
    pub counters: Vec<Counter>,
    pub writes: Writes,
    pub ended: bool,
}

/// The asynchronous writes of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    /// Helpers that carry out no write.
    pub free: Vec<u32>,
    /// Writes issued that no aiowait has seen, and how many of them have ended.
    pub outstanding: u32,
    pub ended: u32,
    /// How many must have ended before the thread goes on; 0 if it does not wait.
    pub awaited: u32,
}

/// A thread that carries out asynchronous writes of another one.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    pub of: u32,
    pub entry: u32,
    /// The write to begin.
    pub write: Option<(u16, FileOp)>,
}

impl Writes {
    /// Forgets the writes that have ended: an aiowait has seen them.
    pub fn reap(&mut self) {
        self.outstanding -= self.ended;
        (self.ended, self.awaited) = (0, 0);
    }
}

impl Thread {
    /// A thread at the beginning of its program.
    pub fn new(kind: &ThreadKind, number: u32, ordinal: u32, rng: Rng, free: Vec<u32>) -> Self {
        Thread {
            kind: number,
            ordinal,
            at: kind.flowops.start,
            left: 0,
            rounds: 0,
            begun: false,
            fd: 0,
            cursor: 0,
            out: Out::None,
            rng,
            fds: vec![UNUSED; kind.fds as usize],
            rotors: vec![Rotor::default(); kind.rotors as usize],
            limits: vec![Limit::default(); kind.limits as usize],
            counters: vec![Counter::default(); kind.counters as usize],
            writes: Writes { free, ..Writes::default() },
            ended: false,
        }
    }

    /// Goes on to the next flow operation, behind the last one to the first.
    pub fn go_on(&mut self, code: &Code) {
        let flowops = &code.kinds[self.kind as usize].flowops;
        self.at += 1;
        if self.at == flowops.end {
            self.at = flowops.start;
            self.rounds += 1;
        }
    }

    /// The value of a flow operation now.
    pub fn value(&mut self, quantity: &Quantity) -> u64 {
        quantity.draw(&mut self.rng)
    }
}
