//! The agenda: the clock, and one pending event for each seat, in lanes.
//!
//! Each kind of event has a [`Lane`] of its own; the next event is the least of the lanes' first keys.
//!
//! A key is time · 2^k + seat. Seats are numbered in the order in which their events of one instant are handled. A seat
//! belongs to something that waits for at most one event at a time: a die, a channel, a timer.

use flashwatt_base::lane::{Lane, NEVER};
use flashwatt_base::mem::CHECKED;
use flashwatt_base::units::Nanos;

/// Kinds of events, one lane each, so that a lane is nearly sorted by time. The choice of lane changes no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A read of the array is done.
    Read,
    /// A program is done.
    Program,
    /// A page has crossed a bus.
    Transfer,
    /// A bus is free that an operation waits for.
    Bus,
    /// All other events: erases, copybacks, and events that may be moved or cancelled.
    Other,
}

impl EventKind {
    const ALL: [EventKind; 5] =
        [EventKind::Read, EventKind::Program, EventKind::Transfer, EventKind::Bus, EventKind::Other];
}

const KINDS: usize = EventKind::ALL.len();

/// The seats of an agenda under construction. A seat is the fixed number of a source of events.
#[derive(Debug, Default)]
pub struct Seats {
    taken: u32,
    longest_ns: Nanos,
}

impl Seats {
    /// Takes `count` further seats and returns the first of them. Events of these seats lie at most `longest_ns` ahead,
    /// except for events set by [`Agenda::reset`], which may lie anywhere.
    pub fn take(&mut self, count: u32, longest_ns: Nanos) -> u32 {
        let first = self.taken;
        self.taken += count;
        self.longest_ns = self.longest_ns.max(longest_ns);
        first
    }
}

/// The pending events of all seats, and the clock.
#[derive(Clone)]
pub struct Agenda {
    now: Nanos,
    lanes: [Lane; KINDS],
    /// The least key of all lanes.
    first: u64,
    /// Its lane; any, if there is no key.
    kind: EventKind,
    /// The greatest possible key of the present instant.
    last_now: u64,
    /// The greatest valid key: that of the last seat at the horizon.
    last: u64,
    /// Number of seats.
    seats: usize,
    shift: u32,
    mask: u64,
}

impl Agenda {
    /// An agenda without events, at time 0.
    pub fn new(seats: &Seats) -> Self {
        let (seats, longest_ns) = (seats.taken as usize, seats.longest_ns);
        let shift = seats.max(2).next_power_of_two().trailing_zeros();
        let mask = (1 << shift) - 1;
        Agenda {
            now: 0,
            lanes: std::array::from_fn(|_| Lane::new(seats)),
            first: NEVER,
            kind: EventKind::Other,
            last_now: 0,
            last: latest(shift).saturating_sub(longest_ns) << shift | mask,
            seats,
            shift,
            mask,
        }
    }

    /// The present time in ns: that of the last event that [`Self::next_event`] returned.
    #[inline(always)]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Advances the clock to `now`. No event may lie before that.
    pub(crate) fn pass_to(&mut self, now: Nanos) {
        debug_assert!(self.next_at().is_none_or(|at| at > now) && now <= self.horizon());
        self.now = now;
        self.last_now = now << self.shift | self.mask;
    }

    /// The last instant at which events are handled. Events set at that instant still have valid keys.
    pub fn horizon(&self) -> Nanos {
        self.last >> self.shift
    }

    /// Time of the next event in ns, even beyond the horizon.
    pub fn next_at(&self) -> Option<Nanos> {
        (self.first != NEVER).then_some(self.first >> self.shift)
    }

    /// Sets the event of a seat that has none.
    #[inline(always)]
    pub fn set(&mut self, kind: EventKind, seat: u32, at: Nanos) {
        debug_assert!(at <= latest(self.shift));
        if CHECKED {
            self.require_taken(seat);
        }
        let key = at << self.shift | u64::from(seat);
        self.lanes[kind as usize].add(key);
        (self.first, self.kind) = earlier((self.first, self.kind), (key, kind));
    }

    /// Sets or moves the event of a seat. All instants without a valid key are treated alike: they lie beyond the
    /// horizon.
    ///
    /// # Panics
    /// If the seat was not taken by [`Seats::take`].
    pub fn reset(&mut self, seat: u32, at: Nanos) {
        self.require_taken(seat);
        self.cancel(seat);
        self.set(EventKind::Other, seat, at.min(latest(self.shift)));
    }

