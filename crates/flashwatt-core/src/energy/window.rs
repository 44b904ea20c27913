//! A window of a run, and the device's figures of it.

use super::meter::Reading;
use flashwatt_base::units::Nanos;

/// Treatment of the meter and its recordings at the end of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtEnd {
    /// The meter reads on into the next window.
    ReadOn,
    /// The meter is read and restarts.
    Restart,
    /// The meter is read and restarts, and its recordings are returned.
    Deliver,
}

/// A window of a run: a stretch of simulated time, and the device's figures of it.
#[derive(Clone, Debug, Default)]
pub struct Window<F> {
    /// Start of the window.
    pub start_ns: Nanos,
    /// End of the window.
    pub end_ns: Nanos,
    /// The meter's reading since it last restarted; none if the meter reads on.
    pub reading: Option<Reading>,
    /// The device's figures.
    pub figures: F,
}

/// A device's figures of a window: counts, and time by state.
pub trait Figures: Clone + Default {
    /// The figures of this window and of the next one together.
    #[must_use]
    fn plus(&self, next: &Self) -> Self;

    /// Operations of the medium that ended in the window.
    fn operations(&self) -> u64;
}

/// No figures: a window that keeps its times and the meter's reading.
impl Figures for () {
    fn plus(&self, _next: &Self) -> Self {}

    fn operations(&self) -> u64 {
        0
    }
}

impl<F> Window<F> {
    /// The window with other figures.
    pub fn map<G>(self, figures: impl FnOnce(F) -> G) -> Window<G> {
        let Window { start_ns, end_ns, reading, figures: of } = self;
        Window { start_ns, end_ns, reading, figures: figures(of) }
    }
}

impl<F: Figures> Window<F> {
    /// The union of this window and the next one. The meter must have read through both.
    #[must_use]
    pub fn plus(&self, next: &Self) -> Self {
        Window {
            start_ns: self.start_ns,
            end_ns: next.end_ns,
            reading: next.reading.clone().or_else(|| self.reading.clone()),
            figures: self.figures.plus(&next.figures),
        }
    }

    /// The union of this window and the next one, where the meter was read in between.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let reading = match (&self.reading, &next.reading) {
            (Some(this), Some(next)) => Some(this.plus(next)),
            (this, next) => next.clone().or_else(|| this.clone()),
        };
        Window { reading, ..self.plus(next) }
    }

    /// Length of the window in ns.
    pub fn elapsed_ns(&self) -> Nanos {
        self.end_ns.saturating_sub(self.start_ns)
    }
}
