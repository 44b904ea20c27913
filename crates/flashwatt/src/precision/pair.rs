//! Two runs in step, which end when the differences of their figures are known.
//!
//! Both have the same seed, so they draw the same requests (common random numbers): what moves the figures of both does not move their
//! difference.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::estimate::{self, Estimate};
use super::figures::Seen;
use super::rule::{Judged, Rule, Shared, Stand, State};
use flashwatt_core::kernel::stop::{Look, Stop, Verdict};

/// Where two runs meet at the end of each batch.
#[derive(Default)]
pub(crate) struct Meeting {
    exchange: Mutex<Exchange>,
    changed: Condvar,
}

#[derive(Default)]
struct Exchange {
    /// What each run has brought, until the other one takes it.
    brought: [Option<Arc<Brought>>; 2],
    /// Runs that have ended.
    gone: [bool; 2],
}

/// What a run brings: nothing when it comes, and then how it stands and what it has seen.
#[derive(Default)]
struct Brought {
    state: State,
    seen: Vec<Option<Seen>>,
}

impl Meeting {
    /// The two places at a meeting: of the run, and of the run that it is compared with.
    pub(crate) fn places() -> [Place; 2] {
        let meeting = Arc::new(Meeting::default());
        [0, 1].map(|number| Place { meeting: Arc::clone(&meeting), number })
    }

    fn locked(&self) -> MutexGuard<'_, Exchange> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run's place at a meeting. Once it is dropped, the other run waits no longer.
pub(crate) struct Place {
    meeting: Arc<Meeting>,
    number: usize,
}

impl Place {
    /// Waits for the other run, and gives what it brought; none if that run has ended.
    fn exchange(&self, mine: Brought) -> Option<Arc<Brought>> {
        let (own, other) = (self.number, 1 - self.number);
        let mut state = self.wait(self.meeting.locked(), |state| state.brought[own].is_none());
        state.brought[own] = Some(Arc::new(mine));
        self.meeting.changed.notify_all();
        let mut state = self.wait(state, |state| state.brought[other].is_some());
        let theirs = state.brought[other].take();
        self.meeting.changed.notify_all();
        theirs
    }

    /// Waits until this holds, or the other run has ended.
    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, Exchange>,
        until: impl Fn(&Exchange) -> bool,
    ) -> MutexGuard<'a, Exchange> {
        let waits = |state: &mut Exchange| !until(state) && !state.gone[1 - self.number];
        self.meeting.changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.meeting.locked().gone[self.number] = true;
        self.meeting.changed.notify_all();
    }
}

/// The rule of one of two runs.
pub(crate) struct Half {
    /// Its own rule.
    pub rule: Shared,
    /// Its place.
    pub place: Place,
}

impl Half {
    /// The differences of the run from the other one.
    fn differences(&self, mine: &[Option<Seen>], theirs: &[Option<Seen>]) -> Vec<Option<Judged>> {
        let confidence = self.rule.rule().asked().confidence;
        let (run, baseline) = if self.place.number == 0 { (mine, theirs) } else { (theirs, mine) };
        differences(run, baseline, confidence)
    }
}

impl Stop for Half {
    fn first_look(&self) -> u64 {
        self.rule.first_look()
    }

    /// Both runs come to the same verdict: they have the same batches, and see the same differences.
    fn look(&mut self, look: &Look<'_>) -> Verdict {
        if self.place.exchange(Brought::default()).is_none() {
            return Verdict::End;
        }
        let (state, seen) = self.rule.rule().add(look);
        let Some(theirs) = self.place.exchange(Brought { state, seen: seen.clone() }) else { return Verdict::End };
        let both = state.with(theirs.state);
        let judged = if both.stand == Stand::Ready { self.differences(&seen, &theirs.seen) } else { Vec::new() };
        self.rule.rule().decide(look, both, &judged)
    }
}

/// The differences of the figures of two runs with equal batches.
fn differences(run: &[Option<Seen>], baseline: &[Option<Seen>], confidence: f64) -> Vec<Option<Judged>> {
    let of = |(run, baseline): (&Option<Seen>, &Option<Seen>)| {
        let (run, baseline) = (run.as_ref()?, baseline.as_ref()?);
        let pairs = run.influence.iter().zip(&baseline.influence);
        let influence: Vec<_> = pairs.map(|(run, baseline)| run - baseline).collect();
        let is_known = run.estimate.upper.is_finite() && baseline.estimate.upper.is_finite();
        let half = if is_known { estimate::half_width(&influence, confidence) } else { f64::INFINITY };
        let value = run.estimate.value - baseline.estimate.value;
        let estimate = Estimate { value, lower: value - half, upper: value + half };
        Some(Judged { influence, estimate, of: baseline.estimate.value })
    };
    run.iter().zip(baseline).map(of).collect()
}

/// What a run was compared with.
pub(crate) struct Compared {
    /// SHA-256 of its configuration.
    pub config_sha256: String,
    /// The differences; none if the two windows are too short, or differ.
    pub(super) differences: Option<Vec<Option<Judged>>>,
}

impl Compared {
    /// A run and what it was compared with, after both have ended.
    pub(crate) fn new(run: &Rule, baseline: &Rule, config_sha256: String) -> Self {
        let has_batches = run.shape() == baseline.shape() && run.has_enough();
        let differences = has_batches.then(|| differences(&run.seen(), &baseline.seen(), run.asked().confidence));
        Compared { config_sha256, differences }
    }
}
