//! Dispatch on channels that compete for starts: under a channel switch delay, and under a power budget for fewer than all dies.
//!
//! The oldest candidate of all channels starts first. The age of each channel's candidate is kept until the channel's choices may
//! have changed. So a start needs a look at the ages of the channels that have a candidate, not at all queues.

use std::hint::select_unpredictable;

use super::channel_set::ChannelSet;
use super::dispatch::{Candidate, OpChoice};
use super::settings::{self, BusOrder};
use super::{Controller, MeteredFlash};
use crate::firmware::Firmware;
use crate::nand::Geometry;
use crate::nand::settings::Timing;
use crate::observe::probe::Probe;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::{ChannelId, Nanos};
use flashwatt_core::connector::Agenda;

/// What the channels share.
#[derive(Clone)]
pub(super) struct Competition {
    /// Number of dies that may work at a time, if not all.
    active_dies_max: Option<u32>,
    /// Time in ns between two starts, on any channels.
    switch_ns: Nanos,
    /// The time from which the next operation may start on any channel.
    slot_free_at: Nanos,
    /// Whether the slot has an event at that time.
    slot_is_set: bool,
    /// Whether the slot's event came in this instant.
    slot_came: bool,
    /// By channel, the age of its candidate at the last look, as [`Controller::age`] has it; [`NONE`] without a candidate.
    ages: FlatTable<u64>,
    /// The channels whose candidate may be another than at the last look.
    stale: ChannelSet,
    /// The channels that had a candidate at the last look.
    waiting: ChannelSet,
    /// The channels that were looked at in this instant, if data waits for commands ([`BusOrder::CommandFirst`]).
    looked_at: ChannelSet,
}

/// A number of channels of which all are looked at, whether they have a candidate or not.
const FEW_CHANNELS: u32 = 16;

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
            slot_came: false,
            ages: vec![NONE; geometry.channels as usize].into(),
            stale: ChannelSet::new(geometry.channels),
            waiting: ChannelSet::new(geometry.channels),
            looked_at: ChannelSet::new(geometry.channels),
        })
    }

    /// Whether fewer than all dies may work at a time.
    pub fn has_budget(&self) -> bool {
        self.active_dies_max.is_some()
    }

    /// Whether an operation may start although nothing has changed on any channel.
    #[inline(always)]
    pub fn slot_came(&self) -> bool {
        self.slot_came
    }
}

