//! The device's part in the report of a run.

use super::DeviceReport;
use crate::config::Config;
use flashwatt_base::error::Error;
use flashwatt_core::connector::Device;
use flashwatt_core::energy::bins::PowerSeries;
use flashwatt_core::energy::edges::CurrentEdges;
use flashwatt_core::energy::{Parts, Series};
use flashwatt_core::kernel::Outcome;
use flashwatt_ssd::energy::activity::{Activity, ActivitySeries};

/// A priced recording over time.
#[derive(Default)]
pub struct Recorded {
    /// Power in bins.
    pub series: Option<PowerSeries<ActivitySeries>>,
    /// Every edge of the current in a window.
    pub edges: Option<CurrentEdges>,
}

/// A device whose runs are reported.
pub trait Reported: Device {
    /// The device's parts, by which a series is priced.
    fn parts(&self, config: &Config) -> Parts;

    /// What a recording over time says, priced.
    fn recorded(&self, config: &Config, series: &Series) -> Recorded {
        let parts = self.parts(config);
        Recorded {
            series: series.bins.as_ref().map(|bins| bins.price(&parts).with(Activity::of(bins))),
            edges: series.edges.as_ref().map(|edges| edges.price(&parts)),
        }
    }

    /// Energy in J of a window, priced from its figures. The meter's reading must agree.
    fn energy_j(&self, config: &Config, figures: &Self::Figures) -> f64;

    /// The device's part of a run's report.
    fn report(&self, config: &Config, outcome: &Outcome<Self::Figures>) -> DeviceReport;

    /// Compares the accounts that only this kind of device has. An error names the two that disagree: the run has
    /// failed.
    fn audit(&self, _config: &Config, _outcome: &Outcome<Self::Figures>) -> Result<(), Error> {
        Ok(())
    }
}
