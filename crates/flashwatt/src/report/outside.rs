//! The warning about energy outside the figures of a run: that of a drain that is not counted.

/// The drain's share of the energy of window and drain above which the warning appears.
const OUTSIDE_MAX: f64 = 0.05;
/// The first words of the warning.
pub(crate) const OUTSIDE: &str = "the figures leave out work that went on after the window";

/// The warning, if needed. A counted drain is part of the window and needs none.
pub(crate) fn outside(window_j: f64, drain_j: f64, is_counted: bool) -> Option<String> {
    let share = drain_j / (window_j + drain_j);
    (!is_counted && share > OUTSIDE_MAX).then(|| {
        format!(
            "{OUTSIDE}: {:.0} % of the energy of window and drain was spent in the drain, on what was still \
             under way (run.count_drain = true includes it; a longer run makes it smaller)",
            100.0 * share
        )
    })
}
