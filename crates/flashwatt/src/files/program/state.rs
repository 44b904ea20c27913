//! The state of a running program, and how its threads go on.

use std::collections::VecDeque;

use super::code::{Code, Flowop, NONE, ThreadKind};
use super::draw::Quantity;
use super::fileset::Files;
use super::script::Quit;
use super::sync::{Events, Limit, Semaphore};
use crate::files::operation::{FileOp, Mode, OpError, OpKind, Step};
use crate::files::source::ThreadId;
use crate::rng::Rng;
use crate::units::Nanos;

/// How long a round of a thread's loop takes in which nothing takes time. Without it, time would stand still.
const EMPTY_ROUND_NS: Nanos = 1000;

/// A descriptor of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fd {
    pub open: bool,
    /// The file that is open, or was open last; [`NONE`] if there was none.
    pub set: u32,
    pub entry: u32,
    pub mode: Mode,
    /// Where the next sequential read or write begins.
    pub position: u64,
}

impl Fd {
    /// Its file is gone.
    pub fn forget(&mut self) {
        *self = UNUSED;
    }
}

/// A descriptor that was never open.
const UNUSED: Fd = Fd { open: false, set: NONE, entry: NONE, mode: Mode::Cached, position: 0 };

/// Going round the descriptors of a file set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rotor {
    /// The next descriptor, from 0.
    pub next: u32,
    /// Where the search for a file goes on.
    pub place: u32,
}

/// An operation that a thread has out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Out {
    None,
    /// Nothing remains to be done when it ends.
    Plain,
    /// Opens a file: the flow operation may need it and go on behind it.
    Open {
        fd: u32,
        set: u32,
        entry: u32,
        goes_on: bool,
    },
    Create {
        fd: u32,
        set: u32,
        entry: u32,
    },
    Close {
        fd: u32,
    },
    Delete {
        set: u32,
        entry: u32,
    },
    /// Looks at a file that it picked.
    Stat {
        set: u32,
        entry: u32,
    },
    /// Reads or writes an open file; a sequential one moves the position.
    Transfer {
        fd: u32,
        sequential: bool,
    },
}

/// Work that is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counter {
    pub operations: u64,
    pub reads_and_writes: u64,
    pub bytes: u64,
}

/// A thread of the program.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub kind: u32,
    /// Its number among the threads of its kind.
    pub ordinal: u32,
    /// The flow operation it is at, and how often it is still to be done; 0 before it is known.
    at: u32,
    left: u64,
    /// How often it has come back to the first flow operation.
    rounds: u64,
    /// Whether the flow operation has begun; its descriptor; how far it has come with several things.
    pub begun: bool,
    pub fd: u32,
    pub cursor: u32,
    pub out: Out,
    pub rng: Rng,
    pub fds: Vec<Fd>,
    pub rotors: Vec<Rotor>,
    pub limits: Vec<Limit>,
    pub counters: Vec<Counter>,
    pub writes: Writes,
    ended: bool,
}

/// The asynchronous writes of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    /// Helpers that carry out no write.
    pub free: Vec<u32>,
    /// Writes issued that no aiowait has seen, and how many of them have ended.
    pub outstanding: u32,
    pub ended: u32,
    /// How many must have ended before the thread goes on; 0 if it does not wait.
    pub awaited: u32,
}

