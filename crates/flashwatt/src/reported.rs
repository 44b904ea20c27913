//! What a run reports of an SSD, and how it audits one.

use crate::accounts::SsdFigures;
use crate::audit;
use crate::config::Config;
use crate::energy::price::price;
use crate::energy::{self, Parts, PriceTable};
use crate::error::Error;
use crate::host::{BlockLayer, Hosted};
use crate::kernel::Outcome;
use crate::probe::Probe;
use crate::report::{self, DeviceReport, HostReport, Reported};
use crate::ssd::{Ssd, Untimed};

impl<P: Probe> Reported for Ssd<P> {
    fn parts(&self, config: &Config) -> Parts {
        energy::ssd::parts(&PriceTable::new(&config.ssd().energy), self.firmware.blocks.geometry().dies)
    }

    fn energy_j(&self, config: &Config, figures: &SsdFigures) -> f64 {
        price(&figures.ledger, &PriceTable::new(&config.ssd().energy)).energy_j.total
    }

    fn report(&self, config: &Config, outcome: &Outcome<SsdFigures>) -> DeviceReport {
        report::ssd::report(config, outcome, &self.firmware, &self.flash.array)
    }

    fn audit(&self, config: &Config, outcome: &Outcome<SsdFigures>) -> Result<(), Error> {
        audit::ssd(outcome, &PriceTable::new(&config.ssd().energy), self.flash.array.erases_in_run())
    }
}

impl Reported for Untimed {
    fn parts(&self, config: &Config) -> Parts {
        energy::ssd::parts(&PriceTable::new(&config.ssd().energy), self.firmware().blocks.geometry().dies)
    }

    /// Nothing is charged: there is no time. The report has no figure of energy.
    fn energy_j(&self, _config: &Config, _figures: &SsdFigures) -> f64 {
        0.0
    }

    fn report(&self, config: &Config, outcome: &Outcome<SsdFigures>) -> DeviceReport {
        report::ssd::report(config, outcome, self.firmware(), self.array())
    }

    fn audit(&self, _config: &Config, outcome: &Outcome<SsdFigures>) -> Result<(), Error> {
        audit::untimed(outcome, self.array().erases_in_run())
    }
}

impl<D: Reported> Reported for BlockLayer<D> {
    fn parts(&self, config: &Config) -> Parts {
        self.device().parts(config)
    }

    fn energy_j(&self, config: &Config, figures: &Hosted<D::Figures>) -> f64 {
        self.device().energy_j(config, &figures.device)
    }

    fn report(&self, config: &Config, outcome: &Outcome<Hosted<D::Figures>>) -> DeviceReport {
        let (counted, _) = outcome.counted(config.run.count_drain);
        let host = config.host.as_ref().map(|host| Box::new(HostReport::new(host, &counted)));
        DeviceReport { host, ..self.device().report(config, &outcome.of_device()) }
    }

    fn audit(&self, config: &Config, outcome: &Outcome<Hosted<D::Figures>>) -> Result<(), Error> {
        self.device().audit(config, &outcome.of_device())?;
        audit::host(outcome)
    }
}
