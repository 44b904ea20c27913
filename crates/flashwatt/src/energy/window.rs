//! A window of a run, and what a device did in it.

use super::meter::Reading;
use crate::units::Nanos;

/// What becomes of the meter and of what it recorded over time when a window of the run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtEnd {
    /// It reads on into the next window.
    ReadOn,
    /// It is read and restarts.
    Restart,
    /// It is read and restarts; what it recorded is delivered.
    Deliver,
}

/// A window of a run: a stretch of simulated time, and the device's figures of it.
#[derive(Clone, Debug, Default)]
pub struct Window<F> {
    /// When it began.
    pub start_ns: Nanos,
    /// When it ended.
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

    /// Operations of the medium that have ended in the window.
    fn operations(&self) -> u64;
}

impl<F: Figures> Window<F> {
    /// This window and the next one as one. The meter must have read through both.
    #[must_use]
    pub fn plus(&self, next: &Self) -> Self {
        Window {
            start_ns: self.start_ns,
            end_ns: next.end_ns,
            reading: next.reading.clone().or_else(|| self.reading.clone()),
            figures: self.figures.plus(&next.figures),
        }
    }

    /// Its length.
    pub fn elapsed_ns(&self) -> Nanos {
        self.end_ns.saturating_sub(self.start_ns)
    }
}
