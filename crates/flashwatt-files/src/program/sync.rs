//! How threads wait for one another, and for events.

use std::ops::Range;

use super::code::{Code, Flowop, NONE, Unit};
use super::state::{State, Turn};
use super::thread::Counter;
use crate::operation::{Step, ThreadId};
use flashwatt_base::units::Nanos;

/// Bytes of a bwlimit's event.
const MIB: i64 = 1 << 20;

/// The count of a unit.
fn count(counter: &Counter, unit: Unit) -> u64 {
    match unit {
        Unit::Operations => counter.operations,
        Unit::ReadsAndWrites => counter.reads_and_writes,
        Unit::Bytes => counter.bytes,
    }
}

impl State {
    /// Takes events, or sleeps until they have come. Without `eventgen` nothing is limited.
    pub fn take_events(&mut self, events: u64, now: Nanos) -> Turn {
        if self.events.per_s == 0 || events == 0 {
            return Turn::Over;
        }
        match self.events.take(events, now) {
            time if time > now => Turn::Last(Step::Sleep(time)),
            _ => Turn::Over,
        }
    }

    /// The work that a limit counts: that of a flow operation of its thread, or all of it.
    fn counted(&self, flowop: &Flowop, thread: ThreadId) -> &Counter {
        let own = (flowop.target != NONE).then(|| &self.threads[thread as usize].counters[flowop.target as usize]);
        own.unwrap_or(&self.total)
    }

    /// Pays with events for the work since the last time; the first time there is nothing to pay.
    pub fn limit(&mut self, flowop: &Flowop, thread: ThreadId, unit: Unit, limit: u32, now: Nanos) -> Turn {
        if self.events.per_s == 0 {
            return Turn::Over;
        }
        let found = count(self.counted(flowop, thread), unit);
        let state = &mut self.threads[thread as usize].limits[limit as usize];
        let before = std::mem::replace(&mut state.last, found);
        if !std::mem::replace(&mut state.begun, true) {
            return Turn::Over;
        }
        state.bucket -= (found - before) as i64;
        if state.bucket >= 0 {
            return Turn::Over;
        }
        let (unit_size, rest) = if unit == Unit::Bytes { (MIB, 1) } else { (1, 0) };
        let events = -state.bucket / unit_size + rest;
        state.bucket += events * unit_size;
        self.take_events(events as u64, now)
    }

    /// Ends the run once enough was done.
    pub fn finish(&mut self, flowop: &Flowop, thread: ThreadId, unit: Unit, value: u64) -> Turn {
        let found = count(self.counted(flowop, thread), unit);
        self.ended |= if unit == Unit::Bytes { found > value } else { found >= value };
        Turn::Over
    }

    /// Waits for posts. It makes room for as many more first.
    pub fn sem_block(&mut self, flowop: &Flowop, thread: ThreadId, first: u32) -> Turn {
        let state = &mut self.threads[thread as usize];
        let value = state.value(&flowop.value);
        let number = first + state.ordinal;
        let semaphore = &mut self.semaphores[number as usize];
        semaphore.room += value;
        while let Some(&(poster, posts)) = semaphore.posters.front().filter(|(_, posts)| *posts <= semaphore.room) {
            semaphore.posters.pop_front();
            semaphore.room -= posts;
            semaphore.posts += posts;
            self.threads[poster as usize].cursor += 1;
            self.woken.push_back(poster);
        }
        if semaphore.posts >= value {
            semaphore.posts -= value;
            return Turn::Over;
        }
        semaphore.needs = value;
        Turn::Step(Step::Wait)
    }

    /// Posts to one semaphore after the other. A blocking one waits where there is no room.
    pub fn sem_post(
        &mut self,
        code: &Code,
        flowop: &Flowop,
        thread: ThreadId,
        targets: &Range<u32>,
        blocking: bool,
    ) -> Turn {
        loop {
            let state = &mut self.threads[thread as usize];
            let number = targets.start + state.cursor;
            if number >= targets.end {
                return Turn::Over;
            }
            let value = state.value(&flowop.value);
            let semaphore = &mut self.semaphores[number as usize];
            if blocking && semaphore.room < value {
                semaphore.posters.push_back((thread, value));
                return Turn::Step(Step::Wait);
            }
            semaphore.room -= if blocking { value } else { 0 };
            semaphore.posts += value;
            state.cursor += 1;
            if semaphore.needs > 0 && semaphore.posts >= semaphore.needs {
                semaphore.posts -= semaphore.needs;
                semaphore.needs = 0;
                let owner = semaphore.owner;
                self.advance(code, owner);
                self.woken.push_back(owner);
            }
        }
    }

    /// Wakes the threads at a block.
    pub fn wake_up(&mut self, code: &Code, target: u32) -> Turn {
        let (at_it, others) = self.blocked.drain(..).partition(|(at, _)| *at == target);
        self.blocked = others;
        for (_, thread) in at_it {
            self.advance(code, thread);
            self.woken.push_back(thread);
        }
        Turn::Over
    }
}
