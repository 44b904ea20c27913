//! Power cuts of arrays of SSDs: the members come back one by one, and a row that was being written may not match (the write hole).
//!
//! ```text
//! FollowedArray ── the array under its workload; Contents follow what its members hold (`contents.rs`)
//!    │ cut: each member leaves what a single drive does, and comes back as one
//! ArrayCut ── rows that do not match, and what that does to data (`hole.rs`)
//!    │ scrub: the array reads all rows and writes anew what does not match (`scrub.rs`)
//! ```

use std::sync::Arc;

use serde::Serialize;

use super::bugs::Bug;
use super::cuttable::PoweredDevice;
use super::submitter::Submitter;
use super::trial::{Powered, cuttable};
use super::witness::Witness;
use crate::config::{Array, Config, Precondition};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{AtEnd, Cx, Device, Request, Seats, Tag, Upcoming, Window, Workload};
use flashwatt_core::energy::Series;
use flashwatt_devices::raid::Raid;
use flashwatt_devices::raid::figures::RaidFigures;
use flashwatt_devices::raid::settings::Layout;
use flashwatt_ssd::drive::Ssd;

mod contents;
mod cut;
mod hole;
mod scrub;

use contents::Contents;
pub use cut::{ArrayCut, ScansOfMembers};
pub use hole::InArray;
pub use scrub::Scrub;

/// The array of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfArray {
    /// Where data lies.
    #[serde(flatten)]
    pub layout: Layout,
    /// Rows of one chunk of each member.
    pub rows: u64,
    /// Bytes that the host sees.
    pub logical_bytes: u64,
    /// The member that has failed, if any.
    pub failed_member: Option<u32>,
}

impl OfArray {
    /// That of a configuration.
    pub(super) fn new(array: &Array) -> Self {
        OfArray {
            rows: array.layout.rows(),
            logical_bytes: array.layout.logical_bytes(),
            failed_member: array.failed.as_ref().map(|failed| failed.member),
            layout: array.layout.clone(),
        }
    }
}

/// An array of SSDs whose power can be cut, with an account of what its members hold.
pub struct FollowedArray {
    raid: Raid<Ssd<Witness>>,
    contents: Contents,
}

impl FollowedArray {
    /// Where data lies.
    pub(super) fn layout(&self) -> &Layout {
        &self.contents.layout
    }

    fn follow(&mut self) {
        let events = self.raid.take_events();
        self.contents.follow(&events, self.raid.devices_mut());
    }
}

impl<W: Workload> Powered<W, FollowedArray> {
    /// The array of a configuration in its start state, at time 0, under a workload. With `record` it keeps the requests that its
    /// members get.
    ///
    /// # Errors
    /// As [`crate::run()`] before it starts; and if the power of this array cannot be cut.
    pub fn array(
        config: &Config,
        workload: W,
        record: bool,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Self, Error> {
        let config = config.with_power_cuts()?;
        let Some(array) = config.drive.array() else {
            let fault = Fault::key("array", "only an array has members").found("a configuration without [array]");
            return Err(fault.expected("[array]").into());
        };
        let (mut devices, mut unit_bytes) = (Vec::new(), Vec::new());
        for (place, drive) in array.places().enumerate() {
            let member = drive.map(|drive| {
                let of_drive = Arc::new(config.of_drive(drive).of_member(place));
                let (mut ssd, _) = cuttable(&of_drive, Bug::None, progress)?;
                ssd.flash.accounts.probe.follow_changes();
                unit_bytes.push(Some(of_drive.map_unit_bytes()));
                Ok::<_, Error>(ssd)
            });
            if member.is_none() {
                unit_bytes.push(None);
            }
            devices.push(member.transpose()?);
        }
        let failed = array.failed.as_ref().map(|failed| failed.member);
        let is_full = config.run.precondition != Precondition::Empty;
        let contents = Contents::new(&array.layout, failed, is_full, &unit_bytes);
        let raid = Raid::new(&array.layout, array.failed.as_ref(), devices).watched();
        let raid = if record { raid.recording() } else { raid };
        let submitter = Submitter { inner: workload, account: None };
        Ok(Powered::of(config.run.stages(), FollowedArray { raid, contents }, submitter))
    }

    /// The recorded requests of each member in order; none of a place without a drive.
    pub fn received(&self) -> Vec<&[Request]> {
        self.sim.device().raid.received()
    }
}

impl PoweredDevice for Raid<Ssd<Witness>> {
    fn ended(&self) -> u64 {
        self.devices().flatten().map(PoweredDevice::ended).sum()
    }

    fn under_way(&self) -> u32 {
        self.devices().flatten().map(PoweredDevice::under_way).sum()
    }
}

impl PoweredDevice for FollowedArray {
    fn ended(&self) -> u64 {
        self.raid.ended()
    }

    fn under_way(&self) -> u32 {
        PoweredDevice::under_way(&self.raid)
    }
}

/// The array does what it does without an account of it.
impl Device for FollowedArray {
    type Figures = RaidFigures<<Ssd<Witness> as Device>::Figures>;

    fn enrol(&mut self, seats: &mut Seats) {
        self.raid.enrol(seats);
    }

    fn room(&self) -> u32 {
        self.raid.room()
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        self.raid.submit(tag, request, cx);
    }

    fn pass_time(&mut self, now: Nanos) {
        self.raid.pass_time(now);
    }

    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        self.raid.event(seat, cx)
    }

    fn settle(&mut self, cx: &mut Cx) -> bool {
        let ended = self.raid.settle(cx);
        self.follow();
        ended
    }

    fn drain(&mut self, now: Nanos) {
        self.raid.drain(now);
    }

    fn rest(&mut self) -> Result<(), Error> {
        self.raid.rest()
    }

    fn prefetch(&self, upcoming: &Upcoming) {
        self.raid.prefetch(upcoming);
    }

    fn end_window(&mut self, now: Nanos, meter: AtEnd) -> (Window<Self::Figures>, Option<Box<Series>>) {
        self.raid.end_window(now, meter)
    }

    fn measured(&mut self, now: Nanos) {
        self.raid.measured(now);
    }

    fn finish(&mut self, now: Nanos) {
        self.raid.finish(now);
    }

    fn operations(&self) -> u64 {
        self.raid.operations()
    }

    fn operations_at_once(&self) -> u64 {
        self.raid.operations_at_once()
    }

    fn series_overflowed(&mut self) -> bool {
        self.raid.series_overflowed()
    }

    fn book(&mut self, now: Nanos) {
        self.raid.book(now);
    }

    fn so_far(&self) -> (f64, f64) {
        self.raid.so_far()
    }
}
