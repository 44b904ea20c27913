//! What schedulers count.

/// Counts of a scheduler's decisions in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Batches, turns or slices that began.
    pub batches: u64,
    /// Batches, turns or slices that began with a request that had expired.
    pub expired: u64,
    /// Times that the device was left idle on purpose, to wait for a process's next request.
    pub idle_waits: u64,
    /// Of these, waits that the awaited request ended.
    pub idle_hits: u64,
    /// Time of these waits in ns.
    pub idle_wait_ns: u64,
    /// Turns that were cut short for a process that comes first.
    pub preemptions: u64,
}

impl Counters {
    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        Counters {
            batches: self.batches + other.batches,
            expired: self.expired + other.expired,
            idle_waits: self.idle_waits + other.idle_waits,
            idle_hits: self.idle_hits + other.idle_hits,
            idle_wait_ns: self.idle_wait_ns + other.idle_wait_ns,
            preemptions: self.preemptions + other.preemptions,
        }
    }
}
