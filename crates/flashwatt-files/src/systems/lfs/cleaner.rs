//! The cleaner: moves live blocks out of segments, so that a checkpoint can release these.
//!
//! It goes on whenever it is called, by its own turns or by a writer that finds no clean segment, as far as nothing has to be waited for.

use super::log::{LogId, summaries};
use super::meta::Meta;
use super::segments::Frontier;
use super::{Lfs, Style};
use crate::disk::WriteCause;
use crate::system::{Block, Cx, PageKey, Ticket, Tried};
use flashwatt_base::units::Nanos;

/// Blocks of a segment that are moved at a time.
const STEP_BLOCKS: u32 = 256;

/// What it is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// Choosing a segment.
    #[default]
    Choosing,
    /// Reading from a block of this segment on.
    Reading(u32, u32),
    /// Moving what was read.
    Moving(u32, u32),
    /// Waiting for a checkpoint, which releases segments.
    Releasing(u32),
    /// Waiting until this log is durable, which releases segments too.
    Committing(LogId),
}

/// The cleaner.
#[derive(Debug, Default)]
pub struct Cleaner {
    state: State,
    /// Reads of the present step.
    reads: Vec<Ticket>,
    /// Segments cleaned since the last checkpoint for their sake.
    cleaned: u32,
    /// Live pages of the present step, and where they lie.
    pages: Vec<(PageKey, Block)>,
    keys: Vec<PageKey>,
    /// Segments that a commit releases.
    released: Vec<u32>,
    /// Whether it works up to the upper watermark.
    is_on: bool,
    /// Clean segments when no other one was worth cleaning.
    fruitless: Option<u32>,
}

impl Cleaner {
    /// The segment that it moves blocks out of.
    #[cfg(test)]
    pub fn victim_now(&self) -> Option<u32> {
        match self.state {
            State::Reading(segment, _) | State::Moving(segment, _) => Some(segment),
            State::Choosing | State::Releasing(_) | State::Committing(_) => None,
        }
    }

    /// A segment is clean already.
    pub fn forget(&mut self, segment: u32) {
        if matches!(self.state, State::Reading(of, _) | State::Moving(of, _) if of == segment) {
            self.state = State::Choosing;
        }
    }
}

impl Lfs {
    /// Goes on with cleaning because space is needed. Returns whether anything was done.
    pub(super) fn clean(&mut self, cx: &mut Cx) -> Tried<bool> {
        self.clean_below(1.0, cx)
    }

    /// Goes on with cleaning. A segment that is chosen now is at most as full as this.
    pub(super) fn clean_below(&mut self, fullest: f64, cx: &mut Cx) -> Tried<bool> {
        let (cause, process) = (cx.cause, cx.process);
        (cx.cause, cx.process) = (WriteCause::Cleaning, 0);
        let tried = self.clean_step(fullest, cx);
        (cx.cause, cx.process) = (cause, process);
        tried
    }

    fn clean_step(&mut self, fullest: f64, cx: &mut Cx) -> Tried<bool> {
        self.log.settle(cx);
        match self.cleaner.state {
            State::Choosing => return Ok(self.choose(fullest, cx.now)),
            State::Reading(segment, from) => self.read(segment, from, cx)?,
            State::Moving(segment, from) => self.move_on(segment, from, cx)?,
            State::Releasing(number) => {
                self.reach_checkpoint(number, cx)?;
                (self.cleaner.state, self.cleaner.cleaned) = (State::Choosing, 0);
            }
            State::Committing(log) => {
                self.log.reach_durable(log, cx)?;
                let released = std::mem::take(&mut self.cleaner.released);
                self.release(released, cx);
                (self.cleaner.state, self.cleaner.cleaned) = (State::Choosing, 0);
            }
        }
        Ok(true)
    }

    /// Chooses a segment, or a checkpoint. Returns whether there was something to choose.
    fn choose(&mut self, fullest: f64, now: Nanos) -> bool {
        let has_room = self.segments.clean() > self.for_metadata() + 2;
        let is_whole_pass = self.cleaner.cleaned >= self.settings.clean_segments || !has_room;
        let arrived = self.log.arrived();
        // Near the end of the clean segments only those are of use that need no checkpoint afterwards, which would take clean ones.
        let limit =
            if has_room || self.style == Style::Nilfs2 { arrived } else { arrived.min(self.checkpoints.covered()) };
        let victim = if self.segments.has_emptied() && is_whole_pass { None } else { self.victim(limit, now) };
        let victim = victim.filter(|&segment| self.segments.utilisation(segment) <= fullest);
        self.cleaner.state = match victim {
            Some(segment) => State::Reading(segment, 0),
            None if self.segments.has_emptied() => self.begin_release(),
            None if limit < arrived && self.victim(arrived, now).is_some() => State::Releasing(self.checkpoints.next()),
            None => {
                (self.cleaner.cleaned, self.cleaner.fruitless) = (0, Some(self.segments.clean()));
                return false;
            }
        };
        true
    }

    /// Makes segments without live blocks clean, with a checkpoint if one of them needs it.
    fn begin_release(&mut self) -> State {
        if self.style == Style::Sprite {
            self.cleaner.released = self.segments.take_emptied(self.checkpoints.covered());
            if !self.cleaner.released.is_empty() {
                return State::Committing(self.log.last());
            }
        }
        State::Releasing(self.checkpoints.next())
    }

