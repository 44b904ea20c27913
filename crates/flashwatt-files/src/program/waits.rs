//! What threads wait for: semaphores, events and limits.

use std::collections::VecDeque;

use crate::operation::ThreadId;
use flashwatt_base::units::Nanos;

/// Seconds whose events are kept while no thread takes them; older ones are lost.
const EVENTS_KEPT_S: u64 = 5;

const NS_PER_S: u64 = 1_000_000_000;

/// A semaphore of a semblock and a thread: a pair, of which a blocking sempost takes from one what it gives to the other.
#[derive(Clone, Debug)]
pub(super) struct Semaphore {
    pub(super) owner: ThreadId,
    pub(super) posts: u64,
    pub(super) room: u64,
    /// What its owner waits for; 0 if it does not wait.
    pub(super) needs: u64,
    /// Threads that wait for room, and how much they post.
    pub(super) posters: VecDeque<(ThreadId, u64)>,
}

impl Semaphore {
    /// The semaphore of a thread. It has room for as many posts as the semblock's `highwater`.
    pub fn new(owner: ThreadId, highwater: u64) -> Self {
        Semaphore { owner, posts: 0, room: highwater, needs: 0, posters: VecDeque::new() }
    }
}

/// The events of `eventgen`: one after the other at a constant rate, from the beginning of the run on.
#[derive(Clone, Debug)]
pub(super) struct Events {
    pub(super) per_s: u64,
    /// Events that were taken, or came and went.
    pub(super) taken: u64,
}

impl Events {
    pub fn new(per_s: u64) -> Self {
        Events { per_s, taken: 0 }
    }

    /// When the next `count` events that nobody has taken will have come.
    pub(super) fn take(&mut self, count: u64, now: Nanos) -> Nanos {
        let come = (u128::from(now) * u128::from(self.per_s) / u128::from(NS_PER_S)) as u64;
        self.taken = self.taken.max(come.saturating_sub(EVENTS_KEPT_S * self.per_s)) + count;
        (u128::from(self.taken) * u128::from(NS_PER_S)).div_ceil(u128::from(self.per_s)) as Nanos
    }
}

/// The state of a limit in a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limit {
    pub(super) begun: bool,
    /// The count when it was last looked at.
    pub(super) last: u64,
    /// What was paid for in advance, or is still to be paid for.
    pub(super) bucket: i64,
}
