//! Steps of a simulation that its caller drives: the engine of a drive under the control of a program.

use super::outcome::{End, Outcome};
use super::settings::Span;
use super::sim::Sim;
use super::stages::Stage;
use crate::connector::{Agenda, Device, Workload};
use flashwatt_base::units::Nanos;

impl<W: Workload, D: Device> Sim<W, D> {
    /// Starts the run.
    pub fn begin(&mut self) {
        let (warmup, prepares) = (self.warmup, self.workload.prepares());
        self.start_stage(Stage::Warmup, if prepares { Span::default() } else { warmup });
        if warmup == Span::default() && !prepares {
            self.next_stage();
        }
    }

    /// Simulates up to and including a time. Stops earlier, after an instant at which `stop` returns true.
    // `stop` is no type parameter: the loop, with all of the device in it, would be compiled for each.
    pub fn advance(&mut self, until: Nanos, stop: &mut dyn FnMut(&W) -> bool) -> Result<(), End> {
        if until > self.agenda.horizon() {
            return Err(End::Failed(self.beyond_time("advance", until).into()));
        }
        self.settle_sent()?;
        while !stop(&self.workload) {
            if self.agenda.next_at().is_none_or(|at| at > until) {
                if until > self.agenda.now() {
                    self.agenda.pass_to(until);
                    self.device.pass_time(until);
                }
                break;
            }
            self.next_instant()?;
            self.settle()?;
        }
        self.device.book(self.agenda.now());
        Ok(())
    }

    /// Sends the device the command to sleep, behind the requests sent before. Returns whether it has such a state.
    pub fn sleep(&mut self) -> Result<bool, End> {
        self.settle_sent()?;
        let sleeps = self.device.sleep(self.agenda.now());
        self.settle()?;
        Ok(sleeps)
    }

    /// Time of the next event in ns, as far as is known now.
    #[inline]
    pub fn next_event_ns(&mut self) -> Result<Option<Nanos>, End> {
        self.settle_sent()?;
        Ok(self.agenda.next_at())
    }

    /// Processes the requests sent since the last instant.
    #[inline(always)]
    fn settle_sent(&mut self) -> Result<(), End> {
        if self.ask { self.settle() } else { Ok(()) }
    }

    /// Completes all work that is under way, and ends the run.
    pub fn end(mut self) -> (Outcome<D::Figures>, W, D) {
        let end = self.event_loop(&mut |_| true).err().unwrap_or(End::Complete);
        self.finish(end)
    }

    /// The simulated time in ns.
    pub fn now_ns(&self) -> Nanos {
        self.agenda.now()
    }

    /// The last instant that can be simulated, in ns.
    pub fn horizon_ns(&self) -> Nanos {
        self.agenda.horizon()
    }

    /// The workload.
    pub fn workload(&mut self) -> &mut W {
        &mut self.workload
    }

    /// The workload, to look at.
    pub fn peek_workload(&self) -> &W {
        &self.workload
    }

    /// Requests inside the device.
    pub fn requests_inside(&self) -> u32 {
        (self.outstanding.len() - self.free.len()) as u32
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The clock with all pending events, so that another simulation of the same device can go on from there.
    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// Goes on from the clock of another simulation. `go_on` brings the device to the state that goes with it.
    pub fn go_on_from(&mut self, agenda: &Agenda, go_on: impl FnOnce(&mut D)) {
        self.agenda.clone_from(agenda);
        go_on(&mut self.device);
    }

    /// Changes the device between two instants.
    pub fn change_device<T>(&mut self, change: impl FnOnce(&mut D) -> T) -> T {
        change(&mut self.device)
    }

    /// Notes that the workload was fed and may have a new request.
    pub fn wake(&mut self) {
        (self.is_fed, self.ask) = (true, true);
    }
}
