//! What happens next, and what time it is: one pending event for each seat, in lanes.
//!
//! Each kind of event has a [`Lane`] of its own, and what happens next is the least of the lanes' first keys.
//!
//! A key is time · 2^k + seat. Seats are numbered in the order in which their events of one instant are handled. A seat
//! belongs to something that never waits for two things at once: a die, a channel, a timer.

use crate::lane::{Lane, NEVER};
use crate::mem::Table;
use crate::units::Nanos;

/// Kinds of events: each lane is nearly in the order of time. Which lane an event is in changes no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A read of the array is done.
    Read,
    /// A program is done.
    Program,
    /// A page has crossed a bus.
    Transfer,
    /// A bus that something waits for is free.
    Bus,
    /// Everything else: erases and copybacks, and whatever is set anew before it happens, or is taken back.
    Other,
}

const KINDS: usize = 5;

/// The seats of an agenda that is to be made.
#[derive(Debug, Default)]
pub struct Seats {
    taken: u32,
    longest_ns: Nanos,
}

impl Seats {
    /// Takes `count` seats behind those that are taken. Returns the first of them. What sits there sets events by at most
    /// `longest_ns` later, but for those that are [`Agenda::reset`], which may lie anywhere.
    pub fn take(&mut self, count: u32, longest_ns: Nanos) -> u32 {
        let first = self.taken;
        self.taken += count;
        self.longest_ns = self.longest_ns.max(longest_ns);
        first
    }
}

/// The pending events of all seats, and the clock.
pub struct Agenda {
    now: Nanos,
    lanes: [Lane; KINDS],
    /// The least key of all lanes.
    first: u64,
    /// The greatest key that there could be at this instant.
    last_now: u64,
    /// The greatest key that is taken: that of the last seat at the horizon.
    last: u64,
    /// The kind of each seat's event.
    kinds: Table<EventKind>,
    shift: u32,
    mask: u64,
}

impl Agenda {
    /// No events, at time 0.
    pub(crate) fn new(seats: &Seats) -> Self {
        let (seats, longest_ns) = (seats.taken as usize, seats.longest_ns);
        let shift = seats.max(2).next_power_of_two().trailing_zeros();
        let mask = (1 << shift) - 1;
        Agenda {
            now: 0,
            lanes: std::array::from_fn(|_| Lane::new(seats)),
            first: NEVER,
            last_now: 0,
            last: latest(shift).saturating_sub(longest_ns) << shift | mask,
            kinds: vec![EventKind::Other; seats].into(),
            shift,
            mask,
        }
    }

    /// The instant of the last event that [`Self::next_event`] gave.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Time passes up to `now`, before which nothing happens any more.
    pub(crate) fn pass_to(&mut self, now: Nanos) {
        debug_assert!(self.next_at().is_none_or(|at| at > now) && now <= self.horizon());
        self.now = now;
        self.last_now = now << self.shift | self.mask;
    }

    /// The last instant at which events are handled. What they set still has a key of its own.
    pub fn horizon(&self) -> Nanos {
        self.last >> self.shift
    }

    /// When the next event is, whether that lies beyond the horizon or not.
    pub fn next_at(&self) -> Option<Nanos> {
        (self.first != NEVER).then_some(self.first >> self.shift)
    }

    /// Sets the event of a seat, which has none.
    #[inline(always)]
    pub(crate) fn set(&mut self, kind: EventKind, seat: u32, at: Nanos) {
        debug_assert!(at <= latest(self.shift));
        let key = at << self.shift | u64::from(seat);
        self.lanes[kind as usize].add(key);
        self.first = self.first.min(key);
        self.kinds[seat as usize] = kind;
    }

    /// Sets the event of a seat, or sets it anew. Instants that have no key are all alike: they lie beyond the horizon.
    ///
    /// # Panics
    /// If nobody has taken the seat ([`Seats::take`]).
    pub fn reset(&mut self, seat: u32, at: Nanos) {
        assert!((seat as usize) < self.kinds.len(), "seat {seat} is not taken: there are {}", self.kinds.len());
        self.cancel(seat);
        self.set(EventKind::Other, seat, at.min(latest(self.shift)));
    }

