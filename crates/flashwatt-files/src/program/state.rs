//! The state of a running program, and how its threads go on.

use std::collections::VecDeque;

use super::code::{Code, Flowop, NONE};
use super::fileset::Files;
use super::script::Quit;
use super::thread::{Counter, Helper, Thread};
use super::waits::{Events, Semaphore};
use crate::operation::{Step, ThreadId};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;

/// How long a round of a thread's loop takes in which nothing takes time. Without it, time would stand still.
const EMPTY_ROUND_NS: Nanos = 1000;

/// What came of a flow operation.
pub(super) enum Turn {
    /// The thread does this. The flow operation ends later.
    Step(Step),
    /// It is over, and the thread does this.
    Last(Step),
    /// It is over and took no time.
    Over,
}

/// A running program.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub files: Files,
    pub threads: Vec<Thread>,
    pub helpers: Vec<Helper>,
    pub woken: VecDeque<ThreadId>,
    pub semaphores: Vec<Semaphore>,
    /// Threads at a block, and the flow operation.
    pub blocked: Vec<(u32, ThreadId)>,
    pub events: Events,
    pub total: Counter,
    pub ended: bool,
    pub warnings: Vec<String>,
    /// Threads of each group that have not ended, and whether the group has started.
    alive: Vec<u32>,
    started: Vec<bool>,
}

impl State {
    /// The program as it begins: a thread for each kind given, each with its own random numbers.
    pub fn new(code: &Code, kinds: &[u32], files: Files, semaphores: Vec<Semaphore>, seed: u64) -> Self {
        let alive = code.groups.iter().map(|group| group.threads.len() as u32).collect();
        let started = code.groups.iter().map(|group| group.after.is_none()).collect();
        let mut ordinals = vec![0; code.kinds.len()];
        let (mut threads, mut helpers) = (Vec::with_capacity(kinds.len()), Vec::new());
        for (number, &kind) in (0..).zip(kinds) {
            let of = &code.kinds[kind as usize];
            let rng = Rng::new(seed.wrapping_add(1 + u64::from(number)));
            let first = helpers.len() as u32;
            helpers.extend((0..of.helpers).map(|_| Helper { of: number, entry: NONE, write: None }));
            let free = (first..helpers.len() as u32).rev().collect();
            threads.push(Thread::new(of, kind, ordinals[kind as usize], rng, free));
            ordinals[kind as usize] += 1;
        }
        State {
            files,
            threads,
            helpers,
            woken: VecDeque::new(),
            semaphores,
            blocked: Vec::new(),
            events: Events::new(code.events_per_s),
            total: Counter::default(),
            ended: false,
            warnings: Vec::new(),
            alive,
            started,
        }
    }

    /// Whether every group has started.
    pub fn all_started(&self) -> bool {
        self.started.iter().all(|&started| started)
    }

    /// What a thread does now.
    pub fn next(&mut self, code: &Code, thread: ThreadId, now: Nanos) -> Step {
        if self.ended {
            return Step::End;
        }
        let Some(state) = self.threads.get(thread as usize) else { return self.helper_next(thread) };
        let kind = &code.kinds[state.kind as usize];
        if state.ended {
            return Step::End;
        }
        if !self.started[kind.group as usize] {
            return Step::Wait;
        }
        let before = state.rounds;
        loop {
            let &Thread { at, rounds, .. } = &self.threads[thread as usize];
            if kind.rounds > 0 && rounds == kind.rounds {
                self.thread_ends(code, thread);
                return Step::End;
            }
            if rounds >= before + 2 {
                return Step::Sleep(now + EMPTY_ROUND_NS);
            }
            if self.begin(code, thread) {
                match self.turn(code, &code.flowops[at as usize], thread, now) {
                    Turn::Step(step) => return step,
                    Turn::Last(step) => {
                        self.advance(code, thread);
                        return step;
                    }
                    Turn::Over => self.advance(code, thread),
                }
                if self.ended {
                    return Step::End;
                }
            }
        }
    }

    /// Begins the flow operation that a thread is at, unless it has begun. Says whether it is to be done at all.
    fn begin(&mut self, code: &Code, thread: ThreadId) -> bool {
        let state = &mut self.threads[thread as usize];
        if state.begun {
            return true;
        }
        let flowop = &code.flowops[state.at as usize];
        if state.left == 0 {
            state.left = flowop.iters.draw(&mut state.rng);
            if state.left == 0 {
                state.go_on(code);
                return false;
            }
        }
        state.fd = flowop.fd;
        if flowop.rotates() {
            let rotor = &mut state.rotors[flowop.rotor as usize];
            state.fd += rotor.next;
            rotor.next = (rotor.next + 1) % self.files.sets[flowop.set as usize].entries;
        }
        (state.begun, state.cursor) = (true, 0);
        true
    }

    /// The flow operation of a thread is over.
    pub fn advance(&mut self, code: &Code, thread: ThreadId) {
        let state = &mut self.threads[thread as usize];
        state.begun = false;
        state.left -= 1;
        if state.left == 0 {
            state.go_on(code);
        }
    }

    /// The flow operation that a thread is at.
    pub fn flowop<'c>(&self, code: &'c Code, thread: ThreadId) -> &'c Flowop {
        &code.flowops[self.threads[thread as usize].at as usize]
    }

    /// Where a thread is in its program.
    pub fn place(&self, thread: ThreadId) -> u32 {
        self.threads[thread as usize].at
    }

    /// Counts a flow operation.
    pub fn count(&mut self, flowop: &Flowop, thread: ThreadId, bytes: u64) {
        let transfer = flowop.is_read_or_write();
        let add = |counter: &mut Counter| {
            counter.operations += 1;
            counter.reads_and_writes += u64::from(transfer);
            counter.bytes += if transfer { bytes } else { 0 };
        };
        if flowop.is_operation() {
            add(&mut self.total);
        }
        if flowop.counter != NONE {
            add(&mut self.threads[thread as usize].counters[flowop.counter as usize]);
        }
    }

    /// A flow operation has found no file: the thread ends, or all do.
    pub fn no_file(&mut self, code: &Code, flowop: &Flowop, thread: ThreadId) -> Turn {
        match code.quit {
            Quit::AllDone => {
                self.files.release_all(flowop.set, &mut self.woken);
                self.thread_ends(code, thread);
            }
            Quit::FirstDone => self.ended = true,
            Quit::Timeout => {
                self.ended = true;
                self.warnings.push(format!(
                    "the run ended early: `{}` found no file; more entries, another prealloc or `set mode quit` avoid it",
                    code.flows[usize::from(flowop.flow)].name
                ));
            }
        }
        Turn::Step(Step::End)
    }

    fn thread_ends(&mut self, code: &Code, thread: ThreadId) {
        let state = &mut self.threads[thread as usize];
        state.ended = true;
        let group = code.kinds[state.kind as usize].group;
        self.alive[group as usize] -= 1;
        if self.alive[group as usize] > 0 {
            return;
        }
        for (number, of) in code.groups.iter().enumerate() {
            if of.after == Some(group) {
                self.started[number] = true;
                self.woken.extend(of.threads.clone());
            }
        }
        self.ended |= self.alive.iter().all(|&alive| alive == 0);
    }

    fn helper_next(&mut self, thread: ThreadId) -> Step {
        let helper = &mut self.helpers[thread as usize - self.threads.len()];
        helper.write.take().map_or(Step::Wait, |(flow, op)| Step::Op(flow, op))
    }
}
