//! When a run has its figures: the rule that ends it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::batches::{Batches, LEAST, Totals};
use super::estimate::{Estimate, drifts};
use super::figures::{Figure, Seen};
use super::settling::Settling;
use crate::config::Precision;
use flashwatt_core::kernel::stop::{Look, Stop, Verdict};

/// Requests of a batch at the beginning of a window.
const BATCH_REQUESTS: u64 = 32;
/// The window is judged each time that it has grown by this factor: the more often, the more often an interval that is narrow by chance
/// would end the run.
const GROWTH: f64 = 1.25;
/// A window is at least this share of the warm-up that was found: a drift over as long a time would show in it.
const SHARE_OF_WARMUP: f64 = 0.5;
/// A window whose figures differ from those before it by more than this share of the precision has not settled, if they also differ by
/// more than this many half widths of its intervals: two independent stretches of one length do so in 3 % of cases.
const MOVED: f64 = 0.5;
const CHANCE: f64 = 1.5;
/// Quarters of a window that differ from it by less than this share of the precision do not drift.
const NEGLIGIBLE: f64 = 0.25;
/// No interval is narrower than this share of the precision that was asked for. What is slower than the window, or differs from seed to seed,
/// does not show in it: the phases of dies at a low load do both.
const NARROWEST: f64 = 0.5;

/// The rule of one run.
pub(crate) struct Rule {
    asked: Precision,
    settling: Settling,
    batches: Batches,
    /// Bytes that the host wrote, and pages programmed, since the window began.
    written_bytes: u64,
    programs: u64,
    /// Whether the window has begun: the start state is worn off.
    has_begun: bool,
    /// The figures of the stretch before the window.
    before: Vec<Option<f64>>,
    /// Requests of the window at which it is judged next.
    next_check: f64,
    /// The same for drifts, of a window that is not known well enough.
    next_drift_check: f64,
    pub(super) warmup: Warmup,
    pub(super) has_ended: bool,
}

/// What was found to be warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warmup {
    /// Its requests.
    pub requests: u64,
    /// Of these, the requests until the start state was worn off.
    pub turnover_requests: u64,
    /// Number of times that the window began anew because a figure drifted.
    pub drifts: u64,
}

/// A figure, or a difference of two, that a run is judged by.
pub(super) struct Judged {
    pub influence: Vec<f64>,
    pub estimate: Estimate,
    /// The value that the error is relative to.
    pub of: f64,
}

impl From<Seen> for Judged {
    fn from(Seen { estimate, influence }: Seen) -> Self {
        Judged { influence, of: estimate.value, estimate }
    }
}

/// How a run stands at a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stand {
    /// The start state is not worn off.
    #[default]
    Waits,
    /// It is, and the window has not begun.
    MayBegin,
    /// The window is too short, or was judged a short time ago.
    Short,
    /// The window can be judged.
    Ready,
}

/// What a run brings to a verdict besides its figures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    pub stand: Stand,
    /// The drive programs, and the workload only reads.
    pub has_work_left: bool,
    /// A figure differs from that of the stretch before the window.
    pub has_moved: bool,
}

impl State {
    /// What two runs in step bring together.
    pub(super) fn with(self, other: State) -> State {
        State {
            stand: self.stand.with(other.stand),
            has_work_left: self.has_work_left || other.has_work_left,
            has_moved: self.has_moved || other.has_moved,
        }
    }
}

impl Stand {
    fn with(self, other: Stand) -> Stand {
        match (self, other) {
            (Stand::Waits, _) | (_, Stand::Waits) => Stand::Waits,
            (Stand::MayBegin, _) | (_, Stand::MayBegin) => Stand::MayBegin,
            (Stand::Short, _) | (_, Stand::Short) => Stand::Short,
            (Stand::Ready, Stand::Ready) => Stand::Ready,
        }
    }
}

impl Rule {
    /// The rule of a run. `has_begun`: the window begins with the run, and not once its start state is worn off.
    pub(crate) fn new(asked: &Precision, settling: Settling, has_begun: bool) -> Self {
        Rule {
            batches: Batches::new(&asked.figures, BATCH_REQUESTS),
            asked: asked.clone(),
            settling,
            written_bytes: 0,
            programs: 0,
            has_begun,
            before: Vec::new(),
            next_drift_check: 0.0,
            next_check: 0.0,
            warmup: Warmup::default(),
            has_ended: false,
        }
    }

    /// The figures that the run was asked for.
    pub(super) fn figures(&self) -> &[Figure] {
        &self.asked.figures
    }

    pub(super) fn asked(&self) -> &Precision {
        &self.asked
    }

    /// Batches of the window, and requests of each.
    pub(super) fn shape(&self) -> (usize, u64) {
        (self.batches.len(), self.batches.requests)
    }

    /// Adds what a look shows, and says how the run stands and what its figures are.
    pub(super) fn add(&mut self, look: &Look<'_>) -> (State, Vec<Option<Seen>>) {
        let stand = self.stand_after(look);
        let seen = if stand == Stand::Ready { self.seen() } else { Vec::new() };
        let has_work_left = self.settling.only_reads && self.programs > 0;
        (State { stand, has_work_left, has_moved: self.has_moved(&seen) }, seen)
    }

