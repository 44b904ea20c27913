//! A scrub after a power cut: the array reads all rows and writes anew what does not match.

use serde::Serialize;

use super::cut::ArrayCut;
use crate::crash::submitter::Submitter;
use crate::crash::trial::{Powered, Silence};
use crate::crash::witness::{Use, Witness};
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;
use flashwatt_core::kernel::settings::Stages;
use flashwatt_devices::raid::Raid;
use flashwatt_devices::raid::settings::Rebuild;
use flashwatt_ssd::drive::Ssd;

/// How fast a scrub goes through the rows: as a rebuild unless told otherwise. Linux's md driver has one rate for both (`sync_speed_max`).
const PACE: Rebuild = Rebuild { rate_mb_s: 200.0, depth: 8, finish: false };

/// What a scrub of the whole array takes when its members are back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scrub {
    /// Time in ns of the cut that it comes after.
    pub at_ns: Nanos,
    /// Rows that it reads, and finds to match or not.
    pub rows: u64,
    /// Bytes that it reads: all chunks of these rows.
    pub read_bytes: u64,
    /// Rows of which it writes something anew.
    pub repaired_rows: u64,
    /// Bytes of parity and of copies that it writes anew.
    pub written_bytes: u64,
    /// Its time in ns, from when the last member is back.
    pub scrub_ns: Nanos,
    /// Energy of all members in that time, in J.
    pub energy_j: f64,
}

impl Powered<Silence, Raid<Ssd<Witness>>> {
    /// Why nothing happens any more although the scrub has not ended.
    fn stuck(&self) -> Error {
        let mut drives = self.sim.device().devices().flatten();
        drives.next().map_or_else(|| unreachable!("an array has a drive"), Ssd::stuck)
    }
}

impl ArrayCut {
    /// Lets the array come back from a cut at a time, and scrubs it. Also returns the requests that each member got for that.
    ///
    /// # Errors
    /// If it does not end before the end of simulated time.
    pub fn scrub(&self, at_ns: Nanos, stages: Stages) -> Result<(Scrub, Vec<Vec<Request>>), Error> {
        let drives = self.remains.iter().map(|remains| remains.as_ref().map(|remains| remains.power_on(Use::GoesOn)));
        let raid = Raid::new(&self.layout, None, drives.collect()).recording();
        let silence = Submitter { inner: Silence, account: None };
        let mut powered = Powered::of(stages.without_end(), raid, silence);
        powered.sim.wake();
        let back_ns = self.outcome.cost.recovery_ns;
        powered.advance(back_ns)?;
        let before_j = powered.energy_j();
        powered.sim.change_device(|raid| raid.begin_scrub(&PACE, &self.repairs, back_ns));
        powered.sim.wake();
        powered.advance(back_ns)?;
        let end_ns = loop {
            match powered.sim.device().scrub_ended_ns() {
                Some(at) => break at,
                None if powered.step()? => {}
                None => return Err(powered.stuck()),
            }
        };
        let scrub = Scrub {
            at_ns,
            rows: self.layout.rows(),
            read_bytes: self.layout.member_bytes * u64::from(self.layout.members),
            repaired_rows: self.in_array.inconsistent_rows,
            written_bytes: self.in_array.inconsistent_bytes,
            scrub_ns: end_ns - back_ns,
            energy_j: powered.energy_j() - before_j,
        };
        Ok((scrub, powered.sim.device().received().into_iter().map(<[Request]>::to_vec).collect()))
    }
}