impl Controller {
    /// The slot's event.
    pub(super) fn slot_is_free(&mut self) {
        if let Some(competition) = &mut self.competition {
            competition.slot_is_set = false;
            competition.slot_came = true;
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
        competition.slot_came = false;
        loop {
            while let Some(channels) = self.changed.take_lowest() {
                competition.stale.add_if(true, ChannelId(channels.start));
                competition.looked_at.add_if(self.bus_order == BusOrder::CommandFirst, ChannelId(channels.start));
                for channel in channels.map(ChannelId) {
                    if self.cells.is_some() {
                        self.begin_beside(agenda, channel, flash);
                    }
                    if competition.switch_ns > 0 {
                        self.send_data_first(agenda, channel, flash);
                    } else {
                        self.dispatch_within_budget(&mut competition, agenda, channel, firmware, flash);
                    }
                }
            }
            self.start_oldest(&mut competition, agenda, firmware, flash);
            self.send_data_behind_commands(&mut competition.looked_at, agenda, flash);
            if self.changed.is_empty() {
                break; // else a step of background work changed a channel that had been looked at before
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
        while !competition.slot_is_set && self.power_left(competition) > 0 {
            competition.stale.add_all(&self.changed);
            if now < competition.slot_free_at {
                if self.any_candidate(competition) {
                    competition.slot_is_set = true;
                    agenda.set_free(self.first_seat + self.slot_event(), competition.slot_free_at);
                }
                return;
            }
            let Some(channel) = self.oldest_of_channels(competition, now) else { return };
            competition.stale.add_if(true, channel);
            if self.start_candidate(agenda, channel, firmware, flash) {
                competition.slot_free_at = now + competition.switch_ns;
            }
        }
    }

    /// Starts the candidate of a channel, if it is an operation or a step of background work that leads to one. Returns whether it
    /// did. Not inlined, so that the loop around it prepares nothing for it at the many instants without a start.
    #[inline(never)]
    fn start_candidate<P: Probe>(
        &mut self,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) -> bool {
        let Some(candidate) = self.peek(channel) else { return false };
        let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) else { return false };
        self.start_any(agenda, channel, chosen, flash);
        self.is_bus_taken(agenda, channel);
        true
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

    /// Sends the data that takes a channel's bus before its next operation.
    #[inline(always)]
    fn send_data_first<P: Probe>(&mut self, agenda: &mut Agenda, channel: ChannelId, flash: &mut MeteredFlash<P>) {
        let bus = &self.channels[channel.idx()];
        if bus.data_waits != 0 || agenda.now() < bus.bus_free_at {
            self.send_waiting_data(agenda, channel, flash);
        }
    }

    /// Not inlined, since data waits on few channels.
    #[inline(never)]
    fn send_waiting_data<P: Probe>(&mut self, agenda: &mut Agenda, channel: ChannelId, flash: &mut MeteredFlash<P>) {
        self.is_free_for_operation(agenda, channel, flash);
    }

    /// Sends the data of a channel, and starts its operations while the power budget has room for them and for all older candidates.
    /// Not inlined, as [`Self::start_candidate`].
    #[inline(never)]
    fn dispatch_within_budget<P: Probe>(
        &mut self,
        competition: &mut Competition,
        agenda: &mut Agenda,
        channel: ChannelId,
        firmware: &mut Firmware,
        flash: &mut MeteredFlash<P>,
    ) {
        while self.is_free_for_operation(agenda, channel, flash) {
            let Some(candidate) = self.peek(channel) else { return };
            let left = self.power_left(competition);
            let age = self.age(candidate);
            let is_sure =
                left >= self.geometry.channels || left > self.older_candidates(competition, agenda.now(), age);
            if !is_sure {
                return;
            }
            competition.stale.add_if(true, channel);
            if let Some(chosen) = self.commit(agenda.now(), channel, candidate, firmware, flash) {
                self.start_any(agenda, channel, chosen, flash);
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
        self.look_again(competition);
        let mut older = 0;
        for channel in competition.waiting.span().map(ChannelId) {
            let could_start = now >= self.channels[channel.idx()].bus_free_at && !self.data_goes_first(channel);
            older += u32::from(could_start && competition.ages[channel.idx()] < age);
        }
        older
    }

    /// Whether any channel has a candidate. Notes which channels have none; the ages of the others are not looked at.
    #[inline(always)]
    fn any_candidate(&self, competition: &mut Competition) -> bool {
        let mut unknown = competition.stale.take();
        while let Some(channels) = unknown.take_lowest() {
            let first = ChannelId(channels.start);
            let has_one = channels.clone().any(|channel| self.has_candidate(ChannelId(channel)));
            if has_one {
                competition.stale.add_if(true, first);
            } else {
                competition.waiting.set(false, first);
                channels.for_each(|channel| competition.ages[channel as usize] = NONE);
            }
        }
        let any = !competition.waiting.is_empty() || !competition.stale.is_empty();
        debug_assert_eq!(any, (0..self.geometry.channels).any(|channel| self.has_candidate(ChannelId(channel))));
        any
    }

    #[inline(always)]
    fn has_candidate(&self, channel: ChannelId) -> bool {
        self.channels[channel.idx()].candidates() != 0
    }

    /// The channel with the oldest candidate among those whose bus is free.
    #[inline(always)]
    fn oldest_of_channels(&mut self, competition: &mut Competition, now: Nanos) -> Option<ChannelId> {
        if let Some(channel) = competition.waiting.only_one_with(&competition.stale) {
            // No other channel has a candidate, so the age of this one's does not matter.
            let mut others = (0..self.geometry.channels).map(ChannelId).filter(|&other| other != channel);
            debug_assert!(others.all(|other| !self.has_candidate(other)));
            let is_free = now >= self.channels[channel.idx()].bus_free_at;
            return (is_free && self.has_candidate(channel)).then_some(channel);
        }
        self.look_again(competition);
        let few = self.geometry.channels <= FEW_CHANNELS; // a processor foresees the end of a loop of constant length
        let span = if few { 0..self.geometry.channels } else { competition.waiting.span() };
        let mut oldest = (NONE, ChannelId(0));
        for channel in span.map(ChannelId) {
            let is_free = now >= self.channels[channel.idx()].bus_free_at;
            let age = select_unpredictable(is_free, competition.ages[channel.idx()], NONE);
            oldest = select_unpredictable(age < oldest.0, (age, channel), oldest);
        }
        (oldest.0 != NONE).then_some(oldest.1)
    }

    /// Finds the ages again that may have changed.
    #[inline(always)]
    fn look_again(&mut self, competition: &mut Competition) {
        competition.stale.add_all(&self.changed);
        while let Some(channels) = competition.stale.take_lowest() {
            let first = ChannelId(channels.start);
            let mut has_one = false;
            for channel in channels.map(ChannelId) {
                let age = self.look(channel);
                competition.ages[channel.idx()] = age;
                has_one |= age != NONE;
            }
            competition.waiting.set(has_one, first);
        }
        debug_assert!(
            (0..self.geometry.channels)
                .map(ChannelId)
                .all(|channel| competition.ages[channel.idx()] == self.look(channel)),
            "what can change a channel's candidate makes the channel stale"
        );
    }

    #[inline(always)]
    fn look(&mut self, channel: ChannelId) -> u64 {
        self.peek(channel).map_or(NONE, |candidate| self.age(candidate))
    }

    /// A candidate's age: its plan number. Background work without a plan has the plan number that was free when the die asked
    /// for it.
    fn age(&self, candidate: Candidate) -> u64 {
        match candidate.choice {
            OpChoice::Head(op) | OpChoice::Oldest(op) => self.ops[op].seq,
            OpChoice::Step | OpChoice::BypassedStep => self.dies[candidate.die.idx()].background_since,
        }
    }
}
