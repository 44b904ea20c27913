//! A hard disk.
//!
//! ```text
//! request ── electronics (command_ns each) ─┬─ read:  track buffer or cache ── interface ── done
//!                                           │         else queue ── mechanism ── buffer ── interface ── done
//!                                           └─ write: interface ── cache ── done; later mechanism
//!                                                     forced, or without a cache: queue ── mechanism ── done
//!                                                     (or both at the same time: [`overlap`])
//! ```
//!
//! One access to the medium is under way at a time: a run of sectors on one track. Its times are known when it starts
//! ([`mechanism`]): the way to the track, the wait for its first sector, and the sectors themselves. What comes next is decided
//! when it ends ([`queue`]): requests first, then the cache, then reading ahead.
//!
//! # Deviations from real disks
//!
//! * No retries, no thermal recalibration.
//! * Data of a read that comes from the medium crosses the interface while the sectors pass the head, and delays no other
//!   transfer. Other transfers come one after the other.
//! * The cache forgets what it has written; reads of it go to the medium, unless the buffer holds it.
//! * The arm parks and the spindle stops in no time. The energy of stopping is that of standby.
//! * A trim changes nothing: it takes the time of its command. Disks of this kind have no such command.

use std::collections::VecDeque;

use flashwatt_base::error::{Error, Fault};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{AtEnd, Completion, Cx, Device, Request, RequestKind, Seats, Status, Tag, Window};
use flashwatt_core::energy::parts::StateId;
use flashwatt_core::energy::{Accounts, Parts, Series};

mod buffer;
mod figures;
mod geometry;
mod job;
mod layout;
mod link;
mod mechanism;
pub mod options;
mod overlap;
mod parts;
mod power;
mod queue;
mod read_ahead;
mod rotation;
mod route;
mod seek;
pub mod settings;
mod write_cache;

use buffer::Buffer;
pub use figures::{HddCounts, HddFigures, ZoneBytes};
use geometry::Lba;
use job::MediumJob;
use link::Link;
use mechanism::Mechanism;
pub use parts::STATES;
use queue::MediumQueue;
use read_ahead::ReadAhead;
use write_cache::WriteCache;

/// Seats in the agenda, in the order in which their events of one instant are handled.
const COMMAND: u32 = 0;
const LINK: u32 = 1;
const MEDIUM: u32 = 2;
const STANDBY: u32 = 3;
const SEATS: u32 = 4;

/// A request inside the disk.
#[derive(Clone, Copy)]
struct Inside {
    kind: RequestKind,
    fua: bool,
    first: Lba,
    end: Lba,
}

/// A flush that waits for writes.
struct Flush {
    tag: Tag,
    /// All writes before this number must be on the medium.
    before: u64,
}

/// A hard disk.
pub struct Hdd {
    settings: settings::Hdd,
    mechanism: Mechanism,
    buffer: Buffer,
    cache: WriteCache,
    queue: MediumQueue,
    link: Link,
    /// Requests by tag, and their number.
    inside: Box<[Inside]>,
    requests: u32,
    /// Commands that the electronics have not handled yet, the first of which they handle now.
    commands: VecDeque<Tag>,
    /// Whether the last read or write that they began with was a write.
    last_wrote: bool,
    /// Writes with their data in the disk that wait for room in the cache. `first` of each is the next sector to enter.
    entering: VecDeque<Tag>,
    flushes: Vec<Flush>,
    /// What the medium does.
    job: Option<MediumJob>,
    /// What may be read ahead once nothing else waits.
    ahead: Option<ReadAhead>,
    /// The sector after the last access.
    near: Lba,
    /// State of the electronics between accesses.
    electronics: StateId,
    /// The state that the last access ended in at this instant. It ends with the instant, unless the next access goes on in it.
    passed: Option<StateId>,
    /// Whether the spindle turns at speed.
    is_ready: bool,
    /// Whether the spindle will be stopped unless a request comes.
    timer_is_set: bool,
    /// When the platters stand, of a disk in standby.
    stands_ns: Nanos,
    drains: bool,
    /// Whether the host has sent the command to sleep since the last request.
    must_sleep: bool,
    seat: u32,
    accounts: Accounts,
    counts: HddCounts,
    zones: Vec<ZoneBytes>,
}

