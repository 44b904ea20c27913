//! Tests of programs.

mod faults;
mod layout;
mod loops;
mod sync;

use std::collections::BTreeMap;

use super::*;
use crate::operation::{FileId, OpKind};

/// A program of this text.
fn parsed(text: &str) -> Program {
    Program::parse("test.f", text, &BTreeMap::new(), 7, None).unwrap_or_else(|error| panic!("{error}"))
}

/// A built-in program with some variables replaced.
fn built_in(name: &str, overrides: &[(&str, &str)], seed: u64) -> Program {
    let overrides = overrides.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let personality = flashwatt_base::registry::find(PERSONALITIES, name).expect("it is built in");
    Program::built_in(personality, &overrides, seed, None).unwrap_or_else(|error| panic!("{error}"))
}

/// A step as a short text: the flow and the operation, or what else it is.
fn shown(program: &Program, step: Step) -> String {
    match step {
        Step::Op(flow, op) => format!("{} {}", program.flows()[usize::from(flow)].name, op.kind.name()),
        Step::Sleep(until) => format!("sleep {until}"),
        Step::Wait => "wait".to_string(),
        Step::End => "end".to_string(),
    }
}

/// A file system that does everything in some time, and checks that each operation names a file as it must be.
struct Host {
    program: Program,
    lengths: Vec<Option<u64>>,
    open: Vec<u32>,
    now: Nanos,
    /// When which thread goes on, with the operation that ends then.
    due: std::collections::BTreeSet<(Nanos, u64, ThreadId)>,
    out: BTreeMap<ThreadId, FileOp>,
    steps: u64,
    /// Every step: thread and text, if they are kept.
    log: Option<Vec<(ThreadId, String)>>,
    /// All operations, as one number.
    digest: u64,
    /// Operations by flow, and bytes by flow.
    counts: BTreeMap<String, (u64, u64)>,
}

impl Host {
    fn new(program: Program) -> Self {
        let lengths: Vec<_> = program.tree().files.iter().map(|file| file.bytes).collect();
        let open = vec![0; lengths.len()];
        let due = (0..program.threads().len() as u32).map(|thread| (0, u64::from(thread), thread)).collect();
        let (out, counts) = (BTreeMap::new(), BTreeMap::new());
        Host { program, lengths, open, now: 0, due, out, steps: 0, log: Some(Vec::new()), digest: 0, counts }
    }

    /// Takes steps until the program has ended, nothing is due, or `steps` were taken.
    fn run(&mut self, steps: u64) {
        let end = self.steps + steps;
        while self.steps < end && !self.program.has_ended() {
            let Some((now, _, thread)) = self.due.pop_first() else { return };
            self.now = now;
            if let Some(op) = self.out.remove(&thread) {
                let result = self.carry_out(&op);
                self.program.done(thread, &op, result, now);
            }
            self.step(thread);
            while let Some(woken) = self.program.woken() {
                self.due.insert((now, self.steps, woken));
            }
        }
    }

    fn step(&mut self, thread: ThreadId) {
        let step = self.program.next(thread, self.now);
        self.steps += 1;
        let text = shown(&self.program, step);
        if let Some(log) = &mut self.log {
            log.push((thread, text));
        }
        match step {
            Step::Op(flow, op) => {
                self.check(&op);
                for part in [u64::from(thread), u64::from(op.file.0), op.offset, op.bytes] {
                    self.digest = flashwatt_base::rng::splitmix64(self.digest ^ part);
                }
                let count = self.counts.entry(self.program.flows()[usize::from(flow)].name.clone()).or_default();
                *count = (count.0 + 1, count.1 + op.bytes);
                // Not all operations take the same time, so that threads overtake one another.
                let ns = 100 + (self.steps * 7919) % 400;
                self.due.insert((self.now + ns, self.steps, thread));
                assert!(self.out.insert(thread, op).is_none(), "one operation of a thread at a time");
            }
            Step::Sleep(until) => {
                assert!(until > self.now);
                self.due.insert((until, self.steps, thread));
            }
            Step::Wait | Step::End => {}
        }
    }

    fn check(&self, op: &FileOp) {
        let exists = self.lengths[op.file.idx()].is_some();
        assert_eq!(exists, op.kind != OpKind::Create, "{op:?}");
        let needs_open = !matches!(op.kind, OpKind::Create | OpKind::Open | OpKind::Stat | OpKind::Remove);
        assert!(!needs_open || self.open[op.file.idx()] > 0, "{op:?} of a file that is not open");
        assert!(op.call_bytes > 0);
    }

    fn carry_out(&mut self, op: &FileOp) -> Result<u64, OpError> {
        let FileId(file) = op.file;
        let (length, open) = (&mut self.lengths[file as usize], &mut self.open[file as usize]);
        let before = length.unwrap_or(0);
        Ok(match op.kind {
            OpKind::Create => {
                assert!(length.replace(0).is_none(), "{op:?} twice");
                *open += 1;
                0
            }
            OpKind::Open => {
                *open += 1;
                0
            }
            OpKind::Close => {
                *open -= 1;
                0
            }
            OpKind::Remove => {
                assert_eq!(
                    (length.take().is_some(), std::mem::take(open) <= 1),
                    (true, true),
                    "{op:?} of a file in use"
                );
                0
            }
            OpKind::Read => op.bytes.min(before.saturating_sub(op.offset)),
            OpKind::ReadWhole => before,
            OpKind::Write | OpKind::WriteWhole => {
                *length = Some(before.max(op.offset + op.bytes));
                op.bytes
            }
            OpKind::Append => {
                *length = Some(before + op.bytes);
                op.bytes
            }
            OpKind::Fsync | OpKind::Stat | OpKind::Forget => 0,
        })
    }

    /// The texts of a thread's steps.
    fn of(&self, thread: ThreadId) -> Vec<&str> {
        let log = self.log.as_ref().expect("steps are kept");
        log.iter().filter(|(of, _)| *of == thread).map(|(_, text)| text.as_str()).collect()
    }

    /// Operations of a flow.
    fn count(&self, flow: &str) -> u64 {
        self.counts.get(flow).map_or(0, |count| count.0)
    }

    /// Bytes of a flow.
    fn bytes(&self, flow: &str) -> u64 {
        self.counts.get(flow).map_or(0, |count| count.1)
    }
}
