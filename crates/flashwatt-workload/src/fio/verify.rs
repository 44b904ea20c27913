//! What a job wrote, to be read again: fio's `verify`.

use std::collections::{BTreeMap, VecDeque};

/// Which requests read again what a job wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VerifySpec {
    /// Whether they have the order of the writes, not that of their places.
    pub in_order: bool,
    /// Within a pass, after this number of writes that were not read again, this number of reads (fio's `verify_backlog` and
    /// `verify_backlog_batch`).
    pub backlog: Option<(u64, u64)>,
}

/// When writes are read again within a pass.
pub(super) struct Backlog {
    every: u64,
    batch: u64,
    /// Reads that are left of a batch.
    left: u64,
    /// The last request was a read.
    has_read: bool,
}

impl Backlog {
    pub fn new((every, batch): (u64, u64)) -> Self {
        Backlog { every, batch, left: 0, has_read: false }
    }

    /// A request was issued.
    pub fn note(&mut self, is_read: bool) {
        self.has_read = is_read;
    }

    /// Whether a write is to be read again now, where `writes` were not.
    pub fn is_due(&mut self, writes: u64) -> bool {
        if self.left == 0 && writes > 0 && writes.is_multiple_of(self.every) && !self.has_read {
            self.left = self.batch;
        }
        self.left > 0 && writes > 0
    }

    /// A write is read again.
    pub fn took(&mut self) {
        self.left -= 1;
    }
}

/// Requests that wrote: in their order, where no place is written twice; else by place, the later one in place of those that it
/// overlaps.
pub(super) enum Written {
    InOrder(VecDeque<(u64, u64)>),
    ByPlace(BTreeMap<u64, u64>),
}

impl Written {
    pub fn new(once: bool) -> Self {
        if once { Written::InOrder(VecDeque::new()) } else { Written::ByPlace(BTreeMap::new()) }
    }

    /// A request has written these bytes.
    pub fn add(&mut self, first: u64, bytes: u64) {
        match self {
            Written::InOrder(pieces) => pieces.push_back((first, bytes)),
            Written::ByPlace(pieces) => {
                while let Some((&at, &length)) = pieces.range(..first + bytes).next_back()
                    && at + length > first
                {
                    pieces.remove(&at);
                }
                pieces.insert(first, bytes);
            }
        }
    }

    /// How many requests would be read again.
    pub fn len(&self) -> u64 {
        match self {
            Written::InOrder(pieces) => pieces.len() as u64,
            Written::ByPlace(pieces) => pieces.len() as u64,
        }
    }

    /// The first request that is read again, before the others.
    pub fn take_first(&mut self) -> Option<(u64, u64)> {
        match self {
            Written::InOrder(pieces) => pieces.pop_front(),
            Written::ByPlace(pieces) => pieces.pop_first(),
        }
    }

    /// The requests that are read again.
    pub fn take(&mut self) -> VecDeque<(u64, u64)> {
        match self {
            Written::InOrder(pieces) => std::mem::take(pieces),
            Written::ByPlace(pieces) => std::mem::take(pieces).into_iter().collect(),
        }
    }
}
