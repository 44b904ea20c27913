//! The queue between processes and the device: pieces come in, requests go out.
//!
//! ```text
//! enter ─┬─ join ── a queued request        dispatch ── device ── ends
//!        └─ Scheduler::add ─────────────────┘
//! passing: past all of that, if nothing is queued       windows: figures and times
//! ```

use std::collections::VecDeque;

use super::fullness::{Places, Waiters};
use super::settings::{FlushRule, Host, Merges, Plug};
use crate::figures::{Depths, HostFigures};
use crate::pool::merging::Ends;
use crate::pool::{Pool, RqId};
use crate::sched::{Cx, Generation, Given, Merging, Parameters, Passing, Scheduler, Setup};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::stats::Histogram;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Priority, PriorityClass, RequestKind, Tag};

mod dispatch;
mod ends;
mod enter;
mod join;
mod passing;
mod windows;

use windows::Integral;

/// A process's request that has not ended.
#[derive(Clone, Copy, Debug, Default)]
struct Io {
    arrival_ns: Nanos,
    /// Sectors that it reads or writes.
    sectors: u64,
    /// Pieces that have not ended.
    left: u32,
    process: u16,
    is_refused: bool,
}

/// A request in the device.
#[derive(Clone, Copy)]
struct Inside {
    /// Its number in the pool; [`PASSED`] for one that passed the queue.
    id: RqId,
    /// Of one that passed: the tag of the process's request, its process, the sectors that it reads or writes, when it was
    /// sent, the index of its kind among the figures, and its priority.
    tag: Tag,
    process: u16,
    moved_sectors: u64,
    arrival_ns: Nanos,
    at: u8,
    priority: Priority,
    is_sync: bool,
}

/// No number in the pool.
const PASSED: RqId = RqId(u32::MAX);

impl Inside {
    const NOTHING: Inside = Inside {
        id: PASSED,
        tag: Tag(0),
        process: 0,
        moved_sectors: 0,
        arrival_ns: 0,
        at: 0,
        priority: Priority::new(PriorityClass::BestEffort, 0),
        is_sync: true,
    };
}

/// What every request that waits nowhere would add to several figures: it is counted here, and there at the end of a window.
#[derive(Clone, Debug, Default)]
struct Unqueued {
    /// Requests that passed the queue, and their sectors.
    passed: u64,
    sectors: u64,
    /// Of requests that waited neither for a place nor in the queue and have ended: the time from the arrival to the end.
    latency: Histogram,
}

/// The queue.
pub(super) struct Queue {
    scheduler: Box<dyn Scheduler>,
    merging: Option<Merging>,
    max_sectors: u64,
    flush: FlushRule,
    plug: Plug,
    offset_sectors: u64,
    partition_bytes: u64,
    async_writes: bool,
    /// Priorities of origins that have one of their own, by number.
    priorities: Vec<Option<Priority>>,
    pool: Pool,
    ends: Ends,
    /// The queued request that a piece is tried with first: the one that grew last; if that has left, the first that came since
    /// (last_merge).
    last: Option<RqId>,
    /// The request that came last, while the index of ends does not know it.
    newest: Option<RqId>,
    places: Places,
    waiters: Waiters,
    /// Requests of processes, by tag.
    ios: Vec<Io>,
    /// Requests in the device, by the device's tag; and the free tags.
    in_device: FlatTable<Inside>,
    free: Vec<Tag>,
    /// Whether requests may pass, and those that did, by kind.
    passing_rule: Passing,
    /// Longest request that may pass; 0 if none may.
    passing_bytes: u64,
    /// Whether the queue can be full while the device has room.
    places_bind: bool,
    unqueued: [Unqueued; 3],
    /// Requests in the scheduler.
    queued: u32,
    /// Whether a request leaves the scheduler before the device has room for it, and the one that has.
    takes_ahead: bool,
    ahead: Option<RqId>,
    /// Requests that the scheduler gave at once and that nobody has taken; and those of the present call of it.
    ready: VecDeque<RqId>,
    given: Vec<(RqId, Given)>,
    /// The queues of today, which are run whenever a request comes. One of Linux 2.6.32 is run when it is unplugged, and at ends.
    is_multi: bool,
    rotational: bool,
    ticks: Ticks,
    /// Whether the driver is going to ask for requests; and whether the scheduler wants to know when it has.
    runs: bool,
    runs_for_scheduler: bool,
    /// Requests that are in neither the scheduler nor the device: those that have left the one for the other, flushes that pass the scheduler, what waits behind
    /// a barrier, and pieces that wait for a place. A barrier counts until it ends.
    waiting: u32,
    /// Flushes that pass the scheduler.
    passing: VecDeque<RqId>,
    /// The flush that drains the queue, until it ends; and what came after it.
    barrier: Option<RqId>,
    behind: VecDeque<RqId>,
    /// The queue is plugged: until this time, or to the end of the instant.
    plugged: Option<Nanos>,
    /// When the scheduler wants to be asked again.
    pub wake_ns: Option<Nanos>,
    /// The instant at which the scheduler gives no further request, if it has said so.
    closed_ns: Option<Nanos>,
    /// Where the last dispatched request ended, and the last one that left the scheduler.
    position: u64,
    boundary: u64,
    /// Up to when time is booked, while it is.
    since_ns: Nanos,
    in_device_time: Integral,
    /// Requests over time, if recorded.
    depths: Option<Depths>,
    pub figures: HostFigures,
}

