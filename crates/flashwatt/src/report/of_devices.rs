//! What a run reports of an SSD, and how it audits one.

use crate::any::{AnyDrive, AnyFigures};
use crate::config::Config;
use crate::report::array::{MEMBERS, members, of_member};
use crate::report::audit;
use crate::report::host::of_device;
use crate::report::{self, DeviceReport, HostReport, Recorded, Reported};
use flashwatt_base::error::Error;
use flashwatt_core::energy::bins::PowerSeries;
use flashwatt_core::energy::{Parts, Series};
use flashwatt_core::kernel::Outcome;
use flashwatt_devices::hdd::{Hdd, HddFigures};
use flashwatt_devices::raid::Raid;
use flashwatt_devices::raid::figures::RaidFigures;
use flashwatt_host::{BlockLayer, Hosted};
use flashwatt_ssd::drive::{Ssd, Untimed};
use flashwatt_ssd::energy::PriceTable;
use flashwatt_ssd::energy::parts::parts;
use flashwatt_ssd::energy::price::price;
use flashwatt_ssd::observe::accounts::SsdFigures;
use flashwatt_ssd::observe::probe::Probe;

impl<P: Probe> Reported for Ssd<P> {
    fn parts(&self, config: &Config) -> Parts {
        parts(&PriceTable::new(&config.ssd().energy), self.firmware.blocks.geometry().dies)
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
        parts(&PriceTable::new(&config.ssd().energy), self.firmware().blocks.geometry().dies)
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

impl Reported for AnyDrive {
    fn parts(&self, config: &Config) -> Parts {
        match self {
            AnyDrive::Ssd(drive) => drive.parts(config),
            AnyDrive::Hdd(drive) => Reported::parts(drive.as_ref(), config),
            AnyDrive::Array(drive) => drive.parts(config),
        }
    }

    fn recorded(&self, config: &Config, series: &Series) -> Recorded {
        match self {
            AnyDrive::Ssd(drive) => drive.recorded(config, series),
            AnyDrive::Hdd(drive) => drive.recorded(config, series),
            AnyDrive::Array(drive) => drive.recorded(config, series),
        }
    }

    fn energy_j(&self, config: &Config, figures: &AnyFigures) -> f64 {
        match (self, figures) {
            (AnyDrive::Ssd(drive), AnyFigures::Ssd(figures)) => drive.energy_j(config, figures),
            (AnyDrive::Hdd(drive), AnyFigures::Hdd(figures)) => drive.energy_j(config, figures),
            (AnyDrive::Array(drive), AnyFigures::Array(figures)) => drive.energy_j(config, figures),
            _ => 0.0,
        }
    }

    fn report(&self, config: &Config, outcome: &Outcome<AnyFigures>) -> DeviceReport {
        match self {
            AnyDrive::Ssd(drive) => drive.report(config, &outcome.with_figures(AnyFigures::ssd)),
            AnyDrive::Hdd(drive) => drive.report(config, &outcome.with_figures(AnyFigures::hdd)),
            AnyDrive::Array(drive) => drive.report(config, &outcome.with_figures(AnyFigures::array)),
        }
    }

    fn audit(&self, config: &Config, outcome: &Outcome<AnyFigures>) -> Result<(), Error> {
        match self {
            AnyDrive::Ssd(drive) => audit::energy(drive.as_ref(), config, &outcome.with_figures(AnyFigures::ssd)),
            AnyDrive::Hdd(drive) => audit::energy(drive.as_ref(), config, &outcome.with_figures(AnyFigures::hdd)),
            AnyDrive::Array(drive) => audit::energy(drive.as_ref(), config, &outcome.with_figures(AnyFigures::array)),
        }
    }
}

impl<D: Reported> Reported for Raid<D> {
    /// Its members are the components of its energy, and have states of their own.
    fn parts(&self, _config: &Config) -> Parts {
        Parts::new(&MEMBERS, 0)
    }

    fn recorded(&self, config: &Config, series: &Series) -> Recorded {
        let of_members = members(self, config).zip(&series.members);
        let priced = of_members.filter_map(|((place, device, config), series)| {
            Some((MEMBERS[place], device.recorded(&config, series).series?))
        });
        Recorded { series: PowerSeries::of_members(priced.collect()), edges: None }
    }

    fn energy_j(&self, config: &Config, figures: &RaidFigures<D::Figures>) -> f64 {
        let of_member = |place: usize| figures.members.get(place).and_then(Option::as_ref);
        let each = members(self, config)
            .filter_map(|(place, device, config)| Some(device.energy_j(&config, &of_member(place)?.window.figures)));
        each.sum()
    }

    fn report(&self, config: &Config, outcome: &Outcome<RaidFigures<D::Figures>>) -> DeviceReport {
        report::array::report(self, config, outcome)
    }

    fn audit(&self, config: &Config, outcome: &Outcome<RaidFigures<D::Figures>>) -> Result<(), Error> {
        members(self, config).try_for_each(|(place, device, config)| device.audit(&config, &of_member(outcome, place)))
    }
}

impl Reported for Hdd {
    fn parts(&self, _config: &Config) -> Parts {
        Hdd::parts(self).clone()
    }

    fn energy_j(&self, _config: &Config, figures: &HddFigures) -> f64 {
        self.accounts().energies(&figures.times).total
    }

    fn report(&self, config: &Config, outcome: &Outcome<HddFigures>) -> DeviceReport {
        report::hdd::report(self, config, outcome)
    }
}

impl<D: Reported> Reported for BlockLayer<D> {
    fn parts(&self, config: &Config) -> Parts {
        self.device().parts(config)
    }

    fn recorded(&self, config: &Config, series: &Series) -> Recorded {
        self.device().recorded(config, series)
    }

    fn energy_j(&self, config: &Config, figures: &Hosted<D::Figures>) -> f64 {
        self.device().energy_j(config, &figures.device)
    }

    fn report(&self, config: &Config, outcome: &Outcome<Hosted<D::Figures>>) -> DeviceReport {
        let (counted, _) = outcome.counted(config.run.count_drain);
        let host = config.host.as_ref().map(|host| Box::new(HostReport::new(host, &counted)));
        DeviceReport { host, ..self.device().report(config, &of_device(outcome)) }
    }

    fn audit(&self, config: &Config, outcome: &Outcome<Hosted<D::Figures>>) -> Result<(), Error> {
        self.device().audit(config, &of_device(outcome))?;
        audit::host(outcome)
    }
}