impl Hdd {
    /// A disk that turns and has nothing to do, with its heads on the outermost cylinder.
    pub fn new(settings: settings::Hdd, series: Option<Box<Series>>) -> Self {
        let none = Inside { kind: RequestKind::Flush, fua: false, first: 0, end: 0 };
        let mechanism = Mechanism::new(&settings);
        Hdd {
            buffer: Buffer::new(&settings.buffer),
            cache: WriteCache::new(&settings.write_cache),
            queue: MediumQueue::new(&settings.scheduling, &settings.interface, &settings.write_cache),
            link: Link::default(),
            inside: vec![none; settings.interface.queue_depth as usize].into(),
            requests: 0,
            commands: VecDeque::new(),
            last_wrote: false,
            entering: VecDeque::new(),
            flushes: Vec::new(),
            job: None,
            ahead: None,
            near: 0,
            electronics: parts::IDLE,
            passed: None,
            is_ready: true,
            timer_is_set: false,
            stands_ns: 0,
            drains: false,
            must_sleep: false,
            seat: 0,
            accounts: Accounts::new(parts::parts(&settings.energy), &parts::AT_START, series),
            counts: HddCounts::default(),
            zones: vec![ZoneBytes::default(); mechanism.geometry().zones()],
            mechanism,
            settings,
        }
    }

    /// Its settings.
    pub fn settings(&self) -> &settings::Hdd {
        &self.settings
    }

    /// Its parts.
    pub fn parts(&self) -> &Parts {
        self.accounts.parts()
    }

    /// Its accounts of energy.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Energy in J from +12 V since the window began.
    pub fn energy_from_12v_j(&self) -> f64 {
        self.accounts.energies_so_far().ending_in("_12v")
    }

    /// A request has ended.
    #[inline]
    fn complete(&mut self, tag: Tag, cx: &mut Cx) {
        self.requests -= 1;
        self.give_up_returned(tag);
        cx.done.push(Completion::done(tag));
    }

    fn inside(&self, tag: Tag) -> Inside {
        self.inside[tag.0 as usize]
    }

    /// Whether somebody waits for the cache to be written.
    fn cache_is_awaited(&self) -> bool {
        !self.entering.is_empty() || !self.flushes.is_empty() || self.must_sleep
    }
}

impl Device for Hdd {
    type Figures = HddFigures;

    fn enrol(&mut self, seats: &mut Seats) {
        self.seat = seats.take(SEATS, 0);
    }

    fn room(&self) -> u32 {
        self.settings.interface.queue_depth - self.requests
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if !request.is_within(self.settings.bytes) {
            return cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
        let first = request.offset_bytes / SECTOR_BYTES;
        let end = first + request.bytes / SECTOR_BYTES;
        self.inside[tag.0 as usize] = Inside { kind: request.kind, fua: request.fua, first, end };
        self.requests += 1;
        self.must_sleep = false;
        self.wake(cx);
        self.commands.push_back(tag);
        if self.commands.len() == 1 {
            self.start_command(cx);
        }
    }

    #[inline]
    fn pass_time(&mut self, now: Nanos) {
        self.accounts.pass_time(now);
    }

    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        match seat - self.seat {
            COMMAND => self.command_handled(cx),
            LINK => self.transferred(cx),
            MEDIUM => self.access_ended(cx),
            _ => self.stop_spindle(cx.now()),
        }
        !cx.done.is_empty()
    }

    fn settle(&mut self, cx: &mut Cx) -> bool {
        self.start_access(cx);
        self.end_passed();
        self.rest_if_idle(cx);
        false
    }

    fn drain(&mut self, _now: Nanos) {
        self.drains = true;
    }

    fn sleep(&mut self, _now: Nanos) -> bool {
        self.must_sleep = self.is_ready;
        true
    }

    fn rest(&mut self) -> Result<(), Error> {
        if self.requests == 0 && self.cache.is_clean() && self.job.is_none() {
            return Ok(());
        }
        let found = format!(
            "{} requests ({} wait for the medium, {} for room in the cache), {} sectors in the cache",
            self.requests,
            self.queue.len(),
            self.entering.len(),
            self.cache.sectors()
        );
        let fault = Fault::key("hdd", "the disk has unfinished work and no event").found(found);
        Err(fault.expected("no work").help("this is a fault of the simulator: please report it").into())
    }

    fn end_window(&mut self, _now: Nanos, meter: AtEnd) -> (Window<HddFigures>, Option<Box<Series>>) {
        self.end_passed();
        let (window, series) = self.accounts.end_window(meter);
        let zones = vec![ZoneBytes::default(); self.zones.len()];
        let figures = HddFigures {
            times: window.figures,
            counts: std::mem::take(&mut self.counts),
            zones: std::mem::replace(&mut self.zones, zones),
        };
        (Window { start_ns: window.start_ns, end_ns: window.end_ns, reading: window.reading, figures }, series)
    }

    fn operations(&self) -> u64 {
        self.counts.accesses
    }

    fn operations_at_once(&self) -> u64 {
        1
    }

    fn series_overflowed(&mut self) -> bool {
        self.accounts.series_overflowed()
    }

    fn so_far(&self) -> (f64, f64) {
        self.accounts.so_far()
    }
}
