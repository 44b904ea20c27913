//! The power of a device in a simulation is lost, and comes back.

use super::sim::Sim;
use crate::connector::{AtEnd, Completion, Device, Seats, Status, Tag, Window, Workload};
use flashwatt_base::units::Nanos;

impl<W: Workload, D: Device> Sim<W, D> {
    /// The power is lost at the present time, and comes back at once. `come_back` takes the device, and gives the one that it is
    /// after that: it has the same seats, no request, and accounts that begin now.
    ///
    /// Requests in the device end as [`Status::PowerLost`], in the order of their arrivals. Figures and energy of both devices
    /// are those of one window. The device starts with the next step.
    pub fn lose_power(&mut self, come_back: impl FnOnce(&mut D, Nanos) -> D) {
        let now = self.agenda.now();
        let mut back = come_back(&mut self.device, now);
        let (window, _) = self.device.end_window(now, AtEnd::Deliver);
        self.before_cut = Some(self.whole_window(window));
        back.enrol(&mut Seats::default());
        self.device = back;
        self.agenda.cancel_before(self.seats.arrival);
        self.end_lost();
        self.ask = true;
    }

    /// A window of the device, with the part of it before the last power cut.
    pub(super) fn whole_window(&mut self, window: Window<D::Figures>) -> Window<D::Figures> {
        match self.before_cut.take() {
            Some(before) => before.then(&window),
            None => window,
        }
    }

    /// Ends the requests that were in the device.
    fn end_lost(&mut self) {
        let is_inside = |place: &u32| !self.free.contains(&Tag(*place));
        let mut lost: Vec<_> = (0..self.outstanding.len() as u32).filter(is_inside).collect();
        lost.sort_by_key(|&place| self.outstanding[place as usize].arrival_ns);
        self.requests_lost += lost.len() as u64;
        for place in lost {
            let tag = self.outstanding[place as usize].tag;
            self.workload.completed(&Completion { tag, status: Status::PowerLost }, self.agenda.now());
        }
        self.free = (0..self.outstanding.len() as u32).rev().map(Tag).collect();
    }

    /// Energy in J since the window began: of the device, and of those before power cuts.
    pub fn energy_j(&self) -> f64 {
        let before = self.before_cut.as_ref().and_then(|window| window.reading.as_ref());
        before.map_or(0.0, |reading| reading.energy_j) + self.device.so_far().0
    }
}
