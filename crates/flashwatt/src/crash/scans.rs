//! Scans of all spare areas, of which one is simulated for all cuts of a drive.
//!
//! Without a checkpoint a recovery begins with a scan that reads the spare areas of all pages, whatever they hold. So the scan takes the
//! same time and energy after each cut, and leaves the same queues. What it finds is another matter: tables are rebuilt after each cut
//! (`remains.rs`). The tests compare recoveries whose scan was skipped with ones that simulate all of it.

use super::remains::Remains;
use super::trial::{Cost, Powered, Silence, until_recovered};
use super::witness::{Use, Witness};
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Agenda;
use flashwatt_ssd::drive::Scanned;

/// The scan of all spare areas of a drive, when one has been simulated.
#[derive(Default)]
pub struct Scans {
    scan: Option<Scan>,
}

struct Scan {
    agenda: Agenda,
    scanned: Scanned<Witness>,
}

impl Scans {
    /// The drive that comes back from a cut, when it has read the spare areas of all pages, if it does that.
    ///
    /// # Errors
    /// If the simulated time comes to its end.
    pub(super) fn come_back(&mut self, remains: &Remains, use_after: Use) -> Result<Powered<Silence>, Error> {
        let mut drive = remains.power_on(use_after);
        let reads_all = drive.wait_after_scan();
        let mut powered = Powered::alone(remains.config.run.stages(), drive);
        match &self.scan {
            _ if !reads_all => {}
            Some(scan) => {
                powered.sim.go_on_from(&scan.agenda, |drive| {
                    let pages = drive.skip_scan(&scan.scanned);
                    drive.flash.accounts.probe.skipped(pages);
                });
            }
            None => self.scan = Some(Scan::simulated(&mut powered)?),
        }
        powered.sim.wake();
        Ok(powered)
    }

    /// What a second cut leaves, at this time after the power is back from the first one.
    ///
    /// # Errors
    /// If the simulated time comes to its end.
    pub(super) fn cut_again(&mut self, remains: &Remains, after_ns: Nanos) -> Result<Remains, Error> {
        let scan_ends = self.scan.as_ref().map_or(0, |scan| scan.agenda.now());
        if after_ns < scan_ends {
            let mut drive = remains.power_on(Use::GoesOn);
            if drive.wait_after_scan() {
                return Ok(Witness::cut(&drive, after_ns)); // a drive that reads has changed nothing yet
            }
        }
        let mut powered = match scan_ends <= after_ns {
            true => self.come_back(remains, Use::GoesOn)?,
            false => Powered::recovering(remains), // it has a checkpoint
        };
        powered.advance(after_ns)?;
        Ok(powered.cut())
    }
}

impl Scan {
    /// Simulates the scan of a drive that waits after it.
    fn simulated(powered: &mut Powered<Silence>) -> Result<Self, Error> {
        loop {
            let goes_on = powered.step()?;
            if let Some(scanned) = powered.sim.change_device(|drive| drive.go_on_after_scan()) {
                return Ok(Scan { agenda: powered.sim.agenda().clone(), scanned });
            }
            if !goes_on {
                return Err(powered.drive().stuck());
            }
        }
    }
}

/// As [`come_back`](super::come_back), of one of many cuts of a drive: they share the scan of its spare areas.
///
/// # Errors
/// As [`come_back`](super::come_back).
pub fn come_back_by(remains: &Remains, scans: &mut Scans) -> Result<(Cost, Powered<Silence>), Error> {
    until_recovered(scans.come_back(remains, Use::LookedAt)?)
}
