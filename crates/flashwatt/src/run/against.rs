//! A run and another one that it is compared with, in step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::RunOptions;
use crate::config::Config;
use crate::precision::{Compared, Meeting, Place, Rule};
use crate::report::Report;
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;

/// What ties a run to another one in step with it.
#[derive(Clone, Debug)]
pub struct Partner(Arc<Mutex<Tie>>);

struct Tie {
    place: Option<Place>,
    rule: Option<Rule>,
    has_begun: bool,
}

impl std::fmt::Debug for Tie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tie").finish_non_exhaustive()
    }
}

impl Partner {
    fn new(place: Place, has_begun: bool) -> Self {
        Partner(Arc::new(Mutex::new(Tie { place: Some(place), rule: None, has_begun })))
    }

    fn with<T>(&self, of: impl FnOnce(&mut Tie) -> T) -> T {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The run's place, which it takes once; and whether its window begins with it.
    pub(super) fn take_place(&self) -> Option<(Place, bool)> {
        self.with(|tie| Some((tie.place.take()?, tie.has_begun)))
    }

    /// Leaves the rule of the run that has ended.
    pub(super) fn leave(&self, rule: Rule) {
        self.with(|tie| tie.rule = Some(rule));
    }

    /// The rule that was left. The other run waits no longer, even if this one has never begun.
    fn end(&self) -> Option<Rule> {
        self.with(|tie| {
            tie.place = None;
            tie.rule.take()
        })
    }
}

/// Runs a configuration as [`crate::run()`], and beside it another one with the same draws. Both end when the differences of the
/// figures that `run.measure.precision` of the first asks for are known: [`Report::precision`] has them. The report is that of the first.
///
/// # Errors
/// As [`crate::run()`], for either; without that table, or with two seeds.
pub fn run_against(
    config: &Config,
    baseline: &Config,
    options: &RunOptions,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let baseline = &comparable(config, baseline)?;
    let has_begun = super::starts_settled(config) && super::starts_settled(baseline);
    let [own, other] = Meeting::places().map(|place| Partner::new(place, has_begun));
    let is_wanted = AtomicBool::new(true);
    let (report, rule, of_baseline, baseline_rule) = thread::scope(|scope| {
        let of_baseline = scope.spawn(|| {
            let options = RunOptions { partner: Some(other.clone()), ..RunOptions::default() };
            let done = crate::run(baseline, &options, &mut |_| is_wanted.load(Ordering::Relaxed));
            (done, other.end())
        });
        let report = crate::run(config, &RunOptions { partner: Some(own.clone()), ..options.clone() }, progress);
        let rule = own.end();
        is_wanted.store(is_complete(&report), Ordering::Relaxed);
        let (done, other) = of_baseline.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (report, rule, done, other)
    });
    let needs_baseline = is_complete(&report);
    let mut report = report?;
    match of_baseline {
        Err(error) if needs_baseline => return Err(error),
        Ok(other) if needs_baseline && other.status != "complete" => {
            report.fail(&format!("the run that it is compared with: {}", other.status));
        }
        _ => {}
    }
    if let (Some(rule), Some(of_baseline), Some(precision)) = (&rule, &baseline_rule, &mut report.precision) {
        precision.compare(rule, Compared::new(rule, of_baseline, baseline.sha256()));
        report.warnings.extend(precision.warning());
    }
    Ok(report)
}

fn is_complete(report: &Result<Report, Error>) -> bool {
    matches!(report, Ok(report) if report.status == "complete")
}

/// The baseline, judged by what the run is asked for.
fn comparable(config: &Config, baseline: &Config) -> Result<Config, Error> {
    let Some(precision) = &config.run.measure.precision else {
        let fault =
            Fault::key("run.measure.precision", "a difference is measured to a precision").found("no such table");
        return Err(fault.expected("run.measure.precision = { figures = [\"throughput.iops\"] }").into());
    };
    if config.run.seed != baseline.run.seed {
        let found = format!("{} and {}", config.run.seed, baseline.run.seed);
        let fault = Fault::key("run.seed", "runs that are compared draw alike").found(found);
        return Err(fault.expected("the same seed").into());
    }
    baseline.judged_by(precision)
}