/// A thread that carries out asynchronous writes of another one.
#[derive(Clone, Debug)]
pub(super) struct Helper {
    pub of: u32,
    pub entry: u32,
    /// The write to begin.
    pub write: Option<(u16, FileOp)>,
}

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

    /// An operation of a thread has ended.
    pub fn done(&mut self, code: &Code, thread: ThreadId, op: &FileOp, result: Result<u64, OpError>) {
        let owner =
            self.helpers.get((thread as usize).wrapping_sub(self.threads.len())).map_or(thread, |helper| helper.of);
        if let Err(error) = result {
            self.ended = true;
            let why = match error {
                OpError::NoSpace => "no space is left",
                OpError::NoFile => "there is no such file",
                OpError::Exists => "the file is there already",
                OpError::TooLong => "the file would be too long",
            };
            self.warnings.push(format!("the run ended early: {} of file {} failed: {why}", op.kind.name(), op.file.0));
            return;
        }
        let bytes = result.unwrap_or_default();
        if owner == thread {
            self.thread_done(code, thread, op, bytes);
        } else {
            self.helper_done(code, thread, op, bytes);
        }
    }

    fn thread_done(&mut self, code: &Code, thread: ThreadId, op: &FileOp, bytes: u64) {
        let flowop = self.flowop(code, thread);
        let state = &mut self.threads[thread as usize];
        let out = std::mem::replace(&mut state.out, Out::None);
        self.count(flowop, thread, bytes);
        let state = &mut self.threads[thread as usize];
        match out {
            Out::Open { fd, set, entry, goes_on } => {
                state.fds[fd as usize] = Fd { open: true, set, entry, mode: flowop.mode, position: 0 };
                self.files.hold(entry);
                self.files.release(set, entry, &mut self.woken);
                if goes_on {
                    return;
                }
            }
            Out::Create { fd, set, entry } => {
                state.fds[fd as usize] = Fd { open: true, set, entry, mode: flowop.mode, position: 0 };
                self.files.made(set, entry);
                self.files.hold(entry);
                self.files.release(set, entry, &mut self.woken);
            }
            Out::Close { fd } => {
                let fd = &mut state.fds[fd as usize];
                fd.open = false;
                self.files.let_go(fd.entry);
                self.files.release(fd.set, fd.entry, &mut self.woken);
            }
            Out::Delete { set, entry } => {
                self.files.removed(set, entry);
                self.files.release(set, entry, &mut self.woken);
            }
            Out::Stat { set, entry } => self.files.release(set, entry, &mut self.woken),
            Out::Transfer { fd, sequential } => self.transferred(thread, fd, op, bytes, sequential),
            Out::Plain | Out::None => {}
        }
        if !matches!(flowop.action, super::code::Action::FsyncSet) {
            self.advance(code, thread);
        }
    }

    /// A read or a write of an open file has ended: the file's length and the position follow.
    fn transferred(&mut self, thread: ThreadId, fd: u32, op: &FileOp, bytes: u64, sequential: bool) {
        let fd = &mut self.threads[thread as usize].fds[fd as usize];
        let entry = &mut self.files.entries[fd.entry as usize];
        let end = if op.kind == OpKind::Append { entry.length + bytes } else { op.offset + bytes };
        let reads = matches!(op.kind, OpKind::Read | OpKind::ReadWhole);
        if !reads {
            entry.length = entry.length.max(end);
        }
        if reads && bytes == 0 && op.kind == OpKind::Read {
            fd.position = 0; // as filebench: at the end of the file it goes back to its beginning
        } else if sequential {
            fd.position = end;
        }
    }

    fn helper_next(&mut self, thread: ThreadId) -> Step {
        let helper = &mut self.helpers[thread as usize - self.threads.len()];
        helper.write.take().map_or(Step::Wait, |(flow, op)| Step::Op(flow, op))
    }

    fn helper_done(&mut self, code: &Code, thread: ThreadId, op: &FileOp, bytes: u64) {
        let number = thread - self.threads.len() as u32;
        let helper = &self.helpers[number as usize];
        let (owner, entry) = (helper.of, helper.entry);
        let state = &mut self.files.entries[entry as usize];
        state.length = state.length.max(op.offset + bytes);
        self.files.let_go(entry);
        let writes = &mut self.threads[owner as usize].writes;
        writes.free.push(number);
        writes.ended += 1;
        if writes.awaited > 0 && writes.ended >= writes.awaited {
            writes.reap();
            self.count(self.flowop(code, owner), owner, 0);
            self.advance(code, owner);
            self.woken.push_back(owner);
        }
    }
}

impl Writes {
    /// Forgets the writes that have ended: an aiowait has seen them.
    pub fn reap(&mut self) {
        self.outstanding -= self.ended;
        (self.ended, self.awaited) = (0, 0);
    }
}

impl Thread {
    fn new(kind: &ThreadKind, number: u32, ordinal: u32, rng: Rng, free: Vec<u32>) -> Self {
        Thread {
            kind: number,
            ordinal,
            at: kind.flowops.start,
            left: 0,
            rounds: 0,
            begun: false,
            fd: 0,
            cursor: 0,
            out: Out::None,
            rng,
            fds: vec![UNUSED; kind.fds as usize],
            rotors: vec![Rotor::default(); kind.rotors as usize],
            limits: vec![Limit::default(); kind.limits as usize],
            counters: vec![Counter::default(); kind.counters as usize],
            writes: Writes { free, ..Writes::default() },
            ended: false,
        }
    }

    /// Goes on to the next flow operation, behind the last one to the first.
    fn go_on(&mut self, code: &Code) {
        let flowops = &code.kinds[self.kind as usize].flowops;
        self.at += 1;
        if self.at == flowops.end {
            self.at = flowops.start;
            self.rounds += 1;
        }
    }

    /// The value of a flow operation now.
    pub fn value(&mut self, quantity: &Quantity) -> u64 {
        quantity.draw(&mut self.rng)
    }
}
