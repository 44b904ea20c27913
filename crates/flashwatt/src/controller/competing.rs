//! Dispatch on channels that compete for starts: under a channel switch delay, and under a power budget for fewer than all dies.
//!
//! The oldest candidate of all channels starts first. The age of each channel's candidate is kept until the choices of one of its
//! dies may have changed ([`super::queues::Channel::stale`]). So a start needs a look at ages, not at all queues.

use super::channel_set::ChannelSet;
use super::dispatch::{Candidate, Choice};
use super::queues::Channel;
use super::settings::{self, BusOrder};
use super::{Controller, MeteredFlash};
use crate::connector::Agenda;
use crate::device::Geometry;
use crate::device::settings::Timing;
use crate::firmware::Firmware;
use crate::mem::FlatTable;
use crate::probe::Probe;
use crate::units::{ChannelId, Nanos};

/// What the channels share.
pub(super) struct Competition {
    /// Number of dies that may work at a time, if not all.
    active_dies_max: Option<u32>,
    /// Time in ns between two starts, on any channels.
    switch_ns: Nanos,
    /// The time from which the next operation may start on any channel.
    slot_free_at: Nanos,
    /// Whether the slot has an event at that time.
    slot_is_set: bool,
    /// By channel, the age of its candidate at the last look, as [`Controller::age`] has it; [`NONE`] without a candidate.
    ages: FlatTable<u64>,
}

/// Older than no candidate.
const NONE: u64 = u64::MAX;

impl Competition {
    /// What channels of a drive share; nothing if each of them works as if it were alone.
    pub fn new(settings: &settings::Controller, timing: &Timing, geometry: &Geometry) -> Option<Self> {
        let active_dies = settings.power_budget.as_ref().map_or(geometry.dies, |budget| budget.active_dies);
        let active_dies_max = (active_dies < geometry.dies).then_some(active_dies);
        (timing.channel_switch_ns > 0 || active_dies_max.is_some()).then(|| Competition {
            active_dies_max,
            switch_ns: timing.channel_switch_ns,
            slot_free_at: 0,
            slot_is_set: false,
            ages: vec![NONE; geometry.channels as usize].into(),
        })
    }
}

impl Controller {
    /// The slot's event.
    pub(super) fn slot_is_free(&mut self) {
        if let Some(competition) = &mut self.competition {
            competition.slot_is_set = false;
            self.mark_changed(ChannelId(0)); // a look at one channel leads to the choice among all
        }
    }

