//! What a job's requests look like, apart from their times.

use super::lengths::Lengths;
use super::places::Distribution;
use flashwatt_core::connector::RequestKind;

/// Kinds, lengths and order of the requests of a job.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub mode: Mode,
    /// Share of reads in a mix.
    pub reads: f64,
    /// Lengths of reads, writes and trims.
    pub lengths: [Lengths; 3],
    /// Whether the first lengths are those of requests in order, and the second ones those of random requests.
    pub lengths_by_order: bool,
    /// Random requests start at multiples of this, by kind.
    pub align: [u64; 3],
    pub distribution: Distribution,
    /// Whether each random place comes once before any comes again.
    pub once: bool,
    pub order: Order,
    /// fio's `zonemode=strided`.
    pub zones: Option<Strided>,
    pub files: Files,
    pub is_time_based: bool,
    /// Whether each pass over the size repeats the draws of the first one (fio's `randrepeat`).
    pub repeats: bool,
}

/// fio's `rw`, without a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub first: RequestKind,
    /// Reads and writes.
    pub is_mixed: bool,
    /// A write follows each trim, to the same place.
    pub trims_first: bool,
    pub is_random: bool,
}

impl Mode {
    pub const fn of(first: RequestKind, is_random: bool) -> Self {
        Mode { first, is_mixed: false, trims_first: false, is_random }
    }

    /// Whether the job has requests of this kind.
    pub fn has(self, kind: RequestKind) -> bool {
        match kind {
            RequestKind::Read => self.first == RequestKind::Read || self.is_mixed,
            RequestKind::Write => self.first == RequestKind::Write || self.is_mixed || self.trims_first,
            RequestKind::Trim => self.first == RequestKind::Trim,
            RequestKind::Flush => false,
        }
    }
}

/// The order of requests within a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Of this number of requests, the first goes to a random place (fio's `randread:8`).
    pub row: u64,
    /// The others of a row go to the same place, not on from it (fio's `rw_sequencer=identical`).
    pub is_identical: bool,
    /// Bytes between two requests in order (fio's `read:8k`); below 0 they go backwards.
    pub step: i64,
    /// Percentages of random places, by kind (fio's `percentage_random`).
    pub random_percent: [u64; 3],
}

/// fio's strided zones: `bytes` are transferred in a zone of `range` bytes, then `skip` bytes are left out behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strided {
    pub bytes: u64,
    pub range: u64,
    pub skip: u64,
}

/// The files of each clone of a job. They lie on the drive one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files {
    /// Bytes of each that the job works on, from its offset on.
    pub bytes: Vec<u64>,
    /// Bytes of each file; none if they end with what a clone works on.
    pub whole: Option<u64>,
    /// First byte of a file that the first clone works on.
    pub offset: u64,
    /// Each clone starts this many bytes after the one before.
    pub increment: u64,
    /// Bytes of the drive that each file takes, if there are several.
    pub span: u64,
    /// Files that are open at a time.
    pub open: usize,
    pub turns: Turns,
    /// Requests to a file before another one's turn.
    pub turn_requests: u64,
}

/// fio's `file_service_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turns {
    RoundRobin,
    Sequential,
    Random,
}

impl Shape {
    /// The least length over all directions.
    pub fn least(&self) -> u64 {
        self.lengths.iter().map(Lengths::least).min().unwrap_or(512)
    }

    /// The greatest length over all directions.
    pub fn most(&self) -> u64 {
        self.lengths.iter().map(Lengths::most).max().unwrap_or(512)
    }

    /// The only length of all requests that the job can have, if there is one, and each starts at a multiple of it.
    pub fn one_length(&self) -> Option<u64> {
        let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Trim];
        let mut used = kinds.iter().filter(|kind| self.mode.has(**kind)).map(|kind| *kind as usize);
        let first = self.lengths[used.next()?].one()?;
        let of = |at: usize| self.lengths[at].one() == Some(first) && self.align[at] == first;
        let alike = kinds.iter().filter(|kind| self.mode.has(**kind)).all(|kind| of(*kind as usize));
        (alike && !self.lengths_by_order).then_some(first)
    }
}