    /// The segment to clean, without blocks of a log after this one: with the fewest live blocks, or with the greatest (1 − u) · age / (1 + u).
    fn victim(&self, arrived: LogId, now: Nanos) -> Option<u32> {
        let by_cost = |u: f64, written: Nanos| (1.0 - u) * (now.saturating_sub(written) as f64 + 1.0) / (1.0 + u);
        if self.settings.is_cost_benefit {
            self.segments.victim(arrived, summaries, by_cost)
        } else {
            self.segments.victim(arrived, summaries, |u, _| -u)
        }
    }

    /// The live pages of a step.
    fn find_live(&mut self, segment: u32, from: u32) -> u32 {
        let to = self.segments.used_blocks(segment).min(from + STEP_BLOCKS);
        let mut pages = std::mem::take(&mut self.cleaner.pages);
        pages.clear();
        self.segments.pages_in(segment, from..to, &mut pages);
        pages.retain(|&(key, block)| self.tree.place(key) == block);
        self.cleaner.pages = pages;
        to
    }

    /// The metadata that points to what is moved. In `nilfs2` that are the translations only, which are noted when the blocks move.
    fn pointers(&self) -> impl Iterator<Item = Meta> {
        let pages = self.cleaner.pages.iter().filter(|_| self.style == Style::Sprite);
        pages.flat_map(|&(key, _)| self.tree.parents(key))
    }

    /// Reads what is live, or all blocks, and the metadata that points to it.
    fn read(&mut self, segment: u32, from: u32, cx: &mut Cx) -> Tried<()> {
        let to = self.find_live(segment, from);
        let begin = self.segments.begin(segment);
        let live = &self.cleaner.pages;
        if self.settings.reads_whole {
            self.cleaner.reads.push(cx.read_blocks(begin + from, to - from, live));
        } else {
            for run in live.chunk_by(|a, b| b.1 == a.1 + 1) {
                self.cleaner.reads.push(cx.read_blocks(run[0].1, run.len() as u32, run));
            }
        }
        // What is read by others now comes when it comes; what leaves memory again was there when it was needed.
        let asked = self.ask_all(self.pointers(), cx);
        self.cleaner.state = State::Moving(segment, from);
        asked
    }

    /// Moves what is live still, and goes on with the next step or the next segment.
    fn move_on(&mut self, segment: u32, from: u32, cx: &mut Cx) -> Tried<()> {
        self.cleaner.reads.iter().for_each(|&read| cx.wait_until_ended(read));
        cx.wait()?;
        self.cleaner.reads.clear();
        let to = self.find_live(segment, from);
        self.pointers().for_each(|meta| cx.wait_page_read(meta.key()));
        Self::wait_at_rest(self.cleaner.pages.iter().map(|&(key, _)| key), cx)?;
        let mut keys = std::mem::take(&mut self.cleaner.keys);
        keys.clear();
        keys.extend(self.cleaner.pages.iter().map(|&(key, _)| key));
        self.pointers().for_each(|meta| cx.dirty_meta(meta.index()));
        // In the order of owners, as a summary lists them.
        keys.sort_unstable();
        self.append(&keys, Frontier::Cleaner, self.segments.written_ns(segment), cx);
        self.cleaner.keys = keys;
        self.cleaner.state = if to < self.segments.used_blocks(segment) {
            State::Reading(segment, to)
        } else {
            self.cleaner.cleaned += 1;
            State::Choosing
        };
        Ok(())
    }

    /// Whether the cleaner has a reason to work in the background.
    pub(super) fn wants_cleaning(&self, now: Nanos) -> bool {
        let goes_on = self.cleaner.is_on || self.idle_at().is_some_and(|at| now >= at);
        let share = if goes_on { self.settings.clean_high } else { self.settings.clean_low };
        self.cleaner.fruitless != Some(self.segments.clean()) && self.is_below(share)
    }

    /// The cleaner's turn in the background. Returns whether anything was done.
    pub(super) fn clean_in_background(&mut self, cx: &mut Cx) -> Tried<bool> {
        if self.cleaner.state == State::Choosing {
            let share = if self.cleaner.is_on { self.settings.clean_high } else { self.settings.clean_low };
            self.cleaner.is_on = self.is_below(share);
            if !self.wants_cleaning(cx.now) {
                return Ok(false);
            }
        }
        self.clean_below(self.worth(), cx)
    }

    /// When threads count as idle; none if never.
    pub(super) fn idle_at(&self) -> Option<Nanos> {
        (self.settings.clean_idle_ns > 0).then(|| self.called_ns + self.settings.clean_idle_ns)
    }

    fn is_below(&self, share: f64) -> bool {
        self.segments.clean() < self.kept() + (f64::from(self.layout.segments) * share) as u32
    }

    /// How full a segment may be that is cleaned in the background: it has to give at least half of what each would give if they all had
    /// the same share of free blocks.
    fn worth(&self) -> f64 {
        let blocks = f64::from(self.layout.segments) * f64::from(self.layout.segment_blocks);
        1.0 - 0.5 * (1.0 - self.segments.live as f64 / blocks)
    }
}
