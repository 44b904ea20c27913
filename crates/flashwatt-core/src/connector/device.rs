//! The interface of a device to the simulation.

use super::{Agenda, Completion, Request, Seats, Tag, Upcoming};
use crate::energy::Series;
use crate::energy::window::{AtEnd, Figures, Window};
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;

/// The context of a device while one of its methods runs.
pub struct Cx<'a> {
    /// The agenda, where the device sets its events; also the clock.
    pub agenda: &'a mut Agenda,
    /// Receives the ended requests, in the order of their ends. Empty at the beginning of [`Device::event`] and
    /// [`Device::settle`].
    pub done: &'a mut Vec<Completion>,
}

impl Cx<'_> {
    /// The present time in ns.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.agenda.now()
    }
}

/// Counts of flash that write amplification is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCounts {
    /// Bytes that the host wrote, in requests that were taken up.
    pub host_bytes: u64,
    /// Pages programmed, by any cause.
    pub programs: u64,
}

/// A storage device. It owns no loop and no clock: it receives requests and its own events, and returns completions.
///
/// At each instant [`Self::pass_time`] comes first, then the device's events, then requests ([`Self::submit`]), and
/// last [`Self::settle`]. Events and requests of the same instant may follow after that, and then another
/// [`Self::settle`].
pub trait Device {
    /// The device's figures of a window.
    type Figures: Figures;

    /// Takes the device's seats in the agenda. The order of seats is the order of events at one instant.
    fn enrol(&mut self, seats: &mut Seats);

    /// Number of requests that the device would accept now.
    fn room(&self) -> u32;

    /// Accepts a request, for which there is room. Its completion goes to [`Cx::done`], now or later, with the tag. A
    /// tag is less than the room of an empty device, and no two requests inside the device share one.
    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx);

    /// Books the time up to `now`, with every state as it was.
    fn pass_time(&mut self, now: Nanos);

    /// Handles one of the device's events of this instant. Returns true if requests have ended.
    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool;

    /// Called after every event and request of this instant: starts all operations that can start. Returns true if
    /// requests have ended.
    fn settle(&mut self, _cx: &mut Cx) -> bool {
        false
    }

    /// The host sends no more requests; the device must write all data to the medium.
    fn drain(&mut self, _now: Nanos) {}

    /// The host sends the command to sleep. The device sleeps once it has done what it was given, and until the next request. Returns
    /// whether it has such a state; a device without one stays as it is. [`Self::settle`] follows.
    fn sleep(&mut self, _now: Nanos) -> bool {
        false
    }

    /// No event is left. An error names the unfinished work and the reason.
    fn rest(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Prefetches data of upcoming requests into the machine's caches. Changes no result. An address beyond the device is no hint.
    fn prefetch(&self, _upcoming: &Upcoming) {}

    /// Ends a window of the run and begins the next one. Returns the device's figures of the window, and the recording
    /// over time if `meter` asks for it.
    fn end_window(&mut self, now: Nanos, meter: AtEnd) -> (Window<Self::Figures>, Option<Box<Series>>);

    /// The warm-up has ended. For probes.
    fn measured(&mut self, _now: Nanos) {}

    /// The run ends at this time. For probes.
    fn finish(&mut self, _now: Nanos) {}

    /// Operations of the medium that ended in this window.
    fn operations(&self) -> u64;

    /// Counts of flash since the window began; zeros of a device without flash.
    fn flash_counts(&self) -> FlashCounts {
        FlashCounts::default()
    }

    /// Largest number of operations of the medium that can end at one instant.
    fn operations_at_once(&self) -> u64;

    /// Whether a recording over time exceeded its storage.
    fn series_overflowed(&mut self) -> bool;

    /// Books the time up to `now` of all parts, for [`Self::so_far`]. After [`Self::pass_time`] only a device that books the time of a
    /// part when something happens in it has anything to do.
    fn book(&mut self, _now: Nanos) {}

    /// Energy in J since the window began, and the power in W now: up to the last event, or to the last [`Self::book`].
    fn so_far(&self) -> (f64, f64);
}
