//! The section of a report that says how well its figures are known.

use serde::Serialize;

use super::pair::Compared;
use super::rule::{Judged, Rule};
use flashwatt_core::kernel::End;

/// How well the figures are known that a run was asked for, and why it ended.
#[derive(Clone, Debug, Serialize)]
pub struct PrecisionReport {
    /// Why the run ended.
    pub ended_by: EndedBy,
    /// The precision that was asked for: half the width of an interval as a share of the figure.
    pub relative_error: f64,
    /// The share of all runs, each with another seed, whose interval holds the figure of an endless run.
    pub confidence: f64,
    /// The figures in the order in which they were asked for; none if the window is too short for an interval.
    pub figures: Option<Vec<PreciseFigure>>,
    /// Batches of equal numbers of requests that the intervals are computed from.
    pub batches: usize,
    /// Requests of a batch.
    pub batch_requests: u64,
    /// The warm-up that was found, after the one that the configuration asks for.
    pub found_warmup: FoundWarmup,
    /// The differences from the run that this one was compared with; none if it ran alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
}

/// The run that another one was compared with.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// SHA-256 of its configuration.
    pub config_sha256: String,
    /// The differences in the order in which figures were asked for; none if a window is too short for an interval.
    pub differences: Option<Vec<Difference>>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// All figures are as precise as was asked for.
    Precision,
    /// It came to the requests or seconds of `run.measure`, or the workload ended.
    Bound,
    /// It was stopped, or failed.
    Other,
}

/// A figure with its confidence interval.
#[derive(Clone, Debug, Serialize)]
pub struct PreciseFigure {
    /// Its key in the report.
    pub key: &'static str,
    /// Its value.
    pub value: f64,
    /// Lower end of its interval; none if the window is too short for it.
    pub lower: Option<f64>,
    /// Upper end of its interval; none if the window is too short for it.
    pub upper: Option<f64>,
    /// Half the width of its interval, the wider side, as a share of the value; none without an interval.
    pub relative_error: Option<f64>,
}

/// The difference of a figure from that of the other run.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Its key in both reports.
    pub key: &'static str,
    /// The value of the other run.
    pub baseline: f64,
    /// The value of this run less the value of the other one.
    pub value: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end of its interval.
    pub upper: f64,
    /// Half the width of its interval as a share of the value of the other run.
    pub relative_error: f64,
}

/// A warm-up that was found.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FoundWarmup {
    /// Its requests.
    pub requests: u64,
    /// Of these, the requests until the start state was worn off: until the range of the workload was written twice.
    pub turnover_requests: u64,
    /// Number of times that the window began anew because a figure drifted.
    pub drifts: u64,
}

impl PrecisionReport {
    /// What a rule knows at the end of its run.
    pub(crate) fn new(rule: &Rule, end: &End) -> Self {
        let (batches, batch_requests) = rule.shape();
        let ended_by = match end {
            End::Complete if rule.has_ended => EndedBy::Precision,
            End::Complete => EndedBy::Bound,
            _ => EndedBy::Other,
        };
        PrecisionReport {
            ended_by,
            relative_error: rule.asked().relative_error,
            confidence: rule.asked().confidence,
            figures: rule.has_enough().then(|| figures(rule)),
            batches,
            batch_requests,
            found_warmup: FoundWarmup {
                requests: rule.warmup.requests,
                turnover_requests: rule.warmup.turnover_requests,
                drifts: rule.warmup.drifts,
            },
            against: None,
        }
    }

    /// Adds the differences from another run.
    pub(crate) fn compare(&mut self, rule: &Rule, compared: Compared) {
        let Compared { config_sha256, differences } = compared;
        let differences = differences.map(|judged| self::differences(rule, &judged));
        self.against = Some(Against { config_sha256, differences });
    }

    /// The warning about figures that are less precise than was asked for.
    pub(crate) fn warning(&self) -> Option<String> {
        if self.ended_by != EndedBy::Bound {
            return None;
        }
        let asked = self.relative_error;
        let wanted =
            "run.measure.precision ends the run when they are (raise run.measure or the requests of the workload)";
        let Some(figures) = &self.figures else {
            return Some(format!(
                "the run ended before its figures were known to {}: it has no interval; {wanted}",
                percent(asked)
            ));
        };
        let found = |key: &str, error: Option<f64>| match error {
            Some(error) => format!("{key} to {}", percent(error)),
            None => format!("{key} to no interval"),
        };
        let is_wide = |error: Option<f64>| error.is_none_or(|error| error > asked);
        let differences = self.against.iter().flat_map(|against| against.differences.iter().flatten());
        let wide: Vec<_> = match &self.against {
            None => figures.iter().map(|figure| (figure.key, figure.relative_error)).collect(),
            Some(_) => {
                differences.map(|difference| (difference.key, Some(difference.relative_error))).collect::<Vec<_>>()
            }
        };
        let wide: Vec<_> =
            wide.into_iter().filter(|(_, error)| is_wide(*error)).map(|(key, error)| found(key, error)).collect();
        let known = if wide.is_empty() {
            "the window is too short to judge them".to_string()
        } else {
            format!("known is {}", wide.join(", "))
        };
        Some(format!("the run ended before its figures were known to {}: {known}; {wanted}", percent(asked)))
    }
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.2} %", share * 100.0) } else { "no value".to_string() }
}

fn figures(rule: &Rule) -> Vec<PreciseFigure> {
    let seen = rule.figures().iter().zip(rule.seen());
    let known = seen.filter_map(|(figure, seen)| {
        let estimate = seen?.estimate;
        let estimate = rule.widened(estimate, estimate.value);
        let finite = |value: f64| Some(value).filter(|_| estimate.upper.is_finite());
        Some(PreciseFigure {
            key: figure.key,
            value: estimate.value,
            lower: finite(estimate.lower),
            upper: finite(estimate.upper),
            relative_error: Some(estimate.relative_to(estimate.value)).filter(|error| error.is_finite()),
        })
    });
    known.collect()
}

fn differences(rule: &Rule, judged: &[Option<Judged>]) -> Vec<Difference> {
    let known = rule.figures().iter().zip(judged).filter_map(|(figure, judged)| {
        let Judged { estimate, of, .. } = judged.as_ref()?;
        let estimate = rule.widened(*estimate, *of);
        let is_known = estimate.upper.is_finite() && *of != 0.0;
        is_known.then(|| Difference {
            key: figure.key,
            baseline: *of,
            value: estimate.value,
            lower: estimate.lower,
            upper: estimate.upper,
            relative_error: estimate.relative_to(*of),
        })
    });
    known.collect()
}