    /// Goes on to the instant of the next event, if there is one up to the horizon: when that is, and whose event it is,
    /// which is taken.
    #[inline(always)]
    pub(crate) fn next_event(&mut self) -> Option<(Nanos, u32)> {
        if self.first > self.last {
            return None;
        }
        let at = self.first >> self.shift;
        self.last_now = self.first | self.mask;
        self.now = at;
        Some((at, self.take_first()))
    }

    /// Is there another event at this instant, the last that [`Self::next_event`] gave?
    #[inline(always)]
    pub(crate) fn any_now(&self) -> bool {
        self.first <= self.last_now
    }

    /// Takes the next event of this instant: whose it is.
    #[inline(always)]
    pub(crate) fn next_now(&mut self) -> Option<u32> {
        if self.any_now() { Some(self.take_first()) } else { None }
    }

    #[inline(always)]
    fn take_first(&mut self) -> u32 {
        let seat = (self.first & self.mask) as u32;
        let kind = self.kinds[seat as usize];
        self.lanes[kind as usize].take_first();
        self.find_first();
        seat
    }

    /// Takes back the event of a seat that was [`Self::reset`], if it has one.
    pub fn cancel(&mut self, seat: u32) {
        let mask = self.mask;
        self.lanes[EventKind::Other as usize].take_back(|key| key & mask == u64::from(seat));
        self.find_first();
    }

    #[inline(always)]
    fn find_first(&mut self) {
        let [a, b, c, d, e] = &self.lanes;
        self.first = a.first.min(b.first).min(c.first.min(d.first)).min(e.first);
    }
}

/// The last instant that has a key.
fn latest(shift: u32) -> Nanos {
    (NEVER >> shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agenda(seats: u32, longest_ns: Nanos) -> Agenda {
        let mut taken = Seats::default();
        taken.take(seats, longest_ns);
        Agenda::new(&taken)
    }

    const ALL: [EventKind; KINDS] =
        [EventKind::Read, EventKind::Program, EventKind::Transfer, EventKind::Bus, EventKind::Other];

    proptest! {
        #[test]
        fn gives_what_a_sorted_list_gives(sets in prop::collection::vec((0u32..37, 0u64..1000, 0..KINDS), 1..300)) {
            let mut agenda = agenda(37, 10);
            let mut list = std::collections::BTreeMap::new();
            for (seat, at, kind) in sets {
                if seat < 5 {
                    agenda.reset(seat, at);
                } else if list.contains_key(&seat) {
                    continue;
                } else {
                    agenda.set(ALL[kind], seat, at);
                }
                list.insert(seat, at);
                if at % 7 == 0 && seat < 5 {
                    agenda.cancel(seat);
                    list.remove(&seat);
                }
                let least = list.iter().map(|(&r, &t)| (t, r)).min();
                if let Some((at, seat)) = least.filter(|_| at % 3 == 0) {
                    prop_assert_eq!(agenda.next_event(), Some((at, seat)));
                    list.remove(&seat);
                    let another = list.values().any(|&other| other == at);
                    prop_assert_eq!(agenda.any_now(), another);
                }
            }
        }
    }

    #[test]
    fn events_of_one_instant_come_in_the_order_of_seats() {
        let mut agenda = agenda(5, 10);
        for (kind, seat) in
            [(EventKind::Read, 3), (EventKind::Program, 0), (EventKind::Read, 4), (EventKind::Program, 1)]
        {
            agenda.set(kind, seat, 7);
        }
        assert_eq!(agenda.next_event(), Some((7, 0)));
        let order: Vec<u32> = std::iter::from_fn(|| agenda.next_now()).collect();
        assert_eq!(order, [1, 3, 4]);
        assert_eq!(agenda.next_event(), None);
    }

    #[test]
    fn nothing_is_taken_beyond_the_horizon_and_no_key_wraps() {
        let mut agenda = agenda(5, 1_000);
        let horizon = agenda.horizon();
        agenda.set(EventKind::Read, 1, horizon);
        assert_eq!(agenda.next_event(), Some((horizon, 1)));
        agenda.set(EventKind::Program, 2, horizon + 1_000);
        agenda.reset(3, u64::MAX);
        assert_eq!(agenda.next_event(), None);
        assert_eq!(agenda.next_at(), Some(horizon + 1_000));
    }
}
