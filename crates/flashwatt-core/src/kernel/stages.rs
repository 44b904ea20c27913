//! The stages of a run: warm-up, the measured window, and the drain of the work still under way.

use super::settings::Span;
use super::stop::{Look, Verdict};
use super::{Completed, End, Outcome, Sim};
use crate::connector::{Device, Workload};
use crate::energy::window::{AtEnd, Window};

/// The present stage of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Warmup,
    Measured,
    Drain,
}

/// A finished stage: its window, and the requests completed in it.
pub(super) struct EndedStage<F> {
    pub stage: Stage,
    pub completed: Completed,
    pub window: Window<F>,
}

impl<W: Workload, D: Device> Sim<W, D> {
    pub(super) fn start_stage(&mut self, stage: Stage, span: Span) {
        self.stage = stage;
        self.left_in_stage = span.requests.unwrap_or(u64::MAX);
        self.left_after_look = 0;
        self.agenda.cancel(self.seats.stage_end);
        if let Some(ns) = span.ns {
            self.agenda.reset(self.seats.stage_end, self.agenda.now().saturating_add(ns));
        }
    }

    pub(super) fn next_stage(&mut self) {
        self.end_stage(self.count_drain && self.stage == Stage::Measured);
        match self.stage {
            Stage::Warmup => {
                self.window_begins();
                self.start_stage(Stage::Measured, self.measure);
                if let Some(first) = self.stop.as_ref().map(|stop| stop.first_look()) {
                    self.look_after(first);
                }
            }
            Stage::Measured => {
                self.host_ended = true;
                self.agenda.cancel(self.seats.arrival);
                self.start_stage(Stage::Drain, Span::default());
                self.device.drain(self.agenda.now());
                self.ask = true;
            }
            Stage::Drain => {}
        }
    }

    /// Ends the window of the current stage. Meter and recordings read on if the figures continue into the next stage.
    fn end_stage(&mut self, reads_on: bool) {
        let meter = match (reads_on, self.is_counted()) {
            (true, _) => AtEnd::ReadOn,
            (false, true) => AtEnd::Deliver,
            (false, false) => AtEnd::Restart,
        };
        let (window, series) = self.device.end_window(self.agenda.now(), meter);
        self.series = series.or(self.series.take());
        let window = self.whole_window(window);
        let completed = std::mem::take(&mut self.completed);
        self.ended_stages.push(EndedStage { stage: self.stage, completed, window });
    }

    /// Whether the current stage belongs to the figures.
    fn is_counted(&self) -> bool {
        match self.stage {
            Stage::Warmup => false,
            Stage::Measured => true,
            Stage::Drain => self.count_drain,
        }
    }

    pub(super) fn finish(mut self, mut end: End) -> (Outcome<D::Figures>, W, D) {
        if matches!(end, End::Complete) {
            end = self.device.rest().map_or_else(End::Failed, |()| End::Complete);
        }
        self.end_stage(false);
        let flash_operations = self.operations_ended();
        let (mut warmup, mut completed, mut drained): (Completed, _, _) = Default::default();
        let (mut warmed, mut measured, mut drain): (Window<_>, _, _) = Default::default();
        let mut has_warmed = false;
        for EndedStage { stage, completed: counts, window } in self.ended_stages {
            match stage {
                Stage::Warmup if has_warmed => (warmup, warmed) = (warmup.plus(&counts), warmed.then(&window)),
                Stage::Warmup => (warmup, warmed, has_warmed) = (counts, window, true),
                Stage::Measured => (completed, measured) = (counts, window),
                Stage::Drain => (drained, drain) = (counts, Some(window)),
            }
        }
        self.device.finish(self.agenda.now());
        let (series, taken, lost) = (self.series, self.requests_taken, self.requests_lost);
        let outcome =
            Outcome { warmed, warmup, measured, completed, drain, drained, flash_operations, series, taken, lost, end };
        (outcome, self.workload, self.device)
    }

    /// No event is left before the end of simulated time.
    #[cold]
    pub(super) fn nothing_more(&mut self) -> Result<(), End> {
        if let Some(fault) = self.fault.take() {
            return Err(End::Failed(fault));
        }
        self.agenda.next_at().map_or(Ok(()), |at| Err(End::Failed(self.beyond_time("device", at).into())))
    }

    /// The last request that the stage waits for has completed.
    pub(super) fn request_ends_stage(&mut self) {
        let drained = self.host_ended && self.is_quiet();
        if self.stage == Stage::Measured && !drained && self.stop.is_some() && self.goes_on() {
            return;
        }
        while self.stage != Stage::Drain && (drained || self.left_in_stage == 0) {
            self.next_stage();
        }
    }
    /// Lets the rule look again after this number of requests, or at the end of the stage.
    fn look_after(&mut self, requests: u64) {
        let left = self.left_in_stage.saturating_add(self.left_after_look);
        self.left_in_stage = requests.clamp(1, left.max(1));
        self.left_after_look = left.saturating_sub(self.left_in_stage);
    }

    /// Asks the rule, and returns whether the measured window goes on. At the window's bound the rule looks, too, but decides nothing.
    #[cold]
    fn goes_on(&mut self) -> bool {
        let Some(mut stop) = self.stop.take() else { return false };
        let now_ns = self.agenda.now();
        self.device.book(now_ns);
        let before = self.ended_stages.iter().map(|ended| ended.completed.write_bytes).sum();
        let verdict = stop.look(&Look {
            start_ns: self.window_ns,
            now_ns,
            written_before_bytes: before,
            completed: &self.completed,
            flash: self.device.flash_counts(),
            energy_j: self.device.so_far().0,
            is_last: self.left_after_look == 0,
        });
        self.stop = Some(stop);
        if self.left_after_look == 0 {
            return false;
        }
        match verdict {
            Verdict::GoOn(requests) => self.look_after(requests),
            Verdict::BeginAnew(requests) => {
                self.begin_anew();
                self.look_after(requests);
            }
            Verdict::End => {
                self.left_after_look = 0;
                return false;
            }
        }
        true
    }

    /// Makes what has been measured a part of the warm-up.
    fn begin_anew(&mut self) {
        let (window, _) = self.device.end_window(self.agenda.now(), AtEnd::Restart);
        let window = self.whole_window(window);
        let completed = std::mem::take(&mut self.completed);
        self.ended_stages.push(EndedStage { stage: Stage::Warmup, completed, window });
        self.window_begins();
    }

    /// Tells device and workload that the measured window begins.
    fn window_begins(&mut self) {
        self.window_ns = self.agenda.now();
        self.device.measured(self.agenda.now());
        self.workload.measured(self.agenda.now());
    }
}