    /// Starts all operations that can start now. As long as the budget does not bind, operations start in the order of a drive
    /// without a budget.
    #[inline(never)]
    pub(super) fn dispatch_competing<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let Some(mut competition) = self.competition.take() else { return };
        let mut looked_at = self.changed.clone();
        loop {
            looked_at.add_all(&self.changed);
            let Some(channels) = self.changed.take_lowest() else { break };
            for channel in channels {
                self.dispatch_uncontested(&mut competition, agenda, ChannelId(channel), firmware, flash);
            }
            if self.changed.is_empty() {
                // A step of background work may change a channel that has been looked at before.
                self.start_oldest(&mut competition, agenda, firmware, flash);
                if self.bus_order == BusOrder::CommandFirst {
                    self.send_data_behind_commands(&mut looked_at, agenda, flash);
                }
            }
        }
        self.competition = Some(competition);
    }

    /// Starts the oldest candidates of all channels, as far as the budget and the slot allow it.
    #[inline(always)]
    fn start_oldest<P: Probe>(
        &mut self,
        competition: &mut Competition,
        agenda: &mut Agenda,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        let now = agenda.now();
        while self.power_left(competition) > 0 {
            if now < competition.slot_free_at {
                if !competition.slot_is_set && self.channels.iter().any(Channel::has_work) {
                    competition.slot_is_set = true;
                    agenda.set_free(self.first_seat + self.slot_event(), competition.slot_free_at);
                }
                return;
            }
            let Some((channel, candidate)) = self.oldest_of_channels(competition, now) else { return };
            if let Some(chosen) = self.commit(now, channel, candidate, firmware, flash) {
                self.start(agenda, channel, chosen, flash);
                self.is_bus_taken(agenda, channel);
                competition.slot_free_at = now + competition.switch_ns;
                competition.slot_is_set = false;
            }
        }
    }

    /// Sends the data that waited for commands which cannot start now. On other channels than these no data waits for a free bus: it
    /// would have been sent before.
    #[inline(always)]
    fn send_data_behind_commands<P: Probe>(
        &mut self,
        channels: &mut ChannelSet,
        agenda: &mut Agenda,
        flash: &mut MeteredFlash<P>,
    ) {
        while let Some(some) = channels.take_lowest() {
            some.for_each(|channel| self.send_all_data(agenda, ChannelId(channel), flash));
        }
        debug_assert!(self.channels.iter().all(|bus| bus.data_waits == 0 || bus.bus_free_at > agenda.now()));
    }

    /// Starts the work of a channel that no other channel competes for: data transfers, and operations while the power budget
    /// has room for them and for all older candidates.
    fn dispatch_uncontested<P: Probe>(
        &mut self,
        competition: &mut Competition,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while self.is_free_for_operation(agenda, channel, flash) {
            if competition.switch_ns > 0 {
                return;
            }
            let Some(candidate) = self.peek(channel) else { return };
            let left = self.power_left(competition);
            let age = self.age(candidate);
            let is_sure =
                left >= self.geometry.channels || left > self.older_candidates(competition, agenda.now(), age);
            if !is_sure {
                return;
            }
            if let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) {
                self.start(agenda, channel, chosen, flash);
            }
        }
    }

    /// Number of further dies that the power budget allows to work. At 0, channels are looked at again when an operation ends.
    fn power_left(&self, competition: &Competition) -> u32 {
        let Some(most) = competition.active_dies_max else { return u32::MAX };
        let idle: u32 = self.channels.iter().map(|channel| channel.idle.count_ones()).sum();
        most.saturating_sub(self.geometry.dies - idle)
    }

    /// Number of channels with a candidate older than `age`.
    fn older_candidates(&mut self, competition: &mut Competition, now: Nanos, age: u64) -> u32 {
        let mut older = 0;
        for channel in (0..self.geometry.channels).map(ChannelId) {
            let could_start = now >= self.channels[channel.idx()].bus_free_at && !self.data_goes_first(channel);
            older += u32::from(could_start && self.age_of(competition, channel) < age);
        }
        older
    }

    /// The channel with the oldest candidate among those whose bus is free, and that candidate.
    #[inline(always)]
    fn oldest_of_channels(&mut self, competition: &mut Competition, now: Nanos) -> Option<(ChannelId, Candidate)> {
        let mut oldest = (NONE, ChannelId(0));
        for channel in (0..self.geometry.channels).map(ChannelId) {
            let age = self.age_of(competition, channel);
            if age < oldest.0 && now >= self.channels[channel.idx()].bus_free_at {
                oldest = (age, channel);
            }
        }
        let (age, channel) = oldest;
        if age == NONE {
            return None;
        }
        Some((channel, self.peek(channel)?))
    }

    /// The age of a channel's candidate.
    #[inline(always)]
    fn age_of(&mut self, competition: &mut Competition, channel: ChannelId) -> u64 {
        if self.channels[channel.idx()].stale != 0 {
            competition.ages[channel.idx()] = self.look(channel);
            self.channels[channel.idx()].stale = 0;
        }
        let age = competition.ages[channel.idx()];
        debug_assert_eq!(age, self.look(channel), "what can change a candidate makes its channel stale");
        age
    }

    #[inline(always)]
    fn look(&mut self, channel: ChannelId) -> u64 {
        self.peek(channel).map_or(NONE, |candidate| self.age(candidate))
    }

    /// A candidate's age: its plan number. Background work without a plan has the plan number that was free when the die asked
    /// for it.
    fn age(&self, candidate: Candidate) -> u64 {
        match candidate.choice {
            Choice::Head(op) | Choice::Oldest(op) => self.ops[op].seq,
            Choice::Step | Choice::BypassedStep => self.dies[candidate.die.idx()].background_since,
        }
    }
}
