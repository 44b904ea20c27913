//! The block layer in front of a device: itself a device.

use std::hint::cold_path;

use super::queue::Queue;
use super::settings::Host;
use crate::figures::{Depths, Hosted};
use flashwatt_base::error::{Error, Fault, nearest};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    AtEnd, Completion, Cx, Device, FlashCounts, OriginName, Priority, Request, RequestSink, Seats, Status, Tag,
    Upcoming, Window,
};
use flashwatt_core::energy::Series;

/// Requests of processes that the block layer accepts: those in its queue and in the device, and those that wait for a
/// place there. A closed loop without a depth of its own has as many under way.
pub const ROOM: u32 = 4096;

/// A device behind the host's block layer.
pub struct BlockLayer<D> {
    device: D,
    queue: Queue,
    /// The seat of the queue's timer, behind all of the device's.
    seat: u32,
    timer_ns: Option<Nanos>,
    log: Option<Box<dyn RequestSink>>,
}

impl<D: Device> BlockLayer<D> {
    /// A block layer with these settings before a device of this size. `origins` names the processes.
    ///
    /// # Errors
    /// If the settings give a priority to a process that there is not.
    pub fn new(settings: &Host, device_bytes: u64, origins: &[OriginName], device: D) -> Result<Self, Error> {
        let depth = settings.queue_depth.min(device.room());
        let queue = Queue::new(settings, priorities(settings, origins)?, device_bytes, depth, ROOM);
        Ok(BlockLayer { device, queue, seat: 0, timer_ns: None, log: None })
    }

    /// Records the requests in the queue and in the device over time.
    #[must_use]
    pub fn recording(mut self, depths: Option<Depths>) -> Self {
        self.queue.record(depths);
        self
    }

    /// Logs the requests that the device gets.
    #[must_use]
    pub fn logged(mut self, log: Option<Box<dyn RequestSink>>) -> Self {
        self.log = log;
        self
    }

    /// The log of the requests that the device got, if one was asked for.
    pub fn take_log(&mut self) -> Option<Box<dyn RequestSink>> {
        self.log.take()
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Requests that the device has not got: queued ones, those that wait for a place in the queue, and flushes. Merged requests are
    /// one, and of a request that is split each piece.
    pub fn held_requests(&self) -> u32 {
        self.queue.held()
    }

    /// The device, without the block layer.
    pub fn into_device(self) -> D {
        self.device
    }

    /// Gives the device what it can take.
    #[inline(always)]
    fn dispatch(&mut self, cx: &mut Cx) {
        if self.queue.takes_run() {
            if !self.queue.is_shut(cx.agenda.now()) {
                self.give(cx);
            }
            self.queue.has_run();
        }
        self.queue.settle_newest();
        self.set_timer(cx);
    }

    #[inline(never)]
    fn give(&mut self, cx: &mut Cx) {
        let now = cx.agenda.now();
        while let Some((tag, id)) = self.queue.next(now) {
            if let Some(log) = &mut self.log {
                cold_path();
                log.passes(&self.queue.request(id), now);
            }
            let request = self.queue.request(id);
            self.device.submit(tag, &request, cx);
            if self.queue.is_shut(now) {
                break;
            }
        }
    }

    #[inline]
    fn set_timer(&mut self, cx: &mut Cx) {
        let wanted = self.queue.wakes_at();
        if wanted != self.timer_ns {
            self.timer_ns = wanted;
            match wanted {
                Some(at) => cx.agenda.reset(self.seat, at),
                None => cx.agenda.cancel(self.seat),
            }
        }
    }

    /// Handles what has ended in the device: the completions from this place on, which become those of requests of processes.
    /// Returns true if there are such.
    #[inline(always)]
    fn take_ended(&mut self, from: usize, cx: &mut Cx) -> bool {
        let mut at = from;
        while let Some(done) = cx.done.get_mut(at) {
            match self.queue.passed_ended(done.tag, cx.agenda.now()) {
                Ok(tag) => {
                    done.tag = tag;
                    at += 1;
                }
                Err(id) => at = self.queue.queued_ended(id, cx.done, at, cx.agenda.now()),
            }
            // An end makes no request, so there is nothing to dispatch behind the last one if nothing is queued.
            if at == cx.done.len() && self.queue.is_busy() {
                self.queue.run();
                self.dispatch_and_let_in(cx);
            }
        }
        at > from
    }

    /// As [`Self::take_ended`], of what ended without an event: less often.
    #[inline(never)]
    fn take_ended_at_once(&mut self, from: usize, cx: &mut Cx) -> bool {
        self.take_ended(from, cx)
    }

    #[inline(never)]
    fn dispatch_and_let_in(&mut self, cx: &mut Cx) {
        while self.queue.is_busy() {
            self.dispatch(cx);
            if !self.queue.let_in(cx.agenda.now()) {
                break;
            }
        }
    }
}

impl<D: Device> Device for BlockLayer<D> {
    type Figures = Hosted<D::Figures>;

