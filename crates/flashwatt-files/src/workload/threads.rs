//! Threads: each carries out the operations of the source, one after another.

use super::{FileWorkload, Phase, State};
use crate::disk::{Task, WriteCause};
use crate::operation::{OpError, Step};
use crate::system::{Stop, Tried};
use crate::vfs::{Caller, Doing};
use flashwatt_base::units::Nanos;

impl FileWorkload {
    /// Everything that can go on at this time does.
    pub(super) fn run(&mut self, now: Nanos) {
        while let Some(task) = self.agenda.take(now) {
            match (task as usize).checked_sub(self.threads.len()) {
                None => self.run_thread(task, now),
                Some(0) => self.run_flusher(now),
                Some(_) => self.run_system(now),
            }
            if std::mem::take(&mut self.vfs.wants_work) {
                self.agenda.set(now, self.flusher_task() + 1);
            }
        }
    }

    fn run_thread(&mut self, task: Task, now: Nanos) {
        let had_processor = self.processors.runs(task);
        if !self.processors.enter(task, now) {
            let next = if had_processor { self.processors.give_way(task, now) } else { None };
            return self.go_on_with(next, now);
        }
        if !self.advance(task, now) {
            let next = self.processors.leave(task, now);
            self.go_on_with(next, now);
        }
    }

    /// A thread has got a processor.
    fn go_on_with(&mut self, next: Option<Task>, now: Nanos) {
        next.into_iter().for_each(|task| self.agenda.set(now, task));
    }

    /// Goes on with a thread. Returns whether it has something to do when the time of its call has passed.
    fn advance(&mut self, task: Task, now: Nanos) -> bool {
        loop {
            let thread = &mut self.threads[task as usize];
            if let Some(result) = thread.ending.take() {
                self.end_operation(task, result, now);
            } else if thread.doing.is_some() {
                let result = match self.try_operation(task, now) {
                    Ok(is_last) => Ok(is_last),
                    Err(Stop::Failed(error)) => Err(error),
                    Err(Stop::Wait) => return false,
                };
                self.pass_processor_time(task, result, now);
                return true;
            } else if !self.begin_operation(task, now) {
                return false;
            }
        }
    }

    /// Asks the source for a thread's next operation. Returns whether there is one now.
    fn begin_operation(&mut self, task: Task, now: Nanos) -> bool {
        if self.is_over(now) {
            self.end_thread(task, now);
            self.end_waiting(now);
            return false;
        }
        let step = self.source.next(task, now);
        self.wake(now);
        if self.measured_ns.is_none() && self.source.measured() {
            self.measured_ns = Some(now);
        }
        self.threads[task as usize].state = if step == Step::Wait { State::Waiting } else { State::Running };
        match step {
            Step::Op(flow, op) => {
                self.begun += u64::from(self.measured_ns.is_some());
                self.threads[task as usize].doing = Some(Doing::new(op, flow, now));
                return true;
            }
            Step::Sleep(until) => self.agenda.set(self.ends_at().map_or(until, |end| until.min(end.max(now))), task),
            Step::Wait => {}
            Step::End => self.end_thread(task, now),
        }
        false
    }

    /// A thread has no further operation. After the last one, everything is written back.
    fn end_thread(&mut self, task: Task, now: Nanos) {
        let before = std::mem::replace(&mut self.threads[task as usize].state, State::Ended);
        self.alive -= usize::from(before != State::Ended);
        if self.alive == 0 && self.phase == Phase::Running {
            self.phase = Phase::Unmounting;
            self.flusher.is_last = true;
            self.agenda.set(now, self.flusher_task());
        }
    }

    /// Threads that wait for others end with the program.
    fn end_waiting(&mut self, now: Nanos) {
        for task in 0..self.threads.len() as Task {
            if self.threads[task as usize].state == State::Waiting {
                self.end_thread(task, now);
            }
        }
    }

    /// Looks whether threads go on: the program may be over while all of them wait, or they may wait for one another.
    pub(super) fn look_at_threads(&mut self, now: Nanos) {
        let waiting = self.threads.iter().filter(|thread| thread.state == State::Waiting).count();
        if waiting < self.alive || waiting == 0 {
            return;
        }
        if !self.is_over(now) {
            self.warnings.push(format!("{waiting} threads wait for one another: the program ended there"));
        }
        self.end_waiting(now);
    }

    /// When the threads stop, if at a certain time.
    fn ends_at(&self) -> Option<Nanos> {
        Some(self.measured_ns?.saturating_add(self.end.lasts_ns?))
    }

    /// Whether threads begin no further operation.
    fn is_over(&self, now: Nanos) -> bool {
        self.end.operations.is_some_and(|most| self.begun >= most)
            || self.ends_at().is_some_and(|end| now >= end)
            || self.source.has_ended()
    }

    /// Goes on with a thread's operation as far as it does not wait.
    fn try_operation(&mut self, task: Task, now: Nanos) -> Tried<bool> {
        let thread = &mut self.threads[task as usize];
        let Some(doing) = &mut thread.doing else { return Ok(true) };
        let caller = Caller { process: self.processes[task as usize], now, cause: WriteCause::Sync };
        if let Some(since) = thread.throttled_since.take() {
            self.vfs.io_figures.throttled_ns += now - since;
        }
        let tried = self.vfs.go_on(doing, &mut thread.windows, caller);
        let has_much_dirty = self.vfs.has_much_dirty();
        if tried == Err(Stop::Wait) && !self.register_waits(task) {
            self.threads[task as usize].throttled_since = Some(now);
            self.throttled.push(task);
        }
        if has_much_dirty && !self.flusher_is_full {
            self.run_flusher(now);
        }
        tried
    }

    /// The present caller waits for what it has named. Returns whether it named something.
    pub(super) fn register_waits(&mut self, task: Task) -> bool {
        for io in &self.vfs.waits {
            self.vfs.ios.add_waiter(*io, task);
            self.waits.add(task);
        }
        let any = !self.vfs.waits.is_empty();
        self.vfs.waits.clear();
        any
    }

    /// The processor time of a call passes, and that of the last call, or of one that failed, ends the operation.
    fn pass_processor_time(&mut self, task: Task, call: Result<bool, OpError>, now: Nanos) {
        let thread = &mut self.threads[task as usize];
        let Some(doing) = &mut thread.doing else { return };
        let ns = self.processor.call_ns(doing.take_call());
        thread.ending = match call {
            Ok(false) => None,
            Ok(true) => Some(Ok(doing.moved)),
            Err(error) => Some(Err(error)),
        };
        self.agenda.set(now + ns.max(1), task);
    }

    fn end_operation(&mut self, task: Task, result: Result<u64, OpError>, now: Nanos) {
        let Some(doing) = self.threads[task as usize].doing.take() else { return };
        self.until_ns = now;
        self.flows[usize::from(doing.flow)].ended(result, now - doing.began_ns);
        self.source.done(task, &doing.op, result, now);
        self.wake(now);
    }

    /// Threads that waited for others go on.
    fn wake(&mut self, now: Nanos) {
        while let Some(thread) = self.source.woken() {
            self.agenda.set(now, thread);
        }
    }
}
