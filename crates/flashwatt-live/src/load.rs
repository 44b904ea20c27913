//! What is asked of a real target, and what is measured.

use crate::offsets::{Order, Span};

/// How a target is opened.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Access {
    /// Open it for writing too. Without this the file is opened O_RDONLY: the kernel refuses every write.
    pub write: bool,
    /// Go through the page cache.
    pub buffered: bool,
    /// Do not use io_uring.
    pub threads: bool,
}

/// How requests are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// io_uring: one thread, as many requests at once as wanted.
    IoUring,
    /// A thread for each request that is under way.
    Threads,
}

impl Engine {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Engine::IoUring => "io_uring",
            Engine::Threads => "threads",
        }
    }
}

/// What the requests of a load ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Read.
    Read,
    /// Write random bytes.
    Write,
}

/// Requests in a closed loop: as soon as one ends, the next is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// What they ask for.
    pub operation: Operation,
    /// Their order.
    pub order: Order,
    /// The part of the target that they lie in.
    pub span: Span,
    /// Length of each.
    pub request_bytes: u64,
    /// How many are sent at most.
    pub requests: u64,
    /// No request is sent later than this after the beginning of the load.
    pub time_limit_ns: u64,
    /// How many are under way at once.
    pub queue_depth: u32,
}

/// When a request was sent and when it ended, in ns after the beginning of its load.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Timing {
    /// When it ended.
    pub end_ns: u64,
    /// When it was sent.
    pub start_ns: u64,
}

/// The requests of a load that have ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// Beginning of the load, in ns since 1970 (UTC).
    pub began_unix_ns: u64,
    /// In the order of their ends.
    pub requests: Vec<Timing>,
    /// Whether the caller stopped the load.
    pub stopped: bool,
}

/// The number in the file at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// When it was read, in ns since 1970 (UTC).
    pub unix_ns: u64,
    /// The number in the file, in the file's unit.
    pub value: u64,
}
