//! The figures of the block layer in a window.

pub mod counters;
mod depths;

use counters::Counters;
pub use depths::{DepthSeries, Depths};

use flashwatt_base::stats::Histogram;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::RequestKind;
use flashwatt_core::energy::window::Figures;

/// The figures of a device and of the block layer before it.
#[derive(Clone, Debug, Default)]
pub struct Hosted<F> {
    /// The device's.
    pub device: F,
    /// The block layer's.
    pub host: HostFigures,
}

impl<F: Figures> Figures for Hosted<F> {
    fn plus(&self, next: &Self) -> Self {
        Hosted { device: self.device.plus(&next.device), host: self.host.plus(&next.host) }
    }

    fn operations(&self) -> u64 {
        self.device.operations()
    }
}

/// The figures of the block layer.
#[derive(Clone, Debug, Default)]
pub struct HostFigures {
    /// Reads, writes, and others.
    pub kinds: [KindFigures; 3],
    /// Pieces that joined a queued request at its back.
    pub back_merges: u64,
    /// Pieces that joined a queued request at its front.
    pub front_merges: u64,
    /// Queued requests that became one with another one.
    pub joined: u64,
    /// Pieces that did not find a place in the queue, or whose process waited for one already.
    pub blocked: u64,
    /// Dispatched requests that do not begin where the last one ended, and the sum of those distances in sectors.
    pub seeks: u64,
    /// The sum of the distances of seeks, in sectors.
    pub seek_sectors: u128,
    /// The scheduler's counts.
    pub counters: Counters,
    /// Time integral of the number of queued requests, in request-nanoseconds.
    pub queued_ns: u128,
    /// Time integral of the number of requests in the device, in request-nanoseconds.
    pub in_device_ns: u128,
    /// Most requests that were queued.
    pub queued_max: u32,
    /// Time in ns during which requests were queued, and the device had room.
    pub withheld_ns: u128,
    /// The longest time in the queue by process, in ns.
    pub longest_ns: Vec<Nanos>,
    /// Sectors read and written by process, of requests that ended; none of a process that had no request.
    pub moved_sectors: Vec<Option<u64>>,
    /// Requests over time, if recorded; of the window at whose end the recording was delivered.
    pub series: Option<DepthSeries>,
}

/// The figures of one kind of request.
#[derive(Clone, Debug, Default)]
pub struct KindFigures {
    /// Requests of processes that ended, by their wait for a place in the queue.
    pub slat: Histogram,
    /// The same, by the time from there to their end.
    pub clat: Histogram,
    /// The same, by their time in the queue.
    pub queue: Histogram,
    /// The same, by their time in the device.
    pub device: Histogram,
    /// Requests of processes that came.
    pub came: u64,
    /// Their sectors.
    pub came_sectors: u64,
    /// Pieces that they were split into; one of a request that is not too long.
    pub pieces: u64,
    /// Requests that were given to the device.
    pub dispatched: u64,
    /// Their sectors.
    pub dispatched_sectors: u64,
}

/// The index of a kind in [`HostFigures::kinds`].
#[inline(always)]
pub(crate) fn kind(kind: RequestKind) -> usize {
    match kind {
        RequestKind::Read => 0,
        RequestKind::Write => 1,
        RequestKind::Trim | RequestKind::Flush => 2,
    }
}

/// Processes with a longest wait of their own.
const PROCESSES_MAX: usize = 1024;

impl HostFigures {
    /// A request of a process waited so long in the queue.
    #[inline(always)]
    pub(crate) fn waited(&mut self, process: usize, ns: Nanos) {
        match self.longest_ns.get_mut(process) {
            Some(longest) => *longest = ns.max(*longest),
            None => self.waited_first(process, ns),
        }
    }

    #[cold]
    fn waited_first(&mut self, process: usize, ns: Nanos) {
        if process < PROCESSES_MAX {
            self.longest_ns.resize(process + 1, 0);
            self.longest_ns[process] = ns;
        }
    }

    /// A process has requests, and this many sectors of them have been read or written.
    #[inline(always)]
    pub(crate) fn moved(&mut self, process: u16, sectors: u64) {
        match self.moved_sectors.get_mut(usize::from(process)) {
            Some(Some(sum)) => *sum += sectors,
            _ => self.moved_first(process, sectors),
        }
    }

    #[cold]
    fn moved_first(&mut self, process: u16, sectors: u64) {
        let processes = self.moved_sectors.len().max(usize::from(process) + 1);
        self.moved_sectors.resize(processes, None);
        self.moved_sectors[usize::from(process)] = Some(sectors);
    }

    /// Jain's index of the processes' sectors: (Σ s)² / (n Σ s²); none for fewer than two processes, or nothing moved.
    pub fn fairness(&self) -> Option<f64> {
        let sectors: Vec<f64> = self.moved_sectors.iter().flatten().map(|&sectors| sectors as f64).collect();
        let squares: f64 = sectors.iter().map(|sectors| sectors * sectors).sum();
        let sum: f64 = sectors.iter().sum();
        (sectors.len() > 1 && squares > 0.0).then(|| sum * sum / (sectors.len() as f64 * squares))
    }

    /// The figures of both windows together.
    #[must_use]
    pub fn plus(&self, next: &Self) -> Self {
        let processes = self.longest_ns.len().max(next.longest_ns.len());
        let longest = |figures: &Self, at: usize| figures.longest_ns.get(at).copied().unwrap_or(0);
        HostFigures {
            kinds: std::array::from_fn(|at| self.kinds[at].plus(&next.kinds[at])),
            back_merges: self.back_merges + next.back_merges,
            front_merges: self.front_merges + next.front_merges,
            joined: self.joined + next.joined,
            blocked: self.blocked + next.blocked,
            seeks: self.seeks + next.seeks,
            seek_sectors: self.seek_sectors + next.seek_sectors,
            counters: self.counters.plus(&next.counters),
            queued_ns: self.queued_ns + next.queued_ns,
            in_device_ns: self.in_device_ns + next.in_device_ns,
            queued_max: self.queued_max.max(next.queued_max),
            withheld_ns: self.withheld_ns + next.withheld_ns,
            series: next.series.as_ref().or(self.series.as_ref()).cloned(),
            moved_sectors: sums(&self.moved_sectors, &next.moved_sectors),
            longest_ns: (0..processes).map(|at| longest(self, at).max(longest(next, at))).collect(),
        }
    }
}

/// The sums by process. A process that only one window knows has that window's figure.
fn sums(one: &[Option<u64>], other: &[Option<u64>]) -> Vec<Option<u64>> {
    let of = |figures: &[Option<u64>], at: usize| figures.get(at).copied().flatten();
    let sum = |at: usize| match (of(one, at), of(other, at)) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
    };
    (0..one.len().max(other.len())).map(sum).collect()
}

impl KindFigures {
    fn plus(&self, next: &Self) -> Self {
        KindFigures {
            slat: self.slat.plus(&next.slat),
            clat: self.clat.plus(&next.clat),
            queue: self.queue.plus(&next.queue),
            device: self.device.plus(&next.device),
            came: self.came + next.came,
            came_sectors: self.came_sectors + next.came_sectors,
            pieces: self.pieces + next.pieces,
            dispatched: self.dispatched + next.dispatched,
            dispatched_sectors: self.dispatched_sectors + next.dispatched_sectors,
        }
    }
}