    fn stand_after(&mut self, look: &Look<'_>) -> Stand {
        (self.written_bytes, self.programs) = (look.completed.write_bytes, look.flash.programs);
        let totals = Totals::new(look, self.settling.page_bytes as f64);
        self.batches.end(&self.asked.figures, look, totals);
        let requests = self.batches.totals().requests;
        if !self.has_begun {
            let may_begin = self.settling.may_begin(look.written_before_bytes + self.written_bytes, requests as u64);
            return if may_begin { Stand::MayBegin } else { Stand::Waits };
        }
        let is_ready = self.has_enough() && requests >= self.next_check && self.is_long_enough(requests);
        if is_ready { Stand::Ready } else { Stand::Short }
    }

    /// The verdict, from how it stands and what it is judged by.
    pub(super) fn decide(&mut self, look: &Look<'_>, state: State, judged: &[Option<Judged>]) -> Verdict {
        match state.stand {
            _ if look.is_last => Verdict::End,
            Stand::MayBegin => {
                self.has_begun = true;
                self.warmup.turnover_requests = self.batches.totals().requests as u64;
                self.anew()
            }
            Stand::Waits | Stand::Short => Verdict::GoOn(self.batches.requests),
            Stand::Ready => self.judge(state, judged),
        }
    }

    /// Whether the window has enough batches for intervals.
    pub(super) fn has_enough(&self) -> bool {
        self.batches.len() >= LEAST
    }

    fn is_long_enough(&self, requests: f64) -> bool {
        let done = requests as u64;
        let suffices = |figure: &Figure| self.settling.suffices(figure, self.written_bytes, done);
        done >= self.settling.least_requests
            && requests >= SHARE_OF_WARMUP * self.warmup.requests as f64
            && self.asked.figures.iter().all(suffices)
    }

    /// What the batches say of each figure; none of a figure that has nothing to say.
    pub(super) fn seen(&self) -> Vec<Option<Seen>> {
        let of = |(place, figure)| Seen::of(figure, place, &self.batches, self.asked.confidence);
        self.asked.figures.iter().enumerate().map(of).collect()
    }

    /// The verdict on this run's figures, or on their differences.
    fn judge(&mut self, state: State, judged: &[Option<Judged>]) -> Verdict {
        let requests = self.batches.totals().requests;
        self.next_check = requests * GROWTH;
        let precise = judged.iter().all(|judged| judged.as_ref().is_some_and(|judged| self.is_precise(judged)));
        if !precise && requests < self.next_drift_check {
            return Verdict::GoOn(self.batches.requests);
        }
        self.next_drift_check = 2.0 * requests;
        let has_drifted = judged.iter().flatten().any(|judged| self.has_drifted(judged));
        if state.has_work_left || has_drifted || (precise && state.has_moved) {
            self.warmup.drifts += 1;
            return self.anew();
        }
        if precise {
            self.has_ended = true;
            return Verdict::End;
        }
        Verdict::GoOn(self.batches.requests)
    }

    /// Whether the interval is as narrow as was asked for.
    pub(super) fn is_precise(&self, judged: &Judged) -> bool {
        judged.estimate.relative_to(judged.of) <= self.asked.relative_error
    }

    /// The interval, not narrower than is credible.
    pub(super) fn widened(&self, estimate: Estimate, of: f64) -> Estimate {
        let least = NARROWEST * self.asked.relative_error * of.abs();
        let Estimate { value, lower, upper } = estimate;
        Estimate { value, lower: lower.min(value - least), upper: upper.max(value + least) }
    }

    fn has_drifted(&self, judged: &Judged) -> bool {
        drifts(&judged.influence, NEGLIGIBLE * self.asked.relative_error * judged.of.abs())
    }

    /// Whether a figure differs from that of the stretch before the window, by more than half of the precision and more than chance.
    fn has_moved(&self, seen: &[Option<Seen>]) -> bool {
        let differs = |(before, seen): (&Option<f64>, &Option<Seen>)| {
            let (Some(before), Some(seen)) = (before, seen) else { return false };
            let value = seen.estimate.value;
            let half = (seen.estimate.upper - value).max(value - seen.estimate.lower);
            (before - value).abs() > (MOVED * self.asked.relative_error * value.abs()).max(CHANCE * half)
        };
        self.before.iter().zip(seen).any(differs)
    }

    /// Takes the window for warm-up.
    fn anew(&mut self) -> Verdict {
        self.warmup.requests += self.batches.totals().requests as u64;
        (self.next_check, self.next_drift_check) = (0.0, 0.0);
        let figures = self.asked.figures.iter().enumerate();
        self.before = figures.map(|(place, figure)| self.batches.second_half(figure, place)).collect();
        self.batches.begin_anew(BATCH_REQUESTS);
        Verdict::BeginAnew(BATCH_REQUESTS)
    }

    pub(super) fn first_look(&self) -> u64 {
        self.batches.requests
    }
}

/// A rule that its run and the report share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Rule>>);

impl Shared {
    pub(crate) fn new(rule: Rule) -> Self {
        Shared(Arc::new(Mutex::new(rule)))
    }

    /// The rule, which no other thread uses at this time.
    pub(crate) fn rule(&self) -> MutexGuard<'_, Rule> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rule, once its run has ended.
    pub(crate) fn into_rule(self) -> Option<Rule> {
        Arc::into_inner(self.0)?.into_inner().ok()
    }
}

impl Stop for Shared {
    fn first_look(&self) -> u64 {
        self.rule().first_look()
    }

    fn look(&mut self, look: &Look<'_>) -> Verdict {
        let mut rule = self.rule();
        let (state, seen) = rule.add(look);
        let judged: Vec<_> = seen.into_iter().map(|seen| seen.map(Judged::from)).collect();
        rule.decide(look, state, &judged)
    }
}