/// End of an instant, as a time to which the queue is plugged.
const INSTANT: Nanos = Nanos::MAX;

impl Queue {
    /// The queue of a device of this size, which accepts `depth` requests.
    pub fn new(settings: &Host, priorities: Vec<Option<Priority>>, device_bytes: u64, depth: u32, room: u32) -> Self {
        let setup = Setup {
            device_sectors: device_bytes / SECTOR_BYTES,
            queue_depth: depth,
            nr_requests: settings.nr_requests,
            rotational: settings.rotational,
            peeks: !settings.dispatch_budget,
        };
        let recipe = &settings.scheduler.entry.build;
        let scheduler = (recipe.make)(&Parameters(&settings.scheduler.parameters), &setup);
        let offset_sectors = settings.partition_offset_sectors;
        // A request that passes is the process's own.
        let changes = offset_sectors > 0 || settings.async_writes || !priorities.is_empty();
        let passing_rule = if changes { Passing::Never } else { scheduler.passing() };
        let places = Places::new(settings);
        Queue {
            merging: (settings.merges == Merges::All).then(|| scheduler.merging()),
            max_sectors: settings.max_request_bytes / SECTOR_BYTES,
            flush: settings.flush,
            plug: settings.plug,
            offset_sectors,
            partition_bytes: device_bytes.saturating_sub(offset_sectors * SECTOR_BYTES),
            async_writes: settings.async_writes,
            priorities,
            pool: Pool::default(),
            ends: Ends::new(settings.nr_requests, scheduler.merging() == Merging::Ends { fronts: true }),
            last: None,
            newest: None,
            waiters: Waiters::default(),
            ios: vec![Io::default(); room as usize],
            in_device: vec![Inside::NOTHING; depth as usize].into(),
            passing_bytes: if passing_rule == Passing::Never { 0 } else { settings.max_request_bytes },
            places_bind: places.bind_within(depth),
            places,
            passing_rule,
            unqueued: Default::default(),
            free: (0..depth).rev().map(Tag).collect(),
            queued: 0,
            takes_ahead: !settings.dispatch_budget,
            ahead: None,
            ready: VecDeque::new(),
            given: Vec::new(),
            is_multi: recipe.generation == Generation::Multi,
            rotational: settings.rotational,
            ticks: Ticks(recipe.tick_ns),
            runs: false,
            runs_for_scheduler: false,
            waiting: 0,
            passing: VecDeque::new(),
            barrier: None,
            behind: VecDeque::new(),
            plugged: None,
            wake_ns: None,
            closed_ns: None,
            position: 0,
            boundary: 0,
            since_ns: 0,
            in_device_time: Integral::default(),
            depths: None,
            scheduler,
            figures: HostFigures::default(),
        }
    }

    /// Whether anything is queued or waits.
    #[inline(always)]
    pub fn is_busy(&self) -> bool {
        self.queued + self.waiting > 0
    }

    /// Requests that have not gone to the device: in the scheduler, and those that have left it.
    fn outside(&self) -> u32 {
        self.queued + self.ready.len() as u32 + u32::from(self.ahead.is_some())
    }

    /// Requests that the device has not got.
    pub fn held(&self) -> u32 {
        let is_free = |tag: usize| self.free.contains(&Tag(tag as u32));
        let is_barrier = |(tag, inside): (usize, &Inside)| Some(inside.id) == self.barrier && !is_free(tag);
        let has_barrier = self.in_device.iter().enumerate().any(is_barrier);
        self.queued + self.waiting - u32::from(has_barrier)
    }

    /// Requests in the device.
    pub fn in_device(&self) -> u32 {
        (self.in_device.len() - self.free.len()) as u32
    }

    #[inline(always)]
    fn with<R>(&mut self, now: Nanos, call: impl FnOnce(&mut dyn Scheduler, &mut Cx) -> R) -> R {
        let (in_device, max_sectors) = (self.in_device(), self.max_sectors);
        let mut runs = false;
        let mut cx = Cx {
            now,
            pool: &mut self.pool,
            counters: &mut self.figures.counters,
            closed_ns: &mut self.closed_ns,
            runs: &mut runs,
            wake_ns: &mut self.wake_ns,
            given: &mut self.given,
            in_device,
            max_sectors,
        };
        let result = call(self.scheduler.as_mut(), &mut cx);
        self.runs |= runs;
        self.runs_for_scheduler |= runs;
        result
    }
}

/// The clock of the kernel: its unit in ns.
#[derive(Clone, Copy)]
struct Ticks(Nanos);

impl Ticks {
    /// The time at which a timer ends that is set for this number of ns.
    fn later(self, now: Nanos, ns: Nanos) -> Nanos {
        (now / self.0).saturating_add(ns.div_ceil(self.0)).saturating_mul(self.0)
    }
}

/// Sectors that a request of this kind reads or writes.
#[inline(always)]
fn moved_sectors(kind: RequestKind, sectors: u64) -> u64 {
    if is_split(kind) { sectors } else { 0 }
}

/// Whether requests of a kind are split to the longest length.
fn is_split(kind: RequestKind) -> bool {
    matches!(kind, RequestKind::Read | RequestKind::Write)
}