    fn require_taken(&self, seat: u32) {
        assert!((seat as usize) < self.seats, "seat {seat} is not taken: there are {}", self.seats);
    }

    /// As [`Self::reset`], for a seat that has no event.
    #[inline]
    pub fn set_free(&mut self, seat: u32, at: Nanos) {
        debug_assert!(!self.lanes[EventKind::Other as usize].has(|key| key & self.mask == u64::from(seat)));
        self.set(EventKind::Other, seat, at.min(latest(self.shift)));
    }

    /// Advances to the next event, if there is one up to the horizon. Removes it; returns its time and its seat.
    #[inline(always)]
    pub fn next_event(&mut self) -> Option<(Nanos, u32)> {
        if self.first > self.last {
            return None;
        }
        let at = self.first >> self.shift;
        self.last_now = self.first | self.mask;
        self.now = at;
        Some((at, self.take_first()))
    }

    /// Whether another event lies at the present instant, that of the last [`Self::next_event`].
    #[inline(always)]
    pub fn any_now(&self) -> bool {
        self.first <= self.last_now
    }

    /// Removes the next event of this instant and returns its seat.
    #[inline(always)]
    pub(crate) fn next_now(&mut self) -> Option<u32> {
        if self.any_now() { Some(self.take_first()) } else { None }
    }

    #[inline(always)]
    fn take_first(&mut self) -> u32 {
        let seat = (self.first & self.mask) as u32;
        // A jump leads to the lane: a processor can foresee it. For an index into the lanes all that follows would wait.
        match self.kind {
            EventKind::Read => self.take_from::<{ EventKind::Read as usize }>(),
            EventKind::Program => self.take_from::<{ EventKind::Program as usize }>(),
            EventKind::Transfer => self.take_from::<{ EventKind::Transfer as usize }>(),
            EventKind::Bus => self.take_from::<{ EventKind::Bus as usize }>(),
            EventKind::Other => self.take_from::<{ EventKind::Other as usize }>(),
        }
        seat
    }

    /// Takes the first key of a lane. The lane is no argument: equal calls with different arguments could be joined to one, without
    /// the jump.
    #[inline(always)]
    fn take_from<const LANE: usize>(&mut self) {
        let mut firsts = self.firsts();
        firsts[LANE] = self.lanes[LANE].take_first();
        self.find_first(firsts);
    }

    /// Cancels the event of a seat that was set by [`Self::reset`], if it has one.
    pub fn cancel(&mut self, seat: u32) {
        let mask = self.mask;
        self.lanes[EventKind::Other as usize].take_back(|key| key & mask == u64::from(seat));
        self.find_first(self.firsts());
    }

    /// Cancels all events of the seats before this one.
    pub(crate) fn cancel_before(&mut self, seat: u32) {
        let is_before = |key: u64| key & self.mask < u64::from(seat);
        for lane in &mut self.lanes {
            while lane.has(is_before) {
                lane.take_back(is_before);
            }
        }
        self.find_first(self.firsts());
    }

    #[inline(always)]
    fn firsts(&self) -> [u64; KINDS] {
        std::array::from_fn(|lane| self.lanes[lane].first)
    }

    /// Finds the least of the lanes' first keys.
    #[inline(always)]
    fn find_first(&mut self, firsts: [u64; KINDS]) {
        let [a, b, c, d, e] = std::array::from_fn(|lane| (firsts[lane], EventKind::ALL[lane]));
        (self.first, self.kind) = earlier(earlier(earlier(a, b), earlier(c, d)), e);
    }
}

/// The lesser of two keys, and its lane.
#[inline(always)]
fn earlier(a: (u64, EventKind), b: (u64, EventKind)) -> (u64, EventKind) {
    if b.0 < a.0 { b } else { a }
}

/// The last instant with a valid key.
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
                    agenda.set(EventKind::ALL[kind], seat, at);
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
    #[should_panic(expected = "seat 5 is not taken")]
    fn no_event_is_set_for_a_seat_that_is_not_taken() {
        agenda(5, 10).set(EventKind::Read, 5, 7);
    }

    #[test]
    fn events_of_the_first_seats_are_cancelled() {
        let mut agenda = agenda(5, 10);
        for (kind, seat) in [(EventKind::Read, 0), (EventKind::Read, 1), (EventKind::Program, 2), (EventKind::Bus, 3)] {
            agenda.set(kind, seat, 7);
        }
        agenda.reset(4, 9);
        agenda.cancel_before(3);
        assert_eq!([agenda.next_event(), agenda.next_event(), agenda.next_event()], [Some((7, 3)), Some((9, 4)), None]);
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
