//! What a device says of a run.

use super::DeviceReport;
use crate::config::Config;
use crate::connector::Device;
use crate::energy::Parts;
use crate::error::Error;
use crate::kernel::Outcome;

/// A device whose runs are reported.
pub trait Reported: Device {
    /// Its parts, by which a series is priced.
    fn parts(&self, config: &Config) -> Parts;

    /// Energy in J of a window by its figures, priced. The meter's reading must agree.
    fn energy_j(&self, config: &Config, figures: &Self::Figures) -> f64;

    /// Its part of a run's report.
    fn report(&self, config: &Config, outcome: &Outcome<Self::Figures>) -> DeviceReport;

    /// Compares accounts of a run that only this kind of device has. An error says which two disagree: the run has failed.
    fn audit(&self, _config: &Config, _outcome: &Outcome<Self::Figures>) -> Result<(), Error> {
        Ok(())
    }
}
