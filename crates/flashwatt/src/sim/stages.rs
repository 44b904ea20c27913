//! The stages of a run: warm-up, the measured window, and the drain of what is still under way then.

use super::{End, Outcome, Sim};
use crate::books::Books;
use crate::brain::Brain;
use crate::config::Span;
use crate::device::Array;
use crate::error::{Error, Fault};
use crate::probe::Probe;
use crate::units::Nanos;

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Warmup,
    Measured,
    Drain,
}

impl<P: Probe> Sim<'_, P> {
    pub(super) fn start_stage(&mut self, stage: Stage, span: Span) {
        self.stage = stage;
        self.left_in_stage = span.requests.unwrap_or(u64::MAX);
        self.controller.events.cancel(self.events.stage_end);
        if let Some(ns) = span.ns {
            self.controller.events.reset(self.events.stage_end, self.now.saturating_add(ns));
        }
    }

    pub(super) fn next_stage(&mut self) {
        self.end_stage(self.count_drain && self.stage == Stage::Measured);
        match self.stage {
            Stage::Warmup => {
                self.hw.books.probe.restarted(self.now);
                self.start_stage(Stage::Measured, self.measure);
            }
            Stage::Measured => {
                self.hw.books.probe.drains(self.now);
                self.host_ended = true;
                self.controller.events.cancel(self.events.arrival);
                self.start_stage(Stage::Drain, Span::default());
                self.drain_buffer();
            }
            Stage::Drain => {}
        }
    }

    /// Closes the books of the current stage. Meter and series read on where the figures go on into the next stage.
    fn end_stage(&mut self, meter_reads_on: bool) {
        self.controller.cut(self.now, &mut self.hw);
        let window = self.hw.books.close(self.now, self.brain.blocks.all_free_blocks(), meter_reads_on);
        if self.is_counted() && !meter_reads_on {
            self.series = self.hw.books.take_series();
        }
        self.hw.books.restart(self.now, meter_reads_on);
        self.ended_stages.push((self.stage, std::mem::take(&mut self.completed), window));
    }

    /// Is what happens in the current stage part of the figures?
    fn is_counted(&self) -> bool {
        match self.stage {
            Stage::Warmup => false,
            Stage::Measured => true,
            Stage::Drain => self.count_drain,
        }
    }

    pub(super) fn finish(mut self, mut end: End) -> (Outcome, Books<P>, Brain, Array) {
        if matches!(end, End::Complete) {
            end = self.rest();
        }
        self.end_stage(false);
        let flash_operations = self.operations_ended();
        let (mut warmup, mut completed, mut drained) = Default::default();
        let (mut warmed, mut measured, mut drain) = Default::default();
        for (stage, counts, window) in self.ended_stages {
            match stage {
                Stage::Warmup => (warmup, warmed) = (counts, window),
                Stage::Measured => (completed, measured) = (counts, window),
                Stage::Drain => (drained, drain) = (counts, Some(window)),
            }
        }
        self.hw.books.probe.finish(self.now);
        (
            Outcome {
                warmed,
                warmup,
                measured,
                completed,
                drain,
                drained,
                flash_operations,
                series: self.series,
                taken: self.requests_taken,
                end,
            },
            self.hw.books,
            self.brain,
            self.hw.array,
        )
    }

    /// Nothing is going to happen any more, or only beyond the end of simulated time.
    #[cold]
    pub(super) fn nothing_more(&self) -> Result<(), End> {
        self.controller.events.next_at().map_or(Ok(()), |at| Err(End::Failed(self.beyond_time("device", at))))
    }

    /// Something would happen at an instant beyond the last that can be simulated.
    #[cold]
    pub(super) fn beyond_time(&self, key: &str, at: Nanos) -> Error {
        let horizon = self.controller.events.horizon();
        let fault = Fault::key(key, "the run reaches beyond the end of simulated time")
            .found(format!("an event at {at} ns"))
            .expected(format!("at most {horizon} ns on a drive of {} dies", self.geometry.dies));
        Error::from(fault)
    }

    /// Nothing is going to happen any more: is everything done?
    pub(super) fn rest(&mut self) -> End {
        let buffer_is_empty = self.buffered.as_ref().is_none_or(|buffered| buffered.is_empty());
        if self.free.len() < self.requests.len() || !buffer_is_empty {
            let has_no_room = !self.stalled.is_empty() || self.buffered.as_ref().is_some_and(|b| b.has_no_room());
            assert!(has_no_room, "requests wait for nothing; this is a fault of the simulator");
            return End::Failed(no_room());
        }
        self.hw.books.probe.at_rest(&self.brain, &self.hw.array);
        End::Complete
    }

    /// The last request that a stage waits for has completed.
    pub(super) fn request_ends_stage(&mut self) {
        let drained = self.host_ended && self.free.len() == self.requests.len();
        while self.stage != Stage::Drain && (drained || self.left_in_stage == 0) {
            self.next_stage();
        }
    }
}

/// Only a drive that starts empty can come to this: for the others the configuration asks for enough spare flash.
fn no_room() -> Error {
    let fault = Fault::key("device", "the drive has no room for what is written to it, and collection can make none");
    Error::from(fault.help("raise device.op_ratio or device.spare_fraction"))
}
