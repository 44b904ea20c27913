//! What a device is to those who drive it.

use super::{Agenda, Completion, Request, Seats, Tag, Upcoming};
use crate::energy::Series;
use crate::energy::window::{AtEnd, Figures, Window};
use crate::error::Error;
use crate::units::Nanos;

/// What a device works with while one of its methods runs.
pub struct Cx<'a> {
    /// Where it notes its events; also the clock.
    pub agenda: &'a mut Agenda,
    /// Where it puts the requests that have ended, in the order of their ends.
    pub done: &'a mut Vec<Completion>,
}

impl Cx<'_> {
    /// The time.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.agenda.now()
    }
}

/// A storage device as its connector shows it. It owns no loop and no clock: it is given requests and its own events, and
/// says what comes of them.
///
/// At each instant [`Self::pass_time`] comes first, then the device's events, then requests ([`Self::submit`]), and last
/// [`Self::settle`]; the two in the middle may come again after it at the same instant.
pub trait Device {
    /// Its figures of a window.
    type Figures: Figures;

    /// Takes its seats at the agenda. The order of seats is the order of events at one instant.
    fn enrol(&mut self, seats: &mut Seats);

    /// How many requests it would take now.
    fn room(&self) -> u32;

    /// Takes a request, for which there is room. Its end is put into [`Cx::done`], now or later, with the tag. A tag is less
    /// than the room of an empty device, and no two requests inside the device have the same one.
    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx);

    /// Time passes up to `now`, with everything as it was until here.
    fn pass_time(&mut self, now: Nanos);

    /// One of its events of this instant. Returns true if requests have ended.
    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool;

    /// Every event and request of this instant is in: starts what can start. Returns true if requests have ended.
    fn settle(&mut self, _cx: &mut Cx) -> bool {
        false
    }

    /// The host sends no more requests and wants everything to be on the medium.
    fn drain(&mut self, _now: Nanos) {}

    /// Nothing is going to happen any more. An error says what is left undone, and why.
    fn rest(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Fetches into the machine's caches what requests to come will touch. Changes no result.
    fn prefetch(&self, _upcoming: &Upcoming) {}

    /// A window of the run ends, and the next one begins. Returns what the device did in it, and what was recorded over time
    /// if that is to be delivered.
    fn end_window(&mut self, now: Nanos, meter: AtEnd) -> (Window<Self::Figures>, Option<Box<Series>>);

    /// The warm-up is over. For probes.
    fn measured(&mut self, _now: Nanos) {}

    /// The run is over at this time. For probes.
    fn finish(&mut self, _now: Nanos) {}

    /// Operations of the medium that have ended in this window.
    fn operations(&self) -> u64;

    /// The most operations of the medium that can end at one instant.
    fn operations_at_once(&self) -> u64;

    /// Was there more to be recorded over time than can be stored?
    fn series_overflowed(&mut self) -> bool;
}
