//! What a device records in the bins of a series beside its power.

use std::any::Any;

use flashwatt_base::units::Nanos;

/// Rows of a device's own figures, one for each bin of a series. [`Bins`](super::bins::Bins) says when a bin ends; only the device knows
/// what a row holds.
pub trait DeviceRows: Any + Send + Sync {
    /// Clears all rows and begins anew.
    fn restart(&mut self, now: Nanos);

    /// A bin ends at this time.
    fn close(&mut self, at: Nanos);

    /// Merges pairs of bins. An unpaired last one goes into the next.
    fn merge(&mut self);

    /// The recording ends. What happens at the very end of the last bin still counts in it, unless a new bin has begun.
    fn finish(&mut self, now: Nanos, in_a_new_bin: bool);

    /// Makes room for further bins, if there is memory for them, for the figures of all of them and for their text.
    fn grow(&mut self, bins: usize, more: usize) -> bool;

    /// A copy of the rows.
    fn copy(&self) -> Box<dyn DeviceRows>;
}

impl Clone for Box<dyn DeviceRows> {
    fn clone(&self) -> Self {
        self.as_ref().copy()
    }
}
