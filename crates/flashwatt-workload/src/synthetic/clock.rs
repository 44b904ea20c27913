//! Arrival times of requests: a closed loop; or an open loop of groups with gaps between them, optionally in phases and
//! on ticks.

use super::settings::{Arrivals, Gap, Group, Law, OpenLoop, Phases};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Next;

/// Decides when the next request arrives.
#[derive(Clone, Debug)]
pub enum Clock {
    /// Closed loop: as soon as fewer than `queue_depth` requests are outstanding.
    Closed {
        /// Requests under way at most.
        queue_depth: u64,
    },
    /// Open loop: at times that do not depend on completions.
    Open(Open),
}

impl Clock {
    /// A clock for these arrivals. An open loop draws its first gap from `rng` here.
    pub fn new(arrivals: &Arrivals, rng: &mut Rng) -> Self {
        match arrivals {
            Arrivals::Closed { queue_depth } => Clock::Closed { queue_depth: u64::from((*queue_depth).max(1)) },
            Arrivals::Open(open) => Clock::Open(Open::new(open, rng)),
        }
    }

    /// The most requests of a closed loop that are outstanding at a time.
    pub fn depth(&self) -> Option<u64> {
        match self {
            Clock::Closed { queue_depth } => Some(*queue_depth),
            Clock::Open(_) => None,
        }
    }

    /// The arrival time of the request that is due, in ns; if none is due, the answer for the loop: wait until a time,
    /// or for a completion.
    #[inline]
    pub fn take(&mut self, now: Nanos, outstanding: u64, rng: &mut Rng) -> Result<Nanos, Next> {
        match self {
            Clock::Closed { queue_depth } if outstanding >= *queue_depth => Err(Next::WaitForCompletion),
            Clock::Closed { .. } => Ok(now),
            Clock::Open(open) if open.due > now => Err(Next::WaitUntil(open.due)),
            Clock::Open(open) => Ok(open.take(rng)),
        }
    }
}

/// An open loop: groups of requests that arrive together, with gaps between the groups.
#[derive(Clone, Debug)]
pub struct Open {
    gaps: Gaps,
    group: Group,
    phases: Option<Pauses>,
    tick_ns: Nanos,
    /// Arrival time of the group before rounding to ticks.
    at: Nanos,
    /// Arrival time of the group: `at`, rounded up to a tick.
    due: Nanos,
    /// Requests of the group that are still to be issued.
    left: u64,
}

impl Open {
    /// With constant gaps the first group arrives at time 0, with exponential gaps after the first gap.
    fn new(cfg: &OpenLoop, rng: &mut Rng) -> Self {
        let gaps = Gaps::new(cfg.gap);
        let phases = cfg.phases.map(|phases| Pauses::new(phases, rng));
        let mut open =
            Open { gaps, group: cfg.group, phases, tick_ns: cfg.tick_ns.unwrap_or(1), at: 0, due: 0, left: 0 };
        match cfg.gap.law {
            Law::Constant => open.left = group_size(open.group, rng),
            Law::Exponential => open.next_group(rng),
        }
        open
    }

    #[inline]
    fn take(&mut self, rng: &mut Rng) -> Nanos {
        let due = self.due;
        self.left -= 1;
        if self.left == 0 {
            self.next_group(rng);
        }
        due
    }

    fn next_group(&mut self, rng: &mut Rng) {
        let gap = self.gaps.draw(rng);
        let pauses = self.phases.as_mut().map_or(0, |phases| phases.within(gap, rng));
        self.at = self.at.saturating_add(gap).saturating_add(pauses);
        self.due = self.at.checked_next_multiple_of(self.tick_ns).unwrap_or(Nanos::MAX);
        self.left = group_size(self.group, rng);
    }
}

/// Requests of the next group, at least 1. In a geometric group each request is followed by another one with
/// probability 1 − 1/mean.
fn group_size(group: Group, rng: &mut Rng) -> u64 {
    match group {
        Group::Fixed(requests) => requests.max(1),
        Group::Geometric { mean } if mean <= 1.0 => 1,
        Group::Geometric { mean } => 1 + (libm::log(1.0 - rng.f64()) / libm::log(1.0 - 1.0 / mean)) as u64,
    }
}

/// Draws the times between two successive events.
#[derive(Clone, Debug)]
pub struct Gaps {
    gap: Gap,
    /// Rounding error carried over to the next constant gap, −0.5 to 0.5.
    carry_ns: f64,
}

impl Gaps {
    /// Gaps drawn from this law.
    pub fn new(gap: Gap) -> Self {
        Gaps { gap, carry_ns: 0.0 }
    }

    /// The next gap in whole nanoseconds. The mean of many constant gaps is exact.
    #[inline]
    pub fn draw(&mut self, rng: &mut Rng) -> Nanos {
        match self.gap.law {
            Law::Exponential => exponential_ns(self.gap.mean_ns, rng),
            Law::Constant => {
                let exact = self.gap.mean_ns + self.carry_ns;
                let whole = libm::round(exact);
                self.carry_ns = exact - whole;
                whole as Nanos
            }
        }
    }
}

/// An exponentially distributed gap, rounded to whole nanoseconds. `libm`'s logarithm gives the same bits on every
/// machine.
fn exponential_ns(mean_ns: f64, rng: &mut Rng) -> Nanos {
    // 1 − u lies in (0, 1], so the logarithm is finite.
    (-libm::log(1.0 - rng.f64()) * mean_ns + 0.5) as Nanos
}

/// The pauses of an on/off source. Gaps count active time only; pauses are added to them.
#[derive(Clone, Debug)]
struct Pauses {
    on: Gaps,
    off: Gaps,
    /// Time left in the active phase.
    on_ns: Nanos,
}

impl Pauses {
    fn new(phases: Phases, rng: &mut Rng) -> Self {
        let (mut on, off) = (Gaps::new(phases.on), Gaps::new(phases.off));
        let on_ns = on.draw(rng);
        Pauses { on, off, on_ns }
    }

    /// Total length in ns of the pauses within the next `gap` ns of active time.
    fn within(&mut self, gap: Nanos, rng: &mut Rng) -> Nanos {
        let (mut rest, mut pauses): (Nanos, Nanos) = (gap, 0);
        while rest > self.on_ns {
            rest -= self.on_ns;
            self.on_ns = self.on.draw(rng);
            pauses = pauses.saturating_add(self.off.draw(rng));
        }
        self.on_ns -= rest;
        pauses
    }
}
