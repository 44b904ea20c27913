//! What a job wrote, to be read again: fio's `verify`.

use std::collections::{BTreeMap, VecDeque};

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

    /// The requests that are read again.
    pub fn take(&mut self) -> VecDeque<(u64, u64)> {
        match self {
            Written::InOrder(pieces) => std::mem::take(pieces),
            Written::ByPlace(pieces) => std::mem::take(pieces).into_iter().collect(),
        }
    }
}
