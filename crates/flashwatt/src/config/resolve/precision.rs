//! `[run.measure]`: what is measured, and how well its figures are to be known.

use super::{COUNT_MAX, span};
use crate::config::raw;
use crate::config::{Config, Measure, Precision};
use crate::precision::Figure;
use flashwatt_base::settings::{Checker, field, unknown_name};

const TABLE: &str = "run.measure.precision";
const FIGURES: &str = "run.measure.precision.figures";
/// A figure to a hundredth of a percent takes 10^4 times the requests of one to a percent.
const RELATIVE_ERRORS: std::ops::RangeInclusive<f64> = 1e-4..=0.5;
const CONFIDENCES: std::ops::RangeInclusive<f64> = 0.5..=0.999;
/// What a run is asked for unless the configuration says it.
const RELATIVE_ERROR: f64 = 0.02;
const CONFIDENCE: f64 = 0.95;
const FIGURE: &str = "throughput.iops";

/// Bounds and precision. The table without a key asks for the throughput to 2 %.
pub(super) fn measure(c: &mut Checker, raw: &raw::Measure) -> Measure {
    let bounds = raw::Span { requests: raw.requests, seconds: raw.seconds };
    let span = span(c, "run.measure", &bounds, 1);
    let precision = precision(c, &raw.precision);
    Measure { span, precision: c.tree.get(TABLE).is_some().then_some(precision) }
}

fn precision(c: &mut Checker, raw: &raw::Precision) -> Precision {
    Precision {
        relative_error: c.number(field!(TABLE, raw.relative_error), RELATIVE_ERROR, RELATIVE_ERRORS),
        figures: figures(c, raw.figures.as_deref()),
        confidence: c.number(field!(TABLE, raw.confidence), CONFIDENCE, CONFIDENCES),
        least_requests: c.number(field!(TABLE, raw.least_requests), 1, 1..=COUNT_MAX),
    }
}

fn figures(c: &mut Checker, given: Option<&[String]>) -> Vec<Figure> {
    c.rules.default_is(FIGURES, &[FIGURE]);
    let default = [FIGURE.to_string()];
    let given = given.unwrap_or(&default);
    let keys = Figure::ALL.map(|figure| figure.key);
    let mut figures: Vec<Figure> = Vec::new();
    for key in given {
        match Figure::of_key(key) {
            None => c.push(unknown_name(c.fault(FIGURES, "no figure that a run can be ended by"), key, &keys)),
            Some(figure) if figures.contains(&figure) => {
                let fault = c.fault(FIGURES, "a figure is given twice").found(format!("{key:?}"));
                c.push(fault.expected("figures that differ"));
            }
            Some(figure) => figures.push(figure),
        }
    }
    if given.is_empty() {
        let fault = c.fault(FIGURES, "an empty list").found("[]");
        c.push(fault.expected("one figure or more, or no such table"));
    }
    figures
}

/// Refuses a precision where its figures have no meaning.
pub(super) fn can_be_judged(c: &mut Checker, config: &Config) {
    let Some(precision) = &config.run.measure.precision else { return };
    let has_flash_figures = config.drive.ssd().is_some();
    if !has_flash_figures && precision.figures.iter().any(|figure| figure.key == Figure::WRITE_AMPLIFICATION) {
        let fault = c.fault(FIGURES, "only the report of one SSD has this figure");
        let fault = fault.found(format!("{:?} of {}", Figure::WRITE_AMPLIFICATION, config.drive.kind()));
        c.push(fault.expected("figures of throughput, latency_ns, efficiency or power_w"));
    }
    let rivals = [
        (!config.run.replay.is_timed(), "run.replay = \"flashsim\", which has no clock", "run.replay = \"timed\""),
        (
            config.run.count_drain,
            "run.count_drain = true, which adds the drain to each figure",
            "run.count_drain = false",
        ),
        (
            config.run.power_cuts.is_some(),
            "run.power_cuts, whose cuts are drawn over a run of known length",
            "no power cuts",
        ),
    ];
    for (_, found, expected) in rivals.into_iter().filter(|(is_given, ..)| *is_given) {
        let fault = c.fault(TABLE, "a run cannot have both").found(found);
        c.push(fault.expected(format!("{expected}, or no such table")));
    }
}