    fn enrol(&mut self, seats: &mut Seats) {
        self.device.enrol(seats);
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        ROOM
    }

    #[inline]
    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        let from = cx.done.len();
        if let Some(inner) = self.queue.pass(tag, request, cx.agenda.now()) {
            if let Some(log) = &mut self.log {
                cold_path();
                log.passes(request, cx.agenda.now());
            }
            self.device.submit(inner, request, cx);
        } else if self.queue.submit(tag, request, cx.agenda.now()) {
            self.dispatch(cx);
            if self.queue.has_woken() {
                self.dispatch_and_let_in(cx);
            }
        } else {
            return cx.done.push(Completion { tag, status: Status::OutOfRange });
        }
        if cx.done.len() > from {
            self.take_ended_at_once(from, cx);
        }
    }

    #[inline(always)]
    fn pass_time(&mut self, now: Nanos) {
        self.queue.pass_time(now);
        self.device.pass_time(now);
    }

    #[inline]
    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        if seat == self.seat {
            self.timer_ns = None;
            self.queue.wake_ns = None;
            self.queue.run();
            self.dispatch(cx);
        } else if !self.device.event(seat, cx) {
            return false;
        }
        self.take_ended(0, cx)
    }

    #[inline]
    fn settle(&mut self, cx: &mut Cx) -> bool {
        if self.queue.unplug() {
            self.dispatch(cx);
        }
        self.device.settle(cx);
        !cx.done.is_empty() && self.take_ended_at_once(0, cx)
    }

    fn drain(&mut self, now: Nanos) {
        self.device.drain(now);
    }

    fn sleep(&mut self, now: Nanos) -> bool {
        self.device.sleep(now)
    }

    fn rest(&mut self) -> Result<(), Error> {
        if self.queue.is_busy() {
            let fault = Fault::key("host.scheduler", "the scheduler holds requests that it never gives");
            return Err(fault.expected("every request is dispatched").into());
        }
        self.device.rest()
    }

    fn prefetch(&self, upcoming: &Upcoming) {
        self.device.prefetch(upcoming);
    }

    fn end_window(&mut self, now: Nanos, meter: AtEnd) -> (Window<Self::Figures>, Option<Box<Series>>) {
        let host = self.queue.end_window(now, meter);
        let (window, series) = self.device.end_window(now, meter);
        let Window { start_ns, end_ns, reading, figures } = window;
        (Window { start_ns, end_ns, reading, figures: Hosted { device: figures, host } }, series)
    }

    fn measured(&mut self, now: Nanos) {
        self.device.measured(now);
    }

    fn finish(&mut self, now: Nanos) {
        self.device.finish(now);
    }

    fn operations(&self) -> u64 {
        self.device.operations()
    }

    fn flash_counts(&self) -> FlashCounts {
        self.device.flash_counts()
    }

    fn operations_at_once(&self) -> u64 {
        self.device.operations_at_once()
    }

    fn series_overflowed(&mut self) -> bool {
        self.device.series_overflowed()
    }

    fn book(&mut self, now: Nanos) {
        self.device.book(now);
    }

    fn so_far(&self) -> (f64, f64) {
        self.device.so_far()
    }
}

/// The priorities of processes by number.
fn priorities(settings: &Host, origins: &[OriginName]) -> Result<Vec<Option<Priority>>, Error> {
    let mut found = Vec::new();
    for (process, priority) in &settings.priorities {
        let number = Host::origin(process, origins).ok_or_else(|| unknown_process(process, origins))?;
        let number = usize::from(number);
        found.resize(found.len().max(number + 1), None);
        found[number] = Some(priority.0);
    }
    Ok(found)
}

fn unknown_process(process: &str, origins: &[OriginName]) -> Error {
    let names = || origins.iter().map(|origin| origin.name.as_str());
    let fault = Fault::key(format!("host.priorities.{process}"), "unknown process").found(format!("{process:?}"));
    let expected = match origins {
        [] => "a number: the workload names no processes".to_string(),
        _ => format!("a number below {}, or one of {}", origins.len(), names().collect::<Vec<_>>().join(", ")),
    };
    fault.expected(expected).nearest(nearest(process, names())).into()
}
